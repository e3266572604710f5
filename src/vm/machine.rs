//! `VirtualMachine`: an executable made ready for a device.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use super::VmError;
use super::decode::{Code, Op, decode};
use super::frame::Frame;
use super::launch::{Args, Site};
use super::profile::{Profile, ProfileEntry, ProfileKind};
use super::run::Run;
use crate::artifact::{Constant, Executable, MemorySpace, Reg};
use crate::kernel::Target;
use crate::runtime::{Device, PackedFunc, Registry, Value};
use crate::support::Id;
use crate::tensor::{DType, Tensor};

/// What runs kernels.
pub(super) enum Backend {
    #[cfg(feature = "cpu")]
    Cpu(super::launch_cpu::CpuBackend),
    #[cfg(feature = "gpu")]
    Gpu(Box<super::launch_gpu::GpuBackend>),
    /// Programs without kernels need none.
    Host,
}

impl Backend {
    fn new(exec: &Executable, device: &Device) -> Result<Self, VmError> {
        match (device, &exec.target) {
            (Device::Cpu, Target::Cpu(_)) if exec.kernels.is_empty() => Ok(Self::Host),
            #[cfg(feature = "cpu")]
            (Device::Cpu, Target::Cpu(_)) => {
                Ok(Self::Cpu(super::launch_cpu::CpuBackend::new(exec)?))
            }
            #[cfg(not(feature = "cpu"))]
            (Device::Cpu, Target::Cpu(_)) => Err(VmError::NotBuilt("cpu")),
            #[cfg(feature = "gpu")]
            (Device::Gpu(gpu), Target::Gpu(_)) => {
                let backend = super::launch_gpu::GpuBackend::new(exec, gpu)?;
                Ok(Self::Gpu(Box::new(backend)))
            }
            (device, target) => Err(VmError::target(target, &device.kind())),
        }
    }

    /// Runs the kernels of a lowered function.
    pub(super) fn launch(
        &mut self,
        exec: &Executable,
        kernel: usize,
        site: &mut Site,
        args: &mut Args,
        profile: bool,
    ) -> Result<(), VmError> {
        let func = &exec.kernels[kernel].func;
        match self {
            #[cfg(feature = "cpu")]
            Self::Cpu(cpu) => {
                let (plan, new) = site.plan(func, args)?;
                if new && let Err(error) = cpu.examine(exec, func, plan) {
                    site.forget();
                    return Err(error);
                }
                cpu.launch(func, kernel, plan, args, profile)
            }
            #[cfg(feature = "gpu")]
            Self::Gpu(gpu) => gpu.launch(func, kernel, site, args),
            Self::Host => {
                let _ = (func, site, args, profile);
                Err(VmError::NotBuilt("cpu"))
            }
        }
    }

    /// Makes the value a tensor of this type and shape, in its own memory if that can be, else in as many bytes as its
    /// storage is planned for, which may be more than this tensor takes.
    pub(super) fn renew(
        &self,
        value: &mut Value,
        dtype: DType,
        shape: &[usize],
        place: MemorySpace,
        bytes: usize,
    ) -> Result<(), VmError> {
        let failed = |source| VmError::Tensor {
            func: String::new(),
            source,
        };
        #[cfg(feature = "gpu")]
        if let (Self::Gpu(gpu), MemorySpace::Device) = (self, place) {
            return gpu.renew(value, dtype, shape, bytes);
        }
        let _ = place;
        if let Value::Tensor(tensor) = value {
            return tensor.renew(dtype, shape, bytes).map_err(failed);
        }
        let mut tensor = Tensor::zeros(DType::U8, &[bytes]).map_err(failed)?;
        tensor.renew(dtype, shape, bytes).map_err(failed)?;
        *value = Value::Tensor(tensor);
        Ok(())
    }

    /// The value with all tensors in host memory.
    pub(super) fn copy_to_host(&mut self, value: Value) -> Result<Value, VmError> {
        match value {
            #[cfg(feature = "gpu")]
            Value::DeviceTensor(tensor) => {
                if let Self::Gpu(gpu) = self {
                    gpu.submit()?;
                }
                Ok(Value::Tensor(tensor.to_host()?))
            }
            Value::Tuple(items) => {
                let items = items.into_iter().map(|item| self.copy_to_host(item));
                Ok(Value::Tuple(items.collect::<Result<_, _>>()?))
            }
            other => Ok(other),
        }
    }

