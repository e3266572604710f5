//! Standard output: text, tables and JSON, fitted to the terminal.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use comfy_table::{ContentArrangement, Table};
use indicatif::ProgressBar;
use serde::Serialize;

use crate::pipeline::Watch;

/// Columns where the width of the output is not known.
const DEFAULT_WIDTH: usize = 80;
/// How often the sign of progress moves.
const TICK: Duration = Duration::from_millis(100);

/// Where a verb writes.
pub(crate) struct Terminal {
    out: Box<dyn Write>,
    width: usize,
    styled: bool,
}

impl Terminal {
    /// Standard output, with colours if it is a terminal that has them.
    pub(crate) fn stdout() -> Self {
        let terminal = io::stdout().is_terminal();
        let plain = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty())
            || std::env::var_os("TERM").is_some_and(|v| v == "dumb");
        let width = console::Term::stdout()
            .size_checked()
            .map_or(DEFAULT_WIDTH, |(_, columns)| usize::from(columns));
        Self {
            out: Box::new(io::stdout().lock()),
            width: width.max(20),
            styled: terminal && !plain,
        }
    }

    /// Columns of the terminal.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// A line of text.
    pub(crate) fn line(&mut self, text: impl AsRef<str>) -> io::Result<()> {
        writeln!(self.out, "{}", text.as_ref())
    }

    /// Text as it is; a final line break is added if it lacks one.
    pub(crate) fn text(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes())?;
        if text.ends_with('\n') || text.is_empty() {
            Ok(())
        } else {
            self.out.write_all(b"\n")
        }
    }

    /// A program, in colours where there are styles.
    pub(crate) fn program(&mut self, text: &str) -> io::Result<()> {
        if self.styled {
            self.text(&crate::script::highlight(text))
        } else {
            self.text(text)
        }
    }

    /// A value for machines.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut self.out, value)?;
        self.out.write_all(b"\n")
    }

    /// A table without borders; long cells wrap at the width of the terminal.
    pub(crate) fn table(&mut self, header: &[&str], rows: &[Vec<String>]) -> io::Result<()> {
        let width = u16::try_from(self.width).unwrap_or(u16::MAX);
        self.text(&table(header, rows, width))
    }

    /// Text in bold, where there are styles.
    pub(crate) fn bold(&self, text: &str) -> String {
        self.painted(Style::new().bold(), text)
    }

    /// Text in green, where there are styles.
    pub(crate) fn good(&self, text: &str) -> String {
        self.painted(AnsiColor::Green.on_default(), text)
    }

    /// Text in red, where there are styles.
    pub(crate) fn bad(&self, text: &str) -> String {
        self.painted(AnsiColor::Red.on_default(), text)
    }

    fn painted(&self, style: Style, text: &str) -> String {
        if self.styled {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }
}

/// Says on stderr what takes long, if that is a terminal. Gone when it is dropped.
#[derive(Debug)]
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// Something begins.
    pub(crate) fn new(what: &'static str) -> Self {
        let bar = ProgressBar::new_spinner().with_message(what);
        bar.enable_steady_tick(TICK);
        Self(bar)
    }
}

impl Watch for Progress {
    fn at(&self, stage: &str, done: usize, of: usize) {
        self.0.set_message(match of {
            0 => format!("compile: {stage}"),
            of => format!("compile: {stage}, {done} of {of}"),
        });
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// A duration in milliseconds.
pub(crate) fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// A table without borders as text; long cells wrap at this width.
pub(crate) fn table(header: &[&str], rows: &[Vec<String>], width: u16) -> String {
    let mut table = Table::new();
    table
        .load_style(comfy_table::presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(width)
        .set_header(header);
    for row in rows {
        table.add_row(row);
    }
    let text = table.trim_fmt();
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n")
}
