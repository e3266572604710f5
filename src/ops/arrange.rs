//! Operators that put the same elements elsewhere: other shapes, other orders, repeated.

use super::def::{Computed, DATA, DTypes, Layout, OpDef, Pattern, X, attr, operand, tensor};
use super::rules::{self, axis_of, simple, tensor_like};
use super::{ComputeCall, layout_transform};
use crate::ir::graph::dims::{Proof, compare_dims};
use crate::ir::graph::{AttrDefault, AttrKind, AttrSpec, InferError, OpCall, OperandKind};
use crate::ir::{Expr, ShapeInfo, StructInfo, TensorInfo};
use crate::te;
use crate::tensor::DType;
use crate::topi;

const BLOCK: AttrSpec = attr("block_size", AttrKind::Int, AttrDefault::Required);

pub(super) const OPS: &[OpDef] = &[
    OpDef::new(
        "collapse_sum_like",
        "the sum over dimensions that a broadcast to the shape of the first operand would repeat",
    )
    .operands(&[tensor("data"), tensor("collapse_target")])
    .dtypes(DTypes::Numeric)
    .infer(|c| match c.tensor(1)? {
        Some(target) => collapse_to(c, &target.shape),
        None => Ok(StructInfo::Object),
    })
    .compute(collapse)
    .pattern(Pattern::CommReduce),
    OpDef::new(
        "collapse_sum_to",
        "the sum over dimensions that a broadcast from this shape would repeat",
    )
    .operands(&[tensor("data"), operand("shape", OperandKind::Shape)])
    .dtypes(DTypes::Numeric)
    .infer(|c| collapse_to(c, &c.shape(1)))
    .compute(collapse)
    .pattern(Pattern::CommReduce),
    OpDef::new(
        "depth_to_space",
        "channels of an image as blocks of pixels; DCR: the block comes before the channel, CRD: after it",
    )
    .operands(DATA)
    .attrs(&[
        BLOCK,
        attr(
            "mode",
            AttrKind::Str(&["DCR", "CRD"]),
            AttrDefault::Str("DCR"),
        ),
    ])
    .infer(infer_depth_to_space)
    .compute(depth_to_space)
    .pattern(Pattern::Injective),
    OpDef::new("flatten", "all elements in one dimension")
        .operands(X)
        .infer(infer_flatten)
        .compute(|c| {
            let shape = c.result_shape(0);
            Ok(vec![topi::reshape(c.name(), c.x(0), shape)])
        })
        .programs_named("reshape")
        .pattern(Pattern::Injective),
    OpDef::new("flip", "backwards along an axis")
        .operands(DATA)
        .attrs(&[attr("axis", AttrKind::Int, AttrDefault::Required)])
        .infer(infer_same_with_axis)
        .compute(flip)
        .pattern(Pattern::Injective)
        .layout(Layout::Axes(&["axis"])),
    OpDef::new(
        "layout_transform",
        "every element at the index that a map of quotients and remainders gives",
    )
    .operands(X)
    .attrs(&[
        attr("index_map", AttrKind::Any, AttrDefault::Required),
        attr("pad_value", AttrKind::Any, AttrDefault::None),
    ])
    .infer(layout_transform::infer)
    .compute(layout_transform::compute)
    .pattern(Pattern::Injective),
    OpDef::new("repeat", "every element so many times in a row")
        .operands(DATA)
        .attrs(&[
            attr("repeats", AttrKind::Int, AttrDefault::Required),
            attr("axis", AttrKind::Int, AttrDefault::None),
        ])
        .infer(infer_repeat)
        .compute(repeat)
        .pattern(Pattern::Injective)
        .layout(Layout::Axes(&["axis"])),
    OpDef::new(
        "roll",
        "shifted along axes, what leaves at the end comes back at the start; without axes in row-major order",
    )
    .operands(DATA)
    .attrs(&[
        attr("shift", AttrKind::Ints, AttrDefault::Required),
        attr("axis", AttrKind::Ints, AttrDefault::None),
    ])
    .infer(infer_roll)
    .compute(roll)
    .pattern(Pattern::Injective),
    OpDef::new("space_to_depth", "blocks of pixels as channels")
        .operands(DATA)
        .attrs(&[BLOCK])
        .infer(infer_space_to_depth)
        .compute(space_to_depth)
        .pattern(Pattern::Injective),
    OpDef::new("squeeze", "without dimensions of extent 1: these, or all whose extent is written as 1")
        .operands(X)
        .attrs(&[attr("axis", AttrKind::Ints, AttrDefault::None)])
        .infer(infer_squeeze)
        .compute(squeeze)
        .pattern(Pattern::Injective)
        .layout(Layout::Squeezes("axis")),
    OpDef::new("stack", "tensors of one shape along a new axis")
        .operands(&[operand("tensors", OperandKind::Tensors)])
        .attrs(&[attr("axis", AttrKind::Int, AttrDefault::Int(0))])
        .infer(infer_stack)
        .compute(stack)
        .pattern(Pattern::Injective),
    OpDef::new("tile", "the whole so many times along each dimension")
        .operands(DATA)
        .attrs(&[attr("repeats", AttrKind::Ints, AttrDefault::Required)])
        .infer(infer_tile)
        .compute(tile)
        .pattern(Pattern::Injective),
];

