//! The CPU against the interpreter: default schedules, lowered and run as native code, on awkward sizes and values.

#![expect(unsafe_code, reason = "launches native code on tensors of its own")]

use std::fmt::Display;

use weftile::codegen_cpu::{Backend, CompileOptions, Verify, host_target};
use weftile::interp::run_prim_func;
use weftile::ir::{Func, PrimFunc};
use weftile::kernel::{LoweredFunc, Target};
use weftile::lower::{Launches, lower, lower_seen};
use weftile::runtime_cpu::{CpuModule, LaunchError, RawBuffer, Team};
use weftile::sched::rules::schedule;
use weftile::script::parse;
use weftile::support::tolerance::{Tolerance, compare};
use weftile::tensor::Tensor;

/// The loop program in a text.
pub(crate) fn prim_func(text: &str) -> PrimFunc {
    let text = format!("from tvm.script import tir as T\n\n{text}");
    let module = parse("test.py", &text).unwrap_or_else(|e| panic!("{e}"));
    let func = module.funcs.into_iter().find_map(|(_, f)| match f {
        Func::Prim(func) => Some(func),
        Func::Graph(_) => None,
    });
    func.expect("a prim_func")
}

/// A function compiled with its default schedule.
pub(crate) struct Compiled {
    pub(crate) lowered: LoweredFunc,
    module: CpuModule,
    pub(crate) rules: Vec<&'static str>,
    /// The same function by the other back ends that this machine can run.
    others: Vec<Compiled>,
}

/// The function, compiled by each back end.
pub(crate) fn compile(func: &PrimFunc) -> Compiled {
    let here = Backend::ALL.into_iter().filter(|b| b.is_here());
    let mut all = here.map(|backend| compile_by(func, backend));
    let mut first = all.next().expect("Cranelift is everywhere");
    first.others = all.collect();
    first
}

fn compile_by(func: &PrimFunc, backend: Backend) -> Compiled {
    let target = Target::Cpu(backend.target(2));
    let scheduled = schedule(func, &target);
    let lowered = lower(scheduled.schedule.func(), &target).expect("lowers");
    let options = CompileOptions {
        verify: Verify::Yes,
        backend,
    };
    Compiled {
        module: CpuModule::new(&[&lowered], options).expect("compiles"),
        rules: scheduled.rules,
        others: vec![],
        lowered,
    }
}

impl Compiled {
    fn run(&self, tensors: &mut [Tensor], team: &Team) {
        let dims = dims(&self.lowered, tensors);
        let mut temps: Vec<Tensor> = self
            .lowered
            .temps
            .iter()
            .map(|temp| {
                let len = temp.len.eval(&dims).expect("a size") as usize;
                Tensor::zeros(temp.dtype.into(), &[len]).expect("small")
            })
            .collect();
        let buffers = |tensors: &mut [Tensor]| -> Vec<RawBuffer> {
            let bytes = tensors
                .iter_mut()
                .map(|t| t.bytes_mut().expect("not shared"));
            bytes.map(RawBuffer::of).collect()
        };
        let (params, temps) = (buffers(tensors), buffers(&mut temps));
        // SAFETY: the buffers are those of tensors that live on and that nothing else uses.
        unsafe { self.module.run(0, &params, &temps, &dims, team) }.expect("launches");
    }
}

/// The dims that the shapes of the arguments give.
fn dims(func: &LoweredFunc, tensors: &[Tensor]) -> Vec<i64> {
    let mut dims = vec![0; func.dims.len()];
    for (param, tensor) in func.params.iter().zip(tensors) {
        for (extent, &actual) in param.shape.iter().zip(tensor.shape()) {
            if let weftile::kernel::HostExpr::Dim(i) = extent {
                dims[*i] = actual as i64;
            }
        }
    }
    dims
}

/// Numbers in -1 .. 1, with NaN and infinities in place of some if asked.
pub(crate) fn random(shape: &[usize], seed: u64, special: bool) -> Tensor {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
    let values: Vec<f32> = (0..shape.iter().product())
        .map(|i| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            match i % 11 {
                3 if special => f32::NAN,
                5 if special => f32::INFINITY,
                7 if special => f32::NEG_INFINITY,
                _ => (state >> 40) as f32 / 8_388_608.0 - 1.0,
            }
        })
        .collect();
    Tensor::from_slice(shape, &values).expect("as many elements as the shape has")
}

