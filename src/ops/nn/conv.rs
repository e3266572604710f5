//! Convolutions over one, two or three spatial dimensions, and their transposes.

use super::window::{self, Rounding};
use crate::ir::graph::dims::Proof;
use crate::ir::graph::{AttrDefault, AttrKind, AttrSpec, InferError, OpCall, Operand};
use crate::ir::{Expr, ShapeInfo, StructInfo};
use crate::ops::ComputeCall;
use crate::ops::def::{Computed, DTypes, Layout, OpDef, Pattern, Precision, attr, tensor};
use crate::ops::rules::{self, equal_extents, tensor_like};
use crate::tensor::DType;
use crate::topi::conv::{self, Convolution};
use crate::topi::extent::{product, scaled, shifted, sum};

const OPERANDS: &[Operand] = &[tensor("data"), tensor("weight")];
const STRIDES: AttrSpec = attr("strides", AttrKind::Ints, AttrDefault::Ints(&[1]));
const PADDING: AttrSpec = attr("padding", AttrKind::Ints, AttrDefault::Ints(&[0]));
const OUTPUT_PADDING: AttrSpec = attr("output_padding", AttrKind::Ints, AttrDefault::Ints(&[0]));
const DILATION: AttrSpec = attr("dilation", AttrKind::Ints, AttrDefault::Ints(&[1]));
const GROUPS: AttrSpec = attr("groups", AttrKind::Int, AttrDefault::Int(1));
const OUT_LAYOUT: AttrSpec = attr("out_layout", AttrKind::Str(&[]), AttrDefault::None);
const OUT_DTYPE: AttrSpec = attr("out_dtype", AttrKind::DType, AttrDefault::None);

const fn layout_attr(name: &'static str, default: &'static str) -> AttrSpec {
    attr(name, AttrKind::Str(&[]), AttrDefault::Str(default))
}

const fn attrs(data: &'static str, kernel: &'static str) -> [AttrSpec; 8] {
    [
        STRIDES,
        PADDING,
        DILATION,
        GROUPS,
        layout_attr("data_layout", data),
        layout_attr("kernel_layout", kernel),
        OUT_LAYOUT,
        OUT_DTYPE,
    ]
}

const fn transpose_attrs(data: &'static str, kernel: &'static str) -> [AttrSpec; 9] {
    [
        STRIDES,
        PADDING,
        OUTPUT_PADDING,
        DILATION,
        GROUPS,
        layout_attr("data_layout", data),
        layout_attr("kernel_layout", kernel),
        OUT_LAYOUT,
        OUT_DTYPE,
    ]
}

const ATTRS_1D: &[AttrSpec] = &attrs("NCW", "OIW");
const ATTRS_2D: &[AttrSpec] = &attrs("NCHW", "OIHW");
const ATTRS_3D: &[AttrSpec] = &attrs("NCDHW", "OIDHW");
const TRANSPOSE_ATTRS_1D: &[AttrSpec] = &transpose_attrs("NCW", "IOW");
const TRANSPOSE_ATTRS_2D: &[AttrSpec] = &transpose_attrs("NCHW", "IOHW");
const TRANSPOSE_ATTRS_3D: &[AttrSpec] = &transpose_attrs("NCDHW", "IODHW");

const fn convolution(name: &'static str, doc: &'static str) -> OpDef {
    OpDef::new(name, doc)
        .in_precision(Precision::Half)
        .operands(OPERANDS)
        .dtypes(DTypes::Numeric)
        .pattern(Pattern::OutEWiseFusable)
        .layout(Layout::Attributes {
            data: "data_layout",
            kernel: Some("kernel_layout"),
            out: Some("out_layout"),
        })
        .spelling(window::spell_out)
}

