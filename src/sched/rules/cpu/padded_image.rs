//! The image that windows slide over, padded or as it is, in an array of the thread.
//!
//! Windows with stride `s` read columns that are `s` apart. Each row is stored as its `s` phases (polyphase components): columns 0, `s`,
//! `2 s`, …, then columns 1, `s + 1`, …. So a vector loads neighbours. Lanes are gathered once for each element of the image, not for each
//! tap of each window.

use super::elementwise::vector_lanes;
use super::extent;
use super::traits::CpuTraits;
use super::windows::{RowLoops, loops_below, vectorize_rows};
use crate::ir::{BlockId, Expr, Lambda, LoopId, Var};
use crate::sched::rules::DeclineReason;
use crate::sched::{BufferAccess, Factor, Injectivity, InsertAt, Schedule, UnitIters};
use crate::tensor::DType;

/// How often an element is padded at most: parts of a plane share rows.
const MOST_AGAIN: i64 = 3;

/// Most columns of a phase that are written out as vectors of several widths, without a rest.
const MOST_COLUMNS: i64 = 128;

/// What slides over the rows of an image.
#[derive(Clone, Copy)]
pub(super) struct Rows {
    /// Parts of all planes, each of which pads or copies its own rows.
    pub(super) parts: i64,
    /// Columns between two windows; 1 also if rows are not to lie in phases.
    pub(super) stride: i64,
}

/// Pads in an array of the thread what one iteration of the loop reads.
pub(super) fn pad(
    schedule: &mut Schedule,
    traits: &CpuTraits,
    producer: BlockId,
    at: LoopId,
    rows: Rows,
) -> Result<(), DeclineReason> {
    let outermost = compute_in(schedule, traits, producer, at, rows)?;
    let fill = schedule.decompose_padding(producer, outermost)?;
    in_phases(schedule, &[fill, producer], at, rows.stride)
}

/// Copies to an array of the thread what one iteration of the loop reads, row by row in phases.
pub(super) fn copy(
    schedule: &mut Schedule,
    traits: &CpuTraits,
    producer: BlockId,
    at: LoopId,
    rows: Rows,
) -> Result<(), DeclineReason> {
    compute_in(schedule, traits, producer, at, rows)?;
    in_phases(schedule, &[producer], at, rows.stride)
}

/// Computes an image in this loop, if what an iteration reads fits the cache. Gives the outermost loop of it.
fn compute_in(
    schedule: &mut Schedule,
    traits: &CpuTraits,
    producer: BlockId,
    at: LoopId,
    rows: Rows,
) -> Result<LoopId, DeclineReason> {
    schedule.compute_at(producer, at, UnitIters::Preserve, InsertAt::Latest)?;
    schedule.set_scope(producer, 0, "local")?;
    let loops = loops_below(schedule, producer, at)?;
    let elements: Option<i64> = loops.iter().map(|&l| extent(schedule, l)).product();
    let (Some(elements), Some(&outermost)) = (elements, loops.first()) else {
        return Err(DeclineReason::Pattern("an open number of elements"));
    };
    let image = &schedule.func().blocks[producer].writes[0].buffer;
    let all: i64 = image.shape().iter().filter_map(Expr::as_int).product();
    if elements * image.dtype().scalar.bytes() as i64 > 2 * traits.image_bytes {
        return Err(DeclineReason::Pattern(
            "what is read does not fit the cache",
        ));
    }
    if elements * rows.parts > MOST_AGAIN * all {
        return Err(DeclineReason::Pattern("many parts read the same elements"));
    }
    Ok(outermost)
}

/// Vectors along the rows that these blocks write one after the other; where the stride is more than 1, along the phases of the rows. The last
/// block writes the elements of the image.
fn in_phases(
    schedule: &mut Schedule,
    blocks: &[BlockId],
    at: LoopId,
    stride: i64,
) -> Result<(), DeclineReason> {
    let Some(&image) = blocks.last() else {
        return Ok(());
    };
    if stride > 1 {
        split_phases(schedule, image, stride)?;
    }
    let lanes = vector_lanes(schedule.func(), image);
    for &block in blocks {
        let loops = loops_below(schedule, block, at)?;
        if stride == 1 {
            vectorize_rows(schedule, &loops, lanes, RowLoops::Serial)?;
            continue;
        }
        let loops = phases_outside(schedule, &loops, stride)?;
        match loops.last() {
            Some(&columns) if block == image && is_short(schedule, columns) => {
                schedule.vectorize(columns)?;
            }
            _ => vectorize_rows(schedule, &loops, lanes, RowLoops::Serial)?,
        }
    }
    Ok(())
}

/// Lays out each row of what the block writes as its phases: all elements whose column leaves the same rest when it is divided by the
/// stride, one phase after the other.
fn split_phases(schedule: &mut Schedule, block: BlockId, stride: i64) -> Result<(), DeclineReason> {
    let ndim = schedule.func().blocks[block].writes[0].buffer.ndim();
    let params: Vec<Var> = (0..ndim)
        .map(|at| Var::new(format!("i{at}"), DType::I64))
        .collect();
    let mut results: Vec<Expr> = params.iter().map(Var::expr).collect();
    if let Some(column) = results.pop() {
        let stride = Expr::int(stride, DType::I64);
        results.push(column.floor_mod(stride.clone()));
        results.push(column.floor_div(stride));
    }
    let map = Lambda { params, results };
    // Rest and quotient give the column back.
    let (access, injectivity) = (BufferAccess::Write, Injectivity::Assumed);
    schedule.transform_layout(block, access, 0, &map, None, injectivity)?;
    Ok(())
}

/// Whether the columns of a phase are few enough to be written out as vectors of decreasing width: a full last vector would read past the
/// end of the image.
pub(super) fn is_short(schedule: &Schedule, columns: LoopId) -> bool {
    extent(schedule, columns).is_some_and(|count| count <= MOST_COLUMNS)
}

/// Splits the last loop, over the columns, into the loop over phases and that over the columns of a phase.
fn phases_outside(
    schedule: &mut Schedule,
    loops: &[LoopId],
    stride: i64,
) -> Result<Vec<LoopId>, DeclineReason> {
    let Some((&last, rows)) = loops.split_last() else {
        return Ok(vec![]);
    };
    let split = schedule.split(last, &[Factor::Infer, stride.into()])?;
    schedule.reorder(&[split[1], split[0]])?;
    schedule.unroll(split[1])?;
    Ok([rows, &[split[1], split[0]]].concat())
}
