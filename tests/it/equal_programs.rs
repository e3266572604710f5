//! Loop programs that are equal but for names are scheduled, lowered and turned into machine code once.

use weftile::codegen_cpu::{self, NativeKernel};
use weftile::kernel::Kernel;
use weftile::pipeline::{Compilation, CompileOptions, compile_until};
use weftile::runtime::{Device, Value};
use weftile::script;
use weftile::tensor::Tensor;
use weftile::vm::VirtualMachine;

use crate::vm::cpu;

/// A loop program that multiplies by a number, with names of its own.
fn program(name: &str, [a, b, n, i]: [&str; 4], factor: u32) -> String {
    format!(
        r#"
    @T.prim_func
    def {name}(h_{a}: T.handle, h_{b}: T.handle):
        {n} = T.int64()
        {a} = T.match_buffer(h_{a}, ({n}, 8), "float32")
        {b} = T.match_buffer(h_{b}, ({n}, 8), "float32")
        for {i}, j in T.grid({n}, 8):
            with T.block("scale"):
                v_{i}, vj = T.axis.remap("SS", [{i}, j])
                {b}[v_{i}, vj] = {a}[v_{i}, vj] * T.float32({factor})
"#
    )
}

/// A module of `first` and `second`, which multiplies by this number.
fn module(factor: u32) -> String {
    let first = program("first", ["A", "B", "n", "i"], 2);
    let second = program("second", ["X", "Y", "m", "row"], factor);
    let call =
        |name: &str| format!("R.call_tir(Module.{name}, (x,), R.Tensor((n, 8), \"float32\"))");
    format!(
        r#"
@I.ir_module
class Module:{first}{second}
    @R.function
    def main(x: R.Tensor(("n", 8), "float32")):
        n = T.int64()
        with R.dataflow():
            a = {}
            b = {}
            out = (a, b)
            R.output(out)
        return out
"#,
        call("first"),
        call("second")
    )
}

fn compiled(factor: u32) -> Compilation {
    let module = script::parse("equal.py", &module(factor)).unwrap_or_else(|e| panic!("{e}"));
    let options = CompileOptions::new(cpu().0);
    compile_until(&module, &options, "bytecode").unwrap_or_else(|e| panic!("{e}"))
}

/// How often something was lowered.
fn lowerings(compilation: &Compilation) -> usize {
    let mut stages = compilation.timing.stages();
    let lower = stages.find(|(name, ..)| *name == "lower");
    lower.expect("it is a stage").2
}

#[test]
fn equal_programs_are_lowered_once() {
    let (equal, different) = (compiled(2), compiled(3));
    // One run is that of the stage, which hands on what was lowered.
    let of_first = lowerings(&equal) - 1;
    assert_eq!(lowerings(&different) - 1, 2 * of_first);
    let [first, second] = ["first", "second"].map(|name| &equal.lowered[name]);
    assert_eq!(first.kernels.len(), second.kernels.len());
    assert_eq!(
        (&*second.name, &second.dims[..]),
        ("second", &["m".to_owned()][..])
    );
    let params: Vec<&str> = second.params.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(params, ["X", "Y"]);
    assert!(second.kernels[0].name.starts_with("second"));
    let traces = ["first", "second"].map(|name| equal.scheduled[name].schedule.trace().to_string());
    assert_eq!(traces[0], traces[1]);
    assert_eq!(equal.scheduled["second"].schedule.func().name, "second");
}

/// Where the code of a kernel begins.
fn entries(kernel: &NativeKernel) -> Vec<usize> {
    let segments = kernel.segments.iter();
    segments.map(|segment| segment.entry as usize).collect()
}

#[test]
fn equal_kernels_share_their_code() {
    for (factor, shared) in [(2, true), (3, false)] {
        let compilation = compiled(factor);
        let kernels = ["first", "second"].map(|name| &compilation.lowered[name].kernels[0]);
        assert_ne!(kernels[0].name, kernels[1].name);
        let kernels: Vec<&Kernel> = kernels.into();
        let native = codegen_cpu::compile(&kernels, Default::default()).expect("compiles");
        let [first, second] = [0, 1].map(|at| entries(&native.kernels()[at]));
        assert_eq!(first == second, shared, "times {factor}");
        assert_eq!(native.kernels()[1].name, kernels[1].name);
    }
}

#[test]
fn each_program_computes_what_it_says() {
    for factor in [2, 3] {
        let executable = compiled(factor)
            .executable
            .expect("the last stage makes it");
        let mut vm = VirtualMachine::new(executable, Device::Cpu).expect("ready");
        let x = Tensor::from_slice(&[3, 8], &[1f32; 24]).expect("fits");
        let result = vm.call("main", &[Value::Tensor(x)]).expect("runs");
        let tensors = result.as_tuple().expect("two results");
        for (tensor, expected) in tensors.iter().zip([2.0, factor as f32]) {
            let tensor = tensor.as_tensor().expect("a tensor");
            assert_eq!(tensor.as_slice::<f32>().expect("f32"), [expected; 24]);
        }
    }
}