    /// The value with all tensors on the device.
    pub(super) fn copy_to_device(&mut self, value: Value) -> Result<Value, VmError> {
        match (value, self) {
            #[cfg(feature = "gpu")]
            (Value::Tensor(tensor), Self::Gpu(gpu)) => {
                Ok(Value::DeviceTensor(gpu.upload(&tensor)?))
            }
            #[cfg(feature = "gpu")]
            (Value::DeviceTensor(tensor), Self::Gpu(gpu)) => {
                gpu.check_device(&tensor)?;
                Ok(Value::DeviceTensor(tensor))
            }
            (Value::Tuple(items), this) => {
                let items = items.into_iter().map(|item| this.copy_to_device(item));
                Ok(Value::Tuple(items.collect::<Result<_, _>>()?))
            }
            (other, _) => Ok(other),
        }
    }

    fn begin(&mut self, profile: bool) {
        match self {
            #[cfg(feature = "gpu")]
            Self::Gpu(gpu) => gpu.begin(profile),
            #[cfg(feature = "cpu")]
            Self::Cpu(cpu) => cpu.begin(),
            Self::Host => {}
        }
        let _ = profile;
    }

    /// Submits what was recorded.
    fn end(&mut self) -> Result<(), VmError> {
        match self {
            #[cfg(feature = "gpu")]
            Self::Gpu(gpu) => gpu.submit(),
            #[cfg(feature = "cpu")]
            Self::Cpu(..) => Ok(()),
            Self::Host => Ok(()),
        }
    }

    /// An entry for each kernel of a launch that took as long as `whole` says.
    pub(super) fn kernel_entries(
        &mut self,
        exec: &Executable,
        op: &Op,
        sites: &[Site],
        whole: ProfileEntry,
    ) -> Result<Vec<ProfileEntry>, VmError> {
        let Op::Launch { kernel, site, .. } = op else {
            return Ok(vec![whole]);
        };
        let kernels = &exec.kernels[*kernel].func.kernels;
        let Some(plan) = sites[*site].newest() else {
            return Ok(vec![whole]);
        };
        let times: Vec<f64> = match self {
            #[cfg(feature = "gpu")]
            Self::Gpu(gpu) => gpu.take_times()?,
            #[cfg(feature = "cpu")]
            Self::Cpu(cpu) => cpu.take_times(),
            Self::Host => vec![],
        };
        let mut times = times.into_iter();
        let entry = |(index, kernel): (usize, &crate::kernel::Kernel)| {
            let plan = &plan.kernels[index];
            let runs = times.by_ref().take(plan.runs.len());
            ProfileEntry {
                name: kernel.name.clone(),
                kind: ProfileKind::Kernel,
                seconds: runs.sum(),
                bytes: plan.bytes.max(0) as u64,
                flops: plan.flops.max(0) as u64,
                ..whole.clone()
            }
        };
        Ok(kernels.iter().enumerate().map(entry).collect())
    }
}

/// What changes from call to call.
pub(super) struct State {
    /// A number that no other machine has.
    pub(super) machine: u64,
    pub(super) backend: Backend,
    /// Constants, tensors on the device.
    pub(super) consts: Vec<Value>,
    /// Constants, tensors on the host.
    pub(super) host_consts: Vec<Value>,
    pub(super) packed: Vec<PackedFunc>,
    pub(super) packed_names: Vec<String>,
    /// Arguments of a packed function, kept for their memory.
    pub(super) packed_args: Vec<Value>,
    /// A shape being made, kept for its memory.
    pub(super) shape: Vec<usize>,
    pub(super) profile: Option<Profile>,
    /// By function: frames that no call uses.
    frames: Vec<Vec<Frame>>,
}

impl State {
    pub(super) fn frame(&mut self, index: usize, code: &Code) -> Frame {
        self.frames[index].pop().unwrap_or_else(|| Frame::new(code))
    }

    pub(super) fn keep(&mut self, index: usize, frame: Frame) {
        self.frames[index].push(frame);
    }
}

/// How many machines were made.
static MACHINES: AtomicU64 = AtomicU64::new(0);

/// A function of a machine, found once by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FuncId(usize);

/// An executable made ready to run on a device.
///
/// Calls take `&mut self`: the memory of one call is used by the next. Machines are cheap beside their executable, so threads
/// have one each.
pub struct VirtualMachine {
    exec: Arc<Executable>,
    device: Device,
    codes: Arc<[Code]>,
    state: State,
}

impl std::fmt::Debug for VirtualMachine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<_> = self.codes.iter().map(|c| &c.name).collect();
        write!(f, "VirtualMachine({names:?} on {})", self.device)
    }
}

impl VirtualMachine {
    /// A machine whose packed functions are those registered for the process.
    ///
    /// # Errors
    /// As [`VirtualMachine::with_registry`].
    pub fn new(exec: impl Into<Arc<Executable>>, device: Device) -> Result<Self, VmError> {
        Self::with_registry(exec, device, &Registry::new())
    }

