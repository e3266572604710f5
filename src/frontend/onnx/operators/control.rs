//! Graphs in nodes: branches and loops.

use std::cell::RefCell;

use serde_json::json;

use super::Operator;
use crate::frontend::onnx::call::{Call, Outputs, attrs, known, materialized, number};
use crate::frontend::onnx::error::Fault;
use crate::frontend::onnx::proto::GraphProto;
use crate::frontend::onnx::value::{Known, Value};
use crate::ir::Expr as Size;
use crate::relax::{self, BlockBuilder, Expr, Var};
use crate::tensor::DType;

/// Most iterations of a loop, which are written out one after the other.
pub(super) const MAX_ITERATIONS: i64 = 256;

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("If", &[1, 11, 13, 16, 19, 21, 23, 24, 25], branch),
    Operator::new("Loop", &[1, 11, 13, 16, 19, 21, 23, 24, 25], repeat)
        .note("loops whose number of iterations follows from the model; they are written out"),
    Operator::new("Scan", &[9, 11, 16, 19, 21, 23, 24, 25], scan)
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

fn branch(c: &mut Call<'_, '_>) -> Outputs {
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
    let mut condition = c.x(0)?;
    if c.ndim(0)? != 0 {
        condition = c.reshaped(condition, [])?.into();
    }
    let condition = c.emit(condition)?;
    let before = c.importer.problems.len();
    let count = then.output.len();
    let places = [c.inside("then_branch"), c.inside("else_branch")];
    let emitted = {
        let Call {
            importer,
            bb,
            scope,
            ..
        } = c;
        let importer = RefCell::new(importer);
        let side = |graph, place: &str, bb: &mut BlockBuilder| {
            let values =
                importer
                    .borrow_mut()
                    .subgraph(graph, vec![], scope, place.to_owned(), bb)?;
            let values = values.iter().map(result_of);
            let values = values.collect::<Result<Vec<Expr>, Fault>>()?;
            Ok::<Expr, Fault>(match values.as_slice() {
                [single] => single.clone(),
                _ => relax::tuple(values),
            })
        };
        bb.if_(
            &condition,
            |bb| side(then, &places[0], bb),
            |bb| side(otherwise, &places[1], bb),
        )
    };
    match emitted {
        // What is wrong inside has been reported.
        Err(_) if c.importer.problems.len() > before => Ok(vec![]),
        Err(fault) => Err(fault),
        Ok(var) if count == 1 => Ok(vec![c.emit(&var)?.into()]),
        Ok(var) => c.items(&var, count),
    }
}

/// A value that a branch gives.
pub(super) fn result_of(value: &Value) -> Result<Expr, Fault> {
    match value {
        Value::Var(var) => Ok(var.into()),
        Value::Const(tensor) => Ok(relax::constant(tensor.clone())),
        Value::Known(known) => materialized(known),
        Value::List(_) | Value::Absent | Value::Missing => {
            let text = "a branch gives a sequence or an optional value".to_owned();
            Err(Fault::Unsupported(text))
        }
    }
}

/// Whether a condition is known to be true, or false.
fn decided(value: &Value) -> Option<bool> {
    let condition = known(value)?.ints()?;
    condition.first().map(|&flag| flag != 0)
}

