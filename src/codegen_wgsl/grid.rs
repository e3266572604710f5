//! Grids with more workgroups in one dimension than a device takes.

use crate::kernel::Launch;

/// Whether the shader of this launch must find its place from the linear workgroup number: any extent is not a constant that
/// surely fits.
pub fn needs_folding(launch: &Launch, max_grid: u32) -> bool {
    launch
        .grid
        .iter()
        .any(|extent| extent.as_const().is_none_or(|n| n > i64::from(max_grid)))
}
