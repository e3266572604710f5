//! Long sums of few results: several workgroups add slices of a sum (*split-K*), and a second kernel adds what they give and applies
//! the epilogue. No float is added atomically, so the order of a sum is fixed.
//!
//! Reference: TVM `Schedule::rfactor`.

use super::loops::{fuse_loops, parts};
use super::memory_threads;
use super::traits::GpuTraits;
use crate::ir::{BlockId, IterKind, ThreadAxis};
use crate::kernel::GpuTarget;
use crate::sched::rules::DeclineReason;
use crate::sched::rules::epilogue::inline_consumers;
use crate::sched::rules::pattern::Matmul;
use crate::sched::rules::products::cache_result;
use crate::sched::{Factor, InsertAt, Schedule, UnitIters};

/// Slices of a sum: each is written to memory and read again.
const SLICES: [i64; 5] = [2, 3, 4, 6, 8];

/// The same for products of tiles, which read less and compute more.
const SLICES_OF_TILES: [i64; 10] = [2, 3, 4, 6, 8, 12, 16, 24, 32, 64];
const FEWEST_OF_TILE: i64 = 64;

/// Fewest steps of a slice.
const FEWEST_OF_SLICE: i64 = 256;

/// Workgroups for two cores: fewer than three leave cores idle, eight of them hide latency. Measured on an H200 (4096 × 4096): three rows
/// in 256 workgroups 25 us; one row in four slices 27 us, 5 of them for the second kernel.
const FEW_PER_TWO_CORES: i64 = 3;
const WANTED_PER_TWO_CORES: i64 = 8;

/// Slices that a sum of so many steps can be cut into, of at least [`FEWEST_OF_TILE`] steps each.
pub(super) fn slices_of(steps: i64, unit: i64) -> impl Iterator<Item = i64> {
    let slices = SLICES_OF_TILES.into_iter();
    slices.filter(move |n| steps % (n * unit) == 0 && steps / n >= FEWEST_OF_TILE)
}

/// How many slices a sum of so many steps is cut into where there are so many workgroups, if into any. Steps of a slice are a multiple
/// of `unit`.
pub(super) fn slices(
    steps: Option<i64>,
    groups: Option<i64>,
    unit: i64,
    target: &GpuTarget,
) -> Option<i64> {
    let (steps, groups) = (steps?, groups?);
    let fewest = GpuTraits::of(target).sliced_steps;
    let cores = target.cores();
    if steps < fewest || 2 * groups >= FEW_PER_TWO_CORES * cores {
        return None;
    }
    let is_whole = |n: &i64| steps % (n * unit) == 0 && steps / n >= FEWEST_OF_SLICE;
    let mut all = SLICES.into_iter().filter(is_whole);
    let enough = all
        .clone()
        .find(|n| 2 * groups * n >= WANTED_PER_TWO_CORES * cores);
    enough.or_else(|| all.next_back())
}

/// Lets a block sum slices of the iter variable `step` apart, in loops in the order of its iter variables, of which the first one numbers
/// the slices. Gives that block; the one that adds its results is scheduled here.
pub(super) fn split(
    sch: &mut Schedule,
    block: BlockId,
    step: usize,
    slices: i64,
    target: &GpuTarget,
) -> Result<BlockId, DeclineReason> {
    let loops = sch.get_loops(block)?;
    let [slice, _] = parts(sch, loops[step], [slices.into(), Factor::Infer])?;
    let partial = sch.rfactor(slice, 0)?;
    let write_back = cache_result(sch, block)?;
    inline_consumers(sch, write_back);
    let mut results = sch.get_loops(block)?;
    results.retain(|l| *l != slice);
    sch.reorder(&[&results[..], &[slice]].concat())?;
    let results = fuse_loops(sch, &results)?;
    let threads = memory_threads(target);
    let [groups, thread] = parts(sch, results, [Factor::Infer, threads.into()])?;
    sch.bind(groups, ThreadAxis::BlockIdxX)?;
    sch.bind(thread, ThreadAxis::ThreadIdxX)?;
    sch.reverse_compute_at(write_back, thread, UnitIters::Simplify, InsertAt::Latest)?;
    sch.unroll(slice)?;
    sch.decompose_reduction(block, slice)?;

    let loops = sch.get_loops(partial)?;
    let info = &sch.func().blocks[partial];
    let own = info.bindings.iter().map(|binding| {
        let mut loops = loops.iter().copied();
        loops.find(|l| binding.as_var() == Some(&sch.func().loops[*l].var))
    });
    let ordered = own.collect::<Option<Vec<_>>>();
    let ordered = ordered.filter(|ordered| ordered.len() == loops.len());
    let steps = info.iters.iter().filter(|i| i.kind == IterKind::Reduce);
    match ordered {
        Some(ordered) if steps.count() > 0 => sch.reorder(&ordered)?,
        _ => {
            return Err(DeclineReason::Pattern(
                "slices in other loops than those of the iter variables",
            ));
        }
    }
    Ok(partial)
}

/// Sums slices of a product apart. Gives the block that makes the tiles then, and its roles.
pub(super) fn split_product(
    sch: &mut Schedule,
    block: BlockId,
    matmul: &Matmul,
    slices: i64,
    target: &GpuTarget,
) -> Result<(BlockId, Matmul), DeclineReason> {
    let &[step] = matmul.k.as_slice() else {
        return Err(DeclineReason::Pattern("a sum of several loops"));
    };
    let partial = split(sch, block, step, slices, target)?;
    let mut slices = matmul.clone().renumbered(|at| at + 1);
    slices.batch.insert(0, 0);
    slices.c = sch.func().blocks[partial].writes[0].buffer.clone();
    Ok((partial, slices))
}
