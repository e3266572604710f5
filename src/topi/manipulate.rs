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
