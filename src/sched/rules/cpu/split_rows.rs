//! Reductions of many terms to few results: threads reduce chunks of the terms, then one thread reduces the partial results in the
//! order of the chunks. The size of a chunk is a constant, so that results do not depend on the number of threads.
//!
//! Reference: TVM `Schedule::rfactor`.

use super::extent;
use super::reduction::{Epilogue, along_results, along_terms, in_steps};
use super::traits::CpuTraits;
use crate::ir::{BlockId, BufferRegion, Expr, IterKind, IterVar, LoopId, PrimFunc};
use crate::kernel::CpuTarget;
use crate::sched::rules::DeclineReason;
use crate::sched::rules::nest::sort_loops;
use crate::sched::rules::pattern::reduces;
use crate::sched::{Factor, Schedule};

/// Results, at most: more keep the threads busy with results of their own.
const FEW_RESULTS: i64 = 64;
/// Results from which on blocks that follow, as in a softmax, are better computed row by row, each in the cache of a thread.
const ROWS: i64 = 8;
/// Fewest chunks of a constant number of terms. Fewer are not worth the second kernel.
const FEWEST_CHUNKS: i64 = 4;

pub(super) fn apply(
    schedule: &mut Schedule,
    block: BlockId,
    target: &CpuTarget,
) -> Result<(), DeclineReason> {
    let func = schedule.func();
    if !reduces(func, block) {
        return Err(DeclineReason::Pattern("not a reduction"));
    }
    let results = extents(func, block, IterKind::Spatial);
    let Some(results) = results.filter(|&results| results <= FEW_RESULTS) else {
        return Err(DeclineReason::Pattern("more than few results"));
    };
    let terms = extents(func, block, IterKind::Reduce);
    let empty = |iter: &IterVar| iter.dom.extent.is_zero();
    if func.blocks[block].iters.iter().any(empty) {
        return Err(DeclineReason::Pattern("there are no terms"));
    }
    let consumers = schedule.get_consumers(block)?;
    let in_rows = |b: &BlockId| all_extents(schedule.func(), *b).is_none_or(|n| n > FEW_RESULTS);
    if results >= ROWS && consumers.iter().any(in_rows) {
        return Err(DeclineReason::Pattern("rows that others follow"));
    }
    let nest = sort_loops(schedule, block)?;
    let side_by_side = nest.spatial.last().is_some_and(|&last| {
        let several = extent(schedule, last) != Some(1);
        several && in_steps(schedule.func(), block, last)
    });
    // Rows may be short where nobody knows how long they are.
    if terms.is_none() && results > 1 && !side_by_side {
        return Err(DeclineReason::Pattern("several rows of open lengths"));
    }
    let chunk = CpuTraits::of(target).chunk;
    let length = match side_by_side {
        true => chunk / results.max(1),
        false => chunk,
    };
    if terms.is_some_and(|terms| terms < FEWEST_CHUNKS * length) {
        return Err(DeclineReason::Pattern("few terms"));
    }
    let chunk = chunks(schedule, block, &nest.reduce, length)?;
    let partial = schedule.rfactor(chunk, 0)?;
    let loops = schedule.get_loops(partial)?;
    let chunk = loops[nest.spatial.len()];
    if !nest.spatial.is_empty() {
        let order: Vec<LoopId> = [&[chunk], &loops[..nest.spatial.len()]].concat();
        schedule.reorder(&order)?;
    }
    let nest = sort_loops(schedule, partial)?;
    match side_by_side {
        true => along_results(schedule, partial, &nest, target, Epilogue::Apart)?,
        false => along_terms(schedule, partial, &nest)?,
    }
    let nest = sort_loops(schedule, block)?;
    along_terms(schedule, block, &nest)
}

/// The number of iterations of the iter variables of a kind, if it is a constant.
fn extents(func: &PrimFunc, block: BlockId, kind: IterKind) -> Option<i64> {
    let iters = func.blocks[block].iters.iter();
    product(iters.filter(|iter| iter.kind == kind))
}

/// The same of all.
fn all_extents(func: &PrimFunc, block: BlockId) -> Option<i64> {
    product(func.blocks[block].iters.iter())
}

fn product<'i>(iters: impl Iterator<Item = &'i IterVar>) -> Option<i64> {
    let mut extents = iters.map(|iter| iter.dom.extent.as_int());
    extents.try_fold(1i64, |all, extent| all.checked_mul(extent?))
}

/// A loop over chunks of so many terms.
fn chunks(
    schedule: &mut Schedule,
    block: BlockId,
    reduce: &[LoopId],
    length: i64,
) -> Result<LoopId, DeclineReason> {
    if reduce.len() > 1 && in_order(schedule.func(), block) {
        let all = schedule.fuse(reduce)?;
        return Ok(schedule.split(all, &[Factor::Infer, length.into()])?[0]);
    }
    // Whole iterations of the inner loops stay together.
    let mut inside = 1;
    for (at, &l) in reduce.iter().enumerate().rev() {
        match extent(schedule, l) {
            // Of rows of open lengths each is a chunk.
            None if at > 0 => return Ok(reduce[0]),
            Some(whole) if at > 0 && inside * whole <= length => {
                inside *= whole;
                continue;
            }
            _ => {}
        }
        let factor = (length / inside).max(1);
        let outer = schedule.split(l, &[Factor::Infer, factor.into()])?[0];
        let chunks: Vec<LoopId> = reduce[..at].iter().copied().chain([outer]).collect();
        return match chunks[..] {
            [one] => Ok(one),
            _ => Ok(schedule.fuse(&chunks)?),
        };
    }
    Err(DeclineReason::Pattern("nothing is reduced"))
}

/// Whether a block reads, in the order of its reduce iter variables, element after element: they are the last indices of each
/// tensor that depends on them, and run over whole dimensions of constant extents, but for the first.
fn in_order(func: &PrimFunc, block: BlockId) -> bool {
    let info = &func.blocks[block];
    let iters = info.iters.iter();
    let reduce: Vec<_> = iters.filter(|iter| iter.kind == IterKind::Reduce).collect();
    let constant = reduce[1..].iter().all(|i| i.dom.extent.as_int().is_some());
    let walks = |read: &BufferRegion| {
        let indices = read.region.iter().map(|range| &range.min);
        let indices: Vec<&Expr> = indices.collect();
        let varies = |index: &Expr| reduce.iter().any(|iter| index.uses(&iter.var));
        if !indices.iter().any(|index| varies(index)) {
            return true;
        }
        let Some(rows) = indices.len().checked_sub(reduce.len()) else {
            return false;
        };
        let extents = &read.buffer.shape()[rows..];
        let own = indices[rows..].iter().map(|index| index.as_var());
        let ends = reduce.iter().zip(extents).skip(1);
        own.eq(reduce.iter().map(|iter| Some(&iter.var)))
            && ends
                .clone()
                .all(|(iter, extent)| iter.dom.extent == *extent)
            && !indices[..rows].iter().any(|index| varies(index))
    };
    constant && info.reads.iter().all(walks)
}
