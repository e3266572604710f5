//! `IntBound`: an interval of integers with infinities, and its arithmetic.

use crate::tensor::ScalarType;
use crate::tensor::scalar::BinOp;

/// All integers from `min` to `max`, both included. [`IntBound::NEG_INF`] and [`IntBound::POS_INF`] are infinities.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IntBound {
    /// Least value.
    pub min: i64,
    /// Greatest value.
    pub max: i64,
}

impl IntBound {
    /// No lower limit.
    pub const NEG_INF: i64 = -i64::MAX;
    /// No upper limit.
    pub const POS_INF: i64 = i64::MAX;
    /// Every integer.
    pub const EVERYTHING: Self = Self {
        min: Self::NEG_INF,
        max: Self::POS_INF,
    };

    /// `min ..= max`
    pub const fn new(min: i64, max: i64) -> Self {
        Self { min, max }
    }

    /// The single value.
    pub const fn point(value: i64) -> Self {
        Self::new(value, value)
    }

    /// The single value, if there is only one.
    pub fn as_point(self) -> Option<i64> {
        (self.min == self.max && self.is_finite()).then_some(self.min)
    }

    /// Whether both ends are integers.
    pub fn is_finite(self) -> bool {
        self.min > Self::NEG_INF && self.max < Self::POS_INF
    }

    /// Whether no integer is in it.
    pub fn is_empty(self) -> bool {
        self.min > self.max
    }

    /// Whether all of it are values of the integer type.
    pub fn fits(self, ty: ScalarType) -> bool {
        let range = ty.int_range();
        self.is_finite() && range.is_some_and(|(min, max)| min <= self.min && self.max <= max)
    }

    /// The least interval that holds both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self::new(self.min.min(other.min), self.max.max(other.max))
    }

    /// What is in both.
    #[must_use]
    pub fn intersect(self, other: Self) -> Self {
        Self::new(self.min.max(other.min), self.max.min(other.max))
    }

    /// Whether `a op b` is true of all pairs, or false of all.
    pub fn compare(self, op: BinOp, other: Self) -> Option<bool> {
        let (a, b) = (self, other);
        let before = |a: Self, b: Self| a.max < b.min;
        let not_after = |a: Self, b: Self| a.max <= b.min;
        let (yes, no) = match op {
            BinOp::Lt => (before(a, b), not_after(b, a)),
            BinOp::Le => (not_after(a, b), before(b, a)),
            BinOp::Gt => (before(b, a), not_after(a, b)),
            BinOp::Ge => (not_after(b, a), before(a, b)),
            _ => return None,
        };
        match (yes, no) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        }
    }

    /// `a + b`
    #[expect(
        clippy::should_implement_trait,
        reason = "interval arithmetic is not the field operation"
    )]
    #[must_use]
    pub fn add(self, other: Self) -> Self {
        Self::new(sum(self.min, other.min), sum(self.max, other.max))
    }

    /// `-a`
    #[expect(
        clippy::should_implement_trait,
        reason = "interval arithmetic is not the field operation"
    )]
    #[must_use]
    pub fn neg(self) -> Self {
        Self::new(-self.max, -self.min)
    }

    /// `a * b`
    #[expect(
        clippy::should_implement_trait,
        reason = "interval arithmetic is not the field operation"
    )]
    #[must_use]
    pub fn mul(self, other: Self) -> Self {
        let products = [
            product(self.min, other.min),
            product(self.min, other.max),
            product(self.max, other.min),
            product(self.max, other.max),
        ];
        Self::hull(products)
    }

    /// `a // b`, towards minus infinity; everything if `b` may be 0.
    #[must_use]
    pub fn floor_div(self, other: Self) -> Self {
        if other.min <= 0 && other.max >= 0 {
            return Self::EVERYTHING;
        }
        Self::hull([
            quotient(self.min, other.min),
            quotient(self.min, other.max),
            quotient(self.max, other.min),
            quotient(self.max, other.max),
        ])
    }

    /// `a % b` with the sign of `b`.
    #[must_use]
    pub fn floor_mod(self, other: Self) -> Self {
        if other.min <= 0 {
            return Self::EVERYTHING;
        }
        if self.min >= 0 && self.max < other.min {
            return self;
        }
        if let Some(b) = other.as_point() {
            // Inside one period the remainder grows with the value.
            if self.is_finite() && self.min.div_euclid(b) == self.max.div_euclid(b) {
                return Self::new(self.min.rem_euclid(b), self.max.rem_euclid(b));
            }
        }
        let top = if other.max == Self::POS_INF {
            Self::POS_INF
        } else {
            other.max - 1
        };
        let top = if self.min >= 0 {
            top.min(self.max)
        } else {
            top
        };
        Self::new(0, top)
    }

    /// The smaller one.
    #[must_use]
    pub fn min_of(self, other: Self) -> Self {
        Self::new(self.min.min(other.min), self.max.min(other.max))
    }

    /// The greater one.
    #[must_use]
    pub fn max_of(self, other: Self) -> Self {
        Self::new(self.min.max(other.min), self.max.max(other.max))
    }

    fn hull(ends: [i64; 4]) -> Self {
        Self::new(
            ends.into_iter().min().unwrap_or(Self::NEG_INF),
            ends.into_iter().max().unwrap_or(Self::POS_INF),
        )
    }
}

