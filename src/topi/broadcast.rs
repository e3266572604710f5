//! Functions of several tensors, element by element, with broadcasting.

use crate::ir::Expr;
use crate::te::{self, Tensor};
use crate::tensor::scalar::BinOp;

/// The element of `x` that stands at `index` of a larger shape: leading indices are dropped, and dimensions of extent 1 have
/// index 0.
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

/// The shape that tensors broadcast to. Extents that are not 1 are taken to be equal.
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
        let other = extents.iter().find(|e| !e.is_one());
        other
            .or(extents.first())
            .cloned()
            .unwrap_or_else(|| Expr::i64(1))
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

/// `x` repeated to a larger shape.
pub fn broadcast_to(name: &str, x: &Tensor, shape: &[Expr]) -> Tensor {
    te::compute(name, shape.to_vec(), |i| element(x, i))
}
