//! `remove_purity_checking`: calls need not be marked as pure any more (Relax: `RemovePurityChecking`).

use std::collections::HashSet;
use std::convert::Infallible;

use super::bodies::for_each_block;
use crate::ir::graph::{Become, Callee, Def, Function, Globals, Value, rewrite};
use crate::ir::{AttrValue, Func, Module};
use crate::ops;

/// The module with pure functions marked `relax.force_pure`, in which calls may have side effects that nobody sees from
/// outside, and without the variants of calls that only say that they are pure. A dataflow block has only calls that are known to be
/// pure, so calls there stay as they are (`to_non_dataflow` comes before).
///
/// ```text
///                                            R.func_attr({"relax.force_pure": True})
/// y = R.call_pure_packed("f", x)       →     y = R.call_packed("f", x)
/// z = R.invoke_pure_closure(c, (y,))         z = R.invoke_closure(c, (y,))
/// ```
pub(super) fn remove_purity_checking(module: &Module) -> Module {
    let globals = Globals::of(module);
    let [pure, plain] = ["invoke_pure_closure", "invoke_closure"].map(ops::op);
    let mut out = module.clone();
    for func in out.funcs.values_mut() {
        let Func::Graph(function) = func else {
            continue;
        };
        let mut in_dataflow: HashSet<*const Value> = HashSet::new();
        for_each_block(function, &mut |function, block| {
            if block.dataflow.is_some() {
                let bindings = block.bindings.iter();
                in_dataflow.extend(bindings.map(|&id| std::ptr::from_ref(&function.values[id])));
            }
        });
        let Ok(mut new) = rewrite::<Infallible>(function, &globals, &mut |_, old| {
            if in_dataflow.contains(&std::ptr::from_ref(old.value)) {
                return Ok(Become::Kept);
            }
            let mut def = old.def.clone();
            let Def::Call {
                callee,
                args: _,
                attrs: _,
                sinfo_args: _,
            } = &mut def
            else {
                return Ok(Become::Kept);
            };
            *callee = match callee {
                Callee::PurePacked(name) => Callee::Packed(name.clone()),
                Callee::Op(op) if *op == pure => Callee::Op(plain),
                _ => return Ok(Become::Kept),
            };
            Ok(Become::Def(def))
        });
        force_pure(&mut new);
        *function = new;
    }
    out
}

/// Marks the function and those inside, if they are pure.
fn force_pure(function: &mut Function) {
    if function.pure {
        let mark = ("relax.force_pure".to_owned(), AttrValue::Bool(true));
        function.attrs.extend([mark]);
    }
    let ids: Vec<_> = function.values.iter().map(|(id, _)| id).collect();
    for id in ids {
        if let Def::Function(inner) = &mut function.values[id].def {
            force_pure(inner);
        }
    }
}
