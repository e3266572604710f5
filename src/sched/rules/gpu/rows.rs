//! Reductions over rows, alone or in a chain (softmax, layer normalisation): a workgroup takes a row; its threads reduce it
//! together, and what follows in the same row runs in the same workgroup. Of short rows a workgroup takes several, each with threads
//! of its own; of long rows of which there are few, each gets more threads.
//!
//! Reference: TVM dlight `GeneralReduction`.

use super::loops::{fuse_loops, parts};
use super::memory_threads;
use super::traits::GpuTraits;
use crate::ir::{BlockId, IterKind, LoopId, PrimFunc, ThreadAxis};
use crate::kernel::{GpuModel, GpuTarget};
use crate::sched::rules::DeclineReason;
use crate::sched::rules::chain::{Chain, along_rows, is_reduction, loops_of_rows};
use crate::sched::{Factor, InsertAt, Schedule, UnitIters};

pub(super) fn apply(
    sch: &mut Schedule,
    block: BlockId,
    target: &GpuTarget,
) -> Result<(), DeclineReason> {
    let chain = Chain::of(sch, block, MOST_OF_WHOLE)?;
    let Chain {
        blocks: chain,
        last,
        first,
        rows,
    } = chain;
    let mut share = Share::of(sch.func(), first, target);
    let loops = sch.get_loops(last)?;
    let (outer, inner) = loops.split_at(loops_of_rows(sch.func(), last, rows.len()));
    let row = match outer {
        [] if chain.len() == 1 => None,
        [] => {
            let row = match inner.first() {
                Some(&top) => sch.add_unit_loop(top)?,
                None => sch.add_unit_loop(last)?,
            };
            sch.bind(row, ThreadAxis::BlockIdxX)?;
            Some(row)
        }
        _ => {
            let row = fuse_loops(sch, outer)?;
            let rows = sch.func().loops[row].extent.as_int();
            share = share.for_rows(rows, length(sch.func(), first), target);
            Some(bind_rows(sch, row, share.rows)?)
        }
    };
    let reads = along_rows(sch.func(), last);
    over_threads(sch, last, inner, share, &reads)?;
    for &b in chain.iter().rev().filter(|&&b| b != last) {
        let row = row.ok_or(DeclineReason::Pattern("no rows"))?;
        sch.compute_at(b, row, UnitIters::Simplify, InsertAt::Latest)?;
        let all = sch.get_loops(b)?;
        let from = all.iter().position(|&l| l == row).map_or(0, |at| at + 1);
        let reads = along_rows(sch.func(), b);
        over_threads(sch, b, &all[from..], share, &reads)?;
    }
    Ok(())
}

/// Binds the loop over rows, so many of which a workgroup takes; gives the loop in whose iterations a row is computed.
fn bind_rows(sch: &mut Schedule, row: LoopId, of_group: i64) -> Result<LoopId, DeclineReason> {
    if of_group == 1 {
        sch.bind(row, ThreadAxis::BlockIdxX)?;
        return Ok(row);
    }
    let [groups, row] = parts(sch, row, [Factor::Infer, of_group.into()])?;
    sch.bind(groups, ThreadAxis::BlockIdxX)?;
    sch.bind(row, ThreadAxis::ThreadIdxY)?;
    Ok(row)
}

/// How the threads of a workgroup share rows.
#[derive(Clone, Copy)]
pub(super) struct Share {
    /// Threads of a row.
    threads: i64,
    /// Rows of a workgroup.
    rows: i64,
    /// Elements of a thread that are written out in one iteration, where it takes single elements.
    repeat: i64,
}

impl Share {
    /// For rows that this block reduces.
    pub(super) fn of(func: &PrimFunc, block: BlockId, target: &GpuTarget) -> Self {
        Self {
            threads: threads(func, block, target),
            rows: 1,
            repeat: GpuTraits::of(target).row_unroll,
        }
    }

    /// The same for so many rows of this length, which one kernel computes.
    pub(super) fn for_rows(
        self,
        rows: Option<i64>,
        length: Option<i64>,
        target: &GpuTarget,
    ) -> Self {
        let traits = GpuTraits::of(target);
        let Some((rows, length)) = rows.zip(length).filter(|_| traits.fast_shared) else {
            return self;
        };
        if length <= SHORT {
            let of_row = (length.max(1) as u64).next_power_of_two() as i64;
            let threads = of_row.clamp(FEWEST_THREADS, MOST_OF_SHORT);
            let most = (memory_threads(target) / threads).min(MOST_ROWS);
            let enough = |of_group: &i64| {
                rows % of_group == 0 && rows / of_group >= GROUPS_PER_CORE * target.cores()
            };
            let several = std::iter::successors(Some(most), |n| Some(n / 2));
            let several = several.take_while(|n| *n > 1).find(enough);
            return several.map_or(self, |rows| Self {
                threads,
                rows,
                ..self
            });
        }
        let wanted = target.cores() * i64::from(GpuModel::of_target(target).threads) / 2;
        let most = i64::from(target.max_threads);
        let mut threads = self.threads;
        while rows * threads < wanted
            && 2 * threads <= most
            && length >= 2 * threads * LANES * LEAST_VECTORS
        {
            threads *= 2;
        }
        Self { threads, ..self }
    }

