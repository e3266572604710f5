//! Elementwise, broadcast and other injective blocks: vectors along the last axis, the rest over the threads.

use super::traits::{CpuTraits, VECTOR_BYTES};
use crate::ir::{Block, BlockId, Expr, ExprKind, LoopId, Place, PrimFunc, Stmt, Var};
use crate::kernel::CpuTarget;
use crate::sched::rules::DeclineReason;
use crate::sched::rules::nest::{fuse_all, sort_loops};
use crate::sched::rules::pattern::{Pattern, classify};
use crate::sched::{Factor, Schedule};

pub(super) fn apply(
    schedule: &mut Schedule,
    block: BlockId,
    target: &CpuTarget,
) -> Result<(), DeclineReason> {
    if !matches!(classify(schedule.func(), block), Pattern::Injective) {
        return Err(DeclineReason::Pattern("not injective"));
    }
    let nest = sort_loops(schedule, block)?;
    let is_flat = same_element(schedule.func(), block);
    let count = joined(
        schedule.func(),
        block,
        &nest.spatial,
        CpuTraits::of(target).parts(),
    );
    let (outer, last) = match nest.spatial.split_at(nest.spatial.len() - count) {
        // All tensors are walked in order: one loop over all of them.
        _ if is_flat => (None, fuse_all(schedule, block, &nest.spatial)?),
        ([], _) => (None, fuse_all(schedule, block, &nest.spatial)?),
        (outer, last) => {
            let outer = &outer[..told_apart(schedule.func(), outer)];
            let last = fuse_all(schedule, block, last)?;
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

/// How many of the last loops of a block to fuse: all tensors are walked in order by these, so that they are one row, and the loops
/// before them have as many iterations as there are parts to be.
pub(super) fn joined(func: &PrimFunc, block: BlockId, loops: &[LoopId], parts: i64) -> usize {
    let alone = loops.len().min(1);
    let [
        Stmt::Store {
            buffer,
            indices,
            value,
        },
    ] = func.tree.body(Place::Block(block))
    else {
        return alone;
    };
    let row = |count: usize| -> Option<Row> {
        let (outer, inner) = loops.split_at(loops.len() - count);
        let extent = |l: &LoopId| func.loops[*l].extent.as_int();
        let around = outer.iter().filter_map(extent).fold(1, i64::saturating_mul);
        if around < parts && outer.iter().all(|l| extent(l).is_some()) {
            return None;
        }
        let iters = &func.blocks[block];
        let var = |l: &LoopId| {
            let var = &func.loops[*l].var;
            let mut bound = iters.iters.iter().zip(&iters.bindings);
            let iter = bound.find(|(_, binding)| binding.as_var() == Some(var));
            iter.map(|(iter, _)| iter.var.clone())
        };
        Some(Row {
            vars: inner.iter().map(var).collect::<Option<_>>()?,
            extents: inner.iter().map(extent).collect::<Option<_>>()?,
        })
    };
    let fits = |count: &usize| {
        let row = row(*count);
        row.is_some_and(|row| row.is_walked(buffer.shape(), indices) && row.is_read(value))
    };
    (2..=loops.len()).rev().find(fits).unwrap_or(alone)
}

/// Iter variables that count the elements of a row together.
struct Row {
    vars: Vec<Var>,
    extents: Vec<i64>,
}

impl Row {
    /// Whether the expression uses the variables only to read whole rows.
    fn is_read(&self, e: &Expr) -> bool {
        match e.kind() {
            ExprKind::Load(buffer, indices) if indices.iter().any(|index| self.is_used(index)) => {
                self.is_walked(buffer.shape(), indices)
            }
            ExprKind::Var(var) => !self.vars.contains(var),
            _ => e.children().into_iter().all(|child| self.is_read(child)),
        }
    }

    /// Whether the last indices are the variables, and the last dimensions of a buffer of this shape a row.
    fn is_walked(&self, shape: &[Expr], indices: &[Expr]) -> bool {
        let Some(before) = indices.len().checked_sub(self.vars.len()) else {
            return false;
        };
        let mut own = indices[before..].iter().zip(&self.vars);
        let mut extents = shape[before..].iter().zip(&self.extents).skip(1);
        own.all(|(index, var)| index.as_var() == Some(var))
            && extents.all(|(extent, own)| extent.as_int() == Some(*own))
            && !indices[..before].iter().any(|index| self.is_used(index))
    }

    fn is_used(&self, e: &Expr) -> bool {
        self.vars.iter().any(|var| e.uses(var))
    }
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
