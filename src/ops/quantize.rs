//! Quantization: numbers as small integers with a scale and a zero point, of the whole tensor or along an axis.

use super::ComputeCall;
use super::def::{Computed, DTypes, OpDef, Pattern, Precision, attr, tensor};
use super::rules::{self, axis_of, tensor_like};
use crate::arith::Analyzer;
use crate::ir::graph::{AttrDefault, AttrKind, InferError, OpCall, Operand};
use crate::ir::{Expr, ShapeInfo, StructInfo};
use crate::te::{self, Tensor};
use crate::tensor::scalar::{BinOp, Intrin};
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
    OpDef::new(
        "unpack_bits",
        "numbers of so many bits, which lie in the elements of the last axis side by side, the first in the lowest bits",
    )
    .operands(&[tensor("data")])
    .attrs(&[attr("bits", AttrKind::Int, AttrDefault::Int(4))])
    .dtypes(DTypes::Int)
    .infer(infer_unpack_bits)
    .compute(unpack_bits)
    .pattern(Pattern::Injective),
];

/// How many numbers an element holds, and the bits of each.
fn packing(c: &OpCall<'_>, dtype: DType) -> Result<(i64, i64), InferError> {
    let width = 8 * dtype.bytes() as i64;
    let bits = c.int("bits")?.filter(|bits| [1, 2, 4, 8].contains(bits));
    let bits = bits.ok_or_else(|| c.bad_attribute("bits", "1, 2, 4 or 8"))?;
    Ok((width / bits, bits))
}

fn infer_unpack_bits(c: &OpCall<'_>) -> rules::Inferred {
    rules::check_dtype(c, 0)?;
    let Some(info) = c.tensor(0)? else {
        return Ok(StructInfo::Object);
    };
    let shape = match (&info.shape, info.dtype) {
        (ShapeInfo::Known(dims), Some(dtype)) => {
            let (each, _) = packing(c, dtype)?;
            let Some((last, rest)) = dims.split_last() else {
                return Err(c.bad_operand(0, "a tensor with dimensions"));
            };
            let last = Analyzer::new().simplify(&(last.cast(DType::I64) * each));
            ShapeInfo::Known(rest.iter().cloned().chain([last]).collect())
        }
        (ShapeInfo::Known(dims), None) => ShapeInfo::Ndim(dims.len()),
        (unknown, _) => unknown.clone(),
    };
    Ok(tensor_like(info, shape, info.dtype))
}

fn unpack_bits(c: &ComputeCall<'_>) -> Computed {
    let x = c.x(0);
    let dtype = x.dtype();
    let (each, bits) = packing(c, dtype)?;
    if each == 1 {
        return Ok(vec![topi::map_at(c.name(), x, |_, x| x)]);
    }
    let mask = Expr::constant((1 << bits) - 1, dtype);
    let shape = c.result_shape(0).to_vec();
    Ok(vec![te::compute(c.name(), shape, |i| {
        let mut at = i.to_vec();
        let last = at.last_mut().expect("it has dimensions");
        let number = last.floor_mod(each) * bits;
        *last = last.floor_div(each);
        let shifted = Expr::binary(BinOp::Shr, x.at(at), number.cast(dtype));
        Expr::binary(BinOp::BitAnd, shifted, mask)
    })])
}

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
