//! Graphs in nodes: branches and scans.

use std::cell::{Cell, RefCell};

use serde_json::json;

use super::Operator;
use crate::frontend::onnx::call::{Call, Outputs, attrs, materialized, number};
use crate::frontend::onnx::error::Fault;
use crate::frontend::onnx::import::Importer;
use crate::frontend::onnx::proto::{GraphProto, NodeProto};
use crate::frontend::onnx::value::Value;
use crate::relax::{self, BlockBuilder, Expr, Var};
use crate::tensor::DType;

/// Most iterations that are written out one after the other.
pub(super) const MAX_ITERATIONS: i64 = 256;

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("If", &[1, 11, 13, 16, 19, 21, 23, 24, 25], branch).note(
        "if the condition is computed and the branches give values of other numbers of dimensions, or sequences of other lengths, all that follows is in both branches",
    ),
    Operator::new("Scan", &[8, 9, 11, 16, 19, 21, 23, 24, 25], scan)
        .note("sequences of a constant length; the iterations are written out"),
];

/// The outputs of a graph in the node, whose inputs have these values. `None` if something in it stands in the way: that has been
/// reported.
pub(super) fn inline<'m>(
    c: &mut Call<'_, 'm>,
    graph: &'m GraphProto,
    inputs: Vec<Value>,
    name: &str,
) -> Result<Option<Vec<Value>>, Fault> {
    let place = c.inside(name);
    let values = c.importer.subgraph(graph, inputs, c.scope, place, c.bb)?;
    let missing = values.iter().any(|value| matches!(value, Value::Missing));
    Ok((!missing).then_some(values))
}

fn branch<'m>(c: &mut Call<'_, 'm>) -> Outputs {
    let then = c.attributes.graph("then_branch")?;
    let otherwise = c.attributes.graph("else_branch")?;
    // A condition that is known: only one of the graphs ever runs.
    if let Some(taken) = c.known(0).and_then(|known| known.ints()) {
        let (graph, name) = match taken.first() {
            Some(0) | None => (otherwise, "else_branch"),
            Some(_) => (then, "then_branch"),
        };
        return Ok(inline(c, graph, vec![], name)?.unwrap_or_default());
    }
    let places = [c.inside("then_branch"), c.inside("else_branch")];
    let scope = c.scope;
    let sides = [(then, &places[0]), (otherwise, &places[1])];
    let sides = sides.map(|(graph, place)| {
        move |importer: &mut Importer<'m>, bb: &mut BlockBuilder| {
            importer.subgraph(graph, vec![], scope, place.clone(), bb)
        }
    });
    merged(c, sides, Ranks::MustAgree)
}

/// Imports the nodes after an `If` in both branches, of which one gives the outputs of the graph. That is needed where the results of the
/// branches differ in rank, so that no one type fits.
pub(in crate::frontend::onnx) fn continued<'m>(
    c: &mut Call<'_, 'm>,
    rest: &[&'m NodeProto],
    outputs: &[&'m str],
) -> Outputs {
    let then = c.attributes.graph("then_branch")?;
    let otherwise = c.attributes.graph("else_branch")?;
    let places = [c.inside("then_branch"), c.inside("else_branch")];
    let (scope, node) = (c.scope, c.node);
    let sides = [(then, &places[0]), (otherwise, &places[1])];
    let sides = sides.map(|(graph, place)| {
        move |importer: &mut Importer<'m>, bb: &mut BlockBuilder| {
            importer.deeper()?;
            let values = importer.subgraph(graph, vec![], scope, place.clone(), bb)?;
            let mut inner = scope.beside();
            for (name, value) in node.output.iter().zip(values) {
                inner.define(name, value);
            }
            let values = importer.in_order(rest, outputs, &mut inner, bb);
            importer.shallower();
            Ok(values)
        }
    });
    merged(c, sides, Ranks::MayDiffer)
}

/// What becomes of branches that give values of different numbers of dimensions.
#[derive(Clone, Copy, PartialEq)]
enum Ranks {
    /// They are refused by [`Fault::BranchTypes`].
    MustAgree,
    /// Nothing is known of the number of dimensions of the result.
    MayDiffer,
}

