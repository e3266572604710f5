//! What users do wrong at the command line: exit code 1 with a message that says what, 2 for wrong usage, never a crash.

use weftile::frontend::save_npy;
use weftile::tensor::Tensor;

use crate::cli::{MODULE, gpu, refused, stdout, weftile};

const VERBS: [&str; 10] = [
    "demo", "devices", "run", "show", "explain", "check", "compile", "report", "bench", "diff",
];

#[test]
fn every_help_has_examples() {
    let help = stdout(&weftile(&["--help"]));
    assert!(help.contains("Examples:"), "{help}");
    for verb in VERBS {
        assert!(help.contains(verb), "{verb}");
        let help = stdout(&weftile(&[verb, "--help"]));
        let examples = help.split_once("Examples:").expect(verb).1;
        assert!(examples.contains(&format!("weftile {verb}")), "{help}");
        assert!(help.contains("Usage:"), "{help}");
    }
}

#[test]
fn examples_of_the_help_run_from_the_root_of_the_repository() {
    for verb in VERBS {
        let help = stdout(&weftile(&[verb, "--help"]));
        let examples = help.split_once("Examples:").expect(verb).1;
        let lines = examples.lines().map(str::trim);
        let folder = tempfile::tempdir().expect("scratch folder");
        copy_examples(folder.path());
        for example in lines.filter(|line| line.starts_with("weftile ")) {
            let mut args: Vec<&str> = example.split_whitespace().skip(1).collect();
            if matches!(verb, "demo" | "devices") {
                args.push("--help");
            }
            let output = std::process::Command::new(env!("CARGO_BIN_EXE_weftile"))
                .args(&args)
                .env("WEFTILE_PIPELINE_CACHE", "0")
                .current_dir(folder.path())
                .output()
                .expect("the program starts");
            let errors = String::from_utf8_lossy(&output.stderr);
            // Not every machine has a GPU.
            let expected = if example.contains("gpu") {
                &[Some(0), Some(1)][..]
            } else {
                &[Some(0)]
            };
            assert!(
                expected.contains(&output.status.code()),
                "{example}: {errors}"
            );
            assert!(!errors.contains("cannot read"), "{example}: {errors}");
        }
    }
}

/// The files that examples name, as they lie in the repository, and a model.
fn copy_examples(root: &std::path::Path) {
    let name = "examples/fashion_mnist";
    let from = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    std::fs::create_dir_all(root.join(name)).expect("writable");
    for file in ["mlp.py", "weights.safetensors"] {
        std::fs::copy(from.join(file), root.join(name).join(file)).expect("it is there");
    }
    std::fs::copy(crate::cli_models::MODEL, root.join("model.onnx")).expect("it is there");
}

/// A file with a tensor.
fn file(folder: &std::path::Path, name: &str, tensor: &Tensor) -> String {
    let path = folder.join(name);
    save_npy(&path, tensor).expect("writable");
    path.display().to_string()
}

const NET: [&str; 4] = ["--shape", "w0=4x3", "--shape", "k=2"];

#[test]
fn inputs_that_do_not_fit_are_named() {
    let folder = tempfile::tempdir().expect("scratch folder");
    let path = folder.path();
    let wrong = |input: &str| {
        let args = ["run", MODULE, "--device", "cpu", "--input", input];
        refused(&[&args[..], &NET].concat(), 1)
    };
    let matrix =
        |shape: &[usize]| Tensor::zeros(weftile::tensor::DType::F32, shape).expect("small");
    let ranks = file(path, "ranks.npy", &matrix(&[3]));
    assert!(wrong(&format!("x={ranks}")).contains("`x` must have 2 dimensions, got 1"));
    let sizes = file(path, "sizes.npy", &matrix(&[1, 5]));
    assert!(wrong(&format!("x={sizes}")).contains("must be m = 5, got 3"));
    let ints = Tensor::from_slice(&[1, 3], &[1i32, 2, 3]).expect("three");
    let ints = file(path, "ints.npy", &ints);
    assert!(wrong(&format!("x={ints}")).contains("`x` must be of float32, got int32"));
    assert!(wrong("x=none.npy").contains("cannot read none.npy"));
    assert!(wrong(&format!("y={ints}")).contains("there is no parameter `y`; there are: x, w0, "));
    let text = path.join("text.npy");
    std::fs::write(&text, "no numbers").expect("writable");
    let message = wrong(&format!("x={}", text.display()));
    assert!(message.contains("text.npy"), "{message}");
    std::fs::write(&text, [0x93, b'N', b'U', b'M', b'P', b'Y', 1, 0, 255, 255]).expect("writable");
    let message = wrong(&format!("x={}", text.display()));
    assert!(message.contains("text.npy"), "{message}");
    assert!(wrong(&format!("x={MODULE}")).contains("cannot tell the format"));
}

