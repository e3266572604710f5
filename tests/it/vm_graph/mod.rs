//! Graph functions with branches, calls, tuples and `match_cast`: the machine on every device against the interpreter.

mod branches;
mod closures;
mod generated;
mod in_place;
mod tuples;

use std::collections::HashMap;

use weftile::interp::{self, Packed, run_module};
use weftile::ir::Module;
use weftile::pipeline::{CompileOptions, Verify, compile};
use weftile::runtime::{Device, Override, PackedError, Registry, Value};
use weftile::script;
use weftile::support::tolerance::{Tolerance, compare};
use weftile::tensor::{ScalarType, Tensor};
use weftile::vm::VirtualMachine;

use crate::vm::devices;

/// Loop programs that the functions here call.
const PRIMS: &str = r#"
    @T.prim_func
    def relu(x: T.handle, y: T.handle):
        n, m = T.int64(), T.int64()
        X = T.match_buffer(x, (n, m), "float32")
        Y = T.match_buffer(y, (n, m), "float32")
        for i, j in T.grid(n, m):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = T.max(X[vi, vj], T.float32(0))

    @T.prim_func
    def flip(x: T.handle, y: T.handle):
        n, m = T.int64(), T.int64()
        X = T.match_buffer(x, (n, m), "float32")
        Y = T.match_buffer(y, (n, m), "float32")
        for i, j in T.grid(n, m):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = T.float32(1) - X[vi, m - 1 - vj]

    @T.prim_func
    def add(x: T.handle, y: T.handle, z: T.handle):
        n, m = T.int64(), T.int64()
        X = T.match_buffer(x, (n, m), "float32")
        Y = T.match_buffer(y, (n, m), "float32")
        Z = T.match_buffer(z, (n, m), "float32")
        for i, j in T.grid(n, m):
            with T.block("Z"):
                vi, vj = T.axis.remap("SS", [i, j])
                Z[vi, vj] = X[vi, vj] + Y[vi, vj]

    @T.prim_func
    def twice(x: T.handle, y: T.handle):
        n, m = T.int64(), T.int64()
        X = T.match_buffer(x, (n, m), "float32")
        Y = T.match_buffer(y, (n, m * 2), "float32")
        for i, j in T.grid(n, m * 2):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = X[vi, vj // 2]

    @T.prim_func
    def both(x: T.handle, y: T.handle, z: T.handle):
        n, m = T.int64(), T.int64()
        X = T.match_buffer(x, (n, m), "float32")
        Y = T.match_buffer(y, (n, m), "float32")
        Z = T.match_buffer(z, (n, m), "float32")
        for i, j in T.grid(n, m):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = X[vi, vj] * T.float32(2)
        for i, j in T.grid(n, m):
            with T.block("Z"):
                vi, vj = T.axis.remap("SS", [i, j])
                Z[vi, vj] = X[vi, vj] * T.float32(3)

    @T.prim_func
    def less_one(i: T.Buffer((), "int32"), o: T.Buffer((), "int32")):
        with T.block("o"):
            vi = T.axis.spatial(1, 0)
            o[()] = i[()] - 1
"#;

/// A module with the loop programs above and these graph functions.
fn module(functions: &str) -> Module {
    let text = format!("@I.ir_module\nclass Module:\n{PRIMS}\n{functions}");
    script::parse("graph.py", &text).unwrap_or_else(|e| panic!("{e}"))
}

fn machine(module: &Module, target: &weftile::kernel::Target, device: Device) -> VirtualMachine {
    let mut registry = Registry::new();
    let is_small = |args: &mut [Value]| -> Result<Value, PackedError> {
        let small = args[0].as_tensor()?.as_slice::<i32>()?[0] < 1;
        args[1].as_tensor_mut()?.bytes_mut()?[0] = small.into();
        Ok(Value::None)
    };
    registry
        .register("test.is_small", is_small, Override::No)
        .expect("free");
    machine_with(module, target, device, &registry)
}

/// The same function for the interpreter. A condition is a `bool`, which shaders do not write.
fn is_small(tensors: &mut [Tensor]) -> Result<(), String> {
    let number = tensors[0].as_slice::<i32>().map_err(|e| e.to_string())?[0];
    tensors[1].bytes_mut().map_err(|e| e.to_string())?[0] = (number < 1).into();
    Ok(())
}

fn machine_with(
    module: &Module,
    target: &weftile::kernel::Target,
    device: Device,
    registry: &Registry,
) -> VirtualMachine {
    let options = CompileOptions {
        verify: Verify::Yes,
        ..CompileOptions::new(target.clone())
    };
    let exec = compile(module, &options).unwrap_or_else(|e| panic!("{e}"));
    VirtualMachine::with_registry(exec, device, registry).unwrap_or_else(|e| panic!("{e}"))
}

/// The argument as the interpreter takes it.
fn to_interp(value: &Value) -> interp::Value {
    match value {
        Value::Tensor(tensor) => interp::Value::Tensor(tensor.clone()),
        Value::Tuple(items) => interp::Value::Tuple(items.iter().map(to_interp).collect()),
        Value::Shape(dims) => interp::Value::Shape(dims.to_vec()),
        other => panic!("{} is no argument here", other.kind()),
    }
}

#[track_caller]
fn assert_same(expected: &interp::Value, got: &Value, place: &str) {
    match (expected, got) {
        (interp::Value::Tensor(expected), Value::Tensor(got)) => {
            let tolerance = Tolerance::of(expected.dtype().scalar, 4);
            if let Err(difference) = compare(expected, got, tolerance) {
                panic!("{place}: {difference}");
            }
        }
        (interp::Value::Tuple(expected), Value::Tuple(got)) => {
            assert_eq!(expected.len(), got.len(), "{place}");
            for (at, (expected, got)) in expected.iter().zip(got).enumerate() {
                assert_same(expected, got, &format!("{place}.{at}"));
            }
        }
        (interp::Value::Shape(expected), Value::Shape(got)) => {
            assert_eq!(expected.as_slice(), &got[..], "{place}");
        }
        (expected, got) => panic!("{place}: {expected:?} is not {got:?}"),
    }
}

/// Runs `main` on every device, twice over all lists of arguments, and compares with the interpreter.
#[track_caller]
fn check(functions: &str, calls: &[Vec<Value>]) {
    let module = module(functions);
    let expected: Vec<interp::Value> = calls
        .iter()
        .map(|args| {
            let args: Vec<interp::Value> = args.iter().map(to_interp).collect();
            let packed: HashMap<&str, Packed> = HashMap::from([("test.is_small", &is_small as _)]);
            let result = run_module(&module, "main", &args, &packed);
            result.unwrap_or_else(|e| panic!("{e}"))
        })
        .collect();
    for (target, device) in devices() {
        let name = device.to_string();
        let mut vm = machine(&module, &target, device);
        for round in 0..2 {
            for (at, (args, expected)) in calls.iter().zip(&expected).enumerate() {
                let result = vm.call("main", args).unwrap_or_else(|e| panic!("{e}"));
                let result = vm.to_host(result).expect("comes back");
                assert_same(expected, &result, &format!("{name}, {round}, call {at}"));
            }
        }
    }
}

/// The error of a call of `main`, the same on every device.
#[track_caller]
fn refused(functions: &str, args: &[Value]) -> String {
    let module = module(functions);
    let errors: Vec<String> = devices()
        .into_iter()
        .map(|(target, device)| {
            let mut vm = machine(&module, &target, device);
            let error = vm.call("main", args).expect_err("does not fit");
            error.to_string()
        })
        .collect();
    errors
        .iter()
        .for_each(|error| assert_eq!(*error, errors[0]));
    errors[0].clone()
}

fn matrix(rows: usize, cols: usize) -> Value {
    let elements: Vec<f32> = (0..rows * cols)
        .map(|i| (i * 37 % 19) as f32 / 4.0 - 2.0)
        .collect();
    Tensor::from_slice(&[rows, cols], &elements)
        .expect("as many as the shape has")
        .into()
}

pub(crate) fn truth(value: bool) -> Value {
    Tensor::from_bytes(ScalarType::Bool.into(), &[], &[value.into()])
        .expect("one byte")
        .into()
}

fn count(value: i32) -> Value {
    Tensor::from_slice(&[], &[value]).expect("one").into()
}
