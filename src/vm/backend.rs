//! `Backend`: what runs the kernels of one machine.

use std::sync::Arc;

use super::VmError;
use super::launch::{Args, Site};
use super::loaded::Loaded;
use super::place::Memory;
use super::profile::{KernelTime, ProfileEntry, ProfileKind};
use super::program::Op;
use crate::artifact::{Executable, MemorySpace};
use crate::kernel::Target;
use crate::runtime::{Device, Value};
#[cfg(feature = "gpu")]
use crate::runtime_gpu::{DeviceBuffer, DeviceTensor};
use crate::tensor::{Arena, DType, Recycler, Tensor};

/// What runs kernels.
pub(super) enum Backend {
    #[cfg(feature = "cpu")]
    Cpu(super::launch_cpu::CpuBackend),
    #[cfg(feature = "gpu")]
    Gpu(Box<super::launch_gpu::GpuBackend>, Host),
    /// Programs without kernels need none.
    Host,
}

/// What runs the kernels of an executable for a GPU that are of the host, if there are any.
#[cfg(all(feature = "gpu", feature = "cpu"))]
type Host = Option<Box<super::launch_cpu::CpuBackend>>;
#[cfg(all(feature = "gpu", not(feature = "cpu")))]
type Host = ();

#[cfg(all(feature = "gpu", feature = "cpu"))]
fn host(exec: &Executable, loaded: &Arc<Loaded>) -> Result<Host, VmError> {
    if !exec.kernels.iter().any(|kernel| kernel.is_native()) {
        return Ok(None);
    }
    let host = super::launch_cpu::CpuBackend::new(exec, loaded.clone())?;
    Ok(Some(Box::new(host)))
}

#[cfg(all(feature = "gpu", not(feature = "cpu")))]
fn host(exec: &Executable, _loaded: &Arc<Loaded>) -> Result<Host, VmError> {
    match exec.kernels.iter().any(|kernel| kernel.is_native()) {
        true => Err(VmError::NotBuilt("cpu")),
        false => Ok(()),
    }
}

impl Backend {
    /// The code of the executable is made here, unless a machine before had it made.
    pub(super) fn new(
        exec: &Executable,
        loaded: &Arc<Loaded>,
        device: &Device,
    ) -> Result<Self, VmError> {
        // Programs without kernels share none.
        let _ = loaded;
        match (device, &exec.target) {
            (Device::Cpu, Target::Cpu(_)) if exec.kernels.is_empty() => Ok(Self::Host),
            #[cfg(feature = "cpu")]
            (Device::Cpu, Target::Cpu(_)) => {
                let backend = super::launch_cpu::CpuBackend::new(exec, loaded.clone())?;
                Ok(Self::Cpu(backend))
            }
            #[cfg(not(feature = "cpu"))]
            (Device::Cpu, Target::Cpu(_)) => Err(VmError::NotBuilt("cpu")),
            #[cfg(feature = "gpu")]
            (Device::Gpu(gpu), Target::Gpu(_)) => {
                let backend = super::launch_gpu::GpuBackend::new(exec, loaded, gpu)?;
                Ok(Self::Gpu(Box::new(backend), host(exec, loaded)?))
            }
            (device, target) => Err(VmError::target(target, &device.kind())),
        }
    }

