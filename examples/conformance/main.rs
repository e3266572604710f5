//! `cargo run --example conformance -- FILE.jsonl.gz`: replays recorded schedule cases and prints where this scheduler agrees.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program of the command line"
)]

mod cases;
#[path = "../shared/parallel.rs"]
mod parallel;
mod simplify;

use std::fs::File;
use std::process::ExitCode;

use weftile::interp::same_results;
use weftile::ir::PrimFunc;

use cases::{Case, Count, Disagreement, Report, Verdict, read_cases};

/// What was asked for on the command line.
#[derive(Default)]
struct Options {
    file: String,
    json: bool,
    verbose: bool,
    /// Only cases that use this primitive.
    only: Option<String>,
    /// Only cases whose name contains this.
    case: Option<String>,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some(options) = parse(&args) else {
        eprintln!(
            "usage: conformance FILE.jsonl.gz [--json] [--verbose] [--only PRIMITIVE] [--case NAME]"
        );
        return ExitCode::from(2);
    };
    let cases = match File::open(&options.file)
        .map_err(Into::into)
        .and_then(read_cases)
    {
        Ok(cases) => cases,
        Err(error) => {
            eprintln!("conformance: {}: {error}", options.file);
            return ExitCode::from(1);
        }
    };
    let cases: Vec<Case> = cases.into_iter().filter(|c| options.wants(c)).collect();
    let check = |before: &PrimFunc, after: &PrimFunc| {
        same_results(before, after, 7).map_err(|mismatch| mismatch.to_string())
    };
    let verdicts = parallel::map(&cases, |case| case.judge(&check));
    let mut report = Report::default();
    for (case, verdict) in cases.iter().zip(&verdicts) {
        report.add(case, verdict);
    }
    if options.json {
        println!("{:#}", report.to_json());
        return ExitCode::SUCCESS;
    }
    for (case, verdict) in cases.iter().zip(&verdicts) {
        if let Verdict::Disagree(disagreement) = verdict {
            explain(case, disagreement, options.verbose);
        }
    }
    print_report(&report);
    ExitCode::SUCCESS
}

fn parse(args: &[String]) -> Option<Options> {
    let mut options = Options::default();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--json" => options.json = true,
            "--verbose" => options.verbose = true,
            "--only" => options.only = Some(args.next()?.clone()),
            "--case" => options.case = Some(args.next()?.clone()),
            flag if flag.starts_with('-') => return None,
            file => options.file = file.to_owned(),
        }
    }
    (!options.file.is_empty()).then_some(options)
}

impl Options {
    fn wants(&self, case: &Case) -> bool {
        let uses = |name: &String| case.primitives().contains(name);
        self.only.as_ref().is_none_or(uses)
            && self.case.as_ref().is_none_or(|name| case.id.contains(name))
    }
}

fn explain(case: &Case, disagreement: &Disagreement, verbose: bool) {
    let steps: Vec<String> = case.steps.iter().map(ToString::to_string).collect();
    let name = |at: usize| {
        let step = case.steps.get(at).and_then(|s| s.get(0));
        step.map(ToString::to_string).unwrap_or_default()
    };
    match disagreement {
        Disagreement::NotRead(error) => println!("{}: not read: {error}", case.id),
        Disagreement::Refused { step, error } => {
            println!(
                "{}: step {step} {} is refused: {error}",
                case.id,
                name(*step)
            );
        }
        Disagreement::Accepted { class, got } => {
            let last = case.steps.len().saturating_sub(1);
            println!(
                "{}: step {last} {} is accepted; TVM: {class}",
                case.id,
                name(last)
            );
            if verbose {
                println!("{got}");
            }
        }
        Disagreement::Differs {
            difference,
            expected,
            got,
        } => {
            println!("{}: {difference}", case.id);
            if verbose {
                print_diff(expected, got);
            }
        }
        Disagreement::Wrong { difference, got } => {
            println!("{}: computes something else: {difference}", case.id);
            if verbose {
                println!("{got}");
            }
        }
    }
    if verbose {
        println!("  steps: {}\n", steps.join("\n         "));
    }
}

fn print_diff(expected: &str, got: &str) {
    let diff = similar::TextDiff::from_lines(expected, got);
    for change in diff.iter_all_changes() {
        print!("  {}{change}", change.tag());
    }
}

fn print_report(report: &Report) {
    println!(
        "{:<26} {:>6} {:>6} {:>7} {:>12} {:>9}",
        "primitive", "cases", "agree", "share", "unsupported", "too lax"
    );
    let line = |name: &str, count: Count| {
        let share = match count.supported() {
            0 => "-".to_owned(),
            n => format!("{:.1} %", 100.0 * count.agree as f64 / n as f64),
        };
        println!(
            "{name:<26} {:>6} {:>6} {share:>7} {:>12} {:>9}",
            count.cases, count.agree, count.unsupported, count.accepted_but_refused_by_tvm
        );
    };
    let mut rows: Vec<_> = report.per_primitive.iter().collect();
    rows.sort_by_key(|(name, _)| *name);
    for (name, count) in rows {
        line(name, *count);
    }
    line("all", report.total);
}
