//! Tensors to and from DLPack, without a copy.
//!
//! DLPack: an in-memory tensor structure for exchange between frameworks, <https://dmlc.github.io/dlpack/latest/>.
#![expect(
    unsafe_code,
    reason = "DLPack exchanges raw addresses; the producer vouches for them"
)]

use std::ffi::c_void;
use std::ptr::NonNull;

use dlpark::ffi::{DLDataType, DLDataTypeCode, DLDevice};
use dlpark::metadata::Dynamic;
use dlpark::{DlpackFlags, Managed, ManagedTensorBase, versioned};

use super::host::byte_count;
use super::storage::Storage;
use super::{DType, DlpackProblem, ScalarType, SmallType, Tensor, TensorError};

impl Tensor {
    /// The tensor for another library to read. It shares the memory, which lives until the other library lets go of it.
    pub fn to_dlpack(&self) -> versioned::Dlpack {
        export(self.clone(), DlpackFlags::READ_ONLY)
    }

    /// The tensor for another library to have: it may also write, unless a clone is alive here.
    pub fn into_dlpack(mut self) -> versioned::Dlpack {
        let flags = if self.is_unique() {
            DlpackFlags::empty()
        } else {
            DlpackFlags::READ_ONLY
        };
        export(self, flags)
    }

    /// A tensor over memory of another library, which is let go when the last clone of the tensor is dropped. It is read
    /// only, unless the flag `IS_COPIED` says that nobody else uses the memory.
    ///
    /// # Errors
    /// [`TensorError::Dlpack`] if it is not a dense tensor in host memory of a type that we have; the memory is let go then.
    ///
    /// # Safety
    /// The tensor describes valid memory that its producer keeps, and does not write, until its deleter is called.
    pub unsafe fn from_dlpack<M: ManagedTensorBase + 'static>(
        dlpack: Managed<M>,
    ) -> Result<Self, TensorError> {
        let invalid =
            |e: dlpark::tensor::Error| TensorError::Dlpack(DlpackProblem::Invalid(e.to_string()));
        let view = dlpack.validate().map_err(invalid)?;
        let dtype = import_dtype(view.dtype())?;
        if !view.is_compact().map_err(invalid)? {
            let strides = view.strides().unwrap_or_default().to_vec();
            return Err(TensorError::Dlpack(DlpackProblem::Strided(strides)));
        }
        let shape: Vec<usize> = view.shape().iter().map(|&dim| dim as usize).collect();
        let bytes = byte_count(dtype, &shape)?;
        // SAFETY: the caller vouches for the descriptor; this checks for the device, a null address and alignment is checked
        // below.
        let data = unsafe { view.cpu_bytes() }.map_err(invalid)?;
        if bytes == 0 {
            return Ok(Self::from_storage(dtype, &shape, Storage::empty()));
        }
        let ptr = NonNull::from(data).cast::<u8>();
        if !ptr.addr().get().is_multiple_of(dtype.scalar.bytes()) {
            let text = format!("address {ptr:p} is not aligned for {dtype}");
            return Err(TensorError::Dlpack(DlpackProblem::Invalid(text)));
        }
        let writable = dlpack.flags().contains(DlpackFlags::IS_COPIED)
            && !dlpack.flags().contains(DlpackFlags::READ_ONLY);
        let len = data.len().min(bytes);
        // SAFETY: the caller vouches that the memory is valid and not written until the deleter is called, which dropping the
        // owner does; `IS_COPIED` says that no one else reads it.
        let storage = unsafe { Storage::foreign(ptr, len, writable, Box::new(dlpack)) };
        Ok(Self::from_storage(dtype, &shape, storage))
    }
}

fn export(tensor: Tensor, flags: DlpackFlags) -> versioned::Dlpack {
    let dtype = export_dtype(tensor.dtype());
    let data = tensor.as_ptr().cast_mut().cast::<c_void>();
    let data = if tensor.is_empty() {
        std::ptr::null_mut()
    } else {
        data
    };
    let prepared = Dynamic::compact(tensor.shape().to_vec())
        .prepare()
        .expect("the bytes of a tensor, and so its extents and strides, fit i64");
    let mut initialized = prepared.initialize(Box::new(tensor));
    initialized.set_data(data);
    initialized.set_dtype(dtype);
    initialized.set_device(DLDevice::CPU);
    initialized
        .set_flags(flags)
        .expect("the flags do not claim a copy");
    // SAFETY: shape and strides were made by the builder, the data belong to the tensor in the context, and the flags allow
    // writing only where that tensor is the only one.
    unsafe { initialized.finish() }
}

