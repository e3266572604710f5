//! Matmul and convolution of `float16` on fragments: each subgroup multiplies tiles of 16 by 16 elements and adds them up in `float32`.
//!
//! A convolution is one product of matrices first ([`implicit_gemm`]). Rows, columns and steps that tiles do not divide run on, over
//! zeros, in copies of the operands and of the result; nothing of them is stored.
//!
//! `m` and `n` are split over workgroups, subgroups and the fragments of a subgroup; `k` into steps. The threads of a workgroup copy
//! what a step reads into shared memory together, row by row, each row eight elements longer than it is used: rows then begin in other
//! banks. Each subgroup loads fragments of it, and multiplies each of its rows of them by each of its columns.
//!
//! No operation on fragments converts elements or adds a bias: sums go through shared memory, one fragment of each subgroup at
//! a time, and its threads apply what follows where they write the result back. A whole row of fragments would take four times as much
//! shared memory as one, and a core would hold fewer workgroups. Long sums of few results are cut into slices.
//!
//! References: TVM dlight `MatmulTensorization`; NVIDIA, "CUDA C++ Programming Guide", warp matrix functions.

use super::implicit_gemm;
use super::loops::{fuse_loops, inner_loops, parts, prefetch};
use super::matmul::copy_cost;
use super::shared_copy::{RowOf, SharedCopy, copy_shared, has_whole_vectors, pad};
use super::split_k::split_product;
use super::warp_tile::{Fragmented, SKEW, WarpTile};
use crate::ir::{BlockId, Expr, FRAGMENT_EXTENT, Lambda, LoopId, PrimFunc, ThreadAxis};
use crate::kernel::{FRAGMENT_THREADS, GpuTarget};
use crate::sched::rules::epilogue::inline_consumers;
use crate::sched::rules::nest::params;
use crate::sched::rules::pattern::{Matmul, Operand, Pattern, classify};
use crate::sched::rules::products::join_rows;
use crate::sched::rules::sizes::{usual_extent, usual_size};
use crate::sched::rules::{DeclineReason, FragmentsReason, Ways};
use crate::sched::{Factor, InsertAt, Schedule, UnitIters};
use crate::tensor::DType;

/// Elements that a thread copies at once, 8 bytes of `float16` and 16 of `float32`.
const LANES: i64 = 4;

/// The iter variables of a product: those of extent 1 are taken as batches.
struct Roles {
    batch: Vec<usize>,
    m: usize,
    n: usize,
    k: usize,
}

/// The product of a block, if there are fragments for its elements.
fn product(func: &PrimFunc, block: BlockId, target: &GpuTarget) -> Result<Matmul, DeclineReason> {
    let Pattern::Matmul(matmul) = classify(func, block) else {
        return Err(DeclineReason::Pattern("no matmul"));
    };
    let half = |operand: &Operand| operand.buffer.dtype() == DType::F16;
    if !half(&matmul.a) || !half(&matmul.b) {
        return Err(DeclineReason::Pattern("no matmul of float16"));
    }
    if !target.cooperative_matrix {
        return Err(FragmentsReason::Device.into());
    }
    if matmul.c.dtype() != DType::F32 {
        let dtype = matmul.c.dtype();
        return Err(FragmentsReason::Sums { dtype }.into());
    }
    Ok(matmul)
}

/// Whether there are fragments for the elements of a product.
pub(super) fn has_fragments(func: &PrimFunc, block: BlockId, target: &GpuTarget) -> bool {
    product(func, block, target).is_ok()
}

pub(super) fn apply(
    sch: &mut Schedule,
    block: BlockId,
    target: &GpuTarget,
    way: usize,
) -> Result<Ways, DeclineReason> {
    let matmul = product(sch.func(), block, target)?;
    let matmul = match implicit_gemm::takes(sch.func(), block, target) {
        true => implicit_gemm::join(sch, block, target)?,
        false => join_rows(sch, block, matmul)?,
    };
    let roles = roles(sch, block, &matmul)?;
    let func = sch.func();
    let iters = &func.blocks[block].iters;
    for (axis, at) in [("n", roles.n), ("k", roles.k)] {
        if iters[at].dom.extent.as_int().is_none() {
            return Err(FragmentsReason::Open { axis }.into());
        }
    }
    let size = |name: &str| usual_size(func, name);
    let usual = |at: usize| usual_extent(&iters[at].dom.extent, &size);
    let rows = match iters[roles.m].dom.extent.as_int() {
        Some(rows) => rows,
        None => usual(roles.m).max(WarpTile::FEWEST_ROWS),
    };
    let product = Fragmented {
        extents: [
            roles.batch.iter().map(|&at| usual(at)).product(),
            rows,
            usual(roles.n),
            usual(roles.k),
        ],
        copy: [&matmul.a, &matmul.b].map(|operand| copy_cost(func, block, operand)),
        is_cut: matmul.k.len() == 1,
    };
    let (ways, count) = WarpTile::ways(target, &product)?;
    let &(mut tile, slices) = ways.get(way).ok_or(DeclineReason::Pattern(
        "a matmul of which there are not so many ways",
    ))?;
    log::debug!("way {way}: {tile:?}, {slices:?} slices");
    if let Some(slices) = slices {
        let mut attempt = sch.clone();
        match in_slices(&mut attempt, block, &matmul, tile, slices, target) {
            Ok(()) => {
                *sch = attempt;
                return Ok(count);
            }
            Err(reason) if way > 0 => return Err(reason),
            Err(_) => {
                let whole = Fragmented {
                    is_cut: false,
                    ..product
                };
                let (ways, _) = WarpTile::ways(target, &whole)?;
                tile = ways.first().map_or(tile, |(tile, _)| *tile);
            }
        }
    }
    tiles(sch, block, &matmul, &roles, tile, target)?;
    Ok(count)
}

