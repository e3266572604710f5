//! `bind`: the iterations of a loop run on threads or workgroups of the launch.

use super::loop_kind::LoopKindPlan;
use super::{Schedule, ScheduleError};
use crate::ir::{LoopId, LoopKind, ThreadAxis};

impl Schedule {
    /// Binds a loop to an axis of the launch.
    ///
    /// # Errors
    /// As [`parallel`](Self::parallel); a loop bound to `threadIdx` may be part of reduce iter variables too.
    pub fn bind(&mut self, target: LoopId, axis: ThreadAxis) -> Result<(), ScheduleError> {
        let plan = LoopKindPlan::check(&self.func, target, LoopKind::ThreadBinding(axis))
            .map_err(|r| r.of("bind"))?;
        let args = vec![target.into(), axis.name().into()];
        self.record("bind", args, |func| plan.apply(func));
        Ok(())
    }
}
