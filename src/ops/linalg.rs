//! Linear algebra.

use super::def::{DTypes, OpDef, Pattern, X1_X2, attr};
use super::rules::{self, broadcast_shapes, equal_extents, tensor_like};
use crate::ir::graph::{AttrDefault, AttrKind, OpCall};
use crate::ir::{Expr, ShapeInfo, StructInfo};
use crate::topi;

pub(super) const OPS: &[OpDef] =
    &[
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
            .pattern(Pattern::OutEWiseFusable),
    ];

fn matmul(c: &OpCall<'_>) -> rules::Inferred {
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
