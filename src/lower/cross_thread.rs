//! Device memory is no place for threads of one kernel to meet: no barrier orders their accesses to it. So of a tensor that
//! several statements of a kernel write and read, each thread must keep to elements of its own.
//!
//! An axis of the launch separates accesses if in some dimension all of them have the form `stride * axis + rest` with one
//! stride and `0 <= rest < stride`, or if they stay in the same tile wherever they mention it. Of statements that only the
//! first thread of an axis runs, or that conditions leave to one thread of it, nothing is asked.

use indexmap::IndexMap;

use super::nest::{Axis, Nest};
use super::node::{AxisSet, Node};
use super::storage::MemoryPlan;
use super::wrapping_sum::WrappingSum;
use super::{LowerError, LowerProblem};
use crate::arith::Analyzer;
use crate::ir::{Buffer, Expr, ExprKind, Range, ThreadAxis, Var};

/// What one statement does to a buffer.
struct Access {
    /// Which statement.
    node: usize,
    indices: Vec<Expr>,
    loops: Vec<(Var, Range)>,
    /// The conditions that it stands under.
    guards: Vec<Expr>,
    /// The axes that loops around the statement are bound to.
    axes: AxisSet,
    write: bool,
}

/// Refuses a nest whose threads communicate through device memory.
pub(super) fn check(
    nest: &Nest,
    memory_plan: &MemoryPlan,
    analyzer: &Analyzer,
) -> Result<(), LowerError> {
    let mut found = Found::default();
    found.collect(&nest.body, memory_plan, &mut Around::default());
    for (buffer, accesses) in &found.accesses {
        let several = accesses.iter().any(|a| a.node != accesses[0].node);
        if !several || !accesses.iter().any(|a| a.write) {
            continue;
        }
        let separate = |(axis, known): (&ThreadAxis, &Axis)| {
            known.extent.is_one()
                || !accesses.iter().any(|a| a.axes.has(*axis))
                || separates(&known.var, accesses, analyzer)
                || of_one_thread(&known.var, accesses, analyzer)
        };
        if !nest.axes.iter().all(separate) {
            let buffer = buffer.name().to_owned();
            return Err(LowerProblem::CrossThread { buffer }.into());
        }
    }
    Ok(())
}

/// What a statement stands in.
#[derive(Default)]
struct Around {
    loops: Vec<(Var, Range)>,
    guards: Vec<Expr>,
}

#[derive(Default)]
struct Found {
    accesses: IndexMap<Buffer, Vec<Access>>,
    nodes: usize,
}

impl Found {
    fn collect(&mut self, nodes: &[Node], memory_plan: &MemoryPlan, around: &mut Around) {
        for node in nodes {
            self.nodes += 1;
            let target = match node {
                Node::Store {
                    buffer,
                    indices,
                    axes,
                    ..
                } => Some((buffer, indices, *axes)),
                Node::For { .. }
                | Node::Let { .. }
                | Node::If { .. }
                | Node::While { .. }
                | Node::Barrier(_) => None,
            };
            let axes = target.map_or(AxisSet::ALL, |(_, _, axes)| axes);
            let mut note = |buffer: &Buffer, indices: &[Expr], write| {
                if memory_plan.is_device(buffer) {
                    let access = Access {
                        node: self.nodes,
                        indices: indices.to_vec(),
                        loops: around.loops.clone(),
                        guards: around.guards.clone(),
                        axes,
                        write,
                    };
                    self.accesses
                        .entry(buffer.clone())
                        .or_default()
                        .push(access);
                }
            };
            for e in node.exprs() {
                e.walk(&mut |e| {
                    if let ExprKind::Load(buffer, indices) = e.kind() {
                        note(buffer, indices, false);
                    }
                    true
                });
            }
            if let Some((buffer, indices, _)) = target {
                note(buffer, indices, true);
            }
            match node {
                Node::For {
                    var,
                    min,
                    extent,
                    body,
                    ..
                } => {
                    let range = Range {
                        min: min.clone(),
                        extent: extent.clone(),
                    };
                    around.loops.push((var.clone(), range));
                    self.collect(body, memory_plan, around);
                    around.loops.pop();
                }
                Node::If {
                    cond,
                    then,
                    otherwise,
                } => {
                    for (guard, body) in [(cond.clone(), then), (cond.not(), otherwise)] {
                        around.guards.push(guard);
                        self.collect(body, memory_plan, around);
                        around.guards.pop();
                    }
                }
                Node::Store { .. } | Node::Let { .. } | Node::While { .. } | Node::Barrier(_) => {
                    for inner in node.nested() {
                        self.collect(inner, memory_plan, around);
                    }
                }
            }
        }
    }
}

