//! Functions of matches, with and without their code generators.

use std::collections::HashMap;

use super::*;
use crate::ir::alpha_eq;
use crate::ir::graph::pattern::{is_op, is_op_with_first, is_tuple, wildcard};
use crate::passes::{Codegens, Cx, pass};
use crate::{interp, ops, script};

fn parsed(text: &str) -> Module {
    script::parse("test.py", text).unwrap_or_else(|e| panic!("{e}"))
}

fn run(module: &Module, pass: &Pass) -> Result<Module, PassError> {
    use crate::kernel::{GpuTarget, Target};
    let mut cx = Cx::new(module, &Target::Gpu(GpuTarget::default()));
    cx.context.instruments.push(Arc::new(crate::passes::Verify));
    cx.run(pass, module)
}

fn fused(text: &str, patterns: &[FusionPattern], options: FuseByPattern) -> Module {
    let fused = run(&parsed(text), &options.pass(patterns.to_vec()));
    fused.unwrap_or_else(|e| panic!("{e}"))
}

fn assert_is(module: &Module, expected: &str) {
    if let Err(difference) = alpha_eq::module(&parsed(expected), module) {
        panic!("{difference}\n{}", script::print(module));
    }
}

/// A product, and a product with an activation.
fn patterns() -> [FusionPattern; 2] {
    let product = is_op(ops::op("matmul"), [&wildcard(), &wildcard()]);
    let relu = is_op(ops::op("nn.relu"), [&product]);
    [
        FusionPattern::new("lib.matmul_relu", &relu),
        FusionPattern::new("lib.matmul", &product),
    ]
}

const TWO: &str = r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, 4), "float32")):
        with R.dataflow():
            a = R.matmul(x, w)
            b = R.nn.relu(a)
            c = R.matmul(b, w)
            d = R.tanh(c)
            e = R.matmul(d, w)
            f = R.nn.relu(e)
            R.output(f)
        return f
"#;

/// The first pattern takes what it can, equal matches share a function.
const TWO_FUSED: &str = r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, 4), "float32")) -> R.Tensor(("n", 4), "float32"):
        cls = Module
        with R.dataflow():
            b = cls.fused_relax_matmul_relax_nn_relu(x, w)
            c = cls.fused_relax_matmul(b, w)
            d = R.tanh(c)
            f = cls.fused_relax_matmul_relax_nn_relu(d, w)
            R.output(f)
        return f

    @R.function(private=True)
    def fused_relax_matmul_relax_nn_relu(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, 4), "float32")) -> R.Tensor(("n", 4), "float32"):
        R.func_attr({"Composite": "lib.matmul_relu", "Primitive": True})
        with R.dataflow():
            a = R.matmul(x, w)
            b = R.nn.relu(a)
            R.output(b)
        return b

    @R.function(private=True)
    def fused_relax_matmul(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, 4), "float32")) -> R.Tensor(("n", 4), "float32"):
        R.func_attr({"Composite": "lib.matmul", "Primitive": True})
        with R.dataflow():
            a = R.matmul(x, w)
            R.output(a)
        return a
"#;

#[test]
fn patterns_are_looked_for_in_their_order() {
    let [relu, product] = patterns();
    let options = FuseByPattern::default();
    let both = [relu.clone(), product.clone()];
    assert_is(&fused(TWO, &both, options.clone()), TWO_FUSED);
    // What one pattern took is no match of the next.
    let products = fused(TWO, &[product, relu], options.clone());
    assert_eq!(
        products.functions().count(),
        2,
        "{}",
        script::print(&products)
    );
    assert_is(&fused(TWO, &[], options), &script::print(&parsed(TWO)));
}

#[test]
fn checks_see_what_their_pattern_matches() {
    let [x, w] = [wildcard(), wildcard()];
    let product = is_op(ops::op("matmul"), [&x, &w]);
    let relu = is_op(ops::op("nn.relu"), [&product]);
    let seen = relu.clone();
    let of_param = FusionPattern::new("lib.first", &relu)
        .annotate("lhs", &x)
        .check(move |match_| {
            let Some(Arg::Value(lhs)) = match_.annotated("lhs") else {
                return false;
            };
            let product = match_.matches[&product].values()[0];
            match_.function.params.contains(lhs)
                && match_.users(product) == match_.matches[&seen].values()
                && !match_.is_output(product)
        })
        .attrs(|_| Attrs::from_iter([("level".to_owned(), AttrValue::Int(3))]));
    let module = fused(TWO, &[of_param], FuseByPattern::default());
    let made: Vec<_> = module
        .functions()
        .filter(|(name, _)| *name != "main")
        .collect();
    let [(_, function)] = made.as_slice() else {
        panic!("{}", script::print(&module));
    };
    assert_eq!(function.attrs["level"], AttrValue::Int(3));
}

