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

#[test]
fn long_lines_are_scanned_in_chunks() {
    let mut cases = Cases::default();
    for (shape, axis) in [(&[300usize][..], 0usize), (&[2, 1031], 1), (&[700, 3], 0)] {
        let count: usize = shape.iter().product();
        let x: Vec<i32> = mixed(count, count).iter().map(|&v| v as i32).collect();
        let (extent, inner) = (shape[axis], shape[axis + 1..].iter().product::<usize>());
        let scanned = |exclusive: bool, reverse: bool| {
            let mut out = vec![0i32; count];
            for line in 0..count / extent {
                let (outer, rest) = (line / inner, line % inner);
                let mut sum = 0;
                for k in 0..extent {
                    let along = if reverse { extent - 1 - k } else { k };
                    let at = (outer * extent + along) * inner + rest;
                    out[at] = sum + if exclusive { 0 } else { x[at] };
                    sum += x[at];
                }
            }
            i32s(shape, &out)
        };
        let input = i32s(shape, &x);
        for (exclusive, reverse) in [(false, false), (true, false), (false, true), (true, true)] {
            let flags = [exclusive, reverse].map(|flag| if flag { "True" } else { "False" });
            let [exclusive_text, reverse_text] = flags;
            let call = format!(
                "R.cumsum(x, axis={axis}, exclusive={exclusive_text}, reverse={reverse_text})"
            );
            cases.case(&call, &[("x", &input)], &[scanned(exclusive, reverse)]);
        }
        if shape.len() == 2 {
            let types = ["R.Tensor((\"n\", \"m\"), \"int32\")"];
            let call = format!("R.cumsum(x, axis={axis})");
            cases.case_of(&call, &types, &[("x", &input)], &[scanned(false, false)]);
        }
    }
    // What is infinite is so from its place on.
    let mut factors = vec![1.0f32; 400];
    (factors[1], factors[290], factors[395]) = (3.0, f32::INFINITY, 0.0);
    let product = |scan: &mut f32, &v: &f32| {
        *scan *= v;
        Some(*scan)
    };
    let expected: Vec<f32> = factors.iter().scan(1.0, product).collect();
    let (input, expected) = (f32s(&[400], &factors), f32s(&[400], &expected));
    cases.case("R.cumprod(x, axis=0)", &[("x", &input)], &[expected]);
    cases.on_gpus_every(2);
    cases.run();
}

/// Numbers that repeat, in no order.
fn mixed(count: usize, seed: usize) -> Vec<i64> {
    let mut state = seed as u64;
    let step = |_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % 97) as i64 - 48
    };
    (0..count).map(step).collect()
}

/// The positions of each line of `n` in sorted order; equal elements keep theirs.
fn positions<T>(x: &[T], n: usize, less: impl Fn(&T, &T) -> bool) -> Vec<i32> {
    let line = |line: &[T]| {
        let mut at: Vec<i32> = (0..n as i32).collect();
        at.sort_by(|&a, &b| {
            let (a, b) = (&line[a as usize], &line[b as usize]);
            less(b, a).cmp(&less(a, b))
        });
        at
    };
    x.chunks(n).flat_map(line).collect()
}

