//! Attention, and rotary embeddings.

use serde_json::json;

use super::Operator;
use super::contrib_attention::{count, float_type};
use super::dot_product::{
    self, Bias, DotProduct, Unseeing, appended, batch_of, each_batch, join_heads, positions,
};
use super::pieces::dims_of;
use crate::frontend::onnx::call::{Call, Outputs, attrs, materialized, number, one, shown};
use crate::frontend::onnx::error::Fault;
use crate::frontend::onnx::fit::Extent;
use crate::frontend::onnx::tensor;
use crate::frontend::onnx::value::{Known, Value};
use crate::ir::{AttrValue, Expr as Size};
use crate::relax::{self, Var};
use crate::tensor::DType;

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("Attention", &[23, 24, 25], attention),
    Operator::new("RotaryEmbedding", &[23], rotary),
];

/// (batch, sequence, heads * size) as (batch, heads, sequence, size); four dimensions stay. An attribute has the number of heads.
fn heads(c: &mut Call<'_, '_>, index: usize, name: &str) -> Result<Var, Fault> {
    let dims = c.dims(index)?;
    let count = c
        .attributes
        .int(name)?
        .map(|_| count(c, name))
        .transpose()?;
    let x = c.var(index)?;
    match (dims.as_slice(), count) {
        ([batch, length, width], Some(count)) => {
            if width.as_int().is_some_and(|width| width % count != 0) {
                let expected =
                    format!("(batch, sequence, width) with a width that {count} divides, `{name}`");
                return Err(c.bad(index, shown(&dims), expected));
            }
            dot_product::split_heads(c, &x, [batch, length, width], count)
        }
        ([_, _, _], None) => Err(Fault::NoAttribute(name.to_owned())),
        ([_, heads, _, _], Some(count)) if c.surely_differ(heads, &Size::i64(count)) => {
            let expected = format!("(batch, heads, sequence, size) with {count} heads, `{name}`");
            Err(c.bad(index, shown(&dims), expected))
        }
        ([_, _, _, _], _) => Ok(x),
        _ => Err(c.bad(index, shown(&dims), "a tensor of three or four dimensions")),
    }
}

/// Refuses what does not fit queries, keys and values, each (batch, heads, sequence, size): a cache, a mask, lengths.
fn check(c: &Call<'_, '_>, [query, key, value]: [&Var; 3]) -> Result<(), Fault> {
    dot_product::check(c, [0, 1, 2], [query, key, value])?;
    let [q, k, v] = [dims_of(c, query)?, dims_of(c, key)?, dims_of(c, value)?];
    c.expect_both(4, 5)?;
    let cache = |size| {
        let (batch, heads) = (Extent::of("batch", &k[0]), Extent::of("heads", &k[1]));
        [
            batch,
            heads,
            Extent::any("past sequence"),
            Extent::of("size", size),
        ]
    };
    c.expect_extents(4, &cache(&k[3]))?;
    c.expect_extents(5, &cache(&v[3]))?;
    let mut total = k[2].clone();
    if c.has(4) {
        let [past, other] = [c.dims(4)?.swap_remove(2), c.dims(5)?.swap_remove(2)];
        c.expect_same("past sequence", (5, &other), (4, &past))?;
        total = c.importer.arith.simplify(&(total + past));
    }
    check_mask(c, [&q[0], &q[1], &q[2], &total])?;
    c.expect_extents(6, &[Extent::of("batch", &q[0])])?;
    match c.has(4) && c.has(6) {
        true => Err(c.bad(6, "given", "left out, as there is a cache")),
        false => Ok(()),
    }
}

/// A mask broadcasts to (batch, heads, sequence, keys); of keys there may be fewer, for those that it leaves out are not seen.
fn check_mask(c: &Call<'_, '_>, [batch, heads, queries, keys]: [&Size; 4]) -> Result<(), Fault> {
    if !c.has(3) {
        return Ok(());
    }
    let mask = c.dims(3)?;
    let given = mask.last().unwrap_or(keys);
    let is_shorter =
        matches!((given.as_int(), keys.as_int()), (Some(given), Some(keys)) if given < keys);
    let seen = if is_shorter { given } else { keys };
    let to = [
        ("batch", batch),
        ("heads", heads),
        ("sequence", queries),
        ("keys", seen),
    ];
    c.expect_broadcast(3, &to).map_err(|_| {
        let to = [batch, heads, queries, keys].map(|n| format!("{n:#}")).join(", ");
        let expected = format!(
            "of a shape that broadcasts to ({to}), which are batch, heads, sequence and keys; it may have fewer keys"
        );
        c.bad(3, shown(&mask), expected)
    })
}

/// The element type in which softmax is computed, which is one of floats.
fn precision(c: &Call<'_, '_>, otherwise: DType) -> Result<DType, Fault> {
    let Some(code) = c.attributes.int("softmax_precision")? else {
        return Ok(otherwise);
    };
    let known = i32::try_from(code)
        .ok()
        .and_then(|code| tensor::dtype(code).ok());
    known.filter(|dtype| dtype.is_float()).ok_or_else(|| Fault::Attribute {
        name: "softmax_precision".to_owned(),
        given: code.to_string(),
        expected: "the number of an element type of floats: 1 (float32), 10 (float16), 11 (float64) or 16 (bfloat16)".to_owned(),
    })
}

/// With grouped heads, a cache of keys and values, masks, a causal or sliding window, and a cap on the products.
fn attention(c: &mut Call<'_, '_>) -> Outputs {
    let flat = c.ndim(0)? == 3;
    let dtype = float_type(c)?;
    let mode = c.attributes.int_within("qk_matmul_output_mode", 0, 0..=3)?;
    let query = heads(c, 0, "q_num_heads")?;
    let (mut key, mut value) = (heads(c, 1, "kv_num_heads")?, heads(c, 2, "kv_num_heads")?);
    check(c, [&query, &key, &value])?;
    let past = match c.optional(4)? {
        Some(past) => {
            key = appended(c, past, &key)?;
            Some(c.dims(4)?.swap_remove(2))
        }
        None => None,
    };
    if let Some(past) = c.optional(5)? {
        value = appended(c, past, &value)?;
    }
    let present = [key.clone(), value.clone()];
    let (q, k) = (dims_of(c, &query)?, dims_of(c, &key)?);
    let bias = attention_bias(c, dtype, &q[2], &k[2], past)?;
    // By its position a query sees its own key, if there is one.
    let windowed = |name| c.attributes.int_or(name, -1).map(|width| width >= 0);
    let by_position = !c.has(3) && !c.has(6);
    let unseeing =
        match by_position && !windowed("left_window_size")? && !windowed("right_window_size")? {
            true => Unseeing::Any,
            false => Unseeing::Zero,
        };
    let of = DotProduct {
        query,
        key,
        value,
        dtype,
        scale: c.attributes.float("scale")?,
        softcap: c.attributes.nonnegative_float("softcap", 0.0)?,
        bias,
        precision: precision(c, dtype)?,
        sink: None,
        unseeing,
    };
    let attended = of.attend(c)?;
    let y = match flat {
        true => join_heads(c, &attended.y)?,
        false => attended.y,
    };
    let shown = match mode {
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
        c.attributes
            .int_within("left_window_size", -1, -1..=i64::MAX)?,
        c.attributes
            .int_within("right_window_size", -1, -1..=i64::MAX)?,
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
