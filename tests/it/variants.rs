//! Variants: a program of open sizes has another for one row, which launches of one row take, and on a GPU others for ranges of rows.

use std::collections::HashMap;

use weftile::artifact::{Executable, KernelFunc};
use weftile::codegen_cpu::host_target;
use weftile::kernel::{Assertion, GpuClass, GpuTarget, HostExpr, Target};
use weftile::pipeline::{CompileOptions, compile};
use weftile::runtime::{Device, Value};
use weftile::runtime_gpu::Gpu;
use weftile::support::tolerance::{Tolerance, compare};
use weftile::tensor::scalar::BinOp;
use weftile::tensor::{ScalarType, Tensor};
use weftile::vm::{ProfileKind, VirtualMachine, VmError};
use weftile::{interp, passes, script};

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

/// A dense layer on open rows, large enough for tiles of several sizes.
const WIDE: &str = r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("rows", 256), "float32"), w: R.Tensor((256, 512), "float32")):
        rows = T.int64()
        with R.dataflow():
            y = R.matmul(x, w)
            R.output(y)
        return y
"#;

fn wide(target: Target) -> Executable {
    let module = script::parse("wide.py", WIDE).expect("it is well formed");
    compile(&module, &CompileOptions::new(target)).expect("it compiles")
}

/// The last row of each range that has a variant, in the order in which a launch tries them.
fn ranges(exec: &Executable) -> Vec<i64> {
    let of = exec.kernels.iter().find(|func| !func.variants.is_empty());
    let variants = of.into_iter().flat_map(|func| &func.variants);
    let names = variants.map(|at| exec.kernels[*at as usize].func.name.as_str());
    let last = names.filter_map(|name| name.rsplit_once("_to_")?.1.parse().ok());
    last.collect()
}

#[test]
fn launches_take_the_variant_for_their_number_of_rows() {
    let Some(gpu) = gpu() else { return };
    let exec = wide(nvidia(&gpu));
    let ranges = ranges(&exec);
    assert!(!ranges.is_empty() && ranges.is_sorted(), "{ranges:?}");
    let mut machine = VirtualMachine::new(exec, Device::Gpu(gpu)).expect("it loads");
    let w = data(&[256, 512], false);
    let host = wide(Target::Cpu(host_target(2)));
    let mut host = VirtualMachine::new(host, Device::Cpu).expect("it loads");
    let edges = ranges.iter().flat_map(|&last| [last, last + 1]);
    for rows in [2, 0, 1].into_iter().chain(edges) {
        let x = data(&[rows as usize, 256], false);
        let args = [Value::from(x), Value::from(w.clone())];
        let (result, profile) = machine.profile("main", &args).expect("it runs");
        let result = machine.to_host(result).expect("it can be read");
        // The interpreter would take minutes for the last range.
        let expected = host.call("main", &args).expect("it runs");
        let [expected, result] = [expected, result].map(|value| value.into_tensor());
        let (expected, result) = (expected.expect("a tensor"), result.expect("a tensor"));
        compare(&expected, &result, Tolerance::of(ScalarType::F32, 256))
            .unwrap_or_else(|e| panic!("{rows} rows: {e}"));
        let kernels = profile.entries.into_iter();
        let mut names = kernels.filter(|entry| entry.kind == ProfileKind::Kernel);
        let Some(first) = names.next().filter(|_| rows != 0) else {
            continue;
        };
        let range = ranges.iter().find(|last| rows <= **last);
        let wanted = match range {
            _ if rows == 1 => "rows_1".to_owned(),
            Some(last) => format!("_to_{last}"),
            None => String::new(),
        };
        let is_of_range = first.name.contains("_to_");
        assert!(first.name.contains(&wanted), "{rows}: {}", first.name);
        assert_eq!(is_of_range, rows != 1 && range.is_some(), "{}", first.name);
    }
}

