//! Tensors in storage: one at a time, or side by side in an arena.
//!
//! A storage whose tensors all start at 0 holds one at a time: the next one takes over the memory of the one before, and one that
//! somebody keeps keeps its memory. Tensors of an arena come and go as they are planned. So nobody but kernels may see them: what
//! an executable says of them is checked when it is decoded.
#![expect(unsafe_code, reason = "tensors of an arena share its bytes")]

use std::collections::HashSet;

use super::VmError;
use super::decode::{Op, Src};
use super::frame::Frame;
use super::run::{Run, peek};
use crate::artifact::{MemorySpace, Pc, Reg};
use crate::kernel::Target;
use crate::runtime::Value;
use crate::tensor::{Arena, DType};

/// Which storages of a function are arenas.
///
/// # Errors
/// The operation by which another than a kernel would see a tensor of an arena.
pub(super) fn arenas(
    ops: &[Op],
    count: usize,
    target: &Target,
) -> Result<Vec<bool>, (usize, String)> {
    let mut arenas = vec![false; count];
    for (at, op) in ops.iter().enumerate() {
        if let Op::AllocTensor {
            storage, offset, ..
        } = op
            && *offset != Src::Int(0)
        {
            if matches!(target, Target::Gpu(_)) {
                let problem = "tensors side by side in memory of a GPU".to_owned();
                return Err((at, problem));
            }
            arenas[*storage] = true;
        }
    }
    // Registers that hold tensors of arenas; a register may be read before the operation that fills it.
    let mut inside: HashSet<Reg> = HashSet::new();
    loop {
        let known = inside.len();
        for op in ops {
            let held = |src: &Src| matches!(src, Src::Reg(reg) if inside.contains(reg));
            match op {
                Op::AllocTensor { dst, storage, .. } if arenas[*storage] => {
                    inside.insert(*dst);
                }
                Op::Reshape(dst, src, _) | Op::Copy(dst, src) if held(src) => {
                    inside.insert(*dst);
                }
                _ => {}
            }
        }
        if inside.len() == known {
            break;
        }
    }
    let held = |src: &Src| matches!(src, Src::Reg(reg) if inside.contains(reg));
    for (at, op) in ops.iter().enumerate() {
        let leaves = match op {
            Op::CallFunction(_, _, args)
            | Op::CallPacked(_, _, args)
            | Op::MakeTuple(_, args)
            | Op::MakeClosure(_, _, args) => args.iter().any(held),
            Op::InvokeClosure(_, closure, args) => held(closure) || args.iter().any(held),
            Op::TupleGetItem(_, src, _) | Op::ToHost(_, src) | Op::ToDevice(_, src) => held(src),
            Op::Ret(reg) => inside.contains(reg),
            Op::CheckTensor(..)
            | Op::CheckShape(..)
            | Op::CheckPrim(..)
            | Op::CheckTuple(..)
            | Op::CheckFunc(..)
            | Op::MatchShape(..)
            | Op::MatchPrim(..)
            | Op::ShapeFunc(_)
            | Op::MakeShape(..)
            | Op::MakePrim(..)
            | Op::AllocStorage { .. }
            | Op::AllocTensor { .. }
            | Op::Launch { .. }
            | Op::Copy(..)
            | Op::ReadIfCond(..)
            | Op::ShapeOf(..)
            | Op::Reshape(..)
            | Op::Null(_)
            | Op::Nop
            | Op::Goto(_)
            | Op::If(..) => false,
        };
        if leaves {
            return Err((at, "a tensor of an arena leaves it".to_owned()));
        }
    }
    Ok(arenas)
}

/// Where a tensor lies, and what it is.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) storage: usize,
    pub(super) offset: Src,
    pub(super) shape: Src,
    pub(super) dtype: DType,
}

impl Run<'_> {
    /// Gives the register a tensor in the storage.
    pub(super) fn alloc_tensor(
        &mut self,
        frame: &mut Frame,
        dst: Reg,
        place: Place,
        pc: Pc,
    ) -> Result<(), VmError> {
        let Place {
            storage,
            offset,
            shape,
            dtype,
        } = place;
        let offset = match offset {
            Src::Int(offset) => offset,
            held => {
                let held = peek(&frame.regs, &self.state.consts, held);
                held.as_int()
                    .map_err(|e| self.register(pc, e.expected, held))?
            }
        };
        let dims = self.shape(peek(&frame.regs, &self.state.consts, shape), pc)?;
        self.extents(dims).map(drop)?;
        let shape = &mut self.state.shape;
        shape.clear();
        shape.extend(dims.iter().map(|&dim| dim as usize));
        let bytes = match shape.contains(&0) {
            true => Some(0),
            false => shape
                .iter()
                .try_fold(dtype.bytes(), |n, &dim| n.checked_mul(dim)),
        };
        let end = usize::try_from(offset)
            .ok()
            .and_then(|at| bytes?.checked_add(at));
        let planned = frame.storages[storage].bytes;
        let Some(_) = end.filter(|end| *end <= planned) else {
            return Err(VmError::BeyondPlan {
                func: self.code.name.to_string(),
                needed: end.unwrap_or(usize::MAX),
                planned,
            });
        };
        if self.code.arenas[storage] {
            self.alloc_in_arena(frame, dst, storage, offset as usize, dtype)
        } else {
            self.alloc_alone(frame, dst, storage, dtype)
        }
    }

    /// A tensor of the shape at hand in the memory of the storage's tenant, if nobody else holds that.
    fn alloc_alone(
        &mut self,
        frame: &mut Frame,
        dst: Reg,
        storage: usize,
        dtype: DType,
    ) -> Result<(), VmError> {
        let storage = &mut frame.storages[storage];
        if let Some(tenant) = storage.tenant.replace(dst)
            && tenant != dst
        {
            frame.regs[dst] = frame.regs.take(tenant);
        }
        let (place, bytes) = (storage.place.unwrap_or(MemorySpace::Device), storage.bytes);
        let (backend, shape) = (&self.state.backend, &self.state.shape);
        let made = backend.renew(&mut frame.regs[dst], dtype, shape, place, bytes);
        made.map_err(|e| e.in_func(&self.code.name))
    }

    /// A tensor of the shape at hand at this offset, unless the register has it from the call before.
    fn alloc_in_arena(
        &mut self,
        frame: &mut Frame,
        dst: Reg,
        storage: usize,
        offset: usize,
        dtype: DType,
    ) -> Result<(), VmError> {
        let (func, shape) = (&self.code.name, &self.state.shape);
        let failed = |source| VmError::Tensor {
            func: func.to_string(),
            source,
        };
        let storage = &mut frame.storages[storage];
        let arena = match &mut storage.arena {
            Some(arena) if arena.len() >= storage.bytes => arena,
            small => small.insert(Arena::new(storage.bytes).map_err(failed)?),
        };
        if let Value::Tensor(tensor) = &mut frame.regs[dst]
            && arena.holds(tensor, offset)
            && tensor.dtype() == dtype
            && tensor.shape() == *shape
            && tensor.is_unique()
        {
            return Ok(());
        }
        // SAFETY: `arenas` showed that none but kernels see tensors of an arena. They run one after the other, and a launch refuses
        // arguments that overlap one that it writes.
        let made = unsafe { arena.tensor(offset, dtype, shape) };
        let made = made.ok_or_else(|| VmError::Misplaced {
            func: func.to_string(),
            offset,
        })?;
        frame.regs[dst] = Value::Tensor(made);
        Ok(())
    }
}
