//! The `weftile` command as its users see it: output, files, exit codes.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use weftile::frontend::{load_tensor, save_npy};
use weftile::tensor::Tensor;

use crate::data::data_dir;

/// The module of the demo, which has a symbolic number of images.
pub(crate) const MODULE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/examples/fashion_mnist/mlp.py");
pub(crate) const WEIGHTS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/examples/fashion_mnist/weights.safetensors"
);

pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weftile"));
    command.args(args);
    for name in [
        "WEFTILE_DUMP",
        "WEFTILE_TIME",
        "WEFTILE_VERIFY",
        "WEFTILE_LOG",
    ] {
        command.env_remove(name);
    }
    // Tests leave the cache folder of the user alone.
    command.env("WEFTILE_PIPELINE_CACHE", "0");
    command
}

pub(crate) fn weftile(args: &[&str]) -> Output {
    command(args).output().expect("the program starts")
}

pub(crate) fn stdout(output: &Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8(output.stdout.clone()).expect("text")
}

pub(crate) fn json(args: &[&str]) -> Value {
    serde_json::from_str(&stdout(&weftile(args))).expect("JSON")
}

/// The message of a command that must fail with this exit code.
pub(crate) fn refused(args: &[&str], code: i32) -> String {
    let output = weftile(args);
    assert_eq!(output.status.code(), Some(code), "{args:?}");
    assert!(output.stdout.is_empty(), "errors belong on stderr");
    String::from_utf8(output.stderr).expect("text")
}

/// Arguments for a GPU, or nothing where there is none and none is required.
pub(crate) fn gpu(test: &str) -> Option<[&'static str; 3]> {
    let found = json(&["devices", "--json"])["gpus"]
        .as_array()
        .is_some_and(|g| !g.is_empty());
    if found {
        return Some(["--device", "gpu", "--allow-software"]);
    }
    assert!(
        std::env::var("WEFTILE_REQUIRE_GPU").as_deref() != Ok("1"),
        "no adapter"
    );
    #[expect(clippy::print_stderr, reason = "a skipped test must say so")]
    {
        eprintln!("{test}: skipped: no adapter");
    }
    None
}

#[test]
fn the_demo_recognises_its_drawings() {
    let text = stdout(&weftile(&["demo", "--device", "cpu"]));
    assert!(text.contains("using cpu: asked for"), "{text}");
    assert!(text.contains("Ankle boot ("), "{text}");
    assert!(text.contains("9 of 9 drawings recognised"), "{text}");
    assert!(!text.contains('\u{1b}'), "no colours into a pipe");
    assert!(
        stdout(&weftile(&[])).contains("9 of 9"),
        "the demo is what happens without a verb"
    );
}

#[test]
fn the_demo_recognises_its_drawings_on_the_gpu() {
    let Some(device) = gpu("the_demo_recognises_its_drawings_on_the_gpu") else {
        return;
    };
    let report = json(&[&["demo", "--json"], &device[..]].concat());
    assert_eq!(report["correct"], report["total"]);
    assert_ne!(report["device"], "cpu");
}

/// What numpy says of the lecture's network.
fn reference(data: &Path) -> Value {
    let file = std::fs::read(data.join("fashion-mnist/reference.json")).expect("there");
    let file: Value = serde_json::from_slice(&file).expect("JSON");
    file["models"]["mlp"].clone()
}

fn numbers(list: &Value) -> Vec<f64> {
    let list = list.as_array().expect("a list");
    list.iter().map(|v| v.as_f64().expect("a number")).collect()
}

