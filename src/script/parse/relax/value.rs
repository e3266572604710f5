//! Values of the graph dialect: what the right side of an assignment computes, and arguments.

use ruff_python_ast as ast;
use ruff_text_size::Ranged;

use super::super::context::{Parse, dotted, float_literal, int_literal};
use super::super::scope::Binding;
use super::Reader;
use crate::ir::graph::{Arg, Callee, Def};
use crate::ir::{Attrs, Expr, StructInfo};
use crate::script::ScriptErrorKind;
use crate::tensor::DType;

/// The operator of `R` for an operator of Python.
fn operator(op: ast::Operator) -> Option<&'static str> {
    Some(match op {
        ast::Operator::Add => "add",
        ast::Operator::Sub => "subtract",
        ast::Operator::Mult => "multiply",
        ast::Operator::Div => "divide",
        ast::Operator::FloorDiv => "floor_divide",
        ast::Operator::Mod => "mod",
        ast::Operator::Pow => "power",
        ast::Operator::MatMult => "matmul",
        ast::Operator::BitAnd
        | ast::Operator::BitOr
        | ast::Operator::BitXor
        | ast::Operator::LShift
        | ast::Operator::RShift => return None,
    })
}

fn comparison(op: ast::CmpOp) -> Option<&'static str> {
    Some(match op {
        ast::CmpOp::Eq => "equal",
        ast::CmpOp::NotEq => "not_equal",
        ast::CmpOp::Lt => "less",
        ast::CmpOp::LtE => "less_equal",
        ast::CmpOp::Gt => "greater",
        ast::CmpOp::GtE => "greater_equal",
        ast::CmpOp::Is | ast::CmpOp::IsNot | ast::CmpOp::In | ast::CmpOp::NotIn => return None,
    })
}

/// A call of an operator with these operands.
pub(super) fn op_call(op: &str, args: Vec<Arg>, attrs: Attrs) -> Def {
    Def::Call {
        callee: Callee::Op(crate::ops::op(op)),
        args,
        attrs,
        sinfo_args: vec![],
    }
}

/// Constants that a text may leave out: the printer counts them.
const MOST_OMITTED: usize = 1 << 16;

impl Reader<'_, '_> {
    /// What an expression computes.
    pub(super) fn def(&mut self, node: &ast::Expr) -> Parse<Def> {
        match node {
            ast::Expr::Call(call) => self.call(call),
            ast::Expr::BinOp(op) if !self.is_scalar(node) => {
                let Some(name) = operator(op.op) else {
                    let instead = "write the call of the operator";
                    return Err(self.cx.unsupported(node, "this operator", instead));
                };
                let args = self.operands(&op.left, &op.right)?;
                Ok(op_call(name, args, Attrs::new()))
            }
            ast::Expr::Compare(op) if !self.is_scalar(node) => {
                let ([kind], [right]) = (&*op.ops, &*op.comparators) else {
                    return Err(self.cx.unsupported(node, "a chain of comparisons", ""));
                };
                let Some(name) = comparison(*kind) else {
                    return Err(self.cx.unsupported(node, "`is` or `in`", ""));
                };
                let args = self.operands(&op.left, right)?;
                Ok(op_call(name, args, Attrs::new()))
            }
            ast::Expr::UnaryOp(op) if op.op == ast::UnaryOp::USub && !self.is_scalar(node) => {
                let arg = self.arg(&op.operand, "lv")?;
                Ok(op_call("negative", vec![arg], Attrs::new()))
            }
            ast::Expr::Subscript(subscript) if is_metadata(subscript) => {
                self.constant_of(subscript).map(Def::Arg)
            }
            ast::Expr::Subscript(subscript) => self.tuple_item(subscript),
            _ => self.leaf(node).map(Def::Arg),
        }
    }

    /// An argument: a leaf as it is, anything else bound under a name of its own.
    pub(super) fn arg(&mut self, node: &ast::Expr, name: &str) -> Parse<Arg> {
        match self.def(node)? {
            Def::Arg(arg) => Ok(arg),
            def => Ok(Arg::Value(self.bind(name, def, None, node)?)),
        }
    }

