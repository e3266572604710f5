//! Bytes of instructions whose registers are known, by iced.

use iced_x86::{
    Code, Encoder, IcedError, Instruction, Mnemonic, OpCodeOperandKind, OpKind, Register,
};
use regalloc2::{PReg, RegClass};

use super::inst::{GENERAL, MASK};

/// An operand with its register.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Operand {
    Reg(PReg),
    Imm(i64),
    Mem(Address),
    /// A constant, by its offset in the pool.
    Pool(u32),
}

/// A place in memory.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Address {
    pub(super) base: usize,
    pub(super) index: Option<(usize, u32)>,
    pub(super) disp: i32,
}

/// A hole in the code: four bytes that are relative to the end of their instruction.
struct Hole {
    at: usize,
    end: usize,
    to: Target,
}

enum Target {
    Label(usize),
    Pool(u32),
}

/// Code that grows.
pub(super) struct Assembler {
    encoder: Encoder,
    ip: usize,
    holes: Vec<Hole>,
    labels: Vec<Option<usize>>,
}

impl Assembler {
    pub(super) fn new(labels: usize) -> Self {
        Self {
            encoder: Encoder::new(64),
            ip: 0,
            holes: vec![],
            labels: vec![None; labels],
        }
    }

    /// The label stands here.
    pub(super) fn bind(&mut self, label: usize) {
        self.labels[label] = Some(self.ip);
    }

    fn encode(&mut self, instruction: &Instruction) -> Result<(), IcedError> {
        self.ip += self.encoder.encode(instruction, self.ip as u64)?;
        Ok(())
    }

    /// An instruction with operands in the order of Intel's manual. One more operand than it has is its mask, under which
    /// lanes of a result in a register become 0, or those of the first operand of a blend.
    pub(super) fn inst(&mut self, code: Code, operands: &[Operand]) -> Result<(), IcedError> {
        let (instruction, pool) = instruction(code, operands)?;
        let start = self.ip;
        self.encode(&instruction)?;
        if let Some(offset) = pool {
            let at = start + self.encoder.get_constant_offsets().displacement_offset();
            self.holes.push(Hole {
                at,
                end: self.ip,
                to: Target::Pool(offset),
            });
        }
        Ok(())
    }

    /// A jump to a label.
    pub(super) fn jump(&mut self, code: Code, label: usize) -> Result<(), IcedError> {
        let here = self.ip as u64;
        self.encode(&Instruction::with_branch(code, here)?)?;
        self.holes.push(Hole {
            at: self.ip - 4,
            end: self.ip,
            to: Target::Label(label),
        });
        Ok(())
    }

    /// The code, followed by the pool, and how many bytes are instructions.
    pub(super) fn finish(mut self, pool: &[u8]) -> (Vec<u8>, usize) {
        /// The largest constant is a register of 512 bits.
        const ALIGN: usize = 64;
        let mut bytes = self.encoder.take_buffer();
        let code = bytes.len();
        if !pool.is_empty() {
            // What decodes as nothing.
            bytes.resize(code.next_multiple_of(ALIGN), 0xcc);
        }
        let base = bytes.len();
        bytes.extend(pool);
        for hole in self.holes {
            let to = match hole.to {
                Target::Label(label) => self.labels[label].expect("every block has a place"),
                Target::Pool(offset) => base + offset as usize,
            };
            let distance = to as i64 - hole.end as i64;
            bytes[hole.at..hole.at + 4].copy_from_slice(&(distance as i32).to_le_bytes());
        }
        (bytes, code)
    }
}

