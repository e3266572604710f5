//! Barriers of the compiler's own, where a thread may read what another one wrote, as lowering for a GPU puts them in.

use std::collections::HashSet;

use super::is_thread_loop;
use crate::ir::{Buffer, Expr, ExprKind};
use crate::lower::node::{Barrier, Node, walk_nodes};

/// Puts barriers between the statements of threads that are iterations of a loop, where one writes and another one reads a
/// buffer through which they communicate.
pub(in crate::lower) fn imply_barriers(nodes: Vec<Node>, shared: &HashSet<Buffer>) -> Vec<Node> {
    let each = |mut node: Node| {
        if is_thread_loop(&node) {
            for body in node.nested_mut() {
                let stmts = std::mem::take(body);
                *body = Implied { shared }.stmts(stmts, &mut Uses::default());
            }
        } else {
            for body in node.nested_mut() {
                *body = imply_barriers(std::mem::take(body), shared);
            }
        }
        node
    };
    match shared.is_empty() {
        true => nodes,
        false => nodes.into_iter().map(each).collect(),
    }
}

/// What happened to the shared buffers since the last barrier.
#[derive(Clone, Default)]
struct Uses {
    read: HashSet<Buffer>,
    written: HashSet<Buffer>,
}

impl Uses {
    fn add(&mut self, other: Self) {
        self.read.extend(other.read);
        self.written.extend(other.written);
    }

    /// A buffer that makes a barrier necessary before something with the uses `next`.
    fn conflict(&self, next: &Self) -> Option<Buffer> {
        let reads = next.read.iter().filter(|b| self.written.contains(b));
        let writes = next.written.iter().filter(|b| self.read.contains(b));
        reads.chain(writes).min_by_key(|b| b.name()).cloned()
    }
}

struct Implied<'a> {
    shared: &'a HashSet<Buffer>,
}

impl Implied<'_> {
    fn stmts(&self, nodes: Vec<Node>, open: &mut Uses) -> Vec<Node> {
        let mut out = Vec::new();
        for mut node in nodes {
            // The statements below a name follow on those before it.
            let all = match &node {
                Node::Let { value, .. } => self.uses_of(value),
                node => self.uses(node),
            };
            if let Some(buffer) = open.conflict(&all) {
                out.push(Node::Barrier(Barrier::Implied(buffer)));
                *open = Uses::default();
            }
            match &mut node {
                Node::Barrier(_) => *open = Uses::default(),
                Node::Store { .. } | Node::Fragment(_) => open.add(all),
                Node::Let { body, .. } => {
                    open.add(all);
                    *body = self.stmts(std::mem::take(body), open);
                }
                Node::If {
                    cond,
                    then,
                    otherwise,
                } => {
                    open.add(self.uses_of(cond));
                    for body in [then, otherwise] {
                        let mut inner = Uses::default();
                        *body = self.stmts(std::mem::take(body), &mut inner);
                        open.add(inner);
                    }
                }
                Node::For { body, .. } | Node::While { body, .. } => {
                    let mut inner = Uses::default();
                    *body = self.stmts(std::mem::take(body), &mut inner);
                    // What the end of one iteration leaves open meets the start of the next.
                    if let Some(buffer) = inner.conflict(&all) {
                        body.push(Node::Barrier(Barrier::Implied(buffer)));
                        inner = Uses::default();
                    }
                    open.add(inner);
                }
            }
            out.push(node);
        }
        out
    }

    fn uses(&self, node: &Node) -> Uses {
        let mut uses = Uses::default();
        walk_nodes(std::slice::from_ref(node), &mut |node| {
            for e in node.exprs() {
                uses.add(self.uses_of(e));
            }
            if let Node::Store { buffer, .. } = node
                && self.shared.contains(buffer)
            {
                uses.written.insert(buffer.clone());
            }
        });
        uses
    }

    fn uses_of(&self, e: &Expr) -> Uses {
        let mut uses = Uses::default();
        e.walk(&mut |e| {
            if let ExprKind::Load(buffer, _) = e.kind()
                && self.shared.contains(buffer)
            {
                uses.read.insert(buffer.clone());
            }
            true
        });
        uses
    }
}
