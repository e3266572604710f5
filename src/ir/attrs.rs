//! Attributes and annotations: named plain values on functions, loops, blocks and calls.

use indexmap::IndexMap;

use super::{Buffer, Expr, Var};
use crate::tensor::DType;

/// Attributes in the order in which they were written.
pub type Attrs = IndexMap<String, AttrValue>;

/// Annotation of a loop or block at the root of a loop program: on a GPU it runs in one thread, where no loop is bound.
pub const ONE_THREAD: &str = "one_thread";

/// A plain value.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum AttrValue {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(String),
    DType(DType),
    Expr(Expr),
    Buffer(Buffer),
    IndexMap(Lambda),
    Reducer(Reducer),
    List(Vec<AttrValue>),
    Dict(Attrs),
}

/// A function of scalars, as the map of a layout.
#[derive(Clone, Debug, PartialEq)]
pub struct Lambda {
    /// Parameters.
    pub params: Vec<Var>,
    /// Results.
    pub results: Vec<Expr>,
}

/// A commutative reducer (`T.comm_reducer`). The first half of the parameters of `combine` is one tuple of values, the other
/// half the other one.
#[derive(Clone, Debug, PartialEq)]
pub struct Reducer {
    /// Combines two tuples of values.
    pub combine: Lambda,
    /// What changes nothing: one value for each result.
    pub identity: Vec<Expr>,
}

impl AttrValue {
    /// The integer, if it is one.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(v) => Some(*v),
            Self::Bool(v) => Some((*v).into()),
            Self::Expr(e) => e.as_int(),
            _ => None,
        }
    }

    /// The text, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        if let Self::Str(text) = self {
            Some(text)
        } else {
            None
        }
    }
}
