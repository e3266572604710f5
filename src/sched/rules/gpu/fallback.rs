//! The rule that takes what is left: spatial iterations over all threads, reductions serially inside a thread.

use crate::ir::{BlockId, ThreadAxis};
use crate::kernel::GpuTarget;
use crate::sched::rules::Declined;
use crate::sched::rules::nest::{fuse_all, sort_loops};
use crate::sched::{Factor, Schedule};

const THREADS: i64 = 64;

pub(super) fn apply(
    schedule: &mut Schedule,
    block: BlockId,
    target: &GpuTarget,
) -> Result<(), Declined> {
    let mut trial = schedule.clone();
    if spread(&mut trial, block, target).is_ok() {
        *schedule = trial;
        return Ok(());
    }
    // Loops that cannot run side by side run in one thread.
    let loops = schedule.get_loops(block)?;
    let thread = match loops.first() {
        Some(&top) => schedule.add_unit_loop(top)?,
        None => schedule.add_unit_loop(block)?,
    };
    let group = schedule.add_unit_loop(thread)?;
    schedule.bind(group, ThreadAxis::BlockIdxX)?;
    schedule.bind(thread, ThreadAxis::ThreadIdxX)?;
    Ok(())
}

fn spread(schedule: &mut Schedule, block: BlockId, target: &GpuTarget) -> Result<(), Declined> {
    let nest = sort_loops(schedule, block)?;
    let fused = fuse_all(schedule, block, &nest.spatial)?;
    let threads = THREADS.min(target.max_threads.into());
    let loops = schedule.split(fused, &[Factor::Infer, threads.into()])?;
    schedule.bind(loops[0], ThreadAxis::BlockIdxX)?;
    schedule.bind(loops[1], ThreadAxis::ThreadIdxX)?;
    Ok(())
}
