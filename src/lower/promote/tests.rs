//! What loops do stays the same, and their accumulators leave memory.

use super::promote;
use crate::kernel::testing::build::*;
use crate::kernel::testing::eval;
use crate::kernel::{Access, Expr, HostExpr, Kernel, Space, Stmt, Ty};
use crate::tensor::ScalarType;
use crate::tensor::scalar::{BinOp, Scalar};

const F32: ScalarType = ScalarType::F32;

fn floats(n: i64) -> Vec<Scalar> {
    let number = |i: i64| Scalar::Float(((i * 37 + 11) % 64) as f64 / 8.0 - 4.0);
    (0..n).map(number).collect()
}

/// The promoted kernel.
fn promoted(kernel: &Kernel) -> Kernel {
    let mut kernel = kernel.clone();
    promote(&mut kernel);
    kernel
}

/// Runs a kernel and the promoted one on arrays of so many numbers. They leave the same bits.
fn check(kernel: &Kernel, dims: &[i64], lens: &[i64]) {
    let arrays: Vec<Vec<Scalar>> = lens.iter().map(|&len| floats(len)).collect();
    let run = |kernel: &Kernel| {
        let mut arrays = arrays.clone();
        eval::run(kernel, dims, &mut arrays).expect("defined");
        format!("{arrays:?}")
    };
    let after = promoted(kernel);
    assert_eq!(run(kernel), run(&after), "{dims:?}\n{:#?}", after.body);
}

/// Bodies of loops that hold no other loop.
fn innermost(stmts: &[Stmt]) -> Vec<&[Stmt]> {
    let mut found = vec![];
    for stmt in stmts {
        let inside: Vec<_> = stmt.nested().into_iter().flat_map(innermost).collect();
        match stmt {
            Stmt::For { body, .. } if inside.is_empty() => found.push(body.as_slice()),
            _ => found.extend(inside),
        }
    }
    found
}

/// How many stores of a body are to local arrays, all lanes of them, and how many are others.
fn stores(kernel: &Kernel, body: &[Stmt]) -> (usize, usize) {
    let (mut local, mut other) = (0, 0);
    for stmt in body {
        if let Stmt::Store { array, active, .. } = stmt {
            let is_local = kernel.arrays[*array].space == Space::Local && active.is_none();
            *(if is_local { &mut local } else { &mut other }) += 1;
        }
    }
    (local, other)
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
        check(&k, &[n, depth], &[depth, n * depth, n]);
    }
    let after = promoted(&k);
    let loops = innermost(&after.body);
    assert_eq!(loops.len(), 1);
    assert_eq!(stores(&after, loops[0]), (1, 0), "{:#?}", after.body);
}

/// `c[r, j] += a[r, k] * b[k, j]` for some rows of ten columns: vectors of sixteen lanes, of which ten are active.
#[test]
fn rows_next_to_each_other_stay_in_registers() {
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
    k.body = vec![for_(i, v(depth), (0..3).map(of_row).collect())];
    for depth in [0, 1, 7] {
        check(&k, &[depth], &[3 * depth, 16 * depth, 30]);
    }
    let after = promoted(&k);
    assert_eq!(stores(&after, innermost(&after.body)[0]), (3, 0));
}

/// `c[r, j] += a[r, k] * b[j, k]` for a tile of 2 x 3 of a matrix with `n` columns, wherever it is.
#[test]
fn rows_of_symbolic_length_are_told_apart() {
    let mut k = kernel("tile");
    let (a, b) = (k.global(F32, Access::Read), k.global(F32, Access::Read));
    let c = k.global(F32, Access::ReadWrite);
    let (n, depth) = (k.dim("n"), k.dim("k"));
    let p = k.var("p", I64);
    let mut body = vec![];
    for r in 0..2 {
        for j in 0..3 {
            let at = add(mul(v(n), int(r)), int(j));
            let x = load(a, add(mul(v(depth), int(r)), v(p)), 1);
            let y = load(b, add(mul(v(depth), int(j)), v(p)), 1);
            body.push(store(c, at.clone(), add(load(c, at, 1), mul(x, y))));
        }
    }
    k.body = vec![for_(p, v(depth), body)];
    let [n, depth] = [0, 1].map(HostExpr::Dim);
    let times = |a: &HostExpr, b: i64| HostExpr::binary(BinOp::Mul, a.clone(), HostExpr::Const(b));
    k.arrays[a].len = times(&depth, 2);
    k.arrays[b].len = times(&depth, 3);
    k.arrays[c].len = HostExpr::binary(BinOp::Add, n, HostExpr::Const(3));
    // With fewer than three columns the rows of the tile overlap.
    for (n, depth) in [(3, 50), (7, 33), (2, 10), (1, 10), (0, 9), (4, 0)] {
        check(&k, &[n, depth], &[2 * depth, 3 * depth, n + 3]);
    }
    let after = promoted(&k);
    let loops: Vec<_> = innermost(&after.body)
        .into_iter()
        .map(|body| stores(&after, body))
        .collect();
    assert_eq!(loops, [(6, 0), (0, 6)], "tested before the loop");
    // Who loads an artifact shows bounds of what the pass made: of both loops, each with a variable of its own.
    for dims in [[3, 50], [7, 33], [2, 10], [4, 0]] {
        assert!(k.stays_in_bounds(&dims) && after.stays_in_bounds(&dims));
    }
}

