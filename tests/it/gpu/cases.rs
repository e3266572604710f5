//! Default schedules on the GPU compute what the interpreter computes.

use weftile::kernel::{GpuClass, Target};
use weftile::runtime_gpu::{Gpu, adapters};
use weftile::support::tolerance::{Tolerance, compare};
use weftile::tensor::{ScalarType, Tensor};
use weftile::{interp, lower, passes, sched, script};

use super::launch::launch;

/// The first adapter; `None` where there is none and none is required.
#[expect(clippy::print_stderr, reason = "a skipped test must say so")]
pub(crate) fn gpu() -> Option<Gpu> {
    match adapters().first() {
        Some(adapter) => Some(adapter.open(Default::default()).expect("opens")),
        None if std::env::var_os("WEFTILE_REQUIRE_GPU").is_some() => {
            panic!("WEFTILE_REQUIRE_GPU is set, but there is no adapter")
        }
        None => {
            eprintln!("skipped: no adapter");
            None
        }
    }
}

/// Values between -1 and 1, with a NaN, infinities and -0.0 among them if asked for.
pub(crate) fn data(shape: &[usize], special: bool) -> Tensor {
    let len: usize = shape.iter().product();
    let mut state = 0x2545_f491_4f6c_dd1d_u64 ^ len as u64;
    let mut values: Vec<f32> = (0..len)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state % 2001) as f32 / 1000.0 - 1.0
        })
        .collect();
    if special {
        let specials = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0];
        for (i, v) in specials.into_iter().enumerate() {
            if let Some(place) = values.get_mut(i * 3) {
                *place = v;
            }
        }
    }
    Tensor::from_slice(shape, &values).expect("the shape fits")
}

/// Runs the function `f` of the text on both for each list of shapes; the last tensor is the result.
fn check(text: &str, rules: &[&str], terms: usize, special: bool, cases: &[&[&[usize]]]) {
    check_as(None, text, rules, terms, special, cases);
}

/// The same, with the schedule for a device of another class that has the limits of the one that is there.
pub(super) fn check_as(
    class: Option<GpuClass>,
    text: &str,
    rules: &[&str],
    terms: usize,
    special: bool,
    cases: &[&[&[usize]]],
) {
    let Some(gpu) = gpu() else { return };
    let module = script::parse("case.py", text).unwrap_or_else(|e| panic!("{e}"));
    let func = module.prim_func("f").expect("is there");
    let mut target = gpu.target().clone();
    target.class = class.unwrap_or(target.class);
    let target = Target::Gpu(target);
    let scheduled = sched::rules::schedule(func, &target);
    assert_eq!(scheduled.rules, rules, "{class:?}");
    let lowered = lower::lower(scheduled.schedule.func(), &target).expect("lowers");
    for kernel in &lowered.kernels {
        assert!(
            kernel.in_bounds,
            "{class:?}: {} has unproved accesses",
            kernel.name
        );
    }
    for shapes in cases {
        let (result, inputs) = shapes.split_last().expect("has a result");
        let make = || -> Vec<Tensor> {
            let inputs = inputs.iter().map(|s| data(s, special));
            inputs.chain([data(result, false)]).collect()
        };
        let (mut tensors, mut expected) = (make(), make());
        interp::run_prim_func(func, &mut expected).expect("the interpreter runs it");
        launch(&gpu, &lowered, &mut tensors, 1);
        let tolerance = Tolerance::of(ScalarType::F32, terms);
        let difference = compare(&expected[inputs.len()], &tensors[inputs.len()], tolerance);
        assert!(difference.is_ok(), "{class:?} {shapes:?}: {difference:?}");
    }
}

