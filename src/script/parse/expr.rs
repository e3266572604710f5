//! Arithmetic, of both dialects: a Python expression to an [`Expr`].
//!
//! Numbers take the type of the other operand; alone they are `int32` (or `int64` if they do not fit) and `float32`. Operands
//! of different types are brought to one as TVM does: to the float, or to the wider of two floats or integers.

use ruff_python_ast as ast;
use ruff_text_size::Ranged;

use super::context::{Context, Parse, float_literal, int_literal};
use super::scope::Binding;
use crate::ir::{Buffer, Expr, ExprKind};
use crate::script::ScriptErrorKind;
use crate::tensor::DType;
use crate::tensor::scalar::{BinOp, Intrin};

impl Context<'_> {
    /// Reads an expression.
    pub(super) fn expr(&mut self, node: &ast::Expr) -> Parse<Expr> {
        if let Some(value) = folded_int(node) {
            return Ok(match i32::try_from(value) {
                Ok(small) => Expr::i32(small),
                Err(_) => Expr::i64(value),
            });
        }
        if let Some(value) = float_literal(node) {
            return Ok(Expr::float(value, DType::F32));
        }
        match node {
            ast::Expr::BooleanLiteral(b) => Ok(Expr::bool(b.value)),
            ast::Expr::NumberLiteral(n) => self.number_out_of_range(n),
            ast::Expr::Name(name) => self.scalar(name),
            ast::Expr::BinOp(op) => self.binary(op),
            ast::Expr::UnaryOp(op) => self.unary(op),
            ast::Expr::BoolOp(op) => self.bool_op(op),
            ast::Expr::Compare(op) => self.compare(op),
            ast::Expr::Subscript(subscript) => self.load(subscript),
            ast::Expr::Call(call) => self.call(call),
            ast::Expr::If(e) => {
                let instead =
                    "write `T.if_then_else(cond, then, else)` or `T.Select(cond, then, else)`";
                Err(self.unsupported(e, "`... if ... else ...`", instead))
            }
            _ => Err(self.expected(node, "an arithmetic expression")),
        }
    }

    /// Reads an expression that must be of type `bool`.
    pub(super) fn condition(&mut self, node: &ast::Expr) -> Parse<Expr> {
        let value = self.expr(node)?;
        if value.dtype().is_bool() {
            Ok(value)
        } else {
            let expected = "bool".to_owned();
            let found = value.dtype();
            Err(self.error(node, ScriptErrorKind::Type { expected, found }))
        }
    }

    /// Reads an expression that is stored into, or compared with, a value of this type: a number takes the type.
    pub(super) fn expr_as(&mut self, node: &ast::Expr, dtype: DType) -> Parse<Expr> {
        let value = self.expr(node)?;
        Ok(adopt(node, value, dtype))
    }

    fn number_out_of_range(&mut self, node: &ast::ExprNumberLiteral) -> Parse<Expr> {
        let number = self.source(node).trim_matches('`').to_owned();
        if let ast::Number::Complex { real: _, imag: _ } = node.value {
            return Err(self.unsupported(node, "a complex number", ""));
        }
        let expected = "an integer has at most 64 bits".to_owned();
        Err(self.error(node, ScriptErrorKind::OutOfRange { number, expected }))
    }

    fn scalar(&mut self, name: &ast::ExprName) -> Parse<Expr> {
        match self.lookup(name, &name.id)? {
            Binding::Var(var) => Ok(var.expr()),
            Binding::Buffer(buffer) if buffer.ndim() == 0 => Ok(Expr::load(&buffer, vec![])),
            other => {
                let kind = ScriptErrorKind::WrongKind {
                    name: name.id.to_string(),
                    is: other.kind(),
                    expected: "a scalar",
                };
                Err(self.error(name, kind))
            }
        }
    }

    fn binary(&mut self, node: &ast::ExprBinOp) -> Parse<Expr> {
        let (a, b) = (self.expr(&node.left)?, self.expr(&node.right)?);
        let (a, b) = self.operands(node, symbol(node.op), (&node.left, a), (&node.right, b))?;
        let dtype = a.dtype();
        let op = match node.op {
            ast::Operator::Add => BinOp::Add,
            ast::Operator::Sub => BinOp::Sub,
            ast::Operator::Mult => BinOp::Mul,
            ast::Operator::Div if dtype.is_float() => BinOp::Div,
            ast::Operator::Div => {
                let instead = "write `//` to round down, `T.truncdiv(a, b)` to round towards zero";
                return Err(self.unsupported(node, "`/` of integers", instead));
            }
            ast::Operator::FloorDiv => BinOp::FloorDiv,
            ast::Operator::Mod => BinOp::FloorMod,
            ast::Operator::Pow => return Ok(Expr::call(Intrin::Pow, vec![a, b])),
            ast::Operator::BitAnd => BinOp::BitAnd,
            ast::Operator::BitOr => BinOp::BitOr,
            ast::Operator::BitXor => BinOp::BitXor,
            ast::Operator::LShift => BinOp::Shl,
            ast::Operator::RShift => BinOp::Shr,
            ast::Operator::MatMult => return Err(self.unsupported(node, "`@`", "")),
        };
        let bitwise = matches!(op, BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor);
        let shift = matches!(op, BinOp::Shl | BinOp::Shr);
        let defined = match () {
            () if bitwise => !dtype.is_float(),
            () if shift => dtype.is_int(),
            () => !dtype.is_bool(),
        };
        if !defined {
            return Err(self.no_operator(node, symbol(node.op), &a, &b));
        }
        Ok(Expr::binary(op, a, b))
    }

    fn unary(&mut self, node: &ast::ExprUnaryOp) -> Parse<Expr> {
        let value = self.expr(&node.operand)?;
        let dtype = value.dtype();
        match node.op {
            ast::UnaryOp::Not if dtype.is_bool() => Ok(value.not()),
            ast::UnaryOp::Not => {
                let expected = "bool".to_owned();
                let kind = ScriptErrorKind::Type {
                    expected,
                    found: dtype,
                };
                Err(self.error(&*node.operand, kind))
            }
            ast::UnaryOp::UAdd => Ok(value),
            ast::UnaryOp::USub if !dtype.is_bool() => {
                let zero = Expr::constant(0, DType::of(dtype.scalar));
                Ok(Expr::binary(BinOp::Sub, zero, value))
            }
            ast::UnaryOp::Invert if dtype.is_int() => Ok(Expr::call(Intrin::BitNot, vec![value])),
            ast::UnaryOp::USub | ast::UnaryOp::Invert => {
                let expected = "a number".to_owned();
                let kind = ScriptErrorKind::Type {
                    expected,
                    found: dtype,
                };
                Err(self.error(&*node.operand, kind))
            }
        }
    }

    fn bool_op(&mut self, node: &ast::ExprBoolOp) -> Parse<Expr> {
        let op = match node.op {
            ast::BoolOp::And => BinOp::And,
            ast::BoolOp::Or => BinOp::Or,
        };
        let values = node.values.iter().map(|v| self.condition(v));
        let values = values.collect::<Parse<Vec<_>>>()?;
        let mut values = values.into_iter();
        let first = values.next().expect("the parser gives at least two values");
        Ok(values.fold(first, |all, value| Expr::binary(op, all, value)))
    }

    /// A comparison; a chain `a < b < c` is `a < b and b < c`.
    fn compare(&mut self, node: &ast::ExprCompare) -> Parse<Expr> {
        let mut left_node = &*node.left;
        let mut left = self.expr(left_node)?;
        let mut all: Option<Expr> = None;
        for (op, right_node) in node.ops.iter().zip(&node.comparators) {
            let op = match op {
                ast::CmpOp::Eq => BinOp::Eq,
                ast::CmpOp::NotEq => BinOp::Ne,
                ast::CmpOp::Lt => BinOp::Lt,
                ast::CmpOp::LtE => BinOp::Le,
                ast::CmpOp::Gt => BinOp::Gt,
                ast::CmpOp::GtE => BinOp::Ge,
                ast::CmpOp::Is | ast::CmpOp::IsNot | ast::CmpOp::In | ast::CmpOp::NotIn => {
                    return Err(self.unsupported(node, "`is` or `in`", ""));
                }
            };
            let right = self.expr(right_node)?;
            let sides = ((left_node, left), (right_node, right.clone()));
            let (a, b) = self.operands(node, "comparison", sides.0, sides.1)?;
            let one = Expr::binary(op, a, b);
            all = Some(match all {
                None => one,
                Some(before) => Expr::binary(BinOp::And, before, one),
            });
            (left_node, left) = (right_node, right);
        }
        Ok(all.expect("the parser gives at least one operator"))
    }

    /// Brings two operands to one type.
    pub(super) fn operands(
        &mut self,
        node: &impl Ranged,
        op: &'static str,
        (a_node, a): (&ast::Expr, Expr),
        (b_node, b): (&ast::Expr, Expr),
    ) -> Parse<(Expr, Expr)> {
        let (ta, tb) = (a.dtype(), b.dtype());
        let (a, b) = match (is_literal(a_node), is_literal(b_node)) {
            (true, false) => (adopt(a_node, a, DType::of(tb.scalar)), b),
            (false, true) => (a, adopt(b_node, b, DType::of(ta.scalar))),
            _ => (a, b),
        };
        let (a, b) = promote(a, b);
        if a.dtype() == b.dtype() {
            Ok((a, b))
        } else {
            Err(self.no_operator(node, op, &a, &b))
        }
    }

    fn no_operator(
        &mut self,
        node: &impl Ranged,
        op: &'static str,
        a: &Expr,
        b: &Expr,
    ) -> super::context::Reported {
        let (left, right) = (a.dtype(), b.dtype());
        self.error(node, ScriptErrorKind::Operands { op, left, right })
    }

    fn load(&mut self, node: &ast::ExprSubscript) -> Parse<Expr> {
        let buffer = self.buffer(&node.value)?;
        let indices = self.indices(&buffer, node)?;
        Ok(Expr::load(&buffer, indices))
    }

    /// The buffer that a name stands for.
    pub(super) fn buffer(&mut self, node: &ast::Expr) -> Parse<Buffer> {
        let ast::Expr::Name(name) = node else {
            return Err(self.expected(node, "the name of a buffer"));
        };
        match self.lookup(name, &name.id)? {
            Binding::Buffer(buffer) => Ok(buffer),
            other => {
                let kind = ScriptErrorKind::WrongKind {
                    name: name.id.to_string(),
                    is: other.kind(),
                    expected: "a buffer",
                };
                Err(self.error(name, kind))
            }
        }
    }

    /// The indices of a load or store; a slice with a constant length is a vector.
    pub(super) fn indices(
        &mut self,
        buffer: &Buffer,
        node: &ast::ExprSubscript,
    ) -> Parse<Vec<Expr>> {
        let nodes = index_nodes(&node.slice);
        if nodes.len() != buffer.ndim() {
            let kind = ScriptErrorKind::IndexCount {
                buffer: buffer.name().to_owned(),
                ndim: buffer.ndim(),
                got: nodes.len(),
            };
            return Err(self.error(node, kind));
        }
        nodes.iter().map(|index| self.index(index)).collect()
    }

    fn index(&mut self, node: &ast::Expr) -> Parse<Expr> {
        let index = match node {
            ast::Expr::Slice(slice) => self.vector_index(slice)?,
            _ => self.expr(node)?,
        };
        if index.dtype().is_int() {
            Ok(index)
        } else {
            let expected = "an integer".to_owned();
            let found = index.dtype();
            Err(self.error(node, ScriptErrorKind::Type { expected, found }))
        }
    }

    fn vector_index(&mut self, slice: &ast::ExprSlice) -> Parse<Expr> {
        let (Some(lower), Some(upper)) = (&slice.lower, &slice.upper) else {
            return Err(self.expected(slice, "a slice with both ends"));
        };
        let step = match &slice.step {
            Some(step) => self.integer(step)?,
            None => 1,
        };
        let (start, end) = (self.expr(lower)?, self.expr(upper)?);
        let extent = extent(&start, &end).as_int();
        let lanes = extent
            .filter(|&e| e > 0 && step > 0)
            .and_then(|e| u16::try_from((e - 1) / step + 1).ok());
        match lanes {
            Some(lanes) => {
                let stride = Expr::int(step, start.dtype());
                Ok(if lanes == 1 {
                    start
                } else {
                    Expr::ramp(start, stride, lanes)
                })
            }
            None => Err(self.expected(slice, "a slice with a constant number of elements")),
        }
    }
}

