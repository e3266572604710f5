//! Operators that read elements at indices which are tensors.
//!
//! An index below 0 counts from the end. An index outside of its dimension is undefined and reads some element, unless `mode`
//! says what it reads.

use super::ComputeCall;
use super::def::{Computed, DTypes, OpDef, Pattern, X1_X2, attr, operand, tensor};
use super::rules::{self, axis_of, tensor_like};
use crate::ir::graph::{AttrDefault, AttrKind, InferError, OpCall, OperandKind};
use crate::ir::{Expr, ShapeInfo, StructInfo, TensorInfo};
use crate::te::{self, Tensor};
use crate::tensor::DType;
use crate::tensor::scalar::BinOp;
use crate::topi;

pub(super) const OPS: &[OpDef] = &[
    OpDef::new(
        "bucketize",
        "how many ascending boundaries are below each element, or with right, not above it; all for NaN",
    )
    .operands(&[tensor("input_tensor"), tensor("boundaries")])
    .attrs(&[
        attr("out_int32", AttrKind::Bool, AttrDefault::Bool(false)),
        attr("right", AttrKind::Bool, AttrDefault::Bool(false)),
    ])
    .dtypes(DTypes::Numeric)
    .infer(infer_bucketize)
    .compute(bucketize)
    .pattern(Pattern::CommReduce),
    OpDef::new(
        "gather_elements",
        "the elements at these indices along an axis, at the other indices of the index itself",
    )
    .operands(&[tensor("data"), tensor("indices")])
    .attrs(&[attr("axis", AttrKind::Int, AttrDefault::Int(0))])
    .infer(infer_gather_elements)
    .compute(gather_elements)
    .pattern(Pattern::Injective),
    OpDef::new(
        "gather_nd",
        "the slices whose first indices, after those of the batch, are the last dimension of the indices",
    )
    .operands(&[tensor("data"), tensor("indices")])
    .attrs(&[attr("batch_dims", AttrKind::Int, AttrDefault::Int(0))])
    .infer(infer_gather_nd)
    .compute(gather_nd)
    .pattern(Pattern::Injective),
    OpDef::new(
        "index_tensor",
        "the slices at broadcast indices, a tensor of them for each of the first dimensions",
    )
    .operands(&[tensor("data"), operand("indices", OperandKind::Tensors)])
    .infer(infer_index_tensor)
    .compute(index_tensor)
    .pattern(Pattern::Injective),
    OpDef::new(
        "multinomial_from_uniform",
        "the first index at which the running sum of the probabilities of a row passes a number in 0 .. 1",
    )
    .operands(&[
        tensor("prob"),
        tensor("uniform_sample"),
        tensor("sample_indices"),
    ])
    .attrs(&[attr("dtype", AttrKind::DType, AttrDefault::Str("int64"))])
    .dtypes(DTypes::Float)
    .infer(infer_multinomial)
    .compute(multinomial),
    OpDef::new(
        "take",
        "slices at indices along an axis; of a vector without one. wrap: modulo the extent, clip: the nearest one, nan: NaN outside",
    )
    .operands(&[tensor("x"), tensor("indices")])
    .attrs(&[
        attr("axis", AttrKind::Int, AttrDefault::None),
        attr(
            "mode",
            AttrKind::Str(&["fast", "wrap", "clip", "nan"]),
            AttrDefault::Str("fast"),
        ),
    ])
    .infer(infer_take)
    .compute(take)
    .pattern(Pattern::Injective),
    OpDef::new(
        "searchsorted",
        "bucketize with the boundaries first",
    )
    .operands(X1_X2)
    .attrs(&[
        attr("out_int32", AttrKind::Bool, AttrDefault::Bool(false)),
        attr("right", AttrKind::Bool, AttrDefault::Bool(false)),
    ])
    .dtypes(DTypes::Numeric)
    .infer(|c| positions(c, 1, 0))
    .compute(|c| count_below(c, c.x(1), c.x(0)))
    .pattern(Pattern::CommReduce),
];

/// The shape of operand `index`: a scalar counts as a tensor without dimensions.
fn shape_of(c: &OpCall<'_>, index: usize) -> Result<Option<ShapeInfo>, InferError> {
    match &c.operands[index] {
        StructInfo::Prim { dtype: _, value: _ } => Ok(Some(ShapeInfo::Known(vec![]))),
        _ => Ok(c.tensor(index)?.map(|info| info.shape.clone())),
    }
}

