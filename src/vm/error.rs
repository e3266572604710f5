//! Why a call failed.

use std::sync::Arc;

use crate::artifact::{BytecodeError, ErrorContext, Pc};
use crate::kernel::Target;
use crate::runtime::{PackedError, RegistryError};
use crate::tensor::scalar::EvalError;
use crate::tensor::{DType, TensorError};

/// Why a machine could not be made, or a call did not give a result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VmError {
    /// The bytecode is not valid.
    #[error("bytecode: {0}")]
    Bytecode(#[from] BytecodeError),
    /// The executable was compiled for another kind of device.
    #[error("the executable was compiled for {target}, not for {device}")]
    Target {
        /// What it was compiled for.
        target: &'static str,
        /// The device.
        device: String,
    },
    /// The program was built without the back end that the device needs.
    #[error("this program was built without the feature `{0}`")]
    NotBuilt(&'static str),
    /// The processor does not run the code of this back end.
    #[error("this processor does not run code by {0}")]
    NotHere(&'static str),
    /// The executable has no such function.
    #[error("there is no function `{name}`; there are: {}", .functions.join(", "))]
    NoFunction {
        /// The name.
        name: String,
        /// The functions that there are.
        functions: Vec<String>,
    },
    /// The wrong number of arguments.
    #[error("`{func}` takes {} ({}), got {given}", count(.params.len()), .params.join(", "))]
    Arity {
        /// The function.
        func: String,
        /// Its parameters.
        params: Vec<String>,
        /// How many arguments were given.
        given: usize,
    },
    /// A name that no parameter has.
    #[error("`{func}` has no parameter `{name}`; it takes {}", .params.join(", "))]
    UnknownArgument {
        /// The function.
        func: String,
        /// The name.
        name: String,
        /// Its parameters.
        params: Vec<String>,
    },
    /// Two arguments by the name of one parameter.
    #[error("`{func}` was given two arguments named `{name}`")]
    RepeatedArgument {
        /// The function.
        func: String,
        /// The parameter.
        name: String,
    },
    /// Parameters without an argument.
    #[error("`{func}` was given no argument for {}", .missing.join(", "))]
    MissingArguments {
        /// The function.
        func: String,
        /// The parameters.
        missing: Vec<String>,
    },
    /// A call is to be saved under the name of a function.
    #[error("a call cannot be saved as `{0}`, which is a function of the executable")]
    NameTaken(String),
    /// A stateful call without arguments.
    #[error("no inputs are set for `{0}` (`VirtualMachine::set_input`)")]
    NoInputs(String),
    /// No stateful call was made, or it failed.
    #[error("there are no outputs of `{0}`: call it first (`VirtualMachine::invoke_stateful`)")]
    NoOutputs(String),
    /// A call inside a function failed that its author would look for.
    #[error("{source}\n  from {origin}")]
    From {
        /// Where the call comes from, as `line 12: …`.
        origin: String,
        /// Why it failed.
        source: Box<Self>,
    },
    /// A dimension is not what the program says.
    #[error(
        "{}dimension {dim} of {} must be {}, got {given}{}",
        place(.context),
        subject(.context),
        wanted(.context, *.dim, *.expected),
        declared(.context)
    )]
    Dimension {
        /// Which value, and what it must be.
        context: Box<ErrorContext>,
        /// Position of the dimension.
        dim: usize,
        /// What it must be.
        expected: i64,
        /// What it is.
        given: i64,
    },
    /// A scalar is not what the program says.
    #[error("{}{}, got {given}", place(.context), asked(.context, *.expected))]
    Scalar {
        /// Which value, and what it must be.
        context: Box<ErrorContext>,
        /// What it must be.
        expected: i64,
        /// What it is.
        given: i64,
    },
    /// A value has another number of dimensions or elements than the program says.
    #[error(
        "{}{} must have {expected} {what}, got {given}{}",
        place(.context),
        subject(.context),
        declared(.context)
    )]
    Count {
        /// Which value, and what it must be.
        context: Box<ErrorContext>,
        /// What is counted.
        what: &'static str,
        /// What it must be.
        expected: usize,
        /// What it is.
        given: usize,
    },
    /// A tensor has another element type than the program says.
    #[error(
        "{}{} must be of {expected}, got {given}{}",
        place(.context),
        subject(.context),
        declared(.context)
    )]
    DType {
        /// Which value, and what it must be.
        context: Box<ErrorContext>,
        /// What it must be.
        expected: DType,
        /// What it is.
        given: DType,
    },
    /// A value is of another kind than the program says.
    #[error(
        "{}{} must be {expected}, got {given}{}",
        place(.context),
        subject(.context),
        declared(.context)
    )]
    Kind {
        /// Which value, and what it must be.
        context: Box<ErrorContext>,
        /// What it must be.
        expected: &'static str,
        /// What it is.
        given: &'static str,
    },
    /// A value inside the program is of another kind than the instruction takes.
    #[error("`{func}`, instruction {pc}: expected {expected}, got {given}")]
    Register {
        /// The function.
        func: String,
        /// The instruction.
        pc: Pc,
        /// What the instruction takes.
        expected: &'static str,
        /// What it got.
        given: &'static str,
    },
    /// A dimension of a tensor handed to a loop program is not what that program says.
    #[error("`{kernel}`: {what} of `{param}` must be {expected}, got {given}")]
    KernelArgument {
        /// The loop program.
        kernel: String,
        /// The parameter.
        param: String,
        /// What about it, as `dimension 1`.
        what: String,
        /// What it must be.
        expected: String,
        /// What it is.
        given: String,
    },
    /// An argument that the device does not take.
    #[error("parameter `{param}` of `{func}`: {source}")]
    ToDevice {
        /// The function.
        func: String,
        /// The parameter.
        param: String,
        /// Why.
        source: Box<VmError>,
    },
    /// An `assert` of a loop program does not hold.
    #[error("`{kernel}`: assertion failed: {message}")]
    Assertion {
        /// The loop program.
        kernel: String,
        /// Its message.
        message: String,
    },
    /// A fact that a loop program was compiled for does not hold.
    #[error("`{kernel}`: {what} must be at most {limit}, is {value}")]
    Requirement {
        /// The loop program.
        kernel: String,
        /// What must be small enough.
        what: String,
        /// The largest value.
        limit: i64,
        /// The value.
        value: i64,
    },
    /// The handle of a function of another machine.
    #[error(
        "the function handle is of another machine: handles are found anew in each (`VirtualMachine::function`)"
    )]
    ForeignFunction,
    /// A closure that another machine made.
    #[error(
        "the closure of `{0}` was made by another machine: only a closure of this machine can be called"
    )]
    ForeignClosure(Arc<str>),
    /// Something else in the place of a closure.
    #[error("expected a closure, got {0}")]
    NoClosure(&'static str),
    /// A number is outside the range that a loop program was compiled for.
    #[error("`{kernel}`: {what} must be between {least} and {most}, is {value}")]
    OutOfRange {
        /// The loop program.
        kernel: String,
        /// The dim, or the value computed from dims.
        what: String,
        /// The smallest value.
        least: i64,
        /// The largest value.
        most: i64,
        /// The value.
        value: i64,
    },
    /// Memory for a tensor whose size is negative, or too large to be counted.
    #[error(
        "`{func}`: a tensor would take {} bytes: {}",
        bytes.map_or_else(|| "more than 2^63".to_owned(), |bytes| bytes.to_string()),
        if bytes.is_some() { "one of its extents is negative" } else { "its extents are too large" }
    )]
    Storage {
        /// The function.
        func: String,
        /// Its bytes, if they can be counted.
        bytes: Option<i64>,
    },
    /// A tensor larger than the memory that is planned for it.
    #[error(
        "`{func}`: a tensor takes {needed} bytes and its memory is planned for {planned}: an extent is beyond the bound that the \
         function declares"
    )]
    BeyondPlan {
        /// The function.
        func: String,
        /// Bytes of the tensor.
        needed: usize,
        /// Bytes of its memory.
        planned: usize,
    },
    /// A tensor that would start where its elements are not aligned.
    #[error("`{func}`: a tensor cannot start at byte {offset} of its memory")]
    Misplaced {
        /// The function.
        func: String,
        /// Where it would start.
        offset: usize,
    },
    /// A computed dimension is negative or does not exist.
    #[error("`{func}`: a shape has the dimension {given}")]
    NegativeDimension {
        /// The function.
        func: String,
        /// The dimension.
        given: i64,
    },
    /// A tensor cannot be made or written.
    #[error("`{func}`: {source}")]
    Tensor {
        /// The function or loop program.
        func: String,
        /// Why.
        source: TensorError,
    },
    /// Arithmetic on dimensions failed.
    #[error("`{func}`: {source}")]
    Eval {
        /// The function or loop program.
        func: String,
        /// Why.
        source: EvalError,
    },
    /// A packed function is not registered.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// A packed function failed.
    #[error("packed function `{name}` failed: {source}")]
    Packed {
        /// Its name.
        name: String,
        /// What it failed with.
        source: PackedError,
    },
    /// Calls are nested too deeply.
    #[error("calls are nested more than {0} deep")]
    Recursion(usize),
    /// A closure called with a wrong number of arguments.
    #[error("the closure `{func}` takes {expected} arguments, {given} given")]
    ClosureArguments {
        /// Its function.
        func: String,
        /// How many it takes.
        expected: usize,
        /// How many were given.
        given: usize,
    },
    /// The executable has no shaders for a lowered function.
    #[error("`{0}` has no shader for each of its kernels")]
    NoShader(String),
    /// Native code could not be made.
    #[cfg(feature = "cpu")]
    #[error(transparent)]
    Native(Arc<crate::codegen_cpu::CodegenError>),
    /// A kernel was not launched.
    #[cfg(feature = "cpu")]
    #[error(transparent)]
    Launch(crate::runtime_cpu::LaunchError),
    /// The GPU failed.
    #[cfg(feature = "gpu")]
    #[error(transparent)]
    Gpu(#[from] crate::runtime_gpu::GpuError),
}