/// The type in the shape that `f` gives for known extents.
fn reshaped(
    c: &OpCall<'_>,
    unknown: impl FnOnce(&ShapeInfo) -> ShapeInfo,
    f: impl FnOnce(&[Expr]) -> Result<Vec<Expr>, InferError>,
) -> rules::Inferred {
    let Some(info) = c.tensor(0)? else {
        return Ok(StructInfo::Object);
    };
    let shape = match info.shape.dims() {
        Some(dims) => ShapeInfo::Known(f(dims)?),
        None => unknown(&info.shape),
    };
    Ok(tensor_like(info, shape, info.dtype))
}

fn times(extent: &Expr, factor: i64) -> Expr {
    simple(&topi::volume(&[extent.clone(), Expr::i64(factor)]))
}

/// The extent divided by a number that divides it.
fn divided(c: &OpCall<'_>, extent: &Expr, by: i64) -> Result<Expr, InferError> {
    let what = "the rest of an extent divided by the block size";
    if rules::multiple_of(c, what, extent, &Expr::i64(by)) == Proof::No {
        return Err(c.bad_attribute("block_size", "a number that divides the extents"));
    }
    Ok(simple(&extent.floor_div(Expr::i64(by))))
}

fn collapse_to(c: &OpCall<'_>, shape: &ShapeInfo) -> rules::Inferred {
    rules::check_dtype(c, 0)?;
    let Some(info) = c.tensor(0)? else {
        return Ok(StructInfo::Object);
    };
    if let (Some(from), Some(to)) = (info.shape.dims(), shape.dims()) {
        let Some(offset) = from.len().checked_sub(to.len()) else {
            return Err(c.bad_operand(0, "a tensor with as many dimensions as the shape, or more"));
        };
        for (axis, (lhs, rhs)) in from[offset..].iter().zip(to).enumerate() {
            if !rhs.is_one() && compare_dims(lhs, rhs) == Proof::No {
                return Err(InferError::Broadcast {
                    op: c.op.name().to_owned(),
                    axis: axis + offset,
                    lhs: lhs.clone(),
                    rhs: rhs.clone(),
                });
            }
        }
    }
    Ok(tensor_like(info, shape.clone(), info.dtype))
}

fn collapse(c: &ComputeCall<'_>) -> Computed {
    let (x, shape) = (c.x(0), c.result_shape(0));
    let offset = x.ndim() - shape.len();
    let mut summed: Vec<usize> = (0..offset).collect();
    for (at, to) in shape.iter().enumerate() {
        let from = &x.shape()[offset + at];
        match (compare_dims(from, to), to.is_one()) {
            (Proof::Yes, _) => {}
            (_, true) => summed.push(offset + at),
            _ => return Err(c.bad_operand(0, "a tensor whose extents are those of the result")),
        }
    }
    let axis = |&at: &usize| te::reduce_axis(format!("k{at}"), x.shape()[at].clone());
    let axes: Vec<_> = summed.iter().map(axis).collect();
    if axes.is_empty() {
        return Ok(vec![x.clone()]);
    }
    let sums = |name: &str, wide: DType| {
        te::compute(name, shape.to_vec(), |i| {
            let index = (0..x.ndim()).map(|at| match summed.iter().position(|&axis| axis == at) {
                Some(k) => axes[k].expr(),
                None => i[at - offset].clone(),
            });
            te::sum(x.at(index).cast(wide), &axes)
        })
    };
    Ok(vec![topi::accumulated(c.name(), x.dtype(), sums)])
}