    /// Two operands of a Python operator; a number becomes a constant of the other side's element type.
    fn operands(&mut self, left: &ast::Expr, right: &ast::Expr) -> Parse<Vec<Arg>> {
        let number = |n: &ast::Expr| int_literal(n).is_some() || float_literal(n).is_some();
        if number(right) {
            let a = self.arg(left, "lv")?;
            let b = self.number_like(right, &a)?;
            Ok(vec![a, b])
        } else if number(left) {
            let b = self.arg(right, "lv")?;
            Ok(vec![self.number_like(left, &b)?, b])
        } else {
            Ok(vec![self.arg(left, "lv")?, self.arg(right, "lv")?])
        }
    }

    fn number_like(&mut self, node: &ast::Expr, other: &Arg) -> Parse<Arg> {
        match self.builder.scope().arg(other) {
            StructInfo::Tensor(info) if info.dtype.is_some() => {
                let dtype = info.dtype.unwrap_or(DType::F32);
                self.cx.tensor_constant(node, Some(dtype)).map(Arg::Const)
            }
            _ => {
                let instead = "write it with its dtype, as `R.const(2.0, \"float32\")`";
                Err(self
                    .cx
                    .unsupported(node, "a number without a dtype", instead))
            }
        }
    }

    /// Something that needs no computation; the result of a call or subscript is bound to a name.
    pub(super) fn leaf(&mut self, node: &ast::Expr) -> Parse<Arg> {
        match node {
            ast::Expr::Name(name) => self.name(name),
            ast::Expr::Attribute(_) => match self.global(node) {
                Some(name) => Ok(Arg::Global(name)),
                None => Err(self
                    .cx
                    .expected(node, "a function of the module or a value")),
            },
            ast::Expr::Tuple(tuple) => self.tuple(&tuple.elts),
            ast::Expr::List(list) => self.tuple(&list.elts),
            ast::Expr::StringLiteral(s) => Ok(Arg::Str(s.value.to_str().to_owned())),
            ast::Expr::EllipsisLiteral(_) => Err(self.ellipsis(node)),
            ast::Expr::NumberLiteral(_)
            | ast::Expr::BooleanLiteral(_)
            | ast::Expr::UnaryOp(_)
            | ast::Expr::BinOp(_)
            | ast::Expr::Compare(_) => Ok(Arg::Prim(self.scalar(node)?)),
            ast::Expr::Call(_) | ast::Expr::Subscript(_) => self.arg(node, "lv"),
            ast::Expr::Starred(_) => Err(self.cx.unsupported(node, "`*` in arguments", "")),
            _ => Err(self.cx.expected(node, "a graph value")),
        }
    }

    fn tuple(&mut self, items: &[ast::Expr]) -> Parse<Arg> {
        let items = items.iter().map(|item| self.arg(item, "lv"));
        items.collect::<Parse<_>>().map(Arg::Tuple)
    }

    /// A scalar expression; integers are `int64`.
    pub(super) fn scalar(&mut self, node: &ast::Expr) -> Parse<Expr> {
        self.cx.expr_as(node, DType::I64)
    }

    fn name(&mut self, name: &ast::ExprName) -> Parse<Arg> {
        if self.cx.scopes.get(&name.id).is_none() && self.cx.functions.contains(name.id.as_str()) {
            return Ok(Arg::Global(name.id.to_string()));
        }
        match self.cx.lookup(name, &name.id)? {
            Binding::Value { level, id } if level == self.level => Ok(Arg::Value(id)),
            Binding::Value { level, id } => Ok(Arg::Captured {
                depth: self.level - level,
                value: id,
            }),
            Binding::Var(var) => Ok(Arg::Prim(var.expr())),
            other => {
                let kind = ScriptErrorKind::WrongKind {
                    name: name.id.to_string(),
                    is: other.kind(),
                    expected: "a graph value",
                };
                Err(self.cx.error(name, kind))
            }
        }
    }

    /// The function that `f`, `cls.f` or `Module.f` names, if it does.
    pub(super) fn global(&self, node: &ast::Expr) -> Option<String> {
        match node {
            ast::Expr::Name(name) => {
                let free = self.cx.scopes.get(&name.id).is_none();
                let name = name.id.to_string();
                (free && self.cx.functions.contains(&name)).then_some(name)
            }
            ast::Expr::Attribute(attr) => {
                let name = attr.attr.to_string();
                let known = self.cx.functions.contains(&name);
                (self.is_module_name(&attr.value) && known).then_some(name)
            }
            _ => None,
        }
    }

