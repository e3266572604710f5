//! What operators ask of symbolic extents: checked when the program runs, in the interpreter, on the CPU and on any GPU.

use std::fmt::Write;

use super::cases::devices;
use weftile::interp;
use weftile::pipeline::{CompileOptions, compile};
use weftile::runtime::Value;
use weftile::script;
use weftile::support::tolerance::{Tolerance, compare};
use weftile::tensor::{ScalarType, Tensor};
use weftile::vm::VirtualMachine;

/// A call of a matrix `x` of `n` by `m`, or of an image `x` of 1 by `n` by `m` by 2.
struct Asking {
    call: &'static str,
    ndim: usize,
    /// `n` and `m` that it takes.
    taken: [usize; 2],
    /// Both that it refuses.
    refused: [usize; 2],
    /// What the error says.
    says: &'static str,
}

const fn matrix(
    call: &'static str,
    taken: [usize; 2],
    refused: [usize; 2],
    says: &'static str,
) -> Asking {
    Asking {
        call,
        ndim: 2,
        taken,
        refused,
        says,
    }
}

const fn image(
    call: &'static str,
    taken: [usize; 2],
    refused: [usize; 2],
    says: &'static str,
) -> Asking {
    Asking {
        call,
        ndim: 4,
        taken,
        refused,
        says,
    }
}

const ALL: &[Asking] = &[
    matrix(
        "R.matmul(x, x)",
        [3, 3],
        [3, 2],
        "R.matmul (the extents of the reduction): m must be n = 3, got 2",
    ),
    matrix(
        "R.concat((x, R.permute_dims(x)), axis=0)",
        [2, 2],
        [3, 2],
        "R.concat (",
    ),
    matrix(
        "R.stack((x, R.permute_dims(x)))",
        [2, 2],
        [3, 2],
        "R.stack (",
    ),
    matrix(
        "R.einsum((x, x), subscripts=\"ij,jk->ik\")",
        [2, 2],
        [3, 2],
        "R.einsum (",
    ),
    matrix(
        "R.broadcast_to(x, R.shape([n, 4]))",
        [3, 4],
        [3, 2],
        "R.broadcast_to (an extent and its broadcast): m must be ",
    ),
    // An extent may turn out to be 1 where the shape is given, and nowhere else.
    matrix(
        "R.broadcast_to(x, R.shape([n, 4]))",
        [3, 1],
        [3, 3],
        "got 3",
    ),
    matrix(
        "R.broadcast_to(x, R.shape([5, m]))",
        [1, 2],
        [2, 2],
        "got 2",
    ),
    matrix(
        "R.add(x, R.permute_dims(x))",
        [3, 3],
        [3, 1],
        "R.add (extents that broadcast): m must be n = 3, got 1",
    ),
    matrix("R.add(x, R.permute_dims(x))", [0, 0], [0, 1], "got 1"),
    matrix(
        "R.where(R.less(x, x), x, R.permute_dims(x))",
        [2, 2],
        [1, 2],
        "R.where (",
    ),
    matrix(
        "R.multiply(x, R.ones((4,), \"float32\"))",
        [3, 4],
        [3, 1],
        "must be m = 1, got 4",
    ),
    matrix(
        "R.minimum(R.sum(x, axis=[0]), R.sum(x, axis=[1]))",
        [3, 3],
        [2, 3],
        "R.minimum (",
    ),
    matrix(
        "R.topk(x, k=3, axis=1, ret_type=\"values\")",
        [2, 4],
        [3, 2],
        "): m must be at least 3, got 2",
    ),
    matrix(
        "R.squeeze(x, axis=[0])",
        [1, 3],
        [2, 3],
        "R.squeeze (a dropped extent and 1): n must be 1, got 2",
    ),
    matrix(
        "R.median(x)",
        [2, 3],
        [3, 0],
        "(a median of at least one element): n * m must be at least 1, got 0",
    ),
    matrix(
        "R.median(R.astype(x, \"int32\"), axis=[1])[0]",
        [0, 3],
        [2, 0],
        "must be at least 1, got 0",
    ),
    matrix(
        "R.gather_elements(x, R.zeros(R.shape([2, m]), \"int32\"), axis=1)",
        [3, 2],
        [1, 2],
        "R.gather_elements (an extent of the indices, at most that of the data): ",
    ),
    matrix(
        "R.scatter_elements(x, R.zeros(R.shape([n, 2]), \"int32\"), R.ones(R.shape([n, 2]), \"float32\"), axis=0)",
        [3, 2],
        [3, 1],
        "R.scatter_elements (an extent of the indices, at most that of the data): ",
    ),
    matrix(
        "R.eye(R.prim_value(n - 2), R.prim_value(m))",
        [2, 3],
        [1, 3],
        "R.eye (an extent of at least 0): n - 2 must be at least 0, got -1",
    ),
    matrix(
        "R.strided_slice(x, axes=[1], begin=[2], end=[m], assume_inbound=True)",
        [1, 2],
        [1, 1],
        "R.strided_slice (an extent of at least 0): ",
    ),
    // No element is dropped, and none comes from nowhere.
    matrix(
        "R.reshape(x, R.shape([m, m]))",
        [3, 3],
        [2, 3],
        "(the numbers of elements): ",
    ),
    matrix(
        "R.reshape(x, R.shape([n // 2, 2, m]))",
        [4, 3],
        [5, 3],
        "(the numbers of elements): ",
    ),
    matrix(
        "R.reshape(x, R.shape([-1, 4]))",
        [2, 6],
        [2, 7],
        "(the number of elements over those of the other extents): ",
    ),
    image(
        "R.nn.max_pool2d(x, pool_size=[3, 1], layout=\"NCHW\")",
        [2, 3],
        [2, 2],
        "(a number of windows of at least 1): ",
    ),
    // Of an image without pixels only an image without pixels can be made.
    image(
        "R.image.resize2d(x, R.shape([2, 3]), layout=\"NCHW\")",
        [1, 3],
        [1, 0],
        "R.image.resize2d (pixels of an image): ",
    ),
    image(
        "R.nn.pixel_shuffle(x, upscale_factor=2)",
        [8, 3],
        [6, 3],
        "must be 0, got 2",
    ),
    image(
        "R.nn.group_norm(x, R.zeros((n,), \"float32\"), R.zeros((n,), \"float32\"), num_groups=3, channel_axis=1, axes=[2, 3])",
        [6, 2],
        [2, 2],
        "must be 0, got 2",
    ),
];

