//! Sums over nothing: where a loop that counts terms may have none, its inits stand before it under that condition.

use super::LowerError;
use super::nest::Unblock;
use super::node::{Node, branch};
use crate::ir::{BlockId, Expr, InitNest, LoopId, LoopKind};

/// What runs before a loop if it has no iteration.
pub(super) fn inits_of_empty(at: &mut Unblock<'_>, id: LoopId) -> Result<Vec<Node>, LowerError> {
    let func = at.func;
    let is_launch =
        matches!(func.loops[id].kind, LoopKind::ThreadBinding(_)) && at.launch.is_some();
    let some = at.index(&func.loops[id].extent).ge(1);
    if is_launch || at.analyzer.can_prove(&some) {
        return Ok(vec![]);
    }
    let mut nodes = Vec::new();
    for (block, nest) in func.inits_of_empty(id) {
        nodes.extend(init(at, block, &nest, &nest.loops)?);
    }
    let none = at.analyzer.simplify(&some.not());
    Ok(if nodes.is_empty() {
        nodes
    } else {
        branch(none, nodes)
    })
}

fn init(
    at: &mut Unblock<'_>,
    block: BlockId,
    nest: &InitNest,
    loops: &[LoopId],
) -> Result<Vec<Node>, LowerError> {
    if let Some((&id, inner)) = loops.split_first() {
        return at.with_loop(id, |at, _| init(at, block, nest, inner));
    }
    let node = &at.func.blocks[block];
    at.enter_block(block)?;
    let is_first = |&iter: &usize| {
        let (value, first) = (&node.bindings[iter], &node.iters[iter].dom.min);
        at.index(value).equals(at.index(first))
    };
    let first = Expr::all(nest.first.iter().map(is_first));
    let cond = at.analyzer.simplify(&at.expr(&nest.predicate).and(first));
    let nodes = at.stmts(node.init.as_deref().unwrap_or_default())?;
    Ok(branch(cond, nodes))
}
