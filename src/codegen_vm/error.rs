//! Why a graph function has no bytecode.

/// Why a graph function has no bytecode. Every variant names the function and the value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CodegenVmError {
    /// An operator that no pass has turned into a call of a loop program.
    #[error(
        "`{func}`, `{value}`: operator `R.{op}` has no implementation here; call a loop program by R.call_tir instead"
    )]
    Operator {
        /// The function.
        func: String,
        /// The value.
        value: String,
        /// The operator.
        op: String,
    },
    /// A nested function, which must be lifted to the module first.
    #[error("`{func}`, `{value}`: closures are not supported; make it a function of the module")]
    Closure {
        /// The function.
        func: String,
        /// The value.
        value: String,
    },
    /// An output whose shape or element type is not known.
    #[error("`{func}`, `{value}`: the shape and element type of an output must be known")]
    UnknownShape {
        /// The function.
        func: String,
        /// The value.
        value: String,
    },
    /// A dimension that nothing has given a value.
    #[error("`{func}`, `{value}`: dimension `{dim}` has no value here")]
    UnboundDim {
        /// The function.
        func: String,
        /// The value that needs it.
        value: String,
        /// The dimension.
        dim: String,
    },
    /// A function that is not in the module.
    #[error("`{func}`, `{value}`: no function `{callee}` in the module")]
    UnknownFunction {
        /// The function.
        func: String,
        /// The value.
        value: String,
        /// What it calls.
        callee: String,
    },
    /// An argument that the callee cannot take.
    #[error("`{func}`, `{value}`: {what} cannot be passed to `{callee}`")]
    Argument {
        /// The function.
        func: String,
        /// The value.
        value: String,
        /// What it calls.
        callee: String,
        /// What is passed.
        what: &'static str,
    },
}
