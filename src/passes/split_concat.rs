//! `split_concat`: concatenations of more tensors than a kernel can bind become concatenations of concatenations.

use super::PassError;
use super::decompose_ops::decompose;
use crate::ir::graph::{Arg, Callee, Def, GraphBuilder, InferError, Op, OpCall};
use crate::ir::{AttrValue, Attrs, Module, StructInfo};
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
    let bound = target.max_storage_buffers as usize;
    let most = bound.saturating_sub(1).max(2);
    decompose(module, "", &mut |builder, call| match Join::of(call) {
        Some(join) if join.tensors.len() > most => join.split(builder, most).map(Some),
        _ => Ok(None),
    })
}

/// Tensors that are joined along an axis.
struct Join {
    op: Op,
    tensors: Vec<Arg>,
    /// The axis of the result, counted from the start.
    axis: i64,
}

impl Join {
    fn of(call: &OpCall<'_>) -> Option<Self> {
        let op = call.op;
        if op != CONCAT && op != STACK {
            return None;
        }
        let ([Arg::Tuple(tensors)], [StructInfo::Tuple(infos)]) = (call.args, call.operands) else {
            return None;
        };
        let ndim = infos.first()?.as_tensor()?.shape.ndim()?;
        let ndim = i64::try_from(ndim).ok()? + i64::from(op == STACK);
        let axis = call.attrs.get("axis").and_then(AttrValue::as_int);
        let axis = axis.unwrap_or(0);
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
