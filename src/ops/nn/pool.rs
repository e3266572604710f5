//! Poolings.

use super::window::{self, Rounding};
use crate::ir::graph::{AttrDefault, AttrKind, AttrSpec, OpCall};
use crate::ir::{Expr, ShapeInfo, StructInfo};
use crate::ops::def::{DATA, DTypes, Layout, OpDef, Pattern, attr};
use crate::ops::rules::{self, dims_of, tensor_like};

const ONES: AttrDefault = AttrDefault::Ints(&[1]);

const fn attrs(layout: &'static str) -> [AttrSpec; 8] {
    [
        attr("pool_size", AttrKind::Ints, ONES),
        attr("strides", AttrKind::Ints, ONES),
        attr("padding", AttrKind::Ints, AttrDefault::Ints(&[0])),
        attr("dilation", AttrKind::Ints, ONES),
        attr("ceil_mode", AttrKind::Bool, AttrDefault::Bool(false)),
        attr(
            "count_include_pad",
            AttrKind::Bool,
            AttrDefault::Bool(false),
        ),
        attr("layout", AttrKind::Str(&[]), AttrDefault::Str(layout)),
        attr("out_layout", AttrKind::Str(&[]), AttrDefault::None),
    ]
}

const ATTRS_1D: &[AttrSpec] = &attrs("NCW");
const ATTRS_2D: &[AttrSpec] = &attrs("NCHW");
const ATTRS_3D: &[AttrSpec] = &attrs("NCDHW");

const fn pooling(name: &'static str, doc: &'static str) -> OpDef {
    OpDef::new(name, doc)
        .operands(DATA)
        .dtypes(DTypes::Numeric)
        .pattern(Pattern::OutEWiseFusable)
        .layout(Layout::Attributes {
            data: "layout",
            kernel: None,
            out: "out_layout",
        })
}

pub(in crate::ops) const OPS: &[OpDef] = &[
    pooling("nn.avg_pool1d", "the mean of each window")
        .attrs(ATTRS_1D)
        .infer(|c| pool(c, 1)),
    pooling("nn.avg_pool2d", "the mean of each window")
        .attrs(ATTRS_2D)
        .infer(|c| pool(c, 2)),
    pooling("nn.avg_pool3d", "the mean of each window")
        .attrs(ATTRS_3D)
        .infer(|c| pool(c, 3)),
    pooling("nn.max_pool1d", "the greatest element of each window")
        .attrs(ATTRS_1D)
        .infer(|c| pool(c, 1)),
    pooling("nn.max_pool2d", "the greatest element of each window")
        .attrs(ATTRS_2D)
        .infer(|c| pool(c, 2)),
    pooling("nn.max_pool3d", "the greatest element of each window")
        .attrs(ATTRS_3D)
        .infer(|c| pool(c, 3)),
];

fn pool(c: &OpCall<'_>, spatial: usize) -> rules::Inferred {
    const WRONG_RANK: [&str; 3] = [
        "a tensor with 3 dimensions",
        "a tensor with 4 dimensions",
        "a tensor with 5 dimensions",
    ];
    let Some(data) = c.tensor(0)? else {
        return Ok(StructInfo::Object);
    };
    if let Some(ndim) = window::blocked(c, ["out_layout", "layout"])? {
        return Ok(tensor_like(data, ShapeInfo::Ndim(ndim), data.dtype));
    }
    let ndim = spatial + 2;
    let Some(x) = dims_of(c, 0, ndim, WRONG_RANK[spatial - 1])? else {
        return Ok(tensor_like(data, ShapeInfo::Ndim(ndim), data.dtype));
    };
    let data_at = window::layout(c, "layout", ['N', 'C'], spatial)?;
    let out_at = match c.text("out_layout")? {
        Some(_) => window::layout(c, "out_layout", ['N', 'C'], spatial)?,
        None => data_at.clone(),
    };
    let size = window::each_positive(c, "pool_size", spatial)?;
    let padding = window::padding(c, spatial)?;
    let strides = window::each_positive(c, "strides", spatial)?;
    let dilation = window::each_positive(c, "dilation", spatial)?;
    let rounding = if c.flag("ceil_mode")? {
        Rounding::Ceil
    } else {
        Rounding::Floor
    };
    let mut out = vec![x[data_at.first].clone(); ndim];
    out[out_at.second] = x[data_at.second].clone();
    for i in 0..spatial {
        let reach = window::reach(&Expr::i64(size[i]), dilation[i]);
        let extent = &x[data_at.spatial[i]];
        out[out_at.spatial[i]] = window::windows(extent, padding[i], &reach, strides[i], rounding);
    }
    Ok(tensor_like(data, ShapeInfo::Known(out), data.dtype))
}
