//! Inference of calls of functions.

use super::*;
use crate::ir::graph::GraphBuilder;
use crate::tensor::DType;

#[test]
fn a_call_binds_the_symbolic_variables_of_the_callee() {
    let n = Var::new("n", DType::I64);
    let of_n = |dim: Expr| StructInfo::tensor(vec![dim], DType::F32);
    let signature = StructInfo::Callable {
        params: Some(vec![of_n(n.expr())]),
        ret: Box::new(of_n(n.expr() + 1)),
        pure: true,
    };
    let globals = Globals::new([("f".to_owned(), signature)].into_iter().collect());
    let mut b = GraphBuilder::in_module("g", globals);
    let m = Var::new("m", DType::I64);
    let x = b.param("x", of_n(m.expr()));
    let call = |args| Def::Call {
        callee: Callee::Global("f".into()),
        args,
        attrs: Attrs::new(),
        sinfo_args: vec![],
    };
    assert_eq!(b.infer(&call(vec![Arg::Value(x)])), Ok(of_n(m.expr() + 1)));
    assert!(matches!(
        b.infer(&call(vec![])),
        Err(InferError::ArgumentCount {
            expected: 1,
            got: 0,
            ..
        })
    ));
}
