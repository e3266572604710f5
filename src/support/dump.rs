//! Dumps of the stages of a compilation into numbered files, as `03-bind_params.graph`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// What can be dumped.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum DumpKind {
    Graph,
    Prim,
    Trace,
    Lower,
    Kernel,
    Wgsl,
    Clif,
    Bytecode,
}

impl DumpKind {
    /// All kinds.
    pub const ALL: [Self; 8] = [
        Self::Graph,
        Self::Prim,
        Self::Trace,
        Self::Lower,
        Self::Kernel,
        Self::Wgsl,
        Self::Clif,
        Self::Bytecode,
    ];

    /// Its name in `WEFTILE_DUMP`, and the extension of its files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Graph => "graph",
            Self::Prim => "prim",
            Self::Trace => "trace",
            Self::Lower => "lower",
            Self::Kernel => "kernel",
            Self::Wgsl => "wgsl",
            Self::Clif => "clif",
            Self::Bytecode => "bytecode",
        }
    }
}

impl fmt::Display for DumpKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no kind of dump.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown kind of dump `{0}`: expected one of graph, prim, trace, lower, kernel, wgsl, clif, bytecode"
)]
pub struct ParseDumpKindError(pub String);

impl FromStr for DumpKind {
    type Err = ParseDumpKindError;
    fn from_str(text: &str) -> Result<Self, ParseDumpKindError> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.name() == text)
            .ok_or_else(|| ParseDumpKindError(text.to_owned()))
    }
}

/// Writes dumps of the kinds asked for. Without a folder nothing is written.
#[derive(Clone, Debug, Default)]
pub struct Dumper {
    dir: Option<PathBuf>,
    kinds: Vec<DumpKind>,
    count: usize,
    last: Vec<(DumpKind, String, String)>,
}

impl Dumper {
    /// Dumps of these kinds into this folder.
    pub fn new(dir: &Path, kinds: &[DumpKind]) -> Self {
        Self {
            dir: Some(dir.to_owned()),
            kinds: kinds.to_vec(),
            ..Self::default()
        }
    }

    /// Whether dumps of this kind are written, so that the text is worth making.
    pub fn wants(&self, kind: DumpKind) -> bool {
        self.dir.is_some() && self.kinds.contains(&kind)
    }

    /// Writes what `subject` (a function or the module) is after `stage`; says `unchanged since …` instead of repeating.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn dump(
        &mut self,
        kind: DumpKind,
        stage: &str,
        subject: &str,
        text: &str,
    ) -> std::io::Result<()> {
        let Some(dir) = self.dir.clone().filter(|_| self.kinds.contains(&kind)) else {
            return Ok(());
        };
        let safe: String = subject
            .chars()
            .map(|c| {
                if c.is_alphanumeric() || c == '_' {
                    c
                } else {
                    '-'
                }
            })
            .collect();
        let name = format!("{:03}-{stage}-{safe}.{kind}", self.count);
        self.count += 1;
        std::fs::create_dir_all(&dir)?;
        let before = self
            .last
            .iter_mut()
            .find(|(k, s, _)| *k == kind && s == subject);
        match before {
            Some((_, _, old)) if old == text => std::fs::write(dir.join(name), "unchanged\n"),
            Some((_, _, old)) => {
                text.clone_into(old);
                std::fs::write(dir.join(name), text)
            }
            None => {
                self.last.push((kind, subject.to_owned(), text.to_owned()));
                std::fs::write(dir.join(name), text)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_text_is_said_once() {
        let dir = tempfile::tempdir().expect("a scratch folder");
        let mut dumper = Dumper::new(dir.path(), &[DumpKind::Graph]);
        for (stage, text) in [("parse", "a"), ("bind_params", "a"), ("fold", "b")] {
            dumper
                .dump(DumpKind::Graph, stage, "main", text)
                .expect("written");
            dumper
                .dump(DumpKind::Wgsl, stage, "main", text)
                .expect("not asked for");
        }
        let read = |name: &str| std::fs::read_to_string(dir.path().join(name)).expect(name);
        assert_eq!(read("000-parse-main.graph"), "a");
        assert_eq!(read("001-bind_params-main.graph"), "unchanged\n");
        assert_eq!(read("002-fold-main.graph"), "b");
        assert_eq!(std::fs::read_dir(dir.path()).expect("listed").count(), 3);
    }
}