/// Runs both ways and compares all tensors.
pub(crate) fn check(func: &PrimFunc, compiled: &Compiled, tensors: &[Tensor], terms: usize) {
    let copy = |tensors: &[Tensor]| -> Vec<Tensor> {
        let fresh = |t: &Tensor| Tensor::from_bytes(t.dtype(), t.shape(), t.bytes());
        tensors
            .iter()
            .map(|t| fresh(t).expect("same size"))
            .collect()
    };
    let mut want = copy(tensors);
    run_prim_func(func, &mut want).expect("the program has a meaning");
    for (i, compiled) in std::iter::once(compiled)
        .chain(&compiled.others)
        .enumerate()
    {
        let mut got = copy(tensors);
        compiled.run(&mut got, Team::global());
        for (want, got) in want.iter().zip(&got) {
            let tolerance = Tolerance::of(want.dtype().scalar, terms);
            let shapes: Vec<_> = tensors.iter().map(Tensor::shape).collect();
            if let Err(difference) = compare(want, got, tolerance) {
                panic!(
                    "{} on {shapes:?}, rules {:?}, by {}: {difference}",
                    func.name,
                    compiled.rules,
                    Backend::ALL[i].name()
                );
            }
        }
    }
}

const MATMUL: &str = r#"
@T.prim_func
def matmul(a: T.handle, b: T.handle, c: T.handle):
    m = T.int64()
    n = T.int64()
    k = T.int64()
    A = T.match_buffer(a, (m, k), "float32")
    B = T.match_buffer(b, (k, n), "float32")
    C = T.match_buffer(c, (m, n), "float32")
    for i, j, p in T.grid(m, n, k):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, p])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"#;

const LINEAR: &str = r#"
@T.prim_func
def linear(x: T.handle, w: T.handle, b: T.handle, z: T.handle):
    m = T.int64()
    n = T.int64()
    k = T.int64()
    X = T.match_buffer(x, (m, k), "float32")
    W = T.match_buffer(w, (n, k), "float32")
    B = T.match_buffer(b, (n,), "float32")
    Z = T.match_buffer(z, (m, n), "float32")
    Y = T.alloc_buffer((m, n), "float32")
    for i, j, p in T.grid(m, n, k):
        with T.block("Y"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, p])
            with T.init():
                Y[vi, vj] = T.float32(0)
            Y[vi, vj] = Y[vi, vj] + X[vi, vk] * W[vj, vk]
    for i, j in T.grid(m, n):
        with T.block("Z"):
            vi, vj = T.axis.remap("SS", [i, j])
            Z[vi, vj] = T.max(Y[vi, vj] + B[vj], T.float32(0))
"#;

/// Sizes of m, n, k.
const SIZES: [[usize; 3]; 13] = [
    [1, 1, 1],
    [1, 10, 128],
    [2, 16, 3],
    [3, 17, 5],
    [7, 128, 784],
    [64, 48, 256],
    [129, 33, 257],
    [131, 67, 300],
    [257, 127, 31],
    [128, 4, 7],
    [130, 15, 9],
    [255, 6, 8],
    [256, 20, 12],
];

#[test]
fn matmuls_of_symbolic_sizes() {
    let func = prim_func(MATMUL);
    let compiled = compile(&func);
    assert_eq!(compiled.rules, ["matmul"]);
    // Each number of rows behind the last whole tile, also where whole blocks of tiles come before.
    let rows = (1..=40).chain(128..=144).map(|m| [m, 35, 19]);
    for [m, n, k] in SIZES.into_iter().chain(rows) {
        let tensors = [
            random(&[m, k], 1, false),
            random(&[k, n], 2, false),
            random(&[m, n], 3, false),
        ];
        check(&func, &compiled, &tensors, k);
    }
}

