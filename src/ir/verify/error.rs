//! `PrimFuncError`: what is wrong with a loop program, and where.

use crate::ir::{Located, Place};
use crate::tensor::DType;

/// One violation.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}{kind}", .inside.as_ref().map_or(String::new(), |name| format!("{name}: ")))]
pub struct PrimFuncError {
    /// The innermost loop or block around it.
    pub place: Place,
    /// That place in words, unless it is the root block.
    pub inside: Option<String>,
    /// What is wrong.
    pub kind: PrimFuncErrorKind,
}

impl Located for PrimFuncError {
    fn places(&self) -> &[Place] {
        std::slice::from_ref(&self.place)
    }
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PrimFuncErrorKind {
    /// A variable that nothing around defines.
    #[error("variable `{name}` is used where it is not defined")]
    UndefinedVar {
        /// Its name.
        name: String,
    },
    /// A loop variable used in the body of a block.
    #[error(
        "loop variable `{name}` is used inside of the block, which must bind it to an iter variable"
    )]
    LoopVarInBlock {
        /// Its name.
        name: String,
    },
    /// A variable defined by two loops, blocks or lets inside each other.
    #[error("variable `{name}` is defined twice")]
    Redefined {
        /// Its name.
        name: String,
    },
    /// A buffer that is no parameter and is not allocated around its use.
    #[error("buffer `{name}` is used where it is not allocated")]
    UndefinedBuffer {
        /// Its name.
        name: String,
    },
    /// A buffer that is a parameter twice or allocated twice.
    #[error("buffer `{name}` is defined twice")]
    RedefinedBuffer {
        /// Its name.
        name: String,
    },
    /// A buffer of a negative extent.
    #[error("buffer `{name}` has the extent {extent} in dimension {dim}")]
    NegativeExtent {
        /// Its name.
        name: String,
        /// The dimension.
        dim: usize,
        /// The extent.
        extent: i64,
    },
    /// A buffer whose bytes, counted over its constant extents, an `int64` cannot count.
    #[error("buffer `{name}` has more than 2^63 bytes")]
    TooLarge {
        /// Its name.
        name: String,
    },
    /// Loops inside each other whose iterations, counted over their constant extents, an `int64` cannot count.
    #[error("the loops around it run more than 2^63 times")]
    TooManyIterations,
    /// A wrong number of indices or ranges.
    #[error("buffer `{name}` has {ndim} dimensions, {got} indices given")]
    IndexCount {
        /// Name of the buffer.
        name: String,
        /// Its dimensions.
        ndim: usize,
        /// Given indices.
        got: usize,
    },
    /// An access that certainly happens, outside of the buffer.
    #[error(
        "index {index} is outside of dimension {dim} of buffer `{buffer}`, which has extent {extent}"
    )]
    OutOfRange {
        /// Name of the buffer.
        buffer: String,
        /// The dimension.
        dim: usize,
        /// The index.
        index: i128,
        /// Extent of the dimension.
        extent: i64,
    },
    /// An iter variable whose loop has values that its domain does not.
    #[error(
        "iter variable `{name}` is bound to a loop from {first} to {last}, its domain is from {min} to before {end}"
    )]
    OutOfDomain {
        /// Name of the iter variable.
        name: String,
        /// The first value of the loop.
        first: i64,
        /// Its last value.
        last: i64,
        /// The first value of the domain.
        min: i64,
        /// Where the domain ends.
        end: i64,
    },
    /// A block with another number of bindings than of iter variables.
    #[error("{iters} iter variables have {bindings} bindings")]
    BindingCount {
        /// Iter variables.
        iters: usize,
        /// Bindings.
        bindings: usize,
    },
    /// A value of a type that its place does not allow.
    #[error("{what} is of type {found}, expected {expected}")]
    Type {
        /// What it is.
        what: &'static str,
        /// What is allowed.
        expected: String,
        /// What it has.
        found: DType,
    },
    /// Operands of different types.
    #[error("`{op}` of {left} and {right}")]
    Operands {
        /// The operator.
        op: String,
        /// Type of the first operand.
        left: DType,
        /// Type of the other operand.
        right: DType,
    },
    /// Operands or arguments for which an operator or function has no meaning.
    #[error("`{op}` is not defined for {found}")]
    NotDefined {
        /// The operator or function.
        op: String,
        /// Type of the operands.
        found: DType,
    },
    /// A function with a wrong number of arguments.
    #[error("`{function}` takes {expected} arguments, {got} given")]
    ArgumentCount {
        /// The function.
        function: &'static str,
        /// How many it takes.
        expected: usize,
        /// How many were given.
        got: usize,
    },
    /// An access of more lanes than a vector has.
    #[error("an access of buffer `{name}` has more than 65535 lanes")]
    TooManyLanes {
        /// Name of the buffer.
        name: String,
    },
    /// A view of another type or scope than its source.
    #[error("view `{name}` is of another type or scope than `{of}`")]
    ViewType {
        /// Name of the view.
        name: String,
        /// Name of the source.
        of: String,
    },
    /// A view of more dimensions than its source, or one that drops an extent other than 1.
    #[error(
        "view `{name}` has {ndim} dimensions, which are not those of its region of `{of}` without leading extents of 1"
    )]
    ViewRank {
        /// Name of the view.
        name: String,
        /// Its dimensions.
        ndim: usize,
        /// Name of the source.
        of: String,
    },
    /// A view with an extent that is not that of its region.
    #[error(
        "dimension {dim} of view `{name}` is not shown to have the extent of its region of `{of}`"
    )]
    ViewExtent {
        /// Name of the view.
        name: String,
        /// The dimension.
        dim: usize,
        /// Name of the source.
        of: String,
    },
    /// Calls that say several extents of the fragments of one buffer.
    #[error(
        "fragments of buffer `{name}` have the extent {first} in one call and {other} in another"
    )]
    FragmentExtent {
        /// Name of the buffer.
        name: String,
        /// What the first call says.
        first: i64,
        /// What another call says.
        other: i64,
    },
    /// A product of fragments of several extents.
    #[error("a product of fragments of {}", .extents.map(|of| of.map_or("unknown extent".to_owned(), |n| format!("{n} x {n}"))).join(", "))]
    FragmentProduct {
        /// Those of the result, the left factor, the right factor and what is added, if they are known.
        extents: [Option<i64>; 4],
    },
    /// A `break` or `continue` without a loop around it in its block.
    #[error("`break` or `continue` outside of a loop")]
    OutsideLoop,
    /// A `return` that does not fit the function.
    #[error("the function returns {}, here {}", .declared.as_deref().unwrap_or("nothing"), .found.as_deref().unwrap_or("nothing"))]
    Result {
        /// The type of the function's result.
        declared: Option<String>,
        /// The type of the returned value.
        found: Option<String>,
    },
    /// A text that is no argument of an external call.
    #[error("a text is a value only as the argument of an external call")]
    Text,
    /// A handle of a removed loop or block in a body.
    #[error("{place} is in a body but was removed")]
    Dead {
        /// The handle.
        place: Place,
    },
    /// A loop or block whose parent is not where it is.
    #[error("{place} is in a body, but its parent is {} or it is there twice", .parent.map_or("none".to_owned(), |p| p.to_string()))]
    Parent {
        /// The handle.
        place: Place,
        /// What the tree says.
        parent: Option<Place>,
    },
}
