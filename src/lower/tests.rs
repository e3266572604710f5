//! Scheduled programs and the kernels that they become.

use super::*;
use crate::ir::{
    Attrs, Block, Buffer, BufferRegion, Expr, IterKind, IterVar, Loop, LoopId, LoopKind, Param,
    PrimFunc, Range, Stmt, ThreadAxis, Var,
};
use crate::kernel::{self, CpuTarget, GpuTarget, PROVED_DIMS, Space, Stmt as KStmt, Target};
use crate::tensor::DType;
use crate::tensor::scalar::BinOp;

/// Loops and one block with an iter variable for each, bound to it; `body` is given the iter variables.
struct Nested {
    name: &'static str,
    extents: Vec<Expr>,
    kinds: &'static str,
}

fn param(buffer: &Buffer) -> Param {
    Param::Buffer {
        handle: Var::new(buffer.name(), DType::I64),
        buffer: buffer.clone(),
    }
}

type Body<'a> = &'a dyn Fn(&[Expr]) -> Stmt;

fn add_block(
    func: &mut PrimFunc,
    nested: Nested,
    init: Option<Body<'_>>,
    body: Body<'_>,
) -> Vec<LoopId> {
    let vars: Vec<Var> = (0..nested.extents.len())
        .map(|i| Var::new(format!("i{i}"), DType::I64))
        .collect();
    let iters: Vec<Var> = vars
        .iter()
        .map(|v| v.renamed(format!("v{}", v.name())))
        .collect();
    let values: Vec<Expr> = iters.iter().map(Var::expr).collect();
    let block = func.blocks.push(Block {
        name: nested.name.into(),
        iters: iters
            .iter()
            .zip(&nested.extents)
            .zip(nested.kinds.chars())
            .map(|((var, extent), kind)| IterVar {
                var: var.clone(),
                dom: Range::to(extent.clone()),
                kind: if kind == 'S' {
                    IterKind::Spatial
                } else {
                    IterKind::Reduce
                },
            })
            .collect(),
        bindings: vars.iter().map(Var::expr).collect(),
        predicate: Expr::bool(true),
        reads: Vec::<BufferRegion>::new(),
        writes: vec![],
        init: init.map(|f| vec![f(&values)]),
        alloc_buffers: vec![],
        match_buffers: vec![],
        annotations: Attrs::new(),
    });
    func.tree.set_body(block, vec![body(&values)]);
    let mut inner = Stmt::Block(block);
    let mut loops = Vec::new();
    for (var, extent) in vars.into_iter().zip(nested.extents).rev() {
        let id = func.loops.push(Loop {
            var,
            min: Expr::int(0, extent.dtype()),
            extent,
            kind: LoopKind::Serial,
            annotations: Attrs::new(),
        });
        func.tree.set_body(id, vec![inner]);
        inner = Stmt::Loop(id);
        loops.push(id);
    }
    loops.reverse();
    let mut body = func.tree.take_body(func.root);
    body.push(inner);
    func.tree.set_body(func.root, body);
    loops
}

fn store(buffer: &Buffer, indices: &[Expr], value: Expr) -> Stmt {
    Stmt::Store {
        buffer: buffer.clone(),
        indices: indices.to_vec(),
        value,
    }
}

fn cpu() -> Target {
    Target::Cpu(CpuTarget {
        threads: 1,
        f32_lanes: 4,
        vector_registers: 16,
        fma: false,
        dot_bytes: false,
    })
}

fn gpu() -> Target {
    Target::Gpu(GpuTarget::default())
}

