//! Launches of shaders.

use std::sync::Arc;

use super::VmError;
use super::device_code::{DeviceCode, GpuKernel, code};
use super::launch::{Args, KernelPlan, LaunchPlan, RunPlan, Site};
use super::loaded::Loaded;
use super::place::Memory;
use super::profile::{Clock, KernelTime};
use super::program::Program;
use crate::artifact::{Executable, Pc};
use crate::kernel::{BufferRef, GLOBAL_ALIGN, LoweredFunc, ScalarPassing, folded_grid};
use crate::runtime::Value;
use crate::runtime_gpu::{Commands, DeviceBuffer, DeviceTensor, Dispatch, Gpu, GpuError, Timed};
use crate::support::Id;
use crate::tensor::{DType, ScalarType, Tensor};

/// The code that machines share, and what calls of one machine record.
pub(super) struct GpuBackend {
    gpu: Gpu,
    code: Arc<DeviceCode>,
    program: Arc<Program>,
    temps: Vec<Arc<DeviceBuffer>>,
    commands: Commands,
    profile: bool,
    duplicated: u64,
}

impl GpuBackend {
    pub(super) fn new(exec: &Executable, loaded: &Loaded, gpu: &Gpu) -> Result<Self, VmError> {
        let program = loaded.program(exec)?;
        Ok(Self {
            gpu: gpu.clone(),
            code: loaded.devices.get(exec, &program, gpu)?,
            program,
            temps: vec![],
            commands: Commands::new(gpu),
            profile: false,
            duplicated: 0,
        })
    }

    /// Constants of the executable, tensors on the device.
    pub(super) fn constants(&self) -> &[Value] {
        self.code.constants()
    }

    /// Starts a call: what an earlier one recorded is gone.
    pub(super) fn begin(&mut self, profile: bool) {
        self.profile = profile;
        self.duplicated = 0;
        self.commands = self.new_commands();
    }

    fn new_commands(&self) -> Commands {
        if self.profile {
            Commands::profiled(&self.gpu)
        } else {
            Commands::new(&self.gpu)
        }
    }

    /// Submits what was recorded.
    pub(super) fn submit(&mut self) -> Result<(), VmError> {
        Ok(self.commands.submit()?)
    }

    /// Time of each run of a kernel since last asked.
    pub(super) fn take_times(&mut self) -> Result<Vec<KernelTime>, VmError> {
        let next = self.new_commands();
        let times = std::mem::replace(&mut self.commands, next).finish()?;
        let time = |timed: &Timed| KernelTime {
            seconds: timed.seconds,
            clock: if timed.on_device {
                Clock::Device
            } else {
                Clock::Host
            },
            code: Some(if timed.trusted { "proved" } else { "checked" }),
        };
        Ok(times.iter().map(time).collect())
    }

    /// Bytes of tensors that were copied to be changed in place, since last asked.
    pub(super) fn take_duplicated(&mut self) -> u64 {
        std::mem::take(&mut self.duplicated)
    }

    /// Waits until the device has done all that was submitted.
    pub(super) fn wait(&self) -> Result<(), VmError> {
        Ok(self.gpu.wait()?)
    }

    pub(super) fn check_device(&self, tensor: &DeviceTensor) -> Result<(), VmError> {
        if tensor.gpu().same_as(&self.gpu) {
            Ok(())
        } else {
            Err(GpuError::OtherDevice.into())
        }
    }

    /// A copy on the device. It is made before what is recorded runs, in a buffer that nothing recorded uses.
    pub(super) fn upload(&self, tensor: &Tensor) -> Result<DeviceTensor, VmError> {
        Ok(self.gpu.upload(tensor)?)
    }

    /// Makes the value a tensor of this type and shape, in its own buffer if that can be, else in one of as many bytes as
    /// are planned for all tensors that will have it.
    pub(super) fn renew(
        &self,
        value: &mut Value,
        dtype: DType,
        shape: &[usize],
        bytes: usize,
    ) -> Result<(), VmError> {
        if let Value::DeviceTensor(tensor) = value
            && tensor.gpu().same_as(&self.gpu)
        {
            return Ok(tensor.renew(dtype, shape, bytes as u64)?);
        }
        let mut tensor = self.gpu.empty(DType::U8, &[bytes])?;
        tensor.renew(dtype, shape, bytes as u64)?;
        *value = Value::DeviceTensor(tensor);
        Ok(())
    }