#[test]
fn elementwise_with_a_symbolic_extent() {
    let text = r#"
@T.prim_func
def f(x: T.handle, y: T.handle):
    n = T.int64()
    X = T.match_buffer(x, (n,), "float32")
    Y = T.match_buffer(y, (n,), "float32")
    for i in T.serial(n):
        with T.block("Y"):
            vi = T.axis.spatial(n, i)
            Y[vi] = T.max(X[vi] * T.float32(2), T.float32(0))
"#;
    let shapes: &[&[&[usize]]] = &[
        &[&[0], &[0]],
        &[&[1], &[1]],
        &[&[2], &[2]],
        &[&[67], &[67]],
        &[&[4099], &[4099]],
        &[&[70_001], &[70_001]],
    ];
    check(text, &["elementwise"], 1, true, shapes);
}

#[test]
fn elementwise_over_rows_of_whole_vectors() {
    let text = r#"
@T.prim_func
def f(x: T.handle, b: T.Buffer((64,), "float32"), y: T.handle):
    n = T.int64()
    X = T.match_buffer(x, (n, 64), "float32")
    Y = T.match_buffer(y, (n, 64), "float32")
    T_add = T.alloc_buffer((n, 64), "float32")
    for i, j in T.grid(n, 64):
        with T.block("add"):
            vi, vj = T.axis.remap("SS", [i, j])
            T_add[vi, vj] = X[vi, vj] + b[vj]
    for i, j in T.grid(n, 64):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = T.exp(T_add[vi, vj])
"#;
    let shapes: &[&[&[usize]]] = &[
        &[&[1, 64], &[64], &[1, 64]],
        &[&[13, 64], &[64], &[13, 64]],
        &[&[1031, 64], &[64], &[1031, 64]],
    ];
    check(text, &["elementwise"], 1, false, shapes);
}

#[test]
fn transpose() {
    let text = r#"
@T.prim_func
def f(x: T.handle, y: T.handle):
    n, m = T.int64(), T.int64()
    X = T.match_buffer(x, (n, m), "float32")
    Y = T.match_buffer(y, (m, n), "float32")
    for i, j in T.grid(m, n):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = X[vj, vi]
"#;
    let shapes: &[&[&[usize]]] = &[
        &[&[1, 1], &[1, 1]],
        &[&[7, 130], &[130, 7]],
        &[&[31, 67], &[67, 31]],
    ];
    for (class, rule) in [
        (GpuClass::Software, "elementwise"),
        (GpuClass::Nvidia, "transpose"),
    ] {
        check_as(Some(class), text, &[rule], 1, true, shapes);
    }
}

/// A linear layer on batches of sequences, as transformers have it, and what is added to its result.
pub(super) const ROWS_OF_SEQUENCES: &str = r#"
@T.prim_func
def f(px: T.handle, pw: T.handle, pb: T.handle, py: T.handle):
    b, s = T.int64(), T.int64()
    X = T.match_buffer(px, (b, s, 40), "float32")
    W = T.match_buffer(pw, (40, 24), "float32")
    B = T.match_buffer(pb, (24,), "float32")
    Y = T.match_buffer(py, (b, s, 24), "float32")
    C = T.alloc_buffer((b, s, 24), "float32")
    for i, j, n, k in T.grid(b, s, T.int64(24), T.int64(40)):
        with T.block("C"):
            vi, vj, vn, vk = T.axis.remap("SSSR", [i, j, n, k])
            with T.init():
                C[vi, vj, vn] = T.float32(0)
            C[vi, vj, vn] = C[vi, vj, vn] + X[vi, vj, vk] * W[vk, vn]
    for i, j, n in T.grid(b, s, T.int64(24)):
        with T.block("Y"):
            vi, vj, vn = T.axis.remap("SSS", [i, j, n])
            Y[vi, vj, vn] = C[vi, vj, vn] + B[vn]
"#;

/// Sizes of [`ROWS_OF_SEQUENCES`]: tiles hold rows of several sequences, of one, and past the last.
pub(super) const SEQUENCES: &[&[&[usize]]] = &[
    &[&[1, 1, 40], &[40, 24], &[24], &[1, 1, 24]],
    &[&[3, 5, 40], &[40, 24], &[24], &[3, 5, 24]],
    &[&[2, 64, 40], &[40, 24], &[24], &[2, 64, 24]],
    &[&[7, 37, 40], &[40, 24], &[24], &[7, 37, 24]],
];

