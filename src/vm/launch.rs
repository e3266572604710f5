//! Plans of launches: all that the shapes of the arguments decide, computed once for each set of shapes.
#![cfg_attr(
    not(all(feature = "cpu", feature = "gpu")),
    allow(dead_code, reason = "each back end reads its part of a plan")
)]

use super::VmError;
use super::check::tensor_info;
use super::frame::Regs;
use super::program::Src;
use crate::artifact::Executable;
use crate::kernel::{HostExpr, Kernel, LoweredFunc, ParamInfo, ScalarParam, VarId};
use crate::runtime::Value;
#[cfg(feature = "gpu")]
use crate::runtime_gpu::DeviceBuffer;
use crate::tensor::scalar::Scalar;
use crate::tensor::{DType, ScalarType};

/// Plans that one launch keeps; the one used longest ago goes first.
const PLANS: usize = 8;

/// What one kernel of a launch gets.
#[derive(Debug)]
pub(super) struct KernelPlan {
    /// Runs of the kernel, one after the other: more than one only where a device ends long loops.
    pub(super) runs: Vec<RunPlan>,
    /// Workgroups; empty dimensions stay 0.
    #[cfg_attr(not(feature = "gpu"), expect(dead_code, reason = "for shaders"))]
    pub(super) grid: [i64; 3],
    pub(super) flops: i64,
    pub(super) bytes: i64,
}

/// What one run of a kernel gets.
#[derive(Debug)]
pub(super) struct RunPlan {
    /// Values of its scalars.
    pub(super) scalars: Vec<i64>,
    /// The scalars in a buffer, if the shader takes them so; made with the plan.
    #[cfg(feature = "gpu")]
    pub(super) uniform: Option<std::sync::Arc<DeviceBuffer>>,
}

/// A launch with arguments of certain shapes.
#[derive(Debug)]
pub(super) struct LaunchPlan {
    /// Extents of all tensor arguments, one after the other, then the scalar arguments.
    key: Vec<i64>,
    /// The lowered function that is for these arguments, and which of the variants it is.
    pub(super) kernel: usize,
    pub(super) variant: usize,
    /// Whether the launch chose it among several.
    pub(super) is_chosen: bool,
    pub(super) kernels: Vec<KernelPlan>,
    /// Bytes of each temporary, in elements of host size.
    pub(super) temps: Vec<usize>,
    /// Values of the dims.
    pub(super) dims: Vec<i64>,
    /// Which code runs: the kernels as they were proved, or what the dims showed of them.
    pub(super) code: Code,
}

/// Which code of a lowered function a launch runs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Code {
    /// With checks where the compiler did not prove that there is no need.
    AsProved,
    /// Without checks, for launches that are shown to need none.
    Unchecked,
    /// With checks of all accesses, for launches of which nothing is proved or shown.
    Checked,
}

impl Code {
    /// The code for launches with these dims. Where what the compiler proved does not hold of them, for what it did not prove, and for kernels of
    /// a loaded artifact, it is shown anew for the dims that no access leaves its array, or what is not proved is checked.
    pub(super) fn of(func: &LoweredFunc, dims: &[i64]) -> Self {
        let proved = func.unproved_dim(dims).is_none();
        let kernels = &func.kernels;
        let shown = |kernel: &Kernel| proved && kernel.in_bounds || kernel.stays_in_bounds(dims);
        if proved && kernels.iter().all(|kernel| kernel.in_bounds) {
            Self::AsProved
        } else if kernels.iter().all(shown) {
            Self::Unchecked
        } else if proved && kernels.iter().any(|kernel| kernel.in_bounds) {
            Self::AsProved
        } else {
            Self::Checked
        }
    }

    /// Whether the kernels of the code claim to be in bounds, if they all say the same.
    pub(super) fn in_bounds(self) -> Option<bool> {
        match self {
            Self::AsProved => None,
            Self::Unchecked => Some(true),
            Self::Checked => Some(false),
        }
    }
}

/// The plans of one launch instruction, the last used one first.
#[derive(Debug, Default)]
pub(super) struct Site {
    plans: Vec<LaunchPlan>,
}

