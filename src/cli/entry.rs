//! The graph function that a verb calls: one of the module or of a compiled program, or the one that calls a loop program.

use std::path::PathBuf;
use std::sync::Arc;

use indexmap::IndexMap;

use super::args::{DeviceArgs, InputArgs, ModuleArgs};
use super::error::CliError;
use super::loop_program::{Called, call_of};
use super::program::{bind, ends_in, read};
use crate::artifact::{ArtifactError, Constant, Executable, Signature};
use crate::frontend::{LoadError, load_params, onnx};
use crate::ir::graph::Arg;
use crate::ir::{Func, Module};
use crate::kernel::Target;
use crate::pipeline::signature;
use crate::session::signature_of;
use crate::tensor::Tensor;

/// The function called if nothing is said.
const MAIN: &str = "main";

/// What has the function to call.
pub(crate) enum Code {
    /// A module, with weights bound.
    Module(Box<Module>),
    /// A compiled one, and weights for it.
    Executable(Arc<Executable>, IndexMap<String, Tensor>),
}

impl Code {
    /// Bytes of the weights in it, each counted once.
    pub(crate) fn weight_bytes(&self) -> u64 {
        let mut weights: IndexMap<*const u8, usize> = IndexMap::new();
        let mut count = |tensor: &Tensor| {
            let bytes = tensor.bytes();
            weights.insert(bytes.as_ptr(), bytes.len());
        };
        match self {
            Self::Module(module) => {
                for arg in module.functions().flat_map(|(_, function)| function.args()) {
                    arg.walk(&mut |leaf| {
                        if let Arg::Const(tensor) = leaf {
                            count(tensor);
                        }
                    });
                }
            }
            Self::Executable(executable, apart) => {
                for constant in &executable.constants {
                    if let Constant::Tensor(tensor) = constant {
                        count(tensor);
                    }
                }
                apart.values().for_each(count);
            }
        }
        weights.values().map(|&bytes| bytes as u64).sum()
    }
}

/// A graph function to call.
pub(crate) struct Entry {
    /// What has it.
    pub(crate) code: Code,
    /// Its name.
    pub(crate) func: String,
    /// What it takes and gives.
    pub(crate) signature: Signature,
    /// What it is given.
    pub(crate) inputs: InputArgs,
    /// The file that it came in.
    file: PathBuf,
}

impl Entry {
    /// Reads a program and finds what to call.
    pub(crate) fn read(args: &ModuleArgs, inputs: &InputArgs) -> Result<Self, CliError> {
        inputs.check()?;
        if ends_in(&args.file, "weft") {
            return Self::load(args, inputs);
        }
        let module = read(args, inputs)?;
        let functions: Vec<&str> = module.funcs.keys().map(String::as_str).collect();
        let graphs: Vec<&str> = module.functions().map(|(name, _)| name).collect();
        let name = named(&functions, &graphs, args.func.as_deref())?;
        let mut called = match &module.funcs[&name] {
            Func::Graph(_) => Called {
                module,
                func: name,
                inputs: inputs.clone(),
            },
            Func::Prim(func) => call_of(func, &module, inputs)?,
        };
        called.module = bind(called.module, &called.func, args)?;
        Ok(Self {
            signature: signature(called.function()),
            code: Code::Module(called.module.into()),
            func: called.func,
            inputs: called.inputs,
            file: args.file.clone(),
        })
    }

    /// Reads a compiled program.
    fn load(args: &ModuleArgs, inputs: &InputArgs) -> Result<Self, CliError> {
        if !args.dims.is_empty() {
            return Err(CliError::DimsOfText);
        }
        let executable = Executable::load(&args.file).map_err(|error| match error {
            ArtifactError::Io { path, source } => LoadError::Read { path, source }.into(),
            other => CliError::LoadCompiled {
                path: args.file.clone(),
                source: Box::new(other),
            },
        })?;
        let wants = !executable.weights().is_empty();
        let weights = match &args.params {
            Some(path) if wants && ends_in(path, "onnx") => onnx::weights(path)?,
            Some(path) if wants => load_params(path)?,
            None => IndexMap::new(),
            Some(_) => {
                return Err(CliError::HasWeights {
                    path: args.file.clone(),
                });
            }
        };
        let functions: Vec<&str> = executable.signatures.keys().map(String::as_str).collect();
        let func = named(&functions, &functions, args.func.as_deref())?;
        Ok(Self {
            signature: match func.as_str() {
                MAIN => signature_of(&executable),
                other => executable.signatures[other].clone(),
            },
            code: Code::Executable(executable.into(), weights),
            func,
            inputs: inputs.clone(),
            file: args.file.clone(),
        })
    }

    /// The module.
    ///
    /// # Errors
    /// If the program is compiled.
    pub(crate) fn module(&self) -> Result<&Module, CliError> {
        match &self.code {
            Code::Module(module) => Ok(module),
            Code::Executable(..) => Err(CliError::Compiled {
                path: self.file.clone(),
            }),
        }
    }

    /// The device for `--device auto`: a compiled program runs on the kind of device that it was compiled for.
    pub(crate) fn device(&self, args: &DeviceArgs) -> DeviceArgs {
        let mut args = args.clone();
        if let Code::Executable(executable, _) = &self.code
            && args.device.eq_ignore_ascii_case("auto")
        {
            args.device = match executable.target {
                Target::Cpu(_) => "cpu".to_owned(),
                Target::Gpu(_) => "gpu".to_owned(),
            };
        }
        args
    }
}

/// The name of the function to call: the one asked for, else `main`, else the only graph function, else the only function.
pub(crate) fn named(
    functions: &[&str],
    graphs: &[&str],
    asked: Option<&str>,
) -> Result<String, CliError> {
    let name = asked.unwrap_or(MAIN);
    if functions.contains(&name) {
        return Ok(name.to_owned());
    }
    match (asked, graphs, functions) {
        (None, [only], _) | (None, [], [only]) => Ok((*only).to_owned()),
        _ => Err(CliError::NoFunction {
            name: name.to_owned(),
            functions: functions.iter().map(|&name| name.to_owned()).collect(),
        }),
    }
}
