//! Values that are computed in one of a few ways, which an index picks: `if_then_else(i % 4 == 0, …, if_then_else(i % 4 == 1, …))`, as
//! transforms by small matrices have them.
//!
//! Where the index is a constant only one way is left, so its loop is written out, inside of the others; vectors are along the last axis.
//! Blocks that feed each other so are computed together, for some of the outer loops and one vector of the last axis: what is between
//! them stays in the L1 cache.

use super::elementwise::vector_lanes;
use super::{extent, loops_inside, parallel_fused};
use crate::ir::{BlockId, Expr, ExprKind, LoopId, Place, PrimFunc, Stmt, Var};
use crate::kernel::CpuTarget;
use crate::sched::rules::DeclineReason;
use crate::sched::rules::chain::users_of;
use crate::sched::rules::nest::sort_loops;
use crate::sched::rules::pattern::{Pattern, classify};
use crate::sched::{Factor, InsertAt, Schedule, UnitIters};
use crate::tensor::scalar::BinOp;

/// Most ways that are written out.
const MOST_CASES: i64 = 8;

pub(super) fn apply(
    schedule: &mut Schedule,
    block: BlockId,
    _target: &CpuTarget,
) -> Result<(), DeclineReason> {
    let chain = users_of(schedule, block)?;
    let func = schedule.func();
    let injective = |b: &BlockId| matches!(classify(func, *b), Pattern::Injective);
    if !chain.iter().all(injective) {
        return Err(DeclineReason::Pattern("what follows is not injective"));
    }
    let Some((&last, before)) = chain.split_last() else {
        return Err(DeclineReason::Pattern("nothing is computed"));
    };
    let own = Cases::of(func, last).ok_or(DeclineReason::Pattern("there are no cases"))?;
    let picked = picked_by_producers(func, last, before);
    let (outer, inner, vector) = order_last(schedule, last, &own, &picked)?;
    schedule.unroll(inner)?;
    schedule.vectorize(vector)?;
    let task = outer[outer.len() - 1];
    for &producer in before.iter().rev() {
        schedule.compute_at(producer, task, UnitIters::Preserve, InsertAt::Latest)?;
        schedule.set_scope(producer, 0, "local")?;
        write_out(schedule, producer, task)?;
    }
    if !parallel_fused(schedule, &outer) {
        schedule.parallel(outer[0])?;
    }
    Ok(())
}

/// What picks one of the ways.
#[derive(Clone, Debug)]
pub(super) struct Cases {
    /// The iter variable whose value, or its rest, is the number of the case.
    pub(super) var: Var,
    /// How many there are.
    pub(super) count: i64,
}

impl Cases {
    /// Those of a block that stores one value.
    pub(super) fn of(func: &PrimFunc, block: BlockId) -> Option<Self> {
        let [Stmt::Store { value, .. }] = func.tree.body(Place::Block(block)) else {
            return None;
        };
        let ExprKind::IfThenElse(cond, _, _) = value.kind() else {
            return None;
        };
        let (number, constant) = cond.as_binary(BinOp::Eq)?;
        constant.as_int()?;
        let (var, count) = match number.as_binary(BinOp::FloorMod) {
            Some((var, count)) => (var.as_var()?, count.as_int()?),
            None => {
                let var = number.as_var()?;
                let iters = &func.blocks[block].iters;
                let iter = iters.iter().find(|iter| iter.var == *var)?;
                (var, iter.dom.extent.as_int()?)
            }
        };
        (2..=MOST_CASES).contains(&count).then(|| Self {
            var: var.clone(),
            count,
        })
    }

    /// Whether the loop alone is what the variable counts.
    pub(super) fn are_picked_by(&self, func: &PrimFunc, block: BlockId, l: LoopId) -> bool {
        let binding = func.blocks[block].binding_of(&self.var);
        binding.and_then(Expr::as_var) == Some(&func.loops[l].var)
    }
}

