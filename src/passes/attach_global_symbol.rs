//! `attach_global_symbol`: others may call every function (TVM: `AttachGlobalSymbol`).

use std::convert::Infallible;

use crate::ir::graph::{Arg, Become, Callee, Def, DpsCallee, Globals, rewrite};
use crate::ir::{AttrValue, Func, Module};

/// The module with all functions public. Where the module has the attribute `system_lib_prefix`, names of loop programs begin
/// with it.
///
/// ```text
/// @R.function(private=True)          @R.function
/// def f(x): …                  →     def f(x): …
/// ```
pub(super) fn attach_global_symbol(module: &Module) -> Module {
    let prefix = module.attrs.get("system_lib_prefix");
    let prefix = prefix.and_then(AttrValue::as_str).unwrap_or_default();
    let renamed = |name: &str| match module.prim_func(name) {
        Some(_) => format!("{prefix}{name}"),
        None => name.to_owned(),
    };
    let globals = Globals::of(module);
    let mut out = Module {
        funcs: indexmap::IndexMap::new(),
        ..module.clone()
    };
    for (name, func) in &module.funcs {
        let name = renamed(name);
        let func = match func {
            Func::Prim(func) => {
                let mut func = func.clone();
                func.name.clone_from(&name);
                func.private = false;
                func.attrs.shift_remove("global_symbol");
                Func::Prim(func)
            }
            Func::Graph(function) => {
                let Ok(mut new) = rewrite::<Infallible>(function, &globals, &mut |_, old| {
                    Ok(match old.def {
                        Def::Param | Def::If { .. } | Def::Function(_) => Become::Kept,
                        def => Become::Def(calls_renamed(def, &renamed)),
                    })
                });
                new.private = false;
                Func::Graph(new)
            }
        };
        out.funcs.insert(name, func);
    }
    out
}

fn calls_renamed(def: &Def, renamed: &dyn Fn(&str) -> String) -> Def {
    let mut leaf = |leaf: &Arg| match leaf {
        Arg::Global(name) => Arg::Global(renamed(name)),
        other => other.clone(),
    };
    let mut def = def.map(&mut leaf, &mut Clone::clone);
    match &mut def {
        Def::Call {
            callee: Callee::Global(name),
            args: _,
            attrs: _,
            sinfo_args: _,
        }
        | Def::CallDps {
            callee: DpsCallee::Prim(name),
            args: _,
            tir_vars: _,
            inplace: _,
            out: _,
        } => *name = renamed(name),
        _ => {}
    }
    def
}
