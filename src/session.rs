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
#[cfg(feature = "compiler")]
use crate::frontend::onnx::Model;
#[cfg(feature = "cpu")]
use crate::kernel::Target;
#[cfg(feature = "compiler")]
use crate::pipeline::{self, CompileOptions};
use crate::runtime::{Device, Value};
#[cfg(feature = "gpu")]
use crate::runtime_gpu::{Checks, GpuError, Request, adapters, choose};
use crate::tensor::Tensor;
use crate::vm::{FuncId, VirtualMachine, VmError};

/// The function that a session calls.
const MAIN: &str = "main";

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
}

impl Session {
    /// The function `main` of an executable on a device.
    ///
    /// # Errors
    /// [`SessionError::Vm`] if it has none, or is for another kind of device.
    pub fn new(
        executable: impl Into<Arc<Executable>>,
        device: Device,
    ) -> Result<Self, SessionError> {
        let vm = VirtualMachine::new(executable, device)?;
        let main = vm.function(MAIN)?;
        let signature = vm.executable().signatures.get(MAIN);
        let signature = signature.cloned().unwrap_or_default();
        Ok(Self {
            vm,
            main,
            signature,
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
            true => Ok(args.into_iter().flatten().collect()),
            false => Err(SessionError::Missing(missing)),
        }
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
/// slower there than native code.)
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
                return Ok(Device::Gpu(adapters[choice.index].open(Checks::default())?));
            }
            Err(GpuError::NoAdapter | GpuError::OnlySoftware(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Device::Cpu)
}