#[test]
fn long_lines_are_merged() {
    let mut cases = Cases::default();
    for n in [31usize, 33, 300] {
        let x: Vec<f32> = (mixed(2 * n, n).iter())
            .map(|&v| if v == 7 { f32::NAN } else { v as f32 })
            .collect();
        let before = |a: &f32, b: &f32| a < b || (b.is_nan() && !a.is_nan());
        let up = positions(&x, n, before);
        let down = positions(&x, n, |a, b| before(b, a));
        let of = |at: &[i32]| -> Vec<f32> {
            let at = at.iter().enumerate();
            at.map(|(i, &p)| x[i / n * n + p as usize]).collect()
        };
        let input = f32s(&[2, n], &x);
        let inputs = [("x", &input)];
        let (sorted, order) = (f32s(&[2, n], &of(&up)), i32s(&[2, n], &up));
        cases.case("R.sort(x)", &inputs, std::slice::from_ref(&sorted));
        cases.case("R.argsort(x)", &inputs, std::slice::from_ref(&order));
        let reversed = f32s(&[2, n], &of(&down));
        cases.case("R.sort(x, descending=True)", &inputs, &[reversed]);
        // The first elements alone, from runs that are cut to that many.
        let first = |x: &[i32], k: usize| -> Vec<i32> {
            x.chunks(n).flat_map(|line| line[..k].to_vec()).collect()
        };
        for k in [1, 29] {
            let first = first(&down, k);
            let values = first.iter().enumerate();
            let values: Vec<f32> = values.map(|(i, &p)| x[i / k * n + p as usize]).collect();
            let expected = [f32s(&[2, k], &values), i32s(&[2, k], &first)];
            cases.case(&format!("R.topk(x, k={k})"), &inputs, &expected);
        }
        if n == 300 {
            let types = ["R.Tensor((\"b\", \"n\"), \"float32\")"];
            cases.case_of("R.sort(x)", &types, &inputs, &[sorted]);
            cases.case_of("R.argsort(x)", &types, &inputs, &[order]);
        }
    }
    cases.on_gpus_every(2);
    cases.run();
}

/// The calls for the first `k` elements of lines of `n` along the last axis, whose types may say less than that.
fn first_elements(cases: &mut Cases, x: &[f32], n: usize, k: usize, types: &str) {
    let before = |a: &f32, b: &f32| a < b || (b.is_nan() && !a.is_nan());
    let shape = [x.len() / n, n];
    let input = f32s(&shape, x);
    for largest in [true, false] {
        let at = match largest {
            true => positions(x, n, |a, b| before(b, a)),
            false => positions(x, n, before),
        };
        let first: Vec<i32> = at.chunks(n).flat_map(|line| line[..k].to_vec()).collect();
        let values = first.iter().enumerate();
        let values: Vec<f32> = values.map(|(i, &p)| x[i / k * n + p as usize]).collect();
        let expected = [f32s(&[shape[0], k], &values), i32s(&[shape[0], k], &first)];
        let largest = if largest { "True" } else { "False" };
        let call = format!("R.topk(x, k={k}, largest={largest})");
        cases.case_of(&call, &[types], &[("x", &input)], &expected);
    }
}

/// Delegates of groups, of which the last one may not be whole, and lists of the first elements so far. Elements repeat, and many are NaN:
/// the first of equal ones counts.
#[test]
fn first_elements_of_long_lines() {
    let mut cases = Cases::default();
    let line = |n: usize, seed: usize| -> Vec<f32> {
        let numbers = mixed(n, seed).into_iter();
        numbers
            .map(|v| if v % 5 == 0 { f32::NAN } else { v as f32 })
            .collect()
    };
    for (n, k) in [
        (70, 3),
        (1000, 5),
        (1031, 1),
        (4099, 9),
        (1100, 64),
        (1500, 70),
    ] {
        let known = format!("R.Tensor((2, {n}), \"float32\")");
        first_elements(&mut cases, &line(2 * n, n), n, k, &known);
    }
    // In order, so that each element is one of the first so far, and all the same.
    let falling: Vec<f32> = (0..1200).map(|i| -i as f32).collect();
    first_elements(
        &mut cases,
        &falling,
        1200,
        7,
        "R.Tensor((1, 1200), \"float32\")",
    );
    first_elements(
        &mut cases,
        &[2.0; 1200],
        1200,
        7,
        "R.Tensor((1, 1200), \"float32\")",
    );
    for n in [3, 64, 500] {
        let open = "R.Tensor((\"b\", \"n\"), \"float32\")";
        first_elements(&mut cases, &line(2 * n, n), n, 3, open);
    }
    cases.on_gpus_every(3);
    cases.run();
}

