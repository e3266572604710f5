//! Why a program cannot be interpreted.

use crate::ir::graph::{Obligation, Op};
use crate::ir::{Expr, Origin};
use crate::tensor::scalar::EvalError;
use crate::tensor::{DType, TensorError};

/// Why a program cannot be interpreted. Every variant names the buffer, block, parameter or value.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InterpError {
    /// A value of a graph function has none; with its place.
    #[error("{source}\n  from {origin}")]
    From {
        /// Where the value comes from.
        origin: Box<Origin>,
        /// Why it has none.
        source: Box<Self>,
    },
    /// A statement of a loop program failed.
    #[error("{source}\n  in {place}")]
    In {
        /// The iteration of the innermost block, as "block `B` of `main`, vi = 2, vj = 0".
        place: String,
        /// What failed.
        source: Box<Self>,
    },
    /// Extents that an operator takes only if they are equal.
    #[error(
        "{}{}, got {given}",
        obligation.asks(*op),
        valued(&obligation.expected, *expected)
    )]
    Obligation {
        /// The operator.
        op: Op,
        /// What it asks.
        obligation: Obligation,
        /// The number that the operands have.
        given: i64,
        /// The number that the operator takes.
        expected: i64,
    },
    /// A constant whose data the text of the module leaves out.
    #[error("`{func}`: the text leaves out constant {index}: print the module with show_meta")]
    OmittedConstant {
        /// Name of the function.
        func: String,
        /// Number of the constant.
        index: usize,
    },
    /// A call of an operator that cannot run.
    #[error(transparent)]
    Operator(Box<crate::ops::LegalizeError>),
    /// The number of arguments is wrong.
    #[error("`{func}` takes {expected} arguments, got {got}")]
    ArgumentCount {
        /// Name of the function.
        func: String,
        /// Parameters it has.
        expected: usize,
        /// Arguments given.
        got: usize,
    },
    /// An argument or result has another element type than its parameter.
    #[error("`{param}` of `{func}`: expected {expected}, got {got}")]
    ArgumentDType {
        /// Name of the function.
        func: String,
        /// Name of the parameter, match_cast, or `result`.
        param: String,
        /// Type of the parameter.
        expected: DType,
        /// Type of the argument.
        got: DType,
    },
    /// An argument or result has another shape than its parameter.
    #[error("`{param}` of `{func}`, dimension {dim}: expected {expected}, got {got}")]
    ArgumentShape {
        /// Name of the function.
        func: String,
        /// Name of the parameter, match_cast, or `result`.
        param: String,
        /// Which dimension.
        dim: usize,
        /// What the parameter asks for.
        expected: String,
        /// What the argument has.
        got: usize,
    },
    /// An argument or result has another number of dimensions than its parameter.
    #[error("`{param}` of `{func}`: expected {expected} dimensions, got {got}")]
    ArgumentNdim {
        /// Name of the function.
        func: String,
        /// Name of the parameter, match_cast, or `result`.
        param: String,
        /// Dimensions of the parameter.
        expected: usize,
        /// Dimensions of the argument.
        got: usize,
    },
    /// A scalar argument or result of another value than its parameter says.
    #[error("`{param}` of `{func}`: expected {expected}, got {got}")]
    ArgumentValue {
        /// Name of the function.
        func: String,
        /// Name of the parameter, match_cast, or `result`.
        param: String,
        /// What the parameter asks for.
        expected: String,
        /// What was given.
        got: String,
    },
    /// Threads that wait for others that do not come.
    #[error("threads meet at `T.tvm_storage_sync`, but not all threads of the workgroup come by")]
    Divergent,
    /// Threads of one workgroup, some of which leave their loop.
    #[error("some threads of a workgroup leave by `break`, and others do not")]
    SomeLeave,
    /// A loop over threads of a workgroup, some of which have returned before.
    #[error("a loop over threads follows one from which some of them have returned")]
    Returned,
    /// An index outside the extent of its dimension.
    #[error(
        "index {index} is out of range for dimension {dim} of `{buffer}`, which has extent {extent}"
    )]
    OutOfRange {
        /// Name of the buffer.
        buffer: String,
        /// Which dimension.
        dim: usize,
        /// The index.
        index: i64,
        /// Extent of the dimension.
        extent: i64,
    },
    /// An element was read before anything was written to it.
    #[error("`{buffer}`{index:?} is read before it is written")]
    Uninitialized {
        /// Name of the buffer.
        buffer: String,
        /// The index.
        index: Vec<i64>,
    },
    /// A vector where a scalar is needed.
    #[error("expected a scalar, found a value of type {found}")]
    Vector {
        /// Type of the value.
        found: DType,
    },
    /// A buffer that there is no memory for.
    #[error("no memory for buffer `{buffer}` of shape {shape:?}")]
    Allocation {
        /// Name of the buffer.
        buffer: String,
        /// Its shape.
        shape: Vec<i64>,
    },
    /// A view with an extent that its region does not have.
    #[error("dimension {dim} of view `{view}` has the extent {extent}, its region {got}")]
    ViewExtent {
        /// Name of the view.
        view: String,
        /// Which dimension.
        dim: usize,
        /// Extent of the view.
        extent: i64,
        /// Extent of the region.
        got: i64,
    },
    /// A variable has no value here.
    #[error("variable `{name}` has no value here")]
    UnboundVar {
        /// Its name.
        name: String,
    },
    /// A buffer is used outside the block that allocates it.
    #[error("buffer `{name}` does not exist here")]
    UnboundBuffer {
        /// Its name.
        name: String,
    },
    /// A parameter or view that says it is laid out in another way than it is. Tensors are dense.
    #[error("`{buffer}` has the stride or offset {said} in the program, but here it is {value}")]
    BufferLayout {
        /// Name of the buffer.
        buffer: String,
        /// Stride or offset in the program.
        said: i64,
        /// Stride or offset in memory.
        value: i64,
    },
    /// A view of memory whose buffer has strides or an offset of its own.
    #[error("`{view}` views the memory of `{source_buffer}`, which has strides or an offset")]
    StridedMemory {
        /// Name of the view.
        view: String,
        /// Name of the buffer.
        source_buffer: String,
    },
    /// Something that reaches beyond the program: memory by its address, or a function or instruction that is not part of it.
    #[error("cannot run {what}")]
    BeyondProgram {
        /// What it is.
        what: String,
    },
    /// A value of a block iter variable lies outside its domain.
    #[error("block `{block}`: `{iter}` = {value} lies outside {min} .. {end}")]
    IterOutOfDomain {
        /// Name of the block.
        block: String,
        /// Name of the iter variable.
        iter: String,
        /// Its value.
        value: i64,
        /// First value of the domain.
        min: i64,
        /// End of the domain.
        end: i64,
    },
    /// `assert` failed.
    #[error("assertion failed: {message}")]
    Assertion {
        /// Its message.
        message: String,
    },
    /// `T.assume` of a condition that does not hold.
    #[error("`{condition}` is assumed and does not hold")]
    Assumption {
        /// The condition.
        condition: String,
    },
    /// A product of fragments whose calls do not say one extent for all of them.
    #[error("the fragments of a product into `{buffer}` have no extent in common")]
    FragmentExtent {
        /// The buffer of the result.
        buffer: String,
    },
    /// A call of something that is not there.
    #[error("no function `{name}`: neither in the module nor among the packed functions given")]
    UnknownFunction {
        /// Its name.
        name: String,
    },
    /// A graph value of another kind than its use asks for.
    #[error("`{value}` is not {expected}")]
    WrongKind {
        /// Name of the value.
        value: String,
        /// What was expected.
        expected: &'static str,
    },
    /// A code or a slot of the shape heap that there is not.
    #[error("`{builtin}`: {source}")]
    ShapeCode {
        /// The packed function that takes it.
        builtin: &'static str,
        /// What is wrong with it.
        source: crate::ops::CodeError,
    },
    /// A packed function failed.
    #[error("packed function `{name}` failed: {message}")]
    Packed {
        /// Its name.
        name: String,
        /// What it said.
        message: String,
    },
    /// Calls are nested too deeply.
    #[error("calls are nested more than {0} deep")]
    Recursion(usize),
    /// An operation has no value.
    #[error(transparent)]
    Eval(#[from] EvalError),
    /// A tensor cannot be made.
    #[error(transparent)]
    Tensor(#[from] TensorError),
}

impl InterpError {
    /// The error without its place.
    pub fn root(&self) -> &Self {
        match self {
            Self::From { origin: _, source } | Self::In { place: _, source } => source.root(),
            other => other,
        }
    }

    /// The error with the place of the value that has none, unless it has the place of another one.
    pub(super) fn from(self, origin: &Origin) -> Self {
        match self {
            Self::From { .. } => self,
            source if origin.is_unknown() => source,
            source => Self::From {
                origin: Box::new(origin.clone()),
                source: Box::new(source),
            },
        }
    }
}

/// What follows an extent that is not a number: the number that it is.
fn valued(extent: &Expr, value: i64) -> String {
    match extent.as_int() {
        Some(_) => String::new(),
        None => format!(" = {value}"),
    }
}
