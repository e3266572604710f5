//! Stage pipelines: scopes in which every block reads only what blocks before it wrote (*region cover*).
//!
//! For each consumer and each of its producers, the regions are compared where their paths meet: what all producers there wrote
//! while the common place runs once must hold what the consumer reads in that time. Producers count with what they certainly
//! write, consumers with all that they might read.

use super::outside::check_only_blocks;
use super::path::{facts_at, loops_between, relaxed_domains};
use super::scope::BlockScope;
use crate::arith::iter_map::{IterMapLevel, UnitIters, detect_iter_map};
use crate::arith::{Analyzer, IntSet, eval_set};
use crate::ir::{
    Block, BlockId, Buffer, BufferRegion, Expr, IterVar, LoopId, Place, PrimFunc, Range, Var,
};
use crate::sched::{Reason, Refusal};
use crate::tensor::scalar::BinOp;

/// Refuses a scope that is not a stage pipeline: one with statements outside blocks, or with a consumer that is not covered.
///
/// # Errors
/// TVM: `NotStagePipelineError`.
pub fn check_stage_pipeline(func: &PrimFunc, scope: BlockId) -> Result<(), Refusal> {
    check_only_blocks(func, scope.into())?;
    let graph = BlockScope::of(func, scope.into());
    for &consumer in graph.blocks() {
        if let Some(buffer) = uncovered(func, consumer, &graph.written_before(consumer)) {
            return Err(Reason::NotStagePipeline {
                scope: func.blocks[scope].name.clone(),
                consumer: func.blocks[consumer].name.clone(),
                buffer: buffer.name().to_owned(),
            }
            .at([scope.into(), consumer.into()]));
        }
    }
    Ok(())
}

/// The first buffer of which the consumer may read something that its producers have not certainly written.
pub(super) fn uncovered(
    func: &PrimFunc,
    consumer: BlockId,
    producers: &[BlockId],
) -> Option<Buffer> {
    let mut at = func.tree.parent(consumer);
    let mut left: Vec<BlockId> = producers.to_vec();
    while let Some(place) = at
        && !left.is_empty()
    {
        let (here, above): (Vec<_>, Vec<_>) =
            left.iter().partition(|&&p| func.tree.is_ancestor(place, p));
        left = above;
        for read in &func.blocks[consumer].reads {
            let written = here.iter().flat_map(|&p| {
                let writes = func.blocks[p].writes.iter();
                writes
                    .filter(|w| w.buffer == read.buffer)
                    .map(move |w| (p, w))
            });
            let written: Vec<(BlockId, &BufferRegion)> = written.collect();
            if !written.is_empty() && !covered_at(func, place, consumer, read, &written) {
                return Some(read.buffer.clone());
            }
        }
        at = func.tree.parent(place);
    }
    None
}

/// Whether the writes, while `place` runs once, hold everything that the consumer reads meanwhile.
fn covered_at(
    func: &PrimFunc,
    place: Place,
    consumer: BlockId,
    read: &BufferRegion,
    written: &[(BlockId, &BufferRegion)],
) -> bool {
    if written.iter().any(|(p, w)| fills(func, *p, w, place)) {
        return true;
    }
    let analyzer = facts_at(func, place);
    let needed = region_bound(func, consumer, read, place, &analyzer);
    let mut produced: Option<Vec<IntSet>> = None;
    for (producer, write) in written {
        let Some(sets) = write_bound(func, *producer, write, place, &analyzer) else {
            return false;
        };
        produced = Some(match produced {
            None => sets,
            Some(before) => before
                .iter()
                .zip(&sets)
                .map(|(a, b)| a.union(b, &analyzer))
                .collect(),
        });
    }
    let shape = read.buffer.shape();
    produced
        .into_iter()
        .flatten()
        .zip(&needed)
        .zip(shape)
        .all(|((produced, needed), extent)| {
            let inside = IntSet::from_range(&Range::to(extent.clone()));
            let clip = |set: &IntSet| set.intersect(&inside, &analyzer).simplified(&analyzer);
            clip(&produced).covers(&clip(needed), &analyzer)
        })
}