/// The dimension that is indexed. Without the attribute, the only one.
fn taken_axis(c: &OpCall<'_>, ndim: usize) -> Result<usize, InferError> {
    match c.int("axis")? {
        Some(axis) => c.axis(axis, ndim),
        None if ndim == 1 => Ok(0),
        None => Err(c.bad_operand(0, "a vector, if there is no axis")),
    }
}

fn infer_take(c: &OpCall<'_>) -> rules::Inferred {
    rules::check_indices(c, 1)?;
    let (Some(info), Some(indices)) = (c.tensor(0)?, shape_of(c, 1)?) else {
        return Ok(StructInfo::Object);
    };
    let is_float = info.dtype.is_none_or(|dtype| dtype.is_float());
    if !is_float && c.text("mode")?.as_deref() == Some("nan") {
        return Err(c.bad_operand(0, "floats, if indices outside give NaN"));
    }
    let axis = info
        .shape
        .ndim()
        .map(|ndim| taken_axis(c, ndim))
        .transpose()?;
    let shape = match (info.shape.dims(), indices.dims(), axis) {
        (Some(dims), Some(indices), Some(axis)) => {
            let mut dims = dims.to_vec();
            dims.splice(axis..=axis, indices.iter().cloned());
            ShapeInfo::Known(dims)
        }
        _ => match (info.shape.ndim(), indices.ndim()) {
            (Some(n), Some(m)) => ShapeInfo::Ndim(n + m - 1),
            _ => ShapeInfo::Unknown,
        },
    };
    Ok(tensor_like(info, shape, info.dtype))
}

fn take(c: &ComputeCall<'_>) -> Computed {
    let (x, indices) = (c.x(0), c.x(1));
    let axis = taken_axis(c, x.ndim())?;
    let extent = &x.shape()[axis];
    let mode = c.text("mode")?;
    let place = |index: Expr| match mode.as_deref() {
        Some("wrap") => {
            let index = topi::wide_index(&index);
            index.floor_mod(extent.cast(index.dtype()))
        }
        Some("clip" | "nan") => topi::clipped(&topi::wide_index(&index), extent),
        _ => topi::bounded(&index, extent),
    };
    let is_within = |index: &Expr| {
        let index = topi::wide_index(index);
        let zero = Expr::constant(0, index.dtype());
        zero.le(index.clone())
            .and(index.lt(extent.cast(index.dtype())))
    };
    let inner = axis + indices.ndim();
    let shape = c.result_shape(0).to_vec();
    Ok(vec![te::compute("take", shape, |i| {
        let index = topi::element(indices, &i[axis..inner]);
        let outer = i[..axis].iter().cloned();
        let at = outer.chain([place(index.clone())]);
        let value = x.at(at.chain(i[inner..].iter().cloned()));
        match mode.as_deref() {
            Some("nan") => {
                let nan = Expr::float(f64::NAN, value.dtype());
                topi::guarded(is_within(&index), value, nan)
            }
            _ => value,
        }
    })])
}

fn infer_gather_elements(c: &OpCall<'_>) -> rules::Inferred {
    rules::check_indices(c, 1)?;
    let (Some(info), Some(indices)) = (c.tensor(0)?, c.tensor(1)?) else {
        return Ok(StructInfo::Object);
    };
    if let (Some(n), Some(m)) = (info.shape.ndim(), indices.shape.ndim()) {
        let axis = axis_of(c, "axis", n)?;
        if n != m {
            return Err(c.bad_operand(1, "indices with as many dimensions as the data"));
        }
        if let (Some(data), Some(indices)) = (info.shape.dims(), indices.shape.dims()) {
            rules::indices_within(c, indices, data, axis)?;
        }
    }
    Ok(tensor_like(info, indices.shape.clone(), info.dtype))
}

fn gather_elements(c: &ComputeCall<'_>) -> Computed {
    let (x, indices) = (c.x(0), c.x(1));
    let axis = axis_of(c, "axis", x.ndim())?;
    let at = |i: &[Expr]| topi::bounded(&indices.at(i), &x.shape()[axis]);
    Ok(vec![topi::reindex(
        c.name(),
        x,
        c.result_shape(0),
        axis,
        at,
    )])
}

