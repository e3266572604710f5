//! Programs whose loops and blocks stand as they are to run: the back ends compute what the interpreter computes.

use std::collections::HashMap;

use weftile::kernel::Target;
use weftile::lower::LowerError;
use weftile::pipeline::{CompileOptions, compile};
use weftile::runtime::Value;
use weftile::support::tolerance::{Tolerance, compare};
use weftile::tensor::Tensor;
use weftile::tensor::scalar::Scalar;
use weftile::vm::VirtualMachine;
use weftile::{interp, script};

use crate::vm::{cpu, devices};

/// A module of the loop program `f` from `a` to `y`, and a function `main` that calls it.
pub(crate) fn module(input: (&str, &str), output: (&str, &str), body: &str) -> String {
    let ((shape, dtype), (out_shape, out_dtype)) = (input, output);
    format!(
        r#"
@I.ir_module
class Module:
    @T.prim_func
    def f(A: T.Buffer({shape}, "{dtype}"), Y: T.Buffer({out_shape}, "{out_dtype}")):
{body}

    @R.function
    def main(a: R.Tensor({shape}, "{dtype}")):
        with R.dataflow():
            y = R.call_tir(f, (a,), R.Tensor({out_shape}, "{out_dtype}"))
            R.output(y)
        return y
"#
    )
}

/// Compares the devices that take the program with the interpreter.
#[track_caller]
pub(crate) fn agree(text: &str, a: &Tensor, only_cpu: bool) {
    let module = script::parse("f.py", text).unwrap_or_else(|e| panic!("{e}"));
    let func = module.prim_func("f").expect("is there");
    let y = func.buffer_params().nth(1).expect("has an output");
    let shape: Vec<usize> = y
        .shape()
        .iter()
        .map(|e| e.as_int().expect("constant") as usize)
        .collect();
    let copy = Tensor::from_bytes(a.dtype(), a.shape(), a.bytes()).expect("fits");
    let mut tensors = [copy, Tensor::zeros(y.dtype(), &shape).expect("small")];
    interp::run_prim_func(func, &mut tensors).expect("runs");
    let devices = if only_cpu { vec![cpu()] } else { devices() };
    for (target, device) in devices {
        let name = device.to_string();
        let exec = compile(&module, &CompileOptions::new(target))
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        let mut vm = VirtualMachine::new(exec, device).expect("loads");
        let got = vm.call("main", &[Value::Tensor(a.clone())]).expect("runs");
        let got = vm.to_host(got).expect("comes back");
        let got = got.into_tensor().expect("a tensor");
        let tolerance = Tolerance::of(got.dtype().scalar, 4);
        if let Err(difference) = compare(&tensors[1], &got, tolerance) {
            panic!("{name}: {difference}\n{text}");
        }
    }
}

/// Why the program has no kernels for a GPU.
#[track_caller]
fn refused(text: &str) -> String {
    let module = script::parse("f.py", text).unwrap_or_else(|e| panic!("{e}"));
    let func = module.prim_func("f").expect("is there");
    let error: LowerError =
        weftile::lower::lower(func, &Target::Gpu(Default::default())).expect_err("is refused");
    error.to_string()
}

pub(crate) fn floats(len: usize) -> Tensor {
    let elements: Vec<f32> = (0..len).map(|i| (i * 7 % 23) as f32 - 5.0).collect();
    Tensor::from_slice(&[len], &elements).expect("fits")
}

pub(crate) fn ints(elements: &[i32]) -> Tensor {
    Tensor::from_slice(&[elements.len()], elements).expect("fits")
}

/// `Y[vi] = value` for each element.
pub(crate) fn elementwise(
    input: (&str, &str),
    output: (&str, &str),
    count: usize,
    value: &str,
) -> String {
    let body = format!(
        r#"
        for i in range({count}):
            with T.block("Y"):
                vi = T.axis.spatial({count}, i)
                Y[vi] = {value}"#
    );
    module(input, output, &body)
}

#[test]
fn loops_without_end_are_not_written_out() {
    for kind in ["T.unroll", "T.vectorized"] {
        let body = format!(
            r#"
        for i in T.thread_binding(1, thread="threadIdx.x"):
            for j in {kind}(2000000000):
                with T.block("Y"):
                    vj = T.axis.spatial(2000000000, i + j)
                    Y[0] = A[0]"#
        );
        let text = module(("(4,)", "float32"), ("(4,)", "float32"), &body);
        assert!(refused(&text).contains("split them first"), "{kind}");
    }
}

