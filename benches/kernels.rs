//! Steady-state times on every device: `cargo bench`, or `cargo bench -- gemm` for a part.
//!
//! GEMM 256 and 1024 (with the `gemm` crate beside them), the 784-128-10 network at batch 1 and 256 with its weights bound and as
//! arguments, an elementwise chain over 16M elements, a softmax over rows of 4096, depthwise convolutions of MobileNetV2, attention
//! of 12 heads. Inputs and weights are on the device; on a GPU each call is waited for.

#![allow(missing_docs, reason = "criterion's macros write public items")]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use weftile::codegen_cpu::this_cpu;
use weftile::ir::Module;
use weftile::kernel::Target;
use weftile::passes::bind_params;
use weftile::pipeline::{CompileOptions, compile};
use weftile::runtime::{Device, Value};
use weftile::runtime_gpu::{Checks, adapters};
use weftile::script::parse;
use weftile::tensor::Tensor;
use weftile::vm::VirtualMachine;

const MATMUL: &str = r#"
@I.ir_module
class Module:
    @T.prim_func
    def matmul(A: T.Buffer((N, N), "float32"), B: T.Buffer((N, N), "float32"), C: T.Buffer((N, N), "float32")):
        for i, j, k in T.grid(N, N, N):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]

    @R.function
    def main(a: R.Tensor((N, N), "float32"), b: R.Tensor((N, N), "float32")):
        with R.dataflow():
            c = R.call_tir(Module.matmul, (a, b), R.Tensor((N, N), "float32"))
            R.output(c)
        return c
"#;

const ELEMENTWISE: &str = r#"
@I.ir_module
class Module:
    @T.prim_func
    def chain(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,), "float32")
        Y = T.match_buffer(y, (n,), "float32")
        for i in range(n):
            with T.block("Y"):
                vi = T.axis.spatial(n, i)
                Y[vi] = T.max(X[vi] * T.float32(2) + T.float32(1), T.float32(0))

    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        with R.dataflow():
            y = R.call_tir(Module.chain, (x,), R.Tensor((n,), "float32"))
            R.output(y)
        return y
"#;

