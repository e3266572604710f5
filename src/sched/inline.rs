//! What inlining in both directions shares: the store that is a block's whole body, and the signatures of changed blocks.

use crate::arith::access_regions;
use crate::ir::{BlockId, Buffer, BufferRegion, Expr, ExprKind, Place, PrimFunc, Stmt};

/// The body of a block that is one store.
#[derive(Clone)]
pub(super) struct Store {
    pub(super) buffer: Buffer,
    pub(super) indices: Vec<Expr>,
    pub(super) value: Expr,
}

/// The store that is the whole body of a block.
pub(super) fn only_store(func: &PrimFunc, block: BlockId) -> Option<Store> {
    match func.tree.body(block) {
        [
            Stmt::Store {
                buffer,
                indices,
                value,
            },
        ] => Some(Store {
            buffer: buffer.clone(),
            indices: indices.clone(),
            value: value.clone(),
        }),
        _ => None,
    }
}

/// The indices of all loads of a buffer in an expression.
pub(super) fn loads_of(expr: &Expr, buffer: &Buffer) -> Vec<Vec<Expr>> {
    let mut out = Vec::new();
    expr.walk(&mut |e| {
        if let ExprKind::Load(b, indices) = e.kind()
            && b == buffer
        {
            out.push(indices.clone());
        }
        true
    });
    out
}

/// Whether a block below the scope views the buffer under another name.
pub(super) fn is_viewed(func: &PrimFunc, scope: BlockId, buffer: &Buffer) -> bool {
    func.blocks_under(scope.into())
        .into_iter()
        .flat_map(|id| &func.blocks[id].match_buffers)
        .any(|m| m.source.buffer == *buffer)
}

/// Drops the buffer from the scope, and looks anew at what the blocks below that named it read and write. Reads keep their
/// order, with those of `instead` in place of the buffer; new ones come last.
pub(super) fn drop_buffer(
    func: &mut PrimFunc,
    scope: BlockId,
    buffer: &Buffer,
    instead: &[Buffer],
) {
    func.blocks[scope].alloc_buffers.retain(|b| b != buffer);
    let mut blocks = func.blocks_under(Place::Block(scope));
    blocks.retain(|&id| id != scope);
    // Inner blocks first: outer ones look at what inner ones declare.
    for id in blocks.into_iter().rev() {
        let node = &func.blocks[id];
        let named = |r: &BufferRegion| r.buffer == *buffer;
        if !node.reads.iter().any(named) && !node.writes.iter().any(named) {
            continue;
        }
        let mut order: Vec<Buffer> = Vec::new();
        for read in &node.reads {
            if named(read) {
                order.extend_from_slice(instead);
            } else {
                order.push(read.buffer.clone());
            }
        }
        let mut access = access_regions(func, id);
        let rank = |r: &BufferRegion| order.iter().position(|b| *b == r.buffer);
        access.reads.sort_by_key(|r| rank(r).unwrap_or(usize::MAX));
        let node = &mut func.blocks[id];
        node.reads = access.reads;
        node.writes = access.writes;
    }
}
