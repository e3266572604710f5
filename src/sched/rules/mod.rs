//! Default rules: analyse a loop program, then call the same public primitives that a user has, so that what they did can be
//! printed and replayed (TVM: dlight).
//!
//! Each block at the root gets the first rule that takes it; a rule that declines has changed nothing. No rule needs a
//! constant extent.

pub mod cpu;
pub mod gpu;
mod nest;
pub mod pattern;

use super::{Schedule, ScheduleError};
use crate::ir::{BlockId, LoopKind, Place, PrimFunc};
use crate::kernel::Target;

/// A function with its default schedule.
#[derive(Clone, Debug)]
pub struct Scheduled {
    /// The schedule, with its trace.
    pub schedule: Schedule,
    /// The rules that took its blocks, in program order.
    pub rules: Vec<&'static str>,
}

/// Why a rule leaves a block to the next one.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Declined {
    /// The block is not what the rule is for.
    #[error("{0}")]
    Pattern(&'static str),
    /// A primitive refused.
    #[error(transparent)]
    Primitive(Box<ScheduleError>),
}

impl From<ScheduleError> for Declined {
    fn from(error: ScheduleError) -> Self {
        Self::Primitive(Box::new(error))
    }
}

/// A rule: its name, and what it does to the block it takes.
pub(crate) struct Rule<T> {
    pub(crate) name: &'static str,
    pub(crate) apply: fn(&mut Schedule, BlockId, &T) -> Result<(), Declined>,
}

/// Gives a function its default schedule for a target. A function that binds or marks loops already is left as it is.
pub fn schedule(func: &PrimFunc, target: &Target) -> Scheduled {
    let mut schedule = Schedule::new(func.clone());
    let is_scheduled = func.loops.iter().any(|(_, l)| l.kind != LoopKind::Serial);
    if is_scheduled {
        return Scheduled {
            schedule,
            rules: vec!["as written"],
        };
    }
    match target {
        Target::Gpu(gpu) => {
            gpu::inline_producers(&mut schedule);
            apply(schedule, gpu::RULES, gpu)
        }
        Target::Cpu(cpu) => apply(schedule, cpu::RULES, cpu),
    }
}

/// Tries the rules on each block at the root that is not yet scheduled.
fn apply<T>(mut schedule: Schedule, rules: &[Rule<T>], target: &T) -> Scheduled {
    let mut names = Vec::new();
    let mut done = Vec::new();
    while let Some(block) = next_block(schedule.func(), &done) {
        done.push(block);
        for rule in rules {
            let mut trial = schedule.clone();
            match (rule.apply)(&mut trial, block, target) {
                Ok(()) => {
                    schedule = trial;
                    names.push(rule.name);
                    break;
                }
                Err(declined) => log::debug!("rule {} declines {block}: {declined}", rule.name),
            }
        }
    }
    Scheduled {
        schedule,
        rules: names,
    }
}

/// The first block at the root whose loops are all serial still, and which was not tried.
fn next_block(func: &PrimFunc, done: &[BlockId]) -> Option<BlockId> {
    func.child_blocks(Place::Block(func.root))
        .into_iter()
        .find(|&block| {
            let mut loops = func.loops_above(block.into()).into_iter();
            !done.contains(&block) && loops.all(|l| func.loops[l].kind == LoopKind::Serial)
        })
}
