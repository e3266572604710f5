//! Sine and cosine: the argument without its multiples of a quarter turn, then a polynomial for one or the other.

use super::{Writer, binary, bits, call, compare, fma, minus, plus, select, times};
use crate::kernel::Expr;
use crate::tensor::ScalarType;
use crate::tensor::scalar::{BinOp, Intrin};
use std::f64::consts::FRAC_2_PI;

const I32: ScalarType = ScalarType::I32;
/// From here on the math library computes the vector, lane by lane.
const LARGE: f64 = 500_000.0;
/// `pi / 2`: a part of 33 bits, so that products with the number of quarter turns are exact, and the rest.
const QUARTER: (f64, f64) = (1.570_796_326_734_125_6, 6.077_100_506_506_192e-11);
/// `1.5 * 2^52` and `1.5 * 2^23`: added to a small number, they leave the nearest integer in the last bits.
const ROUND: (f64, f64) = (6_755_399_441_055_744.0, 12_582_912.0);

pub(super) fn sin(on: &mut Writer<'_>, args: &[Expr]) -> Expr {
    turned(on, Intrin::Sin, &args[0], 0)
}

pub(super) fn cos(on: &mut Writer<'_>, args: &[Expr]) -> Expr {
    turned(on, Intrin::Cos, &args[0], 1)
}

/// The quotient of sine and cosine, of their places changed after an odd number of quarter turns, with the sign of the product.
pub(super) fn tan(on: &mut Writer<'_>, args: &[Expr]) -> Expr {
    let x = &args[0];
    let library = |_: &mut Writer<'_>| call(Intrin::Tan, x.clone());
    on.branch(is_large(on, x), library, |on| {
        let (r, quarters) = quarter(on, x);
        let odd = binary(BinOp::BitAnd, quarters, on.int(1, I32));
        let odd = on.named("odd", compare(BinOp::Ne, &odd, &on.int(0, I32)));
        let (sine, cosine) = eighth(on, &r);
        let (sine, cosine) = (on.named("sine", sine), on.named("cosine", cosine));
        let above = select(odd.clone(), cosine.clone(), sine.clone());
        let below = select(odd.clone(), sine, cosine);
        let size = binary(BinOp::Div, above, below);
        let opposite = minus(&on.number(0.0), &r);
        let signed = select(odd, opposite, r);
        on.with_sign(&size, &signed)
    })
}

fn is_large(on: &Writer<'_>, x: &Expr) -> Expr {
    compare(BinOp::Gt, &call(Intrin::Abs, x.clone()), &on.number(LARGE))
}

/// The sine of so many quarter turns more.
fn turned(on: &mut Writer<'_>, intrin: Intrin, x: &Expr, turns: i64) -> Expr {
    let library = |_: &mut Writer<'_>| call(intrin, x.clone());
    on.branch(is_large(on, x), library, |on| {
        let (r, quarters) = quarter(on, x);
        let quarters = on.named("quarters", plus(&quarters, &on.int(turns, I32)));
        let odd = binary(BinOp::BitAnd, quarters.clone(), on.int(1, I32));
        let odd = compare(BinOp::Ne, &odd, &on.int(0, I32));
        let (sine, cosine) = eighth(on, &r);
        let sine = on.with_sign(&sine, &r);
        let value = bits(I32, &select(odd, cosine, sine));
        let second = binary(BinOp::BitAnd, quarters, on.int(2, I32));
        let sign = binary(BinOp::Shl, second, on.int(30, I32));
        bits(ScalarType::F32, &binary(BinOp::BitXor, value, sign))
    })
}

/// The argument without the nearest multiple of a quarter turn, and the number of that in the last bits of an integer. In
/// `float64`, where the multiple is exact without a fused product too.
fn quarter(on: &mut Writer<'_>, x: &Expr) -> (Expr, Expr) {
    let wide = on.cast(ScalarType::F64, x.clone());
    let wide = on.named("wide", wide);
    let shifted = fma(wide.clone(), on.double(FRAC_2_PI), on.double(ROUND.0));
    let n = on.named("n", minus(&shifted, &on.double(ROUND.0)));
    let r = fma(n.clone(), on.double(-QUARTER.0), wide);
    let r = fma(n.clone(), on.double(-QUARTER.1), r);
    let r = on.cast(ScalarType::F32, r);
    let n = plus(&on.cast(ScalarType::F32, n), &on.number(ROUND.1));
    (on.named("r", r), bits(I32, &n))
}

/// Sine, without its sign, and cosine between -pi/4 and pi/4. Polynomials: Moshier, Cephes mathematical library (single precision).
fn eighth(on: &mut Writer<'_>, r: &Expr) -> (Expr, Expr) {
    const SINE: [f64; 3] = [-1.951_529_589_1e-4, 8.332_160_873_6e-3, -1.666_665_461_1e-1];
    const COSINE: [f64; 4] = [
        2.443_315_711_809_948e-5,
        -1.388_731_625_493_765e-3,
        4.166_664_568_298_827e-2,
        -0.5,
    ];
    let square = on.named("square", times(r, r));
    let size = on.named("size", call(Intrin::Abs, r.clone()));
    let factor = times(&on.polynomial(&square, &SINE), &square);
    let sine = fma(factor, size.clone(), size);
    let cosine = fma(on.polynomial(&square, &COSINE), square, on.number(1.0));
    (sine, cosine)
}
