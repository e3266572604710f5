//! Matmul with a register tile: as many sums, of 32 or 64 bits, as keep arithmetic busy without spills.
//!
//! - `C[m, n] += A[m, k] * B[k, n]`: a tile of at most 2 (in vectors of 128 bits), 6 (256) or 8 (512) rows by 16 columns (32, with 512 bits; 4
//!   rows by 64 for large products), vectors along `n`. A panel of `B`, 16 columns of some hundred rows, is copied to the stack first: its
//!   rows are whole pages apart, which fit no cache (Goto, van de Geijn, "Anatomy of
//!   High-Performance Matrix Multiplication", section 4). With registers narrower than a panel, large products copy four panels side by side.
//!   Each panel serves a block of rows of `A` that stays in the L2 cache.
//!   Where `B` lies in panels already (see `layouts`), it is read where it is.
//! - `C[m, n] += A[m, k] * B[n, k]`: a tile of 2 x 4 scalar sums, with vectors along `k`. Nothing is
//!   copied: all is read in the order of memory. Short sums, as of attention's scores, and those of many rows are the first form, with
//!   panels of `B` transposed: adding up the lanes of each sum would take longer than the sum, or the transpose serves all rows.
//!
//! Blocks of rows times panels are spread over the threads. Extents may be symbolic. Lowering computes the rows that no whole tile has
//! in tiles of fewer rows, or the last one together with a whole tile (`lower/part_tile.rs`).

use super::panels::{MIN_COLUMNS, in_rows, indices_of, is_in_panels, of_words};
use super::reduction::neighbours;
use super::tiles::{
    LARGE_ROW_BLOCK, LARGE_TILE, MOST_ROWS, PACKED_ROW_BLOCK, PANELS_OF_STRIP, Tile,
    fits_large_tile, fits_strip, is_large, panels_of, panels_of_many_rows, rows_of_thread,
    tile_of_rows,
};
use super::traits::{COLUMNS, CpuTraits};
use super::{add_on_vectors, are_constant, extent, parallel_fused};
use crate::ir::{BlockId, Expr, Lambda, LoopId, PrimFunc, Var};
use crate::kernel::CpuTarget;
use crate::sched::rules::DeclineReason;
use crate::sched::rules::epilogue::with_epilogue;
use crate::sched::rules::nest::{fuse_all, sort_loops};
use crate::sched::rules::pattern::Matmul;
use crate::sched::rules::products::{cache_result, join_rows};
use crate::sched::{BufferAccess, Factor, Injectivity, InsertAt, Schedule, UnitIters};
use crate::tensor::DType;

/// Rows of `A` for which it pays to transpose `B`, and the longest sums: long ones along `k` cost little to add up at their ends.
const TRANSPOSED_ROWS: i64 = 8;
const TRANSPOSED_DEPTH: i64 = 128;
/// Rows of `A` for which it pays to transpose `B` whatever the length of the sums.
const MANY_TRANSPOSED_ROWS: i64 = 32;
/// Rows of a tile of sums along `k`.
const SUM_ROWS: i64 = 2;
/// Columns of a tile of sums along `k`.
const SUMS: i64 = 4;

pub(super) fn apply(
    schedule: &mut Schedule,
    block: BlockId,
    target: &CpuTarget,
) -> Result<(), DeclineReason> {
    let matmul = of_words(schedule.func(), block)?;
    let matmul = join_open_rows(schedule, block, matmul)?;
    let packed = is_in_panels(schedule.func(), block, &matmul);
    let loops = Loops::of(schedule, block, &matmul)?;
    if packed {
        return along_columns(schedule, target, block, None, loops, Spread::OverThreads);
    }
    let contiguous = |at: Option<usize>, role: &[usize]| at.is_some_and(|i| role.contains(&i));
    let along_k =
        contiguous(matmul.a.contiguous, &matmul.k) && contiguous(matmul.b.contiguous, &matmul.k);
    let extent = |l: LoopId| schedule.func().loops[l].extent.as_int();
    let rows = extent(loops.m);
    let many = rows.is_none_or(|rows| rows >= TRANSPOSED_ROWS)
        && extent(loops.n).is_none_or(|columns| columns >= MIN_COLUMNS);
    let short = extent(loops.k).is_some_and(|k| k <= TRANSPOSED_DEPTH);
    let pays = short || rows.is_some_and(|rows| rows >= MANY_TRANSPOSED_ROWS);
    let transposed = along_k && many && pays && in_rows(schedule.func(), block, &matmul);
    let in_columns = neighbours(schedule.func(), block, loops.n);
    if contiguous(matmul.b.contiguous, &matmul.n) && in_columns || transposed {
        let spread = Spread::OverThreads;
        along_columns(schedule, target, block, Some(&matmul), loops, spread)
    } else if along_k {
        along_depth(schedule, block, target, loops)
    } else {
        Err(DeclineReason::Pattern("operands are not in rows"))
    }
}

