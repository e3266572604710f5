//! Loops that the driver is not to write out. Mesa's compiler writes out every loop of at most 32 iterations whose number it
//! knows, whatever its body is, and lavapipe then compiles that text for seconds: a normalisation of rows of 768 elements, 24
//! iterations each, took eight times as long as one of 1056. So the host passes the number of iterations of such a loop.

use crate::kernel::{Expr, ForKind, HostExpr, Kernel, Stmt, Ty, VarId, VarInfo};
use crate::tensor::ScalarType;

/// Most iterations of a loop that is written out (`max_unroll_iterations` of Mesa).
const WRITTEN_OUT: i64 = 32;

/// Operations that a loop may become: one of few short iterations runs faster without its bookkeeping.
const FEW_OPERATIONS: i64 = 128;

/// Has the host pass the numbers of iterations of long loops that the driver would write out.
pub(super) fn hide(kernel: &mut Kernel) {
    let mut body = std::mem::take(&mut kernel.body);
    let mut scalars: Vec<(i64, VarId)> = vec![];
    for stmt in &mut body {
        hide_in(kernel, stmt, &mut scalars);
    }
    kernel.body = body;
}

fn hide_in(kernel: &mut Kernel, stmt: &mut Stmt, scalars: &mut Vec<(i64, VarId)>) {
    let operations = operations(stmt);
    if let Stmt::For {
        extent,
        kind: ForKind::Serial | ForKind::SimdReduction,
        ..
    } = stmt
        && let Expr::Int(count @ 2..=WRITTEN_OUT, ty) = *extent
        && operations > FEW_OPERATIONS
    {
        *extent = Expr::Var(scalar(kernel, count, ty, scalars));
    }
    let nested = stmt.nested_mut().into_iter().flatten();
    nested.for_each(|stmt| hide_in(kernel, stmt, scalars));
}

/// The scalar with this value.
fn scalar(
    kernel: &mut Kernel,
    count: i64,
    ty: ScalarType,
    scalars: &mut Vec<(i64, VarId)>,
) -> VarId {
    if let Some((_, var)) = scalars.iter().find(|(known, _)| *known == count) {
        return *var;
    }
    let var = kernel.vars.push(VarInfo {
        name: format!("count_{count}"),
        ty: Ty::scalar(ty),
    });
    kernel.scalars.push((var, HostExpr::Const(count)));
    scalars.push((count, var));
    var
}

/// Operations of a statement whose loops are written out.
fn operations(stmt: &Stmt) -> i64 {
    let mut own = 0i64;
    for e in stmt.exprs() {
        e.walk(&mut |e| own += i64::from(!e.children().is_empty()));
    }
    let nested = stmt.nested().into_iter().flatten();
    let inside = nested.map(operations).fold(own, i64::saturating_add);
    match stmt {
        Stmt::For {
            extent: Expr::Int(count, _),
            ..
        } => inside.saturating_mul(*count),
        _ => inside,
    }
}