/// The logits of the first images and of the lecture's sample, and the class of every image, as numpy has them.
fn computes_the_reference(data: &Path, device: &[&str]) {
    let pixels = load_tensor(&data.join("fashion-mnist/t10k-images-idx3-ubyte.gz")).expect("there");
    let pixels = pixels.bytes().iter().map(|&p| f32::from(p) / 255.0);
    let images = Tensor::from_slice(&[10_000, 784], &pixels.collect::<Vec<f32>>()).expect("all");
    let folder = tempfile::tempdir().expect("scratch folder");
    let x = folder.path().join("x.npy");
    save_npy(&x, &images).expect("writable");
    let (x, out) = (
        format!("x={}", x.display()),
        folder.path().display().to_string(),
    );
    let params = data.join("mlc/fasionmnist_mlp_params.pkl");
    let params = params.display().to_string();
    let args = [
        "run", MODULE, "--params", &params, "--input", &x, "--output", &out,
    ];
    stdout(&weftile(&[&args[..], device].concat()));
    let logits = load_tensor(&folder.path().join("main.npy")).expect("written");
    let logits: Vec<&[f32]> = logits
        .as_slice::<f32>()
        .expect("float32")
        .chunks(10)
        .collect();
    let reference = reference(data);
    let close = |image: usize, expected: &Value| {
        for (got, expected) in logits[image].iter().zip(numbers(expected)) {
            assert!(
                (f64::from(*got) - expected).abs() < 1e-4,
                "image {image}: {got} for {expected}"
            );
        }
    };
    let first = reference["first_10_logits_float64"]
        .as_array()
        .expect("a list");
    assert_eq!(first.len(), 10);
    first
        .iter()
        .enumerate()
        .for_each(|(image, row)| close(image, row));
    let sample = &reference["known_sample_output"];
    close(2437, &sample["logits"]);
    assert_eq!(sample["test_index"], 2437);
    let class = |row: &&[f32]| {
        let best = (0..10).max_by(|&a, &b| row[a].total_cmp(&row[b]));
        char::from(b'0' + best.expect("ten classes") as u8)
    };
    let classes: String = logits.iter().map(class).collect();
    assert_eq!(reference["predictions_digits"], classes);
}

#[test]
fn logits_and_classes_are_those_of_numpy() {
    if let Some(data) = data_dir("logits_and_classes_are_those_of_numpy") {
        computes_the_reference(&data, &["--device", "cpu"]);
    }
}

#[test]
fn logits_and_classes_are_those_of_numpy_on_the_gpu() {
    let test = "logits_and_classes_are_those_of_numpy_on_the_gpu";
    if let (Some(data), Some(device)) = (data_dir(test), gpu(test)) {
        computes_the_reference(&data, &device);
    }
}

/// The lecture's weights on the whole test set: exactly as many as numpy, class by class, whatever the size of batches.
fn classifies_as_the_reference(data: &Path, device: &[&str]) {
    let (images, params) = (
        data.join("fashion-mnist"),
        data.join("mlc/fasionmnist_mlp_params.pkl"),
    );
    let (folder, file) = (images.display().to_string(), params.display().to_string());
    let args = ["demo", "--data", &folder, "--params", &file, "--json"];
    let report = json(&[&args[..], device].concat());
    let reference = reference(data);
    assert_eq!(
        (&report["correct"], &report["total"]),
        (&reference["correct"], &Value::from(10_000))
    );
    assert_eq!(report["correct"], 8626);
    let per_class = report["per_class"].as_array().expect("a list");
    let per_class: Vec<&Value> = per_class.iter().map(|class| &class["correct"]).collect();
    let expected: Vec<&Value> = reference["correct_per_class"]
        .as_array()
        .expect("a list")
        .iter()
        .collect();
    assert_eq!(per_class, expected);
    let batches = report["batches"].as_array().expect("a list");
    let sizes: Vec<&Value> = batches.iter().map(|batch| &batch["size"]).collect();
    assert_eq!(sizes, [1, 7, 256, 10_000]);
    assert!(
        batches.iter().all(|batch| batch["other"] == 0),
        "{batches:?}"
    );
}

#[test]
fn the_test_set_is_classified_as_by_numpy() {
    if let Some(data) = data_dir("the_test_set_is_classified_as_by_numpy") {
        classifies_as_the_reference(&data, &["--device", "cpu"]);
    }
}

