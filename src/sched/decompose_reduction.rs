//! `decompose_reduction`: the init of a reduction becomes a block of its own, before a loop.
//!
//! ```text
//! for i, k in T.grid(16, 60):                 for i_init in range(16):
//!     with T.block("B"):                          with T.block("B_init"):
//!         vi, vk = T.axis.remap("SR", [i, k])         vi = T.axis.spatial(16, i_init)
//!         with T.init():                              B[vi] = T.float32(0)
//!             B[vi] = T.float32(0)            for i, k in T.grid(16, 60):
//!         B[vi] = B[vi] + A[vi, vk]               with T.block("B_update"):
//!                                                     vi, vk = T.axis.remap("SR", [i, k])
//!                                                     B[vi] = B[vi] + A[vi, vk]
//! ```
//!
//! Requires: a reduction block, and a loop above it that is not below a loop which a reduce iter variable is bound to, and that
//! holds nothing outside of blocks; no loop from there on repeats all of a sum, as one that no iter variable is bound to does;
//! the predicate holds in the iteration in which the init runs.
//! Meaning is kept: every element that an iteration of the loop updates is initialised before the loop begins, and no update
//! comes earlier. TVM adds repeated sums up.

use super::analysis::{check_only_blocks, check_reduction_block, facts_at};
use super::{
    Reason, ReductionReason, Refusal, Schedule, ScheduleError, attached_block, attached_loop,
};
use crate::arith::access_regions;
use crate::ir::{
    Attrs, Block, BlockId, InitNest, IterKind, IterVar, Loop, LoopId, Place, PrimFunc, Stmt, Var,
};

impl Schedule {
    /// Splits a reduction block into one that initialises, put before the loop and given back, and one that updates, which
    /// keeps the handle.
    ///
    /// # Errors
    /// If a rule of the module's documentation is broken.
    pub fn decompose_reduction(
        &mut self,
        block: BlockId,
        before: LoopId,
    ) -> Result<BlockId, ScheduleError> {
        let plan = Plan::check(&self.func, block, before)
            .map_err(|refusal| refusal.of("decompose_reduction"))?;
        let args = vec![block.into(), before.into()];
        Ok(self.record("decompose_reduction", args, |func| plan.apply(func)))
    }
}

/// Refuses a predicate that may leave out the iteration in which the init runs: the element would keep its value.
fn check_first_iteration(
    func: &PrimFunc,
    block: BlockId,
    inside: &[LoopId],
    nest: &InitNest,
) -> Result<(), Refusal> {
    let node = &func.blocks[block];
    let dropped: Vec<&Loop> = inside
        .iter()
        .filter(|id| !nest.loops.contains(id))
        .map(|&id| &func.loops[id])
        .collect();
    let mut facts = facts_at(func, Place::Block(block));
    facts.assume(&nest.predicate);
    for cond in node.predicate.conjuncts() {
        let first = cond.substitute(&|var| {
            let found = dropped.iter().find(|l| l.var == *var);
            found.map(|l| l.min.clone())
        });
        if dropped.iter().any(|l| cond.uses(&l.var)) && !facts.can_prove(&first) {
            let reason = ReductionReason::FirstIterationLeftOut {
                block: node.name.clone(),
                predicate: first,
            };
            return Err(reason.at([block.into()]));
        }
    }
    Ok(())
}

struct Plan {
    block: BlockId,
    before: LoopId,
    nest: InitNest,
}

