//! Kernel IR. What lowering makes of a loop program and both code generators read: flat arrays, loops, thread ids,
//! barriers, launches. Plain data, stored in artifacts.
//!
//! A [`LoweredFunc`] is one `PrimFunc`: temporaries and a sequence of kernels. Indices are in elements of the array. All
//! integer index arithmetic is in the type of its variables (`i32` or `u32` on the GPU, `i64` or `i32` on the CPU).

mod active;
mod bounds;
#[cfg(any(feature = "cpu", feature = "compiler"))]
pub(crate) mod build;
mod device;
mod expr;
mod fragment;
mod grid;
mod host;
pub(crate) mod index;
#[cfg(any(feature = "cpu", feature = "compiler"))]
pub(crate) mod poly;
mod predict;
mod print;
mod proof;
#[cfg(any(feature = "cpu", feature = "compiler"))]
pub(crate) mod reduction;
mod shader;
mod target;
#[cfg(all(test, any(feature = "cpu", feature = "compiler")))]
pub(crate) mod testing;
mod tree;
mod typing;
mod verify;

pub use device::{BANKS, GpuModel};
pub use expr::{Array, ArrayId, Expr, ForKind, Shuffle, Space, Stmt, Ty, VarId, VarInfo};
pub use fragment::{
    ArrayTile, FRAGMENT_ALIGN, FRAGMENT_EXTENTS, FRAGMENT_THREADS, Fragment, FragmentId,
    FragmentOp, FragmentProduct, Role,
};
pub use grid::folded_grid;
pub use host::HostExpr;
pub use predict::{Counts, Limit, Prediction, SECTOR_BYTES};
pub use proof::Proof;
pub use shader::{ScalarPassing, Shader, declared, with_shared};
pub use target::{CpuTarget, GpuClass, GpuTarget, MOST_STORAGE_BUFFERS, Target};
pub use verify::{InvalidKernel, MOST_LANES};

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::support::Arena;
use crate::tensor::ScalarType;
use crate::tensor::scalar::{Scalar, round_float};

/// Bytes that the memory bound for a global array of a GPU kernel is a multiple of. A kernel may read and write the padding
/// behind the last element; what is there means nothing.
pub const GLOBAL_ALIGN: u64 = 16;

/// Bytes that the start of a global array in a larger buffer of a GPU is a multiple of: every WebGPU device binds such parts.
pub const PART_ALIGN: u64 = 256;

/// How a kernel uses a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Access {
    /// Only reads.
    Read,
    /// Only writes; every element that is read later is written.
    Write,
    /// Reads and writes.
    ReadWrite,
}

/// Which tensor a kernel's global array is: index into parameters, then temporaries, of the [`LoweredFunc`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum BufferRef {
    /// A tensor parameter, by its position among the tensor parameters.
    Param(usize),
    /// A temporary.
    Temp(usize),
}

impl std::fmt::Display for BufferRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Param(at) => write!(f, "parameter {at}"),
            Self::Temp(at) => write!(f, "temporary {at}"),
        }
    }
}

/// A tensor parameter of a [`LoweredFunc`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ParamInfo {
    /// Name in the text.
    pub name: String,
    /// Element type.
    pub dtype: ScalarType,
    /// Extents in terms of the dims. An extent that is just `Dim(i)` defines that dim where it first occurs.
    pub shape: Vec<HostExpr>,
    /// Whether any kernel writes it.
    pub written: bool,
}

/// A scalar parameter of a [`LoweredFunc`].
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ScalarParam {
    /// The dim that it is.
    pub dim: usize,
    /// Its type in the program.
    pub dtype: ScalarType,
}

impl ScalarParam {
    /// What a launch passes for a value of the parameter: the bits of a `float32` or, for a `float64`, its own.
    pub fn bits(self, value: Scalar) -> i64 {
        match self.dtype {
            ScalarType::F64 => value.as_float().to_bits().cast_signed(),
            dtype if dtype.is_float() => {
                let rounded = round_float(value.as_float(), dtype) as f32;
                rounded.to_bits().cast_signed().into()
            }
            ScalarType::Bool => value.is_true().into(),
            _ => value.as_int(),
        }
    }
}

/// A temporary in device memory.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TempInfo {
    /// Name in the text.
    pub name: String,
    /// Element type.
    pub dtype: ScalarType,
    /// Number of elements.
    pub len: HostExpr,
}

/// What a loop program became.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LoweredFunc {
    /// Name of the function.
    pub name: String,
    /// Names of the symbolic dims and scalar parameters, in order of first use: what `HostExpr::Dim` counts. All are `int64`
    /// on the host.
    pub dims: Vec<String>,
    /// Tensor parameters in order.
    pub params: Vec<ParamInfo>,
    /// Scalar parameters in order.
    pub scalar_params: Vec<ScalarParam>,
    /// Temporaries.
    pub temps: Vec<TempInfo>,
    /// Kernels, run in order.
    pub kernels: Vec<Kernel>,
    /// Facts that the kernels rely on, as `dim * 4 <= i32::MAX`; checked before a launch with new dims.
    pub requires: Vec<Requirement>,
    /// What the program asserts of its dims; checked before a launch with new dims.
    pub asserts: Vec<Assertion>,
}

