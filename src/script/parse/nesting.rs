//! Bounds the nesting of a text before the Python parser, which recurses, sees it.
//!
//! The depth of the syntax tree is bounded by open brackets, indentation, and operators in a row: `a + a + a …` is a tree as
//! deep as it is long. One pass over the bytes counts them, knowing only strings, comments, numbers and brackets; where the
//! text is not Python, so that the parser guesses, it rather counts too much. A `lambda` counts until the bracket around it closes,
//! for a comma of its parameters does not end its body. What holds code where no count would see it is refused: f-strings.

use crate::script::ScriptErrorKind;
use crate::script::error::ScriptError;

/// Brackets inside each other plus operators in a row that are read.
const LIMIT: usize = 256;
/// Indentation levels that are read.
const INDENT_LIMIT: usize = 100;
/// Bytes of a script that are read: room for a large model without its weights.
const SIZE_LIMIT: usize = 256 << 20;

/// Fails if the text is too large or nests too deep to be parsed safely.
pub(super) fn check(text: &str) -> Result<(), Box<ScriptError>> {
    if text.len() > SIZE_LIMIT {
        let kind = ScriptErrorKind::TooLarge {
            bytes: text.len(),
            limit: SIZE_LIMIT,
        };
        return Err(Box::new(ScriptError {
            span: (0..0).into(),
            kind,
        }));
    }
    Scan {
        bytes: text.as_bytes(),
        at: 0,
        chains: vec![Chain::default()],
        depth: 0,
        indents: vec![],
    }
    .run()
}

/// What counts inside of one bracket.
#[derive(Clone, Copy, Default)]
struct Chain {
    /// Operators since the last comma, with what opened there.
    operators: usize,
    /// `lambda`s since the bracket opened.
    lambdas: usize,
}

/// One pass over the text.
struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
    /// For the text outside all brackets and each open bracket: what counts there.
    chains: Vec<Chain>,
    /// Sum of `chains` and number of open brackets.
    depth: usize,
    /// Columns of the enclosing indented blocks.
    indents: Vec<usize>,
}

