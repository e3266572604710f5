//! `parallel`: the iterations of a loop run on the threads of the CPU.

use super::loop_kind::LoopKindPlan;
use super::{Schedule, ScheduleError};
use crate::ir::{LoopId, LoopKind};

impl Schedule {
    /// Makes a loop parallel.
    ///
    /// # Errors
    /// If its iterations are not known to be independent: the blocks below must be complete or reductions with affine bindings,
    /// and the loop part of spatial iter variables only.
    pub fn parallel(&mut self, target: LoopId) -> Result<(), ScheduleError> {
        let plan = LoopKindPlan::check(&self.func, target, LoopKind::Parallel)
            .map_err(|r| r.of("parallel"))?;
        self.record("parallel", vec![target.into()], |func| plan.apply(func));
        Ok(())
    }
}
