//! Liveness of vector registers, and the pressure on them.

use regalloc2::VReg;

use super::inst::{Func, Term, VECTOR};

/// Registers that stay free: an instruction whose result takes the place of an operand may want a copy of it.
pub(super) const FREE: usize = 2;

/// Vector registers, by their numbers.
pub(super) type Live = Vec<u64>;

fn insert(live: &mut Live, reg: VReg) {
    if reg.class() == VECTOR {
        live[reg.vreg() / 64] |= 1 << (reg.vreg() % 64);
    }
}

fn remove(live: &mut Live, reg: VReg) {
    live[reg.vreg() / 64] &= !(1 << (reg.vreg() % 64));
}

fn count(live: &Live) -> usize {
    live.iter().map(|bits| bits.count_ones() as usize).sum()
}

/// The vector registers that are read behind each block.
pub(super) fn live_out(func: &Func) -> Vec<Live> {
    let none = vec![0; func.regs.div_ceil(64)];
    let mut live_in = vec![none.clone(); func.blocks.len()];
    let mut live_out = vec![none.clone(); func.blocks.len()];
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for &at in func.layout.iter().rev() {
            let block = &func.blocks[at];
            let mut live = none.clone();
            let mut join = |to: usize| live.iter_mut().zip(&live_in[to]).for_each(|(a, b)| *a |= b);
            match &block.term {
                Term::Jump(to, args) => {
                    join(*to);
                    args.iter().for_each(|&reg| insert(&mut live, reg));
                }
                Term::Branch {
                    then, otherwise, ..
                } => {
                    join(*then);
                    join(*otherwise);
                }
                Term::Return | Term::Open => {}
            }
            live_out[at].clone_from(&live);
            for inst in block.insts.iter().rev() {
                inst.defs.iter().for_each(|&reg| remove(&mut live, reg));
                inst.each_use(&mut |reg| insert(&mut live, reg));
            }
            block.params.iter().for_each(|&reg| remove(&mut live, reg));
            changed |= live != live_in[at];
            live_in[at] = live;
        }
    }
    live_out
}

/// Most vector registers that the block needs at once, without some.
pub(super) fn pressure(func: &Func, block: usize, live_out: &Live, without: &[VReg]) -> usize {
    let mut live = live_out.clone();
    without.iter().for_each(|&reg| remove(&mut live, reg));
    let mut now = count(&live);
    let mut most = now;
    let has = |live: &Live, reg: VReg| live[reg.vreg() / 64] >> (reg.vreg() % 64) & 1 == 1;
    let counts = |reg: VReg| reg.class() == VECTOR && !without.contains(&reg);
    for inst in func.blocks[block].insts.iter().rev() {
        let defs = inst.defs.iter().copied().filter(|&reg| counts(reg));
        let dead = defs.clone().filter(|&reg| !has(&live, reg)).count();
        most = most.max(now + dead);
        for reg in defs {
            now -= usize::from(has(&live, reg));
            remove(&mut live, reg);
        }
        inst.each_use(&mut |reg| {
            if counts(reg) && !has(&live, reg) {
                now += 1;
                insert(&mut live, reg);
            }
        });
        most = most.max(now);
    }
    most
}
