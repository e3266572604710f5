//! Losses.

use crate::ir::graph::{AttrDefault, AttrKind, InferError, OpCall, OperandKind};
use crate::ir::{Expr, ShapeInfo, StructInfo};
use crate::ops::ComputeCall;
use crate::ops::def::{Computed, DTypes, OpDef, Pattern, attr, optional, tensor};
use crate::ops::rules::{self, equal_extents, tensor_like};
use crate::te;
use crate::tensor::DType;
use crate::tensor::scalar::BinOp;
use crate::topi::{self, Reduced, accumulator};

pub(in crate::ops) const OPS: &[OpDef] = &[
    OpDef::new(
        "nn.cross_entropy_with_logits",
        "minus the sum of predictions times labels, divided by the batch",
    )
    .operands(&[tensor("predictions"), tensor("labels")])
    .dtypes(DTypes::Float)
    .infer(cross_entropy_type)
    .compute(cross_entropy)
    .pattern(Pattern::Opaque),
    OpDef::new(
        "nn.nll_loss",
        "minus the prediction of each target, weighted: their mean, their sum, or each",
    )
    .operands(&[
        tensor("predictions"),
        tensor("targets"),
        optional("weights", OperandKind::Tensor),
    ])
    .attrs(&[
        attr(
            "reduction",
            AttrKind::Str(&["mean", "sum", "none"]),
            AttrDefault::Str("mean"),
        ),
        attr("ignore_index", AttrKind::Int, AttrDefault::Int(-100)),
    ])
    .dtypes(DTypes::Float)
    .infer(nll_type)
    .compute(nll)
    .pattern(Pattern::Opaque),
];

fn cross_entropy_type(c: &OpCall<'_>) -> rules::Inferred {
    rules::broadcast(c)?;
    let (Some(predictions), Some(labels)) = (c.tensor(0)?, c.tensor(1)?) else {
        return Ok(StructInfo::Object);
    };
    if let (Some(a), Some(b)) = (predictions.shape.dims(), labels.shape.dims()) {
        if a.len() != b.len() {
            return Err(c.bad_operand(1, "a tensor of the shape of the predictions"));
        }
        for (a, b) in a.iter().zip(b) {
            equal_extents(c, "extents of predictions and labels", a, b)?;
        }
    }
    let shape = ShapeInfo::Known(vec![]);
    Ok(tensor_like(predictions, shape, predictions.dtype))
}

fn cross_entropy(c: &ComputeCall<'_>) -> Computed {
    let (x, labels) = (c.x(0), c.x(1));
    let wide = accumulator(x.dtype());
    let products = te::compute("products", x.shape().to_vec(), |i| {
        x.at(i).cast(wide) * labels.at(i).cast(wide)
    });
    let axes: Vec<usize> = (0..x.ndim()).collect();
    let sum = topi::reduce("sum", BinOp::Add, &products, &axes, Reduced::Drop);
    let count = match x.ndim() {
        0 | 1 => Expr::float(-1.0, wide),
        _ => x.shape()[0].cast(wide) * Expr::float(-1.0, wide),
    };
    let loss = topi::map(c.name(), &sum, |sum| (sum / &count).cast(x.dtype()));
    Ok(vec![loss])
}

fn nll_type(c: &OpCall<'_>) -> rules::Inferred {
    rules::check_dtype(c, 0)?;
    let (Some(predictions), Some(targets)) = (c.tensor(0)?, c.tensor(1)?) else {
        return Ok(StructInfo::Object);
    };
    if targets
        .dtype
        .is_some_and(|dtype| !DTypes::Int.contains(dtype))
    {
        return Err(c.bad_operand(1, DTypes::Int.expected()));
    }
    if let (Some(x), Some(t)) = (predictions.shape.dims(), targets.shape.dims()) {
        let classes = class_axis(c, x.len())?;
        if t.len() + 1 != x.len() {
            return Err(c.bad_operand(1, "a tensor of the predictions' dimensions but the classes"));
        }
        let others = x.iter().enumerate().filter(|(at, _)| *at != classes);
        for ((_, x), t) in others.zip(t) {
            equal_extents(c, "extents of predictions and targets", x, t)?;
        }
        if c.has(2)
            && let Some(w) = c.tensor(2)?.and_then(|info| info.shape.dims())
        {
            let [w] = w else {
                return Err(c.bad_operand(2, "a vector"));
            };
            equal_extents(c, "number of classes and of weights", &x[classes], w)?;
        }
    }
    let shape = match c.text("reduction")?.as_deref() {
        Some("none") => targets.shape.clone(),
        _ => ShapeInfo::Known(vec![]),
    };
    Ok(tensor_like(predictions, shape, predictions.dtype))
}

/// The dimension of the classes: the second one, or the only one.
fn class_axis(c: &OpCall<'_>, ndim: usize) -> Result<usize, InferError> {
    match ndim {
        0 => Err(c.bad_operand(0, "a tensor with a dimension for the classes")),
        1 => Ok(0),
        _ => Ok(1),
    }
}

fn nll(c: &ComputeCall<'_>) -> Computed {
    let (x, targets) = (c.x(0), c.x(1));
    let weights = c.has(2).then(|| c.x(2));
    let classes = class_axis(c, x.ndim())?;
    let ignored = c.int("ignore_index")?.unwrap_or(-100);
    let wide = accumulator(x.dtype());
    let float = |v: f64| Expr::float(v, wide);
    let target = |i: &[Expr]| {
        let target = targets.at(i);
        // An index beyond the classes reads no other memory.
        let index = topi::wide_index(&target);
        let at = topi::clipped(&index, &x.shape()[classes]).cast(DType::I64);
        let counts = Expr::binary(BinOp::Ne, target, Expr::i64(ignored));
        let weight = weights.map_or(float(1.0), |w| w.at([at.clone()]).cast(wide));
        (at, Expr::select(counts, weight, float(0.0)))
    };
    let loss = |i: &[Expr]| {
        let (at, weight) = target(i);
        let mut index = i.to_vec();
        index.insert(classes, at);
        // What is ignored has weight 0, and may be infinite.
        let value = x.at(index).cast(wide) * float(-1.0) * &weight;
        Expr::select(weight.equals(float(0.0)), float(0.0), value)
    };
    let shape = targets.shape().to_vec();
    let reduction = c.text("reduction")?.unwrap_or_default();
    if reduction == "none" {
        let each = te::compute(c.name(), shape, |i| loss(i).cast(x.dtype()));
        return Ok(vec![each]);
    }
    let axes: Vec<usize> = (0..targets.ndim()).collect();
    let sum_of = |name: &str, f: &dyn Fn(&[Expr]) -> Expr| {
        let each = te::compute(format!("{name}_each"), shape.clone(), |i| f(i));
        topi::reduce(name, BinOp::Add, &each, &axes, Reduced::Drop)
    };
    let losses = sum_of("losses", &loss);
    if reduction == "sum" {
        return Ok(vec![topi::astype(c.name(), &losses, x.dtype())]);
    }
    let weights = sum_of("weights", &|i| target(i).1);
    let none: [Expr; 0] = [];
    let mean = te::compute(c.name(), none.clone(), |_| {
        (losses.at(none.clone()) / weights.at(none.clone())).cast(x.dtype())
    });
    Ok(vec![mean])
}
