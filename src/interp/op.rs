//! Calls of operators: run as the loop program that their definition makes for the operands at hand.

use super::module::Value;
use super::{InterpError, run_prim_func_with};
use crate::ir::graph::{Arg, Op, OpCall};
use crate::ir::{AttrValue, Attrs, Expr, ShapeInfo, StructInfo};
use crate::ops::{self, Compute, LegalizeError, MachineOp, Operand, Threads};
use crate::tensor::scalar::Scalar;
use crate::tensor::{DType, HostArgs, HostResult, Tensor, host_op};

/// The result of a call with these values for `args`; expressions in `attrs` are constants.
pub(super) fn call(
    op: Op,
    args: &[Arg],
    values: &[Value],
    attrs: &Attrs,
) -> Result<Value, InterpError> {
    let operands: Vec<_> = values.iter().zip(args).map(|(v, a)| info(v, a)).collect();
    let shape = args.iter().zip(values).find_map(|(a, v)| open_shape(a, v));
    let args: Vec<_> = values
        .iter()
        .zip(args)
        .map(|(v, a)| concrete(v, a))
        .collect();
    let call = OpCall::new(op, &args, &operands, attrs);
    let failed = |error: LegalizeError| InterpError::Operator(Box::new(error));
    let result = call.infer().map_err(|error| failed(error.into()))?;
    match ops::def(op).compute {
        Compute::Machine(machine) => return run_machine(machine, values, &result),
        Compute::View(_) => {
            let inferred = || {
                result_types(&result)
                    .into_iter()
                    .next()
                    .map(|(shape, _)| shape)
            };
            return reshaped(values, shape.or_else(inferred));
        }
        _ => {}
    }
    if let Compute::Host(host) = ops::def(op).compute {
        let numbers = (host.numbers)(&call).map_err(|error| failed(error.into()))?;
        let mut args = values.to_vec();
        if let Some(at) = host.message {
            let format = attrs.get("format").and_then(AttrValue::as_str);
            args.insert(at, Value::Str(format.unwrap_or_default().into()));
        } else {
            args.retain(|value| matches!(value, Value::Tensor(_) | Value::Shape(_)));
        }
        return run_host(host.name, &args, &numbers);
    }
    let kernel = ops::kernel(call, &result, op.name(), Threads::Few).map_err(failed)?;
    let mut tensors = Vec::new();
    for operand in &kernel.args {
        let value = match *operand {
            Operand::Whole(index) => &values[index],
            Operand::Item(index, at) => match &values[index] {
                Value::Tuple(items) => &items[at],
                other => other,
            },
        };
        let Value::Tensor(tensor) = value else {
            return Err(InterpError::WrongKind {
                value: format!("an operand of `{op}`"),
                expected: "a tensor",
            });
        };
        tensors.push(Tensor::from_bytes(
            tensor.dtype(),
            tensor.shape(),
            tensor.bytes(),
        )?);
    }
    let inputs = tensors.len();
    for (shape, dtype) in result_types(&result) {
        tensors.push(Tensor::zeros(dtype, &shape)?);
    }
    run_prim_func_with(&kernel.func, &mut tensors, &[])?;
    let mut results = tensors.split_off(inputs).into_iter().map(Value::Tensor);
    Ok(match result {
        StructInfo::Tuple(_) => Value::Tuple(results.collect()),
        _ => results.next().expect("one result"),
    })
}

/// What the virtual machine does for the operator without a kernel.
pub(super) fn machine(op: Op) -> Option<MachineOp> {
    match ops::def(op).compute {
        Compute::Machine(machine) => Some(machine),
        Compute::Kernel(_) | Compute::View(_) | Compute::Host(_) | Compute::Nothing(_) => None,
    }
}

/// The result of a function of the host for these values, and numbers after them.
pub(super) fn run_host(
    name: &str,
    values: &[Value],
    numbers: &[i64],
) -> Result<Value, InterpError> {
    // Values are on the host, and nobody writes them.
    if let ("vm.builtin.copy" | "vm.builtin.to_device" | "vm.builtin.to_host", [value]) =
        (name, values)
    {
        return Ok(value.clone());
    }
    let unknown = || InterpError::UnknownFunction {
        name: name.to_owned(),
    };
    let run = host_op(name).ok_or_else(unknown)?;
    let mut args = HostArgs::default();
    for value in values {
        match value {
            Value::Tensor(tensor) => args.tensors.push(tensor.clone()),
            Value::Shape(dims) => args.numbers.extend(dims),
            Value::Scalar(Scalar::Int(number)) => args.numbers.push(*number),
            Value::Str(text) => args.texts.push(text.to_string()),
            Value::Scalar(_)
            | Value::Tuple(_)
            | Value::Closure(_)
            | Value::Storage(_)
            | Value::Placed(_) => {
                return Err(InterpError::WrongKind {
                    value: format!("an argument of `{name}`"),
                    expected: "a tensor, a shape or an integer",
                });
            }
        }
    }
    args.numbers.extend(numbers);
    let result = run(&args).map_err(|error| InterpError::Packed {
        name: name.to_owned(),
        message: error.to_string(),
    })?;
    Ok(match result {
        HostResult::Tensor(tensor) => Value::Tensor(tensor),
        HostResult::Tuple(tensors) => {
            Value::Tuple(tensors.into_iter().map(Value::Tensor).collect())
        }
        HostResult::Shape(dims) => Value::Shape(dims),
    })
}

