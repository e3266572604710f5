//! What is folded, and what is left to the running program.

use super::*;
use crate::interp::run_module;
use crate::kernel::{GpuTarget, Target};
use crate::passes::tests::run_passes;
use crate::passes::{PassContext, pass};
use crate::script::parse;
use crate::tensor::Tensor;
use std::sync::{Arc, Mutex};

const MODULE: &str = r#"
@I.ir_module
class Module:
    @T.prim_func
    def halves(A: T.Buffer((2, 4), "int32"), B: T.Buffer((4,), "int32"), C: T.Buffer((4,), "int32"), by: T.int64):
        for i in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                B[vi] = A[0, vi] // T.cast(by, "int32")
                C[vi] = A[1, vi]

    @R.function
    def main(x: R.Tensor((4,), "int32")):
        cls = Module
        with R.dataflow():
            o = R.arange(R.prim_value(0), R.prim_value(8), R.prim_value(1), dtype="int32")
            t = R.reshape(o, R.shape([2, 4]))
            h = R.call_tir(cls.halves, (t,), [R.Tensor((4,), "int32"), R.Tensor((4,), "int32")], tir_vars=R.shape([BY]))
            a = h[0]
            b = h[1]
            y = R.add(x, a)
            z = R.multiply(y, R.negative(b))
            R.output(z)
        return z
"#;

fn run(module: &Module) -> Result<String, String> {
    let x = Tensor::from_slice(&[4], &[1, 2, 3, 4]).expect("four elements");
    let result = run_module(module, "main", &[Value::Tensor(x)], &HashMap::new());
    let value = result.map_err(|e| e.to_string())?;
    let Value::Tensor(tensor) = value else {
        panic!("a tensor")
    };
    Ok(format!("{:?}", tensor.as_slice::<i32>().expect("of int32")))
}

fn bindings(module: &Module) -> usize {
    let main = module.function("main").expect("it is there");
    main.body
        .blocks
        .iter()
        .map(|block| block.bindings.len())
        .sum()
}

#[test]
fn the_module_computes_the_same() {
    for passes in [&["fold_constant"][..], &["legalize_ops", "fold_constant"]] {
        let before = parse("test.py", &MODULE.replace("BY", "2")).expect("it parses");
        let after = run_passes(&before, passes);
        assert_eq!(bindings(&after), 2, "{passes:?}");
        assert_eq!(run(&before), run(&after));
    }
}

#[test]
fn what_cannot_be_computed_stays() {
    let before = parse("test.py", &MODULE.replace("BY", "0")).expect("it parses");
    let after = run_passes(&before, &["fold_constant"]);
    // The reshaped numbers are a constant, the division by zero is not.
    assert_eq!(bindings(&after), 6);
    assert!(run(&before).is_err());
    assert_eq!(run(&before), run(&after));
}

#[test]
fn large_values_of_small_constants_are_made_when_the_program_runs() {
    let text = r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((ROWS, 4), "int32")):
        with R.dataflow():
            a = R.add(R.const([1, 2, 3, 4], "int32"), R.const([4, 3, 2, 1], "int32"))
            b = R.broadcast_to(a, (ROWS, 4))
            c = R.negative(b)
            y = R.add(x, c)
            R.output(y)
        return y
"#;
    for (rows, left) in [("1024", 1), ("2048", 3)] {
        let before = parse("test.py", &text.replace("ROWS", rows)).expect("it parses");
        let after = run_passes(&before, &["fold_constant"]);
        assert_eq!(bindings(&after), left, "{rows}");
        let n: usize = rows.parse().expect("a number");
        let x = Tensor::from_slice(&[n, 4], &vec![7; 4 * n]).expect("fits");
        let run = |module| {
            let x = [Value::Tensor(x.clone())];
            let result = run_module(module, "main", &x, &HashMap::new());
            format!("{:?}", result.expect("it runs"))
        };
        assert_eq!(run(&before), run(&after));
    }
}

#[test]
fn large_weights_are_stored_whatever_they_are_made_of() {
    let text = r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 64), "float32")):
        with R.dataflow():
            w = R.full((64, 96), R.const(2, "float32"), dtype="float32")
            y = USE
            R.output(y)
        return y
"#;
    let uses = [
        ("R.matmul(x, w)", 1),
        ("R.add(R.matmul(x, w), R.sum(w))", 4),
        ("R.matmul(R.permute_dims(w), R.permute_dims(x))", 4),
    ];
    for (used, left) in uses {
        let before = parse("test.py", &text.replace("USE", used)).expect("it parses");
        let before = run_passes(&before, &["legalize_ops"]);
        let after = run_passes(&before, &["fold_constant"]);
        assert_eq!(bindings(&after), left, "{used}");
        let x = Tensor::from_slice(&[2, 64], &[3f32; 128]).expect("fits");
        let run = |module| {
            let x = [Value::Tensor(x.clone())];
            let result = run_module(module, "main", &x, &HashMap::new());
            format!("{:?}", result.expect("it runs"))
        };
        assert_eq!(run(&before), run(&after));
    }
}

#[derive(Debug, Default)]
struct Counted(Mutex<usize>);

impl Evaluate for Counted {
    fn evaluate(&self, module: &Module, func: &str) -> super::super::evaluate::Evaluated {
        *self.0.lock().expect("not poisoned") += 1;
        Interpreter.evaluate(module, func)
    }
}

#[test]
fn the_evaluator_computes_what_is_large() {
    let text = r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            a = R.full((4,), R.const(2, "float32"))
            b = R.broadcast_to(a, (N, 4))
            c = R.sum(b, axis=0)
            y = R.add(x, c)
            z = R.zeros((8000,), "float32")
            R.output(y, z)
        return (y, z)
"#;
    for (rows, calls) in [("16", 0), ("8192", 1)] {
        let module = parse("test.py", &text.replace('N', rows)).expect("it parses");
        let counted = Arc::new(Counted::default());
        let mut cx =
            Cx::new(&module, &Target::Gpu(GpuTarget::default())).with(PassContext::default());
        cx.evaluator = Some(counted.clone());
        let pass = pass("fold_constant").expect("there is");
        let after = cx.run(&pass, &module).expect("it runs");
        // The zeros are cheaper to make than to store.
        assert_eq!(bindings(&after), 2);
        assert_eq!(*counted.0.lock().expect("not poisoned"), calls);
    }
}
