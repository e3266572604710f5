//! A model is compiled without its weights: what it does to the weights alone is a function of its own, which runs once, when the
//! weights are there. Step by step, each printed and checked:
//!
//! 1. `Module0`: a convolution whose kernel has the layout IOHW. The attributes `param_begin` and `param_end` say which parameters are
//!    weights.
//! 2. `Module1`: the same after a rewrite of layouts, which transforms the weight inside of `main`.
//! 3. `LiftTransformParams` moves the transformation to `transform_params`.
//! 4. `LegalizeOps`, and a build without weights.
//! 5. The machine runs `transform_params` once and `main` many times. No launch of `main` writes a weight.
//! 6. The same in the later form, where `num_input` says how many parameters come before the weights.
//! 7. The speed of `main` with transformed weights as arguments, and with bound weights that `FoldConstant` transforms.
//!
//! ```text
//! cargo run --release --example lift_transform_params
//! cargo run --release --example lift_transform_params -- --allow-software
//! ```

#![expect(clippy::print_stdout, reason = "an example talks to its user")]

#[path = "shared/command_line.rs"]
mod command_line;
#[path = "shared/devices.rs"]
mod devices;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use command_line::{Options, Words};
use indexmap::IndexMap;
use weftile::codegen_cpu::host_target;
use weftile::ir::Module;
use weftile::kernel::Target;
use weftile::passes::{Cx, Sequential, Verify, bind_params, pass};
use weftile::pipeline::{CompileOptions, compile, weights_apart};
use weftile::runtime::{Device, Value};
use weftile::script::{parse, print, well_formed};
use weftile::tensor::Tensor;
use weftile::vm::VirtualMachine;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Where the programs of this example are.
const DIR: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/examples/lift_transform_params"
);

#[derive(Default)]
struct Args {
    allow_software: bool,
}

impl Options for Args {
    const USAGE: &'static str = "\
Usage: cargo run --release --example lift_transform_params -- [OPTIONS]

Options:
  --allow-software  GPUs in software count";

    fn take(&mut self, option: &str, _: &mut Words<'_>) -> std::result::Result<bool, String> {
        self.allow_software |= option == "--allow-software";
        Ok(option == "--allow-software")
    }
}

fn main() -> ExitCode {
    command_line::main(run)
}

fn run(args: Args) -> Result<()> {
    let devices = devices::devices(args.allow_software)?;
    let x = random(&[1, 3, 224, 224], 1)?;
    let w1 = random(&[3, 16, 3, 3], 2)?;
    let reference = convolution(&x, &w1)?;

    let module0 = read("module0.py")?;
    println!("# Module0\n\n{}", print(&module0));
    for (device, target) in &devices {
        let mut machine = build(&module0, device, target)?;
        let out = machine.call("main", &[value(&x), value(&w1)])?;
        check(
            &format!("Module0 on {device}"),
            &mut machine,
            out,
            &reference,
        )?;
    }

    let module1 = read("module1.py")?;
    println!("\n# Module1\n\n{}", print(&module1));

    println!("# LiftTransformParams\n");
    let lifted = run_passes(&module1, &["LiftTransformParams"])?;
    well_formed(&lifted)?;
    println!("{}", print(&lifted));

    println!("# LegalizeOps, built without weights\n");
    let legal = run_passes(&lifted, &["LegalizeOps"])?;
    let functions: Vec<&String> = legal.funcs.keys().collect();
    println!("functions: {functions:?}\n");
    for (device, target) in &devices {
        let mut machine = build(&legal, device, target)?;
        let params = Value::Tuple(vec![value(&w1)]);
        let transformed = machine.call("transform_params", &[params])?;
        let (out, profile) = machine.profile("main", &[value(&x), transformed.clone()])?;
        println!("vm[\"main\"] on {device}:\n{profile}");
        let rewrites = profile
            .entries
            .iter()
            .filter(|e| e.name.contains("transform_layout"));
        ensure(rewrites.count() == 0, "`main` rewrites a weight")?;
        check(
            &format!("the document's form on {device}"),
            &mut machine,
            out,
            &reference,
        )?;
    }

    println!("\n# The later form: num_input\n");
    let text = std::fs::read_to_string(Path::new(DIR).join("module1.py"))?;
    let text = text.replace("'param_begin': 1, 'param_end': 2", "'num_input': 1");
    let later = run_passes(&parse("module1.py", &text)?, &["LiftTransformParams"])?;
    println!("{}", print(&later));
    for (device, target) in &devices {
        let mut machine = build(&later, device, target)?;
        let params = Value::Tuple(vec![value(&w1)]);
        let Value::Tuple(transformed) = machine.call("main_transform_params", &[params])? else {
            return Err("`main_transform_params` gives a tuple".into());
        };
        let mut args = vec![value(&x)];
        args.extend(transformed);
        let out = machine.call("main", &args)?;
        check(
            &format!("num_input on {device}"),
            &mut machine,
            out,
            &reference,
        )?;

        // As programs are compiled without weights: what schedules want of a weight is done apart, too.
        let options = CompileOptions::new(target.clone());
        let apart = weights_apart(&parse("module1.py", &text)?, &options)?;
        let mut without_weights = build(&apart, device, target)?;
        let params = Value::Tuple(vec![value(&w1)]);
        let prepared = without_weights.call("main_transform_params", &[params])?;
        let x = machine.to_device(value(&x))?;
        let mut args = vec![x.clone()];
        args.extend_from_slice(prepared.as_tuple()?);
        let weights = IndexMap::from([("w1".to_owned(), w1.clone())]);
        let bound = bind_params(&module1, "main", &weights)?;
        let bound = run_passes(&bound, &["FoldConstant"])?;
        let mut with_weights = build(&bound, device, target)?;
        let (apart, bound) = faster(
            || wait(&mut without_weights, &args),
            || wait(&mut with_weights, std::slice::from_ref(&x)),
        )?;
        println!(
            "main on {device}: {apart:.1?} with weights apart, {bound:.1?} with weights bound"
        );
    }
    Ok(())
}

