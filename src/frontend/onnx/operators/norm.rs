//! Normalisation.

use serde_json::json;

use super::Operator;
use crate::frontend::onnx::call::{Call, Outputs, attrs, cast, in_type, number, one};
use crate::frontend::onnx::error::Fault;
use crate::frontend::onnx::fit::Extent;
use crate::ir::Expr as Size;
use crate::relax::{self, Expr};
use crate::tensor::DType;

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("BatchNormalization", &[7, 9, 14, 15], batch_norm)
        .note("training mode from version 14 on; `spatial` only 1"),
    Operator::new("GroupNormalization", &[18, 21], group_norm),
    Operator::new("InstanceNormalization", &[6, 22], instance_norm),
    Operator::new("LRN", &[1, 13], lrn),
    Operator::new("LayerNormalization", &[17], layer_norm).note("`stash_type` only 1"),
    Operator::new("LpNormalization", &[1, 22], lp_norm).note("`p` only 1 or 2"),
    Operator::new("MeanVarianceNormalization", &[9, 13], mean_variance),
    Operator::new("RMSNormalization", &[23], rms_norm).note("`stash_type` only 1"),
];

fn batch_norm(c: &mut Call<'_, '_>) -> Outputs {
    let epsilon = c.attributes.float_or("epsilon", f64::from(1e-5f32))?;
    let momentum = c.attributes.float_or("momentum", f64::from(0.9f32))?;
    c.attributes.only("spatial", 1)?;
    check_each_channel(c, &[1, 2, 3, 4])?;
    if c.attributes.flag("training_mode", false)? {
        return trained_batch_norm(c, epsilon, momentum);
    }
    let dtype = c.dtype(0)?;
    let args = (0..5).map(|at| {
        let x = c.x(at)?;
        Ok::<_, Fault>(in_type(x, c.dtype(at)?, dtype))
    });
    let args = args.collect::<Result<Vec<Expr>, Fault>>()?;
    let attributes = json!({"axis": 1, "epsilon": epsilon, "training": false});
    let all = c.op_with("nn.batch_norm", args, &attributes)?;
    one(c.emit(relax::item(&all, 0))?)
}

/// By the mean and variance of the batch itself, which also move those that are kept.
fn trained_batch_norm(c: &mut Call<'_, '_>, epsilon: f64, momentum: f64) -> Outputs {
    let (dtype, rank) = (c.dtype(0)?, c.ndim(0)?);
    let wide = match dtype {
        DType::F64 => DType::F64,
        _ => DType::F32,
    };
    let axes: Vec<usize> = (0..rank).filter(|&axis| axis != 1).collect();
    let channels = c.dims(1)?;
    let per_channel = |c: &mut Call<'_, '_>, index: usize| {
        let mut dims = vec![Size::i64(1); rank.saturating_sub(1)];
        dims[0] = channels.first().cloned().unwrap_or_else(|| Size::i64(1));
        let x = c.x(index)?;
        let x = in_type(x, c.dtype(index)?, wide);
        Ok::<Expr, Fault>(relax::op("reshape", [x, relax::shape(dims)]))
    };
    let x = c.x(0)?;
    let x = c.emit(in_type(x, dtype, wide))?;
    let over = json!({"axis": axes, "keepdims": true});
    let mean = c.op_with("mean", [&x], &over)?;
    let centred = c.emit(&x - &mean)?;
    let variance = c.op_with("mean", [relax::op("square", [&centred])], &over)?;
    let deviation = relax::op("sqrt", [&variance + number(epsilon, wide)?]);
    let (scale, shift) = (per_channel(c, 1)?, per_channel(c, 2)?);
    let y = &centred / deviation * scale + shift;
    let y = c.emit(in_type(y, wide, dtype))?;
    let mut outputs = vec![y.into()];
    for (index, own) in [(3, mean), (4, variance)] {
        let kept = c.dtype(index)?;
        let before = c.x(index)?;
        let before = in_type(before, kept, wide);
        let own = relax::op(
            "reshape",
            [Expr::from(&own), relax::shape(channels.clone())],
        );
        let moved = before * number(momentum, wide)? + own * number(1.0 - momentum, wide)?;
        outputs.push(c.emit(in_type(moved, wide, kept))?.into());
    }
    Ok(outputs)
}

