//! Functions of the math library on the GPU against those of `f64`, over dense samples of all floats and of the ranges where
//! they bend. The bounds are those that the helper functions of the emitted text state.

use weftile::kernel::Target;
use weftile::tensor::Tensor;
use weftile::{lower, sched, script};

use super::cases::gpu;
use super::launch::launch;

const COUNT: usize = 1 << 18;

/// Results and arguments below this may be taken for 0 by the device.
const SUBNORMAL: f64 = 1.2e-38;

/// Every exponent and sign, NaN and the infinities too; half of the sample from the range.
fn sample(low: f32, high: f32, seed: u32) -> Vec<f32> {
    let mut values = vec![
        f32::NAN,
        f32::INFINITY,
        -f32::INFINITY,
        0.0,
        -0.0,
        1.0,
        -1.0,
        1e-40,
    ];
    let mut state = seed;
    while values.len() < COUNT {
        state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        let mixed = (state >> ((state >> 28) + 4)) ^ state;
        values.push(f32::from_bits(mixed.wrapping_mul(277_803_737)));
        let part = values.len() as f32 / COUNT as f32;
        values.push(low + (high - low) * part);
    }
    values.truncate(COUNT);
    values
}

/// Units in the last place of `f32` between a result and the true value.
fn error(got: f32, expected: f64) -> f64 {
    let rounded = expected as f32;
    if rounded.is_nan() || got.is_nan() || got == rounded {
        return if rounded.is_nan() == got.is_nan() {
            0.0
        } else {
            f64::INFINITY
        };
    }
    if rounded.is_infinite() || got.is_infinite() {
        // Just below the greatest float either is as good.
        let near = got.abs().min(rounded.abs()) > 3.4e38 && (got > 0.0) == (rounded > 0.0);
        return if near { 0.0 } else { f64::INFINITY };
    }
    let unit = f64::from(f32::from_bits(rounded.abs().to_bits() + 1)) - f64::from(rounded.abs());
    let difference = (f64::from(got) - expected).abs();
    if difference < SUBNORMAL {
        0.0
    } else {
        difference / unit
    }
}

/// Computes `value` of the floats `A[vi]` and `B[vi]` on the device.
fn compute(value: &str, a: &[f32], b: &[f32]) -> Option<Vec<f32>> {
    let gpu = gpu()?;
    let text = format!(
        r#"
@T.prim_func
def f(A: T.Buffer(({COUNT},), "float32"), B: T.Buffer(({COUNT},), "float32"), Y: T.Buffer(({COUNT},), "float32")):
    for i in range({COUNT}):
        with T.block("Y"):
            vi = T.axis.spatial({COUNT}, i)
            Y[vi] = {value}
"#
    );
    let target = Target::Gpu(gpu.target().clone());
    let module = script::parse("case.py", &text).unwrap_or_else(|e| panic!("{e}"));
    let scheduled = sched::rules::schedule(module.prim_func("f").expect("is there"), &target);
    let lowered = lower::lower(scheduled.schedule.func(), &target).expect("lowers");
    let tensor = |values: &[f32]| Tensor::from_slice(&[COUNT], values).expect("fits");
    let mut tensors = [tensor(a), tensor(b), tensor(a)];
    launch(&gpu, &lowered, &mut tensors, 1);
    Some(bytemuck::pod_collect_to_vec(tensors[2].bytes()))
}

struct Function {
    name: &'static str,
    /// The range that half of the arguments are from.
    range: (f32, f32),
    /// Most units in the last place.
    units: f64,
    expected: fn(f64) -> f64,
}

const fn function(
    name: &'static str,
    range: (f32, f32),
    units: f64,
    expected: fn(f64) -> f64,
) -> Function {
    Function {
        name,
        range,
        units,
        expected,
    }
}

