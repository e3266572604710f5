//! The lanes of a vectorized loop, and the conditions that say which of them are active.

use std::cell::Cell;

use crate::ir::{Buffer, Expr, ExprKind, Var};
use crate::kernel::{self, Stmt, Ty};
use crate::lower::LowerError;
use crate::lower::emit::{Emit, elements, flat, push_branch};
use crate::lower::node::{Node, walk_nodes};
use crate::lower::speculate::may_fail;
use crate::lower::wrapping_sum::WrappingSum;
use crate::tensor::ScalarType;
use crate::tensor::scalar::BinOp;

/// The variable of a vectorized loop, from 0, and its number of lanes.
pub(super) struct Lanes<'v> {
    pub(super) var: &'v Var,
    pub(super) count: u16,
    /// Those that are active, if not all.
    pub(super) active: Option<Active>,
    /// Names of values that differ from lane to lane: variables of the kernel that are vectors.
    pub(super) named: Vec<Var>,
}

/// The first lanes, under a condition that only they fulfil.
pub(super) struct Active {
    /// How many: any integer, as accesses of kernel IR have it.
    pub(super) count: kernel::Expr,
    /// Whether something was met that cannot be done for active lanes alone.
    pub(super) failed: Cell<bool>,
}

impl Lanes<'_> {
    /// The expression in one lane.
    pub(super) fn at(&self, e: &Expr, lane: u16) -> Expr {
        let value = Expr::int(lane.into(), self.var.dtype());
        e.substitute(&|v| (v == self.var).then(|| value.clone()))
    }

    /// The number of active lanes, if they are not all.
    pub(super) fn active(&self) -> Option<&kernel::Expr> {
        self.active.as_ref().map(|active| &active.count)
    }

    /// Whether all that was met can be done for active lanes alone.
    pub(super) fn is_done(&self) -> bool {
        self.active
            .as_ref()
            .is_none_or(|active| !active.failed.get())
    }

    pub(super) fn vary(&self, e: &Expr) -> bool {
        e.uses(self.var) || self.names(e)
    }

    /// Whether the expression is made of a named value that differs from lane to lane: it is no sum of the lane and a base.
    pub(super) fn names(&self, e: &Expr) -> bool {
        self.named.iter().any(|named| e.uses(named))
    }

    /// `base`, if the expression is `base + lane` with a base that is a multiple of the number of lanes.
    pub(super) fn aligned_base(&self, e: &Expr) -> Option<Expr> {
        if self.names(e) {
            return None;
        }
        let (stride, base) = WrappingSum::of(e).join_div_mod().split(self.var)?;
        (stride.as_const() == Some(1) && base.is_multiple_of(self.count.into()))
            .then(|| base.to_expr(e.dtype(), &|_| false))
    }
}

