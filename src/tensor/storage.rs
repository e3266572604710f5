//! `Storage`: the bytes of a host tensor, owned by us or by another library.
//!
//! Invariants, which every `unsafe` of the tensors rests on:
//! - `ptr` is valid for reads of `len` initialised bytes for as long as the storage lives, and aligned for the elements of
//!   every tensor over it;
//! - nothing outside writes these bytes while the storage lives;
//! - if `writable`, nothing outside reads them either, so `&mut Storage` is exclusive access.
#![expect(
    unsafe_code,
    reason = "memory that other libraries own is known only by its address"
)]

use std::alloc::Layout;
use std::any::Any;
use std::ptr::NonNull;

use super::recycler::Home;

/// Alignment of storage that we allocate: one cache line.
pub(super) const ALIGN: usize = 64;

enum Owner {
    /// Allocated by [`Storage::zeroed`] with this layout. When it is not needed it goes home, if it has one.
    Own(Layout, Option<Home>),
    /// Kept alive, and freed, by dropping this value.
    Foreign {
        owner: Box<dyn Any + Send + Sync>,
        writable: bool,
    },
    /// No bytes.
    Empty,
}

/// Bytes in host memory.
pub(super) struct Storage {
    ptr: NonNull<u8>,
    len: usize,
    owner: Owner,
}

// SAFETY: the bytes are only written through `&mut Storage`, and the owner is `Send` and `Sync`.
unsafe impl Send for Storage {}
// SAFETY: as above; shared access only reads.
unsafe impl Sync for Storage {}

impl Storage {
    /// No bytes.
    pub(super) fn empty() -> Self {
        Self {
            ptr: NonNull::<Aligned>::dangling().cast(),
            len: 0,
            owner: Owner::Empty,
        }
    }

    /// Zeroed bytes at a multiple of 64; `len` is at most `isize::MAX - 64`. `None` if there is not so much memory.
    pub(super) fn zeroed(len: usize) -> Option<Self> {
        if len == 0 {
            return Some(Self::empty());
        }
        let layout = Layout::from_size_align(len.next_multiple_of(ALIGN), ALIGN)
            .expect("the caller bounds the length");
        // SAFETY: the layout has more than zero bytes.
        let ptr = unsafe { std::alloc::alloc_zeroed(layout) };
        Some(Self {
            ptr: NonNull::new(ptr)?,
            len: layout.size(),
            owner: Owner::Own(layout, None),
        })
    }

    /// The same bytes, which go there when they are not needed.
    pub(super) fn with_home(mut self, home: Home) -> Self {
        if let Owner::Own(_, at) = &mut self.owner {
            *at = Some(home);
        }
        self
    }

    /// Bytes that `owner` keeps alive.
    ///
    /// # Safety
    /// The invariants of the module hold for `ptr`, `len` and `writable` until `owner` is dropped.
    pub(super) unsafe fn foreign(
        ptr: NonNull<u8>,
        len: usize,
        writable: bool,
        owner: Box<dyn Any + Send + Sync>,
    ) -> Self {
        Self {
            ptr,
            len,
            owner: Owner::Foreign { owner, writable },
        }
    }

    /// What keeps the bytes alive, if they are not our own.
    pub(super) fn owner(&self) -> Option<&(dyn Any + Send + Sync)> {
        match &self.owner {
            Owner::Foreign { owner, writable: _ } => Some(&**owner),
            Owner::Own(..) | Owner::Empty => None,
        }
    }

    /// All bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        // SAFETY: invariants of the module; `&self` excludes `bytes_mut`.
        unsafe { std::slice::from_raw_parts(self.ptr.as_ptr(), self.len) }
    }

    /// All bytes, to be written; `None` if the owner does not allow it.
    pub(super) fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        if let Owner::Foreign {
            writable: false, ..
        } = self.owner
        {
            return None;
        }
        // SAFETY: invariants of the module; `&mut self` is exclusive.
        Some(unsafe { std::slice::from_raw_parts_mut(self.ptr.as_ptr(), self.len) })
    }

    /// Number of bytes.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Address of the first byte.
    pub(super) fn as_ptr(&self) -> *mut u8 {
        self.ptr.as_ptr()
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        match std::mem::replace(&mut self.owner, Owner::Empty) {
            Owner::Own(layout, Some(home)) => home.take(Self {
                ptr: self.ptr,
                len: self.len,
                owner: Owner::Own(layout, None),
            }),
            Owner::Own(layout, None) => {
                // SAFETY: allocated in `zeroed` with this layout; what frees it owns it no longer.
                unsafe { std::alloc::dealloc(self.ptr.as_ptr(), layout) };
            }
            Owner::Foreign { .. } | Owner::Empty => {}
        }
    }
}

/// Gives empty storage an aligned address.
#[repr(align(64))]
struct Aligned;
