//! From a file to a machine that runs it.

use std::time::{Duration, Instant};

use indexmap::IndexMap;

use super::args::ModuleArgs;
use super::device::Chosen;
use super::environment::Environment;
use super::error::CliError;
use crate::frontend::{LoadError, load_params};
use crate::ir::Module;
use crate::passes::bind_params;
use crate::runtime::{Device, Value};
use crate::script;
use crate::tensor::Tensor;
use crate::vm::VirtualMachine;

/// Reads and parses a module.
pub(crate) fn read(args: &ModuleArgs) -> Result<Module, CliError> {
    let text = std::fs::read_to_string(&args.file).map_err(|source| LoadError::Read {
        path: args.file.clone(),
        source,
    })?;
    Ok(script::parse(&args.file.display().to_string(), &text)?)
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
    /// By loop program: the schedule rules that took its blocks.
    pub(crate) rules: IndexMap<String, String>,
    /// How long the compiler took.
    pub(crate) compile: Duration,
    /// How long the device took to accept the code.
    pub(crate) load: Duration,
}

impl Program {
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
        let start = Instant::now();
        let vm = VirtualMachine::new(executable, chosen.device.clone())?;
        Ok(Self {
            vm,
            rules: rules.collect(),
            compile,
            load: start.elapsed(),
        })
    }

    /// Copies tensors to the device.
    pub(crate) fn upload(&mut self, tensors: Vec<Tensor>) -> Result<Vec<Value>, CliError> {
        tensors
            .into_iter()
            .map(|tensor| Ok(self.vm.to_device(Value::Tensor(tensor))?))
            .collect()
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

    /// The tensors of a result, in host memory, with a name for each: `func`, or `func.0`, `func.1` … for a tuple.
    pub(crate) fn tensors(
        &mut self,
        func: &str,
        result: Value,
    ) -> Result<Vec<(String, Tensor)>, CliError> {
        let result = self.vm.to_host(result)?;
        let mut tensors = Vec::new();
        flatten(func, result, &mut tensors);
        Ok(tensors)
    }
}

/// The tensors in a value; what is no tensor is left out.
pub(crate) fn flatten(name: &str, value: Value, tensors: &mut Vec<(String, Tensor)>) {
    match value {
        Value::Tensor(tensor) => tensors.push((name.to_owned(), tensor)),
        Value::Tuple(items) => {
            for (index, item) in items.into_iter().enumerate() {
                flatten(&format!("{name}.{index}"), item, tensors);
            }
        }
        Value::None
        | Value::DeviceTensor(_)
        | Value::Shape(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Str(_)
        | Value::Closure(_) => {}
    }
}