/// Digits of lines in chunks.
#[test]
fn a_long_line_is_sorted() {
    let mut cases = Cases::default();
    let n = 16_500;
    let numbers = mixed(2 * n, 5);
    let x: Vec<i32> = (numbers.chunks(2))
        .map(|v| (v[0] * 70_001 + v[1]) as i32)
        .collect();
    let at = positions(&x, n, |a, b| a > b);
    let call = "R.argsort(x, axis=0, descending=True)";
    let input = i32s(&[n], &x);
    cases.case(call, &[("x", &input)], &[i32s(&[n], &at)]);
    let open = ["R.Tensor((\"n\",), \"int32\")"];
    cases.case_of(call, &open, &[("x", &input)], &[i32s(&[n], &at)]);
    cases.run();
}

#[test]
fn lines_of_every_type_are_sorted() {
    let mut cases = Cases::default();
    let n = 67;
    let x = mixed(n, 3);
    let at = positions(&x, n, |a, b| a < b);
    let sorted: Vec<i64> = at.iter().map(|&p| x[p as usize]).collect();
    macro_rules! of {
        ($ty:ty) => {{
            let of = |v: &[i64]| v.iter().map(|&v| (v + 48) as $ty).collect::<Vec<_>>();
            cases.case(
                "R.sort(x)",
                &[("x", &super::tensor(&[n], &of(&x)))],
                &[super::tensor(&[n], &of(&sorted))],
            );
        }};
    }
    of!(i8);
    of!(u8);
    of!(i16);
    of!(u32);
    of!(i64);
    of!(f64);
    cases.not_on_gpus();
    let half = |v: &[i64]| -> Vec<half::f16> {
        v.iter().map(|&v| half::f16::from_f64(v as f64)).collect()
    };
    let (input, expected) = (half(&x), half(&sorted));
    let (input, expected) = (super::tensor(&[n], &input), super::tensor(&[n], &expected));
    cases.case("R.sort(x)", &[("x", &input)], &[expected]);
    let flags: Vec<bool> = x.iter().map(|v| v % 3 == 0).collect();
    let falses = flags.iter().filter(|flag| !**flag).count();
    let sorted: Vec<bool> = (0..n).map(|i| i >= falses).collect();
    let (input, expected) = (super::bools(&[n], &flags), super::bools(&[n], &sorted));
    cases.case("R.sort(x)", &[("x", &input)], &[expected]);
    let column = super::tensor(&[n, 1], &x);
    let order: Vec<i64> = at.iter().map(|&p| p.into()).collect();
    let expected = i64s(&[n, 1], &order);
    let call = "R.argsort(x, axis=0, dtype=\"int64\")";
    cases.case(call, &[("x", &column)], &[expected]);
    cases.run();
}

/// The index arithmetic of a line of `n + 3` elements fits the `int32` of GPUs.
#[test]
fn lines_whose_length_is_a_sum_are_sorted() {
    let mut cases = Cases::default();
    let types = ["R.Tensor((\"n\",), \"int32\")"];
    for n in [1usize, 70] {
        let x: Vec<i32> = mixed(n, 3).iter().map(|&v| v as i32).collect();
        let padded: Vec<i32> = [0; 3].into_iter().chain(x.iter().copied()).collect();
        let at = positions(&padded, n + 3, |a, b| a < b);
        let sorted: Vec<i32> = at.iter().map(|&p| padded[p as usize]).collect();
        let input = i32s(&[n], &x);
        for (call, expected) in [
            ("R.argsort(R.nn.pad(x, [3, 0]), axis=0)", &at),
            ("R.sort(R.nn.pad(x, [3, 0]), axis=0)", &sorted),
        ] {
            let expected = [i32s(&[n + 3], expected)];
            cases.case_of(call, &types, &[("x", &input)], &expected);
        }
    }
    cases.run();
}