/// Refuses operands that do not have a number for each channel of the data.
fn check_each_channel(c: &Call<'_, '_>, operands: &[usize]) -> Result<(), Fault> {
    let dims = c.dims(0)?;
    // Data of one dimension have one channel.
    let one = Size::i64(1);
    let channels = dims.get(1).unwrap_or(&one);
    let extents = [Extent::of("channels", channels)];
    operands
        .iter()
        .try_for_each(|&index| c.expect_extents(index, &extents))
}

fn instance_norm(c: &mut Call<'_, '_>) -> Outputs {
    check_each_channel(c, &[1, 2])?;
    let epsilon = c.attributes.float_or("epsilon", f64::from(1e-5f32))?;
    let axes: Vec<usize> = (2..c.ndim(0)?).collect();
    let args = [c.x(0)?, c.x(1)?, c.x(2)?];
    let attributes = json!({"channel_axis": 1, "axes": axes, "epsilon": epsilon});
    one(c.op_with("nn.instance_norm", args, &attributes)?)
}

/// Before version 21 there was a scale and a bias for each group, then one for each channel.
fn group_norm(c: &mut Call<'_, '_>) -> Outputs {
    let epsilon = c.attributes.float_or("epsilon", f64::from(1e-5f32))?;
    let groups = c.attributes.int("num_groups")?;
    let groups = groups.ok_or_else(|| Fault::NoAttribute("num_groups".to_owned()))?;
    c.attributes.ignore("stash_type");
    let (dims, channels) = (c.dims(0)?, c.dim(0, 1)?);
    if groups < 1 || channels % groups != 0 {
        return Err(Fault::Attribute {
            name: "num_groups".to_owned(),
            given: groups.to_string(),
            expected: format!(
                "a number that divides the {channels} channels of {}",
                c.operand(0)
            ),
        });
    }
    let each = Size::i64(if c.version >= 21 { channels } else { groups });
    for index in [1, 2] {
        let what = if c.version >= 21 {
            "channels"
        } else {
            "groups"
        };
        c.expect_extents(index, &[Extent::of(what, &each)])?;
    }
    let per_channel = |c: &mut Call<'_, '_>, index: usize| {
        let x = c.x(index)?;
        if c.version >= 21 || channels == groups {
            return Ok::<_, Fault>(x);
        }
        let attributes = attrs(&json!({"repeats": channels / groups.max(1), "axis": 0}));
        Ok(relax::op_with("repeat", [x], attributes))
    };
    let args = [c.x(0)?, per_channel(c, 1)?, per_channel(c, 2)?];
    let axes: Vec<usize> = (2..dims.len()).collect();
    let attributes =
        json!({"num_groups": groups, "channel_axis": 1, "axes": axes, "epsilon": epsilon});
    one(c.op_with("nn.group_norm", args, &attributes)?)
}

fn lrn(c: &mut Call<'_, '_>) -> Outputs {
    let attributes = json!({
        "size": c.attributes.int("size")?.ok_or_else(|| Fault::NoAttribute("size".to_owned()))?,
        "axis": 1,
        "alpha": c.attributes.float_or("alpha", f64::from(1e-4f32))?,
        "beta": c.attributes.float_or("beta", 0.75)?,
        "bias": c.attributes.float_or("bias", 1.0)?,
    });
    let x = c.x(0)?;
    one(c.op_with("nn.lrn", [x], &attributes)?)
}

/// The dimensions from an axis on.
fn from_axis(c: &Call<'_, '_>) -> Result<Vec<usize>, Fault> {
    let rank = c.ndim(0)?;
    let axis = c.attributes.int_or("axis", -1)?;
    Ok((c.axis(axis, rank)?..rank).collect())
}

/// Refuses a scale or a shift that does not broadcast to the dimensions that are normalised.
fn check_broadcast(c: &Call<'_, '_>, operands: &[usize]) -> Result<(), Fault> {
    let dims = c.dims(0)?;
    let to: Vec<(&str, &Size)> = dims.iter().map(|dim| ("extent", dim)).collect();
    operands
        .iter()
        .try_for_each(|&index| c.expect_broadcast(index, &to))
}

