//! Expressions as text: TVM's, with no more parentheses than Python needs.
//!
//! The printer of `script` gives every variable a name of its own; `Display`, which is for messages, uses the names that
//! variables were given. Its alternate form (`{:#}`) leaves out the types of constants and conversions between integers,
//! which only a reader of programs needs.

use std::fmt;

use crate::ir::{Buffer, Expr, ExprKind, External, ExternalType, Range, Var};
use crate::tensor::scalar::BinOp;
use crate::tensor::{DType, ScalarType};

/// What variables and buffers are called.
pub(crate) trait Names {
    /// The name of a variable.
    fn var(&mut self, var: &Var) -> String;
    /// The name of a buffer.
    fn buffer(&mut self, buffer: &Buffer) -> String;
    /// Names a variable that is defined until [`Names::leave`].
    fn enter(&mut self, var: &Var) -> String;
    /// Forgets the variable that was entered last.
    fn leave(&mut self);
    /// Whether integers are printed with their types.
    fn types(&self) -> IntTypes;
}

/// Whether integers are printed with their types.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum IntTypes {
    /// `T.int64(3)`, `T.Cast("int64", i)`.
    Shown,
    /// `3`, `i`.
    Hidden,
}

/// The names that variables and buffers were given.
struct GivenNames(IntTypes);

impl Names for GivenNames {
    fn var(&mut self, var: &Var) -> String {
        var.name().to_owned()
    }

    fn buffer(&mut self, buffer: &Buffer) -> String {
        buffer.name().to_owned()
    }

    fn enter(&mut self, var: &Var) -> String {
        self.var(var)
    }

    fn leave(&mut self) {}

    fn types(&self) -> IntTypes {
        self.0
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let types = if f.alternate() {
            IntTypes::Hidden
        } else {
            IntTypes::Shown
        };
        f.write_str(&expr(&mut GivenNames(types), self))
    }
}

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
pub(crate) fn expr(names: &mut impl Names, e: &Expr) -> String {
    with_level(names, e).0
}

/// The expressions with commas between them.
pub(crate) fn list<'e>(
    names: &mut impl Names,
    exprs: impl IntoIterator<Item = &'e Expr>,
) -> String {
    let all: Vec<String> = exprs.into_iter().map(|e| expr(names, e)).collect();
    all.join(", ")
}

/// A tuple, as of a shape; the integers of a shape are printed without their type.
pub(crate) fn shape(names: &mut impl Names, dims: &[Expr]) -> String {
    let dims: Vec<String> = dims.iter().map(|dim| dim_text(names, dim)).collect();
    match &dims[..] {
        [one] => format!("({one},)"),
        many => format!("({})", many.join(", ")),
    }
}

/// An extent of a shape.
fn dim_text(names: &mut impl Names, dim: &Expr) -> String {
    match dim.as_int() {
        Some(value) if dim.dtype() == DType::I64 => value.to_string(),
        _ => expr(names, dim),
    }
}

/// Indices of an access.
pub(crate) fn indices(names: &mut impl Names, indices: &[Expr]) -> String {
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
                let end = end_of(base, &lane_count(*lanes, base.dtype()));
                format!("{}:{}", expr(names, base), expr(names, &end))
            }
            _ => expr(names, index),
        })
        .collect();
    all.join(", ")
}

/// The number of lanes of a vector: a constant, or a multiple of `T.vscale()`.
fn lane_count(lanes: u16, dtype: DType) -> Expr {
    let vector = DType::of(dtype.scalar).with_lanes(lanes);
    match vector.vscale_factor() {
        Some(factor) => {
            let vscale = Expr::new(ExprKind::External(External::VScale, vec![]), DType::I32);
            Expr::binary(BinOp::Mul, vscale, Expr::i32(factor.into()))
        }
        None => Expr::constant(lanes.into(), dtype),
    }
}

/// One dimension of a region: a point, or `min:end`.
pub(crate) fn range(names: &mut impl Names, range: &Range) -> String {
    if range.extent.is_one() {
        return expr(names, &range.min);
    }
    let end = end_of(&range.min, &range.extent);
    format!("{}:{}", expr(names, &range.min), expr(names, &end))
}

