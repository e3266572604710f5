//! Default rules for the CPU, in the order in which they are tried.
//!
//! Vectors are as wide as a cache line (`traits`). Sums are decomposed so that they accumulate in the output; code generation keeps
//! the elements in registers while a loop adds to them.

mod attention;
mod cases;
mod convolution;
mod elementwise;
mod filtering;
mod gemv;
mod groups;
mod inline;
mod matmul;
mod padded_image;
mod panels;
mod pieces;
mod pointwise;
mod recurrence;
mod reduction;
mod rows;
mod split_rows;
mod strided_image;
mod terms;
mod tiles;
mod traits;
mod transpose;
mod windows;

pub(crate) use filtering::{TaskTiles, tiles_of_task};
pub(super) use inline::inline_read_once;
pub(super) use panels::{panels_for, pays_for_one_row, reads_along_sums};
pub(super) use windows::window_of;

use self::traits::COLUMNS;
use super::{DeclineReason, DefaultRule};
use crate::ir::{AttrValue, BlockId, LoopId, attrs};
use crate::kernel::CpuTarget;
use crate::sched::Schedule;
use crate::sched::rules::nest::sort_loops;

/// The rules. A block that none takes runs serially, as it is written.
pub(super) const RULES: &[DefaultRule<CpuTarget>] = &[
    DefaultRule::new("attention", attention::apply),
    DefaultRule::new("filtering", filtering::apply),
    DefaultRule::new("gemv", gemv::apply),
    DefaultRule::new("matmul", matmul::apply),
    DefaultRule::new("pointwise", pointwise::apply),
    DefaultRule::new("convolution", convolution::apply),
    DefaultRule::new("windows", windows::apply),
    DefaultRule::new("split_rows", split_rows::apply),
    DefaultRule::new("rows", rows::apply),
    DefaultRule::new("reduction", reduction::apply),
    DefaultRule::new("cases", cases::apply),
    DefaultRule::new("transpose", transpose::apply),
    DefaultRule::new("pieces", pieces::apply),
    DefaultRule::new("elementwise", elementwise::apply),
    DefaultRule::new("recurrence", recurrence::apply),
    DefaultRule::new("fallback", fallback),
];

/// Most copies of a body that a loop over a window is written out to.
const MOST_TAPS: i64 = 7;

/// Products that could be added while a sum of a matmul of pixels by channels is turned, so that neighbouring pixels are a vector.
const TURNING: i64 = 48;

/// The same for a group of channels, of which all pixels are turned in whole vectors.
const TURNING_OF_GROUP: i64 = 16;

/// Whether sums of so many products in rows of so many columns are faster in vectors along the rows, the last of which may be partly
/// used, than in vectors along channels, each of which has to be turned in the time of so many products.
fn pays_in_rows(products: i64, columns: i64, turning: i64) -> bool {
    let unused = (columns + COLUMNS - 1) / COLUMNS * COLUMNS - columns;
    products * unused <= turning * columns
}

/// Independent iterations of the outermost loop over the threads, everything else serial.
fn fallback(
    schedule: &mut Schedule,
    block: BlockId,
    _target: &CpuTarget,
) -> Result<(), DeclineReason> {
    let nest = sort_loops(schedule, block)?;
    let Some(&first) = nest.spatial.first() else {
        return Err(DeclineReason::Pattern("nothing is independent"));
    };
    schedule.parallel(first)?;
    Ok(())
}

/// Lets the innermost of these loops that has several iterations, and that a block reduces along, add its terms in any order.
fn add_on_vectors(schedule: &mut Schedule, reduce: &[LoopId]) -> Result<(), DeclineReason> {
    let several = |l: &&LoopId| !schedule.func().loops[**l].extent.is_one();
    if let Some(&innermost) = reduce.iter().rev().find(several) {
        schedule.annotate(innermost, attrs::SIMD_REDUCTION, AttrValue::Bool(true))?;
    }
    Ok(())
}

/// Fuses the loops and runs them in parallel, or changes nothing and says so: extents that cannot be told apart once fused
/// keep a reduction from being seen as one.
fn parallel_fused(schedule: &mut Schedule, loops: &[LoopId]) -> bool {
    let mut trial = schedule.clone();
    let fused = match loops {
        [one] => Ok(*one),
        many => trial.fuse(many),
    };
    let done = fused.and_then(|l| trial.parallel(l)).is_ok();
    if done {
        *schedule = trial;
    }
    done
}

/// The loops of a block that are inside of this one.
fn loops_inside(
    schedule: &mut Schedule,
    block: BlockId,
    outside: LoopId,
) -> Result<Vec<LoopId>, DeclineReason> {
    let loops = schedule.get_loops(block)?;
    let own = loops.iter().position(|l| *l == outside);
    Ok(loops[own.map_or(0, |at| at + 1)..].to_vec())
}

/// Whether the extents of the loops are constants.
fn are_constant(schedule: &Schedule, loops: &[LoopId]) -> bool {
    let func = schedule.func();
    let constant = |&l: &LoopId| func.loops[l].extent.as_int().is_some();
    loops.iter().all(constant)
}

/// The extent of a loop, if it is a constant.
fn extent(schedule: &Schedule, l: LoopId) -> Option<i64> {
    schedule.func().loops[l].extent.as_int()
}
