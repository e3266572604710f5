//! Steps on loops that several rules share.

use super::traits::GpuTraits;
use crate::ir::{AttrValue, BlockId, LoopId, attrs};
use crate::kernel::GpuTarget;
use crate::sched::rules::DeclineReason;
use crate::sched::{Factor, Schedule};

/// How many parts of this size hold so many, the last one perhaps in part.
pub(super) fn ceil(n: i64, part: i64) -> i64 {
    (n + part - 1) / part
}

/// One loop of neighbouring ones. Loops of extent 1 stay where they are, around it, unless there is no other.
pub(super) fn fuse_loops(
    schedule: &mut Schedule,
    loops: &[LoopId],
) -> Result<LoopId, DeclineReason> {
    let runs_once = |l: &LoopId| schedule.func().loops[*l].extent.is_one();
    let (units, others): (Vec<LoopId>, Vec<LoopId>) = loops.iter().partition(|l| runs_once(l));
    match others.as_slice() {
        [] => units
            .last()
            .copied()
            .ok_or(DeclineReason::Pattern("no loop left to fuse")),
        [one] => Ok(*one),
        several => {
            if !units.is_empty() {
                schedule.reorder(&[units, several.to_vec()].concat())?;
            }
            Ok(schedule.fuse(several)?)
        }
    }
}

/// Splits a loop into as many as there are factors.
pub(super) fn parts<const N: usize>(
    sch: &mut Schedule,
    l: LoopId,
    factors: [Factor; N],
) -> Result<[LoopId; N], DeclineReason> {
    let loops = sch.split(l, &factors)?;
    <[LoopId; N]>::try_from(loops).map_err(|_| DeclineReason::Pattern("a split of other length"))
}

/// The loops of a block below a loop.
pub(super) fn inner_loops(
    sch: &mut Schedule,
    block: BlockId,
    below: LoopId,
) -> Result<Vec<LoopId>, DeclineReason> {
    let loops = sch.get_loops(block)?;
    let from = loops
        .iter()
        .position(|&l| l == below)
        .map_or(0, |at| at + 1);
    Ok(loops[from..].to_vec())
}

/// Loops of a tile in registers are written out, so that every index is a constant; the last one is a vector.
pub(super) fn tile_loops(sch: &mut Schedule, loops: &[LoopId]) -> Result<(), DeclineReason> {
    if let Some((last, rest)) = loops.split_last() {
        for &l in rest {
            sch.unroll(l)?;
        }
        if sch.func().loops[*last]
            .extent
            .as_int()
            .is_some_and(|n| n > 1)
        {
            sch.vectorize(*last)?;
        } else {
            sch.unroll(*last)?;
        }
    }
    Ok(())
}

/// Where the device gains by it, the two operands that a step of a product copies to shared memory are prefetched: loaded while the
/// step before multiplies.
pub(super) fn prefetch(
    sch: &mut Schedule,
    step: LoopId,
    target: &GpuTarget,
) -> Result<(), DeclineReason> {
    if GpuTraits::of(target).prefetches {
        let stages = [0, 0, 1].map(AttrValue::Int).to_vec();
        sch.annotate(step, attrs::PIPELINE_STAGE, AttrValue::List(stages))?;
    }
    Ok(())
}
