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
        _ => None,
    }
}
