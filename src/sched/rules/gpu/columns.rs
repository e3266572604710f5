//! Reductions whose terms lie apart, while neighbours in memory belong to neighbouring results: sums of columns. A workgroup takes 32
//! neighbouring results, so that each row that it reads is whole sectors, and its threads share the terms of each. Where there are few
//! results, workgroups take parts of the terms, too, and a second kernel reduces what they give.
//!
//! Reference: TVM dlight `Reduction`, its case of an inner spatial loop; TVM `Schedule::rfactor`.

use super::fallback;
use super::loops::{ceil, fuse_loops, parts};
use super::traits::GpuTraits;
use crate::ir::{BlockId, IterKind, LoopId, PrimFunc, ThreadAxis};
use crate::kernel::GpuTarget;
use crate::sched::rules::DeclineReason;
use crate::sched::rules::epilogue::with_epilogue;
use crate::sched::rules::nest::{Nest, fuse_all, sort_loops};
use crate::sched::rules::pattern::{Pattern, classify, neighbours, results_of_reduction};
use crate::sched::{Factor, InsertAt, Schedule, UnitIters};

/// Neighbouring results of a workgroup: 128 bytes of `f32`.
const RESULTS: i64 = 32;

/// Threads that share the terms of a result.
const SHARERS: i64 = 8;

/// Terms of each of those threads, at least, where terms are cut in parts: a second kernel costs more than fewer.
const TERMS: i64 = 16;

/// Workgroups for each core, where terms are cut in parts.
const GROUPS_PER_CORE: i64 = 4;

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
    if let Some(count) = parts_of_rows(sch.func(), block, target) {
        // Reductions that do not begin with the identity cannot be cut.
        let mut trial = sch.clone();
        if in_parts(&mut trial, block, count, target).is_ok() {
            *sch = trial;
            return Ok(());
        }
    }
    over_threads(sch, block)
}

/// A workgroup takes neighbouring results, and its threads share the terms of each.
fn over_threads(sch: &mut Schedule, block: BlockId) -> Result<(), DeclineReason> {
    let write_back = with_epilogue(sch, block)?;
    let nest = sort_loops(sch, block)?;
    let threads = bind_threads(sch, block, nest)?;
    if let Some(copy) = write_back {
        sch.reverse_compute_at(copy, threads, UnitIters::Simplify, InsertAt::Latest)?;
    }
    Ok(())
}

/// Binds the loops over results and terms; gives that over the threads of a workgroup that have results of their own.
fn bind_threads(sch: &mut Schedule, block: BlockId, nest: Nest) -> Result<LoopId, DeclineReason> {
    let results = fuse_all(sch, block, &nest.spatial)?;
    let terms = fuse_loops(sch, &nest.reduce)?;
    let [groups, threads] = parts(sch, results, [Factor::Infer, RESULTS.into()])?;
    let [_, sharers] = parts(sch, terms, [Factor::Infer, SHARERS.into()])?;
    sch.bind(groups, ThreadAxis::BlockIdxX)?;
    sch.bind(threads, ThreadAxis::ThreadIdxX)?;
    sch.bind(sharers, ThreadAxis::ThreadIdxY)?;
    Ok(threads)
}

/// Workgroups reduce so many parts of the terms, and a second kernel what they give.
fn in_parts(
    sch: &mut Schedule,
    block: BlockId,
    count: i64,
    target: &GpuTarget,
) -> Result<(), DeclineReason> {
    let nest = sort_loops(sch, block)?;
    let terms = fuse_loops(sch, &nest.reduce)?;
    let [part, _] = parts(sch, terms, [count.into(), Factor::Infer])?;
    // Results of one part lie side by side.
    let partial = sch.rfactor(part, 0)?;
    let mut nest = sort_loops(sch, partial)?;
    let is_part = |l: &LoopId| is_first_iter(sch.func(), partial, *l);
    let at = nest.spatial.iter().position(is_part);
    let part = nest
        .spatial
        .remove(at.ok_or(DeclineReason::Pattern("no loop over parts"))?);
    let order = [&[part], &nest.spatial[..], &nest.reduce[..]].concat();
    if sch.get_loops(partial)? != order {
        sch.reorder(&order)?;
    }
    sch.bind(part, ThreadAxis::BlockIdxY)?;
    bind_threads(sch, partial, nest)?;
    fallback::apply(sch, block, target)
}

/// Whether a loop drives the iter variable that the first dimension of what a block writes counts.
fn is_first_iter(func: &PrimFunc, block: BlockId, l: LoopId) -> bool {
    let info = &func.blocks[block];
    let first = info.writes[0]
        .region
        .first()
        .and_then(|range| range.min.as_var());
    let at = first.and_then(|var| info.iters.iter().position(|iter| iter.var == *var));
    at.is_some_and(|at| info.bindings[at].uses(&func.loops[l].var))
}

/// In how many parts terms are cut, where there are too few results to keep the cores busy: as many as divide the terms evenly.
fn parts_of_rows(func: &PrimFunc, block: BlockId, target: &GpuTarget) -> Option<i64> {
    let count = |kind| {
        let iters = func.blocks[block].iters.iter();
        let extents = iters.filter(|iter| iter.kind == kind);
        extents
            .map(|iter| iter.dom.extent.as_int())
            .product::<Option<i64>>()
    };
    let (results, terms) = (count(IterKind::Spatial)?, count(IterKind::Reduce)?);
    let groups = ceil(results, RESULTS).max(1);
    if groups >= target.cores() {
        return None;
    }
    let most = (GROUPS_PER_CORE * target.cores() / groups).min(terms / (SHARERS * TERMS));
    (2..=most).rfind(|parts| terms % parts == 0)
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
