//! ONNX models on the command line and as sessions: by the model's own names, as a model and compiled.

use std::path::Path;

use weftile::artifact::Executable;
use weftile::frontend::{load_tensor, save_npy};
use weftile::onnx::{self, ImportOptions};
use weftile::runtime::Device;
use weftile::session::{Session, SessionError};
use weftile::tensor::Tensor;

use crate::cli::{json, refused, stdout, weftile};

/// `relu(x @ w + b)` and its sums. Input `image.in`, outputs `scores/out` and `../sum`: no name is an identifier, and one is no
/// name of a file. Written by the package `onnx`; the numbers below are those of onnxruntime.
pub(crate) const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/onnx/linear.onnx");

const ROWS: [f32; 8] = [1.0, 2.0, 3.0, 4.0, -1.0, 0.0, 0.5, -2.0];
const SCORES: [f32; 6] = [6.0, 9.5, 13.0, 0.0, 0.125, 0.5];
const SUMS: [f32; 2] = [28.5, 0.625];

fn rows() -> Tensor {
    Tensor::from_slice(&[2, 4], &ROWS).expect("eight elements")
}

#[test]
fn a_model_runs_by_its_own_names() {
    let folder = tempfile::tempdir().expect("scratch folder");
    let at = |name: &str| folder.path().join(name).display().to_string();
    save_npy(Path::new(&at("x.npy")), &rows()).expect("writable");
    let weft = at("linear.weft");
    let compile = json(&["compile", MODEL, "-o", &weft, "--device", "cpu", "--json"]);
    assert_eq!(compile["inputs"][0]["name"], "image.in");
    assert_eq!(compile["inputs"][0]["kind"], "float32 [batch, 4]");
    for file in [MODEL, &weft] {
        let input = format!("image.in={}", at("x.npy"));
        let out = at("out");
        let args = [
            "run", file, "--input", &input, "--output", &out, "--json", "--device", "cpu",
        ];
        let report = json(&args);
        let names = ["scores/out", "../sum"];
        let files = ["scores_out.npy", "_.._sum.npy"];
        let expected = [&SCORES[..], &SUMS];
        for (at, expected) in expected.into_iter().enumerate() {
            assert_eq!(report["outputs"][at]["name"], names[at]);
            let written = load_tensor(&folder.path().join("out").join(files[at])).expect("written");
            assert_eq!(written.as_slice::<f32>().expect("floats"), expected);
        }
        std::fs::remove_dir_all(&out).expect("it was made");
    }
}

#[test]
fn a_compiled_model_is_for_run_and_bench() {
    let folder = tempfile::tempdir().expect("scratch folder");
    let weft = folder.path().join("linear.weft").display().to_string();
    stdout(&weftile(&[
        "compile", MODEL, "-o", &weft, "--device", "cpu",
    ]));
    let shape = ["--shape", "batch=3"];
    let times = json(&[&["bench", &weft, "--time", "0.01", "--json"], &shape[..]].concat());
    assert_eq!(times["device"], "cpu");
    let random = [
        "run",
        &weft,
        "--input",
        "image.in=random",
        "--shape",
        "image.in=5,4",
        "--json",
    ];
    assert_eq!(
        json(&random)["outputs"][0]["shape"],
        serde_json::json!([5, 3])
    );
    assert_eq!(json(&random)["made_up"], serde_json::json!([]));
    let unnamed = ["run", &weft, "--shape", "batch=3"];
    let report = json(&[&unnamed[..], &["--json"]].concat());
    assert_eq!(report["made_up"], serde_json::json!(["image.in"]));
    let said = "made-up numbers for image.in, which no --input names";
    assert!(stdout(&weftile(&unnamed)).contains(said));
    for verb in [
        &["show", &weft][..],
        &["check", &weft],
        &["report", &weft],
        &["diff", &weft, "--device", "cpu", "--device", "interp"],
        &["compile", &weft, "-o", "never.weft"],
    ] {
        let message = refused(verb, 1);
        assert!(
            message.contains("only run and bench take such a file"),
            "{message}"
        );
    }
    let params = ["run", &weft, "--shape", "batch=1", "--params", MODEL];
    let message = refused(&params, 1);
    assert!(
        message.contains("has its weights; --params is for"),
        "{message}"
    );
    let message = refused(&["run", &weft, "--input", "image.in=x.bin"], 1);
    assert!(
        message.contains("known are npy, npz, pb, png, safetensors, idx, gz"),
        "{message}"
    );
    let message = refused(&["run", &weft, "--input", "image=x.npy"], 1);
    assert!(
        message.contains("there is no parameter `image`; there are: image.in"),
        "{message}"
    );
    let junk = folder.path().join("junk.onnx").display().to_string();
    std::fs::write(&junk, b"no model").expect("writable");
    for verb in ["check", "run"] {
        let message = refused(&[verb, &junk], 1);
        assert!(message.contains("junk.onnx is no ONNX model"), "{message}");
    }
    std::fs::write(&junk, b"").expect("writable");
    let message = refused(&["run", &junk], 1);
    assert!(
        message.contains("junk.onnx is no ONNX model: it has no graph"),
        "{message}"
    );
    std::fs::write(&weft, b"damaged").expect("writable");
    let message = refused(&["run", &weft, "--shape", "batch=1"], 1);
    assert!(message.contains("cannot load "), "{message}");
    assert!(message.contains("linear.weft"), "{message}");
    let nowhere = folder.path().join("no/such.weft").display().to_string();
    let message = refused(&["run", &nowhere], 1);
    assert!(message.contains("cannot read "), "{message}");
    let message = refused(&["compile", MODEL, "-o", &nowhere, "--device", "cpu"], 1);
    assert!(message.contains("cannot write "), "{message}");
}

