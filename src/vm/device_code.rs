//! Pipelines and constants of an executable on a device, which machines share.
//!
//! Drivers compile on the thread that asks, for milliseconds to seconds a shader. Pipelines that do not depend on sizes are made with the device, by
//! as many threads as there are cores. Pipelines that sizes select (a variant, with checks or without) are made when a launch first takes one, together with
//! those of other launches at these sizes. The file that keeps pipelines has them when the device is dropped.

use std::collections::HashMap;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::thread;

use super::VmError;
use super::arenas::Sharing;
use super::launch::{Code, LaunchPlan, holds};
use super::machine::host_constant;
use super::program::Program;
use crate::artifact::{Constant, Executable, KernelFunc};
use crate::kernel::{Access, BufferRef, Kernel, Proof, ScalarPassing, Shader};
use crate::runtime::Value;
use crate::runtime_gpu::{Gpu, GpuError, Pipeline, PipelineDesc};
use crate::tensor::ScalarType;

/// A kernel and what a launch of it needs.
pub(super) struct GpuKernel {
    pub(super) pipeline: Arc<Pipeline>,
    pub(super) bindings: Vec<BufferRef>,
    pub(super) passing: ScalarPassing,
    pub(super) folded: bool,
    pub(super) scalar_types: Vec<ScalarType>,
}

/// Pipelines and constants of an executable on one device.
pub(super) struct DeviceCode {
    gpu: Gpu,
    /// By sharing of a lowered function, its kernels.
    sharings: Vec<Kernels>,
    consts: Vec<Value>,
}

/// The kernels of a sharing, by the code that launches take.
#[derive(Default)]
struct Kernels {
    as_proved: OnceLock<Vec<GpuKernel>>,
    unchecked: OnceLock<Vec<GpuKernel>>,
}

impl Kernels {
    fn slot(&self, code: Code) -> &OnceLock<Vec<GpuKernel>> {
        match code {
            // A launch with dims for which nothing is proved is refused, so all is checked only where no kernel has a proof.
            Code::AsProved | Code::Checked => &self.as_proved,
            Code::Unchecked => &self.unchecked,
        }
    }
}

/// The code of a lowered function for launches with these dims. Of a text that is not the kernels' nothing is shown.
pub(super) fn code(func: &KernelFunc, dims: &[i64]) -> Code {
    if is_translation(func) {
        Code::of(&func.func, dims)
    } else {
        Code::AsProved
    }
}

fn is_translation(func: &KernelFunc) -> bool {
    func.wgsl.iter().all(|shader| shader.is_translation)
}

/// The code that all launches of a lowered function take, if there is one: neither which of its variants, nor checks of it, depend on dims.
fn only_code(exec: &Executable, kernel: usize) -> Option<Code> {
    let func = &exec.kernels[kernel];
    if exec.is_chosen(kernel) {
        return None;
    }
    if func.func.dims.is_empty() {
        return Some(code(func, &[]));
    }
    let proved = func.func.kernels.iter().all(|kernel| kernel.in_bounds);
    (proved || !is_translation(func)).then_some(Code::AsProved)
}

impl DeviceCode {
    fn new(exec: &Executable, program: &Program, gpu: &Gpu) -> Result<Self, VmError> {
        let sharings = &program.sharings;
        let code = Self {
            gpu: gpu.clone(),
            sharings: sharings.iter().map(|_| Kernels::default()).collect(),
            consts: vec![],
        };
        let on_device = |constant: &Constant| match constant {
            Constant::Tensor(tensor) => Ok(Value::DeviceTensor(gpu.upload(tensor)?)),
            other => Ok(host_constant(other)),
        };
        let wanted = sharings.iter().enumerate();
        let wanted: Vec<(usize, Code)> = wanted
            .filter_map(|(at, sharing)| Some((at, only_code(exec, sharing.kernel)?)))
            .collect();
        let consts = thread::scope(|scope| {
            let made = scope.spawn(|| {
                let made = code.make(exec, program, &wanted);
                gpu.save_pipelines();
                made
            });
            let consts = exec.constants.iter().map(on_device);
            let consts = consts.collect::<Result<_, VmError>>();
            made.join().unwrap_or_else(|panic| resume_unwind(panic))?;
            consts
        });
        Ok(Self {
            consts: consts?,
            ..code
        })
    }

