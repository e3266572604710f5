//! Convolution as one product of matrices: pixels by channels, over all taps of all channels of the image (*implicit GEMM*).
//!
//! The iter variables of a convolution are joined to rows, columns and steps, and `matmul` makes tiles of these: the image becomes a
//! matrix where a tile of it is copied to shared memory, element by element with the index of the image, and nowhere else.
//! What produces the image (padding, most often) is computed in that copy. Columns are what the result is contiguous along: pixels in `NCHW`,
//! channels in `NHWC`. Steps come in the order in which the weights lie. Those of a function that are rewritten apart from its calls lie as they are copied.
//!
//! Reference: S. Chetlur et al., "cuDNN: Efficient Primitives for Deep Learning" (2014), section 3.

use super::matmul::tiles;
use super::matmul_tensorization;
use super::shared_copy::STEPS_OF_A_COPY;
use super::traits::GpuTraits;
use crate::ir::{
    Block, BlockId, Buffer, BufferRegion, Expr, IterKind, IterVar, Lambda, PrimFunc, Range,
};
use crate::kernel::GpuTarget;
use crate::sched::Schedule;
use crate::sched::rules::nest::params;
use crate::sched::rules::pattern::{Matmul, Operand, Pattern, classify};
use crate::sched::rules::{DeclineReason, Ways};
use crate::tensor::DType;

/// Fewest channels of the result, and fewest steps: with fewer, most of a tile is empty.
const FEWEST_CHANNELS: i64 = 16;
const FEWEST_STEPS: i64 = 64;

pub(super) fn apply(
    sch: &mut Schedule,
    block: BlockId,
    target: &GpuTarget,
    way: usize,
) -> Result<Ways, DeclineReason> {
    let matmul = join(sch, block, target)?;
    tiles(sch, block, matmul, target, way)
}

/// Writes a convolution as one product of matrices.
pub(super) fn join(
    sch: &mut Schedule,
    block: BlockId,
    target: &GpuTarget,
) -> Result<Matmul, DeclineReason> {
    Convolution::of(sch.func(), block, target)?.join(sch, block)
}

/// Whether the rule is for the block.
pub(super) fn takes(func: &PrimFunc, block: BlockId, target: &GpuTarget) -> bool {
    Convolution::of(func, block, target).is_ok()
}

/// The weights of a convolution and the order of their dimensions in which they lie as tiles of them are copied: taps, channels of the
/// image, channels of the result; where fragments are loaded from rows of steps, channels of the image come last. A few steps are of
/// one tap then, whose pixels are inside of the image for all of them. `None` if the weights have this order.
pub(super) fn order_of_weights(
    func: &PrimFunc,
    id: BlockId,
    target: &GpuTarget,
) -> Option<(Buffer, Vec<usize>)> {
    let convolution = Convolution::of(func, id, target).ok()?;
    let block = &func.blocks[id];
    let read = &block.reads[convolution.weights];
    let is_tap = |at: &usize| {
        let image = &block.reads[convolution.image];
        image
            .region
            .iter()
            .any(|range| is_window(block, range, *at))
    };
    let in_rows_of_steps =
        convolution.weights_are_rows && matmul_tensorization::has_fragments(func, id, target);
    let channels = if in_rows_of_steps { [2, 1] } else { [1, 2] };
    let of_image = convolution.steps.iter().filter(|at| !is_tap(at));
    let of_image = of_image.map(|&at| block.iters[at].dom.extent.as_int());
    let of_image: Option<i64> = of_image.product();
    // Of fewer, steps that are neighbours would be neither of one tap nor neighbours in the image.
    let of_one_tap = of_image.is_none_or(|channels| channels >= STEPS_OF_A_COPY);
    let rank = |range: &Range| {
        let var = range.min.as_var()?;
        let at = block.iters.iter().position(|iter| iter.var == *var)?;
        Some(match convolution.steps.contains(&at) {
            true if of_one_tap && is_tap(&at) => 0,
            true => channels[0],
            false => channels[1],
        })
    };
    let ranks: Option<Vec<usize>> = read.region.iter().map(rank).collect();
    let ranks = ranks?;
    let mut order: Vec<usize> = (0..ranks.len()).collect();
    order.sort_by_key(|&at| ranks[at]);
    (!ranks.is_sorted()).then(|| (read.buffer.clone(), order))
}

/// The roles of the iter variables of a convolution, as positions in `Block::iters`, outermost first.
struct Convolution {
    rows: Vec<usize>,
    columns: Vec<usize>,
    steps: Vec<usize>,
    /// Their positions in `Block::reads`.
    image: usize,
    weights: usize,
    /// Whether channels are the rows of the product.
    weights_are_rows: bool,
    /// The iter variables that number neighbours in memory of the operands of rows and of columns.
    contiguous: [Option<usize>; 2],
}

