//! Operators that write elements at indices which are tensors, in the order of the updates.
//!
//! An index below 0 counts from the end; an update whose index is outside is left out.

use super::ComputeCall;
use super::def::{Computed, DTypes, OpDef, attr, operand, tensor};
use super::index::{broadcast_indices, depth};
use super::rules::{self, axis_of};
use crate::ir::graph::{AttrDefault, AttrKind, AttrSpec, InferError, OpCall, OperandKind};
use crate::ir::{Expr, ShapeInfo, StructInfo};
use crate::tensor::scalar::BinOp;
use crate::topi::{self, Update};

/// What becomes of an element that is updated. `mean` is that of the element and the update, again for each update.
const REDUCTION: AttrSpec = attr(
    "reduction",
    AttrKind::Str(&["update", "add", "mul", "max", "min", "mean", "none"]),
    AttrDefault::Str("update"),
);

pub(super) const OPS: &[OpDef] = &[
    OpDef::new(
        "index_put",
        "the slices at broadcast indices, a tensor of them for each of the first dimensions, replaced or added to",
    )
    .operands(&[
        tensor("data"),
        operand("indices", OperandKind::Tensors),
        tensor("values"),
    ])
    .attrs(&[attr(
        "accumulate",
        AttrKind::Bool,
        AttrDefault::Bool(false),
    )])
    .infer(infer_index_put)
    .compute(index_put),
    OpDef::new(
        "masked_scatter",
        "the next element of the source, in row-major order, where the mask is true",
    )
    .operands(&[tensor("data"), tensor("mask"), tensor("source")])
    .infer(infer_masked)
    .compute(|c| {
        let (data, mask, source) = (c.x(0), c.x(1), c.x(2));
        Ok(vec![topi::masked_scatter(c.name(), data, mask, source, c.threads())])
    }),
    OpDef::new(
        "scatter_elements",
        "elements at these indices along an axis, at the other indices of the index itself, updated",
    )
    .operands(&[tensor("data"), tensor("indices"), tensor("updates")])
    .attrs(&[
        attr("axis", AttrKind::Int, AttrDefault::Int(0)),
        REDUCTION,
    ])
    .infer(infer_elements)
    .compute(elements),
    OpDef::new(
        "scatter_nd",
        "the slices whose first indices are the last dimension of the indices, updated",
    )
    .operands(&[tensor("data"), tensor("indices"), tensor("updates")])
    .attrs(&[REDUCTION])
    .infer(infer_nd)
    .compute(nd),
];

/// How elements are updated.
///
/// # Errors
/// If the element type has no such arithmetic.
fn update(c: &OpCall<'_>) -> Result<Update, InferError> {
    let update = match c.text("reduction")?.as_deref() {
        Some("add") => Update::Combine(BinOp::Add),
        Some("mul") => Update::Combine(BinOp::Mul),
        Some("max") => Update::Combine(BinOp::Max),
        Some("min") => Update::Combine(BinOp::Min),
        Some("mean") => Update::Mean,
        _ => return Ok(Update::Replace),
    };
    numeric(c)?;
    Ok(update)
}

fn numeric(c: &OpCall<'_>) -> Result<(), InferError> {
    let dtype = c.tensor(0)?.and_then(|info| info.dtype);
    match dtype {
        Some(dtype) if !DTypes::Numeric.contains(dtype) => {
            Err(c.bad_operand(0, DTypes::Numeric.expected()))
        }
        _ => Ok(()),
    }
}

/// Checks that operand `index` has the element type of the data.
fn same_type(c: &OpCall<'_>, index: usize) -> Result<(), InferError> {
    let dtype = |index| Ok(c.tensor(index)?.and_then(|info| info.dtype));
    rules::equal_types(c, dtype(0)?, dtype(index)?)
}

fn infer_elements(c: &OpCall<'_>) -> rules::Inferred {
    rules::check_indices(c, 1)?;
    same_type(c, 2)?;
    update(c)?;
    let shape = |index| Ok::<_, InferError>(c.tensor(index)?.map(|info| &info.shape));
    let (Some(data), Some(indices), Some(updates)) = (shape(0)?, shape(1)?, shape(2)?) else {
        return rules::identity(c);
    };
    if let Some(ndim) = data.ndim() {
        let axis = axis_of(c, "axis", ndim)?;
        for (index, shape) in [(1, indices), (2, updates)] {
            if shape.ndim().is_some_and(|other| other != ndim) {
                return Err(c.bad_operand(index, "as many dimensions as the data"));
            }
        }
        if let (Some(data), Some(indices)) = (data.dims(), indices.dims()) {
            rules::indices_within(c, indices, data, axis)?;
        }
    }
    if let (Some(indices), Some(updates)) = (indices.dims(), updates.dims()) {
        for (a, b) in indices.iter().zip(updates) {
            rules::equal_extents(c, "the extents of indices and updates", a, b)?;
        }
    }
    rules::identity(c)
}

