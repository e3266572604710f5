//! Matmul: each thread keeps a tile of the result in registers.
//!
//! Rows of several dimensions, as batches of sequences have, are written as one first. `m` and `n` are split over workgroups,
//! threads and the tile; `k` into steps. On a GPU the threads of a workgroup first
//! copy what a step reads into shared memory together, to tiles that lie row by row of `k`, whichever way the operands lie: threads
//! that read at once then read neighbours, and no two wait for one bank. The largest tiles give each thread columns of two pieces, each
//! beside those of the next thread. A software adapter runs threads as lanes of the CPU's vectors and has
//! no fast shared memory: there each thread loads by itself, and rows of `A`, which only the workgroup decides, are loads of
//! one value for all lanes. The epilogue (bias, activation) is applied where the tile is written back.
//!
//! References: TVM dlight `Matmul`; S. Boehm, "How to Optimize a CUDA Matmul Kernel" (2022), kernel 6.

use super::compile_time::Epilogue;
use super::inline::inline_into;
use super::loops::{fuse_loops, inner_loops, parts, prefetch, tile_loops};
use super::split_k;
use super::tile::{Extents, Tile};
use super::traits::GpuTraits;
use crate::arith::Analyzer;
use crate::ir::sum::Sum;
use crate::ir::{
    AttrValue, BlockId, BufferRegion, Expr, ExprKind, Lambda, LoopId, PrimFunc, ThreadAxis, Var,
    attrs,
};
use crate::kernel::GpuTarget;
use crate::sched::rules::DeclineReason;
use crate::sched::rules::epilogue::inline_consumers;
use crate::sched::rules::nest::params;
use crate::sched::rules::pattern::{Matmul, Operand, Pattern, classify, neighbours};
use crate::sched::rules::products::{cache_result, is_simple, join_rows, reindex_result};
use crate::sched::{Factor, InsertAt, Schedule, UnitIters};
use crate::tensor::scalar::BinOp;

/// Steps of `k` that are written out, and elements of a vector: those of one 16-byte load of `f32`.
const LANES: i64 = 4;

/// What an open size is taken to be, and the most that an extent is.
pub(super) const USUAL: i64 = 8;
const MOST_USUAL: i64 = 1 << 20;

/// Steps of `k` that threads copy beside each other, where neighbours in memory lie along `k`.
const STEPS_OF_A_COPY: i64 = 8;

/// Banks of shared memory, each of one word, and the bytes of that.
const BANKS: i64 = 32;
const WORD: i64 = 4;

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
) -> Result<(), DeclineReason> {
    let Pattern::Matmul(matmul) = classify(sch.func(), block) else {
        return Err(DeclineReason::Pattern("no matmul"));
    };
    let matmul = join_rows(sch, block, matmul)?;
    tiles(sch, block, matmul, target)
}

/// Makes tiles of a product.
pub(super) fn tiles(
    sch: &mut Schedule,
    block: BlockId,
    matmul: Matmul,
    target: &GpuTarget,
) -> Result<(), DeclineReason> {
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
    let e = extents(sch, block, &matmul, target);
    let (tile, slices) = Tile::choose(target, e);
    if let Some(slices) = slices {
        let mut attempt = sch.clone();
        let of_slices = split_k::split_product(&mut attempt, block, &matmul, slices, target)
            .and_then(|(block, matmul)| tiles_of(&mut attempt, block, matmul, tile, target));
        if of_slices.is_ok() {
            *sch = attempt;
            return Ok(());
        }
    }
    // Whole, where the sum cannot be cut after all.
    let whole = Extents {
        k_is_one_loop: false,
        ..e
    };
    let (tile, _) = Tile::choose(target, whole);
    tiles_of(sch, block, matmul, tile, target)
}

