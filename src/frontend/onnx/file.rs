//! Files as bytes in memory: mapped, so that each weight is copied from where it lies, once, and is then in memory once.
#![expect(
    unsafe_code,
    reason = "a mapped file is memory that other programs can change"
)]

use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use memmap2::Mmap;

use super::error::TensorFault;

/// Bytes that the operating system maps around the one that is read.
#[cfg(unix)]
const READ_AROUND: usize = 1 << 16;

/// A file in memory. What is read of it counts as memory of this process until it is released.
#[derive(Clone, Debug, Default)]
pub(super) struct Mapped(Option<Arc<Mmap>>);

/// What keeps a map alive while slices of it are.
struct Owner(Arc<Mmap>);

impl AsRef<[u8]> for Owner {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Mapped {
    /// Maps a file.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        // To open a pipe waits for somebody who writes.
        if !std::fs::metadata(path)?.is_file() {
            return Err(io::Error::other("it is no regular file"));
        }
        let file = File::open(path)?;
        if file.metadata()?.len() == 0 {
            return Ok(Self::default());
        }
        // SAFETY: the bytes are only read, as plain numbers, and are copied into tensors before anything relies on what they are.
        // Text is copied. A program that shortens the file meanwhile ends this one by a signal, as it does to every program that
        // maps it.
        let map = unsafe { Mmap::map(&file) }?;
        Ok(Self(Some(Arc::new(map))))
    }

    /// The bytes of the file.
    pub(super) fn bytes(&self) -> Bytes {
        match &self.0 {
            Some(map) => Bytes::from_owner(Owner(map.clone())),
            None => Bytes::new(),
        }
    }

    /// Says of a part of the file that it was read, so that it need not stay in memory. A part of something else is nothing to it.
    /// The part can still be read: then it comes from the file again.
    #[cfg(unix)]
    pub(super) fn release(&self, part: &[u8]) {
        let Some(map) = &self.0 else { return };
        let inside = part.as_ptr().addr().checked_sub(map.as_ptr().addr());
        let inside = inside.filter(|start| start + part.len() <= map.len());
        if let Some(start) = inside.filter(|_| !part.is_empty()) {
            // To read this part brought back the end of the one before.
            let from = start - start % READ_AROUND;
            let length = start + part.len() - from;
            // SAFETY: the map is only read, so its pages are those of the file, and a page that is read again comes from there.
            let advised = unsafe {
                map.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, from, length)
            };
            // Pages that stay are no error.
            if let Err(error) = advised {
                log::debug!("{length} bytes of a mapped file stay in memory: {error}");
            }
        }
    }

    /// Says of a part of the file that it was read. The operating system decides itself what stays in memory.
    #[cfg(not(unix))]
    pub(super) fn release(&self, _part: &[u8]) {}
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
