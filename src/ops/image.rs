//! Operators of images (`R.image.*`).

use super::ComputeCall;
use super::def::{Computed, DTypes, Layout, OpDef, Pattern, attr, operand, tensor};
use super::nn::window;
use super::rules::{self, dims_of, equal_extents, tensor_like};
use crate::ir::graph::dims::Proof;
use crate::ir::graph::{AttrDefault, AttrKind, AttrSpec, InferError, OpCall, Operand, OperandKind};
use crate::ir::{AttrValue, Expr, ShapeInfo, StructInfo};
use crate::te;
use crate::tensor::DType;
use crate::topi::resize::{self, Method, Resize, Rounding, Transform};
use crate::topi::sample::{self, Beyond, Corners, Sampling};
use crate::topi::window::Positions;

const SIZED: &[Operand] = &[tensor("data"), operand("size", OperandKind::Shape)];

const METHODS: &[&str] = &["nearest_neighbor", "linear", "cubic"];
const TRANSFORMS: &[&str] = &[
    "half_pixel",
    "half_pixel_symmetric",
    "align_corners",
    "asymmetric",
    "pytorch_half_pixel",
    "tf_half_pixel_for_nn",
    "tf_crop_and_resize",
];
const ROUNDINGS: &[&str] = &[
    // As the coordinates ask for: "round" of aligned corners, else "floor".
    "",
    "round",
    "round_prefer_floor",
    "round_prefer_ceil",
    "floor",
    "ceil",
];

const fn resize_attrs(
    layout: &'static str,
    roi: &'static [f64],
    rounding: AttrDefault,
) -> [AttrSpec; 11] {
    [
        attr("roi", AttrKind::Floats, AttrDefault::Floats(roi)),
        attr("layout", AttrKind::Str(&[]), AttrDefault::Str(layout)),
        attr("method", AttrKind::Str(METHODS), AttrDefault::Str("linear")),
        attr(
            "coordinate_transformation_mode",
            AttrKind::Str(TRANSFORMS),
            AttrDefault::Str("half_pixel"),
        ),
        attr("rounding_method", AttrKind::Str(ROUNDINGS), rounding),
        attr("cubic_alpha", AttrKind::Float, AttrDefault::Float(-0.75)),
        attr("cubic_exclude", AttrKind::Int, AttrDefault::Int(0)),
        attr(
            "extrapolation_value",
            AttrKind::Float,
            AttrDefault::Float(0.0),
        ),
        attr("out_dtype", AttrKind::DType, AttrDefault::None),
        attr("scales", AttrKind::Floats, AttrDefault::None),
        attr("antialias", AttrKind::Bool, AttrDefault::Bool(false)),
    ]
}

const RESIZE_1D: &[AttrSpec] = &resize_attrs("NCW", &[0.0; 2], AttrDefault::Str("round"));
const RESIZE_2D: &[AttrSpec] = &resize_attrs("NCHW", &[0.0; 4], AttrDefault::Str("round"));
const RESIZE_3D: &[AttrSpec] = &resize_attrs("NCDHW", &[0.0; 6], AttrDefault::None);

const fn resizing(name: &'static str, doc: &'static str) -> OpDef {
    OpDef::new(name, doc)
        .operands(SIZED)
        .dtypes(DTypes::Numeric)
        .pattern(Pattern::Injective)
        .layout(Layout::Attributes {
            data: "layout",
            kernel: None,
            out: None,
        })
}

