//! Intrinsic functions.

use super::WgslError;
use super::emit::Emitter;
use super::expr::wrap;
use super::helper::Helper;
use super::text::{Level, Text};
use super::wide::is_wide;
use crate::kernel::{Expr, Ty};
use crate::tensor::ScalarType;
use crate::tensor::scalar::{BinOp, Intrin};

/// The bits of infinity.
pub(super) const INFINITY: &str = "0x7f800000u";

/// Whether drivers may be several units in the last place off in the type that they are given; for `f16` that shows.
fn is_inexact(intrin: Intrin) -> bool {
    matches!(
        intrin,
        Intrin::Exp
            | Intrin::Exp2
            | Intrin::Log
            | Intrin::Log2
            | Intrin::Log10
            | Intrin::Rsqrt
            | Intrin::Sigmoid
            | Intrin::Sqrt
    )
}

impl Emitter<'_> {
    pub(super) fn call(&mut self, intrin: Intrin, args: &[Expr]) -> Result<Text, WgslError> {
        let ty = self.kernel.ty(&args[0]);
        let texts: Result<Vec<_>, _> = args.iter().map(|a| self.expr(a)).collect();
        let texts = texts?;
        if is_wide(ty.scalar) {
            return self.wide_call(intrin, ty.scalar, &texts);
        }
        if !ty.scalar.is_float() {
            return self.int_call(intrin, ty, &texts);
        }
        if ty.scalar == ScalarType::F16 && is_inexact(intrin) {
            let wide = Ty {
                scalar: ScalarType::F32,
                lanes: ty.lanes,
            };
            let (narrow, floats) = (self.ty(ty)?, self.ty(wide)?);
            let texts: Vec<_> = texts.iter().map(|x| Text::call(&floats, &[x])).collect();
            let value = self.float_call(intrin, wide, &texts)?;
            return Ok(Text::call(&narrow, &[value]));
        }
        self.float_call(intrin, ty, &texts)
    }

    fn float_call(&mut self, intrin: Intrin, ty: Ty, texts: &[Text]) -> Result<Text, WgslError> {
        let x = texts[0].clone();
        Ok(match intrin {
            Intrin::Sigmoid => {
                let one = self.splat(ty, "1.0")?;
                Text::primary(format!("({one} / ({one} + exp(-({x}))))"))
            }
            Intrin::Rsqrt => Text::call("inverseSqrt", &[x]),
            Intrin::IsNan => self.is_nan(ty, &x)?,
            Intrin::IsInf | Intrin::IsFinite => {
                let symbol = if intrin == Intrin::IsInf { "==" } else { "<" };
                self.bit_test(ty, &x, symbol, INFINITY)?
            }
            Intrin::Popcount
            | Intrin::Clz
            | Intrin::BitNot
            | Intrin::QMultiplyShift
            | Intrin::Dp4aU8S8 => {
                return Err(self.unsupported(&format!("`{}`", intrin.name()), ty.scalar));
            }
            Intrin::Acos => return self.f32_helper(Helper::Acos, ty, texts),
            Intrin::Acosh => return self.f32_helper(Helper::Acosh, ty, texts),
            Intrin::Asin => return self.f32_helper(Helper::Asin, ty, texts),
            Intrin::Asinh => return self.f32_helper(Helper::Asinh, ty, texts),
            Intrin::Atan => return self.f32_helper(Helper::Atan, ty, texts),
            Intrin::Atan2 => return self.f32_helper(Helper::Atan2, ty, texts),
            Intrin::Atanh => return self.f32_helper(Helper::Atanh, ty, texts),
            Intrin::Cos => return self.f32_helper(Helper::Cos, ty, texts),
            Intrin::Cosh => return self.f32_helper(Helper::Cosh, ty, texts),
            Intrin::Erf => return self.f32_helper(Helper::Erf, ty, texts),
            Intrin::Exp10 => return self.f32_helper(Helper::Exp10, ty, texts),
            Intrin::Expm1 => return self.f32_helper(Helper::Expm1, ty, texts),
            Intrin::Fmod => return self.f32_helper(Helper::Remainder, ty, texts),
            Intrin::Log => return self.f32_helper(Helper::Ln, ty, texts),
            Intrin::Log1p => return self.f32_helper(Helper::Log1p, ty, texts),
            Intrin::Log2 => return self.f32_helper(Helper::Log2, ty, texts),
            Intrin::Pow => return self.f32_helper(Helper::Pow, ty, texts),
            Intrin::Sin => return self.f32_helper(Helper::Sin, ty, texts),
            Intrin::Sinh => return self.f32_helper(Helper::Sinh, ty, texts),
            Intrin::Tan => return self.f32_helper(Helper::Tan, ty, texts),
            Intrin::Tanh => return self.f32_helper(Helper::Tanh, ty, texts),
            Intrin::Log10 => {
                let factor = self.splat(ty, "0.30103")?;
                let log2 = self.f32_helper(Helper::Log2, ty, texts)?;
                Text::primary(format!("({factor} * {log2})"))
            }
            Intrin::Exp
            | Intrin::Exp2
            | Intrin::Sqrt
            | Intrin::Floor
            | Intrin::Ceil
            | Intrin::Trunc
            | Intrin::Round
            | Intrin::Fma
            | Intrin::Abs => Text::call(intrin.name(), texts),
        })
    }

    fn int_call(&mut self, intrin: Intrin, ty: Ty, args: &[Text]) -> Result<Text, WgslError> {
        let x = args[0].clone();
        let bits = 8 * ty.scalar.bytes() as u32;
        let signed = ty.scalar.is_signed_int();
        Ok(match intrin {
            Intrin::Abs if !signed => x,
            Intrin::Abs => wrap(Text::call("abs", &[x]), ty),
            Intrin::Popcount if bits == 32 || !signed => Text::call("countOneBits", &[x]),
            Intrin::Clz if bits == 32 => Text::call("countLeadingZeros", &[x]),
            // Narrow integers are held in a word: the bits above their width are cut off first.
            Intrin::Popcount | Intrin::Clz => {
                let target = self.ty(ty)?;
                let words = self.ty(Ty {
                    scalar: ScalarType::U32,
                    lanes: ty.lanes,
                })?;
                let mask = u32::MAX >> (32 - bits);
                let word = format!("{words}({x}) & {words}({mask}u)");
                Text::primary(if intrin == Intrin::Popcount {
                    format!("{target}(countOneBits({word}))")
                } else {
                    let above = 32 - bits;
                    format!("{target}(countLeadingZeros({word}) - {words}({above}u))")
                })
            }
            Intrin::BitNot => wrap(Text::new(format!("~{}", x.operand()), Level::Unary), ty),
            Intrin::Floor | Intrin::Ceil | Intrin::Trunc | Intrin::Round => x,
            Intrin::Fma => {
                let (x, y) = (x.operand(), args[1].operand());
                wrap(
                    Text::primary(format!("({x} * {y} + {})", args[2].operand())),
                    ty,
                )
            }
            // The low bits of a product are those of the product of the low bits, signed or not.
            Intrin::Pow => {
                let scalar = Ty::scalar(ty.scalar);
                let target = self.ty(scalar)?;
                return self.per_lane(ty, args, |emitter, args| {
                    let words: Vec<_> = args.iter().map(|a| Text::call("u32", &[a])).collect();
                    let power = emitter.helper(Helper::PowU32, &words);
                    wrap(Text::call(&target, &[power]), scalar)
                });
            }
            Intrin::Dp4aU8S8 if ty.scalar == ScalarType::I32 => {
                return self.per_lane(ty, args, |emitter, args| {
                    emitter.helper(Helper::Dp4aU8S8, args)
                });
            }
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
    pub(super) fn f32_helper(
        &mut self,
        helper: Helper,
        ty: Ty,
        args: &[Text],
    ) -> Result<Text, WgslError> {
        let half = ty.scalar == ScalarType::F16;
        self.per_lane(ty, args, |emitter, args| {
            if half {
                let args: Vec<_> = args.iter().map(|a| Text::call("f32", &[a])).collect();
                Text::call(emitter.half(), &[emitter.helper(helper, &args)])
            } else {
                emitter.helper(helper, args)
            }
        })
    }

    fn splat(&self, ty: Ty, value: &str) -> Result<Text, WgslError> {
        Ok(Text::call(&self.ty(ty)?, &[value]))
    }

    /// Whether a float is NaN, by its bits: a compiler may take `x != x` for false.
    pub(super) fn is_nan(&mut self, ty: Ty, text: &Text) -> Result<Text, WgslError> {
        self.bit_test(ty, text, ">", INFINITY)
    }

    /// Whether a float is not 0: NaN is not, and drivers may leave open how it compares.
    pub(super) fn is_nonzero(&mut self, ty: Ty, text: &Text) -> Result<Text, WgslError> {
        self.bit_test(ty, text, "!=", "0u")
    }

    /// Compares the bits without the sign with others.
    fn bit_test(
        &mut self,
        ty: Ty,
        text: &Text,
        symbol: &str,
        bits: &str,
    ) -> Result<Text, WgslError> {
        let size = self.bits_of_size(ty, text)?;
        let bits = self.word(ty, ScalarType::U32, bits)?;
        let text = format!("{} {symbol} {bits}", size.operand());
        Ok(Text::new(text, Level::Comparison))
    }

    /// The bits of floats as `f32`, without the sign.
    pub(super) fn bits_of_size(&mut self, ty: Ty, text: &Text) -> Result<Text, WgslError> {
        let bits = self.float_bits(ty, ScalarType::U32, text)?;
        let mask = self.word(ty, ScalarType::U32, "0x7fffffffu")?;
        Ok(Text::infix(BinOp::BitAnd, "&", &bits, &mask))
    }

    /// A constant word, in as many lanes as a type has.
    pub(super) fn word(&self, ty: Ty, scalar: ScalarType, word: &str) -> Result<Text, WgslError> {
        let lanes = ty.lanes;
        match lanes {
            1 => Ok(Text::fixed(word)),
            _ => self.splat(Ty { scalar, lanes }, word),
        }
    }

    /// The bits of floats as `f32`.
    pub(super) fn float_bits(
        &mut self,
        ty: Ty,
        word: ScalarType,
        text: &Text,
    ) -> Result<Text, WgslError> {
        let of = |scalar| Ty {
            scalar,
            lanes: ty.lanes,
        };
        let (words, floats) = (self.ty(of(word))?, self.ty(of(ScalarType::F32))?);
        let bits = format!("bitcast<{words}>");
        Ok(match ty.scalar {
            ScalarType::F16 => Text::call(&bits, &[Text::call(&floats, &[text])]),
            _ => Text::call(&bits, &[text]),
        })
    }
}
