//! Products on fragments (cooperative matrices): what the rule makes, what it leaves to others and why, and results.

mod eight;
mod products;
mod tiles;

use half::f16;
use weftile::kernel::{GpuClass, GpuTarget, LoweredFunc, Target};
use weftile::sched::rules::Scheduled;
use weftile::tensor::{ScalarType, Tensor};
use weftile::{codegen_wgsl, interp, ir::PrimFunc, lower, sched, script};

use super::cases::{data, gpu};
use super::goldens;
use super::launch::launch;

/// A product and what follows it.
struct Case {
    /// Extents before the rows of `X` and `Y`, as `T.int64(2), `, and their indices, as `vb, `.
    batch: [&'static str; 2],
    extents: [i64; 3],
    /// Type of `X` and `W`.
    elements: &'static str,
    /// Shape and indices of `W`, if it is not `[k, n]`.
    transposed: bool,
    result: &'static str,
    /// What is stored, in terms of `wide[vi, vj]` and `B[vj]`.
    value: &'static str,
}

const PLAIN: Case = Case {
    batch: ["", ""],
    extents: [64, 64, 32],
    elements: "float16",
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
        let (result, elements) = (self.result, self.elements);
        format!(
            r#"
@T.prim_func
def f(X: T.Buffer(({shape}{m}, {k}), "{elements}"), W: T.Buffer(({of_w}), "{elements}"), B: T.Buffer(({n},), "float32"), Y: T.Buffer(({shape}{m}, {n}), "{result}")):
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

/// The program is made of fragments, and means what it meant.
fn check_func(func: &PrimFunc, gpu: &GpuTarget) {
    let scheduled = scheduled(func, gpu);
    let declined: Vec<String> = scheduled.declined.iter().map(ToString::to_string).collect();
    assert_eq!(scheduled.rules, ["matmul_tensorization"], "{declined:?}");
    let (lowered, text) = emitted(&scheduled, gpu);
    assert!(lowered.kernels.iter().all(|kernel| kernel.in_bounds));
    assert!(text.contains("coopMultiplyAdd("), "{text}");
    interp::same_results(func, scheduled.schedule.func(), 5).expect("means the same");
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

/// A convolution of images `[batch, 8, 7, 7]`, padded by one, by 16 filters of 3 by 3.
fn convolution(batch: i64, stride: i64, elements: &str) -> String {
    let size = 6 / stride + 1;
    let text = r#"
@T.prim_func
def f(X: T.Buffer((BATCH, T.int64(8), T.int64(7), T.int64(7)), "ELEMENTS"), W: T.Buffer((T.int64(16), T.int64(8), T.int64(3), T.int64(3)), "ELEMENTS"), B: T.Buffer((T.int64(16),), "float16"), Y: T.Buffer((BATCH, T.int64(16), SIZE, SIZE), "float16")):
    padded = T.alloc_buffer((BATCH, T.int64(8), T.int64(9), T.int64(9)), "ELEMENTS")
    wide = T.alloc_buffer((BATCH, T.int64(16), SIZE, SIZE))
    for n, c, i, j in T.grid(BATCH, T.int64(8), T.int64(9), T.int64(9)):
        with T.block("padded"):
            vn, vc, vi, vj = T.axis.remap("SSSS", [n, c, i, j])
            padded[vn, vc, vi, vj] = T.if_then_else(1 <= vi and vi < 8 and 1 <= vj and vj < 8, X[vn, vc, vi - 1, vj - 1], T.ELEMENTS(0))
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
    let text = text.replace("ELEMENTS", elements);
    let text = text.replace("STRIDE", &stride.to_string());
    text.replace("SIZE", &format!("T.int64({size})"))
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

fn parsed(text: &str) -> PrimFunc {
    let module = script::parse("case.py", text).unwrap_or_else(|e| panic!("{e}"));
    module.prim_func("f").expect("is there").clone()
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
