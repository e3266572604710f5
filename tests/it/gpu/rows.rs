//! The rule for rows: how many threads a row gets, and how many rows a workgroup takes.

use weftile::kernel::{GpuClass, GpuTarget, Target};
use weftile::sched::rules;
use weftile::{lower, script};

use super::cases::{SOFTMAX, check_as};
use super::classes::check;

#[test]
fn softmax_over_rows() {
    let shapes: &[&[&[usize]]] = &[
        &[&[1, 1], &[1, 1]],
        &[&[5, 67], &[5, 67]],
        &[&[3, 1031], &[3, 1031]],
    ];
    check(SOFTMAX, &["rows"], 1031, shapes);
    let constant = softmax_of(3, 1024);
    check(&constant, &["rows"], 1024, &[&[&[3, 1024], &[3, 1024]]]);
}

fn softmax_of(rows: usize, length: usize) -> String {
    SOFTMAX
        .replace("    n, m = T.int64(), T.int64()\n", "")
        .replace("(n, m)", &format!("({rows}, {length})"))
        .replace("(n,)", &format!("({rows},)"))
}

/// A workgroup takes eight of 736 short rows, four of 740, and one of 741.
#[test]
fn softmax_of_short_rows() {
    for length in [1, 3, 7, 32, 33, 127, 128, 256, 1000] {
        let rows = if length > 256 { 16 } else { 736 };
        let shape: &[usize] = &[rows, length];
        let text = softmax_of(rows, length);
        let class = Some(GpuClass::Nvidia);
        check_as(class, &text, &["rows"], length, false, &[&[shape, shape]]);
    }
    for rows in [740, 741] {
        let shape: &[usize] = &[rows, 33];
        check(&softmax_of(rows, 33), &["rows"], 33, &[&[shape, shape]]);
    }
}

/// Few long rows get as many threads as a workgroup has.
#[test]
fn softmax_of_few_long_rows() {
    let shape: &[usize] = &[3, 16384];
    let text = softmax_of(3, 16384);
    let class = Some(GpuClass::Nvidia);
    check_as(class, &text, &["rows"], 16384, false, &[&[shape, shape]]);
}

#[test]
fn threads_of_rows() {
    let gpu = GpuTarget::usual(GpuClass::Nvidia);
    let block = |rows, length| {
        let module = script::parse("case.py", &softmax_of(rows, length)).expect("parses");
        let func = module.prim_func("f").expect("is there");
        let target = Target::Gpu(gpu.clone());
        let scheduled = rules::schedule(func, &target);
        let lowered = lower::lower(scheduled.schedule.func(), &target).expect("lowers");
        lowered.kernels[0]
            .launch
            .as_ref()
            .expect("is of a GPU")
            .block
    };
    assert_eq!(block(736, 128), [32, 8, 1]);
    assert_eq!(block(740, 128), [32, 4, 1]);
    assert_eq!(block(741, 128), [64, 1, 1]);
    assert_eq!(block(64, 128), [64, 1, 1]);
    assert_eq!(block(736, 3), [4, 8, 1]);
    assert_eq!(block(3, 16384), [1024, 1, 1]);
    assert_eq!(block(4096, 16384), [256, 1, 1]);
}
