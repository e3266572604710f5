//! Shapes: asking for them, changing them, and tensors made of them.

use super::pieces::volume;
use serde_json::json;

use super::{Operator, fold};
use crate::frontend::onnx::call::{
    Call, Outputs, attrs, cast, in_type, materialized, number, one, shown,
};
use crate::frontend::onnx::error::{Fault, MAX_RANK};
use crate::frontend::onnx::tensor;
use crate::frontend::onnx::value::{Known, Value};
use crate::ir::{AttrValue, Expr as Size, StructInfo};
use crate::relax::{self, Expr};
use crate::tensor::{DType, Tensor};

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new(
        "Constant",
        &[1, 9, 11, 12, 13, 19, 21, 23, 24, 25],
        constant,
    ),
    Operator::new(
        "ConstantOfShape",
        &[9, 20, 21, 23, 24, 25],
        constant_of_shape,
    ),
    Operator::new("Expand", &[8, 13], expand).folds(fold::expand),
    Operator::new("EyeLike", &[9, 22], eye_like),
    Operator::new("Flatten", &[1, 9, 11, 13, 21, 23, 24, 25], flatten),
    Operator::new("OneHot", &[9, 11, 28], one_hot),
    Operator::new("Range", &[11, 27], range).folds(fold::range),
    Operator::new("Reshape", &[5, 13, 14, 19, 21, 23, 24, 25], reshape),
    Operator::new("Shape", &[1, 13, 15, 19, 21, 23, 24, 25], shape),
    Operator::new("Size", &[1, 13, 19, 21, 23, 24, 25], size),
    Operator::new("Squeeze", &[1, 11, 13, 21, 23, 24, 25], squeeze).note(
        "axes that follow from the model; without axes, no symbolic extent may be 1 in a call",
    ),
    Operator::new("Tile", &[6, 13], tile),
    Operator::new("Transpose", &[1, 13, 21, 23, 24, 25], transpose),
    Operator::new("Trilu", &[14], trilu).note("a diagonal that follows from the model"),
    Operator::new("Unsqueeze", &[1, 11, 13, 21, 23, 24, 25], unsqueeze)
        .note("axes that follow from the model"),
];

fn constant(c: &mut Call<'_, '_>) -> Outputs {
    let read = |c: &mut Call<'_, '_>, made: Result<Tensor, _>| match made {
        Ok(tensor) => one(tensor),
        Err(fault) => Err(Fault::Tensor {
            name: c.node.output.first().cloned().unwrap_or_default(),
            fault,
        }),
    };
    if let Some(tensor) = c.attributes.tensor("value")? {
        let made = c.importer.tensors.read(tensor);
        return read(c, made);
    }
    if let Some(sparse) = c
        .attributes
        .find("sparse_value")
        .and_then(|a| a.sparse_tensor.as_deref())
    {
        let made = c.importer.tensors.read_sparse(sparse);
        return read(c, made);
    }
    let of = |shape: &[usize], values: &[f32]| Tensor::from_slice(shape, values);
    let made = if let Some(value) = c.attributes.float("value_float")? {
        of(&[], &[value as f32])
    } else if let Some(values) = c.attributes.floats("value_floats")? {
        let values: Vec<f32> = values.iter().map(|&v| v as f32).collect();
        of(&[values.len()], &values)
    } else if let Some(value) = c.attributes.int("value_int")? {
        Tensor::from_slice(&[], &[value])
    } else if let Some(values) = c.attributes.ints("value_ints")? {
        Tensor::from_slice(&[values.len()], &values)
    } else if c.attributes.has("value_string") || c.attributes.has("value_strings") {
        return Err(Fault::ElementType("string".to_owned()));
    } else {
        return Err(Fault::NoAttribute("value".to_owned()));
    };
    one(made.map_err(relax::BuildError::from)?)
}

