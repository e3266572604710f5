//! `CacheFile`: the file in which the pipelines of an adapter are kept between processes.
//!
//! A file is a header and the data of wgpu. The header has the names of adapter and driver, the length of the data and a
//! checksum (CRC-32, as in zip files). A truncated, altered or foreign file is refused before its data reach a driver.
//! A file that every user may write is refused, too. A refused file is no error of the device: the cache starts empty, and the next save
//! replaces the file.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::Crc;

use crate::support::files::write_whole_with;

/// Most bytes of a file. A larger file is neither read nor written.
pub(super) const MAX_BYTES: u64 = 64 << 20;

/// The first bytes of a file; the last of them counts versions of the header.
const MAGIC: [u8; 8] = *b"weftpip\x01";

/// Bytes of the magic, the length of the words, the length of the data, and the checksum.
const FIXED: usize = 8 + 4 + 8 + 4;

/// Most characters of the driver in the name of a file.
const NAME_CHARS: usize = 100;

/// Where the pipelines of an adapter are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CacheFile {
    path: PathBuf,
    /// Adapter, driver, and the size of pointers, in words.
    identity: String,
}

/// Why a file is not used.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unused {
    /// The file system refuses, or there is none.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Too large.
    #[error("{bytes} bytes are more than the {MAX_BYTES} that are kept")]
    TooLarge {
        /// Bytes of the file, or of the data.
        bytes: u64,
    },
    /// Others may write it.
    #[error("every user of the machine may write {}", .0.display())]
    Public(PathBuf),
    /// Something else.
    #[error("it is no pipeline cache")]
    Foreign,
    /// Another adapter or driver made it.
    #[error("it is of another adapter or driver")]
    OtherDriver,
    /// It is not what was written.
    #[error("it is damaged")]
    Damaged,
}

impl CacheFile {
    /// The file of an adapter in a folder; `None` if wgpu has no cache for such adapters.
    pub(super) fn of(folder: &Path, adapter: &wgpu::AdapterInfo) -> Option<Self> {
        let key = wgpu::util::pipeline_cache_key(adapter)?;
        let driver = format!("{} {}", adapter.driver, adapter.driver_info);
        let parts = driver.split(|c: char| !c.is_ascii_alphanumeric() && c != '.');
        let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
        let driver_chars: String = parts.join("-").chars().take(NAME_CHARS).collect();
        let bits = usize::BITS;
        Some(Self {
            path: folder.join(format!("{key}_{driver_chars}_{bits}")),
            identity: format!("{key}\n{}\n{driver}\n{bits}", adapter.name),
        })
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The data of wgpu in it.
    ///
    /// # Errors
    /// If there is no file, or it is not one that this program wrote for the adapter and its driver.
    pub(super) fn read(&self) -> Result<Vec<u8>, Unused> {
        // To open what is no file might wait.
        if !fs::metadata(&self.path)?.is_file() {
            return Err(Unused::Foreign);
        }
        self.check_folder()?;
        let file = File::open(&self.path)?;
        let found = file.metadata()?;
        if !found.is_file() {
            return Err(Unused::Foreign);
        }
        check_private(&self.path, &found)?;
        let mut bytes = Vec::new();
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(Unused::TooLarge { bytes: found.len() });
        }
        let at = self.check(&bytes)?;
        bytes.drain(..at);
        Ok(bytes)
    }

    /// Where the data start in the bytes of a file.
    fn check(&self, bytes: &[u8]) -> Result<usize, Unused> {
        if !bytes.starts_with(&MAGIC) {
            return Err(Unused::Foreign);
        }
        if bytes.len() < FIXED {
            return Err(Unused::Damaged);
        }
        let (head, rest) = bytes.split_at(FIXED);
        let [words, low, high, sum] = std::array::from_fn(|i| {
            let word = head[8 + 4 * i..][..4].try_into().expect("four bytes");
            u32::from_le_bytes(word)
        });
        let data = u64::from(high) << 32 | u64::from(low);
        if u64::from(words).checked_add(data) != Some(rest.len() as u64) || checksum(rest) != sum {
            return Err(Unused::Damaged);
        }
        let words = words as usize;
        if &rest[..words] != self.identity.as_bytes() {
            return Err(Unused::OtherDriver);
        }
        Ok(FIXED + words)
    }

