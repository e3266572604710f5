//! Calls: the special forms (`R.match_cast`, constants), and functions.

use ruff_python_ast as ast;

use super::super::context::{Context, Parse, dotted, float_literal, int_literal};
use super::super::scope::{Binding, most_similar};
use super::Reader;
use super::dps::Form;
use crate::ir::graph::{Arg, Callee, Def};
use crate::ir::{AttrValue, Attrs, Expr, StructInfo};
use crate::script::ScriptErrorKind;
use crate::tensor::DType;

/// Calls of `R` that are read by rules of their own.
pub(super) const FORMS: [&str; 15] = [
    "call_tir",
    "call_tir_inplace",
    "call_dps_packed",
    "call_packed",
    "call_pure_packed",
    "match_cast",
    "const",
    "shape",
    "prim_value",
    "str",
    "dtype",
    "tuple",
    "ExternFunc",
    "output",
    "dataflow",
];

/// Types of `R`.
pub(super) const TYPES: [&str; 7] = [
    "Tensor", "DTensor", "Shape", "Tuple", "Prim", "Object", "Callable",
];

impl Reader<'_, '_> {
    /// A call.
    pub(super) fn call(&mut self, call: &ast::ExprCall) -> Parse<Def> {
        if let Some(name) = self.global(&call.func) {
            let args = self.positional_args(call, &name)?;
            return Ok(function_call(Callee::Global(name), args));
        }
        let Some(path) = dotted(&call.func) else {
            return Err(self.cx.expected(&*call.func, "the name of a function"));
        };
        if let ast::Expr::Name(name) = &*call.func
            && self.cx.scopes.get(&name.id).is_some()
        {
            return self.call_closure(call, name);
        }
        if path.starts_with("T.") {
            return Ok(Def::Arg(Arg::Prim(
                self.cx.expr(&ast::Expr::Call(call.clone()))?,
            )));
        }
        let Some(op) = path
            .strip_prefix("R.")
            .or_else(|| path.strip_prefix("relax."))
        else {
            return Err(match call.func.as_attribute_expr() {
                Some(attr) if self.is_module_name(&attr.value) => {
                    let name = attr.attr.to_string();
                    let names = self.cx.functions.iter().map(String::as_str);
                    let mut names: Vec<_> = names.collect();
                    names.sort_unstable();
                    let similar = most_similar(&name, names.into_iter());
                    let kind = ScriptErrorKind::Undefined { name, similar };
                    self.cx.error(&attr.attr, kind)
                }
                _ => {
                    let name = path.split('.').next().unwrap_or(&path).to_owned();
                    match self.cx.lookup(&*call.func, &name) {
                        Ok(_) => self.cx.expected(&*call.func, "a function"),
                        Err(reported) => reported,
                    }
                }
            });
        };
        match op {
            "call_tir" => self.call_dps(call, Form::Tir),
            "call_tir_inplace" => self.call_dps(call, Form::TirInplace),
            "call_dps_packed" => self.call_dps(call, Form::Packed),
            "call_packed" => self.call_packed(call, "R.call_packed", Callee::Packed),
            "call_pure_packed" => self.call_packed(call, "R.call_pure_packed", Callee::PurePacked),
            "match_cast" => {
                let [value, sinfo] =
                    self.cx
                        .bind_all(call, "R.match_cast", ["value", "struct_info"])?;
                let value = self.arg(value, "lv")?;
                Ok(Def::MatchCast(value, self.cx.struct_info(sinfo)?))
            }
            "const" => {
                let [value, dtype] = self.cx.bind(call, "R.const", ["value", "dtype"], 1)?;
                let value = value.expect("it is required");
                let dtype = dtype.map(|node| self.cx.dtype(node)).transpose()?;
                Ok(Def::Arg(Arg::Const(self.cx.tensor_constant(value, dtype)?)))
            }
            "shape" => {
                let [dims] = self.cx.bind_all(call, "R.shape", ["values"])?;
                Ok(Def::Arg(Arg::Shape(self.extents(dims)?)))
            }
            "prim_value" => {
                let [value] = self.cx.bind_all(call, "R.prim_value", ["value"])?;
                Ok(Def::Arg(Arg::Prim(self.number(value)?)))
            }
            "str" => {
                let [text] = self.cx.bind_all(call, "R.str", ["value"])?;
                Ok(Def::Arg(Arg::Str(self.cx.string(text)?)))
            }
            "dtype" => {
                let [dtype] = self.cx.bind_all(call, "R.dtype", ["value"])?;
                Ok(Def::Arg(Arg::DType(self.cx.dtype(dtype)?)))
            }
            "tuple" => {
                let items = self.cx.positional(call, "R.tuple")?.iter();
                let items = items.map(|item| self.arg(item, "lv"));
                Ok(Def::Arg(Arg::Tuple(items.collect::<Parse<_>>()?)))
            }
            "ExternFunc" => {
                let [name] = self.cx.bind_all(call, "R.ExternFunc", ["name"])?;
                Ok(Def::Arg(Arg::Extern(self.cx.string(name)?)))
            }
            op => {
                let op = self.operator(call, op)?;
                self.operator_call(call, op)
            }
        }
    }

    /// Positional arguments of a function that takes no keywords.
    fn positional_args(&mut self, call: &ast::ExprCall, function: &str) -> Parse<Vec<Arg>> {
        let nodes = self.cx.positional(call, function)?;
        nodes.iter().map(|node| self.operand(node, false)).collect()
    }

