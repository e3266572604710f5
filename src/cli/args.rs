//! The arguments of the command line, with their help.

use std::path::PathBuf;
use std::sync::LazyLock;

use clap::builder::PossibleValue;
use clap::{Args, Parser, Subcommand, ValueEnum};

use super::error::CliError;
use super::inputs::RANDOM;
use super::program::ends_in;
use crate::frontend::onnx;

/// Compiles tensor programs for the GPU you own, and for the CPU.
#[derive(Parser, Debug)]
#[command(name = "weftile", version, about, after_help = ENVIRONMENT, max_term_width = 100)]
pub(crate) struct Cli {
    /// What to do; the demo if nothing is said.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

const ENVIRONMENT: &str = "\
Examples:
  weftile                          the demo: classifies drawings of garments
  weftile run model.onnx --input image=photo.png --output results
                                   runs a model on the best device and writes what it gives
  weftile run examples/fashion_mnist/mlp.py --shape x=1x784 --params examples/fashion_mnist/weights.safetensors
                                   calls `main` on the best device, with made-up numbers for x
  weftile show examples/fashion_mnist/mlp.py --stage wgsl    prints the compute shaders
  weftile bench examples/fashion_mnist/mlp.py --shape x=256x784 --params examples/fashion_mnist/weights.safetensors
                                   times calls

Environment:
  WEFTILE_DUMP=graph,prim,trace,lower,kernel,wgsl,clif,bytecode
                         writes these stages as numbered files into WEFTILE_DUMP_DIR
  WEFTILE_DUMP_DIR=DIR   where to (weftile-dump)
  WEFTILE_TIME=1         prints the time of each stage, from the file to the first call
  WEFTILE_VERIFY=1       verifies after each stage
  WEFTILE_LOG=LEVEL      messages of the library: off, error, warn, info, debug, trace
  WEFTILE_WITHOUT=PASSES passes that do not run, as winograd_conv2d: convolutions are then sums
  WEFTILE_CPU=NAME       what makes code for the CPU: cranelift, avx2, avx512, avx512vnni (the best that it has)
  WEFTILE_PIPELINE_CACHE=DIR
                         where GPUs keep compiled pipelines (the user's cache folder); 0 keeps none
  WGPU_BACKEND=NAME      only GPUs of this API: vulkan, metal, dx12
  NO_COLOR=1             no colours

Exit codes: 0 done, 1 something given is wrong, 2 wrong usage, 70 a bug in weftile.";

/// The verbs.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Classifies garments: drawings, or the FashionMNIST test set.
    Demo(DemoArgs),
    /// Lists the devices that programs can run on.
    Devices(DevicesArgs),
    /// Runs a model, or a function of a module, on tensors from files.
    Run(RunArgs),
    /// Prints what a module becomes on the way to code.
    Show(ShowArgs),
    /// Says what each compute kernel will cost on a class of GPUs, and what limits it. Needs no GPU.
    Explain(ExplainArgs),
    /// Says whether a model runs on a kind of device, all that stands in the way, and what a call takes.
    Check(CheckArgs),
    /// Compiles a program into a file that runs without the compiler.
    Compile(CompileArgs),
    /// Times calls of a function.
    Bench(BenchArgs),
    /// Writes a page about a model: its graph, a call on the device, memory, kernels and their code.
    Report(ReportArgs),
    /// Runs a function on two devices and compares the results.
    Diff(DiffArgs),
}

/// Where to run.
#[derive(Args, Clone, Debug)]
pub(crate) struct DeviceArgs {
    /// auto (a real GPU, else the CPU), cpu, gpu, or part of the name of a GPU.
    #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = parse_device)]
    pub(crate) device: String,
    /// Let `--device gpu` take an adapter that runs on the CPU (lavapipe, WARP).
    #[arg(long)]
    pub(crate) allow_software: bool,
}

/// The program.
#[derive(Args, Clone, Debug)]
pub(crate) struct ModuleArgs {
    /// An ONNX model (.onnx) or a TVMScript file; run and bench also take what compile made of one (.weft).
    pub(crate) file: PathBuf,
    /// The function to call, a loop program too: its results are the parameters that it writes. If nothing is said: main, or
    /// the only one there is.
    #[arg(long, value_name = "NAME")]
    pub(crate) func: Option<String>,
    /// Binds parameters of the function to these weights, by name (.safetensors, .npz, or pickled numpy arrays). A file that was
    /// compiled without weights takes them from here, also from an .onnx file.
    #[arg(long, value_name = "FILE")]
    pub(crate) params: Option<PathBuf>,
    /// A symbolic extent of an ONNX model that is a number, as batch=4; others stay open.
    #[arg(long = "dim", value_name = "NAME=N", value_parser = parse_dim)]
    pub(crate) dims: Vec<(String, i64)>,
}

/// What the function is given.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct InputArgs {
    /// A tensor for a parameter: an .npy, .npz, .pb or .png file, or `random` for made-up numbers. A picture goes in as colours
    /// from 0 to 1 (bytes as they are), in the parameter's layout and at its size. A scalar parameter of a loop program gets a
    /// number, which is compiled in.
    #[arg(long = "input", value_name = "NAME=FILE", value_parser = parse_input)]
    pub(crate) inputs: Vec<(String, PathBuf)>,
    /// The shape of a parameter that gets made-up numbers, as 1x784 or 1,784. A model is imported for the shapes of its inputs
    /// that are said. NAME=N is a symbolic extent.
    #[arg(long = "shape", value_name = "NAME=DIMS", value_parser = parse_shape)]
    pub(crate) shapes: Vec<(String, Vec<usize>)>,
}

