//! `break` and `continue`: kernels have neither, so what they leave out stands under a condition.
//!
//! ```text
//! for i: A; if c: break; B    =>    state = 0
//!                                   for i: if state != 2:
//!                                       state = 0
//!                                       A
//!                                       if c: state = 2
//!                                       if state == 0: B
//! ```
//!
//! The loop runs on, so that its number of iterations stays known, but does nothing any more.

use super::node::{AxisSet, Node};
use crate::ir::{Buffer, Expr, Jump, Scope};
use crate::tensor::DType;

/// What the innermost loop around a place does next, in memory of the thread.
#[derive(Clone, Debug)]
pub(super) struct State {
    memory: Buffer,
    /// The jumps of the loop.
    jump: Jump,
}

const RUNS: i32 = 0;

/// The state after a jump.
fn after(jump: Jump) -> i32 {
    match jump {
        Jump::Continue => 1,
        Jump::Break => 2,
    }
}

impl State {
    pub(super) fn new(jump: Jump) -> Self {
        let shape = vec![Expr::i64(1)];
        let memory = Buffer::with_scope("state", shape, DType::I32, Scope::Local);
        Self { memory, jump }
    }

    pub(super) fn memory(&self) -> &Buffer {
        &self.memory
    }

    /// The iteration ends.
    pub(super) fn jump(&self, jump: Jump) -> Node {
        self.store(after(jump))
    }

    /// What comes before the loop.
    pub(super) fn before(&self) -> Option<Node> {
        (self.jump == Jump::Break).then(|| self.store(RUNS))
    }

    /// What follows a statement that may jump.
    pub(super) fn unless_jumped(&self, rest: Vec<Node>) -> Node {
        only_if(self.value().equals(Expr::i32(RUNS)), rest)
    }

    /// One iteration: nothing after a `break`, else the body.
    pub(super) fn iteration(&self, body: Vec<Node>) -> Vec<Node> {
        let body = [vec![self.store(RUNS)], body].concat();
        match self.jump {
            Jump::Continue => body,
            Jump::Break => vec![only_if(self.goes_on(), body)],
        }
    }

    /// The condition of a `while` that a `break` ends: it is not asked again then.
    pub(super) fn condition(&self, cond: Expr) -> Expr {
        match self.jump {
            Jump::Continue => cond,
            Jump::Break => Expr::if_then_else(self.goes_on(), cond, Expr::bool(false)),
        }
    }

    fn goes_on(&self) -> Expr {
        self.value().lt(Expr::i32(after(Jump::Break)))
    }

    fn value(&self) -> Expr {
        Expr::load(&self.memory, vec![Expr::i64(0)])
    }

    fn store(&self, state: i32) -> Node {
        Node::Store {
            buffer: self.memory.clone(),
            indices: vec![Expr::i64(0)],
            value: Expr::i32(state),
            shuffle: None,
            axes: AxisSet::ALL,
        }
    }
}

fn only_if(cond: Expr, then: Vec<Node>) -> Node {
    Node::If {
        cond,
        then,
        otherwise: vec![],
    }
}
