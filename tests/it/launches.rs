//! Kernels whose loops are too long for one launch: launches go on where the one before ended.

use weftile::artifact::Executable;
use weftile::ir::{Module, PrimFunc};
use weftile::kernel::{GpuClass, GpuTarget, Target};
use weftile::pipeline::{CompileOptions, compile};
use weftile::script;

use crate::runs;

/// Programs on `A: float32[5, 40]` and `Y: float32[5, 7]`.
const PROGRAMS: &[(&str, &str)] = &[
    (
        "an array of the thread, in a loop whose body is long itself",
        r#"
    acc = T.alloc_buffer((3,), "float32", scope="local")
    for t in T.thread_binding(5, "threadIdx.x"):
        for j in range(3):
            acc[j] = T.float32(0)
        for i in range(7):
            for k in range(30):
                acc[k % 3] = acc[k % 3] * T.float32(0.5) + A[t, (i * 30 + k) % 40]
            Y[t, i] = acc[i % 3]"#,
    ),
    (
        "arrays of the thread that take loops to copy",
        r#"
    acc = T.alloc_buffer((20,), "float32", scope="local")
    for t in T.thread_binding(5, "blockIdx.x"):
        for j in T.unroll(20):
            acc[j] = A[t, j]
        for i in range(5000):
            acc[i % 20] = acc[(i + 7) % 20] * T.float32(0.5) + A[t, i % 40]
        for j in T.unroll(7):
            Y[t, j] = acc[2 * j]"#,
    ),
    (
        "memory of the workgroup in which threads meet",
        r#"
    S = T.alloc_buffer((7,), "float32", scope="shared")
    R = T.alloc_buffer((1,), "float32", scope="local")
    for b in T.thread_binding(5, "blockIdx.x"):
        for t in T.thread_binding(7, "threadIdx.x"):
            S[t] = A[b, t]
            R[0] = T.float32(0)
            for i in range(3000):
                R[0] = R[0] * T.float32(0.5) + S[(t + 1) % 7]
                S[t] = R[0] + A[b, (i + t) % 40]
            Y[b, t] = R[0]"#,
    ),
    (
        "conditions that change behind them",
        r#"
    for t in T.thread_binding(5, "threadIdx.x"):
        if A[t, 0] > T.float32(0):
            for k in range(3000):
                A[t, 0] = A[t, 0] - T.float32(0.25)
                Y[t, 0] = Y[t, 0] + T.float32(1)
        else:
            for k in range(1500):
                Y[t, 1] = Y[t, 1] + A[t, k % 40]
                A[t, 0] = T.float32(1)
        Y[t, 2] = A[t, 0]"#,
    ),
    (
        "loops in loops, each longer than a launch, in order",
        r#"
    for i in range(5):
        Y[i, 0] = T.float32(1)
        for k in range(40):
            Y[i, 1] = Y[i, 0] * T.float32(0.5) + A[i, k]
            for j in range(30):
                Y[i, 2] = Y[i, 2] * T.float32(0.5) + Y[i, 1] + A[i, (j + k) % 40]
            Y[i, 0] = Y[i, 2]"#,
    ),
    (
        "sides of a branch that take different numbers of launches",
        r#"
    for t in T.thread_binding(5, "threadIdx.x"):
        if A[t, 1] > T.float32(0):
            for i in range(3):
                for k in range(800):
                    Y[t, 5] = Y[t, 5] * T.float32(0.5) + A[t, (i + k) % 40]
        else:
            for i in range(9):
                for k in range(800):
                    Y[t, 6] = Y[t, 6] * T.float32(0.5) + A[t, (i * k) % 40]"#,
    ),
    (
        "a loop that ends early, and one that goes on",
        r#"
    for i in range(5):
        for k in range(4000):
            if A[i, k % 40] + T.Cast("float32", k) > T.float32(900) * T.Cast("float32", i + 1):
                break
            Y[i, 3] = Y[i, 3] + A[i, k % 40]
            if A[i, k % 40] < T.float32(0):
                continue
            Y[i, 4] = Y[i, 4] + T.float32(1)"#,
    ),
];

