//! Unary and binary operators against closed forms.

use weftile::tensor::Tensor;

use super::{Cases, bools, tensor};

const VALUES: [f32; 11] = [
    0.5,
    -0.25,
    0.0,
    -0.0,
    1.5,
    -3.5,
    2.5,
    11.0,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
];

fn floats(f: impl Fn(f64) -> f64) -> Tensor {
    tensor(&[11], &VALUES.map(|v| f(f64::from(v)) as f32))
}

#[test]
fn functions_of_floats() {
    let x = floats(|v| v);
    let mut cases = Cases::default();
    type Function = fn(f64) -> f64;
    let functions: [(&str, Function); 22] = [
        ("abs", f64::abs),
        ("acos", f64::acos),
        ("acosh", f64::acosh),
        ("asin", f64::asin),
        ("asinh", f64::asinh),
        ("atan", f64::atan),
        ("atanh", f64::atanh),
        ("ceil", f64::ceil),
        ("cosh", f64::cosh),
        ("exp", f64::exp),
        ("floor", f64::floor),
        ("log", f64::ln),
        ("negative", |v| -v),
        ("round", f64::round_ties_even),
        ("rsqrt", |v| 1.0 / v.sqrt()),
        ("sigmoid", |v| 1.0 / (1.0 + (-v).exp())),
        ("sign", |v| {
            if v.is_nan() || v == 0.0 {
                v
            } else {
                v.signum()
            }
        }),
        ("sinh", f64::sinh),
        ("sqrt", f64::sqrt),
        ("square", |v| v * v),
        ("tanh", f64::tanh),
        ("trunc", f64::trunc),
    ];
    for (name, f) in functions {
        cases.case(&format!("R.{name}(x)"), &[("x", &x)], &[floats(f)]);
    }
    let finite = tensor(&[5], &[0.5f32, -0.25, 0.0, 1.5, -3.5]);
    let of =
        |f: fn(f64) -> f64| tensor(&[5], &[0.5f64, -0.25, 0.0, 1.5, -3.5].map(|v| f(v) as f32));
    for (name, f) in [
        ("sin", f64::sin as fn(f64) -> f64),
        ("cos", f64::cos),
        ("tan", f64::tan),
    ] {
        cases.case(&format!("R.{name}(x)"), &[("x", &finite)], &[of(f)]);
    }
    for (name, f) in [
        ("isnan", f32::is_nan as fn(f32) -> bool),
        ("isinf", f32::is_infinite),
        ("isfinite", f32::is_finite),
    ] {
        let expected = bools(&[11], &VALUES.map(f));
        cases.case(&format!("R.{name}(x)"), &[("x", &x)], &[expected]);
    }
    cases.run();
}

#[test]
fn logarithms_of_subnormal_numbers() {
    let values = [1e-45f32, 1e-40, 1.1e-38, 1.2e-38];
    let x = tensor(&[4], &values);
    let mut cases = Cases::default();
    for (name, f) in [
        ("log", f64::ln as fn(f64) -> f64),
        ("log2", f64::log2),
        ("log10", f64::log10),
    ] {
        let expected = tensor(&[4], &values.map(|v| f(f64::from(v)) as f32));
        cases.case(&format!("R.{name}(x)"), &[("x", &x)], &[expected]);
    }
    cases.run();
}

#[test]
fn truth_values() {
    let mut cases = Cases::default();
    let (x, y) = ([false, false, true, true], [false, true, false, true]);
    let (p, q) = (bools(&[4], &x), bools(&[4], &y));
    for (name, f) in [
        ("less", (|a, b| a < b) as fn(&bool, &bool) -> bool),
        ("less_equal", |a, b| a <= b),
        ("greater", |a, b| a > b),
        ("greater_equal", |a, b| a >= b),
    ] {
        let expected: Vec<bool> = x.iter().zip(&y).map(|(a, b)| f(a, b)).collect();
        let call = format!("R.{name}(x, y)");
        cases.case(&call, &[("x", &p), ("y", &q)], &[bools(&[4], &expected)]);
    }
    cases.case(
        "R.bitwise_not(x)",
        &[("x", &p)],
        &[bools(&[4], &x.map(|v| !v))],
    );
    // NaN is not 0, and neither is the least number.
    let numbers = [f32::NAN, 0.0, -0.0, f32::from_bits(1), f32::INFINITY, -1.0];
    let expected = bools(&[6], &[true, false, false, true, true, true]);
    let x = tensor(&[6], &numbers);
    cases.case("R.astype(x, \"bool\")", &[("x", &x)], &[expected]);
    let numbers = [f32::NAN, 0.0, -2.0, 1.0];
    let expected = bools(&[1, 4], &[true, false, true, true]);
    let x = tensor(&[1, 4], &numbers.map(half::f16::from_f32));
    cases.case("R.astype(x, \"bool\")", &[("x", &x)], &[expected]);
    cases.run();
}

