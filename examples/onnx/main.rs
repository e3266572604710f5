//! `cargo run --example onnx -- nodes ARCHIVE.tar.gz --device interp|cpu|gpu` and `… models DIR …`: runs recorded tests of single
//! ONNX operators, and recorded runs of whole models, and counts where weftile agrees.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program of the command line"
)]

mod judge;
mod models;
mod nodes;
#[path = "../shared/parallel.rs"]
mod parallel;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use judge::{Backend, Outcome};
use serde_json::json;

const USAGE: &str = "usage: onnx nodes ARCHIVE.tar.gz | models DIR  [--device interp|cpu|gpu] [--json] [--verbose] [--only NAME] [--passed FILE]";

/// What was asked for on the command line.
struct Options {
    path: PathBuf,
    device: String,
    json: bool,
    verbose: bool,
    /// Only tests whose names contain this.
    only: Option<String>,
    /// The names of the tests that pass are written to this file.
    passed: Option<PathBuf>,
}

impl Options {
    fn wants(&self, name: &str) -> bool {
        self.only
            .as_ref()
            .is_none_or(|part| name.contains(part.as_str()))
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some((verb, options)) = parse(&args) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let run = match verb.as_str() {
        "nodes" => node_tests,
        _ => model_runs,
    };
    let done = Backend::open(&options.device).and_then(|backend| run(&options, &backend));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report(&*error);
            ExitCode::from(1)
        }
    }
}

fn node_tests(options: &Options, backend: &Backend) -> Result<(), Box<dyn Error>> {
    let tests = nodes::judged(&options.path, &|name| options.wants(name), backend)?;
    let count = |wanted: fn(&Outcome) -> bool| tests.iter().filter(|(_, o)| wanted(o)).count();
    let summary = json!({
        "tests": tests.len(),
        "passed": count(|o| matches!(o, Outcome::Passed)),
        "failed": count(|o| matches!(o, Outcome::Failed(_))),
        "unsupported": count(|o| matches!(o, Outcome::Unsupported(_))),
        "crashed": count(|o| matches!(o, Outcome::Crashed(_))),
    });
    if let Some(path) = &options.passed {
        let passed = tests.iter().filter(|(_, o)| *o == Outcome::Passed);
        let names: Vec<&str> = passed.map(|(name, _)| name.as_str()).collect();
        std::fs::write(path, names.join("\n") + "\n")?;
    }
    for (name, outcome) in tests.iter().filter(|_| !options.json) {
        match outcome {
            Outcome::Unsupported(why) if options.verbose => println!("unsupported {name}: {why}"),
            Outcome::Passed | Outcome::Unsupported(_) => {}
            Outcome::Failed(why) => println!("failed {name}: {why}"),
            Outcome::Crashed(why) => println!("crashed {name}: {why}"),
        }
    }
    println!("{summary}");
    Ok(())
}

fn model_runs(options: &Options, backend: &Backend) -> Result<(), Box<dyn Error>> {
    let (mut runs, mut passed) = (0, 0);
    models::judged(
        &options.path,
        &|name| options.wants(name),
        backend,
        &mut |run| {
            runs += 1;
            passed += usize::from(run.outcome == Outcome::Passed);
            if !options.json {
                let (ready, called) = (run.ready, run.called);
                println!(
                    "{}: {:?}, ready in {ready:.1?}, run in {called:.1?}",
                    run.file, run.outcome
                );
            }
        },
    )?;
    println!("{}", json!({"runs": runs, "passed": passed}));
    Ok(())
}

fn report(error: &dyn Error) {
    eprintln!("onnx: {error}");
    let mut source = error.source();
    while let Some(error) = source {
        eprintln!("  {error}");
        source = error.source();
    }
}

fn parse(args: &[String]) -> Option<(String, Options)> {
    let mut words = args.iter();
    let verb = words
        .next()
        .filter(|verb| matches!(verb.as_str(), "nodes" | "models"))?;
    let mut options = Options {
        path: words.next()?.into(),
        device: "cpu".to_owned(),
        json: false,
        verbose: false,
        only: None,
        passed: None,
    };
    while let Some(word) = words.next() {
        match word.as_str() {
            "--device" => options.device = words.next()?.clone(),
            "--json" => options.json = true,
            "--verbose" => options.verbose = true,
            "--only" => options.only = Some(words.next()?.clone()),
            "--passed" => options.passed = Some(words.next()?.into()),
            _ => return None,
        }
    }
    Some((verb.clone(), options))
}
