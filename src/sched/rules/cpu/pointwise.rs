//! Convolution without a window: each pixel of the result is made of the pixel at its place, so that `C[oc, p] += W[oc, ic] * X[ic, p]` is a
//! matmul whose columns are the pixels of an image, one after the other as they lie in memory.
//!
//! - A tile is some channels by 16 or 32 pixels, in registers, vectors along the pixels. Sums are written as they are, where a matmul
//!   of pixels by channels (see `convolution`) has to turn them: with few products for each sum that takes longer than to add them up.
//! - The pixels of a tile in all channels of the image are copied to the stack, where they are neighbours, if several tiles need them.
//!
//! Tiles of pixels are spread over the threads, with parts of the channels where there are few.

use super::convolution::places;
use super::matmul::{split_columns, vectorize_columns};
use super::panels::of_words;
use super::tiles::Tile;
use super::traits::{COLUMNS, CpuTraits};
use super::{TURNING, extent, parallel_fused, pays_in_rows};
use crate::arith::Analyzer;
use crate::ir::{BlockId, Buffer, Expr, IterKind, Lambda, LoopId, PrimFunc, Range, Var};
use crate::kernel::CpuTarget;
use crate::sched::rules::DeclineReason;
use crate::sched::rules::epilogue::inline_consumers;
use crate::sched::rules::nest::params;
use crate::sched::rules::pattern::Matmul;
use crate::sched::{Factor, InsertAt, Schedule, UnitIters};
use crate::tensor::DType;

/// Most products of a sum: those of a tile of pixels in all channels fit the L2 cache, and the stack.
const MOST_PRODUCTS: i64 = 1024;

/// Most weights for few pixels: each tile of pixels reads all of them. Measured on two threads with AVX-512: with 65,536 and 262,144 of
/// 14 × 14 pixels this takes 1.1 to 1.3 of the time of the matmul of pixels by channels, with 65,536 and 131,072 of 28 × 28 0.8 to 1.05.
const MOST_WEIGHTS: i64 = 60_000;

/// Pixels that are many.
const MANY_PIXELS: i64 = 512;

/// Tiles of channels that pay for a copy of the pixels that they share.
const TILES_OF_COPY: i64 = 4;

/// Most tiles of a size other than eight and four channels.
const MOST_SMALL_TILES: i64 = 5;

/// Most channels of a tile.
const MOST_CHANNELS: i64 = 8;

pub(super) fn apply(
    schedule: &mut Schedule,
    block: BlockId,
    target: &CpuTarget,
) -> Result<(), DeclineReason> {
    let matmul = of_words(schedule.func(), block)?;
    let roles = Roles::of(schedule.func(), block, &matmul)
        .ok_or(DeclineReason::Pattern("pixels are not at their places"))?;
    if !roles.pays() {
        return Err(DeclineReason::Pattern("many products for each result"));
    }
    let traits = CpuTraits::of(target);
    let registers = traits.registers_of_panel(matmul.c.dtype());
    let tile = tile(&traits, registers, &roles)
        .ok_or(DeclineReason::Pattern("no tile divides the channels"))?;
    let loops = Loops::of(schedule, block, &roles)?;

    let params = params(schedule.func(), block);
    let iters = &schedule.func().blocks[block].iters;
    let of_result = params.iter().zip(iters).take(loops.outer.len() + 2);
    // A lone channel is no index of the result.
    let of_result = of_result.filter(|(_, iter)| !iter.dom.extent.is_one());
    let sums = of_result.map(|(param, _)| param.clone()).collect();
    let write_back = schedule.reindex_cache_write(block, 0, "local", &places(&params, sums))?;
    inline_consumers(schedule, write_back);

    let n = split_columns(schedule, loops.pixels, tile)?;
    let tiles_of_pixels = extent(schedule, n[0]).unwrap_or(1);
    let tiles = roles.channels_extent / tile.rows;
    let parts = parts_of_channels(&traits, tiles_of_pixels, tiles);
    let factors = [parts.into(), Factor::Infer, tile.rows.into()];
    let m = schedule.split(loops.channels, &factors)?;
    // Images are inside of tiles of pixels: how many there are may be open.
    let mut order = vec![n[0], m[0]];
    order.extend(&loops.outer);
    order.extend([m[1], loops.depth, m[2]]);
    order.extend(&n[1..]);
    schedule.reorder(&order)?;
    let shared = loops.outer.last().copied().unwrap_or(m[0]);
    if tiles / parts >= TILES_OF_COPY {
        copy_pixels(schedule, block, &roles, &loops, shared)?;
    }
    schedule.reverse_compute_at(write_back, m[1], UnitIters::Preserve, InsertAt::Latest)?;
    along_pixels(schedule, write_back, m[1])?;
    vectorize_columns(schedule, &n)?;
    schedule.unroll(m[2])?;
    if parts == 1 || !parallel_fused(schedule, &[n[0], m[0]]) {
        schedule.parallel(n[0])?;
    }
    schedule.decompose_reduction(block, loops.depth)?;
    Ok(())
}

