//! Programs of threads that meet in shared memory: a GPU runs them, and code for the CPU is refused.

use weftile::kernel::{CpuTarget, Target};
use weftile::tensor::Tensor;
use weftile::{lower, script};

use super::cases::gpu;
use super::launch::launch;

/// Threads of a workgroup halve the number of values until one is left.
const TREE: &str = r#"
        S[t] = X[b, t]
        T.tvm_storage_sync("shared")
        for s in range(6):
            if t < T.shift_right(32, s):
                S[t] = S[t] + S[t + T.shift_right(32, s)]
            T.tvm_storage_sync("shared")
        if t == 0:
            Y[b, 0] = S[0]"#;

/// Each thread reads what another one wrote.
const REVERSED: &str = r#"
        S[t] = X[b, t]
        T.tvm_storage_sync("shared")
        Y[b, t] = S[63 - t]"#;

/// The same at an index that no bound is known of.
const EXCHANGED: &str = r#"
        S[t] = X[b, t]
        T.tvm_storage_sync("shared")
        Y[b, t] = S[t ^ 1]"#;

/// The same as blocks, without a barrier of its own.
const BLOCKS: &str = r#"
        with T.block("S"):
            vb, vt = T.axis.remap("SS", [b, t])
            S[vt] = X[vb, vt]
        with T.block("Y"):
            vb, vt = T.axis.remap("SS", [b, t])
            Y[vb, vt] = S[63 - vt]"#;

fn program(body: &str) -> String {
    format!(
        r#"
@T.prim_func
def f(X: T.Buffer((3, 64), "float32"), Y: T.Buffer((3, 64), "float32")):
  S = T.alloc_buffer((64,), "float32", scope="shared")
  for b in T.thread_binding(3, thread="blockIdx.x"):
    for t in T.thread_binding(64, thread="threadIdx.x"):{body}
"#
    )
}

#[test]
fn threads_meet_in_shared_memory() {
    let at = |b: usize, t: usize| ((b * 64 + t) * 7 % 23) as f32;
    type Expected<'a> = &'a dyn Fn(usize, usize) -> f32;
    let sum = |b: usize, t: usize| match t {
        0 => (0..64).map(|t| at(b, t)).sum(),
        _ => -1.0,
    };
    let cases: [(&str, Expected<'_>, &str); 4] = [
        (TREE, &sum, "threads meet at `T.tvm_storage_sync`"),
        (
            REVERSED,
            &|b, t| at(b, 63 - t),
            "threads meet at `T.tvm_storage_sync`",
        ),
        (
            EXCHANGED,
            &|b, t| at(b, t ^ 1),
            "threads meet at `T.tvm_storage_sync`",
        ),
        (
            BLOCKS,
            &|b, t| at(b, 63 - t),
            "a thread may read of `S` what another thread writes",
        ),
    ];
    for (body, expected, refusal) in cases {
        let text = program(body);
        let module = script::parse("case.py", &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let func = module.prim_func("f").expect("is there");
        let cpu = Target::Cpu(CpuTarget {
            threads: 2,
            f32_lanes: 4,
            fma: true,
        });
        let refused = lower::lower(func, &cpu)
            .expect_err("threads run in order")
            .to_string();
        assert!(refused.contains(refusal), "{refused}");
        let Some(gpu) = gpu() else { continue };
        let lowered = lower::lower(func, &Target::Gpu(gpu.target().clone()));
        let lowered = lowered.unwrap_or_else(|e| panic!("{e}\n{text}"));
        let values: Vec<f32> = (0..192).map(|i| at(i / 64, i % 64)).collect();
        let x = Tensor::from_slice(&[3, 64], &values).expect("fits");
        let y = Tensor::from_slice(&[3, 64], &[-1.0_f32; 192]).expect("fits");
        let mut tensors = [x, y];
        launch(&gpu, &lowered, &mut tensors, 1);
        let got = tensors[1].as_slice::<f32>().expect("f32");
        let expected: Vec<f32> = (0..192).map(|i| expected(i / 64, i % 64)).collect();
        assert_eq!(got, expected, "{text}");
    }
}
