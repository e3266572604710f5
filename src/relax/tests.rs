//! What a `BlockBuilder` makes, in TVMScript.

use super::*;
use crate::ir::{AttrValue, Attrs, Module, StructInfo, alpha_eq};
use crate::tensor::{DType, Tensor};
use crate::{script, te};

fn assert_same(module: &Module, expected: &str) {
    let expected = script::parse("expected.py", expected).unwrap_or_else(|e| panic!("{e}"));
    if let Err(difference) = alpha_eq::module(&expected, module) {
        panic!("{difference}\n{}", script::print(module));
    }
}

fn vector(name: &str) -> Var {
    Var::tensor(name, [4], DType::F32)
}

#[test]
fn nested_calls_become_bindings() {
    let mut bb = BlockBuilder::new();
    let (x, y) = (vector("x"), vector("y"));
    bb.function("main", &[&x, &y], |bb| {
        let out = bb.dataflow(|bb| {
            let sum = bb.emit(&x + op("exp", [&y]))?;
            bb.emit_output(op("nn.relu", [expr(&sum) * &y]))
        })?;
        bb.emit_func_output(tuple([&out, &x]))
    })
    .expect("all fits");
    assert_same(
        &bb.finish().expect("well formed"),
        r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
        with R.dataflow():
            lv = R.exp(y)
            lv1 = R.add(x, lv)
            lv2 = R.multiply(lv1, y)
            gv = R.nn.relu(lv2)
            R.output(gv)
        return (gv, x)
"#,
    );
}

#[test]
fn branches_closures_and_calls() {
    let mut bb = BlockBuilder::new();
    let (x, c) = (
        vector("x"),
        Var::tensor("c", Vec::<i64>::new(), DType::BOOL),
    );
    let options = FunctionOptions {
        private: true,
        ..FunctionOptions::default()
    };
    let p = vector("p");
    bb.function_with("twice", &[&p], options, |bb| {
        let sum = bb.emit(&p + &p)?;
        bb.emit_func_output(&sum)
    })
    .expect("all fits");
    bb.function("main", &[&x, &c], |bb| {
        let q = vector("q");
        let add_x = bb.local_function("add_x", &[&q], |bb| {
            let sum = bb.emit(&q + &x)?;
            bb.emit_func_output(&sum)
        })?;
        let y = bb.if_::<BuildError>(
            &c,
            |bb| Ok(bb.emit(call("twice", [&x]))?.into()),
            |_| Ok(add_x.call([&x])),
        )?;
        bb.emit_func_output(&y)
    })
    .expect("all fits");
    let module = bb.finish().expect("well formed");
    let text = script::print(&module);
    assert!(
        text.contains("cls.twice(x)") && text.contains("def add_x(q"),
        "{text}"
    );
    script::parse("printed.py", &text).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn tensor_expressions_are_loop_programs_of_the_module() {
    let mut bb = BlockBuilder::new();
    let x = Var::tensor("x", [2, 3], DType::F32);
    bb.function("main", &[&x], |bb| {
        let double =
            |t: &[te::Tensor]| te::compute("double", t[0].shape().to_vec(), |i| t[0].at(i) * 2);
        let y = bb.emit_te("double", [&x], double)?;
        let z = bb.emit_te("double", [&y], double)?;
        bb.emit_func_output(&z)
    })
    .expect("all fits");
    let module = bb.finish().expect("well formed");
    let names: Vec<_> = module.funcs.keys().map(String::as_str).collect();
    assert_eq!(names, ["double", "main"], "equal programs are one");
}

#[test]
fn mistakes_are_named() {
    let x = vector("x");
    let message = |body: &dyn Fn(&mut BlockBuilder) -> Result<(), BuildError>| {
        let mut bb = BlockBuilder::new();
        let error = bb
            .function("main", &[&x], |bb| body(bb))
            .expect_err("a mistake");
        assert!(bb.module().funcs.is_empty(), "nothing is added");
        error.to_string()
    };
    assert_eq!(
        message(&|_| Ok(())),
        "function `main` has no output: call `emit_func_output`"
    );
    assert_eq!(
        message(&|bb| bb.emit(op("reluu", [&x])).map(drop)),
        "there is no operator `R.reluu`"
    );
    assert_eq!(
        message(&|bb| bb.emit(vector("y")).map(drop)),
        "variable `y` is neither a parameter nor emitted in `main`"
    );
    assert_eq!(
        message(&|bb| bb.emit_output(&x).map(drop)),
        "no dataflow block is open in `main`"
    );
    let attrs: Attrs = [("axis".to_owned(), AttrValue::Int(1))]
        .into_iter()
        .collect();
    assert_eq!(
        message(&|bb| bb
            .emit(op_with("nn.softmax", [&x], attrs.clone()))
            .map(drop)),
        "R.nn.softmax: axis 1 is out of range for 1 dimensions"
    );
    assert_eq!(
        BlockBuilder::new().emit(&x).expect_err("no function"),
        BuildError::NoFunction
    );
}

#[test]
fn a_function_that_calls_itself_says_what_it_gives() {
    let mut bb = BlockBuilder::new();
    let (x, c) = (
        vector("x"),
        Var::tensor("c", Vec::<i64>::new(), DType::BOOL),
    );
    let options = FunctionOptions {
        ret: Some(x.sinfo().clone()),
        ..FunctionOptions::default()
    };
    let no = Tensor::from_bytes(DType::BOOL, &[], &[0]).expect("one element");
    bb.function_with("main", &[&x, &c], options, |bb| {
        let y = bb.if_::<BuildError>(
            &c,
            |bb| {
                Ok(bb
                    .emit(call("main", [expr(&x), constant(no.clone())]))?
                    .into())
            },
            |_| Ok(expr(&x)),
        )?;
        bb.emit_func_output(&y)
    })
    .expect("all fits");
    let module = bb.finish().expect("well formed");
    let main = module.function("main").expect("is there");
    assert_eq!(
        main.ret,
        StructInfo::tensor(
            x.sinfo()
                .as_tensor()
                .and_then(|t| t.shape.dims())
                .expect("known")
                .to_vec(),
            DType::F32
        )
    );
}
