//! Sums: parts of one split that meet again, and `min` or `max` whose operands cancel against the rest.

use crate::arith::Analyzer;
use crate::arith::analyzer::as_binary;
use crate::ir::Expr;
use crate::ir::sum::order;
use crate::ir::sum::{Expand, Sum, Term};
use crate::tensor::scalar::BinOp;

/// Rules of `a + b` and `a - b` outside index arithmetic.
pub(super) fn neutral(op: BinOp, a: &Expr, b: &Expr) -> Option<Expr> {
    let float = a.dtype().is_float();
    match op {
        // x - 0 = x; of floats only the positive zero: x - -0.0 changes x = -0.0
        BinOp::Sub if b.is_zero() && b.as_float().is_none_or(f64::is_sign_positive) => {
            Some(a.clone())
        }
        BinOp::Add if !float && b.is_zero() => Some(a.clone()), // x + 0 = x
        BinOp::Add if !float && a.is_zero() => Some(b.clone()), // 0 + x = x
        BinOp::Sub if !float && a == b => Some(Expr::int(0, a.dtype())), // x - x = 0
        _ => None,
    }
}

/// The sum with mergeable terms merged.
pub(super) fn merge(facts: &Analyzer, mut sum: Sum) -> Sum {
    // Each merge removes a term, so this ends.
    while let Some(merged) = merge_quotient(&sum)
        .or_else(|| merge_open_splits(&sum))
        .or_else(|| merge_splits(&sum))
        .or_else(|| merge_congruent(&sum))
        .or_else(|| merge_shifted(&sum))
        .or_else(|| distribute_min_max(&sum))
        .or_else(|| known_multiple(facts, &sum))
    {
        sum = merged;
    }
    sum
}

/// `k·(x // d)·d + k·(x % d) = k·x`, and `k·x - k·(x // d)·d = k·(x % d)`.
fn merge_quotient(sum: &Sum) -> Option<Sum> {
    for term in &sum.terms {
        for atom in &term.atoms {
            let Some((op, x, d)) = as_binary(atom) else {
                continue;
            };
            let divisor = Sum::of(d);
            let others = other_factors(term, atom);
            if op == BinOp::FloorMod {
                let quotient = Sum::term(1, x.floor_div(d));
                let partner = quotient
                    .times(&divisor, Expand::All)
                    .times(&others, Expand::All);
                if contains(sum, &partner) {
                    let whole = others.clone().times(&Sum::of(x), Expand::All);
                    let used = Sum::term(1, atom.clone()).times(&others, Expand::All);
                    return Some(
                        sum.clone()
                            .plus(&partner, -1)
                            .plus(&used, -1)
                            .plus(&whole, 1),
                    );
                }
            }
            if op == BinOp::FloorDiv
                && let Some(c) = divisor.as_constant().filter(|&c| c > 0)
                && term.atoms.len() == 1
                && term.coeff % c == 0
            {
                let k = -(term.coeff / c);
                let x = Sum::of(x);
                let rest = sum.clone().plus(&x, -k);
                if contains(sum, &x.scaled(k)) && rest.terms.len() < sum.terms.len() {
                    let used = Sum::term(term.coeff, atom.clone());
                    let remainder = Sum::term(k, x.to_expr()?.floor_mod(d));
                    return Some(rest.plus(&used, -1).plus(&remainder, 1));
                }
            }
        }
    }
    None
}

/// `k·(x // (c·d))·c + k·((x % (c·d)) // d) = k·(x // d)`, whatever `c` and `d` are but 0.
fn merge_open_splits(sum: &Sum) -> Option<Sum> {
    let splits = sum.terms.iter().flat_map(|term| {
        let splits = term.atoms.iter().filter_map(|atom| {
            let (BinOp::FloorDiv, remainder, d) = as_binary(atom)? else {
                return None;
            };
            let (BinOp::FloorMod, x, whole) = as_binary(remainder)? else {
                return None;
            };
            Some((atom, x, whole, d))
        });
        splits.map(move |split| (term, split))
    });
    splits.into_iter().find_map(|(term, (low, x, whole, d))| {
        let [divisor] = &Sum::of(d).terms[..] else {
            return None;
        };
        let count = Sum::of(whole).factored(divisor)?;
        let others = other_factors(term, low);
        let high = Sum::term(1, x.floor_div(whole));
        let high = high.times(&count, Expand::All).times(&others, Expand::All);
        let joined = Sum::term(1, x.floor_div(d)).times(&others, Expand::All);
        let used = Sum::term(1, low.clone()).times(&others, Expand::All);
        let rest = || sum.clone().plus(&high, -1).plus(&used, -1);
        contains(sum, &high).then(|| rest().plus(&joined, 1))
    })
}

