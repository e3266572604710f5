//! What the tile of a product depends on: sizes, and how operands and result lie.

use super::compile_time::Epilogue;
use super::matmul::LANES;
use super::shared_copy::{has_whole_vectors, steps_of_a_copy};
use super::tile::Extents;
use super::traits::GpuTraits;
use crate::ir::{BlockId, Expr, ExprKind, PrimFunc, Var};
use crate::kernel::GpuTarget;
use crate::sched::Schedule;
use crate::sched::rules::pattern::{Matmul, Operand};
use crate::sched::rules::products::is_simple;
use crate::sched::rules::sizes::usual_extent;
use crate::tensor::scalar::BinOp;

/// The most that an extent of a usual launch is taken to be.
const MOST_USUAL: i64 = 1 << 20;

/// `[batch, m, n, k]` for these sizes.
pub(super) fn estimate(
    func: &PrimFunc,
    block: BlockId,
    matmul: &Matmul,
    size: &dyn Fn(&str) -> i64,
) -> [i64; 4] {
    let iters = &func.blocks[block].iters;
    let roles = [&matmul.batch, &matmul.m, &matmul.n, &matmul.k];
    roles.map(|roles| {
        let extents = roles
            .iter()
            .map(|&at| usual_extent(&iters[at].dom.extent, size));
        extents.fold(1, i64::saturating_mul).clamp(1, MOST_USUAL)
    })
}

/// What the tile depends on.
pub(super) fn extents(
    sch: &Schedule,
    block: BlockId,
    matmul: &Matmul,
    target: &GpuTarget,
    size: &dyn Fn(&str) -> i64,
) -> Extents {
    let func = sch.func();
    let iters = &func.blocks[block].iters;
    let one = |at: usize| iters[at].dom.extent.as_int();
    let extent = |roles: &[usize]| roles.iter().map(|&at| one(at)).product::<Option<i64>>();
    let contiguous = matmul.b.contiguous;
    Extents {
        m: extent(&matmul.m),
        n: extent(&matmul.n),
        k: extent(&matmul.k),
        k_is_one_loop: matmul.k.len() == 1,
        copy: [&matmul.a, &matmul.b].map(|operand| copy_cost(func, block, operand)),
        estimate: estimate(func, block, matmul, size),
        batch: extent(&matmul.batch),
        steps_of_sector: steps_of_sector(func, block, matmul),
        b_in_vectors: contiguous.and_then(one).is_some_and(|n| n % LANES == 0),
        b_along_k: contiguous.is_some_and(|at| matmul.k.contains(&at)),
        n_is_one_loop: matmul.n.len() == 1,
        stores_elements: stores_elements(func, block, matmul),
        cuts_slices: is_simple(&func.blocks[block].writes[0]),
        epilogue: match GpuTraits::of(target).compile_time {
            Some(_) => Epilogue::of(sch, block),
            None => Epilogue::default(),
        },
    }
}

/// Steps of a sector of the operands whose rows lie along the sum.
fn steps_of_sector(func: &PrimFunc, block: BlockId, matmul: &Matmul) -> i64 {
    let of = |operand: &&Operand| operand.contiguous.is_some_and(|at| matmul.k.contains(&at));
    let reads = &func.blocks[block].reads;
    let steps = |operand: &Operand| {
        let bytes = reads[operand.read_index].buffer.dtype().bytes();
        steps_of_a_copy(bytes as i64)
    };
    let along_steps = [&matmul.a, &matmul.b].into_iter().filter(of);
    along_steps.map(steps).max().unwrap_or(0)
}

/// Whether neighbours in memory of the result lie along its columns, but are no whole vectors.
fn stores_elements(func: &PrimFunc, block: BlockId, matmul: &Matmul) -> bool {
    let info = &func.blocks[block];
    let [write] = info.writes.as_slice() else {
        return false;
    };
    // The variable itself, or the last part of a joined one.
    let is_digit = |e: &Expr, var: &Var| match e.kind() {
        ExprKind::Binary(BinOp::FloorMod, digits, _) => digits.as_var() == Some(var),
        _ => e.as_var() == Some(var),
    };
    let last = write.region.last().map(|range| &range.min);
    let numbers = |at: &usize| last.is_some_and(|last| is_digit(last, &info.iters[*at].var));
    matmul.n.iter().any(numbers) && !has_whole_vectors(write)
}

/// Operations on integers that copy an element of an operand, as they are counted in kernels.
pub(super) fn copy_cost(func: &PrimFunc, block: BlockId, operand: &Operand) -> i64 {
    let region = &func.blocks[block].reads[operand.read_index];
    let is_given = func.buffer_params().any(|given| *given == region.buffer);
    match region {
        // Padding and what else a copy computes.
        _ if !is_given => 110,
        _ if !is_simple(region) => 40,
        _ if !has_whole_vectors(region) => 6,
        _ => 0,
    }
}
