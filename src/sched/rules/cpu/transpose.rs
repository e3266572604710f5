//! Blocks whose operand has its neighbours along another axis than the result: tiles that are turned in registers.
//!
//! A tile is a vector of the result in each of as many rows, which are written out: together they read whole rows of the operand, and code
//! generation turns them (`codegen_x86/transposed.rs`). Tiles that are neighbours in the operand follow each other, so that its cache lines are
//! read one after the other, too.
//!
//! Reference: Chatterjee and Sen, "Cache-Efficient Matrix Transposition" (HPCA 2000), on tiles for both sides.

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
    let lanes = i64::from(target.f32_lanes);
    let fits = |l: LoopId, size: i64| extent(schedule, l).is_some_and(|e| e % size == 0);
    let sizes = [16, 8, 4].into_iter().filter(|size| *size <= lanes);
    let height = sizes.clone().find(|&size| fits(rows, size));
    let width = sizes.clone().find(|&size| fits(columns, size));
    let (Some(height), Some(width)) = (height, width) else {
        return Err(DeclineReason::Pattern("no tile divides the axes"));
    };
    let tiles = extent(schedule, rows).map_or(1, |e| e / height);
    let beside = (1..=BESIDE).rev().find(|n| tiles % n == 0).unwrap_or(1);
    let r = schedule.split(rows, &[Factor::Infer, beside.into(), height.into()])?;
    let c = schedule.split(columns, &[Factor::Infer, width.into()])?;
    let outer: Vec<LoopId> = others
        .iter()
        .map(|&l| if l == rows { r[0] } else { l })
        .collect();
    schedule.reorder(&[&outer[..], &[c[0], r[1], r[2], c[1]]].concat())?;
    schedule.unroll(r[2])?;
    schedule.vectorize(c[1])?;
    parallel_fused(schedule, &outer);
    Ok(())
}

/// Whether the loop is along the last axis of an operand of `float32`, and the other one along another of its axes.
fn is_turned(func: &PrimFunc, block: BlockId, rows: LoopId, columns: LoopId) -> bool {
    let info = &func.blocks[block];
    let iter_of = |l: LoopId| -> Option<&Var> {
        let var = &func.loops[l].var;
        let at = info.bindings.iter().position(|e| e.as_var() == Some(var))?;
        Some(&info.iters[at].var)
    };
    let (Some(row), Some(column)) = (iter_of(rows), iter_of(columns)) else {
        return false;
    };
    info.reads.iter().any(|read| {
        let Some((last, others)) = read.region.split_last() else {
            return false;
        };
        let dtype = read.buffer.dtype();
        dtype.is_float()
            && dtype.scalar.bytes() == 4
            && last.min.as_var() == Some(row)
            && others.iter().any(|range| range.min.uses(column))
    })
}
