//! Proofs of comparisons: `sum >= 0` by intervals, by replacing variables and rounded quotients by their symbolic limits, by
//! cases on `min` and `max`, and by what was assumed.
//!
//! Replacing a variable by the end of its range that makes the sum smallest is one step of Fourier–Motzkin elimination.

use std::cell::RefCell;

use super::Analyzer;
use super::analyzer::as_binary;
use crate::ir::sum::{Sum, Term, is_index};
use crate::ir::{Expr, ExprKind};
use crate::tensor::scalar::BinOp;

/// Steps that one proof may take.
const FUEL: u32 = 48;

/// Whether a simplified condition holds.
pub(super) fn holds(facts: &Analyzer, cond: &Expr) -> bool {
    if cond.as_bool() == Some(true) || facts.is_assumed(cond) {
        return true;
    }
    match cond.kind() {
        ExprKind::Binary(BinOp::And, a, b) => holds(facts, a) && holds(facts, b),
        ExprKind::Binary(BinOp::Or, a, b) => holds(facts, a) || holds(facts, b),
        ExprKind::Binary(op, a, b) if is_index(a.dtype()) => {
            let d = Sum::of(a).plus(&Sum::of(b), -1);
            match op {
                BinOp::Lt => nonneg(facts, &d.scaled(-1).plus_constant(-1)),
                BinOp::Le => nonneg(facts, &d.scaled(-1)),
                BinOp::Gt => nonneg(facts, &d.plus_constant(-1)),
                BinOp::Ge => nonneg(facts, &d),
                BinOp::Eq => nonneg(facts, &d) && nonneg(facts, &d.scaled(-1)),
                BinOp::Ne => {
                    nonneg(facts, &d.clone().plus_constant(-1))
                        || nonneg(facts, &d.scaled(-1).plus_constant(-1))
                }
                _ => false,
            }
        }
        _ => false,
    }
}

/// Whether the sum is at least 0 wherever what is known holds.
pub(super) fn nonneg(facts: &Analyzer, sum: &Sum) -> bool {
    let mut fuel = FUEL;
    let failed = RefCell::default();
    Prover { facts, failed }.nonneg(sum, &mut fuel, 2)
}

struct Prover<'a> {
    facts: &'a Analyzer,
    /// Sums for which there was no proof with so many facts: atoms that are replaced in another order give them again.
    failed: RefCell<Vec<(Sum, u32)>>,
}

/// How one atom is replaced.
struct Limits {
    /// At least one of these bounds the atom from below: any of them will do.
    lower: Vec<Sum>,
    /// Any of these bounds it from above.
    upper: Vec<Sum>,
    /// The atom is one of these: all have to be tried.
    cases: Vec<Sum>,
}

