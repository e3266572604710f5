//! `vectorize`: the iterations of a loop run in the lanes of a vector.

use super::loop_kind::LoopKindPlan;
use super::{Schedule, ScheduleError};
use crate::ir::{LoopId, LoopKind};

impl Schedule {
    /// Makes a loop vectorized.
    ///
    /// # Errors
    /// As [`parallel`](Self::parallel).
    pub fn vectorize(&mut self, target: LoopId) -> Result<(), ScheduleError> {
        let plan = LoopKindPlan::check(&self.func, target, LoopKind::Vectorized)
            .map_err(|r| r.of("vectorize"))?;
        self.record("vectorize", vec![target.into()], |func| plan.apply(func));
        Ok(())
    }
}
