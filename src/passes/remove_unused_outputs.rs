//! `remove_unused_outputs`: private functions give only what somebody uses (Relax: `RemoveUnusedOutputs`).

use std::collections::HashMap;
use std::convert::Infallible;

use indexmap::{IndexMap, IndexSet};

use super::PassError;
use super::canonicalize_bindings::canonicalize_bindings;
use super::dead_code_elimination::dead_code_elimination;
use super::only_called::only_called;
use crate::ir::graph::{
    Arg, Become, BindingBlock, Callee, Def, Function, Globals, Rewriter, Value, ValueId, rewrite,
};
use crate::ir::{Expr, Func, Module, Origin, StructInfo};
use crate::tensor::DType;

/// The module in which private functions that return tuples return only the elements that some call uses; a single one is
/// returned as it is. Functions that somebody uses as a value stay as they are. Other names for values, and what nothing uses, are
/// gone from the whole module.
///
/// ```text
/// def f(x): return (R.exp(x), R.tanh(x))          def f(x): return R.exp(x)
/// t = f(a)                                   →    y = f(a)
/// y = t[0]
/// ```
///
/// # Errors
/// Those of `canonicalize_bindings`.
pub(super) fn remove_unused_outputs(
    module: &Module,
    entries: &IndexSet<String>,
) -> Result<Module, PassError> {
    let mut used: Used = IndexMap::new();
    for name in only_called(module) {
        let function = module.function(&name).expect("it is one of the module");
        if let StructInfo::Tuple(items) = &function.ret {
            used.insert(name, vec![false; items.len()]);
        }
    }
    for (_, function) in module.functions() {
        note_uses(function, &mut vec![], &mut used);
    }
    used.retain(|_, used| used.contains(&false));
    let mut out = module.clone();
    for (name, used) in &used {
        if let Some(Func::Graph(function)) = out.funcs.get_mut(name) {
            return_used(function, used);
        }
    }
    let globals = Globals::of(&out);
    for func in out.funcs.values_mut() {
        if let Func::Graph(function) = func {
            let Ok(new) = rewrite::<Infallible>(function, &globals, &mut |rewriter, old| {
                Ok(called(&used, rewriter, old.def).unwrap_or(Become::Kept))
            });
            *function = new;
        }
    }
    Ok(dead_code_elimination(
        &canonicalize_bindings(&out)?,
        entries,
    ))
}

/// Which elements of the results of functions are used.
type Used = IndexMap<String, Vec<bool>>;

/// Results of calls in a function, and other names for them.
type Calls = HashMap<ValueId, String>;

fn note_uses(function: &Function, around: &mut Vec<Calls>, used: &mut Used) {
    around.push(Calls::new());
    function.for_each_binding(&mut |id, value| {
        let calls = around.last_mut().expect("pushed above");
        let name = match &value.def {
            Def::Call {
                callee: Callee::Global(name),
                args: _,
                attrs: _,
                sinfo_args: _,
            } => Some(name.clone()),
            Def::Arg(Arg::Value(of)) => calls.get(of).cloned(),
            _ => None,
        };
        if let Some(name) = name {
            calls.insert(id, name);
        }
        match &value.def {
            Def::TupleItem(Arg::Value(of), index) if calls.contains_key(of) => {
                if let Some(used) = used.get_mut(&calls[of]) {
                    used[*index] = true;
                }
            }
            Def::Function(inner) => note_uses(inner, around, used),
            def => {
                let bodies = def.bodies().into_iter().map(|body| &body.result);
                let args = def.args().into_iter().chain(bodies);
                args.for_each(|arg| note_whole(arg, around, used));
            }
        }
    });
    note_whole(&function.body.result, around, used);
    around.pop();
}

fn note_whole(arg: &Arg, around: &[Calls], used: &mut Used) {
    arg.walk(&mut |leaf| {
        let (depth, id) = match leaf {
            Arg::Value(id) => (0, id),
            Arg::Captured { depth, value } => (*depth, value),
            _ => return,
        };
        let calls = around.len().checked_sub(depth + 1).map(|at| &around[at]);
        if let Some(name) = calls.and_then(|calls| calls.get(id))
            && let Some(used) = used.get_mut(name)
        {
            used.fill(true);
        }
    });
}

/// Makes the function return what is used.
fn return_used(function: &mut Function, used: &[bool]) {
    let StructInfo::Tuple(infos) = function.ret.clone() else {
        return;
    };
    let mut bindings = vec![];
    let (mut items, mut rets) = (vec![], vec![]);
    for (at, _) in used.iter().enumerate().filter(|(_, used)| **used) {
        items.push(match &function.body.result {
            Arg::Tuple(items) => items[at].clone(),
            whole => {
                let item = function.values.push(Value {
                    name: "gv".to_owned(),
                    sinfo: infos[at].clone(),
                    def: Def::TupleItem(whole.clone(), at),
                    origin: Origin::Unknown,
                });
                bindings.push(item);
                Arg::Value(item)
            }
        });
        rets.push(infos[at].clone());
    }
    function.body.blocks.push(BindingBlock {
        dataflow: None,
        bindings,
    });
    (function.body.result, function.ret) = if items.len() == 1 {
        (items.remove(0), rets.remove(0))
    } else {
        (Arg::Tuple(items), StructInfo::Tuple(rets))
    };
}

/// The tuple that a call gave before, of what it gives now. Nobody uses the other elements.
fn called(used: &Used, rewriter: &mut Rewriter<'_>, def: &Def) -> Option<Become> {
    let Def::Call {
        callee: Callee::Global(name),
        args: _,
        attrs: _,
        sinfo_args: _,
    } = def
    else {
        return None;
    };
    let used = used.get(name)?;
    let builder = rewriter.builder();
    let sinfo = builder.infer(def).expect("it takes what it took before");
    let call = Arg::Value(builder.bind_as("gv", def.clone(), sinfo));
    let several = used.iter().filter(|used| **used).count() > 1;
    let mut next = 0;
    let mut items = vec![];
    for used in used {
        items.push(if !used {
            Arg::Prim(Expr::float(f64::NAN, DType::F64))
        } else if several {
            let item = builder.bind("gv", Def::TupleItem(call.clone(), next));
            next += 1;
            Arg::Value(item.expect("the call gives as many"))
        } else {
            call.clone()
        });
    }
    let tuple = builder.bind("gv", Def::Arg(Arg::Tuple(items)));
    tuple.ok().map(|tuple| Become::Arg(Arg::Value(tuple)))
}
