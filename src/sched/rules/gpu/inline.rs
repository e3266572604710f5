//! Inlining before anything else: what an elementwise block computes is computed where it is read.

use super::{conv, depthwise, implicit_gemm};
use crate::ir::{BlockId, Buffer, Place, PrimFunc};
use crate::kernel::GpuTarget;
use crate::sched::Schedule;
use crate::sched::rules::DeclineReason;
use crate::sched::rules::chain::is_serial;
use crate::sched::rules::inline::into_consumers;
use crate::sched::rules::pattern::{Pattern, classify};

/// Inlines every producer that a rule of `compute_inline` allows, but for the operands of convolutions and poolings, each element of which is
/// read many times, and for computed operands of products, as dequantized weights: the rules of products read operands, not values.
pub(in crate::sched::rules) fn inline_producers(sch: &mut Schedule, target: &GpuTarget) {
    let root = sch.func().root;
    for block in sch.func().child_blocks(Place::Block(root)) {
        if matches!(classify(sch.func(), block), Pattern::Injective)
            && window_reader_of(sch.func(), block, target).is_none()
        {
            let mut attempt = sch.clone();
            let products = products_of(sch.func(), block);
            let done = into_consumers(&mut attempt, block);
            let is_product =
                |reader: &BlockId| matches!(classify(attempt.func(), *reader), Pattern::Matmul(_));
            if done && products.iter().all(is_product) {
                *sch = attempt;
            }
        }
    }
}

/// The product, convolution or pooling at the root that reads what an injective block writes. Its rule decides where that is computed.
pub(in crate::sched::rules) fn reader_of(
    func: &PrimFunc,
    block: BlockId,
    target: &GpuTarget,
) -> Option<BlockId> {
    let window = window_reader_of(func, block, target);
    window.or_else(|| match classify(func, block) {
        Pattern::Injective => products_of(func, block).first().copied(),
        _ => None,
    })
}

/// The convolution or pooling at the root that reads what the block writes.
fn window_reader_of(func: &PrimFunc, block: BlockId, target: &GpuTarget) -> Option<BlockId> {
    readers_of(func, block).find(|&reader| {
        implicit_gemm::takes(func, reader, target)
            || conv::is_convolution(func, reader)
            || depthwise::takes(func, reader)
    })
}

/// The products at the root that read what the block writes.
fn products_of(func: &PrimFunc, block: BlockId) -> Vec<BlockId> {
    let readers = readers_of(func, block);
    let is_product = |reader: &BlockId| matches!(classify(func, *reader), Pattern::Matmul(_));
    readers.filter(is_product).collect()
}

/// The blocks at the root that read what the block writes.
fn readers_of(func: &PrimFunc, block: BlockId) -> impl Iterator<Item = BlockId> {
    let writes = func.blocks[block].writes.iter();
    let written: Vec<Buffer> = writes.map(|w| w.buffer.clone()).collect();
    let others = func.child_blocks(Place::Block(func.root)).into_iter();
    others.filter(move |&other| {
        let mut reads = func.blocks[other].reads.iter();
        other != block && reads.any(|r| written.contains(&r.buffer))
    })
}

/// Computes what is copied, as the padding of an image or a dequantized weight, where it is copied. Gives whether there is anything.
pub(super) fn inline_into(sch: &mut Schedule, copy: BlockId) -> Result<bool, DeclineReason> {
    let mut any = false;
    // What a producer reads may be computed, too.
    loop {
        let mut inlined = false;
        for producer in sch.get_producers(copy)? {
            let func = sch.func();
            if matches!(classify(func, producer), Pattern::Injective) && is_serial(func, producer) {
                inlined |= into_consumers(sch, producer);
            }
        }
        if !inlined {
            return Ok(any);
        }
        any = true;
    }
}
