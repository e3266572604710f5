//! Branches, calls between functions, recursion, and packed functions in branches.

use std::collections::HashMap;

use weftile::interp::{InterpError, Packed, run_module};
use weftile::runtime::{Override, PackedError, Registry, Value};
use weftile::support::resident::peak_resident;
use weftile::vm::VmError;

use super::{check, count, is_small, machine, machine_with, matrix, module, to_interp, truth};
use crate::vm::devices;

#[test]
fn a_branch_is_taken() {
    let main = r#"
    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor(("n", "m"), "float32")):
        n, m = T.int64(), T.int64()
        cls = Module
        if c:
            a = R.call_tir(cls.relu, (x,), out_sinfo=R.Tensor((n, m), "float32"))
            y = R.call_tir(cls.flip, (a,), out_sinfo=R.Tensor((n, m), "float32"))
        else:
            y = R.call_tir(cls.flip, (x,), out_sinfo=R.Tensor((n, m), "float32"))
        z = R.call_tir(cls.add, (x, y), out_sinfo=R.Tensor((n, m), "float32"))
        return z
"#;
    let calls: Vec<Vec<Value>> = [(true, 3, 5), (false, 3, 5), (false, 1, 8), (true, 0, 2)]
        .map(|(c, n, m)| vec![truth(c), matrix(n, m)])
        .into();
    check(main, &calls);
}

/// Memory made in one branch is not there if the other one was taken.
#[test]
fn memory_of_a_branch_stays_in_it() {
    let main = r#"
    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor(("n", "m"), "float32")):
        n, m = T.int64(), T.int64()
        cls = Module
        before = R.call_tir(cls.relu, (x,), out_sinfo=R.Tensor((n, m), "float32"))
        if c:
            a = R.call_tir(cls.twice, (before,), out_sinfo=R.Tensor((n, m * 2), "float32"))
            b = R.call_tir(cls.twice, (a,), out_sinfo=R.Tensor((n, m * 4), "float32"))
            y = R.call_tir(cls.flip, (b,), out_sinfo=R.Tensor((n, m * 4), "float32"))
        else:
            d = R.call_tir(cls.twice, (x,), out_sinfo=R.Tensor((n, m * 2), "float32"))
            y = R.call_tir(cls.twice, (d,), out_sinfo=R.Tensor((n, m * 4), "float32"))
        e = R.call_tir(cls.relu, (y,), out_sinfo=R.Tensor((n, m * 4), "float32"))
        f = R.call_tir(cls.flip, (e,), out_sinfo=R.Tensor((n, m * 4), "float32"))
        g = R.call_tir(cls.add, (e, f), out_sinfo=R.Tensor((n, m * 4), "float32"))
        h = R.call_tir(cls.twice, (g,), out_sinfo=R.Tensor((n, m * 8), "float32"))
        i = R.call_tir(cls.flip, (h,), out_sinfo=R.Tensor((n, m * 8), "float32"))
        return i
"#;
    let calls: Vec<Vec<Value>> = [(false, 2), (true, 2), (false, 7), (true, 7), (false, 1)]
        .map(|(c, n)| vec![truth(c), matrix(n, 3)])
        .into();
    check(main, &calls);
}

#[test]
fn branches_nest_and_give_tuples() {
    let main = r#"
    @R.function
    def main(c: R.Tensor((), "bool"), d: R.Tensor((), "bool"), x: R.Tensor(("n", "m"), "float32")):
        n, m = T.int64(), T.int64()
        cls = Module
        if c:
            if d:
                a = R.call_tir(cls.relu, (x,), out_sinfo=R.Tensor((n, m), "float32"))
                t = (a, x)
            else:
                t = (x, x)
            y = t
        else:
            b = R.call_tir(cls.flip, (x,), out_sinfo=R.Tensor((n, m), "float32"))
            y = (x, b)
        p = y[0]
        q = y[1]
        z = R.call_tir(cls.add, (p, q), out_sinfo=R.Tensor((n, m), "float32"))
        r = (z, y)
        return r
"#;
    let calls: Vec<Vec<Value>> = [(true, true), (true, false), (false, true), (false, false)]
        .map(|(c, d)| vec![truth(c), truth(d), matrix(4, 3)])
        .into();
    check(main, &calls);
}

