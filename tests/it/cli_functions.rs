//! Verbs on other functions than one that takes and gives tensors: loop programs alone, tuples, calls of itself.

use std::path::{Path, PathBuf};

use serde_json::Value;
use weftile::frontend::{load_tensor, save_npy};
use weftile::tensor::Tensor;

use crate::cli::{gpu, json, refused, stdout, weftile};

/// One loop program, without a module.
const SCALE: &str = r#"
@T.prim_func
def scale(A: T.Buffer((4, 3), "float32"), B: T.Buffer((4, 3), "float32")):
    for i, j in T.grid(4, 3):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
"#;

/// A loop program with two results, of which one is not last, and sizes of 32 bits.
const SPLIT: &str = r#"
@T.prim_func
def split(lo: T.handle, x: T.handle, hi: T.handle):
    n = T.int32()
    LO = T.match_buffer(lo, (n,), "float32")
    X = T.match_buffer(x, (n,), "float32")
    HI = T.match_buffer(hi, (n * 2,), "float32")
    for i in T.grid(n):
        with T.block("lo"):
            vi = T.axis.remap("S", [i])
            LO[vi] = T.min(X[vi], T.float32(0))
    for i in T.grid(n * 2):
        with T.block("hi"):
            vi = T.axis.remap("S", [i])
            HI[vi] = T.max(X[vi // 2], T.float32(0))
"#;

/// A loop program that changes a parameter.
const ADD: &str = r#"
@T.prim_func
def add(x: T.Buffer((3,), "float32"), sum: T.Buffer((3,), "float32")):
    for i in T.grid(3):
        with T.block("sum"):
            vi = T.axis.remap("S", [i])
            sum[vi] = sum[vi] + x[vi]
"#;

const TUPLES: &str = r#"
@I.ir_module
class Module:
    @T.prim_func
    def scale(x: T.handle, y: T.handle):
        n = T.int64()
        A = T.match_buffer(x, (n,), "float32")
        B = T.match_buffer(y, (n,), "float32")
        for i in T.grid(n):
            with T.block("B"):
                vi = T.axis.remap("S", [i])
                B[vi] = A[vi] * T.float32(2)

    @T.prim_func
    def halves(x: T.handle, y: T.handle, z: T.handle):
        n = T.int64()
        A = T.match_buffer(x, (n,), "float32")
        B = T.match_buffer(y, (n,), "float32")
        C = T.match_buffer(z, (n,), "float32")
        for i in T.grid(n):
            with T.block("B"):
                vi = T.axis.remap("S", [i])
                B[vi] = A[vi] * T.float32(0.5)
        for i in T.grid(n):
            with T.block("C"):
                vi = T.axis.remap("S", [i])
                C[vi] = A[vi] * T.float32(0.25)

    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        cls = Module
        a = R.call_tir(cls.scale, (x,), out_sinfo=R.Tensor((n,), "float32"))
        t = R.call_tir(cls.halves, (a,), out_sinfo=[R.Tensor((n,), "float32"), R.Tensor((n,), "float32")])
        return (a, (t, x), R.shape([n]))

    @R.function
    def forever(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        cls = Module
        a = R.call_tir(cls.scale, (x,), out_sinfo=R.Tensor((n,), "float32"))
        y: R.Tensor((n,), "float32") = cls.forever(a)
        return y
"#;

/// A folder with the programs above and some tensors.
struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Self {
        let files = Self(tempfile::tempdir().expect("scratch folder"));
        for (name, text) in [
            ("scale", SCALE),
            ("split", SPLIT),
            ("add", ADD),
            ("tuples", TUPLES),
        ] {
            std::fs::write(files.path(&format!("{name}.py")), text).expect("writable");
        }
        files
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// `NAME=FILE` for a tensor of these numbers.
    fn input(&self, name: &str, shape: &[usize], elements: &[f32]) -> String {
        let path = self.path(&format!("{name}.npy"));
        let tensor = Tensor::from_slice(shape, elements).expect("as many as the shape has");
        save_npy(&path, &tensor).expect("writable");
        format!("{name}={}", path.display())
    }
}

fn written(folder: &Path, name: &str) -> Vec<f32> {
    let tensor = load_tensor(&folder.join(format!("{name}.npy"))).expect("written");
    tensor.as_slice::<f32>().expect("float32").to_vec()
}

/// Arguments for the CPU, and for a GPU if there is one.
fn devices(test: &str) -> Vec<Vec<&'static str>> {
    let gpu = gpu(test).map(|args| args.to_vec());
    [Some(vec!["--device", "cpu"]), gpu]
        .into_iter()
        .flatten()
        .collect()
}

#[test]
fn a_loop_program_runs_by_itself() {
    let files = Files::new();
    let elements: Vec<f32> = (0..12).map(|i| i as f32).collect();
    let input = files.input("A", &[4, 3], &elements);
    let out = files.text("out");
    for device in devices("a_loop_program_runs_by_itself") {
        let scale = files.text("scale.py");
        let args = ["run", &scale, "--input", &input, "--output", &out, "--json"];
        let report = json(&[&args[..], &device].concat());
        assert_eq!(report["outputs"][0]["name"], "B");
        assert_eq!(report["outputs"].as_array().map(Vec::len), Some(1));
        let expected: Vec<f32> = elements.iter().map(|v| v * 2.0).collect();
        assert_eq!(written(&files.path("out"), "B"), expected);
        let args = [
            "bench", &scale, "--func", "scale", "--time", "0.02", "--json",
        ];
        let report = json(&[&args[..], &device].concat());
        assert!(report["median_ms"].as_f64().is_some_and(|ms| ms > 0.0));
        let args = ["diff", &scale, "--device", "interp", "--json"];
        let report = json(&[&args[..], &device].concat());
        assert_eq!(
            (
                &report["agree"],
                &report["values"][0]["name"],
                &report["values"][0]["by"]
            ),
            (&Value::from(true), &Value::from("B"), &Value::from("scale"))
        );
    }
}

#[test]
fn results_of_a_loop_program_have_the_names_of_its_parameters() {
    let files = Files::new();
    let input = files.input("x", &[3], &[-1.0, 2.0, -3.0]);
    let (split, out) = (files.text("split.py"), files.text("out"));
    for device in devices("results_of_a_loop_program_have_the_names_of_its_parameters") {
        let args = ["run", &split, "--input", &input, "--output", &out];
        stdout(&weftile(&[&args[..], &device].concat()));
        assert_eq!(written(&files.path("out"), "lo"), [-1.0, 0.0, -3.0]);
        let expected = [0.0, 0.0, 2.0, 2.0, 0.0, 0.0];
        assert_eq!(written(&files.path("out"), "hi"), expected);
        let args = ["diff", &split, "--shape", "n=100", "--device", "interp"];
        stdout(&weftile(&[&args[..], &device].concat()));
    }
    let message = refused(&["run", &split, "--device", "cpu"], 1);
    assert!(message.contains("dimension n is not known"), "{message}");
}

#[test]
fn a_result_that_is_given_starts_out_so() {
    let files = Files::new();
    let x = files.input("x", &[3], &[1.0, 2.0, 3.0]);
    let sum = files.input("sum", &[3], &[10.0, 20.0, 30.0]);
    let (add, out) = (files.text("add.py"), files.text("out"));
    let args = [
        "run", &add, "--input", &x, "--input", &sum, "--output", &out, "--device", "cpu",
    ];
    stdout(&weftile(&args));
    assert_eq!(written(&files.path("out"), "sum"), [11.0, 22.0, 33.0]);
    let kept = load_tensor(&files.path("sum.npy")).expect("there");
    assert_eq!(kept.as_slice::<f32>(), Ok(&[10.0, 20.0, 30.0][..]));
}

#[test]
fn tuples_are_written_item_by_item() {
    let files = Files::new();
    let input = files.input("x", &[2], &[1.0, -4.0]);
    let (tuples, out) = (files.text("tuples.py"), files.text("out"));
    for device in devices("tuples_are_written_item_by_item") {
        let args = [
            "run", &tuples, "--input", &input, "--output", &out, "--json",
        ];
        let report = json(&[&args[..], &device].concat());
        let outputs = report["outputs"].as_array().expect("a list");
        let names: Vec<&Value> = outputs.iter().map(|output| &output["name"]).collect();
        let expected = ["main.0", "main.1.0.0", "main.1.0.1", "main.1.1", "main.2"];
        assert_eq!(names, expected);
        assert_eq!(written(&files.path("out"), "main.0"), [2.0, -8.0]);
        assert_eq!(written(&files.path("out"), "main.1.0.1"), [0.5, -2.0]);
        assert_eq!(written(&files.path("out"), "main.1.1"), [1.0, -4.0]);
        let args = [
            "diff", &tuples, "--shape", "n=5", "--device", "interp", "--json",
        ];
        let report = json(&[&args[..], &device].concat());
        let values = report["values"].as_array().expect("a list");
        let names: Vec<&Value> = values.iter().map(|value| &value["name"]).collect();
        assert_eq!(names, ["a", "t.0", "t.1"]);
        let origin = values[0]["origin"].as_str().expect("text");
        assert!(
            origin.starts_with("line ") && origin.contains("`a = "),
            "{origin}"
        );
        let args = [
            "bench", &tuples, "--shape", "n=5", "--time", "0.02", "--json",
        ];
        json(&[&args[..], &device].concat());
    }
}

const SCALARS: &str = r#"
@R.function
def main(x: R.Tensor(("n", 4), "float32")):
    n = T.int64()
    @R.function
    def f(y: R.Tensor((n, 4), "float32")) -> R.Tensor((n, 4), "float32"):
        z = R.add(x, y)
        return z
    return (R.shape([n, 4]), R.prim_value(n * 2), R.prim_value(T.float32(0.5)), R.str("done"), x, f)
"#;

#[test]
fn shapes_scalars_and_texts_are_shown() {
    let files = Files::new();
    std::fs::write(files.path("scalars.py"), SCALARS).expect("writable");
    let scalars = files.text("scalars.py");
    let mut devices = devices("shapes_scalars_and_texts_are_shown");
    devices.push(vec!["--device", "interp"]);
    for device in devices {
        let args = ["run", &scalars, "--shape", "n=3"];
        let report = json(&[&args[..], &["--json"], &device].concat());
        let outputs = report["outputs"].as_array().expect("a list");
        assert_eq!(outputs[0]["dims"], serde_json::json!([3, 4]));
        assert_eq!(outputs[1]["value"], 6);
        assert_eq!(outputs[2]["value"], 0.5);
        assert_eq!(outputs[3]["value"], "done");
        let kinds: Vec<&Value> = outputs.iter().map(|output| &output["kind"]).collect();
        assert_eq!(
            kinds,
            ["shape", "integer", "float", "text", "tensor", "other"]
        );
        let text = stdout(&weftile(&[&args[..], &device].concat()));
        let expected = "main.0: shape [3, 4]\nmain.1: 6\nmain.2: 0.5\nmain.3: \"done\"\nmain.4: float32 [3, 4]\n";
        assert!(text.contains(expected), "{text}");
        assert!(text.contains("main.5: a closure\n"), "{text}");
    }
}

#[test]
fn calls_without_end_are_refused_everywhere() {
    let files = Files::new();
    let tuples = files.text("tuples.py");
    let args = ["--func", "forever", "--shape", "n=2"];
    let mut devices = devices("calls_without_end_are_refused_everywhere");
    devices.push(vec!["--device", "interp"]);
    for device in devices {
        let run = [&["run", &tuples][..], &args, &device].concat();
        let message = refused(&run, 1);
        assert!(
            message.contains("calls are nested more than 200 deep\n  from line "),
            "{message}"
        );
    }
    let diff = [
        &["diff", &tuples, "--device", "interp", "--device", "cpu"][..],
        &args,
    ]
    .concat();
    let message = refused(&diff, 1);
    assert!(
        message.contains("calls are nested more than 200 deep"),
        "{message}"
    );
}

#[test]
fn nan_and_infinities_are_compared_as_they_are() {
    let files = Files::new();
    let special = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, 1e-45];
    let input = files.input("x", &[5], &special);
    let (tuples, split) = (files.text("tuples.py"), files.text("split.py"));
    for file in [&tuples, &split] {
        let args = [
            "diff", file, "--input", &input, "--device", "interp", "--device", "cpu", "--json",
        ];
        assert_eq!(json(&args)["agree"], true);
    }
}

/// Of a recurrence with lengths a kernel reads and writes ten tensors and more. Desktop GPUs have buffers for 16, not every device does.
#[test]
fn what_desktop_gpus_run_is_shown_without_one() {
    let folder = tempfile::tempdir().expect("scratch folder");
    let path = folder.path().join("lstm.py");
    let text = r#"
@R.function
def main(
    x: R.Tensor((5, 2, 4), "float32"),
    w: R.Tensor((1, 32, 4), "float32"),
    r: R.Tensor((1, 32, 8), "float32"),
    b: R.Tensor((1, 64), "float32"),
    h: R.Tensor((1, 2, 8), "float32"),
    c: R.Tensor((1, 2, 8), "float32"),
    lens: R.Tensor((2,), "int32"),
):
    y = R.nn.lstm(x, w, r, b, h, c, lens)
    return y
"#;
    std::fs::write(&path, text).expect("written");
    let file = path.to_str().expect("text");
    let shader = stdout(&weftile(&[
        "show", file, "--stage", "wgsl", "--target", "gpu",
    ]));
    let bindings = shader.matches("var<storage").count();
    assert!((9..=16).contains(&bindings), "{bindings}: {shader}");
    stdout(&weftile(&["show", file, "--stage", "spirv"]));
    let check = json(&["check", file, "--target", "gpu", "--json"]);
    assert_eq!(check["runs"], true, "{check}");
}
