//! `layout_transform`: an index map, and its inverse.
//!
//! The map of a layout splits dimensions and puts the parts in another order: `lambda n, c, h, w: (n, c // 4, h, w, c % 4)`.
//! Each of its results is a digit `(v // divisor) % radix` of one parameter; a parameter is the sum of its digits, each times its
//! divisor. So the inverse is read off, and every element of the result is computed on its own. A map that joins dimensions,
//! `lambda n, d: (n * 4 + d,)`, is the inverse of such a map.

use super::ComputeCall;
use super::def::Computed;
use super::rules::{self, simple, tensor_like};
use crate::ir::graph::{InferError, OpCall};
use crate::ir::{AttrValue, Expr, ExprKind, Lambda, ShapeInfo, StructInfo, Var};
use crate::te;
use crate::tensor::DType;
use crate::tensor::scalar::BinOp;
use crate::topi;

/// One result of the map: `(parameter // divisor) % radix`, without the remainder where it is the highest digit.
struct Digit {
    param: usize,
    divisor: i64,
    radix: Option<i64>,
}

fn map(c: &OpCall<'_>) -> Result<Lambda, InferError> {
    match c.attr("index_map") {
        Some(AttrValue::IndexMap(map)) => Ok(map),
        _ => Err(c.bad_attribute("index_map", "an index map")),
    }
}

/// A positive constant on the right of `op`.
fn by_constant(e: &Expr, op: BinOp) -> Option<(&Expr, i64)> {
    let (a, b) = e.as_binary(op)?;
    Some((a, b.as_int().filter(|v| *v > 0)?))
}

fn digit(map: &Lambda, result: &Expr) -> Option<Digit> {
    let (quotient, radix) = match by_constant(result, BinOp::FloorMod) {
        Some((quotient, radix)) => (quotient, Some(radix)),
        None => (result, None),
    };
    let (value, divisor) = by_constant(quotient, BinOp::FloorDiv).unwrap_or((quotient, 1));
    let var = match value.kind() {
        ExprKind::Cast(inner) => inner.as_var()?,
        _ => value.as_var()?,
    };
    let param = map.params.iter().position(|param| param == var)?;
    Some(Digit {
        param,
        divisor,
        radix,
    })
}

/// The digits of a map of so many dimensions in which those of each parameter are complete: each divisor is the product of the
/// radices below it.
fn digits(map: &Lambda, ndim: usize) -> Option<Vec<Digit>> {
    let digits = map.results.iter().map(|result| digit(map, result));
    let digits: Vec<Digit> = digits.collect::<Option<_>>()?;
    if map.params.len() != ndim {
        return None;
    }
    for param in 0..ndim {
        let mut own: Vec<&Digit> = digits.iter().filter(|digit| digit.param == param).collect();
        own.sort_by_key(|digit| digit.divisor);
        let mut below = Some(1i64);
        for digit in own {
            if below != Some(digit.divisor) {
                return None;
            }
            below = digit
                .radix
                .and_then(|radix| radix.checked_mul(digit.divisor));
        }
        if below.is_some() {
            return None;
        }
    }
    Some(digits)
}

fn no_digits(c: &OpCall<'_>) -> InferError {
    c.bad_attribute(
        "index_map",
        "an index map that cuts each dimension into digits and orders them",
    )
}

/// The parameters of a map of digits, from its results.
fn from_digits(digits: &[Digit], results: &[Expr]) -> Vec<Expr> {
    let params = digits.iter().map(|digit| digit.param + 1).max();
    let mut index: Vec<Option<Expr>> = vec![None; params.unwrap_or_default()];
    for (digit, at) in digits.iter().zip(results) {
        let part = match digit.divisor {
            1 => at.clone(),
            divisor => at.clone() * Expr::int(divisor, at.dtype()),
        };
        let sum = &mut index[digit.param];
        *sum = Some(match sum.take() {
            Some(sum) => sum + part,
            None => part,
        });
    }
    let complete = |sum: Option<Expr>| sum.expect("every parameter has digits");
    index.into_iter().map(complete).collect()
}

/// The parameters of a map that joins the dimensions of a tensor of this shape, from its results.
fn from_joined(map: &Lambda, dims: &[Expr], results: &[Expr]) -> Option<Vec<Expr>> {
    joined(map, dims)?;
    let mut index = vec![None; dims.len()];
    for (result, at) in map.results.iter().zip(results) {
        let mut terms = Vec::new();
        factors(map, result, &mut terms)?;
        let highest = terms.iter().map(|(_, factor)| *factor).max()?;
        for (param, factor) in terms {
            let number = |value: i64| Expr::int(value, at.dtype());
            let mut part = at.clone();
            if factor != 1 {
                part = part.floor_div(number(factor));
            }
            if factor != highest {
                part = part.floor_mod(number(dims[param].as_int()?));
            }
            index[param] = Some(part);
        }
    }
    index.into_iter().collect()
}

/// The map that takes a tensor of this shape back from the layout that `map` gives it, with what the map pads it by. `None` if it
/// is none that cuts or joins dimensions.
pub(crate) fn inverse(map: &Lambda, dims: &[Expr]) -> Option<Lambda> {
    let params = (0..map.results.len()).map(|at| Var::new(format!("axis{at}"), DType::I64));
    let params: Vec<Var> = params.collect();
    let results: Vec<Expr> = params.iter().map(Var::expr).collect();
    let back = match digits(map, dims.len()) {
        Some(digits) => from_digits(&digits, &results),
        None => from_joined(map, dims, &results)?,
    };
    Some(Lambda {
        params,
        results: back,
    })
}

