//! Element types, the operations on elements, and tensors in host memory.

mod arena;
mod dlpack;
mod dtype;
mod host;
mod host_ops;
mod message;
mod ndarray;
mod non_max_suppression;
mod nonzero;
pub mod pack;
mod random;
mod recycler;
pub mod scalar;
mod slices;
mod small;
mod storage;
mod unique;

pub(crate) use arena::Arena;
pub use dtype::{DType, ParseDTypeError, ScalarType};
pub use host::{DlpackProblem, Element, Tensor, TensorError};
pub use host_ops::{
    HOST_OPS, HostArgs, HostError, HostOp, HostResult, NO_AXIS, PACK_MEMORY, host_op,
};
pub(crate) use recycler::Recycler;
pub use small::SmallType;

/// How many rows and columns a fragment may have: a tile of a matrix that the threads of a subgroup hold together (WGSL:
/// `coop_mat8x8`, `coop_mat16x16`).
pub const FRAGMENT_EXTENTS: [u32; 2] = [8, 16];
