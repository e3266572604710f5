//! `ModularSet`: what is known of an integer modulo a number.

use super::Analyzer;
use super::analyzer::as_binary;
use crate::ir::sum::{Sum, Term, gcd, is_index};
use crate::ir::{Expr, ExprKind};
use crate::tensor::scalar::BinOp;

/// All integers `coeff · k + base`; a `coeff` of 0 means the single value `base`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ModularSet {
    /// Distance of neighbours, not negative.
    pub coeff: i64,
    /// Least member that is not negative, or the single value.
    pub base: i64,
}

impl ModularSet {
    /// Every integer.
    pub const EVERYTHING: Self = Self { coeff: 1, base: 0 };

    fn new(coeff: i128, base: i128) -> Self {
        let coeff = coeff.abs();
        let base = if coeff == 0 {
            base
        } else {
            base.rem_euclid(coeff)
        };
        match (i64::try_from(coeff), i64::try_from(base)) {
            (Ok(coeff), Ok(base)) => Self { coeff, base },
            _ => Self::EVERYTHING,
        }
    }

    fn parts(self) -> (i128, i128) {
        (self.coeff.into(), self.base.into())
    }

    fn add(self, other: Self) -> Self {
        let ((c, b), (d, e)) = (self.parts(), other.parts());
        Self::new(gcd(c, d), b + e) // (c·k + b) + (d·l + e)
    }

    fn mul(self, other: Self) -> Self {
        let ((c, b), (d, e)) = (self.parts(), other.parts());
        // (c·k + b)·(d·l + e) = c·d·k·l + c·e·k + b·d·l + b·e
        let products = (c.checked_mul(d), c.checked_mul(e), b.checked_mul(d));
        match (products, b.checked_mul(e)) {
            ((Some(cd), Some(ce), Some(bd)), Some(be)) => Self::new(gcd(gcd(cd, ce), bd), be),
            _ => Self::EVERYTHING,
        }
    }

    fn union(self, other: Self) -> Self {
        let ((c, b), (d, e)) = (self.parts(), other.parts());
        Self::new(gcd(gcd(c, d), b - e), b)
    }

    fn floor_mod(self, divisor: i128) -> Self {
        let (c, b) = self.parts();
        if c % divisor == 0 {
            return Self::new(0, b.rem_euclid(divisor));
        }
        Self::new(gcd(c, divisor), b)
    }

    fn floor_div(self, divisor: i128) -> Self {
        let (c, b) = self.parts();
        if c % divisor == 0 {
            return Self::new(c / divisor, b.div_euclid(divisor)); // (d·c·k + b) // d = c·k + b // d
        }
        Self::EVERYTHING
    }

    /// The value modulo `m`, if all members agree.
    pub fn remainder(self, m: i64) -> Option<i64> {
        (m > 0 && self.coeff % m == 0).then(|| self.base.rem_euclid(m))
    }
}

impl Analyzer {
    /// What is known of an integer expression modulo a number.
    pub fn modular_set(&self, e: &Expr) -> ModularSet {
        if !is_index(e.dtype()) {
            return ModularSet::EVERYTHING;
        }
        let known = self.multiple_of(e);
        if known > 1 {
            return ModularSet::new(known, 0);
        }
        match e.kind() {
            ExprKind::Int(v) => ModularSet::new(0, (*v).into()),
            ExprKind::Select(_, a, b) | ExprKind::IfThenElse(_, a, b) => {
                self.modular_set(a).union(self.modular_set(b))
            }
            ExprKind::Cast(a) => self.modular_set(a),
            _ => match as_binary(e) {
                Some((op @ (BinOp::Add | BinOp::Sub | BinOp::Mul), a, b)) => {
                    let sum = Sum::of(e);
                    match op {
                        _ if !sum.is_atom(e) => self.modular_set_of_sum(&sum),
                        BinOp::Mul if !e.is_data() => self.modular_set(a).mul(self.modular_set(b)),
                        _ => ModularSet::EVERYTHING,
                    }
                }
                Some((BinOp::Min | BinOp::Max, a, b)) => {
                    self.modular_set(a).union(self.modular_set(b))
                }
                Some((op @ (BinOp::FloorDiv | BinOp::FloorMod), a, b)) => {
                    match b.as_int().filter(|&b| b > 0) {
                        Some(b) if op == BinOp::FloorDiv => self.modular_set(a).floor_div(b.into()),
                        Some(b) => self.modular_set(a).floor_mod(b.into()),
                        None => ModularSet::EVERYTHING,
                    }
                }
                _ => ModularSet::EVERYTHING,
            },
        }
    }

    pub(super) fn modular_set_of_sum(&self, sum: &Sum) -> ModularSet {
        if sum.overflowed() {
            return ModularSet::EVERYTHING;
        }
        let constant = |v| ModularSet::new(0, v);
        let product = |term: &Term| {
            let atoms = term.atoms.iter().map(|atom| self.modular_set(atom));
            atoms.fold(constant(term.coeff), ModularSet::mul)
        };
        sum.terms
            .iter()
            .map(product)
            .fold(constant(sum.constant), ModularSet::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Var;
    use crate::tensor::DType;

    #[test]
    fn remainders_follow_from_factors_and_facts() {
        let (x, n) = (Var::new("x", DType::I32), Var::new("n", DType::I32));
        let mut facts = Analyzer::new();
        facts.assume(&n.expr().floor_mod(16).equals(0));
        let of = |e: Expr| {
            let set = facts.modular_set(&e);
            (set.coeff, set.base)
        };
        assert_eq!(of(x.expr() * 6 + 4), (6, 4));
        assert_eq!(of(x.expr() * 6 + n.expr() + 1), (2, 1));
        assert_eq!(of(n.expr() * &x + 3), (16, 3));
        assert_eq!(of((n.expr() + 8).floor_div(4)), (4, 2));
        assert_eq!(of((x.expr() * 6).floor_mod(4)), (2, 0));
        assert_eq!(of((x.expr() * 8).min(x.expr() * 12 + 2)), (2, 0));
        assert_eq!(facts.modular_set(&(n.expr() + 5)).remainder(8), Some(5));
        assert_eq!(
            facts.simplify(&(n.expr() * &x + 5).floor_mod(8)),
            Expr::i32(5)
        );
        assert_eq!(
            facts.simplify(&(n.expr() * &x).equals(3)),
            Expr::bool(false)
        );
    }
}
