//! Statements that hold for what follows them: views of memory, launched threads, remarks. Each stands alone, for the rest of its
//! body, or as `with …:`.

use ruff_python_ast as ast;
use ruff_text_size::Ranged;

use super::{FuncParser, PROPERTIES};
use crate::ir::attrs::{HINT_KEY, HINT_TEXT};
use crate::ir::{
    AttrValue, Attrs, Buffer, Expr, ExprKind, External, Loop, LoopKind, Stmt, ThreadAxis, Var,
};
use crate::script::ScriptErrorKind;
use crate::script::parse::context::{Context, Parse, dotted};
use crate::script::parse::scope::Binding;
use crate::tensor::DType;

/// A statement whose body is still to be read.
pub(super) enum Header {
    /// `v = value`
    Let { var: Var, value: Expr },
    /// `A = T.decl_buffer(…, data=…)`
    View { buffer: Buffer, memory: Expr },
    /// `T.attr(node, key, value)`
    Attr {
        node: AttrValue,
        key: String,
        value: AttrValue,
    },
    /// `tx = T.launch_thread("threadIdx.x", extent)`
    Launch {
        axis: ThreadAxis,
        var: Var,
        extent: Expr,
    },
}

/// The place in the launch that `T.name` asks for.
fn launch_place(path: &str) -> Option<External> {
    let external = External::parse(path.strip_prefix("T.")?)?;
    external.is_launch_place().then_some(external)
}

impl FuncParser<'_, '_> {
    /// The statement with its body.
    pub(super) fn close(&mut self, header: Header, body: Vec<Stmt>) -> Stmt {
        match header {
            Header::Let { var, value } => Stmt::Let { var, value, body },
            Header::View { buffer, memory } => Stmt::View {
                buffer,
                memory,
                body,
            },
            Header::Attr { node, key, value } => Stmt::Attr {
                node,
                key,
                value,
                body,
            },
            Header::Launch { axis, var, extent } => {
                let id = self.func.loops.push(Loop {
                    min: Expr::int(0, extent.dtype()),
                    var,
                    extent,
                    kind: LoopKind::ThreadBinding(axis),
                    annotations: Attrs::new(),
                });
                self.func.tree.set_body(id, body);
                Stmt::Loop(id)
            }
        }
    }

    /// The headers that a call makes, if it is one of a scope; `name` is what the result is assigned to.
    pub(super) fn scope_headers(
        &mut self,
        call: &ast::ExprCall,
        path: &str,
        name: Option<&ast::Expr>,
    ) -> Parse<Option<Vec<Header>>> {
        Ok(Some(match path {
            "T.launch_thread" => vec![self.launch_thread(call, name)?],
            "T.attr" => self.remarks(call)?,
            _ if let Some(place) = launch_place(path) => {
                self.launch_place(call, path, place, name)?
            }
            "T.LetStmt" => vec![self.let_header(call, name)?],
            "T.decl_buffer" | "T.Buffer" => {
                let name = self.target(call, name)?;
                self.decl_buffer(name, call)?.into_iter().collect()
            }
            "T.hint" => vec![self.hint(call)?],
            "T.decl_scalar" => {
                let name = self.target(call, name)?;
                vec![self.decl_scalar(name, call)?]
            }
            _ if let Some((of, method)) = self.view_of(call) => {
                let name = self.target(call, name)?;
                vec![self.view(name, &of, method, call)?]
            }
            _ => return Ok(None),
        }))
    }

    /// `bx, by = T.cta_id([2, 4], preferred=[1, 2], dtype="uint32")`: a variable for each dimension of a place in the launch.
    fn launch_place(
        &mut self,
        call: &ast::ExprCall,
        path: &str,
        place: External,
        target: Option<&ast::Expr>,
    ) -> Parse<Vec<Header>> {
        let names = ["extents", "preferred", "dtype"];
        let [extents, preferred, dtype] = self.cx.bind(call, path, names, 0)?;
        let extents = self.launch_extents(extents)?;
        let preferred = self.launch_extents(preferred)?;
        let dtype = match dtype {
            Some(dtype) => self.cx.dtype(dtype)?,
            None => DType::I32,
        };
        let targets = match target {
            Some(target) => Context::elements(target),
            None => return Err(self.cx.expected(call, "a name for it")),
        };
        if targets.len() != extents.len().max(1) {
            let kind = ScriptErrorKind::Unpack {
                targets: targets.len(),
                values: extents.len().max(1),
            };
            return Err(self.cx.error(call, kind));
        }
        let mut headers = Vec::new();
        for (dim, target) in targets.iter().enumerate() {
            let name = self.target(call, Some(target))?;
            let counts = [Expr::i32(dim as i32), Expr::i32(extents.len() as i32)];
            let sizes = extents.iter().chain(&preferred).cloned();
            let args = counts.into_iter().chain(sizes).collect();
            let value = Expr::new(ExprKind::External(place, args), dtype);
            headers.push(self.define_let(name, value));
        }
        Ok(headers)
    }

