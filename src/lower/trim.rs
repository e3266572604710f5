//! Loops that end with what they do: `for i in 0 .. e: if i * c + r < n { .. }` becomes `for i in 0 .. min(e, (n - r) // c)`, rounded
//! up, and a condition that an iteration does not decide stands outside of the loop. The body stays one, without branches, where
//! `partition` would write it down once for the iterations that need none.
//!
//! Reference: Halide's `trim_no_ops`.

use super::node::{Node, branch};
use super::wrapping_sum::WrappingSum;
use crate::arith::Analyzer;
use crate::ir::{Expr, ExprKind, LoopKind, Var};
use crate::tensor::scalar::BinOp;

/// The statements with their loops trimmed.
pub(super) fn trim(nodes: Vec<Node>, known: &Analyzer) -> Vec<Node> {
    let trimmed = nodes.into_iter().flat_map(|node| trimmed(node, known));
    trimmed.collect()
}

fn trimmed(mut node: Node, known: &Analyzer) -> Vec<Node> {
    for inner in node.nested_mut() {
        *inner = trim(std::mem::take(inner), known);
    }
    let Node::For {
        var,
        min,
        extent,
        kind: kind @ (LoopKind::Serial | LoopKind::Unrolled | LoopKind::Vectorized),
        body,
    } = &mut node
    else {
        return vec![node];
    };
    let [
        Node::If {
            cond,
            then,
            otherwise,
        },
    ] = body.as_mut_slice()
    else {
        return vec![node];
    };
    if !otherwise.is_empty() {
        return vec![node];
    }
    let (mut outside, mut inside) = (Expr::bool(true), Expr::bool(true));
    for c in cond.conjuncts() {
        if has_load(&c) {
            inside = inside.and(c);
        } else if !c.uses(var) {
            outside = outside.and(c);
        } else if let Some(end) = end(&c, var).filter(|_| *kind == LoopKind::Serial) {
            *extent = known.simplify(&extent.clone().min(end - &*min));
        } else {
            inside = inside.and(c);
        }
    }
    *body = branch(inside, std::mem::take(then));
    branch(outside, vec![node])
}

/// Memory may be another one by the time that a condition stands elsewhere.
fn has_load(e: &Expr) -> bool {
    let mut found = false;
    e.walk(&mut |e| {
        found |= matches!(e.kind(), ExprKind::Load(..));
        !found
    });
    found
}

/// The first iteration for which `var * c + r < n` does not hold; none of those after it does.
fn end(cond: &Expr, var: &Var) -> Option<Expr> {
    let (index, n) = cond.as_binary(BinOp::Lt)?;
    let difference = WrappingSum::of(n).plus(&WrappingSum::of(index).join_div_mod(), -1);
    let (stride, left) = difference.split(var)?;
    let stride = stride.as_const()?.checked_neg().filter(|s| *s > 0)?;
    let left = left.to_expr(index.dtype(), &|_| false);
    Some((left + (stride - 1)).floor_div(stride))
}
