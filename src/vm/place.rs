//! Tensors in storage: one at a time, or side by side in an arena (`arenas`).
#![expect(unsafe_code, reason = "tensors of an arena share its bytes")]

#[cfg(feature = "gpu")]
use std::sync::Arc;

use super::VmError;
use super::backend::Backend;
use super::frame::{Frame, Storage};
use super::machine::State;
use super::program::{Code, Src};
use super::run::Run;
use super::step::peek;
use crate::artifact::{MemorySpace, Pc, Reg};
use crate::runtime::Value;
#[cfg(feature = "gpu")]
use crate::runtime_gpu::DeviceBuffer;
use crate::tensor::pack::memory_of;
use crate::tensor::{Arena, DType};

/// The memory of an arena.
pub(super) enum Memory {
    Host(Arena),
    #[cfg(feature = "gpu")]
    Device(Arc<DeviceBuffer>),
    /// Each tensor has memory of its own: the device has no buffer of more than so many bytes.
    #[cfg(feature = "gpu")]
    Apart {
        limit: u64,
    },
}

impl Memory {
    /// Whether it does for an arena of so many bytes.
    fn is_for(&self, bytes: usize) -> bool {
        match self {
            Self::Host(arena) => arena.len() >= bytes,
            #[cfg(feature = "gpu")]
            Self::Device(arena) => arena.size() >= bytes as u64,
            #[cfg(feature = "gpu")]
            Self::Apart { limit } => bytes as u64 > *limit,
        }
    }

    /// Whether the value is a tensor in this memory.
    pub(super) fn contains(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Host(arena), Value::Tensor(tensor)) => arena.contains(tensor),
            #[cfg(feature = "gpu")]
            (Self::Device(arena), Value::DeviceTensor(tensor)) => {
                tensor.buffer().id() == arena.id()
            }
            _ => false,
        }
    }

    /// Whether the value is a tensor at the start of this memory, and nobody else holds it.
    fn begins(&self, value: &mut Value) -> bool {
        match (self, value) {
            (Self::Host(arena), Value::Tensor(tensor)) => {
                arena.holds(tensor, 0) && tensor.is_unique()
            }
            #[cfg(feature = "gpu")]
            (Self::Device(arena), Value::DeviceTensor(tensor)) => {
                tensor.is_at(arena, 0) && tensor.is_unique()
            }
            _ => false,
        }
    }

    /// Whether the value is a tensor of this type and shape at this offset, and nobody else holds it.
    fn holds(&self, value: &mut Value, offset: usize, dtype: DType, shape: &[usize]) -> bool {
        match (self, value) {
            (Self::Host(arena), Value::Tensor(tensor)) => {
                arena.holds(tensor, offset)
                    && (tensor.dtype(), tensor.shape()) == (dtype, shape)
                    && tensor.is_unique()
            }
            #[cfg(feature = "gpu")]
            (Self::Device(arena), Value::DeviceTensor(tensor)) => {
                tensor.is_at(arena, offset as u64)
                    && (tensor.dtype(), tensor.shape()) == (dtype, shape)
                    && tensor.is_unique()
            }
            _ => false,
        }
    }
}

/// Where a tensor lies, and what it is.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) storages: &'a [usize],
    pub(super) offset: Src,
    pub(super) shape: Src,
    pub(super) dtype: DType,
}

impl Frame {
    /// Begins an activation. If somebody still holds the result of the last call, its arena is dropped with it. The memory of an
    /// output that the caller gives is adopted.
    pub(super) fn begin(&mut self, code: &Code, backend: &Backend) {
        for &(reg, storage) in code.arenas.given() {
            let memory = self.storages[storage].memory.take();
            let kept = memory.and_then(|memory| match memory.begins(&mut self.regs[reg]) {
                true => Some(memory),
                false => {
                    let mut result = self.regs.take(reg);
                    if memory.contains(&result) {
                        result = Value::None;
                    }
                    self.let_go(code, storage, &memory);
                    self.regs[reg] = result;
                    None
                }
            });
            self.storages[storage].memory = match kept {
                Some(memory) => Some(memory),
                None => backend.memory_of(&mut self.regs[reg]),
            };
        }
    }

