//! What products cost: counts of the kernels that a tile would give, from which [`Counts::predict`] makes a time.
//!
//! Nothing is scheduled for it, so these are estimates: what never decides between tiles is left out, as what is stored to shared memory. The
//! best few are built, counted and predicted by the same formula ([`choose`](crate::sched::rules::choose)).

use super::memory_threads;
use super::tile::{Extents, Tile};
use super::traits::GpuTraits;
use super::warp_tile::{Fragmented, WarpTile};
use crate::kernel::{Counts, FRAGMENT_THREADS, GpuModel, GpuTarget, SECTOR_BYTES};

/// What slices may save at most where whole sums are taken instead: slices are in memory for a while.
const SLICED: f64 = 1.02;
/// Registers of a thread beside its sums, what it multiplies and what it copies.
const OTHER_REGISTERS: i64 = 18;
/// Bytes of an element of `float32`.
const ELEMENT: i64 = 4;
/// Elements that rows of an operand in shared memory are further apart than they are long.
const PADDING: i64 = 4;
/// Registers of a thread of a product on fragments beside all that.
const OTHERS_OF_FRAGMENTS: i64 = 34;

/// What all tiles of a product have in common.
pub(super) struct Product {
    /// `[batch, m, n, k]`.
    pub(super) extents: [i64; 4],
    /// Bytes of an element of an operand, and of a sum.
    pub(super) bytes: [i64; 2],
}

/// What one kernel copies and multiplies.
struct Kernel {
    groups: i64,
    threads: i64,
    /// Steps of a workgroup between barriers, and elements that it copies for each.
    steps: i64,
    copied: i64,
    registers: i64,
    shared_bytes: i64,
}

/// Seconds that a product takes in tiles whose sums are cut into slices.
pub(super) fn time(tile: Tile, target: &GpuTarget, e: &Extents, slices: i64) -> f64 {
    let product = Product {
        extents: e.estimate,
        bytes: [ELEMENT; 2],
    };
    let [batch, m, n, k] = e.estimate;
    let (rows, columns) = (tile.ty * tile.tm, tile.tx * tile.tn);
    let (sums, threads) = (tile.tm * tile.tn, tile.ty * tile.tx);
    let copied = tile.bk * (rows + columns);
    let kernel = Kernel {
        groups: tile.blocks(m, n).saturating_mul(batch * slices),
        threads,
        steps: div_up(k, slices * tile.bk),
        copied,
        registers: sums + tile.tm + tile.tn + OTHER_REGISTERS + copied / threads,
        shared_bytes: ELEMENT * (copied + PADDING * tile.bk),
    };
    let all_steps = kernel.groups as f64 * kernel.steps as f64;
    let multiplied = all_steps * (threads * tile.bk) as f64;
    let [of_rows, of_columns] = e.copy;
    let integers = tile.bk * (rows * of_rows + columns * of_columns);
    let counts = Counts {
        fma: multiplied * sums as f64,
        shared_reads: multiplied * (tile.tm + tile.tn) as f64,
        integers: all_steps * integers as f64,
        ..product.counts(&kernel, slices)
    };
    product.time(&counts, target, slices)
}

