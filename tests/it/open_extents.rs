//! Operators of extents that a call decides, on every device: one executable takes any of them.

use std::collections::HashMap;

use weftile::kernel::{GpuClass, GpuTarget, Target};
use weftile::pipeline::{CompileOptions, compile};
use weftile::support::tolerance::{Tolerance, compare};
use weftile::tensor::{Element, Tensor};
use weftile::vm::VirtualMachine;
use weftile::{interp, lower, sched, script};

use crate::vm::devices;

/// The results of a function that returns this, for each of the calls: what the interpreter gives, which is what every device
/// gives. Symbols that the signature has in quotes are named before.
fn results(signature: &str, symbols: &[&str], line: &str, calls: &[Vec<Tensor>]) -> Vec<Tensor> {
    let mut all = results_everywhere(signature, symbols, line, calls).into_iter();
    let (_, expected) = all.next().expect("the interpreter's come first");
    for (device, got) in all {
        for (expected, got) in expected.iter().zip(&got) {
            let tolerance = Tolerance::of(expected.dtype().scalar, 16);
            compare(expected, got, tolerance)
                .unwrap_or_else(|e| panic!("{line}, {:?} on {device}: {e}", expected.shape()));
        }
    }
    expected
}

/// The same results by who gives them: the interpreter, then each device.
fn results_everywhere(
    signature: &str,
    symbols: &[&str],
    line: &str,
    calls: &[Vec<Tensor>],
) -> Vec<(String, Vec<Tensor>)> {
    let symbols = symbols
        .iter()
        .map(|name| format!("        {name} = T.int64()\n"));
    let text = format!(
        "@I.ir_module\nclass Module:\n    @R.function\n    def main({signature}):\n{}        y = {line}\n        return y\n",
        symbols.collect::<String>()
    );
    let module = script::parse("module.py", &text).expect("it is well formed");
    let run = |args: &Vec<Tensor>| {
        let args: Vec<_> = args.iter().cloned().map(interp::Value::Tensor).collect();
        match interp::run_module(&module, "main", &args, &HashMap::new()) {
            Ok(interp::Value::Tensor(result)) => result,
            other => panic!("{line}: {other:?}"),
        }
    };
    let mut all = vec![(
        "the interpreter".to_owned(),
        calls.iter().map(run).collect(),
    )];
    for (target, device) in devices() {
        let name = device.to_string();
        let exec = compile(&module, &CompileOptions::new(target)).expect("it compiles");
        let mut vm = VirtualMachine::new(exec, device).expect("it loads");
        let mut call = |args: &Vec<Tensor>| {
            let args: Vec<_> = args.iter().cloned().map(Into::into).collect();
            let result = vm.call("main", &args).expect("it runs");
            let result = vm.to_host(result).expect("it can be read");
            result.into_tensor().expect("a tensor")
        };
        all.push((name, calls.iter().map(&mut call).collect()));
    }
    all
}

/// Numbers that look like any others, between -64 and 63.
fn numbers<T: Element>(shape: &[usize], number: impl Fn(i32) -> T) -> Tensor {
    let count = shape.iter().product::<usize>() as u32;
    let mixed = (1..=count).map(|i| (i.wrapping_mul(2_654_435_761) >> 25) as i32 - 64);
    Tensor::from_slice(shape, &mixed.map(number).collect::<Vec<T>>()).expect("as many")
}

fn floats(shape: &[usize]) -> Tensor {
    numbers(shape, |v| v as f32 / 16.0)
}

/// The matrix without one row and one column.
fn minor(matrix: &[Vec<f64>], row: usize, column: usize) -> Vec<Vec<f64>> {
    let without = |row: &Vec<f64>| [&row[..column], &row[column + 1..]].concat();
    [&matrix[..row], &matrix[row + 1..]]
        .concat()
        .iter()
        .map(without)
        .collect()
}

/// Determinants by the rule of Laplace.
fn laplace(matrix: &[Vec<f64>]) -> f64 {
    let Some(first) = matrix.first() else {
        return 1.0;
    };
    let term = |(column, factor): (usize, &f64)| {
        let sign = if column % 2 == 0 { 1.0 } else { -1.0 };
        sign * factor * laplace(&minor(matrix, 0, column))
    };
    first.iter().enumerate().map(term).sum()
}

