//! Conditions inside a loop, moved out of it.
//!
//! A condition that does not depend on the loop is tested once: `for k { if c {s} }` becomes `if c {for k {s}}`, and where
//! several statements have different ones, there is a version of the loop for each case (loop unswitching). A condition
//! `k + e < bound` splits the iterations into those before it turns false, and the rest (index-set splitting). Conditions read
//! no memory that the loop writes, so testing them early is the same.

use super::{Loop, Optimizer, binary};
use crate::codegen_common::index::Poly;
use crate::kernel::{Expr, Stmt, VarId};
use crate::tensor::ScalarType;
use crate::tensor::scalar::BinOp;

/// Statements that may be added to a kernel by copying loops.
pub(super) const MOST_COPIED: usize = 600;

impl Optimizer {
    /// The loop without a condition that could be moved out of it; `None` if there is none.
    pub(super) fn partition(&mut self, l: &Loop) -> Option<Vec<Stmt>> {
        let ty = self.scalar_of(l.var)?;
        let body: Vec<Stmt> = l.body.iter().map(join_conditions).collect();
        let l = Loop { body, ..l.clone() };
        let conditions: Vec<Expr> = l.body.iter().flat_map(conditions_of).collect();
        let invariant = conditions.iter().filter(|c| is_invariant(c, &l));
        if let Some(c) = invariant.reduce(|a, b| self.stronger(a, b)) {
            return self.unswitch(&l, c);
        }
        let (c, first_false) = conditions
            .iter()
            .find_map(|c| Some((c, turning_point(c, &l, ty)?)))?;
        self.split_range(&l, c, first_false)
    }

    /// Whether this many statements may be added; notes that they are.
    fn may_copy(&mut self, body: &[Stmt]) -> bool {
        let n = count(body);
        let may = self.copied + n <= MOST_COPIED;
        if may {
            self.copied += n;
        }
        may
    }

    /// A loop for when the condition holds and one for when it does not.
    fn unswitch(&mut self, l: &Loop, c: &Expr) -> Option<Vec<Stmt>> {
        let [then, otherwise] = [true, false].map(|holds| self.assume(&l.body, c, holds));
        if !otherwise.is_empty() && !self.may_copy(&otherwise) {
            return None;
        }
        let version = |body: Vec<Stmt>| {
            if body.is_empty() {
                return vec![];
            }
            vec![Loop { body, ..l.clone() }.into()]
        };
        Some(vec![Stmt::If {
            cond: c.clone(),
            then: version(then),
            otherwise: version(otherwise),
        }])
    }

    /// A loop over the iterations before the condition turns false, and one over the rest.
    fn split_range(&mut self, l: &Loop, c: &Expr, first_false: Expr) -> Option<Vec<Stmt>> {
        let ty = self.scalar_of(l.var)?;
        let [then, mut otherwise] = [true, false].map(|holds| self.assume(&l.body, c, holds));
        if !otherwise.is_empty() && !self.may_copy(&otherwise) {
            return None;
        }
        // At least no iteration and at most all.
        let before = binary(BinOp::Sub, first_false, l.min.clone());
        let before = binary(BinOp::Max, before, Expr::Int(0, ty));
        let before = binary(BinOp::Min, before, l.extent.clone());
        let split = self.var_like(l.var, "_split");
        let first = Loop {
            extent: Expr::Var(split),
            body: then,
            ..l.clone()
        };
        let mut parts = vec![Stmt::Let(split, before), first.into()];
        if !otherwise.is_empty() {
            let rest = self.var_like(l.var, "_rest");
            rename(&mut otherwise, l.var, rest);
            let second = Loop {
                var: rest,
                min: binary(BinOp::Add, l.min.clone(), Expr::Var(split)),
                extent: binary(BinOp::Sub, l.extent.clone(), Expr::Var(split)),
                kind: l.kind,
                body: otherwise,
            };
            parts.push(second.into());
        }
        Some(parts)
    }
}

