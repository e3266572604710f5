//! What the device can do at most (Williams, Waterman, Patterson, "Roofline: an insightful visual performance model"): measured by
//! two programs that this compiler makes, in the same process as the model.

use std::time::Duration;

use super::data::Peaks;
use crate::cli::device::Chosen;
use crate::cli::environment::Environment;
use crate::cli::error::CliError;
use crate::script;
use crate::tensor::{DType, Tensor};
use crate::vm::{Clock, ProfileKind, VirtualMachine};

/// Elements that are read, and written: more than caches hold, and no more than any WebGPU device takes in one buffer.
const STREAMED: usize = 1 << 24;
/// Sizes of products, of which the first that takes long enough is the last.
const PRODUCTS: [usize; 4] = [512, 1024, 2048, 4096];
/// What is long enough to be measured well.
const LONG: Duration = Duration::from_millis(4);
/// Calls, of which the fastest counts: a peak is what no run exceeds.
const CALLS: usize = 9;

/// The fastest call of a program.
struct Fastest {
    seconds: f64,
    clock: Clock,
    bytes: u64,
    flops: u64,
}

/// Measures the device.
pub(super) fn peaks(chosen: &Chosen, environment: &Environment) -> Result<Peaks, CliError> {
    let stream = fastest(&stream(STREAMED), &[&[STREAMED]], chosen, environment)?;
    let mut product = None;
    for size in PRODUCTS {
        let shape: &[usize] = &[size, size];
        let run = fastest(&matmul(size), &[shape, shape], chosen, environment)?;
        let long = run.seconds >= LONG.as_secs_f64();
        product = Some((size, run));
        if long {
            break;
        }
    }
    let (size, product) = product.expect("there are sizes");
    let rate = |amount: u64, run: &Fastest| amount as f64 / run.seconds.max(1e-9);
    let bytes_per_s = rate(stream.bytes, &stream);
    let flops_per_s = rate(product.flops, &product);
    let measured = vec![
        format!(
            "memory: {} MiB read and as many written in {:.3} ms",
            (STREAMED * 4) >> 20,
            stream.seconds * 1e3
        ),
        format!(
            "arithmetic: a product of two {size}×{size} matrices in float32 in {:.3} ms",
            product.seconds * 1e3
        ),
    ];
    Ok(Peaks {
        bytes_per_s,
        flops_per_s,
        measured,
        clock: stream.clock,
    })
}

/// Reads and writes every element once. It adds one: a copy alone would be another name for the tensor, and no kernel.
fn stream(count: usize) -> String {
    format!(
        r#"
@I.ir_module
class Stream:
    @R.function
    def main(a: R.Tensor(({count},), "float32")):
        with R.dataflow():
            b = R.add(a, R.const(1.0, "float32"))
            R.output(b)
        return b
"#
    )
}

fn matmul(size: usize) -> String {
    format!(
        r#"
@I.ir_module
class Product:
    @R.function
    def main(a: R.Tensor(({size}, {size}), "float32"), b: R.Tensor(({size}, {size}), "float32")):
        with R.dataflow():
            c = R.matmul(a, b)
            R.output(c)
        return c
"#
    )
}

/// Compiles and runs `main` of a program on zeros.
fn fastest(
    text: &str,
    shapes: &[&[usize]],
    chosen: &Chosen,
    environment: &Environment,
) -> Result<Fastest, CliError> {
    let module = script::parse("peak", text)?;
    let compilation = environment.compile_until(&module, &chosen.target, "bytecode")?;
    let executable = compilation.executable.expect("the last stage makes it");
    let mut machine = VirtualMachine::new(executable, chosen.device.clone())?;
    let mut args = vec![];
    for shape in shapes {
        let zeros = Tensor::zeros(DType::F32, shape)?;
        args.push(machine.to_device(zeros.into())?);
    }
    let mut fastest: Option<Fastest> = None;
    for _ in 0..CALLS {
        let (_, profile) = machine.profile("main", &args)?;
        let mut run = Fastest {
            seconds: 0.0,
            clock: Clock::Host,
            bytes: 0,
            flops: 0,
        };
        let kernels = profile.entries.iter();
        for step in kernels.filter(|step| step.kind == ProfileKind::Kernel) {
            run.seconds += step.seconds;
            run.clock = step.clock;
            run.bytes += step.bytes;
            run.flops += step.flops;
        }
        if fastest
            .as_ref()
            .is_none_or(|best| run.seconds < best.seconds)
        {
            fastest = Some(run);
        }
    }
    Ok(fastest.expect("it was called"))
}