/// How far elimination in `f32` may be off: it gives the determinant of a matrix whose elements differ by their roundings (Higham,
/// "Accuracy and Stability of Numerical Algorithms", Theorem 9.3), and an element counts by its minor. Each of `n` steps rounds
/// seven times at most: a quotient within 2.5 units in the last place, which WGSL allows, a product, a difference.
fn error_of_elimination(matrix: &[Vec<f64>]) -> f64 {
    let roundoff = f64::from(f32::EPSILON) / 2.0;
    let n = matrix.len();
    let elements = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
    let weights = elements.map(|(i, j)| (matrix[i][j] * laplace(&minor(matrix, i, j))).abs());
    7.0 * n as f64 * roundoff * weights.sum::<f64>()
}

#[test]
fn determinants_of_open_extents() {
    let sizes = [(3, 4), (1, 1), (66, 5), (2, 0)];
    let calls = sizes.map(|(count, n)| vec![floats(&[count, n, n])]);
    let signature = r#"x: R.Tensor(("b", "n", "n"), "float32")"#;
    for (device, results) in results_everywhere(signature, &[], "R.det(x)", &calls) {
        for ((count, n), (args, result)) in sizes.into_iter().zip(calls.iter().zip(results)) {
            let elements = args[0].as_slice::<f32>().expect("floats");
            let determinants = result.as_slice::<f32>().expect("floats");
            assert_eq!(determinants.len(), count);
            for (at, &determinant) in determinants.iter().enumerate() {
                let row = |i: usize| {
                    let from = (at * n + i) * n;
                    let row = elements[from..from + n].iter();
                    row.map(|&v| f64::from(v)).collect()
                };
                let matrix = (0..n).map(row).collect::<Vec<Vec<f64>>>();
                let expected = laplace(&matrix);
                let error = (f64::from(determinant) - expected).abs();
                let most = error_of_elimination(&matrix);
                assert!(
                    error <= most,
                    "{at} of {count}, {n} on {device}: {determinant} for {expected}, off by {error:e}, {most:e} at most"
                );
            }
        }
    }
}

/// Filters are as wide as the extents of a call make them. Where nothing is left out, they are those without `antialias`.
#[test]
fn filters_of_open_extents() {
    let signature =
        r#"x: R.Tensor((1, 1, "h", "w"), "float32"), z: R.Tensor(("a", "b"), "float32")"#;
    let sizes = [
        ([8, 9], [3, 4]),
        ([5, 5], [9, 7]),
        ([31, 17], [2, 17]),
        ([4, 4], [0, 2]),
    ];
    let call =
        |([h, w], [a, b]): ([usize; 2], [usize; 2])| vec![floats(&[1, 1, h, w]), floats(&[a, b])];
    let calls = sizes.map(call);
    let ones = Tensor::from_slice(&[1, 1, 31, 17], &[1f32; 31 * 17]).expect("as many");
    let ones = [vec![ones, floats(&[2, 5])]];
    for method in ["linear", "cubic"] {
        let resized = |antialias: &str, calls: &[Vec<Tensor>]| {
            let line = format!(
                "R.image.resize2d(x, R.shape([a, b]), method=\"{method}\", antialias={antialias})"
            );
            results(signature, &["a", "b"], &line, calls)
        };
        let (filtered, plain) = (resized("True", &calls), resized("False", &calls));
        let tolerance = Tolerance::of(plain[1].dtype().scalar, 16);
        compare(&plain[1], &filtered[1], tolerance).expect("nothing is left out");
        // A constant image stays as it is.
        let still = resized("True", &ones).swap_remove(0);
        let still = still.as_slice::<f32>().expect("floats");
        assert!(still.iter().all(|v| (v - 1.0).abs() < 1e-5), "{still:?}");
    }
}

/// Where pixel `o` of `m` lies among `n`: two elements, with weights that are divided by `2 * m`.
fn taps(o: usize, n: usize, m: usize) -> [(usize, i64); 2] {
    let [o, n, m] = [o, n, m].map(|v| v as i64);
    let at = (2 * o + 1) * n - m;
    let (floor, rest) = (at.div_euclid(2 * m), at.rem_euclid(2 * m));
    let inside = |at: i64| at.clamp(0, n - 1) as usize;
    [(inside(floor), 2 * m - rest), (inside(floor + 1), rest)]
}

