//! Functions of several tensors, element by element, with broadcasting.

use crate::ir::Expr;
use crate::ir::graph::dims::{Proof, compare_dims};
use crate::te::{self, Tensor};
use crate::tensor::scalar::BinOp;

/// The element of `x` that stands at `index` of a larger shape: leading indices are dropped, and dimensions of extent 1 have
/// index 0. A symbolic extent is taken to be that of the larger shape.
pub fn element(x: &Tensor, index: &[Expr]) -> Expr {
    let skipped = index.len() - x.ndim();
    let index = index[skipped..].iter().zip(x.shape());
    x.at(index.map(|(at, extent)| {
        if extent.is_one() {
            Expr::i64(0)
        } else {
            at.clone()
        }
    }))
}

/// The shape that tensors broadcast to. Extents that are not written as 1 are taken to be equal; the constant stands for them, if
/// one of them is a constant.
pub fn broadcast_shape(tensors: &[&Tensor]) -> Vec<Expr> {
    let shapes: Vec<&[Expr]> = tensors.iter().map(|x| x.shape()).collect();
    broadcast_extents(&shapes)
}

/// The same of shapes.
pub(super) fn broadcast_extents(shapes: &[&[Expr]]) -> Vec<Expr> {
    let ndim = shapes.iter().map(|shape| shape.len()).max().unwrap_or(0);
    let extent = |axis: usize| {
        let at = |shape: &&[Expr]| {
            let index = (axis + shape.len()).checked_sub(ndim)?;
            Some(shape[index].clone())
        };
        let extents: Vec<Expr> = shapes.iter().filter_map(at).collect();
        let others = || extents.iter().filter(|e| !e.is_one());
        let constant = others().find(|e| e.as_int().is_some());
        let extent = constant.or(others().next()).cloned();
        extent.unwrap_or_else(|| Expr::i64(1))
    };
    (0..ndim).map(extent).collect()
}

/// `a op b`
pub fn binary(name: &str, op: BinOp, a: &Tensor, b: &Tensor) -> Tensor {
    compare(name, a, b, |a, b| Expr::binary(op, a, b))
}

/// `f(a, b)`
pub fn compare(name: &str, a: &Tensor, b: &Tensor, f: impl Fn(Expr, Expr) -> Expr) -> Tensor {
    te::compute(name, broadcast_shape(&[a, b]), |i| {
        f(element(a, i), element(b, i))
    })
}

/// `a` where the condition holds, else `b`.
pub fn select(name: &str, cond: &Tensor, a: &Tensor, b: &Tensor) -> Tensor {
    te::compute(name, broadcast_shape(&[cond, a, b]), |i| {
        Expr::select(element(cond, i), element(a, i), element(b, i))
    })
}

/// `x` repeated to a larger shape. A symbolic extent that may be another than that of the shape broadcasts if it is 1.
pub fn broadcast_to(name: &str, x: &Tensor, shape: &[Expr]) -> Tensor {
    let skipped = shape.len() - x.ndim();
    te::compute(name, shape.to_vec(), |i| {
        let extents = x.shape().iter().zip(&shape[skipped..]);
        x.at(extents
            .zip(&i[skipped..])
            .map(|((from, to), at)| match broadcasts(from, to) {
                Some(true) => Expr::i64(0),
                Some(false) => at.clone(),
                None => Expr::select(from.equals(1), Expr::i64(0), at.clone()),
            }))
    })
}

/// Whether a dimension of extent `from` is repeated to extent `to`; `None` if the values of variables decide.
pub fn broadcasts(from: &Expr, to: &Expr) -> Option<bool> {
    match (compare_dims(from, to), compare_dims(from, &Expr::i64(1))) {
        (Proof::Yes, _) | (_, Proof::No) => Some(false),
        (_, Proof::Yes) => Some(true),
        (_, Proof::Unknown) => None,
    }
}
