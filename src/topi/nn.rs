//! Neural networks: softmax and matrix products.

use super::extent::{quotient, shifted};
use super::{Reduced, accumulated, accumulator, element, map, reduce};
use crate::ir::Expr;
use crate::te::{self, Tensor};
use crate::tensor::scalar::{BinOp, Intrin};
use crate::tensor::{DType, ScalarType};

fn exp(x: Expr) -> Expr {
    Expr::call(Intrin::Exp, vec![x])
}

/// `exp(x)` divided by its sum over the axis; the greatest element is taken off first. Differences, exponentials, their sum and
/// the quotients are rounded to the element type, as in the function body that ONNX defines. Floats of 32 bits and more are multiplied
/// by the reciprocal of the sum, which a row needs once: a division takes as long as ten products.
pub fn softmax(name: &str, x: &Tensor, axis: usize) -> Tensor {
    let max = reduce(
        &format!("{name}_max"),
        BinOp::Max,
        x,
        &[axis],
        Reduced::Keep,
    );
    let exps = te::compute(format!("{name}_exp"), x.shape().to_vec(), |i| {
        exp(x.at(i) - element(&max, i))
    });
    let sum_name = format!("{name}_sum");
    let sum = match x.dtype().scalar {
        ScalarType::BF16 => sum_by_runs(&sum_name, &exps, axis),
        _ => reduce(&sum_name, BinOp::Add, &exps, &[axis], Reduced::Keep),
    };
    let dtype = x.dtype();
    te::compute(name, x.shape().to_vec(), |i| {
        let (exp, sum) = (exps.at(i), element(&sum, i));
        match dtype.scalar {
            ScalarType::F32 | ScalarType::F64 => exp * (Expr::float(1.0, dtype) / sum),
            _ => exp / sum,
        }
    })
}

/// Elements that [`sum_by_runs`] adds one after the other.
const RUN: i64 = 8;

/// The sum over an axis, which stays with extent 1. Runs of [`RUN`] elements are added in order and rounded at each addition, as
/// the reference implementation of ONNX adds `bfloat16`. The sums of the runs are added in the type of [`accumulator`]: rounded
/// at each addition, a long sum would stop growing.
fn sum_by_runs(name: &str, x: &Tensor, axis: usize) -> Tensor {
    let extent = &x.shape()[axis];
    let mut shape = x.shape().to_vec();
    shape[axis] = quotient(&shifted(extent, RUN - 1), &Expr::i64(RUN));
    let runs = te::compute(format!("{name}_runs"), shape, |i| {
        let element = |at: i64| {
            let mut index = i.to_vec();
            index[axis] = &i[axis] * RUN + at;
            match extent.as_int() {
                // One run, or whole ones: every element is there.
                Some(extent) if extent % RUN == 0 => x.at(index),
                Some(extent) if extent < RUN => x.at(index),
                _ => {
                    let inside = index[axis].lt(extent);
                    Expr::select(inside, x.at(index), Expr::float(0.0, x.dtype()))
                }
            }
        };
        let count = extent.as_int().map_or(RUN, |extent| extent.clamp(1, RUN));
        let first = element(0);
        (1..count).fold(first, |sum, at| sum + element(at))
    });
    reduce(name, BinOp::Add, &runs, &[axis], Reduced::Keep)
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
