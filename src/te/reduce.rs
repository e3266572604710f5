//! Reductions: axes that are summed over, and what combines the elements.

use std::fmt;
use std::sync::Arc;

use crate::ir::{Expr, Var};
use crate::tensor::DType;
use crate::tensor::scalar::BinOp;

/// An index that a reduction runs over: `0 .. extent`.
#[derive(Clone, Debug)]
pub struct ReduceAxis {
    pub(super) var: Var,
    pub(super) extent: Expr,
}

impl ReduceAxis {
    /// The index as an expression.
    pub fn expr(&self) -> Expr {
        self.var.expr()
    }

    /// Number of values.
    pub fn extent(&self) -> &Expr {
        &self.extent
    }
}

impl From<&ReduceAxis> for Expr {
    fn from(axis: &ReduceAxis) -> Self {
        axis.expr()
    }
}

/// A new axis.
pub fn reduce_axis(name: impl Into<String>, extent: impl Into<Expr>) -> ReduceAxis {
    ReduceAxis {
        var: Var::new(name, DType::I64),
        extent: extent.into().cast(DType::I64),
    }
}

type Combine = dyn Fn(&[Expr], &[Expr]) -> Vec<Expr> + Send + Sync;
type Identity = dyn Fn(&[DType]) -> Vec<Expr> + Send + Sync;

/// What combines values: commutative, associative, with an identity (TVM: `CommReducer`). Of several values at once, as the
/// position and value of an argmax.
#[derive(Clone)]
pub struct CommReducer {
    combine: Arc<Combine>,
    identity: Arc<Identity>,
}

impl fmt::Debug for CommReducer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CommReducer")
    }
}

/// A reducer: `combine` joins what was accumulated with the next values, `identity` is what it begins with.
pub fn comm_reducer(
    combine: impl Fn(&[Expr], &[Expr]) -> Vec<Expr> + Send + Sync + 'static,
    identity: impl Fn(&[DType]) -> Vec<Expr> + Send + Sync + 'static,
) -> CommReducer {
    CommReducer {
        combine: Arc::new(combine),
        identity: Arc::new(identity),
    }
}

impl CommReducer {
    /// The reduction of these values over the axes.
    pub fn over<'a>(
        &self,
        values: Vec<Expr>,
        axes: impl IntoIterator<Item = &'a ReduceAxis>,
    ) -> Reduction {
        Reduction {
            reducer: self.clone(),
            values,
            axes: axes.into_iter().cloned().collect(),
        }
    }
}

/// Values combined over axes: the whole body of a tensor.
#[derive(Clone, Debug)]
pub struct Reduction {
    pub(super) reducer: CommReducer,
    pub(super) values: Vec<Expr>,
    pub(super) axes: Vec<ReduceAxis>,
}

impl Reduction {
    pub(super) fn identity(&self) -> Vec<Expr> {
        let dtypes: Vec<_> = self.values.iter().map(Expr::dtype).collect();
        (self.reducer.identity)(&dtypes)
    }

    pub(super) fn combine(&self, accumulated: &[Expr], next: &[Expr]) -> Vec<Expr> {
        (self.reducer.combine)(accumulated, next)
    }
}

fn binary<'a>(op: BinOp, value: Expr, axes: impl IntoIterator<Item = &'a ReduceAxis>) -> Reduction {
    let combine = move |a: &[Expr], b: &[Expr]| vec![Expr::binary(op, &a[0], &b[0])];
    comm_reducer(combine, move |dtypes| vec![identity(op, dtypes[0])]).over(vec![value], axes)
}

fn identity(op: BinOp, dtype: DType) -> Expr {
    let identity = op.identity(dtype.scalar);
    Expr::scalar(identity.expect("the operator has an identity"), dtype)
}

/// The sum over the axes; 0 over none.
pub fn sum<'a>(value: Expr, axes: impl IntoIterator<Item = &'a ReduceAxis>) -> Reduction {
    binary(BinOp::Add, value, axes)
}

/// The product over the axes; 1 over none.
pub fn prod<'a>(value: Expr, axes: impl IntoIterator<Item = &'a ReduceAxis>) -> Reduction {
    binary(BinOp::Mul, value, axes)
}

/// The second argument of [`max`] and [`min`]: another value, or axes to reduce over.
pub trait Bound {
    /// What comes out: a value, or a reduction.
    type Result;

    /// `value op self`, or the reduction of `value` with `op`.
    fn bound(self, op: BinOp, value: Expr) -> Self::Result;
}

macro_rules! bound_by_value {
    ($($ty:ty),*) => { $(
        impl Bound for $ty {
            type Result = Expr;
            fn bound(self, op: BinOp, value: Expr) -> Expr {
                Expr::binary(op, value, self)
            }
        }
    )* };
}
bound_by_value!(i32, i64, Expr, &Expr);

impl<const N: usize> Bound for [&ReduceAxis; N] {
    type Result = Reduction;
    fn bound(self, op: BinOp, value: Expr) -> Reduction {
        binary(op, value, self)
    }
}

impl Bound for &[ReduceAxis] {
    type Result = Reduction;
    fn bound(self, op: BinOp, value: Expr) -> Reduction {
        binary(op, value, self)
    }
}

/// With axes: the greatest value over them, minus infinity or the least integer over none. With a second value: the greater one.
pub fn max<B: Bound>(value: Expr, bound: B) -> B::Result {
    bound.bound(BinOp::Max, value)
}

/// With axes: the smallest value over them, infinity or the greatest integer over none. With a second value: the smaller one.
pub fn min<B: Bound>(value: Expr, bound: B) -> B::Result {
    bound.bound(BinOp::Min, value)
}

/// The value that no other of the type is below: minus infinity for floats.
pub(crate) fn lowest(dtype: DType) -> Expr {
    identity(BinOp::Max, dtype)
}

/// The value that no other of the type is above: infinity for floats.
pub(crate) fn highest(dtype: DType) -> Expr {
    identity(BinOp::Min, dtype)
}
