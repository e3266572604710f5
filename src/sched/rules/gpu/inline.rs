//! Inlining before anything else: what an elementwise block computes is computed where it is read.

use crate::ir::{BlockId, Place};
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

/// Inlines the consumers of a block into it, as long as each is its only one: the epilogue of a matmul.
pub(super) fn inline_consumers(sch: &mut Schedule, block: BlockId) {
    loop {
        let mut attempt = sch.clone();
        let Ok(consumers) = attempt.get_consumers(block) else {
            return;
        };
        let [consumer] = consumers.as_slice() else {
            return;
        };
        if !matches!(classify(attempt.func(), *consumer), Pattern::Injective)
            || attempt.reverse_compute_inline(*consumer).is_err()
        {
            return;
        }
        *sch = attempt;
    }
}