/// The product is needed to compute the other operand of the sum.
const DIAMOND: &str = r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 4), "float32"), w: R.Tensor((4, 4), "float32")):
        with R.dataflow():
            a = R.matmul(x, w)
            b = R.nn.relu(a)
            c = R.tanh(a)
            d = R.add(b, c)
            R.output(d)
        return d
"#;

#[test]
fn what_needs_itself_is_not_fused() {
    let product = is_op(ops::op("matmul"), [&wildcard(), &wildcard()]);
    let relu = is_op(ops::op("nn.relu"), [&product]);
    let sum = is_op(ops::op("add"), [&relu, &wildcard()]);
    let pattern = FusionPattern::new("lib.all", &sum);
    let module = fused(DIAMOND, &[pattern], FuseByPattern::default());
    assert_is(&module, &script::print(&parsed(DIAMOND)));
    // Both results of the smaller pattern are used outside: the one that is used first comes first.
    let pattern = FusionPattern::new("lib.relu", &relu);
    let module = fused(
        &DIAMOND.replace("R.add(b, c)", "R.add(c, b)"),
        &[pattern],
        FuseByPattern::default(),
    );
    let expected = r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 4), "float32"), w: R.Tensor((4, 4), "float32")):
        cls = Module
        with R.dataflow():
            t = cls.fused_relax_matmul_relax_nn_relu(x, w)
            a = t[0]
            b = t[1]
            c = R.tanh(a)
            d = R.add(c, b)
            R.output(d)
        return d

    @R.function(private=True)
    def fused_relax_matmul_relax_nn_relu(x: R.Tensor((4, 4), "float32"), w: R.Tensor((4, 4), "float32")) -> R.Tuple(R.Tensor((4, 4), "float32"), R.Tensor((4, 4), "float32")):
        R.func_attr({"Composite": "lib.relu", "Primitive": True})
        with R.dataflow():
            a = R.matmul(x, w)
            b = R.nn.relu(a)
            R.output(a, b)
        return (a, b)
"#;
    assert_is(&module, expected);
}

#[test]
fn a_larger_match_of_the_same_pattern_takes_a_smaller_one() {
    let leaf = wildcard();
    let one = is_op(ops::op("nn.relu"), [&leaf]);
    let two = is_op(ops::op("tanh"), [&one]);
    let pattern = FusionPattern::new("lib.chain", &(&two | &one));
    let text = TWO
        .replace("R.matmul(x, w)", "x")
        .replace("R.matmul(b, w)", "b");
    let module = fused(&text, &[pattern], FuseByPattern::default());
    let mut names: Vec<_> = module.funcs.keys().map(String::as_str).collect();
    names.sort_unstable();
    // `c` is another name for `b`, so `tanh` takes the first `nn.relu`.
    let expected = [
        "fused_relax_nn_relu",
        "fused_relax_nn_relu_relax_tanh",
        "main",
    ];
    assert_eq!(names, expected, "{}", script::print(&module));
}

#[test]
fn tuples_and_constants_go_along() {
    let text = r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 4), "float32"), y: R.Tensor((4, 4), "float32")):
        with R.dataflow():
            s = R.shape([32])
            t = R.concat((x, y), axis=0)
            u = R.add(t, R.const(1.0, "float32"))
            v = R.reshape(u, s)
            R.output(v)
        return v
"#;
    let joined = is_op(ops::op("concat"), [&is_tuple([&wildcard(), &wildcard()])]);
    let sum = is_op(ops::op("add"), [&joined, &wildcard()]);
    let pattern = is_op_with_first(ops::op("reshape"), [&sum]);
    let function = |constants, params: &str, constant: &str| {
        let pattern = FusionPattern::new("lib.all", &pattern);
        let options = FuseByPattern {
            constants,
            ..FuseByPattern::default()
        };
        let module = fused(text, &[pattern], options);
        let expected = format!(
            r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 4), "float32"), y: R.Tensor((4, 4), "float32")):
        cls = Module
        with R.dataflow():
            s = R.shape([32])
            v = cls.fused_relax_concat_relax_add_relax_reshape(x, y{})
            R.output(v)
        return v

    @R.function(private=True)
    def fused_relax_concat_relax_add_relax_reshape(x: R.Tensor((4, 4), "float32"), y: R.Tensor((4, 4), "float32"){params}) -> R.Tensor((32,), "float32"):
        R.func_attr({{"Composite": "lib.all", "Primitive": True}})
        with R.dataflow():
            t = R.concat((x, y), axis=0)
            u = R.add(t, {constant})
            v = R.reshape(u, R.shape([32]))
            R.output(v)
        return v
