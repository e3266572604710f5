//! Buffers at run time: decoded elements, each with a mark whether it was ever written.

use super::InterpError;
use crate::tensor::scalar::{Scalar, decode, encode};
use crate::tensor::{DType, Tensor};

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
