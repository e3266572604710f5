//! Intrinsic functions, and the helper functions that the emitted text brings along.

use super::WgslError;
use super::emit::Emitter;
use super::expr::wrap;
use crate::kernel::{Expr, Ty};
use crate::tensor::ScalarType;
use crate::tensor::scalar::Intrin;

/// A function in the emitted text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Helper {
    Erf,
    F32FromBits,
    F32ToI32,
    F32ToU32,
    FloorDiv,
    FloorMod,
    Log1p,
    Pow,
    Tanh,
}

impl Helper {
    /// The text of the function.
    pub(super) fn text(self) -> &'static str {
        match self {
            // Taylor near 0, where the other form loses all digits; Abramowitz and Stegun, 7.1.26, elsewhere.
            Self::Erf => {
                "fn erf(x: f32) -> f32 {
    let a = abs(x);
    if (a < 0.5) {
        let s = x * x;
        return x * (1.1283792f + s * (-0.37612638f + s * (0.11283792f + s * (-0.02686617f + s * (0.0052239776f - s * 0.0008548327f)))));
    }
    let t = 1.0f / (1.0f + 0.3275911f * a);
    let p = t * (0.2548296f + t * (-0.28449674f + t * (1.4214137f + t * (-1.4531521f + t * 1.0614054f))));
    return select(sign(x) * (1.0f - p * exp(-a * a)), x, (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u);
}
"
            }
            Self::F32FromBits => {
                "fn f32_from_bits(bits: u32) -> f32 {
    var word = bits;
    return bitcast<f32>(word);
}
"
            }
            Self::F32ToI32 => {
                "fn f32_to_i32(x: f32) -> i32 {
    let nan = (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
    let y = select(i32(clamp(x, -2147483648.0f, 2147483520.0f)), 2147483647i, x >= 2147483648.0f);
    return select(y, 0i, nan);
}
"
            }
            Self::F32ToU32 => {
                "fn f32_to_u32(x: f32) -> u32 {
    let nan = (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
    let y = select(u32(clamp(x, 0.0f, 4294967040.0f)), 4294967295u, x >= 4294967296.0f);
    return select(y, 0u, nan);
}
"
            }
            Self::FloorDiv => {
                "fn floor_div(a: i32, b: i32) -> i32 {
    let q = a / b;
    return select(q, q - 1i, (a % b != 0i) && ((a < 0i) != (b < 0i)));
}
"
            }
            Self::FloorMod => {
                "fn floor_mod(a: i32, b: i32) -> i32 {
    let r = a % b;
    return select(r, r + b, (r != 0i) && ((r < 0i) != (b < 0i)));
}
"
            }
            // Kahan: the error of 1 + x is divided out.
            Self::Log1p => {
                "fn log1p(x: f32) -> f32 {
    let u = 1.0f + x;
    let d = u - 1.0f;
    return select(select(log(u) * (x / d), x, d == 0.0f), log(u), u > 3.0e38f);
}
"
            }
            // WGSL leaves negative bases open.
            Self::Pow => {
                "fn pow_any(x: f32, y: f32) -> f32 {
    if (y == 0.0f || x == 1.0f) {
        return 1.0f;
    }
    var nan_bits = 0x7fc00000u;
    let p = pow(abs(x), y);
    if (x >= 0.0f) {
        return p;
    }
    let whole = trunc(y) == y;
    let odd = whole && (abs(y) < 16777216.0f) && (abs(y) - 2.0f * floor(abs(y) * 0.5f) == 1.0f);
    return select(select(bitcast<f32>(nan_bits), p, whole), -p, odd);
}
"
            }
            // Drivers clamp the argument, which turns NaN into a number.
            Self::Tanh => {
                "fn tanh_any(x: f32) -> f32 {
    return select(tanh(x), x, (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u);
}
"
            }
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Erf => "erf",
            Self::F32FromBits => "f32_from_bits",
            Self::F32ToI32 => "f32_to_i32",
            Self::F32ToU32 => "f32_to_u32",
            Self::FloorDiv => "floor_div",
            Self::FloorMod => "floor_mod",
            Self::Log1p => "log1p",
            Self::Pow => "pow_any",
            Self::Tanh => "tanh_any",
        }
    }
}

