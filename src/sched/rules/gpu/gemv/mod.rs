//! Products of few rows: each weight is read once, so memory bounds them, and no tile would keep more than a few cores busy.
//!
//! A workgroup takes few columns, and its threads share the steps of `k` for them: *sharers*. A thread keeps sums of all rows in
//! registers. Neighbouring threads read neighbouring weights: of `B[k, n]` vectors of columns, of `B[n, k]` vectors of steps. The
//! partial sums meet in shared memory once, where each thread adds those of one result and applies the epilogue.
//!
//! References: TVM dlight `GEMV` and `LowBatchGEMV`; their `rfactor` over threads is one over an array here, since lowering combines the
//! results of a thread one after the other.

mod load;
mod packed;
mod pad;
mod share;

use self::load::{keep_sources, load};
use self::packed::Packed;
use self::pad::{Padded, pad_rows, pad_steps};
use self::share::Share;
use crate::ir::{
    Block, BlockId, BufferRegion, IterKind, IterVar, LoopId, PrimFunc, Range, ThreadAxis,
};
use crate::kernel::{BANKS, GpuTarget};
use crate::sched::rules::DeclineReason;
use crate::sched::rules::epilogue::inline_consumers;
use crate::sched::rules::gpu::loops::{fuse_loops, inner_loops, parts, tile_loops};
use crate::sched::rules::gpu::split_k;
use crate::sched::rules::gpu::traits::GpuTraits;
use crate::sched::rules::pattern::{Matmul, Pattern, classify, neighbours};
use crate::sched::{Factor, InsertAt, Schedule, UnitIters};

/// Most rows: each thread has a sum of each for each of its columns.
const MOST_ROWS: i64 = 8;

/// Elements of one 16-byte load of `f32`.
const LANES: i64 = 4;

/// Steps that a thread takes one after the other of weights that are packed along the columns.
const RUN: i64 = 16;

/// Most rows whose elements are read in runs, a vector at a time (`weftile explain`, 4096 × 4096 by `int4` on a GeForce RTX 4070: one row waits
/// 21 us for memory either way and 10 us for the rows; eight rows wait 77 us for them, in runs of one vector 39 us).
const ROWS_OF_RUNS: i64 = 2;

/// The roles of the iter variables, as positions in `Block::iters`.
struct Product {
    /// Positions in `Block::reads` of the operand with few rows and of the weights.
    rows_read: usize,
    weights_read: usize,
    /// Those that run once, and those that number the products.
    outer: Vec<usize>,
    rows: Vec<usize>,
    column: usize,
    step: usize,
    /// Whether neighbours in memory of the weights are neighbours along the step.
    along_steps: bool,
    /// Neighbours along the step that a thread loads at once, and neighbouring columns.
    steps: i64,
    columns: i64,
    /// Neighbours along the step that a thread takes before it goes on to its next ones. Of weights that are unpacked there are as many as
    /// one load brings along the step, or [`RUN`]: the scale of a block is loaded once for them.
    run: i64,
}

pub(super) fn apply(
    sch: &mut Schedule,
    block: BlockId,
    target: &GpuTarget,
) -> Result<(), DeclineReason> {
    GpuTraits::need_fast_shared(target)?;
    let padded = pad_rows(sch, block)?;
    let product = Product::of(sch.func(), block)?;
    let share = product.share(&sch.func().blocks[block], target)?;
    let split = product.slices(&sch.func().blocks[block], share, target);
    // The second kernel would add up rows that nobody stores.
    let split = split.filter(|_| padded == Padded::No);
    let partly = split.and_then(|slices| {
        let mut attempt = sch.clone();
        let block = split_k::split(&mut attempt, block, product.step, slices, target).ok()?;
        let product = Product::of(attempt.func(), block).ok()?;
        product
            .schedule(&mut attempt, block, Padded::No, target)
            .ok()?;
        Some(attempt)
    });
    match partly {
        Some(partly) => *sch = partly,
        None => product.schedule(sch, block, padded, target)?,
    }
    Ok(())
}

/// Whether the rule takes a block.
pub(super) fn takes(func: &PrimFunc, block: BlockId) -> bool {
    Product::of(func, block).is_ok()
}

