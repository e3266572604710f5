//! `Analyzer`: what is known of variables, and the questions asked about expressions under that knowledge.

use std::collections::HashMap;

use super::models::Models;
use super::{IntBound, prove, simplify};
use crate::ir::sum::{Sum, is_index};
use crate::ir::{Expr, ExprKind, Range, Var};
use crate::tensor::scalar::BinOp;

/// Facts about variables; simplifies and proves under them.
///
/// ```
/// use weftile::arith::Analyzer;
/// use weftile::ir::{Range, Var};
/// use weftile::tensor::DType;
///
/// let (n, i) = (Var::new("n", DType::I32), Var::new("i", DType::I32));
/// let mut facts = Analyzer::new();
/// facts.bind_shape_var(&n);
/// facts.bind(&i, &Range::to(n.expr()));
/// assert!(facts.can_prove(&(i.expr() + 1).le(&n)));
/// assert_eq!(facts.simplify(&(i.expr() * 4 + 3).floor_div(4)), i.expr());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Analyzer {
    vars: HashMap<Var, VarFacts>,
    /// Bounds of other expressions that occur in facts.
    atoms: HashMap<Expr, IntBound>,
    /// Sums known to be at least 0.
    pub(super) nonneg: Vec<Sum>,
    /// Conditions known to be true.
    truths: Vec<Expr>,
    /// Sums of several terms that are extents.
    extents: Vec<Sum>,
    /// `(x, m)`: `x` is a multiple of `m`.
    multiples: Vec<(Expr, i128)>,
    /// Examples of what the variables may be.
    pub(super) models: Models,
}

#[derive(Clone, Debug)]
struct VarFacts {
    bound: IntBound,
    /// Values in terms of other variables.
    range: Option<Range>,
    /// How many variables were bound before.
    order: usize,
}

impl Analyzer {
    /// Nothing is known.
    pub fn new() -> Self {
        Self::default()
    }

    /// The variable lies in the range, which is taken not to be empty.
    pub fn bind(&mut self, var: &Var, range: &Range) {
        self.models.bind(var, range);
        let (min, extent) = (self.bound(&range.min), self.bound(&range.extent));
        let max = min.add(extent).add(IntBound::point(-1)).max;
        let facts = VarFacts {
            bound: IntBound::new(min.min, max),
            range: Some(range.clone()),
            order: self.vars.len(),
        };
        self.vars.insert(var.clone(), facts);
    }

    /// The variable counts iterations of a loop, and what is asked about stands inside: then the loop has some.
    pub fn bind_iteration(&mut self, var: &Var, range: &Range) {
        self.bind(var, range);
        if range.min.is_data() || range.extent.is_data() {
            // What is in memory may be another value by the time that the variable is asked about.
            self.bind_bound(var, self.bound(&var.expr()));
            return;
        }
        if range.extent.as_int().is_none() {
            self.assume(&range.extent.ge(1));
        }
    }

    /// The variable is a symbolic dimension: at least 0.
    pub fn bind_shape_var(&mut self, var: &Var) {
        self.bind_bound(var, IntBound::new(0, IntBound::POS_INF));
    }

    /// The expression is an extent of a tensor: at least 0.
    pub fn bind_extent(&mut self, extent: &Expr) {
        self.assume(&extent.ge(0));
        let sum = Sum::of(&self.simplify(extent));
        if !sum.terms.is_empty() && sum.pieces() > 1 {
            self.extents.push(sum);
        }
    }

    /// The variable lies between these numbers.
    pub fn bind_bound(&mut self, var: &Var, bound: IntBound) {
        self.models.bind_bound(var, bound);
        let facts = VarFacts {
            bound,
            range: None,
            order: self.vars.len(),
        };
        self.vars.insert(var.clone(), facts);
    }

    /// The condition holds.
    pub fn assume(&mut self, cond: &Expr) {
        let cond = self.simplify(cond);
        self.learn(&cond);
    }

