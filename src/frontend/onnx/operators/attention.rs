//! Attention, and rotary embeddings.

use serde_json::json;

use super::Operator;
use super::pieces::dims_of;
use crate::frontend::onnx::call::{
    Call, Outputs, attrs, cast, in_type, materialized, number, one, shown,
};
use crate::frontend::onnx::error::Fault;
use crate::frontend::onnx::tensor;
use crate::frontend::onnx::value::{Known, Value};
use crate::ir::{AttrValue, Expr as Size};
use crate::relax::{self, Expr, Var};
use crate::tensor::DType;

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("Attention", &[23, 24, 25], attention),
    Operator::new("RotaryEmbedding", &[23], rotary),
];

/// (batch, sequence, heads * size) as (batch, heads, sequence, size); four dimensions stay.
fn heads(c: &mut Call<'_, '_>, index: usize, count: Option<i64>) -> Result<Var, Fault> {
    let dims = c.dims(index)?;
    let x = c.var(index)?;
    let ([batch, length, width], Some(count)) = (dims.as_slice(), count) else {
        return match dims.len() {
            4 => Ok(x),
            3 => Err(Fault::NoAttribute("q_num_heads, kv_num_heads".to_owned())),
            _ => Err(c.bad(index, shown(&dims), "a tensor of three or four dimensions")),
        };
    };
    let size = c.importer.arith.simplify(&width.floor_div(count.max(1)));
    let split = [batch.clone(), length.clone(), Size::i64(count), size];
    let x = c.reshaped(&x, split)?;
    c.op_with("permute_dims", [&x], &json!({"axes": [0, 2, 1, 3]}))
}

/// Each head repeated in place, as often as there are heads of queries for it.
fn shared(c: &mut Call<'_, '_>, x: &Var, queries: &Size) -> Result<Var, Fault> {
    let dims = dims_of(c, x)?;
    match (dims[1].as_int(), queries.as_int()) {
        (Some(own), Some(all)) if own != all && own > 0 && all % own == 0 => {
            c.op_with("repeat", [x], &json!({"repeats": all / own, "axis": 1}))
        }
        _ => Ok(x.clone()),
    }
}

/// A vector of the first integers, in a shape that puts them along an axis of `rank`, counted from the end.
pub(super) fn positions(count: &Size, from_end: usize, rank: usize) -> Expr {
    let i = relax::op_with(
        "arange",
        [Expr::from(count.clone())],
        attrs(&json!({"dtype": "int64"})),
    );
    let mut dims = vec![Size::i64(1); rank];
    dims[rank - from_end] = count.clone();
    relax::op("reshape", [i, relax::shape(dims)])
}

/// The extent of a vector with a number for each batch.
fn batch_of(c: &Call<'_, '_>, index: usize) -> Result<Size, Fault> {
    let dims = c.dims(index)?;
    match dims.as_slice() {
        [batch] => Ok(batch.clone()),
        _ => Err(c.bad(index, shown(&dims), "a vector with a number for each batch")),
    }
}

/// What is added before softmax: 0 where a query may look, minus infinity elsewhere.
struct Bias {
    value: Option<Var>,
    dtype: DType,
}

impl Bias {
    fn and(&mut self, c: &mut Call<'_, '_>, bias: Expr) -> Result<(), Fault> {
        let sum = match &self.value {
            Some(value) => value + bias,
            None => bias,
        };
        self.value = Some(c.emit(sum)?);
        Ok(())
    }

    fn allow(&mut self, c: &mut Call<'_, '_>, allowed: Expr) -> Result<(), Fault> {
        let (zero, never) = (
            number(0.0, self.dtype)?,
            number(f64::NEG_INFINITY, self.dtype)?,
        );
        self.and(c, relax::op("where", [allowed, zero, never]))
    }
}

