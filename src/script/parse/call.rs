//! Functions of `T` that are arithmetic: constants and casts (`T.float32(1)`), operators by name, intrinsics.

use ruff_python_ast as ast;

use super::context::{Context, Parse, dotted, int_literal, not_finite};
use super::number::Number;
use super::scope::{Binding, most_similar};
use crate::ir::{Expr, ExprKind, External, Var};
use crate::script::ScriptErrorKind;
use crate::script::error::counted;
use crate::tensor::scalar::{BinOp, Intrin, wrap_int};
use crate::tensor::{DType, ScalarType};

/// Binary operators by name: those that `T` prints where Python's would be folded, and those that Python lacks.
const BINARY: [(&str, BinOp); 32] = [
    ("Add", BinOp::Add),
    ("Sub", BinOp::Sub),
    ("Mul", BinOp::Mul),
    ("Div", BinOp::Div),
    ("Mod", BinOp::Mod),
    ("FloorDiv", BinOp::FloorDiv),
    ("FloorMod", BinOp::FloorMod),
    ("Min", BinOp::Min),
    ("Max", BinOp::Max),
    ("min", BinOp::Min),
    ("max", BinOp::Max),
    ("EQ", BinOp::Eq),
    ("NE", BinOp::Ne),
    ("LT", BinOp::Lt),
    ("LE", BinOp::Le),
    ("GT", BinOp::Gt),
    ("GE", BinOp::Ge),
    ("And", BinOp::And),
    ("Or", BinOp::Or),
    ("truncdiv", BinOp::Div),
    ("truncmod", BinOp::Mod),
    ("floordiv", BinOp::FloorDiv),
    ("floormod", BinOp::FloorMod),
    ("indexdiv", BinOp::FloorDiv),
    ("indexmod", BinOp::FloorMod),
    ("bitwise_and", BinOp::BitAnd),
    ("bitwise_or", BinOp::BitOr),
    ("bitwise_xor", BinOp::BitXor),
    ("shift_left", BinOp::Shl),
    ("shift_right", BinOp::Shr),
    ("logical_and", BinOp::And),
    ("logical_or", BinOp::Or),
];

/// Other functions of this file, for suggestions.
const OTHERS: [&str; 14] = [
    "Cast",
    "cast",
    "Select",
    "if_then_else",
    "Ramp",
    "Broadcast",
    "Let",
    "Not",
    "likely",
    "min_value",
    "max_value",
    "infinity",
    "ceildiv",
    "logical_not",
];

/// Functions of `T` that are statements of their own, not arithmetic.
const STATEMENTS: [&str; 12] = [
    "alloc_buffer",
    "match_buffer",
    "sblock_alloc_buffer",
    "block",
    "sblock",
    "grid",
    "serial",
    "evaluate",
    "reads",
    "writes",
    "where",
    "func_attr",
];

/// Names that `T.Let`s may define inside each other.
const LET_LIMIT: usize = 200;

