//! Removes what nobody reads: instructions, and the parameters of blocks.
//!
//! A local array in registers is handed to every loop that writes it. Where a loop writes it before it reads it, that parameter
//! is read by nothing but itself, and would keep a register busy.

use regalloc2::VReg;

use super::inst::{Arg, Func, Inst, Kind, Term};

/// Removes dead code. Registers are taken to be dead until an effect is found to need them.
pub(super) fn prune(func: &mut Func) {
    let live = live(func);
    for block in &mut func.blocks {
        let is_live = |reg: &VReg| live[reg.vreg()];
        block
            .insts
            .retain(|inst| has_effect(inst) || inst.defs.iter().any(is_live));
    }
    let params: Vec<Vec<bool>> = func
        .blocks
        .iter()
        .map(|block| block.params.iter().map(|p| live[p.vreg()]).collect())
        .collect();
    for (block, keep) in func.blocks.iter_mut().zip(&params) {
        retain(&mut block.params, keep);
        if let Term::Jump(to, args) = &mut block.term {
            retain(args, &params[*to]);
        }
    }
}

fn retain(items: &mut Vec<VReg>, keep: &[bool]) {
    let mut keep = keep.iter();
    items.retain(|_| keep.next().is_some_and(|keep| *keep));
}

fn has_effect(inst: &Inst) -> bool {
    inst.defs.is_empty() || inst.kind == Kind::Entry
}

/// Whether each register is needed.
fn live(func: &Func) -> Vec<bool> {
    /// What a register is made of.
    #[derive(Clone, Copy)]
    enum Source {
        Unknown,
        Inst(usize, usize),
        Param(usize, usize),
    }
    let mut sources = vec![Source::Unknown; func.regs];
    let mut jumps = vec![vec![]; func.blocks.len()];
    let mut work: Vec<VReg> = vec![];
    for (b, block) in func.blocks.iter().enumerate() {
        for (i, param) in block.params.iter().enumerate() {
            sources[param.vreg()] = Source::Param(b, i);
        }
        for (i, inst) in block.insts.iter().enumerate() {
            for def in &inst.defs {
                sources[def.vreg()] = Source::Inst(b, i);
            }
            if has_effect(inst) {
                inst.each_use(&mut |reg| work.push(reg));
            }
        }
        match &block.term {
            Term::Jump(to, _) => jumps[*to].push(b),
            Term::Branch {
                cond: _,
                a,
                b,
                then: _,
                otherwise: _,
            } => {
                work.push(*a);
                if let Arg::Reg(reg) = b {
                    work.push(*reg);
                }
            }
            Term::Return | Term::Open => {}
        }
    }
    let mut live = vec![false; func.regs];
    while let Some(reg) = work.pop() {
        if std::mem::replace(&mut live[reg.vreg()], true) {
            continue;
        }
        match sources[reg.vreg()] {
            Source::Unknown => {}
            Source::Inst(b, i) => func.blocks[b].insts[i].each_use(&mut |reg| work.push(reg)),
            Source::Param(b, i) => {
                for &from in &jumps[b] {
                    if let Term::Jump(_, args) = &func.blocks[from].term {
                        work.push(args[i]);
                    }
                }
            }
        }
    }
    live
}
