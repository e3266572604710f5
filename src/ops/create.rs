//! Operators that make tensors.

use super::def::{Computed, OpDef, Pattern, attr, operand, tensor};
use super::{ComputeCall, rules};
use crate::ir::graph::{AttrDefault, AttrKind, AttrSpec, OpCall, Operand, OperandKind};
use crate::ir::{Expr, StructInfo, TensorInfo};
use crate::te;
use crate::topi;

const DTYPE: AttrSpec = attr("dtype", AttrKind::DType, AttrDefault::None);
const SHAPE: Operand = operand("shape", OperandKind::Shape);

pub(super) const OPS: &[OpDef] = &[
    OpDef::new("full", "every element is fill_value")
        .operands(&[SHAPE, tensor("fill_value")])
        .attrs(&[DTYPE])
        .infer(fill)
        .compute(full)
        .pattern(Pattern::Injective),
    OpDef::new("ones", "every element is 1")
        .operands(&[SHAPE])
        .attrs(&[DTYPE])
        .infer(fill)
        .compute(|c| constant(c, 1))
        .pattern(Pattern::Injective),
    OpDef::new("zeros", "every element is 0")
        .operands(&[SHAPE])
        .attrs(&[DTYPE])
        .infer(fill)
        .compute(|c| constant(c, 0))
        .pattern(Pattern::Injective),
];

/// The shape of the first operand, the element type of `dtype` or of the value.
fn fill(c: &OpCall<'_>) -> rules::Inferred {
    let value = match c.operands.get(1) {
        Some(StructInfo::Prim { dtype, value: _ }) => Some(*dtype),
        Some(_) => c.tensor(1)?.and_then(|info| info.dtype),
        None => None,
    };
    Ok(StructInfo::Tensor(TensorInfo {
        shape: c.shape(0),
        dtype: c.dtype("dtype")?.or(value),
        vdevice: None,
    }))
}

fn constant(c: &ComputeCall<'_>, value: i64) -> Computed {
    let value = Expr::constant(value, c.result_dtype(0));
    Ok(vec![topi::full(c.name(), c.result_shape(0), &value)])
}

fn full(c: &ComputeCall<'_>) -> Computed {
    let (value, dtype) = (c.x(1), c.result_dtype(0));
    Ok(vec![te::compute(
        "full",
        c.result_shape(0).to_vec(),
        |_| topi::element(value, &[]).cast(dtype),
    )])
}
