//! What fusion and the memory plan are worth: a convolutional network, a perceptron and a layer of a transformer, built with a block
//! builder, with both, without fusion, and without a plan. The layer has its softmax and normalisations as primitive operators, as
//! importers write them. Then the same networks with weights bound at compile time and with weights that come later.
//!
//! ```text
//! cargo run --release --example fusion
//! cargo run --release --example fusion -- --allow-software --json
//! ```

#![expect(clippy::print_stdout, reason = "an example talks to its user")]

#[path = "shared/command_line.rs"]
mod command_line;
#[path = "shared/devices.rs"]
mod devices;

use std::collections::HashMap;
use std::error::Error;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use command_line::{Options, Words};
use indexmap::IndexMap;
use serde_json::{Value as Json, json};
use weftile::artifact::Executable;
use weftile::ir::{AttrValue, Attrs, Module};
use weftile::kernel::Target;
use weftile::passes::{bind_params, memory_usage};
use weftile::pipeline::{CompileOptions, compile, compile_until, weights_apart};
use weftile::relax::{self, BlockBuilder, BuildError, FunctionOptions, Var};
use weftile::runtime::{Device, Value};
use weftile::tensor::{DType, Tensor};
use weftile::vm::{Profile, ProfileKind, VirtualMachine};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Ways to compile, by the passes that are left out.
const WAYS: [(&str, &[&str]); 3] = [
    ("fused, planned", &[]),
    ("not fused", &["fuse_ops", "fuse_reductions"]),
    ("not planned", &["static_plan_block_memory"]),
];

/// How long machines that take turns are timed.
const MEASURED: Duration = Duration::from_secs(2);

/// Pairs of machines, weights bound and weights apart, of which the median counts: where weights and memory come to lie changes the
/// time of one pair by several per cent, either way.
const PAIRS: usize = 9;

#[derive(Default)]
struct Args {
    allow_software: bool,
    as_json: bool,
}

impl Options for Args {
    const USAGE: &'static str = "\
Usage: cargo run --release --example fusion -- [OPTIONS]

Options:
  --json            prints the table as JSON
  --allow-software  GPUs in software count";