impl VmError {
    /// The error without where it comes from.
    pub fn root(&self) -> &Self {
        match self {
            Self::From { origin: _, source } => source.root(),
            other => other,
        }
    }

    /// Whether the message says already which line of the program it is about.
    pub(super) fn says_where(&self) -> bool {
        matches!(self, Self::From { .. })
    }

    /// The error, of what comes from there.
    pub(super) fn located(self, origin: &str) -> Self {
        Self::From {
            origin: origin.to_owned(),
            source: Box::new(self),
        }
    }

    /// The error, of what copies the argument of a function to the device.
    pub(super) fn of_argument(self, func: &str, param: &str) -> Self {
        Self::ToDevice {
            func: func.to_owned(),
            param: param.to_owned(),
            source: Box::new(self),
        }
    }

    pub(super) fn target(target: &Target, device: &impl ToString) -> Self {
        Self::Target {
            target: match target {
                Target::Cpu(_) => "the CPU",
                Target::Gpu(_) => "a GPU",
            },
            device: device.to_string(),
        }
    }
}

fn count(params: usize) -> String {
    match params {
        1 => "1 argument".to_owned(),
        n => format!("{n} arguments"),
    }
}

/// The function, as the beginning of a message.
fn place(context: &ErrorContext) -> String {
    match context.func.as_str() {
        "" => String::new(),
        func => format!("`{func}`: "),
    }
}

