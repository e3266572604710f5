//! Accesses of which the first lanes are active alone.

use super::build::*;
use super::programs::floats;
use super::{check, tensor};
use crate::codegen_common::opt::optimize;
use crate::kernel::{Access, Expr, ForKind, Kernel, Stmt};
use crate::tensor::ScalarType::{self, BF16, Bool, F16, F32, F64, I8, I16, I32, U8, U16, U32, U64};
use crate::tensor::scalar::{BinOp, Scalar};

/// The expression or statement with so many active lanes.
fn first_of(active: Expr, access: Expr) -> Expr {
    match access {
        Expr::Load {
            array,
            index,
            lanes,
            active: _,
        } => Expr::Load {
            array,
            index,
            lanes,
            active: Some(Box::new(active)),
        },
        other => other,
    }
}

fn first_stored(count: Expr, access: Stmt) -> Stmt {
    match access {
        Stmt::Store {
            array,
            index,
            value,
            active: _,
        } => Stmt::Store {
            array,
            index,
            value,
            active: Some(count),
        },
        other => other,
    }
}

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

/// `c[j] += a[k] * b[k, j]` with `j` in vectors, the last of which is partly there.
fn product() -> Kernel {
    let mut k = kernel("product");
    let (a, b) = (k.global(F32, Access::Read), k.global(F32, Access::Read));
    let c = k.global(F32, Access::ReadWrite);
    let (n, depth) = (k.dim("n"), k.dim("k"));
    let (j, i) = (k.var("j", I64), k.var("i", I64));
    let at = || mul(v(j), int(16));
    let left = || bin(BinOp::Sub, v(n), at());
    let row = add(mul(v(i), v(n)), at());
    let sum = add(
        first_of(left(), load(c, at(), 16)),
        mul(
            Expr::Splat(Box::new(load(a, v(i), 1)), 16),
            first_of(left(), load(b, row, 16)),
        ),
    );
    let update = first_stored(left(), store(c, at(), sum));
    let tiles = bin(BinOp::Div, add(v(n), int(15)), int(16));
    k.body = vec![for_(j, tiles, vec![for_(i, v(depth), vec![update])])];
    k
}

#[test]
fn sums_of_active_lanes_stay_in_registers() {
    let k = product();
    for (n, depth) in [(1, 1), (15, 3), (16, 40), (37, 5), (64, 0)] {
        let tensors = [floats(depth, 1), floats(n * depth, 2), floats(n, 3)];
        check(&k, &[n as i64, depth as i64], &tensors, depth).expect("defined");
    }
    let optimized = optimize(&k, 32);
    let mut stores = 0;
    for stmt in &optimized.body {
        stmt.walk(&mut |stmt| {
            if let Stmt::For {
                body,
                kind: ForKind::Serial,
                ..
            } = stmt
                && let [Stmt::Store { array, active, .. }] = body.as_slice()
            {
                stores += 1;
                let local = optimized.arrays[*array].space == crate::kernel::Space::Local;
                assert!(local && active.is_none(), "{:#?}", optimized.body);
            }
        });
    }
    assert!(stores > 0);
}

/// `c[r, j] += a[r, k] * b[k, j]` for some rows of ten columns: vectors of sixteen lanes, of which ten are active.
fn short_rows(rows: i64) -> Kernel {
    let mut k = kernel("short_rows");
    let (a, b) = (k.global(F32, Access::Read), k.global(F32, Access::Read));
    let c = k.global(F32, Access::ReadWrite);
    let depth = k.dim("k");
    let i = k.var("i", I64);
    let of_row = |r: i64| {
        let weight = first_of(int(10), load(b, mul(v(i), int(16)), 16));
        let factor = load(a, add(mul(int(r), v(depth)), v(i)), 1);
        let product = mul(Expr::Splat(Box::new(factor), 16), weight);
        let sum = add(first_of(int(10), load(c, int(10 * r), 16)), product);
        first_stored(int(10), store(c, int(10 * r), sum))
    };
    k.body = vec![for_(i, v(depth), (0..rows).map(of_row).collect())];
    k
}

#[test]
fn rows_next_to_each_other_stay_in_registers() {
    let k = short_rows(3);
    for depth in [0, 1, 7] {
        let tensors = [floats(3 * depth, 1), floats(16 * depth, 2), floats(30, 3)];
        check(&k, &[depth as i64], &tensors, depth).expect("defined");
    }
    let optimized = optimize(&k, 64);
    let mut rows = 0;
    for stmt in &optimized.body {
        stmt.walk(&mut |stmt| {
            if let Stmt::For { body, .. } = stmt {
                rows += body.len();
                let local = |s: &Stmt| matches!(s, Stmt::Store { array, .. } if optimized.arrays[*array].space == crate::kernel::Space::Local);
                assert!(body.iter().all(local), "{:#?}", optimized.body);
            }
        });
    }
    assert_eq!(rows, 3);
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
