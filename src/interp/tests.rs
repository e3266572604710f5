//! Loop programs built by hand, so that the oracle stands without the parser.

use super::*;
use crate::ir::{
    Block, Buffer, BufferRegion, Expr, IterKind, IterVar, Loop, LoopKind, Param, PrimFunc, Range,
    Stmt, Var,
};
use crate::tensor::{DType, Tensor};

fn param(buffer: &Buffer) -> Param {
    Param::Buffer {
        handle: Var::new(buffer.name().to_lowercase(), DType::I64),
        buffer: buffer.clone(),
    }
}

/// `C[i] = sum_k A[i, k]` over symbolic `n`, `m`; `shift` is added to the index of `A`.
fn row_sum(shift: i64) -> PrimFunc {
    let (n, m) = (Var::new("n", DType::I64), Var::new("m", DType::I64));
    let a = Buffer::new("A", vec![n.expr(), m.expr()], DType::F32);
    let c = Buffer::new("C", vec![n.expr()], DType::F32);
    let mut func = PrimFunc::new("row_sum", vec![param(&a), param(&c)]);
    let (i, k) = (Var::new("i", DType::I64), Var::new("k", DType::I64));
    let (vi, vk) = (Var::new("vi", DType::I64), Var::new("vk", DType::I64));
    let element = Expr::load(&a, vec![vi.expr(), vk.expr() + shift]);
    let sum = Expr::load(&c, vec![vi.expr()]) + element;
    let iter = |var: &Var, extent: &Var, kind| IterVar {
        var: var.clone(),
        dom: Range::to(extent.expr()),
        kind,
    };
    let store = |value| Stmt::Store {
        buffer: c.clone(),
        indices: vec![vi.expr()],
        value,
    };
    let block = func.blocks.push(Block {
        name: "C".into(),
        iters: vec![
            iter(&vi, &n, IterKind::Spatial),
            iter(&vk, &m, IterKind::Reduce),
        ],
        bindings: vec![i.expr(), k.expr()],
        predicate: Expr::bool(true),
        reads: vec![BufferRegion::full(&a)],
        writes: vec![BufferRegion::point(&c, &[vi.expr()])],
        init: Some(vec![store(Expr::float(0.0, DType::F32))]),
        alloc_buffers: vec![],
        match_buffers: vec![],
        annotations: Default::default(),
    });
    func.tree.set_body(block, vec![store(sum)]);
    let mut inner = Stmt::Block(block);
    for (var, extent) in [(k, m), (i, n)] {
        let l = func.loops.push(Loop {
            var,
            min: Expr::i64(0),
            extent: extent.expr(),
            kind: LoopKind::Serial,
            annotations: Default::default(),
        });
        func.tree.set_body(l, vec![inner]);
        inner = Stmt::Loop(l);
    }
    func.tree.set_body(func.root, vec![inner]);
    func
}

#[test]
fn a_reduction_starts_from_its_init() {
    let a = Tensor::from_slice(&[2, 3], &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]).expect("six");
    let mut args = [a, Tensor::from_slice(&[2], &[f32::NAN; 2]).expect("two")];
    run_prim_func(&row_sum(0), &mut args).expect("runs");
    assert_eq!(args[1].as_slice::<f32>().expect("f32"), [6.0, 15.0]);
}

#[test]
fn indices_and_shapes_are_checked() {
    let zeros = |shape: &[usize]| Tensor::zeros(DType::F32, shape).expect("small");
    let error = run_prim_func(&row_sum(1), &mut [zeros(&[2, 3]), zeros(&[2])])
        .expect_err("reads past the row");
    assert_eq!(
        *error.root(),
        InterpError::OutOfRange {
            buffer: "A".into(),
            dim: 1,
            index: 3,
            extent: 3
        }
    );
    let error =
        run_prim_func(&row_sum(0), &mut [zeros(&[2, 3]), zeros(&[4])]).expect_err("n is 2 and 4");
    assert_eq!(
        error.to_string(),
        "`C` of `row_sum`, dimension 0: expected 2, got 4"
    );
    run_prim_func(&row_sum(0), &mut [zeros(&[0, 3]), zeros(&[0])]).expect("no rows, no work");
}
