//! Reductions over axes.

use super::ComputeCall;
use super::def::{Computed, DTypes, Layout, OpDef, Pattern, X, attr};
use super::rules::{self, check_dtype, tensor_like};
use crate::ir::graph::dims::Proof;
use crate::ir::graph::{AttrDefault, AttrKind, AttrSpec, InferError, OpCall};
use crate::ir::{Expr, ShapeInfo, StructInfo, TensorInfo};
use crate::tensor::DType;
use crate::tensor::scalar::{BinOp, Intrin};
use crate::topi::{self, ArgReduce, Reduced};

const AXIS: AttrSpec = attr("axis", AttrKind::Ints, AttrDefault::None);
const KEEPDIMS: AttrSpec = attr("keepdims", AttrKind::Bool, AttrDefault::Bool(false));

const POSITION: &[AttrSpec] = &[attr("axis", AttrKind::Int, AttrDefault::None), KEEPDIMS];

const fn reduction(
    name: &'static str,
    doc: &'static str,
    compute: fn(&ComputeCall<'_>) -> Computed,
) -> OpDef {
    OpDef::new(name, doc)
        .operands(X)
        .attrs(&[AXIS, KEEPDIMS])
        .dtypes(DTypes::Numeric)
        .infer(values)
        .compute(compute)
        .pattern(Pattern::CommReduce)
        .layout(Layout::Reduces("axis"))
}

const fn position(
    name: &'static str,
    doc: &'static str,
    compute: fn(&ComputeCall<'_>) -> Computed,
) -> OpDef {
    reduction(name, doc, compute)
        .attrs(POSITION)
        .infer(positions)
        .layout(Layout::Fixed)
}

pub(super) const OPS: &[OpDef] = &[
    position(
        "argmax",
        "the first position of the greatest element",
        |c| arg(c, ArgReduce::Max),
    ),
    position(
        "argmin",
        "the first position of the smallest element",
        |c| arg(c, ArgReduce::Min),
    ),
    reduction("max", "the greatest element", |c| combine(c, BinOp::Max)),
    reduction("mean", "the sum divided by the number of elements", mean),
    reduction("min", "the smallest element", |c| combine(c, BinOp::Min)),
    reduction(
        "prod",
        "the product; of `bool`, whether all are true",
        |c| combine(c, BinOp::Mul),
    )
    .dtypes(DTypes::All),
    reduction("std", "the square root of the variance", std).dtypes(DTypes::Float),
    reduction("sum", "the sum; of `bool`, whether some are true", |c| {
        combine(c, BinOp::Add)
    })
    .dtypes(DTypes::All),
    reduction(
        "variance",
        "the mean square distance from the mean",
        variance,
    )
    .dtypes(DTypes::Float),
];

fn values(c: &OpCall<'_>) -> rules::Inferred {
    check_dtype(c, 0)?;
    match c.tensor(0)? {
        Some(info) => Ok(tensor_like(info, reduced(c, info)?, info.dtype)),
        None => Ok(StructInfo::Object),
    }
}

/// What the obligation of a position is about: nothing has none.
const HAS_ELEMENTS: &str = "the position of one of at least one element";

fn positions(c: &OpCall<'_>) -> rules::Inferred {
    check_dtype(c, 0)?;
    if let Some(dims) = c.tensor(0)?.and_then(|info| info.shape.dims()) {
        let axes = c.axes("axis", dims.len())?;
        let line = axes.iter().map(|&axis| dims[axis].clone());
        let count = topi::volume(&line.collect::<Vec<Expr>>());
        if rules::at_least(c, HAS_ELEMENTS, &count, 1) == Proof::No {
            return Err(c.bad_operand(0, "a tensor with elements along the axis"));
        }
    }
    match c.tensor(0)? {
        Some(info) => Ok(tensor_like(info, reduced(c, info)?, Some(DType::I64))),
        None => Ok(StructInfo::Object),
    }
}

/// The shape without the axes in `axis`, or with extents of 1 there.
fn reduced(c: &OpCall<'_>, info: &TensorInfo) -> Result<ShapeInfo, InferError> {
    let keep = c.flag("keepdims")?;
    Ok(match (&info.shape, c.ints("axis")?) {
        (ShapeInfo::Known(dims), _) => {
            let axes = c.axes("axis", dims.len())?;
            let dims = dims.iter().enumerate();
            let dims = dims.filter_map(|(i, d)| match (axes.contains(&i), keep) {
                (false, _) => Some(d.clone()),
                (true, true) => Some(Expr::i64(1)),
                (true, false) => None,
            });
            ShapeInfo::Known(dims.collect())
        }
        (_, None) if !keep => ShapeInfo::Known(vec![]),
        (ShapeInfo::Ndim(n), _) if keep => ShapeInfo::Ndim(*n),
        (ShapeInfo::Ndim(n), Some(axes)) => ShapeInfo::Ndim(n.saturating_sub(axes.len())),
        _ => ShapeInfo::Unknown,
    })
}

/// The axes, and whether they stay.
fn reduced_axes(c: &ComputeCall<'_>) -> Result<(Vec<usize>, Reduced), InferError> {
    let reduced = if c.flag("keepdims")? {
        Reduced::Keep
    } else {
        Reduced::Drop
    };
    Ok((c.axes("axis", c.x(0).ndim())?, reduced))
}

fn combine(c: &ComputeCall<'_>, op: BinOp) -> Computed {
    let (axes, reduced) = reduced_axes(c)?;
    Ok(vec![topi::reduce(c.name(), op, c.x(0), &axes, reduced)])
}

fn mean(c: &ComputeCall<'_>) -> Computed {
    let (axes, reduced) = reduced_axes(c)?;
    Ok(vec![topi::mean("mean", c.x(0), &axes, reduced)])
}

fn variance(c: &ComputeCall<'_>) -> Computed {
    let (axes, reduced) = reduced_axes(c)?;
    Ok(vec![topi::variance("variance", c.x(0), &axes, reduced)])
}

fn std(c: &ComputeCall<'_>) -> Computed {
    let (axes, reduced) = reduced_axes(c)?;
    let variance = topi::variance("variance", c.x(0), &axes, reduced);
    Ok(vec![topi::map("std", &variance, |x| {
        Expr::call(Intrin::Sqrt, vec![x])
    })])
}

fn arg(c: &ComputeCall<'_>, which: ArgReduce) -> Computed {
    let (axes, reduced) = reduced_axes(c)?;
    let dtype = c.result_dtype(0);
    let position = topi::arg_reduce(c.name(), which, c.x(0), &axes, reduced, dtype);
    Ok(vec![position])
}