/// Makes tiles of slices of the sum.
fn in_slices(
    sch: &mut Schedule,
    block: BlockId,
    matmul: &Matmul,
    tile: WarpTile,
    slices: i64,
    target: &GpuTarget,
) -> Result<(), DeclineReason> {
    let (block, matmul) = split_product(sch, block, matmul, slices, target)?;
    let roles = roles(sch, block, &matmul)?;
    tiles(sch, block, &matmul, &roles, tile, target)
}

/// The roles of iter variables, if rows, columns and sums have one each.
fn roles(sch: &mut Schedule, block: BlockId, matmul: &Matmul) -> Result<Roles, DeclineReason> {
    let loops = sch.get_loops(block)?;
    let iters = &sch.func().blocks[block].iters;
    if loops.len() != iters.len() {
        return Err(DeclineReason::Pattern(
            "not one loop for each iter variable",
        ));
    }
    let mut batch = matmul.batch.clone();
    let mut one = |roles: &[usize]| {
        let is_unit = |at: &&usize| iters[**at].dom.extent.is_one();
        let (units, wide): (Vec<&usize>, Vec<&usize>) = roles.iter().partition(is_unit);
        batch.extend(units);
        match wide.as_slice() {
            [one] => Ok(**one),
            _ => Err(DeclineReason::Pattern(
                "several loops of rows, columns or sums, or none",
            )),
        }
    };
    let (m, n, k) = (one(&matmul.m)?, one(&matmul.n)?, one(&matmul.k)?);
    batch.sort_unstable();
    Ok(Roles { batch, m, n, k })
}

/// Loops of the update.
struct Loops {
    /// Subgroups along `n`, the innermost loop that is bound.
    subgroup: LoopId,
    /// Steps of `k` between barriers, and fragments of a step.
    ko: LoopId,
    ki: LoopId,
    /// Fragments of a subgroup.
    mi: LoopId,
    ni: LoopId,
    /// Rows of a fragment.
    row: LoopId,
}

fn tiles(
    sch: &mut Schedule,
    block: BlockId,
    matmul: &Matmul,
    roles: &Roles,
    tile: WarpTile,
    target: &GpuTarget,
) -> Result<(), DeclineReason> {
    let loops = sch.get_loops(block)?;
    let mut copies = vec![
        copy_shared(sch, block, &matmul.a, matmul, RowOf::Side)?,
        copy_shared(sch, block, &matmul.b, matmul, RowOf::Step)?,
    ];
    pad_to_tiles(sch, block, roles, tile, &mut copies)?;
    let store = write_from(sch, block, roles, "wmma.accumulator")?;
    let write_back = write_to_shared(sch, store, tile)?;
    let l = split(sch, &loops, roles, tile)?;
    let sides = [&matmul.a, &matmul.b].into_iter().zip(FACTORS).zip(&copies);
    for ((operand, (scope, intrin)), copy) in sides {
        load_shared(sch, copy, l.ko, tile)?;
        let fragments = sch.cache_read(block, operand.read_index, scope, &[block])?;
        sch.compute_at(fragments, l.ki, UnitIters::Simplify, InsertAt::Latest)?;
        on_fragments(sch, fragments, l.ki, intrin)?;
    }
    prefetch(sch, l.ko, target)?;
    write_result(sch, store, write_back, &l)?;
    let init = sch.decompose_reduction(block, l.ko)?;
    let row = inner_loops(sch, init, l.subgroup)?;
    if let [outer @ .., row, _] = row.as_slice() {
        outer.iter().try_for_each(|&l| sch.unroll(l))?;
        sch.tensorize(*row, "wmma_fill_16x16x16_f32", UnitIters::Simplify)?;
    }
    sch.tensorize(l.row, "wmma_sync_16x16x16_f16f16f32", UnitIters::Simplify)?;
    for inner in [l.ki, l.mi, l.ni] {
        sch.unroll(inner)?;
    }
    Ok(())
}

