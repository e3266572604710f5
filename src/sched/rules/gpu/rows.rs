//! Reductions over rows, alone or in a chain (softmax, layer normalisation): a workgroup takes a row; its threads reduce it
//! together, and what follows in the same row runs in the same workgroup.
//!
//! Reference: TVM dlight `GeneralReduction`.

use super::loops::fuse_loops;
use super::traits::GpuTraits;
use crate::ir::{BlockId, IterKind, LoopId, PrimFunc, ThreadAxis};
use crate::kernel::GpuTarget;
use crate::sched::rules::DeclineReason;
use crate::sched::rules::chain::{Chain, along_rows, is_reduction, loops_of_rows};
use crate::sched::{Factor, InsertAt, Schedule, UnitIters};

pub(super) fn apply(
    sch: &mut Schedule,
    block: BlockId,
    target: &GpuTarget,
) -> Result<(), DeclineReason> {
    let chain = Chain::of(sch, block)?;
    let Chain {
        blocks: chain,
        last,
        first,
        rows,
    } = chain;
    let share = Share::of(sch.func(), first, target);
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
            sch.bind(row, ThreadAxis::BlockIdxX)?;
            Some(row)
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

/// How the threads of a workgroup share a row.
#[derive(Clone, Copy)]
pub(super) struct Share {
    threads: i64,
    /// Elements of a thread that are written out in one iteration, where it takes single elements.
    repeat: i64,
}

impl Share {
    /// For rows that this block reduces.
    pub(super) fn of(func: &PrimFunc, block: BlockId, target: &GpuTarget) -> Self {
        Self {
            threads: threads(func, block, target),
            repeat: GpuTraits::of(target).row_unroll,
        }
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
    let Share { threads, repeat } = share;
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
    if !whole.is_some_and(|n| steps(n) && n >= threads * LANES) {
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

fn threads(func: &PrimFunc, block: BlockId, target: &GpuTarget) -> i64 {
    let length: Option<i64> = func.blocks[block]
        .iters
        .iter()
        .filter(|i| i.kind == IterKind::Reduce)
        .map(|i| i.dom.extent.as_int())
        .product();
    let [short, middle, long] = GpuTraits::of(target).row_threads;
    let wanted = match length {
        Some(n) if n <= 256 => short,
        Some(n) if n <= 1024 => middle,
        _ => long,
    };
    wanted.min(i64::from(target.max_threads))
}
