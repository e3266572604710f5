//! Arithmetic of elements in loop programs: the back ends compute what the interpreter computes.

use weftile::tensor::Tensor;

use crate::as_written::{agree, elementwise, floats, ints, module};

#[test]
fn conversions_to_narrow_types_and_back_wrap() {
    let data = ints(&[300, -1, 255, 256, 70_000, 5]);
    for narrow in ["uint8", "int8", "uint16", "int16"] {
        let value = format!("T.Cast(\"int32\", T.Cast(\"{narrow}\", A[vi]))");
        agree(
            &elementwise(("(6,)", "int32"), ("(6,)", "int32"), 6, &value),
            &data,
            false,
        );
    }
    // As an index: the type says that it is in range.
    let value = "A[T.Cast(\"int32\", T.Cast(\"uint8\", vi))]";
    let text = elementwise(("(256,)", "float32"), ("(300,)", "float32"), 300, value);
    agree(&text, &floats(256), false);
    let value = "A[T.Cast(\"int32\", T.Cast(\"uint8\", vi) + T.uint8(1))]";
    let text = elementwise(("(256,)", "float32"), ("(256,)", "float32"), 256, value);
    agree(&text, &floats(256), false);
}

#[test]
fn quotients_by_constants() {
    let data = ints(&[
        0,
        1,
        -1,
        6,
        27,
        28,
        -28,
        -29,
        999_999,
        i32::MAX,
        i32::MIN,
        i32::MIN + 1,
    ]);
    for dtype in [
        "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
    ] {
        for divisor in [7, 100] {
            for operator in ["T.floordiv", "T.floormod", "T.truncdiv", "T.truncmod"] {
                // Wide numbers reach into the upper half.
                let wide = match dtype.ends_with("64") {
                    true => format!(" * T.{dtype}(3000000007)"),
                    false => String::new(),
                };
                let number = format!("T.Cast(\"{dtype}\", A[vi]){wide}");
                let value = format!("{operator}({number}, T.{dtype}({divisor}))");
                let text = elementwise(("(12,)", "int32"), ("(12,)", dtype), 12, &value);
                agree(&text, &data, false);
            }
        }
    }
}

#[test]
fn arithmetic_of_data_wraps() {
    let data = ints(&[2, i32::MAX, i32::MIN, -7, 1 << 29, 0]);
    for value in [
        "(A[vi] * 1103515245 + 12345) % 1000",
        "(A[vi] * 6 + 1) % 3",
        "A[vi] * 2 // 2",
        "A[vi] // -3",
        "A[vi] % -3",
        "T.Select(A[vi] + 1 > A[vi], 1, 0)",
        "T.Select(A[vi] + 3 < 5, 1, 0)",
        "T.shift_right(T.shift_left(A[vi], 28), 28)",
        "T.Let(T.truncmod(x + 4, 5), where={x: A[vi]})",
        "T.Let(T.Select(x + 1 > x, 1, 0), where={x: A[vi] + A[vi]})",
    ] {
        agree(
            &elementwise(("(6,)", "int32"), ("(6,)", "int32"), 6, value),
            &data,
            false,
        );
    }
    let body = r#"
        for i in range(6):
            with T.block("Y"):
                vi = T.axis.spatial(6, i)
                seed: T.int32 = A[vi]
                Y[vi] = seed * 2 // 2"#;
    agree(
        &module(("(6,)", "int32"), ("(6,)", "int32"), body),
        &data,
        false,
    );
}

