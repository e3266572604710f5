//! Inlining before anything else: what an elementwise block computes is computed where it is read.

use crate::ir::Place;
use crate::sched::Schedule;
use crate::sched::rules::pattern::{Pattern, classify};

/// Inlines every producer that a rule of `compute_inline` allows.
pub(in crate::sched::rules) fn inline_producers(sch: &mut Schedule) {
    let root = sch.func().root;
    for block in sch.func().child_blocks(Place::Block(root)) {
        if matches!(classify(sch.func(), block), Pattern::Injective) {
            let mut attempt = sch.clone();
            if attempt.compute_inline(block).is_ok() {
                *sch = attempt;
            }
        }
    }
}
