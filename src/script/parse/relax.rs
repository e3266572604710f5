//! The graph dialect (`R`): functions and their statements.
//!
//! Nested expressions become bindings of their own (A-normal form). What is known of each value is inferred; an annotation
//! takes its place and must not contradict it. Each function is checked by the graph verifier once all are read.

mod call;
mod constant;
mod dps;
mod global;
mod nested;
mod operator;
mod sinfo;
#[cfg(test)]
mod tests;
mod value;

use std::collections::HashMap;

use indexmap::IndexMap;
use ruff_python_ast as ast;
use ruff_text_size::{Ranged, TextRange};

use super::context::{Context, Parse, dotted, int_literal};
use super::scope::Binding;
use crate::ir::graph::{
    self, Arg, Def, Globals, GraphBuilder, GraphError, GraphErrorKind, ValueId, dims,
};
use crate::ir::{Func, Module, StructInfo, TensorInfo, VDevice, Var};
use crate::script::ScriptErrorKind;
use crate::tensor::Tensor;

pub(super) use constant::metadata;
pub(super) use global::{EXTERN_FUNC, extern_func, global_infos};

/// What the graph functions of one text share.
#[derive(Default)]
pub(super) struct Graph {
    /// The constants of `metadata = ...`, by key; `None` for those left out.
    metadata: HashMap<String, Vec<Option<Tensor>>>,
    /// The texts of `metadata = ...`, by key.
    texts: HashMap<String, Vec<String>>,
    /// What is known of the functions of the module.
    globals: Globals,
    /// What the environment calls the functions of it that the module names.
    externs: HashMap<String, String>,
    /// The devices of the module.
    devices: Vec<VDevice>,
    /// Where each function and value was defined.
    places: HashMap<(String, Option<ValueId>), TextRange>,
    /// Functions that ask not to be checked.
    unchecked: Vec<String>,
}

impl Graph {
    /// The text that `metadata["key"][index]` names, if it does.
    pub(super) fn text_of(&self, node: &ast::Expr) -> Option<String> {
        let node = node.as_subscript_expr()?;
        let key = node.value.as_subscript_expr()?;
        if key.value.as_name_expr()?.id != "metadata" {
            return None;
        }
        let key = key.slice.as_string_literal_expr()?.value.to_str();
        let index = usize::try_from(int_literal(&node.slice)?).ok()?;
        self.texts.get(key)?.get(index).cloned()
    }
}

/// Reads ahead what the functions declare, so that each may call those below it. Errors are left to [`function`].
pub(super) fn declare(cx: &mut Context<'_>, functions: &[&ast::StmtFunctionDef], module: &Module) {
    let mut known = IndexMap::new();
    for (name, func) in &module.funcs {
        if let Func::Prim(func) = func {
            known.insert(name.clone(), graph::prim_func_signature(func));
        }
    }
    for (name, func) in &module.externs {
        known.insert(name.clone(), func.sinfo.clone());
    }
    for func in functions {
        let errors = cx.error_count();
        cx.enter_function(&func.body);
        let signature = signature(cx, func);
        cx.scopes.pop();
        cx.forget_errors(errors);
        let unknown = StructInfo::Callable {
            params: None,
            ret: Box::new(StructInfo::Object),
            pure: true,
        };
        known.insert(func.name.to_string(), signature.unwrap_or(unknown));
    }
    // A function that could not be read is known all the same: its uses are no errors.
    for name in &cx.functions {
        known.entry(name.clone()).or_insert(StructInfo::Object);
    }
    cx.graph.globals = Globals::new(known);
}

fn signature(cx: &mut Context<'_>, func: &ast::StmtFunctionDef) -> Parse<StructInfo> {
    let flags = Flags::read(cx, decorator_call(func))?;
    let params = params(cx, func)?;
    let ret = match &func.returns {
        Some(node) => cx.struct_info(node)?,
        None => StructInfo::Object,
    };
    Ok(StructInfo::Callable {
        params: Some(params.into_iter().map(|(_, sinfo)| sinfo).collect()),
        ret: Box::new(ret),
        pure: flags.pure,
    })
}

fn decorator_call(func: &ast::StmtFunctionDef) -> Option<&ast::ExprCall> {
    func.decorator_list.first()?.expression.as_call_expr()
}

