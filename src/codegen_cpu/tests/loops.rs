//! The rewrites of loops keep their meaning, and do what they are for.

use super::check;
use super::programs::floats;
use crate::codegen_common::expand::expand;
use crate::kernel::testing::build::*;
use crate::kernel::{Access, Expr, ForKind, Kernel, Stmt};
use crate::tensor::ScalarType;
use crate::tensor::scalar::{BinOp, Intrin};

const F32: ScalarType = ScalarType::F32;

fn guarded(cond: Expr, then: Vec<Stmt>) -> Stmt {
    Stmt::If {
        cond,
        then,
        otherwise: vec![],
    }
}

fn lt(a: Expr, b: Expr) -> Expr {
    bin(BinOp::Lt, a, b)
}

/// `y[j] (op)= sum over k of term(x[k], w[j, k])`, with `j` in tiles of 4, the last of which is guarded, and sums in local arrays.
fn gemv(op: BinOp, term: impl Fn(Expr, Expr) -> Expr) -> Kernel {
    let mut k = kernel("gemv");
    let (x, w) = (k.global(F32, Access::Read), k.global(F32, Access::Read));
    let y = k.global(F32, Access::ReadWrite);
    let (n, depth) = (k.dim("n"), k.dim("k"));
    let (j, at) = (k.var("j", I64), k.var("k", I64));
    let mut column = |c: i64| {
        let col = add(mul(v(j), int(4)), int(c));
        let value = term(
            load(x, v(at), 1),
            load(w, add(mul(col.clone(), v(depth)), v(at)), 1),
        );
        let so_far = k.local(F32, 1);
        let sum = bin(op, load(so_far, int(0), 1), value);
        let sums = simd_reduction(at, v(depth), vec![store(so_far, int(0), sum)]);
        let before = store(so_far, int(0), load(y, col.clone(), 1));
        let after = store(y, col.clone(), load(so_far, int(0), 1));
        guarded(lt(col, v(n)), vec![before, sums, after])
    };
    let columns = (0..4).map(&mut column).collect();
    let tiles = bin(BinOp::Div, add(v(n), int(3)), int(4));
    k.body = vec![for_(j, tiles, columns)];
    k
}

/// `y[j] (op)= sum over k of term(x[k], w[j, k])`, with `j` in tiles of 4 and `k` in tiles of 16, tails by conditions.
fn guarded_gemv(op: BinOp, term: impl Fn(Expr, Expr) -> Expr) -> Kernel {
    let mut k = kernel("guarded_gemv");
    let (x, w) = (k.global(F32, Access::Read), k.global(F32, Access::Read));
    let y = k.global(F32, Access::ReadWrite);
    let (n, depth) = (k.dim("n"), k.dim("k"));
    let (j, k0, k1) = (k.var("j", I64), k.var("k0", I64), k.var("k1", I64));
    let at = || add(mul(v(k0), int(16)), v(k1));
    let update = |c: i64| {
        let col = add(mul(v(j), int(4)), int(c));
        let value = term(
            load(x, at(), 1),
            load(w, add(mul(col.clone(), v(depth)), at()), 1),
        );
        let sum = bin(op, load(y, col.clone(), 1), value);
        let inside = bin(BinOp::And, lt(col.clone(), v(n)), lt(at(), v(depth)));
        guarded(inside, vec![store(y, col, sum)])
    };
    let tiles = |extent, size: i64| bin(BinOp::Div, add(v(extent), int(size - 1)), int(size));
    let inner = for_(k1, int(16), (0..4).map(update).collect());
    k.body = vec![for_(
        j,
        tiles(n, 4),
        vec![for_(k0, tiles(depth, 16), vec![inner])],
    )];
    k
}

#[test]
fn reductions_of_awkward_sizes() {
    let product = |a: Expr, b: Expr| mul(a, b);
    let sizes = [(0, 5), (5, 0), (1, 1), (2, 3), (4, 16), (7, 67), (13, 131)];
    for op in [BinOp::Add, BinOp::Max, BinOp::Min] {
        for k in [gemv(op, product), guarded_gemv(op, product)] {
            for (n, depth) in sizes {
                let tensors = [floats(depth, 1), floats(n * depth, 2), floats(n, 3)];
                check(&k, &[n as i64, depth as i64], &tensors, depth).expect("defined");
            }
        }
    }
}