/// With grouped heads, a cache of keys and values, masks, a causal or sliding window, and a cap on the products.
fn attention(c: &mut Call<'_, '_>) -> Outputs {
    let (q_heads, kv_heads) = (
        c.attributes.int("q_num_heads")?,
        c.attributes.int("kv_num_heads")?,
    );
    let flat = c.ndim(0)? == 3;
    let dtype = c.dtype(0)?;
    let query = heads(c, 0, q_heads)?;
    let (mut key, mut value) = (heads(c, 1, kv_heads)?, heads(c, 2, kv_heads)?);
    let past = match c.optional(4)? {
        Some(past) => {
            key = c.op_with(
                "concat",
                [relax::tuple([past, (&key).into()])],
                &json!({"axis": 2}),
            )?;
            let dims = c.dims(4)?;
            let length = dims.get(2).cloned();
            Some(length.ok_or_else(|| c.bad(4, shown(&dims), "a tensor of four dimensions"))?)
        }
        None => None,
    };
    if let Some(past) = c.optional(5)? {
        value = c.op_with(
            "concat",
            [relax::tuple([past, (&value).into()])],
            &json!({"axis": 2}),
        )?;
    }
    let present = [key.clone(), value.clone()];
    let (q, k) = (dims_of(c, &query)?, dims_of(c, &key)?);
    let (queries, keys) = (q[2].clone(), k[2].clone());
    let bias = attention_bias(c, dtype, &queries, &keys, past)?;
    key = shared(c, &key, &q[1])?;
    value = shared(c, &value, &q[1])?;

    let scale = match c.attributes.float("scale")? {
        Some(scale) => scale,
        None => {
            let size = q[3].as_int();
            let size = size.ok_or_else(|| c.bad(0, shown(&q), "queries of a constant size"))?;
            1.0 / (size as f64).sqrt()
        }
    };
    let root = number(scale.sqrt(), dtype)?;
    let transposed = relax::op_with(
        "permute_dims",
        [&key],
        attrs(&json!({"axes": [0, 1, 3, 2]})),
    );
    let product = relax::op("matmul", [&query * root.clone(), transposed * root]);
    let raw = c.emit(product)?;
    let cap = c.attributes.float_or("softcap", 0.0)?;
    let capped = match cap > 0.0 {
        true => {
            let cap = number(cap, dtype)?;
            let scaled = relax::op("tanh", [&raw / cap.clone()]);
            c.emit(scaled * cap)?
        }
        false => raw.clone(),
    };
    let biased = match &bias {
        Some(bias) => c.emit(&capped + bias)?,
        None => capped.clone(),
    };
    let precision = match c.attributes.int("softmax_precision")? {
        Some(code) => tensor::dtype(code as i32).map_err(Fault::ElementType)?,
        None => dtype,
    };
    let input = in_type(&biased, dtype, precision);
    let mut shares = c.op_with("nn.softmax", [input], &json!({"axis": -1}))?;
    if let Some(bias) = &bias {
        // A query that may look nowhere gets nothing.
        let greatest = relax::op_with(
            "max",
            [bias],
            attrs(&json!({"axis": [-1], "keepdims": true})),
        );
        let nowhere = relax::op("equal", [greatest, number(f64::NEG_INFINITY, dtype)?]);
        let zero = number(0.0, precision)?;
        shares = c.op("where", [nowhere, zero, (&shares).into()])?;
    }
    if precision != dtype {
        shares = c.emit(cast(&shares, dtype))?;
    }
    let mut y = c.op("matmul", [&shares, &value])?;
    if flat {
        let dims = dims_of(c, &y)?;
        y = c.op_with("permute_dims", [&y], &json!({"axes": [0, 2, 1, 3]}))?;
        let width = c.importer.arith.simplify(&(&dims[1] * &dims[3]));
        y = c.reshaped(&y, [dims[0].clone(), dims[2].clone(), width])?;
    }
    let shown = match c.attributes.int_or("qk_matmul_output_mode", 0)? {
        0 => raw,
        1 => capped,
        2 => biased,
        _ => shares,
    };
    let [key, value] = present;
    Ok(vec![y.into(), key.into(), value.into(), shown.into()])
}

