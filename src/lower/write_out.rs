//! Loops as kernels have them: split where their conditions end ([`partition`]), and those that are unrolled written out
//! (TVM: `LoopPartition`, `UnrollLoop`).
//!
//! Both are done from the outermost loop inwards, since what is known of an outer one decides the conditions inside. Vectorized loops stay:
//! whether their statements are vectors is known when these are made (`emit/vector/`), and the lanes of others are written out then.

use std::collections::HashSet;

use super::facts::Facts;
use super::host::Dims;
use super::nest::Annotated;
use super::node::{Node, substitute_nodes, walk_nodes};
use super::partition::{self, Tails};
use super::{LowerError, LowerProblem};
use crate::ir::{Buffer, Expr, ExprKind, LoopKind, Var};
use crate::tensor::scalar::BinOp;

/// Most statements that the unrolled loops and the lanes of a kernel are written out to.
const MOST_COPIES: usize = 1 << 18;

/// Statements that were copied so far, and the variable of the last loop that was written out.
#[derive(Clone, Default, Debug)]
pub(super) struct Copies {
    count: usize,
    last: Option<Var>,
}

impl Copies {
    /// Counts what was copied in another nest of the same kernel.
    ///
    /// # Errors
    /// If the kernel would be too long.
    pub(super) fn add(&mut self, other: &Self) -> Result<(), LowerError> {
        self.count += other.count;
        self.last = other.last.clone().or(self.last.take());
        self.check()
    }

    fn check(&self) -> Result<(), LowerError> {
        match &self.last {
            Some(var) if self.count > MOST_COPIES => Err(LowerProblem::TooLong {
                var: var.name().to_owned(),
                limit: MOST_COPIES,
            }
            .into()),
            _ => Ok(()),
        }
    }

    /// Copies of the statements with a value in place of the variable.
    ///
    /// # Errors
    /// If the kernel would be too long.
    pub(super) fn with(
        &mut self,
        body: &[Node],
        var: &Var,
        value: &Expr,
    ) -> Result<Vec<Node>, LowerError> {
        walk_nodes(body, &mut |_| self.count += 1);
        self.last = Some(var.clone());
        self.check()?;
        Ok(substitute_nodes(body, var, value))
    }
}

/// Writes loops out, at a place of which facts are known.
pub(super) struct WriteOut<'a> {
    facts: &'a mut Facts,
    dims: &'a Dims,
    tails: Tails,
    /// The buffers that the nest stores to.
    stored: &'a HashSet<Buffer>,
    copies: &'a mut Copies,
    /// Loops, and the loops that they were split to.
    parts: Vec<(Var, Var)>,
}

impl<'a> WriteOut<'a> {
    pub(super) fn new(
        facts: &'a mut Facts,
        dims: &'a Dims,
        tails: Tails,
        stored: &'a HashSet<Buffer>,
        copies: &'a mut Copies,
    ) -> Self {
        Self {
            facts,
            dims,
            tails,
            stored,
            copies,
            parts: vec![],
        }
    }

    /// What is said of a loop is said of the loops that it was split to.
    pub(super) fn annotate_parts(self, annotated: &mut Annotated) {
        for (whole, part) in self.parts {
            annotated.is_part(&whole, &part);
        }
    }

    pub(super) fn nodes(&mut self, nodes: Vec<Node>) -> Result<Vec<Node>, LowerError> {
        let mut out = Vec::new();
        for node in nodes {
            self.node(node, &mut out)?;
        }
        Ok(out)
    }

    fn node(&mut self, node: Node, out: &mut Vec<Node>) -> Result<(), LowerError> {
        match node {
            Node::For {
                var,
                min,
                extent,
                kind,
                body,
            } => self.for_(var, min, extent, kind, body, out)?,
            Node::Let { var, value, body } => {
                // Another copy of a loop that is written out gives the variable another value.
                self.facts.enter();
                self.facts.name(&var, &value);
                let body = self.nodes(body);
                self.facts.leave();
                let body = body?;
                out.push(Node::Let { var, value, body });
            }
            Node::If {
                cond,
                then,
                otherwise,
            } => match self.facts.analyzer.simplify(&cond).as_bool() {
                Some(true) => out.extend(self.nodes(then)?),
                Some(false) => out.extend(self.nodes(otherwise)?),
                None => {
                    self.facts.enter();
                    self.facts.learn(&cond, self.stored);
                    let then = self.nodes(then);
                    self.facts.leave();
                    let (then, otherwise) = (then?, self.nodes(otherwise)?);
                    out.push(Node::If {
                        cond,
                        then,
                        otherwise,
                    });
                }
            },
            Node::While { cond, body } => {
                let body = self.nodes(body)?;
                out.push(Node::While { cond, body });
            }
            leaf @ (Node::Store { .. } | Node::Barrier(_) | Node::Fragment(_)) => out.push(leaf),
        }
        Ok(())
    }