/// The values of one of two sides, as the first operand says.
fn merged<'m, S>(c: &mut Call<'_, 'm>, sides: [S; 2], ranks: Ranks) -> Outputs
where
    S: FnOnce(&mut Importer<'m>, &mut BlockBuilder) -> Result<Vec<Value>, Fault>,
{
    let mut condition = c.x(0)?;
    if c.ndim(0)? != 0 {
        condition = c.reshaped(condition, [])?.into();
    }
    let condition = c.emit(condition)?;
    let before = c.importer.problems.len();
    let other = c.bad(
        0,
        "computed",
        "known when the model is imported: only one branch gives a sequence of this length, or an optional value",
    );
    let other = RefCell::new(Some(other));
    let forms: RefCell<Option<Vec<Form>>> = RefCell::default();
    let types: RefCell<Vec<Option<DType>>> = RefCell::default();
    let lacking = Cell::new(false);
    let emitted = {
        let Call { importer, bb, .. } = c;
        let importer = RefCell::new(importer);
        let run = |side: S, bb: &mut BlockBuilder| {
            let values = side(&mut importer.borrow_mut(), bb)?;
            let own: Vec<Form> = values.iter().map(Form::of).collect();
            let missing = values.iter().any(|value| matches!(value, Value::Missing));
            lacking.set(lacking.get() || missing);
            let others = types.replace(values.iter().map(element_type).collect());
            let mut pairs = others.into_iter().zip(types.borrow().clone());
            if let Some((Some(a), Some(b))) =
                pairs.find(|(a, b)| a.is_some() && b.is_some() && a != b)
            {
                return Err(Fault::Unsupported(format!("its branches give {a} and {b}")));
            }
            if let Some(first) = forms.replace(Some(own.clone()))
                && !missing
            {
                let alike = first.len() == own.len();
                let mut pairs = first.iter().zip(&own);
                if !alike || pairs.any(|(a, b)| a != b) {
                    let kinds = first.iter().zip(&own);
                    let tensors = alike && kinds.clone().all(|(a, b)| a.count() == b.count());
                    match (ranks, tensors) {
                        (Ranks::MustAgree, _) => return Err(Fault::BranchTypes),
                        (Ranks::MayDiffer, true) => {}
                        (Ranks::MayDiffer, false) => {
                            return Err(other.take().unwrap_or(Fault::BranchTypes));
                        }
                    }
                }
            }
            let parts = values.iter().flat_map(parts_of).map(result_of);
            let parts = parts.collect::<Result<Vec<Expr>, Fault>>()?;
            Ok::<Expr, Fault>(match parts.as_slice() {
                [single] => single.clone(),
                _ => relax::tuple(parts),
            })
        };
        let [then, otherwise] = sides;
        bb.if_(&condition, |bb| run(then, bb), |bb| run(otherwise, bb))
    };
    let var = match emitted {
        // What is wrong inside has been reported.
        Err(_) if c.importer.problems.len() > before || lacking.get() => return Ok(vec![]),
        Err(fault) => return Err(fault),
        Ok(var) => var,
    };
    let forms = forms.into_inner().unwrap_or_default();
    let parts = match forms.iter().map(Form::count).sum() {
        1 => vec![c.emit(&var)?.into()],
        count => c.items(&var, count)?,
    };
    let mut parts = parts.into_iter();
    let values = forms.iter().map(|form| form.value(&mut parts));
    Ok(values.collect())
}

/// The element type of a tensor, if it is known.
fn element_type(value: &Value) -> Option<DType> {
    match value {
        Value::Var(var) => var.sinfo().as_tensor()?.dtype,
        Value::Const(tensor) => Some(tensor.dtype()),
        _ => None,
    }
}

/// What a branch gives, as tensors.
#[derive(Clone, PartialEq)]
enum Form {
    /// A tensor of so many dimensions, if that is known.
    Tensor(Option<usize>),
    /// A sequence of so many.
    List(usize),
    /// A sequence of a computed number of tensors.
    Rows,
    Absent,
}

impl Form {
    fn of(value: &Value) -> Self {
        match value {
            Value::Var(var) => {
                let info = var.sinfo().as_tensor();
                Self::Tensor(info.and_then(|info| info.shape.ndim()))
            }
            Value::Const(tensor) => Self::Tensor(Some(tensor.shape().len())),
            Value::Known(known) => Self::Tensor(Some(known.shape.len())),
            Value::Packed(packed) => Self::Tensor(Some(packed.shape.len())),
            Value::Missing => Self::Tensor(None),
            Value::List(items) => Self::List(items.len()),
            Value::Rows(_) => Self::Rows,
            Value::Absent => Self::Absent,
        }
    }

    /// How many tensors it is.
    fn count(&self) -> usize {
        match self {
            Self::Tensor(_) | Self::Rows => 1,
            Self::List(count) => *count,
            Self::Absent => 0,
        }
    }

    /// The value of the next tensors.
    fn value(&self, parts: &mut impl Iterator<Item = Value>) -> Value {
        match self {
            Self::Tensor(_) => parts.next().unwrap_or(Value::Missing),
            Self::List(count) => Value::List(parts.take(*count).collect()),
            Self::Rows => match parts.next() {
                Some(Value::Var(rows)) => Value::Rows(rows),
                _ => Value::Missing,
            },
            Self::Absent => Value::Absent,
        }
    }
}

/// The tensors that a value is.
fn parts_of(value: &Value) -> &[Value] {
    match value {
        Value::List(items) => items,
        Value::Absent => &[],
        single => std::slice::from_ref(single),
    }
}

/// A value that a branch gives.
pub(super) fn result_of(value: &Value) -> Result<Expr, Fault> {
    match value {
        Value::Var(var) | Value::Rows(var) => Ok(var.into()),
        Value::Const(tensor) => Ok(relax::constant(tensor.clone())),
        Value::Known(known) => materialized(known),
        Value::Packed(packed) => Err(Fault::ElementType(packed.dtype_name().to_owned())),
        Value::List(_) | Value::Absent | Value::Missing => {
            let text = "a sequence of sequences or of optional values is computed".to_owned();
            Err(Fault::Unsupported(text))
        }
    }
}

/// Values along a new axis.
pub(super) fn stack(c: &mut Call<'_, '_>, list: Vec<Value>, axis: i64) -> Result<Value, Fault> {
    if list.is_empty() {
        let text = "a loop without iterations has results of unknown shape".to_owned();
        return Err(Fault::Unsupported(text));
    }
    let values = list
        .iter()
        .map(result_of)
        .collect::<Result<Vec<Expr>, Fault>>()?;
    Ok(
        c.op_with("stack", [relax::tuple(values)], &json!({"axis": axis}))?
            .into(),
    )
}

/// What a scan runs over.
struct Sequences {
    /// The sequences, with the axis of each along which the body runs.
    data: Vec<(Var, usize)>,
    length: i64,
    /// Whether a sequence runs backwards.
    directions: Vec<i64>,
}

impl Sequences {
    /// The operands from `first` on, along these axes.
    fn of(
        c: &mut Call<'_, '_>,
        first: usize,
        axes: &[i64],
        directions: Vec<i64>,
    ) -> Result<Self, Fault> {
        let (mut data, mut length) = (vec![], None);
        for (at, &axis) in axes.iter().enumerate() {
            let index = first + at;
            let axis = c.axis(axis, c.ndim(index)?)?;
            let extent = c.dim(index, axis)?;
            if length.is_some_and(|length| length != extent) {
                let given = format!("{extent} long");
                return Err(c.bad(index, given, "as long as the other sequences"));
            }
            length = Some(extent);
            data.push((c.var(index)?, axis));
        }
        let length = length.unwrap_or(0);
        if length > MAX_ITERATIONS {
            let text = format!("the sequence is longer than {MAX_ITERATIONS}");
            return Err(Fault::Unsupported(text));
        }
        Ok(Self {
            data,
            length,
            directions,
        })
    }

    /// The states after the last step, and what each step gives besides. `None` if something in the body stands in the way.
    fn run<'m>(
        &self,
        c: &mut Call<'_, 'm>,
        body: &'m GraphProto,
        mut states: Vec<Value>,
        results: usize,
        place: &str,
    ) -> Result<Option<Scanned>, Fault> {
        let count = states.len();
        let mut scanned: Vec<Vec<Value>> = vec![vec![]; results];
        for step in 0..self.length {
            let mut inputs = std::mem::take(&mut states);
            for ((x, axis), &direction) in self.data.iter().zip(&self.directions) {
                let at = match direction {
                    0 => step,
                    _ => self.length - 1 - step,
                };
                inputs.push(item(c, x, *axis, at)?);
            }
            let Some(values) = inline(c, body, inputs, &format!("{place}, step {step}"))? else {
                return Ok(None);
            };
            let mut values = values.into_iter();
            states = values.by_ref().take(count).collect();
            for (list, value) in scanned.iter_mut().zip(values) {
                list.push(value);
            }
        }
        Ok(Some(Scanned { states, scanned }))
    }
}