#[test]
fn memory_of_one_iteration_holds_what_was_written() {
    // A block that leaves some elements out, in memory that only the iteration sees.
    let kept = r#"
        L = T.alloc_buffer((4, 10), "float32")
        for b in T.parallel(4):
            for i in range(10):
                with T.block("zero"):
                    vb, vi = T.axis.remap("SS", [b, i])
                    L[vb, vi] = T.float32(0)
            for i in range(10):
                with T.block("copy"):
                    vb, vi = T.axis.remap("SS", [b, i])
                    T.where(1 <= i and i < 9)
                    L[vb, vi] = A[vb * 10 + vi - 1]
            for i in range(10):
                with T.block("out"):
                    vb, vi = T.axis.remap("SS", [b, i])
                    Y[vb * 10 + vi] = L[vb, vi]"#;
    agree(
        &module(("(40,)", "float32"), ("(40,)", "float32"), kept),
        &floats(40),
        true,
    );
    // What one iteration wrote, the next one reads.
    let carried = r#"
        L = T.alloc_buffer((16,), "float32")
        for b in range(15):
            with T.block("Y"):
                vb = T.axis.opaque(15, b)
                if vb < 1:
                    L[vb] = A[vb]
                L[vb + 1] = A[vb + 1]
                Y[vb] = L[vb] + L[vb + 1]"#;
    agree(
        &module(("(16,)", "float32"), ("(15,)", "float32"), carried),
        &floats(16),
        true,
    );
}

#[test]
fn partial_tiles_keep_what_stands_beside_them() {
    let body = r#"
        D = T.alloc_buffer((32,), "float32")
        for t in range(4):
            for v in T.unroll(8):
                with T.block("a"):
                    vi = T.axis.spatial(30, t * 8 + v)
                    T.where(t * 8 + v < 30)
                    D[vi] = A[vi]
                with T.block("b"):
                    vi = T.axis.spatial(32, t * 8 + v)
                    Y[vi] = A[vi] * T.float32(2)"#;
    agree(
        &module(("(32,)", "float32"), ("(32,)", "float32"), body),
        &floats(32),
        true,
    );
}

#[test]
fn local_memory_of_several_nests_is_memory() {
    let body = r#"
        L = T.alloc_buffer((64,), "float32", scope="local")
        for i in range(64):
            with T.block("L"):
                vi = T.axis.spatial(64, i)
                L[vi] = A[vi] * T.float32(2)
        for i in T.parallel(64):
            with T.block("Y"):
                vi = T.axis.spatial(64, i)
                Y[vi] = L[vi]"#;
    let text = module(("(64,)", "float32"), ("(64,)", "float32"), body);
    agree(&text, &floats(64), true);
    let threads = text.replace("T.parallel(64)", "T.thread_binding(64, \"blockIdx.x\")");
    let message = refused(&threads);
    assert!(message.contains("several kernels use `L`"), "{message}");
}

#[test]
fn what_is_known_of_memory_ends_with_a_store() {
    let body = r#"
        C = T.alloc_buffer((1,), "int32")
        with T.block("Y"):
            vo = T.axis.opaque(1, 0)
            C[0] = A[vo]
            if C[0] > 0:
                C[0] = C[0] - 1
                for u in T.unroll(2):
                    if C[0] > 0:
                        Y[u] = 1
                    else:
                        Y[u] = 2"#;
    let text = module(("(1,)", "int32"), ("(2,)", "int32"), body);
    agree(&text, &ints(&[1]), true);
    agree(&text, &ints(&[2]), true);
}

