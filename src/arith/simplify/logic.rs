//! `and`, `or`, `not`. Operands stay in order: a condition may guard the next one.

use crate::ir::{Expr, ExprKind};
use crate::tensor::scalar::BinOp;

/// `a and b` of simplified operands.
pub(super) fn and(a: &Expr, b: &Expr) -> Expr {
    match (a.as_bool(), b.as_bool()) {
        (Some(true), _) => b.clone(),  // true and x = x
        (_, Some(true)) => a.clone(),  // x and true = x
        (Some(false), _) => a.clone(), // false and x = false
        (_, Some(false)) => b.clone(), // x and false = false
        _ => join(BinOp::And, a, b),
    }
}

/// `a or b` of simplified operands.
pub(super) fn or(a: &Expr, b: &Expr) -> Expr {
    match (a.as_bool(), b.as_bool()) {
        (Some(true), _) => a.clone(),  // true or x = true
        (_, Some(true)) => b.clone(),  // x or true = true
        (Some(false), _) => b.clone(), // false or x = x
        (_, Some(false)) => a.clone(), // x or false = x
        _ => join(BinOp::Or, a, b),
    }
}

/// `a op b`, left associated, without an operand that occurs before: `x and x = x`.
fn join(op: BinOp, a: &Expr, b: &Expr) -> Expr {
    let mut operands = Vec::new();
    flatten(op, a, &mut operands);
    flatten(op, b, &mut operands);
    let dead = operands.iter().any(|x| operands.contains(&negate(x)));
    if dead {
        return Expr::bool(op == BinOp::Or); // x and not x = false, x or not x = true
    }
    let mut operands = operands.into_iter();
    let first = operands.next().unwrap_or_else(|| a.clone());
    operands.fold(first, |joined, x| Expr::binary(op, joined, x))
}

fn flatten(op: BinOp, e: &Expr, out: &mut Vec<Expr>) {
    if let Some((a, b)) = e.as_binary(op) {
        flatten(op, a, out);
        flatten(op, b, out);
    } else if !out.contains(e) {
        out.push(e.clone());
    }
}

/// `not a` of a simplified operand.
pub(super) fn negate(a: &Expr) -> Expr {
    if let Some(value) = a.as_bool() {
        return Expr::bool(!value);
    } // not true = false
    match a.kind() {
        ExprKind::Not(x) => x.clone(), // not not x = x
        ExprKind::Binary(BinOp::And, x, y) => or(&negate(x), &negate(y)), // De Morgan
        ExprKind::Binary(BinOp::Or, x, y) => and(&negate(x), &negate(y)), // De Morgan
        ExprKind::Binary(op, x, y) if !x.dtype().is_float() => {
            let opposite = match op {
                BinOp::Eq => BinOp::Ne,
                BinOp::Ne => BinOp::Eq,
                BinOp::Lt => BinOp::Ge,
                BinOp::Le => BinOp::Gt,
                BinOp::Gt => BinOp::Le,
                BinOp::Ge => BinOp::Lt,
                _ => return a.not(),
            };
            cmp_in_order(opposite, x, y)
        }
        _ => a.not(),
    }
}

/// `x op y` written with `<` and `<=` only.
fn cmp_in_order(op: BinOp, x: &Expr, y: &Expr) -> Expr {
    match op {
        BinOp::Gt => Expr::binary(BinOp::Lt, y, x),
        BinOp::Ge => Expr::binary(BinOp::Le, y, x),
        op => Expr::binary(op, x, y),
    }
}
