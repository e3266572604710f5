//! Builds machine code in SSA form: where an instruction goes, and which one is there already.
//!
//! Code is structured, so what is open is a stack of regions: the body of the function, then, for each construct around, a path
//! of a branch, the entry of a loop (run once, if the loop runs) or its body. A region has one block that grows. An instruction
//! without effects goes to the entry of the outermost loop that none of its operands is defined in, and only once.

use std::collections::HashMap;

use iced_x86::Code;
use regalloc2::{RegClass, VReg};

use super::inst::{Arg, Block, BlockId, Condition, Func, Inst, Kind, Term};
use crate::kernel::ArrayId;

/// What an open region is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RegionKind {
    /// Instructions are not moved out of it.
    Path,
    /// The body of a loop; the region before it is the entry.
    LoopBody,
}

#[derive(Debug)]
struct Region {
    kind: RegionKind,
    block: BlockId,
    /// Instructions without effects that were placed here.
    known: HashMap<Inst, VReg>,
    /// Loads since the region was last left, by which nothing else was stored to the array.
    loads: HashMap<Inst, Loaded>,
}

/// What was loaded.
#[derive(Debug)]
struct Loaded {
    array: ArrayId,
    reg: VReg,
    /// How many vectors had been loaded when it was last used.
    used: usize,
}

/// A function that grows.
#[derive(Debug, Default)]
pub(super) struct Builder {
    pub(super) func: Func,
    /// Vector registers of the machine.
    registers: usize,
    /// Vectors that are loaded at most between two uses of an element that is loaded once.
    most_between: usize,
    regions: Vec<Region>,
    /// Index of the region that each register is defined in.
    levels: Vec<usize>,
    pool: HashMap<Vec<u8>, u32>,
    /// How many vectors were loaded.
    loaded: usize,
    /// Registers that were read from the pool, and how.
    constants: HashMap<VReg, Inst>,
}

impl Builder {
    /// A function for a machine with so many vector registers.
    pub(super) fn new(registers: usize) -> Self {
        Self {
            registers,
            most_between: registers / 2,
            ..Self::default()
        }
    }

    /// Enters a loop that holds this many vectors. An element may be held across as many loads as registers are left, at most half of all:
    /// vectors of the loops around, which may be those of other tiles, can be spilled. Gives the limit for [`Self::release`].
    pub(super) fn hold(&mut self, vectors: usize) -> usize {
        let left = self.registers.saturating_sub(vectors);
        std::mem::replace(&mut self.most_between, left.min(self.registers / 2))
    }

    /// They are no longer held.
    pub(super) fn release(&mut self, before: usize) {
        self.most_between = before;
    }

    pub(super) fn reg(&mut self, class: RegClass) -> VReg {
        let reg = VReg::new(self.func.regs, class);
        self.func.regs += 1;
        self.levels.push(self.current());
        reg
    }

    fn current(&self) -> usize {
        self.regions.len().saturating_sub(1)
    }

    /// Registers that leave a region belong to the one around it from then on.
    pub(super) fn lift(&mut self, reg: VReg) {
        let current = self.current();
        let level = &mut self.levels[reg.vreg()];
        *level = current.min(*level);
    }

    pub(super) fn block(&mut self) -> BlockId {
        self.func.blocks.push(Block {
            params: vec![],
            insts: vec![],
            term: Term::Open,
        });
        self.func.blocks.len() - 1
    }

    pub(super) fn param(&mut self, block: BlockId, class: RegClass) -> VReg {
        let reg = self.reg(class);
        self.func.blocks[block].params.push(reg);
        reg
    }

    /// Opens a region that starts with the block.
    pub(super) fn open(&mut self, kind: RegionKind, block: BlockId) {
        if let Some(region) = self.regions.last_mut() {
            region.loads.clear();
        }
        self.func.layout.push(block);
        self.regions.push(Region {
            kind,
            block,
            known: HashMap::new(),
            loads: HashMap::new(),
        });
    }

    /// Ends the current region; gives the block that is open there.
    pub(super) fn close(&mut self) {
        self.regions.pop();
    }

    /// The block that grows.
    pub(super) fn here(&self) -> BlockId {
        self.regions[self.current()].block
    }

    /// Goes on in another block of the same region.
    pub(super) fn continue_in(&mut self, block: BlockId) {
        self.func.layout.push(block);
        let current = self.current();
        self.regions[current].block = block;
        self.regions[current].loads.clear();
    }

    pub(super) fn end(&mut self, term: Term) {
        let here = self.here();
        self.func.blocks[here].term = term;
    }

    pub(super) fn branch(
        &mut self,
        (cond, a, b): (Condition, VReg, Arg),
        then: BlockId,
        otherwise: BlockId,
    ) {
        self.end(Term::Branch {
            cond,
            a,
            b,
            then,
            otherwise,
        });
    }

