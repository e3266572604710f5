//! `GroupQueryAttention` of `com.microsoft`: heads of queries share heads of keys and values, which a cache holds. Sequences of a batch
//! may have different lengths; each is at the front of its row of the cache.

use serde_json::json;

use super::Operator;
use super::contrib_attention::{count, float_type, heads_of, left_out, scale};
use super::dot_product::{self, Bias, DotProduct, Unseeing, each_batch, join_heads, positions};
use super::pieces::{dims_of, part, part_between, volume};
use crate::frontend::onnx::call::{Call, Outputs, attrs, cast, materialized, number, shown};
use crate::frontend::onnx::error::Fault;
use crate::frontend::onnx::fit::Extent;
use crate::frontend::onnx::value::{Known, Value};
use crate::ir::Expr as Size;
use crate::relax::{self, Expr, Var};
use crate::tensor::DType;

pub(super) const OPERATORS: &[Operator] = &[Operator::new("GroupQueryAttention", &[1], attention)
    .of("com.microsoft")
    .note("no quantized cache, no `sliding_window_cache`")];

/// Operands by what they are.
const LENGTHS: usize = 5;
const TOTAL: usize = 6;
const TABLES: [usize; 2] = [7, 8];
const POSITIONS: usize = 9;
const BIAS: usize = 10;
const SINK: usize = 11;
const NORMS: [usize; 2] = [14, 15];
const NEW_LENGTHS: usize = 16;

/// The extents of a call.
struct Extents {
    batch: Size,
    /// New tokens.
    queries: Size,
    /// Tokens that are attended to.
    total: Size,
    /// Rows of the cache that is given; 0 without one.
    past: Size,
    /// Rows of the cache that is made: what is given has room for all, or the new tokens make it grow.
    present: Size,
}

/// Where the new tokens of each sequence belong, each (batch, 1, 1, 1) in int64.
struct Placement {
    /// How many tokens precede them.
    before: Var,
    /// How many there are with them.
    end: Var,
}

fn attention(c: &mut Call<'_, '_>) -> Outputs {
    refuse(c)?;
    let (heads, kv_heads) = (count(c, "num_heads")?, count(c, "kv_num_heads")?);
    if heads % kv_heads != 0 {
        return Err(Fault::Attribute {
            name: "kv_num_heads".to_owned(),
            given: kv_heads.to_string(),
            expected: format!("a number that divides the {heads} heads of queries"),
        });
    }
    let dtype = float_type(c)?;
    let [mut query, mut key, value] = projections(c, heads, kv_heads)?;
    let of = extents(c, &query)?;
    check(c, &of, [&query, &key, &value])?;
    let placement = placement(c, &of)?;
    [query, key] = normalised(c, [query, key])?;
    if c.attributes.flag("do_rotary", false)? {
        let at = token_positions(c, &of, &placement)?;
        query = turned(c, &query, &at)?;
        key = turned(c, &key, &at)?;
    }
    let key = cached(c, 3, &key, &of, &placement)?;
    let value = cached(c, 4, &value, &of, &placement)?;
    let present = [key.clone(), value.clone()];
    let attended_to = |c: &mut Call<'_, '_>, x: Var| match of.total == of.present {
        true => Ok(x),
        false => part_between(c, &x, 2, &Size::i64(0), &of.total),
    };
    let allowed = allowed(c, &of, &placement)?;
    let mut bias = Bias { value: None, dtype };
    bias.restrict(c, (&allowed).into())?;
    if let Some(added) = c.optional(BIAS)? {
        bias.and(c, added)?;
    }
    let of_products = DotProduct {
        query,
        key: attended_to(c, key)?,
        value: attended_to(c, value)?,
        dtype,
        scale: scale(c)?,
        softcap: c.attributes.nonnegative_float("softcap", 0.0)?,
        bias: bias.value,
        precision: dtype,
        sink: sink(c, heads, dtype)?,
        unseeing: Unseeing::Any,
    };
    let attended = of_products.attend(c)?;
    let y = join_heads(c, &attended.y)?;
    let products = match (c.attributes.int_within("qk_output", 0, 0..=2)?, c.wants(3)) {
        (_, false) => Value::Absent,
        (1, true) => {
            let zero = number(0.0, dtype)?;
            let products = [(&allowed).into(), (&attended.biased).into(), zero];
            c.op("where", products)?.into()
        }
        (2, true) => attended.shares.into(),
        (given, true) => {
            return Err(Fault::Attribute {
                name: "qk_output".to_owned(),
                given: given.to_string(),
                expected: "1 or 2, as the products are an output".to_owned(),
            });
        }
    };
    let [key, value] = present;
    Ok(vec![y.into(), key.into(), value.into(), products])
}