pub(super) const OPS: &[OpDef] = &[
    OpDef::new(
        "image.affine_grid",
        "coordinates between -1 and 1 for each pixel, moved by a matrix",
    )
    .operands(SIZED)
    .attrs(&[attr(
        "align_corners",
        AttrKind::Bool,
        AttrDefault::Bool(true),
    )])
    .dtypes(DTypes::Float)
    .infer(affine_grid_type)
    .compute(|c| {
        let shape = c.result_shape(0);
        Ok(vec![sample::affine_grid(
            c.name(),
            c.x(0),
            shape,
            corners(c)?,
        )])
    })
    .pattern(Pattern::Injective),
    OpDef::new(
        "image.grid_sample",
        "the data at coordinates between -1 and 1",
    )
    .operands(&[tensor("data"), tensor("grid")])
    .attrs(&[
        attr(
            "method",
            AttrKind::Str(&["bilinear", "nearest", "bicubic"]),
            AttrDefault::Str("bilinear"),
        ),
        attr(
            "layout",
            AttrKind::Str(&["NCHW", "NCDHW"]),
            AttrDefault::Str("NCHW"),
        ),
        attr(
            "padding_mode",
            AttrKind::Str(&["zeros", "border", "reflection"]),
            AttrDefault::Str("zeros"),
        ),
        attr("align_corners", AttrKind::Bool, AttrDefault::Bool(false)),
    ])
    .dtypes(DTypes::Float)
    .infer(grid_sample_type)
    .compute(grid_sample)
    .pattern(Pattern::Injective),
    resizing("image.resize1d", "a signal in another size")
        .attrs(RESIZE_1D)
        .infer(|c| resize_type(c, 1))
        .compute(|c| resize_of(c, 1)),
    resizing("image.resize2d", "an image in another size")
        .attrs(RESIZE_2D)
        .infer(|c| resize_type(c, 2))
        .compute(|c| resize_of(c, 2)),
    resizing("image.resize3d", "a volume in another size")
        .attrs(RESIZE_3D)
        .infer(|c| resize_type(c, 3))
        .compute(|c| resize_of(c, 3)),
];

fn layout(c: &OpCall<'_>, spatial: usize) -> Result<Positions, InferError> {
    window::layout(c, "layout", ['N', 'C'], spatial)
}

/// The extents in the operand `size`, one for each spatial dimension; `None` where they are not known.
fn sizes(c: &OpCall<'_>, spatial: usize) -> Result<Option<Vec<Expr>>, InferError> {
    let size = c.shape(1);
    match (size.ndim(), size.dims()) {
        (Some(n), _) if n != spatial => {
            Err(c.bad_operand(1, "a shape with an extent for each spatial dimension"))
        }
        (_, dims) => Ok(dims.map(<[Expr]>::to_vec)),
    }
}

fn resize_type(c: &OpCall<'_>, spatial: usize) -> rules::Inferred {
    rules::check_dtype(c, 0)?;
    let Some(data) = c.tensor(0)? else {
        return Ok(StructInfo::Object);
    };
    let dtype = c.dtype("out_dtype")?.or(data.dtype);
    let layout = layout(c, spatial)?;
    let dims = window::dims(c, 0, &layout)?;
    let size = sizes(c, spatial)?;
    let (Some(dims), Some(size)) = (dims, size) else {
        return Ok(tensor_like(data, ShapeInfo::Ndim(layout.ndim()), dtype));
    };
    let mut shape = dims.to_vec();
    for (&at, size) in layout.spatial.iter().zip(size) {
        has_pixels(c, &dims[at], &size)?;
        shape[at] = size;
    }
    Ok(tensor_like(data, ShapeInfo::Known(shape), dtype))
}

/// The numbers in an attribute, which are so many; nothing if it is absent.
fn numbers(
    c: &OpCall<'_>,
    name: &'static str,
    count: usize,
) -> Result<Option<Vec<f64>>, InferError> {
    let wrong = || c.bad_attribute(name, "as many numbers as there are spatial dimensions");
    let items = match c.attr(name) {
        None => return Ok(None),
        Some(AttrValue::List(items)) if items.len() == count => items,
        Some(_) => return Err(wrong()),
    };
    let number = |item: &AttrValue| match item {
        AttrValue::Float(v) => Some(*v),
        AttrValue::Expr(e) => e.as_float().or(e.as_int().map(|v| v as f64)),
        other => other.as_int().map(|v| v as f64),
    };
    let numbers = items.iter().map(number).collect::<Option<_>>();
    numbers.ok_or_else(wrong).map(Some)
}

/// The numbers in `roi`: all starts, then all ends; `spatial` of each.
fn region(c: &OpCall<'_>, spatial: usize) -> Result<Vec<(f64, f64)>, InferError> {
    let numbers = numbers(c, "roi", 2 * spatial)?;
    let numbers = numbers.unwrap_or_else(|| vec![0.0; 2 * spatial]);
    Ok((0..spatial)
        .map(|at| (numbers[at], numbers[at + spatial]))
        .collect())
}

