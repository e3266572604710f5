//! The share of the bytes that accesses of operators bring from memory that is asked for, as default schedules have them.

use weftile::explain::{Direction, GpuModel, KernelCost, Memory, explain};
use weftile::kernel::{GpuClass, GpuTarget, Target};
use weftile::pipeline::{CompileOptions, compile};
use weftile::script;

/// The costs of the kernels of a call on operands of these shapes, `a`, `b` and so on.
fn costs_of(call: &str, shapes: &[&str], class: GpuClass) -> Vec<KernelCost> {
    let params: Vec<String> = (shapes.iter().zip('a'..))
        .map(|(ty, name)| format!("{name}: R.Tensor({ty})"))
        .collect();
    let params = params.join(", ");
    let text = format!(
        "@I.ir_module\nclass Module:\n    @R.function\n    def main({params}):\n        with R.dataflow():\n            y = {call}\n            R.output(y)\n        return y\n"
    );
    let module = script::parse("call.py", &text).unwrap_or_else(|e| panic!("{e}"));
    let target = Target::Gpu(GpuTarget::usual(class));
    let exec = compile(&module, &CompileOptions::new(target)).unwrap_or_else(|e| panic!("{e}"));
    let kernels = exec.kernels.iter().flat_map(|kernel| &kernel.func.kernels);
    let model = GpuModel::of(class);
    let costs = kernels.map(|kernel| explain(kernel, &[], &model).expect("a cost"));
    costs.collect()
}

/// The share used of all sectors that reads, or writes, of the kernels bring, from the arrays of at least so many bytes.
fn share(costs: &[KernelCost], direction: Direction, least: f64) -> f64 {
    let rows = costs.iter().flat_map(|cost| &cost.accesses);
    let rows = rows.filter(|row| row.memory == Memory::Global && row.direction == direction);
    let (mut bytes, mut brought) = (0.0, 0.0);
    for row in rows.filter(|row| row.bytes >= least) {
        bytes += row.bytes;
        brought += row.bytes / row.share_used();
    }
    bytes / brought
}

/// Small arrays, as the sums of tiles and rows, do not count.
const LEAST: f64 = 65536.0;

const CLASSES: [GpuClass; 5] = [
    GpuClass::Nvidia,
    GpuClass::Amd,
    GpuClass::Intel,
    GpuClass::Apple,
    GpuClass::Mobile,
];

/// Each class uses at least this share of what the call reads, and of what it writes, if that is no small array.
fn check(call: &str, shapes: &[&str], least: f64) {
    for class in CLASSES {
        let costs = costs_of(call, shapes, class);
        for direction in [Direction::Read, Direction::Write] {
            let share = share(&costs, direction, LEAST);
            let is_small = direction == Direction::Write && share.is_nan();
            assert!(
                is_small || share >= least,
                "{class:?}, {call} of {shapes:?}: {direction:?} {share}"
            );
        }
    }
}

#[test]
fn scans_use_all_sectors() {
    for shape in [
        "(1048576,), \"float32\"",
        "(1000003,), \"float32\"",
        "(65536,), \"int64\"",
    ] {
        check("R.cumsum(a, axis=0)", &[shape], 0.99);
    }
    for shape in ["(16384, 64), \"float32\"", "(256, 8192), \"float32\""] {
        check("R.cumsum(a, axis=1)", &[shape], 1.0);
    }
    check("R.cumsum(a, axis=0)", &["(1024, 1024), \"float32\""], 1.0);
    check(
        "R.cumprod(a, axis=1, reverse=True)",
        &["(256, 8192), \"float32\""],
        1.0,
    );
    // Rows begin anywhere in a sector.
    check("R.cumsum(a, axis=1)", &["(16384, 33), \"float32\""], 0.7);
}

#[test]
fn a_scan_of_one_long_line_is_three_kernels_without_conflicts_of_banks() {
    for class in CLASSES {
        let costs = costs_of("R.cumsum(a, axis=0)", &["(1048576,), \"float32\""], class);
        assert_eq!(costs.len(), 3, "{class:?}");
        for access in costs[2]
            .accesses
            .iter()
            .filter(|a| a.memory == Memory::Shared)
        {
            assert_eq!(access.excess(), 1.0, "{class:?}: {access:?}");
        }
    }
}

#[test]
fn sums_of_columns_use_all_sectors() {
    check("R.sum(a, axis=0)", &["(1024, 1024), \"float32\""], 1.0);
    check("R.sum(a, axis=0)", &["(100000, 64), \"float32\""], 1.0);
    check("R.sum(a, axis=0)", &["(1000, 1000), \"float32\""], 0.99);
}

#[test]
fn rows_elementwise_and_gather_use_these_shares_of_sectors() {
    let norm = "R.nn.layer_norm(a, b, c, axes=[-1])";
    check(
        "R.nn.softmax(a, axis=-1)",
        &["(1024, 1024), \"float32\""],
        1.0,
    );
    check(
        norm,
        &[
            "(1024, 1024), \"float32\"",
            "(1024,), \"float32\"",
            "(1024,), \"float32\"",
        ],
        1.0,
    );
    check(
        "R.add(R.exp(a), b)",
        &["(1024, 1024), \"float32\"", "(1024, 1024), \"float32\""],
        1.0,
    );
    // What an index that is loaded reads counts as scattered: vectors of half a sector.
    check(
        "R.take(a, b, axis=0)",
        &["(30000, 256), \"float32\"", "(512,), \"int32\""],
        0.5,
    );
    // Rows of odd lengths begin anywhere in a sector.
    check(
        "R.nn.softmax(a, axis=-1)",
        &["(1024, 1023), \"float32\""],
        0.65,
    );
    check(
        norm,
        &[
            "(1024, 1023), \"float32\"",
            "(1023,), \"float32\"",
            "(1023,), \"float32\"",
        ],
        0.65,
    );
    check(
        "R.add(R.exp(a), b)",
        &["(1023, 1023), \"float32\"", "(1023, 1023), \"float32\""],
        0.99,
    );
}
