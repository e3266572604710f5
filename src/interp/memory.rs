//! Buffers at run time: decoded elements, each with a mark whether it was ever written.

use super::InterpError;
use crate::tensor::scalar::Scalar;
use crate::tensor::{DType, ScalarType, Tensor};

/// The elements of one buffer.
pub(super) struct Memory {
    pub(super) dtype: DType,
    pub(super) shape: Vec<i64>,
    elements: Vec<Option<Scalar>>,
}

impl Memory {
    /// Elements that nothing has written yet.
    pub(super) fn uninitialized(dtype: DType, shape: Vec<i64>) -> Self {
        let len = shape
            .iter()
            .map(|&d| usize::try_from(d).unwrap_or(0))
            .product();
        Self {
            dtype,
            shape,
            elements: vec![None; len],
        }
    }

    /// The elements of a tensor.
    pub(super) fn from_tensor(tensor: &Tensor) -> Self {
        let dtype = tensor.dtype();
        let elements = tensor
            .bytes()
            .chunks_exact(dtype.scalar.bytes())
            .map(|b| Some(decode(b, dtype.scalar)));
        Self {
            dtype,
            shape: tensor.shape().iter().map(|&d| d as i64).collect(),
            elements: elements.collect(),
        }
    }

    /// Writes the elements that were ever written into the tensor.
    pub(super) fn write_back(&self, tensor: &mut Tensor) -> Result<(), InterpError> {
        let scalar = self.dtype.scalar;
        let bytes = tensor.bytes_mut()?;
        for (slot, element) in bytes.chunks_exact_mut(scalar.bytes()).zip(&self.elements) {
            if let Some(value) = element {
                encode(*value, scalar, slot);
            }
        }
        Ok(())
    }

    fn offset(&self, name: &str, index: &[i64]) -> Result<usize, InterpError> {
        let mut offset = 0;
        for (dim, (&index, &extent)) in index.iter().zip(&self.shape).enumerate() {
            if index < 0 || index >= extent {
                return Err(InterpError::OutOfRange {
                    buffer: name.to_owned(),
                    dim,
                    index,
                    extent,
                });
            }
            offset = offset * extent as usize + index as usize;
        }
        Ok(offset)
    }

    pub(super) fn load(&self, name: &str, index: &[i64]) -> Result<Scalar, InterpError> {
        self.elements[self.offset(name, index)?].ok_or_else(|| InterpError::Uninitialized {
            buffer: name.to_owned(),
            index: index.to_vec(),
        })
    }

    pub(super) fn store(
        &mut self,
        name: &str,
        index: &[i64],
        value: Scalar,
    ) -> Result<(), InterpError> {
        let offset = self.offset(name, index)?;
        self.elements[offset] = Some(value);
        Ok(())
    }
}

/// The element that these bytes hold, in host byte order.
pub(super) fn decode(bytes: &[u8], ty: ScalarType) -> Scalar {
    match ty {
        ScalarType::Bool => Scalar::Int((bytes[0] != 0).into()),
        ScalarType::I8 => Scalar::Int((bytes[0] as i8).into()),
        ScalarType::U8 => Scalar::Int(bytes[0].into()),
        ScalarType::I16 => Scalar::Int(bytemuck::pod_read_unaligned::<i16>(bytes).into()),
        ScalarType::U16 => Scalar::Int(bytemuck::pod_read_unaligned::<u16>(bytes).into()),
        ScalarType::I32 => Scalar::Int(bytemuck::pod_read_unaligned::<i32>(bytes).into()),
        ScalarType::U32 => Scalar::Int(bytemuck::pod_read_unaligned::<u32>(bytes).into()),
        ScalarType::I64 | ScalarType::U64 => {
            Scalar::Int(bytemuck::pod_read_unaligned::<i64>(bytes))
        }
        ScalarType::F16 => Scalar::Float(bytemuck::pod_read_unaligned::<half::f16>(bytes).to_f64()),
        ScalarType::BF16 => {
            Scalar::Float(bytemuck::pod_read_unaligned::<half::bf16>(bytes).to_f64())
        }
        ScalarType::F32 => Scalar::Float(bytemuck::pod_read_unaligned::<f32>(bytes).into()),
        ScalarType::F64 => Scalar::Float(bytemuck::pod_read_unaligned::<f64>(bytes)),
    }
}

/// The bytes of an element, in host byte order.
pub(super) fn encode(value: Scalar, ty: ScalarType, out: &mut [u8]) {
    let (int, float) = (value.as_int(), value.as_float());
    match ty {
        ScalarType::Bool | ScalarType::I8 | ScalarType::U8 => out[0] = int as u8,
        ScalarType::I16 | ScalarType::U16 => out.copy_from_slice(&(int as u16).to_ne_bytes()),
        ScalarType::I32 | ScalarType::U32 => out.copy_from_slice(&(int as u32).to_ne_bytes()),
        ScalarType::I64 | ScalarType::U64 => out.copy_from_slice(&int.to_ne_bytes()),
        ScalarType::F16 => out.copy_from_slice(&half::f16::from_f64(float).to_ne_bytes()),
        ScalarType::BF16 => out.copy_from_slice(&half::bf16::from_f64(float).to_ne_bytes()),
        ScalarType::F32 => out.copy_from_slice(&(float as f32).to_ne_bytes()),
        ScalarType::F64 => out.copy_from_slice(&float.to_ne_bytes()),
    }
}
