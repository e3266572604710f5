//! `reverse_compute_at`: a consumer moves under a loop of its producers, and consumes there what one iteration made.
//!
//! ```text
//! for i, j in T.grid(16, 24):             for i in range(16):
//!     with T.block("B"):                      for j in range(24):
//!         vi, vj = T.axis.remap("SS", [i, j])     with T.block("B"):
//!         B[vi, vj] = A[vi, vj]                       ...
//! for i, j in T.grid(16, 24):                 for ax0 in range(24):
//!     with T.block("C"):                          with T.block("C"):
//!         vi, vj = T.axis.remap("SS", [i, j])         vi, vj = T.axis.remap("SS", [i, ax0])
//!         C[vi, vj] = B[vi, vj]                       C[vi, vj] = B[vi, vj]
//! ```
//!
//! Requires: a complete or reduction block; a predicate beyond the domains of its iter variables uses only loops that are bound to
//! spatial ones (the moved block keeps it); the loop is in the same scope and not above the block; all producers are below the loop; the
//! scope is a stage pipeline and keeps other blocks; what producers make is solvable for the block's iter variables; a loop that the block only repeats in has at
//! least one iteration. A reduction computes its sums wholly below the loop, or each instance runs once and the first term
//! first. Meaning is kept: each element is consumed in the last iteration that makes it, if not before, and consuming it again
//! with the final value overwrites what was made of an earlier one; a term that is added where it was made is added once.

use super::move_block::{InsertAt, Moved, Plan};
use super::{Schedule, ScheduleError};
use crate::arith::iter_map::UnitIters;
use crate::ir::{BlockId, LoopId};

impl Schedule {
    /// Moves a consumer under a loop, where it consumes what the producers made in one iteration.
    ///
    /// # Errors
    /// If a rule of the module's documentation is broken.
    pub fn reverse_compute_at(
        &mut self,
        block: BlockId,
        target: LoopId,
        units: UnitIters,
        at: InsertAt,
    ) -> Result<(), ScheduleError> {
        let plan = Plan::check(&self.func, block, target, units, at, Moved::Consumer)
            .map_err(|refusal| refusal.of("reverse_compute_at"))?;
        let args = vec![block.into(), target.into(), units.into(), at.into()];
        self.record("reverse_compute_at", args, |func| plan.apply(func));
        Ok(())
    }
}
