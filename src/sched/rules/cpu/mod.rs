//! Default rules for the CPU, in the order in which they are tried.

use super::{Declined, Rule};
use crate::ir::BlockId;
use crate::kernel::CpuTarget;
use crate::sched::Schedule;
use crate::sched::rules::nest::sort_loops;

/// The rules. A block that none takes runs serially, as it is written.
pub(super) const RULES: &[Rule<CpuTarget>] = &[Rule {
    name: "fallback",
    apply: fallback,
}];

/// Independent iterations of the outermost loops over the threads, everything else serial.
fn fallback(schedule: &mut Schedule, block: BlockId, _target: &CpuTarget) -> Result<(), Declined> {
    let nest = sort_loops(schedule, block)?;
    let Some((&first, _)) = nest.spatial.split_first() else {
        return Err(Declined::Pattern("nothing is independent"));
    };
    schedule.parallel(first)?;
    Ok(())
}
