//! Copies of operands of products in shared memory: what a workgroup reads of an operand between two barriers, in rows of steps, without
//! conflicts of banks, and with zeros past the end of the sum.

use super::inline::inline_into;
use super::loops::{ceil, fuse_loops, inner_loops, parts};
use super::matmul::LANES;
use super::tile::Tile;
use crate::ir::sum::Sum;
use crate::ir::{
    AttrValue, BlockId, BufferRegion, Expr, ExprKind, Lambda, LoopId, ThreadAxis, attrs,
};
use crate::kernel::BANKS;
use crate::sched::rules::DeclineReason;
use crate::sched::rules::nest::params;
use crate::sched::rules::pattern::{Matmul, Operand, neighbours};
use crate::sched::{Factor, InsertAt, Schedule, UnitIters};
use crate::tensor::scalar::BinOp;

/// Steps of `k` that threads copy beside each other, where neighbours in memory lie along `k`: the elements of `float32` of a sector.
pub(super) const STEPS_OF_A_COPY: i64 = 8;

/// The same of elements of so many bytes. Of bytes, only half of a sector: sums are multiplied in no more than 16 steps between barriers.
pub(super) fn steps_of_a_copy(bytes: i64) -> i64 {
    (STEPS_OF_A_COPY * WORD / bytes).clamp(STEPS_OF_A_COPY, 16)
}

/// Vectors, or elements, that a thread copies in a step, if they are written out.
pub(super) const MOST_COPIES: i64 = 8;

/// Bytes of a word of a bank.
const WORD: i64 = 4;

/// What a row of a copy is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RowOf {
    /// A step of the sum.
    Step,
    /// A row of `A`, or a column of `B`.
    Side,
}

/// A copy of an operand in shared memory.
pub(super) struct SharedCopy {
    pub(super) block: BlockId,
    read_index: usize,
    row_of: RowOf,
    /// The iter variables of the product that number its elements: batches, steps and the others, as positions.
    batch: Vec<usize>,
    steps: Vec<usize>,
    side: Vec<usize>,
    /// All of them, in the order of its loops.
    loops: Vec<usize>,
    /// The one that numbers neighbours in memory.
    contiguous: Option<usize>,
    /// Whether four of those are one vector of the operand.
    pub(super) in_vectors: bool,
}

impl SharedCopy {
    /// The iter variables that number its elements, in the order of its dimensions.
    fn places(&self) -> Vec<usize> {
        match self.row_of {
            RowOf::Step => [&self.batch[..], &self.steps, &self.side].concat(),
            RowOf::Side => [&self.batch[..], &self.side, &self.steps].concat(),
        }
    }

    /// The same copy where iter variables of the product have other positions.
    pub(super) fn renumbered(self, moved: impl Fn(usize) -> usize) -> Self {
        let all = |roles: Vec<usize>| roles.into_iter().map(&moved).collect();
        Self {
            batch: all(self.batch),
            steps: all(self.steps),
            side: all(self.side),
            loops: all(self.loops),
            contiguous: self.contiguous.map(&moved),
            ..self
        }
    }

    /// The dimension whose elements are rows of the tile.
    pub(super) fn row(&self) -> i64 {
        let rows = match self.row_of {
            RowOf::Step => &self.steps,
            RowOf::Side => &self.side,
        };
        (self.batch.len() + rows.len()) as i64 - 1
    }

    /// Its loops inside of another, in an order in which they run along memory, neighbours last.
    pub(super) fn along_memory(
        &self,
        sch: &mut Schedule,
        at: LoopId,
    ) -> Result<Vec<LoopId>, DeclineReason> {
        let inner = inner_loops(sch, self.block, at)?;
        let (innermost, others): (Vec<usize>, Vec<usize>) =
            (self.places().into_iter()).partition(|at| Some(*at) == self.contiguous);
        if inner.len() != self.loops.len() || innermost.is_empty() {
            return Ok(inner);
        }
        let loop_of = |at: &usize| self.loops.iter().position(|other| other == at);
        let order = others.iter().chain(&innermost).filter_map(loop_of);
        let inner: Vec<LoopId> = order.map(|at| inner[at]).collect();
        sch.reorder(&inner)?;
        Ok(inner)
    }
}

/// Copies an operand to shared memory, row by row: what threads read at once then lies side by side, whichever way the operand
/// lies. A block that produces the operand is inlined into the copy.
pub(super) fn copy_shared(
    sch: &mut Schedule,
    block: BlockId,
    operand: &Operand,
    matmul: &Matmul,
    row_of: RowOf,
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
    let mut copy = SharedCopy {
        block,
        read_index: operand.read_index,
        row_of,
        batch,
        steps,
        side,
        loops: used,
        contiguous,
        in_vectors: false,
    };
    let places = copy.places();
    let map = Lambda {
        results: places.iter().map(|at| params[*at].expr()).collect(),
        params,
    };
    copy.block = sch.reindex_cache_read(block, copy.read_index, "shared", &map)?;
    let is_computed = inline_into(sch, copy.block)?;
    copy.in_vectors = in_vectors && !is_computed;
    Ok(copy)
}

