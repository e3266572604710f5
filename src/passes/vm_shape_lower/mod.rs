//! `vm_shape_lower`: checks of values, and the arithmetic on symbolic dimensions, are written down in the graph (Relax:
//! `VMShapeLower`).

mod check;
mod slots;

use std::collections::HashSet;
use std::convert::Infallible;

use self::slots::{Slots, is_constant, stands_for, whole_shape};
use super::PassError;
use super::memory::upper_bounds;
use crate::ir::graph::dims::{Proof, is_base_of};
use crate::ir::graph::{
    Arg, Become, BindingBlock, Body, Callee, Def, Function, Globals, Scope, Value, ValueId, infer,
    rewrite,
};
use crate::ir::{
    AttrValue, Attrs, Expr, Func, Module, Origin, ShapeInfo, StructInfo, TensorInfo, Var,
};
use crate::ops::{self, ALLOC_SHAPE_HEAP, Compute, MachineOp, MakeDim, MatchDim, ShapeBuiltin};
use crate::support::Arena;
use crate::tensor::DType;

/// Whether checks say where the value comes from that they check.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Contexts {
    /// As `ErrorContext(fn=main, loc=param[0], param=x, annotation=R.Tensor((n,), dtype="float32")) `, in which a space ends the text as in TVM.
    Written,
    /// An empty text stands in the place.
    Empty,
}

/// The module in which each function has a shape heap (`vm.builtin.alloc_shape_heap`), whose slots hold its symbolic dimensions.
/// Packed functions check parameters, what `match_cast` says, and a result of which the function declares more than is known; they
/// fill slots with dimensions that a variable stands for. A host program `shape_func` computes the other dimensions from these, as
/// soon as all of its variables have values. Shapes and scalars are made from slots.
///
/// ```text
/// def main(x: R.Tensor(("n", 2), …)):        shape_heap = R.call_builtin_with_ctx("vm.builtin.alloc_shape_heap", (2,))
///                                            R.call_packed("vm.builtin.check_tensor_info", x, 2, R.dtype(…), context)
///                                            R.call_packed("vm.builtin.match_shape", x, shape_heap, 2, 1, 0, 0, 2, context)
///                                       →    cls.shape_func(shape_heap)    # H[1] = H[0] * 2
///     return R.shape([n * 2])                gv = R.call_packed("vm.builtin.make_shape", shape_heap, 1, 1, 1)
/// ```
///
/// A weight of static shape, which is a parameter from the attribute `num_input` on, is not checked: the loop programs that take it
/// check it. A size is checked against its bound (`tir_var_upper_bound`). A function that has a shape heap stays as it is. A function
/// inside another captures the dimensions of that as scalars. The checks have side effects, so a pure function is marked
/// `relax.force_pure` (TVM leaves it ill-formed unless `RemovePurityChecking` ran before). No pass that computes with shapes may run
/// after this one.
///
/// # Errors
/// If nothing gives a symbolic dimension its value, or a scalar of sizes is no integer.
pub(super) fn vm_shape_lower(module: &Module, contexts: Contexts) -> Result<Module, PassError> {
    let mut out = module.clone();
    let names: Vec<String> = module
        .functions()
        .map(|(name, _)| name.to_owned())
        .collect();
    for name in names {
        let Some(function) = module.function(&name).filter(|f| !has_heap(f)) else {
            continue;
        };
        let globals = Globals::of(&out);
        let lower = Lower::new(&mut out, &globals, contexts, function, vec![], &[]);
        let lowered = lower.function()?;
        // Values in the order of the program again.
        let Ok(ordered) = rewrite::<Infallible>(&lowered, &globals, &mut |_, _| Ok(Become::Kept));
        out.funcs.insert(name, Func::Graph(ordered));
    }
    Ok(out)
}

/// Names of the programs that work on shape heaps: they are called with one.
pub fn shape_funcs(module: &Module) -> HashSet<&str> {
    let mut out = HashSet::new();
    for (_, function) in module.functions() {
        collect_shape_funcs(function, module, &mut out);
    }
    out
}

