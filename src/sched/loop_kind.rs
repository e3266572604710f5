//! The rules that `parallel`, `vectorize` and `bind` share: iterations that run at the same time must be independent.
//!
//! Requires: the blocks below the loop are complete or reductions within it and affinely bound, and the loop is part of spatial
//! iter variables only. A loop bound to `threadIdx` may be part of reduce iter variables too, though not of both kinds in one
//! block: threads of a workgroup combine their results. Nothing stands outside the blocks, no iteration uses or overwrites what
//! another one computes, and no two compute a sum in the same memory. Of two nested loops on one launch axis a block depends on
//! one at most. Loops of one iteration have no other to disagree with.

use super::affine::check_affine_below;
use super::analysis::{
    accessing_blocks, check_compact_dataflow, check_independent_iterations, check_only_blocks,
    drives_reduction, is_apart, is_private, overwriter,
};
use super::{Reason, Refusal, attached_loop};
use crate::ir::{BlockId, Buffer, IterKind, LoopId, LoopKind, Place, PrimFunc, ThreadAxis, Var};

/// A loop and the kind that it may be given.
pub(super) struct LoopKindPlan {
    target: LoopId,
    kind: LoopKind,
}

impl LoopKindPlan {
    pub(super) fn check(func: &PrimFunc, target: LoopId, kind: LoopKind) -> Result<Self, Refusal> {
        let l = attached_loop(func, target)?;
        check_compact_dataflow(func, target.into())?;
        check_iter_kinds(func, target, kind)?;
        if !l.extent.is_one() {
            check_only_blocks(func, target.into())?;
            check_independent_iterations(func, &[target])?;
            check_memory(func, target, kind)?;
            if let LoopKind::ThreadBinding(axis) = kind {
                check_axis(func, target, axis)?;
            }
        }
        Ok(Self { target, kind })
    }

    pub(super) fn apply(self, func: &mut PrimFunc) {
        func.loops[self.target].kind = self.kind;
    }
}

/// Refuses a loop that is part of an iter variable whose values may not be taken at the same time.
fn check_iter_kinds(func: &PrimFunc, target: LoopId, kind: LoopKind) -> Result<(), Refusal> {
    let var = &func.loops[target].var;
    let reduces = matches!(kind, LoopKind::ThreadBinding(axis) if axis.is_thread());
    for block in func.blocks_under(target.into()) {
        let node = &func.blocks[block];
        check_affine_below(func, block, target.into())?;
        let mut driven = Vec::new();
        for (iter, binding) in node.iters.iter().zip(&node.bindings) {
            if !binding.uses(var) {
                continue;
            }
            driven.push(iter.kind);
            let allowed = match iter.kind {
                IterKind::Spatial => true,
                IterKind::Reduce => reduces,
                IterKind::Scan | IterKind::Opaque => false,
            };
            if !allowed {
                let reason = Reason::WrongBlockIterKind {
                    var: var.name().to_owned(),
                    kind: describe(kind),
                    iter: iter.var.name().to_owned(),
                    block: node.name.clone(),
                };
                return Err(reason.at([Place::Loop(target), Place::Block(block)]));
            }
        }
        if driven.contains(&IterKind::Spatial) && driven.contains(&IterKind::Reduce) {
            let reason = Reason::MixedLoop {
                var: var.name().to_owned(),
                kind: describe(kind),
                block: node.name.clone(),
            };
            return Err(reason.at([Place::Loop(target), Place::Block(block)]));
        }
    }
    Ok(())
}

