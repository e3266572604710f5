//! Patterns over most kinds of bindings.

use super::*;
use crate::ir::graph::{Arg, Globals, Scope, ValueId};
use crate::ir::{AttrValue, Module};
use crate::{ops, script};

/// Most kinds of bindings; `s` is two names away from a product.
const MODULE: &str = r#"
@I.ir_module
class Module:
    @T.prim_func
    def exp1(x: T.Buffer((4, 4), "float32"), y: T.Buffer((4, 4), "float32")):
        for i, j in T.grid(4, 4):
            with T.block("y"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = T.exp(x[vi, vj])

    @R.function
    def main(x: R.Tensor((4, 4), "float32"), w: R.Tensor((4, 4), "float32"), b: R.Tensor((4,), "float32"), h: R.Tensor((4, 4), "float16")):
        cls = Module
        p = R.matmul(x, w)
        q = p
        s = q
        c = R.add(s, R.const(1.0, "float32"))
        d = R.add(b, s)
        t = (x, c)
        u = R.concat(t, axis=1)
        v = R.split(u, indices_or_sections=2, axis=0)
        y = v[1]
        e = R.call_tir(cls.exp1, (c,), out_sinfo=R.Tensor((4, 4), "float32"))
        f = R.call_dps_packed("env.relu", (e, w), out_sinfo=R.Tensor((4, 4), "float32"))
        g = R.call_pure_packed("env.sum", f, sinfo_args=R.Tensor((4, 4), "float32"))
        m = R.multiply(x, x)
        n = R.multiply(x, w)
        k = R.nn.relu(h)
        return g
"#;

struct Main(Module);

impl Main {
    fn new() -> Self {
        Self(script::parse("main.py", MODULE).unwrap_or_else(|e| panic!("{e}")))
    }

    fn value(&self, name: &str) -> ValueId {
        let values = &self.0.function("main").expect("as written").values;
        let found = values.iter().find(|(_, value)| value.name == name);
        found.expect("a value with this name").0
    }

    fn matches(&self, name: &str, pattern: &DfPattern) -> Option<Matches> {
        let globals = Globals::of(&self.0);
        let scope = Scope {
            globals: &globals,
            frames: vec![&self.0.function("main").expect("as written").values],
        };
        pattern.matches(&Arg::Value(self.value(name)), &scope)
    }

    fn is(&self, name: &str, pattern: &DfPattern) -> bool {
        self.matches(name, pattern).is_some()
    }
}

fn any(name: &str) -> DfPattern {
    is_op_with_first(ops::op(name), [])
}

#[test]
fn calls_match_by_callee_and_arguments() {
    let main = Main::new();
    let [a, b] = [wildcard(), wildcard()];
    let product = is_op(ops::op("matmul"), [&a, &b]);
    // Names for other arguments are looked through.
    let found = main.matches("s", &product).expect("a product");
    assert_eq!(found[&a], Arg::Value(main.value("x")));
    assert_eq!(found[&b], Arg::Value(main.value("w")));
    assert_eq!(found.computed(), [main.value("p")]);
    assert!(!main.is("s", &is_op(ops::op("matmul"), [&a])));
    assert!(main.is("s", &is_op_with_first(ops::op("matmul"), [&a])));
    assert!(!main.is("c", &product));
    assert!(main.is("e", &is_call_tir("exp", [&wildcard()])));
    assert!(main.is("e", &is_any_call_tir("")));
    assert!(!main.is("e", &is_any_call_tir("exp12")));
    assert!(!main.is("e", &is_call_dps_packed("exp", [&wildcard()])));
    let relu = is_call_dps_packed("env.relu", [&is_any_call_tir("exp1"), &is_var("w")]);
    assert!(main.is("f", &relu));
    assert!(main.is("g", &is_call_packed("env.sum", [&relu])));
}

#[test]
fn sums_match_in_either_order() {
    let main = Main::new();
    let [product, bias] = [any("matmul"), wildcard()];
    let sum = is_op(ops::op("add"), [&product, &bias]);
    for (name, other) in [("c", None), ("d", Some("b"))] {
        let found = main.matches(name, &sum).expect("a sum with a product");
        assert_eq!(found[&product], Arg::Value(main.value("p")));
        if let Some(other) = other {
            assert_eq!(found[&bias], Arg::Value(main.value(other)));
        }
    }
    let concat = is_op(ops::op("concat"), [&is_tuple([&any("add"), &is_var("x")])]);
    assert!(!main.is("u", &concat));
}

#[test]
fn a_pattern_matches_one_argument() {
    let main = Main::new();
    let same = wildcard();
    let square = is_op(ops::op("multiply"), [&same, &same]);
    assert!(main.is("m", &square));
    assert!(!main.is("n", &square));
}

#[test]
fn tuples_match_with_their_items() {
    let main = Main::new();
    let [x, sum] = [is_var("x"), any("add")];
    let concat = is_op(ops::op("concat"), [&is_tuple([&x, &sum])]);
    assert!(main.is("u", &concat));
    let unordered = is_op(ops::op("concat"), [&is_unordered_tuple([&sum, &x])]);
    assert!(main.is("u", &unordered));
    let split = is_op(ops::op("split"), [&unordered]);
    assert!(main.is("y", &is_tuple_get_item(&split, None)));
    assert!(main.is("y", &is_tuple_get_item(&split, Some(1))));
    assert!(!main.is("y", &is_tuple_get_item(&split, Some(0))));
}

#[test]
fn what_is_known_of_a_value_restricts_a_match() {
    let main = Main::new();
    let constant = is_const();
    let sum = is_op(ops::op("add"), [&wildcard(), &constant]);
    assert!(main.is("c", &sum));
    assert!(!main.is("d", &sum));
    let relu = any("nn.relu");
    assert!(main.is("k", &relu.has_dtype(DType::F16)));
    assert!(!main.is("k", &relu.has_dtype(DType::F32)));
    let dims = |dims: &[i64]| dims.iter().map(|&d| Expr::i64(d)).collect::<Vec<_>>();
    assert!(main.is("u", &any("concat").has_shape(dims(&[4, 8]))));
    assert!(!main.is("u", &any("concat").has_shape(dims(&[8, 4]))));
    let axis = |axis| Attrs::from_iter([("axis".to_owned(), AttrValue::Int(axis))]);
    assert!(main.is("u", &any("concat").has_attr(axis(1))));
    assert!(!main.is("u", &any("concat").has_attr(axis(0))));
    let info = StructInfo::tensor(dims(&[4, 4]), DType::F16);
    assert!(main.is("k", &relu.has_struct_info(info.clone())));
    assert!(!main.is("m", &any("multiply").has_struct_info(info)));
    let [a, b] = [wildcard(), wildcard()];
    let product = is_op(ops::op("matmul"), [&a, &b]);
    let sum = is_op(ops::op("add"), [&product, &b.same_shape_as(&a)]);
    assert!(!main.is("d", &sum), "`w` and the bias are not one value");
    let [bias, other] = [wildcard(), wildcard()];
    let sum = is_op(ops::op("add"), [&bias.same_shape_as(&other), &other]);
    assert!(!main.is("d", &sum));
    let product = is_op(ops::op("multiply"), [&bias.same_shape_as(&other), &other]);
    assert!(main.is("n", &product));
}

#[test]
fn alternatives_and_negations() {
    let main = Main::new();
    let [sum, product] = [any("add"), any("matmul")];
    let either = &sum | &product;
    let found = main.matches("p", &either).expect("a product");
    assert!(found.get(&product).is_some() && found.get(&sum).is_none());
    assert!(main.is("c", &either) && !main.is("u", &either));
    assert!(!main.is("c", &!&either) && main.is("u", &!&either));
    assert!(main.is("c", &(&sum & &!&product)));
    assert!(main.is("x", &is_var("x")) && main.is("x", &is_var("")));
    assert!(!main.is("x", &is_var("w")) && !main.is("c", &is_var("c")));
}

#[test]
fn what_is_not_to_be_looked_at_is_an_input() {
    let main = Main::new();
    let sum = is_op(ops::op("add"), [&any("matmul"), &wildcard()]);
    let globals = Globals::of(&main.0);
    let scope = Scope {
        globals: &globals,
        frames: vec![&main.0.function("main").expect("as written").values],
    };
    let [d, p] = [main.value("d"), main.value("p")];
    let within = |id: ValueId| id != p;
    assert!(
        sum.matches_within(&Arg::Value(d), &scope, &within)
            .is_none()
    );
}

#[test]
fn patterns_of_a_context_match_values_that_use_each_other() {
    let main = Main::new();
    let function = main.0.function("main").expect("as written");
    let bindings = &function.blocks()[0].bindings;
    let globals = Globals::of(&main.0);
    let [input, product, sum] = [wildcard(), any("matmul"), any("add")];
    let uses = |used: &DfPattern, user: &DfPattern, argument: Option<usize>, only: bool| {
        let mut context = PatternContext::new();
        context.used_by(&input, &product, Some(1));
        match only {
            true => context.only_used_by(used, user, argument),
            false => context.used_by(used, user, argument),
        }
        context.matches(function, bindings, &globals)
    };
    let exp = is_any_call_tir("exp1");
    let found = uses(&sum, &exp, Some(0), false).expect("`e` uses `c`");
    assert_eq!(found[&input], Arg::Value(main.value("w")));
    assert_eq!(found[&sum], Arg::Value(main.value("c")));
    assert!(uses(&sum, &exp, Some(1), false).is_none());
    // The tuple `t` uses `c`, too.
    assert!(uses(&sum, &exp, Some(0), true).is_none());
    let concat = any("concat");
    let split = any("split");
    assert!(uses(&concat, &split, None, true).is_some());
}