/// How many leading dimensions are a batch.
fn batch_dims(c: &OpCall<'_>, ndim: usize) -> Result<usize, InferError> {
    let dims = c.int("batch_dims")?.unwrap_or(0);
    let dims = usize::try_from(dims).ok().filter(|dims| *dims < ndim);
    dims.ok_or_else(|| {
        c.bad_attribute(
            "batch_dims",
            "an integer from 0, below the number of dimensions",
        )
    })
}

/// How many dimensions an index in the last dimension of operand `index` selects.
pub(super) fn depth(c: &OpCall<'_>, index: usize, dims: &[Expr]) -> Result<usize, InferError> {
    let last = dims.last().and_then(Expr::as_int);
    let last = last.and_then(|last| usize::try_from(last).ok());
    last.ok_or_else(|| c.bad_operand(index, "indices whose last extent is a constant"))
}

fn infer_gather_nd(c: &OpCall<'_>) -> rules::Inferred {
    rules::check_indices(c, 1)?;
    let (Some(info), Some(indices)) = (c.tensor(0)?, c.tensor(1)?) else {
        return Ok(StructInfo::Object);
    };
    let (Some(dims), Some(index)) = (info.shape.dims(), indices.shape.dims()) else {
        return Ok(tensor_like(info, ShapeInfo::Unknown, info.dtype));
    };
    if index.is_empty() {
        return Err(c.bad_operand(1, "indices with at least one dimension"));
    }
    let batch = batch_dims(c, dims.len().min(index.len()))?;
    for (a, b) in dims[..batch].iter().zip(index) {
        rules::equal_extents(c, "the extents of the batch", a, b)?;
    }
    let selected = batch + depth(c, 1, index)?;
    let Some(rest) = dims.get(selected..) else {
        return Err(c.bad_operand(1, "indices of no more dimensions than the data has"));
    };
    let shape = [&index[..index.len() - 1], rest].concat();
    Ok(tensor_like(info, ShapeInfo::Known(shape), info.dtype))
}

fn gather_nd(c: &ComputeCall<'_>) -> Computed {
    let (x, indices) = (c.x(0), c.x(1));
    let batch = batch_dims(c, x.ndim().min(indices.ndim()))?;
    let depth = depth(c, 1, indices.shape())?;
    let places = indices.ndim() - 1;
    let shape = c.result_shape(0).to_vec();
    Ok(vec![te::compute(c.name(), shape, |i| {
        let mut index = i[..batch].to_vec();
        for k in 0..depth {
            let at = i[..places].iter().cloned().chain([Expr::i64(k as i64)]);
            index.push(topi::bounded(&indices.at(at), &x.shape()[batch + k]));
        }
        index.extend_from_slice(&i[places..]);
        x.at(index)
    })])
}

/// The shape that the indices in the tuple of operand `index` broadcast to.
pub(super) fn broadcast_indices(
    c: &OpCall<'_>,
    indices: &[&TensorInfo],
) -> Result<ShapeInfo, InferError> {
    let mut shape = ShapeInfo::Known(vec![]);
    for info in indices {
        if info.dtype.is_some_and(|dtype| !dtype.is_int()) {
            return Err(c.bad_operand(1, "a tuple of tensors of integers"));
        }
        shape = rules::broadcast_shapes(c, &shape, &info.shape)?;
    }
    Ok(shape)
}

fn infer_index_tensor(c: &OpCall<'_>) -> rules::Inferred {
    let (Some(info), Some(indices)) = (c.tensor(0)?, c.tensors(1)?) else {
        return Ok(StructInfo::Object);
    };
    let places = broadcast_indices(c, &indices)?;
    let (Some(dims), Some(places)) = (info.shape.dims(), places.dims()) else {
        return Ok(tensor_like(info, ShapeInfo::Unknown, info.dtype));
    };
    let Some(rest) = dims.get(indices.len()..) else {
        return Err(c.bad_operand(1, "no more tensors than the data has dimensions"));
    };
    Ok(tensor_like(
        info,
        ShapeInfo::Known([places, rest].concat()),
        info.dtype,
    ))
}

