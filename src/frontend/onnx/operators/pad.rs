//! Elements around a tensor, and elements taken away from it.

use serde_json::json;

use super::Operator;
use super::pieces::part;
use crate::frontend::onnx::call::{Call, Outputs, attrs, in_type, materialized, number, one};
use crate::frontend::onnx::error::Fault;
use crate::frontend::onnx::value::Known;
use crate::ir::{AttrValue, Expr as Size};
use crate::relax::{self, Expr, Var};
use crate::tensor::DType;

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("CenterCropPad", &[18], center_crop_pad)
        .note("extents that follow from the model"),
    Operator::new("Pad", &[2, 11, 13, 18, 19, 21, 23, 24, 25], pad)
        .note("axes that follow from the model"),
];

/// The padded axes.
fn padded_axes(c: &Call<'_, '_>) -> Result<Vec<usize>, Fault> {
    let rank = c.ndim(0)?;
    if !c.has(3) {
        return Ok((0..rank).collect());
    }
    let axes = c.ints(3)?;
    axes.iter().map(|&axis| c.axis(axis, rank)).collect()
}

fn pad(c: &mut Call<'_, '_>) -> Outputs {
    let rank = c.ndim(0)?;
    let modes = ["constant", "reflect", "edge", "wrap"];
    let mode = c.attributes.one_of("mode", "constant", &modes)?;
    let axes = padded_axes(c)?;
    let operands = c.version >= 11;
    let numbers = |index: usize| c.known(index).is_some_and(|known| known.floats().is_some());
    if operands && !(numbers(1) && (!c.has(2) || numbers(2))) {
        return computed_pad(c, &axes, mode);
    }
    let (pads, value) = match operands {
        false => (
            c.attributes.ints("pads")?.unwrap_or_default(),
            c.attributes.any_float("value")?.unwrap_or(0.0),
        ),
        true => {
            let value = match c.has(2) {
                true => c.floats(2)?.first().copied().unwrap_or(0.0),
                false => 0.0,
            };
            (c.ints(1)?, value)
        }
    };
    if pads.len() != 2 * axes.len() {
        let given = format!("{} numbers", pads.len());
        return Err(c.bad(1, given, format!("{} numbers", 2 * axes.len())));
    }
    let mut width = vec![0i64; 2 * rank];
    for (at, &axis) in axes.iter().enumerate() {
        width[2 * axis] = pads[at];
        width[2 * axis + 1] = pads[axes.len() + at];
    }
    let mode = match mode {
        "edge" => "replicate",
        "wrap" => "circular",
        other => other,
    };
    let x = c.x(0)?;
    // JSON has no infinity.
    let mut attributes = attrs(&json!({"pad_width": width, "pad_mode": mode}));
    attributes.insert("pad_value".to_owned(), AttrValue::Float(value));
    one(c.emit(relax::op_with("nn.pad", [x], attributes))?)
}

