//! Windows that slide over one channel: depthwise convolution and pooling.
//!
//! - A thread computes several results that lie below each other, in *lines*: neighbouring threads read and write neighbours in memory,
//!   and a column of the image that a thread has loaded serves the windows of all its lines. Channels last are vectors of four channels.
//! - The window is written out. Weights of a column are in registers.
//! - Where a plane has results enough for several workgroups, a workgroup has one plane, and its weights are the same for all its threads.
//! - The image is padded where it is loaded. What follows is computed where the results are written back.
//!
//! Reference: ncnn's and TVM's (`topi.cuda.depthwise_conv2d`) direct depthwise convolutions.

use super::compile_time::{Epilogue, Written};
use super::inline::inline_into;
use super::loops::{ceil, fuse_loops, inner_loops, parts, tile_loops};
use super::traits::GpuTraits;
use crate::ir::{Block, BlockId, BufferRegion, IterKind, IterVar, LoopId, PrimFunc, ThreadAxis};
use crate::kernel::GpuTarget;
use crate::sched::rules::DeclineReason;
use crate::sched::rules::epilogue::inline_consumers;
use crate::sched::rules::pattern::{Pattern, classify};
use crate::sched::rules::reuse::step;
use crate::sched::{Factor, InsertAt, Schedule, UnitIters};

/// Threads of a workgroup.
const THREADS: i64 = 64;

/// Channels of a vector: those of one 16-byte load of `f32`.
const LANES: i64 = 4;

/// Most lines of a thread, and most operations that are written out for them.
const MOST_LINES: i64 = 8;
const WRITTEN_OUT: i64 = 300;

/// Lines of an image of open size.
const USUAL_LINES: i64 = 64;

/// Workgroups of a plane from which on each has one plane, and those that a core needs to hide the latency of memory.
const GROUPS_OF_A_PLANE: i64 = 4;
const GROUPS_OF_A_CORE: i64 = 16;

/// The iter variables of a block by their roles, as positions in `Block::iters`, and how windows lie in the image.
struct Depthwise {
    /// Positions of the image and, if there are any, of the weights in `Block::reads`.
    image: usize,
    weights: Option<usize>,
    /// Choose a plane of the image.
    planes: Vec<usize>,
    /// Move the window over a plane, but for `line` and `row`.
    within: Vec<usize>,
    /// Moves the window from line to line.
    line: usize,
    /// The last index of the result.
    row: usize,
    /// Reduction iterations that move along lines, and the others.
    across: Vec<usize>,
    along: Vec<usize>,
    /// By how many lines of the image the windows of two lines are apart.
    stride: i64,
    /// Lines of the image that all of `across` add to one.
    reach: i64,
    /// Elements of a row that are one vector in each operand.
    lanes: i64,
}

/// A spatial iter variable that moves a window along a dimension of the image.
struct Window {
    at: usize,
    dimension: usize,
    /// Reduction iterations of the window.
    taps: Vec<usize>,
}

pub(super) fn apply(
    sch: &mut Schedule,
    block: BlockId,
    target: &GpuTarget,
) -> Result<(), DeclineReason> {
    let w = Depthwise::of(sch.func(), block)?;
    let loops = loops_of(sch, block)?;
    let write_back = sch.cache_write(block, 0, "local", &[])?;
    inline_consumers(sch, write_back);
    let epilogue = Epilogue::of_write_back(sch.func(), write_back);
    let threads = GpuTraits::of(target).window_threads.min(THREADS);
    let threads = threads.min(target.max_threads.into());
    let lines = w.lines(&sch.func().blocks[block], epilogue, threads, target);

    let pick = |roles: &[usize]| roles.iter().map(|&at| loops[at]).collect::<Vec<_>>();
    let (mut planes, mut within) = (pick(&w.planes), pick(&w.within));
    let (along, across) = (pick(&w.along), pick(&w.across));
    let all = sch.func().loops[loops[w.line]].extent.as_int();
    let whole = all.is_some_and(|all| all % lines == 0);
    let [line, lane] = parts(sch, loops[w.line], [Factor::Infer, lines.into()])?;
    let [row, vector] = parts(sch, loops[w.row], [Factor::Infer, w.lanes.into()])?;
    // The condition of lines past the end stays one of a loop that no other condition is about.
    let of_lines = if whole { &mut within } else { &mut planes };
    of_lines.push(line);
    within.push(row);
    let tile = [lane, vector];
    sch.reorder(&[&planes[..], &within, &along, &across, &tile].concat())?;
    let apart = !whole || fills_workgroups(sch, &within, threads);
    let place = if apart && !planes.is_empty() {
        let plane = fuse_loops(sch, &planes)?;
        sch.bind(plane, ThreadAxis::BlockIdxZ)?;
        fuse_loops(sch, &within)?
    } else {
        fuse_loops(sch, &[planes, within].concat())?
    };
    let [groups, thread] = parts(sch, place, [Factor::Infer, threads.into()])?;
    sch.bind(groups, ThreadAxis::BlockIdxX)?;
    sch.bind(thread, ThreadAxis::ThreadIdxX)?;

    sch.reverse_compute_at(write_back, thread, UnitIters::Simplify, InsertAt::Latest)?;
    let column = along.last().copied().unwrap_or(thread);
    for read in [Some(w.image), w.weights].into_iter().flatten() {
        let copy = sch.cache_read(block, read, "local", &[block])?;
        inline_into(sch, copy)?;
        sch.compute_at(copy, column, UnitIters::Simplify, InsertAt::Latest)?;
        let inner = inner_loops(sch, copy, column)?;
        write_out(sch, &inner, w.lanes)?;
    }
    let window = [along, across].concat();
    for &l in &window {
        sch.unroll(l)?;
    }
    write_out(sch, &tile, w.lanes)?;
    let first = window.first().copied();
    let first = first.ok_or(DeclineReason::Pattern("nothing is reduced"))?;
    let init = sch.decompose_reduction(block, first)?;
    for block in [init, write_back] {
        let inner = inner_loops(sch, block, thread)?;
        write_out(sch, &inner, w.lanes)?;
    }
    Ok(())
}

