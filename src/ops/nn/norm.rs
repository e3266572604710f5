//! Normalisations.

use crate::ir::graph::dims::Proof;
use crate::ir::graph::{AttrDefault, AttrKind, AttrSpec, InferError, OpCall, Operand};
use crate::ir::{Expr, StructInfo};
use crate::ops::ComputeCall;
use crate::ops::def::{Computed, DATA, DTypes, Layout, OpDef, Pattern, Precision, attr, tensor};
use crate::ops::rules::{self, equal_extents};
use crate::te;
use crate::topi::norm::{self, LocalResponse, Moments};

const EPSILON: AttrSpec = attr("epsilon", AttrKind::Float, AttrDefault::Float(1e-5));
const CENTER: AttrSpec = attr("center", AttrKind::Bool, AttrDefault::Bool(true));
const SCALE: AttrSpec = attr("scale", AttrKind::Bool, AttrDefault::Bool(true));
const AXES: AttrSpec = attr("axes", AttrKind::Ints, AttrDefault::Required);
const CHANNEL_AXIS: AttrSpec = attr("channel_axis", AttrKind::Int, AttrDefault::Required);
const DATA_GAMMA_BETA: &[Operand] = &[tensor("data"), tensor("gamma"), tensor("beta")];

const fn normalisation(
    name: &'static str,
    doc: &'static str,
    compute: fn(&ComputeCall<'_>) -> Computed,
) -> OpDef {
    OpDef::new(name, doc)
        .operands(DATA_GAMMA_BETA)
        .dtypes(DTypes::Float)
        .compute(compute)
        .pattern(Pattern::OutEWiseFusable)
}

pub(in crate::ops) const OPS: &[OpDef] = &[
    normalisation(
        "nn.batch_norm",
        "normalised per channel; the result, running mean and running variance",
        batch_norm,
    )
    .operands(&[
        tensor("data"),
        tensor("gamma"),
        tensor("beta"),
        tensor("moving_mean"),
        tensor("moving_var"),
    ])
    .attrs(&[
        attr("axis", AttrKind::Int, AttrDefault::Required),
        EPSILON,
        CENTER,
        SCALE,
        attr("momentum", AttrKind::Float, AttrDefault::Float(0.1)),
        attr("training", AttrKind::Bool, AttrDefault::Bool(true)),
    ])
    .infer(batch_norm_type)
    .layout(Layout::Axes(&["axis"])),
    normalisation(
        "nn.group_norm",
        "normalised over the axes and over groups of channels",
        group_norm,
    )
    .attrs(&[
        attr("num_groups", AttrKind::Int, AttrDefault::Required),
        CHANNEL_AXIS,
        AXES,
        EPSILON,
        CENTER,
        SCALE,
    ])
    .infer(group_norm_type)
    .layout(Layout::Axes(&["axes", "channel_axis"]))
    .in_precision(Precision::Follow),
    normalisation(
        "nn.instance_norm",
        "normalised over the axes, for each batch and channel",
        instance_norm,
    )
    .attrs(&[CHANNEL_AXIS, AXES, EPSILON, CENTER, SCALE])
    .infer(instance_norm_type)
    .layout(Layout::Axes(&["axes", "channel_axis"]))
    .in_precision(Precision::Follow),
    normalisation("nn.layer_norm", "normalised over the axes", layer_norm)
        .attrs(&[AXES, EPSILON, CENTER, SCALE])
        .infer(layer_norm_type)
        .layout(Layout::Axes(&["axes"]))
        .in_precision(Precision::Follow),
    normalisation(
        "nn.lrn",
        "x / (bias + alpha / size * sum of squares of size neighbours) ** beta",
        lrn,
    )
    .operands(DATA)
    .attrs(&[
        attr("size", AttrKind::Int, AttrDefault::Int(5)),
        attr("axis", AttrKind::Int, AttrDefault::Int(1)),
        attr("bias", AttrKind::Float, AttrDefault::Float(2.0)),
        attr("alpha", AttrKind::Float, AttrDefault::Float(1e-5)),
        attr("beta", AttrKind::Float, AttrDefault::Float(0.75)),
    ])
    .infer(lrn_type),
    normalisation(
        "nn.rms_norm",
        "x * weight / sqrt(mean of squares over the axes)",
        rms_norm,
    )
    .operands(&[tensor("data"), tensor("weight")])
    .attrs(&[
        attr("axes", AttrKind::Ints, AttrDefault::Ints(&[-1])),
        EPSILON,
    ])
    .infer(rms_norm_type)
    .layout(Layout::Axes(&["axes"]))
    .in_precision(Precision::Follow),
];

/// The axes in the order in which they are written: scales have their extents in this order.
fn axes(c: &OpCall<'_>, ndim: usize) -> Result<Vec<usize>, InferError> {
    let axes = c.ints("axes")?.unwrap_or_default();
    let axes = axes.iter().map(|&axis| c.axis(axis, ndim));
    let axes = axes.collect::<Result<Vec<_>, _>>()?;
    let repeated = (1..axes.len()).any(|at| axes[..at].contains(&axes[at]));
    match repeated {
        true => Err(c.bad_attribute("axes", "axes that are there once")),
        false => Ok(axes),
    }
}

/// Checks that the operands from `first` on have the extents of these dimensions of the data, which it returns the type of.
fn check_scales(
    c: &OpCall<'_>,
    first: usize,
    axes: impl FnOnce(usize) -> Result<Vec<usize>, InferError>,
) -> rules::Inferred {
    rules::check_dtype(c, 0)?;
    let Some(data) = c.tensor(0)? else {
        return Ok(StructInfo::Object);
    };
    let Some(dims) = data.shape.dims() else {
        return rules::identity(c);
    };
    let axes = axes(dims.len())?;
    for index in first..c.operands.len() {
        let Some(given) = c.tensor(index)?.and_then(|info| info.shape.dims()) else {
            continue;
        };
        if given.len() != axes.len() {
            let expected = "a tensor with a dimension for each that is scaled";
            return Err(c.bad_operand(index, expected));
        }
        for (&at, extent) in axes.iter().zip(given) {
            let what = "extents of the data and of what scales it";
            equal_extents(c, what, &dims[at], extent)?;
        }
    }
    rules::identity(c)
}

fn batch_norm_type(c: &OpCall<'_>) -> rules::Inferred {
    let data = check_scales(c, 1, |ndim| Ok(vec![rules::axis_of(c, "axis", ndim)?]))?;
    let [_, _, _, mean, variance] = c.operands else {
        return Ok(StructInfo::Object);
    };
    Ok(StructInfo::Tuple(vec![
        data,
        mean.clone(),
        variance.clone(),
    ]))
}

fn layer_norm_type(c: &OpCall<'_>) -> rules::Inferred {
    check_scales(c, 1, |ndim| axes(c, ndim))
}

fn rms_norm_type(c: &OpCall<'_>) -> rules::Inferred {
    check_scales(c, 1, |ndim| axes(c, ndim))
}

fn instance_norm_type(c: &OpCall<'_>) -> rules::Inferred {
    check_scales(c, 1, |ndim| {
        axes(c, ndim)?;
        Ok(vec![rules::axis_of(c, "channel_axis", ndim)?])
    })
}

fn group_norm_type(c: &OpCall<'_>) -> rules::Inferred {
    let groups = c.int("num_groups")?.filter(|&n| n >= 1);
    let groups = groups.ok_or_else(|| c.bad_attribute("num_groups", "an integer of at least 1"))?;
    if let Some(dims) = c.tensor(0)?.and_then(|info| info.shape.dims()) {
        let channels = &dims[rules::axis_of(c, "channel_axis", dims.len())?];
        let what = "the rest of the channels divided by the groups";
        if rules::multiple_of(c, what, channels, &Expr::i64(groups)) == Proof::No {
            return Err(c.bad_attribute("num_groups", "a number that divides the channels"));
        }
    }
    instance_norm_type(c)
}

/// The operands that scale and shift the data, where the attributes want them.
fn scales<'a>(
    c: &'a ComputeCall<'_>,
) -> Result<(Option<&'a te::Tensor>, Option<&'a te::Tensor>), InferError> {
    let scale = c.flag("scale")?.then(|| c.x(1));
    let shift = c.flag("center")?.then(|| c.x(2));
    Ok((scale, shift))
}

