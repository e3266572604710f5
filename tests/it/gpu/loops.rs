//! Long loops: lavapipe ends every loop of a thread after 65,535 passes through all of them, without an error.

use weftile::artifact::Executable;
use weftile::kernel::{GpuClass, GpuTarget, LoweredFunc, Proof, Target};
use weftile::lower::{LowerError, LowerProblem};
use weftile::pipeline::{CompileOptions, compile};
use weftile::runtime::Device;
use weftile::runtime_gpu::Gpu;
use weftile::tensor::Tensor;
use weftile::vm::VirtualMachine;
use weftile::{interp, lower, sched, script};

use super::cases::gpu;
use super::launch::launch;

/// Sums of columns: one thread each.
const COLUMNS: &str = r#"
@T.prim_func
def f(a: T.handle, y: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n, 2), "float32")
    Y = T.match_buffer(y, (2,), "float32")
    for i, k in T.grid(2, n):
        with T.block("Y"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                Y[vi] = T.float32(0)
            Y[vi] = Y[vi] + A[vk, vi]
"#;

/// Sums of rows: a workgroup each.
const ROWS: &str = r#"
@T.prim_func
def f(a: T.handle, y: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (2, n), "float32")
    Y = T.match_buffer(y, (2,), "float32")
    for i, k in T.grid(2, n):
        with T.block("Y"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                Y[vi] = T.float32(0)
            Y[vi] = Y[vi] + A[vi, vk]
"#;

fn constant(text: &str, n: usize) -> String {
    let text = text.replace("    n = T.int64()\n", "");
    text.replace("(n, 2)", &format!("({n}, 2)"))
        .replace("(2, n)", &format!("(2, {n})"))
}

/// Sums of ones must be the number of ones. The rules are those of software adapters, and of a large GPU.
fn check(text: &str, rules: [&str; 2], shape: [usize; 2]) {
    let module = script::parse("case.py", text).unwrap_or_else(|e| panic!("{e}"));
    let func = module.prim_func("f").expect("is there");
    let large = GpuTarget {
        known_cores: Some(132),
        ..GpuTarget::usual(GpuClass::Nvidia)
    };
    let of_large = sched::rules::schedule(func, &Target::Gpu(large));
    assert_eq!(of_large.rules, [rules[1]]);
    let Some(gpu) = gpu() else { return };
    let target = Target::Gpu(gpu.target().clone());
    let scheduled = sched::rules::schedule(func, &target);
    if gpu.target().class == GpuClass::Software {
        assert_eq!(scheduled.rules, [rules[0]]);
    }
    let lowered = lower::lower(scheduled.schedule.func(), &target).expect("lowers");
    let terms = shape[0].max(shape[1]);
    let ones = vec![1f32; shape[0] * shape[1]];
    let mut tensors = vec![
        Tensor::from_slice(&shape, &ones).expect("fits"),
        Tensor::from_slice(&[2], &[0f32; 2]).expect("fits"),
    ];
    launch(&gpu, &lowered, &mut tensors, 1);
    let sums = tensors[1].as_slice::<f32>().expect("f32");
    assert_eq!(sums, [terms as f32; 2], "{terms} terms");
}

#[test]
fn serial_sums_of_many_terms() {
    for n in [70_000, 200_000, 1_000_000] {
        check(COLUMNS, ["fallback", "few_results"], [n, 2]);
        check(&constant(COLUMNS, n), ["fallback", "few_results"], [n, 2]);
    }
    check(
        &constant(COLUMNS, 3_000_001),
        ["fallback", "few_results"],
        [3_000_001, 2],
    );
    // Two launches.
    check(COLUMNS, ["fallback", "few_results"], [1_100_000, 2]);
}

#[test]
fn sums_of_many_terms_over_threads() {
    for (n, of_large) in [(200_000, "rows"), (1_000_001, "split_rows")] {
        check(ROWS, ["rows", "rows"], [2, n]);
        check(&constant(ROWS, n), ["rows", of_large], [2, n]);
    }
}

/// What lavapipe is for the compiler.
fn limited() -> Target {
    Target::Gpu(GpuTarget {
        class: GpuClass::Software,
        max_loop_passes: Some(65_535),
        ..GpuTarget::default()
    })
}

fn lowered(text: &str) -> Result<LoweredFunc, LowerError> {
    let module = script::parse("case.py", text).unwrap_or_else(|e| panic!("{e}"));
    let scheduled = sched::rules::schedule(module.prim_func("f").expect("is there"), &limited());
    lower::lower(scheduled.schedule.func(), &limited())
}

/// How often kernels are launched for this extent.
fn launches(lowered: &LoweredFunc, n: i64) -> Vec<i64> {
    let times = |kernel: &weftile::kernel::Kernel| {
        let launch = kernel.launch.as_ref().expect("it is of a GPU");
        launch.times.eval(&[n]).expect("evaluates")
    };
    lowered.kernels.iter().map(times).collect()
}

#[test]
fn sums_of_too_many_terms_for_a_launch_take_several() {
    let constant = lowered(&constant(COLUMNS, 5_000_000)).expect("lowers");
    assert_eq!(launches(&constant, 0), [2]);
    let symbolic = lowered(COLUMNS).expect("lowers");
    let holds = |n: i64| {
        let within =
            |r: &weftile::kernel::Requirement| r.value.eval(&[n]).expect("evaluates") <= r.limit;
        symbolic.requires.iter().all(within)
    };
    assert!(holds(1) && holds(1_000_000) && holds(1 << 29));
    assert!(!holds(1 << 40));
    assert_eq!(launches(&symbolic, 0), [1]);
    assert_eq!(launches(&symbolic, 500_000), [1]);
    // Sixteen iterations a pass; those left over are fewer than sixteen.
    assert_eq!(launches(&symbolic, 5_000_000), [5]);
}

#[test]
fn passes_of_nested_loops_count_together() {
    let nested = |inner: usize| {
        let text = r#"
@T.prim_func
def f(A: T.Buffer((2, 400, INNER), "float32"), Y: T.Buffer((2,), "float32")):
    for i, k, l in T.grid(2, 400, INNER):
        with T.block("Y"):
            vi, vk, vl = T.axis.remap("SRR", [i, k, l])
            with T.init():
                Y[vi] = T.float32(0)
            Y[vi] = Y[vi] + T.exp(A[vi, vl, vk])
"#;
        text.replace("(2, 400, INNER)", &format!("(2, {inner}, 400)"))
            .replace("INNER", &inner.to_string())
    };
    assert_eq!(launches(&lowered(&nested(100)).expect("lowers"), 0), [1]);
    let many = launches(&lowered(&nested(40_000)).expect("lowers"), 0);
    assert!(many[0] > 1, "{many:?}");
}

/// `Y` is summed in place, one row of `A` after the other: no iteration of any loop may run beside another.
const IN_ORDER: &str = r#"
@T.prim_func
def f(A: T.Buffer((ROWS, 50, 40), "float32"), Y: T.Buffer((40,), "float32")):
    for r, i in T.grid(ROWS, 50):
        for j in range(40):
            with T.block("Y"):
                vr = T.axis.opaque(ROWS, r)
                vi = T.axis.opaque(50, i)
                vj = T.axis.opaque(40, j)
                if A[vr, vi, vj] > Y[(vj + 1) % 40]:
                    Y[vj] = Y[vj] + A[vr, vi, vj]
"#;

#[test]
fn loops_of_one_thread_are_spread_over_launches() {
    let Some(gpu) = gpu() else { return };
    for rows in [3_i64, 40, 701] {
        for symbolic in [false, true] {
            let text = IN_ORDER.replace("ROWS", &rows.to_string());
            let text = if symbolic {
                let dims = format!("({rows}, 50, 40)");
                let dims = text.replace(&dims, "(\"n\", 50, 40)");
                let loops = dims.replace(&format!("T.grid({rows}, "), "T.grid(n, ");
                loops.replace(&format!("opaque({rows}, "), "opaque(n, ")
            } else {
                text
            };
            let module = script::parse("case.py", &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            let func = module.prim_func("f").expect("is there");
            let target = Target::Gpu(gpu.target().clone());
            let (_, lowered) = sched::rules::choose(func, &target, |f| lower::lower(f, &target));
            let lowered = lowered.unwrap_or_else(|e| panic!("{e}"));
            let shape = [rows as usize, 50, 40];
            let make = || -> Vec<Tensor> {
                let values: Vec<f32> = (0..shape.iter().product::<usize>())
                    .map(|i| (i * 7 % 13) as f32)
                    .collect();
                let a = Tensor::from_slice(&shape, &values).expect("fits");
                vec![a, Tensor::from_slice(&[40], &[0.0_f32; 40]).expect("fits")]
            };
            let (mut got, mut expected) = (make(), make());
            interp::run_prim_func(func, &mut expected).expect("the interpreter runs it");
            launch(&gpu, &lowered, &mut got, 1);
            assert_eq!(got[1].bytes(), expected[1].bytes(), "{rows} {symbolic}");
            if gpu.target().max_loop_passes.is_some() && rows == 701 {
                let times = &lowered.kernels[0].launch.as_ref().expect("has one").times;
                assert!(times.eval(&[rows]).expect("evaluates") > 1, "{times:?}");
            }
        }
    }
}

/// Windows of one thread: short loops in long ones, of which as many make up a launch as the device lets pass. The pass that ends
/// a loop goes once through each loop inside it, too.
#[test]
fn short_loops_in_long_ones_fill_launches() {
    let Some(gpu) = gpu() else { return };
    let text = r#"
@T.prim_func
def f(a: T.handle, y: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n, 9, 3, 3), "float32")
    Y = T.match_buffer(y, (n, 9), "float32")
    for i in T.serial(n, annotations={"one_thread": True}):
        for j, k, l in T.grid(9, 3, 3):
            with T.block("Y"):
                vi, vj, vk, vl = T.axis.remap("SSRR", [i, j, k, l])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] * T.float32(0.5) + A[vi, vj, vk, vl]
"#;
    let module = script::parse("case.py", text).unwrap_or_else(|e| panic!("{e}"));
    let func = module.prim_func("f").expect("is there");
    let target = Target::Gpu(gpu.target().clone());
    let lowered = lower::lower(func, &target).unwrap_or_else(|e| panic!("{e}"));
    for rows in [380, 400, 420, 1200] {
        let values: Vec<f32> = (0..rows * 81).map(|i| (i * 7 % 13) as f32).collect();
        let make = || {
            let a = Tensor::from_slice(&[rows, 9, 3, 3], &values).expect("fits");
            let y = vec![0.0_f32; rows * 9];
            vec![a, Tensor::from_slice(&[rows, 9], &y).expect("fits")]
        };
        let (mut got, mut expected) = (make(), make());
        interp::run_prim_func(func, &mut expected).expect("the interpreter runs it");
        launch(&gpu, &lowered, &mut got, 1);
        assert_eq!(got[1].bytes(), expected[1].bytes(), "{rows}");
    }
}

/// Programs on `A: float32[n, m]` and `Y: float32[n, 7]`, in whose loops are loops of open extents.
const OPEN: &[(&str, &str)] = &[
    (
        "as many iterations as dims say",
        r#"
    for i in range(n):
        Y[i, 0] = T.float32(1)
        for k in range(m):
            Y[i, 1] = Y[i, 0] * T.float32(0.5) + A[i, k]
            for j in range(n):
                Y[i, 2] = Y[i, 2] * T.float32(0.5) + Y[i, 1] + A[j, k]
            Y[i, 0] = Y[i, 2]"#,
    ),
    (
        "a triangle, summed in an array of the thread",
        r#"
    acc = T.alloc_buffer((3,), "float32", scope="local")
    for t in T.thread_binding(n, "blockIdx.x"):
        for j in range(3):
            acc[j] = T.float32(0)
        for i in range(m):
            for k in range(i):
                acc[k % 3] = acc[k % 3] * T.float32(0.5) + A[i % n, k]
            Y[t, i % 7] = acc[i % 3]"#,
    ),
    (
        "sides of a branch that take different numbers of launches",
        r#"
    for t in range(n):
        if A[t, 1] > T.float32(2):
            for i in range(m):
                for j, k in T.grid(n, 5):
                    Y[t, 5] = Y[t, 5] * T.float32(0.5) + A[j, (i + k) % m]
        else:
            for i, k in T.grid(30, m):
                Y[t, 6] = Y[t, 6] * T.float32(0.5) + A[t, (i * k) % m]"#,
    ),
];

#[test]
fn loops_of_open_extents_are_spread_over_launches() {
    let Some(gpu) = gpu() else { return };
    for (name, body) in OPEN {
        let text = format!(
            "@T.prim_func\ndef f(a: T.handle, y: T.handle):\n    n, m = T.int64(), T.int64()\n    \
             A = T.match_buffer(a, (n, m))\n    Y = T.match_buffer(y, (n, 7)){body}\n"
        );
        let module = script::parse("case.py", &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let func = module.prim_func("f").expect("is there");
        let lowered = |passes: u32| {
            let target = Target::Gpu(GpuTarget {
                max_loop_passes: Some(passes),
                ..gpu.target().clone()
            });
            let (_, lowered) = sched::rules::choose(func, &target, |f| lower::lower(f, &target));
            lowered.unwrap_or_else(|e| panic!("{name}: {e}"))
        };
        let times = |lowered: &LoweredFunc, n: i64, m: i64| {
            let launches = lowered.kernels.iter().filter_map(|k| k.launch.as_ref());
            let times = launches.map(|launch| launch.times.eval(&[n, m]).expect("evaluates"));
            times.max().expect("a kernel of the device")
        };
        let (short, long) = (lowered(64), lowered(65_535));
        assert_eq!(times(&long, 5, 40), 1, "{name}");
        for (n, m) in [(1, 2), (2, 7), (5, 40), (20, 17)] {
            let values = |len: i64| (0..len).map(|i| (i * 7 % 13) as f32).collect::<Vec<f32>>();
            let make = |shape: [i64; 2]| {
                let values = values(shape[0] * shape[1]);
                Tensor::from_slice(&shape.map(|n| n as usize), &values).expect("fits")
            };
            let mut expected = vec![make([n, m]), make([n, 7])];
            interp::run_prim_func(func, &mut expected).expect("the interpreter runs it");
            for lowered in [&short, &long] {
                let mut got = vec![make([n, m]), make([n, 7])];
                launch(&gpu, lowered, &mut got, 1);
                let (got, expected) = (got[1].as_slice::<f32>(), expected[1].as_slice::<f32>());
                assert_eq!(got, expected, "{name} {n} {m}");
            }
        }
        assert!(times(&short, 5, 40) > 1, "{name}");
        assert!(times(&long, 3000, 3000) > 1, "{name}");
    }
}

/// Nothing bounds its `while`; every access is in bounds.
const WHILE: &str = r#"
@T.prim_func
def f(A: T.Buffer((64,), "int32"), Y: T.Buffer((64,), "int32")):
    for i in T.thread_binding(64, "threadIdx.x"):
        Y[i] = 0
        while Y[i] < A[i]:
            Y[i] = Y[i] + 1
"#;

#[test]
fn a_while_is_no_loop_that_surely_ends() {
    let proof = |text: &str| {
        let module = script::parse("case.py", text).unwrap_or_else(|e| panic!("{e}"));
        let target = Target::Gpu(GpuTarget::default());
        let scheduled = sched::rules::schedule(module.prim_func("f").expect("is there"), &target);
        let lowered = lower::lower(scheduled.schedule.func(), &target).expect("lowers");
        lowered.kernels[0].proof()
    };
    let (accesses, loops) = (true, false);
    assert_eq!(proof(WHILE), Proof { accesses, loops });
    assert!(proof(&WHILE.replace("while Y[i] < A[i]", "for k in range(9)")).is_complete());
}

#[test]
fn loops_without_a_bound_are_refused() {
    let problem = *lowered(WHILE).expect_err("is refused").problem;
    assert!(
        matches!(problem, LowerProblem::UnboundedLoop { .. }),
        "{problem:?}"
    );
}

/// `WHILE` between two other programs, in a graph.
const GRAPH: &str = r#"
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def count(A: T.Buffer((64,), "int32"), Y: T.Buffer((64,), "int32")):
        for i in range(64):
            Y[i] = 0
            while Y[i] < A[i]:
                Y[i] = Y[i] + 1

    @R.function
    def main(x: R.Tensor((64,), "int32")) -> R.Tensor((64,), "int32"):
        cls = Module
        a = R.multiply(x, R.const(2, "int32"))
        b = R.call_tir(cls.count, (a,), R.Tensor((64,), "int32"))
        c = R.add(b, a)
        return c
"#;

/// `main` of `GRAPH` gives four times its input.
#[track_caller]
fn fourfold(exec: Executable, gpu: Gpu, x: &[i32]) {
    let expected: Vec<i32> = x.iter().map(|x| 4 * x).collect();
    let x = Tensor::from_slice(&[64], x).expect("fits");
    let mut machine = VirtualMachine::new(exec, Device::Gpu(gpu)).expect("it can be loaded");
    let got = machine.call("main", &[x.into()]).expect("it runs");
    let got = machine.to_host(got).expect("it can be read");
    let got = got.as_tensor().expect("a tensor");
    assert_eq!(got.as_slice::<i32>().expect("int32"), expected);
}

/// Each iteration of a `while` counts one, more often than lavapipe goes through loops.
#[test]
fn loops_without_a_bound_run_on_the_host_where_the_device_would_end_them() {
    let Some(gpu) = gpu() else { return };
    let module = script::parse("case.py", GRAPH).unwrap_or_else(|e| panic!("{e}"));
    let x: Vec<i32> = (0..64).map(|i| 40_000 + i).collect();
    let exec = compile(&module, &CompileOptions::new(limited())).unwrap_or_else(|e| panic!("{e}"));
    let native = exec.kernels.iter().filter(|kernel| kernel.is_native());
    let native: Vec<&str> = native.map(|kernel| kernel.func.name.as_str()).collect();
    assert_eq!(native, ["count"]);
    fourfold(exec, gpu, &x);
}

/// Few enough passes for lavapipe, too.
#[test]
fn loops_without_a_bound_run_on_devices_that_end_no_loops() {
    let Some(gpu) = gpu() else { return };
    let target = Target::Gpu(GpuTarget {
        max_loop_passes: None,
        ..gpu.target().clone()
    });
    let module = script::parse("case.py", GRAPH).unwrap_or_else(|e| panic!("{e}"));
    let exec = compile(&module, &CompileOptions::new(target)).unwrap_or_else(|e| panic!("{e}"));
    assert!(exec.kernels.iter().all(|kernel| !kernel.is_native()));
    let x: Vec<i32> = (0..64).map(|i| i * 7 % 50).collect();
    fourfold(exec, gpu, &x);
}
