//! The WGSL of the lesson's kernels, so that a reviewer sees every change of the emitted text. `WEFTILE_BLESS=1` rewrites. The
//! SPIR-V of each is valid for Vulkan 1.1, as `spirv-val` says where it is installed.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use weftile::codegen_wgsl;
use weftile::kernel::{GpuClass, GpuTarget, ScalarPassing, Shader, Target};
use weftile::{lower, sched, script};

const LESSON: &str = r#"
@I.ir_module
class Module:
    @T.prim_func
    def linear0(x: T.handle, w: T.handle, b: T.handle, z: T.handle):
        m, n, k = T.int64(), T.int64(), T.int64()
        X = T.match_buffer(x, (1, m), "float32")
        W = T.match_buffer(w, (n, m), "float32")
        B = T.match_buffer(b, (n, ), "float32")
        Z = T.match_buffer(z, (1, n), "float32")
        Y = T.alloc_buffer((1, n), "float32")
        for i, j, k in T.grid(1, n, m):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + X[vi, vk] * W[vj, vk]
        for i, j in T.grid(1, n):
            with T.block("Z"):
                vi, vj = T.axis.remap("SS", [i, j])
                Z[vi, vj] = Y[vi, vj] + B[vj]

    @T.prim_func
    def matmul(A: T.Buffer((256, 256), "float32"), B: T.Buffer((256, 256), "float32"), C: T.Buffer((256, 256), "float32")):
        for i, j, k in T.grid(256, 256, 256):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]

    @T.prim_func
    def row_sums(a: T.handle, y: T.handle):
        n, m = T.int64(), T.int64()
        A = T.match_buffer(a, (n, m), "float32")
        Y = T.match_buffer(y, (n, ), "float32")
        for i, k in T.grid(n, m):
            with T.block("Y"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    Y[vi] = T.float32(0)
                Y[vi] = Y[vi] + A[vi, vk]

    @T.prim_func
    def relu0(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (1, n), "float32")
        Y = T.match_buffer(y, (1, n), "float32")
        for i, j in T.grid(1, n):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = T.max(X[vi, vj], T.float32(0))

    @T.prim_func
    def transpose(X: T.Buffer((1024, 1024), "float32"), Y: T.Buffer((1024, 1024), "float32")):
        for i, j in T.grid(1024, 1024):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = X[vj, vi]

    @T.prim_func
    def softmax(X: T.Buffer((1024, 1000), "float32"), Y: T.Buffer((1024, 1000), "float32")):
        M = T.alloc_buffer((1024,))
        E = T.alloc_buffer((1024, 1000))
        S = T.alloc_buffer((1024,))
        for i, k in T.grid(1024, 1000):
            with T.block("M"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    M[vi] = T.min_value("float32")
                M[vi] = T.max(M[vi], X[vi, vk])
        for i, j in T.grid(1024, 1000):
            with T.block("E"):
                vi, vj = T.axis.remap("SS", [i, j])
                E[vi, vj] = T.exp(X[vi, vj] - M[vi])
        for i, k in T.grid(1024, 1000):
            with T.block("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    S[vi] = T.float32(0)
                S[vi] = S[vi] + E[vi, vk]
        for i, j in T.grid(1024, 1000):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = E[vi, vj] / S[vi]

    @T.prim_func
    def conv2d(X: T.Buffer((1, 64, 56, 56), "float32"), W: T.Buffer((64, 64, 3, 3), "float32"), Y: T.Buffer((1, 64, 56, 56), "float32")):
        P = T.alloc_buffer((1, 64, 58, 58), "float32")
        for n, c, y, x in T.grid(1, 64, 58, 58):
            with T.block("P"):
                vn, vc, vy, vx = T.axis.remap("SSSS", [n, c, y, x])
                P[vn, vc, vy, vx] = T.if_then_else(1 <= vy and vy < 57 and 1 <= vx and vx < 57, X[vn, vc, vy - 1, vx - 1], T.float32(0))
        for n, o, y, x, c, r, s in T.grid(1, 64, 56, 56, 64, 3, 3):
            with T.block("Y"):
                vn, vo, vy, vx, vc, vr, vs = T.axis.remap("SSSSRRR", [n, o, y, x, c, r, s])
                with T.init():
                    Y[vn, vo, vy, vx] = T.float32(0)
                Y[vn, vo, vy, vx] = Y[vn, vo, vy, vx] + P[vn, vc, vy + vr, vx + vs] * W[vo, vc, vr, vs]
"#;

fn check(name: &str, target: GpuTarget, rules: &[&str]) {
    let module = script::parse("lesson.py", LESSON).expect("parses");
    let func = module
        .prim_func(name.split('.').next().expect("has a name"))
        .expect("is there");
    let target = Target::Gpu(target);
    let scheduled = sched::rules::schedule(func, &target);
    assert_eq!(scheduled.rules, rules, "rules for {name}");
    let lowered = lower::lower(scheduled.schedule.func(), &target).expect("lowers");
    let Target::Gpu(gpu) = &target else {
        unreachable!("made above")
    };
    let mut text = String::new();
    for kernel in &lowered.kernels {
        let wgsl = codegen_wgsl::emit(kernel, gpu).expect("emits");
        codegen_wgsl::validate(&wgsl).expect("naga accepts it");
        check_spirv(name, &codegen_wgsl::spirv(&wgsl).expect("translates"));
        text.push_str(&wgsl.text);
    }
    compare(&format!("{name}.wgsl"), &text);
}

/// A text against the golden of this name.
pub(super) fn compare(name: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/goldens/wgsl")
        .join(name);
    if std::env::var_os("WEFTILE_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().expect("has a folder")).expect("makes the folder");
        std::fs::write(&path, text).expect("writes");
        return;
    }
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    if known != text {
        let diff = similar::TextDiff::from_lines(known.as_str(), text);
        panic!(
            "{} is not what is emitted now (WEFTILE_BLESS=1 rewrites it)\n{}",
            path.display(),
            diff.unified_diff()
        );
    }
}

/// Asks the validator of Khronos.
#[expect(clippy::print_stderr, reason = "a skipped test must say so")]
fn check_spirv(name: &str, words: &[u32]) {
    let validator = Command::new("spirv-val")
        .args(["--target-env", "vulkan1.1", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut validator = match validator {
        Ok(child) => child,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            eprintln!("skipped: spirv-val is not installed (package spirv-tools)");
            return;
        }
        Err(error) => panic!("spirv-val does not start: {error}"),
    };
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut input = validator.stdin.take().expect("is piped");
    input.write_all(&bytes).expect("takes the module");
    drop(input);
    let output = validator.wait_with_output().expect("ends");
    let said = [output.stdout, output.stderr].concat();
    assert!(
        output.status.success(),
        "{name}: {}",
        String::from_utf8_lossy(&said)
    );
}

fn target(class: GpuClass) -> GpuTarget {
    GpuTarget {
        class,
        immediate_bytes: 128,
        ..GpuTarget::default()
    }
}

#[test]
fn linear_on_a_gpu() {
    check("linear0.gpu", target(GpuClass::Nvidia), &["gemv"]);
}

#[test]
fn linear_on_a_software_adapter() {
    check("linear0.software", target(GpuClass::Software), &["matmul"]);
}

#[test]
fn linear_without_immediates() {
    check("linear0.uniform", GpuTarget::default(), &["gemv"]);
}

#[test]
fn relu() {
    check("relu0.gpu", target(GpuClass::Nvidia), &["elementwise"]);
}

#[test]
fn relu_on_a_software_adapter() {
    check(
        "relu0.software",
        target(GpuClass::Software),
        &["elementwise"],
    );
}

#[test]
fn matmul_of_constant_extents() {
    check("matmul.gpu", target(GpuClass::Nvidia), &["matmul"]);
}

#[test]
fn transpose_through_shared_memory() {
    check("transpose.gpu", target(GpuClass::Nvidia), &["transpose"]);
}

#[test]
fn softmax_of_rows() {
    check("softmax.gpu", target(GpuClass::Nvidia), &["rows"]);
}

#[test]
fn convolution_as_a_product() {
    check("conv2d.gpu", target(GpuClass::Nvidia), &["implicit_gemm"]);
}

#[test]
fn sums_of_rows() {
    check("row_sums.gpu", target(GpuClass::Nvidia), &["rows"]);
    check("row_sums.software", target(GpuClass::Software), &["rows"]);
}

#[test]
fn sums_of_rows_by_subgroups() {
    let with_subgroups = |class| GpuTarget {
        subgroup: GpuTarget::usual(class).subgroup,
        ..target(class)
    };
    for class in [GpuClass::Nvidia, GpuClass::Intel] {
        let name = format!("row_sums.subgroups.{class:?}").to_lowercase();
        check(&name, with_subgroups(class), &["rows"]);
    }
}

#[test]
fn hand_written_shaders_are_valid() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("shaders");
    let mut found = 0;
    for entry in std::fs::read_dir(folder).expect("is there").flatten() {
        let path = entry.path();
        let name = path.file_stem().expect("has a name").to_string_lossy();
        let kernel = Shader {
            text: std::fs::read_to_string(&path).expect("reads"),
            entry: name.to_string(),
            passing: ScalarPassing::None,
            folded: false,
            is_translation: false,
        };
        codegen_wgsl::validate(&kernel).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        check_spirv(&name, &codegen_wgsl::spirv(&kernel).expect("translates"));
        found += 1;
    }
    assert!(found > 0);
}
