//! Operators on known elements: sizes are computed while the model is imported, and need no kernel.
//!
//! Each function gives `None` if an operand is not known, or the result is not: then the node goes into the graph.

use crate::arith::Analyzer;
use crate::frontend::onnx::call::Call;
use crate::frontend::onnx::error::Fault;
use crate::frontend::onnx::value::{Fraction, Known, MOST_KNOWN, Value};
use crate::ir::Expr;
use crate::tensor::DType;
use crate::tensor::scalar::{BinOp, Scalar, eval_binary};

/// The result of a node whose operands are known.
pub(super) type Fold = fn(&mut Call<'_, '_>) -> Result<Option<Value>, Fault>;

type Folded = Result<Option<Value>, Fault>;

/// All operands, if all are known.
fn operands(c: &Call<'_, '_>) -> Option<Vec<Known>> {
    (0..c.inputs.len()).map(|index| c.known(index)).collect()
}

/// An operator on single elements of at least so many operands, which broadcast. Of no elements the graph takes care, for their type.
fn elements(
    c: &mut Call<'_, '_>,
    arity: usize,
    f: impl Fn(&[&Expr]) -> Option<Expr>,
) -> Option<Value> {
    let operands = operands(c).filter(|operands| operands.len() >= arity)?;
    let mut shape: Vec<usize> = vec![];
    for operand in &operands {
        shape = broadcast(&shape, &operand.shape)?;
    }
    let mut result = vec![];
    for index in indices(&shape)? {
        let at = operands
            .iter()
            .map(|operand| &operand.elements[place(&operand.shape, &index)]);
        let at: Vec<&Expr> = at.collect();
        result.push(f(&at)?);
    }
    if result.is_empty() {
        return None;
    }
    let known = Known::new(shape, result, &c.importer.arith)?;
    Some(Value::Known(known))
}

/// The same, of integers and bool alone.
fn integers(c: &mut Call<'_, '_>, arity: usize, f: impl Fn(&[&Expr]) -> Option<Expr>) -> Folded {
    Ok(elements(c, arity, |e| {
        match e.iter().any(|e| e.dtype().is_float()) {
            true => None,
            false => f(e),
        }
    }))
}

/// An operator on pairs of integers, and on floats: those that are numbers by `f`, those of sizes as fractions.
fn arithmetic(
    c: &mut Call<'_, '_>,
    integers: impl Fn(&Expr, &Expr) -> Option<Expr>,
    f: impl Fn(&Expr, &Expr) -> Expr,
    fractions: impl Fn(Fraction, Fraction) -> Option<Fraction>,
) -> Folded {
    Ok(elements(c, 2, |e| {
        let (a, b) = (e[0], e[1]);
        if !a.dtype().is_float() {
            return integers(a, b);
        }
        if a.as_float().is_some() && b.as_float().is_some() {
            return Some(f(a, b));
        }
        fractions(Fraction::of(a)?, Fraction::of(b)?)?.expr(a.dtype())
    }))
}

pub(super) fn add(c: &mut Call<'_, '_>) -> Folded {
    let f = |a: &Expr, b: &Expr| a + b;
    let whole = |a: Fraction, b: Fraction| {
        let (a, b) = (a.whole()?, b.whole()?);
        Some(Fraction::new(a + b, 1))
    };
    arithmetic(c, |a, b| Some(a + b), f, whole)
}

pub(super) fn subtract(c: &mut Call<'_, '_>) -> Folded {
    let f = |a: &Expr, b: &Expr| a - b;
    let whole = |a: Fraction, b: Fraction| {
        let (a, b) = (a.whole()?, b.whole()?);
        Some(Fraction::new(a - b, 1))
    };
    arithmetic(c, |a, b| Some(a - b), f, whole)
}

pub(super) fn multiply(c: &mut Call<'_, '_>) -> Folded {
    let f = |a: &Expr, b: &Expr| a * b;
    let product = |a: Fraction, b: Fraction| {
        let bottom = a.bottom.checked_mul(b.bottom)?;
        Some(Fraction::new(a.top * b.top, bottom))
    };
    arithmetic(c, |a, b| Some(a * b), f, product)
}

