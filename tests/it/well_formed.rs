//! The rules of well-formedness, one by one: a module that breaks exactly that rule, and the message.
//!
//! Modules come from texts whose functions ask not to be checked, or are changed after they were read where the parser would
//! refuse the text. Rules that the types of the IR make impossible to break are tested on the parser, which turns such texts
//! into well-formed modules or refuses them.

use weftile::ir::graph::{Arg, Def, Function, ValueId};
use weftile::ir::{AttrValue, Expr, Func, Module, Stmt, StructInfo, Var};
use weftile::kernel::{GpuTarget, Target};
use weftile::pipeline::{CompileOptions, compile};
use weftile::relax::{self, BlockBuilder, BuildError, FunctionOptions, op};
use weftile::script::{self, IllFormed, well_formed};
use weftile::tensor::DType;

/// A module with the function `main` that is not checked, and a loop program `copy` of four elements.
fn module(main: &str) -> Module {
    functions(&format!("@R.function(check_well_formed=False)\n{main}"))
}

/// A module with these graph functions, and `copy`.
fn functions(text: &str) -> Module {
    let text = format!(
        r#"
@T.prim_func
def copy(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("copy"):
            vi = T.axis.spatial(4, i)
            B[vi] = A[vi]
{text}"#
    );
    script::parse("module.py", &text).unwrap_or_else(|errors| panic!("{errors}"))
}

fn broken(module: &Module) -> IllFormed {
    *well_formed(module).expect_err("the module breaks a rule")
}

/// What the module breaks, and the underlined text of each violation.
fn violations(module: &Module) -> Vec<(String, String)> {
    let broken = broken(module);
    let shown = broken.violations.iter().map(|violation| {
        let label = violation.diagnostic.labels.first();
        let span = label.expect("each violation has a place").span;
        let text = broken.text[span.start..span.end].lines().next();
        (
            violation.diagnostic.message.clone(),
            text.unwrap_or_default().to_owned(),
        )
    });
    shown.collect()
}

fn main_of(module: &mut Module) -> &mut Function {
    match module.funcs.get_mut("main") {
        Some(Func::Graph(func)) => func,
        _ => panic!("main is a graph function"),
    }
}

fn value(func: &Function, name: &str) -> ValueId {
    let found = func.values.iter().find(|(_, value)| value.name == name);
    found.expect("the function has the value").0
}

/// A well-formed function, to be changed.
const PLAIN: &str = r#"
def main(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((4,), "float32"):
    with R.dataflow():
        y = R.exp(x)
        z = R.tanh(y)
        R.output(z)
    if c:
        t = R.exp(z)
        r = R.tanh(t)
    else:
        r = R.exp(z)
    w = R.tanh(r)
    return w
"#;

fn changed(change: impl FnOnce(&mut Function)) -> Module {
    let mut module = module(PLAIN);
    change(main_of(&mut module));
    module
}

fn float4() -> StructInfo {
    StructInfo::tensor(vec![Expr::i64(4)], DType::F32)
}

/// One rule: what it asks, a module that breaks it and no other, the message, and the text that is underlined.
struct Case {
    rule: &'static str,
    module: Module,
    message: &'static str,
    underlined: &'static str,
}

fn cases() -> Vec<Case> {
    let case = |rule, module, message, underlined| Case {
        rule,
        module,
        message,
        underlined,
    };
    vec![
        case(
            "2. functions that are named are defined",
            changed(|main| {
                let w = value(main, "w");
                main.values[w].def = Def::Arg(Arg::Global("missing".into()));
                main.values[w].sinfo = StructInfo::Object;
                main.ret = StructInfo::Object;
            }),
            "main, value w: the module has no function missing",
            "cls.missing",
        ),
        case(
            "2. a function has the name that the module gives it",
            changed(|main| main.name = "other".into()),
            "main: the function calls itself \"other\", the module calls it \"main\"",
            "def other(x: R.Tensor((4,), dtype=\"float32\"), c: R.Tensor((), dtype=\"bool\")) -> R.Tensor((4,), dtype=\"float32\"):",
        ),
        case(
            "3. the global symbol is the name",
            changed(|main| {
                let symbol = AttrValue::Str("other".into());
                main.attrs.insert("global_symbol".into(), symbol);
            }),
            "main: global_symbol is \"other\", the module calls the function \"main\"",
            "def main(x: R.Tensor((4,), dtype=\"float32\"), c: R.Tensor((), dtype=\"bool\")) -> R.Tensor((4,), dtype=\"float32\"):",
        ),
        case(
            "4. a parameter is one of one function, once",
            changed(|main| {
                let x = main.params[0];
                main.params.push(x);
            }),
            "main, value x: is not exactly once among the parameters",
            "x_1: R.Tensor((4,), dtype=\"float32\")",
        ),
        case(
            "4. a symbolic variable belongs to one function",
            shared_variable(),
            "other: symbolic variable n is one of function main, too; each function needs its own",
            "def other(x: R.Tensor((\"n\",), dtype=\"float32\")) -> R.Tensor((\"n\",), dtype=\"float32\"):",
        ),
        case(
            "5. values are defined before their use",
            changed(|main| main.body.blocks[0].bindings.reverse()),
            "main, value z: uses y before it is defined, or outside the branch that defines it",
            "y",
        ),
        case(
            "5. symbolic variables are defined before their use",
            module(
                r#"
def main(x: R.Object) -> R.Object:
    n = T.int64()
    y = R.zeros(R.shape([n]), "float32")
    return y
"#,
            ),
            "main, value y: symbolic variable n is not defined by a parameter or match_cast before",
            "R.shape([n])",
        ),
        case(
            "6. a value is bound once",
            changed(|main| {
                let y = value(main, "y");
                main.body.blocks[0].bindings.insert(1, y);
            }),
            "main, value y: is bound more than once",
            "R.exp(x)",
        ),
        case(
            "7. values of a dataflow block that it does not output stay there",
            changed(|main| {
                let (y, w) = (value(main, "y"), value(main, "w"));
                let Def::Call { args, .. } = &mut main.values[w].def else {
                    panic!("w is a call")
                };
                args[0] = Arg::Value(y);
            }),
            "main, value w: uses y outside its dataflow block, which does not output it",
            "y",
        ),
        case(
            "7. a dataflow block outputs values of its own",
            changed(|main| {
                let x = main.params[0];
                let outputs = main.body.blocks[0].dataflow.as_mut();
                outputs.expect("the first block is one").push(x);
            }),
            "main, value x: is an output of a dataflow block that does not bind it",
            "x: R.Tensor((4,), dtype=\"float32\")",
        ),
        case(
            "8. values of a branch stay there",
            changed(|main| {
                let t = value(main, "t");
                main.body.result = Arg::Value(t);
            }),
            "main: uses t before it is defined, or outside the branch that defines it",
            "return t",
        ),
        case(
            "12. no branch in a dataflow block",
            changed(|main| {
                let w = value(main, "w");
                main.body.blocks[1].dataflow = Some(vec![w]);
            }),
            "main, value r: a dataflow block cannot hold a branch",
            "if c:",
        ),
        case(
            "13. no side effects in a dataflow block",
            module(
                r#"
def main(x: R.Tensor((4,), "float32")) -> R.Object:
    R.func_attr({"purity": "none"})
    with R.dataflow():
        y = R.call_packed("f", x, sinfo_args=(R.Object,))
        R.output(y)
    return y
"#,
            ),
            "main, value y: a dataflow block cannot call \"f\", which has side effects",
            "R.call_packed(\"f\", x, sinfo_args=(R.Object,))",
        ),
        case(
            "14. no side effects in a pure function",
            module(
                r#"
def main(x: R.Tensor((4,), "float32")) -> R.Object:
    y = R.call_packed("f", x, sinfo_args=(R.Object,))
    return y
"#,
            ),
            "main, value y: a pure function cannot call \"f\", which has side effects",
            "R.call_packed(\"f\", x, sinfo_args=(R.Object,))",
        ),
        case(
            "15. a function that is forced to be pure is pure",
            changed(|main| {
                main.pure = false;
                let force = AttrValue::Int(1);
                main.attrs.insert("relax.force_pure".into(), force);
            }),
            "main: relax.force_pure is set on a function that is not pure",
            "def main(x: R.Tensor((4,), dtype=\"float32\"), c: R.Tensor((), dtype=\"bool\")) -> R.Tensor((4,), dtype=\"float32\"):",
        ),
        case(
            "a type that is declared can be the computed one",
            changed(|main| {
                let y = value(main, "y");
                main.values[y].sinfo = StructInfo::tensor(vec![Expr::i64(4)], DType::F16);
                let z = value(main, "z");
                main.values[z].def = Def::Arg(Arg::Value(main.params[0]));
            }),
            "main, value y: declared as R.Tensor((4,), dtype=\"float16\"), computed as R.Tensor((4,), dtype=\"float32\")",
            "R.Tensor((4,), dtype=\"float16\")",
        ),
        case(
            "the result that is declared can be what the body returns",
            changed(|main| main.ret = StructInfo::tensor(vec![Expr::i64(5)], DType::F32)),
            "main: the result is declared as R.Tensor((5,), dtype=\"float32\"), the body returns R.Tensor((4,), dtype=\"float32\")",
            "return w",
        ),
        case(
            "another name for a value declares no more than is known of it",
            changed(|main| {
                let w = value(main, "w");
                let r = value(main, "r");
                main.values[r].sinfo = StructInfo::Object;
                main.values[w].def = Def::Arg(Arg::Value(r));
            }),
            "main, value w: declared as R.Tensor((4,), dtype=\"float32\"), but only R.Object is known of the value",
            "R.Tensor((4,), dtype=\"float32\")",
        ),
        case(
            "extents are int64",
            changed(|main| {
                let w = value(main, "w");
                main.values[w].def = Def::Arg(Arg::Shape(vec![Expr::i32(4)]));
                main.values[w].sinfo = StructInfo::Object;
                main.ret = StructInfo::Object;
            }),
            "main, value w: extent 4 is int32, must be int64",
            "R.shape([T.int32(4)])",
        ),
        case(
            "operators take their operands",
            changed(|main| {
                let (c, w) = (main.params[1], value(main, "w"));
                let Def::Call { args, .. } = &mut main.values[w].def else {
                    panic!("w is a call")
                };
                args.push(Arg::Value(c));
            }),
            "main, value w: R.tanh takes 1 arguments, got 2",
            "R.tanh(r, c)",
        ),
        case(
            "call_tir passes what the loop program takes",
            call_tir(vec![Arg::Shape(vec![])], float4()),
            "main, value y: argument 0 of copy must be R.Tensor((4,), dtype=\"float32\"), got R.Shape([])",
            "R.shape([])",
        ),
        case(
            "the output of call_tir has a known shape",
            module(
                r#"
def main(x: R.Tensor((4,), "float32")) -> R.Object:
    y = R.call_tir(copy, (x,), out_sinfo=R.Tensor(ndim=1, dtype="float32"))
    return y
"#,
            ),
            "main, value y: the output must be a tensor of known shape and element type, or a tuple of such, got R.Tensor(dtype=\"float32\", ndim=1)",
            "R.call_tir(cls.copy, (x,), out_sinfo=R.Tensor(dtype=\"float32\", ndim=1))",
        ),
        case(
            "loop programs define their variables",
            loop_program(|value| value + Var::new("k", DType::F32).expr()),
            "copy: block \"copy\": variable `k` is used where it is not defined",
            "with T.block(\"copy\"):",
        ),
    ]
}

/// Two functions that define one symbolic variable.
fn shared_variable() -> Module {
    let mut module = functions(
        r#"
@R.function(check_well_formed=False)
def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
    return x
"#,
    );
    let mut other = main_of(&mut module).clone();
    other.name = "other".into();
    module.funcs.insert("other".into(), Func::Graph(other));
    module
}

fn call_tir(args: Vec<Arg>, out: StructInfo) -> Module {
    let mut module = module(
        r#"
def main(x: R.Tensor((4,), "float32")) -> R.Object:
    y = R.call_tir(copy, (x,), out_sinfo=R.Tensor((4,), "float32"))
    return y
"#,
    );
    let main = main_of(&mut module);
    let y = value(main, "y");
    let Def::CallDps {
        args: given,
        out: declared,
        ..
    } = &mut main.values[y].def
    else {
        panic!("y is a call")
    };
    (*given, *declared) = (args, out);
    module
}

/// The module with another value stored by `copy`.
fn loop_program(change: impl FnOnce(Expr) -> Expr) -> Module {
    let mut module = module(PLAIN);
    let Some(Func::Prim(func)) = module.funcs.get_mut("copy") else {
        panic!("copy is a loop program")
    };
    let block = func.blocks.iter().find(|(_, block)| block.name == "copy");
    let block = block.expect("the block is there").0;
    let mut body = func.tree.take_body(block);
    let Some(Stmt::Store { value, .. }) = body.first_mut() else {
        panic!("the block stores")
    };
    *value = change(value.clone());
    func.tree.set_body(block, body);
    module
}

#[test]
fn each_rule_has_a_module_that_breaks_it_alone() {
    assert_eq!(well_formed(&module(PLAIN)), Ok(()));
    let mut failures = String::new();
    for case in cases() {
        let expected = (case.message.to_owned(), case.underlined.to_owned());
        let got = violations(&case.module);
        if got != [expected.clone()] {
            failures += &format!("{}:\n  expected {expected:?}\n  got {got:#?}\n", case.rule);
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

/// Rules that hold of every module by the types of the IR: a text that breaks one is read as a module that does not, or refused.
#[test]
fn rules_of_form_hold_by_construction() {
    let text = r#"
@R.function
def main(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")):
    y = R.add(R.exp(x), (x, R.tanh(x))[1])
    if R.logical_not(c):
        r = R.exp(R.exp(y))
    else:
        r = y
    return R.tanh(r)
"#;
    let mut module = script::parse("module.py", text).unwrap_or_else(|errors| panic!("{errors}"));
    let main = main_of(&mut module);
    // 1 and 11: every value has a type, and here every type is known.
    let untyped = main
        .values
        .iter()
        .find(|(_, value)| value.sinfo == StructInfo::Object);
    assert!(untyped.is_none(), "{untyped:?}");
    // 9 and 10: arguments and conditions are leaves, so that what was nested has bindings of its own.
    assert_eq!(main.values.iter().count(), 10, "{}", script::print(&module));
    for (text, message) in [
        // 10 and 11: an operator is no value.
        (
            "y = R.exp\n    return y",
            "expected a function of the module or a value, found `R.exp`",
        ),
        // 9: a block of bindings is no value.
        (
            "y = (lambda: x)\n    return y",
            "expected a graph value, found `lambda: x`",
        ),
        (
            "@T.prim_func\n    def f(A: T.Buffer((4,), \"float32\")):\n        T.evaluate(0)\n    return x",
            "a function in a graph function cannot be used here",
        ),
    ] {
        let text = format!("@R.function\ndef main(x: R.Tensor((4,), \"float32\")):\n    {text}\n");
        let errors = script::parse("module.py", &text).expect_err("no module");
        let errors: Vec<_> = errors.errors.iter().map(|e| e.kind.to_string()).collect();
        assert_eq!(errors, [message], "{text}");
    }
}

/// The module of a builder has no text of its own: the errors show it as it prints.
#[test]
fn a_built_module_is_underlined_in_print() {
    let x = relax::Var::tensor("x", [4], DType::F32);
    let mut bb = BlockBuilder::new();
    let in_dataflow = FunctionOptions {
        impure: true,
        attrs: [("global_symbol".to_owned(), AttrValue::Str("entry".into()))].into(),
        ..FunctionOptions::default()
    };
    bb.function_with("main", &[&x], in_dataflow, |bb| {
        let y = bb.dataflow(|bb| {
            bb.emit(op("print", [&x]))?;
            bb.emit_output(op("exp", [&x]))
        })?;
        bb.emit_func_output(&y)
    })
    .expect("operands fit");
    bb.function("pure", &[&x], |bb| {
        bb.emit_as("shown", op("print", [&x]))?;
        bb.emit_func_output(&x)
    })
    .expect("operands fit");
    let module = bb.module().clone();
    let Err(BuildError::IllFormed(broken)) = bb.finish() else {
        panic!("three rules are broken")
    };
    let shown = r#"the module is not well formed:
error: main: global_symbol is "entry", the module calls the function "main"
  --> module:7:5
  |
7 |     def main(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
  |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

error: main, value lv: a dataflow block cannot call R.print, which has side effects
   --> module:10:29
   |
 7 |     def main(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
   |     -------------------------------------------------------------------------------- in this function
   .
10 |             lv: R.Tuple() = R.print(x)
   |                             ^^^^^^^^^^

error: pure, value shown: a pure function cannot call R.print, which has side effects
   --> module:17:28
   |
16 |     def pure(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
   |     -------------------------------------------------------------------------------- in this function
17 |         shown: R.Tuple() = R.print(x)
   |                            ^^^^^^^^^^
   |
   = write `@R.function(pure=False)`, or call a variant without side effects, as `R.call_pure_packed`

"#;
    assert_eq!(broken.to_string(), shown);
    let error = compile(
        &module,
        &CompileOptions::new(Target::Gpu(GpuTarget::default())),
    )
    .expect_err("not well formed");
    assert_eq!(error.to_string(), shown);
}

/// Loop programs that read `A`, of 8 by 4 elements, outside of it whenever they run, and those that may not.
#[test]
fn accesses_that_certainly_happen_lie_inside() {
    let found = |body: &str| {
        let text = format!(
            "@T.prim_func\ndef f(A: T.Buffer((8, 4), \"float32\"), B: T.Buffer((8,), \"float32\"), n: T.int32):\n{body}"
        );
        let module = script::parse("f.py", &text).unwrap_or_else(|errors| panic!("{errors}"));
        match well_formed(&module) {
            Ok(()) => vec![],
            Err(_) => violations(&module),
        }
    };
    let outside = |index: i64, dim: usize, extent: i64| {
        format!(
            "index {index} is outside of dimension {dim} of buffer `A`, which has extent {extent}"
        )
    };
    for (body, says, underlined) in [
        (
            "    B[0] = A[10, 0]\n",
            outside(10, 0, 8),
            "# with T.block(\"root\"):",
        ),
        (
            "    for i in range(8):\n        with T.block(\"B\"):\n            vi = T.axis.spatial(8, i)\n            B[vi] = A[vi, vi - vi - 1]\n",
            outside(-1, 1, 4),
            "with T.block(\"B\"):",
        ),
        (
            "    for i, j in T.grid(4, 2):\n        B[i * 2 + j] = A[T.Cast(\"int32\", 8), j]\n",
            outside(8, 0, 8),
            "for i, j in T.grid(4, 2):",
        ),
        (
            "    for i in range(8):\n        B[i] = T.if_then_else(A[i, 4] > T.float32(0), T.float32(1), T.float32(0))\n",
            outside(4, 1, 4),
            "for i in range(8):",
        ),
    ] {
        let found = found(body);
        let [(message, line)] = found.as_slice() else {
            panic!("{body}: {found:?}")
        };
        assert!(message.ends_with(&says), "{message}\n{says}");
        assert!(line.starts_with(underlined), "{line}");
    }
    for body in [
        "    for i in range(8):\n        B[i] = A[i, i // 2]\n",
        "    if n > 0:\n        B[0] = A[10, 0]\n",
        "    for i in range(n):\n        B[i] = A[10, 0]\n",
        "    for i in range(0):\n        B[i] = A[10, 0]\n",
        "    for i in range(8):\n        B[i] = T.if_then_else(i < 7, A[8, 0], T.float32(0))\n",
        "    for i in range(8):\n        if i == n:\n            break\n        B[i] = A[8, 0]\n",
        "    for i in range(16):\n        with T.block(\"B\"):\n            T.where(i < 8)\n            vi = T.axis.spatial(16, i)\n            B[vi] = A[8, 0]\n",
        "    for i in range(8):\n        B[i] = A[n, i * n]\n",
    ] {
        assert_eq!(found(body), [], "{body}");
    }
}

#[test]
fn devices_are_those_of_the_module() {
    let body = r#"
def main(x: R.Tensor((4,), "float32", "llvm:0")):
    y = R.to_vdevice(x, "vulkan:3")
    return y
"#;
    let mut module = module(body);
    assert_eq!(
        violations(&module),
        [
            (
                "main, value x: there is no device llvm:0:global, only the one that is compiled for; I.module_global_infos names the devices of a module".to_owned(),
                "x: R.Tensor((4,), dtype=\"float32\", vdevice=\"llvm:0:global\")".to_owned(),
            ),
            (
                "main, value y: there is no device vulkan:3:global, only the one that is compiled for; I.module_global_infos names the devices of a module".to_owned(),
                "R.to_vdevice(x, dst_vdevice=\"vulkan:3:global\")".to_owned(),
            ),
        ]
    );
    let device = |target: &str, index| weftile::ir::VDevice {
        target: target.to_owned(),
        index,
        scope: "global".to_owned(),
    };
    module.vdevices = vec![device("llvm", 0), device("vulkan", 0)];
    let [(message, _)] = &violations(&module)[..] else {
        panic!("one is unknown");
    };
    assert!(
        message.contains("vulkan:3:global, only llvm:0:global, vulkan:0:global;"),
        "{message}"
    );
    module.vdevices.push(device("vulkan", 3));
    well_formed(&module).expect("all are there");
}
