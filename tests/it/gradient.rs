//! Derivatives beside differences of what the interpreter computes.

use std::collections::HashMap;

use weftile::interp::{Value, run_module};
use weftile::ir::{AttrValue, Attrs, Module};
use weftile::kernel::{GpuTarget, Target};
use weftile::passes::{Cx, PassError, pass_with};
use weftile::script::parse;
use weftile::tensor::Tensor;

/// The step of a difference.
const STEP: f64 = 1e-5;

fn module(params: &str, body: &str) -> Module {
    let lines: String = body
        .lines()
        .map(|line| format!("            {}\n", line.trim()))
        .collect();
    let text = format!(
        "@I.ir_module\nclass Module:\n    @R.function\n    def main({params}) -> R.Tensor((), \"float64\"):\n        \
         with R.dataflow():\n{lines}            R.output(l)\n        return l\n"
    );
    parse("test.py", &text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn differentiated(module: &Module, options: Attrs) -> Result<Module, PassError> {
    let mut options = options;
    options.insert("func_name".to_owned(), AttrValue::Str("main".to_owned()));
    let cx = Cx::new(module, &Target::Gpu(GpuTarget::default()));
    cx.run(&pass_with("Gradient", options)?, module)
}

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Tensor(tensor) => tensor.as_slice::<f64>().expect("of float64").to_vec(),
        other => panic!("{other:?} is no tensor"),
    }
}

/// Positive numbers between 0.4 and 1.9, of which no two are alike.
fn filled(shape: &[usize], seed: usize) -> Vec<f64> {
    let count = shape.iter().product();
    let at = |i: usize| (i * 7 + seed * 5) % 31;
    (0..count)
        .map(|i| 0.4 + at(i) as f64 / 31.0 * 1.5 + i as f64 * 1e-3)
        .collect()
}

/// Compares the derivatives by all parameters, which have these shapes.
fn check(body: &str, shapes: &[&[usize]]) {
    let names = ["x", "y", "z"];
    let params: Vec<String> = shapes
        .iter()
        .zip(names)
        .map(|(shape, name)| {
            let dims: String = shape.iter().map(|d| format!("{d}, ")).collect();
            format!("{name}: R.Tensor(({dims}), \"float64\")")
        })
        .collect();
    let before = module(&params.join(", "), body);
    let after = differentiated(&before, Attrs::new()).unwrap_or_else(|e| panic!("{body}: {e}"));
    let data: Vec<Vec<f64>> = shapes
        .iter()
        .enumerate()
        .map(|(seed, shape)| filled(shape, seed))
        .collect();
    let run = |module: &Module, name: &str, data: &[Vec<f64>]| {
        let args = data.iter().zip(shapes);
        let args =
            args.map(|(data, shape)| Value::Tensor(Tensor::from_slice(shape, data).expect("fits")));
        let args: Vec<Value> = args.collect();
        run_module(module, name, &args, &HashMap::new()).expect("it runs")
    };
    let Value::Tuple(made) = run(&after, "main_adjoint", &data) else {
        panic!("{body}: no tuple");
    };
    let [result, Value::Tuple(adjoints)] = made.as_slice() else {
        panic!("{body}: {made:?}");
    };
    assert_eq!(
        numbers(result),
        numbers(&run(&before, "main", &data)),
        "{body}"
    );
    for (at, adjoint) in adjoints.iter().enumerate() {
        let adjoint = numbers(adjoint);
        assert_eq!(adjoint.len(), data[at].len(), "{body}");
        for (index, derivative) in adjoint.iter().enumerate() {
            let moved = |step: f64| {
                let mut data = data.clone();
                data[at][index] += step;
                numbers(&run(&before, "main", &data))[0]
            };
            let difference = (moved(STEP) - moved(-STEP)) / (2.0 * STEP);
            let error = (difference - derivative).abs();
            let limit = 1e-6 * difference.abs().max(1.0);
            assert!(
                error <= limit,
                "{body}: by {}[{index}]: {derivative} is not {difference}",
                names[at]
            );
        }
    }
}

#[test]
fn elementwise_operators() {
    for op in [
        "exp", "log", "sqrt", "sin", "cos", "tanh", "sigmoid", "negative", "abs",
    ] {
        check(
            &format!("a = R.{op}(x)\nb = R.multiply(a, a)\nl = R.sum(b)"),
            &[&[2, 3]],
        );
    }
    for op in [
        "add", "subtract", "multiply", "divide", "power", "maximum", "minimum",
    ] {
        check(
            &format!("a = R.{op}(x, y)\nb = R.exp(a)\nl = R.sum(b)"),
            &[&[2, 3], &[2, 3]],
        );
        check(
            &format!("a = R.{op}(x, y)\nb = R.sin(a)\nl = R.sum(b)"),
            &[&[2, 3], &[3]],
        );
        check(
            &format!("a = R.{op}(x, y)\nb = R.sin(a)\nl = R.sum(b)"),
            &[&[1, 3], &[2, 1]],
        );
    }
    check(
        "c = R.less(x, y)\na = R.where(c, x, y)\nb = R.exp(a)\nl = R.sum(b)",
        &[&[2, 3], &[3]],
    );
    check(
        "a = R.astype(x, \"float64\")\nb = R.exp(a)\nl = R.sum(b)",
        &[&[4]],
    );
}

