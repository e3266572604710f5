//! Matmul: each thread keeps a tile of the result in registers.
//!
//! Rows of several dimensions, as batches of sequences have, are written as one first. `m` and `n` are split over workgroups,
//! threads and the tile; `k` into steps. On a GPU the threads of a workgroup first
//! copy what a step reads into shared memory together, to tiles that lie row by row of `k`, whichever way the operands lie: threads
//! that read at once then read neighbours, and no two wait for one bank. The largest tiles give each thread columns of two pieces, each
//! beside those of the next thread. Where rows of the result are no whole vectors, the columns of a thread lie apart (`striped`). A
//! software adapter runs threads as lanes of the CPU's vectors and has no fast shared memory: there each thread loads by itself, and rows of `A`, which only the workgroup decides, are loads of
//! one value for all lanes. The epilogue (bias, activation) is applied where the tile is written back.
//!
//! References: TVM dlight `Matmul`; S. Boehm, "How to Optimize a CUDA Matmul Kernel" (2022), kernel 6.

use super::extents::{estimate, extents};
use super::implicit_gemm;
use super::inline::inline_into;
use super::loops::{fuse_loops, inner_loops, parts, prefetch, tile_loops};
use super::shared_copy::{RowOf, SharedCopy, copy_shared, load_shared, pad_steps};
use super::split_k;
use super::striped;
use super::tile::{Extents, Tile};
use super::traits::GpuTraits;
use crate::arith::Analyzer;
use crate::ir::{BlockId, Expr, Lambda, LoopId, PrimFunc, ThreadAxis, Var};
use crate::kernel::GpuTarget;
use crate::sched::rules::epilogue::inline_consumers;
use crate::sched::rules::nest::params;
use crate::sched::rules::pattern::{Matmul, Operand, Pattern, classify};
use crate::sched::rules::products::{cache_result, is_simple, join_rows, reindex_result};
use crate::sched::rules::sizes::usual_size;
use crate::sched::rules::{DeclineReason, Ways};
use crate::sched::{Factor, InsertAt, Schedule, UnitIters};

/// Steps of `k` that are written out, and elements of a vector: those of one 16-byte load of `f32`.
pub(super) const LANES: i64 = 4;

/// Loops of the update after splitting.
struct Loops {
    /// Threads along `n`, the innermost loop that is bound.
    nx: LoopId,
    /// Steps of `k` between barriers, between loads into registers (the same without shared memory), and within those.
    ko: LoopId,
    kr: LoopId,
    ki: LoopId,
    /// The tile of a thread: rows; pieces of columns where there are several, and columns.
    mi: LoopId,
    ni: Vec<LoopId>,
}

pub(super) fn apply(
    sch: &mut Schedule,
    block: BlockId,
    target: &GpuTarget,
    way: usize,
) -> Result<Ways, DeclineReason> {
    let Pattern::Matmul(matmul) = classify(sch.func(), block) else {
        return Err(DeclineReason::Pattern("no matmul"));
    };
    let matmul = join_rows(sch, block, matmul)?;
    tiles(sch, block, matmul, target, way)
}

/// Makes tiles of a product, in one of the ways that may be the fastest.
pub(super) fn tiles(
    sch: &mut Schedule,
    block: BlockId,
    matmul: Matmul,
    target: &GpuTarget,
    way: usize,
) -> Result<Ways, DeclineReason> {
    if matmul.m.is_empty() || matmul.n.is_empty() || matmul.k.is_empty() {
        return Err(DeclineReason::Pattern(
            "a matmul without rows, columns or sum",
        ));
    }
    let loops = sch.get_loops(block)?;
    if loops.len() != sch.func().blocks[block].iters.len() {
        return Err(DeclineReason::Pattern(
            "not one loop for each iter variable",
        ));
    }
    let func = sch.func();
    let size = |name: &str| usual_size(func, name);
    let e = extents(sch, block, &matmul, target, &size);
    let (ways, count) = Tile::ways(target, &e);
    let &(mut tile, slices) = ways.get(way).ok_or(DeclineReason::Pattern(
        "a matmul of which there are not so many ways",
    ))?;
    log::debug!("way {way}: {tile:?}, {slices:?} slices");
    if let Some(slices) = slices {
        let mut attempt = sch.clone();
        let of_slices = split_k::split_product(&mut attempt, block, &matmul, slices, target)
            .and_then(|(block, matmul)| tiles_of(&mut attempt, block, matmul, tile, target));
        match of_slices {
            Ok(()) => {
                *sch = attempt;
                return Ok(count);
            }
            Err(reason) if way > 0 => return Err(reason),
            // Whole, where the sum cannot be cut after all.
            Err(_) => {
                let whole = Extents {
                    k_is_one_loop: false,
                    ..e
                };
                let (ways, _) = Tile::ways(target, &whole);
                tile = ways.first().map_or(tile, |(tile, _)| *tile);
            }
        }
    }
    tiles_of(sch, block, matmul, tile, target)?;
    Ok(count)
}

