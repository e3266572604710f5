//! Layer 0: element types, the operations on elements, and tensors in host memory.

mod dtype;
mod host;
pub mod scalar;

pub use dtype::{DType, ParseDTypeError, ScalarType};
pub use host::{Element, Tensor, TensorError};
