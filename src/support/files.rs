//! Files that appear whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Writes beside the file and then into its place, so that a failure leaves what was there.
///
/// # Errors
/// If the file system refuses.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_whole_with(path, |file| file.write_all(bytes))
}

/// The same of what a function writes piece by piece.
///
/// # Errors
/// If the file system refuses, and what the function says.
pub fn write_whole_with<E: From<io::Error>>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), E>,
) -> Result<(), E> {
    /// Threads of the process may write the same file.
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.{number}.partial", std::process::id()));
    let partial = path.with_file_name(name);
    let written = File::create(&partial).map_err(E::from).and_then(|file| {
        let mut file = BufWriter::new(file);
        write(&mut file)?;
        file.flush()?;
        Ok(fs::rename(&partial, path)?)
    });
    if written.is_err() {
        // The write failed already; a partial file that cannot be removed either changes nothing about that.
        let _ = fs::remove_file(&partial);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_partial_is_left() {
        let folder = tempfile::tempdir().expect("scratch folder");
        let path = folder.path().join("x");
        write_whole(&path, b"one").expect("writable");
        write_whole(&path, b"two").expect("writable");
        assert_eq!(fs::read(&path).expect("there"), b"two");
        // A folder in the place of the file cannot be replaced.
        let taken = folder.path().join("taken");
        fs::create_dir(&taken).expect("writable");
        assert!(write_whole(&taken, b"three").is_err());
        assert_eq!(fs::read_dir(&folder).expect("there").count(), 2);
    }

    #[test]
    fn threads_write_the_same_file_whole() {
        let folder = tempfile::tempdir().expect("scratch folder");
        let path = folder.path().join("x");
        std::thread::scope(|scope| {
            for thread in 0..4u8 {
                let path = &path;
                scope.spawn(move || {
                    let bytes = vec![thread; 1 << 16];
                    for _ in 0..50 {
                        write_whole(path, &bytes).expect("writable");
                    }
                });
            }
        });
        let bytes = fs::read(&path).expect("there");
        assert!(bytes.len() == 1 << 16 && bytes.iter().all(|byte| *byte == bytes[0]));
        assert_eq!(fs::read_dir(&folder).expect("there").count(), 1);
    }
}
