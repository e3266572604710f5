//! Attention in blocks of queries (`topi/attention/blocked`): a workgroup takes a block of queries, and its threads share the nests of it.
//!
//! A thread has a few rows and some columns of each panel, in all nests, so that scores, sums and what a row keeps stay in its registers.
//! Operands of products are in shared memory: queries, keys and values are copied there by all threads, neighbours in memory to
//! neighbours, and so are the weights, which each thread computes. Threads that share rows reduce them by shuffles.
//!
//! ```text
//! for block in blockIdx.x:
//!     for y, x in threadIdx: queries → shared
//!     for t in tiles:
//!         for y, x: keys, values → shared
//!         for y, x: scores[rows of y, columns of x] += queries[rows of y] * keys[columns of x]
//!         for y: for x: greatest[rows of y] = max(scores), by shuffles
//!         for y, x: weights[rows of y, columns of x] = exp(scores - greatest) → shared
//!         for y, x: mixed[rows of y, columns of x] = mixed * shrink + weights[rows of y] * values[columns of x]
//!     for y, x: result = mixed / total
//! ```
//!
//! Where a thread has one column of a tile, as for few queries, steps lie beside each other in shared memory: tensors are copied there as they
//! lie, in vectors, and a thread reads vectors of steps. A thread has one row then, if more would leave few threads.
//!
//! Reference: T. Dao, "FlashAttention-2: Faster Attention with Better Parallelism and Work Partitioning", 2023, section 3.3.

use super::loops::{fuse_loops, inner_loops, parts, tile_loops};
use super::shared_copy::has_whole_vectors;
use crate::ir::{BlockId, Buffer, BufferRegion, IterKind, LoopId, PrimFunc, Scope, ThreadAxis};
use crate::kernel::{BANKS, GpuModel, GpuTarget};
use crate::sched::rules::nest::{drives, fuse_all, sort_loops};
use crate::sched::rules::pattern::{Matmul, Operand, Pattern, classify, neighbours};
use crate::sched::rules::{DeclineReason, Ways};
use crate::sched::{Factor, InsertAt, Schedule, UnitIters};

/// Rows of a thread, in the order in which they are tried: the more there are, the fewer numbers of shared memory are read for each
/// multiplication, and the fewer threads a workgroup has.
const ROWS: [i64; 3] = [4, 2, 1];
/// Threads of a workgroup that hide latency: where a thread of several rows leaves fewer, it has one.
const ENOUGH: i64 = 64;
/// Threads that share a row, at most.
const MOST_SHARERS: i64 = 32;
/// Rows of a block by the threads that share one: blocks of fewer rows have as many threads.
const ROWS_BY_SHARERS: i64 = 256;
/// Threads that share a row, at least.
const LEAST_SHARERS: i64 = 8;
/// Elements of a vector.
const LANES: i64 = 4;
/// Steps of a product that are written out.
const STEPS: i64 = 4;
/// Elements beside each other that threads copy of a row which is a column of the copy. Each of them is a row of the copy there, and
/// begins [`LANES`] banks after the last.
const ALONG: i64 = BANKS / LANES;
/// Elements of a thread in a copy that is written out.
const WRITTEN_OUT: i64 = 8;
/// The same of vectors, in bytes: a quarter of the registers of a thread holds what is asked for before the first vector is there.
const BYTES_WRITTEN_OUT: i64 = 256;

