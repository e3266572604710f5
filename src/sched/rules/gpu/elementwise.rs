//! Elementwise, broadcast and other spatial blocks: one fused loop over threads, each with a vector of neighbours.

use super::loops::fuse_loops;
use super::memory_threads;
use super::traits::GpuTraits;
use crate::ir::{BlockId, BufferRegion, Expr, IterVar, LoopId, PrimFunc, ThreadAxis};
use crate::kernel::GpuTarget;
use crate::sched::rules::DeclineReason;
use crate::sched::rules::nest::{fuse_all, sort_loops};
use crate::sched::rules::pattern::{Pattern, classify};
use crate::sched::{Factor, Schedule};

/// Elements of one thread: a 16-byte access of `f32`.
const LANES: i64 = 4;

pub(super) fn apply(
    schedule: &mut Schedule,
    block: BlockId,
    target: &GpuTarget,
) -> Result<(), DeclineReason> {
    if !matches!(classify(schedule.func(), block), Pattern::Injective) {
        return Err(DeclineReason::Pattern("not injective"));
    }
    let nest = sort_loops(schedule, block)?;
    // Rows of whole vectors keep each vector within a row, and no end cuts one; where every array is the same range of
    // memory, only the last vector is cut, and memory is padded. Else an element for each thread, so that neighbouring
    // threads still touch neighbours.
    let innermost = nest.spatial.last().copied();
    let row = innermost.and_then(|l| schedule.func().loops[l].extent.as_int());
    let whole = row.is_some_and(|n| n % LANES == 0);
    let lanes = if whole || is_pointwise(schedule.func(), block) {
        LANES
    } else {
        1
    };
    let extents = nest
        .spatial
        .iter()
        .map(|&l| &schedule.func().loops[l].extent);
    let elements = extents.map(|e| e.as_int()).product();
    let share = Share {
        lanes,
        repeat: repeat(target, lanes, elements),
    };
    let mut fused = schedule.clone();
    if one_axis(&mut fused, block, &nest.spatial, share, target).is_ok() {
        *schedule = fused;
        return Ok(());
    }
    two_axes(schedule, &nest.spatial, Share { lanes, repeat: 1 }, target)
}

/// What a thread computes.
#[derive(Clone, Copy)]
struct Share {
    /// Neighbours in a vector.
    lanes: i64,
    /// Vectors, or elements that are as far apart as there are threads.
    repeat: i64,
}

/// Vectors of a thread: as many as the device likes, as long as each core still gets several workgroups.
fn repeat(target: &GpuTarget, lanes: i64, elements: Option<i64>) -> i64 {
    let mut repeat = GpuTraits::of(target).vectors;
    let group = lanes * memory_threads(target);
    while repeat > 1 && elements.is_some_and(|n| n < 32 * group * repeat) {
        repeat /= 2;
    }
    repeat
}

/// Whether every access of the block is to the element that its iter variables name in order, in buffers of exactly the
/// shape of its domain, or to the same element always.
fn is_pointwise(func: &PrimFunc, id: BlockId) -> bool {
    let block = &func.blocks[id];
    let loops = func.loops_above(id.into());
    let in_order = loops.len() == block.iters.len()
        && loops
            .iter()
            .zip(&block.bindings)
            .all(|(&l, binding)| binding.as_var() == Some(&func.loops[l].var));
    // Constants may be of other integer types.
    let same = |a: &Expr, b: &Expr| a == b || a.as_int().is_some() && a.as_int() == b.as_int();
    let names = |region: &BufferRegion| {
        let ranges = region.region.iter().zip(region.buffer.shape());
        region.region.len() == block.iters.len()
            && ranges.zip(&block.iters).all(|((range, extent), iter)| {
                range.extent.is_one()
                    && range.min.as_var() == Some(&iter.var)
                    && same(extent, &iter.dom.extent)
            })
    };
    let fixed = |region: &BufferRegion| {
        let uses = |iter: &IterVar| region.region.iter().any(|range| range.min.uses(&iter.var));
        !block.iters.iter().any(uses)
    };
    in_order
        && block.writes.iter().all(names)
        && block
            .reads
            .iter()
            .all(|region| names(region) || fixed(region))
}

/// All loops as one, over workgroups, threads and lanes.
fn one_axis(
    schedule: &mut Schedule,
    block: BlockId,
    loops: &[LoopId],
    share: Share,
    target: &GpuTarget,
) -> Result<(), DeclineReason> {
    let fused = if loops.is_empty() {
        fuse_all(schedule, block, loops)?
    } else {
        fuse_loops(schedule, loops)?
    };
    let groups = over_threads(schedule, fused, share, target)?;
    schedule.bind(groups, ThreadAxis::BlockIdxX)?;
    Ok(())
}

/// The innermost loop over workgroups, threads and lanes; the others over the second dimension of the grid. No index needs
/// a division then, so symbolic extents are no hindrance.
fn two_axes(
    schedule: &mut Schedule,
    loops: &[LoopId],
    share: Share,
    target: &GpuTarget,
) -> Result<(), DeclineReason> {
    let Some((&last, outer)) = loops.split_last() else {
        return Err(DeclineReason::Pattern("no loop"));
    };
    let axes = [ThreadAxis::BlockIdxY, ThreadAxis::BlockIdxZ];
    for (&l, axis) in outer.iter().rev().zip(axes) {
        schedule.bind(l, axis)?;
    }
    if outer.len() > axes.len() {
        return Err(DeclineReason::Pattern("more than three symbolic loops"));
    }
    let groups = over_threads(schedule, last, share, target)?;
    schedule.bind(groups, ThreadAxis::BlockIdxX)?;
    Ok(())
}

/// Splits a loop over threads and what each computes, and gives what is left for workgroups.
fn over_threads(
    schedule: &mut Schedule,
    l: LoopId,
    share: Share,
    target: &GpuTarget,
) -> Result<LoopId, DeclineReason> {
    let threads = Factor::from(memory_threads(target));
    let (factors, bound) = match (share.lanes > 1, share.repeat > 1) {
        (false, false) => (vec![threads], 0),
        (false, true) => (vec![share.repeat.into(), threads], 1),
        (true, false) => (vec![threads, share.lanes.into()], 0),
        (true, true) => (vec![threads, share.repeat.into(), share.lanes.into()], 0),
    };
    let loops = schedule.split(l, &[&[Factor::Infer], factors.as_slice()].concat())?;
    let (groups, mut rest) = (loops[0], loops[1..].to_vec());
    schedule.bind(rest.remove(bound), ThreadAxis::ThreadIdxX)?;
    if share.lanes > 1
        && let Some(vector) = rest.pop()
    {
        schedule.vectorize(vector)?;
    }
    for l in rest {
        schedule.unroll(l)?;
    }
    Ok(groups)
}