    /// Memory for an arena of so many bytes.
    pub(super) fn reserve(&self, bytes: u64) -> Result<Memory, VmError> {
        let made = self.gpu.alloc_arena(bytes)?;
        let limit = self.gpu.max_buffer_bytes();
        Ok(made.map_or(Memory::Apart { limit }, Memory::Device))
    }

    /// The buffer of a tensor that nobody else holds, if the tensor starts where it does.
    pub(super) fn memory_of(&self, tensor: &mut DeviceTensor) -> Option<Memory> {
        let own = tensor.gpu().same_as(&self.gpu) && tensor.is_unique();
        own.then(|| tensor.buffer().whole())
            .flatten()
            .map(Memory::Device)
    }

    /// A tensor in an arena; `None` if it cannot lie there.
    pub(super) fn tensor_in(
        &self,
        arena: &DeviceBuffer,
        offset: u64,
        dtype: DType,
        shape: &[usize],
    ) -> Result<Option<DeviceTensor>, VmError> {
        Ok(self.gpu.tensor_in(arena, offset, dtype, shape)?)
    }

    /// Records the kernels of a lowered function, or of that of its variants which is for the arguments; each has its sharing.
    pub(super) fn launch(
        &mut self,
        exec: &Executable,
        kernel: usize,
        sharings: &[usize],
        site: &mut Site,
        args: &mut Args,
    ) -> Result<(), VmError> {
        let func = &exec.kernels[kernel].func;
        for (at, param) in func.params.iter().enumerate() {
            if param.written {
                self.own(args.get_mut(at))?;
            }
        }
        let (plan, new) = site.plan(exec, kernel, args)?;
        let sharing = sharings[plan.variant];
        if new && let Err(error) = self.complete(exec, sharing, plan) {
            site.forget();
            return Err(error);
        }
        let plan = &*plan;
        let func = &exec.kernels[plan.kernel].func;
        for (temp, &bytes) in plan.temps.iter().enumerate() {
            let bytes = (bytes as u64).max(1).next_multiple_of(GLOBAL_ALIGN);
            if self.temps.get(temp).is_none_or(|t| t.size() < bytes) {
                let buffer = self.gpu.alloc(bytes)?;
                match self.temps.get_mut(temp) {
                    Some(smaller) => *smaller = buffer,
                    None => self.temps.push(buffer),
                }
            }
        }
        let kernels = self.code.kernels(sharing, plan.code);
        let kernels = kernels.expect("they are made with the plan");
        for (at, (kernel, planned)) in kernels.iter().zip(&plan.kernels).enumerate() {
            let Some(grid) = dispatch_grid(kernel, planned, self.gpu.target().max_grid) else {
                return Err(GpuError::Grid {
                    kernel: func.kernels[at].name.clone(),
                    grid: planned.grid.map(|n| n as u64),
                    limit: self.gpu.target().max_grid,
                }
                .into());
            };
            let bound = bound(kernel, plan, &self.temps, args, func, &self.gpu)?;
            for run in &planned.runs {
                let mut immediates = [0; 128];
                let immediates = match kernel.passing {
                    ScalarPassing::Immediates => {
                        write_scalars(kernel, planned.grid, run, &mut immediates)
                    }
                    ScalarPassing::None | ScalarPassing::Uniform { .. } => &[],
                };
                self.commands.dispatch(&Dispatch {
                    pipeline: &kernel.pipeline,
                    buffers: &bound,
                    uniform: run.uniform.as_deref(),
                    immediates,
                    grid,
                    flops: planned.flops as f64 / planned.runs.len() as f64,
                    bytes: planned.bytes as f64 / planned.runs.len() as f64,
                })?;
            }
        }
        Ok(())
    }

    /// A tensor that will be written, as an argument changed in place, is copied if others hold it: they keep what they have.
    fn own(&mut self, value: Option<&mut Value>) -> Result<(), VmError> {
        if let Some(Value::DeviceTensor(tensor)) = value
            && !tensor.is_unique()
        {
            self.submit()?;
            *tensor = tensor.duplicate()?;
            self.duplicated += tensor.device_bytes();
        }
        Ok(())
    }