    /// A list of extents; none if it is left out.
    fn launch_extents(&mut self, node: Option<&ast::Expr>) -> Parse<Vec<Expr>> {
        let nodes = node
            .filter(|node| !node.is_none_literal_expr())
            .map_or(&[][..], Context::elements);
        let extents = nodes.iter().map(|extent| self.cx.integer_scalar(extent));
        extents.collect()
    }

    fn target<'n>(
        &mut self,
        call: &ast::ExprCall,
        name: Option<&'n ast::Expr>,
    ) -> Parse<&'n ast::ExprName> {
        match name {
            Some(ast::Expr::Name(name)) => Ok(name),
            _ => Err(self.cx.expected(call, "a name for it")),
        }
    }

    /// `v = T.LetStmt(value)`
    fn let_header(&mut self, call: &ast::ExprCall, name: Option<&ast::Expr>) -> Parse<Header> {
        let [value] = self.cx.bind_all(call, "T.LetStmt", ["value"])?;
        let value = self.cx.expr(value)?;
        let name = self.target(call, name)?;
        Ok(self.define_let(name, value))
    }

    /// `tx = T.launch_thread("threadIdx.x", n)`, or `T.launch_thread(tx, n)` of a thread that `T.env_thread` named.
    fn launch_thread(&mut self, call: &ast::ExprCall, name: Option<&ast::Expr>) -> Parse<Header> {
        let [thread, extent] = self
            .cx
            .bind_all(call, "T.launch_thread", ["thread", "extent"])?;
        let extent = self.cx.integer_scalar(extent)?;
        let (axis, default) = match thread {
            ast::Expr::Name(name) => match self.cx.lookup(name, &name.id)? {
                Binding::Thread(axis) => (axis, Some(name)),
                _ => return Err(self.cx.expected(thread, "a thread of `T.env_thread`")),
            },
            _ => (self.thread_axis(thread)?, None),
        };
        let name = match (name, default) {
            (None, Some(name)) => name,
            (name, _) => self.target(call, name)?,
        };
        let var = Var::new(name.id.as_str(), extent.dtype());
        self.cx
            .scopes
            .define(name.id.as_str(), Binding::Var(var.clone()));
        let range = crate::ir::Range::to(extent.clone());
        self.loop_ranges.insert(var.clone(), range);
        Ok(Header::Launch { axis, var, extent })
    }

    /// `tx = T.env_thread("threadIdx.x")`: a thread that is launched further down.
    pub(super) fn env_thread(&mut self, name: &ast::ExprName, call: &ast::ExprCall) -> Parse<()> {
        let [thread] = self.cx.bind_all(call, "T.env_thread", ["thread_tag"])?;
        let axis = self.thread_axis(thread)?;
        self.cx
            .scopes
            .define(name.id.as_str(), Binding::Thread(axis));
        Ok(())
    }

    pub(super) fn thread_axis(&mut self, node: &ast::Expr) -> Parse<ThreadAxis> {
        let name = self.cx.string(node)?;
        match ThreadAxis::parse(&name) {
            Some(axis) => Ok(axis),
            None => Err(self.cx.error(node, ScriptErrorKind::UnknownThread { name })),
        }
    }

    /// `T.attr(node, key, value)`, or several remarks on nothing in particular as a dictionary.
    fn remarks(&mut self, call: &ast::ExprCall) -> Parse<Vec<Header>> {
        if let [ast::Expr::Dict(_)] = &*call.arguments.args {
            let attrs = self.cx.attrs(&call.arguments.args[0])?;
            let remark = |(key, value)| Header::Attr {
                node: AttrValue::None,
                key,
                value,
            };
            return Ok(attrs.into_iter().map(remark).collect());
        }
        let names = ["node", "attr_key", "value"];
        let [node, key, value] = self.cx.bind_all(call, "T.attr", names)?;
        Ok(vec![Header::Attr {
            node: self.cx.attr_value(node)?,
            key: self.cx.string(key)?,
            value: self.cx.attr_value(value)?,
        }])
    }

    /// `T.hint("text", key=value)`: advice about what follows.
    fn hint(&mut self, call: &ast::ExprCall) -> Parse<Header> {
        let (args, attrs) = self.cx.plain_arguments(call)?;
        let mut hint = Attrs::new();
        match &args[..] {
            [] => {}
            [text @ AttrValue::Str(_)] => {
                hint.insert(HINT_TEXT.to_owned(), text.clone());
            }
            _ => return Err(self.cx.expected(&call.arguments, "one text and keywords")),
        }
        hint.extend(attrs);
        Ok(Header::Attr {
            node: AttrValue::Dict(hint),
            key: HINT_KEY.to_owned(),
            value: AttrValue::Int(1),
        })
    }

    /// `A = T.decl_buffer(shape, dtype, data=…)`: a view of the memory; without `data` a buffer of the block around.
    fn decl_buffer(&mut self, name: &ast::ExprName, call: &ast::ExprCall) -> Parse<Option<Header>> {
        let mut args = self.cx.bind(call, "T.decl_buffer", PROPERTIES, 1)?;
        let memory = match args[2].take().filter(|data| !data.is_none_literal_expr()) {
            Some(node) => Some(self.address(node)?),
            None => None,
        };
        let buffer = self.make_buffer(&name.id, args)?;
        self.cx
            .scopes
            .define(name.id.as_str(), Binding::Buffer(buffer.clone()));
        Ok(match memory {
            Some(memory) => Some(Header::View { buffer, memory }),
            None => {
                self.frame().alloc_buffers.push(buffer);
                None
            }
        })
    }

    pub(super) fn address(&mut self, node: &ast::Expr) -> Parse<Expr> {
        let address = self.cx.expr(node)?;
        if address.dtype() == DType::U64 {
            return Ok(address);
        }
        let (expected, found) = ("an address".to_owned(), address.dtype());
        Err(self
            .cx
            .error(node, ScriptErrorKind::Type { expected, found }))
    }

    /// `with …:` of one or more scopes, the first outermost; `None` if the first is none.
    pub(super) fn with_scopes(&mut self, node: &ast::StmtWith) -> Parse<Option<Vec<Stmt>>> {
        let call_of = |item: &ast::WithItem| {
            let call = item.context_expr.as_call_expr()?;
            Some((call.clone(), dotted(&call.func)?))
        };
        self.cx.scopes.push();
        let mut headers = Vec::new();
        let mut result = Ok(());
        for item in &node.items {
            let found = match call_of(item) {
                Some((call, path)) => {
                    self.scope_headers(&call, &path, item.optional_vars.as_deref())
                }
                None => Ok(None),
            };
            match found {
                Ok(Some(found)) => headers.extend(found),
                Ok(None) if headers.is_empty() => {
                    self.cx.scopes.pop();
                    return Ok(None);
                }
                Ok(None) => result = Err(self.cx.expected(&item.context_expr, "a scope")),
                Err(reported) => result = Err(reported),
            }
        }
        if let Err(reported) = result {
            for vars in node.items.iter().filter_map(|i| i.optional_vars.as_deref()) {
                self.cx.define_failed(vars);
            }
            self.nested_body(&node.body);
            self.cx.scopes.pop();
            return Err(reported);
        }
        let depth = self.depth;
        let within = self.deeper(&node.items[0], headers.len().saturating_sub(1));
        let body = self.nested_body(&node.body);
        self.depth = depth;
        self.cx.scopes.pop();
        within?;
        Ok(Some(self.close_all(headers, body)))
    }

    /// The statements of several headers inside each other.
    pub(super) fn close_all(&mut self, headers: Vec<Header>, body: Vec<Stmt>) -> Vec<Stmt> {
        let close = |body, header| vec![self.close(header, body)];
        headers.into_iter().rev().fold(body, close)
    }

    /// `return`, with the scalar result or without.
    pub(super) fn return_(&mut self, node: &ast::StmtReturn) -> Parse<Stmt> {
        let Some(value) = &node.value else {
            return Ok(Stmt::Return(None));
        };
        self.result(value)
    }

    /// The scalar that the function returns.
    pub(super) fn result(&mut self, node: &ast::Expr) -> Parse<Stmt> {
        let value = match self.func.ret {
            Some(dtype) => self.cx.expr_as(node, dtype)?,
            None => self.cx.expr(node)?,
        };
        let found = value.dtype();
        let declared = *self.func.ret.get_or_insert(found);
        if found == declared {
            return Ok(Stmt::Return(Some(value)));
        }
        let expected = declared.to_string();
        Err(self
            .cx
            .error(&node.range(), ScriptErrorKind::Type { expected, found }))
    }
}
