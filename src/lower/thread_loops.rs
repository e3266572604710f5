//! Threads that meet, where they are iterations of a loop: the loop is split at each barrier, so that all threads come as far as
//! the barrier before any goes on (work-item loops).
//!
//! ```text
//! for t: A; barrier; B                     =>    for t: A
//!                                                for t: B
//! for t: for k: A; barrier; B              =>    for k: for t: A
//!                                                       for t: B
//! for t: if c: A; barrier; B               =>    if c: for t: A
//!                                                      for t: B
//! ```
//!
//! So `k` and `c` must be the same for all threads. An array of a thread that outlives a barrier gets a dimension for the
//! threads.
//!
//! Barriers of the compiler's own (`imply_barriers`) stand where a thread may read what another one wrote, as on a GPU. They
//! may stand under a condition that differs between threads: each part of the branch asks it again.
//!
//! References: Allen and Kennedy, "Optimizing Compilers for Modern Architectures" (2001), loop distribution and scalar
//! expansion; Jääskeläinen et al., "pocl: A Performance-Portable OpenCL Implementation" (2015), parallel regions.

mod implied;
mod uniform;

use std::collections::HashSet;

pub(super) use implied::imply_barriers;
use uniform::uniform_arrays;

use super::compact::Private;
use super::node::{AxisSet, Barrier, Node, substitute_nodes, walk_nodes};
use super::{LowerError, LowerProblem};
use crate::ir::{Buffer, Expr, ExprKind, LoopKind, Scope, Var};
use crate::tensor::DType;

/// Whether threads that are iterations of a loop meet in it.
pub(super) fn meet(nodes: &[Node]) -> bool {
    let mut found = false;
    walk_nodes(nodes, &mut |node| {
        found |= is_thread_loop(node) && has_barrier(node);
    });
    found
}

fn is_thread_loop(node: &Node) -> bool {
    let Node::For { kind, .. } = node else {
        return false;
    };
    matches!(kind, LoopKind::ThreadBinding(axis) if axis.is_thread())
}

fn has_barrier(node: &Node) -> bool {
    let mut found = false;
    walk_nodes(std::slice::from_ref(node), &mut |node| {
        found |= matches!(node, Node::Barrier(_));
    });
    found
}

/// Splits the loops over threads that meet. Arrays of a thread that outlive a barrier are given a dimension for the threads.
pub(super) fn split(nodes: Vec<Node>, arrays: &mut Vec<Private>) -> Result<Vec<Node>, LowerError> {
    let mut out = Vec::new();
    for mut node in nodes {
        if matches!(node, Node::Barrier(_)) {
            // One thread waits for nobody.
            continue;
        }
        if is_thread_loop(&node) && has_barrier(&node) {
            out.extend(Workgroup::split(node, arrays)?);
            continue;
        }
        for inner in node.nested_mut() {
            *inner = split(std::mem::take(inner), arrays)?;
        }
        out.push(node);
    }
    Ok(out)
}

/// A loop over threads.
#[derive(Clone)]
struct Threads {
    var: Var,
    min: Expr,
    extent: Expr,
    kind: LoopKind,
}

/// What stands around statements of a workgroup.
#[derive(Clone, Default)]
struct Around {
    /// The loops over threads, outermost first.
    threads: Vec<Threads>,
    /// The variables of the loops that all threads go through together, outside of the loops over threads; none of a `while`.
    together: Vec<Option<Var>>,
    /// Conditions that differ between threads.
    conditions: Vec<Expr>,
}

/// The part of a program from one barrier to the next.
struct Region {
    around: Around,
    /// The arrays of threads that it uses.
    arrays: HashSet<Buffer>,
}

/// A loop over threads that is split.
struct Workgroup<'a> {
    arrays: &'a mut Vec<Private>,
    /// The arrays of its threads that have the same elements in each.
    uniform: HashSet<Buffer>,
    regions: Vec<Region>,
}

impl<'a> Workgroup<'a> {
    fn split(node: Node, arrays: &'a mut Vec<Private>) -> Result<Vec<Node>, LowerError> {
        let mut workgroup = Self {
            uniform: uniform_arrays(&node, arrays),
            arrays,
            regions: vec![],
        };
        let mut out = Vec::new();
        workgroup.meeting(node, &Around::default(), &mut out)?;
        workgroup.expand(&mut out)?;
        Ok(out)
    }

