//! Products and true quotients outside index arithmetic: neutral elements. Those of indices are multiplied out by
//! [`Sum`](crate::ir::sum::Sum).

use crate::ir::Expr;

/// Rules of `a * b`.
pub(super) fn neutral(a: &Expr, b: &Expr) -> Option<Expr> {
    if b.is_one() {
        return Some(a.clone());
    } // x * 1 = x
    if a.is_one() {
        return Some(b.clone());
    } // 1 * x = x
    if a.dtype().is_float() {
        return None;
    } // 0 * NaN is not 0
    if a.is_zero() {
        return Some(a.clone());
    } // 0 * x = 0
    if b.is_zero() {
        return Some(b.clone());
    } // x * 0 = 0
    None
}

/// Rules of `a / b`.
pub(super) fn div_neutral(a: &Expr, b: &Expr) -> Option<Expr> {
    b.is_one().then(|| a.clone()) // x / 1 = x
}