    /// Constants of the executable, tensors on the device.
    pub(super) fn constants(&self) -> &[Value] {
        &self.consts
    }

    /// The kernels that a launch takes, if they are made.
    pub(super) fn kernels(&self, sharing: usize, code: Code) -> Option<&[GpuKernel]> {
        self.sharings[sharing].slot(code).get().map(Vec::as_slice)
    }

    /// Makes the kernels that a new plan takes, if it is the first, and with them what other launches take where dims of the same names have
    /// the same values. In most programs a name means one size; where it does not, something is made early or in vain.
    pub(super) fn make_for(
        &self,
        exec: &Executable,
        program: &Program,
        sharing: usize,
        plan: &LaunchPlan,
    ) -> Result<(), VmError> {
        if self.kernels(sharing, plan.code).is_some() {
            return Ok(());
        }
        let names = exec.kernels[plan.kernel].func.dims.iter();
        let sizes: HashMap<&str, i64> = names
            .map(String::as_str)
            .zip(plan.dims.iter().copied())
            .collect();
        let mut wanted = vec![(sharing, plan.code)];
        for (kernel, sharings) in program.launches() {
            let mut variants = exec.variants(kernel).zip(sharings);
            let taken = variants.find_map(|(variant, &sharing)| {
                let func = &exec.kernels[variant];
                let dims = func.func.dims.iter();
                let dims = dims.map(|name| sizes.get(name.as_str()).copied());
                let dims: Vec<i64> = dims.collect::<Option<_>>()?;
                let is_launched = func.func.unproved_dim(&dims).is_none();
                (is_launched && holds(&func.func, &dims)).then(|| (sharing, code(func, &dims)))
            });
            if let Some((sharing, code)) = taken
                && self.kernels(sharing, code).is_none()
                && !wanted.contains(&(sharing, code))
            {
                wanted.push((sharing, code));
            }
        }
        match self.make(exec, program, &wanted) {
            Err(error) if self.kernels(sharing, plan.code).is_some() => {
                // The launch that takes them fails, if there is one.
                log::debug!("kernels that other launches may take: {error}");
                Ok(())
            }
            made => made,
        }
    }

    /// Makes the kernels of sharings for launches with this code, by a thread for each core. What fails first in this order is the error.
    fn make(
        &self,
        exec: &Executable,
        program: &Program,
        wanted: &[(usize, Code)],
    ) -> Result<(), VmError> {
        let next = AtomicUsize::new(0);
        let failed: Mutex<Option<(usize, VmError)>> = Mutex::new(None);
        let work = || {
            while let at = next.fetch_add(1, Ordering::Relaxed)
                && let Some(&(sharing, code)) = wanted.get(at)
            {
                let of = &program.sharings[sharing];
                match kernels(&exec.kernels[of.kernel], of, code, &self.gpu) {
                    // Another machine may have made them meanwhile.
                    Ok(made) => drop(self.sharings[sharing].slot(code).set(made)),
                    Err(error) => {
                        next.store(wanted.len(), Ordering::Relaxed);
                        let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                        if failed.as_ref().is_none_or(|(before, _)| at < *before) {
                            *failed = Some((at, error));
                        }
                    }
                }
            }
        };
        let threads = thread::available_parallelism().map_or(1, usize::from);
        thread::scope(|scope| {
            for _ in 1..threads.min(wanted.len()) {
                scope.spawn(work);
            }
            work();
        });
        let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
        failed.map_or(Ok(()), |(_, error)| Err(error))
    }
}

/// The code of an executable on the devices that machines run it on. It is kept as long as one of them does.
#[derive(Default)]
pub(super) struct DeviceCodes(Mutex<Vec<Weak<DeviceCode>>>);

impl DeviceCodes {
    pub(super) fn get(
        &self,
        exec: &Executable,
        program: &Program,
        gpu: &Gpu,
    ) -> Result<Arc<DeviceCode>, VmError> {
        let mut codes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        codes.retain(|code| code.strong_count() > 0);
        let found = codes.iter().filter_map(Weak::upgrade);
        if let Some(code) = found.into_iter().find(|code| code.gpu.same_as(gpu)) {
            return Ok(code);
        }
        let code = Arc::new(DeviceCode::new(exec, program, gpu)?);
        codes.push(Arc::downgrade(&code));
        Ok(code)
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
