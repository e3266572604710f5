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

/// Bytes of a huge page of most processors; storage of fewer than two may hold none.
const HUGE_PAGE: usize = 2 << 20;
/// Bytes that every page is a multiple of, or that divide it on processors with larger ones, where the advice is refused.
#[cfg(target_os = "linux")]
const PAGE: usize = 4 << 10;

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
        Some(Self {
            ptr: allocate_zeroed(layout)?,
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

/// Zeroed memory of a layout of more than no bytes; `None` if there is not so much.
fn allocate_zeroed(layout: Layout) -> Option<NonNull<u8>> {
    if layout.size() < 2 * HUGE_PAGE || !cfg!(target_os = "linux") {
        // SAFETY: the layout has more than zero bytes.
        return NonNull::new(unsafe { std::alloc::alloc_zeroed(layout) });
    }
    // SAFETY: as above.
    let ptr = NonNull::new(unsafe { std::alloc::alloc(layout) })?;
    // Before it is touched: pages that are there stay small.
    ask_for_huge_pages(ptr, layout.size());
    // SAFETY: just allocated, with as many bytes.
    unsafe { ptr.as_ptr().write_bytes(0, layout.size()) };
    Some(ptr)
}

/// Asks for pages of [`HUGE_PAGE`] under the whole pages of some memory: kernels that read rows far apart, or whole tensors, then wait less for
/// the addresses of pages (measured: softmax of 64 MB 0.85 of the time, a transpose of 16 MB 0.65, ResNet-18 0.94). A system that gives
/// none is as good as before.
#[cfg(target_os = "linux")]
fn ask_for_huge_pages(ptr: NonNull<u8>, len: usize) {
    let start = ptr.as_ptr();
    let before = start.align_offset(PAGE);
    if before < len {
        // SAFETY: the range is allocated. The advice changes how memory is backed, not what it holds.
        unsafe { libc::madvise(start.add(before).cast(), len - before, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn ask_for_huge_pages(_ptr: NonNull<u8>, _len: usize) {}

/// Gives empty storage an aligned address.
#[repr(align(64))]
struct Aligned;
