//! idx files (LeCun's MNIST format): big-endian extents, then elements; often compressed with gzip.
//!
//! Byte 2 is the element type, byte 3 the number of dimensions, then one `u32` per dimension.

use std::io::{self, Read};

use flate2::read::MultiGzDecoder;

use crate::tensor::{DType, Tensor, TensorError};

/// The most bytes that one file may unpack to.
const MAX_BYTES: usize = 1 << 32;
/// The most bytes that gzip makes of one.
const MAX_RATIO: usize = 1032;
/// The most dimensions.
const MAX_NDIM: usize = 8;

/// What is wrong with an idx file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IdxError {
    /// The first two bytes are not zero.
    #[error("not an idx file: starts with {found:02x?}")]
    Magic {
        /// The first four bytes.
        found: [u8; 4],
    },
    /// The element type has no meaning.
    #[error("unknown element type {code:#04x} in an idx header")]
    ElementType {
        /// The type's code.
        code: u8,
    },
    /// There are too many dimensions.
    #[error("{ndim} dimensions in an idx header, at most {MAX_NDIM} are read")]
    Ndim {
        /// Number of dimensions.
        ndim: usize,
    },
    /// The header promises more than is ever read.
    #[error("an idx file of shape {shape:?} is too large")]
    TooLarge {
        /// Shape in the header.
        shape: Vec<usize>,
    },
    /// The elements are fewer or more than the header says.
    #[error("an idx file of shape {shape:?} has {expected} bytes of elements, got {got}")]
    Length {
        /// Shape in the header.
        shape: Vec<usize>,
        /// Bytes that it takes.
        expected: usize,
        /// Bytes found; one more than expected if there are more.
        got: usize,
    },
    /// The header is cut short, or the compressed data are damaged.
    #[error("damaged idx file")]
    Damaged(#[from] io::Error),
    /// The tensor cannot be made.
    #[error(transparent)]
    Tensor(#[from] TensorError),
}

/// Reads an idx file from its bytes, unpacking gzip if that is what they are.
///
/// # Errors
/// [`IdxError`] if the header or the number of bytes is wrong.
pub fn parse_idx(bytes: &[u8]) -> Result<Tensor, IdxError> {
    if bytes.starts_with(&[0x1f, 0x8b]) {
        let most = bytes.len().saturating_mul(MAX_RATIO);
        read_idx(MultiGzDecoder::new(bytes), most)
    } else {
        read_idx(bytes, bytes.len())
    }
}

/// Reads from what can give at most so many bytes.
fn read_idx(mut reader: impl Read, most: usize) -> Result<Tensor, IdxError> {
    let mut head = [0; 4];
    reader.read_exact(&mut head)?;
    let [0, 0, code, ndim] = head else {
        return Err(IdxError::Magic { found: head });
    };
    let dtype = dtype(code)?;
    let ndim = usize::from(ndim);
    if ndim > MAX_NDIM {
        return Err(IdxError::Ndim { ndim });
    }
    let mut shape = Vec::with_capacity(ndim);
    for _ in 0..ndim {
        let mut extent = [0; 4];
        reader.read_exact(&mut extent)?;
        shape.push(u32::from_be_bytes(extent) as usize);
    }
    let expected = shape
        .iter()
        .try_fold(dtype.bytes(), |bytes, &extent| bytes.checked_mul(extent))
        .filter(|&bytes| bytes <= MAX_BYTES)
        .ok_or_else(|| IdxError::TooLarge {
            shape: shape.clone(),
        })?;
    // No memory for more than can be there, whatever the header promises.
    let room = if expected <= most { &shape[..] } else { &[0] };
    let mut tensor = Tensor::zeros(dtype, room)?;
    let elements = tensor.bytes_mut()?;
    let len = elements.len() as u64;
    let mut got = io::copy(&mut reader.by_ref().take(len), &mut &mut *elements)?;
    got += io::copy(&mut reader.take(expected as u64 - len + 1), &mut io::sink())?;
    if got != expected as u64 {
        return Err(IdxError::Length {
            shape,
            expected,
            got: got as usize,
        });
    }
    if cfg!(target_endian = "little") {
        elements
            .chunks_exact_mut(dtype.bytes())
            .for_each(<[u8]>::reverse);
    }
    Ok(tensor)
}

fn dtype(code: u8) -> Result<DType, IdxError> {
    Ok(match code {
        0x08 => DType::U8,
        0x09 => DType::I8,
        0x0b => DType::I16,
        0x0c => DType::I32,
        0x0d => DType::F32,
        0x0e => DType::F64,
        _ => return Err(IdxError::ElementType { code }),
    })
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn shorts() -> Vec<u8> {
        vec![
            0, 0, 0x0b, 2, 0, 0, 0, 1, 0, 0, 0, 2, 0x01, 0x02, 0xff, 0xfe,
        ]
    }

    #[test]
    fn elements_are_big_endian() {
        let tensor = parse_idx(&shorts()).expect("well formed");
        assert_eq!(tensor.shape(), [1, 2]);
        assert_eq!(tensor.as_slice::<i16>().expect("i16"), [0x0102, -2]);
    }

    #[test]
    fn gzip_is_unpacked() {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(&shorts()).expect("memory");
        let packed = packer.finish().expect("memory");
        assert_eq!(
            parse_idx(&packed).expect("well formed"),
            parse_idx(&shorts()).expect("well formed")
        );
        assert!(matches!(
            parse_idx(&packed[..packed.len() - 9]),
            Err(IdxError::Damaged(_))
        ));
    }

    #[test]
    fn faults_are_named() {
        let change = |at: usize, byte: u8| {
            let mut bytes = shorts();
            bytes[at] = byte;
            parse_idx(&bytes)
        };
        assert!(matches!(change(0, 1), Err(IdxError::Magic { .. })));
        assert!(matches!(
            change(2, 7),
            Err(IdxError::ElementType { code: 7 })
        ));
        assert!(matches!(change(3, 9), Err(IdxError::Ndim { ndim: 9 })));
        assert!(matches!(change(4, 0xff), Err(IdxError::TooLarge { .. })));
        assert!(matches!(
            change(11, 3),
            Err(IdxError::Length {
                expected: 6,
                got: 4,
                ..
            })
        ));
        assert!(matches!(
            change(11, 1),
            Err(IdxError::Length {
                expected: 2,
                got: 3,
                ..
            })
        ));
        assert!(matches!(parse_idx(&[0, 0]), Err(IdxError::Damaged(_))));
    }

    #[test]
    fn nothing_is_unpacked_beyond_the_header() {
        let mut zeros = vec![0, 0, 8, 1];
        zeros.extend(1_000_000u32.to_be_bytes());
        zeros.resize(zeros.len() + 4_000_000, 0);
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        packer.write_all(&zeros).expect("memory");
        let packed = packer.finish().expect("memory");
        assert!(matches!(
            parse_idx(&packed),
            Err(IdxError::Length {
                expected: 1_000_000,
                got: 1_000_001,
                ..
            })
        ));
    }

    #[test]
    fn a_large_promise_takes_no_memory() {
        // Three dimensions of 1290: 2 GB by the header, no element in the file.
        let extent = 1290u32.to_be_bytes();
        let bytes = [&[0, 0, 8, 3][..], &extent, &extent, &extent].concat();
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        packer.write_all(&bytes).expect("memory");
        for bytes in [bytes, packer.finish().expect("memory")] {
            assert!(matches!(
                parse_idx(&bytes),
                Err(IdxError::Length { got: 0, .. })
            ));
        }
    }
}
