//! Prints arithmetic, with no more parentheses than Python needs.

use super::namer::Namer;
use super::value;
use crate::ir::{Expr, ExprKind, External, ExternalType, Range};
use crate::tensor::scalar::BinOp;
use crate::tensor::{DType, ScalarType};

/// How tightly an expression binds, loosest first (Python's table).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Or,
    And,
    Not,
    Compare,
    BitOr,
    BitXor,
    BitAnd,
    Shift,
    Sum,
    Product,
    Atom,
}

/// The expression as text.
pub(super) fn expr(namer: &mut Namer, e: &Expr) -> String {
    with_level(namer, e).0
}

/// The expressions with commas between them.
pub(super) fn list<'e>(namer: &mut Namer, exprs: impl IntoIterator<Item = &'e Expr>) -> String {
    let all: Vec<String> = exprs.into_iter().map(|e| expr(namer, e)).collect();
    all.join(", ")
}

/// A tuple, as of a shape; the integers of a shape are printed without their type.
pub(super) fn shape(namer: &mut Namer, dims: &[Expr]) -> String {
    let dims: Vec<String> = dims.iter().map(|dim| dim_text(namer, dim)).collect();
    match &dims[..] {
        [one] => format!("({one},)"),
        many => format!("({})", many.join(", ")),
    }
}

/// An extent of a shape.
fn dim_text(namer: &mut Namer, dim: &Expr) -> String {
    match dim.as_int() {
        Some(value) if dim.dtype() == DType::I64 => value.to_string(),
        _ => expr(namer, dim),
    }
}

/// Indices of an access.
pub(super) fn indices(namer: &mut Namer, indices: &[Expr]) -> String {
    if indices.is_empty() {
        return "()".to_owned();
    }
    let all: Vec<String> = indices
        .iter()
        .map(|index| match index.kind() {
            ExprKind::Ramp {
                base,
                stride,
                lanes,
            } if stride.is_one() => {
                let end = end_of(base, &Expr::constant((*lanes).into(), base.dtype()));
                format!("{}:{}", expr(namer, base), expr(namer, &end))
            }
            _ => expr(namer, index),
        })
        .collect();
    all.join(", ")
}

/// One dimension of a region: a point, or `min:end`.
pub(super) fn range(namer: &mut Namer, range: &Range) -> String {
    if range.extent.is_one() {
        return expr(namer, &range.min);
    }
    let end = end_of(&range.min, &range.extent);
    format!("{}:{}", expr(namer, &range.min), expr(namer, &end))
}

/// `min + extent`, in the form that is read back as these two.
pub(super) fn end_of(min: &Expr, extent: &Expr) -> Expr {
    match (min.as_int(), extent.as_int()) {
        (Some(0), _) => extent.clone(),
        _ if let Some((end, start)) = extent.as_binary(BinOp::Sub)
            && start == min =>
        {
            end.clone()
        }
        (Some(m), Some(e)) => Expr::int(m.wrapping_add(e), extent.dtype()),
        _ => Expr::binary(BinOp::Add, min.clone(), extent.clone()),
    }
}

fn with_level(namer: &mut Namer, e: &Expr) -> (String, Level) {
    let atom = |text: String| (text, Level::Atom);
    match e.kind() {
        ExprKind::Int(value) => atom(int(*value, e.dtype())),
        ExprKind::Float(value) => atom(float(*value, e.dtype())),
        ExprKind::Var(var) => atom(namer.var(var)),
        ExprKind::Cast(value) => atom(format!("T.Cast(\"{}\", {})", e.dtype(), expr(namer, value))),
        ExprKind::Binary(op, a, b) => binary(namer, *op, a, b),
        ExprKind::Not(value) => (
            format!("not {}", at_least(namer, value, Level::Not)),
            Level::Not,
        ),
        ExprKind::Select(c, a, b) => atom(format!("T.Select({})", list(namer, [c, a, b]))),
        ExprKind::IfThenElse(c, a, b) => {
            atom(format!("T.if_then_else({})", list(namer, [c, a, b])))
        }
        ExprKind::Load(buffer, at) => {
            let name = namer.buffer(buffer);
            atom(format!("{name}[{}]", indices(namer, at)))
        }
        ExprKind::Ramp {
            base,
            stride,
            lanes,
        } => atom(format!("T.Ramp({}, {lanes})", list(namer, [base, stride]))),
        ExprKind::Broadcast(value, lanes) => {
            atom(format!("T.Broadcast({}, {lanes})", expr(namer, value)))
        }
        ExprKind::Call(intrin, args) => atom(format!("T.{}({})", intrin.name(), list(namer, args))),
        ExprKind::Reinterpret(value) => atom(format!(
            "T.reinterpret(\"{}\", {})",
            e.dtype(),
            expr(namer, value)
        )),
        ExprKind::External(external, args) => {
            if let (External::CallFunction, Some((name, args))) = (*external, args.split_first())
                && let ExprKind::Str(name) = name.kind()
            {
                return atom(format!("Module.{name}({})", list(namer, args)));
            }
            let written = format!("\"{}\"", e.dtype());
            let mut all: Vec<String> = args.iter().map(|arg| expr(namer, arg)).collect();
            match external.result() {
                ExternalType::Written => all.insert(0, written),
                ExternalType::WrittenLast => all.push(written),
                ExternalType::Fixed(_) | ExternalType::Operand(_) => {}
            }
            atom(format!("T.{}({})", external.name(), all.join(", ")))
        }
        ExprKind::Str(text) => atom(value::string(text)),
        ExprKind::Data(buffer) => atom(format!("{}.data", namer.buffer(buffer))),
        ExprKind::Let { var, value, body } => {
            let value = expr(namer, value);
            namer.push();
            let name = namer.define_var(var);
            let body = expr(namer, body);
            namer.pop();
            atom(format!("T.Let({body}, where={{{name}: {value}}})"))
        }
    }
}

