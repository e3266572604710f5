//! Recurrent layers.

use serde_json::json;

use super::Operator;
use super::pieces::zeros;
use crate::frontend::onnx::call::{Call, Outputs, attrs, cast, shown};
use crate::frontend::onnx::error::Fault;
use crate::frontend::onnx::fit::Extent;
use crate::ir::Expr as Size;
use crate::relax::{self, Expr, Var};
use crate::tensor::DType;

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("GRU", &[7, 14, 22], gru),
    Operator::new("LSTM", &[7, 14, 22], lstm),
    Operator::new("RNN", &[7, 14, 22], rnn),
];

/// The operands that all layers have, missing ones as zeros.
struct Layer {
    data: Expr,
    weight: Expr,
    recurrence: Expr,
    bias: Expr,
    lengths: Option<Expr>,
    /// Steps.
    length: Size,
    /// (directions, batch, hidden).
    state: [Size; 3],
    /// The batch is the first dimension of data, states and results in the model (`layout`).
    batch_first: bool,
}

impl Layer {
    /// `gates`: rows of weights for each hidden unit.
    fn of(c: &mut Call<'_, '_>, gates: i64) -> Result<Self, Fault> {
        let batch_first = c.attributes.flag("layout", false)?;
        let directions = directions(c)?;
        let hidden = c.dim(2, 2)?;
        if let Some(said) = c.attributes.int("hidden_size")?
            && said != hidden
        {
            return Err(Fault::Attribute {
                name: "hidden_size".to_owned(),
                given: said.to_string(),
                expected: format!("{hidden}, as the weights say"),
            });
        }
        let dims = c.dims(0)?;
        let (length, batch) = match (dims.as_slice(), batch_first) {
            ([length, batch, _], false) | ([batch, length, _], true) => {
                (length.clone(), batch.clone())
            }
            _ => return Err(c.bad(0, shown(&dims), "(sequence, batch, input)")),
        };
        let state = [Size::i64(directions), batch, Size::i64(hidden)];
        check(c, gates, &dims[2], &state, batch_first)?;
        let bias = match c.optional(3)? {
            Some(bias) => bias,
            None => zeros(
                [
                    Size::i64(directions),
                    Size::i64(hidden.saturating_mul(2 * gates)),
                ],
                c.dtype(0)?,
            ),
        };
        Ok(Self {
            data: match batch_first {
                true => swapped(c.x(0)?),
                false => c.x(0)?,
            },
            weight: c.x(1)?,
            recurrence: c.x(2)?,
            bias,
            lengths: c.optional(4)?,
            length,
            batch_first,
            state,
        })
    }

    fn initial(&self, c: &mut Call<'_, '_>, index: usize) -> Result<Expr, Fault> {
        match c.optional(index)? {
            Some(state) if self.batch_first => Ok(swapped(state)),
            Some(state) => Ok(state),
            None => Ok(zeros(self.state.clone(), c.dtype(0)?)),
        }
    }
}

/// How many directions the layer has, for each of which its operands have weights.
fn directions(c: &Call<'_, '_>) -> Result<i64, Fault> {
    let known = ["forward", "reverse", "bidirectional"];
    match c.attributes.one_of("direction", "forward", &known)? {
        "bidirectional" => Ok(2),
        _ => Ok(1),
    }
}

/// Refuses operands that do not fit the data, whose elements are so many inputs, or each other.
fn check(
    c: &Call<'_, '_>,
    gates: i64,
    inputs: &Size,
    [directions, batch, hidden]: &[Size; 3],
    batch_first: bool,
) -> Result<(), Fault> {
    let units = hidden.as_int().unwrap_or(0);
    let [rows, biases, peepholes] =
        [gates, 2 * gates, 3].map(|n| Size::i64(units.saturating_mul(n)));
    let of = |what, size| Extent::of(what, size);
    let each = || of("directions", directions);
    c.expect_extents(
        1,
        &[each(), of("gates * hidden", &rows), of("input", inputs)],
    )?;
    c.expect_extents(
        2,
        &[each(), of("gates * hidden", &rows), of("hidden", hidden)],
    )?;
    c.expect_extents(3, &[each(), of("2 * gates * hidden", &biases)])?;
    c.expect_extents(4, &[of("batch", batch)])?;
    for index in [5, 6] {
        let (batch, hidden) = (of("batch", batch), of("hidden", hidden));
        match batch_first {
            true => c.expect_extents(index, &[batch, each(), hidden])?,
            false => c.expect_extents(index, &[each(), batch, hidden])?,
        }
    }
    c.expect_extents(7, &[each(), of("3 * hidden", &peepholes)])
}

/// The first two dimensions of three in the other order.
fn swapped(x: Expr) -> Expr {
    relax::op_with("permute_dims", [x], attrs(&json!({"axes": [1, 0, 2]})))
}

