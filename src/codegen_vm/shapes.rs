//! Symbolic dimensions: slots of the shape heap, and the shape functions that fill those that no argument fills.

use std::collections::HashMap;

use super::error::GraphProblem;
use crate::artifact::Slot;
use crate::ir::{Expr, ExprKind, Var};
use crate::kernel::HostExpr;
use crate::support::Id;

/// Slots of one function.
#[derive(Default)]
pub(super) struct Slots {
    vars: HashMap<Var, Slot>,
    /// By shape function, what it computes.
    derived: HashMap<(usize, Expr), Slot>,
    /// Outputs of each shape function in the making.
    pub(super) funcs: Vec<Vec<(Slot, HostExpr)>>,
    count: u32,
}

/// A dimension as an operand: a constant, or what a slot holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Dim {
    Imm(i64),
    Slot(Slot),
}

impl Slots {
    /// How many there are.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    fn fresh(&mut self) -> Slot {
        self.count += 1;
        Slot::from_index(self.count as usize - 1)
    }

    /// The slot of a variable that has a value.
    pub(super) fn known(&self, var: &Var) -> Option<Slot> {
        self.vars.get(var).copied()
    }

    /// A slot for a variable that gets its value now.
    pub(super) fn define(&mut self, var: &Var) -> Slot {
        let slot = self.fresh();
        self.vars.insert(var.clone(), slot);
        slot
    }

    /// Starts another shape function: what is computed from now on is computed there.
    pub(super) fn open(&mut self) -> usize {
        self.funcs.push(vec![]);
        self.funcs.len() - 1
    }

    /// The dimension; computed in the shape function `func` if it is neither a constant nor a variable.
    pub(super) fn dim(&mut self, e: &Expr, func: usize) -> Result<Dim, GraphProblem> {
        if let Some(value) = e.as_int() {
            return Ok(Dim::Imm(value));
        }
        if let Some(var) = e.as_var() {
            let slot = self.known(var);
            return slot
                .map(Dim::Slot)
                .ok_or_else(|| GraphProblem::UnboundDim(var.name().to_owned()));
        }
        let key = (func, e.clone());
        if let Some(slot) = self.derived.get(&key) {
            return Ok(Dim::Slot(*slot));
        }
        let value = self.host(e)?;
        if let Some(value) = value.as_const() {
            return Ok(Dim::Imm(value));
        }
        let slot = self.fresh();
        self.funcs[func].push((slot, value));
        self.derived.insert(key, slot);
        Ok(Dim::Slot(slot))
    }

    fn host(&self, e: &Expr) -> Result<HostExpr, GraphProblem> {
        let unknown = || GraphProblem::Dim(format!("{e:#}"));
        Ok(match e.kind() {
            ExprKind::Int(value) => HostExpr::Const(*value),
            ExprKind::Var(var) => {
                let slot = self.known(var);
                let slot = slot.ok_or_else(|| GraphProblem::UnboundDim(var.name().to_owned()))?;
                HostExpr::Dim(slot.index())
            }
            ExprKind::Cast(a) if e.dtype().is_int() && a.dtype().is_int() => self.host(a)?,
            ExprKind::Binary(op, a, b) => HostExpr::binary(*op, self.host(a)?, self.host(b)?),
            ExprKind::Select(c, a, b) | ExprKind::IfThenElse(c, a, b) => HostExpr::Select(
                Box::new(self.host(c)?),
                Box::new(self.host(a)?),
                Box::new(self.host(b)?),
            ),
            _ => return Err(unknown()),
        })
    }
}
