//! Operators of `ai.onnx.ml` on features.

use super::pieces::volume;
use serde_json::json;

use super::Operator;
use crate::frontend::onnx::call::{Call, Outputs, cast, number, one, shown};
use crate::ir::Expr as Size;

const DOMAIN: &str = "ai.onnx.ml";

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("ArrayFeatureExtractor", &[1], extract).of(DOMAIN),
    Operator::new("Binarizer", &[1], binarize).of(DOMAIN),
];

/// The elements at indices of the last dimension; a vector counts as a matrix of one row.
fn extract(c: &mut Call<'_, '_>) -> Outputs {
    let (dims, indices) = (c.dims(0)?, c.dims(1)?);
    if dims.is_empty() {
        return Err(c.bad(0, shown(&dims), "a tensor with dimensions"));
    }
    let count = volume(&indices);
    let count = c.importer.arith.simplify(&count);
    let (x, at) = (c.x(0)?, c.x(1)?);
    let at = c.reshaped(at, [count.clone()])?;
    let axis = dims.len() - 1;
    let y = c.op_with("take", [x, (&at).into()], &json!({"axis": axis}))?;
    match dims.len() {
        1 => one(c.reshaped(&y, [Size::i64(1), count])?),
        _ => one(y),
    }
}

/// 1 where the element is above the threshold, else 0.
fn binarize(c: &mut Call<'_, '_>) -> Outputs {
    let dtype = c.dtype(0)?;
    let threshold = number(c.attributes.float_or("threshold", 0.0)?, dtype)?;
    let x = c.x(0)?;
    let above = c.op("greater", [x, threshold])?;
    one(c.emit(cast(&above, dtype))?)
}
