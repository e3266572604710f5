#![allow(unsafe_code, clippy::all, missing_docs, clippy::print_stdout)]
use std::time::Instant;
use weftile::codegen_cpu::*;
use weftile::kernel::*;
use weftile::runtime_cpu::*;
use weftile::support::Arena;
use weftile::tensor::ScalarType;
use weftile::tensor::scalar::{BinOp, Intrin};
const F32: ScalarType = ScalarType::F32;
const I64: ScalarType = ScalarType::I64;
fn int(v: i64) -> Expr {
    Expr::Int(v, I64)
}
fn v(x: VarId) -> Expr {
    Expr::Var(x)
}
fn bin(op: BinOp, a: Expr, b: Expr) -> Expr {
    Expr::Binary(op, Box::new(a), Box::new(b))
}
fn add(a: Expr, b: Expr) -> Expr {
    bin(BinOp::Add, a, b)
}
fn mul(a: Expr, b: Expr) -> Expr {
    bin(BinOp::Mul, a, b)
}
fn load(array: ArrayId, index: Expr, lanes: u16) -> Expr {
    Expr::Load {
        array,
        index: Box::new(index),
        lanes,
    }
}
fn store(array: ArrayId, index: Expr, value: Expr) -> Stmt {
    Stmt::Store {
        array,
        index,
        value,
    }
}
fn for_(var: VarId, extent: Expr, kind: ForKind, body: Vec<Stmt>) -> Stmt {
    Stmt::For {
        var,
        min: int(0),
        extent,
        kind,
        body,
    }
}
fn gemm(n: i64, mr: i64, nr: i64, kc: i64, ku: i64, iouter: bool) -> LoweredFunc {
    let mut arrays = Arena::<ArrayId, Array>::new();
    let mut vars = Arena::<VarId, VarInfo>::new();
    let mut var = |s: &str| {
        vars.push(VarInfo {
            name: s.into(),
            ty: Ty::scalar(I64),
        })
    };
    let mut arr = |i: usize, access| {
        arrays.push(Array {
            name: format!("p{i}"),
            dtype: F32,
            len: HostExpr::Const(n * n),
            space: Space::Global {
                buffer: BufferRef::Param(i),
                access,
            },
            vector: 1,
        })
    };
    let (a, b, c) = (
        arr(0, Access::Read),
        arr(1, Access::Read),
        arr(2, Access::ReadWrite),
    );
    let mut loc = |len| {
        arrays.push(Array {
            name: "l".into(),
            dtype: F32,
            len: HostExpr::Const(len),
            space: Space::Local,
            vector: 1,
        })
    };
    let (bp, acc) = (loc(kc * nr), loc(mr * nr));
    let (j0, k0, i0, k1, kp) = (var("j0"), var("k0"), var("i0"), var("k1"), var("kp"));
    let l = nr as u16;
    let crow = |r: i64| {
        add(
            mul(add(mul(v(i0), int(mr)), int(r)), int(n)),
            mul(v(j0), int(nr)),
        )
    };
    let mut tile: Vec<Stmt> = vec![];
    for r in 0..mr {
        let z = Expr::Splat(Box::new(Expr::Float(0.0, F32)), l);
        let first = bin(BinOp::Eq, v(k0), int(0));
        tile.push(store(
            acc,
            int(r * nr),
            Expr::Select(Box::new(first), Box::new(z), Box::new(load(c, crow(r), l))),
        ));
    }
    let mut body = vec![];
    for u in 0..ku {
        for r in 0..mr {
            let kk = add(mul(v(k1), int(ku)), int(u));
            let aa = load(
                a,
                add(
                    mul(add(mul(v(i0), int(mr)), int(r)), int(n)),
                    add(mul(v(k0), int(kc)), kk.clone()),
                ),
                1,
            );
            let bb = load(bp, mul(kk, int(nr)), l);
            body.push(store(
                acc,
                int(r * nr),
                Expr::Call(
                    Intrin::Fma,
                    vec![Expr::Splat(Box::new(aa), l), bb, load(acc, int(r * nr), l)],
                ),
            ));
        }
    }
    tile.push(for_(k1, int(kc / ku), ForKind::Serial, body));
    for r in 0..mr {
        tile.push(store(c, crow(r), load(acc, int(r * nr), l)));
    }
    let pack = for_(
        kp,
        int(kc),
        ForKind::Serial,
        vec![store(
            bp,
            mul(v(kp), int(nr)),
            load(
                b,
                add(
                    mul(add(mul(v(k0), int(kc)), v(kp)), int(n)),
                    mul(v(j0), int(nr)),
                ),
                l,
            ),
        )],
    );
    let body = vec![for_(
        j0,
        int(n / nr),
        ForKind::Parallel,
        vec![for_(
            k0,
            int(n / kc),
            ForKind::Serial,
            vec![pack, for_(i0, int(n / mr), ForKind::Serial, tile)],
        )],
    )];
    let kernel = Kernel {
        name: "gemm".into(),
        comment: "".into(),
        arrays,
        vars,
        scalars: vec![],
        launch: None,
        body,
        in_bounds: true,
        flops: HostExpr::Const(2 * n * n * n),
        bytes: HostExpr::Const(12 * n * n),
    };
    let _ = iouter;
    LoweredFunc {
        name: "gemm".into(),
        dims: vec![],
        params: vec![],
        scalar_params: vec![],
        temps: vec![],
        kernels: vec![kernel],
        requires: vec![],
    }
}
fn main() {
    let n = 1024usize;
    let a: Vec<f32> = (0..n * n).map(|i| (i % 17) as f32 * 0.1).collect();
    let b: Vec<f32> = (0..n * n).map(|i| (i % 13) as f32 * 0.1).collect();
    let mut c = vec![0f32; n * n];
    let one = Team::new(1);
    let two = Team::new(2);
    for (mr, nr, kc, ku) in [
        (2, 16, 256, 1),
        (2, 16, 256, 4),
        (2, 16, 1024, 2),
        (4, 8, 256, 1),
        (4, 8, 256, 4),
        (4, 8, 512, 2),
        (4, 8, 1024, 2),
        (3, 12, 256, 2),
        (3, 16, 256, 2),
        (4, 12, 256, 2),
        (6, 8, 256, 2),
    ] {
        if n % mr as usize != 0 || n % nr as usize != 0 {}
        let f = gemm(n as i64, mr, nr, kc, ku, false);
        let t = Instant::now();
        let m = CpuModule::new(&[&f], CompileOptions::default()).unwrap();
        let ct = t.elapsed();
        let mut best = [f64::MAX; 2];
        for (i, team) in [&one, &two].iter().enumerate() {
            for _ in 0..8 {
                let bufs = [
                    RawBuffer::read_only(bytemuck::cast_slice(&a)),
                    RawBuffer::read_only(bytemuck::cast_slice(&b)),
                    RawBuffer::of(bytemuck::cast_slice_mut(&mut c)),
                ];
                let t = Instant::now();
                unsafe { m.run(0, &bufs, &[], &[], team).unwrap() };
                best[i] = best[i].min(t.elapsed().as_secs_f64());
            }
        }
        let want: f32 = (0..n).map(|k| a[5 * n + k] * b[k * n + 7]).sum();
        let nn = (n / nr as usize * nr as usize) as f64
            * (n / mr as usize * mr as usize) as f64
            * n as f64
            * 2.0
            / 1e9;
        println!(
            "{mr}x{nr} kc{kc} ku{ku}: 1t {:.1} GF 2t {:.1} GF compile {ct:?} err {}",
            nn / best[0],
            nn / best[1],
            (want - c[5 * n + 7]).abs() / want
        );
    }
    if std::env::args().count() > 1 {
        println!(
            "{}",
            clif_text(&gemm(1024, 4, 8, 256, 1, false).kernels[0]).unwrap()
        );
    }
}
