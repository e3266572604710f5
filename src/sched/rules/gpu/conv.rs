//! Convolution: each thread keeps a tile of the result in registers, several channels of a piece of a row.
//!
//! A convolution is a product of which one side, the *image*, is read through windows:
//! `C[n, o, y, x] += A[n, k, y + ry, x + rx] * B[o, k, ry, rx]`. *Positions* are the spatial iterations of the image (`n`, `y`, `x`),
//! *channels* those of the weights (`o`), *taps* the reduction iterations along the row (`rx`). A row of positions is contiguous in
//! memory. For each step of the sum a thread loads its piece of a row, with what the taps add to it, and multiplies it with the weights
//! of all taps and of its channels. All threads of a workgroup take the same channels, so every weight is one load for all. The
//! epilogue (bias, activation, residual) is applied where the tile is written back.
//!
//! References: TVM dlight `Matmul` for the order of primitives; ncnn's direct convolutions for the tile.

use super::compile_time::Epilogue;
use super::loops::{fuse_loops, inner_loops, parts, tile_loops};
use super::window::{WindowTile, Windows};
use crate::arith::Analyzer;
use crate::ir::{
    Block, BlockId, BufferRegion, Expr, ExprKind, IterVar, LoopId, PrimFunc, Range, ThreadAxis,
};
use crate::kernel::GpuTarget;
use crate::sched::rules::DeclineReason;
use crate::sched::rules::epilogue::inline_consumers;
use crate::sched::rules::pattern::{Matmul, Operand, Pattern, classify};
use crate::sched::rules::reuse::step;
use crate::sched::{Factor, InsertAt, Schedule, UnitIters};
use crate::tensor::scalar::BinOp;

/// Reduction iterations that are written out where there are no taps, the most that divide the extent: those of one 16-byte load.
const STEPS: [i64; 4] = [4, 3, 2, 1];

/// The roles of the iter variables of a convolution, as positions in `Block::iters`.
struct Convolution {
    image: Operand,
    weights: Operand,
    /// In both operands and in the result.
    outer: Vec<usize>,
    /// In the result and in the weights.
    channels: Vec<usize>,
    /// Channels also name the part of the image that they read: so many neighbours the same.
    group: Option<i64>,
    /// In the result and in the image, but for `row`.
    positions: Vec<usize>,
    /// The last index of the result.
    row: usize,
    /// Reduction iterations.
    sum: Vec<usize>,
    /// Reduction iterations along the row.
    taps: Vec<usize>,
    /// Iterations of the last loop of `sum` that are written out; 1 if there are taps.
    steps: i64,
    /// By how much the index along the row grows with the position.
    stride: i64,
    /// By how much it grows with all taps.
    reach: i64,
}

/// Loops of the update after splitting.
struct Loops {
    thread: LoopId,
    /// The outermost reduction loop, and the innermost one whose iterations are not written out.
    sum: LoopId,
    step: LoopId,
    /// The channels of a thread.
    channel: LoopId,
}

pub(super) fn apply(
    sch: &mut Schedule,
    block: BlockId,
    target: &GpuTarget,
) -> Result<(), DeclineReason> {
    let conv = Convolution::of(sch.func(), block)?;
    let loops = sch.get_loops(block)?;
    if loops.len() != sch.func().blocks[block].iters.len() {
        return Err(DeclineReason::Pattern(
            "not one loop for each iter variable",
        ));
    }
    let write_back = sch.cache_write(block, 0, "local", &[])?;
    inline_consumers(sch, write_back);
    let epilogue = Epilogue::of_write_back(sch.func(), write_back);
    let tile = WindowTile::choose(target, &conv.windows(sch.func(), block, epilogue));
    let l = split(sch, &loops, &conv, tile)?;
    sch.reverse_compute_at(write_back, l.thread, UnitIters::Simplify, InsertAt::Latest)?;
    for (operand, at) in [(&conv.image, l.step), (&conv.weights, l.channel)] {
        let copy = sch.cache_read(block, operand.read_index, "local", &[block])?;
        sch.compute_at(copy, at, UnitIters::Simplify, InsertAt::Latest)?;
        let inner = inner_loops(sch, copy, at)?;
        tile_loops(sch, &inner)?;
    }
    let written_out = inner_loops(sch, block, l.step)?;
    tile_loops(sch, &written_out)?;
    let init = sch.decompose_reduction(block, l.sum)?;
    let init_loops = inner_loops(sch, init, l.thread)?;
    tile_loops(sch, &init_loops)?;
    let back_loops = inner_loops(sch, write_back, l.thread)?;
    tile_loops(sch, &back_loops)
}

