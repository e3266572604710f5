//! Sorts by networks of comparisons, with the schedules of real GPUs on whatever adapter is there. Most elements have equals.

use weftile::kernel::GpuClass;
use weftile::tensor::ScalarType;

use super::scans::Case;

fn check(shape: &[usize], calls: &[&str], class: GpuClass) {
    let ty: String = shape.iter().map(|n| format!("{n}, ")).collect();
    for call in calls {
        let case = Case {
            ty: &ty,
            shape,
            call,
            dtype: ScalarType::F32,
        };
        case.check(class);
    }
}

/// Lines that are sorted at once: one more than are merged, odd numbers, and as many as there are places.
#[test]
fn lines_in_shared_memory() {
    for shape in [&[129usize][..], &[3, 300], &[2, 1024], &[200, 2]] {
        let calls = [
            "R.argsort(x, axis=0)",
            "R.sort(x, axis=-1, descending=True)",
            "R.topk(x, k=2, axis=-1, ret_type=\"indices\")",
        ];
        check(shape, &calls, GpuClass::Nvidia);
    }
}

/// Lines along the first axis, where lines and elements of a line are as many.
#[test]
fn lines_along_the_first_of_equal_axes() {
    let nvidia = GpuClass::Nvidia;
    check(&[200, 200], &["R.sort(x, axis=0)"], nvidia);
    let first = "R.topk(x, k=9, axis=0, ret_type=\"values\")";
    check(&[4096, 9], &[first], nvidia);
}

/// Lines of which delegates leave few elements, whose groups are whole or not, and those that take two rounds.
#[test]
fn first_elements_of_long_lines() {
    let calls = [
        "R.topk(x, k=9, ret_type=\"indices\")",
        "R.topk(x, k=9, ret_type=\"values\", largest=False)",
    ];
    check(&[2, 4096], &calls, GpuClass::Nvidia);
    check(&[5003], &calls, GpuClass::Nvidia);
    check(
        &[60_001],
        &["R.topk(x, k=100, ret_type=\"indices\")"],
        GpuClass::Mobile,
    );
}
