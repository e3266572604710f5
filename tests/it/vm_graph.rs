//! Graph functions with branches, calls, tuples and `match_cast`: the machine on every device against the interpreter.

use std::collections::HashMap;

use weftile::interp::{self, InterpError, Packed, run_module};
use weftile::ir::Module;
use weftile::pipeline::{CompileOptions, Verify, compile};
use weftile::runtime::{Device, Override, PackedError, Registry, Value};
use weftile::script;
use weftile::support::tolerance::{Tolerance, compare};
use weftile::tensor::{DType, ScalarType, Tensor};
use weftile::vm::{VirtualMachine, VmError};

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

fn truth(value: bool) -> Value {
    Tensor::from_bytes(ScalarType::Bool.into(), &[], &[value.into()])
        .expect("one byte")
        .into()
}

fn count(value: i32) -> Value {
    Tensor::from_slice(&[], &[value]).expect("one").into()
}

#[test]
fn a_branch_is_taken() {
    let main = r#"
    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor(("n", "m"), "float32")):
        n, m = T.int64(), T.int64()
        cls = Module
        if c:
            a = R.call_tir(cls.relu, (x,), out_sinfo=R.Tensor((n, m), "float32"))
            y = R.call_tir(cls.flip, (a,), out_sinfo=R.Tensor((n, m), "float32"))
        else:
            y = R.call_tir(cls.flip, (x,), out_sinfo=R.Tensor((n, m), "float32"))
        z = R.call_tir(cls.add, (x, y), out_sinfo=R.Tensor((n, m), "float32"))
        return z
"#;
    let calls: Vec<Vec<Value>> = [(true, 3, 5), (false, 3, 5), (false, 1, 8), (true, 0, 2)]
        .map(|(c, n, m)| vec![truth(c), matrix(n, m)])
        .into();
    check(main, &calls);
}

/// Memory made in one branch is not there if the other one was taken.
#[test]
fn memory_of_a_branch_stays_in_it() {
    let main = r#"
    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor(("n", "m"), "float32")):
        n, m = T.int64(), T.int64()
        cls = Module
        before = R.call_tir(cls.relu, (x,), out_sinfo=R.Tensor((n, m), "float32"))
        if c:
            a = R.call_tir(cls.twice, (before,), out_sinfo=R.Tensor((n, m * 2), "float32"))
            b = R.call_tir(cls.twice, (a,), out_sinfo=R.Tensor((n, m * 4), "float32"))
            y = R.call_tir(cls.flip, (b,), out_sinfo=R.Tensor((n, m * 4), "float32"))
        else:
            d = R.call_tir(cls.twice, (x,), out_sinfo=R.Tensor((n, m * 2), "float32"))
            y = R.call_tir(cls.twice, (d,), out_sinfo=R.Tensor((n, m * 4), "float32"))
        e = R.call_tir(cls.relu, (y,), out_sinfo=R.Tensor((n, m * 4), "float32"))
        f = R.call_tir(cls.flip, (e,), out_sinfo=R.Tensor((n, m * 4), "float32"))
        g = R.call_tir(cls.add, (e, f), out_sinfo=R.Tensor((n, m * 4), "float32"))
        h = R.call_tir(cls.twice, (g,), out_sinfo=R.Tensor((n, m * 8), "float32"))
        i = R.call_tir(cls.flip, (h,), out_sinfo=R.Tensor((n, m * 8), "float32"))
        return i
"#;
    let calls: Vec<Vec<Value>> = [(false, 2), (true, 2), (false, 7), (true, 7), (false, 1)]
        .map(|(c, n)| vec![truth(c), matrix(n, 3)])
        .into();
    check(main, &calls);
}

