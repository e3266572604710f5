//! `split`: one loop becomes a nest.
//!
//! ```text
//! for i in range(128):            for i_0, i_1 in T.grid(3, 50):
//!     with T.block("B"):              with T.block("B"):
//!         vi = T.axis.spatial(128, i)     vi = T.axis.spatial(128, i_0 * 50 + i_1)
//!                                         T.where(i_0 * 50 + i_1 < 128)
//! ```
//!
//! Requires: a plain loop, positive factors whose product reaches the extent, at most one factor to be inferred; if the
//! new loops go past the extent, nothing outside the blocks below, as a predicate keeps only blocks from running. Meaning is
//! kept: the new loops visit each old value once and in order, and the predicate drops the values past the extent. There are none
//! where the program asserts at its root that the product of the factors divides the extent. The new loops are from 0. A loop from
//! another value, as a part that `loop_partition` makes, is one from 0 over what is added to this value; TVM refuses such a loop.

use super::affine::shape_facts;
use super::affine::simplify_bindings;
use super::analysis::check_only_blocks;
use super::rewrite::add_predicate_below;
use super::{Arg, Reason, Refusal, Schedule, ScheduleError, attached_loop};
use crate::arith::Analyzer;
use crate::arith::iter_map::UnitIters;
use crate::ir::{Attrs, Expr, Loop, LoopId, LoopKind, Place, PrimFunc, Range, Stmt, Var};

/// Extent of one loop that `split` makes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Factor {
    /// What the extent leaves, rounded up.
    Infer,
    /// This many.
    Of(i64),
}

impl From<i64> for Factor {
    fn from(value: i64) -> Self {
        Self::Of(value)
    }
}

impl From<Factor> for Arg {
    fn from(factor: Factor) -> Self {
        match factor {
            Factor::Infer => Self::None,
            Factor::Of(value) => Self::Int(value),
        }
    }
}

impl Schedule {
    /// Splits a loop into a nest with these extents, outermost first; at most one is inferred.
    ///
    /// # Errors
    /// If a rule of the module's documentation is broken.
    pub fn split(
        &mut self,
        target: LoopId,
        factors: &[Factor],
    ) -> Result<Vec<LoopId>, ScheduleError> {
        self.split_with(target, factors, UnitIters::Preserve)
    }

    /// As [`split`](Self::split); `units` says whether loops of extent 1 vanish from the block bindings.
    ///
    /// # Errors
    /// As [`split`](Self::split).
    pub fn split_with(
        &mut self,
        target: LoopId,
        factors: &[Factor],
        units: UnitIters,
    ) -> Result<Vec<LoopId>, ScheduleError> {
        let plan =
            SplitPlan::check(&self.func, target, factors, units).map_err(|r| r.of("split"))?;
        let args = vec![target.into(), factors.into(), units.into()];
        Ok(self.record("split", args, |func| plan.apply(func)))
    }
}

struct SplitPlan {
    target: LoopId,
    /// The new loops, outermost first.
    loops: Vec<Loop>,
    /// Value of the old variable.
    value: Expr,
    /// Holds where the value is below the old extent; `true` if always.
    predicate: Expr,
    units: UnitIters,
}