#[test]
fn the_test_set_is_classified_as_by_numpy_on_the_gpu() {
    let test = "the_test_set_is_classified_as_by_numpy_on_the_gpu";
    if let (Some(data), Some(device)) = (data_dir(test), gpu(test)) {
        classifies_as_the_reference(&data, &device);
    }
}

#[test]
fn results_are_written_as_npy() {
    let folder = tempfile::tempdir().expect("scratch folder");
    let (input, output) = (folder.path().join("x.npy"), folder.path().join("out"));
    save_npy(
        &input,
        &Tensor::from_slice(&[2, 784], &[0.5f32; 2 * 784]).expect("sizes agree"),
    )
    .expect("writable");
    let (input, output) = (
        format!("x={}", input.display()),
        output.display().to_string(),
    );
    let args = [
        "run", MODULE, "--params", WEIGHTS, "--input", &input, "--output", &output,
    ];
    let report = json(&[&args[..], &["--device", "cpu", "--json"]].concat());
    let written = load_tensor(&PathBuf::from(output).join("main.npy")).expect("written");
    assert_eq!(written.shape(), [2, 10]);
    let first = report["outputs"][0]["first"][0].as_f64().expect("a number");
    assert_eq!(
        f64::from(written.as_slice::<f32>().expect("float32")[0]),
        first
    );
}

#[test]
fn every_stage_can_be_shown() {
    let stages = [
        ("script", "def main("),
        ("graph", "digraph"),
        ("scheduled", "T.thread_binding("),
        ("trace", "sch.bind("),
        ("kernel", "launch grid"),
        ("wgsl", "@compute"),
        ("spirv", "07230203"),
        ("clif", "system_v"),
        ("bytecode", "@main"),
    ];
    for (stage, expected) in stages {
        let text = stdout(&weftile(&["show", MODULE, "--stage", stage]));
        assert!(text.contains(expected), "{stage}: {text}");
    }
    let folder = tempfile::tempdir().expect("scratch folder");
    let path = folder.path().display().to_string();
    stdout(&weftile(&[
        "show", MODULE, "--stage", "graph", "--output", &path,
    ]));
    let svg = std::fs::read_to_string(folder.path().join("main.svg")).expect("written");
    assert!(svg.contains("<svg"));
    stdout(&weftile(&[
        "show", MODULE, "--stage", "spirv", "--output", &path,
    ]));
    let last = std::fs::read(folder.path().join("linear.spv")).expect("written");
    assert_eq!(last[..4], 0x0723_0203_u32.to_le_bytes());
}

#[test]
fn every_kernel_has_a_page_of_its_own() {
    let folder = tempfile::tempdir().expect("scratch folder");
    let module = folder.path().join("named.py");
    std::fs::write(&module, crate::artifact::NAMED_ALIKE).expect("writable");
    let module = module.display().to_string();
    let output = folder.path().join("pages").display().to_string();
    for stage in ["wgsl", "clif"] {
        stdout(&weftile(&[
            "show", &module, "--stage", stage, "--output", &output,
        ]));
    }
    let pages = std::fs::read_dir(&output).expect("written");
    let mut pages: Vec<String> = pages
        .map(|page| page.expect("there").file_name().display().to_string())
        .collect();
    pages.sort();
    let shaders = ["f.f_0.wgsl", "f.f_1.wgsl", "f_1.wgsl"];
    assert!(
        shaders.iter().all(|page| pages.iter().any(|p| p == page)),
        "{pages:?}"
    );
}

#[test]
fn devices_agree_with_the_interpreter() {
    let shapes = ["--shape", "x=3x20", "--shape", "w0=17x20", "--shape", "k=5"];
    let mut devices = vec![vec!["--device", "cpu"]];
    if let Some([_, gpu, allow]) = gpu("devices_agree_with_the_interpreter") {
        devices.push(vec!["--device", gpu, allow]);
    }
    for device in devices {
        let args = [
            &["diff", MODULE, "--json"],
            &shapes[..],
            &["--device", "interp"],
            &device,
        ]
        .concat();
        let report = json(&args);
        assert_eq!(report["agree"], true);
        let names: Vec<&Value> = report["values"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|v| &v["name"])
            .collect();
        // The first layer is one kernel with what is applied to it.
        assert_eq!(names, ["lv1", "out"]);
    }
}

