//! Epilogues: what follows a product or another reduction is computed where its result is written.

use super::inline::into_producer;
use super::pattern::{Pattern, classify};
use super::products::cache_result;
use crate::ir::{BlockId, PrimFunc};
use crate::sched::{Schedule, ScheduleError};

/// Keeps what a block computes in arrays of the thread, and inlines what follows into the blocks that write them back. Gives those
/// blocks; what nobody reads afterwards, as the value of an argmax, has none.
pub(super) fn write_backs(
    sch: &mut Schedule,
    block: BlockId,
) -> Result<Vec<BlockId>, ScheduleError> {
    let written = 0..sch.func().blocks[block].writes.len();
    let results: Vec<usize> = written
        .filter(|&at| is_used_after(sch.func(), block, at))
        .collect();
    let mut copies = vec![];
    for at in results {
        let copy = sch.cache_write(block, at, "local", &[])?;
        inline_consumers(sch, copy);
        copies.push(copy);
    }
    Ok(copies)
}

/// Keeps what a reduction computes in an array of the thread, if anything follows that can be computed where it is written back.
/// Gives the block that writes it.
pub(super) fn with_epilogue(
    sch: &mut Schedule,
    block: BlockId,
) -> Result<Option<BlockId>, ScheduleError> {
    let mut fused = sch.clone();
    let copy = cache_result(&mut fused, block)?;
    if inline_consumers(&mut fused, copy) == 0 {
        return Ok(None);
    }
    *sch = fused;
    Ok(Some(copy))
}

/// Whether what a block writes is read by others, or is a result of the function.
fn is_used_after(func: &PrimFunc, block: BlockId, at: usize) -> bool {
    let written = &func.blocks[block].writes[at].buffer;
    let reads = |other: &BlockId| {
        let mut reads = func.blocks[*other].reads.iter();
        *other != block && reads.any(|read| read.buffer == *written)
    };
    let blocks = func.blocks_under(func.root.into());
    func.buffer_params().any(|param| param == written) || blocks.iter().any(reads)
}

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
            || !into_producer(&mut attempt, *consumer, block)
        {
            return count;
        }
        *sch = attempt;
        count += 1;
    }
}
