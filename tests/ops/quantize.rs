//! Quantization, against numpy.

use super::{Cases, f32s, i8s, i32s, u8s};
use weftile::tensor::Tensor;

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

/// The first number is in the lowest bits, whether the element has a sign or not.
#[test]
fn numbers_of_a_few_bits() {
    let mut cases = Cases::default();
    let mut case = |call: &str, x: Result<Tensor, _>, expected: Result<Tensor, _>| {
        let x: Result<Tensor, weftile::tensor::TensorError> = x;
        let expected: Result<Tensor, weftile::tensor::TensorError> = expected;
        let (x, expected) = (x.expect("fits"), expected.expect("fits"));
        cases.case(call, &[("x", &x)], &[expected]);
    };
    let bytes = [0x21u8, 0xf0, 0x8c];
    let fours = [1u8, 2, 0, 15, 12, 8];
    let call = "R.unpack_bits(x)";
    case(
        call,
        Tensor::from_slice(&[1, 3], &bytes),
        Tensor::from_slice(&[1, 6], &fours),
    );
    let signed = (bytes.map(|x| x as i8), fours.map(|x| x as i8));
    case(
        call,
        Tensor::from_slice(&[3], &signed.0),
        Tensor::from_slice(&[6], &signed.1),
    );
    let ones = [1u8, 0, 0, 0, 0, 1, 0, 0];
    let first = Tensor::from_slice(&[1], &bytes[..1]);
    case(
        "R.unpack_bits(x, bits=1)",
        first,
        Tensor::from_slice(&[8], &ones),
    );
    let twos = [1u16, 0, 2, 0, 0, 0, 3, 3];
    let word = Tensor::from_slice(&[1, 1], &[0xf021u16]);
    case(
        "R.unpack_bits(x, bits=2)",
        word,
        Tensor::from_slice(&[1, 8], &twos),
    );
    let wide = [0x21u32, 0xf0, 0x8c, 0xff];
    let word = Tensor::from_slice(&[1], &[0xff8c_f021u32]);
    case(
        "R.unpack_bits(x, bits=8)",
        word,
        Tensor::from_slice(&[4], &wide),
    );
    let word = Tensor::from_slice(&[1], &[0xff8c_f021u32 as i32]);
    case(
        "R.unpack_bits(x, bits=8)",
        word,
        Tensor::from_slice(&[4], &wide.map(|x| x as i32)),
    );
    let words = Tensor::from_slice(&[1], &[-16i16]);
    case(call, words, Tensor::from_slice(&[4], &[0i16, 15, 15, 15]));
    let same = || Tensor::from_slice(&[2], &[-3i8, 7]);
    case("R.unpack_bits(x, bits=8)", same(), same());
    let none = Tensor::from_slice::<u32>(&[0, 2], &[]);
    case(call, none, Tensor::from_slice::<u32>(&[0, 16], &[]));
    let long = (0..16).map(|at| 0xfedc_ba98_7654_3210u64 >> (4 * at) & 15);
    let long: Vec<u64> = long.collect();
    let word = Tensor::from_slice(&[1], &[0xfedc_ba98_7654_3210u64]);
    case(call, word, Tensor::from_slice(&[16], &long));
    let word = Tensor::from_slice(&[1], &[0xfedc_ba98_7654_3210u64 as i64]);
    let signed: Vec<i64> = long.iter().map(|x| *x as i64).collect();
    case(call, word, Tensor::from_slice(&[16], &signed));
    cases.run();
}
