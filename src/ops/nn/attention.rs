//! Attention.

use crate::ir::graph::dims::Proof;
use crate::ir::graph::{AttrDefault, AttrKind, AttrSpec, InferError, OpCall, OperandKind};
use crate::ir::{Expr, ShapeInfo, StructInfo};
use crate::ops::ComputeCall;
use crate::ops::def::{Computed, DTypes, OpDef, Pattern, Precision, attr, optional, tensor};
use crate::ops::rules::{self, broadcast_shapes, dims_of, equal_extents, tensor_like};
use crate::te;
use crate::topi::attention::{self, Attention, Visible};
use crate::topi::rotary::{self, Heads, Pairs, Rotary};
use crate::topi::{self, Threads};

const ATTRS: &[AttrSpec] = &[
    attr("scale", AttrKind::Float, AttrDefault::None),
    attr(
        "causal_mask",
        AttrKind::Str(&["TopLeft", "BottomRight"]),
        AttrDefault::None,
    ),
    attr("window_size", AttrKind::Int, AttrDefault::None),
];

const fn attending(name: &'static str, doc: &'static str) -> OpDef {
    OpDef::new(name, doc)
        .in_precision(Precision::Half)
        .attrs(ATTRS)
        .dtypes(DTypes::Float)
        .infer(attention_type)
        .pattern(Pattern::Opaque)
}

pub(in crate::ops) const OPS: &[OpDef] = &[
    attending(
        "nn.attention",
        "softmax of query times key times scale, times value; each (batch, sequence, heads, size)",
    )
    .operands(&[tensor("query"), tensor("key"), tensor("value")])
    .extended("bias", "nn.attention_bias")
    .compute(attention_of),
    attending(
        "nn.attention_bias",
        "attention with a bias added before softmax, (batch, heads, sequence, sequence of keys)",
    )
    .operands(&[
        tensor("query"),
        tensor("key"),
        tensor("value"),
        tensor("bias"),
    ])
    .compute(attention_of),
    attending(
        "nn.attention_var_len",
        "attention within sequences that follow each other: sequence i is at the positions from seqstart[i] to seqstart[i + 1]",
    )
    .operands(&[
        tensor("query"),
        tensor("key"),
        tensor("value"),
        tensor("seqstart_q"),
        tensor("seqstart_k"),
        tensor("max_seqlen_q"),
        tensor("max_seqlen_k"),
    ])
    .infer(var_len_type)
    .compute(|c| {
        let (qkv, starts) = ([c.x(0), c.x(1), c.x(2)], [c.x(3), c.x(4)]);
        let of = attributes(c)?;
        Ok(vec![attention::attention_in_sequences(
            c.name(),
            qkv,
            starts,
            &of,
        )])
    }),
    OpDef::new(
        "nn.rotary_embedding",
        "pairs of the last dimension turned by the angles of their position, (batch, heads, sequence, size) or \
         (batch, sequence, heads * size); the tables are (positions, pairs), or without position_ids (batch, sequence, pairs)",
    )
    .operands(&[
        tensor("data"),
        tensor("cos_cache"),
        tensor("sin_cache"),
        optional("position_ids", OperandKind::Tensor),
    ])
    .attrs(&[
        attr("interleaved", AttrKind::Bool, AttrDefault::Bool(false)),
        attr("rotary_embedding_dim", AttrKind::Int, AttrDefault::Int(0)),
        attr("num_heads", AttrKind::Int, AttrDefault::Int(0)),
    ])
    .dtypes(DTypes::Float)
    .infer(rotary_type)
    .compute(rotary)
    .pattern(Pattern::Injective),
];

/// The numbers and the mask in the attributes.
fn attributes(c: &OpCall<'_>) -> Result<Attention, InferError> {
    let visible = match c.text("causal_mask")?.as_deref() {
        Some("TopLeft") => Visible::TopLeft,
        Some("BottomRight") => Visible::BottomRight,
        _ => Visible::All,
    };
    let window = c.int("window_size")?;
    // A window ends at the query's own position.
    if window.is_some_and(|window| window < 1 || visible == Visible::All) {
        return Err(c.bad_attribute(
            "window_size",
            "an integer of at least 1, with a causal mask",
        ));
    }
    Ok(Attention {
        scale: c.float("scale")?,
        visible,
        window,
    })
}

