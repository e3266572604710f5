//! `Tensor`: a dense row-major array in host memory, shared by reference count.

use std::sync::Arc;

use smallvec::SmallVec;

use super::storage::Storage;
use super::{DType, Recycler, ScalarType};

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

/// What keeps a DLPack tensor from being taken in without a copy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DlpackProblem {
    /// Its metadata contradict themselves, or its memory cannot be addressed.
    #[error("{0}")]
    Invalid(String),
    /// It is not row-major without gaps.
    #[error("strides {0:?} are not those of a dense row-major tensor")]
    Strided(Vec<i64>),
    /// It has an element type that we do not have.
    #[error("element type with code {code}, {bits} bits and {lanes} lanes is not supported")]
    DType {
        /// Kind of number.
        code: u8,
        /// Bits of a lane.
        bits: u8,
        /// Lanes.
        lanes: u16,
    },
}

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
    /// There is not so much memory.
    #[error("shape {shape:?} of {dtype} takes {bytes} bytes, which cannot be had")]
    OutOfMemory {
        /// Shape asked for.
        shape: Vec<usize>,
        /// Element type asked for.
        dtype: DType,
        /// Bytes that they take.
        bytes: usize,
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
    /// The memory offered by another library has no tensor in it that we can hold.
    #[error("DLPack tensor: {0}")]
    Dlpack(DlpackProblem),
}

/// A dense row-major array. Clones share the elements.
///
/// Storage that we allocate starts at a multiple of 64 bytes; storage shared with another library (ndarray, DLPack) is
/// aligned for its elements only.
#[derive(Clone)]
pub struct Tensor {
    // One count of references: a call clones and drops each of its arguments.
    view: Arc<View>,
}

/// A type and shape over memory.
#[derive(Clone)]
struct View {
    dtype: DType,
    shape: SmallVec<[usize; 4]>,
    storage: Arc<Storage>,
}

impl Tensor {
    /// A tensor of zeros.
    ///
    /// # Errors
    /// [`TensorError::TooLarge`] if the number of bytes overflows, [`TensorError::OutOfMemory`] if there are not so many.
    pub fn zeros(dtype: DType, shape: &[usize]) -> Result<Self, TensorError> {
        let storage = allocate(dtype, shape)?;
        Ok(Self::from_storage(dtype, shape, storage))
    }

    /// A tensor over this storage, which holds at least its bytes and is aligned for its elements.
    pub(super) fn from_storage(dtype: DType, shape: &[usize], storage: Storage) -> Self {
        debug_assert!(byte_count(dtype, shape).is_ok_and(|bytes| bytes <= storage.len()));
        Self::over(dtype, shape, Arc::new(storage))
    }

    fn over(dtype: DType, shape: &[usize], storage: Arc<Storage>) -> Self {
        let shape = SmallVec::from_slice(shape);
        let view = Arc::new(View {
            dtype,
            shape,
            storage,
        });
        Self { view }
    }

    /// Its memory.
    pub(super) fn storage(&self) -> &Arc<Storage> {
        &self.view.storage
    }

    /// Its memory alone.
    pub(super) fn into_storage(self) -> Arc<Storage> {
        Arc::unwrap_or_clone(self.view).storage
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
        self.view.dtype
    }