/// The arguments of a launch or call where they are.
pub(super) struct Args<'a> {
    pub(super) srcs: &'a [Src],
    pub(super) regs: &'a mut Regs,
    pub(super) consts: &'a [Value],
}

impl Args<'_> {
    /// The argument at this position; `None` for an integer operand.
    pub(super) fn get(&self, index: usize) -> &Value {
        match self.srcs[index] {
            Src::Reg(reg) => &self.regs[reg],
            Src::Const(index) => &self.consts[index],
            Src::Int(_) => &Value::None,
        }
    }

    /// The argument at this position if it is in a register.
    pub(super) fn get_mut(&mut self, index: usize) -> Option<&mut Value> {
        match self.srcs[index] {
            Src::Reg(reg) => Some(&mut self.regs[reg]),
            Src::Const(_) | Src::Int(_) => None,
        }
    }

    /// What a launch passes for the scalar at this position, if it is one of this type.
    fn scalar(&self, index: usize, param: &ScalarParam) -> Option<i64> {
        let value = match self.srcs[index] {
            Src::Int(value) => Scalar::Int(value),
            Src::Reg(_) | Src::Const(_) => match self.get(index) {
                Value::Float(value) if param.dtype.is_float() => Scalar::Float(*value),
                value => Scalar::Int(value.as_int().ok()?),
            },
        };
        Some(param.bits(value))
    }
}

impl Site {
    /// The plan for these arguments, and whether it is new.
    pub(super) fn plan(
        &mut self,
        exec: &Executable,
        kernel: usize,
        args: &Args,
    ) -> Result<(&mut LaunchPlan, bool), VmError> {
        let func = &exec.kernels[kernel].func;
        let found = self.plans.iter().position(|plan| plan.fits(func, args));
        let new = match found {
            Some(0) => false,
            Some(at) => {
                self.plans[..=at].rotate_right(1);
                false
            }
            None => {
                let plan = LaunchPlan::of_variant(exec, kernel, args)?;
                self.plans.truncate(PLANS - 1);
                self.plans.insert(0, plan);
                true
            }
        };
        Ok((&mut self.plans[0], new))
    }

    /// The plan used last.
    pub(super) fn newest(&self) -> Option<&LaunchPlan> {
        self.plans.first()
    }

    /// Forgets the newest plan, which could not be completed.
    #[cfg(any(feature = "cpu", feature = "gpu"))]
    pub(super) fn forget(&mut self) {
        self.plans.remove(0);
    }
}

impl LaunchPlan {
    /// Whether the arguments have the shapes of the plan. Their types were checked when a plan was made for these ranks.
    fn fits(&self, func: &LoweredFunc, args: &Args) -> bool {
        let mut key = self.key.iter();
        for (index, param) in func.params.iter().enumerate() {
            let Some((shape, dtype)) = tensor_info(args.get(index)) else {
                return false;
            };
            let same = shape.len() == param.shape.len()
                && dtype == DType::of(param.dtype)
                && shape.iter().all(|&dim| key.next() == Some(&(dim as i64)));
            if !same {
                return false;
            }
        }
        let mut scalars = func.scalar_params.iter().enumerate();
        scalars.all(|(i, param)| args.scalar(func.params.len() + i, param).as_ref() == key.next())
    }

    /// The plan of the first variant that is for the arguments: it has their shapes, and its assertions hold. The error is that of the last variant.
    fn of_variant(exec: &Executable, kernel: usize, args: &Args) -> Result<Self, VmError> {
        let mut variants = exec.variants(kernel).enumerate().peekable();
        loop {
            let (variant, kernel) = variants.next().expect("the last one ends the loop");
            let plan = Self::new(&exec.kernels[kernel].func, args);
            if plan.is_ok() || variants.peek().is_none() {
                return plan.map(|plan| Self {
                    kernel,
                    variant,
                    is_chosen: exec.is_chosen(kernel),
                    ..plan
                });
            }
        }
    }