/// Integers towards zero.
pub(super) fn divide(c: &mut Call<'_, '_>) -> Folded {
    let arith = c.importer.arith.clone();
    let integers = |a: &Expr, b: &Expr| match (a.as_int(), b.as_int()) {
        (Some(x), Some(y)) => {
            let scalar = a.dtype().scalar;
            let quotient = eval_binary(BinOp::Div, scalar, Scalar::Int(x), Scalar::Int(y));
            Some(Expr::scalar(quotient.ok()?, a.dtype()))
        }
        _ => arith
            .can_prove(&b.ge(1i64))
            .then(|| towards_zero(&arith, a, b)),
    };
    let quotient = |a: Fraction, b: Fraction| {
        let divisor = b.whole()?.as_int().filter(|&divisor| divisor > 0)?;
        Some(Fraction::new(a.top, a.bottom.checked_mul(divisor)?))
    };
    arithmetic(c, integers, |a, b| a / b, quotient)
}

/// The quotient of integers, rounded towards zero; the divisor is above 0.
fn towards_zero(arith: &Analyzer, a: &Expr, b: &Expr) -> Expr {
    if arith.can_prove(&a.ge(0i64)) {
        return a.floor_div(b);
    }
    let zero = Expr::int(0, a.dtype());
    let (above, below) = (a.max(zero.clone()), (&zero - a).max(zero));
    above.floor_div(b) - below.floor_div(b)
}

/// The next whole number below.
pub(super) fn floor(c: &mut Call<'_, '_>) -> Folded {
    rounded(c, f64::floor, |Fraction { top, bottom }| {
        top.floor_div(bottom)
    })
}

/// The next whole number above.
pub(super) fn ceil(c: &mut Call<'_, '_>) -> Folded {
    rounded(c, f64::ceil, |Fraction { top, bottom }| {
        (top + Expr::i64(bottom - 1)).floor_div(bottom)
    })
}

/// Floats that are numbers rounded by `f`, those of sizes by `whole`.
fn rounded(
    c: &mut Call<'_, '_>,
    f: impl Fn(f64) -> f64,
    whole: impl Fn(Fraction) -> Expr,
) -> Folded {
    Ok(elements(c, 1, |e| {
        let dtype = e[0].dtype();
        match e[0].as_float() {
            Some(number) => Some(Expr::float(f(number), dtype)),
            None => Fraction::new(whole(Fraction::of(e[0])?), 1).expr(dtype),
        }
    }))
}

/// With the sign of the divisor.
pub(super) fn floor_mod(c: &mut Call<'_, '_>) -> Folded {
    if c.attributes.flag("fmod", false)? {
        return Ok(None);
    }
    let arith = c.importer.arith.clone();
    integers(c, 2, |e| {
        arith
            .can_prove(&e[1].ge(1i64))
            .then(|| e[0].floor_mod(e[1]))
    })
}

pub(super) fn negative(c: &mut Call<'_, '_>) -> Folded {
    integers(c, 1, |e| Some(Expr::int(0, e[0].dtype()) - e[0]))
}

pub(super) fn absolute(c: &mut Call<'_, '_>) -> Folded {
    integers(c, 1, |e| {
        Some(match e[0].dtype().scalar.is_signed_int() {
            true => e[0].max(Expr::int(0, e[0].dtype()) - e[0]),
            false => e[0].clone(),
        })
    })
}

pub(super) fn maximum(c: &mut Call<'_, '_>) -> Folded {
    integers(c, 1, |e| {
        let (first, rest) = e.split_first()?;
        Some(rest.iter().fold((*first).clone(), |a, b| a.max(*b)))
    })
}

pub(super) fn minimum(c: &mut Call<'_, '_>) -> Folded {
    integers(c, 1, |e| {
        let (first, rest) = e.split_first()?;
        Some(rest.iter().fold((*first).clone(), |a, b| a.min(*b)))
    })
}

