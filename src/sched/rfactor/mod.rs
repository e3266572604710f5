//! `rfactor`: the iterations of one loop of a reduction are summed apart, and then the partial sums. The loop is a dimension of
//! these then, so it can be made parallel.
//!
//! ```text
//! for i, ko, ki in T.grid(16, 4, 8):          for i, ko, ki in T.grid(16, 4, 8):
//!     with T.block("B"):                          with T.block("B_rf"):
//!         vi = T.axis.spatial(16, i)                  vko, vi, vki = T.axis.remap("SSR", [ko, i, ki])
//!         vk = T.axis.reduce(32, ko * 8 + ki)         with T.init():
//!         with T.init():                                  B_rf[vko, vi] = T.float32(0)
//!             B[vi] = T.float32(0)                    B_rf[vko, vi] = B_rf[vko, vi] + A[vi, vko * 8 + vki]
//!         B[vi] = B[vi] + A[vi, vk]           for i, ko in T.grid(16, 4):
//!                                                 with T.block("B"):
//!                                                     vko, vi = T.axis.remap("RS", [ko, i])
//!                                                     with T.init():
//!                                                         B[vi] = T.float32(0)
//!                                                     B[vi] = B[vi] + B_rf[vko, vi]
//! ```
//!
//! above with the loop `ko` and factor axis 0.
//!
//! Requires: a stage pipeline; a reduction block that adds, multiplies, or takes the least or greatest, from the identity of the
//! operator on, with one store, or one that chooses several elements together by an order, as the index and the value of an argmax
//! ([`Reduction`](crate::ir::Reduction)); it is the only block below the loop, and the first below the outermost loop around it; the
//! loop is serial, and of the loops around the block each is part of spatial or of reduce iter variables only. Each partial sum has a
//! first iteration. Meaning is kept: the operators are associative and commutative, apart from rounding. TVM writes
//! elements that the predicate leaves out, and adds partial sums that have no init.

mod blocks;
mod update;

use self::update::Update;
use super::analysis::{check_reduction_block, check_stage_pipeline, facts_at};
use super::body::{insert_at, position_of};
use super::error::{BlocksReason, ReductionReason};
use super::{Arg, Refusal, Schedule, ScheduleError, attached_loop};
use crate::ir::{BlockId, BufferRegion, Expr, IterKind, LoopId, LoopKind, Place, PrimFunc};

impl Schedule {
    /// Sums the iterations of a loop apart, in a buffer with a dimension more, and adds these partial sums in the block. Gives
    /// the block that computes the partial sums. `factor_axis` is the position of the new dimension, counted from the end if
    /// negative.
    ///
    /// # Errors
    /// If a rule of the module's documentation is broken.
    pub fn rfactor(&mut self, target: LoopId, factor_axis: i64) -> Result<BlockId, ScheduleError> {
        let plan = Plan::check(&self.func, target, factor_axis).map_err(|r| r.of("rfactor"))?;
        let args = vec![target.into(), Arg::Int(factor_axis)];
        Ok(self.record("rfactor", args, |func| plan.apply(func)))
    }
}

struct Plan {
    target: LoopId,
    block: BlockId,
    scope: BlockId,
    /// The loops around the block, outermost first.
    loops: Vec<LoopId>,
    /// Those of them that only the partial sums have.
    summed: Vec<LoopId>,
    update: Update,
    axis: usize,
    /// The conditions of the predicate that choose elements.
    spatial: Expr,
}

impl Plan {
    fn check(func: &PrimFunc, target: LoopId, factor_axis: i64) -> Result<Self, Refusal> {
        let l = attached_loop(func, target)?;
        let children = func.child_blocks(target.into());
        let &[block] = &children[..] else {
            let reason = BlocksReason::NotSingleChildBlock {
                var: l.var.name().to_owned(),
                count: children.len(),
            };
            return Err(reason.at([target.into()]));
        };
        let scope = func
            .scope_block(block.into())
            .expect("a block under a loop has a scope");
        check_stage_pipeline(func, scope)?;
        check_reduction_block(func, block, scope.into())?;
        let var = || l.var.name().to_owned();
        if l.kind != LoopKind::Serial {
            return Err(ReductionReason::NotSerial { var: var() }.at([target.into()]));
        }
        let loops = func.loops_above(block.into());
        let summed = check_loops(func, target, block, &loops)?;
        let depends = |e: &Expr| loops.iter().any(|&l| e.uses(&func.loops[l].var));
        if !l.min.is_zero() || depends(&l.extent) {
            return Err(ReductionReason::NotADimension { var: var() }.at([target.into()]));
        }
        let update = Update::check(func, block)?;
        let dimensions = update.targets[0].ndim();
        let axis = match usize::try_from(factor_axis) {
            Ok(axis) => Some(axis),
            Err(_) => (dimensions + 1).checked_add_signed(factor_axis as isize),
        };
        let Some(axis) = axis.filter(|&axis| axis <= dimensions) else {
            let reason = ReductionReason::FactorAxisOutOfRange {
                buffer: update.targets[0].name().to_owned(),
                axis: factor_axis,
                dimensions,
            };
            return Err(reason.at([block.into()]));
        };
        let spatial = check_first_iterations(func, target, block, &summed)?;
        check_inputs(func, block, loops[0])?;
        let kept = |l: &LoopId| *l != target;
        Ok(Self {
            target,
            block,
            scope,
            summed: summed.into_iter().filter(kept).collect(),
            loops,
            update,
            axis,
            spatial,
        })
    }

