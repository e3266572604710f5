//! Scans in tiles (`topi/scan/tiles.rs`): blocks around nests of which one scans chunks. A workgroup takes an iteration of the block, and a
//! thread a chunk. The threads copy tiles to shared memory and back together, neighbours in memory to neighbours; what a thread has of
//! its chunk is in registers, and what it tells others in shared memory.
//!
//! ```text
//! for group in blockIdx.x:
//!     for k in …: for t in threadIdx.x: values[line, chunk, step] = x      → shared, with rows of odd length
//!     for t in threadIdx.x: for step in unroll: own[step] = values[t, step]
//!     for t in threadIdx.x: sums[t] = sum(own)                             → shared
//!     for t in threadIdx.x: sums[t] = sums[t - 1] + sums[t]                # and so on, with 2, 4, … for 1
//!     for t in threadIdx.x: for step in unroll: values[t, step] = running = running + own[step]
//!     for k in …: for t in threadIdx.x: result = values[line, chunk, step]
//! ```

use super::loops::{fuse_loops, parts};
use super::shared_copy::has_whole_vectors;
use super::traits::GpuTraits;
use crate::ir::{Block, BlockId, Buffer, IterKind, LoopId, Place, PrimFunc, Scope, ThreadAxis};
use crate::kernel::GpuTarget;
use crate::sched::rules::DeclineReason;
use crate::sched::rules::nest::{fuse_all, sort_loops};
use crate::sched::rules::pattern::neighbours;
use crate::sched::{Factor, Schedule};

/// Elements of a vector.
const LANES: i64 = 4;
/// Vectors, or elements, of a thread that are written out in a copy: it has asked for all of them before the first one is there.
const WRITTEN_OUT: i64 = 8;

pub(super) fn apply(
    sch: &mut Schedule,
    block: BlockId,
    target: &GpuTarget,
) -> Result<(), DeclineReason> {
    let steps = steps(sch.func(), block);
    let scan = steps.iter().find(|&&step| is_scan(sch.func(), step));
    let &scan = scan.ok_or(DeclineReason::Pattern("no scan inside of a block"))?;
    GpuTraits::need_fast_shared(target)?;
    let threads = chunks(sch.func(), scan).filter(|n| *n <= i64::from(target.max_threads));
    let threads = threads.ok_or(DeclineReason::Pattern(
        "chunks that are not known, or too many",
    ))?;
    let nest = sort_loops(sch, block)?;
    if !nest.reduce.is_empty() {
        return Err(DeclineReason::Pattern("a reduction of scans"));
    }
    for &step in &steps {
        share(sch, block, step)?;
    }
    for &step in &steps {
        match is_copy(sch.func(), block, step) {
            true => copy(sch, step, threads)?,
            false => of_threads(sch, step, threads)?,
        }
    }
    let groups = fuse_all(sch, block, &nest.spatial)?;
    sch.bind(groups, ThreadAxis::BlockIdxX)?;
    Ok(())
}

/// The blocks in a block that hold no others, in program order.
fn steps(func: &PrimFunc, block: BlockId) -> Vec<BlockId> {
    let inside = func.blocks_under(block.into()).into_iter();
    let leaves = inside.filter(|&b| b != block && func.child_blocks(b.into()).is_empty());
    leaves.collect()
}

/// Whether each iteration of a step goes through a chunk, with a value of its own from step to step.
fn is_scan(func: &PrimFunc, step: BlockId) -> bool {
    !func.blocks[step].alloc_buffers.is_empty() && !own_loops(func, step).is_empty()
}

/// The loops inside of a block.
fn own_loops(func: &PrimFunc, step: BlockId) -> Vec<LoopId> {
    let mut loops = vec![];
    func.tree.walk(step.into(), &mut |place| {
        if let Place::Loop(l) = place {
            loops.push(l);
        }
    });
    loops
}

/// How many chunks a nest scans.
fn chunks(func: &PrimFunc, scan: BlockId) -> Option<i64> {
    let iters = func.blocks[scan].iters.iter();
    let chunks = iters.filter(|iter| iter.kind == IterKind::Spatial);
    chunks.map(|iter| iter.dom.extent.as_int()).product()
}