/// The extents of the operand, or some of them.
fn shape(c: &mut Call<'_, '_>) -> Outputs {
    let dims = c.dims(0)?;
    let rank = dims.len() as i64;
    let place = |at: i64| {
        let at = if at < 0 { at.saturating_add(rank) } else { at };
        at.clamp(0, rank) as usize
    };
    let start = place(c.attributes.int_or("start", 0)?);
    let end = place(c.attributes.int_or("end", rank)?);
    one(Known::vector(dims[start..end.max(start)].to_vec()))
}

fn size(c: &mut Call<'_, '_>) -> Outputs {
    let dims = c.dims(0)?;
    one(Known::scalar(c.importer.arith.simplify(&volume(&dims))))
}

/// Extents as numbers, if all are.
fn constants(dims: &[Size]) -> Option<Vec<usize>> {
    let dims = dims.iter().map(|dim| usize::try_from(dim.as_int()?).ok());
    dims.collect()
}

/// The operand with these extents; elements that are known stay so.
fn with_shape(c: &mut Call<'_, '_>, dims: Vec<Size>) -> Outputs {
    if dims.len() > MAX_RANK {
        return Err(Fault::Rank(dims.len()));
    }
    c.inputs.truncate(1);
    if let Some(known) = fold::reshaped(c, constants(&dims)) {
        return one(known);
    }
    if let (Value::Const(tensor), Some(shape)) = (&c.inputs[0], constants(&dims)) {
        return one(tensor.reshape(&shape).map_err(relax::BuildError::from)?);
    }
    let x = c.x(0)?;
    one(c.reshaped(x, dims)?)
}

/// 0 keeps an extent, -1 is what is left.
fn reshape(c: &mut Call<'_, '_>) -> Outputs {
    let zero_is_zero = c.attributes.flag("allowzero", false)?;
    let dims = c.dims(0)?;
    let dtype = c.dtype(1)?;
    if !dtype.is_int() {
        return Err(c.bad(1, dtype.to_string(), "integers"));
    }
    if c.known(1).is_none() {
        let to = open_sizes(c, &dims, zero_is_zero)?;
        return with_shape(c, to);
    }
    let mut to = c.sizes(1)?;
    for (at, size) in to.iter_mut().enumerate() {
        if size.is_zero() && !zero_is_zero {
            let kept = dims.get(at).cloned();
            *size = kept.ok_or_else(|| {
                c.bad(
                    1,
                    format!("0 in place {at}"),
                    format!("sizes for {}", shown(&dims)),
                )
            })?;
        }
    }
    let left: Vec<usize> = (0..to.len())
        .filter(|&at| to[at].as_int() == Some(-1))
        .collect();
    if let [at] = left[..] {
        let all = volume(&dims);
        let others = to.iter().enumerate().filter(|(i, _)| *i != at);
        let others: Vec<Size> = others.map(|(_, size)| size.clone()).collect();
        let others = volume(&others);
        let arith = &c.importer.arith;
        let (all, others) = (arith.simplify(&all), arith.simplify(&others));
        // An extent of 0 leaves 0 for the open one.
        to[at] = match others.as_int() {
            Some(0) => Size::i64(0),
            _ => arith.simplify(&all.floor_div(others)),
        };
    } else if left.len() > 1 {
        return Err(c.bad(1, "-1 in several places", "sizes of which one is left open"));
    }
    with_shape(c, to)
}

