//! Reductions over threads as others schedule them: several results at once, several axes, and what is refused.

use weftile::kernel::{GpuTarget, Target};
use weftile::lower::lower;
use weftile::pipeline::{CompileOptions, compile};
use weftile::runtime::{Device, Value};
use weftile::support::tolerance::{Tolerance, compare};
use weftile::tensor::{DType, Tensor};
use weftile::vm::VirtualMachine;
use weftile::{interp, script};

use crate::vm::devices;

/// A sum and a sum of squares, as TVM's rule for norms writes them.
const MOMENTS: &str = r#"
    @T.prim_func
    def f(A: T.Buffer((3, 70), "float32"), S: T.Buffer((3,), "float32"), Q: T.Buffer((3,), "float32")):
        for i in T.thread_binding(3, thread="blockIdx.x"):
            for o in range(3):
                for t in T.thread_binding(32, thread="threadIdx.x"):
                    with T.block("moments"):
                        vi = T.axis.spatial(3, i)
                        vk = T.axis.reduce(70, o * 32 + t)
                        T.where(o * 32 + t < 70)
                        with T.init():
                            S[vi] = T.float32(0)
                            Q[vi] = T.float32(0)
                        s: T.let[T.float32] = S[vi] + A[vi, vk]
                        q: T.let[T.float32] = Q[vi] + A[vi, vk] * A[vi, vk]
                        S[vi] = s
                        Q[vi] = q
"#;

/// The greatest element and its index, of equal ones the first.
const ARGMAX: &str = r#"
    @T.prim_func
    def f(A: T.Buffer((3, 70), "float32"), I: T.Buffer((3,), "int32"), M: T.Buffer((3,), "float32")):
        for i in T.thread_binding(3, thread="blockIdx.x"):
            for o in range(3):
                for t in T.thread_binding(24, thread="threadIdx.x"):
                    with T.block("argmax"):
                        vi = T.axis.spatial(3, i)
                        vk = T.axis.reduce(70, o * 24 + t)
                        T.where(o * 24 + t < 70)
                        with T.init():
                            I[vi] = -1
                            M[vi] = T.min_value("float32")
                        at: T.let[T.int32] = T.Select(M[vi] > A[vi, vk] or M[vi] == A[vi, vk] and I[vi] < vk, I[vi], vk)
                        greatest: T.let[T.float32] = T.Select(M[vi] > A[vi, vk], M[vi], A[vi, vk])
                        I[vi] = at
                        M[vi] = greatest
"#;

/// Sums over two axes of the workgroup, of which a third one chooses.
const TWO_AXES: &str = r#"
    @T.prim_func
    def f(A: T.Buffer((5, 4, 6), "float32"), S: T.Buffer((5,), "float32"), P: T.Buffer((5,), "float32")):
        for i in T.thread_binding(5, thread="threadIdx.y"):
            for x in T.thread_binding(6, thread="threadIdx.x"):
                for z in T.thread_binding(4, thread="threadIdx.z"):
                    with T.block("sum"):
                        vi, vz, vx = T.axis.remap("SRR", [i, z, x])
                        with T.init():
                            S[vi] = T.float32(0)
                        S[vi] = S[vi] + A[vi, vz, vx]
        for i in T.thread_binding(5, thread="blockIdx.x"):
            for z in T.thread_binding(4, thread="threadIdx.x"):
                for x in T.thread_binding(6, thread="threadIdx.y"):
                    with T.block("greatest"):
                        vi, vz, vx = T.axis.remap("SRR", [i, z, x])
                        with T.init():
                            P[vi] = T.min_value("float32")
                        P[vi] = T.max(P[vi], A[vi, vz, vx])
"#;

/// The loop program in a module with a function that calls it on a tensor of this shape.
fn module(program: &str, shape: &str, results: [(&str, &str); 2]) -> String {
    let [a, b] = results.map(|(n, dtype)| format!("R.Tensor(({n},), \"{dtype}\")"));
    format!(
        r#"
@I.ir_module
class Module:
{program}
    @R.function
    def main(a: R.Tensor({shape}, "float32")):
        cls = Module
        with R.dataflow():
            y = R.call_tir(cls.f, (a,), (({a}), ({b})))
            R.output(y)
        return y
"#
    )
}

