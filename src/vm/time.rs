//! `time_evaluator`: how long calls of a function take.

use std::time::{Duration, Instant};

use serde::Serialize;

use super::VmError;
use super::machine::{FuncId, VirtualMachine};
use crate::runtime::Value;

/// How often a function is called to be timed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TimeOptions {
    /// Calls of one repeat, whose mean is one result.
    pub number: u32,
    /// Repeats: results.
    pub repeat: u32,
    /// What one repeat takes at least. Where it takes less, it is made again with more calls, as all repeats after it.
    pub min_repeat: Duration,
}

impl Default for TimeOptions {
    fn default() -> Self {
        Self {
            number: 10,
            repeat: 1,
            min_repeat: Duration::ZERO,
        }
    }
}

/// Times of calls, in seconds.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct BenchmarkResult {
    /// Seconds of a call, one result for each repeat.
    pub results: Vec<f64>,
    /// Their mean.
    pub mean: f64,
    /// Their median: of an even number, the mean of the two in the middle.
    pub median: f64,
    /// The least.
    pub min: f64,
    /// The greatest.
    pub max: f64,
    /// Their standard deviation, as of all results that there are.
    pub std: f64,
}

impl BenchmarkResult {
    /// The statistics of these results; zeros if there are none.
    pub fn of(results: Vec<f64>) -> Self {
        let count = results.len().max(1) as f64;
        let mut sorted = results.clone();
        sorted.sort_by(f64::total_cmp);
        let mean = results.iter().sum::<f64>() / count;
        let squares = results.iter().map(|result| (result - mean).powi(2));
        let variance = squares.sum::<f64>() / count;
        let at = |index: usize| sorted.get(index).copied().unwrap_or(0.0);
        let last = sorted.len().saturating_sub(1);
        Self {
            mean,
            median: f64::midpoint(at(last / 2), at(last.div_ceil(2))),
            min: at(0),
            max: at(last),
            std: variance.sqrt(),
            results,
        }
    }
}

impl std::fmt::Display for BenchmarkResult {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let columns = [
            "mean (ms)",
            "median (ms)",
            "max (ms)",
            "min (ms)",
            "std (ms)",
        ];
        for column in columns {
            write!(f, "{column:^14}")?;
        }
        writeln!(f)?;
        for seconds in [self.mean, self.median, self.max, self.min, self.std] {
            write!(f, "{:^14.4}", seconds * 1e3)?;
        }
        writeln!(f)
    }
}

/// Times the calls of one function.
pub struct TimeEvaluator<'m> {
    machine: &'m mut VirtualMachine,
    func: FuncId,
    options: TimeOptions,
}

impl VirtualMachine {
    /// What times the calls of a function.
    ///
    /// # Errors
    /// [`VmError::NoFunction`].
    pub fn time_evaluator(
        &mut self,
        name: &str,
        options: TimeOptions,
    ) -> Result<TimeEvaluator<'_>, VmError> {
        let func = self.function(name)?;
        Ok(TimeEvaluator {
            machine: self,
            func,
            options,
        })
    }
}

impl TimeEvaluator<'_> {
    /// Calls the function with these arguments: once without timing, so that plans and code are there; then as often as the
    /// options say. On a GPU a repeat ends when the device has done its work.
    ///
    /// # Errors
    /// As [`VirtualMachine::call`].
    pub fn run(&mut self, args: &[Value]) -> Result<BenchmarkResult, VmError> {
        let args = args.iter().cloned().map(|arg| self.machine.to_device(arg));
        let args = args.collect::<Result<Vec<_>, _>>()?;
        self.machine.call_func(self.func, &args)?;
        let least = self.options.min_repeat.as_secs_f64();
        let mut number = self.options.number.max(1);
        let mut results = vec![];
        for _ in 0..self.options.repeat {
            let mut seconds = self.seconds(number, &args)?;
            while seconds < least {
                let needed = if seconds > 0.0 {
                    least / (seconds / f64::from(number)) + 1.0
                } else {
                    0.0
                };
                // As many as it takes by this repeat, and always more, so that it ends.
                let more = needed.max(f64::from(number) * 1.618 + 1.0);
                number = more.min(f64::from(u32::MAX)) as u32;
                seconds = self.seconds(number, &args)?;
            }
            results.push(seconds / f64::from(number));
        }
        Ok(BenchmarkResult::of(results))
    }

    fn seconds(&mut self, number: u32, args: &[Value]) -> Result<f64, VmError> {
        self.machine.wait()?;
        let start = Instant::now();
        for _ in 0..number {
            self.machine.call_func(self.func, args)?;
        }
        self.machine.wait()?;
        Ok(start.elapsed().as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_are_those_of_numpy() {
        let result = BenchmarkResult::of(vec![4.0, 1.0, 2.0, 9.0]);
        assert_eq!((result.min, result.max), (1.0, 9.0));
        assert_eq!((result.mean, result.median), (4.0, 3.0));
        // numpy.std([4, 1, 2, 9])
        assert!((result.std - 3.082_207_001_484_488_4).abs() < 1e-15);
        assert_eq!(BenchmarkResult::of(vec![5.0, 1.0, 2.0]).median, 2.0);
        assert_eq!(BenchmarkResult::of(vec![]).mean, 0.0);
    }
}
