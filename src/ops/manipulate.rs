//! Operators that move, join, cut or retype dimensions.

use super::ComputeCall;
use super::def::{Computed, Layout, OpDef, Pattern, X, attr, operand, tensor};
use super::rules::{self, equal_extents, equal_types, tensor_like};
use crate::ir::graph::dims::{Proof, sum};
use crate::ir::graph::{AttrDefault, AttrKind, InferError, OpCall, OperandKind};
use crate::ir::{AttrValue, Expr, ShapeInfo, StructInfo};
use crate::te;
use crate::tensor::DType;
use crate::topi;

/// More parts than any program cuts a tensor into; a bound on what a number in a text can make us allocate.
const MAX_PARTS: i64 = 1 << 16;

pub(super) const OPS: &[OpDef] = &[
    OpDef::new("astype", "every element converted to another type")
        .operands(X)
        .attrs(&[attr("dtype", AttrKind::DType, AttrDefault::Required)])
        .infer(as_type)
        .compute(|c| Ok(vec![topi::astype("astype", c.x(0), c.result_dtype(0))]))
        .pattern(Pattern::ElemWise)
        .layout(Layout::Any),
    OpDef::new("broadcast_to", "repeated along dimensions of extent 1")
        .operands(&[tensor("x"), operand("shape", OperandKind::Shape)])
        .infer(broadcast_to)
        .compute(|c| {
            Ok(vec![topi::broadcast_to(
                "broadcast_to",
                c.x(0),
                c.result_shape(0),
            )])
        })
        .pattern(Pattern::Broadcast),
    OpDef::new("concat", "tensors joined along an axis")
        .operands(&[operand("tensors", OperandKind::Tensors)])
        .attrs(&[attr("axis", AttrKind::Int, AttrDefault::Int(0))])
        .infer(concat)
        .compute(join)
        .pattern(Pattern::Injective)
        .layout(Layout::Axes(&["axis"])),
    OpDef::new("expand_dims", "new dimensions of extent 1")
        .operands(X)
        .attrs(&[attr("axis", AttrKind::Ints, AttrDefault::Required)])
        .infer(expand_dims)
        .compute(insert_dims)
        .pattern(Pattern::Injective)
        .layout(Layout::Inserts("axis")),
    OpDef::new(
        "permute_dims",
        "dimensions in another order; reversed without axes",
    )
    .operands(X)
    .attrs(&[attr("axes", AttrKind::Ints, AttrDefault::None)])
    .infer(permute_dims)
    .compute(permute)
    .pattern(Pattern::Injective)
    .layout(Layout::Permutes("axes")),
    OpDef::new(
        "reinterpret",
        "the bits of every element as those of another type, which has as many",
    )
    .operands(X)
    .attrs(&[attr("dtype", AttrKind::DType, AttrDefault::Required)])
    .infer(reinterpreted_type)
    .compute(|c| {
        let dtype = c.result_dtype(0);
        Ok(vec![topi::map("reinterpret", c.x(0), |x| {
            // A bool is the number 0 or 1 in a byte.
            match x.dtype().is_bool() || dtype.is_bool() {
                true => x.cast(dtype),
                false => x.reinterpret(dtype),
            }
        })])
    })
    .pattern(Pattern::ElemWise)
    .layout(Layout::Any),
    OpDef::new(
        "reshape",
        "the same elements in another shape; one extent may be -1 (what is left), 0 is the extent of x there",
    )
    .operands(&[tensor("x"), operand("shape", OperandKind::Shape)])
    .infer(reshape)
    .view(|c| Ok(vec![topi::reshape("reshape", c.x(0), c.result_shape(0))]))
    .pattern(Pattern::Injective),
    OpDef::new(
        "split",
        "parts along an axis: so many, or cut at these positions",
    )
    .operands(X)
    .attrs(&[
        attr("indices_or_sections", AttrKind::Any, AttrDefault::Required),
        attr("axis", AttrKind::Int, AttrDefault::Int(0)),
    ])
    .infer(split)
    .compute(parts)
    .pattern(Pattern::Injective)
    .layout(Layout::Axes(&["axis"])),
];

fn as_type(c: &OpCall<'_>) -> rules::Inferred {
    let Some(info) = c.tensor(0)? else {
        return Ok(StructInfo::Object);
    };
    let dtype = c.dtype("dtype")?;
    if dtype.is_some_and(DType::is_vector) {
        return Err(c.bad_attribute("dtype", "an element type of one lane"));
    }
    Ok(tensor_like(info, info.shape.clone(), dtype))
}