    /// Replaces the file, or makes it and its folder. Data that are too large are not kept, nor is the file before them: the next
    /// process begins with an empty cache.
    ///
    /// # Errors
    /// If the file system refuses, others may write to the folder, or the data are too large.
    pub(super) fn write(&self, data: &[u8]) -> Result<(), Unused> {
        let words = self.identity.as_bytes();
        let bytes = (FIXED + words.len() + data.len()) as u64;
        if bytes > MAX_BYTES {
            if let Err(error) = fs::remove_file(&self.path) {
                log::debug!("{} stays: {error}", self.path.display());
            }
            return Err(Unused::TooLarge { bytes });
        }
        if let Some(folder) = self.path.parent() {
            make_private(folder)?;
        }
        self.check_folder()?;
        let mut sum = Crc::new();
        sum.update(words);
        sum.update(data);
        write_whole_with(&self.path, |file| {
            use std::io::Write;
            file.write_all(&MAGIC)?;
            file.write_all(&(words.len() as u32).to_le_bytes())?;
            file.write_all(&(data.len() as u64).to_le_bytes())?;
            file.write_all(&sum.sum().to_le_bytes())?;
            file.write_all(words)?;
            file.write_all(data)
        })?;
        Ok(())
    }

    fn check_folder(&self) -> Result<(), Unused> {
        match self.path.parent() {
            Some(folder) => check_private(folder, &fs::metadata(folder)?),
            None => Ok(()),
        }
    }
}

fn checksum(bytes: &[u8]) -> u32 {
    let mut sum = Crc::new();
    sum.update(bytes);
    sum.sum()
}