/// Whether the tiles of a product are spread over the threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Spread {
    OverThreads,
    /// A thread computes all of them, in a block around the product.
    No,
}

/// Tiles of a product inside of another block, whose operand `B` lies in panels.
pub(super) fn in_thread(
    schedule: &mut Schedule,
    block: BlockId,
    target: &CpuTarget,
) -> Result<(), DeclineReason> {
    let matmul = of_words(schedule.func(), block)?;
    if !is_in_panels(schedule.func(), block, &matmul) {
        return Err(DeclineReason::Pattern("no operand is in panels"));
    }
    let loops = Loops::of(schedule, block, &matmul)?;
    let alone = CpuTarget {
        threads: 1,
        ..target.clone()
    };
    along_columns(schedule, &alone, block, None, loops, Spread::No)
}

/// Writes rows of several dimensions as one where not all of these extents are known: fused loops of them could not be spread over
/// the threads together with what follows the product.
fn join_open_rows(
    schedule: &mut Schedule,
    block: BlockId,
    matmul: Matmul,
) -> Result<Matmul, DeclineReason> {
    let iters = &schedule.func().blocks[block].iters;
    let is_open = |at: &usize| iters[*at].dom.extent.as_int().is_none();
    if !matmul.m.iter().any(is_open) {
        return Ok(matmul);
    }
    let mut joined = schedule.clone();
    match join_rows(&mut joined, block, matmul.clone()) {
        Ok(matmul) => {
            *schedule = joined;
            Ok(matmul)
        }
        Err(_) => Ok(matmul),
    }
}

/// The type of the sums of a block.
pub(super) fn sums_of(func: &PrimFunc, block: BlockId) -> DType {
    func.blocks[block].writes[0].buffer.dtype()
}

/// The loops of the roles, each fused to one.
pub(super) struct Loops {
    pub(super) batch: Option<LoopId>,
    pub(super) m: LoopId,
    pub(super) n: LoopId,
    pub(super) k: LoopId,
}

impl Loops {
    pub(super) fn of(
        schedule: &mut Schedule,
        block: BlockId,
        matmul: &Matmul,
    ) -> Result<Self, DeclineReason> {
        let nest = sort_loops(schedule, block)?;
        let role = |schedule: &Schedule, iters: &[usize]| -> Result<Vec<LoopId>, DeclineReason> {
            let func = schedule.func();
            let loops: Vec<LoopId> = nest.spatial.iter().chain(&nest.reduce).copied().collect();
            // Alone, but for what is the same in all of them: the first row of a block.
            let drives = |binding: &Expr, l: LoopId| {
                let mut used = loops.iter().filter(|l| binding.uses(&func.loops[**l].var));
                used.next() == Some(&l) && used.next().is_none()
            };
            let own = |&l: &LoopId| {
                let bindings = &func.blocks[block].bindings;
                iters.iter().any(|&i| drives(&bindings[i], l))
            };
            Ok(loops.iter().copied().filter(own).collect())
        };
        let [batch, m, n, k] =
            [&matmul.batch, &matmul.m, &matmul.n, &matmul.k].map(|r| role(schedule, r));
        let (batch, m, n, k) = (batch?, m?, n?, k?);
        let total = nest.spatial.len() + nest.reduce.len();
        if batch.len() + m.len() + n.len() + k.len() != total || n.is_empty() || k.is_empty() {
            return Err(DeclineReason::Pattern("a loop is not one iter variable"));
        }
        let order: Vec<LoopId> = [&batch, &m, &n, &k]
            .into_iter()
            .flatten()
            .copied()
            .collect();
        if order.len() > 1 {
            schedule.reorder(&order)?;
        }
        let n = fuse_all(schedule, block, &n)?;
        let k = fuse_all(schedule, block, &k)?;
        let m = match m[..] {
            [] => schedule.add_unit_loop(n)?,
            _ => fuse_all(schedule, block, &m)?,
        };
        let batch = match batch[..] {
            [] => None,
            _ => Some(fuse_all(schedule, block, &batch)?),
        };
        Ok(Self { batch, m, n, k })
    }
}

