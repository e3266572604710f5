//! Attributes and operands that operators refuse, each with what the error says.

use weftile::kernel::Target;
use weftile::pipeline::{CompileOptions, compile};
use weftile::{codegen_cpu, script};

/// What is said of a call that is not taken: by the parser, which infers types, or by the compiler.
fn refusal(params: &str, call: &str) -> String {
    let text = format!(
        "@I.ir_module\nclass Module:\n    @R.function\n    def main({params}):\n        with R.dataflow():\n            \
         gv = {call}\n            R.output(gv)\n        return gv\n"
    );
    let module = match script::parse("refused.py", &text) {
        Ok(module) => module,
        Err(error) => return error.to_string(),
    };
    let target = Target::Cpu(codegen_cpu::host_target(1));
    match compile(&module, &CompileOptions::new(target)) {
        Ok(_) => format!("{call} was taken"),
        Err(error) => error.to_string(),
    }
}

const FLAGS: &str = "x: R.Tensor((3, 3), \"bool\")";
const X: &str = "x: R.Tensor((4, 6), \"float32\")";
const EMPTY: &str = "x: R.Tensor((0, 6), \"int32\")";

#[test]
fn attributes_are_honoured_or_refused() {
    let faults: Vec<String> = [
        (X, "R.flip(x, axis=2)", "axis"),
        (X, "R.reshape(x, (-1, -1))", "at most one extent of -1"),
        (X, "R.reshape(x, (-2, 12))", "no other below 0"),
        (X, "R.reshape(x, (5, -1))", "24 elements are no multiple of 5"),
        (X, "R.reshape(x, (4, 3, 0))", "where the tensor has an extent"),
        (X, "R.reshape(x, (4, 7))", "numbers of elements must be equal, got 24 and 28"),
        (X, "R.sum(x, axis=[0, 0])", "attribute axis"),
        (X, "R.sum(x, axis=[0, -2])", "attribute axis: it must be axes that are there once, got [0, -2]"),
        (X, "R.split(x, [-1, 2])", "indices_or_sections"),
        (X, "R.split(x, [3, 1])", "positions that are not negative and ascend, got [3, 1]"),
        ("x: R.Tensor((1, 2, 6, 6), \"float32\")", "R.nn.max_pool2d(x, layout=\"\")", "attribute layout"),
        (FLAGS, "R.matmul(x, x)", "a tensor of numbers"),
        (FLAGS, "R.take(x, R.const([0], \"int32\"), axis=0, mode=\"nan\")", "floats, if indices outside give NaN"),
        (FLAGS, "R.einsum((x, x), subscripts=\"ij,ij->\")", "tensors of numbers"),
        (X, "R.concat(())", "at least one tensor"),
        (X, "R.astype(x, \"float32x4\")", "attribute dtype"),
        (X, "R.zeros(R.shape([-1, 3]), \"float32\")", "an extent of the result is less than 0: -1"),
        ("x: R.Tensor((\"n\",), \"float32\")", "R.eye(R.prim_value(-2))", "an extent of the result is less than 0: -2"),
        (X, "R.hamming_window(R.prim_value(-5), R.prim_value(1), R.prim_value(0.54), R.prim_value(0.46))", "less than 0: -5"),
        (X, "R.strided_slice(x, axes=[0], begin=[3], end=[1], assume_inbound=True)", "less than 0: -2"),
        (X, "R.squeeze(x, axis=[0])", "extent"),
        (X, "R.add(x, R.const(300, \"int8\"))", "the number 300 is out of range: elements are int8"),
        (X, "R.add(x, R.const(-1, \"uint64\"))", "the number -1 is out of range: elements are uint64"),
        (EMPTY, "R.median(x)", "a tensor with elements"),
        (EMPTY, "R.median(x, axis=0)", "a tensor with elements along the axis"),
        (X, "R.gather_elements(x, R.const([[0], [0], [0], [0], [0]], \"int32\"), axis=1)",
         "an extent of the indices, at most that of the data must be equal, got 5 and 4"),
        (X, "R.scatter_elements(x, R.const([[0], [0], [0], [0], [0]], \"int32\"), R.zeros((5, 1), \"float32\"), axis=1)",
         "at most that of the data"),
        (X, "R.tile(x, [-1])", "repeats"),
        (X, "R.repeat(x, -2, axis=0)", "repeats"),
        (X, "R.roll(x, [1, 2], axis=[0])", "shift"),
        (X, "R.split(x, 0, axis=0)", "indices_or_sections"),
        (X, "R.topk(x, k=7)", "attribute k: it must be at most the extent of the axis, got 7"),
        (X, "R.topk(x, ret_type=\"all\")", "one of \"both\""),
        (X, "R.median(x, axis=[0, 1])", "axis"),
        (X, "R.quantize(x, R.const(1.0, \"float32\"), R.const(0, \"int8\"), out_dtype=\"float16\")", "out_dtype"),
        (X, "R.einsum((x,), subscripts=\"...j->j\")", "subscripts"),
        (X, "R.einsum((x,), subscripts=\"ijk->i\")", "a dimension for each letter"),
        (X, "R.take(x, R.const([0], \"int32\"))", "a vector"),
        (X, "R.take(x, R.const([0.0], \"float32\"), axis=0)", "integers"),
        (X, "R.take(x, R.const([0], \"int32\"), axis=0, mode=\"raise\")", "one of \"fast\""),
        (X, "R.one_hot(R.const([0], \"int32\"), R.prim_value(1.0), R.prim_value(0), depth=3)", "type"),
        (X, "R.scatter_elements(x, x, x)", "integers"),
        (X, "R.layout_transform(x, index_map=T.index_map(lambda i, j: (i + j,)))", "index_map"),
        (X, "R.strided_slice(x, (R.prim_value(0),), (R.prim_value(0),), (R.prim_value(2),), (R.prim_value(0),))", "strides"),
        (X, "R.arange(R.prim_value(0), R.prim_value(4), R.prim_value(0))", "step"),
        (X, "R.meshgrid((x,))", "vectors"),
        (X, "R.stack((x, R.const([1.0], \"float32\")))", "one shape"),
        (X, "R.depth_to_space(x, 2)", "four dimensions"),
        (X, "R.tril(R.const([1.0], \"float32\"))", "two dimensions"),
        (X, "R.cumsum(x, axis=3)", "axis"),
        (X, "R.outer(x, x)", "a vector"),
    ]
    .into_iter()
    .filter_map(|(params, call, expected)| {
        let got = refusal(params, call);
        (!got.contains(expected)).then(|| format!("{call}: expected `{expected}` in: {got}"))
    })
    .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
