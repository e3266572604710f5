//! A model ready to be called by the names of its inputs: [`Model::compile`] makes a [`Session`] of one that was imported,
//! [`Session::load`] of one that was compiled before.
//!
//! ```
//! # #[cfg(all(feature = "compiler", feature = "cpu"))] {
//! use weftile::pipeline::{CompileOptions, compile};
//! use weftile::runtime::Device;
//! use weftile::session::{Session, target_of};
//! use weftile::tensor::Tensor;
//!
//! let text = r#"
//! @I.ir_module
//! class Module:
//!     @R.function
//!     def main(x: R.Tensor(("n",), "float32")):
//!         R.func_attr({"output_names": ["twice"]})
//!         y = R.add(x, x)
//!         return y
//! "#;
//! let module = weftile::script::parse("twice.py", text)?;
//! let executable = compile(&module, &CompileOptions::new(target_of(&Device::Cpu)))?;
//! let mut session = Session::new(executable, Device::Cpu)?;
//! let x = Tensor::from_slice(&[2], &[1f32, 2.0])?;
//! let outputs = session.run([("x", x)])?;
//! assert_eq!(outputs["twice"].as_slice::<f32>()?, [2.0, 4.0]);
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::path::Path;
use std::sync::Arc;

use indexmap::IndexMap;

use crate::artifact::{ArtifactError, Executable, Signature};
#[cfg(all(feature = "compiler", feature = "cpu"))]
use crate::frontend::onnx::Model;
#[cfg(all(feature = "compiler", feature = "cpu"))]
use crate::ir::Module;
#[cfg(feature = "cpu")]
use crate::kernel::Target;
#[cfg(all(feature = "compiler", feature = "cpu"))]
use crate::passes::unbind_params;
#[cfg(feature = "compiler")]
use crate::pipeline;
#[cfg(all(feature = "compiler", feature = "cpu"))]
use crate::pipeline::CompileOptions;
use crate::runtime::{Device, Value};
#[cfg(feature = "gpu")]
use crate::runtime_gpu::{Checks, GpuError, PipelineCache, Request, adapters, choose};
use crate::tensor::Tensor;
use crate::vm::{FuncId, VirtualMachine, VmError};

/// The function that a session calls.
const MAIN: &str = "main";
/// What the name of the function ends in that prepares weights.
const TRANSFORM: &str = "_transform_params";

