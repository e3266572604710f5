//! Layers that carry a state from one call to the next: a causal convolution, and linear attention.

use serde_json::json;

use super::Operator;
use super::control::MAX_ITERATIONS;
use super::pieces::{part, zeros};
use crate::frontend::onnx::call::{Call, Outputs, cast, number, shown};
use crate::frontend::onnx::error::Fault;
use crate::ir::Expr as Size;
use crate::relax::{self, Expr, Var};
use crate::tensor::DType;

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("CausalConvWithState", &[27], causal_conv),
    Operator::new("LinearAttention", &[27], linear_attention)
        .note("queries of a constant length; the steps are written out"),
];

/// `(batch, channels, length)`, each channel with its own weights, after the last inputs of the call before.
fn causal_conv(c: &mut Call<'_, '_>) -> Outputs {
    let (dims, weights) = (c.dims(0)?, c.dims(1)?);
    let [batch, _, _] = dims.as_slice() else {
        return Err(c.bad(0, shown(&dims), "(batch, channels, length)"));
    };
    if weights.len() != 3 {
        return Err(c.bad(1, shown(&weights), "(channels, 1, width)"));
    }
    let (channels, kernel) = (c.dim(1, 0)?, c.dim(1, 2)?);
    if kernel < 1 {
        return Err(c.bad(1, shown(&weights), "weights of some width"));
    }
    let activation = c
        .attributes
        .one_of("activation", "none", &["none", "silu", "swish"])?;
    let before = match c.optional(3)? {
        Some(state) => state,
        None => zeros(
            [batch.clone(), Size::i64(channels), Size::i64(kernel - 1)],
            c.dtype(0)?,
        ),
    };
    let x = c.x(0)?;
    let (padded, present) = match kernel {
        1 => (c.emit(x)?, c.emit(before)?),
        _ => {
            let parts = relax::tuple([before, x]);
            let padded = c.op_with("concat", [parts], &json!({"axis": 2}))?;
            let present = part(c, &padded, 2, 1 - kernel, i64::MAX)?;
            (padded, present)
        }
    };
    let weight = c.x(1)?;
    let mut y = c.op_with(
        "nn.conv1d",
        [(&padded).into(), weight],
        &json!({"groups": channels}),
    )?;
    if let Some(bias) = c.optional(2)? {
        let bias = c.reshaped(bias, [Size::i64(channels), Size::i64(1)])?;
        y = c.op("add", [&y, &bias])?;
    }
    if activation != "none" {
        y = c.op("nn.silu", [&y])?;
    }
    Ok(vec![y.into(), present.into()])
}

/// The heads of linear attention, and their extents.
struct Heads {
    batch: Size,
    /// Steps.
    length: i64,
    /// Heads of keys and values, each of which `group` heads of queries read.
    count: i64,
    group: i64,
    /// Extents of a key and of a value.
    key: i64,
    value: i64,
}

impl Heads {
    fn of(c: &Call<'_, '_>) -> Result<Self, Fault> {
        let needed = |name: &str| {
            let given = c.attributes.int(name)?;
            let given = given.ok_or_else(|| Fault::NoAttribute(name.to_owned()))?;
            match given > 0 {
                true => Ok(given),
                false => Err(Fault::Attribute {
                    name: name.to_owned(),
                    given: given.to_string(),
                    expected: "a positive number".to_owned(),
                }),
            }
        };
        let (queries, count) = (needed("q_num_heads")?, needed("kv_num_heads")?);
        if queries % count != 0 {
            return Err(Fault::Attribute {
                name: "q_num_heads".to_owned(),
                given: queries.to_string(),
                expected: format!("a multiple of {count}"),
            });
        }
        for index in 0..3 {
            let dims = c.dims(index)?;
            if dims.len() != 3 {
                return Err(c.bad(index, shown(&dims), "(batch, length, heads * size)"));
            }
        }
        let size = |index: usize, heads: i64| {
            let width = c.dim(index, 2)?;
            match width % heads {
                0 => Ok(width / heads),
                _ => Err(c.bad(index, width, format!("a multiple of {heads} heads"))),
            }
        };
        let length = c.dim(0, 1)?;
        if !(1..=MAX_ITERATIONS).contains(&length) {
            let text = format!(
                "linear attention over {length} steps: 1 to {MAX_ITERATIONS} are supported"
            );
            return Err(Fault::Unsupported(text));
        }
        let key = size(0, queries)?;
        if size(1, count)? != key {
            return Err(c.bad(1, c.dim(1, 2)?, format!("{count} heads of {key}")));
        }
        Ok(Self {
            batch: c.dims(0)?[0].clone(),
            length,
            count,
            group: queries / count,
            key,
            value: size(2, count)?,
        })
    }

    /// What an operand has for a step, `rows` by `columns` for each head. It is computed in `dtype`.
    fn at(
        &self,
        c: &mut Call<'_, '_>,
        x: &Var,
        step: i64,
        [heads, rows, columns]: [i64; 3],
    ) -> Result<Var, Fault> {
        let now = match self.length {
            1 => x.clone(),
            _ => part(c, x, 1, step, step + 1)?,
        };
        let dims = [heads, rows, columns].map(Size::i64);
        let [heads, rows, columns] = dims;
        c.reshaped(&now, [self.batch.clone(), heads, rows, columns])
    }
}

