//! Epilogues: what follows a product is computed where its result is written.

use super::pattern::{Pattern, classify};
use crate::ir::BlockId;
use crate::sched::Schedule;

/// Inlines the consumers of a block into it, as long as each is its only one: the epilogue of a matmul. Gives
/// how many.
pub(super) fn inline_consumers(sch: &mut Schedule, block: BlockId) -> usize {
    let mut count = 0;
    loop {
        let mut attempt = sch.clone();
        let Ok(consumers) = attempt.get_consumers(block) else {
            return count;
        };
        let [consumer] = consumers.as_slice() else {
            return count;
        };
        if !matches!(classify(attempt.func(), *consumer), Pattern::Injective)
            || attempt.reverse_compute_inline(*consumer).is_err()
        {
            return count;
        }
        *sch = attempt;
        count += 1;
    }
}
