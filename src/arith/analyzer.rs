//! `Analyzer`: what is known of variables, and the questions asked about expressions under that knowledge.

use std::collections::HashMap;

use super::IntBound;
use crate::ir::{Expr, ExprKind, Range, Var};
use crate::tensor::scalar::{BinOp, Scalar, eval_binary};

/// Facts about variables; simplifies and proves under them.
#[derive(Clone, Debug, Default)]
pub struct Analyzer {
    bounds: HashMap<Var, IntBound>,
    facts: Vec<Expr>,
}

impl Analyzer {
    /// Nothing is known.
    pub fn new() -> Self {
        Self::default()
    }

    /// The variable lies in the range (which is not empty where the question is asked).
    pub fn bind(&mut self, var: &Var, range: &Range) {
        let (min, extent) = (self.bound(&range.min), self.bound(&range.extent));
        let max = min.add(extent).add(IntBound::point(-1)).max;
        self.bounds.insert(var.clone(), IntBound::new(min.min, max));
    }

    /// The variable is at least 0: a symbolic dimension.
    pub fn bind_shape_var(&mut self, var: &Var) {
        self.bounds
            .insert(var.clone(), IntBound::new(0, IntBound::POS_INF));
    }

    /// The condition holds.
    pub fn assume(&mut self, cond: &Expr) {
        self.facts.push(self.simplify(cond));
    }

    /// An expression with the same value wherever what is known holds; the same node if it is as simple as can be.
    pub fn simplify(&self, expr: &Expr) -> Expr {
        expr.rewrite_bottom_up(&mut |e| self.fold(e))
    }

    /// Whether the condition holds wherever what is known does. `false` means "not known".
    pub fn can_prove(&self, cond: &Expr) -> bool {
        let cond = self.simplify(cond);
        cond.as_bool() == Some(true) || self.facts.contains(&cond)
    }

    /// An interval that holds every value of an integer expression.
    pub fn bound(&self, expr: &Expr) -> IntBound {
        let type_range = || {
            expr.dtype()
                .scalar
                .int_range()
                .filter(|_| expr.dtype().bytes() < 4)
                .map_or(IntBound::EVERYTHING, |(min, max)| IntBound::new(min, max))
        };
        match expr.kind() {
            ExprKind::Int(v) => IntBound::point(*v),
            ExprKind::Var(v) => self.bounds.get(v).copied().unwrap_or_else(type_range),
            ExprKind::Binary(op, a, b) if !expr.dtype().is_float() => {
                let (a, b) = (self.bound(a), self.bound(b));
                match op {
                    BinOp::Add => a.add(b),
                    BinOp::Sub => a.add(b.neg()),
                    BinOp::Mul => a.mul(b),
                    BinOp::FloorDiv => a.floor_div(b),
                    BinOp::FloorMod => a.floor_mod(b),
                    BinOp::Min => a.min_of(b),
                    BinOp::Max => a.max_of(b),
                    _ => type_range(),
                }
            }
            ExprKind::Select(_, a, b) | ExprKind::IfThenElse(_, a, b) => {
                self.bound(a).union(self.bound(b))
            }
            _ => type_range(),
        }
    }

    /// One step: constants and neutral elements, comparisons that the bounds decide.
    fn fold(&self, e: &Expr) -> Expr {
        let ExprKind::Binary(op, a, b) = e.kind() else {
            return e.clone();
        };
        if e.dtype().is_vector() || a.dtype().is_float() {
            return e.clone();
        }
        if let (Some(x), Some(y)) = (a.as_int(), b.as_int())
            && let Ok(v) = eval_binary(*op, a.dtype().scalar, Scalar::Int(x), Scalar::Int(y))
        {
            return Expr::int(v.as_int(), e.dtype());
        }
        match (op, a.as_int(), b.as_int()) {
            (BinOp::Add | BinOp::Sub, _, Some(0))
            | (BinOp::Mul | BinOp::FloorDiv | BinOp::Div, _, Some(1)) => a.clone(),
            (BinOp::Add, Some(0), _) | (BinOp::Mul, Some(1), _) => b.clone(),
            (BinOp::Mul, _, Some(0)) | (BinOp::FloorMod | BinOp::Mod, _, Some(1)) => {
                Expr::int(0, e.dtype())
            }
            (BinOp::Mul, Some(0), _) | (BinOp::FloorDiv, Some(0), _) => Expr::int(0, e.dtype()),
            (BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge, _, _) => {
                let d = if a == b {
                    IntBound::point(0)
                } else {
                    self.bound(a).add(self.bound(b).neg())
                };
                let (yes, no) = match op {
                    BinOp::Lt => (d.max < 0, d.min >= 0),
                    BinOp::Le => (d.max <= 0, d.min > 0),
                    BinOp::Gt => (d.min > 0, d.max <= 0),
                    _ => (d.min >= 0, d.max < 0),
                };
                if yes || no {
                    Expr::bool(yes)
                } else {
                    e.clone()
                }
            }
            _ => e.clone(),
        }
    }
}
