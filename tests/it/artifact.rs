//! Artifacts: how executables read, and what is refused when loaded.

use std::io::Cursor;
use std::path::PathBuf;

use weftile::artifact::{ArtifactError, Executable};
use weftile::codegen_cpu::host_target;
use weftile::kernel::{
    Access, ArrayId, Expr, GpuTarget, HostExpr, LoweredFunc, Space, Stmt, Target, Ty, VarInfo,
};
use weftile::pipeline::{CompileOptions, compile};
use weftile::runtime::Device;
use weftile::script;
use weftile::support::Arena;
use weftile::tensor::scalar::BinOp;
use weftile::tensor::{DType, ScalarType, Tensor};
use weftile::vm::{VirtualMachine, VmError};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::forge::{Checksums, forged};

/// The module of the demo, with weights bound.
fn executable(target: Target) -> Executable {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples/fashion_mnist/mlp.py");
    let text = std::fs::read_to_string(path).expect("there");
    let module = script::parse("mlp.py", &text).expect("well formed");
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

/// The artifact with its entries changed, and checksums that fit: `None` leaves an entry out.
fn changed(bytes: &[u8], change: impl FnMut(&str, Vec<u8>) -> Option<Vec<u8>>) -> Vec<u8> {
    forged(bytes, Checksums::Fitting, change)
}

fn error(bytes: &[u8]) -> ArtifactError {
    Executable::from_bytes(bytes)
        .map(|_| ())
        .expect_err("refused")
}

/// The path of a shader in the file.
fn a_shader(bytes: &[u8]) -> String {
    let mut found = None;
    changed(bytes, |name, content| {
        found = found
            .take()
            .or_else(|| name.starts_with("wgsl/").then(|| name.to_owned()));
        Some(content)
    });
    found.expect("the executable is for a GPU")
}

#[test]
fn missing_entries_are_named() {
    let bytes = executable(gpu_target()).to_bytes().expect("saved");
    Executable::from_bytes(&changed(&bytes, |_, content| Some(content))).expect("unchanged");
    let shader = a_shader(&bytes);
    for entry in [
        "format.json",
        "bytecode",
        "kernels",
        "constants.safetensors",
        "module.py",
        &shader,
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
    let version = with("format.json", br#"{"version": 4294967299}"#);
    assert!(matches!(
        error(&version),
        ArtifactError::Version {
            expected: 11,
            got: 4_294_967_299
        }
    ));
    assert_eq!(
        error(&version).to_string(),
        "format version 4294967299 is newer than version 11, which this program reads"
    );
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
    let mut exec = executable(gpu_target());
    exec.kernels[0].wgsl[0].text = "fn relu() -> {".to_owned();
    let kernel = exec.kernels[0].func.name.clone();
    let shader = error(&exec.to_bytes().expect("saved"));
    assert!(matches!(shader, ArtifactError::Shader { kernel: name, .. } if name == kernel));
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

/// Every part of a file is flipped somewhere: what is loaded then is the same program, or it is refused.
#[test]
fn files_with_flipped_bits_are_refused_or_mean_the_same() {
    for target in [Target::Cpu(host_target(2)), gpu_target()] {
        let bytes = executable(target).to_bytes().expect("saved");
        let (mut refused, mut harmless) = (0, 0);
        for at in (0..bytes.len())
            .step_by(211)
            .chain(bytes.len() - 60..bytes.len())
        {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            match Executable::from_bytes(&flipped) {
                Err(error) => {
                    assert!(!error.to_string().is_empty());
                    refused += 1;
                }
                Ok(loaded) => {
                    let again = loaded.to_bytes().expect("saved");
                    let first = Executable::from_bytes(&bytes).expect("undamaged");
                    assert!(again == first.to_bytes().expect("saved"), "byte {at}");
                    harmless += 1;
                }
            }
        }
        // Padding between entries, dates and the like mean nothing.
        assert!(refused > 3 * harmless, "{refused} refused, {harmless} not");
    }
}

/// An entry that was renamed, exchanged or added has a checksum of its own that is right.
#[test]
fn entries_are_those_that_were_saved() {
    let bytes = executable(gpu_target()).to_bytes().expect("saved");
    let shader = a_shader(&bytes);
    let other = forged(&bytes, Checksums::AsTheyWere, |name, content| {
        Some(if name == shader {
            b"@compute @workgroup_size(1) fn main() {}".to_vec()
        } else {
            content
        })
    });
    let other = error(&other);
    assert!(
        matches!(&other, ArtifactError::Malformed { name, problem }
            if *name == shader && problem.contains("checksum")),
        "{other}"
    );
    let mut more = ZipWriter::new_append(Cursor::new(bytes)).expect("an archive");
    more.start_file("traces/more.txt", SimpleFileOptions::default())
        .expect("written");
    let more = more.finish().expect("written").into_inner();
    let error = error(&more);
    assert!(error.to_string().contains("not in the list"), "{error}");
}

/// Without a proof for all sizes, the kernels of the default schedules are shown to stay in bounds for those of a call.
#[test]
fn kernels_of_the_demo_stay_in_bounds() {
    let exec = executable(Target::Cpu(host_target(2)));
    for batch in [0, 1, 2, 3, 7, 16, 127, 128, 129, 256, 1000] {
        for (m, n) in [(784, 128), (128, 10), (1, 1), (5, 17), (64, 64)] {
            for func in exec.kernels.iter().map(|k| &k.func) {
                let value = |name: &String| match name.as_str() {
                    "batch" => batch,
                    "m" => m,
                    "n" => n,
                    other => panic!("dim {other}"),
                };
                let dims: Vec<i64> = func.dims.iter().map(value).collect();
                for kernel in &func.kernels {
                    assert!(
                        kernel.stays_in_bounds(&dims),
                        "{} with {:?} = {dims:?}",
                        kernel.name,
                        func.dims
                    );
                }
            }
        }
    }
}

#[test]
fn a_loaded_program_computes_the_same() {
    let exec = executable(Target::Cpu(host_target(2)));
    let loaded = Executable::from_bytes(&exec.to_bytes().expect("saved")).expect("loaded");
    let mut machines = [exec, loaded]
        .map(|exec| VirtualMachine::new(exec, Device::Cpu).unwrap_or_else(|e| panic!("{e}")));
    for batch in [3, 1, 0, 130, 3] {
        let x: Vec<f32> = (0..6 * batch).map(|i| (i * 31 % 17) as f32).collect();
        let x = Tensor::from_slice(&[batch, 6], &x).expect("as many");
        let b1 = Tensor::from_slice(&[3], &[1.0f32, -2.0, 3.0]).expect("three");
        let results = machines.each_mut().map(|vm| {
            let result = vm.call("main", &[x.clone().into(), b1.clone().into()]);
            let result = result.unwrap_or_else(|e| panic!("{e}"));
            result.into_tensor().expect("a tensor")
        });
        let [one, other] = results;
        assert_eq!(one, other, "{batch}");
    }
}

/// Kernels that lie are found out when loaded, or do no harm when run.
#[test]
fn kernels_that_lie_are_harmless() {
    let mut honest = executable(Target::Cpu(host_target(2)));
    // A lie about how it is called would be found before: variants are called alike.
    honest.kernels.iter_mut().for_each(|k| k.variants.clear());
    let relu = honest
        .kernels
        .iter()
        .position(|k| k.func.name.contains("relu"));
    let relu = relu.expect("there");
    let machine = |change: &dyn Fn(&mut LoweredFunc)| {
        let mut exec = honest.clone();
        change(&mut exec.kernels[relu].func);
        let bytes = exec.to_bytes().expect("saved");
        let loaded = Executable::from_bytes(&bytes).expect("a well-formed file");
        VirtualMachine::new(loaded, Device::Cpu).map_err(Box::new)
    };
    let refused = |change: &dyn Fn(&mut LoweredFunc), what: &str| {
        let error = machine(change).map(|_| ()).expect_err("refused");
        assert!(matches!(*error, VmError::Bytecode(_)), "{error}");
        assert!(error.to_string().contains(what), "{error}");
    };
    refused(
        &|func| {
            let arrays = &mut func.kernels[0].arrays;
            let ids: Vec<ArrayId> = arrays.iter().map(|(id, _)| id).collect();
            for id in ids {
                if let Space::Global { access, .. } = &mut arrays[id].space {
                    *access = Access::Read;
                }
            }
        },
        "is written and only read",
    );
    refused(
        &|func| func.params.iter_mut().for_each(|p| p.written = false),
        "writes a parameter that is read",
    );
    refused(
        &|func| func.kernels[0].arrays = Arena::new(),
        "does not exist",
    );
    refused(
        &|func| func.kernels[0].vars = Arena::new(),
        "does not exist",
    );
    // Far outside: read as zero, written nowhere.
    let far = |func: &mut LoweredFunc| {
        fn shift(body: &mut [Stmt]) {
            for stmt in body {
                match stmt {
                    Stmt::Store { index, .. } => {
                        let ty = ScalarType::I64;
                        let old = std::mem::replace(index, Expr::Int(0, ty));
                        let far = Box::new(Expr::Int(1 << 40, ty));
                        *index = Expr::Binary(BinOp::Add, Box::new(old), far);
                    }
                    Stmt::For { body, .. } | Stmt::While { body, .. } => shift(body),
                    Stmt::If {
                        then, otherwise, ..
                    } => {
                        shift(then);
                        shift(otherwise);
                    }
                    Stmt::Let(..) | Stmt::Barrier | Stmt::Fragment(_) => {}
                }
            }
        }
        for kernel in &mut func.kernels {
            kernel.in_bounds = true;
            shift(&mut kernel.body);
        }
    };
    let mut vm = machine(&far).unwrap_or_else(|e| panic!("{e}"));
    let x = Tensor::zeros(DType::F32, &[5, 6]).expect("small");
    let b1 = Tensor::from_slice(&[3], &[1.0f32, -2.0, 3.0]).expect("three");
    let result = vm.call("main", &[x.into(), b1.into()]);
    let result = result.unwrap_or_else(|e| panic!("{e}"));
    let result = result.as_tensor().expect("a tensor").as_slice::<f32>();
    assert_eq!(result, Ok([1.0, -2.0, 3.0].repeat(5).as_slice()));
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

/// What cannot be compiled is an error of every call, not of the first alone.
#[test]
fn kernels_without_native_code_are_errors_of_every_call() {
    let mut exec = executable(Target::Cpu(host_target(2)));
    for kernel in exec.kernels.iter_mut().flat_map(|k| &mut k.func.kernels) {
        // Floats have no bits that could be chosen.
        let one = || Box::new(Expr::Float(1.0, ScalarType::F32));
        let ty = Ty::scalar(ScalarType::F32);
        let name = "bits".to_owned();
        let var = kernel.vars.push(VarInfo { name, ty });
        let bits = Expr::Binary(BinOp::BitAnd, one(), one());
        kernel.body.push(Stmt::Let(var, bits));
    }
    let loaded = Executable::from_bytes(&exec.to_bytes().expect("saved")).expect("well formed");
    let mut vm = VirtualMachine::new(loaded, Device::Cpu).unwrap_or_else(|e| panic!("{e}"));
    let x = Tensor::zeros(DType::F32, &[5, 6]).expect("small");
    let b1 = Tensor::from_slice(&[3], &[1.0f32, -2.0, 3.0]).expect("three");
    for _ in 0..3 {
        let error = vm.call("main", &[x.clone().into(), b1.clone().into()]);
        let root = error.as_ref().map_err(VmError::root);
        assert!(matches!(root, Err(VmError::Native(_))), "{error:?}");
    }
}

/// The lengths of arrays decide what is inside of them, so none may be negative.
#[test]
fn arrays_of_negative_lengths_are_refused() {
    let mut exec = executable(Target::Cpu(host_target(2)));
    for kernel in exec.kernels.iter_mut().flat_map(|k| &mut k.func.kernels) {
        let ids: Vec<ArrayId> = kernel.arrays.iter().map(|(id, _)| id).collect();
        for id in ids {
            if let Space::Global { .. } = kernel.arrays[id].space {
                kernel.arrays[id].len = HostExpr::Const(i64::MIN);
            }
        }
    }
    let loaded = Executable::from_bytes(&exec.to_bytes().expect("saved")).expect("well formed");
    let mut vm = VirtualMachine::new(loaded, Device::Cpu).unwrap_or_else(|e| panic!("{e}"));
    let x = Tensor::zeros(DType::F32, &[5, 6]).expect("small");
    let b1 = Tensor::from_slice(&[3], &[1.0f32, -2.0, 3.0]).expect("three");
    let error = vm.call("main", &[x.into(), b1.into()]);
    assert!(
        matches!(
            error.as_ref().map_err(VmError::root),
            Err(VmError::NegativeDimension { .. })
        ),
        "{error:?}"
    );
}

/// A small file must not ask for much memory: registers and slots are bounded by the code that uses them.
#[test]
fn frames_are_bounded_by_their_code() {
    let honest = executable(Target::Cpu(host_target(2)));
    let refused = |change: &dyn Fn(&mut Executable)| {
        let mut exec = honest.clone();
        change(&mut exec);
        let error = error(&exec.to_bytes().expect("saved"));
        assert!(matches!(error, ArtifactError::Bytecode(_)), "{error}");
    };
    refused(&|exec| exec.functions[0].num_regs = 1 << 20);
    refused(&|exec| exec.functions[0].num_slots = 1 << 20);
    refused(&|exec| {
        let again = exec.functions[0].clone();
        exec.functions.push(again);
    });
}

#[test]
fn shaders_are_counted_before_they_are_read() {
    let mut exec = executable(gpu_target());
    let again = exec.kernels[0].wgsl[0].clone();
    exec.kernels[0].wgsl.push(again);
    let error = error(&exec.to_bytes().expect("saved"));
    assert!(
        matches!(&error, ArtifactError::Malformed { name, problem }
            if name == "kernels" && problem.contains("shaders")),
        "{error}"
    );
}

/// The kernels of `f`, and another loop program that is called as one of them.
pub(crate) const NAMED_ALIKE: &str = r#"
@I.ir_module
class Module:
    @T.prim_func
    def f(x: T.Buffer((64, 64), "float32"), y: T.Buffer((64,), "float32")):
        s = T.alloc_buffer((64,), "float32")
        for i, j in T.grid(64, 64):
            with T.block("s"):
                vi, vj = T.axis.remap("SR", [i, j])
                with T.init():
                    s[vi] = T.float32(0)
                s[vi] = s[vi] + x[vi, vj]
        for i in range(64):
            with T.block("y"):
                vi = T.axis.spatial(64, i)
                y[vi] = s[63 - vi] + s[vi]

    @T.prim_func
    def f_1(x: T.Buffer((64,), "float32"), y: T.Buffer((64,), "float32")):
        for i in range(64):
            with T.block("y"):
                vi = T.axis.spatial(64, i)
                y[vi] = x[vi] * T.float32(2)

    @R.function
    def main(x: R.Tensor((64, 64), "float32")):
        cls = Module
        a = R.call_tir(cls.f, (x,), out_sinfo=R.Tensor((64,), "float32"))
        b = R.call_tir(cls.f_1, (a,), out_sinfo=R.Tensor((64,), "float32"))
        return b
"#;

#[test]
fn kernels_of_different_programs_may_share_a_name() {
    let module = script::parse("named.py", NAMED_ALIKE).expect("well formed");
    let exec = compile(&module, &CompileOptions::new(gpu_target())).expect("compiles");
    let shaders = |exec: &Executable| -> Vec<String> {
        let shaders = exec.kernels.iter().flat_map(|k| &k.wgsl);
        shaders.map(|shader| shader.text.clone()).collect()
    };
    let kernels = exec.kernels.iter().flat_map(|k| &k.func.kernels);
    let alike = kernels.filter(|kernel| kernel.name == "f_1").count();
    assert_eq!(alike, 2, "the case that is meant");
    let loaded = Executable::from_bytes(&exec.to_bytes().expect("saved")).expect("loaded");
    assert_eq!(shaders(&loaded), shaders(&exec));
}
