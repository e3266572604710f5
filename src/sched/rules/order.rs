//! Which statements at the root the rules may take apart, and which must run in the order that is written.
//!
//! Primitives look at blocks alone, and at each by itself. So a statement is left whole if something is stored outside of its
//! blocks, if one of its blocks touches what another one writes, if a loop repeats blocks that do not name it, or if iterations of a block may store to the
//! same elements: the last one counts.

use crate::ir::{BlockId, Buffer, Place, PrimFunc, Stmt};
use crate::sched::analysis::{runs_in_any_order, writes_elements_apart};

/// Why a statement at the root must run in the order that is written, if it must.
pub(super) fn ordered(func: &PrimFunc, stmt: &Stmt) -> Option<&'static str> {
    let place = match stmt {
        Stmt::Block(id) => return single(func, *id),
        Stmt::Loop(id) => Place::Loop(*id),
        _ => return Some("it stands under a condition"),
    };
    let blocks = func.child_blocks(place);
    if blocks.is_empty() || stores_outside_blocks(func, place) {
        return Some("it stores outside of blocks");
    }
    for (at, &block) in blocks.iter().enumerate() {
        if let Some(reason) = single(func, block) {
            return Some(reason);
        }
        let writes: Vec<&Buffer> = written(func, block).collect();
        let touches = |&other: &BlockId| {
            let reads = func.blocks[other].reads.iter().map(|r| &r.buffer);
            written(func, other)
                .chain(reads)
                .any(|b| writes.contains(&b))
        };
        let others = blocks.iter().enumerate().filter(|(i, _)| *i != at);
        if others.map(|(_, b)| b).any(touches) {
            return Some("its loops hold several blocks that depend on each other");
        }
    }
    None
}

/// Whether loops around a block repeat it, it ends them, or one of its iterations may undo what another one did.
fn single(func: &PrimFunc, block: BlockId) -> Option<&'static str> {
    if func.jump_out(func.tree.body(block)).is_some() {
        return Some("it leaves its loops early");
    }
    let repeats = |l: crate::ir::LoopId| {
        let l = &func.loops[l];
        !l.extent.is_one()
            && !func.blocks[block]
                .bindings
                .iter()
                .any(|binding| binding.uses(&l.var))
    };
    let loops = func.loops_above(block.into());
    if loops.into_iter().any(repeats) {
        return Some("a loop repeats it");
    }
    (!runs_in_any_order(func, block) && !writes_elements_apart(func, block))
        .then_some("its iterations may store to the same elements")
}

fn written(func: &PrimFunc, block: BlockId) -> impl Iterator<Item = &Buffer> {
    func.blocks[block].writes.iter().map(|w| &w.buffer)
}

fn stores_outside_blocks(func: &PrimFunc, place: Place) -> bool {
    fn stores(stmts: &[Stmt]) -> bool {
        stmts.iter().any(|stmt| {
            let here = matches!(
                stmt,
                Stmt::Store { .. }
                    | Stmt::While { .. }
                    | Stmt::Break
                    | Stmt::Continue
                    | Stmt::Return(_)
            );
            here || stmt.nested().into_iter().any(|inner| stores(inner))
        })
    }
    let Place::Loop(_) = place else {
        return false;
    };
    stores(func.tree.body(place))
        || func
            .tree
            .children(place)
            .into_iter()
            .any(|child| stores_outside_blocks(func, child))
}
