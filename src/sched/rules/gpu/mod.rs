//! Default rules for GPUs, in the order in which they are tried. Producers are inlined before that.
//!
//! | rule | for | form |
//! |---|---|---|
//! | `attention` | attention in blocks of queries by tiles of keys | a workgroup for each block, of few queries for each part of the keys; scores, sums and state in registers, operands of products in shared memory |
//! | `gemv` | products of at most eight rows, except on software adapters | few columns a workgroup, whose threads share the sum |
//! | `matmul_tensorization` | `C += A * B` of element types that the device has fragments of (cooperative matrices), with sums in `float32`, and convolutions of them | fragments in registers; operands and sums through shared memory |
//! | `implicit_gemm` | products of which one side is read through windows, of many channels, except on software adapters | `matmul` of pixels by channels; padding is computed where the image is copied to shared memory |
//! | `conv` | other products of which one side is read through windows, in rows | tiles in registers: pieces of rows, each for several channels |
//! | `depthwise` | windows that slide over one channel (depthwise convolution, pooling) | results below each other in registers, the window written out |
//! | `matmul` | `C += A * B` | tiles in registers; operands through shared memory, except on software adapters |
//! | `split_rows` | long rows of which there are few (sums of all elements) | workgroups reduce parts of a row, a second kernel what they give |
//! | `rows` | reductions over rows and what follows them (softmax, normalisation) | a workgroup per row, reduced by its threads; several short rows a workgroup |
//! | `columns` | reductions of neighbours for each of neighbouring results | 32 results a workgroup, eight threads for each |
//! | `few_results` | other reductions of few results and many terms, except on software adapters | a workgroup a result, whose threads share the terms |
//! | `transpose` | spatial blocks that read along another axis than they write | tiles through shared memory, except on software adapters |
//! | `elementwise` | spatial blocks | one fused loop over threads, vectors of 4 where the extent allows |
//! | `scan` | blocks around nests of which one scans chunks | a workgroup for each, a chunk a thread; tiles through shared memory |
//! | `recurrence` | blocks around nests that run one after the other (recurrent layers) | a workgroup for each, whose threads share each nest |
//! | `fallback` | other independent iterations | spatial loops over threads, the rest serial |
//! | `serial` | anything | one thread runs the loops as they are written |
//!
//! Where `gemv`, `implicit_gemm` and `matmul` would leave cores idle, a long sum is cut into slices, and a second kernel adds them
//! (`split_k`).
//!
//! References: TVM's dlight rules of the same names.

mod attention;
mod columns;
mod compile_time;
mod conv;
mod cost;
mod depthwise;
mod elementwise;
mod extents;
mod fallback;
mod few_results;
mod gemv;
mod implicit_gemm;
mod inline;
mod loops;
mod matmul;
mod matmul_tensorization;
mod recurrence;
mod rows;
mod scan;
mod serial;
mod shared_copy;
mod split_k;
mod split_rows;
mod striped;
mod tile;
mod traits;
mod transpose;
mod warp_tile;
mod window;

pub(super) use inline::{inline_producers, reader_of};
pub(super) use serial::{bind_rest, in_one_thread};

use super::pattern::{Matmul, Operand, Pattern, classify};
use super::variants::{Rows, ranges};
use super::{DefaultRule, SERIAL};
use crate::ir::{BlockId, Buffer, PrimFunc, Var};
use crate::kernel::{GpuTarget, Target};
use crate::sched::Schedule;
use traits::GpuTraits;

/// The rules; the last one takes every block.
pub(super) const RULES: &[DefaultRule<GpuTarget>] = &[
    DefaultRule::of_ways("attention", attention::apply),
    DefaultRule::new("gemv", gemv::apply),
    DefaultRule::of_ways("matmul_tensorization", matmul_tensorization::apply),
    DefaultRule::of_ways("implicit_gemm", implicit_gemm::apply),
    DefaultRule::new("conv", conv::apply),
    DefaultRule::new("depthwise", depthwise::apply),
    DefaultRule::of_ways("matmul", matmul::apply),
    DefaultRule::new("split_rows", split_rows::apply),
    DefaultRule::new("rows", rows::apply),
    DefaultRule::new("columns", columns::apply),
    DefaultRule::new("few_results", few_results::apply),
    DefaultRule::new("transpose", transpose::apply),
    DefaultRule::new("elementwise", elementwise::apply),
    DefaultRule::new("scan", scan::apply),
    DefaultRule::new("recurrence", recurrence::apply),
    DefaultRule::new("fallback", fallback::apply),
    DefaultRule::new(SERIAL, serial::apply),
];

