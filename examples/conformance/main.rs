//! `cargo run --example conformance -- FILE.jsonl.gz`: replays recorded cases, of schedules or of passes over graph functions,
//! and prints where weftile agrees.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program of the command line"
)]

mod cases;
mod objects;
#[path = "../shared/parallel.rs"]
mod parallel;
mod relax;
mod simplify;

use std::fs::File;
use std::process::ExitCode;

use weftile::interp::same_results;
use weftile::ir::PrimFunc;

use cases::{Case, CaseError, Count, Disagreement, Report, Verdict, cases_of, read_lines};

/// What was asked for on the command line.
#[derive(Default)]
struct Options {
    file: String,
    json: bool,
    verbose: bool,
    /// Only cases that use this primitive, or whose passes' names contain this.
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
    match replay(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("conformance: {}: {error}", options.file);
            if let Some(source) = std::error::Error::source(&error) {
                eprintln!("  {source}");
            }
            ExitCode::from(1)
        }
    }
}

/// Cases of passes say of what kind they are.
fn replay(options: &Options) -> Result<(), CaseError> {
    let lines: Vec<serde_json::Value> = read_lines(File::open(&options.file)?)?;
    if lines.first().is_some_and(|line| line.get("kind").is_some()) {
        replay_passes(options, cases_of(lines)?);
    } else {
        replay_schedules(options, cases_of(lines)?);
    }
    Ok(())
}

fn replay_passes(options: &Options, cases: Vec<relax::Case>) {
    let wants = |case: &relax::Case| {
        let wanted = |part: &Option<String>, text: &str| {
            part.as_ref()
                .is_none_or(|part| text.contains(part.as_str()))
        };
        wanted(&options.only, &case.title()) && wanted(&options.case, &case.id)
    };
    let cases: Vec<relax::Case> = cases.into_iter().filter(wants).collect();
    let verdicts = parallel::map(&cases, relax::Case::judge);
    let mut report = relax::Report::default();
    for (case, verdict) in cases.iter().zip(&verdicts) {
        report.add(case, verdict);
        if !options.json {
            relax::explain(case, verdict, options.verbose);
        }
    }
    if options.json {
        println!("{:#}", report.to_json());
    } else {
        report.print();
    }
}

fn replay_schedules(options: &Options, cases: Vec<Case>) {
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
        return;
    }
    for (case, verdict) in cases.iter().zip(&verdicts) {
        if let Verdict::Disagree(disagreement) = verdict {
            explain(case, disagreement, options.verbose);
        }
    }
    print_report(&report);
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
