//! Loads that are the same in every iteration of a loop are made once, before it: a value of the whole workgroup, as the
//! maximum of a row, is read from shared memory once and not in each iteration. Only loads at constant indices move: those are
//! in range even if the loop runs not at all.

use crate::kernel::{Array, ArrayId, Expr, Space, Stmt, Ty, VarId, VarInfo};
use crate::support::Arena;

/// Moves the loads out of all loops of a body.
pub(super) fn hoist_loads(
    arrays: &Arena<ArrayId, Array>,
    vars: &mut Arena<VarId, VarInfo>,
    body: Vec<Stmt>,
) -> Vec<Stmt> {
    let mut out = Vec::new();
    for mut stmt in body {
        if let Stmt::For { .. } = stmt {
            out.extend(out_of_loop(arrays, vars, &mut stmt));
        }
        stmt.map_nested(&mut |body| hoist_loads(arrays, vars, body));
        out.push(stmt);
    }
    out
}

/// A load of so many lanes at a constant index.
type Place = (ArrayId, i64, u16);

fn place(e: &Expr) -> Option<Place> {
    let Expr::Load {
        array,
        index,
        lanes,
        active: None,
    } = e
    else {
        return None;
    };
    match **index {
        Expr::Int(at, _) => Some((*array, at, *lanes)),
        _ => None,
    }
}

/// What is loaded before a loop, which then uses it.
fn out_of_loop(
    arrays: &Arena<ArrayId, Array>,
    vars: &mut Arena<VarId, VarInfo>,
    stmt: &mut Stmt,
) -> Vec<Stmt> {
    let mut loads: Vec<(Place, VarId)> = Vec::new();
    let mut stored = Vec::new();
    let mut found = Vec::new();
    stmt.walk(&mut |s| {
        stored.extend(s.written());
    });
    stmt.walk_exprs(&mut |e| found.extend(place(e)));
    for at @ (array, _, lanes) in found {
        let info = &arrays[array];
        let known = loads.iter().any(|(other, _)| *other == at);
        if known || info.space != Space::Shared || stored.contains(&array) {
            continue;
        }
        let var = vars.push(VarInfo {
            name: info.name.clone(),
            ty: Ty {
                scalar: info.dtype,
                lanes,
            },
        });
        loads.push((at, var));
    }
    let replace = &mut |e: &Expr| {
        e.rewrite(&mut |e| {
            let at = place(e)?;
            let known = loads.iter().find(|(other, _)| *other == at)?;
            Some(Expr::Var(known.1))
        })
    };
    stmt.map_exprs(replace);
    let lets = loads.into_iter().map(|((array, at, lanes), var)| {
        let index = Box::new(Expr::Int(at, crate::tensor::ScalarType::I32));
        Stmt::Let(
            var,
            Expr::Load {
                array,
                index,
                lanes,
                active: None,
            },
        )
    });
    lets.collect()
}
