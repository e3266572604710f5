//! What a GPU cannot compute with is refused by an error that names the buffer and says what to do.

use weftile::kernel::{GpuTarget, LoweredFunc, Target};
use weftile::lower::LowerError;
use weftile::{codegen_wgsl, lower, sched, script};

/// `Y = value` for each element of `A`, of these types.
fn lowered(input: &str, output: &str, value: &str) -> Result<LoweredFunc, LowerError> {
    lowered_for(&GpuTarget::default(), input, output, value)
}

fn lowered_for(
    gpu: &GpuTarget,
    input: &str,
    output: &str,
    value: &str,
) -> Result<LoweredFunc, LowerError> {
    let text = format!(
        r#"
@T.prim_func
def f(A: T.Buffer((64,), "{input}"), Y: T.Buffer((64,), "{output}")):
    for i in range(64):
        with T.block("Y"):
            vi = T.axis.spatial(64, i)
            Y[vi] = {value}
"#
    );
    let module = script::parse("case.py", &text).unwrap_or_else(|e| panic!("{e}"));
    let target = Target::Gpu(gpu.clone());
    let scheduled = sched::rules::schedule(module.prim_func("f").expect("is there"), &target);
    lower::lower(scheduled.schedule.func(), &target)
}

#[test]
fn values_of_float64() {
    let refused = lowered("float64", "float64", "A[vi] + T.float64(1)").expect_err("no such type");
    let expected = "`f`: buffer `A` has type float64, which the GPU does not compute with; \
                    cast it to float32, or run it on the CPU (--device cpu)";
    assert_eq!(refused.to_string(), expected);
}

#[test]
fn values_of_float16() {
    let value = "T.Cast(\"float32\", T.Cast(\"float16\", A[vi]))";
    let refused = lowered("float32", "float32", value).expect_err("no such type");
    let refused = refused.to_string();
    let expected = "has type float16, which the GPU does not compute with";
    assert!(refused.contains(expected), "{refused}");
    let with_half = GpuTarget {
        f16: true,
        ..GpuTarget::default()
    };
    let kernels = lowered_for(&with_half, "float32", "float32", value).expect("lowers");
    let shader = codegen_wgsl::emit(&kernels.kernels[0], &with_half).expect("emits");
    codegen_wgsl::validate(&shader).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn shifts_and_masks_of_indices() {
    for value in [
        "A[T.shift_right(vi, T.int64(2))]",
        "A[T.shift_right(T.shift_left(vi, T.int64(4)), T.int64(4))]",
        "A[T.bitwise_and(vi, T.int64(15))]",
        "A[(vi >> 3) * 8 + (vi & 7)]",
    ] {
        let lowered = lowered("float32", "float32", value);
        let lowered = lowered.unwrap_or_else(|e| panic!("{value}: {e}"));
        assert!(lowered.kernels[0].in_bounds, "{value}");
    }
}

#[test]
fn index_arithmetic_that_int32_does_not_hold() {
    // Wraps on the way, and comes back.
    for value in [
        "A[(vi + 5000000000) - 5000000000]",
        "A[vi * 2000000000 % 64]",
        "A[T.max(vi * 33000000, 5) - T.max(vi * 33000000, 5) + vi]",
    ] {
        lowered("float32", "float32", value).unwrap_or_else(|e| panic!("{value}: {e}"));
    }
    for value in [
        "A[(vi * vi * 100000007) // 7]",
        "T.Cast(\"float32\", vi * 100000000)",
        "T.Cast(\"float32\", vi * vi * 1000003)",
    ] {
        let refused = lowered("float32", "float32", value);
        let refused = refused.err().unwrap_or_else(|| panic!("{value} is taken"));
        let message = refused.to_string();
        assert!(message.contains("int32; run it on the CPU"), "{message}");
    }
}

#[test]
fn rows_that_data_choose() {
    let taken = lowered("int32", "int32", "A[A[vi]] + A[(A[vi] + 1) % 7 * 2]");
    let lowered = taken.unwrap_or_else(|e| panic!("{e}"));
    assert!(lowered.requires.is_empty() && !lowered.kernels[0].in_bounds);
}
