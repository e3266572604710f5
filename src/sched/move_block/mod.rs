//! What `compute_at` and `reverse_compute_at` share: a block moves under a loop, with new loops around it that run over what
//! the blocks below that loop need of it.
//!
//! A block *provides* regions of buffers: `compute_at` moves a producer, which provides what it writes to the consumers below the
//! loop; `reverse_compute_at` moves a consumer, which provides what it reads to the producers. The blocks below *require*
//! regions; the new loops make the provided regions cover them, see [`domain`].

mod domain;

use super::affine::{loop_ranges, shape_facts};
use super::analysis::{
    BlockScope, DependencyKind, accessing_blocks, check_complete_or_reduction_block,
    check_inputs_outlive, check_not_output_block, check_stage_pipeline, facts_at,
    follows_from_domains, relaxed_domains, share_a_loop,
};
use super::body::{insert_at, nest, removal_of, remove_place};
use super::{Arg, LoopReason, Reason, Refusal, attached_block, attached_loop};
use crate::arith::iter_map::{IterMapLevel, IterSplit, UnitIters, detect_iter_map};
use crate::arith::{Analyzer, IntSet, eval_set};
use crate::ir::{
    Attrs, BlockId, BufferRegion, Expr, IterKind, Loop, LoopId, LoopKind, Place, PrimFunc, Range,
    Scope, Stmt, Var,
};

impl From<UnitIters> for Arg {
    fn from(units: UnitIters) -> Self {
        Self::Bool(units == UnitIters::Preserve)
    }
}

/// Where among the statements of the loop the block is put.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum InsertAt {
    /// As late as its consumers allow (TVM: -1).
    #[default]
    Latest,
    /// As early as its producers allow (TVM: -2).
    Earliest,
    /// Before the statement with this index.
    Index(usize),
}

impl From<InsertAt> for Arg {
    fn from(at: InsertAt) -> Self {
        match at {
            InsertAt::Latest => Self::Int(-1),
            InsertAt::Earliest => Self::Int(-2),
            InsertAt::Index(index) => index.into(),
        }
    }
}

/// Which block moves.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Moved {
    /// A producer, to its consumers.
    Producer,
    /// A consumer, to its producers.
    Consumer,
}

/// A checked move.
pub(super) struct Plan {
    block: BlockId,
    target: LoopId,
    position: usize,
    /// What goes away where the block was.
    removed: Place,
    /// The new loops, outermost first.
    loops: Vec<Loop>,
    bindings: Vec<Expr>,
    predicate: Expr,
}

