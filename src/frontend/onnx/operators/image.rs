//! Resizing and sampling of images.

use super::pieces::volume;
use serde_json::json;

use super::Operator;
use crate::frontend::onnx::call::{Call, Outputs, attrs, cast, one, shown};
use crate::frontend::onnx::error::Fault;
use crate::ir::Expr as Size;
use crate::relax::{self, Var};
use crate::tensor::DType;

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("AffineGrid", &[20], affine_grid),
    Operator::new("GridSample", &[16, 20, 22], grid_sample)
        .note("images of two or three dimensions; `cubic` only of two"),
    Operator::new("Resize", &[10, 11, 13, 18, 19], resize).note(
        "scales and regions that follow from the model; of integers at most three dimensions change, but for `nearest`",
    ),
    Operator::new("Upsample", &[7, 9, 10], upsample).note(
        "scales that follow from the model; of integers at most three dimensions change, but for `nearest`",
    ),
];

/// The new extents of the axes, and the scales where those are what is given.
struct Target {
    sizes: Vec<Size>,
    scales: Option<Vec<f64>>,
}

/// Most axes that one operator resizes.
const AT_ONCE: usize = 3;

/// How elements between those of the tensor are found.
struct Sampling {
    /// Whether an element is one of the tensor.
    nearest: bool,
    /// Attributes of the operator that are the same for all axes.
    attributes: serde_json::Value,
    /// Where the region of each axis begins, then where each ends.
    roi: Option<Vec<f64>>,
}

fn resize(c: &mut Call<'_, '_>) -> Outputs {
    let dims = c.dims(0)?;
    let rank = dims.len();
    let axes = match c.attributes.ints("axes")? {
        Some(axes) => axes
            .iter()
            .map(|&axis| c.axis(axis, rank))
            .collect::<Result<Vec<_>, _>>()?,
        None => (0..rank).collect(),
    };
    let (scales_at, sizes_at) = if c.version < 11 { (1, 3) } else { (2, 3) };
    let given = |c: &Call<'_, '_>, index: usize| {
        c.has(index)
            && c.known(index)
                .is_none_or(|known| !known.elements.is_empty())
    };
    let target = if c.version >= 11 && given(c, sizes_at) {
        let sizes = c.sizes(sizes_at)?;
        let policies = ["stretch", "not_larger", "not_smaller"];
        let policy = c
            .attributes
            .one_of("keep_aspect_ratio_policy", "stretch", &policies)?;
        kept_aspect(c, &axes, sizes, policy)?
    } else {
        c.attributes.ignore("keep_aspect_ratio_policy");
        let scales = c.floats(scales_at)?;
        scaled(c, &axes, scales, scales_at)?
    };
    resized(c, &axes, target)
}

fn upsample(c: &mut Call<'_, '_>) -> Outputs {
    let rank = c.ndim(0)?;
    let axes: Vec<usize> = (0..rank).collect();
    let scales = match c.version {
        ..9 => c.attributes.floats("scales")?.unwrap_or_default(),
        _ => c.floats(1)?,
    };
    let target = scaled(c, &axes, scales, 1)?;
    resized(c, &axes, target)
}

/// `index` is the operand that has the scales.
fn scaled(
    c: &mut Call<'_, '_>,
    axes: &[usize],
    scales: Vec<f64>,
    index: usize,
) -> Result<Target, Fault> {
    if scales.len() != axes.len() {
        return Err(c.bad(
            index,
            format!("{} scales", scales.len()),
            format!(
                "{} scales, one for each dimension that is resized",
                axes.len()
            ),
        ));
    }
    if let Some(scale) = scales.iter().find(|&&scale| scale.is_nan() || scale <= 0.0) {
        let given = format!("a tensor with a scale of {scale}");
        return Err(c.bad(index, given, "a tensor of scales above 0"));
    }
    let dims = c.dims(0)?;
    let mut sizes = vec![];
    for (&axis, &scale) in axes.iter().zip(&scales) {
        sizes.push(match dims[axis].as_int() {
            Some(extent) => Size::i64((extent as f32 * scale as f32).floor() as i64),
            None => scaled_size(c, &dims[axis], scale, index)?,
        });
    }
    Ok(Target {
        sizes,
        scales: Some(scales),
    })
}

/// Largest numerator of a scale that kernels see; products of extents with larger ones may exceed the integers of a GPU.
const SMALL: i64 = 1 << 12;

