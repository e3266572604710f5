//! Floor division and remainder of indices, by constants and by symbols.

use crate::arith::analyzer::as_binary;
use crate::arith::{Analyzer, prove};
use crate::ir::Expr;
use crate::ir::sum::{Expand, Sum, divide_term};
use crate::tensor::scalar::BinOp;

/// Division and remainder towards zero are those towards minus infinity where both operands are known not to be negative.
pub(super) fn truncated(facts: &Analyzer, op: BinOp, a: &Expr, b: &Expr) -> Option<Expr> {
    if b.is_one() && op == BinOp::Div {
        return Some(a.clone()); // x / 1 = x
    }
    if facts.bound(a).min < 0 || facts.bound(b).min < 0 {
        return None;
    }
    Some(if op == BinOp::Div {
        a.floor_div(b)
    } else {
        a.floor_mod(b)
    })
}

/// Rules of `a // b`.
pub(super) fn floor_div(facts: &Analyzer, a: &Expr, b: &Expr) -> Option<Expr> {
    let sum = Sum::of(a);
    if sum.overflowed() {
        return None;
    }
    match b.as_int() {
        Some(0) => None,
        Some(1) => Some(a.clone()), // x // 1 = x
        // Data may be the least integer, which has no negation.
        Some(c) if c < 0 && a.is_data() => None,
        Some(c) if c < 0 => {
            let a = sum.scaled(-1).to_expr()?;
            Some(a.floor_div(Expr::int(c.checked_neg()?, b.dtype()))) // x // -c = -x // c
        }
        Some(c) => div_const(facts, sum, c.into(), b),
        None => div_symbol(facts, &sum, a, b),
    }
}

/// Rules of `a % b`.
pub(super) fn floor_mod(facts: &Analyzer, a: &Expr, b: &Expr) -> Option<Expr> {
    let sum = Sum::of(a);
    if sum.overflowed() {
        return None;
    }
    match b.as_int() {
        Some(1) => Some(Expr::int(0, a.dtype())), // x % 1 = 0
        Some(0) => None,
        // Data may be the least integer, which has no negation.
        Some(c) if c < 0 && a.is_data() => None,
        Some(c) if c < 0 => {
            let a = sum.scaled(-1).to_expr()?;
            let c = Expr::int(c.checked_neg()?, b.dtype());
            Some(Expr::int(0, a.dtype()) - a.floor_mod(c)) // x % -c = -(-x % c)
        }
        Some(c) => mod_const(facts, sum, c.into(), b),
        None => mod_symbol(facts, &sum, a, b),
    }
}

/// The multiple of `c` below the whole interval of the sum, if it fits between two neighbouring multiples.
fn period(facts: &Analyzer, sum: &Sum, c: i128) -> Option<i128> {
    let bound = facts.bound_of_sum(sum);
    let low = i128::from(bound.min).div_euclid(c);
    let high = i128::from(bound.max).div_euclid(c);
    (bound.is_finite() && low == high).then_some(low)
}

/// A factor `g` of `c`, and `sum = g·high + low` with `0 <= low < g`.
fn common_factor(facts: &Analyzer, sum: &Sum, c: i128) -> Option<(i128, Sum, Sum)> {
    let gcd = crate::ir::sum::gcd;
    let mut candidates: Vec<i128> = sum.terms.iter().map(|t| gcd(t.coeff, c)).collect();
    candidates.push(gcd(sum.content(), c));
    candidates.sort_unstable();
    candidates.dedup();
    candidates.into_iter().rev().find_map(|g| {
        let (high, mut low) = sum.partition(|t| t.coeff % g == 0);
        let (quotient, remainder) = (low.constant.div_euclid(g), low.constant.rem_euclid(g));
        low.constant = remainder;
        let bound = facts.bound_of_sum(&low);
        let fits = g > 1 && !high.terms.is_empty();
        (fits && bound.min >= 0 && i128::from(bound.max) < g)
            .then(|| (g, high.divided(g).plus_constant(quotient), low))
    })
}

/// `x // d` as the only term with coefficient 1: `x`, `d` and the constant beside it.
fn inner_quotient(sum: &Sum) -> Option<(&Expr, &Expr, i128)> {
    let [term] = &sum.terms[..] else {
        return None;
    };
    let (BinOp::FloorDiv, x, d) = as_binary(term.atom()?)? else {
        return None;
    };
    (term.coeff == 1).then_some((x, d, sum.constant))
}

