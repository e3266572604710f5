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