fn resize_of(c: &ComputeCall<'_>, spatial: usize) -> Computed {
    let mode = c
        .text("coordinate_transformation_mode")?
        .unwrap_or_default();
    let transform = |(start, end)| {
        Ok(match mode.as_str() {
            "half_pixel" => Transform::HalfPixel,
            "half_pixel_symmetric" => Transform::HalfPixelSymmetric,
            "align_corners" => Transform::AlignCorners,
            "asymmetric" => Transform::Asymmetric,
            "pytorch_half_pixel" => Transform::PytorchHalfPixel,
            "tf_half_pixel_for_nn" => Transform::TfHalfPixelForNn,
            "tf_crop_and_resize" => Transform::Crop { start, end },
            _ => {
                return Err(c.bad_attribute(
                    "coordinate_transformation_mode",
                    "the name of a transformation of coordinates",
                ));
            }
        })
    };
    let regions = region(c, spatial)?.into_iter();
    let transforms = regions.map(transform).collect::<Result<_, InferError>>()?;
    let rounding = match c.text("rounding_method")?.as_deref() {
        Some("round") => Rounding::Even,
        Some("round_prefer_floor") => Rounding::PreferFloor,
        Some("round_prefer_ceil") => Rounding::PreferCeil,
        Some("floor") => Rounding::Floor,
        Some("ceil") => Rounding::Ceil,
        Some("") | None if mode == "align_corners" => Rounding::Even,
        Some("") | None => Rounding::Floor,
        Some(_) => return Err(c.bad_attribute("rounding_method", "the name of a rounding")),
    };
    let method = match c.text("method")?.as_deref() {
        Some("nearest_neighbor") => Method::Nearest(rounding),
        Some("linear") => Method::Linear,
        Some("cubic") => Method::Cubic {
            alpha: c.float("cubic_alpha")?.unwrap_or(-0.75),
        },
        _ => return Err(c.bad_attribute("method", "the name of a method")),
    };
    let exclude_outside = c.flag("cubic_exclude")?;
    let layout = layout(c, spatial)?;
    let shape = c.result_shape(0);
    let extents = layout.spatial.iter().map(|&axis| {
        let constant = |shape: &[Expr]| shape[axis].as_int();
        constant(c.x(0).shape()).zip(constant(shape))
    });
    let extents: Vec<Option<(i64, i64)>> = extents.collect();
    let scales = scales(c, &extents)?;
    if shape.iter().any(Expr::is_zero) {
        // Coordinates are divided by extents.
        let nothing = Expr::constant(0, c.result_dtype(0));
        return Ok(vec![te::compute(c.name(), shape.to_vec(), |_| nothing)]);
    }
    let antialias = c.flag("antialias")?;
    if antialias && (matches!(method, Method::Nearest(_)) || mode == "tf_crop_and_resize") {
        return Err(c.bad_attribute(
            "antialias",
            "False for the method nearest_neighbor and for tf_crop_and_resize",
        ));
    }
    if antialias
        && scales
            .iter()
            .flatten()
            .any(|scale| scale.is_nan() || *scale <= LEAST_SCALE)
    {
        return Err(c.bad_attribute("scales", "greater than 0.001 where antialias is True"));
    }
    let of = Resize {
        layout,
        transforms,
        scales,
        method,
        exclude_outside,
        extrapolation: c.float("extrapolation_value")?.unwrap_or(0.0),
        dtype: c.result_dtype(0),
    };
    let resized = match antialias {
        true => resize::resize_antialiased(c.name(), c.x(0), shape, &of),
        false => resize::resize(c.name(), c.x(0), shape, &of),
    };
    Ok(vec![resized])
}

/// The reciprocal of as many elements as filters reach over, whatever the image: scales are numbers of the program.
const LEAST_SCALE: f64 = 1e-3;

/// Checks that an extent of an image of which `size` elements are made is at least 1, with an obligation where the values of
/// variables decide.
fn has_pixels(c: &OpCall<'_>, extent: &Expr, size: &Expr) -> Result<(), InferError> {
    if size.is_zero() || extent.as_int().is_some_and(|extent| extent > 0) {
        return Ok(());
    }
    let one = Expr::i64(1);
    let mut pixels = rules::simple(&extent.cast(DType::I64).min(&one));
    if size.as_int().is_none() {
        pixels = Expr::select(size.cast(DType::I64).equals(0), one.clone(), pixels);
    }
    match c.compare("pixels of an image", &pixels, &one) {
        Proof::No => Err(c.bad_operand(0, "an image with pixels")),
        Proof::Yes | Proof::Unknown => Ok(()),
    }
}

