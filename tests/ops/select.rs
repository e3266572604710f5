//! Results whose extents depend on elements, and shapes as values, against numpy.

use super::{Cases, bools, f32s, i32s, i64s};

#[test]
fn results_of_unknown_extents() {
    let mut cases = Cases::default();
    let x = f32s(&[2, 3], &[0.0, 2.0, 0.0, 3.0, 0.0, 4.0]);
    let x2 = bools(&[3], &[true, false, true]);
    let x3 = f32s(
        &[5, 4],
        &[
            0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0,
            16.0, 17.0, 18.0, 19.0,
        ],
    );
    let x4 = f32s(&[7], &[3.0, 1.0, f32::NAN, 3.0, 1.0, -2.0, f32::NAN]);
    let x5 = i32s(&[4, 2], &[1, 0, 1, 0, 0, 5, 0, 1]);
    cases.case(
        "R.nonzero(x)",
        &[("x", &x)],
        &[i64s(&[2, 3], &[0, 1, 1, 1, 0, 2])],
    );
    cases.case(
        "R.nonzero(x)",
        &[("x", &f32s(&[0, 2], &[]))],
        &[i64s(&[2, 0], &[])],
    );
    cases.case("R.nonzero(x)", &[("x", &x2)], &[i64s(&[1, 2], &[0, 2])]);
    cases.case_of(
        "R.nonzero(x)",
        &[r#"R.Tensor(("n", "m",), "float32")"#],
        &[("x", &x)],
        &[i64s(&[2, 3], &[0, 1, 1, 1, 0, 2])],
    );
    cases.case(
        "R.compress(x, c, axis=1)",
        &[("x", &x), ("c", &x2)],
        &[f32s(&[2, 2], &[0.0, 0.0, 3.0, 4.0])],
    );
    cases.case(
        "R.compress(x, c)",
        &[("x", &x), ("c", &bools(&[4], &[false, true, false, true]))],
        &[f32s(&[2], &[2.0, 3.0])],
    );
    cases.case(
        "R.compress(x, c, axis=-2)",
        &[("x", &x), ("c", &bools(&[1], &[false]))],
        &[f32s(&[0, 3], &[])],
    );
    cases.case(
        "R.dynamic_strided_slice(x, b, e, s)",
        &[
            ("x", &x3),
            ("b", &i64s(&[2], &[1, -1])),
            ("e", &i64s(&[2], &[100, -100])),
            ("s", &i64s(&[2], &[2, -2])),
        ],
        &[f32s(&[2, 2], &[7.0, 5.0, 15.0, 13.0])],
    );
    cases.case_of(
        "R.dynamic_strided_slice(x, b, e, s)",
        &[
            r#"R.Tensor(("n", "m",), "float32")"#,
            r#"R.Tensor((2,), "int64")"#,
            r#"R.Tensor((2,), "int64")"#,
            r#"R.Tensor((2,), "int64")"#,
        ],
        &[
            ("x", &x3),
            ("b", &i64s(&[2], &[3, 0])),
            ("e", &i64s(&[2], &[1, 4])),
            ("s", &i64s(&[2], &[1, 3])),
        ],
        &[f32s(&[0, 2], &[])],
    );
    cases.case(
        "R.unique(x)",
        &[("x", &x4)],
        &[f32s(&[4], &[-2.0, 1.0, 3.0, f32::NAN])],
    );
    // As TVM writes it: without an axis.
    cases.case(
        r#"R.call_pure_packed("relax.run.unique", x, True, False, False, False, sinfo_args=(R.Tensor(dtype="float32", ndim=1),))"#,
        &[("x", &x4)],
        &[f32s(&[4], &[-2.0, 1.0, 3.0, f32::NAN])],
    );
    cases.case("R.unique(x, R.prim_value(True), R.prim_value(True), R.prim_value(True), R.prim_value(True))", &[("x", &x4)], &[f32s(&[4], &[-2.0, 1.0, 3.0, f32::NAN]), i64s(&[4], &[5, 1, 0, 2]), i64s(&[7], &[2, 1, 3, 2, 1, 0, 3]), i64s(&[4], &[1, 2, 2, 2])]);
    cases.case("R.unique(x, R.prim_value(False), R.prim_value(False), R.prim_value(True), R.prim_value(False))", &[("x", &x4)], &[f32s(&[4], &[3.0, 1.0, f32::NAN, -2.0]), i64s(&[7], &[0, 1, 2, 0, 1, 3, 2])]);
    cases.case("R.unique(x, R.prim_value(True), R.prim_value(False), R.prim_value(True), R.prim_value(False), R.prim_value(0))", &[("x", &x5)], &[i32s(&[3, 2], &[0, 1, 0, 5, 1, 0]), i64s(&[4], &[2, 2, 1, 0])]);
    cases.case("R.unique(x, R.prim_value(True), R.prim_value(False), R.prim_value(False), R.prim_value(False), R.prim_value(-1))", &[("x", &x5)], &[i32s(&[4, 2], &[0, 1, 0, 1, 5, 0, 1, 0])]);
    cases.case(
        "R.unique(x)",
        &[("x", &i32s(&[0], &[]))],
        &[i32s(&[0], &[])],
    );
    cases.run();
}

#[test]
fn shapes_as_values() {
    let mut cases = Cases::default();
    let x = f32s(&[2, 3], &[0.0, 2.0, 0.0, 3.0, 0.0, 4.0]);
    cases.case("R.size(x)", &[("x", &x)], &[i64s(&[], &[6])]);
    cases.case_of(
        "R.size(x)",
        &[r#"R.Tensor(("n", "m",), "float32")"#],
        &[("x", &f32s(&[3, 0], &[]))],
        &[i64s(&[], &[0])],
    );
    cases.case(
        "R.shape_to_tensor(R.shape_of(x))",
        &[("x", &x)],
        &[i64s(&[2], &[2, 3])],
    );
    cases.case_of(
        "R.shape_to_tensor(R.shape_of(x))",
        &[r#"R.Tensor(("n", 3,), "float32")"#],
        &[("x", &x)],
        &[i64s(&[2], &[2, 3])],
    );
    cases.case(
        "R.shape_to_tensor(R.shape([4, 1]))",
        &[("x", &x)],
        &[i64s(&[2], &[4, 1])],
    );
    cases.case(
        "R.reshape(x, R.tensor_to_shape(y))",
        &[("x", &x), ("y", &i64s(&[2], &[3, 2]))],
        &[f32s(&[3, 2], &[0.0, 2.0, 0.0, 3.0, 0.0, 4.0])],
    );
    cases.run();
}
