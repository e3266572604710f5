//! What both dialects share while parsing: the text, the errors so far, the names in scope.

use std::collections::{HashMap, HashSet};

use ruff_python_ast as ast;
use ruff_text_size::{Ranged, TextRange};

use super::expr::widened;
use super::number::Number;
use super::scope::{Binding, Scopes};
use crate::ir::{AttrValue, Attrs, Expr, Origin, Var};
use crate::script::error::{ScriptError, ScriptErrorKind};
use crate::support::diag::Span;
use crate::tensor::DType;

/// Proof that an error was added to the context. There is no other way to make one than [`Context::error`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Reported(());

/// A result whose error has been added to the context.
pub(super) type Parse<T> = Result<T, Reported>;

/// The bytes of a syntax node.
pub(super) fn span(range: TextRange) -> Span {
    (range.start().to_usize()..range.end().to_usize()).into()
}

/// Characters of a line up to which it is kept as an origin.
const ORIGIN_CHARS: usize = 80;

/// State of parsing one text.
pub(super) struct Context<'a> {
    /// The text.
    pub(super) text: &'a str,
    /// Names in scope.
    pub(super) scopes: Scopes,
    /// Names of all functions of the module: a function may be used above its definition.
    pub(super) functions: HashSet<String>,
    /// Names declared by `n = TypeVar("n")` above the module: each function has a symbolic dimension of this name.
    pub(super) type_vars: Vec<String>,
    /// Types of the scalars that the body of the current function declares (`n = T.int64()`), known before its parameters.
    pub(super) declared: HashMap<String, DType>,
    /// Types of the scalars that functions return.
    pub(super) results: HashMap<String, DType>,
    /// Name of the module's class.
    pub(super) module_name: Option<String>,
    /// What the graph functions share.
    pub(super) graph: super::relax::Graph,
    /// Names that the `T.Let`s around the current expression define: each is a level of its tree.
    pub(super) lets: usize,
    errors: Vec<ScriptError>,
    /// The last offset of which the line was asked for, and that line, from 1 on.
    line: (usize, usize),
}