    fn apply(self, func: &mut PrimFunc) -> BlockId {
        let partial = self.partial_buffers(func);
        let top = Place::Loop(self.loops[0]);
        let (rf, stmt) = self.make_partial(func, &partial);
        self.make_total(func, &partial);
        for &l in &self.summed {
            // The loops that hold only the block and loops of its own vanish around it.
            let body = func.tree.take_body(l);
            func.tree.replace(l, body);
            func.loops.remove(l);
        }
        let top = match self.summed.contains(&self.loops[0]) {
            false => top,
            true => {
                let left = self.loops.iter().find(|l| !self.summed.contains(l));
                Place::Loop(*left.unwrap_or(&self.target))
            }
        };
        if let Some(parent) = func.tree.parent(top)
            && let Some(at) = position_of(func, parent, top)
        {
            insert_at(func, parent, at, stmt);
        }
        func.blocks[self.scope].alloc_buffers.extend(partial);
        rf
    }
}

/// Refuses loops around the block that cannot be taken apart; gives those that reduce iter variables depend on.
fn check_loops(
    func: &PrimFunc,
    target: LoopId,
    block: BlockId,
    loops: &[LoopId],
) -> Result<Vec<LoopId>, Refusal> {
    let node = &func.blocks[block];
    let name = || node.name.clone();
    let var = |l: LoopId| func.loops[l].var.name().to_owned();
    let top = loops[0];
    if func.child_blocks(top.into()).first() != Some(&block) {
        let reason = ReductionReason::NotFirstChildBlock {
            var: var(top),
            block: name(),
        };
        return Err(reason.at([top.into(), block.into()]));
    }
    let drives = |l: LoopId, kind: IterKind| {
        let mut pairs = node.iters.iter().zip(&node.bindings);
        pairs.any(|(iter, e)| iter.kind == kind && e.uses(&func.loops[l].var))
    };
    let mut summed = Vec::new();
    for &l in loops {
        let here = [Place::Loop(l), Place::Block(block)];
        let names = || (var(l), name());
        match (drives(l, IterKind::Spatial), drives(l, IterKind::Reduce)) {
            (true, true) => {
                let (var, block) = names();
                return Err(ReductionReason::MixedLoop { var, block }.at(here));
            }
            (true, false) if l == target => {
                let (var, block) = names();
                return Err(ReductionReason::SpatialLoop { var, block }.at(here));
            }
            (true, false) => {}
            (false, true) => {
                let children = func.child_blocks(l.into());
                if children.len() != 1 {
                    let reason = BlocksReason::NotSingleChildBlock {
                        var: var(l),
                        count: children.len(),
                    };
                    return Err(reason.at(here));
                }
                summed.push(l);
            }
            (false, false) if !summed.is_empty() && !func.loops[l].extent.is_one() => {
                let (var, block) = names();
                return Err(ReductionReason::UnboundLoop { var, block }.at(here));
            }
            (false, false) => {}
        }
    }
    Ok(summed)
}

/// Refuses a predicate that may leave out the first iteration of a partial sum. Gives the conditions that choose elements.
fn check_first_iterations(
    func: &PrimFunc,
    target: LoopId,
    block: BlockId,
    summed: &[LoopId],
) -> Result<Expr, Refusal> {
    let node = &func.blocks[block];
    let is_summed = |cond: &Expr| {
        let mut loops = summed.iter().chain([&target]);
        loops.any(|&l| cond.uses(&func.loops[l].var))
    };
    let conditions = node.predicate.conjuncts();
    let (summing, spatial): (Vec<Expr>, Vec<Expr>) = conditions.into_iter().partition(is_summed);
    let spatial = Expr::all(spatial);
    let mut facts = facts_at(func, Place::Block(block));
    facts.assume(&spatial);
    for cond in summing {
        let first = cond.substitute(&|var| {
            let mut loops = summed.iter().filter(|&&l| l != target);
            let l = loops.find(|&&l| func.loops[l].var == *var)?;
            Some(func.loops[*l].min.clone())
        });
        if !facts.can_prove(&first) {
            let reason = ReductionReason::PartialSumWithoutInit {
                block: node.name.clone(),
                predicate: first,
            };
            return Err(reason.at([block.into(), target.into()]));
        }
    }
    Ok(spatial)
}

/// Refuses if another block below the outermost loop overwrites what the block reads: all partial sums come first.
fn check_inputs(func: &PrimFunc, block: BlockId, top: LoopId) -> Result<(), Refusal> {
    let node = &func.blocks[block];
    for other in func.blocks_under(top.into()) {
        let overwrites = |write: &BufferRegion| {
            let mut reads = node.reads.iter();
            reads.any(|read| read.buffer == write.buffer)
        };
        if other != block && func.blocks[other].writes.iter().any(overwrites) {
            let reason = ReductionReason::InputOverwritten {
                block: node.name.clone(),
                other: func.blocks[other].name.clone(),
            };
            return Err(reason.at([block.into(), other.into()]));
        }
    }
    Ok(())
}
