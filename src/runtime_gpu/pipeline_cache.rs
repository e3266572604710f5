//! `PipelineCache`: where a device keeps compiled pipelines, so that the next process need not wait for the driver again.
//!
//! The cache is wgpu's, which is Vulkan's. Other APIs have none, and the choice has no effect there. A device reads the file of its
//! adapter and driver when the device is opened. If its cache has grown, the device writes the file anew, after the shaders of an executable were
//! compiled and when the last handle of the device is dropped. Devices and processes may share a file. Each device has a cache of
//! its own in memory, and the file has the cache of the device that wrote last.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::cache_file::{CacheFile, Unused};
use super::device::{caught, lock};

/// Where a device keeps compiled pipelines between processes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum PipelineCache {
    /// Nowhere: no file is read or written.
    #[default]
    Off,
    /// In this folder, in a file for each adapter and driver. The folder is made when a file is written. The driver is given the data of
    /// the file, so no other user should have write access. A folder that every user of the machine may write is not used.
    Folder(PathBuf),
}

impl PipelineCache {
    /// In the cache folder of the user: `$XDG_CACHE_HOME/weftile/pipelines` or `~/.cache/weftile/pipelines`,
    /// `~/Library/Caches/weftile/pipelines` on macOS, `%LOCALAPPDATA%\weftile\pipelines` on Windows. Nowhere if there is no such folder.
    pub fn of_user() -> Self {
        let caches = user_caches(|name| std::env::var_os(name));
        caches.map_or(Self::Off, |caches| {
            Self::Folder(caches.join("weftile").join("pipelines"))
        })
    }
}

/// The folder for caches of this system's user.
fn user_caches(var: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    // A relative path would depend on where the program runs; the XDG specification has it ignored.
    let folder = |name: &str| var(name).map(PathBuf::from).filter(|p| p.is_absolute());
    if cfg!(windows) {
        folder("LOCALAPPDATA")
    } else if cfg!(target_vendor = "apple") {
        folder("HOME").map(|home| home.join("Library").join("Caches"))
    } else {
        folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache")))
    }
}

/// The cache of an opened device, and its file.
pub(super) struct KeptPipelines {
    cache: wgpu::PipelineCache,
    file: CacheFile,
    /// Pipelines made since it was last saved.
    made: AtomicU64,
    /// Bytes of the data in the file; 0 if the file is of no use.
    saved: Mutex<usize>,
}

impl KeptPipelines {
    /// The cache of a device that was opened with wgpu's feature for it, with what its file has.
    pub(super) fn open(
        device: &wgpu::Device,
        adapter: &wgpu::AdapterInfo,
        folder: &Path,
    ) -> Option<Self> {
        let file = CacheFile::of(folder, adapter)?;
        let found = match file.read() {
            Ok(data) => Some(data),
            Err(unused) => {
                log::debug!("no pipelines from {}: {unused}", file.path().display());
                None
            }
        };
        let (cache, data) = match &found {
            Some(data) => match create(device, Some(data)) {
                Ok(cache) => (cache, Some(data)),
                Err(_) => (create(device, None).ok()?, None),
            },
            None => (create(device, None).ok()?, None),
        };
        // The driver need not give back the bytes that it was given.
        let saved = data.and_then(|_| cache.get_data());
        let bytes = saved.map_or(0, |data| data.len());
        if data.is_some() {
            log::debug!("{bytes} bytes of pipelines from {}", file.path().display());
        }
        Some(Self {
            cache,
            file,
            made: AtomicU64::new(0),
            saved: Mutex::new(bytes),
        })
    }

    /// The cache, for a pipeline that is about to be made.
    pub(super) fn cache(&self) -> &wgpu::PipelineCache {
        &self.cache
    }

    /// Notes that a pipeline was made with it.
    pub(super) fn count(&self) {
        self.made.fetch_add(1, Ordering::Relaxed);
    }

    /// Where its file is, or will be.
    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }

    /// Writes the file if the cache has grown. wgpu does not say whether a pipeline came from the cache, but drivers only add to it.
    pub(super) fn save(&self) {
        let mut saved = lock(&self.saved);
        if self.made.swap(0, Ordering::Relaxed) == 0 {
            return;
        }
        let Some(data) = self.cache.get_data() else {
            return;
        };
        if data.len() == *saved {
            return;
        }
        let path = self.file.path().display();
        match self.file.write(&data) {
            Ok(()) => {
                *saved = data.len();
                log::debug!("{} bytes of pipelines kept in {path}", data.len());
            }
            Err(Unused::TooLarge { bytes }) => {
                log::debug!("{bytes} bytes of pipelines are too many for {path}");
            }
            Err(unused) => log::debug!("no pipelines kept in {path}: {unused}"),
        }
    }
}

#[expect(
    unsafe_code,
    reason = "wgpu cannot know that the data of a cache are those that it gave"
)]
fn create(device: &wgpu::Device, data: Option<&[u8]>) -> Result<wgpu::PipelineCache, ()> {
    let desc = wgpu::PipelineCacheDescriptor {
        label: Some("weftile"),
        data,
        fallback: true,
    };
    // SAFETY: the data are what `PipelineCache::get_data` gave for this adapter and driver: `CacheFile::read` gives only data whose
    // length, checksum, adapter and driver are those that `CacheFile::write` noted, from files that not every user may write.
    // wgpu and the driver look at the headers of their own once more.
    let (cache, error) = caught(device, || unsafe { device.create_pipeline_cache(&desc) });
    match error {
        None => Ok(cache),
        Some(error) => {
            log::debug!("no pipeline cache: {error}");
            Err(())
        }
    }
}

#[cfg(test)]
mod tests;
