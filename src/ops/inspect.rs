//! Properties of tensors as scalars (`R.inspect.*`), named as the fields of a DLPack tensor.
//!
//! Tensors here are compact, and start where their memory does. So all properties follow from shape and element type.

use super::def::{MachineOp, OpDef, operand, tensor};
use super::rules;
use crate::ir::graph::{InferError, OpCall, Operand, OperandKind};
use crate::ir::{Expr, ShapeInfo, StructInfo, TensorInfo};
use crate::tensor::{DType, ScalarType};
use crate::topi;

const TENSOR: &[Operand] = &[tensor("tensor")];
const TENSOR_AXIS: &[Operand] = &[tensor("tensor"), operand("axis", OperandKind::Scalar)];

const fn property(name: &'static str, doc: &'static str) -> OpDef {
    OpDef::new(name, doc)
        .operands(TENSOR)
        .machine(MachineOp::Scalar)
}

pub(super) const OPS: &[OpDef] = &[
    property(
        "inspect.tensor_byte_offset",
        "where its elements start in its memory, in bytes: 0",
    )
    .infer(|c| scalar(c, DType::U64, |_| Some(Expr::i64(0)))),
    property("inspect.tensor_dtype_bits", "the bits of an element").infer(|c| {
        let bits = |dtype: DType| 8 * dtype.bytes() as i64;
        scalar(c, DType::U8, |info| info.dtype.map(bits).map(Expr::i64))
    }),
    property(
        "inspect.tensor_dtype_code",
        "the kind of an element: 0 signed, 1 unsigned, 2 float, 4 bfloat, 6 bool",
    )
    .infer(|c| {
        scalar(c, DType::U8, |info| {
            info.dtype.map(|dtype| Expr::i64(code(dtype)))
        })
    }),
    property(
        "inspect.tensor_dtype_lanes",
        "the numbers that an element has: 1",
    )
    .infer(|c| scalar(c, DType::U16, |_| Some(Expr::i64(1)))),
    property(
        "inspect.tensor_elem_offset",
        "where its elements start in its memory, in elements: 0",
    )
    .infer(|c| scalar(c, DType::U64, |_| Some(Expr::i64(0)))),
    property("inspect.tensor_ndim", "the number of dimensions").infer(|c| {
        let ndim = |info: &TensorInfo| info.shape.ndim();
        scalar(c, DType::I32, |info| {
            ndim(info).map(|n| Expr::i64(n as i64))
        })
    }),
    property("inspect.tensor_shape_i", "the extent of a dimension")
        .operands(TENSOR_AXIS)
        .infer(|c| of_axis(c, |dims| dims[0].clone())),
    property(
        "inspect.tensor_stride_i",
        "the elements from one index of a dimension to the next",
    )
    .operands(TENSOR_AXIS)
    .infer(|c| of_axis(c, |dims| topi::volume(&dims[1..]))),
];

/// A scalar that follows from the type of the operand.
fn scalar(
    c: &OpCall<'_>,
    dtype: DType,
    value: impl FnOnce(&TensorInfo) -> Option<Expr>,
) -> rules::Inferred {
    let value = c.tensor(0)?.and_then(value);
    Ok(StructInfo::Prim {
        dtype,
        value: value.map(|value| value.cast(dtype)),
    })
}

/// What follows from the extents of a dimension and of those after it.
fn of_axis(c: &OpCall<'_>, value: fn(&[Expr]) -> Expr) -> rules::Inferred {
    let axis = c.scalar(1).and_then(|axis| axis.as_int());
    let dims = match (c.tensor(0)?.map(|info| &info.shape), axis) {
        (Some(ShapeInfo::Known(dims)), Some(axis)) => Some(dimensions_from(c, dims, axis)?),
        _ => None,
    };
    let value = dims.map(value);
    Ok(StructInfo::Prim {
        dtype: DType::I64,
        value,
    })
}

fn dimensions_from<'a>(
    c: &OpCall<'_>,
    dims: &'a [Expr],
    axis: i64,
) -> Result<&'a [Expr], InferError> {
    let from = usize::try_from(axis).ok().and_then(|axis| dims.get(axis..));
    let from = from.filter(|dims| !dims.is_empty());
    from.ok_or_else(|| c.bad_operand(1, "a dimension of the tensor"))
}

/// The code of a kind of elements in DLPack.
fn code(dtype: DType) -> i64 {
    match dtype.scalar {
        ScalarType::Bool => 6,
        ScalarType::BF16 => 4,
        _ if dtype.is_float() => 2,
        scalar => i64::from(scalar.int_range().is_some_and(|(low, _)| low == 0)),
    }
}
