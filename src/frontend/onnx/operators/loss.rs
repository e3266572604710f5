//! Losses, as models that are evaluated carry them.

use serde_json::json;

use super::Operator;
use crate::frontend::onnx::call::{Call, Outputs, attrs, cast, number, one};
use crate::frontend::onnx::error::Fault;
use crate::ir::Expr as Size;
use crate::relax::{self, Expr, Var};
use crate::tensor::DType;

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new(
        "NegativeLogLikelihoodLoss",
        &[12, 13, 22],
        negative_log_likelihood,
    ),
    Operator::new("SoftmaxCrossEntropyLoss", &[12, 13], cross_entropy),
];

fn negative_log_likelihood(c: &mut Call<'_, '_>) -> Outputs {
    let x = c.var(0)?;
    one(loss(c, &x)?)
}

fn cross_entropy(c: &mut Call<'_, '_>) -> Outputs {
    let x = c.x(0)?;
    let shares = c.op_with("nn.log_softmax", [x], &json!({"axis": 1}))?;
    let loss = loss(c, &shares)?;
    Ok(vec![loss.into(), shares.into()])
}

/// Minus the predictions (batch, classes, …) of the targets (batch, …), weighted by class; nothing where the target is ignored.
fn loss(c: &mut Call<'_, '_>, x: &Var) -> Result<Var, Fault> {
    let reduction = c
        .attributes
        .one_of("reduction", "mean", &["none", "mean", "sum"])?;
    let ignored = c.attributes.int("ignore_index")?;
    let dtype = c.dtype(0)?;
    let classes = c.dims(0)?.get(1).and_then(Size::as_int);
    let classes = classes.ok_or_else(|| {
        c.bad(
            0,
            "of unknown classes",
            "a tensor of a constant number of classes",
        )
    })?;
    let mut target = c.x(1)?;
    if c.dtype(1)? != DType::I64 {
        target = cast(target, DType::I64);
    }
    let target = c.emit(target)?;
    // An ignored target may be no class: it looks at one, whose weight is then 0.
    let (first, last) = (
        number(0.0, DType::I64)?,
        number((classes - 1) as f64, DType::I64)?,
    );
    let index = c.emit(relax::op(
        "minimum",
        [relax::op("maximum", [(&target).into(), first]), last],
    ))?;
    let wide = relax::op_with("expand_dims", [&index], attrs(&json!({"axis": [1]})));
    let picked = relax::op_with(
        "gather_elements",
        [x.into(), wide],
        attrs(&json!({"axis": 1})),
    );
    let picked = relax::op_with("squeeze", [picked], attrs(&json!({"axis": [1]})));
    let mut value = relax::op("negative", [picked]);
    let of_class = |weight| {
        let args = [weight, Expr::from(&index)];
        relax::op_with("take", args, attrs(&json!({"axis": 0})))
    };
    let mut weight = c.optional(2)?.map(of_class);
    if let Some(ignored) = ignored {
        let none = relax::op(
            "equal",
            [(&target).into(), number(ignored as f64, DType::I64)?],
        );
        let (zero, unit) = (number(0.0, dtype)?, number(1.0, dtype)?);
        let kept = weight.unwrap_or(unit);
        weight = Some(relax::op("where", [none, zero, kept]));
    }
    let weight = weight.map(|weight| c.emit(weight)).transpose()?;
    if let Some(weight) = &weight {
        value = value * weight;
    }
    let value = c.emit(value)?;
    match (reduction, weight) {
        ("none", _) => Ok(value),
        ("mean", None) => c.op("mean", [&value]),
        ("mean", Some(weight)) => {
            let (sum, all) = (relax::op("sum", [&value]), relax::op("sum", [&weight]));
            c.op("divide", [sum, all])
        }
        _ => c.op("sum", [&value]),
    }
}
