//! Errors name the line of text that they come from, through all passes.

use weftile::artifact::Executable;
use weftile::kernel::{GpuTarget, Target};
use weftile::pipeline::{CompileOptions, compile};
use weftile::runtime::Device;
use weftile::script;
use weftile::tensor::{DType, Tensor};
use weftile::vm::VirtualMachine;

use crate::vm::{build, cpu};

/// A loop program of symbolic size, which `specialize` copies, and a call whose result has a negative size for small `n`.
const CALLS: &str = r#"
@I.ir_module
class Module:
    @T.prim_func
    def double(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,), "float32")
        Y = T.match_buffer(y, (n,), "float32")
        for i in BOUND(n):
            with T.block("Y"):
                vi = T.axis.spatial(n, i)
                Y[vi] = X[vi] * T.float32(2)

    @T.prim_func
    def spread(x: T.handle, y: T.handle):
        m = T.int64()
        X = T.match_buffer(x, (8,), "float32")
        Y = T.match_buffer(y, (m,), "float32")
        for i in range(m):
            with T.block("Y"):
                vi = T.axis.spatial(m, i)
                Y[vi] = X[vi % 8]

    @R.function
    def main(x: R.Tensor(("n",), "float32"), w: R.Tensor((8,), "float32")):
        n = T.int64()
        with R.dataflow():
            a = R.call_tir(double, (w,), R.Tensor((8,), "float32"))
            b = R.call_tir(spread, (a,), R.Tensor((n - 5,), "float32"))
            R.output(b)
        return b
"#;

#[test]
fn a_refused_loop_program_names_its_calls() {
    // A loop bound to an axis, inside another one that is bound to it with another extent.
    let bound = "T.thread_binding(4, \"threadIdx.x\"):\n         for i in T.thread_binding";
    let text = CALLS
        .replace(
            "for i in BOUND(n)",
            &format!("for o in {bound}(n, \"threadIdx.x\")"),
        )
        .replace("            with T.block", "          with T.block")
        .replace("                vi = ", "              vi = ")
        .replace("                Y[vi]", "              Y[vi]");
    let module = script::parse("test.py", &text).unwrap_or_else(|e| panic!("{e}"));
    let options = CompileOptions::new(Target::Gpu(GpuTarget::default()));
    let error = compile(&module, &options)
        .expect_err("an axis twice")
        .to_string();
    let origin = "\n  from line 29: `a = R.call_tir(double, (w,), R.Tensor((8,), \"float32\"))`";
    assert!(error.ends_with(origin), "{error}");
}

/// A GPU does not compute with `float64`: the message names the input by its author's name, a value by where it is computed.
#[test]
fn a_type_that_gpus_lack_is_traced_to_the_graph() {
    let refused = |body: &str| {
        let text = format!(
            "@R.function\ndef main(x: R.Tensor((8, 16), \"float64\"), i: R.Tensor((8,), \"int64\")):\n    \
             R.func_attr({{\"input_names\": [\"the/x:0\", \"i\"]}})\n    {body}\n    return b\n"
        );
        let module = script::parse("test.py", &text).unwrap_or_else(|e| panic!("{e}"));
        let options = CompileOptions::new(Target::Gpu(GpuTarget::default()));
        let error = compile(&module, &options).expect_err("no such type");
        error.to_string()
    };
    let error = refused("b = R.split(x, 2, axis=0)");
    let expected = "is parameter `the/x:0` of `main`";
    assert!(error.contains(expected), "{error}");
    let error = refused(
        "a = R.call_pure_packed(\"make\", i, sinfo_args=R.Tensor((8,), \"float64\"))\n    b = R.exp(a)",
    );
    let expected = "is value `a`, from line 4: `a = R.call_pure_packed(";
    assert!(error.contains(expected), "{error}");
    // Several loop programs, one cause.
    let error =
        refused("a = R.matmul(R.permute_dims(x), x)\n    b = R.sum(R.cumsum(a, axis=0), axis=[1])");
    let first = "loop programs compute with float64, which the GPU does not compute with; cast it to float32, or run it on the CPU \
                 (--device cpu)\n  = parameter `the/x:0` of `main`";
    assert!(error[1..].trim_start().starts_with(first), "{error}");
    assert_eq!(error.matches("does not compute with").count(), 1, "{error}");
}

#[test]
fn a_call_that_fails_names_its_line_also_when_loaded() {
    let (target, _) = cpu();
    let made = build(&CALLS.replace("BOUND", "range"), &target);
    let loaded = Executable::from_bytes(&made.to_bytes().expect("saved")).expect("well formed");
    assert_eq!(loaded.origins, made.origins);
    for executable in [made, loaded] {
        let mut vm = VirtualMachine::new(executable, Device::Cpu).unwrap_or_else(|e| panic!("{e}"));
        let zeros = |n| Tensor::zeros(DType::F32, &[n]).expect("small");
        let error = vm.call("main", &[zeros(4).into(), zeros(8).into()]);
        let error = error.expect_err("a negative size").to_string();
        // Both calls are one kernel.
        let fused = "\n  from line 28: `a = R.call_tir(double, (w,), ";
        let last = ", line 29: `b = R.call_tir(spread, (a,), ";
        assert!(error.contains(fused) && error.contains(last), "{error}");
    }
}
