//! Operators on one tensor, element by element.

use super::def::{Computed, DTypes, Layout, OpDef, Pattern, X};
use super::{ComputeCall, rules};
use crate::ir::Expr;
use crate::tensor::ScalarType;
use crate::tensor::scalar::{BinOp, Intrin};
use crate::topi;

/// A function of floats.
const fn float(
    name: &'static str,
    doc: &'static str,
    compute: fn(&ComputeCall<'_>) -> Computed,
) -> OpDef {
    numeric(name, doc, compute).dtypes(DTypes::Float)
}

/// A function of numbers.
const fn numeric(
    name: &'static str,
    doc: &'static str,
    compute: fn(&ComputeCall<'_>) -> Computed,
) -> OpDef {
    OpDef::new(name, doc)
        .operands(X)
        .compute(compute)
        .dtypes(DTypes::Numeric)
        .infer(rules::same)
        .pattern(Pattern::ElemWise)
        .layout(Layout::Any)
}

/// A test of floats.
const fn predicate(
    name: &'static str,
    doc: &'static str,
    compute: fn(&ComputeCall<'_>) -> Computed,
) -> OpDef {
    numeric(name, doc, compute).infer(rules::predicate)
}

pub(super) const OPS: &[OpDef] = &[
    numeric("abs", "|x|", |c| intrinsic(c, Intrin::Abs)),
    float("acos", "arc cosine", |c| intrinsic(c, Intrin::Acos)),
    float("acosh", "inverse hyperbolic cosine", |c| {
        intrinsic(c, Intrin::Acosh)
    }),
    float("asin", "arc sine", |c| intrinsic(c, Intrin::Asin)),
    float("asinh", "inverse hyperbolic sine", |c| {
        intrinsic(c, Intrin::Asinh)
    }),
    float("atan", "arc tangent", |c| intrinsic(c, Intrin::Atan)),
    float("atanh", "inverse hyperbolic tangent", |c| {
        intrinsic(c, Intrin::Atanh)
    }),
    numeric("bitwise_not", "every bit inverted", |c| {
        map(c, |x| match x.dtype().is_bool() {
            true => x.not(),
            false => Expr::call(Intrin::BitNot, vec![x]),
        })
    })
    .dtypes(DTypes::IntOrBool),
    numeric("ceil", "the next integer towards infinity", |c| {
        intrinsic(c, Intrin::Ceil)
    }),
    float("cos", "cosine", |c| intrinsic(c, Intrin::Cos)),
    float("cosh", "hyperbolic cosine", |c| intrinsic(c, Intrin::Cosh)),
    float("erf", "Gauss error function", |c| intrinsic(c, Intrin::Erf)),
    float("exp", "e to the power of x", |c| intrinsic(c, Intrin::Exp)),
    float("exp2", "2 to the power of x", |c| {
        intrinsic(c, Intrin::Exp2)
    }),
    float("expm1", "exp(x) - 1, exact near 0", |c| {
        map(c, |x| topi::activation::expm1(&x))
    }),
    numeric("floor", "the next integer towards minus infinity", |c| {
        intrinsic(c, Intrin::Floor)
    }),
    predicate("isfinite", "neither infinite nor NaN", |c| {
        intrinsic(c, Intrin::IsFinite)
    }),
    predicate("isinf", "infinite", |c| intrinsic(c, Intrin::IsInf)),
    predicate("isnan", "not a number", |c| intrinsic(c, Intrin::IsNan)),
    float("log", "natural logarithm", |c| intrinsic(c, Intrin::Log)),
    float("log10", "logarithm to base 10", |c| {
        intrinsic(c, Intrin::Log10)
    }),
    float("log1p", "log(1 + x), exact near 0", |c| {
        intrinsic(c, Intrin::Log1p)
    }),
    float("log2", "logarithm to base 2", |c| {
        intrinsic(c, Intrin::Log2)
    }),
    numeric("logical_not", "the contrary", |c| map(c, |x| x.not())).dtypes(DTypes::Bool),
    numeric("negative", "-x", |c| map(c, negate)),
    numeric("round", "the nearest integer, ties to even", |c| {
        intrinsic(c, Intrin::Round)
    }),
    float("rsqrt", "1 / sqrt(x)", |c| intrinsic(c, Intrin::Rsqrt)),
    float("sigmoid", "1 / (1 + exp(-x))", |c| {
        intrinsic(c, Intrin::Sigmoid)
    }),
    numeric("sign", "-1, 0 or 1, with the sign of x", |c| map(c, sign)),
    float("sin", "sine", |c| intrinsic(c, Intrin::Sin)),
    float("sinh", "hyperbolic sine", |c| intrinsic(c, Intrin::Sinh)),
    float("sqrt", "square root", |c| intrinsic(c, Intrin::Sqrt)),
    numeric("square", "x * x", |c| map(c, |x| x.clone() * x)),
    float("tan", "tangent", |c| intrinsic(c, Intrin::Tan)),
    float("tanh", "hyperbolic tangent", |c| intrinsic(c, Intrin::Tanh)),
    numeric("trunc", "the next integer towards zero", |c| {
        intrinsic(c, Intrin::Trunc)
    }),
];

fn map(c: &ComputeCall<'_>, f: impl Fn(Expr) -> Expr) -> Computed {
    Ok(vec![topi::map(c.name(), c.x(0), f)])
}

fn intrinsic(c: &ComputeCall<'_>, intrin: Intrin) -> Computed {
    map(c, |x| Expr::call(intrin, vec![x]))
}

/// `-x`; not `0 - x`, which loses the sign of zero.
fn negate(x: Expr) -> Expr {
    let dtype = x.dtype();
    if dtype.is_float() {
        x * Expr::float(-1.0, dtype)
    } else {
        Expr::constant(0, dtype) - x
    }
}

/// NaN stays NaN, and zeros keep their sign.
fn sign(x: Expr) -> Expr {
    let dtype = x.dtype();
    let number = |v| Expr::constant(v, dtype);
    let positive = Expr::binary(BinOp::Gt, &x, number(0));
    let below = match dtype.scalar {
        ScalarType::U8 | ScalarType::U16 | ScalarType::U32 | ScalarType::U64 => x.clone(),
        _ => Expr::select(x.lt(number(0)), number(-1), x.clone()),
    };
    Expr::select(positive, number(1), below)
}