/// Makes the steps a multiple of those between two barriers: past the end of `k` the copies are 0, so that the product asks for no end
/// and stands once.
pub(super) fn pad_steps(
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
    // A part of a sum that is cut has another end.
    if sch.clone().pad_einsum(block, &padding).is_err() {
        return Ok(());
    }
    pad(sch, block, matmul, &padding, copies)
}

/// Pads the rows, columns and steps of a product, and says how many terms its sums have without padding.
pub(super) fn pad(
    sch: &mut Schedule,
    block: BlockId,
    matmul: &Matmul,
    padding: &[i64],
    copies: &mut [SharedCopy],
) -> Result<(), DeclineReason> {
    let step = matmul.k.iter().find(|&&at| padding[at] > 1);
    let terms = step.and_then(|&at| {
        let terms = sch.func().blocks[block].iters[at].dom.extent.as_int();
        terms.filter(|terms| terms % padding[at] != 0)
    });
    pad_extents(sch, block, padding, copies)?;
    if let Some(terms) = terms {
        sch.annotate(block, attrs::UNPADDED_TERMS, AttrValue::Int(terms))?;
    }
    Ok(())
}

/// Makes the extents of iter variables multiples of these numbers: copies are 0 past the ends.
pub(super) fn pad_extents(
    sch: &mut Schedule,
    block: BlockId,
    padding: &[i64],
    copies: &mut [SharedCopy],
) -> Result<(), DeclineReason> {
    sch.pad_einsum(block, padding)?;
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
pub(super) fn load_shared(
    sch: &mut Schedule,
    shared: &SharedCopy,
    matmul: &Matmul,
    at: LoopId,
    tile: Tile,
) -> Result<(), DeclineReason> {
    let (copy, contiguous) = (shared.block, shared.contiguous);
    let along_steps = contiguous.is_some_and(|at| matmul.k.contains(&at));
    let bytes = sch.func().blocks[copy].writes[0].buffer.dtype().bytes() as i64;
    let steps_of_a_copy = steps_of_a_copy(bytes);
    if along_steps && !shared.side.is_empty() {
        // Neighbours are stored to one column of the tile, beside those of the next rows, and must not meet in a bank.
        let words = BANKS / tile.bk.min(steps_of_a_copy);
        sch.storage_align(copy, 0, shared.row(), BANKS, words * (WORD / bytes).max(1))?;
    }
    sch.compute_at(copy, at, UnitIters::Preserve, InsertAt::Latest)?;
    let mut inner = shared.along_memory(sch, at)?;
    if along_steps
        && inner.len() == shared.loops.len()
        && tile.bk > steps_of_a_copy
        && tile.bk % steps_of_a_copy == 0
        && let Some(along) = inner.pop()
    {
        let [outer, neighbours] = parts(sch, along, [Factor::Infer, steps_of_a_copy.into()])?;
        inner.insert(0, outer);
        inner.push(neighbours);
        sch.reorder(&inner)?;
    }
    if !along_steps {
        go_on_in_next_bank(sch, shared, matmul, tile, &mut inner)?;
    }
    let fused = fuse_loops(sch, &inner)?;
    let elements = sch.func().loops[fused].extent.as_int();
    let threads = tile.ty * tile.tx;
    let vector = if shared.in_vectors && elements.is_some_and(|n| n % (threads * LANES) == 0) {
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
    if elements.is_some_and(|n| n <= MOST_COPIES * threads * vector) {
        sch.unroll(parts[0])?;
    }
    Ok(())
}

/// Lets threads go on with the next row, and in the next bank, where a row of the data ends before one of the tile does.
fn go_on_in_next_bank(
    sch: &mut Schedule,
    shared: &SharedCopy,
    matmul: &Matmul,
    tile: Tile,
    inner: &mut Vec<LoopId>,
) -> Result<(), DeclineReason> {
    let ([_], Some(&columns)) = (&shared.side[..], inner.last()) else {
        return Ok(());
    };
    let width = match shared.read_index == matmul.a.read_index {
        true => tile.ty * tile.tm,
        false => tile.tx * tile.tn,
    };
    let extent = sch.func().loops[columns].extent.as_int();
    let Some(extent) = extent.filter(|n| *n < width && n % BANKS != 0) else {
        return Ok(());
    };
    let whole = ceil(extent, LANES) * LANES;
    if whole > extent {
        inner.pop();
        inner.extend(parts(sch, columns, [Factor::Infer, whole.into()])?);
    }
    sch.storage_align(shared.block, 0, shared.row(), BANKS, whole % BANKS)?;
    Ok(())
}

/// Whether four neighbours along the last dimension are one vector, wherever a multiple of four begins.
pub(super) fn has_whole_vectors(region: &BufferRegion) -> bool {
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