/// A symbolic extent times a scale, in float32 and rounded down. A scale is a whole number of some `2^-n`; the product is exact where
/// that is a small one.
fn scaled_size(
    c: &mut Call<'_, '_>,
    extent: &Size,
    scale: f64,
    index: usize,
) -> Result<Size, Fault> {
    let (mut numerator, mut denominator) = (scale, 1i64);
    while numerator.fract() != 0.0 && denominator < 1 << 40 {
        numerator *= 2.0;
        denominator *= 2;
    }
    if !(numerator.fract() == 0.0 && 0.0 < numerator && numerator < (1i64 << 31) as f64) {
        return Err(c.bad(
            index,
            format!("a scale of {scale}"),
            "a scale between 2^-16 and 2^31",
        ));
    }
    let numerator = numerator as i64;
    if numerator <= SMALL {
        let size = (extent * Size::i64(numerator)).floor_div(denominator);
        return Ok(c.importer.arith.simplify(&size));
    }
    let product = extent.cast(DType::I64) * numerator;
    let size = (&product + half_of_last_bit(extent, numerator, denominator)).floor_div(denominator);
    let shape = c.emit(relax::shape([size]))?;
    let mut sizes = c.symbols(&shape, 1)?;
    Ok(sizes.remove(0))
}

/// What is added to `extent * numerator` so that its quotient rounded down is that of the product in float32, which has 24 bits and is
/// rounded to the nearest: half of its last bit.
fn half_of_last_bit(extent: &Size, numerator: i64, denominator: i64) -> Size {
    let extent = extent.cast(DType::I64);
    (1..24).fold(Size::i64(denominator >> 24), |half, bits| {
        let least = (denominator << bits).div_euclid(numerator) + 1;
        let half_here = Size::i64((denominator << bits) >> 24);
        Size::select(extent.lt(least), half, half_here)
    })
}

/// Sizes that keep the proportions of the axes, where that is asked for.
fn kept_aspect(
    c: &Call<'_, '_>,
    axes: &[usize],
    sizes: Vec<Size>,
    policy: &str,
) -> Result<Target, Fault> {
    if sizes.len() != axes.len() {
        return Err(c.bad(
            3,
            format!("{} sizes", sizes.len()),
            format!(
                "{} sizes, one for each dimension that is resized",
                axes.len()
            ),
        ));
    }
    if policy == "stretch" {
        return Ok(Target {
            sizes,
            scales: None,
        });
    }
    let known: Option<Vec<i64>> = sizes.iter().map(Size::as_int).collect();
    let sizes = known.ok_or_else(|| c.bad(3, "computed", "known when the model is imported"))?;
    let extents = axes.iter().map(|&axis| c.dim(0, axis));
    let extents = extents.collect::<Result<Vec<i64>, Fault>>()?;
    let ratios = sizes
        .iter()
        .zip(&extents)
        .map(|(&size, &extent)| size as f64 / extent as f64);
    let ratio = match policy {
        "not_larger" => ratios.fold(f64::INFINITY, f64::min),
        _ => ratios.fold(0.0, f64::max),
    };
    let sizes = extents
        .iter()
        .map(|&extent| (ratio * extent as f64 + 0.5).floor() as i64);
    Ok(Target {
        sizes: sizes.map(Size::i64).collect(),
        scales: Some(vec![ratio; axes.len()]),
    })
}

/// How the node samples its tensor along these axes.
fn sampling(c: &Call<'_, '_>, axes: &[usize]) -> Result<Sampling, Fault> {
    let methods = ["nearest", "linear", "cubic"];
    let method = c.attributes.one_of("mode", "nearest", &methods)?;
    let modes = [
        "half_pixel",
        "half_pixel_symmetric",
        "pytorch_half_pixel",
        "align_corners",
        "asymmetric",
        "tf_half_pixel_for_nn",
        "tf_crop_and_resize",
    ];
    let old = c.version < 11;
    let mode = match old {
        true => "asymmetric",
        false => c
            .attributes
            .one_of("coordinate_transformation_mode", "half_pixel", &modes)?,
    };
    let rounding = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"];
    let rounding = match old {
        // Downwards, but for axes that shrink.
        true => "floor",
        false => c
            .attributes
            .one_of("nearest_mode", "round_prefer_floor", &rounding)?,
    };
    let cubic_alpha = c.attributes.float_or("cubic_coeff_a", -0.75)?;
    let exclude = c.attributes.int_within("exclude_outside", 0, 0..=1)?;
    let extrapolation = c.attributes.float_or("extrapolation_value", 0.0)?;
    let antialias = c.attributes.flag("antialias", false)?;
    let roi = match mode == "tf_crop_and_resize" {
        true => match c.floats(1)? {
            roi if roi.len() == 2 * axes.len() => Some(roi),
            roi => {
                return Err(c.bad(
                    1,
                    format!("{} numbers", roi.len()),
                    format!("{} numbers", 2 * axes.len()),
                ));
            }
        },
        false => None,
    };
    let attributes = json!({
        "method": if method == "nearest" { "nearest_neighbor" } else { method },
        "coordinate_transformation_mode": mode,
        "rounding_method": rounding,
        "cubic_alpha": cubic_alpha,
        "cubic_exclude": exclude,
        "extrapolation_value": extrapolation,
        "antialias": antialias,
    });
    Ok(Sampling {
        nearest: method == "nearest",
        attributes,
        roi,
    })
}

