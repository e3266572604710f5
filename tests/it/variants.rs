//! Variants: a program of open sizes has another for one row, which launches of one row take.

use std::collections::HashMap;

use weftile::artifact::Executable;
use weftile::codegen_cpu::host_target;
use weftile::kernel::{GpuClass, Target};
use weftile::pipeline::{CompileOptions, compile};
use weftile::runtime::{Device, Value};
use weftile::runtime_gpu::Gpu;
use weftile::support::tolerance::{Tolerance, compare};
use weftile::tensor::{ScalarType, Tensor};
use weftile::vm::{ProfileKind, VirtualMachine, VmError};
use weftile::{interp, script};

use crate::gpu::cases::{data, gpu};

/// A dense layer on rows of two open extents.
const DENSE: &str = r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("batch", "length", 96), "float32"), w: R.Tensor((96, 40), "float32")):
        batch, length = T.int64(), T.int64()
        with R.dataflow():
            y = R.matmul(x, w)
            z = R.nn.relu(y)
            R.output(z)
        return z
"#;

fn executable(target: Target) -> Executable {
    let module = script::parse("dense.py", DENSE).expect("it is well formed");
    compile(&module, &CompileOptions::new(target)).expect("it compiles")
}

/// A target with the rules of a real GPU, and the limits of the one that is there.
fn nvidia(gpu: &Gpu) -> Target {
    let mut target = gpu.target().clone();
    target.class = GpuClass::Nvidia;
    Target::Gpu(target)
}

/// The machines to run on; without an adapter there is only the CPU.
fn machines() -> Vec<VirtualMachine> {
    let mut devices = vec![(Target::Cpu(host_target(2)), Device::Cpu)];
    devices.extend(gpu().map(|gpu| (nvidia(&gpu), Device::Gpu(gpu))));
    let machine = |(target, device)| VirtualMachine::new(executable(target), device);
    let machines = devices.into_iter().map(machine);
    machines.collect::<Result<_, _>>().expect("they load")
}

fn inputs(batch: usize, length: usize) -> [Tensor; 2] {
    [data(&[batch, length, 96], false), data(&[96, 40], false)]
}

/// What the interpreter gives.
fn expected(inputs: &[Tensor]) -> Tensor {
    let module = script::parse("dense.py", DENSE).expect("it is well formed");
    let args: Vec<_> = inputs.iter().cloned().map(interp::Value::Tensor).collect();
    match interp::run_module(&module, "main", &args, &HashMap::new()) {
        Ok(interp::Value::Tensor(result)) => result,
        other => panic!("{other:?}"),
    }
}

/// The names of the kernels of a call, whose result is that of the interpreter.
fn kernels_of_call(machine: &mut VirtualMachine, batch: usize, length: usize) -> Vec<String> {
    let inputs = inputs(batch, length);
    let args: Vec<Value> = inputs.iter().cloned().map(Into::into).collect();
    let (result, profile) = machine.profile("main", &args).expect("it runs");
    let result = machine.to_host(result).expect("it can be read");
    let tolerance = Tolerance::of(ScalarType::F32, 96);
    compare(
        &expected(&inputs),
        &result.into_tensor().expect("a tensor"),
        tolerance,
    )
    .unwrap_or_else(|e| panic!("{batch}, {length}: {e}"));
    let kernels = profile.entries.into_iter();
    let kernels = kernels.filter(|entry| entry.kind == ProfileKind::Kernel);
    kernels.map(|entry| entry.name).collect()
}

#[test]
fn launches_of_one_row_take_the_variant() {
    for mut machine in machines() {
        // Plans of both are kept side by side.
        for _ in 0..2 {
            for (batch, length) in [(1, 1), (1, 7), (3, 1), (5, 13), (1, 1), (0, 1), (1, 0)] {
                let names = kernels_of_call(&mut machine, batch, length);
                let one_row = names.iter().any(|name| name.contains("batch_1_length_1"));
                assert_eq!(one_row, (batch, length) == (1, 1), "{names:?}");
            }
        }
    }
}

#[test]
fn code_of_variants_is_made_when_a_launch_takes_them() {
    let exec = executable(Target::Cpu(host_target(2)));
    let mut machine = VirtualMachine::new(exec, Device::Cpu).expect("it loads");
    let before = machine.native_modules();
    kernels_of_call(&mut machine, 4, 4);
    assert_eq!(machine.native_modules(), before + 1);
    kernels_of_call(&mut machine, 2, 9);
    assert_eq!(machine.native_modules(), before + 1);
    kernels_of_call(&mut machine, 1, 1);
    assert_eq!(machine.native_modules(), before + 2);
}

#[test]
fn software_adapters_have_no_variants() {
    let Some(gpu) = gpu() else { return };
    if gpu.target().class == GpuClass::Software {
        let exec = executable(Target::Gpu(gpu.target().clone()));
        assert!(exec.kernels.iter().all(|kernel| kernel.variants.is_empty()));
    }
}

#[test]
fn variants_are_kept_in_files_and_checked() {
    let exec = executable(Target::Cpu(host_target(2)));
    let bytes = exec.to_bytes().expect("saved");
    let loaded = Executable::from_bytes(&bytes).expect("a well-formed file");
    let links = |exec: &Executable| -> Vec<Vec<u32>> {
        let kernels = exec.kernels.iter();
        kernels.map(|kernel| kernel.variants.clone()).collect()
    };
    assert_eq!(links(&loaded), links(&exec));
    let mut machine = VirtualMachine::new(loaded, Device::Cpu).expect("it loads");
    let names = kernels_of_call(&mut machine, 1, 1);
    assert!(names[0].contains("batch_1_length_1"), "{names:?}");

    let refused = |change: &dyn Fn(&mut Executable)| {
        let mut exec = exec.clone();
        change(&mut exec);
        match VirtualMachine::new(exec, Device::Cpu).map(|_| ()) {
            Err(VmError::Bytecode(error)) => error.to_string(),
            other => panic!("{other:?}"),
        }
    };
    let links = links(&exec);
    let of = links.iter().position(|variants| !variants.is_empty());
    let (of, variant) = of.map(|at| (at, links[at][0])).expect("there are some");
    let itself = refused(&|exec| exec.kernels[of].variants = vec![of as u32]);
    let nothing = refused(&|exec| exec.kernels[of].variants.push(1000));
    let ring = refused(&|exec| exec.kernels[variant as usize].variants = vec![of as u32]);
    let others = refused(&|exec| exec.kernels[of].func.params.swap(0, 1));
    let written = refused(&|exec| exec.kernels[of].func.params[0].written = true);
    for error in [itself, nothing, ring, others, written] {
        assert!(error.contains("is no variant of"), "{error}");
    }
}
