//! A case file: its commands, its input, and what is expected.

use std::path::{Path, PathBuf};

use libtest_mimic::Failed;
use similar::TextDiff;

/// Starts the expected text, which is a program.
const EXPECT: &str = "# expect:";
/// Starts the expected message, each line of which is a comment.
const EXPECT_ERROR: &str = "# expect-error:";

/// What a case says is to come out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// Nothing is said: the input is accepted, and is itself the expected text where there is one.
    Nothing,
    /// A program.
    Text(String),
    /// A message.
    Error(String),
}

/// One case.
pub(crate) struct Case {
    path: PathBuf,
    /// Name of the file, as messages show it.
    pub(crate) name: String,
    /// What is done with it.
    pub(crate) test: String,
    /// Its `# run:` lines.
    pub(crate) run: Vec<String>,
    /// The text before what is expected, commands included.
    pub(crate) input: String,
    /// What is to come out.
    pub(crate) expected: Expected,
}

impl Case {
    /// Reads a file.
    pub(crate) fn read(path: &Path) -> Result<Self, Failed> {
        let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let command = |name: &str| {
            let prefix = format!("# {name}:");
            let values = text
                .lines()
                .filter_map(move |line| line.strip_prefix(prefix.as_str()));
            values
                .map(|value| value.trim().to_owned())
                .collect::<Vec<_>>()
        };
        let (input, expected) = split(&text);
        let name = path
            .file_name()
            .map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        Ok(Self {
            path: path.to_owned(),
            name,
            test: command("test")
                .into_iter()
                .next()
                .ok_or("the file has no `# test:` line")?,
            run: command("run"),
            input,
            expected,
        })
    }

    /// Compares what came out with what is expected, as text.
    pub(crate) fn compare(&self, got: &Expected) -> Result<(), Failed> {
        if *got == self.expected {
            return Ok(());
        }
        self.mismatch(got)
    }

    /// Fails with a diff, or rewrites what is expected if that was asked for.
    pub(crate) fn mismatch(&self, got: &Expected) -> Result<(), Failed> {
        if std::env::var_os("WEFTILE_BLESS").is_some() {
            let text = format!("{}{}", self.input, section(got));
            std::fs::write(&self.path, text)
                .map_err(|e| format!("{}: {e}", self.path.display()))?;
            return Ok(());
        }
        let (expected, got) = (section(&self.expected), section(got));
        let diff = TextDiff::from_lines(&expected, &got);
        let diff = diff
            .unified_diff()
            .context_radius(3)
            .header("expected", "got")
            .to_string();
        Err(format!("{}:\n{diff}", self.path.display()).into())
    }
}

/// The input, and what is expected below it.
fn split(text: &str) -> (String, Expected) {
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let (before, after) = (&text[..offset], &text[offset + line.len()..]);
        match line.trim_end() {
            EXPECT => return (before.to_owned(), Expected::Text(after.to_owned())),
            EXPECT_ERROR => {
                let uncommented = after.lines().map(|l| {
                    l.strip_prefix("# ")
                        .unwrap_or(l.strip_prefix('#').unwrap_or(l))
                });
                let message = uncommented.map(|l| format!("{l}\n")).collect();
                return (before.to_owned(), Expected::Error(message));
            }
            _ => offset += line.len(),
        }
    }
    (text.to_owned(), Expected::Nothing)
}

/// The part of the file that says what is expected.
fn section(expected: &Expected) -> String {
    match expected {
        Expected::Nothing => String::new(),
        Expected::Text(text) => format!("{EXPECT}\n{text}"),
        Expected::Error(message) => {
            let lines = message.lines().map(|l| {
                if l.is_empty() {
                    "#\n".to_owned()
                } else {
                    format!("# {l}\n")
                }
            });
            format!("{EXPECT_ERROR}\n{}", lines.collect::<String>())
        }
    }
}

/// A message without the blank lines at its end, and without spaces at the ends of lines.
pub(crate) fn tidy(message: &str) -> String {
    let lines: Vec<&str> = message.trim_end().lines().map(str::trim_end).collect();
    lines.join("\n") + "\n"
}
