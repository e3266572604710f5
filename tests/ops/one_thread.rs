//! No operator runs in one thread of a GPU: rules find independent iterations in every call of the catalog. An elimination is the
//! exception; it is a thread's work for each matrix.

use weftile::kernel::{GpuClass, GpuTarget, Target};
use weftile::pipeline::{CompileOptions, compile_until};
use weftile::script;
use weftile::tensor::{DType, ScalarType};

use super::every_type::rows;

/// Operators whose iterations are ordered.
const ORDERED: &[&str] = &["det"];

/// The loop programs of a module with a statement that runs in one thread.
fn in_one_thread(module: &weftile::ir::Module, class: GpuClass) -> Vec<String> {
    let options = CompileOptions::new(Target::Gpu(GpuTarget::usual(class)));
    let compilation = compile_until(module, &options, "lower").unwrap_or_else(|e| panic!("{e}"));
    let serial = compilation
        .scheduled
        .iter()
        .filter(|(_, scheduled)| scheduled.rules.contains(&"serial"));
    let names = serial.map(|(name, _)| name.clone());
    names
        .filter(|name| !ORDERED.contains(&name.as_str()))
        .collect()
}

/// The rules differ between these devices.
const CLASSES: [GpuClass; 2] = [GpuClass::Nvidia, GpuClass::Software];

#[test]
fn no_call_of_the_catalog_does() {
    let mut faults = vec![];
    for row in rows() {
        let types = [ScalarType::F32, ScalarType::I32, ScalarType::Bool].map(DType::of);
        let Some(dtype) = types.into_iter().find(|dtype| row.takes(*dtype)) else {
            continue;
        };
        for class in CLASSES {
            let found = in_one_thread(&row.module(dtype), class);
            let call = &row.call;
            faults.extend(
                found
                    .iter()
                    .map(|name| format!("{class:?}: {call}: `{name}`")),
            );
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Larger ones, as models have them, of a batch of one: sizes that no number of threads divides, many dimensions, one row.
const CALLS: &[(&str, &str)] = &[
    (
        "x: R.Tensor((1, 33, 16), \"float32\"), g: R.Tensor((33, 16), \"float32\")",
        "R.nn.layer_norm(x, g, g, axes=[1, 2])",
    ),
    (
        "x: R.Tensor((1, 3, 31, 17), \"float32\"), g: R.Tensor((3,), \"float32\")",
        "R.nn.group_norm(x, g, g, num_groups=1, channel_axis=1, axes=[2, 3])",
    ),
    (
        "x: R.Tensor((3, 5, 6, 6, 5), \"float32\")",
        "R.nn.log_softmax(x, axis=1)",
    ),
    (
        "x: R.Tensor((1, 100000), \"float32\")",
        "R.nn.softmax(x, axis=-1)",
    ),
    (
        "x: R.Tensor((1, 1000, 3), \"float32\")",
        "R.sum(x, axis=[1])",
    ),
    ("x: R.Tensor((5000,), \"float32\")", "R.sort(x)"),
    ("x: R.Tensor((5000,), \"float32\")", "R.argsort(x)"),
    ("x: R.Tensor((5000,), \"float32\")", "R.topk(x, 50)"),
    ("x: R.Tensor((5000,), \"float32\")", "R.cumsum(x, axis=0)"),
    (
        "x: R.Tensor((50, 7), \"float32\"), i: R.Tensor((2112, 1), \"int64\"), y: R.Tensor((2112, 7), \"float32\")",
        "R.scatter_nd(x, i, y)",
    ),
    (
        "x: R.Tensor((9, 1, 4), \"float32\"), y: R.Tensor((1, 150, 4), \"float32\"), z: R.Tensor((1, 150, 50), \"float32\"), w: R.Tensor((1, 300), \"float32\"), v: R.Tensor((1, 1, 50), \"float32\")",
        "R.nn.gru(x, y, z, w, v)",
    ),
    (
        "x: R.Tensor((9, 1, 4), \"float32\"), y: R.Tensor((1, 256, 4), \"float32\"), z: R.Tensor((1, 256, 64), \"float32\"), w: R.Tensor((1, 512), \"float32\"), v: R.Tensor((1, 1, 64), \"float32\")",
        "R.nn.lstm(x, y, z, w, v, v)",
    ),
];

#[test]
fn no_large_call_does() {
    let mut faults = vec![];
    for (params, call) in CALLS {
        let text = format!("@R.function\ndef main({params}):\n    gv = {call}\n    return gv\n");
        let module = script::parse("case.py", &text).unwrap_or_else(|e| panic!("{e}"));
        for class in CLASSES {
            let found = in_one_thread(&module, class);
            faults.extend(
                found
                    .iter()
                    .map(|name| format!("{class:?}: {call}: `{name}`")),
            );
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