fn collect_shape_funcs<'m>(function: &'m Function, module: &Module, out: &mut HashSet<&'m str>) {
    let heap = |arg: &Arg| matches!(arg, Arg::Value(id) if is_heap(&function.values[*id]));
    for (_, value) in function.values.iter() {
        match &value.def {
            Def::Call {
                callee: Callee::Global(name),
                args,
                ..
            } if module.prim_func(name).is_some() && args.iter().any(heap) => {
                out.insert(name);
            }
            Def::Function(inner) => collect_shape_funcs(inner, module, out),
            _ => {}
        }
    }
}

/// Whether the function, or one inside of it, has a shape heap.
fn has_heap(function: &Function) -> bool {
    let mut found = false;
    function.for_each_value(&mut |value| found |= is_heap(value));
    found
}

fn is_heap(value: &Value) -> bool {
    match &value.def {
        Def::Call {
            callee: Callee::Op(op),
            ..
        } => matches!(
            ops::def(*op).compute,
            Compute::Machine(MachineOp::CallBuiltin)
        ),
        _ => false,
    }
}

/// One function in the making.
struct Lower<'a> {
    /// The module, which gets shape functions.
    module: &'a mut Module,
    globals: &'a Globals,
    contexts: Contexts,
    /// Values of the functions around.
    around: Vec<Arena<ValueId, Value>>,
    /// Dimensions of the functions around, and the scalars that these are there.
    captured: &'a [(Var, ValueId)],
    function: Function,
    slots: Slots,
    heap: Arg,
    /// Bindings of the block that is being written.
    bindings: Vec<ValueId>,
    origin: Origin,
}

impl<'a> Lower<'a> {
    fn new(
        module: &'a mut Module,
        globals: &'a Globals,
        contexts: Contexts,
        function: &Function,
        around: Vec<Arena<ValueId, Value>>,
        captured: &'a [(Var, ValueId)],
    ) -> Self {
        let vars: Vec<Var> = captured.iter().map(|(var, _)| var.clone()).collect();
        Self {
            slots: Slots::of(function, &vars, module),
            module,
            globals,
            contexts,
            around,
            captured,
            function: function.clone(),
            heap: Arg::Tuple(vec![]),
            bindings: vec![],
            origin: Origin::Unknown,
        }
    }

    fn function(mut self) -> Result<Function, PassError> {
        let mut body = std::mem::replace(
            &mut self.function.body,
            Body {
                blocks: vec![],
                result: Arg::Tuple(vec![]),
            },
        );
        let returned = self.scope().arg(&body.result);
        let checks_result = is_base_of(&self.function.ret, &returned) != Proof::Yes;
        let ret = self.function.ret.clone();
        if checks_result {
            self.slots.add_info(&ret);
        }
        let bounds = upper_bounds(&self.function)?;
        for (var, bound) in &bounds {
            self.slots.add(&within(var, *bound));
        }
        self.heap = self.alloc_heap();
        self.captured_dims();
        self.check_params()?;
        for (var, bound) in &bounds {
            self.check_bound(var, *bound)?;
        }
        let start = std::mem::take(&mut self.bindings);
        self.body(&mut body)?;
        if checks_result {
            self.origin = Origin::Unknown;
            self.check_result(&body.result, &ret, &returned)?;
        }
        append(&mut body, std::mem::take(&mut self.bindings));
        body.blocks.insert(
            0,
            BindingBlock {
                dataflow: None,
                bindings: start,
            },
        );
        self.function.body = body;
        if self.function.pure && self.has_effects() {
            let mark = ("relax.force_pure".to_owned(), AttrValue::Bool(true));
            self.function.attrs.extend([mark]);
        }
        Ok(self.function)
    }

    /// Whether a call of the function has side effects, as checks have.
    fn has_effects(&self) -> bool {
        let values = &self.function.values;
        values.iter().any(|(_, value)| match &value.def {
            Def::Call { callee, .. } => !callee.is_pure(self.globals, values),
            _ => false,
        })
    }