pub(super) fn apply(
    sch: &mut Schedule,
    block: BlockId,
    target: &GpuTarget,
    way: usize,
) -> Result<Ways, DeclineReason> {
    let steps = steps(sch.func(), block);
    let products: Vec<BlockId> = steps
        .iter()
        .copied()
        .filter(|&step| matmul_of(sch.func(), step).is_some())
        .collect();
    let &[scores, mixed] = products.as_slice() else {
        return Err(DeclineReason::Pattern("no two products inside of a block"));
    };
    let ways = Threads::ways(sch.func(), scores, target);
    let no_way = DeclineReason::Pattern("rows that threads of the device do not divide");
    let threads = *ways.get(way).ok_or(no_way)?;
    let nest = sort_loops(sch, block)?;
    if !nest.reduce.is_empty() {
        return Err(DeclineReason::Pattern("a reduction of blocks"));
    }
    let weights = share_weights(sch, mixed, threads)?;
    let operands = Operands::of(sch.func(), [scores, mixed], threads);
    for step in steps.into_iter().chain([weights]) {
        match is_copy(sch.func(), step) {
            true => copy(sch, step, &operands, threads)?,
            false => over_threads(sch, step, threads)?,
        }
    }
    let blocks = fuse_all(sch, block, &nest.spatial)?;
    sch.bind(blocks, ThreadAxis::BlockIdxX)?;
    Ok(Ways {
        promising: ways.len(),
        all: ways.len(),
        rivals: false,
    })
}

/// The blocks in a block that hold no others, in program order.
fn steps(func: &PrimFunc, block: BlockId) -> Vec<BlockId> {
    let inside = func.blocks_under(block.into()).into_iter();
    let leaves = inside.filter(|&b| b != block && func.child_blocks(b.into()).is_empty());
    leaves.collect()
}

fn matmul_of(func: &PrimFunc, step: BlockId) -> Option<Matmul> {
    match classify(func, step) {
        Pattern::Matmul(matmul) => Some(matmul),
        _ => None,
    }
}

/// How products read what is copied for them.
struct Operands {
    /// Those of which a thread reads along a row, and threads beside each other read rows.
    across_rows: Vec<Buffer>,
    /// The values, and elements beside each other that a thread reads of them, where all is copied as it lies: other tiles lie in whole
    /// vectors.
    values: Option<(Buffer, i64)>,
}

impl Operands {
    fn of(func: &PrimFunc, [scores, mixed]: [BlockId; 2], threads: Threads) -> Self {
        let across_rows = matmul_of(func, scores).map_or(vec![], |matmul| {
            let sides = [&matmul.a, &matmul.b].into_iter();
            let rows = sides.filter(|side| runs_along_steps(side, &matmul));
            rows.map(|side| side.buffer.clone()).collect()
        });
        let values = matmul_of(func, mixed).filter(|_| !across_rows.is_empty());
        let values = values.and_then(|matmul| {
            let &column = matmul.n.last()?;
            let columns = func.blocks[mixed].iters[column].dom.extent.as_int()?;
            Some((matmul.b.buffer, columns / threads.x))
        });
        Self {
            across_rows,
            values,
        }
    }

    /// Elements of a vector in which a buffer is copied, at most: those in which it is read.
    fn lanes(&self, of: &Buffer) -> i64 {
        match &self.values {
            Some((values, columns)) if values == of => (*columns).clamp(1, LANES),
            _ => LANES,
        }
    }
}

/// Whether steps of a product lie beside each other in an operand.
fn runs_along_steps(side: &Operand, of: &Matmul) -> bool {
    side.contiguous.is_some_and(|at| of.k.contains(&at))
}

/// The threads of a workgroup.
#[derive(Clone, Copy)]
struct Threads {
    /// Those that have rows of their own, and those that share them.
    y: i64,
    x: i64,
    /// Rows of a thread.
    rows: i64,
    /// Keys of a tile.
    columns: i64,
}