fn infer_flatten(c: &OpCall<'_>) -> rules::Inferred {
    let volume = |dims: &[Expr]| Ok(vec![simple(&topi::volume(dims))]);
    reshaped(c, |_| ShapeInfo::Ndim(1), volume)
}

fn infer_same_with_axis(c: &OpCall<'_>) -> rules::Inferred {
    if let Some(ndim) = c.tensor(0)?.and_then(|info| info.shape.ndim()) {
        axis_of(c, "axis", ndim)?;
    }
    rules::identity(c)
}

fn flip(c: &ComputeCall<'_>) -> Computed {
    let x = c.x(0);
    let axis = axis_of(c, "axis", x.ndim())?;
    let last = x.shape()[axis].clone() - 1i64;
    let at = |i: &[Expr]| last.clone() - &i[axis];
    Ok(vec![topi::reindex("flip", x, x.shape(), axis, at)])
}

fn infer_repeat(c: &OpCall<'_>) -> rules::Inferred {
    let repeats = repeats_of(c)?;
    let unknown = |shape: &ShapeInfo| match c.int("axis") {
        Ok(Some(_)) => shape.clone(),
        _ => ShapeInfo::Ndim(1),
    };
    reshaped(c, unknown, |dims| {
        let mut dims = match c.int("axis")? {
            Some(_) => dims.to_vec(),
            None => vec![simple(&topi::volume(dims))],
        };
        let axis = match c.int("axis")? {
            Some(axis) => c.axis(axis, dims.len())?,
            None => 0,
        };
        dims[axis] = times(&dims[axis], repeats);
        Ok(dims)
    })
}

fn repeats_of(c: &OpCall<'_>) -> Result<i64, InferError> {
    let repeats = c.int("repeats")?.filter(|repeats| *repeats >= 0);
    repeats.ok_or_else(|| c.bad_attribute("repeats", "an integer that is not negative"))
}

fn repeat(c: &ComputeCall<'_>) -> Computed {
    let (x, repeats) = (c.x(0), repeats_of(c)?);
    let axis = match c.int("axis")? {
        Some(axis) => Some(c.axis(axis, x.ndim())?),
        None => None,
    };
    let shape = c.result_shape(0).to_vec();
    Ok(vec![te::compute("repeat", shape, |i| {
        let mut index = i.to_vec();
        let at = &mut index[axis.unwrap_or(0)];
        *at = at.floor_div(Expr::i64(repeats.max(1)));
        match axis {
            Some(_) => x.at(index),
            None => x.at(topi::unravel(&index[0], x.shape())),
        }
    })])
}

/// How far each dimension is shifted; without axes, the whole.
fn shifts(c: &OpCall<'_>, ndim: usize) -> Result<(Vec<i64>, Option<Vec<usize>>), InferError> {
    let shift = c
        .ints("shift")?
        .ok_or_else(|| c.bad_attribute("shift", "an integer, or a list of them"))?;
    let axes = c.ints("axis")?.map(|axes| {
        let axes = axes.into_iter().map(|axis| c.axis(axis, ndim));
        axes.collect::<Result<Vec<_>, _>>()
    });
    let axes = axes.transpose()?;
    match axes.as_ref().map_or(1, Vec::len) == shift.len() {
        true => Ok((shift, axes)),
        false => Err(c.bad_attribute(
            "shift",
            "one integer for each axis, or one alone without axes",
        )),
    }
}

fn infer_roll(c: &OpCall<'_>) -> rules::Inferred {
    if let Some(ndim) = c.tensor(0)?.and_then(|info| info.shape.ndim()) {
        shifts(c, ndim)?;
    }
    rules::identity(c)
}