#[test]
fn files_that_are_no_programs_are_named() {
    let folder = tempfile::tempdir().expect("scratch folder");
    let path = folder.path().join("binary.py");
    std::fs::write(&path, [0xff, 0xfe, 0, 1]).expect("writable");
    let (binary, dir) = (
        path.display().to_string(),
        folder.path().display().to_string(),
    );
    for file in [&binary, &dir] {
        for verb in ["run", "show", "bench"] {
            let message = refused(&[verb, file], 1);
            assert!(message.contains(file.as_str()), "{message}");
        }
    }
    let weights = ["run", MODULE, "--params", MODULE, "--device", "cpu"];
    assert!(refused(&weights, 1).contains("mlp.py"));
}

#[test]
fn devices_that_are_not_there_are_named() {
    for verb in ["run", "bench"] {
        let args = [verb, MODULE, "--shape", "x=1x3", "--device", "no such"];
        let message = refused(&[&args[..], &NET].concat(), 1);
        assert!(message.contains("no such"), "{message}");
    }
    let args = ["bench", MODULE, "--shape", "x=1x3", "--device", "interp"];
    let interpreter = refused(&[&args[..], &NET].concat(), 1);
    let expected = "compiled programs are timed, and the interpreter compiles nothing; use --device cpu or gpu";
    assert!(interpreter.contains(expected), "{interpreter}");
    let args = ["diff", MODULE, "--shape", "x=1x3", "--device", "cpu"];
    let one = refused(&[&args[..], &NET].concat(), 2);
    assert!(one.contains("diff compares two devices"), "{one}");
    let three = [&args[..], &["--device", "cpu", "--device", "cpu"], &NET].concat();
    assert!(refused(&three, 2).contains("3 given"));
    for verb in ["run", "bench", "diff"] {
        let args = [verb, MODULE, "--shape", "x=1x3", "--device", ""];
        let message = refused(&[&args[..], &NET].concat(), 2);
        assert!(message.contains("part of the name of a GPU"), "{message}");
    }
    let two = [&args[..], &["--device", "no such"], &NET].concat();
    assert!(refused(&two, 1).contains("no such"));
}

#[test]
fn results_that_cannot_be_written_are_an_error() {
    let folder = tempfile::tempdir().expect("scratch folder");
    let path = folder.path().join("file");
    std::fs::write(&path, "in the way").expect("writable");
    let (file, below) = (
        path.display().to_string(),
        path.join("below").display().to_string(),
    );
    let run = ["run", MODULE, "--shape", "x=1x3", "--device", "cpu"];
    for (output, expected) in [
        (&file, "is a file; it must be a folder"),
        (&below, "cannot make the folder"),
    ] {
        let args = [&run[..], &NET, &["--output", output]].concat();
        let message = refused(&args, 1);
        assert!(message.contains(expected), "{message}");
        let show = ["show", MODULE, "--stage", "wgsl", "--output", output];
        assert!(refused(&show, 1).contains(expected));
    }
    let taken = folder.path().display().to_string();
    for verb in ["compile", "report"] {
        let args = [&[verb, MODULE, "--device", "cpu", "--output", &taken][..]].concat();
        let message = refused(&args, 1);
        assert!(
            message.contains("is a folder; it must be the file"),
            "{message}"
        );
    }
    assert_eq!(
        std::fs::read_to_string(&path).expect("there"),
        "in the way",
        "nothing was overwritten"
    );
}

#[test]
fn sizes_beyond_all_memory_are_an_error() {
    let mut devices = vec![vec!["--device", "cpu"]];
    if let Some(gpu) = gpu("sizes_beyond_all_memory_are_an_error") {
        devices.push(gpu.to_vec());
    }
    for device in devices {
        for size in [
            "1152921504606846976",
            "9223372036854775807",
            "99999999999999",
        ] {
            for verb in ["run", "bench"] {
                let shape = format!("x={size}x3");
                let args = [&[verb, MODULE, "--shape", &shape][..], &NET, &device].concat();
                let message = refused(&args, 1);
                assert!(
                    message.contains("too large") || message.contains("cannot be had"),
                    "{message}"
                );
            }
        }
    }
    let message = refused(&["run", MODULE, "--shape", "x=99999999999999999999x3"], 2);
    assert!(message.contains("expected NAME=DIMS"), "{message}");
}

