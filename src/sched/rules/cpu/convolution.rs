//! Convolution as implicit GEMM: `C[n, oc, oh, ow] += data[n, ic, oh * s + ry, ow * s + rx] * weight[oc, ic, ry, rx]` is a matmul of
//! pixels by channels, whose operand `data` is read where it is.
//!
//! - A tile is some pixels by 16 output channels, in registers, vectors along the channels: an element of `data` serves a vector, so
//!   strides, dilation and layout of the image do not matter.
//! - The weight lies in panels of 16 channels (see `layouts`), or is copied to one on the stack for each block of pixels.
//! - Sums stand in an array of the thread, pixels by channels, over all steps of `ic`; what follows the convolution is computed where
//!   they are written back, along the pixels, which are neighbours in the result.
//!
//! Groups whose channels fill vectors have a matmul each, with the padded image of the group in an array of the thread (`groups`).
//!
//! Blocks of pixels times panels are spread over the threads. Other reductions of this kind (einsums whose result is not in rows)
//! are taken, too.
//!
//! Reference: Chetlur et al., "cuDNN: Efficient Primitives for Deep Learning" (2014), section 3.1, "implicit GEMM".

use std::cmp::Reverse;

use super::elementwise::told_apart;
use super::groups::{split_groups, within_group};
use super::matmul::{extent_of_panel, split_columns, sums_of, vectorize_columns};
use super::padded_image::{Rows, pad};
use super::panels::of_words;
use super::strided_image::copy_strided_image;
use super::tiles::{panels_of_many_rows, tile_of_pixels};
use super::traits::{COLUMNS, CpuTraits};
use super::windows::{extents, has_few_products};
use super::{MOST_TAPS, are_constant, extent, loops_inside, parallel_fused};
use crate::ir::{BlockId, Expr, IterKind, Lambda, LoopId, PrimFunc, Var};
use crate::kernel::CpuTarget;
use crate::sched::rules::DeclineReason;
use crate::sched::rules::epilogue::inline_consumers;
use crate::sched::rules::nest::params;
use crate::sched::rules::pattern::{Matmul, Operand};
use crate::sched::{Factor, InsertAt, Schedule, UnitIters};
use crate::tensor::DType;

/// One part in so many of the time may be idle.
const EVEN: i64 = 32;

