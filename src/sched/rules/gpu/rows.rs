//! Reductions over rows, alone or in a chain (softmax, layer normalisation): a workgroup takes a row; its threads reduce it
//! together, and what follows in the same row runs in the same workgroup.
//!
//! Reference: TVM dlight `GeneralReduction`.

use super::fuse_loops;
use crate::ir::{
    BlockId, BufferRegion, Expr, IterKind, LoopId, LoopKind, Place, PrimFunc, ThreadAxis, Var,
};
use crate::kernel::{GpuClass, GpuTarget};
use crate::sched::rules::DeclineReason;
use crate::sched::rules::pattern::{Pattern, classify, is_associative};
use crate::sched::rules::reuse::shares_inputs;
use crate::sched::{Factor, InsertAt, Schedule, UnitLoops};

pub(super) fn apply(
    sch: &mut Schedule,
    block: BlockId,
    target: &GpuTarget,
) -> Result<(), DeclineReason> {
    let users = users_of(sch, block)?;
    let last = users.last().copied().unwrap_or(block);
    let mut chain = chain_to(sch, last)?;
    let first = chain
        .iter()
        .copied()
        .find(|&b| is_reduction(sch.func(), b))
        .ok_or(DeclineReason::Pattern("no reduction"))?;
    let rows = spatial_extents(sch.func(), first);
    // What is reduced as a whole keeps one workgroup busy; what follows with more elements is for other rules.
    let whole = |b: &BlockId| spatial_extents(sch.func(), *b).iter().all(Expr::is_one);
    let last = match users.into_iter().rfind(whole) {
        Some(end) if whole(&first) => {
            chain = chain_to(sch, end)?;
            end
        }
        _ => last,
    };
    let same_rows = |&b: &BlockId| {
        let known = spatial_extents(sch.func(), b);
        let reduction = is_reduction(sch.func(), b);
        known.len() >= rows.len()
            && known[..rows.len()] == rows[..]
            && !(reduction && known.len() > rows.len())
    };
    if !chain.iter().all(same_rows) {
        return Err(DeclineReason::Pattern("the blocks do not share their rows"));
    }
    let combine = |&b: &BlockId| !is_reduction(sch.func(), b) || is_associative(sch.func(), b);
    if !chain.iter().all(combine) {
        return Err(DeclineReason::Pattern(
            "a reduction whose terms may not be combined in another order",
        ));
    }
    if along_rows(sch.func(), first).is_empty() {
        return Err(DeclineReason::Pattern("rows are not contiguous"));
    }
    let share = Share {
        threads: threads(sch.func(), first, target),
        repeat: if target.class == GpuClass::Software {
            4
        } else {
            1
        },
    };
    if chain.iter().any(|&b| shares_inputs(sch.func(), b)) {
        return Err(DeclineReason::Pattern(
            "several results are made of the same inputs",
        ));
    }
    let loops = sch.get_loops(last)?;
    let bindings = sch.func().blocks[last].bindings.iter().take(rows.len());
    let (outer, inner) = loops.split_at(bindings.filter(|e| !is_fixed(e)).count());
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
    over_threads(sch, last, inner, share)?;
    for &b in chain.iter().rev().filter(|&&b| b != last) {
        let row = row.ok_or(DeclineReason::Pattern("no rows"))?;
        sch.compute_at(b, row, UnitLoops::Drop, InsertAt::Latest)?;
        let all = sch.get_loops(b)?;
        let from = all.iter().position(|&l| l == row).map_or(0, |at| at + 1);
        over_threads(sch, b, &all[from..], share)?;
    }
    Ok(())
}

/// How the threads of a workgroup share a row.
#[derive(Clone, Copy)]
struct Share {
    threads: i64,
    /// Elements of a thread that are written out in one iteration, where it takes single elements. On a software adapter the
    /// bookkeeping of a loop costs as much as several elements (measured on lavapipe, softmax over rows of 4096: 0.8 of the
    /// time).
    repeat: i64,
}

