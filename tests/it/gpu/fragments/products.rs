//! Products of `float16` on fragments of 16 by 16 elements.

use half::f16;
use weftile::explain::{self, GpuModel, Limit};
use weftile::kernel::{GpuClass, GpuTarget, ParamInfo};
use weftile::tensor::{DType, ScalarType, Tensor};

use super::{
    Case, OPEN_ROWS, PLAIN, check_func, convolution, declined, emitted, goldens, gpu, launch,
    nvidia, parsed, scheduled, values,
};

/// The case is made of fragments, and means what it meant.
fn check(case: &Case) {
    check_func(&case.func(), &nvidia());
}

/// Loops and shapes of `int32`, as TVMScript has them where plain numbers are written; loops of one type over shapes of the other.
#[test]
fn loops_of_either_integer_type() {
    let text = PLAIN.text();
    let narrow = |line: &str| line.replace("T.int64", "");
    let all: String = text.lines().map(|line| narrow(line) + "\n").collect();
    check_func(&parsed(&all), &nvidia());
    for part in ["T.grid", "def f"] {
        let lines = text.lines().map(|line| match line.contains(part) {
            true => narrow(line) + "\n",
            false => line.to_owned() + "\n",
        });
        check_func(&parsed(&lines.collect::<String>()), &nvidia());
    }
}

#[test]
fn results_in_float16() {
    check(&PLAIN);
}

#[test]
fn results_in_float32() {
    let value = "wide";
    let result = "float32";
    check(&Case {
        result,
        value,
        ..PLAIN
    });
}

#[test]
fn epilogues() {
    let value = "T.Cast(\"float16\", T.max(wide + B[vj], T.float32(0)))";
    check(&Case { value, ..PLAIN });
}

#[test]
fn transposed_weights() {
    let transposed = true;
    check(&Case {
        transposed,
        ..PLAIN
    });
}

#[test]
fn several_products() {
    let batch = ["T.int64(2), ", "vb, "];
    let extents = [64, 64, 32];
    check(&Case {
        batch,
        extents,
        ..PLAIN
    });
    let batch = ["T.int64(1), ", "vb, "];
    check(&Case { batch, ..PLAIN });
}

#[test]
fn smallest_tiles() {
    let extents = [32, 64, 64];
    check(&Case { extents, ..PLAIN });
}

#[test]
fn slices_of_a_long_sum() {
    let value = "T.Cast(\"float16\", T.max(wide + B[vj], T.float32(0)))";
    let case = Case {
        extents: [64, 64, 2048],
        value,
        ..PLAIN
    };
    check(&case);
    let (lowered, text) = emitted(&scheduled(&case.func(), &nvidia()), &nvidia());
    assert_eq!(lowered.kernels.len(), 2, "{text}");
}

/// Extents that tiles do not divide: of each axis, of all, and such as fill little more than half of them.
#[test]
fn extents_that_tiles_do_not_divide() {
    let value = "T.Cast(\"float16\", T.max(wide + B[vj], T.float32(0)))";
    for (extents, transposed) in [
        ([33, 65, 40], false),
        ([33, 65, 40], true),
        ([64, 94, 47], false),
    ] {
        check(&Case {
            extents,
            value,
            transposed,
            ..PLAIN
        });
    }
    let batch = ["T.int64(2), ", "vb, "];
    let extents = [17, 33, 16];
    check(&Case {
        batch,
        extents,
        ..PLAIN
    });
}

#[test]
fn rows_of_an_open_number() {
    check_func(&parsed(OPEN_ROWS), &nvidia());
}

#[test]
fn convolutions() {
    for (batch, stride) in [(1, 1), (2, 2)] {
        check_func(&parsed(&convolution(batch, stride, "float16")), &nvidia());
    }
}

#[test]
fn what_is_left_to_other_rules() {
    let without = GpuTarget {
        fragments: vec![],
        ..nvidia()
    };
    let of_device = "the device multiplies no tiles of float16";
    assert_eq!(declined(&PLAIN.func(), &without), of_device);
    let small = GpuTarget {
        shared_bytes: 4096,
        ..nvidia()
    };
    let room = "a tile needs 11264 bytes of shared memory, and the device has 4096";
    assert_eq!(declined(&PLAIN.func(), &small), room);
    for (extents, reason) in [
        ([15, 64, 32], "the extent of m is 15, less than half of 32"),
        ([64, 31, 32], "the extent of n is 31, less than half of 64"),
        ([64, 64, 15], "the extent of k is 15, less than half of 32"),
    ] {
        let func = Case { extents, ..PLAIN }.func();
        assert_eq!(declined(&func, &nvidia()), reason);
    }
    let open_columns = OPEN_ROWS
        .replace(
            "def f(x: T.handle, W: T.Buffer((T.int64(64), T.int64(64)), \"float16\")",
            "def f(X: T.Buffer((T.int64(64), T.int64(64)), \"float16\"), w: T.handle",
        )
        .replace(
            "X = T.match_buffer(x, (n, T.int64(64))",
            "W = T.match_buffer(w, (T.int64(64), n)",
        )
        .replace("y, (n, T.int64(64))", "y, (T.int64(64), n)")
        .replace(
            "T.grid(n, T.int64(64), T.int64(64))",
            "T.grid(T.int64(64), n, T.int64(64))",
        );
    assert_eq!(
        declined(&parsed(&open_columns), &nvidia()),
        "the extent of n is open"
    );
    let narrow = OPEN_ROWS
        .replace("\"float32\")\n", "\"float16\")\n")
        .replace("T.float32(0)", "T.float16(0)")
        .replace(
            "T.Cast(\"float32\", X[vi, vk]) * T.Cast(\"float32\", W[vk, vj])",
            "X[vi, vk] * W[vk, vj]",
        );
    assert_eq!(
        declined(&parsed(&narrow), &nvidia()),
        "sums are float16, not float32"
    );
}