    /// The statements, made by all threads before any goes past a barrier.
    fn stmts(&mut self, nodes: Vec<Node>, around: &Around) -> Result<Vec<Node>, LowerError> {
        let mut out = Vec::new();
        let mut run = Vec::new();
        self.list(nodes, around, &mut run, &mut out)?;
        self.end_region(&mut run, around, &mut out);
        Ok(out)
    }

    fn list(
        &mut self,
        nodes: Vec<Node>,
        around: &Around,
        run: &mut Vec<Node>,
        out: &mut Vec<Node>,
    ) -> Result<(), LowerError> {
        for node in nodes {
            match node {
                node if !has_barrier(&node) => run.push(node),
                Node::Let { var, value, body } if self.varies(&value, around) => {
                    let known = if value.loads() {
                        self.keep(&var, &value, around, run)?
                    } else {
                        value
                    };
                    self.list(substitute_nodes(&body, &var, &known), around, run, out)?;
                }
                node => {
                    self.end_region(run, around, out);
                    self.meeting(node, around, out)?;
                }
            }
        }
        Ok(())
    }

    /// Ends a region: all threads make its statements.
    fn end_region(&mut self, run: &mut Vec<Node>, around: &Around, out: &mut Vec<Node>) {
        if run.is_empty() {
            return;
        }
        self.note(run, around);
        let mut body = std::mem::take(run);
        for cond in around.conditions.iter().rev() {
            body = vec![Node::If {
                cond: cond.clone(),
                then: body,
                otherwise: vec![],
            }];
        }
        for threads in around.threads.iter().rev() {
            body = vec![Node::For {
                var: threads.var.clone(),
                min: threads.min.clone(),
                extent: threads.extent.clone(),
                kind: threads.kind,
                body,
            }];
        }
        out.extend(body);
    }

    /// A statement with a barrier inside.
    fn meeting(
        &mut self,
        node: Node,
        around: &Around,
        out: &mut Vec<Node>,
    ) -> Result<(), LowerError> {
        match node {
            Node::Barrier(barrier) => {
                if let Barrier::Written(_) = barrier
                    && !around.conditions.is_empty()
                {
                    return Err(divergent(&barrier));
                }
            }
            node @ Node::For { .. } if is_thread_loop(&node) => {
                let Node::For {
                    var,
                    min,
                    extent,
                    kind,
                    body,
                } = node
                else {
                    return Ok(());
                };
                let mut inner = around.clone();
                inner.threads.push(Threads {
                    var,
                    min,
                    extent,
                    kind,
                });
                out.extend(self.stmts(body, &inner)?);
            }
            Node::For {
                var,
                min,
                extent,
                kind,
                body,
            } => {
                self.must_agree(&[&min, &extent], &body, around)?;
                let mut inner = around.clone();
                inner.together.push(Some(var.clone()));
                out.push(Node::For {
                    var,
                    min,
                    extent,
                    kind: match kind {
                        LoopKind::Unrolled => LoopKind::Unrolled,
                        _ => LoopKind::Serial,
                    },
                    body: self.stmts(body, &inner)?,
                });
            }
            Node::While { cond, body } => {
                // Of threads that do not come here nobody would end the loop.
                if !around.conditions.is_empty() {
                    refuse(&body)?;
                }
                self.must_agree(&[&cond], &body, around)?;
                let mut inner = around.clone();
                inner.together.push(None);
                out.push(Node::While {
                    cond,
                    body: self.stmts(body, &inner)?,
                });
            }
            Node::If {
                cond,
                then,
                otherwise,
            } if !self.varies(&cond, around) => {
                self.note_exprs(&[&cond]);
                out.push(Node::If {
                    cond,
                    then: self.stmts(then, around)?,
                    otherwise: self.stmts(otherwise, around)?,
                });
            }
            Node::If {
                cond,
                then,
                otherwise,
            } => {
                let mut run = Vec::new();
                let taken = if cond.loads() {
                    let taken = Var::data("taken", DType::BOOL);
                    self.keep(&taken, &cond, around, &mut run)?
                } else {
                    cond
                };
                self.end_region(&mut run, around, out);
                for (cond, body) in [(taken.clone(), then), (taken.not(), otherwise)] {
                    let mut inner = around.clone();
                    inner.conditions.push(cond);
                    out.extend(self.stmts(body, &inner)?);
                }
            }
            Node::Let { var, value, body } => {
                self.note_exprs(&[&value]);
                let body = self.stmts(body, around)?;
                out.push(Node::Let { var, value, body });
            }
            node @ (Node::Store { .. } | Node::Fragment(_)) => {
                let mut run = vec![node];
                self.end_region(&mut run, around, out);
            }
        }
        Ok(())
    }