#[test]
fn branches_nest_and_give_tuples() {
    let main = r#"
    @R.function
    def main(c: R.Tensor((), "bool"), d: R.Tensor((), "bool"), x: R.Tensor(("n", "m"), "float32")):
        n, m = T.int64(), T.int64()
        cls = Module
        if c:
            if d:
                a = R.call_tir(cls.relu, (x,), out_sinfo=R.Tensor((n, m), "float32"))
                t = (a, x)
            else:
                t = (x, x)
            y = t
        else:
            b = R.call_tir(cls.flip, (x,), out_sinfo=R.Tensor((n, m), "float32"))
            y = (x, b)
        p = y[0]
        q = y[1]
        z = R.call_tir(cls.add, (p, q), out_sinfo=R.Tensor((n, m), "float32"))
        r = (z, y)
        return r
"#;
    let calls: Vec<Vec<Value>> = [(true, true), (true, false), (false, true), (false, false)]
        .map(|(c, d)| vec![truth(c), truth(d), matrix(4, 3)])
        .into();
    check(main, &calls);
}

#[test]
fn functions_call_each_other() {
    let functions = r#"
    @R.function
    def main(x: R.Tensor(("n", "m"), "float32")):
        cls = Module
        a = cls.layer(x)
        b = cls.layer(a)
        c = cls.pair(b, x)
        d = c[1]
        e = cls.layer(d)
        return (a, b, c, e)

    @R.function
    def layer(x: R.Tensor(("p", "q"), "float32")) -> R.Tensor(("p", "q"), "float32"):
        p, q = T.int64(), T.int64()
        cls = Module
        y = R.call_tir(cls.flip, (x,), out_sinfo=R.Tensor((p, q), "float32"))
        z = R.call_tir(cls.add, (x, y), out_sinfo=R.Tensor((p, q), "float32"))
        w = R.call_tir(cls.relu, (z,), out_sinfo=R.Tensor((p, q), "float32"))
        return w

    @R.function
    def pair(x: R.Tensor(("p", "q"), "float32"), y: R.Tensor(("p", "q"), "float32")):
        p, q = T.int64(), T.int64()
        cls = Module
        z = R.call_tir(cls.both, (x,), out_sinfo=[R.Tensor((p, q), "float32"), R.Tensor((p, q), "float32")])
        a = z[0]
        b = z[1]
        s = R.call_tir(cls.add, (b, y), out_sinfo=R.Tensor((p, q), "float32"))
        return (a, s)
"#;
    check(
        functions,
        &[vec![matrix(3, 4)], vec![matrix(1, 1)], vec![matrix(5, 2)]],
    );
}

const RECURSION: &str = r#"
    @R.function
    def main(i: R.Tensor((), "int32"), x: R.Tensor(("n", "m"), "float32")) -> R.Tensor(("n", "m"), "float32"):
        n, m = T.int64(), T.int64()
        cls = Module
        c = R.call_dps_packed("test.is_small", (i,), R.Tensor((), "bool"))
        if c:
            y = x
        else:
            j = R.call_tir(cls.less_one, (i,), out_sinfo=R.Tensor((), "int32"))
            a = R.call_tir(cls.flip, (x,), out_sinfo=R.Tensor((n, m), "float32"))
            b: R.Tensor((n, m), "float32") = cls.main(j, a)
            y = R.call_tir(cls.add, (a, b), out_sinfo=R.Tensor((n, m), "float32"))
        return y
"#;

#[test]
fn functions_call_themselves() {
    let calls: Vec<Vec<Value>> = [0, 1, 5, 12, 3]
        .map(|i| vec![count(i), matrix(2, 3)])
        .into();
    check(RECURSION, &calls);
}

#[test]
fn calls_nest_only_so_deep() {
    let module = module(RECURSION);
    for (target, device) in devices() {
        let mut vm = machine(&module, &target, device);
        let error = vm.call("main", &[count(10_000), matrix(2, 3)]);
        assert!(matches!(error, Err(VmError::Recursion(_))), "{error:?}");
        let again = vm.call("main", &[count(100), matrix(2, 3)]);
        again.expect("a refused call leaves the machine usable");
    }
    let args = [count(10_000), matrix(2, 3)].each_ref().map(to_interp);
    let packed: HashMap<&str, Packed> = HashMap::from([("test.is_small", &is_small as _)]);
    let error = run_module(&module, "main", &args, &packed);
    assert!(matches!(error, Err(InterpError::Recursion(_))), "{error:?}");
}

