//! Orders the reduction loops of a block as the dimensions of its first load. Loops over whole adjacent dimensions are fused, so that a
//! short dimension (the columns of a small image) does not end a vector.

use crate::ir::{Block, BlockId, Expr, ExprKind, LoopId, Place, PrimFunc, Stmt, Var};
use crate::sched::Schedule;
use crate::sched::rules::pattern::results_of_reduction;
use crate::sched::rules::reuse::step;

/// A loop of the sum, and the iter variable that it is.
type Axis = (LoopId, Var);

/// Reorders these nested loops and fuses what it can; returns the new loops. Reductions of several elements at once (argmax) keep
/// their order.
pub(super) fn in_memory_order(
    schedule: &mut Schedule,
    block: BlockId,
    reduce: &[LoopId],
) -> Vec<LoopId> {
    let func = schedule.func();
    let (Some(mut axes), Some(1)) = (axes(func, block, reduce), results_of_reduction(func, block))
    else {
        return reduce.to_vec();
    };
    let loads = loads(func, block, &axes);
    let Some((first, others)) = loads.split_first() else {
        return reduce.to_vec();
    };
    axes.sort_by_key(|(_, var)| place(first, var));
    let sorted: Vec<LoopId> = axes.iter().map(|(l, _)| *l).collect();
    let mut attempt = schedule.clone();
    if sorted != reduce && attempt.reorder(&sorted).is_ok() {
        *schedule = attempt;
    } else if sorted != reduce {
        return reduce.to_vec();
    }
    let func = schedule.func();
    let joins = |pair: &&[Axis]| {
        let [(outer, of_outer), (inner, of_inner)] = pair else {
            return false;
        };
        let extent = &func.loops[*inner].extent;
        let continues = |load: &Expr| is_one_axis(load, of_outer, of_inner, extent);
        func.loops[*outer].min.is_zero() && continues(first) && others.iter().all(continues)
    };
    let together = 1 + axes.windows(2).rev().take_while(joins).count();
    let (apart, together) = sorted.split_at(sorted.len() - together);
    let mut attempt = schedule.clone();
    match together {
        [_, _, ..] => match attempt.fuse(together) {
            Ok(fused) => {
                *schedule = attempt;
                [apart, &[fused]].concat()
            }
            Err(_) => sorted,
        },
        _ => sorted,
    }
}

/// The loops with their iter variables, if each of them is one.
fn axes(func: &PrimFunc, block: BlockId, reduce: &[LoopId]) -> Option<Vec<Axis>> {
    let Block {
        iters, bindings, ..
    } = &func.blocks[block];
    let axis = |&l: &LoopId| {
        let mut bound = iters.iter().zip(bindings);
        let (iter, _) = bound.find(|(_, binding)| binding.as_var() == Some(&func.loops[l].var))?;
        Some((l, iter.var.clone()))
    };
    reduce.iter().map(axis).collect()
}

/// What the block loads term by term.
fn loads(func: &PrimFunc, block: BlockId, axes: &[Axis]) -> Vec<Expr> {
    let mut found = vec![];
    let body = func.tree.body(Place::Block(block));
    for value in body.iter().flat_map(Stmt::exprs) {
        value.walk(&mut |e| {
            let is_term = axes.iter().any(|(_, var)| e.uses(var));
            if is_term && matches!(e.kind(), ExprKind::Load(..)) {
                found.push(e.clone());
            }
            true
        });
    }
    found
}

/// The dimension that an iter variable moves along.
fn place(load: &Expr, var: &Var) -> Option<usize> {
    match load.kind() {
        ExprKind::Load(_, indices) => indices.iter().position(|index| index.uses(var)),
        _ => None,
    }
}

/// Whether the two move along dimensions beside each other, the inner one through all of its dimension.
fn is_one_axis(load: &Expr, outer: &Var, inner: &Var, extent: &Expr) -> bool {
    let ExprKind::Load(buffer, indices) = load.kind() else {
        return false;
    };
    let moves = |var: &Var| {
        let mut moved = (0..indices.len()).filter(|&at| indices[at].uses(var));
        moved.next().filter(|_| moved.next().is_none())
    };
    match (moves(outer), moves(inner)) {
        (Some(of_outer), Some(of_inner)) => {
            of_outer + 1 == of_inner
                && indices[of_inner].as_var() == Some(inner)
                && buffer.shape()[of_inner] == *extent
                && step(&indices[of_outer], outer) == Some(1)
        }
        _ => false,
    }
}
