//! Packed functions: what they share with the caller, what they fail with, what they may do wrong; and what devices refuse.

#![expect(unsafe_code, reason = "DLPack exchanges addresses")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ndarray::Array2;
use weftile::kernel::Target;
use weftile::pipeline::{CompileOptions, compile};
use weftile::runtime::{Device, Override, PackedError, Registry, Value, register_func};
use weftile::script;
use weftile::tensor::{DType, Tensor, TensorError};
use weftile::vm::{ProfileKind, VirtualMachine, VmError};

use crate::vm::devices;

const HEAD: &str = r#"
@I.ir_module
class Module:
    @T.prim_func
    def twice(x: T.handle, y: T.handle):
        n, m = T.int64(), T.int64()
        X = T.match_buffer(x, (n, m), "float32")
        Y = T.match_buffer(y, (n, m), "float32")
        for i, j in T.grid(n, m):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = X[vi, vj] * T.float32(2)

    @T.prim_func
    def ones(y: T.handle):
        n = T.int64()
        Y = T.match_buffer(y, (n,), "float32")
        for i in T.grid(n):
            with T.block("Y"):
                vi = T.axis.remap("S", [i])
                Y[vi] = T.float32(1)
"#;

/// A host function in the middle of kernels, in destination-passing style.
const MIDDLE: &str = r#"
    @R.function
    def main(x: R.Tensor(("n", "m"), "float32")):
        n, m = T.int64(), T.int64()
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.twice, (x,), out_sinfo=R.Tensor((n, m), "float32"))
            b = R.call_dps_packed("test.host", (a,), R.Tensor((n, m), "float32"))
            c = R.call_tir(cls.twice, (b,), out_sinfo=R.Tensor((n, m), "float32"))
            R.output(c)
        return c
"#;

/// A host function that returns its result.
const RETURNS: &str = r#"
    @R.function(pure=False)
    def main(x: R.Tensor(("n", "m"), "float32")):
        n, m = T.int64(), T.int64()
        cls = Module
        b = R.call_packed("test.host", x, sinfo_args=R.Tensor((n, m), "float32"))
        c = R.call_tir(cls.twice, (b,), out_sinfo=R.Tensor((n, m), "float32"))
        return c
"#;

fn machine<F>(main: &str, target: &Target, device: Device, host: F) -> VirtualMachine
where
    F: Fn(&mut [Value]) -> Result<Value, PackedError> + Send + Sync + 'static,
{
    let text = format!("{HEAD}{main}");
    let module = script::parse("packed.py", &text).unwrap_or_else(|e| panic!("{e}"));
    let exec = compile(&module, &CompileOptions::new(target.clone()));
    let exec = exec.unwrap_or_else(|e| panic!("{e}"));
    let mut registry = Registry::new();
    registry
        .register("test.host", host, Override::No)
        .expect("free");
    VirtualMachine::with_registry(exec, device, &registry).unwrap_or_else(|e| panic!("{e}"))
}

fn matrix(rows: usize, cols: usize) -> Tensor {
    let elements: Vec<f32> = (0..rows * cols).map(|i| i as f32).collect();
    Tensor::from_slice(&[rows, cols], &elements).expect("as many as the shape has")
}

/// Adds one, into the last argument.
fn plus_one(args: &mut [Value]) -> Result<Value, PackedError> {
    let [x, out] = args else {
        return Err("two arguments".into());
    };
    let sum = x.as_tensor()?.as_array::<f32>()?.mapv(|v| v + 1.0);
    out.as_tensor_mut()?.as_array_mut::<f32>()?.assign(&sum);
    Ok(Value::None)
}