impl<'a> Context<'a> {
    /// A context without errors and names.
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            text,
            scopes: Scopes::default(),
            functions: HashSet::new(),
            type_vars: vec![],
            declared: HashMap::new(),
            results: HashMap::new(),
            module_name: None,
            graph: super::relax::Graph::default(),
            lets: 0,
            errors: vec![],
            line: (0, 1),
        }
    }

    /// The result, if no error was added.
    pub(super) fn finish<T>(self, result: T) -> Result<T, Vec<ScriptError>> {
        if self.errors.is_empty() {
            Ok(result)
        } else {
            Err(self.errors)
        }
    }

    /// Number of errors so far, for [`Self::forget_errors`].
    pub(super) fn error_count(&self) -> usize {
        self.errors.len()
    }

    /// Takes back the errors after the first `count`: those of a part that is read again.
    pub(super) fn forget_errors(&mut self, count: usize) {
        self.errors.truncate(count);
    }

    /// Adds an error.
    pub(super) fn error(&mut self, node: &impl Ranged, kind: ScriptErrorKind) -> Reported {
        self.errors.push(ScriptError {
            span: span(node.range()),
            kind,
        });
        Reported(())
    }

    /// Adds the error that something cannot be used; `instead` says what to write, or is empty.
    pub(super) fn unsupported(
        &mut self,
        node: &impl Ranged,
        what: &'static str,
        instead: &'static str,
    ) -> Reported {
        self.error(node, ScriptErrorKind::Unsupported { what, instead })
    }

    /// Adds the error that something else was expected; what is there is taken from the text.
    pub(super) fn expected(&mut self, node: &impl Ranged, expected: &'static str) -> Reported {
        let found = self.source(node);
        self.error(node, ScriptErrorKind::Expected { expected, found })
    }

    /// The text of a node, in backquotes, cut if it is long.
    pub(super) fn source(&self, node: &impl Ranged) -> String {
        let span = span(node.range());
        let text = self.text.get(span.start..span.end).unwrap_or_default();
        let line = text.lines().next().unwrap_or_default();
        match line.char_indices().nth(40) {
            Some((cut, _)) => format!("`{}…`", &line[..cut]),
            None if line.len() < text.len() => format!("`{line}…`"),
            None => format!("`{line}`"),
        }
    }

    /// The line that a node starts in. Nodes are asked for from the first to the last.
    pub(super) fn origin(&mut self, node: &impl Ranged) -> Origin {
        let start = span(node.range()).start;
        let (known, line) = self.line;
        let line = match self.text.get(known..start) {
            Some(between) => line + between.matches('\n').count(),
            None => 1 + self.text[..start].matches('\n').count(),
        };
        self.line = (start, line);
        let from = self.text[..start].rfind('\n').map_or(0, |at| at + 1);
        let text = self.text[from..].lines().next().unwrap_or_default().trim();
        let text = match text.char_indices().nth(ORIGIN_CHARS) {
            Some((cut, _)) => format!("{}…", &text[..cut]),
            None => text.to_owned(),
        };
        Origin::Line(line, text.into())
    }

    /// What a name stands for.
    pub(super) fn lookup(&mut self, node: &impl Ranged, name: &str) -> Parse<Binding> {
        match self.scopes.get(name) {
            Some(Binding::Failed) => Err(Reported(())),
            Some(binding) => Ok(binding.clone()),
            None => {
                let similar = self.scopes.similar(name);
                let name = name.to_owned();
                Err(self.error(node, ScriptErrorKind::Undefined { name, similar }))
            }
        }
    }

    /// Marks all names that an assignment target would define as failed.
    pub(super) fn define_failed(&mut self, target: &ast::Expr) {
        match target {
            ast::Expr::Name(name) => self.scopes.define(name.id.as_str(), Binding::Failed),
            ast::Expr::Tuple(tuple) => tuple.elts.iter().for_each(|e| self.define_failed(e)),
            ast::Expr::List(list) => list.elts.iter().for_each(|e| self.define_failed(e)),
            _ => {}
        }
    }

    /// The text of a string literal.
    pub(super) fn string(&mut self, node: &ast::Expr) -> Parse<String> {
        if let ast::Expr::StringLiteral(s) = node {
            Ok(s.value.to_str().to_owned())
        } else if let Some(text) = self.graph.text_of(node) {
            Ok(text)
        } else {
            Err(self.expected(node, "a string"))
        }
    }

    /// The value of an integer literal, which may be negative.
    pub(super) fn integer(&mut self, node: &ast::Expr) -> Parse<i64> {
        match int_literal(node) {
            Some(value) => Ok(value),
            None => Err(self.expected(node, "an integer")),
        }
    }

    /// The value of `True` or `False`.
    pub(super) fn boolean(&mut self, node: &ast::Expr) -> Parse<bool> {
        if let ast::Expr::BooleanLiteral(b) = node {
            Ok(b.value)
        } else {
            Err(self.expected(node, "`True` or `False`"))
        }
    }

    /// An element type, written as a string (`"float32"`) or as `T.float32`.
    pub(super) fn dtype(&mut self, node: &ast::Expr) -> Parse<DType> {
        let name = match node {
            ast::Expr::StringLiteral(s) => s.value.to_str().to_owned(),
            // The type of an address may say what is there.
            ast::Expr::Call(call) if is_handle(call) => return Ok(DType::U64),
            ast::Expr::Attribute(ast::ExprAttribute { value, attr, .. })
                if attr == "ty" && value.as_call_expr().is_some_and(is_handle) =>
            {
                return Ok(DType::U64);
            }
            ast::Expr::Attribute(a) => a.attr.to_string(),
            _ => return Err(self.expected(node, "a dtype")),
        };
        match name.as_str() {
            "handle" => return Ok(DType::U64),
            // A call without a result counts as one that nobody reads.
            "void" => return Ok(DType::I32),
            _ => {}
        }
        name.parse()
            .map_err(|_| self.error(node, ScriptErrorKind::UnknownDType { name }))
    }

    /// The elements of a tuple or list; a lone expression is one element.
    pub(super) fn elements(node: &ast::Expr) -> &[ast::Expr] {
        match node {
            ast::Expr::Tuple(tuple) => &tuple.elts,
            ast::Expr::List(list) => &list.elts,
            other => std::slice::from_ref(other),
        }
    }

    /// An attribute value: a literal, a list, a dictionary, or an expression.
    pub(super) fn attr_value(&mut self, node: &ast::Expr) -> Parse<AttrValue> {
        Ok(match node {
            ast::Expr::NoneLiteral(_) => AttrValue::None,
            ast::Expr::BooleanLiteral(b) => AttrValue::Bool(b.value),
            ast::Expr::StringLiteral(s) => AttrValue::Str(s.value.to_str().to_owned()),
            ast::Expr::Tuple(_) | ast::Expr::List(_) => {
                let values = Self::elements(node).iter().map(|e| self.attr_value(e));
                AttrValue::List(values.collect::<Parse<_>>()?)
            }
            ast::Expr::Dict(_) => AttrValue::Dict(self.attrs(node)?),
            // A target is kept as its description.
            ast::Expr::Call(call)
                if matches!(dotted(&call.func).as_deref(), Some("T.target" | "I.target")) =>
            {
                let [target] = self.bind_all(call, "T.target", ["target"])?;
                self.attr_value(target)?
            }
            ast::Expr::Call(call) if let Some(function) = self.function_value(call)? => function,
            ast::Expr::Name(name)
                if let Some(Binding::Buffer(buffer)) = self.scopes.get(&name.id) =>
            {
                AttrValue::Buffer(buffer.clone())
            }
            ast::Expr::Subscript(subscript)
                if Self::elements(&subscript.slice)
                    .iter()
                    .any(|e| e.is_slice_expr()) =>
            {
                AttrValue::Region(self.region(node)?)
            }
            _ if let Some(text) = self.graph.text_of(node) => AttrValue::Str(text),
            ast::Expr::Lambda(_) => AttrValue::Function(self.lambda(node, &|_| DType::I32)?),
            _ if let Some(value) = int_literal(node) => AttrValue::Int(value),
            _ if let Some(value) = float_literal(node) => AttrValue::Float(value),
            _ => AttrValue::Expr(self.expr(node)?),
        })
    }

    /// The positional and keyword arguments of a call as plain values.
    pub(super) fn plain_arguments(
        &mut self,
        call: &ast::ExprCall,
    ) -> Parse<(Vec<AttrValue>, Attrs)> {
        let args = call.arguments.args.iter().map(|arg| self.attr_value(arg));
        let args = args.collect::<Parse<_>>()?;
        let mut attrs = Attrs::new();
        for keyword in &call.arguments.keywords {
            let Some(name) = &keyword.arg else {
                return Err(self.unsupported(keyword, "`**` in arguments", ""));
            };
            let value = self.attr_value(&keyword.value)?;
            attrs.insert(name.to_string(), value);
        }
        Ok((args, attrs))
    }

    /// A dictionary of attributes with strings as keys.
    pub(super) fn attrs(&mut self, node: &ast::Expr) -> Parse<Attrs> {
        let ast::Expr::Dict(dict) = node else {
            return Err(self.expected(node, "a dictionary"));
        };
        let mut attrs = Attrs::new();
        for item in &dict.items {
            let Some(key) = &item.key else {
                return Err(self.unsupported(&item.value, "`**` in a dictionary", ""));
            };
            let name = self.string(key)?;
            let value = self.attr_value(&item.value)?;
            if attrs.insert(name.clone(), value).is_some() {
                return Err(self.error(key, ScriptErrorKind::Duplicate { name }));
            }
        }
        Ok(attrs)
    }

    /// Extents of a shape. Integers are of type `int`; strings hold expressions, and a name in a string that is not known yet
    /// is defined as a symbolic dimension.
    pub(super) fn shape(&mut self, node: &ast::Expr, int: DType) -> Parse<Vec<Expr>> {
        let dims = Self::elements(node).iter();
        let dims = dims.map(|node| Ok(widened(&self.dim(node, int)?, int)));
        dims.collect()
    }

    /// Extents of a tensor: none negative, and as many elements as an `int64` can count.
    pub(super) fn extents(&mut self, node: &ast::Expr, int: DType) -> Parse<Vec<Expr>> {
        let dims = self.shape(node, int)?;
        let mut elements = 1i64;
        for (dim, node) in dims.iter().zip(Self::elements(node)) {
            let extent = dim.as_int().unwrap_or(1);
            if extent < 0 {
                return Err(self.expected(node, "an extent that is not negative"));
            }
            elements = elements
                .checked_mul(extent.max(1))
                .ok_or_else(|| self.expected(node, "a tensor of fewer than 2^63 elements"))?;
        }
        Ok(dims)
    }

    pub(super) fn dim(&mut self, node: &ast::Expr, int: DType) -> Parse<Expr> {
        if let ast::Expr::StringLiteral(s) = node {
            return self.dim_in_string(s, int);
        }
        let dim = self.expr(node)?;
        if matches!(Number::of(node), Some(Number::Int(_))) && dim.dtype().bytes() < int.bytes() {
            return Ok(dim.cast(int)); // widened only: a literal that needs int64 has it already
        }
        self.check_integer_scalar(node, dim)
    }

    fn dim_in_string(&mut self, node: &ast::ExprStringLiteral, int: DType) -> Parse<Expr> {
        let [literal] = node.value.as_slice() else {
            return Err(self.expected(node, "one string"));
        };
        let range = literal.content_range();
        let bounds = span(range);
        let inner = self.text.get(bounds.start..bounds.end).unwrap_or_default();
        if inner.contains('\n') {
            return Err(self.expected(node, "a dimension on one line"));
        }
        if super::nesting::check(inner).is_err() {
            return Err(self.expected(node, "a dimension"));
        }
        let Ok(parsed) = ruff_python_parser::parse_expression_range(self.text, range) else {
            return Err(self.expected(node, "a dimension: a name, a number or an expression"));
        };
        self.define_dims(parsed.expr(), int);
        self.dim(parsed.expr(), int)
    }

    /// Defines the names in an expression that are not known as symbolic dimensions.
    fn define_dims(&mut self, node: &ast::Expr, int: DType) {
        match node {
            ast::Expr::Name(name) if self.scopes.get(&name.id).is_none() => {
                let dtype = self.declared.get(name.id.as_str()).copied();
                let var = Var::new(name.id.as_str(), dtype.unwrap_or(int));
                self.scopes.define(name.id.as_str(), Binding::Var(var));
            }
            ast::Expr::BinOp(op) => {
                self.define_dims(&op.left, int);
                self.define_dims(&op.right, int);
            }
            ast::Expr::UnaryOp(op) => self.define_dims(&op.operand, int),
            ast::Expr::Call(call) => {
                let args = &call.arguments.args;
                args.iter().for_each(|arg| self.define_dims(arg, int));
            }
            _ => {}
        }
    }

    /// Opens the scope of a function: reads ahead which scalars its body declares, and defines the dimensions that are declared
    /// above the module.
    pub(super) fn enter_function(&mut self, body: &[ast::Stmt]) {
        self.read_declarations(body);
        self.scopes.push();
        for name in self.type_vars.clone() {
            let dtype = self.declared.get(&name).copied().unwrap_or(DType::I64);
            let var = Var::new(name.as_str(), dtype);
            self.scopes.define(name, Binding::Var(var));
        }
    }

    /// Reads ahead which scalars a body declares (`n = T.int64()`, `m, n = T.int64(), T.int32()`).
    fn read_declarations(&mut self, body: &[ast::Stmt]) {
        self.declared.clear();
        for stmt in body {
            let ast::Stmt::Assign(assign) = stmt else {
                continue;
            };
            let [target] = assign.targets.as_slice() else {
                continue;
            };
            let (names, values) = (Self::elements(target), Self::elements(&assign.value));
            for (name, value) in names.iter().zip(values) {
                if let (ast::Expr::Name(name), Some(dtype)) = (name, declaration(value)) {
                    self.declared.entry(name.id.to_string()).or_insert(dtype);
                }
            }
        }
    }

    /// Handles `n = T.int64()` and its kin: defines the scalars, or keeps those that the parameters defined with this type.
    /// Gives `false` if the statement is no declaration.
    pub(super) fn declare(&mut self, assign: &ast::StmtAssign) -> Parse<bool> {
        let [target] = assign.targets.as_slice() else {
            return Ok(false);
        };
        let (names, values) = (Self::elements(target), Self::elements(&assign.value));
        if values.is_empty() || !values.iter().all(|v| declaration(v).is_some()) {
            return Ok(false);
        }
        if names.len() != values.len() {
            let kind = ScriptErrorKind::Unpack {
                targets: names.len(),
                values: values.len(),
            };
            return Err(self.error(target, kind));
        }
        for (name, value) in names.iter().zip(values) {
            let ast::Expr::Name(name) = name else {
                return Err(self.expected(name, "a name"));
            };
            let dtype = declaration(value).expect("checked for all values");
            let known =
                matches!(self.scopes.get(&name.id), Some(Binding::Var(v)) if v.dtype() == dtype);
            if !known {
                let var = Var::new(name.id.as_str(), dtype);
                self.scopes.define(name.id.as_str(), Binding::Var(var));
            }
        }
        Ok(true)
    }
}

