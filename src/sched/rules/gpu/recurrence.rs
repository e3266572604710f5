//! Recurrences: blocks around nests that run one after the other, in loops whose iterations read what earlier ones left, as a
//! recurrent layer does with its state. A workgroup takes an iteration of the block around them, and its threads share the independent
//! iterations of each nest; ordered loops stay as they are. What passes from nest to nest is in shared memory.
//!
//! ```text
//! for s in batch:                             for s in blockIdx.x:
//!     with block("layer"):                        with block("layer"):
//!         for step in time:                           for step in time:
//!             for g, k: products[g] += …                  for g_1 in threadIdx.y: for k_1 in threadIdx.x: …
//!             for j: state[j] = …                         for j_1 in threadIdx.y: for j_2 in threadIdx.x: …
//! ```

use super::loops::{fuse_loops, parts};
use super::traits::GpuTraits;
use crate::ir::{BlockId, PrimFunc, ThreadAxis};
use crate::kernel::GpuTarget;
use crate::sched::rules::DeclineReason;
use crate::sched::rules::nest::{fuse_all, sort_loops};
use crate::sched::rules::pattern::results_of_reduction;
use crate::sched::rules::recurrence::{StepLoops, count, sort_step, steps};
use crate::sched::{Factor, Schedule};

/// Threads that share a sum, at most: a subgroup of most devices.
const MOST_SHARERS: i64 = 32;
/// Iterations around the nests, for each core of a software adapter, that need no more threads.
const FULL: i64 = 2;
/// Terms of a sum for each thread that shares it, at least.
const TERMS: i64 = 4;

pub(super) fn apply(
    sch: &mut Schedule,
    block: BlockId,
    target: &GpuTarget,
) -> Result<(), DeclineReason> {
    let steps = steps(sch.func(), block)?;
    let nest = sort_loops(sch, block)?;
    if !nest.reduce.is_empty() {
        return Err(DeclineReason::Pattern("a reduction of nests"));
    }
    let alone = count(sch.func(), &nest.spatial).is_some_and(|n| n >= FULL * target.cores());
    if alone && !GpuTraits::of(target).fast_shared {
        return Err(DeclineReason::Pattern(
            "a thread of each keeps the cores busy",
        ));
    }
    let threads = Threads::of(sch.func(), &steps, target);
    for &step in &steps {
        over_threads(sch, step, threads)?;
    }
    let outer = fuse_all(sch, block, &nest.spatial)?;
    sch.bind(outer, ThreadAxis::BlockIdxX)?;
    Ok(())
}

/// The threads of a workgroup: each sum is shared by some, and other iterations by all.
#[derive(Clone, Copy)]
struct Threads {
    sums: i64,
    sharers: i64,
}

impl Threads {
    /// On a software adapter a workgroup runs on one core, and its threads are lanes of vectors. Measured on lavapipe, 2 cores, a layer of
    /// 512 units and 32 steps: 280 ms in one thread, 144 with 8×1 threads, 163 with 64×1, 70 with these, 74 with 16×8; one of 64 units
    /// 5.1 ms, and 3.3 with these.
    const OF_SOFTWARE: Self = Self {
        sums: 4,
        sharers: 8,
    };

    /// As many as the largest nest keeps busy.
    fn of(func: &PrimFunc, steps: &[BlockId], target: &GpuTarget) -> Self {
        if !GpuTraits::of(target).fast_shared {
            return Self::OF_SOFTWARE;
        }
        let (mut widest, mut longest) = (1, 1);
        for nest in steps.iter().map(|&step| StepLoops::of(func, step)) {
            widest = widest.max(count(func, &nest.spatial).unwrap_or(i64::MAX));
            longest = longest.max(count(func, &nest.reduce).unwrap_or(i64::MAX));
        }
        let most = i64::from(target.max_threads);
        let sharers = 1 << (longest / TERMS).clamp(1, MOST_SHARERS).ilog2();
        let wanted = widest.saturating_mul(sharers).clamp(1, most);
        let all = 1
            << (wanted as u64)
                .next_power_of_two()
                .ilog2()
                .min(most.ilog2());
        Self {
            sums: (all / sharers).max(1),
            sharers,
        }
    }
}

/// Binds the independent loops of a nest.
fn over_threads(sch: &mut Schedule, block: BlockId, threads: Threads) -> Result<(), DeclineReason> {
    let Threads { sums, sharers } = threads;
    let StepLoops {
        ordered: _,
        spatial,
        reduce,
    } = sort_step(sch, block)?;
    let fused = fuse_loops(sch, &spatial)?;
    if sharers == 1 {
        let [_, each] = parts(sch, fused, [Factor::Infer, sums.into()])?;
        sch.bind(each, ThreadAxis::ThreadIdxX)?;
        return Ok(());
    }
    if reduce.is_empty() || results_of_reduction(sch.func(), block).is_none() {
        let factors = [Factor::Infer, sums.into(), sharers.into()];
        let [_, y, x] = parts(sch, fused, factors)?;
        sch.bind(y, ThreadAxis::ThreadIdxY)?;
        sch.bind(x, ThreadAxis::ThreadIdxX)?;
        return Ok(());
    }
    let [_, y] = parts(sch, fused, [Factor::Infer, sums.into()])?;
    let terms = fuse_loops(sch, &reduce)?;
    let [_, x] = parts(sch, terms, [Factor::Infer, sharers.into()])?;
    sch.bind(y, ThreadAxis::ThreadIdxY)?;
    sch.bind(x, ThreadAxis::ThreadIdxX)?;
    Ok(())
}
