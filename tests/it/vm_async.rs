//! Futures of calls and copies, under an executor that knows nothing of the device.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use weftile::kernel::Target;
use weftile::runtime::{Device, Override, PackedError, Registry, Value};
use weftile::runtime_gpu::{self, Checks, Counters, Gpu};
use weftile::tensor::{DType, Tensor};
use weftile::vm::{VirtualMachine, VmError};

use crate::vm::{build, cpu};

const MODULE: &str = r#"
@I.ir_module
class Module:
    @T.prim_func
    def twice(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,), "float32")
        Y = T.match_buffer(y, (n,), "float32")
        for i in range(n):
            with T.block("Y"):
                vi = T.axis.spatial(n, i)
                Y[vi] = X[vi] * T.float32(2)

    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        cls = Module
        with R.dataflow():
            y = R.call_tir(cls.twice, (x,), out_sinfo=R.Tensor((n,), "float32"))
            R.output(y)
        return (x, y)
"#;

/// A device of one test alone, whose counters nobody else changes.
fn gpu() -> Option<Gpu> {
    let adapter = runtime_gpu::adapters().into_iter().next()?;
    Some(adapter.open(Checks::Proved).expect("opens"))
}

fn machine(gpu: &Gpu) -> VirtualMachine {
    let target = Target::Gpu(gpu.target().clone());
    VirtualMachine::new(build(MODULE, &target), Device::Gpu(gpu.clone())).expect("ready")
}

fn x() -> Value {
    Tensor::from_slice(&[3], &[1.0f32, 2.0, 3.0])
        .expect("three")
        .into()
}

fn check(pair: &Value) {
    let pair = pair.as_tuple().expect("two");
    let elements = |value: &Value| {
        let tensor = value.as_tensor().expect("in host memory");
        tensor.as_slice::<f32>().expect("f32").to_vec()
    };
    assert_eq!(elements(&pair[0]), [1.0, 2.0, 3.0]);
    assert_eq!(elements(&pair[1]), [2.0, 4.0, 6.0]);
}

async fn call_and_read(vm: &mut VirtualMachine) -> Result<Value, VmError> {
    let result = vm.call_async("main", &[x()]).await?;
    vm.read_async(result).await
}

#[test]
fn futures_of_the_cpu_are_done_at_once() {
    let (target, device) = cpu();
    let mut vm = VirtualMachine::new(build(MODULE, &target), device).expect("ready");
    check(&pollster::block_on(call_and_read(&mut vm)).expect("runs"));
    let error = pollster::block_on(vm.call_async("main", &[]));
    assert!(matches!(error, Err(VmError::Arity { .. })));
}

#[test]
fn the_device_is_polled_only_while_futures_wait() {
    let Some(gpu) = gpu() else { return };
    let mut vm = machine(&gpu);
    let result = vm.call("main", &[x()]).expect("runs");
    check(&vm.to_host(result).expect("comes back"));
    assert_eq!(
        gpu.counters().polls,
        0,
        "without futures there is no thread"
    );
    for _ in 0..3 {
        check(&pollster::block_on(call_and_read(&mut vm)).expect("runs"));
    }
    let polls = gpu.counters().polls;
    assert!(polls > 0);
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(gpu.counters().polls, polls, "it sleeps");
}

/// One step of a future that nobody wakes.
fn step<F: Future>(future: F) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn dropped_futures_leave_nothing_behind() {
    let Some(gpu) = gpu() else { return };
    let mut vm = machine(&gpu);
    let drop_many = |vm: &mut VirtualMachine| {
        for _ in 0..10 {
            let _ = step(vm.call_async("main", &[x()]));
            let result = vm.call("main", &[x()]).expect("runs");
            // Never polled, and polled once; copies are on their way in both.
            drop(vm.read_async(result.clone()));
            let _ = step(vm.read_async(result));
        }
        gpu.wait().expect("the device goes on");
    };
    drop_many(&mut vm);
    let Counters { buffers, .. } = gpu.counters();
    drop_many(&mut vm);
    assert_eq!(gpu.counters().buffers, buffers, "all went back to the pool");
    check(&pollster::block_on(call_and_read(&mut vm)).expect("runs"));
    assert_eq!(gpu.counters().buffers, buffers, "and are of use");
    let polls = gpu.counters().polls;
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(gpu.counters().polls, polls, "nobody waits");
}

#[test]
fn copies_run_together() {
    let Some(gpu) = gpu() else { return };
    let mut vm = machine(&gpu);
    let reads: Vec<_> = (0..4)
        .map(|_| {
            let result = vm.call("main", &[x()]).expect("runs");
            vm.read_async(result)
        })
        .collect();
    // Values are gone, the machine makes other calls, and the copies come in any order.
    for read in reads.into_iter().rev() {
        check(&pollster::block_on(read).expect("comes back"));
    }
}

