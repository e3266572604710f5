//! Machine instructions before they have registers: SSA with parameters of blocks.

use iced_x86::Code;
use regalloc2::{RegClass, VReg};

/// Width of a vector register.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Width {
    /// 128 bits.
    X,
    /// 256 bits.
    Y,
    /// 512 bits.
    Z,
}

impl Width {
    pub(super) const fn bytes(self) -> usize {
        match self {
            Self::X => 16,
            Self::Y => 32,
            Self::Z => 64,
        }
    }
}

/// Type in which a lane is computed. Signed and unsigned integers share lanes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Lane {
    I8,
    I16,
    I32,
    I64,
    F32,
    F64,
}

impl Lane {
    pub(super) const fn bytes(self) -> usize {
        match self {
            Self::I8 => 1,
            Self::I16 => 2,
            Self::I32 | Self::F32 => 4,
            Self::I64 | Self::F64 => 8,
        }
    }

    pub(super) const fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }

    /// Integer lanes of the same width.
    pub(super) const fn as_int(self) -> Self {
        match self {
            Self::F32 => Self::I32,
            Self::F64 => Self::I64,
            int => int,
        }
    }

    /// Integer lanes of so many bytes.
    pub(super) const fn int_of(bytes: usize) -> Self {
        match bytes {
            1 => Self::I8,
            2 => Self::I16,
            4 => Self::I32,
            _ => Self::I64,
        }
    }
}

/// Class of the general registers.
pub(super) const GENERAL: RegClass = RegClass::Int;
/// Class of the vector registers.
pub(super) const VECTOR: RegClass = RegClass::Float;
/// Class of the mask registers of AVX-512.
pub(super) const MASK: RegClass = RegClass::Vector;

/// A place in memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Mem {
    pub(super) base: Base,
    /// A register and what it is multiplied by: 1, 2, 4 or 8.
    pub(super) index: Option<(VReg, u32)>,
    pub(super) disp: i32,
}

/// What an address starts from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Base {
    Reg(VReg),
    /// The local arrays on the stack.
    Frame,
}

/// An operand of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Arg {
    Reg(VReg),
    Imm(i64),
    /// A constant in memory, by its offset in the pool.
    Pool(u32),
    Mem(Mem),
}

/// What an instruction is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Kind {
    /// One instruction of the machine: the result, then the arguments.
    Code(Code),
    /// The same, where the result takes the place of the first argument.
    InPlace(Code),
    /// A constant in a general register.
    Constant,
    /// The value in a register of its own: allocation may keep it elsewhere from here on.
    Copy,
    /// 1 if the comparison of two integers holds, else 0.
    SetIf(Condition),
    /// `[otherwise, a, b, then]` in general registers: the last if the comparison of `a` and `b` holds, else the first.
    SelectIf(Condition),
    /// Quotient of general registers, towards zero.
    Quotient(Sign),
    /// Remainder of general registers, with the sign of the dividend.
    Remainder(Sign),
    /// The upper half of the signed product of general registers.
    UpperProduct,
    /// A call of a function of the host.
    Call {
        address: u64,
        /// Class of arguments and result.
        class: RegClass,
    },
    /// Defines the parameters of the function.
    Entry,
}

/// How integers are read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Sign {
    Signed,
    Unsigned,
}

/// Comparison of integers in general registers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Condition {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Below,
    BelowEqual,
    Above,
    AboveEqual,
}

impl Condition {
    pub(super) fn set(self) -> Code {
        match self {
            Self::Equal => Code::Sete_rm8,
            Self::NotEqual => Code::Setne_rm8,
            Self::Less => Code::Setl_rm8,
            Self::LessEqual => Code::Setle_rm8,
            Self::Greater => Code::Setg_rm8,
            Self::GreaterEqual => Code::Setge_rm8,
            Self::Below => Code::Setb_rm8,
            Self::BelowEqual => Code::Setbe_rm8,
            Self::Above => Code::Seta_rm8,
            Self::AboveEqual => Code::Setae_rm8,
        }
    }

    pub(super) fn jump(self) -> Code {
        match self {
            Self::Equal => Code::Je_rel32_64,
            Self::NotEqual => Code::Jne_rel32_64,
            Self::Less => Code::Jl_rel32_64,
            Self::LessEqual => Code::Jle_rel32_64,
            Self::Greater => Code::Jg_rel32_64,
            Self::GreaterEqual => Code::Jge_rel32_64,
            Self::Below => Code::Jb_rel32_64,
            Self::BelowEqual => Code::Jbe_rel32_64,
            Self::Above => Code::Ja_rel32_64,
            Self::AboveEqual => Code::Jae_rel32_64,
        }
    }