fn is_inf(v: i64) -> bool {
    v <= IntBound::NEG_INF || v == IntBound::POS_INF
}

fn clamp(v: i128) -> i64 {
    v.clamp(IntBound::NEG_INF.into(), IntBound::POS_INF.into()) as i64
}

fn sum(a: i64, b: i64) -> i64 {
    match (is_inf(a), is_inf(b)) {
        (true, _) => a,
        (_, true) => b,
        _ => clamp(i128::from(a) + i128::from(b)),
    }
}

fn product(a: i64, b: i64) -> i64 {
    if a == 0 || b == 0 {
        return 0;
    }
    if is_inf(a) || is_inf(b) {
        return if (a > 0) == (b > 0) {
            IntBound::POS_INF
        } else {
            IntBound::NEG_INF
        };
    }
    clamp(i128::from(a) * i128::from(b))
}

/// `a // b` of ends of intervals; `b` is not 0.
fn quotient(a: i64, b: i64) -> i64 {
    match (is_inf(a), is_inf(b)) {
        (true, _) => product(a, b.signum()),
        (_, true) if a == 0 || (a > 0) == (b > 0) => 0,
        (_, true) => -1,
        _ => crate::tensor::scalar::floor_div(a, b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_of_values_lies_in_the_result() {
        let ends = [-7, -3, -1, 0, 1, 2, 5];
        let intervals = |f: &mut dyn FnMut(IntBound)| {
            for (i, &min) in ends.iter().enumerate() {
                ends[i..].iter().for_each(|&max| f(IntBound::new(min, max)));
            }
        };
        intervals(&mut |a| {
            intervals(&mut |b| {
                for x in a.min..=a.max {
                    for y in b.min..=b.max {
                        let inside = |r: IntBound, v: i64| r.min <= v && v <= r.max;
                        assert!(inside(a.add(b), x + y));
                        assert!(inside(a.mul(b), x * y));
                        assert!(inside(a.min_of(b), x.min(y)));
                        for (op, holds) in [
                            (BinOp::Lt, x < y),
                            (BinOp::Le, x <= y),
                            (BinOp::Gt, x > y),
                            (BinOp::Ge, x >= y),
                        ] {
                            let known = a.compare(op, b);
                            assert!(known.is_none_or(|known| known == holds), "{op:?}");
                        }
                        assert!(inside(a.max_of(b), x.max(y)));
                        if y != 0 {
                            use crate::tensor::scalar::{floor_div, floor_mod};
                            assert!(inside(a.floor_div(b), floor_div(x, y)), "{a:?} {b:?}");
                            assert!(inside(a.floor_mod(b), floor_mod(x, y)), "{a:?} {b:?}");
                        }
                    }
                }
            });
        });
    }

    #[test]
    fn infinities_absorb() {
        let naturals = IntBound::new(0, IntBound::POS_INF);
        assert_eq!(naturals.add(IntBound::point(5)).max, IntBound::POS_INF);
        assert_eq!(naturals.neg().min, IntBound::NEG_INF);
        assert_eq!(naturals.floor_div(IntBound::point(4)), naturals);
        assert_eq!(
            IntBound::EVERYTHING.floor_mod(IntBound::point(4)),
            IntBound::new(0, 3)
        );
    }
}
