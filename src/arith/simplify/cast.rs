//! Conversions.

use crate::arith::Analyzer;
use crate::ir::sum::is_index;
use crate::ir::{Expr, ExprKind};
use crate::tensor::scalar::{BinOp, Scalar, eval_cast};
use crate::tensor::{DType, ScalarType};

/// Rules of `a` converted to `to`.
pub(super) fn rules(facts: &Analyzer, a: &Expr, to: DType) -> Option<Expr> {
    if a.dtype() == to {
        return Some(a.clone());
    } // no conversion
    if to.is_vector() {
        return None;
    }
    let from = a.dtype().scalar;
    let constant = |value| Some(Expr::scalar(eval_cast(value, from, to.scalar), to));
    match a.kind() {
        ExprKind::Int(v) => constant(Scalar::Int(*v)),
        ExprKind::Float(v) => constant(Scalar::Float(*v)),
        // narrow -> wide -> narrow = narrow, for signed integers
        ExprKind::Cast(inner)
            if inner.dtype() == to
                && from.is_signed_int()
                && to.scalar.is_signed_int()
                && from.bytes() >= to.bytes() =>
        {
            Some(inner.clone())
        }
        // wide -> narrow -> wide = wide, for numbers that the narrow type holds
        ExprKind::Cast(inner)
            if inner.dtype() == to && is_index(to) && is_within(facts, inner, from) =>
        {
            Some(inner.clone())
        }
        // wide(a op b) = wide(a) op wide(b), so that like terms of both types meet
        ExprKind::Binary(op, x, y)
            if is_index(a.dtype()) && is_index(to) && !a.is_data() && is_arithmetic(*op) =>
        {
            let widens = from.bytes() < to.bytes();
            widens.then(|| Expr::binary(*op, x.cast(to), y.cast(to)))
        }
        _ => None,
    }
}

fn is_arithmetic(op: BinOp) -> bool {
    matches!(
        op,
        BinOp::Add
            | BinOp::Sub
            | BinOp::Mul
            | BinOp::FloorDiv
            | BinOp::FloorMod
            | BinOp::Min
            | BinOp::Max
    )
}

fn is_within(facts: &Analyzer, e: &Expr, ty: ScalarType) -> bool {
    let bound = facts.bound(e);
    ty.int_range()
        .is_some_and(|(least, most)| bound.min >= least && bound.max <= most)
}