    /// A machine whose packed functions are those of this registry, and behind them those registered for the process.
    ///
    /// # Errors
    /// If the executable is not valid or not for this device, a packed function is not registered, or a kernel is refused.
    pub fn with_registry(
        exec: impl Into<Arc<Executable>>,
        device: Device,
        registry: &Registry,
    ) -> Result<Self, VmError> {
        let exec = exec.into();
        let program = decode(&exec)?;
        let packed = program.packed.iter().map(|name| registry.find(name));
        let packed = packed.collect::<Result<_, _>>()?;
        let mut backend = Backend::new(&exec, &device)?;
        let host_consts: Vec<Value> = exec.constants.iter().map(constant).collect();
        let on_device = host_consts
            .iter()
            .map(|c| backend.copy_to_device(c.clone()));
        let consts = on_device.collect::<Result<_, _>>()?;
        Ok(Self {
            state: State {
                machine: MACHINES.fetch_add(1, Ordering::Relaxed),
                backend,
                consts,
                host_consts,
                packed,
                packed_names: program.packed,
                packed_args: vec![],
                shape: vec![],
                profile: None,
                frames: program.codes.iter().map(|_| vec![]).collect(),
            },
            codes: program.codes.into(),
            exec,
            device,
        })
    }

    /// What runs.
    pub fn executable(&self) -> &Executable {
        &self.exec
    }

    /// Where it runs.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The function with this name.
    ///
    /// # Errors
    /// [`VmError::NoFunction`].
    pub fn function(&self, name: &str) -> Result<FuncId, VmError> {
        let found = self.codes.iter().position(|code| code.name == name);
        found.map(FuncId).ok_or_else(|| VmError::NoFunction {
            name: name.to_owned(),
            functions: self.codes.iter().map(|c| c.name.clone()).collect(),
        })
    }

    /// Calls a function. On a GPU, tensors of the host are copied to it, and the result stays there until asked for.
    ///
    /// # Errors
    /// If an argument is not what the function takes, or the device fails.
    pub fn call(&mut self, name: &str, args: &[Value]) -> Result<Value, VmError> {
        let func = self.function(name)?;
        self.call_func(func, args)
    }

    /// The same for a function found before.
    ///
    /// # Errors
    /// As [`VirtualMachine::call`].
    pub fn call_func(&mut self, func: FuncId, args: &[Value]) -> Result<Value, VmError> {
        self.enter(func, args, &mut [])
    }

    /// The same, with memory for the results: each tensor of the result is put into `outputs`, in the memory of the tensor
    /// that was there if that is large enough and not shared. After an error they are tensors of unspecified elements. A
    /// second call with arguments of the same shapes, and the outputs of the first, allocates nothing on the CPU, if all that
    /// the function does is to call loop programs of at most 16 arrays.
    ///
    /// # Errors
    /// As [`VirtualMachine::call`]; [`VmError::Arity`] if the number of results is another.
    pub fn call_into(
        &mut self,
        func: FuncId,
        args: &[Value],
        outputs: &mut [Value],
    ) -> Result<(), VmError> {
        let result = self.enter(func, args, outputs)?;
        match result {
            Value::Tuple(items) if items.len() == outputs.len() => {
                outputs
                    .iter_mut()
                    .zip(items)
                    .for_each(|(out, item)| *out = item);
            }
            value if outputs.len() == 1 => outputs[0] = value,
            other => {
                let given = outputs.len();
                let count = other.as_tuple().map_or(1, <[Value]>::len);
                return Err(VmError::Arity {
                    func: format!("{}'s results", self.codes[func.0].name),
                    params: (0..count).map(|i| format!("output {i}")).collect(),
                    given,
                });
            }
        }
        Ok(())
    }

    /// Calls a function with arguments by the names of its parameters, in any order.
    ///
    /// # Errors
    /// As [`VirtualMachine::call`]; also if a name is unknown, missing, or there twice.
    pub fn call_named(&mut self, name: &str, args: &[(&str, Value)]) -> Result<Value, VmError> {
        let func = self.function(name)?;
        let code = self.codes.get(func.0).ok_or(VmError::ForeignFunction)?;
        if let Some((unknown, _)) = args
            .iter()
            .find(|(name, _)| !code.params.iter().any(|p| p == name))
        {
            return Err(VmError::UnknownArgument {
                func: code.name.clone(),
                name: (*unknown).to_owned(),
                params: code.params.clone(),
            });
        }
        let argument = |param: &String| {
            let mut given = args.iter().filter(|(name, _)| name == param);
            match (given.next(), given.count()) {
                (Some((_, value)), 0) => Ok(value.clone()),
                (first, rest) => Err(VmError::ArgumentCount {
                    func: code.name.clone(),
                    param: param.clone(),
                    given: usize::from(first.is_some()) + rest,
                }),
            }
        };
        let args = code
            .params
            .iter()
            .map(argument)
            .collect::<Result<Vec<_>, _>>()?;
        self.call_func(func, &args)
    }

