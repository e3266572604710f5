//! The choice among default schedules: the first one that the next stage accepts, or the fastest of the ways in which its rules schedule
//! their blocks.
//!
//! Where the next stage refuses a schedule, the rule that made the refused statement is declined for its block, and the
//! function is scheduled again; when no rule is left for the statement, producers stay where they are; when that does not
//! help either, everything runs as it is written. Each refusal takes away one possibility, so the search ends.

use super::{DeclineReason, Declined, SERIAL, Scheduled, Taken, Without, is_scheduled};
use crate::ir::{BlockId, Located, Place, PrimFunc};
use crate::kernel::Target;

/// Gives a function the first of its default schedules that the next stage accepts, with what that stage made of it; or the
/// last one, with the reason why that is refused, too.
pub fn choose<L, E: Located>(
    func: &PrimFunc,
    target: &Target,
    mut next_stage: impl FnMut(&PrimFunc) -> Result<L, E>,
) -> (Scheduled, Result<L, E>) {
    let (scheduled, result, _) = first_accepted(func, target, &mut next_stage);
    (scheduled, result)
}

/// How many ways of a rule are tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Search {
    /// Those that the estimate of the rule puts near the best.
    Promising,
    /// All.
    All,
}

/// The same, but a block that a rule schedules in several ways gets the fastest of them, by the time that what the next stage makes
/// takes.
pub fn choose_fastest<L, E: Located>(
    func: &PrimFunc,
    target: &Target,
    mut next_stage: impl FnMut(&PrimFunc) -> Result<L, E>,
    time: impl Fn(&L) -> Option<f64>,
    search: Search,
) -> (Scheduled, Result<L, E>) {
    let (mut best, result, mut without) = first_accepted(func, target, &mut next_stage);
    let of_ways = best.taken.iter().map(|taken| match search {
        Search::Promising => (taken.at, taken.ways.promising),
        Search::All => (taken.at, taken.ways.all),
    });
    let of_ways: Vec<(Place, usize)> = of_ways.filter(|(_, ways)| *ways > 1).collect();
    let mut lowered = match result {
        Ok(lowered) if !of_ways.is_empty() => lowered,
        result => return (best, result),
    };
    let Some(mut least) = time(&lowered) else {
        return (best, Ok(lowered));
    };
    log::debug!("`{}`: the first way takes {:.1} us", func.name, 1e6 * least);
    for (at, ways) in of_ways {
        let Place::Block(block) = at else { continue };
        for way in 1..ways {
            let mut other = without.clone();
            other.ways.retain(|(of, _)| *of != block);
            other.ways.push((block, way));
            let mut scheduled = super::schedule_without(func, target, &other);
            if scheduled.rules != best.rules {
                continue;
            }
            let Ok(made) = next_stage(scheduled.schedule.func()) else {
                continue;
            };
            let Some(seconds) = time(&made) else { continue };
            log::debug!(
                "`{}`: way {way} of block {block:?} takes {:.1} us, the best before {:.1} us",
                func.name,
                1e6 * seconds,
                1e6 * least,
            );
            if seconds < least * WORTH_IT {
                scheduled.declined.clone_from(&best.declined);
                (best, lowered, least, without) = (scheduled, made, seconds, other);
            }
        }
    }
    (best, Ok(lowered))
}

/// A way replaces the best one so far if it takes less than this share of its time.
const WORTH_IT: f64 = 0.995;

fn first_accepted<L, E: Located>(
    func: &PrimFunc,
    target: &Target,
    next_stage: &mut impl FnMut(&PrimFunc) -> Result<L, E>,
) -> (Scheduled, Result<L, E>, Without) {
    let mut without = Without::default();
    let mut refused = Vec::new();
    loop {
        let mut scheduled = super::schedule_without(func, target, &without);
        let result = next_stage(scheduled.schedule.func());
        if let Err(error) = &result
            && let Some(declined) = without.next(func, target, &scheduled, error)
        {
            log::debug!("`{}`: {declined}", func.name);
            log::trace!(
                "`{}` as it was scheduled:\n{}",
                func.name,
                crate::script::print_prim_func(scheduled.schedule.func()).text
            );
            refused.push(declined);
            continue;
        }
        refused.append(&mut scheduled.declined);
        scheduled.declined = refused;
        return (scheduled, result, without);
    }
}

impl Without {
    /// Takes away what made the refused schedule; gives nothing if nothing is left to take away.
    fn next(
        &mut self,
        func: &PrimFunc,
        target: &Target,
        scheduled: &Scheduled,
        error: &impl Located,
    ) -> Option<Declined> {
        if is_scheduled(func) || self.parallelism {
            return None;
        }
        let (rule, block) = if let Some((rule, block)) = scheduled.maker(error.places()) {
            self.rules.push((block, rule));
            (rule, block)
        } else if !self.inlining && matches!(target, Target::Gpu(_)) {
            self.inlining = true;
            self.rules.clear();
            ("inline", func.root)
        } else {
            self.parallelism = true;
            ("parallel", func.root)
        };
        Some(Declined {
            rule,
            block: func
                .blocks
                .get(block)
                .map(|b| b.name.clone())
                .unwrap_or_default(),
            reason: DeclineReason::Refused(error.to_string()),
        })
    }
}

impl Scheduled {
    /// The rule that made a place, and the block it was applied to; `serial` makes nothing.
    fn maker(&self, places: &[Place]) -> Option<(&'static str, BlockId)> {
        let func = self.schedule.func();
        let statement = |place: Place| {
            let mut at = place;
            while let Some(parent) = func.tree.parent(at) {
                if parent == func.root.into() {
                    return Some(at);
                }
                at = parent;
            }
            None
        };
        let refused = statement(*places.first()?)?;
        let made = |taken: &&Taken| {
            let is_own = taken.made.contains(&refused) || statement(taken.at) == Some(refused);
            taken.rule != SERIAL && is_own
        };
        let taken = self.taken.iter().rev().find(made)?;
        match taken.at {
            Place::Block(block) => Some((taken.rule, block)),
            Place::Loop(_) => None,
        }
    }

    /// Says what runs in one thread of a GPU: nobody wants that unknowingly.
    pub fn warn(&self) {
        let func = self.schedule.func();
        for taken in &self.taken {
            let Some(reason) = taken.one_thread else {
                continue;
            };
            let blocks = func.blocks_under(taken.at);
            let what = match (blocks.first(), taken.at) {
                (Some(&block), _) | (None, Place::Block(block)) => {
                    format!("block `{}`", func.blocks[block].name)
                }
                (None, Place::Loop(l)) => format!("loop `{}`", func.loops[l].var.name()),
            };
            log::warn!("`{}`: {what} runs in one thread: {reason}", func.name);
        }
    }
}
