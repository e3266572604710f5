//! Attention with graphs of the model between its steps.

use serde_json::json;

use super::Operator;
use super::control::{inline, result_of};
use super::pieces::dims_of;
use crate::frontend::onnx::call::{Call, Outputs, attrs, cast, number, one, shown};
use crate::frontend::onnx::error::Fault;
use crate::frontend::onnx::tensor;
use crate::relax::{self, Expr, Var};
use crate::tensor::DType;

pub(super) const OPERATORS: &[Operator] =
    &[Operator::new("FlexAttention", &[1], attention).of("ai.onnx.preview")];

/// What a graph of the node makes of the tensor; without one, the tensor. `None` if something in the graph stands in the way.
fn modified(c: &mut Call<'_, '_>, x: Var, name: &str) -> Result<Option<Var>, Fault> {
    if !c.attributes.has(name) {
        return Ok(Some(x));
    }
    let graph = c.attributes.graph(name)?;
    if (graph.input.len(), graph.output.len()) != (1, 1) {
        return Err(Fault::Attribute {
            name: name.to_owned(),
            given: format!(
                "a graph with {} inputs and {} outputs",
                graph.input.len(),
                graph.output.len()
            ),
            expected: "one with one input and one output".to_owned(),
        });
    }
    match inline(c, graph, vec![x.into()], name)?.as_deref() {
        Some([value]) => {
            let value = result_of(value)?;
            c.emit(value).map(Some)
        }
        _ => Ok(None),
    }
}

/// Keys or values, each head repeated in place for the heads of queries that read it.
fn repeated(c: &mut Call<'_, '_>, index: usize, queries: i64) -> Result<Var, Fault> {
    let own = c.dim(index, 1)?;
    let x = c.var(index)?;
    if own == queries {
        return Ok(x);
    }
    if own < 1 || queries % own != 0 {
        let dims = c.dims(index)?;
        return Err(c.bad(index, shown(&dims), format!("heads for {queries}")));
    }
    c.op_with(
        "repeat",
        [&x],
        &json!({"repeats": queries / own, "axis": 1}),
    )
}

fn attention(c: &mut Call<'_, '_>) -> Outputs {
    for index in 0..3 {
        let dims = c.dims(index)?;
        if dims.len() != 4 {
            return Err(c.bad(index, shown(&dims), "(batch, heads, length, size)"));
        }
    }
    let dtype = c.dtype(0)?;
    let precise = match c.attributes.int("softmax_precision")? {
        Some(code) => {
            let code = i32::try_from(code).unwrap_or(0);
            tensor::dtype(code).map_err(Fault::ElementType)?
        }
        None if dtype.bytes() < 4 => DType::F32,
        None => dtype,
    };
    let scale = match c.attributes.float("scale")? {
        Some(scale) => scale,
        None => 1.0 / (c.dim(0, 3)? as f64).sqrt(),
    };
    let scales = [scale.abs().sqrt().copysign(scale), scale.abs().sqrt()];
    let heads = c.dim(0, 1)?;
    let (key, value) = (repeated(c, 1, heads)?, repeated(c, 2, heads)?);
    let turned = relax::op_with(
        "permute_dims",
        [&key],
        attrs(&json!({"axes": [0, 1, 3, 2]})),
    );
    let query = c.x(0)? * number(scales[0], dtype)?;
    let turned = turned * number(scales[1], dtype)?;
    let mut scores = c.op("matmul", [query, turned])?;
    let into = |x: &Var, from: DType, to: DType| -> Expr {
        match from == to {
            true => x.into(),
            false => cast(x, to),
        }
    };
    scores = c.emit(into(&scores, dtype, precise))?;
    let shape = dims_of(c, &scores)?;
    let Some(scores) = modified(c, scores, "score_mod")? else {
        return Ok(vec![]);
    };
    let shares = c.op_with("nn.softmax", [&scores], &json!({"axis": -1}))?;
    let Some(shares) = modified(c, shares, "prob_mod")? else {
        return Ok(vec![]);
    };
    if dims_of(c, &shares)?.len() != shape.len() {
        let text = "a graph of the node gives a tensor of another shape".to_owned();
        return Err(Fault::Unsupported(text));
    }
    let value = into(&value, c.dtype(2)?, precise);
    let y = c.op("matmul", [(&shares).into(), value])?;
    let y = into(&y, precise, c.dtype(2)?);
    one(c.emit(y)?)
}
