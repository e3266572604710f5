//! `Attention` of `com.microsoft`, as exported and fused transformers carry it: the projections of queries, keys and values are inside.

use serde_json::json;

use super::Operator;
use super::attention::positions;
use super::pieces::{dims_of, part, volume};
use crate::frontend::onnx::call::{Call, Outputs, attrs, cast, materialized, number, shown};
use crate::frontend::onnx::error::Fault;
use crate::frontend::onnx::value::{Known, Value};
use crate::ir::Expr as Size;
use crate::relax::{self, Expr, Var};
use crate::tensor::DType;

pub(super) const OPERATORS: &[Operator] = &[Operator::new("Attention", &[1], attention)
    .of("com.microsoft")
    .note(
        "no rotary embedding inside, no buffer that past and present share, no mask of packed sequences or of four dimensions",
    )];

fn attention(c: &mut Call<'_, '_>) -> Outputs {
    for name in ["do_rotary", "past_present_share_buffer"] {
        c.attributes.only(name, 0)?;
    }
    c.attributes.ignore("rotary_embedding_dim");
    if c.has(6) {
        let text = "a past of a length of its own, which goes with a shared buffer".to_owned();
        return Err(Fault::Unsupported(text));
    }
    let heads = c.attributes.int("num_heads")?;
    let heads = heads.ok_or_else(|| Fault::NoAttribute("num_heads".to_owned()))?;
    let widths = widths(c, heads)?;
    let dims = c.dims(0)?;
    let [batch, length, _] = dims.as_slice() else {
        return Err(c.bad(0, shown(&dims), "(batch, sequence, hidden)"));
    };
    let (x, weights) = (c.x(0)?, c.x(1)?);
    let mut projected = relax::op("matmul", [x, weights]);
    if let Some(bias) = c.optional(2)? {
        projected = projected + bias;
    }
    let projected = c.emit(projected)?;
    let mut begin = 0;
    let mut split = vec![];
    for width in widths {
        let own = part(c, &projected, 2, begin, begin + width)?;
        begin += width;
        let size = width / heads;
        let shape = [
            batch.clone(),
            length.clone(),
            Size::i64(heads),
            Size::i64(size),
        ];
        let own = c.reshaped(&own, shape)?;
        split.push(c.op_with("permute_dims", [&own], &json!({"axes": [0, 2, 1, 3]}))?);
    }
    let query = split[0].clone();
    let (key, past) = with_past(c, &split[1], 0)?;
    let (value, _) = with_past(c, &split[2], 1)?;
    let present = match c.wants(1) {
        true => {
            let both = relax::tuple([&key, &value].map(Expr::from));
            c.op_with("stack", [both], &json!({"axis": 0}))?.into()
        }
        false => Value::Absent,
    };
    let dtype = c.dtype(0)?;
    let size = (widths[0] / heads) as f64;
    let scale = match c.attributes.float("scale")? {
        Some(scale) if scale != 0.0 => scale,
        _ => 1.0 / size.sqrt(),
    };
    let transposed = relax::op_with(
        "permute_dims",
        [&key],
        attrs(&json!({"axes": [0, 1, 3, 2]})),
    );
    let product = relax::op("matmul", [Expr::from(&query), transposed]);
    let mut scores = c.emit(product * number(scale, dtype)?)?;
    let keys = dims_of(c, &key)?[2].clone();
    for bias in biases(c, batch, length, &keys, past.as_ref())? {
        scores = c.emit(&scores + bias)?;
    }
    let shares = c.op_with("nn.softmax", [&scores], &json!({"axis": -1}))?;
    let y = c.op("matmul", [&shares, &value])?;
    let y = c.op_with("permute_dims", [&y], &json!({"axes": [0, 2, 1, 3]}))?;
    let y = c.reshaped(&y, [batch.clone(), length.clone(), Size::i64(widths[2])])?;
    Ok(vec![y.into(), present])
}

/// The widths of queries, keys and values in the projected tensor.
fn widths(c: &Call<'_, '_>, heads: i64) -> Result<[i64; 3], Fault> {
    let all = c.dim(1, 1)?;
    let expected = format!("three widths that {heads} heads share, {all} in all");
    let (name, widths) = match c.attributes.ints("qkv_hidden_sizes")? {
        Some(widths) => ("qkv_hidden_sizes", widths),
        None => ("num_heads", vec![all / 3; 3]),
    };
    let fits = |widths: &[i64; 3]| {
        let whole = |width: &i64| *width > 0 && width % heads == 0;
        let sum = widths.iter().try_fold(0i64, |sum, w| sum.checked_add(*w));
        heads > 0 && widths.iter().all(whole) && widths[0] == widths[1] && sum == Some(all)
    };
    let given = match name {
        "num_heads" => heads.to_string(),
        _ => format!("{widths:?}"),
    };
    let widths = <[i64; 3]>::try_from(widths).ok().filter(fits);
    widths.ok_or_else(|| Fault::Attribute {
        name: name.to_owned(),
        given,
        expected,
    })
}