impl SplitPlan {
    fn check(
        func: &PrimFunc,
        target: LoopId,
        factors: &[Factor],
        units: UnitIters,
    ) -> Result<Self, Refusal> {
        let old = attached_loop(func, target)?;
        check_unmarked(func, target)?;
        let here = [Place::Loop(target)];
        let var = old.var.name().to_owned();
        let analyzer = Analyzer::new();
        let dtype = old.var.dtype();
        let count = factors.iter().filter(|&&f| f == Factor::Infer).count();
        if count > 1 {
            return Err(Reason::NotSingleInferFactor { count }.at(here));
        }
        let mut product: i64 = 1;
        let fits = |value: &i64| {
            let range = dtype.scalar.int_range();
            range.is_none_or(|(_, max)| *value <= max)
        };
        for (index, &factor) in factors.iter().enumerate() {
            if let Factor::Of(factor) = factor {
                if factor <= 0 {
                    return Err(Reason::NonPositiveFactor { factor, index }.at(here));
                }
                let next = product.checked_mul(factor).filter(fits);
                let refused = || Reason::FactorTooLarge { factor, index }.at(here);
                product = next.ok_or_else(refused)?;
            }
        }
        let whole = Expr::int(product, dtype);
        // By what the program asserts of its sizes.
        let rest = old.extent.floor_mod(&whole);
        let divides = count == 1
            && old.extent.as_int().is_none()
            && shape_facts(func).can_prove(&rest.equals(Expr::int(0, dtype)));
        let inferred = match divides {
            true => analyzer.simplify(&old.extent.floor_div(whole)),
            false => analyzer.simplify(&(&old.extent + &whole - 1).floor_div(whole)),
        };
        let extent_of = |factor: &Factor| match factor {
            Factor::Infer => inferred.clone(),
            Factor::Of(value) => Expr::int(*value, dtype),
        };
        let extents: Vec<Expr> = factors.iter().map(extent_of).collect();
        let total = extents
            .iter()
            .fold(Expr::int(1, dtype), |total, extent| total * extent);
        let total = analyzer.simplify(&total);
        if count == 0 && !analyzer.can_prove(&total.ge(&old.extent)) {
            let (product, extent) = (total, old.extent.clone());
            let reason = Reason::FactorsTooSmall {
                var,
                product,
                extent,
            };
            return Err(reason.at(here));
        }
        let loops: Vec<Loop> = extents
            .into_iter()
            .enumerate()
            .map(|(i, extent)| Loop {
                var: Var::new(format!("{var}_{i}"), dtype),
                min: Expr::int(0, dtype),
                extent,
                kind: LoopKind::Serial,
                annotations: Attrs::new(),
            })
            .collect();
        let value = loops
            .iter()
            .fold(Expr::int(0, dtype), |value, l| value * &l.extent + &l.var);
        // The variable of a unit loop has one value, but is part of the bindings if these are preserved.
        let (mut inside, mut shown) = (Analyzer::new(), Analyzer::new());
        for l in &loops {
            let (min, extent) = (l.min.clone(), l.extent.clone());
            let range = Range { min, extent };
            inside.bind(&l.var, &range);
            if units == UnitIters::Simplify || !l.extent.is_one() {
                shown.bind(&l.var, &range);
            }
        }
        let bound = shown.simplify(&value).lt(&old.extent);
        let predicate = if divides || inside.can_prove(&bound) {
            Expr::bool(true)
        } else {
            check_only_blocks(func, target.into())?;
            bound
        };
        let value = shown.simplify(&(&old.min + value));
        Ok(Self {
            target,
            loops,
            value,
            predicate,
            units,
        })
    }

    fn apply(self, func: &mut PrimFunc) -> Vec<LoopId> {
        let old_var = func.loops[self.target].var.clone();
        let value = self.value;
        func.substitute_below(self.target, &|v| (*v == old_var).then(|| value.clone()));
        add_predicate_below(func, self.target.into(), &self.predicate);
        let ids: Vec<LoopId> = self.loops.into_iter().map(|l| func.loops.push(l)).collect();
        let mut body = func.tree.take_body(self.target);
        for &id in ids.iter().rev() {
            func.tree.set_body(id, body);
            body = vec![Stmt::Loop(id)];
        }
        func.tree.replace(self.target, body);
        func.loops.remove(self.target);
        if let Some(&outer) = ids.first() {
            simplify_bindings(func, outer.into(), self.units);
        }
        ids
    }
}

/// Refuses a loop with annotations or a thread binding.
fn check_unmarked(func: &PrimFunc, id: LoopId) -> Result<(), Refusal> {
    let l = attached_loop(func, id)?;
    if !l.annotations.is_empty() || matches!(l.kind, LoopKind::ThreadBinding(_)) {
        let var = l.var.name().to_owned();
        return Err(Reason::HasAnnotationOrThreadBinding { var }.at([Place::Loop(id)]));
    }
    Ok(())
}

