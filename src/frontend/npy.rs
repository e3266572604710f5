//! numpy's `.npy` files, read and written through the crate `npyz`.

use std::io::{self, Cursor, Read};
use std::path::Path;

use indexmap::IndexMap;
use npyz::{
    DType as NpyDType, Endianness, NpyFile, Order, TypeChar, TypeStr, WriteOptions, WriterBuilder,
};
use zip::ZipArchive;
use zip::result::ZipError;

use super::SaveError;
use crate::support::files::write_whole;
use crate::tensor::{DType, ScalarType, Tensor, TensorError};

/// The longest header that is read. numpy's own are 118 bytes for plain arrays.
const MAX_HEADER: usize = 1 << 16;
/// How deep brackets in a header may nest.
const MAX_DEPTH: usize = 8;

/// What is wrong with an npy file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NpyError {
    /// The header is not one.
    #[error("its npy header is cut off, or damaged")]
    Header(#[source] io::Error),
    /// The header is longer, or nests deeper, than any honest one.
    #[error("npy header of {bytes} bytes is too long or nests too deep")]
    HeaderTooLarge {
        /// Its length.
        bytes: usize,
    },
    /// The element type is not one of ours.
    #[error("npy element type {descr} is not supported")]
    ElementType {
        /// As the file says it.
        descr: String,
    },
    /// The elements are fewer or more than the header says.
    #[error("an npy file of shape {shape:?} and type {dtype}, each of {} bytes, has {got} bytes of elements: it is cut off, or damaged", dtype.bytes())]
    Length {
        /// Shape in the header.
        shape: Vec<u64>,
        /// Element type in the header.
        dtype: DType,
        /// Bytes found.
        got: usize,
    },
    /// The archive of several arrays is damaged.
    #[error("damaged npz archive: {0}")]
    Archive(#[source] ZipError),
    /// The arrays of an archive are larger than any honest ones.
    #[error("the arrays of the npz archive have more than {0} bytes")]
    TooLarge(u64),
    /// The tensor cannot be made.
    #[error(transparent)]
    Tensor(#[from] TensorError),
}

/// Reads an npy file from its bytes. Arrays in Fortran order and of other byte order are brought into ours.
///
/// # Errors
/// [`NpyError`] if the header or the number of bytes is wrong.
pub fn parse_npy(bytes: &[u8]) -> Result<Tensor, NpyError> {
    check_header(bytes)?;
    let file = NpyFile::new(Cursor::new(bytes)).map_err(NpyError::Header)?;
    let (dtype, swapped) = element_type(&file.dtype())?;
    let dims = file.shape().to_vec();
    let order = file.order();
    let mut elements = Vec::new();
    let mut rest = file.into_inner();
    rest.read_to_end(&mut elements).map_err(NpyError::Header)?;
    let fault = || NpyError::Length {
        shape: dims.clone(),
        dtype,
        got: elements.len(),
    };
    let shape = dims
        .iter()
        .map(|&dim| usize::try_from(dim).map_err(|_| fault()))
        .collect::<Result<Vec<_>, _>>()?;
    let expected = shape
        .iter()
        .try_fold(dtype.bytes(), |bytes, &dim| bytes.checked_mul(dim));
    if expected != Some(elements.len()) {
        return Err(fault());
    }
    let size = dtype.bytes();
    if swapped {
        elements.chunks_exact_mut(size).for_each(<[u8]>::reverse);
    }
    if order == Order::Fortran {
        elements = row_major(&elements, &shape, size);
    }
    Ok(Tensor::from_bytes(dtype, &shape, &elements)?)
}

/// Most bytes of the arrays of an npz file, together.
const MAX_NPZ: u64 = 1 << 32;

/// Reads an npz file, a zip archive of npy files, from its bytes: the arrays by name, in the order of the archive.
///
/// # Errors
/// [`NpyError`] if the archive is damaged, its arrays are larger than it may claim, or one of them is no npy file.
pub fn parse_npz(bytes: &[u8]) -> Result<IndexMap<String, Tensor>, NpyError> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(NpyError::Archive)?;
    let (mut tensors, mut left) = (IndexMap::new(), MAX_NPZ);
    for index in 0..archive.len() {
        let entry = archive.by_index(index).map_err(NpyError::Archive)?;
        let name = entry.name().map_err(NpyError::Archive)?;
        let name = name.trim_end_matches(".npy").to_owned();
        let mut bytes = vec![];
        // What an entry says of its size is not believed.
        entry
            .take(left + 1)
            .read_to_end(&mut bytes)
            .map_err(NpyError::Header)?;
        let read = bytes.len() as u64;
        left = left.checked_sub(read).ok_or(NpyError::TooLarge(MAX_NPZ))?;
        tensors.insert(name, parse_npy(&bytes)?);
    }
    Ok(tensors)
}

/// Elements of an array whose first dimension runs fastest, in the order in which the last one does.
pub(super) fn row_major(elements: &[u8], shape: &[usize], size: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(elements.len());
    let mut index = vec![0; shape.len()];
    for _ in 0..elements.len() / size {
        let mut stride = 1;
        let mut at = 0;
        for (i, extent) in index.iter().zip(shape) {
            at += i * stride;
            stride *= extent;
        }
        out.extend_from_slice(&elements[at * size..(at + 1) * size]);
        for (i, extent) in index.iter_mut().zip(shape).rev() {
            *i += 1;
            if *i < *extent {
                break;
            }
            *i = 0;
        }
    }
    out
}

/// Refuses headers that would take much memory or stack to parse.
fn check_header(bytes: &[u8]) -> Result<(), NpyError> {
    let length = match bytes.get(6) {
        Some(1) => bytes
            .get(8..10)
            .map(|b| usize::from(u16::from_le_bytes([b[0], b[1]]))),
        _ => bytes
            .get(8..12)
            .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize),
    };
    // A file without a length is refused by the parser.
    let length = length.unwrap_or(0);
    let (mut depth, mut deepest) = (0usize, 0);
    for byte in bytes.iter().take(12 + length.min(MAX_HEADER)) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    if length > MAX_HEADER || deepest > MAX_DEPTH {
        Err(NpyError::HeaderTooLarge { bytes: length })
    } else {
        Ok(())
    }
}

