//! Proofs about indices: whether an access stays inside its buffer under the loops and conditions around it.

use std::collections::HashSet;

use super::wrapping_sum::WrappingSum;
use crate::arith::Analyzer;
use crate::ir::{Buffer, Expr, ExprKind, Range, Var};
use crate::tensor::DType;
use crate::tensor::scalar::BinOp;

/// What is known at one place of a loop program, with the way back out of the loops and conditions around it.
#[derive(Clone)]
pub(super) struct Facts {
    pub(super) analyzer: Analyzer,
    outer: Vec<Analyzer>,
}

impl Facts {
    pub(super) fn new(analyzer: Analyzer) -> Self {
        Self {
            analyzer,
            outer: vec![],
        }
    }

    /// The variable runs over `min .. min + extent`, which is not empty inside the loop.
    pub(super) fn bind(&mut self, var: &Var, min: &Expr, extent: &Expr) {
        let range = Range {
            min: min.clone(),
            extent: extent.clone(),
        };
        self.analyzer.bind_iteration(var, &range);
        // What is in memory may be another value by the time that something is asked.
        if !min.is_data() && !extent.is_data() {
            self.below_each(&(var.expr() - min), extent);
        }
    }

    /// An iteration comes before each of the ends of which the extent of its loop is the least.
    fn below_each(&mut self, iteration: &Expr, extent: &Expr) {
        if let Some((a, b)) = extent.as_binary(BinOp::Min) {
            for end in [a, b] {
                self.below_each(iteration, end);
                self.analyzer.assume(&iteration.lt(end));
            }
        } else if let Some((x, c)) = extent.as_binary(BinOp::FloorDiv)
            && c.as_int().is_some_and(|c| c > 0)
        {
            // i < x // c
            self.analyzer.assume(&((iteration + 1) * c).le(x));
        }
    }

    /// The variable has this value.
    pub(super) fn name(&mut self, var: &Var, value: &Expr) {
        if !value.is_data() {
            let bound = self.analyzer.bound(value);
            self.analyzer.bind_bound(var, bound);
        }
    }

    /// Learns a condition that holds from here on, as far as no store, to these buffers, changes what it reads.
    pub(super) fn learn(&mut self, cond: &Expr, stored: &HashSet<Buffer>) {
        for c in cond.conjuncts() {
            let mut changes = false;
            c.walk(&mut |e| {
                changes |= matches!(e.kind(), ExprKind::Load(b, _) if stored.contains(b));
                !changes
            });
            if !changes {
                self.analyzer.assume(&c);
            }
        }
    }

    /// Goes into a loop or condition; [`Facts::leave`] forgets what was learnt inside.
    pub(super) fn enter(&mut self) {
        self.outer.push(self.analyzer.clone());
    }

    /// Comes out again.
    pub(super) fn leave(&mut self) {
        if let Some(outer) = self.outer.pop() {
            self.analyzer = outer;
        }
    }

    /// `index < extent`
    pub(super) fn below(&self, index: &Expr, extent: &Expr) -> bool {
        let [own, end] = [index, extent].map(|e| self.analyzer.bound(e));
        if own.max < end.min || self.analyzer.can_prove(&index.lt(extent)) {
            return true;
        }
        match index.kind() {
            ExprKind::Binary(BinOp::Min, a, b) => self.below(a, extent) || self.below(b, extent),
            ExprKind::Binary(BinOp::Max, a, b) => self.below(a, extent) && self.below(b, extent),
            // x // c < n where x < c * n
            ExprKind::Binary(BinOp::FloorDiv, x, c) if self.analyzer.bound(c).min > 0 => {
                self.below(x, &(c * extent))
            }
            // x % c < c <= n
            ExprKind::Binary(BinOp::FloorMod, _, c) if self.analyzer.bound(c).min > 0 => {
                self.analyzer.can_prove(&c.le(extent))
            }
            // y + x // c < n where c * y + x < c * n
            _ => WrappingSum::of(index)
                .without_division()
                .is_some_and(|(c, sum)| {
                    let sum = sum.join_div_mod().to_expr(DType::I64, &|_| false);
                    self.analyzer.can_prove(&sum.lt(extent * c))
                }),
        }
    }

    /// `e >= 0`
    pub(super) fn nonnegative(&self, e: &Expr) -> bool {
        self.analyzer.bound(e).min >= 0 || self.analyzer.can_prove(&e.ge(0))
    }
}
