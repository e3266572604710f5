//! Activations, softmax and dropout.

use serde_json::json;

use super::pieces::volume;
use super::{Operator, random};
use crate::frontend::onnx::call::{Call, Outputs, cast, in_type, number, one, shown};
use crate::frontend::onnx::error::Fault;
use crate::frontend::onnx::value::Value;
use crate::ir::Expr as Size;
use crate::relax::{self, Expr};
use crate::tensor::{DType, Tensor};

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("Celu", &[12], |c| scaled(c, "nn.celu", 1.0)),
    Operator::new("Dropout", &[7, 10, 12, 13, 22], dropout)
        .impure(|node| node.input.get(2).is_some_and(|name| !name.is_empty())),
    Operator::new("Elu", &[6, 22], |c| scaled(c, "nn.elu", 1.0)),
    Operator::new("Gelu", &[20], gelu),
    Operator::new("HardSigmoid", &[6, 22], hard_sigmoid),
    Operator::new("HardSwish", &[14, 22], |c| c.simple("nn.hardswish", 1)),
    Operator::new("Hardmax", &[1, 11, 13], hardmax),
    Operator::new("LeakyRelu", &[6, 16], |c| scaled(c, "nn.leakyrelu", 0.01)),
    Operator::new("LogSoftmax", &[1, 11, 13], |c| along(c, "nn.log_softmax")),
    Operator::new("Mish", &[18, 22], |c| c.simple("nn.mish", 1)),
    Operator::new("PRelu", &[7, 9, 16], prelu),
    Operator::new("Relu", &[6, 13, 14], |c| c.simple("nn.relu", 1)),
    Operator::new("Selu", &[6, 22], selu),
    Operator::new("Shrink", &[9], shrink),
    Operator::new("Sigmoid", &[6, 13], |c| c.simple("sigmoid", 1)),
    Operator::new("Softmax", &[1, 11, 13], |c| along(c, "nn.softmax")),
    Operator::new("Softplus", &[1, 22], |c| c.simple("nn.softplus", 1)),
    Operator::new("Softsign", &[1, 22], |c| c.simple("nn.softsign", 1)),
    Operator::new("SwiGLU", &[28], swiglu),
    Operator::new("Swish", &[24], swish),
    Operator::new("ThresholdedRelu", &[10, 22], |c| {
        scaled(c, "nn.thresholded_relu", 1.0)
    }),
];

fn scaled(c: &mut Call<'_, '_>, name: &str, alpha: f64) -> Outputs {
    let alpha = c.attributes.float_or("alpha", alpha)?;
    let x = c.x(0)?;
    one(c.op_with(name, [x], &json!({"alpha": alpha}))?)
}

fn gelu(c: &mut Call<'_, '_>) -> Outputs {
    match c
        .attributes
        .one_of("approximate", "none", &["none", "tanh"])?
    {
        "tanh" => c.simple("nn.gelu_tanh", 1),
        _ => c.simple("nn.gelu", 1),
    }
}

fn hard_sigmoid(c: &mut Call<'_, '_>) -> Outputs {
    let alpha = c.attributes.float_or("alpha", f64::from(0.2f32))?;
    let beta = c.attributes.float_or("beta", 0.5)?;
    let x = c.x(0)?;
    one(c.op_with(
        "nn.hardsigmoid",
        [x],
        &json!({"alpha": alpha, "beta": beta}),
    )?)
}

/// Slopes broadcast to the operand.
fn prelu(c: &mut Call<'_, '_>) -> Outputs {
    let dtype = c.dtype(0)?;
    let (x, slope) = (c.x(0)?, c.x(1)?);
    let zero = number(0.0, dtype)?;
    let below = relax::op("less", [x.clone(), zero]);
    let scaled = relax::op("multiply", [x.clone(), slope]);
    one(c.op("where", [below, scaled, x])?)
}

fn selu(c: &mut Call<'_, '_>) -> Outputs {
    let alpha = c.attributes.float_or("alpha", 1.673_263_192_176_818_8)?;
    let gamma = c.attributes.float_or("gamma", 1.050_700_902_938_842_8)?;
    let dtype = c.dtype(0)?;
    let x = c.x(0)?;
    let elu = c.op_with("nn.elu", [x], &json!({"alpha": alpha}))?;
    let gamma = number(gamma, dtype)?;
    one(c.op("multiply", [elu.into(), gamma])?)
}

fn shrink(c: &mut Call<'_, '_>) -> Outputs {
    let lambd = c.attributes.float_or("lambd", 0.5)?;
    let bias = c.attributes.float_or("bias", 0.0)?;
    let dtype = c.dtype(0)?;
    let x = c.x(0)?;
    if dtype.is_float() {
        return one(c.op_with("nn.shrink", [x], &json!({"lambd": lambd, "bias": bias}))?);
    }
    let float = cast(x, DType::F32);
    let shrunk = c.op_with("nn.shrink", [float], &json!({"lambd": lambd, "bias": bias}))?;
    one(c.emit(cast(&shrunk, dtype))?)
}

fn swish(c: &mut Call<'_, '_>) -> Outputs {
    let alpha = c.attributes.float_or("alpha", 1.0)?;
    if alpha == 1.0 {
        return c.simple("nn.silu", 1);
    }
    let dtype = c.dtype(0)?;
    let x = c.x(0)?;
    let alpha = number(alpha, dtype)?;
    let gate = relax::op("sigmoid", [relax::op("multiply", [x.clone(), alpha])]);
    one(c.op("multiply", [x, gate])?)
}