/// Keys (0) or values (1) after those of the past, and how many those are.
fn with_past(c: &mut Call<'_, '_>, own: &Var, which: i64) -> Result<(Var, Option<Size>), Fault> {
    if !c.has(4) {
        return Ok((own.clone(), None));
    }
    let dims = c.dims(4)?;
    let [_, rest @ ..] = dims.as_slice() else {
        return Err(c.bad(4, shown(&dims), "(2, batch, heads, past, size)"));
    };
    let length = rest.get(2).filter(|_| rest.len() == 4).cloned();
    let length = length.ok_or_else(|| c.bad(4, shown(&dims), "(2, batch, heads, past, size)"))?;
    let past = c.var(4)?;
    let past = part(c, &past, 0, which, which + 1)?;
    let past = c.reshaped(&past, rest.to_vec())?;
    let both = relax::tuple([&past, own].map(Expr::from));
    let all = c.op_with("concat", [both], &json!({"axis": 2}))?;
    Ok((all, Some(length)))
}

/// What is added to the scores: for what the mask leaves out, for what comes later, and what is given.
fn biases(
    c: &mut Call<'_, '_>,
    batch: &Size,
    queries: &Size,
    keys: &Size,
    past: Option<&Size>,
) -> Result<Vec<Expr>, Fault> {
    let dtype = c.dtype(0)?;
    let mut all = vec![];
    let filter = c.attributes.float_or("mask_filter_value", -10000.0)?;
    if let Some(seen) = seen(c, batch, queries, keys)? {
        let (zero, never) = (number(0.0, dtype)?, number(filter, dtype)?);
        all.push(relax::op("where", [seen, zero, never]));
    }
    if c.attributes.flag("unidirectional", false)? {
        let before = materialized(&Known::vector(vec![past.cloned().unwrap_or(Size::i64(0))]))?;
        let distance = positions(queries, 2, 4) + before - positions(keys, 1, 4);
        let seen = relax::op("greater_equal", [distance, number(0.0, DType::I64)?]);
        let (zero, never) = (number(0.0, dtype)?, number(f64::NEG_INFINITY, dtype)?);
        all.push(relax::op("where", [seen, zero, never]));
    }
    all.extend(c.optional(5)?);
    Ok(all)
}

/// Whether the mask lets a query see a key, in a shape that broadcasts to (batch, heads, queries, keys).
fn seen(
    c: &mut Call<'_, '_>,
    batch: &Size,
    queries: &Size,
    keys: &Size,
) -> Result<Option<Expr>, Fault> {
    let Some(mask) = c.optional(3)? else {
        return Ok(None);
    };
    let one = || Size::i64(1);
    let dims = c.dims(3)?;
    let same = |a: &Size, b: &Size| c.importer.arith.can_prove_equal(a, b);
    let zero = number(0.0, DType::I64)?;
    let mask = cast(mask, DType::I64);
    Ok(Some(match dims.as_slice() {
        [_] if same(&dims[0], batch) => {
            let ends = relax::op(
                "reshape",
                [mask, relax::shape([batch.clone(), one(), one(), one()])],
            );
            relax::op("less", [positions(keys, 1, 4), ends])
        }
        [_] if same(&dims[0], &volume([&Size::i64(2), batch])) => {
            let both = c.emit(relax::op(
                "reshape",
                [
                    mask,
                    relax::shape([Size::i64(2), batch.clone(), one(), one(), one()]),
                ],
            ))?;
            let shape = [batch.clone(), one(), one(), one()];
            let ends = part(c, &both, 0, 0, 1)?;
            let ends = c.reshaped(&ends, shape.clone())?;
            let starts = part(c, &both, 0, 1, 2)?;
            let starts = c.reshaped(&starts, shape)?;
            let before = relax::op("less", [positions(keys, 1, 4), (&ends).into()]);
            let after = relax::op("greater_equal", [positions(keys, 1, 4), (&starts).into()]);
            relax::op("logical_and", [before, after])
        }
        [_, _] => {
            let shape = [batch.clone(), one(), one(), keys.clone()];
            let mask = relax::op("reshape", [mask, relax::shape(shape)]);
            relax::op("greater", [mask, zero])
        }
        [_, _, _] => {
            let shape = [batch.clone(), one(), queries.clone(), keys.clone()];
            let mask = relax::op("reshape", [mask, relax::shape(shape)]);
            relax::op("greater", [mask, zero])
        }
        _ => {
            let expected = "ends (batch), ends and starts (2 * batch), or a mask (batch, keys) or (batch, queries, keys)";
            return Err(c.bad(3, shown(&dims), expected));
        }
    }))
}
