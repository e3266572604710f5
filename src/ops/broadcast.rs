//! Which dimensions of the operands of an operator broadcast to each other.

use super::OpDef;
use super::einsum;
use crate::ir::{AttrValue, Attrs};

/// Which dimensions of the operands an operator repeats to those of the others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Broadcasting {
    /// None.
    Never,
    /// All, aligned at the last one.
    Elements,
    /// All but the last two, aligned at the one before them: those of stacks of matrices.
    Stacks,
    /// Those of one index, of the operands in a tuple: the attribute `subscripts` names the indices.
    Subscripts,
}

impl OpDef {
    /// The dimensions of the operands that are repeated to each other, if the operands have so many dimensions: pairs of an operand
    /// and one of its dimensions.
    pub fn broadcast_dims(&self, attrs: &Attrs, ndims: &[usize]) -> Vec<Vec<(usize, usize)>> {
        match self.broadcasting {
            Broadcasting::Never => vec![],
            Broadcasting::Elements => aligned(ndims, 0),
            Broadcasting::Stacks => aligned(ndims, 2),
            Broadcasting::Subscripts => {
                let subscripts = attrs.get("subscripts").and_then(AttrValue::as_str);
                let dims = subscripts.and_then(|text| einsum::dims_of_indices(text, ndims));
                dims.unwrap_or_default()
            }
        }
    }
}

/// The dimensions before the last `kept` ones, aligned at the last of them.
fn aligned(ndims: &[usize], kept: usize) -> Vec<Vec<(usize, usize)>> {
    let before = |ndim: &usize| ndim.saturating_sub(kept);
    let most = ndims.iter().map(before).max().unwrap_or(0);
    let at = |from_end| {
        let dim = |(operand, ndim)| Some((operand, before(ndim).checked_sub(from_end)?));
        ndims.iter().enumerate().filter_map(dim).collect()
    };
    (1..=most).map(at).collect()
}