fn div_const(facts: &Analyzer, sum: Sum, c: i128, b: &Expr) -> Option<Expr> {
    // (c·x + y) // c = x + y // c
    let (multiples, mut rest) = sum.partition(|t| t.coeff % c == 0);
    let mut quotient = multiples.divided(c);
    quotient.constant = rest.constant.div_euclid(c);
    rest.constant = rest.constant.rem_euclid(c);
    if let Some(k) = period(facts, &rest, c) {
        return quotient.plus_constant(k).to_expr(); // y // c = k where k·c <= y < (k + 1)·c
    }
    let with_rest = |rest: Expr, divisor: i128| {
        let divisor = Expr::int(i64::try_from(divisor).ok()?, b.dtype());
        quotient
            .clone()
            .plus(&Sum::term(1, rest.floor_div(divisor)), 1)
            .to_expr()
    };
    if let Some((g, high, _)) = common_factor(facts, &rest, c) {
        return if g == c {
            quotient.plus(&high, 1).to_expr() // (c·x + l) // c = x where 0 <= l < c
        } else {
            with_rest(high.to_expr()?, c / g) // (g·x + l) // (g·d) = x // d where 0 <= l < g
        };
    }
    if let Some((x, d, k)) = inner_quotient(&rest)
        && let Some(d) = d.as_int().filter(|&d| d > 0)
    {
        let d = i128::from(d);
        let x = Sum::of(x).plus_constant(k.checked_mul(d)?);
        return with_rest(x.to_expr()?, c.checked_mul(d)?); // (x // d + k) // c = (x + k·d) // (c·d)
    }
    with_rest(rest.to_expr()?, c)
}

fn mod_const(facts: &Analyzer, sum: Sum, c: i128, b: &Expr) -> Option<Expr> {
    let mut rest = Sum::constant(sum.constant.rem_euclid(c), sum.dtype); // (x + k·c) % c = x % c
    for term in &sum.terms {
        let coeff = term.coeff % c; // (c·x + y) % c = y % c
        let x = term.atom().and_then(as_binary);
        match x {
            // q·(x % m) = q·x modulo c where c | q·m
            Some((BinOp::FloorMod, x, m))
                if m.as_int().is_some_and(|m| (coeff * i128::from(m)) % c == 0) =>
            {
                rest = rest.plus(&Sum::of(x), coeff);
            }
            _ if term
                .atom()
                .is_some_and(|x| facts.multiple_of(x) * coeff % c == 0) => {}
            _ => {
                let mut one = Sum::constant(0, sum.dtype);
                one.terms.push(crate::ir::sum::Term {
                    coeff: 1,
                    atoms: term.atoms.clone(),
                });
                rest = rest.plus(&one, coeff);
            }
        }
    }
    rest.constant = rest.constant.rem_euclid(c);
    if let Some(k) = period(facts, &rest, c) {
        return rest.plus_constant(-k * c).to_expr(); // y % c = y - k·c where k·c <= y < (k + 1)·c
    }
    if let Some(r) = i64::try_from(c)
        .ok()
        .and_then(|c| facts.modular_set_of_sum(&rest).remainder(c))
    {
        return Some(Expr::int(r, b.dtype())); // y % c = r where y = r modulo c
    }
    if let Some((g, high, low)) = common_factor(facts, &rest, c) {
        // (g·x + l) % (g·d) = g·(x % d) + l where 0 <= l < g
        let divisor = Expr::int(i64::try_from(c / g).ok()?, b.dtype());
        let high = Sum::term(g, high.to_expr()?.floor_mod(divisor));
        return high.plus(&low, 1).to_expr();
    }
    if let Some((x, d, k)) = inner_quotient(&rest)
        && let Some(d) = d.as_int().filter(|&d| d > 0)
    {
        // (x // d + k) % c = ((x + k·d) % (c·d)) // d
        let x = Sum::of(x).plus_constant(k.checked_mul(d.into())?);
        let modulus = i64::try_from(c.checked_mul(d.into())?).ok()?;
        let inner = x.to_expr()?.floor_mod(Expr::int(modulus, b.dtype()));
        return Some(inner.floor_div(Expr::int(d, b.dtype())));
    }
    Some(rest.to_expr()?.floor_mod(b))
}