const FUNCTIONS: &[Function] = &[
    function("sin", (-20.0, 20.0), 3.0, f64::sin),
    function("cos", (-20.0, 20.0), 3.0, f64::cos),
    function("tan", (-20.0, 20.0), 4.0, f64::tan),
    function("asin", (-1.0, 1.0), 4.0, f64::asin),
    function("acos", (-1.0, 1.0), 4.0, f64::acos),
    function("atan", (-6.0, 6.0), 4.0, f64::atan),
    function("sinh", (-3.0, 3.0), 4.0, f64::sinh),
    function("cosh", (-3.0, 3.0), 4.0, f64::cosh),
    function("tanh", (-2.0, 2.0), 4.0, f64::tanh),
    function("asinh", (-3.0, 3.0), 4.0, f64::asinh),
    function("acosh", (1.0, 5.0), 4.0, f64::acosh),
    function("atanh", (-1.0, 1.0), 4.0, f64::atanh),
    function("expm1", (-2.0, 2.0), 3.0, f64::exp_m1),
    function("exp10", (-6.0, 6.0), 3.0, libm::exp10),
    function("log1p", (-1.0, 3.0), 3.0, f64::ln_1p),
];

#[test]
fn functions_of_one_argument() {
    let mut worst = Vec::new();
    for function in FUNCTIONS {
        let a = sample(function.range.0, function.range.1, 1);
        let value = format!("T.{}(A[vi])", function.name);
        let Some(got) = compute(&value, &a, &a) else {
            return;
        };
        let errors = a.iter().zip(&got).map(|(&a, &got)| {
            let expected = (function.expected)(f64::from(a));
            (error(got, expected), a, got, expected)
        });
        let found = errors.max_by(|x, y| x.0.total_cmp(&y.0)).expect("many");
        if found.0 > function.units {
            worst.push((function.name, found));
        }
    }
    assert!(
        worst.is_empty(),
        "(error, argument, result, expected): {worst:#?}"
    );
}

#[test]
fn functions_of_two_arguments() {
    type Function = fn(f64, f64) -> f64;
    let cases: [(&str, f64, Function); 5] = [
        ("T.pow(A[vi], B[vi])", 2.0, f64::powf),
        ("T.atan2(A[vi], B[vi])", 5.0, f64::atan2),
        ("T.fmod(A[vi], B[vi])", 0.0, |a, b| a % b),
        ("A[vi] % B[vi]", 0.5, floor_mod),
        ("A[vi] // B[vi]", 2.5, |a, b| (a / b).floor()),
    ];
    for (value, units, expected) in cases {
        let a = sample(0.0, 9.0, 1);
        let mut b = sample(-40.0, 40.0, 2);
        // Whole numbers, as the exponents of most powers are, and all specials against each other.
        for (i, b) in b.iter_mut().enumerate() {
            if i % 5 == 1 {
                *b = b.round();
            }
        }
        b[..8].reverse();
        let Some(got) = compute(value, &a, &b) else {
            return;
        };
        for ((&a, &b), &got) in a.iter().zip(&b).zip(&got) {
            let subnormal = |v: f32| v != 0.0 && f64::from(v.abs()) < SUBNORMAL;
            let (x, y) = (f64::from(a), f64::from(b));
            let true_value = expected(x, y);
            // A device that flushes subnormal numbers computes with 0.
            if subnormal(a) || subnormal(b) {
                continue;
            }
            let error = error(got, true_value);
            assert!(
                error <= units,
                "{value} of {a:e}, {b:e}: {got:e} for {true_value:e}, {error}"
            );
        }
    }
}

fn floor_mod(a: f64, b: f64) -> f64 {
    if b < 0.0 {
        -((-a).rem_euclid(-b))
    } else {
        a.rem_euclid(b)
    }
}

/// The functions that are the device's own or approximate, within what their users rely on.
#[test]
fn functions_with_absolute_errors() {
    type Function = fn(f64) -> f64;
    let cases: [(&str, f64, Function); 2] = [
        ("T.erf(A[vi])", 4e-7, libm::erf),
        ("T.sigmoid(A[vi])", 5e-7, |x| 1.0 / (1.0 + (-x).exp())),
    ];
    for (value, most, expected) in cases {
        let a = sample(-6.0, 6.0, 3);
        let Some(got) = compute(value, &a, &a) else {
            return;
        };
        for (&a, &got) in a.iter().zip(&got) {
            let expected = expected(f64::from(a));
            let close = (f64::from(got) - expected).abs() <= most || got.is_nan() && a.is_nan();
            assert!(close, "{value} of {a:e}: {got:e} for {expected:e}");
        }
    }
}