fn reinterpreted_type(c: &OpCall<'_>) -> rules::Inferred {
    let to = c.dtype("dtype")?;
    let from = c.tensor(0)?.and_then(|info| info.dtype);
    match from.zip(to) {
        Some((from, to)) if from.bytes() != to.bytes() => {
            Err(c.bad_attribute("dtype", "an element type of as many bits"))
        }
        _ => as_type(c),
    }
}

fn permute_dims(c: &OpCall<'_>) -> rules::Inferred {
    let Some(info) = c.tensor(0)? else {
        return Ok(StructInfo::Object);
    };
    let Some(dims) = info.shape.dims() else {
        return Ok(StructInfo::Tensor(info.clone()));
    };
    let order = permutation(c, dims.len())?;
    let dims = order.iter().map(|&axis| dims[axis].clone()).collect();
    Ok(tensor_like(info, ShapeInfo::Known(dims), info.dtype))
}

/// For each dimension of the result the dimension of the operand that it is.
///
/// # Errors
/// If `axes` is no permutation.
pub(super) fn permutation(c: &OpCall<'_>, ndim: usize) -> Result<Vec<usize>, InferError> {
    let order: Vec<_> = match c.ints("axes")? {
        None => (0..ndim).rev().collect(),
        Some(axes) => axes
            .iter()
            .map(|&axis| c.axis(axis, ndim))
            .collect::<Result<_, _>>()?,
    };
    if order.len() != ndim || (0..ndim).any(|axis| !order.contains(&axis)) {
        return Err(c.bad_attribute("axes", "all dimensions in some order, each once"));
    }
    Ok(order)
}

fn broadcast_to(c: &OpCall<'_>) -> rules::Inferred {
    let Some(info) = c.tensor(0)? else {
        return Ok(StructInfo::Object);
    };
    let shape = c.shape(1);
    if let (Some(from), Some(to)) = (info.shape.dims(), shape.dims()) {
        if from.len() > to.len() {
            return Err(c.bad_operand(0, "a tensor with no more dimensions than the shape"));
        }
        let offset = to.len() - from.len();
        for (axis, (lhs, rhs)) in from.iter().zip(&to[offset..]).enumerate() {
            // The extent may also turn out to be 1.
            let expected = match topi::broadcasts(lhs, rhs) {
                Some(true) => continue,
                Some(false) => rhs.clone(),
                None => {
                    let one = lhs.cast(DType::I64).equals(1);
                    Expr::select(one, Expr::i64(1), rhs.cast(DType::I64))
                }
            };
            if c.compare("an extent and its broadcast", lhs, &expected) == Proof::No {
                return Err(InferError::Broadcast {
                    op: c.op.name().to_owned(),
                    axis: axis + offset,
                    lhs: lhs.clone(),
                    rhs: rhs.clone(),
                });
            }
        }
    }
    Ok(tensor_like(info, shape, info.dtype))
}

fn reshape(c: &OpCall<'_>) -> rules::Inferred {
    let Some(info) = c.tensor(0)? else {
        return Ok(StructInfo::Object);
    };
    let shape = match (info.shape.dims(), c.shape(1)) {
        (old, ShapeInfo::Known(new)) => reshaped(c, old, new)?,
        (_, unknown) => unknown,
    };
    Ok(tensor_like(info, shape, info.dtype))
}

/// The shape that `new` says for a tensor with the extents `old`: an extent of 0 is that of the operand at the same place, and
/// -1 the one that is left.
///
/// # Errors
/// If no tensor with the extents `old` has such a shape.
fn reshaped(
    c: &OpCall<'_>,
    old: Option<&[Expr]>,
    mut new: Vec<Expr>,
) -> Result<ShapeInfo, InferError> {
    let open = |d: &Expr| d.as_int() == Some(-1);
    let below = new.iter().any(|d| d.as_int().is_some_and(|d| d < -1));
    if below || new.iter().filter(|d| open(d)).count() > 1 {
        let expected = "a shape with at most one extent of -1 and no other below 0";
        return Err(c.bad_operand(1, expected));
    }
    let at = new.iter().position(open);
    let Some(old) = old else {
        let known = at.is_none() && !new.iter().any(Expr::is_zero);
        return Ok(match known {
            true => ShapeInfo::Known(new),
            false => ShapeInfo::Ndim(new.len()),
        });
    };
    copy_extents(c, old, &mut new)?;
    let Some(at) = at else {
        let [lhs, rhs] = [old, &new].map(|dims| rules::simple(&topi::volume(dims)));
        equal_extents(c, "the numbers of elements", &lhs, &rhs)?;
        return Ok(ShapeInfo::Known(new));
    };
    // Extents that both shapes have say nothing of the one that is left, and may be 0.
    let mut old = old.to_vec();
    let mut rest = new.clone();
    rest.remove(at);
    rest.retain(|d| match old.iter().position(|other| other == d) {
        Some(same) => {
            old.remove(same);
            false
        }
        None => true,
    });
    new[at] = match (elements(&old), elements(&rest)) {
        (Some(0), Some(0)) => Expr::i64(0),
        (Some(count), Some(parts)) if parts == 0 || count % parts != 0 => {
            return Err(InferError::Multiple {
                op: c.op.name().to_owned(),
                count,
                parts,
            });
        }
        (Some(count), Some(parts)) => Expr::i64(count / parts),
        _ => {
            let [whole, parts] = [&old, &rest].map(|dims| rules::simple(&topi::volume(dims)));
            let what = "the number of elements over those of the other extents";
            if rules::multiple_of(c, what, &whole, &parts) == Proof::No {
                return Err(c.bad_operand(1, "a shape whose extents divide the number of elements"));
            }
            rules::simple(&whole.floor_div(parts))
        }
    };
    Ok(ShapeInfo::Known(new))
}

