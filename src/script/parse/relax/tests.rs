//! Graph functions read from text.

use crate::ir::graph::{Arg, Callee, Def, Function};
use crate::ir::{Expr, Module, StructInfo};
use crate::script::parse;
use crate::tensor::DType;

fn module(text: &str) -> Module {
    match parse("test.py", text) {
        Ok(module) => module,
        Err(errors) => panic!("{errors}"),
    }
}

fn errors(text: &str) -> String {
    let errors = parse("test.py", text).expect_err("the text is ill-formed");
    errors.to_string()
}

fn main(text: &str) -> Function {
    let module = module(text);
    module.function("main").expect("it has main").clone()
}

fn tensor(dims: &[i64]) -> StructInfo {
    StructInfo::tensor(dims.iter().map(|&d| Expr::i64(d)).collect(), DType::F32)
}

#[test]
fn operators_branches_and_tuples() {
    let func = main(
        r#"
@R.function
def main(x: R.Tensor((2, 3), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((2, 3), "float32"):
    a = x + x * 2.0
    if c:
        b = R.exp(a)
        r = R.add(a, b)
    else:
        r: R.Tensor((2, 3), "float32") = R.tanh(x)
    t = (r, x)
    y = t[0]
    return y
"#,
    );
    assert_eq!(func.ret, tensor(&[2, 3]));
    let mut names = Vec::new();
    func.for_each_binding(&mut |_, value| names.push(value.name.clone()));
    assert_eq!(names, ["lv", "a", "b", "r_then", "r_else", "r", "t", "y"]);
}

#[test]
fn closures_capture_and_call_themselves() {
    let func = main(
        r#"
@R.function
def main(x: R.Tensor((2,), "float32"), y: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
    @R.function
    def inner(a: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        s = R.add(a, y)
        r = inner(s)
        return r
    z = inner(x)
    return z
"#,
    );
    let mut captured = Vec::new();
    func.for_each_binding(&mut |_, value| {
        if let Def::Function(inner) = &value.def {
            inner.for_each_binding(&mut |_, value| {
                for arg in value.def.args() {
                    if let Arg::Captured { depth, value } = arg {
                        captured.push((*depth, func.values[*value].name.clone()));
                    }
                }
            });
        }
    });
    assert_eq!(captured, [(1, "y".to_owned()), (1, "inner".to_owned())]);
    assert_eq!(func.ret, tensor(&[2]));
}

#[test]
fn functions_call_those_below_them() {
    let module = module(
        r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        cls = Module
        y = cls.twice(x)
        return y

    @R.function(private=True)
    def twice(x: R.Tensor(("m",), "float32")) -> R.Tensor(("m * 2",), "float32"):
        m = T.int64()
        y = R.concat((x, x))
        return y
"#,
    );
    let main = module.function("main").expect("main");
    assert_eq!(
        main.ret.to_string(),
        "R.Tensor((n * 2,), dtype=\"float32\")"
    );
    assert!(module.function("twice").expect("twice").private);
    let mut callees = Vec::new();
    main.for_each_binding(&mut |_, value| {
        if let Def::Call { callee, .. } = &value.def {
            callees.push(callee.clone());
        }
    });
    assert_eq!(callees, [Callee::Global("twice".into())]);
}

#[test]
fn what_is_wrong_is_underlined() {
    let text = errors(
        r#"
@R.function
def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((4, 3), "float32")):
    z = R.add(x, y)
    return z
"#,
    );
    assert!(
        text.contains("extents 2 and 4 of dimension 0 do not broadcast"),
        "{text}"
    );
    assert!(text.contains("test.py:4:9"), "{text}");
    let text = errors(
        r#"
@R.function
def main(x: R.Tensor((2, 3), "float32")):
    with R.dataflow():
        y = R.exp(x)
        z = R.exp(y)
        R.output(z)
    return y
"#,
    );
    assert!(text.contains("uses y outside its dataflow block"), "{text}");
}

#[test]
fn a_text_with_gaps_is_no_program() {
    let text = errors(
        r#"
@R.function
def main(x: Tensor((1, 784), "float32")):
    with R.dataflow():
        lv0 = R.call_tir("env.linear", (x,), (1, 128), dtype="float32")
        ...
    return ...
"#,
    );
    assert!(text.contains("`...` cannot be used here"), "{text}");
    assert!(text.contains("test.py:6:9"), "{text}");
}

#[test]
fn operands_left_out_before_others_are_what_the_operator_takes() {
    let call = |text: &str| {
        let module = module(&format!(
            "@R.function\ndef main(x: R.Tensor((4,), \"float32\"), b: R.Tensor((4,), \"bool\")):\n    y = {text}\n    return y\n"
        ));
        crate::script::print(&module)
    };
    let same = |short: &str, long: &str| assert_eq!(call(short), call(long));
    same("R.eye(3, k=-1)", "R.eye(3, 3, -1)");
    same("R.eye(3, None, 1)", "R.eye(3, 3, 1)");
    same("R.arange(6, step=2)", "R.arange(0, 6, 2)");
    same("R.arange(6, None, 2)", "R.arange(0, 6, 2)");
    same(
        "R.unique(x, return_counts=True)",
        "R.unique(x, 1, 0, 0, True)",
    );
    let map = "index_map=T.index_map(lambda i: (i // 3, i % 3))";
    same(
        &format!("R.layout_transform(x, {map}, pad_value=R.prim_value(1.0))"),
        &format!("R.layout_transform(x, {map}, pad_value=1.0)"),
    );
    assert!(call("R.cumsum(b, dtype=\"int32\")").contains("int32"));
}
