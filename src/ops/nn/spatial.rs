//! Operators that move elements: padding, flattening, pixel shuffle, and dropout, which moves none when a network is used.

use crate::ir::graph::dims::Proof;
use crate::ir::graph::{AttrDefault, AttrKind, InferError, OpCall};
use crate::ir::{Expr, ShapeInfo, StructInfo};
use crate::ops::ComputeCall;
use crate::ops::def::{Computed, DATA, OpDef, Pattern, attr};
use crate::ops::rules::{self, tensor_like};
use crate::te;
use crate::topi::extent::{product, quotient, remainder, scaled, shifted, sum};
use crate::topi::{self, pad::Outside};

const MODES: &[&str] = &[
    "constant",
    "reflect",
    "replicate",
    "edge",
    "circular",
    "wrap",
];

pub(in crate::ops) const OPS: &[OpDef] = &[
    OpDef::new("nn.batch_flatten", "all dimensions but the first in one")
        .operands(DATA)
        .infer(flatten_type)
        .compute(flatten)
        .pattern(Pattern::Injective),
    OpDef::new(
        "nn.dropout",
        "the data as it is, and a mask of ones: nothing is dropped outside of training",
    )
    .operands(DATA)
    .attrs(&[attr("rate", AttrKind::Float, AttrDefault::Float(0.5))])
    .infer(|c| Ok(StructInfo::Tuple(vec![c.operands[0].clone(); 2])))
    .compute(dropout)
    .pattern(Pattern::Opaque),
    OpDef::new(
        "nn.pad",
        "elements around the data: before and after each dimension; negative numbers take elements away",
    )
    .operands(DATA)
    .attrs(&[
        attr("pad_width", AttrKind::Ints, AttrDefault::Required),
        attr("pad_mode", AttrKind::Str(MODES), AttrDefault::Str("constant")),
        attr("pad_value", AttrKind::Float, AttrDefault::Float(0.0)),
    ])
    .infer(pad_type)
    .compute(pad)
    .pattern(Pattern::Injective),
    OpDef::new(
        "nn.pixel_shuffle",
        "channels moved into squares of upscale_factor by upscale_factor pixels",
    )
    .operands(DATA)
    .attrs(&[attr("upscale_factor", AttrKind::Int, AttrDefault::Required)])
    .infer(shuffle_type)
    .compute(shuffle)
    .pattern(Pattern::Injective),
];

fn flatten_type(c: &OpCall<'_>) -> rules::Inferred {
    let Some(info) = c.tensor(0)? else {
        return Ok(StructInfo::Object);
    };
    let Some(dims) = info.shape.dims() else {
        return Ok(tensor_like(info, ShapeInfo::Ndim(2), info.dtype));
    };
    let [batch, rest @ ..] = dims else {
        return Err(c.bad_operand(0, "a tensor with dimensions"));
    };
    let shape = ShapeInfo::Known(vec![batch.clone(), topi::volume(rest)]);
    Ok(tensor_like(info, shape, info.dtype))
}

fn flatten(c: &ComputeCall<'_>) -> Computed {
    let x = c.x(0);
    Ok(vec![te::compute(
        c.name(),
        c.result_shape(0).to_vec(),
        |i| {
            let rest = topi::unravel(&i[1], &x.shape()[1..]);
            x.at([i[0].clone()].into_iter().chain(rest))
        },
    )])
}

fn dropout(c: &ComputeCall<'_>) -> Computed {
    let x = c.x(0);
    let ones = Expr::constant(1, x.dtype());
    Ok(vec![x.clone(), topi::full("mask", x.shape(), &ones)])
}

/// Elements before and after each of `ndim` dimensions.
fn pad_width(c: &OpCall<'_>, ndim: usize) -> Result<Vec<(i64, i64)>, InferError> {
    let all = c.ints("pad_width")?.unwrap_or_default();
    if all.len() != 2 * ndim {
        return Err(c.bad_attribute(
            "pad_width",
            "two integers for each dimension: elements before and after it",
        ));
    }
    Ok(all.chunks(2).map(|pair| (pair[0], pair[1])).collect())
}