/// Resizes the axes that change. They do not depend on each other, so of many some are resized first.
fn resized(c: &mut Call<'_, '_>, axes: &[usize], target: Target) -> Outputs {
    let dims = c.dims(0)?;
    let sampling = sampling(c, axes)?;
    let changes = |at: usize| {
        let same = c
            .importer
            .arith
            .can_prove_equal(&dims[axes[at]], &target.sizes[at]);
        // A region that is all of an axis changes as little as a scale of 1.
        match &sampling.roi {
            Some(roi) => !(same && roi[at] == 0.0 && roi[axes.len() + at] == 1.0),
            None => {
                let scales = target.scales.as_ref();
                !(same && scales.is_none_or(|scales| scales[at] == 1.0))
            }
        }
    };
    let mut moving: Vec<usize> = (0..axes.len()).filter(|&at| changes(at)).collect();
    // Before version 11, the nearest elements of axes that shrink are those above.
    let old = c.version < 11 && sampling.nearest;
    let scales = target.scales.as_deref().filter(|_| old);
    let upwards = |at: usize| scales.is_some_and(|scales| scales[at] < 1.0);
    moving.sort_by_key(|&at| (upwards(at), axes[at]));
    // A row of integers would be rounded after each step.
    let dtype = c.dtype(0)?;
    let exact = sampling.nearest || dtype.is_float();
    let rounded_last = moving.len() > AT_ONCE && !exact;
    if rounded_last {
        let x = c.x(0)?;
        c.inputs[0] = c.emit(cast(x, DType::F32))?.into();
    }
    let alike = moving.chunk_by(|&a, &b| upwards(a) == upwards(b));
    for some in alike.flat_map(|alike| alike.chunks(AT_ONCE)) {
        let mut attributes = sampling.attributes.clone();
        if upwards(some[0]) {
            attributes["rounding_method"] = json!("ceil");
        }
        let own: Vec<usize> = some.iter().map(|&at| axes[at]).collect();
        let pick = |all: &[f64]| some.iter().map(|&at| all[at]).collect::<Vec<f64>>();
        let target = Target {
            sizes: some.iter().map(|&at| target.sizes[at].clone()).collect(),
            scales: target.scales.as_deref().map(pick),
        };
        let roi = sampling.roi.as_deref();
        let roi = roi.map(|roi| [pick(roi), pick(&roi[axes.len()..])].concat());
        c.inputs[0] = resized_at_once(c, &own, &target, attributes, roi)?.into();
    }
    if rounded_last {
        let x = c.x(0)?;
        c.inputs[0] = c.emit(cast(x, dtype))?.into();
    }
    Ok(c.inputs.drain(..1).collect())
}

