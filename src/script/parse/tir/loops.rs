//! `for` statements: `range`, `T.serial` and its kin, `T.grid`.

use ruff_python_ast as ast;

use super::FuncParser;
use super::buffer::between;
use crate::ir::{AttrValue, Attrs, Expr, Loop, LoopKind, Range, Stmt, Var};
use crate::script::ScriptErrorKind;
use crate::script::parse::context::{Context, Parse, dotted};
use crate::script::parse::scope::Binding;

/// A loop without its variable and body.
struct Header {
    range: Range,
    /// Distance of the values, if it is not 1.
    step: Option<Expr>,
    kind: LoopKind,
    annotations: Attrs,
}

impl FuncParser<'_, '_> {
    /// A `for` statement.
    pub(super) fn for_loop(&mut self, node: &ast::StmtFor) -> Parse<Vec<Stmt>> {
        if let Some(first) = node.orelse.first() {
            return Err(self.cx.unsupported(first, "`else` of a loop", ""));
        }
        let headers = self.headers(&node.iter);
        self.cx.scopes.push();
        let result = match headers {
            Ok(headers) => self.nest(node, headers),
            Err(reported) => {
                self.cx.define_failed(&node.target);
                self.nested_body(&node.body);
                Err(reported)
            }
        };
        self.cx.scopes.pop();
        result
    }

    fn nest(&mut self, node: &ast::StmtFor, headers: Vec<Header>) -> Parse<Vec<Stmt>> {
        let names = Context::elements(&node.target);
        if names.len() != headers.len() {
            let kind = ScriptErrorKind::Unpack {
                targets: names.len(),
                values: headers.len(),
            };
            let reported = self.cx.error(&*node.target, kind);
            self.cx.define_failed(&node.target);
            self.nested_body(&node.body);
            return Err(reported);
        }
        self.deeper(&*node.target, names.len().saturating_sub(1))?;
        let mut loops = Vec::new();
        let mut values = Vec::new();
        for (name, header) in names.iter().zip(headers) {
            let ast::Expr::Name(name) = name else {
                return Err(self.cx.expected(name, "the name of a loop variable"));
            };
            if name.id != "_" && self.cx.scopes.defines_here(&name.id) {
                let kind = ScriptErrorKind::Duplicate {
                    name: name.id.to_string(),
                };
                return Err(self.cx.error(name, kind));
            }
            let var = Var::new(name.id.as_str(), header.range.extent.dtype());
            self.cx
                .scopes
                .define(name.id.as_str(), Binding::Var(var.clone()));
            let (var, range) = match header.step {
                None => (var, header.range),
                Some(step) => {
                    let (counter, range, value) = stepped(&var, &header.range, &step);
                    values.push((var, value));
                    (counter, range)
                }
            };
            self.loop_ranges.insert(var.clone(), range.clone());
            loops.push(self.func.loops.push(Loop {
                var,
                min: range.min,
                extent: range.extent,
                kind: header.kind,
                annotations: header.annotations,
            }));
        }
        self.deeper(&*node.target, values.len())?;
        let mut body = self.loop_body(&node.body);
        for (var, value) in values.into_iter().rev() {
            body = vec![Stmt::Let { var, value, body }];
        }
        for id in loops.into_iter().rev() {
            self.func.tree.set_body(id, body);
            body = vec![Stmt::Loop(id)];
        }
        Ok(body)
    }