/// The factors of the term beside one atom.
fn other_factors(term: &Term, atom: &Expr) -> Sum {
    let mut atoms = term.atoms.clone();
    if let Some(at) = atoms.iter().position(|a| a == atom) {
        atoms.remove(at);
    }
    atoms.iter().fold(
        Sum::constant(term.coeff, atom.dtype()),
        |product, factor| product.times(&Sum::term(1, factor.clone()), Expand::All),
    )
}

/// Whether all terms of `part` are in the sum with the same coefficients.
fn contains(sum: &Sum, part: &Sum) -> bool {
    !part.terms.is_empty() && part.terms.iter().all(|t| sum.terms.contains(t))
}

/// `(x % upper) // lower`; no `upper` means `x // lower`.
struct Split<'a> {
    x: &'a Expr,
    upper: Option<i128>,
    lower: i128,
}

fn as_split(atom: &Expr) -> Option<Split<'_>> {
    let (op, a, b) = as_binary(atom)?;
    let b = i128::from(b.as_int().filter(|&b| b > 0)?);
    let plain = |x| Split {
        x,
        upper: None,
        lower: b,
    };
    match op {
        BinOp::FloorMod => Some(Split {
            x: a,
            upper: Some(b),
            lower: 1,
        }),
        BinOp::FloorDiv => Some(match as_binary(a) {
            Some((BinOp::FloorMod, x, m)) => match m.as_int().filter(|&m| m > 0) {
                Some(m) => Split {
                    x,
                    upper: Some(m.into()),
                    lower: b,
                },
                None => plain(a),
            },
            _ => plain(a),
        }),
        _ => None,
    }
}

/// `((x % u) // m)·(k·m/l) + ((x % m) // l)·k = ((x % u) // l)·k` where `l | m | u`.
fn merge_splits(sum: &Sum) -> Option<Sum> {
    for high_term in &sum.terms {
        let Some(high) = high_term.atom().and_then(as_split) else {
            continue;
        };
        for low_term in &sum.terms {
            let Some(low) = low_term.atom().and_then(as_split) else {
                continue;
            };
            if low.x != high.x
                || low.upper != Some(high.lower)
                || high.lower % low.lower != 0
                || high.upper.is_some_and(|u| u % high.lower != 0)
                || high_term.coeff != low_term.coeff * (high.lower / low.lower)
            {
                continue;
            }
            let dtype = high.x.dtype();
            let int = |v: i128| i64::try_from(v).ok().map(|v| Expr::int(v, dtype));
            let mut joined = match high.upper {
                Some(u) => high.x.floor_mod(int(u)?),
                None => high.x.clone(),
            };
            if low.lower != 1 {
                joined = joined.floor_div(int(low.lower)?);
            }
            let joined = Sum::with_atoms(&joined, Expand::All, &mut Clone::clone);
            let (_, rest) = sum.partition(|t| t == high_term || t == low_term);
            return Some(rest.plus(&joined, low_term.coeff));
        }
    }
    None
}

