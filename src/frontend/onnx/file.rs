//! Files as bytes in memory: mapped, so that weights are read once, when tensors are made of them.
#![expect(
    unsafe_code,
    reason = "a mapped file is memory that other programs can change"
)]

use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};

use bytes::Bytes;

use super::error::TensorFault;

/// The bytes of a file.
pub(super) fn map(path: &Path) -> io::Result<Bytes> {
    // To open a pipe waits for somebody who writes.
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let file = File::open(path)?;
    if file.metadata()?.len() == 0 {
        return Ok(Bytes::new());
    }
    // SAFETY: the bytes are only read, as plain numbers, and are copied into tensors before anything relies on what they are. Text is
    // copied. A program that shortens the file meanwhile ends this one by a signal, as it does to every program that maps it.
    let map = unsafe { memmap2::Mmap::map(&file) }?;
    Ok(Bytes::from_owner(map))
}

/// The path of a file beside a model. It stays in the folder of the model.
pub(super) fn beside(folder: &Path, location: &str) -> Result<PathBuf, TensorFault> {
    let relative = Path::new(location);
    let plain = relative
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if location.is_empty() || !plain {
        let why = format!("`{location}` is not a path in the folder of the model");
        return Err(TensorFault::External(why));
    }
    let path = folder.join(relative);
    // A link may lead out of the folder.
    let read = |source| TensorFault::Read {
        path: path.clone(),
        source,
    };
    let inside = folder.canonicalize().map_err(read)?;
    let real = path.canonicalize().map_err(read)?;
    match real.starts_with(inside) {
        true => Ok(real),
        false => Err(TensorFault::External(format!(
            "`{location}` is a link out of the folder of the model"
        ))),
    }
}
