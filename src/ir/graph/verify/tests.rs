//! One ill-formed function for each rule.

use super::*;
use crate::ir::Attrs;
use crate::ir::graph::infer::InferError;
use crate::ir::graph::{DpsCallee, GraphBuilder};

fn tensor(dims: &[i64]) -> StructInfo {
    StructInfo::tensor(dims.iter().map(|&d| Expr::i64(d)).collect(), DType::F32)
}

fn kinds(func: &Function) -> Vec<GraphErrorKind> {
    let errors = verify_function(func, &Globals::default());
    errors.into_iter().map(|e| e.kind).collect()
}

fn name(text: &str) -> GraphErrorKind {
    GraphErrorKind::NotDefined { name: text.into() }
}

/// `main(x)` with one dataflow block that binds `y` and `z = y`, and outputs `z`.
fn two_bindings() -> (Function, ValueId, ValueId, ValueId) {
    let mut b = GraphBuilder::new("main");
    let x = b.param("x", tensor(&[2, 3]));
    b.begin_dataflow();
    let y = b
        .op(
            "y",
            crate::ops::op("exp"),
            vec![Arg::Value(x)],
            Attrs::new(),
        )
        .expect("a tensor");
    let z = b
        .op(
            "z",
            crate::ops::op("tanh"),
            vec![Arg::Value(y)],
            Attrs::new(),
        )
        .expect("a tensor");
    b.end_dataflow(vec![z]);
    (b.finish(Arg::Value(z)), x, y, z)
}

#[test]
fn a_good_function_has_no_errors() {
    assert_eq!(kinds(&two_bindings().0), []);
}

#[test]
fn values_are_bound_once_and_before_their_use() {
    let (mut func, _, y, _) = two_bindings();
    func.body.blocks[0].bindings.reverse();
    assert_eq!(kinds(&func), [name("y")]);
    let (mut func, ..) = two_bindings();
    func.body.blocks[0].bindings.push(y);
    assert_eq!(kinds(&func), [GraphErrorKind::BoundTwice]);
}

#[test]
fn dataflow_values_stay_in_their_block() {
    let (mut func, _, y, _) = two_bindings();
    func.body.result = Arg::Value(y);
    assert_eq!(
        kinds(&func),
        [GraphErrorKind::DataflowEscape { name: "y".into() }]
    );
    let (mut func, x, ..) = two_bindings();
    func.body.blocks[0].dataflow = Some(vec![x]);
    let errors = kinds(&func);
    assert_eq!(errors[0], GraphErrorKind::NotOutput);
    assert_eq!(
        errors[1],
        GraphErrorKind::DataflowEscape { name: "z".into() }
    );
}

#[test]
fn branch_values_stay_in_their_branch() {
    let mut b = GraphBuilder::new("main");
    let x = b.param("x", tensor(&[2]));
    let c = b.param("c", StructInfo::tensor(vec![], DType::BOOL));
    b.begin_branch();
    let t = b
        .op(
            "t",
            crate::ops::op("exp"),
            vec![Arg::Value(x)],
            Attrs::new(),
        )
        .expect("a tensor");
    let then = b.end_branch(Arg::Value(t));
    b.begin_branch();
    let otherwise = b.end_branch(Arg::Value(x));
    let cond = Arg::Value(c);
    let r = b
        .bind(
            "r",
            Def::If {
                cond,
                then,
                otherwise,
            },
        )
        .expect("both are tensors");
    let good = b.finish(Arg::Value(r));
    assert_eq!(kinds(&good), []);
    let mut leaks = good.clone();
    leaks.body.result = Arg::Value(t);
    assert_eq!(kinds(&leaks), [name("t")]);
    let mut in_dataflow = good.clone();
    in_dataflow.body.blocks[0].dataflow = Some(vec![r]);
    assert_eq!(kinds(&in_dataflow), [GraphErrorKind::IfInDataflow]);
    let mut by_number = good;
    let Def::If { cond, .. } = &mut by_number.values[r].def else {
        panic!("r is the branch")
    };
    *cond = Arg::Value(x);
    assert!(matches!(
        kinds(&by_number)[..],
        [GraphErrorKind::Condition { .. }]
    ));
}

