//! `Tensor`: a dense row-major array in host memory, shared by reference count.

use std::sync::Arc;

use super::{DType, ScalarType};

/// Rust types that are elements of tensors.
pub trait Element: bytemuck::Pod {
    /// The element type they stand for.
    const SCALAR: ScalarType;
}

macro_rules! element {
    ($($ty:ty => $scalar:ident),*) => { $(impl Element for $ty { const SCALAR: ScalarType = ScalarType::$scalar; })* };
}
element!(i8 => I8, i16 => I16, i32 => I32, i64 => I64, u8 => U8, u16 => U16, u32 => U32, u64 => U64,
    half::f16 => F16, half::bf16 => BF16, f32 => F32, f64 => F64);

/// What is wrong with data offered as a tensor, or with the view asked of one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TensorError {
    /// The number of bytes is not that of the shape.
    #[error("shape {shape:?} of {dtype} takes {expected} bytes, got {got}")]
    ByteCount {
        /// Shape asked for.
        shape: Vec<usize>,
        /// Element type asked for.
        dtype: DType,
        /// Bytes that they take.
        expected: usize,
        /// Bytes given.
        got: usize,
    },
    /// The shape has more bytes than an address can say.
    #[error("shape {shape:?} of {dtype} is too large")]
    TooLarge {
        /// Shape asked for.
        shape: Vec<usize>,
        /// Element type asked for.
        dtype: DType,
    },
    /// The elements are of another type.
    #[error("expected elements of {expected}, the tensor holds {got}")]
    DType {
        /// Type asked for.
        expected: DType,
        /// Type held.
        got: DType,
    },
    /// The tensor is shared, so it cannot be written in place.
    #[error("the tensor is shared and cannot be written in place")]
    Shared,
}

/// One cache line; storage is made of them, so tensors start at multiples of 64 bytes.
#[derive(Clone, Copy, bytemuck::Zeroable, bytemuck::Pod)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// A dense row-major array. Clones share the elements.
#[derive(Clone)]
pub struct Tensor {
    dtype: DType,
    shape: Arc<[usize]>,
    data: Arc<Vec<Line>>,
}

impl Tensor {
    /// A tensor of zeros.
    ///
    /// # Errors
    /// [`TensorError::TooLarge`] if the number of bytes overflows.
    pub fn zeros(dtype: DType, shape: &[usize]) -> Result<Self, TensorError> {
        let bytes = byte_count(dtype, shape)?;
        let data = Arc::new(vec![Line([0; 64]); bytes.div_ceil(64)]);
        Ok(Self {
            dtype,
            shape: shape.into(),
            data,
        })
    }

    /// A tensor with a copy of these bytes, in host byte order.
    ///
    /// # Errors
    /// If the number of bytes is not that of the shape.
    pub fn from_bytes(dtype: DType, shape: &[usize], bytes: &[u8]) -> Result<Self, TensorError> {
        let expected = byte_count(dtype, shape)?;
        if expected != bytes.len() {
            return Err(TensorError::ByteCount {
                shape: shape.to_vec(),
                dtype,
                expected,
                got: bytes.len(),
            });
        }
        let mut tensor = Self::zeros(dtype, shape)?;
        tensor.bytes_mut()?.copy_from_slice(bytes);
        Ok(tensor)
    }

    /// A tensor with a copy of these elements.
    ///
    /// # Errors
    /// If the number of elements is not that of the shape.
    pub fn from_slice<T: Element>(shape: &[usize], elements: &[T]) -> Result<Self, TensorError> {
        Self::from_bytes(T::SCALAR.into(), shape, bytemuck::cast_slice(elements))
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Extent of each dimension.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements as bytes, in host byte order.
    pub fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.data)[..self.len() * self.dtype.bytes()]
    }

    /// The elements as bytes, to be written.
    ///
    /// # Errors
    /// [`TensorError::Shared`] if another clone is alive.
    pub fn bytes_mut(&mut self) -> Result<&mut [u8], TensorError> {
        let bytes = self.len() * self.dtype.bytes();
        let data = Arc::get_mut(&mut self.data).ok_or(TensorError::Shared)?;
        Ok(&mut bytemuck::cast_slice_mut(data)[..bytes])
    }

    /// The elements.
    ///
    /// # Errors
    /// [`TensorError::DType`] if they are not of type `T`.
    pub fn as_slice<T: Element>(&self) -> Result<&[T], TensorError> {
        self.check_dtype(T::SCALAR)?;
        Ok(bytemuck::cast_slice(self.bytes()))
    }

    /// The elements, to be written.
    ///
    /// # Errors
    /// If they are not of type `T`, or the tensor is shared.
    pub fn as_mut_slice<T: Element>(&mut self) -> Result<&mut [T], TensorError> {
        self.check_dtype(T::SCALAR)?;
        Ok(bytemuck::cast_slice_mut(self.bytes_mut()?))
    }

    fn check_dtype(&self, scalar: ScalarType) -> Result<(), TensorError> {
        let expected = DType::of(scalar);
        if self.dtype == expected {
            Ok(())
        } else {
            Err(TensorError::DType {
                expected,
                got: self.dtype,
            })
        }
    }
}

/// Bytes of a dense tensor, unless they overflow.
fn byte_count(dtype: DType, shape: &[usize]) -> Result<usize, TensorError> {
    let too_large = || TensorError::TooLarge {
        shape: shape.to_vec(),
        dtype,
    };
    // Zero dimensions first: `[0, usize::MAX, 2]` has no bytes.
    if shape.contains(&0) {
        return Ok(0);
    }
    let bytes = shape
        .iter()
        .try_fold(dtype.bytes(), |bytes, &dim| bytes.checked_mul(dim))
        .ok_or_else(too_large)?;
    if bytes > isize::MAX as usize - 64 {
        Err(too_large())
    } else {
        Ok(bytes)
    }
}

impl PartialEq for Tensor {
    fn eq(&self, other: &Self) -> bool {
        self.dtype == other.dtype && self.shape == other.shape && self.bytes() == other.bytes()
    }
}

impl std::fmt::Debug for Tensor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Tensor({:?}, {})", self.shape, self.dtype)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_round_trip_and_are_aligned() {
        let tensor =
            Tensor::from_slice(&[2, 3], &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]).expect("six elements");
        assert_eq!(tensor.as_slice::<f32>().expect("f32")[4], 5.0);
        assert_eq!(tensor.bytes().as_ptr() as usize % 64, 0);
        assert!(matches!(
            tensor.as_slice::<i32>(),
            Err(TensorError::DType { .. })
        ));
    }

    #[test]
    fn bad_shapes_are_errors() {
        assert!(matches!(
            Tensor::from_slice(&[2, 2], &[1i32]),
            Err(TensorError::ByteCount {
                expected: 16,
                got: 4,
                ..
            })
        ));
        assert!(matches!(
            Tensor::zeros(DType::F32, &[usize::MAX, 2]),
            Err(TensorError::TooLarge { .. })
        ));
        assert_eq!(
            Tensor::zeros(DType::F32, &[0, usize::MAX, 2]).map(|t| t.len()),
            Ok(0)
        );
    }

    #[test]
    fn a_shared_tensor_is_not_written() {
        let mut tensor = Tensor::zeros(DType::F32, &[4]).expect("small");
        let other = tensor.clone();
        assert_eq!(tensor.bytes_mut().err(), Some(TensorError::Shared));
        drop(other);
        assert!(tensor.bytes_mut().is_ok());
    }
}
