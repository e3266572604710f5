//! The verifier of graph functions: Relax's rules of well-formedness.
//!
//! A-normal form, leaves as arguments and typed bindings hold by construction of [`Function`]. What remains: names of the
//! module, every value defined once and before its use, values of dataflow blocks and branches staying there, purity, symbolic
//! variables defined before use, and types that agree. Stricter than Relax in one point: a declared result that can never
//! be what the body returns is refused.

use std::collections::{HashMap, HashSet};

use super::dims::{Proof, is_base_of};
use super::infer::{Globals, Scope, infer};
use super::{Arg, BindingBlock, Body, Callee, Def, Function, Value, ValueId};
use crate::ir::{Expr, Func, Module, StructInfo, Var};
use crate::support::Arena;
use crate::tensor::DType;

mod error;
#[cfg(test)]
mod tests;

pub use error::{GraphError, GraphErrorKind};

/// Checks all graph functions of a module.
///
/// # Errors
/// All violations.
pub fn verify(module: &Module) -> Result<(), Vec<GraphError>> {
    let globals = Globals::of(module);
    let mut errors = Vec::new();
    for (name, func) in &module.funcs {
        let (own, attrs) = match func {
            Func::Prim(f) => (&f.name, &f.attrs),
            Func::Graph(f) => (&f.name, &f.attrs),
        };
        let mut report = |kind| {
            errors.push(GraphError {
                func: name.clone(),
                value: None,
                kind,
            });
        };
        if own != name {
            report(GraphErrorKind::Name {
                name: name.clone(),
                own: own.clone(),
            });
        }
        // Loop programs keep the symbol of the library that they were made for, as printed by TVM after legalisation.
        if let (Func::Graph(_), Some(symbol)) =
            (func, attrs.get("global_symbol").and_then(|v| v.as_str()))
            && symbol != name
        {
            report(GraphErrorKind::GlobalSymbol {
                name: name.clone(),
                symbol: symbol.to_owned(),
            });
        }
        if let Func::Graph(func) = func {
            errors.extend(verify_function(func, &globals));
        }
    }
    if errors.is_empty() {
        Ok(())
    } else {
        Err(errors)
    }
}

/// All violations in one function.
pub fn verify_function(func: &Function, globals: &Globals) -> Vec<GraphError> {
    let mut verifier = Verifier {
        globals,
        frames: vec![],
        path: vec![],
        errors: vec![],
    };
    verifier.function(func, HashSet::new());
    verifier.errors
}

/// Where a value may be used.
#[derive(Clone, Copy, PartialEq)]
enum Visible {
    Yes,
    /// Its dataflow block is over and did not output it.
    Escaped,
}

/// One function on the way in.
struct Frame<'a> {
    func: &'a Function,
    visible: HashMap<ValueId, Visible>,
    bound: HashSet<ValueId>,
    vars: HashSet<Var>,
}

struct Verifier<'a> {
    globals: &'a Globals,
    frames: Vec<Frame<'a>>,
    path: Vec<&'a str>,
    errors: Vec<GraphError>,
}

