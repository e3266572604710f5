//! Whether splits of each mark are independent and cover it.

use super::rewrite::Rewriter;
use super::{IterMapError, IterMapLevel, IterSplit, IterSum, MarkId, MarkSource};
use crate::ir::Expr;

impl Rewriter<'_> {
    /// Checks that the splits of each mark that the indices use, directly or through fusions, fit together.
    pub(super) fn check_mapping(&self, indices: &[IterSum]) -> Result<(), IterMapError> {
        let mut visited = Vec::new();
        let mut splits = Vec::new();
        for split in indices.iter().flat_map(|sum| &sum.args) {
            self.visit(split.mark, &mut visited, &mut splits);
            splits.push(split.clone());
        }
        for &mark in &visited {
            let of_mark: Vec<&IterSplit> = splits.iter().filter(|s| s.mark == mark).collect();
            if !self.cover(mark, &of_mark) {
                return Err(IterMapError::NotIndependent);
            }
        }
        let unused = |mark: &&MarkId| !visited.contains(mark) && !self.extent(**mark).is_one();
        if self.level == IterMapLevel::Bijective && self.input_marks.iter().any(|m| unused(&m)) {
            return Err(IterMapError::UnusedInput);
        }
        Ok(())
    }

    fn visit(&self, mark: MarkId, visited: &mut Vec<MarkId>, splits: &mut Vec<IterSplit>) {
        if visited.contains(&mark) {
            return;
        }
        visited.push(mark);
        if let MarkSource::Sum(sum) = &self.marks[mark.0].source {
            for split in &sum.args {
                self.visit(split.mark, visited, splits);
                splits.push(split.clone());
            }
        }
    }

    /// Whether the splits, taken from the innermost out, follow each other and reach the mark's extent as the level asks.
    fn cover(&self, mark: MarkId, splits: &[&IterSplit]) -> bool {
        let extent = self.extent(mark);
        let mut expected = Expr::int(1, extent.dtype());
        let mut open: Vec<&IterSplit> = splits.to_vec();
        while !open.is_empty() {
            let exact = open
                .iter()
                .position(|s| self.facts.can_prove_equal(&s.lower_factor, &expected));
            let at = match exact {
                Some(at) => at,
                None if self.level == IterMapLevel::Bijective => return false,
                None => match self.next_above(&open, &expected) {
                    Some(at) => at,
                    None => return false,
                },
            };
            let split = open.remove(at);
            expected = self.product(&split.lower_factor, &split.extent);
        }
        let origin = self.padding.origins.iter().find(|(p, _)| *p == mark);
        let full = self.facts.can_prove_equal(&expected, extent);
        let divides = full || self.divides(&expected, extent);
        match (self.level, origin) {
            (IterMapLevel::Bijective, origin) => full && origin.is_none(),
            (_, None) => divides,
            (IterMapLevel::NoCheck, Some(_)) => true,
            (IterMapLevel::Surjective, Some((_, origin))) => {
                let before = self.extent(*origin);
                let reaches = || self.facts.can_prove(&before.ge(&expected));
                if full {
                    let whole = |s: &IterSplit| self.facts.can_prove_equal(&s.extent, &expected);
                    splits.len() == 1 && (!whole(splits[0]) || reaches())
                } else {
                    divides && reaches()
                }
            }
        }
    }

    /// With a gap below: the split with the least lower factor, where all lower factors are multiples of what is expected.
    fn next_above(&self, open: &[&IterSplit], expected: &Expr) -> Option<usize> {
        let mut best: Option<usize> = None;
        for (at, split) in open.iter().enumerate() {
            if !self.divides(expected, &split.lower_factor) {
                return None;
            }
            if best.is_none_or(|b| self.divides(&split.lower_factor, &open[b].lower_factor)) {
                best = Some(at);
            }
        }
        best
    }
}
