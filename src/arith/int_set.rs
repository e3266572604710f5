//! `IntSet`: an interval of integers with symbolic ends, and the values that an expression takes while variables run over such
//! intervals.
//!
//! What [`eval_set`] gives always holds every value. It is exact for sums of distinct variables times constants.

use super::Analyzer;
use crate::ir::{Expr, ExprKind, Range, Var};
use crate::tensor::scalar::BinOp;

/// All integers from `min` to `max`, both included; `None` where there is no limit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IntSet {
    /// Least value.
    pub min: Option<Expr>,
    /// Greatest value.
    pub max: Option<Expr>,
}

impl IntSet {
    /// Every integer.
    pub const EVERYTHING: Self = Self {
        min: None,
        max: None,
    };

    /// The single value.
    pub fn point(value: Expr) -> Self {
        Self {
            min: Some(value.clone()),
            max: Some(value),
        }
    }

    /// From `min` to `max`, both included.
    pub fn interval(min: Expr, max: Expr) -> Self {
        Self {
            min: Some(min),
            max: Some(max),
        }
    }

    /// The values of a range.
    pub fn from_range(range: &Range) -> Self {
        if range.extent.is_one() {
            return Self::point(range.min.clone());
        }
        let max = if range.min.is_zero() {
            &range.extent - 1
        } else {
            &range.min + &range.extent - 1
        };
        Self::interval(range.min.clone(), max)
    }

    /// The only value, if the ends are known to be equal.
    pub fn as_point(&self, analyzer: &Analyzer) -> Option<&Expr> {
        let (min, max) = (self.min.as_ref()?, self.max.as_ref()?);
        (min == max || analyzer.can_prove(&min.equals(max))).then_some(min)
    }

    /// Both ends, if there are limits.
    pub fn bounds(&self) -> Option<(&Expr, &Expr)> {
        Some((self.min.as_ref()?, self.max.as_ref()?))
    }

    /// The values as a range, if there are limits.
    pub fn to_range(&self, analyzer: &Analyzer) -> Option<Range> {
        let (min, max) = self.bounds()?;
        if min == max {
            return Some(Range::point(analyzer.simplify(min)));
        }
        Some(Range {
            min: analyzer.simplify(min),
            extent: analyzer.simplify(&(max - min + 1)),
        })
    }

    /// The set with simplified ends.
    #[must_use]
    pub fn simplified(&self, analyzer: &Analyzer) -> Self {
        let end = |e: &Option<Expr>| e.as_ref().map(|e| analyzer.simplify(e));
        Self {
            min: end(&self.min),
            max: end(&self.max),
        }
    }

    /// The least interval that holds both.
    #[must_use]
    pub fn union(&self, other: &Self, analyzer: &Analyzer) -> Self {
        Self {
            min: lesser(self.min.as_ref(), other.min.as_ref(), analyzer),
            max: greater(self.max.as_ref(), other.max.as_ref(), analyzer),
        }
    }

    /// What is in both.
    #[must_use]
    pub fn intersect(&self, other: &Self, analyzer: &Analyzer) -> Self {
        let min = match (&self.min, &other.min) {
            (None, end) | (end, None) => end.clone(),
            (a, b) => greater(a.as_ref(), b.as_ref(), analyzer),
        };
        let max = match (&self.max, &other.max) {
            (None, end) | (end, None) => end.clone(),
            (a, b) => lesser(a.as_ref(), b.as_ref(), analyzer),
        };
        Self { min, max }
    }

    /// Whether every value of `other` is known to be in it.
    pub fn covers(&self, other: &Self, analyzer: &Analyzer) -> bool {
        let below = |a: &Expr, b: &Expr| a == b || analyzer.can_prove(&a.le(b));
        let low = match (&self.min, &other.min) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(mine), Some(theirs)) => below(mine, theirs),
        };
        low && match (&self.max, &other.max) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(mine), Some(theirs)) => below(theirs, mine),
        }
    }

    /// `f` applied to the ends that there are.
    fn map(&self, f: impl Fn(&Expr) -> Expr) -> Self {
        Self {
            min: self.min.as_ref().map(&f),
            max: self.max.as_ref().map(&f),
        }
    }

    fn swapped(self) -> Self {
        Self {
            min: self.max,
            max: self.min,
        }
    }
}