impl<'a> Verifier<'a> {
    fn frame(&mut self) -> &mut Frame<'a> {
        self.frames.last_mut().expect("a function is being checked")
    }

    fn values(&self) -> &'a Arena<ValueId, Value> {
        let frame = self.frames.last().expect("a function is being checked");
        &frame.func.values
    }

    fn report(&mut self, at: Option<ValueId>, kind: GraphErrorKind) {
        let name = |id| {
            self.values()
                .get(id)
                .map_or(format!("{id}"), |v| v.name.clone())
        };
        let value = at.map(|id| (id, name(id)));
        self.errors.push(GraphError {
            func: self.path.join("."),
            value,
            kind,
        });
    }

    fn function(&mut self, func: &'a Function, vars: HashSet<Var>) {
        self.path.push(&func.name);
        self.frames.push(Frame {
            func,
            visible: HashMap::new(),
            bound: HashSet::new(),
            vars,
        });
        let force = func.attrs.get("relax.force_pure");
        if force.is_some_and(|v| v.as_int() == Some(1)) && !func.pure {
            self.report(None, GraphErrorKind::ForcePure);
        }
        self.params(func);
        self.body(&func.body, None);
        self.sinfo_exprs(None, &func.ret);
        let returned = self.scope().arg(&func.body.result);
        if is_base_of(&func.ret, &returned) == Proof::No {
            let declared = Box::new(func.ret.clone());
            let returned = Box::new(returned);
            self.report(None, GraphErrorKind::Return { declared, returned });
        }
        self.frames.pop();
        self.path.pop();
    }

    fn params(&mut self, func: &'a Function) {
        for &id in &func.params {
            let is_param = matches!(func.values.get(id), Some(v) if matches!(v.def, Def::Param));
            if !is_param || !self.frame().bound.insert(id) {
                self.report(Some(id), GraphErrorKind::Param);
                continue;
            }
            self.frame().visible.insert(id, Visible::Yes);
            let defined = func.values[id].sinfo.defined_vars();
            self.frame().vars.extend(defined);
        }
        for (id, value) in func.values.iter() {
            match value.def {
                Def::Param if !func.params.contains(&id) => {
                    self.report(Some(id), GraphErrorKind::Param);
                }
                Def::Param => self.sinfo_exprs(Some(id), &value.sinfo),
                _ => {}
            }
        }
    }

    fn scope(&self) -> Scope<'a> {
        Scope {
            globals: self.globals,
            frames: self.frames.iter().map(|f| &f.func.values).collect(),
        }
    }

    /// Checks a body; `at` is the `If` of which it is a branch.
    fn body(&mut self, body: &'a Body, at: Option<ValueId>) {
        for block in &body.blocks {
            self.block(block);
        }
        self.arg(at, &body.result);
    }

    fn block(&mut self, block: &'a BindingBlock) {
        for &id in &block.bindings {
            let Some(value) = self.values().get(id) else {
                self.report(
                    Some(id),
                    GraphErrorKind::NotDefined {
                        name: id.to_string(),
                    },
                );
                continue;
            };
            if matches!(value.def, Def::Param) {
                self.report(Some(id), GraphErrorKind::Param);
                continue;
            }
            if !self.frame().bound.insert(id) {
                self.report(Some(id), GraphErrorKind::BoundTwice);
                continue;
            }
            self.binding(id, value, block.dataflow.is_some());
            self.frame().visible.insert(id, Visible::Yes);
        }
        let Some(outputs) = &block.dataflow else {
            return;
        };
        for &id in outputs {
            if !block.bindings.contains(&id) {
                self.report(Some(id), GraphErrorKind::NotOutput);
            }
        }
        for &id in block.bindings.iter().filter(|id| !outputs.contains(id)) {
            self.frame().visible.insert(id, Visible::Escaped);
        }
    }

    fn binding(&mut self, id: ValueId, value: &'a Value, dataflow: bool) {
        for arg in value.def.args() {
            self.arg(Some(id), arg);
        }
        match &value.def {
            Def::MatchCast(_, sinfo) => {
                self.frame().vars.extend(sinfo.defined_vars());
                self.sinfo_exprs(Some(id), sinfo);
            }
            def => {
                for e in def.exprs() {
                    self.expr(Some(id), e);
                }
            }
        }
        match &value.def {
            Def::If {
                cond,
                then,
                otherwise,
            } => {
                if dataflow {
                    self.report(Some(id), GraphErrorKind::IfInDataflow);
                }
                self.condition(id, cond);
                for branch in [then, otherwise] {
                    let frame = self.frame();
                    let (visible, vars) = (frame.visible.clone(), frame.vars.clone());
                    self.body(branch, Some(id));
                    let frame = self.frame();
                    (frame.visible, frame.vars) = (visible, vars);
                }
            }
            Def::Function(inner) => {
                let vars = self.frame().vars.clone();
                // A closure may call itself.
                self.frame().visible.insert(id, Visible::Yes);
                self.function(inner, vars);
            }
            Def::Call {
                callee,
                args: _,
                attrs: _,
                sinfo_args: _,
            } => self.callee(id, callee, dataflow),
            Def::CallDps {
                callee: _,
                args,
                tir_vars: _,
                inplace: Some(inplace),
                out,
            } => self.inplace(id, args, inplace, out),
            Def::Param
            | Def::Arg(_)
            | Def::TupleItem(_, _)
            | Def::CallDps {
                callee: _,
                args: _,
                tir_vars: _,
                inplace: None,
                out: _,
            }
            | Def::MatchCast(_, _) => {}
        }
        self.types(id, value);
    }

    /// What is declared of a value against what follows from its definition.
    fn types(&mut self, id: ValueId, value: &'a Value) {
        self.sinfo_exprs(Some(id), &value.sinfo);
        match infer(&value.def, &self.scope()) {
            Err(error) => self.report(Some(id), error.into()),
            Ok(computed) if is_base_of(&value.sinfo, &computed) == Proof::No => {
                let declared = Box::new(value.sinfo.clone());
                let computed = Box::new(computed);
                self.report(Some(id), GraphErrorKind::Declared { declared, computed });
            }
            Ok(_) => {}
        }
    }

    fn condition(&mut self, id: ValueId, cond: &Arg) {
        let got = self.scope().arg(cond);
        let good = match &got {
            StructInfo::Object => true,
            StructInfo::Tensor(info) => {
                info.dtype.is_none_or(|d| d == DType::BOOL)
                    && info.shape.ndim().is_none_or(|n| n == 0)
            }
            StructInfo::Prim { dtype, value: _ } => *dtype == DType::BOOL,
            StructInfo::Shape(_)
            | StructInfo::Tuple(_)
            | StructInfo::Callable {
                params: _,
                ret: _,
                pure: _,
            } => false,
        };
        if !good {
            let got = Box::new(got);
            self.report(Some(id), GraphErrorKind::Condition { got });
        }
    }

    fn inplace(&mut self, id: ValueId, args: &[Arg], inplace: &[Option<usize>], out: &StructInfo) {
        let outs = match out {
            StructInfo::Tuple(items) => items.as_slice(),
            single => std::slice::from_ref(single),
        };
        let mut used = HashSet::new();
        let good = inplace.len() == outs.len()
            && inplace.iter().any(Option::is_some)
            && inplace
                .iter()
                .flatten()
                .all(|&index| index < args.len() && used.insert(index));
        if !good {
            self.report(Some(id), GraphErrorKind::InplaceIndices);
            return;
        }
        for (out, index) in outs.iter().zip(inplace) {
            let Some(index) = index else { continue };
            let input = self.scope().arg(&args[*index]);
            if is_base_of(out, &input) == Proof::No {
                let (out, input) = (Box::new(out.clone()), Box::new(input));
                self.report(Some(id), GraphErrorKind::InplaceType { out, input });
            }
        }
    }

    fn callee(&mut self, id: ValueId, callee: &'a Callee, dataflow: bool) {
        let is_pure = |sinfo: &StructInfo| match sinfo {
            StructInfo::Callable {
                params: _,
                ret: _,
                pure,
            } => *pure,
            _ => true,
        };
        let (pure, name) = match callee {
            Callee::Op(op) => (op.schema().pure, op.to_string()),
            Callee::Packed(name) => (false, format!("\"{name}\"")),
            Callee::PurePacked(name) => (true, name.clone()),
            Callee::Global(name) => {
                let sinfo = self.globals.signature(name);
                (sinfo.is_ok_and(|s| is_pure(&s)), name.clone())
            }
            Callee::Value(callee) => {
                self.leaves(Some(id), &Arg::Value(*callee));
                match self.values().get(*callee) {
                    Some(value) => (is_pure(&value.sinfo), value.name.clone()),
                    None => return,
                }
            }
        };
        let func = self.frame().func;
        let forced = func.attrs.get("relax.force_pure");
        if pure || forced.is_some_and(|v| v.as_int() == Some(1)) {
            return;
        }
        if dataflow {
            self.report(Some(id), GraphErrorKind::ImpureInDataflow { callee: name });
        } else if func.pure {
            self.report(Some(id), GraphErrorKind::ImpureInPure { callee: name });
        }
    }

    /// Checks that the values in an argument may be used here.
    fn arg(&mut self, at: Option<ValueId>, arg: &'a Arg) {
        self.leaves(at, arg);
        for e in arg.exprs() {
            self.expr(at, e);
        }
    }

    fn leaves(&mut self, at: Option<ValueId>, arg: &Arg) {
        let mut wrong = Vec::new();
        arg.walk(&mut |leaf| {
            let (depth, id) = match leaf {
                Arg::Value(id) => (0, *id),
                Arg::Captured { depth, value } => (*depth, *value),
                Arg::Global(name) => {
                    if let Err(error) = self.globals.signature(name) {
                        wrong.push(error.into());
                    }
                    return;
                }
                Arg::Const(_)
                | Arg::Omitted(_)
                | Arg::Tuple(_)
                | Arg::Shape(_)
                | Arg::Prim(_)
                | Arg::Str(_)
                | Arg::DType(_)
                | Arg::Extern(_) => return,
            };
            let frame = self.frames.len().checked_sub(depth + 1);
            let frame = frame.and_then(|at| self.frames.get(at));
            let name = frame
                .and_then(|f| f.func.values.get(id))
                .map_or(format!("{id}"), |v| v.name.clone());
            match frame.and_then(|f| f.visible.get(&id)) {
                Some(Visible::Yes) => {}
                Some(Visible::Escaped) => wrong.push(GraphErrorKind::DataflowEscape { name }),
                None => wrong.push(GraphErrorKind::NotDefined { name }),
            }
        });
        for kind in wrong {
            self.report(at, kind);
        }
    }

    fn sinfo_exprs(&mut self, at: Option<ValueId>, sinfo: &StructInfo) {
        match sinfo {
            StructInfo::Tensor(info) => self.extents(at, info.shape.dims().unwrap_or_default()),
            StructInfo::Shape(shape) => self.extents(at, shape.dims().unwrap_or_default()),
            StructInfo::Tuple(items) => items.iter().for_each(|i| self.sinfo_exprs(at, i)),
            StructInfo::Prim {
                dtype: _,
                value: Some(e),
            } => self.expr(at, e),
            // A callable's parameters may name variables of their own.
            StructInfo::Object
            | StructInfo::Prim {
                dtype: _,
                value: None,
            }
            | StructInfo::Callable {
                params: _,
                ret: _,
                pure: _,
            } => {}
        }
    }

    fn extents(&mut self, at: Option<ValueId>, dims: &[Expr]) {
        for dim in dims {
            if dim.dtype() != DType::I64 {
                let (extent, dtype) = (dim.clone(), dim.dtype());
                self.report(at, GraphErrorKind::ExtentType { extent, dtype });
            }
            self.expr(at, dim);
        }
    }

    fn expr(&mut self, at: Option<ValueId>, e: &Expr) {
        for var in e.free_vars() {
            if !self.frame().vars.contains(&var) {
                let var = var.name().to_owned();
                let kind = GraphErrorKind::UndefinedVar { var };
                // One report for each variable of a function is enough, where it is used first.
                let func = self.path.join(".");
                let reported = |e: &GraphError| e.kind == kind && e.func == func;
                if !self.errors.iter().any(reported) {
                    self.report(at, kind);
                }
            }
        }
    }
}
