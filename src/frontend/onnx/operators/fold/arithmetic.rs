//! Arithmetic on known numbers and sizes: element by element, over a vector, and ranges.

use super::Folded;
use super::operands::{broadcast, indices, operands, place};
use crate::arith::Analyzer;
use crate::frontend::onnx::call::Call;
use crate::frontend::onnx::value::{Fraction, Known, MOST_KNOWN, Value};
use crate::ir::Expr;
use crate::tensor::DType;
use crate::tensor::scalar::{BinOp, Scalar, eval_binary};

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

pub(in crate::frontend::onnx::operators) fn add(c: &mut Call<'_, '_>) -> Folded {
    let f = |a: &Expr, b: &Expr| a + b;
    let whole = |a: Fraction, b: Fraction| {
        let (a, b) = (a.whole()?, b.whole()?);
        Some(Fraction::new(a + b, 1))
    };
    arithmetic(c, |a, b| Some(a + b), f, whole)
}

pub(in crate::frontend::onnx::operators) fn subtract(c: &mut Call<'_, '_>) -> Folded {
    let f = |a: &Expr, b: &Expr| a - b;
    let whole = |a: Fraction, b: Fraction| {
        let (a, b) = (a.whole()?, b.whole()?);
        Some(Fraction::new(a - b, 1))
    };
    arithmetic(c, |a, b| Some(a - b), f, whole)
}

pub(in crate::frontend::onnx::operators) fn multiply(c: &mut Call<'_, '_>) -> Folded {
    let f = |a: &Expr, b: &Expr| a * b;
    let product = |a: Fraction, b: Fraction| {
        let bottom = a.bottom.checked_mul(b.bottom)?;
        Some(Fraction::new(a.top * b.top, bottom))
    };
    arithmetic(c, |a, b| Some(a * b), f, product)
}

/// Integers towards zero.
pub(in crate::frontend::onnx::operators) fn divide(c: &mut Call<'_, '_>) -> Folded {
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
pub(in crate::frontend::onnx::operators) fn floor(c: &mut Call<'_, '_>) -> Folded {
    rounded(c, f64::floor, |Fraction { top, bottom }| {
        top.floor_div(bottom)
    })
}

/// The next whole number above.
pub(in crate::frontend::onnx::operators) fn ceil(c: &mut Call<'_, '_>) -> Folded {
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
pub(in crate::frontend::onnx::operators) fn floor_mod(c: &mut Call<'_, '_>) -> Folded {
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

pub(in crate::frontend::onnx::operators) fn negative(c: &mut Call<'_, '_>) -> Folded {
    integers(c, 1, |e| Some(Expr::int(0, e[0].dtype()) - e[0]))
}

pub(in crate::frontend::onnx::operators) fn absolute(c: &mut Call<'_, '_>) -> Folded {
    integers(c, 1, |e| {
        Some(match e[0].dtype().scalar.is_signed_int() {
            true => e[0].max(Expr::int(0, e[0].dtype()) - e[0]),
            false => e[0].clone(),
        })
    })
}

pub(in crate::frontend::onnx::operators) fn maximum(c: &mut Call<'_, '_>) -> Folded {
    integers(c, 1, |e| {
        let (first, rest) = e.split_first()?;
        Some(rest.iter().fold((*first).clone(), |a, b| a.max(*b)))
    })
}

pub(in crate::frontend::onnx::operators) fn minimum(c: &mut Call<'_, '_>) -> Folded {
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

pub(in crate::frontend::onnx::operators) fn equal(c: &mut Call<'_, '_>) -> Folded {
    decided(c, |e| e[0].equals(e[1]))
}

pub(in crate::frontend::onnx::operators) fn less(c: &mut Call<'_, '_>) -> Folded {
    decided(c, |e| e[0].lt(e[1]))
}

pub(in crate::frontend::onnx::operators) fn less_equal(c: &mut Call<'_, '_>) -> Folded {
    decided(c, |e| e[0].le(e[1]))
}

pub(in crate::frontend::onnx::operators) fn greater(c: &mut Call<'_, '_>) -> Folded {
    decided(c, |e| e[1].lt(e[0]))
}

pub(in crate::frontend::onnx::operators) fn greater_equal(c: &mut Call<'_, '_>) -> Folded {
    decided(c, |e| e[1].le(e[0]))
}

pub(in crate::frontend::onnx::operators) fn not(c: &mut Call<'_, '_>) -> Folded {
    integers(c, 1, |e| Some(Expr::bool(e[0].as_int()? == 0)))
}

pub(in crate::frontend::onnx::operators) fn and(c: &mut Call<'_, '_>) -> Folded {
    integers(c, 2, |e| {
        Some(Expr::bool(e[0].as_int()? != 0 && e[1].as_int()? != 0))
    })
}

pub(in crate::frontend::onnx::operators) fn or(c: &mut Call<'_, '_>) -> Folded {
    integers(c, 2, |e| {
        Some(Expr::bool(e[0].as_int()? != 0 || e[1].as_int()? != 0))
    })
}

/// The condition must be a number, the rest may be any size.
pub(in crate::frontend::onnx::operators) fn select(c: &mut Call<'_, '_>) -> Folded {
    integers(c, 3, |e| {
        let taken = if e[0].as_int()? != 0 { e[1] } else { e[2] };
        Some(taken.clone())
    })
}

/// Numbers and sizes converted; sizes to floats that hold them.
pub(in crate::frontend::onnx::operators) fn cast(c: &mut Call<'_, '_>, to: DType) -> Option<Value> {
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

/// All elements of a vector combined; of other tensors the graph takes care.
pub(in crate::frontend::onnx::operators) fn reduce(
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
pub(in crate::frontend::onnx::operators) fn range(c: &mut Call<'_, '_>) -> Folded {
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
