//! Chains of blocks that share rows (softmax, normalisation): a row at a time, while it is in the cache. What is kept of a row
//! between its blocks is an array of the thread; rows are spread over the threads.

use super::add_on_vectors;
use super::elementwise::vector_lanes;
use super::reduction::neighbours;
use super::terms::in_memory_order;
use crate::ir::{BlockId, Expr, LoopId};
use crate::kernel::CpuTarget;
use crate::sched::rules::DeclineReason;
use crate::sched::rules::chain::{Chain, is_reduction, loops_of_rows};
use crate::sched::{Factor, InsertAt, Schedule, UnitIters};

pub(super) fn apply(
    schedule: &mut Schedule,
    block: BlockId,
    target: &CpuTarget,
) -> Result<(), DeclineReason> {
    let Chain {
        blocks,
        last,
        first: _,
        rows,
    } = Chain::of(schedule, block, 1)?;
    if blocks.len() < 2 {
        return Err(DeclineReason::Pattern(
            "one block has no others to share rows with",
        ));
    }
    let count: Option<i64> = rows.iter().map(Expr::as_int).product();
    if count.is_some_and(|count| count < target.threads as i64) {
        return Err(DeclineReason::Pattern("fewer rows than threads"));
    }
    let loops = schedule.get_loops(last)?;
    let outer = &loops[..loops_of_rows(schedule.func(), last, rows.len())];
    let (Some(&first), Some(&innermost)) = (outer.first(), outer.last()) else {
        return Err(DeclineReason::Pattern("no rows"));
    };
    // The loop over the threads, and the one in which the blocks meet.
    let (spread, row) = if outer.len() > 1 {
        let fused = schedule.fuse(outer)?;
        (fused, fused)
    } else {
        (first, innermost)
    };
    for &b in blocks.iter().rev().filter(|&&b| b != last) {
        schedule.compute_at(b, row, UnitIters::Simplify, InsertAt::Latest)?;
    }
    // Before sums are decomposed: an update alone is no reduction.
    schedule.parallel(spread)?;
    for &b in &blocks {
        let loops = schedule.get_loops(b)?;
        let own = loops.iter().position(|&l| l == row).map_or(0, |at| at + 1);
        within_row(schedule, b, &loops[own..])?;
    }
    Ok(())
}

/// Vectors along the row, or sums along it on vectors with several accumulators.
fn within_row(
    schedule: &mut Schedule,
    block: BlockId,
    loops: &[LoopId],
) -> Result<(), DeclineReason> {
    let Some((&innermost, _)) = loops.split_last() else {
        return Ok(());
    };
    if is_reduction(schedule.func(), block) {
        let loops = in_memory_order(schedule, block, loops);
        add_on_vectors(schedule, &loops)?;
        schedule.decompose_reduction(block, loops[0])?;
    } else if neighbours(schedule.func(), block, innermost) {
        let lanes = vector_lanes(schedule.func(), block);
        let parts = schedule.split(innermost, &[Factor::Infer, lanes.into()])?;
        schedule.vectorize(parts[1])?;
    }
    Ok(())
}