impl Plan {
    pub(super) fn check(
        func: &PrimFunc,
        block: BlockId,
        target: LoopId,
        units: UnitIters,
        at: InsertAt,
        moved: Moved,
    ) -> Result<Self, Refusal> {
        attached_block(func, block)?;
        attached_loop(func, target)?;
        let Some(scope) = func.scope_block(block.into()) else {
            return Err(Reason::RootBlock.at([block.into()]));
        };
        check_stage_pipeline(func, scope)?;
        check_complete_or_reduction_block(func, block, scope.into())?;
        if func.scope_block(target.into()) != Some(scope) || func.tree.is_ancestor(target, block) {
            let reason = Reason::NotInSameScope {
                block: func.blocks[block].name.clone(),
                var: func.loops[target].var.name().to_owned(),
            };
            return Err(reason.at([block.into(), target.into()]));
        }
        if moved == Moved::Producer {
            check_not_output_block(func, block, scope)?;
        }
        if accessing_blocks(func, block) != [block] {
            let reason = LoopReason::HoldsBlocks {
                var: func.loops[target].var.name().to_owned(),
                block: func.blocks[block].name.clone(),
            };
            return Err(reason.at([block.into()]));
        }
        check_domains_kept(func, block, target)?;
        let conditions = match moved {
            Moved::Producer => {
                check_predicate_kept(func, block)?;
                vec![]
            }
            Moved::Consumer => conditions_on_iters(func, block)?,
        };
        check_inputs_outlive(func, block, &|id| func.tree.is_ancestor(id, target))?;
        let removed = removal_of(func, block)?;
        let graph = BlockScope::of(func, scope.into());
        if moved == Moved::Consumer {
            // A consumer runs where its producers run, and reads nothing that they leave out.
            for producer in graph.producers(block) {
                if func.tree.is_ancestor(target, producer) {
                    check_predicate_kept(func, producer)?;
                }
            }
        }
        let position = position(func, &graph, block, target, at, moved)?;
        check_order(func, &graph, block, target, position)?;
        let mut facts = facts_at(func, target.into());
        let domains = domain::iter_domains(func, &graph, block, target, moved, &facts)?;
        let nest = new_nest(func, block, &domains, units, &mut facts);
        let (loops, bindings, mut predicate) = nest;
        for condition in conditions {
            let iters = func.blocks[block].iters.iter().zip(&bindings);
            let values: Vec<(&Var, &Expr)> = iters.map(|(iter, e)| (&iter.var, e)).collect();
            let moved = condition.substitute(&|var| {
                let mut values = values.iter();
                let value = values.find(|(of, _)| *of == var);
                value.map(|(_, value)| (*value).clone())
            });
            if !facts.can_prove(&moved) {
                predicate = predicate.and(moved);
            }
        }
        let plan = Self {
            block,
            target,
            position,
            removed,
            loops,
            bindings,
            predicate,
        };
        if moved == Moved::Consumer {
            plan.check_runs(func)?;
            let mut iters = func.blocks[block].iters.iter();
            if iters.any(|iter| iter.kind == IterKind::Reduce) {
                plan.check_terms_once(func)?;
            }
        }
        Ok(plan)
    }

    /// Refuses to put the block under a loop that it only repeats in and that may be empty: it would not run then, though its
    /// iter variables have values.
    fn check_runs(&self, func: &PrimFunc) -> Result<(), Refusal> {
        let facts = shape_facts(func);
        let has_no_instance = |when: &Expr| {
            let mut facts = facts.clone();
            facts.assume(when);
            let mut iters = func.blocks[self.block].iters.iter();
            iters.any(|iter| facts.can_prove(&iter.dom.extent.le(0)))
        };
        let mut above = func.loops_above(self.target.into());
        above.push(self.target);
        let may_be_empty = |id: &LoopId| {
            let l = &func.loops[*id];
            !func.tree.is_ancestor(*id, self.block)
                && !self.bindings.iter().any(|e| e.uses(&l.var))
                && !facts.can_prove(&l.extent.ge(1))
                && !has_no_instance(&l.extent.le(0))
        };
        match above.into_iter().find(may_be_empty) {
            None => Ok(()),
            Some(id) => {
                let reason = Reason::MayBeEmpty {
                    var: func.loops[id].var.name().to_owned(),
                    block: func.blocks[self.block].name.clone(),
                };
                Err(reason.at([id.into(), self.block.into()]))
            }
        }
    }

