//! Reductions that no other rule takes, of few results in whatever order their terms lie in memory, and of many whose terms are
//! neighbours: a workgroup takes a result, and its threads share the terms. What follows is computed where the result is written back.

use super::rows::{SHORT, Share, length, over_threads};
use super::traits::GpuTraits;
use crate::ir::{BlockId, BufferRegion, IterKind, LoopId, PrimFunc, ThreadAxis};
use crate::kernel::GpuTarget;
use crate::sched::rules::DeclineReason;
use crate::sched::rules::chain::along_rows;
use crate::sched::rules::epilogue::with_epilogue;
use crate::sched::rules::nest::{fuse_all, sort_loops};
use crate::sched::rules::pattern::{neighbours, results_of_reduction};
use crate::sched::{InsertAt, Schedule, UnitIters};

/// Results for each core, at most: more keep the device busy with a thread for each.
const FEW_PER_CORE: i64 = 16;
/// Terms that a thread adds by itself as fast.
const FEW_TERMS: i64 = 64;

pub(super) fn apply(
    sch: &mut Schedule,
    block: BlockId,
    target: &GpuTarget,
) -> Result<(), DeclineReason> {
    GpuTraits::need_fast_shared(target)?;
    if results_of_reduction(sch.func(), block) != Some(1) {
        return Err(DeclineReason::Pattern("no reduction to one tensor"));
    }
    let results = results(sch.func(), block);
    let are_many = results.is_none_or(|n| n > FEW_PER_CORE * target.cores());
    if are_many && !is_along_terms(sch.func(), block) {
        return Err(DeclineReason::Pattern("results enough"));
    }
    let terms = length(sch.func(), block);
    if terms.is_some_and(|n| n < FEW_TERMS) {
        return Err(DeclineReason::Pattern("few terms"));
    }
    let mut share = Share::of(sch.func(), block, target);
    if terms.is_none_or(|n| n > SHORT) {
        share = share.for_rows(results, terms, target);
    }
    let write_back = with_epilogue(sch, block)?;
    let nest = sort_loops(sch, block)?;
    let terms = neighbours_last(sch, block, nest.reduce)?;
    let result = fuse_all(sch, block, &nest.spatial)?;
    let reads = along_rows(sch.func(), block);
    over_threads(sch, block, &terms, share, &reads)?;
    sch.bind(result, ThreadAxis::BlockIdxX)?;
    if let Some(copy) = write_back {
        sch.reverse_compute_at(copy, result, UnitIters::Simplify, InsertAt::Latest)?;
    }
    Ok(())
}

/// Whether neighbours in memory are terms of one result: threads with a result each would read apart from each other.
fn is_along_terms(func: &PrimFunc, block: BlockId) -> bool {
    let info = &func.blocks[block];
    let input = |read: &&BufferRegion| info.writes.iter().all(|w| w.buffer != read.buffer);
    let mut along = info
        .reads
        .iter()
        .filter(input)
        .map(|read| neighbours(info, read));
    along.any(|at| at.is_some_and(|at| info.iters[at].kind == IterKind::Reduce))
}

/// How many results the block has, if that is known.
fn results(func: &PrimFunc, block: BlockId) -> Option<i64> {
    let iters = func.blocks[block].iters.iter();
    let spatial = iters.filter(|i| i.kind == IterKind::Spatial);
    spatial.map(|i| i.dom.extent.as_int()).product()
}

/// The loops over terms, with the one last along which terms are neighbours in memory, so that threads read neighbours.
fn neighbours_last(
    sch: &mut Schedule,
    block: BlockId,
    mut terms: Vec<LoopId>,
) -> Result<Vec<LoopId>, DeclineReason> {
    let info = &sch.func().blocks[block];
    let input = |read: &&BufferRegion| info.writes.iter().all(|w| w.buffer != read.buffer);
    let along = info.reads.iter().find(input);
    let along = along.and_then(|read| neighbours(info, read));
    let Some(binding) = along.map(|at| &info.bindings[at]) else {
        return Ok(terms);
    };
    let is_along = |l: &LoopId| binding.as_var() == Some(&sch.func().loops[*l].var);
    if let Some(at) = terms.iter().position(is_along)
        && at + 1 < terms.len()
    {
        let last = terms.remove(at);
        terms.push(last);
        sch.reorder(&terms)?;
    }
    Ok(terms)
}