/// Strips of columns that are full and that are not, whatever steps of the sum are left.
#[test]
fn few_rows_by_a_matrix() {
    for backend in Backend::ALL.into_iter().filter(|backend| backend.is_here()) {
        for m in [1, 2] {
            let rows = format!("T.int64({m})");
            let text = MATMUL
                .replace("    m = T.int64()\n", "")
                .replace("(m, ", &format!("({rows}, "));
            let func = prim_func(&text);
            let compiled = compile_by(&func, backend);
            assert_eq!(compiled.rules, ["gemv"], "{m} rows by {}", backend.name());
            for [n, k] in [
                [1, 1],
                [10, 128],
                [127, 7],
                [128, 8],
                [129, 9],
                [300, 33],
                [1000, 64],
                [16, 0],
            ] {
                let tensors = [
                    random(&[m, k], 1, false),
                    random(&[k, n], 2, false),
                    random(&[m, n], 3, false),
                ];
                check(&func, &compiled, &tensors, k);
            }
        }
    }
}

#[test]
fn matrices_by_vectors() {
    let text = r#"
@T.prim_func
def product(a: T.handle, x: T.handle, y: T.handle):
    m = T.int64()
    k = T.int64()
    A = T.match_buffer(a, (m, k), "float32")
    X = T.match_buffer(x, (k,), "float32")
    Y = T.match_buffer(y, (m,), "float32")
    for i, p in T.grid(m, k):
        with T.block("Y"):
            vi, vk = T.axis.remap("SR", [i, p])
            with T.init():
                Y[vi] = T.float32(0)
            Y[vi] = Y[vi] + A[vi, vk] * X[vk]
"#;
    let func = prim_func(text);
    for backend in Backend::ALL.into_iter().filter(|backend| backend.is_here()) {
        let compiled = compile_by(&func, backend);
        assert_eq!(compiled.rules, ["gemv"], "{}", backend.name());
        for [m, k] in [[1, 1], [3, 100], [4, 128], [5, 129], [257, 31], [16, 0]] {
            let tensors = [
                random(&[m, k], 1, false),
                random(&[k], 2, false),
                random(&[m], 3, false),
            ];
            check(&func, &compiled, &tensors, k);
        }
    }
}

#[test]
fn linear_layers_of_symbolic_sizes() {
    let func = prim_func(LINEAR);
    let compiled = compile(&func);
    assert_eq!(compiled.rules, ["matmul", "elementwise"]);
    for [m, n, k] in SIZES {
        let tensors = [
            random(&[m, k], 1, false),
            random(&[n, k], 2, false),
            random(&[n], 4, false),
            random(&[m, n], 3, false),
        ];
        check(&func, &compiled, &tensors, k);
    }
}

