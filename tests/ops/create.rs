//! Operators that make tensors, against numpy.

use super::{Cases, bools, f32s, i32s, i64s, tensor, u8s};

#[test]
fn constants_and_ranges() {
    let mut cases = Cases::default();
    let x = f32s(&[3, 2], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    let x2 = i32s(&[5], &[0, 1, 2, 3, 4]);
    let x3 = f32s(&[1], &[0.0]);
    let x4 = f32s(&[3], &[0.0, 1.0, 2.0]);
    let y = f32s(&[2], &[10.0, 11.0]);
    cases.case(
        r#"R.full_like(x, R.const(2.5, "float32"))"#,
        &[("x", &x)],
        &[f32s(&[3, 2], &[2.5, 2.5, 2.5, 2.5, 2.5, 2.5])],
    );
    cases.case(
        r#"R.full_like(x, R.const(3, "int32"), dtype="float32")"#,
        &[("x", &x2)],
        &[f32s(&[5], &[3.0, 3.0, 3.0, 3.0, 3.0])],
    );
    cases.case(
        "R.ones_like(x)",
        &[("x", &f32s(&[0, 3], &[]))],
        &[f32s(&[0, 3], &[])],
    );
    cases.case(
        r#"R.zeros_like(x, dtype="int32")"#,
        &[("x", &f32s(&[7], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))],
        &[i32s(&[7], &[0, 0, 0, 0, 0, 0, 0])],
    );
    cases.case_of(
        "R.ones_like(x)",
        &[r#"R.Tensor(("n", 3,), "float32")"#],
        &[("x", &f32s(&[2, 3], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]))],
        &[f32s(&[2, 3], &[1.0, 1.0, 1.0, 1.0, 1.0, 1.0])],
    );
    cases.case(
        "R.add(x, R.eye(R.prim_value(3), R.prim_value(4), R.prim_value(1)))",
        &[(
            "x",
            &f32s(
                &[3, 4],
                &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0],
            ),
        )],
        &[f32s(
            &[3, 4],
            &[0.0, 2.0, 2.0, 3.0, 4.0, 5.0, 7.0, 7.0, 8.0, 9.0, 10.0, 12.0],
        )],
    );
    cases.case(
        r#"R.add(x, R.eye(3, dtype="int32"))"#,
        &[("x", &i32s(&[3, 3], &[0, 1, 2, 3, 4, 5, 6, 7, 8]))],
        &[i32s(&[3, 3], &[1, 1, 2, 3, 5, 5, 6, 7, 9])],
    );
    cases.case(
        "R.eye_like(x, R.prim_value(-1))",
        &[("x", &x)],
        &[f32s(&[3, 2], &[0.0, 0.0, 1.0, 0.0, 0.0, 1.0])],
    );
    cases.case(
        "R.eye_like(x)",
        &[("x", &i32s(&[2, 5], &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]))],
        &[i32s(&[2, 5], &[1, 0, 0, 0, 0, 0, 1, 0, 0, 0])],
    );
    cases.case(
        r#"R.add(x, R.arange(R.prim_value(5), dtype="int32"))"#,
        &[("x", &x2)],
        &[i32s(&[5], &[0, 2, 4, 6, 8])],
    );
    cases.case(
        r#"R.add(x, R.arange(R.prim_value(7), R.prim_value(-2), R.prim_value(-3), dtype="int32"))"#,
        &[("x", &i32s(&[3], &[0, 1, 2]))],
        &[i32s(&[3], &[7, 5, 3])],
    );
    cases.case(
        "R.add(x, R.arange(R.prim_value(1.0), R.prim_value(2.0), R.prim_value(0.25)))",
        &[("x", &f32s(&[4], &[0.0, 1.0, 2.0, 3.0]))],
        &[f32s(&[4], &[1.0, 2.25, 3.5, 4.75])],
    );
    cases.case(
        r#"R.add(x, R.arange(R.prim_value(3), R.prim_value(3), R.prim_value(1), dtype="int32"))"#,
        &[("x", &i32s(&[0], &[]))],
        &[i32s(&[0], &[])],
    );
    // Counts that are symbolic, up and down, with nothing between the ends.
    for (n, start, end, step) in [
        (5, "n", "0", -1),
        (5, "0", "n", -1),
        (5, "n", "0", -2),
        (5, "n - 1", "-1", -3),
        (5, "0", "n", 2),
        (2, "4", "n", 1),
        (7, "4", "n", 3),
        (0, "0", "n", 1),
    ] {
        let value = |text: &str| match text {
            "n" => n,
            "n - 1" => n - 1,
            number => number.parse().expect("a number"),
        };
        let count = (0i64..).map(|i| value(start) + i * step);
        let before = |v: &i64| {
            if step > 0 {
                *v < value(end)
            } else {
                *v > value(end)
            }
        };
        let expected: Vec<i64> = count.take_while(before).collect();
        cases.case_of(
            &format!("R.arange(R.prim_value({start}), R.prim_value({end}), R.prim_value({step}))"),
            &[r#"R.Tensor(("n",), "float32")"#],
            &[("x", &f32s(&[n as usize], &vec![0.0; n as usize]))],
            &[i64s(&[expected.len()], &expected)],
        );
    }
    cases.case(
        "R.arange(R.prim_value(2), R.prim_value(8), R.prim_value(2))",
        &[("x", &i32s(&[1], &[0]))],
        &[i64s(&[3], &[2, 4, 6])],
    );
    cases.case("R.hamming_window(R.prim_value(7), R.prim_value(1), R.prim_value(0.54), R.prim_value(0.46))", &[("x", &x3)], &[f32s(&[7], &[0.08, 0.2531947, 0.6423596, 0.95444566, 0.95444566, 0.6423596, 0.2531947])]).terms(4);
    cases.case("R.hamming_window(R.prim_value(7), R.prim_value(0), R.prim_value(0.54), R.prim_value(0.46))", &[("x", &x3)], &[f32s(&[7], &[0.08, 0.31, 0.77, 1.0, 0.77, 0.31, 0.08])]).terms(4);
    cases.case("R.hamming_window(R.prim_value(1), R.prim_value(0), R.prim_value(0.54), R.prim_value(0.46))", &[("x", &x3)], &[f32s(&[1], &[1.0])]);
    cases.case(
        r#"R.meshgrid((x, y), indexing="ij")"#,
        &[("x", &x4), ("y", &y)],
        &[
            f32s(&[3, 2], &[0.0, 0.0, 1.0, 1.0, 2.0, 2.0]),
            f32s(&[3, 2], &[10.0, 11.0, 10.0, 11.0, 10.0, 11.0]),
        ],
    );
    cases.case(
        r#"R.meshgrid((x, y), indexing="xy")"#,
        &[("x", &x4), ("y", &y)],
        &[
            f32s(&[2, 3], &[0.0, 1.0, 2.0, 0.0, 1.0, 2.0]),
            f32s(&[2, 3], &[10.0, 10.0, 10.0, 11.0, 11.0, 11.0]),
        ],
    );
    cases.run();
}

