//! Scans and sorts along an axis.
//!
//! Equal elements keep their order, and NaN is greater than every number. A line of `n` elements takes about `n * log(n) ^ 2`
//! comparisons, in few kernels (see [`crate::topi`]'s `sort`).

use super::ComputeCall;
use super::def::{Computed, DATA, DTypes, OpDef, X, attr};
use super::rules::{self, axis_of, simple, tensor_like};
use crate::ir::graph::dims::Proof;
use crate::ir::graph::{AttrDefault, AttrKind, AttrSpec, InferError, OpCall};
use crate::ir::{Expr, ShapeInfo, StructInfo};
use crate::te::{self, Tensor};
use crate::tensor::DType;
use crate::tensor::scalar::BinOp;
use crate::topi::extent::{quotient, shifted};
use crate::topi::{self, Order, Scan, Sort, Sorted};

const LAST: AttrSpec = attr("axis", AttrKind::Int, AttrDefault::Int(-1));
const DESCENDING: AttrSpec = attr("descending", AttrKind::Bool, AttrDefault::Bool(false));
const POSITIONS: AttrSpec = attr("dtype", AttrKind::DType, AttrDefault::Str("int32"));

const SCAN: &[AttrSpec] = &[
    attr("axis", AttrKind::Int, AttrDefault::None),
    attr("dtype", AttrKind::DType, AttrDefault::None),
    attr("exclusive", AttrKind::Bool, AttrDefault::Bool(false)),
    attr("reverse", AttrKind::Bool, AttrDefault::Bool(false)),
];

pub(super) const OPS: &[OpDef] = &[
    OpDef::new("argsort", "the positions of the elements in sorted order")
        .operands(DATA)
        .attrs(&[LAST, DESCENDING, POSITIONS])
        .infer(infer_argsort)
        .compute(argsort),
    OpDef::new(
        "cumprod",
        "the product of an element and those before it; without axis in row-major order",
    )
    .operands(DATA)
    .attrs(SCAN)
    .dtypes(DTypes::Numeric)
    .infer(infer_scan)
    .compute(|c| scan(c, BinOp::Mul)),
    OpDef::new(
        "cumsum",
        "the sum of an element and those before it; without axis in row-major order",
    )
    .operands(DATA)
    .attrs(SCAN)
    .dtypes(DTypes::Numeric)
    .infer(infer_scan)
    .compute(|c| scan(c, BinOp::Add)),
    OpDef::new(
        "median",
        "the middle element, the lower of two, and along an axis its position too",
    )
    .operands(X)
    .attrs(&[
        attr("axis", AttrKind::Ints, AttrDefault::None),
        attr("keepdims", AttrKind::Bool, AttrDefault::Bool(false)),
    ])
    .dtypes(DTypes::Numeric)
    .infer(infer_median)
    .compute(median),
    OpDef::new("sort", "the elements in sorted order")
        .operands(DATA)
        .attrs(&[LAST, DESCENDING])
        .infer(infer_sort)
        .compute(sort),
    OpDef::new(
        "topk",
        "the k first elements in sorted order, their positions, or both; all for k below 1",
    )
    .operands(DATA)
    .attrs(&[
        attr("k", AttrKind::Int, AttrDefault::Int(1)),
        LAST,
        attr(
            "ret_type",
            AttrKind::Str(&["both", "values", "indices"]),
            AttrDefault::Str("both"),
        ),
        attr("largest", AttrKind::Bool, AttrDefault::Bool(true)),
        POSITIONS,
    ])
    .infer(infer_topk)
    .compute(topk),
];

fn infer_sort(c: &OpCall<'_>) -> rules::Inferred {
    if let Some(ndim) = c.tensor(0)?.and_then(|info| info.shape.ndim()) {
        axis_of(c, "axis", ndim)?;
    }
    rules::identity(c)
}

fn infer_argsort(c: &OpCall<'_>) -> rules::Inferred {
    infer_sort(c)?;
    if let Some(dims) = c.tensor(0)?.and_then(|info| info.shape.dims()) {
        check_positions(c, &dims[axis_of(c, "axis", dims.len())?])?;
    }
    rules::like_first(c)
}

