//! Running sums and sorted lines, against numpy.

use super::{Cases, f32s, i8s, i32s, i64s};

#[test]
fn running_sums_and_products() {
    let mut cases = Cases::default();
    let x = f32s(
        &[2, 5],
        &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0],
    );
    cases
        .case(
            "R.cumsum(x, axis=1)",
            &[("x", &x)],
            &[f32s(
                &[2, 5],
                &[1.0, 3.0, 6.0, 10.0, 15.0, 6.0, 13.0, 21.0, 30.0, 40.0],
            )],
        )
        .terms(5);
    cases
        .case(
            "R.cumsum(x, axis=-2)",
            &[("x", &x)],
            &[f32s(
                &[2, 5],
                &[1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 9.0, 11.0, 13.0, 15.0],
            )],
        )
        .terms(2);
    cases
        .case(
            "R.cumsum(x)",
            &[("x", &x)],
            &[f32s(
                &[10],
                &[1.0, 3.0, 6.0, 10.0, 15.0, 21.0, 28.0, 36.0, 45.0, 55.0],
            )],
        )
        .terms(10);
    cases
        .case(
            "R.cumsum(x, axis=1, exclusive=True)",
            &[("x", &x)],
            &[f32s(
                &[2, 5],
                &[0.0, 1.0, 3.0, 6.0, 10.0, 0.0, 6.0, 13.0, 21.0, 30.0],
            )],
        )
        .terms(5);
    cases
        .case(
            "R.cumprod(x, axis=1, exclusive=True)",
            &[("x", &x)],
            &[f32s(
                &[2, 5],
                &[1.0, 1.0, 2.0, 6.0, 24.0, 1.0, 6.0, 42.0, 336.0, 3024.0],
            )],
        )
        .terms(5);
    cases
        .case(
            "R.cumsum(x, axis=1, reverse=True)",
            &[("x", &x)],
            &[f32s(
                &[2, 5],
                &[15.0, 14.0, 12.0, 9.0, 5.0, 40.0, 34.0, 27.0, 19.0, 10.0],
            )],
        )
        .terms(5);
    cases
        .case(
            "R.cumsum(x, axis=1, exclusive=True, reverse=True)",
            &[("x", &x)],
            &[f32s(
                &[2, 5],
                &[14.0, 12.0, 9.0, 5.0, 0.0, 34.0, 27.0, 19.0, 10.0, 0.0],
            )],
        )
        .terms(5);
    cases.case(
        "R.cumprod(x, axis=0)",
        &[("x", &i32s(&[5], &[1, 2, 3, 4, 5]))],
        &[i32s(&[5], &[1, 2, 6, 24, 120])],
    );
    cases.case(
        r#"R.cumsum(x, axis=0, dtype="int32")"#,
        &[("x", &i8s(&[4], &[1, 0, 1, 1]))],
        &[i32s(&[4], &[1, 1, 2, 3])],
    );
    cases.case(
        "R.cumsum(x, axis=0)",
        &[("x", &f32s(&[0], &[]))],
        &[f32s(&[0], &[])],
    );
    cases.case(
        "R.cumsum(x, axis=0)",
        &[("x", &f32s(&[1, 3], &[0.0, 1.0, 2.0]))],
        &[f32s(&[1, 3], &[0.0, 1.0, 2.0])],
    );
    cases
        .case_of(
            "R.cumsum(x, axis=1)",
            &[r#"R.Tensor(("n", "m",), "float32")"#],
            &[("x", &x)],
            &[f32s(
                &[2, 5],
                &[1.0, 3.0, 6.0, 10.0, 15.0, 6.0, 13.0, 21.0, 30.0, 40.0],
            )],
        )
        .terms(5);
    cases.run();
}