/// What a message is about: a parameter, or an element of one, the result, or a value.
fn subject(context: &ErrorContext) -> String {
    let ErrorContext {
        location, value, ..
    } = context;
    if let Some((_, element)) = location
        .strip_prefix("param[")
        .and_then(|l| l.split_once(']'))
    {
        return match element {
            "" => format!("parameter `{value}`"),
            element => format!("element {element} of parameter `{value}`"),
        };
    }
    match (location.as_str(), value.as_str()) {
        ("return", "" | "result") => "the result".to_owned(),
        ("return", value) => format!("the result `{value}`"),
        (_, "") => "a value".to_owned(),
        (_, value) => format!("`{value}`"),
    }
}

/// What the program says of the value, as the end of a message; or what somebody else wrote there.
fn declared(context: &ErrorContext) -> String {
    match context.annotation.as_str() {
        "" => String::new(),
        annotation if annotation.starts_with("R.") => format!(" (declared as {annotation})"),
        text => format!(" ({text})"),
    }
}

/// What a scalar must be. The name of a check of an operator says that already (`R.matmul (…): m must be n`), but for the number.
fn asked(context: &ErrorContext, expected: i64) -> String {
    let name = &context.value;
    if name.chars().all(|c| c.is_alphanumeric() || c == '_') {
        let wanted = wanted(context, 0, expected);
        return format!("{} must be {wanted}", subject(context));
    }
    match context.dims.first() {
        Some(text) if text.parse::<i64>().is_err() => format!("{name} = {expected}"),
        _ => name.clone(),
    }
}

/// `4`, or `n = 3` for a dimension that is written as an expression.
fn wanted(context: &ErrorContext, dim: usize, expected: i64) -> String {
    match context.dims.get(dim) {
        Some(text) if text.parse::<i64>().is_err() => format!("{text} = {expected}"),
        _ => expected.to_string(),
    }
}

impl VmError {
    /// The error, said of this function where it was said of a tensor only.
    pub(super) fn in_func(self, name: &str) -> Self {
        match self {
            Self::Tensor { func: _, source } => Self::Tensor {
                func: name.to_owned(),
                source,
            },
            other => other,
        }
    }
}
