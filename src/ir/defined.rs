//! For which types an operator or function has a meaning: one answer for the parser and the verifier.

use crate::tensor::scalar::{BinOp, Intrin};
use crate::tensor::{DType, ScalarType};

/// Whether a binary operator is defined for operands of this type.
pub(crate) fn operator(op: BinOp, dtype: DType) -> bool {
    match op {
        BinOp::Add
        | BinOp::Sub
        | BinOp::Mul
        | BinOp::Div
        | BinOp::Mod
        | BinOp::FloorDiv
        | BinOp::FloorMod
        | BinOp::Min
        | BinOp::Max
        | BinOp::Lt
        | BinOp::Le
        | BinOp::Gt
        | BinOp::Ge => !dtype.is_bool(),
        BinOp::Eq | BinOp::Ne => true,
        BinOp::And | BinOp::Or => dtype.is_bool(),
        BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor => !dtype.is_float(),
        BinOp::Shl | BinOp::Shr => dtype.is_int(),
    }
}

/// Whether an intrinsic function is defined for arguments of this type.
pub(crate) fn intrinsic(intrin: Intrin, dtype: DType) -> bool {
    match intrin {
        Intrin::Exp
        | Intrin::Exp2
        | Intrin::Exp10
        | Intrin::Log
        | Intrin::Log2
        | Intrin::Log10
        | Intrin::Log1p
        | Intrin::Expm1
        | Intrin::Fmod
        | Intrin::Sqrt
        | Intrin::Rsqrt
        | Intrin::Sin
        | Intrin::Cos
        | Intrin::Tan
        | Intrin::Sinh
        | Intrin::Cosh
        | Intrin::Tanh
        | Intrin::Asin
        | Intrin::Acos
        | Intrin::Atan
        | Intrin::Asinh
        | Intrin::Acosh
        | Intrin::Atanh
        | Intrin::Atan2
        | Intrin::Erf
        | Intrin::Sigmoid => dtype.is_float(),
        Intrin::Pow
        | Intrin::Floor
        | Intrin::Ceil
        | Intrin::Trunc
        | Intrin::Round
        | Intrin::Abs
        | Intrin::IsNan
        | Intrin::IsInf
        | Intrin::IsFinite
        | Intrin::Fma => !dtype.is_bool(),
        Intrin::Popcount | Intrin::Clz | Intrin::BitNot => dtype.is_int(),
        Intrin::QMultiplyShift | Intrin::Dp4aU8S8 => dtype.scalar == ScalarType::I32,
    }
}
