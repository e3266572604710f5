//! What can be said of the equality of extents, and of what is known of two values, without an analyzer.
//!
//! Extents are compared as sums of products (`Sum`), which decides the common cases (`n * 2` and `2 * n`, `n + 1` and `n`,
//! `n * m` and `m * n`). What it cannot decide is [`Proof::Unknown`], left for a check at run time.

use indexmap::IndexMap;

use crate::ir::sum::Sum;
use crate::ir::{Expr, ExprKind, ShapeInfo, StructInfo, TensorInfo, Var};
use crate::tensor::DType;
use crate::tensor::scalar::BinOp;

/// What is known of an equality.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Proof {
    /// It holds.
    Yes,
    /// It does not, for any values of the variables.
    No,
    /// It depends on the values of the variables, or nothing is known.
    Unknown,
}

impl Proof {
    /// What is known if both must hold.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::No, _) | (_, Self::No) => Self::No,
            (Self::Yes, Self::Yes) => Self::Yes,
            _ => Self::Unknown,
        }
    }

    fn all(proofs: impl IntoIterator<Item = Self>) -> Self {
        proofs.into_iter().fold(Self::Yes, Self::and)
    }

    fn known(equal: bool) -> Self {
        if equal { Self::Yes } else { Self::No }
    }
}

/// The extent as a sum of products. Extents that widen `int32` variables are the same numbers.
fn sum_of(extent: &Expr) -> Sum {
    Sum::of(&wide(extent))
}

fn wide(e: &Expr) -> Expr {
    match e.kind() {
        _ if !e.dtype().is_int() => e.clone(),
        ExprKind::Int(v) => Expr::i64(*v),
        ExprKind::Binary(op @ (BinOp::Add | BinOp::Sub | BinOp::Mul), a, b) => {
            Expr::binary(*op, wide(a), wide(b))
        }
        ExprKind::Cast(a) if a.dtype().is_int() => wide(a),
        _ => e.cast(DType::I64),
    }
}

/// The sum of two extents, with like terms joined: a tensor joined with itself again and again keeps an extent of two factors.
pub(crate) fn sum(a: &Expr, b: &Expr) -> Expr {
    let sum = sum_of(a).plus(&sum_of(b), 1).to_expr();
    sum.unwrap_or_else(|| a.clone() + b)
}

/// Whether two extents are equal.
pub fn compare_dims(a: &Expr, b: &Expr) -> Proof {
    if a == b {
        return Proof::Yes;
    }
    match sum_of(a).plus(&sum_of(b), -1).as_constant() {
        Some(difference) => Proof::known(difference == 0),
        None => Proof::Unknown,
    }
}

/// Whether every value that is `given` is also `expected`.
pub fn is_base_of(expected: &StructInfo, given: &StructInfo) -> Proof {
    match (expected, given) {
        (StructInfo::Object, _) => Proof::Yes,
        (_, StructInfo::Object) => Proof::Unknown,
        (
            StructInfo::Prim { dtype, value },
            StructInfo::Prim {
                dtype: given_dtype,
                value: given_value,
            },
        ) => Proof::known(dtype == given_dtype).and(match (value, given_value) {
            (None, _) => Proof::Yes,
            (Some(_), None) => Proof::Unknown,
            (Some(a), Some(b)) => compare_dims(a, b),
        }),
        (StructInfo::Shape(expected), StructInfo::Shape(given)) => shape_base(expected, given),
        (StructInfo::Tensor(expected), StructInfo::Tensor(given)) => tensor_base(expected, given),
        (StructInfo::Tuple(expected), StructInfo::Tuple(given)) => {
            if expected.len() == given.len() {
                Proof::all(expected.iter().zip(given).map(|(e, g)| is_base_of(e, g)))
            } else {
                Proof::No
            }
        }
        (
            StructInfo::Callable {
                params,
                ret,
                pure: expects_pure,
            },
            StructInfo::Callable {
                params: given_params,
                ret: given_ret,
                pure: is_pure,
            },
        ) => {
            let params = match (params, given_params) {
                (None, _) => Proof::Yes,
                (Some(_), None) => Proof::Unknown,
                (Some(a), Some(b)) if a.len() == b.len() => {
                    Proof::all(a.iter().zip(b).map(|(a, b)| is_base_of(b, a)))
                }
                (Some(_), Some(_)) => Proof::No,
            };
            params
                .and(is_base_of(ret, given_ret))
                .and(Proof::known(!expects_pure || *is_pure))
        }
        (
            StructInfo::Prim { dtype: _, value: _ }
            | StructInfo::Shape(_)
            | StructInfo::Tensor(_)
            | StructInfo::Tuple(_)
            | StructInfo::Callable {
                params: _,
                ret: _,
                pure: _,
            },
            _,
        ) => Proof::No,
    }
}

fn tensor_base(expected: &TensorInfo, given: &TensorInfo) -> Proof {
    let dtype = match (expected.dtype, given.dtype) {
        (None, _) => Proof::Yes,
        (Some(_), None) => Proof::Unknown,
        (Some(a), Some(b)) => Proof::known(a == b),
    };
    let vdevice = match (&expected.vdevice, &given.vdevice) {
        (None, _) => Proof::Yes,
        (Some(_), None) => Proof::Unknown,
        (Some(a), Some(b)) => Proof::known(a.target == b.target && a.index == b.index),
    };
    dtype
        .and(vdevice)
        .and(shape_base(&expected.shape, &given.shape))
}

