//! Recurrent layers, with the semantics of ONNX.

use crate::ir::graph::{AttrDefault, AttrKind, AttrSpec, InferError, OpCall, Operand, OperandKind};
use crate::ir::{AttrValue, Expr, ShapeInfo, StructInfo};
use crate::ops::ComputeCall;
use crate::ops::def::{Computed, DTypes, OpDef, Pattern, attr, optional, tensor};
use crate::ops::rules::{self, dims_of, equal_extents, tensor_like};
use crate::tensor::DType;
use crate::topi::recurrent::{Activation, Cell, Direction, Operands, Recurrent};
use crate::topi::{self, recurrent};

const DIRECTIONS: &[&str] = &["forward", "reverse", "bidirectional"];

const DIRECTION: AttrSpec = attr(
    "direction",
    AttrKind::Str(DIRECTIONS),
    AttrDefault::Str("forward"),
);
const ACTIVATIONS: AttrSpec = attr("activations", AttrKind::Any, AttrDefault::None);
const CLIP: AttrSpec = attr("clip", AttrKind::Float, AttrDefault::None);

const fn one_state() -> [Operand; 6] {
    [
        tensor("data"),
        tensor("weight"),
        tensor("recurrence"),
        tensor("bias"),
        tensor("initial_h"),
        optional("sequence_lens", OperandKind::Tensor),
    ]
}

const ONE_STATE: &[Operand] = &one_state();

const fn recurrent(name: &'static str, doc: &'static str) -> OpDef {
    OpDef::new(name, doc)
        .operands(ONE_STATE)
        .attrs(&[DIRECTION, ACTIVATIONS, CLIP])
        .dtypes(DTypes::Float)
        .infer(layer_type)
        .compute(layer)
        .pattern(Pattern::Opaque)
}

pub(in crate::ops) const OPS: &[OpDef] = &[
    recurrent(
        "nn.gru",
        "gated recurrent units over time; all states, and the last one",
    )
    .attrs(&[
        DIRECTION,
        ACTIVATIONS,
        CLIP,
        attr(
            "linear_before_reset",
            AttrKind::Bool,
            AttrDefault::Bool(false),
        ),
    ]),
    recurrent(
        "nn.lstm",
        "long short-term memory over time; all states, the last one, and the last cell state",
    )
    .operands(&[
        tensor("data"),
        tensor("weight"),
        tensor("recurrence"),
        tensor("bias"),
        tensor("initial_h"),
        tensor("initial_c"),
        optional("sequence_lens", OperandKind::Tensor),
        optional("peepholes", OperandKind::Tensor),
    ])
    .attrs(&[
        DIRECTION,
        ACTIVATIONS,
        CLIP,
        attr("input_forget", AttrKind::Bool, AttrDefault::Bool(false)),
    ]),
    recurrent(
        "nn.rnn",
        "a recurrent layer over time; all states, and the last one",
    ),
];

/// What a step of the operator does.
fn cell(c: &OpCall<'_>) -> Result<Cell, InferError> {
    let has = |name| c.op.schema().attrs.iter().any(|spec| spec.name == name);
    Ok(if has("input_forget") {
        Cell::Lstm {
            input_forget: c.flag("input_forget")?,
        }
    } else if has("linear_before_reset") {
        Cell::Gru {
            linear_before_reset: c.flag("linear_before_reset")?,
        }
    } else {
        Cell::Rnn
    })
}

/// The layer that the attributes describe.
fn attributes(c: &OpCall<'_>) -> Result<Recurrent, InferError> {
    let cell = cell(c)?;
    let directions: &[Direction] = match c.text("direction")?.as_deref() {
        Some("reverse") => &[Direction::Reverse],
        Some("bidirectional") => &[Direction::Forward, Direction::Reverse],
        _ => &[Direction::Forward],
    };
    let count = cell.activations();
    let given = activations(c)?;
    let of = |direction: usize| match &given {
        None => {
            let usual = [Activation::Sigmoid, Activation::Tanh, Activation::Tanh];
            match cell {
                Cell::Rnn => vec![Activation::Tanh],
                Cell::Gru { .. } | Cell::Lstm { .. } => usual[..count].to_vec(),
            }
        }
        Some(all) if all.len() == count => all.clone(),
        Some(all) => all[direction * count..(direction + 1) * count].to_vec(),
    };
    if let Some(all) = &given
        && all.len() != count
        && all.len() != count * directions.len()
    {
        return Err(c.bad_attribute(
            "activations",
            "as many names as the layer has activations, or that for each direction",
        ));
    }
    let directions = directions.iter().enumerate();
    let clip = c.float("clip")?;
    if clip.is_some_and(|clip| clip < 0.0) {
        return Err(c.bad_attribute("clip", "a number that is not negative"));
    }
    Ok(Recurrent {
        cell,
        directions: directions
            .map(|(at, &direction)| (direction, of(at)))
            .collect(),
        clip,
    })
}