/// What the iter variables of the block are, as positions among them.
struct Roles {
    /// Images.
    outer: Vec<usize>,
    channels: usize,
    /// Neighbours in the image and in the result.
    pixels: Vec<usize>,
    /// The position of the image among what the block reads.
    image: usize,
    channels_extent: i64,
    pixels_extent: i64,
    products: i64,
}

impl Roles {
    fn of(func: &PrimFunc, block: BlockId, matmul: &Matmul) -> Option<Self> {
        let info = &func.blocks[block];
        let [write] = info.writes.as_slice() else {
            return None;
        };
        let position = |index: &Expr| {
            let var = index.as_var()?;
            info.iters.iter().position(|iter| iter.var == *var)
        };
        // Windows of one element add an iter variable that is always 0.
        let unit = |var: &Var| {
            let mut iters = info.iters.iter();
            iters.any(|iter| iter.var == *var && iter.dom.extent.is_one())
        };
        let wide = |range: &Range| {
            let index = &range.min;
            let index = index.substitute(&|v| unit(v).then(|| Expr::int(0, v.dtype())));
            Analyzer::new().simplify(&index)
        };
        let constant = |at: usize| info.iters[at].dom.extent.as_int();
        let result: Option<Vec<usize>> = write
            .region
            .iter()
            .map(|range| position(&range.min))
            .collect();
        let result = result?;
        let sides = [&matmul.a, &matmul.b];
        let (image, weight) = [(0, 1), (1, 0)].into_iter().find_map(|(image, weight)| {
            let (image, weight) = (sides[image], sides[weight]);
            let last = info.reads[image.read_index].region.last()?;
            (position(&wide(last))? == *result.last()?).then_some((image, weight))
        })?;
        let reads = |read: usize, at: usize| {
            let mut region = info.reads[read].region.iter();
            region.any(|range| range.min.uses(&info.iters[at].var))
        };
        // From the back: pixels are at their places in the image, channels in the weight alone.
        let region = &info.reads[image.read_index].region;
        let same = |from_end: usize, at: usize| {
            let range = region.len().checked_sub(from_end + 1).map(|i| &region[i]);
            let extents = [&write.buffer, &image.buffer].map(|buffer: &Buffer| {
                let shape = buffer.shape();
                shape.len().checked_sub(from_end + 1).map(|i| &shape[i])
            });
            let is_same = |index: Expr| match constant(at) {
                Some(1) => index.is_zero(),
                _ => position(&index) == Some(at),
            };
            range.is_some_and(|range| is_same(wide(range)))
                && extents[0] == extents[1]
                && constant(at).is_some()
        };
        let from_end = result.iter().rev().enumerate();
        let count = from_end.take_while(|(i, at)| same(*i, **at)).count();
        let (before, pixels) = result.split_at(result.len() - count);
        let (&channels, outer) = before.split_last()?;
        let of_weight = |at: usize| reads(weight.read_index, at);
        let of_image = |at: usize| reads(image.read_index, at);
        let apart = !pixels.is_empty()
            && of_weight(channels)
            && !of_image(channels)
            && !pixels.iter().chain(outer).any(|&at| of_weight(at));
        let sums = info
            .iters
            .iter()
            .filter(|iter| iter.kind == IterKind::Reduce);
        let products: Option<i64> = sums.map(|iter| iter.dom.extent.as_int()).product();
        let pixels_extent: Option<i64> = pixels.iter().map(|&at| constant(at)).product();
        apart.then_some(Self {
            outer: outer.to_vec(),
            channels,
            pixels: pixels.to_vec(),
            image: image.read_index,
            channels_extent: constant(channels)?,
            pixels_extent: pixels_extent?,
            products: products?,
        })
    }

    /// Whether this is faster than a matmul of pixels by channels.
    fn pays(&self) -> bool {
        let weights = self.products.checked_mul(self.channels_extent);
        let few = weights.is_some_and(|weights| weights <= MOST_WEIGHTS);
        let fits = (2..=MOST_PRODUCTS).contains(&self.products);
        fits && (few || self.pixels_extent >= MANY_PIXELS)
            && pays_in_rows(self.products, self.pixels_extent, TURNING)
    }
}

