//! Columns of a thread that lie apart in the result, so that threads beside each other store neighbours.
//!
//! Where rows of the result are no whole vectors, because their length is odd or open, a thread stores single elements. If it had four columns
//! beside each other, one store of a subgroup would touch every fourth element, and four stores would touch each sector. With
//! *striped* columns it stores neighbours:
//!
//! ```text
//! column        0  1 …  7 |  8  9 … 15 | 16 … | 24 … 31     of a run of 32
//! thread        0  1 …  7 |  0  1 …  7 |  0 … |  0 …  7
//! its register  0  0 …  0 |  1  1 …  1 |  2 … |  3 …  3
//! ```
//!
//! Shared memory holds the columns of a run in the order of threads, then registers: a thread still loads four of them as a vector. Eight
//! threads are a sector of `float32`, and the most for which neither the copy to shared memory nor a load of vectors meets in a bank:
//! a run is as many words as there are banks.
//!
//! Columns are padded to whole tiles in registers and in shared memory. Only the write-back asks where the result ends.
//!
//! Reference: S. Boehm, "How to Optimize a CUDA Matmul Kernel" (2022), kernels 2 (coalescing) and 10 (warptiling). CUB: "striped arrangement".

use super::loops::{fuse_loops, parts};
use super::matmul::{LANES, Prepared};
use super::shared_copy::{RowOf, copy_shared, pad};
use super::tile::Tile;
use crate::ir::{BlockId, Expr, Lambda, LoopId, Var};
use crate::sched::rules::DeclineReason;
use crate::sched::rules::epilogue::inline_consumers;
use crate::sched::rules::nest::params;
use crate::sched::rules::pattern::Matmul;
use crate::sched::rules::products::{cache_result, reindex_result};
use crate::sched::{Factor, Schedule};

/// Threads whose columns are neighbours, at most: `float32` of a sector.
const THREADS_OF_RUN: i64 = 8;

/// The threads that share a run of columns.
fn threads_of_run(tile: Tile) -> i64 {
    tile.tx.min(THREADS_OF_RUN)
}

/// Pads columns and steps to whole tiles, and writes columns as three digits: the run, the thread, and the register of a thread.
pub(super) fn prepare(
    sch: &mut Schedule,
    block: BlockId,
    matmul: Matmul,
    tile: Tile,
) -> Result<Prepared, DeclineReason> {
    let &[column] = matmul.n.as_slice() else {
        return Err(DeclineReason::Pattern("columns of several loops"));
    };
    cache_result(sch, block)?;
    let mut copies = vec![
        copy_shared(sch, block, &matmul.a, &matmul, RowOf::Step)?,
        copy_shared(sch, block, &matmul.b, &matmul, RowOf::Step)?,
    ];
    let padding = padding(sch, block, &matmul, column, tile);
    pad(sch, block, &matmul, &padding, &mut copies)?;
    // What leaves out the padding takes in what follows; it is no more than one block then.
    for unpadded in sch.get_consumers(block)? {
        inline_consumers(sch, unpadded);
    }
    let matmul = cut(sch, block, matmul, column, threads_of_run(tile))?;
    // The copy of `B` is made anew, in the order of the digits, and takes the padded one in.
    copies.pop();
    let moved = |at| at + if at > column { 2 } else { 0 };
    let of_a = copies.pop().map(|copy| copy.renumbered(moved));
    let of_b = copy_shared(sch, block, &matmul.b, &matmul, RowOf::Step)?;
    let write_back = reindex_result(sch, block)?;
    if inline_consumers(sch, write_back) == 0 {
        return Err(DeclineReason::Pattern(
            "a result that is not written from padded columns",
        ));
    }
    Ok(Prepared {
        matmul,
        write_back,
        copies: of_a.into_iter().chain([of_b]).collect(),
    })
}

/// Columns of whole tiles, and steps where the sum can be padded: a part of one that is cut has another end.
fn padding(sch: &Schedule, block: BlockId, matmul: &Matmul, column: usize, tile: Tile) -> Vec<i64> {
    let mut columns = vec![1; sch.func().blocks[block].iters.len()];
    columns[column] = tile.tx * tile.tn;
    let &[step] = matmul.k.as_slice() else {
        return columns;
    };
    let mut all = columns.clone();
    all[step] = tile.bk;
    match sch.clone().pad_einsum(block, &all) {
        Ok(()) => all,
        Err(_) => columns,
    }
}

/// Writes the column as its three digits.
fn cut(
    sch: &mut Schedule,
    block: BlockId,
    matmul: Matmul,
    column: usize,
    threads: i64,
) -> Result<Matmul, DeclineReason> {
    let params = params(sch.func(), block);
    let (of_thread, of_run) = (Expr::i64(threads), Expr::i64(threads * LANES));
    let digits = |(at, var): (usize, &Var)| {
        let var = var.expr();
        match at == column {
            true => vec![
                var.floor_div(&of_run),
                var.floor_mod(&of_thread),
                var.floor_mod(&of_run).floor_div(&of_thread),
            ],
            false => vec![var],
        }
    };
    let results = params.iter().enumerate().flat_map(digits).collect();
    sch.transform_block_layout(block, &Lambda { params, results })?;
    let cut = matmul.renumbered(|at| match at.cmp(&column) {
        std::cmp::Ordering::Less => at,
        // Neighbours in memory are threads.
        std::cmp::Ordering::Equal => at + 1,
        std::cmp::Ordering::Greater => at + 2,
    });
    Ok(Matmul {
        n: vec![column, column + 1, column + 2],
        ..cut
    })
}

/// Splits the loops of the three digits: workgroups, threads, and the tile of a thread.
pub(super) fn split_columns(
    sch: &mut Schedule,
    [runs, thread, register]: [LoopId; 3],
    tile: Tile,
) -> Result<(LoopId, LoopId, Vec<LoopId>), DeclineReason> {
    let of_threads = tile.tx / threads_of_run(tile);
    let factors = [Factor::Infer, of_threads.into(), tile.pieces.into()];
    let [no, run, piece] = parts(sch, runs, factors)?;
    sch.reorder(&[no, run, thread, piece, register])?;
    let nx = fuse_loops(sch, &[run, thread])?;
    Ok((no, nx, vec![piece, register]))
}
