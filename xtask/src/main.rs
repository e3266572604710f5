//! Project chores: `cargo xtask` lists them.

mod browser;
mod cargo;
mod packages;
mod test;
mod vulkan;

use std::process::ExitCode;

/// A chore: its name, what it takes, what it does, and how.
struct Verb {
    name: &'static str,
    args: &'static str,
    about: &'static str,
    run: fn(&[String]) -> ExitCode,
}

const VERBS: &[Verb] = &[
    Verb {
        name: "test",
        args: "",
        about: "everything CI checks: formats, clippy, docs, tests, doctests, feature combinations",
        run: test::run,
    },
    Verb {
        name: "conformance",
        args: "FILE.jsonl.gz",
        about: "replays recorded cases of schedules or passes; --json, --verbose, --only PRIMITIVE|PASS, --case NAME",
        run: |args| example("conformance", args),
    },
    Verb {
        name: "corpus",
        args: "FILE.jsonl.gz",
        about: "parses, prints and parses back recorded programs; --verbose, --class TEXT, --case NAME",
        run: |args| example("corpus", args),
    },
    Verb {
        name: "onnx-nodes",
        args: "ARCHIVE.tar.gz",
        about: "runs tests of single ONNX operators; --device interp|cpu|gpu, --json, --verbose, --only NAME, --passed FILE",
        run: |args| example("onnx", &with("nodes", args)),
    },
    Verb {
        name: "onnx-models",
        args: "DIR",
        about: "runs recorded calls of ONNX models; --device interp|cpu|gpu, --json, --only NAME",
        run: |args| example("onnx", &with("models", args)),
    },
];

fn with(verb: &str, args: &[String]) -> Vec<String> {
    let verb = std::iter::once(verb.to_owned());
    verb.chain(args.iter().cloned()).collect()
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some(name) = args.first() else {
        list();
        return ExitCode::SUCCESS;
    };
    match VERBS.iter().find(|verb| verb.name == name) {
        Some(verb) => (verb.run)(&args[1..]),
        None => {
            eprintln!("xtask: no verb `{name}`");
            list();
            ExitCode::from(2)
        }
    }
}

/// The example of this name does it: it needs the library, which takes minutes to build.
fn example(name: &str, args: &[String]) -> ExitCode {
    let mut line = ["run", "--quiet", "--example", name, "--"]
        .map(str::to_owned)
        .to_vec();
    line.extend_from_slice(args);
    if cargo::run(&line, &[]) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn list() {
    println!("cargo xtask VERB");
    for verb in VERBS {
        let usage = format!("{} {}", verb.name, verb.args);
        println!("  {:<28} {}", usage.trim_end(), verb.about);
    }
}
