//! Copies of parts of a function beside the original.

use crate::ir::{Place, PrimFunc, Stmt, Substitution};

/// Copies statements with all loops and blocks in them, detached and under a substitution, which says whether they define
/// variables and buffers of their own.
pub(super) fn copy_stmts(
    func: &mut PrimFunc,
    stmts: &[Stmt],
    substitution: &mut Substitution<'_>,
) -> Vec<Stmt> {
    let copies = copy_tree(func, stmts);
    let mut out = Vec::with_capacity(copies.len());
    for stmt in copies {
        let stmt = stmt.map(substitution);
        for place in stmt.places() {
            func.map_below(place, substitution);
        }
        out.push(stmt);
    }
    out
}

/// The same with the old variables.
fn copy_tree(func: &mut PrimFunc, stmts: &[Stmt]) -> Vec<Stmt> {
    let mut out = Vec::with_capacity(stmts.len());
    for stmt in stmts {
        out.push(match stmt {
            Stmt::Loop(id) => {
                let new = func.loops.push(func.loops[*id].clone());
                copy_body(func, (*id).into(), new.into());
                Stmt::Loop(new)
            }
            Stmt::Block(id) => {
                let mut node = func.blocks[*id].clone();
                node.init = node.init.map(|init| copy_tree(func, &init));
                let new = func.blocks.push(node);
                copy_body(func, (*id).into(), new.into());
                Stmt::Block(new)
            }
            other => {
                let mut other = other.clone();
                for nested in other.nested_mut() {
                    *nested = copy_tree(func, nested);
                }
                other
            }
        });
    }
    out
}

fn copy_body(func: &mut PrimFunc, from: Place, to: Place) {
    let body = func.tree.body(from).to_vec();
    let body = copy_tree(func, &body);
    func.tree.set_body(to, body);
}
