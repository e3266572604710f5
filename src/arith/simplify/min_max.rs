//! `min` and `max`.

use std::cmp::Ordering;

use crate::arith::{Analyzer, prove};
use crate::ir::Expr;
use crate::ir::sum::order;
use crate::ir::sum::{Sum, is_index};
use crate::tensor::scalar::BinOp;

/// Rules of `op(a, b)`.
pub(super) fn rules(facts: &Analyzer, op: BinOp, a: &Expr, b: &Expr) -> Option<Expr> {
    if a == b {
        return Some(a.clone()); // min(x, x) = x
    }
    if !is_index(a.dtype()) {
        return None;
    }
    let mut operands = Vec::new();
    flatten(op, a, &mut operands);
    flatten(op, b, &mut operands);
    let kept = undominated(facts, op, operands);
    if let [a, b] = &kept[..]
        && let Some(pulled) = pull_out(op, a, b)
    {
        return Some(pulled);
    }
    let mut kept = kept.into_iter();
    let first = kept.next()?;
    Some(kept.fold(first, |joined, x| Expr::binary(op, joined, x)))
}

fn flatten(op: BinOp, e: &Expr, out: &mut Vec<Expr>) {
    if let Some((a, b)) = e.as_binary(op) {
        flatten(op, a, out);
        flatten(op, b, out);
    } else if !out.contains(e) {
        out.push(e.clone());
    }
}

/// The operands without those that another one is known to beat, in canonical order.
fn undominated(facts: &Analyzer, op: BinOp, mut operands: Vec<Expr>) -> Vec<Expr> {
    let beats = |x: &Expr, y: &Expr| {
        let d = Sum::of(y).plus(&Sum::of(x), -1);
        // min(x, y) = x where x <= y; max(x, y) = x where y <= x
        prove::nonneg(facts, &if op == BinOp::Min { d } else { d.scaled(-1) })
    };
    let mut at = 0;
    while at < operands.len() {
        let beaten = (0..operands.len()).any(|i| i != at && beats(&operands[i], &operands[at]));
        if beaten {
            operands.remove(at);
        } else {
            at += 1;
        }
    }
    operands.sort_by(compare);
    operands
}

/// By the terms without the constant, constants last: so that moving a constant changes no order.
fn compare(a: &Expr, b: &Expr) -> Ordering {
    let bare = |e: &Expr| {
        let mut sum = Sum::of(e);
        let constant = std::mem::take(&mut sum.constant);
        (sum.terms.is_empty(), sum.to_expr(), constant)
    };
    let ((a_empty, a, ca), (b_empty, b, cb)) = (bare(a), bare(b));
    let terms = match (a, b) {
        (Some(a), Some(b)) => order::compare(&a, &b),
        (a, b) => a.is_some().cmp(&b.is_some()),
    };
    a_empty.cmp(&b_empty).then(terms).then(ca.cmp(&cb))
}

/// `min(s + x, s + y) = s + min(x, y)`; `min(g·x, g·y) = g·min(x, y)`; a constant moves beside the second operand or out.
fn pull_out(op: BinOp, a: &Expr, b: &Expr) -> Option<Expr> {
    let (mut x, mut y) = (Sum::of(a), Sum::of(b));
    let (mut common, _) = x.partition(|t| y.terms.contains(t));
    x = x.plus(&common, -1);
    y = y.plus(&common, -1);
    let anchor = if compare(a, b).is_gt() { &y } else { &x };
    let out = anchor.constant;
    common = common.plus_constant(out);
    x = x.plus_constant(-out);
    y = y.plus_constant(-out);
    let gcd = crate::ir::sum::gcd;
    let g = gcd(gcd(x.content(), x.constant), gcd(y.content(), y.constant));
    if common.terms.is_empty() && common.constant == 0 && g <= 1 {
        return None;
    }
    let g = g.max(1);
    let (x, y) = (x.divided(g).to_expr()?, y.divided(g).to_expr()?);
    let inner = Expr::binary(op, x, y);
    common.plus(&Sum::term(g, inner), 1).to_expr()
}
