//! A block cut in two: the iterations of the loops outside become the iter variables of a new block, those of the loops inside
//! stay with the block.

use crate::arith::iter_map::{Division, SubspacePart, UnitIters, subspace_divide};
use crate::arith::{Analyzer, IntSet, eval_set};
use crate::ir::{
    Block, BlockId, BufferRegion, Definitions, Expr, IterKind, IterVar, LoopId, PrimFunc, Range,
    Substitution, Var,
};
use crate::sched::Refusal;
use crate::sched::affine::{loop_ranges, shape_facts};
use crate::sched::error::BlocksReason;

/// An iter variable of a new block and its binding.
#[derive(Clone)]
pub(super) struct Bound {
    pub(super) iter: IterVar,
    pub(super) binding: Expr,
}

/// The iterations of a block, divided.
pub(super) struct Cut {
    pub(super) outer: Vec<Bound>,
    pub(super) inner: Vec<Bound>,
    /// The old iter variables in terms of the new ones.
    pub(super) values: Vec<(Var, Expr)>,
    pub(super) outer_predicate: Expr,
    pub(super) inner_predicate: Expr,
}

impl Cut {
    /// Divides the iterations of a block between the outer and the inner ones of the loops around it. If `shared` is given,
    /// these are the outer iter variables, and the block must have the same.
    pub(super) fn check(
        func: &PrimFunc,
        block: BlockId,
        outer_loops: &[LoopId],
        inner_loops: &[LoopId],
        units: UnitIters,
        shared: Option<&[Bound]>,
    ) -> Result<Self, Refusal> {
        let node = &func.blocks[block];
        let facts = shape_facts(func);
        let not_divisible = || {
            let block_name = node.name.clone();
            BlocksReason::NotDivisible { block: block_name }.at([block.into()])
        };
        let vars = |loops: &[LoopId]| -> Vec<Var> {
            let var = |&l: &LoopId| func.loops[l].var.clone();
            loops.iter().map(var).collect()
        };
        let (outer_vars, inner_vars) = (vars(outer_loops), vars(inner_loops));
        let all: Vec<LoopId> = [outer_loops, inner_loops].concat();
        let inputs = loop_ranges(func, &all);
        let mut known = facts.clone();
        inputs
            .iter()
            .for_each(|(var, range)| known.bind(var, range));
        let (outer_predicate, inner_predicate) =
            divide_predicate(node, &outer_vars, &inner_vars, &known).ok_or_else(not_divisible)?;
        let affine = subspace_divide(
            &facts,
            &node.bindings,
            &inputs,
            &inner_vars,
            &node.predicate,
            units,
        );
        let parts = affine.or_else(|| by_use(node, &outer_vars, &inner_vars));
        let mut cut = Self {
            outer: vec![],
            inner: vec![],
            values: vec![],
            outer_predicate,
            inner_predicate,
        };
        for (at, part) in parts.ok_or_else(not_divisible)?.iter().enumerate() {
            let iter = &node.iters[at];
            let known = match shared {
                None => None,
                Some(shared) => Some(shared.get(at).ok_or_else(not_divisible)?),
            };
            cut.divide(iter, part, units, known, &facts)
                .ok_or_else(not_divisible)?;
        }
        Ok(cut)
    }

    /// Adds the parts of one iter variable; `None` if its outer part is not the one that is there.
    fn divide(
        &mut self,
        iter: &IterVar,
        part: &Division,
        units: UnitIters,
        shared: Option<&Bound>,
        facts: &Analyzer,
    ) -> Option<()> {
        let dtype = iter.var.dtype();
        let new = |suffix: &str, part: &SubspacePart, min: Expr| Bound {
            iter: IterVar {
                var: iter.var.renamed(format!("{}_{suffix}", iter.var.name())),
                dom: Range {
                    min,
                    extent: part.extent.cast(dtype),
                },
                kind: iter.kind,
            },
            binding: part.value.cast(dtype),
        };
        let outer = match shared {
            None => new("o", &part.outer, Expr::int(0, dtype)),
            Some(known) => {
                let same = known.iter.kind == iter.kind
                    && facts.can_prove_equal(&known.iter.dom.extent, &part.outer.extent)
                    && facts.can_prove_equal(&known.binding, &part.outer.value);
                same.then(|| known.clone())?
            }
        };
        let only_one = part.outer.extent.is_one();
        let base = part.base.cast(dtype);
        let value = if part.inner.extent.is_one() {
            match only_one && units == UnitIters::Simplify {
                true => base,
                false => outer.iter.var.expr() + base,
            }
        } else {
            let inner = new("i", &part.inner, base);
            let value = match only_one {
                true => inner.iter.var.expr(),
                false => outer.iter.var.expr() * &inner.iter.dom.extent + inner.iter.var.expr(),
            };
            self.inner.push(inner);
            value
        };
        self.outer.push(outer);
        let value = facts.simplify(&value);
        self.values.push((iter.var.clone(), value));
        Some(())
    }

