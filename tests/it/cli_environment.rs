//! The variables of the environment, through the command.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Output;

use weftile::codegen_cpu::Backend;
use weftile::kernel::{GpuTarget, Target};
use weftile::pipeline::passes_for;

use crate::cli::{MODULE, WEIGHTS, command, gpu, stdout, weftile};
use crate::vm::back_ends;

/// The dumps of a command, by name.
fn dumps(args: &[&str], kinds: &str) -> BTreeMap<String, String> {
    let folder = tempfile::tempdir().expect("scratch folder");
    let dir = folder.path().join("dumps");
    let output = command(args)
        .env("WEFTILE_DUMP", kinds)
        .env("WEFTILE_DUMP_DIR", &dir)
        .output()
        .expect("the program starts");
    stdout(&output);
    if !dir.exists() {
        return BTreeMap::new();
    }
    let files = std::fs::read_dir(dir).expect("listed");
    files
        .map(|file| {
            let path = file.expect("listed").path();
            let name = path.file_name().and_then(|n| n.to_str()).expect("text");
            (
                name.to_owned(),
                std::fs::read_to_string(&path).expect("text"),
            )
        })
        .collect()
}

fn with(args: &[&str], name: &str, value: &str) -> Output {
    let mut command = command(args);
    command
        .env(name, value)
        .output()
        .expect("the program starts")
}

const BYTECODE: [&str; 4] = ["show", MODULE, "--stage", "bytecode"];

#[test]
fn every_kind_of_dump_is_written() {
    let everything = "graph,prim,trace,kernel,wgsl,clif,bytecode";
    let on_cpu = dumps(&[&BYTECODE[..], &["--target", "cpu"]].concat(), everything);
    // How many kernels a loop program becomes is not our business here.
    let names = |dumps: &BTreeMap<String, String>, code: &str| -> Vec<String> {
        let names = dumps
            .keys()
            .map(|name| name.split_once('-').expect("a number").1);
        let others = names.filter(|name| !name.ends_with(code));
        others.map(str::to_owned).collect()
    };
    assert_eq!(names(&on_cpu, ".clif"), dumped(&["_batch_1", ""]));
    let code = |dumps: &BTreeMap<String, String>, what: &str| {
        let mut code = dumps.iter().filter(|(name, _)| name.contains("-emit-"));
        assert!(code.clone().count() >= 2, "one for each loop program");
        assert!(code.all(|(_, text)| text.contains(what)), "{what}");
    };
    code(&on_cpu, "function");
    let on_gpu = dumps(&BYTECODE, everything);
    assert_eq!(names(&on_gpu, ".wgsl"), dumped(&["_batch_1", "_large", ""]));
    code(&on_gpu, "@compute");
}

/// The files of a compilation, code left out, where each product has these variants.
fn dumped(variants: &[&str]) -> Vec<String> {
    let passes = passes_for(&Target::Gpu(GpuTarget::default()));
    let scheduled = ["linear", "fused_linear_relu"].map(|name| {
        let programs = variants
            .iter()
            .map(move |variant| format!("{name}{variant}"));
        programs.collect::<Vec<_>>()
    });
    let scheduled = scheduled.concat();
    let mut expected: Vec<String> = vec![];
    let mut programs: Vec<String> = ["linear", "relu"].map(str::to_owned).to_vec();
    for stage in ["verify"].iter().chain(passes) {
        if *stage == "fuse_tir" {
            programs[1] = "fused_linear_relu".to_owned();
        }
        if *stage == "add_variants" {
            expected.push("vm_shape_lower-shape_func.prim".to_owned());
            programs.clone_from(&scheduled);
            programs.push("shape_func".to_owned());
        }
        expected.push(format!("{stage}-module.graph"));
        expected.extend(programs.iter().map(|name| format!("{stage}-{name}.prim")));
    }
    for (stage, kind) in [
        ("schedule", "prim"),
        ("schedule", "trace"),
        ("lower", "kernel"),
    ] {
        expected.extend(
            scheduled
                .iter()
                .map(|name| format!("{stage}-{name}.{kind}")),
        );
    }
    expected.push("bytecode-module.bytecode".to_owned());
    expected
}

#[test]
fn one_kind_of_dump_is_one_kind_of_file() {
    for (kind, target, count) in [
        ("graph", "gpu", 2),
        ("prim", "gpu", 6),
        ("trace", "gpu", 2),
        ("kernel", "gpu", 2),
        ("wgsl", "gpu", 2),
        ("clif", "cpu", 2),
        ("bytecode", "cpu", 1),
        ("clif", "gpu", 0),
        ("", "cpu", 0),
    ] {
        let found = dumps(&[&BYTECODE[..], &["--target", target]].concat(), kind);
        let extension = |name: &String| Path::new(name).extension().is_some_and(|e| e == kind);
        assert!(found.keys().all(extension), "{kind}: {found:?}");
        assert!(found.len() >= count, "{kind}: {found:?}");
        assert_eq!(found.is_empty(), count == 0, "{kind}");
    }
}