/// What is not supported.
fn refuse(c: &Call<'_, '_>) -> Result<(), Fault> {
    c.attributes.only("sliding_window_cache", 0)?;
    for name in ["k_quant_type", "v_quant_type"] {
        c.attributes.one_of(name, "NONE", &["NONE"])?;
    }
    c.attributes.ignore("kv_cache_bit_width");
    for index in [12, 13] {
        left_out(c, index, "a quantized cache is not supported")?;
    }
    Ok(())
}

/// Queries, keys and values, each (batch, heads, sequence, size), apart or side by side.
fn projections(c: &mut Call<'_, '_>, heads: i64, kv_heads: i64) -> Result<[Var; 3], Fault> {
    let x = c.var(0)?;
    if c.has(1) {
        let (key, value) = (c.var(1)?, c.var(2)?);
        let query = heads_of(c, 0, &x, heads)?;
        let key = heads_of(c, 1, &key, kv_heads)?;
        return Ok([query, key, heads_of(c, 2, &value, kv_heads)?]);
    }
    left_out(c, 2, "packed queries hold the values")?;
    let dims = c.dims(0)?;
    let all = kv_heads.checked_mul(2).and_then(|kv| kv.checked_add(heads));
    let size = match (dims.as_slice(), all) {
        ([_, _, width], Some(all)) => width
            .as_int()
            .filter(|width| *width > 0 && width % all == 0)
            .map(|width| width / all),
        _ => None,
    };
    let Some(size) = size else {
        let expected =
            format!("(batch, sequence, width) with the width of {heads} + 2 * {kv_heads} heads");
        return Err(c.bad(0, shown(&dims), expected));
    };
    let mut begin = 0;
    let mut parts = vec![];
    for count in [heads, kv_heads, kv_heads] {
        let end = begin + count * size;
        let part = part(c, &x, 2, begin, end)?;
        parts.push(heads_of(c, 0, &part, count)?);
        begin = end;
    }
    Ok(parts.try_into().expect("there are three counts"))
}

/// Without a cache all tokens are new. With one, the total is read from its operand: it may be that of the rows given and the new
/// tokens, or within the rows given.
fn extents(c: &mut Call<'_, '_>, query: &Var) -> Result<Extents, Fault> {
    let dims = dims_of(c, query)?;
    let (batch, queries) = (dims[0].clone(), dims[2].clone());
    c.expect_both(3, 4)?;
    if !c.has(3) {
        let total = queries.clone();
        return Ok(Extents {
            batch,
            present: queries.clone(),
            total,
            queries,
            past: Size::i64(0),
        });
    }
    let cache = c.dims(3)?;
    let [_, _, past, _] = cache.as_slice() else {
        return Err(c.bad(3, shown(&cache), "(batch, heads, sequence, size)"));
    };
    let sizes = c.sizes(TOTAL)?;
    let [total] = sizes.as_slice() else {
        let dims = c.dims(TOTAL)?;
        return Err(c.bad(TOTAL, shown(&dims), "one number"));
    };
    let arith = &c.importer.arith;
    let total = arith.simplify(total);
    let present = if arith.can_prove(&total.ge(past.clone())) {
        total.clone()
    } else if arith.can_prove(&total.le(past.clone())) {
        past.clone()
    } else {
        total.max(past.clone())
    };
    Ok(Extents {
        batch,
        queries,
        total,
        past: past.clone(),
        present,
    })
}

