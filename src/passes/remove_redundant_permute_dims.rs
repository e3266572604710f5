//! `remove_redundant_permute_dims`: of transposes one after the other one is left, or none.

use std::convert::Infallible;

use super::dead_code_elimination::without_unused;
use super::groups::is_whole;
use crate::ir::graph::{Arg, Become, Callee, Def, Globals, Op, Rewriter, rewrite};
use crate::ir::{AttrValue, Attrs, Func, Module};
use crate::ops;

const PERMUTE_DIMS: Op = ops::op("permute_dims");

/// The module where `R.permute_dims` takes what is no transpose itself, and those that leave all dimensions in their places are
/// gone. A transpose that has other users stays for them: the other one reads what it reads.
///
/// ```text
/// a = R.permute_dims(x, axes=[0, 2, 1, 3])         b = R.permute_dims(x, axes=[0, 2, 3, 1])
/// b = R.permute_dims(a, axes=[0, 1, 3, 2])    →    
/// ```
pub(super) fn remove_redundant_permute_dims(module: &Module) -> Module {
    let globals = Globals::of(module);
    let mut out = module.clone();
    for (name, function) in module.functions().filter(|(_, f)| !is_whole(f)) {
        let mut changed = false;
        let Ok(new) = rewrite::<Infallible>(function, &globals, &mut |rewriter, old| {
            let Some((data, mut axes)) = transpose(old.def, rewriter) else {
                return Ok(Become::Kept);
            };
            let mut source = data;
            while let Some((data, inner)) = made_by(rewriter, &source) {
                axes.iter_mut().for_each(|at| *at = inner[*at]);
                source = data;
                changed = true;
            }
            if axes.iter().enumerate().all(|(at, axis)| at == *axis) {
                changed = true;
                return Ok(Become::Arg(source));
            }
            let axes = axes.into_iter().map(|at| AttrValue::Int(at as i64));
            let axes = AttrValue::List(axes.collect());
            Ok(Become::Def(Def::Call {
                callee: Callee::Op(PERMUTE_DIMS),
                args: vec![source],
                attrs: Attrs::from_iter([("axes".to_owned(), axes)]),
                sinfo_args: vec![],
            }))
        });
        if changed {
            let new = without_unused(&new, &globals);
            out.funcs.insert(name.to_owned(), Func::Graph(new));
        }
    }
    out
}

/// What a call of `R.permute_dims` takes, and the dimension there of each of its own.
fn transpose(def: &Def, rewriter: &Rewriter<'_>) -> Option<(Arg, Vec<usize>)> {
    let (op, args, attrs) = def.op_call()?;
    let [data] = args else {
        return None;
    };
    if op != PERMUTE_DIMS {
        return None;
    }
    let ndim = rewriter.scope().arg(data).as_tensor()?.shape.ndim()?;
    let Some(AttrValue::List(values)) = attrs.get("axes") else {
        return Some((data.clone(), (0..ndim).rev().collect()));
    };
    let axis = |value: &AttrValue| {
        let axis = value.as_int()?;
        let axis = if axis < 0 { axis + ndim as i64 } else { axis };
        usize::try_from(axis).ok().filter(|axis| *axis < ndim)
    };
    let axes = values.iter().map(axis).collect::<Option<Vec<_>>>()?;
    (axes.len() == ndim).then(|| (data.clone(), axes))
}

/// The same of the transpose that computes an argument in the new function.
fn made_by(rewriter: &mut Rewriter<'_>, arg: &Arg) -> Option<(Arg, Vec<usize>)> {
    let Arg::Value(id) = arg else {
        return None;
    };
    let def = rewriter.builder().values()[*id].def.clone();
    transpose(&def, rewriter)
}
