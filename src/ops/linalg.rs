//! Linear algebra.

use super::broadcast::Broadcasting;
use super::def::{DTypes, OpDef, Pattern, Precision, X, X1_X2, attr, operand};
use super::einsum;
use super::rules::{self, broadcast_shapes, equal_extents, tensor_like};
use crate::ir::graph::{AttrDefault, AttrKind, OpCall, OperandKind};
use crate::ir::{Expr, ShapeInfo, StructInfo};
use crate::te;
use crate::topi;

pub(super) const OPS: &[OpDef] = &[
    OpDef::new("einsum", "a sum of products in Einstein's notation")
        .operands(&[operand("operands", OperandKind::Tensors)])
        .attrs(&[attr(
            "subscripts",
            AttrKind::Str(&[]),
            AttrDefault::Required,
        )])
        .dtypes(DTypes::Numeric)
        .infer(einsum::infer)
        .compute(einsum::compute)
        .broadcasting(Broadcasting::Subscripts)
        .pattern(Pattern::OutEWiseFusable),
    OpDef::new(
        "det",
        "the determinant of each matrix, whose rows and columns are the last two dimensions",
    )
    .operands(X)
    .dtypes(DTypes::Float)
    .infer(det)
    .compute(|c| Ok(vec![topi::det("det", c.x(0))])),
    OpDef::new(
        "outer",
        "every element of a vector times every one of another",
    )
    .operands(X1_X2)
    .dtypes(DTypes::Numeric)
    .infer(outer)
    .compute(|c| {
        let (a, b) = (c.x(0), c.x(1));
        Ok(vec![te::compute(
            "outer",
            c.result_shape(0).to_vec(),
            |i| a.at([&i[0]]) * b.at([&i[1]]),
        )])
    })
    .pattern(Pattern::Broadcast)
    .in_precision(Precision::Half),
    OpDef::new("matmul", "matrix product, with broadcast batch dimensions")
        .operands(X1_X2)
        .attrs(&[attr("out_dtype", AttrKind::DType, AttrDefault::None)])
        .dtypes(DTypes::Numeric)
        .infer(matmul)
        .compute(|c| {
            let (shape, dtype) = (c.result_shape(0), c.result_dtype(0));
            Ok(vec![topi::nn::matmul(
                "matmul",
                c.x(0),
                c.x(1),
                shape,
                dtype,
            )])
        })
        .broadcasting(Broadcasting::Stacks)
        .pattern(Pattern::OutEWiseFusable)
        .in_precision(Precision::Half),
];

fn matmul(c: &OpCall<'_>) -> rules::Inferred {
    rules::check_dtype(c, 0)?;
    rules::check_dtype(c, 1)?;
    let (Some(a), Some(b)) = (c.tensor(0)?, c.tensor(1)?) else {
        return Ok(StructInfo::Object);
    };
    let dtype = c.dtype("out_dtype")?.or(a.dtype);
    let info = |shape| Ok(tensor_like(a, shape, dtype));
    let (Some(lhs), Some(rhs)) = (a.shape.dims(), b.shape.dims()) else {
        return info(match (a.shape.ndim(), b.shape.ndim()) {
            (Some(n @ 2..), Some(m @ 2..)) => ShapeInfo::Ndim(n.max(m)),
            _ => ShapeInfo::Unknown,
        });
    };
    let ([.., k], [_, ..]) = (lhs, rhs) else {
        return Err(c.bad_operand(usize::from(!lhs.is_empty()), "at least a vector"));
    };
    let j = &rhs[rhs.len().saturating_sub(2)];
    equal_extents(c, "the extents of the reduction", k, j)?;
    let batch = |dims: &[Expr]| ShapeInfo::Known(dims[..dims.len().saturating_sub(2)].to_vec());
    let mut dims = match broadcast_shapes(c, &batch(lhs), &batch(rhs))? {
        ShapeInfo::Known(dims) => dims,
        _ => return info(ShapeInfo::Ndim(lhs.len().max(rhs.len()))),
    };
    if lhs.len() > 1 {
        dims.push(lhs[lhs.len() - 2].clone());
    }
    if rhs.len() > 1 {
        dims.push(rhs[rhs.len() - 1].clone());
    }
    info(ShapeInfo::Known(dims))
}

fn det(c: &OpCall<'_>) -> rules::Inferred {
    rules::check_dtype(c, 0)?;
    let Some(info) = c.tensor(0)? else {
        return Ok(StructInfo::Object);
    };
    let shape = match (info.shape.dims(), info.shape.ndim()) {
        (Some([batch @ .., rows, columns]), _) => {
            equal_extents(c, "rows and columns", rows, columns)?;
            ShapeInfo::Known(batch.to_vec())
        }
        (None, Some(ndim @ 2..)) => ShapeInfo::Ndim(ndim - 2),
        (None, None) => ShapeInfo::Unknown,
        (Some(_), _) | (None, Some(_)) => return Err(c.bad_operand(0, "matrices")),
    };
    Ok(tensor_like(info, shape, info.dtype))
}

fn outer(c: &OpCall<'_>) -> rules::Inferred {
    rules::check_dtype(c, 0)?;
    let (a, b) = (
        rules::dims_of(c, 0, 1, "a vector")?,
        rules::dims_of(c, 1, 1, "a vector")?,
    );
    let (Some(x), Some(y)) = (c.tensor(0)?, c.tensor(1)?) else {
        return Ok(StructInfo::Object);
    };
    rules::equal_types(c, x.dtype, y.dtype)?;
    let shape = match (a, b) {
        (Some([n]), Some([m])) => ShapeInfo::Known(vec![n.clone(), m.clone()]),
        _ => ShapeInfo::Ndim(2),
    };
    Ok(tensor_like(x, shape, x.dtype))
}
