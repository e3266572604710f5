//! Powers: `x^y = 2^(y * log2 |x|)`, in `float64`, with the sign and the exceptions of IEEE 754's `pow`.

use super::{Writer, binary, bits, call, compare, fma, minus, plus, select, times};
use crate::kernel::Expr;
use crate::tensor::ScalarType;
use crate::tensor::scalar::{BinOp, Intrin};
use std::f64::consts::LOG2_10;

const F64: ScalarType = ScalarType::F64;
const U64: ScalarType = ScalarType::U64;
/// Bits of the mantissa.
const MANTISSA: i64 = 52;
/// The exponent of 1, as it is stored.
const BIAS: i64 = 1023 << MANTISSA;
/// `1.5 * 2^52`: added to a small number, it leaves the nearest integer in the last bits.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// No power of 2 beyond is a number of `float32` but 0 and infinity.
const FAR: f64 = 200.0;
/// More than any number of `float32`, and its product with the least one is beyond [`FAR`].
const INFINITE: f64 = 1e50;

pub(super) fn pow(on: &mut Writer<'_>, args: &[Expr]) -> Expr {
    let (x, y) = (&args[0], &args[1]);
    let size = on.cast(F64, call(Intrin::Abs, x.clone()));
    let size = on.named("size", size);
    let log = log2(on, &size);
    // Infinity times the logarithm of 1 would be NaN.
    let times_log = bounded(on, on.cast(F64, y.clone()), INFINITE);
    let exponent = bounded(on, times(&times_log, &log), FAR);
    let power = power_of_two(on, exponent);
    let power = on.named("power", on.cast(ScalarType::F32, power));
    with_sign(on, power, x, y)
}

pub(super) fn exp2(on: &mut Writer<'_>, args: &[Expr]) -> Expr {
    let power = exp_of_base(on, &args[0], 1.0);
    on.cast(ScalarType::F32, power)
}

pub(super) fn exp10(on: &mut Writer<'_>, args: &[Expr]) -> Expr {
    let power = exp_of_base(on, &args[0], LOG2_10);
    on.cast(ScalarType::F32, power)
}

/// A power of a number with this logarithm to base 2, in `float64`: infinity and 0 are finite there.
pub(super) fn exp_of_base(on: &mut Writer<'_>, x: &Expr, log2: f64) -> Expr {
    let exponent = times(&on.cast(F64, x.clone()), &on.double(log2));
    let exponent = bounded(on, exponent, FAR);
    power_of_two(on, exponent)
}

/// The value between two bounds; NaN stays NaN.
fn bounded(on: &Writer<'_>, e: Expr, by: f64) -> Expr {
    let least = binary(BinOp::Max, e, on.double(-by));
    binary(BinOp::Min, least, on.double(by))
}

/// Of a number of `float64` that is not negative; of 0 and infinity a number that stands for an infinite one, of NaN any. For
/// `m` between `sqrt(1/2)` and `sqrt(2)`, `log2 m` is an odd polynomial of `(m - 1) / (m + 1)`.
pub(super) fn log2(on: &mut Writer<'_>, size: &Expr) -> Expr {
    const LEAST: f64 = std::f64::consts::FRAC_1_SQRT_2;
    const POLYNOMIAL: [f64; 5] = [
        0.340_730_175_452_206_2,
        0.411_672_716_071_145_14,
        0.577_083_584_987_403_4,
        0.961_796_673_342_015_2,
        2.885_390_081_790_084_5,
    ];
    let word = on.named("word", bits(U64, size));
    let above = minus(&word, &on.int(LEAST.to_bits() as i64, U64));
    let exponent = binary(BinOp::BitAnd, above, on.int(-1 << MANTISSA, U64));
    let exponent = on.named("exponent", exponent);
    let m = on.named("m", bits(F64, &minus(&word, &exponent)));
    let quotient = binary(
        BinOp::Div,
        minus(&m, &on.double(1.0)),
        plus(&m, &on.double(1.0)),
    );
    let s = on.named("s", quotient);
    let square = on.named("square", times(&s, &s));
    // In the last bits of `2^52`.
    let biased = binary(
        BinOp::Shr,
        plus(&exponent, &on.int(BIAS, U64)),
        on.int(MANTISSA, U64),
    );
    let two_52 = f64::from_bits((1023 + MANTISSA as u64) << MANTISSA);
    let float = binary(BinOp::BitOr, biased, on.int(two_52.to_bits() as i64, U64));
    let e = minus(&bits(F64, &float), &on.double(two_52 + 1023.0));
    let log = fma(on.polynomial(&square, &POLYNOMIAL), s, e);
    let zero = compare(BinOp::Eq, size, &on.double(0.0));
    let infinite = compare(BinOp::Eq, size, &on.double(f64::INFINITY));
    let log = select(infinite, on.double(INFINITE), log);
    let log = select(zero, on.double(-INFINITE), log);
    on.named("log", log)
}