fn index_tensor(c: &ComputeCall<'_>) -> Computed {
    let (x, indices) = (c.x(0), c.xs(1));
    let shape = c.result_shape(0).to_vec();
    let places = shape.len() - (x.ndim() - indices.len());
    Ok(vec![te::compute(c.name(), shape, |i| {
        let index = indices.iter().zip(x.shape());
        let index =
            index.map(|(at, extent)| topi::bounded(&topi::element(at, &i[..places]), extent));
        x.at(index.chain(i[places..].iter().cloned()))
    })])
}

fn infer_bucketize(c: &OpCall<'_>) -> rules::Inferred {
    positions(c, 0, 1)
}

/// The shape of operand `values`, in the type of positions.
fn positions(c: &OpCall<'_>, values: usize, boundaries: usize) -> rules::Inferred {
    rules::check_dtype(c, 0)?;
    rules::dims_of(c, boundaries, 1, "a vector")?;
    let dtype = match c.flag("out_int32")? {
        true => DType::I32,
        false => DType::I64,
    };
    let Some(info) = c.tensor(values)? else {
        return Ok(StructInfo::Object);
    };
    rules::equal_types(
        c,
        info.dtype,
        c.tensor(boundaries)?.and_then(|info| info.dtype),
    )?;
    Ok(tensor_like(info, info.shape.clone(), Some(dtype)))
}

fn bucketize(c: &ComputeCall<'_>) -> Computed {
    count_below(c, c.x(0), c.x(1))
}

/// Every boundary is compared: as many comparisons as there are boundaries, all elements at once.
fn count_below(c: &ComputeCall<'_>, x: &Tensor, boundaries: &Tensor) -> Computed {
    let k = te::reduce_axis("k", boundaries.shape()[0].clone());
    let dtype = c.result_dtype(0);
    let passed = match c.flag("right")? {
        true => BinOp::Lt,
        false => BinOp::Le,
    };
    Ok(vec![te::compute(c.name(), x.shape().to_vec(), |i| {
        // Not `boundary < x`: NaN is past all boundaries.
        let before = Expr::binary(passed, x.at(i), boundaries.at([&k])).not();
        let one = Expr::select(before, Expr::constant(1, dtype), Expr::constant(0, dtype));
        te::sum(one, [&k])
    })])
}

fn infer_multinomial(c: &OpCall<'_>) -> rules::Inferred {
    rules::check_dtype(c, 0)?;
    rules::check_indices(c, 2)?;
    rules::dims_of(c, 0, 2, "a matrix of probabilities")?;
    let samples = rules::dims_of(c, 1, 2, "a matrix of one column")?;
    let indices = rules::dims_of(c, 2, 2, "a matrix of one column")?;
    if let (Some([n, one]), Some([m, other])) = (samples, indices) {
        rules::equal_extents(c, "the numbers of samples", n, m)?;
        rules::equal_extents(c, "the columns and 1", one, &Expr::i64(1))?;
        rules::equal_extents(c, "the columns and 1", other, &Expr::i64(1))?;
    }
    let dtype = c.dtype("dtype")?;
    Ok(match c.tensor(1)? {
        Some(info) => tensor_like(info, info.shape.clone(), dtype),
        None => StructInfo::Object,
    })
}

/// The count of indices whose running sum is not above the sample, at most the last one.
fn multinomial(c: &ComputeCall<'_>) -> Computed {
    let (prob, sample, indices) = (c.x(0), c.x(1), c.x(2));
    let sums = topi::cumulative(
        "cumsum",
        BinOp::Add,
        prob,
        1,
        topi::Scan::default(),
        prob.dtype(),
        c.threads(),
    );
    let extent = prob.shape()[1].clone();
    let k = te::reduce_axis("k", extent.clone());
    let dtype = c.result_dtype(0);
    let count = te::compute("count", sample.shape().to_vec(), |i| {
        let row = topi::bounded(&indices.at(i), &prob.shape()[0]);
        let below = sums.at([row, k.expr()]).le(sample.at(i).cast(prob.dtype()));
        te::sum(Expr::select(below, Expr::i32(1), Expr::i32(0)), [&k])
    });
    Ok(vec![topi::map(c.name(), &count, |count| {
        topi::clipped(&count, &extent).cast(dtype)
    })])
}