    fn take(&mut self, option: &str, _: &mut Words<'_>) -> std::result::Result<bool, String> {
        match option {
            "--allow-software" => self.allow_software = true,
            "--json" => self.as_json = true,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

fn main() -> ExitCode {
    command_line::main(run)
}

fn run(args: Args) -> Result<()> {
    let mut rows = vec![];
    for (device, target) in devices::devices(args.allow_software)? {
        for network in [cnn()?, mlp()?, transformer_layer()?] {
            rows.extend(network.ways(&device, &target)?);
            rows.push(network.weights(&device, &target)?);
        }
    }
    if args.as_json {
        println!("{}", serde_json::to_string_pretty(&rows)?);
        return Ok(());
    }
    println!(
        "network            device       way              kernels     time us  bytes planned  each its own  at least"
    );
    for row in &rows {
        let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
        let number = |name: &str| row[name].as_f64().unwrap_or_default();
        print!(
            "{:<18} {:<12} {:<16} {:>7} {:>11.1} {:>14} {:>13} {:>9}",
            text("network"),
            text("device"),
            text("way"),
            number("kernels"),
            number("us"),
            number("bytes"),
            number("naive"),
            number("least"),
        );
        match row["apart_us"].as_f64() {
            Some(apart) => println!("  apart {apart:.1} us, {:.3} of bound", number("ratio")),
            None => println!(),
        }
    }
    Ok(())
}

/// A network whose weights are parameters after `x`.
struct Network {
    name: &'static str,
    module: Module,
    x: Vec<usize>,
    weights: IndexMap<String, Tensor>,
}

impl Network {
    fn new(
        name: &'static str,
        x: &[usize],
        weights: &[(&str, &[usize])],
        layers: impl FnOnce(&mut BlockBuilder, &Var, &[Var]) -> std::result::Result<Var, BuildError>,
    ) -> Result<Self> {
        let var = |name: &str, shape: &[usize]| {
            Var::tensor(name, shape.iter().map(|&d| d as i64), DType::F32)
        };
        let input = var("x", x);
        let params: Vec<Var> = weights
            .iter()
            .map(|(name, shape)| var(name, shape))
            .collect();
        let all: Vec<&Var> = std::iter::once(&input).chain(&params).collect();
        let options = FunctionOptions {
            attrs: attrs(&json!({"num_input": 1})),
            ..FunctionOptions::default()
        };
        let mut bb = BlockBuilder::new();
        bb.function_with("main", &all, options, |bb| {
            let out = bb.dataflow(|bb| {
                let out = layers(bb, &input, &params)?;
                bb.emit_output(&out)
            })?;
            bb.emit_func_output(&out)
        })?;
        let weights = weights
            .iter()
            .map(|(name, shape)| Ok(((*name).to_owned(), numbers(shape)?)));
        Ok(Self {
            name,
            module: bb.finish()?,
            x: x.to_vec(),
            weights: weights.collect::<Result<_>>()?,
        })
    }

    /// A row for each way to compile; the times are of calls that take turns.
    fn ways(&self, device: &Device, target: &Target) -> Result<Vec<Json>> {
        let bound = bind_params(&self.module, "main", &self.weights)?;
        let (mut timed, mut rows) = (vec![], vec![]);
        for (way, without) in WAYS {
            let mut options = CompileOptions::new(target.clone());
            options
                .passes
                .disabled
                .extend(without.iter().map(|&pass| pass.to_owned()));
            let mut machine = VirtualMachine::new(compile(&bound, &options)?, device.clone())?;
            let args = vec![machine.to_device(numbers(&self.x)?.into())?];
            let (_, profile) = machine.profile("main", &args)?;
            let module = compile_until(&bound, &options, "kill_after_last_use")?.module;
            let main = module.function("main").ok_or("there is no `main`")?;
            let usage = memory_usage(main, &HashMap::new()).ok_or("all sizes are known")?;
            rows.push(json!({
                "network": self.name, "device": device.to_string(), "way": way,
                "kernels": kernels(&profile).len(), "bytes": usage.planned, "naive": usage.naive,
                "least": usage.live,
            }));
            timed.push((machine, args));
        }
        for (row, best) in rows.iter_mut().zip(take_turns(device, &mut timed)?) {
            row["us"] = json!(best.as_secs_f64() * 1e6);
        }
        Ok(rows)
    }

    /// Weights bound, and weights that come later.
    fn weights(&self, device: &Device, target: &Target) -> Result<Json> {
        let options = CompileOptions::new(target.clone());
        let bound = compile(&bind_params(&self.module, "main", &self.weights)?, &options)?;
        let apart = compile(&weights_apart(&self.module, &options)?, &options)?;
        let mut ran = 0;
        let mut pairs = vec![];
        for _ in 0..PAIRS {
            let (machine, args, kernels) = self.weights_later(&apart, device)?;
            ran = kernels;
            let mut bound = VirtualMachine::new(bound.clone(), device.clone())?;
            let x = bound.to_device(numbers(&self.x)?.into())?;
            let times = take_turns(device, &mut [(bound, vec![x]), (machine, args)])?;
            pairs.push([times[0], times[1]].map(|time| time.as_secs_f64() * 1e6));
        }
        let ratio = |pair: &[f64; 2]| pair[1] / pair[0];
        pairs.sort_by(|a, b| ratio(a).total_cmp(&ratio(b)));
        let median = pairs[PAIRS / 2];
        Ok(json!({
            "network": self.name, "device": device.to_string(), "way": "weights bound",
            "kernels": ran, "us": median[0], "apart_us": median[1], "ratio": ratio(&median),
            "ratios": pairs.iter().map(ratio).collect::<Vec<f64>>(),
        }))
    }

    /// A machine with the arguments of `main`, whose weights it transformed, and how many kernels `main` runs.
    fn weights_later(
        &self,
        executable: &Executable,
        device: &Device,
    ) -> Result<(VirtualMachine, Vec<Value>, usize)> {
        let mut machine = VirtualMachine::new(executable.clone(), device.clone())?;
        let weights = self.weights.values().map(|w| Value::from(w.clone()));
        let weights = Value::Tuple(weights.collect());
        let (transformed, once) = machine.profile("main_transform_params", &[weights])?;
        let mut args = vec![machine.to_device(numbers(&self.x)?.into())?];
        for weight in transformed.as_tuple()? {
            args.push(machine.to_device(weight.clone())?);
        }
        let (_, profile) = machine.profile("main", &args)?;
        let (ran, of_weights) = (kernels(&profile), kernels(&once));
        if ran.iter().any(|kernel| of_weights.contains(kernel)) {
            return Err(format!("{}: `main` rewrites a weight\n{profile}", self.name).into());
        }
        let ran = ran.len();
        Ok((machine, args, ran))
    }
}

/// The kernels that ran.
fn kernels(profile: &Profile) -> Vec<&str> {
    let kernels = profile
        .entries
        .iter()
        .filter(|e| e.kind == ProfileKind::Kernel);
    kernels.map(|entry| entry.name.as_str()).collect()
}

/// The least time of a call of each machine, which take turns.
fn take_turns(
    device: &Device,
    machines: &mut [(VirtualMachine, Vec<Value>)],
) -> Result<Vec<Duration>> {
    let mut best = vec![Duration::MAX; machines.len()];
    let start = Instant::now();
    while start.elapsed() < MEASURED {
        for ((machine, args), best) in machines.iter_mut().zip(&mut best) {
            let start = Instant::now();
            let out = machine.call("main", args)?;
            if let Device::Gpu(gpu) = device {
                gpu.wait()?;
            }
            *best = start.elapsed().min(*best);
            drop(out);
        }
    }
    Ok(best)
}

fn attrs(json: &Json) -> Attrs {
    match AttrValue::from(json) {
        AttrValue::Dict(attrs) => attrs,
        _ => Attrs::new(),
    }
}

/// Small numbers without a pattern.
fn numbers(shape: &[usize]) -> Result<Tensor> {
    let number = |i: usize| ((i * 37 + 11) % 101) as f32 / 505.0 - 0.1;
    let values: Vec<f32> = (0..shape.iter().product()).map(number).collect();
    Ok(Tensor::from_slice(shape, &values)?)
}

type Layer = std::result::Result<Var, BuildError>;

/// A call of an operator.
fn op(bb: &mut BlockBuilder, name: &str, args: &[&Var]) -> Layer {
    bb.emit(relax::op(name, args.iter().copied()))
}

/// A call of an operator with attributes.
fn with(bb: &mut BlockBuilder, name: &str, x: &Var, json: &Json) -> Layer {
    bb.emit(relax::op_with(name, [x], attrs(json)))
}

/// `x @ w.T + b`, as PyTorch keeps weights.
fn linear(bb: &mut BlockBuilder, x: &Var, w: &Var, b: &Var) -> Layer {
    let w = op(bb, "permute_dims", &[w])?;
    let y = op(bb, "matmul", &[x, &w])?;
    op(bb, "add", &[&y, b])
}

/// Two convolutions with maxima, two linear layers.
fn cnn() -> Result<Network> {
    let weights: [(&str, &[usize]); 8] = [
        ("w0", &[16, 1, 3, 3]),
        ("b0", &[16, 1, 1]),
        ("w1", &[32, 16, 3, 3]),
        ("b1", &[32, 1, 1]),
        ("w2", &[100, 800]),
        ("b2", &[100]),
        ("w3", &[10, 100]),
        ("b3", &[10]),
    ];
    Network::new("CNN, batch 4", &[4, 1, 28, 28], &weights, |bb, x, w| {
        let mut y = x.clone();
        for at in [0, 2] {
            y = op(bb, "nn.conv2d", &[&y, &w[at]])?;
            y = op(bb, "add", &[&y, &w[at + 1]])?;
            y = op(bb, "nn.relu", &[&y])?;
            let pool = json!({"pool_size": [2, 2], "strides": [2, 2]});
            y = with(bb, "nn.max_pool2d", &y, &pool)?;
        }
        y = bb.emit(relax::op(
            "reshape",
            [relax::expr(&y), relax::shape([4, 800])],
        ))?;
        y = linear(bb, &y, &w[4], &w[5])?;
        y = op(bb, "nn.relu", &[&y])?;
        y = linear(bb, &y, &w[6], &w[7])?;
        op(bb, "nn.softmax", &[&y])
    })
}

/// 784-128-10, one image.
fn mlp() -> Result<Network> {
    let weights: [(&str, &[usize]); 4] = [
        ("w0", &[128, 784]),
        ("b0", &[128]),
        ("w1", &[10, 128]),
        ("b1", &[10]),
    ];
    Network::new("MLP, batch 1", &[1, 784], &weights, |bb, x, w| {
        let y = linear(bb, x, &w[0], &w[1])?;
        let y = op(bb, "nn.relu", &[&y])?;
        linear(bb, &y, &w[2], &w[3])
    })
}

const LENGTH: usize = 64;
const WIDTH: usize = 128;
const HEADS: usize = 4;

/// A layer normalisation of primitive operators.
fn layer_norm(bb: &mut BlockBuilder, x: &Var, scale: &Var, shift: &Var) -> Layer {
    let last = json!({"axis": [-1], "keepdims": true});
    let mean = with(bb, "mean", x, &last)?;
    let centred = op(bb, "subtract", &[x, &mean])?;
    let squares = op(bb, "multiply", &[&centred, &centred])?;
    let variance = with(bb, "mean", &squares, &last)?;
    let epsilon = Tensor::from_slice(&[], &[1e-5f32]).expect("one number");
    let sum = bb.emit(relax::op(
        "add",
        [relax::expr(&variance), relax::constant(epsilon)],
    ))?;
    let inverse = op(bb, "rsqrt", &[&sum])?;
    let y = op(bb, "multiply", &[&centred, &inverse])?;
    let y = op(bb, "multiply", &[&y, scale])?;
    op(bb, "add", &[&y, shift])
}

/// A softmax over the last axis of primitive operators.
fn softmax(bb: &mut BlockBuilder, x: &Var) -> Layer {
    let last = json!({"axis": [-1], "keepdims": true});
    let max = with(bb, "max", x, &last)?;
    let shifted = op(bb, "subtract", &[x, &max])?;
    let exp = op(bb, "exp", &[&shifted])?;
    let sum = with(bb, "sum", &exp, &last)?;
    op(bb, "divide", &[&exp, &sum])
}

/// Attention and two linear layers, each after a normalisation and around which the input goes.
fn transformer_layer() -> Result<Network> {
    let square: &[usize] = &[WIDTH, WIDTH];
    let row: &[usize] = &[WIDTH];
    let weights: [(&str, &[usize]); 16] = [
        ("norm0_scale", row),
        ("norm0_shift", row),
        ("wq", square),
        ("bq", row),
        ("wk", square),
        ("bk", row),
        ("wv", square),
        ("bv", row),
        ("wo", square),
        ("bo", row),
        ("norm1_scale", row),
        ("norm1_shift", row),
        ("w0", &[4 * WIDTH, WIDTH]),
        ("b0", &[4 * WIDTH]),
        ("w1", &[WIDTH, 4 * WIDTH]),
        ("b1", row),
    ];
    Network::new(
        "transformer layer",
        &[1, LENGTH, WIDTH],
        &weights,
        |bb, x, w| {
            let normed = layer_norm(bb, x, &w[0], &w[1])?;
            let mut heads = vec![];
            for at in [2, 4, 6] {
                let y = linear(bb, &normed, &w[at], &w[at + 1])?;
                let split = [1, LENGTH, HEADS, WIDTH / HEADS].map(|d| d as i64);
                let y = bb.emit(relax::op("reshape", [relax::expr(&y), relax::shape(split)]))?;
                let axes = if at == 4 { [0, 2, 3, 1] } else { [0, 2, 1, 3] };
                heads.push(with(bb, "permute_dims", &y, &json!({"axes": axes}))?);
            }
            let scores = op(bb, "matmul", &[&heads[0], &heads[1]])?;
            let scale = Tensor::from_slice(&[], &[1.0 / ((WIDTH / HEADS) as f32).sqrt()]);
            let scale = relax::constant(scale.expect("one number"));
            let scores = bb.emit(relax::op("multiply", [relax::expr(&scores), scale]))?;
            let attention = softmax(bb, &scores)?;
            let y = op(bb, "matmul", &[&attention, &heads[2]])?;
            let y = with(bb, "permute_dims", &y, &json!({"axes": [0, 2, 1, 3]}))?;
            let joined = [1, LENGTH, WIDTH].map(|d| d as i64);
            let y = bb.emit(relax::op(
                "reshape",
                [relax::expr(&y), relax::shape(joined)],
            ))?;
            let y = linear(bb, &y, &w[8], &w[9])?;
            let x = op(bb, "add", &[x, &y])?;
            let y = layer_norm(bb, &x, &w[10], &w[11])?;
            let y = linear(bb, &y, &w[12], &w[13])?;
            let y = op(bb, "nn.gelu", &[&y])?;
            let y = linear(bb, &y, &w[14], &w[15])?;
            op(bb, "add", &[&x, &y])
        },
    )
}
