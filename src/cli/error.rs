//! What may go wrong for a user of the command.

use std::io;
use std::path::PathBuf;

use crate::frontend::{LoadError, SaveError};
use crate::runtime_gpu::GpuError;

/// Something given to the command is wrong, or the machine cannot do it. All exit with code 1.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// A file that cannot be read or loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A file that cannot be written.
    #[error(transparent)]
    Save(#[from] SaveError),
    /// A folder that cannot be made.
    #[error("cannot make the folder {}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The GPU cannot be used.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// The only adapter runs on the CPU, and that was not asked for.
    #[error(
        "the only adapter is `{name}`, which runs on the CPU; --allow-software uses it all the same"
    )]
    OnlySoftware {
        /// The adapter.
        name: String,
    },
    /// The output is gone or full.
    #[error("cannot write the output")]
    Output(#[from] io::Error),
}

impl CliError {
    /// Whether the reader of our output has gone: no reason to complain.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}