fn attention_type(c: &OpCall<'_>) -> rules::Inferred {
    let result = mixed_type(c)?;
    rules::same_dtypes(c, 3..c.operands.len())?;
    let dims = |index| dims_of(c, index, 4, "a tensor with 4 dimensions");
    if c.has(3)
        && let (Some(q), Some(k), Some(bias)) = (dims(0)?, dims(1)?, c.tensor(3)?)
    {
        let scores = [&q[0], &q[2], &q[1], &k[1]].map(Clone::clone);
        let scores = ShapeInfo::Known(scores.to_vec());
        let joined = broadcast_shapes(c, &scores, &bias.shape)?;
        if joined.ndim().is_some_and(|ndim| ndim > 4) {
            return Err(c.bad_operand(3, "a tensor with at most 4 dimensions"));
        }
    }
    Ok(result)
}

/// Checks queries, keys and values; the type of what values are mixed to.
fn mixed_type(c: &OpCall<'_>) -> rules::Inferred {
    const EXPECTED: &str = "a tensor with 4 dimensions";
    rules::check_dtype(c, 0)?;
    attributes(c)?;
    let Some(query) = c.tensor(0)? else {
        return Ok(StructInfo::Object);
    };
    rules::same_dtypes(c, 1..3)?;
    let dims = |index| dims_of(c, index, 4, EXPECTED);
    let (Some(q), Some(k), Some(v)) = (dims(0)?, dims(1)?, dims(2)?) else {
        return Ok(tensor_like(query, ShapeInfo::Ndim(4), query.dtype));
    };
    for other in [k, v] {
        equal_extents(c, "batches of queries, keys and values", &q[0], &other[0])?;
    }
    equal_extents(c, "sizes of queries and keys", &q[3], &k[3])?;
    equal_extents(c, "lengths of keys and values", &k[1], &v[1])?;
    equal_extents(c, "heads of keys and values", &k[2], &v[2])?;
    let what = "the rest of the heads of queries divided by those of keys";
    if k[2].as_int().is_some_and(|shared| shared < 1)
        || rules::multiple_of(c, what, &q[2], &k[2]) == Proof::No
    {
        return Err(c.bad_operand(1, "keys whose heads divide those of the queries"));
    }
    let shape = [&q[0], &q[1], &q[2], &v[3]].map(Clone::clone).to_vec();
    Ok(tensor_like(query, ShapeInfo::Known(shape), query.dtype))
}

/// Whether attention to all keys of tensors of these types is faster as one program in blocks than as products with a softmax between
/// them, on a machine with these threads. Threads of a software adapter do not gain by memory that they share, and pay for
/// each barrier (measured on lavapipe, 12 heads of 64, 512 positions: products 167 ms, one program 507 ms).
pub(crate) fn attention_has_blocks(infos: [&StructInfo; 3], threads: Threads) -> bool {
    if matches!(threads, Threads::Many(workgroups) if !workgroups.fast_shared) {
        return false;
    }
    let tensor = |info: &StructInfo| {
        let info = info.as_tensor()?;
        let dims = info.shape.dims().filter(|dims| dims.len() == 4)?;
        Some(te::placeholder("x", dims.to_vec(), info.dtype?))
    };
    let [Some(query), Some(key), Some(value)] = infos.map(tensor) else {
        return false;
    };
    let of = Attention {
        scale: None,
        visible: Visible::All,
        window: None,
    };
    attention::has_blocks([&query, &key, &value], &of, threads)
}

