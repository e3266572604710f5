//! Arithmetic, of both dialects: a Python expression to an [`Expr`].
//!
//! Numbers take the type of the other operand; alone they are `int32` (or `int64` if they do not fit) and `float32`. Operands
//! of different types are brought to one as TVM does: to the float, or to the wider of two floats or integers.

use ruff_python_ast as ast;
use ruff_text_size::Ranged;

use super::call::{MOST_LANES, scalable_lanes};
use super::context::{Context, Parse};
use super::number::Number;
use super::scope::Binding;
use crate::ir::{Buffer, Expr, ExprKind, External, defined};
use crate::script::ScriptErrorKind;
use crate::tensor::scalar::{BinOp, Intrin};
use crate::tensor::{DType, ScalarType};

impl Context<'_> {
    /// Reads an expression.
    pub(super) fn expr(&mut self, node: &ast::Expr) -> Parse<Expr> {
        if let Some(number) = Number::of(node) {
            return Ok(number.alone());
        }
        match node {
            ast::Expr::BooleanLiteral(b) => Ok(Expr::bool(b.value)),
            ast::Expr::NumberLiteral(n) => self.number_out_of_range(n),
            ast::Expr::Name(name) => self.scalar(name),
            ast::Expr::BinOp(op) => self.binary(op),
            ast::Expr::UnaryOp(op) => self.unary(op),
            ast::Expr::BoolOp(op) => self.bool_op(op),
            ast::Expr::Compare(op) => self.compare(op),
            ast::Expr::Subscript(subscript) => match self.buffer_extent(subscript)? {
                Some(extent) => Ok(extent),
                None => self.load(subscript),
            },
            ast::Expr::Attribute(attribute) => self.buffer_property(attribute),
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

    /// Reads the condition of a statement. An integer is one, as in Python: whether it is not 0.
    pub(super) fn truth(&mut self, node: &ast::Expr) -> Parse<Expr> {
        let value = self.expr(node)?;
        let dtype = value.dtype();
        if dtype.is_int() && !dtype.is_vector() {
            let zero = Expr::int(0, dtype);
            return Ok(Expr::binary(BinOp::Ne, value, zero));
        }
        if dtype.is_bool() {
            return Ok(value);
        }
        let (expected, found) = ("bool".to_owned(), dtype);
        Err(self.error(node, ScriptErrorKind::Type { expected, found }))
    }

    /// Reads an expression that is stored into, or compared with, a value of this type: a number takes the type.
    pub(super) fn expr_as(&mut self, node: &ast::Expr, dtype: DType) -> Parse<Expr> {
        let value = self.expr(node)?;
        // An undefined value is one of any type.
        if let ExprKind::External(External::Undef, args) = value.kind() {
            let undefined = ExprKind::External(External::Undef, args.clone());
            return Ok(Expr::new(undefined, dtype));
        }
        Ok(adopt(node, value, dtype))
    }

    /// Reads an expression that must be an integer scalar.
    pub(super) fn integer_scalar(&mut self, node: &ast::Expr) -> Parse<Expr> {
        let value = self.expr(node)?;
        self.check_integer_scalar(node, value)
    }

    /// The value, which must be an integer scalar.
    pub(super) fn check_integer_scalar(&mut self, node: &ast::Expr, value: Expr) -> Parse<Expr> {
        let found = value.dtype();
        if found.is_int() && !found.is_vector() {
            return Ok(value);
        }
        let expected = "an integer scalar".to_owned();
        Err(self.error(node, ScriptErrorKind::Type { expected, found }))
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
            Binding::Handle { index: _, var } => Ok(var.expr()),
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
        let (a, b) = self.operands(node, node.op.as_str(), (&node.left, a), (&node.right, b))?;
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
            ast::Operator::Pow => {
                return self.apply_intrinsic(node, node.op.as_str(), Intrin::Pow, vec![a, b]);
            }
            ast::Operator::BitAnd => BinOp::BitAnd,
            ast::Operator::BitOr => BinOp::BitOr,
            ast::Operator::BitXor => BinOp::BitXor,
            ast::Operator::LShift => BinOp::Shl,
            ast::Operator::RShift => BinOp::Shr,
            ast::Operator::MatMult => return Err(self.unsupported(node, "`@`", "")),
        };
        self.apply(node, node.op.as_str(), op, a, b)
    }

    /// `a op b` of operands of one type, if it is defined for that.
    pub(super) fn apply(
        &mut self,
        node: &impl Ranged,
        name: &str,
        op: BinOp,
        a: Expr,
        b: Expr,
    ) -> Parse<Expr> {
        if defined::operator(op, a.dtype()) {
            Ok(Expr::binary(op, a, b))
        } else {
            Err(self.no_operator(node, name, &a, &b))
        }
    }

    /// An intrinsic of arguments of one type, if it is defined for that.
    pub(super) fn apply_intrinsic(
        &mut self,
        node: &impl Ranged,
        name: &str,
        intrin: Intrin,
        args: Vec<Expr>,
    ) -> Parse<Expr> {
        let found = args[0].dtype();
        // TVM's bits of a bool are one.
        if intrin == Intrin::BitNot && found.is_bool() {
            return Ok(args[0].clone().not());
        }
        if defined::intrinsic(intrin, found) {
            return Ok(Expr::call(intrin, args));
        }
        let function = name.to_owned();
        Err(self.error(node, ScriptErrorKind::NotDefined { function, found }))
    }

    fn unary(&mut self, node: &ast::ExprUnaryOp) -> Parse<Expr> {
        let value = self.expr(&node.operand)?;
        let dtype = value.dtype();
        match node.op {
            ast::UnaryOp::Not | ast::UnaryOp::Invert if dtype.is_bool() => Ok(value.not()),
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
        for (name, right_node) in node.ops.iter().zip(&node.comparators) {
            let op = match name {
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
            let (a, b) = self.operands(node, name.as_str(), sides.0, sides.1)?;
            let one = self.apply(node, name.as_str(), op, a, b)?;
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
        op: &str,
        a: (&ast::Expr, Expr),
        b: (&ast::Expr, Expr),
    ) -> Parse<(Expr, Expr)> {
        let mut both = self.unify(node, op, vec![a, b])?.into_iter();
        let mut next = || both.next().expect("as many come out as go in");
        Ok((next(), next()))
    }

    /// Brings operands to one type: numbers take that of the others, then all take the one that ranks highest, and scalars are
    /// spread over the lanes of vectors.
    pub(super) fn unify(
        &mut self,
        node: &impl Ranged,
        op: &str,
        operands: Vec<(&ast::Expr, Expr)>,
    ) -> Parse<Vec<Expr>> {
        let highest = |scalars: Vec<ScalarType>| scalars.into_iter().max_by_key(|s| rank(*s));
        let typed = operands
            .iter()
            .filter(|(node, _)| Number::of(node).is_none());
        let typed = highest(typed.map(|(_, e)| e.dtype().scalar).collect());
        let adopted = operands.into_iter().map(|(node, e)| match typed {
            Some(scalar) => adopt(node, e, DType::of(scalar)),
            None => e,
        });
        let adopted: Vec<Expr> = adopted.collect();
        let Some(scalar) = highest(adopted.iter().map(|e| e.dtype().scalar).collect()) else {
            return Ok(vec![]);
        };
        let lanes = adopted.iter().map(|e| e.dtype().lanes).max().unwrap_or(1);
        let one_type = adopted.into_iter().map(|e| {
            let own = e.dtype().lanes;
            let e = e.cast(DType::of(scalar).with_lanes(own));
            if own == 1 && lanes > 1 {
                Expr::broadcast(e, lanes)
            } else {
                e
            }
        });
        let operands: Vec<Expr> = one_type.collect();
        let differs = |pair: &[Expr]| pair[0].dtype() != pair[1].dtype();
        match operands.windows(2).find(|pair| differs(pair)) {
            None => Ok(operands),
            Some(pair) => Err(self.no_operator(node, op, &pair[0], &pair[1])),
        }
    }

    fn no_operator(
        &mut self,
        node: &impl Ranged,
        op: &str,
        a: &Expr,
        b: &Expr,
    ) -> super::context::Reported {
        let (op, left, right) = (op.to_owned(), a.dtype(), b.dtype());
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

    /// The nodes of as many indices as the buffer has dimensions.
    pub(super) fn index_nodes<'n>(
        &mut self,
        buffer: &Buffer,
        node: &'n ast::ExprSubscript,
    ) -> Parse<&'n [ast::Expr]> {
        // `A[i, j]`, `A[i]`, `A[()]`
        let nodes = match &*node.slice {
            ast::Expr::Tuple(tuple) => &tuple.elts,
            other => std::slice::from_ref(other),
        };
        if nodes.len() == buffer.ndim() {
            return Ok(nodes);
        }
        let kind = ScriptErrorKind::IndexCount {
            buffer: buffer.name().to_owned(),
            ndim: buffer.ndim(),
            got: nodes.len(),
        };
        Err(self.error(node, kind))
    }

    /// The indices of a load or store; the last one may be a vector, as a slice with a constant length is.
    pub(super) fn indices(
        &mut self,
        buffer: &Buffer,
        node: &ast::ExprSubscript,
    ) -> Parse<Vec<Expr>> {
        let nodes = self.index_nodes(buffer, node)?;
        let indices = nodes.iter().map(|index| self.index(index));
        let indices = indices.collect::<Parse<Vec<_>>>()?;
        if let [before @ .., last] = &indices[..] {
            for (node, index) in nodes.iter().zip(before) {
                self.check_integer_scalar(node, index.clone())?;
            }
            if buffer
                .dtype()
                .lanes
                .checked_mul(last.dtype().lanes)
                .is_none_or(|lanes| {
                    lanes > MOST_LANES && !is_scalable(buffer.dtype(), last.dtype())
                })
            {
                return Err(self.expected(node, "a vector of at most 32767 lanes"));
            }
        }
        Ok(indices)
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
        let (start, end) = (self.integer_scalar(lower)?, self.integer_scalar(upper)?);
        let extent = extent(&start, &end);
        let whole = extent.as_int().filter(|&e| e > 0 && step > 0);
        let lanes = whole.and_then(|e| u16::try_from((e - 1) / step + 1).ok());
        let lanes = lanes.filter(|&lanes| lanes <= MOST_LANES);
        let lanes = lanes.or_else(|| scalable_lanes(&steps_of(&extent, step)));
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

/// Whether an access of a buffer of this type at such an index is of a vector whose length the hardware says.
fn is_scalable(buffer: DType, index: DType) -> bool {
    index.vscale_factor().is_some() || (!index.is_vector() && buffer.vscale_factor().is_some())
}

/// The number of steps in an extent that is written as their product.
fn steps_of(extent: &Expr, step: i64) -> Expr {
    match extent.as_binary(BinOp::Mul) {
        Some((part, factor))
            if let Some(factor) = factor.as_int()
                && step > 0
                && factor % step == 0 =>
        {
            if factor == step {
                part.clone()
            } else {
                part.clone() * (factor / step)
            }
        }
        _ => extent.clone(),
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

/// Operands of different types take the one that ranks highest: floats before integers before `bool`, wider before narrower
/// ones, and of one width unsigned before signed and `float16` before `bfloat16` (TVM: `BinaryOpMatchTypes`).
fn rank(scalar: ScalarType) -> (bool, bool, usize, bool) {
    let preferred = scalar.is_unsigned_int() || scalar == ScalarType::F16;
    let number = scalar != ScalarType::Bool;
    (scalar.is_float(), number, scalar.bytes(), preferred)
}

/// Arithmetic on integer constants alone, as `T.Add(3, 1)`, in a wider type; anything else stays.
pub(super) fn widened(e: &Expr, dtype: DType) -> Expr {
    let narrow = e.dtype();
    let is_arithmetic = |e: &Expr| {
        matches!(e.kind(), ExprKind::Int(_) | ExprKind::Binary(_, _, _)) && e.dtype() == narrow
    };
    let widens = narrow.is_int() && dtype.is_int() && narrow.bytes() < dtype.bytes();
    if !widens || e.as_int().is_some() || e.any(|part| !is_arithmetic(part)) {
        return e.clone();
    }
    e.rewrite_bottom_up(&mut |node| match node.kind() {
        ExprKind::Int(value) => Expr::int(*value, dtype),
        kind => Expr::new(kind.clone(), dtype),
    })
}

/// A number takes the type if that holds it; anything else stays.
fn adopt(node: &ast::Expr, value: Expr, dtype: DType) -> Expr {
    let number = Number::of(node).and_then(|number| number.as_dtype(dtype));
    number.unwrap_or(value)
}
