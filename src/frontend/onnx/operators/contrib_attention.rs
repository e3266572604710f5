//! Attention and rotary embeddings of `com.microsoft`, which exported transformers carry.

use serde_json::json;

use super::Operator;
use super::dot_product::{
    self, Bias, DotProduct, Unseeing, appended, each_batch, join_heads, positions,
};
use super::pieces::{dims_of, part, part_between};
use crate::frontend::onnx::call::{Call, Outputs, cast, materialized, number, one, shown};
use crate::frontend::onnx::error::Fault;
use crate::frontend::onnx::fit::Extent;
use crate::frontend::onnx::value::{Known, Value};
use crate::ir::Expr as Size;
use crate::relax::{self, Expr, Var};
use crate::tensor::DType;

const DOMAIN: &str = "com.microsoft";

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("Attention", &[1], attention)
        .of(DOMAIN)
        .note("no mask of four dimensions, `do_rotary` or `past_present_share_buffer`"),
    Operator::new("MultiHeadAttention", &[1], multi_head)
        .of(DOMAIN)
        .note("no `past_sequence_length` or `cache_indirection`: caches grow"),
    Operator::new("RotaryEmbedding", &[1], rotary)
        .of(DOMAIN)
        .note("a size of heads that follows from the model"),
];

/// A number of heads.
pub(super) fn count(c: &Call<'_, '_>, name: &str) -> Result<i64, Fault> {
    match c.attributes.int(name)? {
        Some(count @ 1..) => Ok(count),
        Some(count) => Err(Fault::Attribute {
            name: name.to_owned(),
            given: count.to_string(),
            expected: "at least 1".to_owned(),
        }),
        None => Err(Fault::NoAttribute(name.to_owned())),
    }
}

/// The type of the first operand, which must be of floats.
pub(super) fn float_type(c: &Call<'_, '_>) -> Result<DType, Fault> {
    let dtype = c.dtype(0)?;
    match dtype.is_float() {
        true => Ok(dtype),
        false => Err(c.bad(0, format!("a tensor of {dtype}"), "a tensor of floats")),
    }
}

/// Refuses an operand: the operator is imported without it only.
pub(super) fn left_out(c: &Call<'_, '_>, index: usize, why: &str) -> Result<(), Fault> {
    match c.has(index) {
        true => Err(c.bad(index, "given", format!("left out: {why}"))),
        false => Ok(()),
    }
}

/// The scale of the products. 0 is as none in onnxruntime.
pub(super) fn scale(c: &Call<'_, '_>) -> Result<Option<f64>, Fault> {
    Ok(c.attributes.float("scale")?.filter(|&scale| scale != 0.0))
}

/// (batch, sequence, heads * size) of an operand as (batch, heads, sequence, size).
pub(super) fn heads_of(
    c: &mut Call<'_, '_>,
    index: usize,
    x: &Var,
    count: i64,
) -> Result<Var, Fault> {
    let dims = dims_of(c, x)?;
    let expected =
        || format!("(batch, sequence, width) with a constant width that {count} divides");
    match dims.as_slice() {
        [batch, length, width] if width.as_int().is_some_and(|w| w > 0 && w % count == 0) => {
            dot_product::split_heads(c, x, [batch, length, width], count)
        }
        _ => Err(c.bad(index, shown(&dims), expected())),
    }
}

/// What is added to the products: of a mask, of the order of queries and keys, and as the model says.
struct Masking {
    mask: usize,
    /// (batch or 1, heads or 1, sequence, keys), added as it is.
    bias: usize,
    batch: Size,
    heads: Size,
    queries: Size,
    keys: Size,
    /// How many keys precede the first query.
    past: Size,
    dtype: DType,
}

