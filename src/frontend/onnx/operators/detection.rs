//! Operators on boxes in images.

use serde_json::json;

use super::Operator;
use crate::frontend::onnx::call::{Call, Outputs, number, one};
use crate::frontend::onnx::error::Fault;
use crate::relax::Expr;
use crate::tensor::DType;

pub(super) const OPERATORS: &[Operator] =
    &[
        Operator::new("NonMaxSuppression", &[10, 11], non_max_suppression)
            .note("it runs on the host"),
    ];

/// An operand with one number, or the number that a missing one means.
fn threshold(c: &mut Call<'_, '_>, index: usize, missing: f64) -> Result<Expr, Fault> {
    match c.optional(index)? {
        Some(given) => Ok(given),
        None => number(missing, DType::F32),
    }
}

fn non_max_suppression(c: &mut Call<'_, '_>) -> Outputs {
    let centred = c.attributes.flag("center_point_box", false)?;
    let most = match c.optional(2)? {
        Some(most) => most,
        None => number(0.0, DType::I64)?,
    };
    let args = [
        c.x(0)?,
        c.x(1)?,
        most,
        threshold(c, 3, 0.0)?,
        threshold(c, 4, f64::NEG_INFINITY)?,
    ];
    one(c.op_with(
        "non_max_suppression",
        args,
        &json!({"center_point_box": i64::from(centred)}),
    )?)
}