/// The scope of fragments of each factor, and what loads them.
const FACTORS: [(&str, &str); 2] = [
    ("wmma.matrix_a", "wmma_load_16x16x16_f16_a_shared"),
    ("wmma.matrix_b", "wmma_load_16x16x16_f16_b_shared"),
];

/// The block adds up in a buffer of this scope, `[batches, m, n]`, and another block writes that back.
fn write_from(
    sch: &mut Schedule,
    block: BlockId,
    roles: &Roles,
    scope: &str,
) -> Result<BlockId, DeclineReason> {
    let params = params(sch.func(), block);
    let places = roles.batch.iter().chain([&roles.m, &roles.n]);
    let results = places.map(|at| params[*at].expr()).collect();
    let map = Lambda { params, results };
    Ok(sch.reindex_cache_write(block, 0, scope, &map)?)
}

/// Makes rows, columns and steps those of whole tiles. What is more is computed of zeros, and not stored.
fn pad_to_tiles(
    sch: &mut Schedule,
    block: BlockId,
    roles: &Roles,
    tile: WarpTile,
    copies: &mut [SharedCopy],
) -> Result<(), DeclineReason> {
    let [rows, columns] = tile.extents();
    let mut padding = vec![1; sch.func().blocks[block].iters.len()];
    for (at, of) in [(roles.m, rows), (roles.n, columns), (roles.k, tile.steps)] {
        padding[at] = of;
    }
    write_from(sch, block, roles, "shared")?;
    pad(sch, block, &padding, copies)
}

/// The copy of the sums goes through shared memory. Rows and columns are three digits each there: the subgroup, the fragment, and the
/// element. So the fragments that are there at once, one of each subgroup, lie side by side. Gives the block that reads them, as far
/// as there are such in the result, and applies what follows.
fn write_to_shared(
    sch: &mut Schedule,
    store: BlockId,
    tile: WarpTile,
) -> Result<BlockId, DeclineReason> {
    let params = params(sch.func(), store);
    let [batch @ .., m, n] = params.as_slice() else {
        return Err(DeclineReason::Pattern("a result without rows or columns"));
    };
    let extent = Expr::i64(FRAGMENT_EXTENT);
    let digits = |at: &Expr, side: usize| {
        let of_subgroup = Expr::i64(tile.fragments[side] * FRAGMENT_EXTENT);
        // One fragment needs no number.
        let fragment =
            (tile.fragments[side] > 1).then(|| at.floor_mod(&of_subgroup).floor_div(&extent));
        [
            Some(at.floor_div(&of_subgroup)),
            fragment,
            Some(at.floor_mod(&extent)),
        ]
    };
    let (rows, columns) = (digits(&m.expr(), 0), digits(&n.expr(), 1));
    let digits = rows.into_iter().zip(columns);
    let digits = digits.flat_map(|(of_row, of_column)| [of_row, of_column]);
    let batch = batch.iter().map(|var| var.expr());
    let map = Lambda {
        results: batch.chain(digits.flatten()).collect(),
        params: params.clone(),
    };
    let copy = sch.reindex_cache_write(store, 0, "shared", &map)?;
    let mut consumers = sch.get_consumers(copy)?.into_iter();
    let write_back = consumers
        .next()
        .ok_or(DeclineReason::Pattern("a result that nobody reads"))?;
    sch.compute_inline(copy)?;
    inline_consumers(sch, write_back);
    Ok(write_back)
}

/// Splits, orders and binds the loops of the update.
fn split(
    sch: &mut Schedule,
    loops: &[LoopId],
    roles: &Roles,
    tile: WarpTile,
) -> Result<Loops, DeclineReason> {
    let batch: Vec<LoopId> = roles.batch.iter().map(|&at| loops[at]).collect();
    let [m, n, k] = [roles.m, roles.n, roles.k].map(|at| loops[at]);
    sch.reorder(&[&batch[..], &[m, n, k]].concat())?;
    let batch = match batch.as_slice() {
        [] => None,
        _ => Some(fuse_loops(sch, &batch)?),
    };
    let side = |of: usize| {
        let (subgroups, fragments) = (tile.subgroups[of], tile.fragments[of]);
        [
            Factor::Infer,
            subgroups.into(),
            fragments.into(),
            FRAGMENT_EXTENT.into(),
        ]
    };
    let [mo, my, mi, row] = parts(sch, m, side(0))?;
    let [no, ny, ni, column] = parts(sch, n, side(1))?;
    let in_step = (tile.steps / FRAGMENT_EXTENT).into();
    let [ko, ki, step] = parts(sch, k, [Factor::Infer, in_step, FRAGMENT_EXTENT.into()])?;
    sch.reorder(&[mo, no, my, ny, ko, ki, mi, ni, row, column, step])?;
    if let Some(batch) = batch {
        sch.bind(batch, ThreadAxis::BlockIdxZ)?;
    }
    sch.bind(mo, ThreadAxis::BlockIdxY)?;
    sch.bind(no, ThreadAxis::BlockIdxX)?;
    sch.bind(my, ThreadAxis::ThreadIdxY)?;
    sch.bind(ny, ThreadAxis::ThreadIdxZ)?;
    Ok(Loops {
        subgroup: ny,
        ko,
        ki,
        mi,
        ni,
        row,
    })
}