/// Makes tiles of this size.
fn tiles_of(
    sch: &mut Schedule,
    block: BlockId,
    matmul: Matmul,
    tile: Tile,
    target: &GpuTarget,
) -> Result<(), DeclineReason> {
    if tile.striped {
        let mut attempt = sch.clone();
        let striped = striped::prepare(&mut attempt, block, matmul.clone(), tile)
            .and_then(|prepared| tiles_from(&mut attempt, block, prepared, tile, target));
        match striped {
            Ok(()) => {
                *sch = attempt;
                return Ok(());
            }
            Err(reason) => log::debug!("columns of a thread side by side: {reason}"),
        }
    }
    let pieces = if tile.striped { 1 } else { tile.pieces };
    let tile = Tile {
        striped: false,
        pieces,
        ..tile
    };
    let prepared = prepare(sch, block, matmul, tile)?;
    tiles_from(sch, block, prepared, tile, target)
}

/// A product whose operands are copied, and whose sums are written back by another block.
pub(super) struct Prepared {
    pub(super) matmul: Matmul,
    pub(super) write_back: BlockId,
    /// The copies of `A` and `B` in shared memory, if any.
    pub(super) copies: Vec<SharedCopy>,
}

/// Copies operands and sums for tiles whose threads have columns side by side.
fn prepare(
    sch: &mut Schedule,
    block: BlockId,
    matmul: Matmul,
    tile: Tile,
) -> Result<Prepared, DeclineReason> {
    let matmul = if tile.pieces > 1 {
        cut_columns(sch, block, matmul, tile.tx * LANES)?
    } else {
        matmul
    };
    let write_back = match matmul.n.len() {
        1 => cache_result(sch, block)?,
        _ => reindex_result(sch, block)?,
    };
    inline_consumers(sch, write_back);
    let mut copies = Vec::new();
    if tile.shared {
        for operand in [&matmul.a, &matmul.b] {
            copies.push(copy_shared(sch, block, operand, &matmul, RowOf::Step)?);
        }
        pad_steps(sch, block, &matmul, &mut copies, tile.bk)?;
    }
    Ok(Prepared {
        matmul,
        write_back,
        copies,
    })
}

/// Splits, orders and binds the loops of a product and of its copies.
fn tiles_from(
    sch: &mut Schedule,
    block: BlockId,
    prepared: Prepared,
    tile: Tile,
    target: &GpuTarget,
) -> Result<(), DeclineReason> {
    let Prepared {
        matmul,
        write_back,
        copies,
    } = prepared;
    let operands = [&matmul.a, &matmul.b];
    let loops = sch.get_loops(block)?;
    let l = split(sch, &loops, &matmul, tile)?;
    sch.reverse_compute_at(write_back, l.nx, UnitIters::Simplify, InsertAt::Latest)?;
    let mut copies = copies.into_iter();
    for operand in operands {
        if let Some(copy) = copies.next() {
            load_shared(sch, &copy, &matmul, l.ko, tile)?;
        }
        load_local(sch, block, operand, &matmul, &l, tile)?;
    }
    if tile.shared {
        prefetch(sch, l.ko, target)?;
    }
    if l.kr != l.ko && tile.bk <= GpuTraits::of(target).steps_written_out {
        sch.unroll(l.kr)?;
    }
    sch.unroll(l.ki)?;
    tile_loops(sch, &[&[l.mi], &l.ni[..]].concat())?;
    let init = sch.decompose_reduction(block, l.ko)?;
    let init_loops = inner_loops(sch, init, l.nx)?;
    tile_loops(sch, &init_loops)?;
    let back_loops = inner_loops(sch, write_back, l.nx)?;
    match tile.striped {
        // Neither neighbours nor a vector.
        true => back_loops.into_iter().try_for_each(|l| Ok(sch.unroll(l)?)),
        false => tile_loops(sch, &back_loops),
    }
}

