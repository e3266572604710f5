//! Poolings.

use super::window::{self, Rounding};
use crate::ir::graph::dims::Proof;
use crate::ir::graph::{AttrDefault, AttrKind, AttrSpec, InferError, OpCall};
use crate::ir::{Expr, StructInfo};
use crate::ops::ComputeCall;
use crate::ops::def::{Computed, DATA, DTypes, Layout, OpDef, Pattern, Precision, attr};
use crate::ops::rules::{self, tensor_like};
use crate::tensor::DType;
use crate::topi::pool::{self, Adaptive, Counted, Pooling};

const ONES: AttrDefault = AttrDefault::Ints(&[1]);
const OUT_LAYOUT: AttrSpec = attr("out_layout", AttrKind::Str(&[]), AttrDefault::None);

const fn attrs(layout: &'static str, count_include_pad: bool) -> [AttrSpec; 8] {
    [
        attr("pool_size", AttrKind::Ints, ONES),
        attr("strides", AttrKind::Ints, ONES),
        attr("padding", AttrKind::Ints, AttrDefault::Ints(&[0])),
        attr("dilation", AttrKind::Ints, ONES),
        attr("ceil_mode", AttrKind::Bool, AttrDefault::Bool(false)),
        attr(
            "count_include_pad",
            AttrKind::Bool,
            AttrDefault::Bool(count_include_pad),
        ),
        attr("layout", AttrKind::Str(&[]), AttrDefault::Str(layout)),
        OUT_LAYOUT,
    ]
}

const fn norm_attrs(layout: &'static str) -> [AttrSpec; 8] {
    let mut attrs = attrs(layout, false);
    attrs[5] = attr("p", AttrKind::Int, AttrDefault::Int(2));
    attrs
}

const fn adaptive_attrs(layout: &'static str) -> [AttrSpec; 3] {
    [
        attr("output_size", AttrKind::Ints, AttrDefault::None),
        attr("layout", AttrKind::Str(&[]), AttrDefault::Str(layout)),
        OUT_LAYOUT,
    ]
}

const MAX_1D: &[AttrSpec] = &attrs("NCW", false);
const MAX_2D: &[AttrSpec] = &attrs("NCHW", false);
const MAX_3D: &[AttrSpec] = &attrs("NCDHW", false);
// As in Relax: padding counts by default with one and with three dimensions, and does not with two.
const AVG_1D: &[AttrSpec] = &attrs("NCW", true);
const AVG_2D: &[AttrSpec] = &attrs("NCHW", false);
const AVG_3D: &[AttrSpec] = &attrs("NCDHW", true);
const LP_1D: &[AttrSpec] = &norm_attrs("NCW");
const LP_2D: &[AttrSpec] = &norm_attrs("NCHW");
const LP_3D: &[AttrSpec] = &norm_attrs("NCDHW");
const ADAPTIVE_1D: &[AttrSpec] = &adaptive_attrs("NCW");
const ADAPTIVE_2D: &[AttrSpec] = &adaptive_attrs("NCHW");
const ADAPTIVE_3D: &[AttrSpec] = &adaptive_attrs("NCDHW");

const fn pooling(name: &'static str, doc: &'static str) -> OpDef {
    OpDef::new(name, doc)
        .in_precision(Precision::Follow)
        .operands(DATA)
        .dtypes(DTypes::Numeric)
        .pattern(Pattern::OutEWiseFusable)
        .layout(Layout::Attributes {
            data: "layout",
            kernel: None,
            out: Some("out_layout"),
        })
        .spelling(window::spell_out)
}

const MEAN: &str = "the mean of each window";
const GREATEST: &str = "the greatest element of each window";
const NORM: &str = "the p-norm of each window";
const ADAPTIVE_MEAN: &str = "means of windows, so many that the result has this size";
const ADAPTIVE_GREATEST: &str =
    "greatest elements of windows, so many that the result has this size";

