//! Reductions other than matmul. Along the last axis each result is a sum of neighbours, on vectors with several
//! accumulators; along another axis, or in windows that `windows` declines, the vectors are those of neighbouring results.

use super::elementwise::vector_lanes;
use super::terms::in_memory_order;
use super::traits::CpuTraits;
use super::{MOST_TAPS, add_on_vectors, are_constant, extent, parallel_fused};
use crate::ir::{BlockId, Buffer, Expr, ExprKind, LoopId, Place, PrimFunc, Stmt, Var};
use crate::kernel::CpuTarget;
use crate::sched::rules::DeclineReason;
use crate::sched::rules::epilogue::{with_epilogue, write_backs};
use crate::sched::rules::nest::{Nest, sort_loops};
use crate::sched::rules::pattern::{reduces, results_of_reduction};
use crate::sched::rules::reuse::step;
use crate::sched::{Factor, InsertAt, Schedule, UnitIters};
use crate::tensor::scalar::BinOp;

pub(super) fn apply(
    schedule: &mut Schedule,
    block: BlockId,
    target: &CpuTarget,
) -> Result<(), DeclineReason> {
    if !reduces(schedule.func(), block) {
        return Err(DeclineReason::Pattern("not a reduction"));
    }
    let nest = sort_loops(schedule, block)?;
    let Some(&last) = nest.spatial.last() else {
        return along_terms(schedule, block, &nest);
    };
    let one = schedule.func().loops[last].extent.is_one();
    if one || !in_steps(schedule.func(), block, last) {
        if chooses_several(schedule.func(), block) {
            for copy in write_backs(schedule, block)? {
                schedule.reverse_compute_at(copy, last, UnitIters::Simplify, InsertAt::Latest)?;
            }
        }
        return along_terms(schedule, block, &nest);
    }
    let mut fused = schedule.clone();
    if along_results(&mut fused, block, &nest, target, Epilogue::Inlined).is_ok() {
        *schedule = fused;
        return Ok(());
    }
    along_results(schedule, block, &nest, target, Epilogue::Apart)
}

/// Whether a block reduces several elements at once, as the index and the value of an argmax.
fn chooses_several(func: &PrimFunc, block: BlockId) -> bool {
    results_of_reduction(func, block).is_some_and(|results| results > 1)
}

/// Where what follows the reduction is computed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Epilogue {
    /// Where the sums, kept in an array of the thread, are written back.
    Inlined,
    /// By a kernel of its own, or there is nothing.
    Apart,
}

/// Vectors of the terms of one result.
pub(super) fn along_terms(
    schedule: &mut Schedule,
    block: BlockId,
    nest: &Nest,
) -> Result<(), DeclineReason> {
    if nest.reduce.is_empty() {
        return Err(DeclineReason::Pattern("nothing is reduced"));
    }
    if !nest.spatial.is_empty() {
        spread(schedule, &nest.spatial)?;
    }
    let reduce = in_memory_order(schedule, block, &nest.reduce);
    add_on_vectors(schedule, &reduce)?;
    schedule.decompose_reduction(block, reduce[0])?;
    Ok(())
}