/// Makes a folder that only its user may read and write; one that is there stays as it is.
fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Refuses what every user of the machine may write. Windows has the cache folder of a user private.
fn check_private(path: &Path, found: &Metadata) -> Result<(), Unused> {
    #[cfg(unix)]
    if std::os::unix::fs::MetadataExt::mode(found) & 0o002 != 0 {
        return Err(Unused::Public(path.to_owned()));
    }
    let _ = (path, found);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adapter(driver_info: &str) -> wgpu::AdapterInfo {
        let mut info = wgpu::AdapterInfo::new(wgpu::DeviceType::Cpu, wgpu::Backend::Vulkan);
        info.vendor = 0x10005;
        info.driver = "llvmpipe".to_owned();
        info.driver_info = driver_info.to_owned();
        info
    }

    fn file(folder: &Path) -> CacheFile {
        CacheFile::of(folder, &adapter("Mesa 22.3.6 (LLVM 15.0.6)")).expect("Vulkan")
    }

    #[test]
    fn names_have_the_adapter_and_the_driver() {
        let name = |info: &wgpu::AdapterInfo| {
            let file = CacheFile::of(Path::new("folder"), info)?;
            let name = file.path().strip_prefix("folder").ok()?;
            Some(name.to_str()?.to_owned())
        };
        let bits = usize::BITS;
        assert_eq!(
            name(&adapter("Mesa 22.3.6 (LLVM 15.0.6)")),
            Some(format!(
                "wgpu_pipeline_cache_vulkan_65541_0_llvmpipe-Mesa-22.3.6-LLVM-15.0.6_{bits}"
            ))
        );
        let long = name(&adapter(&"../".repeat(1000))).expect("Vulkan");
        assert!(long.len() < 200 && !long.contains('/'), "{long}");
        let metal = wgpu::AdapterInfo {
            backend: wgpu::Backend::Metal,
            ..adapter("")
        };
        assert_eq!(name(&metal), None);
    }

    #[test]
    fn data_come_back_and_replace_what_was_there() {
        let folder = tempfile::tempdir().expect("scratch folder");
        let deep = folder.path().join("not").join("there");
        let file = file(&deep);
        let absent = file.read().map_err(|error| error.to_string());
        assert!(absent.is_err_and(|error| error.contains("os error 2")));
        for data in [&b"a driver's bytes"[..], b"", &[7; 1 << 20]] {
            file.write(data).expect("writable");
            assert_eq!(file.read().expect("there"), data);
        }
        assert_eq!(fs::read_dir(&deep).expect("there").count(), 1);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(&deep).expect("there").permissions().mode();
            assert_eq!(mode & 0o077, 0, "only its user sees it");
        }
    }

    #[test]
    fn every_damage_is_found() {
        let folder = tempfile::tempdir().expect("scratch folder");
        let file = file(folder.path());
        file.write(b"a driver's bytes").expect("writable");
        let whole = fs::read(file.path()).expect("there");
        let refused = |bytes: &[u8]| {
            fs::write(file.path(), bytes).expect("writable");
            file.read().expect_err("it is not what was written")
        };
        for len in 0..whole.len() {
            refused(&whole[..len]);
        }
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut altered = whole.clone();
                altered[at] ^= 1 << bit;
                refused(&altered);
            }
        }
        refused(&[&whole[..], b"."].concat());
        let huge = [&MAGIC[..], &[0xff; 16]].concat();
        assert!(matches!(refused(&huge), Unused::Damaged));
        assert!(matches!(refused(b"#!/bin/sh"), Unused::Foreign));
        file.write(b"new").expect("it is replaced");
        assert_eq!(file.read().expect("there"), b"new");
    }

    #[test]
    fn files_of_other_drivers_are_not_read() {
        let folder = tempfile::tempdir().expect("scratch folder");
        let file = file(folder.path());
        // Their names differ in nothing: what is no letter is left out.
        let other = CacheFile::of(folder.path(), &adapter("Mesa 22.3.6 [LLVM 15.0.6]"));
        let other = other.expect("Vulkan");
        assert_eq!(file.path(), other.path());
        other.write(b"theirs").expect("writable");
        assert!(matches!(file.read(), Err(Unused::OtherDriver)));
        file.write(b"ours").expect("writable");
        assert!(matches!(other.read(), Err(Unused::OtherDriver)));
    }

    #[test]
    fn large_files_are_neither_read_nor_written() {
        let folder = tempfile::tempdir().expect("scratch folder");
        let file = file(folder.path());
        file.write(b"small").expect("writable");
        let grown = File::options().write(true).open(file.path());
        grown
            .and_then(|grown| grown.set_len(MAX_BYTES + 1))
            .expect("sparse");
        assert!(matches!(file.read(), Err(Unused::TooLarge { .. })));
        let large = vec![0; MAX_BYTES as usize];
        assert!(matches!(file.write(&large), Err(Unused::TooLarge { .. })));
        assert!(!file.path().exists(), "the next process begins anew");
    }

    #[test]
    fn what_cannot_be_a_file_is_an_error_alone() {
        let folder = tempfile::tempdir().expect("scratch folder");
        let file = file(folder.path());
        fs::create_dir(file.path()).expect("writable");
        assert!(matches!(file.read(), Err(Unused::Foreign)));
        assert!(matches!(file.write(b"data"), Err(Unused::Io(_))));
        let taken = folder.path().join("taken");
        fs::write(&taken, b"").expect("writable");
        let below = self::file(&taken);
        assert!(below.read().is_err() && below.write(b"data").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn what_others_may_write_is_not_used() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("scratch folder");
        let file = file(folder.path());
        let set = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it is ours");
        };
        file.write(b"data").expect("writable");
        set(file.path(), 0o666);
        assert!(matches!(file.read(), Err(Unused::Public(_))));
        set(file.path(), 0o644);
        assert_eq!(file.read().expect("there"), b"data");
        set(folder.path(), 0o1777);
        assert!(matches!(file.read(), Err(Unused::Public(_))));
        assert!(matches!(file.write(b"new"), Err(Unused::Public(_))));
    }
}