#[test]
fn weights_may_come_later() {
    let folder = tempfile::tempdir().expect("scratch folder");
    let at = |name: &str| folder.path().join(name).display().to_string();
    save_npy(Path::new(&at("x.npy")), &rows()).expect("writable");
    let weft = at("light.weft");
    let compile = [
        "compile",
        MODEL,
        "--no-weights",
        "-o",
        &weft,
        "--device",
        "cpu",
    ];
    stdout(&weftile(&compile));
    let input = format!("image.in={}", at("x.npy"));
    let run = ["run", &weft, "--input", &input, "--json"];
    let report = json(&[&run[..], &["--params", MODEL]].concat());
    assert_eq!(report["outputs"][0]["first"], serde_json::json!(SCORES));
    let message = refused(&run, 1);
    assert!(
        message.contains("weights are missing: w, b; --params brings them"),
        "{message}"
    );
    // The same from the library, with other weights.
    let light = Executable::load(&weft).expect("it was written");
    assert_eq!(light.weights(), ["w", "b"]);
    let mut weights = onnx::weights(Path::new(MODEL)).expect("a model");
    weights["b"] = Tensor::from_slice(&[3], &[0f32, 0.0, -100.0]).expect("three");
    let mut session = Session::with_weights(light, Device::Cpu, &weights).expect("it loads");
    let outputs = session.run([("image.in", rows())]).expect("it runs");
    let scores = outputs["scores/out"].as_slice::<f32>().expect("floats");
    assert_eq!(scores, [5.0, 7.5, 0.0, 0.0, 0.0, 0.0]);
}

