//! The rule for what other rules leave: spatial iterations over all threads, reductions serially inside a thread, in a register
//! where the block is nothing but a reduction; what follows it is computed where it is written back.

use crate::ir::{BlockId, LoopId, ThreadAxis};
use crate::kernel::GpuTarget;
use crate::sched::rules::DeclineReason;
use crate::sched::rules::epilogue::write_backs;
use crate::sched::rules::nest::{fuse_all, sort_loops};
use crate::sched::rules::pattern::reduces;
use crate::sched::{Factor, InsertAt, Schedule, UnitIters};

const THREADS: i64 = 64;

pub(super) fn apply(
    schedule: &mut Schedule,
    block: BlockId,
    target: &GpuTarget,
) -> Result<(), DeclineReason> {
    for way in [in_register, in_memory] {
        let mut trial = schedule.clone();
        if way(&mut trial, block, target).is_ok() {
            *schedule = trial;
            return Ok(());
        }
    }
    Err(DeclineReason::Pattern("its iterations must run in order"))
}

/// A reduction whose running value is in a register of its thread.
fn in_register(
    sch: &mut Schedule,
    block: BlockId,
    target: &GpuTarget,
) -> Result<(), DeclineReason> {
    if !reduces(sch.func(), block) {
        return Err(DeclineReason::Pattern("no reduction"));
    }
    let nest = sort_loops(sch, block)?;
    let &first = nest
        .reduce
        .first()
        .ok_or(DeclineReason::Pattern("no reduce loop"))?;
    let write_backs = write_backs(sch, block)?;
    let thread = over_threads(sch, block, &nest.spatial, target)?;
    for write_back in write_backs {
        sch.reverse_compute_at(write_back, thread, UnitIters::Simplify, InsertAt::Latest)?;
    }
    sch.decompose_reduction(block, first)?;
    Ok(())
}

/// Any block: what it updates stays in memory.
fn in_memory(sch: &mut Schedule, block: BlockId, target: &GpuTarget) -> Result<(), DeclineReason> {
    let nest = sort_loops(sch, block)?;
    over_threads(sch, block, &nest.spatial, target)?;
    Ok(())
}

/// Fuses the loops and splits them over workgroups and threads; gives the loop over threads. Fewer iterations than a workgroup has threads
/// get no more threads than that, so that no condition keeps the others out.
fn over_threads(
    sch: &mut Schedule,
    block: BlockId,
    spatial: &[LoopId],
    target: &GpuTarget,
) -> Result<LoopId, DeclineReason> {
    let fused = fuse_all(sch, block, spatial)?;
    let most = THREADS.min(target.max_threads.into());
    let count = sch.func().loops[fused].extent.as_int();
    let threads = count.map_or(most, |count| count.clamp(1, most));
    let loops = sch.split(fused, &[Factor::Infer, threads.into()])?;
    sch.bind(loops[0], ThreadAxis::BlockIdxX)?;
    sch.bind(loops[1], ThreadAxis::ThreadIdxX)?;
    Ok(loops[1])
}
