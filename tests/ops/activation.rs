//! Activation functions and losses against closed forms in float64.

use super::array::Array;
use super::{Cases, tensor};

/// An operator by name, and what it computes.
type Function = (&'static str, fn(f64) -> f64);

const VALUES: [f32; 14] = [
    0.5,
    -0.25,
    0.0,
    1e-4,
    -1e-4,
    1.5,
    -3.5,
    2.5,
    7.0,
    30.0,
    -30.0,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
];

fn values(f: impl Fn(f64) -> f64) -> weftile::tensor::Tensor {
    tensor(&[14], &VALUES.map(|v| f(f64::from(v)) as f32))
}

/// As a comparison of floats has it: NaN is on neither side, and stays.
fn clamp(v: f64, low: f64, high: f64) -> f64 {
    if v.is_nan() { v } else { v.max(low).min(high) }
}

fn positive_or(v: f64, below: f64) -> f64 {
    if v > 0.0 { v } else { below }
}

#[test]
fn functions_of_one_element() {
    let x = values(|v| v);
    let mut cases = Cases::default();
    let functions: [Function; 14] = [
        ("expm1(x)", f64::exp_m1),
        ("exp2(x)", f64::exp2),
        ("log1p(x)", f64::ln_1p),
        ("log2(x)", f64::log2),
        ("log10(x)", f64::log10),
        ("clip(x, -0.5, 2)", |v| clamp(v, -0.5, 2.0)),
        ("nn.relu6(x)", |v| clamp(v, 0.0, 6.0)),
        ("nn.hardtanh(x)", |v| clamp(v, -1.0, 1.0)),
        ("nn.hardsigmoid(x, alpha=0.2, beta=0.5)", |v| {
            clamp(v * 0.2 + 0.5, 0.0, 1.0)
        }),
        ("nn.leakyrelu(x, alpha=0.1)", |v| positive_or(v, 0.1 * v)),
        ("nn.elu(x, alpha=2)", |v| positive_or(v, 2.0 * v.exp_m1())),
        ("nn.celu(x, alpha=2)", |v| {
            positive_or(v, 2.0 * (v / 2.0).exp_m1())
        }),
        ("nn.selu(x)", |v| {
            1.050_700_987_355_480_5 * positive_or(v, 1.673_263_242_354_377_2 * v.exp_m1())
        }),
        ("nn.thresholded_relu(x, alpha=1)", |v| {
            if v > 1.0 { v } else { 0.0 }
        }),
    ];
    for (call, f) in functions {
        cases.case(&format!("R.{call}"), &[("x", &x)], &[values(f)]);
    }
    let finite: Vec<f32> = VALUES.into_iter().filter(|v| v.is_finite()).collect();
    let of = |f: fn(f64) -> f64| {
        let values: Vec<f32> = finite.iter().map(|&v| f(f64::from(v)) as f32).collect();
        tensor(&[11], &values)
    };
    let x = of(|v| v);
    let functions: [Function; 5] = [
        ("nn.softsign(x)", |v| v / (1.0 + v.abs())),
        ("nn.hardswish(x)", |v| v * (v / 6.0 + 0.5).clamp(0.0, 1.0)),
        ("nn.mish(x)", |v| v * v.exp().ln_1p().tanh()),
        ("nn.shrink(x, lambd=1, bias=0.5)", |v| {
            if v > 1.0 {
                v - 0.5
            } else if v < -1.0 {
                v + 0.5
            } else {
                0.0
            }
        }),
        ("nn.gelu_tanh(x)", |v| {
            let inner = (2.0 / std::f64::consts::PI).sqrt() * (v + 0.044_715 * v.powi(3));
            0.5 * v * (1.0 + inner.tanh())
        }),
    ];
    for (call, f) in functions {
        cases
            .case(&format!("R.{call}"), &[("x", &x)], &[of(f)])
            .terms(2);
    }
    let moderate = [
        -8.0f32,
        -1.0,
        0.0,
        1e-4,
        3.0,
        4.9,
        5.1,
        30.0,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
    ];
    let of = |f: fn(f64) -> f64| tensor(&[11], &moderate.map(|v| f(f64::from(v)) as f32));
    let functions: [Function; 2] = [
        ("nn.softplus(x, beta=2, threshold=10)", |v| {
            if 2.0 * v > 10.0 {
                v
            } else {
                (2.0 * v).exp().ln_1p() / 2.0
            }
        }),
        (
            "nn.softplus(x)",
            |v| if v > 20.0 { v } else { v.exp().ln_1p() },
        ),
    ];
    for (call, f) in functions {
        cases.case(&format!("R.{call}"), &[("x", &of(|v| v))], &[of(f)]);
    }
    let ints = tensor(&[5], &[-300i32, -1, 0, 7, 300]);
    let clipped = tensor(&[5], &[-2i32, -1, 0, 5, 5]);
    cases.case("R.clip(x, -2, 5)", &[("x", &ints)], &[clipped]);
    let bytes = tensor(&[3], &[0u8, 7, 255]);
    let clipped = tensor(&[3], &[0u8, 7, 200]);
    cases.case("R.clip(x, -1, 200)", &[("x", &bytes)], &[clipped]);
    cases.run();
}

/// Several steps, each of which rounded to 11 digits, would be off by several units.
#[test]
fn narrow_floats_are_rounded_once() {
    let x: Vec<half::f16> = (-160..=160)
        .map(|i| half::f16::from_f64(f64::from(i) / 23.0))
        .collect();
    let functions: [Function; 8] = [
        ("nn.gelu_tanh(x)", |v| {
            let inner = (2.0 / std::f64::consts::PI).sqrt() * (v + 0.044_715 * v.powi(3));
            0.5 * v * (1.0 + inner.tanh())
        }),
        ("nn.elu(x, alpha=2)", |v| positive_or(v, 2.0 * v.exp_m1())),
        ("nn.celu(x, alpha=2)", |v| {
            positive_or(v, 2.0 * (v / 2.0).exp_m1())
        }),
        ("nn.softplus(x)", |v| v.exp().ln_1p()),
        ("nn.softsign(x)", |v| v / (1.0 + v.abs())),
        ("nn.hardswish(x)", |v| v * (v / 6.0 + 0.5).clamp(0.0, 1.0)),
        ("nn.hardsigmoid(x, alpha=0.3, beta=0.5)", |v| {
            clamp(v * 0.3 + 0.5, 0.0, 1.0)
        }),
        ("nn.mish(x)", |v| v * v.exp().ln_1p().tanh()),
    ];
    let mut cases = Cases::default();
    for (call, f) in functions {
        let expected: Vec<half::f16> = x
            .iter()
            .map(|v| half::f16::from_f64(f(v.to_f64())))
            .collect();
        let of = |values: &[half::f16]| tensor(&[321], values);
        cases.case(&format!("R.{call}"), &[("x", &of(&x))], &[of(&expected)]);
    }
    cases.run();
}

#[test]
fn slopes_for_channels() {
    let mut cases = Cases::default();
    let (x, a) = (Array::random(&[2, 3, 5], 1), Array::random(&[3], 2));
    let expected = Array::new(&x.shape, |i| positive_or(x.at(i), a.data[i[1]] * x.at(i)));
    cases.case(
        "R.nn.prelu(x, a)",
        &[("x", &x.f32()), ("a", &a.f32())],
        &[expected.f32()],
    );
    let a = Array::random(&[2, 1, 5], 3);
    let expected = Array::new(&x.shape, |i| {
        positive_or(x.at(i), a.at(&[i[0], 0, i[2]]) * x.at(i))
    });
    cases.case(
        "R.nn.prelu(x, a)",
        &[("x", &x.f32()), ("a", &a.f32())],
        &[expected.f32()],
    );
    let one = Array::random(&[1], 4);
    let expected = x.map(|v| positive_or(v, one.data[0] * v));
    cases.case(
        "R.nn.prelu(x, a)",
        &[("x", &x.f32()), ("a", &one.f32())],
        &[expected.f32()],
    );
    cases.run();
}

#[test]
fn losses() {
    let mut cases = Cases::default();
    let (x, y) = (Array::random(&[3, 5], 1), Array::random(&[3, 5], 2));
    let sum: f64 = x.data.iter().zip(&y.data).map(|(x, y)| x * y).sum();
    cases
        .case(
            "R.nn.cross_entropy_with_logits(x, y)",
            &[("x", &x.f32()), ("y", &y.f32())],
            &[tensor(&[], &[(-sum / 3.0) as f32])],
        )
        .terms(15);
    let x = Array::random(&[2, 5, 3], 3);
    let w = Array::random(&[5], 4).map(|v| v + 2.0);
    let targets = [0i32, 4, 2, 1, 1, 3];
    let t = tensor(&[2, 3], &targets);
    let at = |i: usize| {
        let class = targets[i] as usize;
        let weight = if class == 2 { 0.0 } else { w.data[class] };
        (-x.at(&[i / 3, class, i % 3]) * weight, weight)
    };
    let each: Vec<f32> = (0..6).map(|i| at(i).0 as f32).collect();
    let loss: f64 = (0..6).map(|i| at(i).0).sum();
    let weight: f64 = (0..6).map(|i| at(i).1).sum();
    let (xt, wt) = (x.f32(), w.f32());
    let inputs = [("x", &xt), ("t", &t), ("w", &wt)];
    for (reduction, expected) in [
        ("none", tensor(&[2, 3], &each)),
        ("sum", tensor(&[], &[loss as f32])),
        ("mean", tensor(&[], &[(loss / weight) as f32])),
    ] {
        let text = format!("R.nn.nll_loss(x, t, w, reduction=\"{reduction}\", ignore_index=2)");
        cases.case(&text, &inputs, &[expected]).terms(6);
    }
    cases.run();
}
