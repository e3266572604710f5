//! Minimal filtering (Winograd) in one kernel: input transform, products, output transform, each transform of [`Cases`].
//!
//! A task is some tiles of a row: their inputs are transformed in all channels, and stay in the L2 cache while one panel of results after the
//! other is multiplied and transformed back. Nothing between the steps goes through memory.

use super::cases::{Cases, picked_by_producers, split_cases, write_out};
use super::matmul::sums_of;
use super::panels::of_words;
use super::tiles::padded_tile;
use super::traits::{COLUMNS, CpuTraits};
use super::{extent, loops_inside, parallel_fused};
use crate::ir::{BlockId, LoopId};
use crate::kernel::CpuTarget;
use crate::sched::rules::DeclineReason;
use crate::sched::rules::chain::users_of;
use crate::sched::rules::nest::sort_loops;
use crate::sched::rules::pattern::{Pattern, classify};
use crate::sched::{Factor, InsertAt, Schedule, UnitIters};
use crate::tensor::DType;

/// Panels of results that are multiplied together: those of a tile of registers.
fn panels_of_results(traits: &CpuTraits) -> i64 {
    match traits.registers_of_panel(DType::F32) {
        1 => 2,
        _ => 1,
    }
}

/// Fewest tiles of a task, unless a row has fewer: each element of the weights that is loaded serves as many products.
const FEWEST_TILES: i64 = 4;

/// Tiles that are computed together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TaskTiles {
    /// How many there are.
    pub(crate) tiles: i64,
    /// How many are multiplied: whole tiles of registers, which run past the end of a row.
    pub(crate) multiplied: i64,
}

/// The tiles of a task: a divisor of the `tiles` of a row whose arrays fit the stack, `None` if there is none. A tile has `results` by
/// `results` results, by as many `points`, and is made of `channels` channels.
pub(crate) fn tiles_of_task(
    target: &CpuTarget,
    tiles: i64,
    results: i64,
    points: i64,
    channels: i64,
) -> Option<TaskTiles> {
    if tiles < 2 {
        return None;
    }
    let traits = CpuTraits::of(target);
    let panels = panels_of_results(&traits);
    // Sums run past the end of a row to that of the last tile of registers, and so do the arrays around them. At the end of a part of a
    // row, sums that fill no tile would be computed one by one.
    let multiplied = |n: i64| {
        let rows = padded_tile(&traits, DType::F32, n, panels * COLUMNS).rows;
        (n + rows - 1) / rows * rows
    };
    let columns = |n: i64| n * results + points - results;
    let of_inputs = |n: i64| points * points * n * channels + 2 * points * columns(n) * COLUMNS;
    let of_results = |n: i64| (points * points + results * points) * n * panels * COLUMNS;
    let bytes = |n: i64| 4 * (of_inputs(n) + of_results(n));
    let sizes = (FEWEST_TILES.min(tiles)..=tiles).rev();
    let mut parts = sizes.filter(|n| tiles % n == 0).map(|n| TaskTiles {
        tiles: n,
        multiplied: multiplied(n),
    });
    parts.find(|task| {
        let whole = task.tiles == tiles || task.multiplied == task.tiles;
        whole && bytes(task.multiplied) <= traits.task_bytes
    })
}

