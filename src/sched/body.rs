//! Rewrites of what one block executes itself, and of where statements stand.

use super::{Reason, Refusal};
use crate::ir::{BlockId, Expr, Loop, Place, PrimFunc, Stmt};

/// Rewrites every expression and store that the block executes itself: its init, its body, and the loops below up to the next
/// blocks, whose bindings and predicates count as its own. `store` gets each store with its expressions already rewritten.
pub(crate) fn rewrite_own(
    func: &mut PrimFunc,
    block: BlockId,
    expr: &mut dyn FnMut(&Expr) -> Expr,
    store: &mut dyn FnMut(Stmt) -> Stmt,
) {
    let mut own = |stmts: &[Stmt]| -> Vec<Stmt> {
        let stmts: Vec<Stmt> = stmts.iter().map(|s| s.map(expr)).collect();
        map_stores(stmts, store)
    };
    if let Some(init) = func.blocks[block].init.take() {
        func.blocks[block].init = Some(own(&init));
    }
    let mut places = vec![Place::Block(block)];
    let (mut loops, mut nested) = (Vec::new(), Vec::new());
    let of_init = func.blocks[block].init.iter().flatten();
    let of_init: Vec<Place> = of_init.flat_map(Stmt::places).collect();
    let mut sort = |children: Vec<Place>, places: &mut Vec<Place>| {
        for child in children {
            match child {
                Place::Loop(id) => {
                    places.push(child);
                    loops.push(id);
                }
                Place::Block(id) => nested.push(id),
            }
        }
    };
    sort(of_init, &mut places);
    while let Some(place) = places.pop() {
        sort(func.tree.children(place), &mut places);
        let body = func.tree.take_body(place);
        let body = own(&body);
        func.tree.set_body(place, body);
    }
    for id in loops {
        let l = &mut func.loops[id];
        l.min = expr(&l.min);
        l.extent = expr(&l.extent);
    }
    for id in nested {
        let node = &mut func.blocks[id];
        node.predicate = expr(&node.predicate);
        for binding in &mut node.bindings {
            *binding = expr(binding);
        }
    }
}

fn map_stores(stmts: Vec<Stmt>, f: &mut dyn FnMut(Stmt) -> Stmt) -> Vec<Stmt> {
    let map = |mut stmt: Stmt| {
        if matches!(stmt, Stmt::Store { .. }) {
            return f(stmt);
        }
        for inner in stmt.nested_mut() {
            *inner = map_stores(std::mem::take(inner), f);
        }
        stmt
    };
    stmts.into_iter().map(map).collect()
}

/// Index of the statement of `place` that is or holds `item`.
pub(crate) fn position_of(func: &PrimFunc, place: Place, item: Place) -> Option<usize> {
    fn holds(stmt: &Stmt, child: Place) -> bool {
        match stmt {
            Stmt::Loop(id) => child == Place::Loop(*id),
            Stmt::Block(id) => child == Place::Block(*id),
            other => other
                .nested()
                .into_iter()
                .flatten()
                .any(|inner| holds(inner, child)),
        }
    }
    let mut child = item;
    while let parent = func.tree.parent(child)?
        && parent != place
    {
        child = parent;
    }
    func.tree
        .body(place)
        .iter()
        .position(|stmt| holds(stmt, child))
}

/// New loops around a statement, outermost first. Gives the outermost statement.
pub(crate) fn nest(func: &mut PrimFunc, loops: Vec<Loop>, inner: Stmt) -> Stmt {
    loops.into_iter().rev().fold(inner, |stmt, l| {
        let id = func.loops.push(l);
        func.tree.set_body(id, vec![stmt]);
        Stmt::Loop(id)
    })
}

/// Puts a statement before the one at `position` in the body of a place.
pub(crate) fn insert_at(func: &mut PrimFunc, place: Place, position: usize, stmt: Stmt) {
    let mut body = func.tree.take_body(place);
    body.insert(position, stmt);
    func.tree.set_body(place, body);
}

/// The highest place that can go when the block goes: the loops above that hold nothing else go with it.
///
/// # Errors
/// TVM: `OnlyLeafError`, if nothing else is in the scope.
pub(crate) fn removal_of(func: &PrimFunc, block: BlockId) -> Result<Place, Refusal> {
    let mut item = Place::Block(block);
    while let Some(parent) = func.tree.parent(item) {
        if func.tree.body(parent).len() > 1 {
            return Ok(item);
        }
        if matches!(parent, Place::Block(_)) {
            break;
        }
        item = parent;
    }
    let name = func.blocks[block].name.clone();
    Err(Reason::OnlyLeaf { block: name }.at([block.into()]))
}

/// Takes a place out of the function, and the loops and blocks in it out of the arenas, except `keep`, which is left detached.
pub(crate) fn remove_place(func: &mut PrimFunc, place: Place, keep: Option<BlockId>) {
    func.tree.detach(place);
    if let Some(keep) = keep {
        if place == Place::Block(keep) {
            return;
        }
        func.tree.detach(keep);
    }
    remove_detached(func, place);
}

/// Takes a detached place, and the loops and blocks in it, out of the arenas.
pub(crate) fn remove_detached(func: &mut PrimFunc, place: Place) {
    let mut below = Vec::new();
    func.tree.walk(place, &mut |p| below.push(p));
    for place in below {
        match place {
            Place::Loop(id) => {
                func.loops.remove(id);
            }
            Place::Block(id) => {
                func.blocks.remove(id);
            }
        }
    }
}
