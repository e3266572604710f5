//! Copies of loop programs.

use super::*;
use crate::ir::{Func, Module, alpha_eq, verify};
use crate::script;
use crate::tensor::DType;

fn parsed(text: &str) -> Vec<PrimFunc> {
    let module = script::parse("test.py", text).unwrap_or_else(|e| panic!("{e}"));
    module.prim_funcs().map(|(_, func)| func.clone()).collect()
}

fn assert_is(func: &PrimFunc, expected: &PrimFunc) {
    verify::prim_func(func).expect("well formed");
    if alpha_eq::prim_func(expected, func).is_err() {
        let mut module = Module::default();
        module.funcs.insert("got".into(), Func::Prim(func.clone()));
        panic!("{}", script::print(&module));
    }
}

/// A sum of rows with an init of its own loop, an if, a let, an allocation and a view; then the same with `n = 4`.
const SUMS: &str = r#"
@I.ir_module
class Module:
    @T.prim_func
    def sums(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n, n * T.int64(2)), "float32")
        Y = T.match_buffer(y, (n,), "float32")
        S = T.alloc_buffer((n,), "float32")
        for i, k in T.grid(n, n * T.int64(2)):
            with T.block("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    S[vi] = T.float32(0)
                S[vi] = S[vi] + X[vi, vk]
        for i in range(n):
            with T.block("Y"):
                vi = T.axis.spatial(n, i)
                V = T.match_buffer(S[vi:vi + T.int64(1)], (T.int64(1),), "float32", offset_factor=1)
                if vi < n - T.int64(1):
                    Y[vi] = V[T.int64(0)]
                else:
                    Y[vi] = T.float32(0)

    @T.prim_func
    def sums_4(X: T.Buffer((T.int64(4), T.int64(8)), "float32"), Y: T.Buffer((T.int64(4),), "float32")):
        S = T.alloc_buffer((T.int64(4),), "float32")
        for i, k in T.grid(T.int64(4), T.int64(8)):
            with T.block("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    S[vi] = T.float32(0)
                S[vi] = S[vi] + X[vi, vk]
        for i in range(T.int64(4)):
            with T.block("Y"):
                vi = T.axis.spatial(T.int64(4), i)
                V = T.match_buffer(S[vi:vi + T.int64(1)], (T.int64(1),), "float32", offset_factor=1)
                if vi < T.int64(3):
                    Y[vi] = V[T.int64(0)]
                else:
                    Y[vi] = T.float32(0)
"#;

fn dim(func: &PrimFunc) -> Var {
    let buffer = func.buffer_params().next().expect("a buffer");
    buffer.shape()[0].as_var().expect("a dim").clone()
}

#[test]
fn a_variable_is_replaced_everywhere() {
    let [sums, sums_4] = &parsed(SUMS)[..] else {
        panic!("two functions")
    };
    let analyzer = crate::arith::Analyzer::new();
    let mut four = Substitution::new(Definitions::Kept).then(|e| analyzer.simplify(e));
    four.set_var(&dim(sums), 4i64);
    let mut got = sums.map(&mut four);
    got.name = "sums_4".into();
    assert_is(&got, sums_4);
}

#[test]
fn a_fresh_copy_shares_nothing_but_dims() {
    let funcs = parsed(SUMS);
    let copy = funcs[0].map(&mut Substitution::new(Definitions::Fresh));
    assert_is(&copy, &funcs[0]);
    for (id, l) in copy.loops.iter() {
        assert_ne!(l.var, funcs[0].loops[id].var);
    }
    let original: Vec<_> = funcs[0].buffer_params().collect();
    assert!(
        copy.buffer_params()
            .all(|buffer| !original.contains(&buffer))
    );
    assert_eq!(dim(&copy), dim(&funcs[0]));
}

#[test]
fn a_function_is_imported_twice() {
    let text = r#"
@I.ir_module
class Module:
    @T.prim_func
    def double(X: T.Buffer((T.int64(8),), "float32"), Y: T.Buffer((T.int64(8),), "float32")):
        U = T.alloc_buffer((T.int64(8),), "float32")
        for i in range(T.int64(8)):
            with T.block("U"):
                vi = T.axis.spatial(T.int64(8), i)
                U[vi] = X[vi]
        for i in range(T.int64(8)):
            with T.block("Y"):
                vi = T.axis.spatial(T.int64(8), i)
                Y[vi] = U[vi] * T.float32(2)

    @T.prim_func
    def twice(X: T.Buffer((T.int64(8),), "float32"), Y: T.Buffer((T.int64(8),), "float32")):
        M = T.alloc_buffer((T.int64(8),), "float32")
        U = T.alloc_buffer((T.int64(8),), "float32")
        U_1 = T.alloc_buffer((T.int64(8),), "float32")
        for i in range(T.int64(8)):
            with T.block("U"):
                vi = T.axis.spatial(T.int64(8), i)
                U[vi] = X[vi]
        for i in range(T.int64(8)):
            with T.block("Y"):
                vi = T.axis.spatial(T.int64(8), i)
                M[vi] = U[vi] * T.float32(2)
        for i in range(T.int64(8)):
            with T.block("U_1"):
                vi = T.axis.spatial(T.int64(8), i)
                U_1[vi] = M[vi]
        for i in range(T.int64(8)):
            with T.block("Y_1"):
                vi = T.axis.spatial(T.int64(8), i)
                Y[vi] = U_1[vi] * T.float32(2)
"#;
    let [double, expected] = &parsed(text)[..] else {
        panic!("two functions")
    };
    let buffer = |name| Buffer::new(name, vec![Expr::i64(8)], DType::F32);
    let [x, m, y] = ["X", "M", "Y"].map(buffer);
    let params = [&x, &y].map(Param::of_buffer);
    let mut twice = PrimFunc::new("twice", params.into());
    twice.blocks[twice.root].alloc_buffers.push(m.clone());
    for (from, to) in [(&x, &m), (&m, &y)] {
        let mut r = Substitution::new(Definitions::Fresh);
        for (param, with) in double.buffer_params().zip([from, to]) {
            r.set_buffer(param, with);
        }
        let ids = twice.import(double, twice.root, &mut r);
        assert_eq!(ids.block_id(double.root), Some(twice.root));
    }
    assert_is(&twice, expected);
}