fn read(file: &str) -> Result<Module> {
    let text = std::fs::read_to_string(Path::new(DIR).join(file))?;
    Ok(parse(file, &text)?)
}

fn run_passes(module: &Module, names: &[&str]) -> Result<Module> {
    let passes: std::result::Result<Vec<_>, _> = names.iter().map(|name| pass(name)).collect();
    let mut cx = Cx::new(module, &Target::Cpu(host_target(1)));
    cx.context.instruments.push(std::sync::Arc::new(Verify));
    Ok(Sequential::new(passes?).run(module, &cx)?)
}

fn build(module: &Module, device: &Device, target: &Target) -> Result<VirtualMachine> {
    let executable = compile(module, &CompileOptions::new(target.clone()))?;
    Ok(VirtualMachine::new(executable, device.clone())?)
}

fn value(tensor: &Tensor) -> Value {
    Value::Tensor(tensor.clone())
}

/// A call whose result is there when it ends.
fn wait(machine: &mut VirtualMachine, args: &[Value]) -> Result<()> {
    let out = machine.call("main", args)?;
    machine.to_host(out)?;
    Ok(())
}

/// The least times of two functions that take turns.
fn faster(
    mut a: impl FnMut() -> Result<()>,
    mut b: impl FnMut() -> Result<()>,
) -> Result<(Duration, Duration)> {
    let mut best = (Duration::MAX, Duration::MAX);
    for _ in 0..20 {
        let start = Instant::now();
        a()?;
        best.0 = best.0.min(start.elapsed());
        let start = Instant::now();
        b()?;
        best.1 = best.1.min(start.elapsed());
    }
    Ok(best)
}

/// Numbers in `0..1`, the same each time.
fn random(shape: &[usize], seed: u32) -> Result<Tensor> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32
    };
    let count = shape.iter().product();
    let values: Vec<f32> = std::iter::repeat_with(&mut next).take(count).collect();
    Ok(Tensor::from_slice(shape, &values)?)
}

/// `out[o, y, x] = sum(i, ky, kx) of in[i, y + ky - 1, x + kx - 1] * w1[i, o, ky, kx]`, with zeros around the image.
fn convolution(image: &Tensor, w1: &Tensor) -> Result<Vec<f32>> {
    const N: usize = 224;
    let (pixels, weights) = (image.as_slice::<f32>()?, w1.as_slice::<f32>()?);
    let pixel = |i: usize, y: usize, x: usize| match (y.checked_sub(1), x.checked_sub(1)) {
        (Some(y), Some(x)) if y < N && x < N => pixels[(i * N + y) * N + x],
        _ => 0.0,
    };
    let mut out = Vec::with_capacity(16 * N * N);
    for o in 0..16 {
        for y in 0..N {
            for x in 0..N {
                let mut sum = 0.0;
                for i in 0..3 {
                    for ky in 0..3 {
                        for kx in 0..3 {
                            let weight = weights[((i * 16 + o) * 3 + ky) * 3 + kx];
                            sum += pixel(i, y + ky, x + kx) * weight;
                        }
                    }
                }
                out.push(sum);
            }
        }
    }
    Ok(out)
}

/// Compares with the convolution above, to 1e-4 absolutely and relatively.
fn check(what: &str, machine: &mut VirtualMachine, out: Value, reference: &[f32]) -> Result<()> {
    let out = machine.to_host(out)?.into_tensor()?;
    ensure(
        out.shape() == [1, 16, 224, 224],
        "the result has another shape",
    )?;
    let mut largest: f32 = 0.0;
    for (got, want) in out.as_slice::<f32>()?.iter().zip(reference) {
        let difference = (got - want).abs();
        let close = difference <= 1e-4 + 1e-4 * want.abs();
        ensure(close, &format!("{what}: {got} is not {want}"))?;
        largest = largest.max(difference);
    }
    println!("{what}: as the plain loops compute it, up to {largest:.1e}");
    Ok(())
}

fn ensure(holds: bool, otherwise: &str) -> Result<()> {
    if holds { Ok(()) } else { Err(otherwise.into()) }
}