/// The instruction, and the offset in the pool of the constant that it reads.
fn instruction(code: Code, operands: &[Operand]) -> Result<(Instruction, Option<u32>), IcedError> {
    let mut out = Instruction::default();
    out.set_code(code);
    let kinds = code.op_code();
    let mut pool = None;
    for (i, operand) in (0..).zip(operands) {
        if let (Operand::Reg(mask), true) = (operand, i == kinds.op_count()) {
            out.set_op_mask(register(OpCodeOperandKind::k_reg, *mask));
            out.set_zeroing_masking(matches!(operands[0], Operand::Reg(_)) && !is_blend(code));
            continue;
        }
        let kind = kinds.op_kind(i);
        match *operand {
            Operand::Reg(reg) => {
                out.try_set_op_kind(i, OpKind::Register)?;
                out.try_set_op_register(i, register(kind, reg))?;
            }
            Operand::Imm(value) => {
                let kind = match kind {
                    OpCodeOperandKind::imm8sex64 => OpKind::Immediate8to64,
                    OpCodeOperandKind::imm32sex64 => OpKind::Immediate32to64,
                    OpCodeOperandKind::imm32 => OpKind::Immediate32,
                    OpCodeOperandKind::imm64 => OpKind::Immediate64,
                    _ => OpKind::Immediate8,
                };
                out.try_set_op_kind(i, kind)?;
                out.try_set_immediate_i64(i, value)?;
            }
            Operand::Mem(address) => {
                out.try_set_op_kind(i, OpKind::Memory)?;
                out.set_memory_base(GENERALS[address.base]);
                if let Some((index, scale)) = address.index {
                    out.set_memory_index(GENERALS[index]);
                    out.set_memory_index_scale(scale);
                }
                out.set_memory_displ_size((address.disp != 0).into());
                out.set_memory_displacement64(i64::from(address.disp) as u64);
            }
            Operand::Pool(offset) => {
                out.try_set_op_kind(i, OpKind::Memory)?;
                out.set_memory_base(Register::RIP);
                out.set_memory_displ_size(8);
                pool = Some(offset);
            }
        }
    }
    Ok((out, pool))
}

fn is_blend(code: Code) -> bool {
    use Mnemonic::{Vblendmpd, Vblendmps, Vpblendmb, Vpblendmw};
    matches!(
        code.mnemonic(),
        Vpblendmb | Vpblendmw | Vblendmps | Vblendmpd
    )
}

const GENERALS: [Register; 16] = [
    Register::RAX,
    Register::RCX,
    Register::RDX,
    Register::RBX,
    Register::RSP,
    Register::RBP,
    Register::RSI,
    Register::RDI,
    Register::R8,
    Register::R9,
    Register::R10,
    Register::R11,
    Register::R12,
    Register::R13,
    Register::R14,
    Register::R15,
];

/// The name of a register as wide as the operand.
fn register(kind: OpCodeOperandKind, reg: PReg) -> Register {
    use OpCodeOperandKind as Of;
    let number = reg.hw_enc();
    let (first, number) = match (reg.class(), kind) {
        (GENERAL, Of::r8_or_mem | Of::r8_reg) => (Register::AL, low_byte(number)),
        (GENERAL, Of::r16_or_mem | Of::r16_reg) => (Register::AX, number),
        (GENERAL, Of::r32_or_mem | Of::r32_reg | Of::r32_rm | Of::r32_vvvv | Of::r32_opcode) => {
            (Register::EAX, number)
        }
        (GENERAL, _) => (Register::RAX, number),
        (RegClass::Float, Of::zmm_reg | Of::zmm_or_mem | Of::zmm_rm | Of::zmm_vvvv) => {
            (Register::ZMM0, number)
        }
        (
            RegClass::Float,
            Of::ymm_reg | Of::ymm_or_mem | Of::ymm_rm | Of::ymm_vvvv | Of::ymm_is4,
        ) => (Register::YMM0, number),
        (RegClass::Float, _) => (Register::XMM0, number),
        (MASK, _) => (Register::K0, number),
    };
    first + number as u32
}

/// iced has AH, CH, DH and BH behind BL.
fn low_byte(number: usize) -> usize {
    if number < 4 { number } else { number + 4 }
}
