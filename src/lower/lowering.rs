//! What passes of lowering work on, and what is left of it in the end.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::{self, Display, Formatter};

use super::host::Dims;
use super::kernels::Draft;
use super::nests::RootNest;
use super::passes::Next;
use super::storage::MemoryPlan;
use super::{Launches, LowerError, print, scalar_params, signature};
use crate::ir::{Buffer, PrimFunc};
use crate::kernel::{Access, BufferRef, GpuTarget, LoweredFunc, Requirement, Target, TempInfo};
use crate::script;

/// A function on its way to kernels.
pub(super) struct Lowering<'a> {
    /// The function as it was given.
    written: &'a PrimFunc,
    target: &'a Target,
    pub(super) launches: Launches,
    pub(super) dims: Dims,
    /// The function, of which nests are made.
    pub(super) func: Cow<'a, PrimFunc>,
    /// Buffers that are in device memory since nothing smaller holds them.
    pub(super) kept: HashSet<Buffer>,
    pub(super) memory_plan: MemoryPlan,
    /// The statements of its root, of which kernels are made.
    pub(super) nests: Vec<RootNest>,
    pub(super) kernels: Vec<Draft>,
    pub(super) temps: Vec<TempInfo>,
    pub(super) requires: Vec<Requirement>,
}

impl<'a> Lowering<'a> {
    pub(super) fn new(written: &'a PrimFunc, target: &'a Target, launches: Launches) -> Self {
        let func = scalar_params::as_integers(written);
        Self {
            written,
            target,
            launches,
            dims: Dims::of(&func),
            func,
            kept: HashSet::new(),
            memory_plan: MemoryPlan::default(),
            nests: vec![],
            kernels: vec![],
            temps: vec![],
            requires: vec![],
        }
    }

    /// The GPU that is lowered for.
    pub(super) fn gpu(&self) -> Option<&'a GpuTarget> {
        match self.target {
            Target::Gpu(gpu) => Some(gpu),
            Target::Cpu(_) => None,
        }
    }

    /// Replaces the function.
    pub(super) fn rewrite(
        &mut self,
        pass: for<'f> fn(&'f PrimFunc, &Dims) -> Result<Cow<'f, PrimFunc>, LowerError>,
    ) -> Result<Next, LowerError> {
        if let Cow::Owned(func) = pass(&self.func, &self.dims)? {
            self.func = Cow::Owned(func);
        }
        Ok(Next::Pass)
    }

    /// The lowered function.
    pub(super) fn finish(self) -> Result<LoweredFunc, LowerError> {
        let Self { func, dims, .. } = &self;
        let mut lowered = LoweredFunc {
            name: func.name.clone(),
            dims: dims.vars().map(|v| v.name().to_owned()).collect(),
            params: signature::params(func, dims)?,
            scalar_params: scalar_params::scalar_params(self.written, func, dims),
            asserts: signature::asserts(func, dims),
            temps: self.temps,
            kernels: self.kernels.into_iter().map(|draft| draft.kernel).collect(),
            requires: self.requires,
        };
        for kernel in &lowered.kernels {
            for (_, _, buffer, access) in kernel.bindings() {
                if let (BufferRef::Param(p), Access::Write | Access::ReadWrite) = (buffer, access) {
                    lowered.params[p].written = true;
                }
            }
        }
        Ok(lowered)
    }
}

/// The function, its nests or its kernels, whatever was made last.
impl Display for Lowering<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.dims.vars().map(|v| v.name().to_owned()).collect();
        if !self.kernels.is_empty() {
            for draft in &self.kernels {
                f.write_str(&draft.kernel.shown(&names))?;
            }
        } else if !self.nests.is_empty() {
            for root in &self.nests {
                f.write_str(&print::root_nest(root))?;
            }
        } else {
            f.write_str(&script::print_prim_func(&self.func).text)?;
            f.write_str(&print::memory_plan(&self.memory_plan))?;
        }
        Ok(())
    }
}
