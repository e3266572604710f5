//! Operators of regions of images (`R.vision.*`).

use super::ComputeCall;
use super::def::{Computed, DTypes, OpDef, Pattern, attr, tensor};
use super::rules::{self, dims_of, tensor_like};
use crate::ir::graph::{AttrDefault, AttrKind, InferError, OpCall};
use crate::ir::{Expr, ShapeInfo, StructInfo};
use crate::topi::roi::{self, Pooled, RoiAlign};
use crate::topi::window::Positions;

pub(super) const OPS: &[OpDef] = &[OpDef::new(
    "vision.roi_align",
    "regions of images in one size: cells of samples between pixels. A region has the number of its image and two corners",
)
.operands(&[tensor("data"), tensor("rois")])
.attrs(&[
    attr("pooled_size", AttrKind::Ints, AttrDefault::Required),
    attr("spatial_scale", AttrKind::Float, AttrDefault::Required),
    attr("sample_ratio", AttrKind::Int, AttrDefault::Int(-1)),
    attr("aligned", AttrKind::Bool, AttrDefault::Bool(false)),
    attr(
        "layout",
        AttrKind::Str(&["NCHW", "NHWC"]),
        AttrDefault::Str("NCHW"),
    ),
    attr(
        "mode",
        AttrKind::Str(&["avg", "max", "max_part"]),
        AttrDefault::Str("avg"),
    ),
])
.dtypes(DTypes::Float)
.infer(roi_align_type)
.compute(roi_align)
.pattern(Pattern::Opaque)];

/// Rows and columns of cells.
fn cells(c: &OpCall<'_>) -> Result<[i64; 2], InferError> {
    let sizes = c.ints("pooled_size")?.unwrap_or_default();
    let sizes = match sizes.as_slice() {
        [size] => [*size; 2],
        [rows, columns] => [*rows, *columns],
        _ => [0; 2],
    };
    match sizes.iter().all(|size| (1..=1 << 16).contains(size)) {
        true => Ok(sizes),
        false => Err(c.bad_attribute("pooled_size", "one or two extents of at least 1")),
    }
}

fn layout(c: &OpCall<'_>) -> Result<Positions, InferError> {
    let text = c.text("layout")?.unwrap_or_default();
    let layout = Positions::of(&text, ['N', 'C'], 2);
    layout.ok_or_else(|| c.bad_attribute("layout", "NCHW or NHWC"))
}

fn roi_align_type(c: &OpCall<'_>) -> rules::Inferred {
    rules::check_dtype(c, 0)?;
    rules::check_dtype(c, 1)?;
    let Some(data) = c.tensor(0)? else {
        return Ok(StructInfo::Object);
    };
    let cells = cells(c)?.map(Expr::i64);
    let layout = layout(c)?;
    let x = dims_of(c, 0, 4, "a tensor with 4 dimensions")?;
    let rois = dims_of(c, 1, 2, "a matrix: a row for each region")?;
    let (Some(x), Some(rois)) = (x, rois) else {
        return Ok(tensor_like(data, ShapeInfo::Ndim(4), data.dtype));
    };
    rules::equal_extents(c, "columns of rois", &rois[1], &Expr::i64(5))?;
    for &axis in layout.spatial.iter().chain([&layout.first]) {
        let what = "images, their rows and columns";
        if rules::at_least(c, what, &x[axis], 1) == crate::ir::graph::dims::Proof::No {
            return Err(c.bad_operand(0, "images with pixels"));
        }
    }
    let shape = layout.arrange(rois[0].clone(), x[layout.second].clone(), cells.to_vec());
    Ok(tensor_like(data, ShapeInfo::Known(shape), data.dtype))
}

fn roi_align(c: &ComputeCall<'_>) -> Computed {
    let samples = c.int("sample_ratio")?.filter(|&samples| samples > 0);
    let aligned = c.flag("aligned")?;
    let r = RoiAlign {
        layout: layout(c)?,
        cells: cells(c)?,
        scale: c.float("spatial_scale")?.unwrap_or(1.0),
        samples,
        // Regions that are not aligned are at least a pixel.
        shortest: (!aligned).then_some(1.0),
        pooled: match c.text("mode")?.as_deref() {
            Some("max") => Pooled::Greatest,
            Some("max_part") => Pooled::GreatestPart,
            _ => Pooled::Mean,
        },
    };
    let result = roi::roi_align_on(c.name(), c.x(0), c.x(1), c.result_shape(0), &r, c.threads());
    Ok(vec![result])
}
