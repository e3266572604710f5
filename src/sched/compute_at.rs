//! `compute_at`: a producer moves under a loop of its consumers, and computes there what one iteration needs.
//!
//! ```text
//! for i in range(66):                     for i in range(64):
//!     with T.block("B"):                      for ax0 in range(3):
//!         vi = T.axis.spatial(66, i)              with T.block("B"):
//!         B[vi] = A[vi] * T.float32(2)                vi = T.axis.spatial(66, i + ax0)
//! for i in range(64):                                 B[vi] = A[vi] * T.float32(2)
//!     with T.block("C"):                      with T.block("C"):
//!         vi = T.axis.spatial(64, i)              vi = T.axis.spatial(64, i)
//!         C[vi] = B[vi] + B[vi + 2]               C[vi] = B[vi] + B[vi + 2]
//! ```
//!
//! Requires: a complete or reduction block, not an output, with a predicate that says no more than the domains of its iter
//! variables; the loop is in the same scope and not above the block; all consumers are below the loop; the scope is a stage
//! pipeline and keeps other blocks; no block overwrites what the block reads before it runs, nor in another iteration of a loop
//! that the block leaves; what consumers need is solvable for the block's iter variables. Meaning is kept: in each iteration
//! the block computes, before the first consumer, all that the consumers then read; computing an element again gives the same
//! value.

use super::move_block::{InsertAt, Moved, Plan};
use super::{Schedule, ScheduleError};
use crate::arith::iter_map::UnitIters;
use crate::ir::{BlockId, LoopId};

impl Schedule {
    /// Moves a producer under a loop, where it computes what the consumers need in one iteration.
    ///
    /// # Errors
    /// If a rule of the module's documentation is broken.
    pub fn compute_at(
        &mut self,
        block: BlockId,
        target: LoopId,
        units: UnitIters,
        at: InsertAt,
    ) -> Result<(), ScheduleError> {
        let plan = Plan::check(&self.func, block, target, units, at, Moved::Producer)
            .map_err(|refusal| refusal.of("compute_at"))?;
        let args = vec![block.into(), target.into(), units.into(), at.into()];
        self.record("compute_at", args, |func| plan.apply(func));
        Ok(())
    }
}
