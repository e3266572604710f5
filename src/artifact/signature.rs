//! [`Signature`]: what a function takes and gives, for those who call it. The machine itself checks arguments by the function's code.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::kernel::HostExpr;
use crate::tensor::DType;

/// Names and types of the parameters and results of a function.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Signature {
    /// The symbolic extents. [`HostExpr::Dim`] counts them.
    pub symbols: Vec<String>,
    /// The parameters, in order.
    pub inputs: Vec<Port>,
    /// The results, in order. A function with more than one gives a tuple.
    pub outputs: Vec<Port>,
}

/// A parameter or a result.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Port {
    /// Its name in the words of its author.
    pub name: String,
    /// What is known of it.
    pub kind: PortKind,
}

/// What is known of a parameter or a result.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum PortKind {
    /// It is a tensor.
    Tensor {
        /// Its element type, if that is known.
        dtype: Option<DType>,
        /// Its extents, if those are known.
        shape: Option<Vec<HostExpr>>,
    },
    /// It is something else: what, in a word.
    Other(String),
}

impl Signature {
    /// The type of a port in print, as `float32 [batch, 10]`.
    pub fn shown<'a>(&'a self, port: &'a Port) -> impl fmt::Display + 'a {
        fmt::from_fn(|f| {
            let (dtype, shape) = match &port.kind {
                PortKind::Other(what) => return f.write_str(what),
                PortKind::Tensor { dtype, shape } => (dtype, shape),
            };
            match dtype {
                Some(dtype) => write!(f, "{dtype} ")?,
                None => f.write_str("any type ")?,
            }
            let Some(shape) = shape else {
                return f.write_str("of any shape");
            };
            let dims: Vec<String> = shape.iter().map(|dim| dim.shown(&self.symbols)).collect();
            write!(f, "[{}]", dims.join(", "))
        })
    }
}
