//! What may go wrong with a file: where it is, and the fault of its format.

use std::io;
use std::path::{Path, PathBuf};

use super::{IdxError, NpyError, PickleError, SafetensorsError};

/// A file that cannot be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// It cannot be read at all.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Its name does not say a format that is known here.
    #[error("cannot tell the format of {} by its name: known are {known}", path.display())]
    UnknownFormat {
        /// The file.
        path: PathBuf,
        /// Names of formats that would do.
        known: &'static str,
    },
    /// Its bytes are not what its name says.
    #[error("cannot load {}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong with the bytes.
        source: FileFault,
    },
}

/// What is wrong with the bytes of a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileFault {
    /// In an idx file.
    #[error(transparent)]
    Idx(#[from] IdxError),
    /// In a numpy array file.
    #[error(transparent)]
    Npy(#[from] NpyError),
    /// In a pickle.
    #[error(transparent)]
    Pickle(#[from] PickleError),
    /// In a safetensors file.
    #[error(transparent)]
    Safetensors(#[from] SafetensorsError),
    /// In a tensor of ONNX.
    #[cfg(feature = "compiler")]
    #[error(transparent)]
    Onnx(Box<super::onnx::OnnxError>),
}

impl FileFault {
    pub(super) fn at(self, path: &Path) -> LoadError {
        LoadError::Format {
            path: path.to_owned(),
            source: self,
        }
    }
}

/// A file that cannot be written. What was there before is still there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SaveError {
    /// The system refuses.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The format has no name for the element type.
    #[error("cannot write {}: npy files hold no {dtype}", path.display())]
    DType {
        /// The file.
        path: PathBuf,
        /// The element type.
        dtype: crate::tensor::DType,
    },
}
