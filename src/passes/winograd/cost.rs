//! Which filtering pays: how long a convolution takes by sums, and by minimal filtering.
//!
//! Times are in nanoseconds. Numbers are what the kernels of this compiler reach on two cores of an AMD EPYC (Zen 4; docs/benchmarks.md has
//! convolutions): nine tenths of the arithmetic of a product, weights that come from memory, and between the steps tensors that go
//! through the caches, or through memory.

use super::algorithm::{Filtering, Nested, TAPS};
use super::convolution::Convolution;
use crate::kernel::CpuTarget;
use crate::sched::rules::cpu::{TaskTiles, tiles_of_task};

/// Fewest channels: vectors are made of them.
const FEWEST_CHANNELS: i64 = 16;

/// Multiplications and additions in a nanosecond of a thread that has vectors of at least 256 bits.
const FLOPS: f64 = 90.0;

/// Lanes of such a vector.
const LANES: f64 = 8.0;

/// Bytes in a nanosecond of tensors between the steps, to memory and from it.
const MEMORY: f64 = 20.0;

/// Bytes in a nanosecond of weights, which are read in order and not written.
const WEIGHTS: f64 = 45.0;

/// Bytes in a nanosecond of a thread, through caches.
const CACHES: f64 = 30.0;

/// Bytes of tensors between the steps that fit the caches.
const CACHED: f64 = 6e6;

/// Launch of a kernel.
const LAUNCH: f64 = 2_000.0;

/// Filtering is chosen if it takes less than this fraction of the time of sums.
const WORTH: f64 = 0.85;

/// How a convolution is computed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Plan {
    pub(super) filtering: Nested,
    pub(super) form: Form,
}

/// Whether the steps are kernels of their own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    /// They are: each spreads all of its work over the threads, and reads each weight once.
    Apart,
    /// They are one, and nothing between them goes through memory.
    Fused,
}

/// The fastest plan, if it is worth it.
pub(super) fn best(conv: &Convolution, target: &CpuTarget) -> Option<Plan> {
    if conv.inputs.min(conv.outputs) < FEWEST_CHANNELS {
        return None;
    }
    let work = Work::of(conv, target);
    let plan = fastest(conv, target);
    (work.filtered(plan)? < WORTH * work.summed()).then_some(plan)
}

/// The fastest plan.
pub(super) fn fastest(conv: &Convolution, target: &CpuTarget) -> Plan {
    let work = Work::of(conv, target);
    let forms = [Form::Apart, Form::Fused];
    let sizes = [Filtering::Four, Filtering::Two];
    let nested = sizes.into_iter().flat_map(|f| sizes.map(|g| [f, g]));
    let plans = nested.flat_map(|filtering| forms.map(|form| Plan { filtering, form }));
    let timed = plans.filter_map(|plan| Some((plan, work.filtered(plan)?)));
    let fastest = timed.min_by(|(_, a), (_, b)| a.total_cmp(b));
    let (plan, _) = fastest.expect("steps can be kernels of their own");
    plan
}

struct Work<'a> {
    conv: &'a Convolution,
    target: &'a CpuTarget,
    threads: f64,
    /// Multiplications and additions in a nanosecond of a thread.
    flops: f64,
    /// An open number of images may be one.
    images: f64,
}

impl<'a> Work<'a> {
    fn of(conv: &'a Convolution, target: &'a CpuTarget) -> Self {
        Self {
            conv,
            target,
            threads: target.threads.max(1) as f64,
            flops: FLOPS * (f64::from(target.f32_lanes) / LANES).min(1.0),
            images: conv.batch.as_int().unwrap_or(1).max(1) as f64,
        }
    }

    fn channels(&self) -> f64 {
        (self.conv.inputs + self.conv.outputs) as f64
    }

    fn weights(&self) -> f64 {
        (self.conv.inputs * self.conv.outputs) as f64
    }

    fn pixels(&self) -> f64 {
        let [rows, columns] = self.conv.pixels;
        self.images * (rows * columns) as f64
    }

    /// To move tensors of so many bytes.
    fn moved(&self, bytes: f64) -> f64 {
        if bytes <= CACHED {
            bytes / (CACHES * self.threads)
        } else {
            bytes / MEMORY
        }
    }

    fn summed(&self) -> f64 {
        let taps = (TAPS * TAPS) as f64;
        let arithmetic = 2.0 * self.pixels() * taps * self.weights() / (self.flops * self.threads);
        let weights = 4.0 * taps * self.weights() / WEIGHTS;
        arithmetic.max(weights) + self.moved(4.0 * self.pixels() * self.channels())
    }

    /// `None` if the form cannot be had.
    fn filtered(&self, plan: Plan) -> Option<f64> {
        let Plan { filtering, form } = plan;
        let [rows, columns] = self.conv.tiles(filtering);
        let points = filtering.map(|f| f.inputs() as f64).iter().product::<f64>();
        let tiles = self.images * (rows * columns) as f64;
        // Each transform takes some five operations for an element in each of two directions.
        let multiplied = 2.0 * points * tiles * self.weights();
        let transformed = 10.0 * points * tiles * self.channels();
        let arithmetic = (multiplied + transformed) / (self.flops * self.threads);
        let of_weights = 4.0 * points * self.weights();
        // Image and result are read and written once more where channels are not last.
        let changes = [
            (!self.conv.image.has_channels_last(), self.conv.inputs),
            (
                !self.conv.results_are_in_place(filtering),
                self.conv.outputs,
            ),
        ];
        let changes = changes.into_iter().filter(|(changes, _)| *changes);
        let in_layout: f64 = changes
            .map(|(_, channels)| self.moved(4.0 * 2.0 * self.pixels() * channels as f64) + LAUNCH)
            .sum();
        Some(match form {
            Form::Apart => {
                let between = 2.0 * 4.0 * points * tiles * self.channels();
                let time = arithmetic.max(of_weights / WEIGHTS);
                time + self.moved(between) + in_layout + 3.0 * LAUNCH
            }
            // The rule takes a tile to have as many rows as columns.
            Form::Fused if filtering[0] != filtering[1] => return None,
            Form::Fused => {
                let [of_rows, _] = filtering;
                let [results, points] = [of_rows.results(), of_rows.inputs()];
                let TaskTiles {
                    tiles: n,
                    multiplied,
                } = tiles_of_task(
                    self.target,
                    columns,
                    results as i64,
                    points as i64,
                    self.conv.inputs,
                )?;
                let tasks = tiles / n as f64;
                // All weights are read for each task.
                let weights = of_weights * tasks / (CACHES * self.threads);
                let rounds = (tasks / self.threads).ceil() * self.threads / tasks;
                let past_the_end = multiplied as f64 / n as f64;
                (arithmetic * past_the_end).max(weights) * rounds + in_layout + LAUNCH
            }
        })
    }
}