/// The indices of a subscript: `A[i, j]`, `A[i]`, `A[()]`.
pub(super) fn index_nodes(node: &ast::Expr) -> &[ast::Expr] {
    match node {
        ast::Expr::Tuple(tuple) => &tuple.elts,
        other => std::slice::from_ref(other),
    }
}

/// `end - start`, where it can be seen without a proof: `n + e` ends `n .. n + e`, and constants are subtracted.
pub(super) fn extent(start: &Expr, end: &Expr) -> Expr {
    if start.is_zero() {
        let wide = start.dtype().bytes() > end.dtype().bytes();
        return if wide {
            end.cast(start.dtype())
        } else {
            end.clone()
        };
    }
    if start == end {
        return Expr::int(0, start.dtype());
    }
    if let ExprKind::Binary(BinOp::Add, a, b) = end.kind()
        && a == start
    {
        return b.clone();
    }
    match (start.as_int(), end.as_int()) {
        (Some(s), Some(e)) => {
            let dtype = if end.dtype().bytes() >= start.dtype().bytes() {
                end.dtype()
            } else {
                start.dtype()
            };
            Expr::int(e.wrapping_sub(s), dtype)
        }
        _ => end.clone() - start,
    }
}

/// Brings two operands to one type, as far as TVM does.
pub(super) fn promote(a: Expr, b: Expr) -> (Expr, Expr) {
    let (ta, tb) = (a.dtype(), b.dtype());
    let lanes = ta.lanes.max(tb.lanes);
    let spread = |e: Expr| {
        if e.dtype().lanes < lanes {
            Expr::broadcast(e, lanes)
        } else {
            e
        }
    };
    let (a, b) = (spread(a), spread(b));
    let to = |e: Expr, like: &Expr| {
        let dtype = like.dtype();
        e.cast(dtype)
    };
    let (sa, sb) = (ta.scalar, tb.scalar);
    if sa == sb {
        return (a, b);
    }
    let b_wins = match (sa.is_float(), sb.is_float()) {
        (true, false) => false,
        (false, true) => true,
        _ => match (ta.is_bool(), tb.is_bool()) {
            (true, false) => true,
            (false, true) => false,
            _ => sb.bytes() > sa.bytes(),
        },
    };
    if b_wins {
        (to(a, &b), b)
    } else {
        let b = to(b, &a);
        (a, b)
    }
}