/// Sizes that are computed at run time, any of which may then be 0 (kept) or -1 (what is left): tensors say which, for symbolic
/// sizes are never below 0.
fn open_sizes(c: &mut Call<'_, '_>, dims: &[Size], zero_is_zero: bool) -> Result<Vec<Size>, Fault> {
    let count = c.count(1)?;
    let known = c.partly_known(1).unwrap_or_default();
    let mut to = c.x(1)?;
    let int = |value: i64| number(value as f64, DType::I64);
    if !zero_is_zero {
        let own =
            (0..count as usize).map(|at| dims.get(at).cloned().unwrap_or_else(|| Size::i64(0)));
        let own = materialized(&Known::vector(own.collect()))?;
        let kept = relax::op("equal", [to.clone(), int(0)?]);
        to = c.op("where", [kept, own, to])?.into();
    }
    let all = materialized(&Known::vector(vec![volume(dims)]))?;
    let open = relax::op("less", [to.clone(), int(0)?]);
    let open = c.emit(open)?;
    let others = relax::op("where", [(&open).into(), int(1)?, to.clone()]);
    let others = relax::op_with(
        "prod",
        [others],
        attrs(&json!({"axis": [0], "keepdims": true})),
    );
    let left = relax::op(
        "floor_divide",
        [all, relax::op("maximum", [others, int(1)?])],
    );
    let to = c.op("where", [(&open).into(), left, to])?;
    let shape = c.op("tensor_to_shape", [&to])?;
    let mut sizes = c.symbols(&shape, count as usize)?;
    for (at, (size, known)) in sizes.iter_mut().zip(known).enumerate() {
        match known {
            Some(zero) if zero.is_zero() && !zero_is_zero => {
                if let Some(kept) = dims.get(at) {
                    *size = kept.clone();
                }
            }
            Some(known) if c.importer.arith.can_prove(&known.ge(0i64)) => *size = known,
            Some(_) | None => {}
        }
    }
    Ok(sizes)
}

fn flatten(c: &mut Call<'_, '_>) -> Outputs {
    let dims = c.dims(0)?;
    let axis = c.attributes.int_or("axis", 1)?;
    let axis = c.axis_or_end(axis, dims.len())?;
    let rows = super::activation::rows(&dims, axis);
    let rows = rows
        .iter()
        .map(|size| c.importer.arith.simplify(size))
        .collect();
    with_shape(c, rows)
}

fn squeeze(c: &mut Call<'_, '_>) -> Outputs {
    let dims = c.dims(0)?;
    let axes = match c.ints_since(13, "axes", 1)? {
        Some(axes) => {
            let axes = axes.iter().map(|&axis| c.axis(axis, dims.len()));
            axes.collect::<Result<Vec<usize>, Fault>>()?
        }
        None => {
            // The result would have fewer dimensions if one of these were 1 in a call: such a call is refused.
            for dim in dims.iter().filter(|dim| dim.as_int().is_none()) {
                let kept = Size::select(dim.equals(1), Size::i64(2), dim.cast(DType::I64));
                c.check_size(dim.cast(DType::I64), kept)?;
            }
            (0..dims.len())
                .filter(|&axis| dims[axis].is_one())
                .collect()
        }
    };
    if axes.iter().all(|&axis| dims[axis].as_int().is_some()) {
        if let Some(&axis) = axes.iter().find(|&&axis| !dims[axis].is_one()) {
            let expected = format!("a tensor with extent 1 in dimension {axis}");
            return Err(c.bad(0, shown(&dims), expected));
        }
        let kept = dims
            .iter()
            .enumerate()
            .filter(|(axis, _)| !axes.contains(axis));
        let kept = kept.map(|(_, dim)| dim.clone()).collect();
        return with_shape(c, kept);
    }
    // That a symbolic extent is 1 is checked at run time.
    let known = (dims.iter().enumerate()).map(|(axis, dim)| match axes.contains(&axis) {
        true => Size::i64(1),
        false => dim.clone(),
    });
    let sinfo = StructInfo::tensor(known.collect(), c.dtype(0)?);
    let x = c.var(0)?;
    let x = c.bb.match_cast(&x, sinfo)?;
    let kept = dims
        .iter()
        .enumerate()
        .filter(|(axis, _)| !axes.contains(axis));
    let kept: Vec<Size> = kept.map(|(_, dim)| dim.clone()).collect();
    one(c.reshaped(&x, kept)?)
}

