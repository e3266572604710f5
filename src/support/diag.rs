//! Diagnostics: plain data that renders to text with file, line, column and the source line underlined.
//!
//! The one place that knows how a message looks. Rooms build a [`Diagnostic`] from their typed errors; nobody prints here.

use std::ops::Range;

use codespan_reporting::diagnostic as codespan;
use codespan_reporting::files::SimpleFile;
use codespan_reporting::term::{self, Chars, Config};

/// A range of bytes of a text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl From<Range<usize>> for Span {
    fn from(range: Range<usize>) -> Self {
        Self {
            start: range.start,
            end: range.end,
        }
    }
}

impl Span {
    /// The span cut down to the text, to whole characters, and to its first line.
    fn first_line_in(self, text: &str) -> Range<usize> {
        let start = text.floor_char_boundary(self.start.min(text.len()));
        let end = text.floor_char_boundary(self.end.clamp(start, text.len()));
        let line = text[start..end].find('\n').map_or(end, |at| start + at);
        start..line
    }
}

/// A part of the text with a remark.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// Where; only the first line is underlined.
    pub span: Span,
    /// Remark beside the underline; may be empty.
    pub message: String,
    /// Whether it is where the error is, or only helps to understand it.
    pub role: LabelRole,
}

/// What a label is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LabelRole {
    /// The place of the error.
    Primary,
    /// Another place that explains it.
    Context,
}

/// An error with its places and hints.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// What is wrong: lower case, no final stop.
    pub message: String,
    /// Where.
    pub labels: Vec<Label>,
    /// Hints below the source line.
    pub notes: Vec<String>,
}

impl Diagnostic {
    /// An error without a place.
    pub fn error(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            labels: vec![],
            notes: vec![],
        }
    }

    /// The same with the place of the error.
    #[must_use]
    pub fn at(mut self, span: impl Into<Span>, message: impl Into<String>) -> Self {
        self.labels.push(Label {
            span: span.into(),
            message: message.into(),
            role: LabelRole::Primary,
        });
        self
    }

    /// The same with another place that explains it.
    #[must_use]
    pub fn context(mut self, span: impl Into<Span>, message: impl Into<String>) -> Self {
        self.labels.push(Label {
            span: span.into(),
            message: message.into(),
            role: LabelRole::Context,
        });
        self
    }

    /// The same with a hint.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// The message with the lines of `text`, which is shown as the file `name`. Of a very long line only its place is said.
    pub fn render(&self, name: &str, text: &str) -> String {
        if let Some(place) = self.labels.iter().find_map(|l| overlong_line(l.span, text)) {
            let notes: String = self
                .notes
                .iter()
                .map(|note| format!(" = {note}\n"))
                .collect();
            return format!("error: {}\n --> {name}:{place}\n{notes}\n", self.message);
        }
        let labels = self.labels.iter().map(|label| {
            let style = match label.role {
                LabelRole::Primary => codespan::LabelStyle::Primary,
                LabelRole::Context => codespan::LabelStyle::Secondary,
            };
            codespan::Label::new(style, (), label.span.first_line_in(text))
                .with_message(&label.message)
        });
        let diagnostic = codespan::Diagnostic::error()
            .with_message(&self.message)
            .with_labels(labels.collect())
            .with_notes(self.notes.clone());
        let config = Config {
            chars: Chars::ascii(),
            ..Config::default()
        };
        term::emit_into_string(&config, &SimpleFile::new(name, text), &diagnostic)
            .expect("labels lie inside the text, at whole characters")
    }
}

/// Bytes of a source line that are shown.
const LINE_LIMIT: usize = 1000;

/// Line and column of a span on a line that is too long to be shown.
fn overlong_line(span: Span, text: &str) -> Option<String> {
    let start = span.first_line_in(text).start;
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
    (line_end - line_start > LINE_LIMIT).then(|| {
        let line = text[..start].matches('\n').count() + 1;
        let column = text[line_start..start].chars().count() + 1;
        format!("{line}:{column}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_source_line_is_underlined() {
        let text = "a = 1\nb = c\n";
        let shown = Diagnostic::error("undefined name `c`")
            .at(10..11, "not defined")
            .note("define it first")
            .render("x.py", text);
        assert_eq!(
            shown,
            "error: undefined name `c`\n  --> x.py:2:5\n  |\n2 | b = c\n  |     ^ not defined\n  |\n  = define it first\n\n"
        );
    }

    #[test]
    fn spans_outside_the_text_or_inside_a_character_do_no_harm() {
        for (start, end) in [(0, 100), (50, 60), (1, 2), (7, 3)] {
            let span = Span { start, end };
            let shown = Diagnostic::error("x").at(span, "").render("f", "é\nb");
            assert!(shown.starts_with("error: x\n"));
        }
    }
}
