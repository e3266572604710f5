//! Comparisons of indices: everything on one side is a sum whose sign is asked for.

use crate::arith::analyzer::as_binary;
use crate::arith::{Analyzer, prove};
use crate::ir::Expr;
use crate::ir::sum::Sum;
use crate::ir::sum::order;
use crate::tensor::scalar::BinOp;

/// Rules of `a op b`; always gives the canonical form: constants on one side, only `<`, `<=`, `==` and `!=`.
pub(super) fn rules(facts: &Analyzer, op: BinOp, a: &Expr, b: &Expr) -> Option<Expr> {
    // Intervals know products whose factors a sum takes apart.
    if let Some(known) = facts.bound(a).compare(op, facts.bound(b)) {
        return Some(Expr::bool(known));
    }
    let d = super::add::merge(facts, Sum::of(a).plus(&Sum::of(b), -1));
    if d.overflowed() {
        return None;
    }
    if a.is_data() || b.is_data() {
        return decided(facts, op, a, b);
    }
    match op {
        BinOp::Lt => less(facts, d),                   // a < b   <=>  a - b < 0
        BinOp::Le => less(facts, d.plus_constant(-1)), // a <= b  <=>  a - b - 1 < 0
        BinOp::Gt => less(facts, d.scaled(-1)),        // a > b   <=>  b - a < 0
        BinOp::Ge => less(facts, d.scaled(-1).plus_constant(-1)), // a >= b  <=>  b - a - 1 < 0
        BinOp::Eq => equal(facts, d, BinOp::Eq),
        BinOp::Ne => equal(facts, d, BinOp::Ne),
        _ => None,
    }
}

/// The truth of a comparison, if it is known. Data are not moved to the other side: their arithmetic wraps.
fn decided(facts: &Analyzer, op: BinOp, a: &Expr, b: &Expr) -> Option<Expr> {
    let cond = |op| Expr::binary(op, a.clone(), b.clone());
    let opposite = match op {
        BinOp::Lt => BinOp::Ge,
        BinOp::Le => BinOp::Gt,
        BinOp::Gt => BinOp::Le,
        BinOp::Ge => BinOp::Lt,
        BinOp::Eq => BinOp::Ne,
        BinOp::Ne => BinOp::Eq,
        _ => return None,
    };
    if prove::holds(facts, &cond(op)) {
        return Some(Expr::bool(true));
    }
    prove::holds(facts, &cond(opposite)).then(|| Expr::bool(false))
}

/// `d < 0`
fn less(facts: &Analyzer, d: Sum) -> Option<Expr> {
    let bound = facts.bound_of_sum(&d);
    if bound.max < 0 {
        return Some(Expr::bool(true));
    } // by its interval
    if bound.min >= 0 {
        return Some(Expr::bool(false));
    }
    if prove::nonneg(facts, &d.scaled(-1).plus_constant(-1)) {
        return Some(Expr::bool(true));
    }
    if prove::nonneg(facts, &d) {
        return Some(Expr::bool(false));
    }
    write_less(&reduce(facts, d))
}

/// A smaller sum with the same sign: `g·x + l < 0  <=>  x < 0` where `0 <= l < g`; `x // c < k  <=>  x < k·c`.
fn reduce(facts: &Analyzer, mut d: Sum) -> Sum {
    let mut candidates: Vec<i128> = d.terms.iter().map(|t| t.coeff.abs()).collect();
    candidates.push(d.content());
    candidates.sort_unstable();
    candidates.dedup();
    for &g in candidates.iter().rev().filter(|&&g| g > 1) {
        let (high, mut low) = d.partition(|t| t.coeff % g == 0);
        let (quotient, remainder) = (low.constant.div_euclid(g), low.constant.rem_euclid(g));
        low.constant = remainder;
        let bound = facts.bound_of_sum(&low);
        if !high.terms.is_empty() && bound.min >= 0 && i128::from(bound.max) < g {
            d = high.divided(g).plus_constant(quotient);
            break;
        }
    }
    if let [term] = &d.terms[..]
        && term.coeff.abs() == 1
        && let Some(atom) = term.atom()
        && let Some((BinOp::FloorDiv, x, c)) = as_binary(atom)
        && let Some(c) = c.as_int().filter(|&c| c > 0)
    {
        let (x, k) = (Sum::of(x), d.constant * i128::from(c));
        return if term.coeff > 0 {
            x.plus_constant(k) // x // c + k < 0  <=>  x + k·c < 0
        } else {
            x.scaled(-1).plus_constant(k + i128::from(c) - 1) // k - x // c < 0  <=>  k·c + c - 1 - x < 0
        };
    }
    d
}

/// `d < 0` with its negative terms on the right.
fn write_less(d: &Sum) -> Option<Expr> {
    let (mut left, right) = d.partition(|t| t.coeff > 0);
    let constant = right.constant;
    let mut right = right.scaled(-1);
    right.constant = 0;
    let mut op = BinOp::Lt;
    if left.terms.is_empty() {
        left.constant = constant + 1; // k < x  <=>  k + 1 <= x
        op = BinOp::Le;
    } else if right.terms.is_empty() {
        right.constant = -constant; // x + k < 0  <=>  x < -k
    } else if constant == -1 {
        op = BinOp::Le; // x - 1 < y  <=>  x <= y
    } else if constant > 0 {
        left.constant = constant;
    } else {
        right.constant = -constant;
    }
    Some(Expr::binary(op, left.to_expr()?, right.to_expr()?))
}

/// `d == 0` or `d != 0`
fn equal(facts: &Analyzer, mut d: Sum, op: BinOp) -> Option<Expr> {
    let known = |value: bool| Some(Expr::bool(value == (op == BinOp::Eq)));
    let bound = facts.bound_of_sum(&d);
    if bound.min > 0 || bound.max < 0 {
        return known(false);
    }
    if bound.as_point() == Some(0) {
        return known(true);
    }
    if prove::nonneg(facts, &d.clone().plus_constant(-1))
        || prove::nonneg(facts, &d.scaled(-1).plus_constant(-1))
    {
        return known(false);
    }
    let set = facts.modular_set_of_sum(&d);
    if set.base != 0 {
        return known(false); // m·x + r = 0 needs r = 0
    }
    let g = d.content();
    if g > 1 {
        if d.constant % g != 0 {
            return known(false);
        } // g·x + k = 0 needs g | k
        d = d.divided(g); // g·x = g·y  <=>  x = y
    }
    let positive = d.terms.iter().filter(|t| t.coeff > 0).count() * 2;
    let first = d
        .terms
        .iter()
        .min_by(|a, b| order::compare(&a.atoms[0], &b.atoms[0]));
    let flip = positive == d.terms.len() && first.is_some_and(|t| t.coeff < 0);
    if positive < d.terms.len() || flip {
        d = d.scaled(-1); // x = y  <=>  y = x
    }
    let (left, right) = d.partition(|t| t.coeff > 0);
    Some(Expr::binary(
        op,
        left.to_expr()?,
        right.scaled(-1).to_expr()?,
    ))
}
