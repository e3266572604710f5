//! Tensors as ndarray views, and arrays as tensors, without a copy.
#![expect(
    unsafe_code,
    reason = "the memory of an array is kept by its address beside its owner"
)]

use std::ptr::NonNull;

use ndarray::{Array, ArrayViewD, ArrayViewMutD, Dimension, IxDyn};

use super::storage::Storage;
use super::{DType, Element, Tensor, TensorError};

impl Tensor {
    /// A tensor over the elements of this array. A dense row-major array keeps its memory; any other is copied once.
    pub fn from_array<T: Element + Send + Sync, D: Dimension + 'static>(
        array: Array<T, D>,
    ) -> Self {
        let array = if array.is_standard_layout() {
            array
        } else {
            array.as_standard_layout().into_owned()
        };
        let dtype = DType::of(T::SCALAR);
        let shape = array.shape().to_vec();
        if array.is_empty() {
            return Self::from_storage(dtype, &shape, Storage::empty());
        }
        let len = array.len() * size_of::<T>();
        let mut owner = Box::new(array);
        let ptr = NonNull::new(owner.as_mut_ptr().cast::<u8>())
            .expect("an array with elements has an address");
        // SAFETY: a dense array in row-major order has its `len` bytes at `ptr`; they stay there while the array, which
        // nobody else can reach, lives in its box; elements are plain old data, aligned for their type.
        let storage = unsafe { Storage::foreign(ptr, len, true, owner) };
        Self::from_storage(dtype, &shape, storage)
    }

    /// The elements as an ndarray view.
    ///
    /// # Errors
    /// [`TensorError::DType`] if they are not of type `T`.
    pub fn as_array<T: Element>(&self) -> Result<ArrayViewD<'_, T>, TensorError> {
        let view = ArrayViewD::from_shape(IxDyn(self.shape()), self.as_slice()?);
        Ok(view.expect("a tensor has as many elements as its shape says"))
    }

    /// The elements as an ndarray view, to be written.
    ///
    /// # Errors
    /// If they are not of type `T`, or the tensor is shared.
    pub fn as_array_mut<T: Element>(&mut self) -> Result<ArrayViewMutD<'_, T>, TensorError> {
        let shape = IxDyn(self.shape());
        let view = ArrayViewMutD::from_shape(shape, self.as_mut_slice()?);
        Ok(view.expect("a tensor has as many elements as its shape says"))
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, arr2};

    use super::*;
    use crate::tensor::Recycler;

    #[test]
    fn a_dense_array_keeps_its_memory() {
        let array = arr2(&[[1.0f32, 2.0], [3.0, 4.0]]);
        let address = array.as_ptr();
        let mut tensor = Tensor::from_array(array);
        assert_eq!(
            tensor.as_slice::<f32>().map(<[f32]>::as_ptr),
            Ok(address),
            "no copy on the way in"
        );
        tensor.as_array_mut::<f32>().expect("unique")[[1, 0]] = 7.0;
        let view = tensor.as_array::<f32>().expect("f32");
        assert_eq!(view.as_ptr(), address, "nor on the way out");
        assert_eq!(view, arr2(&[[1.0, 2.0], [7.0, 4.0]]).into_dyn());
    }

    #[test]
    fn a_transposed_array_is_copied_in_order() {
        let array = arr2(&[[1i64, 2, 3], [4, 5, 6]]).reversed_axes();
        let tensor = Tensor::from_array(array);
        assert_eq!(tensor.shape(), [3, 2]);
        assert_eq!(tensor.as_slice::<i64>(), Ok(&[1, 4, 2, 5, 3, 6][..]));
    }

    #[test]
    fn an_empty_array_is_a_tensor_without_elements() {
        let tensor = Tensor::from_array(Array2::<f64>::zeros((0, 5)));
        assert_eq!(tensor.shape(), [0, 5]);
        assert_eq!(
            tensor.as_array::<f64>().map(|a| a.shape().to_vec()),
            Ok(vec![0, 5])
        );
    }

    #[test]
    fn a_renewed_tensor_keeps_its_memory_while_it_fits() {
        let renew = |tensor: &mut Tensor, shape: [usize; 2]| {
            let made = tensor.renew(DType::F32, &shape, 256, &Recycler::default());
            made.expect("small");
        };
        let mut tensor = Tensor::zeros(DType::F32, &[4, 4]).expect("small");
        let address = tensor.as_ptr();
        renew(&mut tensor, [2, 4]);
        assert_eq!((tensor.as_ptr(), tensor.shape()), (address, &[2, 4][..]));
        let shared = tensor.clone();
        renew(&mut tensor, [2, 4]);
        assert_ne!(
            tensor.as_ptr(),
            shared.as_ptr(),
            "shared memory is left alone"
        );
        let address = tensor.as_ptr();
        renew(&mut tensor, [8, 8]);
        assert_eq!(tensor.as_ptr(), address, "new memory has the planned size");
    }
}