fn unsqueeze(c: &mut Call<'_, '_>) -> Outputs {
    let mut dims = c.dims(0)?;
    let axes = c.ints_since(13, "axes", 1)?;
    let axes = axes.ok_or_else(|| Fault::NoAttribute("axes".to_owned()))?;
    let rank = dims.len() + axes.len();
    let axes = axes.iter().map(|&axis| c.axis(axis, rank));
    let mut axes = axes.collect::<Result<Vec<usize>, Fault>>()?;
    axes.sort_unstable();
    if axes.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(Fault::Attribute {
            name: "axes".to_owned(),
            given: format!("{axes:?}"),
            expected: "without repetition".to_owned(),
        });
    }
    for axis in axes {
        dims.insert(axis, Size::i64(1));
    }
    with_shape(c, dims)
}

fn transpose(c: &mut Call<'_, '_>) -> Outputs {
    let rank = c.ndim(0)?;
    let axes = c.attributes.ints("perm")?;
    let axes = axes.unwrap_or_else(|| (0..rank as i64).rev().collect());
    if let Some(known) = fold::transposed(c, &axes) {
        return one(known);
    }
    let x = c.x(0)?;
    one(c.op_with("permute_dims", [x], &json!({"axes": axes}))?)
}

/// Extents of 1 in either the operand or the shape broadcast.
fn expand(c: &mut Call<'_, '_>) -> Outputs {
    let dims = c.dims(0)?;
    let to = c.sizes(1)?;
    let rank = dims.len().max(to.len());
    let at = |dims: &[Size], axis: usize| match (axis + dims.len()).checked_sub(rank) {
        Some(axis) => dims[axis].clone(),
        None => Size::i64(1),
    };
    let mut result = vec![];
    for axis in 0..rank {
        let (x, to) = (at(&dims, axis), at(&to, axis));
        if c.importer.arith.can_prove_equal(&x, &to) {
            result.push(x);
            continue;
        }
        let both = c.bb.broadcast_extent(&[x, to.clone()])?;
        if !to.is_one() && both != to {
            let asked = Size::select(to.equals(1), both.clone(), to);
            c.check_size(asked, both.clone())?;
        }
        result.push(both);
    }
    let x = c.x(0)?;
    one(c.op("broadcast_to", [x, relax::shape(result)])?)
}

/// A tensor of one number.
fn constant_of_shape(c: &mut Call<'_, '_>) -> Outputs {
    let value = match c.attributes.tensor("value")? {
        Some(proto) => c
            .importer
            .tensors
            .read(proto)
            .map_err(|fault| Fault::Tensor {
                name: "value".to_owned(),
                fault,
            })?,
        None => Tensor::from_slice(&[], &[0f32]).map_err(relax::BuildError::from)?,
    };
    let dtype = value.dtype();
    let element = Known::of(&value).filter(|known| known.elements.len() == 1);
    let element = element.ok_or_else(|| Fault::Attribute {
        name: "value".to_owned(),
        given: format!("a tensor of shape {:?}", value.shape()),
        expected: "a tensor with one element".to_owned(),
    })?;
    let dims = c.sizes(0)?;
    if let Some(shape) = constants(&dims)
        && shape
            .iter()
            .try_fold(1usize, |n, &dim| n.checked_mul(dim))
            .is_some_and(|n| n <= 64)
    {
        let count = shape.iter().product();
        let elements = vec![element.elements[0].clone(); count];
        if let Some(mut known) = Known::new(shape, elements, &c.importer.arith) {
            known.dtype = dtype;
            return one(known);
        }
    }
    let scalar = value.reshape(&[]).map_err(relax::BuildError::from)?;
    let args = [relax::shape(dims), relax::constant(scalar)];
    let mut attributes = attrs(&json!({}));
    attributes.insert("dtype".to_owned(), AttrValue::DType(dtype));
    one(c.emit(relax::op_with("full", args, attributes))?)
}

