//! Reductions: one workgroup for each output, its threads combine their shares in shared memory (`lower` writes the tree).
//!
//! Reference: Harris, "Optimizing Parallel Reduction in CUDA" (2007).

use crate::ir::{BlockId, ThreadAxis};
use crate::kernel::{GpuClass, GpuTarget};
use crate::sched::rules::Declined;
use crate::sched::rules::nest::{fuse_all, sort_loops};
use crate::sched::rules::pattern::{Pattern, classify};
use crate::sched::{Factor, Schedule};

/// Threads that share one reduction. A software adapter pays dearly for each barrier, and has one short vector of threads.
fn threads(target: &GpuTarget) -> i64 {
    match target.class {
        GpuClass::Software => 8,
        _ => i64::from(target.max_threads).min(64),
    }
}

pub(super) fn apply(
    schedule: &mut Schedule,
    block: BlockId,
    target: &GpuTarget,
) -> Result<(), Declined> {
    if !matches!(classify(schedule.func(), block), Pattern::Reduction) {
        return Err(Declined::Pattern("no reduction"));
    }
    let nest = sort_loops(schedule, block)?;
    let spatial = fuse_all(schedule, block, &nest.spatial)?;
    let reduce = fuse_all(schedule, block, &nest.reduce)?;
    let shares = schedule.split(reduce, &[Factor::Infer, threads(target).into()])?;
    // Neighbouring threads read neighbouring elements.
    schedule.reorder(&[shares[1], shares[0]])?;
    schedule.bind(spatial, ThreadAxis::BlockIdxX)?;
    schedule.bind(shares[1], ThreadAxis::ThreadIdxX)?;
    Ok(())
}
