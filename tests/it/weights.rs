//! Weights are rewritten once: at compile time where they are bound, by a function of its own where they are not.

use indexmap::IndexMap;
use weftile::interp;
use weftile::ir::Module;
use weftile::ir::graph::{Def, DpsCallee};
use weftile::passes::bind_params;
use weftile::pipeline::{CompileOptions, compile, weights_apart};
use weftile::runtime::Value;
use weftile::script::parse;
use weftile::support::tolerance::{Tolerance, compare};
use weftile::tensor::{ScalarType, Tensor};
use weftile::vm::{Profile, VirtualMachine};

/// Numbers without a pattern.
fn tensor(shape: &[usize], seed: usize) -> Tensor {
    let number = |i: usize| ((i * 37 + seed * 11) % 64) as f32 / 32.0 - 1.0;
    let values: Vec<f32> = (0..shape.iter().product()).map(number).collect();
    Tensor::from_slice(shape, &values).expect("as many")
}

/// A layer with a weight, and its bias.
struct Layer {
    x: &'static str,
    weight: &'static [usize],
    call: &'static str,
    /// Rows of `x` to try.
    rows: &'static [usize],
    /// The other extents of `x`.
    rest: &'static [usize],
    /// Whether the CPU wants the weight in panels.
    packs: bool,
}

const LAYERS: &[Layer] = &[
    Layer {
        x: r#"("rows", 20)"#,
        weight: &[20, 48],
        call: "R.matmul(x, w)",
        rows: &[0, 1, 3, 130],
        rest: &[20],
        packs: true,
    },
    // A last panel that is not full; a sum longer than a block of it.
    Layer {
        x: "(5, 300)",
        weight: &[41, 300],
        call: "R.matmul(x, R.permute_dims(w))",
        rows: &[5],
        rest: &[300],
        packs: true,
    },
    Layer {
        x: "(1, 7)",
        weight: &[7, 10],
        call: "R.matmul(x, w)",
        rows: &[1],
        rest: &[7],
        packs: true,
    },
    // Most of a panel would be empty.
    Layer {
        x: "(4, 7)",
        weight: &[7, 3],
        call: "R.matmul(x, w)",
        rows: &[4],
        rest: &[7],
        packs: false,
    },
    Layer {
        x: "(3, 2, 9)",
        weight: &[3, 9, 17],
        call: "R.matmul(x, w)",
        rows: &[3],
        rest: &[2, 9],
        packs: true,
    },
    Layer {
        x: "(2, 6, 5, 4)",
        weight: &[24, 3, 3, 4],
        call: r#"R.nn.conv2d(x, w, data_layout="NHWC", kernel_layout="OHWI")"#,
        rows: &[2],
        rest: &[6, 5, 4],
        packs: true,
    },
    Layer {
        x: "(1, 4, 6, 5)",
        weight: &[24, 4, 3, 3],
        call: "R.nn.conv2d(x, w)",
        rows: &[1],
        rest: &[4, 6, 5],
        packs: true,
    },
];

impl Layer {
    fn module(&self) -> Module {
        let (x, call, weight) = (self.x, self.call, self.weight);
        let dims: String = weight.iter().map(|d| format!("{d}, ")).collect();
        let text = format!(
            r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor({x}, "float32"), w: R.Tensor(({dims}), "float32")):
        R.func_attr({{"num_input": 1}})
        with R.dataflow():
            y = {call}
            z = R.nn.relu(y)
            R.output(z)
        return z
"#
        );
        parse("layer.py", &text).unwrap_or_else(|e| panic!("{e}"))
    }
}

#[track_caller]
fn same(what: &str, layer: &Layer, expected: &interp::Value, got: Value) {
    let interp::Value::Tensor(expected) = expected else {
        panic!("a tensor");
    };
    let got = got.into_tensor().expect("a tensor");
    let tolerance = Tolerance::of(ScalarType::F32, 300);
    compare(expected, &got, tolerance).unwrap_or_else(|e| panic!("{what}, {}: {e}", layer.call));
}

/// The kernels that ran have nothing to do with weights alone.
#[track_caller]
fn rewrites_nothing(profile: &Profile) {
    let entries = profile.entries.iter();
    let kernels: Vec<&str> = entries.map(|entry| entry.name.as_str()).collect();
    let of_weights = |name: &&str| name.contains("panels") || name.contains("permute_dims");
    assert!(!kernels.iter().any(of_weights), "{kernels:?}");
}

