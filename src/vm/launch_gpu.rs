//! Launches of shaders.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::thread;

use super::VmError;
use super::arenas::Sharing;
use super::decode::Program;
use super::launch::{Args, Code, KernelPlan, LaunchPlan, RunPlan, Site};
use super::loaded::Loaded;
use super::machine::host_constant;
use super::place::Memory;
use super::profile::{Clock, KernelTime};
use crate::artifact::{Constant, Executable, KernelFunc, Pc};
use crate::kernel::{
    Access, BufferRef, GLOBAL_ALIGN, Kernel, LoweredFunc, Proof, ScalarPassing, Shader, folded_grid,
};
use crate::runtime::Value;
use crate::runtime_gpu::{
    Commands, DeviceBuffer, DeviceTensor, Dispatch, Gpu, GpuError, Pipeline, PipelineDesc, Timed,
};
use crate::support::Id;
use crate::tensor::{DType, ScalarType, Tensor};

/// A kernel and what a launch of it needs.
#[derive(Debug)]
struct GpuKernel {
    pipeline: Arc<Pipeline>,
    bindings: Vec<BufferRef>,
    passing: ScalarPassing,
    folded: bool,
    scalar_types: Vec<ScalarType>,
}

/// Pipelines and constants of an executable on one device.
pub(super) struct DeviceCode {
    gpu: Gpu,
    /// By sharing of a lowered function, its kernels.
    sharings: Vec<Made>,
    consts: Vec<Value>,
}

/// The kernels of a sharing, by the code that launches take. What only launches decide, the first one that takes it makes.
#[derive(Default, Debug)]
struct Made {
    as_proved: OnceLock<Vec<GpuKernel>>,
    unchecked: OnceLock<Vec<GpuKernel>>,
}

impl Made {
    fn slot(&self, code: Code) -> &OnceLock<Vec<GpuKernel>> {
        match code {
            Code::AsProved | Code::Checked => &self.as_proved,
            Code::Unchecked => &self.unchecked,
        }
    }
}

/// The code of a lowered function for launches with these dims. Of a text that is not the kernels' nothing is shown.
fn code(func: &KernelFunc, dims: &[i64]) -> Code {
    if func.wgsl.iter().all(|shader| shader.is_translation) {
        Code::of(&func.func, dims)
    } else {
        Code::AsProved
    }
}

/// The code that all launches of a lowered function take, if there is one: neither which of its variants, nor checks of it, depend on dims.
fn only_code(exec: &Executable, kernel: usize) -> Option<Code> {
    let func = &exec.kernels[kernel];
    let is_one = func.func.dims.is_empty()
        || func.func.kernels.iter().all(|kernel| kernel.in_bounds)
        || !func.wgsl.iter().all(|shader| shader.is_translation);
    (is_one && !exec.is_chosen(kernel)).then(|| match func.func.dims.is_empty() {
        true => code(func, &[]),
        false => Code::AsProved,
    })
}

impl DeviceCode {
    fn new(exec: &Executable, sharings: &[Sharing], gpu: &Gpu) -> Result<Self, VmError> {
        let on_device = |constant: &Constant| match constant {
            Constant::Tensor(tensor) => Ok(Value::DeviceTensor(gpu.upload(tensor)?)),
            other => Ok(host_constant(other)),
        };
        let (sharings, consts) = thread::scope(|scope| {
            let sharings = scope.spawn(|| {
                let made = in_parallel(exec, sharings, gpu);
                gpu.save_pipelines();
                made
            });
            let consts = exec.constants.iter().map(on_device);
            let consts = consts.collect::<Result<_, VmError>>();
            let sharings = sharings.join().unwrap_or_else(|panic| resume_unwind(panic));
            (sharings, consts)
        });
        Ok(Self {
            gpu: gpu.clone(),
            sharings: sharings?,
            consts: consts?,
        })
    }
}

/// The kernels of all sharings but those that launches decide. Drivers compile on the thread that asks, so there is one for each core.
fn in_parallel(exec: &Executable, sharings: &[Sharing], gpu: &Gpu) -> Result<Vec<Made>, VmError> {
    let made: Vec<OnceLock<Result<Made, VmError>>> =
        sharings.iter().map(|_| OnceLock::new()).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        while let at = next.fetch_add(1, Ordering::Relaxed)
            && let Some(sharing) = sharings.get(at)
        {
            let Some(code) = only_code(exec, sharing.kernel) else {
                continue;
            };
            let kernels = kernels(&exec.kernels[sharing.kernel], sharing, code, gpu);
            if kernels.is_err() {
                next.store(sharings.len(), Ordering::Relaxed);
            }
            made[at].get_or_init(|| {
                let made = Made::default();
                made.slot(code).set(kernels?).expect("it is new");
                Ok(made)
            });
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 1..threads.min(sharings.len()) {
            scope.spawn(work);
        }
        work();
    });
    // What failed first in this order is what is said.
    let made = made.into_iter().map(OnceLock::into_inner);
    made.map(|made| made.unwrap_or_else(|| Ok(Made::default())))
        .collect()
}

