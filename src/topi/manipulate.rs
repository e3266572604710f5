//! Functions that move, join, cut or retype.

use crate::ir::Expr;
use crate::te::{self, Tensor};
use crate::tensor::DType;

/// Every element converted.
pub fn astype(name: &str, x: &Tensor, dtype: DType) -> Tensor {
    super::map(name, x, |x| x.cast(dtype))
}

/// Every element is `value`.
pub fn full(name: &str, shape: &[Expr], value: &Expr) -> Tensor {
    te::compute(name, shape.to_vec(), |_| value.clone())
}

/// Dimension `i` of the result is dimension `order[i]` of `x`.
pub fn permute(name: &str, x: &Tensor, order: &[usize]) -> Tensor {
    let shape = order.iter().map(|&axis| x.shape()[axis].clone());
    te::compute(name, shape, |i| {
        let mut index = vec![Expr::i64(0); order.len()];
        for (at, &axis) in order.iter().enumerate() {
            index[axis] = i[at].clone();
        }
        x.at(index)
    })
}

/// The part of `x` with this shape that begins at `start` along `axis`.
pub fn slice(name: &str, x: &Tensor, shape: &[Expr], axis: usize, start: &Expr) -> Tensor {
    te::compute(name, shape.to_vec(), |i| {
        let mut index = i.to_vec();
        index[axis] = if start.is_zero() {
            i[axis].clone()
        } else {
            i[axis].clone() + start
        };
        x.at(index)
    })
}

/// Number of elements of a shape.
pub fn volume(shape: &[Expr]) -> Expr {
    let product = |a: Expr, b: &Expr| match (a.as_int(), b.as_int()) {
        (Some(1), _) => b.clone(),
        (_, Some(1)) => a,
        (Some(a), Some(b)) => Expr::i64(a.saturating_mul(b)),
        _ => a * b,
    };
    shape.iter().fold(Expr::i64(1), product)
}

/// The row-major position of an index in a shape.
pub fn ravel(index: &[Expr], shape: &[Expr]) -> Expr {
    let step = |at: Option<Expr>, (i, extent): (&Expr, &Expr)| {
        Some(match at {
            None => i.clone(),
            Some(at) => at * extent + i,
        })
    };
    let position = index.iter().zip(shape).fold(None, step);
    position.unwrap_or_else(|| Expr::i64(0))
}

/// The index in a shape at a row-major position.
pub fn unravel(position: &Expr, shape: &[Expr]) -> Vec<Expr> {
    let digit = |axis: usize| {
        if shape[axis].is_one() {
            return Expr::i64(0);
        }
        let inner = volume(&shape[axis + 1..]);
        let quotient = if inner.is_one() {
            position.clone()
        } else {
            position.floor_div(inner)
        };
        if axis == 0 {
            quotient
        } else {
            quotient.floor_mod(&shape[axis])
        }
    };
    (0..shape.len()).map(digit).collect()
}

/// The same elements in row-major order, in a shape with as many.
pub fn reshape(name: &str, x: &Tensor, shape: &[Expr]) -> Tensor {
    te::compute(name, shape.to_vec(), |i| {
        x.at(unravel(&ravel(i, shape), x.shape()))
    })
}

/// The element at another index along one axis: `at` gets that index of the result.
pub fn reindex(
    name: &str,
    x: &Tensor,
    shape: &[Expr],
    axis: usize,
    at: impl Fn(&[Expr]) -> Expr,
) -> Tensor {
    te::compute(name, shape.to_vec(), |i| {
        let mut index = i.to_vec();
        index[axis] = at(i);
        x.at(index)
    })
}

/// The tensors joined along `axis`.
pub fn concat(name: &str, tensors: &[Tensor], shape: &[Expr], axis: usize) -> Tensor {
    te::compute(name, shape.to_vec(), |i| {
        let mut ends = vec![Expr::i64(0)];
        for x in tensors {
            let extent = &x.shape()[axis];
            let end = match (ends[ends.len() - 1].as_int(), extent.as_int()) {
                (Some(0), _) => extent.clone(),
                (Some(a), Some(b)) => Expr::i64(a.saturating_add(b)),
                _ => ends[ends.len() - 1].clone() + extent,
            };
            ends.push(end);
        }
        let part = |at: usize| {
            let mut index = i.to_vec();
            if at > 0 {
                index[axis] = i[axis].clone() - &ends[at];
            }
            tensors[at].at(index)
        };
        let last = tensors.len() - 1;
        (0..last).rev().fold(part(last), |rest, at| {
            te::if_then_else(i[axis].lt(&ends[at + 1]), part(at), rest)
        })
    })
}
