//! Loops that the schedule marked as reductions (`simd_reduction`) and that have another form than code generators expand to vectors
//! ([`crate::kernel::reduction`]) are serial loops: the mark allows any order of terms, and asks for none.
//!
//! The pass is for the CPU, behind the promotion of accumulators: those are in local arrays then.

use crate::kernel::build::rewrite_loops;
use crate::kernel::poly::Narrow;
use crate::kernel::{ForKind, Kernel};

/// Makes serial loops of marked ones that are no reductions.
pub(super) fn check(kernel: &mut Kernel) {
    let name = kernel.name.clone();
    rewrite_loops(kernel, Narrow::Wraps, &mut |kernel, scope, mut l| {
        if l.kind == ForKind::SimdReduction
            && let Err(reason) = kernel.reduction(scope, &l)
        {
            let var = &kernel.vars[l.var].name;
            log::debug!("{name}: the marked loop over {var} runs in order: {reason}");
            l.kind = ForKind::Serial;
        }
        vec![l.into()]
    });
}
