//! Loops, branches, local arrays, bounds checks.

use super::{check, run_native, tensor};
use crate::codegen_cpu::CodegenError;
use crate::kernel::testing::build::*;
use crate::kernel::{Access, Expr, ForKind, Kernel, Stmt, Ty};
use crate::support::Id;
use crate::tensor::scalar::{BinOp, Scalar};
use crate::tensor::{ScalarType, Tensor};

const F32: ScalarType = ScalarType::F32;

pub(super) fn floats(n: usize, seed: u64) -> Tensor {
    let mut state = seed;
    let values: Vec<Scalar> = (0..n)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            Scalar::Float(((state >> 40) as f64 / 8_388_608.0) - 1.0)
        })
        .collect();
    tensor(F32, &values)
}

/// `C[m, n] = A[m, k] * B[k, n]` with a tile of 2 x 8 in a local array; m and n are multiples of it.
fn matmul() -> Kernel {
    let mut k = kernel("matmul");
    let (a, b) = (k.global(F32, Access::Read), k.global(F32, Access::Read));
    let c = k.global(F32, Access::Write);
    let (m, n, depth) = (k.dim("m"), k.dim("n"), k.dim("k"));
    let tile = k.local(F32, 16);
    let (i, j, p) = (k.var("i", I64), k.var("j", I64), k.var("p", I64));
    let row = |r: i64| add(mul(v(i), int(2)), int(r));
    let zero = Expr::Splat(Box::new(Expr::Float(0.0, F32)), 8);
    let mut body: Vec<Stmt> = (0..2)
        .map(|r| store(tile, int(8 * r), zero.clone()))
        .collect();
    let update = (0..2).map(|r| {
        let x = load(a, add(mul(row(r), v(depth)), v(p)), 1);
        let y = load(b, add(mul(v(p), v(n)), mul(v(j), int(8))), 8);
        let product = mul(Expr::Splat(Box::new(x), 8), y);
        store(tile, int(8 * r), add(load(tile, int(8 * r), 8), product))
    });
    body.push(for_(p, v(depth), update.collect()));
    body.extend((0..2).map(|r| {
        let at = add(mul(row(r), v(n)), mul(v(j), int(8)));
        store(c, at, load(tile, int(8 * r), 8))
    }));
    let tiles = |extent, size| bin(BinOp::Div, v(extent), int(size));
    let inner = for_(j, tiles(n, 8), body);
    k.body = vec![Stmt::For {
        var: i,
        min: int(0),
        extent: tiles(m, 2),
        kind: ForKind::Parallel,
        body: vec![inner],
    }];
    k
}

#[test]
fn a_matmul_with_a_register_tile() {
    let k = matmul();
    for (m, n, depth) in [(0, 8, 3), (2, 8, 0), (2, 8, 1), (6, 24, 17)] {
        let tensors = [
            floats((m * depth) as usize, 1),
            floats((depth * n) as usize, 2),
            floats((m * n) as usize, 3),
        ];
        check(&k, &[m, n, depth], &tensors, depth as usize).expect("defined");
    }
    let text = crate::codegen_cpu::clif_text(&k).expect("compiles");
    assert!(
        !text.contains("stack_addr"),
        "the tile is in registers:\n{text}"
    );
}

#[test]
fn local_arrays_with_variable_positions_are_on_the_stack() {
    let mut k = kernel("reverse");
    let (a, b) = (k.global(F32, Access::Read), k.global(F32, Access::Write));
    let n = k.dim("n");
    let local = k.local(F32, 64);
    let (i, j) = (k.var("i", I64), k.var("j", ScalarType::I32));
    let last = bin(BinOp::Sub, v(n), int(1));
    k.body = vec![
        for_(i, v(n), vec![store(local, v(i), load(a, v(i), 1))]),
        Stmt::For {
            var: j,
            min: Expr::Int(0, ScalarType::I32),
            extent: v(n),
            kind: ForKind::Serial,
            body: vec![store(
                b,
                Expr::Cast(Ty::scalar(I64), Box::new(v(j))),
                load(local, bin(BinOp::Sub, last, v(j).cast_i64()), 1),
            )],
        },
    ];
    for n in [0usize, 1, 63] {
        check(&k, &[n as i64], &[floats(n, 4), floats(n, 5)], 1).expect("defined");
    }
}

trait CastI64 {
    fn cast_i64(self) -> Expr;
}

impl CastI64 for Expr {
    fn cast_i64(self) -> Expr {
        Expr::Cast(Ty::scalar(I64), Box::new(self))
    }
}

