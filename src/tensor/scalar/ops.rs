//! The operators by name.

use serde::{Deserialize, Serialize};

use super::{Scalar, wrap_int};
use crate::tensor::ScalarType;

/// Binary operators. Comparisons give `bool`; the others the type of their operands.
///
/// Division and remainder of integers by zero have no meaning: the interpreter reports them, devices give some number and never
/// trap.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum BinOp {
    /// `a + b`
    Add,
    /// `a - b`
    Sub,
    /// `a * b`
    Mul,
    /// `a / b`: true division of floats, division towards zero of integers (TVM: `Div`, `T.truncdiv`).
    Div,
    /// Remainder with the sign of the dividend (TVM: `Mod`, `T.truncmod`).
    Mod,
    /// `a // b`: division towards minus infinity.
    FloorDiv,
    /// `a % b`: remainder with the sign of the divisor.
    FloorMod,
    /// The smaller one; NaN if either is NaN.
    Min,
    /// The greater one; NaN if either is NaN.
    Max,
    /// `a == b`
    Eq,
    /// `a != b`
    Ne,
    /// `a < b`
    Lt,
    /// `a <= b`
    Le,
    /// `a > b`
    Gt,
    /// `a >= b`
    Ge,
    /// Logical and, of `bool`.
    And,
    /// Logical or, of `bool`.
    Or,
    /// `a & b`
    BitAnd,
    /// `a | b`
    BitOr,
    /// `a ^ b`
    BitXor,
    /// `a << b`; the shift is taken modulo the width.
    Shl,
    /// `a >> b`, arithmetic for signed types; the shift is taken modulo the width.
    Shr,
}

impl BinOp {
    /// How programs and messages write it: as an operator, or the name of a function.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Sub => "-",
            Self::Mul => "*",
            Self::Div => "/",
            Self::FloorDiv => "//",
            Self::FloorMod => "%",
            Self::Eq => "==",
            Self::Ne => "!=",
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
            Self::And => "and",
            Self::Or => "or",
            Self::BitAnd => "&",
            Self::BitOr => "|",
            Self::BitXor => "^",
            Self::Shl => "<<",
            Self::Shr => ">>",
            Self::Mod => "truncmod",
            Self::Min => "min",
            Self::Max => "max",
        }
    }

    /// Whether it is `==`, `!=`, `<`, `<=`, `>` or `>=`.
    pub fn is_comparison(self) -> bool {
        matches!(
            self,
            Self::Eq | Self::Ne | Self::Lt | Self::Le | Self::Gt | Self::Ge
        )
    }

    /// The value `e` with `e op x = x` for all `x` of the type, if operands of the operator may be taken in any order and any
    /// grouping. Floating-point addition and multiplication count as such operators.
    pub fn identity(self, ty: ScalarType) -> Option<Scalar> {
        let of_type = |value: i64| match ty.is_float() {
            true => Scalar::Float(value as f64),
            false => Scalar::Int(value),
        };
        match self {
            Self::Add | Self::BitOr | Self::BitXor | Self::Or => Some(of_type(0)),
            Self::Mul | Self::And => Some(of_type(1)),
            Self::Max if ty.is_float() => Some(Scalar::Float(f64::NEG_INFINITY)),
            Self::Min if ty.is_float() => Some(Scalar::Float(f64::INFINITY)),
            // By its bits.
            Self::Min if ty == ScalarType::U64 => Some(Scalar::Int(-1)),
            Self::Max => ty.int_range().map(|(least, _)| Scalar::Int(least)),
            Self::Min => ty.int_range().map(|(_, greatest)| Scalar::Int(greatest)),
            Self::BitAnd if !ty.is_float() => Some(Scalar::Int(wrap_int(-1, ty))),
            _ => None,
        }
    }

    /// The comparison that gives the same with its operands exchanged.
    pub fn mirrored(self) -> Option<Self> {
        Some(match self {
            Self::Eq | Self::Ne => self,
            Self::Lt => Self::Gt,
            Self::Le => Self::Ge,
            Self::Gt => Self::Lt,
            Self::Ge => Self::Le,
            _ => return None,
        })
    }

    /// Whether it is `and` or `or`.
    pub fn is_logical(self) -> bool {
        matches!(self, Self::And | Self::Or)
    }
}

