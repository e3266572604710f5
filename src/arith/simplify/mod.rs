//! The simplifier: index arithmetic goes through the normal form of [`Sum`], everything else through rules by root operator.
//!
//! Rules are directed, from the costlier to the cheaper form, and are applied until nothing changes: so a result is a fixed
//! point. Each file has the rules of one group of operators, with the identity that a rule uses beside it.
//!
//! Reference: the rules follow TVM's `rewrite_simplify` and `canonical_simplify` in what they can do.

mod add;
mod cast;
mod cmp;
mod div_mod;
mod logic;
mod min_max;
mod mul;
mod select;

use std::collections::HashMap;

use super::Analyzer;
use crate::ir::sum::{Expand, Sum, is_index};
use crate::ir::{Expr, ExprKind};
use crate::tensor::scalar::{BinOp, Scalar, eval_binary};

/// Rounds until a node must have settled.
const ROUNDS: usize = 6;

/// The expression in simplest form under the facts; the same node if it is that already.
pub(super) fn simplify(facts: &Analyzer, e: &Expr) -> Expr {
    Simplifier {
        facts,
        memo: HashMap::new(),
    }
    .simplify(e)
}

struct Simplifier<'a> {
    facts: &'a Analyzer,
    memo: HashMap<Expr, Expr>,
}

impl Simplifier<'_> {
    fn simplify(&mut self, e: &Expr) -> Expr {
        if matches!(e.kind(), ExprKind::Int(_) | ExprKind::Float(_)) {
            return e.clone();
        }
        if let Some(done) = self.memo.get(e) {
            return done.clone();
        }
        let mut current = self.step(e);
        for _ in 0..ROUNDS {
            if settles_at_once(&current) {
                break;
            }
            if let Some(done) = self.memo.get(&current) {
                current = done.clone();
                break;
            }
            let next = self.step(&current);
            if next == current {
                break;
            }
            current = next;
        }
        let done = if current == *e { e.clone() } else { current };
        self.memo.insert(e.clone(), done.clone());
        self.memo.insert(done.clone(), done.clone());
        done
    }

    /// Simplifies the children, then applies the rules of the root once.
    fn step(&mut self, e: &Expr) -> Expr {
        match e.kind() {
            ExprKind::Var(var) => self.facts.value_of(var).unwrap_or_else(|| e.clone()),
            ExprKind::Binary(BinOp::Add | BinOp::Sub | BinOp::Mul, _, _)
                if is_index(e.dtype()) && !e.is_data() =>
            {
                self.step_sum(e)
            }
            ExprKind::Select(cond, a, b) => {
                let cond = self.simplify(cond);
                let (a, b) = match cond.as_bool() {
                    Some(true) => return self.simplify(a),
                    Some(false) => return self.simplify(b),
                    None => (self.beside(&cond, a), self.beside(&logic::negate(&cond), b)),
                };
                select::rebuild(e, cond, a, b)
            }
            ExprKind::IfThenElse(cond, a, b) => {
                let cond = self.simplify(cond);
                let (a, b) = match cond.as_bool() {
                    Some(true) => return self.simplify(a),
                    Some(false) => return self.simplify(b),
                    None => (self.under(&cond, a), self.under(&logic::negate(&cond), b)),
                };
                select::rebuild(e, cond, a, b)
            }
            ExprKind::Binary(BinOp::And, a, b) => {
                let a = self.simplify(a);
                let b = self.under(&a, b);
                logic::and(&a, &b)
            }
            _ => {
                let below = e.map_children(&mut |child| self.simplify(child));
                self.rules(&below).unwrap_or(below)
            }
        }
    }

    fn step_sum(&mut self, e: &Expr) -> Expr {
        let sum = Sum::with_atoms(e, Expand::Single, &mut |atom| match atom.kind() {
            // A product of sums, kept as an atom by `Expand::Single`.
            ExprKind::Binary(BinOp::Add | BinOp::Sub | BinOp::Mul, _, _) => {
                atom.map_children(&mut |child| self.simplify(child))
            }
            _ => self.simplify(atom),
        });
        add::merge(self.facts, sum)
            .to_expr()
            .unwrap_or_else(|| e.clone())
    }

    /// The expression simplified where the condition holds.
    fn under(&mut self, cond: &Expr, e: &Expr) -> Expr {
        let mut facts = self.facts.clone();
        facts.assume(cond);
        simplify(&facts, e)
    }

    /// The expression simplified where its value counts only if the condition holds, but which is computed whether or not it does, as both
    /// sides of a `T.Select` are. So a bound of an index stays, and what keeps a divisor from 0.
    fn beside(&mut self, cond: &Expr, e: &Expr) -> Expr {
        if !may_fail(e) {
            return self.under(cond, e);
        }
        let e = self.simplify(e);
        match may_fail(&e) {
            true => e,
            false => self.under(cond, &e),
        }
    }

    fn rules(&self, e: &Expr) -> Option<Expr> {
        match e.kind() {
            ExprKind::Binary(op, a, b) => {
                if let Some(value) = fold(*op, a, b, e) {
                    return Some(value);
                }
                if e.dtype().is_vector() {
                    return None;
                }
                match op {
                    BinOp::Add | BinOp::Sub => add::neutral(*op, a, b),
                    BinOp::Mul => mul::neutral(a, b),
                    BinOp::Div | BinOp::Mod if is_index(e.dtype()) => {
                        div_mod::truncated(self.facts, *op, a, b)
                    }
                    BinOp::FloorDiv if is_index(e.dtype()) => div_mod::floor_div(self.facts, a, b),
                    BinOp::FloorMod if is_index(e.dtype()) => div_mod::floor_mod(self.facts, a, b),
                    BinOp::Div => mul::div_neutral(a, b),
                    BinOp::Min | BinOp::Max => min_max::rules(self.facts, *op, a, b),
                    BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge
                        if is_index(a.dtype()) =>
                    {
                        cmp::rules(self.facts, *op, a, b)
                    }
                    BinOp::And => Some(logic::and(a, b)),
                    BinOp::Or => Some(logic::or(a, b)),
                    _ => None,
                }
            }
            ExprKind::Not(a) => Some(logic::negate(a)),
            ExprKind::Cast(a) => cast::rules(self.facts, a, e.dtype()),
            _ if e.dtype().is_bool() && self.facts.is_assumed(e) => Some(Expr::bool(true)),
            _ => None,
        }
    }
}

