//! `break` out of loops that are bound to the launch. Only an order of the iterations says which of them come before the one that
//! ends the loop, so they run in that order, as iterations of a serial loop.

use std::borrow::Cow;

use crate::ir::{
    AttrValue, ExprKind, External, Jump, LoopId, LoopKind, Place, PrimFunc, Stmt, attrs,
};

/// The function without loops of the launch that a `break` ends. What is no more bound to the launch then runs in one thread.
/// Threads that meet must all go on together, so their loops stay.
pub(super) fn in_order(func: &PrimFunc) -> Cow<'_, PrimFunc> {
    let ended = |id: &LoopId| {
        let l = &func.loops[*id];
        matches!(l.kind, LoopKind::ThreadBinding(_))
            && !l.extent.is_one()
            && func.jump_out(func.tree.body(*id)) == Some(Jump::Break)
            && !meets(func, (*id).into())
    };
    let mut ids = vec![];
    func.tree.walk(func.root.into(), &mut |place| {
        if let Place::Loop(id) = place {
            ids.push(id);
        }
    });
    ids.retain(ended);
    if ids.is_empty() {
        return Cow::Borrowed(func);
    }
    let mut func = func.clone();
    for id in &ids {
        func.loops[*id].kind = LoopKind::Serial;
    }
    for id in ids {
        let mut top = Place::Loop(id);
        while let Some(parent) = func.tree.parent(top)
            && parent != func.root.into()
        {
            top = parent;
        }
        let mut bound = false;
        func.tree.walk(top, &mut |place| {
            bound |= matches!(place, Place::Loop(id) if func.loops[id].kind.is_of_launch());
        });
        if !bound {
            let name = attrs::ONE_THREAD.to_owned();
            match top {
                Place::Loop(id) => &mut func.loops[id].annotations,
                Place::Block(id) => &mut func.blocks[id].annotations,
            }
            .insert(name, AttrValue::Bool(true));
        }
    }
    Cow::Owned(func)
}

/// Whether threads meet below a place: at a barrier, or in memory of the workgroup.
fn meets(func: &PrimFunc, place: Place) -> bool {
    fn in_stmt(stmt: &Stmt) -> bool {
        let mut found = matches!(stmt, Stmt::Store { buffer, .. } if buffer.scope().is_shared());
        for e in stmt.exprs() {
            e.walk(&mut |e| {
                found |= match e.kind() {
                    ExprKind::Load(buffer, _) => buffer.scope().is_shared(),
                    ExprKind::External(External::StorageSync, _) => true,
                    _ => false,
                };
                !found
            });
        }
        found || stmt.nested().into_iter().flatten().any(in_stmt)
    }
    let mut found = false;
    func.tree.walk(place, &mut |at| {
        found |= func.tree.body(at).iter().any(in_stmt);
    });
    found
}
