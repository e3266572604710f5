//! Copies vectors that are read behind their loop to new registers at its exit (loop-closed SSA, where registers are few).
//!
//! A sum is read by the loop that makes it and by what follows. If what follows needs many registers, the sum is spilled, and
//! regalloc2 stores where a value is defined: at each trip of the loop. A copy behind the loop is stored once.

use std::collections::BTreeMap;

use regalloc2::VReg;

use super::Isa;
use super::inst::{Arg, Func, Inst, Kind, Term, VECTOR};
use super::live::{FREE, live_out, pressure};

/// Copies vectors where they leave their loops, if what follows has no register for each of them.
pub(super) fn copy_exits(func: &mut Func, isa: Isa) {
    let copies = copies(func, isa);
    let Func { blocks, layout, .. } = func;
    for (at, &block) in layout.iter().enumerate() {
        let mut name = |reg: VReg| match copies.get(&reg) {
            Some(copy) if copy.of.last < at => copy.reg,
            _ => reg,
        };
        let block = &mut blocks[block];
        for inst in &mut block.insts {
            inst.args.iter_mut().for_each(|arg| arg.rename(&mut name));
        }
        if let Term::Jump(_, args) = &mut block.term {
            args.iter_mut().for_each(|reg| *reg = name(*reg));
        }
    }
    for (reg, copy) in copies {
        let inst = Inst {
            kind: Kind::Copy,
            args: vec![Arg::Reg(reg)],
            defs: vec![copy.reg],
        };
        blocks[layout[copy.of.last + 1]].insts.insert(0, inst);
    }
}

/// The register that stands for another one behind a loop.
struct ExitCopy {
    of: Loop,
    reg: VReg,
}

/// The vectors that are copied.
fn copies(func: &mut Func, isa: Isa) -> BTreeMap<VReg, ExitCopy> {
    let loops = carrying_loops(func);
    // The last place that each vector is read at behind the loop that it leaves.
    let mut read: BTreeMap<VReg, usize> = BTreeMap::new();
    for (at, &block) in func.layout.iter().enumerate() {
        let mut see = |reg: VReg| {
            if reg.class() == VECTOR && loops[reg.vreg()].is_some_and(|of| of.last < at) {
                read.insert(reg, at);
            }
        };
        let block = &func.blocks[block];
        block.insts.iter().for_each(|inst| inst.each_use(&mut see));
        if let Term::Jump(_, args) = &block.term {
            args.iter().copied().for_each(&mut see);
        }
    }
    if read.is_empty() {
        return BTreeMap::new();
    }
    let live_out = live_out(func);
    let is_full =
        |&block: &usize| pressure(func, block, &live_out[block], &[]) + FREE > isa.registers();
    let is_full: Vec<bool> = func.layout.iter().map(is_full).collect();
    let mut copies = BTreeMap::new();
    for (reg, last) in read {
        let Some(of) = loops[reg.vreg()] else {
            continue;
        };
        if is_full[of.last + 1..=last].contains(&true) {
            let copy = VReg::new(func.regs, VECTOR);
            func.regs += 1;
            copies.insert(reg, ExitCopy { of, reg: copy });
        }
    }
    copies
}

/// The places in the code of a loop's blocks. The block behind the last is the loop's exit.
#[derive(Clone, Copy)]
struct Loop {
    first: usize,
    last: usize,
}

impl Loop {
    fn contains(&self, place: usize) -> bool {
        (self.first..=self.last).contains(&place)
    }
}

/// The loop that each register is kept for, by its number: the outermost that hands it to its next trip, else the innermost that it
/// is defined in.
fn carrying_loops(func: &Func) -> Vec<Option<Loop>> {
    let mut position = vec![0; func.blocks.len()];
    let mut defined = vec![0; func.regs];
    for (at, &block) in func.layout.iter().enumerate() {
        position[block] = at;
        let block = &func.blocks[block];
        let defs = block.insts.iter().flat_map(|inst| &inst.defs);
        for reg in block.params.iter().chain(defs) {
            defined[reg.vreg()] = at;
        }
    }
    let mut innermost = vec![None; func.layout.len()];
    let mut carried: Vec<Option<Loop>> = vec![None; func.regs];
    // From the end of the code: outer loops end behind inner ones, and the loop that carries a parameter is known before the jump
    // that passes its value.
    for (last, &block) in func.layout.iter().enumerate().rev() {
        let Term::Jump(to, args) = &func.blocks[block].term else {
            continue;
        };
        let first = position[*to];
        let goes_back = (first <= last).then_some(Loop { first, last });
        if let Some(own) = goes_back {
            debug_assert!(last + 1 < func.layout.len(), "a loop has an exit behind it");
            innermost[first..=last].fill(Some(own));
        }
        for (param, arg) in func.blocks[*to].params.iter().zip(args) {
            let around = goes_back.or(carried[param.vreg()]);
            let around = around.filter(|around| around.contains(defined[arg.vreg()]));
            let known = &mut carried[arg.vreg()];
            *known = known.or(around);
        }
    }
    let of_place = defined.into_iter().map(|at| innermost[at]);
    carried
        .into_iter()
        .zip(of_place)
        .map(|(own, place)| own.or(place))
        .collect()
}
