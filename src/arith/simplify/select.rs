//! `T.Select` and `T.if_then_else`.

use crate::ir::{Expr, ExprKind};

/// The choice with simplified parts, or what it always gives.
pub(super) fn rebuild(old: &Expr, cond: Expr, a: Expr, b: Expr) -> Expr {
    if a == b {
        return a;
    } // c ? x : x = x
    if a.dtype().is_bool() && a.as_bool() == Some(true) && b.as_bool() == Some(false) {
        return cond; // c ? true : false = c
    }
    if let ExprKind::Not(flipped) = cond.kind() {
        return rebuild(old, flipped.clone(), b, a); // !c ? x : y = c ? y : x
    }
    if matches!(old.kind(), ExprKind::Select(_, _, _)) {
        Expr::select(cond, a, b)
    } else {
        Expr::if_then_else(cond, a, b)
    }
}
