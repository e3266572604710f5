//! Min, max and what programs spell out of them keep NaN on a GPU, as scheduled for devices of every class.

use half::f16;
use weftile::kernel::{GpuClass, GpuTarget, Target};
use weftile::support::tolerance::{Tolerance, compare};
use weftile::tensor::{ScalarType, Tensor};
use weftile::{interp, lower, sched, script};

use super::cases::gpu;
use super::launch::launch;

const CLASSES: [GpuClass; 3] = [GpuClass::Nvidia, GpuClass::Software, GpuClass::Unknown];

/// Numbers between -10 and 10; every seventh element is special, NaN of both signs among them.
fn data(dtype: ScalarType, shape: &[usize], seed: usize) -> Tensor {
    let special = [
        f32::NAN,
        -f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        -0.0,
        0.0,
    ];
    let value = |i: usize| match (i + seed) % 7 {
        0 => special[(i / 7 + i / 42 * seed) % 6],
        _ => ((i * 37 + seed * 11) % 41) as f32 / 2.0 - 10.0,
    };
    let values = (0..shape.iter().product()).map(value);
    match dtype {
        ScalarType::F16 => {
            Tensor::from_slice(shape, &values.map(f16::from_f32).collect::<Vec<_>>())
        }
        _ => Tensor::from_slice(shape, &values.collect::<Vec<f32>>()),
    }
    .expect("as many")
}

/// Runs `f` of the text, whose parameters have these shapes, for devices of each class.
fn check(dtype: ScalarType, text: &str, shapes: &[&[usize]]) {
    let Some(gpu) = gpu() else { return };
    if dtype == ScalarType::F16 && !gpu.target().f16 {
        return;
    }
    let module = script::parse("case.py", text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let func = module.prim_func("f").expect("is there");
    let tensors = || -> Vec<Tensor> {
        let tensor = |(seed, shape): (usize, &&[usize])| data(dtype, shape, seed);
        shapes.iter().enumerate().map(tensor).collect()
    };
    let mut expected = tensors();
    interp::run_prim_func(func, &mut expected).expect("the interpreter runs it");
    for class in [gpu.target().class].into_iter().chain(CLASSES) {
        let target = Target::Gpu(GpuTarget {
            class,
            ..gpu.target().clone()
        });
        let scheduled = sched::rules::schedule(func, &target);
        let lowered = lower::lower(scheduled.schedule.func(), &target).expect("lowers");
        let mut got = tensors();
        launch(&gpu, &lowered, &mut got, 1);
        let (expected, got) = (expected.last(), got.last());
        let (expected, got) = (expected.expect("a result"), got.expect("a result"));
        compare(expected, got, Tolerance::EXACT)
            .unwrap_or_else(|e| panic!("{class:?}: {e}\n{text}"));
    }
}

#[test]
fn elements() {
    let values = [
        "T.max(A[vi], B[vi])",
        "T.min(A[vi], B[vi])",
        "T.max(T.min(A[vi], B[vi]), A[vi])",
        "T.max(A[vi], ZERO)",
        "T.min(ZERO, A[vi])",
        "T.min(T.max(A[vi], ZERO), SIX)",
        "T.max(T.min(A[vi], SIX), -SIX)",
        "T.Select(A[vi] < ZERO, ZERO, A[vi])",
        "T.Select(A[vi] > ZERO, A[vi], ZERO)",
        "T.Select(A[vi] < B[vi], B[vi], A[vi])",
        "T.Select(A[vi] >= B[vi], B[vi], A[vi])",
        "T.if_then_else(not A[vi] > ZERO, ZERO, A[vi])",
        "T.Select(A[vi] != A[vi], SIX, ZERO)",
        "T.Select(A[vi] == A[vi], SIX, ZERO)",
    ];
    for dtype in [ScalarType::F32, ScalarType::F16] {
        for value in values {
            let constant = |v: i32| format!("T.{dtype}({v})");
            let value = value.replace("-SIX", &constant(-6));
            let value = value.replace("SIX", &constant(6));
            let value = value.replace("ZERO", &constant(0));
            let text = format!(
                r#"
@T.prim_func
def f(A: T.Buffer((1000,), "{dtype}"), B: T.Buffer((1000,), "{dtype}"), Y: T.Buffer((1000,), "{dtype}")):
    for i in range(1000):
        with T.block("Y"):
            vi = T.axis.spatial(1000, i)
            Y[vi] = {value}
"#
            );
            check(dtype, &text, &[&[1000], &[1000], &[1000]]);
        }
    }
}

/// A NaN passes from thread to thread, too.
#[test]
fn reductions() {
    for dtype in [ScalarType::F32, ScalarType::F16] {
        for (op, first) in [("max", "min_value"), ("min", "max_value")] {
            let rows = format!(
                r#"
@T.prim_func
def f(A: T.Buffer((13, 300), "{dtype}"), Y: T.Buffer((13,), "{dtype}")):
    for i, k in T.grid(13, 300):
        with T.block("Y"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                Y[vi] = T.{first}("{dtype}")
            Y[vi] = T.{op}(Y[vi], A[vi, vk])
"#
            );
            check(dtype, &rows, &[&[13, 300], &[13]]);
            let few = rows.replace("300", "3");
            check(dtype, &few, &[&[13, 3], &[13]]);
            let columns = format!(
                r#"
@T.prim_func
def f(A: T.Buffer((3, 300), "{dtype}"), Y: T.Buffer((300,), "{dtype}")):
    for i, k in T.grid(300, 3):
        with T.block("Y"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                Y[vi] = T.{first}("{dtype}")
            Y[vi] = T.{op}(Y[vi], A[vk, vi])
"#
            );
            check(dtype, &columns, &[&[3, 300], &[300]]);
        }
    }
}