/// Refuses what does not fit queries, keys and values, each (batch, heads, sequence, size): a cache, lengths, a bias, a sink.
fn check(c: &Call<'_, '_>, of: &Extents, qkv: [&Var; 3]) -> Result<(), Fault> {
    if c.has(1) {
        dot_product::check(c, [0, 1, 2], qkv)?;
    }
    let (query, key) = (dims_of(c, qkv[0])?, dims_of(c, qkv[1])?);
    let [heads, kv_heads, size] = [&query[1], &key[1], &query[3]];
    let batch = || Extent::of("batch", &of.batch);
    let past = Extent::of("past sequence", &of.past);
    let cache = [
        batch(),
        Extent::of("heads", kv_heads),
        past,
        Extent::of("size", size),
    ];
    c.expect_extents(3, &cache)?;
    c.expect_extents(4, &cache)?;
    // As many numbers as sequences, in whatever shape.
    for lengths in [LENGTHS, NEW_LENGTHS].into_iter().filter(|&at| c.has(at)) {
        let count = c.importer.arith.simplify(&volume(&c.dims(lengths)?));
        if c.surely_differ(&count, &of.batch) {
            c.expect_extents(lengths, &[batch()])?;
        }
    }
    c.expect_extents(
        BIAS,
        &[
            Extent::one_or("batch", &of.batch),
            Extent::one_or("heads", heads),
            Extent::of("sequence", &of.queries),
            Extent::of("total sequence", &of.total),
        ],
    )?;
    c.expect_extents(SINK, &[Extent::of("heads", heads)])?;
    for norm in NORMS {
        c.expect_extents(norm, &[Extent::of("size", size)])?;
    }
    Ok(())
}

/// A size as a vector of one number.
fn size(size: &Size) -> Result<Expr, Fault> {
    materialized(&Known::vector(vec![size.clone()]))
}

/// `seqlens_k` has the last position of each sequence. Of the new tokens, those beyond the length of a sequence are padding.
fn placement(c: &mut Call<'_, '_>, of: &Extents) -> Result<Placement, Fault> {
    let vector = |c: &mut Call<'_, '_>, index: usize| {
        let x = cast(c.x(index)?, DType::I64);
        Ok::<_, Fault>(each_batch(x, &of.batch))
    };
    let last = vector(c, LENGTHS)?;
    let end = c.emit(last + number(1.0, DType::I64)?)?;
    let before = match c.has(NEW_LENGTHS) {
        true => &end - vector(c, NEW_LENGTHS)?,
        false => {
            let before = &end - size(&of.queries)?;
            relax::op("maximum", [before, number(0.0, DType::I64)?])
        }
    };
    Ok(Placement {
        before: c.emit(before)?,
        end,
    })
}

/// Each head of queries and keys over the root of its mean square, if there are weights for that.
fn normalised(c: &mut Call<'_, '_>, heads: [Var; 2]) -> Result<[Var; 2], Fault> {
    let common = c
        .attributes
        .float_or("qk_norm_epsilon", f64::from(1e-6f32))?;
    let mut results = vec![];
    for ((x, weight), name) in heads
        .into_iter()
        .zip(NORMS)
        .zip(["q_norm_epsilon", "k_norm_epsilon"])
    {
        let epsilon = c.attributes.float_or(name, common)?;
        results.push(match c.optional(weight)? {
            Some(weight) => {
                let attributes = json!({"axes": [-1], "epsilon": epsilon});
                c.op_with("nn.rms_norm", [(&x).into(), weight], &attributes)?
            }
            None => x,
        });
    }
    Ok(results.try_into().expect("there are two"))
}

/// The position of each new token, (batch, sequence). Where all tokens are new, only the first number of `position_ids` counts.
fn token_positions(
    c: &mut Call<'_, '_>,
    of: &Extents,
    placement: &Placement,
) -> Result<Var, Fault> {
    let all = || relax::shape([of.batch.clone(), of.queries.clone()]);
    let steps = || positions(&of.queries, 1, 2);
    let Some(ids) = c.optional(POSITIONS)? else {
        let column = relax::shape([of.batch.clone(), Size::i64(1)]);
        let before = relax::op("reshape", [(&placement.before).into(), column]);
        return c.emit(before + steps());
    };
    let dims = c.dims(POSITIONS)?;
    if dims.len() != 2 {
        return Err(c.bad(POSITIONS, shown(&dims), "(batch, sequence)"));
    }
    let arith = &c.importer.arith;
    if arith.can_prove(&of.queries.lt(of.total.clone())) {
        return c.emit(ids);
    }
    let ids = c.emit(ids)?;
    let (zero, one) = (Size::i64(0), Size::i64(1));
    let first = part_between(c, &ids, 0, &zero, &one)?;
    let first = part_between(c, &first, 1, &zero, &one)?;
    let counted = relax::op("broadcast_to", [&first + steps(), all()]);
    if c.importer.arith.can_prove_equal(&of.queries, &of.total) {
        return c.emit(counted);
    }
    let prompt = relax::op("equal", [size(&of.queries)?, size(&of.total)?]);
    c.op("where", [prompt, counted, (&ids).into()])
}