#[test]
fn what_is_missing_is_said() {
    let message = refused(&["run", MODULE, "--device", "cpu"], 1);
    assert!(
        message.contains("parameter `x` needs --input x=FILE.npy or --shape x=DIMS"),
        "{message}"
    );
    assert!(refused(&["run"], 2).contains("Usage:"));
    assert!(refused(&["diff", MODULE], 2).contains("--device"));
    let message = refused(&["run", MODULE, "--func", "lin"], 1);
    assert!(
        message.contains("there is no function `lin`; there are: linear, relu, main"),
        "{message}"
    );
}

#[test]
fn stages_of_the_other_target_are_refused() {
    for (stage, target) in [("wgsl", "cpu"), ("spirv", "cpu"), ("clif", "gpu")] {
        let args = ["show", MODULE, "--stage", stage, "--target", target];
        let message = refused(&args, 2);
        assert!(
            message.contains(&format!("the stage {stage} is of --target")),
            "{message}"
        );
    }
}

/// A program with `body` as a graph function of `x`, beside the loop program `copy`.
fn program(folder: &std::path::Path, ret: &str, body: &str) -> String {
    let path = folder.join("program.py");
    let text = format!(
        r#"
@I.ir_module
class Module:
    @T.prim_func
    def copy(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,), "float32")
        Y = T.match_buffer(y, (n,), "float32")
        for i in T.serial(n):
            with T.block("Y"):
                vi = T.axis.spatial(n, i)
                Y[vi] = X[vi]
    @R.function
    def main(x: R.Tensor(("n",), "float32")){ret}:
        n = T.int64()
        y = {body}
        return y
"#
    );
    std::fs::write(&path, text).expect("writable");
    path.display().to_string()
}

const CALL: &str = "R.call_tir(copy, (x,), R.Tensor((n,), \"float32\"))";

#[test]
fn an_error_of_a_program_is_said_once() {
    let folder = tempfile::tempdir().expect("scratch folder");
    let path = folder.path();
    let file = program(path, "", &CALL.replace("copy", "kopy"));
    let message = refused(&["run", &file, "--shape", "x=5"], 1);
    assert!(
        message.starts_with("error: undefined name `kopy`\n"),
        "{message}"
    );
    assert_eq!(message.matches("error:").count(), 1, "{message}");
    assert_eq!(message.matches("kopy").count(), 2, "{message}");
    assert!(
        !message.contains("because") && !message.ends_with("\n\n"),
        "{message}"
    );
}

