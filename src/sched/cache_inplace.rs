//! `cache_inplace`: a block that reads and writes a buffer works on a copy in another storage scope: what it touches is copied there
//! before, and back after.
//!
//! ```text
//! for i, j in T.grid(32, 8):                    for i, j in T.grid(32, 8):
//!     with T.block("acc"):                          for ax0, ax1 in T.grid(1, 1):
//!         A[vi, vj] = A[vi, vj] + B[vi, vj]             with T.block("A_local"):
//!                                                           A_local[v0, v1] = A[v0, v1]
//!                                                   with T.block("acc"):
//!                                                       A_local[vi, vj] = A_local[vi, vj] + B[vi, vj]
//!                                                   for ax0, ax1 in T.grid(1, 1):
//!                                                       with T.block("A_local"):
//!                                                           A[v0, v1] = A_local[v0, v1]
//! ```
//!
//! Requires: the block reads the buffer and writes it, and no other block that reads the buffer is uncovered; it writes within what
//! it reads, or wholly. Meaning is kept: the copy holds what the buffer holds until it is copied back. TVM 0.27 makes copies at
//! the iter variables of the block, which have no value outside of it.

use super::analysis::{check_stage_pipeline, facts_at, region_bound, writes_wholly};
use super::body::{insert_at, position_of, rewrite_own};
use super::cache::{CacheSize, Direction, Location, StagedCopy, cache_of, storage_scope, touched};
use super::cache_read::{redirect_load, region_of};
use super::cache_write::redirect_store;
use super::{BufferReason, Reason, Refusal, Schedule, ScheduleError, attached_block};
use crate::arith::access_regions;
use crate::ir::{BlockId, BufferRegion, Expr, Place, PrimFunc};

impl Schedule {
    /// Lets the block work on a copy, in storage scope `scope`, of the buffer of its read region `index`. Gives the block that copies
    /// there and the one that copies back.
    ///
    /// # Errors
    /// If a rule of the module's documentation is broken, there is no such region, or no such storage scope.
    pub fn cache_inplace(
        &mut self,
        block: BlockId,
        index: usize,
        scope: &str,
    ) -> Result<[BlockId; 2], ScheduleError> {
        let plan = Plan::check(&self.func, block, index, scope)
            .map_err(|refusal| refusal.of("cache_inplace"))?;
        let args = vec![block.into(), index.into(), scope.into()];
        let blocks = self.record("cache_inplace", args, |func| plan.apply(func));
        Ok([blocks[0], blocks[1]])
    }
}

struct Plan {
    block: BlockId,
    scope: BlockId,
    /// The copy there.
    before: StagedCopy,
    /// The copy back.
    after: StagedCopy,
}

impl Plan {
    fn check(
        func: &PrimFunc,
        block: BlockId,
        index: usize,
        scope_name: &str,
    ) -> Result<Self, Refusal> {
        let memory = storage_scope(scope_name)?;
        let node = attached_block(func, block)?;
        let Some(read) = node.reads.get(index) else {
            let reason = Reason::BufferIndexOutOfRange {
                block: node.name.clone(),
                index,
                count: node.reads.len(),
            };
            return Err(reason.at([block.into()]));
        };
        let Some(scope) = func.scope_block(block.into()) else {
            return Err(Reason::RootBlock.at([block.into()]));
        };
        check_stage_pipeline(func, scope)?;
        let refuse = |reason: BufferReason| Err(reason.at([block.into()]));
        let names = || (node.name.clone(), read.buffer.name().to_owned());
        // What a block declares may be more than it touches, of which not all has been written.
        let touches = access_regions(func, block);
        let of_body = |regions: &[BufferRegion], declared: &BufferRegion| {
            region_of(regions, &declared.buffer)
                .unwrap_or(declared)
                .clone()
        };
        let Some(write) = region_of(&node.writes, &read.buffer) else {
            let (block, buffer) = names();
            return refuse(BufferReason::NotInPlace { block, buffer });
        };
        let (read, write) = (
            &of_body(&touches.reads, read),
            &of_body(&touches.writes, write),
        );
        let place = func
            .tree
            .parent(block)
            .expect("a block in a scope has a parent");
        let position = position_of(func, place, Place::Block(block));
        let position = position.expect("the block is in its parent");
        let facts = facts_at(func, place);
        let bounds = |region| region_bound(func, block, region, place, &facts);
        let (read_bound, write_bound) = (bounds(read), bounds(write));
        let mut dims = read_bound.iter().zip(&write_bound);
        let within = dims.all(|(read, write)| read.covers(write, &facts));
        let nested = func.child_blocks(block.into()).is_empty() && node.match_buffers.is_empty();
        if !nested || !(within || writes_wholly(func, block, write, place)) {
            let (block, buffer) = names();
            return refuse(BufferReason::WritesElsewhere { block, buffer });
        }
        let copy = |region, position| {
            let (region, ends) = touched(func, block, region, place);
            let size = CacheSize::Full;
            StagedCopy {
                cache: cache_of(&read.buffer, memory.clone(), &region, size),
                region,
                ends,
                size,
                location: Location { place, position },
            }
        };
        let before = copy(read, position);
        let after = StagedCopy {
            cache: before.cache.clone(),
            ..copy(write, position + 2)
        };
        Ok(Self {
            block,
            scope,
            before,
            after,
        })
    }

    fn apply(self, func: &mut PrimFunc) -> Vec<BlockId> {
        let copy = &self.before;
        let mut load = |e: &Expr| e.rewrite_bottom_up(&mut |e| redirect_load(copy, e));
        rewrite_own(func, self.block, &mut load, &mut |stmt| {
            redirect_store(copy, stmt)
        });
        let node = &mut func.blocks[self.block];
        for region in node.reads.iter_mut().chain(&mut node.writes) {
            *region = copy.cache_region(region);
        }
        let mut blocks = Vec::with_capacity(2);
        let directions = [Direction::IntoCache, Direction::OutOfCache];
        for (copy, direction) in [&self.before, &self.after].into_iter().zip(directions) {
            let (block, stmt) = copy.build(func, direction);
            let Location { place, position } = copy.location;
            insert_at(func, place, position, stmt);
            blocks.push(block);
        }
        func.blocks[self.scope]
            .alloc_buffers
            .push(self.before.cache);
        blocks
    }
}