impl Product {
    /// Shares the product among workgroups and threads.
    fn schedule(
        &self,
        sch: &mut Schedule,
        block: BlockId,
        padded: Padded,
        target: &GpuTarget,
    ) -> Result<(), DeclineReason> {
        let share = self.share(&sch.func().blocks[block], target)?;
        pad_steps(sch, block, self, share)?;
        let loops = sch.get_loops(block)?;
        let pick = |at: &[usize]| at.iter().map(|&at| loops[at]).collect::<Vec<_>>();
        let (outer, rows) = (pick(&self.outer), pick(&self.rows));
        let (column, step) = (loops[self.column], loops[self.step]);
        sch.reorder(&[&outer[..], &[column], &rows, &[step]].concat())?;
        if !outer.is_empty() {
            let outer = fuse_loops(sch, &outer)?;
            sch.bind(outer, ThreadAxis::BlockIdxZ)?;
        }
        let [group, columns] = parts(sch, column, [Factor::Infer, share.columns.into()])?;
        let in_run = (self.run / self.steps).into();
        let factors = [
            Factor::Infer,
            share.sharers.into(),
            in_run,
            self.steps.into(),
        ];
        let sharer = match self.run > self.steps {
            true => parts(sch, step, factors)?[1],
            false => parts(sch, step, [factors[0], factors[1], factors[3]])?[1],
        };
        let axis = self.sharer_axis(&sch.func().blocks[block], share);
        let partial = sch.rfactor(sharer, axis as i64)?;
        let write_back = match padded {
            Padded::No => sch.cache_write(block, 0, "local", &[])?,
            // The block that copies the rows that are there.
            Padded::Rows => {
                sch.set_scope(block, 0, "local")?;
                let copies = sch.get_consumers(block)?;
                let copy = copies.first().copied();
                copy.ok_or(DeclineReason::Pattern("padded rows that nobody reads"))?
            }
        };
        inline_consumers(sch, write_back);
        sch.bind(group, ThreadAxis::BlockIdxX)?;
        sch.compute_at(partial, group, UnitIters::Preserve, InsertAt::Latest)?;
        self.add_partly(sch, partial, group, share, axis)?;
        let results = [&rows[..], &[columns]].concat();
        sch.reorder(&[&results[..], &[sharer]].concat())?;
        let results = fuse_loops(sch, &results)?;
        let x = share.threads / share.adders();
        let [_, x] = parts(sch, results, [Factor::Infer, x.into()])?;
        sch.bind(x, ThreadAxis::ThreadIdxX)?;
        sch.reverse_compute_at(write_back, x, UnitIters::Simplify, InsertAt::Latest)?;
        if share.adders() > 1 {
            let [sums, adder] = parts(sch, sharer, [Factor::Infer, share.adders().into()])?;
            sch.bind(adder, ThreadAxis::ThreadIdxY)?;
            sch.unroll(sums)?;
        } else {
            sch.unroll(sharer)?;
            sch.decompose_reduction(block, sharer)?;
        }
        Ok(())
    }
}

