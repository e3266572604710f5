//! Functions of floats that code computes itself are exact to their bounds.

use std::collections::BTreeMap;
use std::sync::Mutex;

use super::run_native;
use crate::codegen_common::expand::functions::function;
use crate::kernel::testing::build::elementwise;
use crate::kernel::{Expr, Kernel};
use crate::tensor::scalar::{BinOp, Intrin, Scalar, eval_intrin};
use crate::tensor::{ScalarType, Tensor};

/// Distance to the true value in units in the last place of the result.
fn ulps(got: f32, want: f64) -> f64 {
    let size = (want.abs() as f32).max(f32::MIN_POSITIVE);
    let unit = f64::from(f32::from_bits(size.to_bits() + 1)) - f64::from(size);
    (f64::from(got) - want).abs() / unit
}

#[test]
fn exp_is_within_two_units_in_the_last_place() {
    let step = |first: f32, last: f32| (first.to_bits()..last.to_bits()).step_by(1999);
    let positive = step(0.0, 88.72).map(f32::from_bits);
    let negative = step(0.0, 104.5).map(|bits| -f32::from_bits(bits));
    let mut values: Vec<f32> = positive.chain(negative).collect();
    values.extend([
        0.0,
        -0.0,
        f32::MIN_POSITIVE,
        -f32::MIN_POSITIVE,
        1e-45,
        -1e-45,
    ]);
    values.resize(values.len().next_multiple_of(8), 1.0);
    for lanes in [1, 4, 8] {
        let (k, tensors) = call(Intrin::Exp, lanes, &[values.clone()]);
        for (backend, tensors) in run_native(&k, &[], &tensors) {
            let got = tensors[1].as_slice::<f32>().expect("f32");
            for (&x, &got) in values.iter().zip(got) {
                let want = f64::from(x).exp();
                assert!(
                    ulps(got, want) <= 2.0,
                    "exp({x}) x{lanes} by {}: {got}, not {want}",
                    backend.name()
                );
            }
        }
    }
}

/// Bounds of an argument that can be seen: of a sum as it is rounded, which may be less than the sum of the bounds.
#[test]
fn exp_of_arguments_with_bounds() {
    let number = |value: f64| {
        let number = Expr::Float(value, ScalarType::F32);
        Expr::Splat(Box::new(number), 4)
    };
    let binary = |op, a, b| Expr::Binary(op, Box::new(a), Box::new(b));
    let values: [f32; 8] = [
        -70.0,
        -65.0,
        -64.0,
        -1.0,
        0.0,
        5.0,
        f32::NEG_INFINITY,
        f32::NAN,
    ];
    for large in [0.0, 2_147_483_648.0] {
        let inputs = vec![vector(&values)];
        let (k, tensors) = elementwise("exp", inputs, ScalarType::F32, 4, |mut args| {
            let bounded = binary(BinOp::Max, args.remove(0), number(-65.0));
            let sum = binary(BinOp::Add, bounded, number(large));
            let argument = binary(BinOp::Add, sum, number(-large));
            Expr::Call(Intrin::Exp, vec![argument])
        });
        for (backend, tensors) in run_native(&k, &[], &tensors) {
            let got = tensors[1].as_slice::<f32>().expect("f32");
            for (&x, &got) in values.iter().zip(got) {
                let bounded = if x.is_nan() { x } else { x.max(-65.0) };
                let argument = (bounded + large as f32) - large as f32;
                let want = f64::from(argument).exp();
                let same = got.is_nan() && want.is_nan() || ulps(got, want) <= 2.0;
                let name = backend.name();
                assert!(same, "exp({x} + {large}) by {name}: {got}, not {want}");
            }
        }
    }
}

#[test]
fn exp_of_what_is_not_finite_or_does_not_fit() {
    let cases = [
        (f32::NAN, f32::NAN),
        (f32::INFINITY, f32::INFINITY),
        (f32::NEG_INFINITY, 0.0),
        (f32::MAX, f32::INFINITY),
        (f32::MIN, 0.0),
        (88.75, f32::INFINITY),
        (-104.0, 0.0),
        (0.0, 1.0),
    ];
    for lanes in [1, 4] {
        let inputs = cases.iter().map(|&(x, _)| x).collect();
        let (k, tensors) = call(Intrin::Exp, lanes, &[inputs]);
        for (backend, tensors) in run_native(&k, &[], &tensors) {
            let got = tensors[1].as_slice::<f32>().expect("f32");
            for (&(x, want), &got) in cases.iter().zip(got) {
                let same = got == want || got.is_nan() && want.is_nan();
                let name = backend.name();
                assert!(same, "exp({x}) x{lanes} by {name}: {got}, not {want}");
            }
        }
    }
}

