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
    let (scheduled, result, _) = first_accepted(func, target, Without::default(), &mut next_stage);
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
/// takes; or the schedule of a later rule, where the rule says that this may be faster and it is.
pub fn choose_fastest<L, E: Located>(
    func: &PrimFunc,
    target: &Target,
    mut next_stage: impl FnMut(&PrimFunc) -> Result<L, E>,
    time: impl Fn(&L) -> Option<f64>,
    search: Search,
) -> (Scheduled, Result<L, E>) {
    let mut among = Among {
        func,
        target,
        next_stage: &mut next_stage,
        time: &time,
        search,
    };
    let (mut best, mut lowered, mut least) = match among.fastest(Without::default()) {
        Found::Timed(best, lowered, least) => (best, lowered, least),
        Found::Untimed(best, result) => return (best, result),
    };
    for taken in best.taken.clone() {
        let Place::Block(block) = taken.at else {
            continue;
        };
        if !taken.ways.rivals {
            continue;
        }
        let without = Without {
            rules: vec![(block, taken.rule)],
            ..Without::default()
        };
        let (mut other, made) = match among.fastest(without) {
            Found::Timed(other, made, _) | Found::Untimed(other, Ok(made)) => (other, made),
            Found::Untimed(_, Err(_)) => continue,
        };
        let Some(seconds) = time(&made) else { continue };
        log::debug!(
            "`{}`: without {} it takes {:.1} us, with it {:.1} us",
            func.name,
            taken.rule,
            1e6 * seconds,
            1e6 * least,
        );
        if seconds < least {
            let nanoseconds = |seconds: f64| (1e9 * seconds) as u64;
            let block = func.blocks.get(block);
            other.declined.push(Declined {
                rule: taken.rule,
                block: block.map(|b| b.name.clone()).unwrap_or_default(),
                reason: DeclineReason::Slower {
                    own: nanoseconds(least),
                    others: nanoseconds(seconds),
                },
            });
            (best, lowered, least) = (other, made, seconds);
        }
    }
    (best, Ok(lowered))
}

/// Schedules among which the fastest is chosen.
struct Among<'a, N, T> {
    func: &'a PrimFunc,
    target: &'a Target,
    next_stage: &'a mut N,
    /// Seconds that what the next stage makes takes, if they are known.
    time: &'a T,
    search: Search,
}

/// The fastest schedule, what the next stage made of it, and the seconds that this takes; or the first one, if nothing is known of those.
enum Found<L, E> {
    Timed(Scheduled, L, f64),
    Untimed(Scheduled, Result<L, E>),
}

impl<N, T> Among<'_, N, T> {
    /// The fastest of the ways of the first rules that take blocks, where some rules are left out.
    fn fastest<L, E: Located>(&mut self, without: Without) -> Found<L, E>
    where
        N: FnMut(&PrimFunc) -> Result<L, E>,
        T: Fn(&L) -> Option<f64>,
    {
        let (func, target) = (self.func, self.target);
        let (mut best, result, mut without) =
            first_accepted(func, target, without, self.next_stage);
        let mut lowered = match result {
            Ok(lowered)
                if best
                    .taken
                    .iter()
                    .any(|taken| self.count(taken) > 1 || taken.ways.rivals) =>
            {
                lowered
            }
            result => return Found::Untimed(best, result),
        };
        let Some(mut least) = (self.time)(&lowered) else {
            return Found::Untimed(best, Ok(lowered));
        };
        log::debug!("`{}`: the first way takes {:.1} us", func.name, 1e6 * least);
        for taken in best.taken.clone() {
            let Place::Block(block) = taken.at else {
                continue;
            };
            for way in 1..self.count(&taken) {
                let mut other = without.clone();
                other.ways.retain(|(of, _)| *of != block);
                other.ways.push((block, way));
                let mut scheduled = super::schedule_without(func, target, &other);
                if scheduled.rules != best.rules {
                    continue;
                }
                let Ok(made) = (self.next_stage)(scheduled.schedule.func()) else {
                    continue;
                };
                let Some(seconds) = (self.time)(&made) else {
                    continue;
                };
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
        Found::Timed(best, lowered, least)
    }

    /// How many ways of a rule are tried.
    fn count(&self, taken: &Taken) -> usize {
        match self.search {
            Search::Promising => taken.ways.promising,
            Search::All => taken.ways.all,
        }
    }
}

/// A way replaces the best one so far if it takes less than this share of its time.
const WORTH_IT: f64 = 0.995;

fn first_accepted<L, E: Located>(
    func: &PrimFunc,
    target: &Target,
    mut without: Without,
    next_stage: &mut impl FnMut(&PrimFunc) -> Result<L, E>,
) -> (Scheduled, Result<L, E>, Without) {
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