/// Whether a block visibly writes every element of a buffer while `place` runs once: its iter variables are the variables of
/// the loops around it, over the same domains, and each index is one of them over the extent. This is how operators are written, and
/// spares the general proof.
fn fills(func: &PrimFunc, block: BlockId, write: &BufferRegion, place: Place) -> bool {
    let node = &func.blocks[block];
    let loops = loops_between(func, block.into(), place);
    let mut used = Vec::with_capacity(loops.len());
    let in_loop = |(iter, binding): (&IterVar, &Expr)| {
        let is_bound = |l: &&LoopId| binding.as_var() == Some(&func.loops[**l].var);
        let Some(&id) = loops.iter().find(is_bound).filter(|l| !used.contains(*l)) else {
            return false;
        };
        used.push(id);
        let over = &func.loops[id];
        over.min == iter.dom.min && over.extent == iter.dom.extent
    };
    let mut iters = node.iters.iter().zip(&node.bindings);
    let each = node.predicate.as_int() == Some(1) && iters.all(in_loop);
    if !each || used.len() != loops.len() {
        return false;
    }
    let indexes = |(at, (range, extent)): (usize, (&Range, &Expr))| {
        let iter = node
            .iters
            .iter()
            .find(|iter| range.min.as_var() == Some(&iter.var));
        let twice = write.region[..at]
            .iter()
            .any(|other| other.min == range.min);
        let whole = |iter: &IterVar| iter.dom.min.is_zero() && iter.dom.extent == *extent;
        range.extent.is_one() && !twice && iter.is_some_and(whole)
    };
    let shape = write.buffer.shape();
    write.region.iter().zip(shape).enumerate().all(indexes)
}

/// A region of a block as intervals that hold all that it may touch while `place` runs once.
pub fn region_bound(
    func: &PrimFunc,
    block: BlockId,
    region: &BufferRegion,
    place: Place,
    analyzer: &Analyzer,
) -> Vec<IntSet> {
    let iters = iter_sets(func, block, region.buffer.scope(), place, analyzer);
    let domain = |v: &Var| {
        let found = iters.iter().find(|(var, _)| var == v);
        found.map(|(_, set)| set.clone())
    };
    region
        .region
        .iter()
        .map(|range| {
            let set = eval_set(&range.min, &domain, analyzer);
            let length = eval_set(&range.extent, &domain, analyzer).max;
            IntSet {
                max: set.max.zip(length).map(|(max, length)| max + length - 1),
                min: set.min,
            }
        })
        .collect()
}

/// The values of the iter variables of a block while `place` runs once.
fn iter_sets(
    func: &PrimFunc,
    block: BlockId,
    memory: &crate::ir::Scope,
    place: Place,
    analyzer: &Analyzer,
) -> Vec<(Var, IntSet)> {
    let loops = relaxed_domains(func, block.into(), place, memory);
    let domain = |v: &Var| {
        let found = loops.iter().find(|(var, _)| var == v);
        found.map(|(_, set)| set.clone())
    };
    let node = &func.blocks[block];
    node.iters
        .iter()
        .zip(&node.bindings)
        .map(|(iter, binding)| {
            let set = eval_set(binding, &domain, analyzer);
            let set = set.intersect(&IntSet::from_range(&iter.dom), analyzer);
            (iter.var.clone(), set.simplified(analyzer))
        })
        .collect()
}

/// Whether a block certainly writes all of a region that it may write, as far as that lies in the buffer, while `place` runs
/// once: nothing in between is left out.
pub fn writes_wholly(func: &PrimFunc, block: BlockId, region: &BufferRegion, place: Place) -> bool {
    covered_at(func, place, block, region, &[(block, region)])
}