/// The lesser of two ends; `None` where one has no limit.
fn lesser(a: Option<&Expr>, b: Option<&Expr>, analyzer: &Analyzer) -> Option<Expr> {
    let (a, b) = (a?, b?);
    Some(if a == b || analyzer.can_prove(&a.le(b)) {
        a.clone()
    } else if analyzer.can_prove(&b.le(a)) {
        b.clone()
    } else {
        analyzer.simplify(&a.min(b))
    })
}

/// The greater of two ends; `None` where one has no limit.
fn greater(a: Option<&Expr>, b: Option<&Expr>, analyzer: &Analyzer) -> Option<Expr> {
    let (a, b) = (a?, b?);
    Some(if a == b || analyzer.can_prove(&b.le(a)) {
        a.clone()
    } else if analyzer.can_prove(&a.le(b)) {
        b.clone()
    } else {
        analyzer.simplify(&a.max(b))
    })
}

/// An interval that holds every value of an integer expression while the variables with a domain run over it; other variables
/// stay as they are.
pub fn eval_set(
    expr: &Expr,
    domain: &dyn Fn(&Var) -> Option<IntSet>,
    analyzer: &Analyzer,
) -> IntSet {
    Evaluator { domain, analyzer }
        .eval(expr)
        .simplified(analyzer)
}

struct Evaluator<'a> {
    domain: &'a dyn Fn(&Var) -> Option<IntSet>,
    analyzer: &'a Analyzer,
}

