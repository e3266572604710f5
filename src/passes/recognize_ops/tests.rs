//! Sites by their reasons, and the sites of every idiom.

use super::*;
use crate::script;

/// The sites of a function with these parameters and bindings, in words.
fn sites(params: &str, bindings: &[&str]) -> Vec<String> {
    let outputs: Vec<String> = (0..bindings.len()).map(|at| format!("v{at}")).collect();
    let last = outputs.last().map_or("x", String::as_str);
    let lines: Vec<String> = bindings
        .iter()
        .zip(&outputs)
        .map(|(line, name)| format!("            {name} = {line}\n"))
        .collect();
    let text = format!(
        "@I.ir_module\nclass Module:\n    @R.function\n    def main({params}):\n        with R.dataflow():\n{}            \
         R.output({last})\n        return {last}\n",
        lines.concat()
    );
    let module = script::parse("test.py", &text).unwrap_or_else(|e| panic!("{e}"));
    let recognition = recognize_ops(&module);
    script::well_formed(&recognition.module).unwrap_or_else(|e| panic!("{e}"));
    let sites = recognition.sites.iter();
    let sites = sites.filter(|site| site.operator != "multiply");
    sites
        .map(|site| match &site.declined {
            None => format!("{} at {}", site.operator, site.value),
            Some(reason) => format!("no {} at {}: {reason}", site.operator, site.value),
        })
        .collect()
}

const X: &str = r#"x: R.Tensor((2, 4), "float32"), y: R.Tensor((2, 4), "float32")"#;

/// Gelu of `x` by the error function with these parts.
fn gelu(product: &str, divisor: &str, half: &str) -> Vec<String> {
    let divide = format!("R.divide(x, {divisor})");
    let multiply = format!("R.multiply({product}, v2)");
    let halved = format!("R.multiply(v3, {half})");
    let lines = [
        &divide,
        "R.erf(v0)",
        "R.add(v1, R.const(1.0, \"float32\"))",
        &multiply,
        &halved,
    ];
    sites(X, &lines)
}

#[test]
fn other_numbers_and_values_are_declined() {
    let number = |value: &str| format!("R.const({value}, \"float32\")");
    let (root, half) = (number("1.4142135"), number("0.5"));
    assert_eq!(gelu("x", &root, &half), ["nn.gelu at v4"]);
    assert_eq!(
        gelu("x", &number("1.5"), &half),
        ["no nn.gelu at v4: the divisor in `erf` is 1.5, not 1.4142135623730951"]
    );
    assert_eq!(
        gelu("x", &root, &number("0.25")),
        ["no nn.gelu at v4: the factor is 0.25, not 0.5"]
    );
    assert_eq!(
        gelu("y", &root, &half),
        ["no nn.gelu at v4: `erf` takes another value than the product"]
    );
}

#[test]
fn what_others_use_is_not_computed_twice() {
    let lines = [
        "R.divide(x, R.const(1.4142135, \"float32\"))",
        "R.erf(v0)",
        "R.add(v1, R.const(1.0, \"float32\"))",
        "R.multiply(x, v2)",
        "R.multiply(v3, R.const(0.5, \"float32\"))",
        "R.add(v4, v1)",
    ];
    assert_eq!(sites(X, &lines), ["no nn.gelu at v4: `v1` has other users"]);
}

/// Layer normalisation with these dimensions of both means, and a scale.
fn layer_norm(first: &str, second: &str, scale: &str) -> Vec<String> {
    let center = format!("R.mean(x, {first})");
    let squares = format!("R.mean(v2, {second})");
    let scaled = format!("R.multiply(v6, {scale})");
    let lines = [
        &center,
        "R.subtract(x, v0)",
        "R.multiply(v1, v1)",
        &squares,
        "R.add(v3, R.const(0.00001, \"float32\"))",
        "R.sqrt(v4)",
        "R.divide(v1, v5)",
        &scaled,
    ];
    sites(X, &lines)
}

#[test]
fn normalisations_are_along_one_set_of_dimensions() {
    let last = "axis=[-1], keepdims=True";
    let scale = "R.const([1, 2, 3, 4], \"float32\")";
    assert_eq!(layer_norm(last, last, scale), ["nn.layer_norm at v7"]);
    // What is no scale of the operator follows it.
    assert_eq!(layer_norm(last, last, "y"), ["nn.layer_norm at v6"]);
    // The distances are normalised all the same.
    assert_eq!(
        layer_norm("axis=[0], keepdims=True", last, scale),
        ["nn.rms_norm at v7"]
    );
}

