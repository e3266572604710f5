//! Operators of `com.microsoft` on quantized tensors, which quantizers of models write: operators of floats between a dequantization of
//! each operand and a quantization of the result.

use serde_json::json;

use super::Operator;
use super::quantize::saturated;
use crate::frontend::onnx::call::{Call, Outputs, attrs, cast, number, one};
use crate::frontend::onnx::error::Fault;
use crate::frontend::onnx::value::Value;
use crate::ir::Expr as Size;
use crate::relax::{self, Expr};
use crate::tensor::DType;

const DOMAIN: &str = "com.microsoft";

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("QGemm", &[1], gemm).of(DOMAIN),
    Operator::new("QLinearAdd", &[1], |c| on_floats(c, &[0, 3], 6, "Add")).of(DOMAIN),
    Operator::new("QLinearAveragePool", &[1], |c| pool(c, "AveragePool")).of(DOMAIN),
    Operator::new("QLinearConcat", &[1], concat).of(DOMAIN),
    Operator::new("QLinearGlobalAveragePool", &[1], |c| {
        pool(c, "GlobalAveragePool")
    })
    .of(DOMAIN),
    Operator::new("QLinearLeakyRelu", &[1], |c| {
        on_floats(c, &[0], 3, "LeakyRelu")
    })
    .of(DOMAIN),
    Operator::new("QLinearMul", &[1], |c| on_floats(c, &[0, 3], 6, "Mul")).of(DOMAIN),
    Operator::new("QLinearSigmoid", &[1], |c| on_floats(c, &[0], 3, "Sigmoid")).of(DOMAIN),
    Operator::new("QLinearSoftmax", &[1], softmax).of(DOMAIN),
];

/// The number in an operand, which may be a vector of one.
fn single(c: &mut Call<'_, '_>, index: usize) -> Result<Expr, Fault> {
    let x = c.x(index)?;
    Ok(match c.dims(index)?.as_slice() {
        [n] if n.is_one() => relax::op("reshape", [x, relax::shape(Vec::<Size>::new())]),
        _ => x,
    })
}

/// The floats that an operand is, by the scale and the zero point after it.
fn dequantized(c: &mut Call<'_, '_>, index: usize) -> Result<Expr, Fault> {
    let mut x = cast(c.x(index)?, DType::I32);
    if c.has(index + 2) {
        x = x - cast(single(c, index + 2)?, DType::I32);
    }
    Ok(cast(x, DType::F32) * single(c, index + 1)?)
}

/// How a result is quantized.
struct Result8 {
    scale: Expr,
    zero: Option<Expr>,
    dtype: DType,
}

impl Result8 {
    /// By the operands from this one on.
    fn of(c: &mut Call<'_, '_>, index: usize) -> Result<Self, Fault> {
        let scale = single(c, index)?;
        let (zero, dtype) = match c.has(index + 1) {
            true => (Some(single(c, index + 1)?), c.dtype(index + 1)?),
            false => (None, DType::U8),
        };
        Ok(Self { scale, zero, dtype })
    }

    fn quantized(self, c: &mut Call<'_, '_>, y: Expr) -> Outputs {
        let y = saturated(y / self.scale, self.zero, self.dtype)?;
        one(c.emit(y)?)
    }
}

/// An operator of the default domain on the floats that these operands are. How its result is quantized, the operands from `result` on
/// say.
fn on_floats(c: &mut Call<'_, '_>, operands: &[usize], result: usize, name: &str) -> Outputs {
    let result = Result8::of(c, result)?;
    let mut floats = vec![];
    for &index in operands {
        let x = dequantized(c, index)?;
        floats.push(Value::Var(c.emit(x)?));
    }
    c.inputs = floats;
    let y = of_floats(c, name, i64::MAX)?;
    result.quantized(c, y)
}

/// The result of an operator of the default domain, as of a version of the operator set.
fn of_floats(c: &mut Call<'_, '_>, name: &str, opset: i64) -> Result<Expr, Fault> {
    let operator = super::find("", name).expect("only names of operators are given");
    c.version = operator.version(opset)?;
    let values = (operator.import)(c)?;
    let value = values.first().cloned().unwrap_or(Value::Missing);
    let y = c.graph_value(&value)?;
    y.ok_or_else(|| Fault::Unsupported("a result that is no tensor".to_owned()))
}

fn pool(c: &mut Call<'_, '_>, name: &str) -> Outputs {
    if c.attributes.flag("channels_last", false)? {
        let text = "the channels are the last dimension".to_owned();
        return Err(Fault::Unsupported(text));
    }
    on_floats(c, &[0], 3, name)
}

/// `opset` is the version of the operator that is meant.
fn softmax(c: &mut Call<'_, '_>) -> Outputs {
    let opset = c.attributes.int_or("opset", 13)?;
    let result = Result8::of(c, 3)?;
    let x = dequantized(c, 0)?;
    c.inputs = vec![Value::Var(c.emit(x)?)];
    let y = of_floats(c, "Softmax", opset)?;
    result.quantized(c, y)
}

/// Scale and zero point of the result come first.
fn concat(c: &mut Call<'_, '_>) -> Outputs {
    let operands: Vec<usize> = (2..c.inputs.len()).step_by(3).collect();
    on_floats(c, &operands, 0, "Concat")
}

/// `alpha * A * B + C`, where C has the scale of the product and the second matrix may have a scale for each column.
fn gemm(c: &mut Call<'_, '_>) -> Outputs {
    let alpha = c.attributes.float_or("alpha", 1.0)?;
    let turned = [
        c.attributes.flag("transA", false)?,
        c.attributes.flag("transB", false)?,
    ];
    let mut factors = vec![];
    for (index, turned) in [0, 3].into_iter().zip(turned) {
        let mut x = cast(c.x(index)?, DType::I32);
        if turned {
            x = relax::op_with("permute_dims", [x], attrs(&json!({"axes": [1, 0]})));
        }
        if c.has(index + 2) {
            x = x - cast(single(c, index + 2)?, DType::I32);
        }
        factors.push(x);
    }
    let mut sum = relax::op("matmul", factors);
    if c.has(6) {
        sum = sum + c.x(6)?;
    }
    let scale = single(c, 1)? * single(c, 4)? * number(alpha, DType::F32)?;
    let y = cast(sum, DType::F32) * scale;
    match c.has(7) {
        true => Result8::of(c, 7)?.quantized(c, y),
        false => one(c.emit(y)?),
    }
}
