//! Inverses of the trigonometric functions: minimax polynomials where the slope is small, and the rest by an identity.

use super::{Writer, binary, call, compare, fma, minus, plus, select};
use crate::kernel::Expr;
use crate::tensor::scalar::{BinOp, Intrin};
use std::f64::consts::{FRAC_PI_2, PI};

/// `pi / 2` as `float32`, and the rest.
const QUARTER: (f64, f64) = (FRAC_PI_2 as f32 as f64, FRAC_PI_2 - FRAC_PI_2 as f32 as f64);

/// `atan x = pi / 2 - atan(1 / x)` beyond 1.
pub(super) fn atan(on: &mut Writer<'_>, args: &[Expr]) -> Expr {
    const POLYNOMIAL: [f64; 9] = [
        -0.001_793_559_365_874_052,
        0.010_914_305_318_739_444,
        -0.031_177_238_256_169_724,
        0.057_956_925_036_774_78,
        -0.084_034_069_740_746_96,
        0.109_521_690_169_775_35,
        -0.142_642_379_722_771_3,
        0.199_985_478_648_354_8,
        -0.333_332_990_711_874_67,
    ];
    let x = &args[0];
    let size = on.named("size", call(Intrin::Abs, x.clone()));
    let far = compare(BinOp::Gt, &size, &on.number(1.0));
    let far = on.named("far", far);
    let inverse = binary(BinOp::Div, on.number(-1.0), size.clone());
    let t = on.named("t", select(far.clone(), inverse, size));
    let small = on.odd_polynomial(&t, &POLYNOMIAL);
    let low = plus(&small, &on.number(QUARTER.1));
    let high = plus(&low, &on.number(QUARTER.0));
    on.with_sign(&select(far, high, small), x)
}

/// `asin x = pi / 2 - 2 asin(sqrt((1 - x) / 2))` from 0.5 on.
pub(super) fn asin(on: &mut Writer<'_>, args: &[Expr]) -> Expr {
    let x = &args[0];
    let (far, small) = half_arc_sine(on, x);
    let doubled = plus(&small, &small);
    let rest = minus(&doubled, &on.number(QUARTER.1));
    let high = minus(&on.number(QUARTER.0), &rest);
    on.with_sign(&select(far, high, small), x)
}

/// `acos x = 2 asin(sqrt((1 - x) / 2))` from 0.5 on, `pi` less that of `-x` to -0.5, and `pi / 2 - asin x` between.
pub(super) fn acos(on: &mut Writer<'_>, args: &[Expr]) -> Expr {
    let x = &args[0];
    let (far, small) = half_arc_sine(on, x);
    let doubled = on.named("doubled", plus(&small, &small));
    let negative = compare(BinOp::Lt, x, &on.number(0.0));
    let opposite = minus(
        &on.number(PI),
        &minus(&doubled, &on.number(2.0 * QUARTER.1)),
    );
    let outer = select(negative, opposite, doubled);
    let rest = minus(&on.with_sign(&small, x), &on.number(QUARTER.1));
    let inner = minus(&on.number(QUARTER.0), &rest);
    select(far, outer, inner)
}

/// Whether the number is 0.5 from 0 or more, and the arc sine of `sqrt((1 - |x|) / 2)` then, of `|x|` else.
fn half_arc_sine(on: &mut Writer<'_>, x: &Expr) -> (Expr, Expr) {
    const POLYNOMIAL: [f64; 5] = [
        0.042_166_360_688_103_73,
        0.024_179_479_255_220_09,
        0.045_470_384_377_317_41,
        0.074_952_975_631_325_36,
        0.166_667_524_844_349_6,
    ];
    let size = on.named("size", call(Intrin::Abs, x.clone()));
    let far = compare(BinOp::Ge, &size, &on.number(0.5));
    let far = on.named("far", far);
    let half = fma(size.clone(), on.number(-0.5), on.number(0.5));
    let root = call(Intrin::Sqrt, half);
    let t = on.named("t", select(far.clone(), root, size));
    let arc = on.odd_polynomial(&t, &POLYNOMIAL);
    (far, arc)
}