/// Sums of four columns, the last of which may not be there.
#[test]
fn accumulators_under_conditions_leave_memory() {
    let mut k = kernel("columns");
    let (x, w) = (k.global(F32, Access::Read), k.global(F32, Access::Read));
    let y = k.global(F32, Access::ReadWrite);
    let (n, depth) = (k.dim("n"), k.dim("k"));
    let (j, at) = (k.var("j", I64), k.var("k", I64));
    let column = |c: i64| {
        let col = add(mul(v(j), int(4)), int(c));
        let weight = load(w, add(mul(col.clone(), v(depth)), v(at)), 1);
        let sum = add(load(y, col.clone(), 1), mul(load(x, v(at), 1), weight));
        Stmt::If {
            cond: bin(BinOp::Lt, col.clone(), v(n)),
            then: vec![for_(at, v(depth), vec![store(y, col, sum)])],
            otherwise: vec![],
        }
    };
    let tiles = bin(BinOp::Div, add(v(n), int(3)), int(4));
    k.body = vec![for_(j, tiles, (0..4).map(column).collect())];
    for (n, depth) in [(0, 5), (5, 0), (1, 1), (7, 67), (13, 13)] {
        check(&k, &[n, depth], &[depth, n * depth, n]);
    }
    let after = promoted(&k);
    let loops = innermost(&after.body);
    assert_eq!(loops.len(), 4);
    assert!(loops.iter().all(|body| stores(&after, body) == (1, 0)));
}

#[test]
fn an_array_that_is_only_written_is_not_read() {
    let mut k = kernel("last");
    let (a, c) = (k.global(F32, Access::Read), k.global(F32, Access::Write));
    let n = k.dim("n");
    let i = k.var("i", I64);
    k.body = vec![for_(i, v(n), vec![store(c, int(2), load(a, v(i), 1))])];
    for n in [0, 1, 5] {
        check(&k, &[n], &[n, 4]);
    }
    let after = promoted(&k);
    assert_eq!(stores(&after, innermost(&after.body)[0]), (1, 0));
    for stmt in &after.body {
        stmt.walk_exprs(&mut |e| assert!(!matches!(e, Expr::Load { array, .. } if *array == c)));
    }
}

/// A recurrence goes through memory, as does a sum whose element other iterations read.
#[test]
fn elements_that_iterations_share_stay_in_memory() {
    let mut k = kernel("scan");
    let (a, s) = (
        k.global(F32, Access::Read),
        k.global(F32, Access::ReadWrite),
    );
    let n = k.dim("n");
    let (i, j) = (k.var("i", I64), k.var("j", I64));
    let sum = add(load(s, v(i), 1), load(a, v(i), 1));
    let first = add(load(s, int(0), 1), load(s, v(j), 1));
    k.body = vec![
        for_(i, v(n), vec![store(s, add(v(i), int(1)), sum)]),
        for_(j, v(n), vec![store(s, int(0), first)]),
    ];
    for n in [0, 1, 9] {
        check(&k, &[n], &[n, n + 1]);
    }
    assert_eq!(promoted(&k).body, k.body);
}

/// The number of iterations is an element of an array that the loop writes.
#[test]
fn a_loop_that_changes_its_length_is_left() {
    let mut k = kernel("counted");
    let (c, lens) = (
        k.global(F32, Access::ReadWrite),
        k.global(I64, Access::ReadWrite),
    );
    let i = k.var("i", I64);
    let sum = add(load(c, int(0), 1), Expr::Float(1.0, F32));
    let body = vec![store(c, int(0), sum), store(lens, v(i), int(0))];
    k.body = vec![for_(i, load(lens, int(0), 1), body)];
    assert_eq!(promoted(&k).body, k.body);
}

/// `a + b` as `int32` may be another number than as `int64`, so both indices are not the same for all dims that a launch may have.
#[test]
fn numbers_that_may_wrap_are_looked_through_by_nothing() {
    let mut k = kernel("narrow");
    let (x, c) = (
        k.global(F32, Access::Read),
        k.global(F32, Access::ReadWrite),
    );
    let (n, i) = (k.dim("n"), k.var("i", I64));
    let [a, b] = ["a", "b"].map(|name| k.var(name, ScalarType::I32));
    let wide = |e: Expr| Expr::Cast(Ty::scalar(I64), Box::new(e));
    let narrow = |e: Expr| Expr::Cast(Ty::scalar(ScalarType::I32), Box::new(e));
    let once = wide(add(v(a), v(b)));
    let twice = add(wide(v(a)), wide(v(b)));
    let sum = add(load(c, once, 1), load(x, v(i), 1));
    k.body = vec![
        Stmt::Let(a, narrow(v(n))),
        Stmt::Let(b, narrow(int(1))),
        for_(i, v(n), vec![store(c, twice, sum)]),
    ];
    let after = promoted(&k);
    let tested = matches!(after.body.last(), Some(Stmt::If { .. }));
    assert!(tested, "{:#?}", after.body);
    check(&k, &[5], &[5, 7]);
}
