//! Predicates as bounds of iterators.

use super::IterMapError;
use crate::arith::Analyzer;
use crate::ir::sum::{Sum, is_index};
use crate::ir::{Expr, ExprKind, Range, Var};
use crate::tensor::DType;
use crate::tensor::scalar::BinOp;

/// `lower <= iter < upper`
pub(super) struct Constraint {
    pub(super) iter: Expr,
    pub(super) lower: Option<Expr>,
    pub(super) upper: Option<Expr>,
}

/// Input variables and their ranges.
type Inputs = Vec<(Var, Range)>;

/// The inputs, narrowed by the bounds of single inputs, and the other bounds, smaller expressions first.
pub(super) fn collect(
    facts: &Analyzer,
    predicate: &Expr,
    inputs: &[(Var, Range)],
) -> Result<(Inputs, Vec<Constraint>), IterMapError> {
    let mut inputs = inputs.to_vec();
    let mut constraints = Vec::new();
    let mut conjuncts = Vec::new();
    split_conjunction(predicate, &mut conjuncts);
    for conjunct in conjuncts {
        let Some(constraint) = as_constraint(facts, &conjunct, &inputs)? else {
            continue;
        };
        let iter = match constraint.iter.kind() {
            ExprKind::Cast(narrow) if narrow.dtype() == DType::I32 => narrow,
            _ => &constraint.iter,
        };
        let single = iter
            .as_var()
            .and_then(|var| inputs.iter_mut().find(|(input, _)| input == var));
        if let Some((_, range)) = single {
            *range = narrow(facts, range, &constraint);
        } else {
            constraints.push(constraint);
        }
    }
    constraints.sort_by_key(|c| size(&c.iter));
    Ok((inputs, constraints))
}

fn split_conjunction(e: &Expr, out: &mut Vec<Expr>) {
    if let Some((a, b)) = e.as_binary(BinOp::And) {
        split_conjunction(a, out);
        split_conjunction(b, out);
    } else if e.as_bool() != Some(true) {
        out.push(e.clone());
    }
}

fn size(e: &Expr) -> usize {
    1 + e.children().into_iter().map(size).sum::<usize>()
}

fn narrow(facts: &Analyzer, range: &Range, constraint: &Constraint) -> Range {
    let mut min = range.min.clone();
    let mut end = &range.min + &range.extent;
    if let Some(lower) = &constraint.lower {
        min = facts.simplify(&min.max(lower));
    }
    if let Some(upper) = &constraint.upper {
        end = facts.simplify(&end.min(upper));
    }
    let extent = facts.simplify(&(end - &min));
    Range { min, extent }
}

/// The bound that a comparison is; `None` if it says nothing of the inputs.
fn as_constraint(
    facts: &Analyzer,
    cond: &Expr,
    inputs: &[(Var, Range)],
) -> Result<Option<Constraint>, IterMapError> {
    let unusable = || IterMapError::Predicate {
        predicate: cond.clone(),
    };
    let ExprKind::Binary(op, a, b) = cond.kind() else {
        return Err(unusable());
    };
    if !is_index(a.dtype()) {
        return Err(unusable());
    }
    // All forms become `left < right` or `left <= right`.
    let (left, right, strict) = match op {
        BinOp::Lt => (a, b, true),
        BinOp::Le => (a, b, false),
        BinOp::Gt => (b, a, true),
        BinOp::Ge => (b, a, false),
        _ => return Err(unusable()),
    };
    let uses = |e: &Expr| inputs.iter().any(|(input, _)| e.uses(input));
    let step = i32::from(strict);
    let constraint = match (uses(left), uses(right)) {
        (false, false) => return Ok(None),
        (false, true) => Constraint {
            iter: right.clone(),
            lower: Some(facts.simplify(&(left + step))),
            upper: None,
        },
        (true, false) => Constraint {
            iter: left.clone(),
            lower: None,
            upper: Some(facts.simplify(&(right + (1 - step)))),
        },
        (true, true) => {
            let difference = Sum::of(left).plus(&Sum::of(right), -1);
            let (iter, bound) = difference.partition(|t| t.atoms.iter().any(uses));
            let bound = bound.scaled(-1).plus_constant((1 - step).into());
            Constraint {
                iter: iter.to_expr().ok_or_else(unusable)?,
                lower: None,
                upper: Some(bound.to_expr().ok_or_else(unusable)?),
            }
        }
    };
    Ok(Some(constraint))
}
