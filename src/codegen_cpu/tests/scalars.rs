//! Every operator, intrinsic and conversion on every type, as scalars and as vectors.

use super::{check, run_native, tensor};
use crate::kernel::testing::build::*;
use crate::kernel::{Expr, Kernel, Ty};
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

/// [`elementwise`] on scalars, which become elements of type `from`.
fn pointwise(
    name: &str,
    inputs: &[Vec<Scalar>],
    from: ScalarType,
    to: ScalarType,
    lanes: u16,
    f: impl Fn(Vec<Expr>) -> Expr,
) -> (Kernel, Vec<Tensor>) {
    let inputs = inputs.iter().map(|values| tensor(from, values)).collect();
    elementwise(name, inputs, to, lanes, f)
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
