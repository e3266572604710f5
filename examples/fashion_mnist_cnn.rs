//! A trained convolutional network from its layers: built with a block builder and tensor expressions; again with external
//! functions for its convolution; again after the convolution was scheduled by hand. Every version classifies all test images on
//! the CPU and on a GPU and is checked against results that were computed elsewhere.
//!
//! ```text
//! cargo run --release --example fashion_mnist_cnn -- --data ../shared/data
//! cargo run --release --example fashion_mnist_cnn -- --data ../shared/data --allow-software --images 400
//! ```
//!
//! The folder has `fashion-mnist` (images, labels, `reference.json`) and `mlc` (the weights, a pickle of numpy arrays).

#![expect(clippy::print_stdout, reason = "an example talks to its user")]

#[path = "shared/command_line.rs"]
mod command_line;
#[path = "shared/devices.rs"]
mod devices;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use command_line::{Options, Words};
use indexmap::IndexMap;
use ndarray::{Array4, ArrayView4, Ix4};
use serde_json::Value as Json;
use weftile::frontend::{load_params, load_tensor};
use weftile::ir::{Func, Module, StructInfo};
use weftile::kernel::Target;
use weftile::pipeline::{CompileOptions, compile};
use weftile::relax::{self, BlockBuilder, BuildError, Var};
use weftile::runtime::{Device, Override, PackedError, Value, register_func};
use weftile::sched::{Factor, Schedule};
use weftile::script::print;
use weftile::te;
use weftile::tensor::{DType, Tensor};
use weftile::vm::VirtualMachine;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Images of a call.
const BATCH: usize = 4;

fn main() -> ExitCode {
    command_line::main(run)
}

fn run(args: Args) -> Result<()> {
    let task = Task::load(&args)?;
    let devices = devices::devices(args.allow_software)?;
    register_func("env.conv2d", conv2d, Override::Yes)?;

    let with_te = network(&task.weights, Convolution::TensorExpression)?;
    task.judge("emit_te", &with_te, &devices)?;
    let with_packed = network(&task.weights, Convolution::External)?;
    task.judge("external functions", &with_packed, &devices)?;
    let scheduled = schedule(&with_te)?;
    task.judge("schedule transformations", &scheduled, &devices)
}

struct Args {
    data: PathBuf,
    allow_software: bool,
    images: usize,
}

impl Default for Args {
    fn default() -> Self {
        Self {
            data: PathBuf::new(),
            allow_software: false,
            images: 10_000,
        }
    }
}

impl Options for Args {
    const USAGE: &'static str = "\
Usage: cargo run --release --example fashion_mnist_cnn -- --data DIR [OPTIONS]

Options:
  --data DIR        the folder with the test set and the weights
  --images COUNT    how many images of the test set (10000)
  --allow-software  GPUs in software count";