#[test]
fn reductions_over_other_terms() {
    for (n, depth) in [(1, 1), (3, 40), (5, 100)] {
        let tensors = [floats(depth, 1), floats(n * depth, 2), floats(n, 3)];
        let k = gemv(BinOp::Add, |a, b| {
            let scaled = Expr::Call(Intrin::Exp, vec![bin(BinOp::Sub, a.clone(), b.clone())]);
            Expr::Select(
                Box::new(lt(a, b)),
                Box::new(scaled),
                Box::new(Expr::Float(0.5, F32)),
            )
        });
        check(&k, &[n as i64, depth as i64], &tensors, depth).expect("defined");
    }
}

#[test]
fn a_reduction_of_integers_and_one_against_the_grain() {
    for ty in [ScalarType::I8, ScalarType::I32, ScalarType::U16, I64] {
        for stride in [1, 3] {
            let mut k = kernel("sum");
            let (a, s) = (k.global(ty, Access::Read), k.global(ty, Access::ReadWrite));
            let n = k.dim("n");
            let i = k.var("i", I64);
            let t = k.local(ty, 1);
            let sum = add(load(t, int(0), 1), load(a, mul(v(i), int(stride)), 1));
            k.body = vec![
                store(t, int(0), load(s, int(0), 1)),
                simd_reduction(i, v(n), vec![store(t, int(0), sum)]),
                store(s, int(0), load(t, int(0), 1)),
            ];
            for n in [0i64, 1, 31, 64, 101] {
                let values: Vec<_> = (0..n * stride)
                    .map(|x| {
                        crate::tensor::scalar::Scalar::Int(crate::tensor::scalar::wrap_int(
                            x * 7 - 50,
                            ty,
                        ))
                    })
                    .collect();
                let one = super::tensor(ty, &[crate::tensor::scalar::Scalar::Int(3)]);
                check(&k, &[n], &[super::tensor(ty, &values), one], 1).expect("defined");
            }
        }
    }
}

#[test]
fn a_recurrence_is_not_a_reduction() {
    let mut k = kernel("scan");
    let (a, s) = (
        k.global(F32, Access::Read),
        k.global(F32, Access::ReadWrite),
    );
    let n = k.dim("n");
    let [i, j] = ["i", "j"].map(|name| k.var(name, I64));
    let t = k.local(F32, 64);
    // t[i + 1] = t[i] * 0.5 + a[i], and a loop whose sum is also its factor.
    let half = mul(load(t, v(i), 1), Expr::Float(0.5, F32));
    let own = mul(load(t, int(0), 1), Expr::Float(1.01, F32));
    let all = || add(v(n), int(1));
    k.body = vec![
        for_(j, all(), vec![store(t, v(j), load(s, v(j), 1))]),
        simd_reduction(
            i,
            v(n),
            vec![store(t, add(v(i), int(1)), add(half, load(a, v(i), 1)))],
        ),
        simd_reduction(
            i,
            v(n),
            vec![store(t, int(0), add(load(t, int(0), 1), own))],
        ),
        for_(j, all(), vec![store(s, v(j), load(t, v(j), 1))]),
    ];
    for n in [0usize, 1, 37] {
        check(&k, &[n as i64], &[floats(n, 1), floats(n + 1, 2)], n).expect("defined");
    }
}

#[test]
fn conditions_on_far_numbers_are_tested_as_they_are() {
    let mut k = kernel("far");
    let y = k.global(F32, Access::Write);
    let (n, i) = (k.dim("n"), k.var("i", I64));
    let far = lt(bin(BinOp::Sub, v(i), int(5)), int(i64::MAX - 2));
    let body = vec![guarded(far, vec![store(y, v(i), Expr::Float(1.0, F32))])];
    k.body = vec![for_(i, v(n), body)];
    check(&k, &[9], &[floats(9, 1)], 1).expect("defined");
}

