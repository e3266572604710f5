//! The FashionMNIST test set: its files, how they are fetched, and what they hold.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use indicatif::ProgressBar;
use sha2::{Digest, Sha256};

use crate::cli::fashion::{CLASSES, SIDE};
use crate::frontend::{LoadError, load_tensor};
use crate::support::files::write_whole;
use crate::tensor::{DType, Tensor, TensorError};

/// A file of the data set.
struct Published {
    name: &'static str,
    bytes: u64,
    sha256: &'static str,
}

const IMAGES: Published = Published {
    name: "t10k-images-idx3-ubyte.gz",
    bytes: 4_422_102,
    sha256: "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
};

const LABELS: Published = Published {
    name: "t10k-labels-idx1-ubyte.gz",
    bytes: 5_148,
    sha256: "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
};

/// Where the files are published, as the data set's README says. They come without encryption, which took 7 % of the time to
/// build everything; checksums say whether they are right.
const MIRRORS: [&str; 1] = ["http://fashion-mnist.s3-website.eu-central-1.amazonaws.com"];

/// How long to wait for a server to answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// Why the test set cannot be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DataError {
    /// A file is absent.
    #[error("there is no {} (--download fetches it)", path.display())]
    Absent {
        /// The file.
        path: PathBuf,
    },
    /// A file is damaged.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A file is something else.
    #[error("{} is not what it should be: {dtype} of shape {shape:?}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// Its element type.
        dtype: DType,
        /// Its shape.
        shape: Vec<usize>,
    },
    /// A label is no class.
    #[error("label {label} of image {index} is no class")]
    Label {
        /// Position of the image.
        index: usize,
        /// What it says.
        label: u8,
    },
    /// No server gives the file.
    #[error("cannot download {name}: is there a network?\n{}", tried.join("\n"))]
    Download {
        /// The file.
        name: &'static str,
        /// Each address with what went wrong there.
        tried: Vec<String>,
    },
    /// A file or folder cannot be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The images cannot be made a tensor.
    #[error(transparent)]
    Tensor(#[from] TensorError),
}

/// Images with their labels.
pub(crate) struct TestSet {
    /// Pixels of all images in order, divided by 255.
    pixels: Vec<f32>,
    /// Class of each image.
    pub(crate) labels: Vec<u8>,
}

impl TestSet {
    /// Reads the test set from its folder.
    pub(crate) fn load(folder: &Path) -> Result<Self, DataError> {
        let (images_at, images) = read(folder, &IMAGES)?;
        let (labels_at, labels) = read(folder, &LABELS)?;
        let count = labels.shape().first().copied().unwrap_or(0);
        expect(images_at, &images, &[count, SIDE, SIDE])?;
        expect(labels_at, &labels, &[count])?;
        let labels = labels.as_slice::<u8>()?.to_vec();
        if let Some(index) = labels.iter().position(|&l| usize::from(l) >= CLASSES.len()) {
            return Err(DataError::Label {
                index,
                label: labels[index],
            });
        }
        let pixels = images.as_slice::<u8>()?;
        Ok(Self {
            pixels: pixels.iter().map(|&p| f32::from(p) / 255.0).collect(),
            labels,
        })
    }

    /// Images from one on, `[count, 784]`.
    pub(crate) fn batch(&self, start: usize, count: usize) -> Result<Tensor, TensorError> {
        let size = SIDE * SIDE;
        let pixels = &self.pixels[start * size..(start + count) * size];
        Tensor::from_slice(&[count, size], pixels)
    }
}

/// The file as it is published, or unpacked.
fn read(folder: &Path, file: &Published) -> Result<(PathBuf, Tensor), DataError> {
    let path = folder.join(file.name);
    let unpacked = path.with_extension("");
    let path = match (path.exists(), unpacked.exists()) {
        (true, _) => path,
        (false, true) => unpacked,
        (false, false) => return Err(DataError::Absent { path }),
    };
    let tensor = load_tensor(&path)?;
    Ok((path, tensor))
}

fn expect(path: PathBuf, tensor: &Tensor, shape: &[usize]) -> Result<(), DataError> {
    if tensor.dtype() == DType::U8 && tensor.shape() == shape {
        return Ok(());
    }
    Err(DataError::Content {
        path,
        dtype: tensor.dtype(),
        shape: tensor.shape().to_vec(),
    })
}

