//! `cache_read`: readers of a buffer read a copy of it in another storage scope.
//!
//! ```text
//! for i in range(128):                    for ax0 in range(128):
//!     with T.block("B"):                      with T.block("A_shared"):
//!         vi = T.axis.spatial(128, i)             v0 = T.axis.spatial(128, ax0)
//!         B[vi] = A[vi] * T.float32(2)            A_shared[v0] = A[v0]
//!                                         for i in range(128):
//!                                             with T.block("B"):
//!                                                 vi = T.axis.spatial(128, i)
//!                                                 B[vi] = A_shared[vi] * T.float32(2)
//! ```
//!
//! Requires: at most one block of the scope writes the buffer, and wholly; the consumers read it after that; the scope is a stage
//! pipeline. The copy comes after the writer
//! and before the first reader; of a buffer that the scope does not write, at the start of the scope. Meaning is kept: the copy
//! holds all that readers read, and nothing writes the buffer after it.

use super::analysis::BlockScope;
use super::body::{insert_at, rewrite_own};
use super::cache::{
    Direction, Location, StagedCopy, cache_of, cache_size, cached_region, check_written_wholly,
    location_after, only_writer, storage_scope, touched,
};
use super::{Reason, Refusal, Schedule, ScheduleError, attached_block};
use crate::ir::{BlockId, Buffer, BufferRegion, Expr, ExprKind, Place, PrimFunc};

impl Schedule {
    /// Copies the buffer of the block's read region `index` to storage scope `scope` and lets the `consumers` read the copy;
    /// all readers if none are given. Gives the block that copies.
    ///
    /// # Errors
    /// If a rule of the module's documentation is broken, there is no such region, or no such storage scope.
    pub fn cache_read(
        &mut self,
        block: BlockId,
        index: usize,
        scope: &str,
        consumers: &[BlockId],
    ) -> Result<BlockId, ScheduleError> {
        let plan = Plan::check(&self.func, block, index, scope, consumers)
            .map_err(|refusal| refusal.of("cache_read"))?;
        let args = vec![block.into(), index.into(), scope.into(), consumers.into()];
        Ok(self.record("cache_read", args, |func| plan.apply(func)))
    }
}

