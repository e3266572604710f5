//! `return` in loops that are bound to the launch: the work of the thread ends, and other threads go on.
//!
//! ```text
//! for t in threadIdx.x:              for t in threadIdx.x:
//!     if t >= n:                =>       if t < n: A
//!         return
//!     A
//! ```
//!
//! A `return` inside of a serial loop of the thread leaves a mark in memory of the thread (`returns`). Nothing of the thread may
//! follow the loop that it returns from: between two such loops nobody would know which threads are gone.

use std::borrow::Cow;

use super::LowerError;
use super::returns::{Structured, jump, returns};
use crate::ir::{Buffer, Expr, LoopId, Place, PrimFunc, Scope, Stmt};
use crate::tensor::DType;

/// The function without `return` in loops that are bound to the launch.
///
/// # Errors
/// If something of the thread follows the loop that it returns from.
pub(super) fn structured(func: &PrimFunc) -> Result<Cow<'_, PrimFunc>, LowerError> {
    let mut launches = vec![];
    collect(func, func.root.into(), &mut launches);
    let returning = |id: &LoopId| returns(func, &Stmt::Loop(*id));
    launches.retain(returning);
    if launches.is_empty() {
        return Ok(Cow::Borrowed(func));
    }
    let mut threads = Threads { func: func.clone() };
    for id in launches {
        threads.loop_(id)?;
    }
    Ok(Cow::Owned(threads.func))
}

/// The outermost loops that are bound to the launch.
fn collect(func: &PrimFunc, at: Place, launches: &mut Vec<LoopId>) {
    for place in func.tree.children(at) {
        match place {
            Place::Loop(id) if func.loops[id].kind.is_of_launch() => launches.push(id),
            _ => collect(func, place, launches),
        }
    }
}

/// Whether statements end the work of the thread, whatever happens.
fn always_return(stmts: &[Stmt]) -> bool {
    matches!(stmts.last(), Some(Stmt::Return(_)))
}

struct Threads {
    func: PrimFunc,
}

impl Threads {
    fn loop_(&mut self, id: LoopId) -> Result<(), LowerError> {
        let body = self.func.tree.body(id).to_vec();
        let body = self.last(body)?;
        self.func.tree.set_body(id, body);
        Ok(())
    }

    /// Statements of a thread after which it has nothing more to do.
    fn last(&mut self, stmts: Vec<Stmt>) -> Result<Vec<Stmt>, LowerError> {
        let mut out = vec![];
        let mut rest = stmts.into_iter();
        while let Some(mut stmt) = rest.next() {
            if let Stmt::Return(_) = stmt {
                break;
            }
            if !returns(&self.func, &stmt) {
                out.push(stmt);
                continue;
            }
            let is_last = rest.as_slice().is_empty();
            match &mut stmt {
                Stmt::If {
                    cond,
                    then,
                    otherwise,
                } if is_last || always_return(then) || always_return(otherwise) => {
                    match always_return(then) {
                        true => otherwise.extend(rest),
                        false => then.extend(rest),
                    }
                    *then = self.last(std::mem::take(then))?;
                    *otherwise = self.last(std::mem::take(otherwise))?;
                    if then.is_empty() {
                        *cond = cond.not();
                        std::mem::swap(then, otherwise);
                    }
                    if !then.is_empty() {
                        out.push(stmt);
                    }
                    break;
                }
                Stmt::Loop(id) if is_last && self.func.loops[*id].kind.is_of_launch() => {
                    self.loop_(*id)?;
                    out.push(stmt);
                }
                Stmt::Block(id) if is_last => {
                    let id = *id;
                    let body = self.func.tree.body(id).to_vec();
                    let body = self.last(body)?;
                    self.func.tree.set_body(id, body);
                    out.push(stmt);
                }
                Stmt::Let { body, .. } | Stmt::View { body, .. } | Stmt::Attr { body, .. }
                    if is_last =>
                {
                    *body = self.last(std::mem::take(body))?;
                    out.push(stmt);
                }
                _ => {
                    out.extend(self.marked([vec![stmt], rest.collect()].concat())?);
                    break;
                }
            }
        }
        Ok(out)
    }

    /// The statements under the condition that the thread has not returned, with a mark in its memory.
    fn marked(&mut self, stmts: Vec<Stmt>) -> Result<Vec<Stmt>, LowerError> {
        let mut launches = vec![];
        for place in stmts.iter().flat_map(Stmt::places) {
            match place {
                Place::Loop(id) if self.func.loops[id].kind.is_of_launch() => launches.push(id),
                place => collect(&self.func, place, &mut launches),
            }
        }
        if let Some(inner) = launches.first() {
            return Err(jump(&self.func, *inner, "return"));
        }
        let shape = vec![Expr::i64(1)];
        let memory = Buffer::with_scope("returned", shape, DType::I32, Scope::Local);
        let mut structured = Structured::new(self.func.clone(), memory.clone());
        let mut out = vec![structured.store(0)];
        out.extend(structured.stmts(stmts)?);
        self.func = structured.into_func();
        let root = self.func.root;
        self.func.blocks[root].alloc_buffers.push(memory);
        Ok(out)
    }
}