#[test]
fn accesses_outside_are_harmless_if_not_proved() {
    for lanes in [1, 4, 8] {
        let mut k = kernel("shifted");
        k.in_bounds = false;
        let (a, b) = (k.global(F32, Access::Read), k.global(F32, Access::Write));
        let shift = k.dim("shift");
        let i = k.var("i", I64);
        let at = add(mul(v(i), int(lanes.into())), v(shift));
        k.body = vec![for_(
            i,
            int(16),
            vec![store(b, at.clone(), load(a, at, lanes))],
        )];
        for shift in [0, -5000, 5000, i64::MAX - 4096, i64::MIN, 4] {
            let n = 16 * usize::from(lanes);
            let tensors = [
                floats(n, 6),
                Tensor::zeros(F32.into(), &[n]).expect("small"),
            ];
            for (_, tensors) in run_native(&k, &[shift], &tensors) {
                let same = tensors[0].bytes() == tensors[1].bytes();
                assert_eq!(same, shift == 0);
            }
        }
    }
}

#[test]
fn branches_and_whiles() {
    let mut k = kernel("collatz");
    let (a, b) = (
        k.global(I64, Access::Read),
        k.global(I64, Access::ReadWrite),
    );
    let (i, state) = (k.var("i", I64), k.local(I64, 2));
    let now = || load(state, int(0), 1);
    let even = bin(BinOp::Eq, bin(BinOp::FloorMod, now(), int(2)), int(0));
    let step = Stmt::If {
        cond: even,
        then: vec![store(state, int(0), bin(BinOp::Div, now(), int(2)))],
        otherwise: vec![store(state, int(0), add(mul(now(), int(3)), int(1)))],
    };
    let count = store(state, int(1), add(load(state, int(1), 1), int(1)));
    k.body = vec![for_(
        i,
        int(9),
        vec![
            store(state, int(0), load(a, v(i), 1)),
            store(state, int(1), int(0)),
            Stmt::While {
                cond: bin(BinOp::Gt, now(), int(1)),
                body: vec![step, count],
            },
            store(b, v(i), load(state, int(1), 1)),
        ],
    )];
    let starts: Vec<Scalar> = [1, 2, 3, 27, 97, 871, 6, 7, 0].map(Scalar::Int).into();
    let tensors = [tensor(I64, &starts), tensor(I64, &starts)];
    check(&k, &[], &tensors, 1).expect("defined");
}

#[test]
fn ill_formed_kernels_are_errors() {
    let mut k = kernel("bad");
    let a = k.global(F32, Access::Write);
    let unbound = k.var("x", F32);
    for value in [
        Expr::Int(1, I64),
        v(unbound),
        Expr::ThreadIdx(0),
        add(Expr::Float(1.0, F32), Expr::Int(1, I64)),
        Expr::Lane(Box::new(Expr::Float(1.0, F32)), 3),
        Expr::Splat(Box::new(Expr::Float(1.0, F32)), 60000),
        v(Id::from_index(99)),
        load(Id::from_index(99), int(0), 1),
    ] {
        k.body = vec![store(a, int(0), value)];
        assert!(super::compile(&[&k], super::CompileOptions::default()).is_err());
    }
}

#[test]
fn variables_end_with_their_bodies() {
    let mut k = kernel("leaks");
    let (n, y) = (k.dim("n"), k.global(I64, Access::Write));
    let (inner, i) = (k.var("inner", I64), k.var("i", I64));
    let define = vec![Stmt::Let(inner, add(v(n), int(1)))];
    let bodies = [
        Stmt::If {
            cond: bin(BinOp::Lt, v(n), int(3)),
            then: define.clone(),
            otherwise: vec![],
        },
        Stmt::While {
            cond: bin(BinOp::Lt, v(n), int(3)),
            body: define.clone(),
        },
        for_(i, v(n), define),
    ];
    for body in bodies {
        for used in [v(inner), add(v(inner), int(1))] {
            k.body = vec![body.clone(), store(y, used, int(1))];
            let error = super::compile(&[&k], super::CompileOptions::default()).map(|_| ());
            assert!(
                matches!(error, Err(CodegenError::Unbound { var, .. }) if var == inner),
                "{error:?}"
            );
        }
    }
}