impl DeviceCode {
    /// The kernels of a sharing.
    fn kernels(
        &self,
        exec: &Executable,
        program: &Program,
        sharing: usize,
        code: Code,
    ) -> Result<&[GpuKernel], VmError> {
        let slot = self.sharings[sharing].slot(code);
        if let Some(made) = slot.get() {
            return Ok(made);
        }
        let sharing = &program.sharings[sharing];
        let made = kernels(&exec.kernels[sharing.kernel], sharing, code, &self.gpu)?;
        Ok(slot.get_or_init(|| made))
    }
}

/// The code of an executable on the devices that machines run it on. It is kept as long as one of them does.
#[derive(Default)]
pub(super) struct DeviceCodes(Mutex<Vec<Weak<DeviceCode>>>);

impl DeviceCodes {
    fn get(
        &self,
        exec: &Executable,
        sharings: &[Sharing],
        gpu: &Gpu,
    ) -> Result<Arc<DeviceCode>, VmError> {
        let mut codes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        codes.retain(|code| code.strong_count() > 0);
        let found = codes.iter().filter_map(Weak::upgrade);
        if let Some(code) = found.into_iter().find(|code| code.gpu.same_as(gpu)) {
            return Ok(code);
        }
        let code = Arc::new(DeviceCode::new(exec, sharings, gpu)?);
        codes.push(Arc::downgrade(&code));
        Ok(code)
    }
}

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
            code: loaded.devices.get(exec, &program.sharings, gpu)?,
            program,
            temps: vec![],
            commands: Commands::new(gpu),
            profile: false,
            duplicated: 0,
        })
    }

    /// Constants of the executable, tensors on the device.
    pub(super) fn constants(&self) -> &[Value] {
        &self.code.consts
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
        let kernels = self.code.kernels(exec, &self.program, sharing, plan.code)?;
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
        let kernels = self.code.kernels(exec, &self.program, sharing, plan.code)?;
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

/// No driver checks an operation on fragments, so a shader has them only if its kernel has. Such kernels are verified, and none comes
/// from a file.
fn check_fragments(kernel: &Kernel, wgsl: &Shader, gpu: &Gpu) -> Result<(), VmError> {
    if wgsl.text.contains("wgpu_cooperative_matrix") && !kernel.has_fragments() {
        return Err(VmError::NoShader(kernel.name.clone()));
    }
    let mut fragments = kernel.fragments.iter().map(|(_, fragment)| fragment);
    if !fragments.all(|fragment| gpu.target().has_fragment(fragment)) {
        let (kernel, device) = (kernel.name.clone(), gpu.info().name.clone());
        return Err(GpuError::CooperativeMatrix { kernel, device }.into());
    }
    Ok(())
}

fn kernels(
    func: &KernelFunc,
    sharing: &Sharing,
    code: Code,
    gpu: &Gpu,
) -> Result<Vec<GpuKernel>, VmError> {
    let make = |((kernel, wgsl), shared): ((&Kernel, &Shader), &Vec<u32>)| {
        let access: Vec<Access> = kernel.bindings().map(|(_, _, _, access)| access).collect();
        let scalars = kernel.scalars.len() + if wgsl.folded { 3 } else { 0 };
        check_fragments(kernel, wgsl, gpu)?;
        let pipeline = gpu.pipeline(&PipelineDesc {
            text: &wgsl.text,
            entry: &wgsl.entry,
            access: &access,
            shared,
            uniform: match wgsl.passing {
                ScalarPassing::Uniform { binding } => Some(binding),
                ScalarPassing::None | ScalarPassing::Immediates => None,
            },
            immediate_bytes: match wgsl.passing {
                ScalarPassing::Immediates => 4 * scalars as u32,
                ScalarPassing::None | ScalarPassing::Uniform { .. } => 0,
            },
            subgroup: kernel.least_subgroup(),
            proof: Proof {
                accesses: code.in_bounds().unwrap_or(kernel.in_bounds),
                ..kernel.proof()
            },
        })?;
        let scalar_type = |(var, _): &(crate::kernel::VarId, _)| kernel.vars[*var].ty.scalar;
        Ok(GpuKernel {
            pipeline,
            bindings: kernel.bindings().map(|(_, _, buffer, _)| buffer).collect(),
            passing: wgsl.passing,
            folded: wgsl.folded,
            scalar_types: kernel.scalars.iter().map(scalar_type).collect(),
        })
    };
    if func.is_native() {
        return Ok(vec![]);
    }
    if func.wgsl.len() != func.func.kernels.len() {
        return Err(VmError::NoShader(func.func.name.clone()));
    }
    let kernels = func.func.kernels.iter().zip(&func.wgsl);
    kernels.zip(&sharing.shared).map(make).collect()
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
