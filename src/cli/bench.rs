//! `weftile bench`: how long calls take.

use std::time::{Duration, Instant};

use indexmap::IndexMap;
use serde::Serialize;

use super::args::BenchArgs;
use super::device;
use super::entry::Entry;
use super::environment::Environment;
use super::error::CliError;
use super::inputs::gather;
use super::program::Program;
use super::terminal::{Terminal, milliseconds};
use crate::runtime::Value;
use crate::support::resident::peak_resident;
use crate::vm::{Clock, Profile, ProfileEntry, ProfileKind};

/// Calls before measuring: at least this many, and for at least this long.
const WARM_UP: (usize, Duration) = (3, Duration::from_millis(200));
/// Calls measured at least, whatever time they take.
const LEAST: usize = 5;
/// Calls measured at most.
const MOST: usize = 1_000_000;
/// Calls with a profile, of which medians are taken.
const PROFILED: usize = 9;

/// What `--json` prints.
#[derive(Serialize)]
struct Report {
    device: String,
    func: String,
    compile_ms: f64,
    load_ms: f64,
    first_ms: f64,
    #[serde(flatten)]
    times: Times,
    memory: Memory,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    steps: Vec<StepTime>,
}

/// Times of many calls, in milliseconds.
#[derive(Serialize)]
struct Times {
    calls: usize,
    min_ms: f64,
    median_ms: f64,
    p95_ms: f64,
}

/// Bytes of this process. What was resident at most is `None` where the operating system does not say it.
#[derive(Serialize)]
struct Memory {
    /// Of the weights in the program.
    weight_bytes: u64,
    /// Resident at most when the program was read, before it was compiled.
    read_peak_bytes: Option<u64>,
    /// Resident at most in all.
    peak_bytes: Option<u64>,
}

/// A kernel, copy or packed function of a call.
#[derive(Serialize)]
struct StepTime {
    name: String,
    kind: ProfileKind,
    clock: Clock,
    launches: u64,
    median_us: f64,
    /// In the first call, with what the driver compiles then; `None` if that call took another way.
    first_us: Option<f64>,
    bytes: u64,
    gb_per_s: f64,
    gflop_per_s: f64,
    /// Of native code, what made it; of a shader, `proved` if it runs without the driver's checks, else `checked`.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    /// Of a copy: why it was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

pub(super) fn run(
    args: &BenchArgs,
    environment: &Environment,
    terminal: &mut Terminal,
) -> Result<(), CliError> {
    if device::is_interpreter(&args.device.device) {
        return Err(CliError::InterpreterTimed);
    }
    let read = || Entry::read(&args.module, &args.inputs);
    let entry = environment.time("import", read)?;
    let (weight_bytes, read_peak_bytes) = (entry.code.weight_bytes(), peak_resident());
    let func = &entry.func;
    let inputs = environment.time("inputs", || gather(&entry.signature, &entry.inputs))?;
    let open = || device::open(&entry.device(&args.device), &environment.pipelines);
    let chosen = environment.time("device", open)?;
    let mut program = Program::of(entry.code, &chosen, environment)?;
    let upload = |program: &mut Program| program.upload(func, inputs);
    let values = program.timed(environment, "inputs", upload)?;
    let start = Instant::now();
    let first_call = |program: &mut Program| match args.profile {
        true => Ok(Some(program.vm.profile(func, &values)?.1)),
        false => program.call(func, &values).map(|_| None),
    };
    let first_profile = program.timed(environment, "first call", first_call)?;
    let first = start.elapsed();
    let times = measure(&mut program, func, &values, args.time)?;
    let steps = match first_profile {
        Some(first) => profile(&mut program, func, &values, &first)?,
        None => Vec::new(),
    };
    let report = Report {
        device: chosen.name,
        func: func.clone(),
        compile_ms: milliseconds(program.compile),
        load_ms: milliseconds(program.load),
        first_ms: milliseconds(first),
        times,
        memory: Memory {
            weight_bytes,
            read_peak_bytes,
            peak_bytes: peak_resident(),
        },
        steps,
    };
    if args.json {
        terminal.json(&report)?;
        return Ok(());
    }
    print(terminal, &report, &chosen.reason)
}

fn timed(program: &mut Program, func: &str, values: &[Value]) -> Result<Duration, CliError> {
    let start = Instant::now();
    program.call(func, values)?;
    Ok(start.elapsed())
}

fn measure(
    program: &mut Program,
    func: &str,
    values: &[Value],
    seconds: f64,
) -> Result<Times, CliError> {
    let start = Instant::now();
    let mut warm = 0;
    while warm < WARM_UP.0 || start.elapsed() < WARM_UP.1 {
        timed(program, func, values)?;
        warm += 1;
    }
    let start = Instant::now();
    let mut times = Vec::new();
    while times.len() < LEAST || (start.elapsed().as_secs_f64() < seconds && times.len() < MOST) {
        times.push(milliseconds(timed(program, func, values)?));
    }
    times.sort_by(f64::total_cmp);
    Ok(Times {
        calls: times.len(),
        min_ms: times[0],
        median_ms: quantile(&times, 0.5),
        p95_ms: quantile(&times, 0.95),
    })
}

/// The value that this share of sorted values does not exceed.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted[rank.clamp(1, sorted.len()) - 1]
}

