//! Running sums and products.

use crate::ir::{Buffer, Expr, PrimFuncBuilder, Var};
use crate::te::{self, Tensor};
use crate::tensor::DType;
use crate::tensor::scalar::BinOp;

/// From where to where a scan runs.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Scan {
    /// An element is not part of its own sum.
    pub exclusive: bool,
    /// From the last element to the first.
    pub reverse: bool,
}

/// Every element combined with those before it along an axis. A line is one thread's work, as many steps as it has elements;
/// lines run in any order.
///
/// # Panics
/// If `op` is neither a sum nor a product.
pub fn cumulative(
    name: &str,
    op: BinOp,
    x: &Tensor,
    axis: usize,
    scan: Scan,
    dtype: DType,
) -> Tensor {
    let identity = match op {
        BinOp::Add => Expr::constant(0, dtype),
        BinOp::Mul => Expr::constant(1, dtype),
        _ => panic!("{op:?} is no scan"),
    };
    let mut outer = x.shape().to_vec();
    outer.remove(axis);
    let result = vec![(x.shape().to_vec(), dtype)];
    let write = move |b: &mut PrimFuncBuilder, line: &[Var], x: &[Buffer], out: &[Buffer]| {
        let (x, out) = (&x[0], &out[0]);
        let extent = &x.shape()[axis];
        // The index in the tensors of step `k` of the scan.
        let at = |k: Expr| {
            let mut index: Vec<Expr> = line.iter().map(Var::expr).collect();
            let along = match scan.reverse {
                true => extent.clone() - 1i64 - k,
                false => k,
            };
            index.insert(axis, along);
            index
        };
        b.grid([("k", extent.clone())], |b, k| {
            let k = k[0].expr();
            let before = k.clone() - 1i64;
            let sum = Expr::load(out, at(before.max(0i64)));
            let added = if scan.exclusive {
                Expr::load(x, at(before.max(0i64)))
            } else {
                Expr::load(x, at(k.clone()))
            };
            let added = added.cast(dtype);
            let first = match scan.exclusive {
                true => identity.clone(),
                false => added.clone(),
            };
            let value = Expr::if_then_else(k.equals(0i64), first, Expr::binary(op, sum, added));
            b.store(out, at(k), value);
        });
    };
    te::extern_each(name, outer, std::slice::from_ref(x), result, write).remove(0)
}