#[test]
fn conditions_that_read_memory_stay_behind_those_that_guard_it() {
    let mut k = kernel("guarded");
    let (x, y) = (k.global(F32, Access::Read), k.global(F32, Access::Write));
    let (n, i) = (k.dim("n"), k.var("i", I64));
    let square = || mul(v(i), v(i));
    let positive = bin(BinOp::Gt, load(x, square(), 1), Expr::Float(0.0, F32));
    let write = vec![store(y, v(i), Expr::Float(1.0, F32))];
    let inside = guarded(lt(square(), v(n)), vec![guarded(positive, write)]);
    k.body = vec![for_(
        i,
        int(40),
        vec![guarded(lt(v(i), v(n)), vec![inside])],
    )];
    for stmt in &expand(&k, 16).body {
        stmt.walk_exprs(&mut |e| {
            let reads = matches!(e, Expr::Binary(BinOp::And, a, b) if a.loads() || b.loads());
            assert!(!reads, "{e:?} reads what it guards");
        });
    }
    check(&k, &[30], &[floats(30, 1), floats(40, 2)], 1).expect("defined");
}

/// No terms are added in another order unless the loop says so.
#[test]
fn a_loop_that_does_not_say_so_is_no_reduction_on_vectors() {
    let mut lanes = [1, 1];
    for (at, kind) in [ForKind::Serial, ForKind::SimdReduction]
        .into_iter()
        .enumerate()
    {
        let mut k = gemv(BinOp::Add, mul);
        each_loop(&mut k.body, &mut |own| {
            if *own == ForKind::SimdReduction {
                *own = kind;
            }
        });
        let k = expand(&k, 16);
        for stmt in &k.body {
            stmt.walk_exprs(&mut |e| lanes[at] = k.ty(e).lanes.max(lanes[at]));
        }
    }
    assert_eq!(lanes, [1, 32], "eight registers of four lanes, if at all");
}

fn each_loop(stmts: &mut [Stmt], f: &mut dyn FnMut(&mut ForKind)) {
    for s in stmts {
        match s {
            Stmt::For { body, kind, .. } => {
                f(kind);
                each_loop(body, f);
            }
            Stmt::If {
                then, otherwise, ..
            } => {
                each_loop(then, f);
                each_loop(otherwise, f);
            }
            _ => {}
        }
    }
}

/// Elements close to each other are read together, and no other element.
#[test]
fn lanes_are_picked_from_neighbours() {
    let patterns: &[&[i64]] = &[
        &[0, 2, 4, 6, 8, 10, 12, 13, 13, 13, 13, 13, 13, 13, 13, 13],
        &[0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30],
        &[30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0],
        &[15, 0, 31, 16, 8, 24, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11],
        &[0, 2, 4, 6, 8, 10, 12, 14],
        &[3, 5, 7, 9],
        &[0, 5, 7, 2],
        &[1, 0, 0, 1],
        &[0, 2, 4, 6, 8, 10, 12, 14, 16, 21, 23, 18],
        &[14, 0, 1, 3, 2, 15, 8, 7, 4, 6, 6, 5],
        &[2, 1],
        &[0, 3, 6, 9, 12, 15, 18, 21],
        &[7; 16],
        &[0, 64, 1, 2],
        &[
            0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 33, 33, 33, 33, 33, 33,
            33, 33, 33, 33, 33, 33, 33, 33, 33,
        ],
    ];
    for pattern in patterns {
        let mut k = kernel("picked");
        let (x, y) = (k.global(F32, Access::Read), k.global(F32, Access::Write));
        let i = k.var("i", I64);
        let span = pattern.iter().max().expect("lanes") + 1;
        let lane = |at: &i64| load(x, add(mul(v(i), int(span)), int(*at)), 1);
        let lanes = pattern.len() as i64;
        let value = Expr::Pack(pattern.iter().map(lane).collect());
        k.body = vec![for_(
            i,
            int(3),
            vec![store(y, mul(v(i), int(lanes)), value)],
        )];
        let (read, written) = ((3 * span) as usize, (3 * lanes) as usize);
        check(&k, &[], &[floats(read, 1), floats(written, 2)], 1).expect("defined");
    }
}
