//! `Arenas`: in which storages tensors lie side by side, and what that asks of the kernels of a GPU.
//!
//! A storage whose tensors all start at 0 holds one at a time: the next one takes over the memory of the one before, and one that
//! somebody keeps keeps its memory. Any other storage is an arena, whose tensors come and go as they are planned. So nobody but
//! kernels may see them: what an executable says of them is checked when it is decoded. A tensor may leave if no operation after its
//! allocation names another tensor of its storage. If somebody holds it when the next call begins, that call has other memory.
//!
//! Several storages may be one arena: where tensors lie in them is known only when the function runs.
//!
//! The memory of an arena of a GPU is one buffer for each storage. WebGPU refuses a buffer that a dispatch binds `read` and
//! `read_write`, so a kernel that writes to an arena binds all that it reads from there `read_write`, too: a [`Sharing`] of it, known
//! before anything runs.
//!
//! wgpu puts a barrier between dispatches that bind a buffer `read_write`, so kernels of one arena do not overlap, and the plan makes one
//! only where that saves a sixteenth. No kernel writes bytes that it is given twice. Tensors start at multiples of 256 bytes.

use std::collections::{HashMap, HashSet};

use super::program::{Op, Src};
use crate::artifact::{Pc, Reg};
use crate::kernel::{Access, BufferRef, Kernel, LoweredFunc};
use crate::support::Id;

/// The arenas of a function.
#[derive(Debug, Default)]
pub(super) struct Arenas {
    /// By storage: the arena that it is a part of, named by one of its storages.
    storages: Vec<Option<usize>>,
    /// By register that holds a tensor of an arena: which arena that is.
    inside: HashMap<Reg, usize>,
    /// Registers of the tensors that end storages of arenas, and these storages.
    given: Vec<(Reg, usize)>,
}

/// A lowered function with what its kernels bind to the same buffers.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sharing {
    /// Which function.
    pub(super) kernel: usize,
    /// By kernel: bindings that it only reads, of arrays in a buffer that it writes, too.
    pub(super) shared: Vec<Vec<u32>>,
}

impl Arenas {
    /// The arenas of a function that starts there, with so many parameters and storages.
    ///
    /// # Errors
    /// The operation by which another than a kernel would see a tensor of an arena, or a register would hold tensors of an arena and of another
    /// storage.
    pub(super) fn of(
        ops: &[Op],
        start: Pc,
        params: usize,
        storages: usize,
    ) -> Result<Self, (usize, String)> {
        let mut arenas = Self {
            storages: vec![None; storages],
            ..Self::default()
        };
        for op in ops {
            if let Op::AllocTensor {
                storages, offset, ..
            } = op
                && (storages.len() > 1 || *offset != Src::Int(0))
            {
                arenas.join(storages);
            }
        }
        arenas.fill(ops)?;
        if only_goes_on(ops, start) {
            arenas.find_given(ops, start, params);
        }
        let private = arenas.private(ops);
        let held = |src: &Src| matches!(src, Src::Reg(reg) if private.contains(reg));
        match ops.iter().position(|op| leaves(op, &held)) {
            Some(at) => Err((at, "a tensor of an arena leaves it".to_owned())),
            None => Ok(arenas),
        }
    }

    /// Makes these storages one arena.
    fn join(&mut self, storages: &[usize]) {
        let arena = storages[0];
        for &storage in storages {
            let joined = self.storages[storage].unwrap_or(storage);
            for other in &mut self.storages {
                if *other == Some(joined) {
                    *other = Some(arena);
                }
            }
            self.storages[storage] = Some(arena);
        }
    }

    /// Finds the tensors that end storages, and leave: after one is made, no operation names another tensor of its storage, and
    /// before that, none names its register. No jump passes over it.
    fn find_given(&mut self, ops: &[Op], start: Pc, params: usize) {
        for storage in 0..self.storages.len() {
            if !self.contains(storage) {
                continue;
            }
            let in_it = |op: &Op| matches!(op, Op::AllocTensor { storages, .. } if storages.contains(&storage));
            let Some(last) = ops.iter().rposition(in_it) else {
                continue;
            };
            let Op::AllocTensor {
                dst,
                storages,
                offset: Src::Int(0),
                ..
            } = &ops[last]
            else {
                continue;
            };
            let others = ops.iter().filter(|op| in_it(op)).filter_map(written);
            let others = views(ops, others.filter(|reg| reg != dst));
            let own = views(ops, [*dst]);
            let (before, after) = (&ops[..last], &ops[last + 1..]);
            let passed_over = before.iter().any(|op| match op {
                Op::Goto(to) | Op::If(_, to) => to.index() > start.index() + last,
                _ => false,
            });
            let alone =
                |op: &Op| !names(op, &|reg| others.contains(&reg)) || matches!(op, Op::Null(_));
            let leaving =
                |op: &Op| leaves(op, &|src| matches!(src, Src::Reg(reg) if own.contains(reg)));
            if **storages == [storage]
                && dst.index() >= params
                && !passed_over
                && !before.iter().any(|op| names(op, &|reg| reg == *dst))
                && !after.iter().any(|op| written(op) == Some(*dst))
                && after.iter().all(alone)
                && after.iter().any(leaving)
            {
                self.given.push((*dst, storage));
            }
        }
    }

    /// The registers that hold a tensor of an arena which does not end its storage.
    fn private(&self, ops: &[Op]) -> HashSet<Reg> {
        let made = ops.iter().filter_map(|op| match op {
            Op::AllocTensor { dst, .. } => Some(*dst),
            _ => None,
        });
        let given = |reg: &Reg| self.given.iter().any(|(given, _)| given == reg);
        let private = made.filter(|reg| self.inside.contains_key(reg) && !given(reg));
        views(ops, private)
    }

