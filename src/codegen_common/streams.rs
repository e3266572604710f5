//! Arrays that are written past the caches: a kernel that fills more memory than caches hold need not read it first, as an ordinary
//! store does to complete a line. On x86 these are non-temporal stores, to multiples of a line.
//!
//! Reference: Intel, "64 and IA-32 Architectures Optimization Reference Manual", 8.4.1.

use crate::kernel::{Access, Array, Space};

/// Bytes of a large array: the last-level caches of most desktop processors are smaller.
pub(crate) const LARGE: i64 = 32 << 20;

/// Bytes that a streamed array starts at a multiple of, and whole vectors are stored to multiples of.
pub(crate) const LINE: usize = 64;

/// Whether whole vectors of an array are written past the caches: it is large, and the kernel does not read it.
pub(crate) fn is_streamed(array: &Array) -> bool {
    let only_written = matches!(
        array.space,
        Space::Global {
            buffer: _,
            access: Access::Write
        }
    );
    only_written && is_large(array)
}

/// Whether an array is surely larger than the caches.
fn is_large(array: &Array) -> bool {
    known_bytes(array).is_some_and(|bytes| bytes >= LARGE)
}

/// Bytes of an array, if its length is a constant.
pub(crate) fn known_bytes(array: &Array) -> Option<i64> {
    let len = array.len.as_const()?;
    len.checked_mul(array.dtype.bytes() as i64)
}