impl Masking {
    fn bias(self, c: &mut Call<'_, '_>) -> Result<Option<Var>, Fault> {
        let filter = c.attributes.float_or("mask_filter_value", -10000.0)?;
        let most = self.dtype.scalar.max_finite();
        let mut bias = Bias {
            value: None,
            dtype: self.dtype,
        };
        if let Some(allowed) = self.allowed(c)? {
            let filter = number(filter.clamp(-most, most), self.dtype)?;
            let zero = number(0.0, self.dtype)?;
            bias.and(c, relax::op("where", [allowed, zero, filter]))?;
        }
        if c.attributes.flag("unidirectional", false)? {
            let past = materialized(&Known::vector(vec![self.past.clone()]))?;
            let queries = positions(&self.queries, 2, 4) + past;
            let before = [positions(&self.keys, 1, 4), queries];
            bias.restrict(c, relax::op("less_equal", before))?;
        }
        if let Some(added) = c.optional(self.bias)? {
            c.expect_extents(
                self.bias,
                &[
                    Extent::one_or("batch", &self.batch),
                    Extent::one_or("heads", &self.heads),
                    Extent::of("sequence", &self.queries),
                    Extent::of("sequence of keys", &self.keys),
                ],
            )?;
            bias.and(c, added)?;
        }
        Ok(bias.value)
    }

    /// Where the mask lets queries look: it has a length for each batch, an end and a start for each batch, or a number above 0 for
    /// each key, or for each query and key.
    fn allowed(&self, c: &mut Call<'_, '_>) -> Result<Option<Expr>, Fault> {
        let Some(mask) = c.optional(self.mask)? else {
            return Ok(None);
        };
        let dims = c.dims(self.mask)?;
        if !c.dtype(self.mask)?.is_int() {
            let given = format!("a mask of {}", c.dtype(self.mask)?);
            return Err(c.bad(self.mask, given, "a mask of integers"));
        }
        let one = Size::i64(1);
        let batch = || Extent::of("batch", &self.batch);
        let keys = || Extent::of("sequence of keys", &self.keys);
        match dims.len() {
            2 => c.expect_extents(self.mask, &[batch(), keys()])?,
            3 => {
                let queries = Extent::of("sequence", &self.queries);
                c.expect_extents(self.mask, &[batch(), queries, keys()])?;
            }
            _ => {}
        }
        let shape = match dims.as_slice() {
            [length] => return self.by_length(c, mask, length).map(Some),
            [batch, keys] => [batch.clone(), one.clone(), one, keys.clone()],
            [batch, queries, keys] => [batch.clone(), one, queries.clone(), keys.clone()],
            _ => {
                let expected = "a mask of one to three dimensions";
                return Err(c.bad(self.mask, shown(&dims), expected));
            }
        };
        let mask = relax::op("reshape", [mask, relax::shape(shape)]);
        let zero = number(0.0, c.dtype(self.mask)?)?;
        Ok(Some(relax::op("greater", [mask, zero])))
    }

    /// `length` is that of the vector: the batch, twice the batch (ends before starts), or three times the batch and 2 (lengths, and
    /// sums of lengths, which say nothing more).
    fn by_length(&self, c: &mut Call<'_, '_>, mask: Expr, length: &Size) -> Result<Expr, Fault> {
        let is = |c: &Call<'_, '_>, size: Size| c.importer.arith.can_prove_equal(length, &size);
        let (batch, twice) = (self.batch.clone(), &self.batch * 2i64);
        let pairs = !is(c, batch.clone()) && is(c, twice.clone());
        let all = pairs || is(c, &self.batch * 3i64 + 2i64);
        let fits = length.as_int().zip(batch.as_int());
        if !all && fits.is_some_and(|(length, batch)| length != batch) {
            let given = format!("a vector of {length:#} numbers");
            let expected = format!("a vector of {batch:#}, {twice:#} or 3 * {batch:#} + 2 numbers");
            return Err(c.bad(self.mask, given, expected));
        }
        let mask = c.emit(mask)?;
        let ends = match all {
            true => part_between(c, &mask, 0, &Size::i64(0), &batch)?,
            false => mask.clone(),
        };
        let key = positions(&self.keys, 1, 4);
        let wide = |x: &Var| each_batch(cast(x, DType::I64), &batch);
        let within = relax::op("less", [key.clone(), wide(&ends)]);
        if !pairs {
            return Ok(within);
        }
        let starts = part_between(c, &mask, 0, &batch, &twice)?;
        let started = relax::op("greater_equal", [key, wide(&starts)]);
        Ok(relax::op("logical_and", [within, started]))
    }
}

