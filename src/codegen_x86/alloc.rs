//! Registers for machine instructions, by regalloc2.

use std::collections::BTreeSet;

use regalloc2::{
    Block as RBlock, Function, Inst as RInst, InstRange, MachineEnv, Operand, Output, PReg,
    PRegSet, RegAllocError, RegClass, RegallocOptions, VReg,
};

use super::Isa;
use super::inst::{Arg, Func, GENERAL, Inst, Kind, MASK, Term, VECTOR};

/// Numbers of general registers in machine code.
pub(super) mod gpr {
    pub(crate) const RAX: usize = 0;
    pub(crate) const RDX: usize = 2;
    pub(crate) const RBX: usize = 3;
    pub(crate) const RSP: usize = 4;
    pub(crate) const RBP: usize = 5;
    pub(crate) const RSI: usize = 6;
    pub(crate) const RDI: usize = 7;
}

/// General registers that a function hands back as they were.
pub(super) const SAVED: [usize; 5] = [gpr::RBX, 12, 13, 14, 15];

/// The function as regalloc2 sees it: blocks in the order of the code, instructions numbered through, the end of a block one too.
pub(super) struct Numbered<'a> {
    pub(super) func: &'a Func,
    isa: Isa,
    /// Position in the code of each block.
    pub(super) position: Vec<usize>,
    /// First instruction of each block, by position, and the number of all.
    starts: Vec<usize>,
    operands: Vec<Vec<Operand>>,
    clobbers: Vec<PRegSet>,
    succs: Vec<Vec<RBlock>>,
    preds: Vec<Vec<RBlock>>,
}

impl<'a> Numbered<'a> {
    pub(super) fn new(func: &'a Func, isa: Isa) -> Self {
        let mut position = vec![0; func.blocks.len()];
        for (at, &block) in func.layout.iter().enumerate() {
            position[block] = at;
        }
        let mut this = Self {
            func,
            isa,
            starts: vec![0],
            operands: vec![],
            clobbers: vec![],
            succs: vec![],
            preds: vec![vec![]; func.layout.len()],
            position,
        };
        for (at, &block) in func.layout.iter().enumerate() {
            let block = &func.blocks[block];
            for inst in &block.insts {
                this.operands.push(operands(inst));
                this.clobbers.push(clobbers(inst, isa));
            }
            let (operands, succs) = match &block.term {
                Term::Jump(to, _) => (vec![], vec![*to]),
                Term::Branch {
                    cond: _,
                    a,
                    b,
                    then,
                    otherwise,
                } => {
                    let mut operands = vec![Operand::reg_use(*a)];
                    b.each_use(&mut |reg| operands.push(Operand::reg_use(reg)));
                    (operands, vec![*then, *otherwise])
                }
                Term::Return | Term::Open => (vec![], vec![]),
            };
            this.operands.push(operands);
            this.clobbers.push(PRegSet::empty());
            this.starts.push(this.operands.len());
            let succs: Vec<RBlock> = succs
                .into_iter()
                .map(|to| RBlock::new(this.position[to]))
                .collect();
            for to in &succs {
                this.preds[to.index()].push(RBlock::new(at));
            }
            this.succs.push(succs);
        }
        this
    }

    /// The block at a position of the code.
    pub(super) fn block(&self, at: RBlock) -> &super::inst::Block {
        &self.func.blocks[self.func.layout[at.index()]]
    }

    /// The instruction with this number; `None` for the end of a block.
    pub(super) fn inst(&self, block: RBlock, inst: RInst) -> Option<&Inst> {
        let at = inst.index() - self.starts[block.index()];
        self.block(block).insts.get(at)
    }

    fn term(&self, inst: RInst) -> Option<&Term> {
        let at = self.starts.partition_point(|&start| start <= inst.index());
        let block = self.block(RBlock::new(at - 1));
        (self.starts[at] - 1 == inst.index()).then_some(&block.term)
    }
}

/// The registers of an instruction: those it reads, in the order of its arguments, then those it defines.
fn operands(inst: &Inst) -> Vec<Operand> {
    let fixed = |class, number| PReg::new(number, class);
    let mut operands = vec![];
    match inst.kind {
        Kind::Code(_)
        | Kind::InPlace(_)
        | Kind::Constant
        | Kind::Copy
        | Kind::SetIf(_)
        | Kind::SelectIf(_) => {
            inst.each_use(&mut |reg| operands.push(Operand::reg_use(reg)));
        }
        Kind::Quotient(_) | Kind::Remainder(_) | Kind::UpperProduct => {
            let rax = fixed(GENERAL, gpr::RAX);
            if let [Arg::Reg(first), Arg::Reg(second)] = inst.args[..] {
                operands.push(Operand::reg_fixed_use(first, rax));
                operands.push(Operand::reg_use_at_end(second));
            }
        }
        Kind::Call { address: _, class } => {
            let params: &[usize] = if class == VECTOR {
                &[0, 1, 2]
            } else {
                &[gpr::RDI, gpr::RSI, gpr::RDX]
            };
            let mut params = params.iter();
            inst.each_use(&mut |reg| {
                let number = params.next().copied().unwrap_or_default();
                operands.push(Operand::reg_fixed_use(reg, fixed(class, number)));
            });
        }
        Kind::Entry => {}
    }
    for (i, &def) in inst.defs.iter().enumerate() {
        operands.push(match inst.kind {
            Kind::InPlace(_) | Kind::SelectIf(_) => Operand::reg_reuse_def(def, 0),
            Kind::Quotient(_) => Operand::reg_fixed_def(def, fixed(GENERAL, gpr::RAX)),
            Kind::Remainder(_) | Kind::UpperProduct => {
                Operand::reg_fixed_def(def, fixed(GENERAL, gpr::RDX))
            }
            Kind::Call { address: _, class } => Operand::reg_fixed_def(def, fixed(class, 0)),
            Kind::Entry => {
                let params = [gpr::RDI, gpr::RSI, gpr::RDX];
                Operand::reg_fixed_def(def, fixed(GENERAL, params[i]))
            }
            Kind::Code(_) | Kind::Constant | Kind::Copy | Kind::SetIf(_) => Operand::reg_def(def),
        });
    }
    operands
}