#[test]
fn tuples_are_taken_and_given() {
    let main = r#"
    @R.function
    def main(t: R.Tuple(R.Tensor(("n", "m"), "float32"), R.Tuple(R.Tensor(("n", "m"), "float32"), R.Shape(["k"]))),
             y: R.Tensor(("n", "k"), "float32")):
        n, m, k = T.int64(), T.int64(), T.int64()
        cls = Module
        a = t[0]
        u = t[1]
        b = u[0]
        s = R.call_tir(cls.add, (a, b), out_sinfo=R.Tensor((n, m), "float32"))
        z = R.call_tir(cls.relu, (y,), out_sinfo=R.Tensor((n, k), "float32"))
        r = (u, ((s, s), z), R.shape([m, k * 2, n + k]), t)
        return r
"#;
    let args = |n: usize, m, k: usize| {
        let shape = Value::Shape([k as i64].into());
        let inner = Value::Tuple(vec![matrix(n, m), shape]);
        vec![Value::Tuple(vec![matrix(n, m), inner]), matrix(n, k)]
    };
    check(main, &[args(2, 3, 4), args(5, 1, 2), args(2, 3, 4)]);
    let mut wrong = args(2, 3, 4);
    wrong[1] = matrix(2, 5);
    assert_eq!(
        refused(main, &wrong),
        "dimension 1 of `y` must be k = 4, got 5: ErrorContext(fn=main, loc=param[1], param=y, \
         annotation=R.Tensor((n, k), dtype=\"float32\"))"
    );
    let shape = Value::Shape([2, 3].into());
    let wrong = [Value::Tuple(vec![matrix(2, 3), shape]), matrix(2, 5)];
    assert_eq!(
        refused(main, &wrong),
        "`t` must be a tuple, got a shape: ErrorContext(fn=main, loc=param[0][1], param=t, \
         annotation=R.Tuple(R.Tensor((n, m), dtype=\"float32\"), R.Shape([k])))"
    );
    let inner = Value::Tuple(vec![matrix(3, 3), Value::Shape([4].into())]);
    let wrong = [Value::Tuple(vec![matrix(2, 3), inner]), matrix(2, 4)];
    assert_eq!(
        refused(main, &wrong),
        "dimension 0 of `t` must be n = 2, got 3: ErrorContext(fn=main, loc=param[0][1][0], param=t, \
         annotation=R.Tensor((n, m), dtype=\"float32\"))"
    );
    let wrong = [Value::Tuple(vec![matrix(2, 3)]), matrix(2, 4)];
    assert!(refused(main, &wrong).starts_with("`t` must have 2 elements, got 1: "));
}

#[test]
fn sizes_are_bound_by_match_cast() {
    let main = r#"
    @R.function
    def main(x: R.Tensor("float32", ndim=2), s: R.Shape(ndim=2)):
        n, m, k = T.int64(), T.int64(), T.int64()
        cls = Module
        y = R.match_cast(x, R.Tensor((n, m * 2), "float32"))
        t = R.match_cast(s, R.Shape([m, k]))
        z = R.call_tir(cls.twice, (y,), out_sinfo=R.Tensor((n, m * 4), "float32"))
        return (z, R.shape([n, m, k, n * k]))
"#;
    // `m` is read from `s`, so it must be known when `x` is matched: the other way round it is an error.
    let text = format!("@I.ir_module\nclass Module:\n{PRIMS}\n{main}");
    let error = script::parse("graph.py", &text).expect_err("m is not defined");
    assert!(
        error
            .to_string()
            .contains("symbolic variable m is not defined"),
        "{error}"
    );
    let main = main.replace(
        "        y = R.match_cast(x, R.Tensor((n, m * 2), \"float32\"))\n        t = R.match_cast(s, R.Shape([m, k]))\n",
        "        t = R.match_cast(s, R.Shape([m, k]))\n        y = R.match_cast(x, R.Tensor((n, m * 2), \"float32\"))\n",
    );
    let shape = |dims: [i64; 2]| Value::Shape(dims.into());
    check(
        &main,
        &[
            vec![matrix(3, 4), shape([2, 9])],
            vec![matrix(1, 6), shape([3, 0])],
            vec![matrix(3, 4), shape([2, 5])],
        ],
    );
    assert_eq!(
        refused(&main, &[matrix(3, 5), shape([2, 9])]),
        "dimension 1 of `y` must be m * 2 = 4, got 5: ErrorContext(fn=main, loc=match_cast, param=y, \
         annotation=R.Tensor((n, m * 2), dtype=\"float32\"))"
    );
    let ints = Tensor::zeros(DType::I32, &[3, 4]).expect("small");
    let message = refused(&main, &[ints.into(), shape([2, 9])]);
    assert!(
        message.starts_with("`x` must be of float32, got int32: "),
        "{message}"
    );
}

