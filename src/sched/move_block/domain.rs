//! Which values the iter variables of a moved block must take, so that what it provides covers what is required.
//!
//! Where the provided indices are a bijective affine map of the iter variables, the map is inverted; else each dimension is
//! solved on its own, as long as it has one of the forms `v * c`, `v`, `v // c` and `v % c`. Digits of a variable whose domain ends within
//! the first one are those of a longer domain, of which values past the end are left out.

use super::{Moved, relaxed_region};
use crate::arith::iter_map::{IterMapLevel, UnitIters, detect_iter_map};
use crate::arith::{Analyzer, IntSet, eval_set};
use crate::ir::{
    BlockId, Buffer, BufferRegion, Expr, ExprKind, IterVar, LoopId, PrimFunc, Range, Scope, Var,
};
use crate::sched::analysis::{BlockScope, accessing_blocks};
use crate::sched::{Reason, Refusal};
use crate::tensor::scalar::BinOp;

/// Values of one iter variable: all of `values` that are in `bound`.
#[derive(Clone, Debug)]
pub(super) struct IterDomain {
    pub(super) values: IntSet,
    /// To be kept by a predicate; `None` if `values` are known to be inside.
    pub(super) bound: Option<IntSet>,
}

/// What is known of one iter variable so far; `None` where nothing is.
#[derive(Clone, Debug, Default)]
struct Known {
    values: Option<IntSet>,
    bound: Option<IntSet>,
}

impl Known {
    fn union(&mut self, values: Option<IntSet>, bound: Option<IntSet>, facts: &Analyzer) {
        let join = |a: &Option<IntSet>, b: Option<IntSet>| match (a, b) {
            (None, b) => b,
            (a, None) => a.clone(),
            (Some(a), Some(b)) => Some(a.union(&b, facts)),
        };
        self.values = join(&self.values, values);
        self.bound = join(&self.bound, bound);
    }

    /// Leaves out the bound where the values are inside anyway, or takes it as the values where it is tighter.
    fn settle(self, dom: &Range, facts: &Analyzer) -> IterDomain {
        let dom = IntSet::from_range(dom);
        let bound = match self.bound {
            None => dom,
            Some(bound) => bound.intersect(&dom, facts),
        };
        let bound = bound.simplified(facts);
        let Some(values) = self.values else {
            return IterDomain {
                values: bound,
                bound: None,
            };
        };
        let values = values.simplified(facts);
        let both = values.intersect(&bound, facts).simplified(facts);
        let same = |a: &IntSet, b: &IntSet| a.covers(b, facts) && b.covers(a, facts);
        let is_constant = |e: &Option<Expr>| e.as_ref().is_some_and(|e| e.as_int().is_some());
        if same(&values, &both) {
            IterDomain {
                values,
                bound: None,
            }
        } else if same(&bound, &both) || (is_constant(&both.min) && is_constant(&both.max)) {
            IterDomain {
                values: both,
                bound: None,
            }
        } else {
            IterDomain {
                values,
                bound: Some(bound),
            }
        }
    }
}

/// The domains of the block's iter variables, in order.
pub(super) fn iter_domains(
    func: &PrimFunc,
    graph: &BlockScope,
    block: BlockId,
    target: LoopId,
    moved: Moved,
    facts: &Analyzer,
) -> Result<Vec<IterDomain>, Refusal> {
    let node = &func.blocks[block];
    let (provided, others) = match moved {
        Moved::Producer => (&node.writes, graph.consumers(block)),
        Moved::Consumer => (&node.reads, graph.producers(block)),
    };
    let mut known = vec![Known::default(); node.iters.len()];
    for region in provided {
        let Some(required) = required(func, &others, &region.buffer, target, moved, facts) else {
            continue;
        };
        if !solve_affine(&node.iters, region, &required, moved, facts, &mut known) {
            solve_dimensions(&node.iters, region, &required, facts, &mut known).ok_or_else(
                || {
                    let reason = Reason::RegionNotSolvable {
                        block: node.name.clone(),
                        buffer: region.buffer.name().to_owned(),
                    };
                    reason.at([block.into(), target.into()])
                },
            )?;
        }
    }
    let settled = known.into_iter().zip(&node.iters);
    let settled: Vec<IterDomain> = settled
        .map(|(known, iter)| known.settle(&iter.dom, facts))
        .collect();
    if moved == Moved::Consumer {
        check_all_consumed(func, block, target, &settled, facts)?;
    }
    Ok(settled)
}

