//! `BlockBuilder`.

use std::collections::HashMap;

use super::broadcast::Joined;
use super::expr::{Callee, Kind};
use super::{BuildError, Expr, Var};
use crate::ir::graph::{
    self, Arg, Callee as GraphCallee, Def, DpsCallee, Function, Globals, GraphBuilder, ValueId,
};
use crate::ir::{Attrs, Func, Module, Origin, ShapeInfo, StructInfo, Var as Symbol};
use crate::{ops, script, te};

/// What a function is besides its parameters and body.
#[derive(Clone, Debug, Default)]
pub struct FunctionOptions {
    /// Whether only the module calls it.
    pub private: bool,
    /// Whether it may have side effects.
    pub impure: bool,
    /// Attributes (`R.func_attr`).
    pub attrs: Attrs,
    /// What is known of its result. A function that calls itself needs it; for others it follows from the body.
    pub ret: Option<StructInfo>,
}

/// A function that is being written.
#[derive(Clone)]
pub(super) struct Frame {
    pub(super) builder: GraphBuilder,
    /// The values of its variables.
    vars: HashMap<usize, ValueId>,
    /// What the open dataflow block passes out.
    outputs: Vec<ValueId>,
    result: Option<Arg>,
    /// Names given so far, with how often.
    names: HashMap<&'static str, usize>,
    /// The symbols that it defines.
    pub(super) symbols: Vec<Symbol>,
    /// The extents that others broadcast to, where a call decides.
    pub(super) joined: Vec<Joined>,
}

/// Writes a module. A clone is the module as far as it is written.
#[derive(Clone, Default)]
pub struct BlockBuilder {
    module: Module,
    /// The functions that are open, outermost first.
    pub(super) frames: Vec<Frame>,
    /// Whether extents that are not written as 1 broadcast where they are.
    pub(super) by_extents: bool,
}

impl BlockBuilder {
    /// A module without functions.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds functions to a module.
    pub fn of(module: Module) -> Self {
        Self {
            module,
            ..Self::default()
        }
    }

    /// The functions that are finished.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// The module.
    ///
    /// # Errors
    /// [`BuildError::IllFormed`] with everything that is wrong with it.
    pub fn finish(self) -> Result<Module, BuildError> {
        script::well_formed(&self.module)?;
        Ok(self.module)
    }

    /// A function without side effects that others may call. `body` emits what it computes, and its output.
    ///
    /// # Errors
    /// Those of `body`; a taken name, a missing output. The module is then as it was, but for loop programs of `emit_te`.
    pub fn function<E: From<BuildError>>(
        &mut self,
        name: &str,
        params: &[&Var],
        body: impl FnOnce(&mut Self) -> Result<(), E>,
    ) -> Result<(), E> {
        self.function_with(name, params, FunctionOptions::default(), body)
    }

    /// The same with options.
    ///
    /// # Errors
    /// As [`BlockBuilder::function`].
    pub fn function_with<E: From<BuildError>>(
        &mut self,
        name: &str,
        params: &[&Var],
        options: FunctionOptions,
        body: impl FnOnce(&mut Self) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.module.funcs.contains_key(name) {
            let name = name.to_owned();
            return Err(BuildError::Taken { name }.into());
        }
        let mut known = signatures(&self.module);
        if let Some(ret) = &options.ret {
            let signature = StructInfo::Callable {
                params: Some(params.iter().map(|p| p.sinfo().clone()).collect()),
                ret: Box::new(ret.clone()),
                pure: !options.impure,
            };
            known.insert(name.to_owned(), signature);
        }
        let builder = GraphBuilder::in_module(name, Globals::new(known));
        let func = self.in_frame(name, builder, params, options, body)?;
        self.module.funcs.insert(name.to_owned(), Func::Graph(func));
        Ok(())
    }

    /// A function inside of the open one, which may use its variables: a closure.
    ///
    /// # Errors
    /// As [`BlockBuilder::function`].
    pub fn local_function<E: From<BuildError>>(
        &mut self,
        name: &str,
        params: &[&Var],
        body: impl FnOnce(&mut Self) -> Result<(), E>,
    ) -> Result<Var, E> {
        let builder = self.frame()?.builder.nested(name);
        let options = FunctionOptions {
            private: true,
            ..FunctionOptions::default()
        };
        let func = self.in_frame(name, builder, params, options, body)?;
        Ok(self.bind(name, Def::Function(Box::new(func)))?)
    }