#[test]
fn what_is_not_known_until_a_cast_is_checked_by_it() {
    let main = r#"
    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Object):
        cls = Module
        if c:
            n, m = T.int64(), T.int64()
            a = R.match_cast(x, R.Tensor((n, m), "float32"))
            b = R.call_tir(cls.twice, (a,), out_sinfo=R.Tensor((n, m * 2), "float32"))
            y = R.call_tir(cls.flip, (b,), out_sinfo=R.Tensor((n, m * 2), "float32"))
        else:
            y = R.match_cast(x, R.Tensor((2, 2), "float32"))
        return y
"#;
    check(
        main,
        &[
            vec![truth(true), matrix(3, 5)],
            vec![truth(false), matrix(2, 2)],
            vec![truth(true), matrix(1, 2)],
        ],
    );
    assert_eq!(
        refused(main, &[truth(false), matrix(2, 3)]),
        "dimension 1 of `y_else` must be 2, got 3: ErrorContext(fn=main, loc=match_cast, param=y_else, \
         annotation=R.Tensor((2, 2), dtype=\"float32\"))"
    );
    let shape = Value::Shape([2, 2].into());
    assert!(
        refused(main, &[truth(true), shape]).starts_with("`a` must be a tensor, got a shape: ")
    );
}

/// Writes over its second parameter, which in-place calls pass as an input.
const OVERWRITE: &str = r#"
    @T.prim_func
    def overwrite(x: T.handle, y: T.handle):
        n, m = T.int64(), T.int64()
        X = T.match_buffer(x, (n, m), "float32")
        Y = T.match_buffer(y, (n, m), "float32")
        for i, j in T.grid(n, m):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = X[vi, vj] + T.float32(1)
"#;

#[test]
fn tensors_are_changed_in_place() {
    let functions = r#"
    @R.function
    def main(x: R.Tensor(("n", "m"), "float32")):
        n, m = T.int64(), T.int64()
        cls = Module
        a = R.call_tir(cls.relu, (x,), out_sinfo=R.Tensor((n, m), "float32"))
        b = R.call_tir_inplace(cls.overwrite, (x, a), out_sinfo=R.Tensor((n, m), "float32"), inplace_indices=[1])
        c = R.call_tir(cls.flip, (b,), out_sinfo=R.Tensor((n, m), "float32"))
        return c
"#;
    check(
        &format!("{OVERWRITE}{functions}"),
        &[vec![matrix(3, 4)], vec![matrix(2, 2)]],
    );
}