#[test]
fn functions_call_each_other() {
    let functions = r#"
    @R.function
    def main(x: R.Tensor(("n", "m"), "float32")):
        cls = Module
        a = cls.layer(x)
        b = cls.layer(a)
        c = cls.pair(b, x)
        d = c[1]
        e = cls.layer(d)
        return (a, b, c, e)

    @R.function
    def layer(x: R.Tensor(("p", "q"), "float32")) -> R.Tensor(("p", "q"), "float32"):
        p, q = T.int64(), T.int64()
        cls = Module
        y = R.call_tir(cls.flip, (x,), out_sinfo=R.Tensor((p, q), "float32"))
        z = R.call_tir(cls.add, (x, y), out_sinfo=R.Tensor((p, q), "float32"))
        w = R.call_tir(cls.relu, (z,), out_sinfo=R.Tensor((p, q), "float32"))
        return w

    @R.function
    def pair(x: R.Tensor(("p", "q"), "float32"), y: R.Tensor(("p", "q"), "float32")):
        p, q = T.int64(), T.int64()
        cls = Module
        z = R.call_tir(cls.both, (x,), out_sinfo=[R.Tensor((p, q), "float32"), R.Tensor((p, q), "float32")])
        a = z[0]
        b = z[1]
        s = R.call_tir(cls.add, (b, y), out_sinfo=R.Tensor((p, q), "float32"))
        return (a, s)
"#;
    check(
        functions,
        &[vec![matrix(3, 4)], vec![matrix(1, 1)], vec![matrix(5, 2)]],
    );
}

const RECURSION: &str = r#"
    @R.function
    def main(i: R.Tensor((), "int32"), x: R.Tensor(("n", "m"), "float32")) -> R.Tensor(("n", "m"), "float32"):
        n, m = T.int64(), T.int64()
        cls = Module
        c = R.call_dps_packed("test.is_small", (i,), R.Tensor((), "bool"))
        if c:
            y = x
        else:
            j = R.call_tir(cls.less_one, (i,), out_sinfo=R.Tensor((), "int32"))
            a = R.call_tir(cls.flip, (x,), out_sinfo=R.Tensor((n, m), "float32"))
            b: R.Tensor((n, m), "float32") = cls.main(j, a)
            y = R.call_tir(cls.add, (a, b), out_sinfo=R.Tensor((n, m), "float32"))
        return y
"#;

#[test]
fn functions_call_themselves() {
    let calls: Vec<Vec<Value>> = [0, 1, 5, 12, 3]
        .map(|i| vec![count(i), matrix(2, 3)])
        .into();
    check(RECURSION, &calls);
}

#[test]
fn calls_nest_only_so_deep() {
    let module = module(RECURSION);
    for (target, device) in devices() {
        let mut vm = machine(&module, &target, device);
        let error = vm.call("main", &[count(10_000), matrix(2, 3)]);
        let error = error.expect_err("without end");
        assert!(matches!(error.root(), VmError::Recursion(_)), "{error:?}");
        assert!(error.to_string().contains("\n  from line "), "{error}");
        let again = vm.call("main", &[count(100), matrix(2, 3)]);
        again.expect("a refused call leaves the machine usable");
    }
    let args = [count(10_000), matrix(2, 3)].each_ref().map(to_interp);
    let packed: HashMap<&str, Packed> = HashMap::from([("test.is_small", &is_small as _)]);
    let error = run_module(&module, "main", &args, &packed);
    let error = error.expect_err("without end");
    assert!(
        matches!(error.root(), InterpError::Recursion(_)),
        "{error:?}"
    );
    assert!(error.to_string().contains("\n  from line "), "{error}");
}

/// A loop, as Relax writes one.
const LOOP: &str = r#"
    @R.function
    def main(i: R.Tensor((), "int32"), x: R.Tensor(("n", "m"), "float32")) -> R.Tensor(("n", "m"), "float32"):
        n, m = T.int64(), T.int64()
        cls = Module
        c = R.call_dps_packed("test.is_small", (i,), R.Tensor((), "bool"))
        if c:
            y = x
        else:
            j = R.call_tir(cls.less_one, (i,), out_sinfo=R.Tensor((), "int32"))
            a = R.call_tir(cls.flip, (x,), out_sinfo=R.Tensor((n, m), "float32"))
            y: R.Tensor((n, m), "float32") = cls.main(j, a)
        return y
