//! What may go wrong for a user of the command.

use std::fmt;
use std::io;
use std::path::PathBuf;

use super::args::Stage;
use super::demo::DataError;
use super::image::ImageFault;
use crate::artifact::ArtifactError;
use crate::codegen_cpu::CodegenError;
use crate::codegen_wgsl::WgslError;
use crate::explain::ExplainError;
use crate::frontend::onnx::OnnxError;
use crate::frontend::{LoadError, SafetensorsError, SaveError};
use crate::interp::InterpError;
use crate::ir::Origin;
use crate::passes::PassError;
use crate::runtime_gpu::GpuError;
use crate::script::ScriptErrors;
use crate::script::picture::layered::DrawError;
use crate::session::SessionError;
use crate::tensor::{DType, TensorError};
use crate::vm::VmError;

/// Something given to the command is wrong, or the machine cannot do it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// A file that cannot be read or loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A file that cannot be written.
    #[error(transparent)]
    Save(#[from] SaveError),
    /// A folder that cannot be made.
    #[error("cannot make the folder {}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file for a parameter that cannot be read.
    #[error("parameter `{param}`: {source}")]
    Input {
        /// The parameter.
        param: String,
        /// What is wrong with the file.
        source: Box<LoadError>,
    },
    /// A file where results are written in a folder.
    #[error("--output {} is a file; it must be a folder, which gets a file for each result", path.display())]
    OutputIsFile {
        /// The file.
        path: PathBuf,
    },
    /// A folder where one file is written.
    #[error("--output {} is a folder; it must be the file that is written", path.display())]
    OutputIsFolder {
        /// The folder.
        path: PathBuf,
    },
    /// The interpreter, where times are asked for.
    #[error(
        "compiled programs are timed, and the interpreter compiles nothing; use --device cpu or gpu"
    )]
    InterpreterTimed,
    /// The GPU cannot be used.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// The only adapter runs on the CPU, and that was not asked for.
    #[error(
        "the only adapter is `{name}`, which runs on the CPU; --allow-software uses it all the same"
    )]
    OnlySoftware {
        /// The adapter.
        name: String,
    },
    /// The model cannot be imported.
    #[error(transparent)]
    Onnx(#[from] OnnxError),
    /// `check` found something.
    #[error("{file} does not run on {target}: {}", match problems { 1 => "1 thing stands in the way".to_owned(), n => format!("{n} things stand in the way") })]
    WillNotRun {
        /// The program.
        file: String,
        /// The kind of device.
        target: &'static str,
        /// How many.
        problems: usize,
    },
    /// A compiled program cannot be written.
    #[error(transparent)]
    Artifact(Box<ArtifactError>),
    /// A compiled program cannot be read.
    #[error("cannot load {}", path.display())]
    LoadCompiled {
        /// The file.
        path: PathBuf,
        /// Why.
        source: Box<ArtifactError>,
    },
    /// Weights that a program was compiled without.
    #[error("weights are missing: {}; --params brings them, from the .onnx file of the model or from a file of tensors by name", names.join(", "))]
    NoWeights {
        /// Their names.
        names: Vec<String>,
    },
    /// A compiled program, where one is needed that is not.
    #[error(
        "{} is compiled; only run and bench take such a file, on the kind of device it was compiled for: give the model or the text that it was made of", path.display()
    )]
    Compiled {
        /// The file.
        path: PathBuf,
    },
    /// `--params` for a compiled program that has its weights.
    #[error("{} has its weights; --params is for files that were compiled with --no-weights", path.display())]
    HasWeights {
        /// The file.
        path: PathBuf,
    },
    /// `--no-weights` for a program that is no model.
    #[error("--no-weights is for ONNX models; {} has its weights as parameters, which nothing binds without --params", path.display())]
    NoModel {
        /// The file.
        path: PathBuf,
    },
    /// The weights of a model are missing, or do not fit.
    #[error(transparent)]
    Session(Box<SessionError>),
    /// A program that is no text.
    #[error("{} is no text: models end in .onnx, compiled programs in .weft", path.display())]
    NoText {
        /// The file.
        path: PathBuf,
    },
    /// A picture that is no input.
    #[error("{} cannot be `{param}`", path.display())]
    Image {
        /// The file.
        path: PathBuf,
        /// The parameter.
        param: String,
        /// Why not.
        #[source]
        fault: ImageFault,
    },
    /// A file of several tensors without the one that is wanted.
    #[error("{} has no tensor `{param}`; it has: {}", path.display(), names.join(", "))]
    NotInFile {
        /// The file.
        path: PathBuf,
        /// The parameter.
        param: String,
        /// The names that there are.
        names: Vec<String>,
    },
    /// `--dim` for a program that is no model.
    #[error("--dim is for ONNX models; a program's symbolic extents are said with --shape NAME=N")]
    DimsOfText,
    /// Shapes of inputs are said of a program that is no model, and that nothing is run of.
    #[error(
        "--shape is for ONNX models here; the shapes of a TVMScript program are those in its text"
    )]
    ShapesOfText,
    /// A graph that cannot be drawn.
    #[error(transparent)]
    Draw(#[from] DrawError),
    /// The program text is wrong; the message shows the lines.
    #[error("{}", .0.to_string().trim_end())]
    Script(#[from] ScriptErrors),
    /// A pass refuses the module.
    #[error(transparent)]
    Pass(Box<PassError>),
    /// The compiler refuses the module.
    #[error(transparent)]
    Compile(Box<crate::pipeline::Error>),
    /// A shader cannot be translated.
    #[error(transparent)]
    Wgsl(Box<WgslError>),
    /// Native code cannot be made.
    #[error(transparent)]
    Codegen(Box<CodegenError>),
    /// The call failed.
    #[error(transparent)]
    Vm(Box<VmError>),
    /// The interpreter failed.
    #[error(transparent)]
    Interp(Box<InterpError>),
    /// A tensor cannot be made or read.
    #[error(transparent)]
    Tensor(#[from] TensorError),
    /// The test set cannot be had.
    #[error(transparent)]
    Data(Box<DataError>),
    /// The weights in this program are damaged.
    #[error("the weights in this program")]
    Embedded(#[from] SafetensorsError),
    /// The weights are not those of the demo's network.
    #[error(
        "expected the weights w0 [n, 784], b0 [n], w1 [10, n], b1 [10], found {}",
        found.join(", ")
    )]
    Weights {
        /// What there is.
        found: Vec<String>,
    },
    /// A function gave another number of tensors than it should.
    #[error("expected one tensor as the result, got {count}")]
    Results {
        /// How many came.
        count: usize,
    },
    /// The module has no such function.
    #[error("there is no function `{name}`; there are: {}", functions.join(", "))]
    NoFunction {
        /// The name.
        name: String,
        /// The functions of the module.
        functions: Vec<String>,
    },
    /// The function has no such parameter.
    #[error("there is no parameter `{name}`{}", listed(params))]
    NoSuchParam {
        /// The name.
        name: String,
        /// The parameters.
        params: Vec<String>,
    },
    /// A parameter that the command line cannot give.
    #[error(
        "parameter `{param}` is no tensor; the command line gives only tensors and, to loop programs, numbers"
    )]
    NotATensor {
        /// The parameter.
        param: String,
    },
    /// A scalar parameter of a loop program without a number.
    #[error(
        "parameter `{param}` is a number of type {dtype}{}",
        wanted_number(param, text)
    )]
    NotANumber {
        /// The parameter.
        param: String,
        /// Its type.
        dtype: DType,
        /// What was said; empty if nothing.
        text: String,
    },
    /// With the numbers that are said of the scalar parameters, a buffer has less than no elements.
    #[error(
        "the numbers that are said of the scalar parameters give `{param}` the extent {extent}"
    )]
    NegativeExtent {
        /// The buffer.
        param: String,
        /// Its extent.
        extent: i64,
    },
    /// A parameter was not given, and its shape does not follow from the others.
    #[error(
        "parameter `{param}` needs --input {param}=FILE.npy or --shape {param}=DIMS: {dims} is not known"
    )]
    NoInput {
        /// The parameter.
        param: String,
        /// What is not known of it.
        dims: String,
    },
    /// The shape that is said of a result is none that it can have.
    #[error("the shape of `{param}` is ({}), which {said:?} is not", shape.join(", "))]
    OutputShape {
        /// The parameter.
        param: String,
        /// Its extents.
        shape: Vec<String>,
        /// What is said.
        said: Vec<usize>,
    },
    /// A loop program without results.
    #[error("loop program `{func}` writes none of its parameters")]
    NoOutput {
        /// The loop program.
        func: String,
    },
    /// A loop program with a parameter that a graph function cannot pass.
    #[error(
        "the extent {extent} of parameter `{param}` has no meaning outside of its loop program"
    )]
    Extent {
        /// The parameter.
        param: String,
        /// The extent.
        extent: String,
    },
    /// A parameter that is given twice.
    #[error("parameter `{param}` is given twice, by {first} and by {second}")]
    GivenTwice {
        /// The parameter, or the symbolic dimension.
        param: String,
        /// How it is given first.
        first: &'static str,
        /// How it is given again.
        second: &'static str,
    },
    /// A symbolic extent that is given two values.
    #[error("`{dim}` is {said} by --shape {dim}={said}, and {extent} by the shape of `{param}`")]
    Contradiction {
        /// The extent.
        dim: String,
        /// The value given for its name.
        said: usize,
        /// The parameter whose shape has it.
        param: String,
        /// The value there.
        extent: usize,
    },
    /// `diff` was not given two devices.
    #[error("diff compares two devices (--device a --device b), {given} given")]
    TwoDevices {
        /// How many.
        given: usize,
    },
    /// Two devices differ.
    #[error("{device} differs from {reference}, first in `{value}`, computed by {by}{}{blame}", origin.from())]
    Differ {
        /// The first device.
        reference: String,
        /// The second device.
        device: String,
        /// The first value that differs.
        value: String,
        /// What computes it.
        by: String,
        /// Where it comes from.
        origin: Box<Origin>,
        /// Which of its operators.
        blame: Blame,
    },
    /// A stage that another target has.
    #[error("the stage {stage} is of --target {target}")]
    StageNeeds {
        /// The stage.
        stage: Stage,
        /// The target that has it.
        target: &'static str,
    },
    /// Sizes that nothing says.
    #[error("what `{what}` takes depends on its sizes; give them as --size {}", sizes.iter().map(|name| format!("{name}=…")).collect::<Vec<_>>().join(" --size "))]
    OpenSizes {
        /// The function, or the file.
        what: String,
        /// The symbolic sizes without values.
        sizes: Vec<String>,
    },
    /// Sizes for which the kernels of a loop program were not made.
    #[error("`{func}` does not run on this target for these sizes: {why}")]
    BeyondTarget {
        /// The loop program.
        func: String,
        /// What is not so.
        why: String,
    },
    /// A kernel whose cost cannot be counted.
    #[error(transparent)]
    Explain(#[from] ExplainError),
    /// A size that no function has.
    #[error("no function has a size `{name}`; there are: {}", if known.is_empty() { "none".to_owned() } else { known.join(", ") })]
    UnknownSize {
        /// The name.
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// Memory of more bytes than can be counted.
    #[error("`{func}` takes more memory for these sizes than 2^63 bytes")]
    Uncountable {
        /// The function.
        func: String,
    },
    /// The module has nothing of the kind.
    #[error("the module has nothing to show at the stage {stage}")]
    NothingToShow {
        /// The stage.
        stage: Stage,
    },
    /// A variable of the environment is wrong.
    #[error("{name} is `{value}`, expected {expected}")]
    Variable {
        /// The variable.
        name: &'static str,
        /// Its value, or the part of it that is wrong.
        value: String,
        /// What would do.
        expected: String,
    },
    /// The output is gone or full.
    #[error("cannot write the output")]
    Output(#[from] io::Error),
}

/// Large errors are boxed, so that results stay small.
macro_rules! boxed {
    ($($variant:ident($error:ty)),*) => { $(
        impl From<$error> for CliError {
            fn from(error: $error) -> Self {
                Self::$variant(Box::new(error))
            }
        }
    )* };
}
boxed!(
    Pass(PassError),
    Session(SessionError),
    Artifact(ArtifactError),
    Compile(crate::pipeline::Error),
    Wgsl(WgslError),
    Codegen(CodegenError)
);
boxed!(Vm(VmError), Interp(InterpError), Data(DataError));

/// Which operator of a kernel differs by itself.
#[derive(Debug)]
pub(crate) enum Blame {
    /// It has only one.
    Single,
    /// None: what was made of them differs.
    Fusion,
    /// The first of those that do comes from here.
    Operator(Box<Origin>),
}

impl fmt::Display for Blame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Single => Ok(()),
            Self::Fusion => {
                f.write_str("\n  each of its operators by itself agrees: the fusion is to blame")
            }
            Self::Operator(origin) => {
                write!(f, "\n  by itself, the first to differ is from {origin}")
            }
        }
    }
}