/// Whether functions are tried at all arguments.
fn is_exhaustive() -> bool {
    std::env::var_os("WEFTILE_EXHAUSTIVE").is_some()
}

/// Whether a function is tried: all are but in a run over all arguments that names others (`WEFTILE_EXHAUSTIVE=exp,log`; `1` names all).
fn is_tried(intrin: Intrin) -> bool {
    let named = std::env::var("WEFTILE_EXHAUSTIVE").ok();
    let named = named.filter(|names| names != "1");
    named.is_none_or(|names| names.split(',').any(|name| name == intrin.name()))
}

/// Arguments that functions are tried at, by their bits: special ones, and one of so many others or all with `WEFTILE_EXHAUSTIVE`.
fn arguments() -> Vec<std::iter::StepBy<std::ops::RangeInclusive<u32>>> {
    let step = match is_exhaustive() {
        true => 1,
        false => 30_011,
    };
    let around = |value: f32| {
        let bits = value.to_bits();
        (bits.saturating_sub(3)..=bits.saturating_add(3)).step_by(1)
    };
    let infinity = f32::INFINITY;
    // Where the functions go from one form to another among them.
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        infinity,
        -infinity,
        0.625,
        0.921_875,
        0.75,
        0.749_954_34,
        1.5,
        -0.25,
        0.5,
        500_000.0,
        1e9,
        f32::MIN_POSITIVE,
        // Where `exp` is subnormal, 0 and infinity.
        -87.336_54,
        -103.972_08,
        88.722_84,
    ];
    // Blocks of all arguments, for threads to share.
    let bits: u32 = match is_exhaustive() {
        true => 24,
        false => 30,
    };
    let blocks = (0..1 << (32 - bits)).map(|block: u32| {
        let first = block << bits;
        // One of so many of all, not of each block.
        let skipped = (step - first % step) % step;
        (first + skipped..=first + ((1 << bits) - 1)).step_by(step as usize)
    });
    special.map(around).into_iter().chain(blocks).collect()
}

/// How many units in the last place a function that code computes itself may be off.
fn bound(intrin: Intrin) -> Option<f64> {
    function(intrin).map(|(_, ulps)| ulps)
}

/// How far a back end is off at most, in units in the last place, and where.
#[derive(Clone, PartialEq, Debug, Default)]
struct Worst {
    off: f64,
    at: String,
}

/// What was found of each function and back end.
#[derive(Default)]
struct Found(Mutex<BTreeMap<(&'static str, &'static str), Worst>>);

impl Found {
    /// Calls the function with vectors of so many lanes at these arguments, by each back end, and compares the results.
    fn add(&self, intrin: Intrin, lanes: u16, args: &[Vec<f32>]) {
        let want: Vec<f64> = (0..args[0].len()).map(|i| exact(intrin, args, i)).collect();
        let padded = |values: &Vec<f32>| {
            let mut values = values.clone();
            values.resize(values.len().next_multiple_of(lanes.into()), 1.0);
            values
        };
        let padded: Vec<Vec<f32>> = args.iter().map(padded).collect();
        let (k, tensors) = call(intrin, lanes, &padded);
        for (backend, tensors) in run_native(&k, &[], &tensors) {
            let got = tensors[args.len()].as_slice::<f32>().expect("f32");
            let off = want
                .iter()
                .zip(got)
                .map(|(&want, &got)| distance(got, want));
            let (i, off) = off
                .enumerate()
                .fold((0, 0.0), |most, at| if at.1 > most.1 { at } else { most });
            let mut found = self.0.lock().expect("no test panics with it");
            let worst = found.entry((intrin.name(), backend.name())).or_default();
            if off > worst.off {
                let of: Vec<f32> = args.iter().map(|a| a[i]).collect();
                let (got, want) = (got[i], want[i]);
                let at = format!("{of:?} x{lanes}: {got}, not {want}");
                *worst = Worst { off, at };
            }
        }
    }

    /// Panics if a function is further off than its bound, with all that was found.
    fn check(self) {
        let found = self.0.into_inner().expect("no test panics with it");
        let table: Vec<String> = found
            .iter()
            .map(|((intrin, backend), Worst { off, at })| {
                format!("{intrin} {backend}: {off:.3} at {at}")
            })
            .collect();
        let table = table.join("\n");
        for intrin in Intrin::ALL {
            let of_it = found.iter().filter(|((name, _), _)| *name == intrin.name());
            let most = of_it.map(|(_, worst)| worst.off).fold(0.0, f64::max);
            assert!(most <= bound(intrin).unwrap_or(0.0), "{intrin:?}\n{table}");
        }
        if is_exhaustive() {
            say(&table);
        }
    }
}