/// Each subgroup stores a fragment, then its threads write that part of the result.
fn write_result(
    sch: &mut Schedule,
    store: BlockId,
    write_back: BlockId,
    l: &Loops,
) -> Result<(), DeclineReason> {
    sch.reverse_compute_at(store, l.subgroup, UnitIters::Simplify, InsertAt::Latest)?;
    let inner = inner_loops(sch, store, l.subgroup)?;
    let [.., m, n] = inner.as_slice() else {
        return Err(DeclineReason::Pattern("a result without rows or columns"));
    };
    let [mi, row] = parts(sch, *m, [Factor::Infer, FRAGMENT_EXTENT.into()])?;
    let [ni, column] = parts(sch, *n, [Factor::Infer, FRAGMENT_EXTENT.into()])?;
    sch.reorder(&[mi, ni, row, column])?;
    sch.reverse_compute_at(write_back, ni, UnitIters::Simplify, InsertAt::Latest)?;
    let part = inner_loops(sch, write_back, ni)?;
    let part = fuse_loops(sch, &part)?;
    let threads = i64::from(FRAGMENT_THREADS);
    // Lanes of a thread that are no vector of the result would read four words of a bank apart.
    let lanes = match has_whole_vectors(&sch.func().blocks[write_back].writes[0]) {
        true => LANES,
        false => 1,
    };
    let [rest, lane, vector] = parts(sch, part, [Factor::Infer, threads.into(), lanes.into()])?;
    sch.bind(lane, ThreadAxis::ThreadIdxX)?;
    sch.vectorize(vector)?;
    sch.unroll(rest)?;
    sch.tensorize(row, "wmma_store_16x16x16_f32_shared", UnitIters::Simplify)?;
    for outer in [mi, ni] {
        sch.unroll(outer)?;
    }
    Ok(())
}

/// The threads of a workgroup copy what a step reads of an operand, neighbours in memory to neighbours, row by row.
fn load_shared(
    sch: &mut Schedule,
    copy: &SharedCopy,
    at: LoopId,
    tile: WarpTile,
) -> Result<(), DeclineReason> {
    sch.storage_align(copy.block, 0, copy.row(), 2 * SKEW, SKEW)?;
    sch.compute_at(copy.block, at, UnitIters::Preserve, InsertAt::Latest)?;
    let inner = copy.along_memory(sch, at)?;
    let fused = fuse_loops(sch, &inner)?;
    let [y, z] = tile.subgroups;
    let threads = i64::from(FRAGMENT_THREADS);
    let lanes = if copy.in_vectors { LANES } else { 1 };
    let factors = [
        Factor::Infer,
        z.into(),
        y.into(),
        threads.into(),
        lanes.into(),
    ];
    let [rest, z, y, x, vector] = parts(sch, fused, factors)?;
    sch.bind(z, ThreadAxis::ThreadIdxZ)?;
    sch.bind(y, ThreadAxis::ThreadIdxY)?;
    sch.bind(x, ThreadAxis::ThreadIdxX)?;
    sch.vectorize(vector)?;
    sch.unroll(rest)?;
    Ok(())
}

/// A copy of rows and columns of fragments, each by an intrinsic.
fn on_fragments(
    sch: &mut Schedule,
    copy: BlockId,
    at: LoopId,
    intrin: &str,
) -> Result<(), DeclineReason> {
    let inner = inner_loops(sch, copy, at)?;
    let [.., m, n] = inner.as_slice() else {
        return Err(DeclineReason::Pattern("a copy without rows or columns"));
    };
    let [mi, row] = parts(sch, *m, [Factor::Infer, FRAGMENT_EXTENT.into()])?;
    let [ni, column] = parts(sch, *n, [Factor::Infer, FRAGMENT_EXTENT.into()])?;
    sch.reorder(&[mi, ni, row, column])?;
    sch.tensorize(row, intrin, UnitIters::Simplify)?;
    for outer in [mi, ni] {
        sch.unroll(outer)?;
    }
    Ok(())
}