/// Makes tiles of this size.
fn tiles_of(
    sch: &mut Schedule,
    block: BlockId,
    matmul: Matmul,
    tile: Tile,
    target: &GpuTarget,
) -> Result<(), DeclineReason> {
    let matmul = if tile.pieces > 1 {
        cut_columns(sch, block, matmul, tile.tx * LANES)?
    } else {
        matmul
    };
    let loops = sch.get_loops(block)?;
    let write_back = match matmul.n.len() {
        1 => cache_result(sch, block)?,
        _ => reindex_result(sch, block)?,
    };
    inline_consumers(sch, write_back);
    let operands = [&matmul.a, &matmul.b];
    let mut copies = Vec::new();
    if tile.shared {
        for operand in operands {
            copies.push(copy_shared(sch, block, operand, &matmul)?);
        }
        pad_steps(sch, block, &matmul, &mut copies, tile.bk)?;
    }
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
    tile_loops(sch, &back_loops)?;
    Ok(())
}

/// What the tile depends on.
fn extents(sch: &Schedule, block: BlockId, matmul: &Matmul, target: &GpuTarget) -> Extents {
    let func = sch.func();
    let iters = &func.blocks[block].iters;
    let one = |at: usize| iters[at].dom.extent.as_int();
    let extent = |roles: &[usize]| roles.iter().map(|&at| one(at)).product::<Option<i64>>();
    let usual = |roles: &[usize]| -> i64 {
        let extents = roles.iter().map(|&at| usual_size(&iters[at].dom.extent));
        extents.fold(1, i64::saturating_mul).clamp(1, MOST_USUAL)
    };
    let contiguous = matmul.b.contiguous;
    Extents {
        m: extent(&matmul.m),
        n: extent(&matmul.n),
        k: extent(&matmul.k),
        k_is_one_loop: matmul.k.len() == 1,
        copy: [&matmul.a, &matmul.b].map(|operand| copy_cost(func, block, operand)),
        estimate: [&matmul.batch, &matmul.m, &matmul.n, &matmul.k].map(|roles| usual(roles)),
        batch: extent(&matmul.batch),
        b_in_vectors: contiguous.and_then(one).is_some_and(|n| n % LANES == 0),
        b_along_k: contiguous.is_some_and(|at| matmul.k.contains(&at)),
        n_is_one_loop: matmul.n.len() == 1,
        cuts_slices: is_simple(&func.blocks[block].writes[0]),
        epilogue: match GpuTraits::of(target).compile_time {
            Some(_) => Epilogue::of(sch, block),
            None => Epilogue::default(),
        },
    }
}

/// An extent of a call of usual size: eight sequences of eight tokens, eight images.
fn usual_size(extent: &Expr) -> i64 {
    let known = extent.substitute(&|var| Some(Expr::int(USUAL, var.dtype())));
    let known = Analyzer::new().simplify(&known);
    known.as_int().unwrap_or(USUAL)
}