/// Medians over some calls of each step, those with no time left out, beside its time in the first call.
fn profile(
    program: &mut Program,
    func: &str,
    values: &[Value],
    first: &Profile,
) -> Result<Vec<StepTime>, CliError> {
    let profiles = (0..PROFILED)
        .map(|_| Ok(program.vm.profile(func, values)?.1))
        .collect::<Result<Vec<Profile>, CliError>>()?;
    let mut seconds: IndexMap<usize, Vec<f64>> = IndexMap::new();
    for profile in &profiles {
        for (index, entry) in profile.entries.iter().enumerate() {
            seconds.entry(index).or_default().push(entry.seconds);
        }
    }
    let mut steps = Vec::new();
    for (index, entry) in profiles[0].entries.iter().enumerate() {
        if entry.kind == ProfileKind::Builtin {
            continue;
        }
        let mut times = seconds.swap_remove(&index).unwrap_or_default();
        times.sort_by(f64::total_cmp);
        let median = quantile(&times, 0.5);
        let rate = |amount: u64| {
            if median > 0.0 {
                amount as f64 / median * 1e-9
            } else {
                0.0
            }
        };
        steps.push(StepTime {
            name: entry.name.clone(),
            kind: entry.kind,
            clock: entry.clock,
            launches: entry.launches,
            median_us: median * 1e6,
            first_us: first_time(first, index, entry),
            bytes: entry.bytes,
            gb_per_s: rate(entry.bytes),
            gflop_per_s: rate(entry.flops),
            code: entry.code,
            why: entry.why.clone(),
        });
    }
    Ok(steps)
}

/// Microseconds of this entry in the first call.
fn first_time(first: &Profile, index: usize, entry: &ProfileEntry) -> Option<f64> {
    let same =
        |of: &&ProfileEntry| (&of.func, of.pc, &of.name) == (&entry.func, entry.pc, &entry.name);
    let found = first.entries.get(index).filter(same)?;
    Some(found.seconds * 1e6)
}

fn print(terminal: &mut Terminal, report: &Report, reason: &str) -> Result<(), CliError> {
    terminal.line(format!("on {} ({reason})", terminal.bold(&report.device)))?;
    terminal.line(format!(
        "compiled in {:.1} ms, loaded in {:.1} ms, first call {:.3} ms",
        report.compile_ms, report.load_ms, report.first_ms
    ))?;
    let times = &report.times;
    terminal.line(format!(
        "{}: median {} ms, 95 % within {:.4} ms, fastest {:.4} ms ({} calls)",
        report.func,
        terminal.bold(&format!("{:.4}", times.median_ms)),
        times.p95_ms,
        times.min_ms,
        times.calls
    ))?;
    let memory = &report.memory;
    if let (Some(read), Some(peak)) = (memory.read_peak_bytes, memory.peak_bytes) {
        terminal.line(format!(
            "memory: {} of weights; resident at most {} when they were read, {} in all",
            megabytes(memory.weight_bytes),
            megabytes(read),
            megabytes(peak)
        ))?;
    }
    if report.steps.is_empty() {
        return Ok(());
    }
    terminal.line("")?;
    let rows: Vec<Vec<String>> = report
        .steps
        .iter()
        .map(|step| {
            vec![
                step.name.clone(),
                step.kind.name().to_owned(),
                format!("{:.1}", step.median_us),
                step.first_us
                    .map_or_else(String::new, |us| format!("{us:.1}")),
                step.clock.name().to_owned(),
                step.bytes.to_string(),
                format!("{:.1}", step.gb_per_s),
                format!("{:.1}", step.gflop_per_s),
                step.code.unwrap_or_default().to_owned(),
                step.why.clone().unwrap_or_default(),
            ]
        })
        .collect();
    let columns = [
        "step",
        "kind",
        "µs",
        "first µs",
        "clock",
        "bytes",
        "GB/s",
        "GFLOP/s",
        "code",
        "why",
    ];
    terminal.table(&columns, &rows)?;
    Ok(())
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 * 1e-6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_were_measured() {
        let values: Vec<f64> = (1..=20).map(f64::from).collect();
        assert_eq!(quantile(&values, 0.5), 10.0);
        assert_eq!(quantile(&values, 0.95), 19.0);
        assert_eq!(quantile(&values, 1.0), 20.0);
        assert_eq!(quantile(&[7.0], 0.95), 7.0);
    }
}
