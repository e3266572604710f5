//! What is the same for all threads: of each array of a thread, whether all of them write the same values to it.

use std::collections::HashSet;

use super::is_thread_loop;
use crate::ir::{Buffer, Expr, ExprKind, Var};
use crate::lower::compact::Private;
use crate::lower::node::Node;

/// The arrays of threads to which each of the threads in a loop writes the same values at the same places.
pub(super) fn uniform_arrays(node: &Node, arrays: &[Private]) -> HashSet<Buffer> {
    let mut uniform: HashSet<Buffer> = arrays.iter().map(|a| a.buffer.clone()).collect();
    loop {
        let mut flow = Flow {
            uniform: &uniform,
            arrays,
            varying: HashSet::new(),
            differing: HashSet::new(),
        };
        flow.stmts(std::slice::from_ref(node), false);
        let differing = flow.differing;
        if differing.is_empty() {
            return uniform;
        }
        uniform.retain(|buffer| !differing.contains(buffer));
    }
}

/// Finds the stores in which threads differ, if of the arrays of a thread these are `uniform`.
struct Flow<'a> {
    uniform: &'a HashSet<Buffer>,
    arrays: &'a [Private],
    /// Variables that differ between threads.
    varying: HashSet<Var>,
    /// The arrays in which threads come to differ.
    differing: HashSet<Buffer>,
}

impl Flow<'_> {
    /// `apart`: whether only some of the threads come here.
    fn stmts(&mut self, nodes: &[Node], apart: bool) {
        for node in nodes {
            let varies = node.exprs().into_iter().any(|e| self.varies(e));
            let mut apart = apart;
            match node {
                Node::Store { buffer, .. } => {
                    if (varies || apart) && self.uniform.contains(buffer) {
                        self.differing.insert(buffer.clone());
                    }
                }
                Node::For { var, .. } => {
                    if varies || is_thread_loop(node) {
                        self.varying.insert(var.clone());
                    }
                    apart |= varies && !is_thread_loop(node);
                }
                Node::Let { var, .. } => {
                    if varies {
                        self.varying.insert(var.clone());
                    }
                }
                Node::If { .. } | Node::While { .. } => apart |= varies,
                Node::Fragment(_) | Node::Barrier(_) => {}
            }
            for inner in node.nested() {
                self.stmts(inner, apart);
            }
        }
    }

    fn varies(&self, e: &Expr) -> bool {
        let mut varies = false;
        e.walk(&mut |e| {
            varies |= match e.kind() {
                ExprKind::Var(var) => self.varying.contains(var),
                ExprKind::Load(buffer, _) => {
                    let mut arrays = self.arrays.iter().filter(|array| array.buffer == *buffer);
                    let own = arrays.any(|a| a.loops.iter().any(|l| self.varying.contains(l)));
                    own && !self.uniform.contains(buffer)
                }
                _ => false,
            };
            !varies
        });
        varies
    }
}
