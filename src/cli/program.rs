//! From a file to a machine that runs it.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use indexmap::IndexMap;

use super::args::{InputArgs, ModuleArgs, check_once};
use super::device::Chosen;
use super::entry::Code;
use super::environment::Environment;
use super::error::CliError;
use super::terminal::Progress;
use crate::artifact::{Executable, Signature};
use crate::frontend::onnx::{self, ImportOptions, Model};
use crate::frontend::{LoadError, load_params};
use crate::interp;
use crate::ir::Module;
use crate::passes::bind_params;
use crate::pipeline;
use crate::runtime::{Closure, Device, Value};
use crate::script;
use crate::session::{SessionError, prepared_weights};
use crate::tensor::Tensor;
use crate::tensor::scalar::Scalar;
use crate::vm::VirtualMachine;

/// Whether a file has this ending.
pub(crate) fn ends_in(file: &Path, ending: &str) -> bool {
    let own = file.extension();
    own.is_some_and(|own| own.eq_ignore_ascii_case(ending))
}

/// Reads a module: TVMScript, or an ONNX model, which is imported for the shapes of its inputs that are said.
pub(crate) fn read(args: &ModuleArgs, inputs: &InputArgs) -> Result<Module, CliError> {
    if ends_in(&args.file, "onnx") {
        return Ok(import(args, inputs)?.module);
    }
    if ends_in(&args.file, "weft") {
        return Err(CliError::Compiled {
            path: args.file.clone(),
        });
    }
    if !args.dims.is_empty() {
        return Err(CliError::DimsOfText);
    }
    let bytes = std::fs::read(&args.file).map_err(|source| LoadError::Read {
        path: args.file.clone(),
        source,
    })?;
    let text = String::from_utf8(bytes).map_err(|_| CliError::NoText {
        path: args.file.clone(),
    })?;
    Ok(script::parse(&args.file.display().to_string(), &text)?)
}

/// Imports an ONNX model.
pub(crate) fn import(args: &ModuleArgs, inputs: &InputArgs) -> Result<Model, CliError> {
    check_once("--dim", &args.dims)?;
    let names = match inputs.shapes.is_empty() {
        true => vec![],
        false => onnx::input_names_of(&args.file)?,
    };
    // A symbolic extent that --dim fixes is none any more, so a second value for it would be for a name that there is not.
    let fixed = |name: &str| args.dims.iter().any(|(dim, _)| dim == name);
    let again = inputs
        .shapes
        .iter()
        .find(|(name, _)| fixed(name) && !names.contains(name));
    if let Some((name, _)) = again {
        return Err(CliError::GivenTwice {
            param: name.clone(),
            first: "--dim",
            second: "--shape",
        });
    }
    let _progress = Progress::new("read the model");
    let extent = |&dim: &usize| i64::try_from(dim).unwrap_or(i64::MAX);
    let shapes = inputs
        .shapes
        .iter()
        .filter(|(name, _)| names.contains(name));
    let shapes = shapes.map(|(name, shape)| (name.clone(), shape.iter().map(extent).collect()));
    let options = ImportOptions {
        dims: args.dims.iter().cloned().collect(),
        shapes: shapes.collect(),
        ..ImportOptions::default()
    };
    let model = onnx::load(&args.file, &options)?;
    for note in &model.notes {
        log::warn!("{}: {note}", args.file.display());
    }
    Ok(model)
}

/// Binds weights to parameters of a function, if some are given.
pub(crate) fn bind(module: Module, func: &str, args: &ModuleArgs) -> Result<Module, CliError> {
    match &args.params {
        Some(path) => Ok(bind_params(&module, func, &load_params(path)?)?),
        None => Ok(module),
    }
}

/// A module made ready to run.
pub(crate) struct Program {
    /// The machine.
    pub(crate) vm: VirtualMachine,
    /// What it takes after its inputs.
    weights: Vec<Value>,
    /// By loop program: the schedule rules that took its blocks.
    pub(crate) rules: IndexMap<String, String>,
    /// How long the compiler took.
    pub(crate) compile: Duration,
    /// How long the device took to accept the code.
    pub(crate) load: Duration,
}

impl Program {
    /// Loads what a verb calls on a device; a module is compiled for it, and its weights as they were read go.
    pub(crate) fn of(
        code: Code,
        chosen: &Chosen,
        environment: &Environment,
    ) -> Result<Self, CliError> {
        match code {
            Code::Module(module) => Self::new(&module, chosen, environment),
            Code::Executable(executable, weights) => {
                let rules = IndexMap::new();
                let compile = Duration::ZERO;
                let mut program = Self::loaded(executable, chosen, rules, compile, environment)?;
                let weights = program.timed(environment, "weights", |program| {
                    prepared_weights(&mut program.vm, &weights)
                });
                program.weights = weights.map_err(|error| match error {
                    SessionError::Weights(names) => CliError::NoWeights { names },
                    other => other.into(),
                })?;
                Ok(program)
            }
        }
    }