#[test]
fn triangles_and_one_hot() {
    let mut cases = Cases::default();
    let x = f32s(
        &[2, 3, 5],
        &[
            1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0,
            17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0, 25.0, 26.0, 27.0, 28.0, 29.0, 30.0,
        ],
    );
    let x2 = f32s(
        &[3, 4],
        &[
            1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0,
        ],
    );
    let x3 = i32s(&[4], &[2, 0, 3, -1]);
    cases.case(
        "R.tril(x, R.prim_value(0))",
        &[("x", &x)],
        &[f32s(
            &[2, 3, 5],
            &[
                1.0, 0.0, 0.0, 0.0, 0.0, 6.0, 7.0, 0.0, 0.0, 0.0, 11.0, 12.0, 13.0, 0.0, 0.0, 16.0,
                0.0, 0.0, 0.0, 0.0, 21.0, 22.0, 0.0, 0.0, 0.0, 26.0, 27.0, 28.0, 0.0, 0.0,
            ],
        )],
    );
    cases.case(
        "R.triu(x, R.prim_value(0))",
        &[("x", &x)],
        &[f32s(
            &[2, 3, 5],
            &[
                1.0, 2.0, 3.0, 4.0, 5.0, 0.0, 7.0, 8.0, 9.0, 10.0, 0.0, 0.0, 13.0, 14.0, 15.0,
                16.0, 17.0, 18.0, 19.0, 20.0, 0.0, 22.0, 23.0, 24.0, 25.0, 0.0, 0.0, 28.0, 29.0,
                30.0,
            ],
        )],
    );
    cases.case(
        "R.tril(x, R.prim_value(-1))",
        &[("x", &x)],
        &[f32s(
            &[2, 3, 5],
            &[
                0.0, 0.0, 0.0, 0.0, 0.0, 6.0, 0.0, 0.0, 0.0, 0.0, 11.0, 12.0, 0.0, 0.0, 0.0, 0.0,
                0.0, 0.0, 0.0, 0.0, 21.0, 0.0, 0.0, 0.0, 0.0, 26.0, 27.0, 0.0, 0.0, 0.0,
            ],
        )],
    );
    cases.case(
        "R.triu(x, R.prim_value(-1))",
        &[("x", &x)],
        &[f32s(
            &[2, 3, 5],
            &[
                1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 0.0, 12.0, 13.0, 14.0, 15.0,
                16.0, 17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0, 25.0, 0.0, 27.0, 28.0, 29.0,
                30.0,
            ],
        )],
    );
    cases.case(
        "R.tril(x, R.prim_value(2))",
        &[("x", &x)],
        &[f32s(
            &[2, 3, 5],
            &[
                1.0, 2.0, 3.0, 0.0, 0.0, 6.0, 7.0, 8.0, 9.0, 0.0, 11.0, 12.0, 13.0, 14.0, 15.0,
                16.0, 17.0, 18.0, 0.0, 0.0, 21.0, 22.0, 23.0, 24.0, 0.0, 26.0, 27.0, 28.0, 29.0,
                30.0,
            ],
        )],
    );
    cases.case(
        "R.triu(x, R.prim_value(2))",
        &[("x", &x)],
        &[f32s(
            &[2, 3, 5],
            &[
                0.0, 0.0, 3.0, 4.0, 5.0, 0.0, 0.0, 0.0, 9.0, 10.0, 0.0, 0.0, 0.0, 0.0, 15.0, 0.0,
                0.0, 18.0, 19.0, 20.0, 0.0, 0.0, 0.0, 24.0, 25.0, 0.0, 0.0, 0.0, 0.0, 30.0,
            ],
        )],
    );
    cases.case(
        "R.tril(x)",
        &[(
            "x",
            &i32s(
                &[4, 4],
                &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16],
            ),
        )],
        &[i32s(
            &[4, 4],
            &[1, 0, 0, 0, 5, 6, 0, 0, 9, 10, 11, 0, 13, 14, 15, 16],
        )],
    );
    cases.case_of(
        "R.triu(x)",
        &[r#"R.Tensor(("n", "n",), "float32")"#],
        &[(
            "x",
            &f32s(&[3, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]),
        )],
        &[f32s(
            &[3, 3],
            &[1.0, 2.0, 3.0, 0.0, 5.0, 6.0, 0.0, 0.0, 9.0],
        )],
    );
    cases.case(
        "R.tril(x)",
        &[(
            "x",
            &bools(
                &[3, 3],
                &[true, true, true, true, true, true, true, true, true],
            ),
        )],
        &[bools(
            &[3, 3],
            &[true, false, false, true, true, false, true, true, true],
        )],
    );
    cases.case(
        "R.trilu(x, k)",
        &[("x", &x2), ("k", &i32s(&[], &[1]))],
        &[f32s(
            &[3, 4],
            &[0.0, 2.0, 3.0, 4.0, 0.0, 0.0, 7.0, 8.0, 0.0, 0.0, 0.0, 12.0],
        )],
    );
    cases.case(
        "R.trilu(x, k, upper=False)",
        &[("x", &x2), ("k", &i64s(&[], &[-1]))],
        &[f32s(
            &[3, 4],
            &[0.0, 0.0, 0.0, 0.0, 5.0, 0.0, 0.0, 0.0, 9.0, 10.0, 0.0, 0.0],
        )],
    );
    cases.case(
        "R.trilu(x, upper=False)",
        &[("x", &x2)],
        &[f32s(
            &[3, 4],
            &[1.0, 0.0, 0.0, 0.0, 5.0, 6.0, 0.0, 0.0, 9.0, 10.0, 11.0, 0.0],
        )],
    );
    cases.case(
        "R.one_hot(x, R.prim_value(T.float32(5)), R.prim_value(T.float32(1)), depth=3)",
        &[("x", &x3)],
        &[f32s(
            &[4, 3],
            &[1.0, 1.0, 5.0, 5.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
        )],
    );
    cases.case(
        "R.one_hot(x, R.prim_value(T.int32(1)), R.prim_value(T.int32(0)), depth=3, axis=0)",
        &[("x", &x3)],
        &[i32s(&[3, 4], &[0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0])],
    );
    cases.case(
        "R.one_hot(x, R.prim_value(T.int32(1)), R.prim_value(T.int32(0)), depth=5)",
        &[("x", &u8s(&[3], &[1, 4, 0]))],
        &[i32s(
            &[3, 5],
            &[0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0],
        )],
    );
    cases.run();
}

#[test]
fn numbers_are_counted_without_rounding() {
    let mut cases = Cases::default();
    let counted: Vec<i32> = (16_777_210..16_777_230).collect();
    let counted = tensor(&[20], &counted);
    cases.case(
        "R.arange(16777210.0, 16777230.0, 1.0, dtype=\"int32\")",
        &[],
        &[counted],
    );
    let clipped = tensor::<u64>(&[2], &[u64::MAX, 3]);
    let x = clipped.clone();
    cases.case(
        "R.clip(x, 0, 1.8446744073709552e19)",
        &[("x", &x)],
        &[clipped],
    );
    cases.run();
}

#[test]
fn long_windows_of_narrow_floats_are_numbers() {
    let mut cases = Cases::default();
    let window = |i: u32| {
        let angle = 2.0 * std::f64::consts::PI * f64::from(i) / 20_000.0;
        half::f16::from_f64(0.54 - 0.46 * angle.cos())
    };
    let window: Vec<half::f16> = (0..20_000).map(window).collect();
    let window = tensor(&[20_000], &window);
    cases.case(
        "R.hamming_window(20000, 1, 0.54, 0.46, dtype=\"float16\")",
        &[],
        &[window],
    );
    cases.run();
}
