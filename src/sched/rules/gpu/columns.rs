//! Reductions whose terms lie apart, while neighbours in memory belong to neighbouring results: sums of columns. A workgroup takes 32
//! neighbouring results, so that each row that it reads is whole sectors, and its threads share the terms of each.
//!
//! Reference: TVM dlight `Reduction`, its case of an inner spatial loop.

use super::loops::{fuse_loops, parts};
use super::traits::GpuTraits;
use crate::ir::{BlockId, IterKind, ThreadAxis};
use crate::kernel::GpuTarget;
use crate::sched::rules::DeclineReason;
use crate::sched::rules::epilogue::with_epilogue;
use crate::sched::rules::nest::{fuse_all, sort_loops};
use crate::sched::rules::pattern::{Pattern, classify, neighbours, results_of_reduction};
use crate::sched::{Factor, InsertAt, Schedule, UnitIters};

/// Neighbouring results of a workgroup: 128 bytes of `f32`.
const RESULTS: i64 = 32;

/// Threads that share the terms of a result.
const SHARERS: i64 = 8;

pub(super) fn apply(
    sch: &mut Schedule,
    block: BlockId,
    target: &GpuTarget,
) -> Result<(), DeclineReason> {
    GpuTraits::need_fast_shared(target)?;
    let of_columns = matches!(classify(sch.func(), block), Pattern::Reduction)
        && results_of_reduction(sch.func(), block) == Some(1)
        && is_of_columns(sch, block);
    if !of_columns {
        return Err(DeclineReason::Pattern("no reduction of columns"));
    }
    let write_back = with_epilogue(sch, block)?;
    let nest = sort_loops(sch, block)?;
    let results = fuse_all(sch, block, &nest.spatial)?;
    let terms = fuse_loops(sch, &nest.reduce)?;
    let [groups, threads] = parts(sch, results, [Factor::Infer, RESULTS.into()])?;
    let [_, sharers] = parts(sch, terms, [Factor::Infer, SHARERS.into()])?;
    sch.bind(groups, ThreadAxis::BlockIdxX)?;
    sch.bind(threads, ThreadAxis::ThreadIdxX)?;
    sch.bind(sharers, ThreadAxis::ThreadIdxY)?;
    if let Some(copy) = write_back {
        sch.reverse_compute_at(copy, threads, UnitIters::Simplify, InsertAt::Latest)?;
    }
    Ok(())
}

/// Whether neighbours in memory are terms of neighbouring results, and there are enough of both.
fn is_of_columns(sch: &Schedule, block: BlockId) -> bool {
    let info = &sch.func().blocks[block];
    let extent = |at: usize| info.iters[at].dom.extent.as_int();
    let is = |at: &usize, kind| info.iters[*at].kind == kind;
    let count = |kind| {
        let own = (0..info.iters.len()).filter(|at| is(at, kind));
        own.map(extent).product::<Option<i64>>()
    };
    let [write] = info.writes.as_slice() else {
        return false;
    };
    let results = neighbours(info, write);
    let mut read = info.reads.iter().filter(|read| read.buffer != write.buffer);
    let along = read.next().and_then(|read| neighbours(info, read));
    let last = (0..info.iters.len()).rfind(|at| is(at, IterKind::Spatial));
    along.is_some()
        && along == results
        && along == last
        && along.and_then(extent).is_none_or(|n| n >= RESULTS / 2)
        && count(IterKind::Reduce).is_none_or(|n| n >= 4 * SHARERS)
}