/// A region of a block as intervals all of which it certainly writes while `place` runs once; `None` if that is not known.
fn write_bound(
    func: &PrimFunc,
    block: BlockId,
    region: &BufferRegion,
    place: Place,
    analyzer: &Analyzer,
) -> Option<Vec<IntSet>> {
    let node = &func.blocks[block];
    let loops = relaxed_domains(func, block.into(), place, region.buffer.scope());
    let moves = |e: &Expr| {
        e.free_vars()
            .iter()
            .any(|v| loops.iter().any(|(l, _)| l == v))
    };
    let mut inside = analyzer.clone();
    let mut ranges = Vec::new();
    for (var, set) in &loops {
        let range = set.to_range(analyzer)?;
        inside.bind(var, &range);
        ranges.push((var.clone(), range));
    }
    let conditions = node.predicate.conjuncts().into_iter();
    // Conditions that only keep iter variables in their domains are known to the reader of the region as well.
    let rest = conditions.filter(|cond| moves(cond) && !follows_from_domains(node, cond, &inside));
    let rest = Expr::all(rest);
    detect_iter_map(
        &inside,
        &node.bindings,
        &ranges,
        &rest,
        IterMapLevel::Surjective,
        UnitIters::Simplify,
    )
    .ok()?;
    let iters = iter_sets(func, block, region.buffer.scope(), place, analyzer);
    let mut used: Vec<&Var> = Vec::new();
    region
        .region
        .iter()
        .map(|range| {
            let vars: Vec<Var> = range.min.free_vars();
            let moving: Vec<&(Var, IntSet)> =
                iters.iter().filter(|(v, _)| vars.contains(v)).collect();
            let (set, step) = match moving[..] {
                [] => (
                    IntSet::point(range.min.clone()),
                    Expr::int(1, range.min.dtype()),
                ),
                [(var, set)] => {
                    if used.contains(&var) && set.as_point(analyzer).is_none() {
                        return None;
                    }
                    used.push(var);
                    let step = step_of(&range.min, var, analyzer)?;
                    let domain = |v: &Var| (v == var).then(|| set.clone());
                    (eval_set(&range.min, &domain, analyzer), step)
                }
                _ => return None,
            };
            let (min, max) = set.bounds()?;
            let dense =
                set.as_point(analyzer).is_some() || analyzer.can_prove(&range.extent.ge(&step));
            dense.then(|| IntSet::interval(min.clone(), max + &range.extent - 1))
        })
        .collect()
}

/// Whether a condition of a block says no more than that an iter variable is in its domain. `facts` knows the loops.
pub fn follows_from_domains(node: &Block, cond: &Expr, facts: &Analyzer) -> bool {
    let cond = facts.simplify(cond);
    node.iters.iter().zip(&node.bindings).any(|(iter, value)| {
        let end = &iter.dom.min + &iter.dom.extent;
        cond == facts.simplify(&value.lt(&end))
            || cond == facts.simplify(&value.ge(&iter.dom.min))
            || implied_by_domain(&cond, value, &end, facts)
    })
}

/// Whether a condition is `value < end'` with `end'` not below the end of the iter variable's domain.
fn implied_by_domain(cond: &Expr, value: &Expr, end: &Expr, analyzer: &Analyzer) -> bool {
    let Some((left, right)) = cond.as_binary(BinOp::Lt) else {
        return false;
    };
    analyzer.simplify(&(left - right)) == analyzer.simplify(&(value - end))
        || (analyzer.simplify(left) == analyzer.simplify(value)
            && analyzer.can_prove(&right.ge(end)))
}

/// How much an index moves when the variable grows by 1, if that is a constant of at least 1.
fn step_of(index: &Expr, var: &Var, analyzer: &Analyzer) -> Option<Expr> {
    let next = index.substitute(&|v| (v == var).then(|| v.expr() + 1));
    let step = analyzer.simplify(&(next - index));
    step.as_int().filter(|&s| s >= 1).map(|_| step)
}