/// `linear0` of the lesson: `Y[i, j] += X[i, k] * W[j, k]`, then `Z[i, j] = Y[i, j] + B[j]`.
fn linear() -> (PrimFunc, Vec<LoopId>, Vec<LoopId>) {
    let [m, n] = ["m", "n"].map(|name| Var::new(name, DType::I64).expr());
    let one = Expr::i64(1);
    let buffer = |name: &str, shape: &[&Expr]| {
        Buffer::new(
            name,
            shape.iter().map(|e| (*e).clone()).collect(),
            DType::F32,
        )
    };
    let (x, w) = (buffer("X", &[&one, &m]), buffer("W", &[&n, &m]));
    let (b, z) = (buffer("B", &[&n]), buffer("Z", &[&one, &n]));
    let y = buffer("Y", &[&one, &n]);
    let mut func = PrimFunc::new("linear0", [&x, &w, &b, &z].map(param).to_vec());
    func.blocks[func.root].alloc_buffers.push(y.clone());
    let zero = |v: &[Expr]| store(&y, &v[..2], Expr::float(0.0, DType::F32));
    let update = |v: &[Expr]| {
        let product = Expr::load(&x, vec![v[0].clone(), v[2].clone()])
            * Expr::load(&w, vec![v[1].clone(), v[2].clone()]);
        store(&y, &v[..2], Expr::load(&y, v[..2].to_vec()) + product)
    };
    let first = add_block(
        &mut func,
        Nested {
            name: "Y",
            extents: vec![one.clone(), n.clone(), m],
            kinds: "SSR",
        },
        Some(&zero),
        &update,
    );
    let bias = |v: &[Expr]| {
        let value = Expr::load(&y, v.to_vec()) + Expr::load(&b, vec![v[1].clone()]);
        store(&z, v, value)
    };
    let second = add_block(
        &mut func,
        Nested {
            name: "Z",
            extents: vec![one, n],
            kinds: "SS",
        },
        None,
        &bias,
    );
    (func, first, second)
}

#[test]
fn the_unscheduled_linear_layer_becomes_one_serial_cpu_kernel() {
    let (func, _, _) = linear();
    let lowered = lower(&func, &cpu()).expect("lowers");
    assert_eq!(lowered.dims, ["m", "n"]);
    assert_eq!(lowered.temps.len(), 1);
    let [kernel] = lowered.kernels.as_slice() else {
        panic!("{} kernels", lowered.kernels.len());
    };
    assert_eq!(kernel.comment, "Y, Z");
    assert!(kernel.in_bounds);
    assert!(kernel.launch.is_none());
    assert_eq!(kernel.flops.eval(&[784, 128]), Ok(2 * 784 * 128 + 128));
    assert_eq!(
        lowered.params.iter().map(|p| p.written).collect::<Vec<_>>(),
        [false, false, false, true]
    );
}

#[test]
fn an_unbound_gpu_function_is_refused() {
    let (func, _, _) = linear();
    let error = lower(&func, &gpu()).expect_err("nothing is bound");
    assert!(
        error.to_string().contains("did you forget a schedule?"),
        "{error}"
    );
}

#[test]
fn each_bound_nest_is_a_kernel_and_what_they_share_a_temporary() {
    let (mut func, first, second) = linear();
    for loops in [&first, &second] {
        func.loops[loops[1]].kind = LoopKind::ThreadBinding(ThreadAxis::BlockIdxX);
    }
    let lowered = lower(&func, &gpu()).expect("lowers");
    assert_eq!(lowered.kernels.len(), 2);
    assert_eq!(lowered.temps.len(), 1);
    let grid = lowered.kernels[0]
        .launch
        .as_ref()
        .map(|l| l.grid[0].eval(&[7, 5]));
    assert_eq!(grid, Some(Ok(5)));
    assert!(lowered.kernels.iter().all(|k| k.in_bounds));
    assert!(
        lowered
            .requires
            .iter()
            .any(|r| r.what.contains("index into W"))
    );
}

