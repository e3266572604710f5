//! Layer 10: the `weftile` command line.
//!
//! [`main`] reads arguments and environment, runs one verb, and turns every error into a message on stderr and an exit
//! code. Verbs write through `terminal::Terminal`; nothing else prints.

mod args;
mod bench;
mod demo;
mod device;
mod devices;
mod diff;
mod entry;
mod environment;
mod error;
mod fashion;
mod inputs;
mod program;
mod run;
mod show;
mod terminal;

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};
use environment::Environment;
use error::CliError;
use terminal::Terminal;

/// Exit code after a bug in weftile (`EX_SOFTWARE` of sysexits.h).
const BUG: i32 = 70;

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    std::panic::set_hook(Box::new(report_bug));
    let cli = Cli::parse();
    start_log();
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            report(&error);
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> Result<(), CliError> {
    let environment = Environment::read()?;
    let mut terminal = Terminal::stdout();
    // Without a verb, the demo with its defaults.
    let command = match cli.command {
        Some(command) => command,
        None => Cli::parse_from(["weftile", "demo"])
            .command
            .expect("demo is a verb"),
    };
    match command {
        Command::Demo(args) => demo::run(&args, &environment, &mut terminal),
        Command::Devices(args) => devices::run(&args, &mut terminal),
        Command::Run(args) => run::run(&args, &environment, &mut terminal),
        Command::Show(args) => show::run(&args, &environment, &mut terminal),
        Command::Bench(args) => bench::run(&args, &environment, &mut terminal),
        Command::Diff(args) => diff::run(&args, &environment, &mut terminal),
    }
}

fn start_log() {
    let env = env_logger::Env::new().filter_or("WEFTILE_LOG", "error");
    env_logger::Builder::from_env(env).init();
}

/// An error and its causes, one a line.
fn report(error: &CliError) {
    let mut text = format!("error: {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!("\n  because: {error}"));
        cause = error.source();
    }
    to_stderr(&text);
}

/// A panic is a bug in weftile: says so, and how to report it.
fn report_bug(info: &std::panic::PanicHookInfo<'_>) {
    let place = info
        .location()
        .map_or_else(String::new, |at| format!(" at {}:{}", at.file(), at.line()));
    let what = info.payload_as_str().unwrap_or("no message");
    to_stderr(&format!(
        "weftile has a bug: {what}{place}\nPlease report it with the command and this message: {}/issues",
        env!("CARGO_PKG_REPOSITORY")
    ));
    std::process::exit(BUG);
}

fn to_stderr(text: &str) {
    // If stderr is gone too, there is nobody left to tell.
    let _ = writeln!(std::io::stderr(), "{text}");
}