fn pad_type(c: &OpCall<'_>) -> rules::Inferred {
    let Some(info) = c.tensor(0)? else {
        return Ok(StructInfo::Object);
    };
    let Some(dims) = info.shape.dims() else {
        return rules::identity(c);
    };
    let width = pad_width(c, dims.len())?;
    let constant = c.text("pad_mode")?.is_none_or(|mode| mode == "constant");
    let mut shape = vec![];
    for (extent, &(before, after)) in dims.iter().zip(&width) {
        let more = shifted(extent, before.saturating_add(after));
        if rules::at_least(c, "a padded extent of at least 0", &more, 0) == Proof::No {
            return Err(c.bad_attribute("pad_width", "integers that leave no extent below 0"));
        }
        if !constant && extent.is_zero() && !more.is_zero() {
            return Err(c.bad_operand(0, "a tensor with elements to repeat"));
        }
        shape.push(more);
    }
    Ok(tensor_like(info, ShapeInfo::Known(shape), info.dtype))
}

fn pad(c: &ComputeCall<'_>) -> Computed {
    let x = c.x(0);
    let width = pad_width(c, x.ndim())?;
    let value = c.float("pad_value")?.unwrap_or(0.0);
    let mode = c.text("pad_mode")?.unwrap_or_default();
    let outside = match mode.as_str() {
        "reflect" => Outside::Reflect,
        "replicate" | "edge" => Outside::Nearest,
        "circular" | "wrap" => Outside::Wrap,
        _ => {
            let dtype = x.dtype();
            let value = match dtype.scalar.int_range() {
                Some((low, high)) if !dtype.is_float() => {
                    Expr::int((value as i64).clamp(low, high), dtype)
                }
                _ => Expr::float(value, dtype),
            };
            Outside::Value(value)
        }
    };
    Ok(vec![topi::pad::pad(c.name(), x, &width, &outside)])
}

/// Dimensions before the channels, and the factor.
fn factor(c: &OpCall<'_>, ndim: usize) -> Result<(usize, i64), InferError> {
    let factor = c.int("upscale_factor")?.filter(|&r| r >= 1);
    let factor =
        factor.ok_or_else(|| c.bad_attribute("upscale_factor", "an integer of at least 1"))?;
    match ndim.checked_sub(3) {
        Some(outer) => Ok((outer, factor)),
        None => Err(c.bad_operand(0, "a tensor with at least 3 dimensions")),
    }
}

fn shuffle_type(c: &OpCall<'_>) -> rules::Inferred {
    let Some(info) = c.tensor(0)? else {
        return Ok(StructInfo::Object);
    };
    let Some(dims) = info.shape.dims() else {
        return rules::identity(c)
            .map(|_| tensor_like(info, unknown(info.shape.ndim()), info.dtype));
    };
    let (outer, factor) = factor(c, dims.len())?;
    let square = factor.saturating_mul(factor);
    let channels = &dims[outer];
    let what = "the rest of the channels divided by the squared factor";
    if rules::multiple_of(c, what, channels, &Expr::i64(square)) == Proof::No {
        return Err(c.bad_attribute(
            "upscale_factor",
            "an integer whose square divides the number of channels",
        ));
    }
    let mut shape = dims.to_vec();
    shape[outer] = quotient(channels, &Expr::i64(square));
    for extent in &mut shape[outer + 1..] {
        *extent = scaled(extent, factor);
    }
    Ok(tensor_like(info, ShapeInfo::Known(shape), info.dtype))
}

fn unknown(ndim: Option<usize>) -> ShapeInfo {
    ndim.map_or(ShapeInfo::Unknown, ShapeInfo::Ndim)
}

fn shuffle(c: &ComputeCall<'_>) -> Computed {
    let x = c.x(0);
    let (outer, factor) = factor(c, x.ndim())?;
    let by = Expr::i64(factor);
    Ok(vec![te::compute(
        c.name(),
        c.result_shape(0).to_vec(),
        |i| {
            let [channel, y, column] = &i[outer..] else {
                unreachable!("three dimensions follow the outer ones")
            };
            let mut index = i[..outer].to_vec();
            let within = sum(&product(&remainder(y, &by), &by), &remainder(column, &by));
            let first = product(channel, &Expr::i64(factor.saturating_mul(factor)));
            index.extend([
                sum(&first, &within),
                quotient(y, &by),
                quotient(column, &by),
            ]);
            x.at(index)
        },
    )])
}