/// The number of elements of a shape with constant extents.
fn elements(dims: &[Expr]) -> Option<i64> {
    let mut dims = dims.iter();
    dims.try_fold(1i64, |n, d| n.checked_mul(d.as_int()?))
}

/// Puts the extents of the operand where `new` has 0. A 0 that has no such extent, or gives elements to a tensor without any, is
/// an extent.
///
/// # Errors
/// If the operand has elements and no dimension there.
fn copy_extents(c: &OpCall<'_>, old: &[Expr], new: &mut Vec<Expr>) -> Result<(), InferError> {
    let copied = new.iter().enumerate().map(|(at, d)| match d.is_zero() {
        true => old.get(at).cloned(),
        false => Some(d.clone()),
    });
    let copied: Option<Vec<Expr>> = copied.collect();
    let is_empty = old.iter().any(Expr::is_zero);
    match copied {
        Some(copied) if is_empty => {
            let fits = |d: &Expr| d.is_zero() || d.as_int() == Some(-1);
            if copied.iter().any(fits) {
                *new = copied;
            }
        }
        Some(copied) => *new = copied,
        None if is_empty => {}
        None => return Err(c.bad_operand(1, "a shape that has 0 where the tensor has an extent")),
    }
    Ok(())
}

fn concat(c: &OpCall<'_>) -> rules::Inferred {
    let tensors = c.tensors(0)?;
    let Some(tensors) = tensors else {
        return Ok(StructInfo::Object);
    };
    let [first, rest @ ..] = tensors.as_slice() else {
        return Err(c.bad_operand(0, "a tuple of at least one tensor"));
    };
    let Some(dims) = first.shape.dims() else {
        return Ok(StructInfo::Tensor((*first).clone()));
    };
    let axis = c.axis(c.int("axis")?.unwrap_or(0), dims.len())?;
    let mut dims = dims.to_vec();
    for info in rest {
        equal_types(c, first.dtype, info.dtype)?;
        let other = info.shape.dims().filter(|other| other.len() == dims.len());
        let Some(other) = other else {
            return Ok(tensor_like(first, ShapeInfo::Ndim(dims.len()), first.dtype));
        };
        for (at, (dim, other)) in dims.iter_mut().zip(other).enumerate() {
            if at != axis {
                equal_extents(c, "extents that are not joined", dim, other)?;
                continue;
            }
            *dim = match (dim.as_int(), other.as_int()) {
                (Some(a), Some(b)) => Expr::i64(a.saturating_add(b)),
                _ => sum(dim, other),
            };
        }
    }
    Ok(tensor_like(first, ShapeInfo::Known(dims), first.dtype))
}

fn split(c: &OpCall<'_>) -> rules::Inferred {
    let Some(info) = c.tensor(0)? else {
        return Ok(StructInfo::Object);
    };
    let Some(dims) = info.shape.dims() else {
        return Ok(StructInfo::Object);
    };
    let axis = c.axis(c.int("axis")?.unwrap_or(0), dims.len())?;
    let part = |(start, end): &(Expr, Expr)| {
        let mut dims = dims.to_vec();
        dims[axis] = rules::simple(&(end.clone() - start));
        tensor_like(info, ShapeInfo::Known(dims), info.dtype)
    };
    let parts = split_ranges(c, &dims[axis])?;
    Ok(StructInfo::Tuple(parts.iter().map(part).collect()))
}

