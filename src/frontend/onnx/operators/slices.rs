//! Operators that cut tensors along axes, and join them: slices, splits and concatenations.

use serde_json::json;

use super::{Operator, fold};
use crate::frontend::onnx::call::{Call, Outputs, in_type, materialized, one};
use crate::frontend::onnx::error::Fault;
use crate::frontend::onnx::value::{Known, MOST_KNOWN, Value};
use crate::ir::{Expr as Size, ShapeInfo, StructInfo};
use crate::relax::{self, Expr};
use crate::tensor::DType;

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("Concat", &[1, 4, 11, 13], concat).folds(fold::concat),
    Operator::new("Slice", &[1, 10, 11, 13], slice)
        .note("axes and steps that follow from the model"),
    Operator::new("Split", &[2, 11, 13, 18], split),
];

fn concat(c: &mut Call<'_, '_>) -> Outputs {
    let axis = match c.version {
        ..4 => c.attributes.int_or("axis", 1)?,
        _ => c.attributes.required_int("axis")?,
    };
    let axis = c.axis(axis, c.ndim(0)?)?;
    let parts = (0..c.inputs.len()).map(|at| c.x(at));
    let mut parts = parts.collect::<Result<Vec<Expr>, Fault>>()?;
    loop {
        let mut joined = Vec::with_capacity(parts.len().div_ceil(MOST_PARTS));
        for some in parts.chunks(MOST_PARTS) {
            let some = relax::tuple(some.iter().cloned());
            joined.push(c.op_with("concat", [some], &json!({"axis": axis}))?);
        }
        if let [whole] = joined.as_slice() {
            if let Some(elements) = joined_elements(c) {
                c.importer.know_partly(whole, elements);
            }
            return one(whole.clone());
        }
        parts = joined.iter().map(Expr::from).collect();
    }
}

/// The elements of joined vectors of integers, those that are known; `None` if none is.
fn joined_elements(c: &Call<'_, '_>) -> Option<Vec<Option<Size>>> {
    let mut elements = vec![];
    for at in 0..c.inputs.len() {
        if !c.dtype(at).ok()?.is_int() || elements.len() > MOST_KNOWN {
            return None;
        }
        let dims = c.dims(at).ok()?;
        let [count] = dims.as_slice() else {
            return None;
        };
        let count = usize::try_from(count.as_int()?).ok()?;
        elements.extend(match c.partly_known(at) {
            Some(part) => part,
            None if count <= MOST_KNOWN => vec![None; count],
            None => return None,
        });
    }
    elements.iter().any(Option::is_some).then_some(elements)
}

/// Most tensors that one kernel joins.
const MOST_PARTS: usize = 64;

fn split(c: &mut Call<'_, '_>) -> Outputs {
    let axis = c.attributes.int_or("axis", 0)?;
    let dims = c.dims(0)?;
    let axis = c.axis(axis, dims.len())?;
    let computed = c.version >= 13 && c.has(1) && c.ints(1).is_err();
    let sizes = match computed {
        true => None,
        false => c.ints_since(13, "split", 1)?,
    };
    let parts = c.attributes.int("num_outputs")?;
    let outputs = c.node.output.len();
    if let Some(parts) = parts
        && usize::try_from(parts) != Ok(outputs)
    {
        return Err(Fault::Attribute {
            name: "num_outputs".to_owned(),
            given: parts.to_string(),
            expected: format!("{outputs}, as many as the node has"),
        });
    }
    let parts = outputs;
    if computed {
        return computed_split(c, axis, &dims[axis]);
    }
    if parts == 1 && sizes.is_none() {
        return Ok(c.inputs.drain(..1).collect());
    }
    let cuts = match (sizes, dims[axis].as_int()) {
        (Some(sizes), extent) => {
            let extent =
                extent.unwrap_or_else(|| sizes.iter().fold(0, |n, size| n.saturating_add(*size)));
            check_sizes(c, &sizes, extent, parts)?;
            cuts(&sizes)
        }
        (None, Some(extent)) => {
            // The last part may be smaller.
            let part = (extent + parts as i64 - 1).div_euclid(parts.max(1) as i64);
            (1..parts as i64)
                .map(|at| (at * part).min(extent))
                .collect()
        }
        (None, None) => {
            let extent = dims[axis].cast(DType::I64);
            let part = (&extent + (parts as i64 - 1)).floor_div(parts as i64);
            let cuts = (1..parts as i64).map(|at| (&part * at).min(&extent));
            let cuts = cuts.map(|cut| c.importer.arith.simplify(&cut)).collect();
            return parts_between(c, axis, cuts, extent);
        }
    };
    let count = cuts.len() + 1;
    let x = c.x(0)?;
    let tuple = c.op_with(
        "split",
        [x],
        &json!({"indices_or_sections": cuts, "axis": axis}),
    )?;
    c.items(&tuple, count)
}