/// Refuses to move a consumer of which instances are known to be left out, as those that read nothing of the producers.
fn check_all_consumed(
    func: &PrimFunc,
    block: BlockId,
    target: LoopId,
    domains: &[IterDomain],
    facts: &Analyzer,
) -> Result<(), Refusal> {
    let mut loops = func.loops_above(target.into());
    loops.push(target);
    let domain = |v: &Var| {
        let l = loops
            .iter()
            .map(|&id| &func.loops[id])
            .find(|l| l.var == *v)?;
        let (min, extent) = (l.min.clone(), l.extent.clone());
        Some(IntSet::from_range(&Range { min, extent }))
    };
    let node = &func.blocks[block];
    for (iter, found) in node.iters.iter().zip(domains) {
        let ends = found.values.bounds();
        let total = ends.map(|(min, max)| {
            let min = eval_set(min, &domain, facts).min;
            (min, eval_set(max, &domain, facts).max)
        });
        let Some((Some(min), Some(max))) = total else {
            continue;
        };
        let last = &iter.dom.min + &iter.dom.extent - 1;
        if facts.can_prove(&iter.dom.min.lt(min)) || facts.can_prove(&max.lt(last)) {
            let reason = Reason::NotAllConsumed {
                block: node.name.clone(),
                var: iter.var.name().to_owned(),
            };
            return Err(reason.at([block.into(), target.into()]));
        }
    }
    Ok(())
}

/// What the other blocks require of the buffer while the target loop runs once.
fn required(
    func: &PrimFunc,
    others: &[BlockId],
    buffer: &Buffer,
    target: LoopId,
    moved: Moved,
    facts: &Analyzer,
) -> Option<Vec<IntSet>> {
    let memory = match moved {
        Moved::Producer => buffer.scope().clone(),
        Moved::Consumer => Scope::Global,
    };
    let mut total: Option<Vec<IntSet>> = None;
    for other in others.iter().flat_map(|&id| accessing_blocks(func, id)) {
        let node = &func.blocks[other];
        let regions = match moved {
            Moved::Producer => &node.reads,
            Moved::Consumer => &node.writes,
        };
        for region in regions.iter().filter(|r| r.buffer == *buffer) {
            let sets = relaxed_region(func, other, region, target, &memory, facts);
            total = Some(match total {
                None => sets,
                Some(before) => before
                    .iter()
                    .zip(&sets)
                    .map(|(a, b)| a.union(b, facts))
                    .collect(),
            });
        }
    }
    total
}

