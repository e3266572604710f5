//! What products cost: cycles that one core takes, by which tiles are put in order.
//!
//! The numbers of devices are those of [`GpuModel`]. What is left here was fitted to 220 products on an H200: of 256 to 4096 in each
//! direction, six tiles, and 1 to 16 slices. They come out within 6 % on average, and the tile that is chosen takes at most 9 % more
//! than the best of those. Of 104 products of `float16` on fragments the tile that is chosen takes at most 1 % more than the best.

use super::tile::{Extents, Tile};
use super::warp_tile::WarpTile;
use crate::ir::FRAGMENT_EXTENT;
use crate::kernel::{FRAGMENT_THREADS, GpuModel};

/// Penalty of small register tiles: `OPERANDS * (tm + tn)² / (tm * tn)` cycles a step of `k`.
const OPERANDS: i64 = 3;
/// Cycles from a barrier to the next beside what threads compute and copy: they wait for each other, and for what they loaded.
const BARRIERS: i64 = 400;
/// How many times longer a copy takes whose elements may be past the end (products of 1000, 16 steps between barriers: 79 us; of 1024: 69).
const GUARD: i64 = 5;
/// Registers of a thread beside its sums.
const OTHER_REGISTERS: i64 = 34;
/// Bytes of an element of an operand and of a sum.
const ELEMENT: i64 = 4;
/// Registers of a thread for a fragment of sums, and for one of an operand.
const SUMS_OF_FRAGMENT: i64 = FRAGMENT_EXTENT * FRAGMENT_EXTENT / FRAGMENT_THREADS as i64;
const REGISTERS_OF_FRAGMENT: i64 = SUMS_OF_FRAGMENT / 2;
/// Bytes of a fragment of an operand, and how often they go through the banks of shared memory.
const FRAGMENT_BYTES: i64 = 2 * FRAGMENT_EXTENT * FRAGMENT_EXTENT;
const READS_OF_FRAGMENT: i64 = 2;

/// Cycles that a product takes where its sums are cut into slices. A core runs the steps of all workgroups that it holds at once. Reads
/// of shared memory and multiplications take turns.
pub(super) fn cycles(tile: Tile, model: &GpuModel, e: &Extents, slices: i64) -> i128 {
    let fma_per_cycle = model.fma_per_cycle as i64;
    let [batch, m, n, k] = e.estimate;
    let sums = tile.tm * tile.tn;
    let threads = tile.ty * tile.tx;
    let operands = tile.tm + tile.tn;
    let work = threads * tile.bk * (sums + OPERANDS * operands * operands / sums);
    let copied = tile.bk * (tile.ty * tile.tm + tile.tx * tile.tn);
    let registers = (sums + OTHER_REGISTERS) * threads + copied;
    let launch = Launch {
        groups: i128::from(tile.blocks(m, n)) * i128::from(batch) * i128::from(slices),
        registers,
        shared_bytes: ELEMENT * copied,
    };
    let resident = launch.resident(model);
    let lanes = fma_per_cycle.min(resident * threads);
    let sides = [tile.ty * tile.tm, tile.tx * tile.tn]
        .into_iter()
        .zip(e.copy);
    let copy: i64 = sides.map(|(side, of_element)| side * of_element).sum();
    // What copies depends on what came before, and few threads hide it.
    let turns = (resident * threads / fma_per_cycle).max(4);
    let guard = match k % (slices * tile.bk) {
        0 => 1,
        _ => GUARD,
    };
    let copy = guard * copy * tile.bk / threads * turns;
    let step = resident * work / lanes + copy + BARRIERS;
    let steps = div_up(k.into(), slices * tile.bk);
    let product = launch.turns(model) * steps * i128::from(step);
    with_slices(product, model, e.estimate, slices)
}

/// The same of a product on fragments, `[batch, m, n, k]`.
pub(super) fn cycles_of_fragments(
    tile: WarpTile,
    model: &GpuModel,
    product @ [batch, m, n, k]: [i64; 4],
    slices: i64,
) -> i128 {
    let [rows, columns] = tile.extents();
    let [of_rows, of_columns] = tile.fragments;
    let threads = tile.threads();
    let copied = tile.steps * (rows + columns);
    // The operands of the next step are held two to a register.
    let registers = of_rows * of_columns * SUMS_OF_FRAGMENT
        + (of_rows + of_columns) * REGISTERS_OF_FRAGMENT
        + copied / 2 / threads
        + OTHER_REGISTERS;
    let groups = [batch, m / rows, n / columns, slices];
    let launch = Launch {
        groups: groups.into_iter().map(i128::from).product(),
        registers: registers.min(model.most_registers.into()) * threads,
        shared_bytes: tile.shared_bytes(),
    };
    let resident = launch.resident(model);
    let multiplied = rows * columns * tile.steps / model.tile_fma_per_cycle as i64;
    let subgroups = threads / i64::from(FRAGMENT_THREADS);
    let fragments = subgroups * (of_rows + of_columns) * (tile.steps / FRAGMENT_EXTENT);
    let banks = ELEMENT * i64::from(model.banks.unwrap_or(FRAGMENT_THREADS));
    let read = READS_OF_FRAGMENT * FRAGMENT_BYTES * fragments / banks;
    let copy = copied / threads * (resident * threads / model.fma_per_cycle as i64).max(1);
    let step = resident * (multiplied + read) + copy + BARRIERS;
    let steps = div_up(k.into(), slices * tile.steps);
    with_slices(
        launch.turns(model) * steps * i128::from(step),
        model,
        product,
        slices,
    )
}

/// What cores have to hold.
struct Launch {
    groups: i128,
    /// Of a workgroup.
    registers: i64,
    shared_bytes: i64,
}

impl Launch {
    fn groups_of_core(&self, model: &GpuModel) -> i128 {
        div_up(self.groups, model.cores.into())
    }

    /// Workgroups that a core runs at once.
    fn resident(&self, model: &GpuModel) -> i64 {
        let most = i64::try_from(self.groups_of_core(model)).unwrap_or(i64::MAX);
        let by_registers = i64::from(model.registers) / self.registers;
        let by_shared = model.shared_bytes / self.shared_bytes.max(1);
        by_registers.min(by_shared).clamp(1, most.max(1))
    }

    /// How often a core takes as many.
    fn turns(&self, model: &GpuModel) -> i128 {
        div_up(self.groups_of_core(model), self.resident(model))
    }
}

/// Adds what a second kernel takes to add up slices.
fn with_slices(cycles: i128, model: &GpuModel, [batch, m, n, _]: [i64; 4], slices: i64) -> i128 {
    if slices == 1 {
        return cycles;
    }
    let results = [batch, m, n, slices + 1].into_iter().map(i128::from);
    let per_cycle = model.cached_per_cycle as i64 / ELEMENT * i64::from(model.cores);
    let results = results.product::<i128>() / i128::from(per_cycle);
    // Where both take as long, one kernel is better.
    cycles + cycles / 20 + model.launch_cycles() as i128 + results
}

fn div_up(a: i128, b: i64) -> i128 {
    (a + i128::from(b) - 1) / i128::from(b)
}
