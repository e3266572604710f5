//! Fragments: tiles of matrices that the threads of a subgroup hold together, and operations on whole tiles (SPIR-V: cooperative
//! matrices).
//!
//! The threads of a subgroup are those that differ in `threadIdx.x` alone, so a workgroup of a kernel with fragments has
//! [`FRAGMENT_THREADS`] threads in x. All threads of the workgroup are at an operation at once. An operation on memory has no checks
//! of a driver: [`LoweredFunc::verify`](super::LoweredFunc::verify) asks that the whole tile is shown to be inside its array.

use serde::{Deserialize, Serialize};

use super::{ArrayId, Expr};
use crate::id_type;
pub use crate::tensor::FRAGMENT_EXTENTS;
use crate::tensor::ScalarType;

/// Threads that hold a fragment together.
pub const FRAGMENT_THREADS: u32 = 32;

/// Bytes that rows of a tile in memory are a multiple of apart, and that the first one begins at a multiple of.
pub const FRAGMENT_ALIGN: u32 = 16;

id_type!(
    /// A fragment of one kernel.
    pub FragmentId,
    "f"
);

/// Which matrix of `A * B + C` a fragment is a tile of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Role {
    /// The left factor.
    A,
    /// The right factor.
    B,
    /// The sums.
    C,
}

/// A tile of as many rows as columns. It is 0 where the kernel begins.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Fragment {
    /// Name in the text; names need not be unique.
    pub name: String,
    /// The matrix that it is a tile of.
    pub role: Role,
    /// Rows and columns: one of [`FRAGMENT_EXTENTS`].
    pub extent: u32,
    /// Element type.
    pub dtype: ScalarType,
}

/// A product of fragments that a device makes: `C += A * B`, of which each has as many rows as columns (Vulkan:
/// `VkCooperativeMatrixPropertiesKHR`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct FragmentProduct {
    /// Rows and columns: one of [`FRAGMENT_EXTENTS`].
    pub extent: u32,
    /// Element type of the factors.
    pub factors: ScalarType,
    /// Element type of the sums.
    pub sums: ScalarType,
}

impl FragmentProduct {
    /// The products that kernels are made of: factors of `float16` or `float32`, and sums of `float32`. Sums of `float16` are rounded
    /// at each step.
    pub fn is_used(self) -> bool {
        let types = matches!(self.factors, ScalarType::F16 | ScalarType::F32);
        types && self.sums == ScalarType::F32 && FRAGMENT_EXTENTS.contains(&self.extent)
    }
}

impl std::fmt::Display for FragmentProduct {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            extent,
            factors,
            sums,
        } = self;
        write!(f, "{extent} x {extent} {factors} with sums in {sums}")
    }
}

/// A tile of an array, row by row.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ArrayTile {
    /// The array.
    pub array: ArrayId,
    /// Index of the first element.
    pub index: Expr,
    /// Elements from one row to the next.
    pub stride: u32,
}

/// An operation on fragments.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum FragmentOp {
    /// All elements become 0.
    Clear(FragmentId),
    /// A tile of memory becomes a fragment.
    Load(FragmentId, ArrayTile),
    /// `sum = a * b + sum`
    MultiplyAdd {
        /// The sums.
        sum: FragmentId,
        /// The left factor.
        a: FragmentId,
        /// The right factor.
        b: FragmentId,
    },
    /// A fragment becomes a tile of memory.
    Store(FragmentId, ArrayTile),
}

impl FragmentOp {
    /// The tile of memory that it reads or writes.
    pub fn memory(&self) -> Option<&ArrayTile> {
        match self {
            Self::Load(_, tile) | Self::Store(_, tile) => Some(tile),
            Self::Clear(_) | Self::MultiplyAdd { sum: _, a: _, b: _ } => None,
        }
    }

    /// The same, to be changed.
    pub fn memory_mut(&mut self) -> Option<&mut ArrayTile> {
        match self {
            Self::Load(_, tile) | Self::Store(_, tile) => Some(tile),
            Self::Clear(_) | Self::MultiplyAdd { sum: _, a: _, b: _ } => None,
        }
    }
}