fn epsilon(c: &ComputeCall<'_>) -> Result<f64, InferError> {
    Ok(c.float("epsilon")?.unwrap_or(1e-5))
}

/// The data normalised by its moments, scaled and shifted along `scaled`.
fn finish(c: &ComputeCall<'_>, moments: &Moments<'_>, scaled: &[usize]) -> Computed {
    let (scale, shift) = scales(c)?;
    let (x, epsilon) = (c.x(0), epsilon(c)?);
    Ok(vec![te::compute(c.name(), x.shape().to_vec(), |i| {
        let normalized = moments.normalized(i, epsilon);
        norm::affine(normalized, i, scaled, scale, shift).cast(x.dtype())
    })])
}

fn batch_norm(c: &ComputeCall<'_>) -> Computed {
    let (x, mean, variance) = (c.x(0), c.x(3), c.x(4));
    let axis = rules::axis_of(c, "axis", x.ndim())?;
    if c.flag("training")? {
        let others: Vec<usize> = (0..x.ndim()).filter(|&at| at != axis).collect();
        let moments = Moments::new(c.name(), x, &others, None);
        let momentum = c.float("momentum")?.unwrap_or(0.1);
        let running = |name: &str, old: &te::Tensor, new: &dyn Fn(&[Expr]) -> Expr| {
            te::compute(name, old.shape().to_vec(), |i| {
                let mut at = vec![Expr::i64(0); x.ndim()];
                at[axis] = i[0].clone();
                let new = new(&at);
                let float = |v: f64| Expr::float(v, new.dtype());
                let kept = old.at(i).cast(new.dtype()) * float(1.0 - momentum);
                (kept + new.clone() * float(momentum)).cast(old.dtype())
            })
        };
        let mut results = finish(c, &moments, &[axis])?;
        results.push(running("moving_mean_new", mean, &|at| moments.mean(at)));
        results.push(running("moving_var_new", variance, &|at| {
            moments.variance(at)
        }));
        return Ok(results);
    }
    let (scale, shift) = scales(c)?;
    let epsilon = epsilon(c)?;
    let wide = crate::topi::accumulator(x.dtype());
    let normalized = te::compute(c.name(), x.shape().to_vec(), |i| {
        let of = |tensor: &te::Tensor| tensor.at([&i[axis]]).cast(wide);
        let deviation = norm::rsqrt(of(variance) + Expr::float(epsilon, wide));
        let normalized = (x.at(i).cast(wide) - of(mean)) * deviation;
        norm::affine(normalized, i, &[axis], scale, shift).cast(x.dtype())
    });
    Ok(vec![normalized, mean.clone(), variance.clone()])
}