/// Solves by inverting the provided indices; whether that was possible.
fn solve_affine(
    iters: &[IterVar],
    provided: &BufferRegion,
    required: &[IntSet],
    moved: Moved,
    facts: &Analyzer,
    known: &mut [Known],
) -> bool {
    if !provided.region.iter().all(|r| r.extent.is_one()) {
        return false;
    }
    let indices: Vec<Expr> = provided.region.iter().map(|r| r.min.clone()).collect();
    let detect = |domain: &dyn Fn(&IterVar) -> Range| {
        let inputs = iters.iter().map(|iter| (iter.var.clone(), domain(iter)));
        let inputs: Vec<(Var, Range)> = inputs.collect();
        let truth = Expr::bool(true);
        let level = IterMapLevel::Bijective;
        detect_iter_map(facts, &indices, &inputs, &truth, level, UnitIters::Preserve)
    };
    let map = detect(&|iter| iter.dom.clone());
    let Ok(map) = map.or_else(|_| detect(&|iter| up_to_whole_digits(iter, &indices, facts))) else {
        return false;
    };
    let shape = provided.buffer.shape();
    let ends: Option<Vec<(&Expr, &Expr)>> = required.iter().map(IntSet::bounds).collect();
    let Some(ends) = ends else {
        return false;
    };
    let lows: Vec<Expr> = ends.iter().map(|(min, _)| (*min).clone()).collect();
    let highs: Vec<Expr> = ends.iter().map(|(_, max)| (*max).clone()).collect();
    let zeros: Vec<Expr> = shape.iter().map(|e| Expr::int(0, e.dtype())).collect();
    let lasts: Vec<Expr> = shape.iter().map(|e| facts.simplify(&(e - 1))).collect();
    let [lows, highs, zeros, lasts] =
        [lows, highs, zeros, lasts].map(|values| map.invert(facts, &values));
    let of = |solved: &[(Var, Expr)], var: &Var| {
        let found = solved.iter().find(|(v, _)| v == var);
        found.map(|(_, e)| e.clone())
    };
    let alone = |var: &Var| indices.iter().any(|index| is_shift_of(index, var, facts));
    // A variable that alone makes up an index runs from the inverse of the first to that of the last value. With others, the
    // inverse of a box is a box only if it has as many points.
    let points = |ends: &mut dyn Iterator<Item = (Expr, Expr)>| {
        let product = ends.fold(Expr::i64(1), |n, (low, high)| n * (high - low + 1));
        facts.simplify(&product)
    };
    // An index that falls while the variable grows is solved from its other end.
    let falls = |var: &Var| {
        if indices.iter().any(|index| is_mirror_of(index, var, facts)) {
            return true;
        }
        let ends = of(&zeros, var).zip(of(&lasts, var));
        ends.is_some_and(|(first, last)| facts.can_prove(&last.lt(first)))
    };
    let ordered = |pair: (Expr, Expr), var: &Var| {
        if falls(var) { (pair.1, pair.0) } else { pair }
    };
    let solved = |iter: &IterVar| {
        let pair = (of(&lows, &iter.var)?, of(&highs, &iter.var)?);
        Some(ordered(pair, &iter.var))
    };
    let all_alone = iters
        .iter()
        .all(|iter| solved(iter).is_none() || alone(&iter.var));
    let is_box = all_alone
        || points(&mut iters.iter().filter_map(solved))
            == points(
                &mut ends
                    .iter()
                    .map(|(min, max)| ((*min).clone(), (*max).clone())),
            );
    if !is_box && moved == Moved::Consumer {
        return false;
    }
    for (at, iter) in iters.iter().enumerate() {
        let Some((low, high)) = solved(iter) else {
            continue;
        };
        let alone = alone(&iter.var);
        if !is_box && !alone && low != high {
            known[at].union(Some(IntSet::from_range(&iter.dom)), None, facts);
            continue;
        }
        let bound = of(&zeros, &iter.var).zip(of(&lasts, &iter.var));
        let bound = bound
            .filter(|_| alone || is_box)
            .map(|pair| ordered(pair, &iter.var));
        let bound = bound.map(|(min, max)| IntSet::interval(min, max));
        known[at].union(Some(IntSet::interval(low, high)), bound, facts);
    }
    true
}

/// The domain of a variable up to a multiple of what indices divide it by: the last of its first digits is whole then.
fn up_to_whole_digits(iter: &IterVar, indices: &[Expr], facts: &Analyzer) -> Range {
    let mut divisors: Vec<i64> = vec![];
    for index in indices {
        index.walk(&mut |e| {
            if let ExprKind::Binary(BinOp::FloorDiv | BinOp::FloorMod, inner, by) = e.kind()
                && inner.as_var() == Some(&iter.var)
            {
                divisors.extend(by.as_int().filter(|by| *by > 0));
            }
            true
        });
    }
    let Some(&largest) = divisors.iter().max() else {
        return iter.dom.clone();
    };
    let extent = &iter.dom.extent;
    let largest = Expr::int(largest, extent.dtype());
    let count = (extent + &largest - 1).floor_div(&largest);
    Range {
        min: iter.dom.min.clone(),
        extent: facts.simplify(&(count * largest)),
    }
}

