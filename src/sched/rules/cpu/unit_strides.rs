//! Pixels side by side for a convolution that takes every second one, say, and has no window.
//!
//! Each element that it reads of the image is in a line of the cache with others that it does not read, and the tiles of all panels read
//! that line again. With many panels it pays to copy the pixels first: the image is smaller then, and a line full.

use super::convolution::{Roles, places};
use super::elementwise::told_apart;
use super::padded_image::is_short;
use super::panels::of_words;
use super::traits::COLUMNS;
use crate::ir::sum::Sum;
use crate::ir::{BlockId, Expr};
use crate::sched::rules::DeclineReason;
use crate::sched::rules::nest::{fuse_all, params};
use crate::sched::{Factor, Schedule};

/// Panels that pay for the copy.
const MANY_PANELS: i64 = 8;

/// Copies the pixels that the block reads, if they are at distances and many panels read them.
pub(super) fn copy_pixels(schedule: &mut Schedule, block: BlockId) -> Result<(), DeclineReason> {
    let matmul = of_words(schedule.func(), block)?;
    let Some(roles) = Roles::of(schedule.func(), block, &matmul) else {
        return Ok(());
    };
    let operands = [matmul.a.read_index, matmul.b.read_index];
    let Some(image) = operands
        .into_iter()
        .find(|&at| at != roles.weight.read_index)
    else {
        return Ok(());
    };
    let info = &schedule.func().blocks[block];
    let iters = &info.iters;
    let channels = iters[roles.channels].dom.extent.as_int();
    let is_one = |at: &usize| iters[*at].dom.extent.is_one();
    let taps = roles.k.iter().filter(|at| !is_one(at)).count();
    let region = &info.reads[image].region;
    let has_stride = |min: &Expr| {
        let of_pixels = roles.pixels.iter().any(|&at| min.uses(&iters[at].var));
        of_pixels && Sum::of(min).terms.iter().any(|term| term.coeff > 1)
    };
    let pays = channels.is_some_and(|n| n >= MANY_PANELS * COLUMNS);
    if taps != 1 || !pays || !region.iter().any(|range| has_stride(&range.min)) {
        return Ok(());
    }
    let in_memory = [&roles.outer, &roles.k, &roles.pixels]
        .into_iter()
        .flatten();
    let is_read = |at: &&usize| region.iter().any(|range| range.min.uses(&iters[**at].var));
    let in_memory: Vec<usize> = in_memory.filter(is_read).copied().collect();
    let params = params(schedule.func(), block);
    let results = in_memory.iter().map(|&at| params[at].clone()).collect();
    let copy = schedule.reindex_cache_read(block, image, "global", &places(&params, results))?;
    // Its loops are in the order of the block's iter variables.
    let loops = schedule.get_loops(copy)?;
    let loop_of = |at: &usize| loops[in_memory.iter().filter(|&other| other < at).count()];
    let order: Vec<_> = in_memory.iter().map(loop_of).collect();
    schedule.reorder(&order)?;
    let [outer @ .., line] = order.as_slice() else {
        return Err(DeclineReason::Pattern("there are no lines"));
    };
    let outer = fuse_all(schedule, copy, &outer[..told_apart(schedule.func(), outer)])?;
    schedule.parallel(outer)?;
    let vector = match is_short(schedule, *line) {
        true => *line,
        false => schedule.split(*line, &[Factor::Infer, COLUMNS.into()])?[1],
    };
    schedule.vectorize(vector)?;
    Ok(())
}