/// The seconds that a product takes with so many rows, which these sizes number, in each of the ways in which tiles are made of it, by
/// an estimate; if nothing else of it is open.
pub(super) fn times(
    func: &PrimFunc,
    block: BlockId,
    rows: &[Var],
    target: &GpuTarget,
) -> Option<impl Fn(i64) -> Vec<f64>> {
    GpuTraits::need_fast_shared(target).ok()?;
    let mut sch = Schedule::new(func.clone());
    let matmul = match implicit_gemm::join(&mut sch, block, target) {
        Ok(matmul) => matmul,
        Err(_) => {
            let Pattern::Matmul(matmul) = classify(func, block) else {
                return None;
            };
            let mut reads = func.blocks[block].reads.iter();
            if !reads.all(is_simple) {
                return None;
            }
            join_rows(&mut sch, block, matmul).ok()?
        }
    };
    let one = |var: &Var| rows.contains(var).then(|| Expr::int(1, var.dtype()));
    let mut iters = sch.func().blocks[block].iters.iter();
    let is_known = iters.all(|iter| {
        let extent = iter.dom.extent.substitute(&one);
        Analyzer::new().simplify(&extent).as_int().is_some()
    });
    if !is_known || matmul.m.is_empty() || matmul.n.is_empty() || matmul.k.is_empty() {
        return None;
    }
    let e = extents(&sch, block, &matmul, target, &|_| 1);
    let names: Vec<String> = rows.iter().map(|var| var.name().to_owned()).collect();
    let target = target.clone();
    Some(move |rows| {
        let size = |name: &str| match names.first().is_some_and(|first| first == name) {
            true => rows,
            false => 1,
        };
        let estimate = estimate(sch.func(), block, &matmul, &size);
        let timed = Tile::timed(&target, &Extents { estimate, ..e });
        timed.into_iter().map(|(_, seconds)| seconds).collect()
    })
}

/// Writes columns as two digits: pieces of so many, and the column in a piece. A thread whose columns are some of each piece shares
/// every load and store of a vector with the threads beside it.
fn cut_columns(
    sch: &mut Schedule,
    block: BlockId,
    matmul: Matmul,
    piece: i64,
) -> Result<Matmul, DeclineReason> {
    let params = params(sch.func(), block);
    let cut = |(at, var): (usize, &Var)| {
        let (var, piece) = (var.expr(), Expr::i64(piece));
        match matmul.n.contains(&at) {
            true => vec![var.floor_div(&piece), var.floor_mod(&piece)],
            false => vec![var],
        }
    };
    let results = params.iter().enumerate().flat_map(cut).collect();
    sch.transform_block_layout(block, &Lambda { params, results })?;
    let &[column] = matmul.n.as_slice() else {
        return Err(DeclineReason::Pattern(
            "a matmul whose columns cannot be cut",
        ));
    };
    let cut = matmul.renumbered(|at| at + usize::from(at >= column));
    Ok(Matmul {
        n: vec![column, column + 1],
        ..cut
    })
}

