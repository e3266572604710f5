//! How statements end an iteration of the loop around them.

use super::{Place, PrimFunc, Stmt};

/// How an iteration of a loop ends early; the later one leaves out more.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Jump {
    /// The next iteration follows.
    Continue,
    /// No iteration follows.
    Break,
}

impl PrimFunc {
    /// Whether statements may end an iteration of the loop around them, and whether all that follow.
    pub fn jump_out(&self, stmts: &[Stmt]) -> Option<Jump> {
        let of_stmt = |stmt: &Stmt| match stmt {
            Stmt::Break => Some(Jump::Break),
            Stmt::Continue => Some(Jump::Continue),
            // A jump in a loop is one of its own iterations.
            Stmt::Loop(_) | Stmt::While { cond: _, body: _ } => None,
            Stmt::Block(id) => self.jump_out(self.tree.body(Place::Block(*id))),
            other => {
                let nested = other.nested().into_iter();
                nested.filter_map(|inner| self.jump_out(inner)).max()
            }
        };
        stmts.iter().filter_map(of_stmt).max()
    }
}
