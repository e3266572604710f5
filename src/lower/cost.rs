//! Estimates of what a nest costs: floating-point operations, for reports and for choosing what to measure.

use super::host::Dims;
use super::nest::Nest;
use super::node::Node;
use crate::ir::{Expr, ExprKind};
use crate::kernel::HostExpr;
use crate::tensor::scalar::BinOp;

/// Floating-point operations of a nest in terms of the dims; branches count as taken.
pub(super) fn flops(nest: &Nest, dims: &Dims) -> HostExpr {
    let launch = nest.axes.values().fold(HostExpr::Const(1), |n, axis| {
        product(n, extent(&axis.extent, dims))
    });
    product(launch, of_nodes(&nest.body, dims))
}

/// An extent that depends on other loops counts as one iteration.
fn extent(e: &Expr, dims: &Dims) -> HostExpr {
    dims.host(e).unwrap_or(HostExpr::Const(1))
}

fn product(a: HostExpr, b: HostExpr) -> HostExpr {
    match (a.as_const(), b.as_const()) {
        (Some(0), _) | (_, Some(0)) => HostExpr::Const(0),
        (Some(1), _) => b,
        (_, Some(1)) => a,
        _ => HostExpr::binary(BinOp::Mul, a, b),
    }
}

fn sum(a: HostExpr, b: HostExpr) -> HostExpr {
    match (a.as_const(), b.as_const()) {
        (Some(0), _) => b,
        (_, Some(0)) => a,
        _ => HostExpr::binary(BinOp::Add, a, b),
    }
}

fn of_nodes(nodes: &[Node], dims: &Dims) -> HostExpr {
    nodes.iter().fold(HostExpr::Const(0), |total, node| {
        let own: i64 = node.exprs().into_iter().map(of_expr).sum();
        let inner = node
            .nested()
            .into_iter()
            .fold(HostExpr::Const(own), |n, body| sum(n, of_nodes(body, dims)));
        let count = match node {
            Node::For {
                var: _,
                min: _,
                extent: e,
                kind: _,
                body: _,
            } => product(extent(e, dims), inner),
            Node::Store { .. } | Node::Let { .. } | Node::If { .. } | Node::While { .. } => inner,
        };
        sum(total, count)
    })
}

fn of_expr(e: &Expr) -> i64 {
    let mut count = 0;
    e.walk(&mut |e| {
        count += match e.kind() {
            ExprKind::Binary(_, a, _) if a.dtype().is_float() => 1,
            ExprKind::Call(_, _) if e.dtype().is_float() => 1,
            _ => 0,
        };
        true
    });
    count
}
