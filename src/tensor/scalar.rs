//! Operations on elements: their names, types and meaning.
//!
//! The one definition of what an operator computes. The simplifier folds constants with it, the interpreter runs it, host
//! expressions of launches are evaluated with it, and the back ends are tested against it. Integers wrap in their width;
//! `f16`, `bf16` and smaller floats are computed in a wider type and rounded once.

mod ops;
#[cfg(test)]
mod tests;

pub use ops::{BinOp, Intrin};

use super::ScalarType;

/// A value of one lane: integers and `bool` as `Int`, floats as `Float`. The type stands beside it.
#[derive(Clone, Copy, Debug)]
pub enum Scalar {
    /// Integer or `bool` (0 or 1); `u64` by its bits.
    Int(i64),
    /// Any float type, held exactly.
    Float(f64),
}

impl Scalar {
    /// The value as an integer; floats are cut towards zero.
    pub fn as_int(self) -> i64 {
        match self {
            Self::Int(v) => v,
            Self::Float(v) => v as i64,
        }
    }

    /// The value as a float of type `f64`; an integer must be of signed type or small.
    pub fn as_float(self) -> f64 {
        match self {
            Self::Int(v) => v as f64,
            Self::Float(v) => v,
        }
    }

    /// Whether it is not zero.
    pub fn is_true(self) -> bool {
        match self {
            Self::Int(v) => v != 0,
            Self::Float(v) => v != 0.0,
        }
    }
}

/// Brings an integer into the width of `ty` by dropping high bits.
pub fn wrap_int(value: i64, ty: ScalarType) -> i64 {
    match ty {
        ScalarType::Bool => i64::from(value != 0),
        ScalarType::I8 => i64::from(value as i8),
        ScalarType::I16 => i64::from(value as i16),
        ScalarType::I32 => i64::from(value as i32),
        ScalarType::U8 => i64::from(value as u8),
        ScalarType::U16 => i64::from(value as u16),
        ScalarType::U32 => i64::from(value as u32),
        ScalarType::Small(small) => small.wrap_int(value),
        _ => value,
    }
}

/// Rounds a float to the precision of `ty`.
pub fn round_float(value: f64, ty: ScalarType) -> f64 {
    match ty {
        ScalarType::F16 => half::f16::from_f64(value).to_f64(),
        ScalarType::BF16 => half::bf16::from_f64(value).to_f64(),
        ScalarType::F32 => f64::from(value as f32),
        ScalarType::Small(small) => small.round(value),
        _ => value,
    }
}

/// Why an operation has no value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EvalError {
    /// Integer division or remainder by zero.
    #[error("division by zero")]
    DivisionByZero,
    /// A negative power of an integer.
    #[error("an integer to the power of {0}")]
    NegativePower(i64),
    /// A count or size past an `int64`.
    #[error("{a} {op} {b} does not fit an int64")]
    Overflow {
        /// The operator.
        op: &'static str,
        /// The first operand.
        a: i64,
        /// The second operand.
        b: i64,
    },
    /// The operator has no meaning for the type.
    #[error("`{op}` is not defined for {ty}")]
    Undefined {
        /// Name of the operator.
        op: &'static str,
        /// Type of the operands.
        ty: ScalarType,
    },
}

/// `a op b`, where both are of type `ty`.
pub fn eval_binary(op: BinOp, ty: ScalarType, a: Scalar, b: Scalar) -> Result<Scalar, EvalError> {
    if ty.is_float() {
        eval_float_binary(op, ty, a.as_float(), b.as_float())
    } else {
        eval_int_binary(op, ty, a.as_int(), b.as_int()).map(Scalar::Int)
    }
}

/// The remainder with the sign of `b`, as numpy's `mod`: exact until the last step, and 0 has the sign of `b`, too.
fn float_floor_mod(a: f64, b: f64) -> f64 {
    let rest = a % b;
    if rest == 0.0 {
        0f64.copysign(b)
    } else if (rest < 0.0) != (b < 0.0) {
        rest + b
    } else {
        rest
    }
}