/// A branch on a value of the device, a packed function in each branch and one after them.
const STOPS: &str = r#"
    @R.function(pure=False)
    def inner(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        cls = Module
        y = R.call_tir(cls.twice, (x,), out_sinfo=R.Tensor((n,), "float32"))
        z = R.call_dps_packed("test.plus_one", (y,), R.Tensor((n,), "float32"))
        return z

    @R.function(pure=False)
    def stops(c: R.Tensor((), "bool"), x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        cls = Module
        if c:
            y = cls.inner(x)
        else:
            y = R.call_tir(cls.twice, (x,), out_sinfo=R.Tensor((n,), "float32"))
        z = R.call_dps_packed("test.plus_one", (y,), R.Tensor((n,), "float32"))
        return z
"#;

/// A machine with programs that stop for the host, whose packed function fails where an element is negative.
fn stopping(target: &Target, device: Device) -> VirtualMachine {
    let mut registry = Registry::new();
    let plus_one = |args: &mut [Value]| -> Result<Value, PackedError> {
        let x = args[0].as_tensor()?.as_slice::<f32>()?.to_vec();
        if x.iter().any(|x| *x < 0.0) {
            return Err("a negative element".into());
        }
        let x: Vec<f32> = x.iter().map(|x| x + 1.0).collect();
        args[1] = Tensor::from_slice(&[x.len()], &x)?.into();
        Ok(Value::None)
    };
    registry
        .register("test.plus_one", plus_one, Override::No)
        .expect("a new name");
    let module = format!("{MODULE}{STOPS}");
    VirtualMachine::with_registry(build(&module, target), device, &registry).expect("ready")
}

fn condition(taken: bool) -> Value {
    let bytes = [u8::from(taken)];
    let tensor = Tensor::from_bytes(DType::BOOL, &[], &bytes).expect("a scalar");
    tensor.into()
}

/// Something else that the thread does: counts how often it comes to it while the other future is not done.
async fn beside<T>(future: impl Future<Output = T>) -> (T, usize) {
    let mut future = pin!(future);
    let mut turns = 0;
    let result = std::future::poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(result) => Poll::Ready(result),
        Poll::Pending => {
            turns += 1;
            Poll::Pending
        }
    })
    .await;
    (result, turns)
}

#[test]
fn calls_that_stop_for_the_host_are_awaited() {
    let mut all = vec![cpu()];
    all.extend(gpu().map(|gpu| (Target::Gpu(gpu.target().clone()), Device::Gpu(gpu))));
    for (target, device) in all {
        let mut vm = stopping(&target, device);
        for (taken, expected) in [(true, [4.0f32, 6.0, 8.0]), (false, [3.0, 5.0, 7.0])] {
            let args = [condition(taken), x()];
            let (result, turns) = pollster::block_on(beside(vm.call_async("stops", &args)));
            let result = vm.to_host(result.expect("runs")).expect("comes back");
            let elements = result.as_tensor().expect("a tensor");
            assert_eq!(elements.as_slice::<f32>(), Ok(&expected[..]));
            let waits = matches!(target, Target::Gpu(_));
            assert_eq!(turns > 0, waits, "the thread was free {turns} times");
            // The same run loop waits where nobody awaits.
            let waited = vm.call("stops", &args).expect("runs");
            let waited = vm.to_host(waited).expect("comes back");
            let waited = waited.as_tensor().expect("a tensor");
            assert_eq!(waited.as_slice::<f32>(), Ok(&expected[..]));
        }
        // An error in the middle ends the call, and the machine goes on.
        let negative = Tensor::from_slice(&[1], &[-1.0f32]).expect("one");
        let args = [condition(true), negative.into()];
        let error = pollster::block_on(vm.call_async("stops", &args)).expect_err("negative");
        assert!(matches!(error.root(), VmError::Packed { .. }), "{error}");
        assert!(error.to_string().contains("\n  from line "), "{error}");
        pollster::block_on(vm.call_async("stops", &[condition(true), x()])).expect("runs");
    }
}

#[test]
fn dropped_calls_leave_nothing_behind() {
    let Some(gpu) = gpu() else { return };
    let target = Target::Gpu(gpu.target().clone());
    let mut vm = stopping(&target, Device::Gpu(gpu.clone()));
    let args = [condition(true), x()];
    let drop_many = |vm: &mut VirtualMachine| {
        for steps in 0..8 {
            let mut call = Box::pin(vm.call_async("stops", &args));
            for _ in 0..steps {
                if step(call.as_mut()).is_ready() {
                    break;
                }
                gpu.wait().expect("the device goes on");
            }
        }
        drop(vm.call("stops", &args).expect("runs"));
        gpu.wait().expect("the device goes on");
    };
    drop_many(&mut vm);
    drop_many(&mut vm);
    let Counters { buffers, .. } = gpu.counters();
    drop_many(&mut vm);
    assert_eq!(gpu.counters().buffers, buffers, "all went back to the pool");
}

#[test]
fn forgotten_calls_leave_nothing_to_the_next() {
    let Some(gpu) = gpu() else { return };
    let target = Target::Gpu(gpu.target().clone());
    let mut vm = stopping(&target, Device::Gpu(gpu));
    for taken in [true, false] {
        let args = [condition(taken), x()];
        let mut call = Box::pin(vm.call_async("stops", &args));
        assert!(
            step(call.as_mut()).is_pending(),
            "it waits for the condition"
        );
        std::mem::forget(call);
    }
    let result = vm.call("main", &[x()]).expect("runs");
    check(&vm.to_host(result).expect("comes back"));
}