/// `weftile demo`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  weftile demo
  weftile demo --device cpu
  weftile demo --data fashion-mnist --download
  weftile demo --data fashion-mnist --params fasionmnist_mlp_params.pkl --json")]
pub(crate) struct DemoArgs {
    /// Classifies the 10,000 test images in this folder instead of drawings.
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Uses these weights (w0, b0, w1, b1) instead of the ones in this program.
    #[arg(long, value_name = "FILE")]
    pub(crate) params: Option<PathBuf>,
    /// Fetches the test images into the folder first, if they are not there.
    #[arg(long, requires = "data")]
    pub(crate) download: bool,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    /// Prints JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `weftile devices`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  weftile devices
  weftile devices --json")]
pub(crate) struct DevicesArgs {
    /// Prints JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `weftile run`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
`--device interp` runs the interpreter that all tests compare with.

Examples:
  weftile run model.onnx --shape batch=1 --output results
  weftile run examples/fashion_mnist/mlp.py --shape x=1x784 --params examples/fashion_mnist/weights.safetensors
  weftile run examples/fashion_mnist/mlp.py --func main --shape x=1x784 --params examples/fashion_mnist/weights.safetensors --output results --device gpu
  weftile run examples/fashion_mnist/mlp.py --func relu --shape x=2x3 --output results
  weftile run examples/fashion_mnist/mlp.py --func relu --input x=results/y.npy")]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) module: ModuleArgs,
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    /// Writes each result as an .npy file into this folder, which is made if need be.
    #[arg(long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    /// Also prints what every step of the call took: kernels, copies and why they were made, packed functions, builtins.
    #[arg(long)]
    pub(crate) profile: bool,
    /// Prints JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `weftile show` shows.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stage {
    /// The module as TVMScript in canonical form.
    Script,
    /// Each graph function as a picture: Graphviz text, and with --output also an SVG.
    Graph,
    /// The loop programs after scheduling.
    Scheduled,
    /// What the schedule did: rule and primitives.
    Trace,
    /// Kernel IR: flat buffers, loops, launches.
    Kernel,
    /// The compute shaders.
    Wgsl,
    /// The compute shaders as SPIR-V words; --output writes .spv files.
    Spirv,
    /// The native code before register allocation (Cranelift IR).
    Clif,
    /// The native code, disassembled, and what made it.
    Asm,
    /// How many bytes the tensors of each graph function take: each for itself, as planned, and at least.
    Memory,
    /// The program of the virtual machine.
    Bytecode,
}

impl std::fmt::Display for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let value = self.to_possible_value();
        f.write_str(value.as_ref().map_or("", |value| value.get_name()))
    }
}

