//! Operators that pick and put elements by their positions: gathers, scatters, and blocks and sequences in another order.

use serde_json::json;

use super::pieces::dims_of;
use super::{Operator, fold};
use crate::frontend::onnx::call::{Call, Outputs, in_type, materialized, number, one};
use crate::frontend::onnx::error::Fault;
use crate::ir::{Expr as Size, StructInfo};
use crate::relax::{self, Expr};
use crate::tensor::DType;

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("Compress", &[9, 11, 28], compress),
    Operator::new("DepthToSpace", &[1, 11, 13, 28], depth_to_space),
    Operator::new("Gather", &[1, 11, 13], gather).folds(fold::gather),
    Operator::new("GatherElements", &[11, 13], gather_elements),
    Operator::new("GatherND", &[11, 12, 13], gather_nd),
    Operator::new("NonZero", &[9, 13], non_zero),
    Operator::new("ReverseSequence", &[10, 28], reverse_sequence),
    Operator::new("Scatter", &[9, 11], scatter_elements),
    Operator::new("ScatterElements", &[11, 13, 16, 18], scatter_elements),
    Operator::new("ScatterND", &[11, 13, 16, 18], scatter_nd),
    Operator::new("SpaceToDepth", &[1, 13, 28], space_to_depth),
];

/// A row of indices for each dimension.
fn non_zero(c: &mut Call<'_, '_>) -> Outputs {
    // Of a number: whether it is one, at 0.
    let rank = c.ndim(0)?.max(1);
    let x = c.x(0)?;
    let indices = c.op("nonzero", [x])?;
    let count = c.importer.fresh("nonzero").expr();
    let dims = vec![Size::i64(rank as i64), count];
    one(c
        .bb
        .match_cast(&indices, StructInfo::tensor(dims, DType::I64))?)
}

/// Indices below 0 count from the end. Constant ones are made positive here; others on the device.
pub(super) fn positive(c: &mut Call<'_, '_>, index: usize, extent: &Size) -> Result<Expr, Fault> {
    let dtype = c.dtype(index)?;
    if let Some(mut known) = c.known(index)
        && let Some(ints) = known.ints()
    {
        if ints.iter().all(|&v| v >= 0) {
            return c.x(index);
        }
        if let Some(extent) = extent.as_int() {
            let wrap = |&v: &i64| Size::int(if v < 0 { v + extent } else { v }, known.dtype);
            known.elements = ints.iter().map(wrap).collect();
            return materialized(&known);
        }
    }
    let x = c.x(index)?;
    let zero = number(0.0, dtype)?;
    let extent: Expr = match extent.as_int() {
        Some(extent) => number(extent as f64, dtype)?,
        None => {
            let shape = relax::op("shape_to_tensor", [relax::shape([extent.clone()])]);
            let extent = in_type(shape, DType::I64, dtype);
            match c.ndim(index)? {
                // A sum with a vector of one extent would have a dimension.
                0 => relax::op("reshape", [extent, relax::shape(Vec::<Size>::new())]),
                _ => extent,
            }
        }
    };
    let below = relax::op("less", [x.clone(), zero]);
    let from_end = relax::op("add", [x.clone(), extent]);
    Ok(c.op("where", [below, from_end, x])?.into())
}

fn gather(c: &mut Call<'_, '_>) -> Outputs {
    let axis = c.attributes.int_or("axis", 0)?;
    let dims = c.dims(0)?;
    let axis = c.axis(axis, dims.len())?;
    let indices = positive(c, 1, &dims[axis])?;
    let x = c.x(0)?;
    one(c.op_with("take", [x, indices], &json!({"axis": axis}))?)
}

fn gather_elements(c: &mut Call<'_, '_>) -> Outputs {
    let axis = c.attributes.int_or("axis", 0)?;
    let dims = c.dims(0)?;
    let axis = c.axis(axis, dims.len())?;
    let indices = positive(c, 1, &dims[axis])?;
    let x = c.x(0)?;
    one(c.op_with("gather_elements", [x, indices], &json!({"axis": axis}))?)
}

/// Rows of indices, each of which may be below 0.
fn positive_rows(c: &mut Call<'_, '_>, dims: &[Size]) -> Result<Expr, Fault> {
    if let Some(known) = c.known(1)
        && known
            .ints()
            .is_some_and(|ints| ints.iter().all(|&v| v >= 0))
    {
        return c.x(1);
    }
    let dtype = c.dtype(1)?;
    let x = c.x(1)?;
    let extents = relax::op("shape_to_tensor", [relax::shape(dims.to_vec())]);
    let extents = in_type(extents, DType::I64, dtype);
    let below = relax::op("less", [x.clone(), number(0.0, dtype)?]);
    let from_end = relax::op("add", [x.clone(), extents]);
    Ok(c.op("where", [below, from_end, x])?.into())
}