impl Scan<'_> {
    fn run(mut self) -> Result<(), Box<ScriptError>> {
        self.indentation()?;
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'#' => self.skip_comment(),
                b'"' | b'\'' => self.skip_string(byte),
                b'\n' | b'\r' => {
                    self.at += 1;
                    if self.chains.len() == 1 {
                        self.end_chain();
                    }
                    // Also inside of brackets: where one is not closed, the parser goes on with the next line.
                    self.indentation()?;
                }
                b'\\' => self.skip_escape(0),
                b'(' | b'[' | b'{' => {
                    self.add(1)?;
                    self.chains.push(Chain::default());
                    self.at += 1;
                }
                b')' | b']' | b'}' => {
                    self.end_chain();
                    if self.chains.len() > 1 {
                        self.chains.pop();
                    }
                    self.at += 1;
                }
                b',' | b';' => {
                    self.reset_chain();
                    self.at += 1;
                }
                b if b.is_ascii_alphabetic() || b == b'_' || b >= 0x80 => self.word()?,
                // What follows the digits is read as a word: `1f"…"` is a number and an f-string.
                b if b.is_ascii_digit() => self.skip_while(|b| b.is_ascii_digit() || b == b'_'),
                b if b.is_ascii_punctuation() => {
                    self.add(1)?;
                    self.at += 1;
                }
                _ => self.at += 1,
            }
        }
        Ok(())
    }

    fn too_deep(&self, limit: usize) -> Box<ScriptError> {
        Box::new(ScriptError {
            span: (self.at..self.at + 1).into(),
            kind: ScriptErrorKind::TooDeep { limit },
        })
    }

    fn refused(&self, at: std::ops::Range<usize>, what: &'static str) -> Box<ScriptError> {
        Box::new(ScriptError {
            span: at.into(),
            kind: ScriptErrorKind::Unsupported { what, instead: "" },
        })
    }

    /// Counts an operator or bracket on the current chain.
    fn add(&mut self, count: usize) -> Result<(), Box<ScriptError>> {
        self.chain().operators += count;
        self.depth += count;
        if self.depth > LIMIT {
            return Err(self.too_deep(LIMIT));
        }
        Ok(())
    }

    fn reset_chain(&mut self) {
        self.depth -= std::mem::take(&mut self.chain().operators);
    }

    fn end_chain(&mut self) {
        self.reset_chain();
        self.depth -= std::mem::take(&mut self.chain().lambdas);
    }

    fn chain(&mut self) -> &mut Chain {
        self.chains.last_mut().expect("the outermost chain stays")
    }

    fn skip_while(&mut self, keep: impl Fn(u8) -> bool) {
        while self.bytes.get(self.at).is_some_and(|&b| keep(b)) {
            self.at += 1;
        }
    }

    fn skip_comment(&mut self) {
        self.skip_while(|b| b != b'\n' && b != b'\r');
    }

    /// Skips a backslash with the end of line behind it, or else with `others` more bytes.
    fn skip_escape(&mut self, others: usize) {
        let rest = &self.bytes[self.at + 1..];
        self.at += 1 + match rest {
            [b'\r', b'\n', ..] => 2,
            [b'\r' | b'\n', ..] => 1,
            _ => others,
        };
    }

    /// Skips a string from its opening quote on, to its end or, for one quote, to the end of the line.
    fn skip_string(&mut self, quote: u8) {
        let triple = self.bytes[self.at..].starts_with(&[quote; 3]);
        self.at += if triple { 3 } else { 1 };
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\\' => self.skip_escape(1),
                b'\n' | b'\r' if !triple => return,
                b if b == quote && !triple => {
                    self.at += 1;
                    return;
                }
                b if b == quote && self.bytes[self.at..].starts_with(&[quote; 3]) => {
                    self.at += 3;
                    return;
                }
                _ => self.at += 1,
            }
        }
    }

    /// Reads a name or keyword. Keyword operators count; the prefix of an f-string is refused.
    fn word(&mut self) -> Result<(), Box<ScriptError>> {
        let start = self.at;
        self.skip_while(|b| b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80);
        let word = &self.bytes[start..self.at];
        let quoted = matches!(self.bytes.get(self.at), Some(b'"' | b'\''));
        // Not every character beyond ASCII is one of a name.
        let prefix = word.rsplit(|&b| b >= 0x80).next().unwrap_or(word);
        if quoted && prefix.len() <= 2 && prefix.iter().any(|b| b"fFtT".contains(b)) {
            return Err(self.refused(start..self.at + 1, "an f-string"));
        }
        if word == b"lambda" {
            self.add(1)?;
            self.chain().operators -= 1;
            self.chain().lambdas += 1;
        }
        const OPERATORS: [&[u8]; 9] = [
            b"not", b"and", b"or", b"if", b"else", b"await", b"in", b"is", b"yield",
        ];
        if OPERATORS.contains(&word) {
            self.add(1)?;
        }
        Ok(())
    }

    /// At the start of a line: keeps the stack of indentation columns.
    fn indentation(&mut self) -> Result<(), Box<ScriptError>> {
        let start = self.at;
        self.skip_while(|b| matches!(b, b' ' | b'\t' | b'\x0c'));
        if matches!(self.bytes.get(self.at), None | Some(b'\n' | b'\r' | b'#')) {
            return Ok(());
        }
        let column = self.at - start;
        while self.indents.last().is_some_and(|&outer| outer >= column) {
            self.indents.pop();
        }
        if column > 0 {
            self.indents.push(column);
        }
        if self.indents.len() > INDENT_LIMIT {
            return Err(self.too_deep(INDENT_LIMIT));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_text_passes() {
        let line = format!("x = [{}]\n", "a + (b * c[1]), ".repeat(10_000));
        assert!(check(&line.repeat(3)).is_ok());
        assert!(check("s = '((((' # ((((\nt = \"\"\"((((\n((\"\"\"\n").is_ok());
        assert!(check(&"x = 1 + 2\n".repeat(1000)).is_ok());
    }

    #[test]
    fn deep_text_is_refused() {
        let indented: String = (0..500)
            .map(|n| format!("{}if x:\n", " ".repeat(n)))
            .collect();
        for text in [
            "(".repeat(1000),
            "-".repeat(1000),
            "not ".repeat(1000),
            "a + ".repeat(1000),
            "f()".repeat(1000),
            "a.".repeat(1000),
            indented.clone(),
            format!("(\n{indented}"),
            // Carriage returns end comments, strings and lines; a backslash goes with the line end behind it only.
            format!("# \r{}", "(".repeat(1000)),
            format!("'\\\r\n' + {}", "(".repeat(1000)),
            "\\(".repeat(1000),
            format!("x = 1\r{}", indented.replace('\n', "\r")),
            "lambda a,: ".repeat(1000),
            format!("({}", "lambda a,: ".repeat(1000)),
        ] {
            let error = check(&text).expect_err("it is too deep");
            assert!(matches!(error.kind, ScriptErrorKind::TooDeep { .. }));
        }
    }

    #[test]
    fn code_where_no_count_sees_it_is_refused() {
        for text in ["f\"{((\"", "1f\"{((\"", "\u{2603}f'{(('"] {
            let error = check(text).expect_err("it holds code");
            assert!(matches!(error.kind, ScriptErrorKind::Unsupported { .. }));
        }
    }
}