#[expect(clippy::print_stderr, reason = "what was measured in minutes")]
fn say(what: &str) {
    eprintln!("{what}");
}

/// The function of one tuple of arguments, in `float64`.
fn exact(intrin: Intrin, args: &[Vec<f32>], i: usize) -> f64 {
    let mut of = [Scalar::Float(0.0); 2];
    for (of, values) in of.iter_mut().zip(args) {
        *of = Scalar::Float(values[i].into());
    }
    let value = eval_intrin(intrin, ScalarType::F64, &of[..args.len()]);
    value.expect("a float").as_float()
}

/// How far a result is off, in units in the last place. What is 0 or infinite must be that, with its sign; NaN must be NaN.
fn distance(got: f32, want: f64) -> f64 {
    if got.is_nan() || want.is_nan() {
        return match got.is_nan() && want.is_nan() {
            true => 0.0,
            false => f64::INFINITY,
        };
    }
    if want != 0.0 && (want as f32).is_finite() {
        return ulps(got, want);
    }
    let same_sign = got.is_sign_negative() == want.is_sign_negative();
    match same_sign && got == want as f32 {
        true => 0.0,
        false => f64::INFINITY,
    }
}

/// A kernel that calls the function, with its arguments.
fn call(intrin: Intrin, lanes: u16, args: &[Vec<f32>]) -> (Kernel, Vec<Tensor>) {
    let inputs = args.iter().map(|values| vector(values)).collect();
    elementwise(intrin.name(), inputs, ScalarType::F32, lanes, |args| {
        Expr::Call(intrin, args)
    })
}

fn vector(values: &[f32]) -> Tensor {
    Tensor::from_slice(&[values.len()], values).expect("as many elements")
}

#[test]
fn functions_are_exact_to_their_bounds() {
    const AT_ONCE: usize = 1 << 20;
    let lanes: &[u16] = match is_exhaustive() {
        true => &[16],
        false => &[1, 6, 16],
    };
    let found = Found::default();
    let blocks = arguments();
    let next = std::sync::atomic::AtomicUsize::new(0);
    let try_blocks = || {
        while let Some(block) = blocks.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
        {
            let values: Vec<f32> = block.clone().map(f32::from_bits).collect();
            for intrin in Intrin::ALL {
                if bound(intrin).is_none() || intrin.arity() != 1 || !is_tried(intrin) {
                    continue;
                }
                for (values, &lanes) in values
                    .chunks(AT_ONCE)
                    .flat_map(|v| lanes.iter().map(move |l| (v, l)))
                {
                    found.add(intrin, lanes, &[values.to_vec()]);
                }
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(try_blocks);
        }
    });
    found.check();
}

/// Of each of a few numbers, special ones among them, and of many others.
#[test]
fn powers_are_exact_to_their_bound() {
    let special = [
        0.0,
        1.0,
        2.0,
        3.0,
        0.5,
        0.333,
        1.5,
        2.2,
        1e-45,
        1e-38,
        1e38,
        3e38,
        16_777_215.0,
        16_777_216.0,
        4_194_303.5,
        0.999_999_94,
        1.000_000_1,
        0.707_106_77,
        10.0,
        127.0,
        149.0,
        f32::INFINITY,
        f32::NAN,
    ];
    let signed = special.iter().flat_map(|&v| [v, -v]);
    let many = (0..=u32::MAX).step_by(if is_exhaustive() { 655_211 } else { 17_000_003 });
    let numbers: Vec<f32> = signed.chain(many.map(f32::from_bits)).collect();
    let pairs = numbers
        .iter()
        .flat_map(|&x| numbers.iter().map(move |&y| (x, y)));
    let (xs, ys): (Vec<f32>, Vec<f32>) = pairs.unzip();
    let found = Found::default();
    for lanes in [1, 6, 16] {
        found.add(Intrin::Pow, lanes, &[xs.clone(), ys.clone()]);
    }
    // Powers that are neither 0 nor infinite.
    let (xs, ys): (Vec<f32>, Vec<f32>) = (0..100_000_u32)
        .map(|i| {
            let x = f32::from_bits(0x3000_0000 + i.wrapping_mul(2_654_435_761) % 0x1f00_0000);
            let most = 100.0 / x.log2().abs().max(1e-3);
            (
                x,
                most * ((i.wrapping_mul(40_503) % 2_001) as f32 / 1_000.0 - 1.0),
            )
        })
        .unzip();
    found.add(Intrin::Pow, 16, &[xs, ys]);
    found.check();
}
