//! Statements that leave loops and functions early: every device does what the interpreter does.

use weftile::ir::PrimFunc;
use weftile::kernel::{GpuTarget, Target};
use weftile::tensor::Tensor;
use weftile::{interp, lower, script};

use crate::runs;

/// Programs on `A: int32[4, 5]`, whose elements are 0 to 2, and `Y: int32[4, 5]`.
const PROGRAMS: &[(&str, &str)] = &[
    (
        "return from a loop, and nothing of the next one",
        r#"
    for i, j in T.grid(4, 5):
        Y[i, j] = A[i, j] + 1
        if A[i, j] == 2:
            return
        Y[i, j] = Y[i, j] * 10
    for i, j in T.grid(4, 5):
        Y[i, j] = 77"#,
    ),
    (
        "a function that returns at once, and else goes on",
        r#"
    if A[0, 0] == 1:
        return
    for i in range(4):
        Y[i, 0] = 5
    if A[0, 1] >= 0:
        return
    for i in range(4):
        Y[i, 1] = 6"#,
    ),
    (
        "return from a loop of no order",
        r#"
    for i in T.parallel(4):
        for j in T.vectorized(5):
            if A[i, j] == 2:
                return
            Y[i, j] = 3"#,
    ),
    (
        "return, break and continue in one loop",
        r#"
    for i in range(4):
        for j in range(5):
            if A[i, j] == 0:
                continue
            if j == 3:
                break
            if i == 2:
                return
            Y[i, j] = 8
        Y[i, 4] = 9
    Y[0, 0] = 1"#,
    ),
    (
        "a break out of a parallel loop",
        r#"
    for i in T.parallel(4):
        if A[i, 2] == 0:
            break
        Y[i, 0] = 4"#,
    ),
    (
        "continue in parallel and vectorized loops",
        r#"
    for i in T.parallel(4):
        if A[i, 0] == 1:
            continue
        for j in T.vectorized(5):
            if A[i, j] == 1:
                continue
            Y[i, j] = A[i, j] + 40"#,
    ),
    (
        "a block that returns",
        r#"
    for i in range(4):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            if A[vi, 1] == 2:
                return
            Y[vi, 0] = 6"#,
    ),
    (
        "threads without an element, which return",
        r#"
    for b in T.thread_binding(4, "blockIdx.x"):
        for t in T.thread_binding(8, "threadIdx.x"):
            if t >= 5:
                return
            Y[b, t] = A[b, t] + 1"#,
    ),
    (
        "threads that return from a loop, and those of the next launch, which do not",
        r#"
    for i in T.thread_binding(4, "threadIdx.x"):
        Y[i, 4] = 2
        for j in range(5):
            if A[i, j] == 2:
                return
            Y[i, j] = 3
        Y[i, 0] = 7
    for i in T.thread_binding(4, "threadIdx.x"):
        Y[i, 4] = Y[i, 4] + 1"#,
    ),
    (
        "a block of a workgroup that returns in one of three branches",
        r#"
    for i in T.thread_binding(4, "blockIdx.x"):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            Y[vi, 1] = 2
            if A[vi, 1] == 2:
                Y[vi, 1] = 4
                return
            else:
                if A[vi, 1] == 1:
                    Y[vi, 2] = 5
            Y[vi, 0] = 6"#,
    ),
    (
        "threads that return after they met",
        r#"
    S = T.alloc_buffer((5,), "int32", scope="shared")
    for b in T.thread_binding(4, "blockIdx.x"):
        for t in T.thread_binding(5, "threadIdx.x"):
            S[t] = A[b, t] * 10
            T.tvm_storage_sync("shared")
            if A[b, t] == 1:
                return
            Y[b, t] = S[4 - t]"#,
    ),
    (
        "a break out of a loop of threads, whose iterations run in order then",
        r#"
    for i in T.thread_binding(4, "threadIdx.x"):
        if A[i, 3] == 2:
            break
        Y[i, 0] = 1
    for i in T.thread_binding(4, "threadIdx.x"):
        Y[i, 1] = 7"#,
    ),
    (
        "a break out of a loop of workgroups",
        r#"
    for b in T.thread_binding(4, "blockIdx.x"):
        if A[b, 0] == 1:
            break
        for t in T.thread_binding(5, "threadIdx.x"):
            Y[b, t] = A[b, t] + 3"#,
    ),
    (
        "an array of which a loop without iterations uses nothing",
        r#"
    W = T.alloc_buffer((4,), "int32", scope="local")
    for i in T.vectorized(4):
        for j in range(0):
            W[j] = A[i, j]
        Y[i, 0] = A[i, 0]"#,
    ),
];