/// The device without subgroups, with the least that it has, and as if it had smaller ones.
fn with_subgroups((target, device): (Target, Device)) -> Vec<(Target, Device)> {
    let Target::Gpu(gpu) = &target else {
        return vec![(target, device)];
    };
    let sizes = [None, gpu.subgroup.map(|least| least / 2), gpu.subgroup];
    let of = |subgroup| {
        let gpu = GpuTarget {
            subgroup,
            ..gpu.clone()
        };
        (Target::Gpu(gpu), device.clone())
    };
    sizes.map(of).into()
}

#[track_caller]
fn agree(program: &str, shape: &[usize], dtypes: [DType; 2]) {
    let count = shape[0].to_string();
    let results = dtypes.map(|dtype| (count.as_str(), dtype.to_string()));
    let dims = format!(
        "({})",
        shape.iter().map(|n| format!("{n},")).collect::<String>()
    );
    let [(n, a), (m, b)] = &results;
    let text = module(program, &dims, [(*n, a.as_str()), (*m, b.as_str())]);
    let module = script::parse("f.py", &text).unwrap_or_else(|e| panic!("{e}"));
    let len: usize = shape.iter().product();
    // Some are equal, to tell which of them comes first.
    let values: Vec<f32> = (0..len)
        .map(|i| ((i * 37 + 11) % 53) as f32 / 8.0 - 3.0)
        .collect();
    let a = Tensor::from_slice(shape, &values).expect("as many as the shape says");
    let func = module.prim_func("f").expect("is there");
    let zeros = |dtype| Tensor::zeros(dtype, &shape[..1]).expect("small");
    let copy = Tensor::from_bytes(a.dtype(), a.shape(), a.bytes()).expect("fits");
    let mut tensors = [copy, zeros(dtypes[0]), zeros(dtypes[1])];
    interp::run_prim_func(func, &mut tensors).expect("runs");
    for (target, device) in devices().into_iter().flat_map(with_subgroups) {
        let name = format!("{device}, {target:?}");
        let exec = compile(&module, &CompileOptions::new(target))
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        let mut vm = VirtualMachine::new(exec, device).expect("loads");
        let got = vm.call("main", &[Value::Tensor(a.clone())]).expect("runs");
        let Value::Tuple(got) = vm.to_host(got).expect("comes back") else {
            panic!("{name}: two results");
        };
        for (got, expected) in got.into_iter().zip(&tensors[1..]) {
            let got = got.into_tensor().expect("a tensor");
            let tolerance = Tolerance::of(got.dtype().scalar, len);
            if let Err(difference) = compare(expected, &got, tolerance) {
                panic!("{name}: {difference}\n{text}");
            }
        }
    }
}

#[test]
fn several_results_are_reduced_at_once() {
    agree(MOMENTS, &[3, 70], [DType::F32, DType::F32]);
    agree(ARGMAX, &[3, 70], [DType::I32, DType::F32]);
}

/// Sums and products of rows by workgroups of so many threads, of which the first one alone stores the sum and all keep the product.
fn rows(threads: usize) -> String {
    format!(
        r#"
    @T.prim_func
    def f(A: T.Buffer((3, 300), "float32"), S: T.Buffer((3,), "float32"), P: T.Buffer((3,), "float32")):
        G = T.alloc_buffer((3,), "float32")
        for i in T.thread_binding(3, thread="blockIdx.x"):
            for o in range({steps}):
                for t in T.thread_binding({threads}, thread="threadIdx.x"):
                    with T.block("greatest"):
                        vi = T.axis.spatial(3, i)
                        vk = T.axis.reduce(300, o * {threads} + t)
                        T.where(o * {threads} + t < 300)
                        with T.init():
                            G[vi] = T.min_value("float32")
                        G[vi] = T.max(G[vi], A[vi, vk])
            for o in range({steps}):
                for t in T.thread_binding({threads}, thread="threadIdx.x"):
                    with T.block("sum"):
                        vi = T.axis.spatial(3, i)
                        vk = T.axis.reduce(300, o * {threads} + t)
                        T.where(o * {threads} + t < 300)
                        with T.init():
                            S[vi] = T.float32(0)
                        S[vi] = S[vi] + (G[vi] - A[vi, vk])
            for t in T.thread_binding({threads}, thread="threadIdx.x"):
                with T.block("least"):
                    vi = T.axis.spatial(3, i)
                    T.where(t == {threads} - 1)
                    P[vi] = G[vi]
"#,
        steps = 300usize.div_ceil(threads)
    )
}

#[test]
fn threads_of_a_subgroup_meet_by_shuffles() {
    for threads in [1, 3, 4, 8, 16, 20, 24, 64, 256] {
        agree(&rows(threads), &[3, 300], [DType::F32, DType::F32]);
    }
}