impl Context<'_> {
    /// Reads a call as arithmetic.
    pub(super) fn call(&mut self, node: &ast::ExprCall) -> Parse<Expr> {
        let Some(path) = dotted(&node.func) else {
            return Err(self.expected(&*node.func, "the name of a function"));
        };
        if let Some(value) = self.function_call(node)? {
            return Ok(value);
        }
        let Some(name) = path
            .strip_prefix("T.")
            .or_else(|| path.strip_prefix("tir."))
        else {
            let similar = None;
            return Err(self.error(
                &*node.func,
                ScriptErrorKind::UnknownFunction {
                    name: path,
                    similar,
                },
            ));
        };
        if let Ok(dtype) = name.parse::<DType>() {
            return self.constant(node, &path, dtype);
        }
        if let Some((_, op)) = BINARY.iter().find(|(n, _)| *n == name) {
            return self.named_binary(node, &path, *op);
        }
        let intrin = match name {
            "power" => Some(Intrin::Pow),
            "fabs" => Some(Intrin::Abs),
            "nearbyint" => Some(Intrin::Round),
            _ => Intrin::ALL.into_iter().find(|i| i.name() == name),
        };
        if let Some(intrin) = intrin {
            return self.intrinsic(node, &path, intrin);
        }
        if let Some(value) = self.external(node, &path, name)? {
            return Ok(value);
        }
        match self.written_out(node, &path, name)? {
            Some(value) => Ok(value),
            None => self.special(node, &path, name),
        }
    }

    /// `T.float32(1)`, `T.float32("inf")`, `T.int64(i)`: a constant or a conversion.
    fn constant(&mut self, node: &ast::ExprCall, path: &str, dtype: DType) -> Parse<Expr> {
        let [value] = self.bind_all(node, path, ["value"])?;
        let scalar = DType::of(dtype.scalar);
        let constant = if let ast::Expr::StringLiteral(s) = value {
            match not_finite(s.value.to_str()) {
                Some(value) if dtype.is_float() => Expr::float(value, scalar),
                _ => {
                    return Err(self.expected(
                        value,
                        "a number, or \"inf\", \"-inf\" or \"nan\" of a float type",
                    ));
                }
            }
        } else if dtype.is_float()
            && let Some(number) = Number::of(value)
        {
            Expr::float(number.as_float(), scalar)
        } else if let Some(number) = wide_int_literal(value) {
            self.int_constant(value, number, scalar)?
        } else if let ast::Expr::BooleanLiteral(b) = value {
            Expr::constant(b.value.into(), scalar)
        } else {
            let converted = self.expr(value)?;
            let lanes = converted.dtype().lanes;
            let converted = converted.cast(scalar.with_lanes(lanes));
            return if dtype.is_vector() {
                self.spread(value, converted, dtype.lanes)
            } else {
                Ok(converted)
            };
        };
        self.spread(value, constant, dtype.lanes)
    }

    /// A value of this many lanes: a scalar is the same in all of them.
    fn spread(&mut self, node: &ast::Expr, value: Expr, lanes: u16) -> Parse<Expr> {
        let found = value.dtype();
        if found.lanes == lanes {
            return Ok(value);
        }
        if found.is_vector() {
            let expected = found.with_lanes(lanes).to_string();
            return Err(self.error(node, ScriptErrorKind::Type { expected, found }));
        }
        Ok(Expr::broadcast(value, lanes))
    }

    fn int_constant(&mut self, node: &ast::Expr, number: i128, dtype: DType) -> Parse<Expr> {
        let fits = match dtype.scalar {
            ScalarType::U64 => u64::try_from(number).is_ok(),
            ScalarType::Bool => number == 0 || number == 1,
            other => i64::try_from(number).is_ok_and(|v| wrap_int(v, other) == v),
        };
        if fits {
            // `u64` is held by its bits.
            return Ok(Expr::int(number as i64, dtype));
        }
        let number = number.to_string();
        let expected = format!("it must fit {dtype}");
        Err(self.error(node, ScriptErrorKind::OutOfRange { number, expected }))
    }

    fn named_binary(&mut self, node: &ast::ExprCall, path: &str, op: BinOp) -> Parse<Expr> {
        let [a_node, b_node] = self.bind_all(node, path, ["a", "b"])?;
        let (a, b) = if op.is_logical() {
            (self.condition(a_node)?, self.condition(b_node)?)
        } else {
            let (a, b) = (self.expr(a_node)?, self.expr(b_node)?);
            self.operands(node, path, (a_node, a), (b_node, b))?
        };
        self.apply(node, path, op, a, b)
    }

    fn intrinsic(&mut self, node: &ast::ExprCall, path: &str, intrin: Intrin) -> Parse<Expr> {
        let nodes = self.positional(node, path)?;
        if nodes.len() != intrin.arity() {
            let kind = ScriptErrorKind::Arity {
                function: path.to_owned(),
                expected: counted(intrin.arity(), "argument", "arguments"),
                got: nodes.len(),
            };
            return Err(self.error(node, kind));
        }
        let args = nodes.iter().map(|arg| Ok((arg, self.expr(arg)?)));
        let args = args.collect::<Parse<_>>()?;
        let args = self.unify(node, path, args)?;
        self.apply_intrinsic(node, path, intrin, args)
    }

    /// Functions with a syntax of their own.
    fn special(&mut self, node: &ast::ExprCall, path: &str, name: &str) -> Parse<Expr> {
        match name {
            "Cast" => {
                let [dtype, value] = self.bind_all(node, path, ["dtype", "value"])?;
                self.conversion(dtype, value)
            }
            "cast" => {
                let [value, dtype] = self.bind_all(node, path, ["value", "dtype"])?;
                self.conversion(dtype, value)
            }
            "Select" => self.choice(node, path, Expr::select),
            "if_then_else" => self.choice(node, path, Expr::if_then_else),
            "Not" | "logical_not" => {
                let [value] = self.bind_all(node, path, ["a"])?;
                Ok(self.condition(value)?.not())
            }
            "likely" | "ignore_loop_partition" => {
                let [value] = self.bind_all(node, path, ["cond"])?;
                self.condition(value)
            }
            "Ramp" | "ramp" => {
                let [base, stride, lanes] =
                    self.bind_all(node, path, ["base", "stride", "lanes"])?;
                let values = (self.integer_scalar(base)?, self.integer_scalar(stride)?);
                let sides = ((base, values.0), (stride, values.1));
                let (base, stride) = self.operands(node, path, sides.0, sides.1)?;
                Ok(Expr::ramp(base, stride, self.lanes(lanes)?))
            }
            "Broadcast" | "broadcast" => {
                let [value, lanes] = self.bind_all(node, path, ["value", "lanes"])?;
                let scalar = self.expr(value)?;
                if scalar.dtype().is_vector() {
                    return Err(self.expected(value, "a scalar"));
                }
                Ok(Expr::broadcast(scalar, self.lanes(lanes)?))
            }
            "ceildiv" => {
                let [a, b] = self.bind_all(node, path, ["a", "b"])?;
                let (a_value, b_value) = (self.expr(a)?, self.expr(b)?);
                let (a, b) = self.operands(node, path, (a, a_value), (b, b_value))?;
                self.apply(node, path, BinOp::FloorDiv, a + &b - 1, b)
            }
            "min_value" | "max_value" | "infinity" => {
                let [dtype_node] = self.bind_all(node, path, ["dtype"])?;
                let dtype = self.dtype(dtype_node)?;
                if dtype.is_vector() {
                    return Err(self.expected(dtype_node, "the dtype of a scalar"));
                }
                Ok(limit(name, dtype))
            }
            "Let" => self.let_expr(node, path),
            _ if STATEMENTS.contains(&name) => Err(self.unsupported(
                &*node.func,
                "this function",
                "it is a statement of its own, not arithmetic",
            )),
            _ => {
                let known = BINARY.iter().map(|(n, _)| *n);
                let known = known
                    .chain(Intrin::ALL.iter().map(|i| i.name()))
                    .chain(OTHERS)
                    .chain(STATEMENTS);
                let similar = most_similar(name, known).map(|n| format!("T.{n}"));
                let name = path.to_owned();
                Err(self.error(
                    &*node.func,
                    ScriptErrorKind::UnknownFunction { name, similar },
                ))
            }
        }
    }

    /// A conversion that is kept as it is written, also of a constant.
    fn conversion(&mut self, dtype: &ast::Expr, value_node: &ast::Expr) -> Parse<Expr> {
        let dtype = self.dtype(dtype)?;
        let value = self.expr(value_node)?;
        let own = DType::of(dtype.scalar).with_lanes(value.dtype().lanes);
        let value = if value.dtype() == own {
            value
        } else {
            Expr::new(ExprKind::Cast(value), own)
        };
        self.spread(value_node, value, dtype.lanes)
    }

    fn choice(
        &mut self,
        node: &ast::ExprCall,
        path: &str,
        make: fn(Expr, Expr, Expr) -> Expr,
    ) -> Parse<Expr> {
        let [cond, a_node, b_node] =
            self.bind_all(node, path, ["condition", "true_value", "false_value"])?;
        let cond = self.condition(cond)?;
        let (a, b) = (self.expr(a_node)?, self.expr(b_node)?);
        let (mut a, mut b) = self.operands(node, path, (a_node, a), (b_node, b))?;
        if cond.dtype().is_vector() {
            a = self.spread(a_node, a, cond.dtype().lanes)?;
            b = self.spread(b_node, b, cond.dtype().lanes)?;
        }
        Ok(make(cond, a, b))
    }

    fn lanes(&mut self, node: &ast::Expr) -> Parse<u16> {
        if int_literal(node).is_none()
            && let Some(lanes) = scalable_lanes(&self.expr(node)?)
        {
            return Ok(lanes);
        }
        let lanes = self.integer(node)?;
        match u16::try_from(lanes) {
            Ok(lanes) if lanes > 0 && lanes <= MOST_LANES => Ok(lanes),
            _ => {
                let expected = "a vector has 1 to 32767 lanes".to_owned();
                let number = lanes.to_string();
                Err(self.error(node, ScriptErrorKind::OutOfRange { number, expected }))
            }
        }
    }

    /// `T.Let(body, where={x: value})`
    fn let_expr(&mut self, node: &ast::ExprCall, path: &str) -> Parse<Expr> {
        let [body, bindings] = self.bind_all(node, path, ["body", "where"])?;
        let ast::Expr::Dict(dict) = bindings else {
            return Err(self.expected(bindings, "a dictionary of names and values"));
        };
        let around = self.lets;
        self.lets += dict.items.len();
        if self.lets > LET_LIMIT {
            self.lets = around;
            let limit = LET_LIMIT;
            return Err(self.error(dict, ScriptErrorKind::TooDeep { limit }));
        }
        self.scopes.push();
        let result = self.let_bindings(dict, body);
        self.scopes.pop();
        self.lets = around;
        result
    }

    fn let_bindings(&mut self, dict: &ast::ExprDict, body: &ast::Expr) -> Parse<Expr> {
        let mut bound = Vec::new();
        for item in &dict.items {
            let Some(ast::Expr::Name(name)) = &item.key else {
                return Err(self.expected(&item.value, "a name before the value"));
            };
            let value = self.expr(&item.value)?;
            let var = Var::of(name.id.as_str(), &value);
            self.scopes
                .define(name.id.as_str(), Binding::Var(var.clone()));
            bound.push((var, value));
        }
        let body = self.expr(body)?;
        let nest = |body: Expr, (var, value)| {
            let dtype = body.dtype();
            Expr::new(ExprKind::Let { var, value, body }, dtype)
        };
        Ok(bound.into_iter().rev().fold(body, nest))
    }
}