#[test]
fn layers_with_weights_bound_and_apart_agree() {
    let options = CompileOptions::new(crate::vm::cpu().0);
    let machine = |module: &Module| {
        let exec = compile(module, &options).unwrap_or_else(|e| panic!("{e}"));
        VirtualMachine::new(exec, crate::vm::cpu().1).expect("it loads")
    };
    for layer in LAYERS {
        let module = layer.module();
        let w = tensor(layer.weight, 1);
        let weights = IndexMap::from([("w".to_owned(), w.clone())]);
        let mut bound = machine(&bind_params(&module, "main", &weights).expect("it fits"));
        let apart = weights_apart(&module, &options).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(
            apart.prim_func("panels").is_some(),
            layer.packs,
            "{}",
            layer.call
        );
        let mut apart = machine(&apart);
        let given = [Value::Tuple(vec![w.clone().into()])];
        let weights = apart
            .call("main_transform_params", &given)
            .expect("it runs");
        let weights = weights.as_tuple().expect("a tuple").to_vec();
        for &rows in layer.rows {
            let x = tensor(&[&[rows], layer.rest].concat(), 2);
            let args = [&x, &w].map(|t| interp::Value::Tensor(t.clone()));
            let expected = interp::run_module(&module, "main", &args, &Default::default());
            let expected = expected.expect("it runs");
            let (got, profile) = bound.profile("main", &[x.clone().into()]).expect("runs");
            rewrites_nothing(&profile);
            same("bound", layer, &expected, got);
            let args = [&[x.into()], &weights[..]].concat();
            let (got, profile) = apart.profile("main", &args).expect("runs");
            rewrites_nothing(&profile);
            same("apart", layer, &expected, got);
        }
    }
}

#[test]
fn a_weight_of_several_products_is_rewritten_once() {
    let text = r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 16), "float32"), w: R.Tensor((16, 16), "float32")):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            y = R.matmul(x, w)
            z = R.matmul(y, w)
            R.output(z)
        return z
"#;
    let module = parse("shared.py", text).unwrap_or_else(|e| panic!("{e}"));
    let options = CompileOptions::new(crate::vm::cpu().0);
    let apart = weights_apart(&module, &options).unwrap_or_else(|e| panic!("{e}"));
    let calls = |name: &str, program: &str| {
        let function = apart.function(name).expect("it is there");
        let is_call = |def: &Def| matches!(def, Def::CallDps { callee: DpsCallee::Prim(of), .. } if of.starts_with(program));
        let bindings = function
            .body
            .blocks
            .iter()
            .flat_map(|block| &block.bindings);
        bindings
            .filter(|&&id| is_call(&function.values[id].def))
            .count()
    };
    assert_eq!(calls("main_transform_params", "panels"), 1);
    assert_eq!(calls("main", "matmul_packed"), 2);
}

/// Views of one constant share their elements, and each has panels of its own.
#[test]
fn views_of_one_constant_are_different_weights() {
    let text = r#"
@I.ir_module
class Module:
    @R.function
    def main(
        x: R.Tensor((4, 64), "float32"),
        y: R.Tensor((4, 32), "float32"),
        w: R.Tensor((64, 32), "float32"),
        v: R.Tensor((32, 64), "float32"),
    ):
        with R.dataflow():
            a = R.matmul(x, w)
            b = R.matmul(y, v)
            c = R.matmul(b, w)
            z = R.add(a, c)
            R.output(z)
        return z
"#;
    let module = parse("views.py", text).unwrap_or_else(|e| panic!("{e}"));
    let weight = tensor(&[64, 32], 5);
    let view = weight.reshape(&[32, 64]).expect("as many elements");
    let inputs = [tensor(&[4, 64], 1), tensor(&[4, 32], 2)];
    let all = inputs.iter().chain([&weight, &view]);
    let all: Vec<interp::Value> = all.map(|t| interp::Value::Tensor(t.clone())).collect();
    let want = interp::run_module(&module, "main", &all, &Default::default()).expect("runs");
    let interp::Value::Tensor(want) = want else {
        panic!("{want:?}");
    };
    let weights = IndexMap::from([("w".to_owned(), weight), ("v".to_owned(), view)]);
    let bound = bind_params(&module, "main", &weights).unwrap_or_else(|e| panic!("{e}"));
    let (target, device) = crate::vm::cpu();
    let exec = compile(&bound, &CompileOptions::new(target)).unwrap_or_else(|e| panic!("{e}"));
    let mut machine = VirtualMachine::new(exec, device).expect("loads");
    let got = machine
        .call("main", &inputs.map(Value::from))
        .expect("runs");
    let got = got.into_tensor().expect("a tensor");
    compare(&want, &got, Tolerance::of(ScalarType::F32, 64)).unwrap_or_else(|e| panic!("{e}"));
}