/// The expression, in parentheses if it binds less tightly than `level`.
fn at_least(namer: &mut Namer, e: &Expr, level: Level) -> String {
    let (text, own) = with_level(namer, e);
    if own < level {
        format!("({text})")
    } else {
        text
    }
}

fn binary(namer: &mut Namer, op: BinOp, a: &Expr, b: &Expr) -> (String, Level) {
    let constant = |e: &Expr| matches!(e.kind(), ExprKind::Int(_) | ExprKind::Float(_));
    // Python computes on constants itself, and has no operator that divides integers towards zero.
    let truncates =
        matches!(op, BinOp::Div | BinOp::Mod) && !(op == BinOp::Div && a.dtype().is_float());
    let Some((symbol, level)) = operator(op).filter(|_| !(truncates || constant(a) && constant(b)))
    else {
        return (
            format!("T.{}({})", function(op), list(namer, [a, b])),
            Level::Atom,
        );
    };
    let right_level = match level {
        Level::Or | Level::And => following(level),
        Level::Compare => Level::BitOr,
        other => following(other),
    };
    let left_level = if level == Level::Compare {
        Level::BitOr
    } else {
        level
    };
    let (a, b) = (
        at_least(namer, a, left_level),
        at_least(namer, b, right_level),
    );
    (format!("{a} {symbol} {b}"), level)
}

/// The next tighter level.
fn following(level: Level) -> Level {
    match level {
        Level::Or => Level::And,
        Level::And => Level::Not,
        Level::Not => Level::Compare,
        Level::Compare => Level::BitOr,
        Level::BitOr => Level::BitXor,
        Level::BitXor => Level::BitAnd,
        Level::BitAnd => Level::Shift,
        Level::Shift => Level::Sum,
        Level::Sum => Level::Product,
        Level::Product | Level::Atom => Level::Atom,
    }
}

fn operator(op: BinOp) -> Option<(&'static str, Level)> {
    Some(match op {
        BinOp::Add => ("+", Level::Sum),
        BinOp::Sub => ("-", Level::Sum),
        BinOp::Mul => ("*", Level::Product),
        BinOp::Div => ("/", Level::Product),
        BinOp::FloorDiv => ("//", Level::Product),
        BinOp::FloorMod => ("%", Level::Product),
        BinOp::Eq => ("==", Level::Compare),
        BinOp::Ne => ("!=", Level::Compare),
        BinOp::Lt => ("<", Level::Compare),
        BinOp::Le => ("<=", Level::Compare),
        BinOp::Gt => (">", Level::Compare),
        BinOp::Ge => (">=", Level::Compare),
        BinOp::And => ("and", Level::And),
        BinOp::Or => ("or", Level::Or),
        BinOp::BitAnd => ("&", Level::BitAnd),
        BinOp::BitOr => ("|", Level::BitOr),
        BinOp::BitXor => ("^", Level::BitXor),
        BinOp::Shl => ("<<", Level::Shift),
        BinOp::Shr => (">>", Level::Shift),
        BinOp::Mod | BinOp::Min | BinOp::Max => return None,
    })
}

/// The function of `T` that is the operator.
fn function(op: BinOp) -> &'static str {
    match op {
        BinOp::Add => "Add",
        BinOp::Sub => "Sub",
        BinOp::Mul => "Mul",
        BinOp::Div => "Div",
        BinOp::Mod => "truncmod",
        BinOp::FloorDiv => "FloorDiv",
        BinOp::FloorMod => "FloorMod",
        BinOp::Min => "min",
        BinOp::Max => "max",
        BinOp::Eq => "EQ",
        BinOp::Ne => "NE",
        BinOp::Lt => "LT",
        BinOp::Le => "LE",
        BinOp::Gt => "GT",
        BinOp::Ge => "GE",
        BinOp::And => "And",
        BinOp::Or => "Or",
        BinOp::BitAnd => "bitwise_and",
        BinOp::BitOr => "bitwise_or",
        BinOp::BitXor => "bitwise_xor",
        BinOp::Shl => "shift_left",
        BinOp::Shr => "shift_right",
    }
}

fn int(value: i64, dtype: DType) -> String {
    match dtype.scalar {
        ScalarType::I32 => value.to_string(),
        ScalarType::Bool => format!("T.bool({})", if value != 0 { "True" } else { "False" }),
        ScalarType::U64 => format!("T.uint64({})", value as u64),
        _ => format!("T.{dtype}({value})"),
    }
}

/// A typed float constant.
pub(super) fn float(value: f64, dtype: DType) -> String {
    let number = if value.is_nan() {
        "\"nan\"".to_owned()
    } else if value.is_infinite() {
        format!("\"{}\"", if value > 0.0 { "inf" } else { "-inf" })
    } else {
        float_literal(value, dtype.scalar)
    };
    format!("T.{dtype}({number})")
}

/// The shortest number that rounds to the value in its type; whole ones without a fraction.
fn float_literal(value: f64, scalar: ScalarType) -> String {
    let whole =
        value == value.trunc() && value.abs() < 1e15 && !(value == 0.0 && value.is_sign_negative());
    if whole {
        return format!("{value}");
    }
    match scalar {
        // The value is exactly an f32 for these, so the shortest form for f32 gives it back.
        ScalarType::F16 | ScalarType::BF16 | ScalarType::F32 => format!("{:?}", value as f32),
        _ => format!("{value:?}"),
    }
}