#[test]
fn ranges_of_rows_are_kept_in_files() {
    let exec = wide(Target::Gpu(GpuTarget::usual(GpuClass::Nvidia)));
    let bytes = exec.to_bytes().expect("saved");
    let loaded = Executable::from_bytes(&bytes).expect("a well-formed file");
    assert!(!ranges(&exec).is_empty());
    assert_eq!(ranges(&loaded), ranges(&exec));
    let asserts = |exec: &Executable| -> Vec<String> {
        let funcs = exec.kernels.iter();
        funcs
            .map(|kernel| format!("{:?}", kernel.func.asserts))
            .collect()
    };
    assert_eq!(asserts(&loaded), asserts(&exec));
}

#[test]
fn a_variant_may_be_for_multiples_of_a_size() {
    let module = DENSE.replace("(\"batch\", \"length\", 96)", "(\"batch\", 2, 96)");
    let module = module.replace("batch, length = T.int64(), T.int64()", "batch = T.int64()");
    let module = script::parse("dense.py", &module).expect("it is well formed");
    let options = CompileOptions::new(Target::Cpu(host_target(2)));
    let mut exec = compile(&module, &options).expect("it compiles");
    let of = exec
        .kernels
        .iter()
        .position(|func| !func.variants.is_empty());
    let of = of.unwrap_or(0);
    let mut aligned: KernelFunc = exec.kernels[of].clone();
    aligned.variants.clear();
    aligned.func.name = "aligned".to_owned();
    for kernel in &mut aligned.func.kernels {
        kernel.name = "aligned".to_owned();
    }
    let rest = HostExpr::binary(BinOp::FloorMod, HostExpr::Dim(0), HostExpr::Const(4));
    aligned.func.asserts.push(Assertion {
        holds: HostExpr::binary(BinOp::Eq, rest, HostExpr::Const(0)),
        message: "multiples of four".to_owned(),
    });
    let number = exec.kernels.len() as u32;
    exec.kernels.push(aligned);
    exec.kernels[of].variants.push(number);
    let bytes = exec.to_bytes().expect("saved");
    let exec = Executable::from_bytes(&bytes).expect("a well-formed file");
    let mut machine = VirtualMachine::new(exec, Device::Cpu).expect("it loads");
    for batch in [8, 7, 12, 8, 2] {
        let args = [data(&[batch, 2, 96], false), data(&[96, 40], false)];
        let args = args.map(Value::from);
        let (_, profile) = machine.profile("main", &args).expect("it runs");
        let kernels = profile.entries.into_iter();
        let mut kernels = kernels.filter(|entry| entry.kind == ProfileKind::Kernel);
        let is_aligned = kernels.any(|entry| entry.name.contains("aligned"));
        assert_eq!(is_aligned, batch % 4 == 0, "{batch}");
    }
}

/// Products of two open sizes, and of one that is two extents.
#[test]
fn large_products_of_open_sizes_take_the_variant() {
    let Some(gpu) = gpu() else { return };
    let target = nvidia(&gpu);
    let products = [
        (
            r#"("m", 16)"#,
            r#"(16, "n")"#,
            "m, n = T.int64(), T.int64()",
            "R.matmul(x, y)",
        ),
        (
            r#"("n", 16)"#,
            r#"("n", 16)"#,
            "n = T.int64()",
            "R.matmul(x, R.permute_dims(y))",
        ),
    ];
    for (x, y, sizes, call) in products {
        let text = format!(
            r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor({x}, "float32"), y: R.Tensor({y}, "float32")):
        {sizes}
        with R.dataflow():
            z = {call}
            R.output(z)
        return z
"#
        );
        let module = script::parse("product.py", &text).expect("it is well formed");
        let exec = compile(&module, &CompileOptions::new(target.clone())).expect("it compiles");
        let mut machine = VirtualMachine::new(exec, Device::Gpu(gpu.clone())).expect("it loads");
        for size in [256, 255, 300] {
            let second = if y.starts_with("(16") {
                [16, size]
            } else {
                [size, 16]
            };
            let inputs = [data(&[size, 16], false), data(&second, false)];
            let args = inputs.clone().map(interp::Value::Tensor);
            let expected = interp::run_module(&module, "main", &args, &HashMap::new());
            let Ok(interp::Value::Tensor(expected)) = expected else {
                panic!("{expected:?}");
            };
            let args = inputs.map(Value::from);
            let (result, profile) = machine.profile("main", &args).expect("it runs");
            let result = machine.to_host(result).expect("it can be read");
            let result = result.into_tensor().expect("a tensor");
            let tolerance = Tolerance::of(ScalarType::F32, 16);
            compare(&expected, &result, tolerance)
                .unwrap_or_else(|e| panic!("{call}, {size}: {e}"));
            let mut names = profile.entries.iter().map(|entry| entry.name.as_str());
            let is_large = names.any(|name| name.contains("_large"));
            assert_eq!(is_large, size >= 256, "{call}, {size}");
        }
    }
}