    /// Lets go of all tensors in memory of a storage.
    fn let_go(&mut self, code: &Code, storage: usize, memory: &Memory) {
        for reg in code.arenas.registers(storage) {
            if memory.contains(&self.regs[reg]) {
                self.regs[reg] = Value::None;
            }
        }
    }
}

impl Run<'_> {
    /// Gives the register a tensor in the storages.
    pub(super) fn alloc_tensor(
        &mut self,
        frame: &mut Frame,
        dst: Reg,
        place: Place<'_>,
        pc: Pc,
    ) -> Result<(), VmError> {
        let Place {
            storages,
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
        let sizes = storages
            .iter()
            .map(|&storage| frame.storages[storage].bytes);
        let found = end.zip(bytes).and_then(|(end, bytes)| {
            let (at, start) = memory_of(sizes.clone(), end - bytes, end)?;
            Some((storages[at], start))
        });
        let Some((storage, start)) = found else {
            return Err(VmError::BeyondPlan {
                func: self.code.name.to_string(),
                needed: end.unwrap_or(usize::MAX),
                planned: sizes.fold(0, usize::saturating_add),
            });
        };
        if !self.code.arenas.contains(storage) {
            return self.alloc_alone(frame, dst, storage, dtype);
        }
        self.alloc_in_arena(frame, dst, storage, start, dtype)
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
        let State {
            backend,
            shape,
            recycler,
            ..
        } = &*self.state;
        let made = backend.renew(&mut frame.regs[dst], dtype, shape, place, bytes, recycler);
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
        self.reserve(frame, storage)?;
        let (backend, shape) = (&self.state.backend, &self.state.shape);
        let (held, value) = (&frame.storages[storage], &mut frame.regs[dst]);
        let made = match &held.memory {
            Some(memory) if memory.holds(value, offset, dtype, shape) => return Ok(()),
            Some(Memory::Host(arena)) => {
                // SAFETY: `Arenas` showed that none but kernels see tensors of an arena. They run one after the other, and a launch
                // refuses arguments that overlap one that it writes.
                unsafe { arena.tensor(offset, dtype, shape) }.map(Value::Tensor)
            }
            // A kernel binds some bytes also of a tensor that has none: they are those of no other tensor.
            #[cfg(feature = "gpu")]
            Some(Memory::Device(arena)) if !shape.contains(&0) => {
                let made = backend.tensor_in(arena, offset as u64, dtype, shape)?;
                made.map(Value::DeviceTensor)
            }
            _ => {
                #[cfg(feature = "gpu")]
                if let (Some(Memory::Device(arena)), Value::DeviceTensor(tensor)) =
                    (&held.memory, &*value)
                    && tensor.buffer().id() == arena.id()
                {
                    *value = Value::None;
                }
                let place = held.place.unwrap_or(MemorySpace::Device);
                let made = backend.renew(value, dtype, shape, place, 0, &self.state.recycler);
                return made.map_err(|e| e.in_func(&self.code.name));
            }
        };
        *value = made.ok_or_else(|| VmError::Misplaced {
            func: self.code.name.to_string(),
            offset,
        })?;
        Ok(())
    }

    /// Makes the memory of an arena if there is none, or it is too small. Then tensors of calls before let go of that.
    fn reserve(&mut self, frame: &mut Frame, storage: usize) -> Result<(), VmError> {
        let Storage { bytes, place, .. } = frame.storages[storage];
        let memory = frame.storages[storage].memory.take();
        let suits = |memory: &Memory| memory.is_for(bytes) && self.state.backend.has(place, memory);
        let memory = memory.and_then(|memory| match suits(&memory) {
            true => Some(memory),
            false => {
                frame.let_go(self.code, storage, &memory);
                None
            }
        });
        let held = &mut frame.storages[storage];
        held.memory = match memory {
            Some(memory) => Some(memory),
            None => {
                let place = held.place.unwrap_or(MemorySpace::Device);
                let made = self
                    .state
                    .backend
                    .reserve(place, bytes, &self.state.recycler);
                Some(made.map_err(|e| e.in_func(&self.code.name))?)
            }
        };
        Ok(())
    }
}