/// Whether the rule is for the block.
pub(super) fn is_convolution(func: &PrimFunc, block: BlockId) -> bool {
    Convolution::of(func, block).is_ok()
}

impl Convolution {
    fn of(func: &PrimFunc, id: BlockId) -> Result<Self, DeclineReason> {
        let Pattern::Matmul(matmul) = classify(func, id) else {
            return Err(DeclineReason::Pattern("no convolution"));
        };
        let Matmul {
            a,
            b,
            c: _,
            batch,
            m,
            n,
            k,
        } = matmul;
        let block = &func.blocks[id];
        let last = block.writes[0].region.last();
        let last = last.and_then(|range| range.min.as_var());
        let row = block.iters.iter().position(|i| Some(&i.var) == last);
        let row = row.ok_or(DeclineReason::Pattern("the result has no rows"))?;
        let (image, weights, mut positions, mut channels) = if m.contains(&row) {
            (a, b, m, n)
        } else if n.contains(&row) {
            (b, a, n, m)
        } else {
            return Err(DeclineReason::Pattern("a row is part of both operands"));
        };
        positions.retain(|&at| at != row);
        let read = &block.reads[image.read_index];
        let mut outer = batch;
        let mut group = None;
        if channels.is_empty()
            && let Some((at, size)) = grouped(block, read, &outer)
        {
            outer.retain(|&other| other != at);
            channels = vec![at];
            group = Some(size);
        }
        let runs = |at: &usize| !block.iters[*at].dom.extent.is_one();
        if !channels.iter().any(runs) || !k.iter().any(runs) {
            return Err(DeclineReason::Pattern("a product without channels or sum"));
        }
        let along = read.region.iter().map(|range| &range.min);
        let along = along.filter(|index| index.uses(&block.iters[row].var));
        let along: Vec<&Expr> = along.collect();
        let [index] = along.as_slice() else {
            return Err(DeclineReason::Pattern(
                "a row of the result is not one of the image",
            ));
        };
        // Loops of one iteration go outside: the last one is split.
        let (k, units): (Vec<usize>, Vec<usize>) = k.iter().partition(|at| runs(at));
        let (taps, sum): (Vec<usize>, Vec<usize>) =
            k.iter().partition(|&&at| index.uses(&block.iters[at].var));
        if taps.is_empty() && !positions.iter().any(runs) {
            return Err(DeclineReason::Pattern("a matmul of one row"));
        }
        let far = DeclineReason::Pattern("the index along a row is not linear");
        let by = |at: usize| step(index, &block.iters[at].var);
        let Some(stride) = by(row).filter(|&s| s > 0) else {
            return Err(far);
        };
        let reach = taps.iter().map(|&at| {
            let last = block.iters[at].dom.extent.as_int()? - 1;
            Some(by(at).filter(|&s| s > 0)? * last)
        });
        let reach = reach.sum::<Option<i64>>().ok_or(far)?;
        let steps = match (taps.as_slice(), sum.last()) {
            ([], Some(&last)) => {
                let extent = block.iters[last].dom.extent.as_int();
                let divides = |steps: &i64| extent.is_some_and(|n| n % steps == 0);
                STEPS.into_iter().find(divides).unwrap_or(1)
            }
            _ => 1,
        };
        let sum = [units, sum].concat();
        Ok(Self {
            image,
            weights,
            outer,
            channels,
            group,
            positions,
            row,
            sum,
            taps,
            steps,
            stride,
            reach,
        })
    }

    /// What the tile depends on.
    fn windows(&self, func: &PrimFunc, id: BlockId, epilogue: Epilogue) -> Windows {
        let block = &func.blocks[id];
        let iters = &block.iters;
        let pitch = |operand: &Operand| {
            let last = operand.buffer.shape().last();
            last.and_then(Expr::as_int).unwrap_or(1)
        };
        let extent = |roles: &[usize]| {
            let extents = roles.iter().map(|&at| iters[at].dom.extent.as_int());
            extents.product::<Option<i64>>()
        };
        Windows {
            channels: self.group.or_else(|| extent(&self.channels)),
            rows: extent(&self.positions),
            row: extent(&[self.row]),
            taps: extent(&self.taps).unwrap_or(1),
            steps: self.steps,
            stride: self.stride,
            reach: self.reach,
            image_pitch: pitch(&self.image),
            epilogue,
            weights_in_vectors: self.steps > 1 && {
                let region = &block.reads[self.weights.read_index].region;
                let extents = self.weights.buffer.shape().iter();
                let last = region.iter().zip(extents).rfind(|(_, n)| !n.is_one());
                let along = last.and_then(|(range, _)| range.min.as_var());
                self.sum
                    .last()
                    .is_some_and(|&k| along == Some(&iters[k].var))
            },
        }
    }
}