    fn call_closure(&mut self, call: &ast::ExprCall, name: &ast::ExprName) -> Parse<Def> {
        let args = self.positional_args(call, &name.id)?;
        match self.cx.lookup(name, &name.id)? {
            Binding::Value { level, id } if level == self.level => {
                Ok(function_call(Callee::Value(id), args))
            }
            Binding::Value { level, id } => {
                let depth = self.level - level;
                let captured = Def::Arg(Arg::Captured { depth, value: id });
                let local = self.bind(&name.id, captured, None, name)?;
                Ok(function_call(Callee::Value(local), args))
            }
            other => {
                let kind = ScriptErrorKind::WrongKind {
                    name: name.id.to_string(),
                    is: other.kind(),
                    expected: "a function",
                };
                Err(self.cx.error(name, kind))
            }
        }
    }

    pub(super) fn input_list(&mut self, nodes: &[ast::Expr]) -> Parse<Vec<Arg>> {
        nodes.iter().map(|node| self.operand(node, false)).collect()
    }

    fn call_packed(
        &mut self,
        call: &ast::ExprCall,
        function: &str,
        callee: fn(String) -> Callee,
    ) -> Parse<Def> {
        let Some((name, rest)) = call.arguments.args.split_first() else {
            let kind = ScriptErrorKind::MissingArgument {
                function: function.to_owned(),
                argument: "func".to_owned(),
            };
            return Err(self.cx.error(call, kind));
        };
        let name = match name {
            ast::Expr::StringLiteral(s) => s.value.to_str().to_owned(),
            _ => match self.leaf(name)? {
                Arg::Extern(name) => name,
                _ => return Err(self.cx.expected(name, "the name of a packed function")),
            },
        };
        let args = self.input_list(rest)?;
        let (attrs, sinfo_args) = self.keywords(call)?;
        Ok(Def::Call {
            callee: callee(name),
            args,
            attrs,
            sinfo_args,
        })
    }

    /// Keyword arguments: attributes, and the types in `sinfo_args`. One that is `None` is left out.
    fn keywords(&mut self, call: &ast::ExprCall) -> Parse<(Attrs, Vec<StructInfo>)> {
        let (mut attrs, mut sinfo_args) = (Attrs::new(), vec![]);
        for keyword in &call.arguments.keywords {
            let Some(name) = &keyword.arg else {
                return Err(self.cx.unsupported(keyword, "`**` in arguments", ""));
            };
            let types = ["sinfo_args", "ty_args", "out_sinfo", "out_ty"];
            if types.contains(&name.as_str()) {
                for node in Context::elements(&keyword.value) {
                    sinfo_args.push(self.cx.struct_info(node)?);
                }
            } else {
                let value = self.attr(&keyword.value)?;
                if value != AttrValue::None {
                    attrs.insert(name.to_string(), value);
                }
            }
        }
        Ok((attrs, sinfo_args))
    }

    /// An attribute of an operator; `R.dtype`, `R.str`, `R.prim_value` and `R.device` are plain values here.
    pub(super) fn attr(&mut self, node: &ast::Expr) -> Parse<AttrValue> {
        let call = match node {
            ast::Expr::Call(call) => call,
            // Indices of graph values are `int64`.
            ast::Expr::Lambda(_) => {
                let map = self.cx.lambda(node, &|_| DType::I64)?;
                return Ok(AttrValue::IndexMap(map));
            }
            _ => return self.cx.attr_value(node),
        };
        match dotted(&call.func).as_deref() {
            Some("R.dtype") => {
                let [dtype] = self.cx.bind_all(call, "R.dtype", ["value"])?;
                Ok(AttrValue::DType(self.cx.dtype(dtype)?))
            }
            Some("R.str") => {
                let [text] = self.cx.bind_all(call, "R.str", ["value"])?;
                Ok(AttrValue::Str(self.cx.string(text)?))
            }
            Some("R.prim_value") => {
                let [value] = self.cx.bind_all(call, "R.prim_value", ["value"])?;
                match value {
                    ast::Expr::Call(_) => Ok(AttrValue::Expr(self.number(value)?)),
                    plain => self.cx.attr_value(plain),
                }
            }
            Some("R.device") => {
                let names = ["device_type", "index"];
                let nodes = self.cx.bind(call, "R.device", names, 1)?;
                let mut device = Attrs::new();
                for (name, node) in names.into_iter().zip(nodes) {
                    let value = node.map_or(Ok(0), |node| self.cx.integer(node))?;
                    device.insert(name.to_owned(), AttrValue::Int(value));
                }
                Ok(AttrValue::Dict(device))
            }
            _ => self.cx.attr_value(node),
        }
    }

    /// An operand: a tuple of scalars is a shape, but for an operator that takes a shape there, also the empty one.
    pub(super) fn operand(&mut self, node: &ast::Expr, takes_shape: bool) -> Parse<Arg> {
        let items = match node {
            ast::Expr::Tuple(tuple) => &tuple.elts,
            ast::Expr::List(list) => &list.elts,
            _ => return self.arg(node, "lv"),
        };
        let scalars = items
            .iter()
            .all(|item| int_literal(item).is_some() || self.is_scalar(item));
        if scalars && (takes_shape || !items.is_empty()) {
            Ok(Arg::Shape(self.extents(node)?))
        } else {
            self.arg(node, "lv")
        }
    }

    /// A scalar expression, or a number as Python has it: a float has 64 bits.
    pub(super) fn number(&mut self, node: &ast::Expr) -> Parse<Expr> {
        match float_literal(node) {
            Some(value) => Ok(Expr::float(value, DType::F64)),
            None => self.scalar(node),
        }
    }
}

fn function_call(callee: Callee, args: Vec<Arg>) -> Def {
    Def::Call {
        callee,
        args,
        attrs: Attrs::new(),
        sinfo_args: vec![],
    }
}