    /// Runs the kernels of a lowered function, or of that of its variants which is for the arguments; on a GPU each has its sharing.
    pub(super) fn launch(
        &mut self,
        exec: &Executable,
        kernel: usize,
        sharings: &[usize],
        site: &mut Site,
        args: &mut Args,
        profile: bool,
    ) -> Result<(), VmError> {
        match self {
            #[cfg(feature = "cpu")]
            Self::Cpu(cpu) => native(cpu, exec, kernel, site, args, profile),
            #[cfg(all(feature = "gpu", feature = "cpu"))]
            Self::Gpu(_, Some(cpu)) if exec.kernels[kernel].is_native() => {
                native(cpu, exec, kernel, site, args, profile)
            }
            #[cfg(feature = "gpu")]
            Self::Gpu(gpu, _) => gpu.launch(exec, kernel, sharings, site, args),
            Self::Host => {
                let _ = (exec, kernel, sharings, site, args, profile);
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
        recycler: &Recycler,
    ) -> Result<(), VmError> {
        let failed = |source| VmError::Tensor {
            func: String::new(),
            source,
        };
        #[cfg(feature = "gpu")]
        if let (Self::Gpu(gpu, _), MemorySpace::Device) = (self, place) {
            return gpu.renew(value, dtype, shape, bytes);
        }
        let _ = place;
        if let Value::Tensor(tensor) = value {
            return tensor.renew(dtype, shape, bytes, recycler).map_err(failed);
        }
        let mut tensor = Tensor::zeros(DType::U8, &[0]).map_err(failed)?;
        let made = tensor.renew(dtype, shape, bytes, recycler);
        made.map_err(failed)?;
        *value = Value::Tensor(tensor);
        Ok(())
    }

    /// Memory for an arena of so many bytes.
    pub(super) fn reserve(
        &self,
        place: MemorySpace,
        bytes: usize,
        recycler: &Recycler,
    ) -> Result<Memory, VmError> {
        #[cfg(feature = "gpu")]
        if let (Self::Gpu(gpu, _), MemorySpace::Device) = (self, place) {
            return gpu.reserve(bytes as u64);
        }
        let _ = place;
        let arena = Arena::new(bytes, recycler).map_err(|source| VmError::Tensor {
            func: String::new(),
            source,
        })?;
        Ok(Memory::Host(arena))
    }

    /// Whether memory lies where a storage is.
    pub(super) fn has(&self, place: Option<MemorySpace>, memory: &Memory) -> bool {
        let _ = place;
        match (self, memory) {
            #[cfg(feature = "gpu")]
            (Self::Gpu(..), Memory::Host(_)) => place == Some(MemorySpace::Host),
            #[cfg(feature = "gpu")]
            (Self::Gpu(..), Memory::Device(_) | Memory::Apart { .. }) => {
                place != Some(MemorySpace::Host)
            }
            _ => true,
        }
    }

    /// The memory of a tensor that nobody else holds, as that of an arena which starts there. On a GPU that is memory of the device.
    pub(super) fn memory_of(&self, value: &mut Value) -> Option<Memory> {
        match (self, value) {
            #[cfg(feature = "gpu")]
            (Self::Gpu(gpu, _), Value::DeviceTensor(tensor)) => gpu.memory_of(tensor),
            #[cfg(feature = "gpu")]
            (Self::Gpu(..), _) => None,
            (_, Value::Tensor(tensor)) => Arena::of(tensor).map(Memory::Host),
            _ => None,
        }
    }

    /// A tensor in an arena of the device; `None` if it cannot lie there.
    #[cfg(feature = "gpu")]
    pub(super) fn tensor_in(
        &self,
        arena: &DeviceBuffer,
        offset: u64,
        dtype: DType,
        shape: &[usize],
    ) -> Result<Option<DeviceTensor>, VmError> {
        match self {
            Self::Gpu(gpu, _) => gpu.tensor_in(arena, offset, dtype, shape),
            #[cfg(feature = "cpu")]
            Self::Cpu(_) => Ok(None),
            Self::Host => Ok(None),
        }
    }

    /// The value with all tensors in host memory.
    pub(super) fn copy_to_host(&mut self, value: Value) -> Result<Value, VmError> {
        match value {
            #[cfg(feature = "gpu")]
            Value::DeviceTensor(tensor) => {
                if let Self::Gpu(gpu, _) = self {
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
            (Value::Tensor(tensor), Self::Gpu(gpu, _)) => {
                Ok(Value::DeviceTensor(gpu.upload(&tensor)?))
            }
            #[cfg(feature = "gpu")]
            (Value::DeviceTensor(tensor), Self::Gpu(gpu, _)) => {
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

    /// Starts a call.
    pub(super) fn begin(&mut self, profile: bool) {
        match self {
            #[cfg(all(feature = "gpu", feature = "cpu"))]
            Self::Gpu(gpu, Some(cpu)) => {
                gpu.begin(profile);
                cpu.begin();
            }
            #[cfg(feature = "gpu")]
            Self::Gpu(gpu, _) => gpu.begin(profile),
            #[cfg(feature = "cpu")]
            Self::Cpu(cpu) => cpu.begin(),
            Self::Host => {}
        }
        let _ = profile;
    }

    /// Submits what was recorded.
    pub(super) fn submit(&mut self) -> Result<(), VmError> {
        match self {
            #[cfg(feature = "gpu")]
            Self::Gpu(gpu, _) => gpu.submit(),
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
        let Op::Launch { site, .. } = op else {
            return Ok(vec![whole]);
        };
        let Some(plan) = sites[*site].newest() else {
            return Ok(vec![whole]);
        };
        let kernels = &exec.kernels[plan.kernel].func.kernels;
        let times: Vec<KernelTime> = match self {
            #[cfg(all(feature = "gpu", feature = "cpu"))]
            Self::Gpu(_, Some(cpu)) if exec.kernels[plan.kernel].is_native() => cpu.take_times(),
            #[cfg(feature = "gpu")]
            Self::Gpu(gpu, _) => gpu.take_times()?,
            #[cfg(feature = "cpu")]
            Self::Cpu(cpu) => cpu.take_times(),
            Self::Host => vec![],
        };
        let mut times = times.into_iter();
        let entry = |(index, kernel): (usize, &crate::kernel::Kernel)| {
            let plan = &plan.kernels[index];
            let mut entry = ProfileEntry {
                name: kernel.name.clone(),
                kind: ProfileKind::Kernel,
                seconds: 0.0,
                launches: plan.runs.len() as u64,
                bytes: plan.bytes.max(0) as u64,
                flops: plan.flops.max(0) as u64,
                ..whole.clone()
            };
            for time in times.by_ref().take(plan.runs.len()) {
                entry.seconds += time.seconds;
                entry.clock = time.clock;
                entry.code = time.code;
            }
            entry
        };
        Ok(kernels.iter().enumerate().map(entry).collect())
    }

    /// Bytes of tensors that launches changed in place, and that had to be copied for it because others hold them; since last
    /// asked.
    pub(super) fn take_duplicated(&mut self) -> u64 {
        match self {
            #[cfg(all(feature = "gpu", feature = "cpu"))]
            Self::Gpu(gpu, Some(cpu)) => gpu.take_duplicated() + cpu.take_duplicated(),
            #[cfg(feature = "gpu")]
            Self::Gpu(gpu, _) => gpu.take_duplicated(),
            #[cfg(feature = "cpu")]
            Self::Cpu(cpu) => cpu.take_duplicated(),
            Self::Host => 0,
        }
    }

    /// The constants of the executable as its calls take them.
    pub(super) fn constants(&self, on_host: &[Value]) -> Vec<Value> {
        match self {
            #[cfg(feature = "gpu")]
            Self::Gpu(gpu, _) => gpu.constants().to_vec(),
            #[cfg(feature = "cpu")]
            Self::Cpu(_) => on_host.to_vec(),
            Self::Host => on_host.to_vec(),
        }
    }

    /// Whether [`copy_to_host`](Self::copy_to_host) copies anything.
    pub(super) fn is_on_device(value: &Value) -> bool {
        match value {
            #[cfg(feature = "gpu")]
            Value::DeviceTensor(_) => true,
            Value::Tuple(items) => items.iter().any(Self::is_on_device),
            _ => false,
        }
    }

    /// Bytes that [`copy_to_host`](Self::copy_to_host) copies.
    pub(super) fn bytes_to_host(&self, value: &Value) -> u64 {
        match value {
            #[cfg(feature = "gpu")]
            Value::DeviceTensor(tensor) => tensor.device_bytes(),
            Value::Tuple(items) => items.iter().map(|item| self.bytes_to_host(item)).sum(),
            _ => 0,
        }
    }

    /// Bytes that [`copy_to_device`](Self::copy_to_device) copies.
    pub(super) fn bytes_to_device(&self, value: &Value) -> u64 {
        match (value, self) {
            #[cfg(feature = "gpu")]
            (Value::Tensor(tensor), Self::Gpu(..)) => tensor.bytes().len() as u64,
            (Value::Tuple(items), _) => items.iter().map(|item| self.bytes_to_device(item)).sum(),
            _ => 0,
        }
    }

    /// Waits until the device has done all that was submitted.
    pub(super) fn wait(&self) -> Result<(), VmError> {
        match self {
            #[cfg(feature = "gpu")]
            Self::Gpu(gpu, _) => gpu.wait(),
            #[cfg(feature = "cpu")]
            Self::Cpu(_) => Ok(()),
            Self::Host => Ok(()),
        }
    }
}

/// Runs the kernels of a lowered function on the CPU.
#[cfg(feature = "cpu")]
fn native(
    cpu: &mut super::launch_cpu::CpuBackend,
    exec: &Executable,
    kernel: usize,
    site: &mut Site,
    args: &mut Args,
    profile: bool,
) -> Result<(), VmError> {
    let (plan, new) = site.plan(exec, kernel, args)?;
    if new && let Err(error) = cpu.examine(exec, plan) {
        site.forget();
        return Err(error);
    }
    cpu.launch(exec, plan, args, profile)
}

impl Device {
    /// Kind of the device, for messages.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Cpu => "the CPU",
            #[cfg(feature = "gpu")]
            Self::Gpu(_) => "a GPU",
        }
    }
}