#[test]
fn several_axes_are_reduced_over() {
    agree(TWO_AXES, &[5, 4, 6], [DType::F32, DType::F32]);
}

/// Sums of the parts of 20 elements, of which the last rows have none.
const SHORT_ROWS: &str = r#"
    @T.prim_func
    def f(A: T.Buffer((20,), "float32"), S: T.Buffer((20,), "float32"), P: T.Buffer((20,), "float32")):
        for t in T.thread_binding(20, thread="threadIdx.x"):
            with T.block("before"):
                v = T.axis.spatial(20, t)
                S[v] = T.float32(7)
                P[v] = T.float32(9)
        for i in range(4):
            for t in T.thread_binding(8, thread="threadIdx.x"):
                with T.block("sum"):
                    vi = T.axis.spatial(4, i)
                    vk = T.axis.reduce(8, t)
                    T.where(i * 8 + t < 20)
                    with T.init():
                        S[vi] = T.float32(0)
                        P[vi] = T.float32(1)
                    s: T.let[T.float32] = S[vi] + A[vi * 8 + vk]
                    p: T.let[T.float32] = P[vi] * A[vi * 8 + vk]
                    S[vi] = s
                    P[vi] = p
"#;

#[test]
fn rows_without_iterations_stay_as_they_are() {
    agree(SHORT_ROWS, &[20], [DType::F32, DType::F32]);
}

#[test]
fn what_depends_on_the_order_of_terms_is_refused() {
    let refusal = |program: &str, from: &str, to: &str| {
        let text = format!("@I.ir_module\nclass Module:\n{}", program.replace(from, to));
        assert!(text.contains(to), "{from} is not in the program");
        let module = script::parse("f.py", &text).unwrap_or_else(|e| panic!("{e}"));
        let func = module.prim_func("f").expect("is there");
        let error = lower(func, &Target::Gpu(GpuTarget::default())).expect_err("is refused");
        error.to_string()
    };
    let refused = |from: &str, to: &str| refusal(MOMENTS, from, to);
    let error = refused("Q[vi] + A[vi, vk] * A[vi, vk]", "Q[vi] - A[vi, vk]");
    assert!(error.contains("the operator has no identity"), "{error}");
    let error = refused("Q[vi] + A[vi, vk] * A[vi, vk]", "Q[vi] + S[vi]");
    assert!(error.contains("what is added reads the target"), "{error}");
    let error = refused(
        "Q[vi] + A[vi, vk] * A[vi, vk]",
        "T.Select(A[vi, 0] > T.float32(0), Q[vi], A[vi, vk])",
    );
    assert!(
        error.contains("it chooses by more than an order of its targets"),
        "{error}"
    );
    let error = refused(
        "                        S[vi] = s\n                        Q[vi] = q",
        "                        S[vi] = s\n                        Q[vi] = q + S[vi]",
    );
    assert!(error.contains("it reads what it has stored"), "{error}");
    let of_argmax = |from: &str, to: &str| refusal(ARGMAX, from, to);
    // Of equal elements the first one is chosen by the order of iterations alone.
    let error = of_argmax(
        "M[vi] > A[vi, vk] or M[vi] == A[vi, vk] and I[vi] < vk",
        "M[vi] >= A[vi, vk]",
    );
    assert!(error.contains("the first or the last iteration"), "{error}");
    let error = of_argmax(
        "T.Select(M[vi] > A[vi, vk], M[vi]",
        "T.Select(M[vi] != A[vi, vk], M[vi]",
    );
    assert!(
        error.contains("it chooses by more than an order"),
        "{error}"
    );
    let error = of_argmax(
        "T.Select(M[vi] > A[vi, vk], M[vi]",
        "T.Select(M[vi] < A[vi, vk], M[vi]",
    );
    assert!(error.contains("not chosen by the same order"), "{error}");
    let error = of_argmax(
        "T.Select(M[vi] > A[vi, vk], M[vi], A[vi, vk])",
        "M[vi] + A[vi, vk]",
    );
    assert!(error.contains("not chosen by the same order"), "{error}");
    let error = refused("S[vi]", "S[vk // 70 + vi]");
    assert!(error.contains("update different elements"), "{error}");
    let error = refusal(SHORT_ROWS, "i * 8 + t < 20", "T.bitwise_xor(i, t) > 4");
    assert!(
        error.contains("does not say which iteration runs"),
        "{error}"
    );
}