/// The activations in the attribute, by their names in lower case, with their numbers: `elu`, `hardsigmoid(0.2, 0.5)`.
fn activations(c: &OpCall<'_>) -> Result<Option<Vec<Activation>>, InferError> {
    let one = |value: &AttrValue| {
        let text = value.as_str()?.to_lowercase();
        let (name, numbers) = match text.strip_suffix(')').and_then(|text| text.split_once('(')) {
            Some((name, numbers)) => {
                let numbers = numbers.split(',').map(|number| number.trim().parse().ok());
                (name, numbers.collect::<Option<Vec<f64>>>()?)
            }
            None => (text.as_str(), vec![]),
        };
        if numbers.len() > 2 || numbers.iter().any(|number| !number.is_finite()) {
            return None;
        }
        let number = |at: usize, default: f64| numbers.get(at).copied().unwrap_or(default);
        Some(match name {
            "affine" => Activation::Affine(number(0, 1.0), number(1, 0.0)),
            "elu" => Activation::Elu(number(0, 1.0)),
            "hardsigmoid" => Activation::HardSigmoid(number(0, 0.2), number(1, 0.5)),
            "leakyrelu" => Activation::LeakyRelu(number(0, 0.01)),
            "scaledtanh" => Activation::ScaledTanh(number(0, 1.0), number(1, 1.0)),
            "softplus" => Activation::Softplus,
            "softsign" => Activation::Softsign,
            "thresholdedrelu" => Activation::ThresholdedRelu(number(0, 1.0)),
            "sigmoid" => Activation::Sigmoid,
            "tanh" => Activation::Tanh,
            "relu" => Activation::Relu,
            _ => return None,
        })
    };
    let all: Option<Vec<_>> = match c.attr("activations") {
        None => return Ok(None),
        Some(AttrValue::List(items)) => items.iter().map(one).collect(),
        Some(value) => one(&value).map(|one| vec![one]),
    };
    all.map(Some)
        .ok_or_else(|| c.bad_attribute("activations", "names of activations"))
}

/// The number of the operand with the lengths of sequences.
fn lengths_at(cell: Cell) -> usize {
    4 + cell.states()
}

fn layer_type(c: &OpCall<'_>) -> rules::Inferred {
    rules::check_dtype(c, 0)?;
    let layer = attributes(c)?;
    let Some(data) = c.tensor(0)? else {
        return Ok(StructInfo::Object);
    };
    let lengths = lengths_at(layer.cell);
    let others = (1..c.operands.len()).filter(|&index| index != lengths);
    rules::same_dtypes(c, others)?;
    if c.has(lengths) {
        let dtype = c.tensor(lengths)?.and_then(|info| info.dtype);
        if dtype.is_some_and(|dtype| !DTypes::Int.contains(dtype)) {
            return Err(c.bad_operand(lengths, DTypes::Int.expected()));
        }
    }
    let three = |index| dims_of(c, index, 3, "a tensor with 3 dimensions");
    let states = |shape: &dyn Fn(usize) -> ShapeInfo| {
        let results = (0..=layer.cell.states()).map(|at| tensor_like(data, shape(at), data.dtype));
        Ok(StructInfo::Tuple(results.collect()))
    };
    let (Some(x), Some(w), Some(r)) = (three(0)?, three(1)?, three(2)?) else {
        return states(&|at| ShapeInfo::Ndim(if at == 0 { 4 } else { 3 }));
    };
    check_weights(c, &layer, x, w, r)?;
    let directions = Expr::i64(layer.directions.len() as i64);
    let last = vec![directions.clone(), x[1].clone(), r[2].clone()];
    for index in 4..lengths {
        if let Some(initial) = three(index)? {
            for (a, b) in initial.iter().zip(&last) {
                equal_extents(c, "extents of initial states", a, b)?;
            }
        }
    }
    let all = vec![x[0].clone(), directions, x[1].clone(), r[2].clone()];
    states(&|at| ShapeInfo::Known(if at == 0 { all.clone() } else { last.clone() }))
}

/// Checks that the extents of weights, biases, lengths and peepholes belong together.
fn check_weights(
    c: &OpCall<'_>,
    layer: &Recurrent,
    x: &[Expr],
    w: &[Expr],
    r: &[Expr],
) -> Result<(), InferError> {
    let times = |n: i64| match r[2].as_int() {
        Some(hidden) => Expr::i64(hidden.saturating_mul(n)),
        None => &r[2] * n,
    };
    let directions = Expr::i64(layer.directions.len() as i64);
    let gates = layer.cell.gates();
    let rows = times(gates);
    for weight in [w, r] {
        equal_extents(
            c,
            "directions and those of weights",
            &weight[0],
            &directions,
        )?;
        equal_extents(
            c,
            "rows of weights and gates times hidden units",
            &weight[1],
            &rows,
        )?;
    }
    equal_extents(c, "inputs of data and weights", &x[2], &w[2])?;
    let mut vectors = vec![(3, times(2 * gates))];
    let lengths = lengths_at(layer.cell);
    if c.has(lengths + 1) {
        vectors.push((lengths + 1, times(3)));
    }
    for (index, extent) in vectors {
        let Some(given) = dims_of(c, index, 2, "a tensor with 2 dimensions")? else {
            continue;
        };
        equal_extents(c, "directions and those of vectors", &given[0], &directions)?;
        equal_extents(
            c,
            "elements of vectors and what they belong to",
            &given[1],
            &extent,
        )?;
    }
    if c.has(lengths)
        && let Some(given) = dims_of(c, lengths, 1, "a vector")?
    {
        equal_extents(c, "batch and number of lengths", &x[1], &given[0])?;
    }
    Ok(())
}

fn layer(c: &ComputeCall<'_>) -> Computed {
    let layer = attributes(c)?;
    let lengths = lengths_at(layer.cell);
    let initial: Vec<_> = (4..lengths).map(|index| c.x(index)).collect();
    let as_index = |index| {
        let lengths = c.x(index);
        topi::astype("lengths", lengths, DType::I32)
    };
    let lengths_given = c.has(lengths).then(|| as_index(lengths));
    let operands = Operands {
        data: c.x(0),
        weight: c.x(1),
        recurrence: c.x(2),
        bias: c.x(3),
        initial: &initial,
        lengths: lengths_given.as_ref(),
        peepholes: c.has(lengths + 1).then(|| c.x(lengths + 1)),
    };
    Ok(recurrent::recurrent(c.name(), &operands, &layer))
}