fn elements(c: &ComputeCall<'_>) -> Computed {
    let (data, indices, updates) = (c.x(0), c.x(1), c.x(2));
    let axis = axis_of(c, "axis", data.ndim())?;
    let result = topi::scatter_elements(
        c.name(),
        data,
        indices,
        updates,
        axis,
        update(c)?,
        c.threads(),
    );
    Ok(vec![result])
}

fn infer_nd(c: &OpCall<'_>) -> rules::Inferred {
    rules::check_indices(c, 1)?;
    same_type(c, 2)?;
    update(c)?;
    let shape = |index| Ok::<_, InferError>(c.tensor(index)?.and_then(|info| info.shape.dims()));
    if let (Some(data), Some(indices), Some(updates)) = (shape(0)?, shape(1)?, shape(2)?) {
        let depth = depth(c, 1, indices)?;
        let Some(rest) = data.get(depth..) else {
            return Err(c.bad_operand(1, "indices of no more dimensions than the data has"));
        };
        let slices = [&indices[..indices.len() - 1], rest].concat();
        check_updates(c, 2, &slices, updates, Repeat::No)?;
    }
    rules::identity(c)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Repeat {
    No,
    /// Updates may be broadcast to the slices.
    Broadcast,
}

/// Checks that updates have the shape of the slices.
fn check_updates(
    c: &OpCall<'_>,
    index: usize,
    slices: &[Expr],
    updates: &[Expr],
    repeat: Repeat,
) -> Result<(), InferError> {
    let offset = slices.len().checked_sub(updates.len());
    let offset = offset.filter(|offset| *offset == 0 || repeat == Repeat::Broadcast);
    let offset =
        offset.ok_or_else(|| c.bad_operand(index, "updates in the shape of the slices"))?;
    for (slice, update) in slices[offset..].iter().zip(updates) {
        if repeat == Repeat::No || !update.is_one() {
            rules::equal_extents(c, "the extents of slices and updates", slice, update)?;
        }
    }
    Ok(())
}

fn nd(c: &ComputeCall<'_>) -> Computed {
    let (data, indices, updates) = (c.x(0), c.x(1), c.x(2));
    let depth = depth(c, 1, indices.shape())?;
    let result = topi::scatter_nd(
        c.name(),
        data,
        indices,
        updates,
        depth,
        update(c)?,
        c.threads(),
    );
    Ok(vec![result])
}

fn infer_index_put(c: &OpCall<'_>) -> rules::Inferred {
    same_type(c, 2)?;
    if c.flag("accumulate")? {
        numeric(c)?;
    }
    let (Some(info), Some(indices), Some(values)) = (c.tensor(0)?, c.tensors(1)?, c.tensor(2)?)
    else {
        return rules::identity(c);
    };
    let places = broadcast_indices(c, &indices)?;
    if let (Some(dims), ShapeInfo::Known(places)) = (info.shape.dims(), &places) {
        let Some(rest) = dims.get(indices.len()..) else {
            return Err(c.bad_operand(1, "no more tensors than the data has dimensions"));
        };
        if let Some(values) = values.shape.dims() {
            let slices = [places.as_slice(), rest].concat();
            check_updates(c, 2, &slices, values, Repeat::Broadcast)?;
        }
    }
    rules::identity(c)
}

fn index_put(c: &ComputeCall<'_>) -> Computed {
    let update = match c.flag("accumulate")? {
        true => Update::Combine(BinOp::Add),
        false => Update::Replace,
    };
    let result = topi::index_put(c.name(), c.x(0), c.xs(1), c.x(2), update, c.threads());
    Ok(vec![result])
}

fn infer_masked(c: &OpCall<'_>) -> rules::Inferred {
    same_type(c, 2)?;
    if let StructInfo::Tensor(mask) = &c.operands[1]
        && mask.dtype.is_some_and(|dtype| !dtype.is_bool())
    {
        return Err(c.bad_operand(1, DTypes::Bool.expected()));
    }
    if let (Some(data), Some(mask)) = (c.tensor(0)?, c.tensor(1)?)
        && let (Some(data), Some(mask)) = (data.shape.dims(), mask.shape.dims())
    {
        check_updates(c, 1, data, mask, Repeat::Broadcast)?;
    }
    rules::identity(c)
}