/// Most lanes of a vector of constant length.
pub(super) const MOST_LANES: u16 = i16::MAX as u16;

/// The lanes that `T.vscale() * 4` says.
pub(super) fn scalable_lanes(e: &Expr) -> Option<u16> {
    let factor = match e.kind() {
        ExprKind::External(External::VScale, _) => 1,
        ExprKind::Binary(BinOp::Mul, a, b) => match (a.kind(), b.kind()) {
            (ExprKind::External(External::VScale, _), _) => b.as_int()?,
            (_, ExprKind::External(External::VScale, _)) => a.as_int()?,
            _ => return None,
        },
        _ => return None,
    };
    let factor = u16::try_from(factor).ok();
    factor
        .filter(|factor| (1..=MOST_LANES).contains(factor))
        .map(DType::scalable)
}

/// The smallest, largest or infinite value of a type.
fn limit(name: &str, dtype: DType) -> Expr {
    let largest = dtype.scalar.max_finite();
    let (min, max) = match dtype.scalar {
        // All bits set: `u64` is held by its bits.
        ScalarType::U64 => (0, -1),
        scalar => scalar.int_range().unwrap_or_default(),
    };
    match (name, dtype.is_float()) {
        ("infinity", true) => Expr::float(f64::INFINITY, dtype),
        ("min_value", true) => Expr::float(-largest, dtype),
        (_, true) => Expr::float(largest, dtype),
        ("min_value", false) => Expr::int(min, dtype),
        (_, false) => Expr::int(max, dtype),
    }
}

/// The value of an integer literal of up to 64 bits with its sign.
fn wide_int_literal(node: &ast::Expr) -> Option<i128> {
    match node {
        ast::Expr::NumberLiteral(n) => n.value.as_int()?.as_u64().map(i128::from),
        ast::Expr::UnaryOp(op) if op.op == ast::UnaryOp::USub => {
            Some(-wide_int_literal(&op.operand)?)
        }
        _ => None,
    }
}