fn repeat(c: &mut Call<'_, '_>) -> Outputs {
    let body = c.attributes.graph("body")?;
    let limit = match c.has(0) {
        true => Some(c.ints(0)?.first().copied().unwrap_or(0)),
        false => None,
    };
    let mut going = match c.has(1) {
        true => c.inputs[1].clone(),
        false => Known::scalar(Size::bool(true)).into(),
    };
    let mut carried: Vec<Value> = c.inputs.iter().skip(2).cloned().collect();
    let mut scanned: Vec<Vec<Value>> =
        vec![vec![]; c.node.output.len().saturating_sub(carried.len())];
    let mut iteration = 0i64;
    while limit.is_none_or(|limit| iteration < limit) {
        match decided(&going) {
            Some(true) => {}
            Some(false) => break,
            None => {
                let text = "whether the loop goes on is computed from elements: only loops whose number of iterations follows from the model are supported";
                return Err(Fault::Unsupported(text.to_owned()));
            }
        }
        if iteration == MAX_ITERATIONS {
            return Err(Fault::Unsupported(format!(
                "the loop has more than {MAX_ITERATIONS} iterations"
            )));
        }
        let mut inputs = vec![Known::scalar(Size::i64(iteration)).into(), going.clone()];
        inputs.append(&mut carried);
        let count = inputs.len() - 2;
        let Some(values) = inline(c, body, inputs, &format!("body, iteration {iteration}"))? else {
            return Ok(vec![]);
        };
        let mut values = values.into_iter();
        going = values.next().unwrap_or(Value::Absent);
        carried = values.by_ref().take(count).collect();
        for (list, value) in scanned.iter_mut().zip(values) {
            list.push(value);
        }
        iteration += 1;
    }
    for list in scanned {
        let stacked = stack(c, list, 0)?;
        carried.push(stacked);
    }
    Ok(carried)
}

/// Values along a new axis.
fn stack(c: &mut Call<'_, '_>, list: Vec<Value>, axis: i64) -> Result<Value, Fault> {
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

fn scan(c: &mut Call<'_, '_>) -> Outputs {
    let body = c.attributes.graph("body")?;
    let sequences = c.attributes.int("num_scan_inputs")?;
    let sequences = sequences.ok_or_else(|| Fault::NoAttribute("num_scan_inputs".to_owned()))?;
    let sequences = usize::try_from(sequences)
        .ok()
        .filter(|&n| 0 < n && n <= c.inputs.len());
    let sequences = sequences.ok_or_else(|| {
        Fault::Unsupported("num_scan_inputs is not a number of operands".to_owned())
    })?;
    let states = c.inputs.len() - sequences;
    let results = c.node.output.len().saturating_sub(states);
    let list = |c: &Call<'_, '_>, name, count| c.attributes.ints_of(name, 0, count);
    let axes = list(c, "scan_input_axes", sequences)?;
    let directions = list(c, "scan_input_directions", sequences)?;
    let out_axes = list(c, "scan_output_axes", results)?;
    let out_directions = list(c, "scan_output_directions", results)?;
    let mut carried: Vec<Value> = c.inputs[..states].to_vec();
    let (mut data, mut length) = (vec![], None);
    for (at, &axis) in axes.iter().enumerate() {
        let index = states + at;
        let axis = c.axis(axis, c.ndim(index)?)?;
        let extent = c.dim(index, axis)?;
        if length.is_some_and(|length| length != extent) {
            return Err(c.bad(
                index,
                format!("{extent} long"),
                "as long as the other sequences",
            ));
        }
        length = Some(extent);
        let x: Var = c.var(index)?;
        data.push((x, axis));
    }
    let length = length.unwrap_or(0);
    if length > MAX_ITERATIONS {
        return Err(Fault::Unsupported(format!(
            "the sequence is longer than {MAX_ITERATIONS}"
        )));
    }
    let mut scanned: Vec<Vec<Value>> = vec![vec![]; results];
    for step in 0..length {
        let mut inputs = std::mem::take(&mut carried);
        for ((x, axis), &direction) in data.iter().zip(&directions) {
            let at = if direction == 0 {
                step
            } else {
                length - 1 - step
            };
            let at = number(at as f64, DType::I64)?;
            let slice = relax::op_with("take", [x.into(), at], attrs(&json!({"axis": axis})));
            inputs.push(c.emit(slice)?.into());
        }
        let Some(values) = inline(c, body, inputs, &format!("body, step {step}"))? else {
            return Ok(vec![]);
        };
        let mut values = values.into_iter();
        carried = values.by_ref().take(states).collect();
        for (list, value) in scanned.iter_mut().zip(values) {
            list.push(value);
        }
    }
    for ((mut list, axis), direction) in scanned.into_iter().zip(out_axes).zip(out_directions) {
        if direction != 0 {
            list.reverse();
        }
        let stacked = stack(c, list, axis)?;
        carried.push(stacked);
    }
    Ok(carried)
}