/// Checks that a narrow type has all positions of a line of that many elements.
fn check_positions(c: &OpCall<'_>, extent: &Expr) -> Result<(), InferError> {
    let narrow = c.dtype("dtype")?.filter(|dtype| dtype.scalar.bytes() < 4);
    let Some((_, last)) = narrow.and_then(|dtype| dtype.scalar.int_range()) else {
        return Ok(());
    };
    let what = "as many elements as the type of positions has numbers";
    rules::at_most(c, what, extent, &Expr::i64(last + 1))
}

fn order(c: &OpCall<'_>, descending: &'static str) -> Result<Order, InferError> {
    Ok(match c.flag(descending)? {
        true => Order::Descending,
        false => Order::Ascending,
    })
}

/// The sort of all elements of each line.
fn whole_lines<'a>(c: &'a ComputeCall<'_>, x: &'a Tensor) -> Result<Sort<'a>, InferError> {
    let axis = axis_of(c, "axis", x.ndim())?;
    Ok(Sort {
        name: c.name(),
        axis,
        order: order(c, "descending")?,
        count: &x.shape()[axis],
        threads: c.threads(),
    })
}

fn argsort(c: &ComputeCall<'_>) -> Computed {
    let x = c.x(0);
    let positions = whole_lines(c, x)?.positions(x);
    let dtype = c.result_dtype(0);
    Ok(vec![topi::astype("positions", &positions, dtype)])
}

fn sort(c: &ComputeCall<'_>) -> Computed {
    let x = c.x(0);
    Ok(vec![whole_lines(c, x)?.values(x)])
}

/// How many elements `topk` gives of a line.
fn count(c: &OpCall<'_>, extent: &Expr) -> Result<Expr, InferError> {
    match c.int("k")? {
        Some(k) if k >= 1 => match rules::at_least(c, "an extent of at least k", extent, k) {
            Proof::No => Err(c.bad_attribute("k", "at most the extent of the axis")),
            Proof::Yes | Proof::Unknown => Ok(Expr::i64(k)),
        },
        _ => Ok(extent.clone()),
    }
}

fn infer_topk(c: &OpCall<'_>) -> rules::Inferred {
    let Some(info) = c.tensor(0)? else {
        return Ok(StructInfo::Object);
    };
    let shape = match info.shape.dims() {
        Some(dims) => {
            let axis = axis_of(c, "axis", dims.len())?;
            if c.text("ret_type")?.as_deref() != Some("values") {
                check_positions(c, &dims[axis])?;
            }
            let mut dims = dims.to_vec();
            dims[axis] = count(c, &dims[axis])?;
            ShapeInfo::Known(dims)
        }
        None => info.shape.clone(),
    };
    let values = tensor_like(info, shape.clone(), info.dtype);
    let positions = tensor_like(info, shape, c.dtype("dtype")?);
    Ok(match c.text("ret_type")?.as_deref() {
        Some("values") => values,
        Some("indices") => positions,
        _ => StructInfo::Tuple(vec![values, positions]),
    })
}

fn topk(c: &ComputeCall<'_>) -> Computed {
    let x = c.x(0);
    let axis = axis_of(c, "axis", x.ndim())?;
    let order = order(c, "largest")?;
    let count = count(c, &x.shape()[axis])?;
    let dtype = c.dtype("dtype")?.unwrap_or(DType::I32);
    let indices = |positions| topi::astype("topk_indices", &positions, dtype);
    let sort = Sort {
        name: "topk",
        axis,
        order,
        count: &count,
        threads: c.threads(),
    };
    Ok(match c.text("ret_type")?.as_deref() {
        Some("values") => vec![sort.values(x)],
        Some("indices") => vec![indices(sort.positions(x))],
        _ => {
            let Sorted { values, positions } = sort.both(x);
            vec![values, indices(positions)]
        }
    })
}

fn infer_scan(c: &OpCall<'_>) -> rules::Inferred {
    // Truth values are counted if the call says in what.
    if c.dtype("dtype")?.is_none_or(DType::is_bool) {
        rules::check_dtype(c, 0)?;
    }
    let Some(info) = c.tensor(0)? else {
        return Ok(StructInfo::Object);
    };
    let dtype = c.dtype("dtype")?.or(info.dtype);
    let shape = match (c.int("axis")?, info.shape.ndim()) {
        (Some(axis), Some(ndim)) => {
            c.axis(axis, ndim)?;
            info.shape.clone()
        }
        (Some(_), None) => ShapeInfo::Unknown,
        (None, _) => match info.shape.dims() {
            Some(dims) => ShapeInfo::Known(vec![simple(&topi::volume(dims))]),
            None => ShapeInfo::Ndim(1),
        },
    };
    Ok(tensor_like(info, shape, dtype))
}