/// The swish of a gate, times the other operand.
fn swiglu(c: &mut Call<'_, '_>) -> Outputs {
    let (gate, linear) = (c.dims(0)?, c.dims(1)?);
    if gate.len() != linear.len() {
        return Err(c.bad(1, shown(&linear), shown(&gate)));
    }
    let linear = c.x(1)?;
    c.inputs.truncate(1);
    match swish(c)?.as_slice() {
        [Value::Var(gate)] => one(c.op("multiply", [gate.into(), linear])?),
        _ => Ok(vec![]),
    }
}

/// An operator along an axis. Before version 13 it works along all dimensions from the axis on, as if they were one.
fn along(c: &mut Call<'_, '_>, name: &str) -> Outputs {
    let dims = c.dims(0)?;
    let (axis, together) = match c.version {
        ..13 => (c.attributes.int_or("axis", 1)?, true),
        _ => (c.attributes.int_or("axis", -1)?, false),
    };
    let x = c.x(0)?;
    if !together {
        let axis = c.axis(axis, dims.len())?;
        return one(c.op_with(name, [x], &json!({"axis": axis}))?);
    }
    let flat = rows(&dims, c.axis_or_end(axis, dims.len())?);
    let x = c.reshaped(x, flat)?;
    let y = c.op_with(name, [&x], &json!({"axis": 1}))?;
    one(c.reshaped(&y, dims)?)
}

/// The extents as a matrix: the dimensions before the axis, and those from it on.
pub(super) fn rows(dims: &[Size], axis: usize) -> Vec<Size> {
    vec![volume(&dims[..axis]), volume(&dims[axis..])]
}

/// 1 at the first greatest element along an axis.
fn hardmax(c: &mut Call<'_, '_>) -> Outputs {
    let (dims, dtype) = (c.dims(0)?, c.dtype(0)?);
    let mut x = c.x(0)?;
    let axis = match c.version {
        ..13 => {
            let axis = c.attributes.int_or("axis", 1)?;
            let flat = rows(&dims, c.axis_or_end(axis, dims.len())?);
            x = c.reshaped(x, flat)?.into();
            1
        }
        _ => {
            let axis = c.attributes.int_or("axis", -1)?;
            c.axis(axis, dims.len())?
        }
    };
    let x = c.emit(x)?;
    let extent = match x.sinfo().as_tensor().and_then(|info| info.shape.dims()) {
        Some(dims) => dims[axis].clone(),
        None => return Err(c.bad(0, x.sinfo(), "a tensor of known shape")),
    };
    let first = c.op_with("argmax", [&x], &json!({"axis": axis, "keepdims": true}))?;
    let count: Expr = relax::op("arange", [Expr::from(extent)]);
    let mut shape = vec![Size::i64(1); dims_of(&x)];
    shape[axis] = Size::i64(-1);
    let positions = relax::op("reshape", [count, relax::shape(shape)]);
    let hit = relax::op("equal", [positions, (&first).into()]);
    let y = c.emit(cast(hit, dtype))?;
    one(c.reshaped(&y, dims)?)
}

fn dims_of(x: &relax::Var) -> usize {
    let info = x.sinfo().as_tensor();
    info.and_then(|info| info.shape.ndim()).unwrap_or(0)
}

/// In inference nothing is dropped. In training, which an operand says from version 12 on, random elements are, and others grow.
fn dropout(c: &mut Call<'_, '_>) -> Outputs {
    let known = |c: &Call<'_, '_>, index: usize| match c.has(index) {
        true => c.known(index).and_then(|known| known.floats()),
        false => None,
    };
    let training = c.version >= 12 && c.has(2) && known(c, 2).is_none_or(|flags| flags != [0.0]);
    if training && known(c, 1).is_none_or(|ratio| ratio != [0.0]) {
        return dropped(c);
    }
    c.attributes.ignore("ratio");
    c.attributes.ignore("seed");
    let x = c.inputs.first().cloned().ok_or(Fault::NoOperand(0))?;
    if !c.wants(1) {
        return Ok(vec![x]);
    }
    let dims = c.dims(0)?;
    let dtype = match c.version {
        ..10 => c.dtype(0)?,
        _ => DType::BOOL,
    };
    let kept = Tensor::from_bytes(DType::U8, &[], &[1]).map_err(relax::BuildError::from)?;
    let kept = cast(relax::constant(kept), dtype);
    let mask = c.op("broadcast_to", [kept, relax::shape(dims)])?;
    Ok(vec![x, Value::Var(mask)])
}

/// Dropout in training, if the operand that says so is true.
fn dropped(c: &mut Call<'_, '_>) -> Outputs {
    let (dims, dtype) = (c.dims(0)?, c.dtype(0)?);
    let seed = c.attributes.int("seed")?.map(|seed| seed as u64);
    let (drawn, wide) = random::uniform(c, &dims, dtype, seed)?;
    let ratio = match c.optional(1)? {
        Some(ratio) => in_type(ratio, c.dtype(1)?, wide),
        None => number(0.5, wide)?,
    };
    let training = c.x(2)?;
    let ratio = relax::op("where", [training, ratio, number(0.0, wide)?]);
    let ratio = c.emit(ratio)?;
    let mask = c.op("greater_equal", [&drawn, &ratio])?;
    let scale = number(1.0, wide)? / (number(1.0, wide)? - &ratio);
    let x = in_type(c.x(0)?, dtype, wide);
    let kept = relax::op("where", [(&mask).into(), x * scale, number(0.0, wide)?]);
    let y = c.emit(in_type(kept, wide, dtype))?;
    Ok(vec![y.into(), mask.into()])
}
