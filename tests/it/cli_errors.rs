//! What users do wrong at the command line: exit code 1 with a message that says what, 2 for wrong usage, never a crash.

use weftile::frontend::save_npy;
use weftile::tensor::Tensor;

use crate::cli::{MODULE, gpu, refused, stdout, weftile};

const VERBS: [&str; 6] = ["demo", "devices", "run", "show", "bench", "diff"];

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
fn examples_of_the_help_are_no_wrong_usage() {
    for verb in VERBS {
        let help = stdout(&weftile(&[verb, "--help"]));
        let examples = help.split_once("Examples:").expect(verb).1;
        let lines = examples.lines().map(str::trim);
        for example in lines.filter(|line| line.starts_with("weftile ")) {
            // The files are not there; whatever else is wrong would be found first.
            let mut args: Vec<&str> = example.split_whitespace().skip(1).collect();
            if matches!(verb, "demo" | "devices") {
                args.push("--help");
            }
            let folder = tempfile::tempdir().expect("scratch folder");
            let output = std::process::Command::new(env!("CARGO_BIN_EXE_weftile"))
                .args(&args)
                .current_dir(folder.path())
                .output()
                .expect("the program starts");
            assert_ne!(output.status.code(), Some(2), "{example}");
        }
    }
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
    assert!(refused(&weights, 1).contains("fashion.py"));
}

#[test]
fn devices_that_are_not_there_are_named() {
    for verb in ["run", "bench"] {
        let args = [verb, MODULE, "--shape", "x=1x3", "--device", "no such"];
        let message = refused(&[&args[..], &NET].concat(), 1);
        assert!(message.contains("no such"), "{message}");
    }
    let args = ["diff", MODULE, "--shape", "x=1x3", "--device", "cpu"];
    let one = refused(&[&args[..], &NET].concat(), 1);
    assert!(one.contains("diff compares two devices"), "{one}");
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
    for output in [&file, &below] {
        let args = [&run[..], &NET, &["--output", output]].concat();
        let message = refused(&args, 1);
        assert!(message.contains("cannot make the folder"), "{message}");
        let show = ["show", MODULE, "--stage", "wgsl", "--output", output];
        assert!(refused(&show, 1).contains("cannot make the folder"));
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
        let message = refused(&args, 1);
        assert!(
            message.contains(&format!("the stage {stage} is of --target")),
            "{message}"
        );
    }
}