struct Plan {
    scope: BlockId,
    copy: StagedCopy,
    /// Blocks that read the copy afterwards.
    readers: Vec<BlockId>,
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
        let (read, scope) = cached_region(func, block, &node.reads, index)?;
        let buffer = read.buffer.clone();
        let graph = BlockScope::of(func, scope.into());
        let writer = only_writer(&graph, &buffer)?;
        // Children of the scope that may read the copy.
        let after: Vec<BlockId> = match writer {
            Some(writer) => graph.readers_after(writer),
            None => graph.readers(&buffer).to_vec(),
        };
        for &consumer in consumers {
            attached_block(func, consumer)?;
            if !after.iter().any(|&r| func.tree.is_ancestor(r, consumer)) {
                let reason = Reason::NotAReader {
                    block: func.blocks[consumer].name.clone(),
                    buffer: buffer.name().to_owned(),
                };
                return Err(reason.at([consumer.into()]));
            }
        }
        let asked: Vec<BlockId> = consumers
            .iter()
            .flat_map(|&consumer| func.blocks_under(consumer.into()))
            .collect();
        let (location, region, ends) = match writer {
            Some(writer) => {
                let mut related = after.clone();
                related.retain(|&r| {
                    let wanted = |&c: &BlockId| func.tree.is_ancestor(r, c);
                    consumers.is_empty() || consumers.iter().any(wanted)
                });
                let location = location_after(func, writer, &related, scope);
                let written = region_of(&func.blocks[writer].writes, &buffer).ok_or_else(|| {
                    let reason = Reason::NotWrittenWholly {
                        block: func.blocks[writer].name.clone(),
                        buffer: buffer.name().to_owned(),
                    };
                    reason.at([writer.into()])
                })?;
                check_written_wholly(func, writer, written, location.place)?;
                let (region, ends) = touched(func, writer, written, location.place);
                (location, region, ends)
            }
            None => {
                let location = Location {
                    place: scope.into(),
                    position: 0,
                };
                let region = region_of(&func.blocks[scope].reads, &buffer)
                    .cloned()
                    .unwrap_or_else(|| BufferRegion::full(&buffer));
                let ends = vec![None; buffer.ndim()];
                (location, region, ends)
            }
        };
        let size = cache_size(func, &graph, &buffer, location.place);
        let copy = StagedCopy {
            cache: cache_of(&buffer, memory, &region, size),
            region,
            ends,
            size,
            location,
        };
        Ok(Self {
            scope,
            readers: readers_below(func, &after, &buffer, &asked),
            copy,
        })
    }

    fn apply(self, func: &mut PrimFunc) -> BlockId {
        for &reader in &self.readers {
            let copy = &self.copy;
            let mut redirect = |e: &Expr| e.rewrite_bottom_up(&mut |e| redirect_load(copy, e));
            rewrite_own(func, reader, &mut redirect, &mut |store| store);
            let node = &mut func.blocks[reader];
            for region in node.reads.iter_mut().chain(&mut node.writes) {
                redirect_indices(copy, region);
            }
            for read in &mut node.reads {
                *read = copy.cache_region(read);
            }
            for view in &mut node.match_buffers {
                view.source = copy.cache_region(&view.source);
            }
        }
        self.declare_around(func);
        let (block, stmt) = self.copy.build(func, Direction::IntoCache);
        let Location { place, position } = self.copy.location;
        insert_at(func, place, position, stmt);
        func.blocks[self.scope].alloc_buffers.push(self.copy.cache);
        block
    }

    /// Blocks around the readers that are not to read the copy themselves declare that it is read below them.
    fn declare_around(&self, func: &mut PrimFunc) {
        for &reader in &self.readers {
            let mut above = func.tree.parent(Place::Block(reader));
            while let Some(place) = above.filter(|place| *place != Place::Block(self.scope)) {
                above = func.tree.parent(place);
                let Place::Block(id) = place else { continue };
                let node = &mut func.blocks[id];
                if region_of(&node.reads, &self.copy.cache).is_some() {
                    continue;
                }
                if let Some(region) = region_of(&node.reads, &self.copy.region.buffer) {
                    let declared = self.copy.cache_region(region);
                    node.reads.push(declared);
                }
            }
        }
    }
}

/// The region of the buffer among several.
pub(super) fn region_of<'a>(
    regions: &'a [BufferRegion],
    buffer: &Buffer,
) -> Option<&'a BufferRegion> {
    regions.iter().find(|r| r.buffer == *buffer)
}

/// Those of these blocks and of the blocks below them that are to read the copy: those asked for, or all, except a block that
/// writes the buffer and what is below it.
fn readers_below(
    func: &PrimFunc,
    after: &[BlockId],
    buffer: &Buffer,
    asked: &[BlockId],
) -> Vec<BlockId> {
    let mut out = Vec::new();
    let mut left = after.to_vec();
    while let Some(id) = left.pop() {
        if region_of(&func.blocks[id].writes, buffer).is_some() {
            continue;
        }
        if asked.is_empty() || asked.contains(&id) {
            out.push(id);
        }
        left.extend(func.child_blocks(Place::Block(id)));
    }
    out
}

/// Loads of the buffer in the ends of a region as loads of the cache.
pub(super) fn redirect_indices(copy: &StagedCopy, region: &mut BufferRegion) {
    let redirect = |e: &Expr| e.rewrite_bottom_up(&mut |e| redirect_load(copy, e));
    for range in &mut region.region {
        range.min = redirect(&range.min);
        range.extent = redirect(&range.extent);
    }
}

/// A load of the buffer as one of the cache.
pub(super) fn redirect_load(copy: &StagedCopy, e: &Expr) -> Expr {
    match e.kind() {
        ExprKind::Load(buffer, indices) if *buffer == copy.region.buffer => {
            let indices = indices
                .iter()
                .enumerate()
                .map(|(dim, index)| copy.cache_index(dim, index));
            Expr::load(&copy.cache, indices.collect())
        }
        _ => e.clone(),
    }
}
