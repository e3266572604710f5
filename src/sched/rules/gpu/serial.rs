//! The rule that takes every statement: its loops run as they are written, in one thread of one workgroup.

use crate::ir::{AttrValue, BlockId, LoopKind, Place, PrimFunc, Stmt, ThreadAxis, attrs};
use crate::kernel::GpuTarget;
use crate::sched::Schedule;
use crate::sched::rules::order::ordered;
use crate::sched::rules::{DeclineReason, SERIAL, Work};

pub(super) fn apply(
    schedule: &mut Schedule,
    block: BlockId,
    _target: &GpuTarget,
) -> Result<(), DeclineReason> {
    let loops = schedule.get_loops(block)?;
    let top = loops
        .first()
        .map_or(Place::Block(block), |&l| Place::Loop(l));
    in_one_thread(schedule, top)
}

/// Marks a loop or block at the root to run in one thread.
pub(in crate::sched::rules) fn in_one_thread(
    schedule: &mut Schedule,
    place: Place,
) -> Result<(), DeclineReason> {
    schedule.annotate(place, attrs::ONE_THREAD, AttrValue::Bool(true))?;
    Ok(())
}

/// Binds what a schedule for the CPU leaves unbound: a parallel loop outside of all others runs on workgroups, everything
/// else in one thread.
pub(in crate::sched::rules) fn bind_rest(work: &mut Work<'_>) {
    for stmt in work
        .schedule
        .func()
        .tree
        .body(work.schedule.func().root)
        .to_vec()
    {
        let tops = stmt.places();
        let Some(&first) = tops.first() else { continue };
        if tops.iter().any(|&p| is_bound(work.schedule.func(), p)) {
            continue;
        }
        let why = ordered(work.schedule.func(), &stmt);
        if why.is_none() && over_workgroups(&mut work.schedule, &stmt) {
            work.take("parallel", first, None);
            continue;
        }
        let reason = why.unwrap_or("no loop of its schedule is bound to threads");
        for top in tops {
            if has_loops(work.schedule.func(), top)
                && in_one_thread(&mut work.schedule, top).is_ok()
            {
                work.take(SERIAL, top, Some(reason));
            }
        }
    }
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
