//! Calls that a machine keeps, names of arguments, hooks around calls, and the time that calls take.

use std::slice::from_ref;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use weftile::artifact::Executable;
use weftile::codegen_cpu::Backend;
use weftile::kernel::Target;
use weftile::runtime::{Device, Value};
use weftile::runtime_gpu::{self, Checks};
use weftile::tensor::Tensor;
use weftile::vm::{IncludeReturn, TimeOptions, Verdict, VirtualMachine, VmError};

use crate::vm::{back_ends, build, cpu, devices};

const MODULE: &str = r#"
@I.ir_module
class Module:
    @T.prim_func
    def minus(x: T.handle, y: T.handle, z: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,), "float32")
        Y = T.match_buffer(y, (n,), "float32")
        Z = T.match_buffer(z, (n,), "float32")
        for i in range(n):
            with T.block("Z"):
                vi = T.axis.spatial(n, i)
                Z[vi] = X[vi] - Y[vi]

    @R.function
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("n",), "float32")):
        n = T.int64()
        cls = Module
        with R.dataflow():
            z = R.call_tir(cls.minus, (x, y), out_sinfo=R.Tensor((n,), "float32"))
            R.output(z)
        return z

    @R.function
    def twice(x: R.Tensor(("n",), "float32"), y: R.Tensor(("n",), "float32")):
        n = T.int64()
        cls = Module
        z = cls.main(x, y)
        w = R.call_tir(cls.minus, (z, y), out_sinfo=R.Tensor((n,), "float32"))
        return w
"#;

fn vector(elements: &[f32]) -> Value {
    let tensor = Tensor::from_slice(&[elements.len()], elements);
    Value::from(tensor.expect("as many"))
}

fn elements(vm: &mut VirtualMachine, value: Value) -> Vec<f32> {
    let value = vm.to_host(value).expect("comes back");
    let tensor = value.as_tensor().expect("a tensor");
    tensor.as_slice::<f32>().expect("f32").to_vec()
}

#[test]
fn a_saved_call_has_its_last_arguments() {
    for (target, device) in devices() {
        let mut vm = VirtualMachine::new(build(MODULE, &target), device).expect("ready");
        let (x, y) = (vector(&[5.0, 7.0]), vector(&[1.0, 2.0]));
        let less = vm
            .save_function("main", "less", from_ref(&y), IncludeReturn::Yes)
            .expect("saved");
        let z = vm.call("less", from_ref(&x)).expect("runs");
        assert_eq!(elements(&mut vm, z), [4.0, 5.0]);
        vm.save_function("less", "all", from_ref(&x), IncludeReturn::Yes)
            .expect("saved");
        for _ in 0..2 {
            let z = vm.call("all", &[]).expect("runs");
            assert_eq!(elements(&mut vm, z), [4.0, 5.0]);
        }
        // A name that is taken by a saved call is given to the new one, and handles name that.
        vm.save_function("main", "less", from_ref(&x), IncludeReturn::Yes)
            .expect("saved");
        let z = vm.call_func(less, from_ref(&y)).expect("runs");
        assert_eq!(elements(&mut vm, z), [-4.0, -5.0]);
        let z = vm.call("all", &[]).expect("what was saved of it stays");
        assert_eq!(elements(&mut vm, z), [4.0, 5.0]);
        // Only run, as by a hook that sees what the function computes.
        let seen = Arc::new(Mutex::new(0));
        let count = seen.clone();
        vm.save_function("main", "timed", &[x.clone(), y.clone()], IncludeReturn::No)
            .expect("saved");
        vm.set_instrument(move |event| {
            *count.lock().expect("alone") += usize::from(event.callee == "minus");
            Verdict::Run
        });
        let nothing = vm.call("timed", &[]).expect("runs");
        vm.clear_instrument();
        assert!(matches!(nothing, Value::None), "{nothing:?}");
        assert_eq!(*seen.lock().expect("alone"), 2, "before and after it");
        let taken = vm.save_function("twice", "main", &[], IncludeReturn::Yes);
        assert!(matches!(taken, Err(VmError::NameTaken(name)) if name == "main"));
        let many = vm.save_function("less", "more", &[x.clone(), y.clone()], IncludeReturn::Yes);
        let many = many.expect_err("it has one parameter left").to_string();
        assert_eq!(many, "`main` takes 1 argument (x), got 2");
        assert!(matches!(
            vm.call("more", &[]),
            Err(VmError::NoFunction { .. })
        ));
    }
}

