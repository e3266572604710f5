//! Hyperbolic functions and their inverses: powers and logarithms in `float64`, whose digits outlast what a difference cancels, and
//! a polynomial near 0, where nothing would be left.

use super::power::{exp_of_base, log2};
use super::{Writer, binary, call, compare, fma, minus, plus, select, times};
use crate::kernel::Expr;
use crate::tensor::ScalarType;
use crate::tensor::scalar::{BinOp, Intrin};
use std::f64::consts::{LN_2, LOG2_E};

const F32: ScalarType = ScalarType::F32;
const F64: ScalarType = ScalarType::F64;
/// Up to here the third power is the second term that counts, of inverses.
const NEAR: f64 = 1.0 / 1024.0;

/// `exp(x) - 1`
pub(super) fn expm1(on: &mut Writer<'_>, args: &[Expr]) -> Expr {
    const NEAR: f64 = 0.35;
    const POLYNOMIAL: [f64; 6] = [
        0.000_199_646_074_979_480_88,
        0.001_394_430_108_985_297_9,
        0.008_333_215_396_447_113,
        0.041_666_313_198_429_49,
        0.166_666_669_170_062_2,
        0.500_000_005_631_827,
    ];
    let x = &args[0];
    let power = exp_of_base(on, x, LOG2_E);
    let far = on.cast(F32, minus(&power, &on.double(1.0)));
    let near = fma(on.polynomial(x, &POLYNOMIAL), times(x, x), x.clone());
    let is_near = compare(BinOp::Lt, &call(Intrin::Abs, x.clone()), &on.number(NEAR));
    // The negative zero has lost its sign.
    on.with_sign(&select(is_near, near, far), x)
}

/// `(exp(x) - exp(-x)) / 2`
pub(super) fn sinh(on: &mut Writer<'_>, args: &[Expr]) -> Expr {
    const POLYNOMIAL: [f64; 4] = [
        2.816_951_351_981_475_2e-6,
        0.000_198_361_597_504_515_28,
        0.008_333_350_058_364_252,
        0.166_666_664_975_568_67,
    ];
    let x = &args[0];
    let size = on.named("size", call(Intrin::Abs, x.clone()));
    let [power, inverse] = powers(on, &size);
    let far = times(&minus(&power, &inverse), &on.double(0.5));
    let near = on.odd_polynomial(&size, &POLYNOMIAL);
    let is_near = compare(BinOp::Lt, &size, &on.number(1.0));
    let value = select(is_near, near, on.cast(F32, far));
    on.with_sign(&value, x)
}

/// `(exp(x) + exp(-x)) / 2`
pub(super) fn cosh(on: &mut Writer<'_>, args: &[Expr]) -> Expr {
    let [power, inverse] = powers(on, &args[0]);
    on.cast(F32, times(&plus(&power, &inverse), &on.double(0.5)))
}

/// `exp(x)` and `exp(-x)`
fn powers(on: &mut Writer<'_>, x: &Expr) -> [Expr; 2] {
    let power = exp_of_base(on, x, LOG2_E);
    let power = on.named("power", power);
    let inverse = binary(BinOp::Div, on.double(1.0), power.clone());
    [power, inverse]
}

/// `log(x + sqrt(x^2 + 1))`
pub(super) fn asinh(on: &mut Writer<'_>, args: &[Expr]) -> Expr {
    let x = &args[0];
    let size = on.named("size", call(Intrin::Abs, x.clone()));
    let wide = on.named("wide", on.cast(F64, size.clone()));
    let root = call(
        Intrin::Sqrt,
        fma(wide.clone(), wide.clone(), on.double(1.0)),
    );
    let far = log(on, plus(&wide, &root), LN_2);
    let value = near_or(on, &size, -1.0 / 6.0, far);
    let value = select(call(Intrin::IsNan, x.clone()), x.clone(), value);
    on.with_sign(&value, x)
}

/// `log(x + sqrt(x^2 - 1))` of 1 and more, else NaN.
pub(super) fn acosh(on: &mut Writer<'_>, args: &[Expr]) -> Expr {
    let x = &args[0];
    let wide = on.named("wide", on.cast(F64, x.clone()));
    let root = call(
        Intrin::Sqrt,
        fma(wide.clone(), wide.clone(), on.double(-1.0)),
    );
    let value = log(on, plus(&wide, &root), LN_2);
    let inside = compare(BinOp::Ge, x, &on.number(1.0));
    select(inside, value, on.number(f64::NAN))
}

/// `log((1 + x) / (1 - x)) / 2` of numbers between -1 and 1, else NaN.
pub(super) fn atanh(on: &mut Writer<'_>, args: &[Expr]) -> Expr {
    let x = &args[0];
    let size = on.named("size", call(Intrin::Abs, x.clone()));
    let wide = on.named("wide", on.cast(F64, size.clone()));
    let (above, below) = (plus(&on.double(1.0), &wide), minus(&on.double(1.0), &wide));
    let far = log(on, binary(BinOp::Div, above, below), LN_2 / 2.0);
    let value = near_or(on, &size, 1.0 / 3.0, far);
    let inside = compare(BinOp::Le, &size, &on.number(1.0));
    let value = select(inside, value, on.number(f64::NAN));
    on.with_sign(&value, x)
}

/// The logarithm to base 2 of a number of `float64` times this one.
fn log(on: &mut Writer<'_>, wide: Expr, factor: f64) -> Expr {
    let wide = on.named("wide", wide);
    let log = times(&log2(on, &wide), &on.double(factor));
    on.cast(F32, log)
}

/// `x + c x^3` near 0, else the other value.
fn near_or(on: &Writer<'_>, size: &Expr, third: f64, far: Expr) -> Expr {
    let factor = times(&times(size, size), &on.number(third));
    let near = fma(factor, size.clone(), size.clone());
    let is_near = compare(BinOp::Lt, size, &on.number(NEAR));
    select(is_near, near, far)
}