"#;

/// A function whose last step is to call itself is a loop: it needs no stack, and no memory for the iterations before.
#[test]
fn calls_at_the_end_of_a_function_do_not_nest() {
    let calls: Vec<Vec<Value>> = [0, 1, 6, 1_001]
        .map(|i| vec![count(i), matrix(2, 3)])
        .into();
    check(LOOP, &calls);
    let module = module(LOOP);
    let (target, device) = devices().remove(0);
    let mut vm = machine(&module, &target, device);
    let mut run = |iterations: i32| {
        let result = vm.call("main", &[count(iterations), matrix(64, 64)]);
        result.unwrap_or_else(|e| panic!("{iterations} iterations: {e}"));
        peak_resident()
    };
    // 50,000 iterations that each left 16 KB behind would take 800 MB.
    let (before, after) = (run(1_000), run(50_000));
    // With all tests in one process the others' memory counts, too.
    let alone = std::env::var_os("NEXTEST").is_some();
    if let (true, Some(before), Some(after)) = (alone, before, after) {
        assert!(after < before + (64 << 20), "{before} and {after} bytes");
    }
}

/// Packed functions in both branches: on a GPU their arguments and results are copied.
#[test]
fn packed_functions_are_called_in_branches() {
    let main = r#"
    @R.function(pure=False)
    def main(c: R.Tensor((), "bool"), x: R.Tensor(("n", "m"), "float32")):
        n, m = T.int64(), T.int64()
        cls = Module
        if c:
            a = R.call_dps_packed("test.plus", (x,), R.Tensor((n, m), "float32"))
            y = R.call_dps_packed("test.plus", (a,), R.Tensor((n, m), "float32"))
        else:
            y = R.call_tir(cls.relu, (x,), out_sinfo=R.Tensor((n, m), "float32"))
        d = R.call_tir(cls.flip, (y,), out_sinfo=R.Tensor((n, m), "float32"))
        e = R.call_packed("test.same", d, sinfo_args=R.Tensor((n, m), "float32"))
        z = R.call_tir(cls.add, (e, y), out_sinfo=R.Tensor((n, m), "float32"))
        f = R.call_dps_packed("test.plus", (z,), R.Tensor((n, m), "float32"))
        return f
"#;
    let mut registry = Registry::new();
    let plus = |args: &mut [Value]| -> Result<Value, PackedError> {
        let [x, out] = args else {
            return Err("two arguments".into());
        };
        let sum = x.as_tensor()?.as_array::<f32>()?.mapv(|v| v + 1.0);
        out.as_tensor_mut()?.as_array_mut::<f32>()?.assign(&sum);
        Ok(Value::None)
    };
    let same = |args: &mut [Value]| -> Result<Value, PackedError> { Ok(args[0].clone()) };
    registry
        .register("test.plus", plus, Override::No)
        .expect("free");
    registry
        .register("test.same", same, Override::No)
        .expect("free");
    let module = module(main);
    for (target, device) in devices() {
        let mut vm = machine_with(&module, &target, device, &registry);
        for (c, rows) in [(false, 3), (true, 3), (false, 5), (true, 5), (false, 1)] {
            let x = matrix(rows, 4);
            let given = x
                .as_tensor()
                .expect("a tensor")
                .as_array::<f32>()
                .expect("f32")
                .to_owned();
            let result = vm
                .call("main", &[truth(c), x])
                .unwrap_or_else(|e| panic!("{e}"));
            let result = vm.to_host(result).expect("comes back");
            let y = given.mapv(|v| if c { v + 2.0 } else { v.max(0.0) });
            for ((i, j), got) in result
                .as_tensor()
                .expect("a tensor")
                .as_array::<f32>()
                .expect("f32")
                .into_dimensionality::<ndarray::Ix2>()
                .expect("a matrix")
                .indexed_iter()
            {
                let expected = 1.0 - y[[i, 3 - j]] + y[[i, j]] + 1.0;
                assert!(
                    (got - expected).abs() < 1e-5,
                    "{c} {i} {j}: {got} {expected}"
                );
            }
        }
    }
}
