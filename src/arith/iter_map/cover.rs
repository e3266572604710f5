//! Whether different inputs have different indices.

use super::{IterMap, IterSplit, IterSum, MarkId, MarkSource};
use crate::arith::Analyzer;
use crate::ir::{Expr, Range, Var};

impl IterMap {
    /// The extents of the indices, which start with 0: a part of an iterator counts with all values that it has anywhere.
    pub fn extents(&self, facts: &Analyzer) -> Option<Vec<Expr>> {
        let extent = |sum: &IterSum| {
            let extent = match sum.args.first() {
                Some(split) => facts.simplify(&(&split.extent * &split.scale)),
                None => Expr::int(1, sum.base.dtype()),
            };
            sum.base.is_zero().then_some(extent)
        };
        self.indices.iter().map(extent).collect()
    }

    /// Whether no two combinations of inputs have the same indices: the splits of each mark are all of it, each fusion leaves its
    /// parts apart, and every input is used. Padding is allowed.
    pub fn is_one_to_one(&self, facts: &Analyzer, inputs: &[(Var, Range)]) -> bool {
        let mut splits: Vec<(MarkId, Vec<&IterSplit>)> = Vec::new();
        let mut pending: Vec<&IterSplit> = self.indices.iter().flat_map(|sum| &sum.args).collect();
        while let Some(split) = pending.pop() {
            match splits.iter_mut().find(|(mark, _)| *mark == split.mark) {
                Some((_, known)) => known.push(split),
                None => {
                    splits.push((split.mark, vec![split]));
                    if let MarkSource::Sum(sum) = &self.mark(split.mark).source {
                        if !self.leaves_apart(facts, &sum.args) {
                            return false;
                        }
                        pending.extend(&sum.args);
                    }
                }
            }
        }
        let one_each = self.indices.iter().all(|sum| {
            let scale = sum.args.first().map(|split| &split.scale);
            sum.args.len() <= 1 && scale.is_none_or(Expr::is_one)
        });
        let is_used = |(var, range): &(Var, Range)| {
            let of_var = |(mark, _): &(MarkId, _)| match &self.mark(*mark).source {
                MarkSource::Input(input) => input.uses(var),
                MarkSource::Sum(_) => false,
            };
            range.extent.is_one() || splits.iter().any(of_var)
        };
        one_each
            && inputs.iter().all(is_used)
            && splits
                .iter()
                .all(|(mark, splits)| self.is_all_of(facts, *mark, splits))
    }

    /// Whether the scales of a fusion follow the extents.
    fn leaves_apart(&self, facts: &Analyzer, args: &[IterSplit]) -> bool {
        let Some(last) = args.last() else {
            return true;
        };
        let mut expected = last.scale.clone();
        args.iter().rev().all(|arg| {
            let fits = facts.can_prove_equal(&arg.scale, &expected);
            expected = facts.simplify(&(&expected * &arg.extent));
            fits
        })
    }

    /// Whether the splits follow each other and reach the extent of the mark.
    fn is_all_of(&self, facts: &Analyzer, mark: MarkId, splits: &[&IterSplit]) -> bool {
        let mut left = splits.to_vec();
        let mut reached = Expr::int(1, self.mark(mark).extent.dtype());
        while !left.is_empty() {
            let next = |split: &&IterSplit| facts.can_prove_equal(&split.lower_factor, &reached);
            let Some(at) = left.iter().position(next) else {
                return false;
            };
            let split = left.remove(at);
            reached = facts.simplify(&(&split.lower_factor * &split.extent));
        }
        facts.can_prove_equal(&reached, &self.mark(mark).extent)
    }
}
