//! Operators on shapes.

use super::def::{MachineOp, OpDef, Pattern, X, operand};
use super::rules::{self, tensor_like};
use crate::ir::graph::{OpCall, Operand, OperandKind};
use crate::ir::{Expr, ShapeInfo, StructInfo, TensorInfo};
use crate::tensor::DType;
use crate::topi;

const INPUT: &[Operand] = &[operand("input", OperandKind::Any)];

pub(super) const OPS: &[OpDef] = &[
    OpDef::new("shape_of", "the shape of a tensor")
        .operands(INPUT)
        .infer(shape_of)
        .machine(MachineOp::ShapeOf),
    OpDef::new("shape_to_tensor", "a shape as a vector of int64")
        .operands(INPUT)
        .infer(shape_to_tensor)
        .host("relax.run.shape_to_tensor", |_| Ok(vec![])),
    OpDef::new("size", "the number of elements, as int64")
        .operands(X)
        .infer(size)
        .compute(|c| {
            let size = topi::volume(c.x(0).shape());
            Ok(vec![topi::full("size", &[], &size)])
        })
        .pattern(Pattern::Injective),
    OpDef::new("tensor_to_shape", "a vector of int64 as a shape")
        .operands(INPUT)
        .infer(tensor_to_shape)
        .host("vm.builtin.tensor_to_shape", |_| Ok(vec![])),
];

fn shape_of(c: &OpCall<'_>) -> rules::Inferred {
    Ok(StructInfo::Shape(match c.tensor(0)? {
        Some(info) => info.shape.clone(),
        None => ShapeInfo::Unknown,
    }))
}

fn shape_to_tensor(c: &OpCall<'_>) -> rules::Inferred {
    let shape = match &c.operands[0] {
        StructInfo::Shape(shape) => shape.ndim(),
        StructInfo::Object => None,
        _ => return Err(c.bad_operand(0, "a shape")),
    };
    Ok(StructInfo::Tensor(TensorInfo {
        shape: match shape {
            Some(ndim) => ShapeInfo::Known(vec![Expr::i64(ndim as i64)]),
            None => ShapeInfo::Ndim(1),
        },
        dtype: Some(DType::I64),
        vdevice: None,
    }))
}

fn size(c: &OpCall<'_>) -> rules::Inferred {
    Ok(match c.tensor(0)? {
        Some(info) => tensor_like(info, ShapeInfo::Known(vec![]), Some(DType::I64)),
        None => StructInfo::Object,
    })
}

fn tensor_to_shape(c: &OpCall<'_>) -> rules::Inferred {
    let Some(info) = c.tensor(0)? else {
        return Ok(StructInfo::Shape(ShapeInfo::Unknown));
    };
    if info.dtype.is_some_and(|dtype| dtype != DType::I64) {
        return Err(c.bad_operand(0, "a vector of int64"));
    }
    let dims = rules::dims_of(c, 0, 1, "a vector of int64")?;
    let ndim = dims.and_then(|dims| dims[0].as_int());
    Ok(StructInfo::Shape(
        match ndim.and_then(|ndim| usize::try_from(ndim).ok()) {
            Some(ndim) => ShapeInfo::Ndim(ndim),
            None => ShapeInfo::Unknown,
        },
    ))
}
