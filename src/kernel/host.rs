//! `HostExpr`: integers that the host computes before a launch from the symbolic dims.

use serde::{Deserialize, Serialize};

use crate::tensor::ScalarType;
use crate::tensor::scalar::{BinOp, EvalError, Scalar, eval_binary};

/// An `int64` expression over the dims of a [`LoweredFunc`](super::LoweredFunc).
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub enum HostExpr {
    /// A constant.
    Const(i64),
    /// A dim, by its position.
    Dim(usize),
    /// An operation on integers; comparisons give 0 or 1.
    Binary(BinOp, Box<HostExpr>, Box<HostExpr>),
    /// `if c != 0 { a } else { b }`
    Select(Box<HostExpr>, Box<HostExpr>, Box<HostExpr>),
}

crate::bounded_nesting!(HostExpr);

impl HostExpr {
    /// Whether it is a product of this dim and others, or the dim itself.
    pub fn has_factor(&self, dim: usize) -> bool {
        match self {
            Self::Dim(own) => *own == dim,
            Self::Binary(BinOp::Mul, a, b) => a.has_factor(dim) || b.has_factor(dim),
            Self::Const(_) | Self::Binary(_, _, _) | Self::Select(_, _, _) => false,
        }
    }

    /// Calls a function with every dim in it, as often as it stands there.
    pub fn for_each_dim(&self, f: &mut dyn FnMut(usize)) {
        match self {
            Self::Const(_) => {}
            Self::Dim(dim) => f(*dim),
            Self::Binary(_, a, b) => [a, b].into_iter().for_each(|e| e.for_each_dim(f)),
            Self::Select(c, a, b) => [c, a, b].into_iter().for_each(|e| e.for_each_dim(f)),
        }
    }

    /// The value, given every dim.
    ///
    /// # Errors
    /// Division by zero.
    ///
    /// # Panics
    /// If a dim is missing.
    pub fn eval(&self, dims: &[i64]) -> Result<i64, EvalError> {
        match self {
            Self::Const(v) => Ok(*v),
            Self::Dim(i) => Ok(dims[*i]),
            Self::Binary(op, a, b) => {
                let (a, b) = (Scalar::Int(a.eval(dims)?), Scalar::Int(b.eval(dims)?));
                eval_binary(*op, ScalarType::I64, a, b).map(Scalar::as_int)
            }
            Self::Select(c, a, b) => {
                if c.eval(dims)? != 0 {
                    a.eval(dims)
                } else {
                    b.eval(dims)
                }
            }
        }
    }

    /// The same where every step must be what integers without an end give: for counts and sizes, which do not wrap.
    ///
    /// # Errors
    /// Division by zero, and numbers past an `int64`.
    ///
    /// # Panics
    /// If a dim is missing.
    pub fn eval_exact(&self, dims: &[i64]) -> Result<i64, EvalError> {
        match self {
            Self::Const(_) | Self::Dim(_) => self.eval(dims),
            Self::Binary(op, a, b) => {
                let (a, b) = (a.eval_exact(dims)?, b.eval_exact(dims)?);
                let (op, exact) = match op {
                    BinOp::Add => ("+", a.checked_add(b)),
                    BinOp::Sub => ("-", a.checked_sub(b)),
                    BinOp::Mul => ("*", a.checked_mul(b)),
                    _ => {
                        let (a, b) = (Scalar::Int(a), Scalar::Int(b));
                        return eval_binary(*op, ScalarType::I64, a, b).map(Scalar::as_int);
                    }
                };
                exact.ok_or(EvalError::Overflow { op, a, b })
            }
            Self::Select(c, a, b) => {
                if c.eval_exact(dims)? != 0 {
                    a.eval_exact(dims)
                } else {
                    b.eval_exact(dims)
                }
            }
        }
    }

    /// `a op b`, folded if both are constants and the result is one that does not wrap.
    pub fn binary(op: BinOp, a: Self, b: Self) -> Self {
        let node = Self::Binary(op, Box::new(a), Box::new(b));
        if let Self::Binary(_, a, b) = &node
            && let (Self::Const(_), Self::Const(_)) = (&**a, &**b)
            && let Ok(value) = node.eval_exact(&[])
        {
            return Self::Const(value);
        }
        node
    }

    /// How many operations it takes.
    pub fn operations(&self) -> usize {
        match self {
            Self::Const(_) | Self::Dim(_) => 0,
            Self::Binary(_, a, b) => 1 + a.operations() + b.operations(),
            Self::Select(c, a, b) => 1 + c.operations() + a.operations() + b.operations(),
        }
    }

    /// The constant, if it is one.
    pub fn as_const(&self) -> Option<i64> {
        if let Self::Const(v) = self {
            Some(*v)
        } else {
            None
        }
    }
}
