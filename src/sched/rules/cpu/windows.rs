//! Windows that slide over an image, a plane of the image for a plane of the result: depthwise and grouped convolution, pooling, and
//! convolution with few products for each result.
//!
//! - Vectors are neighbours in a row of the result; a tile is one vector in each of several rows, which share rows of the image. Its
//!   sums are in registers over the whole window, whose iterations are written out.
//! - Channels of the result that are made of the same planes are computed together: a tile has a vector of each of several, and a
//!   vector of the image that is loaded serves all of them.
//! - What follows is computed where the sums are written back.
//! - The image is padded where it is needed, into an array of the thread (see `padded_image`): for one plane, or for a part of its rows
//!   if it is large. An image that needs no padding is copied so if windows have strides and several channels read it.
//!
//! Planes and their parts are spread over the threads.

use super::elementwise::{told_apart, vector_lanes};
use super::groups::group_size;
use super::padded_image::{self, Rows, pad};
use super::reduction::steps;
use super::traits::{COLUMNS, CpuTraits};
use super::{TURNING, extent, parallel_fused, pays_in_rows};
use crate::ir::{
    Block, BlockId, BufferRegion, Expr, IterKind, IterVar, LoopId, Place, PrimFunc, Range, Var,
};
use crate::kernel::CpuTarget;
use crate::sched::rules::DeclineReason;
use crate::sched::rules::epilogue::inline_consumers;
use crate::sched::rules::nest::{Nest, fuse_all, sort_loops};
use crate::sched::rules::pattern::{Pattern, classify};
use crate::sched::rules::reuse::step;
use crate::sched::{Factor, InsertAt, Schedule, UnitIters};

/// Most multiplications of vectors that are written out for a tile: seven rows of a window of 5 × 5.
const MOST_STATEMENTS: i64 = 180;

/// Channels of a tile, if there are as many.
const MOST_CHANNELS: i64 = 8;

/// Most products of a result that are added up in rows, where a matmul could do it. 147 of them, of the first convolution of a ResNet, take 1.3
/// of the time of the matmul.
const MOST_PRODUCTS: i64 = 100;

/// Most phases that rows of a padded image are split into.
const MOST_PHASES: i64 = 4;