    /// Whether an expression is arithmetic on numbers and symbolic dimensions, and no graph value.
    pub(super) fn is_scalar(&self, node: &ast::Expr) -> bool {
        match node {
            ast::Expr::NumberLiteral(_) => true,
            ast::Expr::Name(name) => {
                matches!(self.cx.scopes.get(&name.id), Some(Binding::Var(_)))
            }
            ast::Expr::BinOp(op) => self.is_scalar(&op.left) && self.is_scalar(&op.right),
            ast::Expr::UnaryOp(op) => self.is_scalar(&op.operand),
            ast::Expr::Compare(op) => {
                self.is_scalar(&op.left) && op.comparators.iter().all(|c| self.is_scalar(c))
            }
            ast::Expr::Call(call) => dotted(&call.func).is_some_and(|path| path.starts_with("T.")),
            _ => false,
        }
    }

    /// Extents given as a tuple, list or `R.shape([...])`.
    pub(super) fn extents(&mut self, node: &ast::Expr) -> Parse<Vec<Expr>> {
        if let ast::Expr::Call(call) = node
            && dotted(&call.func).is_some_and(|path| path == "R.shape")
        {
            let [dims] = self.cx.bind_all(call, "R.shape", ["values"])?;
            return self.extents(dims);
        }
        self.cx.shape(node, DType::I64)
    }

    fn tuple_item(&mut self, node: &ast::ExprSubscript) -> Parse<Def> {
        let tuple = self.arg(&node.value, "lv")?;
        let index = self.cx.integer(&node.slice)?;
        let len = match self.builder.scope().arg(&tuple) {
            StructInfo::Tuple(items) => Some(items.len()),
            _ => None,
        };
        let index = match (usize::try_from(index), len) {
            (Ok(index), _) => index,
            (Err(_), Some(len)) if index.unsigned_abs() as usize <= len => {
                len - index.unsigned_abs() as usize
            }
            _ => return Err(self.cx.expected(&*node.slice, "an index of the tuple")),
        };
        Ok(match &tuple {
            Arg::Tuple(items) if index < items.len() => Def::Arg(items[index].clone()),
            _ => Def::TupleItem(tuple, index),
        })
    }

    /// `metadata["key"][index]`
    fn constant_of(&mut self, node: &ast::ExprSubscript) -> Parse<Arg> {
        let keys = node.value.as_subscript_expr();
        let key = keys.map(|keys| &*keys.slice);
        let Some(key) = key else {
            return Err(self
                .cx
                .expected(node, "`metadata[\"relax.expr.Constant\"][0]`"));
        };
        let key = self.cx.string(key)?;
        let index = self.cx.integer(&node.slice)?;
        let at = usize::try_from(index).ok();
        let (found, expected) = match self.cx.graph.metadata.get(&key) {
            Some(list) => {
                let entry = at.and_then(|at| Some((at, list.get(at)?)));
                let arg = entry.map(|(at, tensor)| match tensor {
                    Some(tensor) => Arg::Const(tensor.clone()),
                    None => Arg::Omitted(at),
                });
                let expected = format!("`metadata[\"{key}\"]` has {} constants", list.len());
                (arg, expected)
            }
            None => {
                let at = at.filter(|at| *at < MOST_OMITTED);
                let expected = format!("of constants left out there are at most {MOST_OMITTED}");
                (at.map(Arg::Omitted), expected)
            }
        };
        found.ok_or_else(|| {
            let number = index.to_string();
            let kind = ScriptErrorKind::OutOfRange { number, expected };
            self.cx.error(&node.slice.range(), kind)
        })
    }
}

/// Whether this is `metadata[...][...]`.
fn is_metadata(node: &ast::ExprSubscript) -> bool {
    let inner = match &*node.value {
        ast::Expr::Subscript(inner) => &inner.value,
        other => other,
    };
    matches!(inner.as_name_expr(), Some(name) if name.id == "metadata")
        || matches!(node.value.as_name_expr(), Some(name) if name.id == "metadata")
}
