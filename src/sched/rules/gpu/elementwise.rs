//! Elementwise, broadcast and other injective blocks: one thread computes four neighbours, with vector loads and stores where
//! they are adjacent.

use crate::ir::{BlockId, ThreadAxis};
use crate::kernel::GpuTarget;
use crate::sched::rules::Declined;
use crate::sched::rules::nest::{fuse_all, sort_loops};
use crate::sched::rules::pattern::{Pattern, classify};
use crate::sched::{Factor, Schedule};

/// Threads of a workgroup: enough to hide latency everywhere, few enough to spread small tensors over the cores.
const THREADS: i64 = 64;

/// Elements of one thread: a 16-byte access of `f32`.
const LANES: i64 = 4;

pub(super) fn apply(
    schedule: &mut Schedule,
    block: BlockId,
    target: &GpuTarget,
) -> Result<(), Declined> {
    if !matches!(classify(schedule.func(), block), Pattern::Injective) {
        return Err(Declined::Pattern("not injective"));
    }
    let nest = sort_loops(schedule, block)?;
    let fused = fuse_all(schedule, block, &nest.spatial)?;
    let threads = THREADS.min(target.max_threads.into());
    let loops = schedule.split(fused, &[Factor::Infer, threads.into(), LANES.into()])?;
    schedule.bind(loops[0], ThreadAxis::BlockIdxX)?;
    schedule.bind(loops[1], ThreadAxis::ThreadIdxX)?;
    schedule.vectorize(loops[2])?;
    Ok(())
}
