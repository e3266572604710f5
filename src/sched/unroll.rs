//! `unroll`: the iterations of a loop are to be written out one after the other. Always allowed; changes no meaning.

use super::{Schedule, ScheduleError, attached_loop};
use crate::ir::{LoopId, LoopKind};

impl Schedule {
    /// Marks a loop to be unrolled.
    ///
    /// # Errors
    /// If the handle is stale.
    pub fn unroll(&mut self, target: LoopId) -> Result<(), ScheduleError> {
        attached_loop(&self.func, target).map_err(|r| r.of("unroll"))?;
        self.record("unroll", vec![target.into()], |func| {
            func.loops[target].kind = LoopKind::Unrolled;
        });
        Ok(())
    }
}
