//! Default rules: analyse a loop program, then call the same public primitives that a user has, so that what they did can be
//! printed and replayed (TVM: dlight).
//!
//! Each block at the root gets the first rule that takes it; a rule that declines has changed nothing. No rule needs a
//! constant extent.

pub mod cpu;
pub mod gpu;
mod nest;
mod order;
pub mod pattern;

use super::{Schedule, ScheduleError};
use crate::ir::{BlockId, LoopKind, Place, PrimFunc};
use crate::kernel::Target;

/// A function with its default schedule.
#[derive(Clone, Debug)]
pub struct Scheduled {
    /// The schedule, with its trace.
    pub schedule: Schedule,
    /// The rules that took its blocks, in program order; before them, `serial` for each statement that stays as written.
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

/// Gives a function its default schedule for a target. A function that binds or marks loops already is left as it is, but for
/// loops that a GPU needs bound.
pub fn schedule(func: &PrimFunc, target: &Target) -> Scheduled {
    let mut schedule = Schedule::new(func.clone());
    let is_scheduled = func.loops.iter().any(|(_, l)| l.kind != LoopKind::Serial);
    if is_scheduled {
        let mut rules = vec!["as written"];
        if let Target::Gpu(_) = target {
            rules.extend(gpu::bind_rest(&mut schedule));
        }
        return Scheduled { schedule, rules };
    }
    match target {
        Target::Gpu(gpu) => {
            gpu::inline_producers(&mut schedule);
            apply(schedule, gpu::RULES, gpu, Some(gpu::in_one_thread))
        }
        Target::Cpu(cpu) => apply(schedule, cpu::RULES, cpu, None),
    }
}

/// Makes a loop or block run as it is written, for the reason given.
type InOrder = fn(&mut Schedule, Place, &str) -> Result<(), Declined>;

/// What is to be scheduled next.
enum Next {
    /// A block whose iterations a rule may spread.
    Block(BlockId),
    /// Loops and blocks of one statement that must run in the order that is written, and why.
    Ordered(Vec<Place>, &'static str),
}

/// Tries the rules on each block at the root that is not yet scheduled. Statements that must run in order stay whole.
fn apply<T>(
    mut schedule: Schedule,
    rules: &[Rule<T>],
    target: &T,
    in_order: Option<InOrder>,
) -> Scheduled {
    let mut names = Vec::new();
    let mut done = Vec::new();
    while let Some(next) = next(schedule.func(), &done) {
        let block = match next {
            Next::Block(block) => block,
            Next::Ordered(places, reason) => {
                for &place in &places {
                    if let Some(in_order) = in_order
                        && let Err(declined) = in_order(&mut schedule, place, reason)
                    {
                        log::debug!("cannot keep the order of {place:?}: {declined}");
                    }
                }
                names.push("serial");
                let func = schedule.func();
                let blocks = places.iter().flat_map(|&place| func.blocks_under(place));
                done.extend(blocks.map(Place::Block));
                done.extend(places);
                continue;
            }
        };
        done.push(block.into());
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

/// A statement to be kept in order, else a block at the root whose loops are all serial still, that was not tried. The former
/// come first, so that no rule takes their blocks apart for the sake of another block.
fn next(func: &PrimFunc, done: &[Place]) -> Option<Next> {
    let is_serial = |&block: &BlockId| {
        let mut loops = func.loops_above(block.into()).into_iter();
        loops.all(|l| func.loops[l].kind == LoopKind::Serial)
    };
    let touched = |at: &Place| done.iter().any(|&d| func.tree.is_ancestor(*at, d));
    let ordered = func.tree.body(func.root).iter().find_map(|stmt| {
        let tops = stmt.places();
        let mut blocks = tops.iter().flat_map(|&top| match top {
            Place::Block(id) => vec![id],
            Place::Loop(_) => func.child_blocks(top),
        });
        let fresh = !tops.is_empty() && !tops.iter().any(touched) && blocks.all(|b| is_serial(&b));
        let reason = order::ordered(func, stmt).filter(|_| fresh)?;
        Some(Next::Ordered(tops, reason))
    });
    let waits = |b: &BlockId| !done.contains(&(*b).into()) && is_serial(b);
    let blocks = func.child_blocks(Place::Block(func.root)).into_iter();
    ordered.or_else(|| blocks.into_iter().find(waits).map(Next::Block))
}