/// Why a session cannot be made, or a call of it failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The model cannot be compiled.
    #[cfg(feature = "compiler")]
    #[error(transparent)]
    Compile(#[from] Box<pipeline::Error>),
    /// The file of a compiled model cannot be read.
    #[error(transparent)]
    Artifact(#[from] Box<ArtifactError>),
    /// The machine cannot be made, or the call failed.
    #[error(transparent)]
    Vm(#[from] Box<VmError>),
    /// The GPU cannot be used.
    #[cfg(feature = "gpu")]
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// Inputs that were not given.
    #[error("inputs are missing: {}", .0.join(", "))]
    Missing(Vec<String>),
    /// An input that the model does not have, or that was given twice.
    #[error("`{name}` is no input, or is given twice; inputs are {}", inputs.join(", "))]
    Input {
        /// The name.
        name: String,
        /// The inputs of the model.
        inputs: Vec<String>,
    },
    /// Weights that a model without them needs, or those that it gives no name to.
    #[error("weights are missing: {}", .0.join(", "))]
    Weights(Vec<String>),
    /// A result that is no tensor.
    #[error("output `{name}` is {kind}, no tensor")]
    Output {
        /// The output.
        name: String,
        /// What it is.
        kind: &'static str,
    },
}

macro_rules! boxed {
    ($($variant:ident($error:ty)),*) => { $(
        impl From<$error> for SessionError {
            fn from(error: $error) -> Self {
                Self::$variant(Box::new(error))
            }
        }
    )* };
}
boxed!(Artifact(ArtifactError), Vm(VmError));
#[cfg(feature = "compiler")]
boxed!(Compile(pipeline::Error));

/// A model on a device. Weights are there once, and each call uses the memory of the one before.
#[derive(Debug)]
pub struct Session {
    vm: VirtualMachine,
    main: FuncId,
    signature: Signature,
    /// On the device, as the kernels read them; nothing where they are constants of the executable.
    weights: Vec<Value>,
}

impl Session {
    /// The function `main` of an executable on a device.
    ///
    /// # Errors
    /// [`SessionError::Vm`] if it has none, or is for another kind of device; [`SessionError::Weights`] if it was compiled without
    /// weights.
    pub fn new(
        executable: impl Into<Arc<Executable>>,
        device: Device,
    ) -> Result<Self, SessionError> {
        Self::with_weights(executable, device, &IndexMap::new())
    }

    /// The same for an executable without weights, which come by the names that the model gives them. They are brought into the form
    /// that the kernels read once, now.
    ///
    /// # Errors
    /// As [`Session::new`]; [`SessionError::Vm`] if a weight is not what the model takes.
    pub fn with_weights(
        executable: impl Into<Arc<Executable>>,
        device: Device,
        weights: &IndexMap<String, Tensor>,
    ) -> Result<Self, SessionError> {
        let mut vm = VirtualMachine::new(executable, device)?;
        let main = vm.function(MAIN)?;
        let signature = signature_of(vm.executable());
        let weights = prepared_weights(&mut vm, weights)?;
        Ok(Self {
            vm,
            main,
            signature,
            weights,
        })
    }

    /// Reads a compiled model (`.weft`).
    ///
    /// # Errors
    /// [`SessionError::Artifact`] if the file is damaged or of another version; as [`Session::new`].
    pub fn load(path: impl AsRef<Path>, device: Device) -> Result<Self, SessionError> {
        Self::new(Executable::load(path)?, device)
    }

    /// Names and types of inputs and outputs.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// The machine beneath, for what a session does not do: tensors that stay on the device, calls that wait for nothing, profiles.
    pub fn machine(&mut self) -> &mut VirtualMachine {
        &mut self.vm
    }

    /// Calls the model: inputs by name, in any order; outputs in the model's order, in host memory.
    ///
    /// # Errors
    /// [`SessionError::Missing`] and [`SessionError::Input`] if the names are not those of the inputs; [`SessionError::Vm`] if a
    /// tensor is not what the model takes, or the device fails.
    pub fn run<'n>(
        &mut self,
        inputs: impl IntoIterator<Item = (&'n str, Tensor)>,
    ) -> Result<IndexMap<String, Tensor>, SessionError> {
        let args = self.arguments(inputs)?;
        let result = self.vm.call_func(self.main, &args)?;
        let outputs = &self.signature.outputs;
        let values = match self.vm.to_host(result)? {
            Value::Tuple(items) if items.len() == outputs.len() => items,
            single => vec![single],
        };
        let named = outputs.iter().zip(values);
        let named = named.map(|(port, value)| match value {
            Value::Tensor(tensor) => Ok((port.name.clone(), tensor)),
            other => Err(SessionError::Output {
                name: port.name.clone(),
                kind: other.kind(),
            }),
        });
        named.collect()
    }

    /// The inputs in the order of the parameters.
    fn arguments<'n>(
        &self,
        inputs: impl IntoIterator<Item = (&'n str, Tensor)>,
    ) -> Result<Vec<Value>, SessionError> {
        let ports = &self.signature.inputs;
        let mut args: Vec<Option<Value>> = vec![None; ports.len()];
        for (name, tensor) in inputs {
            let at = ports.iter().position(|port| port.name == name);
            match at.map(|at| &mut args[at]) {
                Some(open @ None) => *open = Some(tensor.into()),
                Some(Some(_)) | None => {
                    return Err(SessionError::Input {
                        name: name.to_owned(),
                        inputs: ports.iter().map(|port| port.name.clone()).collect(),
                    });
                }
            }
        }
        let open = ports.iter().zip(&args).filter(|(_, value)| value.is_none());
        let missing: Vec<String> = open.map(|(port, _)| port.name.clone()).collect();
        match missing.is_empty() {
            true => Ok(args
                .into_iter()
                .flatten()
                .chain(self.weights.iter().cloned())
                .collect()),
            false => Err(SessionError::Missing(missing)),
        }
    }
}

/// What the function `main` of an executable takes and gives. Weights that the executable was compiled without are no inputs.
pub fn signature_of(executable: &Executable) -> Signature {
    let signature = executable.signatures.get(MAIN);
    let mut signature = signature.cloned().unwrap_or_default();
    if !executable.weights().is_empty() {
        let prepared = executable.signatures.get(&format!("{MAIN}{TRANSFORM}"));
        let prepared = prepared.map_or(0, |prepared| prepared.outputs.len());
        let inputs = signature.inputs.len().saturating_sub(prepared);
        signature.inputs.truncate(inputs);
    }
    signature
}

/// The weights of an executable that was compiled without them, as its function `main` takes them after the inputs; nothing for one
/// that has them.
///
/// # Errors
/// [`SessionError::Weights`] if one is missing; [`SessionError::Vm`] if one is not what the model takes.
pub fn prepared_weights(
    vm: &mut VirtualMachine,
    weights: &IndexMap<String, Tensor>,
) -> Result<Vec<Value>, SessionError> {
    let names = vm.executable().weights();
    if names.is_empty() {
        return Ok(vec![]);
    }
    let found = names.iter().map(|name| weights.get(name).ok_or(name));
    let missing = found.clone().filter_map(Result::err).cloned();
    let missing: Vec<String> = missing.collect();
    if !missing.is_empty() {
        return Err(SessionError::Weights(missing));
    }
    let given = found.flatten().map(|tensor| Value::Tensor(tensor.clone()));
    let given = Value::Tuple(given.collect());
    let prepared = vm.call(&format!("{MAIN}{TRANSFORM}"), &[given])?;
    match prepared {
        Value::Tuple(weights) => Ok(weights),
        single => Ok(vec![single]),
    }
}

#[cfg(all(feature = "compiler", feature = "cpu"))]
impl Model {
    /// Compiles the model for a device, and loads it there.
    ///
    /// # Errors
    /// [`SessionError::Compile`] if something of it cannot run there; as [`Session::new`].
    pub fn compile(&self, device: &Device) -> Result<Session, SessionError> {
        let options = CompileOptions::new(target_of(device));
        let executable = pipeline::compile(&self.module, &options)?;
        Session::new(executable, device.clone())
    }

    /// The module with its weights as parameters, whose preparation is a function of its own; and the names of the weights.
    ///
    /// # Errors
    /// What the first pass that fails says.
    pub fn without_weights(
        &self,
        options: &CompileOptions,
    ) -> Result<(Module, Vec<String>), pipeline::Error> {
        let (module, names) = unbind_params(&self.module, MAIN, &self.weights)?;
        Ok((pipeline::weights_apart(&module, options)?, names))
    }

    /// Compiles the model without its weights, for a file that others bring the weights to ([`Session::with_weights`]).
    ///
    /// # Errors
    /// If something of it cannot run on such a device.
    pub fn compile_without_weights(
        &self,
        options: &CompileOptions,
    ) -> Result<Executable, SessionError> {
        let (apart, names) = self.without_weights(options)?;
        let mut executable = pipeline::compile(&apart, options)?;
        executable.set_weights(&names);
        Ok(executable)
    }
}

/// What a compiler must know of a device.
#[cfg(feature = "cpu")]
pub fn target_of(device: &Device) -> Target {
    match device {
        Device::Cpu => Target::Cpu(crate::codegen_cpu::this_cpu()),
        #[cfg(feature = "gpu")]
        Device::Gpu(gpu) => Target::Gpu(gpu.target().clone()),
    }
}

/// The best device of this machine: a real GPU, and where there is none the CPU. (A GPU in software runs on the CPU too, and is
/// slower there than native code.) A GPU keeps compiled pipelines in the cache folder of the user (`PipelineCache::of_user`); open an
/// adapter of `runtime_gpu::adapters` to have it otherwise.
///
/// # Errors
/// [`SessionError::Gpu`] if there is a GPU, but it cannot be used.
pub fn best_device() -> Result<Device, SessionError> {
    #[cfg(feature = "gpu")]
    {
        let adapters = adapters();
        let infos: Vec<_> = adapters
            .iter()
            .map(|adapter| adapter.info().clone())
            .collect();
        let request = Request {
            name: None,
            allow_software: false,
        };
        match choose(&infos, &request) {
            Ok(choice) => {
                let cache = PipelineCache::of_user();
                let gpu = adapters[choice.index].open_with_cache(Checks::default(), &cache)?;
                return Ok(Device::Gpu(gpu));
            }
            Err(GpuError::NoAdapter | GpuError::OnlySoftware(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Device::Cpu)
}