#[test]
fn inputs_are_set_and_outputs_are_taken() {
    for (target, device) in devices() {
        let mut vm = VirtualMachine::new(build(MODULE, &target), device).expect("ready");
        let (x, y) = (vector(&[5.0, 7.0]), vector(&[1.0, 2.0]));
        let none = vm.invoke_stateful("main").expect_err("no inputs");
        assert!(matches!(none, VmError::NoInputs(name) if name == "main"));
        vm.set_input("main", &[x.clone(), y.clone()]).expect("two");
        let none = vm.get_outputs("main").expect_err("not called");
        assert!(matches!(none, VmError::NoOutputs(name) if name == "main"));
        let mut kept = None;
        for _ in 0..3 {
            vm.invoke_stateful("main").expect("runs");
            let z = vm.get_outputs("main").expect("called").clone();
            assert_eq!(elements(&mut vm, z.clone()), [4.0, 5.0]);
            kept.get_or_insert(z);
        }
        let named = vm.arguments("main", from_ref(&y), &[("y", x.clone())]);
        vm.set_input("main", &named.expect("both")).expect("two");
        vm.invoke_stateful("main").expect("runs");
        let z = vm.get_outputs("main").expect("called").clone();
        assert_eq!(elements(&mut vm, z), [-4.0, -5.0]);
        let kept = kept.expect("of the first call");
        assert_eq!(
            elements(&mut vm, kept),
            [4.0, 5.0],
            "outputs that are held stay"
        );
        vm.set_input("main", &[x.clone(), vector(&[1.0])])
            .expect("two");
        assert!(vm.invoke_stateful("main").is_err(), "the lengths differ");
        assert!(matches!(vm.get_outputs("main"), Err(VmError::NoOutputs(_))));
        let one = vm.set_input("main", &[x]);
        assert!(matches!(one, Err(VmError::Arity { given: 1, .. })));
    }
}

#[test]
fn arguments_are_given_by_name() {
    let (target, device) = cpu();
    let mut vm = VirtualMachine::new(build(MODULE, &target), device).expect("ready");
    let (x, y) = (vector(&[5.0, 7.0]), vector(&[1.0, 2.0]));
    let named = [("y", y.clone()), ("x", x.clone())];
    let z = vm.call_named("main", &named).expect("runs");
    assert_eq!(elements(&mut vm, z), [4.0, 5.0]);
    let said = |args: &[Value], named: &[(&str, Value)]| {
        let error = vm.arguments("main", args, named);
        error.map(drop).expect_err("refused").to_string()
    };
    assert_eq!(
        said(&[], &[("z", x.clone())]),
        "`main` has no parameter `z`; it takes x, y"
    );
    assert_eq!(
        said(&[], &[("x", x.clone()), ("x", y.clone())]),
        "`main` was given two arguments named `x`"
    );
    assert_eq!(said(&[], &[]), "`main` was given no argument for x, y");
    assert_eq!(
        said(&[], &[("x", x.clone())]),
        "`main` was given no argument for y"
    );
    assert_eq!(
        said(&[y.clone(), y], &[("x", x)]),
        "`main` takes 2 arguments (x, y), got 3"
    );
}

#[test]
fn handles_of_another_machine_are_errors() {
    let (target, device) = cpu();
    let exec = Arc::new(build(MODULE, &target));
    let mut one = VirtualMachine::new(exec.clone(), device.clone()).expect("ready");
    let mut other = VirtualMachine::new(exec, device).expect("ready");
    let args = [vector(&[5.0]), vector(&[1.0])];
    let func = one.function("main").expect("there");
    one.call_func(func, &args).expect("its own");
    let error = other.call_func(func, &args);
    assert!(matches!(error, Err(VmError::ForeignFunction)));
    let error = other.call_into(func, &args, &mut [Value::None]);
    assert!(matches!(error, Err(VmError::ForeignFunction)));
    let saved = one
        .save_function("main", "saved", &args, IncludeReturn::Yes)
        .expect("saved");
    let error = other.call_func(saved, &[]);
    assert!(matches!(error, Err(VmError::ForeignFunction)));
}

