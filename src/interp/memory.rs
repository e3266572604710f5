//! Buffers at run time: decoded elements, each with a mark whether it was ever written.

use super::InterpError;
use crate::ir::Buffer;
use crate::tensor::scalar::{Scalar, decode, encode};
use crate::tensor::{DType, Tensor};

/// The elements of one buffer.
pub(super) struct Memory {
    pub(super) dtype: DType,
    pub(super) shape: Vec<i64>,
    elements: Vec<Option<Scalar>>,
}

impl Memory {
    /// Elements of a buffer that nothing has written yet.
    pub(super) fn uninitialized(buffer: &Buffer, shape: Vec<i64>) -> Result<Self, InterpError> {
        let too_large = || InterpError::Allocation {
            buffer: buffer.name().to_owned(),
            shape: shape.clone(),
        };
        let mut extents = shape.iter().map(|&d| usize::try_from(d).unwrap_or(0));
        let len = extents.try_fold(1usize, usize::checked_mul);
        let len = len.ok_or_else(too_large)?;
        let mut elements = Vec::new();
        elements.try_reserve_exact(len).map_err(|_| too_large())?;
        elements.resize(len, None);
        Ok(Self {
            dtype: buffer.dtype(),
            shape,
            elements,
        })
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
        check_index(name, index, &self.shape)?;
        let dims = index.iter().zip(&self.shape);
        Ok(dims.fold(0, |offset, (&index, &extent)| {
            offset * extent as usize + index as usize
        }))
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

/// Fails if an index lies outside of the extents of a buffer or view.
pub(super) fn check_index(name: &str, index: &[i64], shape: &[i64]) -> Result<(), InterpError> {
    for (dim, (&index, &extent)) in index.iter().zip(shape).enumerate() {
        if index < 0 || index >= extent {
            return Err(InterpError::OutOfRange {
                buffer: name.to_owned(),
                dim,
                index,
                extent,
            });
        }
    }
    Ok(())
}
