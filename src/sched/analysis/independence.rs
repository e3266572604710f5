//! What iterations of a loop have to do with each other: values that one computes and another one uses, and elements that they overwrite.

use super::block_kind::runs_in_any_order;
use super::scope::{BlockScope, DependencyKind, accessing_blocks};
use super::stage_pipeline::uncovered;
use crate::arith::iter_map::{IterMapLevel, UnitIters, detect_iter_map};
use crate::ir::{
    BlockId, Buffer, BufferRegion, Expr, IterKind, IterVar, LoopId, PrimFunc, Range, Var,
};
use crate::sched::affine::shape_facts;
use crate::sched::{Reason, Refusal};

/// Refuses a chain of loops, outermost first, of which an iteration uses what another one computes, or overwrites what another
/// one reads: the blocks below, if several, must depend on each other within an iteration of the innermost loop only.
///
/// # Errors
/// TVM: `NotStagePipelineError`, for the scope around the loops.
pub fn check_independent_iterations(func: &PrimFunc, chain: &[LoopId]) -> Result<(), Refusal> {
    let Some(&target) = chain.last() else {
        return Ok(());
    };
    let graph = BlockScope::of(func, target.into());
    let refuse = |block: BlockId, other: BlockId| {
        let reason = Reason::IterationsDepend {
            var: func.loops[target].var.name().to_owned(),
            block: func.blocks[block].name.clone(),
            other: func.blocks[other].name.clone(),
        };
        Err(reason.at([target.into(), block.into(), other.into()]))
    };
    for edge in graph.dependencies() {
        if edge.src == edge.dst && is_apart(func, edge.src, chain) {
            continue;
        }
        let reads = graph.readers_after(edge.src).contains(&edge.dst);
        match edge.kind {
            DependencyKind::ReadAfterWrite => {
                // Who runs with each term has the sum in the end; who tells terms apart has sums of the first of them.
                let tells_apart = |id: LoopId| {
                    let blocks = accessing_blocks(func, edge.dst).into_iter();
                    let mut bindings = blocks.flat_map(|block| &func.blocks[block].bindings);
                    bindings.any(|e| e.uses(&func.loops[id].var))
                };
                let sums = |id: LoopId| {
                    let mut blocks = accessing_blocks(func, edge.src).into_iter();
                    blocks.any(|block| drives_reduction(func, block, id))
                };
                let partial = chain.iter().any(|&id| sums(id) && tells_apart(id));
                let producers = graph.written_before(edge.dst);
                if partial || uncovered(func, edge.dst, &producers).is_some() {
                    return refuse(edge.dst, edge.src);
                }
            }
            // An update continues what its init began in the same iteration.
            DependencyKind::WriteAfterWrite if reads => {}
            DependencyKind::WriteAfterWrite | DependencyKind::WriteAfterRead => {
                return refuse(edge.dst, edge.src);
            }
        }
    }
    Ok(())
}

/// Whether the block is annotated `any_order` and these loops drive spatial iter variables alone: no iteration then reads or writes an
/// element that another one writes. Callers have checked that bindings are affine, so that two iterations have different values of
/// these variables.
pub fn is_apart(func: &PrimFunc, block: BlockId, chain: &[LoopId]) -> bool {
    let node = &func.blocks[block];
    let is_spatial = |id: &LoopId| {
        let var = &func.loops[*id].var;
        let mut driven = node
            .iters
            .iter()
            .zip(&node.bindings)
            .filter(|(_, e)| e.uses(var));
        let first = driven.next();
        let is_spatial = |(iter, _): (&IterVar, &Expr)| iter.kind == IterKind::Spatial;
        first.is_some_and(is_spatial) && driven.all(is_spatial)
    };
    runs_in_any_order(func, block) && chain.iter().all(is_spatial)
}