#[test]
fn calls_are_timed() {
    let args = [
        "bench", MODULE, "--params", WEIGHTS, "--shape", "x=1x784", "--device", "cpu",
    ];
    let report = json(&[&args[..], &["--time", "0.05", "--profile", "--json"]].concat());
    let of = |name: &str| report[name].as_f64().expect("a number");
    assert!(
        of("min_ms") > 0.0 && of("min_ms") <= of("median_ms") && of("median_ms") <= of("p95_ms")
    );
    let steps = report["steps"].as_array().expect("a list");
    let name = |step: &Value| step["name"].as_str().unwrap_or_default().to_owned();
    assert!(
        steps.iter().any(
            |step| name(step).starts_with("fused_linear_784_128_packed_relu")
                && step["kind"] == "kernel"
        ),
        "{steps:?}"
    );
}

#[test]
fn the_steps_of_a_call_are_told() {
    let args = [
        "run", MODULE, "--params", WEIGHTS, "--shape", "x=1x784", "--device", "cpu",
    ];
    let report = json(&[&args[..], &["--profile", "--json"]].concat());
    let steps = report["profile"]["entries"].as_array().expect("a list");
    let kernels = steps.iter().filter(|step| step["kind"] == "kernel");
    let launches: Vec<_> = kernels.map(|step| step["launches"].as_u64()).collect();
    assert!(
        !launches.is_empty() && launches.iter().all(|n| *n == Some(1)),
        "{steps:?}"
    );
    assert!(json(&[&args[..], &["--json"]].concat())["profile"].is_null());
}

#[test]
fn a_users_error_is_exit_code_1() {
    let missing = refused(&["run", "no/such.py"], 1);
    assert!(
        missing.starts_with("error: cannot read no/such.py\n  because: "),
        "{missing}"
    );
    let shape = refused(&["bench", MODULE, "--shape", "x=2x6", "--device", "cpu"], 1);
    assert!(
        shape.contains("parameter `w0` needs --input w0=FILE.npy"),
        "{shape}"
    );
    let device = refused(&["demo", "--device", "no such gpu"], 1);
    assert!(device.contains("no such gpu"), "{device}");
    let func = refused(&["run", MODULE, "--func", "mian"], 1);
    assert!(
        func.contains("there is no function `mian`; there are: linear, relu, main"),
        "{func}"
    );
    let data = refused(&["demo", "--data", "no/such/folder"], 1);
    assert!(data.contains("--download fetches it"), "{data}");
}

#[test]
fn a_wrong_program_is_shown_with_its_line() {
    let folder = tempfile::tempdir().expect("scratch folder");
    let path = folder.path().join("wrong.py");
    std::fs::write(
        &path,
        "@T.prim_func\ndef f(a: T.handle):\n    A = T.match_bufer(a, (4,))\n",
    )
    .expect("writable");
    let message = refused(&["show", &path.display().to_string()], 1);
    assert!(message.contains("wrong.py:3:"), "{message}");
    assert!(message.contains("A = T.match_bufer(a, (4,))"), "{message}");
    assert!(message.contains("^^^"), "{message}");
}

#[test]
fn wrong_usage_is_exit_code_2() {
    for args in [
        &["no-such-verb"][..],
        &["run"],
        &["show", MODULE, "--stage", "ptx"],
        &["bench", MODULE, "--shape", "x"],
    ] {
        assert!(refused(args, 2).contains("--help"), "{args:?}");
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let mut child = command(&["show", MODULE, "--stage", "spirv"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let mut errors = String::new();
    child
        .stderr
        .take()
        .expect("piped")
        .read_to_string(&mut errors)
        .expect("text");
    assert_eq!(child.wait().expect("ends").code(), Some(0), "{errors}");
    assert!(!errors.contains("weftile has a bug"), "{errors}");
}