pub(super) fn apply(
    schedule: &mut Schedule,
    block: BlockId,
    target: &CpuTarget,
) -> Result<(), DeclineReason> {
    let grouped = split_groups(schedule, block)?;
    if !grouped {
        copy_strided_image(schedule, block);
    }
    let matmul = of_words(schedule.func(), block)?;
    if has_few_products(schedule.func(), block) {
        return Err(DeclineReason::Pattern("few products for each result"));
    }
    let roles = Roles::of(schedule.func(), block, &matmul).ok_or(DeclineReason::Pattern(
        "no operand is a matrix with one dimension of columns",
    ))?;
    let iters = &schedule.func().blocks[block].iters;
    let width = roles.pixels.last().map(|&at| &iters[at].dom.extent);
    let width = width.and_then(Expr::as_int);
    let loops = Loops::of(schedule, block, &roles)?;
    let params = params(schedule.func(), block);
    let sums = params[..=loops.channel_iter].to_vec();
    let write_back = schedule.reindex_cache_write(block, 0, "local", &places(&params, sums))?;
    inline_consumers(schedule, write_back);

    let (pixels, channels) = (loops.pixels, loops.channels);
    let sums = sums_of(schedule.func(), block);
    let [rows, columns] = [pixels, channels].map(|l| extent(schedule, l));
    let traits = CpuTraits::of(target);
    let mut tile = tile_of_pixels(&traits, sums, width, rows, columns);
    tile.panels = panels_of_many_rows(traits.registers_of_panel(sums), tile, columns);
    let of_tile = COLUMNS * tile.panels;
    let tiles = columns.map_or(1, |columns| (columns + of_tile - 1) / of_tile);
    let parts = tiles * extents(schedule, &loops.outer);
    let m = split_pixels(schedule, &traits, tile.rows, pixels, parts)?;
    let n = split_columns(schedule, channels, tile)?;
    let k = split_depth(schedule, &loops, &traits, sums)?;
    // Sums over one panel stay in registers from the first step to the last. Only for whole tiles: the end of a loop is found where one block is
    // in it.
    let all: Option<i64> = m.iter().map(|&l| extent(schedule, l)).product();
    let whole = all.is_some() && all == rows;
    let (mut order, around_panel) = match extent(schedule, k[0]) {
        Some(1) if whole => (vec![m[0], n[0], m[1], k[0], k[1]], n[0]),
        _ => (vec![m[0], n[0], k[0], m[1], k[1]], k[0]),
    };
    let of_pixel = traits.registers_of_panel(sums) * tile.panels;
    let pixels = pixels_and_taps(schedule, &traits, m[2], &loops.taps, [tile.rows, of_pixel]);
    order.extend(pixels);
    order.extend(&n[1..]);
    schedule.reorder(&order)?;
    if !roles.in_panels {
        copy_panel(schedule, block, &roles, &loops, around_panel)?;
    }
    schedule.reverse_compute_at(write_back, n[0], UnitIters::Preserve, InsertAt::Latest)?;
    vectorize_columns(schedule, &n)?;
    schedule.unroll(m[2])?;
    if let Some((last, _)) = taps_of_line(schedule, &loops.taps) {
        schedule.unroll(last)?;
    }
    if !(grouped && pad_in_parts(schedule, block, &traits, &loops.outer, m[0])) {
        spread(schedule, &loops.outer, &[m[0], n[0]])?;
    }
    schedule.decompose_reduction(block, k[0])?;
    along_pixels(schedule, write_back, n[0], target.lanes(sums))
}

/// The loop over the taps of a line of the window, which is written out, and their number; `None` where they are many.
fn taps_of_line(schedule: &Schedule, taps: &[LoopId]) -> Option<(LoopId, i64)> {
    let last = *taps.last()?;
    let count = extent(schedule, last).filter(|count| *count <= MOST_TAPS)?;
    Some((last, count))
}

/// The order of the loops over taps and over the pixels of a tile: `pixels` of them, each with `registers` registers of sums. Taps are
/// outside of pixels if the sums, one weight, and an element of each pixel fit the registers. If they do not, and the weights and elements
/// of one line of taps do, these taps are inside of each pixel.
fn pixels_and_taps(
    schedule: &Schedule,
    traits: &CpuTraits,
    pixel: LoopId,
    taps: &[LoopId],
    [pixels, registers]: [i64; 2],
) -> Vec<LoopId> {
    if let Some((last, count)) = taps_of_line(schedule, taps)
        && !traits.fits_registers((pixels + 1) * registers + pixels)
        && traits.fits_registers((pixels + count) * registers + count)
    {
        return [&taps[..taps.len() - 1], &[pixel, last]].concat();
    }
    [taps, &[pixel]].concat()
}

/// What the iter variables of the block are, as positions among them.
pub(super) struct Roles {
    /// Of the result, one instance of which needs its own matmul: images, batches.
    pub(super) outer: Vec<usize>,
    /// Rows of the matmul: neighbours in the result, in its order.
    pub(super) pixels: Vec<usize>,
    /// Columns of the matmul.
    pub(super) channels: usize,
    /// The reduction, in the order of the weight.
    pub(super) k: Vec<usize>,
    /// The operand with the columns.
    pub(super) weight: Operand,
    /// Whether it lies in panels of this rule's width.
    in_panels: bool,
}

impl Roles {
    /// The roles, if one operand has one iter variable of the result, besides those of batches, and no index of several.
    pub(super) fn of(func: &PrimFunc, block: BlockId, matmul: &Matmul) -> Option<Self> {
        let sides = [(&matmul.b, &matmul.n), (&matmul.a, &matmul.m)];
        sides.into_iter().find_map(|(weight, columns)| {
            let wide = |at: &&usize| !func.blocks[block].iters[**at].dom.extent.is_one();
            let [channels] = columns.iter().filter(wide).collect::<Vec<_>>()[..] else {
                return None;
            };
            Self::with(func, block, matmul, weight, *channels)
        })
    }

