//! Decoded programs: what a machine runs.

use std::collections::HashSet;
use std::sync::Arc;

use super::arenas::{Arenas, Sharing};
use crate::artifact::{MemorySpace, Pc, Reg, Slot};
use crate::support::Id;
use crate::tensor::DType;

/// Where an argument comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Src {
    Reg(Reg),
    Const(usize),
    Int(i64),
}

/// What happens to a dimension that is matched.
#[derive(Clone, Copy, Debug)]
pub(super) enum Match {
    Imm(i64),
    Store(Slot),
    Skip,
    Load(Slot),
}

/// Where a dimension that is made comes from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Make {
    Imm(i64),
    Load(Slot),
}

/// Index of an `ErrorContext` among the constants.
pub(super) type Context = usize;

/// A decoded instruction.
#[derive(Debug)]
pub(super) enum Op {
    CheckTensor(Src, Option<usize>, Option<DType>, Context),
    CheckShape(Src, Option<usize>, Context),
    CheckPrim(Src, Context),
    CheckTuple(Src, usize, Context),
    CheckFunc(Src, Context),
    MatchShape(Src, Box<[Match]>, Context),
    MatchPrim(Src, Match, Context),
    ShapeFunc(usize),
    MakeShape(Reg, Box<[Make]>),
    MakePrim(Reg, Make),
    AllocStorage {
        storage: usize,
        size: Src,
        place: MemorySpace,
    },
    AllocTensor {
        dst: Reg,
        storages: Box<[usize]>,
        offset: Src,
        shape: Src,
        dtype: DType,
    },
    /// `kernel`: the first of its variants; `sharings`: which of the program's each variant has; `site`: position of its plans in the
    /// frame.
    Launch {
        kernel: usize,
        sharings: Box<[usize]>,
        args: Box<[Src]>,
        site: usize,
    },
    CallFunction(Option<Reg>, usize, Box<[Src]>),
    /// Which entry of the table of packed functions.
    CallPacked(Option<Reg>, usize, Box<[Src]>),
    MakeTuple(Reg, Box<[Src]>),
    TupleGetItem(Reg, Src, usize),
    Copy(Reg, Src),
    ReadIfCond(Reg, Src),
    ToHost(Reg, Src),
    ToDevice(Reg, Src),
    ShapeOf(Reg, Src),
    Reshape(Reg, Src, Src),
    /// The function, and the values that it takes after its arguments.
    MakeClosure(Reg, usize, Box<[Src]>),
    /// The closure and its arguments.
    InvokeClosure(Option<Reg>, Src, Box<[Src]>),
    /// Empties a register.
    Null(Reg),
    Nop,
    Ret(Reg),
    Goto(Pc),
    /// The condition, and where to go if it is false.
    If(Reg, Pc),
}

/// A decoded function.
#[derive(Debug)]
pub(super) struct Code {
    pub(super) name: Arc<str>,
    pub(super) params: Vec<String>,
    /// Position of the first instruction.
    pub(super) start: Pc,
    pub(super) ops: Vec<Op>,
    pub(super) num_regs: usize,
    pub(super) num_slots: usize,
    pub(super) num_storages: usize,
    pub(super) arenas: Arenas,
    pub(super) num_sites: usize,
    /// Registers to be emptied after a call: all but those that keep memory for the next one.
    pub(super) transient: Vec<Reg>,
    /// Registers whose tensors are the results, and the storages that these are in, where that is known: memory for them can be
    /// given to a call.
    pub(super) results: Vec<(Reg, usize)>,
    /// Calls of functions whose results the function gives back as they are.
    pub(super) tail_calls: HashSet<Pc>,
}

impl Code {
    /// The operation that the instruction at this position of the executable became.
    pub(super) fn op(&self, pc: Pc) -> &Op {
        &self.ops[pc.index() - self.start.index()]
    }

    /// Whether the function has nothing left to do after the call at this position but to give back what that gives: the callee
    /// can take the place of the caller, so loops that are written as recursion need no stack.
    pub(super) fn returns_call(&self, pc: Pc) -> bool {
        self.tail_calls.contains(&pc)
    }
}

/// All functions, and what they call.
#[derive(Debug, Default)]
pub(super) struct Program {
    pub(super) codes: Vec<Code>,
    /// Names of packed functions.
    pub(super) packed: Vec<String>,
    /// Lowered functions as they are launched.
    pub(super) sharings: Vec<Sharing>,
}

#[cfg(feature = "gpu")]
impl Program {
    /// What is launched: the first of the variants of a lowered function, and the sharing of each.
    pub(super) fn launches(&self) -> impl Iterator<Item = (usize, &[usize])> {
        let ops = self.codes.iter().flat_map(|code| &code.ops);
        ops.filter_map(|op| match op {
            Op::Launch {
                kernel, sharings, ..
            } => Some((*kernel, &**sharings)),
            _ => None,
        })
    }
}