pub(super) fn apply(
    schedule: &mut Schedule,
    block: BlockId,
    target: &CpuTarget,
) -> Result<(), DeclineReason> {
    if !is_reduction(schedule.func(), block) {
        return Err(DeclineReason::Pattern("not a reduction"));
    }
    let traits = CpuTraits::of(target);
    let dims = plane_dims(schedule.func(), block);
    let bytes = plane_bytes(schedule.func(), block, &dims);
    let Nest {
        spatial,
        mut reduce,
    } = sort_loops(schedule, block)?;
    // Steps along a row are outside of those from row to row: a row of the image then serves several rows of a tile at once.
    if let ([_, .., _], [.., rows, columns]) = (dims.as_slice(), reduce.as_mut_slice()) {
        std::mem::swap(rows, columns);
    }
    let Some(&first_reduce) = reduce.first() else {
        return Err(DeclineReason::Pattern("nothing is reduced"));
    };
    let first = spatial
        .iter()
        .position(|&l| drives(schedule.func(), block, l, &dims));
    let (outer, plane) = spatial.split_at(first.unwrap_or(spatial.len()));
    let Some((&last, rows)) = plane.split_last() else {
        return Err(DeclineReason::Pattern("no window slides along the rows"));
    };
    let Some(steps) = steps(schedule.func(), block, last) else {
        return Err(DeclineReason::Pattern("rows are not neighbours in memory"));
    };
    let sums = schedule.cache_write(block, 0, "local", &[])?;
    inline_consumers(schedule, sums);

    let (mut outer, group) = split_group(schedule, block, outer, &dims)?;
    let together = group.map_or(1, |group| divisor(schedule, group, MOST_CHANNELS));
    let taps = written_out(schedule, &reduce, MOST_STATEMENTS / (2 * together));
    let lanes = lanes(schedule, block, &traits, last);
    let columns = schedule.split(last, &[Factor::Infer, lanes.into()])?;
    let size = tile_of(schedule, &traits, lanes, group, rows.last().copied(), &taps);
    let (mut tiles, mut tile) = (vec![], vec![]);
    if let Some(group) = group {
        let split = schedule.split(group, &[Factor::Infer, size.channels.into()])?;
        tiles.push(split[0]);
        tile.push(split[1]);
    }
    if let Some((&row, others)) = rows.split_last() {
        let planes = extents(schedule, &outer) * extents(schedule, others);
        let most = match group {
            Some(_) => traits.image_bytes,
            None => traits.plane_bytes,
        };
        let parts = parts_of_plane(&traits, planes, bytes, most);
        let split = schedule.split(row, &[Factor::Infer, size.rows.into()])?;
        tile.push(split[1]);
        outer.extend(others);
        match tiles_of_part(extent(schedule, split[0]), parts) {
            None => tiles.push(split[0]),
            Some(part) => {
                let split = schedule.split(split[0], &[Factor::Infer, part.into()])?;
                outer.push(split[0]);
                tiles.push(split[1]);
            }
        }
    }
    tiles.push(columns[0]);
    let order = [&outer, &tiles, &reduce, &tile, &columns[1..]];
    schedule.reorder(&order.concat())?;
    schedule.reverse_compute_at(sums, columns[0], UnitIters::Preserve, InsertAt::Latest)?;
    let written = loops_below(schedule, sums, columns[0])?;
    vectorize_rows(schedule, &written, lanes, RowLoops::Unrolled)?;
    // A short row takes several narrow copies, which are more than it saves.
    let stride = match extent(schedule, columns[0]) {
        Some(1) if lanes < COLUMNS => 1,
        // Phases are written out.
        _ => Some(steps.widest())
            .filter(|s| (1..=MOST_PHASES).contains(s))
            .unwrap_or(1),
    };
    let shared = group.is_some();
    let strides = Strides { stride, shared };
    spread(schedule, block, &traits, &outer, &tiles, strides)?;
    for &l in taps.iter().chain(&tile) {
        schedule.unroll(l)?;
    }
    schedule.vectorize(columns[1])?;
    schedule.decompose_reduction(block, first_reduce)?;
    Ok(())
}

/// Whether a convolution has so few products for each result that adding them up in rows, which are vectors of the result as they
/// are, is faster than as a matmul, whose sums have to be turned.
pub(super) fn has_few_products(func: &PrimFunc, block: BlockId) -> bool {
    let info = &func.blocks[block];
    let dims = plane_dims(func, block);
    let reduced = |iter: &&IterVar| iter.kind == IterKind::Reduce;
    let reduced = info.iters.iter().filter(reduced);
    let products: Option<i64> = reduced.map(|iter| iter.dom.extent.as_int()).product();
    let last = dims.last().map(|&at| &info.iters[at]);
    let columns = last.and_then(|iter| iter.dom.extent.as_int());
    let (Some(products), Some(columns)) = (products, columns) else {
        return false;
    };
    products <= MOST_PRODUCTS && pays_in_rows(products, columns, TURNING)
}

fn is_reduction(func: &PrimFunc, block: BlockId) -> bool {
    matches!(
        classify(func, block),
        Pattern::Reduction | Pattern::Matmul(_)
    )
}

/// The last iter variables of the result, as positions, each of which moves a window along an index of an operand.
pub(super) fn plane_dims(func: &PrimFunc, block: BlockId) -> Vec<usize> {
    let info = &func.blocks[block];
    let slides = |at: usize| {
        let mut taps =
            (0..info.iters.len()).filter(|&tap| info.iters[tap].kind == IterKind::Reduce);
        taps.any(|tap| meet(info, at, tap))
    };
    let spatial = (0..info.iters.len()).filter(|&at| info.iters[at].kind == IterKind::Spatial);
    let mut dims: Vec<usize> = spatial.rev().take_while(|&at| slides(at)).collect();
    dims.reverse();
    dims
}

/// Whether both iter variables move the same index of an operand by constant steps.
fn meet(block: &Block, at: usize, tap: usize) -> bool {
    let [at, tap] = [at, tap].map(|at| &block.iters[at]);
    let moves = |index: &Expr, iter: &IterVar| step(index, &iter.var).is_some_and(|by| by > 0);
    let indices = block.reads.iter().flat_map(|read| &read.region);
    let mut indices = indices.map(|range| &range.min);
    let run = [at, tap].iter().all(|iter| !iter.dom.extent.is_one());
    run && indices.any(|index| moves(index, at) && moves(index, tap))
}