impl Threads {
    /// Those that share the rows of a product, in each of the ways that the device has room for: those that fill a subgroup, if there are some.
    fn ways(func: &PrimFunc, product: BlockId, target: &GpuTarget) -> Vec<Self> {
        let extent = |at: usize| func.blocks[product].iters[at].dom.extent.as_int();
        let sides = matmul_of(func, product).and_then(|matmul| {
            match (matmul.m.as_slice(), matmul.n.as_slice()) {
                (&[row], &[.., column]) => extent(row).zip(extent(column)),
                _ => None,
            }
        });
        let Some((all, columns)) = sides.filter(|(rows, _)| *rows > 0) else {
            return vec![];
        };
        let x = (ROWS_BY_SHARERS / all).clamp(LEAST_SHARERS, MOST_SHARERS);
        let x = x.min(columns);
        let of = |rows: i64| Self {
            y: all / rows,
            x,
            rows,
            columns,
        };
        let fits = |threads: &Self| {
            threads.y * threads.rows == all && threads.y * x <= i64::from(target.max_threads)
        };
        let is_apart = |rows: &i64| *rows > 1 || all / 2 * x <= ENOUGH;
        let ways = ROWS.into_iter().filter(is_apart).map(of).filter(fits);
        let mut ways: Vec<Self> = ways.collect();
        ways.sort_by_key(|way| (ENOUGH - way.count()).max(0));
        let subgroup = i64::from(GpuModel::of_target(target).subgroup);
        let filling = ways.iter().take_while(|way| way.count() >= subgroup);
        match filling.count() {
            0 => {}
            filling => ways.truncate(filling),
        }
        ways
    }

    /// Elements between columns of weights, modulo the pitch of rows. Threads store vectors of their rows, and those that share rows store
    /// columns that follow each other: where the rows of one thread and all columns do not fill the banks, rows of several threads do.
    fn gap_of_columns(&self) -> i64 {
        self.rows * (BANKS / (self.rows * self.columns)).max(1)
    }

    /// How many they are.
    fn count(&self) -> i64 {
        self.y * self.x
    }
}

/// Copies the weights, which a product reads, to shared memory: it reads those of other threads.
fn share_weights(
    sch: &mut Schedule,
    product: BlockId,
    threads: Threads,
) -> Result<BlockId, DeclineReason> {
    let weights = matmul_of(sch.func(), product).map(|matmul| matmul.a.read_index);
    let weights = weights.ok_or(DeclineReason::Pattern("no product"))?;
    let copy = sch.cache_read(product, weights, "shared", &[product])?;
    align_rows(sch, copy, [4 * LANES, threads.gap_of_columns()])?;
    // Rows are last in memory, and first among the loops of other steps.
    let mut loops = sch.get_loops(copy)?;
    loops.rotate_right(1);
    sch.reorder(&loops)?;
    Ok(copy)
}

/// Lets rows of a copy begin in other banks: so many elements past a multiple of a factor.
fn align_rows(
    sch: &mut Schedule,
    copy: BlockId,
    [factor, offset]: [i64; 2],
) -> Result<(), DeclineReason> {
    let ndim = sch.func().blocks[copy].writes[0].buffer.ndim() as i64;
    sch.storage_align(copy, 0, ndim - 2, factor, offset)?;
    Ok(())
}

fn over_threads(sch: &mut Schedule, step: BlockId, threads: Threads) -> Result<(), DeclineReason> {
    match classify(sch.func(), step) {
        Pattern::Matmul(matmul) => product(sch, step, &matmul, threads),
        Pattern::Reduction => reduction(sch, step, threads),
        Pattern::Injective => elementwise(sch, step, threads),
        Pattern::Other => Err(DeclineReason::Pattern("a step that is no nest of its own")),
    }
}

/// Whether a step copies tensors to memory of the workgroup alone.
fn is_copy(func: &PrimFunc, step: BlockId) -> bool {
    let block = &func.blocks[step];
    let is_global = |region: &BufferRegion| *region.buffer.scope() == Scope::Global;
    let is_own = block.writes.iter().all(|region| !is_global(region));
    is_own && !block.reads.is_empty() && block.reads.iter().all(is_global)
}

