//! Launches of native code.
#![expect(unsafe_code, reason = "native code works on addresses")]

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use super::VmError;
use super::launch::{Args, Code, LaunchPlan};
use super::loaded::Loaded;
use super::profile::{Clock, KernelTime};
use crate::artifact::{Executable, KernelFunc, Pc};
use crate::codegen_cpu::{Backend, CodegenError, CompileOptions, LINE, Verify, is_streamed};
use crate::kernel::{BufferRef, Kernel, LoweredFunc};
use crate::runtime::Value;
use crate::runtime_cpu::{CpuModule, RawBuffer, Team};
use crate::support::Id;
use crate::support::timing::Timing;
use crate::tensor::{DType, Tensor};

/// Native code of an executable by [`Code`], made when the first launch of any machine needs it: that of variants one by one, all
/// other together.
pub(super) struct NativeCode {
    /// What makes it.
    backend: Backend,
    whole: Modules,
    /// By lowered function.
    variants: OnceLock<Vec<Modules>>,
}

type Modules = [OnceLock<Result<CpuModule, Arc<CodegenError>>>; 3];

impl NativeCode {
    pub(super) fn new(backend: Backend) -> Self {
        Self {
            backend,
            whole: Modules::default(),
            variants: OnceLock::new(),
        }
    }

    /// The code of all lowered functions without variants, each under its number.
    fn whole(&self, exec: &Executable, code: Code) -> Result<&CpuModule, VmError> {
        let all = || {
            let kernels = 0..exec.kernels.len();
            // The others keep their places, without kernels.
            let funcs = kernels.map(|at| match exec.is_chosen(at) {
                true => without_kernels(&exec.kernels[at]),
                false => native(&exec.kernels[at]),
            });
            self.compile(funcs.collect(), code)
        };
        made(self.whole[code as usize].get_or_init(all))
    }

    /// The code of the lowered function of a plan, and its number there.
    fn get(&self, exec: &Executable, plan: &LaunchPlan) -> Result<(&CpuModule, usize), VmError> {
        if !plan.is_chosen {
            return Ok((self.whole(exec, plan.code)?, plan.kernel));
        }
        let none = || exec.kernels.iter().map(|_| Modules::default()).collect();
        let modules = &self.variants.get_or_init(none)[plan.kernel];
        let one = || self.compile(vec![native(&exec.kernels[plan.kernel])], plan.code);
        Ok((made(modules[plan.code as usize].get_or_init(one))?, 0))
    }

    fn compile(
        &self,
        mut funcs: Vec<LoweredFunc>,
        code: Code,
    ) -> Result<CpuModule, Arc<CodegenError>> {
        if let Some(in_bounds) = code.in_bounds() {
            let kernels = funcs.iter_mut().flat_map(|func| &mut func.kernels);
            kernels.for_each(|kernel| kernel.in_bounds = in_bounds);
        }
        let funcs: Vec<&LoweredFunc> = funcs.iter().collect();
        let options = CompileOptions {
            verify: Verify::default(),
            backend: self.backend,
        };
        CpuModule::new(&funcs, options).map_err(Arc::new)
    }

    /// How many modules were compiled.
    pub(super) fn compiled(&self) -> usize {
        self.modules().count()
    }

    /// How long that took, by stages of the code generators.
    pub(super) fn timing(&self) -> Timing {
        let mut timing = Timing::default();
        for module in self.modules().flatten() {
            timing.extend(module.timing());
        }
        timing
    }

    fn modules(&self) -> impl Iterator<Item = &Result<CpuModule, Arc<CodegenError>>> {
        let variants = self.variants.get().into_iter().flatten();
        let modules = variants.flatten().chain(&self.whole);
        modules.filter_map(OnceLock::get)
    }
}

fn made(module: &Result<CpuModule, Arc<CodegenError>>) -> Result<&CpuModule, VmError> {
    let module = module.as_ref();
    module.map_err(|error| VmError::Native(error.clone()))
}

/// A lowered function as native code is made of it: what a shader computes has none.
fn native(kernel: &KernelFunc) -> LoweredFunc {
    match kernel.is_native() {
        true => kernel.func.clone(),
        false => without_kernels(kernel),
    }
}

fn without_kernels(kernel: &KernelFunc) -> LoweredFunc {
    LoweredFunc {
        kernels: vec![],
        ..kernel.func.clone()
    }
}

/// The native code that machines share, and memory that launches of one machine use one after the other.
pub(super) struct CpuBackend {
    loaded: Arc<Loaded>,
    temps: Vec<Tensor>,
    buffers: Buffers,
    times: Vec<KernelTime>,
    duplicated: u64,
}

/// Addresses of one launch, kept for their memory.
#[derive(Default)]
struct Buffers {
    params: Vec<RawBuffer>,
    temps: Vec<RawBuffer>,
}

// SAFETY: the addresses are cleared and written anew by each launch, and not used after it.
unsafe impl Send for Buffers {}
// SAFETY: as above; they are only reached through `&mut`.
unsafe impl Sync for Buffers {}

impl CpuBackend {
    pub(super) fn new(exec: &Executable, loaded: Arc<Loaded>) -> Result<Self, VmError> {
        // What launches of a loaded artifact need, their dims decide.
        let native = exec.kernels.iter().filter(|k| k.is_native());
        let mut kernels = native.flat_map(|k| &k.func.kernels);
        if kernels.any(|kernel| kernel.in_bounds) {
            loaded.native.whole(exec, Code::AsProved)?;
        }
        Ok(Self {
            loaded,
            temps: vec![],
            buffers: Buffers::default(),
            times: vec![],
            duplicated: 0,
        })
    }

