//! Inlining before anything else: what an elementwise block computes is computed where it is read.

use super::{conv, depthwise, implicit_gemm};
use crate::ir::{BlockId, Buffer, Place, PrimFunc};
use crate::kernel::GpuTarget;
use crate::sched::Schedule;
use crate::sched::rules::DeclineReason;
use crate::sched::rules::chain::is_serial;
use crate::sched::rules::inline::into_consumers;
use crate::sched::rules::pattern::{Pattern, classify};

/// Inlines every producer that a rule of `compute_inline` allows, but for the operands of convolutions and poolings: each element of
/// them is read many times.
pub(in crate::sched::rules) fn inline_producers(sch: &mut Schedule, target: &GpuTarget) {
    let root = sch.func().root;
    for block in sch.func().child_blocks(Place::Block(root)) {
        if matches!(classify(sch.func(), block), Pattern::Injective)
            && convolution_of(sch.func(), block, target).is_none()
        {
            into_consumers(sch, block);
        }
    }
}

/// The convolution or pooling at the root that reads what the block writes.
pub(in crate::sched::rules) fn convolution_of(
    func: &PrimFunc,
    block: BlockId,
    target: &GpuTarget,
) -> Option<BlockId> {
    let writes = func.blocks[block].writes.iter();
    let written: Vec<&Buffer> = writes.map(|w| &w.buffer).collect();
    let others = func.child_blocks(Place::Block(func.root)).into_iter();
    let mut readers = others.filter(|&other| {
        let mut reads = func.blocks[other].reads.iter();
        other != block && reads.any(|r| written.contains(&&r.buffer))
    });
    readers.find(|&reader| {
        implicit_gemm::takes(func, reader, target)
            || conv::is_convolution(func, reader)
            || depthwise::takes(func, reader)
    })
}

/// Computes what is copied, the padding of an image, where it is copied. Gives whether there is anything.
pub(super) fn inline_into(sch: &mut Schedule, copy: BlockId) -> Result<bool, DeclineReason> {
    let mut any = false;
    for producer in sch.get_producers(copy)? {
        let func = sch.func();
        if matches!(classify(func, producer), Pattern::Injective) && is_serial(func, producer) {
            any |= into_consumers(sch, producer);
        }
    }
    Ok(any)
}
