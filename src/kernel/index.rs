//! Sums of products of integers: the form of index arithmetic that the proof of bounds, the lowering and the code generators of the CPU
//! share.
//!
//! `constant + coefficient * factor * … + …`. Like terms are merged, so equal sums cancel. A proof takes integers to have no end:
//! coefficients of type `i128` are exact, and a sum whose numbers get too large is none. Code computes in `int64`: coefficients of
//! type `i64` wrap as indices do.

use std::fmt::Debug;

/// An integer of one of the two arithmetics.
pub(crate) trait Coefficient: Copy + PartialEq {
    /// 0
    const ZERO: Self;
    /// 1
    const ONE: Self;

    /// `self + a * b`; `None` if the arithmetic has no such number.
    fn plus_product(self, a: Self, b: Self) -> Option<Self>;
}

/// Exact.
impl Coefficient for i128 {
    const ZERO: Self = 0;
    const ONE: Self = 1;

    fn plus_product(self, a: Self, b: Self) -> Option<Self> {
        self.checked_add(a.checked_mul(b)?)
    }
}

/// Modulo `2 ^ 64`.
impl Coefficient for i64 {
    const ZERO: Self = 0;
    const ONE: Self = 1;

    fn plus_product(self, a: Self, b: Self) -> Option<Self> {
        Some(self.wrapping_add(a.wrapping_mul(b)))
    }
}

/// `coefficient * factor * …`, at least one factor.
#[derive(Clone, Debug)]
pub(crate) struct Term<F, C> {
    /// What is multiplied, in an order that only depends on what it is.
    pub(crate) factors: Vec<F>,
    /// Not 0.
    pub(crate) coefficient: C,
}

/// A sum of terms with different factors, in the order in which they came, and a constant.
#[derive(Clone, Debug)]
pub(crate) struct Sum<F, C> {
    pub(crate) terms: Vec<Term<F, C>>,
    pub(crate) constant: C,
}

/// The order of terms means nothing.
impl<F: PartialEq, C: Coefficient> PartialEq for Sum<F, C> {
    fn eq(&self, other: &Self) -> bool {
        self.constant == other.constant
            && self.terms.len() == other.terms.len()
            && self
                .terms
                .iter()
                .all(|term| other.coefficient(&term.factors) == term.coefficient)
    }
}

impl<F: PartialEq, C: Coefficient> Sum<F, C> {
    /// A number.
    pub(crate) fn constant(constant: C) -> Self {
        Self {
            terms: vec![],
            constant,
        }
    }

    /// The factor alone.
    pub(crate) fn factor(factor: F) -> Self {
        let term = Term {
            factors: vec![factor],
            coefficient: C::ONE,
        };
        Self {
            terms: vec![term],
            constant: C::ZERO,
        }
    }

    /// The number, if it is one.
    pub(crate) fn as_constant(&self) -> Option<C> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// What the product of these factors is multiplied by.
    pub(crate) fn coefficient(&self, factors: &[F]) -> C {
        let mut terms = self.terms.iter();
        let found = terms.find(|term| term.factors == factors);
        found.map_or(C::ZERO, |term| term.coefficient)
    }
}

impl<F: Clone + PartialEq, C: Coefficient> Sum<F, C> {
    /// `self + scale * other`
    pub(crate) fn plus(&self, other: &Self, scale: C) -> Option<Self> {
        let mut sum = self.clone();
        sum.constant = sum.constant.plus_product(other.constant, scale)?;
        for term in &other.terms {
            sum.add_term(term, scale)?;
        }
        Some(sum)
    }

    /// `self * scale`
    pub(crate) fn scaled(&self, scale: C) -> Option<Self> {
        Self::constant(C::ZERO).plus(self, scale)
    }

    fn add_term(&mut self, term: &Term<F, C>, scale: C) -> Option<()> {
        let mut terms = self.terms.iter();
        match terms.position(|own| own.factors == term.factors) {
            Some(at) => {
                let own = &mut self.terms[at].coefficient;
                *own = own.plus_product(term.coefficient, scale)?;
                if *own == C::ZERO {
                    self.terms.remove(at);
                }
            }
            None => {
                let coefficient = C::ZERO.plus_product(term.coefficient, scale)?;
                if coefficient != C::ZERO {
                    let factors = term.factors.clone();
                    self.terms.push(Term {
                        factors,
                        coefficient,
                    });
                }
            }
        }
        Some(())
    }
}

/// What wraps has no number that is too large.
#[cfg(any(feature = "cpu", feature = "compiler"))]
const WRAPS: &str = "numbers that wrap have no end";

#[cfg(any(feature = "cpu", feature = "compiler"))]
impl<F: Clone + Ord> Sum<F, i64> {
    /// `self + scale * other`
    pub(crate) fn wrapping_plus(&self, other: &Self, scale: i64) -> Self {
        self.plus(other, scale).expect(WRAPS)
    }

    /// `self * other`
    pub(crate) fn wrapping_times(&self, other: &Self) -> Self {
        let mut product = Self::constant(self.constant.wrapping_mul(other.constant));
        let single = self.terms.iter().map(|term| (term.clone(), other.constant));
        let single = single.chain(other.terms.iter().map(|term| (term.clone(), self.constant)));
        let double = self.terms.iter().flat_map(|a| {
            let times = |b| (a.wrapping_times(b), 1);
            other.terms.iter().map(times)
        });
        for (term, scale) in single.chain(double) {
            product.add_term(&term, scale).expect(WRAPS);
        }
        product
    }
}

#[cfg(any(feature = "cpu", feature = "compiler"))]
impl<F: Clone + Ord> Term<F, i64> {
    fn wrapping_times(&self, other: &Self) -> Self {
        let mut factors = [self.factors.clone(), other.factors.clone()].concat();
        // `i * n` and `n * i` are the same product.
        factors.sort();
        Self {
            factors,
            coefficient: self.coefficient.wrapping_mul(other.coefficient),
        }
    }
}

#[cfg(all(test, any(feature = "cpu", feature = "compiler")))]
mod tests {
    use super::*;

    #[test]
    fn like_terms_meet() {
        let [i, n] = ["i", "n"].map(Sum::<&str, i64>::factor);
        let product = i.wrapping_plus(&Sum::constant(3), 1).wrapping_times(&n);
        assert_eq!(product.coefficient(&["i", "n"]), 1);
        assert_eq!(product.coefficient(&["n"]), 3);
        let other = n.wrapping_times(&i).wrapping_plus(&n, 3);
        assert_eq!(product, other);
        assert_eq!(product.wrapping_plus(&other, -1).as_constant(), Some(0));
    }

    #[test]
    fn exact_numbers_end_and_others_wrap() {
        let large = Sum::<u8, i128>::constant(i128::MAX);
        assert!(large.plus(&Sum::constant(1), 1).is_none());
        assert!(
            Sum::<u8, i128>::factor(0)
                .scaled(i128::MAX)
                .and_then(|x| x.scaled(2))
                .is_none()
        );
        let large = Sum::<u8, i64>::constant(i64::MAX);
        assert_eq!(large.wrapping_plus(&Sum::constant(1), 1).constant, i64::MIN);
    }
}
