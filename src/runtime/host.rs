//! The functions of the host that operators need, as packed functions.

use std::sync::Arc;

use super::{PackedError, PackedFunc, Value};
use crate::tensor::{HostArgs, HostError, HostResult, host_op};

/// The function of the host with this name.
pub(super) fn host_func(name: &str) -> Option<PackedFunc> {
    let run = host_op(name)?;
    Some(Arc::new(move |values: &mut [Value]| {
        let result = run(&arguments(values)?)?;
        Ok::<_, PackedError>(match result {
            HostResult::Tensor(tensor) => Value::Tensor(tensor),
            HostResult::Tuple(tensors) => {
                Value::Tuple(tensors.into_iter().map(Value::Tensor).collect())
            }
            HostResult::Shape(dims) => Value::Shape(dims.into()),
        })
    }))
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