    pub(super) fn select(self) -> Code {
        match self {
            Self::Equal => Code::Cmove_r64_rm64,
            Self::NotEqual => Code::Cmovne_r64_rm64,
            Self::Less => Code::Cmovl_r64_rm64,
            Self::LessEqual => Code::Cmovle_r64_rm64,
            Self::Greater => Code::Cmovg_r64_rm64,
            Self::GreaterEqual => Code::Cmovge_r64_rm64,
            Self::Below => Code::Cmovb_r64_rm64,
            Self::BelowEqual => Code::Cmovbe_r64_rm64,
            Self::Above => Code::Cmova_r64_rm64,
            Self::AboveEqual => Code::Cmovae_r64_rm64,
        }
    }

    /// Whether two constants fulfil the condition.
    pub(super) fn holds(self, a: i64, b: i64) -> bool {
        let (x, y) = (a as u64, b as u64);
        match self {
            Self::Equal => a == b,
            Self::NotEqual => a != b,
            Self::Less => a < b,
            Self::LessEqual => a <= b,
            Self::Greater => a > b,
            Self::GreaterEqual => a >= b,
            Self::Below => x < y,
            Self::BelowEqual => x <= y,
            Self::Above => x > y,
            Self::AboveEqual => x >= y,
        }
    }

    pub(super) fn negated(self) -> Self {
        match self {
            Self::Equal => Self::NotEqual,
            Self::NotEqual => Self::Equal,
            Self::Less => Self::GreaterEqual,
            Self::LessEqual => Self::Greater,
            Self::Greater => Self::LessEqual,
            Self::GreaterEqual => Self::Less,
            Self::Below => Self::AboveEqual,
            Self::BelowEqual => Self::Above,
            Self::Above => Self::BelowEqual,
            Self::AboveEqual => Self::Below,
        }
    }
}

/// An instruction.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Inst {
    pub(super) kind: Kind,
    pub(super) args: Vec<Arg>,
    pub(super) defs: Vec<VReg>,
}

impl Inst {
    /// Calls `f` with every register that the instruction reads.
    pub(super) fn each_use(&self, f: &mut dyn FnMut(VReg)) {
        for arg in &self.args {
            arg.each_use(f);
        }
    }
}

impl Arg {
    pub(super) fn each_use(&self, f: &mut dyn FnMut(VReg)) {
        match self {
            Self::Reg(reg) => f(*reg),
            Self::Imm(_) | Self::Pool(_) => {}
            Self::Mem(Mem {
                base,
                index,
                disp: _,
            }) => {
                if let Base::Reg(reg) = base {
                    f(*reg);
                }
                if let Some((reg, _)) = index {
                    f(*reg);
                }
            }
        }
    }
}

impl Arg {
    /// Puts others in the place of registers.
    pub(super) fn rename(&mut self, to: &mut dyn FnMut(VReg) -> VReg) {
        match self {
            Self::Reg(reg) => *reg = to(*reg),
            Self::Imm(_) | Self::Pool(_) => {}
            Self::Mem(Mem {
                base,
                index,
                disp: _,
            }) => {
                if let Base::Reg(reg) = base {
                    *reg = to(*reg);
                }
                if let Some((reg, _)) = index {
                    *reg = to(*reg);
                }
            }
        }
    }
}

/// A block, by its number.
pub(super) type BlockId = usize;

/// How a block ends.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Term {
    /// Not known yet.
    Open,
    Jump(BlockId, Vec<VReg>),
    Branch {
        cond: Condition,
        a: VReg,
        b: Arg,
        then: BlockId,
        otherwise: BlockId,
    },
    Return,
}

/// A block of instructions.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) params: Vec<VReg>,
    pub(super) insts: Vec<Inst>,
    pub(super) term: Term,
}

/// A function before registers are assigned.
#[derive(Debug, Default)]
pub(super) struct Func {
    pub(super) blocks: Vec<Block>,
    /// The order of blocks in the code; the entry first.
    pub(super) layout: Vec<BlockId>,
    /// Registers so far.
    pub(super) regs: usize,
    /// Constants that instructions read, each aligned to its size.
    pub(super) pool: Vec<u8>,
    /// Bytes of local arrays.
    pub(super) frame: u32,
    /// Whether it writes past the caches, which other threads see after a fence.
    pub(super) streams: bool,
}