impl Prover<'_> {
    fn nonneg(&self, sum: &Sum, fuel: &mut u32, facts_left: u32) -> bool {
        if sum.overflowed() {
            return false;
        }
        if self.facts.bound_of_sum(sum).min >= 0 {
            return true;
        }
        let same = |(other, facts): &(Sum, u32)| {
            *facts >= facts_left && other.constant == sum.constant && other.terms == sum.terms
        };
        if *fuel == 0 || self.failed.borrow().iter().any(same) {
            return false;
        }
        if self.facts.models.refute_nonneg(sum) {
            return false;
        }
        *fuel -= 1;
        let proved = self.nonneg_by_parts(sum, fuel, facts_left);
        if !proved {
            self.failed.borrow_mut().push((sum.clone(), facts_left));
        }
        proved
    }

    /// Proves the sum with an atom replaced, or less a fact.
    fn nonneg_by_parts(&self, sum: &Sum, fuel: &mut u32, facts_left: u32) -> bool {
        let mut atoms: Vec<&Expr> = Vec::new();
        for atom in sum.terms.iter().flat_map(|t| &t.atoms) {
            if !atoms.contains(&atom) {
                atoms.push(atom);
            }
        }
        // Variables bound last first: their ranges are written in terms of earlier ones.
        atoms.sort_by_key(|atom| std::cmp::Reverse(self.rank(atom)));
        for atom in atoms {
            if self.eliminate(sum, atom, fuel, facts_left) {
                return true;
            }
        }
        facts_left > 0
            && self.facts.nonneg.iter().any(|fact| {
                let shares = fact.terms.iter().any(|t| {
                    let mate = sum.terms.iter().find(|s| s.atoms == t.atoms);
                    mate.is_some_and(|s| (s.coeff < 0) == (t.coeff < 0))
                });
                shares && self.nonneg(&sum.clone().plus(fact, -1), fuel, facts_left - 1)
            })
    }

    fn rank(&self, atom: &Expr) -> usize {
        match atom.as_var() {
            Some(var) => self.facts.range_of(var).map_or(0, |(_, order)| order + 1),
            None => usize::MAX,
        }
    }

    /// Proves the sum with the atom replaced by what bounds it.
    fn eliminate(&self, sum: &Sum, atom: &Expr, fuel: &mut u32, facts_left: u32) -> bool {
        let (with, rest) = sum.partition(|t| t.atoms.contains(atom));
        let unit = Term {
            coeff: 1,
            atoms: vec![atom.clone()],
        };
        let Some(factor) = with.factored(&unit) else {
            return false;
        };
        if factor.terms.iter().any(|t| t.atoms.contains(atom)) {
            return false;
        }
        if let Some((numerator, divisor)) = quotient(atom) {
            return self.eliminate_quotient(&factor, &rest, &numerator, &divisor, fuel, facts_left);
        }
        let Some(limits) = self.limits(atom) else {
            return false;
        };
        let with = |value: &Sum, fuel: &mut u32| {
            let replaced = factor
                .clone()
                .times(value, crate::ir::sum::Expand::All)
                .plus(&rest, 1);
            self.nonneg(&replaced, fuel, facts_left)
        };
        let sign = self.facts.bound_of_sum(&factor);
        if sign.min >= 0 && limits.lower.iter().any(|v| with(v, fuel)) {
            return true;
        }
        if sign.max <= 0 && limits.upper.iter().any(|v| with(v, fuel)) {
            return true;
        }
        !limits.cases.is_empty() && limits.cases.iter().all(|v| with(v, fuel))
    }

    /// `q = x // d` with `d > 0`: `q <= r` is `x < (r + 1)·d`, and `q >= r` is `x >= r·d`. Where `q` has another factor than 1 and -1,
    /// `d·q` lies in `x - d + 1 ..= x`: works on `d · sum` where `d` is constant, else where the factor of `q` has `d` as a factor
    /// itself.
    fn eliminate_quotient(
        &self,
        factor: &Sum,
        rest: &Sum,
        numerator: &Sum,
        divisor: &Expr,
        fuel: &mut u32,
        facts_left: u32,
    ) -> bool {
        if self.facts.bound(divisor).min < 1 {
            return false;
        }
        let divisor_sum = Sum::of(divisor);
        if let Some(unit @ (1 | -1)) = factor.as_constant() {
            let limit = match unit {
                1 => rest.clone(),
                _ => rest.clone().plus_constant(1),
            };
            let exact = limit
                .times(&divisor_sum, crate::ir::sum::Expand::All)
                .plus(numerator, unit)
                .plus_constant(if unit == 1 { 0 } else { -1 });
            return self.nonneg(&exact, fuel, facts_left);
        }
        let (factor, rest) = if let Some(d) = divisor_sum.as_constant() {
            (factor.clone(), rest.scaled(d))
        } else if let [term] = &divisor_sum.terms[..]
            && divisor_sum.constant == 0
            && let Some(factor) = factor.factored(term)
        {
            (factor, rest.clone())
        } else {
            return false;
        };
        let sign = self.facts.bound_of_sum(&factor);
        let product = if sign.max <= 0 {
            numerator.clone()
        } else if sign.min >= 0 {
            numerator.clone().plus(&divisor_sum, -1).plus_constant(1)
        } else {
            return false;
        };
        let replaced = factor
            .times(&product, crate::ir::sum::Expand::All)
            .plus(&rest, 1);
        self.nonneg(&replaced, fuel, facts_left)
    }

    fn limits(&self, atom: &Expr) -> Option<Limits> {
        if let Some(var) = atom.as_var() {
            let (range, _) = self.facts.range_of(var)?;
            let min = Sum::of(&range.min);
            let max = Sum::of(&range.extent).plus(&min, 1).plus_constant(-1);
            return Some(Limits {
                lower: vec![min],
                upper: vec![max],
                cases: vec![],
            });
        }
        if let ExprKind::Select(_, a, b) | ExprKind::IfThenElse(_, a, b) = atom.kind() {
            return Some(Limits {
                lower: vec![],
                upper: vec![],
                cases: vec![Sum::of(a), Sum::of(b)],
            });
        }
        let (op, a, b) = as_binary(atom)?;
        let both = || vec![Sum::of(a), Sum::of(b)];
        match op {
            BinOp::FloorMod if self.facts.bound(b).min >= 1 => {
                let mut upper = vec![Sum::of(b).plus_constant(-1)];
                if self.facts.bound(a).min >= 0 {
                    upper.push(Sum::of(a));
                }
                // x % c = x - x // c * c
                let quotient = Sum::of(&(a.floor_div(b) * b));
                Some(Limits {
                    lower: vec![Sum::constant(0, atom.dtype())],
                    upper,
                    cases: vec![Sum::of(a).plus(&quotient, -1)],
                })
            }
            BinOp::Min => Some(Limits {
                lower: vec![],
                upper: both(),
                cases: both(),
            }),
            BinOp::Max => Some(Limits {
                lower: both(),
                upper: vec![],
                cases: both(),
            }),
            _ => None,
        }
    }
}

/// Numerator and divisor of a floor division.
fn quotient(atom: &Expr) -> Option<(Sum, Expr)> {
    let (BinOp::FloorDiv, a, b) = as_binary(atom)? else {
        return None;
    };
    Some((Sum::of(a), b.clone()))
}
