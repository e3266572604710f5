//! `split_concat`: concatenations of more tensors than a kernel can bind become concatenations of concatenations.

use super::PassError;
use crate::ir::graph::{
    Arg, Become, Callee, Def, Globals, GraphBuilder, InferError, Op, Scope, rewrite,
};
use crate::ir::{AttrValue, Attrs, Func, Module};
use crate::kernel::GpuTarget;
use crate::ops;

const CONCAT: Op = ops::op("concat");
const STACK: Op = ops::op("stack");

/// The module where no `R.concat` and `R.stack` takes more tensors than a kernel of the GPU has storage buffers for, beside its result.
///
/// ```text
/// y = R.concat((a, b, c, d, e), axis=1)    →    p = R.concat((a, b, c), axis=1)
///                                               q = R.concat((d, e), axis=1)
///                                               y = R.concat((p, q), axis=1)
/// ```
///
/// # Errors
/// [`PassError::Type`] if the types of a call do not fit.
pub(super) fn split_concat(module: &Module, target: &GpuTarget) -> Result<Module, PassError> {
    let most = (target.max_storage_buffers as usize)
        .saturating_sub(1)
        .max(2);
    let globals = Globals::of(module);
    let mut out = module.clone();
    for (name, function) in module.functions() {
        let mut changed = false;
        let new = rewrite(function, &globals, &mut |rewriter, old| {
            let Some(join) = Join::of(old.def, &rewriter.scope()) else {
                return Ok(Become::Kept);
            };
            if join.tensors.len() <= most {
                return Ok(Become::Kept);
            }
            changed = true;
            let made = join.split(rewriter.builder(), most);
            made.map(Become::Def).map_err(|error| PassError::Type {
                func: name.to_owned(),
                value: old.value.name.clone(),
                error: Box::new(error),
            })
        })?;
        if changed {
            out.funcs.insert(name.to_owned(), Func::Graph(new));
        }
    }
    Ok(out)
}

/// Tensors that are joined along an axis.
struct Join {
    op: Op,
    tensors: Vec<Arg>,
    /// The axis of the result, counted from the start.
    axis: i64,
}

impl Join {
    fn of(def: &Def, scope: &Scope<'_>) -> Option<Self> {
        let (op, args, attrs) = def.op_call()?;
        if op != CONCAT && op != STACK {
            return None;
        }
        let [Arg::Tuple(tensors)] = args else {
            return None;
        };
        let ndim = scope.arg(tensors.first()?).as_tensor()?.shape.ndim()?;
        let ndim = i64::try_from(ndim).ok()? + i64::from(op == STACK);
        let axis = attrs.get("axis").and_then(AttrValue::as_int).unwrap_or(0);
        Some(Self {
            op,
            tensors: tensors.clone(),
            axis: if axis < 0 { axis + ndim } else { axis },
        })
    }

    fn attrs(&self) -> Attrs {
        Attrs::from([("axis".to_owned(), AttrValue::Int(self.axis))])
    }

    /// Groups of at most so many tensors are joined, and then what they give.
    fn split(&self, builder: &mut GraphBuilder, most: usize) -> Result<Def, InferError> {
        let (mut parts, mut op) = (self.tensors.clone(), self.op);
        while parts.len() > most {
            let mut joined = vec![];
            for group in parts.chunks(most) {
                let operands = vec![Arg::Tuple(group.to_vec())];
                joined.push(Arg::Value(builder.op("lv", op, operands, self.attrs())?));
            }
            // What was stacked has the new axis.
            (parts, op) = (joined, CONCAT);
        }
        Ok(Def::Call {
            callee: Callee::Op(op),
            args: vec![Arg::Tuple(parts)],
            attrs: self.attrs(),
            sinfo_args: vec![],
        })
    }
}
