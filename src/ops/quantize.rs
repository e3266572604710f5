//! Quantization: numbers as small integers with a scale and a zero point, of the whole tensor or along an axis.

use super::ComputeCall;
use super::def::{Computed, DTypes, OpDef, Pattern, Precision, attr, tensor};
use super::rules::{self, axis_of, tensor_like};
use crate::ir::graph::{AttrDefault, AttrKind, InferError, OpCall, Operand};
use crate::ir::{Expr, StructInfo};
use crate::te::{self, Tensor};
use crate::tensor::scalar::Intrin;
use crate::tensor::{DType, ScalarType};
use crate::topi;

const OPERANDS: &[Operand] = &[tensor("data"), tensor("scale"), tensor("zero_point")];

pub(super) const OPS: &[OpDef] = &[
    OpDef::new(
        "dequantize",
        "(data - zero_point) * scale, computed in float32",
    )
    .operands(OPERANDS)
    .attrs(&[
        attr("axis", AttrKind::Int, AttrDefault::Int(-1)),
        attr("out_dtype", AttrKind::DType, AttrDefault::Str("float32")),
    ])
    .dtypes(DTypes::Numeric)
    .infer(|c| infer(c, &[ScalarType::F16, ScalarType::BF16, ScalarType::F32]))
    .compute(dequantize)
    .pattern(Pattern::Broadcast)
    .in_precision(Precision::Full),
    OpDef::new(
        "quantize",
        "data / scale rounded to the nearest integer, ties to even, plus zero_point, clipped to the type",
    )
    .operands(OPERANDS)
    .attrs(&[
        attr("axis", AttrKind::Int, AttrDefault::Int(-1)),
        attr("out_dtype", AttrKind::DType, AttrDefault::Str("int8")),
    ])
    .dtypes(DTypes::Float)
    .infer(|c| {
        infer(
            c,
            &[
                ScalarType::I8,
                ScalarType::U8,
                ScalarType::I16,
                ScalarType::U16,
                ScalarType::I32,
            ],
        )
    })
    .compute(quantize)
    .pattern(Pattern::Broadcast)
    .in_precision(Precision::Full),
];

/// Whether all extents are 1.
fn is_single(dims: &[Expr]) -> bool {
    dims.iter().all(Expr::is_one)
}

fn infer(c: &OpCall<'_>, results: &[ScalarType]) -> rules::Inferred {
    rules::check_dtype(c, 0)?;
    let dtype = c.dtype("out_dtype")?;
    let expected = match results.iter().all(|ty| ty.is_float()) {
        true => "a type of floats",
        false => "int8, uint8, int16, uint16 or int32",
    };
    if dtype.is_none_or(|dtype| !results.contains(&dtype.scalar)) {
        return Err(c.bad_attribute("out_dtype", expected));
    }
    let Some(info) = c.tensor(0)? else {
        return Ok(StructInfo::Object);
    };
    for index in [1, 2] {
        let given = match &c.operands[index] {
            StructInfo::Prim { dtype: _, value: _ } => continue,
            _ => c.tensor(index)?,
        };
        let (Some(dims), Some(given)) = (info.shape.dims(), given.and_then(|i| i.shape.dims()))
        else {
            continue;
        };
        match given {
            given if is_single(given) => {}
            [extent] => {
                let axis = axis_of(c, "axis", dims.len())?;
                rules::equal_extents(c, "the extent along the axis", &dims[axis], extent)?;
            }
            _ => return Err(c.bad_operand(index, "a scalar or a vector along the axis")),
        }
    }
    Ok(tensor_like(info, info.shape.clone(), dtype))
}

/// The scale or zero point for an element.
fn parameter(
    c: &OpCall<'_>,
    x: &Tensor,
    data: &Tensor,
) -> Result<impl Fn(&[Expr]) -> Expr, InferError> {
    let axis = match is_single(x.shape()) {
        true => None,
        false => Some(axis_of(c, "axis", data.ndim())?),
    };
    let x = x.clone();
    Ok(move |i: &[Expr]| match axis {
        Some(axis) => x.at([&i[axis]]),
        None => x.at(vec![Expr::i64(0); x.ndim()]),
    })
}

fn quantize(c: &ComputeCall<'_>) -> Computed {
    let x = c.x(0);
    let (scale, zero) = (parameter(c, c.x(1), x)?, parameter(c, c.x(2), x)?);
    let dtype = c.result_dtype(0);
    let (low, high) = dtype
        .scalar
        .int_range()
        .ok_or_else(|| c.bad_attribute("out_dtype", "a type of integers"))?;
    // The greatest float32 below 2^31 is 2^31 - 128.
    let high = if dtype == DType::I32 {
        high - 127
    } else {
        high
    };
    let wide = DType::F32;
    Ok(vec![topi::map_at(c.name(), x, |i, x| {
        let scaled = x.cast(wide) / scale(i).cast(wide);
        let rounded = Expr::call(Intrin::Round, vec![scaled]) + zero(i).cast(wide);
        let bound = |v: i64| Expr::float(v as f64, wide);
        rounded.max(bound(low)).min(bound(high)).cast(dtype)
    })])
}

fn dequantize(c: &ComputeCall<'_>) -> Computed {
    let x = c.x(0);
    let (scale, zero) = (parameter(c, c.x(1), x)?, parameter(c, c.x(2), x)?);
    let dtype = c.result_dtype(0);
    // Differences of integers are exact.
    let difference = if x.dtype().is_float() {
        DType::F32
    } else {
        DType::I32
    };
    let shape = x.shape().to_vec();
    Ok(vec![te::compute(c.name(), shape, |i| {
        let value = x.at(i).cast(difference) - zero(i).cast(difference);
        let value = value.cast(DType::F32) * scale(i).cast(DType::F32);
        if dtype == DType::F32 {
            return value;
        }
        let most = dtype.scalar.max_finite();
        let bound = |v: f64| Expr::float(v, DType::F32);
        value.max(bound(-most)).min(bound(most)).cast(dtype)
    })])
}
