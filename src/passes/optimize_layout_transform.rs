//! `optimize_layout_transform`: changes of layout that undo each other go (Relax: `OptimizeLayoutTransform`).

use super::PassError;
use super::alter_op_impl::{OPERATOR_NAME, REMOVE_PAD};
use super::rewrite_call::rewrite_each;
use crate::arith::Analyzer;
use crate::ir::graph::Become;
use crate::ir::graph::pattern::{is_call_tir, is_op, wildcard};
use crate::ir::{AttrValue, Attrs, Expr, Module, PrimFunc, Range, Var};
use crate::ops;

/// The module without pairs of `R.layout_transform` of which the second undoes the first. A loop program may stand between them that
/// leaves out padding (its attribute `operator_name` is `remove_pad`), if the second does not say what is in the padding.
///
/// ```text
/// a = R.layout_transform(x, lambda i, j: (j, i))
/// b = R.layout_transform(a, lambda i, j: (j, i))    →    c = R.exp(x)
/// c = R.exp(b)
/// ```
///
/// Unlike Relax, a pair stays if its maps together give another order of the same shape.
///
/// # Errors
/// Those of `canonicalize_bindings`.
pub(super) fn optimize_layout_transform(module: &Module) -> Result<Module, PassError> {
    let x = wildcard();
    let first = is_op(ops::op("layout_transform"), [&x]);
    let cut = is_call_tir("", [&first]);
    let between = &first | &cut;
    let second = is_op(ops::op("layout_transform"), [&between]);
    rewrite_each(module, &second, &mut |_, rewriter, site| {
        let scope = rewriter.scope();
        let cuts = site.matches.def(&cut, &scope).map(|call| {
            let program = call.callee();
            let program = program.and_then(|name| module.prim_func(name));
            program.is_some_and(removes_padding)
        });
        let input = scope.arg(&site.matches[&x]);
        let dims = input.as_tensor().and_then(|info| info.shape.dims());
        let before = site.matches.attrs(&first, &scope);
        let undone = match (before, site.old.def.attrs(), dims, cuts) {
            (_, _, _, Some(false)) => false,
            (_, Some(own), _, Some(true)) if own.contains_key("pad_value") => false,
            (Some(first), Some(own), Some(dims), _) => {
                input == site.old.value.sinfo && undoes(own, first, dims)
            }
            _ => false,
        };
        Ok(match undone {
            true => Become::Arg(site.matches[&x].clone()),
            false => Become::Kept,
        })
    })
}

fn removes_padding(program: &PrimFunc) -> bool {
    let name = program.attrs.get(OPERATOR_NAME);
    name.and_then(AttrValue::as_str) == Some(REMOVE_PAD)
}

/// Whether the second map gives each index of a tensor of this shape what the first one took.
fn undoes(second: &Attrs, first: &Attrs, dims: &[Expr]) -> bool {
    let map = |attrs: &Attrs| match attrs.get("index_map") {
        Some(AttrValue::IndexMap(map)) => Some(map.clone()),
        _ => None,
    };
    let (Some(second), Some(first)) = (map(second), map(first)) else {
        return false;
    };
    let fits = first.params.len() == dims.len()
        && second.params.len() == first.results.len()
        && second.results.len() == dims.len();
    if !fits {
        return false;
    }
    let mut analyzer = Analyzer::new();
    for (param, dim) in first.params.iter().zip(dims) {
        analyzer.bind(param, &Range::to(dim.cast(param.dtype())));
    }
    let given = |var: &Var| {
        let at = second.params.iter().position(|param| param == var)?;
        Some(first.results[at].cast(var.dtype()))
    };
    let mut indices = second.results.iter().zip(&first.params);
    indices.all(|(result, param)| {
        let index = result.substitute(&given);
        analyzer.can_prove_equal(&index, &param.expr().cast(index.dtype()))
    })
}
