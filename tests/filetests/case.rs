//! A case file: its commands, its input, and what is expected.

use std::path::{Path, PathBuf};

use libtest_mimic::Failed;
use similar::TextDiff;

/// Starts the expected text, which is a program.
const EXPECT: &str = "# expect:";
/// Starts the expected listing, each line of which is a comment.
const EXPECT_LISTING: &str = "# expect-listing:";
/// Starts the expected message, each line of which is a comment.
const EXPECT_ERROR: &str = "# expect-error:";

/// What a case says is to come out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// Nothing is said: the input is accepted, and is itself the expected text where there is one.
    Nothing,
    /// A program.
    Text(String),
    /// Text that is no program: of a kernel, of native code.
    Listing(String),
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
    /// The device it is done for; empty if it is for none.
    pub(crate) target: String,
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
            target: command("target").into_iter().next().unwrap_or_default(),
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
            EXPECT_LISTING => return (before.to_owned(), Expected::Listing(uncommented(after))),
            EXPECT_ERROR => return (before.to_owned(), Expected::Error(uncommented(after))),
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
        Expected::Listing(text) => format!("{EXPECT_LISTING}\n{}", commented(text)),
        Expected::Error(message) => format!("{EXPECT_ERROR}\n{}", commented(message)),
    }
}

/// The text as comments.
fn commented(text: &str) -> String {
    let comment = |line: &str| match line {
        "" => "#\n".to_owned(),
        line => format!("# {line}\n"),
    };
    text.lines().map(comment).collect()
}

/// The text of comments.
fn uncommented(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let bare = line.strip_prefix("# ").or(line.strip_prefix('#'));
        format!("{}\n", bare.unwrap_or(line))
    });
    lines.collect()
}

/// A message without the blank lines at its end, and without spaces at the ends of lines.
pub(crate) fn tidy(message: &str) -> String {
    let lines: Vec<&str> = message.trim_end().lines().map(str::trim_end).collect();
    lines.join("\n") + "\n"
}