/// Whether this is `T.handle(…)`.
fn is_handle(call: &ast::ExprCall) -> bool {
    dotted(&call.func).as_deref() == Some("T.handle")
}

/// The type in `T.int64()`, `T.int64(is_size_var=True)`, `T.var("int64")` or `T.Var("n", "int64")`.
fn declaration(node: &ast::Expr) -> Option<DType> {
    let ast::Expr::Call(call) = node else {
        return None;
    };
    let keywords = call.arguments.keywords.iter();
    if !keywords
        .into_iter()
        .all(|k| k.arg.as_ref().is_some_and(|name| name == "is_size_var"))
    {
        return None;
    }
    let path = dotted(&call.func)?;
    if is_handle(call) {
        return Some(DType::U64);
    }
    if let ("TypeVar", [ast::Expr::StringLiteral(_)]) = (path.as_str(), &*call.arguments.args) {
        return Some(DType::I64);
    }
    let name = path
        .strip_prefix("T.")
        .or_else(|| path.strip_prefix("tir."))?;
    let dtype = match (name, &*call.arguments.args) {
        ("var" | "SizeVar" | "size_var", [ast::Expr::StringLiteral(s)])
        | ("Var" | "SizeVar", [_, ast::Expr::StringLiteral(s)]) => s.value.to_str().parse().ok()?,
        (name, []) => name.parse().ok()?,
        _ => return None,
    };
    Some(dtype)
}