/// Whether the rule is for the block.
pub(super) fn takes(func: &PrimFunc, block: BlockId) -> bool {
    Depthwise::of(func, block).is_ok()
}

/// Writes loops out; the last one is a vector where there are lanes.
fn write_out(sch: &mut Schedule, loops: &[LoopId], lanes: i64) -> Result<(), DeclineReason> {
    if lanes > 1 {
        return tile_loops(sch, loops);
    }
    for &l in loops {
        sch.unroll(l)?;
    }
    Ok(())
}

/// The loop of each iter variable.
fn loops_of(sch: &mut Schedule, block: BlockId) -> Result<Vec<LoopId>, DeclineReason> {
    let loops = sch.get_loops(block)?;
    let func = sch.func();
    let bindings = &func.blocks[block].bindings;
    let own = bindings.iter().map(|binding| {
        let var = binding.as_var();
        loops
            .iter()
            .copied()
            .find(|&l| Some(&func.loops[l].var) == var)
    });
    let own: Option<Vec<LoopId>> = own.collect();
    own.filter(|own| own.len() == loops.len())
        .ok_or(DeclineReason::Pattern(
            "not one loop for each iter variable",
        ))
}

/// Whether these loops are enough threads for several workgroups, or that is not known.
fn fills_workgroups(sch: &Schedule, loops: &[LoopId], threads: i64) -> bool {
    let extents = loops.iter().map(|&l| sch.func().loops[l].extent.as_int());
    let all: Option<i64> = extents.product();
    all.is_none_or(|all| all >= GROUPS_OF_A_PLANE * threads)
}

impl Depthwise {
    fn of(func: &PrimFunc, id: BlockId) -> Result<Self, DeclineReason> {
        if !matches!(classify(func, id), Pattern::Reduction | Pattern::Matmul(_)) {
            return Err(DeclineReason::Pattern("no reduction"));
        }
        let block = &func.blocks[id];
        let result = &block.writes[0];
        let reads = block.reads.iter().enumerate();
        let operands = reads.filter(|(_, read)| read.buffer != result.buffer);
        let (images, others): (Vec<usize>, Vec<usize>) = operands
            .map(|(at, _)| at)
            .partition(|&at| !windows(block, &block.reads[at]).is_empty());
        let (&[image], [] | [_]) = (images.as_slice(), others.as_slice()) else {
            return Err(DeclineReason::Pattern(
                "no windows that slide over one operand",
            ));
        };
        let read = &block.reads[image];
        let spatial = of_kind(block, IterKind::Spatial);
        let is_shared = |at: &usize| !moves(&block.iters[*at], read);
        if spatial.iter().any(is_shared) {
            return Err(DeclineReason::Pattern(
                "several results are made of the same windows",
            ));
        }
        let last = result.region.last().and_then(|range| range.min.as_var());
        let row = block.iters.iter().position(|iter| Some(&iter.var) == last);
        let row = row.ok_or(DeclineReason::Pattern("the result has no rows"))?;
        let windows = windows(block, read);
        let line = windows.iter().rfind(|window| window.at != row);
        let line = line.ok_or(DeclineReason::Pattern("windows slide along rows alone"))?;

        let extent = |at: &usize| block.iters[*at].dom.extent.as_int();
        let reduced = block.iters.iter().enumerate();
        let reduced = reduced.filter(|(_, iter)| iter.kind == IterKind::Reduce);
        let (across, along): (Vec<usize>, Vec<usize>) = reduced
            .map(|(at, _)| at)
            .partition(|at| line.taps.contains(at));
        let taps: Option<i64> = across.iter().chain(&along).map(extent).product();
        if taps.is_none_or(|taps| taps > WRITTEN_OUT) {
            return Err(DeclineReason::Pattern(
                "windows that are too large to be written out",
            ));
        }
        let index = &read.region[line.dimension].min;
        let by = |at: &usize| step(index, &block.iters[*at].var);
        let reach = across.iter().map(|at| Some(by(at)? * (extent(at)? - 1)));
        let reach: Option<i64> = reach.sum();
        let (Some(stride), Some(reach)) = (by(&line.at), reach) else {
            return Err(DeclineReason::Pattern("the index of lines is not linear"));
        };
        let spatial = block.iters.iter().enumerate();
        let spatial = spatial.filter(|(_, iter)| iter.kind == IterKind::Spatial);
        let (within, planes) = spatial
            .map(|(at, _)| at)
            .filter(|&at| at != line.at && at != row)
            .partition(|&at| windows.iter().any(|window| window.at == at));
        let slides = windows.iter().any(|window| window.at == row);
        let whole = extent(&row).is_some_and(|n| n % LANES == 0);
        let is_vector = |region: &BufferRegion| is_vector(&block.iters[row], region);
        let in_vectors = whole && !slides && block.reads.iter().all(is_vector);
        Ok(Self {
            image,
            weights: others.first().copied(),
            planes,
            within,
            line: line.at,
            row,
            across,
            along,
            stride,
            reach,
            lanes: if in_vectors { LANES } else { 1 },
        })
    }