/// First and last position, exclusive, of the parts into which `split` cuts an extent: so many of one size, of which the last
/// ones may be shorter, or cut at positions.
///
/// # Errors
/// If `indices_or_sections` makes no sense.
pub(super) fn split_ranges(c: &OpCall<'_>, extent: &Expr) -> Result<Vec<(Expr, Expr)>, InferError> {
    const NAME: &str = "indices_or_sections";
    let clip = |at: Expr| rules::simple(&at.min(extent).max(0i64));
    if let Some(AttrValue::List(_)) = c.attr(NAME) {
        let cuts = c.ints(NAME)?.unwrap_or_default();
        if cuts.first().is_some_and(|&cut| cut < 0) || !cuts.is_sorted() {
            return Err(c.bad_attribute(NAME, "positions that are not negative and ascend"));
        }
        let mut ranges = Vec::with_capacity(cuts.len() + 1);
        let mut start = Expr::i64(0);
        for cut in cuts {
            let end = rules::simple(&clip(Expr::i64(cut)).max(&start));
            ranges.push((start, end.clone()));
            start = end;
        }
        ranges.push((start, extent.clone()));
        return Ok(ranges);
    }
    let sections = c.int(NAME)?.filter(|n| (1..=MAX_PARTS).contains(n));
    let sections = sections.ok_or_else(|| {
        c.bad_attribute(
            NAME,
            "a number of parts from 1 to 65536, or a list of positions",
        )
    })?;
    let rest = rules::simple(&extent.floor_mod(Expr::i64(sections)));
    let up = if rest.is_zero() { 0 } else { sections - 1 };
    let part = (extent.clone() + Expr::i64(up)).floor_div(Expr::i64(sections));
    let part = rules::simple(&part);
    let at = |i: i64| match (rest.is_zero(), i) {
        (_, 0) => Expr::i64(0),
        // A number of parts that divides the extent needs no cut.
        (true, i) => rules::simple(&(part.clone() * Expr::i64(i))),
        (false, i) => clip(part.clone() * Expr::i64(i)),
    };
    Ok((0..sections).map(|i| (at(i), at(i + 1))).collect())
}

fn expand_dims(c: &OpCall<'_>) -> rules::Inferred {
    let Some(info) = c.tensor(0)? else {
        return Ok(StructInfo::Object);
    };
    let axes = c
        .ints("axis")?
        .ok_or_else(|| c.bad_attribute("axis", "a list of integers"))?;
    let Some(dims) = info.shape.dims() else {
        let shape = match info.shape.ndim() {
            Some(n) => ShapeInfo::Ndim(n + axes.len()),
            None => ShapeInfo::Unknown,
        };
        return Ok(tensor_like(info, shape, info.dtype));
    };
    let ndim = dims.len() + axes.len();
    let places = axes.iter().map(|&axis| c.axis(axis, ndim));
    let places = places.collect::<Result<Vec<_>, _>>()?;
    if (1..places.len()).any(|at| places[..at].contains(&places[at])) {
        return Err(c.bad_attribute("axis", "axes that are there once"));
    }
    let mut old = dims.iter().cloned();
    let new = (0..ndim).map(|at| {
        let kept = if places.contains(&at) {
            None
        } else {
            old.next()
        };
        kept.unwrap_or_else(|| Expr::i64(1))
    });
    Ok(tensor_like(
        info,
        ShapeInfo::Known(new.collect()),
        info.dtype,
    ))
}

fn permute(c: &ComputeCall<'_>) -> Computed {
    let order = permutation(c, c.x(0).ndim())?;
    Ok(vec![topi::permute("permute_dims", c.x(0), &order)])
}

fn join(c: &ComputeCall<'_>) -> Computed {
    let shape = c.result_shape(0);
    let axis = c.axis(c.int("axis")?.unwrap_or(0), shape.len())?;
    Ok(vec![topi::concat("concat", c.xs(0), shape, axis)])
}

fn parts(c: &ComputeCall<'_>) -> Computed {
    let x = c.x(0);
    let axis = c.axis(c.int("axis")?.unwrap_or(0), x.ndim())?;
    let part = |(at, (start, _)): (usize, (Expr, Expr))| {
        let name = format!("split_{at}");
        topi::slice(&name, x, c.result_shape(at), axis, &start)
    };
    Ok(split_ranges(c, &x.shape()[axis])?
        .into_iter()
        .enumerate()
        .map(part)
        .collect())
}

fn insert_dims(c: &ComputeCall<'_>) -> Computed {
    let (x, shape) = (c.x(0), c.result_shape(0));
    let axes = c.ints("axis")?.unwrap_or_default();
    let axes = axes.iter().map(|&axis| c.axis(axis, shape.len()));
    let axes = axes.collect::<Result<Vec<_>, _>>()?;
    Ok(vec![te::compute("expand_dims", shape.to_vec(), |i| {
        let kept = i.iter().enumerate().filter(|(at, _)| !axes.contains(at));
        x.at(kept.map(|(_, index)| index))
    })])
}
