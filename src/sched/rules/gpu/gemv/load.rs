//! What a thread of a product of few rows loads into registers.

use crate::ir::{BlockId, Lambda, LoopId};
use crate::sched::rules::DeclineReason;
use crate::sched::rules::gpu::inline::inline_into;
use crate::sched::rules::gpu::loops::{inner_loops, tile_loops};
use crate::sched::rules::nest::params;
use crate::sched::{InsertAt, Schedule, UnitIters};

/// Elements of a source of weights that a thread keeps, at most: words, scales and zero points of its run.
const MOST_KEPT: i64 = 8;

/// The thread loads what it unpacks in a run before that, in vectors: words, scales and zero points.
pub(super) fn keep_sources(
    sch: &mut Schedule,
    copy: BlockId,
    step: LoopId,
) -> Result<(), DeclineReason> {
    for read in 0..sch.func().blocks[copy].reads.len() {
        // Bytes are loaded as parts of words anyway.
        if sch.func().blocks[copy].reads[read].buffer.dtype().bytes() == 1 {
            continue;
        }
        let mut attempt = sch.clone();
        let kept = attempt.cache_read(copy, read, "local", &[copy])?;
        attempt.compute_at(kept, step, UnitIters::Simplify, InsertAt::Latest)?;
        let inner = inner_loops(&mut attempt, kept, step)?;
        let extents = inner
            .iter()
            .map(|&l| attempt.func().loops[l].extent.as_int());
        let count = extents.product::<Option<i64>>();
        if count.is_some_and(|count| count <= MOST_KEPT) {
            tile_loops(&mut attempt, &inner)?;
            *sch = attempt;
        }
    }
    Ok(())
}

/// A block of its own reads an operand for the thread, to an array whose last dimension is this iter variable.
pub(super) fn load(
    sch: &mut Schedule,
    block: BlockId,
    read: usize,
    last: Option<usize>,
) -> Result<BlockId, DeclineReason> {
    let info = &sch.func().blocks[block];
    let region = &info.reads[read];
    let params = params(sch.func(), block);
    let is_used = |at: &usize| {
        let mut ranges = region.region.iter();
        ranges.any(|range| range.min.uses(&info.iters[*at].var))
    };
    let others = (0..params.len()).filter(|at| is_used(at) && Some(*at) != last);
    let results = others.chain(last).map(|at| params[at].expr()).collect();
    let map = Lambda { params, results };
    let copy = sch.reindex_cache_read(block, read, "local", &map)?;
    inline_into(sch, copy)?;
    Ok(copy)
}