impl Plan {
    fn check(func: &PrimFunc, block: BlockId, before: LoopId) -> Result<Self, Refusal> {
        let node = attached_block(func, block)?;
        attached_loop(func, before)?;
        let loops = func.loops_above(block.into());
        let here = [before.into(), block.into()];
        let Some(at) = loops.iter().position(|&id| id == before) else {
            let reason = Reason::LoopNotAboveBlock {
                var: func.loops[before].var.name().to_owned(),
                block: node.name.clone(),
            };
            return Err(reason.at(here));
        };
        let scope = func
            .scope_block(block.into())
            .expect("a block under a loop has a scope");
        check_reduction_block(func, block, scope.into())?;
        check_only_blocks(func, before.into())?;
        for (iter, binding) in node.iters.iter().zip(&node.bindings) {
            let higher = loops[..at].iter().map(|&id| &func.loops[id].var);
            if iter.kind == IterKind::Reduce && higher.clone().any(|v| binding.uses(v)) {
                let reason = Reason::LoopBelowReduceLoop {
                    var: func.loops[before].var.name().to_owned(),
                    block: node.name.clone(),
                };
                return Err(reason.at(here));
            }
        }
        let repeats = |id: &&LoopId| {
            let l = &func.loops[**id];
            !l.extent.is_one() && !node.bindings.iter().any(|binding| binding.uses(&l.var))
        };
        if let Some(&id) = loops[at..].iter().find(repeats) {
            let reason = ReductionReason::Repeated {
                var: func.loops[id].var.name().to_owned(),
                block: node.name.clone(),
            };
            return Err(reason.at([id.into(), block.into()]));
        }
        let nest = func.init_nest(block, before);
        check_first_iteration(func, block, &loops[at..], &nest)?;
        Ok(Self {
            block,
            before,
            nest,
        })
    }

    fn apply(self, func: &mut PrimFunc) -> BlockId {
        let init = self.make_init(func);
        let mut stmt = Stmt::Block(init);
        let mut renamed: Vec<(Var, Var)> = Vec::new();
        for &id in self.nest.loops.iter().rev() {
            let old: Loop = func.loops[id].clone();
            let var = old.var.renamed(format!("{}_init", old.var.name()));
            renamed.push((old.var.clone(), var.clone()));
            let new = func.loops.push(Loop { var, ..old });
            func.tree.set_body(new, vec![stmt]);
            stmt = Stmt::Loop(new);
        }
        let top = match stmt {
            Stmt::Loop(id) => Place::Loop(id),
            _ => Place::Block(init),
        };
        func.substitute_below(top, &|v| {
            let found = renamed.iter().find(|(old, _)| old == v);
            found.map(|(_, new)| new.expr())
        });
        let update = &mut func.blocks[self.block];
        update.name.push_str("_update");
        update.init = None;
        let read = |buffer| update.reads.iter().any(|r| r.buffer == buffer);
        let mut reads = update.writes.clone();
        reads.retain(|w| !read(w.buffer.clone()));
        reads.append(&mut update.reads);
        update.reads = reads;
        let both = vec![top.stmt(), Stmt::Loop(self.before)];
        func.tree.replace(self.before, both);
        init
    }

    /// The init as a block of the spatial iter variables, detached.
    fn make_init(&self, func: &mut PrimFunc) -> BlockId {
        let old = &func.blocks[self.block];
        let mut iters = Vec::new();
        let mut bindings = Vec::new();
        let mut fresh: Vec<(Var, Var)> = Vec::new();
        for (iter, binding) in old.iters.iter().zip(&old.bindings) {
            if iter.kind == IterKind::Spatial {
                let var = iter.var.renamed(iter.var.name());
                fresh.push((iter.var.clone(), var.clone()));
                let (dom, kind) = (iter.dom.clone(), iter.kind);
                iters.push(IterVar { var, dom, kind });
                bindings.push(binding.clone());
            }
        }
        let map = |v: &Var| {
            let found = fresh.iter().find(|(old, _)| old == v);
            found.map(|(_, new)| new.expr())
        };
        let body = old.init.clone().expect("a reduction block has an init");
        let block = Block {
            name: format!("{}_init", old.name),
            iters,
            bindings,
            predicate: self.nest.predicate.clone(),
            reads: vec![],
            writes: old.writes.iter().map(|w| w.substitute(&map)).collect(),
            init: None,
            alloc_buffers: vec![],
            match_buffers: vec![],
            annotations: Attrs::clone(&old.annotations),
        };
        let id = func.blocks.push(block);
        func.tree.set_body(id, body);
        func.substitute_below(id, &map);
        func.blocks[id].reads = access_regions(func, id).reads;
        id
    }
}