/// `(x // m)·(k·m) + (y % m)·k = k·x` where `x - y` is a multiple of `m`: a remainder is written without multiples of its divisor.
fn merge_congruent(sum: &Sum) -> Option<Sum> {
    let parts = |term: &Term, wanted: BinOp| {
        let (op, x, m) = as_binary(term.atom()?)?;
        let m = i128::from(m.as_int().filter(|&m| m > 1)?);
        (op == wanted).then(|| (x.clone(), m))
    };
    for low in &sum.terms {
        let Some((y, m)) = parts(low, BinOp::FloorMod) else {
            continue;
        };
        for high in sum
            .terms
            .iter()
            .filter(|t| Some(t.coeff) == low.coeff.checked_mul(m))
        {
            let Some((x, _)) = parts(high, BinOp::FloorDiv).filter(|(_, d)| *d == m) else {
                continue;
            };
            let whole = Sum::of(&x);
            let apart = whole.clone().plus(&Sum::of(&y), -1);
            if apart.overflowed() || apart.content() % m != 0 || apart.constant % m != 0 {
                continue;
            }
            let (_, rest) = sum.partition(|t| t == high || t == low);
            return Some(rest.plus(&whole, low.coeff));
        }
    }
    None
}

/// `(x + k) // d - x // d = (x % d + k) // d` where `k` is a constant, not negative.
fn merge_shifted(sum: &Sum) -> Option<Sum> {
    let quotient = |term: &Term| match term.atom().and_then(as_binary) {
        Some((BinOp::FloorDiv, x, d)) if d.as_int().is_some_and(|d| d > 0) => {
            Some((Sum::of(x), d.clone()))
        }
        _ => None,
    };
    for upper in &sum.terms {
        let Some((shifted, d)) = quotient(upper) else {
            continue;
        };
        for lower in sum.terms.iter().filter(|t| t.coeff == -upper.coeff) {
            let Some((x, same)) = quotient(lower) else {
                continue;
            };
            let shift = shifted.clone().plus(&x, -1).as_constant();
            let Some(k) = shift.filter(|&k| k >= 0 && same == d) else {
                continue;
            };
            let remainder = Sum::term(1, x.to_expr()?.floor_mod(&d));
            let joined = remainder.plus_constant(k).to_expr()?.floor_div(&d);
            let (_, rest) = sum.partition(|t| t == upper || t == lower);
            return Some(rest.plus(&Sum::term(upper.coeff, joined), 1));
        }
    }
    None
}

/// `s + min(p, q) = min(s + p, s + q)`, `s - min(p, q) = max(s - p, s - q)`, where terms cancel.
fn distribute_min_max(sum: &Sum) -> Option<Sum> {
    for term in &sum.terms {
        let Some((op, p, q)) = term.atom().and_then(as_binary) else {
            continue;
        };
        if term.coeff.abs() != 1 || !matches!(op, BinOp::Min | BinOp::Max) {
            continue;
        }
        let (_, rest) = sum.partition(|t| t == term);
        let (p, q) = (Sum::of(p), Sum::of(q));
        let (a, b) = (
            rest.clone().plus(&p, term.coeff),
            rest.clone().plus(&q, term.coeff),
        );
        let size = |s: &Sum| s.terms.len();
        if size(&a) + size(&b) >= size(&rest) + size(&p) + size(&q) {
            continue;
        }
        let op = match (op, term.coeff > 0) {
            (op, true) => op,
            (BinOp::Min, false) => BinOp::Max,
            (_, false) => BinOp::Min,
        };
        let (a, b) = (a.to_expr()?, b.to_expr()?);
        let (a, b) = if order::compare(&a, &b).is_gt() {
            (b, a)
        } else {
            (a, b)
        };
        return Some(Sum::term(1, Expr::binary(op, a, b)));
    }
    None
}

/// `k·(x // c) = (k / c)·x` where `x` is known to be a multiple of `c` and `c | k`.
fn known_multiple(facts: &Analyzer, sum: &Sum) -> Option<Sum> {
    let found = sum.terms.iter().find_map(|term| {
        let (BinOp::FloorDiv, x, c) = as_binary(term.atom()?)? else {
            return None;
        };
        let c = i128::from(c.as_int().filter(|&c| c > 0)?);
        let exact = facts.multiple_of(x) % c == 0 && term.coeff % c == 0;
        exact.then(|| (term.clone(), Sum::of(x).scaled(term.coeff / c)))
    });
    let (term, whole) = found?;
    let (_, rest) = sum.partition(|t| *t == term);
    Some(rest.plus(&whole, 1))
}
