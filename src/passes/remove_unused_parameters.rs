//! `remove_unused_parameters`: private functions take only what they use (Relax: `RemoveUnusedParameters`).

use std::convert::Infallible;

use indexmap::{IndexMap, IndexSet};

use super::dead_code_elimination::without_unused;
use super::only_called::only_called;
use crate::ir::graph::dims::{Proof, bind_vars, is_base_of};
use crate::ir::graph::{Arg, Become, Callee, Def, Function, Globals, Rewriter, ValueId, rewrite};
use crate::ir::{Func, Module, ShapeInfo, StructInfo, Var};
use crate::support::Id;

/// The module in which private functions have no parameters that they do not use. Symbolic variables that only such a parameter
/// defines get a parameter of their own each. A parameter stays if it is not known of each argument that it is what the
/// parameter declares: the call checks that. Functions that somebody uses as a value stay as they are.
///
/// ```text
/// def f(x: R.Tensor(("n",)), w):                    def f(param_n: R.Shape(["n"])):
///     return R.zeros(R.shape([n]))           →          return R.zeros(R.shape([n]))
/// y = f(a, b)                                       y = f(R.shape([4]))
/// ```
pub(super) fn remove_unused_parameters(module: &Module) -> Module {
    let mut removed: IndexMap<String, Removed> = IndexMap::new();
    for name in only_called(module) {
        let function = module.function(&name).expect("it is one of the module");
        removed.insert(name, Removed::of(function));
    }
    let globals = Globals::of(module);
    for (_, function) in module.functions() {
        keep_what_is_checked(function, &globals, &mut removed);
    }
    removed.retain(|_, removed| !removed.unused.is_empty());
    if removed.is_empty() {
        return module.clone();
    }
    let mut out = module.clone();
    for (name, removed) in &removed {
        if let Some(Func::Graph(function)) = out.funcs.get_mut(name) {
            *function = removed.without(function, &globals);
        }
    }
    let globals = Globals::of(&out);
    for func in out.funcs.values_mut() {
        if let Func::Graph(function) = func {
            let mut changed = false;
            let Ok(new) = rewrite::<Infallible>(function, &globals, &mut |rewriter, old| {
                let new = passed(&removed, rewriter, old.def);
                changed |= new.is_some();
                Ok(new.map_or(Become::Kept, Become::Def))
            });
            if changed {
                *function = without_unused(&new, &globals);
            }
        }
    }
    out
}

/// What goes from a signature.
struct Removed {
    /// Declared of the parameters.
    params: Vec<StructInfo>,
    /// Positions of the parameters that go.
    unused: IndexSet<usize>,
    /// Symbolic variables that the body uses, the last first.
    vars: Vec<Var>,
}

impl Removed {
    fn of(function: &Function) -> Self {
        let mut used: IndexSet<ValueId> = function.body.result.values().into_iter().collect();
        for (_, value) in function.values.iter() {
            used.extend(value.def.used_values());
        }
        let params = function.params.iter();
        let unused = function.params.iter().enumerate();
        let unused = unused.filter(|(_, id)| !used.contains(*id));
        let mut vars = body_vars(function);
        vars.reverse();
        Self {
            unused: unused.map(|(at, _)| at).collect(),
            params: params
                .map(|id| function.values[*id].sinfo.clone())
                .collect(),
            vars,
        }
    }

    /// The variables, of the body and of what parameters declare, that no parameter defines any more.
    fn open_vars(&self) -> IndexSet<Var> {
        let params = self.params.iter().enumerate();
        let left = params.filter(|(at, _)| !self.unused.contains(at));
        let left: Vec<&StructInfo> = left.map(|(_, info)| info).collect();
        let defined: Vec<Var> = left.iter().flat_map(|info| info.defined_vars()).collect();
        let declared = left.iter().flat_map(|info| info.free_vars());
        let vars = self.vars.iter().cloned().chain(declared);
        vars.filter(|var| !defined.contains(var)).collect()
    }