/// Reads a graph function of the module.
pub(super) fn function(
    cx: &mut Context<'_>,
    func: &ast::StmtFunctionDef,
    decorator: Option<&ast::ExprCall>,
) -> Parse<graph::Function> {
    let builder = GraphBuilder::in_module(func.name.as_str(), cx.graph.globals.clone());
    let reader = Reader {
        cx,
        builder,
        level: 0,
        path: func.name.to_string(),
        depth: 0,
    };
    let parsed = reader.function(func, decorator)?;
    // Functions below know what this one returns, where it does not declare that.
    if func.returns.is_none() {
        let signature = parsed.signature();
        cx.graph.globals.insert(func.name.as_str(), signature);
    }
    Ok(parsed)
}

/// Checks all graph functions, once the module is complete.
pub(super) fn verify(cx: &mut Context<'_>, module: &Module) {
    for error in graph::verify(module).err().unwrap_or_default() {
        let func = error.func.split('.').next().unwrap_or_default();
        if !cx.graph.unchecked.iter().any(|name| name == func) {
            report(cx, error);
        }
    }
}

fn report(cx: &mut Context<'_>, error: GraphError) {
    let value = error.value.map(|(id, _)| id);
    let place = |key: &(String, Option<ValueId>)| cx.graph.places.get(key).copied();
    let at = place(&(error.func.clone(), value)).or_else(|| place(&(error.func, None)));
    let kind = ScriptErrorKind::Graph(error.kind);
    let _ = cx.error(&at.unwrap_or_default(), kind);
}

/// Arguments of the decorator.
struct Flags {
    pure: bool,
    private: bool,
    check: bool,
}

impl Flags {
    fn read(cx: &mut Context<'_>, decorator: Option<&ast::ExprCall>) -> Parse<Self> {
        let mut flags = Self {
            pure: true,
            private: false,
            check: true,
        };
        let Some(call) = decorator else {
            return Ok(flags);
        };
        let names = ["pure", "private", "check_well_formed"];
        let [pure, private, check] = cx.bind(call, "R.function", names, 0)?;
        let slots = [&mut flags.pure, &mut flags.private, &mut flags.check];
        for (slot, node) in slots.into_iter().zip([pure, private, check]) {
            if let Some(node) = node {
                *slot = cx.boolean(node)?;
            }
        }
        Ok(flags)
    }
}

/// Names and types of the parameters.
fn params<'n>(
    cx: &mut Context<'_>,
    func: &'n ast::StmtFunctionDef,
) -> Parse<Vec<(&'n ast::Parameter, StructInfo)>> {
    let all = &func.parameters;
    if let Some(extra) = all.vararg.as_deref().or(all.kwarg.as_deref()) {
        return Err(cx.unsupported(extra, "`*` or `**` in parameters", ""));
    }
    let mut out: Vec<(&ast::Parameter, StructInfo)> = Vec::new();
    for param in all.iter_non_variadic_params() {
        if let Some(default) = &param.default {
            return Err(cx.unsupported(&**default, "a default value", ""));
        }
        let param = &param.parameter;
        let name = param.name.to_string();
        if out.iter().any(|(p, _)| p.name.id == param.name.id) {
            return Err(cx.error(&param.name, ScriptErrorKind::Duplicate { name }));
        }
        let sinfo = match &param.annotation {
            Some(node) => cx.struct_info(node)?,
            None => StructInfo::Object,
        };
        out.push((param, sinfo));
    }
    Ok(out)
}

/// What is known of a parameter, and the variable that its name stands for if it is an integer: extents may be made of it.
fn integer(name: &str, sinfo: StructInfo) -> (StructInfo, Option<Var>) {
    match sinfo {
        StructInfo::Prim { dtype, value: None } if dtype.is_int() => {
            let var = Var::new(name, dtype);
            let value = Some(var.expr());
            (StructInfo::Prim { dtype, value }, Some(var))
        }
        other => (other, None),
    }
}

/// What is declared of a result, with the devices of what is returned where the declaration names none.
fn placed(declared: StructInfo, returned: &StructInfo) -> StructInfo {
    match (declared, returned) {
        (StructInfo::Tensor(info), StructInfo::Tensor(known)) => StructInfo::Tensor(TensorInfo {
            vdevice: info.vdevice.or_else(|| known.vdevice.clone()),
            ..info
        }),
        (StructInfo::Tuple(items), StructInfo::Tuple(known)) if items.len() == known.len() => {
            let items = items.into_iter().zip(known);
            StructInfo::Tuple(items.map(|(item, known)| placed(item, known)).collect())
        }
        (declared, _) => declared,
    }
}

