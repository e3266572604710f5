//! `InferError`.

use crate::ir::graph::{AttrKind, AttrSpec};
use crate::ir::{Expr, StructInfo};
use crate::tensor::DType;

/// Arguments that do not fit what takes them.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InferError {
    /// Tuples or extents that grow from binding to binding.
    #[error("what is known of the value has more than {limit} parts")]
    TooLarge {
        /// How many there may be.
        limit: usize,
    },
    /// A call with too many or too few arguments.
    #[error("{callee} takes {expected} arguments, got {got}")]
    ArgumentCount {
        /// What is called.
        callee: String,
        /// Number of parameters.
        expected: usize,
        /// Number of arguments.
        got: usize,
    },
    /// An argument that can never be what the parameter says.
    #[error("argument {index} of {callee} must be {expected}, got {got}")]
    Argument {
        /// What is called.
        callee: String,
        /// Which argument, from 0.
        index: usize,
        /// What the parameter says.
        expected: Box<StructInfo>,
        /// What is known of the argument.
        got: Box<StructInfo>,
    },
    /// An output type that is not what the loop program writes.
    #[error("output {index} of {callee} is {expected}, declared as {got}")]
    Output {
        /// What is called.
        callee: String,
        /// Which output, from 0.
        index: usize,
        /// What the callee writes.
        expected: Box<StructInfo>,
        /// What the call declares.
        got: Box<StructInfo>,
    },
    /// An operand of the wrong kind.
    #[error("operand {index} of R.{op} must be {expected}, got {got}")]
    Operand {
        /// The operator.
        op: String,
        /// Which operand, from 0.
        index: usize,
        /// What it takes.
        expected: &'static str,
        /// What is known of the operand.
        got: Box<StructInfo>,
    },
    /// Shapes that do not broadcast.
    #[error("R.{op}: extents {lhs:#} and {rhs:#} of dimension {axis} do not broadcast")]
    Broadcast {
        /// The operator.
        op: String,
        /// Dimension of the result.
        axis: usize,
        /// Extent of the first.
        lhs: Expr,
        /// Extent of the second.
        rhs: Expr,
    },
    /// Extents that must be equal and are not.
    #[error("R.{op}: {what} must be equal, got {lhs:#} and {rhs:#}")]
    Extents {
        /// The operator.
        op: String,
        /// Which extents.
        what: &'static str,
        /// Extent of the first.
        lhs: Expr,
        /// Extent of the second.
        rhs: Expr,
    },
    /// A result that would have less than no elements.
    #[error("R.{op}: an extent of the result is less than 0: {extent:#}")]
    NegativeExtent {
        /// The operator.
        op: String,
        /// The extent.
        extent: Expr,
    },
    /// A number of elements that other extents do not divide.
    #[error(
        "R.{op}: {count} elements are no multiple of {parts}, the product of the extents that are given"
    )]
    Multiple {
        /// The operator.
        op: String,
        /// Number of elements.
        count: i64,
        /// Product of the other extents.
        parts: i64,
    },
    /// Element types that must be equal and are not.
    #[error("R.{op}: element types must be equal, got {lhs} and {rhs}")]
    ElementTypes {
        /// The operator.
        op: String,
        /// Of the first.
        lhs: DType,
        /// Of the second.
        rhs: DType,
    },
    /// A dimension that the tensor does not have.
    #[error("R.{op}: axis {axis} is out of range for {ndim} dimensions")]
    Axis {
        /// The operator.
        op: String,
        /// The axis as written.
        axis: i64,
        /// Dimensions of the operand.
        ndim: usize,
    },
    /// An attribute that makes no sense.
    #[error("R.{op}: bad attribute {name}: it must be {expected}, got {got}")]
    Attribute {
        /// The operator.
        op: String,
        /// The attribute.
        name: &'static str,
        /// What it takes here.
        expected: &'static str,
        /// What was given.
        got: String,
    },
    /// A value that an attribute does not take.
    #[error("R.{op}: attribute {name} must be {expected}, got {got}")]
    AttributeValue {
        /// The operator.
        op: &'static str,
        /// The attribute.
        name: &'static str,
        /// What it takes.
        expected: AttrKind,
        /// What was given.
        got: String,
    },
    /// An attribute that has no default and was not given.
    #[error("R.{op} needs the attribute {name}")]
    MissingAttribute {
        /// The operator.
        op: &'static str,
        /// The attribute.
        name: &'static str,
    },
    /// An attribute that the operator does not have.
    #[error("R.{op} has no attribute {name}{}", list(known))]
    UnknownAttribute {
        /// The operator.
        op: &'static str,
        /// The name that was given.
        name: String,
        /// The attributes that it has.
        known: &'static [AttrSpec],
    },
    /// A use of an operator that Relax allows and this compiler does not compile.
    #[error("R.{op}: {what} is not supported")]
    Unsupported {
        /// The operator.
        op: &'static str,
        /// The use.
        what: &'static str,
    },
    /// An item of something that is no tuple, or too small a tuple.
    #[error("{got} has no item {index}")]
    NoItem {
        /// Index asked for.
        index: usize,
        /// What is known of the value.
        got: Box<StructInfo>,
    },
    /// A call of something that is no function.
    #[error("{callee} is not a function, it is {got}")]
    NotCallable {
        /// What is called.
        callee: String,
        /// What is known of it.
        got: Box<StructInfo>,
    },
    /// A function that the module does not have.
    #[error("the module has no function {name}")]
    UnknownGlobal {
        /// Its name.
        name: String,
    },
}

/// The attributes that an operator has, for a message.
fn list(known: &[AttrSpec]) -> String {
    let names: Vec<_> = known.iter().map(|spec| spec.name).collect();
    match names.as_slice() {
        [] => String::new(),
        names => format!("; it has {}", names.join(", ")),
    }
}