pub(super) const LINEAR: &str = r#"
@T.prim_func
def f(x: T.handle, w: T.handle, b: T.handle, z: T.handle):
    s, m, n = T.int64(), T.int64(), T.int64()
    X = T.match_buffer(x, (s, m), "float32")
    W = T.match_buffer(w, (n, m), "float32")
    B = T.match_buffer(b, (n,), "float32")
    Z = T.match_buffer(z, (s, n), "float32")
    Y = T.alloc_buffer((s, n), "float32")
    for i, j, k in T.grid(s, n, m):
        with T.block("Y"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                Y[vi, vj] = T.float32(0)
            Y[vi, vj] = Y[vi, vj] + X[vi, vk] * W[vj, vk]
    for i, j in T.grid(s, n):
        with T.block("Z"):
            vi, vj = T.axis.remap("SS", [i, j])
            Z[vi, vj] = Y[vi, vj] + B[vj]
"#;

/// Weights of attention by values: few columns, and a sum of open length.
pub(super) const WEIGHTED_VALUES: &str = r#"
@T.prim_func
def f(pp: T.handle, pv: T.handle, py: T.handle):
    b, s, t = T.int64(), T.int64(), T.int64()
    P = T.match_buffer(pp, (b, T.int64(2), s, t), "float32")
    V = T.match_buffer(pv, (b, T.int64(2), t, T.int64(24)), "float32")
    Y = T.match_buffer(py, (b, T.int64(2), s, T.int64(24)), "float32")
    for i, h, j, n, k in T.grid(b, T.int64(2), s, T.int64(24), t):
        with T.block("Y"):
            vi, vh, vj, vn, vk = T.axis.remap("SSSSR", [i, h, j, n, k])
            with T.init():
                Y[vi, vh, vj, vn] = T.float32(0)
            Y[vi, vh, vj, vn] = Y[vi, vh, vj, vn] + P[vi, vh, vj, vk] * V[vi, vh, vk, vn]
"#;

/// Sizes of [`WEIGHTED_VALUES`].
pub(super) const OF_VALUES: &[&[&[usize]]] = &[
    &[&[1, 2, 1, 1], &[1, 2, 1, 24], &[1, 2, 1, 24]],
    &[&[3, 2, 37, 13], &[3, 2, 13, 24], &[3, 2, 37, 24]],
];

#[test]
fn a_sum_of_open_length_for_fewer_columns_than_a_tile_has() {
    check(WEIGHTED_VALUES, &["matmul"], 13, false, OF_VALUES);
}

#[test]
fn what_is_appended_to_a_cache_of_open_length() {
    let text = r#"
@T.prim_func
def f(pa: T.handle, pb: T.handle, pc: T.handle):
    b, s, p = T.int64(), T.int64(), T.int64()
    A = T.match_buffer(pa, (b, T.int64(2), p, T.int64(12)), "float32")
    B = T.match_buffer(pb, (b, T.int64(2), s, T.int64(12)), "float32")
    C = T.match_buffer(pc, (b, T.int64(2), s + p, T.int64(12)), "float32")
    for i, j, k, l in T.grid(b, T.int64(2), s + p, T.int64(12)):
        with T.block("C"):
            vi, vj, vk, vl = T.axis.remap("SSSS", [i, j, k, l])
            C[vi, vj, vk, vl] = T.if_then_else(vk < p, A[vi, vj, vk, vl], B[vi, vj, vk - p, vl])
"#;
    let Some(gpu) = gpu() else { return };
    let module = script::parse("case.py", text).unwrap_or_else(|e| panic!("{e}"));
    let func = module.prim_func("f").expect("is there");
    let target = Target::Gpu(gpu.target().clone());
    let scheduled = sched::rules::schedule(func, &target);
    assert_eq!(scheduled.rules, ["elementwise"]);
    // Not shown to be in bounds: the driver checks.
    let lowered = lower::lower(scheduled.schedule.func(), &target).expect("lowers");
    for (past, new) in [(0, 1), (37, 5), (64, 0)] {
        let rows = |n| data(&[3, 2, n, 12], true);
        let make = || vec![rows(past), rows(new), rows(past + new)];
        let (mut tensors, mut expected) = (make(), make());
        interp::run_prim_func(func, &mut expected).expect("the interpreter runs it");
        launch(&gpu, &lowered, &mut tensors, 1);
        let difference = compare(&expected[2], &tensors[2], Tolerance::of(ScalarType::F32, 1));
        assert!(difference.is_ok(), "{past} and {new}: {difference:?}");
    }
}

#[test]
fn rows_of_sequences_are_rows_of_one_matmul() {
    check(ROWS_OF_SEQUENCES, &["matmul"], 40, false, SEQUENCES);
}

#[test]
fn linear_with_all_extents_symbolic() {
    let shapes: &[&[&[usize]]] = &[
        &[&[1, 1], &[1, 1], &[1], &[1, 1]],
        &[&[1, 784], &[128, 784], &[128], &[1, 128]],
        &[&[2, 5], &[3, 5], &[3], &[2, 3]],
        &[&[13, 67], &[31, 67], &[31], &[13, 31]],
        &[&[130, 64], &[33, 64], &[33], &[130, 33]],
        &[&[0, 4], &[4, 4], &[4], &[0, 4]],
    ];
    check(LINEAR, &["matmul"], 784, false, shapes);
}

#[test]
fn linear_with_more_rows_than_a_grid() {
    let shapes: &[&[&[usize]]] = &[&[&[66_001, 3], &[5, 3], &[5], &[66_001, 5]]];
    check(LINEAR, &["matmul"], 3, false, shapes);
}

#[test]
fn linear_keeps_nan_and_infinities() {
    let shapes: &[&[&[usize]]] = &[&[&[13, 17], &[19, 17], &[19], &[13, 19]]];
    check(LINEAR, &["matmul"], 17, true, shapes);
}

#[test]
fn matmul_with_odd_constant_extents() {
    let text = r#"
@T.prim_func
def f(A: T.Buffer((67, 31), "float32"), B: T.Buffer((31, 100), "float32"), C: T.Buffer((67, 100), "float32")):
    for i, j, k in T.grid(67, 100, 31):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"#;
    check(
        text,
        &["matmul"],
        31,
        false,
        &[&[&[67, 31], &[31, 100], &[67, 100]]],
    );
}

/// As TVMScript has them: a symbolic extent of `int64`, and numbers as they are written.
#[test]
fn loops_of_both_integer_types_are_tiled() {
    let text = r#"
@T.prim_func
def f(a: T.handle, B: T.Buffer((31, 100), "float32"), D: T.Buffer((100,), "float32"), c: T.handle):
    m = T.int64()
    A = T.match_buffer(a, (m, 31), "float32")
    C = T.match_buffer(c, (m, 100), "float32")
    P = T.alloc_buffer((m, 100), "float32")
    for i, j, k in T.grid(m, 100, 31):
        with T.block("P"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                P[vi, vj] = T.float32(0)
            P[vi, vj] = P[vi, vj] + A[vi, vk] * B[vk, vj]
    for i, j in T.grid(m, T.int64(100)):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T.max(P[vi, vj] + D[vj], T.float32(0))
"#;
    let module = script::parse("case.py", text).unwrap_or_else(|e| panic!("{e}"));
    let pass = passes::pass("unify_index_types").expect("is there");
    let cx = passes::Cx::new(&module, &Target::Gpu(Default::default()));
    let unified = script::print(&cx.run(&pass, &module).expect("runs"));
    let shapes: &[&[&[usize]]] = &[
        &[&[1, 31], &[31, 100], &[100], &[1, 100]],
        &[&[67, 31], &[31, 100], &[100], &[67, 100]],
    ];
    for class in [None, Some(GpuClass::Nvidia)] {
        check_as(class, &unified, &["matmul"], 31, false, shapes);
    }
}

#[test]
fn batched_matmul() {
    let text = r#"
@T.prim_func
def f(A: T.Buffer((3, 16, 24), "float32"), B: T.Buffer((3, 24, 40), "float32"), C: T.Buffer((3, 16, 40), "float32")):
    for b, i, j, k in T.grid(3, 16, 40, 24):
        with T.block("C"):
            vb, vi, vj, vk = T.axis.remap("SSSR", [b, i, j, k])
            with T.init():
                C[vb, vi, vj] = T.float32(0)
            C[vb, vi, vj] = C[vb, vi, vj] + A[vb, vi, vk] * B[vb, vk, vj]
"#;
    check(
        text,
        &["matmul"],
        24,
        false,
        &[&[&[3, 16, 24], &[3, 24, 40], &[3, 16, 40]]],
    );
}

pub(super) const SOFTMAX: &str = r#"
@T.prim_func
def f(a: T.handle, y: T.handle):
    n, m = T.int64(), T.int64()
    A = T.match_buffer(a, (n, m), "float32")
    Y = T.match_buffer(y, (n, m), "float32")
    mx = T.alloc_buffer((n,), "float32")
    ex = T.alloc_buffer((n, m), "float32")
    sm = T.alloc_buffer((n,), "float32")
    for i, k in T.grid(n, m):
        with T.block("mx"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                mx[vi] = T.min_value("float32")
            mx[vi] = T.max(mx[vi], A[vi, vk])
    for i, k in T.grid(n, m):
        with T.block("ex"):
            vi, vk = T.axis.remap("SS", [i, k])
            ex[vi, vk] = T.exp(A[vi, vk] - mx[vi])
    for i, k in T.grid(n, m):
        with T.block("sm"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                sm[vi] = T.float32(0)
            sm[vi] = sm[vi] + ex[vi, vk]
    for i, k in T.grid(n, m):
        with T.block("Y"):
            vi, vk = T.axis.remap("SS", [i, k])
            Y[vi, vk] = ex[vi, vk] / sm[vi]
"#;

#[test]
fn softmax_over_symbolic_rows() {
    let shapes: &[&[&[usize]]] = &[
        &[&[1, 1], &[1, 1]],
        &[&[5, 67], &[5, 67]],
        &[&[3, 1031], &[3, 1031]],
        &[&[66_001, 3], &[66_001, 3]],
    ];
    check(SOFTMAX, &["rows"], 1031, false, shapes);
}

#[test]
fn sum_of_everything_and_of_columns() {
    let all = r#"
@T.prim_func
def f(A: T.Buffer((1000,), "float32"), Y: T.Buffer((1,), "float32")):
    for i, k in T.grid(1, 1000):
        with T.block("Y"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                Y[vi] = T.float32(0)
            Y[vi] = Y[vi] + A[vk]
"#;
    check(all, &["rows"], 1000, false, &[&[&[1000], &[1]]]);
    let columns = r#"
@T.prim_func
def f(a: T.handle, y: T.handle):
    n, m = T.int64(), T.int64()
    A = T.match_buffer(a, (m, n), "float32")
    Y = T.match_buffer(y, (n,), "float32")
    for i, k in T.grid(n, m):
        with T.block("Y"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                Y[vi] = T.float32(0)
            Y[vi] = Y[vi] + A[vk, vi]
"#;
    for (class, rule) in [
        (GpuClass::Software, "fallback"),
        (GpuClass::Nvidia, "columns"),
    ] {
        let shapes: &[&[&[usize]]] = &[&[&[300, 77], &[77]]];
        check_as(Some(class), columns, &[rule], 300, false, shapes);
    }
}