impl Evaluator<'_> {
    fn eval(&self, expr: &Expr) -> IntSet {
        let mut relaxed = false;
        expr.walk(&mut |e| {
            relaxed |= e.as_var().is_some_and(|v| (self.domain)(v).is_some());
            !relaxed
        });
        if !relaxed {
            return IntSet::point(expr.clone());
        }
        match expr.kind() {
            ExprKind::Var(var) => self.eval_var(var),
            ExprKind::Binary(op, a, b) => self.eval_binary(*op, a, b),
            ExprKind::Select(_, a, b) | ExprKind::IfThenElse(_, a, b) => {
                self.eval(a).union(&self.eval(b), self.analyzer)
            }
            ExprKind::Cast(a)
                if a.dtype().is_int() && self.analyzer.bound(a).fits(expr.dtype().scalar) =>
            {
                self.eval(a).map(|e| e.cast(expr.dtype()))
            }
            ExprKind::Ramp {
                base,
                stride,
                lanes,
            } => {
                let last = base + stride * i64::from(*lanes - 1);
                self.eval(base).union(&self.eval(&last), self.analyzer)
            }
            ExprKind::Broadcast(a, _) => self.eval(a),
            _ => IntSet::EVERYTHING,
        }
    }

    fn eval_var(&self, var: &Var) -> IntSet {
        let Some(set) = (self.domain)(var) else {
            return IntSet::point(var.expr());
        };
        // An end may name further variables with a domain; a variable that is its own domain stays.
        let own = |end: &Option<Expr>| end.as_ref().is_some_and(|e| e.as_var() == Some(var));
        if own(&set.min) && own(&set.max) {
            return set;
        }
        IntSet {
            min: set.min.and_then(|e| self.eval(&e).min),
            max: set.max.and_then(|e| self.eval(&e).max),
        }
    }

    fn eval_binary(&self, op: BinOp, a: &Expr, b: &Expr) -> IntSet {
        let (x, y) = (self.eval(a), self.eval(b));
        let ends = |f: fn(&Expr, &Expr) -> Expr, a: &Option<Expr>, b: &Option<Expr>| {
            Some(f(a.as_ref()?, b.as_ref()?))
        };
        match op {
            BinOp::Add => IntSet {
                min: ends(|p, q| p + q, &x.min, &y.min),
                max: ends(|p, q| p + q, &x.max, &y.max),
            },
            BinOp::Sub => IntSet {
                min: ends(|p, q| p - q, &x.min, &y.max),
                max: ends(|p, q| p - q, &x.max, &y.min),
            },
            BinOp::Min => IntSet {
                min: lesser(x.min.as_ref(), y.min.as_ref(), self.analyzer),
                max: match (&x.max, &y.max) {
                    (None, end) | (end, None) => end.clone(),
                    (p, q) => lesser(p.as_ref(), q.as_ref(), self.analyzer),
                },
            },
            BinOp::Max => IntSet {
                min: match (&x.min, &y.min) {
                    (None, end) | (end, None) => end.clone(),
                    (p, q) => greater(p.as_ref(), q.as_ref(), self.analyzer),
                },
                max: greater(x.max.as_ref(), y.max.as_ref(), self.analyzer),
            },
            BinOp::Mul => match (x.as_point(self.analyzer), y.as_point(self.analyzer)) {
                (_, Some(factor)) => self.scaled(&x, factor),
                (Some(factor), None) => self.scaled(&y, factor),
                (None, None) => IntSet::EVERYTHING,
            },
            BinOp::FloorDiv => match y.as_point(self.analyzer) {
                Some(d) if self.analyzer.can_prove(&d.ge(1)) => x.map(|e| e.floor_div(d)),
                Some(d) if self.analyzer.can_prove(&d.lt(0)) => x.map(|e| e.floor_div(d)).swapped(),
                _ => IntSet::EVERYTHING,
            },
            BinOp::FloorMod => match y.as_point(self.analyzer) {
                Some(d) if self.analyzer.can_prove(&d.ge(1)) => self.remainder(&x, d),
                _ => IntSet::EVERYTHING,
            },
            _ => IntSet::EVERYTHING,
        }
    }

    fn scaled(&self, set: &IntSet, factor: &Expr) -> IntSet {
        let product = set.map(|e| e * factor);
        if self.analyzer.can_prove(&factor.ge(0)) {
            product
        } else if self.analyzer.can_prove(&factor.lt(0)) {
            product.swapped()
        } else {
            IntSet::EVERYTHING
        }
    }

    /// `set % divisor` for a positive divisor: the set moved, if it lies between two multiples, else all remainders.
    fn remainder(&self, set: &IntSet, divisor: &Expr) -> IntSet {
        if let Some((min, max)) = set.bounds()
            && (min == max
                || self
                    .analyzer
                    .can_prove(&min.floor_div(divisor).equals(max.floor_div(divisor))))
        {
            let base = divisor * min.floor_div(divisor);
            return set.map(|e| e - &base);
        }
        IntSet::interval(Expr::int(0, divisor.dtype()), divisor - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::DType;

    fn var(name: &str) -> Var {
        Var::new(name, DType::I32)
    }

    /// `i_0` is free, `i_1` and `k` run over 0..5 and 0..3.
    fn set_of(make: impl Fn(&Var, &Var, &Var) -> Expr) -> (Var, IntSet) {
        let (outer, inner, k) = (var("i_0"), var("i_1"), var("k"));
        let expr = make(&outer, &inner, &k);
        let domain = |v: &Var| {
            let extent = if *v == inner {
                5
            } else if *v == k {
                3
            } else {
                return None;
            };
            Some(IntSet::from_range(&Range::to(Expr::i32(extent))))
        };
        let set = eval_set(&expr, &domain, &Analyzer::new());
        (outer, set)
    }

    #[test]
    fn sums_keep_free_variables() {
        let (outer, set) = set_of(|o, i, k| o.expr() * 5 + i + k.expr() * -1);
        let analyzer = Analyzer::new();
        let range = set.to_range(&analyzer).expect("both ends are limited");
        assert_eq!(range.extent.as_int(), Some(7), "{set:?}");
        assert_eq!(range.min, analyzer.simplify(&(outer.expr() * 5 - 2)));
    }

    #[test]
    fn remainders_between_two_multiples_only_move() {
        let (_, set) = set_of(|_, i, _| (i.expr() + 10).floor_mod(8));
        assert_eq!(set, IntSet::interval(Expr::i32(2), Expr::i32(6)));
        let (_, set) = set_of(|_, i, _| (i.expr() + 6).floor_mod(8));
        assert_eq!(set, IntSet::interval(Expr::i32(0), Expr::i32(7)));
    }

    #[test]
    fn products_of_two_moving_factors_are_not_bounded() {
        let (_, set) = set_of(|_, i, k| i.expr() * k);
        assert_eq!(set, IntSet::EVERYTHING);
    }

    #[test]
    fn covering_is_proved_end_by_end() {
        let analyzer = Analyzer::new();
        let set = |a, b| IntSet::interval(Expr::i32(a), Expr::i32(b));
        assert!(set(0, 9).covers(&set(2, 9), &analyzer));
        assert!(!set(0, 9).covers(&set(2, 10), &analyzer));
        assert!(IntSet::EVERYTHING.covers(&set(0, 1), &analyzer));
        assert!(!set(0, 1).covers(&IntSet::EVERYTHING, &analyzer));
    }
}
