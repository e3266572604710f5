//! Artifacts: how executables read, and what is refused when loaded.

use std::io::{Cursor, Read, Write};
use std::path::PathBuf;

use weftile::artifact::{ArtifactError, Executable};
use weftile::codegen_cpu::host_target;
use weftile::kernel::{GpuTarget, Target};
use weftile::pipeline::{CompileOptions, compile};
use weftile::script;
use weftile::tensor::{DType, Tensor};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// The module of the demo, with weights bound.
fn executable(target: Target) -> Executable {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/cli/fashion.py");
    let text = std::fs::read_to_string(path).expect("there");
    let module = script::parse("fashion.py", &text).expect("well formed");
    let weights = [("w0", vec![4, 6]), ("b0", vec![4]), ("w1", vec![3, 4])];
    let weights = weights
        .into_iter()
        .map(|(name, shape)| {
            let tensor = Tensor::zeros(DType::F32, &shape).expect("small");
            (name.to_owned(), tensor)
        })
        .collect();
    let module = weftile::passes::bind_params(&module, "main", &weights).expect("they fit");
    compile(&module, &CompileOptions::new(target)).unwrap_or_else(|e| panic!("{e}"))
}

fn gpu_target() -> Target {
    Target::Gpu(GpuTarget::default())
}

fn check(name: &str, target: Target) {
    let exec = executable(target);
    let text = format!("{}\n{}", exec.stats(), exec.as_text());
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/goldens/bytecode")
        .join(format!("{name}.txt"));
    if std::env::var_os("WEFTILE_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().expect("has a folder")).expect("makes the folder");
        std::fs::write(&path, &text).expect("writes");
        return;
    }
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    if known != text {
        let diff = similar::TextDiff::from_lines(&known, &text);
        panic!(
            "{} is not what is printed now (WEFTILE_BLESS=1 rewrites it)\n{}",
            path.display(),
            diff.unified_diff()
        );
    }
}

#[test]
fn bytecode_for_the_cpu() {
    check("fashion.cpu", Target::Cpu(host_target(2)));
}

#[test]
fn bytecode_for_a_gpu() {
    check("fashion.gpu", gpu_target());
}

#[test]
fn what_is_saved_is_what_is_loaded() {
    for target in [Target::Cpu(host_target(2)), gpu_target()] {
        let exec = executable(target);
        let bytes = exec.to_bytes().expect("saved");
        let loaded = Executable::from_bytes(&bytes).expect("loaded");
        assert_eq!(loaded.as_text(), exec.as_text());
        assert_eq!(loaded.stats(), exec.stats());
        assert_eq!(loaded.constants, exec.constants);
        assert_eq!(loaded.script, exec.script);
        assert_eq!(loaded.traces, exec.traces);
        assert_eq!(loaded.metadata, exec.metadata);
    }
}

/// The artifact with its entries changed: `None` leaves one out.
fn changed(bytes: &[u8], change: impl Fn(&str, Vec<u8>) -> Option<Vec<u8>>) -> Vec<u8> {
    let mut from = ZipArchive::new(Cursor::new(bytes)).expect("an archive");
    let mut to = ZipWriter::new(Cursor::new(Vec::new()));
    for index in 0..from.len() {
        let mut entry = from.by_index(index).expect("there");
        let name = entry.name().expect("text").into_owned();
        let mut content = Vec::new();
        entry.read_to_end(&mut content).expect("whole");
        if let Some(content) = change(&name, content) {
            let options =
                SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
            to.start_file(&name, options).expect("written");
            to.write_all(&content).expect("written");
        }
    }
    to.finish().expect("written").into_inner()
}

fn error(bytes: &[u8]) -> ArtifactError {
    Executable::from_bytes(bytes)
        .map(|_| ())
        .expect_err("refused")
}

#[test]
fn missing_entries_are_named() {
    let bytes = executable(gpu_target()).to_bytes().expect("saved");
    Executable::from_bytes(&changed(&bytes, |_, content| Some(content))).expect("unchanged");
    for entry in [
        "format.json",
        "bytecode",
        "kernels",
        "constants.safetensors",
        "module.py",
        "wgsl/relu_4.wgsl",
    ] {
        let without = changed(&bytes, |name, content| (name != entry).then_some(content));
        assert!(matches!(error(&without), ArtifactError::Missing(name) if name == entry));
    }
}

#[test]
fn entries_that_say_something_else_are_refused() {
    let bytes = executable(gpu_target()).to_bytes().expect("saved");
    let with = |entry: &str, text: &[u8]| {
        changed(&bytes, |name, content| {
            Some(if name == entry {
                text.to_vec()
            } else {
                content
            })
        })
    };
    let version = with("format.json", br#"{"version": 2}"#);
    assert!(matches!(
        error(&version),
        ArtifactError::Version {
            expected: 1,
            got: 2
        }
    ));
    for entry in [
        "format.json",
        "bytecode",
        "kernels",
        "constants.safetensors",
    ] {
        for text in [
            &b""[..],
            b"\xff\xff\xff\xff\xff\xff\xff\xff\xff",
            b"{\"version\": 1}",
        ] {
            let error = error(&with(entry, text));
            assert!(
                matches!(
                    error,
                    ArtifactError::Malformed { .. } | ArtifactError::Version { .. }
                ),
                "{entry}: {error}"
            );
        }
    }
    let text = error(&with("module.py", &[0xff]));
    assert!(matches!(text, ArtifactError::Malformed { name, .. } if name == "module.py"));
    let shader = error(&with("wgsl/relu_4.wgsl", b"fn relu() -> {"));
    assert!(matches!(shader, ArtifactError::Shader { kernel, .. } if kernel == "relu_4"));
}

#[test]
fn files_that_are_cut_off_are_refused() {
    let bytes = executable(Target::Cpu(host_target(2)))
        .to_bytes()
        .expect("saved");
    for len in (0..bytes.len()).step_by(97) {
        assert!(
            matches!(error(&bytes[..len]), ArtifactError::Zip(_)),
            "{len}"
        );
    }
    let folder = tempfile::tempdir().expect("scratch folder");
    let nothing = Executable::load(folder.path().join("none.weft")).map(|_| ());
    assert!(matches!(nothing, Err(ArtifactError::Io { .. })));
    let path = folder.path().join("no/such/folder/model.weft");
    let saved = executable(gpu_target()).save(&path);
    assert!(matches!(saved, Err(ArtifactError::Io { .. })));
}

/// A kernel in a file may say anything of itself.
#[test]
fn no_kernel_of_a_file_is_believed_to_be_in_bounds() {
    let exec = executable(Target::Cpu(host_target(2)));
    let proved = |exec: &Executable| {
        let kernels = exec.kernels.iter().flat_map(|k| &k.func.kernels);
        kernels.map(|kernel| kernel.in_bounds).collect::<Vec<_>>()
    };
    assert!(
        proved(&exec).iter().all(|proved| *proved),
        "the compiler proved it"
    );
    let loaded = Executable::from_bytes(&exec.to_bytes().expect("saved")).expect("loaded");
    assert!(proved(&loaded).iter().all(|proved| !proved));
}
