//! `canonicalize_bindings`: one name for each value (Relax: `CanonicalizeBindings`).

mod extents;
mod plan;

use std::convert::Infallible;

use super::PassError;
use super::bodies::{for_each_body, for_each_own_body};
use crate::ir::graph::dims::{Proof, is_base_of};
use crate::ir::graph::{
    Arg, Become, Def, Function, Globals, Old, Rewriter, infer_return, open_vars_erased, rewrite,
};
use crate::ir::{Func, Module, StructInfo};
use plan::{Plan, key};

/// The module with one name for each value: users of another name, of an element of a tuple that is written out, of a check
/// that cannot fail, or of a constant use the value itself. Symbolic variables that a check gives a known value are
/// replaced by it. Dataflow blocks output only what is used outside.
///
/// ```text
/// with R.dataflow():                                       # x is R.Tensor((n,))
///     y = R.match_cast(x, R.Tensor((m,)))                  with R.dataflow():
///     t = (y, w)                                               t = (x, w)
///     z = t[0]                                       →         v = R.exp(x)
///     u = R.exp(z)                                             R.output(v)
///     v = u                                                return v
///     R.output(y, v)
/// return v
/// ```
///
/// Unlike Relax, a check stays if it compares extents that have been defined before it.
///
/// # Errors
/// [`PassError::Contradiction`] if two checks give a symbolic variable different values.
pub(super) fn canonicalize_bindings(module: &Module) -> Result<Module, PassError> {
    let globals = Globals::of(module);
    let mut out = module.clone();
    for func in out.funcs.values_mut() {
        if let Func::Graph(function) = func {
            *function = canonical(function, &globals)?;
        }
    }
    Ok(out)
}

/// The function with one name for each value.
pub(super) fn canonical(function: &Function, globals: &Globals) -> Result<Function, PassError> {
    let mut function = extents::known_extents(function, globals)?;
    let plan = Plan::of(&function, globals);
    trim_outputs(&mut function, &plan);
    let Ok(mut new) = rewrite::<Infallible>(&function, globals, &mut |rewriter, old| {
        Ok(replace(&plan, rewriter, old))
    });
    for_each_body(&mut new, &mut |body| {
        body.blocks.retain(|block| !block.bindings.is_empty());
    });
    refine_ret(&mut new, globals);
    Ok(new)
}

/// Leaves outputs of dataflow blocks that are used outside. A value that takes the place of an output gets its name.
fn trim_outputs(function: &mut Function, plan: &Plan) {
    let values = function.values.iter();
    let used: Vec<_> = values
        .filter(|(_, value)| plan.used_outside.contains(&key(value)))
        .map(|(id, _)| id)
        .collect();
    for_each_own_body(function, &mut |body| {
        for block in &mut body.blocks {
            if let Some(outputs) = &mut block.dataflow {
                outputs.retain(|id| used.contains(id));
            }
        }
    });
    let ids: Vec<_> = function.values.iter().map(|(id, _)| id).collect();
    for id in ids {
        let value = &mut function.values[id];
        if let Some(name) = plan.names.get(&key(value)) {
            value.name.clone_from(name);
        }
        if let Def::Function(inner) = &mut value.def {
            trim_outputs(inner, plan);
        }
    }
}

fn replace(plan: &Plan, rewriter: &mut Rewriter<'_>, old: Old<'_>) -> Become {
    let key = key(old.value);
    if let Some(arg) = plan.aliases.get(&key) {
        return Become::Arg(rewriter.arg(arg));
    }
    if let Some(constant) = plan.constants.get(&key) {
        return Become::Unused(constant.clone());
    }
    let Some(before) = plan.inferred.get(&key) else {
        return Become::Kept;
    };
    // More may be known of the operands now.
    let builder = rewriter.builder();
    match builder.infer(old.def) {
        Ok(after) if after != *before && is_finer(&old.value.sinfo, &after) => {
            let new = builder.bind_as(old.value.name.as_str(), old.def.clone(), after);
            Become::Arg(Arg::Value(new))
        }
        _ => Become::Kept,
    }
}

fn is_finer(known: &StructInfo, info: &StructInfo) -> bool {
    known != info && is_base_of(known, info) == Proof::Yes
}

/// Declares of the result what follows from the body, if that is more.
pub(super) fn refine_ret(function: &mut Function, globals: &Globals) {
    let returned = open_vars_erased(function, &infer_return(function, globals));
    if is_finer(&function.ret, &returned) {
        function.ret = returned;
    }
}
