//! Programs whose iterations must run in order, which run in one thread, and schedules that bind no loop to threads.

use weftile::kernel::Target;
use weftile::tensor::Tensor;
use weftile::{interp, lower, sched, script};

use super::cases::gpu;
use super::launch::launch;

const SIZES: [usize; 4] = [0, 1, 7, 300];

/// Shapes, with nothing for the symbolic extent, and element types of the parameters of `f`.
type Params<'a> = &'a [(&'a [Option<usize>], &'a str)];
const N: Option<usize> = None;

fn tensor(shape: &[usize], dtype: &str) -> Tensor {
    let len: usize = shape.iter().product();
    if dtype == "int32" {
        let values: Vec<i32> = (0..len as i32).map(|i| i * 7 % 10).collect();
        return Tensor::from_slice(shape, &values).expect("fits");
    }
    // Small multiples of 1/4: sums of them are exact, in any order.
    let values: Vec<f32> = (0..len).map(|i| (i * 5 % 11) as f32 / 4.0 - 1.0).collect();
    Tensor::from_slice(shape, &values).expect("fits")
}

/// Runs `f` on the device and with the interpreter, for each size, with the extent symbolic and then constant.
fn check(text: &str, rules: &[&str], params: Params<'_>) {
    let Some(gpu) = gpu() else { return };
    let target = Target::Gpu(gpu.target().clone());
    for n in SIZES {
        let constant = text
            .replace("    n = T.int64()\n", &format!("    # {n}\n"))
            .replace("(n,", &format!("({n},"))
            .replace("(n)", &format!("({n})"))
            .replace(" n)", &format!(" {n})"));
        for (form, text) in [("symbolic", text), ("constant", &constant)] {
            let module = script::parse("case.py", text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            let func = module.prim_func("f").expect("is there");
            let scheduled = sched::rules::schedule(func, &target);
            if form == "symbolic" {
                assert_eq!(scheduled.rules, rules);
            }
            let lowered = lower::lower(scheduled.schedule.func(), &target)
                .unwrap_or_else(|e| panic!("{form} {n}: {e}"));
            let make = || -> Vec<Tensor> {
                let shape = |s: &[Option<usize>]| -> Vec<usize> {
                    s.iter().map(|extent| extent.unwrap_or(n)).collect()
                };
                params.iter().map(|(s, t)| tensor(&shape(s), t)).collect()
            };
            let (mut got, mut expected) = (make(), make());
            interp::run_prim_func(func, &mut expected).expect("the interpreter runs it");
            launch(&gpu, &lowered, &mut got, 1);
            for (got, expected) in got.iter().zip(&expected) {
                assert_eq!(got.bytes(), expected.bytes(), "{form} {n}\n{text}");
            }
        }
    }
}

const F32: &str = "float32";
const I32: &str = "int32";

#[test]
fn running_sums_in_blocks_of_any_kind() {
    for kind in ["spatial", "opaque", "reduce", "scan"] {
        let text = r#"
@T.prim_func
def f(x: T.handle, y: T.handle):
    n = T.int64()
    X = T.match_buffer(x, (n,), "float32")
    Y = T.match_buffer(y, (n,), "float32")
    for i in range(n):
        with T.block("Y"):
            vi = T.axis.KIND(n, i)
            Y[vi] = T.if_then_else(vi == 0, X[vi], Y[T.max(vi - 1, 0)] + X[vi])
"#;
        let text = text.replace("KIND", kind);
        check(&text, &["serial"], &[(&[N], F32), (&[N], F32)]);
    }
}

#[test]
fn statements_outside_of_blocks() {
    let text = r#"
@T.prim_func
def f(x: T.handle, y: T.handle):
    n = T.int64()
    X = T.match_buffer(x, (n,), "float32")
    Y = T.match_buffer(y, (n,), "float32")
    for i in range(n):
        if i == 0:
            Y[i] = X[i]
        else:
            Y[i] = Y[T.max(i - 1, 0)] + X[i]
    for i in range(n):
        X[i] = Y[i] * T.float32(2)
"#;
    check(text, &["serial", "serial"], &[(&[N], F32), (&[N], F32)]);
}

#[test]
fn histogram() {
    let text = r#"
@T.prim_func
def f(x: T.handle, y: T.handle):
    n = T.int64()
    X = T.match_buffer(x, (n,), "int32")
    Y = T.match_buffer(y, (10,), "int32")
    for i in range(10):
        with T.block("Z"):
            vi = T.axis.spatial(10, i)
            Y[vi] = 0
    for i in range(n):
        with T.block("Y"):
            vi = T.axis.opaque(n, i)
            Y[X[vi]] = Y[X[vi]] + 1
"#;
    let params: Params<'_> = &[(&[N], I32), (&[Some(10)], I32)];
    check(text, &["serial", "elementwise"], params);
}

#[test]
fn in_place_and_wavefront() {
    let in_place = r#"
@T.prim_func
def f(x: T.handle):
    n = T.int64()
    X = T.match_buffer(x, (n,), "float32")
    for i in range(n):
        with T.block("Y"):
            vi = T.axis.spatial(n, i)
            X[vi] = X[vi] + T.float32(1)
"#;
    check(in_place, &["serial"], &[(&[N], F32)]);
    let wavefront = r#"
@T.prim_func
def f(x: T.handle, y: T.handle):
    n = T.int64()
    X = T.match_buffer(x, (50, n), "float32")
    Y = T.match_buffer(y, (50, n), "float32")
    for i, j in T.grid(50, n):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = X[vi, vj] + T.if_then_else(vi > 0, Y[vi - 1, vj], T.float32(0))
"#;
    let params: Params<'_> = &[(&[Some(50), N], F32), (&[Some(50), N], F32)];
    check(wavefront, &["serial"], params);
}

#[test]
fn steps_in_time_that_repeat_two_blocks() {
    let text = r#"
@T.prim_func
def f(x: T.handle, y: T.handle):
    n = T.int64()
    X = T.match_buffer(x, (n,), "float32")
    Y = T.match_buffer(y, (n,), "float32")
    for t in range(3):
        for i in range(n):
            with T.block("Y"):
                vi = T.axis.spatial(n, i)
                Y[vi] = X[T.max(vi - 1, 0)] * T.float32(0.5)
        for i in range(n):
            with T.block("X"):
                vi = T.axis.spatial(n, i)
                X[vi] = Y[vi] + T.float32(1)
"#;
    check(text, &["serial"], &[(&[N], F32), (&[N], F32)]);
}

#[test]
fn reductions_whose_order_matters() {
    for value in [
        "Y[vi] - X[vi, vk]",
        "Y[vi] * T.float32(0.5) + X[vi, vk]",
        "X[vi, vk] - Y[vi]",
    ] {
        let text = r#"
@T.prim_func
def f(x: T.handle, y: T.handle):
    n = T.int64()
    X = T.match_buffer(x, (n, 8), "float32")
    Y = T.match_buffer(y, (n,), "float32")
    for i, k in T.grid(n, 8):
        with T.block("Y"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                Y[vi] = T.float32(0)
            Y[vi] = VALUE
"#;
        let text = text.replace("VALUE", value);
        check(&text, &["fallback"], &[(&[N, Some(8)], F32), (&[N], F32)]);
    }
}

#[test]
fn schedules_that_bind_no_thread() {
    for (kind, rule) in [("parallel", "parallel"), ("serial", "serial")] {
        let text = r#"
@T.prim_func
def f(x: T.handle, y: T.handle):
    n = T.int64()
    X = T.match_buffer(x, (n, 64), "float32")
    Y = T.match_buffer(y, (n, 64), "float32")
    for i in T.KIND(n):
        for j0 in T.unroll(4):
            for j1 in T.vectorized(16):
                with T.block("Y"):
                    vi = T.axis.spatial(n, i)
                    vj = T.axis.spatial(64, j0 * 16 + j1)
                    Y[vi, vj] = X[vi, vj] * T.float32(2)
"#;
        let text = text.replace("KIND", kind);
        let params: Params<'_> = &[(&[N, Some(64)], F32), (&[N, Some(64)], F32)];
        check(&text, &["as written", rule], params);
    }
}
