//! `remove_redundant_reshape`: of reshapes one after the other the last one is left, or none (Relax: `RemoveRedundantReshape`).

use std::convert::Infallible;

use super::dead_code_elimination::without_unused;
use crate::ir::graph::{Arg, Become, Callee, Def, Globals, Op, Rewriter, rewrite};
use crate::ir::{Attrs, Func, Module, StructInfo};
use crate::ops;

const RESHAPE: Op = ops::op("reshape");

/// The module where `R.reshape` takes what is no reshape itself, and those to the shape that the operand has are gone. Functions
/// that are computed as a whole stay.
///
/// ```text
/// a = R.reshape(x, (24,))         c = R.reshape(x, (2, 12))
/// b = R.reshape(a, (4, 6))    →
/// c = R.reshape(b, (2, 12))
/// ```
pub(super) fn remove_redundant_reshape(module: &Module) -> Module {
    let globals = Globals::of(module);
    let mut out = module.clone();
    for (name, function) in module.functions() {
        let primitive = function.attrs.get(super::groups::PRIMITIVE);
        if primitive.is_some_and(|value| value.as_int() != Some(0)) {
            continue;
        }
        let mut changed = false;
        let Ok(new) = rewrite::<Infallible>(function, &globals, &mut |rewriter, old| {
            let Some((data, shape)) = reshape(old.def) else {
                return Ok(Become::Kept);
            };
            let source = source(rewriter, data);
            let from = source.as_ref().unwrap_or(data).clone();
            let becomes = if same_shape(&rewriter.scope().arg(&from), &old.value.sinfo) {
                Become::Arg(from)
            } else if source.is_some() {
                Become::Def(Def::Call {
                    callee: Callee::Op(RESHAPE),
                    args: vec![from, shape.clone()],
                    attrs: Attrs::new(),
                    sinfo_args: vec![],
                })
            } else {
                return Ok(Become::Kept);
            };
            changed = true;
            Ok(becomes)
        });
        if changed {
            let new = without_unused(&new, &globals);
            out.funcs.insert(name.to_owned(), Func::Graph(new));
        }
    }
    out
}

/// Operand and shape of a call of `R.reshape`.
fn reshape(def: &Def) -> Option<(&Arg, &Arg)> {
    match def {
        Def::Call {
            callee: Callee::Op(op),
            args,
            attrs: _,
            sinfo_args: _,
        } if *op == RESHAPE => match args.as_slice() {
            [data, shape] => Some((data, shape)),
            _ => None,
        },
        _ => None,
    }
}

/// The operand of the reshape that gives this argument, if one does. In the new function that operand is no reshape itself.
fn source(rewriter: &mut Rewriter<'_>, arg: &Arg) -> Option<Arg> {
    let Arg::Value(id) = arg else {
        return None;
    };
    let def = &rewriter.builder().values()[*id].def;
    reshape(def).map(|(data, _)| data.clone())
}

fn same_shape(a: &StructInfo, b: &StructInfo) -> bool {
    match (a.as_tensor(), b.as_tensor()) {
        (Some(a), Some(b)) => a.shape.dims().is_some() && a.shape.dims() == b.shape.dims(),
        _ => false,
    }
}
