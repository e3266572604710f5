//! Long rows of which there are few (all elements of a tensor are one): several workgroups reduce a part of a row each, and a second
//! kernel reduces what they give, so that one row keeps more than one core busy.
//!
//! Reference: TVM `Schedule::rfactor`.

use super::few_results;
use super::loops::fuse_loops;
use super::rows::{self, Share};
use crate::arith::Analyzer;
use crate::ir::{BlockId, BufferRegion, Expr, IterKind, PrimFunc, ThreadAxis};
use crate::kernel::GpuTarget;
use crate::sched::rules::DeclineReason;
use crate::sched::rules::chain::{
    along_rows, has_own_loops, is_reduction, is_serial, loops_of_rows, users_of,
};
use crate::sched::{Factor, Schedule};

/// Workgroups for each core: enough that none waits while others read.
const GROUPS_PER_CORE: i64 = 4;
/// Elements that each thread of a part has at least: a second kernel costs more than fewer.
const ELEMENTS_PER_THREAD: i64 = 16;

pub(super) fn apply(
    sch: &mut Schedule,
    block: BlockId,
    target: &GpuTarget,
) -> Result<(), DeclineReason> {
    let func = sch.func();
    if !is_reduction(func, block) {
        return Err(DeclineReason::Pattern("no reduction"));
    }
    if along_rows(func, block).is_empty() {
        return Err(DeclineReason::Pattern("rows are not contiguous"));
    }
    let share = Share::of(func, block, target);
    let parts = parts(func, block, target, share)?;
    let producers = sch.get_producers(block)?;
    if producers.iter().any(|&b| is_serial(sch.func(), b)) {
        return Err(DeclineReason::Pattern("what is reduced is not stored yet"));
    }
    let users = users_of(sch, block)?;
    let followed = users
        .iter()
        .any(|&b| b != block && is_reduction(sch.func(), b));
    if followed && !is_long_whole(sch.func(), block) {
        return Err(DeclineReason::Pattern("another reduction follows"));
    }
    let loops = sch.get_loops(block)?;
    let (of_rows, along) = loops.split_at(rows_first(sch.func(), block)?);
    let (&last, planes) = along
        .split_last()
        .ok_or(DeclineReason::Pattern("no loops"))?;
    // Whole rows of a plane stay together where there are enough of them.
    let split = match planes {
        [] => last,
        _ => {
            let fused = fuse_loops(sch, planes)?;
            match sch.func().loops[fused].extent.as_int() {
                Some(rows) if rows >= parts => fused,
                _ => last,
            }
        }
    };
    let whole = sch.func().loops[split].extent.as_int();
    let whole = whole.ok_or(DeclineReason::Pattern("a length that is not known"))?;
    let parts = even_parts(whole, parts, share);
    let parts = parts.ok_or(DeclineReason::Pattern(
        "a length that no such number divides",
    ))?;
    let part = sch.split(split, &[parts.into(), Factor::Infer])?[0];
    let before = sch.get_loops(block)?;
    let order: Vec<_> = of_rows.iter().chain([&part]).copied().collect();
    let rest = before.iter().filter(|l| !order.contains(l)).copied();
    let order: Vec<_> = order.iter().copied().chain(rest).collect();
    if order != before {
        sch.reorder(&order)?;
    }
    let partial = sch.rfactor(part, -1)?;
    let loops = sch.get_loops(partial)?;
    let (groups, inside) = loops.split_at(of_rows.len() + 1);
    let groups = fuse_loops(sch, groups)?;
    sch.bind(groups, ThreadAxis::BlockIdxX)?;
    let reads = neighbours(sch.func(), partial);
    rows::over_threads(sch, partial, inside, share, &reads)?;
    let mut trial = sch.clone();
    if rows::apply(&mut trial, block, target).is_ok() {
        *sch = trial;
        return Ok(());
    }
    few_results::apply(sch, block, target)
}

/// Whether one result is made of more elements than a workgroup takes, which what follows reduces again.
fn is_long_whole(func: &PrimFunc, block: BlockId) -> bool {
    let iters = func.blocks[block].iters.iter();
    let mut spatial = iters.filter(|i| i.kind == IterKind::Spatial);
    let is_long = rows::length(func, block).is_some_and(|n| n > rows::MOST_OF_WHOLE);
    is_long && spatial.all(|i| i.dom.extent.is_one())
}

/// How many loops count rows, if those are first.
fn rows_first(func: &PrimFunc, block: BlockId) -> Result<usize, DeclineReason> {
    let iters = &func.blocks[block].iters;
    let rows = iters.iter().take_while(|i| i.kind == IterKind::Spatial);
    let rows = rows.count();
    let first = iters[rows..].iter().all(|i| i.kind == IterKind::Reduce);
    match first && has_own_loops(func, block) {
        true => Ok(loops_of_rows(func, block, rows)),
        false => Err(DeclineReason::Pattern("no rows in loops of their own")),
    }
}

/// The reads of partial sums in which neighbours of the last reduce iter variable are neighbours in memory.
fn neighbours(func: &PrimFunc, block: BlockId) -> Vec<usize> {
    let b = &func.blocks[block];
    let Some(last) = b.iters.iter().rfind(|i| i.kind == IterKind::Reduce) else {
        return vec![];
    };
    let analyzer = Analyzer::new();
    let contiguous = |r: &BufferRegion| {
        let innermost = r.region.last().map(|range| &range.min);
        innermost.is_some_and(|index| {
            let next = last.var.expr() + Expr::int(1, last.var.dtype());
            let next = index.substitute(&|v| (*v == last.var).then(|| next.clone()));
            analyzer.simplify(&(next - index)).is_one()
        })
    };
    let reads = 0..b.reads.len();
    reads.filter(|&at| contiguous(&b.reads[at])).collect()
}

/// The most parts of one length, at most and not far below as many as are wanted, best of whole steps of the threads, else of whole
/// vectors.
fn even_parts(whole: i64, wanted: i64, share: Share) -> Option<i64> {
    let units = [share.step(), rows::LANES, 1];
    units.into_iter().find_map(|unit| {
        let least = (wanted / 4).max(2);
        (least..=wanted).rfind(|parts| whole % (parts * unit) == 0)
    })
}

/// How many workgroups share a row, at most.
fn parts(
    func: &PrimFunc,
    block: BlockId,
    target: &GpuTarget,
    share: Share,
) -> Result<i64, DeclineReason> {
    let iters = &func.blocks[block].iters;
    let extent = |kind| {
        let extents = iters.iter().filter(move |i| i.kind == kind);
        let mut extents = extents.map(|i| i.dom.extent.as_int());
        extents.try_fold(1i64, |all, extent| all.checked_mul(extent?))
    };
    let (Some(rows), Some(length)) = (extent(IterKind::Spatial), extent(IterKind::Reduce)) else {
        return Err(DeclineReason::Pattern("sizes that are not known"));
    };
    let wanted = (target.cores() * GROUPS_PER_CORE) / rows.max(1);
    let parts = wanted.min(length / (share.threads() * ELEMENTS_PER_THREAD));
    if parts < 2 {
        return Err(DeclineReason::Pattern("rows enough, or too short"));
    }
    Ok(parts)
}