impl Convolution {
    fn of(func: &PrimFunc, id: BlockId, target: &GpuTarget) -> Result<Self, DeclineReason> {
        GpuTraits::need_fast_shared(target)?;
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
        let runs = |at: &usize| !block.iters[*at].dom.extent.is_one();
        if batch.iter().any(runs) {
            return Err(DeclineReason::Pattern("a grouped convolution"));
        }
        let last = last_index(block, &block.writes[0]);
        let along = |roles: &[usize]| roles.iter().any(|at| Some(*at) == last);
        let is_image = |operand: &Operand, positions: &[usize]| {
            let several = positions.iter().filter(|at| runs(at)).count() > 1;
            reads_windows(block, operand) || several && along(positions)
        };
        let ((image, positions), (weights, channels)) = match (is_image(&a, &m), is_image(&b, &n)) {
            (true, false) => ((a, m), (b, n)),
            (false, true) => ((b, n), (a, m)),
            _ => return Err(DeclineReason::Pattern("no image and weights")),
        };
        let extent = |roles: &[usize]| {
            let extents = roles.iter().map(|&at| block.iters[at].dom.extent.as_int());
            extents.product::<Option<i64>>()
        };
        let enough = |roles: &[usize], least: i64| extent(roles).is_none_or(|n| n >= least);
        if !enough(&channels, FEWEST_CHANNELS) || !enough(&k, FEWEST_STEPS) {
            return Err(DeclineReason::Pattern("few channels, or a short sum"));
        }
        let positions = in_order(block, &block.writes[0], positions);
        let channels = in_order(block, &block.writes[0], channels);
        let steps = in_order(block, &block.reads[weights.read_index], k);
        let (image_read, weights_read) = (image.read_index, weights.read_index);
        let sides = [(positions, image), (channels, weights)];
        let weights_are_rows = along(&sides[0].0);
        let [(columns, of_columns), (rows, of_rows)] = match sides {
            [a, b] if weights_are_rows => [a, b],
            [a, b] => [b, a],
        };
        let contiguous = |operand: &Operand| neighbours_of(block, &block.reads[operand.read_index]);
        Ok(Self {
            contiguous: [contiguous(&of_rows), contiguous(&of_columns)],
            rows,
            columns,
            steps,
            image: image_read,
            weights: weights_read,
            weights_are_rows,
        })
    }

    /// Writes rows, columns and steps as one iter variable each.
    fn join(&self, sch: &mut Schedule, block: BlockId) -> Result<Matmul, DeclineReason> {
        let params = params(sch.func(), block);
        let iters = &sch.func().blocks[block].iters;
        let extent = |at: usize| iters[at].dom.extent.cast(DType::I64);
        let joined = |roles: &[usize]| {
            let mut all = roles.iter();
            let first = all.next().map_or(Expr::i64(0), |&at| params[at].expr());
            all.fold(first, |joined, &at| joined * extent(at) + &params[at])
        };
        let roles = [&self.rows, &self.columns, &self.steps];
        // Those that run once and have no role number products.
        let others = (0..params.len()).filter(|at| !roles.iter().any(|role| role.contains(at)));
        let others: Vec<Expr> = others.map(|at| params[at].expr()).collect();
        let first = others.len();
        let results = others.into_iter().chain(roles.map(|role| joined(role)));
        let results = results.collect();
        sch.transform_block_layout(block, &Lambda { params, results })?;
        let Pattern::Matmul(found) = classify(sch.func(), block) else {
            return Err(DeclineReason::Pattern(
                "a convolution whose iter variables cannot be joined",
            ));
        };
        let (row, column, step) = (first, first + 1, first + 2);
        let (mut a, mut b) = match found.m.contains(&row) && found.n.contains(&column) {
            true => (found.a, found.b),
            false => (found.b, found.a),
        };
        // A joined iter variable numbers neighbours if its last part does.
        let place = |contiguous: Option<usize>| {
            let sides = roles.into_iter().zip([row, column, step]);
            let mut last = sides
                .filter(|(role, _)| contiguous.is_some() && role.last() == contiguous.as_ref());
            last.next().map(|(_, at)| at)
        };
        (a.contiguous, b.contiguous) = (place(self.contiguous[0]), place(self.contiguous[1]));
        Ok(Matmul {
            a,
            b,
            c: found.c,
            batch: (0..first).collect(),
            m: vec![row],
            n: vec![column],
            k: vec![step],
        })
    }
}

/// Whether an index of what is read moves with a position and with a step.
fn reads_windows(block: &Block, operand: &Operand) -> bool {
    let region = &block.reads[operand.read_index].region;
    let mut steps = (0..block.iters.len()).filter(|at| block.iters[*at].kind == IterKind::Reduce);
    steps.any(|step| region.iter().any(|range| is_window(block, range, step)))
}

/// Whether an index moves with this step and with a position.
fn is_window(block: &Block, range: &Range, step: usize) -> bool {
    let moves = |iter: &IterVar| !iter.dom.extent.is_one() && range.min.uses(&iter.var);
    let mut positions = block
        .iters
        .iter()
        .filter(|iter| iter.kind == IterKind::Spatial);
    moves(&block.iters[step]) && positions.any(moves)
}

/// The dimension that neighbours in memory are neighbours along: the last one that is no single element.
fn innermost(region: &BufferRegion) -> Option<&Expr> {
    let dimensions = region.region.iter().zip(region.buffer.shape());
    let mut dimensions = dimensions.rev().filter(|(_, extent)| !extent.is_one());
    dimensions.next().map(|(range, _)| &range.min)
}

/// The iter variable that is the last index.
fn last_index(block: &Block, region: &BufferRegion) -> Option<usize> {
    let var = innermost(region)?.as_var()?;
    block.iters.iter().position(|iter| iter.var == *var)
}

/// The iter variable along which the most elements of a region lie near each other: of a window, the position.
fn neighbours_of(block: &Block, region: &BufferRegion) -> Option<usize> {
    let index = innermost(region)?;
    let used = |kind| {
        let is = |iter: &IterVar| {
            iter.kind == kind && !iter.dom.extent.is_one() && index.uses(&iter.var)
        };
        block.iters.iter().position(is)
    };
    used(IterKind::Spatial).or_else(|| used(IterKind::Reduce))
}

/// Iter variables in the order of the dimensions that they are part of; those that run once come first.
fn in_order(block: &Block, region: &BufferRegion, mut roles: Vec<usize>) -> Vec<usize> {
    roles.sort_by_key(|&at| {
        let iter = &block.iters[at];
        let mut dimensions = region.region.iter();
        let at = dimensions.position(|range| range.min.uses(&iter.var));
        (!iter.dom.extent.is_one(), at)
    });
    roles
}
