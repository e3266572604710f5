//! `constants.safetensors`: the constant tensors of an executable, written from where they lie and read to where they stay, so that no
//! weight is in memory twice. The library `safetensors` has the header; its readers and writers want all bytes in one piece.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Read};

use safetensors::tensor::{Dtype, Metadata, TensorInfo};

use super::file::malformed;
use super::{ArtifactError, Constant};
use crate::tensor::{DType, ScalarType, Tensor};

/// Its name in the archive.
pub(super) const NAME: &str = "constants.safetensors";

/// Most bytes of a header, as the library has it.
const MAX_HEADER: u64 = 100_000_000;

/// Bytes that say how long the header is; it ends at a multiple of them.
const LENGTH: usize = 8;

/// The tensors of a pool in the form of the file, piece by piece. Each is named by its place in the pool.
pub(super) fn pieces(constants: &[Constant]) -> Result<Vec<Cow<'_, [u8]>>, ArtifactError> {
    let tensors = constants.iter().enumerate();
    let tensors = tensors.filter_map(|(index, constant)| match constant {
        Constant::Tensor(tensor) => Some((index.to_string(), tensor)),
        _ => None,
    });
    let mut tensors: Vec<(String, Dtype, Vec<usize>, &Tensor)> = tensors
        .map(|(name, tensor)| {
            let (dtype, shape) = layout(tensor.dtype(), tensor.shape());
            (name, dtype, shape, tensor)
        })
        .collect();
    // The widest elements first, so that all are aligned.
    tensors.sort_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(&other.0)));
    let (mut infos, mut at) = (vec![], 0);
    for (name, dtype, shape, tensor) in &tensors {
        let end = at + tensor.bytes().len();
        let info = TensorInfo {
            dtype: *dtype,
            shape: shape.clone(),
            data_offsets: (at, end),
        };
        infos.push((name.clone(), info));
        at = end;
    }
    let metadata = Metadata::new(None, infos).map_err(|e| malformed(NAME, e))?;
    let mut header = serde_json::to_vec(&metadata).map_err(|e| malformed(NAME, e))?;
    header.resize(header.len().next_multiple_of(LENGTH), b' ');
    let length = header.len() as u64;
    let mut pieces = vec![
        Cow::Owned(length.to_le_bytes().to_vec()),
        Cow::Owned(header),
    ];
    pieces.extend(
        tensors
            .iter()
            .map(|(.., tensor)| Cow::Borrowed(tensor.bytes())),
    );
    Ok(pieces)
}

/// Reads the tensors of these types, by their places in the pool, from an entry of so many bytes. Memory is taken for tensors that the
/// entry has room for.
pub(super) fn read(
    mut entry: impl Read,
    bytes: u64,
    expected: &HashMap<usize, (DType, Vec<usize>)>,
) -> Result<HashMap<usize, Tensor>, ArtifactError> {
    let metadata = header(&mut entry, bytes)?;
    let mut read = HashMap::new();
    for name in metadata.offset_keys() {
        let info = metadata.info(&name).expect("the name is one of its own");
        let index = name.parse::<usize>().ok();
        let index = index.filter(|index| !read.contains_key(index));
        let Some((index, (dtype, shape))) = index.and_then(|index| expected.get_key_value(&index))
        else {
            return Err(malformed(NAME, format!("`{name}` is no constant")));
        };
        let (stored_dtype, stored_shape) = layout(*dtype, shape);
        if info.dtype != stored_dtype || info.shape != stored_shape {
            return Err(malformed(NAME, format!("tensor `{name}` has another type")));
        }
        let mut tensor = Tensor::zeros(*dtype, shape).map_err(|e| malformed(NAME, e))?;
        let to = tensor.bytes_mut().map_err(|e| malformed(NAME, e))?;
        entry.read_exact(to).map_err(|e| malformed(NAME, e))?;
        read.insert(*index, tensor);
    }
    // Whoever reads to the end of an entry learns whether its checksum is right.
    io::copy(&mut entry, &mut io::sink()).map_err(|e| malformed(NAME, e))?;
    Ok(read)
}

/// What the header says, which agrees with itself and with the size of the entry.
fn header(entry: &mut impl Read, bytes: u64) -> Result<Metadata, ArtifactError> {
    let wrong = |problem: String| malformed(NAME, problem);
    let mut length = [0; LENGTH];
    entry
        .read_exact(&mut length)
        .map_err(|e| malformed(NAME, e))?;
    let length = u64::from_le_bytes(length);
    let rest = bytes.saturating_sub(LENGTH as u64);
    if length > rest.min(MAX_HEADER) {
        return Err(wrong(format!("a header of {length} bytes in {bytes}")));
    }
    let mut text = vec![0; length as usize];
    entry
        .read_exact(&mut text)
        .map_err(|e| malformed(NAME, e))?;
    let metadata: Metadata = serde_json::from_slice(&text).map_err(|e| malformed(NAME, e))?;
    let data = metadata.data_len() as u64;
    match data == rest - length {
        true => Ok(metadata),
        false => Err(wrong(format!(
            "tensors of {data} bytes in {}",
            rest - length
        ))),
    }
}

/// Type and shape in safetensors, which has no vectors: their lanes become a dimension.
fn layout(dtype: DType, shape: &[usize]) -> (Dtype, Vec<usize>) {
    let scalar = match dtype.scalar {
        ScalarType::Bool => Dtype::BOOL,
        ScalarType::I8 => Dtype::I8,
        ScalarType::I16 => Dtype::I16,
        ScalarType::I32 => Dtype::I32,
        ScalarType::I64 => Dtype::I64,
        ScalarType::U8 | ScalarType::Small(_) => Dtype::U8,
        ScalarType::U16 => Dtype::U16,
        ScalarType::U32 => Dtype::U32,
        ScalarType::U64 => Dtype::U64,
        ScalarType::F16 => Dtype::F16,
        ScalarType::BF16 => Dtype::BF16,
        ScalarType::F32 => Dtype::F32,
        ScalarType::F64 => Dtype::F64,
    };
    let mut shape = shape.to_vec();
    if dtype.is_vector() {
        shape.push(dtype.lanes.into());
    }
    (scalar, shape)
}