pub(in crate::ops) const OPS: &[OpDef] = &[
    adaptive("nn.adaptive_avg_pool1d", ADAPTIVE_MEAN, ADAPTIVE_1D)
        .infer(|c| adaptive_type(c, 1))
        .compute(|c| adaptive_of(c, 1, Adaptive::Mean)),
    adaptive("nn.adaptive_avg_pool2d", ADAPTIVE_MEAN, ADAPTIVE_2D)
        .infer(|c| adaptive_type(c, 2))
        .compute(|c| adaptive_of(c, 2, Adaptive::Mean)),
    adaptive("nn.adaptive_avg_pool3d", ADAPTIVE_MEAN, ADAPTIVE_3D)
        .infer(|c| adaptive_type(c, 3))
        .compute(|c| adaptive_of(c, 3, Adaptive::Mean)),
    adaptive("nn.adaptive_max_pool1d", ADAPTIVE_GREATEST, ADAPTIVE_1D)
        .infer(|c| adaptive_type(c, 1))
        .compute(|c| adaptive_of(c, 1, Adaptive::Max)),
    adaptive("nn.adaptive_max_pool2d", ADAPTIVE_GREATEST, ADAPTIVE_2D)
        .infer(|c| adaptive_type(c, 2))
        .compute(|c| adaptive_of(c, 2, Adaptive::Max)),
    adaptive("nn.adaptive_max_pool3d", ADAPTIVE_GREATEST, ADAPTIVE_3D)
        .infer(|c| adaptive_type(c, 3))
        .compute(|c| adaptive_of(c, 3, Adaptive::Max)),
    pooling("nn.avg_pool1d", MEAN)
        .attrs(AVG_1D)
        .infer(|c| pool(c, 1))
        .compute(|c| avg_of(c, 1)),
    pooling("nn.avg_pool2d", MEAN)
        .attrs(AVG_2D)
        .infer(|c| pool(c, 2))
        .compute(|c| avg_of(c, 2)),
    pooling("nn.avg_pool3d", MEAN)
        .attrs(AVG_3D)
        .infer(|c| pool(c, 3))
        .compute(|c| avg_of(c, 3)),
    pooling("nn.lp_pool1d", NORM)
        .attrs(LP_1D)
        .dtypes(DTypes::Float)
        .infer(|c| norm_type(c, 1))
        .compute(|c| lp_of(c, 1)),
    pooling("nn.lp_pool2d", NORM)
        .attrs(LP_2D)
        .dtypes(DTypes::Float)
        .infer(|c| norm_type(c, 2))
        .compute(|c| lp_of(c, 2)),
    pooling("nn.lp_pool3d", NORM)
        .attrs(LP_3D)
        .dtypes(DTypes::Float)
        .infer(|c| norm_type(c, 3))
        .compute(|c| lp_of(c, 3)),
    pooling("nn.max_pool1d", GREATEST)
        .attrs(MAX_1D)
        .infer(|c| pool(c, 1))
        .compute(|c| max_of(c, 1)),
    pooling("nn.max_pool2d", GREATEST)
        .attrs(MAX_2D)
        .infer(|c| pool(c, 2))
        .compute(|c| max_of(c, 2)),
    pooling("nn.max_pool3d", GREATEST)
        .attrs(MAX_3D)
        .infer(|c| pool(c, 3))
        .compute(|c| max_of(c, 3)),
    with_positions("nn.max_pool1d_with_positions")
        .attrs(MAX_1D)
        .infer(|c| with_positions_type(c, 1))
        .compute(|c| with_positions_of(c, 1)),
    with_positions("nn.max_pool2d_with_positions")
        .attrs(MAX_2D)
        .infer(|c| with_positions_type(c, 2))
        .compute(|c| with_positions_of(c, 2)),
    with_positions("nn.max_pool3d_with_positions")
        .attrs(MAX_3D)
        .infer(|c| with_positions_type(c, 3))
        .compute(|c| with_positions_of(c, 3)),
];

const fn with_positions(name: &'static str) -> OpDef {
    let doc = "the greatest element of each window, and where it is in row-major order of the data";
    pooling(name, doc)
        .layout(Layout::Fixed)
        .pattern(Pattern::Opaque)
}

const fn adaptive(name: &'static str, doc: &'static str, attrs: &'static [AttrSpec]) -> OpDef {
    pooling(name, doc).attrs(attrs)
}

fn rounding(c: &OpCall<'_>) -> Result<Rounding, InferError> {
    Ok(match c.flag("ceil_mode")? {
        true => Rounding::Ceil,
        false => Rounding::Floor,
    })
}

fn pool(c: &OpCall<'_>, spatial: usize) -> rules::Inferred {
    let x = match window::data_dims(c, "layout", spatial, None)? {
        Ok(dims) => dims,
        Err(unknown) => return Ok(unknown),
    };
    let (from, to) = window::data_layouts(c, "layout", spatial)?;
    let size = window::each(c, "pool_size", spatial, 1)?;
    let rounding = rounding(c)?;
    let windows = window::windows(c, spatial)?;
    let extents = windows.iter().enumerate().map(|(at, window)| {
        let extent = &x[from.spatial[at]];
        window::count(extent, window, &Expr::i64(size[at]), rounding)
    });
    let extents: Vec<Expr> = extents.collect();
    let what = "a number of windows of at least 1";
    if extents
        .iter()
        .any(|extent| rules::at_least(c, what, extent, 1) == Proof::No)
    {
        return Err(c.bad_operand(0, "a tensor with room for one window"));
    }
    let (batch, channels) = (from.first_extent(x), from.second_extent(x));
    let out = window::extents(c, &to, &batch, &channels, extents)?;
    window::result(c, out, None)
}