#[test]
fn operators_that_cannot_be_run_are_named() {
    let folder = tempfile::tempdir().expect("scratch folder");
    let path = folder.path();
    let file = program(path, "", &CALL.replace("call_tir", "call_tri"));
    let message = refused(&["run", &file, "--shape", "x=5"], 1);
    assert!(
        message.contains("unknown function `R.call_tri`"),
        "{message}"
    );
    assert!(message.contains("did you mean `R.call_tir`?"), "{message}");
    assert!(message.contains("program.py:16:13"), "{message}");
    for (body, expected) in [
        ("R.grad.no_grad(x)", "operator `R.grad.no_grad` cannot run:"),
        ("R.unheard_of(x, 1)", "unknown function `R.unheard_of`"),
        (
            "R.nn.softmax(x, axes=1)",
            "`R.nn.softmax` has no argument `axes`",
        ),
        (
            "R.nn.softmax(x, axis=\"first\")",
            "attribute axis must be an integer",
        ),
        (
            "R.nn.softmax(x, axis=2)",
            "axis 2 is out of range for 1 dimensions",
        ),
    ] {
        let file = program(path, "", body);
        let message = refused(&["run", &file, "--shape", "x=5", "--device", "cpu"], 1);
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn results_that_are_not_as_declared_are_an_error() {
    let folder = tempfile::tempdir().expect("scratch folder");
    let file = program(folder.path(), " -> R.Tensor((3,), \"float32\")", CALL);
    let run = |dims: &'static str| ["run", &file, "--device", "cpu", "--shape", dims];
    stdout(&weftile(&run("x=3")));
    let message = refused(&run("x=5"), 1);
    let expected =
        "`main`: dimension 0 of the result `y` must be 3, got 5 (declared as R.Tensor((3,)";
    assert!(message.contains(expected), "{message}");
    let shape = [
        "diff", &file, "--shape", "x=5", "--device", "interp", "--device", "cpu",
    ];
    stdout(&weftile(&shape));
}

#[test]
fn the_interpreter_refuses_what_devices_refuse() {
    let folder = tempfile::tempdir().expect("scratch folder");
    let path = folder.path().join("short.py");
    let text = r#"
@T.prim_func
def main(A: T.Buffer((6,), "float32"), B: T.Buffer((6,), "float32")):
    for i in range(6):
        with T.block("B"):
            v = T.axis.spatial(3, i)
            B[v] = A[v]
"#;
    std::fs::write(&path, text).expect("written");
    let path = path.display().to_string();
    for device in ["cpu", "interp"] {
        let message = refused(&["run", &path, "--device", device], 1);
        let expected =
            "iter variable `v` is bound to a loop from 0 to 5, its domain is from 0 to before 3";
        assert!(message.contains(expected), "{message}");
        assert!(message.contains("from line 3: `def main"), "{message}");
    }
}

#[test]
fn iterations_that_no_number_counts_are_an_error() {
    let folder = tempfile::tempdir().expect("scratch folder");
    let path = folder.path().join("grid.py");
    let grid = |extents: &str, dims: &str| {
        let text = format!(
            r#"
@T.prim_func
def k(x: T.handle, y: T.handle):
    n = T.int64()
    X = T.match_buffer(x, (n, 4), "float32")
    Y = T.match_buffer(y, (n, 4), "float32")
    for i, j in T.grid({extents}):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = X[vi, vj] + T.float32(1)
"#
        );
        std::fs::write(&path, text).expect("writable");
        let file = path.display().to_string();
        refused(&["run", &file, "--device", "cpu", "--shape", dims], 1)
    };
    let message = grid("n, 9223372036854775807", "x=3x4");
    assert!(
        message.contains("3 * 9223372036854775807 does not fit an int64"),
        "{message}"
    );
    let message = grid("4, 9223372036854775807", "x=4x4");
    assert!(
        message.contains("the loops around it run more than 2^63 times"),
        "{message}"
    );
}

#[test]
fn what_is_given_twice_and_times_that_are_none_are_wrong_usage() {
    let twice = ["run", MODULE, "--shape", "x=1x3", "--shape", "x=2x3"];
    assert!(refused(&twice, 2).contains("parameter `x` is given twice"));
    let by_both = ["--dim", "batch=3", "--shape", "batch=2"];
    let args = [&["run", crate::cli_models::MODEL], &by_both[..]].concat();
    let message = refused(&args, 2);
    let expected = "parameter `batch` is given twice, by --dim and by --shape";
    assert!(message.contains(expected), "{message}");
    let linear = [crate::cli_models::MODEL];
    let module = [MODULE];
    let memory = [MODULE, "--stage", "memory"];
    for (verb, program, option, values) in [
        ("run", &module[..], "--input", ["x=random", "x=a.npy"]),
        ("run", &linear, "--dim", ["batch=4", "batch=5"]),
        ("check", &linear, "--dim", ["batch=4", "batch=4"]),
        (
            "check",
            &linear,
            "--shape",
            ["image.in=1x4", "image.in=2x4"],
        ),
        (
            "explain",
            &linear,
            "--shape",
            ["image.in=1x4", "image.in=2x4"],
        ),
        ("explain", &module, "--size", ["batch=1", "batch=2"]),
        ("show", &memory, "--size", ["batch=1", "batch=2"]),
    ] {
        let given = [option, values[0], option, values[1]];
        let args = [&[verb], program, &given].concat();
        let name = values[0].split_once('=').expect("NAME=VALUE").0;
        let message = refused(&args, 2);
        let expected = format!("parameter `{name}` is given twice, by {option} and by {option}");
        assert!(message.contains(&expected), "{args:?}: {message}");
    }
    for time in ["nan", "inf", "1e300", "-1"] {
        let time = format!("--time={time}");
        let message = refused(&["bench", MODULE, "--shape", "x=1x3", &time], 2);
        assert!(
            message.contains("expected a number of seconds"),
            "{message}"
        );
    }
}

#[test]
fn a_type_that_gpus_do_not_compute_with_is_said_once_and_first() {
    let Some(device) = gpu("a_type_that_gpus_do_not_compute_with_is_said_once_and_first") else {
        return;
    };
    let folder = tempfile::tempdir().expect("scratch folder");
    let path = folder.path().join("wide.py");
    let text = "@R.function\ndef main(x: R.Tensor((8, 16), \"float64\")):\n    a = R.sum(x, axis=[1])\n    return a\n";
    std::fs::write(&path, text).expect("writable");
    let path = path.display().to_string();
    let message = refused(&[&["run", &path][..], &device].concat(), 1);
    let reason = "has type float64, which the GPU does not compute with; cast it to float32, or run it on the CPU (--device cpu)";
    let first = message.lines().next().unwrap_or_default();
    assert!(first.ends_with(reason), "{message}");
    assert_eq!(message.matches(reason).count(), 1, "{message}");
    assert!(
        message.contains("from line 3: `a = R.sum(x, axis=[1])`"),
        "{message}"
    );
    assert!(
        message.contains("`x` is parameter `x` of `main`"),
        "{message}"
    );
}
