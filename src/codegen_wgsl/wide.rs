//! Integers of 64 bits. WGSL has none, so that they are held as in memory, as two words, and computed by helper functions:
//! exact, and wrapping where the type does. Indices are not among them: lowering computes those in `int32`, and proves that it
//! may.

use super::WgslError;
use super::emit::Emitter;
use super::expr::negated;
use super::helper::Helper;
use super::text::{Level, Text};
use crate::kernel::Ty;
use crate::tensor::ScalarType;
use crate::tensor::scalar::{BinOp, Intrin};

/// Whether values of the type are held as two words.
pub(super) fn is_wide(scalar: ScalarType) -> bool {
    matches!(scalar, ScalarType::I64 | ScalarType::U64)
}

/// The low and the high word of a constant.
pub(super) fn constant(value: i64) -> Text {
    let (low, high) = (value as u32, (value >> 32) as u32);
    Text::fixed(format!("vec2<u32>({low}u, {high}u)"))
}

impl Emitter<'_> {
    pub(super) fn wide_binary(
        &mut self,
        op: BinOp,
        scalar: ScalarType,
        a: Text,
        b: Text,
    ) -> Result<Text, WgslError> {
        let signed = scalar == ScalarType::I64;
        let either = |yes, no| if signed { yes } else { no };
        let less = either(Helper::I64Less, Helper::U64Less);
        Ok(match op {
            BinOp::Add => self.helper(Helper::WideAdd, &[a, b]),
            BinOp::Sub => self.helper(Helper::WideSub, &[a, b]),
            BinOp::Mul => self.helper(Helper::WideMul, &[a, b]),
            BinOp::Div => self.helper(either(Helper::I64Div, Helper::U64Div), &[a, b]),
            BinOp::Mod => self.helper(either(Helper::I64Mod, Helper::U64Mod), &[a, b]),
            BinOp::FloorDiv => self.helper(either(Helper::I64FloorDiv, Helper::U64Div), &[a, b]),
            BinOp::FloorMod => self.helper(either(Helper::I64FloorMod, Helper::U64Mod), &[a, b]),
            BinOp::Min | BinOp::Max => {
                let (a, b) = (self.bind(a), self.bind(b));
                let first = self.helper(less, &[a.clone(), b.clone()]);
                let (yes, no) = if op == BinOp::Min { (a, b) } else { (b, a) };
                Text::call("select", &[no, yes, first])
            }
            BinOp::Eq => Text::call("all", &[Text::infix(op, "==", &a, &b)]),
            BinOp::Ne => Text::call("any", &[Text::infix(op, "!=", &a, &b)]),
            BinOp::Lt => self.helper(less, &[a, b]),
            BinOp::Gt => self.helper(less, &[b, a]),
            BinOp::Le => negated(&self.helper(less, &[b, a])),
            BinOp::Ge => negated(&self.helper(less, &[a, b])),
            BinOp::BitAnd => Text::infix(op, "&", &a, &b),
            BinOp::BitOr => Text::infix(op, "|", &a, &b),
            BinOp::BitXor => Text::infix(op, "^", &a, &b),
            BinOp::Shl => self.helper(Helper::WideShl, &[a, b.lane(0)]),
            BinOp::Shr => self.helper(either(Helper::I64Shr, Helper::U64Shr), &[a, b.lane(0)]),
            BinOp::And | BinOp::Or => return Err(self.unsupported("a logical operator", scalar)),
        })
    }

    /// A conversion of which one side or both are wide.
    pub(super) fn wide_cast(
        &mut self,
        from: ScalarType,
        to: ScalarType,
        text: Text,
    ) -> Result<Text, WgslError> {
        if is_wide(from) {
            let signed = from == ScalarType::I64;
            return Ok(match to {
                ScalarType::I64 | ScalarType::U64 => text,
                ScalarType::Bool => {
                    Text::primary(format!("any({} != vec2<u32>())", text.operand()))
                }
                to if to.is_float() => {
                    let helper = if signed {
                        Helper::I64ToF32
                    } else {
                        Helper::U64ToF32
                    };
                    let float = self.helper(helper, &[text]);
                    match to {
                        ScalarType::F32 => float,
                        // What f32 rounds is too large for f16.
                        _ => Text::call(&self.ty(Ty::scalar(to))?, &[float]),
                    }
                }
                _ => self.cast_scalar(ScalarType::U32, to, text.lane(0))?,
            });
        }
        Ok(match from {
            from if from.is_float() => {
                let helper = match to {
                    ScalarType::I64 => Helper::F32ToI64,
                    _ => Helper::F32ToU64,
                };
                let float = self.cast_scalar(from, ScalarType::F32, text)?;
                self.helper(helper, &[float])
            }
            from if from.is_signed_int() => self.helper(Helper::I64FromI32, &[text]),
            _ => Text::primary(format!("vec2<u32>(u32({text}), 0u)")),
        })
    }

    pub(super) fn wide_call(
        &mut self,
        intrin: Intrin,
        scalar: ScalarType,
        args: &[Text],
    ) -> Result<Text, WgslError> {
        let x = args[0].clone();
        Ok(match intrin {
            Intrin::Abs if scalar == ScalarType::I64 => self.helper(Helper::I64Abs, &[x]),
            Intrin::Abs | Intrin::Floor | Intrin::Ceil | Intrin::Trunc | Intrin::Round => x,
            Intrin::BitNot => Text::new(format!("~{}", x.operand()), Level::Unary),
            Intrin::Popcount => {
                let x = self.bind(x);
                let (low, high) = (x.lane(0), x.lane(1));
                let count = format!("countOneBits({low}) + countOneBits({high})");
                Text::primary(format!("vec2<u32>({count}, 0u)"))
            }
            Intrin::Clz => {
                let x = self.bind(x);
                let (low, high) = (x.lane(0), x.lane(1));
                let zeros = format!("32u + countLeadingZeros({low})");
                let zeros = format!("select(countLeadingZeros({high}), {zeros}, {high} == 0u)");
                Text::primary(format!("vec2<u32>({zeros}, 0u)"))
            }
            Intrin::Fma => {
                let product = self.helper(Helper::WideMul, &[x, args[1].clone()]);
                self.helper(Helper::WideAdd, &[product, args[2].clone()])
            }
            Intrin::Pow => self.helper(Helper::PowU64, args),
            Intrin::IsNan | Intrin::IsInf => Text::fixed("false"),
            Intrin::IsFinite => Text::fixed("true"),
            _ => return Err(self.unsupported(&format!("`{}`", intrin.name()), scalar)),
        })
    }
}