    /// How many lines a thread computes: as many as take the fewest loads, as long as each core gets workgroups.
    fn lines(&self, block: &Block, epilogue: Epilogue, threads: i64, target: &GpuTarget) -> i64 {
        let extent = |at: &usize| block.iters[*at].dom.extent.as_int();
        let product = |roles: &[usize]| roles.iter().map(extent).product::<Option<i64>>();
        let [across, along] = [&self.across, &self.along].map(|taps| product(taps).unwrap_or(1));
        let all = extent(&self.line);
        let is_whole = |lines: i64| all.is_some_and(|all| all % lines == 0);
        // Without the lines, the other positions of a plane are to fill half of a workgroup.
        let without_lines = product(&[&self.within[..], &[self.row]].concat());
        let fills = without_lines.is_none_or(|n| n / self.lanes >= threads / 2);
        let others = [&self.planes[..], &self.within, &[self.row]].concat();
        let others = product(&others).map(|n| n / self.lanes);
        let weights = if self.weights.is_some() { across } else { 0 };
        let loads = |lines: i64| ((lines - 1) * self.stride + self.reach + 1 + weights) * along;
        let traits = GpuTraits::of(target);
        let fits = |lines: &i64| {
            let operations = lines * across * along;
            let written = Written {
                operands: loads(*lines) * self.lanes,
                sums: lines * self.lanes,
                operations: operations * self.lanes,
                epilogue,
                is_guarded: !is_whole(*lines),
            };
            operations <= WRITTEN_OUT
                && (fills || is_whole(*lines))
                && traits.compile_time.is_none_or(|c| c.is_short(written))
        };
        let busy = GROUPS_OF_A_CORE * THREADS * target.cores();
        let is_busy = |lines: &i64| {
            let threads = all
                .zip(others)
                .map(|(all, others)| ceil(all, *lines) * others);
            threads.is_none_or(|threads| threads >= busy)
        };
        // Loads of all lines. A condition at each line costs as much as a load.
        let cost = |lines: &i64| {
            let all = all.unwrap_or(USUAL_LINES);
            let guards = if is_whole(*lines) { 0 } else { *lines };
            (ceil(all, *lines) * (loads(*lines) + guards), *lines)
        };
        let sizes = (2..=MOST_LINES).filter(fits).filter(is_busy);
        sizes.chain([1]).min_by_key(cost).unwrap_or(1)
    }
}

/// The windows of what is read.
fn windows(block: &Block, read: &BufferRegion) -> Vec<Window> {
    let reduced = of_kind(block, IterKind::Reduce);
    let mut all = Vec::new();
    for at in of_kind(block, IterKind::Spatial) {
        for (dimension, range) in read.region.iter().enumerate() {
            let grows = |at: &usize| step(&range.min, &block.iters[*at].var) > Some(0);
            let taps: Vec<usize> = reduced.iter().copied().filter(grows).collect();
            if grows(&at) && !taps.is_empty() {
                all.push(Window {
                    at,
                    dimension,
                    taps,
                });
            }
        }
    }
    all
}

/// The iter variables of this kind that have several values.
fn of_kind(block: &Block, kind: IterKind) -> Vec<usize> {
    let iters = block.iters.iter().enumerate();
    let own = iters.filter(|(_, iter)| iter.kind == kind && !iter.dom.extent.is_one());
    own.map(|(at, _)| at).collect()
}

fn moves(iter: &IterVar, region: &BufferRegion) -> bool {
    region.region.iter().any(|range| range.min.uses(&iter.var))
}

/// Whether neighbours along the iter variable, if it moves the region at all, are neighbours in memory.
fn is_vector(iter: &IterVar, region: &BufferRegion) -> bool {
    let mut indices = region.region.iter().rev().map(|range| &range.min);
    let last = indices.next().and_then(|index| index.as_var());
    let outer = indices.any(|index| index.uses(&iter.var));
    !outer && (last == Some(&iter.var) || !moves(iter, region))
}
