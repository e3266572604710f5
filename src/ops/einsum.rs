//! `einsum`: sums of products, in Einstein's notation.
//!
//! A letter names an index. An index that the result does not have is summed over; a letter that an operand has twice reads its
//! diagonal. Without `->` the result has, in the order of the alphabet, the letters that occur once.

use super::ComputeCall;
use super::def::Computed;
use super::rules::{self, tensor_like};
use crate::ir::graph::{InferError, OpCall};
use crate::ir::{Expr, ShapeInfo, StructInfo};
use crate::te;
use crate::topi;

/// Letters of the operands and of the result.
struct Subscripts {
    operands: Vec<Vec<char>>,
    result: Vec<char>,
}

impl Subscripts {
    /// `None` for what is no such text, or has an ellipsis.
    fn parse(text: &str) -> Option<Self> {
        let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let (inputs, result) = match text.split_once("->") {
            Some((inputs, result)) => (inputs, Some(result)),
            None => (text.as_str(), None),
        };
        let letters = |text: &str| -> Option<Vec<char>> {
            text.chars()
                .all(|c| c.is_ascii_alphabetic())
                .then(|| text.chars().collect())
        };
        let operands: Vec<Vec<char>> = inputs.split(',').map(letters).collect::<Option<_>>()?;
        let all: Vec<char> = operands.iter().flatten().copied().collect();
        let result = match result {
            Some(result) => letters(result)?,
            None => {
                let once = |letter: &char| all.iter().filter(|other| *other == letter).count() == 1;
                let mut letters: Vec<char> = all.iter().copied().filter(once).collect();
                letters.sort_unstable();
                letters
            }
        };
        let unique = (1..result.len()).all(|at| !result[..at].contains(&result[at]));
        let known = result.iter().all(|letter| all.contains(letter));
        (unique && known).then_some(Self { operands, result })
    }

    fn of(c: &OpCall<'_>) -> Result<Self, InferError> {
        let text = c.text("subscripts")?.unwrap_or_default();
        Self::parse(&text).ok_or_else(|| c.bad_attribute("subscripts"))
    }

    /// Every letter with its extent, in order of first use. An extent of 1 broadcasts.
    fn extents(&self, c: &OpCall<'_>, shapes: &[&[Expr]]) -> Result<Vec<(char, Expr)>, InferError> {
        let fits = |(letters, shape): (&Vec<char>, &&[Expr])| letters.len() == shape.len();
        if self.operands.len() != shapes.len() || !self.operands.iter().zip(shapes).all(fits) {
            return Err(c.bad_operand(0, "tensors with a dimension for each letter"));
        }
        let mut extents: Vec<(char, Expr)> = vec![];
        for (letters, shape) in self.operands.iter().zip(shapes) {
            for (letter, extent) in letters.iter().zip(*shape) {
                match extents.iter_mut().find(|(other, _)| other == letter) {
                    None => extents.push((*letter, extent.clone())),
                    Some((_, known)) if known.is_one() => *known = extent.clone(),
                    Some(_) if extent.is_one() => {}
                    Some((_, known)) => {
                        rules::equal_extents(c, "extents of one letter", known, extent)?;
                    }
                }
            }
        }
        Ok(extents)
    }
}

pub(super) fn infer(c: &OpCall<'_>) -> rules::Inferred {
    let subscripts = Subscripts::of(c)?;
    let tensors = c.tensors(0)?;
    let Some([first, rest @ ..]) = tensors.as_deref() else {
        return Ok(StructInfo::Object);
    };
    for info in rest {
        rules::equal_types(c, first.dtype, info.dtype)?;
    }
    let shapes = [&[*first], rest].concat();
    let shapes: Option<Vec<&[Expr]>> = shapes.iter().map(|info| info.shape.dims()).collect();
    let shape = match shapes {
        Some(shapes) => {
            let extents = subscripts.extents(c, &shapes)?;
            let of = |letter: &char| extents.iter().find(|(other, _)| other == letter);
            let dims = subscripts.result.iter().filter_map(of);
            ShapeInfo::Known(dims.map(|(_, extent)| extent.clone()).collect())
        }
        None => ShapeInfo::Ndim(subscripts.result.len()),
    };
    Ok(tensor_like(first, shape, first.dtype))
}

pub(super) fn compute(c: &ComputeCall<'_>) -> Computed {
    let subscripts = Subscripts::of(c)?;
    let tensors = c.xs(0);
    let shapes: Vec<&[Expr]> = tensors.iter().map(|x| x.shape()).collect();
    let extents = subscripts.extents(c, &shapes)?;
    let summed = extents
        .iter()
        .filter(|(letter, _)| !subscripts.result.contains(letter));
    let summed: Vec<_> = summed
        .map(|(letter, extent)| (*letter, te::reduce_axis(letter.to_string(), extent.clone())))
        .collect();
    let product = |i: &[Expr]| {
        let index = |letter: &char| {
            let axis = summed.iter().find(|(other, _)| other == letter);
            match axis {
                Some((_, axis)) => axis.expr(),
                None => {
                    let at = subscripts.result.iter().position(|other| other == letter);
                    i[at.expect("a letter is summed or in the result")].clone()
                }
            }
        };
        let factors = tensors.iter().zip(&subscripts.operands);
        let factors = factors
            .map(|(x, letters)| topi::element(x, &letters.iter().map(index).collect::<Vec<_>>()));
        factors.reduce(|a, b| a * b).expect("einsum has operands")
    };
    let shape = c.result_shape(0).to_vec();
    if summed.is_empty() {
        return Ok(vec![te::compute("einsum", shape, product)]);
    }
    let axes: Vec<_> = summed.iter().map(|(_, axis)| axis.clone()).collect();
    Ok(vec![te::compute("einsum", shape, |i| {
        te::sum(product(i), &axes)
    })])
}