fn roll(c: &ComputeCall<'_>) -> Computed {
    let x = c.x(0);
    let (shift, axes) = shifts(c, x.ndim())?;
    let back =
        |at: &Expr, shift: i64, extent: &Expr| (at.clone() - Expr::i64(shift)).floor_mod(extent);
    Ok(vec![te::compute("roll", x.shape().to_vec(), |i| {
        let Some(axes) = &axes else {
            let position = topi::ravel(i, x.shape());
            let from = back(&position, shift[0], &topi::volume(x.shape()));
            return x.at(topi::unravel(&from, x.shape()));
        };
        let mut index = i.to_vec();
        for (&axis, &shift) in axes.iter().zip(&shift) {
            index[axis] = back(&index[axis], shift, &x.shape()[axis]);
        }
        x.at(index)
    })])
}

fn infer_squeeze(c: &OpCall<'_>) -> rules::Inferred {
    let unknown = |shape: &ShapeInfo| match (shape.ndim(), c.ints("axis")) {
        (Some(ndim), Ok(Some(axes))) => ShapeInfo::Ndim(ndim.saturating_sub(axes.len())),
        _ => ShapeInfo::Unknown,
    };
    reshaped(c, unknown, |dims| {
        let gone = squeezed(c, dims)?;
        let kept = dims.iter().enumerate().filter(|(at, _)| !gone.contains(at));
        Ok(kept.map(|(_, extent)| extent.clone()).collect())
    })
}

/// The dimensions that `squeeze` drops.
fn squeezed(c: &OpCall<'_>, dims: &[Expr]) -> Result<Vec<usize>, InferError> {
    if c.attr("axis").is_none() {
        return Ok((0..dims.len()).filter(|&at| dims[at].is_one()).collect());
    }
    let axes = c.axes("axis", dims.len())?;
    for &axis in &axes {
        rules::equal_extents(c, "a dropped extent and 1", &dims[axis], &Expr::i64(1))?;
    }
    Ok(axes)
}

fn squeeze(c: &ComputeCall<'_>) -> Computed {
    let x = c.x(0);
    let gone = squeezed(c, x.shape())?;
    let shape = c.result_shape(0).to_vec();
    Ok(vec![te::compute("squeeze", shape, |i| {
        let mut kept = i.iter();
        let index = (0..x.ndim()).map(|at| match gone.contains(&at) {
            true => Expr::i64(0),
            false => kept
                .next()
                .expect("an index for each kept dimension")
                .clone(),
        });
        x.at(index)
    })])
}

fn infer_stack(c: &OpCall<'_>) -> rules::Inferred {
    let tensors = c.tensors(0)?;
    let Some([first, rest @ ..]) = tensors.as_deref() else {
        return Ok(StructInfo::Object);
    };
    let dtype = |info: &TensorInfo| info.dtype;
    for info in rest {
        rules::equal_types(c, dtype(first), dtype(info))?;
        if let (Some(a), Some(b)) = (first.shape.ndim(), info.shape.ndim())
            && a != b
        {
            return Err(c.bad_operand(0, "tensors of one shape"));
        }
        if let (Some(a), Some(b)) = (first.shape.dims(), info.shape.dims()) {
            for (a, b) in a.iter().zip(b) {
                rules::equal_extents(c, "extents of stacked tensors", a, b)?;
            }
        }
    }
    let shape = match (first.shape.dims(), first.shape.ndim()) {
        (Some(dims), _) => {
            let mut dims = dims.to_vec();
            let axis = axis_of(c, "axis", dims.len() + 1)?;
            dims.insert(axis, Expr::i64(rest.len() as i64 + 1));
            ShapeInfo::Known(dims)
        }
        (None, Some(ndim)) => ShapeInfo::Ndim(ndim + 1),
        (None, None) => ShapeInfo::Unknown,
    };
    Ok(tensor_like(first, shape, first.dtype))
}

fn stack(c: &ComputeCall<'_>) -> Computed {
    let (tensors, shape) = (c.xs(0), c.result_shape(0));
    let axis = axis_of(c, "axis", shape.len())?;
    Ok(vec![topi::stack("stack", tensors, shape, axis)])
}

/// How often each dimension of the result, which may have more, repeats the operand's.
fn tiles(c: &OpCall<'_>, ndim: usize) -> Result<Vec<i64>, InferError> {
    let mut repeats = c
        .ints("repeats")?
        .ok_or_else(|| c.bad_attribute("repeats", "a list of integers"))?;
    if repeats.iter().any(|repeats| *repeats < 0) {
        return Err(c.bad_attribute("repeats", "integers that are not negative"));
    }
    while repeats.len() < ndim {
        repeats.insert(0, 1);
    }
    Ok(repeats)
}

