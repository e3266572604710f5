//! Products of `float16` on fragments (cooperative matrices): what the rule makes, what it leaves to others and why, and results.

use half::f16;
use weftile::explain::{self, GpuModel, Limit};
use weftile::kernel::{GpuClass, GpuTarget, LoweredFunc, Target};
use weftile::sched::rules::Scheduled;
use weftile::tensor::{ScalarType, Tensor};
use weftile::{codegen_wgsl, interp, ir::PrimFunc, lower, sched, script};

use super::cases::{data, gpu};
use super::launch::launch;

/// A product and what follows it.
struct Case {
    /// Extents before the rows of `X` and `Y`, as `T.int64(2), `, and their indices, as `vb, `.
    batch: [&'static str; 2],
    extents: [i64; 3],
    /// Shape and indices of `W`, if it is not `[k, n]`.
    transposed: bool,
    result: &'static str,
    /// What is stored, in terms of `wide[vi, vj]` and `B[vj]`.
    value: &'static str,
}

const PLAIN: Case = Case {
    batch: ["", ""],
    extents: [64, 64, 32],
    transposed: false,
    result: "float16",
    value: "T.Cast(\"float16\", wide)",
};

impl Case {
    /// What it computes of `X`, `W` and `B`.
    fn results(&self, inputs: &[Vec<f32>]) -> Vec<f32> {
        let [_, n, k] = self.extents.map(|extent| extent as usize);
        let (x, w, b) = (&inputs[0], &inputs[1], &inputs[2]);
        let rows = x.chunks(k);
        let of_row = |row: &[f32]| -> Vec<f32> {
            let mut sums = vec![0f32; n];
            for (at, x) in row.iter().enumerate() {
                for (j, sum) in sums.iter_mut().enumerate() {
                    *sum += x * w[if self.transposed {
                        j * k + at
                    } else {
                        at * n + j
                    }];
                }
            }
            if self.value.contains("max") {
                sums.iter_mut()
                    .zip(b)
                    .for_each(|(sum, b)| *sum = (*sum + b).max(0.0));
            }
            sums
        };
        rows.flat_map(of_row).collect()
    }

    fn func(&self) -> PrimFunc {
        parsed(&self.text())
    }