/// Our element type, and whether its bytes must be swapped.
fn element_type(dtype: &NpyDType) -> Result<(DType, bool), NpyError> {
    let unsupported = || NpyError::ElementType {
        descr: dtype.descr(),
    };
    let NpyDType::Plain(text) = dtype else {
        return Err(unsupported());
    };
    let scalar = match (text.type_char(), text.size_field()) {
        (TypeChar::Bool, 1) => ScalarType::Bool,
        (TypeChar::Int, 1) => ScalarType::I8,
        (TypeChar::Int, 2) => ScalarType::I16,
        (TypeChar::Int, 4) => ScalarType::I32,
        (TypeChar::Int, 8) => ScalarType::I64,
        (TypeChar::Uint, 1) => ScalarType::U8,
        (TypeChar::Uint, 2) => ScalarType::U16,
        (TypeChar::Uint, 4) => ScalarType::U32,
        (TypeChar::Uint, 8) => ScalarType::U64,
        (TypeChar::Float, 2) => ScalarType::F16,
        (TypeChar::Float, 4) => ScalarType::F32,
        (TypeChar::Float, 8) => ScalarType::F64,
        _ => return Err(unsupported()),
    };
    let swapped = scalar.bytes() > 1
        && text.endianness() != Endianness::Irrelevant
        && text.endianness() != Endianness::of_machine();
    Ok((scalar.into(), swapped))
}

/// Writes a tensor as an npy file. The file appears whole or not at all.
///
/// # Errors
/// [`SaveError`] if the system refuses, or for `bfloat16` and small types, which numpy does not know.
pub fn save_npy(path: &Path, tensor: &Tensor) -> Result<(), SaveError> {
    let refused = |source| SaveError::Write {
        path: path.to_owned(),
        source,
    };
    let bytes = to_npy(tensor)
        .map_err(refused)?
        .ok_or_else(|| SaveError::DType {
            path: path.to_owned(),
            dtype: tensor.dtype(),
        })?;
    write_whole(path, &bytes).map_err(refused)
}

