//! Products on fragments of 8 by 8 elements, of `float32` and of `float16`, as Apple's GPUs have them.

use weftile::explain::{self, GpuModel, Limit};
use weftile::ir::PrimFunc;
use weftile::kernel::{GpuClass, GpuTarget, Target};
use weftile::tensor::DType;
use weftile::{lower, sched};

use super::{
    Case, OPEN_ROWS, PLAIN, check_func, convolution, declined, emitted, goldens, parsed, scheduled,
};

fn apple() -> GpuTarget {
    GpuTarget::usual(GpuClass::Apple)
}

/// A product whose results have the type of the factors.
fn product(elements: &'static str, extents: [i64; 3]) -> Case {
    let (result, value) = match elements {
        "float16" => ("float16", PLAIN.value),
        _ => ("float32", "wide"),
    };
    Case {
        extents,
        elements,
        result,
        value,
        ..PLAIN
    }
}

fn check(case: &Case) {
    check_func(&case.func(), &apple());
}

#[test]
fn products_of_either_type() {
    for elements in ["float32", "float16"] {
        for extents in [[64, 64, 32], [16, 32, 16]] {
            check(&product(elements, extents));
        }
    }
}

/// Extents that tiles do not divide: of each axis, of all, and such as fill little more than half of them.
#[test]
fn extents_that_tiles_do_not_divide() {
    let value = "T.max(wide + B[vj], T.float32(0))";
    for (extents, transposed) in [
        ([33, 65, 40], false),
        ([33, 65, 40], true),
        ([9, 17, 9], false),
    ] {
        check(&Case {
            value,
            transposed,
            ..product("float32", extents)
        });
        check(&Case {
            transposed,
            ..product("float16", extents)
        });
    }
}

#[test]
fn several_products() {
    let batch = ["T.int64(2), ", "vb, "];
    check(&Case {
        batch,
        ..product("float32", [17, 33, 16])
    });
}

#[test]
fn slices_of_a_long_sum() {
    let case = product("float32", [16, 32, 2048]);
    check(&case);
    let (lowered, text) = emitted(&scheduled(&case.func(), &apple()), &apple());
    assert_eq!(lowered.kernels.len(), 2, "{text}");
}

#[test]
fn rows_of_an_open_number() {
    check_func(&parsed(OPEN_ROWS), &apple());
    check_func(&parsed(&OPEN_ROWS.replace("float16", "float32")), &apple());
}

#[test]
fn convolutions() {
    for (batch, stride) in [(1, 1), (2, 2)] {
        for elements in ["float32", "float16"] {
            check_func(&parsed(&convolution(batch, stride, elements)), &apple());
        }
    }
}

/// Metal loads tiles from arrays of scalars alone.
#[test]
fn tiles_lie_in_arrays_of_scalars() {
    for elements in ["float32", "float16"] {
        let func = product(elements, [64, 64, 32]).func();
        let (_, text) = emitted(&scheduled(&func, &apple()), &apple());
        let mut shared = text
            .lines()
            .filter(|line| line.starts_with("var<workgroup>"));
        assert!(shared.all(|line| !line.contains("vec")), "{text}");
    }
}

#[test]
fn what_is_left_to_other_rules() {
    for (extents, reason) in [
        ([64, 15, 32], "the extent of n is 15, less than half of 32"),
        ([64, 64, 7], "the extent of k is 7, less than half of 16"),
    ] {
        let func = product("float32", extents).func();
        assert_eq!(declined(&func, &apple()), reason);
    }
    let small = GpuTarget {
        shared_bytes: 4096,
        ..apple()
    };
    let room = "a tile needs 5888 bytes of shared memory, and the device has 4096";
    let func = product("float32", [64, 64, 32]).func();
    assert_eq!(declined(&func, &small), room);
    let halves = GpuTarget {
        fragments: vec![
            apple()
                .fragment_product(DType::F16, DType::F32)
                .expect("is there"),
        ],
        ..apple()
    };
    let rules = scheduled(&func, &halves).rules;
    assert!(!rules.contains(&"matmul_tensorization"), "{rules:?}");
}