/// `min + extent`, in the form that is read back as these two.
pub(crate) fn end_of(min: &Expr, extent: &Expr) -> Expr {
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

fn with_level(names: &mut impl Names, e: &Expr) -> (String, Level) {
    let atom = |text: String| (text, Level::Atom);
    match e.kind() {
        ExprKind::Int(value) => match names.types() {
            IntTypes::Hidden if !e.dtype().is_bool() => atom(value.to_string()),
            _ => atom(int(*value, e.dtype())),
        },
        ExprKind::Float(value) => atom(float(*value, e.dtype())),
        ExprKind::Var(var) => atom(names.var(var)),
        ExprKind::Cast(value)
            if names.types() == IntTypes::Hidden
                && value.dtype().is_int()
                && e.dtype().is_int() =>
        {
            with_level(names, value)
        }
        ExprKind::Cast(value) => atom(format!("T.Cast(\"{}\", {})", e.dtype(), expr(names, value))),
        ExprKind::Binary(op, a, b) => binary(names, *op, a, b),
        ExprKind::Not(value) => (
            format!("not {}", at_least(names, value, Level::Not)),
            Level::Not,
        ),
        ExprKind::Select(c, a, b) => atom(format!("T.Select({})", list(names, [c, a, b]))),
        ExprKind::IfThenElse(c, a, b) => {
            atom(format!("T.if_then_else({})", list(names, [c, a, b])))
        }
        ExprKind::Load(buffer, at) => {
            let name = names.buffer(buffer);
            atom(format!("{name}[{}]", indices(names, at)))
        }
        ExprKind::Ramp {
            base,
            stride,
            lanes,
        } => {
            let lanes = lane_count(*lanes, DType::I32);
            atom(format!("T.Ramp({})", list(names, [base, stride, &lanes])))
        }
        ExprKind::Broadcast(value, lanes) => {
            let lanes = lane_count(*lanes, DType::I32);
            atom(format!("T.Broadcast({})", list(names, [value, &lanes])))
        }
        ExprKind::Call(intrin, args) => atom(format!("T.{}({})", intrin.name(), list(names, args))),
        ExprKind::Reinterpret(value) => atom(format!(
            "T.reinterpret(\"{}\", {})",
            e.dtype(),
            expr(names, value)
        )),
        ExprKind::External(external, args) => {
            if let (External::CallFunction, Some((name, args))) = (*external, args.split_first())
                && let ExprKind::Str(name) = name.kind()
            {
                return atom(format!("Module.{name}({})", list(names, args)));
            }
            let written = format!("\"{}\"", e.dtype());
            let mut all: Vec<String> = args.iter().map(|arg| expr(names, arg)).collect();
            match external.result() {
                ExternalType::Written => all.insert(0, written),
                ExternalType::WrittenLast => all.push(written),
                ExternalType::Fixed(_) | ExternalType::Operand(_) => {}
            }
            atom(format!("T.{}({})", external.name(), all.join(", ")))
        }
        ExprKind::Str(text) => atom(string(text)),
        ExprKind::Data(buffer) => atom(format!("{}.data", names.buffer(buffer))),
        ExprKind::Let { var, value, body } => {
            let value = expr(names, value);
            let name = names.enter(var);
            let body = expr(names, body);
            names.leave();
            atom(format!("T.Let({body}, where={{{name}: {value}}})"))
        }
    }
}

/// The expression, in parentheses if it binds less tightly than `level`.
fn at_least(names: &mut impl Names, e: &Expr, level: Level) -> String {
    let (text, own) = with_level(names, e);
    if own < level {
        format!("({text})")
    } else {
        text
    }
}

fn binary(names: &mut impl Names, op: BinOp, a: &Expr, b: &Expr) -> (String, Level) {
    let constant = |e: &Expr| matches!(e.kind(), ExprKind::Int(_) | ExprKind::Float(_));
    // Python computes on constants itself, and has no operator that divides integers towards zero.
    let truncates =
        matches!(op, BinOp::Div | BinOp::Mod) && !(op == BinOp::Div && a.dtype().is_float());
    let Some((symbol, level)) = operator(op).filter(|_| !(truncates || constant(a) && constant(b)))
    else {
        return (
            format!("T.{}({})", function(op), list(names, [a, b])),
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
        at_least(names, a, left_level),
        at_least(names, b, right_level),
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

/// How tightly the operator binds, and its symbol; nothing for what is written as a function.
fn operator(op: BinOp) -> Option<(&'static str, Level)> {
    let level = match op {
        BinOp::Add | BinOp::Sub => Level::Sum,
        BinOp::Mul | BinOp::Div | BinOp::FloorDiv | BinOp::FloorMod => Level::Product,
        BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge => Level::Compare,
        BinOp::And => Level::And,
        BinOp::Or => Level::Or,
        BinOp::BitAnd => Level::BitAnd,
        BinOp::BitOr => Level::BitOr,
        BinOp::BitXor => Level::BitXor,
        BinOp::Shl | BinOp::Shr => Level::Shift,
        BinOp::Mod | BinOp::Min | BinOp::Max => return None,
    };
    Some((op.symbol(), level))
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
pub(crate) fn float(value: f64, dtype: DType) -> String {
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

/// A Python string literal.
pub(crate) fn string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => out.push_str(&format!("\\U{:08x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_leave_out_the_types_of_integers() {
        let n = Var::new("n", DType::I64);
        let i = Var::new("i", DType::I32);
        let e = (n.expr() + 1) * 2 - i.expr().cast(DType::I64);
        assert_eq!(
            e.to_string(),
            "(n + T.int64(1)) * T.int64(2) - T.Cast(\"int64\", i)"
        );
        assert_eq!(format!("{e:#}"), "(n + 1) * 2 - i");
        let x = Expr::float(2.0, DType::F32);
        assert_eq!(
            format!("{:#}", i.expr().cast(DType::F32) * x),
            "T.Cast(\"float32\", i) * T.float32(2)"
        );
    }

    #[test]
    fn parentheses_keep_the_tree() {
        let [a, b, c] = ["a", "b", "c"].map(|name| Var::new(name, DType::I64).expr());
        let text = |e: Expr| e.to_string();
        assert_eq!(text(&a - (&b - &c)), "a - (b - c)");
        assert_eq!(text((&a - &b) - &c), "a - b - c");
        assert_eq!(text((&a + &b).floor_div(c.clone())), "(a + b) // c");
        assert_eq!(
            text(a.lt(b.clone()).and(b.lt(c.clone())).not()),
            "not (a < b and b < c)"
        );
    }
}
