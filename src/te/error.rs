//! `TeError`.

use crate::ir::verify::PrimFuncError;

/// Why tensor expressions make no loop program.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TeError {
    /// A tensor among the parameters twice.
    #[error("tensor `{name}` is given twice")]
    GivenTwice {
        /// The tensor.
        name: String,
    },
    /// A placeholder that is read and is no parameter.
    #[error("placeholder `{name}` is read, and is no parameter")]
    NoParameter {
        /// The placeholder.
        name: String,
    },
    /// A program that breaks the rules of loop programs.
    #[error("`{func}` is not well formed: {}", list(.errors))]
    IllFormed {
        /// The function.
        func: String,
        /// What it breaks.
        errors: Vec<PrimFuncError>,
    },
}

fn list(errors: &[PrimFuncError]) -> String {
    let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
    errors.join("; ")
}
