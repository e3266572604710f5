//! Files that models, weights and data come in.
//!
//! All of them are untrusted bytes: nothing in them runs, sizes are checked against what is there before memory is taken,
//! and every refusal is a typed error.

mod error;
mod idx;
mod npy;
#[cfg(feature = "compiler")]
pub mod onnx;
mod pickle;
mod safetensors;

pub use error::{FileFault, LoadError, SaveError};
pub use idx::{IdxError, parse_idx};
pub use npy::{NpyError, parse_npy, parse_npz, save_npy};
pub use pickle::{PickleError, parse_pickle};
pub use safetensors::{SafetensorsError, parse_safetensors};

use std::path::Path;

use indexmap::IndexMap;

use crate::tensor::Tensor;

/// Reads named tensors: a pickled dict of numpy arrays (`.pkl`, `.pickle`), numpy's `.npz`, or safetensors.
///
/// # Errors
/// [`LoadError`] with the path.
pub fn load_params(path: &Path) -> Result<IndexMap<String, Tensor>, LoadError> {
    let at = |source: FileFault| source.at(path);
    match extension(path).as_str() {
        "pkl" | "pickle" => parse_pickle(&read(path)?).map_err(|e| at(e.into())),
        "npz" => parse_npz(&read(path)?).map_err(|e| at(e.into())),
        "safetensors" => parse_safetensors(&read(path)?).map_err(|e| at(e.into())),
        _ => Err(LoadError::UnknownFormat {
            path: path.to_owned(),
            known: "pkl, pickle, npz, safetensors",
        }),
    }
}

/// Reads one tensor: numpy's `.npy`, a `TensorProto` of ONNX (`.pb`), or an idx file, which may be compressed with gzip.
///
/// # Errors
/// [`LoadError`] with the path.
pub fn load_tensor(path: &Path) -> Result<Tensor, LoadError> {
    let at = |source: FileFault| source.at(path);
    match extension(path).as_str() {
        "npy" => parse_npy(&read(path)?).map_err(|e| at(e.into())),
        #[cfg(feature = "compiler")]
        "pb" => onnx::parse_tensor(&read(path)?).map_err(|e| at(FileFault::Onnx(Box::new(e)))),
        "gz" | "idx" => parse_idx(&read(path)?).map_err(|e| at(e.into())),
        _ if is_idx_name(path) => parse_idx(&read(path)?).map_err(|e| at(e.into())),
        _ => Err(LoadError::UnknownFormat {
            path: path.to_owned(),
            known: "npy, pb, idx, gz",
        }),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, LoadError> {
    std::fs::read(path).map_err(|source| LoadError::Read {
        path: path.to_owned(),
        source,
    })
}

fn extension(path: &Path) -> String {
    path.extension()
        .map(|e| e.to_string_lossy().to_ascii_lowercase())
        .unwrap_or_default()
}

/// The data sets' own names: `t10k-images-idx3-ubyte`.
fn is_idx_name(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| name.to_string_lossy().contains("-idx"))
}