    fn with(
        func: &PrimFunc,
        block: BlockId,
        matmul: &Matmul,
        weight: &Operand,
        channels: usize,
    ) -> Option<Self> {
        let info = &func.blocks[block];
        let position = |var: &Var| info.iters.iter().position(|iter| iter.var == *var);
        let column = info.iters[channels].var.expr();
        let digits = [
            column.floor_div(Expr::int(COLUMNS, column.dtype())),
            column.floor_mod(Expr::int(COLUMNS, column.dtype())),
        ];
        let region = &info.reads[weight.read_index].region;
        let one_panel = info.iters[channels].dom.extent.as_int() == Some(COLUMNS);
        let last = &region.last()?.min;
        let in_panels = *last == digits[1] || one_panel && *last == column;
        let mut k = Vec::new();
        for range in region {
            if in_panels && range.min == *last {
                continue;
            }
            let within = within_group(func, block, &matmul.batch, &range.min);
            if in_panels && within == digits[0] {
                continue;
            }
            match within.as_var().and_then(position) {
                Some(at) if info.iters[at].kind == IterKind::Reduce => k.push(at),
                Some(at) if at == channels && !in_panels => {}
                // A unit iter variable may have been folded away.
                None if within.as_int().is_some() => {}
                _ => return None,
            }
        }
        let reduce = info.iters.iter().enumerate();
        let reduce = reduce.filter(|(_, iter)| iter.kind == IterKind::Reduce);
        k.extend(
            reduce
                .map(|(at, _)| at)
                .filter(|at| !k.contains(at))
                .collect::<Vec<_>>(),
        );
        let [write] = info.writes.as_slice() else {
            return None;
        };
        let mut result: Vec<usize> = Vec::new();
        for range in &write.region {
            match range.min.as_var().and_then(position) {
                Some(at) => result.push(at),
                None if range.min.as_int().is_some() => {}
                None => {
                    let within = within_group(func, block, &matmul.batch, &range.min);
                    let at = within.as_var().and_then(position)?;
                    let groups = matmul.batch.iter();
                    result.extend(groups.filter(|&&at| range.min.uses(&info.iters[at].var)));
                    result.push(at);
                }
            }
        }
        let mut pixels: Vec<usize> = Vec::new();
        for &at in result.iter().rev().filter(|&&at| at != channels) {
            let constant = info.iters[at].dom.extent.as_int().is_some();
            let row = !matmul.batch.contains(&at) && (constant || pixels.is_empty());
            let after =
                result.iter().position(|&x| x == at) > result.iter().position(|&x| x == channels);
            if !row || (!pixels.is_empty() && !after) {
                break;
            }
            pixels.insert(0, at);
            if !constant {
                break;
            }
        }
        let outer = result
            .into_iter()
            .filter(|at| *at != channels && !pixels.contains(at));
        Some(Self {
            outer: outer.collect(),
            pixels,
            channels,
            k,
            weight: weight.clone(),
            in_panels,
        })
    }
}

/// The loops of the block as a matmul, one for each of its iter variables, in this order.
struct Loops {
    outer: Vec<LoopId>,
    pixels: LoopId,
    channels: LoopId,
    /// Position of the iter variable of the channels; those of the sums are before it.
    channel_iter: usize,
    /// The first loop of the reduction, and the others.
    depth: LoopId,
    taps: Vec<LoopId>,
}