    fn take(&mut self, option: &str, rest: &mut Words<'_>) -> std::result::Result<bool, String> {
        match option {
            "--data" => self.data = rest.next().ok_or("--data needs a folder")?.into(),
            "--allow-software" => self.allow_software = true,
            "--images" => {
                let count = rest.next().and_then(|count| count.parse().ok());
                self.images = count.ok_or("--images needs a number")?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn check(&self) -> std::result::Result<(), String> {
        if self.data == Path::new("") {
            return Err("--data must say where images and weights are".to_owned());
        }
        Ok(())
    }
}

/// How the convolution of the network is computed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Convolution {
    TensorExpression,
    External,
}

/// The network, with its weights as constants: convolution, bias, ReLU, maxima of 2 x 2, flatten, two linear layers, softmax.
fn network(weights: &IndexMap<String, Tensor>, convolution: Convolution) -> Result<Module> {
    let constant = |name: &str, shape: &[usize]| -> Result<relax::Expr> {
        let weight = weights
            .get(name)
            .ok_or_else(|| format!("no weight `{name}`"))?;
        Ok(relax::constant(weight.reshape(shape)?))
    };
    let conv2d_weight = constant("conv2d_weight", &[32, 1, 3, 3])?;
    let conv2d_bias = constant("conv2d_bias", &[1, 32, 1, 1])?;
    let linear0_weight = constant("linear0_weight", &[100, 5408])?;
    let linear0_bias = constant("linear0_bias", &[1, 100])?;
    let linear1_weight = constant("linear1_weight", &[10, 100])?;
    let linear1_bias = constant("linear1_bias", &[1, 10])?;

    let mut bb = BlockBuilder::new();
    let batch = BATCH as i64;
    let x = Var::tensor("x", [batch, 1, 28, 28], DType::F32);
    bb.function("main", &[&x], |bb| {
        let out = bb.dataflow(|bb| {
            let args = [relax::expr(&x), conv2d_weight];
            let conv = match convolution {
                Convolution::TensorExpression => {
                    bb.emit_te("conv2d", args, |t| conv2d_te(&t[0], &t[1]))?
                }
                Convolution::External => {
                    let image = [batch, 32, 26, 26].map(Into::into).to_vec();
                    let out = StructInfo::tensor(image, DType::F32);
                    bb.emit(relax::call_dps_packed("env.conv2d", args, out))?
                }
            };
            let biased = bb.emit_te("add", [relax::expr(&conv), conv2d_bias], |t| {
                add(&t[0], &t[1])
            })?;
            let relu0 = bb.emit_te("relu", [&biased], |t| relu(&t[0]))?;
            let pool = bb.emit_te("max_pool2d", [&relu0], |t| max_pool(&t[0]))?;
            let flat = bb.emit_te("flatten", [&pool], |t| flatten(&t[0]))?;
            let linear0 = linear(bb, &flat, linear0_weight, linear0_bias)?;
            let relu1 = bb.emit_te("relu", [&linear0], |t| relu(&t[0]))?;
            let linear1 = linear(bb, &relu1, linear1_weight, linear1_bias)?;
            let out = bb.emit_te("softmax", [&linear1], |t| softmax(&t[0]))?;
            bb.emit_output(&out)
        })?;
        bb.emit_func_output(&out)
    })?;
    Ok(bb.finish()?)
}

fn linear(
    bb: &mut BlockBuilder,
    x: &Var,
    weight: relax::Expr,
    bias: relax::Expr,
) -> std::result::Result<Var, BuildError> {
    let product = bb.emit_te("dense", [relax::expr(x), weight], |t| dense(&t[0], &t[1]))?;
    bb.emit_te("add", [relax::expr(&product), bias], |t| add(&t[0], &t[1]))
}

fn conv2d_te(x: &te::Tensor, w: &te::Tensor) -> te::Tensor {
    let axes =
        [("rc", 1), ("ry", 3), ("rx", 3)].map(|(name, extent)| te::reduce_axis(name, extent));
    let [rc, ry, rx] = &axes;
    te::compute("conv2d_nchw", [BATCH as i64, 32, 26, 26], |i| {
        let at = [
            i[0].clone(),
            rc.expr(),
            &i[2] + ry.expr(),
            &i[3] + rx.expr(),
        ];
        te::sum(
            x.at(at) * w.at([&i[1], &rc.expr(), &ry.expr(), &rx.expr()]),
            &axes,
        )
    })
}

fn add(a: &te::Tensor, b: &te::Tensor) -> te::Tensor {
    te::compute("T_add", a.shape().to_vec(), |i| {
        let at = i
            .iter()
            .zip(b.shape())
            .map(|(i, extent)| match extent.is_one() {
                true => 0.into(),
                false => i.clone(),
            });
        a.at(i) + b.at(at)
    })
}

fn relu(x: &te::Tensor) -> te::Tensor {
    te::compute("relu", x.shape().to_vec(), |i| te::max(x.at(i), 0))
}

fn max_pool(x: &te::Tensor) -> te::Tensor {
    let window = ["ry", "rx"].map(|name| te::reduce_axis(name, 2));
    te::compute("max_pool2d", [BATCH as i64, 32, 13, 13], |i| {
        let at = [
            i[0].clone(),
            i[1].clone(),
            &i[2] * 2 + window[0].expr(),
            &i[3] * 2 + window[1].expr(),
        ];
        te::max(x.at(at), [&window[0], &window[1]])
    })
}

fn flatten(x: &te::Tensor) -> te::Tensor {
    te::compute("flatten", [BATCH as i64, 5408], |i| {
        let pixel = i[1].floor_mod(169);
        x.at([
            i[0].clone(),
            i[1].floor_div(169),
            pixel.floor_div(13),
            pixel.floor_mod(13),
        ])
    })
}

fn dense(x: &te::Tensor, w: &te::Tensor) -> te::Tensor {
    let k = te::reduce_axis("k", x.shape()[1].clone());
    te::compute("dense", [x.shape()[0].clone(), w.shape()[0].clone()], |i| {
        te::sum(x.at([&i[0], &k.expr()]) * w.at([&i[1], &k.expr()]), [&k])
    })
}

fn softmax(x: &te::Tensor) -> te::Tensor {
    weftile::topi::nn::softmax("softmax", x, 1)
}

/// The convolution as the host computes it: image, filters, and last the result.
fn conv2d(args: &mut [Value]) -> std::result::Result<Value, PackedError> {
    let [x, w, out] = args else {
        return Err("env.conv2d takes images, filters and the output".into());
    };
    let (x, w) = (images(x)?.to_owned(), images(w)?.to_owned());
    let mut result = Array4::<f32>::zeros((x.dim().0, w.dim().0, 26, 26));
    for ((n, f, y, column), value) in result.indexed_iter_mut() {
        for ry in 0..3 {
            for rx in 0..3 {
                *value += x[[n, 0, y + ry, column + rx]] * w[[f, 0, ry, rx]];
            }
        }
    }
    out.as_tensor_mut()?.as_array_mut::<f32>()?.assign(&result);
    Ok(Value::None)
}

fn images(value: &Value) -> std::result::Result<ArrayView4<'_, f32>, PackedError> {
    Ok(value
        .as_tensor()?
        .as_array::<f32>()?
        .into_dimensionality::<Ix4>()?)
}

/// The module with the convolution in tiles, on threads and vectors.
fn schedule(module: &Module) -> Result<Module> {
    let conv2d = module
        .prim_func("conv2d")
        .ok_or("the network has a convolution")?;
    let mut sch = Schedule::new(conv2d.clone());
    let conv = sch.get_block("conv2d_nchw")?;
    let loops = sch.get_loops(conv)?;
    let (mut outer, mut inner) = (vec![], vec![]);
    for (&l, tile) in loops[..4].iter().zip([2, 4, 2, 2]) {
        let parts = sch.split(l, &[Factor::Infer, Factor::Of(tile)])?;
        outer.push(parts[0]);
        inner.push(parts[1]);
    }
    let order: Vec<_> = outer
        .iter()
        .chain(&loops[4..])
        .chain(&inner)
        .copied()
        .collect();
    sch.reorder(&order)?;
    let threads = sch.fuse(&outer)?;
    sch.parallel(threads)?;
    let rows = sch.fuse(&inner[..2])?;
    sch.unroll(rows)?;
    let pixels = sch.fuse(&inner[2..])?;
    sch.vectorize(pixels)?;
    sch.decompose_reduction(conv, loops[4])?;
    let mut out = module.clone();
    out.funcs
        .insert("conv2d".to_owned(), Func::Prim(sch.func().clone()));
    Ok(out)
}

/// Images with their labels, and what is known of the network.
struct Task {
    weights: IndexMap<String, Tensor>,
    pixels: Tensor,
    labels: Tensor,
    reference: Json,
    images: usize,
}

impl Task {
    fn load(args: &Args) -> Result<Self> {
        let folder = args.data.join("fashion-mnist");
        let reference = std::fs::read_to_string(folder.join("reference.json"))?;
        let reference: Json = serde_json::from_str(&reference)?;
        Ok(Self {
            weights: load_params(&args.data.join("mlc/fasionmnist_mlp_assignment_params.pkl"))?,
            pixels: load_tensor(&folder.join("t10k-images-idx3-ubyte.gz"))?,
            labels: load_tensor(&folder.join("t10k-labels-idx1-ubyte.gz"))?,
            reference: reference["models"]["cnn"].clone(),
            images: args.images.min(10_000) / BATCH * BATCH,
        })
    }