fn gather_nd(c: &mut Call<'_, '_>) -> Outputs {
    let batch = c.attributes.int_or("batch_dims", 0)?;
    let (dims, rank) = (c.dims(0)?, c.ndim(1)?);
    let skip = usize::try_from(batch).unwrap_or(0);
    let width = c.dim(1, rank.saturating_sub(1))? as usize;
    let indexed = dims.get(skip..skip + width);
    let indexed = indexed.ok_or_else(|| {
        c.bad(
            1,
            format!("rows of {width}"),
            "rows of an index for each dimension",
        )
    })?;
    let indices = positive_rows(c, indexed)?;
    let x = c.x(0)?;
    one(c.op_with("gather_nd", [x, indices], &json!({"batch_dims": batch}))?)
}

fn reduction(c: &Call<'_, '_>) -> Result<&'static str, Fault> {
    let known = ["none", "add", "mul", "max", "min"];
    let given = c.attributes.one_of("reduction", "none", &known)?;
    Ok(match given {
        "add" => "add",
        "mul" => "mul",
        "max" => "max",
        "min" => "min",
        _ => "update",
    })
}

fn scatter_elements(c: &mut Call<'_, '_>) -> Outputs {
    let axis = c.attributes.int_or("axis", 0)?;
    let reduction = reduction(c)?;
    let dims = c.dims(0)?;
    let axis = c.axis(axis, dims.len())?;
    let indices = positive(c, 1, &dims[axis])?;
    let (x, updates) = (c.x(0)?, c.x(2)?);
    let attributes = json!({"axis": axis, "reduction": reduction});
    one(c.op_with("scatter_elements", [x, indices, updates], &attributes)?)
}

fn scatter_nd(c: &mut Call<'_, '_>) -> Outputs {
    let reduction = reduction(c)?;
    let (dims, rank) = (c.dims(0)?, c.ndim(1)?);
    let width = c.dim(1, rank.saturating_sub(1))? as usize;
    let indexed = dims.get(..width);
    let indexed = indexed.ok_or_else(|| {
        c.bad(
            1,
            format!("rows of {width}"),
            "rows of an index for each dimension",
        )
    })?;
    let indices = positive_rows(c, indexed)?;
    let (x, updates) = (c.x(0)?, c.x(2)?);
    one(c.op_with(
        "scatter_nd",
        [x, indices, updates],
        &json!({"reduction": reduction}),
    )?)
}

fn compress(c: &mut Call<'_, '_>) -> Outputs {
    let axis = c.attributes.int("axis")?;
    let axis = axis.map(|axis| c.axis(axis, c.ndim(0)?)).transpose()?;
    let (x, condition) = (c.x(0)?, c.x(1)?);
    one(c.op_with("compress", [x, condition], &json!({"axis": axis}))?)
}

fn depth_to_space(c: &mut Call<'_, '_>) -> Outputs {
    let size = c.attributes.int("blocksize")?;
    let size = size.ok_or_else(|| Fault::NoAttribute("blocksize".to_owned()))?;
    let mode = c.attributes.one_of("mode", "DCR", &["DCR", "CRD"])?;
    let x = c.x(0)?;
    one(c.op_with(
        "depth_to_space",
        [x],
        &json!({"block_size": size, "mode": mode}),
    )?)
}

fn space_to_depth(c: &mut Call<'_, '_>) -> Outputs {
    let size = c.attributes.int("blocksize")?;
    let size = size.ok_or_else(|| Fault::NoAttribute("blocksize".to_owned()))?;
    let mode = c.attributes.one_of("mode", "DCR", &["DCR", "CRD"])?;
    let x = c.x(0)?;
    let y = c.op_with("space_to_depth", [x], &json!({"block_size": size}))?;
    if mode == "DCR" {
        return one(y);
    }
    // The places in a block are the outer part of the channels there, and the inner one here.
    let (dims, deep) = (c.dims(0)?, dims_of(c, &y)?);
    let (block, channels) = (Size::i64(size.saturating_mul(size)), dims[1].clone());
    let (rows, columns) = (deep[2].clone(), deep[3].clone());
    let parts = [dims[0].clone(), block, channels, rows, columns];
    let y = c.reshaped(&y, parts)?;
    let y = c.op_with("permute_dims", [&y], &json!({"axes": [0, 2, 1, 3, 4]}))?;
    one(c.reshaped(&y, deep)?)
}

fn reverse_sequence(c: &mut Call<'_, '_>) -> Outputs {
    let batch_axis = c.attributes.int_or("batch_axis", 1)?;
    let time_axis = c.attributes.int_or("time_axis", 0)?;
    let (x, lengths) = (c.x(0)?, c.x(1)?);
    let attributes = json!({"seq_axis": time_axis, "batch_axis": batch_axis});
    one(c.op_with("reverse_sequence", [x, lengths], &attributes)?)
}