/// Pairs of elements of each head turned by the angles of the position.
fn turned(c: &mut Call<'_, '_>, x: &Var, at: &Var) -> Result<Var, Fault> {
    let pairs = c.dim(TABLES[0], 1)?;
    let attributes = json!({
        "interleaved": c.attributes.flag("rotary_interleaved", false)?,
        "rotary_embedding_dim": pairs.saturating_mul(2),
    });
    let args = [x.into(), c.x(TABLES[0])?, c.x(TABLES[1])?, at.into()];
    c.op_with("nn.rotary_embedding", args, &attributes)
}

/// The cache with the new tokens of each sequence where they belong, and zeros beyond.
fn cached(
    c: &mut Call<'_, '_>,
    index: usize,
    new: &Var,
    of: &Extents,
    placement: &Placement,
) -> Result<Var, Fault> {
    let Some(past) = c.optional(index)? else {
        return Ok(new.clone());
    };
    let heads = dims_of(c, new)?.swap_remove(1);
    let both = relax::tuple([past, new.into()]);
    let both = c.op_with("concat", [both], &json!({"axis": 2}))?;
    // Rows of the cache stay; rows of new tokens follow those of the cache in `both`.
    let row = c.emit(positions(&of.present, 2, 4))?;
    let gap = size(&of.past)? - &placement.before;
    let stays = relax::op("less", [&row, &placement.before]);
    let from = relax::op("where", [stays, (&row).into(), &row + gap]);
    let ends = dims_of(c, &both)?.swap_remove(2);
    let last = size(&ends)? - number(1.0, DType::I64)?;
    let from = relax::op("maximum", [from, number(0.0, DType::I64)?]);
    let from = relax::op("minimum", [from, last]);
    let places = [of.batch.clone(), heads, of.present.clone(), Size::i64(1)];
    let from = relax::op("broadcast_to", [from, relax::shape(places)]);
    let rows = attrs(&json!({"batch_dims": 2}));
    let moved = relax::op_with("gather_nd", [(&both).into(), from], rows);
    let held = relax::op("less", [&row, &placement.end]);
    let zero = number(0.0, c.dtype(0)?)?;
    c.op("where", [held, moved, zero])
}

/// Which keys each query may look at, (batch, 1, sequence, keys).
fn allowed(c: &mut Call<'_, '_>, of: &Extents, placement: &Placement) -> Result<Var, Fault> {
    let window = c.attributes.int_or("local_window_size", -1)?;
    if window < -1 || window == 0 {
        return Err(Fault::Attribute {
            name: "local_window_size".to_owned(),
            given: window.to_string(),
            expected: "at least 1, or -1 for none".to_owned(),
        });
    }
    let key = || positions(&of.total, 1, 4);
    if !c.attributes.flag("causal", true)? {
        if window >= 0 {
            return Err(Fault::Attribute {
                name: "local_window_size".to_owned(),
                given: window.to_string(),
                expected: "-1, as `causal` is 0".to_owned(),
            });
        }
        let held = relax::op("less", [key(), (&placement.end).into()]);
        return c.emit(held);
    }
    let query = c.emit(positions(&of.queries, 2, 4) + &placement.before)?;
    let mut allowed = relax::op("less_equal", [key(), (&query).into()]);
    if window > 0 {
        let start = &query - number(window as f64, DType::I64)?;
        let near = relax::op("greater", [key(), start]);
        allowed = relax::op("logical_and", [allowed, near]);
    }
    c.emit(allowed)
}

/// The product that each head counts beside those of keys.
fn sink(c: &mut Call<'_, '_>, heads: i64, dtype: DType) -> Result<Option<Expr>, Fault> {
    let smooth = c.attributes.int_within("smooth_softmax", -1, -1..=1)? > 0;
    let row = relax::shape([1, heads, 1, 1]);
    Ok(match c.optional(SINK)? {
        Some(sink) => Some(relax::op("reshape", [sink, row])),
        None if smooth => Some(relax::op("broadcast_to", [number(0.0, dtype)?, row])),
        None => None,
    })
}