/// With the projections of queries, keys and values in one product.
fn attention(c: &mut Call<'_, '_>) -> Outputs {
    c.attributes.only("do_rotary", 0)?;
    c.attributes.only("past_present_share_buffer", 0)?;
    c.attributes.ignore("rotary_embedding_dim");
    let heads = count(c, "num_heads")?;
    let dtype = float_type(c)?;
    let dims = c.dims(0)?;
    let [batch, queries, width] = dims.as_slice() else {
        return Err(c.bad(0, shown(&dims), "(batch, sequence, width)"));
    };
    let all = c.dims(1)?.last().cloned().unwrap_or_else(|| Size::i64(1));
    let all = ("width of queries, keys and values", all);
    c.expect_extents(1, &[Extent::of("width", width), Extent::any(all.0)])?;
    c.expect_extents(2, &[Extent::of(all.0, &all.1)])?;
    let sizes = hidden_sizes(c, heads)?;
    let mut projected = relax::op("matmul", [c.x(0)?, c.x(1)?]);
    if let Some(bias) = c.optional(2)? {
        projected = projected + bias;
    }
    let projected = c.emit(projected)?;
    let mut parts = vec![];
    let mut begin = 0;
    for size in sizes {
        let part = part(c, &projected, 2, begin, begin + size)?;
        parts.push(heads_of(c, 1, &part, heads)?);
        begin += size;
    }
    let [query, mut key, mut value] = <[Var; 3]>::try_from(parts).expect("there are three sizes");
    let mut past = Size::i64(0);
    if c.has(4) {
        let dims = c.dims(4)?;
        let [two, cache @ ..] = dims.as_slice() else {
            return Err(c.bad(4, shown(&dims), PAST));
        };
        if cache.len() != 4 || two.as_int() != Some(2) {
            return Err(c.bad(4, shown(&dims), PAST));
        }
        let new = dims_of(c, &key)?;
        let items = Extent::of("keys and values,", two);
        let (batch, heads) = (Extent::of("batch", batch), Extent::of("heads", &new[1]));
        let (past_length, size) = (Extent::any("sequence"), Extent::of("size", &new[3]));
        c.expect_extents(4, &[items, batch, heads, past_length, size])?;
        past = cache[2].clone();
        let both = c.var(4)?;
        for (at, new) in [&mut key, &mut value].into_iter().enumerate() {
            let at = at as i64;
            let own = part(c, &both, 0, at, at + 1)?;
            let own = c.reshaped(&own, cache.to_vec())?;
            *new = appended(c, (&own).into(), new)?;
        }
    }
    let masking = Masking {
        mask: 3,
        bias: 5,
        batch: batch.clone(),
        heads: Size::i64(heads),
        queries: queries.clone(),
        keys: dims_of(c, &key)?.swap_remove(2),
        past,
        dtype,
    };
    let present = match c.wants(1) {
        true => {
            let both = relax::tuple([&key, &value].map(Expr::from));
            c.op_with("stack", [both], &json!({"axis": 0}))?.into()
        }
        false => Value::Absent,
    };
    let (y, _) = attended(c, [query, key, value], masking)?;
    Ok(vec![y.into(), present])
}

const PAST: &str = "(2, batch, heads, sequence, size)";

