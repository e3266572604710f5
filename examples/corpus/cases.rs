//! Replays recorded programs through the parser and the printer, and groups what goes wrong.
//!
//! A corpus is a file of JSON lines; the programs of a line are the strings under `text`, `source`, `before` and `after`. A
//! program is stable if it parses, its print parses, and both modules are `alpha_eq`.

use std::io::{BufRead, BufReader, Read};

use serde_json::Value;

use weftile::ir::alpha_eq;
use weftile::script::{PrintOptions, ScriptErrorKind, ScriptErrors, parse, print_with};

/// The fields of a line that hold programs.
const FIELDS: [&str; 4] = ["text", "source", "before", "after"];

/// One recorded program.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// Where it comes from: line and field, and what the line says of its origin.
    pub(crate) name: String,
    /// The text.
    pub(crate) text: String,
}

/// How a program fared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// Its print parses back as the same program.
    Stable,
    /// It uses an instruction of one vendor's hardware, which the parser refuses by name.
    Refused(String),
    /// It does not parse.
    NotRead(Failure),
    /// Its print does not parse.
    NotReadBack(Failure),
    /// Its print parses as another program: the first difference.
    Differs(Failure),
}

/// What went wrong with a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Failure {
    /// What it has in common with others: the message without the names of this program.
    pub(crate) class: String,
    /// The whole message.
    pub(crate) message: String,
}

/// A file of programs that cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CorpusError {
    /// The bytes end early or are no gzip.
    #[error("the file cannot be read")]
    Io(#[from] std::io::Error),
    /// A line is no JSON object.
    #[error("line {line} is no JSON object")]
    Line {
        /// Its number, from 1.
        line: usize,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
}

/// The programs of a file of JSON lines, compressed with gzip.
///
/// # Errors
/// If it is no such file.
pub(crate) fn read_programs(bytes: impl Read) -> Result<Vec<Program>, CorpusError> {
    let reader = BufReader::new(flate2::read::GzDecoder::new(bytes));
    let mut programs = Vec::new();
    for (at, line) in reader.lines().enumerate() {
        let number = at + 1;
        let record: Value = serde_json::from_str(&line?).map_err(|source| CorpusError::Line {
            line: number,
            source,
        })?;
        let origin = ["id", "file", "test"].map(|field| record[field].as_str().unwrap_or(""));
        let origin: Vec<&str> = origin.into_iter().filter(|part| !part.is_empty()).collect();
        for field in FIELDS {
            if let Some(text) = record[field].as_str() {
                programs.push(Program {
                    name: format!("{number}/{field} {}", origin.join("::")),
                    text: text.to_owned(),
                });
            }
        }
    }
    Ok(programs)
}

impl Program {
    /// Parses, prints, parses back and compares.
    pub(crate) fn judge(&self) -> Verdict {
        let module = match parse(&self.name, &self.text) {
            Ok(module) => module,
            Err(errors) => {
                let refused = errors.errors.iter().find_map(|error| match &error.kind {
                    ScriptErrorKind::Vendor { name } => Some(name.clone()),
                    _ => None,
                });
                return match refused {
                    Some(name) => Verdict::Refused(name),
                    None => Verdict::NotRead(failure(&errors)),
                };
            }
        };
        let printed = print_with(&module, &PrintOptions { show_meta: true });
        let again = match parse("printed.py", &printed) {
            Ok(again) => again,
            Err(errors) => return Verdict::NotReadBack(failure(&errors)),
        };
        match alpha_eq::module(&module, &again) {
            Ok(()) => Verdict::Stable,
            Err(difference) => Verdict::Differs(Failure {
                class: difference.path.last().cloned().unwrap_or_default(),
                message: format!("{difference}\n{printed}"),
            }),
        }
    }
}

/// The first error is the class: later ones often follow from it.
fn failure(errors: &ScriptErrors) -> Failure {
    let class = errors.errors.first().map(|error| match &error.kind {
        ScriptErrorKind::Expected { expected, found: _ } => format!("expected {expected}"),
        ScriptErrorKind::OutOfRange {
            number: _,
            expected,
        } => format!("a number is out of range: {expected}"),
        ScriptErrorKind::Undefined { .. } => "undefined name".to_owned(),
        kind => kind.to_string(),
    });
    Failure {
        class: class.unwrap_or_default(),
        message: errors.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(text: &str) -> Verdict {
        Program {
            name: "case".to_owned(),
            text: text.to_owned(),
        }
        .judge()
    }

    #[test]
    fn verdicts_say_how_far_a_program_comes() {
        let good = "@T.prim_func\ndef f(A: T.Buffer((4,), \"float32\")):\n    for i in range(4):\n        A[i] = T.float32(0)\n";
        assert_eq!(verdict(good), Verdict::Stable);
        let Verdict::NotRead(failure) = verdict(&good.replace("range(4)", "reach(4)")) else {
            panic!("`reach` is no loop");
        };
        assert!(failure.class.starts_with("expected `range(n)`"));
        assert!(failure.message.contains("case:3:"));
    }

    #[test]
    fn every_field_of_a_line_is_a_program() {
        let line = "{\"id\": \"a\", \"before\": \"x\", \"after\": \"y\", \"run\": 1}\n";
        let mut gzip = flate2::write::GzEncoder::new(vec![], flate2::Compression::fast());
        std::io::Write::write_all(&mut gzip, line.as_bytes()).expect("memory");
        let programs = read_programs(&gzip.finish().expect("memory")[..]).expect("one line");
        let names: Vec<&str> = programs.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["1/before a", "1/after a"]);
    }
}
