//! Elements narrower than a word, of which several share one: no thread loses an element of another.

use weftile::kernel::{GpuClass, Target};
use weftile::tensor::{DType, Tensor};
use weftile::{interp, lower, sched, script};

use super::cases::gpu;
use super::launch::launch;

/// Whole words, parts of the last one, and many words.
const SIZES: [usize; 7] = [0, 1, 3, 4, 5, 127, 1000];

/// Elements of every kind: for floats also NaN, infinities and values beyond the narrow types.
fn data(dtype: DType, len: usize, seed: usize) -> Tensor {
    let numbers = (0..len).map(|i| (i * 37 + seed * 11) % 251);
    if dtype == DType::F32 {
        let special = [
            f32::NAN,
            f32::INFINITY,
            -f32::INFINITY,
            -0.0,
            300.7,
            -1000.0,
        ];
        let values: Vec<f32> = numbers
            .enumerate()
            .map(|(i, v)| {
                if i % 9 == 4 {
                    special[v % 6]
                } else {
                    v as f32 / 3.0 - 40.0
                }
            })
            .collect();
        return Tensor::from_slice(&[len], &values).expect("fits");
    }
    let bytes: Vec<u8> = numbers
        .flat_map(|v| match dtype.bytes() {
            1 if dtype.is_bool() => vec![(v % 2) as u8],
            bytes => (0..bytes).map(|byte| (v * (6 * byte + 1)) as u8).collect(),
        })
        .collect();
    Tensor::from_bytes(dtype, &[len], &bytes).expect("fits")
}

/// Runs `f` of `A` and `B` of one type and `Y` of another, all with `n` elements, as scheduled for this device and for a large
/// one, and compares with the interpreter, bit by bit.
fn check(input: &str, output: &str, statement: &str) {
    let Some(gpu) = gpu() else { return };
    let text = format!(
        r#"
@T.prim_func
def f(a: T.handle, b: T.handle, y: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n,), "{input}")
    B = T.match_buffer(b, (n,), "{input}")
    Y = T.match_buffer(y, (n,), "{output}")
    for i in range(n):
        with T.block("Y"):
            vi = T.axis.spatial(n, i)
            {statement}
"#
    );
    let module = script::parse("case.py", &text).unwrap_or_else(|e| panic!("{e}"));
    let func = module.prim_func("f").expect("is there");
    for class in [gpu.target().class, GpuClass::Unknown] {
        let target = Target::Gpu(weftile::kernel::GpuTarget {
            class,
            ..gpu.target().clone()
        });
        let scheduled = sched::rules::schedule(func, &target);
        let lowered = lower::lower(scheduled.schedule.func(), &target)
            .unwrap_or_else(|e| panic!("{statement}: {e}"));
        for n in SIZES {
            let make = || {
                let [a, b] = [1, 2].map(|seed| data(input.parse().expect("a type"), n, seed));
                [a, b, data(output.parse().expect("a type"), n, 3)]
            };
            let (mut got, mut expected) = (make(), make());
            interp::run_prim_func(func, &mut expected).expect("the interpreter runs it");
            launch(&gpu, &lowered, &mut got, 1);
            for (got, expected) in got.iter().zip(&expected) {
                assert_eq!(
                    got.bytes(),
                    expected.bytes(),
                    "{class:?} {n}: {input}: {statement}"
                );
            }
        }
    }
}

#[test]
fn comparisons_and_predicates() {
    check("float32", "bool", "Y[vi] = A[vi] < B[vi]");
    check("float32", "bool", "Y[vi] = T.isnan(A[vi])");
    check("bool", "bool", "Y[vi] = not A[vi]");
    check("bool", "bool", "Y[vi] = T.bitwise_xor(A[vi], B[vi])");
}

#[test]
fn arithmetic_wraps() {
    check("int8", "int8", "Y[vi] = A[vi] + B[vi]");
    check("uint8", "uint8", "Y[vi] = A[vi] * B[vi]");
    check("int16", "int16", "Y[vi] = A[vi] * B[vi]");
    check("uint16", "uint16", "Y[vi] = A[vi] - B[vi]");
}

#[test]
fn quantized_floats() {
    let value = "T.max(T.min(T.round(A[vi] * T.float32(8)), T.float32(127)), T.float32(-128))";
    check(
        "float32",
        "int8",
        &format!("Y[vi] = T.Cast(\"int8\", {value})"),
    );
    check("float32", "uint8", "Y[vi] = T.Cast(\"uint8\", A[vi])");
}

/// The threads of a word write its elements in another order, or in place, or some of them alone.
#[test]
fn parts_of_words() {
    for dtype in ["int8", "bool", "uint16"] {
        check(dtype, dtype, "Y[n - 1 - vi] = A[vi]");
        check(dtype, "int32", "A[vi] = B[vi]");
    }
    check("int8", "int8", "Y[vi] = Y[vi] + A[vi]");
    check("uint8", "int32", "A[vi] = A[vi] + B[vi]");
}

/// Sums and maxima over rows pass elements between threads, in memory of the workgroup.
#[test]
fn rows_of_narrow_elements() {
    let Some(gpu) = gpu() else { return };
    let target = Target::Gpu(gpu.target().clone());
    for dtype in ["int8", "uint8", "int16"] {
        let text = format!(
            r#"
@T.prim_func
def f(A: T.Buffer((5, 67), "{dtype}"), Y: T.Buffer((5,), "{dtype}")):
    for i, k in T.grid(5, 67):
        with T.block("Y"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                Y[vi] = T.min_value("{dtype}")
            Y[vi] = T.max(Y[vi], A[vi, vk])
"#
        );
        let module = script::parse("case.py", &text).unwrap_or_else(|e| panic!("{e}"));
        let func = module.prim_func("f").expect("is there");
        let scheduled = sched::rules::schedule(func, &target);
        let lowered = lower::lower(scheduled.schedule.func(), &target).expect("lowers");
        let make = || {
            let dtype = dtype.parse().expect("a type");
            let rows = data(dtype, 5 * 67, 1);
            let rows = Tensor::from_bytes(dtype, &[5, 67], rows.bytes()).expect("fits");
            [rows, data(dtype, 5, 2)]
        };
        let (mut got, mut expected) = (make(), make());
        interp::run_prim_func(func, &mut expected).expect("runs");
        launch(&gpu, &lowered, &mut got, 1);
        assert_eq!(got[1].bytes(), expected[1].bytes(), "{dtype}");
    }
}