    /// What is known of the arguments, and the values that they give symbolic variables.
    fn bound(&self, infos: &[StructInfo]) -> IndexMap<Var, crate::ir::Expr> {
        let mut bound = IndexMap::new();
        for (param, info) in self.params.iter().zip(infos) {
            bind_vars(param, info, &mut bound);
        }
        bound
    }

    fn without(&self, function: &Function, globals: &Globals) -> Function {
        let gone: Vec<ValueId> = self.unused.iter().map(|at| function.params[*at]).collect();
        let last = function.params.last().copied();
        let Ok(new) = rewrite::<Infallible>(function, globals, &mut |rewriter, old| {
            if old.depth > 0 || !matches!(old.def, Def::Param) {
                return Ok(Become::Kept);
            }
            let (builder, value) = (rewriter.builder(), old.value);
            let new = if gone.contains(&old.id) {
                Become::Nothing
            } else {
                let param = builder.param(value.name.as_str(), value.sinfo.clone());
                Become::Arg(Arg::Value(param))
            };
            if Some(old.id) == last {
                for var in self.open_vars() {
                    let shape = StructInfo::Shape(ShapeInfo::Known(vec![var.expr()]));
                    builder.param(format!("param_{}", var.name()), shape);
                }
            }
            Ok(new)
        });
        new
    }
}

/// The symbolic variables that bindings and the result use and do not define.
fn body_vars(function: &Function) -> Vec<Var> {
    let mut body = function.clone();
    for index in 0..body.values.bound() {
        if let Some(value) = body.values.get_mut(ValueId::from_index(index))
            && matches!(value.def, Def::Param)
        {
            value.sinfo = StructInfo::Object;
        }
    }
    let defined = body.defined_vars();
    let mut vars = body.symbolic_vars();
    vars.retain(|var| !defined.contains(var));
    vars
}

/// Keeps parameters of which a call checks something at run time.
fn keep_what_is_checked(
    function: &Function,
    globals: &Globals,
    removed: &mut IndexMap<String, Removed>,
) {
    let Ok(_) = rewrite::<Infallible>(function, globals, &mut |rewriter, old| {
        if let Def::Call {
            callee: Callee::Global(name),
            args,
            attrs: _,
            sinfo_args: _,
        } = old.def
            && let Some(removed) = removed.get_mut(name)
        {
            let scope = rewriter.scope();
            let infos: Vec<_> = args.iter().map(|arg| scope.arg(arg)).collect();
            let bound = removed.bound(&infos);
            let params = removed.params.clone();
            removed.unused.retain(|at| {
                let declared = params[*at].substitute(&|var| bound.get(var).cloned());
                is_base_of(&declared, &infos[*at]) == Proof::Yes
            });
        }
        Ok(Become::Kept)
    });
}

/// The call with the arguments that are left.
fn passed(removed: &IndexMap<String, Removed>, rewriter: &Rewriter<'_>, def: &Def) -> Option<Def> {
    let Def::Call {
        callee: Callee::Global(name),
        args,
        attrs,
        sinfo_args,
    } = def
    else {
        return None;
    };
    let removed = removed.get(name)?;
    let scope = rewriter.scope();
    let infos: Vec<_> = args.iter().map(|arg| scope.arg(arg)).collect();
    let bound = removed.bound(&infos);
    let left = args.iter().enumerate();
    let left = left.filter(|(at, _)| !removed.unused.contains(at));
    let vars = removed.open_vars();
    let shapes = vars.iter().map(|var| Arg::Shape(vec![bound[var].clone()]));
    Some(Def::Call {
        callee: Callee::Global(name.clone()),
        args: left.map(|(_, arg)| arg.clone()).chain(shapes).collect(),
        attrs: attrs.clone(),
        sinfo_args: sinfo_args.clone(),
    })
}