    /// Chooses the code for a new plan.
    pub(super) fn examine(&self, exec: &Executable, plan: &mut LaunchPlan) -> Result<(), VmError> {
        plan.code = Code::of(&exec.kernels[plan.kernel].func, &plan.dims);
        self.loaded.native.get(exec, plan).map(drop)
    }

    /// Runs all kernels of the lowered function of a plan.
    pub(super) fn launch(
        &mut self,
        exec: &Executable,
        plan: &LaunchPlan,
        args: &mut Args,
        profile: bool,
    ) -> Result<(), VmError> {
        let func = &exec.kernels[plan.kernel].func;
        self.buffers.params.clear();
        for (at, param) in func.params.iter().enumerate() {
            let buffer = if param.written {
                written(func, at, args.get_mut(at), &mut self.duplicated)?
            } else {
                read(func, args.get(at))?
            };
            self.buffers.params.push(buffer);
        }
        self.reserve_temps(func, plan)?;
        let (module, index) = self.loaded.native.get(exec, plan)?;
        let team = Team::global();
        let (params, temps) = (&self.buffers.params, &self.buffers.temps);
        let failed = |e| VmError::Launch(e);
        if !profile {
            // SAFETY: every tensor has the bytes that its parameter's shape says (the plan checked the shapes), is aligned for
            // its elements, and lives in a register or constant until the launch is over. Written ones are held by nobody
            // else (`written`), and the launch checks that they do not overlap others. Code without checks runs only with
            // dims for which no access leaves its array (`examine`).
            return unsafe { module.run(index, params, temps, &plan.dims, team) }.map_err(failed);
        }
        for kernel in 0..func.kernels.len() {
            let start = Instant::now();
            // SAFETY: as above.
            let done = unsafe { module.launch(index, kernel, params, temps, &plan.dims, team) };
            done.map_err(failed)?;
            self.times.push(KernelTime {
                seconds: start.elapsed().as_secs_f64(),
                clock: Clock::Host,
                code: Some(module.code_name(index, kernel)),
            });
        }
        Ok(())
    }

    /// Starts a call: times of an earlier one, which failed, are gone.
    pub(super) fn begin(&mut self) {
        self.times.clear();
        self.duplicated = 0;
    }

    /// Time of each kernel since last asked.
    pub(super) fn take_times(&mut self) -> Vec<KernelTime> {
        std::mem::take(&mut self.times)
    }

    /// Bytes of tensors that were copied to be changed in place, since last asked.
    pub(super) fn take_duplicated(&mut self) -> u64 {
        std::mem::take(&mut self.duplicated)
    }

    /// Temporaries at least as large as planned.
    fn reserve_temps(&mut self, func: &LoweredFunc, plan: &LaunchPlan) -> Result<(), VmError> {
        self.buffers.temps.clear();
        for (index, &bytes) in plan.temps.iter().enumerate() {
            if self.temps.get(index).is_none_or(|temp| temp.len() < bytes) {
                let temp = Tensor::zeros(DType::U8, &[bytes]).map_err(|e| refused(func, e))?;
                match self.temps.get_mut(index) {
                    Some(smaller) => *smaller = temp,
                    None => self.temps.push(temp),
                }
            }
            let temp = &mut self.temps[index];
            let bytes = temp.bytes_mut().map_err(|e| refused(func, e))?;
            self.buffers.temps.push(RawBuffer::of(bytes));
        }
        Ok(())
    }
}

/// A tensor that is only read.
fn read(func: &LoweredFunc, value: &Value) -> Result<RawBuffer, VmError> {
    match value {
        Value::Tensor(tensor) => Ok(RawBuffer::read_only(tensor.bytes())),
        other => Err(not_here(func, other)),
    }
}

/// A tensor that is written. One that is shared, as an argument changed in place, is copied before: its other holders keep
/// what they have. So is one in memory of somebody else that starts within a line, if code writes whole lines of it.
fn written(
    func: &LoweredFunc,
    param: usize,
    value: Option<&mut Value>,
    duplicated: &mut u64,
) -> Result<RawBuffer, VmError> {
    match value {
        Some(Value::Tensor(tensor)) => {
            let within_a_line = !tensor.bytes().as_ptr().addr().is_multiple_of(LINE);
            if !tensor.is_unique() || within_a_line && writes_lines(func, param) {
                let copy = Tensor::from_bytes(tensor.dtype(), tensor.shape(), tensor.bytes());
                *tensor = copy.map_err(|e| refused(func, e))?;
                *duplicated += tensor.bytes().len() as u64;
            }
            let bytes = tensor.bytes_mut();
            bytes.map(RawBuffer::of).map_err(|e| refused(func, e))
        }
        other => Err(not_here(func, other.map_or(&Value::None, |value| value))),
    }
}

/// Whether a kernel may write a parameter past the caches.
fn writes_lines(func: &LoweredFunc, param: usize) -> bool {
    let mut bindings = func.kernels.iter().flat_map(Kernel::bindings);
    bindings.any(|(_, array, buffer, _)| buffer == BufferRef::Param(param) && is_streamed(array))
}

fn refused(func: &LoweredFunc, source: crate::tensor::TensorError) -> VmError {
    VmError::Tensor {
        func: func.name.clone(),
        source,
    }
}

fn not_here(func: &LoweredFunc, value: &Value) -> VmError {
    VmError::Register {
        func: func.name.clone(),
        pc: Pc::from_index(0),
        expected: "a tensor in host memory",
        given: value.kind(),
    }
}
