//! What `--output` names, asked before anything is computed for it.

use std::path::Path;

use super::error::CliError;

/// What a verb writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Written {
    /// One file.
    File,
    /// A file for each of several things, in a folder.
    Folder,
}

/// Refuses a folder where a file is written, and a file where a folder is.
pub(crate) fn check_output(path: &Path, written: Written) -> Result<(), CliError> {
    let path = path.to_owned();
    match written {
        Written::File if path.is_dir() => Err(CliError::OutputIsFolder { path }),
        Written::Folder if path.exists() && !path.is_dir() => Err(CliError::OutputIsFile { path }),
        Written::File | Written::Folder => Ok(()),
    }
}