impl Product {
    fn of(func: &PrimFunc, id: BlockId) -> Result<Self, DeclineReason> {
        let Pattern::Matmul(matmul) = classify(func, id) else {
            return Err(DeclineReason::Pattern("no matmul"));
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
        let loops = func.loops_above(id.into());
        if loops.len() != block.iters.len() {
            return Err(DeclineReason::Pattern(
                "not one loop for each iter variable",
            ));
        }
        let extent = |at: usize| block.iters[at].dom.extent.as_int();
        let runs = |at: &usize| extent(*at) != Some(1);
        let is_few = |roles: &[usize]| {
            let rows = roles.iter().map(|&at| extent(at));
            let rows = rows.product::<Option<i64>>();
            rows.is_some_and(|rows| (1..=MOST_ROWS).contains(&rows))
        };
        let (vector, weights, rows, columns) = match (is_few(&m), is_few(&n)) {
            (true, false) => (a, b, m, n),
            (false, true) => (b, a, n, m),
            _ => return Err(DeclineReason::Pattern("not few rows by many columns")),
        };
        let operands = [&vector, &weights].map(|operand| &block.reads[operand.read_index]);
        let is_matrix = |region: &&BufferRegion| {
            let mut indices = region.region.iter().map(|range| &range.min);
            indices.all(|index| {
                let used = (0..block.iters.len()).filter(|at| {
                    runs(at) && !batch.contains(at) && index.uses(&block.iters[*at].var)
                });
                used.count() <= 1
            })
        };
        if !operands.iter().all(is_matrix) {
            return Err(DeclineReason::Pattern("operands are read through windows"));
        }
        let one = |roles: &[usize]| match roles.iter().copied().filter(runs).collect::<Vec<_>>()[..]
        {
            [one] => Ok(one),
            _ => Err(DeclineReason::Pattern(
                "columns or steps are not one iter variable",
            )),
        };
        let (column, step) = (one(&columns)?, one(&k)?);
        let rows: Vec<usize> = rows.into_iter().filter(runs).collect();
        if rows.len() > 1 {
            return Err(DeclineReason::Pattern("rows of several dimensions"));
        }
        let outer =
            (0..block.iters.len()).filter(|at| ![column, step].contains(at) && !rows.contains(at));
        let outer: Vec<usize> = outer.collect();
        debug_assert!(outer.iter().all(|at| !runs(at) || batch.contains(at)));
        let along = operands.map(|region| neighbours(block, region));
        let packed = Packed::of(func, id, operands[1]);
        let along_steps = match packed.map_or(along[1], |packed| Some(packed.along)) {
            Some(at) if at == step => true,
            Some(at) if at == column => false,
            _ => return Err(DeclineReason::Pattern("neighbouring weights are of no use")),
        };
        let last = block.writes[0].region.iter().rev();
        let mut last = last.filter_map(|range| range.min.as_var());
        let is_running = |var: &&crate::ir::Var| {
            block
                .iters
                .iter()
                .any(|i| i.var == **var && !i.dom.extent.is_one())
        };
        if last.find(|var| is_running(var)) != Some(&block.iters[column].var) {
            return Err(DeclineReason::Pattern("columns are not contiguous"));
        }
        let in_vectors = |at: usize| match extent(at).is_some_and(|n| n % LANES == 0) {
            true => LANES,
            false => 1,
        };
        let few_sums = |rows: &[usize]| {
            let all = rows.iter().map(|&at| extent(at)).product::<Option<i64>>();
            all.is_some_and(|rows| rows <= ROWS_OF_RUNS)
        };
        let steps = match along[0] == Some(step) {
            true => in_vectors(step),
            false => 1,
        };
        let run = match packed {
            // Threads read pieces of each row that lie a run apart, so that sectors are read twice: more rows than two then cost more than the
            // words of the weight.
            Some(packed) if along_steps && few_sums(&rows) => packed.of_load,
            Some(_) if !along_steps => RUN,
            _ => steps,
        };
        // A short sum is shared all the same.
        let is_long = |run: &i64| extent(step).is_none_or(|all| all / run >= 2 * LANES);
        let runs = std::iter::successors(Some(run.max(steps)), |run| Some(run / 2));
        let mut runs = runs.take_while(|run| *run > steps);
        let run = runs.find(is_long).unwrap_or(steps);
        Ok(Self {
            rows_read: vector.read_index,
            weights_read: weights.read_index,
            outer,
            rows,
            column,
            step,
            along_steps,
            steps,
            run,
            columns: match along_steps {
                true => 1,
                false => in_vectors(column),
            },
        })
    }

    /// The dimension of the partial sums that numbers the sharers: it comes behind the columns where threads of a subgroup share one.
    fn sharer_axis(&self, block: &Block, share: Share) -> usize {
        let region = &block.writes[0].region;
        let column = &block.iters[self.column].var;
        let column = |range: &Range| range.min.as_var() == Some(column);
        region.iter().position(column).unwrap_or(0) + usize::from(self.sharers_last(share))
    }

    fn sharers_last(&self, share: Share) -> bool {
        self.along_steps && share.sharers % BANKS == 0
    }

    /// Each thread adds up its steps in registers, and stores the sums to shared memory.
    fn add_partly(
        &self,
        sch: &mut Schedule,
        partial: BlockId,
        group: LoopId,
        share: Share,
        axis: usize,
    ) -> Result<(), DeclineReason> {
        let loops = inner_loops(sch, partial, group)?;
        let info = &sch.func().blocks[partial];
        let running = |iter: &&IterVar| iter.kind == IterKind::Reduce && !iter.dom.extent.is_one();
        let of_steps = info.iters.iter().filter(running).count();
        let [in_run, in_lanes] = [self.run > self.steps, self.steps > 1].map(usize::from);
        let expected = 1 + in_run + in_lanes;
        if loops.len() != info.iters.len() || of_steps != expected {
            return Err(DeclineReason::Pattern("partial sums of other loops"));
        }
        // The sharer comes first, and the step has become one iter variable for each of its loops.
        let moved = |at: usize| at + 1 + usize::from(at > self.step) * (expected - 1);
        let (sharer, column) = (loops[0], loops[moved(self.column)]);
        let rows: Vec<LoopId> = self.rows.iter().map(|&at| loops[moved(at)]).collect();
        let step = loops[self.step + 1];
        let part = (in_run > 0).then(|| loops[self.step + 2]);
        let lane = (in_lanes > 0).then(|| loops[self.step + 2 + in_run]);
        let of_run = part.into_iter().chain(lane).collect::<Vec<_>>();
        let all = [&[sharer, column, step], &rows[..], &of_run].concat();
        let of_thread = match self.columns {
            1 => vec![],
            lanes => parts(sch, column, [Factor::Infer, lanes.into()])?.to_vec(),
        };
        let (column, lanes) = match of_thread[..] {
            [column, lanes] => (column, Some(lanes)),
            _ => (column, None),
        };
        let threads = match self.along_steps {
            true => [column, sharer],
            false => [sharer, column],
        };
        let inside: Vec<LoopId> = lane.into_iter().chain(rows).chain(lanes).collect();
        let own = [&threads[..], &[step], part.as_slice(), &inside].concat();
        let at = part.unwrap_or(step);
        let once = loops.iter().filter(|l| !all.contains(l)).copied();
        sch.reorder(&once.chain(own).collect::<Vec<_>>())?;
        sch.set_scope(partial, 0, "shared")?;
        let write_back = sch.cache_write(partial, 0, "local", &[])?;
        self.align(sch, write_back, axis as i64, share)?;
        let mut thread = fuse_loops(sch, &threads)?;
        if share.adders() > 1 {
            let [y, x] = parts(sch, thread, [share.adders().into(), Factor::Infer])?;
            sch.bind(y, ThreadAxis::ThreadIdxY)?;
            thread = x;
        }
        sch.bind(thread, ThreadAxis::ThreadIdxX)?;
        sch.reverse_compute_at(write_back, thread, UnitIters::Simplify, InsertAt::Latest)?;
        let stored = inner_loops(sch, write_back, thread)?;
        self.write_out(sch, &stored, self.columns > 1)?;
        for (read, in_vectors) in [
            (self.rows_read, self.steps > 1),
            (
                self.weights_read,
                self.steps > 1 && self.along_steps || self.columns > 1,
            ),
        ] {
            let last = (read == self.weights_read && !self.along_steps).then(|| moved(self.column));
            let copy = load(sch, partial, read, last)?;
            sch.compute_at(copy, at, UnitIters::Simplify, InsertAt::Latest)?;
            if part.is_some() && read == self.weights_read {
                keep_sources(sch, copy, step)?;
            }
            let mut inner = inner_loops(sch, copy, at)?;
            // Loops come in the order of the iter variables; neighbours in memory are to come last.
            if last.is_some() && self.columns > 1 && self.column < self.step && inner.len() == 2 {
                inner.reverse();
                sch.reorder(&inner)?;
            }
            self.write_out(sch, &inner, in_vectors)?;
        }
        let inner = inner_loops(sch, partial, at)?;
        self.write_out(sch, &inner, self.columns > 1)?;
        if let Some(part) = part {
            sch.unroll(part)?;
        }
        let init = sch.decompose_reduction(partial, step)?;
        let inner = inner_loops(sch, init, thread)?;
        self.write_out(sch, &inner, self.columns > 1)
    }

    /// Rows of partial sums begin in other banks where the threads that add them read several at once.
    fn align(
        &self,
        sch: &mut Schedule,
        stored: BlockId,
        axis: i64,
        share: Share,
    ) -> Result<(), DeclineReason> {
        // Adders of one result read side by side, then come those of the next result.
        let side_by_side = (BANKS / share.results).max(1);
        if self.sharers_last(share) {
            sch.storage_align(stored, 0, axis - 1, BANKS, side_by_side)?;
        } else if self.along_steps {
            // A subgroup stores the sums of several columns.
            sch.storage_align(stored, 0, axis, BANKS, (BANKS / share.sharers).max(1))?;
        } else if !self.rows.is_empty() && axis > 0 && share.columns < BANKS {
            let row = share.columns * side_by_side;
            sch.storage_align(stored, 0, axis - 1, BANKS, row)?;
        }
        Ok(())
    }

    /// Writes loops of a thread out; the last one is a vector where neighbours are.
    fn write_out(
        &self,
        sch: &mut Schedule,
        loops: &[LoopId],
        in_vectors: bool,
    ) -> Result<(), DeclineReason> {
        if in_vectors {
            return tile_loops(sch, loops);
        }
        for &l in loops {
            sch.unroll(l)?;
        }
        Ok(())
    }
}
