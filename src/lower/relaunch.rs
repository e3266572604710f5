//! Kernels whose threads would go through loops more often than the device allows are launched several times: the outer loops
//! become loops of the host, and each launch runs a part of the innermost of these.

use super::ranges::Ranges;
use crate::kernel::{Expr, ForKind, HostExpr, Kernel, Launch, Stmt, Ty, VarId, VarInfo};
use crate::tensor::scalar::BinOp;

/// Most launches of a kernel.
pub(super) const MOST_LAUNCHES: i64 = 1 << 12;

/// A loop that launches go through.
struct HostLoop {
    /// What stands around it inside of the next outer one: definitions, and branches without their bodies.
    around: Vec<Stmt>,
    var: VarId,
    min: Expr,
    extent: Expr,
    kind: ForKind,
    /// Iterations of one launch.
    step: i64,
    /// Launches for all iterations.
    times: HostExpr,
}

/// Spreads the outer loops of a kernel over launches, if a thread passes its loops more often than the limit and if what
/// `may_split` says of these loops allows it: no array of a thread or workgroup carries a value from one iteration to the next.
/// `dims` is the number of dims of the function; the number of the launch is the dim behind them.
pub(super) fn relaunch(
    kernel: &mut Kernel,
    dims: usize,
    limit: u32,
    may_split: impl Fn(VarId) -> bool,
) {
    let Some(launch) = &kernel.launch else { return };
    let Some((loops, body)) = host_loops(kernel, launch, limit, may_split) else {
        return;
    };
    let mut times = HostExpr::Const(1);
    let mut out = body;
    let outermost = loops.len() - 1;
    for (depth, l) in loops.into_iter().enumerate() {
        // This loop's part of the number of the launch: inner loops change faster.
        let mut part = HostExpr::binary(BinOp::FloorDiv, HostExpr::Dim(dims), times.clone());
        if depth < outermost {
            part = HostExpr::binary(BinOp::FloorMod, part, l.times.clone());
        }
        let start = HostExpr::binary(BinOp::Mul, part, HostExpr::Const(l.step));
        times = HostExpr::binary(BinOp::Mul, times, l.times);
        let ty = kernel.vars[l.var].ty;
        let name = format!("{}_start", kernel.vars[l.var].name);
        let scalar = kernel.vars.push(VarInfo { name, ty });
        kernel.scalars.push((scalar, start));
        let min = binary(BinOp::Add, l.min, Expr::Var(scalar));
        if depth > 0 {
            out.insert(0, Stmt::Let(l.var, min));
        } else {
            let left = binary(BinOp::Sub, l.extent, Expr::Var(scalar));
            out = vec![Stmt::For {
                var: l.var,
                min,
                extent: binary(BinOp::Min, left, int(l.step, ty)),
                kind: l.kind,
                body: out,
            }];
        }
        for stmt in l.around.into_iter().rev() {
            if let Stmt::If { cond, .. } = stmt {
                out = vec![branch(cond, out)];
            } else {
                out.insert(0, stmt);
            }
        }
    }
    kernel.body = out;
    if let Some(launch) = &mut kernel.launch {
        launch.times = times;
    }
}

/// The loops that launches go through, the innermost first, and what is in that one. Nothing if there is no need or no way.
fn host_loops(
    kernel: &Kernel,
    launch: &Launch,
    limit: u32,
    may_split: impl Fn(VarId) -> bool,
) -> Option<(Vec<HostLoop>, Vec<Stmt>)> {
    let mut ranges = Ranges::new(&kernel.scalars, launch);
    let all = ranges.passes(&kernel.body)?;
    if all.as_const().is_some_and(|n| n <= i64::from(limit)) {
        return None;
    }
    let mut loops: Vec<HostLoop> = vec![];
    let mut around = vec![];
    let mut body = kernel.body.as_slice();
    loop {
        let (last, before) = body.split_last()?;
        if !before.iter().all(|stmt| matches!(stmt, Stmt::Let(..))) {
            return None;
        }
        around.extend(before.iter().cloned());
        let (var, min, extent, kind, inner) = match last {
            Stmt::For {
                var,
                min,
                extent,
                kind,
                body,
            } if may_split(*var) => (*var, min, extent, *kind, body),
            Stmt::If {
                cond,
                then,
                otherwise,
            } if otherwise.is_empty() => {
                around.push(branch(cond.clone(), vec![]));
                body = then;
                continue;
            }
            _ => return None,
        };
        let most = i64::from(limit) - 2;
        let step = most / (ranges.passes(inner)?.as_const()? + 1);
        let (_, bound) = ranges.range(extent)?;
        // Only the bound of the outermost loop may depend on dims, and only if no other loop is split.
        if bound.as_const().is_none() && (step == 0 || !loops.is_empty()) {
            return None;
        }
        let of_step = HostExpr::binary(BinOp::Add, bound, HostExpr::Const(step.max(1) - 1));
        loops.insert(
            0,
            HostLoop {
                around: std::mem::take(&mut around),
                var,
                min: min.clone(),
                extent: extent.clone(),
                kind,
                step: step.max(1),
                times: HostExpr::binary(BinOp::FloorDiv, of_step, HostExpr::Const(step.max(1))),
            },
        );
        // A loop that is gone through by the host alone runs all of its iterations.
        let exact = matches!(extent, Expr::Int(..));
        match step {
            1.. => return Some((loops, inner.clone())),
            _ if exact => body = inner,
            _ => return None,
        }
    }
}

fn branch(cond: Expr, then: Vec<Stmt>) -> Stmt {
    Stmt::If {
        cond,
        then,
        otherwise: vec![],
    }
}

fn binary(op: BinOp, a: Expr, b: Expr) -> Expr {
    match (op, &a) {
        (BinOp::Add, Expr::Int(0, _)) => b,
        _ => Expr::Binary(op, Box::new(a), Box::new(b)),
    }
}

fn int(value: i64, ty: Ty) -> Expr {
    Expr::Int(value, ty.scalar)
}
