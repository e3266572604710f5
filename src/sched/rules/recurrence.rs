//! The loops of a recurrence: a block holds nests that run one after the other, and an iteration of the loops around them reads state
//! that an earlier one wrote, as in a recurrent layer.

use super::DeclineReason;
use super::nest::drives;
use crate::ir::{BlockId, IterKind, LoopId, PrimFunc};
use crate::sched::Schedule;

/// The steps: blocks in a block, in program order, none of which holds others.
pub(super) fn steps(func: &PrimFunc, block: BlockId) -> Result<Vec<BlockId>, DeclineReason> {
    let inside = func.blocks_under(block.into()).into_iter();
    let steps: Vec<BlockId> = inside.filter(|&b| b != block).collect();
    match steps.as_slice() {
        [] => Err(DeclineReason::Pattern("no nests of its own")),
        _ if steps
            .iter()
            .any(|&step| !func.child_blocks(step.into()).is_empty()) =>
        {
            Err(DeclineReason::Pattern("nests of several levels"))
        }
        _ => Ok(steps),
    }
}

/// The loops around a step in its scope.
pub(super) struct StepLoops {
    /// Those that drive neither spatial nor reduce iter variables alone.
    pub(super) ordered: Vec<LoopId>,
    pub(super) spatial: Vec<LoopId>,
    pub(super) reduce: Vec<LoopId>,
}

impl StepLoops {
    pub(super) fn of(func: &PrimFunc, block: BlockId) -> Self {
        let mut nest = Self {
            ordered: vec![],
            spatial: vec![],
            reduce: vec![],
        };
        for l in func.loops_above(block.into()) {
            let kinds = [
                IterKind::Spatial,
                IterKind::Reduce,
                IterKind::Scan,
                IterKind::Opaque,
            ];
            let of = match kinds.map(|kind| drives(func, block, l, kind)) {
                [true, false, false, false] => &mut nest.spatial,
                [false, true, false, false] => &mut nest.reduce,
                _ => &mut nest.ordered,
            };
            of.push(l);
        }
        nest
    }
}

/// Sorts the loops around a step: ordered ones outside, then independent ones, of which there must be some, and those of a sum inside.
pub(super) fn sort_step(sch: &mut Schedule, step: BlockId) -> Result<StepLoops, DeclineReason> {
    let loops = StepLoops::of(sch.func(), step);
    if loops.spatial.is_empty() {
        return Err(DeclineReason::Pattern("a nest without independent loops"));
    }
    let sorted = [&loops.ordered[..], &loops.spatial, &loops.reduce].concat();
    if sorted != sch.get_loops(step)? {
        sch.reorder(&sorted)?;
    }
    Ok(loops)
}

/// How many iterations loops have, if that is known.
pub(super) fn count(func: &PrimFunc, loops: &[LoopId]) -> Option<i64> {
    let extents = loops.iter().map(|&l| func.loops[l].extent.as_int());
    extents.product()
}
