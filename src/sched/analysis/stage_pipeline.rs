//! Stage pipelines: scopes in which every block reads only what blocks before it wrote (*region cover*).
//!
//! For each consumer and each of its producers, the regions are compared where their paths meet: what all producers there wrote
//! while the common place runs once must hold what the consumer reads in that time. Producers count with what they certainly
//! write, consumers with all that they might read.

use super::outside::check_only_blocks;
use super::path::{facts_at, loops_between, relaxed_domains};
use super::scope::{BlockScope, accessing_blocks};
use crate::arith::iter_map::{IterMapLevel, UnitIters, detect_iter_map};
use crate::arith::{Analyzer, IntSet, access_regions, eval_set};
use crate::ir::sum::{Sum, Term};
use crate::ir::{
    Block, BlockId, Buffer, BufferRegion, Expr, ExprKind, IterVar, LoopId, Place, PrimFunc, Range,
    Var,
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
    let inner = accessing_blocks(func, consumer);
    if inner != [consumer] {
        return inner
            .into_iter()
            .find_map(|id| uncovered(func, id, producers));
    }
    let mut at = func.tree.parent(consumer);
    let producers = producers.iter();
    let mut left: Vec<BlockId> = producers
        .flat_map(|&id| accessing_blocks(func, id))
        .collect();
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
    let exact: Vec<(BlockId, BufferRegion)> = (written.iter())
        .map(|&(p, w)| (p, written_region(func, p, w)))
        .collect();
    let written: Vec<(BlockId, &BufferRegion)> = exact.iter().map(|(p, w)| (*p, w)).collect();
    let analyzer = facts_at(func, place);
    let same_places = |(producer, write): &(BlockId, &BufferRegion)| {
        writes_in_the_places(func, place, (consumer, read), (*producer, write), &analyzer)
    };
    if written.iter().any(same_places) {
        return true;
    }
    let needed = region_bound(func, consumer, read, place, &analyzer);
    // What the consumer would read outside of its domain, too: this may be easier to compare.
    let wider = region_values(
        read,
        &bound_sets(func, consumer, read.buffer.scope(), place, &analyzer),
        &analyzer,
    );
    let mut produced: Option<Vec<IntSet>> = None;
    for (producer, write) in &written {
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
        .zip(needed.iter().zip(&wider))
        .zip(shape)
        .all(|((produced, (needed, wider)), extent)| {
            let inside = IntSet::from_range(&Range::to(extent.clone()));
            let clip = |set: &IntSet| set.intersect(&inside, &analyzer).simplified(&analyzer);
            let produced = clip(&produced);
            produced.covers(&clip(needed), &analyzer) || produced.covers(&clip(wider), &analyzer)
        })
}

/// What an instance of a block writes of a region that it declares, which may be larger.
fn written_region(func: &PrimFunc, block: BlockId, declared: &BufferRegion) -> BufferRegion {
    if declared.region.iter().all(|range| range.extent.is_one()) {
        return declared.clone();
    }
    let found = access_regions(func, block).writes.into_iter();
    let mut found = found.filter(|write| write.buffer == declared.buffer);
    found.next().unwrap_or_else(|| declared.clone())
}

/// Whether both regions are the same places of their iter variables, and those of the producer take all values that those of the
/// consumer take.
fn writes_in_the_places(
    func: &PrimFunc,
    place: Place,
    (consumer, read): (BlockId, &BufferRegion),
    (producer, write): (BlockId, &BufferRegion),
    analyzer: &Analyzer,
) -> bool {
    let memory = read.buffer.scope();
    let iters = |block: BlockId| &func.blocks[block].iters;
    let mut pairs = Vec::new();
    let both = read.region.iter().zip(&write.region);
    let same = both.clone().all(|(r, w)| {
        pair_up(&r.min, &w.min, iters(consumer), iters(producer), &mut pairs)
            && pair_up(&r.extent, &w.extent, &[], &[], &mut vec![])
    });
    if !same {
        return false;
    }
    let Some(certain) = certain_iters(func, producer, memory, place, analyzer) else {
        return false;
    };
    let needed = iter_sets(func, consumer, memory, place, analyzer);
    let set = |sets: &[(Var, IntSet)], var: &Var| {
        let found = sets.iter().find(|(own, _)| own == var);
        found.map(|(_, set)| set.clone())
    };
    pairs.iter().all(|(reader, writer)| {
        let sets = set(&certain, writer).zip(set(&needed, reader));
        sets.is_some_and(|(written, read)| written.covers(&read, analyzer))
    })
}

/// Whether two expressions are the same but for their iter variables, which are paired up.
fn pair_up(
    a: &Expr,
    b: &Expr,
    a_iters: &[IterVar],
    b_iters: &[IterVar],
    pairs: &mut Vec<(Var, Var)>,
) -> bool {
    let is_iter = |iters: &[IterVar], var: &Var| iters.iter().any(|iter| iter.var == *var);
    if let (Some(x), Some(y)) = (a.as_var(), b.as_var())
        && is_iter(a_iters, x)
        && is_iter(b_iters, y)
    {
        let known = pairs
            .iter()
            .find(|(reader, writer)| reader == x || writer == y);
        return match known {
            Some((reader, writer)) => reader == x && writer == y,
            None => {
                pairs.push((x.clone(), y.clone()));
                true
            }
        };
    }
    if let (ExprKind::Binary(f, a0, a1), ExprKind::Binary(g, b0, b1)) = (a.kind(), b.kind()) {
        return f == g
            && pair_up(a0, b0, a_iters, b_iters, pairs)
            && pair_up(a1, b1, a_iters, b_iters, pairs);
    }
    let free = |e: &Expr, iters| !e.free_vars().iter().any(|var| is_iter(iters, var));
    a == b && free(a, a_iters) && free(b, b_iters)
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
    region_values(region, &iters, analyzer)
}

/// A region as intervals, for values of the variables in it.
fn region_values(
    region: &BufferRegion,
    iters: &[(Var, IntSet)],
    analyzer: &Analyzer,
) -> Vec<IntSet> {
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
    let bound = bound_sets(func, block, memory, place, analyzer).into_iter();
    let iters = func.blocks[block].iters.iter();
    let within = |((var, set), iter): ((Var, IntSet), &IterVar)| {
        let set = set.intersect(&IntSet::from_range(&iter.dom), analyzer);
        (var, set.simplified(analyzer))
    };
    bound.zip(iters).map(within).collect()
}

/// The values that are bound to the iter variables of a block while `place` runs once; instances of those outside of the
/// domains do not run.
fn bound_sets(
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
    let iters = node.iters.iter().zip(&node.bindings);
    iters
        .map(|(iter, binding)| (iter.var.clone(), eval_set(binding, &domain, analyzer)))
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
    let iters = certain_iters(func, block, region.buffer.scope(), place, analyzer)?;
    bound_of_each(region, &iters, analyzer).or_else(|| bound_of_digits(region, &iters, analyzer))
}

/// The intervals where each index depends on an iter variable of its own.
fn bound_of_each(
    region: &BufferRegion,
    iters: &[(Var, IntSet)],
    analyzer: &Analyzer,
) -> Option<Vec<IntSet>> {
    let mut used: Vec<&Var> = Vec::new();
    let interval = |range: &Range| {
        let vars: Vec<Var> = range.min.free_vars();
        let moving: Vec<&(Var, IntSet)> = iters.iter().filter(|(v, _)| vars.contains(v)).collect();
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
        let dense = set.as_point(analyzer).is_some() || analyzer.can_prove(&range.extent.ge(&step));
        dense.then(|| IntSet::interval(min.clone(), max + &range.extent - 1))
    };
    region.region.iter().map(interval).collect()
}

/// The intervals where indices are digits of iter variables, as `v // 56, v % 56`: they take all values in all combinations if that
/// is an affine map onto them.
fn bound_of_digits(
    region: &BufferRegion,
    iters: &[(Var, IntSet)],
    analyzer: &Analyzer,
) -> Option<Vec<IntSet>> {
    let mut facts = analyzer.clone();
    let mut inputs = Vec::new();
    for (var, set) in iters {
        let range = set.to_range(analyzer)?;
        facts.bind(var, &range);
        inputs.push((var.clone(), range));
    }
    let indices: Vec<Expr> = region.region.iter().map(|r| r.min.clone()).collect();
    let (level, units) = (IterMapLevel::Surjective, UnitIters::Simplify);
    let map = detect_iter_map(&facts, &indices, &inputs, &Expr::bool(true), level, units).ok()?;
    let digits = map.indices.iter().zip(&region.region);
    digits
        .map(|(sum, range)| {
            let last = match &sum.args[..] {
                [] => sum.base.clone(),
                [digit] if digit.scale.is_one() => &sum.base + &digit.extent - 1,
                _ => return None,
            };
            Some(IntSet::interval(sum.base.clone(), last + &range.extent - 1))
        })
        .collect()
}

/// The values that the iter variables of a block certainly take, in all combinations, while `place` runs once; `None` if that is
/// not known.
fn certain_iters(
    func: &PrimFunc,
    block: BlockId,
    memory: &crate::ir::Scope,
    place: Place,
    analyzer: &Analyzer,
) -> Option<Vec<(Var, IntSet)>> {
    let node = &func.blocks[block];
    let loops = relaxed_domains(func, block.into(), place, memory);
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
    let conditions: Vec<Expr> = node.predicate.conjuncts();
    let moving = conditions.into_iter().filter(moves);
    // Conditions that only keep iter variables in their domains are known to the reader of the region as well; but what they keep
    // together may be affine only with them.
    let (implied, rest): (Vec<Expr>, Vec<Expr>) =
        moving.partition(|cond| follows_from_domains(node, cond, &inside));
    let covers = |conditions: Expr| {
        let (level, units) = (IterMapLevel::Surjective, UnitIters::Simplify);
        detect_iter_map(&inside, &node.bindings, &ranges, &conditions, level, units).is_ok()
    };
    let all = rest.iter().chain(&implied).cloned();
    if !covers(Expr::all(rest.iter().cloned())) && (implied.is_empty() || !covers(Expr::all(all))) {
        return None;
    }
    Some(iter_sets(func, block, memory, place, analyzer))
}

/// Whether a condition of a block says no more than that an iter variable is in its domain. `facts` knows the loops.
pub fn follows_from_domains(node: &Block, cond: &Expr, facts: &Analyzer) -> bool {
    // No iter variable has a value in an empty domain.
    let mut facts = facts.clone();
    for iter in &node.iters {
        facts.assume(&iter.dom.extent.ge(1));
    }
    let cond = facts.simplify(cond);
    node.iters.iter().zip(&node.bindings).any(|(iter, value)| {
        let end = &iter.dom.min + &iter.dom.extent;
        cond == facts.simplify(&value.lt(&end))
            || cond == facts.simplify(&value.ge(&iter.dom.min))
            || implied_by_domain(&cond, value, &end, &facts)
    })
}

/// Whether a condition is `value < end'` with `end'` not below the end of the iter variable's domain.
fn implied_by_domain(cond: &Expr, value: &Expr, end: &Expr, analyzer: &Analyzer) -> bool {
    let Some((left, right)) = cond.as_binary(BinOp::Lt) else {
        return false;
    };
    let excess = left - right;
    let outside = analyzer.simplify(&(value - end));
    analyzer.can_prove_equal(&excess, &outside)
        || without_quotient(&outside, analyzer)
            .is_some_and(|outside| analyzer.can_prove_equal(&excess, &outside))
        || (analyzer.simplify(left) == analyzer.simplify(value)
            && analyzer.can_prove(&right.ge(end)))
}

/// A sum with the same sign, made of one with a single quotient: `x // c + y < 0  <=>  x + y·c < 0` for `c > 0`.
fn without_quotient(sum: &Expr, analyzer: &Analyzer) -> Option<Expr> {
    let mut sum = Sum::of(sum);
    let is_quotient = |term: &Term| {
        let (x, c) = term.atom()?.as_binary(BinOp::FloorDiv)?;
        (term.coeff == 1 && analyzer.can_prove(&c.ge(1))).then(|| (x.clone(), c.clone()))
    };
    let (at, (x, c)) = sum
        .terms
        .iter()
        .enumerate()
        .find_map(|(at, term)| Some((at, is_quotient(term)?)))?;
    sum.terms.remove(at);
    Some(analyzer.simplify(&(x + sum.to_expr()? * c)))
}

/// How much an index moves when the variable grows by 1, if that is a constant of at least 1.
fn step_of(index: &Expr, var: &Var, analyzer: &Analyzer) -> Option<Expr> {
    let next = index.substitute(&|v| (v == var).then(|| v.expr() + 1));
    let step = analyzer.simplify(&(next - index));
    step.as_int().filter(|&s| s >= 1).map(|_| step)
}
