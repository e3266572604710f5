//! safetensors files, through the crate of that name, which checks all offsets against the file.

use ::safetensors::{Dtype, SafeTensorError, SafeTensors};
use indexmap::IndexMap;

use crate::tensor::{DType, Tensor, TensorError};

/// What is wrong with a safetensors file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SafetensorsError {
    /// The header is wrong, or does not fit the bytes after it.
    #[error("damaged safetensors file: {0}")]
    Damaged(#[from] SafeTensorError),
    /// The element type is not one of ours.
    #[error("tensor `{name}`: element type {dtype:?} is not supported")]
    ElementType {
        /// The tensor.
        name: String,
        /// Its type.
        dtype: Dtype,
    },
    /// The tensor cannot be made.
    #[error("tensor `{name}`")]
    Tensor {
        /// The tensor.
        name: String,
        /// Why.
        source: TensorError,
    },
}

/// Reads all tensors of a safetensors file from its bytes, in the order in which they lie there.
///
/// # Errors
/// [`SafetensorsError`] if the header is wrong, or an element type is not supported.
pub fn parse_safetensors(bytes: &[u8]) -> Result<IndexMap<String, Tensor>, SafetensorsError> {
    let file = SafeTensors::deserialize(bytes)?;
    let mut views = file.tensors();
    views.sort_by_key(|(_, view)| view.data().as_ptr());
    let mut tensors = IndexMap::with_capacity(views.len());
    for (name, view) in views {
        let Some(dtype) = dtype(view.dtype()) else {
            return Err(SafetensorsError::ElementType {
                name,
                dtype: view.dtype(),
            });
        };
        let tensor = little_endian(dtype, view.shape(), view.data());
        let tensor = tensor.map_err(|source| SafetensorsError::Tensor {
            name: name.clone(),
            source,
        })?;
        tensors.insert(name, tensor);
    }
    Ok(tensors)
}

fn little_endian(dtype: DType, shape: &[usize], bytes: &[u8]) -> Result<Tensor, TensorError> {
    if cfg!(target_endian = "little") {
        return Tensor::from_bytes(dtype, shape, bytes);
    }
    let mut bytes = bytes.to_vec();
    bytes
        .chunks_exact_mut(dtype.bytes())
        .for_each(<[u8]>::reverse);
    Tensor::from_bytes(dtype, shape, &bytes)
}

fn dtype(dtype: Dtype) -> Option<DType> {
    Some(match dtype {
        Dtype::BOOL => DType::BOOL,
        Dtype::U8 => DType::U8,
        Dtype::I8 => DType::I8,
        Dtype::I16 => DType::I16,
        Dtype::U16 => DType::U16,
        Dtype::I32 => DType::I32,
        Dtype::U32 => DType::U32,
        Dtype::I64 => DType::I64,
        Dtype::U64 => DType::U64,
        Dtype::F16 => DType::F16,
        Dtype::BF16 => DType::BF16,
        Dtype::F32 => DType::F32,
        Dtype::F64 => DType::F64,
        // The crate's own list is open: complex numbers, and floats of 8 bits and fewer.
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header.bytes());
        bytes.extend(data);
        bytes
    }

    #[test]
    fn tensors_come_in_the_order_of_the_file() {
        let header = r#"{"z":{"dtype":"I16","shape":[2],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}"#;
        let bytes = file(header, &[1, 0, 2, 0, 0, 0, 128, 63]);
        let tensors = parse_safetensors(&bytes).expect("well formed");
        let names: Vec<&String> = tensors.keys().collect();
        assert_eq!(names, ["z", "a"]);
        assert_eq!(tensors["z"].as_slice::<i16>().expect("i16"), [1, 2]);
        assert_eq!(tensors["a"].as_slice::<f32>().expect("f32"), [1.0]);
    }

    #[test]
    fn faults_are_named() {
        let header = r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}"#;
        assert!(matches!(
            parse_safetensors(&file(header, &[0; 4])),
            Err(SafetensorsError::Damaged(_))
        ));
        let header = r#"{"a":{"dtype":"C64","shape":[1],"data_offsets":[0,8]}}"#;
        assert!(matches!(
            parse_safetensors(&file(header, &[0; 8])),
            Err(SafetensorsError::ElementType { name, .. }) if name == "a"
        ));
    }
}
