//! The loop dialect (`T`): a function with `@T.prim_func` to a [`PrimFunc`].

mod block;
mod buffer;
mod layout;
mod loops;
mod scope;
mod stmt;
mod view;

use std::collections::HashMap;

use ruff_python_ast as ast;

use super::context::{Context, Parse, dotted};
use super::scope::Binding;
use crate::ir::{AttrValue, Block, BlockId, Buffer, Param, PrimFunc, Range, Stmt, Var};
use crate::script::ScriptErrorKind;
use crate::tensor::DType;
use block::BlockFrame;
use buffer::PROPERTIES;

/// Type of the variable that stands for the handle of a buffer parameter.
const HANDLE: DType = DType::U64;

/// Reads a loop program.
pub(super) fn prim_func(
    cx: &mut Context<'_>,
    func: &ast::StmtFunctionDef,
    decorator: Option<&ast::ExprCall>,
) -> Parse<PrimFunc> {
    cx.enter_function(&func.body);
    let origin = cx.origin(&func.name);
    let parser = FuncParser {
        cx,
        func: PrimFunc {
            origin,
            ..PrimFunc::new(func.name.as_str(), vec![])
        },
        params: vec![],
        scalars: HashMap::new(),
        blocks: vec![BlockFrame::default()],
        loop_ranges: HashMap::new(),
        depth: 0,
    };
    let parsed = parser.parse(func, decorator);
    cx.scopes.pop();
    parsed
}

/// The type of a scalar parameter, if it is one.
fn scalar_type(param: &ast::Parameter) -> Option<DType> {
    let path = param.annotation.as_deref().and_then(dotted)?;
    path.strip_prefix("T.")?.parse().ok()
}

/// A parameter while the function is read: a handle gets its buffer by `T.match_buffer` in the body.
enum PendingParam {
    Scalar(Var),
    Handle { handle: Var, buffer: Option<Buffer> },
}

/// State of reading one function.
struct FuncParser<'c, 'a> {
    cx: &'c mut Context<'a>,
    func: PrimFunc,
    params: Vec<PendingParam>,
    /// Scalar parameters whose place among the others is still to come.
    scalars: HashMap<String, Var>,
    /// The blocks around the current statement, the root block first.
    blocks: Vec<BlockFrame>,
    /// Values of the loop variables in scope, for `T.axis.remap`.
    loop_ranges: HashMap<Var, Range>,
    /// Statements that nest around the current one, `let`s included.
    depth: usize,
}

impl FuncParser<'_, '_> {
    fn parse(
        mut self,
        node: &ast::StmtFunctionDef,
        decorator: Option<&ast::ExprCall>,
    ) -> Parse<PrimFunc> {
        let header = self.header(node, decorator);
        // The body is read also after a wrong header, to report what is wrong in it.
        let body = self.body(&node.body);
        header?;
        let root = self.blocks.pop().expect("the root frame stays");
        self.finish_params();
        self.finish_root(root, body);
        Ok(self.func)
    }

    fn header(
        &mut self,
        node: &ast::StmtFunctionDef,
        decorator: Option<&ast::ExprCall>,
    ) -> Parse<()> {
        if let Some(call) = decorator {
            let names = ["private", "s_tir", "check_well_formed", "persistent"];
            let [private, _, _, persistent] = self.cx.bind(call, "T.prim_func", names, 0)?;
            self.func.private = match private {
                Some(value) => self.cx.boolean(value)?,
                None => false,
            };
            if let Some(flag) = persistent
                && self.cx.boolean(flag)?
            {
                let key = "tirx.persistent_kernel".to_owned();
                self.func.attrs.insert(key, AttrValue::Bool(true));
            }
        }
        if let Some(returns) = &node.returns
            && !returns.is_none_literal_expr()
            && dotted(returns).as_deref() != Some("T.void")
        {
            self.func.ret = Some(self.cx.dtype(returns)?);
        }
        let params = &node.parameters;
        if let Some(variadic) = params.vararg.as_ref().or(params.kwarg.as_ref()) {
            return Err(self.cx.unsupported(&**variadic, "a variadic parameter", ""));
        }
        // A buffer may name scalar parameters after it.
        for param in params.iter_non_variadic_params() {
            let param = &param.parameter;
            let name = param.name.as_str();
            if let Some(dtype) = scalar_type(param)
                && !self.scalars.contains_key(name)
            {
                let var = Var::new(name, dtype);
                self.cx.scopes.define(name, Binding::Var(var.clone()));
                self.scalars.insert(name.to_owned(), var);
            }
        }
        let mut result = Ok(());
        for param in params.iter_non_variadic_params() {
            if let Some(default) = &param.default {
                return Err(self.cx.unsupported(&**default, "a default value", ""));
            }
            result = result.and(self.param(&param.parameter));
        }
        result
    }

