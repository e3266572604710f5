//! `BuildError`.

use crate::ir::graph::InferError;
use crate::script::IllFormed;
use crate::te::TeError;
use crate::tensor::TensorError;

/// Why a function or module cannot be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// Operands or attributes that do not fit.
    #[error(transparent)]
    Infer(#[from] InferError),
    /// Tensor expressions that make no loop program.
    #[error(transparent)]
    Te(#[from] TeError),
    /// A constant that is no tensor.
    #[error(transparent)]
    Tensor(#[from] TensorError),
    /// No operator has the name.
    #[error("there is no operator `R.{name}`")]
    UnknownOperator {
        /// The name.
        name: String,
    },
    /// Something is emitted while no function is open.
    #[error("no function is open")]
    NoFunction,
    /// An output of a dataflow block is emitted outside of all.
    #[error("no dataflow block is open in `{func}`")]
    NoDataflow {
        /// The function.
        func: String,
    },
    /// A function without `emit_func_output`.
    #[error("function `{func}` has no output: call `emit_func_output`")]
    NoOutput {
        /// The function.
        func: String,
    },
    /// A second `emit_func_output`.
    #[error("function `{func}` has an output already")]
    SecondOutput {
        /// The function.
        func: String,
    },
    /// A variable that neither the function nor one around it has.
    #[error("variable `{name}` is neither a parameter nor emitted in `{func}`")]
    UnknownVar {
        /// The variable.
        name: String,
        /// The function.
        func: String,
    },
    /// The name of the function is taken.
    #[error("the module has a function `{name}` already")]
    Taken {
        /// The name.
        name: String,
    },
    /// An argument of `emit_te` of which shape or element type is not known.
    #[error("argument {index} of `{name}`: shape and element type must be known, it is {got}")]
    UnknownShape {
        /// The loop program that was to be made.
        name: String,
        /// Which argument, from 0.
        index: usize,
        /// What is known of it.
        got: Box<crate::ir::StructInfo>,
    },
    /// The module breaks rules; all that it breaks.
    #[error(transparent)]
    IllFormed(#[from] Box<IllFormed>),
}