#[test]
fn what_others_hold_is_copied_before_it_is_changed() {
    let functions = r#"
    @R.function
    def main(x: R.Tensor((1, 2), "float32"), y: R.Tensor((1, 2), "float32")):
        cls = Module
        a = R.call_tir_inplace(cls.overwrite, (x, y), out_sinfo=R.Tensor((1, 2), "float32"), inplace_indices=[1])
        k = R.const([[1.5, 2.5]], "float32")
        b = R.call_tir_inplace(cls.overwrite, (a, k), out_sinfo=R.Tensor((1, 2), "float32"), inplace_indices=[1])
        return (a, b)
"#;
    let text = format!("{OVERWRITE}{functions}");
    let args = vec![matrix(1, 2), matrix(1, 2)];
    check(&text, &[args.clone(), args.clone()]);
    let module = module(&text);
    for (target, device) in devices() {
        let mut vm = machine(&module, &target, device);
        let there: Vec<Value> = args
            .iter()
            .map(|arg| vm.to_device(arg.clone()).expect("small"))
            .collect();
        vm.call("main", &there).expect("runs");
        for (arg, there) in args.iter().zip(there) {
            let now = vm.to_host(there).expect("comes back");
            assert_eq!(now.as_tensor(), arg.as_tensor(), "an argument is as it was");
        }
    }
}

/// Packed functions in both branches: on a GPU their arguments and results are copied.
#[test]
fn packed_functions_are_called_in_branches() {
    let main = r#"
    @R.function(pure=False)
    def main(c: R.Tensor((), "bool"), x: R.Tensor(("n", "m"), "float32")):
        n, m = T.int64(), T.int64()
        cls = Module
        if c:
            a = R.call_dps_packed("test.plus", (x,), R.Tensor((n, m), "float32"))
            y = R.call_dps_packed("test.plus", (a,), R.Tensor((n, m), "float32"))
        else:
            y = R.call_tir(cls.relu, (x,), out_sinfo=R.Tensor((n, m), "float32"))
        d = R.call_tir(cls.flip, (y,), out_sinfo=R.Tensor((n, m), "float32"))
        e = R.call_packed("test.same", d, sinfo_args=R.Tensor((n, m), "float32"))
        z = R.call_tir(cls.add, (e, y), out_sinfo=R.Tensor((n, m), "float32"))
        f = R.call_dps_packed("test.plus", (z,), R.Tensor((n, m), "float32"))
        return f
"#;
    let mut registry = Registry::new();
    let plus = |args: &mut [Value]| -> Result<Value, PackedError> {
        let [x, out] = args else {
            return Err("two arguments".into());
        };
        let sum = x.as_tensor()?.as_array::<f32>()?.mapv(|v| v + 1.0);
        out.as_tensor_mut()?.as_array_mut::<f32>()?.assign(&sum);
        Ok(Value::None)
    };
    let same = |args: &mut [Value]| -> Result<Value, PackedError> { Ok(args[0].clone()) };
    registry
        .register("test.plus", plus, Override::No)
        .expect("free");
    registry
        .register("test.same", same, Override::No)
        .expect("free");
    let module = module(main);
    for (target, device) in devices() {
        let mut vm = machine_with(&module, &target, device, &registry);
        for (c, rows) in [(false, 3), (true, 3), (false, 5), (true, 5), (false, 1)] {
            let x = matrix(rows, 4);
            let given = x
                .as_tensor()
                .expect("a tensor")
                .as_array::<f32>()
                .expect("f32")
                .to_owned();
            let result = vm
                .call("main", &[truth(c), x])
                .unwrap_or_else(|e| panic!("{e}"));
            let result = vm.to_host(result).expect("comes back");
            let y = given.mapv(|v| if c { v + 2.0 } else { v.max(0.0) });
            for ((i, j), got) in result
                .as_tensor()
                .expect("a tensor")
                .as_array::<f32>()
                .expect("f32")
                .into_dimensionality::<ndarray::Ix2>()
                .expect("a matrix")
                .indexed_iter()
            {
                let expected = 1.0 - y[[i, 3 - j]] + y[[i, j]] + 1.0;
                assert!(
                    (got - expected).abs() < 1e-5,
                    "{c} {i} {j}: {got} {expected}"
                );
            }
        }
    }
}

/// Graph functions made at random from tuples, branches, calls and loop programs. Every value is a matrix of `(n, m)`.
struct Generator {
    state: u64,
    names: usize,
}

impl Generator {
    fn below(&mut self, end: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 33) as usize % end
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    fn pick(&mut self, live: &[String]) -> String {
        let at = self.below(live.len());
        live[at].clone()
    }