    /// Rewrites the block, and all below it, in terms of the new iter variables. `outside` gives variables of loops that are now
    /// outside of the new block their values.
    pub(super) fn apply_inner(&self, func: &mut PrimFunc, block: BlockId, outside: &[Bound]) {
        let mut facts = shape_facts(func);
        let several = |bound: &&Bound| !bound.iter.dom.extent.is_one();
        for bound in outside.iter().chain(&self.inner).filter(several) {
            facts.bind(&bound.iter.var, &bound.iter.dom);
        }
        let mut new = Substitution::new(Definitions::Kept).then(move |e: &Expr| facts.simplify(e));
        for (var, value) in &self.values {
            new.set_var(var, value.clone());
        }
        func.map_below(block, &mut new);
        let node = &mut func.blocks[block];
        node.predicate = self.inner_predicate.clone();
        node.iters = self.inner.iter().map(|b| b.iter.clone()).collect();
        node.bindings = self.inner.iter().map(|b| b.binding.clone()).collect();
    }

    /// The regions for all values of the inner iter variables.
    pub(super) fn over_inner(
        &self,
        func: &PrimFunc,
        regions: &[BufferRegion],
    ) -> Vec<BufferRegion> {
        let mut facts = shape_facts(func);
        let domain = |var: &Var| {
            let found = self.inner.iter().find(|bound| bound.iter.var == *var);
            found.map(|bound| IntSet::from_range(&bound.iter.dom))
        };
        for bound in &self.outer {
            if !bound.iter.dom.extent.is_one() {
                facts.bind(&bound.iter.var, &bound.iter.dom);
            }
        }
        let range = |range: &Range, extent: &Expr| {
            let first = eval_set(&range.min, &domain, &facts);
            let last = match range.extent.is_one() {
                true => first.max.clone(),
                false => eval_set(&(&range.min + &range.extent - 1), &domain, &facts).max,
            };
            let set = IntSet {
                min: first.min,
                max: last,
            };
            set.to_range(&facts)
                .unwrap_or_else(|| Range::to(extent.clone()))
        };
        let relaxed = regions.iter().map(|region| BufferRegion {
            buffer: region.buffer.clone(),
            region: (region.region.iter().zip(region.buffer.shape()))
                .map(|(r, extent)| range(r, extent))
                .collect(),
        });
        relaxed.collect()
    }

    /// Whether an outer iter variable is reduced over.
    pub(super) fn reduces_outside(&self) -> bool {
        let mut kinds = self.outer.iter().map(|bound| bound.iter.kind);
        kinds.any(|kind| kind == IterKind::Reduce)
    }
}

/// The conjuncts of the predicate for the new block and for the one inside; `None` if one is about both. One that keeps an iter
/// variable in its domain is about all loops that this is bound to.
fn divide_predicate(
    node: &Block,
    outer: &[Var],
    inner: &[Var],
    facts: &Analyzer,
) -> Option<(Expr, Expr)> {
    let (mut outside, mut inside) = (Vec::new(), Vec::new());
    for cond in node.predicate.conjuncts() {
        if facts.can_prove(&cond) {
            continue;
        }
        let simple = facts.simplify(&cond);
        let bounds = |(iter, binding): (&IterVar, &Expr)| {
            let end = &iter.dom.min + &iter.dom.extent;
            (facts.simplify(&binding.lt(end)) == simple).then(|| binding.clone())
        };
        let mut bound = node.iters.iter().zip(&node.bindings).filter_map(bounds);
        let about = bound.next().unwrap_or_else(|| cond.clone());
        let uses = |vars: &[Var]| vars.iter().any(|var| cond.uses(var) || about.uses(var));
        match (uses(outer), uses(inner)) {
            (true, true) => return None,
            (_, false) => outside.push(cond),
            (false, true) => inside.push(cond),
        }
    }
    Some((Expr::all(outside), Expr::all(inside)))
}

/// The division where each binding uses variables of one side only, whatever it does with them, and the block always runs.
fn by_use(node: &Block, outer: &[Var], inner: &[Var]) -> Option<Vec<Division>> {
    if node.predicate.as_bool() != Some(true) {
        return None;
    }
    let divide = |(iter, binding): (&IterVar, &Expr)| {
        let uses = |vars: &[Var]| vars.iter().any(|var| binding.uses(var));
        let dtype = binding.dtype();
        let unit = SubspacePart {
            value: Expr::int(0, dtype),
            extent: Expr::int(1, dtype),
        };
        let whole = |value: Expr| SubspacePart {
            value,
            extent: iter.dom.extent.clone(),
        };
        let first = iter.dom.min.clone();
        let (outer, inner, base) = match (uses(outer), uses(inner)) {
            (true, true) => return None,
            (true, false) => (whole(binding - &first), unit, first),
            (false, true) => (unit, whole(binding.clone()), first),
            (false, false) => (unit.clone(), unit, binding.clone()),
        };
        Some(Division { outer, inner, base })
    };
    node.iters.iter().zip(&node.bindings).map(divide).collect()
}
