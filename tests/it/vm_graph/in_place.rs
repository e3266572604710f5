//! Tensors changed in place.

use weftile::runtime::Value;
use weftile::tensor::{DType, Tensor};

use super::{check, machine, matrix, module};
use crate::vm::devices;

/// Writes over its second parameter, which in-place calls pass as an input.
const OVERWRITE: &str = r#"
    @T.prim_func
    def overwrite(x: T.handle, y: T.handle):
        n, m = T.int64(), T.int64()
        X = T.match_buffer(x, (n, m), "float32")
        Y = T.match_buffer(y, (n, m), "float32")
        for i, j in T.grid(n, m):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = X[vi, vj] + T.float32(1)
"#;

#[test]
fn tensors_are_changed_in_place() {
    let functions = r#"
    @R.function
    def main(x: R.Tensor(("n", "m"), "float32")):
        n, m = T.int64(), T.int64()
        cls = Module
        a = R.call_tir(cls.relu, (x,), out_sinfo=R.Tensor((n, m), "float32"))
        b = R.call_tir_inplace(cls.overwrite, (x, a), out_sinfo=R.Tensor((n, m), "float32"), inplace_indices=[1])
        c = R.call_tir(cls.flip, (b,), out_sinfo=R.Tensor((n, m), "float32"))
        return c
"#;
    check(
        &format!("{OVERWRITE}{functions}"),
        &[vec![matrix(3, 4)], vec![matrix(2, 2)]],
    );
}

#[test]
fn what_others_hold_is_copied_before_it_is_changed() {
    let functions = r#"
    @R.function
    def main(x: R.Tensor((1, 2), "float32"), y: R.Tensor((1, 2), "float32")):
        cls = Module
        a = R.call_tir_inplace(cls.overwrite, (x, y), out_sinfo=R.Tensor((1, 2), "float32"), inplace_indices=[1])
        k = R.const([[1.5, 2.5]], "float32")
        b = R.call_tir_inplace(cls.overwrite, (a, k), out_sinfo=R.Tensor((1, 2), "float32"), inplace_indices=[1])
        return (a, b)
"#;
    let text = format!("{OVERWRITE}{functions}");
    let args = vec![matrix(1, 2), matrix(1, 2)];
    check(&text, &[args.clone(), args.clone()]);
    let module = module(&text);
    for (target, device) in devices() {
        let mut vm = machine(&module, &target, device);
        let there: Vec<Value> = args
            .iter()
            .map(|arg| vm.to_device(arg.clone()).expect("small"))
            .collect();
        let (_, profile) = vm.profile("main", &there).expect("runs");
        let mut why = profile.entries.iter().filter_map(|e| e.why.as_deref());
        let said = "changes it in place, and others hold it";
        assert!(why.any(|why| why.ends_with(said)), "{profile}");
        for (arg, there) in args.iter().zip(there) {
            let now = vm.to_host(there).expect("comes back");
            assert_eq!(now.as_tensor(), arg.as_tensor(), "an argument is as it was");
        }
    }
}

#[test]
fn a_value_that_is_used_again_is_as_it_was() {
    let functions = r#"
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), c: R.Tensor((), "bool")):
        cls = Module
        a = R.call_tir(cls.relu, (x,), out_sinfo=R.Tensor((2, 3), "float32"))
        b = a
        t = (a, x)
        d = R.call_tir_inplace(cls.overwrite, (x, a), out_sinfo=R.Tensor((2, 3), "float32"), inplace_indices=[1])
        e = R.call_tir_inplace(cls.overwrite, (d, b), out_sinfo=R.Tensor((2, 3), "float32"), inplace_indices=[1])
        if c:
            g = R.call_tir_inplace(cls.overwrite, (x, e), out_sinfo=R.Tensor((2, 3), "float32"), inplace_indices=[1])
            h = R.call_tir_inplace(cls.overwrite, (g, e), out_sinfo=R.Tensor((2, 3), "float32"), inplace_indices=[1])
            f = h
        else:
            f = e
        u = t[0]
        k = R.call_tir_inplace(cls.overwrite, (f, u), out_sinfo=R.Tensor((2, 3), "float32"), inplace_indices=[1])
        return (d, e, f, u, k)
"#;
    let truth = |value: bool| {
        let tensor = Tensor::from_bytes(DType::BOOL, &[], &[value.into()]).expect("one");
        Value::Tensor(tensor)
    };
    check(
        &format!("{OVERWRITE}{functions}"),
        &[
            vec![matrix(2, 3), truth(true)],
            vec![matrix(2, 3), truth(false)],
        ],
    );
}

#[test]
fn a_tensor_that_is_passed_twice_is_changed_in_one_place() {
    let functions = r#"
    @R.function
    def main(x: R.Tensor(("n", "m"), "float32")):
        n, m = T.int64(), T.int64()
        cls = Module
        a = R.call_tir(cls.relu, (x,), out_sinfo=R.Tensor((n, m), "float32"))
        b = R.call_tir_inplace(cls.overwrite, (a, a), out_sinfo=R.Tensor((n, m), "float32"), inplace_indices=[1])
        c = R.call_tir_inplace(cls.shift, (b, b), out_sinfo=R.Tensor((n, m), "float32"), inplace_indices=[0])
        return c
"#;
    let shift = r#"
    @T.prim_func
    def shift(x: T.handle, y: T.handle):
        n, m = T.int64(), T.int64()
        X = T.match_buffer(x, (n, m), "float32")
        Y = T.match_buffer(y, (n, m), "float32")
        for i, j in T.grid(n, m):
            with T.block("X"):
                vi, vj = T.axis.remap("SS", [i, j])
                X[vi, vj] = Y[vi, m - 1 - vj] * T.float32(2)
"#;
    check(
        &format!("{OVERWRITE}{shift}{functions}"),
        &[vec![matrix(3, 4)], vec![matrix(2, 2)]],
    );
}
