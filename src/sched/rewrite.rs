//! Rewrites below a place that several primitives share.

use crate::ir::{Expr, Place, PrimFunc};

/// Adds a condition to the direct child blocks below a place.
pub(crate) fn add_predicate_below(func: &mut PrimFunc, place: Place, predicate: &Expr) {
    for id in func.child_blocks(place) {
        let block = &mut func.blocks[id];
        block.predicate = block.predicate.and(predicate);
    }
}
