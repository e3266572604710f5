//! Which filtering pays: how long a convolution takes by sums, and by minimal filtering.
//!
//! Times are in nanoseconds, from what the kernels of this compiler reach on two kinds of machines: nine tenths of the arithmetic of a
//! product, weights that come from memory, and between the steps tensors that go through the caches.

use super::algorithm::{Filtering, TAPS};
use super::convolution::Convolution;
use crate::kernel::CpuTarget;

/// Fewest channels: vectors are made of them.
const FEWEST_CHANNELS: i64 = 16;

/// Most bytes between the steps, for one image: beyond, they would come from memory, and take more of it than the image is worth.
const MOST_BYTES: f64 = 64e6;

/// Multiplications and additions in a nanosecond of a thread that has vectors of at least 256 bits.
const FLOPS: f64 = 90.0;

/// Lanes of such a vector.
const LANES: f64 = 8.0;

/// Bytes of weights in a nanosecond, from memory.
const MEMORY: f64 = 20.0;

/// Bytes in a nanosecond of a thread, through caches.
const CACHES: f64 = 30.0;

/// Launches of five kernels.
const LAUNCHES: f64 = 10_000.0;

/// What of the time of sums filtering may take at most.
const WORTH: f64 = 0.85;

/// The fastest, if it is worth it.
pub(super) fn best(conv: &Convolution, target: &CpuTarget) -> Option<Filtering> {
    let (inputs, outputs) = (conv.inputs as f64, conv.outputs as f64);
    if conv.inputs.min(conv.outputs) < FEWEST_CHANNELS {
        return None;
    }
    let threads = target.threads.max(1) as f64;
    let flops = FLOPS * (f64::from(target.f32_lanes) / LANES).min(1.0);
    // An open number of images may be one.
    let images = conv.batch.as_int().unwrap_or(1).max(1) as f64;
    let pixels = images * (conv.pixels[0] * conv.pixels[1]) as f64;
    let weights = inputs * outputs;
    let time = |multiplied: f64, values: f64, elements: f64| {
        let arithmetic = 2.0 * multiplied * weights / (flops * threads);
        let of_weights = 4.0 * values * weights / MEMORY;
        arithmetic.max(of_weights) + 4.0 * elements / (CACHES * threads)
    };
    let taps = (TAPS * TAPS) as f64;
    let sums = time(pixels * taps, taps, pixels * (inputs + outputs));
    let times = [Filtering::Four, Filtering::Two].map(|filtering| {
        let [rows, columns] = conv.tiles(filtering);
        let points = (filtering.inputs() * filtering.inputs()) as f64;
        let tiles = images * (rows * columns) as f64;
        let between = points * tiles * (inputs + outputs);
        let elements = 2.0 * between + 4.0 * pixels * (inputs + outputs);
        let fits = 4.0 * between / images <= MOST_BYTES;
        let time = LAUNCHES + time(points * tiles, points, elements);
        (filtering, time, fits)
    });
    let fit = times.into_iter().filter(|(_, _, fits)| *fits);
    let (filtering, time, _) = fit.min_by(|(_, a, _), (_, b, _)| a.total_cmp(b))?;
    (time < WORTH * sums).then_some(filtering)
}