/// Splits the fused loops over the threads of a workgroup, neighbours to neighbours; in rows of whole vectors a thread takes
/// four at a time, and a reduction loads them as one.
fn over_threads(
    sch: &mut Schedule,
    block: BlockId,
    loops: &[LoopId],
    share: Share,
) -> Result<(), DeclineReason> {
    if loops.is_empty() {
        return Ok(());
    }
    let Share { threads, repeat } = share;
    let several = loops
        .iter()
        .filter(|&&l| !sch.func().loops[l].extent.is_one())
        .count()
        > 1;
    let fused = fuse_loops(sch, loops)?;
    let whole = sch.func().loops[fused].extent.as_int();
    // A partial step of several dimensions is no region that could be copied.
    let steps = |n: i64| n % LANES == 0 && (!several || n % (threads * LANES) == 0);
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
    if !is_reduction(sch.func(), block) {
        sch.vectorize(parts[2])?;
        return Ok(());
    }
    for read in along_rows(sch.func(), block) {
        let copy = sch.cache_read(block, read, "local", &[block])?;
        sch.compute_at(copy, parts[1], UnitLoops::Drop, InsertAt::Latest)?;
        if let Some(&lanes) = sch.get_loops(copy)?.last() {
            sch.vectorize(lanes)?;
        }
    }
    sch.unroll(parts[2])?;
    Ok(())
}

/// Elements of one load: 16 bytes of `f32`.
const LANES: i64 = 4;

/// The block and all that use what it computes, directly or not, in program order.
fn users_of(sch: &mut Schedule, block: BlockId) -> Result<Vec<BlockId>, DeclineReason> {
    let mut known = vec![block];
    let mut at = 0;
    while at < known.len() {
        for consumer in sch.get_consumers(known[at])? {
            if !known.contains(&consumer) {
                known.push(consumer);
            }
        }
        at += 1;
    }
    let order = sch.func().child_blocks(Place::Block(sch.func().root));
    Ok(order.into_iter().filter(|b| known.contains(b)).collect())
}

/// The block and all producers of it, in program order.
fn chain_to(sch: &mut Schedule, block: BlockId) -> Result<Vec<BlockId>, DeclineReason> {
    let mut chain = vec![block];
    let mut at = 0;
    while at < chain.len() {
        for producer in sch.get_producers(chain[at])? {
            if !chain.contains(&producer) {
                chain.push(producer);
            }
        }
        at += 1;
    }
    let func = sch.func();
    let order = func.child_blocks(Place::Block(func.root));
    chain.sort_by_key(|b| order.iter().position(|o| o == b));
    let fits = chain.iter().all(|&b| {
        let loops = func.loops_above(b.into());
        let own = func.blocks[b].bindings.iter().filter(|e| !is_fixed(e));
        let own: Vec<Option<&Var>> = own.map(Expr::as_var).collect();
        let vars: Vec<Option<&Var>> = loops.iter().map(|&l| Some(&func.loops[l].var)).collect();
        !matches!(classify(func, b), Pattern::Other)
            && own == vars
            && loops
                .iter()
                .all(|&l| func.loops[l].kind == LoopKind::Serial)
    });
    if fits {
        Ok(chain)
    } else {
        Err(DeclineReason::Pattern(
            "a block of the chain is no reduction or spatial block in loops of its own",
        ))
    }
}

/// Whether what an iter variable is bound to needs no loop.
fn is_fixed(binding: &Expr) -> bool {
    binding.as_int().is_some()
}

fn is_reduction(func: &PrimFunc, block: BlockId) -> bool {
    func.blocks[block]
        .iters
        .iter()
        .any(|i| i.kind == IterKind::Reduce)
}

/// Extents of the spatial iter variables, which must come first.
fn spatial_extents(func: &PrimFunc, block: BlockId) -> Vec<Expr> {
    func.blocks[block]
        .iters
        .iter()
        .take_while(|i| i.kind == IterKind::Spatial)
        .map(|i| i.dom.extent.clone())
        .collect()
}

/// The reads in which neighbours of the last reduce iter variable are neighbours in memory.
fn along_rows(func: &PrimFunc, block: BlockId) -> Vec<usize> {
    let b = &func.blocks[block];
    let Some(last) = b.iters.iter().rfind(|i| i.kind == IterKind::Reduce) else {
        return vec![];
    };
    let contiguous = |r: &BufferRegion| {
        let innermost = r.region.last();
        innermost.is_some_and(|range| range.min.as_var() == Some(&last.var))
    };
    (0..b.reads.len())
        .filter(|&i| contiguous(&b.reads[i]))
        .collect()
}

fn threads(func: &PrimFunc, block: BlockId, target: &GpuTarget) -> i64 {
    let length: Option<i64> = func.blocks[block]
        .iters
        .iter()
        .filter(|i| i.kind == IterKind::Reduce)
        .map(|i| i.dom.extent.as_int())
        .product();
    let wanted = match (target.class, length) {
        (GpuClass::Software, _) => 8,
        (_, Some(n)) if n <= 256 => 64,
        (_, Some(n)) if n <= 1024 => 128,
        _ => 256,
    };
    wanted.min(i64::from(target.max_threads))
}
