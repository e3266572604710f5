//! `reindex_cache_read`: a block reads a copy of a buffer in another storage scope, laid out as a map of its iter variables says.
//!
//! ```text
//! for i, j in T.grid(128, 128):           for i, j in T.grid(128, 128):
//!     with T.block("B"):                      with T.block("A_local"):
//!         vi, vj = …                              vi, vj = …
//!         B[vi, vj] = A[vi, vj] * 2               A_local[vj, vi] = A[vi, vj]
//!                                         for i, j in T.grid(128, 128):
//!                                             with T.block("B"):
//!                                                 vi, vj = …
//!                                                 B[vi, vj] = A_local[vj, vi] * 2
//! ```
//!
//! above with the map `lambda i, j: (j, i)`. An image that a convolution slides over becomes a matrix in this way.
//!
//! Requires: each instance of the block reads one element of the buffer, which depends on the same iter variables as its place
//! in the cache; elements of different iter variables have different places, which start with 0; at most one block of the scope
//! writes the buffer, and the block reads it after that; the scope is a stage pipeline. Meaning is kept: the copy is made of each
//! element that the block reads, after it is written. TVM does not ask whether places differ, and copies what the predicate of the
//! block leaves out.

use super::analysis::BlockScope;
use super::cache::{
    Direction, Location, cached_region, location_after, only_writer, storage_scope,
};
use super::reindex_cache::Reindexed;
use super::{Reason, Refusal, Schedule, ScheduleError, attached_block};
use crate::ir::{BlockId, Lambda, PrimFunc};

impl Schedule {
    /// Copies what the block reads of the buffer of its read region `index` to storage scope `scope`, each element to the place
    /// that `map` gives for the block's iter variables, and lets the block read it there. Gives the block that copies.
    ///
    /// # Errors
    /// If a rule of the module's documentation is broken, there is no such region, or no such storage scope.
    pub fn reindex_cache_read(
        &mut self,
        block: BlockId,
        index: usize,
        scope: &str,
        map: &Lambda,
    ) -> Result<BlockId, ScheduleError> {
        let (within, plan) = check(&self.func, block, index, scope, map)
            .map_err(|refusal| refusal.of("reindex_cache_read"))?;
        let args = vec![block.into(), index.into(), scope.into(), map.into()];
        Ok(self.record("reindex_cache_read", args, |func| {
            plan.apply(func, within, Direction::IntoCache)
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
    let (read, scope) = cached_region(func, block, &node.reads, index)?;
    let graph = BlockScope::of(func, scope.into());
    let location = match only_writer(&graph, &read.buffer)? {
        Some(writer) if writer != block && graph.readers_after(writer).contains(&block) => {
            location_after(func, writer, &[block], scope)
        }
        Some(_) => {
            let reason = Reason::NotAReader {
                block: node.name.clone(),
                buffer: read.buffer.name().to_owned(),
            };
            return Err(reason.at([block.into()]));
        }
        None => Location {
            place: scope.into(),
            position: 0,
        },
    };
    let plan = Reindexed::check(func, block, read, memory, map, location)?;
    Ok((scope, plan))
}