/// The scales that are given and are no ratio of the extents, which are those of data and result where they are constant.
fn scales(c: &OpCall<'_>, extents: &[Option<(i64, i64)>]) -> Result<Vec<Option<f64>>, InferError> {
    let Some(given) = numbers(c, "scales", extents.len())? else {
        return Ok(vec![None; extents.len()]);
    };
    if given
        .iter()
        .any(|scale| !scale.is_finite() || *scale <= 0.0)
    {
        return Err(c.bad_attribute("scales", "finite numbers above 0"));
    }
    let own = |(scale, extents): (f64, &Option<(i64, i64)>)| {
        let is_ratio = extents.is_some_and(|(n, m)| n as f64 * scale == m as f64);
        (!is_ratio).then_some(scale)
    };
    Ok(given.into_iter().zip(extents).map(own).collect())
}

fn corners(c: &OpCall<'_>) -> Result<Corners, InferError> {
    Ok(match c.flag("align_corners")? {
        true => Corners::Centers,
        false => Corners::Edges,
    })
}

fn affine_grid_type(c: &OpCall<'_>) -> rules::Inferred {
    rules::check_dtype(c, 0)?;
    let Some(data) = c.tensor(0)? else {
        return Ok(StructInfo::Object);
    };
    let expected = "a tensor with 3 dimensions";
    let dims = dims_of(c, 0, 3, expected)?;
    let size = c.shape(1);
    let (Some(dims), Some(size)) = (dims, size.dims()) else {
        let ndim = size
            .ndim()
            .map_or(ShapeInfo::Unknown, |n| ShapeInfo::Ndim(n + 2));
        return Ok(tensor_like(data, ndim, data.dtype));
    };
    if !(2..=3).contains(&size.len()) {
        return Err(c.bad_operand(1, "a shape with 2 or 3 extents"));
    }
    let spatial = Expr::i64(size.len() as i64);
    let columns = Expr::i64(size.len() as i64 + 1);
    equal_extents(c, "rows of the matrices and dimensions", &dims[1], &spatial)?;
    let what = "columns of the matrices and dimensions and one";
    equal_extents(c, what, &dims[2], &columns)?;
    let mut shape = vec![dims[0].clone(), spatial];
    shape.extend(size.iter().cloned());
    Ok(tensor_like(data, ShapeInfo::Known(shape), data.dtype))
}

fn grid_sample_type(c: &OpCall<'_>) -> rules::Inferred {
    rules::check_dtype(c, 0)?;
    let Some(data) = c.tensor(0)? else {
        return Ok(StructInfo::Object);
    };
    let (ndim, expected) = match c.text("layout")?.as_deref() {
        Some("NCDHW") => (5, "a tensor with 5 dimensions"),
        _ => (4, "a tensor with 4 dimensions"),
    };
    let cubic = c.text("method")?.as_deref() == Some("bicubic");
    if ndim == 5 && cubic {
        return Err(c.bad_attribute(
            "method",
            "a method other than bicubic for images of three dimensions",
        ));
    }
    let dims = (
        dims_of(c, 0, ndim, expected)?,
        dims_of(c, 1, ndim, expected)?,
    );
    let (Some(x), Some(grid)) = dims else {
        return Ok(tensor_like(data, ShapeInfo::Ndim(ndim), data.dtype));
    };
    equal_extents(c, "batches of data and grid", &x[0], &grid[0])?;
    let spatial = Expr::i64(ndim as i64 - 2);
    equal_extents(c, "coordinates and dimensions", &grid[1], &spatial)?;
    for (extent, size) in x[2..].iter().zip(&grid[2..]) {
        has_pixels(c, extent, size)?;
    }
    let mut shape = x[..2].to_vec();
    shape.extend(grid[2..].iter().cloned());
    Ok(tensor_like(data, ShapeInfo::Known(shape), data.dtype))
}

fn grid_sample(c: &ComputeCall<'_>) -> Computed {
    let method = match c.text("method")?.as_deref() {
        Some("nearest") => Method::Nearest(Rounding::Even),
        Some("bicubic") => Method::Cubic { alpha: -0.75 },
        _ => Method::Linear,
    };
    let beyond = match c.text("padding_mode")?.as_deref() {
        Some("border") => Beyond::Border,
        Some("reflection") => Beyond::Reflection,
        _ => Beyond::Zeros,
    };
    let sampling = Sampling {
        method,
        beyond,
        corners: corners(c)?,
    };
    let (x, grid, shape) = (c.x(0), c.x(1), c.result_shape(0));
    let result = sample::grid_sample(c.name(), x, grid, shape, sampling, c.threads());
    Ok(vec![result])
}