/// The dimensions that the digits do not fill: elements past them are padding.
fn padded(digits: &[Digit], dims: &[Expr]) -> Vec<usize> {
    let pads = |param: &usize| {
        let top = digits
            .iter()
            .find(|digit| digit.param == *param && digit.radix.is_none());
        let divisor = top.map_or(1, |digit| digit.divisor);
        !simple(&dims[*param].floor_mod(Expr::i64(divisor))).is_zero()
    };
    (0..dims.len()).filter(pads).collect()
}

/// The extents of the result of a map that joins dimensions, as `lambda a, b: (a * 4 + b,)`: in each result the factor of a
/// parameter is the number of values of those with smaller factors. Every parameter is in one result, once.
fn joined(map: &Lambda, dims: &[Expr]) -> Option<Vec<Expr>> {
    let mut used = vec![false; map.params.len()];
    let mut extent = |result: &Expr| {
        let mut terms = Vec::new();
        factors(map, result, &mut terms)?;
        terms.sort_by_key(|(_, factor)| *factor);
        if let [(param, 1)] = terms[..] {
            return take(&mut used, param).then(|| dims[param].clone());
        }
        let mut count = 1i64;
        for (param, factor) in terms {
            if factor != count || !take(&mut used, param) {
                return None;
            }
            count = count.checked_mul(dims[param].as_int()?)?;
        }
        Some(Expr::i64(count))
    };
    let extents = map.results.iter().map(&mut extent);
    let extents = extents.collect::<Option<Vec<_>>>()?;
    (used.len() == dims.len() && used.iter().all(|used| *used)).then_some(extents)
}

/// Marks a parameter as used; whether it was not.
fn take(used: &mut [bool], param: usize) -> bool {
    !std::mem::replace(&mut used[param], true)
}

/// The parameters in a sum, each with its factor.
fn factors(map: &Lambda, e: &Expr, out: &mut Vec<(usize, i64)>) -> Option<()> {
    if let Some((a, b)) = e.as_binary(BinOp::Add) {
        factors(map, a, out)?;
        return factors(map, b, out);
    }
    let (value, factor) = by_constant(e, BinOp::Mul).unwrap_or((e, 1));
    let param = map.params.iter().position(|p| value.as_var() == Some(p))?;
    out.push((param, factor));
    Some(())
}

pub(super) fn infer(c: &OpCall<'_>) -> rules::Inferred {
    let Some(info) = c.tensor(0)? else {
        return Ok(StructInfo::Object);
    };
    let Some(dims) = info.shape.dims() else {
        let shape = ShapeInfo::Ndim(map(c)?.results.len());
        return Ok(tensor_like(info, shape, info.dtype));
    };
    let map = map(c)?;
    let Some(digits) = digits(&map, dims.len()) else {
        let shape = joined(&map, dims).ok_or_else(|| no_digits(c))?;
        return Ok(tensor_like(info, ShapeInfo::Known(shape), info.dtype));
    };
    let extent = |digit: &Digit| match digit.radix {
        Some(radix) => Expr::i64(radix),
        None => {
            let up = dims[digit.param].clone() + Expr::i64(digit.divisor - 1);
            simple(&up.floor_div(Expr::i64(digit.divisor)))
        }
    };
    let shape = ShapeInfo::Known(digits.iter().map(extent).collect());
    Ok(tensor_like(info, shape, info.dtype))
}

pub(super) fn compute(c: &ComputeCall<'_>) -> Computed {
    let x = c.x(0);
    let map = map(c)?;
    let Some(digits) = digits(&map, x.ndim()) else {
        if from_joined(&map, x.shape(), &map.results).is_none() {
            return Err(no_digits(c));
        }
        let shape = c.result_shape(0).to_vec();
        return Ok(vec![te::compute(c.name(), shape, |i| {
            let index = from_joined(&map, x.shape(), i).expect("as found above");
            x.at(index
                .into_iter()
                .map(|at| at.cast(DType::I64))
                .collect::<Vec<_>>())
        })]);
    };
    let pad = match c.attr("pad_value") {
        Some(AttrValue::Expr(value)) => Some(value.cast(x.dtype())),
        Some(AttrValue::Int(value)) => Some(Expr::constant(value, x.dtype())),
        Some(AttrValue::Float(value)) if x.dtype().is_float() => {
            Some(Expr::float(value, x.dtype()))
        }
        Some(_) => {
            return Err(c.bad_attribute("pad_value", "a number of the element type of the tensor"));
        }
        None => None,
    };
    let padded = padded(&digits, x.shape());
    let pad = pad.unwrap_or_else(|| Expr::constant(0, x.dtype()));
    let shape = c.result_shape(0).to_vec();
    Ok(vec![te::compute(c.name(), shape, |i| {
        let index = from_digits(&digits, i).into_iter();
        let index: Vec<Expr> = index.map(|at| at.cast(DType::I64)).collect();
        let inside = padded.iter().map(|&at| index[at].lt(&x.shape()[at]));
        let inside = te::all(inside);
        topi::guarded(inside, x.at(index), pad)
    })])
}