/// Parts of sizes that follow from those of the inputs, or are computed: the call checks that their sum is the extent.
fn computed_split(c: &mut Call<'_, '_>, axis: usize, extent: &Size) -> Outputs {
    let sizes = c.sizes(1)?;
    let parts = c.node.output.len();
    if sizes.len() != parts {
        return Err(c.bad(
            1,
            format!("{} sizes", sizes.len()),
            format!("{parts} sizes"),
        ));
    }
    let mut end = Size::i64(0);
    let mut ends = vec![];
    for size in &sizes {
        end = c.importer.arith.simplify(&(end + size.cast(DType::I64)));
        ends.push(end.clone());
    }
    c.check_size(extent.clone(), end.clone())?;
    ends.pop();
    let made = parts_between(c, axis, ends, end)?;
    let mut of_sizes = vec![];
    for (part, size) in made.into_iter().zip(sizes) {
        let Value::Var(part) = part else {
            return Err(c.bad(0, "a list", "a tensor"));
        };
        let mut sinfo = part.sinfo().clone();
        if let StructInfo::Tensor(info) = &mut sinfo
            && let ShapeInfo::Known(dims) = &mut info.shape
        {
            dims[axis] = size;
        }
        of_sizes.push(c.bb.match_cast(&part, sinfo)?.into());
    }
    Ok(of_sizes)
}

/// The parts of the first operand between these places along an axis.
fn parts_between(c: &mut Call<'_, '_>, axis: usize, cuts: Vec<Size>, end: Size) -> Outputs {
    let x = c.var(0)?;
    let starts = std::iter::once(Size::i64(0)).chain(cuts.iter().cloned());
    let ends = cuts.iter().cloned().chain([end]);
    let part = |(start, end)| {
        let args = [
            (&x).into(),
            relax::shape([axis as i64]),
            relax::shape([start]),
            relax::shape([end]),
            relax::shape([1i64]),
        ];
        Ok(c.op("strided_slice", args)?.into())
    };
    starts.zip(ends).map(part).collect()
}

/// The sizes of so many parts of an extent.
pub(super) fn check_sizes(
    c: &Call<'_, '_>,
    sizes: &[i64],
    extent: i64,
    parts: usize,
) -> Result<(), Fault> {
    let sum = sizes.iter().try_fold(0i64, |n, size| n.checked_add(*size));
    let fits = sizes.len() == parts && sum == Some(extent) && sizes.iter().all(|size| *size >= 0);
    match fits {
        true => Ok(()),
        false => {
            let expected = format!("{parts} sizes whose sum is {extent}");
            Err(c.bad(1, format!("{sizes:?}"), expected))
        }
    }
}

/// Where parts of these sizes begin, but for the first.
pub(super) fn cuts(sizes: &[i64]) -> Vec<i64> {
    let starts = sizes.iter().scan(0i64, |at, size| {
        *at = at.saturating_add(*size);
        Some(*at)
    });
    let starts: Vec<i64> = starts.collect();
    starts[..starts.len().saturating_sub(1)].to_vec()
}

