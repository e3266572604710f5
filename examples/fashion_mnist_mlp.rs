//! End-to-end execution of a trained network, step by step: arrays, loops, a module, two dataflow blocks, registered host
//! functions, a mixture, bound parameters. Each is printed, built, run on the CPU and on a GPU, and checked against the first.
//!
//! ```text
//! cargo run --release --example fashion_mnist_mlp
//! cargo run --release --example fashion_mnist_mlp -- --data ../shared/data --allow-software
//! ```
//!
//! With `--data` (a folder with `fashion-mnist` and `mlc`) the input is test image 2437 and the weights are those of the
//! lecture; without, the weights are the project's own and the input is a plain gradient.

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
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, Ix1, Ix2};
use weftile::frontend::{load_params, load_tensor, parse_safetensors};
use weftile::ir::Module;
use weftile::kernel::Target;
use weftile::passes::bind_params;
use weftile::pipeline::{CompileOptions, compile};
use weftile::runtime::{Device, Override, PackedError, Value, register_func};
use weftile::script::{parse, print};
use weftile::tensor::Tensor;
use weftile::vm::VirtualMachine;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const CLASSES: [&str; 10] = [
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
];

/// What the lecture prints for test image 2437.
const LECTURE: [f32; 10] = [
    36.977_055,
    -20.729_49,
    -3.975_003,
    -15.184_228,
    -50.152_027,
    -49.219_76,
    8.625_975,
    -51.778_065,
    -28.319_672,
    -56.040_41,
];

fn main() -> ExitCode {
    command_line::main(run_all)
}

fn run_all(args: Args) -> Result<()> {
    let (image, params) = load(args.data.as_deref())?;
    let devices = devices::devices(args.allow_software)?;

    println!("# Arrays\n");
    let reference = array_mlp(&image, &params)?;
    show("arrays", &reference);
    if args.data.is_some() {
        let error = largest_difference(&reference, &LECTURE);
        println!("largest difference from the lecture's output: {error:.1e}\n");
        ensure(
            error <= 1e-4,
            "the reference is not what the lecture prints",
        )?;
    }

    println!("# Loops\n");
    let loops = loop_mlp(&image, &params)?;
    show("loops", &loops);
    check("loops", &reference, &loops)?;

    register_host_functions()?;
    let mut arguments = vec![Value::Tensor(image.clone())];
    arguments.extend(params.values().cloned().map(Value::Tensor));
    let text = |name: &str| std::fs::read_to_string(Path::new(DIR).join(name));
    for (title, file) in [
        ("MyModule", "my_module.py"),
        ("Two dataflow blocks", "two_dataflow_blocks.py"),
        ("MyModuleWithExternCall", "extern_call.py"),
        ("MyModuleMixture", "mixture.py"),
    ] {
        let module = parse(file, &text(file)?)?;
        run(title, &module, &arguments, &devices, &reference)?;
    }

    let mixture = parse("mixture.py", &text("mixture.py")?)?;
    let bound = bind_params(&mixture, "main", &params)?;
    run(
        "MyModuleWithParams",
        &bound,
        &arguments[..1],
        &devices,
        &reference,
    )
}

/// Where the programs of this example are.
const DIR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/fashion_mnist_mlp");

#[derive(Default)]
struct Args {
    data: Option<PathBuf>,
    allow_software: bool,
}

impl Options for Args {
    const USAGE: &'static str = "\
Usage: cargo run --release --example fashion_mnist_mlp -- [OPTIONS]

Options:
  --data DIR        the folder with the test set and the weights of the lecture
  --allow-software  GPUs in software count";

