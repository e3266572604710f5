//! Tiles as somebody may write them, of either extent: what they compute, and what is refused.

use weftile::kernel::{GpuClass, GpuTarget, Target};
use weftile::{interp, lower, script};

use super::{emitted, nvidia, parsed, scheduled};

fn apple() -> GpuTarget {
    GpuTarget::usual(GpuClass::Apple)
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
        fragments: vec![],
        ..nvidia()
    };
    says(
        refused(&without, "f", "f"),
        "the device multiplies no tiles of 16 x 16 elements",
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

/// The product of tiles of 8 by 8 elements of this type.
fn of_eight(elements: &str) -> String {
    let text = BY_HAND.replace("float16", "ELEMENTS");
    let text = text.replace("16, i * 2 + tx // 16", "8, i * 4 + tx // 8");
    let text = text.replace("16, tx % 16", "8, tx % 8");
    let text = text.replace("range(8)", "range(2)").replace("16", "8");
    text.replace("ELEMENTS", elements)
}

#[test]
fn tiles_of_eight() {
    for elements in ["float16", "float32"] {
        let func = parsed(&of_eight(elements));
        let loops = IN_LOOPS.replace("float16", "ELEMENTS").replace("16", "8");
        let loops = parsed(&loops.replace("ELEMENTS", elements));
        interp::same_results(&loops, &func, 3).expect("means the same");
        let (lowered, text) = emitted(&scheduled(&func, &apple()), &apple());
        let short = if elements == "float16" { "f16" } else { "f32" };
        for ty in [
            format!("coop_mat8x8<{short}, A>"),
            "coop_mat8x8<f32, C>".to_owned(),
        ] {
            assert!(text.contains(&ty), "{text}");
        }
        assert_eq!(
            lowered.kernels[0]
                .arrays
                .iter()
                .filter(|(_, a)| a.vector > 1)
                .count(),
            0
        );
    }
}

#[test]
fn extents_and_types_that_a_device_has() {
    let refused = |gpu: &GpuTarget, text: &str| {
        let lowered = lower::lower(&parsed(text), &Target::Gpu(gpu.clone()));
        lowered.expect_err("is refused").to_string()
    };
    let says = |refusal: String, problem: &str| assert!(refusal.contains(problem), "{refusal}");
    says(
        refused(&nvidia(), &of_eight("float16")),
        "the device multiplies no tiles of 8 x 8 elements",
    );
    says(
        refused(&apple(), BY_HAND),
        "the device multiplies no tiles of 16 x 16 elements",
    );
    let bytes = of_eight("float16").replace("\"float16\"", "\"bfloat16\"");
    says(
        refused(&apple(), &bytes),
        "fragments of buffer `A` hold bfloat16, and the device has them of float32 and float16 alone",
    );
    let factors = of_eight("float32").replace(
        "B = T.alloc_buffer((8, 8), \"float32\"",
        "B = T.alloc_buffer((8, 8), \"float16\"",
    );
    let factors = factors.replace(
        "WS = T.alloc_buffer((8, 8), \"float32\"",
        "WS = T.alloc_buffer((8, 8), \"float16\"",
    );
    let factors = factors.replace(
        "W: T.Buffer((8, 8), \"float32\")",
        "W: T.Buffer((8, 8), \"float16\")",
    );
    says(
        refused(&apple(), &factors),
        "the device multiplies no tiles of 8 x 8 float32 by float16 with sums in float32",
    );
}

/// All calls on a buffer, and all fragments of a product, have one extent.
#[test]
fn extents_that_differ() {
    let refused = |from: &str, to: &str| {
        assert!(BY_HAND.contains(from), "{from}");
        let text = BY_HAND.replacen(from, to, 1);
        let module = script::parse("case.py", &text);
        let func = module
            .expect("is a program")
            .prim_func("f")
            .expect("is there")
            .clone();
        let errors = weftile::ir::verify::prim_func(&func).expect_err("is refused");
        errors
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("\n")
    };
    let says = |refusal: String, problem: &str| assert!(refusal.contains(problem), "{refusal}");
    says(
        refused(
            "C[0, 0]), 16, 16, 16, T.float32",
            "C[0, 0]), 8, 8, 8, T.float32",
        ),
        "fragments of buffer `C` have the extent 8 in one call and 16 in another",
    );
    says(
        refused("A[0, 0]), 16, 16, 16", "A[0, 0]), 8, 8, 8"),
        "a product of fragments of 16 x 16, 8 x 8, 16 x 16, 16 x 16",
    );
}
