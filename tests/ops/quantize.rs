//! Quantization, against numpy.

use super::{Cases, f32s, i8s, i32s, u8s};

#[test]
fn whole_tensors_and_axes() {
    let mut cases = Cases::default();
    let x = f32s(&[2, 3], &[-300.0, -1.5, -0.5, 0.5, 1.5, 300.0]);
    let s = f32s(&[3], &[1.0, 2.0, 4.0]);
    let z = i8s(&[3], &[0, 1, -1]);
    cases.case(
        r#"R.quantize(x, R.const(1.0, "float32"), R.const(1, "int8"))"#,
        &[("x", &x)],
        &[i8s(&[2, 3], &[-128, -1, 1, 1, 3, 127])],
    );
    cases.case(
        r#"R.quantize(x, R.const(0.5, "float32"), R.const(128, "uint8"), out_dtype="uint8")"#,
        &[("x", &x)],
        &[u8s(&[2, 3], &[0, 125, 127, 129, 131, 255])],
    );
    cases.case(
        "R.quantize(x, s, z, axis=1)",
        &[("x", &x), ("s", &s), ("z", &z)],
        &[i8s(&[2, 3], &[-128, 0, -1, 0, 2, 74])],
    );
    cases.case(
        r#"R.quantize(x, s, z, out_dtype="int32")"#,
        &[("x", &x), ("s", &s), ("z", &i32s(&[3], &[0, 1, -1]))],
        &[i32s(&[2, 3], &[-300, 0, -1, 0, 2, 74])],
    );
    cases.case(
        "R.dequantize(x, s, z, axis=-1)",
        &[
            ("x", &i8s(&[2, 3], &[-128, 0, 127, 5, 6, 7])),
            ("s", &s),
            ("z", &z),
        ],
        &[f32s(&[2, 3], &[-128.0, -2.0, 512.0, 5.0, 10.0, 32.0])],
    );
    cases.case(
        "R.dequantize(x, s, z, axis=0)",
        &[
            ("x", &i32s(&[2, 3], &[-128, 0, 127, 5, 6, 7])),
            ("s", &f32s(&[2], &[0.5, 2.0])),
            ("z", &i32s(&[2], &[3, 4])),
        ],
        &[f32s(&[2, 3], &[-65.5, -1.5, 62.0, 2.0, 4.0, 6.0])],
    );
    cases.case_of(
        r#"R.dequantize(x, R.const(0.25, "float32"), R.const(-3, "int32"))"#,
        &[r#"R.Tensor(("n",), "int32")"#],
        &[("x", &i32s(&[5], &[0, 1, 2, 3, 4]))],
        &[f32s(&[5], &[0.75, 1.0, 1.25, 1.5, 1.75])],
    );
    cases.run();
}
