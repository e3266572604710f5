//! Why a graph function has no bytecode.

use crate::ir::Origin;
use crate::ir::graph::Op;

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
    /// A dimension that no parameter and no `match_cast` before it defines.
    #[error("nothing before it defines the symbolic dimension `{0}`")]
    UnboundDim(String),
    /// Arithmetic on dimensions that has no host form.
    #[error("the dimension `{0}` cannot be computed on the host")]
    Dim(String),
    /// A construct that bytecode does not have yet.
    #[error("{0} cannot be compiled to bytecode")]
    Unsupported(&'static str),
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