    fn new(func: &LoweredFunc, args: &Args) -> Result<Self, VmError> {
        let mut dims = vec![None; func.dims.len()];
        let mut key = Vec::new();
        let mut scalars = Vec::new();
        for (i, param) in func.scalar_params.iter().enumerate() {
            let at = func.params.len() + i;
            let value = args.scalar(at, param).ok_or_else(|| {
                let given = args.get(at).kind().to_owned();
                let expected = match param.dtype.is_float() {
                    true => "a number",
                    false => "an integer",
                };
                let name = &func.dims[param.dim];
                argument(func, name, "the value", expected.into(), given)
            })?;
            dims[param.dim] = Some(value);
            scalars.push(value);
        }
        for (index, param) in func.params.iter().enumerate() {
            let shape = check_argument(func, param, args.get(index))?;
            for (given, extent) in shape.iter().zip(&param.shape) {
                if let HostExpr::Dim(dim) = extent {
                    dims[*dim].get_or_insert(*given as i64);
                }
                key.push(*given as i64);
            }
        }
        key.extend(scalars);
        let known = |(dim, value): (usize, &Option<i64>)| {
            value.ok_or_else(|| {
                let expected = "defined by an argument".to_owned();
                argument(
                    func,
                    &func.dims[dim],
                    "the value",
                    expected,
                    "nothing".into(),
                )
            })
        };
        let dims: Vec<i64> = dims
            .iter()
            .enumerate()
            .map(known)
            .collect::<Result<_, _>>()?;
        check_extents(func, &dims, args)?;
        let plan = Planner { func, dims: &dims };
        plan.check_asserts()?;
        plan.check_requirements()?;
        plan.check_lengths()?;
        let kernels = plan.kernels()?;
        let temps = plan.temps()?;
        Ok(Self {
            key,
            kernel: 0,
            variant: 0,
            is_chosen: false,
            kernels,
            temps,
            dims,
            code: Code::AsProved,
        })
    }
}

/// Whether what a lowered function asserts of its dims holds.
#[cfg(feature = "gpu")]
pub(super) fn holds(func: &LoweredFunc, dims: &[i64]) -> bool {
    Planner { func, dims }.check_asserts().is_ok()
}

struct Planner<'a> {
    func: &'a LoweredFunc,
    dims: &'a [i64],
}