    /// Prints the module, and runs it on every device over the images.
    fn judge(&self, title: &str, module: &Module, devices: &[(Device, Target)]) -> Result<()> {
        println!("# {title}\n\n{}", print(module));
        for (device, target) in devices {
            let executable = compile(module, &CompileOptions::new(target.clone()))?;
            let mut vm = VirtualMachine::new(executable, device.clone())?;
            let (mut predictions, mut probabilities) = (String::new(), vec![]);
            let start = std::time::Instant::now();
            for batch in self.pixels.as_slice::<u8>()?[..self.images * 784].chunks(BATCH * 784) {
                let pixels: Vec<f32> = batch.iter().map(|&p| f32::from(p) / 255.0).collect();
                let x = Tensor::from_slice(&[BATCH, 1, 28, 28], &pixels)?;
                let out = vm.call("main", &[x.into()])?;
                let out = vm.to_host(out)?.into_tensor()?;
                for row in out.as_slice::<f32>()?.chunks(10) {
                    let classes = row.iter().enumerate();
                    let best = classes
                        .max_by(|a, b| a.1.total_cmp(b.1))
                        .map_or(0, |best| best.0);
                    predictions += &best.to_string();
                    probabilities.extend_from_slice(row);
                }
            }
            let seconds = start.elapsed().as_secs_f64();
            let error = self.check(&predictions, &probabilities)?;
            let labels = self.labels.as_slice::<u8>()?.iter();
            let right = predictions
                .bytes()
                .zip(labels)
                .filter(|(p, l)| p - b'0' == **l)
                .count();
            println!(
                "{title} on {device}: {right} of {} right, relative difference {error:.1e}, {seconds:.1} s",
                self.images
            );
            if self.images == 10_000 && self.reference["correct"].as_u64() != Some(right as u64) {
                return Err(format!("{} are right elsewhere", self.reference["correct"]).into());
            }
        }
        println!();
        Ok(())
    }

    /// The largest relative difference from the recorded probabilities. All predictions must be those that are recorded.
    fn check(&self, predictions: &str, probabilities: &[f32]) -> Result<f64> {
        let recorded = self.reference["predictions_digits"]
            .as_str()
            .ok_or("no predictions")?;
        if !recorded.starts_with(predictions) {
            return Err("other classes than those that are recorded".into());
        }
        let rows = self.reference["first_10_softmax_float64"]
            .as_array()
            .ok_or("no probabilities")?;
        let recorded = rows
            .iter()
            .flat_map(|row| row.as_array().into_iter().flatten());
        let recorded: Vec<f64> = recorded.filter_map(Json::as_f64).collect();
        let mut largest = 0.0_f64;
        for (have, want) in probabilities.iter().zip(&recorded) {
            let difference = (f64::from(*have) - want).abs();
            if difference > 1e-7 + 1e-4 * want.abs() {
                return Err(format!("{have} is not {want}").into());
            }
            largest = largest.max(difference / want.abs().max(1e-3));
        }
        Ok(largest)
    }
}