    /// Calls a function and says what every step took. On a GPU each kernel is waited for, so the whole takes longer.
    ///
    /// # Errors
    /// As [`VirtualMachine::call`].
    pub fn call_profiled(
        &mut self,
        name: &str,
        args: &[Value],
    ) -> Result<(Value, Profile), VmError> {
        let func = self.function(name)?;
        self.state.profile = Some(Profile::default());
        let start = Instant::now();
        let result = self.call_func(func, args);
        let mut profile = self.state.profile.take().unwrap_or_default();
        profile.total = start.elapsed();
        Ok((result?, profile))
    }

    /// The value with all tensors in host memory: waits for a GPU.
    ///
    /// # Errors
    /// If the device fails.
    pub fn to_host(&mut self, value: Value) -> Result<Value, VmError> {
        self.state.backend.copy_to_host(value)
    }

    /// The value with all tensors on the device, as weights that many calls use.
    ///
    /// # Errors
    /// If the device cannot hold them.
    pub fn to_device(&mut self, value: Value) -> Result<Value, VmError> {
        self.state.backend.copy_to_device(value)
    }

    fn enter(
        &mut self,
        func: FuncId,
        args: &[Value],
        outputs: &mut [Value],
    ) -> Result<Value, VmError> {
        let code = &self.codes[func.0];
        if args.len() != code.params.len() {
            return Err(VmError::Arity {
                func: code.name.clone(),
                params: code.params.clone(),
                given: args.len(),
            });
        }
        let state = &mut self.state;
        state.backend.begin(state.profile.is_some());
        let mut frame = state.frame(func.0, code);
        let filled = fill(state, code, &mut frame, args, outputs);
        let result = filled.and_then(|()| {
            let mut run = Run {
                exec: &self.exec,
                codes: &self.codes,
                code,
                state,
                depth: 0,
            };
            run.run(&mut frame)
        });
        let ended = self.state.backend.end();
        if result.is_err() {
            give_back(code, &mut frame, outputs);
        }
        frame.reset(code);
        self.state.keep(func.0, frame);
        let value = result?;
        ended.map(|()| value)
    }
}

/// Puts memory for results where they will be made, and arguments into the first registers.
fn fill(
    state: &mut State,
    code: &Code,
    frame: &mut Frame,
    args: &[Value],
    outputs: &mut [Value],
) -> Result<(), VmError> {
    if code.results.len() == outputs.len() {
        for (&reg, output) in code.results.iter().zip(outputs) {
            frame.regs[reg] = std::mem::take(output);
        }
    }
    for (index, arg) in args.iter().enumerate() {
        let reg = Reg::from_index(index);
        let copied = state.profile.is_some() && matches!(arg, Value::Tensor(_));
        let start = Instant::now();
        frame.regs[reg] = state.backend.copy_to_device(arg.clone())?;
        if let (true, Some(profile), Value::Tensor(tensor)) = (copied, &mut state.profile, arg)
            && !matches!(frame.regs[reg], Value::Tensor(_))
        {
            profile.entries.push(ProfileEntry {
                func: code.name.clone(),
                pc: code.start,
                name: format!("to_device {}", code.params[index]),
                kind: ProfileKind::Copy,
                seconds: start.elapsed().as_secs_f64(),
                bytes: tensor.bytes().len() as u64,
                flops: 0,
            });
        }
    }
    Ok(())
}

/// Gives memory for results back, where a call did not put any there.
fn give_back(code: &Code, frame: &mut Frame, outputs: &mut [Value]) {
    if code.results.len() == outputs.len() {
        for (&reg, output) in code.results.iter().zip(outputs) {
            *output = frame.regs.take(reg);
        }
    }
}

fn constant(constant: &Constant) -> Value {
    match constant {
        Constant::Tensor(tensor) => Value::Tensor(tensor.clone()),
        Constant::Shape(dims) => Value::Shape(dims.as_slice().into()),
        Constant::Str(text) => Value::from(text.as_str()),
        Constant::DType(dtype) => Value::from(dtype.to_string().as_str()),
        Constant::Int(value) => Value::Int(*value),
        Constant::Float(value) => Value::Float(*value),
        Constant::Context(context) => Value::from(context.to_string().as_str()),
    }
}
