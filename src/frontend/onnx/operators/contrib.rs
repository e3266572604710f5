//! Operators of `com.microsoft` that exported transformers carry, and one of onnxruntime beside them.

use serde_json::json;

use super::{Operator, norm};
use crate::frontend::onnx::call::{Call, Outputs, attrs, cast, number, one};
use crate::frontend::onnx::error::Fault;
use crate::frontend::onnx::value::Value;
use crate::relax::{self, Expr, Var};
use crate::tensor::DType;

const DOMAIN: &str = "com.microsoft";

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("BiasGelu", &[1], |c| gelu(c, "nn.gelu")).of(DOMAIN),
    Operator::new("EmbedLayerNormalization", &[1], embedding).of(DOMAIN),
    Operator::new("FastGelu", &[1], |c| gelu(c, "nn.gelu_tanh")).of(DOMAIN),
    Operator::new("FusedMatMul", &[1], fused_matmul).of(DOMAIN),
    Operator::new("Gelu", &[1], |c| gelu(c, "nn.gelu")).of(DOMAIN),
    Operator::new("QuickGelu", &[1], quick_gelu).of(DOMAIN),
    Operator::new("SimplifiedLayerNormalization", &[1], simplified_layer_norm)
        .note("`RMSNormalization` as onnxruntime wrote it before the standard had it"),
    Operator::new("SkipLayerNormalization", &[1], skip_layer_norm).of(DOMAIN),
    Operator::new("SkipSimplifiedLayerNormalization", &[1], skip_rms_norm).of(DOMAIN),
];

/// Of the sum with a bias, if there is one.
fn gelu(c: &mut Call<'_, '_>, name: &str) -> Outputs {
    let mut x = c.x(0)?;
    if let Some(bias) = c.optional(1)? {
        x = x + bias;
    }
    one(c.op(name, [x])?)
}

fn quick_gelu(c: &mut Call<'_, '_>) -> Outputs {
    let alpha = c.attributes.float_or("alpha", f64::from(1.702f32))?;
    let alpha = number(alpha, c.dtype(0)?)?;
    let x = c.x(0)?;
    let gate = relax::op("sigmoid", [x.clone() * alpha]);
    one(c.op("multiply", [x, gate])?)
}

/// The sum of the data, what skips the layer, and a bias.
fn skipped(c: &mut Call<'_, '_>, bias: usize) -> Result<Var, Fault> {
    let mut sum = c.x(0)? + c.x(1)?;
    if let Some(bias) = c.optional(bias)? {
        sum = sum + bias;
    }
    c.emit(sum)
}

/// Normalised over the last dimension.
fn normalised(c: &mut Call<'_, '_>, x: &Var, scale: usize, shift: usize) -> Result<Var, Fault> {
    let epsilon = c.attributes.float_or("epsilon", f64::from(1e-12f32))?;
    let scale = c.x(scale)?;
    let shift = match c.optional(shift)? {
        Some(shift) => shift,
        None => relax::op("zeros_like", [scale.clone()]),
    };
    let attributes = json!({"axes": [-1], "epsilon": epsilon});
    c.op_with("nn.layer_norm", [x.into(), scale, shift], &attributes)
}

/// The first and the last result; the mean and the deviation between are only of use for training.
fn results(c: &Call<'_, '_>, y: Var, sum: Var) -> Outputs {
    if c.wants(1) || c.wants(2) {
        let text = "the mean and the deviation are not given".to_owned();
        return Err(Fault::Unsupported(text));
    }
    Ok(vec![y.into(), Value::Absent, Value::Absent, sum.into()])
}

/// It is in the default domain, though no version of the standard has it.
fn simplified_layer_norm(c: &mut Call<'_, '_>) -> Outputs {
    match c.wants(1) {
        true => Err(Fault::Unsupported("the deviation is not given".to_owned())),
        false => norm::rms_norm(c),
    }
}

fn skip_layer_norm(c: &mut Call<'_, '_>) -> Outputs {
    let sum = skipped(c, 4)?;
    let y = normalised(c, &sum, 2, 3)?;
    results(c, y, sum)
}

fn skip_rms_norm(c: &mut Call<'_, '_>) -> Outputs {
    let epsilon = c.attributes.float_or("epsilon", f64::from(1e-12f32))?;
    let sum = skipped(c, 3)?;
    let scale = c.x(2)?;
    let attributes = json!({"axes": [-1], "epsilon": epsilon});
    let y = c.op_with("nn.rms_norm", [(&sum).into(), scale], &attributes)?;
    results(c, y, sum)
}

/// Words, positions and segments looked up, added and normalised.
fn embedding(c: &mut Call<'_, '_>) -> Outputs {
    let rows = attrs(&json!({"axis": 0}));
    let (ids, words) = (c.x(0)?, c.x(2)?);
    let mut sum = relax::op_with("take", [words, ids], rows.clone());
    let dims = c.dims(0)?;
    let [_, length] = dims.as_slice() else {
        return Err(c.bad(
            0,
            format!("a tensor of {} dimensions", dims.len()),
            "(batch, sequence)",
        ));
    };
    let positions = match c.optional(8)? {
        Some(positions) => positions,
        None => relax::op_with(
            "arange",
            [Expr::from(length.clone())],
            attrs(&json!({"dtype": "int64"})),
        ),
    };
    let table = c.x(3)?;
    sum = sum + relax::op_with("take", [table, positions], rows.clone());
    if let (Some(segments), Some(table)) = (c.optional(1)?, c.optional(4)?) {
        sum = sum + relax::op_with("take", [table, segments], rows);
    }
    let sum = c.emit(sum)?;
    let y = normalised(c, &sum, 5, 6)?;
    // How many tokens each sequence has, as its mask says.
    let counts: Value = match (c.wants(1), c.optional(7)?) {
        (false, _) => Value::Absent,
        (true, Some(mask)) => {
            let over = attrs(&json!({"axis": [1]}));
            c.emit(cast(relax::op_with("sum", [mask], over), DType::I32))?
                .into()
        }
        (true, None) => {
            let zero = number(0.0, DType::I32)?;
            c.op("broadcast_to", [zero, relax::shape([dims[0].clone()])])?
                .into()
        }
    };
    Ok(vec![y.into(), counts, sum.into()])
}

fn fused_matmul(c: &mut Call<'_, '_>) -> Outputs {
    c.attributes.only("transBatchA", 0)?;
    c.attributes.only("transBatchB", 0)?;
    let alpha = c.attributes.float_or("alpha", 1.0)?;
    let dtype = c.dtype(0)?;
    let operand = |c: &mut Call<'_, '_>, index: usize, name: &str| {
        let x = c.x(index)?;
        if !c.attributes.flag(name, false)? {
            return Ok::<Expr, Fault>(x);
        }
        let rank = c.ndim(index)?;
        let mut axes: Vec<usize> = (0..rank).collect();
        axes.swap(rank.saturating_sub(2), rank.saturating_sub(1));
        Ok(relax::op_with(
            "permute_dims",
            [x],
            attrs(&json!({"axes": axes})),
        ))
    };
    let (a, b) = (operand(c, 0, "transA")?, operand(c, 1, "transB")?);
    let product = relax::op("matmul", [a, b]);
    one(match alpha == 1.0 {
        true => c.emit(product)?,
        false => {
            let alpha = number(alpha, dtype)?;
            c.emit(product * alpha)?
        }
    })
}
