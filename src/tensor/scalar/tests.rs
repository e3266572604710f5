//! Tests of [`super`].

use super::*;

fn int(op: BinOp, ty: ScalarType, a: i64, b: i64) -> Result<i64, EvalError> {
    eval_binary(op, ty, Scalar::Int(a), Scalar::Int(b)).map(Scalar::as_int)
}

#[test]
fn integer_division_rounds_as_named() {
    assert_eq!(int(BinOp::FloorDiv, ScalarType::I32, -7, 2), Ok(-4));
    assert_eq!(int(BinOp::FloorMod, ScalarType::I32, -7, 2), Ok(1));
    assert_eq!(int(BinOp::Div, ScalarType::I32, -7, 2), Ok(-3));
    assert_eq!(int(BinOp::Mod, ScalarType::I32, -7, 2), Ok(-1));
    assert_eq!(
        int(BinOp::FloorMod, ScalarType::I64, 5, 0),
        Err(EvalError::DivisionByZero)
    );
}

#[test]
fn integers_wrap_in_their_width() {
    assert_eq!(int(BinOp::Add, ScalarType::I8, 127, 1), Ok(-128));
    assert_eq!(int(BinOp::Sub, ScalarType::U32, 0, 1), Ok(u32::MAX.into()));
    assert_eq!(
        int(BinOp::Lt, ScalarType::U64, -1, 1),
        Ok(0),
        "u64 compares by its bits"
    );
}

#[test]
fn min_and_max_keep_nan() {
    for op in [BinOp::Min, BinOp::Max] {
        for (a, b) in [(f64::NAN, 1.0), (1.0, f64::NAN)] {
            let value = eval_binary(op, ScalarType::F32, Scalar::Float(a), Scalar::Float(b));
            assert!(value.is_ok_and(|v| v.as_float().is_nan()));
        }
    }
}

#[test]
fn casts_saturate_and_round_once() {
    let cast = |v, from, to| eval_cast(v, from, to).as_float();
    assert_eq!(
        cast(Scalar::Float(300.0), ScalarType::F32, ScalarType::U8),
        255.0
    );
    assert_eq!(
        cast(Scalar::Float(f64::NAN), ScalarType::F32, ScalarType::I32),
        0.0
    );
    assert_eq!(
        cast(Scalar::Float(70000.0), ScalarType::F32, ScalarType::F16),
        f64::INFINITY
    );
    assert_eq!(
        cast(Scalar::Int(-1), ScalarType::I32, ScalarType::U8),
        255.0
    );
}

#[test]
fn dot_products_of_bytes_are_of_unsigned_by_signed_ones() {
    let word = |bytes: [u8; 4]| i32::from_le_bytes(bytes);
    let cases = [
        (
            word([1, 2, 3, 4]),
            word([1, 10, 100, 0xff]),
            5,
            5 + 1 + 20 + 300 - 4,
        ),
        (word([255; 4]), word([0x80; 4]), 0, 4 * 255 * -128),
        (
            word([255; 4]),
            word([0x7f; 4]),
            i32::MAX,
            i32::MAX.wrapping_add(4 * 255 * 127),
        ),
        (0, -1, i32::MIN, i32::MIN),
    ];
    for (a, b, c, expected) in cases {
        let args = [a, b, c].map(|x| Scalar::Int(x.into()));
        let got = eval_intrin(Intrin::Dp4aU8S8, ScalarType::I32, &args).map(Scalar::as_int);
        assert_eq!(got, Ok(expected.into()), "{a:x} {b:x} {c}");
    }
}

/// What TVM's native code gives.
#[test]
fn fixed_point_products_round_up_at_ties() {
    let x = [1, -7, 12_345, -12_345, i32::MAX, i32::MIN];
    let cases = [
        (
            [1_395_864_371, 31, 3],
            [5, -36, 64_194, -64_194, -1_717_986_925, 1_717_986_920],
        ),
        (
            [-1_288_490_189, 31, -1],
            [0, 2, -3704, 3704, -644_245_094, 644_245_095],
        ),
        (
            [3, 1, 0],
            [2, -10, 18_518, -18_517, -1_073_741_825, 1_073_741_824],
        ),
    ];
    for ([y, q, s], expected) in cases {
        let product = |x: i32| {
            let args = [x.into(), y, q, s].map(Scalar::Int);
            eval_intrin(Intrin::QMultiplyShift, ScalarType::I32, &args).map(Scalar::as_int)
        };
        assert_eq!(x.map(product), expected.map(Ok), "{y} {q} {s}");
    }
}
