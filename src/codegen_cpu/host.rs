//! Segments of a kernel, which run one after the other, and the number of iterations of a parallel one, for the host to compute
//! before a launch.

use std::collections::BTreeSet;

use crate::kernel::{ArrayId, Expr, ForKind, HostExpr, Kernel, Space, Stmt, VarId};

/// The kernel as pieces that are functions of their own: each parallel loop at its top, and what is between them. `let`s at the
/// top are repeated in each. One piece, if pieces would share local memory.
pub(super) fn segments(kernel: &Kernel) -> Vec<Kernel> {
    let whole = || vec![kernel.clone()];
    let piece = |lets: &[Stmt], body: &[Stmt]| Kernel {
        body: [lets, body].concat(),
        ..kernel.clone()
    };
    let mut lets: Vec<Stmt> = Vec::new();
    let mut serial: Vec<Stmt> = Vec::new();
    let mut pieces = Vec::new();
    for stmt in &kernel.body {
        match stmt {
            Stmt::Let(_, value) if !value.loads() => lets.push(stmt.clone()),
            Stmt::Let(_, _) => return whole(),
            Stmt::For {
                var: _,
                min: _,
                extent: _,
                kind: ForKind::Parallel,
                body: _,
            } => {
                if !serial.is_empty() {
                    pieces.push(piece(&lets, &std::mem::take(&mut serial)));
                }
                pieces.push(piece(&lets, std::slice::from_ref(stmt)));
            }
            other => serial.push(other.clone()),
        }
    }
    if !serial.is_empty() || pieces.is_empty() {
        pieces.push(piece(&lets, &serial));
    }
    let mut used = BTreeSet::new();
    let shares = pieces.iter().any(|p| {
        let own = local_arrays(p);
        let shares = own.iter().any(|array| used.contains(array));
        used.extend(own);
        shares
    });
    if shares { whole() } else { pieces }
}

/// The local arrays that a kernel uses.
fn local_arrays(kernel: &Kernel) -> BTreeSet<ArrayId> {
    let mut used = BTreeSet::new();
    for stmt in &kernel.body {
        stmt.walk(&mut |stmt| {
            if let Stmt::Store { array, .. } = stmt {
                used.insert(*array);
            }
        });
        stmt.walk_exprs(&mut |e| {
            if let Expr::Load { array, .. } = e {
                used.insert(*array);
            }
        });
    }
    let is_local = |array: &ArrayId| {
        let array = kernel.arrays.get(*array);
        array.is_some_and(|a| a.space == Space::Local)
    };
    used.retain(is_local);
    used
}

/// The parallel loop that is the whole body of the kernel, apart from `let`s before it, if the host can tell its extent.
pub(super) fn parallel_loop(kernel: &Kernel) -> Option<(&Stmt, HostExpr)> {
    let (last, lets) = kernel.body.split_last()?;
    let Stmt::For {
        var: _,
        min: _,
        extent,
        kind: ForKind::Parallel,
        body: _,
    } = last
    else {
        return None;
    };
    lets.iter()
        .all(|s| matches!(s, Stmt::Let(_, _)))
        .then(|| host_expr(kernel, extent))?
        .map(|extent| (last, extent))
}

/// The value of an integer expression of scalars that the kernel takes, in terms of the dims.
fn host_expr(kernel: &Kernel, e: &Expr) -> Option<HostExpr> {
    match e {
        Expr::Int(value, _) => Some(HostExpr::Const(*value)),
        Expr::Var(var) => variable(kernel, *var),
        Expr::Cast(ty, a) if ty.scalar.is_int() && ty.lanes == 1 => host_expr(kernel, a),
        Expr::Binary(op, a, b) if !op.is_logical() => Some(HostExpr::binary(
            *op,
            host_expr(kernel, a)?,
            host_expr(kernel, b)?,
        )),
        Expr::Select(c, a, b) => Some(HostExpr::Select(
            Box::new(host_expr(kernel, c)?),
            Box::new(host_expr(kernel, a)?),
            Box::new(host_expr(kernel, b)?),
        )),
        _ => None,
    }
}

fn variable(kernel: &Kernel, var: VarId) -> Option<HostExpr> {
    if let Some((_, value)) = kernel.scalars.iter().find(|(scalar, _)| *scalar == var) {
        return Some(value.clone());
    }
    kernel.body.iter().find_map(|s| match s {
        Stmt::Let(name, value) if *name == var => host_expr(kernel, value),
        _ => None,
    })
}
