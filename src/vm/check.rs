//! Checks of values against what the program says of them.

use super::VmError;
use super::frame::Heap;
use super::program::Match;
use crate::artifact::ErrorContext;
use crate::runtime::Value;
use crate::tensor::DType;

/// Shape and element type of a value that is a tensor on either device.
pub(super) fn tensor_info(value: &Value) -> Option<(&[usize], DType)> {
    match value {
        Value::Tensor(tensor) => Some((tensor.shape(), tensor.dtype())),
        #[cfg(feature = "gpu")]
        Value::DeviceTensor(tensor) => Some((tensor.shape(), tensor.dtype())),
        _ => None,
    }
}

fn kind(context: &ErrorContext, expected: &'static str, value: &Value) -> VmError {
    VmError::Kind {
        context: Box::new(context.clone()),
        expected,
        given: value.kind(),
    }
}

fn count(context: &ErrorContext, what: &'static str, expected: usize, given: usize) -> VmError {
    VmError::Count {
        context: Box::new(context.clone()),
        what,
        expected,
        given,
    }
}

pub(super) fn check_tensor(
    value: &Value,
    ndim: Option<usize>,
    dtype: Option<DType>,
    context: &ErrorContext,
) -> Result<(), VmError> {
    let (shape, given) = tensor_info(value).ok_or_else(|| kind(context, "a tensor", value))?;
    if let Some(ndim) = ndim
        && ndim != shape.len()
    {
        return Err(count(context, "dimensions", ndim, shape.len()));
    }
    if let Some(expected) = dtype
        && expected != given
    {
        return Err(VmError::DType {
            context: Box::new(context.clone()),
            expected,
            given,
        });
    }
    Ok(())
}

pub(super) fn check_shape(
    value: &Value,
    ndim: Option<usize>,
    context: &ErrorContext,
) -> Result<(), VmError> {
    let Value::Shape(dims) = value else {
        return Err(kind(context, "a shape", value));
    };
    match ndim {
        Some(ndim) if ndim != dims.len() => Err(count(context, "dimensions", ndim, dims.len())),
        _ => Ok(()),
    }
}

pub(super) fn check_func(value: &Value, context: &ErrorContext) -> Result<(), VmError> {
    match value {
        Value::Closure(_) => Ok(()),
        other => Err(kind(context, "a function", other)),
    }
}

pub(super) fn check_prim(value: &Value, context: &ErrorContext) -> Result<(), VmError> {
    match value {
        Value::Int(_) | Value::Float(_) => Ok(()),
        other => Err(kind(context, "a scalar", other)),
    }
}

pub(super) fn check_tuple(
    value: &Value,
    len: usize,
    context: &ErrorContext,
) -> Result<(), VmError> {
    let Value::Tuple(items) = value else {
        return Err(kind(context, "a tuple", value));
    };
    if items.len() == len {
        Ok(())
    } else {
        Err(count(context, "elements", len, items.len()))
    }
}

/// Compares the dimensions of a tensor or shape with the heap, and fills it.
pub(super) fn match_shape(
    value: &Value,
    dims: &[Match],
    heap: &mut Heap,
    context: &ErrorContext,
) -> Result<(), VmError> {
    if let Some((shape, _)) = tensor_info(value) {
        let given = shape.iter().map(|&dim| dim as i64);
        return match_dims(given, shape.len(), dims, heap, context);
    }
    match value {
        Value::Shape(shape) => match_dims(shape.iter().copied(), shape.len(), dims, heap, context),
        other => Err(kind(context, "a tensor or shape", other)),
    }
}

fn match_dims(
    given: impl Iterator<Item = i64>,
    len: usize,
    dims: &[Match],
    heap: &mut Heap,
    context: &ErrorContext,
) -> Result<(), VmError> {
    if len != dims.len() {
        return Err(count(context, "dimensions", dims.len(), len));
    }
    for (dim, (given, rule)) in given.zip(dims).enumerate() {
        match_number(given, *rule, heap).map_err(|expected| VmError::Dimension {
            context: Box::new(context.clone()),
            dim,
            expected,
            given,
        })?;
    }
    Ok(())
}

/// Compares a scalar with the heap, or fills it.
pub(super) fn match_scalar(
    given: i64,
    rule: Match,
    heap: &mut Heap,
    context: &ErrorContext,
) -> Result<(), VmError> {
    match_number(given, rule, heap).map_err(|expected| VmError::Scalar {
        context: Box::new(context.clone()),
        expected,
        given,
    })
}

/// The error is what the number must be.
fn match_number(given: i64, rule: Match, heap: &mut Heap) -> Result<(), i64> {
    let expected = match rule {
        Match::Skip => return Ok(()),
        Match::Store(slot) => {
            heap[slot] = given;
            return Ok(());
        }
        Match::Imm(expected) => expected,
        Match::Load(slot) => heap[slot],
    };
    if expected == given {
        Ok(())
    } else {
        Err(expected)
    }
}
