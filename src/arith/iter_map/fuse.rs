//! Sums to one mark: splits of one mark that meet again are joined, then splits whose scales follow each other's extents are
//! fused, with the bounds of the predicate in place of the extents that they narrow.

use super::constraint::Constraint;
use super::rewrite::Rewriter;
use super::{IterMapError, IterMapLevel, IterSplit, IterSum, MarkId, MarkSource};
use crate::ir::Expr;
use crate::ir::sum::Sum;

/// A mark made of several splits.
pub(super) struct Fusion {
    /// All splits, outermost first, with scales relative to the innermost.
    flattened: Vec<IterSplit>,
    /// The same with bounded groups as marks of their own.
    structured: IterSum,
    mark: MarkId,
    /// Least value of the fusion, which the mark leaves out.
    offset: Expr,
}

/// Whether a sum that has become one split is left as it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SkipFused {
    Yes,
    No,
}

impl IterSplit {
    /// Whether two splits are of the same part of the same mark.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.mark == other.mark
            && self.lower_factor == other.lower_factor
            && self.extent == other.extent
    }
}

impl Rewriter<'_> {
    /// Notes a bound of the predicate.
    pub(super) fn constrain(&mut self, constraint: &Constraint) -> Result<(), IterMapError> {
        let unusable = || IterMapError::NotFusable {
            expr: constraint.iter.clone(),
        };
        let mut sum = self.rewrite_sum(&constraint.iter)?;
        let zero = Expr::int(0, sum.base.dtype());
        let base = std::mem::replace(&mut sum.base, zero);
        let relative = |bound: &Option<Expr>| {
            let bound = self.widened(bound.as_ref()?);
            Some(self.facts.simplify(&(bound - &base)))
        };
        let (lower, upper) = (relative(&constraint.lower), relative(&constraint.upper));
        let fused = self.fuse(sum, SkipFused::No).ok_or_else(unusable)?;
        let split = &fused.args[0];
        if !split.scale.is_one() {
            return Err(unusable());
        }
        let at = self
            .fusions
            .iter()
            .position(|f| f.mark == split.mark)
            .ok_or_else(unusable)?;
        let mut min = self.fusions[at].offset.clone();
        let mut max = self.facts.simplify(&(&min + self.extent(split.mark)));
        let mut structured = self.fusions[at].structured.clone();
        if let Some(lower) = lower {
            let new = self.facts.simplify(&lower.max(&min));
            let delta = self.facts.simplify(&(&new - &min));
            structured.base = self.facts.simplify(&(structured.base - delta));
            min = new;
        }
        if let Some(upper) = upper {
            max = if self.facts.can_prove(&upper.le(&max)) {
                upper
            } else {
                self.facts.simplify(&upper.min(&max))
            };
        }
        let extent = self.facts.simplify(&(max - &min));
        let mark = self.new_mark(MarkSource::Sum(structured.clone()), extent);
        let fusion = &mut self.fusions[at];
        fusion.structured = structured;
        fusion.mark = mark;
        fusion.offset = min;
        self.constrained.push(fusion.flattened.clone());
        Ok(())
    }

    /// The mark of a bounded fusion, whose values start with 0, and its extent.
    pub(super) fn bounded_mark(&self, group: &[IterSplit]) -> Option<(MarkId, Expr)> {
        let known = self.fusions.iter().find(|f| f.flattened == group)?;
        let extent = self.extent(known.mark).clone();
        known.offset.is_zero().then_some((known.mark, extent))
    }

    /// Two bounded fusions must contain each other or share nothing.
    pub(super) fn check_constraints(&self) -> Result<(), IterMapError> {
        for (i, small) in self.constrained.iter().enumerate() {
            for large in &self.constrained[i + 1..] {
                let shared = small.iter().filter(|s| large.contains(s)).count();
                if shared != 0 && shared != small.len() {
                    return Err(IterMapError::OverlappingConstraints);
                }
            }
        }
        Ok(())
    }

    /// The sum as one split and a base; `None` if its parts do not fit together.
    pub(super) fn fuse(&mut self, mut sum: IterSum, skip: SkipFused) -> Option<IterSum> {
        if let Some(joined) = self.join_splits(&sum) {
            sum = joined;
            if sum.args.len() <= 1 && skip == SkipFused::Yes {
                return Some(sum);
            }
        }
        let dtype = sum.base.dtype();
        let mut used = vec![false; sum.args.len()];
        let first = base_split(&sum, &used, None)?;
        let base_scale = sum.args[first].scale.clone();
        let mut expected = base_scale.clone();
        let mut extra_base = Expr::int(0, dtype);
        let mut tail = Expr::int(0, dtype);
        let (mut flattened, mut grouped) = (Vec::new(), Vec::new());
        let mut next = Some(first);
        while used.iter().any(|&u| !u) {
            let exact = next
                .take()
                .or_else(|| self.with_scale(&sum, &used, &expected, None));
            let (at, scale) = match exact {
                Some(at) => (at, expected.clone()),
                None if self.level != IterMapLevel::Bijective && base_scale.is_one() => {
                    self.closest_below(&sum, &used, &expected)?
                }
                None => return None,
            };
            if exact.is_none() {
                tail = self.facts.simplify(&(tail + &expected - &scale));
            }
            let group = self
                .constrained
                .iter()
                .filter(|group| group.last().is_some_and(|last| last.is_like(&sum.args[at])))
                .max_by_key(|group| group.len())
                .cloned();
            let extent = if let Some(group) = group {
                for member in group.iter().rev() {
                    let wanted = self.product(&member.scale, &scale);
                    let k = (0..sum.args.len()).find(|&k| {
                        !used[k]
                            && sum.args[k].is_like(member)
                            && self.facts.can_prove_equal(&sum.args[k].scale, &wanted)
                    })?;
                    used[k] = true;
                    flattened.push(sum.args[k].clone());
                }
                let fusion = self.fusions.iter().find(|f| f.flattened == group)?;
                let (mark, offset) = (fusion.mark, fusion.offset.clone());
                let mut whole = self.whole(mark);
                whole.scale = self.quotient(&scale, &base_scale);
                grouped.push(whole);
                extra_base = self.facts.simplify(&(extra_base + offset * &scale));
                self.extent(mark).clone()
            } else {
                used[at] = true;
                let mut split = sum.args[at].clone();
                split.scale = self.quotient(&split.scale, &base_scale);
                flattened.push(split.clone());
                grouped.push(split);
                sum.args[at].extent.clone()
            };
            expected = self.product(&extent, &scale);
        }
        flattened.reverse();
        grouped.reverse();
        let base = self.facts.simplify(&(&sum.base + &extra_base));
        let mark = match self.fusions.iter().find(|f| f.flattened == flattened) {
            Some(old) => {
                let offset = &old.offset * &base_scale;
                if !self.facts.can_prove_equal(&extra_base, &offset) {
                    return None;
                }
                old.mark
            }
            None => {
                let structured = IterSum {
                    args: grouped,
                    base: Expr::int(0, dtype),
                };
                let extent = self
                    .facts
                    .simplify(&(expected.floor_div(&base_scale) + tail));
                let mark = self.new_mark(MarkSource::Sum(structured.clone()), extent);
                self.fusions.push(Fusion {
                    flattened,
                    structured,
                    mark,
                    offset: extra_base,
                });
                mark
            }
        };
        let mut split = self.whole(mark);
        split.scale = base_scale;
        let args = vec![split];
        Some(IterSum { args, base })
    }

    /// `((x // (c·s)) % m)·s·t + ((x // c) % s)·t = ((x // c) % (m·s))·t`; `None` if no two splits share a mark.
    fn join_splits(&self, sum: &IterSum) -> Option<IterSum> {
        let count = |mark| sum.args.iter().filter(|a| a.mark == mark).count();
        if sum.args.iter().all(|a| count(a.mark) == 1) {
            return None;
        }
        let mut used = vec![false; sum.args.len()];
        let mut joined = Vec::new();
        while let Some(end) = used.iter().rposition(|&u| !u) {
            let mark = sum.args[end].mark;
            let at = base_split(sum, &used, Some(mark))?;
            used[at] = true;
            let mut low = sum.args[at].clone();
            loop {
                let scale = self.product(&low.extent, &low.scale);
                let Some(at) = self.with_scale(sum, &used, &scale, Some(mark)) else {
                    break;
                };
                let high = &sum.args[at];
                let lower = self.product(&low.lower_factor, &low.extent);
                if !self.facts.can_prove_equal(&high.lower_factor, &lower) {
                    break;
                }
                used[at] = true;
                low.extent = self.product(&high.extent, &low.extent);
            }
            joined.push(low);
        }
        joined.reverse();
        let base = sum.base.clone();
        Some(IterSum { args: joined, base })
    }

    /// The last unused split with this scale; one of extent 1 before others, for it changes no scale.
    fn with_scale(
        &self,
        sum: &IterSum,
        used: &[bool],
        scale: &Expr,
        mark: Option<MarkId>,
    ) -> Option<usize> {
        let fits = |&at: &usize| {
            !used[at]
                && mark.is_none_or(|m| m == sum.args[at].mark)
                && self.facts.can_prove_equal(&sum.args[at].scale, scale)
        };
        let matching: Vec<usize> = (0..sum.args.len()).rev().filter(fits).collect();
        let unit = matching.iter().find(|&&at| sum.args[at].extent.is_one());
        unit.or(matching.first()).copied()
    }

    /// The unused split with the greatest scale that is at most `limit`, and that scale.
    fn closest_below(&self, sum: &IterSum, used: &[bool], limit: &Expr) -> Option<(usize, Expr)> {
        let mut best: Option<(usize, Expr)> = None;
        for at in (0..sum.args.len()).rev().filter(|&at| !used[at]) {
            let scale = &sum.args[at].scale;
            let fits = self.facts.can_prove(&scale.le(limit)) && self.facts.can_prove(&scale.ge(0));
            let better = |best: &Expr| self.facts.can_prove(&best.lt(scale));
            if fits && best.as_ref().is_none_or(|(_, best)| better(best)) {
                best = Some((at, scale.clone()));
            }
        }
        best
    }
}

/// The unused split with the least scale: the least constant, ties to extent 1; else the one of fewest factors.
fn base_split(sum: &IterSum, used: &[bool], mark: Option<MarkId>) -> Option<usize> {
    let open = |&at: &usize| !used[at] && mark.is_none_or(|m| m == sum.args[at].mark);
    let open: Vec<usize> = (0..sum.args.len()).rev().filter(open).collect();
    let constant = |&at: &usize| {
        let arg = &sum.args[at];
        arg.scale
            .as_int()
            .map(|scale| (scale, !arg.extent.is_one()))
    };
    let least = open
        .iter()
        .filter_map(|at| Some((constant(at)?, *at)))
        .min_by_key(|&(key, at)| (key, usize::MAX - at));
    let factors = |at: usize| {
        let scale = Sum::of(&sum.args[at].scale);
        scale.terms.iter().map(|t| t.atoms.len()).sum::<usize>()
    };
    match least {
        Some((_, at)) => Some(at),
        None => open.into_iter().min_by_key(|&at| factors(at)),
    }
}