fn export_dtype(dtype: DType) -> DLDataType {
    let code = match dtype.scalar {
        ScalarType::Small(small) if small.is_float() => {
            small_float_code(small).unwrap_or(DLDataTypeCode::UINT)
        }
        ScalarType::Bool => DLDataTypeCode::BOOL,
        ScalarType::BF16 => DLDataTypeCode::BFLOAT,
        float if float.is_float() => DLDataTypeCode::FLOAT,
        signed if signed.is_signed_int() => DLDataTypeCode::INT,
        _ => DLDataTypeCode::UINT,
    };
    // Elements of less than a byte take one here. DLPack packs them: integers go out as whole bytes, floats as their codes.
    DLDataType::new(code, 8 * dtype.scalar.bytes() as u8, dtype.lanes)
}

/// The code of a float of eight bits.
fn small_float_code(small: SmallType) -> Option<DLDataTypeCode> {
    Some(match small {
        SmallType::F8E3M4 => DLDataTypeCode::FLOAT8_E3M4,
        SmallType::F8E4M3 => DLDataTypeCode::FLOAT8_E4M3,
        SmallType::F8E4M3B11Fnuz => DLDataTypeCode::FLOAT8_E4M3B11FNUZ,
        SmallType::F8E4M3Fn => DLDataTypeCode::FLOAT8_E4M3FN,
        SmallType::F8E4M3Fnuz => DLDataTypeCode::FLOAT8_E4M3FNUZ,
        SmallType::F8E5M2 => DLDataTypeCode::FLOAT8_E5M2,
        SmallType::F8E5M2Fnuz => DLDataTypeCode::FLOAT8_E5M2FNUZ,
        SmallType::F8E8M0Fnu => DLDataTypeCode::FLOAT8_E8M0FNU,
        _ => return None,
    })
}

fn import_dtype(dtype: DLDataType) -> Result<DType, TensorError> {
    let small = SmallType::ALL.into_iter();
    let small = small.filter(|small| small_float_code(*small).is_some());
    let all = ScalarType::ALL.into_iter();
    let found = all.chain(small.map(ScalarType::Small)).find_map(|scalar| {
        let candidate = DType::of(scalar).with_lanes(dtype.lanes);
        let exported = export_dtype(candidate);
        (exported.code == dtype.code && exported.bits == dtype.bits).then_some(candidate)
    });
    found.ok_or(TensorError::Dlpack(DlpackProblem::DType {
        code: dtype.code.0,
        bits: dtype.bits,
        lanes: dtype.lanes,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_pass_through_without_a_copy() {
        let tensor = Tensor::from_slice(&[2, 3], &[1i32, 2, 3, 4, 5, 6]).expect("six elements");
        let exported = tensor.to_dlpack();
        assert!(exported.flags().contains(DlpackFlags::READ_ONLY));
        // SAFETY: the memory is ours and not written.
        let imported = unsafe { Tensor::from_dlpack(exported) }.expect("dense, on the host");
        assert_eq!(imported, tensor);
        assert_eq!(imported.as_ptr(), tensor.as_ptr());
        drop(tensor);
        assert_eq!(
            imported.as_slice::<i32>().map(|s| s[5]),
            Ok(6),
            "kept alive"
        );
    }

    #[test]
    fn the_memory_stays_shared_while_it_is_lent() {
        let mut tensor = Tensor::zeros(DType::F16, &[4]).expect("small");
        let lent = tensor.to_dlpack();
        assert_eq!(tensor.bytes_mut().err(), Some(TensorError::Shared));
        drop(lent);
        assert!(tensor.bytes_mut().is_ok());
        assert!(
            !tensor
                .into_dlpack()
                .flags()
                .contains(DlpackFlags::READ_ONLY)
        );
    }

    #[test]
    fn strides_and_unknown_types_are_refused() {
        let transposed = |tensor: &Tensor| {
            let mut initialized = Dynamic::new(vec![3usize, 2], vec![1i64, 3])
                .prepare_as::<dlpark::ffi::DLManagedTensor>()
                .expect("small")
                .initialize(Box::new(tensor.clone()));
            initialized.set_data(tensor.as_ptr().cast_mut().cast());
            initialized.set_device(DLDevice::CPU);
            initialized
        };
        let tensor = Tensor::zeros(DType::F32, &[2, 3]).expect("small");
        let mut strided = transposed(&tensor);
        strided.set_dtype(DLDataType::F32);
        // SAFETY: the memory is ours and not written.
        let refused = unsafe { Tensor::from_dlpack(strided.finish()) };
        assert_eq!(
            refused,
            Err(TensorError::Dlpack(DlpackProblem::Strided(vec![1, 3])))
        );
        let mut complex = transposed(&tensor);
        complex.set_dtype(DLDataType::C64);
        // SAFETY: as above.
        let refused = unsafe { Tensor::from_dlpack(complex.finish()) };
        assert!(matches!(
            refused,
            Err(TensorError::Dlpack(DlpackProblem::DType { bits: 64, .. }))
        ));
    }
}
