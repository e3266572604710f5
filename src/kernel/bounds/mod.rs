//! Whether a kernel stays inside its arrays, once its dims are known.
//!
//! [`Kernel::in_bounds`] is what the compiler proved for all dims. A kernel from a file may claim it of itself, so loading
//! forgets it, and this is how it is won back: with the dims all scalars are numbers, an index is mostly a linear form of loop
//! variables, and the ranges of the loops with the conditions around bound it. Whatever is not understood (an element as an
//! index, a product of loop variables) makes the answer "not shown", never a wrong one. Positions of threads range over the workgroup, those
//! of workgroups over the grid; of a kernel that is dispatched several times nothing is shown.
//!
//! Code without checks may compute sums, products and the two sides of a comparison in another order and without the ends of their
//! types. So nothing is known of those that their types cannot hold, nor of those further from 0 than any address ([`FAR`]).

mod linear;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use self::linear::{Facts, Linear};
use super::{Access, ArrayId, Expr, ForKind, Kernel, Space, Stmt, VarId};
use crate::support::SideTable;
use crate::tensor::ScalarType;
use crate::tensor::scalar::BinOp;

/// No index of memory that there can be is further from 0, and sums of many such numbers fit an `int64`.
const FAR: i128 = 1 << 48;

impl Kernel {
    /// Whether it is shown that every access of a launch with these dims is inside its array, and that only arrays that the
    /// kernel may write are written.
    ///
    /// # Panics
    /// If a dim is missing.
    pub fn stays_in_bounds(&self, dims: &[i64]) -> bool {
        let mut prover = BoundsProof {
            kernel: self,
            facts: Facts::default(),
            vars: HashMap::new(),
            blocks: vec![],
            threads: vec![],
            scope: vec![],
            lens: SideTable::with_default(-1),
            quotients: vec![],
        };
        self.defines_once() && prover.start(dims).is_some() && prover.body(&self.body)
    }

    /// Whether no variable gets a value at two places: then what is known of one holds wherever it is seen.
    fn defines_once(&self) -> bool {
        fn define(body: &[Stmt], seen: &mut SideTable<VarId, bool>) -> bool {
            body.iter().all(|stmt| match stmt {
                Stmt::Let(var, _) => !std::mem::replace(seen.entry(*var), true),
                Stmt::For { var, body, .. } => {
                    !std::mem::replace(seen.entry(*var), true) && define(body, seen)
                }
                Stmt::If {
                    cond: _,
                    then,
                    otherwise,
                } => define(then, seen) && define(otherwise, seen),
                Stmt::While { cond: _, body } => define(body, seen),
                Stmt::Store { .. } | Stmt::Barrier | Stmt::Fragment(_) => true,
            })
        }
        let mut seen = SideTable::new();
        let scalars = self.scalars.iter();
        scalars.for_each(|(var, _)| *seen.entry(*var) = true);
        define(&self.body, &mut seen)
    }
}

/// A way that control can take.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Taken {
    Perhaps,
    Never,
}

/// Operators that code without checks looks through.
fn is_polynomial(op: BinOp) -> bool {
    matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul)
}

struct BoundsProof<'a> {
    kernel: &'a Kernel,
    facts: Facts,
    /// What is known of integer variables.
    vars: HashMap<VarId, Linear>,
    /// The position of a workgroup in the grid, and that of a thread in it, by dimension.
    blocks: Vec<Linear>,
    threads: Vec<Linear>,
    /// The variables of `vars` that are seen here, in the order of their definitions.
    scope: Vec<VarId>,
    /// Number of elements by array.
    lens: SideTable<ArrayId, i64>,
    /// Quotients met before: dividend, divisor, quotient, and the mark behind their facts.
    quotients: Vec<(Linear, i128, Linear, usize)>,
}

