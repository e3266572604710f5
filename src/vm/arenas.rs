//! `Arenas`: in which storages tensors lie side by side, and what that asks of the kernels of a GPU.
//!
//! A storage whose tensors all start at 0 holds one at a time: the next one takes over the memory of the one before, and one that
//! somebody keeps keeps its memory. Any other storage is an arena, whose tensors come and go as they are planned. So nobody but
//! kernels may see them: what an executable says of them is checked when it is decoded.
//!
//! The arena of a GPU is one buffer. WebGPU refuses a buffer that a dispatch binds `read` and `read_write`, so a kernel that writes
//! to an arena binds all that it reads from there `read_write`, too: a [`Variant`] of it, known before anything runs.
//!
//! wgpu puts a barrier between dispatches that bind a buffer `read_write`, so kernels of one arena do not overlap, and the plan makes one
//! only where that saves a sixteenth. No kernel writes bytes that it is given twice. Tensors start at multiples of 256 bytes.

use std::collections::HashMap;

use super::decode::{Op, Src};
use crate::artifact::Reg;
use crate::kernel::{Access, BufferRef, Kernel, LoweredFunc};

/// The arenas of a function.
#[derive(Debug, Default)]
pub(super) struct Arenas {
    /// By storage: whether it is one.
    storages: Vec<bool>,
    /// By register that holds a tensor of an arena: which storage that is.
    inside: HashMap<Reg, usize>,
}

/// A lowered function with what its kernels bind to the same buffers.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Variant {
    /// Which function.
    pub(super) kernel: usize,
    /// By kernel: bindings that it only reads, of arrays in a buffer that it writes, too.
    pub(super) shared: Vec<Vec<u32>>,
}

impl Arenas {
    /// The arenas of a function with so many storages.
    ///
    /// # Errors
    /// The operation by which another than a kernel would see a tensor of an arena, or a register would hold tensors of an arena and of another
    /// storage.
    pub(super) fn of(ops: &[Op], count: usize) -> Result<Self, (usize, String)> {
        let mut arenas = Self {
            storages: vec![false; count],
            inside: HashMap::new(),
        };
        for op in ops {
            if let Op::AllocTensor {
                storage, offset, ..
            } = op
                && *offset != Src::Int(0)
            {
                arenas.storages[*storage] = true;
            }
        }
        arenas.fill(ops)?;
        let held = |src: &Src| arenas.holding(src).is_some();
        match ops.iter().position(|op| leaves(op, &held)) {
            Some(at) => Err((at, "a tensor of an arena leaves it".to_owned())),
            None => Ok(arenas),
        }
    }

    /// Finds the registers; one may be read before the operation that fills it.
    fn fill(&mut self, ops: &[Op]) -> Result<(), (usize, String)> {
        loop {
            let known = self.inside.len();
            for (at, op) in ops.iter().enumerate() {
                let (dst, storage) = match op {
                    Op::AllocTensor { dst, storage, .. } if self.storages[*storage] => {
                        (dst, Some(*storage))
                    }
                    // The next tensor of that storage would take over what the register holds.
                    Op::AllocTensor { dst, .. } if self.inside.contains_key(dst) => {
                        let problem = "a register holds tensors of an arena and of another storage";
                        return Err((at, problem.to_owned()));
                    }
                    Op::Reshape(dst, src, _) | Op::Copy(dst, src) => (dst, self.holding(src)),
                    _ => continue,
                };
                let Some(storage) = storage else { continue };
                if *self.inside.entry(*dst).or_insert(storage) != storage {
                    return Err((at, "a register holds tensors of two arenas".to_owned()));
                }
            }
            if self.inside.len() == known {
                return Ok(());
            }
        }
    }

    fn holding(&self, src: &Src) -> Option<usize> {
        match src {
            Src::Reg(reg) => self.inside.get(reg).copied(),
            Src::Const(_) | Src::Int(_) => None,
        }
    }

    /// Whether there are any.
    pub(super) fn any(&self) -> bool {
        self.storages.contains(&true)
    }

    /// Whether the storage is one.
    pub(super) fn contains(&self, storage: usize) -> bool {
        self.storages[storage]
    }

    /// The registers that hold tensors of the arena.
    pub(super) fn registers(&self, arena: usize) -> impl Iterator<Item = Reg> {
        let held = self.inside.iter();
        held.filter_map(move |(reg, storage)| (*storage == arena).then_some(*reg))
    }

    /// What the kernels of a launch with these arguments bind to the same buffers.
    pub(super) fn variant(&self, kernel: usize, func: &LoweredFunc, args: &[Src]) -> Variant {
        let arena = |buffer: BufferRef| match buffer {
            BufferRef::Param(index) => self.holding(&args[index]),
            BufferRef::Temp(_) => None,
        };
        let shared = |kernel: &Kernel| {
            let all = || {
                let bindings = kernel.bindings().zip(0..);
                bindings.filter_map(|((.., buffer, access), at)| Some((arena(buffer)?, access, at)))
            };
            let written: Vec<usize> = all()
                .filter_map(|(arena, access, _)| (access != Access::Read).then_some(arena))
                .collect();
            let read = all().filter(|(_, access, _)| *access == Access::Read);
            read.filter_map(|(arena, _, at)| written.contains(&arena).then_some(at))
                .collect()
        };
        Variant {
            kernel,
            shared: func.kernels.iter().map(shared).collect(),
        }
    }
}

/// Whether the operation shows a value to another than a kernel.
fn leaves(op: &Op, held: &dyn Fn(&Src) -> bool) -> bool {
    match op {
        Op::CallFunction(_, _, args)
        | Op::CallPacked(_, _, args)
        | Op::MakeTuple(_, args)
        | Op::MakeClosure(_, _, args) => args.iter().any(held),
        Op::InvokeClosure(_, closure, args) => held(closure) || args.iter().any(held),
        Op::TupleGetItem(_, src, _) | Op::ToHost(_, src) | Op::ToDevice(_, src) => held(src),
        Op::Ret(reg) => held(&Src::Reg(*reg)),
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
    }
}