/// Exit code of an error in what was given.
const WRONG_INPUT: u8 = 1;
/// Exit code of arguments that do not go together, as of those that cannot be read.
const WRONG_USAGE: u8 = 2;

/// Exit code after a bug in weftile (`EX_SOFTWARE` of sysexits.h).
pub(crate) const BUG: u8 = 70;

impl CliError {
    /// The exit code of the command.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::TwoDevices { .. }
            | Self::GivenTwice { .. }
            | Self::Contradiction { .. }
            | Self::StageNeeds { .. } => WRONG_USAGE,
            Self::Compile(error) if error.is_bug() => BUG,
            Self::Session(error) if matches!(&**error, SessionError::Compile(e) if e.is_bug()) => {
                BUG
            }
            Self::Wgsl(error) if matches!(**error, WgslError::Invalid { .. }) => BUG,
            _ => WRONG_INPUT,
        }
    }

    /// Whether the reader of our output has gone: no reason to complain.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

/// What a message about a number ends with.
fn wanted_number(param: &str, text: &str) -> String {
    match text {
        "" => format!(": say it with --input {param}=NUMBER"),
        text => format!(", which `{text}` is not"),
    }
}

/// The parameters that there are, behind a name that is none of them.
fn listed(params: &[String]) -> String {
    match params {
        [] => "; nothing is to be given".to_owned(),
        params => format!("; there are: {}", params.join(", ")),
    }
}