/// What kind of device to compile for.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TargetKind {
    /// Compute shaders.
    Gpu,
    /// Native code.
    Cpu,
}

/// `weftile show`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  weftile show examples/fashion_mnist/mlp.py --stage script
  weftile show examples/fashion_mnist/mlp.py --stage graph --output pictures
  weftile show examples/fashion_mnist/mlp.py --stage wgsl --target nvidia
  weftile show examples/fashion_mnist/mlp.py --params examples/fashion_mnist/weights.safetensors --stage memory --size batch=256
  weftile show examples/fashion_mnist/mlp.py --stage asm")]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) module: ModuleArgs,
    /// What to show.
    #[arg(long, value_enum, default_value = "script")]
    pub(crate) stage: Stage,
    /// What to compile for, without opening a device: what all desktop GPUs have (gpu), this CPU (cpu), or a class of GPUs, as `explain` has
    /// them; the CPU for clif and asm, else gpu.
    #[arg(long, value_enum)]
    pub(crate) target: Option<Shown>,
    /// Compiles for this very device instead.
    #[arg(long, value_name = "DEVICE", value_parser = parse_device, conflicts_with = "target")]
    pub(crate) device: Option<String>,
    /// The value of a symbolic size, for --stage memory.
    #[arg(long = "size", value_name = "NAME=SIZE", value_parser = parse_size)]
    pub(crate) sizes: Vec<(String, i64)>,
    /// Prints constants whole.
    #[arg(long)]
    pub(crate) show_meta: bool,
    /// Writes files into this folder instead of printing.
    #[arg(long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Prints JSON: of each page its name, and its text or its words.
    #[arg(long, conflicts_with = "output")]
    pub(crate) json: bool,
}

/// A class of GPUs, each with the numbers of a common device, or one device.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Family {
    /// GeForce RTX 4070.
    Nvidia,
    /// Radeon RX 7800 XT.
    Amd,
    /// Arc A770.
    Intel,
    /// M2 with ten cores.
    Apple,
    /// Adreno 740.
    Mobile,
    /// lavapipe on two cores with AVX2.
    Software,
    /// H100, SXM.
    H100,
}

/// What `weftile show` compiles for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shown {
    /// What all devices of a kind have.
    Kind(TargetKind),
    /// What those of a class have.
    Family(Family),
}

impl ValueEnum for Shown {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<Shown>> = LazyLock::new(|| {
            let kinds = TargetKind::value_variants().iter().copied();
            let families = Family::value_variants().iter().copied();
            kinds
                .map(Shown::Kind)
                .chain(families.map(Shown::Family))
                .collect()
        });
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Kind(kind) => kind.to_possible_value(),
            Self::Family(family) => family.to_possible_value(),
        }
    }
}

/// `weftile explain`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Nothing runs: accesses of memory, bank conflicts, operations, registers and barriers are counted in the kernels, and the time is what a
model of the device says. docs/explain.md says how.

Examples:
  weftile explain examples/fashion_mnist/mlp.py --size batch=256 --size m=784 --size n=128
  weftile explain model.onnx --dim batch=1 --target amd --json")]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    pub(crate) module: ModuleArgs,
    #[command(flatten)]
    pub(crate) shapes: ShapeArgs,
    /// The GPUs to compile for.
    #[arg(long, value_enum, default_value = "nvidia")]
    pub(crate) target: Family,
    /// The value of a symbolic size of a loop program.
    #[arg(long = "size", value_name = "NAME=SIZE", value_parser = parse_size)]
    pub(crate) sizes: Vec<(String, i64)>,
    /// Prints JSON: the counts of each kernel, and what the model makes of them.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Shapes that a model is imported for.
