//! `return` inside of loops and branches: kernels have none, so what it leaves out stands under a condition.
//!
//! ```text
//! for i: A; if c: return; B    =>    returned = 0
//! D                                  for i: if returned == 0: A
//!                                                             if c: returned = 1
//!                                                             if returned == 0: B
//!                                    if returned == 0: D
//! ```
//!
//! `returned` is a buffer of the function, because its kernels come one after the other. Iterations of a loop with a `return`
//! run in order, as in the interpreter. In loops that are bound to the launch `thread_returns` has been there before.

use std::borrow::Cow;

use super::{LowerError, LowerProblem};
use crate::ir::{Buffer, Expr, LoopId, LoopKind, Place, PrimFunc, Stmt};
use crate::tensor::DType;

/// The function without `return` but at the end of its root block. Loops and blocks keep their handles.
///
/// # Errors
/// If the function returns a scalar.
pub(super) fn structured(func: &PrimFunc) -> Result<Cow<'_, PrimFunc>, LowerError> {
    if func.ret.is_some() {
        return Err(LowerProblem::ScalarResult.into());
    }
    let body = func.tree.body(func.root).to_vec();
    let is_end = |stmt: &Stmt| matches!(stmt, Stmt::Return(None));
    if !body.iter().any(|stmt| !is_end(stmt) && returns(func, stmt)) {
        return Ok(Cow::Borrowed(func));
    }
    let memory = Buffer::new("returned", vec![Expr::i64(1)], DType::I32);
    let mut structured = Structured::new(func.clone(), memory.clone());
    let mut stmts = vec![structured.store(0)];
    stmts.extend(structured.stmts(body)?);
    let mut func = structured.into_func();
    func.tree.set_body(func.root, stmts);
    let root = func.root;
    func.blocks[root].alloc_buffers.push(memory);
    Ok(Cow::Owned(func))
}

/// The statement leaves this loop, which is bound to the launch.
pub(super) fn jump(func: &PrimFunc, id: LoopId, statement: &'static str) -> LowerError {
    let var = Some(func.loops[id].var.name().to_owned());
    LowerError::from(LowerProblem::Jump { statement, var }).or_at(&[id.into()])
}

/// Whether a statement may return.
pub(super) fn returns(func: &PrimFunc, stmt: &Stmt) -> bool {
    let below = |place: Place| func.tree.body(place).iter().any(|stmt| returns(func, stmt));
    match stmt {
        Stmt::Return(_) => true,
        Stmt::Loop(id) => below((*id).into()),
        Stmt::Block(id) => below((*id).into()),
        other => other
            .nested()
            .into_iter()
            .flatten()
            .any(|stmt| returns(func, stmt)),
    }
}

/// Statements without `return`, which the content of a buffer stands for.
pub(super) struct Structured {
    func: PrimFunc,
    /// 1 after the return.
    memory: Buffer,
}

impl Structured {
    pub(super) fn new(func: PrimFunc, memory: Buffer) -> Self {
        Self { func, memory }
    }

    /// The function with what was made of its loops and blocks.
    pub(super) fn into_func(self) -> PrimFunc {
        self.func
    }

    pub(super) fn stmts(&mut self, stmts: Vec<Stmt>) -> Result<Vec<Stmt>, LowerError> {
        let mut out = Vec::new();
        let mut rest = stmts.into_iter();
        while let Some(stmt) = rest.next() {
            if let Stmt::Return(_) = stmt {
                out.push(self.store(1));
                return Ok(out);
            }
            let may_end = returns(&self.func, &stmt);
            out.push(if may_end { self.stmt(stmt)? } else { stmt });
            if may_end {
                let rest = self.stmts(rest.collect())?;
                if !rest.is_empty() {
                    out.push(self.unless_returned(rest));
                }
                return Ok(out);
            }
        }
        Ok(out)
    }

    /// A statement that may return.
    fn stmt(&mut self, mut stmt: Stmt) -> Result<Stmt, LowerError> {
        match &mut stmt {
            Stmt::Loop(id) => {
                let id = *id;
                self.run_in_order(id)?;
                let body = self.func.tree.body(id).to_vec();
                let body = self.stmts(body)?;
                let body = vec![self.unless_returned(body)];
                self.func.tree.set_body(id, body);
            }
            Stmt::Block(id) => {
                let id = *id;
                let body = self.func.tree.body(id).to_vec();
                let body = self.stmts(body)?;
                self.func.tree.set_body(id, body);
            }
            other => {
                if let Stmt::While { cond, body: _ } = other {
                    *cond = self.goes_on().and(cond.clone());
                }
                for body in other.nested_mut() {
                    *body = self.stmts(std::mem::take(body))?;
                }
            }
        }
        Ok(stmt)
    }

    /// Makes the iterations of a loop follow each other.
    fn run_in_order(&mut self, id: LoopId) -> Result<(), LowerError> {
        let kind = &mut self.func.loops[id].kind;
        match *kind {
            LoopKind::ThreadBinding(_) => {
                return Err(jump(&self.func, id, "return"));
            }
            LoopKind::Parallel | LoopKind::Vectorized => *kind = LoopKind::Serial,
            LoopKind::Serial | LoopKind::Unrolled => {}
        }
        Ok(())
    }

    fn goes_on(&self) -> Expr {
        Expr::load(&self.memory, vec![Expr::i64(0)]).equals(Expr::i32(0))
    }

    fn unless_returned(&self, then: Vec<Stmt>) -> Stmt {
        Stmt::If {
            cond: self.goes_on(),
            then,
            otherwise: vec![],
        }
    }

    /// Notes whether there was a return.
    pub(super) fn store(&self, value: i32) -> Stmt {
        Stmt::Store {
            buffer: self.memory.clone(),
            indices: vec![Expr::i64(0)],
            value: Expr::i32(value),
        }
    }
}