/// Vectors of neighbouring results, each over all terms. Windows of few terms are written out.
pub(super) fn along_results(
    schedule: &mut Schedule,
    block: BlockId,
    nest: &Nest,
    target: &CpuTarget,
    epilogue: Epilogue,
) -> Result<(), DeclineReason> {
    let Some((&last, outer)) = nest.spatial.split_last() else {
        return Err(DeclineReason::Pattern("one result"));
    };
    let several = chooses_several(schedule.func(), block);
    let write_backs = match epilogue {
        Epilogue::Inlined if several => write_backs(schedule, block)?,
        Epilogue::Inlined => {
            let nothing = DeclineReason::Pattern("nothing follows");
            vec![with_epilogue(schedule, block)?.ok_or(nothing)?]
        }
        Epilogue::Apart => vec![],
    };
    let width = columns_at_once(schedule, block, nest, target);
    let columns = schedule.split(last, &[Factor::Infer, width.into()])?;
    let order: Vec<LoopId> = nest.reduce.iter().copied().chain([columns[1]]).collect();
    schedule.reorder(&order)?;
    for copy in write_backs {
        schedule.reverse_compute_at(copy, columns[0], UnitIters::Preserve, InsertAt::Latest)?;
        let loops = schedule.get_loops(copy)?;
        if let Some(&elements) = loops.last() {
            schedule.vectorize(elements)?;
        }
    }
    let outer: Vec<LoopId> = outer.iter().copied().chain([columns[0]]).collect();
    spread(schedule, &outer)?;
    schedule.vectorize(columns[1])?;
    if let [_, .., taps] = nest.reduce[..]
        && schedule.func().loops[taps]
            .extent
            .as_int()
            .is_some_and(|taps| taps <= MOST_TAPS)
    {
        schedule.unroll(taps)?;
    }
    schedule.decompose_reduction(block, nest.reduce[0])?;
    Ok(())
}

/// Terms from which on a loop over them pays for a wide body.
const MANY_TERMS: i64 = 8;

/// Columns that a thread reduces at once. Of many terms these fill half of the vector registers, as long as each thread has several
/// parts. Several lines of a row are then read one after the other.
fn columns_at_once(schedule: &Schedule, block: BlockId, nest: &Nest, target: &CpuTarget) -> i64 {
    let func = schedule.func();
    let Some((&last, outer)) = nest.spatial.split_last() else {
        return 1;
    };
    let vector = lanes(schedule, block, last);
    let product = |loops: &[LoopId]| -> Option<i64> {
        let extents = loops.iter().map(|&l| extent(schedule, l));
        extents.product()
    };
    let few_terms = product(&nest.reduce).is_some_and(|terms| terms < MANY_TERMS);
    let (Some(columns), false) = (extent(schedule, last), few_terms) else {
        return vector;
    };
    let whole_row = steps(func, block, last).is_some_and(|steps| steps.are_neighbours_in_rows());
    if chooses_several(func, block) || !whole_row {
        return vector;
    }
    let rows = product(outer).unwrap_or(1);
    let traits = CpuTraits::of(target);
    let of_register = target.lanes(func.blocks[block].writes[0].buffer.dtype());
    let most = traits.sums() * of_register;
    let mut width = vector;
    while width * 2 <= most
        && columns % (width * 2) == 0
        && rows * (columns / (width * 2)) >= traits.parts()
    {
        width *= 2;
    }
    width
}

/// Results of a vector: all of a cache line, unless fewer leave no rest.
fn lanes(schedule: &Schedule, block: BlockId, last: LoopId) -> i64 {
    let most = vector_lanes(schedule.func(), block);
    let even = schedule.func().loops[last]
        .extent
        .as_int()
        .and_then(|count| {
            let sizes = [most, most / 2, most / 4];
            sizes
                .into_iter()
                .find(|lanes| *lanes > 1 && count % lanes == 0)
        });
    even.unwrap_or(most)
}

/// All loops over the threads, or only the first one where they cannot be fused or are symbolic (see `matmul::spread`).
fn spread(schedule: &mut Schedule, loops: &[LoopId]) -> Result<(), DeclineReason> {
    if !are_constant(schedule, loops) || !parallel_fused(schedule, loops) {
        schedule.parallel(loops[0])?;
    }
    Ok(())
}

/// Whether neighbouring iterations of the loop read and write neighbouring elements.
pub(super) fn neighbours(func: &PrimFunc, block: BlockId, l: LoopId) -> bool {
    steps(func, block, l).is_some_and(|steps| steps.loads.iter().all(|&step| step <= 1))
}

/// Whether neighbouring iterations of the loop write neighbouring elements, and read elements that are so many apart in a row: a
/// window slides over it.
pub(super) fn in_steps(func: &PrimFunc, block: BlockId, l: LoopId) -> bool {
    steps(func, block, l).is_some()
}

