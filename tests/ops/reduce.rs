//! Reductions against sums in float64.

use super::{Cases, tensor};

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
