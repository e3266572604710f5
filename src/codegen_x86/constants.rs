//! Keeps constants in registers across the innermost loops, as far as these have registers to spare.
//!
//! Code is built with constants read where they are used, since there may be more of them than registers. A vector of a
//! function like `exp` reads some seventeen, and machines load one or two vectors a cycle: such a loop would wait for its constants.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use iced_x86::OpCodeOperandKind;
use regalloc2::VReg;

use super::Isa;
use super::forms::{Op, form};
use super::inst::{Arg, Func, Inst, Kind, Lane, Term, VECTOR, Width};
use super::live::{FREE, Live, live_out, pressure};

/// Moves what innermost loops read of the pool to their preheaders.
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
    for Loop { range, preheader } in loops {
        let blocks = func.layout[range].to_vec();
        let chosen = chosen(func, isa, &blocks, &live_out);
        hoist_from(func, isa, &blocks, preheader, &chosen);
    }
}

/// A loop that has no loop inside.
struct Loop {
    /// The places of its blocks in the code.
    range: Range<usize>,
    /// The block that jumps into it.
    preheader: usize,
}

/// The innermost loops without calls: a call keeps no vector register.
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
        if let Some(preheader) = func.layout.iter().copied().find(jumps) {
            let range = first..at + 1;
            loops.push(Loop { range, preheader });
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

/// A constant by its offset in the pool, and its width.
type Constant = (u32, Width);

/// The instruction that does nothing but read a constant.
fn load(isa: Isa, (offset, width): Constant) -> Option<(Kind, Vec<Arg>)> {
    let code = form(isa, Op::Load, Lane::F32, width)?;
    Some((Kind::Code(code), vec![Arg::Pool(offset)]))
}

/// The first register in these blocks that holds a constant.
fn held(func: &Func, isa: Isa, blocks: &[usize], constant: Constant) -> Option<VReg> {
    let (kind, args) = load(isa, constant)?;
    let mut insts = blocks.iter().flat_map(|&block| &func.blocks[block].insts);
    let inst = insts.find(|inst| inst.kind == kind && inst.args == args)?;
    inst.defs.first().copied()
}

/// The constants for which these blocks have registers: those that have one already come first, then those that are read most often.
fn chosen(func: &Func, isa: Isa, blocks: &[usize], live_out: &[Live]) -> Vec<Constant> {
    let mut uses: BTreeMap<Constant, usize> = BTreeMap::new();
    for &block in blocks {
        for inst in &func.blocks[block].insts {
            for (_, offset, width) in constants(inst) {
                *uses.entry((offset, width)).or_default() += 1;
            }
        }
    }
    let mut candidates: Vec<_> = uses
        .into_iter()
        .map(|(constant, uses)| (held(func, isa, blocks, constant), uses, constant))
        .collect();
    candidates.sort_by_key(|(held, uses, _)| Reverse((held.is_some(), *uses)));
    let (mut chosen, mut without) = (vec![], vec![]);
    let mut most = None;
    for (held, _, constant) in candidates {
        without.extend(held);
        if held.is_some() || most.is_none() {
            let pressure = |&block: &usize| pressure(func, block, &live_out[block], &without);
            most = blocks.iter().map(pressure).max();
        }
        if most.unwrap_or(0) + chosen.len() + 1 + FREE <= isa.registers() {
            chosen.push(constant);
        } else if held.is_some() {
            without.pop();
            most = None;
        }
    }
    chosen
}

/// Reads constants at the end of the preheader instead of in these blocks.
fn hoist_from(func: &mut Func, isa: Isa, blocks: &[usize], preheader: usize, chosen: &[Constant]) {
    let mut registers = HashMap::new();
    let mut renamed = HashMap::new();
    for &constant in chosen {
        let Some((kind, args)) = load(isa, constant) else {
            continue;
        };
        // A load that is there already moves, so that its register keeps its name; that of another one is the same.
        let mut there = vec![];
        for &block in blocks {
            let is_load = |inst: &mut Inst| inst.kind == kind && inst.args == args;
            there.extend(func.blocks[block].insts.extract_if(.., is_load));
        }
        let load = there.first().cloned().unwrap_or_else(|| {
            let reg = VReg::new(func.regs, VECTOR);
            func.regs += 1;
            Inst {
                kind,
                args,
                defs: vec![reg],
            }
        });
        let others = there.iter().skip(1);
        renamed.extend(others.map(|other| (other.defs[0], load.defs[0])));
        registers.insert(constant, load.defs[0]);
        func.blocks[preheader].insts.push(load);
    }
    let mut name = |reg| renamed.get(&reg).copied().unwrap_or(reg);
    for &block in blocks {
        for inst in &mut func.blocks[block].insts {
            let read: Vec<_> = constants(inst).collect();
            for (at, offset, width) in read {
                if let Some(&reg) = registers.get(&(offset, width)) {
                    inst.args[at] = Arg::Reg(reg);
                }
            }
            inst.args.iter_mut().for_each(|arg| arg.rename(&mut name));
        }
        if let Term::Jump(_, args) = &mut func.blocks[block].term {
            args.iter_mut().for_each(|reg| *reg = name(*reg));
        }
    }
    // What a loop reads of the pool is of no use behind it: what follows has loads of its own, or gets values as parameters of blocks.
    debug_assert!(
        renamed.is_empty() || !reads_any(func, &|reg| renamed.contains_key(&reg)),
        "a register of a load that is gone is read outside of its loop"
    );
}

/// Whether the function reads one of some registers.
fn reads_any(func: &Func, wanted: &dyn Fn(VReg) -> bool) -> bool {
    let mut found = false;
    let mut see = |reg| found |= wanted(reg);
    for &block in &func.layout {
        let block = &func.blocks[block];
        block.insts.iter().for_each(|inst| inst.each_use(&mut see));
        match &block.term {
            Term::Jump(_, args) => args.iter().copied().for_each(&mut see),
            Term::Branch {
                cond: _,
                a,
                b,
                then: _,
                otherwise: _,
            } => {
                see(*a);
                b.each_use(&mut see);
            }
            Term::Return | Term::Open => {}
        }
    }
    found
}