#[test]
fn copies_around_a_host_function_are_in_the_profile() {
    for (target, device) in devices() {
        let on_gpu = !matches!(device, Device::Cpu);
        let mut vm = machine(MIDDLE, &target, device, plus_one);
        let x = Value::from(matrix(3, 5));
        for _ in 0..2 {
            let (result, profile) = vm.profile("main", std::slice::from_ref(&x)).expect("runs");
            let result = vm.to_host(result).expect("comes back");
            let result = result.as_tensor().expect("a tensor");
            let expected: Vec<f32> = (0..15).map(|i| (i as f32 * 2.0 + 1.0) * 2.0).collect();
            assert_eq!(result.as_slice::<f32>(), Ok(expected.as_slice()));
            let steps: Vec<(&str, u64, &str)> = profile
                .entries
                .iter()
                .filter(|e| e.kind == ProfileKind::Copy)
                .map(|e| (e.name.as_str(), e.bytes, e.why.as_deref().expect("said")))
                .collect();
            let copies = [
                ("to_device x", 60, "the argument is in host memory"),
                (
                    "vm.builtin.to_host",
                    60,
                    "packed function `test.host` runs on the host",
                ),
                (
                    "vm.builtin.to_device",
                    60,
                    "packed function `test.host` ran on the host",
                ),
            ];
            assert_eq!(profile.launches(), 2);
            assert_eq!(steps, if on_gpu { &copies[..] } else { &[] }, "{profile}");
            let others = profile.entries.iter();
            let others =
                others.filter(|e| matches!(e.kind, ProfileKind::Kernel | ProfileKind::Packed));
            let names: Vec<&str> = others.map(|e| e.name.as_str()).collect();
            assert_eq!(names, ["twice", "test.host", "twice"], "{profile}");
        }
    }
}

#[test]
fn a_host_function_sees_the_memory_of_its_caller() {
    let (target, device) = devices().swap_remove(0);
    let seen = Arc::new(AtomicUsize::new(0));
    let noted = seen.clone();
    let same = move |args: &mut [Value]| -> Result<Value, PackedError> {
        let address = args[0].as_tensor()?.bytes().as_ptr() as usize;
        noted.store(address, Ordering::Relaxed);
        Ok(args[0].clone())
    };
    let mut vm = machine(
        &RETURNS.replace("return c", "return b"),
        &target,
        device,
        same,
    );
    // From ndarray, through the machine and the function, and out to another library by DLPack.
    let array = Array2::<f32>::from_shape_fn((4, 3), |(i, j)| (3 * i + j) as f32);
    let address = array.as_ptr() as usize;
    let tensor = Tensor::from_array(array);
    let result = vm.call("main", &[tensor.into()]).expect("runs");
    assert_eq!(seen.load(Ordering::Relaxed), address, "in");
    let result = result.into_tensor().expect("a tensor");
    assert_eq!(result.bytes().as_ptr() as usize, address, "out");
    let view = result.as_array::<f32>().expect("f32");
    assert_eq!(view.as_ptr() as usize, address, "as an array");
    let lent = result.to_dlpack();
    let view = lent.validate().expect("valid");
    // SAFETY: the tensor is alive, and its memory is not written meanwhile.
    let bytes = unsafe { view.cpu_bytes() }.expect("on the host");
    assert_eq!(bytes.as_ptr() as usize, address, "lent");
    drop(lent);
    // And in again.
    let lent = result.into_dlpack();
    // SAFETY: the memory is ours and nobody writes it.
    let back = unsafe { Tensor::from_dlpack(lent) }.expect("dense, on the host");
    assert_eq!(back.bytes().as_ptr() as usize, address, "back");
    vm.call("main", &[back.into()]).expect("runs");
    assert_eq!(seen.load(Ordering::Relaxed), address, "in again");
}

#[test]
fn what_a_host_function_keeps_is_not_overwritten() {
    let kept: Arc<std::sync::Mutex<Vec<Tensor>>> = Arc::default();
    for (target, device) in devices() {
        let keeper = kept.clone();
        let keep = move |args: &mut [Value]| -> Result<Value, PackedError> {
            let input = args[0].as_tensor()?.clone();
            keeper.lock().expect("not poisoned").push(input);
            plus_one(args)
        };
        let mut vm = machine(MIDDLE, &target, device, keep);
        for rows in [2, 2, 3] {
            vm.call("main", &[matrix(rows, 2).into()]).expect("runs");
        }
        let mut kept = kept.lock().expect("not poisoned");
        for tensor in kept.drain(..) {
            let expected: Vec<f32> = (0..tensor.len()).map(|i| i as f32 * 2.0).collect();
            assert_eq!(tensor.as_slice::<f32>(), Ok(expected.as_slice()));
        }
    }
}