    /// The heap; nothing, where there is no dimension to hold.
    fn alloc_heap(&mut self) -> Arg {
        let count = self.slots.count();
        if count == 0 {
            return self.null("shape_heap");
        }
        let info = StructInfo::Tensor(TensorInfo {
            shape: ShapeInfo::Ndim(1),
            dtype: Some(DType::I64),
            vdevice: None,
        });
        let def = Def::Call {
            callee: Callee::Op(ops::op("call_builtin_with_ctx")),
            args: vec![
                Arg::Extern(ALLOC_SHAPE_HEAP.to_owned()),
                Arg::Tuple(vec![Arg::Prim(Expr::i64(count as i64))]),
            ],
            attrs: Attrs::new(),
            sinfo_args: vec![info.clone()],
        };
        self.bind("shape_heap", def, info)
    }

    /// No value, under a name.
    fn null(&mut self, name: &str) -> Arg {
        let def = Def::Call {
            callee: Callee::Op(ops::op("null_value")),
            args: vec![],
            attrs: Attrs::new(),
            sinfo_args: vec![],
        };
        self.bind(name, def, StructInfo::Object)
    }

    /// What is known of values: all of this function and of those around it.
    fn scope(&self) -> Scope<'_> {
        let mut frames: Vec<_> = self.around.iter().collect();
        frames.push(&self.function.values);
        Scope {
            globals: self.globals,
            frames,
        }
    }

    fn bind(&mut self, name: &str, def: Def, sinfo: StructInfo) -> Arg {
        let id = self.function.values.push(Value {
            name: name.to_owned(),
            sinfo,
            def,
            origin: self.origin.clone(),
        });
        self.bindings.push(id);
        Arg::Value(id)
    }

    /// A packed function that gives something.
    fn packed(builtin: ShapeBuiltin, args: Vec<Arg>, info: StructInfo) -> Def {
        Def::Call {
            callee: Callee::Packed(builtin.name().to_owned()),
            args,
            attrs: Attrs::new(),
            sinfo_args: vec![info],
        }
    }

    /// A packed function that gives nothing.
    fn run(&mut self, builtin: ShapeBuiltin, args: Vec<Arg>) {
        let nothing = StructInfo::Tuple(vec![]);
        let def = Self::packed(builtin, args, nothing.clone());
        self.bind("_", def, nothing);
    }

    /// The dimensions that can be computed now get their values.
    fn compute(&mut self) {
        let Some(program) = self.slots.compute() else {
            return;
        };
        let name = self.module.add_prim_func("shape_func", program);
        let def = Def::Call {
            callee: Callee::Global(name),
            args: vec![self.heap.clone()],
            attrs: Attrs::new(),
            sinfo_args: vec![],
        };
        self.bind("_", def, StructInfo::Tuple(vec![]));
    }

    /// The dimensions of the functions around get their values.
    fn captured_dims(&mut self) {
        for (var, value) in self.captured {
            let scalar = Arg::Captured {
                depth: 1,
                value: *value,
            };
            let mut args = vec![scalar, self.heap.clone()];
            args.extend(codes(self.slots.match_dim(&var.expr()).code()));
            let info = StructInfo::Prim {
                dtype: var.dtype(),
                value: Some(var.expr()),
            };
            args.push(self.context("closure", var.name(), &info));
            self.run(ShapeBuiltin::MatchPrim, args);
        }
    }

    /// Checks that a size is no larger than an attribute of the function says.
    fn check_bound(&mut self, var: &Var, bound: i64) -> Result<(), PassError> {
        let name = format!("{} must be at most {bound}", var.name());
        let scalar = self.arg(&Arg::Prim(var.expr()), &name)?;
        let rule = self.slots.match_dim(&within(var, bound));
        let mut args = vec![scalar, self.heap.clone()];
        args.extend(codes(rule.code()));
        let info = StructInfo::Prim {
            dtype: var.dtype(),
            value: Some(Expr::constant(bound, var.dtype())),
        };
        args.push(self.context("tir_var_upper_bound", &name, &info));
        self.run(ShapeBuiltin::MatchPrim, args);
        Ok(())
    }

    fn body(&mut self, body: &mut Body) -> Result<(), PassError> {
        let outside = std::mem::take(&mut self.bindings);
        for block in &mut body.blocks {
            for id in std::mem::take(&mut block.bindings) {
                self.origin = self.function.values[id].origin.clone();
                self.binding(id)?;
                self.bindings.push(id);
            }
            block.bindings = std::mem::take(&mut self.bindings);
        }
        body.result = self.arg(&body.result, "result")?;
        append(body, std::mem::replace(&mut self.bindings, outside));
        Ok(())
    }

    fn binding(&mut self, id: ValueId) -> Result<(), PassError> {
        let value = self.function.values[id].clone();
        let name = value.name.as_str();
        if let Some(scalar) = stands_for(&self.function, id, self.module) {
            self.function.values[id].def = self.made(&scalar, name)?;
            return Ok(());
        }
        let mut def = match value.def {
            Def::Arg(arg) => self.made(&arg, name)?,
            Def::MatchCast(arg, info) => {
                let given = self.scope().arg(&arg);
                let arg = self.arg(&arg, name)?;
                self.check_cast(name, &arg, &given, &info)?;
                Def::MatchCast(arg, info)
            }
            Def::If {
                cond,
                mut then,
                mut otherwise,
            } => {
                let cond = self.arg(&cond, name)?;
                // What one branch finds out of dimensions, the other one does not know.
                let before = self.slots.save();
                self.body(&mut then)?;
                self.slots.restore(before.clone());
                self.body(&mut otherwise)?;
                self.slots.restore(before);
                Def::If {
                    cond,
                    then,
                    otherwise,
                }
            }
            Def::Function(inner) => Def::Function(Box::new(self.inner(&inner)?)),
            Def::Call {
                callee,
                mut args,
                attrs,
                sinfo_args,
            } => {
                if let Some(shape) = whole_shape(&self.function, id) {
                    args[1] = Arg::Shape(shape);
                }
                let args = args.iter().map(|arg| self.arg(arg, name));
                Def::Call {
                    args: args.collect::<Result<_, _>>()?,
                    callee,
                    attrs,
                    sinfo_args,
                }
            }
            Def::TupleItem(arg, index) => Def::TupleItem(self.arg(&arg, name)?, index),
            // Its memory is not allocated: where that is done, its sizes are arguments.
            def @ (Def::CallDps { .. } | Def::Param) => def,
        };
        // Another name for a value says no more than is known of the value.
        if matches!(def, Def::Arg(_) | Def::TupleItem(_, _))
            && let Ok(info) = infer(&def, &self.scope())
            && is_base_of(&value.sinfo, &info) != Proof::Yes
        {
            self.function.values[id].sinfo = info;
        }
        std::mem::swap(&mut self.function.values[id].def, &mut def);
        Ok(())
    }

    /// A function inside of this one, for which its dimensions are scalars of this one.
    fn inner(&mut self, inner: &Function) -> Result<Function, PassError> {
        let vars = self.slots.captured_here(inner);
        let mut captured = vec![];
        for var in vars {
            if let Arg::Value(scalar) = self.arg(&Arg::Prim(var.expr()), var.name())? {
                captured.push((var, scalar));
            }
        }
        let mut around = self.around.clone();
        around.push(self.function.values.clone());
        let (module, globals) = (&mut *self.module, self.globals);
        Lower::new(module, globals, self.contexts, inner, around, &captured).function()
    }

    /// The argument, without arithmetic on dimensions. `at` is the value that takes it, for errors.
    fn arg(&mut self, arg: &Arg, at: &str) -> Result<Arg, PassError> {
        match arg {
            Arg::Tuple(items) => {
                let items = items.iter().map(|item| self.arg(item, at));
                Ok(Arg::Tuple(items.collect::<Result<_, _>>()?))
            }
            Arg::Shape(dims) if !dims.iter().all(is_constant) => {
                let (def, info) = self.make_shape(dims, at)?;
                Ok(self.bind("gv", def, info))
            }
            Arg::Prim(e) if !is_constant(e) => {
                let (def, info) = self.make_prim(e, at)?;
                Ok(self.bind("gv", def, info))
            }
            leaf => Ok(leaf.clone()),
        }
    }

    /// The argument as the definition of a value.
    fn made(&mut self, arg: &Arg, at: &str) -> Result<Def, PassError> {
        match arg {
            Arg::Shape(dims) if !dims.iter().all(is_constant) => {
                self.make_shape(dims, at).map(|(def, _)| def)
            }
            Arg::Prim(e) if !is_constant(e) => self.make_prim(e, at).map(|(def, _)| def),
            other => self.arg(other, at).map(Def::Arg),
        }
    }

    fn make_shape(&self, dims: &[Expr], at: &str) -> Result<(Def, StructInfo), PassError> {
        let info = StructInfo::Shape(ShapeInfo::Ndim(dims.len()));
        let mut args = vec![self.heap.clone(), Arg::Prim(Expr::i64(dims.len() as i64))];
        for dim in dims {
            args.extend(codes(self.make_dim(dim, at)?.code()));
        }
        let def = Self::packed(ShapeBuiltin::MakeShape, args, info.clone());
        Ok((def, info))
    }

    fn make_prim(&self, e: &Expr, at: &str) -> Result<(Def, StructInfo), PassError> {
        let info = StructInfo::Prim {
            dtype: e.dtype(),
            value: None,
        };
        let mut args = vec![self.heap.clone()];
        args.extend(codes(self.make_dim(e, at)?.code()));
        let def = Self::packed(ShapeBuiltin::MakePrim, args, info.clone());
        Ok((def, info))
    }

    fn make_dim(&self, e: &Expr, at: &str) -> Result<MakeDim, PassError> {
        if !e.dtype().is_int() && !e.dtype().is_bool() {
            return Err(PassError::NotOnShapeHeap {
                func: self.function.name.clone(),
                value: at.to_owned(),
                scalar: format!("{e:#}"),
            });
        }
        let made = self.slots.make_dim(e);
        made.ok_or_else(|| self.unbound(e, at))
    }

    /// No check before gives the dimension its value.
    fn unbound(&self, dim: &Expr, at: &str) -> PassError {
        let has_none = |var: &Var| self.slots.make_dim(&var.expr()).is_none();
        let var = dim.free_vars().into_iter().find(has_none);
        PassError::UnboundDim {
            func: self.function.name.clone(),
            value: at.to_owned(),
            var: var.map_or_else(|| format!("{dim:#}"), |var| var.name().to_owned()),
        }
    }
}