/// Bytes of an image that the results of one plane are made of; `None` if symbolic.
fn plane_bytes(func: &PrimFunc, block: BlockId, dims: &[usize]) -> Option<i64> {
    let info = &func.blocks[block];
    let image = image(info, dims)?;
    let shape = image.buffer.shape().iter().zip(&image.region);
    let plane = shape
        .filter(|(_, range)| moves(info, range, dims))
        .map(|(e, _)| e);
    let depth = info.iters.iter().enumerate().filter(|(tap, iter)| {
        iter.kind == IterKind::Reduce && !dims.iter().any(|&at| meet(info, at, *tap))
    });
    let extents = plane.chain(depth.map(|(_, iter)| &iter.dom.extent));
    let elements: Option<i64> = extents.map(Expr::as_int).product();
    Some(elements? * image.buffer.dtype().scalar.bytes() as i64)
}

/// The loops around planes, and the one over the channels of a group, which read the same image.
fn split_group(
    schedule: &mut Schedule,
    block: BlockId,
    outer: &[LoopId],
    dims: &[usize],
) -> Result<(Vec<LoopId>, Option<LoopId>), DeclineReason> {
    let Some((&last, others)) = outer.split_last() else {
        return Ok((vec![], None));
    };
    if shares_image(schedule.func(), block, last, dims) {
        return Ok((others.to_vec(), Some(last)));
    }
    let func = schedule.func();
    let is_last = |e: &Expr| e.as_var() == Some(&func.loops[last].var);
    let channels = func.blocks[block].bindings.iter().position(is_last);
    let Some(size) = channels.and_then(|at| group_size(func, block, at)) else {
        return Ok((outer.to_vec(), None));
    };
    let group = schedule.split(last, &[Factor::Infer, size.into()])?;
    Ok(([others, &group[..1]].concat(), Some(group[1])))
}

/// Whether all iterations of the loop read the same elements of what the windows slide over.
fn shares_image(func: &PrimFunc, block: BlockId, l: LoopId, dims: &[usize]) -> bool {
    let info = &func.blocks[block];
    let var = &func.loops[l].var;
    let bound = info.iters.iter().zip(&info.bindings);
    let own: Vec<&Var> = bound
        .filter(|(_, binding)| binding.uses(var))
        .map(|(iter, _)| &iter.var)
        .collect();
    image(info, dims).is_some_and(|image| {
        let mut indices = image.region.iter().map(|range| &range.min);
        !indices.any(|index| own.iter().any(|var| index.uses(var)))
    })
}

/// What the windows slide over.
fn image<'b>(info: &'b Block, dims: &[usize]) -> Option<&'b BufferRegion> {
    info.reads
        .iter()
        .find(|read| read.region.iter().any(|range| moves(info, range, dims)))
}

/// Whether one of these iter variables moves the range.
fn moves(info: &Block, range: &Range, dims: &[usize]) -> bool {
    let mut vars = dims.iter().map(|&at| &info.iters[at].var);
    vars.any(|var| range.min.uses(var))
}

/// Whether one of these iter variables of the block depends on the loop.
fn drives(func: &PrimFunc, block: BlockId, l: LoopId, iters: &[usize]) -> bool {
    let var = &func.loops[l].var;
    let bindings = &func.blocks[block].bindings;
    iters.iter().any(|&at| bindings[at].uses(var))
}

/// The last loops of the window that are written out, to so many statements at most.
fn written_out(schedule: &Schedule, reduce: &[LoopId], most: i64) -> Vec<LoopId> {
    let mut all = 1;
    let few = |l: &&LoopId| {
        all *= extent(schedule, **l).unwrap_or(MOST_STATEMENTS + 1);
        all <= most
    };
    reduce.iter().rev().take_while(few).copied().collect()
}

