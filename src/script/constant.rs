//! Tensor constants in a text: JSON objects `{"dtype": "float32", "shape": [2], "data": "AACAPwAAAEA="}`.
//!
//! `data` is base64 (RFC 4648) of the elements in little-endian order, so that every bit survives; a list of numbers in row-major
//! order is read too.

use serde_json::{Value, json};

use crate::tensor::scalar::{Scalar, decode as decode_element, encode as encode_element, wrap_int};
use crate::tensor::{DType, ScalarType, Tensor, TensorError};

/// What is wrong with a constant.
#[derive(Debug, thiserror::Error)]
pub(super) enum ConstantError {
    /// A field is missing or of the wrong kind.
    #[error("a constant has `dtype`, `shape` and `data`")]
    Fields,
    /// The element type does not exist.
    #[error("unknown dtype `{0}`")]
    DType(String),
    /// The text is not base64.
    #[error("`data` is not base64")]
    Base64,
    /// A number that is no element.
    #[error("`data` holds {0}, which is no {1}")]
    Element(String, DType),
    /// The size is wrong.
    #[error(transparent)]
    Tensor(#[from] TensorError),
}

/// The constant as JSON.
pub(super) fn to_json(tensor: &Tensor) -> Value {
    let mut bytes = tensor.bytes().to_vec();
    swap_to_little_endian(&mut bytes, tensor.dtype());
    json!({
        "dtype": tensor.dtype().to_string(),
        "shape": tensor.shape(),
        "data": encode(&bytes),
    })
}

/// The constant that JSON describes.
pub(super) fn from_json(value: &Value) -> Result<Tensor, ConstantError> {
    let field = |name| value.get(name).ok_or(ConstantError::Fields);
    let dtype = field("dtype")?.as_str().ok_or(ConstantError::Fields)?;
    let dtype: DType = dtype
        .parse()
        .map_err(|_| ConstantError::DType(dtype.to_owned()))?;
    let shape = field("shape")?.as_array().ok_or(ConstantError::Fields)?;
    let shape = shape
        .iter()
        .map(|d| d.as_u64().and_then(|d| usize::try_from(d).ok()))
        .collect::<Option<Vec<_>>>()
        .ok_or(ConstantError::Fields)?;
    let bytes = match field("data")? {
        Value::String(text) => {
            let mut bytes = decode(text).ok_or(ConstantError::Base64)?;
            swap_to_little_endian(&mut bytes, dtype);
            bytes
        }
        Value::Array(items) => {
            let mut bytes = Vec::new();
            for item in items {
                let number = match item {
                    Value::Bool(b) => Some(Scalar::Int((*b).into())),
                    _ => item
                        .as_i64()
                        .map(Scalar::Int)
                        .or_else(|| item.as_f64().map(Scalar::Float)),
                };
                let element = number.and_then(|n| element_bytes(n, dtype.scalar));
                bytes.extend(
                    element.ok_or_else(|| ConstantError::Element(item.to_string(), dtype))?,
                );
            }
            bytes
        }
        _ => return Err(ConstantError::Fields),
    };
    Ok(Tensor::from_bytes(dtype, &shape, &bytes)?)
}

/// The bytes of one element in host order; `None` if the number is not one of the type.
pub(super) fn element_bytes(number: Scalar, scalar: ScalarType) -> Option<Vec<u8>> {
    let fits = match number {
        Scalar::Float(_) => scalar.is_float(),
        Scalar::Int(value) => match scalar {
            ScalarType::Bool => (0..=1).contains(&value),
            _ => scalar.is_float() || wrap_int(value, scalar) == value,
        },
    };
    let mut bytes = vec![0; scalar.bytes()];
    encode_element(number, scalar, &mut bytes);
    fits.then_some(bytes)
}

/// The number in a tensor without dimensions.
pub(super) fn scalar_of(tensor: &Tensor) -> Option<Scalar> {
    let scalar = tensor.shape().is_empty() && !tensor.dtype().is_vector();
    scalar.then(|| decode_element(tensor.bytes(), tensor.dtype().scalar))
}

/// Elements between host order and little-endian order; nothing on most hosts.
pub(super) fn swap_to_little_endian(bytes: &mut [u8], dtype: DType) {
    if cfg!(target_endian = "big") {
        bytes
            .chunks_mut(dtype.scalar.bytes())
            .for_each(<[u8]>::reverse);
    }
}

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Base64 with padding.
fn encode(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let mut word = [0; 4];
        word[1..=chunk.len()].copy_from_slice(chunk);
        let word = u32::from_be_bytes(word);
        for digit in 0..4 {
            let index = (word >> (18 - 6 * digit)) & 63;
            let used = digit <= chunk.len();
            out.push(if used {
                char::from(DIGITS[index as usize])
            } else {
                '='
            });
        }
    }
    out
}

pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(4) {
        return None;
    }
    let digits = text.trim_end_matches('=');
    if text.len() - digits.len() > 2 {
        return None;
    }
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    for chunk in digits.as_bytes().chunks(4) {
        let mut word = 0u32;
        for at in 0..4 {
            let digit = match chunk.get(at) {
                None => 0,
                Some(b @ b'A'..=b'Z') => b - b'A',
                Some(b @ b'a'..=b'z') => b - b'a' + 26,
                Some(b @ b'0'..=b'9') => b - b'0' + 52,
                Some(b'+') => 62,
                Some(b'/') => 63,
                Some(_) => return None,
            };
            word = word << 6 | u32::from(digit);
        }
        let bytes = word.to_be_bytes();
        out.extend(&bytes[1..chunk.len()]);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_the_standard_one() {
        let cases = ["", "f", "fo", "foo", "foob", "fooba", "foobar"];
        let texts = [
            "", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy",
        ];
        for (bytes, text) in cases.into_iter().zip(texts) {
            assert_eq!(encode(bytes.as_bytes()), text);
            assert_eq!(decode(text).as_deref(), Some(bytes.as_bytes()));
        }
        for bad in ["Zg=", "Z===", "Zm9v!!!!", "Zg==Zg=="] {
            assert_eq!(decode(bad), None, "{bad}");
        }
    }

    #[test]
    fn every_bit_of_a_constant_survives() {
        let tensor = Tensor::from_slice(&[3], &[f32::NAN, -0.0, 1e-45]).expect("three elements");
        let back = from_json(&to_json(&tensor)).expect("it was just written");
        assert_eq!(back, tensor);
        let list = json!({"dtype": "int8", "shape": [2], "data": [1, 300]});
        assert!(matches!(from_json(&list), Err(ConstantError::Element(..))));
        let short = json!({"dtype": "int8", "shape": [2], "data": "AA=="});
        assert!(matches!(from_json(&short), Err(ConstantError::Tensor(_))));
    }
}
