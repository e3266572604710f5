//! Loop partition: a serial loop whose body asks `i * c + r < n` becomes a main loop in which that always holds and a rest
//! that still asks. So a tile size that does not divide the extent costs nothing in the main loop. On the CPU, a rest that is one
//! partial tile runs element by element ([`tail`]), and a loop around others is not split for what the masks of vectors in them can
//! ask: its body stands once. On a GPU so does that of a loop in which threads meet.

use super::facts::Facts;
use super::host::Dims;
use super::node::{Node, substitute_nodes, walk_nodes};
use super::tail;
use super::wrapping_sum::WrappingSum;
use crate::ir::{Expr, LoopKind, Scope, Var};
use crate::tensor::scalar::BinOp;

/// Whether partial tiles may run element by element.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tails {
    Yes,
    No,
}

impl Tails {
    /// On a GPU each thread has one.
    pub(super) fn of(gpu: bool) -> Self {
        if gpu { Self::No } else { Self::Yes }
    }
}

/// The main loop and the rest, or nothing if no condition in the body is of that form.
#[expect(clippy::too_many_arguments, reason = "the parts of a loop")]
pub(super) fn partition(
    facts: &Facts,
    dims: &Dims,
    var: &Var,
    min: &Expr,
    extent: &Expr,
    kind: LoopKind,
    body: &[Node],
    tails: Tails,
) -> Option<Vec<Node>> {
    if !min.is_zero() {
        return None;
    }
    if tails == Tails::No && kind == LoopKind::Serial && are_steps_of_threads(body) {
        return None;
    }
    let limit = first_limit(facts, dims, var, body, tails, Decides::Host)
        .or_else(|| first_limit(facts, dims, var, body, tails, Decides::Loops))?;
    let analyzer = &facts.analyzer;
    let tail = match tails {
        Tails::Yes => tail::tail(facts, dims, var, extent, &limit.cond, body),
        Tails::No => None,
    };
    if tail.is_none() && limit.decides == Decides::Loops {
        return None;
    }
    let full = match &tail {
        Some(tail) => tail.tiles.clone(),
        None => analyzer.simplify(&limit.iterations.max(0).min(extent.clone())),
    };
    if full.is_zero() && tail.is_none() {
        return None;
    }
    let mut main = body.to_vec();
    drop_condition(&mut main, &limit.cond);
    let after = analyzer.simplify(&(extent - &full));
    let is_last = tails == Tails::Yes && analyzer.bound(&after).max <= 1;
    if kind == LoopKind::Parallel && tail.is_none() && is_last && !after.is_zero() {
        return Some(vec![with_last(var, extent, &full, main, body)]);
    }
    let mut out = Vec::new();
    if !full.is_zero() {
        out.push(loop_over(var, full.clone(), kind, &main));
    }
    if let Some(tail) = tail {
        out.extend(tail.rest);
        return Some(out);
    }
    let index = if is_last { full } else { var.expr() + full };
    if !after.is_zero() {
        let rest = substitute_nodes(body, var, &index);
        out.push(loop_over(var, after, LoopKind::Serial, &rest));
    }
    Some(out)
}

/// Whether threads of a workgroup take several steps in each iteration, and meet between them: a second copy would have barriers and
/// shared arrays of its own.
fn are_steps_of_threads(body: &[Node]) -> bool {
    let mut shares = false;
    walk_nodes(body, &mut |node| {
        if let Node::Store { buffer, .. } = node {
            shares |= *buffer.scope() == Scope::Shared;
        }
    });
    shares && body.len() > 1
}

/// A parallel loop whose last iteration alone is the rest. A loop of its own for it would use the same arrays of the thread, and loops
/// that share those are not spread (`codegen_common::host::segments`).
fn with_last(var: &Var, extent: &Expr, full: &Expr, main: Vec<Node>, body: &[Node]) -> Node {
    let branch = Node::If {
        cond: var.expr().lt(full),
        then: main,
        otherwise: substitute_nodes(body, var, full),
    };
    loop_over(var, extent.clone(), LoopKind::Parallel, &[branch])
}

/// A loop from 0 with a variable of its own in place of `var`.
fn loop_over(var: &Var, extent: Expr, kind: LoopKind, body: &[Node]) -> Node {
    let new = var.renamed(var.name());
    Node::For {
        body: substitute_nodes(body, var, &new.expr()),
        min: Expr::int(0, new.dtype()),
        var: new,
        extent,
        kind,
    }
}

struct Limit {
    decides: Decides,
    /// The condition, a conjunct of a branch in the body.
    cond: Expr,
    /// Number of first iterations in which it holds.
    iterations: Expr,
}

/// What decides how many iterations come first: dims alone, or loops around, too. Where loops do, a loop is partitioned only if its rest runs element
/// by element ([`tail`]).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Decides {
    Host,
    Loops,
}