#[test]
fn long_chains_of_lets_compile() {
    for op in [BinOp::Add, BinOp::Mul, BinOp::Sub] {
        let mut k = kernel("chain");
        let (n, y) = (k.dim("n"), k.global(I64, Access::Write));
        let mut last = n;
        for _ in 0..3000 {
            let next = k.var("next", I64);
            k.body
                .push(Stmt::Let(next, bin(op, v(last), add(v(last), v(n)))));
            last = next;
        }
        let i = k.var("i", I64);
        k.body.push(Stmt::For {
            var: i,
            min: int(0),
            extent: add(v(last), int(3)),
            kind: ForKind::Parallel,
            body: vec![store(y, add(v(i), v(last)), v(last))],
        });
        check(&k, &[0], &[tensor(I64, &[Scalar::Int(7); 3])], 1).expect("defined");
    }
}

#[test]
fn indices_wrap_in_their_types() {
    let mut k = kernel("narrow");
    let (x, y) = (k.global(F32, Access::Read), k.global(F32, Access::Write));
    let (i, byte) = (k.var("i", I64), k.var("byte", ScalarType::U8));
    let narrow = Expr::Cast(Ty::scalar(ScalarType::U8), Box::new(v(i)));
    let next = add(v(byte), Expr::Int(1, ScalarType::U8));
    k.body = vec![for_(
        i,
        int(300),
        vec![
            Stmt::Let(byte, narrow),
            store(y, v(i), load(x, next.cast_i64(), 1)),
        ],
    )];
    check(&k, &[], &[floats(256, 4), floats(300, 5)], 1).expect("defined");
}

#[test]
fn extents_wrap_in_their_types() {
    let mut k = kernel("narrow");
    let (n, y) = (k.dim("n"), k.global(I64, Access::Write));
    let i = k.var("i", I64);
    let narrow = Expr::Cast(Ty::scalar(ScalarType::U8), Box::new(v(n)));
    k.body = vec![Stmt::For {
        var: i,
        min: int(0),
        extent: narrow.cast_i64(),
        kind: ForKind::Parallel,
        body: vec![store(y, v(i), int(1))],
    }];
    let untouched = tensor(I64, &[Scalar::Int(0); 300]);
    check(&k, &[300], &[untouched], 1).expect("defined");
}

#[test]
fn checked_accesses_share_their_spare_memory() {
    let mut k = kernel("checked");
    k.in_bounds = false;
    let (x, y) = (k.global(F32, Access::Read), k.global(F32, Access::Write));
    let copy = |at: i64, lanes| store(y, int(at), load(x, int(at), lanes));
    k.body = (0..40)
        .flat_map(|at| [copy(at, 1), copy(at, 4), copy(at, 8)])
        .collect();
    let text = crate::codegen_cpu::clif_text(&k).expect("compiles");
    assert_eq!(text.matches("explicit_slot").count(), 3);
    check(&k, &[], &[floats(30, 1), floats(30, 2)], 1).expect("defined");
}

#[test]
fn large_frames_are_grown_page_by_page() {
    const LEN: i64 = 20_000;
    let mut k = kernel("frame");
    let (x, y) = (k.global(F32, Access::Read), k.global(F32, Access::Write));
    let copy = k.local(F32, LEN);
    let (i, j) = (k.var("i", I64), k.var("j", I64));
    let last = bin(BinOp::Sub, int(LEN - 1), v(j));
    k.body = vec![
        for_(i, int(LEN), vec![store(copy, v(i), load(x, v(i), 1))]),
        for_(j, int(LEN), vec![store(y, v(j), load(copy, last, 1))]),
    ];
    let tensors = [floats(LEN as usize, 3), floats(LEN as usize, 4)];
    check(&k, &[], &tensors, 1).expect("defined");
}

#[test]
fn more_sums_than_registers_are_spilled_and_kept() {
    const SUMS: i64 = 48;
    let mut k = kernel("spilled");
    let (x, y) = (k.global(F32, Access::Read), k.global(F32, Access::Write));
    let sums = k.local(F32, 16 * SUMS);
    let (i, n) = (k.var("i", I64), k.dim("n"));
    let at = |cell: i64| int(16 * cell);
    let zero = |cell| {
        let zero = Expr::Splat(Box::new(Expr::Float(0.5, F32)), 16);
        store(sums, at(cell), zero)
    };
    let step = |cell: i64| {
        let term = load(x, add(v(i), int(cell)), 16);
        store(sums, at(cell), add(load(sums, at(cell), 16), term))
    };
    let out = |cell| store(y, at(cell), load(sums, at(cell), 16));
    k.body.extend((0..SUMS).map(zero));
    k.body.push(for_(i, v(n), (0..SUMS).map(step).collect()));
    k.body.extend((0..SUMS).map(out));
    for n in [0, 1, 9] {
        let tensors = [floats(100, 5), floats(16 * SUMS as usize, 6)];
        check(&k, &[n], &tensors, n as usize + 1).expect("defined");
    }
}
