//! The limit on passes through loops. lavapipe counts the passes of a thread through all of its loops together, and past a
//! limit ends every loop after its first pass, without an error: sums would silently be too small. So for a device with a
//! limit the passes of each kernel are bounded from above, in terms of the dims; loops that could pass the limit are
//! shortened by writing out several iterations in each pass; what is still too long is launched several times (`relaunch`); and
//! the bound is checked, here if it is a constant, else before each launch.

use std::collections::HashMap;

use super::cost::{product, sum};
use super::ranges::Ranges;
use super::relaunch::MOST_LAUNCHES;
use super::{LowerError, LowerProblem};
use crate::kernel::{Expr, ForKind, HostExpr, Kernel, Launch, Requirement, Stmt, VarId, VarInfo};
use crate::support::Arena;
use crate::tensor::scalar::BinOp;

/// Statements that the body of a shortened loop may grow to.
const MOST_STATEMENTS: usize = 64;
/// Iterations of one pass where the number of passes is not known.
const SYMBOLIC_FACTOR: i64 = 16;
/// Statements of a loop that is shortened although it may never be long: more would make the text hard to read.
const FEW_STATEMENTS: usize = 2;
/// Factors of the bound that are larger count as this, so that their product is no overflow.
const CAP: i64 = 1 << 20;

/// Writes out several iterations in each pass of those loops that could make more passes than the limit.
pub(super) fn shorten(
    vars: &mut Arena<VarId, VarInfo>,
    scalars: &[(VarId, HostExpr)],
    launch: &Launch,
    body: Vec<Stmt>,
    limit: u32,
) -> Vec<Stmt> {
    let passes = |body: &[Stmt]| Ranges::new(scalars, launch).passes(body);
    match passes(&body).map(|n| n.as_const()) {
        Some(Some(n)) if n <= i64::from(limit) => body,
        Some(Some(_)) => {
            let mut shorter = body.clone();
            for factor in [4, 16, 64] {
                shorter = shorten_innermost(vars, &body, factor, MOST_STATEMENTS / factor as usize);
                let left = passes(&shorter).and_then(|n| n.as_const());
                if left.is_some_and(|n| n <= i64::from(limit)) {
                    break;
                }
            }
            shorter
        }
        _ => shorten_innermost(vars, &body, SYMBOLIC_FACTOR, FEW_STATEMENTS),
    }
}

/// Records that the passes of a kernel must stay within the limit.
pub(super) fn require(
    kernel: &Kernel,
    limit: u32,
    requires: &mut Vec<Requirement>,
) -> Result<(), LowerError> {
    let Some(launch) = &kernel.launch else {
        return Ok(());
    };
    if launch.times != HostExpr::Const(1) {
        requires.push(Requirement {
            value: launch.times.clone(),
            limit: MOST_LAUNCHES,
            what: format!(
                "the number of launches of kernel `{}`, whose loops are long for this software adapter",
                kernel.name
            ),
        });
        return Ok(());
    }
    let passes = Ranges::new(&kernel.scalars, launch).passes(&kernel.body);
    let passes = passes.ok_or_else(|| LowerProblem::UnboundedLoop {
        kernel: kernel.name.clone(),
        limit,
    })?;
    match passes.as_const() {
        Some(n) if n <= i64::from(limit) => Ok(()),
        Some(n) => Err(LowerProblem::LongLoops {
            kernel: kernel.name.clone(),
            passes: n,
            limit,
        }
        .into()),
        None => {
            requires.push(Requirement {
                value: passes,
                limit: limit.into(),
                what: format!(
                    "the number of loop iterations of a thread of kernel `{}` on this software adapter",
                    kernel.name
                ),
            });
            Ok(())
        }
    }
}

impl Ranges<'_> {
    /// A bound of the passes through loops, the [last](last_pass) of each loop counted; nothing if there is none. Both sides
    /// of a branch count, since vectors of threads go through both.
    pub(super) fn passes(&mut self, body: &[Stmt]) -> Option<HostExpr> {
        let mut total = HostExpr::Const(0);
        for stmt in body {
            let more = match stmt {
                Stmt::Let(var, value) => {
                    if let Some(range) = self.range(value) {
                        self.vars.insert(*var, range);
                    }
                    HostExpr::Const(0)
                }
                Stmt::Store { .. } | Stmt::Barrier | Stmt::Fragment(_) => HostExpr::Const(0),
                Stmt::If {
                    cond: _,
                    then,
                    otherwise,
                } => sum(self.passes(then)?, self.passes(otherwise)?),
                Stmt::For {
                    var,
                    min,
                    extent,
                    kind: _,
                    body,
                } => {
                    let (_, extent) = self.range(extent)?;
                    if let Some((low, high)) = self.range(min) {
                        let last = sum(extent.clone(), HostExpr::Const(-1));
                        self.vars.insert(*var, (low, sum(high, last)));
                    }
                    let inner = sum(self.passes(body)?, HostExpr::Const(1));
                    let times = product(capped(extent), capped(inner));
                    sum(times, HostExpr::Const(last_pass(body)))
                }
                Stmt::While { .. } => return None,
            };
            total = sum(total, more);
        }
        Some(total)
    }
}

/// What the pass costs in which a loop ends: no thread takes part in its body, but vectors of threads go through it, and so
/// once through each loop there.
pub(super) fn last_pass(body: &[Stmt]) -> i64 {
    let mut passes = 1;
    for stmt in body {
        stmt.walk(&mut |stmt| {
            passes += i64::from(matches!(stmt, Stmt::For { .. } | Stmt::While { .. }));
        });
    }
    passes
}