/// The fastest schedule by the counts of its kernels.
fn chosen(func: &PrimFunc) -> (Vec<&'static str>, Vec<String>) {
    let target = Target::Gpu(apple());
    let model = GpuModel::of(GpuClass::Apple);
    let time = |lowered: &weftile::kernel::LoweredFunc| {
        let seconds = lowered.kernels.iter().map(|kernel| {
            let cost = explain::explain_one_workgroup(kernel, &[], &model).ok()?;
            Some(explain::predict(&cost, &model).time)
        });
        seconds.sum::<Option<f64>>()
    };
    let (scheduled, lowered) = sched::rules::choose_fastest(
        func,
        &target,
        |func| lower::lower(func, &target),
        time,
        sched::rules::Search::Promising,
    );
    lowered.expect("lowers");
    let declined = scheduled.declined.iter().map(ToString::to_string);
    (scheduled.rules.clone(), declined.collect())
}

/// Where both can make a product, the counts of the kernels decide.
#[test]
fn the_faster_of_two_rules() {
    let (rules, declined) = chosen(&product("float32", [1024; 3]).func());
    assert_eq!(rules, ["matmul_tensorization"], "{declined:?}");
    // An image of 56 by 56 with 64 channels: 49 workgroups of fragments wait longer for the indices of what they copy.
    let mut text = convolution(1, 1, "float32");
    for (from, to) in [
        ("T.int64(7)", "T.int64(56)"),
        ("T.int64(9)", "T.int64(58)"),
        ("T.int64(8)", "T.int64(64)"),
        ("T.int64(16)", "T.int64(64)"),
        ("< 8", "< 57"),
    ] {
        text = text.replace(from, to);
    }
    let (rules, declined) = chosen(&parsed(&text));
    assert!(!rules.contains(&"matmul_tensorization"), "{rules:?}");
    let said = declined.iter().find(|said| said.contains("otherwise"));
    assert!(said.is_some(), "{declined:?}");
}

/// Sixty-four rows and columns of a workgroup, four fragments by four of each of its four subgroups: counted by hand.
#[test]
fn what_it_costs() {
    let func = product("float32", [1024; 3]).func();
    let (lowered, _) = emitted(&scheduled(&func, &apple()), &apple());
    let model = GpuModel::of(GpuClass::Apple);
    let cost = explain::explain(&lowered.kernels[0], &[], &model).expect("is counted");
    assert_eq!((cost.tile_fma, cost.fma), (1024f64.powi(3), 0.0));
    assert_eq!(cost.grid, [16, 16, 1]);
    assert_eq!(explain::predict(&cost, &model).limit, Limit::Tiles);
    let fragments: Vec<_> = cost
        .accesses
        .iter()
        .filter(|access| access.width == 2)
        .collect();
    let count = |array: &str| {
        let of = fragments.iter().filter(|access| access.array == array);
        of.map(|access| access.accesses).sum::<f64>()
    };
    // Workgroups, subgroups, steps of eight, fragments of each.
    assert_eq!(count("X_shared"), 256.0 * 4.0 * 128.0 * 4.0);
    assert_eq!(count("W_shared"), 256.0 * 4.0 * 128.0 * 4.0);
    assert_eq!(count("wide_shared_shared"), 256.0 * 4.0 * 16.0);
    for access in fragments {
        assert_eq!(access.excess(), 1.0, "{}", access.array);
    }
}

#[test]
fn a_product_of_1024() {
    let func = product("float32", [1024; 3]).func();
    let scheduled = scheduled(&func, &apple());
    let (_, text) = emitted(&scheduled, &apple());
    goldens::compare("matmul.fragments.apple.wgsl", &text);
}