#[derive(Args, Clone, Debug)]
pub(crate) struct ShapeArgs {
    /// The shape of an input of a model, as 1x3x224x224 or 1,3,224,224.
    #[arg(long = "shape", value_name = "NAME=DIMS", value_parser = parse_shape)]
    shapes: Vec<(String, Vec<usize>)>,
}

impl ShapeArgs {
    /// The same as what a model is imported for.
    ///
    /// # Errors
    /// If it has no such input, one is given twice, or the program is no model: the shapes of a text are those that it says.
    pub(crate) fn of_model(&self, module: &ModuleArgs) -> Result<InputArgs, CliError> {
        check_once("--shape", &self.shapes)?;
        if self.shapes.is_empty() {
            return Ok(self.inputs());
        }
        if !ends_in(&module.file, "onnx") {
            return Err(CliError::ShapesOfText);
        }
        let names = onnx::input_names_of(&module.file)?;
        match self.shapes.iter().find(|(name, _)| !names.contains(name)) {
            Some((name, _)) => Err(CliError::NoSuchParam {
                name: name.clone(),
                params: names,
            }),
            None => Ok(self.inputs()),
        }
    }

    /// The same as what a function is given.
    pub(crate) fn inputs(&self) -> InputArgs {
        InputArgs {
            inputs: vec![],
            shapes: self.shapes.clone(),
        }
    }
}

/// `weftile check`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
No device is needed: a GPU is taken to have what desktop GPUs have. Exit code 0 only if the model runs.

Examples:
  weftile check model.onnx
  weftile check model.onnx --target cpu --dim batch=4 --json
  weftile check examples/fashion_mnist/mlp.py --params examples/fashion_mnist/weights.safetensors")]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) module: ModuleArgs,
    #[command(flatten)]
    pub(crate) shapes: ShapeArgs,
    /// What it is to run on.
    #[arg(long, value_enum, default_value = "gpu")]
    pub(crate) target: TargetKind,
    /// Prints JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `weftile compile`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
The file is for the kind of device that it was compiled for. `weftile run` and `bench` take it, and programs load it with
`weftile::session::Session::load`.

Examples:
  weftile compile model.onnx --output model.weft
  weftile compile model.onnx --output model.weft --dim batch=1 --device gpu
  weftile compile examples/fashion_mnist/mlp.py --params examples/fashion_mnist/weights.safetensors --output mlp.weft")]
