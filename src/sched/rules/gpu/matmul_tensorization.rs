//! Matmul and convolution on fragments: each subgroup multiplies tiles of 16 by 16 or 8 by 8 elements, of the types that the device has
//! fragments of, and adds them up in `float32`.
//!
//! A convolution is one product of matrices first ([`implicit_gemm`]). Rows, columns and steps that tiles do not divide run on, over
//! zeros, in copies of the operands and of the result; nothing of them is stored.
//!
//! `m` and `n` are split over workgroups, subgroups and the fragments of a subgroup; `k` into steps. The threads of a workgroup copy
//! what a step reads into shared memory together, row by row, each row eight elements longer than it is used: rows then begin in other
//! banks. Each subgroup loads fragments of it, and multiplies each of its rows of them by each of its columns.
//!
//! No operation on fragments converts elements or adds a bias: sums go through shared memory, one fragment of 16 by 16 or a few of 8 by 8
//! of each subgroup at a time, and its threads apply what follows where they write the result back. All of them would take more
//! shared memory, and a core would hold fewer workgroups. Long sums of few results are cut into slices.
//!
//! Where fragments multiply less than twice as fast as threads do, the product is scheduled without them, too, and takes what is faster
//! ([`choose_fastest`](crate::sched::rules::choose_fastest)).
//!
//! References: TVM dlight `MatmulTensorization`; NVIDIA, "CUDA C++ Programming Guide", warp matrix functions.

use super::extents::copy_cost;
use super::implicit_gemm;
use super::loops::{fuse_loops, inner_loops, parts, prefetch};
use super::shared_copy::{RowOf, SharedCopy, copy_shared, has_whole_vectors, pad_extents};
use super::split_k::split_product;
use super::warp_tile::{Fragmented, WarpTile};
use crate::ir::{BlockId, Expr, Lambda, LoopId, PrimFunc, ThreadAxis};
use crate::kernel::{BANKS, FRAGMENT_THREADS, FragmentProduct, GpuModel, GpuTarget};
use crate::sched::rules::epilogue::inline_consumers;
use crate::sched::rules::nest::params;
use crate::sched::rules::pattern::{Matmul, Pattern, classify};
use crate::sched::rules::products::join_rows;
use crate::sched::rules::sizes::{usual_extent, usual_size};
use crate::sched::rules::{DeclineReason, FragmentsReason, Ways};
use crate::sched::tensorize::ProductIntrins;
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

pub(super) fn apply(
    sch: &mut Schedule,
    block: BlockId,
    target: &GpuTarget,
    way: usize,
) -> Result<Ways, DeclineReason> {
    let Pattern::Matmul(matmul) = classify(sch.func(), block) else {
        return Err(DeclineReason::Pattern("no matmul"));
    };
    let product = product(&matmul, target)?;
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
        None => usual(roles.m).max(WarpTile::fewest_rows(product)),
    };
    let product = Fragmented {
        product,
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
    let count = Ways {
        rivals: has_rivals(target),
        ..count
    };
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

/// The product of fragments that the device makes of such operands and sums.
fn product(matmul: &Matmul, target: &GpuTarget) -> Result<FragmentProduct, DeclineReason> {
    let factors = matmul.a.buffer.dtype();
    let has_such = |of: &FragmentProduct| DType::from(of.factors) == factors;
    let is_known = factors == DType::F16 || target.fragments.iter().any(has_such);
    if matmul.b.buffer.dtype() != factors || !is_known {
        return Err(DeclineReason::Pattern(
            "no matmul of elements that fragments have",
        ));
    }
    if !target.fragments.iter().any(has_such) {
        return Err(FragmentsReason::Device { factors }.into());
    }
    let dtype = matmul.c.dtype();
    let product = target.fragment_product(factors, dtype);
    Ok(product.ok_or(FragmentsReason::Sums { dtype })?)
}

/// Whether there are fragments for the elements of a product.
pub(super) fn has_fragments(func: &PrimFunc, block: BlockId, target: &GpuTarget) -> bool {
    matches!(classify(func, block), Pattern::Matmul(matmul) if product(&matmul, target).is_ok())
}

/// How many times faster than threads fragments multiply, so that nothing else is faster.
const SURELY_FASTER: f64 = 2.0;

/// Whether tiles in registers may be faster.
fn has_rivals(target: &GpuTarget) -> bool {
    let model = GpuModel::of_target(target);
    model.tile_fma_per_cycle < SURELY_FASTER * model.fma_per_cycle
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
    let intrins = ProductIntrins::of(tile.product).ok_or(DeclineReason::Pattern(
        "a product of fragments that has no intrinsics",
    ))?;
    let loops = sch.get_loops(block)?;
    let mut copies = vec![
        copy_shared(sch, block, &matmul.a, matmul, RowOf::Side)?,
        copy_shared(sch, block, &matmul.b, matmul, RowOf::Step)?,
    ];
    pad_to_tiles(sch, block, roles, tile, &mut copies)?;
    let store = write_from(sch, block, roles, "wmma.accumulator")?;
    let write_back = write_to_shared(sch, store, tile)?;
    let l = split(sch, &loops, roles, tile)?;
    let factors = FACTORS.into_iter().zip(&intrins.load);
    let sides = [&matmul.a, &matmul.b].into_iter().zip(factors).zip(&copies);
    for ((operand, (scope, intrin)), copy) in sides {
        load_shared(sch, copy, l.ko, tile)?;
        let fragments = sch.cache_read(block, operand.read_index, scope, &[block])?;
        sch.compute_at(fragments, l.ki, UnitIters::Simplify, InsertAt::Latest)?;
        on_fragments(sch, fragments, l.ki, intrin, tile)?;
    }
    prefetch(sch, l.ko, target)?;
    write_result(sch, store, write_back, &l, tile, &intrins.store)?;
    let init = sch.decompose_reduction(block, l.ko)?;
    let row = inner_loops(sch, init, l.subgroup)?;
    if let [outer @ .., row, _] = row.as_slice() {
        outer.iter().try_for_each(|&l| sch.unroll(l))?;
        sch.tensorize(*row, &intrins.fill, UnitIters::Simplify)?;
    }
    sch.tensorize(l.row, &intrins.sync, UnitIters::Simplify)?;
    for inner in [l.ki, l.mi, l.ni] {
        sch.unroll(inner)?;
    }
    Ok(())
}

/// The scopes of fragments of the factors.
const FACTORS: [&str; 2] = ["wmma.matrix_a", "wmma.matrix_b"];

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
    pad_extents(sch, block, &padding, copies)
}

