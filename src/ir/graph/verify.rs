//! The verifier of graph functions: Relax's rules of well-formedness.
//!
//! A-normal form, leaves as arguments and typed bindings hold by construction of [`Function`]; so do parameters that belong to
//! one function, and that no loop program stands inside a graph function. What remains: names of the module, every value
//! defined once and before its use, values of dataflow blocks and branches staying there, purity, symbolic variables defined
//! before use and by one function, `int64` extents, outputs that can be allocated, and types that agree: a call declares
//! nothing that contradicts what is inferred, another name for a value nothing that is not known of it. Stricter than Relax in
//! one point: a declared result that can never be what the body returns is refused.

use std::collections::{HashMap, HashSet};

use super::dims::{Proof, is_base_of};
use super::infer::{Globals, InferError, Scope, infer};
use super::{Arg, BindingBlock, Body, Def, Function, Value, ValueId};
use crate::ir::{Expr, Func, Module, StructInfo, VDevice, Var};
use crate::support::Arena;
use crate::tensor::DType;

mod call;
mod error;
#[cfg(test)]
mod tests;

pub use error::{GraphError, GraphErrorKind, Part};

/// Checks all graph functions of a module.
///
/// # Errors
/// All violations.
pub fn verify(module: &Module) -> Result<(), Vec<GraphError>> {
    let globals = Globals::of(module);
    let mut errors = Vec::new();
    let mut owners = HashMap::new();
    for (name, func) in &module.funcs {
        names(name, func, &mut errors);
        if let Func::Graph(func) = func {
            symbolic_vars(name, func, &mut owners, &mut errors);
            let mut verifier = Verifier::new(&globals);
            verifier.devices = Some(&module.vdevices);
            errors.extend(verifier.checked(name, func));
        }
    }
    if errors.is_empty() {
        Ok(())
    } else {
        Err(errors)
    }
}

/// An error about a function as a whole.
fn of_function(name: &str, kind: GraphErrorKind) -> GraphError {
    GraphError {
        func: name.to_owned(),
        value: None,
        part: Part::Definition,
        kind,
    }
}

/// The names that a function has: that in the module, its own, and that for the linker.
fn names(name: &str, func: &Func, errors: &mut Vec<GraphError>) {
    let (own, attrs) = match func {
        Func::Prim(f) => (&f.name, &f.attrs),
        Func::Graph(f) => (&f.name, &f.attrs),
    };
    if own != name {
        let kind = GraphErrorKind::Name {
            name: name.to_owned(),
            own: own.clone(),
        };
        errors.push(of_function(name, kind));
    }
    // Loop programs keep the symbol of the library that they were made for, as printed by TVM after legalisation.
    if let (Func::Graph(_), Some(symbol)) =
        (func, attrs.get("global_symbol").and_then(|v| v.as_str()))
        && symbol != name
    {
        let kind = GraphErrorKind::GlobalSymbol {
            name: name.to_owned(),
            symbol: symbol.to_owned(),
        };
        errors.push(of_function(name, kind));
    }
}

/// Symbolic variables that a function defines and a function before it defines, too.
fn symbolic_vars<'m>(
    name: &'m str,
    func: &Function,
    owners: &mut HashMap<Var, &'m str>,
    errors: &mut Vec<GraphError>,
) {
    for var in func.defined_vars() {
        let other = *owners.entry(var.clone()).or_insert(name);
        if other != name {
            let (var, other) = (var.name().to_owned(), other.to_owned());
            errors.push(of_function(name, GraphErrorKind::SharedVar { var, other }));
        }
    }
}

/// All violations in one function.
pub fn verify_function(func: &Function, globals: &Globals) -> Vec<GraphError> {
    Verifier::new(globals).checked(&func.name, func)
}

/// Where a value may be used.
#[derive(Clone, Copy, PartialEq)]
enum Visible {
    Yes,
    /// Its dataflow block is over and did not output it.
    Escaped,
}

/// What an error is about: a value or the function itself, and which part of it.
#[derive(Clone, Copy)]
struct Site {
    value: Option<ValueId>,
    part: Part,
}

impl Site {
    /// The function itself.
    const FUNCTION: Self = Self {
        value: None,
        part: Part::Definition,
    };

    fn part(self, part: Part) -> Self {
        Self { part, ..self }
    }
}