/// An extent that is no larger than the bound.
fn within(var: &Var, bound: i64) -> Expr {
    var.expr().min(Expr::constant(bound, var.dtype()))
}

/// A code and its operand as arguments.
fn codes(codes: [i64; 2]) -> [Arg; 2] {
    codes.map(|code| Arg::Prim(Expr::i64(code)))
}

/// Puts bindings at the end of a body.
fn append(body: &mut Body, bindings: Vec<ValueId>) {
    match body.blocks.last_mut() {
        _ if bindings.is_empty() => {}
        Some(block) if block.dataflow.is_none() => block.bindings.extend(bindings),
        _ => body.blocks.push(BindingBlock {
            dataflow: None,
            bindings,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::graph::GraphBuilder;

    /// No text says such a function: the parser refuses it.
    #[test]
    fn dimensions_that_nothing_defines_are_named() {
        let n = Var::new("n", DType::I64);
        let mut b = GraphBuilder::new("main");
        let shape = b.bind("s", Def::Arg(Arg::Shape(vec![n.expr() + 1])));
        let main = b.finish(Arg::Value(shape.expect("a shape")));
        let mut module = Module::default();
        module.funcs.insert("main".to_owned(), Func::Graph(main));
        let error = vm_shape_lower(&module, Contexts::Empty).expect_err("nothing defines it");
        assert_eq!(
            error.to_string(),
            "`main`, `s`: nothing before it defines the symbolic dimension `n`"
        );
    }
}