#[test]
fn errors_of_a_host_function_are_passed_on() {
    #[derive(Debug, PartialEq, thiserror::Error)]
    #[error("the printer is on fire")]
    struct OnFire;
    for (target, device) in devices() {
        let calls = AtomicUsize::new(0);
        let sometimes = move |args: &mut [Value]| -> Result<Value, PackedError> {
            match calls.fetch_add(1, Ordering::Relaxed) {
                1 => Err(Box::new(OnFire)),
                _ => plus_one(args),
            }
        };
        let mut vm = machine(MIDDLE, &target, device, sometimes);
        let x = Value::from(matrix(2, 2));
        let call = |vm: &mut VirtualMachine| {
            let result = vm.call("main", std::slice::from_ref(&x));
            result.map_err(Box::new)
        };
        call(&mut vm).expect("runs");
        let error = call(&mut vm).expect_err("on fire");
        assert_eq!(
            error.root().to_string(),
            "packed function `test.host` failed: the printer is on fire"
        );
        let VmError::Packed { name, source } = error.root() else {
            panic!("{error}");
        };
        assert!(error.to_string().contains("\n  from line "), "{error}");
        assert_eq!(name, "test.host");
        assert_eq!(source.downcast_ref(), Some(&OnFire));
        let result = call(&mut vm).expect("it runs again");
        let result = vm.to_host(result).expect("comes back");
        let result = result.as_tensor().expect("a tensor");
        assert_eq!(result.as_slice::<f32>(), Ok(&[2.0, 6.0, 10.0, 14.0][..]));
    }
}

#[test]
fn wrong_results_of_a_host_function_are_errors() {
    let results = [
        Value::None,
        Value::Int(3),
        matrix(2, 3).into(),
        Tensor::zeros(DType::I32, &[2, 2]).expect("small").into(),
        Tensor::zeros(DType::F32, &[4]).expect("small").into(),
        Value::Tuple(vec![matrix(2, 2).into()]),
    ];
    for (target, device) in devices() {
        for wrong in &results {
            let given = wrong.clone();
            let host = move |_: &mut [Value]| -> Result<Value, PackedError> { Ok(given.clone()) };
            let mut vm = machine(RETURNS, &target, device.clone(), host);
            let error = vm.call("main", &[matrix(2, 2).into()]);
            let error = error.expect_err("it is no 2 by 2 matrix of float32");
            let typed = matches!(
                error.root(),
                VmError::KernelArgument { .. }
                    | VmError::Kind { .. }
                    | VmError::Dimension { .. }
                    | VmError::DType { .. }
                    | VmError::Count { .. }
            );
            assert!(typed, "{wrong:?}: {error}");
            // The same from a function that puts something else where its output is.
            let given = wrong.clone();
            let host = move |args: &mut [Value]| -> Result<Value, PackedError> {
                args[1] = given.clone();
                Ok(Value::None)
            };
            let mut vm = machine(MIDDLE, &target, device.clone(), host);
            let error = vm.call("main", &[matrix(2, 2).into()]);
            let error = error.expect_err("nor is this");
            assert!(
                matches!(
                    error.root(),
                    VmError::KernelArgument { .. } | VmError::Register { .. }
                ),
                "{wrong:?}: {error}"
            );
        }
    }
}

#[test]
fn functions_of_the_process_are_overridden_by_those_of_a_machine() {
    let (target, device) = devices().swap_remove(0);
    let text = format!("{HEAD}{RETURNS}").replace("test.host", "vm_packed.scaled");
    let module = script::parse("packed.py", &text).unwrap_or_else(|e| panic!("{e}"));
    let exec = compile(&module, &CompileOptions::new(target)).unwrap_or_else(|e| panic!("{e}"));
    let scaled = |by: f32| {
        move |args: &mut [Value]| -> Result<Value, PackedError> {
            let x = args[0].as_tensor()?.as_array::<f32>()?;
            Ok(Tensor::from_array(x.mapv(|v| v * by)).into())
        }
    };
    let first = |vm: &mut VirtualMachine| {
        let result = vm.call("main", &[matrix(1, 2).into()]).expect("runs");
        result
            .as_tensor()
            .expect("a tensor")
            .as_slice::<f32>()
            .expect("f32")[1]
    };
    let unknown = VirtualMachine::new(exec.clone(), device.clone()).map(|_| ());
    let message = unknown.expect_err("nobody registered it").to_string();
    let expected =
        "no function is registered as `vm_packed.scaled`\n  from line 27: `b = R.call_packed";
    assert!(message.starts_with(expected), "{message}");
    register_func("vm_packed.scaled", scaled(3.0), Override::No).expect("free");
    let mut global = VirtualMachine::new(exec.clone(), device.clone()).expect("ready");
    assert_eq!(first(&mut global), 6.0);
    let taken = register_func("vm_packed.scaled", scaled(5.0), Override::No);
    assert!(taken.is_err());
    register_func("vm_packed.scaled", scaled(5.0), Override::Yes).expect("overridden");
    let mut later = VirtualMachine::new(exec.clone(), device.clone()).expect("ready");
    assert_eq!(first(&mut later), 10.0);
    assert_eq!(first(&mut global), 6.0, "a machine keeps what it found");
    let mut registry = Registry::new();
    registry
        .register("vm_packed.scaled", scaled(7.0), Override::No)
        .expect("its own names");
    let mut own = VirtualMachine::with_registry(exec, device, &registry).expect("ready");
    assert_eq!(first(&mut own), 14.0);
}