impl Planner<'_> {
    fn eval(&self, expr: &HostExpr) -> Result<i64, VmError> {
        self.eval_with(self.dims, expr)
    }

    fn eval_with(&self, dims: &[i64], expr: &HostExpr) -> Result<i64, VmError> {
        expr.eval(dims).map_err(|source| VmError::Eval {
            func: self.func.name.clone(),
            source,
        })
    }

    /// The same for a count or size, which must not wrap.
    fn eval_exact(&self, expr: &HostExpr) -> Result<i64, VmError> {
        expr.eval_exact(self.dims).map_err(|source| VmError::Eval {
            func: self.func.name.clone(),
            source,
        })
    }

    fn check_asserts(&self) -> Result<(), VmError> {
        for assertion in &self.func.asserts {
            if self.eval_exact(&assertion.holds)? == 0 {
                return Err(VmError::Assertion {
                    kernel: self.func.name.clone(),
                    message: assertion.message.clone(),
                });
            }
        }
        Ok(())
    }

    fn check_requirements(&self) -> Result<(), VmError> {
        for requirement in &self.func.requires {
            let value = self.eval_exact(&requirement.value)?;
            if value > requirement.limit {
                return Err(VmError::Requirement {
                    kernel: self.func.name.clone(),
                    what: requirement.what.clone(),
                    limit: requirement.limit,
                    value,
                });
            }
        }
        Ok(())
    }

    /// No array has fewer elements than none: what checks and proves accesses counts on it.
    fn check_lengths(&self) -> Result<(), VmError> {
        let mut bindings = self.func.kernels.iter().flat_map(Kernel::bindings);
        bindings.try_for_each(|(_, array, ..)| match self.eval_exact(&array.len)? {
            0.. => Ok(()),
            given => Err(VmError::NegativeDimension {
                func: format!("{}.{}", self.func.name, array.name),
                given,
            }),
        })
    }

    /// A scalar of a kernel, which must fit its type. The dims end with the number of the run.
    fn scalar(
        &self,
        dims: &[i64],
        kernel: &Kernel,
        (var, e): &(VarId, HostExpr),
    ) -> Result<i64, VmError> {
        let value = self.eval_with(dims, e)?;
        let info = &kernel.vars[*var];
        match info.ty.scalar.int_range() {
            Some((least, most)) if !(least..=most).contains(&value) => Err(VmError::OutOfRange {
                kernel: kernel.name.clone(),
                what: format!("`{}` in {}", info.name, info.ty.scalar),
                least,
                most,
                value,
            }),
            _ => Ok(value),
        }
    }

    fn kernels(&self) -> Result<Vec<KernelPlan>, VmError> {
        let plan = |kernel: &Kernel| {
            let mut grid = [1; 3];
            let mut times = 1;
            if let Some(launch) = &kernel.launch {
                for (value, expr) in grid.iter_mut().zip(&launch.grid) {
                    *value = self.eval_exact(expr)?.max(0);
                }
                times = self.eval_exact(&launch.times)?;
            }
            Ok(KernelPlan {
                runs: (0..times)
                    .map(|run| self.run(kernel, run))
                    .collect::<Result<_, _>>()?,
                grid,
                flops: self.eval(&kernel.flops)?,
                bytes: self.eval(&kernel.bytes)?,
            })
        };
        self.func.kernels.iter().map(plan).collect()
    }

    fn run(&self, kernel: &Kernel, run: i64) -> Result<RunPlan, VmError> {
        let dims: Vec<i64> = self.dims.iter().copied().chain([run]).collect();
        let scalars = kernel.scalars.iter();
        let scalars = scalars.map(|scalar| self.scalar(&dims, kernel, scalar));
        Ok(RunPlan {
            scalars: scalars.collect::<Result<_, _>>()?,
            #[cfg(feature = "gpu")]
            uniform: None,
        })
    }

    fn temps(&self) -> Result<Vec<usize>, VmError> {
        let bytes = |temp: &crate::kernel::TempInfo| {
            let len = self.eval_exact(&temp.len)?;
            let bytes = usize::try_from(len)
                .ok()
                .and_then(|len| len.checked_mul(temp.dtype.bytes()));
            bytes.ok_or_else(|| VmError::NegativeDimension {
                func: format!("{}.{}", self.func.name, temp.name),
                given: len,
            })
        };
        self.func.temps.iter().map(bytes).collect()
    }
}

/// Rank and element type of an argument; gives its shape.
fn check_argument<'a>(
    func: &LoweredFunc,
    param: &ParamInfo,
    value: &'a Value,
) -> Result<&'a [usize], VmError> {
    let fail = |what: &str, expected: String, given: String| {
        Err(argument(func, &param.name, what, expected, given))
    };
    let Some((shape, dtype)) = tensor_info(value) else {
        return fail("the value", "a tensor".into(), value.kind().into());
    };
    if dtype != DType::of(param.dtype) {
        let expected = ScalarType::name(param.dtype).to_owned();
        return fail("the element type", expected, dtype.to_string());
    }
    if shape.len() != param.shape.len() {
        let (expected, given) = (param.shape.len(), shape.len());
        return fail(
            "the number of dimensions",
            expected.to_string(),
            given.to_string(),
        );
    }
    Ok(shape)
}

fn check_extents(func: &LoweredFunc, dims: &[i64], args: &Args) -> Result<(), VmError> {
    for (index, param) in func.params.iter().enumerate() {
        let (shape, _) = tensor_info(args.get(index)).unwrap_or((&[], DType::F32));
        for (dim, (given, extent)) in shape.iter().zip(&param.shape).enumerate() {
            let expected = extent.eval(dims).map_err(|source| VmError::Eval {
                func: func.name.clone(),
                source,
            })?;
            if expected != *given as i64 {
                let what = format!("dimension {dim}");
                return Err(argument(
                    func,
                    &param.name,
                    &what,
                    expected.to_string(),
                    given.to_string(),
                ));
            }
        }
    }
    Ok(())
}

fn argument(
    func: &LoweredFunc,
    param: &str,
    what: &str,
    expected: String,
    given: String,
) -> VmError {
    VmError::KernelArgument {
        kernel: func.name.clone(),
        param: param.to_owned(),
        what: what.to_owned(),
        expected,
        given,
    }
}
