//! Neural networks: softmax and matrix products.

use super::{Reduced, accumulated, accumulator, element, map, reduce};
use crate::ir::Expr;
use crate::te::{self, Tensor};
use crate::tensor::DType;
use crate::tensor::scalar::{BinOp, Intrin};

fn exp(x: Expr) -> Expr {
    Expr::call(Intrin::Exp, vec![x])
}

/// `exp(x)` divided by its sum over the axis; the greatest element is taken off first.
pub fn softmax(name: &str, x: &Tensor, axis: usize) -> Tensor {
    let dtype = accumulator(x.dtype());
    let max = reduce(
        &format!("{name}_max"),
        BinOp::Max,
        x,
        &[axis],
        Reduced::Keep,
    );
    let exps = te::compute(format!("{name}_exp"), x.shape().to_vec(), |i| {
        exp(x.at(i).cast(dtype) - element(&max, i).cast(dtype))
    });
    let sum = reduce(
        &format!("{name}_sum"),
        BinOp::Add,
        &exps,
        &[axis],
        Reduced::Keep,
    );
    te::compute(name, x.shape().to_vec(), |i| {
        (exps.at(i) / element(&sum, i)).cast(x.dtype())
    })
}

/// The logarithm of softmax.
pub fn log_softmax(name: &str, x: &Tensor, axis: usize) -> Tensor {
    let dtype = accumulator(x.dtype());
    let max = reduce(
        &format!("{name}_max"),
        BinOp::Max,
        x,
        &[axis],
        Reduced::Keep,
    );
    let shifted = |i: &[Expr]| x.at(i).cast(dtype) - element(&max, i).cast(dtype);
    let exps = te::compute(format!("{name}_exp"), x.shape().to_vec(), |i| {
        exp(shifted(i))
    });
    let sum = reduce(
        &format!("{name}_sum"),
        BinOp::Add,
        &exps,
        &[axis],
        Reduced::Keep,
    );
    let log = map(&format!("{name}_log"), &sum, |sum| {
        Expr::call(Intrin::Log, vec![sum])
    });
    te::compute(name, x.shape().to_vec(), |i| {
        (shifted(i) - element(&log, i)).cast(x.dtype())
    })
}

/// The matrix product of the last two dimensions, with broadcast batch dimensions; a vector on either side has one.
pub fn matmul(name: &str, a: &Tensor, b: &Tensor, shape: &[Expr], dtype: DType) -> Tensor {
    accumulated(name, dtype, |name, wide| product(name, a, b, shape, wide))
}

/// The same, whose elements are converted to the type of the result before they are multiplied.
fn product(name: &str, a: &Tensor, b: &Tensor, shape: &[Expr], dtype: DType) -> Tensor {
    let extent = a.shape()[a.ndim() - 1].clone();
    let k = te::reduce_axis("k", extent);
    let (rows, columns) = (usize::from(a.ndim() > 1), usize::from(b.ndim() > 1));
    te::compute(name, shape.to_vec(), |i| {
        let batch = &i[..i.len() - rows - columns];
        let at = |x: &Tensor, matrix: Vec<Expr>| {
            let count = x.ndim() - matrix.len();
            let outer = batch[batch.len() - count..].iter().zip(x.shape());
            let outer = outer.map(|(at, extent)| match extent.is_one() {
                true => Expr::i64(0),
                false => at.clone(),
            });
            x.at(outer.chain(matrix)).cast(dtype)
        };
        let row = i[batch.len()..batch.len() + rows].iter().cloned();
        let lhs = at(a, row.chain([k.expr()]).collect());
        let column = i[batch.len() + rows..].iter().cloned();
        let rhs = at(b, [k.expr()].into_iter().chain(column).collect());
        te::sum(lhs * rhs, [&k])
    })
}
