//! Operators on boxes in images.

use serde_json::json;

use super::Operator;
use crate::frontend::onnx::call::{Call, Outputs, in_type, number, one, shown};
use crate::frontend::onnx::error::Fault;
use crate::ir::{Expr as Size, StructInfo};
use crate::relax::{self, Expr};
use crate::tensor::DType;

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("NonMaxSuppression", &[10, 11], non_max_suppression).note("it runs on the host"),
    Operator::new("RoiAlign", &[10, 16, 22], roi_align)
        .note("slow where `sampling_ratio` is left out: samples are then counted for each region"),
];

/// An operand with one number, or the number that a missing one means.
fn threshold(c: &mut Call<'_, '_>, index: usize, missing: f64) -> Result<Expr, Fault> {
    match c.optional(index)? {
        Some(given) => Ok(given),
        None => number(missing, DType::F32),
    }
}

fn non_max_suppression(c: &mut Call<'_, '_>) -> Outputs {
    let centred = c.attributes.flag("center_point_box", false)?;
    let most = match c.optional(2)? {
        Some(most) => most,
        None => number(0.0, DType::I64)?,
    };
    let args = [
        c.x(0)?,
        c.x(1)?,
        most,
        threshold(c, 3, 0.0)?,
        threshold(c, 4, f64::NEG_INFINITY)?,
    ];
    let selected = c.op_with(
        "non_max_suppression",
        args,
        &json!({"center_point_box": i64::from(centred)}),
    )?;
    let count = c.importer.fresh("selected").expr();
    let sinfo = StructInfo::tensor(vec![count, Size::i64(3)], DType::I64);
    one(c.bb.match_cast(&selected, sinfo)?)
}

/// Cells of regions. The regions are given in units of the image; half a pixel is taken away unless the older form is asked for.
fn roi_align(c: &mut Call<'_, '_>) -> Outputs {
    let dims = c.dims(1)?;
    if dims.len() != 2 || c.ndim(0)? != 4 {
        return Err(c.bad(1, shown(&dims), "(regions, 4), of images of two dimensions"));
    }
    let modes = ["half_pixel", "output_half_pixel"];
    let aligned = match c.version {
        ..16 => false,
        _ => {
            let name = "coordinate_transformation_mode";
            c.attributes.one_of(name, "half_pixel", &modes)? == "half_pixel"
        }
    };
    let mode = match c.attributes.one_of("mode", "avg", &["avg", "max"])? {
        "max" => "max_part",
        mode => mode,
    };
    let cells = [
        c.attributes.int_or("output_height", 1)?,
        c.attributes.int_or("output_width", 1)?,
    ];
    let samples = c.attributes.int_or("sampling_ratio", 0)?;
    let scale = c.attributes.float_or("spatial_scale", 1.0)?;
    let dtype = c.dtype(0)?;
    let (x, rois, images) = (c.x(0)?, c.x(1)?, c.x(2)?);
    let x = in_type(x, dtype, DType::F32);
    let mut rois = in_type(rois, c.dtype(1)?, DType::F32) * number(scale, DType::F32)?;
    if aligned {
        rois = rois - number(0.5, DType::F32)?;
    }
    let images = in_type(images, c.dtype(2)?, DType::F32);
    let column = [dims[0].clone(), Size::i64(1)];
    let images = relax::op("reshape", [images, relax::shape(column)]);
    let rois = c.op_with(
        "concat",
        [relax::tuple([images, rois])],
        &json!({"axis": 1}),
    )?;
    let attributes = json!({
        "pooled_size": cells, "spatial_scale": 1.0, "sample_ratio": samples, "aligned": aligned, "mode": mode,
    });
    let y = c.op_with("vision.roi_align", [x, (&rois).into()], &attributes)?;
    one(c.emit(in_type(&y, DType::F32, dtype))?)
}