    fn text(&self) -> String {
        let [shape, index] = self.batch;
        let [m, n, k] = self.extents.map(|extent| format!("T.int64({extent})"));
        let batch = shape.trim_end_matches(", ");
        let (loops, axes, kinds, vars) = match shape {
            "" => (String::new(), "", "", ""),
            _ => (format!("{batch}, "), "b, ", "S", "vb, "),
        };
        let (of_w, at_w) = match self.transposed {
            true => (format!("{n}, {k}"), "vj, vk"),
            false => (format!("{k}, {n}"), "vk, vj"),
        };
        let value = self.value.replace("wide", &format!("wide[{index}vi, vj]"));
        let result = self.result;
        format!(
            r#"
@T.prim_func
def f(X: T.Buffer(({shape}{m}, {k}), "float16"), W: T.Buffer(({of_w}), "float16"), B: T.Buffer(({n},), "float32"), Y: T.Buffer(({shape}{m}, {n}), "{result}")):
    wide = T.alloc_buffer(({shape}{m}, {n}))
    for {axes}i, j, k in T.grid({loops}{m}, {n}, {k}):
        with T.block("wide"):
            {vars}vi, vj, vk = T.axis.remap("{kinds}SSR", [{axes}i, j, k])
            with T.init():
                wide[{index}vi, vj] = T.float32(0)
            wide[{index}vi, vj] = wide[{index}vi, vj] + T.Cast("float32", X[{index}vi, vk]) * T.Cast("float32", W[{at_w}])
    for {axes}i, j in T.grid({loops}{m}, {n}):
        with T.block("Y"):
            {vars}vi, vj = T.axis.remap("{kinds}SS", [{axes}i, j])
            Y[{index}vi, vj] = {value}
"#
        )
    }
}

fn nvidia() -> GpuTarget {
    GpuTarget::usual(GpuClass::Nvidia)
}

fn scheduled(func: &PrimFunc, gpu: &GpuTarget) -> Scheduled {
    sched::rules::schedule(func, &Target::Gpu(gpu.clone()))
}

/// The kernels of a schedule, of which naga takes the shaders; and their text.
fn emitted(scheduled: &Scheduled, gpu: &GpuTarget) -> (LoweredFunc, String) {
    let func = scheduled.schedule.func();
    let lowered = lower::lower(func, &Target::Gpu(gpu.clone()));
    let lowered = lowered.unwrap_or_else(|e| panic!("{}", e.render(func)));
    lowered.verify().expect("keeps the rules of kernels");
    let mut text = String::new();
    for kernel in &lowered.kernels {
        let shader = codegen_wgsl::emit(kernel, gpu).expect("emits");
        codegen_wgsl::validate(&shader).unwrap_or_else(|e| panic!("{e}\n{}", shader.text));
        codegen_wgsl::spirv(&shader).unwrap_or_else(|e| panic!("{e}\n{}", shader.text));
        text += &shader.text;
    }
    (lowered, text)
}

/// The case is made of fragments, and means what it meant.
fn check(case: &Case) {
    check_func(&case.func());
}

fn check_func(func: &PrimFunc) {
    let scheduled = scheduled(func, &nvidia());
    let declined: Vec<String> = scheduled.declined.iter().map(ToString::to_string).collect();
    assert_eq!(scheduled.rules, ["matmul_tensorization"], "{declined:?}");
    let (lowered, text) = emitted(&scheduled, &nvidia());
    assert!(lowered.kernels.iter().all(|kernel| kernel.in_bounds));
    assert!(text.contains("coopMultiplyAdd("), "{text}");
    interp::same_results(func, scheduled.schedule.func(), 5).expect("means the same");
}

/// Loops and shapes of `int32`, as TVMScript has them where plain numbers are written; loops of one type over shapes of the other.
#[test]
fn loops_of_either_integer_type() {
    let text = PLAIN.text();
    let narrow = |line: &str| line.replace("T.int64", "");
    let all: String = text.lines().map(|line| narrow(line) + "\n").collect();
    check_func(&parsed(&all));
    for part in ["T.grid", "def f"] {
        let lines = text.lines().map(|line| match line.contains(part) {
            true => narrow(line) + "\n",
            false => line.to_owned() + "\n",
        });
        check_func(&parsed(&lines.collect::<String>()));
    }
}

#[test]
fn results_in_float16() {
    check(&PLAIN);
}

#[test]
fn results_in_float32() {
    let value = "wide";
    let result = "float32";
    check(&Case {
        result,
        value,
        ..PLAIN
    });
}

#[test]
fn epilogues() {
    let value = "T.Cast(\"float16\", T.max(wide + B[vj], T.float32(0)))";
    check(&Case { value, ..PLAIN });
}

#[test]
fn transposed_weights() {
    let transposed = true;
    check(&Case {
        transposed,
        ..PLAIN
    });
}

#[test]
fn several_products() {
    let batch = ["T.int64(2), ", "vb, "];
    let extents = [64, 64, 32];
    check(&Case {
        batch,
        extents,
        ..PLAIN
    });
    let batch = ["T.int64(1), ", "vb, "];
    check(&Case { batch, ..PLAIN });
}

#[test]
fn smallest_tiles() {
    let extents = [32, 64, 64];
    check(&Case { extents, ..PLAIN });
}

#[test]
fn slices_of_a_long_sum() {
    let value = "T.Cast(\"float16\", T.max(wide + B[vj], T.float32(0)))";
    let case = Case {
        extents: [64, 64, 2048],
        value,
        ..PLAIN
    };
    check(&case);
    let (lowered, text) = emitted(&scheduled(&case.func(), &nvidia()), &nvidia());
    assert_eq!(lowered.kernels.len(), 2, "{text}");
}

/// Extents that tiles do not divide: of each axis, of all, and such as fill little more than half of them.
#[test]
fn extents_that_tiles_do_not_divide() {
    let value = "T.Cast(\"float16\", T.max(wide + B[vj], T.float32(0)))";
    for (extents, transposed) in [
        ([33, 65, 40], false),
        ([33, 65, 40], true),
        ([64, 94, 47], false),
    ] {
        check(&Case {
            extents,
            value,
            transposed,
            ..PLAIN
        });
    }
    let batch = ["T.int64(2), ", "vb, "];
    let extents = [17, 33, 16];
    check(&Case {
        batch,
        extents,
        ..PLAIN
    });
}

const OPEN_ROWS: &str = r#"
@T.prim_func
def f(x: T.handle, W: T.Buffer((T.int64(64), T.int64(64)), "float16"), y: T.handle):
    n = T.int64()
    X = T.match_buffer(x, (n, T.int64(64)), "float16")
    Y = T.match_buffer(y, (n, T.int64(64)), "float32")
    for i, j, k in T.grid(n, T.int64(64), T.int64(64)):
        with T.block("Y"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                Y[vi, vj] = T.float32(0)
            Y[vi, vj] = Y[vi, vj] + T.Cast("float32", X[vi, vk]) * T.Cast("float32", W[vk, vj])
"#;

#[test]
fn rows_of_an_open_number() {
    check_func(&parsed(OPEN_ROWS));
}

/// A convolution of images `[batch, 8, 7, 7]`, padded by one, by 16 filters of 3 by 3.
fn convolution(batch: i64, stride: i64) -> PrimFunc {
    let size = 6 / stride + 1;
    let text = r#"
@T.prim_func
def f(X: T.Buffer((BATCH, T.int64(8), T.int64(7), T.int64(7)), "float16"), W: T.Buffer((T.int64(16), T.int64(8), T.int64(3), T.int64(3)), "float16"), B: T.Buffer((T.int64(16),), "float16"), Y: T.Buffer((BATCH, T.int64(16), SIZE, SIZE), "float16")):
    padded = T.alloc_buffer((BATCH, T.int64(8), T.int64(9), T.int64(9)), "float16")
    wide = T.alloc_buffer((BATCH, T.int64(16), SIZE, SIZE))
    for n, c, i, j in T.grid(BATCH, T.int64(8), T.int64(9), T.int64(9)):
        with T.block("padded"):
            vn, vc, vi, vj = T.axis.remap("SSSS", [n, c, i, j])
            padded[vn, vc, vi, vj] = T.if_then_else(1 <= vi and vi < 8 and 1 <= vj and vj < 8, X[vn, vc, vi - 1, vj - 1], T.float16(0))
    for n, o, i, j, c, y, x in T.grid(BATCH, T.int64(16), SIZE, SIZE, T.int64(8), T.int64(3), T.int64(3)):
        with T.block("wide"):
            vn, vo, vi, vj, vc, vy, vx = T.axis.remap("SSSSRRR", [n, o, i, j, c, y, x])
            with T.init():
                wide[vn, vo, vi, vj] = T.float32(0)
            wide[vn, vo, vi, vj] = wide[vn, vo, vi, vj] + T.Cast("float32", padded[vn, vc, vi * STRIDE + vy, vj * STRIDE + vx]) * T.Cast("float32", W[vo, vc, vy, vx])
    for n, o, i, j in T.grid(BATCH, T.int64(16), SIZE, SIZE):
        with T.block("Y"):
            vn, vo, vi, vj = T.axis.remap("SSSS", [n, o, i, j])
            Y[vn, vo, vi, vj] = T.max(T.Cast("float16", wide[vn, vo, vi, vj]) + B[vo], T.float16(0))
"#;
    let text = text.replace("BATCH", &format!("T.int64({batch})"));
    let text = text.replace("STRIDE", &stride.to_string());
    parsed(&text.replace("SIZE", &format!("T.int64({size})")))
}

#[test]
fn convolutions() {
    for (batch, stride) in [(1, 1), (2, 2)] {
        check_func(&convolution(batch, stride));
    }
}

/// What the rule says of a product that it leaves to others.
fn declined(func: &PrimFunc, gpu: &GpuTarget) -> String {
    let scheduled = scheduled(func, gpu);
    let mut declined = scheduled.declined.iter();
    let of_rule = declined.find(|declined| declined.rule == "matmul_tensorization");
    assert!(!scheduled.rules.contains(&"matmul_tensorization"));
    emitted(&scheduled, gpu);
    of_rule.expect("the rule says why").reason.to_string()
}

#[test]
fn what_is_left_to_other_rules() {
    let without = GpuTarget {
        cooperative_matrix: false,
        ..nvidia()
    };
    let of_device = "the device multiplies no tiles of 16 x 16 float16 with sums in float32";
    assert_eq!(declined(&PLAIN.func(), &without), of_device);
    let small = GpuTarget {
        shared_bytes: 4096,
        ..nvidia()
    };
    let room = "a tile needs 11264 bytes of shared memory, and the device has 4096";
    assert_eq!(declined(&PLAIN.func(), &small), room);
    for (extents, reason) in [
        ([15, 64, 32], "the extent of m is 15, less than half of 32"),
        ([64, 31, 32], "the extent of n is 31, less than half of 64"),
        ([64, 64, 15], "the extent of k is 15, less than half of 32"),
    ] {
        let func = Case { extents, ..PLAIN }.func();
        assert_eq!(declined(&func, &nvidia()), reason);
    }
    let open_columns = OPEN_ROWS
        .replace(
            "def f(x: T.handle, W: T.Buffer((T.int64(64), T.int64(64)), \"float16\")",
            "def f(X: T.Buffer((T.int64(64), T.int64(64)), \"float16\"), w: T.handle",
        )
        .replace(
            "X = T.match_buffer(x, (n, T.int64(64))",
            "W = T.match_buffer(w, (T.int64(64), n)",
        )
        .replace("y, (n, T.int64(64))", "y, (T.int64(64), n)")
        .replace(
            "T.grid(n, T.int64(64), T.int64(64))",
            "T.grid(T.int64(64), n, T.int64(64))",
        );
    assert_eq!(
        declined(&parsed(&open_columns), &nvidia()),
        "the extent of n is open"
    );
    let narrow = OPEN_ROWS
        .replace("\"float32\")\n", "\"float16\")\n")
        .replace("T.float32(0)", "T.float16(0)")
        .replace(
            "T.Cast(\"float32\", X[vi, vk]) * T.Cast(\"float32\", W[vk, vj])",
            "X[vi, vk] * W[vk, vj]",
        );
    assert_eq!(
        declined(&parsed(&narrow), &nvidia()),
        "sums are float16, not float32"
    );
}

/// A product of tiles as somebody may write it.
const BY_HAND: &str = r#"
@T.prim_func
def f(X: T.Buffer((16, 16), "float16"), W: T.Buffer((16, 16), "float16"), Y: T.Buffer((16, 16), "float32")):
    XS = T.alloc_buffer((16, 16), "float16", scope="shared")
    WS = T.alloc_buffer((16, 16), "float16", scope="shared")
    YS = T.alloc_buffer((16, 16), scope="shared")
    A = T.alloc_buffer((16, 16), "float16", scope="wmma.matrix_a")
    B = T.alloc_buffer((16, 16), "float16", scope="wmma.matrix_b")
    C = T.alloc_buffer((16, 16), scope="wmma.accumulator")
    for bx in T.thread_binding(1, thread="blockIdx.x"):
        for tx in T.thread_binding(32, thread="threadIdx.x"):
            for i in range(8):
                with T.block("copy"):
                    vi = T.axis.spatial(16, i * 2 + tx // 16)
                    vj = T.axis.spatial(16, tx % 16)
                    XS[vi, vj] = X[vi, vj]
                    WS[vi, vj] = W[vi, vj]
        for subgroup in T.thread_binding(1, thread="threadIdx.y"):
            with T.block("product"):
                T.reads(XS[0:16, 0:16], WS[0:16, 0:16])
                T.writes(YS[0:16, 0:16])
                T.tvm_fill_fragment(T.address_of(C[0, 0]), 16, 16, 16, T.float32(0))
                T.tvm_load_matrix_sync(T.address_of(A[0, 0]), 16, 16, 16, T.address_of(XS[0, 0]), "row_major")
                T.tvm_load_matrix_sync(T.address_of(B[0, 0]), 16, 16, 16, T.address_of(WS[0, 0]), "row_major")
                T.tvm_mma_sync(T.address_of(C[0, 0]), T.address_of(A[0, 0]), T.address_of(B[0, 0]), T.address_of(C[0, 0]))
                T.tvm_store_matrix_sync(T.address_of(C[0, 0]), 16, 16, 16, T.address_of(YS[0, 0]), "row_major")
        for tx in T.thread_binding(32, thread="threadIdx.x"):
            for i in range(8):
                with T.block("Y"):
                    vi = T.axis.spatial(16, i * 2 + tx // 16)
                    vj = T.axis.spatial(16, tx % 16)
                    Y[vi, vj] = YS[vi, vj]
"#;

/// The same in loops.
const IN_LOOPS: &str = r#"
@T.prim_func
def f(X: T.Buffer((16, 16), "float16"), W: T.Buffer((16, 16), "float16"), Y: T.Buffer((16, 16), "float32")):
    for i, j, k in T.grid(16, 16, 16):
        with T.block("Y"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                Y[vi, vj] = T.float32(0)
            Y[vi, vj] = Y[vi, vj] + T.Cast("float32", X[vi, vk]) * T.Cast("float32", W[vk, vj])
"#;

fn parsed(text: &str) -> PrimFunc {
    let module = script::parse("case.py", text).unwrap_or_else(|e| panic!("{e}"));
    module.prim_func("f").expect("is there").clone()
}

#[test]
fn tiles_by_hand() {
    let func = parsed(BY_HAND);
    let printed = script::print_prim_func(&func).text;
    assert!(weftile::ir::alpha_eq::prim_func(&func, &parsed(&printed)).is_ok());
    interp::same_results(&parsed(IN_LOOPS), &func, 3).expect("means the same");
    let scheduled = scheduled(&func, &nvidia());
    assert_eq!(scheduled.rules, ["as written"]);
    let (lowered, text) = emitted(&scheduled, &nvidia());
    assert!(text.contains("coopMultiplyAdd("), "{text}");
    let kernel = lowered.kernels[0].shown(&[]);
    assert!(kernel.contains("fragment C_0 += A_0 * B_0"), "{kernel}");
}

#[test]
fn refused_by_lowering() {
    let refused = |gpu: &GpuTarget, from: &str, to: &str| {
        assert!(BY_HAND.contains(from), "{from}");
        let func = parsed(&BY_HAND.replacen(from, to, 1));
        let lowered = lower::lower(&func, &Target::Gpu(gpu.clone()));
        lowered.expect_err("is refused").to_string()
    };
    let says = |refusal: String, problem: &str| assert!(refusal.contains(problem), "{refusal}");
    let without = GpuTarget {
        cooperative_matrix: false,
        ..nvidia()
    };
    says(
        refused(&without, "f", "f"),
        "the device multiplies no tiles of 16 x 16 float16",
    );
    says(
        refused(
            &nvidia(),
            "T.thread_binding(1, thread=\"threadIdx.y\")",
            "T.thread_binding(32, thread=\"threadIdx.x\")",
        ),
        "is not so along threadIdx.x",
    );
    says(
        refused(&nvidia(), "16, T.float32(0)", "16, T.float32(1)"),
        "a tile of buffer `C` is filled with something else than 0",
    );
    says(
        refused(&nvidia(), "address_of(XS[0, 0])", "address_of(X[0, 0])"),
        "a tile of buffer `X` is not in shared memory",
    );
    says(
        refused(
            &nvidia(),
            "mma_sync(T.address_of(C[0, 0]), T.address_of(A[0, 0])",
            "mma_sync(T.address_of(C[0, 0]), T.address_of(B[0, 0])",
        ),
        "a tile of buffer `B` is not in the scope of such a fragment",
    );
    says(
        refused(
            &nvidia(),
            "scope=\"wmma.accumulator\"",
            "\"float16\", scope=\"wmma.accumulator\"",
        ),
        "fragments of buffer `C` hold float16, and the device has them of float32 alone",
    );
    says(
        refused(
            &nvidia(),
            "Y[vi, vj] = YS[vi, vj]",
            "Y[vi, vj] = YS[vi, vj] + C[vi, vj]",
        ),
        "a tile of buffer `C` is used element by element",
    );
    let host = Target::Cpu(weftile::codegen_cpu::host_target(1));
    let on_cpu = lower::lower(&parsed(BY_HAND), &host).expect_err("is refused");
    says(on_cpu.to_string(), "tvm_fill_fragment");
}

#[test]
fn what_it_costs() {
    let func = Case {
        extents: [1024; 3],
        ..PLAIN
    }
    .func();
    let (lowered, _) = emitted(&scheduled(&func, &nvidia()), &nvidia());
    let model = GpuModel::of(GpuClass::Nvidia);
    let cost = explain::explain(&lowered.kernels[0], &[], &model).expect("is counted");
    assert_eq!((cost.tile_fma, cost.fma), (1024f64.powi(3), 0.0));
    assert_eq!(explain::predict(&cost, &model).limit, Limit::Tiles);
    let fragments = cost.accesses.iter().filter(|access| access.width == 8);
    fragments.for_each(|access| assert_eq!(access.excess(), 1.0, "{}", access.array));
}

#[test]
fn a_product_of_1024() {
    let func = Case {
        extents: [1024; 3],
        ..PLAIN
    }
    .func();
    let scheduled = scheduled(&func, &nvidia());
    let (_, text) = emitted(&scheduled, &nvidia());
    super::goldens::compare(
        "matmul.fragments.trace",
        &scheduled.schedule.trace().to_string(),
    );
    super::goldens::compare("matmul.fragments.wgsl", &text);
}

/// Values of this type, and what they are.
fn values(shape: &[usize], dtype: ScalarType) -> (Tensor, Vec<f32>) {
    let wide = data(shape, false);
    let wide: &[f32] = wide.as_slice().expect("is float32");
    let narrow: Vec<f16> = wide.iter().copied().map(f16::from_f32).collect();
    match dtype {
        ScalarType::F16 => {
            let tensor = Tensor::from_slice(shape, &narrow).expect("the shape fits");
            (tensor, narrow.into_iter().map(f16::to_f32).collect())
        }
        _ => (
            Tensor::from_slice(shape, wide).expect("the shape fits"),
            wide.to_vec(),
        ),
    }
}

/// Runs where the device has fragments.
#[test]
#[expect(clippy::print_stderr, reason = "a skipped test must say so")]
fn on_a_device() {
    let Some(gpu) = gpu() else { return };
    if !gpu.target().cooperative_matrix {
        eprintln!("skipped: {} multiplies no tiles of float16", gpu.info());
        return;
    }
    let relu = "T.Cast(\"float16\", T.max(wide + B[vj], T.float32(0)))";
    let cases = [
        PLAIN,
        Case {
            extents: [128, 256, 160],
            ..PLAIN
        },
        Case {
            extents: [32, 64, 64],
            ..PLAIN
        },
        Case {
            value: relu,
            ..PLAIN
        },
        Case {
            transposed: true,
            ..PLAIN
        },
        Case {
            result: "float32",
            value: "wide",
            ..PLAIN
        },
        Case {
            batch: ["T.int64(2), ", "vb, "],
            ..PLAIN
        },
        // Slices of the sum.
        Case {
            extents: [64, 64, 4096],
            value: relu,
            ..PLAIN
        },
        // The largest tiles.
        Case {
            extents: [1024, 1024, 64],
            ..PLAIN
        },
        Case {
            extents: [1280, 1280, 64],
            ..PLAIN
        },
    ];
    for case in cases {
        let func = case.func();
        let scheduled = scheduled(&func, gpu.target());
        assert_eq!(scheduled.rules, ["matmul_tensorization"]);
        let (lowered, text) = emitted(&scheduled, gpu.target());
        let of_param = |param: &weftile::kernel::ParamInfo| {
            let shape = param
                .shape
                .iter()
                .map(|e| e.as_const().expect("is known") as usize);
            values(&shape.collect::<Vec<_>>(), param.dtype)
        };
        let (mut tensors, inputs): (Vec<Tensor>, Vec<Vec<f32>>) =
            lowered.params.iter().map(of_param).unzip();
        let expected = case.results(&inputs);
        launch(&gpu, &lowered, &mut tensors, 1);
        let got: Vec<f32> = match tensors[3].dtype().scalar {
            ScalarType::F16 => {
                let got: &[f16] = tensors[3].as_slice().expect("is float16");
                got.iter().map(|value| value.to_f32()).collect()
            }
            _ => tensors[3].as_slice().expect("is float32").to_vec(),
        };
        let close = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-4 * (1.0 + a.abs()) + 1e-3 * a.abs();
        let wrong = expected.iter().zip(&got).position(|pair| !close(pair));
        assert_eq!(wrong, None, "{:?}: {text}", case.extents);
    }
}
