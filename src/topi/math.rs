//! Functions of one tensor, element by element.

use crate::ir::Expr;
use crate::te::{self, Tensor};
use crate::tensor::DType;

/// `f(x)`
pub fn map(name: &str, x: &Tensor, f: impl Fn(Expr) -> Expr) -> Tensor {
    te::compute(name, x.shape().to_vec(), |i| f(x.at(i)))
}

/// `f(index, x)`
pub fn map_at(name: &str, x: &Tensor, f: impl Fn(&[Expr], Expr) -> Expr) -> Tensor {
    te::compute(name, x.shape().to_vec(), |i| f(i, x.at(i)))
}

/// A constant of a float type.
pub fn float(value: f64, dtype: DType) -> Expr {
    Expr::float(value, dtype)
}
