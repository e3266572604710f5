//! Running past the end: a block that writes only memory of its thread or workgroup may also run for iterations past the
//! end of its tensors. What it computes there is never read, since every reader keeps to the shape of the buffer; its loads
//! from tensors are clamped. So a tile needs no branch in its inner loops: only conditions on reduce loops stay.

use super::nest::{Unblock, stored_below};
use super::node::{Node, map_exprs};
use super::storage::Home;
use crate::ir::{BlockId, Expr, ExprKind, Place, Var};
use crate::tensor::scalar::{BinOp, Intrin};

/// Clamps the loads of a block that may run past the end, and gives what of its predicate must stay.
pub(super) fn run_past_the_end(
    at: &Unblock<'_>,
    block: BlockId,
    nodes: &mut [Node],
    predicate: &Expr,
    reduce_vars: &[Var],
) -> Expr {
    let private = stored_below(at.func, Place::Block(block))
        .iter()
        .all(|b| at.homes.of(b) != Home::Device);
    if predicate.as_bool().is_some() || !private || !harmless(nodes) {
        return predicate.clone();
    }
    let (kept, dropped): (Vec<Expr>, Vec<Expr>) = predicate
        .conjuncts()
        .into_iter()
        .partition(|c| c.free_vars().iter().any(|v| reduce_vars.contains(v)));
    if !dropped.is_empty() {
        map_exprs(nodes, &mut |e| {
            e.rewrite_bottom_up(&mut |e| clamp_load(at, e))
        });
    }
    Expr::all(kept)
}

/// Whether nothing in the statements can fail or run forever for arbitrary values.
fn harmless(nodes: &[Node]) -> bool {
    nodes.iter().all(|node| {
        let looping = matches!(node, Node::While { .. });
        let fails = node.exprs().into_iter().any(may_fail);
        !looping && !fails && node.nested().into_iter().all(|n| harmless(n))
    })
}

/// Whether an expression can fail for some values of its operands, as an integer division can.
pub(super) fn may_fail(e: &Expr) -> bool {
    let mut fails = false;
    e.walk(&mut |e| {
        fails |= matches!(
            e.kind(),
            ExprKind::Binary(BinOp::Div | BinOp::Mod | BinOp::FloorDiv | BinOp::FloorMod, _, d)
                if !e.dtype().is_float() && d.as_int().is_none_or(|d| d == 0)
        ) || matches!(e.kind(), ExprKind::Call(Intrin::Pow, _));
        !fails
    });
    fails
}

fn clamp_load(at: &Unblock<'_>, e: &Expr) -> Expr {
    let ExprKind::Load(buffer, indices) = e.kind() else {
        return e.clone();
    };
    if at.homes.of(buffer) != Home::Device {
        return e.clone();
    }
    let clamp = |(index, extent): (&Expr, &Expr)| {
        let mut index = index.clone();
        let extent = at.index(extent);
        if !at.analyzer.can_prove(&index.lt(&extent)) {
            let last = at.analyzer.simplify(&(extent - 1));
            index = index.min(last);
        }
        if at.analyzer.bound(&index).min < 0 {
            index = index.max(Expr::int(0, index.dtype()));
        }
        index
    };
    let clamped: Vec<Expr> = indices.iter().zip(buffer.shape()).map(clamp).collect();
    if clamped == *indices {
        return e.clone();
    }
    Expr::load(buffer, clamped)
}