/// Lanes that make the fewest registers of a row; of equal ones those with the smallest rest, then the most.
fn lanes(schedule: &Schedule, block: BlockId, traits: &CpuTraits, last: LoopId) -> i64 {
    let most = vector_lanes(schedule.func(), block);
    let Some(columns) = extent(schedule, last) else {
        return most;
    };
    let cost = |lanes: &i64| {
        let vectors = (columns + lanes - 1) / lanes;
        let registers = vectors * traits.registers_of(*lanes);
        (registers, vectors * lanes, -lanes)
    };
    let sizes = [most, most / 2, most / 4].into_iter();
    let sizes = sizes.filter(|&lanes| lanes > 1);
    sizes.min_by_key(cost).unwrap_or(most)
}

/// The vectors of a tile: one in each of some rows, for each of some channels.
#[derive(Clone, Copy)]
struct Tile {
    channels: i64,
    rows: i64,
}

/// The tile without a rest that loads least for its multiplications. Its sums fill at most half of the registers. Those of one channel, whose
/// weights serve all rows and stay in registers too, fill a quarter.
fn tile_of(
    schedule: &Schedule,
    traits: &CpuTraits,
    lanes: i64,
    group: Option<LoopId>,
    row: Option<LoopId>,
    taps: &[LoopId],
) -> Tile {
    let written: i64 = taps.iter().filter_map(|&l| extent(schedule, l)).product();
    let below = taps.first().and_then(|&l| extent(schedule, l)).unwrap_or(1);
    let sums = traits.sums() / traits.registers_of(lanes);
    let most = (MOST_STATEMENTS / written.max(1)).min(sums).max(1);
    let divisors = |l: Option<LoopId>, most: i64| {
        let all = l.and_then(|l| extent(schedule, l)).unwrap_or(1).max(1);
        (1..=most).filter(move |size| all % size == 0)
    };
    let rows_most = |channels: i64| match channels {
        1 => most.min((sums / 2).max(1)),
        _ => most / channels,
    };
    let channels = divisors(group, most.min(MOST_CHANNELS));
    let all = channels.flat_map(|channels| {
        divisors(row, rows_most(channels)).map(move |rows| Tile { channels, rows })
    });
    // Of a column of the window: weights of each channel, and the rows that the window covers.
    let loads = |tile: &Tile| tile.channels * below + tile.rows + below - 1;
    let products = |tile: &Tile| tile.channels * tile.rows * below;
    let fewer = |a: &Tile, b: &Tile| {
        let (of_a, of_b) = (loads(a) * products(b), loads(b) * products(a));
        of_a.cmp(&of_b).then(b.channels.cmp(&a.channels))
    };
    let one = Tile {
        channels: 1,
        rows: 1,
    };
    all.min_by(fewer).unwrap_or(one)
}

/// The largest divisor of the extent of a loop that is at most so large.
fn divisor(schedule: &Schedule, l: LoopId, most: i64) -> i64 {
    let all = extent(schedule, l).unwrap_or(1).max(1);
    let mut sizes = (1..=most).rev();
    sizes.find(|size| all % size == 0).unwrap_or(1)
}

/// In how many parts a plane is computed, so that its image of these bytes has at most so many, and all threads are busy.
fn parts_of_plane(traits: &CpuTraits, planes: i64, bytes: Option<i64>, most: i64) -> i64 {
    let fit = bytes.map_or(1, |bytes| (bytes + most - 1) / most);
    let busy = traits.parts();
    fit.max((busy + planes - 1) / planes.max(1))
}

/// Of so many tiles those of one part, without a rest; `None` if there is one part, or their number is open.
fn tiles_of_part(tiles: Option<i64>, parts: i64) -> Option<i64> {
    let tiles = tiles.filter(|_| parts > 1)?;
    let mut sizes = (1..=tiles).rev();
    sizes.find(|size| tiles % size == 0 && tiles / size >= parts.min(tiles))
}

/// The product of the constant extents.
pub(super) fn extents(schedule: &Schedule, loops: &[LoopId]) -> i64 {
    loops.iter().filter_map(|&l| extent(schedule, l)).product()
}

/// The loops of a block below a loop.
pub(super) fn loops_below(
    schedule: &mut Schedule,
    block: BlockId,
    below: LoopId,
) -> Result<Vec<LoopId>, DeclineReason> {
    let loops = schedule.get_loops(block)?;
    let own = loops.iter().position(|&l| l == below);
    Ok(loops[own.map_or(0, |at| at + 1)..].to_vec())
}

