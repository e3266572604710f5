//! Padding: an input that is cut at a point that does not divide it is taken for a longer one.

use super::rewrite::Rewriter;
use super::{IterSplit, IterSum, MarkId, MarkSource, Padded};
use crate::ir::Expr;
use crate::ir::sum::gcd;

/// What the cuts of each mark ask for.
#[derive(Default)]
pub(super) struct Padding {
    /// The first round collects the divisors, the second uses them.
    pub(super) collecting: bool,
    /// Whether anything was padded in the first round.
    pub(super) required: bool,
    entries: Vec<Entry>,
    /// Padded marks and what they were.
    pub(super) origins: Vec<(MarkId, MarkId)>,
}

struct Entry {
    mark: MarkId,
    /// A common multiple of the divisors.
    factor: Expr,
    left: Expr,
    padded: Option<MarkId>,
}

impl Rewriter<'_> {
    /// The split of the mark padded such that the divisor falls on its boundaries, and how much comes before its first value.
    pub(super) fn pad(
        &mut self,
        mut split: IterSplit,
        base: &Expr,
        divisor: &Expr,
    ) -> Option<(IterSplit, Expr)> {
        let facts = self.facts;
        let left_pad = facts.simplify(&base.floor_mod(divisor));
        let right_edge = facts.simplify(&(&left_pad + &split.extent));
        let right_pad = if self.divides(divisor, &right_edge) {
            Expr::int(0, divisor.dtype())
        } else {
            facts.simplify(&(&right_edge * -1).floor_mod(divisor))
        };
        let mark = split.mark;
        let known = self.padding.entries.iter().position(|e| e.mark == mark);
        if self.padding.collecting {
            let at = known.unwrap_or_else(|| {
                self.padding.entries.push(Entry {
                    mark,
                    factor: Expr::int(1, divisor.dtype()),
                    left: Expr::int(0, divisor.dtype()),
                    padded: None,
                });
                self.padding.entries.len() - 1
            });
            let cut = self.product(divisor, &split.lower_factor);
            self.padding.entries[at].factor =
                self.common_multiple(&self.padding.entries[at].factor, &cut);
            if left_pad.is_zero() && right_pad.is_zero() {
                return Some((split, left_pad));
            }
            self.padding.required = true;
            let left = self.product(&left_pad, &split.lower_factor);
            self.padding.entries[at].left =
                facts.simplify(&self.padding.entries[at].left.max(left));
            split.extent = facts.simplify(&(&left_pad + &split.extent + &right_pad));
            return Some((split, left_pad));
        }
        let Some(at) = known else {
            return Some((split, left_pad));
        };
        let (factor, left) = {
            let entry = &self.padding.entries[at];
            (entry.factor.clone(), entry.left.clone())
        };
        if left.is_zero() && self.divides(&factor, self.extent(mark)) {
            return Some((split, left_pad));
        }
        if !self.divides(&split.lower_factor, &factor) || !self.divides(divisor, &factor) {
            return None;
        }
        let mut left_pad = left_pad;
        let padded = match self.padding.entries[at].padded {
            Some(padded) => padded,
            None => {
                if !self.divides(&split.lower_factor, &left) {
                    return None;
                }
                left_pad = self.quotient(&left, &split.lower_factor);
                let edge = facts.simplify(&(self.extent(mark) + &left));
                let right = if self.divides(&factor, &edge) {
                    Expr::int(0, divisor.dtype())
                } else {
                    (&edge * -1).floor_mod(&factor)
                };
                let extent = facts.simplify(&(edge + right));
                let source = IterSum {
                    args: vec![self.whole(mark)],
                    base: left,
                };
                let padded = self.new_mark(MarkSource::Sum(source), extent);
                self.padding.entries[at].padded = Some(padded);
                self.padding.origins.push((padded, mark));
                padded
            }
        };
        split.mark = padded;
        split.extent = self.quotient(self.extent(padded), &split.lower_factor);
        Some((split, left_pad))
    }

    /// The marks that were padded.
    pub(super) fn padded(&self) -> Vec<Padded> {
        let entries = self.padding.entries.iter();
        let padded = entries.filter_map(|entry| {
            let mark = entry.padded?;
            Some(Padded {
                mark,
                factor: entry.factor.clone(),
                left: entry.left.clone(),
                end: (self.facts).simplify(&(self.extent(entry.mark) + &entry.left)),
            })
        });
        padded.collect()
    }

    /// A common multiple: the least one of the constant parts.
    fn common_multiple(&self, a: &Expr, b: &Expr) -> Expr {
        let parts = |e: &Expr| -> (i128, Expr) {
            let sum = crate::ir::sum::Sum::of(e);
            let one = Expr::int(1, e.dtype());
            if let Some(c) = sum.as_constant() {
                return (c, one);
            }
            let content = gcd(sum.content(), sum.constant).max(1);
            (content, sum.divided(content).to_expr().unwrap_or(one))
        };
        let ((ca, ra), (cb, rb)) = (parts(a), parts(b));
        let lcm = ca / gcd(ca, cb).max(1) * cb;
        let lcm = Expr::int(i64::try_from(lcm).unwrap_or(i64::MAX), a.dtype());
        let rest = if self.divides(&rb, &ra) {
            ra
        } else if self.divides(&ra, &rb) {
            rb
        } else {
            ra * rb
        };
        self.product(&rest, &lcm)
    }
}
