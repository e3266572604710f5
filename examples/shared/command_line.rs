//! The command line of an example: its options, `--help`, and a sentence for what is wrong with it.

use std::error::Error;
use std::process::ExitCode;

/// What may follow an option.
pub(crate) type Words<'a> = dyn Iterator<Item = String> + 'a;

/// The options of an example.
pub(crate) trait Options: Default {
    /// What `--help` prints.
    const USAGE: &'static str;

    /// Takes an option with the words that belong to it; `false` if there is no such option.
    ///
    /// # Errors
    /// What is wrong with these words.
    fn take(&mut self, option: &str, rest: &mut Words<'_>) -> Result<bool, String>;

    /// Looks at all options together.
    ///
    /// # Errors
    /// What is missing.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

/// Why an example does not run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// `--help` was asked for.
    Help,
    /// This is wrong.
    Usage(String),
}

/// The options that these words are.
///
/// # Errors
/// At the first word that is `--help`, or wrong.
pub(crate) fn read<O: Options>(words: impl IntoIterator<Item = String>) -> Result<O, Stop> {
    let mut options = O::default();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        if matches!(word.as_str(), "--help" | "-h") {
            return Err(Stop::Help);
        }
        if !options.take(&word, &mut words).map_err(Stop::Usage)? {
            return Err(Stop::Usage(format!("there is no option `{word}`")));
        }
    }
    options.check().map_err(Stop::Usage)?;
    Ok(options)
}

/// Runs an example with the command line of the process: exit code 0 if all is well or help was asked for, 1 if `run` fails,
/// 2 if the command line is wrong.
#[expect(
    clippy::print_stderr,
    reason = "an example says what is wrong where its user looks for it"
)]
pub(crate) fn main<O: Options>(run: impl FnOnce(O) -> Result<(), Box<dyn Error>>) -> ExitCode {
    match read(std::env::args().skip(1)) {
        Ok(options) => match run(options) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("error: {error}");
                ExitCode::FAILURE
            }
        },
        Err(Stop::Help) => {
            println!("{}", O::USAGE);
            ExitCode::SUCCESS
        }
        Err(Stop::Usage(wrong)) => {
            eprintln!("error: {wrong}\n\n{}", O::USAGE);
            ExitCode::from(2)
        }
    }
}