/// Mixtures of integers are exact before they are cut off, however large the elements are.
#[test]
fn integers_are_mixed_exactly() {
    fn check<T: Element + Into<i64>>(dtype: &str, number: impl Fn(i32) -> T) {
        let sizes = [([5, 7], [8, 9]), ([4, 4], [7, 10]), ([9, 9], [5, 4])];
        for ([h, w], [a, b]) in sizes {
            let x = numbers(&[1, 1, h, w], &number);
            for (rows, columns) in [
                ("\"h\"".to_owned(), "\"w\"".to_owned()),
                (h.to_string(), w.to_string()),
            ] {
                let signature = format!("x: R.Tensor((1, 1, {rows}, {columns}), \"{dtype}\")");
                let line = format!("R.image.resize2d(x, R.shape([{a}, {b}]), method=\"linear\")");
                let result = results(&signature, &[], &line, &[vec![x.clone()]]).swap_remove(0);
                let (x, y) = (
                    x.as_slice::<T>().expect("its type"),
                    result.as_slice::<T>().expect("its type"),
                );
                assert_eq!(y.len(), a * b);
                for (at, &y) in y.iter().enumerate() {
                    let mut sum = 0;
                    for (row, by) in taps(at / b, h, a) {
                        for (column, weight) in taps(at % b, w, b) {
                            let element: i64 = x[row * w + column].into();
                            sum += element * by * weight;
                        }
                    }
                    let expected = sum / (4 * a * b) as i64;
                    assert_eq!(y.into(), expected, "{dtype}, {h} x {w} to {a} x {b}: {at}");
                }
            }
        }
    }
    check::<i32>("int32", |v| v);
    check::<i32>("int32", |v| v * 33_000_001);
    check::<u8>("uint8", |v| (v + 64) as u8);
    check::<i8>("int8", |v| v as i8);
}

/// Windows over images of open sizes, whose extents are quotients: on a GPU each thread has some, and none goes through all.
#[test]
fn windows_of_open_extents() {
    let line = |pool: &str| {
        format!(
            "R.nn.{pool}(x, pool_size=[3, 3], strides=[2, 2], padding=[0, 0, 0, 0], dilation=[1, 1], ceil_mode=False, layout=\"NCHW\")"
        )
    };
    let shapes = [[3, 41, 31, 20], [1, 1, 9, 9], [2, 5, 33, 17]];
    let calls = shapes.map(|shape| vec![floats(&shape)]);
    for pool in ["max_pool2d", "avg_pool2d"] {
        let image = r#"x: R.Tensor(("n", "c", "h", "w"), dtype="float32")"#;
        results(image, &["n", "c", "h", "w"], &line(pool), &calls);
    }
}

#[test]
fn windows_of_open_extents_are_spread_over_threads() {
    let text = r#"
@T.prim_func
def f(x: T.handle, y: T.handle):
    n, c, h, w = T.int64(), T.int64(), T.int64(), T.int64()
    X = T.match_buffer(x, (n, c, h, w), "float32")
    Y = T.match_buffer(y, (n, c, (h - 3) // 2 + 1, (w - 3) // 2 + 1), "float32")
    for i, j, p, q, r, s in T.grid(n, c, (h - 3) // 2 + 1, (w - 3) // 2 + 1, 3, 3):
        with T.block("Y"):
            vi, vj, vp, vq, vr, vs = T.axis.remap("SSSSRR", [i, j, p, q, r, s])
            with T.init():
                Y[vi, vj, vp, vq] = T.float32("-inf")
            Y[vi, vj, vp, vq] = T.max(Y[vi, vj, vp, vq], X[vi, vj, vp * 2 + vr, vq * 2 + vs])
"#;
    for class in [GpuClass::Nvidia, GpuClass::Apple, GpuClass::Software] {
        let target = Target::Gpu(GpuTarget::usual(class));
        for open in [true, false] {
            let text = match open {
                true => text.to_owned(),
                false => text
                    .replace("(h - 3) // 2 + 1", "15")
                    .replace("(n, c, h, w)", "(n, c, 31, w)"),
            };
            let module = script::parse("case.py", &text).expect("it is well formed");
            let func = module.prim_func("f").expect("is there");
            let (scheduled, lowered) =
                sched::rules::choose(func, &target, |f| lower::lower(f, &target));
            assert!(lowered.is_ok());
            assert_eq!(scheduled.rules, ["fallback"], "{class:?}, {open}");
        }
    }
}