    /// Refuses a loop with barriers inside, of which threads may make different numbers of iterations.
    fn must_agree(
        &mut self,
        exprs: &[&Expr],
        body: &[Node],
        around: &Around,
    ) -> Result<(), LowerError> {
        self.note_exprs(exprs);
        if exprs.iter().any(|e| self.varies(e, around)) {
            return refuse(body);
        }
        Ok(())
    }

    /// Keeps a value of each thread for the regions that follow: where to read it.
    fn keep(
        &mut self,
        var: &Var,
        value: &Expr,
        around: &Around,
        run: &mut Vec<Node>,
    ) -> Result<Expr, LowerError> {
        if value.dtype().is_vector() {
            let (what, dtype) = (var.name().to_owned(), value.dtype());
            return Err(LowerProblem::DType { what, dtype }.into());
        }
        let shape = vec![Expr::i64(1)];
        let buffer = Buffer::with_scope(var.name(), shape, value.dtype(), Scope::Local);
        let threads = around.threads.iter().map(|threads| threads.var.clone());
        let together = around.together.iter().flatten().cloned();
        self.arrays.push(Private {
            buffer: buffer.clone(),
            loops: threads.chain(together).collect(),
        });
        let indices = vec![Expr::i64(0)];
        run.push(Node::Store {
            buffer: buffer.clone(),
            indices: indices.clone(),
            value: value.clone(),
            shuffle: None,
            axes: AxisSet::ALL,
        });
        Ok(Expr::load(&buffer, indices))
    }

    /// Whether a value may differ between threads.
    fn varies(&self, e: &Expr, around: &Around) -> bool {
        let is_thread = |var: &Var| around.threads.iter().any(|threads| threads.var == *var);
        let own = |buffer: &Buffer| {
            let mut arrays = self.arrays.iter().filter(|array| array.buffer == *buffer);
            !self.uniform.contains(buffer) && arrays.any(|array| array.loops.iter().any(is_thread))
        };
        let mut varies = false;
        e.walk(&mut |e| {
            varies |= match e.kind() {
                ExprKind::Var(var) => is_thread(var),
                ExprKind::Load(buffer, _) => own(buffer),
                _ => false,
            };
            !varies
        });
        varies
    }

    /// Notes the arrays that a region uses.
    fn note(&mut self, nodes: &[Node], around: &Around) {
        let mut arrays = HashSet::new();
        walk_nodes(nodes, &mut |node| {
            if let Node::Store { buffer, .. } = node {
                arrays.insert(buffer.clone());
            }
            node.exprs()
                .into_iter()
                .for_each(|e| loaded(e, &mut arrays));
        });
        for cond in &around.conditions {
            loaded(cond, &mut arrays);
        }
        let around = around.clone();
        self.regions.push(Region { around, arrays });
    }

    /// Notes the arrays that are read between regions, for all threads at once.
    fn note_exprs(&mut self, exprs: &[&Expr]) {
        let mut arrays = HashSet::new();
        exprs.iter().for_each(|e| loaded(e, &mut arrays));
        let around = Around::default();
        self.regions.push(Region { around, arrays });
    }

    /// Whether an array must keep the values of each thread while others run.
    fn outlives(&self, array: &Private) -> bool {
        let mut users = self
            .regions
            .iter()
            .filter(|r| r.arrays.contains(&array.buffer));
        let (first, more) = (users.next(), users.next());
        let carried = |region: &Region| {
            let new_in = |var: &Option<Var>| var.as_ref().is_some_and(|v| array.loops.contains(v));
            !region.around.together.iter().all(new_in)
        };
        more.is_some() || first.is_some_and(carried)
    }