#[test]
fn threads_keep_to_themselves() {
    let nested = r#"
        for i in T.thread_binding(8, thread="threadIdx.x"):
            for j in T.thread_binding(8, thread="threadIdx.x"):
                with T.block("Y"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    Y[vi * 8 + vj] = A[vi * 8 + vj]"#;
    let text = module(("(64,)", "float32"), ("(64,)", "float32"), nested);
    assert!(refused(&text).contains("each needs an axis of its own"));
    let mirrored = r#"
        for i in T.thread_binding(1, thread="blockIdx.x"):
            for j in T.thread_binding(64, thread="threadIdx.x"):
                with T.block("A"):
                    vj = T.axis.spatial(64, j)
                    A[vj] = A[vj] + T.float32(1)
            for j in T.thread_binding(64, thread="threadIdx.x"):
                with T.block("Y"):
                    vj = T.axis.spatial(64, j)
                    Y[vj] = A[63 - vj]"#;
    let text = module(("(64,)", "float32"), ("(64,)", "float32"), mirrored);
    assert!(
        refused(&text).contains("communicate through `A`"),
        "{}",
        refused(&text)
    );
    let mixed = r#"
        for f in T.thread_binding(128, thread="threadIdx.x"):
            with T.block("Y"):
                vi = T.axis.spatial(2, f // 64)
                vk = T.axis.reduce(64, f % 64)
                with T.init():
                    Y[vi] = T.float32(0)
                Y[vi] = Y[vi] + A[vk]"#;
    let text = module(("(64,)", "float32"), ("(2,)", "float32"), mixed);
    assert!(
        refused(&text).contains("by a spatial and by a reduce binding"),
        "{}",
        refused(&text)
    );
}

#[test]
fn threads_that_store_to_one_element_are_refused() {
    let program =
        |len: &str, statements: &str| module(("(64,)", "float32"), (len, "float32"), statements);
    let shifted = |statement: &str| {
        let body = format!(
            r#"
        for t in T.thread_binding(16, thread="threadIdx.x"):
            for k in range(4):
                {statement}"#
        );
        program("(70,)", &body)
    };
    let shared = "communicate through `Y`";
    let overlapping = refused(&shifted("Y[t + k] = A[t * 4 + k]"));
    assert!(overlapping.contains(shared), "{overlapping}");
    let summed = refused(&shifted("Y[t + k] = Y[t + k] + A[t * 4 + k]"));
    assert!(summed.contains(shared), "{summed}");
    let one = refused(&shifted("Y[k] = A[t]"));
    assert!(one.contains(shared), "{one}");
    let by_workgroups = r#"
        for b in T.thread_binding(8, thread="blockIdx.x"):
            for t in T.thread_binding(8, thread="threadIdx.x"):
                with T.block("Y"):
                    vb = T.axis.reduce(8, b)
                    vt = T.axis.reduce(8, t)
                    with T.init():
                        Y[0] = T.float32(0)
                    Y[0] = Y[0] + A[vb * 8 + vt]"#;
    let by_workgroups = refused(&program("(1,)", by_workgroups));
    assert!(
        by_workgroups.contains("bound to workgroups"),
        "{by_workgroups}"
    );
    // Which element it is, what a thread read says.
    let permuted = r#"
        for b in T.thread_binding(4, thread="blockIdx.x"):
            for t in T.thread_binding(16, thread="threadIdx.x"):
                with T.block("Y"):
                    vb, vt = T.axis.remap("SS", [b, t])
                    own = T.alloc_buffer((1,), "int32", scope="local")
                    own[0] = T.Cast("int32", A[vb * 16 + vt])
                    Y[T.max(T.min(own[0], 69), 0)] = A[63 - vb * 16 - vt]"#;
    let places: Vec<f32> = (0..64).map(|at| (at * 7 % 64) as f32).collect();
    let places = Tensor::from_slice(&[64], &places).expect("fits");
    agree(&program("(70,)", permuted), &places, false);
    // The same values at the same places, and steps that never meet.
    for statement in [
        "Y[t + k] = A[t + k]",
        "Y[t * 4 + k] = A[t]",
        "Y[k * 16 + t] = A[t]",
    ] {
        agree(&shifted(statement), &floats(64), false);
    }
}

#[test]
fn loops_whose_count_a_conversion_makes_large_are_bounded() {
    // 44 iterations where the operand is -212.
    let body = r#"
        for t in T.thread_binding(1, thread="threadIdx.x"):
            with T.block("Y"):
                v = T.axis.spatial(1, t)
                Y[v] = 0
                for i in range(T.Cast("int32", T.Cast("uint8", n - 213))):
                    for j in range(5000):
                        Y[v] = Y[v] + A[v]"#;
    let text = format!(
        r#"
@T.prim_func
def f(n: T.int32, A: T.Buffer((1,), "int32"), Y: T.Buffer((1,), "int32")):{body}"#
    );
    let module = script::parse("f.py", &text).unwrap_or_else(|e| panic!("{e}"));
    let func = module.prim_func("f").expect("is there");
    for (target, device) in devices() {
        let lowered = weftile::lower::lower(func, &target).unwrap_or_else(|e| panic!("{e}"));
        let passes = lowered
            .requires
            .iter()
            .find(|r| r.what.contains("loop iterations"));
        if let Some(passes) = passes {
            let known = passes.value.eval(&[1]).expect("has a value");
            assert!(known > 44 * 5000, "{device}: {known}");
        }
    }
}

#[test]
fn large_products_in_indices_take_no_time() {
    let sum = |v: &str| format!("({v}//2%3+{v}//3%5+{v}//5%7+{v}//7%11+{v}//11%13)");
    let value = format!("A[({} * {}) // 7]", sum("vi"), sum("(vi + 1)"));
    let text = elementwise(("(400,)", "float32"), ("(64,)", "float32"), 64, &value);
    agree(&text, &floats(400), false);
}

#[test]
fn narrow_elements_are_read_on_every_device() {
    for dtype in ["int8", "uint8", "bool"] {
        let bytes: Vec<u8> = if dtype == "bool" {
            (0..37).map(|i| i % 2).collect()
        } else {
            (0..37).map(|i| (i * 11 + 100) as u8).collect()
        };
        let dtype_of = dtype.parse().expect("a type");
        let data = Tensor::from_bytes(dtype_of, &[37], &bytes).expect("fits");
        let value = "T.Cast(\"int32\", A[vi])";
        let text = elementwise(("(37,)", dtype), ("(37,)", "int32"), 37, value);
        agree(&text, &data, false);
    }
}

/// Loops over partial tiles that are vectorized outside of a symbolic loop: each lane splits the loops inside again.
#[test]
fn parts_of_parts_of_loops_are_few() {
    let text = r#"
@T.prim_func
def f(x: T.handle, y: T.handle):
    n, m = T.int64(), T.int64()
    X = T.match_buffer(x, (n, m), "float32")
    Y = T.match_buffer(y, (n, m), "float32")
    for i0 in range((n + 31) // 32):
        for i1 in T.vectorized(2):
            for i2 in range(16):
                for j in range(m):
                    with T.block("Y"):
                        vi = T.axis.spatial(n, i0 * 32 + i1 * 16 + i2)
                        vj = T.axis.spatial(m, j)
                        T.where(i0 * 32 + i1 * 16 + i2 < n)
                        Y[vi, vj] = T.max(X[vi, vj], T.float32(0))
"#;
    let module = script::parse("f.py", text).unwrap_or_else(|e| panic!("{e}"));
    let func = module.prim_func("f").expect("is there");
    let lowered = weftile::lower::lower(func, &cpu().0).expect("lowers");
    assert!(lowered.kernels[0].body.len() < 100);
}

/// A tile that is larger than what it tiles: its predicate says more than the shape of the output.
#[test]
fn tiles_larger_than_their_loop() {
    let body = r#"
        for i, j1, k, j0 in T.grid(3, 4, 4, 2):
            with T.block("Y"):
                vi = T.axis.spatial(3, i)
                vj = T.axis.spatial(3, j0 * 2 + j1)
                vk = T.axis.reduce(4, k)
                T.where(j0 * 2 + j1 < 3 and j1 < 2)
                with T.init():
                    Y[vi * 3 + vj] = T.float32(0)
                Y[vi * 3 + vj] = Y[vi * 3 + vj] + A[vi * 4 + vk] * A[vj * 4 + vk]"#;
    let text = module(("(12,)", "float32"), ("(9,)", "float32"), body);
    agree(&text, &floats(12), false);
}

#[test]
fn loops_that_end_early() {
    let data = ints(&[3, -1, 4, 0, 5, 7, -2, 0, 1, 2, 3, 9]);
    // What comes before the first zero of each row of four, without negative numbers; a `while` that ends itself.
    let body = r#"
        for t in range(3):
            Y[t] = 0
            for i in range(4):
                if A[t * 4 + i] < 0:
                    continue
                if A[t * 4 + i] == 0:
                    break
                Y[t] = Y[t] + A[t * 4 + i]
        for t in range(3):
            Y[3 + t] = 0
            for k in range(5):
                for i in range(4):
                    if i > k:
                        break
                    if A[t * 4 + i] == 7:
                        continue
                    Y[3 + t] = Y[3 + t] + A[t * 4 + i] * (k + 1)"#;
    agree(
        &module(("(12,)", "int32"), ("(6,)", "int32"), body),
        &data,
        false,
    );
    let body = r#"
        for t in range(12):
            Y[t] = 0
            while Y[t] < 100:
                Y[t] = Y[t] + 7
                if A[t] + Y[t] > 20:
                    break"#;
    agree(
        &module(("(12,)", "int32"), ("(12,)", "int32"), body),
        &data,
        true,
    );
}

#[test]
fn views_of_regions_and_of_memory() {
    let data = floats(48);
    let body = r#"
        B = T.decl_buffer((6, 8), "float32", data=A.data)
        D = T.decl_buffer((4, 3), "float32", data=A.data, strides=(1, 8), elem_offset=5)
        for i, j in T.grid(4, 3):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(A[vi * 8:vi * 8 + 8])
                T.writes(Y[vi * 3 + vj])
                s = T.int32()
                o = T.int32()
                C = T.match_buffer(A[vi * 8:vi * 8 + 8], (8,), strides=(s,), elem_offset=o)
                Y[vi * 3 + vj] = B[vi, vj] + D[vi, vj] * T.float32(100) + C[vj] * T.float32(7)"#;
    agree(
        &module(("(48,)", "float32"), ("(12,)", "float32"), body),
        &data,
        false,
    );
}

#[test]
fn parameters_name_the_layout_of_their_tensors() {
    let named = r#"
@I.ir_module
class Module:
    @T.prim_func
    def f(a: T.handle, y: T.handle):
        n = T.int64()
        s, t = T.int64(), T.int64()
        at = T.int64()
        A = T.match_buffer(a, (n, 6), "float32", strides=(s, t), elem_offset=at)
        Y = T.match_buffer(y, (4,), "float32", offset_factor=4)
        B = T.alloc_buffer((4, 3), "float32", strides=(16, 1))
        for i in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                B[vi, 2] = A[vi, 2]
        for i in range(4):
            with T.block("Y"):
                vi = T.axis.spatial(4, i)
                Y[vi] = B[vi, 2] + T.Cast("float32", s * 100 + t * 10 + at)

    @R.function
    def main(a: R.Tensor((4, 6), "float32")):
        with R.dataflow():
            y = R.call_tir(f, (a,), R.Tensor((4,), "float32"))
            R.output(y)
        return y
"#;
    let a = floats(24);
    let a = Tensor::from_bytes(a.dtype(), &[4, 6], a.bytes()).expect("fits");
    agree(named, &a, false);
    // Strides in terms of the extents.
    let symbolic = named
        .replace("strides=(s, t)", "strides=(6, T.int64(1))")
        .replace("s, t = T.int64(), T.int64()", "s, t = n, n");
    agree(
        &symbolic.replace("s, t = n, n", "s: T.int64 = n\n        t: T.int64 = n"),
        &a,
        false,
    );
}

#[test]
fn parameters_of_other_layouts_are_refused() {
    let of = |layout: &str| {
        let body = "\n        for i in range(4):\n            Y[i] = A[i, 0]";
        let text = module(("(4, 8)", "float32"), ("(4,)", "float32"), body);
        text.replace(
            "T.Buffer((4, 8), \"float32\")",
            &format!("T.Buffer((4, 8), \"float32\", {layout})"),
        )
    };
    assert_eq!(
        refused(&of("strides=(16, 1)")),
        "`f`: parameter `A` has the stride or offset 16, but tensors are dense: it is 8"
    );
    assert_eq!(
        refused(&of("elem_offset=4")),
        "`f`: parameter `A` has the stride or offset 4, but tensors are dense: it is 0"
    );
    let body = r#"
        B = T.alloc_buffer((4, 4), "float32", strides=(16, 1))
        C = T.decl_buffer((16,), "float32", data=B.data)
        for i in range(4):
            C[i] = A[i]
        for i in range(4):
            Y[i] = B[i, 0]"#;
    assert_eq!(
        refused(&module(("(4,)", "float32"), ("(4,)", "float32"), body)),
        "`f`: `C` views the memory of `B`, which has strides or an offset"
    );
}

#[test]
fn views_have_the_layout_of_what_they_view() {
    // A view of a view, and the memory of a view.
    let body = r#"
        for i in range(4):
            with T.block("Y"):
                vi = T.axis.spatial(4, i)
                T.reads(A[0:16, 0:16])
                T.writes(Y[vi])
                s, t = T.int32(), T.int32()
                V = T.match_buffer(A[4:8, 4:8], (4, 4), "float32")
                W = T.match_buffer(V[vi, 1:3], (2,), "float32", strides=(t,), elem_offset=s)
                M = T.decl_buffer((256,), "float32", data=W.data)
                Y[vi] = W[1] * T.float32(3) + M[s] + T.Cast("float32", s + t)"#;
    let text = module(("(16, 16)", "float32"), ("(4,)", "float32"), body);
    let a = floats(256);
    let a = Tensor::from_bytes(a.dtype(), &[16, 16], a.bytes()).expect("fits");
    agree(&text, &a, false);
}

/// Sums of rows of three, whose running values the outermost loop comes back to, and their halves.
const CARRIED: &str = r#"
        acc = T.alloc_buffer((4,), scope="SCOPE")
        for k, i in T.grid(3, 4):
            with T.block("acc"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    acc[vi] = T.float32(0)
                acc[vi] = acc[vi] + A[vi, vk]
            with T.block("Y"):
                vi = T.axis.spatial(4, i)
                Y[vi] = acc[vi] / T.float32(2)"#;

#[test]
fn values_that_iterations_hand_on_are_kept() {
    for scope in ["global", "local"] {
        let body = CARRIED.replace("SCOPE", scope);
        let text = module(("(4, 3)", "float32"), ("(4,)", "float32"), &body);
        agree(&text, &floats(12).reshape(&[4, 3]).expect("fits"), false);
    }
}

#[test]
fn blocks_of_blocks_with_an_init_run_in_parallel() {
    let body = r#"
        for i_0, j_0, k_0 in T.grid(8, 2, 4):
            with T.block("Y_o"):
                vi, vj_o, vk_o = T.axis.remap("SSR", [i_0, j_0, k_0])
                T.reads(A[vi, vk_o * 2:vk_o * 2 + 2])
                T.writes(Y[vi, vj_o * 4:vj_o * 4 + 4])
                with T.init():
                    for j_1 in range(4):
                        with T.block("Y_init"):
                            vj = T.axis.spatial(4, j_1)
                            Y[vi, vj_o * 4 + vj] = T.float32(0)
                for k_1, j_1 in T.grid(2, 4):
                    with T.block("Y"):
                        vj, vk = T.axis.remap("SR", [j_1, k_1])
                        Y[vi, vj_o * 4 + vj] = Y[vi, vj_o * 4 + vj] + A[vi, vk_o * 2 + vk]"#;
    let text = module(("(8, 8)", "float32"), ("(8, 8)", "float32"), body);
    agree(&text, &floats(64).reshape(&[8, 8]).expect("fits"), false);
    let module = script::parse("f.py", &text).unwrap_or_else(|e| panic!("{e}"));
    let func = module.prim_func("f").expect("is there");
    let target = Target::Gpu(Default::default());
    let (scheduled, lowered) =
        weftile::sched::rules::choose(func, &target, |f| weftile::lower::lower(f, &target));
    let kernels = lowered.expect("lowers").kernels;
    assert_eq!(scheduled.rules, ["fallback"]);
    let launch = kernels[0].launch.as_ref().expect("has one");
    assert_eq!(launch.block, [16, 1, 1]);
}

#[test]
fn calls_of_other_functions_are_refused_by_their_names() {
    let body = |statement: &str| {
        let body = format!(
            "\n        for i in T.thread_binding(4, \"threadIdx.x\"):\n            with T.block(\"Y\"):\n                vi = T.axis.spatial(4, i)\n                {statement}"
        );
        module(("(4,)", "float32"), ("(4,)", "float32"), &body)
    };
    for (statement, message) in [
        (
            "Y[vi] = T.call_pure_extern(\"float32\", \"sinpif\", A[vi])",
            "`f`: `sinpif` (`T.call_pure_extern`) is no function that kernels can call",
        ),
        (
            "T.call_packed(\"tvm.contrib.sort.argsort\", A.data, Y.data)",
            "`f`: `tvm.contrib.sort.argsort` (`T.call_packed`) is no function that kernels can call",
        ),
        (
            "Y[vi] = T.Cast(\"float32\", T.vscale())",
            "`f`: `T.vscale` is no function that kernels can call",
        ),
    ] {
        assert_eq!(refused(&body(statement)), message);
    }
}

#[test]
fn tiles_are_refused_by_their_names() {
    for (statement, what) in [
        ("T.cta.copy(Y[0:4], A[0:4])", "`T.cta.copy`"),
        (
            "L = T.alloc_buffer((4,), scope=\"local\", layout=T.TileLayout(T.S[4:1 @ Axis.laneid]))",
            "the layout of buffer `L`",
        ),
        (
            "P = T.decl_buffer((4,), data=A.data, allocated_addr=64)",
            "the address of buffer `P`",
        ),
    ] {
        let body = format!(
            "\n        for i in T.thread_binding(4, \"threadIdx.x\"):\n            with T.block(\"Y\"):\n                vi = T.axis.spatial(4, i)\n                {statement}\n                Y[vi] = A[vi]"
        );
        let text = module(("(4,)", "float32"), ("(4,)", "float32"), &body);
        let message = format!("`f`: {what} has no meaning on this target");
        assert_eq!(refused(&text), message);
        let module = script::parse("f.py", &text).unwrap_or_else(|e| panic!("{e}"));
        let func = module.prim_func("f").expect("is there");
        let error = interp::run_prim_func(func, &mut [floats(4), floats(4)]);
        let error = error.expect_err("is refused").to_string();
        assert_eq!(error, format!("cannot run {what}"));
    }
}

#[test]
fn nothing_runs_after_a_return() {
    let body = r#"
        for i in range(4):
            with T.block("Y"):
                vi = T.axis.spatial(4, i)
                Y[vi] = A[vi]
        return
        for i in range(4):
            with T.block("Z"):
                vi = T.axis.spatial(4, i)
                Y[vi] = T.float32(0)"#;
    let text = module(("(4,)", "float32"), ("(4,)", "float32"), body);
    agree(&text, &floats(4), false);
}

#[test]
fn a_scalar_parameter_may_be_an_extent() {
    let text = r#"
@I.ir_module
class Module:
    @T.prim_func
    def f(A: T.Buffer(("n",), "float32"), Y: T.Buffer(("n",), "float32"), n: T.int64):
        for i in range(n):
            with T.block("Y"):
                vi = T.axis.spatial(n, i)
                Y[vi] = A[vi] + T.Cast("float32", n)

    @R.function
    def main(a: R.Tensor(("n",), "float32")):
        n = T.int64()
        with R.dataflow():
            y = R.call_tir(f, (a,), R.Tensor((n,), "float32"), tir_vars=R.shape([n]))
            R.output(y)
        return y
"#;
    let module = script::parse("f.py", text).unwrap_or_else(|e| panic!("{e}"));
    let func = module.prim_func("f").expect("is there");
    let a = floats(5);
    let copy = Tensor::from_bytes(a.dtype(), a.shape(), a.bytes()).expect("fits");
    let mut tensors = [copy, Tensor::zeros(a.dtype(), &[5]).expect("small")];
    interp::run_prim_func_with(func, &mut tensors, &[Scalar::Int(5)]).expect("runs");
    for (target, device) in devices() {
        let exec = compile(&module, &CompileOptions::new(target)).expect("compiles");
        let mut vm = VirtualMachine::new(exec, device).expect("loads");
        let got = vm.call("main", &[Value::Tensor(a.clone())]).expect("runs");
        let got = vm.to_host(got).expect("comes back").into_tensor();
        compare(&tensors[1], &got.expect("a tensor"), Tolerance::EXACT).expect("the same");
    }
    let wrong = interp::run_prim_func_with(func, &mut tensors, &[Scalar::Int(4)]);
    assert_eq!(
        wrong.expect_err("A has 5 elements").to_string(),
        "`A` of `f`, dimension 0: expected 4, got 5"
    );
}

#[test]
fn what_is_asserted_of_sizes_is_checked_before_a_launch() {
    let text = r#"
@I.ir_module
class Module:
    @T.prim_func
    def f(a: T.handle, y: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,), "float32")
        Y = T.match_buffer(y, (n,), "float32")
        assert n % 4 == 0, "rows of four"
        for i in range(n):
            with T.block("Y"):
                vi = T.axis.spatial(n, i)
                Y[vi] = A[vi] + T.float32(1)

    @R.function
    def main(a: R.Tensor(("n",), "float32")):
        n = T.int64()
        with R.dataflow():
            y = R.call_tir(f, (a,), R.Tensor((n,), "float32"))
            R.output(y)
        return y
"#;
    let module = script::parse("f.py", text).unwrap_or_else(|e| panic!("{e}"));
    for (target, device) in devices() {
        let exec = compile(&module, &CompileOptions::new(target)).expect("compiles");
        let mut vm = VirtualMachine::new(exec, device).expect("loads");
        let mut run = |n: usize| {
            let got = vm.call("main", &[Value::Tensor(floats(n))])?;
            vm.to_host(got)
        };
        run(8).expect("two rows");
        let error = run(6).expect_err("a row and a half").to_string();
        assert!(error.contains("assertion failed: rows of four"), "{error}");
        run(4).expect("one row");
    }
}

#[test]
fn scalars_of_any_type_are_passed() {
    let text = r#"
@I.ir_module
class Module:
    @T.prim_func
    def f(A: T.Buffer((4,), "float32"), v: T.float32, h: T.float16, b: T.bool, k: T.int32, Y: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("y"):
                vi = T.axis.spatial(4, i)
                Y[vi] = T.if_then_else(b, A[vi] * v + T.Cast("float32", h), T.Cast("float32", k))

    @R.function
    def main(a: R.Tensor((4,), "float32")):
        cls = Module
        with R.dataflow():
            y = R.call_tir(cls.f, (a, R.prim_value(T.float32(0.1)), R.prim_value(T.float16(0.3)), R.prim_value(True), R.prim_value(T.int32(-7))), R.Tensor((4,), "float32"))
            z = R.call_tir(cls.f, (y, R.prim_value(T.float32(float("inf"))), R.prim_value(T.float16(-0.0)), R.prim_value(False), R.prim_value(T.int32(-7))), R.Tensor((4,), "float32"))
            R.output(y, z)
        return (y, z)
"#;
    let module = script::parse("f.py", text).unwrap_or_else(|e| panic!("{e}"));
    let a = floats(4);
    let expected: Vec<f32> = a
        .as_slice::<f32>()
        .expect("f32")
        .iter()
        .map(|a| a * 0.1 + 0.300_048_83)
        .collect();
    let given = [interp::Value::Tensor(a.clone())];
    let got = interp::run_module(&module, "main", &given, &HashMap::new()).expect("runs");
    let close = |what: &str, got: &Tensor, expected: &[f32]| {
        let got = got.as_slice::<f32>().expect("f32");
        let same = |(got, expected): (&f32, &f32)| (got - expected).abs() <= 1e-6 * expected.abs();
        assert!(
            got.iter().zip(expected).all(same),
            "{what}: {got:?}, not {expected:?}"
        );
    };
    let interp::Value::Tuple(got) = got else {
        panic!("{got:?}")
    };
    let [interp::Value::Tensor(y), interp::Value::Tensor(z)] = &got[..] else {
        panic!("{got:?}")
    };
    close("interp", y, &expected);
    close("interp", z, &[-7.0; 4]);
    for (target, device) in devices() {
        let name = device.to_string();
        let exec = compile(&module, &CompileOptions::new(target))
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        let mut vm = VirtualMachine::new(exec, device).expect("loads");
        let got = vm.call("main", &[Value::Tensor(a.clone())]).expect("runs");
        let Value::Tuple(got) = vm.to_host(got).expect("comes back") else {
            panic!("no tuple")
        };
        let got: Vec<Tensor> = got
            .into_iter()
            .map(|v| v.into_tensor().expect("a tensor"))
            .collect();
        close(&name, &got[0], &expected);
        close(&name, &got[1], &[-7.0; 4]);
    }
}

/// The form of a reduction to one element that TVM's fallback rule for GPUs makes.
#[test]
fn one_thread_of_many_may_read_what_it_wrote() {
    let body = r#"
        for b in T.thread_binding(1, thread="blockIdx.x"):
            for t in T.thread_binding(64, thread="threadIdx.x"):
                with T.block("init"):
                    v = T.axis.spatial(1, 0)
                    T.where(b * 64 + t < 1)
                    Y[0] = T.float32(0)
                for k in range(48):
                    with T.block("update"):
                        v = T.axis.spatial(1, 0)
                        vk = T.axis.reduce(48, k)
                        T.where(b * 64 + t < 1)
                        Y[0] = Y[0] + A[vk]
"#;
    let text = module(("(48,)", "float32"), ("(1,)", "float32"), body);
    agree(&text, &floats(48), false);
    let error = refused(&text.replace("b * 64 + t < 1", "b * 64 + t < 2"));
    assert!(
        error.contains("threads of one kernel communicate through `Y`"),
        "{error}"
    );
}