fn parse(body: &str) -> PrimFunc {
    let text = format!(
        "@T.prim_func\ndef f(A: T.Buffer((5, 40), \"float32\"), Y: T.Buffer((5, 7), \"float32\")):{body}\n"
    );
    let module = script::parse("case.py", &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    module.prim_func("f").expect("is there").clone()
}

#[test]
fn launches_go_on_where_the_one_before_ended() {
    let programs: Vec<PrimFunc> = PROGRAMS.iter().map(|(_, body)| parse(body)).collect();
    let count = runs::all_agree(programs.iter().cloned());
    assert_eq!(count, PROGRAMS.len(), "the interpreter runs all of them");
    runs::all_agree_in_short_launches(programs.into_iter());
}

fn compiled(func: &PrimFunc, passes: u32) -> Executable {
    compiled_module(&runs::alone(func), passes)
}

fn compiled_module(module: &Module, passes: u32) -> Executable {
    let gpu = GpuTarget {
        class: GpuClass::Software,
        max_loop_passes: Some(passes),
        ..GpuTarget::default()
    };
    compile(module, &CompileOptions::new(Target::Gpu(gpu))).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn every_program_takes_several_launches_of_the_device() {
    let mut single = vec![];
    for (name, body) in PROGRAMS {
        let exec = compiled(&parse(body), 64);
        let launches = |kernel: &weftile::kernel::Kernel| {
            let launch = kernel.launch.as_ref().expect("it is of the device");
            launch.times.eval(&[]).expect("a constant")
        };
        let kernels = exec.kernels.iter().flat_map(|func| &func.func.kernels);
        if kernels.map(launches).max() <= Some(1) {
            single.push(name);
        }
    }
    assert!(single.is_empty(), "{single:?}");
}

/// Sums of as many elements as data say.
const RAGGED: &str = r#"
@T.prim_func
def f(A: T.Buffer((40,), "float32"), P: T.Buffer((5,), "int32"), Y: T.Buffer((4,), "float32")):
    for i in range(4):
        Y[i] = T.float32(0)
        for k in range(P[i + 1] - P[i]):
            Y[i] = Y[i] + A[P[i] + k]
        for k in T.serial(P[i], P[i + 1]):
            Y[i] = Y[i] * T.float32(0.5) + A[k]
"#;

#[test]
fn loops_as_long_as_data_say_run_everywhere() {
    let module = script::parse("case.py", RAGGED).unwrap_or_else(|e| panic!("{e}"));
    let func = module.prim_func("f").expect("is there");
    assert_eq!(runs::all_agree([func.clone()].into_iter()), 1);
    let exec = compiled(func, 65_535);
    assert!(exec.kernels.iter().all(|kernel| kernel.is_native()));
}

/// More launches than a device is given for one kernel.
#[test]
fn the_host_runs_what_takes_too_many_launches() {
    let exec = compiled(&parse(PROGRAMS[4].1), 3);
    assert!(exec.kernels.iter().all(|kernel| kernel.is_native()));
}

/// A sum of few long columns: one thread a column would need several launches.
const COLUMNS: &str = r#"
@I.ir_module
class Module:
    @T.prim_func
    def columns(A: T.Buffer((500000, 2), "float32"), Y: T.Buffer((2,), "float32")):
        for j, k in T.grid(2, 500000):
            with T.block("Y"):
                vj, vk = T.axis.remap("SR", [j, k])
                with T.init():
                    Y[vj] = T.float32(0)
                Y[vj] = Y[vj] + A[vk, vj]

    @R.function
    def main(a: R.Tensor((500000, 2), "float32")):
        with R.dataflow():
            y = R.call_tir(columns, (a,), R.Tensor((2,), "float32"))
            R.output(y)
        return y
"#;

#[test]
fn a_schedule_of_one_launch_comes_first() {
    let module = script::parse("case.py", COLUMNS).unwrap_or_else(|e| panic!("{e}"));
    let exec = compiled_module(&module, 65_535);
    for kernel in exec.kernels.iter().flat_map(|func| &func.func.kernels) {
        let launch = kernel.launch.as_ref().expect("it is of the device");
        let times = launch.times.eval(&[]).expect("a constant");
        assert_eq!(times, 1, "{}", kernel.name);
    }
}
