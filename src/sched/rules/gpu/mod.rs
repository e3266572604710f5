//! Default rules for GPUs, in the order in which they are tried.

mod elementwise;
mod fallback;
mod reduction;

use super::Rule;
use crate::kernel::GpuTarget;

/// The rules; the last one takes every block whose loops can be bound.
pub(super) const RULES: &[Rule<GpuTarget>] = &[
    Rule {
        name: "elementwise",
        apply: elementwise::apply,
    },
    Rule {
        name: "reduction",
        apply: reduction::apply,
    },
    Rule {
        name: "fallback",
        apply: fallback::apply,
    },
];