/// Resizes up to three axes, which the others are moved before.
fn resized_at_once(
    c: &mut Call<'_, '_>,
    axes: &[usize],
    target: &Target,
    mut attributes: serde_json::Value,
    roi: Option<Vec<f64>>,
) -> Result<Var, Fault> {
    let dims = c.dims(0)?;
    // All spatial axes, where there is no need to move any: results of kernels are then as one expects.
    let spatial_first = dims.len() > 2 && axes.iter().all(|&axis| axis >= 2) && dims.len() <= 5;
    let moved: Vec<usize> = match spatial_first {
        true => (2..dims.len()).collect(),
        false => axes.to_vec(),
    };
    let rest: Vec<usize> = (0..dims.len())
        .filter(|axis| !moved.contains(axis))
        .collect();
    let place = |axis: usize| axes.iter().position(|&a| a == axis);
    let size_of = |axis: usize| match place(axis) {
        Some(at) => target.sizes[at].clone(),
        None => dims[axis].clone(),
    };
    let mut x = c.x(0)?;
    if !spatial_first {
        let order: Vec<usize> = rest.iter().chain(&moved).copied().collect();
        x = relax::op_with("permute_dims", [x], attrs(&json!({"axes": order})));
        let flat = volume(rest.iter().map(|&axis| &dims[axis]));
        let inner = moved.iter().map(|&axis| dims[axis].clone());
        let shape: Vec<Size> = [Size::i64(1), flat].into_iter().chain(inner).collect();
        x = relax::op("reshape", [x, relax::shape(shape)]);
    }
    let sizes: Vec<Size> = moved.iter().map(|&axis| size_of(axis)).collect();
    let scales = target.scales.as_ref().map(|scales| {
        let scale = moved
            .iter()
            .map(|&axis| place(axis).map_or(1.0, |at| scales[at]));
        scale.collect::<Vec<f64>>()
    });
    let roi = roi.map(|roi| {
        let part = |start: usize| {
            let of = |axis| place(axis).map_or(start as f64, |at| roi[start * axes.len() + at]);
            moved.iter().map(|&axis| of(axis)).collect::<Vec<f64>>()
        };
        [part(0), part(1)].concat()
    });
    let count = moved.len();
    attributes["layout"] = json!(["NCW", "NCHW", "NCDHW"][count - 1]);
    attributes["scales"] = json!(scales);
    attributes["roi"] = json!(roi);
    let y = c.op_with(
        &format!("image.resize{count}d"),
        [x, relax::shape(sizes.clone())],
        &attributes,
    )?;
    if spatial_first {
        return Ok(y);
    }
    let order: Vec<usize> = rest.iter().chain(&moved).copied().collect();
    let wide = rest.iter().map(|&axis| dims[axis].clone()).chain(sizes);
    let y = c.reshaped(&y, wide.collect::<Vec<_>>())?;
    let back: Vec<usize> = (0..dims.len())
        .map(|axis| order.iter().position(|&a| a == axis).unwrap_or(axis))
        .collect();
    c.op_with("permute_dims", [&y], &json!({"axes": back}))
}

fn grid_sample(c: &mut Call<'_, '_>) -> Outputs {
    let known = ["linear", "bilinear", "nearest", "cubic", "bicubic"];
    let default = if c.version < 20 { "bilinear" } else { "linear" };
    let method = match c.attributes.one_of("mode", default, &known)? {
        "linear" => "bilinear",
        "cubic" => "bicubic",
        other => other,
    };
    let padding = ["zeros", "border", "reflection"];
    let rank = c.ndim(0)?;
    if !(4..=5).contains(&rank) {
        return Err(c.bad(0, shown(&c.dims(0)?), "a tensor of four or five dimensions"));
    }
    let attributes = json!({
        "method": method,
        "padding_mode": c.attributes.one_of("padding_mode", "zeros", &padding)?,
        "align_corners": c.attributes.flag("align_corners", false)?,
        "layout": if rank == 5 { "NCDHW" } else { "NCHW" },
    });
    // The graph's grid has the coordinates before the positions.
    let axes: Vec<usize> = std::iter::once(0)
        .chain([rank - 1])
        .chain(1..rank - 1)
        .collect();
    let (x, grid) = (c.x(0)?, c.x(1)?);
    let grid = relax::op_with("permute_dims", [grid], attrs(&json!({"axes": axes})));
    one(c.op_with("image.grid_sample", [x, grid], &attributes)?)
}

fn affine_grid(c: &mut Call<'_, '_>) -> Outputs {
    let corners = c.attributes.flag("align_corners", false)?;
    let size = c.sizes(1)?;
    let x = c.x(0)?;
    let spatial: Vec<Size> = size[2.min(size.len())..].to_vec();
    let grid = c.op_with(
        "image.affine_grid",
        [x, relax::shape(spatial)],
        &json!({"align_corners": corners}),
    )?;
    let rank = size.len();
    let axes: Vec<usize> = std::iter::once(0).chain(2..rank).chain([1]).collect();
    one(c.op_with("permute_dims", [&grid], &json!({"axes": axes}))?)
}
