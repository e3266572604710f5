//! Reductions against sums in float64.

use super::{Cases, bools, tensor};

#[test]
fn reductions_over_axes_and_over_all() {
    let values: Vec<f32> = (0..30).map(|v| ((v * 7) % 11) as f32 - 4.0).collect();
    let x = tensor(&[5, 6], &values);
    let rows: Vec<&[f32]> = values.chunks(6).collect();
    let of_rows = |f: fn(&[f32]) -> f64| {
        tensor(
            &[5],
            &rows.iter().map(|row| f(row) as f32).collect::<Vec<_>>(),
        )
    };
    let sum = |v: &[f32]| v.iter().map(|&v| f64::from(v)).sum::<f64>();
    let mut cases = Cases::default();
    cases
        .case("R.sum(x, axis=[1])", &[("x", &x)], &[of_rows(sum)])
        .terms(6);
    cases
        .case(
            "R.sum(x)",
            &[("x", &x)],
            &[tensor(&[], &[sum(&values) as f32])],
        )
        .terms(30);
    let max = |v: &[f32]| {
        v.iter()
            .fold(f64::NEG_INFINITY, |a, &b| a.max(f64::from(b)))
    };
    let kept = of_rows(max).reshape(&[5, 1]).expect("as many elements");
    cases.case("R.max(x, axis=[-1], keepdims=True)", &[("x", &x)], &[kept]);
    let variance = |v: &[f32]| {
        let mean = v.iter().map(|&v| f64::from(v)).sum::<f64>() / v.len() as f64;
        v.iter()
            .map(|&v| (f64::from(v) - mean).powi(2))
            .sum::<f64>()
            / v.len() as f64
    };
    cases
        .case(
            "R.variance(x, axis=[1])",
            &[("x", &x)],
            &[of_rows(variance)],
        )
        .terms(6);
    let first = rows.iter().map(|row| {
        let best = row.iter().fold(f32::NEG_INFINITY, |a, &b| a.max(b));
        row.iter().position(|&v| v == best).expect("it is there") as i64
    });
    let first = tensor(&[5], &first.collect::<Vec<_>>());
    cases.case(
        "R.argmax(x, axis=1)",
        &[("x", &x)],
        std::slice::from_ref(&first),
    );
    let types = ["R.Tensor((\"n\", \"m\"), \"float32\")"];
    cases
        .case_of("R.sum(x, axis=[1])", &types, &[("x", &x)], &[of_rows(sum)])
        .terms(6);
    cases.case_of("R.argmax(x, axis=1)", &types, &[("x", &x)], &[first]);
    cases.run();
}

/// Narrow floats are summed in float32 and rounded once: 4096 ones are 4096, though 2048 + 1 is 2048 in float16.
#[test]
fn narrow_floats_are_summed_in_float32() {
    let ones = |shape: &[usize]| {
        let count = shape.iter().product();
        tensor(shape, &vec![half::f16::ONE; count])
    };
    let (x, w) = (ones(&[2, 4096]), ones(&[4096, 3]));
    let of = |shape: &[usize]| {
        let count = shape.iter().product();
        tensor(shape, &vec![half::f16::from_f32(4096.0); count])
    };
    let mut cases = Cases::default();
    cases.case("R.sum(x, axis=[1])", &[("x", &x)], &[of(&[2])]);
    let both = [("x", &x), ("w", &w)];
    cases.case("R.matmul(x, w)", &both, &[of(&[2, 3])]);
    let call = "R.einsum((x, w), subscripts=\"ij,jk->ik\")";
    cases.case(call, &both, &[of(&[2, 3])]);
    // The product of 2 and 1/2, over and over, overflows in no order of steps that float32 holds.
    let factors: Vec<half::f16> = (0..60)
        .map(|at| half::f16::from_f32(if at < 30 { 2.0 } else { 0.5 }))
        .collect();
    let x = tensor(&[1, 60], &factors);
    let one = tensor(&[1], &[half::f16::ONE]);
    cases.case("R.prod(x, axis=[1])", &[("x", &x)], &[one]);
    cases.run();
}