/// Refuses a loop with annotations, a thread binding, or a first value other than 0.
pub(super) fn check_plain(func: &PrimFunc, id: LoopId) -> Result<(), Refusal> {
    check_unmarked(func, id)?;
    let l = attached_loop(func, id)?;
    let here = [Place::Loop(id)];
    let var = l.var.name().to_owned();
    if !Analyzer::new().simplify(&l.min).is_zero() {
        let min = l.min.clone();
        return Err(Reason::LoopNotStartWithZero { var, min }.at(here));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Block, BlockId, Buffer, BufferRegion, IterKind, IterVar, Param};
    use crate::tensor::DType;

    /// `for i in range(extent): with block("B"): B[vi] = A[vi] * 2`
    fn scale(extent: i32) -> (Schedule, BlockId) {
        let buffer = |name: &str| Buffer::new(name, vec![Expr::i32(extent)], DType::F32);
        let (a, b) = (buffer("A"), buffer("B"));
        let param = |buffer: &Buffer| Param::Buffer {
            handle: Var::new(buffer.name(), DType::I64),
            buffer: buffer.clone(),
        };
        let mut func = PrimFunc::new("main", vec![param(&a), param(&b)]);
        let (i, vi) = (Var::new("i", DType::I32), Var::new("vi", DType::I32));
        let at = |buffer: &Buffer| BufferRegion::point(buffer, &[vi.expr()]);
        let block = func.blocks.push(Block {
            name: "B".into(),
            iters: vec![IterVar {
                var: vi.clone(),
                dom: Range::to(Expr::i32(extent)),
                kind: IterKind::Spatial,
            }],
            bindings: vec![i.expr()],
            predicate: Expr::bool(true),
            reads: vec![at(&a)],
            writes: vec![at(&b)],
            init: None,
            alloc_buffers: vec![],
            match_buffers: vec![],
            annotations: Attrs::new(),
        });
        let id = func.loops.push(Loop {
            var: i,
            min: Expr::i32(0),
            extent: Expr::i32(extent),
            kind: LoopKind::Serial,
            annotations: Attrs::new(),
        });
        let store = Stmt::Store {
            value: Expr::load(&a, vec![vi.expr()]) * Expr::float(2.0, DType::F32),
            buffer: b,
            indices: vec![vi.expr()],
        };
        func.tree.set_body(block, vec![store]);
        func.tree.set_body(id, vec![Stmt::Block(block)]);
        func.tree.set_body(func.root, vec![Stmt::Loop(id)]);
        (Schedule::new(func), block)
    }

    #[test]
    fn a_split_that_does_not_divide_gets_a_predicate() {
        let (mut sch, block) = scale(128);
        let target = sch.get_loops(block).expect("the block is alive")[0];
        let loops = sch
            .split(target, &[Factor::Infer, 50.into()])
            .expect("the loop is plain");
        let extents: Vec<_> = loops
            .iter()
            .map(|&id| sch.func().loops[id].extent.as_int())
            .collect();
        assert_eq!(extents, [Some(3), Some(50)]);
        assert!(sch.func().blocks[block].predicate.as_bool().is_none());
        assert_eq!(sch.func().loops_above(block.into()), loops);
    }

    #[test]
    fn a_refused_split_changes_nothing() {
        let (mut sch, block) = scale(128);
        let target = sch.get_loops(block).expect("the block is alive")[0];
        let error = sch
            .split(target, &[2.into(), 50.into()])
            .expect_err("100 < 128");
        assert!(error.to_string().contains("100"), "{error}");
        assert_eq!(sch.trace().steps().len(), 1);
        let again = sch.split(target, &[Factor::Infer, 64.into()]);
        assert!(again.is_ok());
        let stale = sch.split(target, &[Factor::Infer, 2.into()]);
        let reason = stale.expect_err("the loop is gone").reason;
        assert!(matches!(*reason, Reason::StaleLoop { .. }), "{reason}");
    }
}