/// A tile of so many channels, a part of a panel of the weight, whose sums fill at most half of the registers; `None` if no number of
/// them divides all channels.
fn tile(traits: &CpuTraits, registers: i64, roles: &Roles) -> Option<Tile> {
    let half = traits.sums() / registers;
    let panels = if half > MOST_CHANNELS && roles.pixels_extent >= 2 * COLUMNS {
        2
    } else {
        1
    };
    let most = (half / panels).min(MOST_CHANNELS);
    let channels = roles.channels_extent;
    // Other sizes only within one panel, and only if the image is read few times.
    let few = |rows: &i64| channels <= COLUMNS && channels <= MOST_SMALL_TILES * rows;
    let others = (1..=most).rev().filter(few);
    let mut sizes = [8, 4].into_iter().chain(others);
    let rows = sizes.find(|rows| *rows <= most && channels % rows == 0)?;
    Some(Tile { rows, panels })
}

/// The loops of the block as a matmul, one for each of its iter variables, in this order.
struct Loops {
    outer: Vec<LoopId>,
    channels: LoopId,
    pixels: LoopId,
    depth: LoopId,
}

impl Loops {
    /// Makes a matmul of the block. Iter variables that take one value are left out.
    fn of(schedule: &mut Schedule, block: BlockId, roles: &Roles) -> Result<Self, DeclineReason> {
        let params = params(schedule.func(), block);
        let iters = &schedule.func().blocks[block].iters;
        let wide = |at: &usize| !iters[*at].dom.extent.is_one();
        let var = |at: &usize| params[*at].expr();
        let mut results: Vec<Expr> = roles.outer.iter().filter(|at| wide(at)).map(var).collect();
        let outer = results.len();
        results.push(params[roles.channels].expr());
        let pixel = roles.pixels.iter().map(|at| {
            let extent = iters[*at].dom.extent.cast(DType::I64);
            (var(at), extent)
        });
        let pixel = pixel.reduce(|(pixel, all), (at, extent)| (pixel * &extent + at, all * extent));
        results.extend(pixel.map(|(pixel, _)| pixel));
        let depth = (0..iters.len()).filter(|at| iters[*at].kind == IterKind::Reduce && wide(at));
        results.extend(depth.map(|at| var(&at)));
        schedule.transform_block_layout(block, &Lambda { params, results })?;
        let loops = schedule.get_loops(block)?;
        let [channels, pixels, depth] = loops[outer..] else {
            return Err(DeclineReason::Pattern(
                "channels of the image have several dimensions",
            ));
        };
        Ok(Self {
            outer: loops[..outer].to_vec(),
            channels,
            pixels,
            depth,
        })
    }
}

/// In how many parts the tiles of channels are done, so that all threads are busy: a divisor of their number.
fn parts_of_channels(traits: &CpuTraits, tiles_of_pixels: i64, tiles: i64) -> i64 {
    let missing = (traits.parts() + tiles_of_pixels - 1) / tiles_of_pixels.max(1);
    let mut parts = missing.min(tiles)..=tiles;
    parts.find(|parts| tiles % parts == 0).unwrap_or(1)
}

/// Copies the pixels of a tile in all channels of the image to the stack, in this loop.
fn copy_pixels(
    schedule: &mut Schedule,
    block: BlockId,
    roles: &Roles,
    loops: &Loops,
    at: LoopId,
) -> Result<(), DeclineReason> {
    let params = params(schedule.func(), block);
    let (outer, others) = params.split_at(loops.outer.len());
    let [_, pixel, depth @ ..] = others else {
        return Ok(());
    };
    let results = outer.iter().chain(depth).chain([pixel]).cloned().collect();
    let map = places(&params, results);
    let panel = schedule.reindex_cache_read(block, roles.image, "local", &map)?;
    schedule.compute_at(panel, at, UnitIters::Preserve, InsertAt::Latest)?;
    if let [.., pixels, depth] = schedule.get_loops(panel)?[..] {
        schedule.reorder(&[depth, pixels])?;
    }
    along_pixels(schedule, panel, at)
}

/// Vectors along the last loop of a block; what is below the loop and short is written out.
fn along_pixels(
    schedule: &mut Schedule,
    block: BlockId,
    below: LoopId,
) -> Result<(), DeclineReason> {
    let loops = schedule.get_loops(block)?;
    let own = loops
        .iter()
        .position(|&l| l == below)
        .map_or(0, |at| at + 1);
    let Some((&last, others)) = loops[own..].split_last() else {
        return Ok(());
    };
    let parts = schedule.split(last, &[Factor::Infer, COLUMNS.into()])?;
    schedule.vectorize(parts[1])?;
    schedule.unroll(parts[0])?;
    for &l in others {
        if extent(schedule, l).is_some_and(|count| (2..=MOST_CHANNELS).contains(&count)) {
            schedule.unroll(l)?;
        }
    }
    Ok(())
}
