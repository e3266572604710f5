//! The `weftile` command line.
//!
//! [`main`] reads arguments and environment, runs one verb, and turns every error into a message on stderr and an exit
//! code. Verbs write through `terminal::Terminal`; nothing else prints.

mod args;
mod bench;
mod check;
mod compile;
mod demo;
mod device;
mod devices;
mod diff;
mod entry;
mod environment;
mod error;
mod explain;
mod fashion;
mod image;
mod inputs;
mod loop_program;
mod output;
mod program;
mod recognized;
mod report;
mod run;
mod scalars;
mod show;
mod terminal;

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};
use environment::Environment;
use error::{BUG, CliError};
use terminal::Terminal;

/// What an error starts with, on the terminal and where `support::diag` renders it.
const RENDERED: &str = "error: ";

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    std::panic::set_hook(Box::new(report_bug));
    let cli = Cli::parse();
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            to_stderr(&message(&error));
            ExitCode::from(error.exit_code())
        }
    }
}

fn run(cli: Cli) -> Result<(), CliError> {
    let environment = Environment::read()?;
    start_log(&environment);
    if let Some(backend) = environment.cpu {
        backend
            .choose()
            .expect("nothing is compiled before the environment is read");
    }
    let mut terminal = Terminal::stdout();
    // Without a verb, the demo with its defaults.
    let command = match cli.command {
        Some(command) => command,
        None => Cli::parse_from(["weftile", "demo"])
            .command
            .expect("demo is a verb"),
    };
    let done = match command {
        Command::Demo(args) => demo::run(&args, &environment, &mut terminal),
        Command::Devices(args) => devices::run(&args, &environment, &mut terminal),
        Command::Run(args) => run::run(&args, &environment, &mut terminal),
        Command::Show(args) => show::run(&args, &environment, &mut terminal),
        Command::Explain(args) => explain::run(&args, &environment, &mut terminal),
        Command::Check(args) => check::run(&args, &environment, &mut terminal),
        Command::Compile(args) => compile::run(&args, &environment, &mut terminal),
        Command::Bench(args) => bench::run(&args, &environment, &mut terminal),
        Command::Report(args) => report::run(&args, &environment, &mut terminal),
        Command::Diff(args) => diff::run(&args, &environment, &mut terminal),
    };
    environment.print_times();
    done
}

fn start_log(environment: &Environment) {
    env_logger::Builder::new()
        .parse_filters(&environment.log)
        .init();
}

/// An error and its causes, one a line. What is rendered as an error already (of a script, with its lines) stays as it is, and
/// a cause that the message before it contains is not said again.
fn message(error: &dyn Error) -> String {
    let mut said = error.to_string().trim_end().to_owned();
    let mut text = if said.starts_with(RENDERED) {
        said.clone()
    } else {
        format!("{RENDERED}{said}")
    };
    let mut cause = error.source();
    while let Some(error) = cause {
        let because = error.to_string().trim_end().to_owned();
        if !said.contains(&because) {
            text.push_str(&format!("\n  because: {because}"));
        }
        said = because;
        cause = error.source();
    }
    text
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
    std::process::exit(BUG.into());
}

fn to_stderr(text: &str) {
    // If stderr is gone too, there is nobody left to tell.
    let _ = writeln!(std::io::stderr(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{text}")]
    struct Chain {
        text: &'static str,
        source: Option<Box<Chain>>,
    }

    fn chain(texts: &[&'static str]) -> Chain {
        let (text, rest) = texts.split_first().expect("one at least");
        let source = (!rest.is_empty()).then(|| Box::new(chain(rest)));
        Chain { text, source }
    }

    #[test]
    fn causes_are_said_once() {
        let said = |texts: &[&'static str]| message(&chain(texts));
        assert_eq!(
            said(&["no file", "denied"]),
            "error: no file\n  because: denied"
        );
        assert_eq!(
            said(&["`k`: too large", "too large"]),
            "error: `k`: too large"
        );
        assert_eq!(
            said(&["`k`: too large", "too large", "no memory"]),
            "error: `k`: too large\n  because: no memory"
        );
        let rendered = "error: undefined name\n  --> a.py:1:1\n\n";
        assert_eq!(said(&[rendered, rendered]), rendered.trim_end());
    }

    #[test]
    fn an_invalid_shader_is_a_bug() {
        let invalid = || crate::codegen_wgsl::WgslError::Invalid {
            kernel: "k".to_owned(),
            message: "why".to_owned(),
        };
        let inner = crate::pipeline::Error::Wgsl(invalid());
        let several = crate::pipeline::Error::Several(vec![inner]);
        assert_eq!(CliError::from(several).exit_code(), BUG);
        assert_eq!(CliError::from(invalid()).exit_code(), BUG);
        assert_eq!(CliError::InterpreterTimed.exit_code(), 1);
    }
}
