//! Attention in blocks of queries (`topi/attention/blocked/`), and other blocks around nests among which are products of panels: a
//! thread takes an iteration of the block, and all that passes from nest to nest stays in its arrays.
//!
//! Products are tiles in registers, as in `matmul`. Operands are turned to panels in tiles, as in `transpose`. Sums and maxima along
//! rows, and what is computed element by element, are on vectors.

use super::elementwise::vector_lanes;
use super::matmul::in_thread;
use super::panels::of_words;
use super::reduction::neighbours;
use super::{add_on_vectors, parallel_fused, transpose};
use crate::ir::{BlockId, PrimFunc};
use crate::kernel::CpuTarget;
use crate::sched::rules::DeclineReason;
use crate::sched::rules::nest::sort_loops;
use crate::sched::rules::pattern::{Pattern, classify};
use crate::sched::{Factor, Schedule};

pub(super) fn apply(
    schedule: &mut Schedule,
    block: BlockId,
    target: &CpuTarget,
) -> Result<(), DeclineReason> {
    // A product's result is copied while whole rows pass from nest to nest, before vectors run past their ends.
    let steps = steps(schedule.func(), block).into_iter();
    let is_product = |step: &BlockId| of_words(schedule.func(), *step).is_ok();
    let (products, others): (Vec<BlockId>, Vec<BlockId>) = steps.partition(is_product);
    if products.is_empty() {
        return Err(DeclineReason::Pattern("no products inside of a block"));
    }
    let nest = sort_loops(schedule, block)?;
    let Some((&first, _)) = nest
        .spatial
        .split_first()
        .filter(|_| nest.reduce.is_empty())
    else {
        return Err(DeclineReason::Pattern("nothing is independent"));
    };
    for step in products.into_iter().chain(others) {
        // What follows a product may be part of it already.
        if schedule.func().blocks.get(step).is_some() {
            within_thread(schedule, step, target)?;
        }
    }
    if !parallel_fused(schedule, &nest.spatial) {
        schedule.parallel(first)?;
    }
    Ok(())
}

/// The blocks in a block that hold no others, in program order.
fn steps(func: &PrimFunc, block: BlockId) -> Vec<BlockId> {
    let inside = func.blocks_under(block.into()).into_iter();
    let leaves = inside.filter(|&b| b != block && func.child_blocks(b.into()).is_empty());
    leaves.collect()
}

fn within_thread(
    schedule: &mut Schedule,
    step: BlockId,
    target: &CpuTarget,
) -> Result<(), DeclineReason> {
    match classify(schedule.func(), step) {
        Pattern::Matmul(_) => in_thread(schedule, step, target),
        Pattern::Reduction => {
            let nest = sort_loops(schedule, step)?;
            add_on_vectors(schedule, &nest.reduce)?;
            schedule.decompose_reduction(step, nest.reduce[0])?;
            Ok(())
        }
        Pattern::Injective => {
            let mut turned = schedule.clone();
            if transpose::tiles(&mut turned, step, target).is_ok() {
                *schedule = turned;
                return Ok(());
            }
            on_vectors(schedule, step)
        }
        Pattern::Other => Err(DeclineReason::Pattern("a step that is no nest of its own")),
    }
}

/// Vectors of neighbours.
fn on_vectors(schedule: &mut Schedule, step: BlockId) -> Result<(), DeclineReason> {
    if let Some(&last) = schedule.get_loops(step)?.last()
        && neighbours(schedule.func(), step, last)
    {
        let lanes = vector_lanes(schedule.func(), step);
        let parts = schedule.split(last, &[Factor::Infer, lanes.into()])?;
        schedule.vectorize(parts[1])?;
    }
    Ok(())
}
