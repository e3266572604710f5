//! `layout_transform`: an index map, and its inverse.
//!
//! The map of a layout splits dimensions and puts the parts in another order: `lambda n, c, h, w: (n, c // 4, h, w, c % 4)`.
//! Each of its results is a digit `(v // divisor) % radix` of one parameter; a parameter is the sum of its digits, each times its
//! divisor. So the inverse is read off, and every element of the result is computed on its own. Of a map that joins dimensions the
//! extents of the result are known, and it is not computed yet.

use super::ComputeCall;
use super::def::Computed;
use super::rules::{self, simple, tensor_like};
use crate::ir::graph::{InferError, OpCall};
use crate::ir::{AttrValue, Expr, ExprKind, Lambda, ShapeInfo, StructInfo};
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

/// The digits of a map in which those of each parameter are complete: each divisor is the product of the radices below it.
fn digits(c: &OpCall<'_>, ndim: usize) -> Result<Vec<Digit>, InferError> {
    let map = map(c)?;
    let bad = || {
        c.bad_attribute(
            "index_map",
            "an index map that cuts each dimension into digits and orders them",
        )
    };
    let digits = map
        .results
        .iter()
        .map(|result| digit(&map, result).ok_or_else(bad));
    let digits: Vec<Digit> = digits.collect::<Result<_, _>>()?;
    if map.params.len() != ndim {
        return Err(bad());
    }
    for param in 0..ndim {
        let mut own: Vec<&Digit> = digits.iter().filter(|digit| digit.param == param).collect();
        own.sort_by_key(|digit| digit.divisor);
        let mut below = Some(1i64);
        for digit in own {
            if below != Some(digit.divisor) {
                return Err(bad());
            }
            below = digit
                .radix
                .and_then(|radix| radix.checked_mul(digit.divisor));
        }
        if below.is_some() {
            return Err(bad());
        }
    }
    Ok(digits)
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
    let digits = match digits(c, dims.len()) {
        Ok(digits) => digits,
        Err(error) => {
            let shape = joined(&map(c)?, dims).ok_or(error)?;
            return Ok(tensor_like(info, ShapeInfo::Known(shape), info.dtype));
        }
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
    let digits = digits(c, x.ndim())?;
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
    // Extents that the digits above do not fill: elements past them are padding.
    let padded: Vec<usize> = (0..x.ndim())
        .filter(|&param| {
            let top = digits
                .iter()
                .find(|digit| digit.param == param && digit.radix.is_none());
            let divisor = top.map_or(1, |digit| digit.divisor);
            !simple(&x.shape()[param].floor_mod(Expr::i64(divisor))).is_zero()
        })
        .collect();
    let pad = match (padded.is_empty(), pad) {
        (false, None) => return Err(c.bad_attribute("pad_value", "given where the map pads")),
        (_, pad) => pad.unwrap_or_else(|| Expr::constant(0, x.dtype())),
    };
    let shape = c.result_shape(0).to_vec();
    Ok(vec![te::compute(c.name(), shape, |i| {
        let mut index: Vec<Option<Expr>> = vec![None; x.ndim()];
        for (digit, at) in digits.iter().zip(i) {
            let part = match digit.divisor {
                1 => at.clone(),
                divisor => at.clone() * Expr::i64(divisor),
            };
            let sum = &mut index[digit.param];
            *sum = Some(match sum.take() {
                Some(sum) => sum + part,
                None => part,
            });
        }
        let index: Vec<Expr> = index
            .into_iter()
            .map(|sum| sum.expect("every parameter has digits").cast(DType::I64))
            .collect();
        let inside = padded.iter().map(|&at| index[at].lt(&x.shape()[at]));
        let inside = te::all(inside);
        topi::guarded(inside, x.at(index), pad)
    })])
}