/// What a scan gives.
struct Scanned {
    /// The states after the last step.
    states: Vec<Value>,
    /// What each step gives besides, by result.
    scanned: Vec<Vec<Value>>,
}

/// The elements at one place of an axis.
fn item(c: &mut Call<'_, '_>, x: &Var, axis: usize, at: i64) -> Result<Value, Fault> {
    let at = number(at as f64, DType::I64)?;
    let slice = relax::op_with("take", [x.into(), at], attrs(&json!({"axis": axis})));
    Ok(c.emit(slice)?.into())
}

/// How many of so many operands are sequences.
fn scan_inputs(c: &Call<'_, '_>, operands: usize) -> Result<usize, Fault> {
    let count = c.attributes.int("num_scan_inputs")?;
    let count = count.ok_or_else(|| Fault::NoAttribute("num_scan_inputs".to_owned()))?;
    let known = usize::try_from(count)
        .ok()
        .filter(|&n| 0 < n && n <= operands);
    known.ok_or_else(|| Fault::Attribute {
        name: "num_scan_inputs".to_owned(),
        given: count.to_string(),
        expected: format!("1 to {operands}, a number of operands"),
    })
}

fn scan(c: &mut Call<'_, '_>) -> Outputs {
    if c.version < 9 {
        return batched_scan(c);
    }
    let body = c.attributes.graph("body")?;
    let sequences = scan_inputs(c, c.inputs.len())?;
    let states = c.inputs.len() - sequences;
    let results = c.node.output.len().saturating_sub(states);
    let list = |name, count| c.attributes.ints_of(name, 0, count);
    let axes = list("scan_input_axes", sequences)?;
    let directions = list("scan_input_directions", sequences)?;
    let out_axes = list("scan_output_axes", results)?;
    let out_directions = list("scan_output_directions", results)?;
    let sequences = Sequences::of(c, states, &axes, directions)?;
    let states = c.inputs[..states].to_vec();
    let Some(Scanned {
        states: mut outputs,
        scanned,
    }) = sequences.run(c, body, states, results, "body")?
    else {
        return Ok(vec![]);
    };
    for ((mut list, axis), direction) in scanned.into_iter().zip(out_axes).zip(out_directions) {
        if direction != 0 {
            list.reverse();
        }
        outputs.push(stack(c, list, axis)?);
    }
    Ok(outputs)
}

