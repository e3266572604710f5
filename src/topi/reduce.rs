//! Reductions over axes.

use crate::ir::Expr;
use crate::te::{self, CommReducer, ReduceAxis, Reduction, Tensor};
use crate::tensor::scalar::{BinOp, Intrin};
use crate::tensor::{DType, ScalarType};

/// Whether reduced dimensions stay as dimensions of extent 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reduced {
    /// They go.
    Drop,
    /// They stay.
    Keep,
}

/// The shape without these axes, or with extents of 1 there.
pub fn reduced_shape(x: &Tensor, axes: &[usize], reduced: Reduced) -> Vec<Expr> {
    let extents = x.shape().iter().enumerate();
    let extents = extents.filter_map(|(at, extent)| match (axes.contains(&at), reduced) {
        (false, _) => Some(extent.clone()),
        (true, Reduced::Keep) => Some(Expr::i64(1)),
        (true, Reduced::Drop) => None,
    });
    extents.collect()
}

/// A tensor each of whose elements is made from the elements of `x` over `axes`: `f` gets the index in `x`, and the axes.
fn over(
    name: &str,
    x: &Tensor,
    axes: &[usize],
    reduced: Reduced,
    f: impl FnOnce(Vec<Expr>, &[ReduceAxis]) -> Reduction,
) -> Vec<Tensor> {
    let axis =
        |(at, &axis): (usize, &usize)| te::reduce_axis(format!("k{at}"), x.shape()[axis].clone());
    let inner: Vec<ReduceAxis> = axes.iter().enumerate().map(axis).collect();
    te::compute_all(name, reduced_shape(x, axes, reduced), |i| {
        let mut outer = i.iter();
        let index = (0..x.ndim()).map(|at| match axes.iter().position(|&axis| axis == at) {
            Some(k) => {
                if reduced == Reduced::Keep {
                    outer.next();
                }
                inner[k].expr()
            }
            None => outer
                .next()
                .expect("an index for each kept dimension")
                .clone(),
        });
        f(index.collect(), &inner)
    })
}

/// `x` combined over the axes: sum, product, maximum or minimum. Sums and products are made in the type of [`accumulator`]; of `bool`
/// a sum is whether some are true, a product whether all are.
///
/// # Panics
/// If `op` is none of these.
pub fn reduce(name: &str, op: BinOp, x: &Tensor, axes: &[usize], reduced: Reduced) -> Tensor {
    let combine = |name: &str, op: BinOp, wide: DType| {
        let mut result = over(name, x, axes, reduced, |index, axes| {
            let value = x.at(index).cast(wide);
            match op {
                BinOp::Add => te::sum(value, axes),
                BinOp::Mul => te::prod(value, axes),
                BinOp::Max => te::max(value, axes),
                BinOp::Min => te::min(value, axes),
                _ => panic!("{op:?} is no reduction"),
            }
        });
        result.remove(0)
    };
    // Of bool, the extreme of zeros and ones: of nothing it is the least or the greatest integer, on the right side of zero too.
    let extreme = |op: BinOp| {
        let extreme = combine(&format!("{name}_wide"), op, DType::I32);
        super::map(name, &extreme, |x| Expr::i32(0).lt(&x))
    };
    match (op, x.dtype().is_bool()) {
        (BinOp::Add, true) => extreme(BinOp::Max),
        (BinOp::Mul, true) => extreme(BinOp::Min),
        (BinOp::Add | BinOp::Mul, false) => {
            accumulated(name, x.dtype(), |name, wide| combine(name, op, wide))
        }
        _ => combine(name, op, x.dtype()),
    }
}

/// A sum or product whose result has this type: made in the type of [`accumulator`], then rounded once.
pub fn accumulated(name: &str, dtype: DType, make: impl FnOnce(&str, DType) -> Tensor) -> Tensor {
    let wide = accumulator(dtype);
    if wide == dtype {
        return make(name, wide);
    }
    super::astype(name, &make(&format!("{name}_wide"), wide), dtype)
}

/// The type in which elements are summed: `float32` for narrower floats.
pub fn accumulator(dtype: DType) -> DType {
    match dtype.scalar {
        ScalarType::F16 | ScalarType::BF16 => DType::F32,
        _ => dtype,
    }
}

/// The type in which a mean is taken: [`accumulator`], and `int32` for narrower integers, which may hold neither the sum nor the
/// number of elements.
pub fn mean_accumulator(dtype: DType) -> DType {
    match dtype.is_int() && dtype.bytes() < DType::I32.bytes() {
        true => DType::I32,
        false => accumulator(dtype),
    }
}