pub(crate) struct CompileArgs {
    #[command(flatten)]
    pub(crate) module: ModuleArgs,
    #[command(flatten)]
    pub(crate) shapes: ShapeArgs,
    /// Leaves the weights of a model out: `weftile run model.weft --params model.onnx` brings them.
    #[arg(long)]
    pub(crate) no_weights: bool,
    /// The file to write.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    /// Prints JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `weftile bench`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  weftile bench examples/fashion_mnist/mlp.py --shape x=1x784 --params examples/fashion_mnist/weights.safetensors
  weftile bench examples/fashion_mnist/mlp.py --shape x=256x784 --params examples/fashion_mnist/weights.safetensors --device gpu --profile
  weftile bench examples/fashion_mnist/mlp.py --shape x=256x784 --params examples/fashion_mnist/weights.safetensors --json")]
pub(crate) struct BenchArgs {
    #[command(flatten)]
    pub(crate) module: ModuleArgs,
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    /// How long to measure, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = parse_seconds)]
    pub(crate) time: f64,
    /// Also times each kernel, and in the first call too, when drivers compile.
    #[arg(long)]
    pub(crate) profile: bool,
    /// Prints JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `weftile report`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
The page is one file that needs nothing else: any browser shows it.

Examples:
  weftile report examples/fashion_mnist/mlp.py --shape x=256x784 --params examples/fashion_mnist/weights.safetensors
  weftile report model.onnx --dim batch=1 --device gpu -o model.html
  weftile report model.onnx --dim batch=1 --json")]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) module: ModuleArgs,
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    /// Where to write the page.
    #[arg(short, long, value_name = "FILE.html", default_value = "report.html")]
    pub(crate) output: PathBuf,
    /// Prints what the page shows as JSON, and writes no page.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `weftile diff`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Devices are cpu, gpu, interp (the interpreter that all tests compare with), or part of the name of a GPU.

Examples:
  weftile diff examples/fashion_mnist/mlp.py --shape x=7x784 --params examples/fashion_mnist/weights.safetensors --device cpu --device gpu
  weftile diff examples/fashion_mnist/mlp.py --shape x=2x784 --params examples/fashion_mnist/weights.safetensors --device interp --device cpu")]
pub(crate) struct DiffArgs {
    #[command(flatten)]
    pub(crate) module: ModuleArgs,
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    /// A device; twice, the first one is the reference.
    #[arg(long = "device", value_name = "DEVICE", value_parser = parse_device, required = true)]
    pub(crate) devices: Vec<String>,
    /// Let `--device gpu` take an adapter that runs on the CPU (lavapipe, WARP).
    #[arg(long)]
    pub(crate) allow_software: bool,
    /// Prints JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Fails if an option gives a name twice: one of both values would have to be passed over.
pub(crate) fn check_once<T>(option: &'static str, given: &[(String, T)]) -> Result<(), CliError> {
    let mut names = given.iter().map(|(name, _)| name).enumerate();
    let twice = names.find(|(at, name)| given[..*at].iter().any(|(other, _)| other == *name));
    twice.map_or(Ok(()), |(_, name)| {
        Err(CliError::GivenTwice {
            param: name.clone(),
            first: option,
            second: option,
        })
    })
}

impl InputArgs {
    /// Fails if something is given twice: one of both would have to be passed over. Made-up numbers may have a shape.
    pub(crate) fn check(&self) -> Result<(), CliError> {
        check_once("--input", &self.inputs)?;
        let files = self
            .inputs
            .iter()
            .filter(|(_, file)| file.as_os_str() != RANDOM);
        let inputs = files.map(|(name, _)| (name, "--input"));
        let shapes = self.shapes.iter().map(|(name, _)| (name, "--shape"));
        let given: Vec<_> = inputs.chain(shapes).collect();
        for (at, (name, second)) in given.iter().enumerate() {
            if let Some((_, first)) = given[..at].iter().find(|(other, _)| other == name) {
                return Err(CliError::GivenTwice {
                    param: (*name).clone(),
                    first,
                    second,
                });
            }
        }
        Ok(())
    }
}

/// The name of a device; an empty one would be part of every name.
fn parse_device(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("expected auto, cpu, gpu, or part of the name of a GPU".to_owned()),
        name => Ok(name.to_owned()),
    }
}

/// A symbolic size and its value.
fn parse_size(text: &str) -> Result<(String, i64), String> {
    let wrong = || "expected a name and a size, as n=256".to_owned();
    let (name, size) = text.split_once('=').ok_or_else(wrong)?;
    let size = size.trim().parse().ok().filter(|size| *size >= 0);
    Ok((name.trim().to_owned(), size.ok_or_else(wrong)?))
}

/// Seconds to measure, a day at most.
fn parse_seconds(text: &str) -> Result<f64, String> {
    const DAY: f64 = 86_400.0;
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..=DAY).contains(&seconds) => Ok(seconds),
        _ => Err(format!("expected a number of seconds, from 0 to {DAY}")),
    }
}