#[test]
fn a_hook_sees_every_call() {
    for (target, device) in devices() {
        let mut vm = VirtualMachine::new(build(MODULE, &target), device).expect("ready");
        let seen = Arc::new(Mutex::new(vec![]));
        let to = seen.clone();
        vm.set_instrument(move |event| {
            if ["main", "minus"].contains(&event.callee) {
                let last = event.args.last().cloned().unwrap_or_default();
                let last = match last {
                    Value::DeviceTensor(tensor) => tensor.to_host().expect("comes back"),
                    other => other.into_tensor().expect("a tensor"),
                };
                let last = last.as_slice::<f32>().expect("f32").to_vec();
                let after = event.result.is_some();
                let names = (event.caller.to_owned(), event.callee.to_owned());
                to.lock().expect("whole").push((names, after, last));
            }
            Verdict::Run
        });
        let args = [vector(&[5.0, 7.0]), vector(&[1.0, 2.0])];
        let w = vm.call("twice", &args).expect("runs");
        assert_eq!(elements(&mut vm, w), [3.0, 3.0]);
        let seen = std::mem::take(&mut *seen.lock().expect("whole"));
        let calls: Vec<(&str, &str, bool)> = seen
            .iter()
            .map(|((caller, callee), after, _)| (&**caller, &**callee, *after))
            .collect();
        let expected = [
            ("twice", "main", false),
            ("main", "minus", false),
            ("main", "minus", true),
            ("twice", "main", true),
            ("twice", "minus", false),
            ("twice", "minus", true),
        ];
        assert_eq!(calls, expected);
        assert_eq!(seen[2].2, [4.0, 5.0], "the output, written");
        assert_eq!(seen[5].2, [3.0, 3.0]);
        vm.clear_instrument();
        vm.call("twice", &args).expect("runs");
    }
}

#[test]
fn a_hook_leaves_calls_out() {
    let (target, device) = cpu();
    let mut vm = VirtualMachine::new(build(MODULE, &target), device).expect("ready");
    let args = [vector(&[5.0, 7.0]), vector(&[1.0, 2.0])];
    let counts = Arc::new(Mutex::new((0, 0)));
    let to = counts.clone();
    vm.set_instrument(move |event| {
        let mut counts = to.lock().expect("whole");
        match (event.callee, event.result) {
            ("minus", None) => counts.0 += 1,
            ("minus", Some(_)) => counts.1 += 1,
            _ => {}
        }
        let first = event.callee == "minus" && counts.0 == 1;
        if first { Verdict::Skip } else { Verdict::Run }
    });
    let w = vm.call("twice", &args).expect("runs");
    // Without the first subtraction its output is zeros, as memory is when it is new.
    assert_eq!(elements(&mut vm, w), [-1.0, -2.0]);
    assert_eq!(*counts.lock().expect("whole"), (2, 1));
}

#[test]
fn calls_are_timed_as_often_as_asked() {
    let (target, device) = cpu();
    let mut vm = VirtualMachine::new(build(MODULE, &target), device).expect("ready");
    let args = [vector(&[5.0, 7.0]), vector(&[1.0, 2.0])];
    let calls = Arc::new(Mutex::new(0));
    let to = calls.clone();
    vm.set_instrument(move |event| {
        if event.callee == "minus" && event.result.is_none() {
            *to.lock().expect("whole") += 1;
        }
        Verdict::Run
    });
    let options = TimeOptions {
        number: 3,
        repeat: 4,
        min_repeat: Duration::ZERO,
    };
    let mut evaluator = vm.time_evaluator("main", options).expect("there");
    let times = evaluator.run(&args).expect("runs");
    assert_eq!(times.results.len(), 4);
    assert_eq!(*calls.lock().expect("whole"), 1 + 3 * 4);
    assert!(times.min > 0.0 && times.min <= times.median && times.median <= times.max);
    vm.clear_instrument();
    let least = TimeOptions {
        number: 1,
        repeat: 2,
        min_repeat: Duration::from_millis(5),
    };
    let mut evaluator = vm.time_evaluator("main", least).expect("there");
    let start = std::time::Instant::now();
    evaluator.run(&args).expect("runs");
    assert!(start.elapsed() >= Duration::from_millis(10));
    assert!(matches!(
        vm.time_evaluator("mian", least).map(drop),
        Err(VmError::NoFunction { .. })
    ));
}