/// Refuses a loop whose iterations would compute different values in the same memory at the same time.
fn check_memory(func: &PrimFunc, target: LoopId, kind: LoopKind) -> Result<(), Refusal> {
    let var = &func.loops[target].var;
    let owned = |buffer: &Buffer| match kind {
        LoopKind::ThreadBinding(axis) => is_private(buffer.scope(), axis),
        LoopKind::Serial | LoopKind::Parallel | LoopKind::Vectorized | LoopKind::Unrolled => false,
    };
    let blocks = func.child_blocks(target.into()).into_iter();
    let blocks: Vec<BlockId> = blocks.flat_map(|id| accessing_blocks(func, id)).collect();
    for &block in &blocks {
        let node = &func.blocks[block];
        // The same sum in each iteration: harmless one after the other, but each begins with an init.
        let same_sums = !node.bindings.iter().any(|e| e.uses(var))
            && func
                .blocks_under(block.into())
                .iter()
                .any(|&b| func.blocks[b].init.is_some());
        if same_sums && !node.writes.iter().all(|w| owned(&w.buffer)) {
            let reason = Reason::RepeatedReduction {
                var: var.name().to_owned(),
                kind: describe(kind),
                block: node.name.clone(),
            };
            return Err(reason.at([Place::Loop(target), Place::Block(block)]));
        }
        // What passes from block to block in an iteration is no part of a sum over all, and either its own or the same in all.
        for read in &node.reads {
            let is_partial = |&&other: &&BlockId| {
                let mut writes = func.blocks[other].writes.iter();
                other != block
                    && writes.any(|w| w.buffer == read.buffer)
                    && drives_reduction(func, other, target)
            };
            let partial = blocks.iter().find(is_partial).copied();
            let own = owned(&read.buffer) || is_used_only_below(func, target, &read.buffer);
            let keeps_apart = |writer| writer == block && is_apart(func, block, &[target]);
            let overwritten =
                || overwriter(func, target, &read.buffer, &keeps_apart).filter(|_| !own);
            if let Some(writer) = partial.or_else(overwritten) {
                let reason = Reason::IterationsDepend {
                    var: var.name().to_owned(),
                    block: node.name.clone(),
                    other: func.blocks[writer].name.clone(),
                };
                return Err(reason.at([target.into(), block.into(), writer.into()]));
            }
        }
    }
    Ok(())
}

/// Whether the buffer is a temporary of constant size of which nothing outside the loop knows: lowering gives each iteration one
/// of its own.
fn is_used_only_below(func: &PrimFunc, target: LoopId, buffer: &Buffer) -> bool {
    if buffer
        .shape()
        .iter()
        .any(|extent| extent.as_int().is_none())
    {
        return false;
    }
    let blocks = func.blocks_under(func.root.into());
    let is_allocated = |b: &&BlockId| func.blocks[**b].alloc_buffers.contains(buffer);
    let Some(&home) = blocks.iter().find(is_allocated) else {
        return false;
    };
    let uses = |id: BlockId| {
        let node = &func.blocks[id];
        let mut regions = node.reads.iter().chain(&node.writes);
        regions.any(|r| r.buffer == *buffer)
    };
    let inside = |id: BlockId| func.tree.is_ancestor(target, id);
    let around = |id: BlockId| func.tree.is_ancestor(id, home);
    blocks
        .iter()
        .all(|&id| inside(id) || around(id) || !uses(id))
}

/// Refuses a second loop on a launch axis if a block depends on it and on the first one: the axis has one value in a thread.
/// Where a block depends on one of them only, as a copy that the threads make together, the other repeats it.
fn check_axis(func: &PrimFunc, target: LoopId, axis: ThreadAxis) -> Result<(), Refusal> {
    let on_axis = |id: &LoopId| {
        let l = &func.loops[*id];
        l.kind == LoopKind::ThreadBinding(axis) && !l.extent.is_one()
    };
    for block in func.child_blocks(target.into()) {
        let node = &func.blocks[block];
        let depends = |var: &Var| {
            let mut exprs = node.bindings.iter().chain([&node.predicate]);
            exprs.any(|e| e.uses(var))
        };
        let loops = func.loops_above(block.into());
        let mut others = loops.iter().filter(|id| **id != target && on_axis(id));
        let both = depends(&func.loops[target].var);
        if let Some(&other) = others.find(|id| both && depends(&func.loops[**id].var)) {
            let is_outer = func.tree.is_ancestor(other, target);
            let (outer, inner) = if is_outer {
                (other, target)
            } else {
                (target, other)
            };
            let name = |id: LoopId| func.loops[id].var.name().to_owned();
            let reason = Reason::AxisBoundTwice {
                outer: name(outer),
                inner: name(inner),
                axis: axis.name(),
                block: node.name.clone(),
            };
            return Err(reason.at([target.into(), other.into(), block.into()]));
        }
    }
    Ok(())
}

fn describe(kind: LoopKind) -> String {
    match kind {
        LoopKind::Serial => "made serial".to_owned(),
        LoopKind::Parallel => "made parallel".to_owned(),
        LoopKind::Vectorized => "made vectorized".to_owned(),
        LoopKind::Unrolled => "unrolled".to_owned(),
        LoopKind::ThreadBinding(axis) => format!("bound to {}", axis.name()),
    }
}
