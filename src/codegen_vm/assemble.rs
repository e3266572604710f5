//! `Assembler`: instructions with labels, and what is only known when the function is complete.

use super::pool::Pool;
use crate::artifact::{Function, Instr, Operand, Pc, Reg};
use crate::ir::Origin;
use crate::support::Id;

/// A place in the code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Label(usize);

enum Item {
    Instr(Instr),
    Label(Label),
    Goto(Label),
    If(Reg, Label),
    /// What follows comes from here.
    Origin(Origin),
}

/// What is known of a function when all its instructions are there.
#[derive(Clone, Copy)]
pub(super) struct End<'a> {
    pub(super) name: &'a str,
    pub(super) params: &'a [String],
    pub(super) num_regs: u32,
    /// Slots of the shape heap.
    pub(super) num_slots: u32,
}

/// The code of one function in the making.
#[derive(Default)]
pub(super) struct Assembler {
    items: Vec<Item>,
    labels: usize,
}

impl Assembler {
    pub(super) fn call(&mut self, dst: Option<Reg>, callee: u32, args: Vec<Operand>) {
        self.items
            .push(Item::Instr(Instr::Call { dst, callee, args }));
    }

    /// Says where the instructions that follow come from.
    pub(super) fn origin(&mut self, origin: &Origin) {
        self.items.push(Item::Origin(origin.clone()));
    }

    pub(super) fn ret(&mut self, result: Reg) {
        self.items.push(Item::Instr(Instr::Ret { result }));
    }

    pub(super) fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels - 1)
    }

    pub(super) fn place(&mut self, label: Label) {
        self.items.push(Item::Label(label));
    }

    pub(super) fn goto(&mut self, label: Label) {
        self.items.push(Item::Goto(label));
    }

    pub(super) fn branch(&mut self, cond: Reg, otherwise: Label) {
        self.items.push(Item::If(cond, otherwise));
    }

    /// Appends the function to the executable.
    pub(super) fn finish(self, pool: &mut Pool, end: &End) {
        let End {
            name,
            params,
            num_regs,
            num_slots,
        } = *end;
        let mut code = Vec::new();
        let mut at = vec![0; self.labels];
        let mut jumps = Vec::new();
        let start = Pc::from_index(pool.exec.code.len());
        pool.exec.origins.push((start, String::new()));
        for item in self.items {
            match item {
                Item::Instr(instr) => code.push(instr),
                Item::Origin(origin) => {
                    let known = (!origin.is_unknown()).then(|| origin.to_string());
                    let at = Pc::from_index(start.index() + code.len());
                    pool.exec.origins.push((at, known.unwrap_or_default()));
                }
                Item::Label(label) => at[label.0] = code.len(),
                Item::Goto(label) => {
                    jumps.push((code.len(), label));
                    code.push(Instr::Goto { offset: 0 });
                }
                Item::If(cond, label) => {
                    jumps.push((code.len(), label));
                    code.push(Instr::If {
                        cond,
                        false_offset: 0,
                    });
                }
            }
        }
        for (from, label) in jumps {
            let distance = (at[label.0] as i64 - from as i64) as i32;
            match &mut code[from] {
                Instr::Goto { offset } => *offset = distance,
                Instr::If {
                    cond: _,
                    false_offset,
                } => *false_offset = distance,
                Instr::Call { .. } | Instr::Ret { .. } => {
                    unreachable!("only jumps were noted")
                }
            }
        }
        pool.exec.code.extend(code);
        pool.exec.functions.push(Function {
            name: name.to_owned(),
            params: params.to_vec(),
            num_regs,
            num_slots,
            start,
            end: Pc::from_index(pool.exec.code.len()),
        });
    }
}