/// Whether a comparison of sizes is decided: bool elements are numbers.
fn decided(c: &mut Call<'_, '_>, f: impl Fn(&[&Expr]) -> Expr) -> Folded {
    let arith = c.importer.arith.clone();
    integers(c, 2, |e| {
        let condition = f(e);
        if arith.can_prove(&condition) {
            Some(Expr::bool(true))
        } else if arith.can_prove(&condition.not()) {
            Some(Expr::bool(false))
        } else {
            None
        }
    })
}

pub(super) fn equal(c: &mut Call<'_, '_>) -> Folded {
    decided(c, |e| e[0].equals(e[1]))
}

pub(super) fn less(c: &mut Call<'_, '_>) -> Folded {
    decided(c, |e| e[0].lt(e[1]))
}

pub(super) fn less_equal(c: &mut Call<'_, '_>) -> Folded {
    decided(c, |e| e[0].le(e[1]))
}

pub(super) fn greater(c: &mut Call<'_, '_>) -> Folded {
    decided(c, |e| e[1].lt(e[0]))
}

pub(super) fn greater_equal(c: &mut Call<'_, '_>) -> Folded {
    decided(c, |e| e[1].le(e[0]))
}

pub(super) fn not(c: &mut Call<'_, '_>) -> Folded {
    integers(c, 1, |e| Some(Expr::bool(e[0].as_int()? == 0)))
}

pub(super) fn and(c: &mut Call<'_, '_>) -> Folded {
    integers(c, 2, |e| {
        Some(Expr::bool(e[0].as_int()? != 0 && e[1].as_int()? != 0))
    })
}

pub(super) fn or(c: &mut Call<'_, '_>) -> Folded {
    integers(c, 2, |e| {
        Some(Expr::bool(e[0].as_int()? != 0 || e[1].as_int()? != 0))
    })
}

/// The condition must be a number, the rest may be any size.
pub(super) fn select(c: &mut Call<'_, '_>) -> Folded {
    integers(c, 3, |e| {
        let taken = if e[0].as_int()? != 0 { e[1] } else { e[2] };
        Some(taken.clone())
    })
}

/// Numbers and sizes converted; sizes to floats that hold them.
pub(super) fn cast(c: &mut Call<'_, '_>, to: DType) -> Option<Value> {
    let arith = c.importer.arith.clone();
    elements(c, 1, |e| {
        let from = e[0].dtype();
        let number = e[0].as_int().is_some() || e[0].as_float().is_some();
        let holds = [DType::I32, DType::I64, DType::F32, DType::F64].contains(&to);
        match number || from.is_int() && holds {
            true => Some(e[0].cast(to)),
            // A size that was converted and comes back.
            false => {
                let Fraction { top, bottom } = Fraction::of(e[0]).filter(|_| to.is_int())?;
                let size = towards_zero(&arith, &top, &Expr::i64(bottom));
                Some(size.cast(to))
            }
        }
    })
}

/// Elements at indices of the first dimension of the operands that are known: `index` maps an index of the result to one of the
/// operand.
fn moved(
    c: &Call<'_, '_>,
    data: &Known,
    shape: Vec<usize>,
    index: impl Fn(&[usize]) -> Option<Vec<usize>>,
) -> Option<Value> {
    let mut elements = vec![];
    for at in indices(&shape)? {
        elements.push(data.elements[place(&data.shape, &index(&at)?)].clone());
    }
    let mut known = Known::new(shape, elements, &c.importer.arith)?;
    known.dtype = data.dtype;
    Some(Value::Known(known))
}

/// Slices at constant indices.
pub(super) fn gather(c: &mut Call<'_, '_>) -> Folded {
    let axis = c.attributes.int_or("axis", 0)?;
    let (Some(data), Some(at)) = (c.known(0), c.known(1)) else {
        return Ok(None);
    };
    let axis = c.axis(axis, data.shape.len())?;
    let Some(at_ints) = at.ints() else {
        return Ok(None);
    };
    let extent = data.shape[axis] as i64;
    let mut shape = data.shape[..axis].to_vec();
    shape.extend(&at.shape);
    shape.extend(&data.shape[axis + 1..]);
    let rank = at.shape.len();
    Ok(moved(c, &data, shape, |index| {
        let which = at_ints[place(&at.shape, &index[axis..axis + rank])];
        let which = if which < 0 { which + extent } else { which };
        let which = usize::try_from(which)
            .ok()
            .filter(|w| (*w as i64) < extent)?;
        let mut from = index[..axis].to_vec();
        from.push(which);
        from.extend(&index[axis + rank..]);
        Some(from)
    }))
}

