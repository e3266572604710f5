//! Element types, the operations on elements, and tensors in host memory.

mod dlpack;
mod dtype;
mod host;
mod ndarray;
pub mod scalar;
mod storage;

pub use dtype::{DType, ParseDTypeError, ScalarType};
pub use host::{DlpackProblem, Element, Tensor, TensorError};
