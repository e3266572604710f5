//! ONNX models from elsewhere: the node tests of the standard, and models with recorded runs.

use std::collections::BTreeSet;

use super::data::data_dir;

#[path = "../../../examples/onnx/judge.rs"]
mod judge;
#[path = "../../../examples/onnx/models.rs"]
mod models;
#[path = "../../../examples/onnx/nodes.rs"]
mod nodes;
#[path = "../../../examples/shared/parallel.rs"]
mod parallel;

use judge::{Backend, Outcome};

/// Node tests that passed when this list was written, in the interpreter and on the CPU. A GPU passes those whose element types it
/// has.
const PASSED: &str = include_str!("passed.txt");

/// Runs the node tests of the list, and of the others each `step`th.
fn node_tests(test: &str, device: &str, step: usize) {
    let Some(data) = data_dir(test) else { return };
    let backend = Backend::open(device).expect("the device is there");
    let listed: BTreeSet<&str> = PASSED.lines().step_by(step).collect();
    let archive = data.join("onnx-node-tests/node-tests-dev.tar.gz");
    let wants = |name: &str| listed.contains(name);
    let tests = nodes::judged(&archive, &wants, &backend).expect("the archive can be read");
    assert_eq!(
        tests.len(),
        listed.len(),
        "tests of the list are missing in the archive"
    );
    let lacking = |o: &Outcome| device == "gpu" && matches!(o, Outcome::Unsupported(_));
    let bad: Vec<_> = tests
        .iter()
        .filter(|(_, o)| *o != Outcome::Passed && !lacking(o))
        .collect();
    let passed = tests.iter().filter(|(_, o)| *o == Outcome::Passed).count();
    assert!(passed * 10 >= tests.len() * 9, "only {passed} pass");
    assert!(
        bad.is_empty(),
        "{} of {} no longer pass: {bad:#?}",
        bad.len(),
        tests.len()
    );
}

#[test]
fn node_tests_of_the_list_pass_on_the_cpu() {
    node_tests("node_tests_of_the_list_pass_on_the_cpu", "cpu", 1);
}

#[test]
fn node_tests_of_the_list_pass_in_the_interpreter() {
    node_tests(
        "node_tests_of_the_list_pass_in_the_interpreter",
        "interp",
        4,
    );
}

/// A part of the list: drivers take long for shaders that they have not seen.
#[test]
#[expect(clippy::print_stderr, reason = "a skipped test must say so")]
fn node_tests_of_the_list_pass_on_the_gpu() {
    let test = "node_tests_of_the_list_pass_on_the_gpu";
    let required = std::env::var_os("WEFTILE_REQUIRE_GPU").is_some();
    if weftile::runtime_gpu::adapters().is_empty() && !required {
        eprintln!("{test}: skipped: no adapter");
        return;
    }
    node_tests(test, "gpu", 16);
}

/// What is refused is refused while the model is imported: nothing else fails.
#[test]
fn other_node_tests_are_refused_at_import() {
    let Some(data) = data_dir("other_node_tests_are_refused_at_import") else {
        return;
    };
    let backend = Backend::open("interp").expect("the interpreter is there");
    let listed: BTreeSet<&str> = PASSED.lines().collect();
    let archive = data.join("onnx-node-tests/node-tests-dev.tar.gz");
    let wants = |name: &str| !listed.contains(name);
    let tests = nodes::judged(&archive, &wants, &backend).expect("the archive can be read");
    let refused = |o: &Outcome| matches!(o, Outcome::Passed | Outcome::Unsupported(_));
    let bad: Vec<_> = tests.iter().filter(|(_, o)| !refused(o)).collect();
    assert!(bad.is_empty(), "{bad:#?}");
}

#[test]
fn recorded_runs_of_models_agree_on_the_cpu() {
    let Some(data) = data_dir("recorded_runs_of_models_agree_on_the_cpu") else {
        return;
    };
    let backend = Backend::open("cpu").expect("there is a CPU");
    // The others take longer; the command runs them all.
    let quick = ["fashion", "mnist", "gen_", "dtln", "gtcrn", "conformer"];
    let wants = |name: &str| quick.iter().any(|part| name.contains(part));
    let mut runs = 0;
    let judged = models::judged(&data.join("onnx-models"), &wants, &backend, &mut |run| {
        let (file, took) = (&run.file, run.ready + run.called);
        assert_eq!(run.outcome, Outcome::Passed, "{file}, after {took:.1?}");
        runs += 1;
    });
    judged.expect("the folder can be read");
    assert_eq!(runs, 19);
}