    /// Extent of each dimension.
    pub fn shape(&self) -> &[usize] {
        &self.view.shape
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.shape().iter().product()
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements as bytes, in host byte order.
    pub fn bytes(&self) -> &[u8] {
        &self.storage().bytes()[..self.len() * self.dtype().bytes()]
    }

    /// The elements as bytes, to be written.
    ///
    /// # Errors
    /// [`TensorError::Shared`] if another clone is alive, or another library holds the memory and may read it.
    pub fn bytes_mut(&mut self) -> Result<&mut [u8], TensorError> {
        let bytes = self.len() * self.dtype().bytes();
        let storage = self.storage_mut().ok_or(TensorError::Shared)?;
        Ok(&mut storage[..bytes])
    }

    /// The bytes of its memory, if they can be written.
    fn storage_mut(&mut self) -> Option<&mut [u8]> {
        let view = Arc::get_mut(&mut self.view)?;
        Arc::get_mut(&mut view.storage)?.bytes_mut()
    }

    /// Whether the elements can be written: no other clone is alive and the owner of the memory allows it.
    pub fn is_unique(&mut self) -> bool {
        self.storage_mut().is_some()
    }

    /// The same elements in another shape, without a copy.
    ///
    /// # Errors
    /// If the shape has another number of elements.
    pub fn reshape(&self, shape: &[usize]) -> Result<Self, TensorError> {
        let dtype = self.dtype();
        let expected = byte_count(dtype, shape)?;
        let got = self.len() * dtype.bytes();
        if expected != got {
            return Err(TensorError::ByteCount {
                shape: shape.to_vec(),
                dtype,
                expected,
                got,
            });
        }
        Ok(Self::over(dtype, shape, self.storage().clone()))
    }

    /// Makes it a tensor of this type and shape with unspecified elements: in its own memory where that is large enough and
    /// not shared, else in other memory with room for `planned` bytes. Allocates nothing if type and shape are those it has and
    /// it is not shared.
    ///
    /// # Errors
    /// As [`Tensor::zeros`].
    pub(crate) fn renew(
        &mut self,
        dtype: DType,
        shape: &[usize],
        planned: usize,
        recycler: &Recycler,
    ) -> Result<(), TensorError> {
        let bytes = byte_count(dtype, shape)?;
        let aligned = (self.as_ptr() as usize).is_multiple_of(dtype.scalar.bytes());
        let large = self.storage().len() >= bytes;
        let unique = self.is_unique();
        if let Some(view) = Arc::get_mut(&mut self.view)
            && aligned
            && large
            && unique
        {
            view.dtype = dtype;
            if *view.shape != *shape {
                view.shape = SmallVec::from_slice(shape);
            }
            return Ok(());
        }
        let bytes = bytes.max(planned);
        let storage = recycler.storage(bytes);
        let storage = storage.ok_or_else(|| TensorError::OutOfMemory {
            shape: shape.to_vec(),
            dtype,
            bytes,
        })?;
        *self = Self::from_storage(dtype, shape, storage);
        Ok(())
    }

    /// Address of the first element, for other libraries that share the memory.
    pub(crate) fn as_ptr(&self) -> *const u8 {
        self.storage().as_ptr()
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

    pub(super) fn check_dtype(&self, scalar: ScalarType) -> Result<(), TensorError> {
        let expected = DType::of(scalar);
        if self.dtype() == expected {
            Ok(())
        } else {
            Err(TensorError::DType {
                expected,
                got: self.dtype(),
            })
        }
    }
}

/// Memory for a dense tensor.
fn allocate(dtype: DType, shape: &[usize]) -> Result<Storage, TensorError> {
    let bytes = byte_count(dtype, shape)?;
    Storage::zeroed(bytes).ok_or_else(|| TensorError::OutOfMemory {
        shape: shape.to_vec(),
        dtype,
        bytes,
    })
}

/// Bytes of a dense tensor, unless they overflow.
pub(super) fn byte_count(dtype: DType, shape: &[usize]) -> Result<usize, TensorError> {
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
        self.dtype() == other.dtype()
            && self.shape() == other.shape()
            && self.bytes() == other.bytes()
    }
}

impl std::fmt::Debug for Tensor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Tensor({:?}, {})", self.shape(), self.dtype())
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
        // An address space has 2^47 bytes or 2^56, never 2^60.
        let petabytes = Tensor::zeros(DType::U8, &[1 << 60]);
        assert!(matches!(petabytes, Err(TensorError::OutOfMemory { .. })));
        let mut tensor = Tensor::zeros(DType::U8, &[4]).expect("small");
        let grown = tensor.renew(DType::U8, &[1 << 60], 0, &Recycler::default());
        assert!(matches!(grown, Err(TensorError::OutOfMemory { .. })));
        assert_eq!(tensor.bytes(), [0; 4], "it is as it was");
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