/// Vectors along `n`; the operand `B` of a matmul is copied to panels, without one it is in panels. What follows is computed where
/// the sums are, unless rows of several open extents keep the loops from being spread then.
fn along_columns(
    schedule: &mut Schedule,
    target: &CpuTarget,
    block: BlockId,
    copied: Option<&Matmul>,
    loops: Loops,
    spread: Spread,
) -> Result<(), DeclineReason> {
    let mut fused = schedule.clone();
    let write_back = match with_epilogue(&mut fused, block)? {
        // Elements of a tile past the end need an array of the thread.
        None if !is_whole(schedule, target, block, &loops) => {
            Some(cache_result(&mut fused, block)?)
        }
        write_back => write_back,
    };
    let tiled = |schedule: &mut Schedule, write_back| {
        let depth = tiled(schedule, target, block, copied, &loops, write_back, spread)?;
        schedule.decompose_reduction(block, depth)?;
        Ok(())
    };
    if let Some(write_back) = write_back
        && tiled(&mut fused, Some(write_back)).is_ok()
    {
        *schedule = fused;
        return Ok(());
    }
    tiled(schedule, None)
}

/// Whether tiles divide the rows, which are constant, and the columns, unless these are open.
fn is_whole(schedule: &Schedule, target: &CpuTarget, block: BlockId, loops: &Loops) -> bool {
    let (rows, columns) = (extent(schedule, loops.m), extent(schedule, loops.n));
    let sums = sums_of(schedule.func(), block);
    let tile = tile_of_rows(&CpuTraits::of(target), sums, rows, columns);
    rows.is_some_and(|rows| rows % tile.rows == 0)
        && columns.is_none_or(|columns| columns % COLUMNS == 0)
}

