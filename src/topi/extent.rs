//! Arithmetic of indices and extents that folds constants, so that programs read as one would write them.

use crate::ir::Expr;

/// `a + b`
pub fn sum(a: &Expr, b: &Expr) -> Expr {
    match (a.as_int(), b.as_int()) {
        (Some(a), Some(b)) => Expr::i64(a.saturating_add(b)),
        (Some(0), _) => b.clone(),
        (_, Some(b)) => shifted(a, b),
        _ => a + b,
    }
}

/// `a * b`
pub fn product(a: &Expr, b: &Expr) -> Expr {
    match (a.as_int(), b.as_int()) {
        (Some(a), Some(b)) => Expr::i64(a.saturating_mul(b)),
        (Some(0), _) | (_, Some(1)) => a.clone(),
        (Some(1), _) | (_, Some(0)) => b.clone(),
        (Some(_), _) => b * a,
        _ => a * b,
    }
}

/// `index + by`
pub fn shifted(index: &Expr, by: i64) -> Expr {
    match (index.as_int(), by) {
        (Some(index), _) => Expr::i64(index.saturating_add(by)),
        (_, 0) => index.clone(),
        (_, by) if by < 0 => index - by.saturating_neg(),
        _ => index + by,
    }
}

/// `index * by`
pub fn scaled(index: &Expr, by: i64) -> Expr {
    product(index, &Expr::i64(by))
}

/// `a // b`, towards minus infinity; `b` is positive.
pub fn quotient(a: &Expr, b: &Expr) -> Expr {
    match (a.as_int(), b.as_int()) {
        (_, Some(1)) => a.clone(),
        (Some(a), Some(b)) if b > 0 => Expr::i64(a.div_euclid(b)),
        _ => a.floor_div(b),
    }
}

/// `a % b`, which is not negative; `b` is positive.
pub fn remainder(a: &Expr, b: &Expr) -> Expr {
    match (a.as_int(), b.as_int()) {
        (_, Some(1)) => Expr::i64(0),
        (Some(a), Some(b)) if b > 0 => Expr::i64(a.rem_euclid(b)),
        _ => a.floor_mod(b),
    }
}

/// `index` moved into `0 .. extent`, as far as there is an element at all.
pub fn clamped(index: &Expr, extent: &Expr) -> Expr {
    index.min(shifted(extent, -1)).max(0)
}
