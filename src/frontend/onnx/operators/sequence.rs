//! Sequences and optional values: which elements they have is known while the model is imported.

use serde_json::json;

use super::Operator;
use super::control::inline;
use super::pieces::dims_of;
use crate::frontend::onnx::call::{Call, Outputs, one};
use crate::frontend::onnx::error::Fault;
use crate::frontend::onnx::value::{Known, Value};
use crate::ir::Expr as Size;
use crate::relax::{self, Expr, Var};

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("ConcatFromSequence", &[11], concat),
    Operator::new("Optional", &[15], optional),
    Operator::new("OptionalGetElement", &[15, 18], get_element),
    Operator::new("OptionalHasElement", &[15, 18], has_element),
    Operator::new("SequenceAt", &[11], at),
    Operator::new("SequenceConstruct", &[11], construct),
    Operator::new("SequenceEmpty", &[11], empty),
    Operator::new("SequenceErase", &[11], erase),
    Operator::new("SequenceInsert", &[11], insert),
    Operator::new("SequenceLength", &[11], length),
    Operator::new("SequenceMap", &[17], map),
    Operator::new("SplitToSequence", &[11, 24], split),
];

fn list(c: &Call<'_, '_>, index: usize) -> Result<Vec<Value>, Fault> {
    match c.inputs.get(index) {
        Some(Value::List(items)) => Ok(items.clone()),
        None => Err(Fault::NoOperand(index)),
        Some(Value::Rows(_)) => Err(c.bad(
            index,
            "a sequence whose length is computed",
            "a sequence of a known length",
        )),
        Some(_) => Err(c.bad(index, "a tensor", "a sequence")),
    }
}

/// A position in a list, counted from its end if it is below 0. `end`: the last one that there is.
fn position(c: &Call<'_, '_>, index: usize, count: usize, end: usize) -> Result<usize, Fault> {
    let at = c.ints(index)?.first().copied().unwrap_or(0);
    let from = if at < 0 { at + count as i64 } else { at };
    let found = usize::try_from(from).ok().filter(|&at| at <= end);
    found.ok_or_else(|| c.bad(index, at, format!("a position in a sequence of {count}")))
}

/// Most elements of a sequence that a tensor is split into.
const MOST_PARTS: i64 = 1 << 12;

/// Sequences have tensors as elements, no sequences.
fn only_tensors(c: &Call<'_, '_>) -> Result<(), Fault> {
    let list = c
        .inputs
        .iter()
        .skip(1)
        .position(|value| matches!(value, Value::List(_) | Value::Rows(_)));
    match list {
        Some(at) => Err(c.bad(at + 1, "a sequence", "a tensor")),
        None => Ok(()),
    }
}

fn construct(c: &mut Call<'_, '_>) -> Outputs {
    if matches!(c.inputs.first(), Some(Value::List(_) | Value::Rows(_))) {
        return Err(c.bad(0, "a sequence", "a tensor"));
    }
    only_tensors(c)?;
    Ok(vec![Value::List(std::mem::take(&mut c.inputs))])
}

fn empty(c: &mut Call<'_, '_>) -> Outputs {
    c.attributes.ignore("dtype");
    Ok(vec![Value::List(vec![])])
}

fn at(c: &mut Call<'_, '_>) -> Outputs {
    if let Some(rows) = rows(c) {
        let count = dims_of(c, &rows)?.swap_remove(0);
        let position = super::indexing::positive(c, 1, &count)?;
        let position = c.reshaped(position, [])?;
        return one(c.op_with("take", [&rows, &position], &json!({"axis": 0}))?);
    }
    let mut items = list(c, 0)?;
    if items.is_empty() {
        return Err(c.bad(0, "an empty sequence", "a sequence with elements"));
    }
    let at = position(c, 1, items.len(), items.len() - 1)?;
    Ok(vec![items.swap_remove(at)])
}

fn insert(c: &mut Call<'_, '_>) -> Outputs {
    let mut items = list(c, 0)?;
    only_tensors(c)?;
    let at = match c.has(2) {
        true => position(c, 2, items.len(), items.len())?,
        false => items.len(),
    };
    let item = c.inputs.get(1).cloned().ok_or(Fault::NoOperand(1))?;
    items.insert(at, item);
    Ok(vec![Value::List(items)])
}

fn erase(c: &mut Call<'_, '_>) -> Outputs {
    let mut items = list(c, 0)?;
    let end = items.len().saturating_sub(1);
    let at = match c.has(1) {
        true => position(c, 1, items.len(), end)?,
        false => end,
    };
    if items.is_empty() {
        return Err(c.bad(0, "an empty sequence", "a sequence with elements"));
    }
    items.remove(at);
    Ok(vec![Value::List(items)])
}

fn length(c: &mut Call<'_, '_>) -> Outputs {
    if let Some(rows) = rows(c) {
        return one(Known::scalar(dims_of(c, &rows)?.swap_remove(0)));
    }
    let count = list(c, 0)?.len();
    one(Known::scalar(Size::i64(count as i64)))
}