/// All threads copy to shared memory.
fn copy(
    sch: &mut Schedule,
    step: BlockId,
    operands: &Operands,
    threads: Threads,
) -> Result<(), DeclineReason> {
    let copied = sch.func().blocks[step].writes[0].buffer.clone();
    sch.set_scope(step, 0, "shared")?;
    let block = &sch.func().blocks[step];
    let (read, write) = (&block.reads[0], &block.writes[0]);
    let along = neighbours(block, read).ok_or(DeclineReason::Pattern("no rows to copy"))?;
    let is_straight = neighbours(block, write) == Some(along);
    let in_vectors = is_straight && has_whole_vectors(read);
    let binding = block.bindings[along].clone();
    let mut loops = sch.get_loops(step)?;
    let is_along = |l: &LoopId| binding.as_var() == Some(&sch.func().loops[*l].var);
    let at = loops.iter().position(is_along);
    let along = loops.remove(at.ok_or(DeclineReason::Pattern("no loop along rows"))?);
    if !is_straight || operands.across_rows.contains(&copied) {
        // An odd number of vectors apart: eight rows that follow each other begin in banks of their own.
        align_rows(sch, step, [2 * LANES, LANES])?;
    }
    if is_straight {
        loops.push(along);
    } else {
        let [outer, inner] = parts(sch, along, [Factor::Infer, ALONG.into()])?;
        loops.insert(0, outer);
        loops.push(inner);
    }
    sch.reorder(&loops)?;
    let fused = fuse_loops(sch, &loops)?;
    let elements = sch.func().loops[fused].extent.as_int().unwrap_or(1);
    let all = threads.y * threads.x;
    let lanes = operands.lanes(&copied);
    let vector = if in_vectors && elements % (all * lanes) == 0 {
        lanes
    } else {
        1
    };
    let factors = [
        Factor::Infer,
        threads.y.into(),
        threads.x.into(),
        vector.into(),
    ];
    let [repeat, y, x, lanes] = parts(sch, fused, factors)?;
    sch.bind(y, ThreadAxis::ThreadIdxY)?;
    sch.bind(x, ThreadAxis::ThreadIdxX)?;
    if vector > 1 {
        sch.vectorize(lanes)?;
    }
    let most = match vector {
        1 => WRITTEN_OUT,
        _ => BYTES_WRITTEN_OUT / copied.dtype().bytes() as i64,
    };
    if elements <= most * all {
        sch.unroll(repeat)?;
    }
    Ok(())
}

/// The loops of a step, split over the threads.
struct Split {
    y: LoopId,
    rows: LoopId,
    /// Threads, panels and columns of a thread; none for a step of rows alone.
    columns: Option<[LoopId; 3]>,
    /// Steps of a product.
    steps: Vec<LoopId>,
}

impl Split {
    /// Of `[row]`, or `[row, panel, column]` and then the steps of a product.
    fn of(sch: &mut Schedule, step: BlockId, threads: Threads) -> Result<Self, DeclineReason> {
        let loops = sch.get_loops(step)?;
        let (&row, others) = loops
            .split_first()
            .ok_or(DeclineReason::Pattern("a step without rows"))?;
        let [y, rows] = parts(sch, row, [threads.y.into(), Factor::Infer])?;
        let mut split = Self {
            y,
            rows,
            columns: None,
            steps: vec![],
        };
        match *others {
            [] => {}
            [panels, column, ref steps @ ..] => {
                let [x, columns] = parts(sch, column, [threads.x.into(), Factor::Infer])?;
                split.columns = Some([x, panels, columns]);
                split.steps = steps.to_vec();
            }
            [_] => return Err(DeclineReason::Pattern("columns that are not in panels")),
        }
        Ok(split)
    }

    /// Binds the loops over threads, which are around all others.
    fn bind(&self, sch: &mut Schedule) -> Result<(), DeclineReason> {
        sch.bind(self.y, ThreadAxis::ThreadIdxY)?;
        if let Some([x, ..]) = self.columns {
            sch.bind(x, ThreadAxis::ThreadIdxX)?;
        }
        Ok(())
    }