/// Whether all accesses stand under conditions that only one thread of the axis meets, the same for all.
fn of_one_thread(axis: &Var, accesses: &[Access], analyzer: &Analyzer) -> bool {
    let mut common = None;
    accesses.iter().all(|access| {
        let mut facts = analyzer.clone();
        for guard in &access.guards {
            facts.assume(guard);
        }
        let only = facts.bound(&axis.expr());
        only.min == only.max && *common.get_or_insert(only.min) == only.min
    })
}

/// Whether accesses of threads that differ in the variable are to different elements.
fn separates(axis: &Var, accesses: &[Access], analyzer: &Analyzer) -> bool {
    let dims = 0..accesses[0].indices.len();
    let mentions = |d: &usize| accesses.iter().any(|a| a.indices[*d].uses(axis));
    let mut mentioned = dims.filter(mentions).peekable();
    if mentioned.peek().is_none() {
        return false;
    }
    let dims: Vec<usize> = mentioned.collect();
    let same = |d: &usize| {
        let first = &accesses[0].indices[*d];
        accesses.iter().all(|a| a.indices[*d] == *first) || in_one_tile(*d, accesses, analyzer)
    };
    dims.iter().all(same) || dims.iter().any(|d| owns(axis, *d, accesses, analyzer))
}

/// Whether all accesses are `first + rest` in this dimension, where `first` is the same for all of them and a multiple of some
/// size, and `0 <= rest < size` while the loops of the thread run.
fn in_one_tile(d: usize, accesses: &[Access], analyzer: &Analyzer) -> bool {
    let mut common: Option<Expr> = None;
    accesses.iter().all(|access| {
        let index = &access.indices[d];
        let mut facts = analyzer.clone();
        for (var, range) in &access.loops {
            facts.bind_iteration(var, range);
        }
        let first = index.substitute(&|var| {
            let own = access.loops.iter().find(|(own, _)| own == var);
            own.map(|(_, range)| range.min.clone())
        });
        let first = facts.simplify(&first);
        let rest = facts.bound(&(index - &first));
        let tiles = facts.modular_set(&first);
        *common.get_or_insert_with(|| first.clone()) == first
            && rest.min >= 0
            && tiles.base == 0
            && rest.max < tiles.coeff
    })
}

/// Whether all accesses are `stride * axis + rest` in this dimension, with one stride and `0 <= rest < stride` apart from what
/// other axes add.
fn owns(axis: &Var, d: usize, accesses: &[Access], analyzer: &Analyzer) -> bool {
    let mut common: Option<Expr> = None;
    accesses.iter().all(|access| {
        let index = &access.indices[d];
        let Some((stride, mut rest)) = WrappingSum::of(index).join_div_mod().split(axis) else {
            return false;
        };
        let stride = stride.to_expr(index.dtype(), &|_| false);
        let mut facts = analyzer.clone();
        for (var, range) in &access.loops {
            facts.bind_iteration(var, range);
        }
        // What other axes add in larger steps does not mix with this one.
        for other in rest.to_expr(index.dtype(), &|_| false).free_vars() {
            if let Some((step, left)) = rest.split(&other)
                && !access.loops.iter().any(|(var, _)| *var == other)
                && facts.can_prove(&step.to_expr(index.dtype(), &|_| false).ge(&stride))
            {
                rest = left;
            }
        }
        let rest = rest.to_expr(index.dtype(), &|_| false);
        *common.get_or_insert_with(|| stride.clone()) == stride
            && facts.can_prove(&rest.ge(0))
            && facts.can_prove(&rest.lt(&stride))
    })
}