fn concat(c: &mut Call<'_, '_>) -> Outputs {
    let axis = c.attributes.int("axis")?;
    let axis = axis.ok_or_else(|| Fault::NoAttribute("axis".to_owned()))?;
    let stacks = c.attributes.flag("new_axis", false)?;
    if let Some(rows) = rows(c) {
        return joined_rows(c, &rows, axis, stacks);
    }
    let items = list(c, 0)?;
    let mut parts: Vec<Expr> = vec![];
    for item in &items {
        let part = c.graph_value(item)?;
        parts.push(
            part.ok_or_else(|| c.bad(0, "a sequence of sequences", "a sequence of tensors"))?,
        );
    }
    let name = if stacks { "stack" } else { "concat" };
    one(c.op_with(name, [relax::tuple(parts)], &json!({"axis": axis}))?)
}

/// The tensor whose rows the first operand is.
fn rows(c: &Call<'_, '_>) -> Option<Var> {
    match c.inputs.first() {
        Some(Value::Rows(rows)) => Some(rows.clone()),
        _ => None,
    }
}

/// The rows of a tensor along an axis of theirs, or along a new one.
fn joined_rows(c: &mut Call<'_, '_>, rows: &Var, axis: i64, stacks: bool) -> Outputs {
    let mut dims = dims_of(c, rows)?;
    let rank = dims.len() - usize::from(!stacks);
    let axis = c.axis(axis, rank)?;
    let mut order: Vec<usize> = (1..dims.len()).collect();
    order.insert(axis, 0);
    let moved = match axis {
        0 => rows.clone(),
        _ => c.op_with("permute_dims", [rows], &json!({"axes": order}))?,
    };
    if stacks {
        return one(moved);
    }
    let count = dims.remove(0);
    dims[axis] = count * &dims[axis];
    one(c.reshaped(&moved, dims)?)
}

fn split(c: &mut Call<'_, '_>) -> Outputs {
    let axis = c.attributes.int_or("axis", 0)?;
    let axis = c.axis(axis, c.ndim(0)?)?;
    let keep = c.attributes.flag("keepdims", true)?;
    let extent = c.dim(0, axis)?;
    let sizes = match c.has(1) {
        false if extent > MOST_PARTS => {
            let expected = format!("at most {MOST_PARTS} parts");
            return Err(c.bad(0, format!("{extent} parts"), expected));
        }
        false => vec![1; extent.max(0) as usize],
        true => {
            let sizes = c.ints(1)?;
            match (c.ndim(1)?, sizes.as_slice()) {
                // Parts of one size, the last one smaller.
                (0, &[size]) if size > 0 => {
                    let starts = (0..extent).step_by(size as usize);
                    starts.map(|start| size.min(extent - start)).collect()
                }
                _ => sizes,
            }
        }
    };
    super::slices::check_sizes(c, &sizes, extent, sizes.len())?;
    let cuts = super::slices::cuts(&sizes);
    let x = c.x(0)?;
    let tuple = c.op_with(
        "split",
        [x],
        &json!({"indices_or_sections": cuts, "axis": axis}),
    )?;
    let mut parts = c.items(&tuple, sizes.len())?;
    if !keep && !c.has(1) {
        for part in &mut parts {
            if let Value::Var(var) = part {
                *part = c
                    .op_with("squeeze", [&*var], &json!({"axis": [axis]}))?
                    .into();
            }
        }
    }
    Ok(vec![Value::List(parts)])
}

/// A graph over the elements at each position; operands after the first may be tensors, which are the same for all.
fn map(c: &mut Call<'_, '_>) -> Outputs {
    let body = c.attributes.graph("body")?;
    let count = list(c, 0)?.len();
    let operands = c.inputs.clone();
    for (index, operand) in operands.iter().enumerate() {
        if let Value::List(items) = operand
            && items.len() != count
        {
            let given = format!("a sequence of {}", items.len());
            return Err(c.bad(index, given, format!("one of {count}, as the first is")));
        }
    }
    let mut results: Vec<Vec<Value>> = vec![vec![]; body.output.len()];
    for at in 0..count {
        let inputs = operands.iter().map(|operand| match operand {
            Value::List(items) => items[at].clone(),
            other => other.clone(),
        });
        let place = format!("body, element {at}");
        let Some(values) = inline(c, body, inputs.collect(), &place)? else {
            return Ok(vec![]);
        };
        for (list, value) in results.iter_mut().zip(values) {
            list.push(value);
        }
    }
    Ok(results.into_iter().map(Value::List).collect())
}

fn optional(c: &mut Call<'_, '_>) -> Outputs {
    c.attributes.ignore("type");
    Ok(vec![c.inputs.first().cloned().unwrap_or(Value::Absent)])
}

fn has_element(c: &mut Call<'_, '_>) -> Outputs {
    one(Known::scalar(Size::bool(c.has(0))))
}

fn get_element(c: &mut Call<'_, '_>) -> Outputs {
    match c.has(0) {
        true => Ok(vec![c.inputs[0].clone()]),
        false => Err(c.bad(0, "an optional value that is not there", "one that is")),
    }
}