    /// Refuses to put a reduction where it would add a term twice, or not all terms, or another before that with the first
    /// values of the reduce iter variables, with which its init runs.
    ///
    /// If the new loops alone make up the sums, they are computed in full wherever they are; else each instance must run once.
    fn check_terms_once(&self, func: &PrimFunc) -> Result<(), Refusal> {
        let node = &func.blocks[self.block];
        let drives = |var: &Var, kind: IterKind| {
            let mut pairs = node.iters.iter().zip(&self.bindings);
            pairs.any(|(iter, e)| iter.kind == kind && e.uses(var))
        };
        let mut above = func.loops_above(self.target.into());
        above.push(self.target);
        let mut inputs = loop_ranges(func, &above);
        if !inputs.iter().any(|(var, _)| drives(var, IterKind::Reduce)) {
            inputs.clear();
        }
        inputs.extend(self.loops.iter().map(|l| {
            let (min, extent) = (l.min.clone(), l.extent.clone());
            (l.var.clone(), Range { min, extent })
        }));
        // Conditions on other loops leave out whole sums.
        let conditions = self.predicate.conjuncts().into_iter();
        let on_inputs = |cond: &Expr| inputs.iter().any(|(var, _)| cond.uses(var));
        let predicate = Expr::all(conditions.filter(on_inputs));
        let facts = shape_facts(func);
        let (level, units) = (IterMapLevel::Bijective, UnitIters::Preserve);
        let map = detect_iter_map(&facts, &self.bindings, &inputs, &predicate, level, units);
        let in_order = map.is_ok_and(|map| {
            let reduce = node.iters.iter().zip(&map.indices);
            let mut reduce = reduce.filter(|(iter, _)| iter.kind == IterKind::Reduce);
            reduce.all(|(iter, sum)| {
                let one = Expr::int(1, iter.dom.extent.dtype());
                let points = sum.args.iter().fold(one, |n, arg| n * &arg.extent);
                let rises = |arg: &IterSplit| facts.can_prove(&arg.scale.ge(1));
                sum.args.iter().all(rises)
                    && facts.can_prove_equal(&sum.base, &iter.dom.min)
                    && facts.can_prove_equal(&points, &iter.dom.extent)
            })
        });
        // Two loops that choose element and term together may come to the first term late.
        let is_mixed = |(var, _): &&(Var, Range)| {
            drives(var, IterKind::Reduce) && drives(var, IterKind::Spatial)
        };
        if in_order && inputs.iter().filter(is_mixed).count() <= 1 {
            return Ok(());
        }
        let reason = Reason::TermsNotOnce {
            block: node.name.clone(),
            var: func.loops[self.target].var.name().to_owned(),
        };
        Err(reason.at([self.block.into(), self.target.into()]))
    }

    pub(super) fn apply(self, func: &mut PrimFunc) {
        remove_place(func, self.removed, Some(self.block));
        let node = &mut func.blocks[self.block];
        node.bindings = self.bindings;
        node.predicate = self.predicate;
        let stmt = nest(func, self.loops, Stmt::Block(self.block));
        insert_at(func, self.target.into(), self.position, stmt);
    }
}

/// Refuses a block whose iter variables have domains that depend on a loop which is not above its new place.
fn check_domains_kept(func: &PrimFunc, block: BlockId, target: LoopId) -> Result<(), Refusal> {
    for id in func.loops_above(block.into()) {
        let var = &func.loops[id].var;
        let depends = |e: &Expr| e.uses(var) && !func.tree.is_ancestor(id, target);
        let node = &func.blocks[block];
        let mut doms = node.iters.iter().map(|iter| &iter.dom);
        if doms.any(|dom| depends(&dom.min) || depends(&dom.extent)) {
            let reason = Reason::DomainDependsOnLoop {
                block: node.name.clone(),
                var: var.name().to_owned(),
            };
            return Err(reason.at([block.into(), id.into()]));
        }
    }
    Ok(())
}

/// The conditions of a block that leave out instances which the domains of its iter variables hold.
fn conditions_beyond_domains(func: &PrimFunc, block: BlockId) -> Vec<Expr> {
    let node = &func.blocks[block];
    let facts = facts_at(func, block.into());
    let kept = |cond: &Expr| facts.can_prove(cond) || follows_from_domains(node, cond, &facts);
    let mut conditions = node.predicate.conjuncts();
    conditions.retain(|condition| !kept(condition));
    conditions
}

/// Refuses a block whose predicate leaves out instances that its iter variables' domains hold: the new place gives it another.
fn check_predicate_kept(func: &PrimFunc, block: BlockId) -> Result<(), Refusal> {
    let mut conditions = conditions_beyond_domains(func, block).into_iter();
    match conditions.next() {
        None => Ok(()),
        Some(condition) => Err(lost(func, block, condition)),
    }
}

fn lost(func: &PrimFunc, block: BlockId, predicate: Expr) -> Refusal {
    let reason = Reason::PredicateLost {
        block: func.blocks[block].name.clone(),
        predicate,
    };
    reason.at([block.into()])
}

