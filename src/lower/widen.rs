//! One type for index arithmetic: `int32` and `int64` loop variables meet in one program (`T.grid(n, 64)` with an `int64` n), and
//! conversions between them would hide sums from the simplifier. Lowering computes all indices as `int64`; emission chooses
//! the type that the target likes.

use crate::ir::{Expr, ExprKind};
use crate::tensor::scalar::BinOp;
use crate::tensor::{DType, ScalarType};

/// Whether the expression makes an `int64` index of data that fits every index type: a row number read from a tensor, or a
/// coordinate computed in floats, which a conversion to `int32` cuts to the nearest value, further out than any element.
pub(super) fn is_narrow_cast(e: &Expr) -> bool {
    let ExprKind::Cast(a) = e.kind() else {
        return false;
    };
    let narrow = |e: &Expr| match e.dtype().scalar {
        ScalarType::I32 => true,
        other => other.is_int() && other.bytes() < 4,
    };
    e.dtype() == DType::I64 && (narrow(a) && !is_index(a) || is_coordinate(e))
}

/// Whether the expression makes an `int64` index of a float.
pub(super) fn is_coordinate(e: &Expr) -> bool {
    matches!(e.kind(), ExprKind::Cast(a) if e.dtype() == DType::I64 && a.dtype().is_float() && !a.dtype().is_vector())
}

/// Whether an integer expression is made of loop variables, dims, constants and narrow data alone, so that it may be computed
/// in the index type.
pub(super) fn is_index(e: &Expr) -> bool {
    if !matches!(e.dtype().scalar, ScalarType::I32 | ScalarType::I64) || e.dtype().is_vector() {
        return false;
    }
    match e.kind() {
        ExprKind::Int(_) | ExprKind::Var(_) => !e.is_data(),
        ExprKind::Cast(a) => is_index(a) || is_narrow_cast(e),
        ExprKind::Binary(op, a, b) if as_arithmetic(*op, b).is_some() => is_index(a),
        ExprKind::Binary(op, a, b) => {
            matches!(
                op,
                BinOp::Add
                    | BinOp::Sub
                    | BinOp::Mul
                    | BinOp::FloorDiv
                    | BinOp::FloorMod
                    | BinOp::Div
                    | BinOp::Mod
                    | BinOp::Min
                    | BinOp::Max
            ) && is_index(a)
                && is_index(b)
        }
        ExprKind::Select(_, a, b) | ExprKind::IfThenElse(_, a, b) => is_index(a) && is_index(b),
        ExprKind::Float(_)
        | ExprKind::Not(_)
        | ExprKind::Load(_, _)
        | ExprKind::Ramp {
            base: _,
            stride: _,
            lanes: _,
        }
        | ExprKind::Broadcast(_, _)
        | ExprKind::Call(_, _)
        | ExprKind::Reinterpret(_)
        | ExprKind::External(_, _)
        | ExprKind::Str(_)
        | ExprKind::Data(_)
        | ExprKind::Let {
            var: _,
            value: _,
            body: _,
        } => false,
    }
}

/// What a shift or mask of an index by a constant computes: `x << c = x * 2^c`, `x >> c = x // 2^c`, `x & (2^c - 1) = x % 2^c`.
fn as_arithmetic(op: BinOp, b: &Expr) -> Option<(BinOp, i64)> {
    let value = b.as_int()?;
    let power = |c: i64| (0..31).contains(&c).then(|| 1 << c);
    match op {
        BinOp::Shl => Some((BinOp::Mul, power(value)?)),
        BinOp::Shr => Some((BinOp::FloorDiv, power(value)?)),
        BinOp::BitAnd => {
            let count = value.checked_add(1).filter(|count| *count > 0)?;
            (count.count_ones() == 1).then_some((BinOp::FloorMod, count))
        }
        _ => None,
    }
}

/// An index as `int64`, without conversions inside; any other expression with its indices so.
pub(super) fn widen(e: &Expr) -> Expr {
    if !is_index(e) {
        return widen_inside(e);
    }
    match e.kind() {
        ExprKind::Int(v) => Expr::i64(*v),
        ExprKind::Cast(a) if is_narrow_cast(e) => widen_inside(a).cast(DType::I64),
        ExprKind::Cast(a) => widen(a),
        ExprKind::Binary(op, a, b) => match as_arithmetic(*op, b) {
            Some((op, b)) => Expr::binary(op, widen(a), Expr::i64(b)),
            None => Expr::binary(*op, widen(a), widen(b)),
        },
        ExprKind::Select(c, a, b) => Expr::select(widen_inside(c), widen(a), widen(b)),
        ExprKind::IfThenElse(c, a, b) => Expr::if_then_else(widen_inside(c), widen(a), widen(b)),
        _ => e.cast(DType::I64),
    }
}

/// The expression, of the same type, with the indices inside as `int64`.
pub(super) fn widen_inside(e: &Expr) -> Expr {
    if is_index(e) {
        return widen(e).cast(e.dtype());
    }
    match e.kind() {
        ExprKind::Load(buffer, indices) => Expr::load(buffer, indices.iter().map(widen).collect()),
        ExprKind::Binary(op, a, b) if op.is_comparison() && is_index(a) && is_index(b) => {
            Expr::binary(*op, widen(a), widen(b))
        }
        _ => e.map_children(&mut widen_inside),
    }
}