fn layer_norm(c: &ComputeCall<'_>) -> Computed {
    let axes = axes(c, c.x(0).ndim())?;
    let moments = Moments::new(c.name(), c.x(0), &axes, None);
    finish(c, &moments, &axes)
}

fn instance_norm(c: &ComputeCall<'_>) -> Computed {
    let ndim = c.x(0).ndim();
    let (axes, channel) = (axes(c, ndim)?, rules::axis_of(c, "channel_axis", ndim)?);
    let moments = Moments::new(c.name(), c.x(0), &axes, None);
    finish(c, &moments, &[channel])
}

fn group_norm(c: &ComputeCall<'_>) -> Computed {
    let ndim = c.x(0).ndim();
    let (mut axes, channel) = (axes(c, ndim)?, rules::axis_of(c, "channel_axis", ndim)?);
    axes.retain(|&at| at != channel);
    let groups = c.int("num_groups")?.unwrap_or(1);
    let moments = Moments::new(c.name(), c.x(0), &axes, Some((channel, groups)));
    finish(c, &moments, &[channel])
}

fn rms_norm(c: &ComputeCall<'_>) -> Computed {
    let axes = axes(c, c.x(0).ndim())?;
    let (x, weight) = (c.x(0), c.x(1));
    Ok(vec![norm::rms_norm(
        c.name(),
        x,
        weight,
        &axes,
        epsilon(c)?,
    )])
}

/// The number of neighbours of a local response.
fn lrn_size(c: &OpCall<'_>) -> Result<i64, InferError> {
    let size = c.int("size")?.filter(|&n| n >= 1);
    size.ok_or_else(|| c.bad_attribute("size", "an integer of at least 1"))
}

fn lrn_type(c: &OpCall<'_>) -> rules::Inferred {
    lrn_size(c)?;
    if let Some(ndim) = c.tensor(0)?.and_then(|info| info.shape.ndim()) {
        rules::axis_of(c, "axis", ndim)?;
    }
    rules::same(c)
}

fn lrn(c: &ComputeCall<'_>) -> Computed {
    let axis = rules::axis_of(c, "axis", c.x(0).ndim())?;
    let size = lrn_size(c)?;
    let float = |name| Ok(c.float(name)?.unwrap_or_default());
    let of = LocalResponse {
        bias: float("bias")?,
        alpha: float("alpha")?,
        beta: float("beta")?,
    };
    Ok(vec![norm::lrn(c.name(), c.x(0), axis, size, &of)])
}
