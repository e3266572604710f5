//! Time spent in each stage of the compiler.

use std::time::{Duration, Instant};

/// Stages with their durations, in the order in which they first ran.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Timing {
    stages: Vec<(String, Duration, usize)>,
}

impl Timing {
    /// Runs a stage and adds its time.
    pub fn time<T>(&mut self, stage: &str, f: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = f();
        self.add(stage, start.elapsed());
        result
    }

    /// A stage starts: it stands before those that start later.
    pub fn begin(&mut self, stage: &str) {
        if !self.stages.iter().any(|(name, ..)| name == stage) {
            self.stages.push((stage.to_owned(), Duration::ZERO, 0));
        }
    }

    /// Adds the times of other stages.
    pub fn extend(&mut self, other: &Self) {
        for (stage, elapsed, runs) in &other.stages {
            self.begin(stage);
            let stages = self.stages.iter_mut();
            for (_, total, count) in stages.filter(|(name, ..)| name == stage) {
                *total += *elapsed;
                *count += runs;
            }
        }
    }

    /// The time that was added since `earlier`.
    pub fn since(&self, earlier: &Self) -> Self {
        let mut stages = self.stages.clone();
        for (stage, elapsed, runs) in &mut stages {
            let before = earlier.stages.iter().find(|(name, ..)| name == stage);
            if let Some((_, time, count)) = before {
                *elapsed = elapsed.saturating_sub(*time);
                *runs = runs.saturating_sub(*count);
            }
        }
        stages.retain(|(_, _, runs)| *runs > 0);
        Self { stages }
    }

    /// Adds time to a stage.
    pub fn add(&mut self, stage: &str, elapsed: Duration) {
        match self.stages.iter_mut().find(|(name, ..)| name == stage) {
            Some((_, total, runs)) => {
                *total += elapsed;
                *runs += 1;
            }
            None => self.stages.push((stage.to_owned(), elapsed, 1)),
        }
    }

    /// Stages: name, total time, number of runs.
    pub fn stages(&self) -> impl Iterator<Item = (&str, Duration, usize)> {
        self.stages
            .iter()
            .map(|(name, total, runs)| (name.as_str(), *total, *runs))
    }

    /// Time of all stages.
    pub fn total(&self) -> Duration {
        self.stages.iter().map(|(_, total, _)| *total).sum()
    }
}

/// A table: one line a stage, then the sum.
impl std::fmt::Display for Timing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let total = self.total().as_secs_f64().max(1e-12);
        writeln!(f, "{:<20} {:>10} {:>5} {:>6}", "stage", "ms", "runs", "%")?;
        for (name, time, runs) in self.stages() {
            let (ms, share) = (time.as_secs_f64() * 1e3, 100.0 * time.as_secs_f64() / total);
            writeln!(f, "{name:<20} {ms:>10.3} {runs:>5} {share:>6.1}")?;
        }
        write!(
            f,
            "{:<20} {:>10.3}",
            "total",
            self.total().as_secs_f64() * 1e3
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_one_stage_add_up() {
        let mut timing = Timing::default();
        timing.add("lower", Duration::from_millis(2));
        timing.add("emit", Duration::from_millis(1));
        timing.add("lower", Duration::from_millis(3));
        let stages: Vec<_> = timing.stages().collect();
        assert_eq!(
            stages,
            [
                ("lower", Duration::from_millis(5), 2),
                ("emit", Duration::from_millis(1), 1)
            ]
        );
        assert!(timing.to_string().ends_with("6.000"), "{timing}");
    }

    #[test]
    fn times_are_put_together_and_taken_apart() {
        let mut first = Timing::default();
        first.begin("schedule");
        first.add("lower", Duration::from_millis(2));
        first.add("schedule", Duration::from_millis(1));
        let mut all = first.clone();
        let mut second = Timing::default();
        second.add("lower", Duration::from_millis(3));
        second.add("emit", Duration::from_millis(4));
        all.extend(&second);
        let stages: Vec<_> = all
            .stages()
            .map(|(name, time, runs)| (name, time.as_millis(), runs))
            .collect();
        assert_eq!(
            stages,
            [("schedule", 1, 1), ("lower", 5, 2), ("emit", 4, 1)]
        );
        assert_eq!(all.since(&first), second);
    }
}