fn pooling_of(c: &ComputeCall<'_>, spatial: usize) -> Result<Pooling, InferError> {
    let (data, out) = window::data_layouts(c, "layout", spatial)?;
    let windows = window::windows(c, spatial)?;
    let size = window::each(c, "pool_size", spatial, 1)?;
    let rounding = rounding(c)?;
    let beyond = |at: usize| {
        let window = &windows[at];
        let extent = c.x(0).shape()[data.spatial[at]].as_int();
        let count = c.result_shape(0)[out.spatial[at]].as_int();
        let reach = window.reach(&Expr::i64(size[at])).as_int();
        match (rounding, extent, count, reach) {
            (Rounding::Floor, ..) => 0,
            (Rounding::Ceil, Some(extent), Some(count), Some(reach)) => {
                let (before, after) = window.padding;
                let end = count
                    .saturating_sub(1)
                    .saturating_mul(window.stride)
                    .saturating_add(reach);
                let padded = extent.saturating_add(before).saturating_add(after);
                end.saturating_sub(padded).max(0)
            }
            (Rounding::Ceil, ..) => window.stride - 1,
        }
    };
    Ok(Pooling {
        beyond: (0..spatial).map(beyond).collect(),
        data,
        out,
        windows,
        size,
    })
}

fn max_of(c: &ComputeCall<'_>, spatial: usize) -> Computed {
    let of = pooling_of(c, spatial)?;
    let shape = c.result_shape(0);
    Ok(vec![pool::max_pool(c.name(), c.x(0), shape, &of)])
}

fn with_positions_type(c: &OpCall<'_>, spatial: usize) -> rules::Inferred {
    let values = pool(c, spatial)?;
    let Some(info) = values.as_tensor() else {
        return Ok(StructInfo::Object);
    };
    let positions = tensor_like(info, info.shape.clone(), Some(DType::I64));
    Ok(StructInfo::Tuple(vec![values, positions]))
}

fn with_positions_of(c: &ComputeCall<'_>, spatial: usize) -> Computed {
    let of = pooling_of(c, spatial)?;
    let shape = c.result_shape(0);
    let [positions, values] = pool::max_pool_with_positions(c.name(), c.x(0), shape, &of);
    Ok(vec![values, positions])
}

fn avg_of(c: &ComputeCall<'_>, spatial: usize) -> Computed {
    let of = pooling_of(c, spatial)?;
    let counted = match c.flag("count_include_pad")? {
        true => Counted::DataAndPadding,
        false => Counted::Data,
    };
    let shape = c.result_shape(0);
    let result = pool::avg_pool(c.name(), c.x(0), shape, &of, counted);
    Ok(vec![result])
}

/// The order of a p-norm.
fn order(c: &OpCall<'_>) -> Result<i64, InferError> {
    let order = c.int("p")?.filter(|&p| p >= 1);
    order.ok_or_else(|| c.bad_attribute("p", "an integer of at least 1"))
}

fn norm_type(c: &OpCall<'_>, spatial: usize) -> rules::Inferred {
    order(c)?;
    pool(c, spatial)
}

fn lp_of(c: &ComputeCall<'_>, spatial: usize) -> Computed {
    let of = pooling_of(c, spatial)?;
    let order = order(c)?;
    let shape = c.result_shape(0);
    Ok(vec![pool::lp_pool(c.name(), c.x(0), shape, &of, order)])
}

fn adaptive_type(c: &OpCall<'_>, spatial: usize) -> rules::Inferred {
    let x = match window::data_dims(c, "layout", spatial, None)? {
        Ok(dims) => dims,
        Err(unknown) => return Ok(unknown),
    };
    let (from, to) = window::data_layouts(c, "layout", spatial)?;
    let extents = match c.ints("output_size")? {
        None => from.spatial_of(x),
        Some(_) => {
            let size = window::each(c, "output_size", spatial, 1)?;
            size.into_iter().map(Expr::i64).collect()
        }
    };
    let (batch, channels) = (from.first_extent(x), from.second_extent(x));
    let out = window::extents(c, &to, &batch, &channels, extents)?;
    window::result(c, out, None)
}

fn adaptive_of(c: &ComputeCall<'_>, spatial: usize, which: Adaptive) -> Computed {
    let (from, to) = window::data_layouts(c, "layout", spatial)?;
    let shape = c.result_shape(0);
    let result = pool::adaptive_pool(c.name(), which, c.x(0), shape, &from, &to);
    Ok(vec![result])
}