/// The results, of which the first is (sequence, directions, batch, hidden) and the others are states.
fn results(c: &mut Call<'_, '_>, all: &Var, count: usize, batch_first: bool) -> Outputs {
    if !batch_first {
        return c.items(all, count);
    }
    let first = relax::op_with(
        "permute_dims",
        [relax::item(all, 0)],
        attrs(&json!({"axes": [2, 0, 1, 3]})),
    );
    let mut outputs = vec![c.emit(first)?.into()];
    for at in 1..count {
        outputs.push(c.emit(swapped(relax::item(all, at)))?.into());
    }
    Ok(outputs)
}

/// The attributes that all layers have. Activations are those of the standard if none are given.
fn common(c: &Call<'_, '_>) -> Result<serde_json::Value, Fault> {
    let direction = c.attributes.one_of(
        "direction",
        "forward",
        &["forward", "reverse", "bidirectional"],
    )?;
    let names = c.attributes.strs("activations")?;
    let (mut alpha, mut beta) = (
        numbers(c, "activation_alpha")?,
        numbers(c, "activation_beta")?,
    );
    let activations = names.map(|names| {
        let names = names.iter().map(|name| name.to_lowercase());
        let names = names.map(|name| with_numbers(name, &mut alpha, &mut beta));
        names.collect::<Vec<_>>()
    });
    Ok(json!({
        "direction": direction, "activations": activations, "clip": c.attributes.float("clip")?,
    }))
}

fn numbers(c: &Call<'_, '_>, name: &str) -> Result<std::vec::IntoIter<f64>, Fault> {
    let numbers = c.attributes.floats(name)?.unwrap_or_default();
    Ok(numbers.into_iter())
}

/// An activation with its numbers: of each list, those that take one have the next, or the usual number at its end.
fn with_numbers(
    name: String,
    alpha: &mut impl Iterator<Item = f64>,
    beta: &mut impl Iterator<Item = f64>,
) -> String {
    let usual = match name.as_str() {
        "affine" => (1.0, Some(0.0)),
        "elu" | "thresholdedrelu" => (1.0, None),
        "hardsigmoid" => (f64::from(0.2f32), Some(0.5)),
        "leakyrelu" => (f64::from(0.01f32), None),
        "scaledtanh" => (1.0, Some(1.0)),
        _ => return name,
    };
    let first = alpha.next().unwrap_or(usual.0);
    match usual.1 {
        Some(usual) => format!("{name}({first:?}, {:?})", beta.next().unwrap_or(usual)),
        None => format!("{name}({first:?})"),
    }
}

pub(super) fn lstm(c: &mut Call<'_, '_>) -> Outputs {
    let layer = Layer::of(c, 4)?;
    let mut attributes = common(c)?;
    attributes["input_forget"] = json!(c.attributes.flag("input_forget", false)?);
    let (h, cell) = (layer.initial(c, 5)?, layer.initial(c, 6)?);
    let batch_first = layer.batch_first;
    let mut args = vec![
        layer.data,
        layer.weight,
        layer.recurrence,
        layer.bias,
        h,
        cell,
    ];
    let peepholes = c.optional(7)?;
    let [_, batch, _] = layer.state;
    match (layer.lengths, peepholes) {
        (None, None) => {}
        (Some(lengths), None) => args.push(lengths),
        (lengths, Some(peepholes)) => {
            let lengths = match lengths {
                Some(lengths) => lengths,
                None => full_lengths(layer.length, batch),
            };
            args.extend([lengths, peepholes]);
        }
    }
    let all = c.op_with("nn.lstm", args, &attributes)?;
    results(c, &all, 3, batch_first)
}

/// Every sequence is as long as the data.
fn full_lengths(length: Size, batch: Size) -> Expr {
    let length = relax::op("shape_to_tensor", [relax::shape([length])]);
    let length = cast(length, DType::I32);
    relax::op("broadcast_to", [length, relax::shape([batch])])
}

fn gru(c: &mut Call<'_, '_>) -> Outputs {
    let layer = Layer::of(c, 3)?;
    let mut attributes = common(c)?;
    attributes["linear_before_reset"] = json!(c.attributes.flag("linear_before_reset", false)?);
    two_results(c, "nn.gru", layer, &attributes)
}

fn rnn(c: &mut Call<'_, '_>) -> Outputs {
    let layer = Layer::of(c, 1)?;
    let attributes = common(c)?;
    two_results(c, "nn.rnn", layer, &attributes)
}

fn two_results(
    c: &mut Call<'_, '_>,
    name: &str,
    layer: Layer,
    attributes: &serde_json::Value,
) -> Outputs {
    let h = layer.initial(c, 5)?;
    let mut args = vec![layer.data, layer.weight, layer.recurrence, layer.bias, h];
    args.extend(layer.lengths);
    let all = c.op_with(name, args, attributes)?;
    results(c, &all, 2, layer.batch_first)
}
