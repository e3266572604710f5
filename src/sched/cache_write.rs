//! `cache_write`: the writer of a buffer writes a copy of it in another storage scope, from which it is copied afterwards.
//!
//! ```text
//! for i in range(128):                    for i in range(128):
//!     with T.block("B"):                      with T.block("B"):
//!         vi = T.axis.spatial(128, i)             vi = T.axis.spatial(128, i)
//!         B[vi] = A[vi] * T.float32(2)            B_local[vi] = A[vi] * T.float32(2)
//!                                         for ax0 in range(128):
//!                                             with T.block("B_local"):
//!                                                 v0 = T.axis.spatial(128, ax0)
//!                                                 B[v0] = B_local[v0]
//! ```
//!
//! Requires: the block is the only one of its scope that writes the buffer, it writes all of the region that is copied and does
//! not read it, and the scope is a stage pipeline. The copy comes after the block and before the first reader. Meaning is kept:
//! the copy moves all that the block wrote before anything reads it.

use super::analysis::{BlockScope, share_a_loop};
use super::body::{insert_at, rewrite_own};
use super::cache::{
    Direction, Location, StagedCopy, cache_of, cache_size, cached_region, check_written_wholly,
    location_after, only_writer, storage_scope, touched,
};
use super::cache_read::{redirect_indices, redirect_load};
use super::{Reason, Refusal, Schedule, ScheduleError, attached_block};
use crate::ir::{BlockId, Buffer, Expr, PrimFunc, Stmt};

impl Schedule {
    /// Lets the block write the buffer of its write region `index` to a copy in storage scope `scope`, and the `consumers`
    /// read that copy. Gives the block that copies.
    ///
    /// # Errors
    /// If a rule of the module's documentation is broken, there is no such region, or no such storage scope.
    pub fn cache_write(
        &mut self,
        block: BlockId,
        index: usize,
        scope: &str,
        consumers: &[BlockId],
    ) -> Result<BlockId, ScheduleError> {
        let plan = Plan::check(&self.func, block, index, scope, consumers)
            .map_err(|refusal| refusal.of("cache_write"))?;
        let args = vec![block.into(), index.into(), scope.into(), consumers.into()];
        Ok(self.record("cache_write", args, |func| plan.apply(func)))
    }
}

struct Plan {
    scope: BlockId,
    /// Blocks that use the copy afterwards: the writer, the consumers asked for, and what is below them.
    users: Vec<BlockId>,
    copy: StagedCopy,
}

impl Plan {
    fn check(
        func: &PrimFunc,
        block: BlockId,
        index: usize,
        scope_name: &str,
        consumers: &[BlockId],
    ) -> Result<Self, Refusal> {
        let memory = storage_scope(scope_name)?;
        let node = attached_block(func, block)?;
        let (written, scope) = cached_region(func, block, &node.writes, index)?;
        let buffer = written.buffer.clone();
        let mut users = func.blocks_within(block.into());
        for &consumer in consumers {
            attached_block(func, consumer)?;
            users.extend(func.blocks_within(consumer.into()));
        }
        let graph = BlockScope::of(func, scope.into());
        only_writer(&graph, &buffer)?;
        check_not_read_before(func, &graph, block, &buffer)?;
        let mut related = graph.readers_after(block);
        for &consumer in consumers {
            if !related.contains(&consumer) {
                let reason = Reason::NotAReader {
                    block: func.blocks[consumer].name.clone(),
                    buffer: buffer.name().to_owned(),
                };
                return Err(reason.at([consumer.into()]));
            }
        }
        related.retain(|reader| !consumers.contains(reader));
        let location = location_after(func, block, &related, scope);
        check_written_wholly(func, block, written, location.place)?;
        let (region, ends) = touched(func, block, written, location.place);
        let size = cache_size(func, &graph, &buffer, location.place);
        let copy = StagedCopy {
            cache: cache_of(&buffer, memory, &region, size),
            region,
            ends,
            size,
            location,
        };
        Ok(Self { scope, users, copy })
    }

    fn apply(self, func: &mut PrimFunc) -> BlockId {
        let copy = &self.copy;
        for &user in &self.users {
            let mut load = |e: &Expr| e.rewrite_bottom_up(&mut |e| redirect_load(copy, e));
            rewrite_own(func, user, &mut load, &mut |stmt| {
                redirect_store(copy, stmt)
            });
            let node = &mut func.blocks[user];
            for region in node.reads.iter_mut().chain(&mut node.writes) {
                redirect_indices(copy, region);
                *region = copy.cache_region(region);
            }
            for view in &mut node.match_buffers {
                view.source = copy.cache_region(&view.source);
            }
        }
        let (block, stmt) = copy.build(func, Direction::OutOfCache);
        let Location { place, position } = copy.location;
        insert_at(func, place, position, stmt);
        func.blocks[self.scope].alloc_buffers.push(self.copy.cache);
        block
    }
}

/// Refuses a block that itself reads the buffer, or with which a reader of the old values runs by turns: they would read the
/// copy before it is written, or the buffer before it is copied to.
pub(super) fn check_not_read_before(
    func: &PrimFunc,
    graph: &BlockScope,
    block: BlockId,
    buffer: &Buffer,
) -> Result<(), Refusal> {
    let after = graph.readers_after(block);
    for &reader in graph.readers(buffer) {
        let by_turns = || share_a_loop(func, block.into(), reader.into());
        if reader == block || (!after.contains(&reader) && by_turns()) {
            let reason = Reason::ReadsBeforeWriting {
                block: func.blocks[reader].name.clone(),
                buffer: buffer.name().to_owned(),
            };
            return Err(reason.at([reader.into()]));
        }
    }
    Ok(())
}

/// A store to the buffer as one to the cache.
pub(super) fn redirect_store(copy: &StagedCopy, stmt: Stmt) -> Stmt {
    match stmt {
        Stmt::Store {
            buffer,
            indices,
            value,
        } if buffer == copy.region.buffer => Stmt::Store {
            buffer: copy.cache.clone(),
            indices: indices
                .iter()
                .enumerate()
                .map(|(dim, index)| copy.cache_index(dim, index))
                .collect(),
            value,
        },
        other => other,
    }
}