/// The widths of queries, keys and values: those that are said, or each a third of what the weights make.
fn hidden_sizes(c: &Call<'_, '_>, heads: i64) -> Result<[i64; 3], Fault> {
    // A number of heads that is no `i64` three times divides no width.
    let (width, heads) = (c.dim(1, 1)?, heads.min(i64::MAX / 3));
    let sizes = match c.attributes.ints("qkv_hidden_sizes")? {
        Some(sizes) if !sizes.is_empty() => sizes,
        _ if width > 0 && width % (3 * heads) == 0 => vec![width / 3; 3],
        _ => {
            let expected = format!(
                "of shape (width, 3 * n) for three widths that {heads} heads divide, or with `qkv_hidden_sizes`"
            );
            return Err(c.bad(1, shown(&c.dims(1)?), expected));
        }
    };
    let fits = |&size: &i64| size > 0 && size % heads == 0;
    let together = |q: i64, v: i64| q.checked_mul(2).and_then(|both| both.checked_add(v));
    match <[i64; 3]>::try_from(sizes) {
        Ok([q, k, v]) if q == k && fits(&q) && fits(&v) && together(q, v) == Some(width) => {
            Ok([q, k, v])
        }
        Ok(sizes) => Err(Fault::Attribute {
            name: "qkv_hidden_sizes".to_owned(),
            given: format!("{sizes:?}"),
            expected: format!(
                "widths that {heads} heads divide, the first two the same, {width} together as the weights say"
            ),
        }),
        Err(sizes) => Err(Fault::Attribute {
            name: "qkv_hidden_sizes".to_owned(),
            given: format!("{sizes:?}"),
            expected: "three numbers".to_owned(),
        }),
    }
}

/// What is mixed, (batch, sequence, width), and the products before softmax.
fn attended(
    c: &mut Call<'_, '_>,
    [query, key, value]: [Var; 3],
    masking: Masking,
) -> Result<(Var, Var), Fault> {
    let dtype = masking.dtype;
    let of = DotProduct {
        query,
        key,
        value,
        dtype,
        scale: scale(c)?,
        softcap: 0.0,
        bias: masking.bias(c)?,
        precision: dtype,
        sink: None,
        unseeing: Unseeing::Any,
    };
    let attended = of.attend(c)?;
    Ok((join_heads(c, &attended.y)?, attended.biased))
}

/// The parts of a bias for queries, keys and values, of which the first two are as wide as the queries; `values` is the width of the last,
/// if it is known.
fn biases(
    c: &mut Call<'_, '_>,
    width: i64,
    values: Option<i64>,
) -> Result<[Option<Var>; 3], Fault> {
    if !c.has(3) {
        return Ok([None, None, None]);
    }
    let all = c.dim(3, 0)?;
    let rest = width.checked_mul(2).and_then(|both| all.checked_sub(both));
    let fits = rest.is_some_and(|rest| rest > 0 && values.is_none_or(|values| values == rest));
    if c.ndim(3)? != 1 || !fits {
        let values = values.map_or("the width of values".to_owned(), |n| n.to_string());
        let expected = format!("a vector of 2 * {width} + {values} numbers");
        return Err(c.bad(3, shown(&c.dims(3)?), expected));
    }
    let bias = c.var(3)?;
    Ok([
        Some(part(c, &bias, 0, 0, width)?),
        Some(part(c, &bias, 0, width, 2 * width)?),
        Some(part(c, &bias, 0, 2 * width, all)?),
    ])
}

/// Item `at` of (batch, sequence, heads, items, size), as (batch, heads, sequence, size), and with its part of a bias.
fn packed(c: &mut Call<'_, '_>, index: usize, at: i64, bias: Option<Var>) -> Result<Var, Fault> {
    let dims = c.dims(index)?;
    let x = c.var(index)?;
    let x = part(c, &x, 3, at, at + 1)?;
    let own = [&dims[0], &dims[1], &dims[2], &dims[4]].map(Clone::clone);
    let mut x = c.reshaped(&x, own)?;
    if let Some(bias) = bias {
        let bias = c.reshaped(&bias, [dims[2].clone(), dims[4].clone()])?;
        x = c.emit(&x + &bias)?;
    }
    c.op_with("permute_dims", [&x], &json!({"axes": [0, 2, 1, 3]}))
}