/// Intrinsic functions of elements, named as in TVM's `T.<name>`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[expect(
    missing_docs,
    reason = "each is the function of its name in C's math library"
)]
pub enum Intrin {
    Exp,
    Exp2,
    Exp10,
    Log,
    Log2,
    Log10,
    Log1p,
    Expm1,
    Sqrt,
    Rsqrt,
    Sin,
    Cos,
    Tan,
    Sinh,
    Cosh,
    Tanh,
    Asin,
    Acos,
    Atan,
    Asinh,
    Acosh,
    Atanh,
    Atan2,
    Erf,
    Sigmoid,
    Pow,
    /// Remainder with the sign of the dividend, exact.
    Fmod,
    Floor,
    Ceil,
    Trunc,
    /// Ties to even (TVM: `round`, `nearbyint`).
    Round,
    Abs,
    IsNan,
    IsInf,
    IsFinite,
    /// `a * b + c`; rounded once or twice, as the target likes.
    Fma,
    Popcount,
    Clz,
    BitNot,
    /// Fixed point: `x * y * 2^(s - q)` of `(x, y, q, s)`, computed in 64 bits and rounded, ties up. Of `int32` alone.
    QMultiplyShift,
    /// `c` and the products of the four bytes of `a`, unsigned, by those of `b`, signed, of `(a, b, c)`. Of `int32` alone. TVM has a
    /// tensor intrinsic of this name.
    Dp4aU8S8,
}

impl Intrin {
    /// All intrinsics.
    pub const ALL: [Self; 41] = [
        Self::Exp,
        Self::Exp2,
        Self::Exp10,
        Self::Log,
        Self::Log2,
        Self::Log10,
        Self::Log1p,
        Self::Expm1,
        Self::Sqrt,
        Self::Rsqrt,
        Self::Sin,
        Self::Cos,
        Self::Tan,
        Self::Sinh,
        Self::Cosh,
        Self::Tanh,
        Self::Asin,
        Self::Acos,
        Self::Atan,
        Self::Asinh,
        Self::Acosh,
        Self::Atanh,
        Self::Atan2,
        Self::Erf,
        Self::Sigmoid,
        Self::Pow,
        Self::Fmod,
        Self::Floor,
        Self::Ceil,
        Self::Trunc,
        Self::Round,
        Self::Abs,
        Self::IsNan,
        Self::IsInf,
        Self::IsFinite,
        Self::Fma,
        Self::Popcount,
        Self::Clz,
        Self::BitNot,
        Self::QMultiplyShift,
        Self::Dp4aU8S8,
    ];

    /// TVM's name, as in `T.exp`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exp => "exp",
            Self::Exp2 => "exp2",
            Self::Exp10 => "exp10",
            Self::Log => "log",
            Self::Log2 => "log2",
            Self::Log10 => "log10",
            Self::Log1p => "log1p",
            Self::Expm1 => "expm1",
            Self::Sqrt => "sqrt",
            Self::Rsqrt => "rsqrt",
            Self::Sin => "sin",
            Self::Cos => "cos",
            Self::Tan => "tan",
            Self::Sinh => "sinh",
            Self::Cosh => "cosh",
            Self::Tanh => "tanh",
            Self::Asin => "asin",
            Self::Acos => "acos",
            Self::Atan => "atan",
            Self::Asinh => "asinh",
            Self::Acosh => "acosh",
            Self::Atanh => "atanh",
            Self::Atan2 => "atan2",
            Self::Erf => "erf",
            Self::Sigmoid => "sigmoid",
            Self::Pow => "pow",
            Self::Fmod => "fmod",
            Self::Floor => "floor",
            Self::Ceil => "ceil",
            Self::Trunc => "trunc",
            Self::Round => "round",
            Self::Abs => "abs",
            Self::IsNan => "isnan",
            Self::IsInf => "isinf",
            Self::IsFinite => "isfinite",
            Self::Fma => "fma",
            Self::Popcount => "popcount",
            Self::Clz => "clz",
            Self::BitNot => "bitwise_not",
            Self::QMultiplyShift => "q_multiply_shift",
            Self::Dp4aU8S8 => "dp4a_u8s8s32",
        }
    }

    /// Number of arguments.
    pub fn arity(self) -> usize {
        match self {
            Self::Pow | Self::Fmod | Self::Atan2 => 2,
            Self::Fma | Self::Dp4aU8S8 => 3,
            Self::QMultiplyShift => 4,
            _ => 1,
        }
    }

    /// Whether the result is `bool` and not the type of the first argument.
    pub fn is_predicate(self) -> bool {
        matches!(self, Self::IsNan | Self::IsInf | Self::IsFinite)
    }
}