    fn learn(&mut self, cond: &Expr) {
        match cond.kind() {
            ExprKind::Binary(BinOp::And, a, b) => {
                self.learn(a);
                self.learn(b);
                return;
            }
            ExprKind::Binary(op, a, b) if is_index(a.dtype()) => {
                self.models.assume(cond);
                let d = Sum::of(a).plus(&Sum::of(b), -1);
                match op {
                    BinOp::Lt => self.learn_nonneg(d.scaled(-1).plus_constant(-1)),
                    BinOp::Le => self.learn_nonneg(d.scaled(-1)),
                    BinOp::Gt => self.learn_nonneg(d.plus_constant(-1)),
                    BinOp::Ge => self.learn_nonneg(d),
                    BinOp::Eq => {
                        if let Some((BinOp::FloorMod, x, m)) = as_binary(a)
                            && let (Some(m), Some(0)) = (m.as_int(), b.as_int())
                            && m > 0
                        {
                            self.multiples.push((x.clone(), m.into()));
                        }
                        self.learn_nonneg(d.clone());
                        self.learn_nonneg(d.scaled(-1));
                    }
                    _ => {}
                }
            }
            _ => {}
        }
        self.truths.push(cond.clone());
    }

    fn learn_nonneg(&mut self, sum: Sum) {
        if let [term] = &sum.terms[..]
            && let Some(atom) = term.atom()
            && let Ok(limit) = i64::try_from(-sum.constant)
            && let Ok(coeff) = i64::try_from(term.coeff)
        {
            // coeff · atom >= limit
            let old = self.bound(atom);
            let new = if coeff > 0 {
                let least = -crate::tensor::scalar::floor_div(-limit, coeff);
                old.intersect(IntBound::new(least, IntBound::POS_INF))
            } else {
                let most = crate::tensor::scalar::floor_div(limit, coeff);
                old.intersect(IntBound::new(IntBound::NEG_INF, most))
            };
            match atom.as_var() {
                Some(var) => match self.vars.get_mut(var) {
                    Some(facts) => facts.bound = new,
                    None => self.bind_bound(var, new),
                },
                None => {
                    self.atoms.insert(atom.clone(), new);
                }
            }
            if new.min > IntBound::NEG_INF {
                self.learn_of_operands(atom, new.min);
            }
        }
        // a · b >= 1 where both are at least 0: both are at least 1.
        if let [term] = &sum.terms[..]
            && term.atoms.len() > 1
            && term.coeff > 0
            && sum.constant < 0
            && term.atoms.iter().all(|atom| self.bound(atom).min >= 0)
        {
            for atom in &term.atoms {
                self.assume(&atom.ge(1));
            }
        }
        self.learn_of_factors(&sum);
        self.nonneg.push(sum);
    }

    /// What `atom >= least` says of its operands.
    fn learn_of_operands(&mut self, atom: &Expr, least: i64) {
        match as_binary(atom) {
            // x % c >= k where x >= 0: x >= k.
            Some((BinOp::FloorMod, x, _)) if least > 0 && self.bound(x).min >= 0 => {
                self.assume(&x.ge(least));
            }
            // x // c >= k where c > 0: x >= k * c.
            Some((BinOp::FloorDiv, x, c)) => {
                if let Some(c) = c.as_int().filter(|c| *c > 0)
                    && let Some(least) = least.checked_mul(c)
                {
                    self.assume(&x.ge(least));
                }
            }
            // max(x, y) >= k where y < k: x >= k.
            Some((BinOp::Max, x, y)) => {
                for (x, other) in [(x, y), (y, x)] {
                    if self.bound(other).max < least {
                        self.assume(&x.ge(least));
                    }
                }
            }
            _ => {}
        }
    }

    /// `x · e >= 1` where `e` is an extent, so at least 0: both are at least 1.
    fn learn_of_factors(&mut self, sum: &Sum) {
        if sum.constant >= 0 || sum.terms.len() < 2 {
            return;
        }
        let product = sum.clone().plus_constant(-sum.constant);
        let found = self.extents.iter().find_map(|extent| {
            let rest = product.quotient(extent)?;
            (!rest.terms.is_empty()).then(|| [extent.clone(), rest])
        });
        for factor in found.into_iter().flatten() {
            if let Some(factor) = factor.to_expr() {
                self.assume(&factor.ge(1));
            }
        }
    }

    /// An expression with the same value wherever what is known holds; the same node if it is as simple as can be.
    pub fn simplify(&self, expr: &Expr) -> Expr {
        simplify::simplify(self, expr)
    }

    /// Whether the condition holds wherever what is known does. `false` means "not known".
    pub fn can_prove(&self, cond: &Expr) -> bool {
        let cond = self.simplify(cond);
        prove::holds(self, &cond)
    }