fn attention_bias(
    c: &mut Call<'_, '_>,
    dtype: DType,
    queries: &Size,
    keys: &Size,
    past: Option<Size>,
) -> Result<Option<Var>, Fault> {
    let mut bias = Bias { value: None, dtype };
    if let Some(mut mask) = c.optional(3)? {
        let dims = c.dims(3)?;
        let given = dims.last().cloned().unwrap_or_else(|| Size::i64(1));
        let boolean = c.dtype(3)?.is_bool();
        if let (Some(given), Some(keys)) = (given.as_int(), keys.as_int())
            && given < keys
        {
            let mut width = vec![0i64; 2 * dims.len()];
            width[2 * dims.len() - 1] = keys - given;
            // What is beyond the mask is masked.
            if boolean {
                let never = number(f64::NEG_INFINITY, dtype)?;
                mask = relax::op("where", [mask, number(0.0, dtype)?, never]);
            }
            let mut attributes = attrs(&json!({"pad_width": width}));
            let never = AttrValue::Float(f64::NEG_INFINITY);
            attributes.insert("pad_value".to_owned(), never);
            mask = relax::op_with("nn.pad", [mask], attributes);
            bias.and(c, mask)?;
        } else if boolean {
            bias.allow(c, mask)?;
        } else {
            bias.and(c, mask)?;
        }
    }
    let lengths = c.optional(6)?;
    // How many keys precede the first query: of all batches, or of each.
    let offset = match (&past, &lengths) {
        (Some(past), _) => materialized(&Known::vector(vec![past.clone()]))?,
        (None, Some(lengths)) => {
            let queries = materialized(&Known::vector(vec![queries.clone()]))?;
            let batch = batch_of(c, 6)?;
            let offset = lengths.clone() - queries;
            relax::op(
                "reshape",
                [
                    offset,
                    relax::shape([batch, Size::i64(1), Size::i64(1), Size::i64(1)]),
                ],
            )
        }
        (None, None) => number(0.0, DType::I64)?,
    };
    let distance = |c: &mut Call<'_, '_>| {
        c.emit(positions(queries, 2, 4) + offset.clone() - positions(keys, 1, 4))
    };
    if c.attributes.flag("is_causal", false)? {
        let distance = distance(c)?;
        let allowed = relax::op(
            "greater_equal",
            [(&distance).into(), number(0.0, DType::I64)?],
        );
        bias.allow(c, allowed)?;
    }
    let (left, right) = (
        c.attributes.int_or("left_window_size", -1)?,
        c.attributes.int_or("right_window_size", -1)?,
    );
    if left >= 0 {
        let distance = distance(c)?;
        bias.allow(
            c,
            relax::op(
                "less_equal",
                [(&distance).into(), number(left as f64, DType::I64)?],
            ),
        )?;
    }
    if right >= 0 {
        let distance = distance(c)?;
        bias.allow(
            c,
            relax::op(
                "greater_equal",
                [(&distance).into(), number(-right as f64, DType::I64)?],
            ),
        )?;
    }
    if let Some(lengths) = lengths {
        let batch = batch_of(c, 6)?;
        let lengths = relax::op(
            "reshape",
            [
                lengths,
                relax::shape([batch, Size::i64(1), Size::i64(1), Size::i64(1)]),
            ],
        );
        let allowed = relax::op("less", [positions(keys, 1, 4), lengths]);
        bias.allow(c, allowed)?;
    }
    Ok(bias.value)
}

fn rotary(c: &mut Call<'_, '_>) -> Outputs {
    let attributes = json!({
        "interleaved": c.attributes.flag("interleaved", false)?,
        "rotary_embedding_dim": c.attributes.int_or("rotary_embedding_dim", 0)?,
        "num_heads": c.attributes.int_or("num_heads", 0)?,
    });
    let mut args = vec![c.x(0)?, c.x(1)?, c.x(2)?];
    args.extend(c.optional(3)?);
    let value: Value = c.op_with("nn.rotary_embedding", args, &attributes)?.into();
    one(value)
}
