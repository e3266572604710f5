//! Functions that move, join, cut or retype.

use std::ops::Range;

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

/// The tensors joined along `axis`. An element is looked for by halves: a thousand tensors are ten comparisons.
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
        among(0..tensors.len(), &|at| i[axis].lt(&ends[at]), &part)
    })
}

/// Tensors of one shape along a new axis of the result.
pub fn stack(name: &str, tensors: &[Tensor], shape: &[Expr], axis: usize) -> Tensor {
    te::compute(name, shape.to_vec(), |i| {
        let mut index = i.to_vec();
        let which = index.remove(axis);
        let before = |at: usize| which.lt(Expr::i64(at as i64));
        among(0..tensors.len(), &before, &|at| tensors[at].at(&index))
    })
}

/// What the part of this range gives that an index lies in; `before` says whether the index lies before a part.
fn among(
    parts: Range<usize>,
    before: &impl Fn(usize) -> Expr,
    part: &impl Fn(usize) -> Expr,
) -> Expr {
    let half = parts.start + parts.len() / 2;
    if half == parts.start {
        return part(half);
    }
    let (low, high) = (parts.start..half, half..parts.end);
    te::if_then_else(
        before(half),
        among(low, before, part),
        among(high, before, part),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn depth(e: &Expr) -> usize {
        let inside = e.children().into_iter().map(depth);
        1 + inside.max().unwrap_or(0)
    }

    #[test]
    fn what_joins_a_thousand_tensors_is_not_deep() {
        let parts: Vec<Expr> = (0..1000).map(Expr::i64).collect();
        let i = crate::ir::Var::new("i", DType::I64).expr();
        let e = among(0..1000, &|at| i.lt(Expr::i64(at as i64)), &|at| {
            parts[at].clone()
        });
        // Ten choices above a part, or beside the operands of a comparison.
        assert!(depth(&e) <= 12, "{}", depth(&e));
    }
}
