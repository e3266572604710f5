//! Transposes: blocks whose operand has its neighbours along another axis than the result, in tiles.
//!
//! A tile is a vector of the result in each of as many rows, which are written out: together they read whole rows of the operand. Code
//! generation transposes those of 32 bits in registers (`codegen_x86/rows.rs`). Tiles that are neighbours in the operand follow each
//! other, so that its cache lines are read one after the other, too.
//!
//! Reference: Chatterjee and Sen, "Cache-Efficient Matrix Transposition" (HPCA 2000), on tiles for both sides.

use super::traits::CpuTraits;
use super::{extent, parallel_fused};
use crate::ir::{BlockId, LoopId, PrimFunc, Var};
use crate::kernel::CpuTarget;
use crate::sched::rules::DeclineReason;
use crate::sched::rules::nest::sort_loops;
use crate::sched::rules::pattern::{Pattern, classify};
use crate::sched::{Factor, Schedule};

/// Tiles beside each other in the operand that are turned one after the other.
const BESIDE: i64 = 4;

pub(super) fn apply(
    schedule: &mut Schedule,
    block: BlockId,
    target: &CpuTarget,
) -> Result<(), DeclineReason> {
    let outer = tiles(schedule, block, target)?;
    if !parallel_fused(schedule, &outer) {
        schedule.parallel(outer[0])?;
    }
    Ok(())
}

/// Writes the tiles out, and gives the loops around those beside each other.
pub(super) fn tiles(
    schedule: &mut Schedule,
    block: BlockId,
    target: &CpuTarget,
) -> Result<Vec<LoopId>, DeclineReason> {
    if !matches!(classify(schedule.func(), block), Pattern::Injective) {
        return Err(DeclineReason::Pattern("not injective"));
    }
    let nest = sort_loops(schedule, block)?;
    let Some((&columns, others)) = nest.spatial.split_last() else {
        return Err(DeclineReason::Pattern("nothing is independent"));
    };
    let rows = others
        .iter()
        .copied()
        .find(|&l| is_turned(schedule.func(), block, l, columns))
        .ok_or(DeclineReason::Pattern("operands lie as the result does"))?;
    let mut others = others.to_vec();
    let columns = join(schedule, block, &mut others, columns, Some(rows))?;
    let at = others.iter().position(|&l| l == rows).unwrap_or(0);
    let mut before = others[..at].to_vec();
    let rows = join(schedule, block, &mut before, rows, None)?;
    let others = [&before, &others[at + 1..]].concat();

    let lanes = CpuTraits::of(target).f32_lanes;
    let divides = |l: LoopId, size: &i64| extent(schedule, l).is_some_and(|e| e % size == 0);
    let mut sizes = [16, 8, 4].into_iter().filter(|size| *size <= lanes);
    let height = sizes.clone().find(|size| divides(rows, size));
    let height = height.ok_or(DeclineReason::Pattern("no tile divides the rows"))?;
    // The rest of a row is left to smaller vectors, but for one that is hardly longer.
    let whole = sizes.clone().find(|size| divides(columns, size));
    let fits = |size: &i64| extent(schedule, columns).is_none_or(|e| e >= *size);
    let width = whole.or_else(|| sizes.find(fits));
    let width = width.ok_or(DeclineReason::Pattern("rows are short"))?;
    let tiles = extent(schedule, rows).map_or(1, |e| e / height);
    let beside = (1..=BESIDE).rev().find(|n| tiles % n == 0).unwrap_or(1);
    let r = schedule.split(rows, &[Factor::Infer, beside.into(), height.into()])?;
    let c = schedule.split(columns, &[Factor::Infer, width.into()])?;
    let outer = [&others[..], &r[..1]].concat();
    schedule.reorder(&[&outer[..], &[c[0], r[1], r[2], c[1]]].concat())?;
    schedule.unroll(r[2])?;
    schedule.vectorize(c[1])?;
    Ok(outer)
}

/// Fuses `inner` with the loops before it that continue it, up to `stop`; removes these from `outer`.
fn join(
    schedule: &mut Schedule,
    block: BlockId,
    outer: &mut Vec<LoopId>,
    inner: LoopId,
    stop: Option<LoopId>,
) -> Result<LoopId, DeclineReason> {
    let mut count = 0;
    let mut last = inner;
    for &l in outer.iter().rev() {
        if Some(l) == stop || !is_continued(schedule.func(), block, l, last) {
            break;
        }
        (count, last) = (count + 1, l);
    }
    let joined = outer.split_off(outer.len() - count);
    if joined.is_empty() {
        return Ok(inner);
    }
    Ok(schedule.fuse(&[&joined[..], &[inner]].concat())?)
}

/// Whether an iteration of the outer loop starts, in all tensors, where the inner one ended.
fn is_continued(func: &PrimFunc, block: BlockId, outer: LoopId, inner: LoopId) -> bool {
    let info = &func.blocks[block];
    let (Some(first), Some(second)) = (iter_of(func, block, outer), iter_of(func, block, inner))
    else {
        return false;
    };
    let [extent, around] = [inner, outer].map(|l| func.loops[l].extent.as_int());
    let regions = info.reads.iter().chain(&info.writes);
    extent.is_some()
        && around.is_some()
        && regions.into_iter().all(|access| {
            let used = |var: &Var| access.region.iter().any(|range| range.min.uses(var));
            if !used(first) && !used(second) {
                return true;
            }
            let lone = |var: &Var| {
                let mut ranges = access.region.iter();
                let at = ranges.position(|range| range.min.as_var() == Some(var))?;
                (!ranges.any(|range| range.min.uses(var))).then_some(at)
            };
            let (Some(first), Some(second)) = (lone(first), lone(second)) else {
                return false;
            };
            first + 1 == second && access.buffer.shape()[second].as_int() == extent
        })
}

/// The iter variable that the loop is.
fn iter_of(func: &PrimFunc, block: BlockId, l: LoopId) -> Option<&Var> {
    let info = &func.blocks[block];
    let var = &func.loops[l].var;
    let at = info.bindings.iter().position(|e| e.as_var() == Some(var))?;
    Some(&info.iters[at].var)
}

/// Whether the loop is along the last axis of an operand of numbers of at most 32 bits, and the other one along another of its axes.
fn is_turned(func: &PrimFunc, block: BlockId, rows: LoopId, columns: LoopId) -> bool {
    let info = &func.blocks[block];
    let (Some(row), Some(column)) = (iter_of(func, block, rows), iter_of(func, block, columns))
    else {
        return false;
    };
    info.reads.iter().any(|read| {
        let Some((last, others)) = read.region.split_last() else {
            return false;
        };
        read.buffer.dtype().scalar.bytes() <= 4
            && last.min.as_var() == Some(row)
            && others.iter().any(|range| range.min.uses(column))
    })
}
