//! Sorting by ranks: the rank of an element is the number of elements that come before it.
//!
//! Ranks of a line of `n` elements take `n * n` comparisons, all of which are independent: on a GPU every element is a thread
//! (or a workgroup) of its own, and no step waits for another. Lines of some thousands of elements are sorted well this way.
//!
//! NaN is greater than every number. Equal elements keep their order, in both directions.

use crate::ir::Expr;
use crate::te::{self, Tensor};
use crate::tensor::DType;
use crate::tensor::scalar::{BinOp, Intrin};

/// Which element comes first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// The smallest.
    Ascending,
    /// The greatest.
    Descending,
}

fn and(a: Expr, b: Expr) -> Expr {
    Expr::binary(BinOp::And, a, b)
}

fn or(a: Expr, b: Expr) -> Expr {
    Expr::binary(BinOp::Or, a, b)
}

/// Whether `a` is less than `b`; NaN is not less than anything, and everything else is less than NaN.
fn less(a: &Expr, b: &Expr) -> Expr {
    let less = a.lt(b);
    if !a.dtype().is_float() {
        return less;
    }
    let nan = |e: &Expr| Expr::call(Intrin::IsNan, vec![e.clone()]);
    or(less, and(nan(b), nan(a).not()))
}

/// A condition as a number.
fn one_if(cond: Expr) -> Expr {
    Expr::select(cond, Expr::i32(1), Expr::i32(0))
}

/// For each element the number of elements of its line that come before it, as `int32`.
fn ranks(name: &str, x: &Tensor, axis: usize, order: Order) -> Tensor {
    let k = te::reduce_axis("k", x.shape()[axis].clone());
    te::compute(name, x.shape().to_vec(), |i| {
        let mut other = i.to_vec();
        other[axis] = k.expr();
        let (own, other) = (x.at(i), x.at(other));
        let (before, after) = match order {
            Order::Ascending => (less(&other, &own), less(&own, &other)),
            Order::Descending => (less(&own, &other), less(&other, &own)),
        };
        let earlier = k.expr().lt(&i[axis]);
        te::sum(one_if(or(before, and(after.not(), earlier))), [&k])
    })
}

/// For each of the first `count` ranks the position of the element that has it, as `int32`.
pub fn argsort(name: &str, x: &Tensor, axis: usize, order: Order, count: &Expr) -> Tensor {
    let ranks = ranks(&format!("{name}_ranks"), x, axis, order);
    let k = te::reduce_axis("k", x.shape()[axis].clone());
    let mut shape = x.shape().to_vec();
    shape[axis] = count.clone();
    te::compute(name, shape, |i| {
        let mut at = i.to_vec();
        at[axis] = k.expr();
        let is = ranks.at(at).equals(i[axis].cast(DType::I32));
        let position = k.expr().cast(DType::I32);
        te::sum(Expr::select(is, position, Expr::i32(0)), [&k])
    })
}

/// The elements of each line at these positions along the axis.
pub fn at_positions(name: &str, x: &Tensor, axis: usize, positions: &Tensor) -> Tensor {
    super::reindex(name, x, positions.shape(), axis, |i| {
        super::clipped(&positions.at(i), &x.shape()[axis])
    })
}