/// The same, with the block that writes the sums back, if they are in an array of the thread. Gives the loop whose steps are added up.
fn tiled(
    schedule: &mut Schedule,
    target: &CpuTarget,
    block: BlockId,
    copied: Option<&Matmul>,
    loops: &Loops,
    write_back: Option<BlockId>,
    spread: Spread,
) -> Result<LoopId, DeclineReason> {
    let (rows, columns) = (extent(schedule, loops.m), extent(schedule, loops.n));
    let sums = sums_of(schedule.func(), block);
    let traits = CpuTraits::of(target);
    let registers = traits.registers_of_panel(sums);
    let mut tile = tile_of_rows(&traits, sums, rows, columns);
    let (mut block_of_rows, mut depth) = (traits.row_block, traits.depth_of_panel(sums));
    let mut strip = 1;
    let extents = [rows, columns, extent(schedule, loops.k)];
    if is_large(&extents) && fits_large_tile(registers, &extents, write_back.is_some()) {
        tile = LARGE_TILE;
        block_of_rows = LARGE_ROW_BLOCK;
        // Twice the panels of half the rows are as large a copy.
        if copied.is_some() {
            depth /= 2;
        }
    } else if copied.is_none() {
        block_of_rows = PACKED_ROW_BLOCK;
        depth += depth / 2;
        tile.panels = panels_of(&traits, registers, tile, columns);
        // Sums of a panel past the end would have no place without an array of the thread.
        if let (None, Some(columns)) = (write_back, columns) {
            let mut sizes = (1..=tile.panels).rev();
            let is_whole = |panels: &i64| columns % (panels * COLUMNS) == 0;
            tile.panels = sizes.find(is_whole).unwrap_or(1);
        }
        // Where columns are more than twice the rows, panels are more bytes than rows, and read by one thread each.
        if let (Some(rows), Some(columns), None) = (rows, columns, loops.batch)
            && columns <= 2 * rows
        {
            block_of_rows = rows_of_thread(&traits, rows).min(traits.row_block);
        }
    } else {
        if write_back.is_some() && tile.rows > MOST_ROWS / 2 {
            tile.panels = panels_of_many_rows(registers, tile, columns);
        }
        if is_large(&extents) {
            block_of_rows = LARGE_ROW_BLOCK;
            if registers > 1 && tile.panels == 1 && fits_strip(&traits, sums, &extents) {
                strip = PANELS_OF_STRIP;
            }
        }
    }
    let m = split_rows(schedule, loops.m, tile.rows, block_of_rows)?;
    let n = match strip {
        1 => split_columns(schedule, loops.n, tile)?,
        _ => schedule.split(loops.n, &[Factor::Infer, strip.into(), COLUMNS.into()])?,
    };
    let depth = extent_of_panel(schedule, loops.k, depth);
    let k = schedule.split(loops.k, &[Factor::Infer, depth.into()])?;
    let (of_strip, of_tile) = n[1..].split_at((strip > 1).into());
    let order = [&[m[0], n[0], k[0]], of_strip, &[m[1], k[1], m[2]], of_tile].concat();
    schedule.reorder(&order)?;
    if let Some(matmul) = copied {
        copy_panel(schedule, block, matmul, k[0], strip)?;
    }
    if let Some(write_back) = write_back {
        schedule.reverse_compute_at(write_back, n[0], UnitIters::Preserve, InsertAt::Latest)?;
        if let Some(&columns) = schedule.get_loops(write_back)?.last() {
            let parts = schedule.split(columns, &[Factor::Infer, COLUMNS.into()])?;
            schedule.vectorize(parts[1])?;
        }
    }
    match strip {
        1 => vectorize_columns(schedule, &n)?,
        _ => schedule.vectorize(n[2])?,
    }
    schedule.unroll(m[2])?;
    if spread == Spread::OverThreads {
        spread_tiles(schedule, loops.batch, m[0], n[0])?;
    }
    Ok(k[0])
}

/// Steps of the reduction between panels, without a rest where there is such a number near the usual one.
pub(super) fn extent_of_panel(schedule: &Schedule, depth: LoopId, usual: i64) -> i64 {
    let even = extent(schedule, depth).and_then(|all| {
        let mut sizes = (usual / 2 + 1..=usual + usual / 4).rev();
        if all <= usual + usual / 4 {
            return Some(all.max(1));
        }
        sizes.find(|size| all % size == 0)
    });
    even.unwrap_or(usual)
}

/// Copies a panel of `B` in this loop, or several side by side: its rows are columns of a tile, whichever way `B` lies.
fn copy_panel(
    schedule: &mut Schedule,
    block: BlockId,
    matmul: &Matmul,
    at: LoopId,
    panels: i64,
) -> Result<(), DeclineReason> {
    let read = matmul.b.read_index;
    let indices = indices_of(schedule.func(), block, read, &[]);
    let column = indices.and_then(|indices| {
        indices
            .iter()
            .position(|i| i.is_some_and(|i| matmul.n == [i]))
    });
    let panel = schedule.cache_read(block, read, "local", &[])?;
    let ndim = matmul.b.buffer.ndim();
    let turned = column.filter(|column| column + 1 < ndim);
    if let Some(column) = turned {
        let map = last(column, ndim);
        schedule.transform_layout(
            panel,
            BufferAccess::Write,
            0,
            &map,
            None,
            Injectivity::Proved,
        )?;
    }
    if panels > 1 {
        // Rows lie an odd number of lines apart, so that those of a panel fill all sets of the L1 cache.
        schedule.storage_align(panel, 0, -2, 2 * COLUMNS, COLUMNS)?;
    }
    schedule.compute_at(panel, at, UnitIters::Preserve, InsertAt::Latest)?;
    if turned.is_some() {
        return Ok(());
    }
    let panel_loops = schedule.get_loops(panel)?;
    if let Some(&columns) = panel_loops.last() {
        let columns = match panels {
            1 => columns,
            _ => schedule.split(columns, &[Factor::Infer, COLUMNS.into()])?[1],
        };
        schedule.vectorize(columns)?;
    }
    Ok(())
}