/// Number of elements along the axes, in this type.
fn count(x: &Tensor, axes: &[usize], dtype: DType) -> Expr {
    let extents = axes.iter().map(|&axis| x.shape()[axis].clone());
    let count = extents.reduce(|a, b| match (a.as_int(), b.as_int()) {
        (Some(a), Some(b)) => Expr::i64(a.saturating_mul(b)),
        _ => a * b,
    });
    count.unwrap_or_else(|| Expr::i64(1)).cast(dtype)
}

/// A sum over the axes divided by the number of elements there. Of no elements that is NaN, said so: drivers fold 0 / 0 to 0.
fn divided(sum: Expr, count: &Expr, x: &Tensor, axes: &[usize]) -> Expr {
    let none = axes.iter().any(|&axis| x.shape()[axis].is_zero());
    if none && sum.dtype().is_float() {
        return Expr::float(f64::NAN, sum.dtype());
    }
    sum / count
}

/// The mean over the axes.
pub fn mean(name: &str, x: &Tensor, axes: &[usize], reduced: Reduced) -> Tensor {
    let wide = mean_accumulator(x.dtype());
    let mut sum = over(&format!("{name}_sum"), x, axes, reduced, |index, axes| {
        te::sum(x.at(index).cast(wide), axes)
    });
    let (sum, count) = (sum.remove(0), count(x, axes, wide));
    super::map(name, &sum, |sum| {
        divided(sum, &count, x, axes).cast(x.dtype())
    })
}

/// The mean square distance from the mean over the axes: in two passes, so that large means lose no digits.
pub fn variance(name: &str, x: &Tensor, axes: &[usize], reduced: Reduced) -> Tensor {
    let wide = accumulator(x.dtype());
    let x_wide = |index: &[Expr]| x.at(index).cast(wide);
    let mut sum = over(
        &format!("{name}_mean"),
        x,
        axes,
        Reduced::Keep,
        |index, axes| te::sum(x_wide(&index), axes),
    );
    let (sum, count) = (sum.remove(0), count(x, axes, wide));
    let mut squares = over(&format!("{name}_sum"), x, axes, reduced, |index, axes| {
        let distance = x_wide(&index) - super::element(&sum, &index) / &count;
        te::sum(distance.clone() * distance, axes)
    });
    super::map(name, &squares.remove(0), |sum| {
        divided(sum, &count, x, axes).cast(x.dtype())
    })
}

/// Which position is sought.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArgReduce {
    /// Of the greatest element.
    Max,
    /// Of the smallest element.
    Min,
}

/// The position of an extreme element over one axis, or over all in row-major order: the first of several equal ones. NaN is
/// more extreme than any number.
pub fn arg_reduce(
    name: &str,
    which: ArgReduce,
    x: &Tensor,
    axes: &[usize],
    reduced: Reduced,
    dtype: DType,
) -> Tensor {
    // Before the first element the position is past all: an element that equals the start is still the first one.
    let reducer = extreme(which, count(x, axes, dtype));
    let results = over(name, x, axes, reduced, |index, inner| {
        let position = axes.iter().zip(inner).fold(Expr::i64(0), |at, (&axis, k)| {
            let extent = &x.shape()[axis];
            if at.is_zero() {
                k.expr()
            } else {
                at * extent + k.expr()
            }
        });
        reducer.over(vec![position.cast(dtype), x.at(index)], inner)
    });
    results.into_iter().next().expect("positions come first")
}

/// What finds the position and the value of an extreme element; it begins with the position `past`.
pub(super) fn extreme(which: ArgReduce, past: Expr) -> CommReducer {
    let (op, start) = match which {
        ArgReduce::Max => (BinOp::Gt, te::lowest as fn(DType) -> Expr),
        ArgReduce::Min => (BinOp::Lt, te::highest as fn(DType) -> Expr),
    };
    let nan = |e: &Expr| {
        let float = e.dtype().is_float();
        float.then(|| Expr::call(Intrin::IsNan, vec![e.clone()]))
    };
    let combine = move |a: &[Expr], b: &[Expr]| {
        let first = a[0].lt(&b[0]);
        let mut ahead = Expr::binary(op, &a[1], &b[1]);
        let mut equal = a[1].equals(&b[1]);
        if let (Some(a), Some(b)) = (nan(&a[1]), nan(&b[1])) {
            let either = Expr::binary(BinOp::And, a.clone(), b.not());
            ahead = Expr::binary(BinOp::Or, ahead, either);
            equal = Expr::binary(BinOp::Or, equal, Expr::binary(BinOp::And, a, b));
        }
        let keep = Expr::binary(BinOp::Or, ahead, Expr::binary(BinOp::And, equal, first));
        vec![
            Expr::select(keep.clone(), a[0].clone(), b[0].clone()),
            Expr::select(keep, a[1].clone(), b[1].clone()),
        ]
    };
    let identity = move |dtypes: &[DType]| vec![past.clone(), start(dtypes[1])];
    te::comm_reducer(combine, identity)
}
