//! What can be said of the equality of extents, and of what is known of two values, without an analyzer.
//!
//! Extents are compared as sums of terms with integer coefficients, which decides the common cases (`n * 2` and `2 * n`,
//! `n + 1` and `n`). What it cannot decide is [`Proof::Unknown`], left for a check at run time.

use indexmap::IndexMap;

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

/// A sum of terms with coefficients, and a constant.
#[derive(Default)]
struct Linear {
    terms: IndexMap<Expr, i64>,
    constant: i64,
}

impl Linear {
    /// Adds `factor * e`; `None` if a number overflows.
    fn add(&mut self, e: &Expr, factor: i64) -> Option<()> {
        match e.kind() {
            ExprKind::Int(v) => {
                self.constant = self.constant.checked_add(v.checked_mul(factor)?)?;
            }
            ExprKind::Binary(BinOp::Add, a, b) => {
                self.add(a, factor)?;
                self.add(b, factor)?;
            }
            ExprKind::Binary(BinOp::Sub, a, b) => {
                self.add(a, factor)?;
                self.add(b, factor.checked_neg()?)?;
            }
            ExprKind::Binary(BinOp::Mul, a, b) if b.as_int().is_some() => {
                self.add(a, factor.checked_mul(b.as_int()?)?)?;
            }
            ExprKind::Binary(BinOp::Mul, a, b) if a.as_int().is_some() => {
                self.add(b, factor.checked_mul(a.as_int()?)?)?;
            }
            // Extents that widen `int32` variables are the same numbers.
            ExprKind::Cast(a) if a.dtype().is_int() && e.dtype().is_int() => self.add(a, factor)?,
            _ => {
                let coefficient = self.terms.entry(e.clone()).or_default();
                *coefficient = coefficient.checked_add(factor)?;
            }
        }
        Some(())
    }
}

/// The sum of two extents, with like terms joined: a tensor joined with itself again and again keeps an extent of two factors.
pub(crate) fn sum(a: &Expr, b: &Expr) -> Expr {
    let mut sum = Linear::default();
    if sum.add(a, 1).and_then(|()| sum.add(b, 1)).is_none() {
        return a.clone() + b;
    }
    let terms = sum.terms.iter().filter(|(_, factor)| **factor != 0);
    let terms = terms.map(|(term, &factor)| match factor {
        1 => term.cast(DType::I64),
        _ => term.cast(DType::I64) * factor,
    });
    let constant = (sum.constant != 0).then(|| Expr::i64(sum.constant));
    let all = terms.chain(constant).reduce(|a, b| a + b);
    all.unwrap_or(Expr::i64(0))
}

/// Whether two extents are equal.
pub fn compare_dims(a: &Expr, b: &Expr) -> Proof {
    if a == b {
        return Proof::Yes;
    }
    let mut difference = Linear::default();
    if difference
        .add(a, 1)
        .and_then(|()| difference.add(b, -1))
        .is_none()
    {
        return Proof::Unknown;
    }
    if difference.terms.values().all(|&c| c == 0) {
        Proof::known(difference.constant == 0)
    } else {
        Proof::Unknown
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_terms_decide_common_extents() {
        let (n, m) = (Var::new("n", DType::I64), Var::new("m", DType::I64));
        let same = |a: Expr, b: Expr| compare_dims(&a, &b);
        assert_eq!(same(n.expr() * 2, Expr::i64(2) * &n), Proof::Yes);
        assert_eq!(same(n.expr() + &m, m.expr() + &n), Proof::Yes);
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