/// (batch, sequence, width) as (batch, heads, sequence, size), with its part of a bias.
fn apart(c: &mut Call<'_, '_>, index: usize, heads: i64, bias: Option<Var>) -> Result<Var, Fault> {
    let mut x = c.var(index)?;
    if let Some(bias) = bias {
        x = c.emit(&x + &bias)?;
    }
    heads_of(c, index, &x, heads)
}

/// Queries, keys and values, each (batch, heads, sequence, size), of projections that are apart or packed.
fn projections(c: &mut Call<'_, '_>, heads: i64) -> Result<[Var; 3], Fault> {
    let query = c.dims(0)?;
    let holds = |dims: &[Size], items: i64| {
        dims.len() == 5 && dims[2].as_int() == Some(heads) && dims[3].as_int() == Some(items)
    };
    if holds(&query, 3) {
        left_out(c, 1, "packed queries hold the keys")?;
        left_out(c, 2, "packed queries hold the values")?;
        let width = c.dim(0, 4)?.saturating_mul(heads);
        let [q, k, v] = biases(c, width, Some(width))?;
        return Ok([
            packed(c, 0, 0, q)?,
            packed(c, 0, 1, k)?,
            packed(c, 0, 2, v)?,
        ]);
    }
    if query.len() != 3 {
        let expected = format!("(batch, sequence, width) or (batch, sequence, {heads}, 3, size)");
        return Err(c.bad(0, shown(&query), expected));
    }
    let width = c.dim(0, 2)?;
    let key = c.dims(1)?;
    let values = match (holds(&key, 2), c.dims(2)) {
        (true, _) => Some(width),
        (false, Ok(dims)) if dims.len() == 3 => dims[2].as_int(),
        _ => None,
    };
    let [q, k, v] = biases(c, width, values)?;
    let query = apart(c, 0, heads, q)?;
    let of_heads =
        |dims: &[Size]| dims.len() == 4 && dims[1].as_int().is_none_or(|own| own == heads);
    if holds(&key, 2) {
        left_out(c, 2, "packed keys hold the values")?;
        Ok([query, packed(c, 1, 0, k)?, packed(c, 1, 1, v)?])
    } else if key.len() == 3 {
        Ok([query, apart(c, 1, heads, k)?, apart(c, 2, heads, v)?])
    } else if of_heads(&key) {
        // Keys and values of a cross attention, projected once and with their biases.
        let value = c.dims(2)?;
        match of_heads(&value) {
            true => Ok([query, c.var(1)?, c.var(2)?]),
            false => Err(c.bad(
                2,
                shown(&value),
                format!("(batch, {heads}, sequence, size)"),
            )),
        }
    } else {
        let expected = format!(
            "(batch, sequence, width), (batch, {heads}, sequence, size) or (batch, sequence, {heads}, 2, size)"
        );
        Err(c.bad(1, shown(&key), expected))
    }
}

/// Refuses queries, keys and values that do not fit each other, and a cache that does not fit them.
fn check_cache(c: &Call<'_, '_>, qkv: [&Var; 3]) -> Result<(), Fault> {
    let operands = match (c.has(1), c.has(2)) {
        (true, true) => [0, 1, 2],
        (true, false) => [0, 1, 1],
        _ => [0, 0, 0],
    };
    dot_product::check(c, operands, qkv)?;
    c.expect_both(6, 7)?;
    let mut pairs = vec![];
    for (index, new) in [(6, qkv[1]), (7, qkv[2])] {
        pairs.push((index, dims_of(c, new)?));
    }
    for (index, new) in &pairs {
        let (batch, heads) = (Extent::of("batch", &new[0]), Extent::of("heads", &new[1]));
        let (past, size) = (Extent::any("past sequence"), Extent::of("size", &new[3]));
        c.expect_extents(*index, &[batch, heads, past, size])?;
    }
    if !c.has(6) {
        return Ok(());
    }
    let [keys, values] = [c.dims(6)?.swap_remove(2), c.dims(7)?.swap_remove(2)];
    c.expect_same("past sequence", (7, &values), (6, &keys))
}