/// The conditions of a statement that is an `if`.
fn conditions_of(s: &Stmt) -> Vec<Expr> {
    match s {
        Stmt::If {
            cond,
            then: _,
            otherwise: _,
        } => conjuncts(cond),
        _ => vec![],
    }
}

impl Optimizer {
    /// The statements, nested ones included, given that the condition holds or does not.
    fn assume(&self, stmts: &[Stmt], c: &Expr, holds: bool) -> Vec<Stmt> {
        let each = stmts.iter().flat_map(|s| self.assume_in(s, c, holds));
        each.collect()
    }

    fn assume_in(&self, s: &Stmt, c: &Expr, holds: bool) -> Vec<Stmt> {
        match s {
            Stmt::If {
                cond,
                then,
                otherwise,
            } => {
                let mut left = Vec::new();
                for other in conjuncts(cond) {
                    match self.implied(&other, c, holds) {
                        Some(true) => {}
                        Some(false) => return self.assume(otherwise, c, holds),
                        None => left.push(other),
                    }
                }
                if left.is_empty() {
                    return self.assume(then, c, holds);
                }
                vec![Stmt::If {
                    cond: all(left),
                    then: self.assume(then, c, holds),
                    otherwise: self.assume(otherwise, c, holds),
                }]
            }
            Stmt::For {
                var,
                min,
                extent,
                kind,
                body,
            } => vec![Stmt::For {
                var: *var,
                min: min.clone(),
                extent: extent.clone(),
                kind: *kind,
                body: self.assume(body, c, holds),
            }],
            other => vec![other.clone()],
        }
    }

    /// Whether a condition is true or false, given that `c` holds or does not.
    fn implied(&self, other: &Expr, c: &Expr, holds: bool) -> Option<bool> {
        if other == c {
            return Some(holds);
        }
        let slack = self.slack(other)?;
        let slack = slack.wrapping_plus(&self.slack(c)?, -1).as_constant()?;
        match holds {
            true if slack >= 0 => Some(true),
            false if slack <= 0 => Some(false),
            _ => None,
        }
    }

    /// `bound - value`, by which an inequality holds if it is not negative.
    fn slack(&self, c: &Expr) -> Option<Poly> {
        let Expr::Binary(op @ (BinOp::Lt | BinOp::Le), value, bound) = c else {
            return None;
        };
        let ty = self.kernel.ty(value).scalar;
        if !ty.is_signed_int() {
            return None;
        }
        let poly = |e| self.scope.poly(&self.kernel, e);
        let strict = Expr::Int((*op == BinOp::Lt).into(), ty);
        let slack = poly(bound).wrapping_plus(&poly(value), -1);
        Some(slack.wrapping_plus(&poly(&strict), -1))
    }

    /// The condition that implies the other one, if one does; else the first.
    fn stronger<'a>(&self, a: &'a Expr, b: &'a Expr) -> &'a Expr {
        if self.implied(a, b, true) == Some(true) {
            b
        } else {
            a
        }
    }
}

/// `if a { if b {s} }` as `if a and b {s}`, where `b` may be computed although `a` is false: it reads no memory.
fn join_conditions(s: &Stmt) -> Stmt {
    if let Stmt::If {
        cond,
        then,
        otherwise,
    } = s
        && let [inner] = then.as_slice()
        && otherwise.is_empty()
        && let Stmt::If {
            cond: second,
            then,
            otherwise,
        } = join_conditions(inner)
        && otherwise.is_empty()
        && !second.loads()
    {
        return Stmt::If {
            cond: all(vec![cond.clone(), second]),
            then,
            otherwise,
        };
    }
    s.clone()
}

/// The conditions that a conjunction consists of.
fn conjuncts(cond: &Expr) -> Vec<Expr> {
    match cond {
        Expr::Binary(BinOp::And, a, b) => {
            let mut out = conjuncts(a);
            out.extend(conjuncts(b));
            out
        }
        other => vec![other.clone()],
    }
}

