//! Functions of the host that generated code calls: those of the math library.

use crate::tensor::ScalarType;
use crate::tensor::scalar::{Intrin, Scalar, eval_intrin, wrapping_pow};

/// Declares, for each math function, a form for `f32` and one for `f64`, with the calling convention of generated code
/// (`codegen_cpu::NativeFn`), and the power of integers.
macro_rules! functions {
    ($($table:tt)*) => {
        #[cfg(target_arch = "x86_64")]
        functions_of! { "sysv64" $($table)* }
        #[cfg(not(target_arch = "x86_64"))]
        functions_of! { "C" $($table)* }
    };
}

/// The same with this calling convention.
macro_rules! functions_of {
    ($abi:literal $($intrin:ident, $f32:ident, $f64:ident, ($($arg:ident),*), $single:expr, $double:expr;)*) => {
        $(
            extern $abi fn $f32($($arg: f32),*) -> f32 { $single }
            extern $abi fn $f64($($arg: f64),*) -> f64 { $double }
        )*
        /// Intrinsic, address of the `f32` form, address of the `f64` form.
        pub(crate) fn math_table() -> Vec<(Intrin, *const u8, *const u8)> {
            vec![$((Intrin::$intrin, $f32 as *const u8, $f64 as *const u8)),*]
        }
        /// The intrinsics of the table, in order.
        pub(crate) const MATH: &[Intrin] = &[$(Intrin::$intrin),*];

        /// Power of `i64`; an exponent that is negative counts as the unsigned number with its bits.
        pub(crate) extern $abi fn pow_i64(x: i64, y: i64) -> i64 {
            wrapping_pow(x, y as u64)
        }
    };
}

functions! {
    Exp, exp_f32, exp_f64, (x), x.exp(), x.exp();
    Exp2, exp2_f32, exp2_f64, (x), x.exp2(), x.exp2();
    Exp10, exp10_f32, exp10_f64, (x), libm::exp10f(x), libm::exp10(x);
    Log, log_f32, log_f64, (x), x.ln(), x.ln();
    Log2, log2_f32, log2_f64, (x), x.log2(), x.log2();
    Log10, log10_f32, log10_f64, (x), x.log10(), x.log10();
    Log1p, log1p_f32, log1p_f64, (x), x.ln_1p(), x.ln_1p();
    Expm1, expm1_f32, expm1_f64, (x), in_double(Intrin::Expm1, x), x.exp_m1();
    Sin, sin_f32, sin_f64, (x), x.sin(), x.sin();
    Cos, cos_f32, cos_f64, (x), x.cos(), x.cos();
    Tan, tan_f32, tan_f64, (x), x.tan(), x.tan();
    Sinh, sinh_f32, sinh_f64, (x), x.sinh(), x.sinh();
    Cosh, cosh_f32, cosh_f64, (x), x.cosh(), x.cosh();
    Tanh, tanh_f32, tanh_f64, (x), x.tanh(), x.tanh();
    Asin, asin_f32, asin_f64, (x), x.asin(), x.asin();
    Acos, acos_f32, acos_f64, (x), x.acos(), x.acos();
    Atan, atan_f32, atan_f64, (x), x.atan(), x.atan();
    Asinh, asinh_f32, asinh_f64, (x), in_double(Intrin::Asinh, x), x.asinh();
    Acosh, acosh_f32, acosh_f64, (x), in_double(Intrin::Acosh, x), x.acosh();
    Atanh, atanh_f32, atanh_f64, (x), in_double(Intrin::Atanh, x), x.atanh();
    Atan2, atan2_f32, atan2_f64, (y, x), y.atan2(x), y.atan2(x);
    Erf, erf_f32, erf_f64, (x), libm::erff(x), libm::erf(x);
    Sigmoid, sigmoid_f32, sigmoid_f64, (x), 1.0 / (1.0 + (-x).exp()), 1.0 / (1.0 + (-x).exp());
    Pow, pow_f32, pow_f64, (x, y), x.powf(y), x.powf(y);
    Fmod, fmod_f32, fmod_f64, (x, y), x % y, x % y;
    Floor, floor_f32, floor_f64, (x), x.floor(), x.floor();
    Ceil, ceil_f32, ceil_f64, (x), x.ceil(), x.ceil();
    Trunc, trunc_f32, trunc_f64, (x), x.trunc(), x.trunc();
    Round, round_f32, round_f64, (x), x.round_ties_even(), x.round_ties_even();
}

/// Functions whose `f32` form in the standard library loses digits.
fn in_double(intrin: Intrin, x: f32) -> f32 {
    eval_intrin(intrin, ScalarType::F32, &[Scalar::Float(x.into())])
        .map_or(f32::NAN, |value| value.as_float() as f32)
}
