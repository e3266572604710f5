//! Conversions.

use crate::ir::{Expr, ExprKind};
use crate::tensor::DType;
use crate::tensor::scalar::{Scalar, eval_cast};

/// Rules of `a` converted to `to`.
pub(super) fn rules(a: &Expr, to: DType) -> Option<Expr> {
    if a.dtype() == to {
        return Some(a.clone());
    } // no conversion
    if to.is_vector() {
        return None;
    }
    let from = a.dtype().scalar;
    match a.kind() {
        ExprKind::Int(v) => constant(eval_cast(Scalar::Int(*v), from, to.scalar), to),
        ExprKind::Float(v) => constant(eval_cast(Scalar::Float(*v), from, to.scalar), to),
        // narrow -> wide -> narrow = narrow, for signed integers
        ExprKind::Cast(inner)
            if inner.dtype() == to
                && from.is_signed_int()
                && to.scalar.is_signed_int()
                && from.bytes() >= to.bytes() =>
        {
            Some(inner.clone())
        }
        _ => None,
    }
}

fn constant(value: Scalar, to: DType) -> Option<Expr> {
    Some(match value {
        Scalar::Int(v) => Expr::int(v, to),
        Scalar::Float(v) => Expr::float(v, to),
    })
}