pub(in crate::ops) const OPS: &[OpDef] = &[
    convolution("nn.conv1d", "convolution over one dimension")
        .attrs(ATTRS_1D)
        .infer(|c| conv(c, 1))
        .compute(|c| conv_of(c, 1)),
    convolution("nn.conv2d", "convolution over two dimensions")
        .attrs(ATTRS_2D)
        .infer(|c| conv(c, 2))
        .compute(|c| conv_of(c, 2)),
    convolution("nn.conv3d", "convolution over three dimensions")
        .attrs(ATTRS_3D)
        .infer(|c| conv(c, 3))
        .compute(|c| conv_of(c, 3)),
    convolution(
        "nn.conv1d_transpose",
        "transposed convolution over one dimension",
    )
    .attrs(TRANSPOSE_ATTRS_1D)
    .infer(|c| transpose(c, 1))
    .compute(|c| transpose_of(c, 1)),
    convolution(
        "nn.conv2d_transpose",
        "transposed convolution over two dimensions",
    )
    .attrs(TRANSPOSE_ATTRS_2D)
    .infer(|c| transpose(c, 2))
    .compute(|c| transpose_of(c, 2)),
    convolution(
        "nn.conv3d_transpose",
        "transposed convolution over three dimensions",
    )
    .attrs(TRANSPOSE_ATTRS_3D)
    .infer(|c| transpose(c, 3))
    .compute(|c| transpose_of(c, 3)),
];

/// Layouts, windows and groups in the attributes; `letters` are those of the channels in the layout of the weight.
fn convolution_of(
    c: &OpCall<'_>,
    letters: [char; 2],
    spatial: usize,
) -> Result<Convolution, InferError> {
    let (data, out) = window::data_layouts(c, "data_layout", spatial)?;
    let groups = c.int("groups")?.filter(|&g| g >= 1);
    let dtype = match c.dtype("out_dtype")? {
        Some(dtype) => Some(dtype),
        None => c.tensor(0)?.and_then(|info| info.dtype),
    };
    Ok(Convolution {
        data,
        kernel: window::layout(c, "kernel_layout", letters, spatial)?,
        out,
        windows: window::windows(c, spatial)?,
        groups: groups.ok_or_else(|| c.bad_attribute("groups", "an integer of at least 1"))?,
        dtype: dtype.unwrap_or(DType::F32),
    })
}

/// The windows of a convolution of one group, if channels are second in data, weight and result.
///
/// # Errors
/// If attributes are not those of a convolution.
pub(crate) fn windows_of_one_group(
    c: &OpCall<'_>,
    spatial: usize,
) -> Result<Option<Vec<window::Window>>, InferError> {
    let conv = convolution_of(c, ['O', 'I'], spatial)?;
    Ok(conv.is_plain().then_some(conv.windows))
}

/// The windows of a transposed convolution of one group, each with how many results more its dimension has, if channels of the data are
/// first in the weight, and channels are second everywhere else.
///
/// # Errors
/// If attributes are not those of a transposed convolution.
pub(crate) fn windows_of_transposed(
    c: &OpCall<'_>,
    spatial: usize,
) -> Result<Option<Vec<(window::Window, i64)>>, InferError> {
    let conv = convolution_of(c, ['I', 'O'], spatial)?;
    let more = window::each(c, "output_padding", spatial, 0)?;
    let is_plain = conv.is_plain();
    Ok(is_plain.then(|| conv.windows.into_iter().zip(more).collect()))
}

/// The extents of data and weight.
type Extents<'a> = (&'a [Expr], &'a [Expr]);

/// The extents of data and weight; `Err` with the type of the result where they are not known.
fn operand_dims<'a>(
    c: &OpCall<'a>,
    letters: [char; 2],
    spatial: usize,
) -> Result<Result<Extents<'a>, StructInfo>, InferError> {
    let dtype = c.dtype("out_dtype")?;
    let x = match window::data_dims(c, "data_layout", spatial, dtype)? {
        Ok(dims) => dims,
        Err(unknown) => return Ok(Err(unknown)),
    };
    if dtype.is_none() {
        rules::same_dtypes(c, [1])?;
    }
    let (Some(data), Some(_)) = (c.tensor(0)?, c.tensor(1)?) else {
        return Ok(Err(StructInfo::Object));
    };
    let (_, out) = window::data_layouts(c, "data_layout", spatial)?;
    let unknown = || tensor_like(data, ShapeInfo::Ndim(out.ndim()), dtype.or(data.dtype));
    let kernel = window::layout(c, "kernel_layout", letters, spatial)?;
    let w = window::dims(c, 1, &kernel)?;
    Ok(w.map(|w| (x, w)).ok_or_else(unknown))
}