/// The elements of a part of each dimension, of constant ends.
pub(super) fn slice(c: &Call<'_, '_>, cuts: &[(usize, i64, i64, i64)]) -> Option<Value> {
    let data = c.known(0)?;
    let mut shape = data.shape.clone();
    let mut starts = vec![(0i64, 1i64); shape.len()];
    for &(axis, start, end, step) in cuts {
        let extent = data.shape[axis] as i64;
        if extent == 0 {
            shape[axis] = 0;
            continue;
        }
        let wrap = |v: i64| if v < 0 { v.saturating_add(extent) } else { v };
        let (low, high) = if step > 0 {
            (0, extent)
        } else {
            (-1, extent - 1)
        };
        let start = wrap(start).clamp(low.max(0), high);
        let end = wrap(end).clamp(low, high);
        // Steps are at most as long as the dimension, as far as the result knows.
        let step = step.clamp(-extent - 1, extent + 1);
        let span = if step > 0 { end - start } else { start - end };
        let count = (span + step.abs() - 1).div_euclid(step.abs());
        shape[axis] = usize::try_from(count).unwrap_or(0);
        starts[axis] = (start, step);
    }
    moved(c, &data, shape, |index| {
        let at = index.iter().zip(&starts);
        at.map(|(&i, (start, step))| usize::try_from(start + i as i64 * step).ok())
            .collect()
    })
}

/// Operands one after the other along an axis.
pub(super) fn concat(c: &mut Call<'_, '_>) -> Folded {
    let Some(axis) = c.attributes.int("axis")? else {
        return Ok(None);
    };
    let Some(parts) = operands(c) else {
        return Ok(None);
    };
    let Some(first) = parts.first() else {
        return Ok(None);
    };
    let axis = c.axis(axis, first.shape.len())?;
    // A vector: what sizes are. Others go into the graph.
    if parts.iter().any(|part| part.shape.len() != 1) || axis != 0 {
        return Ok(None);
    }
    let elements: Vec<Expr> = parts
        .iter()
        .flat_map(|part| part.elements.clone())
        .collect();
    let mut known = Known::new(vec![elements.len()], elements, &c.importer.arith);
    if let Some(known) = &mut known {
        known.dtype = first.dtype;
    }
    Ok(known.map(Value::Known))
}

/// The same elements in another shape, if that is known.
pub(super) fn reshaped(c: &Call<'_, '_>, shape: Option<Vec<usize>>) -> Option<Value> {
    let mut data = c.known(0)?;
    let shape = shape.filter(|shape| {
        let count = shape.iter().try_fold(1usize, |n, &dim| n.checked_mul(dim));
        count == Some(data.elements.len())
    })?;
    data.shape = shape;
    Some(Value::Known(data))
}

/// The elements with their dimensions in another order.
pub(super) fn transposed(c: &Call<'_, '_>, axes: &[i64]) -> Option<Value> {
    let data = c.known(0)?;
    let rank = data.shape.len();
    let axes = axes.iter().map(|&axis| usize::try_from(axis).ok());
    let axes: Vec<usize> = axes.collect::<Option<_>>()?;
    let shape = axes.iter().map(|&axis| data.shape.get(axis).copied());
    let shape: Vec<usize> = shape.collect::<Option<_>>()?;
    let each = (0..rank).all(|axis| axes.contains(&axis));
    if axes.len() != rank || !each {
        return None;
    }
    moved(c, &data, shape, |index| {
        let mut from = vec![0; rank];
        for (&i, &axis) in index.iter().zip(&axes) {
            from[axis] = i;
        }
        Some(from)
    })
}