/// In float32, as `stash_type` says; the mean and the inverse deviation are results too.
fn layer_norm(c: &mut Call<'_, '_>) -> Outputs {
    let epsilon = c.attributes.float_or("epsilon", f64::from(1e-5f32))?;
    c.attributes.only("stash_type", 1)?;
    let axes = from_axis(c)?;
    check_broadcast(c, &[1, 2])?;
    let dtype = c.dtype(0)?;
    let plain = c.ndim(1)? == axes.len() && (!c.has(2) || c.ndim(2)? == axes.len());
    let scale = c.x(1)?;
    let wanted = c.wants(1) || c.wants(2);
    if plain && c.has(2) && !wanted {
        let (x, shift) = (c.x(0)?, c.x(2)?);
        let attributes = json!({"axes": axes, "epsilon": epsilon});
        return one(c.op_with("nn.layer_norm", [x, scale, shift], &attributes)?);
    }
    let x = c.x(0)?;
    let x = c.emit(in_type(x, dtype, DType::F32))?;
    let over = json!({"axis": axes, "keepdims": true});
    let mean = c.op_with("mean", [&x], &over)?;
    let centred = c.emit(&x - &mean)?;
    let variance = relax::op_with("mean", [relax::op("square", [&centred])], attrs(&over));
    let epsilon = number(epsilon, DType::F32)?;
    let inverse = c.op("rsqrt", [variance + epsilon])?;
    let mut y = &centred * &inverse;
    if dtype != DType::F32 {
        y = cast(y, dtype);
    }
    y = y * scale;
    if let Some(shift) = c.optional(2)? {
        y = y + shift;
    }
    let y = c.emit(y)?;
    Ok(vec![y.into(), mean.into(), inverse.into()])
}

pub(super) fn rms_norm(c: &mut Call<'_, '_>) -> Outputs {
    let epsilon = c.attributes.float_or("epsilon", f64::from(1e-5f32))?;
    c.attributes.only("stash_type", 1)?;
    let axes = from_axis(c)?;
    check_broadcast(c, &[1])?;
    let dtype = c.dtype(0)?;
    let (x, scale) = (c.x(0)?, c.x(1)?);
    let x = c.emit(in_type(x, dtype, DType::F32))?;
    let over = json!({"axis": axes, "keepdims": true});
    let squares = relax::op_with("mean", [relax::op("square", [&x])], attrs(&over));
    let epsilon = number(epsilon, DType::F32)?;
    let y = &x * relax::op("rsqrt", [squares + epsilon]);
    one(c.emit(in_type(y, DType::F32, dtype) * scale)?)
}

/// A row of zeros stays a row of zeros.
fn lp_norm(c: &mut Call<'_, '_>) -> Outputs {
    let p = c.attributes.int_or("p", 2)?;
    let axis = c.attributes.int_or("axis", -1)?;
    let axis = c.axis(axis, c.ndim(0)?)?;
    let dtype = c.dtype(0)?;
    let x = c.var(0)?;
    let over = attrs(&json!({"axis": [axis], "keepdims": true}));
    let norm = match p {
        1 => relax::op_with("sum", [relax::op("abs", [&x])], over),
        2 => relax::op(
            "sqrt",
            [relax::op_with("sum", [relax::op("square", [&x])], over)],
        ),
        other => {
            return Err(Fault::Attribute {
                name: "p".to_owned(),
                given: other.to_string(),
                expected: "1 or 2".to_owned(),
            });
        }
    };
    let norm = c.emit(norm)?;
    let (zero, unit) = (number(0.0, dtype)?, number(1.0, dtype)?);
    let nothing = relax::op("equal", [(&norm).into(), zero]);
    let norm = relax::op("where", [nothing, unit, (&norm).into()]);
    one(c.emit(&x / norm)?)
}

fn mean_variance(c: &mut Call<'_, '_>) -> Outputs {
    let axes = c.attributes.ints("axes")?.unwrap_or_else(|| vec![0, 2, 3]);
    let dtype = c.dtype(0)?;
    let x = c.var(0)?;
    let over = json!({"axis": axes, "keepdims": true});
    let mean = c.op_with("mean", [&x], &over)?;
    let centred = c.emit(&x - &mean)?;
    let variance = relax::op_with("mean", [relax::op("square", [&centred])], attrs(&over));
    let deviation = relax::op("sqrt", [variance]) + number(1e-9, dtype)?;
    one(c.emit(&centred / deviation)?)
}