#[test]
fn variants_for_ranges_of_rows_compute_what_the_program_does() {
    let module = script::parse("wide.py", WIDE).expect("it is well formed");
    let target = Target::Gpu(GpuTarget::usual(GpuClass::Nvidia));
    let cx = passes::Cx::new(&module, &target);
    let run = |module: &_, name: &str| {
        let pass = passes::pass(name).expect("is there");
        cx.run(&pass, module).expect("it refuses nothing")
    };
    let with = run(&run(&module, "legalize_ops"), "add_variants");
    let ranges = with.prim_funcs().filter(|(name, _)| name.contains("_to_"));
    let ranges: Vec<_> = ranges.collect();
    assert!(!ranges.is_empty());
    for (name, func) in ranges {
        let general = with.prim_func("matmul").expect("the program");
        let run = |func| {
            let rows = if name.ends_with("_to_4") { 3 } else { 5 };
            let shapes = [[rows, 256], [256, 512], [rows, 512]];
            let mut args = shapes.map(|shape| data(&shape, false));
            interp::run_prim_func(func, &mut args).map(|()| args[2].clone())
        };
        let (one, other) = (run(func).expect("it runs"), run(general).expect("it runs"));
        assert_eq!(
            one.as_slice::<f32>().ok(),
            other.as_slice::<f32>().ok(),
            "{name}"
        );
    }
}

/// `float16` with open rows has fragments where the rows are whole tiles; the schedule computes what the program does.
#[test]
fn whole_tiles_of_float16_are_made_of_fragments() {
    let text = DENSE.replace("(\"batch\", \"length\", 96)", "(\"batch\", 96)");
    let text = text.replace("batch, length = T.int64(), T.int64()", "batch = T.int64()");
    let text = text
        .replace("float32", "float16")
        .replace("(96, 40)", "(96, 64)");
    let module = script::parse("dense.py", &text).expect("it is well formed");
    let gpu = GpuTarget::usual(GpuClass::Nvidia);
    let target = Target::Gpu(gpu.clone());
    let exec = compile(&module, &CompileOptions::new(target.clone())).expect("it compiles");
    let aligned = exec
        .kernels
        .iter()
        .find(|kernel| kernel.func.name.ends_with("_aligned_64"));
    let aligned = aligned.expect("there is a variant");
    let holds = |rows: i64| {
        let mut asserts = aligned.func.asserts.iter();
        asserts.all(|assert| assert.holds.eval(&[rows]) == Ok(1))
    };
    assert_eq!(
        [64, 128, 63, 65, 1].map(holds),
        [true, true, false, false, false]
    );
    let kernels = aligned.func.kernels.iter();
    assert!(
        kernels
            .clone()
            .any(|kernel| kernel.fragments.iter().next().is_some())
    );
    // Accesses in bounds are proved from the assertion alone.
    assert!(kernels.clone().all(|kernel| kernel.in_bounds));
}