    /// A function inside of the open one that may call itself: `body` gets it as a variable. `options` say what it returns.
    ///
    /// # Errors
    /// As [`BlockBuilder::function`]. Nothing is bound then.
    pub fn recursive_function<E: From<BuildError>>(
        &mut self,
        name: &str,
        params: &[&Var],
        options: FunctionOptions,
        body: impl FnOnce(&mut Self, &Var) -> Result<(), E>,
    ) -> Result<Var, E> {
        let signature = StructInfo::Callable {
            params: Some(params.iter().map(|p| p.sinfo().clone()).collect()),
            ret: Box::new(options.ret.clone().unwrap_or(StructInfo::Object)),
            pure: !options.impure,
        };
        let own = Var::new(name, signature.clone());
        let outer = self.frame()?;
        let mut builder = outer.builder.nested(name);
        builder.announce(name, signature);
        let id = outer.builder.next_id();
        outer.vars.insert(own.key(), id);
        let func = self.in_frame(name, builder, params, options, |bb| body(bb, &own));
        self.frame()?.vars.remove(&own.key());
        Ok(self.bind(name, Def::Function(Box::new(func?)))?)
    }

    fn in_frame<E: From<BuildError>>(
        &mut self,
        name: &str,
        mut builder: GraphBuilder,
        params: &[&Var],
        options: FunctionOptions,
        body: impl FnOnce(&mut Self) -> Result<(), E>,
    ) -> Result<Function, E> {
        builder.set_pure(!options.impure);
        builder.set_private(options.private);
        *builder.attrs() = options.attrs;
        let mut vars = HashMap::new();
        for param in params {
            let value = builder.param(param.name(), param.sinfo().clone());
            vars.insert(param.key(), value);
        }
        let depth = self.frames.len();
        let of_params = params.iter().flat_map(|param| param.sinfo().free_vars());
        let symbols = self.new_symbols(of_params);
        self.frames.push(Frame {
            builder,
            vars,
            outputs: vec![],
            result: None,
            names: HashMap::new(),
            symbols,
            joined: vec![],
        });
        let done = body(self);
        self.frames.truncate(depth + 1);
        let frame = self.frames.pop().expect("pushed above");
        done?;
        let Some(result) = frame.result else {
            let func = name.to_owned();
            return Err(BuildError::NoOutput { func }.into());
        };
        Ok(match options.ret {
            Some(ret) => frame.builder.finish_as(result, ret),
            None => frame.builder.finish(result),
        })
    }

    /// Says where what is emitted from now on comes from, in the open function; gives what was said before.
    pub fn set_origin(&mut self, origin: Origin) -> Origin {
        let frame = self.frames.last_mut();
        frame.map_or(Origin::Unknown, |frame| frame.builder.set_origin(origin))
    }

    /// A dataflow block: bindings without side effects and control flow. Only what [`BlockBuilder::emit_output`] gives is seen
    /// after it.
    ///
    /// # Errors
    /// Those of `body`.
    pub fn dataflow<R, E: From<BuildError>>(
        &mut self,
        body: impl FnOnce(&mut Self) -> Result<R, E>,
    ) -> Result<R, E> {
        self.frame()?.builder.begin_dataflow();
        let result = body(self)?;
        let frame = self.frame()?;
        let outputs = std::mem::take(&mut frame.outputs);
        frame.builder.end_dataflow(outputs);
        Ok(result)
    }

    /// Binds an expression; calls inside of it are bound before.
    ///
    /// # Errors
    /// If operands or attributes do not fit, or a variable is unknown.
    pub fn emit(&mut self, value: impl Into<Expr>) -> Result<Var, BuildError> {
        let name = self.fresh_name()?;
        self.emit_as(&name, value)
    }

    /// Binds an expression under a name.
    ///
    /// # Errors
    /// As [`BlockBuilder::emit`].
    pub fn emit_as(&mut self, name: &str, value: impl Into<Expr>) -> Result<Var, BuildError> {
        let def = self.def(&value.into())?;
        self.bind(name, def)
    }

