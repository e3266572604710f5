//! Loop programs that break one rule each, and ones that break none.

use super::*;
use crate::ir::ExprKind;
use crate::ir::{BufferRegion, Loop, LoopKind, Range};
use crate::tensor::scalar::{BinOp, Intrin};

/// `for i in range(16): with block: B[i] = A[i]`, without an iter variable; `change` makes it better or worse.
fn program(change: impl FnOnce(&mut PrimFunc, LoopId, BlockId)) -> Vec<String> {
    let buffer = |name: &str| Buffer::new(name, vec![Expr::i32(16)], DType::F32);
    let (a, b) = (buffer("A"), buffer("B"));
    let param = |buffer: &Buffer| Param::Buffer {
        handle: Var::new(buffer.name(), DType::U64),
        buffer: buffer.clone(),
    };
    let mut func = PrimFunc::new("main", vec![param(&a), param(&b)]);
    let i = Var::new("i", DType::I32);
    let v = Var::new("v", DType::I32);
    let loop_id = func.loops.push(Loop {
        var: i.clone(),
        min: Expr::i32(0),
        extent: Expr::i32(16),
        kind: LoopKind::Serial,
        annotations: Default::default(),
    });
    let block = func.blocks.push(Block {
        name: "B".into(),
        iters: vec![crate::ir::IterVar {
            var: v.clone(),
            dom: Range::to(Expr::i32(16)),
            kind: crate::ir::IterKind::Spatial,
        }],
        bindings: vec![i.expr()],
        predicate: Expr::bool(true),
        reads: vec![BufferRegion::point(&a, &[v.expr()])],
        writes: vec![BufferRegion::point(&b, &[v.expr()])],
        init: None,
        alloc_buffers: vec![],
        match_buffers: vec![],
        annotations: Default::default(),
    });
    let store = Stmt::Store {
        buffer: b,
        indices: vec![v.expr()],
        value: Expr::load(&a, vec![v.expr()]),
    };
    func.tree.set_body(block, vec![store]);
    func.tree.set_body(loop_id, vec![Stmt::Block(block)]);
    func.tree.set_body(func.root, vec![Stmt::Loop(loop_id)]);
    change(&mut func, loop_id, block);
    let errors = prim_func(&func).err().unwrap_or_default();
    errors.iter().map(ToString::to_string).collect()
}

fn with_value(make: impl FnOnce(Expr, Expr, Expr) -> Expr) -> Vec<String> {
    program(|func, l, block| {
        let body = func.tree.body(block).to_vec();
        let Some(Stmt::Store {
            buffer,
            indices,
            value,
        }) = body.into_iter().next()
        else {
            panic!("the body is a store");
        };
        let value = make(value, indices[0].clone(), func.loops[l].var.expr());
        func.tree.set_body(
            block,
            vec![Stmt::Store {
                buffer,
                indices,
                value,
            }],
        );
    })
}

#[test]
fn a_right_program_passes() {
    assert_eq!(program(|_, _, _| {}), Vec::<String>::new());
}

#[test]
fn variables_must_be_defined_around_their_use() {
    let stray = Var::new("stray", DType::F32);
    assert_eq!(
        with_value(|value, _, _| value + &stray),
        ["block \"B\": variable `stray` is used where it is not defined"]
    );
    assert_eq!(
        with_value(|value, _, i| value + i.cast(DType::F32)),
        [
            "block \"B\": loop variable `i` is used inside of the block, which must bind it to an iter variable"
        ]
    );
    let twice =
        program(|func, l, block| func.blocks[block].iters[0].var = func.loops[l].var.clone());
    assert!(
        twice
            .iter()
            .any(|e| e.contains("variable `i` is defined twice")),
        "{twice:?}"
    );
}

#[test]
fn types_must_agree() {
    assert_eq!(
        with_value(|value, v, _| Expr::new(ExprKind::Binary(BinOp::Add, value, v), DType::F32)),
        ["block \"B\": `+` of float32 and int32"]
    );
    assert_eq!(
        with_value(|_, v, _| v),
        ["block \"B\": a stored value is of type int32, expected float32"]
    );
    assert_eq!(
        program(|func, _, block| func.blocks[block].predicate = Expr::i32(1)),
        ["block \"B\": a predicate is of type int32, expected bool"]
    );
}

#[test]
fn accesses_must_fit_their_buffers() {
    assert_eq!(
        with_value(|value, v, _| match value.kind() {
            ExprKind::Load(a, _) => Expr::load(a, vec![v.clone(), v]),
            _ => panic!("a load"),
        }),
        ["block \"B\": buffer `A` has 1 dimensions, 2 indices given"]
    );
    let temporary = Buffer::new("tmp", vec![Expr::i32(16)], DType::F32);
    assert_eq!(
        with_value(|_, v, _| Expr::load(&temporary, vec![v])),
        ["block \"B\": buffer `tmp` is used where it is not allocated"]
    );
}