fn slice(c: &mut Call<'_, '_>) -> Outputs {
    let dims = c.dims(0)?;
    let computed = |index: usize| c.has(index) && c.known(index).is_none();
    if c.version >= 10 && (computed(1) || computed(2)) {
        return computed_slice(c, &dims);
    }
    let (mut starts, ends, axes, steps) = match c.version {
        ..10 => {
            let sizes = |list: Option<Vec<i64>>| {
                list.unwrap_or_default()
                    .into_iter()
                    .map(Size::i64)
                    .collect::<Vec<_>>()
            };
            let (starts, ends) = (c.attributes.ints("starts")?, c.attributes.ints("ends")?);
            (sizes(starts), sizes(ends), c.attributes.ints("axes")?, None)
        }
        _ => {
            let (starts, ends) = (c.sizes(1)?, c.sizes(2)?);
            let axes = c.has(3).then(|| c.ints(3)).transpose()?;
            let steps = c.has(4).then(|| c.ints(4)).transpose()?;
            (starts, ends, axes, steps)
        }
    };
    let axes = axes.unwrap_or_else(|| (0..starts.len() as i64).collect());
    let steps = steps.unwrap_or_else(|| vec![1; starts.len()]);
    if starts.len() != ends.len() || axes.len() != starts.len() || steps.len() != starts.len() {
        return Err(c.bad(
            1,
            format!(
                "{} starts, {} ends, {} axes, {} steps",
                starts.len(),
                ends.len(),
                axes.len(),
                steps.len()
            ),
            "as many of each",
        ));
    }
    if steps.contains(&0) {
        return Err(c.bad(4, 0, "steps that are not 0"));
    }
    let axes = axes.iter().map(|&axis| c.axis(axis, dims.len()));
    let axes = axes.collect::<Result<Vec<usize>, Fault>>()?;
    let numbers: Option<Vec<_>> = (0..axes.len())
        .map(|at| {
            Some((
                axes[at],
                starts[at].as_int()?,
                ends[at].as_int()?,
                steps[at],
            ))
        })
        .collect();
    if let Some(known) = numbers.and_then(|cuts| fold::slice(c, &cuts)) {
        return one(known);
    }
    // Backwards, what begins before the first element begins at it.
    for ((start, &axis), &step) in starts.iter_mut().zip(&axes).zip(&steps) {
        if step < 0 && start.as_int().is_some_and(|start| start < 0) {
            let from_end = (&dims[axis].cast(DType::I64) + &*start).max(0i64);
            *start = c.importer.arith.simplify(&from_end);
        }
    }
    let x = c.x(0)?;
    let axes = axes.iter().map(|&axis| axis as i64);
    let args = [
        x,
        relax::shape(axes),
        relax::shape(starts),
        relax::shape(ends),
        relax::shape(steps),
    ];
    one(c.op("strided_slice", args)?)
}

/// A slice whose ends are computed at run time, on the host: symbolic sizes are never below 0, ends may be.
fn computed_slice(c: &mut Call<'_, '_>, dims: &[Size]) -> Outputs {
    let count = c.count(1)?;
    let axes = match c.has(3) {
        true => c.ints(3)?,
        false => (0..count).collect(),
    };
    let axes = axes.iter().map(|&axis| c.axis(axis, dims.len()));
    let axes = axes.collect::<Result<Vec<usize>, Fault>>()?;
    let steps = match c.has(4) {
        true => c.ints(4)?,
        false => vec![1; axes.len()],
    };
    let mut whole = [vec![], vec![], vec![]];
    for (axis, dim) in dims.iter().enumerate() {
        let at = axes.iter().position(|&a| a == axis);
        let end = |c: &mut Call<'_, '_>, index: usize, plain: Size| {
            let Some(at) = at else {
                return materialized(&Known::vector(vec![plain]));
            };
            let x = c.x(index)?;
            let x = in_type(x, c.dtype(index)?, DType::I64);
            let at = Size::i64(at as i64);
            let args = [
                x,
                relax::shape([0i64]),
                relax::shape([at.clone()]),
                relax::shape([at + 1i64]),
            ];
            Ok::<Expr, Fault>(relax::op("strided_slice", args))
        };
        let step = at.and_then(|at| steps.get(at)).copied().unwrap_or(1);
        let mut start = end(c, 1, Size::i64(0))?;
        if step < 0 {
            start = not_before_the_first(start, dim)?;
        }
        whole[0].push(start);
        whole[1].push(end(c, 2, dim.clone())?);
        whole[2].push(materialized(&Known::vector(vec![Size::i64(step)]))?);
    }
    let mut args = vec![c.x(0)?];
    for parts in whole {
        args.push(
            c.op_with("concat", [relax::tuple(parts)], &json!({"axis": 0}))?
                .into(),
        );
    }
    one(c.op("dynamic_strided_slice", args)?)
}

/// Where a slice backwards begins: what would begin before the first element of the extent begins at it.
fn not_before_the_first(start: Expr, extent: &Size) -> Result<Expr, Fault> {
    let first = || materialized(&Known::vector(vec![Size::i64(0)]));
    let below = relax::op("less", [start.clone(), first()?]);
    let extent = materialized(&Known::vector(vec![extent.cast(DType::I64)]))?;
    let from_end = relax::op(
        "maximum",
        [relax::op("add", [start.clone(), extent]), first()?],
    );
    Ok(relax::op("where", [below, from_end, start]))
}
