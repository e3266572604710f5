//! The choice among default schedules: the first one that the next stage accepts.
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
        return (scheduled, result);
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
        let made = |taken: &&Taken| taken.rule != SERIAL && statement(taken.at) == Some(refused);
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
