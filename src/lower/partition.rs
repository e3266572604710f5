//! Loop partition: a serial loop whose body asks `i * c + r < n` becomes a main loop in which that always holds and a rest
//! that still asks. So a tile size that does not divide the extent costs nothing in the main loop.

use super::host::Dims;
use super::node::{Node, walk_nodes};
use super::poly::Poly;
use super::prove::Prover;
use crate::ir::{Expr, LoopKind, Var};
use crate::tensor::scalar::BinOp;

/// The main loop and the rest, or nothing if no condition in the body is of that form.
pub(super) fn partition(
    prover: &Prover,
    dims: &Dims,
    var: &Var,
    min: &Expr,
    extent: &Expr,
    kind: LoopKind,
    body: &[Node],
) -> Option<Vec<Node>> {
    if !min.is_zero() {
        return None;
    }
    let limit = first_limit(prover, dims, var, body)?;
    let analyzer = &prover.analyzer;
    let main_extent = analyzer.simplify(&limit.iterations.max(0).min(extent.clone()));
    if main_extent.is_zero() {
        return None;
    }
    let rest_extent = analyzer.simplify(&(extent - &main_extent));
    let mut main = body.to_vec();
    drop_condition(&mut main, &limit.cond);
    let rest = super::node::substitute_nodes(body, var, &(var.expr() + &main_extent));
    let rest_kind = LoopKind::Serial;
    let node = |extent: Expr, kind, body| Node::For {
        var: var.renamed(var.name()),
        min: min.clone(),
        extent,
        kind,
        body,
    };
    let rebound = |n: Node| match n {
        Node::For {
            var: new,
            min,
            extent,
            kind,
            body,
        } => Node::For {
            body: super::node::substitute_nodes(&body, var, &new.expr()),
            var: new,
            min,
            extent,
            kind,
        },
        other => other,
    };
    let mut out = vec![rebound(node(main_extent, kind, main))];
    if !rest_extent.is_zero() {
        out.push(rebound(node(rest_extent, rest_kind, rest)));
    }
    Some(out)
}

struct Limit {
    /// The condition, a conjunct of a branch in the body.
    cond: Expr,
    /// Number of first iterations in which it holds.
    iterations: Expr,
}

fn first_limit(prover: &Prover, dims: &Dims, var: &Var, body: &[Node]) -> Option<Limit> {
    let mut inner: Vec<(Var, Expr, Expr)> = Vec::new();
    let mut found = None;
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
            found = cond
                .conjuncts()
                .iter()
                .find_map(|c| limit(prover, dims, var, &inner, c));
        }
        Node::If { .. } | Node::Store { .. } | Node::Let { .. } | Node::While { .. } => {}
    });
    found
}

/// For `var * c + r < n`: the first iterations for which it holds whatever the inner loops do.
fn limit(
    prover: &Prover,
    dims: &Dims,
    var: &Var,
    inner: &[(Var, Expr, Expr)],
    cond: &Expr,
) -> Option<Limit> {
    let (a, b) = cond.as_binary(BinOp::Lt)?;
    dims.host(b)?;
    let (stride, mut rest) = Poly::of(a).join_div_mod().split(var)?;
    let stride = stride.as_const().filter(|s| *s > 0)?;
    for (v, min, extent) in inner {
        let (inner_stride, base) = rest.split(v)?;
        match inner_stride.as_const()? {
            0 => {}
            s if s > 0 => {
                let last = Poly::of(&(min + extent - 1));
                rest = base.plus(&last, s);
            }
            s => rest = base.plus(&Poly::of(min), s),
        }
    }
    let reach = rest.as_const().or_else(|| {
        let e = rest.to_expr(a.dtype(), &|_| false);
        let bound = prover.analyzer.bound(&e);
        (bound.is_finite() && bound.min == bound.max).then_some(bound.max)
    })?;
    // var * stride + reach < b for all var < (b - reach + stride - 1) // stride
    let iterations = (b - reach + (stride - 1)).floor_div(stride);
    Some(Limit {
        cond: cond.clone(),
        iterations: prover.analyzer.simplify(&iterations),
    })
}

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