/// Rows that depend on the ones before them, in tiles of four with a loop between tiles and rows.
const SCAN: &str = r#"
@T.prim_func
def scan(a: T.handle, b: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n,), "float32")
    B = T.match_buffer(b, (n + 1,), "float32")
    for t, k in T.grid((n + 3) // 4, 3):
        for v in T.unroll(4):
            with T.block("B"):
                T.where(t * 4 + v < n)
                vi = T.axis.opaque(n, t * 4 + v)
                vk = T.axis.opaque(3, k)
                B[vi + 1] = B[vi + 1] * T.float32(0.5) + B[vi] + A[vi]
"#;

#[test]
fn partial_tiles_keep_the_order_of_what_depends_on_each_other() {
    let func = prim_func(SCAN);
    let target = Target::Cpu(host_target(2));
    let lowered = lower(&func, &target).expect("lowers");
    let options = CompileOptions {
        verify: Verify::Yes,
        ..CompileOptions::default()
    };
    let compiled = Compiled {
        module: CpuModule::new(&[&lowered], options).expect("compiles"),
        rules: vec![],
        others: vec![],
        lowered,
    };
    for n in 0..12 {
        let tensors = [random(&[n], 1, false), random(&[n + 1], 2, false)];
        check(&func, &compiled, &tensors, 64);
    }
}

#[test]
fn partial_tiles_ask_nothing_of_their_elements() {
    let target = Target::Cpu(host_target(2));
    let scheduled = schedule(&prim_func(LINEAR), &target);
    let mut emitted = String::new();
    // The promotion of accumulators asks whether a loop has iterations; this is about tiles.
    let mut see = |pass: &str, made: &dyn Display| {
        if pass == "emit" {
            emitted = made.to_string();
        }
    };
    let func = scheduled.schedule.func();
    let lowered = lower_seen(func, &target, Launches::Many, &mut see).expect("lowers");
    assert!(!emitted.is_empty() && !emitted.contains("if "), "{emitted}");
    assert!(lowered.kernels.iter().all(|kernel| kernel.in_bounds));
}

#[test]
fn empty_extents() {
    let func = prim_func(MATMUL);
    let compiled = compile(&func);
    for [m, n, k] in [[0, 4, 5], [4, 0, 5], [4, 5, 0], [0, 0, 0]] {
        let tensors = [
            random(&[m, k], 1, false),
            random(&[k, n], 2, false),
            random(&[m, n], 3, false),
        ];
        check(&func, &compiled, &tensors, 1);
    }
}

/// Neighbours, where there are some; a condition that guards a read stands beside it, in a select, or not at all.
fn neighbours(guarded: &str) -> String {
    format!(
        r#"
@T.prim_func
def neighbours(x: T.handle, y: T.handle):
    n = T.int64()
    X = T.match_buffer(x, (n,), "float32")
    Y = T.match_buffer(y, (n,), "float32")
    for i in range(n):
        with T.block("Y"):
            vi = T.axis.spatial(n, i)
            Y[vi] = {guarded}
"#
    )
}

#[test]
fn vectors_that_are_partly_outside_read_what_is_inside() {
    for guarded in [
        "T.if_then_else(vi >= 1 and X[vi - 1] > T.float32(0), T.float32(1), T.float32(2))",
        "T.if_then_else(vi + 3 < n and X[vi + 3] > T.float32(0), X[vi], T.float32(2))",
        "X[vi] + T.Select(vi >= 1, X[vi - 1], T.float32(0))",
        "X[vi] + T.Select(vi < n - 2, X[vi + 2], T.float32(3))",
        "T.Select(vi >= 5 and vi < n - 5, X[vi + 5] - X[vi - 5], T.float32(7))",
    ] {
        let func = prim_func(&neighbours(guarded));
        let compiled = compile(&func);
        for n in [1, 2, 15, 16, 17, 31, 100] {
            let tensors = [random(&[n], 5, false), random(&[n], 6, false)];
            check(&func, &compiled, &tensors, 1);
        }
    }
}

/// Elementwise with a broadcast: `out = exp(a) * scale[j] + a`, of symbolic sizes.
const SCALE: &str = r#"
@T.prim_func
def scale(a: T.handle, s: T.handle, o: T.handle):
    m = T.int64()
    n = T.int64()
    A = T.match_buffer(a, (m, n), "float32")
    S = T.match_buffer(s, (n,), "float32")
    O = T.match_buffer(o, (m, n), "float32")
    for i, j in T.grid(m, n):
        with T.block("O"):
            vi, vj = T.axis.remap("SS", [i, j])
            O[vi, vj] = T.exp(A[vi, vj]) * S[vj] + T.max(A[vi, vj], T.float32(0))
"#;

/// `out[j, i] = a[i, j]`
const TRANSPOSE: &str = r#"
@T.prim_func
def transpose(a: T.handle, o: T.handle):
    m = T.int64()
    n = T.int64()
    A = T.match_buffer(a, (m, n), "float32")
    O = T.match_buffer(o, (n, m), "float32")
    for j, i in T.grid(n, m):
        with T.block("O"):
            vj, vi = T.axis.remap("SS", [j, i])
            O[vj, vi] = A[vi, vj]
"#;

/// A reduction along the last axis, or along the first.
fn reduce(combine: &str, init: &str, last: bool) -> String {
    let (out, element) = if last {
        ("m", "A[v0, v1]")
    } else {
        ("n", "A[v1, v0]")
    };
    let (outer, inner) = if last { ("m", "n") } else { ("n", "m") };
    let value = combine.replace("X", element);
    format!(
        r#"
@T.prim_func
def reduce(a: T.handle, o: T.handle):
    m = T.int64()
    n = T.int64()
    A = T.match_buffer(a, (m, n), "float32")
    O = T.match_buffer(o, ({out},), "float32")
    for i, j in T.grid({outer}, {inner}):
        with T.block("O"):
            v0, v1 = T.axis.remap("SR", [i, j])
            with T.init():
                O[v0] = {init}
            O[v0] = {value}
"#
    )
}

/// Sizes of two dimensions.
const SHAPES: [[usize; 2]; 9] = [
    [1, 1],
    [1, 2],
    [2, 1],
    [3, 15],
    [16, 16],
    [7, 67],
    [131, 5],
    [1, 1000],
    [70_001, 3],
];

#[test]
fn elementwise_of_awkward_sizes_and_values() {
    for special in [false, true] {
        let (scale, transpose) = (prim_func(SCALE), prim_func(TRANSPOSE));
        let (scaled, transposed) = (compile(&scale), compile(&transpose));
        for [m, n] in SHAPES {
            let a = random(&[m, n], 1, special);
            let tensors = [
                a.clone(),
                random(&[n], 2, special),
                random(&[m, n], 3, false),
            ];
            // Two terms, which may cancel.
            check(&scale, &scaled, &tensors, 2);
            check(&transpose, &transposed, &[a, random(&[n, m], 3, false)], 1);
        }
    }
}

#[test]
fn transposes() {
    // Rows in vectors of 4, 8 and 16 that are wider or narrower than the columns', rests of both, dimensions that are one or are not.
    let shapes = [
        [1, 48, 4],
        [1, 4, 48],
        [2, 16, 16],
        [3, 24, 40],
        [2, 12, 20],
        [1, 33, 8],
        [5, 7, 16],
        [1, 11, 13],
    ];
    for [n, rows, columns] in shapes {
        let func = prim_func(&format!(
            r#"
@T.prim_func
def f(A: T.Buffer(({n}, {rows}, {columns}), "float32"), b: T.Buffer(({columns},), "float32"), C: T.Buffer(({n}, {columns}, {rows}), "float32")):
    for n, j, i in T.grid({n}, {columns}, {rows}):
        with T.block("C"):
            vn, vj, vi = T.axis.remap("SSS", [n, j, i])
            C[vn, vj, vi] = A[vn, vi, vj] + b[vj]
"#
        ));
        let compiled = compile(&func);
        let tensors = [
            random(&[n, rows, columns], 1, true),
            random(&[columns], 2, false),
            random(&[n, columns, rows], 3, false),
        ];
        check(&func, &compiled, &tensors, 1);
    }
}

#[test]
fn an_index_that_changes_is_read_again() {
    // Two columns of a tile before the index of its rows is stored, and two after.
    let columns = |from: usize| {
        let column = |c: usize| {
            format!("    for v in T.vectorized(4):\n        C[{c}, v] = A[I[0] + v, {c}]\n")
        };
        format!("{}{}", column(from), column(from + 1))
    };
    let func = prim_func(&format!(
        r#"
@T.prim_func
def f(A: T.Buffer((8, 4), "float32"), I: T.Buffer((1,), "int32"), C: T.Buffer((4, 4), "float32")):
    I[0] = 1
{}    I[0] = 3
{}"#,
        columns(0),
        columns(2)
    ));
    let compiled = compile(&func);
    let index = Tensor::from_slice(&[1], &[0i32]).expect("one");
    let tensors = [random(&[8, 4], 1, false), index, random(&[4, 4], 2, false)];
    check(&func, &compiled, &tensors, 1);
}

#[test]
fn a_name_in_an_unrolled_loop_has_a_value_in_each_copy() {
    let func = prim_func(
        r#"
@T.prim_func
def f(A: T.Buffer((4, 16), "float32"), B: T.Buffer((4, 16), "float32"), C: T.Buffer((4, 16), "float32")):
    for i in T.unroll(4):
        with T.LetStmt(i) as v:
            for j in T.vectorized(16):
                C[i, j] = T.if_then_else(v == 0, A[i, j], T.if_then_else(v == 2, B[i, j], T.float32(3)))
"#,
    );
    let compiled = compile(&func);
    let tensors = [1, 2, 3].map(|seed| random(&[4, 16], seed, false));
    check(&func, &compiled, &tensors, 1);
}

#[test]
fn reductions_along_both_axes() {
    let kinds = [
        ("O[v0] + X", "T.float32(0)"),
        ("T.max(O[v0], X)", "T.min_value(\"float32\")"),
        ("T.min(O[v0], X)", "T.float32(1000)"),
    ];
    for (combine, init) in kinds {
        for last in [true, false] {
            let func = prim_func(&reduce(combine, init, last));
            let compiled = compile(&func);
            assert_eq!(compiled.rules, ["reduction"]);
            for [m, n] in SHAPES {
                let out = if last { m } else { n };
                let terms = if last { n } else { m };
                let tensors = [random(&[m, n], 1, false), random(&[out], 3, false)];
                check(&func, &compiled, &tensors, terms);
            }
            let tensors = [
                random(&[5, 40], 1, true),
                random(&[if last { 5 } else { 40 }], 3, false),
            ];
            check(&func, &compiled, &tensors, 40);
        }
    }
}

#[test]
fn launches_refuse_what_does_not_fit() {
    let func = prim_func(TRANSPOSE);
    let compiled = compile(&func);
    let mut memory = vec![0u8; 4 * 12];
    let run = |buffers: &[RawBuffer], dims: &[i64]| {
        // SAFETY: the buffers are parts of memory that lives on, and refused before they are used.
        unsafe { compiled.module.run(0, buffers, &[], dims, Team::global()) }
    };
    let whole = RawBuffer::of(&mut memory);
    let small = RawBuffer { bytes: 8, ..whole };
    use weftile::runtime_cpu::LaunchError;
    assert!(matches!(
        run(&[whole, whole], &[3, 4]),
        Err(LaunchError::Overlap { .. })
    ));
    assert!(matches!(
        run(&[whole, small], &[3, 4]),
        Err(LaunchError::TooSmall {
            needed: 48,
            got: 8,
            ..
        })
    ));
    assert!(matches!(
        run(&[whole], &[3, 4]),
        Err(LaunchError::Missing { .. })
    ));
    assert!(matches!(
        run(&[whole, whole], &[-3, 4]),
        Err(LaunchError::Length { len: -12, .. })
    ));
    assert!(matches!(
        run(&[whole, whole], &[3]),
        Err(LaunchError::Dims { .. })
    ));
}

/// Results that no cache holds are written past the caches, whole lines at once; in rows that are no whole lines, as others are.
#[test]
fn large_results() {
    for columns in [3072, 3071] {
        let func = prim_func(&format!(
            r#"
@T.prim_func
def f(X: T.Buffer((3072, {columns}), "float32"), Y: T.Buffer((3072, {columns}), "float32")):
    for i, j in T.grid(3072, {columns}):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = X[vi, vj] * T.float32(2)
"#
        ));
        let shape = [3072, columns];
        let numbers: Vec<f32> = (0..3072 * columns).map(|i| i as f32).collect();
        let input = Tensor::from_slice(&shape, &numbers).expect("as many");
        let compiled = compile(&func);
        for one in std::iter::once(&compiled).chain(&compiled.others) {
            let mut result = Tensor::zeros(input.dtype(), &shape).expect("there is memory");
            let source = RawBuffer::read_only(input.bytes());
            let whole = RawBuffer::of(result.bytes_mut().expect("not shared"));
            let within_a_line = RawBuffer {
                pointer: whole.pointer.wrapping_add(4),
                ..whole
            };
            let team = Team::new(2);
            let run = |result| {
                // SAFETY: the tensors live on, and nothing else uses them; what does not start at a line is not written.
                unsafe { one.module.run(0, &[source, result], &[], &[], &team) }
            };
            let refused = run(within_a_line);
            assert!(
                matches!(refused, Err(LaunchError::Unaligned { .. })),
                "{refused:?}"
            );
            run(whole).expect("launches");
            let written = result.as_slice::<f32>().expect("floats");
            let doubled = numbers.iter().map(|x| x * 2.0);
            assert!(written.iter().copied().eq(doubled), "{columns}");
        }
    }
}
