//! Who computes values at compile time.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;

use crate::interp::{Value, run_module};
use crate::ir::Module;

/// Values, or why they cannot be computed.
pub type Evaluated = Result<Vec<Value>, Box<dyn Error + Send + Sync>>;

/// Computes values at compile time. A pipeline gives passes one that is fast where much is to be computed, as it runs native code
/// (see [`Cx::evaluator`](super::Cx)).
pub trait Evaluate: fmt::Debug + Send + Sync {
    /// The elements of the tuple that `func` gives, a function of the module without parameters.
    ///
    /// # Errors
    /// If the function does something that has no meaning, or cannot be run here.
    fn evaluate(&self, module: &Module, func: &str) -> Evaluated;
}

/// Computes with the interpreter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interpreter;

impl Evaluate for Interpreter {
    fn evaluate(&self, module: &Module, func: &str) -> Evaluated {
        match run_module(module, func, &[], &HashMap::new())? {
            Value::Tuple(values) => Ok(values),
            other => Ok(vec![other]),
        }
    }
}