/// What changes the state before a key and a value are added.
struct Rule {
    /// A factor for each row of the state, or one for each head, as its logarithm.
    decay: Option<(Var, i64)>,
    /// How much of the difference to the value that the state has for a key is added: for each head, or for all.
    beta: Option<(Var, i64)>,
}

impl Rule {
    fn of(c: &mut Call<'_, '_>, heads: &Heads, wide: DType) -> Result<Self, Fault> {
        let known = ["linear", "gated", "delta", "gated_delta"];
        let rule = c.attributes.one_of("update_rule", "gated_delta", &known)?;
        let has = [rule.starts_with("gated"), rule.ends_with("delta")];
        for (index, has) in [(4, has[0]), (5, has[1])] {
            if c.has(index) != has {
                let (given, expected) = match has {
                    true => ("left out", "there"),
                    false => ("there", "left out"),
                };
                let expected = format!("{expected}, as the update rule is {rule}");
                return Err(c.bad(index, given, expected));
            }
        }
        let mut operand = |index: usize, sizes: [i64; 2]| {
            if !c.has(index) {
                return Ok(None);
            }
            let dims = c.dims(index)?;
            let width = match dims.len() {
                3 => c.dim(index, 2)?,
                _ => return Err(c.bad(index, shown(&dims), "a tensor of three dimensions")),
            };
            if !sizes.contains(&width) {
                let expected = format!("{} or {} numbers a step", sizes[0], sizes[1]);
                return Err(c.bad(index, shown(&dims), expected));
            }
            Ok(Some((widened(c, index, wide)?, width)))
        };
        Ok(Self {
            decay: operand(4, [heads.count, heads.count.saturating_mul(heads.key)])?,
            beta: operand(5, [heads.count, 1])?,
        })
    }
}

/// The operand in the type in which states are computed.
fn widened(c: &mut Call<'_, '_>, index: usize, wide: DType) -> Result<Var, Fault> {
    let x = c.x(index)?;
    let x = match c.dtype(index)? == wide {
        true => x,
        false => cast(x, wide),
    };
    c.emit(x)
}

fn narrowed(x: Var, from: DType, to: DType) -> Expr {
    match from == to {
        true => (&x).into(),
        false => cast(&x, to),
    }
}

/// A state for each head, a matrix of keys by values: each step adds the product of its key and its value, and multiplies the state
/// by its query.
fn linear_attention(c: &mut Call<'_, '_>) -> Outputs {
    c.attributes.ignore("chunk_size");
    let heads = Heads::of(c)?;
    let dtype = c.dtype(0)?;
    let wide = match dtype {
        DType::F64 => DType::F64,
        _ => DType::F32,
    };
    let rule = Rule::of(c, &heads, wide)?;
    let scale = match c.attributes.float_or("scale", 0.0)? {
        0.0 => 1.0 / (heads.key as f64).sqrt(),
        scale => scale,
    };
    let scale = number(scale, wide)?;
    let [query, key, value] = [0, 1, 2].map(|index| widened(c, index, wide));
    let (query, key, value) = (query?, key?, value?);
    let (mut state, kept) = match c.has(3) {
        true => (widened(c, 3, wide)?, c.dtype(3)?),
        false => {
            let dims = [heads.count, heads.key, heads.value].map(Size::i64);
            let mut all = vec![heads.batch.clone()];
            all.extend(dims);
            (c.emit(zeros(all, wide))?, dtype)
        }
    };
    let (count, group) = (heads.count, heads.group);
    let mut results = vec![];
    for step in 0..heads.length {
        if let Some((decay, width)) = &rule.decay {
            let rows = if *width == count { 1 } else { heads.key };
            let decay = heads.at(c, decay, step, [count, rows, 1])?;
            let factor = c.op("exp", [&decay])?;
            state = c.op("multiply", [&state, &factor])?;
        }
        let mut added = heads.at(c, &value, step, [count, 1, heads.value])?;
        if let Some((beta, width)) = &rule.beta {
            let row = heads.at(c, &key, step, [count, 1, heads.key])?;
            let had = c.op("matmul", [&row, &state])?;
            let beta = heads.at(c, beta, step, [*width, 1, 1])?;
            let difference = c.op("subtract", [&added, &had])?;
            added = c.op("multiply", [&beta, &difference])?;
        }
        let column = heads.at(c, &key, step, [count, heads.key, 1])?;
        let product = c.op("multiply", [&column, &added])?;
        state = c.op("add", [&state, &product])?;
        let query = heads.at(c, &query, step, [count, group, heads.key])?;
        let read = c.op("matmul", [&query, &state])?;
        let read = c.op("multiply", [(&read).into(), scale.clone()])?;
        let width = Size::i64(count) * (group * heads.value);
        let width = c.importer.arith.simplify(&width);
        results.push(c.reshaped(&read, [heads.batch.clone(), Size::i64(1), width])?);
    }
    let y = match results.as_slice() {
        [single] => single.clone(),
        _ => c.op_with("concat", [relax::tuple(&results)], &json!({"axis": 1}))?,
    };
    let y = c.emit(narrowed(y, wide, dtype))?;
    let state = c.emit(narrowed(state, wide, kept))?;
    Ok(vec![y.into(), state.into()])
}
