//! What products cost: cycles that one core takes, by which tiles are put in order.
//!
//! The numbers of devices are those of [`GpuModel`]. What is left here was measured on an H100: products of 4096, of 1024, and of
//! 128 × 768 × 3072 in 1 to 16 slices come out within a third of what they take.

use super::tile::{Extents, Tile};
use crate::kernel::GpuModel;

/// Penalty of small register tiles: `OPERANDS * (tm + tn)² / (tm * tn)` cycles a step. Products of 4096 reach 0.65 of the peak with 64
/// sums, 0.53 with 32, and about 0.3 with 16.
const OPERANDS: i64 = 9;
/// Cycles for each step of `k` between barriers: stores to shared memory, loads.
const LATENCY_OF_STEP: i64 = 12;
/// Registers of a thread beside its sums.
const OTHER_REGISTERS: i64 = 34;
/// Bytes of an element of a sum.
const ELEMENT: i64 = 4;

/// Cycles that a product takes where its sums are cut into slices. A core runs the steps of all workgroups that it holds at once; a step
/// takes at least as long as device memory to answer. Reads of shared memory and multiplications take turns.
pub(super) fn cycles(tile: Tile, model: &GpuModel, e: &Extents, slices: i64) -> i128 {
    let fma_per_cycle = model.fma_per_cycle as i64;
    let cores = i64::from(model.cores);
    let [batch, m, n, k] = e.estimate;
    let div_up = |a: i128, b: i64| (a + i128::from(b) - 1) / i128::from(b);
    let sums = tile.tm * tile.tn;
    let threads = tile.ty * tile.tx;
    let operands = tile.tm + tile.tn;
    let work = threads * tile.bk * (sums + OPERANDS * operands * operands / sums);
    let groups = i128::from(tile.blocks(m, n)) * i128::from(batch) * i128::from(slices);
    let groups = div_up(groups, cores);
    let copied = tile.bk * (tile.ty * tile.tm + tile.tx * tile.tn);
    let registers = (sums + OTHER_REGISTERS) * threads + copied;
    let most = i64::try_from(groups).unwrap_or(i64::MAX).max(1);
    let resident = (i64::from(model.registers) / registers).clamp(1, most);
    let lanes = fma_per_cycle.min(resident * threads);
    let latency = model.latency as i64 + LATENCY_OF_STEP * tile.bk;
    let sides = [tile.ty * tile.tm, tile.tx * tile.tn]
        .into_iter()
        .zip(e.copy);
    let copy: i64 = sides.map(|(side, of_element)| side * of_element).sum();
    // What copies depends on what came before, and few threads hide it.
    let turns = (resident * threads / fma_per_cycle).max(4);
    let copy = copy * tile.bk / threads * turns;
    let step = (resident * work / lanes + copy).max(latency);
    let steps = div_up(k.into(), slices * tile.bk);
    let product = div_up(groups, resident) * steps * i128::from(step);
    let results = [batch, m, n, slices + 1].into_iter().map(i128::from);
    let results =
        results.product::<i128>() / i128::from(model.cached_per_cycle as i64 / ELEMENT * cores);
    match slices {
        1 => product,
        // Where both take as long, one kernel is better.
        _ => product + product / 20 + model.launch_cycles() as i128 + results,
    }
}
