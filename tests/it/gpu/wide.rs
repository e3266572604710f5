//! Integers of 64 bits, which shaders compute in two words: exact, and wrapping where the type does.

use weftile::kernel::Target;
use weftile::tensor::{DType, Tensor};
use weftile::{interp, lower, sched, script};

use super::cases::gpu;
use super::launch::launch;

/// Numbers around the ends of words and types.
const EDGES: [i64; 20] = [
    0,
    1,
    -1,
    2,
    -7,
    10,
    255,
    0xffff,
    -0x1_0000,
    i32::MAX as i64,
    i32::MIN as i64,
    u32::MAX as i64,
    1 << 32,
    -(1 << 32) - 5,
    0x1234_5678_9abc,
    -987_654_321_098_765,
    0x7fff_ffff_0000_0001,
    i64::MAX,
    i64::MIN,
    i64::MIN + 1,
];

fn compare(text: &str, tensors: &[Tensor]) {
    let Some(gpu) = gpu() else { return };
    let target = Target::Gpu(gpu.target().clone());
    let module = script::parse("case.py", text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let func = module.prim_func("f").expect("is there");
    let scheduled = sched::rules::schedule(func, &target);
    let lowered =
        lower::lower(scheduled.schedule.func(), &target).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let copy = |t: &Tensor| Tensor::from_bytes(t.dtype(), t.shape(), t.bytes()).expect("fits");
    let mut got: Vec<Tensor> = tensors.iter().map(copy).collect();
    let mut expected: Vec<Tensor> = tensors.iter().map(copy).collect();
    interp::run_prim_func(func, &mut expected).expect("the interpreter runs it");
    launch(&gpu, &lowered, &mut got, 1);
    for (at, (got, expected)) in got.iter().zip(&expected).enumerate() {
        let size = expected.dtype().bytes();
        let differs = got
            .bytes()
            .chunks(size)
            .zip(expected.bytes().chunks(size))
            .position(|(got, expected)| got != expected);
        if let Some(element) = differs {
            let of = |t: &Tensor| t.bytes()[element * size..][..size].to_vec();
            let (got, expected) = (of(got), of(expected));
            panic!("tensor {at}, element {element}: {got:?} for {expected:?}\n{text}");
        }
    }
}

/// `Y[vi, k] = values[k]` for each pair of edges.
fn check_pairs(input: &str, output: &str, values: &[&str]) {
    let count = EDGES.len() * EDGES.len();
    let stores: String = values
        .iter()
        .enumerate()
        .map(|(k, value)| format!("            Y[vi, {k}] = {value}\n"))
        .collect();
    let columns = values.len();
    let text = format!(
        r#"
@T.prim_func
def f(A: T.Buffer(({count},), "{input}"), B: T.Buffer(({count},), "{input}"), Y: T.Buffer(({count}, {columns}), "{output}")):
    for i in range({count}):
        with T.block("Y"):
            vi = T.axis.spatial({count}, i)
{stores}"#
    );
    let pairs = || {
        EDGES
            .iter()
            .flat_map(|a| EDGES.iter().map(move |b| (*a, *b)))
    };
    let bytes = |values: Vec<i64>| {
        let dtype: DType = input.parse().expect("a type");
        let bytes = bytemuck::cast_slice(&values);
        Tensor::from_bytes(dtype, &[count], bytes).expect("fits")
    };
    let a = bytes(pairs().map(|(a, _)| a).collect());
    let b = bytes(pairs().map(|(_, b)| b).collect());
    let y = Tensor::zeros(output.parse().expect("a type"), &[count, columns]).expect("small");
    compare(&text, &[a, b, y]);
}

#[test]
fn arithmetic() {
    for ty in ["int64", "uint64"] {
        let divisor = format!("T.bitwise_or(B[vi], T.Cast(\"{ty}\", 1))");
        let divided = |f: &str| format!("{f}(A[vi], {divisor})");
        let divisions = ["T.truncdiv", "T.truncmod", "T.floordiv", "T.floormod"].map(divided);
        let mut values = vec![
            "A[vi] + B[vi]",
            "A[vi] - B[vi]",
            "A[vi] * B[vi]",
            "T.min(A[vi], B[vi])",
            "T.max(A[vi], B[vi])",
            "T.bitwise_and(A[vi], B[vi])",
            "T.bitwise_xor(A[vi], B[vi])",
            "T.shift_left(A[vi], B[vi])",
            "T.shift_right(A[vi], B[vi])",
            "T.bitwise_not(A[vi])",
            "T.popcount(A[vi])",
            "T.clz(A[vi])",
            "T.if_then_else(A[vi] < B[vi], A[vi], B[vi] + B[vi])",
        ];
        values.extend(divisions.iter().map(String::as_str));
        check_pairs(ty, ty, &values);
    }
}

#[test]
fn comparisons_and_conversions() {
    for ty in ["int64", "uint64"] {
        let values = ["==", "!=", "<", "<=", ">", ">="].map(|op| format!("A[vi] {op} B[vi]"));
        let mut values: Vec<&str> = values.iter().map(String::as_str).collect();
        values.push("T.Cast(\"bool\", A[vi])");
        check_pairs(ty, "bool", &values);
        for to in ["int32", "int8", "uint8", "float32", "int64", "uint64"] {
            check_pairs(ty, to, &[&format!("T.Cast(\"{to}\", A[vi])")]);
        }
    }
    // The remainder comes back from a number that no word holds.
    let value = "(T.Cast(\"int64\", T.Cast(\"int32\", A[vi])) * T.Cast(\"int64\", T.Cast(\"int32\", B[vi])))";
    check_pairs(
        "int64",
        "int64",
        &[value, &format!("{value} % T.int64(1000003)")],
    );
}

#[test]
fn floats_become_integers() {
    let mut values: Vec<f32> = EDGES.iter().map(|&v| v as f32).collect();
    values.extend([
        f32::NAN,
        f32::INFINITY,
        -f32::INFINITY,
        -0.0,
        0.5,
        -1.9,
        1e-40,
        1e30,
        -1e30,
    ]);
    values.extend([
        9.2233715e18,
        1.8446743e19,
        -9.223372e18,
        16777217.0,
        3.9999998,
    ]);
    let n = values.len();
    for to in ["int64", "uint64"] {
        let text = format!(
            r#"
@T.prim_func
def f(A: T.Buffer(({n},), "float32"), Y: T.Buffer(({n},), "{to}")):
    for i in range({n}):
        with T.block("Y"):
            vi = T.axis.spatial({n}, i)
            Y[vi] = T.Cast("{to}", A[vi])
"#
        );
        let a = Tensor::from_slice(&[n], &values).expect("fits");
        let y = Tensor::zeros(to.parse().expect("a type"), &[n]).expect("small");
        compare(&text, &[a, y]);
    }
}

/// Row numbers as other compilers have them: `int64`, and negative ones count from the end.
/// Numbers that no index is are computed as data are, in two words.
#[test]
fn sums_of_indices_and_large_numbers() {
    let text = r#"
@T.prim_func
def f(A: T.Buffer((64,), "float32"), Y: T.Buffer((64,), "float32")):
    for i in T.serial(T.int64(64)):
        with T.block("Y"):
            vi = T.axis.spatial(T.int64(64), i)
            Y[vi] = A[vi] + T.Cast("float32", vi + T.int64(5000000000)) - T.Cast("float32", T.int64(4999999000) - vi)
"#;
    let a: Vec<f32> = (0..64).map(|i| i as f32).collect();
    let a = Tensor::from_slice(&[64], &a).expect("fits");
    let y = Tensor::zeros(a.dtype(), &[64]).expect("fits");
    compare(text, &[a, y]);
}

#[test]
fn rows_by_number() {
    let text = r#"
@T.prim_func
def f(x: T.handle, r: T.handle, y: T.handle, z: T.handle):
    n, m = T.int64(), T.int64()
    X = T.match_buffer(x, (n, 3), "float32")
    R = T.match_buffer(r, (m,), "int64")
    Y = T.match_buffer(y, (m, 3), "float32")
    Z = T.match_buffer(z, (m,), "int64")
    for i, j in T.grid(m, 3):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = X[T.if_then_else(R[vi] < T.int64(0), R[vi] + n, R[vi]), vj]
    for i in range(m):
        with T.block("Z"):
            vi = T.axis.spatial(m, i)
            Z[vi] = R[vi] * n + (vi * n - T.int64(9)) * T.int64(5000000000)
"#;
    let rows: Vec<f32> = (0..21).map(|i| i as f32).collect();
    let x = Tensor::from_slice(&[7, 3], &rows).expect("fits");
    let r = Tensor::from_slice(&[5], &[0i64, -1, 6, -7, 3]).expect("fits");
    let y = Tensor::zeros(DType::F32, &[5, 3]).expect("small");
    let z = Tensor::zeros(DType::I64, &[5]).expect("small");
    compare(text, &[x, r, y, z]);
}

/// Where the greatest element of each row is: a reduction of two values, one of them wide, across threads.
#[test]
fn place_of_the_greatest() {
    let text = r#"
@T.prim_func
def f(A: T.Buffer((4, 37), "float32"), Y: T.Buffer((4,), "int64")):
    v0 = T.alloc_buffer((4,), "int64")
    v1 = T.alloc_buffer((4,), "float32")
    for i, k in T.grid(4, 37):
        with T.block("red"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                v0[vi] = T.int64(-1)
                v1[vi] = T.min_value("float32")
            w0: T.int64 = T.Select(v1[vi] > A[vi, vk] or v1[vi] == A[vi, vk] and v0[vi] < vk, v0[vi], vk)
            w1: T.float32 = T.Select(v1[vi] > A[vi, vk], v1[vi], A[vi, vk])
            v0[vi] = w0
            v1[vi] = w1
    for i in range(4):
        with T.block("Y"):
            vi = T.axis.spatial(4, i)
            Y[vi] = v0[vi]
"#;
    let values: Vec<f32> = (0..4 * 37).map(|i| (i * 29 % 83) as f32).collect();
    let a = Tensor::from_slice(&[4, 37], &values).expect("fits");
    compare(text, &[a, Tensor::zeros(DType::I64, &[4]).expect("small")]);
}
