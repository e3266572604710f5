//! `normalize`: the form that Relax gives every function (Relax: `Normalize`).

use std::convert::Infallible;

use super::bodies::for_each_body;
use super::canonicalize_bindings::refine_ret;
use crate::ir::graph::{Arg, Become, BindingBlock, Body, Globals, rewrite};
use crate::ir::{Func, Module, StructInfo};

/// The module in normal form. Graph functions are in A-normal form by construction; what is left to do is to join blocks of
/// one kind that stand next to each other, to drop empty ones, to write `R.tuple()` for values that are nothing else, and to declare
/// of the result what follows from the body.
///
/// ```text
/// with R.dataflow():
///     a = R.exp(x)                              with R.dataflow():
///     R.output(a)                                   a = R.exp(x)
/// with R.dataflow():                      →         b = R.negative(a)
///     b = R.negative(a)                             R.output(a, b)
///     R.output(b)                               v = R.call_packed("print", b)
/// v = R.call_packed("print", b)                 return R.tuple()
/// return v
/// ```
pub(super) fn normalize(module: &Module) -> Module {
    let globals = Globals::of(module);
    let void = StructInfo::Tuple(vec![]);
    let mut out = module.clone();
    for func in out.funcs.values_mut() {
        if let Func::Graph(function) = func {
            let Ok(mut new) = rewrite::<Infallible>(function, &globals, &mut |_, old| {
                let is_void = old.value.sinfo == void;
                Ok(if is_void {
                    Become::Unused(Arg::Tuple(vec![]))
                } else {
                    Become::Kept
                })
            });
            for_each_body(&mut new, &mut join_alike);
            refine_ret(&mut new, &globals);
            *function = new;
        }
    }
    out
}

/// Joins blocks of one kind that stand next to each other, and drops empty ones.
pub(super) fn join_alike(body: &mut Body) {
    let mut blocks: Vec<BindingBlock> = vec![];
    for block in body.blocks.drain(..).filter(|b| !b.bindings.is_empty()) {
        let last = blocks.last_mut();
        match last.filter(|last| last.dataflow.is_some() == block.dataflow.is_some()) {
            Some(last) => {
                last.bindings.extend(block.bindings);
                if let (Some(outputs), Some(more)) = (&mut last.dataflow, block.dataflow) {
                    outputs.extend(more);
                }
            }
            None => blocks.push(block),
        }
    }
    body.blocks = blocks;
}
