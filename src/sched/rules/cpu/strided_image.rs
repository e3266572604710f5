//! A convolution without a window that takes every second pixel of a line, say, reads a copy of those pixels.
//!
//! Half of each cache line of the image is not read then, and the tiles of all panels read the line again. With many panels the copy pays: the
//! pixels lie side by side in it.

use super::convolution::{Roles, places};
use super::elementwise::told_apart;
use super::padded_image::is_short;
use super::panels::of_words;
use super::traits::COLUMNS;
use crate::ir::{BlockId, Expr, Lambda};
use crate::sched::rules::DeclineReason;
use crate::sched::rules::nest::{fuse_all, params};
use crate::sched::rules::reuse::step;
use crate::sched::{Factor, Schedule};

/// Panels that pay for the copy.
const MANY_PANELS: i64 = 8;

/// Copies the pixels that the block reads, if they are at distances along a line and many panels read them. Where that cannot be, the block
/// reads the image.
pub(super) fn copy_strided_image(schedule: &mut Schedule, block: BlockId) {
    let mut trial = schedule.clone();
    match copy(&mut trial, block) {
        Ok(()) => *schedule = trial,
        Err(reason) => log::debug!("the image is read where it is: {reason}"),
    }
}

fn copy(schedule: &mut Schedule, block: BlockId) -> Result<(), DeclineReason> {
    let (image, in_memory) = strided_pixels(schedule, block)?;
    let of_block = params(schedule.func(), block);
    let results = in_memory.iter().map(|&at| of_block[at].clone()).collect();
    let map = places(&of_block, results);
    let copy = schedule.reindex_cache_read(block, image, "global", &map)?;
    // The iter variables of the copy are in the order of the block's.
    let of_copy = params(schedule.func(), copy);
    if of_copy.len() != in_memory.len() {
        return Err(DeclineReason::Pattern("indices of the image are fused"));
    }
    let rank = |at: &usize| in_memory.iter().filter(|&other| other < at).count();
    let results = in_memory
        .iter()
        .map(|at| of_copy[rank(at)].expr())
        .collect();
    let params = of_copy;
    schedule.transform_block_layout(copy, &Lambda { params, results })?;
    let loops = schedule.get_loops(copy)?;
    let [outer @ .., columns] = loops.as_slice() else {
        return Err(DeclineReason::Pattern("there are no rows"));
    };
    let outer = fuse_all(schedule, copy, &outer[..told_apart(schedule.func(), outer)])?;
    schedule.parallel(outer)?;
    let vector = match is_short(schedule, *columns) {
        true => *columns,
        false => schedule.split(*columns, &[Factor::Infer, COLUMNS.into()])?[1],
    };
    schedule.vectorize(vector)?;
    Ok(())
}

/// Which read region of the block is the image, and the iter variables that its indices use, in the order of a copy in memory.
fn strided_pixels(
    schedule: &Schedule,
    block: BlockId,
) -> Result<(usize, Vec<usize>), DeclineReason> {
    let matmul = of_words(schedule.func(), block)?;
    let roles = Roles::of(schedule.func(), block, &matmul).ok_or(DeclineReason::Pattern(
        "no operand is a matrix with one dimension of columns",
    ))?;
    let mut operands = [matmul.a.read_index, matmul.b.read_index].into_iter();
    let image = operands.find(|&at| at != roles.weight.read_index);
    let image = image.ok_or(DeclineReason::Pattern("one buffer is both operands"))?;
    let info = &schedule.func().blocks[block];
    let iters = &info.iters;
    let region = &info.reads[image].region;
    let taps = roles.k.iter().filter(|at| !iters[**at].dom.extent.is_one());
    if taps.count() != 1 {
        return Err(DeclineReason::Pattern("there is a window"));
    }
    let channels = iters[roles.channels].dom.extent.as_int();
    if channels.is_none_or(|channels| channels < MANY_PANELS * COLUMNS) {
        return Err(DeclineReason::Pattern("few panels"));
    }
    let strides = |index: &Expr| {
        let mut steps = roles.pixels.iter().map(|&at| step(index, &iters[at].var));
        steps.any(|step| step.is_some_and(|step| step > 1))
    };
    if !region.last().is_some_and(|range| strides(&range.min)) {
        return Err(DeclineReason::Pattern("no stride along a line"));
    }
    let all = [&roles.outer, &roles.k, &roles.pixels]
        .into_iter()
        .flatten();
    let is_read = |at: &&usize| region.iter().any(|range| range.min.uses(&iters[**at].var));
    Ok((image, all.filter(is_read).copied().collect()))
}
