//! A warm call on the CPU allocates nothing. A binary of its own, because it takes the place of the allocator.
#![expect(unsafe_code, reason = "an allocator is unsafe to implement")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use weftile::artifact::KernelFunc;
use weftile::codegen_vm::compile_graph;
use weftile::kernel::Target;
use weftile::runtime::{Device, Value};
use weftile::tensor::{DType, Tensor};
use weftile::vm::VirtualMachine;
use weftile::{codegen_cpu, lower, sched, script};

struct Counting;

thread_local! {
    /// Of this thread: the test harness allocates on its own.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const MLP: &str = r#"
@I.ir_module
class Mlp:
    @T.prim_func
    def linear(x: T.handle, w: T.handle, b: T.handle, z: T.handle):
        p, m, n = T.int64(), T.int64(), T.int64()
        X = T.match_buffer(x, (p, m), "float32")
        W = T.match_buffer(w, (n, m), "float32")
        B = T.match_buffer(b, (n,), "float32")
        Z = T.match_buffer(z, (p, n), "float32")
        Y = T.alloc_buffer((p, n), "float32")
        for i, j, k in T.grid(p, n, m):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + X[vi, vk] * W[vj, vk]
        for i, j in T.grid(p, n):
            with T.block("Z"):
                vi, vj = T.axis.remap("SS", [i, j])
                Z[vi, vj] = Y[vi, vj] + B[vj]

    @T.prim_func
    def relu(x: T.handle, y: T.handle):
        p, n = T.int64(), T.int64()
        X = T.match_buffer(x, (p, n), "float32")
        Y = T.match_buffer(y, (p, n), "float32")
        for i, j in T.grid(p, n):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = T.max(X[vi, vj], T.float32(0))

    @R.function
    def main(x: R.Tensor(("p", 784), "float32"), w0: R.Tensor((128, 784), "float32"), b0: R.Tensor((128,), "float32"),
             w1: R.Tensor((10, 128), "float32"), b1: R.Tensor((10,), "float32")):
        p = T.int64()
        with R.dataflow():
            lv0 = R.call_dps_packed("linear", (x, w0, b0), R.Tensor((p, 128), "float32"))
            lv1 = R.call_dps_packed("relu", (lv0,), R.Tensor((p, 128), "float32"))
            out = R.call_dps_packed("linear", (lv1, w1, b1), R.Tensor((p, 10), "float32"))
            R.output(out)
        return out
"#;

#[test]
fn a_warm_call_allocates_nothing() {
    let target = Target::Cpu(codegen_cpu::host_target(1));
    let module = script::parse("mlp.py", MLP).unwrap_or_else(|e| panic!("{e}"));
    let kernel = |func| {
        let scheduled = sched::rules::schedule(func, &target);
        KernelFunc {
            func: lower::lower(scheduled.schedule.func(), &target).expect("lowers"),
            wgsl: vec![],
        }
    };
    let kernels = module.prim_funcs().map(|(_, f)| kernel(f)).collect();
    let exec = compile_graph(&module, kernels, &target).expect("compiles");
    let mut vm = VirtualMachine::new(exec, Device::Cpu).expect("ready");
    let func = vm.function("main").expect("there");
    let tensor = |shape: &[usize]| Value::from(Tensor::zeros(DType::F32, shape).expect("small"));
    let mut args = [
        tensor(&[1, 784]),
        tensor(&[128, 784]),
        tensor(&[128]),
        tensor(&[10, 128]),
        tensor(&[10]),
    ];
    let bias: Vec<f32> = (0..10).map(|i| i as f32).collect();
    args[4] = Tensor::from_slice(&[10], &bias).expect("ten").into();
    let mut out = [Value::None];
    for _ in 0..3 {
        vm.call_into(func, &args, &mut out).expect("runs");
    }
    let before = ALLOCATIONS.get();
    for _ in 0..10 {
        vm.call_into(func, &args, &mut out).expect("runs");
    }
    let after = ALLOCATIONS.get();
    assert_eq!(after - before, 0, "allocations in ten calls");
    let result = out[0].as_tensor().expect("a tensor");
    assert_eq!(result.as_slice::<f32>().map(<[f32]>::to_vec), Ok(bias));
}
