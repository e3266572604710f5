//! The functions of the host that operators need, as packed functions.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use super::{PackedError, PackedFunc, Value};
use crate::tensor::{HostArgs, HostError, HostResult, PACK_MEMORY, host_op};

/// The function of the host with this name.
pub(super) fn host_func(name: &str) -> Option<PackedFunc> {
    let run = host_op(name)?;
    let call = move |values: &mut [Value]| {
        let result = run(&arguments(values)?)?;
        Ok::<_, PackedError>(match result {
            HostResult::Tensor(tensor) => Value::Tensor(tensor),
            HostResult::Tuple(tensors) => {
                Value::Tuple(tensors.into_iter().map(Value::Tensor).collect())
            }
            HostResult::Shape(dims) => Value::Shape(dims.into()),
        })
    };
    Some(match name {
        PACK_MEMORY => remembering(call),
        _ => Arc::new(call),
    })
}

/// A function of shapes that gives what it gave before for the same shapes: a plan is made once for each signature of a call.
fn remembering(
    call: impl Fn(&mut [Value]) -> Result<Value, PackedError> + Send + Sync + 'static,
) -> PackedFunc {
    let made: Mutex<VecDeque<Remembered>> = Mutex::default();
    Arc::new(move |values: &mut [Value]| {
        let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = made.iter().position(|made| same_shapes(&made.0, values)) {
            made.swap(0, at);
            return Ok(made[0].1.clone());
        }
        let result = call(values)?;
        if !values.iter().all(|value| matches!(value, Value::Shape(_))) {
            return Ok(result);
        }
        made.truncate(REMEMBERED - 1);
        made.push_front((values.to_vec(), result.clone()));
        Ok(result)
    })
}

/// How many plans are kept: of all functions of a program, for the signatures that come by turns.
const REMEMBERED: usize = 64;

/// Arguments, and what was made of them.
type Remembered = (Vec<Value>, Value);

fn same_shapes(a: &[Value], b: &[Value]) -> bool {
    let same = |(a, b): (&Value, &Value)| match (a, b) {
        (Value::Shape(a), Value::Shape(b)) => Arc::ptr_eq(a, b) || a == b,
        _ => false,
    };
    a.len() == b.len() && a.iter().zip(b).all(same)
}

fn arguments(values: &[Value]) -> Result<HostArgs, HostError> {
    let mut args = HostArgs::default();
    for value in values {
        match value {
            Value::Tensor(tensor) => args.tensors.push(tensor.clone()),
            Value::Int(number) => args.numbers.push(*number),
            Value::Shape(dims) => args.numbers.extend_from_slice(dims),
            Value::Str(text) => args.texts.push(text.to_string()),
            _ => return Err(HostError::Arguments("tensors, shapes and integers")),
        }
    }
    Ok(args)
}
