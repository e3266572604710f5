//! Matmul: each thread keeps a tile of the result in registers.
//!
//! `m` and `n` are split over workgroups, threads and the tile; `k` into steps. On a GPU the threads of a workgroup first
//! copy what a step reads into shared memory together. A software adapter runs threads as lanes of the CPU's vectors and has
//! no fast shared memory: there each thread loads by itself, and rows of `A`, which only the workgroup decides, are loads of
//! one value for all lanes. The epilogue (bias, activation) is applied where the tile is written back.
//!
//! References: TVM dlight `Matmul`; S. Boehm, "How to Optimize a CUDA Matmul Kernel" (2022), kernel 6.

use super::loops::{fuse_loops, inner_loops, parts, tile_loops};
use super::tile::{Extents, Tile};
use crate::ir::{BlockId, LoopId, ThreadAxis};
use crate::kernel::GpuTarget;
use crate::sched::rules::DeclineReason;
use crate::sched::rules::epilogue::inline_consumers;
use crate::sched::rules::pattern::{Matmul, Operand, Pattern, classify};
use crate::sched::{Factor, InsertAt, Schedule, UnitIters};

/// Steps of `k` that are written out: those of one 16-byte load of `f32` along `k`.
const LANES: i64 = 4;

/// Loops of the update after splitting.
struct Loops {
    /// Threads along `n`, the innermost loop that is bound.
    nx: LoopId,
    /// Steps of `k` between barriers, between loads into registers (the same without shared memory), and within those.
    ko: LoopId,
    kr: LoopId,
    ki: LoopId,
    /// The tile of a thread.
    mi: LoopId,
    ni: LoopId,
}

pub(super) fn apply(
    sch: &mut Schedule,
    block: BlockId,
    target: &GpuTarget,
) -> Result<(), DeclineReason> {
    let Pattern::Matmul(matmul) = classify(sch.func(), block) else {
        return Err(DeclineReason::Pattern("no matmul"));
    };
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
    let extent = |roles: &[usize]| {
        roles
            .iter()
            .map(|&at| sch.func().loops[loops[at]].extent.as_int())
            .product::<Option<i64>>()
    };
    let b_in_vectors = matmul.b.contiguous.is_some_and(|at| {
        let along = &sch.func().loops[loops[at]].extent;
        along.as_int().is_some_and(|n| n % LANES == 0)
    });
    let tile = Tile::choose(
        target,
        Extents {
            m: extent(&matmul.m),
            n: extent(&matmul.n),
            b_in_vectors,
        },
    );
    let write_back = sch.cache_write(block, 0, "local", &[])?;
    inline_consumers(sch, write_back);
    let l = split(sch, &loops, &matmul, tile)?;
    sch.reverse_compute_at(write_back, l.nx, UnitIters::Simplify, InsertAt::Latest)?;
    let sides = [
        (&matmul.a, tile.ty * tile.tm),
        (&matmul.b, tile.tx * tile.tn),
    ];
    for (operand, rows) in sides {
        if tile.shared {
            load_shared(sch, block, operand, &l, tile, rows)?;
        }
        load_local(sch, block, operand, &matmul, &l)?;
    }
    sch.unroll(l.ki)?;
    tile_loops(sch, &[l.mi, l.ni])?;
    let init = sch.decompose_reduction(block, l.ko)?;
    let init_loops = inner_loops(sch, init, l.nx)?;
    tile_loops(sch, &init_loops)?;
    let back_loops = inner_loops(sch, write_back, l.nx)?;
    tile_loops(sch, &back_loops)?;
    Ok(())
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
    let (m, n, k) = (
        fuse_loops(sch, &m)?,
        fuse_loops(sch, &n)?,
        fuse_loops(sch, &k)?,
    );
    let [mo, my, mi] = parts(sch, m, [Factor::Infer, tile.ty.into(), tile.tm.into()])?;
    let [no, nx, ni] = parts(sch, n, [Factor::Infer, tile.tx.into(), tile.tn.into()])?;
    let (ko, kr, ki) = if tile.shared {
        let steps = Factor::from((tile.bk / LANES).max(1));
        let [ko, kr, ki] = parts(sch, k, [Factor::Infer, steps, tile.bk.min(LANES).into()])?;
        (ko, kr, ki)
    } else {
        let [ko, ki] = parts(sch, k, [Factor::Infer, tile.bk.into()])?;
        (ko, ko, ki)
    };
    let around: &[LoopId] = if kr == ko { &[ko] } else { &[ko, kr] };
    sch.reorder(&[&[mo, no, my, nx], around, &[ki, mi, ni]].concat())?;
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

/// The threads of a workgroup copy what a step reads of so many rows of an operand, neighbours to neighbours.
fn load_shared(
    sch: &mut Schedule,
    block: BlockId,
    operand: &Operand,
    l: &Loops,
    tile: Tile,
    rows: i64,
) -> Result<(), DeclineReason> {
    let copy = sch.cache_read(block, operand.read_index, "shared", &[block])?;
    sch.compute_at(copy, l.ko, UnitIters::Simplify, InsertAt::Latest)?;
    let inner = inner_loops(sch, copy, l.ko)?;
    no_gaps(sch, &inner, rows * tile.bk)?;
    let fused = fuse_loops(sch, &inner)?;
    let elements = sch.func().loops[fused].extent.as_int();
    let threads = tile.ty * tile.tx;
    let vector = if elements.is_some_and(|n| n % (threads * 4) == 0) {
        4
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
) -> Result<(), DeclineReason> {
    let along_k = operand.contiguous.is_some_and(|at| matmul.k.contains(&at));
    let extent = |l: LoopId| sch.func().loops[l].extent.as_int().unwrap_or(1);
    let steps = extent(l.ki);
    let side = extent(if operand.read_index == matmul.a.read_index {
        l.mi
    } else {
        l.ni
    });
    let copy = sch.cache_read(block, operand.read_index, "local", &[block])?;
    let at = if along_k { l.kr } else { l.ki };
    sch.compute_at(copy, at, UnitIters::Simplify, InsertAt::Latest)?;
    let inner = inner_loops(sch, copy, at)?;
    no_gaps(sch, &inner, side * if along_k { steps } else { 1 })?;
    tile_loops(sch, &inner)
}