    /// Whether both always have the same value.
    pub fn can_prove_equal(&self, a: &Expr, b: &Expr) -> bool {
        if a == b {
            return true;
        }
        if !is_index(a.dtype()) || !is_index(b.dtype()) {
            return self.simplify(a) == self.simplify(b);
        }
        let difference = self.simplify(&(a - b));
        difference.is_zero() || Sum::of(&difference).as_constant() == Some(0)
    }

    /// An interval that holds every value of an integer expression.
    pub fn bound(&self, expr: &Expr) -> IntBound {
        let known = self.atoms.get(expr).copied();
        let own = self.bound_of_kind(expr);
        known.map_or(own, |known| own.intersect(known))
    }

    fn bound_of_kind(&self, expr: &Expr) -> IntBound {
        let type_range = || {
            expr.dtype()
                .scalar
                .int_range()
                .filter(|_| expr.dtype().bytes() < 4)
                .map_or(IntBound::EVERYTHING, |(min, max)| IntBound::new(min, max))
        };
        match expr.kind() {
            ExprKind::Int(v) => IntBound::point(*v),
            ExprKind::Var(v) => self.vars.get(v).map_or_else(type_range, |f| f.bound),
            ExprKind::Binary(op @ (BinOp::Add | BinOp::Sub | BinOp::Mul), a, b)
                if is_index(expr.dtype()) =>
            {
                let sum = Sum::of(expr);
                if !sum.is_atom(expr) {
                    let bound = self.bound_of_sum(&sum);
                    return match op {
                        _ if bound.min >= 0 || bound.max <= 0 || expr.is_data() => bound,
                        // Multiplied out, the factors no longer say what they are together.
                        BinOp::Mul => bound.intersect(self.bound(a).mul(self.bound(b))),
                        _ => bound.intersect(self.bound_of_factors(&sum)),
                    };
                }
                let (a, b) = (self.bound(a), self.bound(b));
                let exact = match op {
                    BinOp::Add => a.add(b),
                    BinOp::Sub => a.add(b.neg()),
                    _ => a.mul(b),
                };
                if expr.is_data() && !exact.fits(expr.dtype().scalar) {
                    type_range()
                } else {
                    exact
                }
            }
            ExprKind::Binary(op, a, b) if is_index(expr.dtype()) => {
                let (a, b) = (self.bound(a), self.bound(b));
                match op {
                    BinOp::FloorDiv => a.floor_div(b),
                    BinOp::FloorMod => a.floor_mod(b),
                    BinOp::Div if a.min >= 0 && b.min > 0 => a.floor_div(b),
                    BinOp::Mod if a.min >= 0 && b.min > 0 => a.floor_mod(b),
                    BinOp::Min => a.min_of(b),
                    BinOp::Max => a.max_of(b),
                    _ => type_range(),
                }
            }
            ExprKind::Select(_, a, b) | ExprKind::IfThenElse(_, a, b) => {
                self.bound(a).union(self.bound(b))
            }
            ExprKind::Cast(a) if is_index(expr.dtype()) && a.dtype().is_int() => {
                let inner = self.bound(a);
                let fits = inner.fits(expr.dtype().scalar);
                let widens = a.dtype().bytes() <= expr.dtype().bytes();
                if fits || (widens && !a.dtype().scalar.is_unsigned_int()) {
                    inner
                } else {
                    type_range()
                }
            }
            ExprKind::Binary(op, _, _) if op.is_comparison() || op.is_logical() => {
                IntBound::new(0, 1)
            }
            _ => type_range(),
        }
    }

    /// `a · b - a` as `a · (b - 1)`.
    fn bound_of_factors(&self, sum: &Sum) -> IntBound {
        let (common, rest) = sum.without_common_factor();
        match common.atoms.is_empty() {
            true => IntBound::EVERYTHING,
            false => {
                let common = Sum::monomial(sum.dtype, (common.coeff, common.atoms));
                self.bound_of_sum(&common).mul(self.bound_of_sum(&rest))
            }
        }
    }

    pub(super) fn bound_of_sum(&self, sum: &Sum) -> IntBound {
        if sum.overflowed() {
            return IntBound::EVERYTHING;
        }
        let small = |v: i128| {
            IntBound::point(v.clamp(IntBound::NEG_INF.into(), IntBound::POS_INF.into()) as i64)
        };
        sum.terms.iter().fold(small(sum.constant), |total, term| {
            let product = term
                .atoms
                .iter()
                .fold(small(term.coeff), |p, atom| p.mul(self.bound(atom)));
            total.add(product)
        })
    }