/// Reads one graph function.
struct Reader<'c, 'a> {
    cx: &'c mut Context<'a>,
    builder: GraphBuilder,
    /// Number of functions around this one.
    level: usize,
    /// Names of the functions around and of this one, with dots between.
    path: String,
    /// Branches and functions around the current statement.
    depth: usize,
}

/// Branches and functions that may nest: each is a level of indentation in print, of which the parser reads 100.
const DEPTH_LIMIT: usize = 80;

impl Reader<'_, '_> {
    fn function(
        mut self,
        func: &ast::StmtFunctionDef,
        decorator: Option<&ast::ExprCall>,
    ) -> Parse<graph::Function> {
        let flags = Flags::read(self.cx, decorator)?;
        if !flags.check {
            self.cx.graph.unchecked.push(func.name.to_string());
        }
        self.builder.set_pure(flags.pure);
        self.builder.set_private(flags.private);
        self.place(None, &func.name);
        if self.level == 0 {
            self.cx.enter_function(&func.body);
        } else {
            // The symbolic dimensions of the functions around stay what they are.
            self.cx.scopes.push();
        }
        let result = self.scoped_function(func);
        self.cx.scopes.pop();
        let (result, declared) = result?;
        Ok(match declared {
            Some(ret) => {
                let ret = placed(ret, &self.builder.scope().arg(&result));
                self.builder.finish_as(result, ret)
            }
            None => {
                let level = self.level;
                let mut func = self.builder.finish(result);
                // A function inside may use the symbolic variables of those around.
                if level == 0 {
                    func.ret = graph::open_vars_erased(&func, &func.ret);
                }
                func
            }
        })
    }

    fn scoped_function(&mut self, func: &ast::StmtFunctionDef) -> Parse<(Arg, Option<StructInfo>)> {
        for (param, sinfo) in params(self.cx, func)? {
            let name = param.name.as_str();
            let (sinfo, var) = integer(name, sinfo);
            let id = self.builder.param(name, sinfo);
            self.place(Some(id), param);
            match var {
                Some(var) => self.cx.scopes.define(name, Binding::Var(var)),
                None => self.define(name, id),
            }
        }
        let declared = match &func.returns {
            Some(node) => Some(self.cx.struct_info(node)?),
            None => None,
        };
        let Some((ast::Stmt::Return(last), body)) = func.body.split_last() else {
            let expected = "a function that ends in `return`";
            return Err(match func.body.last() {
                Some(stmt) if is_ellipsis(stmt) => self.ellipsis(stmt),
                _ => self.cx.expected(&func.name, expected),
            });
        };
        let mut failed = None;
        for stmt in body {
            // The other statements are still read; names that this one would have defined are known as failed.
            failed = self.stmt(stmt).err().or(failed);
        }
        let result = match &last.value {
            Some(value) => self.arg(value, "gv")?,
            None => return Err(self.cx.expected(last, "a value to return")),
        };
        match failed {
            Some(reported) => Err(reported),
            None => Ok((result, declared)),
        }
    }

    /// Remembers where a value, or the function, is in the text.
    fn place(&mut self, value: Option<ValueId>, node: &impl Ranged) {
        let key = (self.path.clone(), value);
        self.cx.graph.places.insert(key, node.range());
    }

    /// Defines the name of a value.
    fn define(&mut self, name: &str, id: ValueId) {
        let level = self.level;
        self.cx.scopes.define(name, Binding::Value { level, id });
    }

    fn ellipsis(&mut self, node: &impl Ranged) -> super::context::Reported {
        let instead =
            "this is a text with a gap, not a program: write out what it leaves to the reader";
        self.cx.unsupported(node, "`...`", instead)
    }

    /// Binds a value and gives it its name; an annotation must not contradict what is inferred.
    fn bind(
        &mut self,
        name: &str,
        def: Def,
        annotation: Option<&ast::Expr>,
        node: &impl Ranged,
    ) -> Parse<ValueId> {
        let inferred = self.builder.infer(&def);
        let inferred = inferred.map_err(|error| self.graph_error(node, error.into()))?;
        let sinfo = match annotation {
            None => inferred,
            Some(annotation) => {
                let declared = self.cx.struct_info(annotation)?;
                match dims::is_base_of(&declared, &inferred) {
                    dims::Proof::No => {
                        let kind = GraphErrorKind::Declared {
                            declared: Box::new(declared),
                            computed: Box::new(inferred),
                        };
                        return Err(self.graph_error(annotation, kind));
                    }
                    // Another name for a value is what that value is; TVM leaves such an annotation out, too.
                    dims::Proof::Unknown if matches!(def, Def::Arg(_) | Def::TupleItem(_, _)) => {
                        inferred
                    }
                    dims::Proof::Yes | dims::Proof::Unknown => declared,
                }
            }
        };
        let id = self.builder.bind_as(name, def, sinfo);
        self.place(Some(id), node);
        Ok(id)
    }