/// Eight threads, each with a machine of its own; each call has another shape.
fn hammer(exec: Executable, device: &Device) -> Arc<Executable> {
    let exec = Arc::new(exec);
    let failed = std::thread::scope(|scope| {
        let run = |thread: usize| {
            let exec = exec.clone();
            move || {
                let mut vm = VirtualMachine::new(exec, device.clone()).expect("ready");
                for call in 0..12 {
                    let len = 1 + (thread * 5 + call * 3) % 17;
                    let x: Vec<f32> = (0..len).map(|i| (i * thread + call) as f32).collect();
                    let y: Vec<f32> = (0..len).map(|i| (i + 1) as f32).collect();
                    let w = vm.call("twice", &[vector(&x), vector(&y)]).expect("runs");
                    let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| x - y - y).collect();
                    assert_eq!(
                        elements(&mut vm, w),
                        expected,
                        "thread {thread}, call {call}"
                    );
                }
            }
        };
        let threads: Vec<_> = (0..8).map(|thread| scope.spawn(run(thread))).collect();
        threads.into_iter().filter_map(|t| t.join().err()).count()
    });
    assert_eq!(failed, 0, "threads that failed");
    exec
}

#[test]
fn machines_on_eight_threads_share_native_code() {
    let (target, device) = cpu();
    let exec = hammer(build(MODULE, &target), &device);
    for _ in 0..2 {
        let vm = VirtualMachine::new(exec.clone(), device.clone()).expect("ready");
        assert_eq!(
            vm.native_modules(),
            1,
            "compiled by the first machine alone"
        );
    }
}

/// What made the code of the kernels that a call runs.
fn code_of(vm: &mut VirtualMachine) -> Vec<&'static str> {
    let args = [vector(&[5.0, 7.0]), vector(&[1.0, 2.0])];
    let (z, profile) = vm.profile("main", &args).expect("runs");
    assert_eq!(elements(vm, z), [4.0, 5.0]);
    let entries = profile.entries.iter();
    entries.filter_map(|entry| entry.code).collect()
}

#[test]
fn each_back_end_makes_code_of_its_own() {
    let (target, device) = cpu();
    let exec = Arc::new(build(MODULE, &target));
    for backend in back_ends() {
        let machine = || VirtualMachine::with_backend(exec.clone(), device.clone(), backend);
        let mut vm = machine().expect("ready");
        assert_eq!(code_of(&mut vm), [backend.name()]);
        assert_eq!(machine().expect("ready").native_modules(), 1);
    }
    let mut vm = VirtualMachine::new(exec, device).expect("ready");
    assert_eq!(code_of(&mut vm), [Backend::default().name()]);
}

#[test]
fn machines_on_eight_threads_share_pipelines() {
    // A device of this test alone, whose counters nobody else changes.
    let Some(adapter) = runtime_gpu::adapters().into_iter().next() else {
        return;
    };
    let gpu = adapter.open(Checks::Proved).expect("opens");
    let (target, device) = (Target::Gpu(gpu.target().clone()), Device::Gpu(gpu.clone()));
    let exec = hammer(build(MODULE, &target), &device);
    assert_eq!(gpu.counters().pipelines, 1, "one kernel, one pipeline");
    let again = VirtualMachine::new(exec, device).expect("ready");
    assert_eq!(gpu.counters().pipelines, 1, "{again:?}");
}

/// An executable that was changed is another one: code of the old one must not run with it.
#[test]
fn what_is_changed_is_compiled_again() {
    let (target, device) = cpu();
    let mut exec = Arc::new(build(MODULE, &target));
    let args = [vector(&[5.0, 7.0]), vector(&[1.0, 2.0])];
    let mut vm = VirtualMachine::new(exec.clone(), device.clone()).expect("ready");
    vm.call("main", &args).expect("runs");
    drop(vm);
    let other = build(&MODULE.replace("X[vi] - Y[vi]", "X[vi] + Y[vi]"), &target);
    Arc::make_mut(&mut exec).kernels = other.kernels;
    let mut vm = VirtualMachine::new(exec, device).expect("ready");
    let z = vm.call("main", &args).expect("runs");
    assert_eq!(elements(&mut vm, z), [6.0, 9.0]);
}