/// Sizes that come from outside and that nothing can hold.
#[test]
fn memory_that_cannot_be_had_is_an_error() {
    let main = r#"
    @R.function
    def main(s: R.Shape(["n"])):
        n = T.int64()
        cls = Module
        a = R.call_tir(cls.ones, (), out_sinfo=R.Tensor((n,), "float32"))
        b = R.call_tir(cls.ones, (), out_sinfo=R.Tensor((n,), "float32"))
        return (a, b)
"#;
    for (target, device) in devices() {
        let on_gpu = !matches!(device, Device::Cpu);
        let mut vm = machine(main, &target, device, plus_one);
        let mut call = |n: i64| {
            let result = vm.call("main", &[Value::Shape([n].into())]);
            result.map_err(Box::new)
        };
        call(5).expect("small");
        for n in [1 << 58, i64::MAX / 8, i64::MAX] {
            let error = call(n).expect_err("nothing has so much memory");
            #[cfg(feature = "gpu")]
            let refused = matches!(
                error.root(),
                VmError::Gpu(
                    weftile::runtime_gpu::GpuError::TooLarge { .. }
                        | weftile::runtime_gpu::GpuError::Tensor(TensorError::TooLarge { .. })
                )
            );
            #[cfg(not(feature = "gpu"))]
            let refused = false;
            let on_host = matches!(
                error.root(),
                VmError::Tensor {
                    source: TensorError::OutOfMemory { .. } | TensorError::TooLarge { .. },
                    ..
                } | VmError::Eval { .. }
                    | VmError::Storage { .. }
            );
            assert!(
                if on_gpu { refused || on_host } else { on_host },
                "{n}: {error:?}"
            );
            call(7).expect("the machine is as it was");
        }
        let negative = call(-1).expect_err("no size is negative");
        assert!(
            matches!(
                negative.root(),
                VmError::Storage {
                    bytes: Some(-4),
                    ..
                }
            ),
            "{negative:?}"
        );
    }
}

/// Says what it is given, and fails where that is not positive.
const MESSAGES: &str = r#"
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((2,), "float32"), ok: R.Tensor((), "bool")) -> R.Tensor((2,), "float32"):
        y = R.exp(x)
        R.print(y, format="exp: {}")
        R.assert_op(ok, x, format="not {}")
        return y
"#;

#[test]
fn messages_are_those_of_the_program() {
    let module = script::parse("messages.py", MESSAGES).expect("it parses");
    let x = Tensor::from_slice(&[2], &[0.0f32, 2.0]).expect("two elements");
    let args = |ok: u8| {
        let ok = Tensor::from_bytes(DType::BOOL, &[], &[ok]).expect("one element");
        [x.clone(), ok]
    };
    for (target, device) in devices() {
        let options = CompileOptions::new(target);
        let compiled = compile(&module, &options).expect("it compiles");
        let mut machine = VirtualMachine::new(compiled, device).expect("it loads");
        let mut call = |ok| machine.call("main", &args(ok).map(Value::from));
        assert!(call(1).is_ok());
        let error = call(0).expect_err("the condition is false").to_string();
        assert!(
            error.contains("assertion failed: not [0.0, 2.0]"),
            "{error}"
        );
    }
    let run = |ok| {
        let args = args(ok).map(weftile::interp::Value::Tensor);
        weftile::interp::run_module(&module, "main", &args, &std::collections::HashMap::new())
    };
    assert!(run(1).is_ok());
    let error = run(0).expect_err("the condition is false").to_string();
    assert!(
        error.contains("assertion failed: not [0.0, 2.0]"),
        "{error}"
    );
}
