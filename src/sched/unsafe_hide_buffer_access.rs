//! `unsafe_hide_buffer_access`: a block no longer declares some of the regions that it reads or writes.
//!
//! ```text
//! with T.block("B"):                      with T.block("B"):
//!     T.reads(A[vi], W[vi])                   T.reads(A[vi])
//!     T.writes(B[vi])                         T.writes(B[vi])
//!     B[vi] = A[vi] + W[vi]                   B[vi] = A[vi] + W[vi]
//! ```
//!
//! Requires: "read" or "write", and positions among such regions of the block. *Unsafe*: the block computes the same, but later
//! primitives do not see the hidden accesses, and may move the block past what it depends on. TVM has it so that blocks of which one
//! knows more than the analysis can be moved.

use super::{Arg, BufferReason, Refusal, Schedule, ScheduleError, attached_block};
use crate::ir::{BlockId, BufferRegion, PrimFunc};

impl Schedule {
    /// Hides the `kind` regions ("read" or "write") of the block at these positions from all later analysis.
    ///
    /// # Errors
    /// If there are no such regions.
    pub fn unsafe_hide_buffer_access(
        &mut self,
        block: BlockId,
        kind: &str,
        indices: &[i64],
    ) -> Result<(), ScheduleError> {
        let (reads, writes) = check(&self.func, block, kind, indices)
            .map_err(|refusal| refusal.of("unsafe_hide_buffer_access"))?;
        let args: Vec<Arg> = vec![block.into(), kind.into(), indices.into()];
        self.record("unsafe_hide_buffer_access", args, |func| {
            let node = &mut func.blocks[block];
            (node.reads, node.writes) = (reads, writes);
        });
        Ok(())
    }
}

/// The regions that are left.
fn check(
    func: &PrimFunc,
    block: BlockId,
    kind: &str,
    indices: &[i64],
) -> Result<(Vec<BufferRegion>, Vec<BufferRegion>), Refusal> {
    let node = attached_block(func, block)?;
    let (mut reads, mut writes) = (node.reads.clone(), node.writes.clone());
    let regions: &mut Vec<BufferRegion> = match kind {
        "read" => &mut reads,
        "write" => &mut writes,
        _ => {
            let kind = kind.to_owned();
            return Err(BufferReason::AccessKind { kind }.at([block.into()]));
        }
    };
    let count = regions.len();
    let inside = |index: &&i64| !(0..count as i64).contains(*index);
    if let Some(&index) = indices.iter().find(inside) {
        let reason = BufferReason::NoSuchRegion {
            block: node.name.clone(),
            index,
            count,
        };
        return Err(reason.at([block.into()]));
    }
    let mut at = -1;
    regions.retain(|_| {
        at += 1;
        !indices.contains(&at)
    });
    Ok((reads, writes))
}