/// Fetches the files that are not in the folder, which is made if need be. What is there stays as it is.
pub(crate) fn download(folder: &Path) -> Result<(), DataError> {
    let refused = |source| DataError::Write {
        path: folder.to_owned(),
        source,
    };
    std::fs::create_dir_all(folder).map_err(refused)?;
    for file in [&LABELS, &IMAGES] {
        let path = folder.join(file.name);
        if path.exists() || path.with_extension("").exists() {
            continue;
        }
        let bytes = fetch(file, &MIRRORS)?;
        write_whole(&path, &bytes).map_err(|source| DataError::Write { path, source })?;
    }
    Ok(())
}

/// The file from the first server that has it as published.
fn fetch(file: &Published, mirrors: &[&str]) -> Result<Vec<u8>, DataError> {
    let mut tried = Vec::new();
    for mirror in mirrors {
        let address = format!("{mirror}/{}", file.name);
        match fetch_one(&address, file) {
            Ok(bytes) => return Ok(bytes),
            Err(reason) => tried.push(format!("  {address}: {reason}")),
        }
    }
    Err(DataError::Download {
        name: file.name,
        tried,
    })
}

/// The file from one address, or why not, in words for the user.
fn fetch_one(address: &str, file: &Published) -> Result<Vec<u8>, String> {
    let config = ureq::Agent::config_builder()
        .timeout_connect(Some(PATIENCE))
        .timeout_recv_response(Some(PATIENCE))
        .timeout_global(Some(20 * PATIENCE))
        .build();
    let response = ureq::Agent::from(config)
        .get(address)
        // The file itself is compressed; it must come as it is.
        .header("accept-encoding", "identity")
        .call()
        .map_err(|error| error.to_string())?;
    let progress = ProgressBar::new(file.bytes);
    progress.set_message(file.name);
    let body = response.into_body().into_reader();
    let mut bytes = Vec::new();
    progress
        .wrap_read(body)
        .take(file.bytes + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| error.to_string())?;
    progress.finish_and_clear();
    let found: String = Sha256::digest(&bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    if found == file.sha256 {
        Ok(bytes)
    } else {
        Err(format!(
            "the {} bytes that came have checksum {found}, not {}",
            bytes.len(),
            file.sha256
        ))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::TcpListener;

    use super::*;

    /// Answers one request with this body and returns the server's address.
    fn serve(body: &'static [u8]) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("bound");
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("one request");
            let mut request = [0; 4096];
            let _ = stream.read(&mut request).expect("a request");
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
            stream
                .write_all(&[head.as_bytes(), body].concat())
                .expect("connected");
        });
        format!("http://{address}")
    }

    const HELLO: Published = Published {
        name: "hello",
        bytes: 5,
        sha256: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
    };

    #[test]
    fn files_come_from_the_first_server_that_has_them_right() {
        let (wrong, right) = (serve(b"hallo"), serve(b"hello"));
        let bytes = fetch(&HELLO, &[&wrong, &right]).expect("the second is right");
        assert_eq!(bytes, b"hello");
    }

    #[test]
    fn a_failure_names_every_address() {
        let longer = serve(b"hello, world");
        let error = fetch(&HELLO, &[&longer, "http://127.0.0.1:1"]).expect_err("none is right");
        let text = error.to_string();
        assert!(
            text.starts_with("cannot download hello: is there a network?"),
            "{text}"
        );
        assert!(
            text.contains("the 6 bytes that came have checksum"),
            "{text}"
        );
        assert!(text.contains("http://127.0.0.1:1/hello: "), "{text}");
    }

    #[test]
    fn unpacked_files_will_do() {
        let folder = tempfile::tempdir().expect("scratch folder");
        let idx = |dims: &[u8], count: usize| {
            let mut bytes = vec![0, 0, 8, dims.len() as u8];
            for &dim in dims {
                bytes.extend([0, 0, 0, dim]);
            }
            bytes.resize(bytes.len() + count, 7);
            bytes
        };
        let write = |name: &str, bytes: Vec<u8>| {
            std::fs::write(folder.path().join(name), bytes).expect("writable");
        };
        write("t10k-images-idx3-ubyte", idx(&[2, 28, 28], 2 * 784));
        write("t10k-labels-idx1-ubyte", idx(&[2], 2));
        let set = TestSet::load(folder.path()).expect("both are there");
        assert_eq!(set.labels, [7, 7]);
        assert_eq!(set.pixels.len(), 2 * 784);
        download(folder.path()).expect("nothing is fetched");
    }

    #[test]
    fn a_folder_without_the_files_says_what_to_do() {
        let folder = tempfile::tempdir().expect("scratch folder");
        let error = TestSet::load(folder.path()).err().expect("empty");
        assert!(
            error
                .to_string()
                .ends_with("t10k-images-idx3-ubyte.gz (--download fetches it)")
        );
    }
}