/// Stack that the local arrays of a kernel may take on the CPU, in bytes.
pub const MOST_STACK: i64 = 256 << 10;

/// What lowering takes every extent of a tensor, and every factor of one, to be. `in_bounds` is proved for these alone: a launch
/// with others trusts no proof.
pub const PROVED_DIMS: RangeInclusive<i64> = 0..=i32::MAX as i64 - 1;

/// The same for scalar parameters that are no extents.
pub const PROVED_SCALARS: RangeInclusive<i64> = i32::MIN as i64..=i32::MAX as i64;

impl LoweredFunc {
    /// Whether it takes the same arguments in the same way, but for extents.
    pub fn is_called_as(&self, other: &Self) -> bool {
        let same = |a: &ParamInfo, b: &ParamInfo| {
            (a.dtype, a.shape.len(), a.written) == (b.dtype, b.shape.len(), b.written)
        };
        let params = self.params.iter().zip(&other.params);
        let scalars = self.scalar_params.iter().zip(&other.scalar_params);
        self.params.len() == other.params.len()
            && params.into_iter().all(|(a, b)| same(a, b))
            && self.scalar_params.len() == other.scalar_params.len()
            && scalars.into_iter().all(|(a, b)| a.dtype == b.dtype)
    }

    /// The first dim that is outside the range for which `in_bounds` is proved, and that range: [`PROVED_DIMS`] for extents,
    /// [`PROVED_SCALARS`] for others. Of the bits of a float nothing is proved.
    pub fn unproved_dim(&self, dims: &[i64]) -> Option<(usize, RangeInclusive<i64>)> {
        let is_extent = |dim| {
            let mut extents = self.params.iter().flat_map(|param| &param.shape);
            extents.any(|extent| extent.has_factor(dim))
        };
        let mut dims = dims.iter().enumerate();
        let is_data = |dim| {
            let mut scalars = self.scalar_params.iter();
            scalars.any(|scalar| scalar.dim == dim && scalar.dtype.is_float())
        };
        dims.find_map(|(dim, value)| {
            if is_data(dim) {
                return None;
            }
            let proved = if is_extent(dim) {
                PROVED_DIMS
            } else {
                PROVED_SCALARS
            };
            (!proved.contains(value)).then_some((dim, proved))
        })
    }
}

/// A condition on the dims that lowering relied on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Requirement {
    /// Must be at most `limit`.
    pub value: HostExpr,
    /// The largest value that is fine.
    pub limit: i64,
    /// What it is for, as `index into A fits i32`.
    pub what: String,
}

/// An `assert` of the program about its dims and scalar parameters.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Assertion {
    /// Must not be 0.
    pub holds: HostExpr,
    /// The message of the program.
    pub message: String,
}

/// Workgroups and threads of a GPU kernel.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Launch {
    /// Workgroups in x, y, z. May exceed what a device takes in one dimension: the runtime then folds (see `codegen_wgsl`).
    pub grid: [HostExpr; 3],
    /// Threads of a workgroup in x, y, z.
    pub block: [u32; 3],
    /// How many times the grid is dispatched, one after the other. Scalars of the kernel may count dispatches, from 0: that
    /// number is the dim behind those of the function.
    pub times: HostExpr,
}

/// One kernel: on the GPU one dispatch, on the CPU one native function.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Kernel {
    /// Name: that of the function, with a suffix if it has several kernels.
    pub name: String,
    /// What it computes, for the reader of the emitted text: the names of its blocks.
    pub comment: String,
    /// All arrays; the `Space::Global` ones, in order, are its bindings.
    pub arrays: Arena<ArrayId, Array>,
    /// All local variables.
    pub vars: Arena<VarId, VarInfo>,
    /// All fragments.
    pub fragments: Arena<FragmentId, Fragment>,
    /// The scalars it takes: values computed on the host from the dims, and the variable that holds each.
    pub scalars: Vec<(VarId, HostExpr)>,
    /// Workgroups and threads; `None` for a CPU kernel.
    pub launch: Option<Launch>,
    /// What it does.
    pub body: Vec<Stmt>,
    /// Whether every access is proved in range, so that the back end may leave out its checks.
    pub in_bounds: bool,
    /// Estimated floating-point operations, in terms of the dims.
    pub flops: HostExpr,
    /// Bytes of global arrays it must at least move, in terms of the dims.
    pub bytes: HostExpr,
}

impl Kernel {
    /// The global arrays in binding order.
    pub fn bindings(&self) -> impl Iterator<Item = (ArrayId, &Array, BufferRef, Access)> {
        self.arrays
            .iter()
            .filter_map(|(id, array)| match array.space {
                Space::Global { buffer, access } => Some((id, array, buffer, access)),
                Space::Shared | Space::Local => None,
            })
    }
}
