//! Operators on known elements: sizes are computed while the model is imported, and need no kernel.
//!
//! Each function gives `None` if an operand is not known, or the result is not: then the node goes into the graph.

mod arithmetic;
mod arrange;
mod operands;

pub(super) use arithmetic::{
    absolute, add, and, cast, ceil, divide, equal, floor, floor_mod, greater, greater_equal, less,
    less_equal, maximum, minimum, multiply, negative, not, or, range, reduce, select, subtract,
};
pub(super) use arrange::{concat, expand, gather, reshaped, slice, transposed};

use crate::frontend::onnx::call::Call;
use crate::frontend::onnx::error::Fault;
use crate::frontend::onnx::value::Value;

/// The result of a node whose operands are known.
pub(super) type Fold = fn(&mut Call<'_, '_>) -> Result<Option<Value>, Fault>;

type Folded = Result<Option<Value>, Fault>;
