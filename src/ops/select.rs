//! Operators whose results have extents that depend on elements. They run on the host.

use super::def::{OpDef, X, attr, optional, tensor};
use super::rules::{self, check_indices, tensor_like};
use crate::ir::graph::{Arg, AttrDefault, AttrKind, InferError, OpCall, OperandKind};
use crate::ir::{Expr, ShapeInfo, StructInfo};
use crate::tensor::{DType, NO_AXIS};

pub(super) const OPS: &[OpDef] = &[
    OpDef::new(
        "compress",
        "the slices along an axis, or without one the elements, whose condition is true",
    )
    .operands(&[tensor("data"), tensor("condition")])
    .attrs(&[attr("axis", AttrKind::Int, AttrDefault::None)])
    .infer(compress)
    .host("relax.run.compress", |c| {
        Ok(vec![c.int("axis")?.unwrap_or(NO_AXIS)])
    }),
    OpDef::new(
        "dynamic_strided_slice",
        "strided_slice whose numbers are tensors, one for each dimension",
    )
    .operands(&[
        tensor("x"),
        tensor("begin"),
        tensor("end"),
        tensor("strides"),
    ])
    .infer(dynamic_slice)
    .host("relax.run.dynamic_strided_slice", |_| Ok(vec![])),
    OpDef::new(
        "non_max_suppression",
        "of boxes [batches, n, 4] that overlap, those of the greatest scores [batches, classes, n]: batch, class and box of each, a row for each box",
    )
    .operands(&[
        tensor("boxes"),
        tensor("scores"),
        tensor("max_output_boxes_per_class"),
        tensor("iou_threshold"),
        tensor("score_threshold"),
    ])
    .attrs(&[attr("center_point_box", AttrKind::Int, AttrDefault::Int(0))])
    .infer(non_max_suppression)
    .host("relax.run.non_max_suppression", |c| {
        Ok(vec![c.int("center_point_box")?.unwrap_or(0)])
    }),
    OpDef::new(
        "nonzero",
        "the indices of the elements that are not 0, a row for each dimension",
    )
    .operands(X)
    .infer(nonzero)
    .host("relax.run.nonzero", |_| Ok(vec![])),
    OpDef::new(
        "unique",
        "the different elements, or slices along an axis; as wanted their first positions, which one each is, their counts",
    )
    .operands(&[
        tensor("x"),
        optional("sorted", OperandKind::Scalar),
        optional("return_index", OperandKind::Scalar),
        optional("return_inverse", OperandKind::Scalar),
        optional("return_counts", OperandKind::Scalar),
        optional("axis", OperandKind::Scalar),
    ])
    .left_out(|operands| {
        let defaults = UNIQUE_NUMBERS.into_iter().map(Expr::i64).map(Arg::Prim);
        for (operand, default) in operands.iter_mut().skip(1).zip(defaults) {
            operand.get_or_insert(default);
        }
    })
    .infer(unique)
    .host("relax.run.unique", unique_numbers),
];

fn compress(c: &OpCall<'_>) -> rules::Inferred {
    rules::dims_of(c, 1, 1, "a vector of bool")?;
    if let Some(dtype) = c.tensor(1)?.and_then(|info| info.dtype)
        && dtype != DType::BOOL
    {
        return Err(c.bad_operand(1, "a vector of bool"));
    }
    along(c, c.int("axis")?)
}

/// A tensor with as many dimensions as the first operand, of extents that are not known, or without an axis a vector.
fn along(c: &OpCall<'_>, axis: Option<i64>) -> rules::Inferred {
    let Some(info) = c.tensor(0)? else {
        return Ok(StructInfo::Object);
    };
    let shape = match (axis, info.shape.ndim()) {
        (None, _) => ShapeInfo::Ndim(1),
        (Some(axis), Some(ndim)) => {
            c.axis(axis, ndim)?;
            ShapeInfo::Ndim(ndim)
        }
        (Some(_), None) => ShapeInfo::Unknown,
    };
    Ok(tensor_like(info, shape, info.dtype))
}

fn dynamic_slice(c: &OpCall<'_>) -> rules::Inferred {
    for index in 1..=3 {
        check_indices(c, index)?;
        rules::dims_of(c, index, 1, "a vector of integers")?;
    }
    Ok(match c.tensor(0)? {
        Some(info) => {
            let shape = info
                .shape
                .ndim()
                .map_or(ShapeInfo::Unknown, ShapeInfo::Ndim);
            tensor_like(info, shape, info.dtype)
        }
        None => StructInfo::Object,
    })
}

fn non_max_suppression(c: &OpCall<'_>) -> rules::Inferred {
    rules::dims_of(c, 0, 3, "boxes of three dimensions")?;
    rules::dims_of(c, 1, 3, "scores of three dimensions")?;
    check_indices(c, 2)?;
    Ok(match c.tensor(0)? {
        Some(info) => tensor_like(info, ShapeInfo::Ndim(2), Some(DType::I64)),
        None => StructInfo::Object,
    })
}

fn nonzero(c: &OpCall<'_>) -> rules::Inferred {
    Ok(match c.tensor(0)? {
        Some(info) => tensor_like(info, ShapeInfo::Ndim(2), Some(DType::I64)),
        None => StructInfo::Object,
    })
}

/// Whether to sort, what else to return, and the axis.
/// What the scalars of `unique` are where they are left out: sorted, without further results, of all elements.
const UNIQUE_NUMBERS: [i64; 5] = [1, 0, 0, 0, NO_AXIS];

fn unique_numbers(c: &OpCall<'_>) -> Result<Vec<i64>, InferError> {
    let constant = |index: usize, default: i64| {
        if !c.has(index) {
            return Ok(default);
        }
        let value = c.scalar(index).and_then(|value| value.as_int());
        value.ok_or_else(|| c.bad_operand(index, "a constant"))
    };
    UNIQUE_NUMBERS
        .into_iter()
        .enumerate()
        .map(|(at, default)| constant(at + 1, default))
        .collect()
}

fn unique(c: &OpCall<'_>) -> rules::Inferred {
    let numbers = unique_numbers(c)?;
    let axis = numbers.last().copied().filter(|axis| *axis != NO_AXIS);
    let values = along(c, axis)?;
    let StructInfo::Tensor(info) = &values else {
        return Ok(StructInfo::Object);
    };
    let extra = numbers[1..4].iter().filter(|wanted| **wanted != 0).count();
    if extra == 0 {
        return Ok(values);
    }
    let positions = tensor_like(info, ShapeInfo::Ndim(1), Some(DType::I64));
    let mut results = vec![values];
    results.resize(extra + 1, positions);
    Ok(StructInfo::Tuple(results))
}
