//! Elementwise, broadcast and other injective blocks: vectors along the last axis, the rest over the threads.

use super::traits::VECTOR_BYTES;
use crate::ir::{Block, BlockId, Expr, ExprKind, LoopId, Place, PrimFunc, Stmt};
use crate::kernel::CpuTarget;
use crate::sched::rules::DeclineReason;
use crate::sched::rules::nest::{fuse_all, sort_loops};
use crate::sched::rules::pattern::{Pattern, classify};
use crate::sched::{Factor, Schedule};

pub(super) fn apply(
    schedule: &mut Schedule,
    block: BlockId,
    _target: &CpuTarget,
) -> Result<(), DeclineReason> {
    if !matches!(classify(schedule.func(), block), Pattern::Injective) {
        return Err(DeclineReason::Pattern("not injective"));
    }
    let nest = sort_loops(schedule, block)?;
    let is_flat = same_element(schedule.func(), block);
    let (outer, last) = match nest.spatial.split_last() {
        // All tensors are walked in order: one loop over all of them.
        _ if is_flat => (None, fuse_all(schedule, block, &nest.spatial)?),
        None | Some((_, [])) => (None, fuse_all(schedule, block, &nest.spatial)?),
        Some((&last, outer)) => {
            let outer = &outer[..told_apart(schedule.func(), outer)];
            (Some(fuse_all(schedule, block, outer)?), last)
        }
    };
    if branches(schedule.func(), block) > MOST_BRANCHES {
        schedule.parallel(outer.unwrap_or(last))?;
        return Ok(());
    }
    let lanes = vector_lanes(schedule.func(), block);
    let loops = schedule.split(last, &[Factor::Infer, lanes.into()])?;
    schedule.vectorize(loops[1])?;
    schedule.parallel(outer.unwrap_or(loops[0]))?;
    Ok(())
}

/// How many conditional values a block may have that is computed in vectors: a vector takes all of their branches, an element one
/// of each, and of a concatenation of many tensors those on the way to one.
const MOST_BRANCHES: usize = 64;

fn branches(func: &PrimFunc, block: BlockId) -> usize {
    let mut count = 0;
    for value in func
        .tree
        .body(Place::Block(block))
        .iter()
        .flat_map(Stmt::exprs)
    {
        value.walk(&mut |e| {
            count += usize::from(matches!(e.kind(), ExprKind::IfThenElse(..)));
            true
        });
    }
    count
}

/// How many of the loops to fuse: with two symbolic extents among them, nobody after this rule could tell from the fused loop which
/// elements are written.
pub(super) fn told_apart(func: &PrimFunc, loops: &[LoopId]) -> usize {
    let symbolic = |l: &LoopId| func.loops[*l].extent.as_int().is_none();
    let second = loops.iter().enumerate().filter(|(_, l)| symbolic(l)).nth(1);
    second.map_or(loops.len(), |(at, _)| at)
}

/// Lanes of a vector of the block's output.
pub(super) fn vector_lanes(func: &PrimFunc, block: BlockId) -> i64 {
    let bytes = match func.tree.body(Place::Block(block)) {
        [
            Stmt::Store {
                buffer,
                indices: _,
                value: _,
            },
            ..,
        ] => buffer.dtype().scalar.bytes(),
        _ => 4,
    };
    VECTOR_BYTES / (bytes as i64).max(2)
}

/// Whether the block reads and writes the element at its own position only, in tensors of the same shape, or one element that
/// is the same for all iterations.
fn same_element(func: &PrimFunc, block: BlockId) -> bool {
    let Block { iters, .. } = &func.blocks[block];
    let own: Vec<Expr> = iters.iter().map(|iter| iter.var.expr()).collect();
    let [
        Stmt::Store {
            buffer: out,
            indices,
            value,
        },
    ] = func.tree.body(Place::Block(block))
    else {
        return false;
    };
    let mut same = *indices == own;
    value.walk(&mut |e| {
        if let ExprKind::Load(buffer, indices) = e.kind() {
            let is_one = indices.iter().all(|index| index.free_vars().is_empty());
            same &= is_one || *indices == own && buffer.shape() == out.shape();
        }
        same
    });
    same
}
