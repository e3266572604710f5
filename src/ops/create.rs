//! Operators that make tensors.

use super::def::{Computed, DTypes, OpDef, Pattern, X, attr, operand, optional, tensor};
use super::rules::tensor_like;
use super::{ComputeCall, rules};
use crate::ir::graph::{
    Arg, AttrDefault, AttrKind, AttrSpec, InferError, OpCall, Operand, OperandKind,
};
use crate::ir::{Expr, ShapeInfo, StructInfo, TensorInfo};
use crate::te;
use crate::tensor::DType;
use crate::tensor::scalar::Intrin;
use crate::topi;

const DTYPE: AttrSpec = attr("dtype", AttrKind::DType, AttrDefault::None);
const SHAPE: Operand = operand("shape", OperandKind::Shape);
const K: Operand = optional("k", OperandKind::Scalar);

pub(super) const OPS: &[OpDef] = &[
    OpDef::new("full", "every element is fill_value")
        .operands(&[SHAPE, tensor("fill_value")])
        .attrs(&[DTYPE])
        .infer(fill)
        .compute(full)
        .pattern(Pattern::Injective),
    OpDef::new(
        "arange",
        "start, start + step, … before end; one operand is the end",
    )
    .operands(&[
        operand("start", OperandKind::Scalar),
        optional("end", OperandKind::Scalar),
        optional("step", OperandKind::Scalar),
    ])
    .left_out(|operands| {
        if let [start, end @ None, ..] = operands {
            *end = start.replace(Arg::Prim(Expr::i64(0)));
        }
    })
    .attrs(&[DTYPE])
    .infer(infer_arange)
    .compute(arange)
    .pattern(Pattern::Injective),
    OpDef::new("eye", "1 on the k-th diagonal, else 0")
        .operands(&[
            operand("n", OperandKind::Scalar),
            optional("m", OperandKind::Scalar),
            optional("k", OperandKind::Scalar),
        ])
        .left_out(|operands| {
            if let [n, m @ None, ..] = operands {
                m.clone_from(n);
            }
        })
        .attrs(&[attr("dtype", AttrKind::DType, AttrDefault::Str("float32"))])
        .infer(infer_eye)
        .compute(|c| diagonal(c, 2))
        .pattern(Pattern::Injective),
    OpDef::new("eye_like", "eye in the shape of a matrix")
        .operands(&[tensor("x"), K])
        .attrs(&[DTYPE])
        .infer(infer_eye_like)
        .compute(|c| diagonal(c, 1))
        .pattern(Pattern::Injective),
    OpDef::new("full_like", "fill_value in the shape of x")
        .operands(&[tensor("x"), tensor("fill_value")])
        .attrs(&[DTYPE])
        .infer(rules::like_first)
        .compute(full)
        .programs_named("full")
        .pattern(Pattern::ElemWise),
    OpDef::new(
        "hamming_window",
        "alpha - beta * cos(2 pi i / n), of a window of n that goes on periodically, or of n - 1",
    )
    .operands(&[
        operand("window_size", OperandKind::Scalar),
        operand("periodic", OperandKind::Scalar),
        operand("alpha", OperandKind::Scalar),
        operand("beta", OperandKind::Scalar),
    ])
    .attrs(&[attr("dtype", AttrKind::DType, AttrDefault::Str("float32"))])
    .dtypes(DTypes::Float)
    .infer(infer_window)
    .compute(window)
    .pattern(Pattern::Injective),
    OpDef::new(
        "meshgrid",
        "the coordinates of a grid: a tensor for each of the vectors",
    )
    .operands(&[operand("tensors", OperandKind::Tensors)])
    .attrs(&[attr(
        "indexing",
        AttrKind::Str(&["ij", "xy"]),
        AttrDefault::Str("ij"),
    )])
    .infer(infer_meshgrid)
    .compute(meshgrid)
    .pattern(Pattern::Tuple),
    OpDef::new(
        "one_hot",
        "on_value at the index along a new axis, else off_value; off_value for an index outside",
    )
    .operands(&[
        tensor("indices"),
        operand("on_value", OperandKind::Scalar),
        operand("off_value", OperandKind::Scalar),
    ])
    .attrs(&[
        attr("depth", AttrKind::Int, AttrDefault::Required),
        attr("axis", AttrKind::Int, AttrDefault::Int(-1)),
    ])
    .dtypes(DTypes::Int)
    .infer(infer_one_hot)
    .compute(one_hot)
    .pattern(Pattern::Injective),
    OpDef::new("ones_like", "1 in the shape of x")
        .operands(X)
        .attrs(&[DTYPE])
        .infer(rules::like_first)
        .compute(|c| constant(c, 1))
        .programs_named("ones")
        .pattern(Pattern::ElemWise),
    OpDef::new("tril", "0 above the k-th diagonal of matrices")
        .operands(&[tensor("x"), K])
        .infer(matrices)
        .compute(|c| {
            let k = rules::scalar_or(c, 1, 0)?.cast(DType::I64);
            triangle(c, Triangle::Lower, &k)
        })
        .pattern(Pattern::ElemWise),
    OpDef::new(
        "trilu",
        "the upper or the lower triangle of matrices, where k is a tensor with one element",
    )
    .operands(&[tensor("x"), optional("k", OperandKind::Tensor)])
    .attrs(&[attr("upper", AttrKind::Bool, AttrDefault::Bool(true))])
    .infer(matrices)
    .compute(trilu)
    .pattern(Pattern::ElemWise),
    OpDef::new("triu", "0 below the k-th diagonal of matrices")
        .operands(&[tensor("x"), K])
        .infer(matrices)
        .compute(|c| {
            let k = rules::scalar_or(c, 1, 0)?.cast(DType::I64);
            triangle(c, Triangle::Upper, &k)
        })
        .pattern(Pattern::ElemWise),
    OpDef::new("zeros_like", "0 in the shape of x")
        .operands(X)
        .attrs(&[DTYPE])
        .infer(rules::like_first)
        .compute(|c| constant(c, 0))
        .programs_named("zeros")
        .pattern(Pattern::ElemWise),
    OpDef::new("ones", "every element is 1")
        .operands(&[SHAPE])
        .attrs(&[DTYPE])
        .infer(fill)
        .compute(|c| constant(c, 1))
        .pattern(Pattern::Injective),
    OpDef::new("zeros", "every element is 0")
        .operands(&[SHAPE])
        .attrs(&[DTYPE])
        .infer(fill)
        .compute(|c| constant(c, 0))
        .pattern(Pattern::Injective),
];