#[test]
fn dumps_that_cannot_be_written_are_an_error() {
    let output = command(&BYTECODE)
        .env("WEFTILE_DUMP", "graph")
        .env("WEFTILE_DUMP_DIR", MODULE)
        .output()
        .expect("the program starts");
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains("cannot write dumps to "), "{message}");
}

#[test]
fn stages_are_timed() {
    let quiet = weftile(&BYTECODE);
    let timed = with(&BYTECODE, "WEFTILE_TIME", "1");
    assert_eq!(stdout(&quiet), stdout(&timed), "the table goes to stderr");
    let table = String::from_utf8(timed.stderr).expect("text");
    for stage in ["verify", "schedule", "lower", "emit", "bytecode", "total"] {
        assert!(table.contains(&format!("\n{stage} ")), "{stage}: {table}");
    }
    assert!(!String::from_utf8_lossy(&quiet.stderr).contains("schedule"));
    let off = with(&BYTECODE, "WEFTILE_TIME", "0");
    assert!(!String::from_utf8_lossy(&off.stderr).contains("schedule"));
}

/// The stages that `WEFTILE_TIME` lists for a command.
fn timed(args: &[&str], code: &str) -> Vec<String> {
    let output = command(args)
        .env("WEFTILE_TIME", "1")
        .env("WEFTILE_CPU", code)
        .output()
        .expect("the program starts");
    stdout(&output);
    let table = String::from_utf8(output.stderr).expect("text");
    let lines = table.lines().skip_while(|line| !line.starts_with("stage "));
    let names = lines.map(|line| line.get(..20).unwrap_or(line).trim().to_owned());
    names.collect()
}

#[test]
fn all_that_a_first_call_waits_for_is_timed() {
    let named = |stages: &[String], expected: &[&str]| {
        for &name in expected {
            assert!(
                stages.iter().any(|stage| stage == name),
                "{name}: {stages:?}"
            );
        }
    };
    let folder = tempfile::tempdir().expect("scratch folder");
    let file = folder.path().join("mlp.weft");
    let file = file.to_str().expect("text");
    let shape = ["--shape", "x=2x784", "--device", "cpu"];
    let cranelift = [
        "native: expand",
        "native: cranelift",
        "load",
        "first call",
        "total",
    ];
    let run = [&["run", MODULE, "--params", WEIGHTS], &shape[..]].concat();
    let before = [
        "import", "inputs", "device", "verify", "schedule", "lower", "emit", "bytecode",
    ];
    named(
        &timed(&run, "cranelift"),
        &[&before[..], &cranelift].concat(),
    );
    let compile = [
        "compile", MODULE, "--params", WEIGHTS, "--device", "cpu", "-o", file,
    ];
    named(
        &timed(&compile, "cranelift"),
        &["import", "verify", "bytecode", "save"],
    );
    let run = [&["run", file], &shape[..]].concat();
    let loaded = ["import", "device", "load", "weights", "first call", "total"];
    named(&timed(&run, "cranelift"), &loaded);
    let best = Backend::default();
    if best != Backend::Cranelift {
        let run = [
            &["bench", MODULE, "--params", WEIGHTS, "--time", "0.01"],
            &shape[..],
        ]
        .concat();
        let stages = [
            "native: emit",
            "native: registers",
            "native: encode",
            "load",
            "first call",
        ];
        named(&timed(&run, best.name()), &stages);
    }
}

#[test]
fn what_makes_code_for_the_cpu_is_listed() {
    for backend in back_ends() {
        let name = backend.name();
        let listed = with(&["devices", "--json"], "WEFTILE_CPU", name);
        let listed: serde_json::Value = serde_json::from_str(&stdout(&listed)).expect("JSON");
        assert_eq!(listed["cpu"]["code"], name);
        assert!(listed["cpu"]["threads"].is_u64(), "{listed}");
        let shown = stdout(&with(&["devices"], "WEFTILE_CPU", name));
        assert!(shown.split_whitespace().any(|word| word == name), "{shown}");
    }
}

#[test]
fn verification_can_be_asked_for() {
    let plain = weftile(&BYTECODE);
    for value in ["0", "1"] {
        let output = with(&BYTECODE, "WEFTILE_VERIFY", value);
        assert_eq!(stdout(&output), stdout(&plain), "{value}");
    }
}

