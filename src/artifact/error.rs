//! What is wrong with an artifact.

use std::path::PathBuf;

use super::Pc;

/// Why bytecode cannot run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[error("instruction {pc}: {problem}")]
pub struct BytecodeError {
    /// Position of the instruction; of its start for a function as a whole.
    pub pc: Pc,
    /// What is wrong.
    pub problem: String,
}

/// Why an artifact could not be saved or loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArtifactError {
    /// The file system said no.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What it said.
        source: std::io::Error,
    },
    /// The file is no zip archive, or damaged.
    #[error("no file that `weftile compile` writes, or a damaged one: {0}")]
    Zip(#[from] zip::result::ZipError),
    /// An entry is missing.
    #[error("entry `{0}` is missing")]
    Missing(String),
    /// An entry is longer than any that we would write.
    #[error("entry `{name}` says it has {bytes} bytes, the file has {file_bytes}")]
    Size {
        /// The entry.
        name: String,
        /// Its size as the archive says.
        bytes: u64,
        /// Size of the whole file.
        file_bytes: u64,
    },
    /// The file was written in another format.
    #[error(
        "format version {got} is {} than version {expected}, which this program reads",
        if *got > u64::from(*expected) { "newer" } else { "older" }
    )]
    Version {
        /// What this program reads.
        expected: u32,
        /// What the file says.
        got: u64,
    },
    /// An entry does not say what it should.
    #[error("entry `{name}`: {problem}")]
    Malformed {
        /// The entry.
        name: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A shader is not valid.
    #[error("shader of `{kernel}` is not valid: {problem}")]
    Shader {
        /// The kernel.
        kernel: String,
        /// What the validator says.
        problem: String,
    },
    /// A kernel runs on cooperative matrices. Nothing that is checked when a file is loaded says what its shader does with them.
    #[error(
        "`{kernel}` runs on cooperative matrices, and no file holds such a kernel: compile for a target without `fragments`"
    )]
    Fragments {
        /// The kernel.
        kernel: String,
    },
    /// The bytecode is not valid.
    #[error("bytecode: {0}")]
    Bytecode(#[from] BytecodeError),
}
