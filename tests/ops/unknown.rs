//! Operands of which only the number of dimensions is known, and integers of which nothing is: they run on every device, and
//! what is asked of their extents is checked there.

use super::cases::devices;
use super::{Cases, f32s, i32s, i64s};
use weftile::pipeline::{CompileOptions, compile};
use weftile::runtime::Value;
use weftile::tensor::Tensor;
use weftile::vm::VirtualMachine;
use weftile::{interp, script};

const MATRIX: &str = r#"R.Tensor(dtype="float32", ndim=2)"#;

#[test]
fn extents_that_nobody_says() {
    let mut cases = Cases::default();
    let x = f32s(&[2, 3], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    let one = [("x", &x)];
    let calls = [
        (
            "R.add(x, x)",
            f32s(&[2, 3], &[0.0, 2.0, 4.0, 6.0, 8.0, 10.0]),
        ),
        (
            "R.multiply(R.add(x, R.const(1, \"float32\")), x)",
            f32s(&[2, 3], &[0.0, 2.0, 6.0, 12.0, 20.0, 30.0]),
        ),
        ("R.sum(x, axis=[1])", f32s(&[2], &[3.0, 12.0])),
        (
            "R.permute_dims(x)",
            f32s(&[3, 2], &[0.0, 3.0, 1.0, 4.0, 2.0, 5.0]),
        ),
        (
            "R.matmul(x, R.permute_dims(x))",
            f32s(&[2, 2], &[5.0, 14.0, 14.0, 50.0]),
        ),
        (
            "R.concat((x, x), axis=0)",
            f32s(
                &[4, 3],
                &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0],
            ),
        ),
        ("R.astype(x, \"int32\")", i32s(&[2, 3], &[0, 1, 2, 3, 4, 5])),
        ("R.argmax(x, axis=1)", i64s(&[2], &[2, 2])),
        (
            "R.expand_dims(x, axis=1)",
            f32s(&[2, 1, 3], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]),
        ),
        (
            "R.reshape(R.negative(x), R.shape([3, 2]))",
            f32s(&[3, 2], &[0.0, -1.0, -2.0, -3.0, -4.0, -5.0]),
        ),
        ("R.ones_like(x)", f32s(&[2, 3], &[1.0; 6])),
    ];
    for (call, expected) in calls {
        cases.case_of(call, &[MATRIX], &one, &[expected]);
    }
    // Extents that depend on elements.
    let ids = i32s(&[5], &[3, 1, 3, 2, 1]);
    let of_ids = [("x", &ids)];
    let known = [r#"R.Tensor((5,), "int32")"#];
    let unique = "R.unique(x, sorted=True)";
    cases.case_of(
        &format!("R.add({unique}, {unique})"),
        &known,
        &of_ids,
        &[i32s(&[3], &[2, 4, 6])],
    );
    cases.case_of(
        &format!("R.sum(R.multiply({unique}, R.const(2, \"int32\")))"),
        &known,
        &of_ids,
        &[i32s(&[], &[12])],
    );
    let empty = f32s(&[0, 3], &[]);
    cases.case_of(
        "R.add(x, x)",
        &[MATRIX],
        &[("x", &empty)],
        std::slice::from_ref(&empty),
    );
    cases.run();
}

/// What every device gives, or the errors that all of them give.
fn everywhere(text: &str, args: &[Tensor]) -> Result<Vec<Tensor>, Vec<String>> {
    let module = script::parse("unknown.py", text).unwrap_or_else(|e| panic!("{e}"));
    let given = args.iter().cloned().map(interp::Value::Tensor);
    let given: Vec<_> = given.collect();
    let mut results = vec![];
    let mut errors = vec![];
    match interp::run_module(&module, "main", &given, &Default::default()) {
        Ok(interp::Value::Tensor(tensor)) => results.push(tensor),
        Ok(other) => panic!("{other:?} is no tensor"),
        Err(error) => errors.push(error.to_string()),
    }
    for (target, device) in devices() {
        let executable = compile(&module, &CompileOptions::new(target));
        let executable = executable.unwrap_or_else(|e| panic!("{e}"));
        let mut vm = VirtualMachine::new(executable, device).expect("it loads");
        let args: Vec<_> = args.iter().cloned().map(Value::Tensor).collect();
        let result = vm.call("main", &args).and_then(|value| vm.to_host(value));
        match result {
            Ok(value) => results.push(value.into_tensor().expect("a tensor")),
            Err(error) => errors.push(error.to_string()),
        }
    }
    assert!(
        results.is_empty() || errors.is_empty(),
        "{results:?}\n{errors:?}"
    );
    if errors.is_empty() {
        Ok(results)
    } else {
        Err(errors)
    }
}

#[test]
fn extents_that_nobody_says_are_checked() {
    let text = r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((5,), "int32"), y: R.Tensor((3,), "int32")):
        gv = R.add(R.unique(x, sorted=True), y)
        return gv
"#;
    let y = i32s(&[3], &[10, 20, 30]);
    let three = everywhere(text, &[i32s(&[5], &[3, 1, 3, 2, 1]), y.clone()]);
    let three = three.unwrap_or_else(|errors| panic!("{errors:?}"));
    for got in three {
        assert_eq!(got.as_slice::<i32>().expect("integers"), [11, 22, 33]);
    }
    // One element is not repeated: only an extent that is written as 1 is.
    for ids in [[7; 5], [1, 2, 3, 4, 5]] {
        let errors = everywhere(text, &[i32s(&[5], &ids), y.clone()]).expect_err("they differ");
        for error in errors {
            assert!(
                error.contains("R.add (extents that broadcast): "),
                "{error}"
            );
        }
    }
}

#[test]
fn a_branch_names_extents_for_itself() {
    let text = r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(dtype="float32", ndim=1), y: R.Tensor(dtype="float32", ndim=1), c: R.Tensor((), "bool")) -> R.Tensor(dtype="float32", ndim=1):
        with R.dataflow():
            a = R.exp(x)
            b = R.subtract(a, R.exp(x))
            R.output(b)
        if c:
            d = R.add(b, y)
            r = R.add(d, x)
        else:
            r = R.subtract(y, b)
        gv = R.add(r, y)
        return gv
"#;
    let x = f32s(&[2], &[1.0, 2.0]);
    let y = f32s(&[2], &[10.0, 20.0]);
    for (c, expected) in [(true, [21.0, 42.0]), (false, [20.0, 40.0])] {
        let got = everywhere(text, &[x.clone(), y.clone(), super::bools(&[], &[c])]);
        for got in got.unwrap_or_else(|errors| panic!("{errors:?}")) {
            assert_eq!(got.as_slice::<f32>().expect("floats"), expected);
        }
    }
}
