//! `expand_matmul_of_sum`: a product with a sum becomes a sum of products (Relax: `ExpandMatmulOfSum`).

use super::PassError;
use super::early::Early;
use super::rewrite_call::rewrite_each;
use crate::ir::graph::pattern::{is_op, wildcard};
use crate::ir::graph::{Arg, Become, Callee, Def};
use crate::ir::{Attrs, Module};
use crate::ops;

/// The module where `x (a + b)` is `x a + x b`, also where the sum is transposed. A sum that can be computed before a run stays: one
/// of values that follow from parameters after the first `num_input` ones alone. So does one that broadcasts.
///
/// ```text
/// w = R.add(a, b)             u = R.matmul(x, a)
/// y = R.matmul(x, w)     →    v = R.matmul(x, b)
///                             y = R.add(u, v)
/// ```
///
/// Sums of floats are rounded in another order then.
///
/// # Errors
/// [`PassError::Type`] if the types of a product do not fit.
pub(super) fn expand_matmul_of_sum(module: &Module) -> Result<Module, PassError> {
    let [x, a, b] = [wildcard(), wildcard(), wildcard()];
    let sum = is_op(ops::op("add"), [&a, &b]);
    let transposed = is_op(ops::op("permute_dims"), [&sum]);
    let either = &sum | &transposed;
    let product = is_op(ops::op("matmul"), [&x, &either]);
    rewrite_each(module, &product, &mut |function, rewriter, site| {
        let matched = |pattern| site.matches[pattern].clone();
        let scope = rewriter.scope();
        let mut early = Early::new(&scope, function);
        let (x, sides) = (matched(&x), [matched(&a), matched(&b)]);
        let whole = scope.arg(&matched(&sum));
        let alike = |arg: &Arg| scope.arg(arg) == whole;
        let dtypes = [&whole, &scope.arg(&x), &site.old.value.sinfo];
        let dtypes = dtypes.map(|info| info.as_tensor().map(|info| info.dtype));
        let known = whole
            .as_tensor()
            .is_some_and(|info| info.shape.dims().is_some());
        let same = dtypes.iter().all(|dtype| *dtype == dtypes[0]);
        if !known || !same || !sides.iter().all(alike) || sides.iter().all(|arg| early.is(arg)) {
            return Ok(Become::Kept);
        }
        let axes = site.matches.attrs(&transposed, &scope).cloned();
        let builder = rewriter.builder();
        let mut products = vec![];
        for mut side in sides {
            if let Some(axes) = &axes {
                let op = ops::op("permute_dims");
                side = Arg::Value(builder.op("lv", op, vec![side], axes.clone())?);
            }
            let operands = vec![x.clone(), side];
            let product = builder.op("lv", ops::op("matmul"), operands, Attrs::new())?;
            products.push(Arg::Value(product));
        }
        Ok(Become::Def(Def::Call {
            callee: Callee::Op(ops::op("add")),
            args: products,
            attrs: Attrs::new(),
            sinfo_args: vec![],
        }))
    })
}