/// Whether one step does all: the parts are simplified under conditions, which is dear to repeat at each level of nesting.
fn settles_at_once(e: &Expr) -> bool {
    matches!(
        e.kind(),
        ExprKind::Select(_, _, _)
            | ExprKind::IfThenElse(_, _, _)
            | ExprKind::Binary(BinOp::And, _, _)
    )
}

/// Whether computing the expression may fail: it reads memory, or divides integers by what may be 0.
fn may_fail(e: &Expr) -> bool {
    let mut fails = false;
    e.walk(&mut |part| {
        fails |= match part.kind() {
            ExprKind::Load(_, _) | ExprKind::External(_, _) => true,
            ExprKind::Binary(
                BinOp::Div | BinOp::Mod | BinOp::FloorDiv | BinOp::FloorMod,
                _,
                divisor,
            ) => !part.dtype().is_float() && divisor.as_int().is_none_or(|divisor| divisor == 0),
            _ => false,
        };
        !fails
    });
    fails
}

/// An operator of two constants.
fn fold(op: BinOp, a: &Expr, b: &Expr, e: &Expr) -> Option<Expr> {
    let scalar = |e: &Expr| {
        e.as_int()
            .map(Scalar::Int)
            .or_else(|| e.as_float().map(Scalar::Float))
    };
    let (x, y) = (scalar(a)?, scalar(b)?);
    let value = eval_binary(op, a.dtype().scalar, x, y).ok()?;
    Some(Expr::scalar(value, e.dtype()))
}

#[cfg(test)]
mod tests;