/// The conditions that leave out instances of a block, in terms of its iter variables: the new place has other loops, and the same
/// iter variables. Refuses a condition on a loop that is not the value of a spatial iter variable.
fn conditions_on_iters(func: &PrimFunc, block: BlockId) -> Result<Vec<Expr>, Refusal> {
    let node = &func.blocks[block];
    let iter_of = |var: &Var| {
        let mut iters = node.iters.iter().zip(&node.bindings);
        let found = iters.find(|(_, binding)| binding.as_var() == Some(var));
        let (iter, _) = found.filter(|(iter, _)| iter.kind == IterKind::Spatial)?;
        Some(iter.var.expr().cast(var.dtype()))
    };
    let loops = func.loops_above(block.into());
    let on_iters = |condition: Expr| {
        let vars = loops.iter().map(|id| &func.loops[*id].var);
        let used: Vec<&Var> = vars.filter(|var| condition.uses(var)).collect();
        match used.iter().all(|var| iter_of(var).is_some()) {
            true => Ok(condition.substitute(&|var| iter_of(var))),
            false => Err(lost(func, block, condition)),
        }
    };
    let conditions = conditions_beyond_domains(func, block).into_iter();
    conditions.map(on_iters).collect()
}

/// The index among the statements of the loop before which the block goes: after all its producers there and before all its
/// consumers.
fn position(
    func: &PrimFunc,
    graph: &BlockScope,
    block: BlockId,
    target: LoopId,
    at: InsertAt,
    moved: Moved,
) -> Result<usize, Refusal> {
    let place = Place::Loop(target);
    let index = |b: &BlockId| super::body::position_of(func, place, (*b).into());
    let (producers, consumers) = (graph.producers(block), graph.consumers(block));
    let required = match moved {
        Moved::Producer => &consumers,
        Moved::Consumer => &producers,
    };
    let below = |b: &BlockId| func.tree.is_ancestor(target, *b);
    let missing: Vec<BlockId> = required.iter().copied().filter(|b| !below(b)).collect();
    if !missing.is_empty() {
        let reason = Reason::NotAllRequiredBlocksBelow {
            block: func.blocks[block].name.clone(),
            var: func.loops[target].var.name().to_owned(),
            role: match moved {
                Moved::Producer => "consumer",
                Moved::Consumer => "producer",
            },
            count: missing.len(),
        };
        return Err(reason.at(missing.into_iter().map(Place::Block)));
    }
    let inside = |blocks: Vec<BlockId>| -> Vec<usize> {
        blocks
            .iter()
            .filter(|b| below(b))
            .filter_map(index)
            .collect()
    };
    let first = inside(producers)
        .into_iter()
        .max()
        .map_or(0, |last| last + 1);
    let count = func.tree.body(target).len();
    let last = inside(consumers).into_iter().min().unwrap_or(count);
    let chosen = match at {
        InsertAt::Latest => last,
        InsertAt::Earliest => first,
        InsertAt::Index(index) => index,
    };
    if first > last || chosen < first || chosen > last {
        let reason = Reason::InsertionPointNotFound {
            block: func.blocks[block].name.clone(),
            first,
            last,
            asked: chosen,
        };
        return Err(reason.at([target.into(), block.into()]));
    }
    Ok(chosen)
}

