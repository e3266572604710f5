//! Whether functions of a module compute the same before and after passes, by the interpreter.

use std::collections::HashMap;

use libtest_mimic::Failed;
use weftile::interp::{Value, run_module};
use weftile::ir::graph::Function;
use weftile::ir::{Expr, Module, ShapeInfo, StructInfo, TensorInfo, Var};
use weftile::tensor::{DType, Tensor};

/// Runs each public function of `before` that has the same signature in `after`. One that the interpreter cannot run, as
/// it calls packed functions that are nowhere, is left out.
pub(crate) fn same(before: &Module, after: &Module) -> Result<(), Failed> {
    for (name, function) in before.functions().filter(|(_, f)| !f.private) {
        let same_params = after
            .function(name)
            .is_some_and(|after| signature(after) == signature(function));
        let Some(args) = arguments(function) else {
            continue;
        };
        let expected = run_module(before, name, &args, &HashMap::new());
        let (Ok(expected), true) = (expected, same_params) else {
            continue;
        };
        let got = run_module(after, name, &args, &HashMap::new());
        let got = got.map_err(|error| format!("`{name}` fails after the passes: {error}"))?;
        if !alike(&expected, &got) {
            return Err(format!("`{name}` computes {got:?}, not {expected:?}").into());
        }
    }
    Ok(())
}

/// Names and types of the parameters, and what the function gives.
fn signature(function: &Function) -> Vec<String> {
    let params = function.params.iter().map(|param| &function.values[*param]);
    params
        .map(|value| format!("{}: {}", value.name, value.sinfo))
        .chain([function.ret.to_string()])
        .collect()
}

/// Some value for each parameter; nothing if one takes something else than tensors, shapes and tuples of them.
fn arguments(function: &Function) -> Option<Vec<Value>> {
    let mut sizes: HashMap<Var, usize> = HashMap::new();
    let params = function.params.iter().enumerate();
    params
        .map(|(at, param)| value(&function.values[*param].sinfo, at, &mut sizes))
        .collect()
}

fn value(info: &StructInfo, seed: usize, sizes: &mut HashMap<Var, usize>) -> Option<Value> {
    match info {
        StructInfo::Tensor(TensorInfo {
            shape,
            dtype,
            vdevice: _,
        }) => {
            let shape = extents(shape, sizes)?;
            tensor(&shape, (*dtype)?, seed).map(Value::Tensor)
        }
        StructInfo::Shape(shape) => {
            let dims = extents(shape, sizes)?;
            Some(Value::Shape(dims.into_iter().map(|d| d as i64).collect()))
        }
        StructInfo::Tuple(items) => {
            let items = items.iter().enumerate();
            let items = items.map(|(at, item)| value(item, seed + 7 * (at + 1), sizes));
            Some(Value::Tuple(items.collect::<Option<_>>()?))
        }
        _ => None,
    }
}

/// Sizes of a tensor: all of one that only says how many there are, and of all symbolic variables, are equal, so that checks hold.
fn extents(shape: &ShapeInfo, sizes: &mut HashMap<Var, usize>) -> Option<Vec<usize>> {
    let mut extent = |e: &Expr| match (e.as_int(), e.as_var()) {
        (Some(size), _) => usize::try_from(size).ok(),
        (None, Some(var)) => Some(*sizes.entry(var.clone()).or_insert(8)),
        (None, None) => None,
    };
    match shape {
        ShapeInfo::Known(dims) => dims.iter().map(&mut extent).collect(),
        ShapeInfo::Ndim(count) => Some(vec![8; *count]),
        ShapeInfo::Unknown => None,
    }
}

fn tensor(shape: &[usize], dtype: DType, seed: usize) -> Option<Tensor> {
    let count = shape.iter().product::<usize>();
    let numbers = (0..count).map(|at| ((at + 1) * (seed + 3) % 11) as f32 / 4.0 - 1.0);
    match dtype {
        DType::F32 => Tensor::from_slice(shape, &numbers.collect::<Vec<_>>()).ok(),
        DType::BOOL => {
            let bytes: Vec<u8> = numbers.map(|v| u8::from(v > 0.0)).collect();
            Tensor::from_bytes(dtype, shape, &bytes).ok()
        }
        _ => None,
    }
}

/// Whether both are float32 and differ by no more than rounding: a pass may order sums and products anew.
fn close(a: &Tensor, b: &Tensor) -> bool {
    let numbers = |t: &Tensor| t.as_slice::<f32>().map(<[f32]>::to_vec);
    let (Ok(x), Ok(y)) = (numbers(a), numbers(b)) else {
        return false;
    };
    a.shape() == b.shape()
        && x.iter()
            .zip(&y)
            .all(|(x, y)| (x.is_nan() && y.is_nan()) || (x - y).abs() <= 1e-5 * (1.0 + y.abs()))
}

fn alike(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Tensor(a), Value::Tensor(b)) => a == b || close(a, b),
        (Value::Tuple(a), Value::Tuple(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| alike(a, b))
        }
        (Value::Shape(a), Value::Shape(b)) => a == b,
        (Value::Closure(_), Value::Closure(_)) => true,
        _ => format!("{a:?}") == format!("{b:?}"),
    }
}