/// The bytes of the file, or nothing if npy has no name for the element type.
fn to_npy(tensor: &Tensor) -> io::Result<Option<Vec<u8>>> {
    let Some(descr) = descr(tensor.dtype()) else {
        return Ok(None);
    };
    let dtype = descr
        .parse::<TypeStr>()
        .map(NpyDType::Plain)
        .map_err(io::Error::other)?;
    let shape: Vec<u64> = tensor.shape().iter().map(|&dim| dim as u64).collect();
    let mut bytes = Vec::new();
    WriteOptions::new_header_only()
        .dtype(dtype)
        .shape(&shape)
        .writer(&mut bytes)
        .write_header_only()?;
    bytes.extend_from_slice(tensor.bytes());
    Ok(Some(bytes))
}

/// numpy's name of an element type in the byte order of this machine.
fn descr(dtype: DType) -> Option<String> {
    let kind = match dtype.scalar {
        _ if dtype.is_vector() => return None,
        ScalarType::Bool => 'b',
        ScalarType::I8 | ScalarType::I16 | ScalarType::I32 | ScalarType::I64 => 'i',
        ScalarType::U8 | ScalarType::U16 | ScalarType::U32 | ScalarType::U64 => 'u',
        ScalarType::F16 | ScalarType::F32 | ScalarType::F64 => 'f',
        ScalarType::BF16 | ScalarType::Small(_) => return None,
    };
    let order = match dtype.bytes() {
        1 => "|",
        _ => Endianness::of_machine().to_str(),
    };
    Some(format!("{order}{kind}{}", dtype.bytes()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::support::generated;

    #[test]
    fn tensors_round_trip_through_files() {
        let folder = tempfile::tempdir().expect("scratch folder");
        let path = folder.path().join("x.npy");
        for scalar in ScalarType::ALL {
            let dtype = DType::of(scalar);
            let bytes = vec![1; 6 * dtype.bytes()];
            let tensor = Tensor::from_bytes(dtype, &[2, 3], &bytes).expect("six elements");
            let saved = save_npy(&path, &tensor);
            if scalar == ScalarType::BF16 {
                assert!(matches!(saved, Err(SaveError::DType { .. })));
                continue;
            }
            saved.expect("writable");
            let read = parse_npy(&fs::read(&path).expect("there")).expect("well formed");
            assert_eq!(read, tensor);
        }
        assert_eq!(
            fs::read_dir(&folder).expect("there").count(),
            1,
            "no part is left"
        );
    }

    #[test]
    fn other_orders_are_brought_into_ours() {
        let file = |header: &str, elements: &[u8]| {
            let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
            let text = format!("{header:<117}\n");
            bytes.extend((text.len() as u16).to_le_bytes());
            bytes.extend(text.bytes());
            bytes.extend(elements);
            bytes
        };
        let header = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }";
        let elements: Vec<u8> = [1i16, 4, 2, 5, 3, 6]
            .iter()
            .flat_map(|v| v.to_be_bytes())
            .collect();
        let tensor = parse_npy(&file(header, &elements)).expect("well formed");
        assert_eq!(tensor.as_slice::<i16>().expect("i16"), [1, 2, 3, 4, 5, 6]);
        assert!(matches!(
            parse_npy(&file(header, &elements[1..])),
            Err(NpyError::Length { got: 11, .. })
        ));
        let deep = "[".repeat(100);
        assert!(matches!(
            parse_npy(&file(&deep, &[])),
            Err(NpyError::HeaderTooLarge { .. })
        ));
        let object = "{'descr': '|O', 'fortran_order': False, 'shape': (2,), }";
        assert!(matches!(
            parse_npy(&file(object, &[])),
            Err(NpyError::ElementType { .. })
        ));
    }

    #[test]
    fn mutated_files_never_panic() {
        let tensor = Tensor::from_slice(&[2, 2], &[1.0f32, 2.0, 3.0, 4.0]).expect("four elements");
        let good = to_npy(&tensor).expect("memory").expect("f32 has a name");
        generated::holds(2000, |u| {
            let mut bytes = good.clone();
            for _ in 0..u.int_in_range(1..=4)? {
                let at = u.choose_index(bytes.len())?;
                bytes[at] = u.arbitrary()?;
            }
            bytes.truncate(u.int_in_range(0..=bytes.len())?);
            let _ = parse_npy(&bytes);
            Ok(())
        });
    }
}