/// A number literal takes the type if that holds it; anything else stays.
fn adopt(node: &ast::Expr, value: Expr, dtype: DType) -> Expr {
    let number = if dtype.is_float() {
        is_literal(node)
    } else {
        let range = dtype.scalar.int_range();
        let holds = |v: i64| range.is_some_and(|(low, high)| (low..=high).contains(&v));
        dtype.is_int() && folded_int(node).is_some_and(holds)
    };
    if number && value.dtype() != dtype {
        value.cast(dtype)
    } else {
        value
    }
}

fn is_literal(node: &ast::Expr) -> bool {
    folded_int(node).is_some() || float_literal(node).is_some()
}

/// The value of arithmetic on integer literals alone, which Python computes.
fn folded_int(node: &ast::Expr) -> Option<i64> {
    match node {
        ast::Expr::BinOp(op) => {
            let (a, b) = (folded_int(&op.left)?, folded_int(&op.right)?);
            match op.op {
                ast::Operator::Add => a.checked_add(b),
                ast::Operator::Sub => a.checked_sub(b),
                ast::Operator::Mult => a.checked_mul(b),
                ast::Operator::FloorDiv if b != 0 => Some(a.checked_div_euclid(b)?).map(|q| {
                    // Euclidean and floor division differ for a negative divisor that leaves a remainder.
                    if b < 0 && a.rem_euclid(b) != 0 {
                        q - 1
                    } else {
                        q
                    }
                }),
                ast::Operator::Mod if b != 0 => {
                    let r = a.checked_rem(b)?;
                    Some(if r != 0 && (r < 0) != (b < 0) {
                        r + b
                    } else {
                        r
                    })
                }
                _ => None,
            }
        }
        ast::Expr::UnaryOp(op) if op.op == ast::UnaryOp::USub => {
            int_literal(node).or_else(|| folded_int(&op.operand)?.checked_neg())
        }
        _ => int_literal(node),
    }
}

fn symbol(op: ast::Operator) -> &'static str {
    op.as_str()
}
