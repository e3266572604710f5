//! Checks and the shape heap as somebody else writes them (`vm.builtin.*` in graph text).

use std::collections::HashMap;

use weftile::interp::{self, run_module};
use weftile::pipeline::{CompileOptions, compile};
use weftile::runtime::Value;
use weftile::script;
use weftile::tensor::Tensor;
use weftile::vm::VirtualMachine;

use crate::vm::cpu;

/// A module whose function `main` has these lines.
fn module(lines: &[&str]) -> String {
    let lines = lines.join("\n        ");
    format!(
        r#"
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def double(H: T.Buffer((T.int64(3),), "int64")):
        T.func_attr({{"tirx.is_host_func": True}})
        H[T.int64(1)] = H[T.int64(0)] * T.int64(2)

    @T.prim_func(private=True)
    def fill(H: T.Buffer((T.int64(3),), "int64")):
        for i in range(3):
            with T.block("H"):
                v = T.axis.spatial(3, i)
                H[v] = T.int64(1)

    @R.function(pure=False)
    def main(x: R.Tensor(("n", 4), "float32")) -> R.Object:
        cls = Module
        {lines}
"#
    )
}

const HEAP: &str = r#"heap = R.call_builtin_with_ctx("vm.builtin.alloc_shape_heap", (3,), ty_args=(R.Tensor(dtype="int64", ndim=1),))"#;
const CHECK: &str = r#"R.call_packed("vm.builtin.check_tensor_info", x, 2, R.dtype("float32"), R.str("ErrorContext(fn=main, loc=param[0], param=x, annotation=R.Tensor((n, 4), dtype=\"float32\")) "), ty_args=(R.Tuple,))"#;
const MATCH: &str = r#"R.call_packed("vm.builtin.match_shape", x, heap, 2, 1, 0, 0, 4, R.str(""), ty_args=(R.Tuple,))"#;
const MAKE: &str = r#"s = R.call_packed("vm.builtin.make_shape", heap, 3, 1, 1, 0, 4, 1, 0, ty_args=(R.Shape(ndim=3),))"#;

#[test]
fn text_with_a_shape_heap_runs() {
    let text = module(&[HEAP, CHECK, MATCH, "cls.double(heap)", MAKE, "return s"]);
    let module = script::parse("module.py", &text).expect("well formed");
    let compiled = compile(&module, &CompileOptions::new(cpu().0)).expect("it compiles");
    let mut vm = VirtualMachine::new(compiled, cpu().1).expect("a machine");
    let zeros = |shape: &[usize]| {
        Tensor::from_slice(shape, &vec![0f32; shape.iter().product()]).expect("as many elements")
    };
    let shape = vm.call("main", &[zeros(&[5, 4]).into()]).expect("it fits");
    assert!(
        matches!(&shape, Value::Shape(dims) if dims[..] == [10, 4, 5]),
        "{shape:?}"
    );
    let args = [interp::Value::Tensor(zeros(&[5, 4]))];
    let shape = run_module(&module, "main", &args, &HashMap::new()).expect("it fits");
    assert!(
        matches!(&shape, interp::Value::Shape(dims) if dims[..] == [10, 4, 5]),
        "{shape:?}"
    );
    // What a text says of the place is in the message; where it says nothing, the name of the value is.
    let error = vm
        .call("main", &[zeros(&[5]).into()])
        .expect_err("one dimension");
    assert!(
        error
            .to_string()
            .contains("R.Tensor((n, 4), dtype=\"float32\")"),
        "{error}"
    );
    let error = vm
        .call("main", &[zeros(&[5, 3]).into()])
        .expect_err("3 columns");
    assert!(
        error
            .to_string()
            .contains("dimension 1 of `x` must be 4, got 3"),
        "{error}"
    );
}

#[test]
fn calls_that_mean_nothing_are_refused() {
    let packed = |name: &str, args: &str| {
        format!("R.call_packed(\"vm.builtin.{name}\", {args}, ty_args=(R.Tuple,))")
    };
    let cases = [
        (
            packed("match_shape", "x, heap"),
            "`vm.builtin.match_shape`: takes at least 4 arguments, got 2",
        ),
        (
            packed("match_shape", "x, heap, 2, 1, 0, R.str(\"\")"),
            "`vm.builtin.match_shape`: 2 codes and operands are given for 2 dimensions, which take 4",
        ),
        (
            packed("match_shape", "x, heap, 2, 7, 0, 2, 0, R.str(\"\")"),
            "`vm.builtin.match_shape`: there is no code 7, only 0 to 3",
        ),
        (
            packed("match_shape", "x, heap, 2, 2, 0, 1, 3, R.str(\"\")"),
            "`vm.builtin.match_shape`: the shape heap has 3 slots, and there is no slot 3",
        ),
        (
            packed("match_shape", "x, x, 2, 2, 0, 1, 0, R.str(\"\")"),
            "`vm.builtin.match_shape`: argument 1 must be the shape heap",
        ),
        (
            packed("match_shape", "x, heap, 2, 2, 0, 1, 0, 4"),
            "`vm.builtin.match_shape`: argument 7 must be a text",
        ),
        (
            packed("make_shape", "heap, 1, 2, 0"),
            "`vm.builtin.make_shape`: there is no code 2, only 0 to 1",
        ),
        (
            packed("make_prim_value", "heap, 1, -1"),
            "there is no slot -1",
        ),
        (
            packed("check_tensor_info", "x, 2, 2, R.str(\"\")"),
            "`vm.builtin.check_tensor_info`: argument 2 must be an element type or `R.null_value()`",
        ),
        (
            packed("check_tuple_info", "x, R.dtype(\"int8\"), R.str(\"\")"),
            "`vm.builtin.check_tuple_info`: argument 1 must be an integer",
        ),
        (
            packed("check_func_info", "x"),
            "`vm.builtin.check_func_info`: takes 2 arguments, got 1",
        ),
        (
            HEAP.replace("heap =", "other ="),
            "the function has a shape heap already",
        ),
        (
            "cls.fill(heap)".to_owned(),
            "`fill`: it is no shape function",
        ),
    ];
    for (line, expected) in cases {
        let text = module(&[HEAP, &line, "return x"]);
        let module = script::parse("module.py", &text).unwrap_or_else(|e| panic!("{e}"));
        let error = compile(&module, &CompileOptions::new(cpu().0)).expect_err(expected);
        assert!(error.to_string().contains(expected), "{line}: {error}");
    }
    let text = module(&[&HEAP.replace("(3,)", "(-1,)"), "return x"]);
    let module = script::parse("module.py", &text).expect("well formed");
    let error = compile(&module, &CompileOptions::new(cpu().0)).expect_err("no size");
    assert!(
        error
            .to_string()
            .contains("a shape heap cannot have -1 slots"),
        "{error}"
    );
}
