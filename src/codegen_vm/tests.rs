//! Functions built by hand: the bytecode verifies, and reads as TVM's.

use super::*;
use crate::ir::graph::{Arg, Def, DpsCallee, GraphBuilder};
use crate::ir::{Expr, Func, StructInfo, Var};
use crate::kernel::CpuTarget;
use crate::tensor::DType;

fn cpu() -> Target {
    Target::Cpu(CpuTarget {
        threads: 1,
        f32_lanes: 4,
        fma: false,
    })
}

fn tensor(dims: &[Expr]) -> StructInfo {
    StructInfo::tensor(dims.to_vec(), DType::F32)
}

fn compile(build: impl FnOnce(&mut GraphBuilder) -> Arg) -> Result<Executable, CodegenVmError> {
    let mut builder = GraphBuilder::new("main");
    let result = build(&mut builder);
    let mut module = Module::default();
    module
        .funcs
        .insert("main".into(), Func::Graph(builder.finish(result)));
    let exec = compile_graph(&module, IndexMap::new(), &cpu())?;
    exec.verify().expect("the bytecode is sound");
    Ok(exec)
}

/// Calls of a callee in a listing.
fn calls(text: &str, callee: &str) -> usize {
    let is_call = |line: &&str| line.trim_start().starts_with("call ") && line.contains(callee);
    text.lines().filter(is_call).count()
}

fn packed(name: &str) -> DpsCallee {
    DpsCallee::Packed(name.into())
}

#[test]
fn a_chain_of_calls_takes_turns_in_two_storages() {
    let n = Var::new("n", DType::I64);
    let exec = compile(|b| {
        let shape = [n.expr(), Expr::i64(4)];
        let x = b.param("x", tensor(&shape));
        let mut last = x;
        for i in 0..5 {
            last = b.call_dps(
                format!("lv{i}"),
                packed("env.f"),
                vec![Arg::Value(last)],
                tensor(&shape),
            );
        }
        Arg::Value(last)
    })
    .expect("compiles");
    let text = exec.as_text();
    // lv0 .. lv3 take turns in two storages; the result has one of its own.
    assert_eq!(calls(&text, "alloc_storage"), 3, "{text}");
    assert_eq!(calls(&text, "alloc_tensor"), 5, "{text}");
    assert_eq!(
        calls(&text, "shape_func"),
        1,
        "computed once, at entry\n{text}"
    );
    assert_eq!(calls(&text, "make_shape"), 2, "a shape and a size\n{text}");
}

#[test]
fn compound_extents_are_checked_when_their_variables_are_known() {
    let n = Var::new("n", DType::I64);
    let exec = compile(|b| {
        let x = b.param("x", tensor(&[n.expr() + 1]));
        b.param("y", tensor(&[n.expr()]));
        Arg::Value(x)
    })
    .expect("compiles");
    let text = exec.as_text();
    assert_eq!(calls(&text, "match_shape"), 3, "x in two steps\n{text}");
}

#[test]
fn both_sides_of_a_branch_end_in_one_register() {
    let exec = compile(|b| {
        let c = b.param("c", StructInfo::tensor(vec![], DType::BOOL));
        let x = b.param("x", tensor(&[Expr::i64(2)]));
        b.begin_branch();
        let y = b.call_dps(
            "y",
            packed("env.f"),
            vec![Arg::Value(x)],
            tensor(&[Expr::i64(2)]),
        );
        let then = b.end_branch(Arg::Value(y));
        b.begin_branch();
        let otherwise = b.end_branch(Arg::Value(x));
        let cond = Arg::Value(c);
        let def = Def::If {
            cond,
            then,
            otherwise,
        };
        Arg::Value(b.bind_as("z", def, tensor(&[Expr::i64(2)])))
    })
    .expect("compiles");
    let text = exec.as_text();
    assert_eq!(calls(&text, "vm.builtin.copy"), 2, "{text}");
}

#[test]
fn what_has_no_bytecode_is_named() {
    let error = compile(|b| {
        let x = b.param("x", tensor(&[Expr::i64(2)]));
        let def = Def::Call {
            callee: crate::ir::graph::Callee::Op("nn.relu".into()),
            args: vec![Arg::Value(x)],
            attrs: Default::default(),
            sinfo_args: vec![],
        };
        Arg::Value(b.bind_as("y", def, tensor(&[Expr::i64(2)])))
    })
    .expect_err("no operators yet");
    assert_eq!(
        error.to_string(),
        "`main`, `y`: operator `R.nn.relu` has no implementation here; call a loop program by R.call_tir instead"
    );
    let m = Var::new("m", DType::I64);
    let error = compile(|b| {
        let x = b.param("x", tensor(&[Expr::i64(2)]));
        Arg::Value(b.call_dps(
            "y",
            packed("env.f"),
            vec![Arg::Value(x)],
            tensor(&[m.expr()]),
        ))
    })
    .expect_err("nothing gives m a value");
    assert!(matches!(error, CodegenVmError::UnboundDim { dim, .. } if dim == "m"));
}