    /// Checks that indices are computed right for the dims of a new plan, and chooses the code for it. Then puts scalars into uniform buffers,
    /// where the shaders take them so.
    fn complete(
        &mut self,
        exec: &Executable,
        sharing: usize,
        plan: &mut LaunchPlan,
    ) -> Result<(), VmError> {
        let func = &exec.kernels[plan.kernel].func;
        if let Some((dim, proved)) = func.unproved_dim(&plan.dims) {
            return Err(VmError::OutOfRange {
                kernel: func.name.clone(),
                what: format!("`{}`", func.dims[dim]),
                least: *proved.start(),
                most: *proved.end(),
                value: plan.dims[dim],
            });
        }
        plan.code = code(&exec.kernels[plan.kernel], &plan.dims);
        self.code.make_for(exec, &self.program, sharing, plan)?;
        let kernels = self.code.kernels(sharing, plan.code);
        let kernels = kernels.expect("they were made just now");
        for (kernel, planned) in kernels.iter().zip(&mut plan.kernels) {
            if let ScalarPassing::Uniform { .. } = kernel.passing {
                for run in &mut planned.runs {
                    let mut bytes = vec![0; 4 * (run.scalars.len() + 3)];
                    let bytes = write_scalars(kernel, planned.grid, run, &mut bytes);
                    run.uniform = Some(self.gpu.uniform(bytes)?);
                }
            }
        }
        Ok(())
    }
}

/// Workgroups to dispatch; `None` if there are too many.
fn dispatch_grid(kernel: &GpuKernel, plan: &KernelPlan, max: u32) -> Option<[u32; 3]> {
    let grid = plan.grid.map(|n| n as u64);
    if kernel.folded {
        return folded_grid(grid, max);
    }
    let fits = grid.iter().all(|&n| n <= u64::from(max));
    fits.then(|| grid.map(|n| n as u32))
}

/// The scalars as the shader reads them, four bytes each; the part of `out` that they take.
fn write_scalars<'o>(
    kernel: &GpuKernel,
    grid: [i64; 3],
    run: &RunPlan,
    out: &'o mut [u8],
) -> &'o [u8] {
    let mut words = 0;
    let mut put = |word: [u8; 4]| {
        out[4 * words..][..4].copy_from_slice(&word);
        words += 1;
    };
    for (value, ty) in run.scalars.iter().zip(&kernel.scalar_types) {
        put(match ty {
            ScalarType::F32 => (*value as f32).to_ne_bytes(),
            ScalarType::U32 => (*value as u32).to_ne_bytes(),
            _ => (*value as i32).to_ne_bytes(),
        });
    }
    if kernel.folded {
        grid.iter().for_each(|n| put((*n as u32).to_ne_bytes()));
    }
    &out[..4 * words]
}

/// The buffers of a kernel in binding order, with the bytes of each that it sees.
fn bound<'a>(
    kernel: &GpuKernel,
    plan: &LaunchPlan,
    temps: &'a [Arc<DeviceBuffer>],
    args: &'a Args,
    func: &LoweredFunc,
    gpu: &Gpu,
) -> Result<Vec<(&'a DeviceBuffer, u64)>, VmError> {
    let buffer = |binding: &BufferRef| match *binding {
        BufferRef::Temp(index) => {
            let bytes = (plan.temps[index] as u64)
                .max(1)
                .next_multiple_of(GLOBAL_ALIGN);
            Ok((&*temps[index], bytes))
        }
        BufferRef::Param(index) => match args.get(index) {
            Value::DeviceTensor(tensor) if tensor.gpu().same_as(gpu) => {
                Ok((&**tensor.buffer(), tensor.binding_bytes()))
            }
            Value::DeviceTensor(_) => Err(GpuError::OtherDevice.into()),
            other => Err(VmError::Register {
                func: func.name.clone(),
                pc: Pc::from_index(0),
                expected: "a tensor on the device",
                given: other.kind(),
            }),
        },
    };
    kernel.bindings.iter().map(buffer).collect()
}
