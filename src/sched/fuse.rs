//! `fuse`: a nest of loops becomes one.
//!
//! ```text
//! for i, j in T.grid(4, 8):        for i_j_fused in range(32):
//!     with T.block("B"):               with T.block("B"):
//!         vi = T.axis.spatial(4, i)        vi = T.axis.spatial(4, i_j_fused // 8)
//!         vj = T.axis.spatial(8, j)        vj = T.axis.spatial(8, i_j_fused % 8)
//! ```
//!
//! Requires: plain loops from 0, each the only statement of the one before, no extent that depends on a fused loop; no loop
//! over the terms of a sum that may be empty with a loop over elements, which would be left unwritten. Meaning is kept: the new
//! loop visits the same values in the same order.

use super::affine::simplify_bindings;
use super::analysis::facts_at;
use super::split::check_plain;
use super::{Reason, Refusal, Schedule, ScheduleError, attached_loop};
use crate::arith::Analyzer;
use crate::arith::iter_map::UnitIters;
use crate::ir::{
    Attrs, Expr, ExprKind, IterKind, Loop, LoopId, LoopKind, Place, PrimFunc, Stmt, Var,
};

impl Schedule {
    /// Fuses loops, outermost first, into one.
    ///
    /// # Errors
    /// If a rule of the module's documentation is broken.
    pub fn fuse(&mut self, loops: &[LoopId]) -> Result<LoopId, ScheduleError> {
        self.fuse_with(loops, UnitIters::Preserve)
    }

    /// As [`fuse`](Self::fuse); `units` says whether loops of extent 1 vanish from the block bindings.
    ///
    /// # Errors
    /// As [`fuse`](Self::fuse).
    pub fn fuse_with(
        &mut self,
        loops: &[LoopId],
        units: UnitIters,
    ) -> Result<LoopId, ScheduleError> {
        let plan = FusePlan::check(&self.func, loops, units).map_err(|r| r.of("fuse"))?;
        let args = vec![loops.into(), units.into()];
        Ok(self.record("fuse", args, |func| plan.apply(func)))
    }
}

struct FusePlan {
    loops: Vec<LoopId>,
    fused: Loop,
    /// Value of each old variable.
    values: Vec<(Var, Expr)>,
    units: UnitIters,
}

impl FusePlan {
    fn check(func: &PrimFunc, loops: &[LoopId], units: UnitIters) -> Result<Self, Refusal> {
        let facts = Analyzer::new();
        let mut outer: Vec<&Loop> = Vec::new();
        for (i, &id) in loops.iter().enumerate() {
            let this = attached_loop(func, id)?;
            check_plain(func, id)?;
            if let Some(&above) = i.checked_sub(1).and_then(|i| loops.get(i)) {
                let names = || {
                    (
                        func.loops[above].var.name().to_owned(),
                        this.var.name().to_owned(),
                    )
                };
                let places = [Place::Loop(above), Place::Loop(id)];
                if func.tree.parent(id) != Some(Place::Loop(above)) {
                    let (outer, inner) = names();
                    return Err(Reason::OuterNotInnerParent { outer, inner }.at(places));
                }
                if !matches!(func.tree.body(above), [Stmt::Loop(only)] if *only == id) {
                    let (outer, inner) = names();
                    return Err(Reason::NotOnlyChild { outer, inner }.at(places));
                }
            }
            if let Some(used) = outer.iter().find(|l| this.extent.uses(&l.var)) {
                let (var, on) = (this.var.name().to_owned(), used.var.name().to_owned());
                return Err(Reason::DependentLoop { var, on }.at([Place::Loop(id)]));
            }
            outer.push(this);
        }
        check_sums_kept(func, loops)?;
        let Some((first, rest)) = outer.split_first() else {
            return Err(Reason::NoLoops.at([]));
        };
        let dtype = outer
            .iter()
            .map(|l| l.var.dtype())
            .max_by_key(|t| t.bytes())
            .unwrap_or(first.var.dtype());
        let suffix: String = rest.iter().map(|l| format!("_{}", l.var.name())).collect();
        let var = Var::new(format!("{}{suffix}_fused", first.var.name()), dtype);
        let mut values = Vec::new();
        let mut lower = Expr::int(1, dtype);
        for (i, l) in outer.iter().enumerate().rev() {
            let upper = facts.simplify(&(&lower * &l.extent));
            let value = match (l.extent.is_one(), i) {
                (true, _) => Expr::int(0, l.var.dtype()),
                (false, 0) => over(var.expr(), &lower),
                (false, _) => over(var.expr().floor_mod(&upper), &lower),
            };
            values.push((l.var.clone(), value));
            lower = upper;
        }
        let fused = Loop {
            var,
            min: Expr::int(0, dtype),
            extent: lower,
            kind: LoopKind::Serial,
            annotations: Attrs::new(),
        };
        let loops = loops.to_vec();
        Ok(Self {
            loops,
            fused,
            values,
            units,
        })
    }

