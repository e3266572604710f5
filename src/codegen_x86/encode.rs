//! Machine code of a function whose registers are assigned: frame, moves, order of blocks.

use iced_x86::{Code, IcedError};
use regalloc2::{Allocation, Block as RBlock, Edit, Inst as RInst, InstOrEdit, Output, PReg};

use super::Isa;
use super::alloc::{Numbered, SAVED, gpr};
use super::assemble::{Address, Assembler, Operand};
use super::forms::{Op, form};
use super::inst::{Arg, Base, GENERAL, Inst, Kind, Lane, MASK, Mem, Sign, Term, VECTOR};

/// Alignment of the frame: that of the widest register.
const FRAME_ALIGN: usize = 64;
/// Bytes of local arrays that are cleared at once.
const CLEARED: usize = 32;
/// Bytes of stack after which the next page is touched.
const PAGE: usize = 4096;
/// Free before the first instruction and at a call.
const SCRATCH: usize = 11;

struct Encoding<'a> {
    func: &'a Numbered<'a>,
    output: &'a Output,
    isa: Isa,
    asm: Assembler,
    /// General registers to restore.
    saved: Vec<usize>,
    /// Where the local arrays are, from the stack pointer.
    locals: usize,
    /// Bytes below the saved registers.
    frame: usize,
}

/// The bytes of a function, and how many of them are instructions; constants follow.
pub(super) fn encode(
    func: &Numbered<'_>,
    output: &Output,
    isa: Isa,
) -> Result<(Vec<u8>, usize), IcedError> {
    let locals = (8 * output.num_spillslots).next_multiple_of(FRAME_ALIGN);
    let frame = (locals + func.func.frame as usize).next_multiple_of(FRAME_ALIGN);
    let mut encoding = Encoding {
        func,
        output,
        isa,
        asm: Assembler::new(func.func.layout.len() + 2),
        saved: saved(output),
        locals,
        frame,
    };
    encoding.prologue()?;
    encoding.blocks()?;
    Ok(encoding.asm.finish(&func.func.pool))
}

/// The registers that belong to the caller and are written.
fn saved(output: &Output) -> Vec<usize> {
    let moved = output.edits.iter().flat_map(|(_, edit)| {
        let Edit::Move { from, to } = edit;
        [*from, *to]
    });
    let all: Vec<Allocation> = output.allocs.iter().copied().chain(moved).collect();
    let used = |number: &usize| all.contains(&Allocation::reg(PReg::new(*number, GENERAL)));
    SAVED.into_iter().filter(used).collect()
}

fn general(number: usize) -> Operand {
    Operand::Reg(PReg::new(number, GENERAL))
}