const SOFTMAX: &str = r#"
@I.ir_module
class Module:
    @T.prim_func
    def softmax(x: T.handle, y: T.handle):
        n, m = T.int64(), T.int64()
        X = T.match_buffer(x, (n, m), "float32")
        Y = T.match_buffer(y, (n, m), "float32")
        row_max = T.alloc_buffer((n,), "float32")
        ex = T.alloc_buffer((n, m), "float32")
        row_sum = T.alloc_buffer((n,), "float32")
        for i, k in T.grid(n, m):
            with T.block("max"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    row_max[vi] = T.float32(-3.4028234663852886e38)
                row_max[vi] = T.max(row_max[vi], X[vi, vk])
        for i, j in T.grid(n, m):
            with T.block("exp"):
                vi, vj = T.axis.remap("SS", [i, j])
                ex[vi, vj] = T.exp(X[vi, vj] - row_max[vi])
        for i, k in T.grid(n, m):
            with T.block("sum"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    row_sum[vi] = T.float32(0)
                row_sum[vi] = row_sum[vi] + ex[vi, vk]
        for i, j in T.grid(n, m):
            with T.block("norm"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = ex[vi, vj] / row_sum[vi]

    @R.function
    def main(x: R.Tensor(("n", "m"), "float32")):
        n, m = T.int64(), T.int64()
        with R.dataflow():
            y = R.call_tir(Module.softmax, (x,), R.Tensor((n, m), "float32"))
            R.output(y)
        return y
"#;

/// A convolution with a kernel of its own for each of `C` channels, and what follows it.
const DEPTHWISE: &str = r#"
@R.function
def main(x: R.Tensor((1, C, H, H), "float32"), w: R.Tensor((C, 1, 3, 3), "float32"), b: R.Tensor((1, C, 1, 1), "float32")):
    with R.dataflow():
        y = R.nn.conv2d(x, w, groups=C, strides=[S, S], padding=[1, 1, 1, 1])
        z = R.clip(R.add(y, b), 0, 6)
        R.output(z)
    return z
"#;

/// The demo's network.
const MLP: &str = include_str!("../examples/fashion_mnist/mlp.py");

const ATTENTION: &str = r#"
@I.ir_module
class Module:
    @R.function
    def main(q: R.Tensor((1, LENGTH, 12, 64), "float32"), k: R.Tensor((1, LENGTH, 12, 64), "float32"), v: R.Tensor((1, LENGTH, 12, 64), "float32")):
        with R.dataflow():
            y = R.nn.attention(q, k, v, causal_mask=MASK)
            R.output(y)
        return y
"#;

fn devices() -> Vec<(String, Device, Target)> {
    let mut devices = vec![("cpu".to_owned(), Device::Cpu, Target::Cpu(this_cpu()))];
    for adapter in adapters() {
        let gpu = adapter.open(Checks::default()).expect("the adapter opens");
        let name = adapter
            .info()
            .name
            .split_whitespace()
            .next()
            .unwrap_or("gpu")
            .to_owned();
        let target = Target::Gpu(gpu.target().clone());
        devices.push((name, Device::Gpu(gpu), target));
    }
    devices
}

fn tensor(shape: &[usize]) -> Tensor {
    let values: Vec<f32> = (0..shape.iter().product())
        .map(|i: usize| (i % 17) as f32 / 8.0 - 1.0)
        .collect();
    Tensor::from_slice(shape, &values).expect("as many as the shape says")
}

/// Times `main` of a module on every device.
fn run(c: &mut Criterion, group: &str, text: &str, inputs: &[&[usize]], throughput: Throughput) {
    let module = parse("bench.py", text).unwrap_or_else(|e| panic!("{e}"));
    run_module(c, group, &module, inputs, throughput);
}

fn run_module(
    c: &mut Criterion,
    group: &str,
    module: &Module,
    inputs: &[&[usize]],
    throughput: Throughput,
) {
    let mut group = c.benchmark_group(group);
    group.sample_size(10).throughput(throughput);
    for (name, device, target) in devices() {
        let executable =
            compile(module, &CompileOptions::new(target)).unwrap_or_else(|e| panic!("{e}"));
        let mut vm = VirtualMachine::new(executable, device.clone()).expect("loads");
        let args: Vec<_> = inputs
            .iter()
            .map(|s| vm.to_device(Value::Tensor(tensor(s))).expect("fits"))
            .collect();
        let func = vm.function("main").expect("there is one");
        let mut outputs = [vm.call_func(func, &args).expect("runs")];
        group.bench_function(BenchmarkId::from_parameter(&name), |b| {
            b.iter(|| {
                vm.call_into(func, &args, &mut outputs).expect("runs");
                if let Device::Gpu(gpu) = &device {
                    gpu.wait().expect("ends");
                }
            });
        });
    }
    group.finish();
}

fn gemm(c: &mut Criterion) {
    for n in [256usize, 1024] {
        let flops = Throughput::Elements(2 * (n as u64).pow(3));
        let text = MATMUL.replace('N', &n.to_string());
        run(
            c,
            &format!("gemm_{n}"),
            &text,
            &[&[n, n], &[n, n]],
            flops.clone(),
        );
        let (a, b, mut out) = (tensor(&[n, n]), tensor(&[n, n]), vec![0f32; n * n]);
        let (a, b) = (
            a.as_slice::<f32>().expect("f32"),
            b.as_slice::<f32>().expect("f32"),
        );
        let mut group = c.benchmark_group(format!("gemm_{n}"));
        group.sample_size(10).throughput(flops);
        group.bench_function("gemm crate", |bencher| {
            bencher.iter(|| {
                let rows = n as isize;
                // SAFETY: all three are dense n × n matrices, and `out` is not read.
                #[expect(unsafe_code, reason = "the crate's only entry point")]
                unsafe {
                    ::gemm::gemm(
                        n,
                        n,
                        n,
                        out.as_mut_ptr(),
                        1,
                        rows,
                        false,
                        a.as_ptr(),
                        1,
                        rows,
                        b.as_ptr(),
                        1,
                        rows,
                        0.0,
                        1.0,
                        false,
                        false,
                        false,
                        ::gemm::Parallelism::Rayon(0),
                    );
                }
            });
        });
        group.finish();
    }
}

fn mlp(c: &mut Criterion) {
    for batch in [1usize, 256] {
        let shapes: [&[usize]; 5] = [&[batch, 784], &[128, 784], &[128], &[10, 128], &[10]];
        let flops = Throughput::Elements(2 * batch as u64 * (784 * 128 + 128 * 10));
        let module = parse("bench.py", MLP).unwrap_or_else(|e| panic!("{e}"));
        let weights = ["w0", "b0", "w1", "b1"].into_iter().zip(&shapes[1..]);
        let weights = weights.map(|(name, shape)| (name.to_owned(), tensor(shape)));
        let bound = bind_params(&module, "main", &weights.collect()).expect("they fit");
        let name = format!("mlp_b{batch}");
        run_module(c, &name, &bound, &shapes[..1], flops.clone());
        run_module(c, &format!("{name}_unbound"), &module, &shapes, flops);
    }
}

fn elementwise(c: &mut Criterion) {
    let n = 16 << 20;
    run(
        c,
        "elementwise_16M",
        ELEMENTWISE,
        &[&[n]],
        Throughput::Bytes(8 * n as u64),
    );
}

fn softmax(c: &mut Criterion) {
    run(
        c,
        "softmax_4096x4096",
        SOFTMAX,
        &[&[4096, 4096]],
        Throughput::Bytes(8 << 24),
    );
}

fn depthwise(c: &mut Criterion) {
    for (channels, extent, stride) in [(32, 112, 1), (96, 112, 2), (384, 14, 1), (960, 7, 1)] {
        let text = DEPTHWISE
            .replace('C', &channels.to_string())
            .replace('H', &extent.to_string())
            .replace('S', &stride.to_string());
        let results = (channels * (extent / stride) * (extent / stride)) as u64;
        run(
            c,
            &format!("depthwise_{channels}x{extent}_s{stride}"),
            &text,
            &[
                &[1, channels, extent, extent],
                &[channels, 1, 3, 3],
                &[1, channels, 1, 1],
            ],
            Throughput::Elements(2 * 9 * results),
        );
    }
}

fn attention(c: &mut Criterion) {
    for (length, mask, seen) in [
        (128, "None", 1.0),
        (512, "None", 1.0),
        (2048, "None", 1.0),
        (2048, "\"TopLeft\"", 0.5),
    ] {
        let text = ATTENTION
            .replace("LENGTH", &length.to_string())
            .replace("MASK", mask);
        let products = 2.0 * 12.0 * (length * length * 64) as f64 * seen;
        let shape: &[usize] = &[1, length, 12, 64];
        run(
            c,
            &format!("attention_{length}_{}", mask.trim_matches('"')),
            &text,
            &[shape; 3],
            Throughput::Elements(2 * products as u64),
        );
    }
}

criterion_group!(
    benches,
    gemm,
    mlp,
    elementwise,
    softmax,
    depthwise,
    attention
);
criterion_main!(benches);
