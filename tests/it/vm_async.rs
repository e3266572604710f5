//! Futures of calls and copies, under an executor that knows nothing of the device.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use weftile::kernel::Target;
use weftile::runtime::{Device, Value};
use weftile::runtime_gpu::{self, Checks, Counters, Gpu};
use weftile::tensor::Tensor;
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