impl Encoding<'_> {
    fn prologue(&mut self) -> Result<(), IcedError> {
        let (rsp, rbp) = (general(gpr::RSP), general(gpr::RBP));
        self.asm.inst(Code::Push_r64, &[rbp])?;
        self.asm.inst(Code::Mov_r64_rm64, &[rbp, rsp])?;
        for number in self.saved.clone() {
            self.asm.inst(Code::Push_r64, &[general(number)])?;
        }
        self.grow_stack()?;
        let align = Operand::Imm(-(FRAME_ALIGN as i64));
        self.asm.inst(Code::And_rm64_imm8, &[rsp, align])?;
        self.clear_locals()
    }

    /// Local arrays start as zeros. Nobody may read what nobody wrote, but lanes that do not count are computed with: old bits may
    /// be subnormal numbers, of which each takes 150 cycles.
    fn clear_locals(&mut self) -> Result<(), IcedError> {
        let bytes = self.frame - self.locals;
        if bytes == 0 {
            return Ok(());
        }
        let (left, zeros) = (general(SCRATCH), Operand::Reg(PReg::new(0, VECTOR)));
        let again = self.func.func.layout.len() + 1;
        let number = |bytes: usize| Operand::Imm(bytes as i64);
        self.asm
            .inst(Code::VEX_Vpxor_xmm_xmm_xmmm128, &[zeros, zeros, zeros])?;
        self.asm.inst(Code::Mov_r32_imm32, &[left, number(bytes)])?;
        self.asm.bind(again);
        let last = Operand::Mem(Address {
            base: gpr::RSP,
            index: Some((SCRATCH, 1)),
            disp: self.locals as i32 - CLEARED as i32,
        });
        self.asm
            .inst(Code::VEX_Vmovups_ymmm256_ymm, &[last, zeros])?;
        self.asm
            .inst(Code::Sub_rm64_imm32, &[left, number(CLEARED)])?;
        self.asm.jump(Code::Jne_rel32_64, again)
    }

    /// Makes room for the frame, page by page, so that the guard page behind the stack is hit before anything beyond it.
    fn grow_stack(&mut self) -> Result<(), IcedError> {
        let rsp = general(gpr::RSP);
        let pages = self.frame / PAGE;
        if pages > 0 {
            let (count, again) = (general(SCRATCH), self.func.func.layout.len());
            let number = Operand::Imm(pages as i64);
            self.asm.inst(Code::Mov_r32_imm32, &[count, number])?;
            self.asm.bind(again);
            let page = Operand::Imm(PAGE as i64);
            self.asm.inst(Code::Sub_rm64_imm32, &[rsp, page])?;
            let top = Operand::Mem(Address {
                base: gpr::RSP,
                index: None,
                disp: 0,
            });
            self.asm.inst(Code::Or_rm64_imm8, &[top, Operand::Imm(0)])?;
            self.asm.inst(Code::Dec_rm32, &[count])?;
            self.asm.jump(Code::Jne_rel32_64, again)?;
        }
        let rest = Operand::Imm((self.frame % PAGE) as i64);
        self.asm.inst(Code::Sub_rm64_imm32, &[rsp, rest])
    }

    fn epilogue(&mut self) -> Result<(), IcedError> {
        if self.func.func.streams {
            self.asm.inst(Code::Sfence, &[])?;
        }
        self.asm.inst(Code::VEX_Vzeroupper, &[])?;
        let saved = Operand::Mem(Address {
            base: gpr::RBP,
            index: None,
            disp: -8 * self.saved.len() as i32,
        });
        self.asm
            .inst(Code::Lea_r64_m, &[general(gpr::RSP), saved])?;
        for number in self.saved.clone().into_iter().rev() {
            self.asm.inst(Code::Pop_r64, &[general(number)])?;
        }
        self.asm.inst(Code::Pop_r64, &[general(gpr::RBP)])?;
        self.asm.inst(Code::Retnq, &[])
    }

    /// Where a jump to the block at this position ends, past blocks that only jump on.
    fn resolve(&self, mut at: usize) -> usize {
        while self.is_empty(at)
            && at != 0
            && let Term::Jump(to, _) = &self.func.block(RBlock::new(at)).term
        {
            at = self.func.position[*to];
        }
        at
    }

    /// Whether the block does nothing but to end.
    fn is_empty(&self, at: usize) -> bool {
        let block = RBlock::new(at);
        self.output
            .block_insts_and_edits(self.func, block)
            .all(|item| match item {
                InstOrEdit::Inst(inst) => self.func.inst(block, inst).is_none(),
                InstOrEdit::Edit(Edit::Move { from, to }) => from == to,
            })
    }

    fn blocks(&mut self) -> Result<(), IcedError> {
        let count = self.func.func.layout.len();
        let emitted: Vec<bool> = (0..count).map(|at| self.resolve(at) == at).collect();
        for at in (0..count).filter(|&at| emitted[at]) {
            let next = (at + 1..count).find(|&next| emitted[next]);
            self.asm.bind(at);
            let block = RBlock::new(at);
            let items: Vec<InstOrEdit<'_>> = self
                .output
                .block_insts_and_edits(self.func, block)
                .collect();
            for item in items {
                match item {
                    InstOrEdit::Edit(Edit::Move { from, to }) => self.move_(*from, *to)?,
                    InstOrEdit::Inst(inst) => match self.func.inst(block, inst) {
                        Some(what) => self.inst(what, self.output.inst_allocs(inst))?,
                        None => self.term(block, inst, next)?,
                    },
                }
            }
        }
        Ok(())
    }

    fn slot(&self, allocation: Allocation) -> Option<Operand> {
        let slot = allocation.as_stack()?;
        Some(Operand::Mem(Address {
            base: gpr::RSP,
            index: None,
            disp: 8 * slot.index() as i32,
        }))
    }

    fn move_(&mut self, from: Allocation, to: Allocation) -> Result<(), IcedError> {
        if from == to {
            return Ok(());
        }
        let class = from.as_reg().or(to.as_reg()).map(PReg::class);
        let vector =
            |op| form(self.isa, op, Lane::F32, self.isa.width()).expect("every width has moves");
        let (load, store, copy) = match class {
            Some(VECTOR) => (vector(Op::Load), vector(Op::Store), vector(Op::Move)),
            Some(MASK) => (
                Code::VEX_Kmovq_kr_km64,
                Code::VEX_Kmovq_m64_kr,
                Code::VEX_Kmovq_kr_km64,
            ),
            _ => (Code::Mov_r64_rm64, Code::Mov_rm64_r64, Code::Mov_r64_rm64),
        };
        let place = |this: &Self, at: Allocation| match at.as_reg() {
            Some(reg) => Operand::Reg(reg),
            None => this
                .slot(at)
                .expect("an allocation is a register or a slot"),
        };
        let (source, target) = (place(self, from), place(self, to));
        let code = match (&source, &target) {
            (Operand::Reg(_), Operand::Reg(_)) => copy,
            (_, Operand::Reg(_)) => load,
            _ => store,
        };
        self.asm.inst(code, &[target, source])
    }

    fn term(&mut self, block: RBlock, inst: RInst, next: Option<usize>) -> Result<(), IcedError> {
        let func = self.func;
        match &func.block(block).term {
            Term::Open => unreachable!("every block is ended"),
            Term::Return => self.epilogue(),
            Term::Jump(to, _) => {
                let to = self.resolve(func.position[*to]);
                if Some(to) == next {
                    return Ok(());
                }
                self.asm.jump(Code::Jmp_rel32_64, to)
            }
            Term::Branch {
                cond,
                a: _,
                b,
                then,
                otherwise,
            } => {
                let mut regs = self.output.inst_allocs(inst).iter().copied();
                let a = reg(&mut regs);
                self.compare(a, *b, &mut regs)?;
                let [then, otherwise] =
                    [then, otherwise].map(|&to| self.resolve(func.position[to]));
                if Some(then) == next {
                    return self.asm.jump(cond.negated().jump(), otherwise);
                }
                self.asm.jump(cond.jump(), then)?;
                if Some(otherwise) == next {
                    return Ok(());
                }
                self.asm.jump(Code::Jmp_rel32_64, otherwise)
            }
        }
    }

    fn compare(
        &mut self,
        a: Operand,
        b: Arg,
        regs: &mut dyn Iterator<Item = Allocation>,
    ) -> Result<(), IcedError> {
        match b {
            Arg::Imm(0) => self.asm.inst(Code::Test_rm64_r64, &[a, a]),
            Arg::Imm(value) if i8::try_from(value).is_ok() => self
                .asm
                .inst(Code::Cmp_rm64_imm8, &[a, Operand::Imm(value)]),
            Arg::Imm(value) => self
                .asm
                .inst(Code::Cmp_rm64_imm32, &[a, Operand::Imm(value)]),
            Arg::Reg(_) | Arg::Pool(_) | Arg::Mem(_) => {
                let b = reg(regs);
                self.asm.inst(Code::Cmp_r64_rm64, &[a, b])
            }
        }
    }

    fn inst(&mut self, inst: &Inst, allocs: &[Allocation]) -> Result<(), IcedError> {
        let mut regs = allocs.iter().copied();
        let args: Vec<Operand> = inst
            .args
            .iter()
            .map(|arg| self.operand(arg, &mut regs))
            .collect();
        let defs: Vec<Operand> = inst.defs.iter().map(|_| reg(&mut regs)).collect();
        match (inst.kind, defs.as_slice()) {
            (Kind::Code(code), _) => self.asm.inst(code, &[defs, args].concat()),
            (Kind::InPlace(code), _) => self.asm.inst(code, &[&defs, &args[1..]].concat()),
            (Kind::Constant, [to]) => self.constant(*to, &args),
            (Kind::Copy, _) => self.move_(allocs[0], allocs[1]),
            (Kind::SetIf(cond), [to]) => {
                let b = inst.args[1];
                let mut regs = allocs[1..].iter().copied();
                self.compare(args[0], b, &mut regs)?;
                self.asm.inst(cond.set(), &[*to])?;
                self.asm.inst(Code::Movzx_r32_rm8, &[*to, *to])
            }
            (Kind::SelectIf(cond), [to]) => {
                let mut regs = allocs[2..].iter().copied();
                self.compare(args[1], inst.args[2], &mut regs)?;
                self.asm.inst(cond.select(), &[*to, args[3]])
            }
            (Kind::Quotient(sign) | Kind::Remainder(sign), _) => self.divide(sign, args[1]),
            (Kind::UpperProduct, _) => self.asm.inst(Code::Imul_rm64, &[args[1]]),
            (Kind::Call { address, class: _ }, _) => {
                self.asm.inst(Code::VEX_Vzeroupper, &[])?;
                let function = general(SCRATCH);
                let address = Operand::Imm(address as i64);
                self.asm.inst(Code::Mov_r64_imm64, &[function, address])?;
                self.asm.inst(Code::Call_rm64, &[function])
            }
            (Kind::Entry, _) => Ok(()),
            (Kind::Constant | Kind::SetIf(_) | Kind::SelectIf(_), _) => {
                unreachable!("these have one result")
            }
        }
    }

    fn divide(&mut self, sign: Sign, divisor: Operand) -> Result<(), IcedError> {
        match sign {
            Sign::Signed => {
                self.asm.inst(Code::Cqo, &[])?;
                self.asm.inst(Code::Idiv_rm64, &[divisor])
            }
            Sign::Unsigned => {
                let rdx = general(gpr::RDX);
                self.asm.inst(Code::Xor_r32_rm32, &[rdx, rdx])?;
                self.asm.inst(Code::Div_rm64, &[divisor])
            }
        }
    }

    fn constant(&mut self, to: Operand, args: &[Operand]) -> Result<(), IcedError> {
        let [Operand::Imm(value)] = args else {
            unreachable!("a constant has an immediate");
        };
        let code = if *value == 0 {
            return self.asm.inst(Code::Xor_r32_rm32, &[to, to]);
        } else if u32::try_from(*value).is_ok() {
            Code::Mov_r32_imm32
        } else if i32::try_from(*value).is_ok() {
            Code::Mov_rm64_imm32
        } else {
            Code::Mov_r64_imm64
        };
        self.asm.inst(code, &[to, Operand::Imm(*value)])
    }

    fn operand(&self, arg: &Arg, regs: &mut dyn Iterator<Item = Allocation>) -> Operand {
        match arg {
            Arg::Reg(_) => reg(regs),
            Arg::Imm(value) => Operand::Imm(*value),
            Arg::Pool(offset) => Operand::Pool(*offset),
            Arg::Mem(Mem { base, index, disp }) => {
                let (base, disp) = match base {
                    Base::Reg(_) => (number(regs), *disp),
                    Base::Frame => (gpr::RSP, disp + self.locals as i32),
                };
                let index = index.map(|(_, scale)| (number(regs), scale));
                Operand::Mem(Address { base, index, disp })
            }
        }
    }
}

fn reg(regs: &mut dyn Iterator<Item = Allocation>) -> Operand {
    let reg = regs.next().and_then(Allocation::as_reg);
    Operand::Reg(reg.expect("all operands are in registers"))
}

fn number(regs: &mut dyn Iterator<Item = Allocation>) -> usize {
    let reg = regs.next().and_then(Allocation::as_reg);
    reg.expect("all operands are in registers").hw_enc()
}
