//! Functions inside of functions: what they capture, calls of themselves, functions as arguments and as results.

use weftile::runtime::{Registry, Value};

use super::{check, count, machine, machine_with, matrix, module, truth};
use crate::vm::devices;

#[test]
fn a_closure_captures_values_and_dimensions() {
    let main = r#"
    @R.function
    def main(x: R.Tensor(("n", "m"), "float32"), y: R.Tensor(("n", "m"), "float32")):
        n, m = T.int64(), T.int64()
        cls = Module
        low = R.call_tir(cls.relu, (x,), out_sinfo=R.Tensor((n, m), "float32"))

        @R.function
        def plus(a: R.Tensor((n, m), "float32")) -> R.Tensor((n, m), "float32"):
            b = R.call_tir(cls.add, (a, low), out_sinfo=R.Tensor((n, m), "float32"))
            return b

        p = plus(y)
        q = R.call_tir(cls.flip, (p,), out_sinfo=R.Tensor((n, m), "float32"))
        r = plus(q)
        return (p, r)
"#;
    check(
        main,
        &[
            vec![matrix(3, 5), matrix(3, 5)],
            vec![matrix(1, 2), matrix(1, 2)],
            vec![matrix(0, 2), matrix(0, 2)],
        ],
    );
}

#[test]
fn a_closure_inside_of_a_closure_captures_from_both() {
    let main = r#"
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32")):
        cls = Module

        @R.function
        def outer(a: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
            b = R.call_tir(cls.flip, (a,), out_sinfo=R.Tensor((2, 3), "float32"))

            @R.function
            def inner(c: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
                d = R.call_tir(cls.add, (c, x), out_sinfo=R.Tensor((2, 3), "float32"))
                e = R.call_tir(cls.add, (d, b), out_sinfo=R.Tensor((2, 3), "float32"))
                return e

            f = inner(b)
            return f

        g = outer(y)
        h = outer(x)
        return (g, h)
"#;
    check(main, &[vec![matrix(2, 3), matrix(2, 3)]]);
}

#[test]
fn a_closure_calls_itself() {
    let main = r#"
    @R.function
    def main(k: R.Tensor((), "int32"), x: R.Tensor((2, 3), "float32")):
        cls = Module

        @R.function
        def again(i: R.Tensor((), "int32"), acc: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
            done = R.call_dps_packed("test.is_small", (i,), out_sinfo=R.Tensor((), "bool"))
            if done:
                r = acc
            else:
                j = R.call_tir(cls.less_one, (i,), out_sinfo=R.Tensor((), "int32"))
                s = R.call_tir(cls.add, (acc, x), out_sinfo=R.Tensor((2, 3), "float32"))
                r = again(j, s)
            return r

        y = again(k, x)
        return y
"#;
    let calls = [0, 1, 5].map(|k| vec![count(k), matrix(2, 3)]);
    check(main, &calls);
}

#[test]
fn functions_are_arguments_and_results() {
    let main = r#"
    @R.function(private=True)
    def plain(a: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        cls = Module
        b = R.call_tir(cls.relu, (a,), out_sinfo=R.Tensor((2, 3), "float32"))
        return b

    @R.function(private=True)
    def adder(x: R.Tensor((2, 3), "float32")) -> R.Callable((R.Tensor((2, 3), "float32"),), R.Tensor((2, 3), "float32"), True):
        cls = Module

        @R.function
        def plus(a: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
            b = R.call_tir(cls.add, (a, x), out_sinfo=R.Tensor((2, 3), "float32"))
            return b

        return plus

    @R.function(private=True)
    def apply(f: R.Callable((R.Tensor((2, 3), "float32"),), R.Tensor((2, 3), "float32"), True), a: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        b: R.Tensor((2, 3), "float32") = f(a)
        c: R.Tensor((2, 3), "float32") = f(b)
        return c

    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor((2, 3), "float32")):
        cls = Module
        plus = cls.adder(x)
        if c:
            y = cls.apply(plus, x)
        else:
            y = cls.apply(cls.plain, x)
        z: R.Tensor((2, 3), "float32") = plus(y)
        return z
"#;
    let calls = [true, false].map(|c| vec![truth(c), matrix(2, 3)]);
    check(main, &calls);
}

const GIVES: &str = r#"
    @R.function
    def main(x: R.Tensor((2, 3), "float32")) -> R.Callable((R.Tensor((2, 3), "float32"),), R.Tensor((2, 3), "float32"), True):
        cls = Module

        @R.function
        def plus(a: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
            b = R.call_tir(cls.add, (a, x), out_sinfo=R.Tensor((2, 3), "float32"))
            return b

        return plus

    @R.function
    def apply(f: R.Callable((R.Tensor((2, 3), "float32"),), R.Tensor((2, 3), "float32"), True), a: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        b: R.Tensor((2, 3), "float32") = f(a)
        return b

    @R.function
    def loose(f: R.Object, a: R.Tensor((2, 3), "float32")) -> R.Object:
        b = f(a, a)
        return b
"#;

#[test]
fn a_closure_belongs_to_the_machine_that_made_it() {
    let module = module(GIVES);
    let (target, device) = devices().swap_remove(0);
    let mut vm = machine(&module, &target, device.clone());
    let mut other = machine_with(&module, &target, device, &Registry::new());
    let closure = vm.call("main", &[matrix(2, 3)]).expect("it runs");
    let sum = vm.call("apply", &[closure.clone(), matrix(2, 3)]);
    let sum = vm.to_host(sum.expect("it runs")).expect("comes back");
    let Value::Tensor(sum) = sum else {
        panic!("a tensor");
    };
    let Value::Tensor(x) = matrix(2, 3) else {
        panic!("a tensor");
    };
    let twice: Vec<f32> = x
        .as_slice::<f32>()
        .expect("f32")
        .iter()
        .map(|v| 2.0 * v)
        .collect();
    assert_eq!(sum.as_slice::<f32>().expect("f32"), twice);
    let error = other
        .call("apply", &[closure.clone(), matrix(2, 3)])
        .expect_err("it is of another machine");
    assert!(
        error.to_string().contains("a closure of this machine"),
        "{error}"
    );
    let error = vm
        .call("loose", &[closure, matrix(2, 3)])
        .expect_err("one argument too many");
    let said = "the closure `main_plus` takes 1 arguments, 2 given\n";
    assert!(error.to_string().starts_with(said), "{error}");
    let error = vm
        .call("apply", &[matrix(2, 3), matrix(2, 3)])
        .expect_err("a tensor is no closure");
    let said = "`f` must be a function, got a tensor";
    assert!(error.to_string().contains(said), "{error}");
}
