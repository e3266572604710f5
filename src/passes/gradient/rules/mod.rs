//! The derivatives of operators: a table for each family.

mod arithmetic;
mod arrange;
mod nn;
mod reduce;

use super::tree::Tree;
use super::{GradientError, Made, type_error};
use crate::arith::Analyzer;
use crate::ir::graph::{Arg, GraphBuilder, Op};
use crate::ir::{AttrValue, Attrs, Expr, StructInfo, TensorInfo};
use crate::tensor::DType;

/// From the adjoint of a result to those of the operands; `None` for an operand without.
pub(super) type Rule = fn(&mut Site<'_>) -> Partials;

type Partials = Made<Vec<Option<Tree>>>;

/// The derivative of the operator.
pub(super) fn of(op: Op) -> Option<Rule> {
    let tables = [arithmetic::RULES, arrange::RULES, nn::RULES, reduce::RULES];
    let mut rows = tables.into_iter().flatten();
    rows.find(|(row, _)| *row == op).map(|(_, rule)| *rule)
}

/// A call that is differentiated.
pub(super) struct Site<'a> {
    pub(super) builder: &'a mut GraphBuilder,
    /// Name of its result.
    pub(super) name: &'a str,
    pub(super) args: &'a [Arg],
    pub(super) attrs: &'a Attrs,
    /// Its result.
    pub(super) y: Tree,
    /// The adjoint of its result.
    pub(super) dy: Tree,
}

impl Site<'_> {
    fn x(&self, at: usize) -> Tree {
        Tree::Arg(self.args[at].clone())
    }

    /// What is known of an operand that is a tensor.
    fn tensor(&self, at: usize) -> Made<TensorInfo> {
        let info = self.builder.scope().arg(&self.args[at]);
        let tensor = info.as_tensor().cloned();
        tensor.ok_or_else(|| self.unknown("that an operand is a tensor"))
    }

    fn dtype(&self, at: usize) -> Made<DType> {
        let dtype = self.tensor(at)?.dtype;
        dtype.ok_or_else(|| self.unknown("the element type of an operand"))
    }

    fn dims(&self, at: usize) -> Made<Vec<Expr>> {
        let info = self.tensor(at)?;
        let dims = info.shape.dims().map(<[Expr]>::to_vec);
        dims.ok_or_else(|| self.unknown("the shape of an operand"))
    }

    /// A scalar of the element type of an operand.
    fn number(&self, value: f64, at: usize) -> Made<Tree> {
        let number = Tree::number(value, self.dtype(at)?);
        number.ok_or_else(|| self.unknown("a number of the element type of an operand"))
    }

    /// The axes that an attribute names, if it names any.
    fn axes(&self, name: &str) -> Option<Vec<i64>> {
        match self.attrs.get(name)? {
            AttrValue::Int(axis) => Some(vec![*axis]),
            AttrValue::List(axes) => axes.iter().map(AttrValue::as_int).collect(),
            _ => None,
        }
    }

    fn flag(&self, name: &str) -> bool {
        matches!(self.attrs.get(name), Some(AttrValue::Bool(true)))
    }

    fn unknown(&self, what: &'static str) -> GradientError {
        let value = self.name.to_owned();
        GradientError::Unknown { value, what }
    }

    fn info(&mut self, tree: &Tree) -> Made<StructInfo> {
        let info = tree.info(self.builder);
        info.map_err(|error| type_error(self.name, error))
    }

    /// The partial derivative of an operand that was broadcast: summed over the elements that one element became.
    fn fit(&mut self, partial: Tree, at: usize) -> Made<Option<Tree>> {
        let dims = self.dims(at)?;
        let info = self.info(&partial)?;
        let analyzer = Analyzer::new();
        let same = info.as_tensor().and_then(|info| info.shape.dims());
        let same = same.is_some_and(|made| {
            made.len() == dims.len()
                && made
                    .iter()
                    .zip(&dims)
                    .all(|(a, b)| analyzer.can_prove_equal(a, b))
        });
        Ok(Some(match same {
            true => partial,
            false => Tree::of("collapse_sum_to", &[&partial, &Tree::shape(&dims)]),
        }))
    }
}

fn ints(values: &[i64]) -> AttrValue {
    AttrValue::List(values.iter().map(|v| AttrValue::Int(*v)).collect())
}

/// No operand has a derivative: the result does not change with any of them, or only in steps.
fn flat(site: &mut Site<'_>) -> Partials {
    Ok(vec![None; site.args.len()])
}