/// Whether a buffer is of one iteration of the block.
fn is_own(func: &PrimFunc, block: BlockId, buffer: &Buffer) -> bool {
    let mut blocks = func.blocks_under(block.into()).into_iter().chain([block]);
    blocks.any(|b| func.blocks[b].alloc_buffers.contains(buffer))
}

/// Whether a step accesses tensors, and not the memory of the workgroup alone.
fn is_copy(func: &PrimFunc, block: BlockId, step: BlockId) -> bool {
    let info = &func.blocks[step];
    let mut regions = info.reads.iter().chain(&info.writes);
    regions.any(|region| !is_own(func, block, &region.buffer))
}

/// Puts what threads tell each other in shared memory.
fn share(sch: &mut Schedule, block: BlockId, step: BlockId) -> Result<(), DeclineReason> {
    for at in 0..sch.func().blocks[step].writes.len() {
        let buffer = &sch.func().blocks[step].writes[at].buffer;
        if *buffer.scope() == Scope::Global && is_own(sch.func(), block, buffer) {
            sch.set_scope(step, at, "shared")?;
        }
    }
    Ok(())
}

/// All threads copy, neighbours in memory to neighbours.
fn copy(sch: &mut Schedule, step: BlockId, threads: i64) -> Result<(), DeclineReason> {
    let block = &sch.func().blocks[step];
    let [write] = block.writes.as_slice() else {
        return Err(DeclineReason::Pattern("a copy of several tensors"));
    };
    let in_vectors = is_in_vectors(block);
    let rows = write.buffer.ndim() as i64 - 2;
    if *write.buffer.scope() == Scope::Shared && rows >= 0 {
        // Each thread reads a row of its own then: an odd number of elements apart, they meet in no bank.
        sch.storage_align(step, 0, rows, 2, 1)?;
    }
    let loops = sch.get_loops(step)?;
    let fused = fuse_loops(sch, &loops)?;
    let elements = sch.func().loops[fused].extent.as_int().unwrap_or(1);
    let vector = match in_vectors && elements % (threads * LANES) == 0 {
        true => LANES,
        false => 1,
    };
    let repeats = elements / (threads * vector);
    let written_out = match repeats % WRITTEN_OUT {
        0 => WRITTEN_OUT,
        _ => repeats.clamp(1, WRITTEN_OUT),
    };
    let factors = [
        Factor::Infer,
        written_out.into(),
        threads.into(),
        vector.into(),
    ];
    let [_, several, each, lanes] = parts(sch, fused, factors)?;
    sch.bind(each, ThreadAxis::ThreadIdxX)?;
    sch.unroll(several)?;
    if vector > 1 {
        sch.vectorize(lanes)?;
    }
    Ok(())
}

/// Whether four iterations that follow each other access vectors.
fn is_in_vectors(block: &Block) -> bool {
    let along = block.iters.len().checked_sub(1);
    let mut regions = block.reads.iter().chain(&block.writes);
    regions.all(|region| neighbours(block, region) == along && has_whole_vectors(region))
}

/// Each thread has a chunk, and goes through it by itself; the loops of a chunk are written out, so that it is in registers.
fn of_threads(sch: &mut Schedule, step: BlockId, threads: i64) -> Result<(), DeclineReason> {
    let loops = sch.get_loops(step)?;
    let mut count = 1;
    let of_chunks = loops.iter().take_while(|&&l| {
        let more = count < threads;
        count *= sch.func().loops[l].extent.as_int().unwrap_or(threads);
        more
    });
    let of_chunks = of_chunks.count().max(1).min(loops.len());
    let (chunks, own) = loops.split_at(of_chunks);
    let each = fuse_loops(sch, chunks)?;
    sch.bind(each, ThreadAxis::ThreadIdxX)?;
    let inside = own_loops(sch.func(), step);
    for &l in own.iter().chain(&inside) {
        sch.unroll(l)?;
    }
    Ok(())
}