    pub(super) fn threads(self) -> i64 {
        self.threads
    }

    /// Elements that all threads take at once.
    pub(super) fn step(self) -> i64 {
        self.threads * LANES
    }
}

/// Splits the fused loops over the threads of a workgroup, neighbours to neighbours; in rows of whole vectors a thread takes
/// four at a time, and a reduction loads them as one from what it reads along the rows.
pub(super) fn over_threads(
    sch: &mut Schedule,
    block: BlockId,
    loops: &[LoopId],
    share: Share,
    reads: &[usize],
) -> Result<(), DeclineReason> {
    if loops.is_empty() {
        return Ok(());
    }
    let Share {
        threads, repeat, ..
    } = share;
    let extents = loops.iter().map(|&l| &sch.func().loops[l].extent);
    let extents: Vec<_> = extents.filter(|e| !e.is_one()).cloned().collect();
    let fused = fuse_loops(sch, loops)?;
    let whole = sch.func().loops[fused].extent.as_int();
    let copies = is_reduction(sch.func(), block);
    // A partial step of several dimensions is no region that could be copied, nor are elements of two rows.
    let steps = |n: i64| match &extents[..] {
        [.., _, last] => {
            let whole_rows = last.as_int().is_some_and(|n| n % LANES == 0);
            n % (threads * LANES) == 0 && (!copies || whole_rows)
        }
        _ => n % LANES == 0,
    };
    // In a reduction that loads no vectors, neighbouring threads take neighbouring elements.
    let in_vectors = !copies || !reads.is_empty();
    let repeat = if in_vectors {
        repeat
    } else {
        repeat.max(LANES)
    };
    if !whole.is_some_and(|n| in_vectors && steps(n) && n >= threads * LANES) {
        if repeat == 1 || whole.is_some_and(|n| n < threads * repeat) {
            let parts = sch.split(fused, &[Factor::Infer, threads.into()])?;
            sch.bind(parts[1], ThreadAxis::ThreadIdxX)?;
        } else {
            let parts = sch.split(fused, &[Factor::Infer, repeat.into(), threads.into()])?;
            sch.bind(parts[2], ThreadAxis::ThreadIdxX)?;
            sch.unroll(parts[1])?;
        }
        return Ok(());
    }
    let parts = sch.split(fused, &[Factor::Infer, threads.into(), LANES.into()])?;
    sch.bind(parts[1], ThreadAxis::ThreadIdxX)?;
    if !copies {
        sch.vectorize(parts[2])?;
        return Ok(());
    }
    for &read in reads {
        let copy = sch.cache_read(block, read, "local", &[block])?;
        sch.compute_at(copy, parts[1], UnitIters::Simplify, InsertAt::Latest)?;
        if let Some(&lanes) = sch.get_loops(copy)?.last() {
            sch.vectorize(lanes)?;
        }
    }
    sch.unroll(parts[2])?;
    Ok(())
}

/// Elements of one load: 16 bytes of `f32`.
pub(super) const LANES: i64 = 4;

/// Most elements that a workgroup computes of what follows, where one row is all that is reduced: another kernel takes longer.
pub(super) const MOST_OF_WHOLE: i64 = 4096;
/// Rows of which a workgroup takes several, at most. With a workgroup each, 65536 rows of 128 took 87 us on an H100, where memory
/// would take 20: workgroups do not start that fast.
pub(super) const SHORT: i64 = 256;
/// Threads of a short row: those of a subgroup, or fewer.
const FEWEST_THREADS: i64 = 4;
const MOST_OF_SHORT: i64 = 32;
/// Most short rows of a workgroup.
const MOST_ROWS: i64 = 8;
/// Workgroups for each core, at least, where they take several rows.
const GROUPS_PER_CORE: i64 = 2;
/// Vectors of a thread, at least, where a long row gets more threads.
const LEAST_VECTORS: i64 = 4;

/// The elements of a row that this block reduces.
pub(super) fn length(func: &PrimFunc, block: BlockId) -> Option<i64> {
    let iters = func.blocks[block].iters.iter();
    let reduced = iters.filter(|i| i.kind == IterKind::Reduce);
    reduced.map(|i| i.dom.extent.as_int()).product()
}

fn threads(func: &PrimFunc, block: BlockId, target: &GpuTarget) -> i64 {
    let [short, middle, long] = GpuTraits::of(target).row_threads;
    let wanted = match length(func, block) {
        Some(n) if n <= SHORT => short,
        Some(n) if n <= 1024 => middle,
        _ => long,
    };
    wanted.min(i64::from(target.max_threads))
}
