//! Why a graph function has no bytecode.

use crate::ir::Origin;
use crate::ir::graph::Op;
use crate::ops::CodeError;

/// What is wrong with a binding.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GraphProblem {
    /// An operator of the graph dialect, which has no loops.
    #[error("operator `{op}` cannot run: {why}")]
    Operator {
        /// The operator.
        op: Op,
        /// Why not.
        why: &'static str,
    },
    /// No function of the module has the name.
    #[error("there is no {kind} `{name}` in the module")]
    UnknownFunction {
        /// What it should be.
        kind: &'static str,
        /// Its name.
        name: String,
    },
    /// A call whose memory is not written down.
    #[error(
        "its memory is not allocated before it: run `call_tir_rewrite` and `lower_alloc_tensor`"
    )]
    Unplanned,
    /// A constant whose data the text of the module leaves out.
    #[error("the text leaves out constant {0}: print the module with show_meta")]
    OmittedConstant(usize),
    /// Arithmetic on dimensions that is not written down.
    #[error("`{0}` is not computed before it: run `vm_shape_lower`")]
    Unlowered(String),
    /// A packed function or a program that works on the shape heap, and its arguments do not fit.
    #[error("`{name}`: {problem}")]
    Shape {
        /// What is called.
        name: String,
        /// What is wrong.
        problem: Box<ShapeProblem>,
    },
    /// A construct that bytecode does not have yet.
    #[error("{0} cannot be compiled to bytecode")]
    Unsupported(&'static str),
}

/// What is wrong with a call that works on the shape heap.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShapeProblem {
    /// Another number of arguments than it takes.
    #[error("takes {expected} arguments, got {got}")]
    Arity {
        /// What it takes, as `5` or `at least 4`.
        expected: String,
        /// How many there are.
        got: usize,
    },
    /// Codes and operands do not come in pairs, one for each dimension.
    #[error("{got} codes and operands are given for {ndim} dimensions, which take {}", 2 * ndim)]
    Pairs {
        /// Number of dimensions.
        ndim: i64,
        /// Number of codes and operands together.
        got: usize,
    },
    /// An argument is something else than it must be.
    #[error("argument {at} must be {expected}")]
    Argument {
        /// Its position.
        at: usize,
        /// What it must be.
        expected: &'static str,
    },
    /// A code or a slot that there is not.
    #[error(transparent)]
    Code(#[from] CodeError),
    /// A second shape heap.
    #[error("the function has a shape heap already")]
    SecondHeap,
    /// A shape heap of an impossible size.
    #[error("a shape heap cannot have {0} slots")]
    HeapSize(i64),
    /// A program called with the shape heap that is no shape function.
    #[error(
        "it is no shape function: one takes the heap and only stores in slots of known numbers"
    )]
    Program,
    /// Arithmetic on dimensions that has no host form.
    #[error("`{0}` cannot be computed on the host")]
    Arithmetic(String),
}

/// Why a graph function has no bytecode, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("function `{func}`, `{binding}`: {problem}{}", origin.from())]
pub struct GraphError {
    /// The function.
    pub func: String,
    /// The parameter or binding.
    pub binding: String,
    /// What is wrong.
    pub problem: GraphProblem,
    /// Where the binding comes from.
    pub origin: Origin,
}