#[test]
fn sorted_lines() {
    let mut cases = Cases::default();
    let x = f32s(
        &[2, 5],
        &[
            3.0,
            1.0,
            2.0,
            1.0,
            3.0,
            0.0,
            -1.0,
            f32::NAN,
            f32::INFINITY,
            f32::NEG_INFINITY,
        ],
    );
    let x2 = i32s(&[3, 2], &[0, 1, 2, 3, 4, 5]);
    let x3 = f32s(&[2, 4], &[5.0, 1.0, 3.0, 2.0, 4.0, 4.0, 0.0, 9.0]);
    cases.case(
        "R.sort(x)",
        &[("x", &x)],
        &[f32s(
            &[2, 5],
            &[
                1.0,
                1.0,
                2.0,
                3.0,
                3.0,
                f32::NEG_INFINITY,
                -1.0,
                0.0,
                f32::INFINITY,
                f32::NAN,
            ],
        )],
    );
    cases.case(
        "R.sort(x, axis=1, descending=True)",
        &[("x", &x)],
        &[f32s(
            &[2, 5],
            &[
                3.0,
                3.0,
                2.0,
                1.0,
                1.0,
                f32::NAN,
                f32::INFINITY,
                0.0,
                -1.0,
                f32::NEG_INFINITY,
            ],
        )],
    );
    cases.case(
        "R.argsort(x, axis=-1)",
        &[("x", &x)],
        &[i32s(&[2, 5], &[1, 3, 2, 0, 4, 4, 1, 0, 3, 2])],
    );
    cases.case(
        "R.argsort(x, axis=1, descending=True)",
        &[("x", &x)],
        &[i32s(&[2, 5], &[0, 4, 2, 1, 3, 2, 3, 0, 1, 4])],
    );
    cases.case(
        r#"R.argsort(x, axis=0, dtype="int64")"#,
        &[("x", &x2)],
        &[i64s(&[3, 2], &[0, 0, 1, 1, 2, 2])],
    );
    cases.case(
        "R.sort(x, axis=0)",
        &[("x", &f32s(&[2, 2], &[3.0, 1.0, 0.0, -1.0]))],
        &[f32s(&[2, 2], &[0.0, -1.0, 3.0, 1.0])],
    );
    cases.case_of(
        "R.sort(x)",
        &[r#"R.Tensor(("n",), "int32")"#],
        &[("x", &i32s(&[7], &[6, 5, 4, 3, 2, 1, 0]))],
        &[i32s(&[7], &[0, 1, 2, 3, 4, 5, 6])],
    );
    cases.case("R.sort(x)", &[("x", &f32s(&[0], &[]))], &[f32s(&[0], &[])]);
    cases.case(
        "R.sort(x)",
        &[("x", &f32s(&[2], &[-0.0, 0.0]))],
        &[f32s(&[2], &[-0.0, 0.0])],
    );
    cases.case(
        "R.topk(x, k=2)",
        &[("x", &x)],
        &[
            f32s(&[2, 2], &[3.0, 3.0, f32::NAN, f32::INFINITY]),
            i32s(&[2, 2], &[0, 4, 2, 3]),
        ],
    );
    cases.case(
        r#"R.topk(x, k=3, axis=1, ret_type="indices", largest=False)"#,
        &[("x", &x)],
        &[i32s(&[2, 3], &[1, 3, 2, 4, 1, 0])],
    );
    cases.case(
        r#"R.topk(x, k=1, axis=0, ret_type="values")"#,
        &[("x", &x2)],
        &[i32s(&[1, 2], &[4, 5])],
    );
    cases.case_of(
        r#"R.topk(x, k=2, ret_type="values")"#,
        &[r#"R.Tensor(("n",), "int32")"#],
        &[("x", &i32s(&[5], &[0, 1, 2, 3, 4]))],
        &[i32s(&[2], &[4, 3])],
    );
    cases.case(
        r#"R.topk(x, k=-1, ret_type="values")"#,
        &[("x", &i32s(&[3], &[0, 1, 2]))],
        &[i32s(&[3], &[2, 1, 0])],
    );
    cases.case(
        "R.median(x)",
        &[("x", &f32s(&[2, 3], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]))],
        &[f32s(&[], &[2.0])],
    );
    cases.case(
        "R.median(x, keepdims=True)",
        &[("x", &f32s(&[5], &[0.0, 1.0, 2.0, 3.0, 4.0]))],
        &[f32s(&[1], &[2.0])],
    );
    cases.case(
        "R.median(x, axis=1)",
        &[("x", &x3)],
        &[f32s(&[2], &[2.0, 4.0]), i64s(&[2], &[3, 0])],
    );
    cases.case(
        "R.median(x, axis=0, keepdims=True)",
        &[("x", &x3)],
        &[
            f32s(&[1, 4], &[4.0, 1.0, 0.0, 2.0]),
            i64s(&[1, 4], &[1, 0, 1, 0]),
        ],
    );
    cases.run();
}
