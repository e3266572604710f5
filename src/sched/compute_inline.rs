//! `compute_inline`: a producer is computed where its consumers read it, and is gone.
//!
//! ```text
//! for i in range(128):                    for i in range(128):
//!     with T.block("B"):                      with T.block("C"):
//!         vi = T.axis.spatial(128, i)             vi = T.axis.spatial(128, i)
//!         B[vi] = A[vi] * T.float32(2)            C[vi] = A[vi] * T.float32(2) + T.float32(1)
//! for i in range(128):
//!     with T.block("C"):
//!         vi = T.axis.spatial(128, i)
//!         C[vi] = B[vi] + T.float32(1)
//! ```
//!
//! Requires: a complete block without init, not an output, whose body is one store indexed by distinct iter variables, the only
//! ones in the stored value; no block views the buffer; no block overwrites what the value is made of before a consumer, nor in
//! another iteration of a loop that a consumer is not in; the scope is a stage pipeline. Meaning is kept: what a consumer read
//! was the value stored for the same indices, and it is the same there.

use super::analysis::{
    BlockScope, DependencyKind, check_complete_block, check_inputs_outlive, check_not_output_block,
    check_stage_pipeline, share_a_loop,
};
use super::body::{removal_of, remove_place};
use super::inline::{Store, drop_buffer, is_viewed, only_store};
use super::{Reason, Refusal, Schedule, ScheduleError, attached_block};
use crate::ir::{BlockId, Buffer, Expr, ExprKind, Place, PrimFunc, Var};

impl Schedule {
    /// Inlines a block into its consumers.
    ///
    /// # Errors
    /// If a rule of the module's documentation is broken.
    pub fn compute_inline(&mut self, block: BlockId) -> Result<(), ScheduleError> {
        let plan =
            Plan::check(&self.func, block).map_err(|refusal| refusal.of("compute_inline"))?;
        let args = vec![block.into()];
        self.record("compute_inline", args, |func| plan.apply(func));
        Ok(())
    }
}

struct Plan {
    scope: BlockId,
    store: Store,
    /// The index variables of the store, in order.
    vars: Vec<Var>,
    /// Buffers that the block reads, in order.
    reads: Vec<Buffer>,
    /// What goes away.
    removed: Place,
}

impl Plan {
    fn check(func: &PrimFunc, block: BlockId) -> Result<Self, Refusal> {
        let node = attached_block(func, block)?;
        let name = || node.name.clone();
        let here = [Place::Block(block)];
        if node.init.is_some() {
            return Err(Reason::HasInit { block: name() }.at(here));
        }
        let [write] = &node.writes[..] else {
            let count = node.writes.len();
            let reason = Reason::NotSingleWrite {
                block: name(),
                count,
            };
            return Err(reason.at(here));
        };
        let Some(scope) = func.scope_block(block.into()) else {
            return Err(Reason::RootBlock.at(here));
        };
        check_stage_pipeline(func, scope)?;
        check_not_output_block(func, block, scope)?;
        check_complete_block(func, block, scope.into())?;
        let pattern = || Reason::BodyNotInlinable { block: name() }.at(here);
        let store = only_store(func, block)
            .filter(|store| store.buffer == write.buffer)
            .ok_or_else(pattern)?;
        let vars: Option<Vec<Var>> = store.indices.iter().map(|i| i.as_var().cloned()).collect();
        let vars = vars.ok_or_else(pattern)?;
        let repeated = |(i, v): (usize, &Var)| vars[..i].contains(v);
        let is_iter = |v: &Var| node.iters.iter().any(|iter| iter.var == *v);
        let free = store.value.free_vars();
        if vars.iter().enumerate().any(repeated)
            || !vars.iter().all(is_iter)
            || free.iter().any(|v| is_iter(v) && !vars.contains(v))
        {
            return Err(pattern());
        }
        check_inputs_kept(func, block, scope)?;
        let consumers = BlockScope::of(func, scope.into()).consumers(block);
        let around_all = |id| consumers.iter().all(|&c| func.tree.is_ancestor(id, c));
        check_inputs_outlive(func, block, &around_all)?;
        let removed = removal_of(func, block)?;
        if is_viewed(func, scope, &store.buffer) {
            let buffer = store.buffer.name().to_owned();
            return Err(Reason::OpaqueAccess { buffer }.at([scope.into()]));
        }
        Ok(Self {
            scope,
            store,
            vars,
            reads: node.reads.iter().map(|r| r.buffer.clone()).collect(),
            removed,
        })
    }

    fn apply(self, func: &mut PrimFunc) {
        remove_place(func, self.removed, None);
        let inline = |e: &Expr| match e.kind() {
            ExprKind::Load(buffer, indices) if *buffer == self.store.buffer => {
                self.store.value.substitute(&|v| {
                    let at = self.vars.iter().position(|var| var == v)?;
                    Some(indices[at].cast(v.dtype()))
                })
            }
            _ => e.clone(),
        };
        // Regions of the buffer itself are found anew below; expressions in regions may load it as well.
        func.map_below(self.scope, &mut |e: &Expr| {
            e.rewrite_bottom_up(&mut |e| inline(e))
        });
        drop_buffer(func, self.scope, &self.store.buffer, &self.reads);
    }
}

/// Refuses if a block overwrites what this one reads before a consumer, or by turns with one: the value computed there would be
/// another.
fn check_inputs_kept(func: &PrimFunc, block: BlockId, scope: BlockId) -> Result<(), Refusal> {
    let graph = BlockScope::of(func, scope.into());
    let rank = |id: BlockId| graph.blocks().iter().position(|&b| b == id);
    for edge in graph.dependencies() {
        if edge.src != block || edge.kind != DependencyKind::WriteAfterRead {
            continue;
        }
        let late = |&consumer: &BlockId| {
            rank(consumer) >= rank(edge.dst) || share_a_loop(func, consumer.into(), edge.dst.into())
        };
        if graph.consumers(block).iter().any(late) {
            let reason = Reason::InputOverwritten {
                block: func.blocks[block].name.clone(),
                other: func.blocks[edge.dst].name.clone(),
            };
            return Err(reason.at([block.into(), edge.dst.into()]));
        }
    }
    Ok(())
}