/// The shape of the first operand, the element type of `dtype` or of the value.
fn fill(c: &OpCall<'_>) -> rules::Inferred {
    let value = match c.operands.get(1) {
        Some(StructInfo::Prim { dtype, value: _ }) => Some(*dtype),
        Some(_) => c.tensor(1)?.and_then(|info| info.dtype),
        None => None,
    };
    Ok(StructInfo::Tensor(TensorInfo {
        shape: c.shape(0),
        dtype: c.dtype("dtype")?.or(value),
        vdevice: None,
    }))
}

fn constant(c: &ComputeCall<'_>, value: i64) -> Computed {
    let value = Expr::constant(value, c.result_dtype(0));
    Ok(vec![topi::full(c.name(), c.result_shape(0), &value)])
}

fn full(c: &ComputeCall<'_>) -> Computed {
    let (value, dtype) = (c.x(1), c.result_dtype(0));
    Ok(vec![te::compute(
        c.name(),
        c.result_shape(0).to_vec(),
        |_| topi::element(value, &[]).cast(dtype),
    )])
}

fn dense(shape: Vec<Expr>, dtype: Option<DType>) -> StructInfo {
    StructInfo::Tensor(TensorInfo {
        shape: ShapeInfo::Known(shape),
        dtype,
        vdevice: None,
    })
}

