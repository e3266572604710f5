//! Passes over modules do not change what is computed: the modules of file tests give the same numbers before and after them.

use weftile::ir::{AttrValue, Expr, Module};
use weftile::passes::{Cx, pass, pass_with};
use weftile::pipeline::{CompileOptions, compile};
use weftile::runtime::Value;
use weftile::script;
use weftile::support::tolerance::{Tolerance, compare};
use weftile::tensor::{ScalarType, Tensor};
use weftile::vm::VirtualMachine;

/// The value of symbolic extents.
const EXTENT: i64 = 6;

/// What `main` gives for numbers without a pattern, on the CPU.
fn results(module: &Module) -> Vec<Tensor> {
    let (target, device) = crate::vm::cpu();
    let exec = compile(module, &CompileOptions::new(target)).unwrap_or_else(|e| panic!("{e}"));
    let mut machine = VirtualMachine::new(exec, device).expect("a machine");
    let main = module.function("main").expect("there is one");
    let arg = |(at, info): (usize, &weftile::ir::TensorInfo)| {
        let dims = info.shape.dims().expect("known").iter();
        let dims: Vec<usize> = dims
            .map(|dim| Expr::as_int(dim).unwrap_or(EXTENT) as usize)
            .collect();
        let number = |i: usize| 0.1 + ((i * 37 + at * 11) % 64) as f32 / 64.0;
        let count = dims.iter().product();
        let elements: Vec<f32> = (0..count).map(number).collect();
        Value::from(Tensor::from_slice(&dims, &elements).expect("as many"))
    };
    let infos = main.params.iter().enumerate();
    let infos = infos.map(|(at, &p)| (at, main.values[p].sinfo.as_tensor().expect("a tensor")));
    let args: Vec<Value> = infos.map(arg).collect();
    fn flat(value: Value) -> Vec<Tensor> {
        match value {
            Value::Tuple(items) => items.into_iter().flat_map(flat).collect(),
            value => vec![value.into_tensor().expect("a tensor")],
        }
    }
    let result = machine
        .call("main", &args)
        .unwrap_or_else(|e| panic!("{e}"));
    flat(result)
}

#[track_caller]
fn same_after(text: &str, name: &str, options: &str) {
    let before = text.split("# expect:").next().expect("the first part");
    let module = script::parse("before.py", before).unwrap_or_else(|e| panic!("{e}"));
    let options: serde_json::Value = serde_json::from_str(options).expect("JSON");
    let pass = match AttrValue::from(&options) {
        AttrValue::Dict(options) => pass_with(name, options),
        _ => pass(name),
    };
    let cx = Cx::new(&module, &crate::vm::cpu().0);
    let made = cx.run(&pass.expect("a pass"), &module).expect("it applies");
    script::well_formed(&made).unwrap_or_else(|e| panic!("{e}"));
    let (expected, got) = (results(&module), results(&made));
    assert_eq!(expected.len(), got.len());
    for (expected, got) in expected.iter().zip(&got) {
        let tolerance = Tolerance::of(ScalarType::F32, 256);
        compare(expected, got, tolerance).unwrap_or_else(|e| panic!("{name}: {e}"));
    }
}

#[test]
fn passes_give_the_same_numbers() {
    let layouts = r#"{"desired_layouts": {"relax.nn.conv2d": ["NHWC", "OHWI"]}}"#;
    let others = r#"{"desired_layouts": {"nn.conv2d": ["HWNC", "HWIO", "CNHW"]}}"#;
    for options in [layouts, others] {
        let text = include_str!("../filetests/pass/convert_layout.py");
        same_after(text, "convert_layout", options);
        let text = include_str!("../filetests/pass/convert_layout_keeps.py");
        same_after(text, "convert_layout", options);
    }
    let text = include_str!("../filetests/pass/decompose_ops_for_inference.py");
    same_after(text, "decompose_ops_for_inference", "null");
    let text = include_str!("../filetests/pass/remove_redundant_reshape.py");
    same_after(text, "remove_redundant_reshape", "null");
}

#[test]
fn computed_scalars_decide_branches() {
    let text = include_str!("../filetests/pass/compute_prim_value.py");
    same_after(text, "compute_prim_value", "null");
    let text = text.replace("n * 2 > 30", "n * 2 > 3");
    same_after(&text, "compute_prim_value", "null");
}