    /// Compiles a module for a device and loads it there.
    pub(crate) fn new(
        module: &Module,
        chosen: &Chosen,
        environment: &Environment,
    ) -> Result<Self, CliError> {
        let start = Instant::now();
        let compilation = environment.compile_until(module, &chosen.target, "bytecode")?;
        let compile = start.elapsed();
        let rules = compilation.scheduled.iter();
        let rules = rules.map(|(name, s)| (name.clone(), s.rules.join(", ")));
        let executable = compilation.executable.expect("the last stage makes it");
        Self::loaded(
            executable.into(),
            chosen,
            rules.collect(),
            compile,
            environment,
        )
    }

    fn loaded(
        executable: Arc<Executable>,
        chosen: &Chosen,
        rules: IndexMap<String, String>,
        compile: Duration,
        environment: &Environment,
    ) -> Result<Self, CliError> {
        let start = Instant::now();
        let vm = VirtualMachine::new(executable, chosen.device.clone())?;
        let load = start.elapsed();
        environment.add_time("load", load, &vm.native_timing());
        Ok(Self {
            vm,
            weights: vec![],
            rules,
            compile,
            load,
        })
    }

    /// Does something with the machine, and adds its time to a stage.
    pub(crate) fn timed<T>(
        &mut self,
        environment: &Environment,
        stage: &str,
        work: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let (before, start) = (self.vm.native_timing(), Instant::now());
        let result = work(self);
        let native = self.vm.native_timing().since(&before);
        environment.add_time(stage, start.elapsed(), &native);
        result
    }

    /// Copies the inputs of a function to the device; weights come after them.
    pub(crate) fn upload(
        &mut self,
        func: &str,
        tensors: Vec<Tensor>,
    ) -> Result<Vec<Value>, CliError> {
        let tensors = tensors.into_iter().map(Value::Tensor).collect();
        let mut values = self.vm.args_to_device(func, tensors)?;
        values.extend(self.weights.iter().cloned());
        Ok(values)
    }

    /// Calls a function and waits for its result, which stays on the device.
    pub(crate) fn call(&mut self, func: &str, args: &[Value]) -> Result<Value, CliError> {
        let result = self.vm.call(func, args)?;
        self.wait()?;
        Ok(result)
    }

    /// Waits until the device has done all its work.
    pub(crate) fn wait(&self) -> Result<(), CliError> {
        match self.vm.device() {
            Device::Gpu(gpu) => Ok(gpu.wait()?),
            Device::Cpu => Ok(()),
        }
    }

    /// The result in host memory.
    pub(crate) fn download(&mut self, result: Value) -> Result<Value, CliError> {
        Ok(self.vm.to_host(result)?)
    }
}

/// The parts of a result under the names of the outputs.
pub(crate) fn outputs(signature: &Signature, result: Value) -> Vec<(String, Value)> {
    let ports = &signature.outputs;
    match result {
        Value::Tuple(items) if items.len() == ports.len() => {
            let pairs = ports.iter().zip(items);
            pairs
                .flat_map(|(port, item)| parts(&port.name, item))
                .collect()
        }
        single => parts(ports.first().map_or("result", |port| &port.name), single),
    }
}

/// A value that is no tuple, called `name`, or those in a tuple, called `name.0`, `name.1` ….
pub(crate) fn parts(name: &str, value: Value) -> Vec<(String, Value)> {
    match value {
        Value::Tuple(items) => {
            let items = items.into_iter().enumerate();
            let parts = items.flat_map(|(index, item)| parts(&format!("{name}.{index}"), item));
            parts.collect()
        }
        single => vec![(name.to_owned(), single)],
    }
}

/// Runs a function of the module in the interpreter. What devices refuse because it is not well formed, it does not run either.
pub(crate) fn interpret(
    module: &Module,
    func: &str,
    inputs: Vec<Tensor>,
) -> Result<Value, CliError> {
    script::well_formed(module).map_err(pipeline::Error::from)?;
    let inputs: Vec<_> = inputs.into_iter().map(interp::Value::Tensor).collect();
    let result = interp::run_module(module, func, &inputs, &HashMap::new())?;
    Ok(from_interp(result))
}

/// A value of the interpreter as one of a machine, none of which can call a closure of the interpreter.
fn from_interp(value: interp::Value) -> Value {
    match value {
        interp::Value::Tensor(tensor) => Value::Tensor(tensor),
        interp::Value::Tuple(items) => Value::Tuple(items.into_iter().map(from_interp).collect()),
        interp::Value::Shape(dims) => Value::Shape(dims.into()),
        interp::Value::Scalar(Scalar::Int(value)) => Value::Int(value),
        interp::Value::Scalar(Scalar::Float(value)) => Value::Float(value),
        interp::Value::Str(text) => Value::Str(text.into()),
        interp::Value::Closure(_) => Value::Closure(Arc::new(Closure::of_no_machine())),
        interp::Value::Storage(_) | interp::Value::Placed(_) => Value::None,
    }
}