pub(super) fn apply(
    schedule: &mut Schedule,
    block: BlockId,
    target: &CpuTarget,
) -> Result<(), DeclineReason> {
    let chain = users_of(schedule, block)?;
    let func = schedule.func();
    let is_product = |b: &BlockId| of_words(func, *b).is_ok_and(|m| m.c.dtype() == DType::F32);
    let at = chain.iter().position(is_product);
    let at = at.ok_or(DeclineReason::Pattern("nothing is multiplied"))?;
    let (before, product, after) = (&chain[..at], chain[at], &chain[at + 1..]);
    let injective = |b: &BlockId| matches!(classify(func, *b), Pattern::Injective);
    if !before.iter().chain(after).all(injective) {
        return Err(DeclineReason::Pattern("several products, or other sums"));
    }
    let ([.., inputs], [results @ .., last]) = (before, after) else {
        return Err(DeclineReason::Pattern(
            "operands or products are used as they are",
        ));
    };
    let (own, of_inputs) = match (Cases::of(func, *last), Cases::of(func, *inputs)) {
        (Some(own), Some(of_inputs)) => (own, of_inputs),
        _ => return Err(DeclineReason::Pattern("there are no cases")),
    };
    let matmul = of_words(func, product)?;
    let depth: Option<i64> = matmul
        .k
        .iter()
        .map(|&k| func.blocks[product].iters[k].dom.extent.as_int())
        .product();
    let depth = depth.ok_or(DeclineReason::Pattern("open channels"))?;
    let picked = picked_by_producers(func, *last, results);

    let [results_of_tile, points] = [own.count, of_inputs.count];
    let together = |tiles| {
        let task = tiles_of_task(target, tiles, results_of_tile, points, depth);
        task.map(|task| task.tiles)
    };
    let panels = panels_of_results(&CpuTraits::of(target));
    let task = Task::of(schedule, *last, &own, &picked, &together, panels)?;
    for &block in results.iter().rev() {
        local_at(schedule, block, task.panel)?;
        write_out(schedule, block, task.panel)?;
    }
    local_at(schedule, product, task.panel)?;
    let depth = multiply(schedule, product, target, task.panel)?;
    local_at(schedule, *inputs, task.tiles)?;
    let vector = order_inputs(schedule, *inputs, &of_inputs, task.tiles)?;
    for &block in before[..before.len() - 1].iter().rev() {
        local_at(schedule, block, vector)?;
        write_out(schedule, block, vector)?;
    }
    if !parallel_fused(schedule, &task.outer) {
        schedule.parallel(task.outer[0])?;
    }
    schedule.decompose_reduction(product, depth)?;
    Ok(())
}

/// Loops of the last block.
struct Task {
    /// Those over tasks.
    outer: Vec<LoopId>,
    /// The last of them.
    tiles: LoopId,
    /// The one over panels of results.
    panel: LoopId,
}

impl Task {
    fn of(
        schedule: &mut Schedule,
        last: BlockId,
        own: &Cases,
        picked: &[Cases],
        together: &dyn Fn(i64) -> Option<i64>,
        most_panels: i64,
    ) -> Result<Self, DeclineReason> {
        let nest = sort_loops(schedule, last)?;
        let Some((&columns, others)) = nest.spatial.split_last() else {
            return Err(DeclineReason::Pattern("nothing is independent"));
        };
        let panels = split_panels(schedule, columns, most_panels)?;
        let (mut outer, mut inner, mut tiles) = (vec![], vec![], None);
        for &l in others {
            if own.are_picked_by(schedule.func(), last, l) {
                let (tile, case) = split_cases(schedule, l, own.count)?;
                tiles = tile.map(|tile| (tile, case));
            } else if let Some(of) = picked
                .iter()
                .find(|cases| cases.are_picked_by(schedule.func(), last, l))
            {
                let (tile, case) = split_cases(schedule, l, of.count)?;
                outer.extend(tile);
                inner.push(case);
            } else {
                outer.push(l);
            }
        }
        let (tile, case) = tiles.ok_or(DeclineReason::Pattern("one tile in a row"))?;
        let together = extent(schedule, tile).and_then(together);
        let together =
            together.ok_or(DeclineReason::Pattern("a row of tiles has no good parts"))?;
        let tiles = schedule.split(tile, &[Factor::Infer, together.into()])?;
        outer.push(tiles[0]);
        let (panel, vectors) = (panels[0], &panels[1..]);
        let Some((&lanes, others)) = vectors.split_last() else {
            return Err(DeclineReason::Pattern("no vectors"));
        };
        let order = [
            &outer[..],
            &[panel, tiles[1]],
            &inner,
            others,
            &[case, lanes],
        ];
        schedule.reorder(&order.concat())?;
        schedule.unroll(case)?;
        schedule.vectorize(lanes)?;
        Ok(Self {
            outer,
            tiles: tiles[0],
            panel,
        })
    }
}

/// Panels that are computed together, the panels of these, and their columns.
fn split_panels(
    schedule: &mut Schedule,
    columns: LoopId,
    most: i64,
) -> Result<Vec<LoopId>, DeclineReason> {
    let divides = extent(schedule, columns).is_some_and(|n| n % (most * COLUMNS) == 0);
    let panels = if divides { most } else { 1 };
    Ok(schedule.split(columns, &[Factor::Infer, panels.into(), COLUMNS.into()])?)
}