impl Loops {
    /// Makes a matmul of the block. Iter variables that take one value are left out.
    fn of(schedule: &mut Schedule, block: BlockId, roles: &Roles) -> Result<Self, DeclineReason> {
        let params = params(schedule.func(), block);
        let iters = &schedule.func().blocks[block].iters;
        let wide = |at: &&usize| !iters[**at].dom.extent.is_one();
        let var = |at: &usize| params[*at].expr();
        let outer: Vec<Expr> = roles.outer.iter().filter(wide).map(var).collect();
        let row = roles.pixels.iter().filter(wide).map(|at| {
            let extent = iters[*at].dom.extent.cast(DType::I64);
            (var(at), extent)
        });
        let row = row.reduce(|(row, all), (at, extent)| (row * &extent + at, all * extent));
        let k: Vec<Expr> = roles.k.iter().filter(wide).map(var).collect();
        let channel_iter = outer.len() + usize::from(row.is_some());
        let outer_count = outer.len();
        let mut results = outer;
        let has_rows = row.is_some();
        results.extend(row.map(|(row, _)| row));
        results.push(params[roles.channels].expr());
        results.extend(k);
        schedule.transform_block_layout(block, &Lambda { params, results })?;
        let loops = schedule.get_loops(block)?;
        let [channels, depth, taps @ ..] = &loops[channel_iter..] else {
            return Err(DeclineReason::Pattern("nothing is summed"));
        };
        let (channels, depth, taps) = (*channels, *depth, taps.to_vec());
        let pixels = if has_rows {
            loops[outer_count]
        } else {
            schedule.add_unit_loop(channels)?
        };
        Ok(Self {
            outer: loops[..outer_count].to_vec(),
            pixels,
            channels,
            channel_iter,
            depth,
            taps,
        })
    }
}

/// The map of iter variables to some of them.
pub(super) fn places(params: &[Var], results: Vec<Var>) -> Lambda {
    Lambda {
        params: params.to_vec(),
        results: results.iter().map(Var::expr).collect(),
    }
}

/// Steps of the reduction between panels, without a rest where there is such a number.
fn split_depth(
    schedule: &mut Schedule,
    loops: &Loops,
    traits: &CpuTraits,
    sums: DType,
) -> Result<Vec<LoopId>, DeclineReason> {
    // Without a window each step of the reduction reads one cache line of the image and one row of the panel. Where a tile has half a cache
    // line of pixels, the next one reads the same cache lines: they and the panel are to fit the L1 cache.
    let of_panel = traits.depth_of_panel(sums);
    let usual = match loops.taps.is_empty() && traits.registers_of(COLUMNS) > 1 {
        true => of_panel / 2,
        false => of_panel,
    };
    let taps: Option<i64> = loops.taps.iter().map(|&l| extent(schedule, l)).product();
    let most = (usual / taps.unwrap_or(1)).max(1);
    let steps = extent_of_panel(schedule, loops.depth, most);
    Ok(schedule.split(loops.depth, &[Factor::Infer, steps.into()])?)
}

/// Splits pixels into blocks, tiles, and the pixels of a tile.
fn split_pixels(
    schedule: &mut Schedule,
    traits: &CpuTraits,
    rows: i64,
    pixels: LoopId,
    parts: i64,
) -> Result<Vec<LoopId>, DeclineReason> {
    let usual = traits.row_block / rows;
    let tiles = match extent(schedule, pixels) {
        None => usual,
        Some(count) => {
            let all = (count + rows - 1) / rows;
            tiles_of_block(all, rows, usual, parts, traits.threads)
        }
    };
    let factors = [Factor::Infer, tiles.into(), rows.into()];
    Ok(schedule.split(pixels, &factors)?)
}

