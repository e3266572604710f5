//! Short lines, for machines with few threads: the place of an element is how many come before it, which vectors count.

use super::key::comes_before;
use super::lines::{Lines, line};
use crate::ir::{Buffer, Expr, PrimFuncBuilder, Var};
use crate::te::{self, Tensor};
use crate::tensor::DType;
use crate::tensor::scalar::BinOp;
use crate::topi::extent::clamped;

/// The positions of the elements of each line in the order of their keys.
pub(super) fn sort(name: &str, lines: &Lines) -> Tensor {
    let keys = lines.tensor();
    let other = te::reduce_axis("other", lines.extent().clone());
    let wide = (keys.dtype() == DType::I32).then(|| distinct(&keys));
    let ranks = te::compute("ranks", keys.shape().to_vec(), |i| {
        let (outer, along) = line(i);
        let index: Vec<Expr> = outer.iter().cloned().chain([other.expr()]).collect();
        let before = match &wide {
            Some(keys) => keys.at(index).lt(keys.at(i.to_vec())),
            None => {
                let (key, own) = (keys.at(index), keys.at(i.to_vec()));
                comes_before((&key, &other.expr()), (&own, along))
            }
        };
        te::sum(before.cast(DType::I32), [&other])
    });
    let shape = keys.shape().to_vec();
    let write = |b: &mut PrimFuncBuilder, at: &[Var], from: &[Buffer], to: &[Buffer]| {
        let index: Vec<Expr> = at.iter().map(Var::expr).collect();
        let (outer, along) = line(&index);
        let rank = Expr::load(&from[0], index.clone()).cast(DType::I64);
        let mut there = outer.to_vec();
        there.push(clamped(&rank, line(from[0].shape()).1));
        b.store(&to[0], there, along.cast(DType::I32));
    };
    let result = vec![(shape.clone(), DType::I32)];
    te::extern_each(name, shape, &[ranks], result, write).remove(0)
}

/// Keys of twice the width that have the position in their last bits, so that no two are equal.
fn distinct(keys: &Tensor) -> Tensor {
    te::compute("distinct", keys.shape().to_vec(), |i| {
        let wide = Expr::binary(
            BinOp::Shl,
            keys.at(i.to_vec()).cast(DType::I64),
            Expr::i64(32),
        );
        Expr::binary(BinOp::BitOr, wide, line(i).1.clone())
    })
}