fn all(conditions: Vec<Expr>) -> Expr {
    let mut conditions = conditions.into_iter();
    let first = conditions.next().unwrap_or(Expr::Int(1, ScalarType::Bool));
    conditions.fold(first, |a, b| binary(BinOp::And, a, b))
}

/// Whether the condition is the same in all iterations: it reads no memory and no variable that the loop defines.
fn is_invariant(cond: &Expr, l: &Loop) -> bool {
    let mut invariant = !cond.uses(l.var) && !cond.loads();
    for stmt in &l.body {
        stmt.walk(&mut |s| {
            if let Stmt::Let(var, _) | Stmt::For { var, .. } = s {
                invariant &= !cond.uses(*var);
            }
        });
    }
    invariant
}

/// Constants further from 0 are not computed with: what is left of an `int64` holds sums of those that are not, and of indices of
/// memory that there can be.
const FAR: u64 = 1 << 48;

/// The first value of the loop variable for which `c * var + rest < bound` (or `<=`) is false, if it stays false then, where
/// that is sure to be computed exactly.
fn turning_point(cond: &Expr, l: &Loop, ty: ScalarType) -> Option<Expr> {
    let Expr::Binary(op @ (BinOp::Lt | BinOp::Le), left, bound) = cond else {
        return None;
    };
    let far = |e: &Expr| matches!(e, Expr::Int(value, _) if value.unsigned_abs() > FAR);
    if ty != ScalarType::I64 || cond.any(&far) || bound.uses(l.var) || !is_invariant(bound, l) {
        return None;
    }
    let (scale, rest) = linear(left, l.var, ty)?;
    if scale < 1 || !is_invariant(&rest, l) {
        return None;
    }
    let room = binary(BinOp::Sub, (**bound).clone(), rest);
    // var < ceil(room / scale), or var <= floor(room / scale).
    let room = match op {
        BinOp::Lt => binary(BinOp::Add, room, Expr::Int(scale - 1, ty)),
        _ => binary(BinOp::Add, room, Expr::Int(scale, ty)),
    };
    Some(if scale == 1 {
        room
    } else {
        binary(BinOp::FloorDiv, room, Expr::Int(scale, ty))
    })
}

/// `e = scale * var + rest`, where all of it is of type `ty`.
fn linear(e: &Expr, var: VarId, ty: ScalarType) -> Option<(i64, Expr)> {
    if !e.uses(var) {
        return Some((0, e.clone()));
    }
    match e {
        Expr::Var(_) => Some((1, Expr::Int(0, ty))),
        Expr::Binary(op @ (BinOp::Add | BinOp::Sub), a, b) => {
            let ((x, a), (y, b)) = (linear(a, var, ty)?, linear(b, var, ty)?);
            let scale = match op {
                BinOp::Add => x.checked_add(y)?,
                _ => x.checked_sub(y)?,
            };
            Some((scale, binary(*op, a, b)))
        }
        Expr::Binary(BinOp::Mul, a, b) => {
            let (a, c) = match (&**a, &**b) {
                (a, Expr::Int(c, _)) | (Expr::Int(c, _), a) => (a, *c),
                _ => return None,
            };
            let (scale, rest) = linear(a, var, ty)?;
            Some((
                scale.checked_mul(c)?,
                binary(BinOp::Mul, rest, Expr::Int(c, ty)),
            ))
        }
        _ => None,
    }
}

/// Number of statements, nested ones included.
fn count(body: &[Stmt]) -> usize {
    let mut n = 0;
    body.iter().for_each(|stmt| stmt.walk(&mut |_| n += 1));
    n
}

fn rename(body: &mut [Stmt], from: VarId, to: VarId) {
    for stmt in body {
        stmt.map_exprs(&mut |e| e.substitute(from, &Expr::Var(to)));
    }
}
