//! Calls of closures, and of loop programs and packed functions in destination-passing style.

use std::rc::Rc;

use super::module::{Closure, Frame, Run, Value, eval, unknown};
use super::{InterpError, run_prim_func_with};
use crate::ir::graph::DpsCallee;
use crate::ir::{ShapeInfo, StructInfo};
use crate::tensor::Tensor;
use crate::tensor::scalar::Scalar;

/// A function with values that follow its arguments.
pub(super) fn make_closure(value: &str, operands: &[Value]) -> Result<Value, InterpError> {
    let [Value::Closure(closure), Value::Tuple(bound)] = operands else {
        return Err(InterpError::WrongKind {
            value: value.to_owned(),
            expected: "a function and a tuple",
        });
    };
    Ok(Value::Closure(Rc::new(Closure {
        func: closure.func.clone(),
        around: closure.around.clone(),
        own: closure.own,
        bound: [bound.as_slice(), &closure.bound].concat(),
    })))
}

impl Run<'_> {
    pub(super) fn call_closure(
        &self,
        closure: &Value,
        mut args: Vec<Value>,
    ) -> Result<Value, InterpError> {
        let Value::Closure(closure) = closure else {
            return Err(InterpError::WrongKind {
                value: "what is called".to_owned(),
                expected: "a closure",
            });
        };
        let mut around = closure.around.clone();
        if let (Some(own), Some(outer)) = (closure.own, around.last_mut()) {
            let closure = Value::Closure(closure.clone());
            outer.frame.values.insert(own, closure);
        }
        args.extend(closure.bound.iter().cloned());
        self.call(&closure.func, args, &around)
    }

    pub(super) fn call_dps(
        &self,
        callee: &DpsCallee,
        args: Vec<Value>,
        scalars: &[Scalar],
        inplace: Option<&[Option<usize>]>,
        out: &StructInfo,
        frame: &Frame,
    ) -> Result<Value, InterpError> {
        let (DpsCallee::Prim(name) | DpsCallee::Packed(name)) = callee;
        let mut tensors = Vec::new();
        let mut passed = vec![];
        args.iter()
            .try_for_each(|arg| flatten(name, arg, &mut tensors, &mut passed))?;
        passed.extend_from_slice(scalars);
        let inputs = tensors.len();
        let outs = match out {
            StructInfo::Tuple(items) => items.iter().collect(),
            single => vec![single],
        };
        let overwritten = |at: usize| inplace.and_then(|list| list.get(at).copied().flatten());
        for (at, info) in outs.iter().enumerate() {
            if overwritten(at).is_none() {
                tensors.push(empty(name, info, frame)?);
            }
        }
        // The function may be handed the same tensor twice or a constant, so every argument becomes a tensor of its own.
        let mut owned = tensors
            .iter()
            .map(|t| Tensor::from_bytes(t.dtype(), t.shape(), t.bytes()))
            .collect::<Result<Vec<_>, _>>()?;
        match (
            callee,
            self.module.prim_func(name),
            self.packed.get(name.as_str()),
        ) {
            (_, Some(func), _) => run_prim_func_with(func, &mut owned, &passed)?,
            (DpsCallee::Packed(_), None, Some(packed)) => {
                packed(&mut owned).map_err(|message| InterpError::Packed {
                    name: name.clone(),
                    message,
                })?;
            }
            _ => return Err(unknown(name)),
        }
        let mut fresh = inputs;
        let mut results = (0..outs.len()).map(|at| {
            let position = overwritten(at).unwrap_or_else(|| {
                fresh += 1;
                fresh - 1
            });
            Value::Tensor(owned[position].clone())
        });
        match out {
            StructInfo::Tuple(_) => Ok(Value::Tuple(results.collect())),
            _ => Ok(results.next().expect("a single output has one result")),
        }
    }
}

/// The tensors and scalars that an argument is made of.
fn flatten(
    callee: &str,
    value: &Value,
    tensors: &mut Vec<Tensor>,
    scalars: &mut Vec<Scalar>,
) -> Result<(), InterpError> {
    match value {
        Value::Tensor(tensor) => tensors.push(tensor.clone()),
        Value::Scalar(scalar) => scalars.push(*scalar),
        Value::Tuple(items) => items
            .iter()
            .try_for_each(|item| flatten(callee, item, tensors, scalars))?,
        Value::Shape(_)
        | Value::Str(_)
        | Value::Closure(_)
        | Value::Storage(_)
        | Value::Placed(_) => {
            return Err(InterpError::WrongKind {
                value: format!("an argument of `{callee}`"),
                expected: "a tensor or a scalar",
            });
        }
    }
    Ok(())
}

/// An output that the callee fills.
fn empty(callee: &str, info: &StructInfo, frame: &Frame) -> Result<Tensor, InterpError> {
    let known = info.as_tensor().and_then(|t| match (&t.shape, t.dtype) {
        (ShapeInfo::Known(dims), Some(dtype)) => Some((dims, dtype)),
        _ => None,
    });
    let Some((dims, dtype)) = known else {
        return Err(InterpError::WrongKind {
            value: format!("the output of `{callee}`"),
            expected: "of known shape",
        });
    };
    let shape = dims
        .iter()
        .map(|d| Ok(eval(d, frame)?.as_int().max(0) as usize))
        .collect::<Result<Vec<_>, InterpError>>()?;
    Ok(Tensor::zeros(dtype, &shape)?)
}