/// By how much the last index of each load grows from one iteration of a loop to the next.
pub(super) struct Steps {
    loads: Vec<i64>,
    /// Whether some load is the same for the results of a vector, and another one for those of the next.
    in_groups: bool,
}

impl Steps {
    /// The largest step of a load.
    pub(super) fn widest(&self) -> i64 {
        self.loads.iter().copied().max().unwrap_or(0)
    }

    /// Whether neighbours are read all along a row, and not in groups of vectors.
    fn are_neighbours_in_rows(&self) -> bool {
        !self.in_groups && self.loads.iter().all(|&step| step <= 1)
    }
}

/// The steps, if the loop moves nothing but last indices, the store's by 1.
pub(super) fn steps(func: &PrimFunc, block: BlockId, l: LoopId) -> Option<Steps> {
    let info = &func.blocks[block];
    let var = &func.loops[l].var;
    let bound = info.iters.iter().zip(&info.bindings);
    let iters: Vec<&Var> = bound
        .filter(|(_, binding)| binding.uses(var))
        .map(|(iter, _)| &iter.var)
        .collect();
    let [iter] = iters[..] else {
        return None;
    };
    let lanes = vector_lanes(func, block);
    let in_row = |buffer: &Buffer, indices: &[Expr]| {
        // Axes of one element after it do not keep neighbours apart.
        let extents = buffer.shape().iter().rev();
        let ones = extents.take_while(|extent| extent.is_one()).count();
        let indices = &indices[..indices.len().saturating_sub(ones)];
        let moves = |index: &Expr| whole_vectors(index, iter, lanes).uses(iter);
        match indices.split_last() {
            Some((last, others)) if !others.iter().any(moves) => {
                if moves(last) {
                    step(last, iter).filter(|&step| step >= 1)
                } else {
                    Some(0)
                }
            }
            Some(_) => None,
            None => Some(0),
        }
    };
    let (mut loads, mut fits, mut in_groups) = (vec![], true, false);
    for e in named_and_stored(
        func.tree.body(Place::Block(block)),
        &mut |buffer, indices| {
            fits &= in_row(buffer, indices) == Some(1);
        },
    )? {
        e.walk(&mut |e| {
            if let ExprKind::Load(buffer, indices) = e.kind() {
                match in_row(buffer, indices) {
                    Some(step) => {
                        in_groups |= step == 0 && indices.iter().any(|index| index.uses(iter));
                        loads.push(step);
                    }
                    None => fits = false,
                }
            }
            fits
        });
    }
    fits.then_some(Steps { loads, in_groups })
}

/// An index without the quotients of a variable by multiples of so many lanes, which are the same in all lanes of a vector, as the first
/// channel of a group is for channels of the result.
fn whole_vectors(index: &Expr, iter: &Var, lanes: i64) -> Expr {
    index.rewrite_bottom_up(&mut |e| match e.kind() {
        ExprKind::Binary(BinOp::FloorDiv, of, by)
            if of.as_var() == Some(iter) && by.as_int().is_some_and(|by| by % lanes == 0) =>
        {
            Expr::int(0, e.dtype())
        }
        _ => e.clone(),
    })
}

/// The values of a body of names and stores. `store` gets the buffer and the indices of each store.
fn named_and_stored<'s>(
    body: &'s [Stmt],
    store: &mut dyn FnMut(&Buffer, &[Expr]),
) -> Option<Vec<&'s Expr>> {
    let mut values = vec![];
    for stmt in body {
        match stmt {
            Stmt::Store {
                buffer,
                indices,
                value,
            } => {
                store(buffer, indices);
                values.push(value);
            }
            Stmt::Let {
                var: _,
                value,
                body,
            } => {
                values.push(value);
                values.extend(named_and_stored(body, store)?);
            }
            _ => return None,
        }
    }
    Some(values)
}
