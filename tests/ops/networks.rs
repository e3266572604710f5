//! Small networks in operators.

use ndarray::Array2;
use weftile::ir::{self, alpha_eq};
use weftile::pipeline::{CompileOptions, compile};
use weftile::relax::{self, BlockBuilder, Var};
use weftile::runtime::Value;
use weftile::script;
use weftile::support::tolerance::{Tolerance, compare};
use weftile::tensor::{DType, ScalarType, Tensor};
use weftile::vm::VirtualMachine;

use super::cases::devices;
use super::{Cases, tensor};

#[test]
fn a_layer_with_a_symbolic_batch() {
    let x = tensor(&[2, 3], &[1.0f32, 2.0, 3.0, -1.0, 0.5, 0.0]);
    let w = tensor(&[3, 2], &[1.0f32, 0.0, 0.0, 1.0, 1.0, -1.0]);
    let b = tensor(&[2], &[0.5f32, -0.5]);
    // x @ w = [[4, -1], [-1, 0.5]]; plus b, relu: [[4.5, 0], [0, 0]].
    let expected = tensor(&[2, 2], &[4.5f32, 0.0, 0.0, 0.0]);
    let types = [
        "R.Tensor((\"n\", 3), \"float32\")",
        "R.Tensor((3, 2), \"float32\")",
        "R.Tensor((2,), \"float32\")",
    ];
    let inputs = [("x", &x), ("w", &w), ("b", &b)];
    let mut cases = Cases::default();
    cases
        .case_of(
            "R.nn.relu(R.add(R.matmul(x, w), b))",
            &types,
            &inputs,
            &[expected],
        )
        .terms(3);
    let half = tensor(&[3], &[1.0f32, 0.1, -2.0]);
    let rounded = tensor(&[3], &[1.0f32, 0.1, -2.0]);
    let call = "R.astype(R.astype(x, \"float16\"), \"float32\")";
    cases
        .case(call, &[("x", &half)], &[rounded])
        .as_precise_as(ScalarType::F16);
    cases.run();
}

/// The same network in text and built in Rust: one module, and the same numbers on every device.
#[test]
fn a_network_in_text_and_in_rust() {
    let text = r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 6), "float32"), w0: R.Tensor((6, 5), "float32"), b0: R.Tensor((5,), "float32"),
             w1: R.Tensor((5, 3), "float32")) -> R.Tensor(("n", 3), "float32"):
        n = T.int64()
        with R.dataflow():
            lv = R.matmul(x, w0)
            lv1 = R.add(lv, b0)
            lv2 = R.nn.relu(lv1)
            lv3 = R.matmul(lv2, w1)
            gv = R.nn.softmax(lv3, axis=-1)
            R.output(gv)
        return gv
"#;
    let n = ir::Var::new("n", DType::I64);
    let x = Var::tensor("x", [n.expr(), 6i64.into()], DType::F32);
    let w0 = Var::tensor("w0", [6, 5], DType::F32);
    let b0 = Var::tensor("b0", [5], DType::F32);
    let w1 = Var::tensor("w1", [5, 3], DType::F32);
    let mut bb = BlockBuilder::new();
    bb.function("main", &[&x, &w0, &b0, &w1], |bb| {
        let out = bb.dataflow(|bb| {
            let hidden = bb.emit(relax::op("nn.relu", [relax::op("matmul", [&x, &w0]) + &b0]))?;
            bb.emit_output(relax::op(
                "nn.softmax",
                [relax::op("matmul", [&hidden, &w1])],
            ))
        })?;
        bb.emit_func_output(&out)
    })
    .expect("all fits");
    let built = bb.finish().expect("well formed");
    let parsed = script::parse("network.py", text).unwrap_or_else(|e| panic!("{e}"));
    alpha_eq::module(&parsed, &built).unwrap_or_else(|e| panic!("{e}\n{}", script::print(&built)));

    let values = |len: usize, scale: f32| -> Vec<f32> {
        (0..len)
            .map(|i| ((i * 7 % 13) as f32 - 6.0) * scale)
            .collect()
    };
    let inputs = [
        tensor(&[7, 6], &values(42, 0.5)),
        tensor(&[6, 5], &values(30, 0.25)),
        tensor(&[5], &values(5, 1.0)),
        tensor(&[5, 3], &values(15, 0.125)),
    ];
    let expected = reference(&inputs);
    let args = inputs.each_ref().map(|t| Value::Tensor(t.clone()));
    for (target, device) in devices() {
        let executable = compile(&built, &CompileOptions::new(target)).expect("it compiles");
        let mut vm = VirtualMachine::new(executable, device).expect("it loads");
        let result = vm.call("main", &args).and_then(|value| vm.to_host(value));
        let result = result.expect("it runs").into_tensor().expect("a tensor");
        let tolerance = Tolerance::of(ScalarType::F32, 30);
        compare(&expected, &result, tolerance).unwrap_or_else(|e| panic!("{e}"));
    }
}

/// The network in float64.
fn reference([x, w0, b0, w1]: &[Tensor; 4]) -> Tensor {
    let matrix = |t: &Tensor| {
        let values = t
            .as_slice::<f32>()
            .expect("floats")
            .iter()
            .map(|&v| f64::from(v));
        let shape = (
            t.len() / t.shape()[t.shape().len() - 1],
            t.shape()[t.shape().len() - 1],
        );
        Array2::from_shape_vec(shape, values.collect()).expect("a matrix")
    };
    let hidden = (matrix(x).dot(&matrix(w0)) + matrix(b0)).mapv(|v| v.max(0.0));
    let mut out = hidden.dot(&matrix(w1));
    for mut row in out.rows_mut() {
        let max = row.fold(f64::NEG_INFINITY, |a, &b| a.max(b));
        row.mapv_inplace(|v| (v - max).exp());
        let sum = row.sum();
        row.mapv_inplace(|v| v / sum);
    }
    let values: Vec<f32> = out.iter().map(|&v| v as f32).collect();
    tensor(&[out.nrows(), out.ncols()], &values)
}

#[test]
fn narrow_targets_count_more_classes_than_they_name() {
    let scores: Vec<f32> = (0..400).map(|v| v as f32 / 8.0).collect();
    let scores = tensor(&[2, 200], &scores);
    let targets = tensor::<i8>(&[2], &[5, 100]);
    let losses = tensor::<f32>(&[2], &[-5.0 / 8.0, -300.0 / 8.0]);
    let mut cases = Cases::default();
    let call = "R.nn.nll_loss(p, t, reduction=\"none\")";
    cases.case(call, &[("p", &scores), ("t", &targets)], &[losses]);
    cases.run();
}
