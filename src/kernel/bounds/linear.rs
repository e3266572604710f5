//! Linear forms over variables of known range, and facts about them.

use crate::kernel::index::{Sum, Term};

/// A quantity whose value differs from iteration to iteration, by its position in [`Facts`].
pub(super) type Unknown = usize;

/// `constant + coefficient * unknown + …`, exact: each term has one factor.
pub(super) type Linear = Sum<Unknown, i128>;

/// How many facts one proof combines at most.
const DEPTH: usize = 3;

/// How many combinations one proof tries at most; the next is not shown.
const MOST_STEPS: usize = 10_000;

/// What holds at one place of a kernel.
#[derive(Default)]
pub(super) struct Facts {
    /// By unknown: its least and greatest value.
    ranges: Vec<(i128, i128)>,
    /// Forms that are not above 0.
    not_positive: Vec<Linear>,
}

impl Facts {
    /// A new unknown between these values.
    pub(super) fn unknown(&mut self, least: i128, greatest: i128) -> Linear {
        self.ranges.push((least, greatest));
        Linear::factor(self.ranges.len() - 1)
    }

    /// How many facts there are: where to go back to.
    pub(super) fn mark(&self) -> usize {
        self.not_positive.len()
    }

    /// Forgets all facts after the mark.
    pub(super) fn forget(&mut self, mark: usize) {
        self.not_positive.truncate(mark);
    }

    /// From here on the form is not above 0.
    pub(super) fn assume(&mut self, form: Linear) {
        if form.as_constant().is_none() {
            self.not_positive.push(form);
        }
    }

    /// Least and greatest value by the ranges of the unknowns alone; `None` if they are too large.
    pub(super) fn range(&self, form: &Linear) -> Option<(i128, i128)> {
        let (mut least, mut greatest) = (form.constant, form.constant);
        for Term {
            factors,
            coefficient,
        } in &form.terms
        {
            let [unknown] = factors[..] else { return None };
            let (low, high) = self.ranges[unknown];
            let (a, b) = (
                coefficient.checked_mul(low)?,
                coefficient.checked_mul(high)?,
            );
            least = least.checked_add(a.min(b))?;
            greatest = greatest.checked_add(a.max(b))?;
        }
        Some((least, greatest))
    }

    /// The least number that the form is shown to be at most, by ranges and one fact; `None` if ranges are too large.
    pub(super) fn most(&self, form: &Linear) -> Option<i128> {
        let (_, by_ranges) = self.range(form)?;
        let by_facts = self.not_positive.iter().filter_map(|fact| {
            let factor = fact.terms.iter().find_map(|term| removing(form, term))?;
            Some(self.range(&form.plus(fact, -factor)?)?.1)
        });
        Some(by_facts.fold(by_ranges, i128::min))
    }

    /// Whether the form is shown to be at most `limit`.
    pub(super) fn at_most(&self, form: &Linear, limit: i128) -> bool {
        self.shown(form, limit, 0, DEPTH, &mut MOST_STEPS.clone())
    }

    /// Whether the form is shown to be at least `limit`.
    pub(super) fn at_least(&self, form: &Linear, limit: i128) -> bool {
        let negative = form.scaled(-1);
        negative.is_some_and(|form| self.at_most(&form, -limit))
    }

    /// With facts from `from` on, at most `depth` of them: as `fact <= 0`, `form <= form - factor * fact` for every factor that
    /// is not negative, and the right one removes an unknown from the form.
    fn shown(
        &self,
        form: &Linear,
        limit: i128,
        from: usize,
        depth: usize,
        steps: &mut usize,
    ) -> bool {
        if self.range(form).is_some_and(|(_, most)| most <= limit) {
            return true;
        }
        if depth == 0 {
            return false;
        }
        (from..self.not_positive.len()).any(|at| {
            let fact = &self.not_positive[at];
            fact.terms.iter().any(|term| {
                let Some(factor) = removing(form, term) else {
                    return false;
                };
                let Some(left) = steps.checked_sub(1) else {
                    return false;
                };
                *steps = left;
                let rest = form.plus(fact, -factor);
                rest.is_some_and(|rest| self.shown(&rest, limit, at + 1, depth - 1, steps))
            })
        })
    }
}

/// How many times a fact with this term has to be taken from the form so that the unknown of the term goes; `None` if not a whole number of times.
fn removing(form: &Linear, term: &Term<Unknown, i128>) -> Option<i128> {
    let (mine, coefficient) = (form.coefficient(&term.factors), term.coefficient);
    let is_whole = mine != 0 && mine.signum() == coefficient.signum() && mine % coefficient == 0;
    is_whole.then(|| mine / coefficient)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_bound_what_ranges_do_not() {
        let mut facts = Facts::default();
        let tile = facts.unknown(0, 3);
        let inner = facts.unknown(0, 31);
        let row = tile
            .scaled(32)
            .and_then(|t| t.plus(&inner, 1))
            .expect("small");
        assert_eq!(facts.range(&row), Some((0, 127)));
        assert!(!facts.at_most(&row, 99));
        // row < 100, so row * 7 + 6 < 700.
        facts.assume(row.plus(&Linear::constant(-99), 1).expect("small"));
        let index = row.scaled(7).and_then(|i| i.plus(&Linear::constant(6), 1));
        let index = index.expect("small");
        assert!(facts.at_most(&index, 699));
        assert!(!facts.at_most(&index, 698));
        assert!(facts.at_least(&index, 6) && !facts.at_least(&index, 7));
        facts.forget(0);
        assert!(!facts.at_most(&index, 699));
    }

    #[test]
    fn proofs_end() {
        let mut facts = Facts::default();
        let unknowns: Vec<Linear> = (0..30).map(|_| facts.unknown(0, 9)).collect();
        let sum = |scale: i128| {
            let zero = Linear::constant(0);
            let add = |sum: Linear, u| sum.plus(u, scale).expect("small");
            unknowns.iter().fold(zero, add)
        };
        for limit in 0..1000 {
            let fact = sum(1).plus(&Linear::constant(-1_000_000 - limit), 1);
            facts.assume(fact.expect("small"));
        }
        assert!(!facts.at_most(&sum(7), 100));
    }
}
