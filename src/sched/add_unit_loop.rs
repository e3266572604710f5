//! `add_unit_loop`: a loop of one iteration on top of a loop or block. Always allowed; changes no meaning.
//!
//! ```text
//! with T.block("B"):         for u in range(1):
//!                                with T.block("B"):
//! ```

use super::{Reason, Refusal, Schedule, ScheduleError, attached_block, attached_loop};
use crate::ir::{Attrs, Expr, Loop, LoopId, LoopKind, Place, Var};
use crate::tensor::DType;

impl Schedule {
    /// Puts a loop of extent 1 above a loop or block.
    ///
    /// # Errors
    /// If the handle is stale, or names the root block.
    pub fn add_unit_loop(&mut self, target: impl Into<Place>) -> Result<LoopId, ScheduleError> {
        let target = target.into();
        let alive: Result<(), Refusal> = match target {
            Place::Loop(id) => attached_loop(&self.func, id).map(|_| ()),
            Place::Block(id) if id == self.func.root => {
                Err(Reason::StaleBlock { block: id }.at([]))
            }
            Place::Block(id) => attached_block(&self.func, id).map(|_| ()),
        };
        alive.map_err(|r| r.of("add_unit_loop"))?;
        Ok(self.record("add_unit_loop", vec![target.into()], |func| {
            let unit = func.loops.push(Loop {
                var: Var::new("u", DType::I32),
                min: Expr::i32(0),
                extent: Expr::i32(1),
                kind: LoopKind::Serial,
                annotations: Attrs::new(),
            });
            func.tree.insert_above(target, unit);
            unit
        }))
    }
}
