//! Tensor expressions as loop programs, in TVMScript.

use super::*;
use crate::ir::{Expr, PrimFunc, Var, alpha_eq};
use crate::script;
use crate::tensor::DType;
use crate::tensor::scalar::BinOp;

fn assert_same(func: &PrimFunc, expected: &str) {
    let text = format!("@I.ir_module\nclass Module:\n{expected}");
    let module = script::parse("expected.py", &text).unwrap_or_else(|e| panic!("{e}"));
    let (_, expected) = module.prim_funcs().next().expect("one function");
    if let Err(difference) = alpha_eq::prim_func(expected, func) {
        panic!("{difference}\n{}", script::print_prim_func(func).text);
    }
}

#[test]
fn a_reduction_and_what_follows_are_two_blocks() {
    let n = Var::new("n", DType::I64);
    let a = placeholder("A", [n.expr(), Expr::i64(64)], DType::F32);
    let b = placeholder("B", [64, 32], DType::F32);
    let k = reduce_axis("k", 64);
    let c = compute("C", [n.expr(), Expr::i64(32)], |i| {
        sum(a.at([&i[0], &k.expr()]) * b.at([&k.expr(), &i[1]]), [&k])
    });
    let relu = compute("relu", c.shape().to_vec(), |i| max(c.at(i), 0));
    let func = create_prim_func("main", &[a, b, relu]).expect("all is given");
    assert_same(
        &func,
        r#"
    @T.prim_func
    def main(a: T.handle, B: T.Buffer((64, 32), "float32"), r: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n, 64), "float32")
        relu = T.match_buffer(r, (n, 32), "float32")
        C = T.alloc_buffer((n, 32))
        for i0, i1, k in T.grid(n, T.int64(32), T.int64(64)):
            with T.block("C"):
                v_i0, v_i1, v_k = T.axis.remap("SSR", [i0, i1, k])
                with T.init():
                    C[v_i0, v_i1] = T.float32(0)
                C[v_i0, v_i1] = C[v_i0, v_i1] + A[v_i0, v_k] * B[v_k, v_i1]
        for i0, i1 in T.grid(n, T.int64(32)):
            with T.block("relu"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                relu[v_i0, v_i1] = T.max(C[v_i0, v_i1], T.float32(0))
"#,
    );
}

#[test]
fn a_reducer_of_two_values_stores_both_after_it_has_read_both() {
    let x = placeholder("X", [8], DType::F32);
    let k = reduce_axis("k", 8);
    let better = |a: &[Expr], b: &[Expr]| {
        let keep = Expr::binary(BinOp::Ge, &a[1], &b[1]);
        let pick = |at: usize| Expr::select(keep.clone(), a[at].clone(), b[at].clone());
        vec![pick(0), pick(1)]
    };
    let argmax = comm_reducer(better, |t| vec![Expr::constant(-1, t[0]), lowest(t[1])]);
    let results = compute_all("argmax", Vec::<Expr>::new(), |_| {
        argmax.over(vec![k.expr(), x.at([&k])], [&k])
    });
    let [position, value] = results.as_slice() else {
        panic!("two values");
    };
    let both = create_prim_func("main", &[x.clone(), position.clone(), value.clone()]);
    let func = both.expect("all is given");
    assert_eq!(func.params.len(), 3);
    // The value alone is a temporary if only the position is asked for.
    let func = create_prim_func("main", &[x, position.clone()]).expect("all is given");
    assert_eq!(func.blocks[func.root].alloc_buffers.len(), 1);
}

#[test]
fn placeholders_must_be_given() {
    let x = placeholder("X", [4], DType::F32);
    let y = compute("Y", [4], |i| x.at(i) + x.at(i));
    let missing = create_prim_func("main", std::slice::from_ref(&y)).expect_err("X is missing");
    assert_eq!(
        missing.to_string(),
        "placeholder `X` is read, and is no parameter"
    );
    let twice = create_prim_func("main", &[x.clone(), x, y]).expect_err("X twice");
    assert_eq!(twice.to_string(), "tensor `X` is given twice");
}

#[test]
fn variables_that_no_extent_is_are_scalars() {
    let (n, m) = (Var::new("n", DType::I64), Var::new("m", DType::I64));
    let x = placeholder("X", [n.expr() * 2], DType::F32);
    let y = compute("Y", [n.expr()], |i| {
        x.at([i[0].clone() * 2]) * m.expr().cast(DType::F32)
    });
    assert_eq!(
        unbound_vars(&[x.clone(), y.clone()]),
        std::slice::from_ref(&m)
    );
    let func = create_prim_func_with("main", &[x, y], &[m]).expect("all is given");
    assert_eq!(func.params.len(), 3);
}

/// Both sides compute the result, each with its own temporaries.
#[test]
fn a_choice_is_an_if_around_both_sides() {
    let n = Var::new("n", DType::I64);
    let a = placeholder("A", [n.expr()], DType::F32);
    let twice = compute("twice", [n.expr()], |i| {
        a.at(i) * Expr::float(2.0, DType::F32)
    });
    let few = compute("few", [n.expr()], |i| {
        twice.at(i) + Expr::float(1.0, DType::F32)
    });
    let many = compute("many", [n.expr()], |i| a.at(i));
    let chosen = either("chosen", n.expr().lt(16), &few, &many);
    let func = create_prim_func("main", &[a, chosen]).expect("all is given");
    assert_same(
        &func,
        r#"
    @T.prim_func
    def main(a: T.handle, c: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,), "float32")
        chosen = T.match_buffer(c, (n,), "float32")
        twice = T.alloc_buffer((n,))
        if n < T.int64(16):
            for i0 in range(n):
                with T.block("twice"):
                    v_i0 = T.axis.spatial(n, i0)
                    twice[v_i0] = A[v_i0] * T.float32(2)
            for i0 in range(n):
                with T.block("few"):
                    v_i0 = T.axis.spatial(n, i0)
                    chosen[v_i0] = twice[v_i0] + T.float32(1)
        else:
            for i0 in range(n):
                with T.block("many"):
                    v_i0 = T.axis.spatial(n, i0)
                    chosen[v_i0] = A[v_i0]
"#,
    );
}
