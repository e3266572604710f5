//! Structured control flow, and the values of local arrays in registers along it.
//!
//! No edge goes from a block with several ways out to one with several ways in, as regalloc2 wants it. The blocks of a loop are in one
//! piece, and the next one is its only exit: `exits` copies values there.

use super::Refusal;
use super::build::RegionKind;
use super::emit::Emitter;
use super::inst::{BlockId, Condition, GENERAL, Term, VECTOR};
use super::locals::Cell;
use super::value::Part;
use crate::kernel::{Expr, Stmt, VarId};
use regalloc2::VReg;

impl Emitter<'_> {
    pub(super) fn enter_function(&mut self) {
        let entry = self.b.block();
        self.b.open(RegionKind::Path, entry);
    }

    /// A parameter of the block for each of the cells; they have these values from now on.
    fn cell_params(&mut self, block: BlockId, cells: &[Cell]) {
        for &cell in cells {
            let reg = self.b.param(block, self.locals.class(cell));
            self.locals.set(cell, Part::Reg(reg));
        }
    }

    /// The values of cells in registers.
    fn cell_values(&mut self, cells: &[Cell]) -> Vec<VReg> {
        cells.iter().map(|&cell| self.cell_reg(cell)).collect()
    }

    /// `for var in first .. last`, tested at the bottom, with a test before it unless there is a first trip for sure.
    pub(super) fn counted_loop(
        &mut self,
        var: VarId,
        first: Part,
        last: Part,
        trips: Trips,
        body: &[Stmt],
    ) -> Result<(), Refusal> {
        let cells = self.cells_stored(body);
        let [entry, header, back, leave] = [(); 4].map(|()| self.b.block());
        let mut skip = None;
        if trips == Trips::Unknown {
            let before = self.cell_values(&cells);
            let (a, b) = (self.general(first), self.immediate(last));
            let block = self.b.block();
            self.b.branch((Condition::Less, a, b), entry, block);
            skip = Some((block, before));
        } else {
            self.b.end(Term::Jump(entry, vec![]));
        }
        self.b.open(RegionKind::Path, entry);
        let mut start = vec![self.general(first)];
        start.extend(self.cell_values(&cells));
        self.b.open(RegionKind::LoopBody, header);
        let counter = self.b.param(header, GENERAL);
        self.cell_params(header, &cells);
        let is_vector = |cell: &&Cell| self.locals.class(**cell) == VECTOR;
        let held = self.b.hold(cells.iter().filter(is_vector).count());
        self.scope.depth += 1;
        self.nested(Some((var, Part::Reg(counter))), body)?;
        self.scope.depth -= 1;
        self.b.release(held);
        let next = self.add(Part::Reg(counter), Part::Int(1));
        let next = self.general(next);
        let finals = self.cell_values(&cells);
        let bound = self.immediate(last);
        self.b.branch((Condition::Less, next, bound), back, leave);
        self.b.continue_in(back);
        let again = [vec![next], finals.clone()].concat();
        self.b.end(Term::Jump(header, again));
        self.b.close();
        self.b.end(Term::Jump(header, start));
        self.b.close();
        self.b.continue_in(leave);
        for (&cell, &reg) in cells.iter().zip(&finals) {
            self.b.lift(reg);
            self.locals.set(cell, Part::Reg(reg));
        }
        if let Some((skip, before)) = skip {
            let exit = self.b.block();
            self.b.end(Term::Jump(exit, finals));
            self.b.continue_in(skip);
            self.b.end(Term::Jump(exit, before));
            self.b.continue_in(exit);
            self.cell_params(exit, &cells);
        }
        Ok(())
    }

    pub(super) fn branch(
        &mut self,
        cond: &Expr,
        then: &[Stmt],
        otherwise: &[Stmt],
    ) -> Result<(), Refusal> {
        let cond = self.condition(cond)?;
        let cells = self.cells_stored(&[then, otherwise].concat());
        let [yes, no, exit] = [(); 3].map(|()| self.b.block());
        self.b.branch(cond, yes, no);
        let before: Vec<Part> = cells.iter().map(|&cell| self.locals.value(cell)).collect();
        for (block, body) in [(yes, then), (no, otherwise)] {
            for (&cell, &value) in cells.iter().zip(&before) {
                self.locals.set(cell, value);
            }
            self.b.open(RegionKind::Path, block);
            self.nested(None, body)?;
            let values = self.cell_values(&cells);
            self.b.end(Term::Jump(exit, values));
            self.b.close();
        }
        self.b.continue_in(exit);
        self.cell_params(exit, &cells);
        Ok(())
    }

    pub(super) fn while_loop(&mut self, cond: &Expr, body: &[Stmt]) -> Result<(), Refusal> {
        let cells = self.cells_stored(body);
        let [entry, header, inside, leave] = [(); 4].map(|()| self.b.block());
        self.b.end(Term::Jump(entry, vec![]));
        self.b.open(RegionKind::Path, entry);
        let start = self.cell_values(&cells);
        self.b.open(RegionKind::LoopBody, header);
        self.cell_params(header, &cells);
        let at_header: Vec<Part> = cells.iter().map(|&cell| self.locals.value(cell)).collect();
        self.scope.depth += 1;
        let cond = self.condition(cond)?;
        self.b.branch(cond, inside, leave);
        self.b.continue_in(inside);
        self.nested(None, body)?;
        self.scope.depth -= 1;
        let again = self.cell_values(&cells);
        self.b.end(Term::Jump(header, again));
        self.b.close();
        self.b.end(Term::Jump(header, start));
        self.b.close();
        self.b.continue_in(leave);
        for (&cell, &value) in cells.iter().zip(&at_header) {
            if let Part::Reg(reg) = value {
                self.b.lift(reg);
            }
            self.locals.set(cell, value);
        }
        Ok(())
    }
}

/// What is known of the number of iterations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Trips {
    /// At least one.
    Some,
    /// There may be none.
    Unknown,
}
