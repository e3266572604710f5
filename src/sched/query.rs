//! `get_block`, `get_loops`, `get_child_blocks`: handles of what is there. They change nothing, but are recorded, so that
//! later steps can name their results.

use super::{Rule, Schedule, ScheduleError, living_block};
use crate::ir::{BlockId, LoopId, Place};

impl Schedule {
    /// The only block with this name.
    ///
    /// # Errors
    /// If none or several have it.
    pub fn get_block(&mut self, name: &str) -> Result<BlockId, ScheduleError> {
        let mut found = self.func.blocks_under(self.func.root.into());
        found.retain(|&id| self.func.blocks[id].name == name);
        let [block] = found[..] else {
            let rule = Rule::NotSingleBlock {
                name: name.to_owned(),
                found: found.len(),
            };
            let places = found.into_iter().map(Place::from);
            return Err(rule.at(places).of("get_block"));
        };
        Ok(self.record("get_block", vec![name.into()], |_| block))
    }

    /// The loops around the block up to the next block, outermost first.
    ///
    /// # Errors
    /// If the handle is stale.
    pub fn get_loops(&mut self, block: BlockId) -> Result<Vec<LoopId>, ScheduleError> {
        living_block(&self.func, block).map_err(|r| r.of("get_loops"))?;
        let loops = self.func.loops_above(block.into());
        Ok(self.record("get_loops", vec![block.into()], |_| loops))
    }
}
