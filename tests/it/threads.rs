//! Threads of a workgroup that meet: the interpreter computes what their authors meant, and every device what the interpreter
//! computes.

use weftile::interp;
use weftile::ir::PrimFunc;
use weftile::script;
use weftile::tensor::Tensor;

use crate::runs;

const BLOCKS: usize = 3;
const THREADS: usize = 16;

/// What thread `t` of a workgroup leaves in `Y`, given the row of `X` of that workgroup.
type Meaning = fn(row: &[f32], b: usize, t: usize) -> f32;

/// A program of 3 workgroups of 16 threads: its name, its allocations, what a thread does, and what that means.
type Program = (&'static str, &'static str, &'static str, Meaning);

const PROGRAMS: &[Program] = &[
    (
        "the threads add up a row, halving their number",
        "S: shared",
        r#"
            S[t] = X[b, t]
            T.tvm_storage_sync("shared")
            for s in range(4):
                if t < T.shift_right(8, s):
                    S[t] = S[t] + S[t + T.shift_right(8, s)]
                T.tvm_storage_sync("shared")
            if t == 0:
                Y[b, 0] = S[0]"#,
        |row, _, t| if t == 0 { row.iter().sum() } else { -1.0 },
    ),
    (
        "each thread reads what another one wrote",
        "S: shared",
        r#"
            S[t] = X[b, t]
            T.tvm_storage_sync("shared")
            Y[b, t] = S[15 - t]"#,
        |row, _, t| row[15 - t],
    ),
    (
        "memory of the workgroup under its other name",
        "S: shared.dyn",
        r#"
            S[t] = X[b, t]
            T.tvm_storage_sync("shared.dyn")
            Y[b, t] = S[15 - t]"#,
        |row, _, t| row[15 - t],
    ),
    (
        "an index of which no bound is known",
        "S: shared",
        r#"
            S[t] = X[b, t]
            T.tvm_storage_sync("shared")
            Y[b, t] = S[t ^ 1]"#,
        |row, _, t| row[t ^ 1],
    ),
    (
        "blocks without a barrier of their own",
        "S: shared",
        r#"
            with T.block("S"):
                vb, vt = T.axis.remap("SS", [b, t])
                S[vt] = X[vb, vt]
            with T.block("Y"):
                vb, vt = T.axis.remap("SS", [b, t])
                Y[vb, vt] = S[15 - vt]"#,
        |row, _, t| row[15 - t],
    ),
    (
        "registers outlive barriers",
        "S: shared, R: local",
        r#"
            R[0] = X[b, t]
            R[1] = X[b, t] * T.float32(2)
            S[t] = X[b, t]
            T.tvm_storage_sync("shared")
            R[0] = R[0] + S[15 - t]
            T.tvm_storage_sync("shared")
            Y[b, t] = R[0] + R[1]"#,
        |row, _, t| row[t] + row[15 - t] + 2.0 * row[t],
    ),
    (
        "a register that a condition writes",
        "S: shared, R: local",
        r#"
            R[0] = T.float32(0)
            if t < 5:
                R[0] = X[b, t]
            S[t] = R[0]
            T.tvm_storage_sync("shared")
            Y[b, t] = R[0] + S[(t + 1) % 16]"#,
        |row, _, t| {
            let of = |t: usize| if t < 5 { row[t] } else { 0.0 };
            of(t) + of((t + 1) % 16)
        },
    ),
    (
        "barriers in a loop, and a sum that it hands on",
        "S: shared, R: local",
        r#"
            R[0] = T.float32(0)
            for k in range(3):
                S[t] = X[b, t] * T.cast(k + 1, "float32")
                T.tvm_storage_sync("shared")
                R[0] = R[0] + S[(t + k) % 16]
                T.tvm_storage_sync("shared")
            Y[b, t] = R[0]"#,
        |row, _, t| (0..3).map(|k| row[(t + k) % 16] * (k + 1) as f32).sum(),
    ),
    (
        "barriers in a loop that are nobody's but the compiler's",
        "S: shared, R: local",
        r#"
            R[0] = T.float32(0)
            for k in range(3):
                S[t] = X[b, t] * T.cast(k + 1, "float32")
                R[0] = R[0] + S[(t + k) % 16]
            Y[b, t] = R[0]"#,
        |row, _, t| (0..3).map(|k| row[(t + k) % 16] * (k + 1) as f32).sum(),
    ),
    (
        "one thread writes for all, twice",
        "S: shared, R: local",
        r#"
            R[0] = T.float32(0)
            if t < 1:
                S[0] = X[b, 0]
            R[0] = R[0] + S[0] * X[b, t]
            if t < 1:
                S[0] = X[b, 1]
            R[0] = R[0] + S[0] * X[b, t]
            Y[b, t] = R[0]"#,
        |row, _, t| row[0] * row[t] + row[1] * row[t],
    ),
    (
        "a barrier under a condition that holds for all threads",
        "S: shared",
        r#"
            S[t] = X[b, t]
            if b % 2 == 0:
                T.tvm_storage_sync("shared")
                Y[b, t] = S[15 - t]
            else:
                Y[b, t] = S[t]"#,
        |row, b, t| if b % 2 == 0 { row[15 - t] } else { row[t] },
    ),
    (
        "a value with a name on both sides of a barrier",
        "S: shared",
        r#"
            with T.LetStmt(X[b, t] * T.float32(3)) as x:
                with T.LetStmt((t + 5) % 16) as other:
                    S[t] = x
                    T.tvm_storage_sync("shared")
                    Y[b, t] = x + S[other]"#,
        |row, _, t| 3.0 * row[t] + 3.0 * row[(t + 5) % 16],
    ),
    (
        "a break that all threads make together",
        "S: shared, R: local",
        r#"
            R[0] = T.float32(0)
            for k in range(8):
                if k == b + 1:
                    break
                S[t] = X[b, t] + T.cast(k, "float32")
                T.tvm_storage_sync("shared")
                R[0] = R[0] + S[15 - t]
                T.tvm_storage_sync("shared")
            Y[b, t] = R[0]"#,
        |row, b, t| (0..=b).map(|k| row[15 - t] + k as f32).sum(),
    ),
    (
        "threads that leave after they met",
        "S: shared",
        r#"
            S[t] = X[b, t]
            T.tvm_storage_sync("shared")
            if t >= 4:
                continue
            Y[b, t] = S[15 - t]"#,
        |row, _, t| if t < 4 { row[15 - t] } else { -1.0 },
    ),
    (
        "statements under one condition, of threads in step",
        "S: shared",
        r#"
            S[t] = X[b, t]
            if t < 8:
                S[t] = S[t] + S[t + 8]
                Y[b, t] = S[(t + 4) % 8]"#,
        |row, _, t| {
            let half = |t: usize| row[t] + row[t + 8];
            if t < 8 { half((t + 4) % 8) } else { -1.0 }
        },
    ),
    (
        "shared memory whose block the threads go through",
        "",
        r#"
            with T.block("tile"):
                S = T.alloc_buffer((16,), "float32", scope="shared")
                R = T.alloc_buffer((2,), "float32")
                if t < 8:
                    R[1] = X[b, t]
                S[t] = X[b, t]
                T.tvm_storage_sync("shared")
                R[0] = S[15 - t]
                T.tvm_storage_sync("shared")
                if t < 8:
                    Y[b, t] = R[0] - R[1]"#,
        |row, _, t| if t < 8 { row[15 - t] - row[t] } else { -1.0 },
    ),
];

/// A program whose loops lavapipe does not count.
const COUNTER: Program = (
    "a counter in a register",
    "S: shared, N: local int32",
    r#"
            N[0] = 0
            S[t] = X[b, t]
            T.tvm_storage_sync("shared")
            while N[0] < 4:
                if t < T.shift_right(8, N[0]):
                    S[t] = S[t] + S[t + T.shift_right(8, N[0])]
                T.tvm_storage_sync("shared")
                N[0] = N[0] + 1
            Y[b, t] = S[0]"#,
    |row, _, _| row.iter().sum(),
);

/// The program, with its threads in one loop.
fn program(allocations: &str, body: &str) -> String {
    let allocations = allocations.split(", ").filter(|a| !a.is_empty());
    let allocations: String = allocations
        .map(|allocation| {
            let (name, what) = allocation.split_once(": ").expect("a name and a scope");
            let (scope, dtype) = what.split_once(' ').unwrap_or((what, "float32"));
            let len = if scope == "local" { 2 } else { THREADS };
            format!("    {name} = T.alloc_buffer(({len},), \"{dtype}\", scope=\"{scope}\")\n")
        })
        .collect();
    format!(
        r#"
@T.prim_func
def f(X: T.Buffer(({BLOCKS}, {THREADS}), "float32"), Y: T.Buffer(({BLOCKS}, {THREADS}), "float32")):
{allocations}
    for b in T.thread_binding({BLOCKS}, thread="blockIdx.x"):
        for t in T.thread_binding({THREADS}, thread="threadIdx.x"):{body}
"#
    )
}

fn parse(text: &str) -> PrimFunc {
    let module = script::parse("case.py", text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    module.prim_func("f").expect("is there").clone()
}

fn programs<'a>(
    all: impl IntoIterator<Item = &'a Program>,
) -> impl Iterator<Item = (&'static str, PrimFunc, Meaning)> {
    all.into_iter().map(|(name, allocations, body, meaning)| {
        (*name, parse(&program(allocations, body)), *meaning)
    })
}

#[test]
fn the_interpreter_runs_threads_together() {
    let row = |b: usize| -> Vec<f32> {
        (0..THREADS)
            .map(|t| ((b * THREADS + t) * 7 % 23) as f32)
            .collect()
    };
    for (name, func, meaning) in programs(PROGRAMS.iter().chain([&COUNTER])) {
        let x: Vec<f32> = (0..BLOCKS).flat_map(row).collect();
        let shape = [BLOCKS, THREADS];
        let x = Tensor::from_slice(&shape, &x).expect("fits");
        let y = Tensor::from_slice(&shape, &[-1.0_f32; BLOCKS * THREADS]).expect("fits");
        let mut tensors = [x, y];
        interp::run_prim_func(&func, &mut tensors).unwrap_or_else(|e| panic!("{name}: {e}"));
        let expected = (0..BLOCKS).flat_map(|b| (0..THREADS).map(move |t| meaning(&row(b), b, t)));
        let expected: Vec<f32> = expected.collect();
        assert_eq!(
            tensors[1].as_slice::<f32>().expect("f32"),
            expected,
            "{name}"
        );
    }
}

#[test]
fn threads_meet_on_every_device() {
    let count = runs::all_agree(programs(PROGRAMS).map(|(_, func, _)| func));
    assert_eq!(count, PROGRAMS.len(), "the interpreter runs all of them");
    let count = runs::all_agree_on_cpu(programs([&COUNTER]).map(|(_, func, _)| func));
    assert_eq!(count, 1, "the interpreter runs it");
}

/// What threads do that wait for others which do not come.
const DIVERGENT: &[&str] = &[
    r#"
            S[t] = X[b, t]
            if t < 8:
                T.tvm_storage_sync("shared")
            Y[b, t] = S[15 - t]"#,
    r#"
            for k in range(t):
                S[t] = X[b, t]
                T.tvm_storage_sync("shared")"#,
    r#"
            if X[b, t] > T.float32(0):
                continue
            T.tvm_storage_sync("shared")
            Y[b, t] = X[b, t]"#,
];

#[test]
fn all_threads_must_come_to_a_barrier() {
    for body in DIVERGENT {
        let func = parse(&program("S: shared", body));
        let values: Vec<f32> = (0..BLOCKS * THREADS).map(|i| (i % 2) as f32).collect();
        let tensor = || Tensor::from_slice(&[BLOCKS, THREADS], &values).expect("fits");
        let error = interp::run_prim_func(&func, &mut [tensor(), tensor()]).expect_err("diverges");
        let expected =
            "threads meet at `T.tvm_storage_sync`, but not all threads of the workgroup come by";
        assert_eq!(error.root().to_string(), expected, "{body}");
    }
}

/// Kernels in the form in which TVM prints them: threads that are launched, views of memory, blocks inside of threads.
const LAUNCHED: &[&str] = &[
    r#"
@T.prim_func
def f(A: T.Buffer((32, 32), "float32"), B: T.Buffer((32, 32), "float32"), C: T.Buffer((32, 32), "float32")):
    A_flat = T.decl_buffer(1024, "float32", data=A.data)
    B_flat = T.decl_buffer(1024, "float32", data=B.data)
    C_flat = T.decl_buffer(1024, data=C.data)
    tx = T.launch_thread("threadIdx.x", 8)
    C_local = T.alloc_buffer((1,), "float32", scope="local")
    A_sh = T.alloc_buffer((64,), "float32", scope="shared.dyn")
    B_sh = T.alloc_buffer((64,), "float32", scope="shared.dyn")
    C_sh = T.alloc_buffer((64,), "float32", scope="shared.dyn")
    ty = T.launch_thread("threadIdx.y", 8)
    bx = T.launch_thread("blockIdx.x", 4)
    by = T.launch_thread("blockIdx.y", 4)
    C_local[0] = T.float32(0)
    for i in range(4):
        A_sh[ty * 8 + tx] = A_flat[by * 256 + ty * 32 + i * 8 + tx]
        B_sh[ty * 8 + tx] = B_flat[i * 256 + ty * 32 + bx * 8 + tx]
        T.tvm_storage_sync("shared")
        for k in range(8):
            C_local[0] = C_local[0] + A_sh[ty * 8 + k] * B_sh[k * 8 + tx]
        T.tvm_storage_sync("shared")
    C_sh[ty * 8 + tx] = C_local[0]
    T.tvm_storage_sync("shared.dyn")
    C_flat[by * 256 + ty * 32 + bx * 8 + tx] = C_sh[ty * 8 + tx]
"#,
    r#"
@T.prim_func
def f(A: T.Buffer((4, 4), "float32"), E: T.Buffer((4, 4), "float32")):
    bx = T.launch_thread("blockIdx.x", 1)
    B = T.alloc_buffer((24,), "float32", scope="shared.dyn")
    C = T.alloc_buffer((1,), "float32", scope="local")
    D = T.alloc_buffer((16,), "float32", scope="shared.dyn")
    tx = T.launch_thread("threadIdx.x", 16)
    B_1 = T.decl_buffer((24,), data=B.data, scope="shared.dyn")
    A_1 = T.decl_buffer((16,), data=A.data)
    B_1[tx // 4 * 6 + tx % 4] = A_1[tx]
    C_1 = T.decl_buffer((1,), data=C.data, scope="local")
    C_1[0] = B_1[tx // 4 * 6 + tx % 4]
    D_1 = T.decl_buffer((16,), data=D.data, scope="shared.dyn")
    T.tvm_storage_sync("shared.dyn")
    D_1[tx] = C_1[0]
    E_1 = T.decl_buffer((16,), data=E.data)
    E_1[tx] = D_1[15 - tx]
"#,
];

#[test]
fn launched_threads_meet_on_every_device() {
    let func = parse(LAUNCHED[0]);
    let of = |f: fn(usize) -> usize| {
        let values: Vec<f32> = (0..1024).map(|i| f(i) as f32).collect();
        Tensor::from_slice(&[32, 32], &values).expect("fits")
    };
    let (a, b) = (of(|i| i * 7 % 13), of(|i| i * 5 % 11));
    let at = |tensor: &Tensor, i: usize| tensor.as_slice::<f32>().expect("f32")[i];
    let product = |i: usize| -> f32 {
        let terms = (0..32).map(|k| at(&a, i / 32 * 32 + k) * at(&b, k * 32 + i % 32));
        terms.sum()
    };
    let expected: Vec<f32> = (0..1024).map(product).collect();
    let mut tensors = [a, b, of(|_| 0)];
    interp::run_prim_func(&func, &mut tensors).expect("runs");
    assert_eq!(tensors[2].as_slice::<f32>().expect("f32"), expected);
    let count = runs::all_agree(LAUNCHED.iter().map(|text| parse(text)));
    assert_eq!(count, LAUNCHED.len(), "the interpreter runs all of them");
}