fn scan(c: &ComputeCall<'_>, op: BinOp) -> Computed {
    let x = c.x(0);
    let scan = Scan {
        exclusive: c.flag("exclusive")?,
        reverse: c.flag("reverse")?,
    };
    let (dtype, threads) = (c.result_dtype(0), c.threads());
    let result = match c.int("axis")? {
        Some(axis) => topi::cumulative(
            c.name(),
            op,
            x,
            c.axis(axis, x.ndim())?,
            scan,
            dtype,
            threads,
        ),
        None => {
            let line = topi::reshape("line", x, c.result_shape(0));
            topi::cumulative(c.name(), op, &line, 0, scan, dtype, threads)
        }
    };
    Ok(vec![result])
}

/// The axis of `median`; `None` for the median of all elements.
fn median_axis(c: &OpCall<'_>, ndim: usize) -> Result<Option<usize>, InferError> {
    match c.ints("axis")?.as_deref() {
        None | Some([]) => Ok(None),
        Some([axis]) => c.axis(*axis, ndim).map(Some),
        Some(_) => Err(c.bad_attribute("axis", "one axis, or None for all elements")),
    }
}

/// What the obligation of a median is about: there is none of nothing, whatever the element type.
const HAS_ELEMENTS: &str = "a median of at least one element";

fn infer_median(c: &OpCall<'_>) -> rules::Inferred {
    rules::check_dtype(c, 0)?;
    let Some(info) = c.tensor(0)? else {
        return Ok(StructInfo::Object);
    };
    let keep = c.flag("keepdims")?;
    let Some(dims) = info.shape.dims() else {
        return Ok(StructInfo::Object);
    };
    let has_elements = |extent: &Expr, expected| match rules::at_least(c, HAS_ELEMENTS, extent, 1) {
        Proof::No => Err(c.bad_operand(0, expected)),
        Proof::Yes | Proof::Unknown => Ok(()),
    };
    let Some(axis) = median_axis(c, dims.len())? else {
        has_elements(&topi::volume(dims), "a tensor with elements")?;
        let shape = match keep {
            true => vec![Expr::i64(1); dims.len()],
            false => vec![],
        };
        return Ok(tensor_like(info, ShapeInfo::Known(shape), info.dtype));
    };
    has_elements(&dims[axis], "a tensor with elements along the axis")?;
    let mut shape = dims.to_vec();
    match keep {
        true => shape[axis] = Expr::i64(1),
        false => {
            shape.remove(axis);
        }
    }
    let shape = ShapeInfo::Known(shape);
    Ok(StructInfo::Tuple(vec![
        tensor_like(info, shape.clone(), info.dtype),
        tensor_like(info, shape, Some(DType::I64)),
    ]))
}

fn median(c: &ComputeCall<'_>) -> Computed {
    let x = c.x(0);
    let all = median_axis(c, x.ndim())?;
    let line;
    let (x, axis) = match all {
        Some(axis) => (x, axis),
        None => {
            line = topi::reshape("line", x, &[topi::volume(x.shape())]);
            (&line, 0)
        }
    };
    let extent = x.shape()[axis].clone();
    let middle = quotient(&shifted(&extent, -1), &Expr::i64(2));
    let up_to_middle = shifted(&middle, 1);
    let sort = Sort {
        name: "sorted",
        axis,
        order: Order::Ascending,
        count: &up_to_middle,
        threads: c.threads(),
    };
    let sorted = match all {
        Some(_) => sort.both(x),
        None => {
            let line = sort.values(x);
            return Ok(vec![te::compute(
                "median",
                c.result_shape(0).to_vec(),
                |_| line.at([&middle]),
            )]);
        }
    };
    let shape = c.result_shape(0).to_vec();
    let keep = c.flag("keepdims")?;
    // The index in the sorted lines of an index of the result.
    let at = |i: &[Expr]| {
        let mut index = i.to_vec();
        match keep {
            true => index[axis] = middle.clone(),
            false => index.insert(axis, middle.clone()),
        }
        index
    };
    let value = te::compute("median", shape.clone(), |i| sorted.values.at(at(i)));
    let position = te::compute("median_position", shape, |i| {
        sorted.positions.at(at(i)).cast(DType::I64)
    });
    Ok(vec![value, position])
}
