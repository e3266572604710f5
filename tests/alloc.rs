//! A warm call on the CPU allocates nothing. A binary of its own, because it takes the place of the allocator.
#![expect(unsafe_code, reason = "an allocator is unsafe to implement")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use indexmap::IndexMap;
use weftile::artifact::Executable;
use weftile::codegen_cpu::host_target;
use weftile::ir::Module;
use weftile::kernel::Target;
use weftile::passes::bind_params;
use weftile::pipeline::{CompileOptions, compile};
use weftile::runtime::{Device, Value};
use weftile::script;
use weftile::tensor::{DType, Tensor};
use weftile::vm::VirtualMachine;

#[path = "it/forge.rs"]
mod forge;

use forge::{Checksums, forged};

struct Counting;

thread_local! {
    /// Of this thread: the test harness allocates on its own.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    /// Bytes of the largest.
    static LARGEST: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        LARGEST.set(LARGEST.get().max(layout.size()));
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

/// The demo's network, all sizes symbolic.
const MLP: &str = include_str!("../examples/fashion_mnist/mlp.py");

/// Weights that make the result the last bias.
fn weights() -> IndexMap<String, Tensor> {
    let zeros = |shape: &[usize]| Tensor::zeros(DType::F32, shape).expect("small");
    let bias: Vec<f32> = (0..10).map(|i| i as f32).collect();
    let bias = Tensor::from_slice(&[10], &bias).expect("ten");
    let all = [
        ("w0", zeros(&[128, 784])),
        ("b0", zeros(&[128])),
        ("w1", zeros(&[10, 128])),
        ("b1", bias),
    ];
    all.map(|(name, tensor)| (name.to_owned(), tensor)).into()
}

/// Ten calls after a few others allocate nothing.
fn check(module: &Module, weights: Vec<Value>) {
    let target = Target::Cpu(host_target(1));
    let exec = compile(module, &CompileOptions::new(target)).expect("compiles");
    let mut vm = VirtualMachine::new(exec, Device::Cpu).expect("ready");
    let func = vm.function("main").expect("there");
    let x = Tensor::zeros(DType::F32, &[1, 784]).expect("small");
    let mut args = vec![Value::from(x)];
    args.extend(weights);
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
    let bias: Vec<f32> = (0..10).map(|i| i as f32).collect();
    assert_eq!(result.as_slice::<f32>().map(<[f32]>::to_vec), Ok(bias));
}

#[test]
fn a_warm_call_allocates_nothing() {
    let module = script::parse("mlp.py", MLP).unwrap_or_else(|e| panic!("{e}"));
    check(&module, weights().into_values().map(Value::from).collect());
}

#[test]
fn a_warm_call_with_bound_weights_allocates_nothing() {
    let module = script::parse("mlp.py", MLP).unwrap_or_else(|e| panic!("{e}"));
    let bound = bind_params(&module, "main", &weights()).expect("they fit");
    check(&bound, vec![]);
}

/// Sizes that a damaged file says are not believed: what is allocated for one is bounded.
#[test]
fn damaged_artifacts_ask_for_little_memory() {
    let module = script::parse("mlp.py", MLP).unwrap_or_else(|e| panic!("{e}"));
    let target = Target::Cpu(host_target(1));
    let exec = compile(&module, &CompileOptions::new(target)).expect("compiles");
    let bytes = exec.to_bytes().expect("saved");
    Executable::from_bytes(&bytes).expect("undamaged");
    LARGEST.set(0);
    let _ = Executable::from_bytes(&bytes);
    let undamaged = LARGEST.get();
    let check = |damaged: &[u8], what: &str| {
        LARGEST.set(0);
        let _ = Executable::from_bytes(damaged);
        let largest = LARGEST.get();
        // For a list, serde reserves 1 MiB at most, whatever its length is said to be.
        let most = undamaged.max(8 * bytes.len()).max(1 << 20);
        let len = bytes.len();
        assert!(
            largest <= most,
            "{largest} bytes for a file of {len}, {what}"
        );
    };
    for at in (0..bytes.len()).step_by(61) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0xff;
        check(&damaged, &format!("damaged at {at}"));
    }
    for entry in ["bytecode", "kernels", "origins"] {
        for at in 0..200 {
            let checksums = [Checksums::Fitting, Checksums::AsTheyWere][at % 2];
            let damaged = forged(&bytes, checksums, |name, mut content| {
                if name == entry && !content.is_empty() {
                    let at = at * content.len() / 200;
                    content[at] = 0xff;
                }
                Some(content)
            });
            check(&damaged, &format!("{entry} damaged at {at} of 200"));
        }
    }
}
