//! `expand_tuple_arguments`: private functions take the elements of tuples (Relax: `ExpandTupleArguments`).

use std::convert::Infallible;

use indexmap::IndexSet;

use super::PassError;
use super::canonicalize_bindings::canonicalize_bindings;
use super::dead_code_elimination::dead_code_elimination;
use super::only_called::only_called;
use crate::ir::graph::{Arg, Become, Callee, Def, Function, Globals, GraphBuilder, rewrite};
use crate::ir::{Func, Module, StructInfo};

/// The module in which private functions take no tuples, but their elements, also those of tuples inside. Functions that
/// somebody uses as a value stay as they are. Other names for values, and what nothing uses, are gone from the whole module.
///
/// ```text
/// def f(t): return R.add(t[0], t[1])          def f(t_0, t_1): return R.add(t_0, t_1)
/// y = f((a, b))                          →    y = f(a, b)
/// ```
///
/// # Errors
/// Those of `canonicalize_bindings`.
pub(super) fn expand_tuple_arguments(
    module: &Module,
    entries: &IndexSet<String>,
) -> Result<Module, PassError> {
    let mut expanded = only_called(module);
    expanded.retain(|name| {
        module.function(name).is_some_and(|function| {
            let mut params = function.params.iter();
            params.any(|id| matches!(function.values[*id].sinfo, StructInfo::Tuple(_)))
        })
    });
    let mut out = module.clone();
    let globals = Globals::of(module);
    for name in &expanded {
        if let Some(Func::Graph(function)) = out.funcs.get_mut(name) {
            *function = with_elements(function, &globals);
        }
    }
    let globals = Globals::of(&out);
    for func in out.funcs.values_mut() {
        if let Func::Graph(function) = func {
            *function = passing_elements(function, &globals, &expanded);
        }
    }
    Ok(dead_code_elimination(
        &canonicalize_bindings(&out)?,
        entries,
    ))
}

/// The function that takes elements of tuples, of which it makes the tuples first.
fn with_elements(function: &Function, globals: &Globals) -> Function {
    let Ok(new) = rewrite::<Infallible>(function, globals, &mut |rewriter, old| {
        Ok(match (old.def, &old.value.sinfo) {
            (Def::Param, StructInfo::Tuple(_)) if old.depth == 0 => {
                let (name, sinfo) = (&old.value.name, &old.value.sinfo);
                Become::Arg(param(rewriter.builder(), name, sinfo))
            }
            _ => Become::Kept,
        })
    });
    new
}

fn param(builder: &mut GraphBuilder, name: &str, sinfo: &StructInfo) -> Arg {
    let StructInfo::Tuple(items) = sinfo else {
        return Arg::Value(builder.param(name, sinfo.clone()));
    };
    let items = items.iter().enumerate();
    let items = items.map(|(at, item)| param(builder, &format!("{name}_{at}"), item));
    let tuple = Def::Arg(Arg::Tuple(items.collect()));
    Arg::Value(builder.bind_as(name, tuple, sinfo.clone()))
}

/// The function that passes elements of tuples to these functions.
fn passing_elements(
    function: &Function,
    globals: &Globals,
    expanded: &IndexSet<String>,
) -> Function {
    let Ok(new) = rewrite::<Infallible>(function, globals, &mut |rewriter, old| {
        let Def::Call {
            callee: Callee::Global(name),
            args,
            attrs,
            sinfo_args,
        } = old.def
        else {
            return Ok(Become::Kept);
        };
        if !expanded.contains(name) {
            return Ok(Become::Kept);
        }
        let mut elements = vec![];
        for arg in args {
            let sinfo = rewriter.scope().arg(arg);
            pass(rewriter.builder(), arg, &sinfo, &mut elements);
        }
        Ok(Become::Def(Def::Call {
            callee: Callee::Global(name.clone()),
            args: elements,
            attrs: attrs.clone(),
            sinfo_args: sinfo_args.clone(),
        }))
    });
    new
}

fn pass(builder: &mut GraphBuilder, arg: &Arg, sinfo: &StructInfo, out: &mut Vec<Arg>) {
    let StructInfo::Tuple(infos) = sinfo else {
        out.push(arg.clone());
        return;
    };
    for (at, info) in infos.iter().enumerate() {
        let item = match arg {
            Arg::Tuple(items) => items[at].clone(),
            tuple => {
                let item = Def::TupleItem(tuple.clone(), at);
                Arg::Value(builder.bind_as("gv", item, info.clone()))
            }
        };
        pass(builder, &item, info, out);
    }
}