/// How many tiles, of so many rows each, a block has. Blocks are about as large as usual, and with so many parts each they keep all
/// threads busy. Those with the least rest come first, then those of whole vectors. If no size about the usual one keeps all threads busy,
/// the block is one whose work is done soonest.
fn tiles_of_block(all: i64, rows: i64, usual: i64, parts: i64, threads: i64) -> i64 {
    let all = all.max(1);
    let missing = |tiles: i64| (all + tiles - 1) / tiles * tiles - all;
    // Tiles of the busiest thread.
    let share = |tiles: i64| {
        let tasks = (all + tiles - 1) / tiles * parts;
        (tasks + threads - 1) / threads * tiles
    };
    let order = |tiles: &i64| {
        let vectors = Reverse(whole_vectors(tiles * rows));
        (missing(*tiles), vectors, (tiles - usual).abs())
    };
    let most = (2 * usual).min(all);
    let about_usual = (usual / 2).clamp(1, all)..=most;
    let even = about_usual.filter(|tiles| {
        let idle = share(*tiles) * threads - (all + missing(*tiles)) * parts;
        idle * EVEN <= (all + missing(*tiles)) * parts
    });
    let best = even.min_by_key(order);
    let soonest = (1..=most).map(share).min().unwrap_or(all);
    let soon = (1..=most).filter(|tiles| (share(*tiles) - soonest) * EVEN <= soonest);
    best.or_else(|| soon.min_by_key(order)).unwrap_or(usual)
}

/// The largest vector of which these elements are a multiple, if it is one.
fn whole_vectors(count: i64) -> Option<i64> {
    [COLUMNS, 8, 4].into_iter().find(|lanes| count % lanes == 0)
}

/// A panel of the weight on the stack: a row of channels for each step of the reduction.
fn copy_panel(
    schedule: &mut Schedule,
    block: BlockId,
    roles: &Roles,
    loops: &Loops,
    at: LoopId,
) -> Result<(), DeclineReason> {
    let params = params(schedule.func(), block);
    let info = &schedule.func().blocks[block];
    let region = &info.reads[roles.weight.read_index].region;
    let channels = loops.channel_iter;
    let others = (0..params.len()).filter(|&i| i != channels);
    let used = others.chain([channels]).filter(|&i| {
        let var = &info.iters[i].var;
        region.iter().any(|range| range.min.uses(var))
    });
    let results = used.map(|i| params[i].clone()).collect();
    let map = places(&params, results);
    let panel = schedule.reindex_cache_read(block, roles.weight.read_index, "local", &map)?;
    schedule.compute_at(panel, at, UnitIters::Preserve, InsertAt::Latest)?;
    Ok(())
}

/// Writes back vectors along the pixels, of as many channels after each other as a register has lanes: code generation turns such tiles.
fn along_pixels(
    schedule: &mut Schedule,
    write_back: BlockId,
    below: LoopId,
    lanes_of_register: i64,
) -> Result<(), DeclineReason> {
    // Units of outer dimensions, pixels, channels.
    let [.., pixels, channels] = loops_inside(schedule, write_back, below)?[..] else {
        return Ok(());
    };
    let Some(count) = extent(schedule, pixels) else {
        schedule.reorder(&[channels, pixels])?;
        return Ok(());
    };
    let rest = count % COLUMNS;
    if rest == 0 || rest == count || is_guarded(schedule, write_back, pixels) {
        return turn(schedule, write_back, [pixels, channels], lanes_of_register);
    }
    for part in schedule.loop_partition(pixels, &[(count - rest).into()])? {
        let blocks = schedule.get_child_blocks(part)?;
        let [write_back] = blocks[..] else {
            return Err(DeclineReason::Pattern("several blocks write sums back"));
        };
        let loops = schedule.get_loops(write_back)?;
        let channels = loops[loops.len() - 1];
        turn(schedule, write_back, [part, channels], lanes_of_register)?;
    }
    Ok(())
}

/// Vectors along these pixels.
fn turn(
    schedule: &mut Schedule,
    write_back: BlockId,
    [last, channels]: [LoopId; 2],
    lanes_of_register: i64,
) -> Result<(), DeclineReason> {
    let Some(lanes) = extent(schedule, last).and_then(whole_vectors) else {
        schedule.reorder(&[channels, last])?;
        return Ok(());
    };
    let parts = schedule.split(last, &[Factor::Infer, lanes.into()])?;
    let whole = extent(schedule, channels).is_some_and(|e| e % lanes_of_register == 0)
        && !is_guarded(schedule, write_back, channels);
    if whole {
        let tile = schedule.split(channels, &[Factor::Infer, lanes_of_register.into()])?;
        schedule.reorder(&[tile[0], parts[0], tile[1], parts[1]])?;
        schedule.unroll(tile[1])?;
    } else {
        schedule.reorder(&[channels, parts[0], parts[1]])?;
    }
    schedule.vectorize(parts[1])?;
    Ok(())
}

