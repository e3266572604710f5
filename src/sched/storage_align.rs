//! `storage_align`: rows of a buffer that the block writes start where the storage is not in the way, as one word further than those
//! of the row before in the banks of shared memory. An annotation that lowering keeps; changes no meaning.
//!
//! ```text
//! with T.block("A_shared"):               with T.block("A_shared"):
//!     …                                       T.block_attr({"buffer_dim_align": [[0, 0, 32, 4]]})
//!     A_shared[vi, vj] = A[vi, vj]            …
//! ```
//!
//! The stride of the dimension grows to `factor * n + offset` elements, for the least `n` that gives it room.
//!
//! Requires: the block writes the buffer; the buffer is allocated in the function; the axis is one of its dimensions, counted
//! from the end where it is negative; the factor is positive.

use super::{Arg, Reason, Refusal, Schedule, ScheduleError, attached_block};
use crate::ir::{AttrValue, BlockId, PrimFunc, attrs};

impl Schedule {
    /// Lets the stride of dimension `axis` of the buffer of the block's write region `index` be `offset` more than a multiple of
    /// `factor` elements. A second one for the same dimension replaces the first, as in TVM.
    ///
    /// # Errors
    /// If a rule of the module's documentation is broken.
    pub fn storage_align(
        &mut self,
        block: BlockId,
        index: usize,
        axis: i64,
        factor: i64,
        offset: i64,
    ) -> Result<(), ScheduleError> {
        let alignments = check(&self.func, block, index, axis, factor, offset)
            .map_err(|refusal| refusal.of("storage_align"))?;
        let args = vec![
            block.into(),
            index.into(),
            Arg::Int(axis),
            Arg::Int(factor),
            Arg::Int(offset),
        ];
        self.record("storage_align", args, |func| {
            let annotations = &mut func.blocks[block].annotations;
            annotations.insert(attrs::STORAGE_ALIGN.to_owned(), alignments);
        });
        Ok(())
    }
}

/// The annotation with the new alignment.
fn check(
    func: &PrimFunc,
    block: BlockId,
    index: usize,
    axis: i64,
    factor: i64,
    offset: i64,
) -> Result<AttrValue, Refusal> {
    let node = attached_block(func, block)?;
    let refuse = |reason: Reason| Err(reason.at([block.into()]));
    let Some(write) = node.writes.get(index) else {
        return refuse(Reason::BufferIndexOutOfRange {
            block: node.name.clone(),
            index,
            count: node.writes.len(),
        });
    };
    if factor <= 0 {
        return refuse(Reason::AlignFactor { factor });
    }
    let dimensions = write.buffer.ndim() as i64;
    let from_start = if axis < 0 { axis + dimensions } else { axis };
    if !(0..dimensions).contains(&from_start) {
        return refuse(Reason::AxisOutOfRange {
            buffer: write.buffer.name().to_owned(),
            axis,
            dimensions: write.buffer.ndim(),
        });
    }
    if !func.allocated().any(|buffer| *buffer == write.buffer) {
        return refuse(Reason::NotAllocated {
            buffer: write.buffer.name().to_owned(),
        });
    }
    let entry = |values: [i64; 4]| AttrValue::List(values.map(AttrValue::Int).to_vec());
    let new = [index as i64, from_start, factor, offset];
    let given = node.annotations.get(attrs::STORAGE_ALIGN);
    let mut entries = match given {
        None => vec![],
        Some(given) => match attrs::alignments(given) {
            Some(entries) => entries,
            None => return refuse(Reason::AlignAnnotation),
        },
    };
    match entries.iter_mut().find(|old| old[..2] == new[..2]) {
        Some(old) => *old = new,
        None => entries.push(new),
    }
    Ok(AttrValue::List(entries.into_iter().map(entry).collect()))
}