/// A path of names, as `T.axis.spatial`.
pub(super) fn dotted(node: &ast::Expr) -> Option<String> {
    match node {
        ast::Expr::Name(name) => Some(name.id.to_string()),
        ast::Expr::Attribute(attr) => Some(format!("{}.{}", dotted(&attr.value)?, attr.attr)),
        _ => None,
    }
}

/// The value of an integer literal with its sign, if the node is one and fits.
pub(super) fn int_literal(node: &ast::Expr) -> Option<i64> {
    match node {
        ast::Expr::NumberLiteral(n) => n.value.as_int()?.as_i64(),
        ast::Expr::UnaryOp(op) if op.op == ast::UnaryOp::USub => match &*op.operand {
            ast::Expr::NumberLiteral(n) => match n.value.as_int()?.as_u64()? {
                value if value <= 1 << 63 => Some((value as i64).wrapping_neg()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

/// The value of a float literal with its sign, if the node is one.
pub(super) fn float_literal(node: &ast::Expr) -> Option<f64> {
    match node {
        ast::Expr::NumberLiteral(n) => n.value.as_float().copied(),
        ast::Expr::UnaryOp(op) if op.op == ast::UnaryOp::USub => Some(-float_literal(&op.operand)?),
        ast::Expr::Call(call) if dotted(&call.func).as_deref() == Some("float") => {
            match &*call.arguments.args {
                [ast::Expr::StringLiteral(s)] if call.arguments.keywords.is_empty() => {
                    not_finite(s.value.to_str())
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// A float that Python has no literal for.
pub(super) fn not_finite(text: &str) -> Option<f64> {
    match text {
        "inf" => Some(f64::INFINITY),
        "-inf" => Some(f64::NEG_INFINITY),
        "nan" => Some(f64::NAN),
        _ => None,
    }
}
