//! Weights compiled apart give the same results as weights compiled in.

use std::collections::HashMap;

use crate::interp::{Value, run_module};
use crate::ir::{AttrValue, Attrs, Module};
use crate::kernel::{GpuTarget, Target};
use crate::passes::{Cx, pass, pass_with};
use crate::script::{parse, well_formed};
use crate::tensor::Tensor;

/// Weights with symbolic dimensions that inference needs, one that is held back, a branch, and a function that captures a weight.
const MODULE: &str = r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), w: R.Tensor(("m", 4), "float32"), v: R.Tensor((2, "k"), "float32"), c: R.Tensor((), "bool")) -> R.Tensor(("n", "m"), "float32"):
        n, m, k = T.int64(), T.int64(), T.int64()
        R.func_attr(ATTRS)
        with R.dataflow():
            t = R.permute_dims(w)
            h = R.builtin.stop_lift_params(v)
            e = R.exp(v)
            s = R.reshape(e, R.shape([k * 2]))
            z = R.zeros((4,), "float32")
            d = R.add(t, R.reshape(R.sum(w, axis=0), (4, 1)))
            R.output(t, h, s, z, d)
        @R.function
        def scaled(a: R.Tensor(("p", "q"), "float32")) -> R.Tensor(("p", "q"), "float32"):
            o = R.multiply(a, R.sum(s))
            return o
        if c:
            y = R.matmul(x, t)
            r = y
        else:
            u = R.matmul(R.add(x, z), d)
            r = u
        g = scaled(r)
        o = R.add(g, R.sum(h))
        return o
"#;

fn tensor(shape: &[usize], from: f32) -> Value {
    let count: usize = shape.iter().product();
    let values: Vec<f32> = (0..count).map(|i| from + i as f32 / 8.0).collect();
    Value::Tensor(Tensor::from_slice(shape, &values).expect("as many"))
}

fn run(module: &Module, func: &str, args: &[Value]) -> Value {
    run_module(module, func, args, &HashMap::new()).unwrap_or_else(|e| panic!("{e}"))
}

fn text(value: Value) -> String {
    let Value::Tensor(tensor) = value else {
        panic!("a tensor")
    };
    format!(
        "{:?} {:?}",
        tensor.shape(),
        tensor.as_slice::<f32>().expect("of float32")
    )
}

fn after(module: &Module, passes: &[&str], options: Attrs) -> Module {
    let cx = Cx::new(module, &Target::Gpu(GpuTarget::default()));
    let module = passes.iter().fold(module.clone(), |module, name| {
        let pass = match *name {
            "lift_transform_params" => pass_with(name, options.clone()),
            name => pass(name),
        };
        let pass = pass.expect("there is");
        cx.run(&pass, &module).unwrap_or_else(|e| panic!("{e}"))
    });
    well_formed(&module).unwrap_or_else(|e| panic!("{e}"));
    module
}

#[test]
fn weights_apart_give_the_same() {
    for c in [0u8, 1] {
        let bool = "bool".parse().expect("a type");
        let weights = vec![
            tensor(&[3, 4], 0.5),
            tensor(&[2, 5], -0.5),
            Value::Tensor(Tensor::from_bytes(bool, &[], &[c]).expect("one")),
        ];
        let x = tensor(&[2, 4], 0.25);
        let mut all = vec![x.clone()];
        all.extend(weights.iter().cloned());
        let separate = parse("test.py", &MODULE.replace("ATTRS", "{\"num_input\": 1}"));
        let separate = separate.unwrap_or_else(|e| panic!("{e}"));
        let expected = text(run(&separate, "main", &all));

        let once = after(&separate, &["lift_transform_params"], Attrs::new());
        let twice = after(&once, &["lift_transform_params"], Attrs::new());
        let shared = Attrs::from_iter([("shared_transform".to_owned(), AttrValue::Bool(true))]);
        let shared = after(&separate, &["lift_transform_params"], shared);
        for (module, transform) in [
            (&once, "main_transform_params"),
            (&twice, "main_transform_params"),
            (&shared, "transform_params"),
        ] {
            let Value::Tuple(made) = run(module, transform, &[Value::Tuple(weights.clone())])
            else {
                panic!("a tuple")
            };
            let mut args = vec![x.clone()];
            args.extend(made.iter().cloned());
            assert_eq!(text(run(module, "main", &args)), expected);
            let bundled = after(module, &["bundle_model_params"], Attrs::new());
            let args = [x.clone(), Value::Tuple(made)];
            assert_eq!(text(run(&bundled, "main", &args)), expected);
        }

        let tuple = MODULE.replace("ATTRS", "{\"param_begin\": 1, \"param_end\": 4}");
        let tuple = parse("test.py", &tuple).unwrap_or_else(|e| panic!("{e}"));
        let tuple = after(
            &tuple,
            &["lift_transform_params", "legalize_ops"],
            Attrs::new(),
        );
        let made = run(&tuple, "transform_params", &[Value::Tuple(weights)]);
        assert_eq!(text(run(&tuple, "main", &[x, made])), expected);
    }
}