fn eval_float_binary(op: BinOp, ty: ScalarType, a: f64, b: f64) -> Result<Scalar, EvalError> {
    let undefined = |op| Err(EvalError::Undefined { op, ty });
    // f32 and narrower: one operation in f64, rounded once to f32, is the correctly rounded f32 result for + - * / sqrt.
    let value = match op {
        BinOp::Add => a + b,
        BinOp::Sub => a - b,
        BinOp::Mul => a * b,
        BinOp::Div => a / b,
        BinOp::Mod => a % b,
        BinOp::FloorDiv => (a / b).floor(),
        BinOp::FloorMod => float_floor_mod(a, b),
        BinOp::Min if a.is_nan() || b.is_nan() => f64::NAN,
        BinOp::Max if a.is_nan() || b.is_nan() => f64::NAN,
        BinOp::Min => a.min(b),
        BinOp::Max => a.max(b),
        BinOp::Eq => return Ok(Scalar::Int((a == b).into())),
        BinOp::Ne => return Ok(Scalar::Int((a != b).into())),
        BinOp::Lt => return Ok(Scalar::Int((a < b).into())),
        BinOp::Le => return Ok(Scalar::Int((a <= b).into())),
        BinOp::Gt => return Ok(Scalar::Int((a > b).into())),
        BinOp::Ge => return Ok(Scalar::Int((a >= b).into())),
        BinOp::And | BinOp::Or => return undefined("and/or"),
        BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor => return undefined("bitwise operation"),
        BinOp::Shl | BinOp::Shr => return undefined("shift"),
    };
    Ok(Scalar::Float(round_float(value, ty)))
}

fn eval_int_binary(op: BinOp, ty: ScalarType, a: i64, b: i64) -> Result<i64, EvalError> {
    let unsigned64 = ty == ScalarType::U64;
    let nonzero = |v: i64| {
        if v == 0 {
            Err(EvalError::DivisionByZero)
        } else {
            Ok(v)
        }
    };
    let less = if unsigned64 {
        (a as u64) < (b as u64)
    } else {
        a < b
    };
    let shift = (b as u64 % u64::from(ty.bits())) as u32;
    let value = match op {
        BinOp::Add => a.wrapping_add(b),
        BinOp::Sub => a.wrapping_sub(b),
        BinOp::Mul => a.wrapping_mul(b),
        BinOp::Div | BinOp::FloorDiv if unsigned64 => (a as u64 / nonzero(b)? as u64) as i64,
        BinOp::Mod | BinOp::FloorMod if unsigned64 => (a as u64 % nonzero(b)? as u64) as i64,
        BinOp::Div => a.wrapping_div(nonzero(b)?),
        BinOp::Mod => a.wrapping_rem(nonzero(b)?),
        BinOp::FloorDiv => floor_div(a, nonzero(b)?),
        BinOp::FloorMod => floor_mod(a, nonzero(b)?),
        BinOp::Min => {
            if less {
                a
            } else {
                b
            }
        }
        BinOp::Max => {
            if less {
                b
            } else {
                a
            }
        }
        BinOp::Eq => (a == b).into(),
        BinOp::Ne => (a != b).into(),
        BinOp::Lt => less.into(),
        BinOp::Le => (less || a == b).into(),
        BinOp::Gt => (!less && a != b).into(),
        BinOp::Ge => (!less).into(),
        BinOp::And => (a != 0 && b != 0).into(),
        BinOp::Or => (a != 0 || b != 0).into(),
        BinOp::BitAnd => a & b,
        BinOp::BitOr => a | b,
        BinOp::BitXor => a ^ b,
        BinOp::Shl => a.wrapping_shl(shift),
        BinOp::Shr if unsigned64 => ((a as u64) >> shift) as i64,
        BinOp::Shr => a >> shift,
    };
    Ok(if op.is_comparison() || op.is_logical() {
        value
    } else {
        wrap_int(value, ty)
    })
}