/// The iter variable, among these, of which only the quotient by a constant matters for what is read, and the constant.
fn grouped(block: &Block, read: &BufferRegion, among: &[usize]) -> Option<(usize, i64)> {
    among.iter().rev().find_map(|&at| {
        let iter = &block.iters[at];
        let mut indices = read.region.iter().map(|range| &range.min);
        let size = indices.find_map(|index| divisor(index, iter))?;
        let whole = size > 1 && iter.dom.extent.as_int()? % size == 0;
        (whole && same_within(read, iter, size)).then_some((at, size))
    })
}

/// A constant by which the variable is divided.
fn divisor(e: &Expr, iter: &IterVar) -> Option<i64> {
    if let ExprKind::Binary(BinOp::FloorDiv, a, b) = e.kind()
        && a.as_var() == Some(&iter.var)
    {
        return b.as_int();
    }
    e.children()
        .into_iter()
        .find_map(|child| divisor(child, iter))
}

/// Whether the same is read for so many neighbouring values of the variable.
fn same_within(read: &BufferRegion, iter: &IterVar, neighbours: i64) -> bool {
    let dtype = iter.var.dtype();
    let (outer, inner) = (iter.var.renamed("outer"), iter.var.renamed("inner"));
    let mut facts = Analyzer::new();
    facts.bind(&inner, &Range::to(Expr::int(neighbours, dtype)));
    let split = outer.expr() * Expr::int(neighbours, dtype) + inner.expr();
    read.region.iter().all(|range| {
        let index = range
            .min
            .substitute(&|v| (*v == iter.var).then(|| split.clone()));
        !facts.simplify(&index).uses(&inner)
    })
}

/// Splits, orders and binds the loops of the update.
fn split(
    sch: &mut Schedule,
    loops: &[LoopId],
    conv: &Convolution,
    tile: WindowTile,
) -> Result<Loops, DeclineReason> {
    let pick = |roles: &[usize]| roles.iter().map(|&at| loops[at]).collect::<Vec<_>>();
    let (mut outer, mut channels, mut positions) = (
        pick(&conv.outer),
        pick(&conv.channels),
        pick(&conv.positions),
    );
    let (row, sum, mut taps) = (loops[conv.row], pick(&conv.sum), pick(&conv.taps));
    if let (Some(size), &[all]) = (conv.group, channels.as_slice()) {
        let [group, within] = parts(sch, all, [Factor::Infer, size.into()])?;
        outer.push(group);
        channels = vec![within];
    }
    sch.reorder(
        &[
            outer.clone(),
            channels.clone(),
            positions.clone(),
            vec![row],
            sum.clone(),
            taps.clone(),
        ]
        .concat(),
    )?;
    let channel = fuse_loops(sch, &channels)?;
    let [co, channel] = parts(sch, channel, [Factor::Infer, tile.channels.into()])?;
    let length = sch.func().loops[row].extent.as_int();
    let [ro, piece] = parts(sch, row, [Factor::Infer, tile.piece.into()])?;
    // Where pieces pass the end of a row, the condition stays one of loops that no other condition is about.
    let whole = length.is_some_and(|n| n % tile.piece == 0);
    if whole || positions.is_empty() {
        positions.push(ro);
    } else {
        outer.push(ro);
    }
    sch.reorder(&[outer.as_slice(), &[co], &positions, &[channel, piece]].concat())?;
    let place = fuse_loops(sch, &positions)?;
    let [po, thread] = parts(sch, place, [Factor::Infer, tile.threads.into()])?;
    let mut sum = sum;
    if taps.is_empty() {
        let last = sum.pop().ok_or(DeclineReason::Pattern("no reduction"))?;
        let [steps, written_out] = parts(sch, last, [Factor::Infer, conv.steps.into()])?;
        sum.push(steps);
        taps.push(written_out);
    }
    let (Some(&first), Some(&step)) = (sum.first(), sum.last()) else {
        return Err(DeclineReason::Pattern("a sum over taps alone"));
    };
    let [vector, lane] = parts(sch, piece, [Factor::Infer, tile.lanes().into()])?;
    sch.reorder(&[sum.as_slice(), &[channel, vector], &taps, &[lane]].concat())?;
    if !outer.is_empty() {
        let outer = fuse_loops(sch, &outer)?;
        sch.bind(outer, ThreadAxis::BlockIdxZ)?;
    }
    sch.bind(co, ThreadAxis::BlockIdxY)?;
    sch.bind(po, ThreadAxis::BlockIdxX)?;
    sch.bind(thread, ThreadAxis::ThreadIdxX)?;
    Ok(Loops {
        thread,
        sum: first,
        step,
        channel,
    })
}
