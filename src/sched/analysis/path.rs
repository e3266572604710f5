//! The loops between a block and a place above it: their domains, and block iter variables in terms of them.

use crate::arith::{Analyzer, IntSet};
use crate::ir::{BlockId, LoopId, LoopKind, Place, PrimFunc, Range, Scope, Var};
use crate::sched::affine::shape_facts;

/// The loops above `item` up to and without `above`, innermost first; they may pass blocks.
pub fn loops_between(func: &PrimFunc, item: Place, above: Place) -> Vec<LoopId> {
    let mut loops = Vec::new();
    let mut at = func.tree.parent(item);
    while let Some(place) = at
        && place != above
    {
        if let Place::Loop(id) = place {
            loops.push(id);
        }
        at = func.tree.parent(place);
    }
    loops
}

/// What is known where `item` runs: symbolic dimensions are at least 0, and the loops above and including `item`, and the iter
/// variables of the blocks between, are in their domains.
pub fn facts_at(func: &PrimFunc, item: Place) -> Analyzer {
    let mut analyzer = shape_facts(func);
    let mut path = vec![];
    let mut at = Some(item);
    while let Some(place) = at {
        path.push(place);
        at = func.tree.parent(place);
    }
    for place in path.into_iter().rev() {
        match place {
            Place::Loop(id) => {
                let l = &func.loops[id];
                let (min, extent) = (l.min.clone(), l.extent.clone());
                analyzer.bind_iteration(&l.var, &Range { min, extent });
            }
            Place::Block(id) if place != item => {
                for iter in &func.blocks[id].iters {
                    analyzer.bind_iteration(&iter.var, &iter.dom);
                }
            }
            Place::Block(_) => {}
        }
    }
    analyzer
}

/// What is known inside of a block, up to the next blocks: also that its predicate holds, and that its iter variables and loops
/// are in their domains.
pub fn facts_inside(func: &PrimFunc, block: BlockId) -> Analyzer {
    let mut facts = facts_at(func, block.into());
    facts.assume(&func.blocks[block].predicate);
    for iter in &func.blocks[block].iters {
        facts.bind(&iter.var, &iter.dom);
    }
    let mut places = vec![Place::Block(block)];
    while let Some(place) = places.pop() {
        for child in func.tree.children(place) {
            if let Place::Loop(id) = child {
                let l = &func.loops[id];
                let (min, extent) = (l.min.clone(), l.extent.clone());
                facts.bind(&l.var, &Range { min, extent });
                places.push(child);
            }
        }
    }
    facts
}

/// The loops that run while one instance of `above` does, as domains of their variables: those between `item` and `above`, and,
/// for memory that several threads share, the thread-bound loops further up whose threads see the same memory.
pub fn relaxed_domains(
    func: &PrimFunc,
    item: Place,
    above: Place,
    memory: &Scope,
) -> Vec<(Var, IntSet)> {
    let mut loops = loops_between(func, item, above);
    if *memory != Scope::Global {
        let mut at = Some(above);
        while let Some(place) = at {
            if let Place::Loop(id) = place
                && let LoopKind::ThreadBinding(axis) = func.loops[id].kind
                && !is_private(memory, axis)
            {
                loops.push(id);
            }
            at = func.tree.parent(place);
        }
    }
    loops
        .into_iter()
        .map(|id| {
            let l = &func.loops[id];
            let (min, extent) = (l.min.clone(), l.extent.clone());
            (l.var.clone(), IntSet::from_range(&Range { min, extent }))
        })
        .collect()
}

/// Whether each thread (or workgroup) along the axis has memory of this scope for itself.
pub fn is_private(memory: &Scope, axis: crate::ir::ThreadAxis) -> bool {
    match memory {
        Scope::Global => false,
        Scope::Shared => axis.is_block(),
        Scope::Local => true,
        Scope::Other(name) => !name.starts_with("shared") || axis.is_block(),
    }
}

/// Whether two places of one scope are below a common loop, so that iterations of it run them by turns.
pub fn share_a_loop(func: &PrimFunc, a: Place, b: Place) -> bool {
    let loops = func.loops_above(a);
    let top = loops.first().copied().map(Place::Loop);
    let top = top.or(match a {
        Place::Loop(_) => Some(a),
        Place::Block(_) => None,
    });
    top.is_some_and(|top| func.tree.is_ancestor(top, b))
}
