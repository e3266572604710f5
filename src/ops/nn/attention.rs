//! Attention.

use crate::ir::graph::{AttrDefault, AttrKind, AttrSpec, InferError, OpCall};
use crate::ir::{ShapeInfo, StructInfo};
use crate::ops::ComputeCall;
use crate::ops::def::{Computed, DTypes, OpDef, Pattern, attr, tensor};
use crate::ops::rules::{self, broadcast_shapes, dims_of, equal_extents, tensor_like};
use crate::topi::attention::{self, Attention, Visible};

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
        return Err(c.bad_attribute("window_size"));
    }
    Ok(Attention {
        scale: c.float("scale")?,
        visible,
        window,
    })
}

fn attention_type(c: &OpCall<'_>) -> rules::Inferred {
    const EXPECTED: &str = "a tensor with 4 dimensions";
    rules::check_dtype(c, 0)?;
    attributes(c)?;
    let Some(query) = c.tensor(0)? else {
        return Ok(StructInfo::Object);
    };
    rules::same_dtypes(c, 1..c.operands.len())?;
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
    if let (Some(heads), Some(shared)) = (q[2].as_int(), k[2].as_int())
        && (shared < 1 || heads % shared != 0)
    {
        return Err(c.bad_operand(1, "keys whose heads divide those of the queries"));
    }
    if c.has(3)
        && let Some(bias) = c.tensor(3)?
    {
        let scores = [&q[0], &q[2], &q[1], &k[1]].map(Clone::clone);
        let scores = ShapeInfo::Known(scores.to_vec());
        let joined = broadcast_shapes(c, &scores, &bias.shape)?;
        if joined.ndim().is_some_and(|ndim| ndim > 4) {
            return Err(c.bad_operand(3, "a tensor with at most 4 dimensions"));
        }
    }
    let shape = [&q[0], &q[1], &q[2], &v[3]].map(Clone::clone).to_vec();
    Ok(tensor_like(query, ShapeInfo::Known(shape), query.dtype))
}

fn attention_of(c: &ComputeCall<'_>) -> Computed {
    let of = attributes(c)?;
    let bias = c.has(3).then(|| c.x(3));
    let operands = [c.x(0), c.x(1), c.x(2)];
    Ok(vec![attention::attention(c.name(), operands, bias, &of)])
}
