//! Convolutions over one, two or three spatial dimensions.

use super::window::{self, Rounding};
use crate::ir::graph::{AttrDefault, AttrKind, AttrSpec, OpCall, Operand};
use crate::ir::{Expr, ShapeInfo, StructInfo};
use crate::ops::def::{DTypes, Layout, OpDef, Pattern, attr, tensor};
use crate::ops::rules::{self, dims_of, equal_extents, tensor_like};

const OPERANDS: &[Operand] = &[tensor("data"), tensor("weight")];
const ONES: AttrDefault = AttrDefault::Ints(&[1]);

const fn attrs(data: &'static str, kernel: &'static str) -> [AttrSpec; 8] {
    [
        attr("strides", AttrKind::Ints, ONES),
        attr("padding", AttrKind::Ints, AttrDefault::Ints(&[0])),
        attr("dilation", AttrKind::Ints, ONES),
        attr("groups", AttrKind::Int, AttrDefault::Int(1)),
        attr("data_layout", AttrKind::Str(&[]), AttrDefault::Str(data)),
        attr(
            "kernel_layout",
            AttrKind::Str(&[]),
            AttrDefault::Str(kernel),
        ),
        attr("out_layout", AttrKind::Str(&[]), AttrDefault::None),
        attr("out_dtype", AttrKind::DType, AttrDefault::None),
    ]
}

const ATTRS_1D: &[AttrSpec] = &attrs("NCW", "OIW");
const ATTRS_2D: &[AttrSpec] = &attrs("NCHW", "OIHW");
const ATTRS_3D: &[AttrSpec] = &attrs("NCDHW", "OIDHW");

const fn convolution(name: &'static str, doc: &'static str) -> OpDef {
    OpDef::new(name, doc)
        .operands(OPERANDS)
        .dtypes(DTypes::Numeric)
        .pattern(Pattern::OutEWiseFusable)
        .layout(Layout::Attributes {
            data: "data_layout",
            kernel: Some("kernel_layout"),
            out: "out_layout",
        })
}

pub(in crate::ops) const OPS: &[OpDef] = &[
    convolution("nn.conv1d", "convolution over one dimension")
        .attrs(ATTRS_1D)
        .infer(|c| conv(c, 1)),
    convolution("nn.conv2d", "convolution over two dimensions")
        .attrs(ATTRS_2D)
        .infer(|c| conv(c, 2)),
    convolution("nn.conv3d", "convolution over three dimensions")
        .attrs(ATTRS_3D)
        .infer(|c| conv(c, 3)),
];

fn conv(c: &OpCall<'_>, spatial: usize) -> rules::Inferred {
    const WRONG_RANK: [&str; 3] = [
        "a tensor with 3 dimensions",
        "a tensor with 4 dimensions",
        "a tensor with 5 dimensions",
    ];
    let (Some(data), Some(_)) = (c.tensor(0)?, c.tensor(1)?) else {
        return Ok(StructInfo::Object);
    };
    let dtype = c.dtype("out_dtype")?.or(data.dtype);
    if let Some(ndim) = window::blocked(c, ["out_layout", "data_layout"])? {
        return Ok(tensor_like(data, ShapeInfo::Ndim(ndim), dtype));
    }
    let ndim = spatial + 2;
    let expected = WRONG_RANK[spatial - 1];
    let (x, w) = (
        dims_of(c, 0, ndim, expected)?,
        dims_of(c, 1, ndim, expected)?,
    );
    let (Some(x), Some(w)) = (x, w) else {
        return Ok(tensor_like(data, ShapeInfo::Ndim(ndim), dtype));
    };
    let data_at = window::layout(c, "data_layout", ['N', 'C'], spatial)?;
    let kernel_at = window::layout(c, "kernel_layout", ['O', 'I'], spatial)?;
    let out_at = match c.text("out_layout")? {
        Some(_) => window::layout(c, "out_layout", ['N', 'C'], spatial)?,
        None => data_at.clone(),
    };
    let groups = c.int("groups")?.filter(|&g| g >= 1);
    let groups = groups.ok_or_else(|| c.bad_attribute("groups"))?;
    let channels = match w[kernel_at.second].as_int() {
        Some(v) => Expr::i64(v.saturating_mul(groups)),
        None => w[kernel_at.second].clone() * groups,
    };
    let what = "input channels of data and kernel";
    equal_extents(c, what, &x[data_at.second], &channels)?;
    let filters = &w[kernel_at.first];
    if filters.as_int().is_some_and(|n| n % groups != 0) {
        return Err(c.bad_attribute("groups"));
    }
    let padding = window::padding(c, spatial)?;
    let strides = window::each_positive(c, "strides", spatial)?;
    let dilation = window::each_positive(c, "dilation", spatial)?;
    let mut out = vec![x[data_at.first].clone(); ndim];
    out[out_at.second] = filters.clone();
    for i in 0..spatial {
        let reach = window::reach(&w[kernel_at.spatial[i]], dilation[i]);
        let extent = &x[data_at.spatial[i]];
        out[out_at.spatial[i]] =
            window::windows(extent, padding[i], &reach, strides[i], Rounding::Floor);
    }
    Ok(tensor_like(data, ShapeInfo::Known(out), dtype))
}