fn infer_tile(c: &OpCall<'_>) -> rules::Inferred {
    let unknown = |shape: &ShapeInfo| match shape.ndim().map(|ndim| tiles(c, ndim)) {
        Some(Ok(repeats)) => ShapeInfo::Ndim(repeats.len()),
        _ => ShapeInfo::Unknown,
    };
    reshaped(c, unknown, |dims| {
        let repeats = tiles(c, dims.len())?;
        let added = repeats.len() - dims.len();
        let extent = |(at, &repeats): (usize, &i64)| match at.checked_sub(added) {
            Some(at) => times(&dims[at], repeats),
            None => Expr::i64(repeats),
        };
        Ok(repeats.iter().enumerate().map(extent).collect())
    })
}

fn tile(c: &ComputeCall<'_>) -> Computed {
    let x = c.x(0);
    let shape = c.result_shape(0).to_vec();
    let repeats = tiles(c, x.ndim())?;
    let added = shape.len() - x.ndim();
    Ok(vec![te::compute("tile", shape, |i| {
        let index = x.shape().iter().enumerate();
        x.at(index.map(
            |(at, extent)| match (extent.is_one(), repeats[at + added]) {
                (true, _) => Expr::i64(0),
                (false, 1) => i[at + added].clone(),
                (false, _) => i[at + added].floor_mod(extent),
            },
        ))
    })])
}

/// The extents of an image, and the block size.
fn image<'a>(c: &OpCall<'a>) -> Result<(Option<&'a [Expr]>, i64), InferError> {
    let dims = rules::dims_of(c, 0, 4, "an image of four dimensions")?;
    let block = c
        .int("block_size")?
        .filter(|block| (1..1 << 15).contains(block));
    Ok((
        dims,
        block.ok_or_else(|| c.bad_attribute("block_size", "an integer of at least 1"))?,
    ))
}

fn infer_depth_to_space(c: &OpCall<'_>) -> rules::Inferred {
    image(c)?;
    reshaped(
        c,
        |_| ShapeInfo::Ndim(4),
        |dims| {
            let (_, block) = image(c)?;
            let channels = divided(c, &dims[1], block * block)?;
            let (rows, columns) = (times(&dims[2], block), times(&dims[3], block));
            Ok(vec![dims[0].clone(), channels, rows, columns])
        },
    )
}

fn depth_to_space(c: &ComputeCall<'_>) -> Computed {
    let (x, shape) = (c.x(0), c.result_shape(0));
    let (_, block) = image(c)?;
    let b = Expr::i64(block);
    let depth_first = c.text("mode")?.as_deref() == Some("DCR");
    Ok(vec![te::compute(c.name(), shape.to_vec(), |i| {
        let inside = i[2].floor_mod(&b) * &b + i[3].floor_mod(&b);
        let channel = if depth_first {
            inside * &shape[1] + &i[1]
        } else {
            i[1].clone() * Expr::i64(block * block) + inside
        };
        x.at([
            i[0].clone(),
            channel,
            i[2].floor_div(&b),
            i[3].floor_div(&b),
        ])
    })])
}

fn infer_space_to_depth(c: &OpCall<'_>) -> rules::Inferred {
    image(c)?;
    reshaped(
        c,
        |_| ShapeInfo::Ndim(4),
        |dims| {
            let (_, block) = image(c)?;
            let (rows, columns) = (divided(c, &dims[2], block)?, divided(c, &dims[3], block)?);
            Ok(vec![
                dims[0].clone(),
                times(&dims[1], block * block),
                rows,
                columns,
            ])
        },
    )
}

fn space_to_depth(c: &ComputeCall<'_>) -> Computed {
    let (x, shape) = (c.x(0), c.result_shape(0));
    let (_, block) = image(c)?;
    let b = Expr::i64(block);
    let channels = &x.shape()[1];
    Ok(vec![te::compute(c.name(), shape.to_vec(), |i| {
        let inside = i[1].floor_div(channels);
        let row = i[2].clone() * &b + inside.floor_div(&b);
        let column = i[3].clone() * &b + inside.floor_mod(&b);
        x.at([i[0].clone(), i[1].floor_mod(channels), row, column])
    })])
}