/// `base` to a power, without the bits past 64.
pub fn wrapping_pow(base: i64, exponent: u64) -> i64 {
    let (mut power, mut square, mut rest) = (1i64, base, exponent);
    while rest != 0 {
        if rest & 1 == 1 {
            power = power.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        rest >>= 1;
    }
    power
}

/// Division towards minus infinity. The divisor is not zero.
pub fn floor_div(a: i64, b: i64) -> i64 {
    let q = a.wrapping_div(b);
    if a.wrapping_rem(b) != 0 && (a < 0) != (b < 0) {
        q - 1
    } else {
        q
    }
}

/// Remainder with the sign of the divisor. The divisor is not zero.
pub fn floor_mod(a: i64, b: i64) -> i64 {
    let r = a.wrapping_rem(b);
    if r != 0 && (r < 0) != (b < 0) {
        r + b
    } else {
        r
    }
}

/// The value converted from type `from` to type `to`: floats to integers saturate (as Rust's `as`), integers wrap.
pub fn eval_cast(value: Scalar, from: ScalarType, to: ScalarType) -> Scalar {
    match (from.is_float(), to) {
        (_, ScalarType::Bool) => Scalar::Int(value.is_true().into()),
        (true, to) if to.is_float() => Scalar::Float(round_float(value.as_float(), to)),
        (true, ScalarType::U64) => Scalar::Int(value.as_float() as u64 as i64),
        (true, to) => {
            let (low, high) = to.int_range().expect("an integer type has a range");
            Scalar::Int((value.as_float() as i64).clamp(low, high))
        }
        (false, to) if to.is_float() => {
            let int = value.as_int();
            let exact = if from == ScalarType::U64 {
                int as u64 as f64
            } else {
                int as f64
            };
            // i64 -> f32 must round once, not twice.
            let value = match to {
                ScalarType::F32 if from == ScalarType::U64 => f64::from(int as u64 as f32),
                ScalarType::F32 => f64::from(int as f32),
                _ => round_float(exact, to),
            };
            Scalar::Float(value)
        }
        (false, to) => Scalar::Int(wrap_int(value.as_int(), to)),
    }
}

/// The intrinsic applied to arguments of type `ty`; floats are computed in `f64` and rounded.
pub fn eval_intrin(intrin: Intrin, ty: ScalarType, args: &[Scalar]) -> Result<Scalar, EvalError> {
    let x = args[0];
    let arg = |i: usize| args[i].as_float();
    let undefined = Err(EvalError::Undefined {
        op: intrin.name(),
        ty,
    });
    if !ty.is_float() {
        let v = x.as_int();
        let width = ty.bits();
        let mask = if width == 64 {
            u64::MAX
        } else {
            (1 << width) - 1
        };
        let bits = v as u64 & mask;
        let value = match intrin {
            Intrin::Abs if ty == ScalarType::U64 => v,
            Intrin::Abs => v.wrapping_abs(),
            Intrin::Popcount => bits.count_ones().into(),
            Intrin::Clz => (bits.leading_zeros() - (64 - width)).into(),
            Intrin::BitNot => !v,
            Intrin::IsNan | Intrin::IsInf => 0,
            Intrin::IsFinite => 1,
            Intrin::Floor | Intrin::Ceil | Intrin::Trunc | Intrin::Round => v,
            Intrin::Fma => v
                .wrapping_mul(args[1].as_int())
                .wrapping_add(args[2].as_int()),
            Intrin::Pow if args[1].as_int() >= 0 || ty == ScalarType::U64 => {
                wrapping_pow(v, args[1].as_int() as u64)
            }
            Intrin::Pow => return Err(EvalError::NegativePower(args[1].as_int())),
            Intrin::Dp4aU8S8 if ty == ScalarType::I32 => {
                let [a, b] = [v, args[1].as_int()].map(|word| (word as i32).to_le_bytes());
                let bytes = a.into_iter().zip(b);
                let sum: i64 = bytes.map(|(a, b)| i64::from(a) * i64::from(b as i8)).sum();
                args[2].as_int() + sum
            }
            Intrin::QMultiplyShift if ty == ScalarType::I32 => {
                let [y, q, s] = [1, 2, 3].map(|i| args[i].as_int());
                let right = q.wrapping_add((-s).max(0)) as u32;
                let half = 1_i64.wrapping_shl(right.wrapping_sub(1));
                let product = v.wrapping_shl(s.max(0) as u32).wrapping_mul(y);
                product.wrapping_add(half).wrapping_shr(right)
            }
            _ => return undefined,
        };
        return Ok(Scalar::Int(if intrin.is_predicate() {
            value
        } else {
            wrap_int(value, ty)
        }));
    }
    let x = x.as_float();
    let value = match intrin {
        Intrin::Exp => x.exp(),
        Intrin::Exp2 => x.exp2(),
        Intrin::Exp10 => libm::exp10(x),
        Intrin::Log => x.ln(),
        Intrin::Log2 => x.log2(),
        Intrin::Log10 => x.log10(),
        Intrin::Log1p => x.ln_1p(),
        Intrin::Expm1 => x.exp_m1(),
        Intrin::Sqrt => x.sqrt(),
        Intrin::Rsqrt => 1.0 / x.sqrt(),
        Intrin::Sin => x.sin(),
        Intrin::Cos => x.cos(),
        Intrin::Tan => x.tan(),
        Intrin::Sinh => x.sinh(),
        Intrin::Cosh => x.cosh(),
        Intrin::Tanh => x.tanh(),
        Intrin::Asin => x.asin(),
        Intrin::Acos => x.acos(),
        Intrin::Atan => x.atan(),
        Intrin::Asinh => x.asinh(),
        Intrin::Acosh => x.acosh(),
        Intrin::Atanh => x.atanh(),
        Intrin::Atan2 => x.atan2(arg(1)),
        Intrin::Erf => libm::erf(x),
        Intrin::Sigmoid => 1.0 / (1.0 + (-x).exp()),
        Intrin::Pow => x.powf(arg(1)),
        Intrin::Fmod => x % arg(1),
        Intrin::Floor => x.floor(),
        Intrin::Ceil => x.ceil(),
        Intrin::Trunc => x.trunc(),
        Intrin::Round => x.round_ties_even(),
        Intrin::Abs => x.abs(),
        Intrin::Fma => x.mul_add(arg(1), arg(2)),
        Intrin::IsNan => return Ok(Scalar::Int(x.is_nan().into())),
        Intrin::IsInf => return Ok(Scalar::Int(x.is_infinite().into())),
        Intrin::IsFinite => return Ok(Scalar::Int(x.is_finite().into())),
        Intrin::Popcount
        | Intrin::Clz
        | Intrin::BitNot
        | Intrin::QMultiplyShift
        | Intrin::Dp4aU8S8 => {
            return undefined;
        }
    };
    Ok(Scalar::Float(round_float(value, ty)))
}

/// The element that these bytes hold, in host byte order.
pub fn decode(bytes: &[u8], ty: ScalarType) -> Scalar {
    match ty {
        ScalarType::Bool => Scalar::Int((bytes[0] != 0).into()),
        ScalarType::I8 => Scalar::Int((bytes[0] as i8).into()),
        ScalarType::U8 => Scalar::Int(bytes[0].into()),
        ScalarType::I16 => Scalar::Int(bytemuck::pod_read_unaligned::<i16>(bytes).into()),
        ScalarType::U16 => Scalar::Int(bytemuck::pod_read_unaligned::<u16>(bytes).into()),
        ScalarType::I32 => Scalar::Int(bytemuck::pod_read_unaligned::<i32>(bytes).into()),
        ScalarType::U32 => Scalar::Int(bytemuck::pod_read_unaligned::<u32>(bytes).into()),
        ScalarType::I64 | ScalarType::U64 => {
            Scalar::Int(bytemuck::pod_read_unaligned::<i64>(bytes))
        }
        ScalarType::F16 => Scalar::Float(bytemuck::pod_read_unaligned::<half::f16>(bytes).to_f64()),
        ScalarType::BF16 => {
            Scalar::Float(bytemuck::pod_read_unaligned::<half::bf16>(bytes).to_f64())
        }
        ScalarType::F32 => Scalar::Float(bytemuck::pod_read_unaligned::<f32>(bytes).into()),
        ScalarType::F64 => Scalar::Float(bytemuck::pod_read_unaligned::<f64>(bytes)),
        ScalarType::Small(small) if small.is_float() => Scalar::Float(small.decode_float(bytes[0])),
        ScalarType::Small(small) => Scalar::Int(small.wrap_int(bytes[0].into())),
    }
}

/// The bytes of an element, in host byte order.
pub fn encode(value: Scalar, ty: ScalarType, out: &mut [u8]) {
    let (int, float) = (value.as_int(), value.as_float());
    match ty {
        ScalarType::Bool | ScalarType::I8 | ScalarType::U8 => out[0] = int as u8,
        ScalarType::I16 | ScalarType::U16 => out.copy_from_slice(&(int as u16).to_ne_bytes()),
        ScalarType::I32 | ScalarType::U32 => out.copy_from_slice(&(int as u32).to_ne_bytes()),
        ScalarType::I64 | ScalarType::U64 => out.copy_from_slice(&int.to_ne_bytes()),
        ScalarType::F16 => out.copy_from_slice(&half::f16::from_f64(float).to_ne_bytes()),
        ScalarType::BF16 => out.copy_from_slice(&half::bf16::from_f64(float).to_ne_bytes()),
        ScalarType::F32 => out.copy_from_slice(&(float as f32).to_ne_bytes()),
        ScalarType::F64 => out.copy_from_slice(&float.to_ne_bytes()),
        ScalarType::Small(small) if small.is_float() => out[0] = small.encode_float(float),
        ScalarType::Small(small) => out[0] = small.wrap_int(int) as u8,
    }
}