fn text() -> String {
    let mut text = "@I.ir_module\nclass Module:\n".to_owned();
    for (at, Asking { call, ndim, .. }) in ALL.iter().enumerate() {
        let shape = match ndim {
            2 => "(\"n\", \"m\")",
            _ => "(1, \"n\", \"m\", 2)",
        };
        write!(
            text,
            "    @R.function\n    def f{at}(x: R.Tensor({shape}, \"float32\")):\n        n = T.int64()\n        \
             gv = {call}\n        return gv\n"
        )
        .expect("a String takes all text");
    }
    text
}

fn data(asking: &Asking, [n, m]: [usize; 2]) -> Tensor {
    let shape = match asking.ndim {
        2 => vec![n, m],
        _ => vec![1, n, m, 2],
    };
    let elements: Vec<f32> = (0..shape.iter().product())
        .map(|i: usize| (i * 7 % 11) as f32)
        .collect();
    super::f32s(&shape, &elements)
}

#[test]
fn extents_are_checked_when_the_program_runs() {
    let module = script::parse("obligations.py", &text()).unwrap_or_else(|e| panic!("{e}"));
    let interpreted = |name: &str, x: Tensor| {
        interp::run_module(
            &module,
            name,
            &[interp::Value::Tensor(x)],
            &Default::default(),
        )
    };
    let mut faults = vec![];
    for (target, device) in devices() {
        let executable = compile(&module, &CompileOptions::new(target));
        let executable = executable.unwrap_or_else(|e| panic!("{e}"));
        let mut vm = VirtualMachine::new(executable, device).expect("it loads");
        for (at, asking) in ALL.iter().enumerate() {
            let (name, call) = (format!("f{at}"), asking.call);
            let x = data(asking, asking.refused);
            // A long line is cut.
            let line = format!(
                "\n  from line {}: `gv = {}",
                6 + 5 * at,
                &call[..call.len().min(40)]
            );
            match interpreted(&name, x.clone()).map_err(|error| error.to_string()) {
                Ok(_) => faults.push(format!("{call}: the interpreter takes it")),
                Err(error) if !error.contains(asking.says) || !error.contains(&line) => {
                    faults.push(format!("{call}: expected `{}` in: {error}", asking.says));
                }
                Err(_) => {}
            }
            match vm
                .call(&name, &[Value::Tensor(x)])
                .map_err(|error| error.to_string())
            {
                Ok(_) => faults.push(format!("{call}: taken")),
                Err(error) if !error.contains(asking.says) || !error.contains(&line) => {
                    faults.push(format!("{call}: expected `{}` in: {error}", asking.says));
                }
                Err(_) => {}
            }
            let x = data(asking, asking.taken);
            let Ok(interp::Value::Tensor(expected)) = interpreted(&name, x.clone()) else {
                panic!("{call}: the interpreter gives no tensor")
            };
            let got = vm.call(&name, &[Value::Tensor(x)]);
            let got = got.and_then(|value| vm.to_host(value));
            match got.map(Value::into_tensor) {
                Ok(Ok(got)) => faults.extend(
                    compare(&expected, &got, Tolerance::of(ScalarType::F32, 16))
                        .err()
                        .map(|differ| format!("{call}: {differ}")),
                ),
                other => faults.push(format!("{call}: {other:?}")),
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
