//! Steps that several rules share.

use super::DeclineReason;
use crate::ir::{BlockId, IterKind, LoopId, PrimFunc, Var};
use crate::sched::Schedule;
use crate::tensor::DType;

/// The loops around a block by what their iterations mean to each other.
pub(super) struct Nest {
    /// Independent iterations.
    pub(super) spatial: Vec<LoopId>,
    /// Combined iterations.
    pub(super) reduce: Vec<LoopId>,
}

/// Sorts the loops around a block: spatial ones outside, reduce ones inside. Declines a loop that is both.
pub(super) fn sort_loops(schedule: &mut Schedule, block: BlockId) -> Result<Nest, DeclineReason> {
    let loops = schedule.get_loops(block)?;
    let (reduce, spatial): (Vec<_>, Vec<_>) = loops
        .iter()
        .partition(|&&l| drives(schedule.func(), block, l, IterKind::Reduce));
    if reduce
        .iter()
        .any(|&l| drives(schedule.func(), block, l, IterKind::Spatial))
    {
        return Err(DeclineReason::Pattern(
            "a loop is part of spatial and of reduce iter variables",
        ));
    }
    let sorted: Vec<LoopId> = spatial.iter().chain(&reduce).copied().collect();
    if sorted != loops {
        schedule.reorder(&sorted)?;
    }
    Ok(Nest { spatial, reduce })
}

/// Whether iter variables of this kind depend on the loop.
pub(super) fn drives(func: &PrimFunc, block: BlockId, l: LoopId, kind: IterKind) -> bool {
    let (block, var) = (&func.blocks[block], &func.loops[l].var);
    block
        .iters
        .iter()
        .zip(&block.bindings)
        .any(|(iter, binding)| iter.kind == kind && binding.uses(var))
}

/// Fuses loops into one; makes one of extent 1 above the block if there are none.
pub(super) fn fuse_all(
    schedule: &mut Schedule,
    block: BlockId,
    loops: &[LoopId],
) -> Result<LoopId, DeclineReason> {
    match loops {
        [] => {
            let inner = schedule.get_loops(block)?;
            Ok(match inner.first() {
                Some(&top) => schedule.add_unit_loop(top)?,
                None => schedule.add_unit_loop(block)?,
            })
        }
        [one] => Ok(*one),
        many => Ok(schedule.fuse(many)?),
    }
}

/// Variables that stand for the iter variables of a block in a map.
pub(super) fn params(func: &PrimFunc, block: BlockId) -> Vec<Var> {
    let iters = func.blocks[block].iters.iter();
    iters
        .map(|iter| Var::new(iter.var.name(), DType::I64))
        .collect()
}