    /// Values of a variable in terms of others, and how late it was bound.
    pub(super) fn range_of(&self, var: &Var) -> Option<(&Range, usize)> {
        let facts = self.vars.get(var)?;
        Some((facts.range.as_ref()?, facts.order))
    }

    /// The only value of a variable, if it is known.
    pub(super) fn value_of(&self, var: &Var) -> Option<Expr> {
        let facts = self.vars.get(var)?;
        match (facts.bound.as_point(), &facts.range) {
            (Some(value), _) if var.dtype().is_int() => Some(Expr::int(value, var.dtype())),
            (_, Some(range)) if range.extent.is_one() => Some(range.min.clone()),
            _ => None,
        }
    }

    /// Whether the condition was assumed.
    pub(super) fn is_assumed(&self, cond: &Expr) -> bool {
        self.truths.contains(cond)
    }

    /// A number that the expression is known to be a multiple of.
    pub(super) fn multiple_of(&self, expr: &Expr) -> i128 {
        let known = self.multiples.iter().filter(|(x, _)| x == expr);
        known.map(|&(_, m)| m).max().unwrap_or(1)
    }
}

/// The operator and operands, if the expression is binary.
pub(super) fn as_binary(e: &Expr) -> Option<(BinOp, &Expr, &Expr)> {
    if let ExprKind::Binary(op, a, b) = e.kind() {
        Some((*op, a, b))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::DType;

    #[test]
    fn inside_a_loop_its_extent_is_at_least_one() {
        let [n, m, i] = ["n", "m", "i"].map(|name| Var::new(name, DType::I64));
        let (n_expr, m_expr) = (n.expr(), m.expr());
        let tiles = (&n_expr + 15).floor_div(16);
        // An extent, and what it being at least 1 says.
        let cases = [
            (n_expr.clone(), n_expr.ge(1)),
            (&n_expr - 3, n_expr.ge(4)),
            (tiles.clone(), n_expr.ge(1)),
            (n_expr.floor_div(16), n_expr.ge(16)),
            (&n_expr * &m_expr, m_expr.ge(1)),
            (&tiles * &m_expr, n_expr.ge(1)),
            ((n_expr.floor_mod(16) + 15).floor_div(16), n_expr.ge(1)),
            ((n_expr.max(3) + 12).floor_div(16), n_expr.ge(4)),
            (
                ((&n_expr + m_expr.min(-64)).max(-64) + 63).floor_div(64) + 1,
                n_expr.ge(1),
            ),
        ];
        for (extent, known) in cases {
            let mut facts = Analyzer::new();
            facts.bind_shape_var(&n);
            facts.bind_shape_var(&m);
            assert!(!facts.can_prove(&known), "{known:?} outside");
            let mut inside = facts.clone();
            inside.bind_iteration(&i, &Range::to(extent.clone()));
            assert!(inside.can_prove(&known), "{known:?} for {extent:?}");
        }
    }

    #[test]
    fn products_of_extents_say_what_their_factors_are() {
        let [n, h, w] = ["n", "h", "w"].map(|name| Var::new(name, DType::I64));
        let half = |v: &Var| (v.expr() - 3).floor_div(2) + 1;
        let mut facts = Analyzer::new();
        [&n, &h, &w]
            .into_iter()
            .for_each(|v| facts.bind_shape_var(v));
        facts.bind_extent(&half(&h));
        facts.bind_extent(&half(&w));
        let known = [n.expr().ge(1), h.expr().ge(3), w.expr().ge(3)];
        let blocks = (n.expr() * half(&h) * half(&w) * 5 + 63).floor_div(64);
        assert!(!known.iter().any(|cond| facts.can_prove(cond)));
        facts.assume(&blocks.ge(1));
        assert!(known.iter().all(|cond| facts.can_prove(cond)));
    }

    #[test]
    fn a_product_of_which_a_factor_may_be_negative_says_nothing_of_either() {
        let [n, m, i] = ["n", "m", "i"].map(|name| Var::new(name, DType::I64));
        let mut facts = Analyzer::new();
        facts.bind_shape_var(&n);
        facts.bind_iteration(&i, &Range::to(n.expr() * m.expr()));
        assert!(!facts.can_prove(&n.expr().ge(2)));
        assert!(!facts.can_prove(&m.expr().ge(1)));
    }
}