/// Instructions that copy an element of an operand.
fn copy_cost(func: &PrimFunc, block: BlockId, operand: &Operand) -> i64 {
    let region = &func.blocks[block].reads[operand.read_index];
    let is_given = func.buffer_params().any(|given| *given == region.buffer);
    match region {
        // Padding and what else a copy computes.
        _ if !is_given => 48,
        _ if !is_simple(region) => 16,
        _ if !has_whole_vectors(region) => 6,
        _ => 2,
    }
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

/// A copy of an operand in shared memory.
struct SharedCopy {
    block: BlockId,
    read_index: usize,
    /// The iter variables of the product that number its elements: batches, steps and the others, as positions.
    batch: Vec<usize>,
    steps: Vec<usize>,
    side: Vec<usize>,
    /// All of them, in the order of its loops.
    loops: Vec<usize>,
    /// The one that numbers neighbours in memory.
    contiguous: Option<usize>,
    /// Whether four of those are one vector of the operand.
    in_vectors: bool,
}

impl SharedCopy {
    /// The iter variables that number its elements, in the order of its dimensions.
    fn places(&self) -> Vec<usize> {
        [&self.batch[..], &self.steps, &self.side].concat()
    }
}

/// Copies an operand to shared memory, row by row of `k`: what threads read at once then lies side by side, whichever way the operand
/// lies. A block that produces the operand is inlined into the copy.
fn copy_shared(
    sch: &mut Schedule,
    block: BlockId,
    operand: &Operand,
    matmul: &Matmul,
) -> Result<SharedCopy, DeclineReason> {
    let info = &sch.func().blocks[block];
    let region = &info.reads[operand.read_index];
    let in_vectors = has_whole_vectors(region);
    let params = params(sch.func(), block);
    let is_used = |at: &usize| {
        let var = &info.iters[*at].var;
        region.region.iter().any(|range| range.min.uses(var))
    };
    let used: Vec<usize> = (0..params.len()).filter(is_used).collect();
    let of = |role: &[usize]| -> Vec<usize> {
        used.iter()
            .copied()
            .filter(|at| role.contains(at))
            .collect()
    };
    let (batch, steps) = (of(&matmul.batch), of(&matmul.k));
    let side = used
        .iter()
        .copied()
        .filter(|at| !batch.contains(at) && !steps.contains(at));
    let side: Vec<usize> = side.collect();
    let contiguous = operand.contiguous.or_else(|| neighbours(info, region));
    let places = [&batch[..], &steps, &side].concat();
    let map = Lambda {
        results: places.iter().map(|at| params[*at].expr()).collect(),
        params,
    };
    let read_index = operand.read_index;
    let copy = sch.reindex_cache_read(block, read_index, "shared", &map)?;
    let is_computed = inline_into(sch, copy)?;
    Ok(SharedCopy {
        block: copy,
        read_index,
        batch,
        steps,
        side,
        loops: used,
        contiguous,
        in_vectors: in_vectors && !is_computed,
    })
}

/// Makes the steps a multiple of those between two barriers: past the end of `k` the copies are 0, so that the product asks for no end
/// and stands once.
fn pad_steps(
    sch: &mut Schedule,
    block: BlockId,
    matmul: &Matmul,
    copies: &mut [SharedCopy],
    steps: i64,
) -> Result<(), DeclineReason> {
    let &[k] = matmul.k.as_slice() else {
        return Ok(());
    };
    let mut padding = vec![1; sch.func().blocks[block].iters.len()];
    padding[k] = steps;
    let mut attempt = sch.clone();
    // A part of a sum that is cut has another end.
    if attempt.pad_einsum(block, &padding).is_err() {
        return Ok(());
    }
    let terms = sch.func().blocks[block].iters[k].dom.extent.as_int();
    *sch = attempt;
    if let Some(terms) = terms.filter(|terms| terms % steps != 0) {
        let terms = AttrValue::Int(terms);
        sch.annotate(block, attrs::UNPADDED_TERMS, terms)?;
    }
    for copy in copies {
        let producers = sch.get_producers(block)?;
        let read = &sch.func().blocks[block].reads[copy.read_index].buffer;
        let mut padded = producers.into_iter().filter(|producer| {
            let mut writes = sch.func().blocks[*producer].writes.iter();
            *producer != copy.block && writes.any(|write| write.buffer == *read)
        });
        if let Some(padded) = padded.next() {
            sch.compute_inline(copy.block)?;
            copy.block = padded;
            copy.loops = copy.places();
        }
    }
    Ok(())
}

/// The threads of a workgroup copy what a step reads of an operand together, neighbours in memory to neighbours.
fn load_shared(
    sch: &mut Schedule,
    copy: &SharedCopy,
    matmul: &Matmul,
    at: LoopId,
    tile: Tile,
) -> Result<(), DeclineReason> {
    let places = copy.places();
    let SharedCopy {
        block: copy,
        read_index,
        batch,
        steps,
        side,
        loops: used,
        contiguous,
        in_vectors,
    } = copy;
    let (copy, read_index, contiguous) = (*copy, *read_index, *contiguous);
    // Its loops are to run along memory, neighbours last.
    let loop_of = |at: &usize| used.iter().position(|other| other == at);
    let (innermost, others): (Vec<usize>, Vec<usize>) =
        places.iter().partition(|at| Some(**at) == contiguous);
    let order: Vec<usize> = others
        .iter()
        .chain(&innermost)
        .filter_map(loop_of)
        .collect();
    let along_steps = contiguous.is_some_and(|at| matmul.k.contains(&at));
    let row = (batch.len() + steps.len()) as i64 - 1;
    if along_steps && !side.is_empty() {
        // Neighbours are stored to one column of the tile, beside those of the next rows, and must not meet in a bank.
        let bytes = sch.func().blocks[copy].writes[0].buffer.dtype().bytes() as i64;
        let words = BANKS / tile.bk.min(STEPS_OF_A_COPY);
        sch.storage_align(copy, 0, row, BANKS, words * (WORD / bytes).max(1))?;
    }
    sch.compute_at(copy, at, UnitIters::Preserve, InsertAt::Latest)?;
    let mut inner = inner_loops(sch, copy, at)?;
    if inner.len() == used.len() && !innermost.is_empty() {
        inner = order.iter().map(|&at| inner[at]).collect();
        if along_steps
            && tile.bk > STEPS_OF_A_COPY
            && tile.bk % STEPS_OF_A_COPY == 0
            && let Some(along) = inner.pop()
        {
            let [outer, neighbours] = parts(sch, along, [Factor::Infer, STEPS_OF_A_COPY.into()])?;
            inner.insert(0, outer);
            inner.push(neighbours);
        }
        sch.reorder(&inner)?;
    }
    let width = match read_index == matmul.a.read_index {
        true => tile.ty * tile.tm,
        false => tile.tx * tile.tn,
    };
    if let (false, [_], Some(&columns)) = (along_steps, &side[..], inner.last())
        && let Some(extent) = sch.func().loops[columns].extent.as_int()
        && extent < width
        && extent % BANKS != 0
    {
        // Threads go on with the next row where one ends before the tile does, and with the next bank.
        let whole = (extent + LANES - 1) / LANES * LANES;
        if whole > extent {
            inner.pop();
            inner.extend(parts(sch, columns, [Factor::Infer, whole.into()])?);
        }
        sch.storage_align(copy, 0, row, BANKS, whole % BANKS)?;
    }
    let fused = fuse_loops(sch, &inner)?;
    let elements = sch.func().loops[fused].extent.as_int();
    let threads = tile.ty * tile.tx;
    let vector = if *in_vectors && elements.is_some_and(|n| n % (threads * LANES) == 0) {
        LANES
    } else {
        1
    };
    let factors = [Factor::Infer, tile.ty.into(), tile.tx.into(), vector.into()];
    let parts = sch.split(fused, &factors)?;
    if tile.ty > 1 {
        sch.bind(parts[1], ThreadAxis::ThreadIdxY)?;
    }
    sch.bind(parts[2], ThreadAxis::ThreadIdxX)?;
    if vector > 1 {
        sch.vectorize(parts[3])?;
    }
    if elements.is_some_and(|n| n <= 8 * threads * vector) {
        sch.unroll(parts[0])?;
    }
    Ok(())
}

/// Whether four neighbours along the last dimension are one vector, wherever a multiple of four begins.
fn has_whole_vectors(region: &BufferRegion) -> bool {
    let (Some(range), Some(extent)) = (region.region.last(), region.buffer.shape().last()) else {
        return false;
    };
    let in_vectors = |e: &Expr| e.as_int().is_some_and(|n| n % LANES == 0);
    // An iter variable, or the last part of a joined one.
    let is_lone = |e: &Expr| match e.kind() {
        ExprKind::Binary(BinOp::FloorMod, _, by) => in_vectors(by),
        _ => e.as_var().is_some(),
    };
    let index = Sum::of(&range.min);
    let lanes = i128::from(LANES);
    let mut within = index.terms.iter().filter(|term| term.coeff % lanes != 0);
    let whole = match (within.next(), within.next()) {
        (None, _) => true,
        (Some(term), None) => term.coeff == 1 && term.atom().is_some_and(is_lone),
        _ => false,
    };
    whole && index.constant % lanes == 0 && in_vectors(extent)
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
    let at = if along_k { l.kr } else { l.ki };
    sch.compute_at(copy, at, UnitIters::Simplify, InsertAt::Latest)?;
    let inner = inner_loops(sch, copy, at)?;
    if !tile.shared {
        no_gaps(sch, &inner, side * if along_k { steps } else { 1 })?;
    }
    tile_loops(sch, &inner)
}
