//! Quantized operators.

use serde_json::json;

use super::Operator;
use super::nn;
use super::pieces::MOST_ELEMENTS;
use crate::frontend::onnx::call::{Call, Outputs, attrs, cast, in_type, number, one, shown};
use crate::frontend::onnx::error::Fault;
use crate::frontend::onnx::tensor;
use crate::frontend::onnx::value::Value;
use crate::ir::Expr as Size;
use crate::relax::{self, Expr, Var};
use crate::tensor::DType;

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("ConvInteger", &[10], conv_integer),
    Operator::new(
        "DequantizeLinear",
        &[10, 13, 19, 21, 23, 24, 25],
        dequantize,
    )
    .note("also of `int4` and `uint4` that the model holds, which stay packed"),
    Operator::new("DynamicQuantizeLinear", &[11], dynamic_quantize),
    Operator::new("MatMulInteger", &[10], matmul_integer),
    Operator::new("QLinearConv", &[10], q_linear_conv),
    Operator::new("QLinearMatMul", &[10, 21], q_linear_matmul),
    Operator::new("QuantizeLinear", &[10, 13, 19, 21, 23, 24, 25], quantize),
];

/// A scale or zero point along an axis, as a tensor that broadcasts to the data.
fn along(c: &mut Call<'_, '_>, index: usize, axis: i64, block: i64) -> Result<Expr, Fault> {
    if block > 0 {
        return each_block(c, index, axis, block);
    }
    let x = c.x(index)?;
    let (dims, rank) = (c.dims(index)?, c.ndim(0)?);
    match dims.as_slice() {
        [] => Ok(x),
        [n] if n.is_one() => Ok(relax::op("reshape", [x, relax::shape(Vec::<Size>::new())])),
        [n] => {
            let mut wide = vec![Size::i64(1); rank];
            wide[c.axis(axis, rank)?] = n.clone();
            Ok(relax::op("reshape", [x, relax::shape(wide)]))
        }
        _ => Err(c.bad(
            index,
            format!("a tensor of {} dimensions", dims.len()),
            "a number, or one for each index of the axis",
        )),
    }
}

/// A scale or zero point for each block along an axis, as a tensor of the extents of the data.
fn each_block(c: &mut Call<'_, '_>, index: usize, axis: i64, block: i64) -> Result<Expr, Fault> {
    let (dims, own) = (c.dims(0)?, c.dims(index)?);
    let axis = c.axis(axis, dims.len())?;
    let blocks = c
        .importer
        .arith
        .simplify(&(&dims[axis] + (block - 1)).floor_div(block));
    let differs = |at: usize| {
        let expected = if at == axis { &blocks } else { &dims[at] };
        own[at]
            .as_int()
            .zip(expected.as_int())
            .is_some_and(|(own, expected)| own != expected)
    };
    if own.len() != dims.len() || (0..dims.len()).any(differs) {
        let mut expected = dims;
        expected[axis] = blocks;
        return Err(c.bad(index, shown(&own), shown(&expected)));
    }
    // One block may reach beyond the data: no more copies of its number are made than there are places.
    let most = dims[axis].as_int().unwrap_or(block).max(1);
    let block = block.min(most);
    let x = c.x(index)?;
    let each = c.op_with("repeat", [x], &json!({"repeats": block, "axis": axis}))?;
    if c.importer.arith.simplify(&(&own[axis] * block)) == dims[axis] {
        return Ok((&each).into());
    }
    let (first, end) = (relax::shape([0i64]), relax::shape([dims[axis].clone()]));
    let args = [(&each).into(), relax::shape([axis as i64]), first, end];
    Ok((&c.op("strided_slice", args)?).into())
}

/// How many elements along the axis share a scale; 0 if all do, or each has its own.
fn block_size(c: &Call<'_, '_>) -> Result<i64, Fault> {
    c.attributes.ignore("saturate");
    c.attributes.ignore("precision");
    match c.attributes.int_or("block_size", 0)? {
        block @ 0.. => Ok(block.min(MOST_ELEMENTS as i64)),
        block => Err(Fault::Attribute {
            name: "block_size".to_owned(),
            given: block.to_string(),
            expected: "at least 0".to_owned(),
        }),
    }
}