/// Amounts, or a value, that the graph computes: each axis takes the elements whose positions are computed, too.
fn computed_pad(c: &mut Call<'_, '_>, axes: &[usize], mode: &str) -> Outputs {
    let count = axes.len() as i64;
    if c.count(1)? != 2 * count {
        let given = format!("{} numbers", c.count(1)?);
        return Err(c.bad(1, given, format!("{} numbers", 2 * count)));
    }
    let dims = c.dims(0)?;
    let dtype = c.dtype(0)?;
    let value = match c.optional(2)? {
        Some(value) => {
            let value = in_type(value, c.dtype(2)?, dtype);
            c.reshaped(value, [])?.into()
        }
        None => number(0.0, dtype)?,
    };
    let pads = c.x(1)?;
    let pads = c.emit(in_type(pads, c.dtype(1)?, DType::I64))?;
    let (before, after) = (
        part(c, &pads, 0, 0, count)?,
        part(c, &pads, 0, count, 2 * count)?,
    );
    let extents: Vec<Size> = axes.iter().map(|&axis| dims[axis].clone()).collect();
    let own = c.emit(materialized(&Known::vector(extents.clone()))?)?;
    let amounts = c.partly_known(1).unwrap_or_default();
    let none = |at: usize| matches!(amounts.get(at), Some(Some(amount)) if amount.is_zero());
    let all: Option<Vec<Size>> = amounts.iter().cloned().collect();
    let sizes = match all.filter(|all| all.len() == 2 * axes.len()) {
        Some(amounts) => {
            let (before, after) = amounts.split_at(axes.len());
            let ends = before.iter().zip(after);
            let sizes = extents.iter().zip(ends);
            let sizes = sizes.map(|(own, (before, after))| {
                let size = (own + before + after).max(Size::i64(0));
                c.importer.arith.simplify(&size)
            });
            sizes.collect()
        }
        None => {
            let zero = number(0.0, DType::I64)?;
            let sizes = relax::op("maximum", [&before + &own + &after, zero]);
            let shape = c.op("tensor_to_shape", [sizes])?;
            c.symbols(&shape, axes.len())?
        }
    };
    let mut x = c.var(0)?;
    for (at, (&axis, size)) in axes.iter().zip(sizes).enumerate() {
        if none(at) && none(axes.len() + at) {
            continue;
        }
        let item = |vector: &Var| {
            let at = number(at as f64, DType::I64)?;
            let args = [vector.into(), at];
            Ok::<Expr, Fault>(relax::op_with("take", args, attrs(&json!({"axis": 0}))))
        };
        let steps = relax::op_with(
            "arange",
            [Expr::from(size.clone())],
            attrs(&json!({"dtype": "int64"})),
        );
        let place = c.emit(steps - item(&before)?)?;
        let extent = c.emit(item(&own)?)?;
        let index = taken(&place, &extent, mode)?;
        let taken = c.op_with("take", [(&x).into(), index], &json!({"axis": axis}))?;
        if mode != "constant" {
            x = taken;
            continue;
        }
        let inside = relax::op(
            "logical_and",
            [
                relax::op("greater_equal", [(&place).into(), number(0.0, DType::I64)?]),
                relax::op("less", [&place, &extent]),
            ],
        );
        let mut wide = vec![Size::i64(1); dims.len()];
        wide[axis] = size;
        let inside = relax::op("reshape", [inside, relax::shape(wide)]);
        x = c.op("where", [inside, (&taken).into(), value.clone()])?;
    }
    one(x)
}

/// The elements that stand at these places of an axis, which may be outside of it.
fn taken(place: &Var, extent: &Var, mode: &str) -> Result<Expr, Fault> {
    let int = |value: i64| number(value as f64, DType::I64);
    let last = extent - int(1)?;
    Ok(match mode {
        "wrap" => relax::op("floor_mod", [place, extent]),
        "reflect" => {
            let there_and_back = last * int(2)?;
            let period = relax::op("maximum", [there_and_back, int(1)?]);
            let at = relax::op("floor_mod", [place.into(), period.clone()]);
            relax::op("minimum", [at.clone(), period - at])
        }
        _ => {
            let at = relax::op("maximum", [place.into(), int(0)?]);
            relax::op("minimum", [at, last])
        }
    })
}

/// The middle of the operand, with zeros around it where it is too small.
fn center_crop_pad(c: &mut Call<'_, '_>) -> Outputs {
    let dims = c.dims(0)?;
    let to = c.ints(1)?;
    let axes = match c.attributes.ints("axes")? {
        Some(axes) => axes
            .iter()
            .map(|&axis| c.axis(axis, dims.len()))
            .collect::<Result<Vec<_>, _>>()?,
        None => (0..dims.len()).collect(),
    };
    let mut width = vec![0i64; 2 * dims.len()];
    for (&axis, &to) in axes.iter().zip(&to) {
        let extent = c.dim(0, axis)?;
        if to < 0 {
            return Err(c.bad(1, to, "extents"));
        }
        // The half is rounded down before, and up after.
        let more = to.saturating_sub(extent);
        let before = more / 2;
        width[2 * axis] = before;
        width[2 * axis + 1] = more - before;
    }
    let x = c.x(0)?;
    one(c.op_with("nn.pad", [x], &json!({"pad_width": width}))?)
}