/// The copy of the sums goes through shared memory. Rows and columns are three digits each there: the subgroup, the fragment, and the
/// element. So the fragments that are there at once, one or a few of each subgroup, lie one behind the other. Gives the block that reads them, as far
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
    let extent = Expr::i64(tile.extent());
    let digits = |at: &Expr, side: usize| {
        let of_subgroup = Expr::i64(tile.fragments[side] * tile.extent());
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
            tile.extent().into(),
        ]
    };
    let [mo, my, mi, row] = parts(sch, m, side(0))?;
    let [no, ny, ni, column] = parts(sch, n, side(1))?;
    let in_step = (tile.steps / tile.extent()).into();
    let [ko, ki, step] = parts(sch, k, [Factor::Infer, in_step, tile.extent().into()])?;
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

/// Each subgroup stores some fragments of a row, then its threads write that part of the result.
fn write_result(
    sch: &mut Schedule,
    store: BlockId,
    write_back: BlockId,
    l: &Loops,
    tile: WarpTile,
    intrin: &str,
) -> Result<(), DeclineReason> {
    sch.reverse_compute_at(store, l.subgroup, UnitIters::Simplify, InsertAt::Latest)?;
    let inner = inner_loops(sch, store, l.subgroup)?;
    let [.., m, n] = inner.as_slice() else {
        return Err(DeclineReason::Pattern("a result without rows or columns"));
    };
    let [mi, row] = parts(sch, *m, [Factor::Infer, tile.extent().into()])?;
    let [all, column] = parts(sch, *n, [Factor::Infer, tile.extent().into()])?;
    let (ni, stored) = match tile.stored() {
        1 => (all, None),
        stored => {
            let [ni, stored] = parts(sch, all, [Factor::Infer, stored.into()])?;
            (ni, Some(stored))
        }
    };
    let fragment = [row, column];
    let order = [mi, ni].into_iter().chain(stored).chain(fragment);
    sch.reorder(&order.collect::<Vec<_>>())?;
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
    let Some(stored) = stored else {
        sch.tensorize(row, intrin, UnitIters::Simplify)?;
        return [mi, ni]
            .into_iter()
            .try_for_each(|outer| Ok(sch.unroll(outer)?));
    };
    let fragment = sch.blockize(row, UnitIters::Simplify)?;
    sch.tensorize(fragment, intrin, UnitIters::Simplify)?;
    let ndim = sch.func().blocks[fragment].writes[0].buffer.ndim() as i64;
    sch.storage_align(fragment, 0, ndim - 3, BANKS, tile.skew_of_sums())?;
    for outer in [mi, ni, stored] {
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
    sch.storage_align(copy.block, 0, copy.row(), 2 * tile.skew(), tile.skew())?;
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
    tile: WarpTile,
) -> Result<(), DeclineReason> {
    let inner = inner_loops(sch, copy, at)?;
    let [.., m, n] = inner.as_slice() else {
        return Err(DeclineReason::Pattern("a copy without rows or columns"));
    };
    let [mi, row] = parts(sch, *m, [Factor::Infer, tile.extent().into()])?;
    let [ni, column] = parts(sch, *n, [Factor::Infer, tile.extent().into()])?;
    sch.reorder(&[mi, ni, row, column])?;
    sch.tensorize(row, intrin, UnitIters::Simplify)?;
    for outer in [mi, ni] {
        sch.unroll(outer)?;
    }
    Ok(())
}