/// Refuses a place that would put the block before one that it depends on, or after one that depends on it. Blocks outside the
/// loop, which [`position`] does not look at, count as well, and so do those that overwrite what the block reads.
fn check_order(
    func: &PrimFunc,
    graph: &BlockScope,
    block: BlockId,
    target: LoopId,
    position: usize,
) -> Result<(), Refusal> {
    let mut order = Vec::new();
    func.tree
        .walk(func.root.into(), &mut |place| order.push(place));
    let rank = |place: Place| order.iter().position(|&p| p == place);
    let runs_before = |other: BlockId| {
        if func.tree.is_ancestor(target, other) {
            super::body::position_of(func, target.into(), other.into()) < Some(position)
        } else {
            rank(other.into()) < rank(target.into())
        }
    };
    for edge in graph.dependencies() {
        let (other, must_run_before) = match (edge.src == block, edge.dst == block) {
            (true, _) => (edge.dst, false),
            (_, true) => (edge.src, true),
            _ => continue,
        };
        // A block that overwrites what the other reads must not run by turns with it.
        if edge.kind == DependencyKind::WriteAfterRead
            && share_a_loop(func, target.into(), other.into())
        {
            let reason = Reason::InputOverwritten {
                block: func.blocks[edge.src].name.clone(),
                other: func.blocks[edge.dst].name.clone(),
            };
            return Err(reason.at([target.into(), other.into()]));
        }
        if runs_before(other) != must_run_before {
            let reason = Reason::WouldReorder {
                block: func.blocks[block].name.clone(),
                other: func.blocks[other].name.clone(),
                var: func.loops[target].var.name().to_owned(),
            };
            return Err(reason.at([target.into(), other.into()]));
        }
    }
    Ok(())
}

/// The values of a region of a block, for all iterations of the loops below the target loop (and of threads that share the
/// memory, if `memory` says so).
fn relaxed_region(
    func: &PrimFunc,
    block: BlockId,
    region: &BufferRegion,
    target: LoopId,
    memory: &Scope,
    facts: &Analyzer,
) -> Vec<IntSet> {
    let loops = relaxed_domains(func, block.into(), target.into(), memory);
    let domain = |v: &Var| {
        let found = loops.iter().find(|(var, _)| var == v);
        found.map(|(_, set)| set.clone())
    };
    let node = &func.blocks[block];
    let bind = |var: &Var| node.binding_of(var).cloned();
    let ends = |range: &Range| {
        let min = range.min.substitute(&bind);
        if range.extent.is_one() {
            return eval_set(&min, &domain, facts);
        }
        let last = &min + range.extent.substitute(&bind) - 1;
        IntSet {
            min: eval_set(&min, &domain, facts).min,
            max: eval_set(&last, &domain, facts).max,
        }
    };
    region.region.iter().map(ends).collect()
}

/// The loops over the domains, the bindings of the iter variables, and the conditions that keep them in their bounds.
fn new_nest(
    func: &PrimFunc,
    block: BlockId,
    domains: &[domain::IterDomain],
    units: UnitIters,
    facts: &mut Analyzer,
) -> (Vec<Loop>, Vec<Expr>, Expr) {
    let mut loops = Vec::new();
    let mut bindings = Vec::new();
    let mut predicate = Expr::bool(true);
    for (iter, domain) in func.blocks[block].iters.iter().zip(domains) {
        let range = domain
            .values
            .to_range(facts)
            .unwrap_or_else(|| iter.dom.clone());
        let value = if units == UnitIters::Preserve || !range.extent.is_one() {
            let dtype = iter.var.dtype();
            let var = Var::new(format!("ax{}", loops.len()), dtype);
            let extent = range.extent.cast(dtype);
            facts.bind(&var, &Range::to(extent.clone()));
            let value = match range.min.is_zero() {
                true => var.expr(),
                false => &range.min + &var,
            };
            loops.push(Loop {
                var,
                min: Expr::int(0, dtype),
                extent,
                kind: LoopKind::Serial,
                annotations: Attrs::new(),
            });
            value
        } else {
            range.min
        };
        if let Some(bound) = &domain.bound {
            let low = bound.min.as_ref().map(|min| value.ge(min));
            let high = bound.max.as_ref().map(|max| value.lt(max + 1));
            for condition in low.into_iter().chain(high) {
                if !facts.can_prove(&condition) {
                    predicate = predicate.and(condition);
                }
            }
        }
        bindings.push(value);
    }
    let bindings = bindings.iter().map(|b| facts.simplify(b)).collect();
    (loops, bindings, facts.simplify(&predicate))
}