fn first_limit(
    facts: &Facts,
    dims: &Dims,
    var: &Var,
    body: &[Node],
    tails: Tails,
    decides: Decides,
) -> Option<Limit> {
    let mut inner: Vec<(Var, Expr, Expr)> = Vec::new();
    let mut found = None;
    let masked = match tails {
        Tails::Yes => under_masks(body),
        Tails::No => vec![],
    };
    walk_nodes(body, &mut |node| match node {
        Node::For {
            var,
            min,
            extent,
            kind: _,
            body: _,
        } => inner.push((var.clone(), min.clone(), extent.clone())),
        Node::If {
            cond,
            then: _,
            otherwise,
        } if otherwise.is_empty() && found.is_none() => {
            let conjuncts = cond.conjuncts().into_iter();
            found = conjuncts
                .filter(|c| !masked.iter().any(|lane| counts_lanes(c, lane)))
                .filter_map(|c| limit(facts, dims, var, &inner, &c, tails))
                .find(|limit| limit.decides == decides);
        }
        Node::If { .. }
        | Node::Store { .. }
        | Node::Let { .. }
        | Node::While { .. }
        | Node::Fragment(_)
        | Node::Barrier(_) => {}
    });
    found
}

/// The variables of vectorized loops that can run for their first lanes alone, if there are loops around them in these statements.
fn under_masks(nodes: &[Node]) -> Vec<Var> {
    let (mut lanes, mut nested) = (Vec::new(), false);
    walk_nodes(nodes, &mut |node| {
        if let Node::For { var, kind, .. } = node {
            nested |= *kind == LoopKind::Serial;
            if tail::is_masked(node) {
                lanes.push(var.clone());
            }
        }
    });
    if nested { lanes } else { vec![] }
}

/// Whether the condition is `base + lane < n`.
fn counts_lanes(cond: &Expr, lane: &Var) -> bool {
    let Some((index, end)) = cond.as_binary(BinOp::Lt) else {
        return false;
    };
    let difference = WrappingSum::of(end).plus(&WrappingSum::of(index).join_div_mod(), -1);
    let stride = difference.split(lane).map(|(stride, _)| stride);
    stride.and_then(|stride| stride.as_const()) == Some(-1)
}

/// For `var * c + r < n`: the first iterations for which it holds whatever the inner loops do.
fn limit(
    facts: &Facts,
    dims: &Dims,
    var: &Var,
    inner: &[(Var, Expr, Expr)],
    cond: &Expr,
    tails: Tails,
) -> Option<Limit> {
    let (a, b) = cond.as_binary(BinOp::Lt)?;
    dims.host(b)?;
    let (stride, mut rest) = WrappingSum::of(a).join_div_mod().split(var)?;
    let stride = stride.as_const().filter(|s| *s > 0)?;
    for (v, min, extent) in inner {
        let (inner_stride, base) = rest.split(v)?;
        match inner_stride.as_const()? {
            0 => {}
            s if s > 0 => {
                let last = WrappingSum::of(&(min + extent - 1));
                rest = base.plus(&last, s);
            }
            s => rest = base.plus(&WrappingSum::of(min), s),
        }
    }
    let mut reach = rest.to_expr(a.dtype(), &|_| false);
    if tails == Tails::No {
        // What threads add may keep the last of them out of one iteration of the main loop, no more.
        let bound = facts.analyzer.bound(&reach);
        let spread = bound.max.checked_sub(bound.min);
        if !bound.is_finite() || spread.is_none_or(|spread| spread >= stride) {
            return None;
        }
        reach = Expr::int(bound.max, a.dtype());
    }
    // What the dims decide is taken to the other side.
    let left = facts.analyzer.simplify(&(b - reach));
    let decides = match dims.always_host(&left) {
        Some(_) => Decides::Host,
        None if tails == Tails::Yes && tail::is_bounded(facts, &left) => Decides::Loops,
        None => return None,
    };
    if left.nodes(MOST_NODES + 1) > MOST_NODES {
        return None;
    }
    // var * stride < left for all var < (left + stride - 1) // stride
    let iterations = (left + (stride - 1)).floor_div(stride);
    Some(Limit {
        decides,
        cond: cond.clone(),
        iterations: facts.analyzer.simplify(&iterations),
    })
}

/// Most nodes of the number of iterations of a main loop: parts of parts of loops have ever longer ends, each of which mentions the ends
/// before it several times.
const MOST_NODES: usize = 64;

/// Takes a condition, and others that only differ in what the inner loops add, out of all branches.
fn drop_condition(nodes: &mut Vec<Node>, known: &Expr) {
    let old = std::mem::take(nodes);
    for mut node in old {
        for inner in node.nested_mut() {
            drop_condition(inner, known);
        }
        match node {
            Node::If {
                cond,
                then,
                otherwise,
            } if otherwise.is_empty() => {
                let conditions = cond.conjuncts().into_iter();
                let left = Expr::all(conditions.filter(|c| c != known));
                nodes.extend(super::node::branch(left, then));
            }
            other => nodes.push(other),
        }
    }
}
