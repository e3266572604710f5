//! Attention, and rotary embeddings.

use serde_json::json;

use super::Operator;
use super::dot_product::{
    self, Bias, DotProduct, Unseeing, appended, batch_of, each_batch, join_heads, positions,
};
use super::pieces::dims_of;
use crate::frontend::onnx::call::{Call, Outputs, attrs, materialized, number, one, shown};
use crate::frontend::onnx::error::Fault;
use crate::frontend::onnx::tensor;
use crate::frontend::onnx::value::{Known, Value};
use crate::ir::{AttrValue, Expr as Size};
use crate::relax::{self, Var};
use crate::tensor::DType;

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("Attention", &[23, 24, 25], attention),
    Operator::new("RotaryEmbedding", &[23], rotary),
];

/// (batch, sequence, heads * size) as (batch, heads, sequence, size); four dimensions stay.
fn heads(c: &mut Call<'_, '_>, index: usize, count: Option<i64>) -> Result<Var, Fault> {
    let dims = c.dims(index)?;
    let x = c.var(index)?;
    match (dims.as_slice(), count) {
        ([batch, length, width], Some(count)) => {
            dot_product::split_heads(c, &x, [batch, length, width], count)
        }
        ([_, _, _], None) => Err(Fault::NoAttribute("q_num_heads, kv_num_heads".to_owned())),
        ([_, _, _, _], _) => Ok(x),
        _ => Err(c.bad(index, shown(&dims), "a tensor of three or four dimensions")),
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
            key = appended(c, past, &key)?;
            let dims = c.dims(4)?;
            let length = dims.get(2).cloned();
            Some(length.ok_or_else(|| c.bad(4, shown(&dims), "a tensor of four dimensions"))?)
        }
        None => None,
    };
    if let Some(past) = c.optional(5)? {
        value = appended(c, past, &value)?;
    }
    let present = [key.clone(), value.clone()];
    let (q, k) = (dims_of(c, &query)?, dims_of(c, &key)?);
    let bias = attention_bias(c, dtype, &q[2], &k[2], past)?;
    let precision = match c.attributes.int("softmax_precision")? {
        Some(code) => tensor::dtype(code as i32).map_err(Fault::ElementType)?,
        None => dtype,
    };
    let of = DotProduct {
        query,
        key,
        value,
        dtype,
        scale: c.attributes.float("scale")?,
        softcap: c.attributes.float_or("softcap", 0.0)?,
        bias,
        precision,
        sink: None,
        unseeing: Unseeing::Zero,
    };
    let attended = of.attend(c)?;
    let y = match flat {
        true => join_heads(c, &attended.y)?,
        false => attended.y,
    };
    let shown = match c.attributes.int_or("qk_matmul_output_mode", 0)? {
        0 => attended.raw,
        1 => attended.capped,
        2 => attended.biased,
        _ => attended.shares,
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
            each_batch(lengths.clone() - queries, &batch_of(c, 6)?)
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
        let lengths = each_batch(lengths, &batch_of(c, 6)?);
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
