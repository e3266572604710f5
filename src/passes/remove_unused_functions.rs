//! Drops functions that nothing reaches (TVM: `DeadCodeElimination`, which drops bindings too).

use indexmap::IndexSet;

use crate::ir::graph::{Arg, Def, Function};
use crate::ir::{Expr, ExprKind, External, Func, Module, PrimFunc};

/// The functions that others may call: public graph functions, and public loop programs that no graph function calls.
pub(super) fn entries(module: &Module) -> IndexSet<String> {
    let mut called = IndexSet::new();
    for (_, function) in module.functions() {
        callees(function, &mut called);
    }
    let is_entry = |(name, func): (&String, &Func)| {
        let entry = match func {
            Func::Graph(function) => !function.private,
            Func::Prim(func) => !func.private && !called.contains(name),
        };
        entry.then(|| name.clone())
    };
    module.funcs.iter().filter_map(is_entry).collect()
}

/// The module without functions that none of the entries calls, directly or through others.
pub(super) fn remove_unused_functions(module: &Module, entries: &IndexSet<String>) -> Module {
    let mut reached = entries.clone();
    let mut next = 0;
    while let Some(name) = reached.get_index(next) {
        next += 1;
        match module.funcs.get(name) {
            Some(Func::Graph(function)) => callees(function, &mut reached),
            Some(Func::Prim(func)) => called_programs(func, &mut reached),
            None => {}
        }
    }
    let mut out = module.clone();
    out.funcs.retain(|name, _| reached.contains(name));
    out
}

/// Adds the functions that a graph function names.
pub(super) fn callees(function: &Function, out: &mut IndexSet<String>) {
    let mut named = |arg: &Arg| {
        arg.walk(&mut |leaf| {
            if let Arg::Global(name) | Arg::Extern(name) = leaf {
                out.insert(name.clone());
            }
        });
    };
    function.args().into_iter().for_each(&mut named);
    for (_, value) in function.values.iter() {
        out.extend(value.def.callee().map(str::to_owned));
        if let Def::Function(inner) = &value.def {
            callees(inner, out);
        }
    }
}

/// Adds the functions of the module that a loop program calls.
fn called_programs(func: &PrimFunc, out: &mut IndexSet<String>) {
    let mut called = |e: &Expr| {
        if let ExprKind::External(External::CallFunction, args) = e.kind()
            && let Some(ExprKind::Str(name)) = args.first().map(Expr::kind)
        {
            out.insert(name.to_string());
        }
        e.clone()
    };
    let mut read = func.clone();
    read.map_below(func.root, &mut |e: &Expr| e.rewrite_bottom_up(&mut called));
}
