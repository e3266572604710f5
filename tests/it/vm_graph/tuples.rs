//! Tuples, and sizes that `match_cast` binds.

use weftile::runtime::Value;
use weftile::script;
use weftile::tensor::{DType, Tensor};

use super::{PRIMS, check, matrix, refused, truth};

#[test]
fn tuples_are_taken_and_given() {
    let main = r#"
    @R.function
    def main(t: R.Tuple(R.Tensor(("n", "m"), "float32"), R.Tuple(R.Tensor(("n", "m"), "float32"), R.Shape(["k"]))),
             y: R.Tensor(("n", "k"), "float32")):
        n, m, k = T.int64(), T.int64(), T.int64()
        cls = Module
        a = t[0]
        u = t[1]
        b = u[0]
        s = R.call_tir(cls.add, (a, b), out_sinfo=R.Tensor((n, m), "float32"))
        z = R.call_tir(cls.relu, (y,), out_sinfo=R.Tensor((n, k), "float32"))
        r = (u, ((s, s), z), R.shape([m, k * 2, n + k]), t)
        return r
"#;
    let args = |n: usize, m, k: usize| {
        let shape = Value::Shape([k as i64].into());
        let inner = Value::Tuple(vec![matrix(n, m), shape]);
        vec![Value::Tuple(vec![matrix(n, m), inner]), matrix(n, k)]
    };
    check(main, &[args(2, 3, 4), args(5, 1, 2), args(2, 3, 4)]);
    let mut wrong = args(2, 3, 4);
    wrong[1] = matrix(2, 5);
    assert_eq!(
        refused(main, &wrong),
        "`main`: dimension 1 of parameter `y` must be k = 4, got 5 (declared as \
         R.Tensor((n, k), dtype=\"float32\"))"
    );
    let shape = Value::Shape([2, 3].into());
    let wrong = [Value::Tuple(vec![matrix(2, 3), shape]), matrix(2, 5)];
    assert_eq!(
        refused(main, &wrong),
        "`main`: element [1] of parameter `t` must be a tuple, got a shape (declared as \
         R.Tuple(R.Tensor((n, m), dtype=\"float32\"), R.Shape([k])))"
    );
    let inner = Value::Tuple(vec![matrix(3, 3), Value::Shape([4].into())]);
    let wrong = [Value::Tuple(vec![matrix(2, 3), inner]), matrix(2, 4)];
    assert_eq!(
        refused(main, &wrong),
        "`main`: dimension 0 of element [1][0] of parameter `t` must be n = 2, got 3 (declared as \
         R.Tensor((n, m), dtype=\"float32\"))"
    );
    let wrong = [Value::Tuple(vec![matrix(2, 3)]), matrix(2, 4)];
    assert!(
        refused(main, &wrong).starts_with("`main`: parameter `t` must have 2 elements, got 1 (")
    );
}

#[test]
fn sizes_are_bound_by_match_cast() {
    let main = r#"
    @R.function
    def main(x: R.Tensor("float32", ndim=2), s: R.Shape(ndim=2)):
        n, m, k = T.int64(), T.int64(), T.int64()
        cls = Module
        y = R.match_cast(x, R.Tensor((n, m * 2), "float32"))
        t = R.match_cast(s, R.Shape([m, k]))
        z = R.call_tir(cls.twice, (y,), out_sinfo=R.Tensor((n, m * 4), "float32"))
        return (z, R.shape([n, m, k, n * k]))
"#;
    // `m` is read from `s`, so it must be known when `x` is matched: the other way round it is an error.
    let text = format!("@I.ir_module\nclass Module:\n{PRIMS}\n{main}");
    let error = script::parse("graph.py", &text).expect_err("m is not defined");
    assert!(
        error
            .to_string()
            .contains("symbolic variable m is not defined"),
        "{error}"
    );
    let main = main.replace(
        "        y = R.match_cast(x, R.Tensor((n, m * 2), \"float32\"))\n        t = R.match_cast(s, R.Shape([m, k]))\n",
        "        t = R.match_cast(s, R.Shape([m, k]))\n        y = R.match_cast(x, R.Tensor((n, m * 2), \"float32\"))\n",
    );
    let shape = |dims: [i64; 2]| Value::Shape(dims.into());
    check(
        &main,
        &[
            vec![matrix(3, 4), shape([2, 9])],
            vec![matrix(1, 6), shape([3, 0])],
            vec![matrix(3, 4), shape([2, 5])],
        ],
    );
    assert_eq!(
        refused(&main, &[matrix(3, 5), shape([2, 9])]),
        "`main`: dimension 1 of `y` must be m * 2 = 4, got 5 (declared as \
         R.Tensor((n, m * 2), dtype=\"float32\"))\n  from line 72: `y = R.match_cast(x, R.Tensor((n, m * 2), \"float32\"))`"
    );
    let ints = Tensor::zeros(DType::I32, &[3, 4]).expect("small");
    let message = refused(&main, &[ints.into(), shape([2, 9])]);
    assert!(
        message.starts_with("`main`: parameter `x` must be of float32, got int32 ("),
        "{message}"
    );
}

#[test]
fn what_is_not_known_until_a_cast_is_checked_by_it() {
    let main = r#"
    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Object):
        cls = Module
        if c:
            n, m = T.int64(), T.int64()
            a = R.match_cast(x, R.Tensor((n, m), "float32"))
            b = R.call_tir(cls.twice, (a,), out_sinfo=R.Tensor((n, m * 2), "float32"))
            y = R.call_tir(cls.flip, (b,), out_sinfo=R.Tensor((n, m * 2), "float32"))
        else:
            y = R.match_cast(x, R.Tensor((2, 2), "float32"))
        return y
"#;
    check(
        main,
        &[
            vec![truth(true), matrix(3, 5)],
            vec![truth(false), matrix(2, 2)],
            vec![truth(true), matrix(1, 2)],
        ],
    );
    assert_eq!(
        refused(main, &[truth(false), matrix(2, 3)]),
        "`main`: dimension 1 of `y_else` must be 2, got 3 (declared as \
         R.Tensor((2, 2), dtype=\"float32\"))\n  from line 76: `y = R.match_cast(x, R.Tensor((2, 2), \"float32\"))`"
    );
    let shape = Value::Shape([2, 2].into());
    assert!(
        refused(main, &[truth(true), shape])
            .starts_with("`main`: `a` must be a tensor, got a shape (")
    );
}

#[test]
fn dimensions_that_an_int64_cannot_count_are_errors() {
    let functions = r#"
    @R.function
    def main(x: R.Tensor(("n", 0), "float32")):
        n = T.int64()
        y = R.reshape(x, R.shape([n * 4611686018427387904]))
        return y
"#;
    let x = Tensor::from_slice::<f32>(&[4, 0], &[]).expect("nothing");
    let error = refused(functions, &[x.into()]);
    assert!(error.contains("does not fit an int64"), "{error}");
}