#[test]
fn reductions() {
    for op in ["sum", "mean", "variance"] {
        for rest in [
            "",
            ", axis=[1]",
            ", axis=[-1], keepdims=True",
            ", axis=[0, 2]",
        ] {
            check(
                &format!("a = R.{op}(x{rest})\nb = R.exp(a)\nl = R.sum(b)"),
                &[&[2, 3, 2]],
            );
        }
    }
}

#[test]
fn elements_that_move() {
    check(
        "a = R.permute_dims(x, axes=[2, 0, 1])\nb = R.multiply(a, y)\nl = R.sum(b)",
        &[&[2, 3, 4], &[4, 2, 3]],
    );
    check(
        "a = R.permute_dims(x)\nb = R.matmul(x, a)\nc = R.exp(b)\nl = R.mean(c)",
        &[&[2, 3]],
    );
    check(
        "a = R.reshape(x, (3, 2))\nb = R.multiply(a, y)\nl = R.sum(b)",
        &[&[2, 3], &[3, 2]],
    );
    check(
        "a = R.expand_dims(x, axis=[1])\nb = R.broadcast_to(a, (2, 4, 3))\nc = R.multiply(b, y)\nl = R.sum(c)",
        &[&[2, 3], &[2, 4, 3]],
    );
    check(
        "a = R.concat((x, y), axis=1)\ns = R.split(a, [1, 4], axis=-1)\nb = s[1]\nc = s[2]\nd = R.exp(b)\ne = R.sum(d)\nf = R.sin(c)\ng = R.sum(f)\nl = R.multiply(e, g)",
        &[&[2, 3], &[2, 4]],
    );
}

#[test]
fn values_used_more_than_once_and_tuples() {
    check(
        "a = R.exp(x)\nt = (a, x)\nu = (t, a)\nv = u[0]\nb = v[0]\nc = v[1]\nd = R.multiply(b, c)\ne = u[1]\nf = R.add(d, e)\ng = f\nh = R.multiply(g, f)\nl = R.sum(h)",
        &[&[3]],
    );
    check(
        "s = R.concat((x, x), axis=0)\nb = R.multiply(s, s)\nl = R.sum(b)",
        &[&[3]],
    );
    // `y` is not used.
    check("l = R.sum(x)", &[&[3], &[2, 2]]);
}

#[test]
fn functions_of_networks() {
    for (a, b) in [
        (&[2, 3][..], &[3, 4][..]),
        (&[3], &[3, 4]),
        (&[2, 3], &[3]),
        (&[3], &[3]),
        (&[2, 2, 3], &[3, 2]),
        (&[3], &[2, 3, 2]),
        (&[2, 2, 3], &[3]),
    ] {
        check("a = R.matmul(x, y)\nb = R.sin(a)\nl = R.sum(b)", &[a, b]);
    }
    for op in ["relu", "silu", "softmax", "log_softmax"] {
        check(
            &format!("c = R.subtract(x, y)\na = R.nn.{op}(c)\nb = R.exp(a)\nl = R.sum(b)"),
            &[&[2, 3], &[2, 3]],
        );
    }
    check(
        "a = R.nn.softmax(x, axis=0)\nb = R.multiply(a, y)\nl = R.sum(b)",
        &[&[2, 3], &[2, 3]],
    );
    for shape in [&[3][..], &[2, 3]] {
        check("l = R.nn.cross_entropy_with_logits(x, y)", &[shape, shape]);
    }
}

#[test]
fn what_cannot_be_differentiated_is_said() {
    let refused = |body: &str, options: &[(&str, AttrValue)]| {
        let module = module("x: R.Tensor((2, 3), \"float64\")", body);
        let options = options
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.clone()));
        let made = differentiated(&module, options.collect());
        made.map(|_| ()).expect_err("it is refused").to_string()
    };
    assert_eq!(
        refused("a = R.floor(x)\nl = R.sum(a)", &[]),
        "`main` cannot be differentiated: value `a`: R.floor has no derivative here"
    );
    assert_eq!(
        refused("l = R.sum(x)", &[("target_index", AttrValue::Int(1))]),
        "`main` cannot be differentiated: there is no result 1, of 1"
    );
    let names = AttrValue::List(vec![AttrValue::Str("w".to_owned())]);
    assert_eq!(
        refused("l = R.sum(x)", &[("require_grads", names)]),
        "`main` has no parameter `w`; its parameters are: x"
    );
}
