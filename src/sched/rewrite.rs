//! Rewrites below a place that several primitives share.

use crate::ir::{Block, Expr, MatchBuffer, Place, PrimFunc, Range, Stmt, Var};

/// Replaces variables in everything below and including a place: loop bounds, bindings, predicates, regions, statements.
pub(crate) fn substitute_below(
    func: &mut PrimFunc,
    place: Place,
    map: &dyn Fn(&Var) -> Option<Expr>,
) {
    map_exprs_below(func, place, &mut |e| e.substitute(map));
}

/// Applies `f` to every expression below and including a place.
pub(crate) fn map_exprs_below(func: &mut PrimFunc, place: Place, f: &mut dyn FnMut(&Expr) -> Expr) {
    let mut places = Vec::new();
    func.tree.walk(place, &mut |p| places.push(p));
    for place in places {
        match place {
            Place::Loop(id) => {
                let l = &mut func.loops[id];
                l.min = f(&l.min);
                l.extent = f(&l.extent);
            }
            Place::Block(id) => {
                map_block_exprs(&mut func.blocks[id], f);
            }
        }
        let body = func.tree.take_body(place);
        let body: Vec<Stmt> = body.iter().map(|s| s.map_exprs(f)).collect();
        func.tree.set_body(place, body);
    }
}

fn map_block_exprs(block: &mut Block, f: &mut dyn FnMut(&Expr) -> Expr) {
    fn map_range(range: &mut Range, f: &mut dyn FnMut(&Expr) -> Expr) {
        range.min = f(&range.min);
        range.extent = f(&range.extent);
    }
    for iter in &mut block.iters {
        map_range(&mut iter.dom, f);
    }
    for binding in &mut block.bindings {
        *binding = f(binding);
    }
    block.predicate = f(&block.predicate);
    let sources = block
        .match_buffers
        .iter_mut()
        .map(|MatchBuffer { buffer: _, source }| source);
    for region in block
        .reads
        .iter_mut()
        .chain(&mut block.writes)
        .chain(sources)
    {
        for range in &mut region.region {
            map_range(range, f);
        }
    }
    if let Some(init) = &mut block.init {
        *init = init.iter().map(|s| s.map_exprs(f)).collect();
    }
}

/// Adds a condition to the direct child blocks below a place.
pub(crate) fn add_predicate_below(func: &mut PrimFunc, place: Place, predicate: &Expr) {
    for id in func.child_blocks(place) {
        let block = &mut func.blocks[id];
        block.predicate = block.predicate.and(predicate);
    }
}