/// `(x - zero_point) * scale`, in the type of the scale.
fn dequantize(c: &mut Call<'_, '_>) -> Outputs {
    c.unpack(0)?;
    c.unpack(2)?;
    let block = block_size(c)?;
    let axis = c.attributes.int_or("axis", 1)?;
    let dtype = c.dtype(1)?;
    let to = match c.attributes.int_or("output_dtype", 0)? {
        0 => dtype,
        code => tensor::dtype(code as i32).map_err(Fault::ElementType)?,
    };
    let scale = along(c, 1, axis, block)?;
    let x = c.x(0)?;
    let shifted = match (c.has(2), c.dtype(0)?.is_int()) {
        (true, true) => {
            let zero = along(c, 2, axis, block)?;
            cast(x, DType::I32) - cast(zero, DType::I32)
        }
        (true, false) => {
            let zero = along(c, 2, axis, block)?;
            cast(x, dtype) - cast(zero, dtype)
        }
        (false, _) => x,
    };
    let y = cast(shifted, dtype) * scale;
    one(c.emit(in_type(y, dtype, to))?)
}

/// `x / scale` to the nearest integer, ties to even, plus the zero point, within the type.
fn quantize(c: &mut Call<'_, '_>) -> Outputs {
    let block = block_size(c)?;
    let axis = c.attributes.int_or("axis", 1)?;
    let code = c.attributes.int_or("output_dtype", 0)?;
    let to = match (c.has(2), code) {
        (true, _) => c.dtype(2)?,
        (false, 0) => DType::U8,
        (false, code) => tensor::dtype(code as i32).map_err(Fault::ElementType)?,
    };
    let x = c.x(0)?;
    let scale = along(c, 1, axis, block)?;
    let scaled = cast(x, DType::F32) / cast(scale, DType::F32);
    if !to.is_int() {
        return one(c.emit(cast(scaled, to))?);
    }
    let zero = match c.has(2) {
        true => Some(along(c, 2, axis, block)?),
        false => None,
    };
    let y = saturated(scaled, zero, to)?;
    one(c.emit(y)?)
}

/// Rounded, moved by the zero point, and within the type.
pub(super) fn saturated(x: Expr, zero: Option<Expr>, to: DType) -> Result<Expr, Fault> {
    let Some((low, high)) = to.scalar.int_range() else {
        return Err(Fault::ElementType(to.to_string()));
    };
    let mut y = relax::op("round", [x]);
    if let Some(zero) = zero {
        y = y + cast(zero, DType::F32);
    }
    let (low, high) = (
        number(low as f64, DType::F32)?,
        number(high as f64, DType::F32)?,
    );
    y = relax::op("minimum", [relax::op("maximum", [y, low]), high]);
    Ok(cast(y, to))
}

/// Integers less their zero point.
fn centred(c: &mut Call<'_, '_>, index: usize, zero: Option<Expr>) -> Result<Expr, Fault> {
    let x = cast(c.x(index)?, DType::I32);
    Ok(match zero {
        Some(zero) => x - cast(zero, DType::I32),
        None => x,
    })
}

/// A zero point of a matrix: one number, or one for each row (of the first operand) or column (of the second).
fn zero_of(c: &mut Call<'_, '_>, index: usize, rows: bool) -> Result<Option<Expr>, Fault> {
    let Some(zero) = c.optional(index)? else {
        return Ok(None);
    };
    let dims = c.dims(index)?;
    Ok(Some(match (dims.as_slice(), rows) {
        ([n], true) if !n.is_one() => {
            relax::op("reshape", [zero, relax::shape([n.clone(), Size::i64(1)])])
        }
        _ => zero,
    }))
}

fn matmul_integer(c: &mut Call<'_, '_>) -> Outputs {
    let (za, zb) = (zero_of(c, 2, true)?, zero_of(c, 3, false)?);
    let (a, b) = (centred(c, 0, za)?, centred(c, 1, zb)?);
    one(c.op("matmul", [a, b])?)
}

fn q_linear_matmul(c: &mut Call<'_, '_>) -> Outputs {
    let (za, zb) = (zero_of(c, 2, true)?, zero_of(c, 5, false)?);
    let (sa, sb) = (zero_of(c, 1, true)?, zero_of(c, 4, false)?);
    let (a, b) = (centred(c, 0, za)?, centred(c, 3, zb)?);
    let product = cast(relax::op("matmul", [a, b]), DType::F32);
    let (Some(sa), Some(sb)) = (sa, sb) else {
        return Err(Fault::NoOperand(1));
    };
    let scale = cast(sa, DType::F32) * cast(sb, DType::F32) / cast(c.x(6)?, DType::F32);
    let (zero, to) = (c.x(7)?, c.dtype(7)?);
    let y = saturated(product * scale, Some(zero), to)?;
    one(c.emit(y)?)
}

