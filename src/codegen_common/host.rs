//! Segments of a kernel, which run one after the other, and the number of iterations of a parallel one, for the host to compute
//! before a launch.

use std::collections::{BTreeMap, BTreeSet};

use crate::kernel::poly::{index_scalar, index_type};
use crate::kernel::{ArrayId, Expr, ForKind, HostExpr, Kernel, Space, Stmt, VarId};

/// The kernel as pieces that are functions of their own: each parallel loop at its top, and what is between them. `let`s at the
/// top are repeated in each. One piece, if pieces would share local memory.
pub(crate) fn segments(kernel: &Kernel) -> Vec<Kernel> {
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
pub(crate) fn parallel_loop(kernel: &Kernel) -> Option<(&Stmt, HostExpr)> {
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
    let mut known = Known {
        kernel,
        values: kernel.scalars.iter().cloned().collect(),
    };
    for stmt in lets {
        let Stmt::Let(var, value) = stmt else {
            return None;
        };
        match known.value(value) {
            Some(value) => known.values.insert(*var, value),
            None => known.values.remove(var),
        };
    }
    Some((last, known.value(extent)?))
}

/// Most operations of a number that the host computes.
const MOST_OPERATIONS: usize = 256;

/// Variables of a kernel in terms of the dims.
struct Known<'a> {
    kernel: &'a Kernel,
    values: BTreeMap<VarId, HostExpr>,
}

impl Known<'_> {
    /// The value of an index in terms of the dims.
    fn value(&self, e: &Expr) -> Option<HostExpr> {
        index_type(self.kernel, e)?;
        self.host_expr(e, &mut MOST_OPERATIONS.clone())
    }

    /// The host computes without an end, so what the kernel would cut to a narrower type is not for it.
    fn host_expr(&self, e: &Expr, budget: &mut usize) -> Option<HostExpr> {
        *budget = budget.checked_sub(1)?;
        match e {
            Expr::Int(value, _) => Some(HostExpr::Const(*value)),
            Expr::Var(var) => {
                index_type(self.kernel, e)?;
                let value = self.values.get(var)?;
                *budget = budget.checked_sub(value.operations())?;
                Some(value.clone())
            }
            Expr::Cast(ty, a) => {
                let widens = index_type(self.kernel, a)?.bytes() <= index_scalar(*ty)?.bytes();
                widens.then(|| self.host_expr(a, budget))?
            }
            Expr::Binary(op, a, b) if !op.is_logical() => {
                index_type(self.kernel, a)?;
                Some(HostExpr::binary(
                    *op,
                    self.host_expr(a, budget)?,
                    self.host_expr(b, budget)?,
                ))
            }
            Expr::Select(c, a, b) => Some(HostExpr::Select(
                Box::new(self.host_expr(c, budget)?),
                Box::new(self.host_expr(a, budget)?),
                Box::new(self.host_expr(b, budget)?),
            )),
            _ => None,
        }
    }
}