    /// The loops of a thread over what it has, neighbours last.
    fn own(&self, func: &PrimFunc, step: BlockId) -> Vec<LoopId> {
        let Some([_, panels, columns]) = self.columns else {
            return vec![self.rows];
        };
        let block = &func.blocks[step];
        let last = neighbours(block, &block.writes[0]);
        let along_rows = last.is_some_and(|at| block.bindings[at].uses(&func.loops[self.rows].var));
        match along_rows {
            true => vec![panels, columns, self.rows],
            false => vec![panels, self.rows, columns],
        }
    }
}

fn elementwise(sch: &mut Schedule, step: BlockId, threads: Threads) -> Result<(), DeclineReason> {
    let split = Split::of(sch, step, threads)?;
    let own = split.own(sch.func(), step);
    let x = split.columns.map(|[x, ..]| x);
    let order: Vec<LoopId> = [split.y].into_iter().chain(x).chain(own.clone()).collect();
    sch.reorder(&order)?;
    split.bind(sch)?;
    if in_vectors(sch.func(), step, &own) {
        tile_loops(sch, &own)
    } else {
        own.iter().try_for_each(|&l| Ok(sch.unroll(l)?))
    }
}

/// Whether the last loop runs over neighbours that are whole vectors, without a condition on single ones.
fn in_vectors(func: &PrimFunc, step: BlockId, own: &[LoopId]) -> bool {
    let block = &func.blocks[step];
    let Some(&last) = own.last() else {
        return false;
    };
    let var = &func.loops[last].var;
    let on_single = block.predicate.uses(var);
    let write = &block.writes[0];
    let is_whole = *write.buffer.scope() != Scope::Global || has_whole_vectors(write);
    !on_single && is_whole
}

fn reduction(sch: &mut Schedule, step: BlockId, threads: Threads) -> Result<(), DeclineReason> {
    let split = Split::of(sch, step, threads)?;
    let Some([x, panels, columns]) = split.columns else {
        return Err(DeclineReason::Pattern("a reduction of no columns"));
    };
    let reduces = |&l: &LoopId| drives(sch.func(), step, l, IterKind::Reduce);
    if ![x, panels, columns].iter().all(reduces) {
        return Err(DeclineReason::Pattern("a reduction of some columns"));
    }
    sch.reorder(&[split.y, split.rows, x, panels, columns])?;
    split.bind(sch)?;
    for l in [split.rows, panels, columns] {
        sch.unroll(l)?;
    }
    Ok(())
}

/// A product: both operands are loaded to registers in vectors.
fn product(
    sch: &mut Schedule,
    step: BlockId,
    matmul: &Matmul,
    threads: Threads,
) -> Result<(), DeclineReason> {
    let split = Split::of(sch, step, threads)?;
    let Some([x, ..]) = split.columns else {
        return Err(DeclineReason::Pattern("a product of no columns"));
    };
    let own = split.own(sch.func(), step);
    sch.reorder(&[&[split.y, x], &split.steps[..], &own[..]].concat())?;
    let k = fuse_loops(sch, &split.steps)?;
    let [outer, inner] = parts(sch, k, [Factor::Infer, STEPS.into()])?;
    split.bind(sch)?;
    for operand in [&matmul.a, &matmul.b] {
        let at = match runs_along_steps(operand, matmul) {
            true => outer,
            false => inner,
        };
        let copy = sch.cache_read(step, operand.read_index, "local", &[step])?;
        sch.compute_at(copy, at, UnitIters::Simplify, InsertAt::Latest)?;
        let loops = inner_loops(sch, copy, at)?;
        tile_loops(sch, &loops)?;
    }
    sch.unroll(inner)?;
    tile_loops(sch, &own)?;
    // A loop of one panel stays around that of steps.
    let outer = inner_loops(sch, step, x)?[0];
    let init = sch.decompose_reduction(step, outer)?;
    let loops = inner_loops(sch, init, x)?;
    tile_loops(sch, &loops)
}