/// Refuses to take a block out of loops in other iterations of which something overwrites what it reads. `stays` tells the loops
/// that are around it afterwards as well.
pub fn check_inputs_outlive(
    func: &PrimFunc,
    block: BlockId,
    stays: &dyn Fn(LoopId) -> bool,
) -> Result<(), Refusal> {
    let node = &func.blocks[block];
    for id in func.loops_above(block.into()) {
        if stays(id) || func.loops[id].extent.is_one() {
            continue;
        }
        let mut writers = node
            .reads
            .iter()
            .map(|r| overwriter(func, id, &r.buffer, &|_| false));
        if let Some(other) = writers.find_map(|writer| writer) {
            let reason = Reason::InputOverwritten {
                block: node.name.clone(),
                other: func.blocks[other].name.clone(),
            };
            return Err(reason.at([block.into(), other.into()]));
        }
    }
    Ok(())
}

/// The block below the loop that may give an element of the buffer another value in another iteration, if there is one.
///
/// Writers that keep to elements of their own in each iteration, as the caller knows, are none.
///
/// None is known to if each element determines the values of the spatial iter variables of its writers, if the loop does not
/// count the terms of a sum, and if what the writers read is not overwritten in turn: then an iteration that writes the element
/// again writes the same.
pub fn overwriter(
    func: &PrimFunc,
    target: LoopId,
    buffer: &Buffer,
    keeps_apart: &dyn Fn(BlockId) -> bool,
) -> Option<BlockId> {
    let graph = BlockScope::of(func, target.into());
    let mut buffers = vec![buffer.clone()];
    let mut at = 0;
    while let Some(buffer) = buffers.get(at).cloned() {
        at += 1;
        let writers = graph.writers(&buffer).iter();
        for writer in writers.flat_map(|&id| accessing_blocks(func, id)) {
            let node = &func.blocks[writer];
            let mut writes = node.writes.iter().filter(|w| w.buffer == buffer);
            if keeps_apart(writer) {
                continue;
            }
            if drives_reduction(func, writer, target)
                || !writes.all(|write| determines_iters(func, writer, write))
            {
                return Some(writer);
            }
            for read in &node.reads {
                if !buffers.contains(&read.buffer) {
                    buffers.push(read.buffer.clone());
                }
            }
        }
    }
    None
}

/// Whether an iteration of the loop adds to what earlier ones made of the block's output.
pub fn drives_reduction(func: &PrimFunc, block: BlockId, id: LoopId) -> bool {
    let node = &func.blocks[block];
    let mut iters = node.iters.iter().zip(&node.bindings);
    iters.any(|(iter, e)| iter.kind != IterKind::Spatial && e.uses(&func.loops[id].var))
}

/// Whether instances of the block with different spatial iter variables are known to write different elements.
pub fn writes_elements_apart(func: &PrimFunc, block: BlockId) -> bool {
    let mut writes = func.blocks[block].writes.iter();
    writes.all(|write| determines_iters(func, block, write))
}

/// Whether instances of the block with different spatial iter variables write different elements of this region.
fn determines_iters(func: &PrimFunc, block: BlockId, write: &BufferRegion) -> bool {
    let iters = func.blocks[block].iters.iter();
    let moving = iters.filter(|iter| iter.kind == IterKind::Spatial && !iter.dom.extent.is_one());
    let inputs: Vec<(Var, Range)> = moving
        .map(|iter| (iter.var.clone(), iter.dom.clone()))
        .collect();
    let indices: Vec<Expr> = write.region.iter().map(|r| r.min.clone()).collect();
    let mut others = func.blocks[block].iters.iter();
    if others.any(|i| i.kind != IterKind::Spatial && indices.iter().any(|e| e.uses(&i.var))) {
        return false;
    }
    let facts = shape_facts(func);
    let (truth, level) = (Expr::bool(true), IterMapLevel::Bijective);
    let map = detect_iter_map(
        &facts,
        &indices,
        &inputs,
        &truth,
        level,
        UnitIters::Simplify,
    );
    map.is_ok_and(|map| {
        let apart =
            |extent: &Expr, scale: &Expr| extent.is_one() || facts.can_prove(&scale.ge(extent));
        let mut dims = map.indices.iter().zip(&write.region);
        dims.all(|(sum, range)| sum.args.iter().all(|arg| apart(&range.extent, &arg.scale)))
    })
}