/// The mean of nothing is not a number, and an extreme element may be the least one of its type.
#[test]
fn means_of_nothing_and_positions_of_the_least() {
    let mut cases = Cases::default();
    let nothing = tensor::<f32>(&[2, 0], &[]);
    let nan = tensor(&[2], &[f32::NAN; 2]);
    let zero = tensor(&[2], &[0.0f32; 2]);
    for types in [
        "R.Tensor((2, 0), \"float32\")",
        "R.Tensor((2, \"n\"), \"float32\")",
    ] {
        let inputs = [("x", &nothing)];
        cases.case_of(
            "R.mean(x, axis=[1])",
            &[types],
            &inputs,
            std::slice::from_ref(&nan),
        );
        cases.case_of(
            "R.sum(x, axis=[1])",
            &[types],
            &inputs,
            std::slice::from_ref(&zero),
        );
    }
    let numbers = [i64::MIN, 5, i64::MAX, 5, i64::MAX, i64::MIN];
    let x = tensor(&[2, 3], &numbers);
    for types in [
        "R.Tensor((2, 3), \"int64\")",
        "R.Tensor((2, \"n\"), \"int64\")",
    ] {
        let inputs = [("x", &x)];
        cases.case_of(
            "R.argmax(x, axis=1)",
            &[types],
            &inputs,
            &[tensor(&[2], &[2i64, 1])],
        );
        cases.case_of(
            "R.argmin(x, axis=1)",
            &[types],
            &inputs,
            &[tensor(&[2], &[0i64, 2])],
        );
        cases.case_of(
            "R.max(x, axis=[1])",
            &[types],
            &inputs,
            &[tensor(&[2], &[i64::MAX; 2])],
        );
    }
    cases.run();
}

#[test]
fn the_greatest_numbers_without_a_sign_are_reduced() {
    let (low, high) = (1 << 63 | 5, u64::MAX);
    let mut values = vec![low + 1; 2 * 4096];
    values[7] = low;
    values[4096 + 9] = high;
    let x = tensor(&[2, 4096], &values);
    let mut cases = Cases::default();
    let least = tensor(&[2], &[low, low + 1]);
    let greatest = tensor(&[2], &[low + 1, high]);
    cases.case("R.min(x, axis=[1])", &[("x", &x)], &[least]);
    cases.case("R.max(x, axis=[1])", &[("x", &x)], &[greatest]);
    cases.run();
}

#[test]
fn narrow_elements_are_summed_in_wide_ones() {
    let mut cases = Cases::default();
    let tens = tensor::<i8>(&[2, 300], &[10; 600]);
    let mean = tensor::<i8>(&[2], &[10, 10]);
    cases.case("R.mean(x, axis=[1])", &[("x", &tens)], &[mean]);
    let image = tensor::<i8>(&[1, 1, 16, 16], &[7; 256]);
    let one = tensor::<i8>(&[1, 1, 1, 1], &[7]);
    let of = &[("x", &image)];
    cases.case(
        "R.nn.adaptive_avg_pool2d(x, output_size=[1, 1])",
        of,
        std::slice::from_ref(&one),
    );
    cases.case("R.nn.avg_pool2d(x, pool_size=[16, 16])", of, &[one]);
    let half = half::f16::from_f32;
    let ones = tensor(&[4096], &vec![half(1.0); 4096]);
    let sum = tensor(&[1], &[half(4096.0)]);
    cases.case(
        "R.collapse_sum_to(x, R.shape([1]))",
        &[("x", &ones)],
        &[sum],
    );
    cases.run();
}

/// A sum of bool is whether some are true, a product whether all are; of nothing the one is false and the other true.
#[test]
fn sums_and_products_of_bool() {
    let mut cases = Cases::default();
    let x = bools(&[3, 2], &[true, true, true, false, false, false]);
    let nothing = bools(&[2, 0], &[]);
    for (op, of_x, of_nothing) in [
        ("sum", [true, true, false], false),
        ("prod", [true, false, false], true),
    ] {
        let call = format!("R.{op}(x, axis=[1])");
        cases.case(&call, &[("x", &x)], &[bools(&[3], &of_x)]);
        let types = ["R.Tensor((\"n\", \"m\"), \"bool\")"];
        let of_nothing = [bools(&[2], &[of_nothing; 2])];
        cases.case_of(&call, &types, &[("x", &x)], &[bools(&[3], &of_x)]);
        cases.case(&call, &[("x", &nothing)], &of_nothing);
        cases.case_of(&call, &types, &[("x", &nothing)], &of_nothing);
    }
    let many = bools(&[300], &[true; 300]);
    cases.case("R.sum(x)", &[("x", &many)], &[bools(&[], &[true])]);
    cases.run();
}
