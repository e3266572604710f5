//! Functions that grow from one bound to another.

use super::exp::{exp, one_plus_exp2};
use super::{Writer, binary, call, fma, select, times};
use crate::kernel::Expr;
use crate::tensor::scalar::{BinOp, Intrin};

/// `1 / (1 + e)` with `e = exp(-|x|)`, and `e / (1 + e)` for negative numbers: neither overflows.
pub(super) fn sigmoid(on: &mut Writer<'_>, args: &[Expr]) -> Expr {
    let x = &args[0];
    let size = call(Intrin::Abs, x.clone());
    let opposite = binary(BinOp::Sub, on.number(0.0), size);
    let opposite = on.named("opposite", opposite);
    let power = exp(on, &[opposite]);
    let sum = binary(BinOp::Add, on.number(1.0), power.clone());
    let negative = binary(BinOp::Lt, x.clone(), on.number(0.0));
    let dividend = select(negative, power, on.number(1.0));
    binary(BinOp::Div, dividend, sum)
}

/// Up to 0.625 the odd polynomial of Cephes' `tanhf`, further out `1 - 2 / (exp(2 |x|) + 1)`, with the power as one of two. The
/// relative error of the result is at most 0.63 of that of the power.
pub(super) fn tanh(on: &mut Writer<'_>, args: &[Expr]) -> Expr {
    const NEAR: f64 = 0.625;
    const ODD: [f64; 5] = [
        -5.704_988_727_45e-3,
        2.063_908_879_54e-2,
        -5.373_971_555_31e-2,
        1.333_144_220_36e-1,
        -3.333_328_194_22e-1,
    ];
    let x = &args[0];
    let size = call(Intrin::Abs, x.clone());
    // From 10 on the result is 1.
    let bounded = binary(BinOp::Min, size.clone(), on.number(10.0));
    let exponent = times(&bounded, &on.number(2.0 * std::f64::consts::LOG2_E));
    let sum = one_plus_exp2(on, 1.0, exponent);
    let quotient = binary(BinOp::Div, on.number(2.0), sum);
    let far = binary(BinOp::Sub, on.number(1.0), quotient);
    let square = times(x, x);
    let factor = fma(on.polynomial(&square, &ODD), square, on.number(1.0));
    let near = binary(BinOp::Mul, factor, x.clone());
    let is_far = binary(BinOp::Ge, size, on.number(NEAR));
    select(is_far, on.with_sign(&far, x), near)
}

/// Two minimax polynomials: an odd one near 0, and `1 - 2^p(|x|)` further out (N. Juffa's form of `erff`, whose power is of `e`). The power
/// is at most 0.2 there, so its error counts at most a quarter in the result.
pub(super) fn erf(on: &mut Writer<'_>, args: &[Expr]) -> Expr {
    const NEAR: f64 = 0.921_875;
    const ODD: [f64; 6] = [
        -5.991_049_7e-4,
        4.993_395_9e-3,
        -2.676_667_3e-2,
        1.128_180_2e-1,
        -3.761_248_6e-1,
        1.283_791_5e-1,
    ];
    const EXPONENT: [f64; 7] = [
        -2.495_125_6e-5,
        5.528_532_6e-4,
        -5.603_332_8e-3,
        3.499_193_3e-2,
        -1.540_478_7e-1,
        -9.158_901_9e-1,
        -1.628_395_2,
    ];
    let x = &args[0];
    // From 4 on the result is 1, and terms of a larger number would be infinities of both signs.
    let size = binary(BinOp::Min, call(Intrin::Abs, x.clone()), on.number(4.0));
    let size = on.named("size", size);
    // No exponent is less than -27.
    let exponent = times(&on.polynomial(&size, &EXPONENT), &size);
    let far = one_plus_exp2(on, -1.0, exponent);
    let square = times(x, x);
    let near = fma(on.polynomial(&square, &ODD), x.clone(), x.clone());
    let is_far = binary(BinOp::Gt, size, on.number(NEAR));
    select(is_far, on.with_sign(&far, x), near)
}
