//! Weights of few bits that a kernel has room for, or not.

use std::collections::HashMap;

use indexmap::IndexMap;

use crate::interp::{Value, run_module};
use crate::ir::Module;
use crate::kernel::{GpuTarget, Target};
use crate::passes::{Cx, PassContext, bind_params, pass};
use crate::script::parse;
use crate::tensor::Tensor;

const MODULE: &str = r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 64), "float32"), r: R.Tensor((1, 48), "float32"), t: R.Tensor((1, 48), "float32"),
             w: R.Tensor((48, 8), "uint32"), s: R.Tensor((48, 1), "float32"), z: R.Tensor((48, 1), "float32")):
        with R.dataflow():
            q = R.astype(R.unpack_bits(w), dtype="float32")
            d = R.multiply(R.subtract(q, z), s)
            y = R.matmul(x, R.permute_dims(d))
            a = R.add(y, r)
            b = R.multiply(a, t)
            R.output(b)
        return b
"#;

fn noise(shape: &[usize]) -> Tensor {
    let count = shape.iter().product();
    let elements: Vec<f32> = (0..count).map(|i| (i * 37 % 101) as f32 / 50.0).collect();
    Tensor::from_slice(shape, &elements).expect("as many elements")
}

/// The module with its weights, or with the last of them as parameters.
fn module(bound: &[&str]) -> Module {
    let module = parse("test.py", MODULE).unwrap_or_else(|e| panic!("{e}"));
    let words: Vec<u32> = (0..48 * 8u32)
        .map(|i| i.wrapping_mul(2_654_435_761))
        .collect();
    let words = Tensor::from_slice(&[48, 8], &words).expect("as many elements");
    let all = [("w", words), ("s", noise(&[48, 1])), ("z", noise(&[48, 1]))];
    let weights = all.into_iter().filter(|(name, _)| bound.contains(name));
    let weights: IndexMap<String, Tensor> = weights.map(|(n, t)| (n.to_owned(), t)).collect();
    bind_params(&module, "main", &weights).unwrap_or_else(|e| panic!("{e}"))
}

/// The module as the pipeline fuses it for a GPU whose kernels take so many tensors.
fn fused(module: &Module, arrays: u32, context: PassContext) -> Module {
    let target = Target::Gpu(GpuTarget {
        max_storage_buffers: arrays,
        ..GpuTarget::default()
    });
    let cx = Cx::new(module, &target).with(context);
    let passes = [
        "legalize_ops",
        "fold_constant",
        "annotate_tir_op_pattern",
        "fuse_ops",
        "fuse_tir",
        "dead_code_elimination",
    ];
    passes.iter().fold(module.clone(), |module, name| {
        let pass = pass(name).expect("there is");
        cx.run(&pass, &module).unwrap_or_else(|e| panic!("{e}"))
    })
}

/// The loop programs that `main` calls.
fn called(module: &Module) -> Vec<String> {
    let main = module.function("main").expect("it is there");
    let values = main.values.iter();
    let called = values.filter_map(|(_, value)| value.def.callee().map(str::to_owned));
    called.collect()
}

fn run(module: &Module) -> Tensor {
    let inputs = [[1, 64], [1, 48], [1, 48]].map(|shape| Value::Tensor(noise(&shape)));
    match run_module(module, "main", &inputs, &HashMap::new()) {
        Ok(Value::Tensor(tensor)) => tensor,
        other => panic!("expected a tensor, got {other:?}"),
    }
}

/// With words, scales, zero points, the row and the result a kernel takes five tensors, and two more with what follows.
#[test]
fn a_weight_is_unpacked_by_its_product_or_a_constant() {
    let before = module(&["w", "s", "z"]);
    let expected = run(&before);
    for arrays in 3..=8 {
        let after = fused(&before, arrays, PassContext::default());
        let called = called(&after);
        let unpacks = |name: &&String| name.contains("unpack_bits");
        let programs: Vec<&String> = called.iter().filter(unpacks).collect();
        match programs.as_slice() {
            [] => assert!(arrays < 5, "{arrays}: {called:?}"),
            [one] => assert!(
                arrays >= 5 && one.contains("matmul"),
                "{arrays}: {called:?}"
            ),
            _ => panic!("{arrays}: {called:?}"),
        }
        let got = run(&after);
        assert_eq!(got.bytes(), expected.bytes(), "{arrays}");
    }
}

#[test]
fn where_nothing_is_fused_weights_are_constants() {
    let before = module(&["w", "s", "z"]);
    let mut context = PassContext::default();
    context.disabled.insert("fuse_ops".to_owned());
    let called = called(&fused(&before, 8, context));
    assert!(
        !called.iter().any(|name| name.contains("unpack_bits")),
        "{called:?}"
    );
}
