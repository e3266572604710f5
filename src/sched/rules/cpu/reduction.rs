//! Reductions other than matmul. Along the last axis each result is a sum of neighbours, which code generation runs on vectors;
//! along another axis the vectors are those of neighbouring results.

use super::elementwise::vector_lanes;
use super::{are_constant, parallel_fused};
use crate::ir::{BlockId, ExprKind, LoopId, Place, PrimFunc, Stmt, Var};
use crate::kernel::CpuTarget;
use crate::sched::rules::DeclineReason;
use crate::sched::rules::nest::sort_loops;
use crate::sched::rules::pattern::{Pattern, classify};
use crate::sched::{Factor, Schedule};

pub(super) fn apply(
    schedule: &mut Schedule,
    block: BlockId,
    _target: &CpuTarget,
) -> Result<(), DeclineReason> {
    if !matches!(
        classify(schedule.func(), block),
        Pattern::Reduction | Pattern::Matmul(_)
    ) {
        return Err(DeclineReason::Pattern("not a reduction"));
    }
    let nest = sort_loops(schedule, block)?;
    let Some(&first_reduce) = nest.reduce.first() else {
        return Err(DeclineReason::Pattern("nothing is reduced"));
    };
    let Some((&last, outer)) = nest.spatial.split_last() else {
        schedule.decompose_reduction(block, first_reduce)?;
        return Ok(());
    };
    let one = schedule.func().loops[last].extent.is_one();
    if one || !neighbours(schedule.func(), block, last) {
        spread(schedule, &nest.spatial)?;
        schedule.decompose_reduction(block, first_reduce)?;
        return Ok(());
    }
    let lanes = vector_lanes(schedule.func(), block);
    let columns = schedule.split(last, &[Factor::Infer, lanes.into()])?;
    let order: Vec<LoopId> = nest.reduce.iter().copied().chain([columns[1]]).collect();
    schedule.reorder(&order)?;
    let outer: Vec<LoopId> = outer.iter().copied().chain([columns[0]]).collect();
    spread(schedule, &outer)?;
    schedule.vectorize(columns[1])?;
    schedule.decompose_reduction(block, first_reduce)?;
    Ok(())
}

/// All loops over the threads, or only the first one where they cannot be fused or are symbolic (see `matmul::spread`).
fn spread(schedule: &mut Schedule, loops: &[LoopId]) -> Result<(), DeclineReason> {
    if !are_constant(schedule, loops) || !parallel_fused(schedule, loops) {
        schedule.parallel(loops[0])?;
    }
    Ok(())
}

/// Whether neighbouring iterations of the loop read and write neighbouring elements.
pub(super) fn neighbours(func: &PrimFunc, block: BlockId, l: LoopId) -> bool {
    let info = &func.blocks[block];
    let var = &func.loops[l].var;
    let bound = info.iters.iter().zip(&info.bindings);
    let iters: Vec<&Var> = bound
        .filter(|(_, binding)| binding.uses(var))
        .map(|(iter, _)| &iter.var)
        .collect();
    let [iter] = iters[..] else {
        return false;
    };
    let in_row = |indices: &[crate::ir::Expr]| match indices.split_last() {
        Some((last, others)) => {
            let outside = others.iter().any(|e| e.uses(iter));
            !outside && (!last.uses(iter) || last.as_var() == Some(iter))
        }
        None => true,
    };
    let [
        Stmt::Store {
            buffer: _,
            indices,
            value,
        },
    ] = func.tree.body(Place::Block(block))
    else {
        return false;
    };
    let mut fine = in_row(indices) && indices.last().is_some_and(|e| e.uses(iter));
    value.walk(&mut |e| {
        if let ExprKind::Load(_, indices) = e.kind() {
            fine &= in_row(indices);
        }
        fine
    });
    fine
}
