//! Recurrences: the block around the nests is a task; its spatial loop, if it has one, runs in parallel. Each nest is vectorized along
//! neighbouring results, several vectors of a sum at once. If results are not neighbours, a sum is vectorized along its reduction loop.
//! Ordered loops do not change. Weights that are constant lie in panels (see `layouts`), which makes results neighbours.
//!
//! ```text
//! for s in batch:                             for s in parallel:
//!     with block("layer"):                        with block("layer"):
//!         for step in time:                           for step in time:
//!             for g, k: products[g] += …                  for g_0: for k: for g_1 in unroll: for g_2 in vectorized: …
//!             for j: state[j] = …                         for j_0: for j_1 in vectorized: …
//! ```

use super::add_on_vectors;
use super::elementwise::vector_lanes;
use super::panels::{is_in_panels, of_words};
use super::reduction::neighbours;
use crate::ir::{BlockId, LoopId};
use crate::kernel::CpuTarget;
use crate::sched::rules::DeclineReason;
use crate::sched::rules::nest::sort_loops;
use crate::sched::rules::pattern::results_of_reduction;
use crate::sched::rules::recurrence::{StepLoops, count, sort_step, steps};
use crate::sched::{Factor, Schedule};

/// Sums along their terms that are added at once, at most: they share the vectors of the state.
const SUMS: [i64; 2] = [4, 2];
/// Vectors of sums that are added to at once, at most: they share an element of the state, and none waits for the one before.
const VECTORS: [i64; 3] = [8, 4, 2];

pub(super) fn apply(
    schedule: &mut Schedule,
    block: BlockId,
    _target: &CpuTarget,
) -> Result<(), DeclineReason> {
    let steps = steps(schedule.func(), block)?;
    let nest = sort_loops(schedule, block)?;
    let mut any = false;
    for step in steps {
        let mut attempt = schedule.clone();
        match on_vectors(&mut attempt, step) {
            Ok(()) => {
                *schedule = attempt;
                any = true;
            }
            Err(reason) => log::debug!("a nest stays as it is: {reason}"),
        }
    }
    if !any {
        return Err(DeclineReason::Pattern("no nest runs on vectors"));
    }
    if let Some(&first) = nest.spatial.first() {
        schedule.parallel(first)?;
    }
    Ok(())
}

fn on_vectors(schedule: &mut Schedule, step: BlockId) -> Result<(), DeclineReason> {
    let StepLoops {
        ordered: _,
        spatial,
        reduce,
    } = sort_step(schedule, step)?;
    let last = spatial[spatial.len() - 1];
    let Some(&first) = reduce.first() else {
        split_inside(schedule, step, last, &reduce)?;
        return Ok(());
    };
    let in_panels = of_words(schedule.func(), step)
        .is_ok_and(|matmul| is_in_panels(schedule.func(), step, &matmul));
    if results_of_reduction(schedule.func(), step).is_none() {
        return Err(DeclineReason::Pattern("no sum"));
    }
    if in_panels || neighbours(schedule.func(), step, last) {
        split_inside(schedule, step, last, &reduce)?;
    } else {
        let results = count(schedule.func(), &[last]);
        let divides = |sums: &i64| results.is_some_and(|results| results % sums == 0);
        if let Some(sums) = SUMS.into_iter().find(divides) {
            let parts = schedule.split(last, &[Factor::Infer, sums.into()])?;
            schedule.reorder(&[&reduce[..], &parts[1..]].concat())?;
            schedule.unroll(parts[1])?;
        }
        add_on_vectors(schedule, &reduce)?;
    }
    schedule.decompose_reduction(step, first)?;
    Ok(())
}

/// Runs neighbouring results on vectors, inside of the loops of a sum.
fn split_inside(
    schedule: &mut Schedule,
    step: BlockId,
    last: LoopId,
    reduce: &[LoopId],
) -> Result<(), DeclineReason> {
    let lanes = vector_lanes(schedule.func(), step);
    let results = count(schedule.func(), &[last]);
    let lanes = results.map_or(lanes, |results| lanes.min(results));
    let divides = |vectors: &i64| results.is_some_and(|results| results % (vectors * lanes) == 0);
    let several = VECTORS.into_iter().find(divides);
    match several.filter(|_| !reduce.is_empty()) {
        Some(vectors) => {
            let parts = schedule.split(last, &[Factor::Infer, vectors.into(), lanes.into()])?;
            schedule.reorder(&[reduce, &parts[1..]].concat())?;
            schedule.unroll(parts[1])?;
            schedule.vectorize(parts[2])?;
        }
        None => {
            let parts = schedule.split(last, &[Factor::Infer, lanes.into()])?;
            schedule.reorder(&[reduce, &parts[1..]].concat())?;
            schedule.vectorize(parts[1])?;
        }
    }
    Ok(())
}
