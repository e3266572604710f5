//! `blockize`: a loop and what is below it become the body of a new block. What is inside is one unit to later primitives, as
//! an instruction that computes a tile is.
//!
//! ```text
//! for i, k in T.grid(16, 64):                 for i in range(16):
//!     with T.block("B"):                          with T.block("B_o"):
//!         vi, vk = T.axis.remap("SR", [i, k])         vi_o = T.axis.spatial(16, i)
//!         with T.init():                              vk_o = T.axis.reduce(1, 0)
//!             B[vi] = T.float32(0)                    with T.init():
//!         B[vi] = B[vi] + A[vi, vk]                       with T.block("B_init"):
//!                                                             B[vi_o] = T.float32(0)
//!                                                     for k in range(64):
//!                                                         with T.block("B"):
//!                                                             vk_i = T.axis.reduce(64, k)
//!                                                             B[vi_o] = B[vi_o] + A[vi_o, vk_i]
//! ```
//!
//! above with the loop `k`. Several blocks that follow each other become one block in the same way.
//!
//! Requires: exactly one block directly below the loop and nothing outside of blocks; each binding is a value of the loops
//! outside times an extent plus a value of the loops inside; no condition of the predicate is about both. A block with an init has
//! each of its elements once in the loops inside. Meaning is kept: the same instances run in the same order, but that the init
//! of all elements of a new instance comes before its first update. TVM gives an iter variable of one value the value 0,
//! forgets conditions on a single loop, and does not ask whether an init runs more than once.

mod blocks;
mod cut;
mod init;

use self::cut::Cut;
use super::analysis::check_only_blocks;
use super::error::BlocksReason;
use super::{Arg, Refusal, Schedule, ScheduleError, attached_loop};
use crate::arith::iter_map::UnitIters;
use crate::ir::{Block, BlockId, LoopId, Place, PrimFunc, Stmt};

impl Schedule {
    /// Makes a loop and what is below it the body of a new block, which is given back.
    ///
    /// # Errors
    /// If a rule of the module's documentation is broken.
    pub fn blockize(&mut self, target: LoopId, units: UnitIters) -> Result<BlockId, ScheduleError> {
        let plan = Plan::check(&self.func, target, units).map_err(|r| r.of("blockize"))?;
        let args = vec![target.into(), units.into()];
        Ok(self.record("blockize", args, |func| plan.apply(func)))
    }

    /// Makes blocks that stand one after the other, with the loops that each has for itself, the body of a new block, which is
    /// given back.
    ///
    /// # Errors
    /// If a rule of the module's documentation is broken, a block has an init, or the blocks do not have the same iterations
    /// outside.
    pub fn blockize_blocks(
        &mut self,
        blocks: &[BlockId],
        units: UnitIters,
    ) -> Result<BlockId, ScheduleError> {
        let plan = blocks::Plan::check(&self.func, blocks, units).map_err(|r| r.of("blockize"))?;
        let args = vec![Arg::from(blocks), units.into()];
        Ok(self.record("blockize", args, |func| plan.apply(func)))
    }
}

/// A loop that may become the body of a block.
pub(super) struct Plan {
    target: LoopId,
    block: BlockId,
    inner_loops: Vec<LoopId>,
    cut: Cut,
}

impl Plan {
    pub(super) fn check(
        func: &PrimFunc,
        target: LoopId,
        units: UnitIters,
    ) -> Result<Self, Refusal> {
        let node = attached_loop(func, target)?;
        let blocks = func.child_blocks(target.into());
        let &[block] = &blocks[..] else {
            let reason = BlocksReason::NotSingleChildBlock {
                var: node.var.name().to_owned(),
                count: blocks.len(),
            };
            let places = blocks.into_iter().map(Place::from);
            return Err(reason.at([Place::Loop(target)].into_iter().chain(places)));
        };
        check_only_blocks(func, target.into())?;
        let loops = func.loops_above(block.into());
        let at = loops.iter().position(|&l| l == target);
        let (outer, inner) = loops.split_at(at.expect("the block is below the loop"));
        check_own_bounds(func, block, outer, inner)?;
        let cut = Cut::check(func, block, outer, inner, units, None)?;
        if func.blocks[block].init.is_some() {
            init::check(func, block, inner, &cut)?;
        }
        Ok(Self {
            target,
            block,
            inner_loops: inner.to_vec(),
            cut,
        })
    }

    /// Puts the new block in and gives it.
    pub(super) fn apply(self, func: &mut PrimFunc) -> BlockId {
        let Self {
            target,
            block,
            inner_loops,
            cut,
        } = self;
        cut.apply_inner(func, block, &cut.outer);
        let node = &func.blocks[block];
        let reads = cut.over_inner(func, &node.reads);
        let writes = cut.over_inner(func, &node.writes);
        let name = node.name.clone();
        let node = &mut func.blocks[block];
        let init = node.init.take();
        if init.is_some() && cut.reduces_outside() {
            let all = node.writes.iter().chain(&node.reads);
            node.reads = all.cloned().collect();
        }
        let init = init.map(|init| vec![init::build(func, block, &inner_loops, init)]);
        let outer = func.blocks.push(Block {
            iters: cut.outer.iter().map(|b| b.iter.clone()).collect(),
            bindings: cut.outer.iter().map(|b| b.binding.clone()).collect(),
            predicate: cut.outer_predicate,
            reads,
            writes,
            init,
            ..Block::named(format!("{name}_o"))
        });
        func.tree.replace(target, vec![Stmt::Block(outer)]);
        func.tree.set_body(outer, vec![Stmt::Loop(target)]);
        outer
    }
}

/// Refuses inner loops whose bounds use variables of outer ones: these are no longer seen in the new block.
fn check_own_bounds(
    func: &PrimFunc,
    block: BlockId,
    outer: &[LoopId],
    inner: &[LoopId],
) -> Result<(), Refusal> {
    for &l in inner {
        let node = &func.loops[l];
        let uses = |o: &LoopId| {
            let var = &func.loops[*o].var;
            node.min.uses(var) || node.extent.uses(var)
        };
        if outer.iter().any(uses) {
            let name = func.blocks[block].name.clone();
            let reason = BlocksReason::NotDivisible { block: name };
            return Err(reason.at([block.into(), l.into()]));
        }
    }
    Ok(())
}
