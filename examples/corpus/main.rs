//! `cargo run --example corpus -- FILE.jsonl.gz`: parses, prints and parses back recorded programs, and groups the failures by message.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program of the command line"
)]

mod cases;
#[path = "../shared/parallel.rs"]
mod parallel;

use std::collections::BTreeMap;
use std::fs::File;
use std::process::ExitCode;

use cases::{Failure, Program, Verdict, read_programs};

/// What was asked for on the command line.
#[derive(Default)]
struct Options {
    file: String,
    /// Whole messages and texts instead of classes.
    verbose: bool,
    /// Only failures whose class contains this.
    class: Option<String>,
    /// Only programs whose name contains this.
    case: Option<String>,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some(options) = parse(&args) else {
        eprintln!("usage: corpus FILE.jsonl.gz [--verbose] [--class TEXT] [--case NAME]");
        return ExitCode::from(2);
    };
    let programs = match File::open(&options.file)
        .map_err(Into::into)
        .and_then(read_programs)
    {
        Ok(programs) => programs,
        Err(error) => {
            eprintln!("corpus: {}: {error}", options.file);
            return ExitCode::from(1);
        }
    };
    let wanted = |program: &Program| {
        let case = options.case.as_ref();
        case.is_none_or(|case| program.name.contains(case))
    };
    let programs: Vec<Program> = programs.into_iter().filter(wanted).collect();
    let verdicts = parallel::map(&programs, Program::judge);
    report(&programs, &verdicts, &options);
    ExitCode::SUCCESS
}

fn parse(args: &[String]) -> Option<Options> {
    let mut options = Options::default();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--verbose" => options.verbose = true,
            "--class" => options.class = Some(args.next()?.clone()),
            "--case" => options.case = Some(args.next()?.clone()),
            flag if flag.starts_with('-') => return None,
            file => options.file = file.to_owned(),
        }
    }
    (!options.file.is_empty()).then_some(options)
}

/// Programs that share a failure.
#[derive(Default)]
struct Class<'p> {
    count: usize,
    first: Option<(&'p Program, &'p Failure)>,
}

fn report(programs: &[Program], verdicts: &[Verdict], options: &Options) {
    let (mut stable, mut refused_names) = (0usize, BTreeMap::<&str, usize>::new());
    let mut classes: BTreeMap<(&str, &str), Class<'_>> = BTreeMap::new();
    for (program, verdict) in programs.iter().zip(verdicts) {
        let (stage, failure) = match verdict {
            Verdict::Stable => {
                stable += 1;
                continue;
            }
            Verdict::Refused(name) => {
                *refused_names.entry(name).or_default() += 1;
                continue;
            }
            Verdict::NotRead(failure) => ("not read", failure),
            Verdict::NotReadBack(failure) => ("not read back", failure),
            Verdict::Differs(failure) => ("differs", failure),
        };
        let asked = options.class.as_ref();
        if asked.is_some_and(|class| !failure.class.contains(class.as_str())) {
            continue;
        }
        if options.verbose {
            println!("{}: {stage}\n{}", program.name, failure.message);
        }
        let class = classes.entry((stage, &failure.class)).or_default();
        class.count += 1;
        class.first.get_or_insert((program, failure));
    }
    let mut rows: Vec<_> = classes.into_iter().collect();
    rows.sort_by_key(|(_, class)| std::cmp::Reverse(class.count));
    for ((stage, message), class) in &rows {
        println!("{:>6}  {stage}: {message}", class.count);
        if let Some((program, failure)) = class.first {
            let lines = failure.message.lines().skip(1).take(4);
            let shown: Vec<&str> = lines.collect();
            println!(
                "        {}\n        {}",
                program.name,
                shown.join("\n        ")
            );
        }
    }
    for (name, count) in &refused_names {
        println!("{count:>6}  instruction of one vendor: {name}");
    }
    let refused: usize = refused_names.values().sum();
    let rest = programs.len() - refused;
    let share = 100.0 * stable as f64 / rest.max(1) as f64;
    println!(
        "{} programs; {refused} use instructions of one vendor; of the other {rest} are stable {stable} ({share:.2} %)",
        programs.len()
    );
}
