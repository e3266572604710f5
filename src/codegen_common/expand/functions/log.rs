//! Logarithms: `log(2^e * (1 + m)) = e * log 2 + log(1 + m)` with `1 + m` between 0.75 and 1.5, which the bits of the argument tell.

use super::{Writer, binary, bits, compare, fma, minus, plus, select, times};
use crate::kernel::Expr;
use crate::tensor::ScalarType;
use crate::tensor::scalar::BinOp;
use std::f64::consts::{LOG2_E, LOG10_E};

const I32: ScalarType = ScalarType::I32;
/// The bits of 0.75.
const LEAST: i64 = 0x3f40_0000;
/// A mask of the sign and the exponent.
const EXPONENT: i64 = -0x80_0000;
/// Units in the exponent.
const UNIT: f64 = 1.0 / 8_388_608.0;
/// In two parts, the first of 16 bits.
const LN_2: (f64, f64) = (0.693_145_751_953_125, 1.428_606_820_286e-6);
const LOG10_E_OF_WORD: f64 = LOG10_E as f32 as f64;
const LOG10_2: (f64, f64) = (0.301_025_390_625, 4.605_038_981_198e-6);

/// `e` and `m` of a positive number, and of others anything.
fn parts(on: &mut Writer<'_>, x: &Expr) -> (Expr, Expr) {
    let subnormal = compare(BinOp::Lt, x, &on.number(f32::MIN_POSITIVE.into()));
    let scaled = times(x, &on.number(1.0 / UNIT));
    let normal = select(subnormal.clone(), scaled, x.clone());
    let word = on.named("word", bits(I32, &normal));
    let exponent = exponent(on, &word);
    let mantissa = bits(ScalarType::F32, &minus(&word, &exponent));
    let m = on.named("m", minus(&mantissa, &on.number(1.0)));
    let offset = select(subnormal, on.number(-23.0), on.number(0.0));
    let exponent = on.cast(ScalarType::F32, exponent);
    let e = fma(exponent, on.number(UNIT), offset);
    (on.named("e", e), m)
}

/// The exponent of a number of 0.75 times a power of 2 and more, where a word has it.
fn exponent(on: &mut Writer<'_>, word: &Expr) -> Expr {
    let above = minus(word, &on.int(LEAST, I32));
    let exponent = binary(BinOp::BitAnd, above, on.int(EXPONENT, I32));
    on.named("exponent", exponent)
}

/// `log(1 + m)` for `m` from -0.25 to 0.5.
fn log_near_one(on: &mut Writer<'_>, m: &Expr) -> Expr {
    let residual = residual(on, m);
    let log = fma(residual, times(m, m), m.clone());
    on.named("log", log)
}

/// `(log(1 + m) - m) / m^2`, which is `-1 / 2 + m * p(m)` with a minimax polynomial.
fn residual(on: &mut Writer<'_>, m: &Expr) -> Expr {
    const POLYNOMIAL: [f64; 8] = [
        -0.045_074_467,
        0.104_629_956,
        -0.131_611_958,
        0.144_784_003,
        -0.166_473_120,
        0.199_908_614,
        -0.250_000_954,
        0.333_334_506,
    ];
    let sum = on.polynomial(m, &POLYNOMIAL);
    fma(sum, m.clone(), on.number(-0.5))
}

/// The value, or what a logarithm is of numbers that are not positive and finite; `zero` is the argument that gives minus infinity.
fn defined(on: &Writer<'_>, value: Expr, x: &Expr, zero: f64) -> Expr {
    let zero = on.number(zero);
    let infinity = on.number(f64::INFINITY);
    let below = compare(BinOp::Lt, x, &zero);
    let special = select(below, on.number(f64::NAN), x.clone());
    let at_zero = compare(BinOp::Eq, x, &zero);
    let special = select(at_zero, on.number(f64::NEG_INFINITY), special);
    let inside = compare(
        BinOp::And,
        &compare(BinOp::Gt, x, &zero),
        &compare(BinOp::Lt, x, &infinity),
    );
    select(inside, value, special)
}

/// `e * factor + log`, the factor in two parts.
fn sum(on: &Writer<'_>, e: Expr, factor: (f64, f64), log: Expr) -> Expr {
    let low = fma(e.clone(), on.number(factor.1), log);
    fma(e, on.number(factor.0), low)
}

pub(super) fn log(on: &mut Writer<'_>, args: &[Expr]) -> Expr {
    let (e, m) = parts(on, &args[0]);
    let log = log_near_one(on, &m);
    defined(on, sum(on, e, LN_2, log), &args[0], 0.0)
}

pub(super) fn log2(on: &mut Writer<'_>, args: &[Expr]) -> Expr {
    let (e, m) = parts(on, &args[0]);
    let log = log_near_one(on, &m);
    let value = fma(log, on.number(LOG2_E), e);
    defined(on, value, &args[0], 0.0)
}

/// Multiplies `m`, which is exact, and the rest of the logarithm separately. Rounding their sum first costs more than one unit where `e`
/// cancels most of it, as just below 0.75.
pub(super) fn log10(on: &mut Writer<'_>, args: &[Expr]) -> Expr {
    let (e, m) = parts(on, &args[0]);
    let rest = times(&residual(on, &m), &times(&m, &m));
    let low = times(&m, &on.number(LOG10_E - LOG10_E_OF_WORD));
    let low = fma(rest, on.number(LOG10_E_OF_WORD), low);
    let log = fma(m, on.number(LOG10_E_OF_WORD), low);
    defined(on, sum(on, e, LOG10_2, log), &args[0], 0.0)
}

/// The power of two is that of `1 + x`, which may be rounded; `m = x * 2^-e + (2^-e - 1)` is not (N. Juffa's form of `log1pf`).
pub(super) fn log1p(on: &mut Writer<'_>, args: &[Expr]) -> Expr {
    let x = &args[0];
    let word = bits(I32, &plus(x, &on.number(1.0)));
    let exponent = exponent(on, &word);
    let scaled = bits(ScalarType::F32, &minus(&bits(I32, x), &exponent));
    // Four times the power, which is no subnormal number.
    let four = on.int(4.0_f32.to_bits().into(), I32);
    let power = bits(ScalarType::F32, &minus(&four, &exponent));
    let below = fma(power, on.number(0.25), on.number(-1.0));
    let m = on.named("m", plus(&scaled, &below));
    let log = log_near_one(on, &m);
    let exponent = on.cast(ScalarType::F32, exponent);
    let e = on.named("e", times(&exponent, &on.number(UNIT)));
    let value = defined(on, sum(on, e, LN_2, log), x, -1.0);
    // With its sign.
    let zero = compare(BinOp::Eq, x, &on.number(0.0));
    select(zero, x.clone(), value)
}
