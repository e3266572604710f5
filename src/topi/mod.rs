//! Layer 3: tensor operators in tensor expressions (TVM's `topi`), as far as the operators of graphs need them.
//!
//! A function takes tensors and gives a tensor; shapes and element types are those of its arguments, checked by who calls it.

mod broadcast;
mod manipulate;
mod math;
pub mod nn;
mod reduce;

pub use broadcast::{binary, broadcast_shape, broadcast_to, compare, element, select};
pub use manipulate::{astype, concat, full, permute, slice};
pub use math::{float, map};
pub use reduce::{ArgReduce, Reduced, arg_reduce, mean, reduce, reduced_shape, variance};
