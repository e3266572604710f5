//! Keeps constants in registers across the innermost loops, as far as these have registers to spare.
//!
//! Code is built with constants read where they are used, since there may be more of them than registers. A vector of a
//! function like `exp` reads some seventeen, and machines load one or two vectors a cycle: no instruction of such a loop takes longer.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use iced_x86::OpCodeOperandKind;
use regalloc2::VReg;

use super::Isa;
use super::forms::{Op, form};
use super::inst::{Arg, Func, Inst, Kind, Lane, Term, VECTOR, Width};

/// Registers that stay free: an instruction whose result takes the place of an operand may want a copy of it.
const FREE: usize = 2;

/// Moves what innermost loops read of the pool in front of them.
pub(super) fn hoist(func: &mut Func, isa: Isa) {
    let loops = innermost(func);
    let reads = |range: &Range<usize>| {
        let mut insts = func.layout[range.clone()]
            .iter()
            .flat_map(|&block| &func.blocks[block].insts);
        insts.any(|inst| constants(inst).next().is_some())
    };
    if !loops.iter().any(|l| reads(&l.range)) {
        return;
    }
    let live_out = live_out(func);
    for Loop { range, entry } in loops {
        let blocks = func.layout[range].to_vec();
        let most = blocks
            .iter()
            .map(|&block| pressure(func, block, &live_out[block]))
            .max();
        let spare = isa.registers().saturating_sub(FREE + most.unwrap_or(0));
        hoist_from(func, isa, &blocks, entry, spare);
    }
}

/// A loop that has no loop inside.
struct Loop {
    /// The places of its blocks in the code.
    range: Range<usize>,
    /// The block before it.
    entry: usize,
}

/// The innermost loops without calls, which keep no vector register.
fn innermost(func: &Func) -> Vec<Loop> {
    let mut position = vec![0; func.blocks.len()];
    for (at, &block) in func.layout.iter().enumerate() {
        position[block] = at;
    }
    let mut loops: Vec<Loop> = vec![];
    for (at, &block) in func.layout.iter().enumerate() {
        let Term::Jump(header, _) = &func.blocks[block].term else {
            continue;
        };
        let first = position[*header];
        // A loop ends behind those inside of it.
        if first > at || loops.last().is_some_and(|inner| inner.range.start >= first) {
            continue;
        }
        let jumps = |from: &usize| {
            matches!(&func.blocks[*from].term, Term::Jump(to, _) if to == header)
                && position[*from] < first
        };
        let calls = |inst: &Inst| matches!(inst.kind, Kind::Call { .. });
        let body = &func.layout[first..=at];
        if body
            .iter()
            .any(|&block| func.blocks[block].insts.iter().any(calls))
        {
            continue;
        }
        if let Some(entry) = func.layout.iter().copied().find(jumps) {
            let range = first..at + 1;
            loops.push(Loop { range, entry });
        }
    }
    loops
}

/// What an instruction reads of the pool where a vector register could stand: which argument, offset and width. The pool holds whole
/// registers.
fn constants(inst: &Inst) -> impl Iterator<Item = (usize, u32, Width)> {
    let (code, first) = match inst.kind {
        Kind::Code(code) => (Some(code), inst.defs.len()),
        // The result stands for the first argument.
        Kind::InPlace(code) => (Some(code), 0),
        _ => (None, 0),
    };
    let args = inst.args.iter().enumerate();
    args.filter_map(move |(at, arg)| {
        let Arg::Pool(offset) = arg else { return None };
        let width = match code?.op_code().op_kind((first + at) as u32) {
            OpCodeOperandKind::xmm_or_mem => Width::X,
            OpCodeOperandKind::ymm_or_mem => Width::Y,
            OpCodeOperandKind::zmm_or_mem => Width::Z,
            _ => return None,
        };
        Some((at, *offset, width))
    })
}

/// Vector registers, by their numbers.
type Live = Vec<u64>;

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
fn live_out(func: &Func) -> Vec<Live> {
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

/// Most vector registers that the block needs at once.
fn pressure(func: &Func, block: usize, live_out: &Live) -> usize {
    let (mut live, mut now) = (live_out.clone(), count(live_out));
    let mut most = now;
    let has = |live: &Live, reg: VReg| live[reg.vreg() / 64] >> (reg.vreg() % 64) & 1 == 1;
    for inst in func.blocks[block].insts.iter().rev() {
        for &reg in inst.defs.iter().filter(|reg| reg.class() == VECTOR) {
            now -= usize::from(has(&live, reg));
            remove(&mut live, reg);
        }
        inst.each_use(&mut |reg| {
            now += usize::from(reg.class() == VECTOR && !has(&live, reg));
            insert(&mut live, reg);
        });
        most = most.max(now + inst.defs.len());
    }
    most
}

/// Reads the constants that these blocks use most often at the end of another one, as many as there are registers.
fn hoist_from(func: &mut Func, isa: Isa, blocks: &[usize], entry: usize, spare: usize) {
    let mut uses: BTreeMap<(u32, Width), usize> = BTreeMap::new();
    for &block in blocks {
        for inst in &func.blocks[block].insts {
            for (_, offset, width) in constants(inst) {
                *uses.entry((offset, width)).or_default() += 1;
            }
        }
    }
    let mut chosen: Vec<_> = uses.into_iter().collect();
    chosen.sort_by_key(|(_, uses)| std::cmp::Reverse(*uses));
    let mut held = HashMap::new();
    for (constant, _) in chosen.into_iter().take(spare) {
        let Some(load) = form(isa, Op::Load, Lane::F32, constant.1) else {
            continue;
        };
        let args = vec![Arg::Pool(constant.0)];
        let is_load = |inst: &Inst| inst.kind == Kind::Code(load) && inst.args == args;
        // A load that is there already moves, so that its register keeps its name.
        let there = blocks.iter().find_map(|&block| {
            let insts = &mut func.blocks[block].insts;
            let at = insts.iter().position(is_load)?;
            Some(insts.remove(at))
        });
        let load = there.unwrap_or_else(|| {
            let reg = VReg::new(func.regs, VECTOR);
            func.regs += 1;
            Inst {
                kind: Kind::Code(load),
                args,
                defs: vec![reg],
            }
        });
        held.insert(constant, load.defs[0]);
        func.blocks[entry].insts.push(load);
    }
    for &block in blocks {
        for inst in &mut func.blocks[block].insts {
            let read: Vec<_> = constants(inst).collect();
            for (at, offset, width) in read {
                if let Some(&reg) = held.get(&(offset, width)) {
                    inst.args[at] = Arg::Reg(reg);
                }
            }
        }
    }
}
