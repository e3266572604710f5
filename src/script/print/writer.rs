//! Lines with indentation.

/// Text under construction.
#[derive(Debug, Default)]
pub(super) struct Writer {
    text: String,
    depth: usize,
}

impl Writer {
    /// One line at the current depth.
    pub(super) fn line(&mut self, line: impl AsRef<str>) {
        for _ in 0..self.depth {
            self.text.push_str("    ");
        }
        self.text.push_str(line.as_ref());
        self.text.push('\n');
    }

    /// An empty line.
    pub(super) fn blank(&mut self) {
        self.text.push('\n');
    }

    /// The following lines are deeper.
    pub(super) fn indent(&mut self) {
        self.depth += 1;
    }

    /// The following lines are less deep.
    pub(super) fn dedent(&mut self) {
        self.depth -= 1;
    }

    /// Position of the first character of the next line, after its indentation.
    pub(super) fn next_line_start(&self) -> usize {
        self.text.len() + 4 * self.depth
    }

    /// Position of the end of the last line, before its line break.
    pub(super) fn last_line_end(&self) -> usize {
        self.text.len().saturating_sub(1)
    }

    /// The text.
    pub(super) fn finish(self) -> String {
        self.text
    }
}