fn multi_head(c: &mut Call<'_, '_>) -> Outputs {
    let heads = count(c, "num_heads")?;
    let dtype = float_type(c)?;
    left_out(c, 8, "caches grow, and share no buffer")?;
    left_out(c, 9, "beams of a search are not supported")?;
    let [query, mut key, mut value] = projections(c, heads)?;
    check_cache(c, [&query, &key, &value])?;
    let mut past = Size::i64(0);
    if let (Some(keys), Some(values)) = (c.optional(6)?, c.optional(7)?) {
        past = c.dims(6)?.swap_remove(2);
        key = appended(c, keys, &key)?;
        value = appended(c, values, &value)?;
    }
    let dims = dims_of(c, &query)?;
    let masking = Masking {
        mask: 4,
        bias: 5,
        batch: dims[0].clone(),
        heads: dims[1].clone(),
        queries: dims[2].clone(),
        keys: dims_of(c, &key)?.swap_remove(2),
        past,
        dtype,
    };
    let present = [key.clone(), value.clone()];
    let (y, products) = attended(c, [query, key, value], masking)?;
    let [key, value] = present;
    Ok(vec![y.into(), key.into(), value.into(), products.into()])
}

/// Where each token of (batch, sequence) stands: as an operand says, which has a position for each, or that of the first one.
fn token_positions(
    c: &mut Call<'_, '_>,
    index: usize,
    [batch, length]: [&Size; 2],
) -> Result<Expr, Fault> {
    let dims = c.dims(index)?;
    let first = match dims.as_slice() {
        [_, _] => return c.x(index),
        [] => c.x(index)?,
        [one] if one.as_int().is_none_or(|one| one == 1) => c.x(index)?,
        _ => {
            let expected = "a tensor of one number, or (batch, sequence)";
            return Err(c.bad(index, shown(&dims), expected));
        }
    };
    let first = relax::op("reshape", [first, relax::shape([1i64, 1])]);
    let all = relax::shape([batch.clone(), length.clone()]);
    Ok(relax::op(
        "broadcast_to",
        [first + positions(length, 1, 2), all],
    ))
}

/// Its `scale` and `is_packed_batching` change nothing in onnxruntime, but what is checked of lengths.
fn rotary(c: &mut Call<'_, '_>) -> Outputs {
    c.attributes.ignore("scale");
    c.attributes.ignore("is_packed_batching");
    float_type(c)?;
    let dims = c.dims(0)?;
    let (heads, turned) = (
        c.attributes.int_or("num_heads", 0)?,
        c.attributes.int_or("rotary_embedding_dim", 0)?,
    );
    let (batch, length, heads) = match dims.as_slice() {
        [batch, _, length, _] => (batch, length, 0),
        [batch, length, _] if heads > 0 => (batch, length, heads),
        // The tables say how large a head is that turns as a whole.
        [batch, length, _] if heads == 0 && turned == 0 => {
            let (width, pairs) = (c.dim(0, 2)?, c.dim(2, 1)?);
            let size = pairs.saturating_mul(2);
            if size < 1 || width % size != 0 {
                let expected =
                    format!("(positions, pairs), where heads of 2 * pairs divide {width}");
                return Err(c.bad(2, shown(&c.dims(2)?), expected));
            }
            (batch, length, width / size)
        }
        [_, _, _] => {
            return Err(Fault::Attribute {
                name: "num_heads".to_owned(),
                given: heads.to_string(),
                expected: "at least 1 with `rotary_embedding_dim`".to_owned(),
            });
        }
        _ => {
            let expected = "(batch, sequence, width) or (batch, heads, sequence, size)";
            return Err(c.bad(0, shown(&dims), expected));
        }
    };
    let at = token_positions(c, 1, [batch, length])?;
    let attributes = json!({
        "interleaved": c.attributes.flag("interleaved", false)?,
        "rotary_embedding_dim": turned,
        "num_heads": heads,
    });
    let args = [c.x(0)?, c.x(2)?, c.x(3)?, at];
    one(c.op_with("nn.rotary_embedding", args, &attributes)?)
}
