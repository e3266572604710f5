//! The number of iterations of a parallel loop, for the host to compute before a launch.

use crate::kernel::{Expr, ForKind, HostExpr, Kernel, Stmt, VarId};

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