/// Whether the index is the variable plus something that does not move with it.
fn is_shift_of(index: &Expr, var: &Var, facts: &Analyzer) -> bool {
    index.uses(var) && !facts.simplify(&(index - var)).uses(var)
}

/// Whether the index is something that does not move with the variable, minus the variable.
fn is_mirror_of(index: &Expr, var: &Var, facts: &Analyzer) -> bool {
    index.uses(var) && !facts.simplify(&(index + var)).uses(var)
}

/// Solves each dimension on its own; `None` if one has another form.
fn solve_dimensions(
    iters: &[IterVar],
    provided: &BufferRegion,
    required: &[IntSet],
    facts: &Analyzer,
    known: &mut [Known],
) -> Option<()> {
    let shape = provided.buffer.shape();
    for ((range, required), extent) in provided.region.iter().zip(required).zip(shape) {
        let provided = IntSet::from_range(range).simplified(facts);
        let (first, last) = provided.bounds()?;
        if first == last && first.as_int().is_some() {
            let same = required.as_point(facts) == Some(first);
            same.then_some(())?;
            continue;
        }
        let whole = IntSet::interval(Expr::int(0, extent.dtype()), extent - 1);
        let solved = solve(first, first == last, required, &whole, facts)?;
        match iters.iter().position(|iter| iter.var == solved.var) {
            Some(at) => known[at].union(solved.values, solved.bound, facts),
            // An outer variable: nothing to choose, so what is there must be what is asked for.
            None => (required.as_point(facts) == Some(first)).then_some(())?,
        }
    }
    Some(())
}

struct Solved {
    var: Var,
    values: Option<IntSet>,
    bound: Option<IntSet>,
}

/// The values of the variable of `index` for which it takes the required values, and for which it stays in the buffer.
fn solve(
    index: &Expr,
    is_point: bool,
    required: &IntSet,
    whole: &IntSet,
    facts: &Analyzer,
) -> Option<Solved> {
    let both_ends = |set: &IntSet, f: &dyn Fn(&Expr) -> Expr| IntSet {
        min: set.min.as_ref().map(f),
        max: set.max.as_ref().map(f),
    };
    if let Some((a, b)) = index.as_binary(BinOp::Mul) {
        let (var, factor) = match (a.as_var(), b.as_var()) {
            (Some(var), _) => (var, b),
            (None, Some(var)) => (var, a),
            (None, None) => return None,
        };
        let divide = |e: &Expr| facts.simplify(&e.floor_div(factor));
        return Some(Solved {
            var: var.clone(),
            values: Some(both_ends(required, &divide)),
            bound: Some(both_ends(whole, &divide)),
        });
    }
    if !is_point {
        return None;
    }
    if let Some(var) = index.as_var() {
        return Some(Solved {
            var: var.clone(),
            values: Some(required.clone()),
            bound: Some(whole.clone()),
        });
    }
    if let Some((inner, factor)) = index.as_binary(BinOp::FloorDiv)
        && facts.can_prove(&factor.ge(1))
    {
        // a <= x // f <= b  if and only if  a * f <= x <= b * f + f - 1
        let multiply = |set: &IntSet| IntSet {
            min: set.min.as_ref().map(|min| min * factor),
            max: set
                .max
                .as_ref()
                .map(|max| facts.simplify(&(max * factor + factor - 1))),
        };
        return solve(inner, true, &multiply(required), &multiply(whole), facts);
    }
    if let Some((inner, _)) = index.as_binary(BinOp::FloorMod)
        && let Some(var) = inner.as_var()
    {
        // Any value of the variable may have a required remainder.
        return Some(Solved {
            var: var.clone(),
            values: None,
            bound: None,
        });
    }
    None
}
