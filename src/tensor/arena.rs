//! `Arena`: memory that several tensors share, side by side and by turns.
#![expect(
    unsafe_code,
    reason = "tensors of an arena are known to it by their addresses"
)]

use std::ptr::NonNull;
use std::sync::Arc;

use super::host::byte_count;
use super::storage::{ALIGN, Storage};
use super::{DType, Recycler, Tensor, TensorError};

/// Memory for tensors that are made in it at given offsets.
#[derive(Clone)]
pub(crate) struct Arena(Arc<Storage>);

impl Arena {
    /// That many bytes, which start at a multiple of 64.
    ///
    /// # Errors
    /// If there are not so many.
    pub(crate) fn new(bytes: usize, recycler: &Recycler) -> Result<Self, TensorError> {
        let mut memory = Tensor::zeros(DType::U8, &[0])?;
        memory.renew(DType::U8, &[bytes], 0, recycler)?;
        Ok(Self(memory.into_storage()))
    }

    /// How many bytes there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The memory of a tensor that nobody else holds: the arena that the tensor starts, or its own. `None` if it is shared, or not
    /// aligned as an arena is.
    pub(crate) fn of(tensor: &mut Tensor) -> Option<Self> {
        if !tensor.is_unique() || !tensor.as_ptr().addr().is_multiple_of(ALIGN) {
            return None;
        }
        match tensor.storage().owner() {
            Some(owner) => {
                let arena: &Self = owner.downcast_ref()?;
                arena.holds(tensor, 0).then(|| arena.clone())
            }
            None if tensor.is_empty() => None,
            None => Some(Self(tensor.storage().clone())),
        }
    }

    /// Whether the tensor starts in the arena.
    pub(crate) fn contains(&self, tensor: &Tensor) -> bool {
        let start = self.0.as_ptr().addr();
        (start..start + self.len()).contains(&tensor.as_ptr().addr())
    }

    /// Whether the tensor starts at this offset of the arena.
    pub(crate) fn holds(&self, tensor: &Tensor, offset: usize) -> bool {
        std::ptr::eq(tensor.as_ptr(), self.0.as_ptr().wrapping_add(offset))
    }

    /// A tensor of the arena with whatever elements are there. `None` if it would leave the arena, or its elements would not be
    /// aligned.
    ///
    /// # Safety
    /// As long as the tensor or a clone of it is read or written, nothing writes the bytes that it has in common with other
    /// tensors of the arena.
    pub(crate) unsafe fn tensor(
        &self,
        offset: usize,
        dtype: DType,
        shape: &[usize],
    ) -> Option<Tensor> {
        let bytes = byte_count(dtype, shape).ok()?;
        let fits = offset
            .checked_add(bytes)
            .is_some_and(|end| end <= self.len());
        if !fits || !offset.is_multiple_of(dtype.scalar.bytes()) {
            return None;
        }
        let storage = match NonNull::new(self.0.as_ptr().wrapping_add(offset)) {
            // SAFETY: the bytes are in the arena, which the storage keeps alive, initialised, and aligned since the arena is and
            // the offset is a multiple. That others leave them alone is the duty of the caller.
            Some(ptr) if bytes > 0 => unsafe {
                Storage::foreign(ptr, bytes, true, Box::new(self.clone()))
            },
            _ => Storage::empty(),
        };
        Some(Tensor::from_storage(dtype, shape, storage))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_lie_where_they_are_placed() {
        let arena = Arena::new(128, &Recycler::default()).expect("128 bytes");
        // SAFETY: they are written one after the other.
        let place = |offset, len: usize| unsafe { arena.tensor(offset, DType::F32, &[len]) };
        let mut first = place(0, 16).expect("it fits");
        let mut second = place(64, 16).expect("it fits");
        first.as_mut_slice::<f32>().expect("unique").fill(1.0);
        second.as_mut_slice::<f32>().expect("unique").fill(2.0);
        assert_eq!(first.as_slice::<f32>().expect("f32"), [1.0; 16]);
        assert!(arena.holds(&second, 64) && !arena.holds(&second, 0));
        let both = place(32, 16).expect("it fits");
        assert_eq!(both.as_slice::<f32>().expect("f32")[7..9], [1.0, 2.0]);
        assert!(place(68, 16).is_none(), "it would leave the arena");
        assert!(place(2, 1).is_none(), "it would not be aligned");
        assert!(place(128, 0).is_some_and(|t| t.is_empty()));
        drop(arena);
        assert_eq!(second.as_slice::<f32>().expect("f32"), [2.0; 16]);
    }
}