fn eye_like(c: &mut Call<'_, '_>) -> Outputs {
    let k = c.attributes.int_or("k", 0)?;
    let dtype = match c.attributes.int("dtype")? {
        Some(code) => tensor::dtype(code as i32).map_err(Fault::ElementType)?,
        None => c.dtype(0)?,
    };
    let dims = c.dims(0)?;
    let [rows, columns] = dims.as_slice() else {
        return Err(c.bad(0, shown(&dims), "a matrix"));
    };
    let mut attributes = attrs(&json!({}));
    attributes.insert("dtype".to_owned(), AttrValue::DType(dtype));
    let args = [
        rows.clone().into(),
        columns.clone().into(),
        Expr::from(Size::i64(k)),
    ];
    one(c.emit(relax::op_with("eye", args, attributes))?)
}

/// Indices below 0 count from the end; those outside hit nothing.
fn one_hot(c: &mut Call<'_, '_>) -> Outputs {
    let axis = c.attributes.int_or("axis", -1)?;
    let rank = c.ndim(0)? + 1;
    let axis = c.axis(axis, rank)?;
    let depth = c.sizes(1)?;
    let [depth] = depth.as_slice() else {
        return Err(c.bad(1, format!("{} numbers", depth.len()), "one number"));
    };
    let values = c.dims(2)?;
    if values.first().and_then(Size::as_int) != Some(2) {
        return Err(c.bad(2, shown(&values), "two numbers: off and on"));
    }
    let indices = c.x(0)?;
    let indices = in_type(indices, c.dtype(0)?, DType::I64);
    let zero = number(0.0, DType::I64)?;
    let count = materialized(&Known::scalar(depth.cast(DType::I64)))?;
    let negative = relax::op("less", [indices.clone(), zero]);
    let from_end = relax::op("add", [indices.clone(), count]);
    let indices = relax::op("where", [negative, from_end, indices]);
    let mut at = vec![Size::i64(1); rank];
    at[axis] = depth.clone();
    let positions = relax::op_with(
        "arange",
        [Expr::from(depth.clone())],
        attrs(&json!({"dtype": "int64"})),
    );
    let positions = relax::op("reshape", [positions, relax::shape(at)]);
    let indices = relax::op_with("expand_dims", [indices], attrs(&json!({"axis": [axis]})));
    let hit = relax::op("equal", [indices, positions]);
    let values = c.var(2)?;
    let value = |index: i64| {
        let index = number(index as f64, DType::I64)?;
        Ok::<_, Fault>(relax::op_with(
            "take",
            [Expr::from(&values), index],
            attrs(&json!({"axis": 0})),
        ))
    };
    let (off, on) = (value(0)?, value(1)?);
    one(c.op("where", [hit, on, off])?)
}

/// Of numbers that the graph computes, the count is computed on the host.
fn range(c: &mut Call<'_, '_>) -> Outputs {
    let dtype = c.dtype(0)?;
    let sizes = (0..3).all(|at| c.known(at).is_some_and(|known| known.sizes().is_some()));
    let known: Option<Vec<f64>> = (0..3)
        .map(|at| c.known(at)?.floats()?.first().copied())
        .collect();
    if !dtype.is_int()
        && !sizes
        && let Some(values) = known
    {
        let count = ((values[1] - values[0]) / values[2]).ceil().max(0.0);
        return stepped(c, Size::i64(count as i64), dtype);
    }
    if c.known(2).is_none() || !sizes {
        return computed_range(c, dtype);
    }
    let mut sizes = vec![];
    for at in 0..3 {
        let size = c.sizes(at)?;
        let [size] = size.as_slice() else {
            return Err(c.bad(at, format!("{} numbers", size.len()), "one number"));
        };
        sizes.push(size.clone());
    }
    let step = sizes[2].as_int().filter(|&step| step != 0);
    let step = step.ok_or_else(|| {
        c.bad(
            2,
            "computed, or 0",
            "a step that is known when the model is imported",
        )
    })?;
    let span = match step > 0 {
        true => sizes[1].clone() - &sizes[0] + (step - 1),
        false => sizes[0].clone() - &sizes[1] + (step.saturating_neg() - 1),
    };
    let count = span.floor_div(step.saturating_abs()).max(0i64);
    let count = c.importer.arith.simplify(&count);
    stepped(c, count, dtype)
}

