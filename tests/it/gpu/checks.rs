//! Which launches of a shader run without the driver's checks, and when their code is made.

use std::sync::Arc;

use weftile::artifact::Executable;
use weftile::runtime::Device;
use weftile::tensor::{DType, Tensor};
use weftile::vm::VirtualMachine;

use crate::vm::{build, devices};
use crate::vm_graph::truth;

/// The last row of each matrix, which is none of matrices without rows.
const LAST: &str = r#"
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def last(a: T.handle, b: T.handle):
        n, m = T.int64(), T.int64()
        A = T.match_buffer(a, (n, m, 4))
        B = T.match_buffer(b, (n, 4))
        for i, j in T.grid(n, 4):
            with T.block("B"):
                v, w = T.axis.remap("SS", [i, j])
                B[v, w] = A[v, m - T.int64(1), w]

    @R.function
    def main(x: R.Tensor(("n", "m", 4), "float32")) -> R.Tensor(("n", 4), "float32"):
        n, m = T.int64(), T.int64()
        with R.dataflow():
            y = R.call_tir(Module.last, (x,), out_sinfo=R.Tensor((n, 4), dtype="float32"))
            R.output(y)
        return y
"#;

/// What a call says of the accesses of its kernels, and its result.
fn call(vm: &mut VirtualMachine, shape: [usize; 3]) -> (Vec<&'static str>, Vec<f32>) {
    let count = shape.iter().product();
    let x: Vec<f32> = (0..count).map(|i: usize| i as f32).collect();
    let x = Tensor::from_slice(&shape, &x).expect("as many elements");
    let (y, profile) = vm.profile("main", &[x.into()]).expect("runs");
    let y = vm.to_host(y).expect("comes back");
    let y = y
        .as_tensor()
        .expect("a tensor")
        .as_slice()
        .expect("of float32")
        .to_vec();
    let code = profile.entries.iter().filter_map(|entry| entry.code);
    (code.collect(), y)
}

/// Nothing shows the accesses of all launches, but each that has rows shows its own.
#[test]
fn launches_that_show_their_accesses_run_without_checks() {
    let gpus = devices()
        .into_iter()
        .filter(|(_, device)| !matches!(device, Device::Cpu));
    for (target, device) in gpus {
        let exec = build(LAST, &target);
        let bytes = exec.to_bytes().expect("saved");
        let mut vm = VirtualMachine::new(Arc::new(exec), device.clone()).expect("ready");
        for _ in 0..2 {
            for (rows, code) in [(3, "proved"), (0, "checked"), (1, "proved")] {
                let (ran, y) = call(&mut vm, [2, rows, 4]);
                assert_eq!(ran, [code], "{rows} rows");
                if rows > 0 {
                    let last = |matrix: usize| {
                        (0..4).map(move |i| ((matrix + 1) * rows * 4 - 4 + i) as f32)
                    };
                    assert!((0..2).flat_map(last).eq(y), "{rows} rows");
                }
            }
        }
        // A file may hold any shader for the kernel.
        let loaded = Executable::from_bytes(&bytes).expect("loaded");
        let mut vm = VirtualMachine::new(Arc::new(loaded), device).expect("ready");
        assert_eq!(call(&mut vm, [2, 3, 4]).0, ["checked"]);
    }
}

/// The first call makes what other launches take at its sizes, too: here, that of the branch which it does not take.
#[test]
fn what_is_launched_at_the_same_sizes_is_made_together() {
    let last = &LAST[..LAST.find("    @R.function").expect("there is one")];
    let first = &last[last.find("    @T.prim_func").expect("there is one")..];
    let first = first
        .replace("def last", "def first")
        .replace("m - T.int64(1)", "T.int64(0)");
    let call = |name: &str| {
        format!("R.call_tir(Module.{name}, (x,), out_sinfo=R.Tensor((n, 4), dtype=\"float32\"))")
    };
    let text = format!(
        r#"{last}{first}
    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor(("n", "m", 4), "float32")):
        n, m = T.int64(), T.int64()
        if c:
            y = {}
        else:
            y = {}
        return y
"#,
        call("first"),
        call("last")
    );
    for (target, device) in devices() {
        let Device::Gpu(gpu) = &device else { continue };
        let gpu = gpu.clone();
        let mut vm = VirtualMachine::new(Arc::new(build(&text, &target)), device).expect("ready");
        let loaded = gpu.counters().pipelines;
        let mut pipelines = |c: bool, rows: usize| {
            let c = truth(c);
            let x = Tensor::zeros(DType::F32, &[2, rows, 4]).expect("small");
            vm.call("main", &[c, x.into()]).expect("runs");
            gpu.counters().pipelines - loaded
        };
        assert_eq!(pipelines(true, 3), 2, "of both branches, unchecked");
        assert_eq!(pipelines(false, 3), 2);
        assert_eq!(pipelines(false, 0), 4, "of both branches, checked");
        assert_eq!(pipelines(true, 0), 4);
        assert_eq!(pipelines(true, 5), 4);
    }
}