    /// Statements that bind new names, and the names then.
    fn body(
        &mut self,
        live: &[String],
        depth: usize,
        indent: &str,
        out: &mut String,
    ) -> Vec<String> {
        let mut live = live.to_vec();
        for _ in 0..1 + self.below(4) {
            let (a, b) = (self.pick(&live), self.pick(&live));
            let name = self.name();
            let info = "R.Tensor((n, m), \"float32\")";
            let line = match self.below(if depth < 2 { 8 } else { 7 }) {
                0 => format!("R.call_tir(cls.relu, ({a},), out_sinfo={info})"),
                1 | 2 => format!("R.call_tir(cls.add, ({a}, {b}), out_sinfo={info})"),
                3 => format!("R.call_tir(cls.flip, ({a},), out_sinfo={info})"),
                4 => format!("cls.layer({a}, ({b}, ({a},)))"),
                5 => {
                    let tuple = self.name();
                    out.push_str(&format!("{indent}{tuple} = (({a}, {b}), {b})\n"));
                    let inner = self.name();
                    out.push_str(&format!("{indent}{inner} = {tuple}[0]\n"));
                    format!("{inner}[1]")
                }
                6 => {
                    let pair = self.name();
                    out.push_str(&format!(
                        "{indent}{pair} = R.call_tir(cls.both, ({a},), out_sinfo=[{info}, {info}])\n"
                    ));
                    format!("{pair}[{}]", self.below(2))
                }
                _ => {
                    let cond = ["c", "d"][self.below(2)];
                    let inside = format!("{indent}    ");
                    for head in [format!("if {cond}"), "else".to_owned()] {
                        out.push_str(&format!("{indent}{head}:\n"));
                        let inner = self.body(&live, depth + 1, &inside, out);
                        let last = self.pick(&inner);
                        out.push_str(&format!("{inside}{name} = {last}\n"));
                    }
                    live.push(name);
                    continue;
                }
            };
            out.push_str(&format!("{indent}{name} = {line}\n"));
            live.push(name);
        }
        live
    }
}

#[test]
fn generated_graph_functions_agree() {
    let layer = r#"
    @R.function
    def layer(x: R.Tensor(("n", "m"), "float32"), t: R.Tuple(R.Tensor(("n", "m"), "float32"), R.Tuple(R.Tensor(("n", "m"), "float32")))) -> R.Tensor(("n", "m"), "float32"):
        n, m = T.int64(), T.int64()
        cls = Module
        y = t[0]
        a = R.call_tir(cls.flip, (y,), out_sinfo=R.Tensor((n, m), "float32"))
        b = R.call_tir(cls.add, (x, a), out_sinfo=R.Tensor((n, m), "float32"))
        u = t[1]
        z = u[0]
        o = R.call_tir(cls.add, (b, z), out_sinfo=R.Tensor((n, m), "float32"))
        w = R.call_tir(cls.relu, (o,), out_sinfo=R.Tensor((n, m), "float32"))
        return w
"#;
    for seed in 1..=12u64 {
        let mut generator = Generator {
            state: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15),
            names: 0,
        };
        let mut body = String::new();
        let live = ["x".to_owned(), "y".to_owned()];
        let live = generator.body(&live, 0, "        ", &mut body);
        let results: Vec<String> = (0..3).map(|_| generator.pick(&live)).collect();
        let main = format!(
            "    @R.function\n    def main(c: R.Tensor((), \"bool\"), d: R.Tensor((), \"bool\"), \
             x: R.Tensor((\"n\", \"m\"), \"float32\"), y: R.Tensor((\"n\", \"m\"), \"float32\")):\n        \
             n, m = T.int64(), T.int64()\n        cls = Module\n{body}        return ({})\n",
            results.join(", ")
        );
        let calls: Vec<Vec<Value>> = [(true, true), (false, true), (true, false), (false, false)]
            .map(|(c, d)| vec![truth(c), truth(d), matrix(2, 3), matrix(2, 3)])
            .into();
        check(&format!("{layer}\n{main}"), &calls);
    }
}