#[test]
fn iter_variables_stay_in_their_domain() {
    let short = |func: &mut PrimFunc, block: BlockId| {
        func.blocks[block].iters[0].dom = Range::to(Expr::i32(15));
    };
    assert_eq!(
        program(|func, _, block| short(func, block)),
        [
            "block \"B\": iter variable `v` is bound to a loop from 0 to 15, its domain is from 0 to before 15"
        ]
    );
    let guarded = program(|func, l, block| {
        short(func, block);
        func.blocks[block].predicate = func.loops[l].var.expr().lt(15);
    });
    assert_eq!(guarded, Vec::<String>::new());
}

#[test]
fn the_tree_must_agree_with_itself() {
    assert_eq!(
        program(|func, _, block| func.blocks[block].bindings.clear()),
        ["block \"B\": 1 iter variables have 0 bindings"]
    );
    let dead = program(|func, _, block| {
        func.blocks.remove(block);
    });
    assert_eq!(dead, ["loop `i`: B1 is in a body but was removed"]);
}

#[test]
fn all_violations_are_collected() {
    let errors = program(|func, _, block| {
        func.blocks[block].predicate = Expr::i32(1);
        func.blocks[block].bindings.clear();
    });
    assert_eq!(errors.len(), 2);
}

#[test]
fn functions_take_arguments_of_one_type_that_they_are_defined_for() {
    let call = |intrin, args: fn(Expr, Expr) -> Vec<Expr>| {
        with_value(|value, v, _| Expr::new(ExprKind::Call(intrin, args(value, v)), DType::F32))
    };
    assert_eq!(call(Intrin::Exp, |x, _| vec![x]), [""; 0]);
    assert_eq!(
        call(Intrin::Exp, |_, v| vec![v]),
        ["block \"B\": `exp` is not defined for int32"]
    );
    assert_eq!(
        call(Intrin::Pow, |x, v| vec![x, v]),
        ["block \"B\": `pow` of float32 and int32"]
    );
    assert_eq!(
        call(Intrin::Fma, |x, _| vec![x.clone(), x]),
        ["block \"B\": `fma` takes 3 arguments, 2 given"]
    );
    assert_eq!(
        with_value(|x, _, _| Expr::binary(BinOp::BitAnd, x.clone(), x)),
        ["block \"B\": `&` is not defined for float32"]
    );
}

#[test]
fn lanes_must_agree() {
    let four = |e: Expr| Expr::broadcast(e, 4);
    let kind =
        |make: fn(Expr, Expr) -> ExprKind| with_value(|x, v, _| Expr::new(make(x, v), DType::F32));
    assert_eq!(
        kind(|x, _| ExprKind::Cast(Expr::broadcast(x, 4))),
        ["block \"B\": the operand of a cast is of type float32x4, expected float32"]
    );
    assert_eq!(
        with_value(|x, _, _| Expr::new(ExprKind::Broadcast(four(four(x)), 1), DType::F32)),
        [
            "block \"B\": the operand of a broadcast is of type float32x4, expected float32",
            "block \"B\": the operand of a broadcast is of type float32x4, expected float32"
        ]
    );
    let ramp = |base: Expr| ExprKind::Ramp {
        stride: base.clone(),
        base,
        lanes: 1,
    };
    assert_eq!(
        with_value(|x, _, _| Expr::new(ramp(x), DType::F32)),
        [
            "block \"B\": the base of a ramp is of type float32, expected an integer scalar",
            "block \"B\": the stride of a ramp is of type float32, expected an integer scalar"
        ]
    );
}

#[test]
fn only_the_last_index_may_be_a_vector() {
    let matrix = Buffer::new("M", vec![Expr::i32(16), Expr::i32(16)], DType::F32);
    let load = |at: Vec<Expr>| {
        program(|func, _, block| {
            let value = Expr::load(&matrix, at);
            func.blocks[block].alloc_buffers.push(matrix.clone());
            func.tree.set_body(block, vec![Stmt::Evaluate(value)]);
        })
    };
    let vector = Expr::ramp(Expr::i32(0), Expr::i32(1), 4);
    assert_eq!(load(vec![Expr::i32(0), vector.clone()]), [""; 0]);
    assert_eq!(
        load(vec![vector, Expr::i32(0)]),
        ["block \"B\": an index before the last is of type int32x4, expected an integer scalar"]
    );
}
