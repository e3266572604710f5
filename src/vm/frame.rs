//! `Frame`: registers, shape heap and memory of one activation of a function, kept for the next one.

use std::ops::{Index, IndexMut};

use super::launch::Site;
use super::place::Memory;
use super::program::Code;
use crate::artifact::{MemorySpace, Reg, Slot};
use crate::runtime::Value;
use crate::support::Id;

/// The registers.
#[derive(Default)]
pub(super) struct Regs(Vec<Value>);

impl Regs {
    /// Puts the arguments of a call into the first registers.
    pub(super) fn set_args(&mut self, args: impl IntoIterator<Item = Value>) {
        self.0
            .iter_mut()
            .zip(args)
            .for_each(|(reg, arg)| *reg = arg);
    }

    /// Moves the value out of the register.
    pub(super) fn take(&mut self, reg: Reg) -> Value {
        std::mem::take(&mut self[reg])
    }
}

impl Index<Reg> for Regs {
    type Output = Value;

    fn index(&self, reg: Reg) -> &Value {
        &self.0[reg.index()]
    }
}

impl IndexMut<Reg> for Regs {
    fn index_mut(&mut self, reg: Reg) -> &mut Value {
        &mut self.0[reg.index()]
    }
}

/// The shape heap.
#[derive(Default)]
pub(super) struct Heap(Vec<i64>);

impl Heap {
    /// All slots, as host expressions count them.
    pub(super) fn slots(&self) -> &[i64] {
        &self.0
    }
}

impl Index<Slot> for Heap {
    type Output = i64;

    fn index(&self, slot: Slot) -> &i64 {
        &self.0[slot.index()]
    }
}

impl IndexMut<Slot> for Heap {
    fn index_mut(&mut self, slot: Slot) -> &mut i64 {
        &mut self.0[slot.index()]
    }
}

/// What one activation works on.
#[derive(Default)]
pub(super) struct Frame {
    pub(super) regs: Regs,
    pub(super) heap: Heap,
    pub(super) storages: Vec<Storage>,
    pub(super) sites: Vec<Site>,
}

/// Memory for tensors.
#[derive(Default)]
pub(super) struct Storage {
    /// The register whose tensor has it.
    pub(super) tenant: Option<Reg>,
    pub(super) place: Option<MemorySpace>,
    pub(super) bytes: usize,
    /// The memory, where tensors lie side by side.
    pub(super) memory: Option<Memory>,
}

impl Frame {
    pub(super) fn new(code: &Code) -> Self {
        Self {
            regs: Regs(vec![Value::None; code.num_regs]),
            heap: Heap(vec![0; code.num_slots]),
            storages: std::iter::repeat_with(Storage::default)
                .take(code.num_storages)
                .collect(),
            sites: std::iter::repeat_with(Site::default)
                .take(code.num_sites)
                .collect(),
        }
    }

    /// Lets go of all values but those that keep memory for the next activation.
    pub(super) fn reset(&mut self, code: &Code) {
        for &reg in &code.transient {
            self.regs[reg] = Value::None;
        }
    }
}