    /// Binds an expression that the dataflow block passes out.
    ///
    /// # Errors
    /// As [`BlockBuilder::emit`], and if no dataflow block is open.
    pub fn emit_output(&mut self, value: impl Into<Expr>) -> Result<Var, BuildError> {
        if !self.frame()?.builder.in_dataflow() {
            let func = self.func_name();
            return Err(BuildError::NoDataflow { func });
        }
        let name = self.name_after("gv")?;
        let var = self.emit_as(&name, value)?;
        let frame = self.frame()?;
        let value = frame.vars[&var.key()];
        frame.outputs.push(value);
        Ok(var)
    }

    /// Says what the function returns.
    ///
    /// # Errors
    /// As [`BlockBuilder::emit`], and if that was said before.
    pub fn emit_func_output(&mut self, value: impl Into<Expr>) -> Result<(), BuildError> {
        let result = self.leaf(&value.into())?;
        if self.frame()?.result.replace(result).is_some() {
            let func = self.func_name();
            return Err(BuildError::SecondOutput { func });
        }
        Ok(())
    }

    /// Binds a value of which more is said than follows; it is checked at run time (`R.match_cast`).
    ///
    /// # Errors
    /// As [`BlockBuilder::emit`].
    pub fn match_cast(
        &mut self,
        value: impl Into<Expr>,
        sinfo: StructInfo,
    ) -> Result<Var, BuildError> {
        let value = self.leaf(&value.into())?;
        let name = self.fresh_name()?;
        self.bind(&name, Def::MatchCast(value, sinfo))
    }

    /// Binds one of two values; each branch gives its value.
    ///
    /// # Errors
    /// Those of the branches, and as [`BlockBuilder::emit`].
    pub fn if_<E: From<BuildError>>(
        &mut self,
        cond: impl Into<Expr>,
        then: impl FnOnce(&mut Self) -> Result<Expr, E>,
        otherwise: impl FnOnce(&mut Self) -> Result<Expr, E>,
    ) -> Result<Var, E> {
        let cond = self.leaf(&cond.into())?;
        let then = self.branch(then)?;
        let otherwise = self.branch(otherwise)?;
        let def = Def::If {
            cond,
            then,
            otherwise,
        };
        let name = self.name_after("gv")?;
        Ok(self.bind(&name, def)?)
    }

    fn branch<E: From<BuildError>>(
        &mut self,
        body: impl FnOnce(&mut Self) -> Result<Expr, E>,
    ) -> Result<graph::Body, E> {
        let frame = self.frame()?;
        frame.builder.begin_branch();
        let before = frame.joined.len();
        let value = body(self)?;
        // The result of a branch is a binding of it.
        let value = self.emit(value)?;
        let result = self.leaf(&value.into())?;
        let frame = self.frame()?;
        frame.joined.truncate(before);
        Ok(frame.builder.end_branch(result))
    }

    /// A call of the loop program that tensor expressions make: `f` gets the arguments as placeholders and gives the results. The
    /// program is named after `name` and added to the module, unless it has an equal one.
    ///
    /// # Errors
    /// If shapes are not known, or the tensor expressions make no loop program.
    pub fn call_te<E: Into<Expr>, T: Into<Vec<te::Tensor>>>(
        &mut self,
        name: &str,
        args: impl IntoIterator<Item = E>,
        f: impl FnOnce(&[te::Tensor]) -> T,
    ) -> Result<Expr, BuildError> {
        let (mut tensors, mut inputs) = (vec![], vec![]);
        for (index, arg) in args.into_iter().enumerate() {
            let arg = self.named(arg.into())?;
            let leaf = self.leaf(&arg)?;
            let got = self.frame()?.builder.scope().arg(&leaf);
            let known = match &got {
                StructInfo::Tensor(info) => match (&info.shape, info.dtype) {
                    (ShapeInfo::Known(dims), Some(dtype)) => Some((dims.clone(), dtype)),
                    _ => None,
                },
                _ => None,
            };
            let (dims, dtype) = known.ok_or_else(|| BuildError::UnknownShape {
                name: name.to_owned(),
                index,
                got: Box::new(got.clone()),
            })?;
            tensors.push(te::placeholder(placeholder_name(index), dims, dtype));
            inputs.push(arg);
        }
        let results: Vec<te::Tensor> = f(&tensors).into();
        let mut out: Vec<StructInfo> = results
            .iter()
            .map(|t| StructInfo::tensor(t.shape().to_vec(), t.dtype()))
            .collect();
        let out = match out.len() {
            1 => out.remove(0),
            _ => StructInfo::Tuple(out),
        };
        let params: Vec<te::Tensor> = tensors.into_iter().chain(results).collect();
        let scalars = te::unbound_vars(&params);
        let func = te::create_prim_func_with(name, &params, &scalars)?;
        Ok(Expr::of(Kind::CallDps {
            callee: DpsCallee::Prim(self.module.add_prim_func(name, func)),
            args: inputs,
            tir_vars: scalars.iter().map(|var| var.expr()).collect(),
            out,
        }))
    }