#[test]
fn a_reduction_over_threads_gets_a_tree_with_barriers() {
    let (mut func, first, second) = linear();
    func.loops[second[1]].kind = LoopKind::ThreadBinding(ThreadAxis::BlockIdxX);
    func.loops[first[1]].kind = LoopKind::ThreadBinding(ThreadAxis::BlockIdxX);
    // k in 0 .. 64 by threads, a fixed number of them
    func.loops[first[2]].extent = Expr::i64(64);
    func.loops[first[2]].kind = LoopKind::ThreadBinding(ThreadAxis::ThreadIdxX);
    let lowered = lower(&func, &gpu()).expect("lowers");
    let kernel = &lowered.kernels[0];
    let shared: Vec<_> = kernel
        .arrays
        .iter()
        .filter(|(_, a)| matches!(a.space, Space::Shared))
        .map(|(_, a)| a.len.as_const())
        .collect();
    assert_eq!(shared, [Some(64)]);
    let barriers = kernel
        .body
        .iter()
        .filter(|s| matches!(s, KStmt::Barrier))
        .count();
    assert_eq!(
        barriers, 4,
        "one after the stores, one after each of three halvings"
    );
    assert_eq!(kernel.launch.as_ref().map(|l| l.block), Some([64, 1, 1]));
}

#[test]
fn proofs_are_for_factors_of_extents_that_are_not_negative() {
    let [n, m, k] = ["n", "m", "k"].map(|name| Var::new(name, DType::I64));
    let a = Buffer::new("A", vec![n.expr() * m.expr()], DType::F32);
    let params = [param(&a), Param::Scalar(k)].to_vec();
    let lowered = lower(&PrimFunc::new("f", params), &cpu());
    let lowered = lowered.expect("nothing is computed");
    assert_eq!(lowered.unproved_dim(&[2, 3, -1]), None);
    // An array of six elements, but not one that the compiler thought of.
    assert_eq!(lowered.unproved_dim(&[-2, -3, -1]), Some((0, PROVED_DIMS)));
}

#[test]
fn a_vectorized_loop_of_neighbours_is_one_access() {
    let n = Var::new("n", DType::I64).expr();
    let shape = vec![n.clone(), Expr::i64(4)];
    let (a, b) = (
        Buffer::new("A", shape.clone(), DType::F32),
        Buffer::new("B", shape, DType::F32),
    );
    let mut func = PrimFunc::new("scale", [&a, &b].map(param).to_vec());
    let double = |v: &[Expr]| {
        store(
            &b,
            v,
            Expr::load(&a, v.to_vec()) * Expr::float(2.0, DType::F32),
        )
    };
    let nested = Nested {
        name: "B",
        extents: vec![n, Expr::i64(4)],
        kinds: "SS",
    };
    let loops = add_block(&mut func, nested, None, &double);
    func.loops[loops[0]].kind = LoopKind::ThreadBinding(ThreadAxis::BlockIdxX);
    func.loops[loops[1]].kind = LoopKind::Vectorized;
    let lowered = lower(&func, &gpu()).expect("lowers");
    let kernel = &lowered.kernels[0];
    assert!(kernel.arrays.iter().all(|(_, array)| array.vector == 4));
    let [KStmt::Store { value, .. }] = kernel.body.as_slice() else {
        panic!("{:?}", kernel.body);
    };
    assert!(matches!(value, kernel::Expr::Binary(BinOp::Mul, x, _)
        if matches!(**x, kernel::Expr::Load { lanes: 4, .. })));
}

struct Simplified(crate::arith::Analyzer);

impl crate::ir::Rewrite for Simplified {
    fn expr(&mut self, e: &Expr) -> Expr {
        self.0.simplify(e)
    }
}

/// Both sides of a `T.Select` are computed, so an index of either side is within its buffer by itself.
#[test]
fn a_select_takes_no_bound_from_an_index() {
    let text = r#"
@T.prim_func
def shift(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    for i in range(16):
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            B[vi] = T.Select(vi >= 1, A[T.max(vi - 1, 0)], T.float32(0))
"#;
    let module = crate::script::parse("shift.py", text).unwrap_or_else(|e| panic!("{e}"));
    let (_, func) = module.prim_funcs().next().expect("a loop program");
    let simple = func.map(&mut Simplified(crate::arith::Analyzer::new()));
    for func in [func, &simple] {
        let lowered = lower(func, &cpu()).expect("lowers");
        assert!(lowered.kernels[0].in_bounds);
    }
}
