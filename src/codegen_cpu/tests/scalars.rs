//! Every operator, intrinsic and conversion on every type, as scalars and as vectors.

use super::build::*;
use super::{check, run_native, tensor};
use crate::codegen_common::opt::functions::function;
use crate::kernel::{Access, Expr, Kernel, Ty};
use crate::tensor::scalar::{BinOp, Intrin, Scalar, eval_binary, eval_intrin, wrap_int};
use crate::tensor::{ScalarType, Tensor};

const OPS: [BinOp; 22] = [
    BinOp::Add,
    BinOp::Sub,
    BinOp::Mul,
    BinOp::Div,
    BinOp::Mod,
    BinOp::FloorDiv,
    BinOp::FloorMod,
    BinOp::Min,
    BinOp::Max,
    BinOp::Eq,
    BinOp::Ne,
    BinOp::Lt,
    BinOp::Le,
    BinOp::Gt,
    BinOp::Ge,
    BinOp::And,
    BinOp::Or,
    BinOp::BitAnd,
    BinOp::BitOr,
    BinOp::BitXor,
    BinOp::Shl,
    BinOp::Shr,
];

/// Awkward values of a type, as many as fill vectors of 24 lanes.
fn values(ty: ScalarType, seed: i64) -> Vec<Scalar> {
    if ty.is_float() {
        let values = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            -2.5,
            3.5,
            7.25,
            -100.0,
            88.0,
            1e-3,
            -1e-6,
            12345.0,
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            1.5e-7,
            0.999,
            2.0,
            -3.0,
            0.1,
            65504.0,
            6e-5,
            -0.7,
        ];
        let rotated = values.iter().cycle().skip(seed as usize).take(24);
        return rotated
            .map(|&v| Scalar::Float(crate::tensor::scalar::round_float(v, ty)))
            .collect();
    }
    let values = [
        0,
        1,
        -1,
        2,
        3,
        -3,
        7,
        100,
        -100,
        127,
        -128,
        255,
        256,
        32767,
        -32768,
        65535,
        i64::from(i32::MAX),
        i64::from(i32::MIN),
        0xffff_ffff,
        i64::MAX,
        i64::MIN,
        5,
        -7,
        13,
    ];
    let rotated = values.iter().cycle().skip(seed as usize).take(24);
    rotated.map(|&v| Scalar::Int(wrap_int(v, ty))).collect()
}

/// A kernel that stores `f` of vectors (or scalars) of the inputs, and its arguments.
fn pointwise(
    name: &str,
    inputs: &[Vec<Scalar>],
    from: ScalarType,
    to: ScalarType,
    lanes: u16,
    f: impl Fn(Vec<Expr>) -> Expr,
) -> (Kernel, Vec<Tensor>) {
    let mut k = kernel(name);
    let arrays: Vec<_> = inputs
        .iter()
        .map(|_| k.global(from, Access::Read))
        .collect();
    let out = k.global(to, Access::Write);
    let len = inputs[0].len();
    let i = k.var("i", I64);
    let at = mul(v(i), int(lanes.into()));
    let args = arrays.iter().map(|&a| load(a, at.clone(), lanes)).collect();
    k.body = vec![for_(
        i,
        int(len as i64 / i64::from(lanes)),
        vec![store(out, at, f(args))],
    )];
    let mut tensors: Vec<Tensor> = inputs.iter().map(|values| tensor(from, values)).collect();
    tensors.push(Tensor::zeros(to.into(), &[len]).expect("small"));
    (k, tensors)
}

/// Keeps the argument tuples for which `f` has a value.
fn defined(inputs: Vec<Vec<Scalar>>, f: impl Fn(&[Scalar]) -> bool) -> Vec<Vec<Scalar>> {
    let keep: Vec<bool> = (0..inputs[0].len())
        .map(|i| f(&inputs.iter().map(|v| v[i]).collect::<Vec<_>>()))
        .collect();
    let fallback: Option<Vec<Scalar>> = keep
        .iter()
        .position(|&k| k)
        .map(|i| inputs.iter().map(|v| v[i]).collect());
    let mut inputs = inputs;
    if let Some(fallback) = fallback {
        for (input, fallback) in inputs.iter_mut().zip(fallback) {
            for (value, keep) in input.iter_mut().zip(&keep) {
                if !keep {
                    *value = fallback;
                }
            }
        }
    }
    inputs
}

const LANES: [u16; 5] = [1, 2, 3, 4, 8];

