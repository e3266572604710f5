//! The rule that takes every statement: its loops run as they are written, in one thread of one workgroup.

use crate::ir::{AttrValue, BlockId, LoopKind, Place, PrimFunc, Stmt, ThreadAxis, attrs};
use crate::kernel::GpuTarget;
use crate::sched::Schedule;
use crate::sched::rules::Declined;
use crate::sched::rules::order::ordered;

pub(super) fn apply(
    schedule: &mut Schedule,
    block: BlockId,
    _target: &GpuTarget,
) -> Result<(), Declined> {
    let loops = schedule.get_loops(block)?;
    let top = loops
        .first()
        .map_or(Place::Block(block), |&l| Place::Loop(l));
    let reason = "its iterations are not known to be independent";
    in_one_thread(schedule, top, reason)
}

/// Marks a loop or block at the root to run in one thread.
pub(in crate::sched::rules) fn in_one_thread(
    schedule: &mut Schedule,
    place: Place,
    reason: &str,
) -> Result<(), Declined> {
    let func = schedule.func();
    let blocks = func.blocks_under(place);
    let what = match (blocks.first(), place) {
        (Some(&block), _) | (None, Place::Block(block)) => {
            format!("block `{}`", func.blocks[block].name)
        }
        (None, Place::Loop(l)) => format!("loop `{}`", func.loops[l].var.name()),
    };
    log::warn!("`{}`: {what} runs in one thread: {reason}", func.name);
    schedule.annotate(place, attrs::ONE_THREAD, AttrValue::Bool(true))?;
    Ok(())
}

/// Binds what a schedule for the CPU leaves unbound: a parallel loop outside of all others runs on workgroups, everything
/// else in one thread. Gives the rules used.
pub(in crate::sched::rules) fn bind_rest(schedule: &mut Schedule) -> Vec<&'static str> {
    let mut rules = Vec::new();
    for stmt in schedule.func().tree.body(schedule.func().root).to_vec() {
        let tops = stmt.places();
        if tops.iter().any(|&p| is_bound(schedule.func(), p)) {
            continue;
        }
        let why = ordered(schedule.func(), &stmt);
        if why.is_none() && over_workgroups(schedule, &stmt) {
            rules.push("parallel");
            continue;
        }
        let reason = why.unwrap_or("no loop of its schedule is bound to threads");
        for top in tops {
            if has_loops(schedule.func(), top) && in_one_thread(schedule, top, reason).is_ok() {
                rules.push("serial");
            }
        }
    }
    rules
}

fn over_workgroups(schedule: &mut Schedule, stmt: &Stmt) -> bool {
    let &Stmt::Loop(l) = stmt else { return false };
    schedule.func().loops[l].kind == LoopKind::Parallel
        && schedule.bind(l, ThreadAxis::BlockIdxX).is_ok()
}

/// Whether a loop at the place or below is bound to threads or workgroups.
pub(in crate::sched::rules) fn is_bound(func: &PrimFunc, place: Place) -> bool {
    let mut found = false;
    func.tree.walk(place, &mut |p| {
        found |= matches!(p, Place::Loop(l) if matches!(func.loops[l].kind, LoopKind::ThreadBinding(_)));
    });
    found
}

fn has_loops(func: &PrimFunc, place: Place) -> bool {
    let mut found = false;
    func.tree
        .walk(place, &mut |p| found |= matches!(p, Place::Loop(_)));
    found
}