    /// The region that an instruction without effects belongs to. Constants can be read in any.
    fn home(&self, inst: &Inst) -> usize {
        let (mut level, mut of_constants, mut varies) = (0, 0, false);
        inst.each_use(&mut |reg| {
            let own = self.levels[reg.vreg()];
            if self.constants.contains_key(&reg) {
                of_constants = of_constants.max(own);
            } else {
                (level, varies) = (level.max(own), true);
            }
        });
        let level = if varies { level } else { of_constants };
        let mut loops = self.regions.iter().enumerate().skip(level + 1);
        let is_loop = |(_, region): &(usize, &Region)| region.kind == RegionKind::LoopBody;
        loops
            .find(is_loop)
            .map_or(self.current(), |(index, _)| index - 1)
    }

    /// The result of an instruction without effects.
    pub(super) fn pure(&mut self, kind: Kind, class: RegClass, args: Vec<Arg>) -> VReg {
        let inst = Inst {
            kind,
            args,
            defs: vec![],
        };
        // A vector constant is read again in each loop: there are more constants than registers.
        let reads_pool =
            class == super::inst::VECTOR && inst.args.iter().all(|arg| matches!(arg, Arg::Pool(_)));
        if reads_pool {
            return self.constant_in(self.current(), inst);
        }
        let home = self.home(&inst);
        let inst = self.with_constants_in(home, inst);
        let known = self.regions[..=home]
            .iter()
            .find_map(|region| region.known.get(&inst));
        if let Some(&reg) = known {
            return reg;
        }
        self.placed(home, class, inst)
    }

    /// A vector constant, read in this region.
    fn constant_in(&mut self, home: usize, inst: Inst) -> VReg {
        if let Some(&reg) = self.regions[home].known.get(&inst) {
            return reg;
        }
        let reg = self.placed(home, super::inst::VECTOR, inst.clone());
        self.constants.insert(reg, inst);
        reg
    }

    /// The instruction with its constants read in this region, if they are read in one inside of it.
    fn with_constants_in(&mut self, home: usize, mut inst: Inst) -> Inst {
        for arg in &mut inst.args {
            if let Arg::Reg(reg) = arg
                && self.levels[reg.vreg()] > home
                && let Some(constant) = self.constants.get(reg)
            {
                *reg = self.constant_in(home, constant.clone());
            }
        }
        inst
    }

    /// The result of an instruction at the end of a region.
    fn placed(&mut self, home: usize, class: RegClass, inst: Inst) -> VReg {
        let reg = self.reg(class);
        self.levels[reg.vreg()] = home;
        let block = self.regions[home].block;
        self.func.blocks[block].insts.push(Inst {
            defs: vec![reg],
            ..inst.clone()
        });
        self.regions[home].known.insert(inst, reg);
        reg
    }

    /// An instruction that reads the array.
    pub(super) fn load(
        &mut self,
        array: ArrayId,
        code: Code,
        class: RegClass,
        args: Vec<Arg>,
    ) -> VReg {
        self.load_within(usize::MAX, array, code, class, args)
    }

    /// An instruction that reads an element of the array to all lanes of a vector. Where other vectors were loaded since, it is read
    /// again: a register that is held longer would be spilled, and be read from memory anyway.
    pub(super) fn load_splat(&mut self, array: ArrayId, code: Code, args: Vec<Arg>) -> VReg {
        self.load_within(self.most_between, array, code, super::inst::VECTOR, args)
    }

    fn load_within(
        &mut self,
        most_between: usize,
        array: ArrayId,
        code: Code,
        class: RegClass,
        args: Vec<Arg>,
    ) -> VReg {
        let inst = Inst {
            kind: Kind::Code(code),
            args,
            defs: vec![],
        };
        let current = self.current();
        let now = self.loaded;
        if let Some(known) = self.regions[current].loads.get_mut(&inst)
            && now - known.used <= most_between
        {
            known.used = now;
            return known.reg;
        }
        self.loaded += usize::from(class == super::inst::VECTOR);
        let reg = self.reg(class);
        self.push(Inst {
            defs: vec![reg],
            ..inst.clone()
        });
        let loaded = Loaded {
            array,
            reg,
            used: self.loaded,
        };
        self.regions[current].loads.insert(inst, loaded);
        reg
    }

    /// How many vectors were loaded so far.
    pub(super) fn loaded(&self) -> usize {
        self.loaded
    }

    /// An instruction that writes the array.
    pub(super) fn store(&mut self, array: ArrayId, code: Code, args: Vec<Arg>) {
        let current = self.current();
        self.regions[current]
            .loads
            .retain(|_, known| known.array != array);
        self.push(Inst {
            kind: Kind::Code(code),
            args,
            defs: vec![],
        });
    }

    /// An instruction where the code stands.
    pub(super) fn push(&mut self, inst: Inst) {
        let here = self.here();
        self.func.blocks[here].insts.push(inst);
    }

    /// Memory that holds these bytes.
    pub(super) fn constant(&mut self, bytes: Vec<u8>) -> u32 {
        if let Some(&at) = self.pool.get(&bytes) {
            return at;
        }
        let pool = &mut self.func.pool;
        pool.resize(pool.len().next_multiple_of(bytes.len()), 0);
        let at = pool.len() as u32;
        pool.extend(&bytes);
        self.pool.insert(bytes, at);
        at
    }
}