fn parse(body: &str) -> PrimFunc {
    let text = format!(
        "@T.prim_func\ndef f(A: T.Buffer((4, 5), \"int32\"), Y: T.Buffer((4, 5), \"int32\")):{body}\n"
    );
    let module = script::parse("case.py", &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    module.prim_func("f").expect("is there").clone()
}

#[test]
fn jumps_mean_the_same_on_every_device() {
    let programs = PROGRAMS.iter().map(|(_, body)| parse(body));
    assert_eq!(
        runs::all_agree(programs),
        PROGRAMS.len(),
        "the interpreter runs all of them"
    );
}

#[test]
fn a_return_ends_the_function_in_the_interpreter() {
    let func = parse(PROGRAMS[0].1);
    let tensor = |values: [i32; 20]| Tensor::from_slice(&[4, 5], &values).expect("fits");
    let mut a = [0; 20];
    a[7] = 2;
    let mut tensors = [tensor(a), tensor([-1; 20])];
    interp::run_prim_func(&func, &mut tensors).expect("runs");
    let mut expected = [-1; 20];
    expected[..7].fill(10);
    expected[7] = 3;
    assert_eq!(tensors[1].as_slice::<i32>().expect("int32"), expected);
}

#[test]
fn threads_that_return_are_those_that_say_so() {
    let func = parse(
        PROGRAMS
            .iter()
            .find(|(name, _)| name.starts_with("threads that return from"))
            .expect("is there")
            .1,
    );
    let tensor = |values: &[i32; 20]| Tensor::from_slice(&[4, 5], values).expect("fits");
    let mut a = [0; 20];
    a[7] = 2;
    let mut tensors = [tensor(&a), tensor(&[-1; 20])];
    interp::run_prim_func(&func, &mut tensors).expect("runs");
    let whole = [7, 3, 3, 3, 4];
    let expected = [whole, [3, 3, -1, -1, 3], whole, whole].concat();
    assert_eq!(tensors[1].as_slice::<i32>().expect("int32"), expected);
}

/// The iterations of threads that meet have no order, so none is the one that ends the others; and after a loop over threads nobody
/// knows which of them are gone.
#[test]
fn nobody_leaves_a_launch_early() {
    let broken = r#"
    S = T.alloc_buffer((4,), "int32", scope="shared")
    for i in T.thread_binding(4, "threadIdx.x"):
        S[i] = A[i, 0]
        if A[i, 0] == 0:
            break
        Y[i, 0] = S[3 - i]"#;
    let followed = r#"
    for b in T.thread_binding(4, "blockIdx.x"):
        for i in T.thread_binding(4, "threadIdx.x"):
            if A[b, i] == 0:
                return
            Y[b, i] = 1
        for j in T.thread_binding(4, "threadIdx.x"):
            Y[b, j] = 2"#;
    let repeated = r#"
    for b in T.thread_binding(4, "blockIdx.x"):
        for k in range(3):
            for i in T.thread_binding(4, "threadIdx.x"):
                if A[b, i] == k:
                    return
                Y[b, i] = k"#;
    for (body, statement, var) in [
        (broken, "break", "i"),
        (followed, "return", "i"),
        (repeated, "return", "i"),
    ] {
        let gpu = Target::Gpu(GpuTarget::default());
        let error = lower::lower(&parse(body), &gpu).expect_err("has no order");
        let expected = format!(
            "`f`: `{statement}` leaves loop `{var}` of the launch, whose iterations have no order"
        );
        assert_eq!(error.to_string(), expected);
        let values: Vec<i32> = (0..20).map(|i| i % 3).collect();
        let tensor = || Tensor::from_slice(&[4, 5], &values).expect("fits");
        interp::run_prim_func(&parse(body), &mut [tensor(), tensor()])
            .expect_err("nobody knows which threads go on");
    }
}
