//! `get_block`, `get_loops`, `get_child_blocks`, `get_producers`, `get_consumers`: handles of what is there. They change
//! nothing, but are recorded, so that later steps can name their results.

use super::analysis::BlockScope;
use super::{Reason, Refusal, Schedule, ScheduleError, attached_block, attached_loop};
use crate::ir::{BlockId, LoopId, Place, PrimFunc};

impl Schedule {
    /// The only block with this name.
    ///
    /// # Errors
    /// If none or several have it.
    pub fn get_block(&mut self, name: &str) -> Result<BlockId, ScheduleError> {
        let block = block_named(&self.func, name).map_err(|r| r.of("get_block"))?;
        Ok(self.record("get_block", vec![name.into()], |_| block))
    }

    /// The loops around the block up to the next block, outermost first.
    ///
    /// # Errors
    /// If the handle is stale.
    pub fn get_loops(&mut self, block: BlockId) -> Result<Vec<LoopId>, ScheduleError> {
        attached_block(&self.func, block).map_err(|r| r.of("get_loops"))?;
        let loops = self.func.loops_above(block.into());
        Ok(self.record("get_loops", vec![block.into()], |_| loops))
    }

    /// The blocks below a loop or block with no other block in between, in program order.
    ///
    /// # Errors
    /// If the handle is stale.
    pub fn get_child_blocks(
        &mut self,
        of: impl Into<Place>,
    ) -> Result<Vec<BlockId>, ScheduleError> {
        let of = of.into();
        let alive = match of {
            Place::Loop(id) => attached_loop(&self.func, id).map(|_| ()),
            Place::Block(id) => attached_block(&self.func, id).map(|_| ()),
        };
        alive.map_err(|r| r.of("get_child_blocks"))?;
        let blocks = self.func.child_blocks(of);
        Ok(self.record("get_child_blocks", vec![of.into()], |_| blocks))
    }

    /// The blocks of the same scope that write what this one reads or overwrites, in program order.
    ///
    /// # Errors
    /// If the handle is stale.
    pub fn get_producers(&mut self, block: BlockId) -> Result<Vec<BlockId>, ScheduleError> {
        let scope = scope_of(&self.func, block).map_err(|r| r.of("get_producers"))?;
        let blocks = scope.map_or_else(Vec::new, |scope| scope.producers(block));
        Ok(self.record("get_producers", vec![block.into()], |_| blocks))
    }

    /// The blocks of the same scope that read or overwrite what this one writes, in program order.
    ///
    /// # Errors
    /// If the handle is stale.
    pub fn get_consumers(&mut self, block: BlockId) -> Result<Vec<BlockId>, ScheduleError> {
        let scope = scope_of(&self.func, block).map_err(|r| r.of("get_consumers"))?;
        let blocks = scope.map_or_else(Vec::new, |scope| scope.consumers(block));
        Ok(self.record("get_consumers", vec![block.into()], |_| blocks))
    }
}

/// The only block with this name.
pub(super) fn block_named(func: &PrimFunc, name: &str) -> Result<BlockId, Refusal> {
    let mut found = func.blocks_under(func.root.into());
    found.retain(|&id| func.blocks[id].name == name);
    if let [block] = found[..] {
        return Ok(block);
    }
    let reason = Reason::NotSingleBlock {
        name: name.to_owned(),
        found: found.len(),
    };
    Err(reason.at(found.into_iter().map(Place::from)))
}

/// The scope around a block; none around the root.
fn scope_of(func: &PrimFunc, block: BlockId) -> Result<Option<BlockScope>, Refusal> {
    attached_block(func, block)?;
    let scope = func.scope_block(block.into());
    Ok(scope.map(|scope| BlockScope::of(func, scope.into())))
}