    /// Binds a [`BlockBuilder::call_te`].
    ///
    /// # Errors
    /// As [`BlockBuilder::call_te`].
    pub fn emit_te<E: Into<Expr>, T: Into<Vec<te::Tensor>>>(
        &mut self,
        name: &str,
        args: impl IntoIterator<Item = E>,
        f: impl FnOnce(&[te::Tensor]) -> T,
    ) -> Result<Var, BuildError> {
        let call = self.call_te(name, args, f)?;
        self.emit(call)
    }

    /// A `call_tir` of a loop program of the module.
    pub fn call_tir<E: Into<Expr>>(
        &self,
        function: &str,
        args: impl IntoIterator<Item = E>,
        out: StructInfo,
    ) -> Expr {
        Expr::of(Kind::CallDps {
            callee: DpsCallee::Prim(function.to_owned()),
            args: args.into_iter().map(Into::into).collect(),
            tir_vars: vec![],
            out,
        })
    }

    pub(super) fn frame(&mut self) -> Result<&mut Frame, BuildError> {
        self.frames.last_mut().ok_or(BuildError::NoFunction)
    }

    fn func_name(&self) -> String {
        let frame = self.frames.last();
        frame.map_or_else(String::new, |frame| frame.builder.name().to_owned())
    }

    /// `lv` in a dataflow block and `gv` outside, as TVM names values.
    pub(super) fn fresh_name(&mut self) -> Result<String, BuildError> {
        let stem = if self.frame()?.builder.in_dataflow() {
            "lv"
        } else {
            "gv"
        };
        self.name_after(stem)
    }

    fn name_after(&mut self, stem: &'static str) -> Result<String, BuildError> {
        let count = self.frame()?.names.entry(stem).or_default();
        let name = match *count {
            0 => stem.to_owned(),
            n => format!("{stem}{n}"),
        };
        *count += 1;
        Ok(name)
    }

    /// Whether an open function defines this symbol: by the type of a parameter or a `match_cast`.
    pub fn defines(&self, symbol: &Symbol) -> bool {
        let mut frames = self.frames.iter();
        frames.any(|frame| frame.symbols.contains(symbol))
    }

    /// Symbols that no open function defines.
    fn new_symbols(&self, symbols: impl IntoIterator<Item = Symbol>) -> Vec<Symbol> {
        let symbols = symbols.into_iter();
        symbols.filter(|symbol| !self.defines(symbol)).collect()
    }

    pub(super) fn bind(&mut self, name: &str, def: Def) -> Result<Var, BuildError> {
        if let Def::MatchCast(_, sinfo) = &def {
            let symbols = self.new_symbols(sinfo.free_vars());
            self.frame()?.symbols.extend(symbols);
        }
        let frame = self.frame()?;
        let value = match &def {
            Def::CallDps { out, .. } => {
                let out = out.clone();
                frame.builder.bind_as(name, def, out)
            }
            _ => frame.builder.bind(name, def)?,
        };
        let sinfo = frame.builder.values()[value].sinfo.clone();
        let var = Var::new(name, sinfo);
        frame.vars.insert(var.key(), value);
        Ok(var)
    }