/// Whether a product of one row, or image, gets a faster schedule: as a GEMV, or because all extents are known then. Those say how many
/// tiles there are, and so which tiles, or slices of the sum, keep the cores busy.
pub(super) fn pays_for_one_row(func: &PrimFunc, block: BlockId, target: &GpuTarget) -> bool {
    let mut iters = func.blocks[block].iters.iter();
    let is_known = iters.all(|iter| iter.dom.extent.as_int().is_some());
    GpuTraits::need_fast_shared(target).is_ok() && (is_known || gemv::takes(func, block))
}

/// Whether a product of open rows is a GEMV where the program asserts that there are few.
pub(super) fn pays_for_few_rows(func: &PrimFunc, block: BlockId, target: &GpuTarget) -> bool {
    let mut trial = inlined(func, target);
    gemv::apply(&mut trial, block, target).is_ok()
}

/// Whether a product of open rows is made of fragments where the program asserts that its rows are whole tiles.
pub(super) fn pays_for_whole_tiles(func: &PrimFunc, block: BlockId, target: &GpuTarget) -> bool {
    let mut trial = inlined(func, target);
    matmul_tensorization::apply(&mut trial, block, target, 0).is_ok()
}

/// Whether tiles of a product depend on how large it is.
pub(super) fn pays_for_large(func: &PrimFunc, block: BlockId, target: &GpuTarget) -> bool {
    has_fast_shared(target) && !gemv::takes(func, block)
}

/// The schedule before the first rule.
fn inlined(func: &PrimFunc, target: &GpuTarget) -> Schedule {
    let mut schedule = Schedule::new(func.clone());
    inline_producers(&mut schedule, target);
    schedule
}

/// Whether memory of a workgroup is faster than that of the device.
pub fn has_fast_shared(target: &GpuTarget) -> bool {
    GpuTraits::of(target).fast_shared
}

/// Whether a product takes a matrix from where it lies, in rows along the sums: as a GEMV.
pub(super) fn reads_along_sums(func: &PrimFunc, block: BlockId, matrix: &Buffer) -> bool {
    let Pattern::Matmul(Matmul { a, b, k, .. }) = classify(func, block) else {
        return false;
    };
    let along_k = |own: &&Operand| own.contiguous.is_some_and(|at| k.contains(&at));
    let mut own = [&a, &b].into_iter().filter(|own| own.buffer == *matrix);
    own.any(|own| along_k(&own)) && gemv::takes(func, block)
}

/// The order of the dimensions that a convolution is faster with, if its weights have another one.
pub(super) fn order_of_weights(
    func: &PrimFunc,
    block: BlockId,
    target: &GpuTarget,
) -> Option<(Buffer, Vec<usize>)> {
    implicit_gemm::order_of_weights(func, block, target)
}

/// Whether products of the target unpack weights of few bits where they read them.
pub fn reads_packed(target: &Target) -> bool {
    matches!(target, Target::Gpu(_))
}

/// The ranges of rows for which tiles of a product differ but the last one, and how many rows that one usually has.
pub(super) fn ranges_of_rows(
    func: &PrimFunc,
    block: BlockId,
    rows: &[Var],
    target: &GpuTarget,
) -> (Vec<Rows>, Option<i64>) {
    if gemv::takes(func, block) {
        return (vec![], None);
    }
    let times = matmul::times(func, block, rows, target);
    let mut found = times.map(ranges).unwrap_or_default();
    let last = found.pop();
    (found, last.map(|last| last.usual))
}

/// Threads of a workgroup for kernels that memory bounds.
fn memory_threads(target: &GpuTarget) -> i64 {
    let wanted = GpuTraits::of(target).memory_threads;
    wanted.min(i64::from(target.max_threads))
}
