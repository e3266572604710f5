//! Numbers that Python computes before TVM sees them: literals, and arithmetic on literals alone.

use ruff_python_ast as ast;

use super::context::{float_literal, int_literal};
use crate::ir::Expr;
use crate::tensor::DType;
use crate::tensor::scalar::{floor_div, floor_mod};

/// A number without a type of its own.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Number {
    Int(i64),
    Float(f64),
}

impl Number {
    /// The value of an expression of literals; `None` if something else occurs in it, or the result is none that is held exactly.
    pub(super) fn of(node: &ast::Expr) -> Option<Self> {
        match node {
            _ if let Some(value) = int_literal(node) => Some(Self::Int(value)),
            _ if let Some(value) = float_literal(node) => Some(Self::Float(value)),
            ast::Expr::UnaryOp(op) => {
                let value = Self::of(&op.operand)?;
                match (op.op, value) {
                    (ast::UnaryOp::UAdd, value) => Some(value),
                    (ast::UnaryOp::USub, Self::Int(v)) => v.checked_neg().map(Self::Int),
                    (ast::UnaryOp::USub, Self::Float(v)) => Some(Self::Float(-v)),
                    (ast::UnaryOp::Invert, Self::Int(v)) => Some(Self::Int(!v)),
                    (ast::UnaryOp::Invert, Self::Float(_)) | (ast::UnaryOp::Not, _) => None,
                }
            }
            ast::Expr::BinOp(op) => match (Self::of(&op.left)?, Self::of(&op.right)?) {
                (Self::Int(a), Self::Int(b)) => of_ints(op.op, a, b),
                (a, b) => of_floats(op.op, a.as_float(), b.as_float()),
            },
            _ => None,
        }
    }

    /// The number as a constant of this type, if it is of a kind that the type has and the type holds it.
    pub(super) fn as_dtype(self, dtype: DType) -> Option<Expr> {
        if dtype.is_vector() {
            return None;
        }
        match self {
            _ if dtype.is_float() => Some(Expr::float(self.as_float(), dtype)),
            Self::Int(v) if dtype.is_int() => {
                let (low, high) = dtype.scalar.int_range()?;
                (low..=high).contains(&v).then(|| Expr::int(v, dtype))
            }
            Self::Int(_) | Self::Float(_) => None,
        }
    }

    /// The number alone: `int32`, or `int64` where that is too narrow; `float32`.
    pub(super) fn alone(self) -> Expr {
        match self {
            Self::Int(v) => i32::try_from(v).map_or(Expr::i64(v), Expr::i32),
            Self::Float(v) => Expr::float(v, DType::F32),
        }
    }

    /// The number as Python converts it to a float.
    pub(super) fn as_float(self) -> f64 {
        match self {
            Self::Int(v) => v as f64,
            Self::Float(v) => v,
        }
    }
}

fn of_ints(op: ast::Operator, a: i64, b: i64) -> Option<Number> {
    let shift = || u32::try_from(b).ok().filter(|&by| by < i64::BITS);
    let value = match op {
        ast::Operator::Add => a.checked_add(b),
        ast::Operator::Sub => a.checked_sub(b),
        ast::Operator::Mult => a.checked_mul(b),
        ast::Operator::FloorDiv if a != i64::MIN || b != -1 => (b != 0).then(|| floor_div(a, b)),
        ast::Operator::Mod => (b != 0).then(|| floor_mod(a, b)),
        ast::Operator::Pow if b >= 0 => a.checked_pow(u32::try_from(b).ok()?),
        ast::Operator::BitAnd => Some(a & b),
        ast::Operator::BitOr => Some(a | b),
        ast::Operator::BitXor => Some(a ^ b),
        ast::Operator::LShift => a.checked_mul(1i64.checked_shl(shift()?)?),
        ast::Operator::RShift => Some(a >> shift()?),
        ast::Operator::Div | ast::Operator::Pow => return of_floats(op, a as f64, b as f64),
        ast::Operator::FloorDiv | ast::Operator::MatMult => None,
    };
    value.map(Number::Int)
}

fn of_floats(op: ast::Operator, a: f64, b: f64) -> Option<Number> {
    let value = match op {
        ast::Operator::Add => a + b,
        ast::Operator::Sub => a - b,
        ast::Operator::Mult => a * b,
        ast::Operator::Div if b != 0.0 => a / b,
        ast::Operator::Pow if a > 0.0 => a.powf(b),
        _ => return None,
    };
    Some(Number::Float(value))
}
