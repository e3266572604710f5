//! Small networks in operators.

use weftile::tensor::ScalarType;

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
        .as_precise_as(ScalarType::F16)
        .not_on_gpus();
    cases.run();
}
