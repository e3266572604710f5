//! `set_scope`: a buffer moves to another storage scope.
//!
//! ```text
//! B = T.alloc_buffer((128,))              B_shared = T.alloc_buffer((128,), scope="shared")
//! for i in range(128):                    for i in range(128):
//!     with T.block("B"):                      with T.block("B"):
//!         …                                       …
//! ```
//!
//! Requires: the block writes the buffer, and a block of the function allocates it. If threads or workgroups have memory of the
//! scope for themselves, all that use the buffer are below their loops, and each reads what it wrote itself. Meaning is kept:
//! whoever reads an element has the memory that it was written to. TVM does not ask who sees the memory.

use super::analysis::{check_stage_pipeline, is_private};
use super::cache::storage_scope;
use super::error::LayoutReason;
use super::{Reason, Refusal, Schedule, ScheduleError, attached_block};
use crate::ir::{
    BlockId, Buffer, BufferNode, Definitions, LoopId, LoopKind, Place, PrimFunc, Scope,
    Substitution,
};

impl Schedule {
    /// Puts the buffer of the block's write region `index` into storage scope `scope`.
    ///
    /// # Errors
    /// If a rule of the module's documentation is broken, there is no such region, or no such storage scope.
    pub fn set_scope(
        &mut self,
        block: BlockId,
        index: usize,
        scope: &str,
    ) -> Result<(), ScheduleError> {
        let plan = Plan::check(&self.func, block, index, scope).map_err(|r| r.of("set_scope"))?;
        let args = vec![block.into(), index.into(), scope.into()];
        self.record("set_scope", args, |func| {
            if let Some(plan) = plan {
                plan.apply(func);
            }
        });
        Ok(())
    }
}

struct Plan {
    /// The block that allocates the buffer.
    site: BlockId,
    buffer: Buffer,
    scope: Scope,
}

impl Plan {
    /// Nothing is to be done if the buffer is there already.
    fn check(
        func: &PrimFunc,
        block: BlockId,
        index: usize,
        scope_name: &str,
    ) -> Result<Option<Self>, Refusal> {
        let node = attached_block(func, block)?;
        let Some(write) = node.writes.get(index) else {
            let reason = Reason::BufferIndexOutOfRange {
                block: node.name.clone(),
                index,
                count: node.writes.len(),
            };
            return Err(reason.at([block.into()]));
        };
        let buffer = write.buffer.clone();
        if buffer.scope().name() == scope_name {
            return Ok(None);
        }
        let scope = storage_scope(scope_name)?;
        let blocks = func.blocks_under(func.root.into());
        let allocates = |id: &&BlockId| func.blocks[**id].alloc_buffers.contains(&buffer);
        let Some(&site) = blocks.iter().find(allocates) else {
            let reason = Reason::NotAllocated {
                buffer: buffer.name().to_owned(),
            };
            return Err(reason.at([block.into()]));
        };
        let plan = Self {
            site,
            buffer,
            scope,
        };
        plan.check_seen(func)?;
        Ok(Some(plan))
    }

    /// Refuses memory that a thread or workgroup has for itself where another one reads the buffer.
    fn check_seen(&self, func: &PrimFunc) -> Result<(), Refusal> {
        let uses = |id: &BlockId| {
            let node = &func.blocks[*id];
            let mut regions = node.reads.iter().chain(&node.writes);
            regions.any(|region| region.buffer == self.buffer)
        };
        let mut users = func.blocks_under(self.site.into());
        users.retain(uses);
        let own = |l: &LoopId| match func.loops[*l].kind {
            LoopKind::ThreadBinding(axis) => {
                (axis.is_block() || axis.is_thread()) && is_private(&self.scope, axis)
            }
            LoopKind::Serial | LoopKind::Parallel | LoopKind::Vectorized | LoopKind::Unrolled => {
                false
            }
        };
        let mut threads = Vec::new();
        func.tree.walk(self.site.into(), &mut |place| {
            if let Place::Loop(id) = place
                && own(&id)
            {
                threads.push(id);
            }
        });
        let mut separates = false;
        for &l in &threads {
            let below = |&&user: &&BlockId| func.tree.is_ancestor(l, user);
            let inside: Vec<BlockId> = users.iter().filter(below).copied().collect();
            separates |= !inside.is_empty();
            let outside = users.iter().find(|user| !inside.contains(user));
            if let (Some(&inner), Some(&outer)) = (inside.first(), outside) {
                let reason = LayoutReason::NotSeen {
                    buffer: self.buffer.name().to_owned(),
                    scope: self.scope.name().to_owned(),
                    var: func.loops[l].var.name().to_owned(),
                    block: func.blocks[outer].name.clone(),
                };
                return Err(reason.at([l.into(), inner.into(), outer.into()]));
            }
        }
        if separates {
            let mut moved = func.clone();
            self.replace(&mut moved);
            check_stage_pipeline(&moved, self.site)?;
        }
        Ok(())
    }

    fn apply(self, func: &mut PrimFunc) {
        self.replace(func);
    }

    fn replace(&self, func: &mut PrimFunc) {
        let with_scope = |buffer: &Buffer| {
            Buffer::from_node(BufferNode {
                name: format!("{}_{}", buffer.name(), self.scope.name()),
                scope: self.scope.clone(),
                ..buffer.node().clone()
            })
        };
        let mut moved = Substitution::new(Definitions::Kept);
        let mut pairs = vec![(self.buffer.clone(), with_scope(&self.buffer))];
        let mut at = 0;
        while let Some((old, new)) = pairs.get(at).cloned() {
            moved.set_buffer(&old, &new);
            // A view of the buffer is in the same memory.
            for id in func.blocks_within(self.site.into()) {
                let views = func.blocks[id].match_buffers.iter();
                for view in views.filter(|view| view.source.buffer == old) {
                    pairs.push((view.buffer.clone(), with_scope(&view.buffer)));
                }
            }
            at += 1;
        }
        func.map_below(self.site, &mut moved);
    }
}
