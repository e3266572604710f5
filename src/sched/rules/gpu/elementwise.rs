//! Elementwise, broadcast and other spatial blocks: one fused loop over threads, each with a vector of neighbours.

use super::{fuse_loops, memory_threads};
use crate::ir::{BlockId, LoopId, ThreadAxis};
use crate::kernel::GpuTarget;
use crate::sched::rules::Declined;
use crate::sched::rules::nest::{fuse_all, sort_loops};
use crate::sched::rules::pattern::{Pattern, classify};
use crate::sched::{Factor, Schedule};

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
    // Rows of whole vectors keep each vector within a row, and no end cuts one; else an element for each thread, so that
    // neighbouring threads still touch neighbours.
    let innermost = nest.spatial.last().copied();
    let row = innermost.and_then(|l| schedule.func().loops[l].extent.as_int());
    let lanes = if row.is_some_and(|n| n % LANES == 0) {
        LANES
    } else {
        1
    };
    let mut fused = schedule.clone();
    if one_axis(&mut fused, block, &nest.spatial, lanes, target).is_ok() {
        *schedule = fused;
        return Ok(());
    }
    two_axes(schedule, &nest.spatial, lanes, target)
}

/// All loops as one, over workgroups, threads and lanes.
fn one_axis(
    schedule: &mut Schedule,
    block: BlockId,
    loops: &[LoopId],
    lanes: i64,
    target: &GpuTarget,
) -> Result<(), Declined> {
    let fused = if loops.is_empty() {
        fuse_all(schedule, block, loops)?
    } else {
        fuse_loops(schedule, loops)?
    };
    let groups = over_threads(schedule, fused, lanes, target)?;
    schedule.bind(groups, ThreadAxis::BlockIdxX)?;
    Ok(())
}

/// The innermost loop over workgroups, threads and lanes; the others over the second dimension of the grid. No index needs
/// a division then, so symbolic extents are no hindrance.
fn two_axes(
    schedule: &mut Schedule,
    loops: &[LoopId],
    lanes: i64,
    target: &GpuTarget,
) -> Result<(), Declined> {
    let Some((&last, outer)) = loops.split_last() else {
        return Err(Declined::Pattern("no loop"));
    };
    let axes = [ThreadAxis::BlockIdxY, ThreadAxis::BlockIdxZ];
    for (&l, axis) in outer.iter().rev().zip(axes) {
        schedule.bind(l, axis)?;
    }
    if outer.len() > axes.len() {
        return Err(Declined::Pattern("more than three symbolic loops"));
    }
    let groups = over_threads(schedule, last, lanes, target)?;
    schedule.bind(groups, ThreadAxis::BlockIdxX)?;
    Ok(())
}

/// Splits a loop over threads and lanes, and gives what is left for workgroups.
fn over_threads(
    schedule: &mut Schedule,
    l: LoopId,
    lanes: i64,
    target: &GpuTarget,
) -> Result<LoopId, Declined> {
    let threads = memory_threads(target);
    let mut factors = vec![Factor::Infer, threads.into()];
    if lanes > 1 {
        factors.push(lanes.into());
    }
    let loops = schedule.split(l, &factors)?;
    schedule.bind(loops[1], ThreadAxis::ThreadIdxX)?;
    if let Some(&vector) = loops.get(2) {
        schedule.vectorize(vector)?;
    }
    Ok(loops[0])
}