/// `NAME=FILE`.
fn parse_input(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, file)) if !name.is_empty() && !file.is_empty() => {
            Ok((name.to_owned(), file.into()))
        }
        _ => Err("expected NAME=FILE, or NAME=random".to_owned()),
    }
}

/// `NAME=2x3`; `NAME=` is a scalar.
fn parse_dim(text: &str) -> Result<(String, i64), String> {
    let wanted = || "write NAME=N, as batch=4".to_owned();
    let (name, extent) = text.split_once('=').ok_or_else(wanted)?;
    let extent: i64 = extent.parse().map_err(|_| wanted())?;
    match extent < 0 {
        true => Err("an extent is no less than 0".to_owned()),
        false => Ok((name.to_owned(), extent)),
    }
}

fn parse_shape(text: &str) -> Result<(String, Vec<usize>), String> {
    let expected = || "expected NAME=DIMS, as x=1x784".to_owned();
    let (name, dims) = text.split_once('=').ok_or_else(expected)?;
    if name.is_empty() {
        return Err(expected());
    }
    if dims.is_empty() {
        return Ok((name.to_owned(), Vec::new()));
    }
    let dims: Result<Vec<usize>, _> = dims.split(['x', ',']).map(str::parse).collect();
    Ok((name.to_owned(), dims.map_err(|_| expected())?))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn seconds_and_devices_parse() {
        assert_eq!(parse_seconds("0.5"), Ok(0.5));
        assert_eq!(parse_seconds("0"), Ok(0.0));
        for wrong in ["nan", "inf", "1e300", "-1", "soon", ""] {
            assert!(parse_seconds(wrong).is_err(), "{wrong}");
        }
        assert_eq!(parse_device(" gpu"), Ok("gpu".to_owned()));
        assert!(parse_device("").is_err() && parse_device("  ").is_err());
    }

    #[test]
    fn what_is_given_twice_is_refused() {
        let said = |inputs: &[&str], shapes: &[&str]| {
            let inputs = inputs.iter().map(|text| parse_input(text));
            let shapes = shapes.iter().map(|text| parse_shape(text));
            let args = InputArgs {
                inputs: inputs.collect::<Result<_, _>>().expect("inputs"),
                shapes: shapes.collect::<Result<_, _>>().expect("shapes"),
            };
            args.check().map_err(|error| error.to_string())
        };
        assert_eq!(said(&["x=a.npy", "y=b.npy"], &["z=1", "n=2"]), Ok(()));
        let twice = |first: &str, second: &str| {
            Err(format!(
                "parameter `x` is given twice, by {first} and by {second}"
            ))
        };
        assert_eq!(
            said(&["x=a.npy", "x=b.npy"], &[]),
            twice("--input", "--input")
        );
        assert_eq!(
            said(&["x=random", "x=b.npy"], &[]),
            twice("--input", "--input")
        );
        assert_eq!(said(&["x=random"], &["x=1"]), Ok(()));
        assert_eq!(said(&["x=a.npy"], &["x=1"]), twice("--input", "--shape"));
        assert_eq!(said(&[], &["x=1", "x=1"]), twice("--shape", "--shape"));
    }

    #[test]
    fn shapes_and_inputs_parse() {
        assert_eq!(parse_shape("x=1x784"), Ok(("x".to_owned(), vec![1, 784])));
        assert_eq!(parse_shape("x=1,784"), Ok(("x".to_owned(), vec![1, 784])));
        assert_eq!(parse_shape("s="), Ok(("s".to_owned(), vec![])));
        for wrong in ["x", "=1", "x=1x", "x=-1", "x=a"] {
            assert!(parse_shape(wrong).is_err(), "{wrong}");
        }
        assert_eq!(
            parse_input("x=a=b.npy"),
            Ok(("x".to_owned(), "a=b.npy".into()))
        );
        assert!(parse_input("x.npy").is_err());
    }
}