#[test]
fn messages_of_the_library_can_be_seen() {
    // The rule of matmuls declines other blocks, and says so.
    let folder = tempfile::tempdir().expect("scratch folder");
    let path = folder.path().join("relu.py");
    let relu = "@R.function\ndef main(x: R.Tensor((4,), 'float32')):\n    y = R.nn.relu(x)\n    return y\n";
    std::fs::write(&path, relu).expect("written");
    let path = path.display().to_string();
    let output = with(
        &["show", &path, "--stage", "bytecode"],
        "WEFTILE_LOG",
        "weftile=debug",
    );
    stdout(&output);
    let messages = String::from_utf8(output.stderr).expect("text");
    assert!(messages.contains("declined"), "{messages}");
    let output = with(&BYTECODE, "WEFTILE_LOG", "error");
    let messages = String::from_utf8(output.stderr).expect("text");
    assert!(!messages.contains("declined"), "{messages}");
}

#[test]
fn wrong_values_are_a_users_error() {
    for (name, value, expected) in [
        (
            "WEFTILE_DUMP",
            "ptx",
            "WEFTILE_DUMP is `ptx`, expected graph, prim",
        ),
        (
            "WEFTILE_TIME",
            "yes",
            "WEFTILE_TIME is `yes`, expected 0 or 1",
        ),
        (
            "WEFTILE_VERIFY",
            "2",
            "WEFTILE_VERIFY is `2`, expected 0 or 1",
        ),
    ] {
        let output = with(&BYTECODE, name, value);
        assert_eq!(output.status.code(), Some(1), "{name}");
        let message = String::from_utf8(output.stderr).expect("text");
        assert!(message.contains(expected), "{message}");
    }
}

/// Files below a folder; none if it is not there.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return vec![];
    };
    let paths = entries.map(|entry| entry.expect("listed").path());
    let below = paths.map(|path| match path.is_dir() {
        true => files_below(&path),
        false => vec![path],
    });
    below.flatten().collect()
}

#[test]
fn compiled_pipelines_are_kept_where_the_user_says() {
    let Some(device) = gpu("compiled_pipelines_are_kept_where_the_user_says") else {
        return;
    };
    let folder = tempfile::tempdir().expect("scratch folder");
    let (home, moved) = (folder.path().join("home"), folder.path().join("moved"));
    let results = folder.path().join("results");
    let results = results.to_str().expect("text");
    let args = [
        "run", MODULE, "--params", WEIGHTS, "--shape", "x=3x784", "--output", results,
    ];
    let args = [&args[..], &device[..]].concat();
    let with_cache = |args: &[&str], cache: Option<&Path>| {
        let mut command = command(args);
        command.env_remove("WEFTILE_PIPELINE_CACHE");
        for name in ["HOME", "LOCALAPPDATA", "XDG_CACHE_HOME"] {
            command.env(name, &home);
        }
        if let Some(cache) = cache {
            command.env("WEFTILE_PIPELINE_CACHE", cache);
        }
        stdout(&command.output().expect("the program starts"))
    };
    let run = |cache: Option<&Path>| {
        with_cache(&args, cache);
        let files = files_below(Path::new(results));
        let files = files.iter().map(|file| std::fs::read(file).expect("there"));
        files.collect::<Vec<_>>()
    };
    let off = Path::new("0");
    let expected = run(Some(off));
    assert_eq!(expected.len(), 1);
    let ours = |folder: &Path| {
        let files = files_below(folder).into_iter();
        files
            .filter(|file| file.to_string_lossy().contains("wgpu_pipeline_cache"))
            .collect::<Vec<_>>()
    };
    assert!(ours(folder.path()).is_empty(), "nothing is written");
    // A machine may have adapters alone that have no cache.
    let listed = with_cache(&["devices", "--json"], Some(&moved));
    let listed: serde_json::Value = serde_json::from_str(&listed).expect("JSON");
    assert_eq!(listed["pipeline_cache"], moved.to_str().expect("text"));
    let able = listed["gpus"][0]["pipeline_cache"] == true;
    for _ in 0..2 {
        assert_eq!(run(Some(&moved)), expected);
        assert_eq!(ours(&moved).len(), usize::from(able));
    }
    assert!(ours(&home).is_empty(), "it is moved");
    for _ in 0..2 {
        assert_eq!(run(None), expected);
        assert_eq!(ours(&home).len(), usize::from(able));
    }
    if able {
        let said = with_cache(&["devices"], None);
        let kept = ours(&home)[0]
            .parent()
            .expect("a folder")
            .display()
            .to_string();
        assert!(
            said.contains(&format!("compiled pipelines are kept in {kept}")),
            "{said}"
        );
        let said = with_cache(&["devices"], Some(off));
        assert!(said.contains("compiled pipelines are not kept"), "{said}");
    }
}