    fn graph_error(
        &mut self,
        node: &impl Ranged,
        kind: GraphErrorKind,
    ) -> super::context::Reported {
        self.cx.error(node, ScriptErrorKind::Graph(kind))
    }

    /// Reads a statement, of whose line the values that it binds come.
    fn stmt(&mut self, stmt: &ast::Stmt) -> Parse<()> {
        self.at_line(stmt, |reader| reader.read_stmt(stmt))
    }

    /// What is read here comes from the line of the statement.
    fn at_line<T>(&mut self, stmt: &ast::Stmt, read: impl FnOnce(&mut Self) -> T) -> T {
        let origin = self.cx.origin(stmt);
        let around = self.builder.set_origin(origin);
        let result = read(self);
        self.builder.set_origin(around);
        result
    }

    fn read_stmt(&mut self, stmt: &ast::Stmt) -> Parse<()> {
        match stmt {
            ast::Stmt::Pass(_) => Ok(()),
            ast::Stmt::Expr(e) if e.value.is_string_literal_expr() => Ok(()),
            ast::Stmt::Expr(e) if e.value.is_ellipsis_literal_expr() => Err(self.ellipsis(stmt)),
            ast::Stmt::Expr(e) => self.lone_call(&e.value),
            ast::Stmt::Assign(assign) => self.assign(assign),
            ast::Stmt::AnnAssign(assign) => match (&*assign.target, &assign.value) {
                (ast::Expr::Name(name), Some(value)) => {
                    self.bind_name(name, value, Some(&assign.annotation))
                }
                (target, None) => Err(self.cx.expected(target, "a value after `=`")),
                (target, _) => Err(self.cx.expected(target, "a name")),
            },
            ast::Stmt::With(with) => self.dataflow(with),
            ast::Stmt::If(node) => {
                let (name, id) = self.branch(node)?;
                self.define(&name, id);
                Ok(())
            }
            ast::Stmt::FunctionDef(func) => self.nested_function(func),
            ast::Stmt::Return(_) => {
                let instead = "`return` is the last statement of a function";
                Err(self.cx.unsupported(stmt, "`return`", instead))
            }
            _ => Err(self
                .cx
                .unsupported(stmt, "this statement in a graph function", "")),
        }
    }

    fn assign(&mut self, assign: &ast::StmtAssign) -> Parse<()> {
        if self.cx.declare(assign)? {
            return Ok(());
        }
        let [target] = assign.targets.as_slice() else {
            return Err(self.cx.unsupported(assign, "more than one `=`", ""));
        };
        let result = match target {
            ast::Expr::Name(name) if self.is_module_name(&assign.value) => {
                self.cx.scopes.define(name.id.as_str(), Binding::Module);
                Ok(())
            }
            ast::Expr::Name(name) => self.bind_name(name, &assign.value, None),
            ast::Expr::Tuple(targets) => self.unpack(&targets.elts, &assign.value),
            _ => Err(self.cx.expected(target, "a name")),
        };
        if result.is_err() {
            self.cx.define_failed(target);
        }
        result
    }

    /// Whether this names the module: the class, or an alias of it.
    fn is_module_name(&self, node: &ast::Expr) -> bool {
        let ast::Expr::Name(name) = node else {
            return false;
        };
        match self.cx.scopes.get(&name.id) {
            Some(Binding::Module) => true,
            Some(_) => false,
            None => {
                !self.cx.functions.contains(name.id.as_str())
                    && self.cx.module_name.as_deref() == Some(name.id.as_str())
            }
        }
    }

    fn bind_name(
        &mut self,
        name: &ast::ExprName,
        value: &ast::Expr,
        annotation: Option<&ast::Expr>,
    ) -> Parse<()> {
        let bound = self
            .def(value)
            .and_then(|def| self.bind(&name.id, def, annotation, value));
        match bound {
            Ok(id) => {
                self.define(&name.id, id);
                Ok(())
            }
            Err(reported) => {
                self.cx.scopes.define(name.id.as_str(), Binding::Failed);
                Err(reported)
            }
        }
    }