#[test]
fn both_means_are_along_the_same_dimensions() {
    let lines = [
        "R.mean(x, axis=[0], keepdims=True)",
        "R.mean(x, axis=[1], keepdims=True)",
        "R.subtract(x, v0)",
        "R.subtract(x, v1)",
        "R.multiply(v3, v3)",
        "R.mean(v4, axis=[1], keepdims=True)",
        "R.add(v5, R.const(0.00001, \"float32\"))",
        "R.sqrt(v6)",
        "R.divide(v2, v7)",
    ];
    assert_eq!(
        sites(X, &lines),
        ["no nn.layer_norm at v8: the mean is along dimensions [0], not [1]"]
    );
}

#[test]
fn reductions_keep_their_dimensions() {
    let lines = [
        "R.multiply(x, x)",
        "R.mean(v0, axis=[1])",
        "R.add(v1, R.const(0.00001, \"float32\"))",
        "R.rsqrt(v2)",
        "R.multiply(x, v3)",
    ];
    let params = r#"x: R.Tensor((4, 4), "float32")"#;
    assert_eq!(
        sites(params, &lines),
        ["no nn.rms_norm at v4: the mean of squares drops the dimensions that it reduces"]
    );
}

/// Attention with scores made of the product `v0` by this, shares of these by a softmax along this axis, of these operands.
fn attention(scores: &str, axis: i64, operand: &str) -> Vec<String> {
    let params = r#"q: R.Tensor((2, 3, 4, 4), "float32"), r: R.Tensor((2, 1, 4, 4), "float32"), k: R.Tensor((3, 3), "float32"), b: R.Tensor((3, 3), "bool"), s: R.Tensor((), "float32")"#;
    let softmax = format!("R.nn.softmax(v1, axis={axis})");
    let operand = format!("R.permute_dims({operand}, axes=[0, 2, 1, 3])");
    let lines = [
        "R.matmul(R.permute_dims(q, axes=[0, 2, 1, 3]), R.permute_dims(q, axes=[0, 2, 3, 1]))",
        scores,
        &softmax,
        &operand,
        "R.matmul(v2, v3)",
        "R.permute_dims(v4, axes=[0, 2, 1, 3])",
    ];
    sites(params, &lines)
}

#[test]
fn attention_adds_masks_and_has_a_constant_scale() {
    let halved = "R.multiply(v0, R.const(0.5, \"float32\"))";
    let reason = |scores: &str, axis: i64| attention(scores, axis, "q").concat();
    assert_eq!(reason(halved, -1), "nn.attention at v5");
    assert_eq!(reason("R.add(v0, k)", 3), "nn.attention at v5");
    assert_eq!(
        reason("R.multiply(v0, s)", 3),
        "no nn.attention at v5: the scale is not a constant scalar"
    );
    assert_eq!(
        reason("R.where(b, v0, R.const(-1000.0, \"float32\"))", 3),
        "no nn.attention at v5: the mask replaces scores, and is not added to them"
    );
    let least = "R.const(-1.0e30, \"float32\")";
    let replaced = |choices: &str| reason(&format!("R.where(b, {choices})"), 3);
    assert_eq!(replaced(&format!("v0, {least}")), "nn.attention at v5");
    assert_eq!(replaced(&format!("{least}, v0")), "nn.attention at v5");
    assert_eq!(
        reason(halved, 2),
        "no nn.attention at v5: softmax is along dimensions [2], not [3]"
    );
    assert_eq!(
        attention(halved, 3, "R.broadcast_to(r, (2, 3, 4, 4))"),
        ["nn.attention at v5"]
    );
}

#[test]
fn attention_takes_no_more_transposes_than_it_saves() {
    let params = r#"q: R.Tensor((2, 3, 4, 4), "float32"), r: R.Tensor((1, 3, 4, 4), "float32")"#;
    let lines = ["R.matmul(q, q)", "R.nn.softmax(v0)", "R.matmul(v1, q)"];
    assert_eq!(
        sites(params, &lines),
        ["no nn.attention at v2: its layout takes 4 transposes and saves 0"]
    );
    let lines = ["R.matmul(q, r)", "R.nn.softmax(v0)", "R.matmul(v1, q)"];
    assert_eq!(
        sites(params, &lines),
        ["no nn.attention at v2: the key does not have the shape that the operator takes"]
    );
}

#[test]
fn a_site_is_said_with_its_origin() {
    let site = OpSite {
        function: "main".to_owned(),
        value: "y".to_owned(),
        origin: Origin::Node("node \"gelu\" (Mul)".into()),
        operator: "nn.gelu",
        declined: Some(Declined::NotConstant { what: "the scale" }),
    };
    assert_eq!(
        site.to_string(),
        "`y` of `main` does not become nn.gelu: the scale is not a constant scalar\n  from node \"gelu\" (Mul)"
    );
}
