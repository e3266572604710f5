//! Loops inside each other that are bound to one axis of the launch.
//!
//! Each iteration of the outer loop is to run the inner one whole, but a thread runs one iteration of both. Both are the same if
//! the inner loop does not depend on the outer one, and leaves the same when it runs once more: it reads nothing that it
//! writes, unless it has written that before. Threads that load an array together are such a nest.

use super::LowerProblem;
use super::nest::stored_below;
use crate::ir::{Buffer, Expr, ExprKind, LoopId, Place, PrimFunc, Stmt, ThreadAxis, Var};

/// Checks a loop inside another one of the same axis.
pub(super) fn check(
    func: &PrimFunc,
    outer: LoopId,
    inner: LoopId,
    axis: ThreadAxis,
) -> Result<(), LowerProblem> {
    if func.loops[outer].extent.is_one() || func.loops[inner].extent.is_one() {
        return Ok(());
    }
    if depends(func, outer, inner) {
        return Err(LowerProblem::NestedAxis { axis });
    }
    let mut run = Run {
        func,
        stored: stored_below(func, inner.into()),
        defined: vec![],
    };
    match run.stmts(func.tree.body(inner)) {
        Some(buffer) => Err(LowerProblem::RepeatedUpdate {
            axis,
            buffer: buffer.name().to_owned(),
        }),
        None => Ok(()),
    }
}

/// Whether anything in the inner loop depends on the variable of the outer one.
fn depends(func: &PrimFunc, outer: LoopId, inner: LoopId) -> bool {
    let mut vars = vec![func.loops[outer].var.clone()];
    let mut between = vec![];
    let mut at = func.tree.parent(inner);
    while let Some(place) = at.filter(|place| *place != outer.into()) {
        between.push(place);
        at = func.tree.parent(place);
    }
    // Iter variables of blocks between them, outermost first, stand for what they are bound to.
    for place in between.into_iter().rev() {
        if let Place::Block(id) = place {
            let block = &func.blocks[id];
            for (iter, binding) in block.iters.iter().zip(&block.bindings) {
                if vars.iter().any(|var| binding.uses(var)) {
                    vars.push(iter.var.clone());
                }
            }
        }
    }
    let mut depends = false;
    func.tree.walk(inner.into(), &mut |at| {
        depends |= vars.iter().any(|var| mentions(func, at, var));
    });
    depends
}

/// Whether a place itself, without the places below it, mentions the variable.
fn mentions(func: &PrimFunc, at: Place, var: &Var) -> bool {
    fn in_stmts(stmts: &[Stmt], var: &Var) -> bool {
        stmts.iter().any(|stmt| {
            stmt.exprs().into_iter().any(|e| e.uses(var))
                || stmt.nested().into_iter().any(|inner| in_stmts(inner, var))
        })
    }
    let own = match at {
        Place::Loop(id) => func.loops[id].min.uses(var) || func.loops[id].extent.uses(var),
        Place::Block(id) => {
            let block = &func.blocks[id];
            let init = block.init.as_deref().unwrap_or_default();
            block.predicate.uses(var)
                || block.bindings.iter().any(|binding| binding.uses(var))
                || in_stmts(init, var)
        }
    };
    own || in_stmts(func.tree.body(at), var)
}

/// One run of the inner loop, in program order.
struct Run<'f> {
    func: &'f PrimFunc,
    /// What it stores to.
    stored: Vec<Buffer>,
    /// What it has stored to so far.
    defined: Vec<Buffer>,
}

impl Run<'_> {
    /// A buffer that is read as a run before left it.
    fn stmts(&mut self, stmts: &[Stmt]) -> Option<Buffer> {
        stmts.iter().find_map(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &Stmt) -> Option<Buffer> {
        let func = self.func;
        match stmt {
            Stmt::Loop(id) => self.stmts(func.tree.body(*id)),
            Stmt::Block(id) => {
                let init = func.blocks[*id].init.as_deref().unwrap_or_default();
                self.stmts(init).or_else(|| self.stmts(func.tree.body(*id)))
            }
            other => {
                let read = other.exprs().into_iter().find_map(|e| self.read(e));
                if read.is_some() {
                    return read;
                }
                if let Stmt::Store { buffer, .. } = other {
                    self.defined.push(buffer.clone());
                }
                let nested = other.nested();
                nested.into_iter().find_map(|body| self.stmts(body))
            }
        }
    }

    fn read(&self, e: &Expr) -> Option<Buffer> {
        let mut found = None;
        e.walk(&mut |e| {
            if let ExprKind::Load(buffer, _) = e.kind()
                && self.stored.contains(buffer)
                && !self.defined.contains(buffer)
            {
                found.get_or_insert_with(|| buffer.clone());
            }
            true
        });
        found
    }
}