    fn headers(&mut self, iter: &ast::Expr) -> Parse<Vec<Header>> {
        let expected = "`range(n)`, `T.grid(n, m)`, or one of `T.serial`, `T.parallel`, `T.vectorized`, `T.unroll`, `T.thread_binding`";
        let ast::Expr::Call(call) = iter else {
            return Err(self.cx.expected(iter, expected));
        };
        let path = dotted(&call.func).unwrap_or_default();
        let kind = match path.as_str() {
            "range" | "T.serial" => LoopKind::Serial,
            "T.parallel" => LoopKind::Parallel,
            "T.vectorized" => LoopKind::Vectorized,
            "T.unroll" => LoopKind::Unrolled,
            "T.grid" => {
                let extents = self.cx.positional(call, "T.grid")?;
                let zero = Expr::i32(0);
                let headers = extents.iter().map(|extent| {
                    Ok(Header {
                        range: between(zero.clone(), &self.cx.integer_scalar(extent)?),
                        step: None,
                        kind: LoopKind::Serial,
                        annotations: Attrs::new(),
                    })
                });
                return headers.collect();
            }
            "T.thread_binding" => return Ok(vec![self.thread_binding(call)?]),
            _ => return Err(self.cx.expected(iter, expected)),
        };
        let [start, stop, annotations, step, unroll] = if path == "range" {
            let names = ["start", "stop", "step"];
            let [start, stop, step] = self.cx.bind(call, &path, names, 1)?;
            [start, stop, None, step, None]
        } else {
            let names = ["start", "stop", "annotations", "step", "unroll"];
            self.cx.bind(call, &path, names, 1)?
        };
        let range = self.loop_range(start, stop)?;
        let step = match step.filter(|step| !step.is_none_literal_expr()) {
            Some(step) => Some(self.step(step)?).filter(|step| !step.is_one()),
            None => None,
        };
        let mut annotations = self.annotations(annotations)?;
        if let Some(unroll) = unroll.filter(|unroll| !unroll.is_none_literal_expr()) {
            let (key, value) = match self.cx.attr_value(unroll)? {
                AttrValue::Bool(false) => ("disable_unroll", AttrValue::Bool(true)),
                value => ("pragma_unroll", value),
            };
            annotations.insert(key.to_owned(), value);
        }
        Ok(vec![Header {
            range,
            step,
            kind,
            annotations,
        }])
    }

    /// The step of a loop, which goes upwards.
    fn step(&mut self, node: &ast::Expr) -> Parse<Expr> {
        let step = self.cx.integer_scalar(node)?;
        match step.as_int() {
            Some(..=0) => Err(self.cx.expected(node, "a step of at least 1")),
            _ => Ok(step),
        }
    }

    fn thread_binding(&mut self, call: &ast::ExprCall) -> Parse<Header> {
        let names = ["start", "stop", "thread", "annotations"];
        let [start, stop, thread, annotations] =
            self.cx.bind(call, "T.thread_binding", names, 1)?;
        let (stop, thread) = match (stop, thread) {
            (Some(name), None) if name.is_string_literal_expr() => (None, Some(name)),
            both => both,
        };
        let Some(thread) = thread else {
            let kind = ScriptErrorKind::MissingArgument {
                function: "T.thread_binding".to_owned(),
                argument: "thread".to_owned(),
            };
            return Err(self.cx.error(call, kind));
        };
        let axis = self.thread_axis(thread)?;
        Ok(Header {
            range: self.loop_range(start, stop)?,
            step: None,
            kind: LoopKind::ThreadBinding(axis),
            annotations: self.annotations(annotations)?,
        })
    }

    fn annotations(&mut self, node: Option<&ast::Expr>) -> Parse<Attrs> {
        match node.filter(|n| !n.is_none_literal_expr()) {
            Some(node) => self.cx.attrs(node),
            None => Ok(Attrs::new()),
        }
    }

    /// `range(stop)` or `range(start, stop)`.
    fn loop_range(&mut self, start: Option<&ast::Expr>, stop: Option<&ast::Expr>) -> Parse<Range> {
        let first = self
            .cx
            .integer_scalar(start.expect("it is a required argument"))?;
        Ok(match stop.filter(|s| !s.is_none_literal_expr()) {
            None => Range::to(first),
            Some(stop) => {
                let stop = self.cx.integer_scalar(stop)?;
                between(first, &stop)
            }
        })
    }
}

/// A loop with a step as one without: the variable that counts its iterations, how many there are, and the value of the variable
/// of the loop in each.
fn stepped(var: &Var, range: &Range, step: &Expr) -> (Var, Range, Expr) {
    let dtype = range.extent.dtype();
    let step = step.cast(dtype);
    let count = match (range.extent.as_int(), step.as_int()) {
        (Some(extent), Some(step)) => {
            let whole = i64::from(extent % step != 0) + extent / step;
            Expr::int(whole.max(0), dtype)
        }
        _ => (range.extent.clone() + &step - 1).floor_div(step.clone()),
    };
    let counter = Var::new(format!("{}_step", var.name()), dtype);
    let value = range.min.cast(dtype) + counter.expr() * step;
    (counter, Range::to(count), value)
}