/// Splits, orders and binds the loops of the update.
fn split(
    sch: &mut Schedule,
    loops: &[LoopId],
    matmul: &Matmul,
    tile: Tile,
) -> Result<Loops, DeclineReason> {
    let pick = |roles: &[usize]| roles.iter().map(|&at| loops[at]).collect::<Vec<_>>();
    let (batch, m, n, k) = (
        pick(&matmul.batch),
        pick(&matmul.m),
        pick(&matmul.n),
        pick(&matmul.k),
    );
    sch.reorder(&[batch.clone(), m.clone(), n.clone(), k.clone()].concat())?;
    let batch = match batch.as_slice() {
        [] => None,
        _ => Some(fuse_loops(sch, &batch)?),
    };
    let (m, k) = (fuse_loops(sch, &m)?, fuse_loops(sch, &k)?);
    let [mo, my, mi] = parts(sch, m, [Factor::Infer, tile.ty.into(), tile.tm.into()])?;
    let (no, nx, ni) = match n.as_slice() {
        &[runs, thread, register] if tile.striped => {
            striped::split_columns(sch, [runs, thread, register], tile)?
        }
        [pieces, columns] if tile.pieces > 1 => {
            let [no, np] = parts(sch, *pieces, [Factor::Infer, tile.pieces.into()])?;
            let [nx, ni] = parts(sch, *columns, [tile.tx.into(), LANES.into()])?;
            (no, nx, vec![np, ni])
        }
        _ => {
            let n = fuse_loops(sch, &n)?;
            let [no, nx, ni] = parts(sch, n, [Factor::Infer, tile.tx.into(), tile.tn.into()])?;
            (no, nx, vec![ni])
        }
    };
    let (ko, kr, ki) = if tile.shared {
        let steps = Factor::from((tile.bk / LANES).max(1));
        let [ko, kr, ki] = parts(sch, k, [Factor::Infer, steps, tile.bk.min(LANES).into()])?;
        (ko, kr, ki)
    } else {
        let [ko, ki] = parts(sch, k, [Factor::Infer, tile.bk.into()])?;
        (ko, ko, ki)
    };
    let around: &[LoopId] = if kr == ko { &[ko] } else { &[ko, kr] };
    sch.reorder(&[&[mo, no, my, nx], around, &[ki, mi], &ni[..]].concat())?;
    if let Some(batch) = batch {
        sch.bind(batch, ThreadAxis::BlockIdxZ)?;
    }
    sch.bind(mo, ThreadAxis::BlockIdxY)?;
    sch.bind(no, ThreadAxis::BlockIdxX)?;
    if tile.ty > 1 {
        sch.bind(my, ThreadAxis::ThreadIdxY)?;
    }
    sch.bind(nx, ThreadAxis::ThreadIdxX)?;
    Ok(Loops {
        nx,
        ko,
        kr,
        ki,
        mi,
        ni,
    })
}

/// Refuses a copy of many more elements than the update reads of it: those of a tile may be far apart, as columns of a matrix
/// in a flat array are, and the copy is of all that lies between.
fn no_gaps(sch: &Schedule, copy: &[LoopId], read: i64) -> Result<(), DeclineReason> {
    let extents = copy.iter().map(|&l| sch.func().loops[l].extent.as_int());
    match extents.product::<Option<i64>>() {
        Some(copied) if copied <= 2 * read => Ok(()),
        _ => Err(DeclineReason::Pattern(
            "the operands of a tile are far apart",
        )),
    }
}

/// Each thread loads what it needs into registers, in vectors along the axis that is contiguous.
fn load_local(
    sch: &mut Schedule,
    block: BlockId,
    operand: &Operand,
    matmul: &Matmul,
    l: &Loops,
    tile: Tile,
) -> Result<(), DeclineReason> {
    let along_k = !tile.shared && operand.contiguous.is_some_and(|at| matmul.k.contains(&at));
    let extent = |l: LoopId| sch.func().loops[l].extent.as_int().unwrap_or(1);
    let steps = extent(l.ki);
    let side = extent(if operand.read_index == matmul.a.read_index {
        l.mi
    } else {
        l.ni[0]
    });
    let info = &sch.func().blocks[block];
    let region = &info.reads[operand.read_index];
    let copy = if is_simple(region) {
        sch.cache_read(block, operand.read_index, "local", &[block])?
    } else {
        // The elements alone, not all that lies between them.
        let params = params(sch.func(), block);
        let used = params.iter().zip(&info.iters).filter(|(_, iter)| {
            let mut ranges = region.region.iter();
            ranges.any(|range| range.min.uses(&iter.var))
        });
        let results = used.map(|(param, _)| param.expr()).collect();
        let map = Lambda { params, results };
        sch.reindex_cache_read(block, operand.read_index, "local", &map)?
    };
    if !tile.shared {
        inline_into(sch, copy)?;
    }
    let at = if along_k { l.kr } else { l.ki };
    sch.compute_at(copy, at, UnitIters::Simplify, InsertAt::Latest)?;
    let inner = inner_loops(sch, copy, at)?;
    if !tile.shared {
        no_gaps(sch, &inner, side * if along_k { steps } else { 1 })?;
    }
    tile_loops(sch, &inner)
}