    fn apply(self, func: &mut PrimFunc) -> LoopId {
        let (first, last) = (
            self.loops[0],
            *self.loops.last().expect("the check found a first loop"),
        );
        let body = func.tree.take_body(last);
        let fused = func.loops.push(self.fused);
        func.tree.replace(first, vec![Stmt::Loop(fused)]);
        func.tree.set_body(fused, body);
        let value = |v: &Var| {
            let known = self.values.iter().find(|(var, _)| var == v);
            known.map(|(_, value)| value.clone())
        };
        func.map_below(fused, &mut |e: &Expr| substituted(e, &value));
        for id in func.blocks_under(fused.into()) {
            let block = &mut func.blocks[id];
            for (binding, iter) in block.bindings.iter_mut().zip(&block.iters) {
                if binding.dtype() != iter.var.dtype() {
                    *binding = binding.cast(iter.var.dtype());
                }
            }
        }
        for id in self.loops {
            func.loops.remove(id);
        }
        simplify_bindings(func, fused.into(), self.units);
        fused
    }
}

/// The expression with variables replaced by values that may be of a wider type: operations that take such a value together with
/// others are done in its type.
fn substituted(e: &Expr, value: &dyn Fn(&Var) -> Option<Expr>) -> Expr {
    e.rewrite_bottom_up(&mut |e| match e.kind() {
        ExprKind::Var(var) => value(var).unwrap_or_else(|| e.clone()),
        ExprKind::Binary(op, a, b)
            if a.dtype() != b.dtype() || !op.is_comparison() && a.dtype() != e.dtype() =>
        {
            Expr::binary(*op, a.clone(), b.clone())
        }
        _ => e.clone(),
    })
}

/// Refuses to fuse a loop over elements with one over terms of their sums that may be empty: the elements would not get their
/// init then.
fn check_sums_kept(func: &PrimFunc, loops: &[LoopId]) -> Result<(), Refusal> {
    let Some(&first) = loops.first().filter(|_| loops.len() > 1) else {
        return Ok(());
    };
    let facts = facts_at(func, first.into());
    for block in func.child_blocks(first.into()) {
        let node = &func.blocks[block];
        let drives = |id: &LoopId, kind: IterKind| {
            let mut pairs = node.iters.iter().zip(&node.bindings);
            pairs.any(|(iter, e)| iter.kind == kind && e.uses(&func.loops[*id].var))
        };
        let may_be_empty = |id: &&LoopId| {
            drives(id, IterKind::Reduce)
                && !drives(id, IterKind::Spatial)
                && !facts.can_prove(&func.loops[**id].extent.ge(1))
        };
        let over_elements = loops.iter().any(|id| drives(id, IterKind::Spatial));
        if let Some(&id) = loops.iter().find(may_be_empty)
            && over_elements
            && node.init.is_some()
        {
            let reason = Reason::MayBeEmpty {
                var: func.loops[id].var.name().to_owned(),
                block: node.name.clone(),
            };
            return Err(reason.at([Place::Loop(id), Place::Block(block)]));
        }
    }
    Ok(())
}

/// `e // divisor`, without the division by 1.
fn over(e: Expr, divisor: &Expr) -> Expr {
    if divisor.is_one() {
        e
    } else {
        e.floor_div(divisor)
    }
}