/// The type of a result whose extents are scalars among the operands, if the value of one of these is not known.
fn of_unknown_extents(c: &OpCall<'_>, ndim: usize, dtype: Option<DType>) -> Option<StructInfo> {
    let is_unknown = |operand: &StructInfo| {
        matches!(
            operand,
            StructInfo::Prim {
                dtype: _,
                value: None
            }
        )
    };
    let unknown = c.operands.iter().any(is_unknown);
    unknown.then_some(StructInfo::Tensor(TensorInfo {
        shape: ShapeInfo::Ndim(ndim),
        dtype,
        vdevice: None,
    }))
}

/// First value, end and step of `arange`.
fn bounds(c: &OpCall<'_>) -> Result<[Expr; 3], InferError> {
    let (start, end) = if c.has(1) {
        (rules::scalar_or(c, 0, 0)?, rules::scalar_or(c, 1, 0)?)
    } else {
        (Expr::i64(0), rules::scalar_or(c, 0, 0)?)
    };
    Ok([start, end, rules::scalar_or(c, 2, 1)?])
}

/// How many values `arange` has: of floats those of constants, of integers also symbolic ones with a constant step.
fn infer_arange(c: &OpCall<'_>) -> rules::Inferred {
    let given = c.dtype("dtype")?;
    if let Some(unknown) = of_unknown_extents(c, 1, given) {
        return Ok(unknown);
    }
    let [start, end, step] = bounds(c)?;
    let last = c.operands.len() - 1;
    if start.dtype().is_int() && end.dtype().is_int() && step.dtype().is_int() {
        let step = step.as_int().filter(|step| *step != 0);
        let step = step.ok_or_else(|| c.bad_operand(last, "a constant step that is not 0"))?;
        let [start, end] = [start, end].map(|bound| bound.cast(DType::I64));
        if let (Some(first), Some(end)) = (start.as_int(), end.as_int())
            && end.checked_sub(first).is_none()
        {
            return Err(c.bad_operand(last, "bounds that are less than 2^63 apart"));
        }
        let span = if step > 0 { end - start } else { start - end };
        let size = Expr::i64(step.saturating_abs());
        let up = Expr::i64(step.saturating_abs() - 1);
        let count = rules::simple(&(span + up).floor_div(size).max(0i64));
        return Ok(dense(vec![count], Some(given.unwrap_or(DType::I64))));
    }
    let number = |e: &Expr| e.as_float().or(e.as_int().map(|v| v as f64));
    let numbers = [number(&start), number(&end), number(&step)];
    let [Some(start), Some(end), Some(step)] = numbers else {
        return Err(c.bad_operand(last, "constants, where one of them is a float"));
    };
    let count = ((end - start) / step).ceil();
    if !count.is_finite() || count >= i64::MAX as f64 {
        return Err(c.bad_operand(last, "a step that is not 0"));
    }
    let dtype = given.unwrap_or(DType::F32);
    Ok(dense(vec![Expr::i64((count as i64).max(0))], Some(dtype)))
}

/// A constant as an integer, if a float stands for one exactly: integers are counted without rounding.
fn integral(e: &Expr) -> Expr {
    const EXACT: f64 = (1_i64 << f64::MANTISSA_DIGITS) as f64;
    match e.as_float() {
        Some(v) if v.fract() == 0.0 && v.abs() < EXACT => Expr::i64(v as i64),
        _ => e.clone(),
    }
}

fn arange(c: &ComputeCall<'_>) -> Computed {
    let [start, _, step] = bounds(c)?.map(|bound| integral(&bound));
    let dtype = c.result_dtype(0);
    let integers = start.dtype().is_int() && step.dtype().is_int();
    let value = |i: &[Expr]| {
        if integers {
            let start = start.cast(DType::I64);
            return (start + i[0].clone() * step.cast(DType::I64)).cast(dtype);
        }
        let wide = topi::accumulator(if dtype.is_float() { dtype } else { DType::F32 });
        (start.cast(wide) + i[0].cast(wide) * step.cast(wide)).cast(dtype)
    };
    let shape = c.result_shape(0).to_vec();
    Ok(vec![te::compute("arange", shape, value)])
}

