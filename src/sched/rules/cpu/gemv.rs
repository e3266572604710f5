//! Products of few rows by a matrix that lies as it was given. What takes time is to read the matrix: it is read once, in the order of
//! memory, and nothing of it is copied.
//!
//! - `C[m, n] += A[m, k] * B[k, n]`: each thread has a strip of columns, whose sums stay in its L1 cache, and adds multiples of some
//!   rows of `B` to them at once. So it reads a few streams, each as long as the strip is wide.
//! - `C[n] += A[k] * B[n, k]`: sums along rows of `B`, as `matmul` has them.
//!
//! Matrices that are rewritten to panels are for `matmul`, whose tiles read them in order.

use super::matmul::{Loops, along_depth};
use super::panels::{is_in_panels, of_words};
use super::reduction::neighbours;
use super::traits::{COLUMNS, CpuTraits};
use super::{extent, parallel_fused};
use crate::ir::{BlockId, LoopId};
use crate::kernel::CpuTarget;
use crate::sched::rules::DeclineReason;
use crate::sched::rules::epilogue::with_epilogue;
use crate::sched::rules::pattern::Matmul;
use crate::sched::rules::products::cache_result;
use crate::sched::{Factor, InsertAt, Schedule, UnitIters};

/// Most rows, if registers hold a vector of sums for each.
const MOST_ROWS: i64 = 8;
/// Columns of a strip, at most and at least, and where the number of columns is open.
const MOST_COLUMNS: i64 = 1024;
const FEWEST_COLUMNS: i64 = 2 * COLUMNS;
const USUAL_COLUMNS: i64 = 128;
/// Strips for each thread.
const STRIPS: i64 = 2;
/// Rows of the matrix whose multiples are added at once.
const STEPS: i64 = 8;

pub(super) fn apply(
    schedule: &mut Schedule,
    block: BlockId,
    target: &CpuTarget,
) -> Result<(), DeclineReason> {
    let matmul = of_words(schedule.func(), block)?;
    let by_vector = matmul.n.is_empty();
    // The operand with columns is the matrix.
    let matmul = match by_vector {
        true => transposed(matmul),
        false => matmul,
    };
    let traits = CpuTraits::of(target);
    let registers = traits.registers_of_panel(matmul.c.dtype());
    let most = (traits.sums() / registers).min(MOST_ROWS);
    let iters = &schedule.func().blocks[block].iters;
    let rows = matmul.m.iter().map(|&at| iters[at].dom.extent.as_int());
    if rows.product::<Option<i64>>().is_none_or(|rows| rows > most) {
        return Err(DeclineReason::Pattern("many rows"));
    }
    if is_in_panels(schedule.func(), block, &matmul) {
        return Err(DeclineReason::Pattern("the matrix is in panels"));
    }
    let along = matmul.b.contiguous;
    if along.is_some_and(|at| matmul.k.contains(&at)) && by_vector {
        let loops = Loops::of(schedule, block, &matmul)?;
        return along_depth(schedule, block, target, loops);
    }
    if along.is_none_or(|at| !matmul.n.contains(&at)) {
        return Err(DeclineReason::Pattern("the matrix is not in rows"));
    }
    let loops = Loops::of(schedule, block, &matmul)?;
    if !neighbours(schedule.func(), block, loops.n) {
        return Err(DeclineReason::Pattern("columns are not neighbours"));
    }
    in_strips(schedule, block, target, &loops)
}

/// The product with its operands in the other order.
fn transposed(matmul: Matmul) -> Matmul {
    let Matmul { a, b, m, n, .. } = matmul;
    Matmul {
        a: b,
        b: a,
        m: n,
        n: m,
        ..matmul
    }
}

fn in_strips(
    schedule: &mut Schedule,
    block: BlockId,
    target: &CpuTarget,
    loops: &Loops,
) -> Result<(), DeclineReason> {
    let strip = columns_of_strip(schedule, target, loops);
    let write_back = match with_epilogue(schedule, block)? {
        Some(write_back) => write_back,
        None => cache_result(schedule, block)?,
    };
    let columns = [Factor::Infer, (strip / COLUMNS).into(), COLUMNS.into()];
    let n = schedule.split(loops.n, &columns)?;
    let k = schedule.split(loops.k, &[Factor::Infer, STEPS.into()])?;
    schedule.reorder(&[n[0], k[0], n[1], k[1], loops.m, n[2]])?;
    schedule.unroll(loops.m)?;
    schedule.reverse_compute_at(write_back, n[0], UnitIters::Preserve, InsertAt::Latest)?;
    if let Some(&columns) = schedule.get_loops(write_back)?.last() {
        let parts = schedule.split(columns, &[Factor::Infer, COLUMNS.into()])?;
        schedule.vectorize(parts[1])?;
    }
    schedule.vectorize(n[2])?;
    let strips: Vec<LoopId> = loops.batch.into_iter().chain([n[0]]).collect();
    if !parallel_fused(schedule, &strips) {
        schedule.parallel(strips[0])?;
    }
    schedule.decompose_reduction(block, k[0])?;
    Ok(())
}

/// As wide as leaves work for all threads.
fn columns_of_strip(schedule: &Schedule, target: &CpuTarget, loops: &Loops) -> i64 {
    let batch = loops.batch.map_or(Some(1), |batch| extent(schedule, batch));
    let (Some(columns), Some(batch)) = (extent(schedule, loops.n), batch) else {
        return USUAL_COLUMNS;
    };
    let strips = (STRIPS * target.threads as i64 / batch.max(1)).max(1);
    let even = (columns + strips - 1) / strips;
    let whole = (even + COLUMNS - 1) / COLUMNS * COLUMNS;
    whole.clamp(FEWEST_COLUMNS, MOST_COLUMNS)
}