/// What the instruction destroys besides its results.
fn clobbers(inst: &Inst, isa: Isa) -> PRegSet {
    let mut set = PRegSet::empty();
    match inst.kind {
        Kind::Quotient(_) => set.add(PReg::new(gpr::RDX, GENERAL)),
        Kind::Remainder(_) | Kind::UpperProduct => set.add(PReg::new(gpr::RAX, GENERAL)),
        Kind::Call { address: _, class } => {
            let result = PReg::new(0, class);
            let general = (0..16).filter(|at| !SAVED.contains(at) && !is_reserved(*at));
            let general = general.map(|at| PReg::new(at, GENERAL));
            let vectors = (0..isa.registers()).map(|at| PReg::new(at, VECTOR));
            let masks = (1..8).map(|at| PReg::new(at, MASK));
            let all = general.chain(vectors).chain(masks);
            all.filter(|reg| *reg != result)
                .for_each(|reg| set.add(reg));
        }
        Kind::Code(_)
        | Kind::InPlace(_)
        | Kind::Constant
        | Kind::Copy
        | Kind::SetIf(_)
        | Kind::SelectIf(_)
        | Kind::Entry => {}
    }
    set
}

/// The stack and the frame.
fn is_reserved(general: usize) -> bool {
    general == gpr::RSP || general == gpr::RBP
}

impl Function for Numbered<'_> {
    fn num_insts(&self) -> usize {
        self.operands.len()
    }

    fn num_blocks(&self) -> usize {
        self.func.layout.len()
    }

    fn entry_block(&self) -> RBlock {
        RBlock::new(0)
    }

    fn block_insns(&self, block: RBlock) -> InstRange {
        let [from, to] = [block.index(), block.index() + 1].map(|at| RInst::new(self.starts[at]));
        InstRange::new(from, to)
    }

    fn block_succs(&self, block: RBlock) -> &[RBlock] {
        &self.succs[block.index()]
    }

    fn block_preds(&self, block: RBlock) -> &[RBlock] {
        &self.preds[block.index()]
    }

    fn block_params(&self, block: RBlock) -> &[VReg] {
        &self.block(block).params
    }

    fn is_ret(&self, inst: RInst) -> bool {
        matches!(self.term(inst), Some(Term::Return))
    }

    fn is_branch(&self, inst: RInst) -> bool {
        matches!(self.term(inst), Some(Term::Jump(..) | Term::Branch { .. }))
    }

    fn branch_blockparams(&self, block: RBlock, _: RInst, _: usize) -> &[VReg] {
        match &self.block(block).term {
            Term::Jump(_, args) => args,
            Term::Branch { .. } | Term::Return | Term::Open => &[],
        }
    }

    fn inst_operands(&self, inst: RInst) -> &[Operand] {
        &self.operands[inst.index()]
    }

    fn inst_clobbers(&self, inst: RInst) -> PRegSet {
        self.clobbers[inst.index()]
    }

    fn num_vregs(&self) -> usize {
        self.func.regs
    }

    fn spillslot_size(&self, class: RegClass) -> usize {
        if class == VECTOR {
            self.isa.width().bytes() / 8
        } else {
            1
        }
    }
}

/// Assigns registers.
pub(super) fn allocate(func: &Numbered<'_>, isa: Isa) -> Result<Output, RegAllocError> {
    let set = |numbers: &mut dyn Iterator<Item = usize>, class| {
        let mut set = PRegSet::empty();
        numbers.for_each(|number| set.add(PReg::new(number, class)));
        set
    };
    let saved: BTreeSet<usize> = SAVED.into();
    let free = |at: &usize| !is_reserved(*at) && !saved.contains(at);
    let env = MachineEnv {
        preferred_regs_by_class: [
            set(&mut (0..16).filter(free), GENERAL),
            set(&mut (0..isa.registers()), VECTOR),
            set(&mut (1..8), MASK),
        ],
        non_preferred_regs_by_class: [
            set(&mut SAVED.into_iter(), GENERAL),
            PRegSet::empty(),
            PRegSet::empty(),
        ],
        scratch_by_class: [None; 3],
        fixed_stack_slots: vec![],
    };
    let options = RegallocOptions {
        validate_ssa: cfg!(debug_assertions),
        ..RegallocOptions::default()
    };
    let output = regalloc2::run(func, &env, &options)?;
    #[cfg(debug_assertions)]
    {
        let mut checker = regalloc2::checker::Checker::new(func, &env);
        checker.prepare(&output);
        if let Err(errors) = checker.run() {
            panic!("regalloc2 assigned wrong registers: {errors:?}");
        }
    }
    Ok(output)
}