/// The same of a product on fragments.
pub(super) fn time_of_fragments(
    tile: WarpTile,
    target: &GpuTarget,
    of: &Fragmented,
    slices: i64,
) -> f64 {
    let of_factor = tile.product.factors.bytes() as i64;
    // Results are taken to be of the type of the factors.
    let product = Product {
        extents: of.extents,
        bytes: [of_factor, if slices == 1 { of_factor } else { ELEMENT }],
    };
    let (extent, threads_of_fragment) = (tile.extent(), i64::from(FRAGMENT_THREADS));
    let elements = extent * extent;
    // Registers of a thread for a fragment of sums, and for one of an operand.
    let of_sums = elements / threads_of_fragment;
    let of_operand = (of_sums * of_factor / ELEMENT).max(1);
    let [batch, m, n, k] = of.extents;
    let [rows, columns] = tile.extents();
    let [of_rows, of_columns] = tile.fragments;
    let threads = tile.threads();
    let copied = tile.steps * (rows + columns);
    // The operands of the next step.
    let next = match GpuTraits::of(target).prefetches {
        true => copied * of_factor / ELEMENT / threads,
        false => 0,
    };
    let groups = [batch, div_up(m, rows), div_up(n, columns), slices];
    let kernel = Kernel {
        groups: groups.into_iter().product(),
        threads,
        steps: div_up(k, slices * tile.steps),
        copied,
        registers: of_rows * of_columns * of_sums
            + (of_rows + of_columns) * of_operand
            + next
            + OTHERS_OF_FRAGMENTS,
        shared_bytes: tile.shared_bytes(),
    };
    let model = GpuModel::of_target(target);
    let banks = ELEMENT * i64::from(model.banks.unwrap_or(FRAGMENT_THREADS));
    let subgroups = threads / threads_of_fragment;
    let fragments = subgroups * (of_rows + of_columns) * (tile.steps / extent);
    let passes = of_factor * (elements * fragments + copied) / banks;
    let all_steps = kernel.groups as f64 * kernel.steps as f64;
    let [of_a, of_b] = of.copy;
    let integers = tile.steps * (rows * of_a + columns * of_b);
    let counts = Counts {
        tile_fma: all_steps * (rows * columns * tile.steps) as f64,
        bank_passes: all_steps * passes as f64,
        integers: all_steps * integers as f64,
        ..product.counts(&kernel, slices)
    };
    product.time(&counts, target, slices)
}

impl Product {
    /// Elements of the result.
    fn results(&self) -> f64 {
        let [batch, m, n, _] = self.extents.map(|n| n as f64);
        batch * m * n
    }

    /// What a kernel moves, whatever it multiplies with.
    fn counts(&self, kernel: &Kernel, slices: i64) -> Counts {
        let [batch, m, n, k] = self.extents.map(|n| n as f64);
        let [operand, sum] = self.bytes.map(|bytes| bytes as f64);
        let written = self.results() * slices as f64 * sum;
        let asked = kernel.copied as f64 * operand;
        let groups = kernel.groups as f64;
        let read = groups * kernel.steps as f64 * asked;
        Counts {
            groups,
            dispatches: 1.0,
            threads: u32::try_from(kernel.threads).unwrap_or(u32::MAX),
            registers: u32::try_from(kernel.registers).unwrap_or(u32::MAX),
            shared_bytes: kernel.shared_bytes,
            waits: kernel.steps as f64,
            asked,
            sectors: (read + written) / f64::from(SECTOR_BYTES),
            bytes: batch * k * (m + n) * operand + written,
            own_bytes: if slices == 1 { 0.0 } else { written },
            ..Counts::default()
        }
    }

    /// Seconds of the product, and of the kernel that adds up its slices.
    fn time(&self, counts: &Counts, target: &GpuTarget, slices: i64) -> f64 {
        let model = GpuModel::of_target(target);
        let product = counts.predict(&model).time;
        if slices == 1 {
            return product;
        }
        let (results, threads) = (self.results(), memory_threads(target));
        let read = results * slices as f64 * self.bytes[1] as f64;
        let bytes = read + results * self.bytes[0] as f64;
        let sums = Counts {
            groups: (results / threads as f64).ceil(),
            dispatches: 1.0,
            threads: u32::try_from(threads).unwrap_or(u32::MAX),
            arithmetic: results * slices as f64,
            sectors: bytes / f64::from(SECTOR_BYTES),
            bytes,
            own_bytes: read,
            ..Counts::default()
        };
        (product + sums.predict(&model).time) * SLICED
    }
}

fn div_up(a: i64, b: i64) -> i64 {
    (a + b - 1) / b
}