    /// Gives arrays that outlive a barrier a dimension for each loop over threads.
    fn expand(&mut self, nodes: &mut [Node]) -> Result<(), LowerError> {
        let mut threads: Vec<Threads> = vec![];
        for of_region in self
            .regions
            .iter()
            .flat_map(|region| &region.around.threads)
        {
            if !threads.iter().any(|known| known.var == of_region.var) {
                threads.push(of_region.clone());
            }
        }
        for at in 0..self.arrays.len() {
            let array = &self.arrays[at];
            let own = threads.iter().filter(|t| array.loops.contains(&t.var));
            let own: Vec<Threads> = own.cloned().collect();
            if own.is_empty() || !self.outlives(array) {
                continue;
            }
            if let Some(symbolic) = own.iter().find(|t| t.extent.as_int().is_none()) {
                let problem = LowerProblem::NotConstant {
                    what: format!("loop `{}` over threads that meet", symbolic.var.name()),
                    extent: symbolic.extent.clone(),
                };
                return Err(problem.into());
            }
            let old = array.buffer.clone();
            let extents = own.iter().map(|t| t.extent.clone());
            let shape = extents.chain(old.shape().iter().cloned()).collect();
            let new = Buffer::with_scope(old.name(), shape, old.dtype(), old.scope().clone());
            self.arrays[at].buffer = new.clone();
            let expansion = Expansion { old, new, own };
            expansion.nodes(nodes, &[]);
        }
        Ok(())
    }
}

/// An array of each thread that becomes one of all of them.
struct Expansion {
    old: Buffer,
    new: Buffer,
    /// The loops over the threads that have it.
    own: Vec<Threads>,
}

impl Expansion {
    fn nodes(&self, nodes: &mut [Node], inside: &[Var]) {
        let indices = |indices: &[Expr]| -> Vec<Expr> {
            let of_thread = self.own.iter().map(|threads| {
                // Where no loop over threads runs, all of them have the same.
                match inside.contains(&threads.var) {
                    true => threads.var.expr() - &threads.min,
                    false => Expr::int(0, threads.var.dtype()),
                }
            });
            of_thread.chain(indices.iter().cloned()).collect()
        };
        let moved = |e: &Expr| {
            e.rewrite_bottom_up(&mut |e| match e.kind() {
                ExprKind::Load(buffer, old) if *buffer == self.old => {
                    Expr::load(&self.new, indices(old))
                }
                _ => e.clone(),
            })
        };
        for node in nodes {
            for e in node.exprs_mut() {
                *e = moved(e);
            }
            if let Node::Store {
                buffer,
                indices: old,
                ..
            } = node
                && *buffer == self.old
            {
                *buffer = self.new.clone();
                *old = indices(old);
            }
            let mut within = inside.to_vec();
            if let Node::For { var, .. } = node {
                within.push(var.clone());
            }
            for inner in node.nested_mut() {
                self.nodes(inner, &within);
            }
        }
    }
}

/// Refuses the first of the barriers in a loop.
fn refuse(body: &[Node]) -> Result<(), LowerError> {
    let mut refused = Ok(());
    walk_nodes(body, &mut |node| {
        if let Node::Barrier(barrier) = node
            && refused.is_ok()
        {
            refused = Err(divergent(barrier));
        }
    });
    refused
}

/// Not all threads come to the barrier.
fn divergent(barrier: &Barrier) -> LowerError {
    match barrier {
        Barrier::Written(place) => {
            let places: Vec<_> = place.iter().copied().collect();
            LowerError::from(LowerProblem::Barrier).or_at(&places)
        }
        Barrier::Implied(buffer) => {
            let array = buffer.name().to_owned();
            LowerProblem::DivergentBarrier { array }.into()
        }
    }
}

fn loaded(e: &Expr, arrays: &mut HashSet<Buffer>) {
    e.walk(&mut |e| {
        if let ExprKind::Load(buffer, _) = e.kind() {
            arrays.insert(buffer.clone());
        }
        true
    });
}
