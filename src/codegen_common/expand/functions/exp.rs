//! `exp(x) = 2^n * exp(r)` with `n` the integer nearest to `x / ln 2` and `|r| <= ln 2 / 2`.
//!
//! `r` is found with `ln 2` in two parts (Cody and Waite, *Software Manual for the Elementary Functions*, chapter 6), `exp(r)` by the
//! polynomial of Cephes' `expf`. NaN, infinities, overflow and subnormal results as in IEEE 754.

use super::{Writer, binary, bits, call, compare, fma, minus, plus, select, times};
use crate::kernel::Expr;
use crate::tensor::ScalarType;
use crate::tensor::scalar::{BinOp, Intrin};

const F32: ScalarType = ScalarType::F32;
const I32: ScalarType = ScalarType::I32;
/// Beyond these, the result is 0 and infinity.
const RANGE: (f64, f64) = (-104.0, 89.0);
/// Beyond this on either side of 0, a result may be subnormal, or half of its power of two infinite.
const USUAL: f64 = 126.0;
/// `ln 2`: a part of nine bits, so that products with `n` are exact, and the rest.
const LN_2: (f64, f64) = (0.693_359_375, -2.121_944_4e-4);
/// `1.5 * 2^23 + 127`: added to a small number, it leaves the nearest integer in the last bits, as an exponent is stored.
const ROUND: f64 = 12_582_912.0 + 127.0;
/// Bits of the mantissa.
const MANTISSA: i64 = 23;
/// Of `r^7` and down to `r^2`: `exp(r) = 1 + r + r^2 * (...)`.
const POLYNOMIAL: [f64; 6] = [
    1.987_569_15e-4,
    1.398_199_950_7e-3,
    8.333_451_907_3e-3,
    4.166_579_589_4e-2,
    1.666_666_545_9e-1,
    5.000_000_120_1e-1,
];

/// `x / ln 2` as an integer, and as its bits.
struct Exponent {
    n: Expr,
    /// [`ROUND`] more than `n`, as an integer.
    word: Expr,
}

impl Exponent {
    fn of(on: &mut Writer<'_>, x: &Expr) -> Self {
        let log2_e = on.number(std::f64::consts::LOG2_E);
        let shifted = fma(x.clone(), log2_e, on.number(ROUND));
        let shifted = on.named("shifted", shifted);
        let n = on.named("n", minus(&shifted, &on.number(ROUND)));
        let word = bits(I32, &shifted);
        Self { n, word }
    }
}

pub(super) fn exp(on: &mut Writer<'_>, args: &[Expr]) -> Expr {
    let x = &args[0];
    let exponent = Exponent::of(on, x);
    let size = call(Intrin::Abs, exponent.n.clone());
    // Few vectors have results beyond. NaN is not: it stays NaN on the usual way.
    let rare = compare(BinOp::Ge, &size, &on.number(USUAL));
    on.branch(rare, |on| of_all(on, x), |on| of_usual(on, x, &exponent))
}

/// `1 + sign * 2^x` of an argument between -126 and 126, or NaN. The polynomial is off by 1.1e-7 of the power, its value in `float32` by
/// 2e-7.
pub(super) fn one_plus_exp2(on: &mut Writer<'_>, sign: f64, x: Expr) -> Expr {
    // Of `2^r` for `|r| <= 1/2`, from `r^5` down to `r^0`.
    const POLYNOMIAL: [f64; 6] = [
        1.326_472_7e-3,
        9.671_513e-3,
        5.550_733_6e-2,
        2.402_224_2e-1,
        6.931_470_037e-1,
        1.0,
    ];
    let x = on.named("x", x);
    let shifted = on.named("shifted", plus(&x, &on.number(ROUND)));
    let n = minus(&shifted, &on.number(ROUND));
    let r = on.named("r", minus(&x, &n));
    let power = on.polynomial(&r, &POLYNOMIAL.map(|c| sign * c));
    let factor = power_of_two(on, bits(I32, &shifted));
    fma(power, factor, on.number(1.0))
}

/// Where `2^n` and the result are normal numbers.
fn of_usual(on: &mut Writer<'_>, x: &Expr, exponent: &Exponent) -> Expr {
    let power = fraction(on, x, &exponent.n);
    let factor = power_of_two(on, exponent.word.clone());
    times(&power, &factor)
}

/// Of any argument. A subnormal result is counted in units of `2^-149`: the count is the number's bits, and no step has a subnormal
/// result, which costs a vector some 150 cycles.
fn of_all(on: &mut Writer<'_>, x: &Expr) -> Expr {
    let x = binary(BinOp::Max, x.clone(), on.number(RANGE.0));
    let x = binary(BinOp::Min, x, on.number(RANGE.1));
    let x = on.named("x", x);
    let Exponent { n, word } = Exponent::of(on, &x);
    let power = fraction(on, &x, &n);
    let doubled = plus(&power, &power);
    let small = compare(BinOp::Lt, &n, &on.number(1.0 - USUAL));
    let small = on.named("small", small);
    // Of `2^(n - 1)`, which is a normal number for all that are not small, or of `2^(n + 148)`.
    let offset = select(small.clone(), on.int(148, I32), on.int(-1, I32));
    let factor = power_of_two(on, plus(&word, &offset));
    let value = on.named("value", times(&doubled, &factor));
    let count = on.cast(I32, plus(&value, &on.number(0.5)));
    select(small, bits(F32, &count), value)
}

/// `exp(x - n ln 2)`.
fn fraction(on: &mut Writer<'_>, x: &Expr, n: &Expr) -> Expr {
    let r = fma(n.clone(), on.number(-LN_2.0), x.clone());
    let r = fma(n.clone(), on.number(-LN_2.1), r);
    let r = on.named("r", r);
    let square = on.named("square", times(&r, &r));
    let sum = on.polynomial(&r, &POLYNOMIAL);
    let power = plus(&fma(sum, square, r), &on.number(1.0));
    on.named("power", power)
}

/// The power of two whose exponent is in the last eight bits.
fn power_of_two(on: &Writer<'_>, exponent: Expr) -> Expr {
    let exponent = binary(BinOp::Shl, exponent, on.int(MANTISSA, I32));
    bits(F32, &exponent)
}
