//! Accesses of which the first lanes are active alone.

use super::programs::floats;
use super::{check, tensor};
use crate::kernel::testing::build::*;
use crate::kernel::{Access, Expr, Kernel};
use crate::tensor::ScalarType::{self, BF16, Bool, F16, F32, F64, I8, I16, I32, U8, U16, U32, U64};
use crate::tensor::scalar::{BinOp, Scalar};

/// `y[i] = x[i] + x[i]` in vectors, the last of which is partly there: no condition, no tail.
fn doubled(dtype: ScalarType, lanes: u16) -> Kernel {
    let mut k = kernel("doubled");
    let (x, y) = (
        k.global(dtype, Access::Read),
        k.global(dtype, Access::Write),
    );
    let (n, i) = (k.dim("n"), k.var("i", I64));
    let wide = i64::from(lanes);
    let at = || mul(v(i), int(wide));
    let left = || bin(BinOp::Sub, v(n), at());
    let value = first_of(left(), load(x, at(), lanes));
    let sum = match dtype {
        Bool => value,
        _ => add(value.clone(), value),
    };
    let tiles = bin(BinOp::Div, add(v(n), int(wide - 1)), int(wide));
    k.body = vec![for_(
        i,
        tiles,
        vec![first_stored(left(), store(y, at(), sum))],
    )];
    k
}

fn numbers(dtype: ScalarType, n: usize) -> Vec<Scalar> {
    let number = |i: usize| match dtype {
        Bool => Scalar::Int(i.is_multiple_of(3).into()),
        _ if dtype.is_float() => Scalar::Float(i as f64 - 3.0),
        _ => Scalar::Int((i % 50) as i64),
    };
    (0..n).map(number).collect()
}

#[test]
fn vectors_end_where_the_array_does() {
    let types = [
        Bool, I8, U8, I16, U16, I32, U32, I64, U64, F16, BF16, F32, F64,
    ];
    for dtype in types {
        for lanes in [2, 4, 8, 16, 32] {
            let k = doubled(dtype, lanes);
            for n in [0, 1, 2, 3, 7, 16, 17, 31, 33] {
                let x = tensor(dtype, &numbers(dtype, n));
                let y = tensor(dtype, &vec![numbers(dtype, 1)[0]; n]);
                check(&k, &[n as i64], &[x, y], 1).expect("defined");
            }
        }
    }
}

#[test]
fn constant_numbers_of_active_lanes() {
    for dtype in [F32, F64, I32, I64] {
        for lanes in [2, 4, 8, 16, 32] {
            let mut k = kernel("constant");
            let (x, y) = (
                k.global(dtype, Access::Read),
                k.global(dtype, Access::Write),
            );
            // One row for each number, from one less than none to one more than all.
            for (row, count) in (-1..=i64::from(lanes) + 1).enumerate() {
                let at = || int(row as i64 * 40);
                let value = first_of(int(count), load(x, at(), lanes));
                let body = first_stored(int(count), store(y, at(), value.clone()));
                let all = store(y, int(row as i64 * 40 + 40 * 40), value);
                k.body.extend([body, all]);
            }
            let x = tensor(dtype, &numbers(dtype, 40 * 80));
            let y = tensor(dtype, &vec![numbers(dtype, 2)[1]; 40 * 80]);
            check(&k, &[], &[x, y], 1).expect("defined");
        }
    }
}

#[test]
fn no_number_of_active_lanes_touches_others() {
    for (least, dtype) in [
        (-5, F32),
        (i64::MIN, F64),
        (i64::MAX - 40, I32),
        (1 << 32, F32),
    ] {
        let mut k = kernel("any");
        let (x, y) = (
            k.global(dtype, Access::Read),
            k.global(dtype, Access::Write),
        );
        let i = k.var("i", I64);
        let count = || add(v(i), int(least));
        let at = || mul(v(i), int(8));
        let value = first_of(count(), load(x, at(), 8));
        k.body = vec![for_(
            i,
            int(20),
            vec![
                store(y, at(), value),
                // What is not active keeps its value.
                first_stored(count(), store(y, at(), load(x, int(0), 8))),
            ],
        )];
        let x = tensor(dtype, &numbers(dtype, 160));
        let y = tensor(dtype, &numbers(dtype, 160));
        check(&k, &[], &[x, y], 1).expect("defined");
    }
}

#[test]
fn active_lanes_of_memory_of_the_thread() {
    let mut k = kernel("local");
    let (x, y) = (k.global(F32, Access::Read), k.global(F32, Access::Write));
    let part = k.local(F32, 64);
    let (n, i) = (k.dim("n"), k.var("i", I64));
    let at = || mul(v(i), int(8));
    let zeros = Expr::Splat(Box::new(Expr::Float(0.0, F32)), 64);
    k.body = vec![
        store(part, int(0), zeros),
        for_(
            i,
            int(8),
            vec![first_stored(
                bin(BinOp::Sub, v(n), at()),
                store(part, at(), load(x, at(), 8)),
            )],
        ),
        store(y, int(0), load(part, int(0), 64)),
    ];
    for n in [0, 3, 8, 61, 64] {
        check(&k, &[n], &[floats(64, 1), floats(64, 2)], 1).expect("defined");
    }
}