/// Whether the block runs for a part of the loop's iterations only.
fn is_guarded(schedule: &Schedule, block: BlockId, l: LoopId) -> bool {
    let func = schedule.func();
    let realize = &func.blocks[block];
    realize.predicate.uses(&func.loops[l].var)
}

/// Spreads groups, or the pixel blocks of each, over the threads, each with its padded image in an array of the thread. Whether that can be.
fn pad_in_parts(
    schedule: &mut Schedule,
    block: BlockId,
    traits: &CpuTraits,
    outer: &[LoopId],
    pixel_blocks: LoopId,
) -> bool {
    let all = [outer, &[pixel_blocks]].concat();
    let done = [outer, &all].into_iter().find_map(|loops| {
        let mut trial = schedule.clone();
        padded_at(&mut trial, block, traits, loops).ok()?;
        Some(trial)
    });
    let is_done = done.is_some();
    if let Some(done) = done {
        *schedule = done;
    }
    is_done
}

/// Spreads these loops, and pads inside of them.
fn padded_at(
    schedule: &mut Schedule,
    block: BlockId,
    traits: &CpuTraits,
    loops: &[LoopId],
) -> Result<(), DeclineReason> {
    let parts: Option<i64> = loops.iter().map(|&l| extent(schedule, l)).product();
    let Some(parts) = parts.filter(|&parts| parts >= traits.parts()) else {
        return Err(DeclineReason::Pattern("few groups"));
    };
    let part = match loops {
        [one] => *one,
        several => schedule.fuse(several)?,
    };
    schedule.parallel(part)?;
    for producer in schedule.get_producers(block)? {
        // A panel has its place.
        if schedule.get_loops(producer)?.first() != Some(&part) {
            let rows = Rows { parts, stride: 1 };
            pad(schedule, traits, producer, part, rows)?;
        }
    }
    Ok(())
}

/// Over the threads: all if their extents are constant, else tiles of constant number, else images and lines together, of which
/// there may be one each, else blocks of pixels with panels. Only the outermost loop is spread, so tiles of constant number go around
/// images.
fn spread(
    schedule: &mut Schedule,
    outer: &[LoopId],
    tiles: &[LoopId],
) -> Result<(), DeclineReason> {
    let all = [outer, tiles].concat();
    if are_constant(schedule, &all) && parallel_fused(schedule, &all) {
        return Ok(());
    }
    if are_constant(schedule, tiles) {
        let mut trial = schedule.clone();
        trial.reorder(&[tiles, outer].concat())?;
        if parallel_fused(&mut trial, tiles) {
            *schedule = trial;
            return Ok(());
        }
    }
    let few = match outer {
        [] => &tiles[..told_apart(schedule.func(), tiles)],
        outer => outer,
    };
    if !parallel_fused(schedule, few) {
        schedule.parallel(all[0])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_pixels_keep_all_threads_busy() {
        // 56 x 56 pixels in tiles of eight: all blocks are alike.
        assert_eq!(tiles_of_block(392, 8, 16, 4, 2), 14);
        // The only block of 8 x 8 pixels would leave a thread idle, where the panels are one part.
        assert_eq!(tiles_of_block(8, 8, 16, 1, 2), 4);
        assert_eq!(tiles_of_block(8, 8, 16, 2, 2), 8);
        // Two of three tiles are as much as one thread has at best.
        assert_eq!(tiles_of_block(3, 7, 16, 1, 2), 1);
        assert_eq!(tiles_of_block(1, 8, 16, 1, 2), 1);
        assert_eq!(tiles_of_block(0, 8, 16, 1, 2), 1);
    }
}