fn infer_eye(c: &OpCall<'_>) -> rules::Inferred {
    if let Some(unknown) = of_unknown_extents(c, 2, c.dtype("dtype")?) {
        return Ok(unknown);
    }
    let n = rules::scalar_or(c, 0, 0)?.cast(DType::I64);
    let m = if c.has(1) {
        rules::scalar_or(c, 1, 0)?.cast(DType::I64)
    } else {
        n.clone()
    };
    rules::not_negative(c, &n)?;
    rules::not_negative(c, &m)?;
    Ok(dense(vec![n, m], c.dtype("dtype")?))
}

fn infer_eye_like(c: &OpCall<'_>) -> rules::Inferred {
    rules::dims_of(c, 0, 2, "a matrix")?;
    rules::like_first(c)
}

/// 1 on the diagonal that operand `k` says.
fn diagonal(c: &ComputeCall<'_>, k: usize) -> Computed {
    let k = rules::scalar_or(c, k, 0)?.cast(DType::I64);
    let dtype = c.result_dtype(0);
    let number = |v| Expr::constant(v, dtype);
    let shape = c.result_shape(0).to_vec();
    Ok(vec![te::compute(c.name(), shape, |i| {
        let on = (i[1].clone() - &i[0]).equals(&k);
        Expr::select(on, number(1), number(0))
    })])
}

fn infer_window(c: &OpCall<'_>) -> rules::Inferred {
    let dtype = c.dtype("dtype")?;
    if let Some(unknown) = of_unknown_extents(c, 1, dtype) {
        return Ok(unknown);
    }
    let size = rules::scalar_or(c, 0, 0)?.cast(DType::I64);
    if dtype.is_some_and(|dtype| !dtype.is_float()) {
        return Err(c.bad_attribute("dtype", "a type of floats"));
    }
    rules::not_negative(c, &size)?;
    Ok(dense(vec![size], dtype))
}

/// A window of one element is 1.
fn window(c: &ComputeCall<'_>) -> Computed {
    let dtype = c.result_dtype(0);
    let size = c.result_shape(0)[0].clone();
    let periodic = rules::scalar_or(c, 1, 1)?;
    let (alpha, beta) = (rules::scalar_or(c, 2, 0)?, rules::scalar_or(c, 3, 0)?);
    let shorter = Expr::select(
        periodic.equals(Expr::constant(0, periodic.dtype())),
        Expr::i64(1),
        Expr::i64(0),
    );
    let wide = topi::accumulator(dtype);
    let circle = Expr::float(2.0 * std::f64::consts::PI, wide);
    Ok(vec![te::compute("hamming_window", [size.clone()], |i| {
        let steps = (size.clone() - &shorter).max(1i64).cast(wide);
        let angle = i[0].cast(wide) * &circle / steps;
        let cos = Expr::call(Intrin::Cos, vec![angle]);
        let value = (alpha.cast(wide) - beta.cast(wide) * cos).cast(dtype);
        Expr::select(size.equals(1i64), Expr::float(1.0, dtype), value)
    })])
}

/// For each axis of the grid the vector that runs along it.
fn grid_order(c: &OpCall<'_>, count: usize) -> Result<Vec<usize>, InferError> {
    let mut order: Vec<usize> = (0..count).collect();
    if c.text("indexing")?.as_deref() == Some("xy") && count > 1 {
        order.swap(0, 1);
    }
    Ok(order)
}

fn infer_meshgrid(c: &OpCall<'_>) -> rules::Inferred {
    let Some(tensors) = c.tensors(0)? else {
        return Ok(StructInfo::Object);
    };
    let extent = |info: &&TensorInfo| match (info.shape.ndim(), info.shape.dims()) {
        (Some(2..), _) => Err(c.bad_operand(0, "a tuple of vectors and scalars")),
        (_, Some([extent])) => Ok(Some(extent.clone())),
        (_, Some([])) => Ok(Some(Expr::i64(1))),
        _ => Ok(None),
    };
    let extents: Option<Vec<Expr>> = tensors.iter().map(extent).collect::<Result<_, _>>()?;
    let order = grid_order(c, tensors.len())?;
    let shape = match extents {
        Some(extents) => ShapeInfo::Known(order.iter().map(|&at| extents[at].clone()).collect()),
        None => ShapeInfo::Ndim(tensors.len()),
    };
    let result = tensors
        .iter()
        .map(|info| tensor_like(info, shape.clone(), info.dtype));
    Ok(StructInfo::Tuple(result.collect()))
}