/// The layout in which a dimension is the last one.
fn last(dim: usize, ndim: usize) -> Lambda {
    let params: Vec<Var> = (0..ndim)
        .map(|at| Var::new(format!("i{at}"), DType::I64))
        .collect();
    let others = (0..ndim).filter(|at| *at != dim).chain([dim]);
    let results = others.map(|at| params[at].expr()).collect();
    Lambda { params, results }
}

/// Tiles, the panels of a tile if there are several, and the columns of a panel.
pub(super) fn split_columns(
    schedule: &mut Schedule,
    n: LoopId,
    tile: Tile,
) -> Result<Vec<LoopId>, DeclineReason> {
    let mut factors = vec![Factor::Infer, COLUMNS.into()];
    if tile.panels > 1 {
        factors.insert(1, tile.panels.into());
    }
    Ok(schedule.split(n, &factors)?)
}

/// Panels one after the other, each a vector.
pub(super) fn vectorize_columns(
    schedule: &mut Schedule,
    n: &[LoopId],
) -> Result<(), DeclineReason> {
    if let [_, panels, columns] = n {
        schedule.vectorize(*columns)?;
        schedule.unroll(*panels)?;
    } else if let [_, columns] = n {
        schedule.vectorize(*columns)?;
    }
    Ok(())
}

/// Sums along `k`.
pub(super) fn along_depth(
    schedule: &mut Schedule,
    block: BlockId,
    target: &CpuTarget,
    loops: Loops,
) -> Result<(), DeclineReason> {
    let sums = columns_of_sums(schedule, loops.n);
    let m = split_rows(schedule, loops.m, SUM_ROWS, CpuTraits::of(target).row_block)?;
    let n = schedule.split(loops.n, &[Factor::Infer, sums.into()])?;
    schedule.reorder(&[m[0], n[0], m[1], loops.k, m[2], n[1]])?;
    schedule.unroll(m[2])?;
    schedule.unroll(n[1])?;
    spread_tiles(schedule, loops.batch, m[0], n[0])?;
    add_on_vectors(schedule, &[loops.k])?;
    schedule.decompose_reduction(block, loops.k)?;
    Ok(())
}

/// Blocks of at most so many rows, tiles, and the rows of a tile: as many as there are, if that is few. Blocks are of one size, as far as tiles
/// allow.
fn split_rows(
    schedule: &mut Schedule,
    m: LoopId,
    rows: i64,
    block: i64,
) -> Result<Vec<LoopId>, DeclineReason> {
    let extent = schedule.func().loops[m].extent.as_int();
    let rows = extent.map_or(rows, |m| rows.min(m.max(1)));
    let most = (block / rows).max(1);
    let tiles = extent.map_or(most, |m| {
        let all = (m + rows - 1) / rows;
        let blocks = ((all + most - 1) / most).max(1);
        ((all + blocks - 1) / blocks).max(1)
    });
    Ok(schedule.split(m, &[Factor::Infer, tiles.into(), rows.into()])?)
}

/// Columns of a tile of sums: a divisor of the extent, where it has a good one.
fn columns_of_sums(schedule: &Schedule, n: LoopId) -> i64 {
    let extent = schedule.func().loops[n].extent.as_int();
    let divides = |c: &i64| extent.is_some_and(|n| n % c == 0);
    [SUMS, 5, 3, 2].into_iter().find(divides).unwrap_or(SUMS)
}

/// Batches, blocks of rows and panels over the threads. Loops of symbolic extents are not fused: lowering splits off the last,
/// partial tile of a loop only where the loop counts tiles of one dimension.
fn spread_tiles(
    schedule: &mut Schedule,
    batch: Option<LoopId>,
    rows: LoopId,
    columns: LoopId,
) -> Result<(), DeclineReason> {
    let loops: Vec<LoopId> = batch.into_iter().chain([rows, columns]).collect();
    if are_constant(schedule, &loops) && parallel_fused(schedule, &loops) {
        return Ok(());
    }
    if batch.is_none() {
        schedule.reorder(&[columns, rows])?;
    }
    schedule.parallel(batch.unwrap_or(columns))?;
    Ok(())
}