    /// `a, b = value`: a binding for the tuple and one for each item.
    fn unpack(&mut self, targets: &[ast::Expr], value: &ast::Expr) -> Parse<()> {
        let tuple = self.arg(value, "lv")?;
        if let StructInfo::Tuple(items) = self.builder.scope().arg(&tuple)
            && items.len() != targets.len()
        {
            let (targets, values) = (targets.len(), items.len());
            let kind = ScriptErrorKind::Unpack { targets, values };
            return Err(self.cx.error(value, kind));
        }
        for (index, target) in targets.iter().enumerate() {
            let ast::Expr::Name(name) = target else {
                return Err(self.cx.expected(target, "a name"));
            };
            let item = match &tuple {
                Arg::Tuple(items) => Def::Arg(items[index].clone()),
                whole => Def::TupleItem(whole.clone(), index),
            };
            let id = self.bind(&name.id, item, None, target)?;
            self.define(&name.id, id);
        }
        Ok(())
    }

    /// A call as a statement: `R.func_attr(...)`, or one whose result is not used.
    fn lone_call(&mut self, node: &ast::Expr) -> Parse<()> {
        let ast::Expr::Call(call) = node else {
            return Err(self.cx.expected(node, "a call"));
        };
        match dotted(&call.func).as_deref() {
            Some("R.func_attr") => {
                let [attrs] = self.cx.bind_all(call, "R.func_attr", ["attrs"])?;
                let attrs = self.cx.attrs(attrs)?;
                self.builder.attrs().extend(attrs);
                Ok(())
            }
            Some("R.output") => {
                let instead = "`R.output(...)` is the last statement of `with R.dataflow():`";
                Err(self.cx.unsupported(node, "`R.output`", instead))
            }
            _ => {
                let def = self.def(node)?;
                self.bind("_", def, None, node).map(|_| ())
            }
        }
    }

    /// `with R.dataflow():`
    fn dataflow(&mut self, with: &ast::StmtWith) -> Parse<()> {
        let is_dataflow = |item: &ast::WithItem| {
            let call = item.context_expr.as_call_expr();
            let path = call.and_then(|call| dotted(&call.func));
            matches!(path.as_deref(), Some("R.dataflow" | "relax.dataflow"))
        };
        if with.items.len() != 1 || !with.items.iter().all(is_dataflow) {
            return Err(self.cx.expected(&with.items[0], "`R.dataflow()`"));
        }
        if let ast::Expr::Call(call) = &with.items[0].context_expr {
            let [] = self.cx.bind(call, "R.dataflow", [], 0)?;
        }
        if self.builder.in_dataflow() {
            return Err(self.cx.unsupported(with, "a dataflow block in another", ""));
        }
        self.builder.begin_dataflow();
        let mut outputs = Ok(vec![]);
        let mut failed = None;
        for (at, stmt) in with.body.iter().enumerate() {
            let last = at + 1 == with.body.len();
            if last && let Some(call) = output_call(stmt) {
                outputs = self.outputs(call);
            } else if let ast::Stmt::If(_) = stmt {
                let instead = "end the dataflow block before it";
                failed = Some(
                    self.cx
                        .unsupported(stmt, "`if` in a dataflow block", instead),
                );
            } else {
                failed = self.stmt(stmt).err().or(failed);
            }
        }
        self.builder
            .end_dataflow(outputs.clone().unwrap_or_default());
        match (failed, outputs) {
            (Some(reported), _) | (None, Err(reported)) => Err(reported),
            (None, Ok(_)) => Ok(()),
        }
    }

    fn outputs(&mut self, call: &ast::ExprCall) -> Parse<Vec<ValueId>> {
        let mut outputs = Vec::new();
        for node in self.cx.positional(call, "R.output")? {
            match self.leaf(node)? {
                Arg::Value(id) => outputs.push(id),
                _ => return Err(self.cx.expected(node, "a value of this dataflow block")),
            }
        }
        Ok(outputs)
    }
}

fn annotation_of(stmt: &ast::Stmt) -> Option<&ast::Expr> {
    stmt.as_ann_assign_stmt().map(|assign| &*assign.annotation)
}

fn is_ellipsis(stmt: &ast::Stmt) -> bool {
    stmt.as_expr_stmt()
        .is_some_and(|e| e.value.is_ellipsis_literal_expr())
}

/// `R.output(...)`
fn output_call(stmt: &ast::Stmt) -> Option<&ast::ExprCall> {
    let call = stmt.as_expr_stmt()?.value.as_call_expr()?;
    let path = dotted(&call.func)?;
    matches!(path.as_str(), "R.output" | "relax.output").then_some(call)
}