fn meshgrid(c: &ComputeCall<'_>) -> Computed {
    let tensors = c.xs(0);
    let order = grid_order(c, tensors.len())?;
    let coordinate = |(at, x): (usize, &te::Tensor)| {
        let axis = order.iter().position(|&vector| vector == at);
        let axis = axis.expect("the order is a permutation");
        let shape = c.result_shape(at).to_vec();
        te::compute(format!("meshgrid_{at}"), shape, |i| {
            x.at(i[axis..].iter().take(x.ndim()))
        })
    };
    Ok(tensors.iter().enumerate().map(coordinate).collect())
}

fn infer_one_hot(c: &OpCall<'_>) -> rules::Inferred {
    rules::check_dtype(c, 0)?;
    let (on, off) = (rules::scalar_or(c, 1, 0)?, rules::scalar_or(c, 2, 0)?);
    if on.dtype() != off.dtype() {
        return Err(InferError::ElementTypes {
            op: c.op.name().to_owned(),
            lhs: on.dtype(),
            rhs: off.dtype(),
        });
    }
    let depth = c.int("depth")?.filter(|depth| *depth > 0);
    let depth = depth.ok_or_else(|| c.bad_attribute("depth", "an integer of at least 1"))?;
    let Some(info) = c.tensor(0)? else {
        return Ok(StructInfo::Object);
    };
    let shape = match (info.shape.dims(), info.shape.ndim()) {
        (Some(dims), _) => {
            let axis = rules::axis_of(c, "axis", dims.len() + 1)?;
            let mut dims = dims.to_vec();
            dims.insert(axis, Expr::i64(depth));
            ShapeInfo::Known(dims)
        }
        (None, Some(ndim)) => ShapeInfo::Ndim(ndim + 1),
        (None, None) => ShapeInfo::Unknown,
    };
    Ok(tensor_like(info, shape, Some(on.dtype())))
}

fn one_hot(c: &ComputeCall<'_>) -> Computed {
    let indices = c.x(0);
    let (on, off) = (rules::scalar_or(c, 1, 0)?, rules::scalar_or(c, 2, 0)?);
    let axis = rules::axis_of(c, "axis", indices.ndim() + 1)?;
    let shape = c.result_shape(0).to_vec();
    Ok(vec![te::compute("one_hot", shape, |i| {
        let mut outer = i.to_vec();
        let at = outer.remove(axis);
        let index = topi::wide_index(&indices.at(outer));
        let is = index.equals(at.cast(index.dtype()));
        Expr::select(is, on.clone(), off.clone())
    })])
}

fn matrices(c: &OpCall<'_>) -> rules::Inferred {
    if let Some(info) = c.tensor(0)?
        && info.shape.ndim().is_some_and(|ndim| ndim < 2)
    {
        return Err(c.bad_operand(0, "a tensor with at least two dimensions"));
    }
    rules::identity(c)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Triangle {
    Lower,
    Upper,
}

fn triangle(c: &ComputeCall<'_>, which: Triangle, k: &Expr) -> Computed {
    let x = c.x(0);
    let zero = Expr::constant(0, x.dtype());
    let last = x.ndim() - 1;
    Ok(vec![topi::map_at(c.name(), x, |i, x| {
        let diagonal = (i[last].clone() - &i[last - 1]).cast(k.dtype());
        let kept = match which {
            Triangle::Lower => diagonal.le(k),
            Triangle::Upper => diagonal.ge(k),
        };
        Expr::select(kept, x, zero.clone())
    })])
}

fn trilu(c: &ComputeCall<'_>) -> Computed {
    let k = if c.has(1) {
        topi::wide_index(&topi::element(c.x(1), &vec![Expr::i64(0); c.x(1).ndim()]))
    } else {
        Expr::i64(0)
    };
    let which = if c.flag("upper")? {
        Triangle::Upper
    } else {
        Triangle::Lower
    };
    triangle(c, which, &k)
}