    fn for_(
        &mut self,
        var: Var,
        min: Expr,
        extent: Expr,
        kind: LoopKind,
        body: Vec<Node>,
        out: &mut Vec<Node>,
    ) -> Result<(), LowerError> {
        match (kind, extent.as_int()) {
            (LoopKind::Unrolled, Some(extent)) => {
                for i in 0..extent {
                    let value = self.facts.analyzer.simplify(&(&min + i));
                    out.extend(self.copy(&body, &var, &value)?);
                }
                Ok(())
            }
            // What has an extent that only a launch knows cannot be written out: it is a loop.
            (LoopKind::Unrolled | LoopKind::Vectorized, None) => {
                self.for_(var, min, extent, LoopKind::Serial, body, out)
            }
            // As the rest of a partition.
            (LoopKind::Serial, Some(1)) => {
                out.extend(self.copy(&body, &var, &min)?);
                Ok(())
            }
            (LoopKind::Serial | LoopKind::Parallel | LoopKind::ThreadBinding(_), _)
                if let Some(parts) = partition::partition(
                    self.facts, self.dims, &var, &min, &extent, kind, &body, self.tails,
                ) =>
            {
                self.parts
                    .extend(parts.iter().filter_map(|part| match part {
                        Node::For { var: new, .. } => Some((var.clone(), new.clone())),
                        _ => None,
                    }));
                out.extend(self.nodes(parts)?);
                Ok(())
            }
            _ => {
                self.facts.enter();
                self.facts.bind(&var, &min, &extent);
                let body = self.nodes(body);
                self.facts.leave();
                let body = body?;
                if !body.is_empty() {
                    out.push(Node::For {
                        var,
                        min,
                        extent,
                        kind,
                        body,
                    });
                }
                Ok(())
            }
        }
    }

    /// One iteration of a loop that is written out; constant conditions vanish.
    pub(super) fn copy(
        &mut self,
        body: &[Node],
        var: &Var,
        value: &Expr,
    ) -> Result<Vec<Node>, LowerError> {
        let mut nodes = self.copies.with(body, var, value)?;
        self.fold_conditions(&mut nodes);
        self.nodes(nodes)
    }

    fn fold_conditions(&self, nodes: &mut Vec<Node>) {
        let old = std::mem::take(nodes);
        for mut node in old {
            for inner in node.nested_mut() {
                self.fold_conditions(inner);
            }
            for e in node.exprs_mut() {
                *e = self.fold_cases(e);
            }
            match node {
                Node::If {
                    cond,
                    then,
                    otherwise,
                } => {
                    let cond = self.facts.analyzer.simplify(&cond);
                    match cond.as_bool() {
                        Some(true) => nodes.extend(then),
                        Some(false) => nodes.extend(otherwise),
                        None => nodes.push(Node::If {
                            cond,
                            then,
                            otherwise,
                        }),
                    }
                }
                other => nodes.push(other),
            }
        }
    }

    /// The expression where an equation that picks one of two values is decided.
    fn fold_cases(&self, e: &Expr) -> Expr {
        if let ExprKind::Select(cond, then, otherwise) | ExprKind::IfThenElse(cond, then, otherwise) =
            e.kind()
            && cond.as_binary(BinOp::Eq).is_some()
        {
            match self.facts.analyzer.simplify(cond).as_bool() {
                Some(true) => return self.fold_cases(then),
                Some(false) => return self.fold_cases(otherwise),
                None => {}
            }
        }
        e.map_children(&mut |child| self.fold_cases(child))
    }
}

/// The buffers that statements store to.
pub(super) fn stored(nodes: &[Node]) -> HashSet<Buffer> {
    let mut stored = HashSet::new();
    walk_nodes(nodes, &mut |node| {
        if let Node::Store { buffer, .. } = node {
            stored.insert(buffer.clone());
        }
    });
    stored
}