    /// Finds the registers; one may be read before the operation that fills it.
    fn fill(&mut self, ops: &[Op]) -> Result<(), (usize, String)> {
        loop {
            let known = self.inside.len();
            for (at, op) in ops.iter().enumerate() {
                let (dst, arena) = match op {
                    Op::AllocTensor { dst, storages, .. } => match self.storages[storages[0]] {
                        // The next tensor of that storage would take over what the register holds.
                        None if self.inside.contains_key(dst) => {
                            let problem =
                                "a register holds tensors of an arena and of another storage";
                            return Err((at, problem.to_owned()));
                        }
                        arena => (dst, arena),
                    },
                    Op::Reshape(dst, src, _) | Op::Copy(dst, src) => (dst, self.holding(src)),
                    _ => continue,
                };
                let Some(arena) = arena else { continue };
                if *self.inside.entry(*dst).or_insert(arena) != arena {
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
        self.storages.iter().any(Option::is_some)
    }

    /// Whether the storage is a part of one.
    pub(super) fn contains(&self, storage: usize) -> bool {
        self.storages[storage].is_some()
    }

    /// Registers of the tensors that end storages of arenas, and these storages.
    pub(super) fn given(&self) -> &[(Reg, usize)] {
        &self.given
    }

    /// The registers that hold tensors of the arena of a storage.
    pub(super) fn registers(&self, storage: usize) -> impl Iterator<Item = Reg> {
        let arena = self.storages[storage];
        let held = self.inside.iter();
        held.filter_map(move |(reg, inside)| (Some(*inside) == arena).then_some(*reg))
    }

    /// What the kernels of a launch with these arguments bind to the same buffers.
    pub(super) fn sharing(&self, kernel: usize, func: &LoweredFunc, args: &[Src]) -> Sharing {
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
        Sharing {
            kernel,
            shared: func.kernels.iter().map(shared).collect(),
        }
    }
}

/// These registers, and those that hold what they hold under another name or in another shape.
fn views(ops: &[Op], registers: impl IntoIterator<Item = Reg>) -> HashSet<Reg> {
    let mut views: HashSet<Reg> = registers.into_iter().collect();
    loop {
        let known = views.len();
        for op in ops {
            if let Op::Reshape(dst, Src::Reg(src), _) | Op::Copy(dst, Src::Reg(src)) = op
                && views.contains(src)
            {
                views.insert(*dst);
            }
        }
        if views.len() == known {
            return views;
        }
    }
}

/// Whether the operation reads or writes such a register.
fn names(op: &Op, such: &dyn Fn(Reg) -> bool) -> bool {
    let read = |src: &Src| matches!(src, Src::Reg(reg) if such(*reg));
    let reads = match op {
        Op::CheckTensor(src, ..)
        | Op::CheckShape(src, ..)
        | Op::CheckPrim(src, _)
        | Op::CheckTuple(src, ..)
        | Op::CheckFunc(src, _)
        | Op::MatchShape(src, ..)
        | Op::MatchPrim(src, ..)
        | Op::AllocStorage { size: src, .. }
        | Op::TupleGetItem(_, src, _)
        | Op::Copy(_, src)
        | Op::ReadIfCond(_, src)
        | Op::ToHost(_, src)
        | Op::ToDevice(_, src)
        | Op::ShapeOf(_, src) => read(src),
        Op::AllocTensor { offset, shape, .. } => read(offset) || read(shape),
        Op::Reshape(_, src, shape) => read(src) || read(shape),
        Op::Launch { args, .. }
        | Op::CallFunction(_, _, args)
        | Op::CallPacked(_, _, args)
        | Op::MakeTuple(_, args)
        | Op::MakeClosure(_, _, args) => args.iter().any(read),
        Op::InvokeClosure(_, closure, args) => read(closure) || args.iter().any(read),
        Op::Ret(reg) | Op::If(reg, _) => such(*reg),
        Op::ShapeFunc(_)
        | Op::MakeShape(..)
        | Op::MakePrim(..)
        | Op::Null(_)
        | Op::Nop
        | Op::Goto(_) => false,
    };
    reads || written(op).is_some_and(such)
}

/// Whether each jump goes on, so that no operation runs twice.
fn only_goes_on(ops: &[Op], start: Pc) -> bool {
    ops.iter().enumerate().all(|(at, op)| match op {
        Op::Goto(to) | Op::If(_, to) => to.index() > start.index() + at,
        _ => true,
    })
}

/// The register that the operation puts a value into.
fn written(op: &Op) -> Option<Reg> {
    match op {
        Op::CallFunction(dst, ..) | Op::InvokeClosure(dst, ..) | Op::CallPacked(dst, ..) => *dst,
        Op::MakeShape(dst, _)
        | Op::MakePrim(dst, _)
        | Op::AllocTensor { dst, .. }
        | Op::MakeTuple(dst, _)
        | Op::TupleGetItem(dst, ..)
        | Op::Copy(dst, _)
        | Op::ReadIfCond(dst, _)
        | Op::ToHost(dst, _)
        | Op::ToDevice(dst, _)
        | Op::ShapeOf(dst, _)
        | Op::Reshape(dst, ..)
        | Op::MakeClosure(dst, ..)
        | Op::Null(dst) => Some(*dst),
        Op::Ret(_)
        | Op::CheckTensor(..)
        | Op::CheckShape(..)
        | Op::CheckPrim(..)
        | Op::CheckTuple(..)
        | Op::CheckFunc(..)
        | Op::MatchShape(..)
        | Op::MatchPrim(..)
        | Op::ShapeFunc(_)
        | Op::AllocStorage { .. }
        | Op::Launch { .. }
        | Op::Nop
        | Op::Goto(_)
        | Op::If(..) => None,
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