    fn take(&mut self, option: &str, rest: &mut Words<'_>) -> std::result::Result<bool, String> {
        match option {
            "--data" => self.data = Some(rest.next().ok_or("--data needs a folder")?.into()),
            "--allow-software" => self.allow_software = true,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// The input, `[1, 784]`, and the parameters in the order of `main`.
fn load(data: Option<&Path>) -> Result<(Tensor, IndexMap<String, Tensor>)> {
    let (pixels, mut all) = match data {
        Some(dir) => {
            let images = load_tensor(&dir.join("fashion-mnist/t10k-images-idx3-ubyte.gz"))?;
            let image = &images.as_slice::<u8>()?[2437 * 784..][..784];
            let pixels = image.iter().map(|&p| f32::from(p) / 255.0).collect();
            (
                pixels,
                load_params(&dir.join("mlc/fasionmnist_mlp_params.pkl"))?,
            )
        }
        None => {
            let weights = include_bytes!("fashion_mnist/weights.safetensors");
            (
                (0..784).map(|i| i as f32 / 784.0).collect::<Vec<_>>(),
                parse_safetensors(weights)?,
            )
        }
    };
    let mut params = IndexMap::new();
    for name in ["w0", "b0", "w1", "b1"] {
        let tensor = all
            .swap_remove(name)
            .ok_or_else(|| format!("no parameter `{name}`"))?;
        params.insert(name.to_owned(), tensor);
    }
    Ok((Tensor::from_slice(&[1, 784], &pixels)?, params))
}

/// Prints, builds and runs a module on every device.
fn run(
    title: &str,
    module: &Module,
    arguments: &[Value],
    devices: &[(Device, Target)],
    reference: &[f32],
) -> Result<()> {
    println!("# {title}\n\n{}", print(module));
    for (device, target) in devices {
        let executable = compile(module, &CompileOptions::new(target.clone()))?;
        let mut vm = VirtualMachine::new(executable, device.clone())?;
        let result = vm.call("main", arguments)?;
        let logits = vm.to_host(result)?.into_tensor()?;
        let logits = logits.as_slice::<f32>()?;
        show(&format!("{title} on {device}"), logits);
        check(title, reference, logits)?;
    }
    println!();
    Ok(())
}

fn matrix(tensor: &Tensor) -> Result<ArrayView2<'_, f32>> {
    Ok(tensor.as_array::<f32>()?.into_dimensionality::<Ix2>()?)
}

fn vector(tensor: &Tensor) -> Result<ArrayView1<'_, f32>> {
    Ok(tensor.as_array::<f32>()?.into_dimensionality::<Ix1>()?)
}

/// `relu(x · w0ᵀ + b0) · w1ᵀ + b1`
fn array_mlp(x: &Tensor, params: &IndexMap<String, Tensor>) -> Result<Vec<f32>> {
    let lv0 = matrix(x)?.dot(&matrix(&params["w0"])?.t()) + vector(&params["b0"])?;
    let lv1 = lv0.mapv(|v| v.max(0.0));
    let out = lv1.dot(&matrix(&params["w1"])?.t()) + vector(&params["b1"])?;
    Ok(out.iter().copied().collect())
}

/// The same with loops and allocated arrays, as the loop programs of the module are written.
fn loop_mlp(x: &Tensor, params: &IndexMap<String, Tensor>) -> Result<Vec<f32>> {
    let (w0, w1) = (matrix(&params["w0"])?, matrix(&params["w1"])?);
    let mut lv0 = Array2::zeros((1, w0.nrows()));
    loop_linear(matrix(x)?, w0, vector(&params["b0"])?, &mut lv0);
    let mut lv1 = Array2::zeros(lv0.raw_dim());
    loop_relu(lv0.view(), &mut lv1);
    let mut out = Array2::zeros((1, w1.nrows()));
    loop_linear(lv1.view(), w1, vector(&params["b1"])?, &mut out);
    Ok(out.iter().copied().collect())
}

fn loop_linear(x: ArrayView2<f32>, w: ArrayView2<f32>, b: ArrayView1<f32>, z: &mut Array2<f32>) {
    let (rows, columns, terms) = (x.nrows(), w.nrows(), x.ncols());
    let mut y = Array2::<f32>::zeros((rows, columns));
    for i in 0..rows {
        for j in 0..columns {
            for k in 0..terms {
                if k == 0 {
                    y[[i, j]] = 0.0;
                }
                y[[i, j]] += x[[i, k]] * w[[j, k]];
            }
        }
    }
    for i in 0..rows {
        for j in 0..columns {
            z[[i, j]] = y[[i, j]] + b[j];
        }
    }
}

fn loop_relu(x: ArrayView2<f32>, y: &mut Array2<f32>) {
    for i in 0..x.nrows() {
        for j in 0..x.ncols() {
            y[[i, j]] = x[[i, j]].max(0.0);
        }
    }
}

/// `env.linear` and `env.relu`: host functions over arrays that share the memory of the tensors. The output comes last.
fn register_host_functions() -> Result<()> {
    register_func("env.linear", linear, Override::Yes)?;
    register_func("env.relu", relu, Override::Yes)?;
    Ok(())
}

fn linear(args: &mut [Value]) -> std::result::Result<Value, PackedError> {
    let [x, w, b, out] = args else {
        return Err("env.linear takes x, w, b and the output".into());
    };
    let product = matrix_of(x)?.dot(&matrix_of(w)?.t());
    let bias: Array1<f32> = b
        .as_tensor()?
        .as_array::<f32>()?
        .into_dimensionality::<Ix1>()?
        .to_owned();
    out.as_tensor_mut()?
        .as_array_mut::<f32>()?
        .assign(&(product + bias.insert_axis(Axis(0))));
    Ok(Value::None)
}

fn relu(args: &mut [Value]) -> std::result::Result<Value, PackedError> {
    let [x, out] = args else {
        return Err("env.relu takes x and the output".into());
    };
    let result = matrix_of(x)?.mapv(|v| v.max(0.0));
    out.as_tensor_mut()?.as_array_mut::<f32>()?.assign(&result);
    Ok(Value::None)
}

fn matrix_of(value: &Value) -> std::result::Result<ArrayView2<'_, f32>, PackedError> {
    Ok(value
        .as_tensor()?
        .as_array::<f32>()?
        .into_dimensionality::<Ix2>()?)
}

fn show(what: &str, logits: &[f32]) {
    let best = logits
        .iter()
        .enumerate()
        .max_by(|a, b| a.1.total_cmp(b.1))
        .map_or(0, |(class, _)| class);
    println!("{what}: {logits:?}\n{what}: {}", CLASSES[best]);
}

fn largest_difference(a: &[f32], b: &[f32]) -> f32 {
    a.iter()
        .zip(b)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f32::max)
}

fn check(what: &str, reference: &[f32], logits: &[f32]) -> Result<()> {
    let error = largest_difference(reference, logits);
    ensure(
        reference.len() == logits.len() && error <= 1e-4,
        &format!("{what}: differs by {error}"),
    )
}

fn ensure(holds: bool, otherwise: &str) -> Result<()> {
    if holds { Ok(()) } else { Err(otherwise.into()) }
}