/// Of a number between -200 and 200: a power of the nearest integer by its bits, and a minimax polynomial for the rest.
fn power_of_two(on: &mut Writer<'_>, x: Expr) -> Expr {
    const POLYNOMIAL: [f64; 7] = [
        0.000_153_458_074_405_489_9,
        0.001_339_993_118_119_053_9,
        0.009_618_488_974_187_49,
        0.055_503_287_770_836_55,
        0.240_226_468_904_744_4,
        0.693_147_205_737_193_2,
        1.000_000_000_554_188_3,
    ];
    let x = on.named("x", x);
    let shifted = on.named("shifted", plus(&x, &on.double(ROUND)));
    let n = minus(&shifted, &on.double(ROUND));
    let r = on.named("r", minus(&x, &n));
    let exponent = binary(BinOp::Shl, bits(U64, &shifted), on.int(MANTISSA, U64));
    let power = bits(F64, &plus(&exponent, &on.int(BIAS, U64)));
    let fraction = on.polynomial(&r, &POLYNOMIAL);
    times(&fraction, &power)
}

/// `x^y` from `|x|^y`: negative where `x` is and `y` is odd, NaN where `x` is negative and `y` is no integer.
fn with_sign(on: &mut Writer<'_>, power: Expr, x: &Expr, y: &Expr) -> Expr {
    const I32: ScalarType = ScalarType::I32;
    let is_integer = |e: &Expr| compare(BinOp::Eq, &call(Intrin::Trunc, e.clone()), e);
    let half = on.named("half", times(y, &on.number(0.5)));
    let whole = on.named("whole", is_integer(y));
    let odd = binary(
        BinOp::And,
        whole.clone(),
        Expr::Not(Box::new(is_integer(&half))),
    );
    let word = bits(I32, x);
    let sign = binary(BinOp::BitAnd, word, on.int(i32::MIN.into(), I32));
    let sign = select(odd, sign, on.int(0, I32));
    let signed = binary(BinOp::BitOr, bits(I32, &power), sign);
    let signed = bits(ScalarType::F32, &signed);
    let negative = binary(
        BinOp::And,
        compare(BinOp::Lt, x, &on.number(0.0)),
        compare(BinOp::Gt, x, &on.number(f64::NEG_INFINITY)),
    );
    let none = binary(BinOp::And, negative, Expr::Not(Box::new(whole)));
    let value = select(none, on.number(f64::NAN), signed);
    // `pow(NaN, 0)` and `pow(1, NaN)` are 1; every other power of NaN is NaN.
    let zero = compare(BinOp::Eq, y, &on.number(0.0));
    let no_number = binary(
        BinOp::And,
        call(Intrin::IsNan, x.clone()),
        Expr::Not(Box::new(zero)),
    );
    let value = select(no_number, x.clone(), value);
    let one = compare(BinOp::Eq, x, &on.number(1.0));
    select(one, on.number(1.0), value)
}