    fn param(&mut self, node: &ast::Parameter) -> Parse<()> {
        let name = node.name.as_str();
        if let Some(var) = self.scalars.remove(name) {
            self.params.push(PendingParam::Scalar(var));
            return Ok(());
        }
        if self.cx.scopes.defines_here(name) {
            let name = name.to_owned();
            return Err(self
                .cx
                .error(&node.name, ScriptErrorKind::Duplicate { name }));
        }
        let (binding, param) = match self.param_type(node) {
            Ok(parsed) => parsed,
            Err(reported) => {
                self.cx.scopes.define(name, Binding::Failed);
                return Err(reported);
            }
        };
        self.cx.scopes.define(name, binding);
        self.params.push(param);
        Ok(())
    }

    fn param_type(&mut self, node: &ast::Parameter) -> Parse<(Binding, PendingParam)> {
        let name = node.name.as_str();
        let expected =
            "a type: `T.Buffer((n, m), \"float32\")`, `T.handle`, or a scalar type as `T.int32`";
        let Some(annotation) = &node.annotation else {
            return Err(self.cx.expected(node, expected));
        };
        if let Some(buffer) = self.buffer_type(name, annotation)? {
            let handle = Var::new(name, HANDLE);
            let param = PendingParam::Handle {
                handle,
                buffer: Some(buffer.clone()),
            };
            return Ok((Binding::Buffer(buffer), param));
        }
        let path = match &**annotation {
            ast::Expr::Call(call) => dotted(&call.func),
            other => dotted(other),
        };
        let path = path.unwrap_or_default();
        match path
            .strip_prefix("T.")
            .or_else(|| path.strip_prefix("tir."))
        {
            Some("handle") => {
                let handle = Var::new(name, HANDLE);
                let index = self.params.len();
                let binding = Binding::Handle {
                    index,
                    var: handle.clone(),
                };
                let param = PendingParam::Handle {
                    handle,
                    buffer: None,
                };
                Ok((binding, param))
            }
            Some(dtype) if let Ok(dtype) = dtype.parse() => {
                let var = Var::new(name, dtype);
                Ok((Binding::Var(var.clone()), PendingParam::Scalar(var)))
            }
            _ => Err(self.cx.expected(&**annotation, expected)),
        }
    }

    /// A handle without a buffer is an address, of which nothing is known.
    fn finish_params(&mut self) {
        for param in self.params.drain(..) {
            self.func.params.push(match param {
                PendingParam::Scalar(var) => Param::Scalar(var),
                PendingParam::Handle {
                    handle,
                    buffer: Some(buffer),
                } => Param::Buffer { handle, buffer },
                PendingParam::Handle {
                    handle,
                    buffer: None,
                } => Param::Scalar(handle),
            });
        }
    }

    /// Makes the root block. One explicit block without iter variables, named `root`, that is the whole body is the root.
    fn finish_root(&mut self, frame: BlockFrame, body: Vec<Stmt>) {
        let root = self.func.root;
        if let [Stmt::Block(only)] = body[..]
            && frame.alloc_buffers.is_empty()
            && self.func.blocks[only].name == "root"
            && self.func.blocks[only].iters.is_empty()
        {
            let body = self.func.tree.take_body(only);
            if let Some(block) = self.func.blocks.remove(only) {
                self.func.blocks[root] = block;
            }
            self.func.tree.set_body(root, body);
            return;
        }
        self.func.blocks[root].alloc_buffers = frame.alloc_buffers;
        self.func.tree.set_body(root, body);
    }

    fn new_block(&mut self, name: String) -> BlockId {
        self.func.blocks.push(Block::named(name))
    }
}