/// `q` and `rest` with `sum = q·d + rest`.
fn divide_by_symbol(facts: &Analyzer, sum: &Sum, d: &Sum) -> Option<(Sum, Sum)> {
    if let [divisor] = &d.terms[..]
        && d.constant == 0
    {
        let (multiples, rest) = sum.partition(|t| divide_term(t, divisor).is_some());
        return Some((multiples.factored(divisor)?, rest));
    }
    // A divisor of several terms: polynomial division, as long as fewer terms are left.
    let lead = d.terms.first()?;
    let (mut quotient, mut rest) = (Sum::constant(0, sum.dtype), sum.clone());
    for _ in 0..=sum.terms.len() {
        let step = rest.terms.iter().find_map(|term| {
            let part = Sum::monomial(sum.dtype, divide_term(term, lead)?);
            let less = rest.clone().plus(&part.clone().times(d, Expand::All), -1);
            let constant = part.terms.is_empty();
            let shorter = less.terms.len() < rest.terms.len();
            (shorter || (constant && within(facts, &less, d))).then_some((part, less))
        });
        let Some((part, less)) = step else { break };
        quotient = quotient.plus(&part, 1);
        rest = less;
    }
    let found = !quotient.terms.is_empty() || quotient.constant != 0;
    (found && !rest.overflowed()).then_some((quotient, rest))
}

/// Whether `0 <= x < d`.
fn within(facts: &Analyzer, x: &Sum, d: &Sum) -> bool {
    prove::nonneg(facts, x) && prove::nonneg(facts, &d.clone().plus(x, -1).plus_constant(-1))
}

/// A division has a value only if its divisor is not 0, so `0 // d` and `0 % d` are 0 for every symbol `d`.
fn is_zero(sum: &Sum) -> bool {
    sum.terms.is_empty() && sum.constant == 0
}

fn div_symbol(facts: &Analyzer, sum: &Sum, a: &Expr, b: &Expr) -> Option<Expr> {
    let divisor = Sum::of(b);
    if is_zero(sum) || within(facts, sum, &divisor) {
        return Some(Expr::int(0, a.dtype())); // x // d = 0 where 0 <= x < d
    }
    if let Some((quotient, rest)) = divide_by_symbol(facts, sum, &divisor)
        && (!quotient.terms.is_empty() || quotient.constant != 0)
    {
        if is_zero(&rest) || within(facts, &rest, &divisor) {
            return quotient.to_expr(); // (d·x + y) // d = x where 0 <= y < d
        }
        let rest = Sum::term(1, rest.to_expr()?.floor_div(b));
        return quotient.plus(&rest, 1).to_expr(); // (d·x + y) // d = x + y // d
    }
    if let Some((g, high, _)) = common_factor_of_symbol(facts, sum, &divisor, b) {
        let b = divisor.divided(g).to_expr()?;
        return Some(high.to_expr()?.floor_div(b)); // (g·x + l) // (g·d) = x // d where 0 <= l < g
    }
    if let Some((x, d, 0)) = inner_quotient(sum)
        && facts.bound(d).min >= 0
        && facts.bound(b).min >= 0
    {
        return Some(x.floor_div(d * b)); // (x // d) // e = x // (d·e)
    }
    None
}

/// For a divisor of one term that is not negative: a factor `g` of its coefficient, and `sum = g·high + low` with `0 <= low < g`.
fn common_factor_of_symbol(
    facts: &Analyzer,
    sum: &Sum,
    divisor: &Sum,
    b: &Expr,
) -> Option<(i128, Sum, Sum)> {
    match &divisor.terms[..] {
        [term] if divisor.constant == 0 && term.coeff > 1 && facts.bound(b).min >= 0 => {
            common_factor(facts, sum, term.coeff)
        }
        _ => None,
    }
}

fn mod_symbol(facts: &Analyzer, sum: &Sum, a: &Expr, b: &Expr) -> Option<Expr> {
    let divisor = Sum::of(b);
    if is_zero(sum) || within(facts, sum, &divisor) {
        return Some(a.clone()); // x % d = x where 0 <= x < d
    }
    if let Some((quotient, rest)) = divide_by_symbol(facts, sum, &divisor)
        && (!quotient.terms.is_empty() || quotient.constant != 0)
    {
        if within(facts, &rest, &divisor) {
            return rest.to_expr(); // (d·x + y) % d = y where 0 <= y < d
        }
        return Some(rest.to_expr()?.floor_mod(b)); // (d·x + y) % d = y % d
    }
    let (g, high, low) = common_factor_of_symbol(facts, sum, &divisor, b)?;
    // (g·x + l) % (g·d) = g·(x % d) + l where 0 <= l < g
    let high = high.to_expr()?.floor_mod(divisor.divided(g).to_expr()?);
    Sum::term(g, high).plus(&low, 1).to_expr()
}