    /// What an expression is, with everything inside bound.
    fn def(&mut self, e: &Expr) -> Result<Def, BuildError> {
        match &*e.0 {
            Kind::Call {
                callee,
                args,
                attrs,
                sinfo_args,
            } => {
                let mut args = self.leaves(args)?;
                let (callee, attrs) = match callee {
                    Callee::Op(name) => {
                        let def = ops::find(name);
                        let unknown = || BuildError::UnknownOperator { name: name.clone() };
                        let def = def.ok_or_else(unknown)?;
                        args = self.broadcast(def, args, attrs)?;
                        let op = def.op();
                        (GraphCallee::Op(op), op.complete(attrs.clone())?)
                    }
                    Callee::Global(name) => (GraphCallee::Global(name.clone()), attrs.clone()),
                    Callee::Packed(name) => (GraphCallee::Packed(name.clone()), attrs.clone()),
                    Callee::Closure(var) => {
                        let arg = self.leaf(&var.into())?;
                        let value = match arg {
                            Arg::Value(value) => value,
                            captured => {
                                let local = self.bind(var.name(), Def::Arg(captured))?;
                                self.frame()?.vars[&local.key()]
                            }
                        };
                        (GraphCallee::Value(value), attrs.clone())
                    }
                };
                Ok(Def::Call {
                    callee,
                    args,
                    attrs,
                    sinfo_args: sinfo_args.clone(),
                })
            }
            Kind::CallDps {
                callee,
                args,
                tir_vars,
                out,
            } => Ok(Def::CallDps {
                callee: callee.clone(),
                args: self.leaves(args)?,
                tir_vars: tir_vars.clone(),
                inplace: None,
                out: out.clone(),
            }),
            Kind::Item(tuple, index) => Ok(Def::TupleItem(self.leaf(tuple)?, *index)),
            Kind::Var(_) | Kind::Const(_) | Kind::Tuple(_) | Kind::Shape(_) | Kind::Scalar(_) => {
                Ok(Def::Arg(self.leaf(e)?))
            }
        }
    }

    fn leaves(&mut self, exprs: &[Expr]) -> Result<Vec<Arg>, BuildError> {
        exprs.iter().map(|e| self.leaf(e)).collect()
    }

    /// An expression as an argument: calls and items of tuples are bound first.
    fn leaf(&mut self, e: &Expr) -> Result<Arg, BuildError> {
        match &*e.0 {
            Kind::Var(var) => self.lookup(var),
            Kind::Const(tensor) => Ok(Arg::Const(tensor.clone())),
            Kind::Tuple(items) => Ok(Arg::Tuple(self.leaves(items)?)),
            Kind::Shape(dims) => Ok(Arg::Shape(dims.clone())),
            Kind::Scalar(value) => Ok(Arg::Prim(value.clone())),
            Kind::Item(..) | Kind::Call { .. } | Kind::CallDps { .. } => {
                let var = self.emit(e)?;
                self.lookup(&var)
            }
        }
    }

    /// The expression, bound to a variable if it is not an argument as it stands.
    fn named(&mut self, e: Expr) -> Result<Expr, BuildError> {
        match &*e.0 {
            Kind::Var(_) | Kind::Const(_) => Ok(e),
            _ => Ok(self.emit(e)?.into()),
        }
    }

    fn lookup(&mut self, var: &Var) -> Result<Arg, BuildError> {
        for (depth, frame) in self.frames.iter().rev().enumerate() {
            if let Some(&value) = frame.vars.get(&var.key()) {
                return Ok(match depth {
                    0 => Arg::Value(value),
                    _ => Arg::Captured { depth, value },
                });
            }
        }
        Err(match self.frames.last() {
            None => BuildError::NoFunction,
            Some(_) => BuildError::UnknownVar {
                name: var.name().to_owned(),
                func: self.func_name(),
            },
        })
    }
}

/// `A`, `B`, … as in TVM.
fn placeholder_name(index: usize) -> String {
    let letter = char::from(b'A' + (index % 26) as u8);
    match index / 26 {
        0 => letter.to_string(),
        n => format!("{letter}{n}"),
    }
}

fn signatures(module: &Module) -> indexmap::IndexMap<String, StructInfo> {
    let signature = |func: &Func| match func {
        Func::Prim(func) => graph::prim_func_signature(func),
        Func::Graph(func) => func.signature(),
    };
    let funcs = module.funcs.iter();
    funcs
        .map(|(name, func)| (name.clone(), signature(func)))
        .collect()
}
