//! The init of a block that moves to the new block around it: over all elements of an instance, before the first update.

use super::cut::Cut;
use crate::arith::access_regions;
use crate::arith::iter_map::{IterMapLevel, UnitIters, detect_iter_map};
use crate::ir::{
    Block, BlockId, Definitions, Expr, IterKind, IterVar, Loop, LoopId, PrimFunc, Stmt,
    Substitution, Var,
};
use crate::sched::Refusal;
use crate::sched::affine::{loop_ranges, shape_facts};
use crate::sched::body::nest;
use crate::sched::error::BlocksReason;

/// Refuses an init that would run less often, or for other elements, before the inner loops.
pub(super) fn check(
    func: &PrimFunc,
    block: BlockId,
    inner: &[LoopId],
    cut: &Cut,
) -> Result<(), Refusal> {
    let facts = shape_facts(func);
    let bindings: Vec<Expr> = cut.inner.iter().map(|b| b.binding.clone()).collect();
    let once = inner.iter().all(|&l| func.loops[l].extent.is_one())
        || detect_iter_map(
            &facts,
            &bindings,
            &loop_ranges(func, inner),
            &cut.inner_predicate,
            IterMapLevel::Bijective,
            UnitIters::Simplify,
        )
        .is_ok();
    // A condition on reduction loops alone says which updates run, one that also chooses elements says which have any.
    let elements = spatial_loops(func, inner, cut.inner.iter().map(|b| (&b.iter, &b.binding)));
    let uses = |cond: &Expr, l: &LoopId| cond.uses(&func.loops[*l].var);
    let mixes = |cond: &Expr| {
        let (chosen, summed): (Vec<&LoopId>, Vec<&LoopId>) =
            inner.iter().partition(|l| elements.contains(l));
        chosen.iter().any(|l| uses(cond, l)) && summed.iter().any(|l| uses(cond, l))
    };
    if once && !cut.inner_predicate.conjuncts().iter().any(mixes) {
        return Ok(());
    }
    let name = func.blocks[block].name.clone();
    Err(BlocksReason::InitNotMovable { block: name }.at([block.into()]))
}

/// The loops that spatial iter variables are bound to.
fn spatial_loops<'a>(
    func: &PrimFunc,
    inner: &[LoopId],
    bound: impl Iterator<Item = (&'a IterVar, &'a Expr)> + Clone,
) -> Vec<LoopId> {
    let is_used = |l: &&LoopId| {
        let var = &func.loops[**l].var;
        let mut spatial = bound.clone().filter(|(i, _)| i.kind == IterKind::Spatial);
        spatial.any(|(_, binding)| binding.uses(var))
    };
    inner.iter().filter(is_used).copied().collect()
}

/// Makes the block that initialises, with the loops that it needs around it, detached. The statements of the init move into it.
pub(super) fn build(
    func: &mut PrimFunc,
    block: BlockId,
    inner_loops: &[LoopId],
    init: Vec<Stmt>,
) -> Stmt {
    let old = func.blocks[block].clone();
    let new = func.blocks.push(Block {
        writes: old.writes.clone(),
        ..Block::named(format!("{}_init", old.name))
    });
    func.tree.set_body(new, init);
    let used = vars_below(func, new);
    let chosen: Vec<(&IterVar, &Expr)> = (old.iters.iter().zip(&old.bindings))
        .filter(|(iter, _)| iter.kind == IterKind::Spatial && used.contains(&iter.var))
        .collect();
    let loops = spatial_loops(func, inner_loops, chosen.iter().copied());
    let is_dropped = |l: &&LoopId| !loops.contains(l);
    let dropped: Vec<Var> = (inner_loops.iter().filter(is_dropped))
        .map(|&l| func.loops[l].var.clone())
        .collect();
    let decided = old.predicate.conjuncts().into_iter();
    let predicate = Expr::all(decided.filter(|cond| !dropped.iter().any(|var| cond.uses(var))));
    let mut renamed = Substitution::new(Definitions::Kept);
    let mut outside = Substitution::new(Definitions::Kept);
    let copies: Vec<Loop> = loops
        .iter()
        .map(|&l| {
            let old = func.loops[l].clone();
            let var = old.var.renamed(old.var.name());
            outside.set_var(&old.var, var.expr());
            Loop { var, ..old }
        })
        .collect();
    let (mut iters, mut bindings) = (Vec::new(), Vec::new());
    let mut expr = |e: &Expr| crate::ir::Rewrite::expr(&mut outside, e);
    for (iter, binding) in chosen {
        let var = iter.var.renamed(format!("{}_init", iter.var.name()));
        renamed.set_var(&iter.var, var.expr());
        bindings.push(expr(binding));
        iters.push(IterVar {
            var,
            dom: iter.dom.clone(),
            kind: iter.kind,
        });
    }
    let copies: Vec<Loop> = copies
        .into_iter()
        .map(|l| Loop {
            min: expr(&l.min),
            extent: expr(&l.extent),
            ..l
        })
        .collect();
    let predicate = expr(&predicate);
    func.map_below(new, &mut renamed);
    let reads = access_regions(func, new).reads;
    let node = &mut func.blocks[new];
    node.iters = iters;
    node.bindings = bindings;
    node.predicate = predicate;
    node.reads = reads;
    nest(func, copies, Stmt::Block(new))
}

/// The variables that the body of a block uses.
fn vars_below(func: &mut PrimFunc, block: BlockId) -> Vec<Var> {
    let mut used = Vec::new();
    for &place in &func.tree.children(block) {
        func.map_below(place, &mut |e: &Expr| {
            used.extend(e.free_vars());
            e.clone()
        });
    }
    for stmt in func.tree.body(block) {
        stmt.map(&mut |e: &Expr| {
            used.extend(e.free_vars());
            e.clone()
        });
    }
    used
}
