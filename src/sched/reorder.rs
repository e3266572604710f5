//! `reorder`: loops of one nest change places.
//!
//! ```text
//! for i, j, k in T.grid(4, 8, 2):      reorder(k, i)      for k, j, i in T.grid(2, 8, 4):
//! ```
//!
//! Requires: each loop once; all in one chain without branches from the outermost to the innermost of them; only spatial and
//! reduce iter variables, affinely bound, in the blocks below, and nothing outside them; several blocks depend on each other
//! within an iteration of the innermost loop only; no loop whose range uses one that comes to lie inside it; no two loops in
//! another order that both drive spatial and reduce iter variables (TVM allows it, and gets sums without some terms). Meaning
//! is kept: spatial instances are independent, and reductions are taken to commute.

use super::affine::check_affine_below;
use super::analysis::{check_independent_iterations, check_only_blocks};
use super::{Reason, Refusal, Schedule, ScheduleError, attached_loop};
use crate::ir::{Expr, IterKind, LoopId, Place, PrimFunc, Stmt};

impl Schedule {
    /// Puts the loops, which need not be adjacent, into this order, outermost first; loops between them stay where they are.
    ///
    /// # Errors
    /// If a rule of the module's documentation is broken.
    pub fn reorder(&mut self, loops: &[LoopId]) -> Result<(), ScheduleError> {
        let plan = ReorderPlan::check(&self.func, loops).map_err(|r| r.of("reorder"))?;
        self.record("reorder", vec![loops.into()], |func| plan.apply(func));
        Ok(())
    }
}

struct ReorderPlan {
    /// The chain as it is, outermost first.
    old: Vec<LoopId>,
    /// The chain as it will be.
    new: Vec<LoopId>,
}

impl ReorderPlan {
    fn check(func: &PrimFunc, loops: &[LoopId]) -> Result<Self, Refusal> {
        for (i, &id) in loops.iter().enumerate() {
            let var = attached_loop(func, id)?.var.name().to_owned();
            if loops[..i].contains(&id) {
                return Err(Reason::LoopMultiAppearance { var }.at([Place::Loop(id)]));
            }
        }
        let old = chain(func, loops)?;
        if let Some(&top) = old.first().filter(|_| loops.len() > 1) {
            check_blocks(func, top)?;
        }
        let mut ordered = loops.iter().copied();
        let new: Vec<LoopId> = old
            .iter()
            .map(|id| {
                if loops.contains(id) {
                    ordered.next().unwrap_or(*id)
                } else {
                    *id
                }
            })
            .collect();
        for (i, &id) in new.iter().enumerate() {
            let l = &func.loops[id];
            let uses = |e: &Expr, inner: &LoopId| e.uses(&func.loops[*inner].var);
            let inner = new[i + 1..]
                .iter()
                .find(|inner| uses(&l.min, inner) || uses(&l.extent, inner));
            if let Some(&inner) = inner {
                let (var, on) = (
                    l.var.name().to_owned(),
                    func.loops[inner].var.name().to_owned(),
                );
                return Err(Reason::DependentLoop { var, on }.at([Place::Loop(id)]));
            }
        }
        check_mixed(func, &old, &new)?;
        if let Some(&bottom) = old.last().filter(|_| old != new) {
            check_only_blocks(func, bottom.into())?;
            check_independent_iterations(func, &old)?;
        }
        Ok(Self { old, new })
    }

    fn apply(self, func: &mut PrimFunc) {
        let (Some(&top), Some(&bottom)) = (self.old.first(), self.old.last()) else {
            return;
        };
        let Some(parent) = func.tree.parent(top) else {
            return;
        };
        let mut body = func.tree.take_body(bottom);
        // A place holder keeps the position of the chain in its parent while the links are redone.
        let holder = func.loops.push(func.loops[top].clone());
        func.tree.replace(top, vec![Stmt::Loop(holder)]);
        for &id in &self.old {
            func.tree.take_body(id);
        }
        for &id in self.new.iter().rev() {
            func.tree.set_body(id, body);
            body = vec![Stmt::Loop(id)];
        }
        func.tree.replace(holder, body);
        func.loops.remove(holder);
        debug_assert_eq!(func.tree.parent(self.new[0]), Some(parent));
    }
}

/// The loops from the outermost to the innermost of these, which must be a chain without branches.
fn chain(func: &PrimFunc, loops: &[LoopId]) -> Result<Vec<LoopId>, Refusal> {
    let not_a_chain = |at: LoopId| {
        let var = func.loops[at].var.name().to_owned();
        Err(Reason::LoopsNotAChain { var }.at([Place::Loop(at)]))
    };
    let depth = |id: &LoopId| func.loops_above((*id).into()).len();
    let Some(&bottom) = loops.iter().max_by_key(|id| depth(id)) else {
        return Ok(vec![]);
    };
    let mut path = func.loops_above(bottom.into());
    path.push(bottom);
    if let Some(&outside) = loops.iter().find(|id| !path.contains(id)) {
        return not_a_chain(outside);
    }
    let top = path.iter().position(|id| loops.contains(id)).unwrap_or(0);
    let path = path.split_off(top);
    for pair in path.windows(2) {
        if !matches!(func.tree.body(pair[0]), [Stmt::Loop(only)] if *only == pair[1]) {
            return not_a_chain(pair[0]);
        }
    }
    Ok(path)
}

/// Two loops that each drive spatial and reduce iter variables of a block keep their order: together they choose the element
/// and the term, so in another order an element may meet a later term before the one that its init runs with. (With at most
/// one such loop the terms of an element are the same in any order of the others, and the first one stays the first.)
fn check_mixed(func: &PrimFunc, old: &[LoopId], new: &[LoopId]) -> Result<(), Refusal> {
    let Some(&top) = old.first() else {
        return Ok(());
    };
    for block in func.child_blocks(top.into()) {
        let node = &func.blocks[block];
        let is_mixed = |id: &&LoopId| {
            let var = &func.loops[**id].var;
            let drives = |kind: IterKind| {
                let mut pairs = node.iters.iter().zip(&node.bindings);
                pairs.any(|(iter, binding)| iter.kind == kind && binding.uses(var))
            };
            drives(IterKind::Spatial) && drives(IterKind::Reduce)
        };
        let (before, after) = (old.iter().filter(is_mixed), new.iter().filter(is_mixed));
        if let Some((one, other)) = before.zip(after).find(|(a, b)| a != b) {
            let name = |id: &LoopId| func.loops[*id].var.name().to_owned();
            let reason = Reason::MixedLoops {
                var: name(one),
                other: name(other),
                block: node.name.clone(),
            };
            return Err(reason.at([Place::Loop(*one), Place::Loop(*other), Place::Block(block)]));
        }
    }
    Ok(())
}

fn check_blocks(func: &PrimFunc, top: LoopId) -> Result<(), Refusal> {
    let outside = func.tree.parent(top).unwrap_or(func.root.into());
    for block in func.child_blocks(top.into()) {
        let node = &func.blocks[block];
        let odd =
            |iter: &&crate::ir::IterVar| !matches!(iter.kind, IterKind::Spatial | IterKind::Reduce);
        if let Some(iter) = node.iters.iter().find(odd) {
            let reason = Reason::NotSpatialOrReduce {
                block: node.name.clone(),
                iter: iter.var.name().to_owned(),
            };
            return Err(reason.at([Place::Block(block)]));
        }
        if !node.iters.is_empty() {
            check_affine_below(func, block, outside)?;
        }
    }
    Ok(())
}