impl From<ValueId> for Site {
    fn from(value: ValueId) -> Self {
        Self {
            value: Some(value),
            part: Part::Definition,
        }
    }
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
    /// The devices of the module, where it is known.
    devices: Option<&'a [VDevice]>,
    frames: Vec<Frame<'a>>,
    path: Vec<&'a str>,
    errors: Vec<GraphError>,
}

impl<'a> Verifier<'a> {
    fn new(globals: &'a Globals) -> Self {
        Self {
            globals,
            devices: None,
            frames: vec![],
            path: vec![],
            errors: vec![],
        }
    }

    /// All violations in a function of this name.
    fn checked(mut self, name: &'a str, func: &'a Function) -> Vec<GraphError> {
        self.function(name, func, HashSet::new());
        self.errors
    }

    fn frame(&mut self) -> &mut Frame<'a> {
        self.frames.last_mut().expect("a function is being checked")
    }

    fn values(&self) -> &'a Arena<ValueId, Value> {
        let frame = self.frames.last().expect("a function is being checked");
        &frame.func.values
    }

    fn report(&mut self, site: impl Into<Site>, kind: GraphErrorKind) {
        let Site { value, part } = site.into();
        let name = |id| {
            self.values()
                .get(id)
                .map_or(format!("{id}"), |v| v.name.clone())
        };
        let value = value.map(|id| (id, name(id)));
        let func = self.path.join(".");
        // An extent that a definition and a type share is wrong once.
        let same = |e: &GraphError| e.kind == kind && e.value == value && e.func == func;
        if !self.errors.iter().any(same) {
            self.errors.push(GraphError {
                func,
                value,
                part,
                kind,
            });
        }
    }

    fn function(&mut self, name: &'a str, func: &'a Function, vars: HashSet<Var>) {
        self.path.push(name);
        self.frames.push(Frame {
            func,
            visible: HashMap::new(),
            bound: HashSet::new(),
            vars,
        });
        let force = func.attrs.get("relax.force_pure");
        if force.is_some_and(|v| v.as_int() == Some(1)) && !func.pure {
            self.report(Site::FUNCTION, GraphErrorKind::ForcePure);
        }
        self.params(func);
        let result = Site::FUNCTION.part(Part::Result);
        self.body(&func.body, result);
        self.sinfo_exprs(Site::FUNCTION, &func.ret);
        let returned = self.scope().arg(&func.body.result);
        if is_base_of(&func.ret, &returned) == Proof::No {
            let declared = Box::new(func.ret.clone());
            let returned = Box::new(returned);
            self.report(result, GraphErrorKind::Return { declared, returned });
        }
        self.frames.pop();
        self.path.pop();
    }

    fn params(&mut self, func: &'a Function) {
        for &id in &func.params {
            let is_param = matches!(func.values.get(id), Some(v) if matches!(v.def, Def::Param));
            if !is_param || !self.frame().bound.insert(id) {
                self.report(id, GraphErrorKind::Param);
                continue;
            }
            self.frame().visible.insert(id, Visible::Yes);
            let defined = func.values[id].sinfo.defined_vars();
            self.frame().vars.extend(defined);
        }
        for (id, value) in func.values.iter() {
            match value.def {
                Def::Param if !func.params.contains(&id) => {
                    self.report(id, GraphErrorKind::Param);
                }
                Def::Param => {
                    self.sinfo_exprs(id.into(), &value.sinfo);
                    self.devices(id.into(), &value.sinfo);
                }
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

    /// Checks a body, whose result is that part of a function or of an `If`.
    fn body(&mut self, body: &'a Body, result: Site) {
        for block in &body.blocks {
            self.block(block);
        }
        self.arg(result, &body.result);
    }

    fn block(&mut self, block: &'a BindingBlock) {
        for &id in &block.bindings {
            let Some(value) = self.values().get(id) else {
                self.report(
                    id,
                    GraphErrorKind::NotDefined {
                        name: id.to_string(),
                    },
                );
                continue;
            };
            if matches!(value.def, Def::Param) {
                self.report(id, GraphErrorKind::Param);
                continue;
            }
            if !self.frame().bound.insert(id) {
                self.report(id, GraphErrorKind::BoundTwice);
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
                self.report(id, GraphErrorKind::NotOutput);
            }
        }
        for &id in block.bindings.iter().filter(|id| !outputs.contains(id)) {
            self.frame().visible.insert(id, Visible::Escaped);
        }
    }

    fn binding(&mut self, id: ValueId, value: &'a Value, dataflow: bool) {
        let site = Site::from(id);
        for (at, arg) in value.def.args().into_iter().enumerate() {
            self.arg(site.part(Part::Argument(at)), arg);
        }
        match &value.def {
            Def::MatchCast(_, sinfo) => {
                self.frame().vars.extend(sinfo.defined_vars());
                self.sinfo_exprs(site, sinfo);
            }
            def => {
                for e in def.exprs() {
                    self.expr(site, e);
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
                    self.report(id, GraphErrorKind::IfInDataflow);
                }
                self.condition(id, cond);
                for (branch, part) in [(then, Part::Then), (otherwise, Part::Otherwise)] {
                    let frame = self.frame();
                    let (visible, vars) = (frame.visible.clone(), frame.vars.clone());
                    self.body(branch, site.part(part));
                    let frame = self.frame();
                    (frame.visible, frame.vars) = (visible, vars);
                }
            }
            Def::Function(inner) => {
                let vars = self.frame().vars.clone();
                // A closure may call itself.
                self.frame().visible.insert(id, Visible::Yes);
                self.function(&inner.name, inner, vars);
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
                inplace,
                out,
            } => {
                self.outputs(id, out);
                if let Some(inplace) = inplace {
                    self.inplace(id, args, inplace, out);
                }
            }
            Def::Param | Def::Arg(_) | Def::TupleItem(_, _) | Def::MatchCast(_, _) => {}
        }
        self.types(id, value);
    }

    /// What is declared of a value against what follows from its definition.
    fn types(&mut self, id: ValueId, value: &'a Value) {
        let site = Site::from(id);
        self.sinfo_exprs(site.part(Part::Annotation), &value.sinfo);
        self.devices(site, &value.sinfo);
        let computed = match infer(&value.def, &self.scope()) {
            Ok(computed) => computed,
            Err(error) => {
                let part = match &error {
                    InferError::Argument { index, .. } | InferError::Operand { index, .. } => {
                        Part::Argument(*index)
                    }
                    _ => Part::Definition,
                };
                return self.report(site.part(part), error.into());
            }
        };
        let declared = || Box::new(value.sinfo.clone());
        // A call may be known to give more than is inferred; another name for a value is what that value is.
        let is_name = matches!(value.def, Def::Arg(_) | Def::TupleItem(_, _));
        let kind = match is_base_of(&value.sinfo, &computed) {
            Proof::No => GraphErrorKind::Declared {
                declared: declared(),
                computed: Box::new(computed),
            },
            Proof::Unknown if is_name => GraphErrorKind::Unproven {
                declared: declared(),
                known: Box::new(computed),
            },
            Proof::Yes | Proof::Unknown => return,
        };
        self.report(site.part(Part::Annotation), kind);
    }

    /// Checks that the module has the devices on which tensors are. `R.to_vdevice` says its device by the type of its result.
    fn devices(&mut self, site: Site, info: &StructInfo) {
        match info {
            StructInfo::Tensor(info) => {
                let (Some(known), Some(device)) = (self.devices, &info.vdevice) else {
                    return;
                };
                let is_device = |d: &VDevice| d.target == device.target && d.index == device.index;
                if !known.iter().any(is_device) {
                    let (device, known) = (device.clone(), known.to_vec());
                    self.report(site, GraphErrorKind::UnknownDevice { device, known });
                }
            }
            StructInfo::Tuple(items) => items.iter().for_each(|item| self.devices(site, item)),
            _ => {}
        }
    }

    /// Checks that the values in an argument may be used here.
    fn arg(&mut self, at: Site, arg: &'a Arg) {
        self.leaves(at, arg);
        arg.walk(&mut |leaf| match leaf {
            Arg::Shape(dims) => self.extents(at, dims),
            Arg::Prim(e) => self.expr(at, e),
            _ => {}
        });
    }

    fn leaves(&mut self, at: Site, arg: &Arg) {
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

    fn sinfo_exprs(&mut self, at: Site, sinfo: &StructInfo) {
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

    fn extents(&mut self, at: Site, dims: &[Expr]) {
        for dim in dims {
            if dim.dtype() != DType::I64 {
                let (extent, dtype) = (dim.clone(), dim.dtype());
                self.report(at, GraphErrorKind::ExtentType { extent, dtype });
            }
            self.expr(at, dim);
        }
    }

    fn expr(&mut self, at: Site, e: &Expr) {
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