/// The iter variables of a block that pick the cases of what it reads.
pub(super) fn picked_by_producers(
    func: &PrimFunc,
    last: BlockId,
    producers: &[BlockId],
) -> Vec<Cases> {
    let info = &func.blocks[last];
    let of = |&producer: &BlockId| {
        let cases = Cases::of(func, producer)?;
        let [written] = func.blocks[producer].writes.as_slice() else {
            return None;
        };
        let dim = written
            .region
            .iter()
            .position(|range| range.min.as_var() == Some(&cases.var))?;
        let mut reads = info.reads.iter();
        let read = reads.find(|read| read.buffer == written.buffer)?;
        let index = &read.region[dim].min;
        let iter = info.iters.iter().find(|iter| index.uses(&iter.var))?;
        Some(Cases {
            var: iter.var.clone(),
            count: cases.count,
        })
    };
    producers.iter().filter_map(of).collect()
}

/// Orders the loops of the last block: those of tasks, those inside, the one over the cases, and vectors.
fn order_last(
    schedule: &mut Schedule,
    block: BlockId,
    own: &Cases,
    picked: &[Cases],
) -> Result<(Vec<LoopId>, LoopId, LoopId), DeclineReason> {
    let nest = sort_loops(schedule, block)?;
    let Some((&columns, others)) = nest.spatial.split_last() else {
        return Err(DeclineReason::Pattern("nothing is independent"));
    };
    let lanes = vector_lanes(schedule.func(), block);
    let vectors = schedule.split(columns, &[Factor::Infer, lanes.into()])?;
    let (mut outer, mut inner, mut written_out) = (vec![], vec![], None);
    let (mut tiles, mut rest) = (vec![], vec![]);
    for &l in others {
        if own.are_picked_by(schedule.func(), block, l) {
            let (tile, case) = split_cases(schedule, l, own.count)?;
            tiles.extend(tile);
            written_out = Some(case);
        } else if let Some(of) = picked
            .iter()
            .find(|c| c.are_picked_by(schedule.func(), block, l))
        {
            let (tile, case) = split_cases(schedule, l, of.count)?;
            outer.extend(tile);
            inner.push(case);
        } else {
            rest.push(l);
        }
    }
    let Some(written_out) = written_out else {
        return Err(DeclineReason::Pattern("no loop is over the cases"));
    };
    // The tiles of a row are computed together.
    if tiles.is_empty() && rest.len() > 1 {
        tiles.extend(rest.pop());
    }
    let outer = [&rest[..], &outer, &vectors[..1]].concat();
    let order = [&outer[..], &tiles, &inner, &[written_out], &vectors[1..]];
    schedule.reorder(&order.concat())?;
    Ok((outer, written_out, vectors[1]))
}

/// The loop over whole rounds of the cases, if there are several, and the one over the cases.
pub(super) fn split_cases(
    schedule: &mut Schedule,
    l: LoopId,
    count: i64,
) -> Result<(Option<LoopId>, LoopId), DeclineReason> {
    if extent(schedule, l) == Some(count) {
        return Ok((None, l));
    }
    let parts = schedule.split(l, &[Factor::Infer, count.into()])?;
    Ok((Some(parts[0]), parts[1]))
}

/// Writes out the cases of a block in this loop; vectors are along its last axis.
pub(super) fn write_out(
    schedule: &mut Schedule,
    block: BlockId,
    task: LoopId,
) -> Result<(), DeclineReason> {
    let loops = loops_inside(schedule, block, task)?;
    let Some((&columns, others)) = loops.split_last() else {
        return Err(DeclineReason::Pattern("nothing is left to compute"));
    };
    let lanes = vector_lanes(schedule.func(), block);
    let vectors = schedule.split(columns, &[Factor::Infer, lanes.into()])?;
    let func = schedule.func();
    let cases = Cases::of(func, block);
    let case = cases.and_then(|cases| {
        let binding = func.blocks[block].binding_of(&cases.var)?;
        let mut own = others.iter().copied();
        own.find(|&l| binding.uses(&func.loops[l].var))
    });
    if let Some(case) = case {
        let before: Vec<LoopId> = others.iter().copied().filter(|l| *l != case).collect();
        schedule.reorder(&[&before[..], &[vectors[0], case, vectors[1]]].concat())?;
        schedule.unroll(case)?;
    }
    schedule.vectorize(vectors[1])?;
    Ok(())
}