impl Emitter<'_> {
    pub(super) fn call(&mut self, intrin: Intrin, args: &[Expr]) -> Result<String, WgslError> {
        let ty = self.kernel.ty(&args[0]);
        let mut texts = args
            .iter()
            .map(|a| self.expr(a))
            .collect::<Result<Vec<_>, _>>()?;
        if !ty.scalar.is_float() {
            return self.int_call(intrin, ty, &texts);
        }
        let x = texts[0].clone();
        let one = self.splat(ty, "1.0")?;
        Ok(match intrin {
            Intrin::Exp10 => format!("exp2({} * ({x}))", self.splat(ty, "3.321928")?),
            Intrin::Log10 => format!("({} * log2({x}))", self.splat(ty, "0.30103")?),
            Intrin::Sigmoid => format!("({one} / ({one} + exp(-({x}))))"),
            Intrin::Rsqrt => format!("inverseSqrt({x})"),
            Intrin::Erf | Intrin::Log1p | Intrin::Pow | Intrin::Tanh => {
                let helper = match intrin {
                    Intrin::Erf => Helper::Erf,
                    Intrin::Log1p => Helper::Log1p,
                    Intrin::Pow => Helper::Pow,
                    _ => Helper::Tanh,
                };
                self.helpers.insert(helper);
                return self.f32_helper(helper.name(), ty, &texts);
            }
            Intrin::IsNan => self.is_nan(ty, &x)?,
            Intrin::IsInf | Intrin::IsFinite => {
                let symbol = if intrin == Intrin::IsInf { "==" } else { "<" };
                self.bit_test(ty, &x, symbol)?
            }
            Intrin::Popcount | Intrin::Clz | Intrin::BitNot => {
                return Err(self.unsupported(&format!("`{}`", intrin.name()), ty.scalar));
            }
            Intrin::Fma => {
                let c = texts.remove(2);
                format!("fma({x}, {}, {c})", texts[1])
            }
            Intrin::Atan2 => format!("atan2({x}, {})", texts[1]),
            Intrin::Exp
            | Intrin::Exp2
            | Intrin::Log
            | Intrin::Log2
            | Intrin::Sqrt
            | Intrin::Sin
            | Intrin::Cos
            | Intrin::Tan
            | Intrin::Sinh
            | Intrin::Cosh
            | Intrin::Asin
            | Intrin::Acos
            | Intrin::Atan
            | Intrin::Asinh
            | Intrin::Acosh
            | Intrin::Atanh
            | Intrin::Floor
            | Intrin::Ceil
            | Intrin::Trunc
            | Intrin::Round
            | Intrin::Abs => format!("{}({x})", intrin.name()),
        })
    }

    fn int_call(&mut self, intrin: Intrin, ty: Ty, args: &[String]) -> Result<String, WgslError> {
        let x = &args[0];
        let bits = 8 * ty.scalar.bytes();
        Ok(match intrin {
            Intrin::Abs => wrap(format!("abs({x})"), ty),
            Intrin::Popcount if bits == 32 => format!("countOneBits({x})"),
            Intrin::Clz if bits == 32 => format!("countLeadingZeros({x})"),
            Intrin::BitNot if bits == 32 => format!("~({x})"),
            Intrin::Floor | Intrin::Ceil | Intrin::Trunc | Intrin::Round => x.clone(),
            Intrin::Fma => wrap(format!("({x} * ({}) + ({}))", args[1], args[2]), ty),
            Intrin::IsNan | Intrin::IsInf | Intrin::IsFinite => {
                let bools = Ty {
                    scalar: ScalarType::Bool,
                    lanes: ty.lanes,
                };
                let finite = intrin == Intrin::IsFinite;
                self.splat(bools, if finite { "true" } else { "false" })?
            }
            _ => return Err(self.unsupported(&format!("`{}`", intrin.name()), ty.scalar)),
        })
    }

    /// Calls a helper of `f32` on every lane, through `f32` for `f16`.
    fn f32_helper(&mut self, name: &str, ty: Ty, args: &[String]) -> Result<String, WgslError> {
        let half = ty.scalar == ScalarType::F16;
        self.per_lane(ty, args, |args| {
            if half {
                let args: Vec<_> = args.iter().map(|a| format!("f32({a})")).collect();
                format!("f16({name}({}))", args.join(", "))
            } else {
                format!("{name}({})", args.join(", "))
            }
        })
    }

    fn splat(&self, ty: Ty, value: &str) -> Result<String, WgslError> {
        Ok(format!("{}({value})", self.ty(ty)?))
    }

    /// Whether a float is NaN, by its bits: a compiler may take `x != x` for false.
    pub(super) fn is_nan(&mut self, ty: Ty, text: &str) -> Result<String, WgslError> {
        self.bit_test(ty, text, ">")
    }

    /// Compares the bits without the sign with those of infinity.
    fn bit_test(&mut self, ty: Ty, text: &str, symbol: &str) -> Result<String, WgslError> {
        let words = self.ty(Ty {
            scalar: ScalarType::U32,
            lanes: ty.lanes,
        })?;
        let floats = self.ty(Ty {
            scalar: ScalarType::F32,
            lanes: ty.lanes,
        })?;
        let value = if ty.scalar == ScalarType::F16 {
            format!("{floats}({text})")
        } else {
            text.to_owned()
        };
        Ok(format!(
            "((bitcast<{words}>({value}) & {words}(0x7fffffffu)) {symbol} {words}(0x7f800000u))"
        ))
    }
}
