//! `reorder_permute_dims_after_concat`: tensors are joined before their dimensions are permuted (Relax:
//! `ReorderPermuteDimsAfterConcat`).

use super::PassError;
use super::rewrite_call::rewrite_each;
use crate::ir::graph::pattern::{DfPattern, is_op, is_tuple, wildcard};
use crate::ir::graph::{Arg, Become, Callee, Def};
use crate::ir::{AttrValue, Attrs, Module};
use crate::ops;

/// The most tensors that are joined.
const MOST: usize = 11;

/// The module where tensors that are permuted in the same way and joined are joined and permuted.
///
/// ```text
/// c = R.permute_dims(a)                   t = R.concat((a, b), axis=1)
/// d = R.permute_dims(b)              →    e = R.permute_dims(t)
/// e = R.concat((c, d), axis=0)
/// ```
///
/// # Errors
/// [`PassError::Type`] if the types of a call do not fit.
pub(super) fn reorder_permute_dims_after_concat(module: &Module) -> Result<Module, PassError> {
    let inputs: Vec<DfPattern> = (0..MOST).map(|_| wildcard()).collect();
    let permuted = inputs.iter().map(|x| is_op(ops::op("permute_dims"), [x]));
    let permuted: Vec<DfPattern> = permuted.collect();
    let joined = |count: usize| is_op(ops::op("concat"), [&is_tuple(&permuted[..count])]);
    let any = (3..=MOST).fold(joined(2), |any, count| &any | &joined(count));
    rewrite_each(module, &any, &mut |_, rewriter, site| {
        let scope = rewriter.scope();
        let mut parts = vec![];
        let mut orders: Vec<(Attrs, Vec<usize>)> = vec![];
        for (input, permuted) in inputs.iter().zip(&permuted) {
            let Some(Arg::Value(id)) = site.matches.get(permuted) else {
                continue;
            };
            let value = &scope.frames.last().expect("a function is copied")[*id];
            let ndim = value.sinfo.as_tensor().and_then(|info| info.shape.ndim());
            let (Some(attrs), Some(ndim)) = (value.def.attrs(), ndim) else {
                return Ok(Become::Kept);
            };
            let Some(order) = order(attrs, ndim) else {
                return Ok(Become::Kept);
            };
            parts.push(site.matches[input].clone());
            orders.push((attrs.clone(), order));
        }
        let attrs = site.old.def.attrs();
        let axis = attrs.and_then(|attrs| attrs.get("axis")?.as_int());
        let [(attrs, order), others @ ..] = orders.as_slice() else {
            return Ok(Become::Kept);
        };
        let axis = axis.map(|at| if at < 0 { at + order.len() as i64 } else { at });
        let axis = axis.and_then(|at| order.get(usize::try_from(at).ok()?));
        let Some(axis) = axis.filter(|_| others.iter().all(|(_, other)| other == order)) else {
            return Ok(Become::Kept);
        };
        let at = Attrs::from_iter([("axis".to_owned(), AttrValue::Int(*axis as i64))]);
        let builder = rewriter.builder();
        let joined = builder.op("lv", ops::op("concat"), vec![Arg::Tuple(parts)], at)?;
        Ok(Become::Def(Def::Call {
            callee: Callee::Op(ops::op("permute_dims")),
            args: vec![Arg::Value(joined)],
            attrs: attrs.clone(),
            sinfo_args: vec![],
        }))
    })
}

/// The dimensions of the operand in the order of the result of `R.permute_dims`.
fn order(attrs: &Attrs, ndim: usize) -> Option<Vec<usize>> {
    match attrs.get("axes") {
        None => Some((0..ndim).rev().collect()),
        Some(AttrValue::List(axes)) => {
            let axes = axes.iter().map(|axis| {
                let axis = axis.as_int()?;
                let at = if axis < 0 { axis + ndim as i64 } else { axis };
                usize::try_from(at).ok()
            });
            axes.collect()
        }
        Some(_) => None,
    }
}