impl Emit<'_> {
    /// The branch for its active lanes, if that is what its condition says.
    pub(super) fn under_mask(
        &mut self,
        cond: &Expr,
        then: &[Node],
        lanes: &Lanes<'_>,
    ) -> Result<Option<Vec<Stmt>>, LowerError> {
        let Some((shared, count)) = self.active_lanes(cond, lanes) else {
            return Ok(None);
        };
        let shared = self.facts.analyzer.simplify(&shared);
        let test = match shared.as_bool() {
            Some(true) => None,
            _ => Some(self.value(&shared)?),
        };
        self.facts.enter();
        self.facts.learn(&shared, &self.stored);
        let inner = self.nodes_under_mask(cond, &count, then, lanes);
        self.facts.leave();
        let Some(inner) = inner? else {
            return Ok(None);
        };
        Ok(Some(match test {
            None => inner,
            Some(test) => {
                let mut out = Vec::new();
                push_branch(&mut out, test, inner, vec![]);
                out
            }
        }))
    }

    /// Statements for the lanes that fulfil the condition, which are so many.
    pub(super) fn nodes_under_mask(
        &mut self,
        cond: &Expr,
        count: &Expr,
        then: &[Node],
        lanes: &Lanes<'_>,
    ) -> Result<Option<Vec<Stmt>>, LowerError> {
        let mut same_everywhere = true;
        walk_nodes(then, &mut |node| {
            let exprs = node.exprs();
            same_everywhere &= exprs.into_iter().all(|e| self.loads_anyway(e, lanes));
        });
        if !same_everywhere {
            return Ok(None);
        }
        let lanes = self.masked(lanes, count)?;
        self.facts.enter();
        self.facts.learn(cond, &self.stored);
        let inner = self.vector_nodes(then, &lanes);
        self.facts.leave();
        Ok(inner?.filter(|_| lanes.is_done()))
    }

    /// Whether what an expression loads for all lanes together is in range although no lane may be active, and stays so whatever
    /// the condition of active lanes makes of it.
    pub(super) fn loads_anyway(&self, e: &Expr, lanes: &Lanes<'_>) -> bool {
        let is_plain = |index: &Expr| {
            let mut plain = true;
            index.walk(&mut |e| {
                plain &= !matches!(
                    e.kind(),
                    ExprKind::Binary(BinOp::Min | BinOp::Max, ..)
                        | ExprKind::Select(..)
                        | ExprKind::IfThenElse(..)
                );
                plain
            });
            plain
        };
        let mut fine = true;
        e.walk(&mut |e| {
            if let ExprKind::Load(buffer, indices) = e.kind() {
                let together = !lanes.vary(e);
                fine &= !together || self.in_range(buffer, indices) && indices.iter().all(is_plain);
            }
            fine
        });
        fine
    }

    /// The same lanes, of which at most so many are active.
    pub(super) fn masked<'v>(
        &mut self,
        lanes: &Lanes<'v>,
        count: &Expr,
    ) -> Result<Lanes<'v>, LowerError> {
        let mut count = self.exact_index(count)?;
        if let Some(outer) = &lanes.active {
            let both = Box::new(outer.count.clone());
            count = kernel::Expr::Binary(BinOp::Min, both, Box::new(count));
        }
        Ok(Lanes {
            var: lanes.var,
            count: lanes.count,
            active: Some(Active {
                count,
                failed: Cell::new(false),
            }),
            named: lanes.named.clone(),
        })
    }

    /// What a condition asks of all lanes together, and the number of first lanes that fulfil the rest: for `base + lane < n` it is
    /// `n - base`.
    pub(super) fn active_lanes(&self, cond: &Expr, lanes: &Lanes<'_>) -> Option<(Expr, Expr)> {
        if self.gpu {
            return None;
        }
        let mut shared = Expr::bool(true);
        let mut count: Option<Expr> = None;
        for c in cond.conjuncts() {
            if !lanes.vary(&c) {
                shared = shared.and(c);
                continue;
            }
            let (index, end) = c.as_binary(BinOp::Lt)?;
            if lanes.names(&c) {
                return None;
            }
            let difference = WrappingSum::of(end).plus(&WrappingSum::of(index).join_div_mod(), -1);
            let (stride, rest) = difference.split(lanes.var)?;
            if stride.as_const() != Some(-1) {
                return None;
            }
            let own = rest.to_expr(index.dtype(), &|_| false);
            let own = self.facts.analyzer.simplify(&own);
            // Data may change under the branch, and their differences may wrap.
            if own.loads() {
                return None;
            }
            count = Some(count.map_or(own.clone(), |count| count.min(own)));
        }
        Some((shared, count?))
    }

    /// The condition without the lane, if it is the same in all lanes.
    pub(super) fn shared_condition(&self, cond: &Expr, lanes: &Lanes<'_>) -> Option<Expr> {
        let mut all = Expr::bool(true);
        for c in cond.conjuncts() {
            if !lanes.vary(&c) {
                all = all.and(c);
                continue;
            }
            let (a, b) = c.as_binary(BinOp::Lt)?;
            let base = lanes.aligned_base(a)?;
            if lanes.vary(b) || !WrappingSum::of(b).is_multiple_of(lanes.count.into()) {
                return None;
            }
            all = all.and(base.lt(b));
        }
        Some(all)
    }

    /// The condition in the first lane, if the others may run past the end: `index < n` where every array is accessed at
    /// `index` and has `n` elements, so that what is read and written too much is the padding of [`kernel::GLOBAL_ALIGN`].
    pub(super) fn padded_condition(
        &self,
        cond: &Expr,
        then: &[Node],
        lanes: &Lanes<'_>,
    ) -> Option<Expr> {
        let mut first = Expr::bool(true);
        let mut end = None;
        for c in cond.conjuncts() {
            if !lanes.vary(&c) {
                first = first.and(c);
                continue;
            }
            let (index, len) = c.as_binary(BinOp::Lt)?;
            let base = lanes.aligned_base(index)?;
            if end.is_some() || lanes.vary(len) {
                return None;
            }
            first = first.and(base.lt(len));
            end = Some((WrappingSum::of(index).join_div_mod(), WrappingSum::of(len)));
        }
        let (index, len) = end?;
        let same = |a: &WrappingSum, b: &WrappingSum| a.clone().plus(b, -1).as_const() == Some(0);
        let at_index = |buffer: &Buffer, indices: &[Expr]| {
            self.is_padded(self.array_id(buffer), lanes.count)
                && same(&flat(buffer, indices), &index)
                && same(&elements(buffer), &len)
        };
        let fits = then.iter().all(|node| match node {
            Node::Store {
                buffer,
                indices,
                value,
                shuffle: _,
                axes: _,
            } => {
                let mut fits = at_index(buffer, indices) && !may_fail(value, &self.facts.analyzer);
                value.walk(&mut |e| {
                    if let ExprKind::Load(buffer, indices) = e.kind() {
                        fits &= !lanes.vary(e) || at_index(buffer, indices);
                    }
                    fits
                });
                fits
            }
            Node::For { .. }
            | Node::Let { .. }
            | Node::If { .. }
            | Node::While { .. }
            | Node::Fragment(_)
            | Node::Barrier(_) => false,
        });
        fits.then_some(first)
    }

    /// The index with `min(base + lane, n - 1)` written as `min(base, n - lanes) + lane` where base and `n` are multiples
    /// of the number of lanes. Past the end these are other elements, so that is done only for limits of lowering itself.
    pub(super) fn aligned_min(&self, index: &Expr, lanes: &Lanes<'_>) -> Expr {
        // Inside a main loop or a branch, what is known may make the minimum needless.
        let index = self.facts.analyzer.simplify(index);
        if self.limits_indices {
            return index;
        }
        index.rewrite_bottom_up(&mut |e| {
            let Some((a, b)) = e.as_binary(BinOp::Min) else {
                return e.clone();
            };
            let extent = WrappingSum::of(&(b + 1));
            match lanes.aligned_base(a) {
                Some(base) if !lanes.vary(b) && extent.is_multiple_of(lanes.count.into()) => {
                    let last = extent.to_expr(b.dtype(), &|_| false) - i64::from(lanes.count);
                    let last = self.facts.analyzer.simplify(&last);
                    base.min(last) + lanes.var
                }
                _ => e.clone(),
            }
        })
    }
}

/// A vector of so many lanes that says which of them are active.
pub(super) fn mask(active: &kernel::Expr, lanes: u16) -> kernel::Expr {
    let int = |value| kernel::Expr::Int(value, ScalarType::I32);
    let numbers = kernel::Expr::Ramp(Box::new(int(0)), Box::new(int(1)), lanes);
    // A number that fits, whatever its type was.
    let most = kernel::Expr::Int(lanes.into(), ScalarType::I64);
    let least = kernel::Expr::Int(0, ScalarType::I64);
    let count = kernel::Expr::Binary(BinOp::Min, Box::new(active.clone()), Box::new(most));
    let count = kernel::Expr::Binary(BinOp::Max, Box::new(count), Box::new(least));
    let count = kernel::Expr::Cast(Ty::scalar(ScalarType::I32), Box::new(count));
    let count = kernel::Expr::Splat(Box::new(count), lanes);
    kernel::Expr::Binary(BinOp::Lt, Box::new(numbers), Box::new(count))
}
