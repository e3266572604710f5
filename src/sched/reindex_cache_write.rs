//! `reindex_cache_write`: the writer of a buffer writes a copy of it in another storage scope, laid out as a map of its iter
//! variables says, from which it is copied afterwards.
//!
//! ```text
//! for i, j in T.grid(128, 128):           for i, j in T.grid(128, 128):
//!     with T.block("B"):                      with T.block("B"):
//!         vi, vj = …                              vi, vj = …
//!         B[vi, vj] = A[vi, vj] * 2               B_local[vj, vi] = A[vi, vj] * 2
//!                                         for i, j in T.grid(128, 128):
//!                                             with T.block("B_local"):
//!                                                 vi, vj = …
//!                                                 B[vi, vj] = B_local[vj, vi]
//! ```
//!
//! above with the map `lambda i, j: (j, i)`. So a sum has the layout that its loops like, whatever that of the result is.
//!
//! Requires: the block is the only one of its scope that writes the buffer and nobody reads it before; each instance writes one
//! element, which depends on the same iter variables as its place in the cache, and leaves none out; elements of different iter
//! variables have different places, which start with 0; the scope is a stage pipeline. Meaning is kept: the copy moves each element
//! that the block wrote before anything reads it. TVM does not ask whether places differ, and copies what the predicate of the
//! block leaves out.

use super::analysis::BlockScope;
use super::cache::{
    Direction, cached_region, check_written_wholly, location_after, only_writer, storage_scope,
};
use super::cache_write::check_not_read_before;
use super::reindex_cache::Reindexed;
use super::{Refusal, Schedule, ScheduleError, attached_block};
use crate::ir::{BlockId, Lambda, PrimFunc};

impl Schedule {
    /// Lets the block write the buffer of its write region `index` to a copy in storage scope `scope`, each element to the place
    /// that `map` gives for the block's iter variables. Gives the block that copies.
    ///
    /// # Errors
    /// If a rule of the module's documentation is broken, there is no such region, or no such storage scope.
    pub fn reindex_cache_write(
        &mut self,
        block: BlockId,
        index: usize,
        scope: &str,
        map: &Lambda,
    ) -> Result<BlockId, ScheduleError> {
        let (within, plan) = check(&self.func, block, index, scope, map)
            .map_err(|refusal| refusal.of("reindex_cache_write"))?;
        let args = vec![block.into(), index.into(), scope.into(), map.into()];
        Ok(self.record("reindex_cache_write", args, |func| {
            plan.apply(func, within, Direction::OutOfCache)
        }))
    }
}

fn check(
    func: &PrimFunc,
    block: BlockId,
    index: usize,
    scope_name: &str,
    map: &Lambda,
) -> Result<(BlockId, Reindexed), Refusal> {
    let memory = storage_scope(scope_name)?;
    let node = attached_block(func, block)?;
    let (written, scope) = cached_region(func, block, &node.writes, index)?;
    let graph = BlockScope::of(func, scope.into());
    only_writer(&graph, &written.buffer)?;
    check_not_read_before(func, &graph, block, &written.buffer)?;
    let readers = graph.readers_after(block);
    let location = location_after(func, block, &readers, scope);
    check_written_wholly(func, block, written, location.place)?;
    let plan = Reindexed::check(func, block, written, memory, map, location)?;
    Ok((scope, plan))
}