/// The elements repeated along dimensions of extent 1.
pub(super) fn expand(c: &mut Call<'_, '_>) -> Folded {
    let (Some(data), Some(to)) = (c.known(0), c.known(1).and_then(|to| to.ints())) else {
        return Ok(None);
    };
    let to: Option<Vec<usize>> = to.iter().map(|&dim| usize::try_from(dim).ok()).collect();
    let Some(shape) = to.and_then(|to| broadcast(&data.shape, &to)) else {
        return Ok(None);
    };
    let skip = shape.len() - data.shape.len();
    let extents = data.shape.clone();
    Ok(moved(c, &data, shape, |index| {
        let at = index[skip..].iter().zip(&extents);
        Some(at.map(|(&i, &dim)| if dim == 1 { 0 } else { i }).collect())
    }))
}

/// All elements of a vector combined; of other tensors the graph takes care.
pub(super) fn reduce(
    c: &mut Call<'_, '_>,
    keep: bool,
    f: impl Fn(&Expr, &Expr) -> Expr,
) -> Option<Value> {
    let data = c.known(0)?;
    if data.shape.len() != 1 || data.dtype.is_float() {
        return None;
    }
    let (first, rest) = data.elements.split_first()?;
    let value = rest.iter().fold(first.clone(), |a, b| f(&a, b));
    let shape = if keep { vec![1] } else { vec![] };
    Known::new(shape, vec![value], &c.importer.arith).map(Value::Known)
}

/// From a first number in steps to before a last one.
pub(super) fn range(c: &mut Call<'_, '_>) -> Folded {
    let ints = |index: usize| {
        let known = c.known(index)?;
        let value = known.ints()?.first().copied()?;
        Some((value, known.dtype))
    };
    let (Some((start, dtype)), Some((end, _)), Some((step, _))) = (ints(0), ints(1), ints(2))
    else {
        return Ok(None);
    };
    if step == 0 {
        return Err(c.bad(2, 0, "a step that is not 0"));
    }
    let span = i128::from(end) - i128::from(start);
    let steps = span.div_euclid(step.into()) + i128::from(span.rem_euclid(step.into()) != 0);
    let count = if (span > 0) == (step > 0) && span != 0 {
        steps
    } else {
        0
    };
    if count > MOST_KNOWN as i128 {
        return Ok(None);
    }
    let elements: Vec<Expr> = (0..count as i64)
        .map(|i| Expr::int(start.wrapping_add(i.wrapping_mul(step)), dtype))
        .collect();
    let mut known = Known::new(vec![elements.len()], elements, &c.importer.arith);
    if let Some(known) = &mut known {
        known.dtype = dtype;
    }
    Ok(known.map(Value::Known))
}

/// The shape of two that broadcast.
fn broadcast(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let rank = a.len().max(b.len());
    let dim = |shape: &[usize], at: usize| match (at + shape.len()).checked_sub(rank) {
        Some(at) => shape[at],
        None => 1,
    };
    let dims = (0..rank).map(|at| match (dim(a, at), dim(b, at)) {
        (a, b) if a == b => Some(a),
        (1, b) => Some(b),
        (a, 1) => Some(a),
        _ => None,
    });
    dims.collect()
}

/// All indices of a small shape, in row-major order.
fn indices(shape: &[usize]) -> Option<Vec<Vec<usize>>> {
    let count = shape
        .iter()
        .try_fold(1usize, |n, &dim| n.checked_mul(dim))?;
    if count > MOST_KNOWN {
        return None;
    }
    let all = (0..count).map(|mut at| {
        let mut index = vec![0; shape.len()];
        for (i, &dim) in index.iter_mut().zip(shape).rev() {
            *i = at % dim;
            at /= dim;
        }
        index
    });
    Some(all.collect())
}

/// Where an index of a shape that this one broadcasts to is.
fn place(shape: &[usize], index: &[usize]) -> usize {
    let skip = index.len() - shape.len();
    let at = index[skip..].iter().zip(shape);
    at.fold(0, |place, (&i, &dim)| {
        place * dim + if dim == 1 { 0 } else { i }
    })
}
