//! Memory: a warm call on the CPU allocates nothing, and damaged files ask for little. A binary of its own, because it takes the place
//! of the allocator.
#![expect(unsafe_code, reason = "an allocator is unsafe to implement")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::Read;

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

#[path = "it/data.rs"]
mod data;
#[path = "it/mutate.rs"]
mod mutate;
#[path = "it/properties/mod.rs"]
#[allow(dead_code, reason = "other tests call the rest")]
mod properties;

use forge::{Checksums, forged};
use mutate::{Random, mutated};

struct Counting;

thread_local! {
    /// Of this thread: the test harness allocates on its own.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    /// Bytes of the largest.
    static LARGEST: Cell<usize> = const { Cell::new(0) };
    /// Bytes that are not freed, and the most of them at any time. What another thread frees stays counted.
    static HELD: Cell<usize> = const { Cell::new(0) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        LARGEST.set(LARGEST.get().max(layout.size()));
        HELD.set(HELD.get().saturating_add(layout.size()));
        PEAK.set(PEAK.get().max(HELD.get()));
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.set(HELD.get().saturating_sub(layout.size()));
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

/// Ten calls, with pauses, after a few others allocate nothing.
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
        // Threads that have no work for so long sleep.
        std::thread::sleep(std::time::Duration::from_millis(1));
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

/// A compiled model is written from its weights and read into them: neither takes memory for a second copy.
#[test]
fn files_of_compiled_models_take_the_memory_of_their_weights_once() {
    const SLACK: usize = 2 << 20;
    let text = r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2048,), "float32"), w: R.Tensor((4096, 2048), "float32")):
        y = R.add(x, w)
        return y
"#;
    let module = script::parse("add.py", text).unwrap_or_else(|e| panic!("{e}"));
    let elements: Vec<f32> = (0..4096 * 2048).map(|at| (at % 251) as f32).collect();
    let weight = Tensor::from_slice(&[4096, 2048], &elements).expect("as many");
    let bytes = weight.bytes().len();
    let weights = IndexMap::from([("w".to_owned(), weight)]);
    let bound = bind_params(&module, "main", &weights).expect("it fits");
    let options = CompileOptions::new(Target::Cpu(host_target(1)));
    let exec = compile(&bound, &options).expect("compiles");
    let folder = tempfile::tempdir().expect("scratch folder");
    let path = folder.path().join("add.weft");

    let held = HELD.get();
    PEAK.set(held);
    exec.save(&path).expect("writable");
    let taken = PEAK.get() - held;
    assert!(taken < SLACK, "{taken} bytes to write {bytes}");

    let held = HELD.get();
    PEAK.set(held);
    let loaded = Executable::load(&path).expect("what was written");
    let taken = PEAK.get() - held;
    assert!(taken < bytes + SLACK, "{taken} bytes to read {bytes}");
    assert_eq!(loaded.constants, exec.constants);
}

/// ONNX models: those here, and those of the node tests where these are.
fn models() -> Vec<Vec<u8>> {
    let own: [&[u8]; 2] = [
        include_bytes!("it/onnx/linear.onnx"),
        include_bytes!("it/onnx/refused.onnx"),
    ];
    let mut models: Vec<Vec<u8>> = own.map(<[u8]>::to_vec).into();
    let Some(data) = data::data_dir("damaged_models_are_refused") else {
        return models;
    };
    let archive = data.join("onnx-node-tests/node-tests-dev.tar.gz");
    let archive = std::fs::File::open(archive).expect("the archive is there");
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(archive));
    for entry in archive.entries().expect("an archive") {
        let mut entry = entry.expect("an entry");
        if entry.path().is_ok_and(|path| path.ends_with("model.onnx")) {
            let mut bytes = vec![];
            entry.read_to_end(&mut bytes).expect("whole");
            models.push(bytes);
        }
    }
    models
}

/// Most bytes that the import of a small file may hold.
const MOST: usize = 1 << 30;

/// Whatever is done to the bytes of a model, it is compiled or refused, in bounded memory. `WEFTILE_MUTATIONS` says how many.
#[test]
fn damaged_models_are_refused() {
    let rounds = std::env::var("WEFTILE_MUTATIONS");
    let rounds = rounds.map_or(500, |rounds| rounds.parse().expect("a number"));
    let models = models();
    let mut random = Random::new(1);
    let mut decoded = 0;
    for round in 0..rounds {
        let [file, other] = [0, 1].map(|_| &models[random.below(models.len())]);
        let bytes = mutated(file, other, &mut random);
        let held = HELD.get();
        PEAK.set(held);
        decoded += usize::from(properties::onnx_bytes(&bytes));
        let peak = PEAK.get() - held;
        assert!(peak <= MOST, "{peak} bytes in round {round}");
    }
    // Or the mutations try nothing but the decoder.
    assert!(decoded > rounds / 8, "{decoded} of {rounds} were models");
}
