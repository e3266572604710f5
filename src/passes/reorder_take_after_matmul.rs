//! `reorder_take_after_matmul`: the product is computed before its columns are taken (Relax: `ReorderTakeAfterMatmul`).

use super::PassError;
use super::rewrite_call::rewrite_each;
use crate::arith::Analyzer;
use crate::ir::graph::dims::{Proof, compare_dims};
use crate::ir::graph::pattern::{is_op, wildcard};
use crate::ir::graph::{Arg, Become, Callee, Def, GraphBuilder, InferError};
use crate::ir::{AttrValue, Attrs, Expr, Module};
use crate::ops;

/// The module where a product with columns that are taken from a matrix takes the columns of the product. A product with one matrix
/// of a table for each batch becomes one product with the whole table.
///
/// ```text
/// w = R.take(table, which, axis=1)         y = R.matmul(x, table)
/// z = R.matmul(x, w)                  →    z = R.take(y, which, axis=1)
/// ```
///
/// # Errors
/// [`PassError::Type`] if the types of a product do not fit.
pub(super) fn reorder_take_after_matmul(module: &Module) -> Result<Module, PassError> {
    let [x, table, which] = [wildcard(), wildcard(), wildcard()];
    let taken = is_op(ops::op("take"), [&table, &which]);
    let product = is_op(ops::op("matmul"), [&x, &taken]);
    rewrite_each(module, &product, &mut |_, rewriter, site| {
        let scope = rewriter.scope();
        let infos = [&x, &table, &which].map(|part| scope.arg(&site.matches[part]));
        let dtypes = [&infos[0], &infos[1], &site.old.value.sinfo];
        let dtypes = dtypes.map(|info| info.as_tensor().map(|info| info.dtype));
        let dims = |at: usize| Some(infos[at].as_tensor()?.shape.dims()?.to_vec());
        let attrs = site
            .matches
            .attrs(&taken, &scope)
            .cloned()
            .unwrap_or_default();
        let axis = attrs.get("axis").and_then(AttrValue::as_int);
        let (Some(xs), Some(tables), Some(count), Some(axis)) = (dims(0), dims(1), dims(2), axis)
        else {
            return Ok(Become::Kept);
        };
        if count.len() != 1 || dtypes.iter().any(|dtype| *dtype != dtypes[0]) {
            return Ok(Become::Kept);
        }
        let take = Take {
            x: site.matches[&x].clone(),
            table: site.matches[&table].clone(),
            which: site.matches[&which].clone(),
            attrs,
        };
        let axis = if axis < 0 {
            axis + tables.len() as i64
        } else {
            axis
        };
        let product = site.old.value.sinfo.as_tensor();
        let ndim = product.and_then(|info| info.shape.ndim());
        let builder = rewriter.builder();
        match (xs.as_slice(), tables.as_slice(), ndim) {
            (_, [.., _, _], Some(ndim)) if axis + 1 == tables.len() as i64 => {
                take.columns(builder, ndim - 1)
            }
            ([batch, rows, _], [matrices, inner, columns], _)
                if axis == 0 && compare_dims(batch, &count[0]) == Proof::Yes =>
            {
                let sizes = [batch, rows, matrices, inner, columns];
                take.matrices(builder, sizes)
            }
            _ => Ok(Become::Kept),
        }
    })
}

/// A product with what is taken from a table.
struct Take {
    x: Arg,
    table: Arg,
    which: Arg,
    /// Of the call of `R.take`.
    attrs: Attrs,
}

impl Take {
    fn at(&self, axis: usize) -> Attrs {
        let mut attrs = self.attrs.clone();
        attrs.insert("axis".to_owned(), AttrValue::Int(axis as i64));
        attrs
    }

    /// Takes columns of the product with the whole table.
    fn columns(self, builder: &mut GraphBuilder, axis: usize) -> Result<Become, InferError> {
        let attrs = self.at(axis);
        let operands = vec![self.x, self.table];
        let product = builder.op("lv", ops::op("matmul"), operands, Attrs::new())?;
        Ok(Become::Def(Def::Call {
            callee: Callee::Op(ops::op("take")),
            args: vec![Arg::Value(product), self.which],
            attrs,
            sinfo_args: vec![],
        }))
    }

    /// Multiplies with all matrices of the table at once, next to each other, and takes for each batch the product with its own.
    fn matrices(
        self,
        builder: &mut GraphBuilder,
        [batch, rows, matrices, inner, columns]: [&Expr; 5],
    ) -> Result<Become, InferError> {
        let attrs = self.at(2);
        let mut call = |name: &str, args: Vec<Arg>, attrs: Attrs| {
            let made = builder.op("lv", ops::op(name), args, attrs);
            made.map(Arg::Value)
        };
        let axes = [1, 0, 2].map(AttrValue::Int).to_vec();
        let axes = Attrs::from_iter([("axes".to_owned(), AttrValue::List(axes))]);
        let table = call("permute_dims", vec![self.table], axes)?;
        let wide = Analyzer::new().simplify(&(matrices.clone() * columns.clone()));
        let shape = Arg::Shape(vec![inner.clone(), wide]);
        let table = call("reshape", vec![table, shape], Attrs::new())?;
        let product = call("matmul", vec![self.x, table], Attrs::new())?;
        let shape = [batch, rows, matrices, columns].map(Clone::clone).to_vec();
        let product = call("reshape", vec![product, Arg::Shape(shape)], Attrs::new())?;
        let taken = call("take", vec![product, self.which], attrs)?;
        let subscripts = AttrValue::Str("ijik->ijk".to_owned());
        Ok(Become::Def(Def::Call {
            callee: Callee::Op(ops::op("einsum")),
            args: vec![Arg::Tuple(vec![taken])],
            attrs: Attrs::from_iter([("subscripts".to_owned(), subscripts)]),
            sinfo_args: vec![],
        }))
    }
}