#[test]
fn binary_operators_on_every_type() {
    for op in OPS {
        for ty in ScalarType::ALL {
            if op.is_logical() && ty.is_int() {
                continue;
            }
            for seed in [0, 1, 5, 11] {
                let inputs = vec![values(ty, 0), values(ty, seed)];
                let inputs = defined(inputs, |a| eval_binary(op, ty, a[0], a[1]).is_ok());
                let is_defined = eval_binary(op, ty, inputs[0][0], inputs[1][0]).is_ok();
                let to = if op.is_comparison() {
                    ScalarType::Bool
                } else {
                    ty
                };
                for lanes in LANES {
                    let name = format!("{op:?} {ty} x{lanes}");
                    let (k, tensors) = pointwise(&name, &inputs, ty, to, lanes, |args| {
                        let [a, b] = args.try_into().expect("two");
                        bin(op, a, b)
                    });
                    if is_defined {
                        check(&k, &[], &tensors, 1).expect("defined");
                    } else {
                        let result = super::compile(&[&k], super::CompileOptions::default());
                        assert!(result.is_err(), "{name} has no meaning but compiles");
                    }
                }
            }
        }
    }
}

#[test]
fn intrinsics_on_every_type() {
    // Lowering writes fixed-point products out as operations on 64 bits.
    let kept = |intrin: &Intrin| *intrin != Intrin::QMultiplyShift;
    for intrin in Intrin::ALL.into_iter().filter(kept) {
        for ty in ScalarType::ALL {
            let arity = intrin.arity();
            let inputs: Vec<_> = [0, 3, 7][..arity]
                .iter()
                .map(|&seed| values(ty, seed))
                .collect();
            let inputs = defined(inputs, |a| eval_intrin(intrin, ty, a).is_ok());
            let first: Vec<Scalar> = inputs.iter().map(|v| v[0]).collect();
            let is_defined = eval_intrin(intrin, ty, &first).is_ok();
            let to = if intrin.is_predicate() {
                ScalarType::Bool
            } else {
                ty
            };
            for lanes in LANES {
                let name = format!("{intrin:?} {ty} x{lanes}");
                let (k, tensors) = pointwise(&name, &inputs, ty, to, lanes, |args| {
                    Expr::Call(intrin, args)
                });
                if is_defined {
                    check(&k, &[], &tensors, 1).expect("defined");
                } else {
                    let result = super::compile(&[&k], super::CompileOptions::default());
                    assert!(result.is_err(), "{name} has no meaning but compiles");
                }
            }
        }
    }
}

#[test]
fn conversions_between_all_types() {
    for from in ScalarType::ALL {
        for to in ScalarType::ALL {
            for lanes in LANES {
                let name = format!("{from} to {to} x{lanes}");
                let ty = Ty { scalar: to, lanes };
                let (k, tensors) =
                    pointwise(&name, &[values(from, 0)], from, to, lanes, |mut args| {
                        Expr::Cast(ty, Box::new(args.remove(0)))
                    });
                check(&k, &[], &tensors, 1).expect("defined");
            }
        }
    }
}

#[test]
fn selects_take_masks_of_other_widths() {
    let cond = [
        ScalarType::F32,
        ScalarType::F64,
        ScalarType::I8,
        ScalarType::I16,
        ScalarType::U64,
    ];
    for from in cond {
        for to in ScalarType::ALL {
            for lanes in LANES {
                let name = format!("select on {from} of {to} x{lanes}");
                let ty = Ty { scalar: to, lanes };
                let inputs = [values(from, 0), values(from, 9)];
                let (k, tensors) = pointwise(&name, &inputs, from, to, lanes, |args| {
                    let less = bin(BinOp::Lt, args[0].clone(), args[1].clone());
                    let not = Expr::Not(Box::new(less));
                    let sides = args
                        .into_iter()
                        .map(|a| Box::new(Expr::Cast(ty, Box::new(a))));
                    let [a, b] = sides.collect::<Vec<_>>().try_into().expect("two");
                    Expr::Select(Box::new(not), a, b)
                });
                check(&k, &[], &tensors, 1).expect("defined");
            }
        }
    }
}