#[test]
fn what_it_costs() {
    let func = Case {
        extents: [1024; 3],
        ..PLAIN
    }
    .func();
    let (lowered, _) = emitted(&scheduled(&func, &nvidia()), &nvidia());
    let model = GpuModel::of(GpuClass::Nvidia);
    let cost = explain::explain(&lowered.kernels[0], &[], &model).expect("is counted");
    assert_eq!((cost.tile_fma, cost.fma), (1024f64.powi(3), 0.0));
    assert_eq!(explain::predict(&cost, &model).limit, Limit::Tiles);
    let fragments = cost.accesses.iter().filter(|access| access.width == 8);
    fragments.for_each(|access| assert_eq!(access.excess(), 1.0, "{}", access.array));
}

#[test]
fn a_product_of_1024() {
    let func = Case {
        extents: [1024; 3],
        ..PLAIN
    }
    .func();
    let scheduled = scheduled(&func, &nvidia());
    let (_, text) = emitted(&scheduled, &nvidia());
    goldens::compare(
        "matmul.fragments.trace",
        &scheduled.schedule.trace().to_string(),
    );
    goldens::compare("matmul.fragments.wgsl", &text);
}

/// Runs where the device has fragments.
#[test]
#[expect(clippy::print_stderr, reason = "a skipped test must say so")]
fn on_a_device() {
    let Some(gpu) = gpu() else { return };
    let target = gpu.target();
    if target.fragment_product(DType::F16, DType::F32).is_none() {
        eprintln!("skipped: {} multiplies no tiles of float16", gpu.info());
        return;
    }
    let relu = "T.Cast(\"float16\", T.max(wide + B[vj], T.float32(0)))";
    let cases = [
        PLAIN,
        Case {
            extents: [128, 256, 160],
            ..PLAIN
        },
        Case {
            extents: [32, 64, 64],
            ..PLAIN
        },
        Case {
            value: relu,
            ..PLAIN
        },
        Case {
            transposed: true,
            ..PLAIN
        },
        Case {
            result: "float32",
            value: "wide",
            ..PLAIN
        },
        Case {
            batch: ["T.int64(2), ", "vb, "],
            ..PLAIN
        },
        // Slices of the sum.
        Case {
            extents: [64, 64, 4096],
            value: relu,
            ..PLAIN
        },
        // The largest tiles.
        Case {
            extents: [1024, 1024, 64],
            ..PLAIN
        },
        Case {
            extents: [1280, 1280, 64],
            ..PLAIN
        },
    ];
    for case in cases {
        let func = case.func();
        let scheduled = scheduled(&func, gpu.target());
        assert_eq!(scheduled.rules, ["matmul_tensorization"]);
        let (lowered, text) = emitted(&scheduled, gpu.target());
        let of_param = |param: &ParamInfo| {
            let shape = param
                .shape
                .iter()
                .map(|e| e.as_const().expect("is known") as usize);
            values(&shape.collect::<Vec<_>>(), param.dtype)
        };
        let (mut tensors, inputs): (Vec<Tensor>, Vec<Vec<f32>>) =
            lowered.params.iter().map(of_param).unzip();
        let expected = case.results(&inputs);
        launch(&gpu, &lowered, &mut tensors, 1);
        let got: Vec<f32> = match tensors[3].dtype().scalar {
            ScalarType::F16 => {
                let got: &[f16] = tensors[3].as_slice().expect("is float16");
                got.iter().map(|value| value.to_f32()).collect()
            }
            _ => tensors[3].as_slice().expect("is float32").to_vec(),
        };
        let close = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-4 * (1.0 + a.abs()) + 1e-3 * a.abs();
        let wrong = expected.iter().zip(&got).position(|pair| !close(pair));
        assert_eq!(wrong, None, "{:?}: {text}", case.extents);
    }
}