/// Before version 9 the first axis of every operand counted the examples of a batch, and the second of a sequence its steps.
fn batched_scan(c: &mut Call<'_, '_>) -> Outputs {
    if c.has(0) {
        return Err(c.bad(
            0,
            "given",
            "left out: all sequences are as long as they are",
        ));
    }
    let body = c.attributes.graph("body")?;
    let sequences = scan_inputs(c, c.inputs.len().saturating_sub(1))?;
    let states = c.inputs.len() - 1 - sequences;
    let results = c.node.output.len().saturating_sub(states);
    let directions = c.attributes.ints_of("directions", 0, sequences)?;
    let all = Sequences::of(c, 1 + states, &vec![1; sequences], directions)?;
    let batch = c.dim(1 + states, 0)?;
    if batch.saturating_mul(all.length) > MAX_ITERATIONS {
        let text = format!("the sequences of the batch have more than {MAX_ITERATIONS} steps");
        return Err(Fault::Unsupported(text));
    }
    let mut outputs: Vec<Vec<Value>> = vec![vec![]; states + results];
    for example in 0..batch {
        let mut own = vec![];
        for index in 0..states {
            let state = c.var(1 + index)?;
            own.push(item(c, &state, 0, example)?);
        }
        let mut data = vec![];
        for (x, _) in &all.data {
            if let Value::Var(x) = item(c, x, 0, example)? {
                data.push((x, 0));
            }
        }
        let sequences = Sequences {
            data,
            length: all.length,
            directions: all.directions.clone(),
        };
        let place = format!("body, example {example}");
        let Some(Scanned {
            states: mut made,
            scanned,
        }) = sequences.run(c, body, own, results, &place)?
        else {
            return Ok(vec![]);
        };
        for list in scanned {
            made.push(stack(c, list, 0)?);
        }
        for (list, value) in outputs.iter_mut().zip(made) {
            list.push(value);
        }
    }
    let outputs = outputs.into_iter().map(|list| stack(c, list, 0));
    outputs.collect()
}