/// A model of the sum of its input and a weight of these bytes, written by hand: messages of protobuf are numbers of fields, lengths
/// and contents.
#[cfg(target_os = "linux")]
fn sum_with_a_weight(rows: u64, columns: u64) -> Vec<u8> {
    fn varint(mut value: u64) -> Vec<u8> {
        let mut bytes = vec![];
        while value >= 0x80 {
            bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        bytes.push(value as u8);
        bytes
    }
    fn number(field: u64, value: u64) -> Vec<u8> {
        [varint(field << 3), varint(value)].concat()
    }
    fn message(field: u64, content: &[u8]) -> Vec<u8> {
        let length = varint(content.len() as u64);
        [&varint(field << 3 | 2)[..], &length, content].concat()
    }
    let port = |name: &str, dims: &[u64]| {
        let dims = dims.iter().map(|&dim| message(1, &number(1, dim)));
        let shape = message(2, &dims.collect::<Vec<_>>().concat());
        let tensor = message(1, &[number(1, 1), shape].concat());
        [message(1, name.as_bytes()), message(2, &tensor)].concat()
    };
    let raw = vec![0x3f; (rows * columns * 4) as usize];
    let weight = [
        number(1, rows),
        number(1, columns),
        number(2, 1),
        message(8, b"w"),
        message(9, &raw),
    ];
    let node = [
        message(1, b"x"),
        message(1, b"w"),
        message(2, b"y"),
        message(4, b"Add"),
    ];
    let graph = [
        message(1, &node.concat()),
        message(2, b"sum"),
        message(5, &weight.concat()),
        message(11, &port("x", &[columns])),
        message(12, &port("y", &[rows, columns])),
    ];
    let opset = message(8, &number(2, 17));
    [number(1, 8), message(7, &graph.concat()), opset].concat()
}

/// What was mapped of a file and copied does not stay in memory beside the copy.
#[cfg(target_os = "linux")]
#[test]
fn a_model_that_is_read_takes_the_memory_of_its_weights_once() {
    const WEIGHT: u64 = 64 << 20;
    // The program itself, and what it knows of the model.
    const SLACK: u64 = 40 << 20;
    let folder = tempfile::tempdir().expect("scratch folder");
    let path = folder.path().join("sum.onnx");
    std::fs::write(&path, sum_with_a_weight(4096, 4096)).expect("writable");
    let path = path.display().to_string();
    let times = json(&["bench", &path, "--device", "cpu", "--time", "0", "--json"]);
    let memory = &times["memory"];
    assert_eq!(memory["weight_bytes"], WEIGHT);
    let read = memory["read_peak_bytes"].as_u64().expect("Linux says it");
    assert!((WEIGHT..WEIGHT + SLACK).contains(&read), "{read} bytes");
    let peak = memory["peak_bytes"].as_u64().expect("Linux says it");
    assert!(
        peak >= read + WEIGHT,
        "the result is as large: {peak} bytes"
    );
}

#[test]
fn a_session_is_called_by_names() {
    let model = onnx::load(Path::new(MODEL), &ImportOptions::default()).expect("a model");
    let mut compiled = model.compile(&Device::Cpu).expect("it compiles");
    let bytes = compiled
        .machine()
        .executable()
        .to_bytes()
        .expect("an archive");
    let loaded = Executable::from_bytes(&bytes).expect("what was written");
    let loaded = Session::new(loaded, Device::Cpu).expect("it loads");
    for mut session in [compiled, loaded] {
        let outputs = session.run([("image.in", rows())]).expect("it runs");
        assert_eq!(
            outputs["scores/out"].as_slice::<f32>().expect("floats"),
            SCORES
        );
        assert_eq!(outputs["../sum"].shape(), [2, 1]);
        assert!(
            matches!(session.run([]), Err(SessionError::Missing(names)) if names == ["image.in"])
        );
        let twice = session.run([("image.in", rows()), ("image.in", rows())]);
        assert!(matches!(twice, Err(SessionError::Input { name, .. }) if name == "image.in"));
        let wide = Tensor::from_slice(&[1, 8], &ROWS).expect("eight elements");
        assert!(matches!(
            session.run([("image.in", wide)]),
            Err(SessionError::Vm(_))
        ));
    }
}

#[test]
fn a_check_says_what_a_call_takes() {
    let report = |more: &[&str]| json(&[&["check", MODEL, "--json"], more].concat());
    for target in ["cpu", "gpu"] {
        let fixed = report(&["--target", target, "--dim", "batch=2"]);
        assert_eq!(fixed["runs"], true);
        assert_eq!(fixed["inputs"][0]["kind"], "float32 [2, 4]");
        assert_eq!(fixed["outputs"][1]["name"], "../sum");
        assert_eq!(fixed["model"]["opsets"]["ai.onnx"], 17);
        // Weights, bias, and the axis of the sum.
        assert_eq!(fixed["model"]["parameters"], 12 + 3 + 1);
        assert_eq!(fixed["model"]["weight_bytes"], 4 * 12 + 4 * 3 + 8);
        // A product of 2x4 and 4x3, a bias, a maximum, a sum.
        assert_eq!(fixed["costs"]["flops"], 2 * 24 + 6 + 6 + 6);
        let parts = fixed["parts"].as_array().expect("a list");
        assert!(
            parts.iter().all(|part| part["runs_on"] == target),
            "{parts:?}"
        );
        let origins: Vec<_> = parts
            .iter()
            .flat_map(|part| part["origins"].as_array())
            .collect();
        assert!(
            format!("{origins:?}").contains("node `sum` (ReduceSum)"),
            "{origins:?}"
        );
    }
    let open = report(&[]);
    assert_eq!(open["costs"]["flops"], serde_json::Value::Null);
    assert_eq!(open["costs"]["open"], serde_json::json!(["batch"]));
    let missing = serde_json::json!(["--dim batch=N"]);
    assert_eq!(open["costs"]["missing"], missing);
    let text = stdout(&weftile(&["check", MODEL]));
    assert!(
        text.contains("a call takes depends on batch: give --dim batch=N\n"),
        "{text}"
    );
}

/// A loop program that gets a size of its own, and a function that calls itself as often as its data says.
#[test]
fn a_check_counts_calls_with_sizes_and_knows_of_loops() {
    let folder = tempfile::tempdir().expect("scratch folder");
    let path = folder.path().join("add.py").display().to_string();
    let text = r#"
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def add(px: T.handle, py: T.handle, k: T.int64):
        X = T.match_buffer(px, (8,), "float32")
        Y = T.match_buffer(py, (8,), "float32")
        for i in range(8):
            with T.block("Y"):
                v = T.axis.spatial(8, i)
                Y[v] = X[v] + T.Cast("float32", k)

    @R.function
    def main(x: R.Tensor((8,), "float32"), s: R.Shape(["k"])):
        k = T.int64()
        cls = Module
        y = R.call_tir(cls.add, (x,), out_sinfo=R.Tensor((8,), "float32"), tir_vars=R.shape([k]))
        return y

    @R.function
    def loop(x: R.Tensor((8,), "float32"), more: R.Tensor((), "bool")) -> R.Tensor((8,), "float32"):
        cls = Module
        if more:
            y = R.add(x, x)
            z = cls.loop(y, more)
        else:
            z = x
        return z
"#;
    std::fs::write(&path, text).expect("written");
    let of = |func| json(&["check", &path, "--func", func, "--target", "cpu", "--json"]);
    let main = of("main");
    assert_eq!(main["costs"]["flops"], 8);
    assert_eq!(main["parts"][0]["name"], "add");
    assert_eq!(of("loop")["costs"]["flops"], serde_json::Value::Null);
}

#[test]
fn a_check_names_what_nearly_is_an_operator() {
    let folder = tempfile::tempdir().expect("scratch folder");
    let path = folder.path().join("gelu.py").display().to_string();
    let gelu = |x: &str, divisor: &str| {
        format!(
            r#"
            {x}a = R.divide({x}, R.const({divisor}, "float32"))
            {x}b = R.erf({x}a)
            {x}c = R.add({x}b, R.const(1.0, "float32"))
            {x}d = R.multiply({x}, {x}c)
            {x}e = R.multiply({x}d, R.const(0.5, "float32"))"#
        )
    };
    let text = format!(
        r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
        with R.dataflow():{}{}
            z = R.add(xe, ye)
            R.output(z)
        return z
"#,
        gelu("x", "1.4142135"),
        gelu("y", "1.5")
    );
    std::fs::write(&path, text).expect("writable");
    let sites = |report: &serde_json::Value| {
        let sites = report["recognized"].as_array().expect("a list").iter();
        let sites = sites.filter(|site| site["operator"] == "nn.gelu");
        let declined = sites.map(|site| site["declined"].as_str().map(str::to_owned));
        declined.collect::<Vec<_>>()
    };
    let reason = "the divisor in `erf` is 1.5, not 1.4142135623730951";
    let expected = [None, Some(reason.to_owned())];
    assert_eq!(
        sites(&json(&["check", &path, "--target", "cpu", "--json"])),
        expected
    );
    assert_eq!(
        sites(&json(&["report", &path, "--device", "cpu", "--json"])),
        expected
    );
    let text = stdout(&weftile(&["check", &path, "--target", "cpu"]));
    assert!(text.contains("\nrecognized: nn.gelu 1\n"), "{text}");
    assert!(text.contains(&format!(": no nn.gelu: {reason}")), "{text}");
}

#[test]
fn pages_are_shown_to_machines() {
    let text = json(&["show", MODEL, "--stage", "wgsl", "--json"]);
    assert_eq!(text["stage"], "wgsl");
    let page = &text["pages"][0];
    assert!(
        page["name"]
            .as_str()
            .is_some_and(|name| name.ends_with(".wgsl")),
        "{page}"
    );
    assert!(
        page["text"]
            .as_str()
            .is_some_and(|text| text.contains("@compute")),
        "{page}"
    );
    let words = json(&["show", MODEL, "--stage", "spirv", "--json"]);
    // The magic number of SPIR-V.
    assert_eq!(words["pages"][0]["words"][0], 0x0723_0203);
}

#[test]
fn a_check_names_all_that_stands_in_the_way() {
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/onnx/refused.onnx");
    let output = weftile(&["check", model, "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["runs"], false);
    let problems = report["problems"].as_array().expect("a list");
    let places: Vec<&str> = problems
        .iter()
        .filter_map(|p| p["place"].as_str())
        .collect();
    let named = ["first", "second", "third"].map(|name| format!("node `{name}`"));
    assert_eq!(places.len(), 3, "{problems:?}");
    for (place, name) in places.iter().zip(&named) {
        assert!(place.contains(name.as_str()), "{place}");
    }
    let text = weftile(&["check", model]);
    let text = String::from_utf8(text.stdout).expect("text");
    assert!(
        text.contains("operators: Elu 1, Relu 1, Twist 1, org.example::Sparkle 1"),
        "{text}"
    );
}

#[test]
fn a_diff_compares_kernels_as_they_are_fused() {
    let diff = [
        "diff", MODEL, "--dim", "batch=3", "--device", "interp", "--device", "cpu", "--json",
    ];
    let report = json(&diff);
    assert_eq!(report["agree"], true);
    let values = report["values"].as_array().expect("a list");
    let fused = values.iter().find(|value| {
        let from = value["origin"].as_str().unwrap_or_default();
        from.contains("`dense`") && from.contains("`act`")
    });
    assert!(fused.is_some(), "{values:?}");
    assert!(report["operators"].is_null());
}