impl BoundsProof<'_> {
    fn start(&mut self, dims: &[i64]) -> Option<()> {
        let mut dims = dims.to_vec();
        if let Some(launch) = &self.kernel.launch {
            // Which dispatch it is would be another unknown.
            if launch.times.eval_exact(&dims).ok()? != 1 {
                return None;
            }
            for (grid, block) in launch.grid.iter().zip(launch.block) {
                let last = (grid.eval_exact(&dims).ok()? - 1).max(0);
                self.blocks.push(self.facts.unknown(0, last.into()));
                let last = block.saturating_sub(1);
                self.threads.push(self.facts.unknown(0, last.into()));
            }
            dims.push(0);
        }
        let dims = &dims;
        for (id, array) in self.kernel.arrays.iter() {
            *self.lens.entry(id) = array.len.eval_exact(dims).ok()?;
        }
        for (var, value) in &self.kernel.scalars {
            let value = value.eval(dims).ok()?;
            let (least, greatest) = self.kernel.vars[*var].ty.scalar.int_range()?;
            // What does not fit is cut on the way, to what is not known here.
            if !(least..=greatest).contains(&value) {
                return None;
            }
            self.vars.insert(*var, Linear::constant(value.into()));
        }
        Some(())
    }

    fn body(&mut self, stmts: &[Stmt]) -> bool {
        stmts.iter().all(|stmt| self.stmt(stmt))
    }

    /// A body of its own: what is learnt in it holds in it only.
    fn nested(&mut self, stmts: &[Stmt], facts: Vec<Linear>) -> bool {
        let mark = self.facts.mark();
        let (quotients, scope) = (self.quotients.len(), self.scope.len());
        facts.into_iter().for_each(|fact| self.facts.assume(fact));
        let good = self.body(stmts);
        self.facts.forget(mark);
        self.quotients.truncate(quotients);
        for var in self.scope.drain(scope..) {
            self.vars.remove(&var);
        }
        good
    }

    fn stmt(&mut self, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::Let(var, value) => {
                let Some(form) = self.value(value) else {
                    return false;
                };
                if let Some(form) = form {
                    self.vars.insert(*var, form);
                    self.scope.push(*var);
                }
                true
            }
            Stmt::Store {
                array,
                index,
                value,
                active,
            } => {
                let lanes = self.kernel.ty(value).lanes;
                self.may_write(*array)
                    && self.inside(*array, index, lanes, active.as_ref())
                    && self.value(value).is_some()
            }
            Stmt::For {
                var,
                min,
                extent,
                kind,
                body,
            } => self.for_loop(*var, min, extent, *kind, body),
            Stmt::If {
                cond,
                then,
                otherwise,
            } => {
                if self.value(cond).is_none() {
                    return false;
                }
                let (yes, taken) = self.assumed(cond, true);
                let (no, else_taken) = self.assumed(cond, false);
                (taken == Taken::Never || self.nested(then, yes))
                    && (else_taken == Taken::Never || self.nested(otherwise, no))
            }
            Stmt::While { cond, body } => self.value(cond).is_some() && self.nested(body, vec![]),
            // Of a GPU; the verifier has shown it.
            Stmt::Barrier | Stmt::Fragment(_) => true,
        }
    }

    fn for_loop(
        &mut self,
        var: VarId,
        min: &Expr,
        extent: &Expr,
        kind: ForKind,
        body: &[Stmt],
    ) -> bool {
        let counts_in = self.kernel.ty(extent).scalar;
        let (Some(Some(min)), Some(Some(extent))) = (self.value(min), self.value(extent)) else {
            return false;
        };
        // The host computes how many iterations are spread over threads, in an `int64`.
        if kind == ForKind::Parallel
            && counts_in != ScalarType::I64
            && extent.as_constant().is_none()
        {
            return false;
        }
        let Some(end) = min.plus(&extent, 1) else {
            return false;
        };
        // An end that wraps makes a loop of what has no iterations.
        let counted = i128::from(i64::MIN)..=i128::from(i64::MAX);
        let in_range = |(least, greatest)| counted.contains(&least) && counted.contains(&greatest);
        if !self.facts.range(&end).is_some_and(in_range) {
            return false;
        }
        // var - (min + extent - 1) <= 0
        let Some(last) = end.plus(&Linear::constant(1), -1) else {
            return false;
        };
        let (Some((least, _)), Some((_, greatest))) =
            (self.facts.range(&min), self.facts.range(&last))
        else {
            return false;
        };
        if greatest < least {
            return true;
        }
        let ty = self.kernel.vars[var].ty.scalar.int_range();
        if ty.is_none_or(|(low, high)| least < low.into() || greatest >= high.into()) {
            return false;
        }
        let counter = self.facts.unknown(least, greatest);
        // Limits that are numbers are in the range already.
        let above = (min.as_constant().is_none()).then(|| min.plus(&counter, -1));
        let below = (last.as_constant().is_none()).then(|| counter.plus(&last, -1));
        let facts = above.into_iter().chain(below).collect::<Option<_>>();
        let Some(facts) = facts else { return false };
        self.vars.insert(var, counter);
        let good = self.nested(body, facts);
        self.vars.remove(&var);
        good
    }

    fn may_write(&self, array: ArrayId) -> bool {
        match self.kernel.arrays[array].space {
            Space::Global { buffer: _, access } => access != Access::Read,
            Space::Shared | Space::Local => true,
        }
    }

    /// Whether `lanes` elements from `index` on are in the array, or those of them that are active.
    fn inside(&mut self, array: ArrayId, index: &Expr, lanes: u16, active: Option<&Expr>) -> bool {
        let Some(Some(form)) = self.value(index) else {
            return false;
        };
        let len = i128::from(*self.lens.entry(array));
        let Some(active) = active else {
            return self.facts.at_most(&form, len - i128::from(lanes))
                && self.facts.at_least(&form, 0);
        };
        let Some(Some(active)) = self.value(active) else {
            return false;
        };
        let (Some(none), Some(end)) =
            (Linear::constant(1).plus(&active, -1), form.plus(&active, 1))
        else {
            return false;
        };
        // Memory is touched only if the first lane is active.
        let mark = self.facts.mark();
        self.facts.assume(none);
        let inside = self.facts.at_least(&form, 0)
            && (self.facts.at_most(&end, len)
                || self.facts.at_most(&form, len - i128::from(lanes)));
        self.facts.forget(mark);
        inside
    }

    /// What is known of an integer; inside it `None` for what is no scalar integer or may wrap. `None` if it holds an access
    /// that is not shown to be inside its array.
    fn value(&mut self, e: &Expr) -> Option<Option<Linear>> {
        let form = match e {
            Expr::Int(value, _) => self.fitting(e, Linear::constant((*value).into())),
            Expr::Float(..) => None,
            Expr::Var(var) => self.vars.get(var).cloned(),
            Expr::BlockIdx(axis) => self.of_launch(e, &self.blocks, *axis),
            Expr::ThreadIdx(axis) => self.of_launch(e, &self.threads, *axis),
            Expr::Cast(_, a) => {
                let form = self.value(a)?;
                if self.is_int(a) {
                    form.and_then(|form| self.fitting(e, form))
                } else {
                    self.any(e)
                }
            }
            Expr::Binary(op, a, b) => match (self.value(a)?, self.value(b)?) {
                (Some(x), Some(y)) => match self.binary(*op, &x, &y) {
                    Some(form) if !is_polynomial(*op) || self.is_near(&form) => {
                        self.fitting(e, form)
                    }
                    None if !is_polynomial(*op) => self.any(e),
                    _ => None,
                },
                _ if op.is_comparison() || op.is_logical() => self.any(e),
                _ => None,
            },
            Expr::Select(c, a, b) => {
                self.value(c)?;
                // What chooses is looked into again, so it must not choose itself.
                let is_plain = !c.any(&|e| matches!(e, Expr::Select(..)));
                let never =
                    [true, false].map(|truth| is_plain && self.assumed(c, truth).1 == Taken::Never);
                match (self.value(a)?, self.value(b)?) {
                    (_, b) if never[0] => b,
                    (a, _) if never[1] => a,
                    (Some(a), Some(b)) => match (self.facts.range(&a), self.facts.range(&b)) {
                        (Some(a), Some(b)) => Some(self.facts.unknown(a.0.min(b.0), a.1.max(b.1))),
                        _ => None,
                    },
                    _ => None,
                }
            }
            Expr::Load {
                array,
                index,
                lanes,
                active,
            } => {
                if !self.inside(*array, index, *lanes, active.as_deref()) {
                    return None;
                }
                self.any(e)
            }
            Expr::Bits(_, a)
            | Expr::Not(a)
            | Expr::Splat(a, _)
            | Expr::Lane(a, _)
            | Expr::Shuffle(_, a)
            | Expr::Any(a) => {
                self.value(a)?;
                self.any(e)
            }
            Expr::Ramp(a, b, _) => {
                self.value(a)?;
                self.value(b)?;
                self.any(e)
            }
            Expr::Call(_, args) | Expr::Pack(args) => {
                for arg in args {
                    self.value(arg)?;
                }
                self.any(e)
            }
        };
        Some(form)
    }

    /// A position in the launch, if there is one and the type holds it.
    fn of_launch(&self, e: &Expr, positions: &[Linear], axis: u8) -> Option<Linear> {
        let position = positions.get(usize::from(axis))?;
        self.fitting(e, position.clone())
    }

    /// Any value of the type, if it is a scalar integer.
    fn any(&mut self, e: &Expr) -> Option<Linear> {
        let ty = self.kernel.ty(e);
        let (least, greatest) = ty.scalar.int_range().filter(|_| ty.lanes == 1)?;
        // The greatest `u64` has no place in the ranges of types.
        let greatest = match ty.scalar {
            ScalarType::U64 => u64::MAX.into(),
            _ => i128::from(greatest),
        };
        Some(self.facts.unknown(least.into(), greatest))
    }

    fn is_int(&self, e: &Expr) -> bool {
        let ty = self.kernel.ty(e);
        ty.lanes == 1 && ty.scalar.int_range().is_some()
    }

    /// The form if the type of the expression can hold all its values; else they may be cut to any, or be computed without that.
    fn fitting(&self, e: &Expr, form: Linear) -> Option<Linear> {
        let ty = self.kernel.ty(e);
        let (low, high) = ty.scalar.int_range().filter(|_| ty.lanes == 1)?;
        let (least, greatest) = self.facts.range(&form)?;
        (i128::from(low) <= least && greatest <= i128::from(high)).then_some(form)
    }

    /// Whether no value of the form is [`FAR`] from 0.
    fn is_near(&self, form: &Linear) -> bool {
        let range = self.facts.range(form);
        range.is_some_and(|(least, greatest)| -FAR <= least && greatest <= FAR)
    }

    /// The result of an operator; `None` if nothing is known of it.
    fn binary(&mut self, op: BinOp, a: &Linear, b: &Linear) -> Option<Linear> {
        let constants = (a.as_constant(), b.as_constant());
        match (op, constants) {
            (BinOp::Add, _) => a.plus(b, 1),
            (BinOp::Sub, _) => a.plus(b, -1),
            (BinOp::Mul, (_, Some(factor))) => a.scaled(factor),
            (BinOp::Mul, (Some(factor), _)) => b.scaled(factor),
            (BinOp::FloorDiv, (_, Some(by))) if by > 0 => self.quotient(a, by),
            (BinOp::FloorMod, (_, Some(by))) if by > 0 => self.remainder(a, by),
            // Towards zero is downwards where nothing is negative.
            (BinOp::Div, (_, Some(by))) if by > 0 && self.facts.at_least(a, 0) => {
                self.quotient(a, by)
            }
            (BinOp::Mod, (_, Some(by))) if by > 0 && self.facts.at_least(a, 0) => {
                self.remainder(a, by)
            }
            // Powers of two, as optimised kernels divide by them.
            (BinOp::Shr, (_, Some(by))) if (0..63).contains(&by) => self.quotient(a, 1 << by),
            (BinOp::BitAnd, (_, Some(mask))) if mask >= 0 && (mask + 1) & mask == 0 => {
                self.remainder(a, mask + 1)
            }
            (BinOp::Min, _) => self.extreme(a, b, 1),
            (BinOp::Max, _) => self.extreme(a, b, -1),
            _ => None,
        }
    }

    /// `a // by`: an unknown `q` with `by * q <= a <= by * q + by - 1`.
    fn quotient(&mut self, a: &Linear, by: i128) -> Option<Linear> {
        if let Some(value) = a.as_constant() {
            return Some(Linear::constant(value.div_euclid(by)));
        }
        let mark = self.facts.mark();
        let known = |(dividend, divisor, _, at): &&(Linear, i128, Linear, usize)| {
            dividend == a && *divisor == by && *at <= mark
        };
        if let Some((_, _, quotient, _)) = self.quotients.iter().find(known) {
            let quotient = quotient.clone();
            self.bound_quotient(&quotient, a, by)?;
            return Some(quotient);
        }
        let (least, greatest) = self.facts.range(a)?;
        let quotient = self
            .facts
            .unknown(least.div_euclid(by), greatest.div_euclid(by));
        let below = quotient.scaled(by)?.plus(a, -1)?;
        let above = below.scaled(-1)?.plus(&Linear::constant(1 - by), 1)?;
        self.facts.assume(below);
        self.facts.assume(above);
        let entry = (a.clone(), by, quotient.clone(), self.facts.mark());
        self.quotients.push(entry);
        self.bound_quotient(&quotient, a, by)?;
        Some(quotient)
    }

    /// What facts about the dividend say of `a // by`: it is a whole number, which facts about `by * q` alone do not use.
    fn bound_quotient(&mut self, quotient: &Linear, a: &Linear, by: i128) -> Option<()> {
        let (_, ranged) = self.facts.range(quotient)?;
        let most = self.facts.most(a)?.div_euclid(by);
        if most < ranged && !self.facts.at_most(quotient, most) {
            self.facts
                .assume(quotient.plus(&Linear::constant(-most), 1)?);
        }
        Some(())
    }

    /// `a % by`, which is `a - by * (a // by)`.
    fn remainder(&mut self, a: &Linear, by: i128) -> Option<Linear> {
        let quotient = self.quotient(a, by)?;
        let exact = a.plus(&quotient, -by)?;
        if let Some(value) = exact.as_constant() {
            return Some(Linear::constant(value));
        }
        // As an unknown of its own it has the tight range.
        let remainder = self.facts.unknown(0, by - 1);
        self.facts.assume(remainder.plus(&exact, -1)?);
        self.facts.assume(exact.plus(&remainder, -1)?);
        Some(remainder)
    }

    /// The smaller one of two (`sign` 1), or the greater one (-1): an unknown that is bounded by both.
    fn extreme(&mut self, a: &Linear, b: &Linear, sign: i128) -> Option<Linear> {
        let (first, second) = (self.facts.range(a)?, self.facts.range(b)?);
        let unknown = if sign == 1 {
            self.facts
                .unknown(first.0.min(second.0), first.1.min(second.1))
        } else {
            self.facts
                .unknown(first.0.max(second.0), first.1.max(second.1))
        };
        for bound in [a, b] {
            self.facts.assume(unknown.plus(bound, -1)?.scaled(sign)?);
        }
        Some(unknown)
    }

    /// Whether it can be that both are equal, or are not.
    fn equal(&self, a: &Linear, b: &Linear, are: bool) -> Taken {
        let difference = a.plus(b, -1).and_then(|form| self.facts.range(&form));
        match (difference, are) {
            (Some((least, greatest)), true) if least > 0 || greatest < 0 => Taken::Never,
            (Some((0, 0)), false) => Taken::Never,
            _ => Taken::Perhaps,
        }
    }

    /// What holds where the condition is `truth`: forms that are not above 0; and whether that can be at all.
    fn assumed(&mut self, cond: &Expr, truth: bool) -> (Vec<Linear>, Taken) {
        let nothing = (vec![], Taken::Perhaps);
        let Expr::Binary(op, a, b) = cond else {
            return match cond {
                Expr::Not(inner) => self.assumed(inner, !truth),
                _ => nothing,
            };
        };
        if matches!((op, truth), (BinOp::And, true) | (BinOp::Or, false)) {
            let (mut facts, first) = self.assumed(a, truth);
            let (more, second) = self.assumed(b, truth);
            facts.extend(more);
            let never = first == Taken::Never || second == Taken::Never;
            return (facts, if never { Taken::Never } else { Taken::Perhaps });
        }
        if self.kernel.ty(a).scalar.int_range().is_none() || self.kernel.ty(a).lanes != 1 {
            return nothing;
        }
        let (Some(Some(a)), Some(Some(b))) = (self.value(a), self.value(b)) else {
            return nothing;
        };
        if !self.is_near(&a) || !self.is_near(&b) {
            return nothing;
        }
        if let BinOp::Eq | BinOp::Ne = op {
            return (vec![], self.equal(&a, &b, truth == (*op == BinOp::Eq)));
        }
        // Each as `x - y + constant <= 0`.
        let rule = match (op, truth) {
            (BinOp::Lt, true) | (BinOp::Ge, false) => Some((&a, &b, 1)),
            (BinOp::Le, true) | (BinOp::Gt, false) => Some((&a, &b, 0)),
            (BinOp::Gt, true) | (BinOp::Le, false) => Some((&b, &a, 1)),
            (BinOp::Ge, true) | (BinOp::Lt, false) => Some((&b, &a, 0)),
            _ => None,
        };
        let fact =
            rule.and_then(|(x, y, constant)| x.plus(y, -1)?.plus(&Linear::constant(constant), 1));
        let Some(fact) = fact else { return nothing };
        let never = self.facts.range(&fact).is_some_and(|(least, _)| least > 0);
        (
            vec![fact],
            if never { Taken::Never } else { Taken::Perhaps },
        )
    }
}