/// The argument with the numbers that its shape or scalar has at run time.
fn concrete(value: &Value, arg: &Arg) -> Arg {
    match value {
        Value::Shape(dims) => Arg::Shape(dims.iter().map(|&d| Expr::i64(d)).collect()),
        Value::Scalar(_) => match info(value, arg) {
            StructInfo::Prim {
                dtype: _,
                value: Some(e),
            } => Arg::Prim(e),
            _ => arg.clone(),
        },
        Value::Tensor(_)
        | Value::Tuple(_)
        | Value::Str(_)
        | Value::Closure(_)
        | Value::Storage(_)
        | Value::Placed(_) => arg.clone(),
    }
}

fn info(value: &Value, arg: &Arg) -> StructInfo {
    let dims = |shape: &[usize]| shape.iter().map(|&d| Expr::i64(d as i64)).collect();
    match value {
        Value::Tensor(tensor) => StructInfo::tensor(dims(tensor.shape()), tensor.dtype()),
        Value::Tuple(items) => {
            let args = match arg {
                Arg::Tuple(args) => args.as_slice(),
                _ => &[],
            };
            let item = |(at, item): (usize, &Value)| info(item, args.get(at).unwrap_or(arg));
            StructInfo::Tuple(items.iter().enumerate().map(item).collect())
        }
        Value::Shape(shape) => {
            let dims = shape.iter().map(|&d| Expr::i64(d));
            StructInfo::Shape(ShapeInfo::Known(dims.collect()))
        }
        Value::Scalar(scalar) => {
            let dtype = match (arg, scalar) {
                (Arg::Prim(e), _) => e.dtype(),
                (_, Scalar::Int(_)) => DType::I64,
                (_, Scalar::Float(_)) => DType::F32,
            };
            let value = match scalar {
                Scalar::Int(v) => Expr::constant(*v, dtype),
                Scalar::Float(v) => Expr::float(*v, dtype),
            };
            StructInfo::Prim {
                dtype,
                value: Some(value),
            }
        }
        Value::Str(_) | Value::Closure(_) | Value::Storage(_) | Value::Placed(_) => {
            StructInfo::Object
        }
    }
}

/// Shapes and element types of results, which are known: all operands are.
fn result_types(result: &StructInfo) -> Vec<(Vec<usize>, DType)> {
    match result {
        StructInfo::Tuple(items) => items.iter().flat_map(result_types).collect(),
        StructInfo::Tensor(info) => match (info.shape.dims(), info.dtype) {
            (Some(dims), Some(dtype)) => {
                let extent = |d: &Expr| usize::try_from(d.as_int().unwrap_or(0)).unwrap_or(0);
                vec![(dims.iter().map(extent).collect(), dtype)]
            }
            _ => vec![],
        },
        _ => vec![],
    }
}

/// The extents that an argument says, if one of them is a number only at run time and none has to be inferred. Inference from numbers
/// takes a 0 for the extent of the operand, which only a 0 that is written means.
fn open_shape(arg: &Arg, value: &Value) -> Option<Vec<usize>> {
    let (Arg::Shape(written), Value::Shape(dims)) = (arg, value) else {
        return None;
    };
    let open = written.iter().any(|e| e.as_int().is_none());
    let inferred = written.iter().any(|e| e.as_int().is_some_and(|e| e < 1));
    let dims = dims.iter().map(|&d| usize::try_from(d).ok());
    dims.collect::<Option<_>>().filter(|_| open && !inferred)
}

/// The same elements in another shape.
fn reshaped(values: &[Value], shape: Option<Vec<usize>>) -> Result<Value, InterpError> {
    let wrong = |expected| InterpError::WrongKind {
        value: "the operand".to_owned(),
        expected,
    };
    let Some(Value::Tensor(tensor)) = values.first() else {
        return Err(wrong("a tensor"));
    };
    let shape = shape.ok_or_else(|| wrong("a tensor of known shape"))?;
    Ok(Value::Tensor(tensor.reshape(&shape)?))
}

fn run_machine(op: MachineOp, values: &[Value], result: &StructInfo) -> Result<Value, InterpError> {
    let wrong = |expected| InterpError::WrongKind {
        value: "the operand".to_owned(),
        expected,
    };
    let x = values.first().ok_or_else(|| wrong("there"))?;
    let tensor = match x {
        Value::Tensor(x) => Ok(x),
        _ => Err(wrong("a tensor")),
    };
    Ok(match op {
        MachineOp::ShapeOf => Value::Shape(tensor?.shape().iter().map(|&d| d as i64).collect()),
        MachineOp::Forward => x.clone(),
        MachineOp::MakeClosure
        | MachineOp::InvokeClosure
        | MachineOp::Alloc
        | MachineOp::AllocStorage
        | MachineOp::AllocTensor
        | MachineOp::Kill
        | MachineOp::CallProgram
        | MachineOp::CallBuiltin
        | MachineOp::Null => {
            return Err(wrong("one that the caller runs"));
        }
        MachineOp::Scalar => {
            let value = match result {
                StructInfo::Prim { dtype: _, value } => value.as_ref().and_then(Expr::as_int),
                _ => None,
            };
            Value::Scalar(Scalar::Int(value.ok_or_else(|| wrong("a known tensor"))?))
        }
    })
}
