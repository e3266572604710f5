//! `cargo xtask test`: exactly what CI runs. Sets up what the tests need, then runs each stage and says how long it took.
//!
//! Stops at the first stage that fails: what comes later would mostly repeat the same fault.

use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use crate::{browser, cargo, vulkan};

/// The features of the crate that are checked on their own. `cli` has all others, and so has what the stages before build.
const FEATURES: &[&str] = &["gpu", "cpu", "compiler"];

/// One check: a cargo command line with the environment it needs.
struct Stage {
    name: String,
    args: Vec<String>,
    env: Vec<(&'static str, &'static str)>,
}

impl Stage {
    fn new(name: impl Into<String>, line: &str) -> Self {
        Self {
            name: name.into(),
            args: line.split_whitespace().map(str::to_owned).collect(),
            env: Vec::new(),
        }
    }

    fn with_env(mut self, name: &'static str, value: &'static str) -> Self {
        self.env.push((name, value));
        self
    }
}

/// Runs all stages. `WEFTILE_REQUIRE_GPU=0` leaves the GPU tests to skip themselves where there is no adapter. The test of pages
/// skips itself where no browser can be had, unless `WEFTILE_REQUIRE_BROWSER=1` makes that a failure; with 0 none is installed.
pub(crate) fn run(args: &[String]) -> ExitCode {
    if let Some(arg) = args.first() {
        eprintln!("xtask test: takes no arguments, got `{arg}`");
        return ExitCode::from(2);
    }
    let require_gpu = std::env::var("WEFTILE_REQUIRE_GPU").map_or(true, |v| v != "0");
    let mut times: Vec<(String, Duration)> = Vec::new();
    if require_gpu {
        println!("== GPU set-up: a Vulkan driver for the tests");
        let start = Instant::now();
        if let Err(error) = cargo::with_heartbeat("GPU set-up", vulkan::ensure) {
            eprintln!("xtask test: no Vulkan adapter: {error}");
            eprintln!("xtask test: WEFTILE_REQUIRE_GPU=0 runs the tests without a GPU");
            return ExitCode::FAILURE;
        }
        times.push(("GPU set-up".to_owned(), start.elapsed()));
    }
    let asked = std::env::var("WEFTILE_REQUIRE_BROWSER").ok();
    if asked.as_deref() != Some("0") {
        println!("== browser set-up: Chromium for the test of pages");
        let start = Instant::now();
        if let Err(error) = cargo::with_heartbeat("browser set-up", browser::ensure) {
            eprintln!("xtask test: no browser: {error}");
            if asked.as_deref() == Some("1") {
                return ExitCode::FAILURE;
            }
        }
        times.push(("browser set-up".to_owned(), start.elapsed()));
    }
    for stage in stages(require_gpu) {
        println!("\n== {}: cargo {}", stage.name, stage.args.join(" "));
        let start = Instant::now();
        let passed = cargo::with_heartbeat(&stage.name, || cargo::run(&stage.args, &stage.env));
        times.push((stage.name.clone(), start.elapsed()));
        if !passed {
            report(&times);
            eprintln!("xtask test: `{}` failed", stage.name);
            return ExitCode::FAILURE;
        }
    }
    report(&times);
    ExitCode::SUCCESS
}

fn stages(require_gpu: bool) -> Vec<Stage> {
    let gpu = if require_gpu { "1" } else { "0" };
    let tests = if has_nextest() {
        "nextest run --workspace --no-fail-fast"
    } else {
        "test --workspace --tests --no-fail-fast"
    };
    let mut stages = vec![
        Stage::new("format", "fmt --all --check"),
        Stage::new("clippy", "clippy --workspace --all-targets -- -D warnings"),
        Stage::new("docs", "doc --workspace --no-deps").with_env("RUSTDOCFLAGS", "-D warnings"),
        Stage::new("tests", tests).with_env("WEFTILE_REQUIRE_GPU", gpu),
        Stage::new("doctests", "test --workspace --doc").with_env("WEFTILE_REQUIRE_GPU", gpu),
        Stage::new(
            "no feature",
            "check --package weftile --no-default-features",
        ),
    ];
    for feature in FEATURES {
        stages.push(Stage::new(
            format!("feature {feature}"),
            &format!("check --package weftile --no-default-features --features {feature}"),
        ));
    }
    stages
}

fn has_nextest() -> bool {
    Command::new("cargo")
        .args(["nextest", "--version"])
        .output()
        .is_ok_and(|out| out.status.success())
}

fn report(times: &[(String, Duration)]) {
    println!();
    for (name, time) in times {
        println!("{name:<18} {:>7.1} s", time.as_secs_f64());
    }
    let total: Duration = times.iter().map(|(_, time)| *time).sum();
    println!("{:<18} {:>7.1} s", "total", total.as_secs_f64());
}
