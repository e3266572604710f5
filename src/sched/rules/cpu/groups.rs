//! Groups of channels: each channel of a result is made of the channels of its own group alone.

use super::traits::COLUMNS;
use super::windows::plane_dims;
use super::{TURNING_OF_GROUP, pays_in_rows};
use crate::ir::sum::Sum;
use crate::ir::{BlockId, Expr, IterKind, Lambda, PrimFunc, Var};
use crate::sched::Schedule;
use crate::sched::rules::DeclineReason;
use crate::sched::rules::nest::params;
use crate::sched::rules::reuse::step;
use crate::tensor::scalar::BinOp;

/// Channels of a group: by what the iter variable is divided in an index, if that divides its extent. A weight in panels has remainders, too.
pub(super) fn group_size(func: &PrimFunc, block: BlockId, channels: usize) -> Option<i64> {
    let info = &func.blocks[block];
    let channel = &info.iters[channels].var;
    let divisor = |op: BinOp, e: &Expr| {
        let (_, by) = e
            .as_binary(op)
            .filter(|(a, _)| a.as_var() == Some(channel))?;
        by.as_int()
    };
    let in_groups = info.reads.iter().filter(|read| {
        let mut indices = read.region.iter().map(|range| &range.min);
        !indices.any(|index| divisor(BinOp::FloorMod, index).is_some())
    });
    let mut size = None;
    for range in in_groups.flat_map(|read| &read.region) {
        range.min.walk(&mut |e| {
            size = size.or(divisor(BinOp::FloorDiv, e));
            true
        });
    }
    let channels = info.iters[channels].dom.extent.as_int()?;
    size.filter(|size| channels % size == 0)
}

/// The index within its group, of one that counts all channels: without what iter variables of the batch add.
pub(super) fn within_group(func: &PrimFunc, block: BlockId, batch: &[usize], index: &Expr) -> Expr {
    let iters = &func.blocks[block].iters;
    let batch: Vec<&Var> = batch.iter().map(|&at| &iters[at].var).collect();
    if !batch.iter().any(|var| index.uses(var)) {
        return index.clone();
    }
    let of_batch = |atom: &Expr| atom.as_var().is_some_and(|var| batch.contains(&var));
    let sum = Sum::of(index);
    let (_, within) = sum.partition(|term| term.atoms.iter().all(of_batch));
    within.to_expr().unwrap_or_else(|| index.clone())
}

/// The iter variable of channels in groups, and the channels of each, if they fill vectors and that pays.
fn groups(func: &PrimFunc, block: BlockId) -> Option<(usize, i64)> {
    let iters = &func.blocks[block].iters;
    (0..iters.len()).find_map(|at| {
        let size = group_size(func, block, at).filter(|_| iters[at].kind == IterKind::Spatial)?;
        let several = iters[at].dom.extent.as_int().is_some_and(|all| all > size);
        (several && size % COLUMNS == 0 && pays(func, block, size)).then_some((at, size))
    })
}

/// Whether sums in vectors of channels, which have to be turned, are faster than in vectors along the rows, of which the last may be partly used.
/// Channels of one vector take a load for each multiplication, unless windows are neighbours and share elements.
fn pays(func: &PrimFunc, block: BlockId, size: i64) -> bool {
    let info = &func.blocks[block];
    let reduced = info
        .iters
        .iter()
        .filter(|iter| iter.kind == IterKind::Reduce);
    let products: Option<i64> = reduced.map(|iter| iter.dom.extent.as_int()).product();
    let Some(column) = plane_dims(func, block).last().map(|&at| &info.iters[at]) else {
        return false;
    };
    let (Some(products), Some(columns)) = (products, column.dom.extent.as_int()) else {
        return false;
    };
    let indices = info.reads.iter().flat_map(|read| &read.region);
    let mut steps = indices.filter_map(|range| step(&range.min, &column.var));
    let shares = steps.all(|step| step <= 1);
    !pays_in_rows(products, columns, TURNING_OF_GROUP) && (size > COLUMNS || shares)
}

/// The program where groups are counted by an iter variable of their own, if the block has any.
pub(super) fn with_groups(func: &PrimFunc, block: BlockId) -> Option<PrimFunc> {
    groups(func, block)?;
    let mut schedule = Schedule::new(func.clone());
    split_groups(&mut schedule, block).ok()?;
    Some(schedule.func().clone())
}

/// Counts groups, and the channels of each: the sums of a group are a matmul then. Whether the block has groups.
pub(super) fn split_groups(schedule: &mut Schedule, block: BlockId) -> Result<bool, DeclineReason> {
    let func = schedule.func();
    let Some((channels, size)) = groups(func, block) else {
        return Ok(false);
    };
    let params = params(func, block);
    let mut results: Vec<Expr> = params.iter().map(Var::expr).collect();
    let channel = results.remove(channels);
    let size = Expr::int(size, channel.dtype());
    let digits = [channel.floor_div(size.clone()), channel.floor_mod(size)];
    results.splice(channels..channels, digits);
    schedule.transform_block_layout(block, &Lambda { params, results })?;
    Ok(true)
}