#[test]
fn arithmetic_broadcasts_over_all_sizes() {
    let mut cases = Cases::default();
    let range = |shape: &[usize], from: i32| {
        let len: usize = shape.iter().product();
        let values: Vec<f32> = (0..len as i32).map(|v| (v + from) as f32).collect();
        tensor(shape, &values)
    };
    for (a, b, shape) in [
        (&[0usize, 3][..], &[3usize][..], &[0usize, 3][..]),
        (&[1], &[1], &[1]),
        (&[7, 1], &[5], &[7, 5]),
        (&[3, 1, 2], &[2, 1], &[3, 2, 2]),
    ] {
        let (x, y) = (range(a, -3), range(b, 1));
        let view = |t: &Tensor| {
            let values = t.as_slice::<f32>().expect("floats").to_vec();
            ndarray::ArrayD::from_shape_vec(t.shape(), values).expect("it fits")
        };
        let (p, q) = (view(&x), view(&y));
        let full = |t: &ndarray::ArrayD<f32>| t.broadcast(shape).expect("it broadcasts").to_owned();
        let (p, q) = (full(&p), full(&q));
        let result = |t: ndarray::ArrayD<f32>| {
            let values: Vec<f32> = t.iter().copied().collect();
            tensor(shape, &values)
        };
        let inputs = [("x", &x), ("y", &y)];
        cases.case("R.add(x, y)", &inputs, &[result(&p + &q)]);
        cases.case("R.subtract(x, y)", &inputs, &[result(&p - &q)]);
        cases.case("R.divide(x, y)", &inputs, &[result(&p / &q)]);
        let maximum = ndarray::Zip::from(&p).and(&q).map_collect(|a, b| a.max(*b));
        cases.case("R.maximum(x, y)", &inputs, &[result(maximum)]);
    }
    cases.run();
}

/// Remainders as numpy's `mod` has them, quotients as the floor of the quotient; a reciprocal shows the sign of 0.
#[test]
fn remainders_of_infinities_and_zeros() {
    const INF: f32 = f32::INFINITY;
    const NAN: f32 = f32::NAN;
    // Dividend, divisor, remainder, quotient.
    let table = [
        [1.0, INF, 1.0, 0.0],
        [-1.0, INF, INF, -0.0],
        [1.0, -INF, -INF, -0.0],
        [-1.0, -INF, -1.0, 0.0],
        [0.0, INF, 0.0, 0.0],
        [-0.0, 2.0, 0.0, -0.0],
        [0.0, -2.0, -0.0, -0.0],
        [-4.0, 2.0, 0.0, -2.0],
        [4.0, -2.0, -0.0, -2.0],
        [5.5, 2.0, 1.5, 2.0],
        [-5.5, 2.0, 0.5, -3.0],
        [5.5, -2.0, -0.5, -3.0],
        [-1.0, -3.5, -1.0, 0.0],
        [1e30, 3.5, 1.0, (1e30f32 / 3.5).floor()],
        [-1e30, 3.5, 2.5, (-1e30f32 / 3.5).floor()],
        [INF, 2.0, NAN, INF],
        [-INF, 2.0, NAN, -INF],
        [INF, INF, NAN, NAN],
        [1.0, 0.0, NAN, INF],
        [NAN, 1.0, NAN, NAN],
        [1.0, NAN, NAN, NAN],
    ];
    let column = |at: usize| tensor(&[table.len()], &table.map(|row| row[at]));
    let reciprocals = |at: usize| tensor(&[table.len()], &table.map(|row| 1.0 / row[at]));
    let (x, y) = (column(0), column(1));
    let inputs = [("x", &x), ("y", &y)];
    let mut cases = Cases::default();
    for (op, at) in [("floor_mod", 2), ("floor_divide", 3)] {
        cases.case(&format!("R.{op}(x, y)"), &inputs, &[column(at)]);
        let one = format!("R.divide(R.const(1, \"float32\"), R.{op}(x, y))");
        cases.case(&one, &inputs, &[reciprocals(at)]);
    }
    cases.run();
}

#[test]
fn bits_as_another_type() {
    let mut cases = Cases::default();
    let floats = [0.0f32, -0.0, 1.5, f32::INFINITY, f32::from_bits(1)];
    let words = floats.map(|v| v.to_bits() as i32);
    let (f, i) = (tensor(&[5], &floats), tensor(&[5], &words));
    let unsigned = tensor(&[5], &words.map(|v| v as u32));
    let to = |dtype: &str| format!("R.reinterpret(x, dtype=\"{dtype}\")");
    cases.case(&to("int32"), &[("x", &f)], std::slice::from_ref(&i));
    cases.case(&to("float32"), &[("x", &i)], std::slice::from_ref(&f));
    cases.case(&to("int32"), &[("x", &unsigned)], std::slice::from_ref(&i));
    let bytes = [0i8, -1, -128, 127];
    let unsigned = bytes.map(|v| v as u8);
    let pair = (tensor(&[4], &bytes), tensor(&[4], &unsigned));
    cases.case(
        &to("uint8"),
        &[("x", &pair.0)],
        std::slice::from_ref(&pair.1),
    );
    cases.case(
        &to("int8"),
        &[("x", &pair.1)],
        std::slice::from_ref(&pair.0),
    );
    let halves = [1.0f32, -2.5, 65504.0].map(half::f16::from_f32);
    let pair = (
        tensor(&[3], &halves),
        tensor(&[3], &halves.map(half::f16::to_bits)),
    );
    cases.case(
        &to("uint16"),
        &[("x", &pair.0)],
        std::slice::from_ref(&pair.1),
    );
    cases.case(
        &to("float16"),
        &[("x", &pair.1)],
        std::slice::from_ref(&pair.0),
    );
    let wide = [-1i64, i64::MIN, 7];
    let pair = (tensor(&[3], &wide), tensor(&[3], &wide.map(|v| v as u64)));
    cases.case(
        &to("uint64"),
        &[("x", &pair.0)],
        std::slice::from_ref(&pair.1),
    );
    let truth = bools(&[2], &[false, true]);
    cases.case(&to("uint8"), &[("x", &truth)], &[tensor(&[2], &[0u8, 1])]);
    cases.run();
}