/// Of numbers that the graph computes: a tensor says how many there are, for a symbolic size is never below 0.
fn computed_range(c: &mut Call<'_, '_>, dtype: DType) -> Outputs {
    let wide = match dtype {
        DType::F64 => DType::F64,
        _ if dtype.is_float() => DType::F32,
        _ => DType::I64,
    };
    let widened = |c: &mut Call<'_, '_>, at: usize| {
        let x = c.x(at)?;
        Ok::<Expr, Fault>(in_type(x, dtype, wide))
    };
    let (start, end, step) = (widened(c, 0)?, widened(c, 1)?, widened(c, 2)?);
    // The quotient towards plus infinity.
    let steps = match wide.is_float() {
        true => cast(relax::op("ceil", [(end - start) / step]), DType::I64),
        false => relax::op("negative", [relax::op("floor_divide", [start - end, step])]),
    };
    let count = relax::op("maximum", [steps, number(0.0, DType::I64)?]);
    let count = relax::op("reshape", [count, relax::shape([1i64])]);
    let shape = c.op("tensor_to_shape", [count])?;
    let count = c.symbols(&shape, 1)?.remove(0);
    stepped(c, count, dtype)
}

/// `start + i * step` for so many `i`.
fn stepped(c: &mut Call<'_, '_>, count: Size, dtype: DType) -> Outputs {
    let i = relax::op_with(
        "arange",
        [Expr::from(count)],
        attrs(&json!({"dtype": "int64"})),
    );
    let (start, step) = (c.x(0)?, c.x(2)?);
    let i = in_type(i, DType::I64, dtype);
    let scaled = relax::op("multiply", [i, step]);
    one(c.op("add", [scaled, start])?)
}

fn tile(c: &mut Call<'_, '_>) -> Outputs {
    let repeats = c.sizes(1)?;
    let Some(repeats) = repeats
        .iter()
        .map(Size::as_int)
        .collect::<Option<Vec<i64>>>()
    else {
        return tile_by(c, repeats);
    };
    let x = c.x(0)?;
    one(c.op_with("tile", [x], &json!({"repeats": repeats}))?)
}

/// By numbers that are not constant: each dimension gets one before it, which is broadcast.
fn tile_by(c: &mut Call<'_, '_>, repeats: Vec<Size>) -> Outputs {
    let dims = c.dims(0)?;
    if dims.len() != repeats.len() {
        return Err(c.bad(
            1,
            format!("{} numbers", repeats.len()),
            format!("{} numbers", dims.len()),
        ));
    }
    let one_before = dims.iter().flat_map(|dim| [Size::i64(1), dim.clone()]);
    let wide = repeats
        .iter()
        .zip(&dims)
        .flat_map(|(n, dim)| [n.clone(), dim.clone()]);
    let result = repeats.iter().zip(&dims).map(|(n, dim)| n * dim);
    let x = c.x(0)?;
    let x = c.reshaped(x, one_before.collect::<Vec<_>>())?;
    let x = c.op(
        "broadcast_to",
        [(&x).into(), relax::shape(wide.collect::<Vec<_>>())],
    )?;
    one(c.reshaped(&x, result.collect::<Vec<_>>())?)
}

fn trilu(c: &mut Call<'_, '_>) -> Outputs {
    let upper = c.attributes.flag("upper", true)?;
    let k = match c.has(1) {
        true => c.ints(1)?.first().copied().unwrap_or(0),
        false => 0,
    };
    let x = c.x(0)?;
    let name = if upper { "triu" } else { "tril" };
    one(c.op(name, [x, Expr::from(Size::i64(k))])?)
}
