//! Digits of a fusion that the predicate bounds, in the forms that simplification gives them.
//!
//! Of `x = 64·b + t`, `t < 64`, simplification makes `x % 30` `(4·b + t) % 30`, and `x // 4 % 6` `(4·b + t // 4) % 6`: the scales are
//! smaller, and no fusion of `b` and `t` that the bound of `x` is known of. Written with `x` they are digits of it.

use super::rewrite::Rewriter;
use super::{IterSplit, IterSum};
use crate::ir::Expr;

impl Rewriter<'_> {
    /// The dividend `x // l` of a bounded fusion `x`, if the sum is that; it may differ from it by multiples of `modulus`, if only
    /// the remainder of the division by that counts. Else the sum as it is.
    pub(super) fn as_bounded(&self, sum: IterSum, modulus: Option<&Expr>) -> IterSum {
        let modulus = match modulus {
            Some(modulus) => match modulus.as_int().filter(|m| *m > 0) {
                Some(modulus) => Some(modulus),
                None => return sum,
            },
            None => None,
        };
        let mut bounded = self.constrained.iter();
        let Some(split) = bounded.find_map(|group| self.digits_of(group, &sum, modulus)) else {
            return sum;
        };
        IterSum {
            args: vec![split],
            base: sum.base,
        }
    }

    /// The split `x // l` of the fusion `x` of these splits, if the sum is that.
    fn digits_of(
        &self,
        group: &[IterSplit],
        sum: &IterSum,
        modulus: Option<i64>,
    ) -> Option<IterSplit> {
        let (last, larger) = group.split_last()?;
        let low = sum.args.iter().find(|arg| arg.mark == last.mark)?;
        let l = quotient(&low.lower_factor, &last.lower_factor)?;
        let is_rest = quotient(&last.extent, &low.extent) == Some(l);
        if !is_rest || !low.scale.is_one() || !last.scale.is_one() {
            return None;
        }
        let mut others = sum.args.iter().filter(|arg| arg.mark != last.mark);
        if !others.all(|arg| larger.iter().any(|own| own.is_like(arg))) {
            return None;
        }
        let fits = larger.iter().all(|own| {
            let found = sum.args.iter().find(|arg| own.is_like(arg));
            let scale = found.map_or(Some(0), |arg| arg.scale.as_int());
            let wanted = own.scale.as_int().filter(|scale| scale % l == 0);
            scale.zip(wanted).is_some_and(|(scale, wanted)| {
                let wanted = wanted / l;
                match modulus {
                    Some(m) => scale.rem_euclid(m) == wanted.rem_euclid(m),
                    None => scale == wanted,
                }
            })
        });
        let (mark, extent) = self.bounded_mark(group).filter(|_| fits)?;
        let l = Expr::int(l, extent.dtype());
        Some(IterSplit {
            mark,
            extent: self.facts.simplify(&(extent + &l - 1).floor_div(&l)),
            scale: Expr::int(1, l.dtype()),
            lower_factor: l,
        })
    }
}

/// `a / b` of constants, if it is whole and at least 1.
fn quotient(a: &Expr, b: &Expr) -> Option<i64> {
    let (a, b) = a.as_int().zip(b.as_int())?;
    (b > 0 && a >= b && a % b == 0).then(|| a / b)
}
