//! Extents of fragments: one for each buffer, and one for all fragments of a product.

use super::PrimFuncErrorKind;
use crate::ir::{FragmentCall, FragmentExtents, Place, PrimFunc, Stmt};

/// The calls on fragments that say something else than others, and the loops or blocks around them.
pub(super) fn different_extents(func: &PrimFunc) -> Vec<(Place, PrimFuncErrorKind)> {
    let extents = FragmentExtents::of_func(func);
    let of_buffers = extents.conflicts().iter().map(|(place, buffer, extents)| {
        let [first, other] = *extents;
        let name = buffer.name().to_owned();
        (
            *place,
            PrimFuncErrorKind::FragmentExtent { name, first, other },
        )
    });
    let mut found: Vec<_> = of_buffers.collect();
    func.tree.walk(func.root.into(), &mut |place| {
        for stmt in func.tree.body(place) {
            products(stmt, &extents, &mut |kind| found.push((place, kind)));
        }
    });
    found
}

/// Calls `refuse` for each product in a statement whose fragments differ in extent.
fn products(stmt: &Stmt, extents: &FragmentExtents, refuse: &mut dyn FnMut(PrimFuncErrorKind)) {
    if let Stmt::Evaluate(e) = stmt
        && let Some(FragmentCall::MultiplyAdd {
            result,
            a,
            b,
            addend,
        }) = e.as_fragment_call()
    {
        let tiles = [result, a, b, addend];
        let of_tiles = tiles.map(|tile| extents.of(tile.buffer));
        let known: Vec<i64> = of_tiles.into_iter().flatten().collect();
        if known.windows(2).any(|pair| pair[0] != pair[1]) {
            refuse(PrimFuncErrorKind::FragmentProduct { extents: of_tiles });
        }
    }
    let nested = stmt.nested().into_iter().flatten();
    nested.for_each(|stmt| products(stmt, extents, refuse));
}