#[test]
fn integer_division_by_zero_does_not_trap() {
    for ty in ScalarType::ALL.into_iter().filter(|ty| ty.is_int()) {
        for op in [BinOp::Div, BinOp::Mod, BinOp::FloorDiv, BinOp::FloorMod] {
            let zeros = vec![Scalar::Int(0); 24];
            let (k, tensors) = pointwise("by zero", &[values(ty, 0), zeros], ty, ty, 1, |args| {
                let [a, b] = args.try_into().expect("two");
                bin(op, a, b)
            });
            run_native(&k, &[], &tensors);
        }
    }
}

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
        let inputs: Vec<Scalar> = values.iter().map(|&v| Scalar::Float(v.into())).collect();
        let (k, tensors) = pointwise(
            "exp",
            &[inputs],
            ScalarType::F32,
            ScalarType::F32,
            lanes,
            |args| Expr::Call(Intrin::Exp, args),
        );
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
        let inputs = values.iter().map(|&x| Scalar::Float(x.into())).collect();
        let f32 = ScalarType::F32;
        let (k, tensors) = pointwise("exp", &[inputs], f32, f32, 4, |mut args| {
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
        let inputs = cases.iter().map(|&(x, _)| Scalar::Float(x.into()));
        let (k, tensors) = pointwise(
            "exp",
            &[inputs.collect()],
            ScalarType::F32,
            ScalarType::F32,
            lanes,
            |args| Expr::Call(Intrin::Exp, args),
        );
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

/// Arguments that functions are tried at, by their bits: special ones, and one of so many others or all with `WEFTILE_EXHAUSTIVE=1`.
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

/// Calls the function with vectors of so many lanes at these arguments, by each back end, and compares the results.
fn try_function(intrin: Intrin, lanes: u16, args: &[Vec<f32>]) {
    let ulps_allowed = bound(intrin).expect("it is computed by the code itself");
    let inputs = args.iter().map(|values| {
        let mut values: Vec<_> = values.iter().map(|&v| Scalar::Float(v.into())).collect();
        values.resize(
            values.len().next_multiple_of(lanes.into()),
            Scalar::Float(1.0),
        );
        values
    });
    let f32 = ScalarType::F32;
    let inputs: Vec<Vec<Scalar>> = inputs.collect();
    let call = |args| Expr::Call(intrin, args);
    let (k, tensors) = pointwise("f", &inputs, f32, f32, lanes, call);
    let outs = run_native(&k, &[], &tensors);
    for i in 0..args[0].len() {
        let of: Vec<Scalar> = args.iter().map(|a| Scalar::Float(a[i].into())).collect();
        let want = eval_intrin(intrin, ScalarType::F64, &of);
        let want = want.expect("a float").as_float();
        for (backend, tensors) in &outs {
            let got = tensors[args.len()].as_slice::<f32>().expect("f32")[i];
            if got.is_nan() && want.is_nan() {
                continue;
            }
            let same_sign = got.is_sign_negative() == want.is_sign_negative();
            let exact = want == 0.0 || (want as f32).is_infinite();
            let off = match exact {
                true if same_sign && got == want as f32 => 0.0,
                true => f64::INFINITY,
                false => ulps(got, want),
            };
            let (intrin, backend) = (intrin.name(), backend.name());
            assert!(
                off <= ulps_allowed,
                "{intrin}{of:?} x{lanes} by {backend}: {got}, not {want}: {off}"
            );
        }
    }
}

#[test]
fn functions_are_exact_to_their_bounds() {
    const AT_ONCE: usize = 1 << 20;
    let lanes: &[u16] = match is_exhaustive() {
        true => &[16],
        false => &[1, 6, 16],
    };
    let blocks = arguments();
    let next = std::sync::atomic::AtomicUsize::new(0);
    let try_blocks = || {
        while let Some(block) = blocks.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
        {
            let values: Vec<f32> = block.clone().map(f32::from_bits).collect();
            for intrin in Intrin::ALL {
                if bound(intrin).is_none() || intrin.arity() != 1 {
                    continue;
                }
                for (values, &lanes) in values
                    .chunks(AT_ONCE)
                    .flat_map(|v| lanes.iter().map(move |l| (v, l)))
                {
                    try_function(intrin, lanes, &[values.to_vec()]);
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
    for lanes in [1, 6, 16] {
        try_function(Intrin::Pow, lanes, &[xs.clone(), ys.clone()]);
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
    try_function(Intrin::Pow, 16, &[xs, ys]);
}

/// A condition of any lane that is no comparison as it is: of what is left of one, in whatever register.
#[test]
fn any_lane_that_a_comparison_leaves() {
    let f32 = ScalarType::F32;
    for lanes in [2, 4, 8, 16] {
        let values = [-1.0, f64::from(lanes) - 0.5].into_iter();
        let values: Vec<f64> = values
            .flat_map(|add| (0..lanes).map(move |at| add - f64::from(at)))
            .collect();
        let inputs = values.iter().map(|&x| Scalar::Float(x)).collect();
        let (k, tensors) = pointwise("any", &[inputs], f32, f32, lanes, |args| {
            let number = |x| Expr::Splat(Box::new(Expr::Float(x, f32)), lanes);
            let less = Expr::Binary(BinOp::Lt, Box::new(args[0].clone()), Box::new(number(0.0)));
            let any = Expr::Any(Box::new(Expr::Not(Box::new(less))));
            Expr::Select(Box::new(any), Box::new(number(1.0)), Box::new(number(2.0)))
        });
        let want = values.chunks(lanes.into()).flat_map(|vector| {
            let any = vector.iter().any(|&x| x >= 0.0);
            vec![if any { 1.0 } else { 2.0 }; vector.len()]
        });
        let want: Vec<f32> = want.collect();
        for (backend, tensors) in run_native(&k, &[], &tensors) {
            let got = tensors[1].as_slice::<f32>().expect("f32");
            assert_eq!(got, want, "x{lanes} by {}", backend.name());
        }
    }
}