/// Checks that channels are so many times the groups as an integer.
fn check_groups(c: &OpCall<'_>, channels: &Expr, groups: i64) -> Result<(), InferError> {
    let what = "the rest of the channels divided by the groups";
    match rules::multiple_of(c, what, channels, &Expr::i64(groups)) {
        Proof::No => Err(c.bad_attribute("groups", "a number that divides the channels")),
        Proof::Yes | Proof::Unknown => Ok(()),
    }
}

fn conv(c: &OpCall<'_>, spatial: usize) -> rules::Inferred {
    let (x, w) = match operand_dims(c, ['O', 'I'], spatial)? {
        Ok(dims) => dims,
        Err(unknown) => return Ok(unknown),
    };
    let conv = convolution_of(c, ['O', 'I'], spatial)?;
    let what = match conv.groups {
        1 => "input channels of data and kernel",
        _ => "input channels of data, and those of the kernel times the groups",
    };
    let channels = scaled(&conv.kernel.second_extent(w), conv.groups);
    equal_extents(c, what, &conv.data.second_extent(x), &channels)?;
    let filters = conv.kernel.first_extent(w);
    check_groups(c, &filters, conv.groups)?;
    let extents = conv.windows.iter().enumerate().map(|(at, windows)| {
        let (extent, size) = (&x[conv.data.spatial[at]], &w[conv.kernel.spatial[at]]);
        window::count(extent, windows, size, Rounding::Floor)
    });
    let batch = conv.data.first_extent(x);
    let out = window::extents(c, &conv.out, &batch, &filters, extents.collect())?;
    window::result(c, out, c.dtype("out_dtype")?)
}

fn conv_of(c: &ComputeCall<'_>, spatial: usize) -> Computed {
    let of = convolution_of(c, ['O', 'I'], spatial)?;
    let shape = c.result_shape(0);
    Ok(vec![conv::conv(c.name(), c.x(0), c.x(1), shape, &of)])
}

fn transpose(c: &OpCall<'_>, spatial: usize) -> rules::Inferred {
    let (x, w) = match operand_dims(c, ['I', 'O'], spatial)? {
        Ok(dims) => dims,
        Err(unknown) => return Ok(unknown),
    };
    let conv = convolution_of(c, ['I', 'O'], spatial)?;
    let more = window::each(c, "output_padding", spatial, 0)?;
    let what = "input channels of data and kernel";
    let channels = conv.kernel.first_extent(w);
    equal_extents(c, what, &conv.data.second_extent(x), &channels)?;
    check_groups(c, &channels, conv.groups)?;
    let filters = scaled(&conv.kernel.second_extent(w), conv.groups);
    // As many elements as the spread data has, with the windows that reach over its ends, less the padding.
    let extents = conv.windows.iter().enumerate().map(|(at, window)| {
        let extent = &x[conv.data.spatial[at]];
        let spread = product(&shifted(extent, -1), &Expr::i64(window.stride));
        let reach = window.reach(&w[conv.kernel.spatial[at]]);
        let (before, after) = window.padding;
        let more = more[at].saturating_sub(before).saturating_sub(after);
        shifted(&sum(&spread, &reach), more)
    });
    let batch = conv.data.first_extent(x);
    let out = window::extents(c, &conv.out, &batch, &filters, extents.collect())?;
    window::result(c, out, c.dtype("out_dtype")?)
}

fn transpose_of(c: &ComputeCall<'_>, spatial: usize) -> Computed {
    let of = convolution_of(c, ['I', 'O'], spatial)?;
    let shape = c.result_shape(0);
    let result = conv::conv_transpose(c.name(), c.x(0), c.x(1), shape, &of);
    Ok(vec![result])
}