fn attention_of(c: &ComputeCall<'_>) -> Computed {
    let of = attributes(c)?;
    let bias = c.has(3).then(|| c.x(3));
    let operands = [c.x(0), c.x(1), c.x(2)];
    let in_blocks = attention::attention_in_blocks(c.name(), operands, bias, &of, c.threads());
    let plain = || attention::attention(c.name(), operands, bias, &of);
    Ok(vec![in_blocks.unwrap_or_else(plain)])
}

fn var_len_type(c: &OpCall<'_>) -> rules::Inferred {
    let result = mixed_type(c)?;
    for index in 3..7 {
        rules::check_indices(c, index)?;
    }
    let starts = |index| dims_of(c, index, 1, "a vector of positions");
    if let (Some([queries]), Some([keys])) = (starts(3)?, starts(4)?) {
        equal_extents(c, "numbers of sequences", queries, keys)?;
    }
    if let Some(query) = c.tensor(0)?
        && let Some([batch, ..]) = query.shape.dims()
    {
        equal_extents(c, "the batch and 1", batch, &Expr::i64(1))?;
    }
    Ok(result)
}

/// Heads and their size, of data with these dimensions.
fn heads(c: &OpCall<'_>, dims: &[Expr]) -> Result<(Heads, Expr), InferError> {
    let count = c.int("num_heads")?.unwrap_or(0);
    match dims {
        [_, _, _, size] => Ok((Heads::Apart, size.clone())),
        [_, _, both] if count > 0 => {
            let size = topi::extent::quotient(both, &Expr::i64(count));
            Ok((Heads::Joined(size.clone()), size))
        }
        [_, _, _] => Err(c.bad_attribute(
            "num_heads",
            "an integer of at least 1 for operands of three dimensions",
        )),
        _ => Err(c.bad_operand(0, "a tensor with 3 or 4 dimensions")),
    }
}

/// How many elements of each head are turned.
fn turned(c: &OpCall<'_>, size: &Expr) -> Result<Expr, InferError> {
    let what = "a head of at least what is turned";
    match c.int("rotary_embedding_dim")? {
        None | Some(0) => Ok(size.clone()),
        Some(n) if n > 0 && n % 2 == 0 && rules::at_least(c, what, size, n) != Proof::No => {
            Ok(Expr::i64(n))
        }
        Some(_) => Err(c.bad_attribute(
            "rotary_embedding_dim",
            "an even integer that is at most the size of a head",
        )),
    }
}

fn rotary_type(c: &OpCall<'_>) -> rules::Inferred {
    rules::check_dtype(c, 0)?;
    rules::same_dtypes(c, 1..3)?;
    let with_positions = c.has(3);
    if with_positions {
        rules::check_indices(c, 3)?;
        dims_of(c, 3, 2, "a tensor with 2 dimensions")?;
    }
    let (ndim, expected) = match with_positions {
        true => (2, "a tensor with 2 dimensions"),
        false => (3, "a tensor with 3 dimensions"),
    };
    let tables = [
        dims_of(c, 1, ndim, expected)?,
        dims_of(c, 2, ndim, expected)?,
    ];
    if let Some(dims) = c.tensor(0)?.and_then(|info| info.shape.dims()) {
        let (_, size) = heads(c, dims)?;
        let pairs = topi::extent::quotient(&turned(c, &size)?, &Expr::i64(2));
        for table in tables.into_iter().flatten() {
            equal_extents(
                c,
                "pairs and columns of the table",
                &pairs,
                &table[ndim - 1],
            )?;
        }
    }
    rules::identity(c)
}

fn rotary(c: &ComputeCall<'_>) -> Computed {
    let x = c.x(0);
    let (heads, size) = heads(c, x.shape())?;
    let of = Rotary {
        pairs: match c.flag("interleaved")? {
            true => Pairs::Neighbours,
            false => Pairs::Halves,
        },
        turned: turned(c, &size)?,
        heads,
    };
    let positions = c.has(3).then(|| c.x(3));
    let result = rotary::rotary_embedding(c.name(), x, [c.x(1), c.x(2)], positions, &of);
    Ok(vec![result])
}