/// How the loops around that over the elements of a row run.
pub(super) enum RowLoops {
    Serial,
    /// They count the rows and channels of a tile, whose sums are in registers.
    Unrolled,
}

/// Vectors along the last loop.
pub(super) fn vectorize_rows(
    schedule: &mut Schedule,
    loops: &[LoopId],
    lanes: i64,
    row_loops: RowLoops,
) -> Result<(), DeclineReason> {
    let Some((&last, rows)) = loops.split_last() else {
        return Ok(());
    };
    let parts = schedule.split(last, &[Factor::Infer, lanes.into()])?;
    schedule.vectorize(parts[1])?;
    if let RowLoops::Unrolled = row_loops
        && let Some((&row, others)) = rows.split_last()
    {
        let several = |l: &&LoopId| extent(schedule, **l).is_some_and(|count| count > 1);
        let others: Vec<LoopId> = others.iter().filter(several).copied().collect();
        for l in others.into_iter().chain([row]) {
            schedule.unroll(l)?;
        }
    }
    Ok(())
}

/// How windows slide along a row.
#[derive(Clone, Copy)]
struct Strides {
    /// Columns between two of them; 1 also if rows are not to lie in phases.
    stride: i64,
    /// Whether several channels read the same image.
    shared: bool,
}

/// Parts of planes over the threads, with their padding; tiles too where there are few parts. Of an image that needs no padding channels that
/// share it read a copy in phases.
fn spread(
    schedule: &mut Schedule,
    block: BlockId,
    traits: &CpuTraits,
    outer: &[LoopId],
    tiles: &[LoopId],
    strides: Strides,
) -> Result<(), DeclineReason> {
    let parts = extents(schedule, outer);
    let outer = &outer[..told_apart(schedule.func(), outer)];
    if parts >= traits.parts() {
        let part = fuse_all(schedule, block, outer)?;
        schedule.parallel(part)?;
        let rows = Rows {
            parts,
            stride: strides.stride,
        };
        let padded = schedule.get_producers(block)?;
        if padded.is_empty() && strides.stride > 1 && strides.shared {
            let mut trial = schedule.clone();
            match copy_image(&mut trial, traits, block, part, rows) {
                Ok(()) => *schedule = trial,
                Err(declined) => log::debug!("an image is not copied in parts: {declined}"),
            }
        }
        for producer in padded {
            let mut trial = schedule.clone();
            match pad(&mut trial, traits, producer, part, rows) {
                Ok(()) => *schedule = trial,
                Err(declined) => log::debug!("an image is not padded in parts: {declined}"),
            }
        }
        return Ok(());
    }
    let all = [outer, tiles].concat();
    let told = told_apart(schedule.func(), &all);
    if !parallel_fused(schedule, &all[..told]) {
        schedule.parallel(all[0])?;
    }
    Ok(())
}

/// Copies in an array of the thread what one iteration of the loop reads of the image.
fn copy_image(
    schedule: &mut Schedule,
    traits: &CpuTraits,
    block: BlockId,
    part: LoopId,
    rows: Rows,
) -> Result<(), DeclineReason> {
    let func = schedule.func();
    let info = &func.blocks[block];
    let image = image(info, &plane_dims(func, block));
    let image = info.reads.iter().position(|read| Some(read) == image);
    let image = image.ok_or(DeclineReason::Pattern("no window slides over an operand"))?;
    let copied = schedule.cache_read(block, image, "local", &[])?;
    padded_image::copy(schedule, traits, copied, part, rows)
}

/// The reduction that reads the padding that the block writes: what both become is for the rule above to say.
pub(in crate::sched::rules) fn window_of(func: &PrimFunc, block: BlockId) -> Option<BlockId> {
    let [written] = func.blocks[block].writes.as_slice() else {
        return None;
    };
    let others = func.child_blocks(Place::Block(func.root)).into_iter();
    let mut readers = others.filter(|&other| {
        let mut reads = func.blocks[other].reads.iter();
        other != block && reads.any(|read| read.buffer == written.buffer)
    });
    readers.find(|&reader| is_reduction(func, reader) && !plane_dims(func, reader).is_empty())
}