/// Zero points of a kernel are numbers, or one for each channel of the result.
fn conv_integer(c: &mut Call<'_, '_>) -> Outputs {
    let za = c.optional(2)?;
    let zb = per_channel(c, 3, 1)?;
    let (x, w) = (centred(c, 0, za)?, centred(c, 1, zb)?);
    let window = nn::conv_attributes(c)?;
    one(c.op_with(&window.0, [x, w], &window.1)?)
}

/// One number for each channel of the kernel at `weights`, as a tensor that broadcasts to the kernel.
fn per_channel(c: &mut Call<'_, '_>, index: usize, weights: usize) -> Result<Option<Expr>, Fault> {
    let Some(x) = c.optional(index)? else {
        return Ok(None);
    };
    let (dims, rank) = (c.dims(index)?, c.ndim(weights)?);
    Ok(Some(match dims.as_slice() {
        [n] if !n.is_one() => {
            let mut wide = vec![Size::i64(1); rank];
            let Some(first) = wide.first_mut() else {
                return Err(c.bad(weights, "a number", "a kernel"));
            };
            *first = n.clone();
            relax::op("reshape", [x, relax::shape(wide)])
        }
        _ => relax::op("reshape", [x, relax::shape(Vec::<Size>::new())]),
    }))
}

fn q_linear_conv(c: &mut Call<'_, '_>) -> Outputs {
    let rank = c.ndim(0)?;
    let zx = c.x(2)?;
    let zw = per_channel(c, 5, 3)?;
    let (x, w) = (centred(c, 0, Some(zx))?, centred(c, 3, zw)?);
    // The weights are the fourth operand here.
    let weights = c.inputs[3].clone();
    let data = std::mem::replace(&mut c.inputs[1], weights);
    let window = nn::conv_attributes(c)?;
    c.inputs[1] = data;
    let mut y = relax::op_with(window.0, [x, w], attrs(&window.1));
    let channels = |x: Expr, n: &Size| {
        let mut wide = vec![Size::i64(1); rank - 1];
        wide[0] = n.clone();
        relax::op("reshape", [x, relax::shape(wide)])
    };
    if c.has(8) {
        let n = Size::i64(c.dim(8, 0)?);
        let bias = c.x(8)?;
        y = y + channels(bias, &n);
    }
    let scale = c.x(4)?;
    let scale = match c.dims(4)?.as_slice() {
        [n] if !n.is_one() => channels(scale, n),
        _ => relax::op("reshape", [scale, relax::shape(Vec::<Size>::new())]),
    };
    let scale = scale * c.x(1)? / c.x(6)?;
    let (zero, to) = (c.x(7)?, c.dtype(7)?);
    let y = saturated(cast(y, DType::F32) * scale, Some(zero), to)?;
    one(c.emit(y)?)
}

fn dynamic_quantize(c: &mut Call<'_, '_>) -> Outputs {
    let x = c.var(0)?;
    Ok(dynamically_quantized(c, &x)?.map(Value::Var).into())
}

/// Data in uint8 over the range of the data and 0, with the scale and the zero point.
pub(super) fn dynamically_quantized(c: &mut Call<'_, '_>, x: &Var) -> Result<[Var; 3], Fault> {
    let zero = number(0.0, DType::F32)?;
    let all = attrs(&json!({}));
    let high = relax::op(
        "maximum",
        [relax::op_with("max", [x], all.clone()), zero.clone()],
    );
    let low = relax::op("minimum", [relax::op_with("min", [x], all), zero.clone()]);
    let (high, low) = (c.emit(high)?, c.emit(low)?);
    let range = number(255.0, DType::F32)?;
    let scale = c.emit((&high - &low) / range.clone())?;
    let nothing = relax::op("equal", [(&scale).into(), zero.clone()]);
    let unit = number(1.0, DType::F32)?;
    let divisor = c.op("where", [nothing, unit, (&scale).into()])?;
    let point = relax::op("round", [(zero.clone() - &low) / &divisor]);
    let point = relax::op("minimum", [relax::op("maximum", [point, zero]), range]);
    let point = c.emit(cast(point, DType::U8))?;
    let y = saturated(x / &divisor, Some((&point).into()), DType::U8)?;
    Ok([c.emit(y)?, scale, point])
}