#[test]
fn side_effects_need_an_impure_function_and_a_plain_block() {
    let mut b = GraphBuilder::new("main");
    let x = b.param("x", tensor(&[2]));
    b.op(
        "_",
        crate::ops::op("print"),
        vec![Arg::Value(x)],
        Attrs::new(),
    )
    .expect("takes anything");
    let mut func = b.finish(Arg::Value(x));
    assert!(matches!(
        kinds(&func)[..],
        [GraphErrorKind::ImpureInPure { .. }]
    ));
    func.pure = false;
    assert_eq!(kinds(&func), []);
    func.attrs
        .insert("relax.force_pure".into(), crate::ir::AttrValue::Int(1));
    assert_eq!(kinds(&func), [GraphErrorKind::ForcePure]);
    func.attrs.clear();
    func.body.blocks[0].dataflow = Some(vec![]);
    assert!(matches!(
        kinds(&func)[..],
        [GraphErrorKind::ImpureInDataflow { .. }]
    ));
}

#[test]
fn symbolic_variables_are_defined_before_use() {
    let n = Var::new("n", DType::I64);
    let of = |dim: Expr| StructInfo::tensor(vec![dim], DType::F32);
    let mut b = GraphBuilder::new("main");
    let x = b.param("x", of(n.expr() * 2));
    let func = b.finish(Arg::Value(x));
    let undefined = GraphErrorKind::UndefinedVar { var: "n".into() };
    // Once, though the result has the same extent.
    assert_eq!(kinds(&func), [undefined]);
    let mut b = GraphBuilder::new("main");
    let x = b.param("x", StructInfo::Object);
    let y = b.bind_as(
        "y",
        Def::MatchCast(Arg::Value(x), of(n.expr())),
        of(n.expr()),
    );
    assert_eq!(kinds(&b.finish(Arg::Value(y))), []);
}

#[test]
fn declared_types_agree_with_computed_ones() {
    let (mut func, _, _, z) = two_bindings();
    func.ret = StructInfo::Object;
    func.values[z].sinfo = tensor(&[2, 4]);
    assert!(matches!(
        kinds(&func)[..],
        [GraphErrorKind::Declared { .. }]
    ));
    let (mut func, ..) = two_bindings();
    func.ret = tensor(&[3, 2]);
    let errors = verify_function(&func, &Globals::default());
    assert_eq!(
        errors[0].to_string(),
        "main: the result is declared as R.Tensor((3, 2), dtype=\"float32\"), \
         the body returns R.Tensor((2, 3), dtype=\"float32\")"
    );
}

#[test]
fn call_tir_fits_its_loop_program() {
    let signature = |pure| StructInfo::Callable {
        params: Some(vec![tensor(&[4]), tensor(&[4])]),
        ret: Box::new(StructInfo::Tuple(vec![])),
        pure,
    };
    let globals = Globals::new([("f".to_owned(), signature(false))].into_iter().collect());
    let call = |out: StructInfo, input: StructInfo, inplace: Option<Vec<Option<usize>>>| {
        let mut b = GraphBuilder::in_module("main", globals.clone());
        let x = b.param("x", input);
        let def = Def::CallDps {
            callee: DpsCallee::Prim("f".into()),
            args: vec![Arg::Value(x)],
            tir_vars: vec![],
            inplace,
            out: out.clone(),
        };
        let y = b.bind_as("y", def, out);
        let func = b.finish(Arg::Value(y));
        let errors = verify_function(&func, &globals);
        errors.into_iter().map(|e| e.kind).collect::<Vec<_>>()
    };
    assert_eq!(call(tensor(&[4]), tensor(&[4]), None), []);
    assert!(matches!(
        call(tensor(&[5]), tensor(&[4]), None)[..],
        [GraphErrorKind::Infer(InferError::Output { index: 0, .. })]
    ));
    assert!(matches!(
        call(tensor(&[4]), tensor(&[3]), None)[..],
        [GraphErrorKind::Infer(InferError::Argument { index: 0, .. })]
    ));
    assert_eq!(
        call(tensor(&[4]), tensor(&[4]), Some(vec![Some(1)])),
        [GraphErrorKind::InplaceIndices]
    );
}

#[test]
fn names_in_the_module_agree() {
    let (func, ..) = two_bindings();
    let mut module = Module::default();
    module
        .funcs
        .insert("main".into(), Func::Graph(func.clone()));
    assert_eq!(verify(&module), Ok(()));
    let mut other = func;
    other.attrs = Attrs::from([(
        "global_symbol".to_owned(),
        crate::ir::AttrValue::Str("other".into()),
    )]);
    module.funcs.insert("main".into(), Func::Graph(other));
    let errors = verify(&module).expect_err("another symbol");
    assert!(matches!(
        errors[0].kind,
        GraphErrorKind::GlobalSymbol { .. }
    ));
}