"#,
            if params.is_empty() {
                ""
            } else {
                r#", R.const(1.0, "float32")"#
            },
        );
        assert_is(&module, &expected);
    };
    function(Constants::Inside, "", r#"R.const(1.0, "float32")"#);
    function(Constants::Passed, r#", c: R.Tensor((), "float32")"#, "c");
}

#[test]
fn functions_for_code_generators_become_packed_functions() {
    let options = FuseByPattern {
        codegen: Codegen::Annotate,
        ..FuseByPattern::default()
    };
    // The columns of `x` are checked against the rows of `w` at run time.
    let text = TWO
        .replace("(\"n\", 4)", "(\"n\", \"k\")")
        .replace("R.matmul(b, w)", "b");
    let annotated = fused(&text, &patterns(), options);
    let function = annotated.function("fused_relax_matmul_relax_nn_relu_lib");
    let function = function.unwrap_or_else(|| panic!("{}", script::print(&annotated)));
    assert_eq!(function.attrs["Codegen"], AttrValue::Str("lib".to_owned()));
    assert!(!function.private);

    let compile = |function: &Function| match function.params.as_slice() {
        [_, _] => Ok(format!("env.{}", function.name)),
        _ => Err("two operands".to_owned()),
    };
    let packed = run(&annotated, &Codegens::new().with("lib", compile).pass());
    let packed = packed.unwrap_or_else(|e| panic!("{e}"));
    assert_is(
        &packed,
        r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", "k"), "float32"), w: R.Tensor((4, 4), "float32")) -> R.Tensor(("n", 4), "float32"):
        n, k = T.int64(), T.int64()
        with R.dataflow():
            check = R.match_cast(R.prim_value(k), R.Prim(value=4))
            b = R.call_dps_packed("env.fused_relax_matmul_relax_nn_relu_lib", (x, w), out_sinfo=R.Tensor((n, 4), "float32"))
            c = b
            d = R.tanh(c)
            f = R.call_dps_packed("env.fused_relax_matmul_relax_nn_relu1_lib", (d, w), out_sinfo=R.Tensor((n, 4), "float32"))
            R.output(f)
        return f
"#,
    );
    let none = run(&annotated, &Codegens::new().pass()).expect_err("nobody compiles");
    assert_eq!(
        none.to_string(),
        "`fused_relax_matmul_relax_nn_relu_lib` is for the code generator `lib`; there are: none"
    );
    let no = |_: &Function| Err("not today".to_owned());
    let refused = run(&annotated, &Codegens::new().with("lib", no).pass()).expect_err("refused");
    assert_eq!(
        refused.to_string(),
        "code generator `lib` on `fused_relax_matmul_relax_nn_relu_lib`: not today"
    );
}

#[test]
fn fused_functions_compute_the_same() {
    let module = parsed(TWO);
    let [x, w] = [(3, 4), (4, 4)].map(|(rows, columns)| {
        let values = (0..rows * columns).map(|i| (i as f32) * 0.25 - 1.0);
        crate::tensor::Tensor::from_slice(&[rows, columns], &values.collect::<Vec<_>>())
            .expect("as many")
    });
    let fuse = FuseByPattern::default().pass(patterns().to_vec());
    let made = run(&module, &fuse).unwrap_or_else(|e| panic!("{e}"));
    let merge = pass("MergeCompositeFunctions").expect("there is one");
    let merged = run(&made, &merge).unwrap_or_else(|e| panic!("{e}"));
    let result = |module: &Module| {
        let args = [x.clone(), w.clone()].map(interp::Value::Tensor);
        let out = interp::run_module(module, "main", &args, &HashMap::new());
        format!("{:?}", out.unwrap_or_else(|e| panic!("{e}")))
    };
    assert_eq!(result(&made), result(&module));
    assert_eq!(result(&merged), result(&module));
}