#[test]
fn intrinsics_of_narrow_and_fixed_point_numbers() {
    let data = ints(&[7, i32::MAX, i32::MIN, -12_345, 1 << 29, 0]);
    let values = [
        "T.q_multiply_shift(A[vi], 1395864371, 31, 3)",
        "T.q_multiply_shift(A[vi], A[vi], 31, -2)",
        "T.dp4a_u8s8s32(A[vi], A[vi], A[vi])",
        "T.Cast(\"int32\", T.popcount(T.Cast(\"int8\", A[vi])))",
        "T.Cast(\"int32\", T.clz(T.Cast(\"uint16\", A[vi])))",
        "T.Cast(\"int32\", T.bitwise_not(T.Cast(\"uint8\", A[vi])))",
    ];
    for value in values {
        let text = elementwise(("(6,)", "int32"), ("(6,)", "int32"), 6, value);
        agree(&text, &data, false);
    }
    // Vectors, with a constant on either side.
    let words: Vec<i32> = (0..40).map(|i: i32| i.wrapping_mul(0x2545_f491)).collect();
    for value in [
        "T.dp4a_u8s8s32(16909060, A[vi], 0)",
        "T.dp4a_u8s8s32(A[vi], -16909060, A[vi])",
        "A[vi] << 8 ^ A[vi] >> 3",
    ] {
        let text = elementwise(("(40,)", "int32"), ("(40,)", "int32"), 40, value);
        agree(&text, &ints(&words), false);
    }
    for value in [
        "T.expm1(A[vi])",
        "T.fmod(A[vi], T.float32(3.1))",
        "A[vi] % T.float32(-3.1)",
    ] {
        let text = elementwise(("(40,)", "float32"), ("(40,)", "float32"), 40, value);
        agree(&text, &floats(40), false);
    }
}

#[test]
fn nan_is_not_itself() {
    let data = [1.0, f32::NAN, f32::INFINITY, -0.0];
    let data = Tensor::from_slice(&[4], &data).expect("fits");
    let value = "T.if_then_else(A[vi] != A[vi], T.float32(1), T.float32(0))";
    let text = elementwise(("(4,)", "float32"), ("(4,)", "float32"), 4, value);
    agree(&text, &data, false);
}

#[test]
fn bits_of_values_as_values_of_other_types() {
    let floats = [1.5, -0.0, f32::INFINITY, -3.25e-4, 65504.0, 1e-7];
    let data = Tensor::from_slice(&[6], &floats).expect("fits");
    for (value, output) in [
        ("T.reinterpret(\"int32\", A[vi])", "int32"),
        ("T.reinterpret(\"uint32\", A[vi]) >> T.uint32(23)", "uint32"),
        (
            "T.reinterpret(\"float32\", T.reinterpret(\"uint32\", A[vi]) ^ T.uint32(0x80000000))",
            "float32",
        ),
        ("T.reinterpret(\"float32\", 0x40490fdb) + A[0]", "float32"),
        (
            "T.Cast(\"int32\", T.reinterpret(\"int8\", T.Cast(\"uint8\", 250 + vi)))",
            "int32",
        ),
        (
            "T.reinterpret(\"uint64\", T.Cast(\"int64\", vi - 3))",
            "uint64",
        ),
    ] {
        let text = elementwise(("(6,)", "float32"), ("(6,)", output), 6, value);
        agree(&text, &data, false);
    }
    // Not every GPU has `float16`, and none the others.
    for (value, output) in [
        (
            "T.reinterpret(\"int16\", T.Cast(\"float16\", A[vi]))",
            "int16",
        ),
        (
            "T.Cast(\"float32\", T.reinterpret(\"float16\", T.Cast(\"uint16\", vi * 3000)))",
            "float32",
        ),
        (
            "T.reinterpret(\"int64\", T.Cast(\"float64\", A[vi]))",
            "int64",
        ),
        (
            "T.reinterpret(\"uint16\", T.Cast(\"bfloat16\", A[vi]))",
            "uint16",
        ),
        (
            "T.Cast(\"float32\", T.reinterpret(\"float64\", T.Cast(\"int64\", vi)))",
            "float32",
        ),
    ] {
        let text = elementwise(("(6,)", "float32"), ("(6,)", output), 6, value);
        agree(&text, &data, true);
    }
}

#[test]
fn powers_of_integers_wrap() {
    let data = ints(&[3, -7, 2, 0, -1, 46_341]);
    for ty in ["int8", "uint16", "int32", "uint32"] {
        let base = format!("T.Cast(\"{ty}\", A[vi])");
        let value = format!("T.pow({base}, T.Cast(\"{ty}\", vi * 25))");
        let text = elementwise(("(6,)", "int32"), ("(6,)", ty), 6, &value);
        agree(&text, &data, false);
    }
    // More than 32 bits of exponent.
    let value = "T.pow(T.Cast(\"int64\", A[vi]), T.Cast(\"int64\", vi) * T.int64(6442450945))";
    let text = elementwise(("(6,)", "int32"), ("(6,)", "int64"), 6, value);
    agree(&text, &data, false);
}