/// Computes a block in this loop, into an array of the thread.
fn local_at(schedule: &mut Schedule, block: BlockId, at: LoopId) -> Result<(), DeclineReason> {
    schedule.compute_at(block, at, UnitIters::Preserve, InsertAt::Latest)?;
    schedule.set_scope(block, 0, "local")?;
    Ok(())
}

/// Tiles of the product, whose sums are in registers. Gives the loop over what is summed.
fn multiply(
    schedule: &mut Schedule,
    product: BlockId,
    target: &CpuTarget,
    panel: LoopId,
) -> Result<LoopId, DeclineReason> {
    let loops = loops_inside(schedule, product, panel)?;
    let [points @ .., rows, columns, depth] = &loops[..] else {
        return Err(DeclineReason::Pattern("no matmul"));
    };
    let (Some(count), Some(width)) = (extent(schedule, *rows), extent(schedule, *columns)) else {
        return Err(DeclineReason::Pattern("tiles of an open number"));
    };
    let sums = sums_of(schedule.func(), product);
    let tile = padded_tile(&CpuTraits::of(target), sums, count, width);
    let rows = schedule.split(*rows, &[Factor::Infer, tile.rows.into()])?;
    let columns = schedule.split(
        *columns,
        &[Factor::Infer, tile.panels.into(), COLUMNS.into()],
    )?;
    let tiles = [rows[0], columns[0], *depth, rows[1], columns[1], columns[2]];
    schedule.reorder(&[points, &tiles].concat())?;
    schedule.unroll(rows[1])?;
    schedule.unroll(columns[1])?;
    schedule.vectorize(columns[2])?;
    Ok(*depth)
}

/// Orders the loops of what is multiplied: vectors of channels, tiles, and cases. Gives the loop over vectors.
fn order_inputs(
    schedule: &mut Schedule,
    inputs: BlockId,
    cases: &Cases,
    tiles: LoopId,
) -> Result<LoopId, DeclineReason> {
    let loops = loops_inside(schedule, inputs, tiles)?;
    let Some((&channels, others)) = loops.split_last() else {
        return Err(DeclineReason::Pattern("nothing is multiplied"));
    };
    let vectors = schedule.split(channels, &[Factor::Infer, COLUMNS.into()])?;
    let func = schedule.func();
    let binding = func.blocks[inputs].binding_of(&cases.var);
    let is_case = |l: &LoopId| binding.is_some_and(|binding| binding.uses(&func.loops[*l].var));
    let (case, mut around): (Vec<LoopId>, Vec<LoopId>) = others.iter().copied().partition(is_case);
    let [case] = case[..] else {
        return Err(DeclineReason::Pattern("no loop is over the cases"));
    };
    // Tiles are outside of points: a row of what a tile is made of serves all of its points.
    if let Some(row) = around.pop() {
        around.insert(0, row);
    }
    schedule.reorder(&[&vectors[..1], &around, &[case, vectors[1]]].concat())?;
    schedule.unroll(case)?;
    schedule.vectorize(vectors[1])?;
    Ok(vectors[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_parts_of_rows_that_fit() {
        let target = |f32_lanes, vector_registers| CpuTarget {
            threads: 2,
            f32_lanes,
            vector_registers,
            fma: true,
            dot_bytes: false,
        };
        let (avx2, avx512) = (target(8, 16), target(16, 32));
        let parts = |target, tiles, channels| {
            let task = tiles_of_task(target, tiles, 4, 6, channels)?;
            Some((task.tiles, task.multiplied))
        };
        // Seven tiles fill a tile of seven rows. Two tiles of four rows run past the end of seven in a row, and not past half of fourteen.
        assert_eq!(parts(&avx512, 14, 64), Some((7, 7)));
        assert_eq!(parts(&avx2, 7, 64), Some((7, 8)));
        assert_eq!(parts(&avx2, 14, 64), None);
        assert_eq!(parts(&avx2, 28, 32), Some((4, 4)));
        // Two tiles of five rows.
        assert_eq!(parts(&avx512, 9, 64), Some((9, 10)));
        assert_eq!(parts(&avx512, 13, 128), None);
        assert_eq!(parts(&avx512, 4, 64), Some((4, 4)));
        for tiles in [0, 1] {
            assert_eq!(parts(&avx512, tiles, 64), None);
        }
        assert_eq!(parts(&avx512, 14, 4096), None);
    }
}