fn shape_base(expected: &ShapeInfo, given: &ShapeInfo) -> Proof {
    match (expected, given) {
        (ShapeInfo::Unknown, _) => Proof::Yes,
        (_, ShapeInfo::Unknown) => Proof::Unknown,
        (ShapeInfo::Known(a), ShapeInfo::Known(b)) if a.len() == b.len() => {
            Proof::all(a.iter().zip(b).map(|(a, b)| compare_dims(a, b)))
        }
        (ShapeInfo::Known(dims), ShapeInfo::Ndim(n)) if dims.len() == *n => Proof::Unknown,
        (ShapeInfo::Ndim(n), given) => Proof::known(given.ndim() == Some(*n)),
        (ShapeInfo::Known(_), ShapeInfo::Known(_) | ShapeInfo::Ndim(_)) => Proof::No,
    }
}

/// The values that symbolic variables of a callee's parameter take if this argument is passed, added to `bound`. A variable
/// is bound where it is a whole extent or a whole scalar.
pub fn bind_vars(param: &StructInfo, arg: &StructInfo, bound: &mut IndexMap<Var, Expr>) {
    let mut pair = |param: &Expr, arg: &Expr| {
        let param = match param.kind() {
            ExprKind::Cast(inner) => inner,
            _ => param,
        };
        if let Some(var) = param.as_var() {
            bound.entry(var.clone()).or_insert_with(|| arg.clone());
        }
    };
    match (param, arg) {
        (StructInfo::Tensor(a), StructInfo::Tensor(b)) => {
            let (a, b) = (a.shape.dims(), b.shape.dims());
            a.iter()
                .zip(&b)
                .for_each(|(a, b)| a.iter().zip(*b).for_each(|(a, b)| pair(a, b)));
        }
        (StructInfo::Shape(a), StructInfo::Shape(b)) => {
            let (a, b) = (a.dims(), b.dims());
            a.iter()
                .zip(&b)
                .for_each(|(a, b)| a.iter().zip(*b).for_each(|(a, b)| pair(a, b)));
        }
        (
            StructInfo::Prim {
                dtype: _,
                value: Some(a),
            },
            StructInfo::Prim {
                dtype: _,
                value: Some(b),
            },
        ) => pair(a, b),
        (StructInfo::Tuple(a), StructInfo::Tuple(b)) => {
            a.iter().zip(b).for_each(|(a, b)| bind_vars(a, b, bound));
        }
        _ => {}
    }
}

/// The same with a variable for every extent, and every integer, of which nothing is known: a loop program is made of it, and
/// what is known of its result says more. `None` if all are known, or the number of dimensions is not.
pub fn named(info: &StructInfo) -> Option<StructInfo> {
    let dims = |ndim| {
        let dim = |_| Var::new("n", DType::I64).expr();
        ShapeInfo::Known((0..ndim).map(dim).collect())
    };
    match info {
        StructInfo::Tensor(info) => match info.shape {
            ShapeInfo::Ndim(ndim) => Some(StructInfo::Tensor(TensorInfo {
                shape: dims(ndim),
                ..info.clone()
            })),
            ShapeInfo::Known(_) | ShapeInfo::Unknown => None,
        },
        StructInfo::Shape(ShapeInfo::Ndim(ndim)) => Some(StructInfo::Shape(dims(*ndim))),
        StructInfo::Prim { dtype, value: None } if dtype.is_int() => Some(StructInfo::Prim {
            dtype: *dtype,
            value: Some(Var::new("n", *dtype).expr()),
        }),
        StructInfo::Tuple(items) => {
            let new: Vec<_> = items.iter().map(named).collect();
            let any = new.iter().any(Option::is_some);
            let items = items.iter().zip(new);
            let items = items.map(|(old, new)| new.unwrap_or_else(|| old.clone()));
            any.then(|| StructInfo::Tuple(items.collect()))
        }
        StructInfo::Object
        | StructInfo::Shape(_)
        | StructInfo::Prim { dtype: _, value: _ }
        | StructInfo::Callable {
            params: _,
            ret: _,
            pure: _,
        } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_terms_decide_common_extents() {
        let (n, m) = (Var::new("n", DType::I64), Var::new("m", DType::I64));
        let same = |a: Expr, b: Expr| compare_dims(&a, &b);
        assert_eq!(same(n.expr() * 2, Expr::i64(2) * &n), Proof::Yes);
        assert_eq!(same(n.expr() + &m, m.expr() + &n), Proof::Yes);
        assert_eq!(same(n.expr() * &m, m.expr() * &n), Proof::Yes);
        assert_eq!(same(n.expr() + 1, n.expr()), Proof::No);
        assert_eq!(same(n.expr(), m.expr()), Proof::Unknown);
        assert_eq!(same(n.expr(), Expr::i64(3)), Proof::Unknown);
        assert_eq!(same(Expr::i64(2), Expr::i64(3)), Proof::No);
    }

    #[test]
    fn less_known_is_base_of_more_known() {
        let known = StructInfo::tensor(vec![Expr::i64(2)], DType::F32);
        let ndim = StructInfo::Tensor(TensorInfo {
            shape: ShapeInfo::Ndim(1),
            dtype: Some(DType::F32),
            vdevice: None,
        });
        assert_eq!(is_base_of(&ndim, &known), Proof::Yes);
        assert_eq!(is_base_of(&known, &ndim), Proof::Unknown);
        let other = StructInfo::tensor(vec![Expr::i64(2)], DType::F16);
        assert_eq!(is_base_of(&known, &other), Proof::No);
        assert_eq!(
            is_base_of(&known, &StructInfo::Tuple(vec![known.clone()])),
            Proof::No
        );
    }
}