/// The value brought into `0 ..= CAP`.
fn capped(value: HostExpr) -> HostExpr {
    let least = HostExpr::binary(BinOp::Max, value, HostExpr::Const(0));
    HostExpr::binary(BinOp::Min, least, HostExpr::Const(CAP))
}

/// Shortens the innermost loops of at most so many statements.
fn shorten_innermost(
    vars: &mut Arena<VarId, VarInfo>,
    body: &[Stmt],
    factor: i64,
    most: usize,
) -> Vec<Stmt> {
    let mut out = Vec::new();
    for stmt in body {
        match stmt {
            Stmt::For {
                var,
                min,
                extent,
                kind,
                body,
            } => {
                let long = !matches!(extent, Expr::Int(n, _) if *n < 2 * factor);
                match straight_line(body) {
                    Some(statements) if statements <= most && long => {
                        out.extend(written_out(vars, *var, min, extent, body, factor));
                    }
                    Some(_) => out.push(stmt.clone()),
                    None => out.push(Stmt::For {
                        var: *var,
                        min: min.clone(),
                        extent: extent.clone(),
                        kind: *kind,
                        body: shorten_innermost(vars, body, factor, most),
                    }),
                }
            }
            Stmt::If {
                cond,
                then,
                otherwise,
            } => out.push(Stmt::If {
                cond: cond.clone(),
                then: shorten_innermost(vars, then, factor, most),
                otherwise: shorten_innermost(vars, otherwise, factor, most),
            }),
            Stmt::Let(..)
            | Stmt::Store { .. }
            | Stmt::While { .. }
            | Stmt::Barrier
            | Stmt::Fragment(_) => {
                out.push(stmt.clone());
            }
        }
    }
    out
}

/// Number of statements, if there is neither a loop nor a barrier among them.
fn straight_line(body: &[Stmt]) -> Option<usize> {
    body.iter().try_fold(0, |count, stmt| {
        Some(
            count
                + match stmt {
                    Stmt::Let(..) | Stmt::Store { .. } => 1,
                    Stmt::If {
                        cond: _,
                        then,
                        otherwise,
                    } => 1 + straight_line(then)? + straight_line(otherwise)?,
                    Stmt::For { .. } | Stmt::While { .. } | Stmt::Barrier | Stmt::Fragment(_) => {
                        return None;
                    }
                },
        )
    })
}

/// `for i in min .. min + extent` as a loop over `extent / factor` whose body is `factor` iterations, and one over the rest.
fn written_out(
    vars: &mut Arena<VarId, VarInfo>,
    var: VarId,
    min: &Expr,
    extent: &Expr,
    body: &[Stmt],
    factor: i64,
) -> Vec<Stmt> {
    let ty = vars[var].ty.scalar;
    let int = |v: i64| Expr::Int(v, ty);
    let binary = |op, a: Expr, b: Expr| Expr::Binary(op, Box::new(a), Box::new(b));
    let outer = vars.push(vars[var].clone());
    let passes = match extent {
        Expr::Int(n, _) => int(n / factor),
        other => binary(BinOp::Div, other.clone(), int(factor)),
    };
    let mut inner = Vec::new();
    for step in 0..factor {
        let mut at = binary(BinOp::Mul, Expr::Var(outer), int(factor));
        if !matches!(min, Expr::Int(0, _)) {
            at = binary(BinOp::Add, min.clone(), at);
        }
        if step > 0 {
            at = binary(BinOp::Add, at, int(step));
        }
        let mut renamed = HashMap::from([(var, at)]);
        inner.extend(body.iter().map(|s| copy(vars, &mut renamed, s)));
    }
    let done = match extent {
        Expr::Int(n, _) => int(n / factor * factor),
        _ => binary(BinOp::Mul, passes.clone(), int(factor)),
    };
    let (rest_min, rest) = match (min, extent, &done) {
        (Expr::Int(a, _), Expr::Int(n, _), Expr::Int(done, _)) => (int(a + done), int(n - done)),
        (Expr::Int(0, _), ..) => (done.clone(), binary(BinOp::Sub, extent.clone(), done)),
        _ => (
            binary(BinOp::Add, min.clone(), done.clone()),
            binary(BinOp::Sub, extent.clone(), done),
        ),
    };
    let mut out = vec![Stmt::For {
        var: outer,
        min: int(0),
        extent: passes,
        kind: ForKind::Serial,
        body: inner,
    }];
    if !matches!(rest, Expr::Int(0, _)) {
        out.push(Stmt::For {
            var,
            min: rest_min,
            extent: rest,
            kind: ForKind::Serial,
            body: body.to_vec(),
        });
    }
    out
}

/// A statement with variables replaced, and those that it defines itself renamed.
fn copy(vars: &mut Arena<VarId, VarInfo>, renamed: &mut HashMap<VarId, Expr>, stmt: &Stmt) -> Stmt {
    let value = |renamed: &HashMap<VarId, Expr>, e: &Expr| {
        e.rewrite(&mut |e| match e {
            Expr::Var(var) => renamed.get(var).cloned(),
            _ => None,
        })
    };
    match stmt {
        Stmt::Let(var, e) => {
            let e = value(renamed, e);
            let new = vars.push(vars[*var].clone());
            renamed.insert(*var, Expr::Var(new));
            Stmt::Let(new, e)
        }
        Stmt::If {
            cond,
            then,
            otherwise,
        } => {
            let cond = value(renamed, cond);
            let mut list = |stmts: &[Stmt]| stmts.iter().map(|s| copy(vars, renamed, s)).collect();
            Stmt::If {
                cond,
                then: list(then),
                otherwise: list(otherwise),
            }
        }
        other => {
            let mut other = other.clone();
            other.map_exprs(&mut |e| value(renamed, e));
            other
        }
    }
}
