//! Accesses that certainly happen and lie outside of their buffer, and iter variables that certainly leave their domain.
//!
//! An access happens certainly if only loops of constant extent and blocks without a predicate stand around it, and it is no
//! side of a choice. Only indices that are a constant count: TVM's schedules read past the end in some iterations, and use nothing
//! of what they read. A program in which statements jump may leave any access out, and is not looked at.

use std::collections::HashMap;

use super::PrimFuncErrorKind;
use crate::ir::sum::Sum;
use crate::ir::{Buffer, Expr, ExprKind, IterVar, Place, PrimFunc, Stmt, Var};
use crate::tensor::scalar::BinOp;

/// The accesses that fail whenever the program runs, and the loops or blocks around them.
pub(super) fn out_of_range(func: &PrimFunc) -> Vec<(Place, PrimFuncErrorKind)> {
    let mut walk = Walk {
        func,
        values: HashMap::new(),
        loops: HashMap::new(),
        place: func.root.into(),
        found: vec![],
    };
    if !walk.jumps(func.tree.body(func.root)) {
        walk.stmts(func.tree.body(func.root));
    }
    walk.found
}

struct Walk<'f> {
    func: &'f PrimFunc,
    /// What variables are that are no loop variables.
    values: HashMap<Var, Expr>,
    /// Loop variables of constant ranges: their first and last values.
    loops: HashMap<Var, (i64, i64)>,
    place: Place,
    found: Vec<(Place, PrimFuncErrorKind)>,
}

impl Walk<'_> {
    fn jumps(&self, stmts: &[Stmt]) -> bool {
        stmts.iter().any(|stmt| match stmt {
            Stmt::Break | Stmt::Continue | Stmt::Return(_) => true,
            Stmt::Loop(id) => self.jumps(self.func.tree.body(Place::Loop(*id))),
            Stmt::Block(id) => self.jumps(self.func.tree.body(Place::Block(*id))),
            other => other.nested().into_iter().any(|inner| self.jumps(inner)),
        })
    }

    fn stmts(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        let around = self.place;
        match stmt {
            Stmt::Loop(id) => {
                let l = &self.func.loops[*id];
                if let Some(extent @ 1..) = l.extent.as_int() {
                    if let Some(first) = l.min.as_int() {
                        let last = first.saturating_add(extent - 1);
                        self.loops.insert(l.var.clone(), (first, last));
                    }
                    self.place = (*id).into();
                    self.stmts(self.func.tree.body(Place::Loop(*id)));
                }
            }
            Stmt::Block(id) => {
                let block = &self.func.blocks[*id];
                if block.predicate.as_bool() == Some(true) {
                    self.place = (*id).into();
                    for (iter, binding) in block.iters.iter().zip(&block.bindings) {
                        self.domain(iter, binding);
                        self.define(&iter.var, binding);
                    }
                    self.stmts(self.func.tree.body(Place::Block(*id)));
                }
            }
            Stmt::Store {
                buffer,
                indices,
                value,
            } => {
                self.access(buffer, indices);
                self.expr(value);
            }
            Stmt::Let { var, value, body } => {
                self.expr(value);
                self.define(var, value);
                self.stmts(body);
            }
            Stmt::If {
                cond: e,
                then: _,
                otherwise: _,
            }
            | Stmt::While { cond: e, body: _ }
            | Stmt::Assert {
                cond: e,
                message: _,
            }
            | Stmt::Evaluate(e) => self.expr(e),
            Stmt::View {
                buffer: _,
                memory: _,
                body,
            }
            | Stmt::Attr {
                node: _,
                key: _,
                value: _,
                body,
            } => self.stmts(body),
            // What an operation on tiles reads and writes is not known.
            Stmt::Tile(_) | Stmt::Break | Stmt::Continue | Stmt::Return(_) => {}
        }
        self.place = around;
    }

    /// Checks that an iter variable that is a loop variable stays in its domain.
    fn domain(&mut self, iter: &IterVar, binding: &Expr) {
        let range = binding.as_var().and_then(|var| self.loops.get(var));
        let (Some(&(first, last)), Some(min), Some(extent)) =
            (range, iter.dom.min.as_int(), iter.dom.extent.as_int())
        else {
            return;
        };
        let end = min.saturating_add(extent);
        if first < min || last >= end {
            let kind = PrimFuncErrorKind::OutOfDomain {
                name: iter.var.name().to_owned(),
                first,
                last,
                min,
                end,
            };
            self.found.push((self.place, kind));
        }
    }

    fn define(&mut self, var: &Var, value: &Expr) {
        let value = value.substitute(&|var| self.values.get(var).cloned());
        self.values.insert(var.clone(), value);
    }

    /// The parts of a value that are certainly computed.
    fn expr(&mut self, e: &Expr) {
        match e.kind() {
            ExprKind::Load(buffer, indices) => self.access(buffer, indices),
            ExprKind::Binary(BinOp::And | BinOp::Or, first, _)
            | ExprKind::Select(first, _, _)
            | ExprKind::IfThenElse(first, _, _) => self.expr(first),
            ExprKind::Let { var, value, body } => {
                self.expr(value);
                self.define(var, value);
                self.expr(body);
            }
            // What it does with its arguments is not known.
            ExprKind::External(_, _) => {}
            _ => e.children().into_iter().for_each(|child| self.expr(child)),
        }
    }

    fn access(&mut self, buffer: &Buffer, indices: &[Expr]) {
        for (dim, (index, extent)) in indices.iter().zip(buffer.shape()).enumerate() {
            self.expr(index);
            let (Some(extent), Some(value)) = (extent.as_int(), self.constant(index)) else {
                continue;
            };
            if !(0..i128::from(extent)).contains(&value) {
                let kind = PrimFuncErrorKind::OutOfRange {
                    buffer: buffer.name().to_owned(),
                    dim,
                    index: value,
                    extent,
                };
                self.found.push((self.place, kind));
            }
        }
    }

    /// The value of an index that is the same in all iterations.
    fn constant(&self, index: &Expr) -> Option<i128> {
        let index = index.substitute(&|var| self.values.get(var).cloned());
        Sum::of(&index).as_constant()
    }
}
